"""Operators of tensors, and the elementwise functions of one and two tensors that are as simple.

What programs do in loops takes the engine's fast paths (`of_one`, `of_two`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.rules import named
from wengert.dialects.torch import conventions
from wengert.dialects.torch.dtypes import result_type
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import NAMES, put, put_in_place
from wengert.dialects.torch.tensors import (
    Forms,
    Tensor,
    check_cast,
    check_kind,
    fitted,
    is_operand,
    made,
    of_one,
    of_two,
    only_tensor,
    store,
)
from wengert.ops import elementwise, special


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def _kind(value: Any) -> str:
    letter: str = value._raw.dtype.kind if hasattr(value, "_raw") else np.array(value).dtype.kind
    return letter


def _no_truth(one: Any, two: Any, common: np.dtype) -> None:
    if "b" in (_kind(one), _kind(two)):
        raise RuntimeError("booleans have no difference; write x ^ y or ~x")


def no_zero(one: Any, two: Any, common: np.dtype) -> None:
    """Raise if whole numbers are divided by 0."""
    divisor = getattr(two, "_raw", two)
    if common.kind in "iu" and (divisor == 0 if _is_number(divisor) else _has_zero(divisor)):
        raise RuntimeError("ZeroDivisionError: a whole number is divided by 0")


def _has_zero(raw: Any) -> bool:
    return type(raw) is np.ndarray and not raw.all()


def _no_inverse(one: Any, two: Any, common: np.dtype) -> None:
    if common.kind in "iu" and _is_number(two) and two < 0:
        raise RuntimeError("whole numbers have no negative powers; write x.float()")


# -- two tensors -----------------------------------------------------------------------------------

add = of_two(elementwise.add, "AddBackward0")
subtract = of_two(elementwise.subtract, "SubBackward0", check=_no_truth)
subtract_from = of_two(named(elementwise.subtract, "rsub"), "RsubBackward1", check=_no_truth)
_subtracted = of_two(named(elementwise.subtract, "rsub_tensor"), "RsubBackward0", check=_no_truth)
multiply = of_two(elementwise.multiply, "MulBackward0")
divide = of_two(conventions.divide, "DivBackward0", floating=True)
power = of_two(conventions.power, "PowBackward1", kinds="iufc")
power_of_number = of_two(conventions.power_of_number, "PowBackward0", check=_no_inverse)
number_to_power = of_two(conventions.number_to_power, "PowBackward2")
powers = {
    exponent: of_one(operation, "PowBackward0", False, "fc").within
    for exponent, operation in conventions.POWERS.items()
}
floor_divide = of_two(conventions.floor_divide, "NotImplemented", kinds="iuf", check=no_zero)
rounded_down = of_two(conventions.rounded_down, "DivBackward2", kinds="iuf", check=no_zero)
truncated = of_two(conventions.truncated_divide, "DivBackward2", kinds="iuf", check=no_zero)
remainder = of_two(conventions.remainder, "RemainderBackward1", kinds="iuf", check=no_zero)
remainder_by_number = of_two(
    named(conventions.remainder, "remainder_by_number"), "RemainderBackward0", kinds="iuf",
    check=no_zero,
)  # fmt: skip
remainder_of_number = of_two(
    conventions.remainder_of_number, "NotImplemented", kinds="iuf", check=no_zero
)


def way_to_power(x: Any, y: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what computes x ** y, by the shortest way for the exponents that programs have."""
    if type(y) is Tensor:
        return (power if isinstance(x, Tensor) else number_to_power).within, (x, y)
    if not isinstance(y, (int, float, complex, np.generic)):
        return power.within, (x, y)
    if type(x) is Tensor and type(y) is not bool and x._raw.dtype.kind in "fc":
        short = powers.get(y)  # type: ignore[arg-type]
        if short is not None:
            return short, (x,)
    if y is True and _kind(x) == "b":
        return multiply.within, (x, x)
    return power_of_number.within, (x, y)


def to_power(x: Any, y: Any) -> Any:
    """Return x ** y."""
    function, operands = way_to_power(x, y)
    return function(*operands)


def _modulo(x: Any, y: Any) -> Any:
    return (remainder_by_number if _is_number(y) else remainder).within(x, y)


def _reflected(function: Callable[[Any, Any], Any]) -> Any:
    def call(x: Any, y: Any) -> Any:
        return function(y, x) if is_operand(y) else NotImplemented

    return call


def _over(x: Any, y: Any) -> Any:
    """Return y / x as PyTorch does; y may also be NumPy's array."""
    if type(y) is np.ndarray or is_operand(y):
        return NAMES["Tensor.reciprocal"](x) * y
    return NotImplemented


def _augmented(function: Callable[[Any, Any], Any]) -> Any:
    def compute(x: Any, y: Any) -> Any:
        try:
            result = function(x, y)
        except NotImplementedError:  # PyTorch looks first whether the result could be written
            check_cast(result_type(x._raw, getattr(y, "_raw", y)), x._raw.dtype)
            raise
        if result is NotImplemented:
            raise TypeError(f"unsupported operand: Tensor and {type(y).__name__}")
        return fitted(result, x._raw.dtype)

    def call(x: Any, y: Any) -> Any:
        return change(x, compute, y) if is_operand(y) else NotImplemented

    return call


def _late(name: str) -> Callable[[Any, Any], Any]:
    """Return a function of two tensors that another module offers."""

    def call(x: Any, y: Any) -> Any:
        if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
            return NotImplemented
        return NAMES[name](x, y)

    return call


_bits = {
    name: of_two(getattr(elementwise, f"bitwise_{name}"), "", kinds=kinds, numbers="12")
    for name, kinds in {
        "and": "biu", "or": "biu", "xor": "biu", "left_shift": "iu", "right_shift": "iu",
    }.items()
}  # fmt: skip
#: Names of operators: what the program calls, and what is called with operands exchanged.
_OPERATORS: dict[str, tuple[Any, Any]] = {
    "add": (add.method, add.within),
    "sub": (subtract.method, subtract_from.within),
    "mul": (multiply.method, multiply.within),
    "truediv": (divide.method, divide.within),  # the second one is `_over`
    "floordiv": (floor_divide.method, floor_divide.within),
    "mod": (_modulo, remainder_of_number.within),
    "pow": (to_power, number_to_power.within),
    "and": (_bits["and"].method, _bits["and"].within),
    "or": (_bits["or"].method, _bits["or"].within),
    "xor": (_bits["xor"].method, _bits["xor"].within),
    "lshift": (_bits["left_shift"].method, _bits["left_shift"].within),
    "rshift": (_bits["right_shift"].method, _bits["right_shift"].within),
    "matmul": (_late("matmul"), _late("matmul")),
}
for _name, (_operator, _exchanged) in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _operator)
    setattr(Tensor, f"__r{_name}__", _reflected(_exchanged))
    if _name != "matmul":
        setattr(Tensor, f"__i{_name}__", _augmented(_operator))
Tensor.__rtruediv__ = _over  # type: ignore[attr-defined]
put(("Tensor.__div__",), divide.method)


def offer_both(names: tuple[str, ...], function: Any, in_place: bool = True) -> None:
    """Offer a function under some names, as methods too and with underscores."""
    for name in names:
        put((name,), function)
        if "." not in name:
            put((f"Tensor.{name}",), function)
            if in_place:
                put_in_place(name, function)


def answer(result: Any, out: Any, name: str, *operands: Any) -> Any:
    """Return a result, or `out` with it; operands that are none are a mistake."""
    if result is NotImplemented:
        kinds = " and ".join(type(v).__name__ for v in operands)
        raise TypeError(f"{name}: expected tensors or numbers, got {kinds}; write torch.tensor(x)")
    return result if out is None else store(result, out)


def _scaled(forms: Forms, name: str) -> Any:
    """Return a sum or difference that may scale its second operand first."""

    def call(input: Any, other: Any, *rest: Any, alpha: Any = 1, out: Any = None) -> Any:
        if rest:  # (input, alpha, other), as it was before alpha had a name
            alpha, other = other, *rest
        if alpha != 1 or alpha is True:
            _check_alpha(alpha, input, other)
            both_truth = _kind(input) == _kind(other) == "b"
            other = multiply.within(other, bool(alpha) if both_truth else alpha)
        return answer(forms.within(input, other), out, name, input, other)

    return call


def _check_alpha(alpha: Any, input: Any, other: Any) -> None:
    whole = _kind(input) in "biu" and _kind(other) in "biu"
    if isinstance(alpha, bool) and {_kind(input), _kind(other)} != {"b"}:
        raise RuntimeError("alpha is a boolean, and the tensors are not; write alpha=1")
    if whole and isinstance(alpha, (float, complex)):
        raise RuntimeError("alpha has fractions, and the tensors have none; write x.float()")


offer_both(("add",), _scaled(add, "add"))
offer_both(("sub", "subtract"), _scaled(subtract, "sub"))
offer_both(("mul", "multiply"), multiply.function)
offer_both(("floor_divide",), floor_divide.function)
offer_both(("true_divide",), divide.function)
for _name, _forms in _bits.items():
    offer_both((f"bitwise_{_name}",), _forms.function)


def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return other - alpha * input."""
    only_tensor(input, "rsub")
    if alpha != 1:
        _check_alpha(alpha, input, other)
        input = multiply.within(input, alpha)
    forms = _subtracted if isinstance(other, Tensor) else subtract_from
    return answer(forms.within(other, input), None, "rsub", other, input)


put(("rsub",), _rsub)
_ROUNDED = {None: divide, "floor": rounded_down, "trunc": truncated}


def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """Return input / other, rounded if that is asked for."""
    forms = _ROUNDED.get(rounding_mode)
    if forms is None:
        raise RuntimeError(
            f"div: rounding_mode is '{rounding_mode}'; give 'trunc', 'floor' or None"
        )
    return answer(forms.within(input, other), out, "div", input, other)


def _remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return what is left of input after a division rounded down."""
    forms = remainder_by_number if _is_number(other) else remainder
    if not isinstance(input, Tensor):
        only_tensor(other, "remainder", "other")
        forms = remainder_of_number
    return answer(forms.within(input, other), out, "remainder", input, other)


def _pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Return input to the power of exponent."""
    if not isinstance(input, Tensor):
        only_tensor(exponent, "pow", "exponent")
    function, operands = way_to_power(input, exponent)
    return answer(function(*operands), out, "pow", input, exponent)


offer_both(("div", "divide"), _div)
offer_both(("remainder",), _remainder)
offer_both(("pow",), _pow)


def _with_arrays(forms: Forms) -> Callable[[Any, Any], Any]:
    """Return x == y where y may be NumPy's array, of which PyTorch makes a tensor for this only."""

    def equals(x: Any, y: Any) -> Any:
        found = forms.within(x, y)
        if found is NotImplemented and type(y) is np.ndarray and y.dtype.kind in "biufc":
            return forms.within(x, made(y))
        return found

    return equals


#: Comparisons: a further name, and the kinds of numbers.
_COMPARISONS = {
    "lt": (elementwise.less, "less", "biuf"),
    "le": (elementwise.less_equal, "less_equal", "biuf"),
    "gt": (elementwise.greater, "greater", "biuf"),
    "ge": (elementwise.greater_equal, "greater_equal", "biuf"),
    "eq": (elementwise.equal, "", "biufc"),
    "ne": (elementwise.not_equal, "not_equal", "biufc"),
}
for _name, (_compared, _long, _kinds) in _COMPARISONS.items():
    _forms = of_two(_compared, "", kinds=_kinds, numbers="2")
    setattr(Tensor, f"__{_name}__", _with_arrays(_forms) if _name == "eq" else _forms.method)
    offer_both(tuple(filter(None, (_name, _long))), _forms.function)
Tensor.__hash__ = lambda self: id(self)  # type: ignore[method-assign]


# -- one tensor ------------------------------------------------------------------------------------


def one(
    names: tuple[str, ...],
    function: Any,
    label: str = "",
    floating: bool = True,
    kinds: str = "biufc",
    refusal: type[Exception] = NotImplementedError,
    in_place: bool = True,
) -> Forms:
    """Offer an operation of one tensor under some names, as methods too and with underscores."""
    short = names[0].rpartition(".")[2]
    forms = of_one(function, label or f"{short.capitalize()}Backward0", floating, kinds, refusal)
    for name in names:
        put((name,), forms.function)
        if "." not in name:
            put((f"Tensor.{name}",), forms.method)
            if in_place:
                put_in_place(name, forms.function)
    return forms


for _names, _operation in {
    ("exp",): elementwise.exp,
    ("expm1", "special.expm1"): elementwise.expm1,
    ("exp2", "special.exp2"): conventions.exp2,
    ("log",): elementwise.log,
    ("log2",): elementwise.log2,
    ("log10",): elementwise.log10,
    ("sqrt",): elementwise.sqrt,
    ("rsqrt",): conventions.rsqrt,
    ("sin",): elementwise.sin,
    ("cos",): elementwise.cos,
    ("tan",): elementwise.tan,
    ("asin", "arcsin"): elementwise.asin,
    ("acos", "arccos"): elementwise.acos,
    ("atan", "arctan"): elementwise.atan,
    ("sinh",): elementwise.sinh,
    ("cosh",): elementwise.cosh,
    ("tanh",): elementwise.tanh,
    ("asinh", "arcsinh"): elementwise.asinh,
    ("acosh", "arccosh"): elementwise.acosh,
    ("atanh", "arctanh"): elementwise.atanh,
    ("reciprocal",): elementwise.reciprocal,
    ("sigmoid", "special.expit"): conventions.sigmoid,
    ("sinc", "special.sinc"): special.sinc,
}.items():
    one(_names, _operation)
one(("log1p", "special.log1p"), elementwise.log1p, "Log1PBackward0")
_neg = one(("neg", "negative"), elementwise.negative, "", False, "iufc", RuntimeError)
_abs = one(("abs", "absolute"), conventions.absolute, "", False, "iufc", in_place=False)
one(("relu",), conventions.relu, "", False, "iuf")


def _positive(input: Any) -> Any:
    """Return the tensor itself."""
    check_kind("positive", only_tensor(input, "positive")._raw.dtype, "iufc", RuntimeError)
    return input


def _inverted(x: Any) -> Any:
    if x._raw.dtype.kind not in "biu":
        raise TypeError(f"~x flips bits or booleans, and {x.dtype} has neither; write x.bool()")
    return _not.within(x)


_not = one(("bitwise_not",), elementwise.bitwise_invert, "", False, "biu")
put(("positive", "Tensor.positive"), _positive)
for _name, _function in {
    "neg": _neg.method, "abs": _abs.method, "pos": _positive, "invert": _inverted,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _function)


def _abs_in_place(self: Any) -> Any:
    """Give a tensor its absolute values."""
    if self._raw.dtype.kind == "c":
        raise RuntimeError("abs_() of complex numbers would have to hold real ones; write x.abs()")
    return change(self, _abs.function)


put(("abs_", "Tensor.abs_", "Tensor.absolute_"), _abs_in_place)
