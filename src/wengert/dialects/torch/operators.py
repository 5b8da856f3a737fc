"""Operators of tensors, and the elementwise functions of one and two tensors that are as simple.

What programs do in loops takes the engine's fast paths (`of_one`, `of_two`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind, Quick, summary
from wengert.dialects.torch import conventions
from wengert.dialects.torch.dtypes import of_numpy, result_type
from wengert.dialects.torch.kinds import floating as with_fractions
from wengert.dialects.torch.kinds import read_tensor, tensor
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import NAMES, guarded, put, put_in_place
from wengert.dialects.torch.tensors import (
    Tensor,
    astype,
    check_cast,
    convert,
    fast,
    fitted,
    is_operand,
    made,
    promoted,
)
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise
from wengert.ops.batching import constant

NUMBERS = (bool, int, float, complex)


def _is_number(value: Any) -> bool:
    return isinstance(value, NUMBERS)


def _kind(value: Any) -> str:
    raw = value._raw if hasattr(value, "_raw") else np.array(value)
    return backends.kind_of(raw.dtype)


def _no_truth(one: Any, two: Any, common: np.dtype) -> None:
    if "b" in (_kind(one), _kind(two)):
        raise RuntimeError("booleans have no difference; write x ^ y or ~x")


def no_zero(one: Any, two: Any, common: np.dtype) -> None:
    """Raise if whole numbers are divided by 0."""
    divisor = getattr(two, "_raw", two)
    zero = not divisor.all() if type(divisor) is np.ndarray else _is_number(two) and not two
    if common.kind in "iu" and zero:
        raise RuntimeError("ZeroDivisionError: a whole number is divided by 0")


def _no_inverse(one: Any, two: Any, common: np.dtype) -> None:
    if common.kind in "iu" and _is_number(two) and two < 0:
        raise RuntimeError("whole numbers have no negative powers; write x.float()")


# -- functions of one and two tensors from operations ----------------------------------------------


class Forms(NamedTuple):
    """An operation as programs call it."""

    #: called by the program itself, as a method or an operator
    method: Callable[..., Any]
    #: called by a function that the program called
    within: Callable[..., Any]
    #: with out=, called by the program
    function: Callable[..., Any]


def _forms_of(
    op: Op,
    body: Callable[..., Native],
    label: str,
    quick: str,
    known: dict[str, Any] | None = None,
    numbers: str = "12",
) -> Forms:
    """Return the forms of an operation; numbers of other kinds than `quick` are left to a body."""
    only = (arg for k, arg in enumerate(op.args) if str(k + 1) not in numbers)
    when = " and ".join(f"isinstance({arg}, _kind)" for arg in only)

    def called(otherwise: Callable[..., Any], depth: int) -> Callable[..., Any]:
        return fast(op, otherwise, quick or "-", depth, when, label, known)

    body.__name__ = body.__qualname__ = op.name
    slow = guarded(body, label)
    quick_call = called(lambda *_: NotImplemented, 2)
    call = guarded(body, label, quick=Quick(quick_call, None, {}, len(op.args)))

    def within(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return slow(*args)

    def method(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return within(op, args, params) if all(map(is_operand, args)) else NotImplemented

    forms = Forms(called(method, 1), called(within, 2), call)
    for form in forms:
        form.__doc__ = body.__doc__
    return forms


def of_one(
    function: Any,
    label: str,
    floating: bool = True,
    kinds: str = "biufc",
    refusal: type[Exception] = NotImplementedError,
    known: dict[str, Any] | None = None,
    detached: bool = False,
) -> Forms:
    """Return the forms of an operation of one tensor.

    Whole numbers become floating ones first if `floating` says so. Tensors of a kind of numbers
    that is not in `kinds` are refused. `known` are the parameters of the operation; the results
    of one that is `detached` have no gradients.
    """
    op: Op = function.op

    def body(input: Any) -> Native:
        x = constant(input) if detached else input
        return apply(op, (x,), known or {})

    read = tensor(kinds, refusal, with_fractions if floating else None)
    body.__annotations__["input"] = Annotated[Native, read]
    body.__doc__ = summary(function)
    quick = "".join(k for k in ("fc" if floating else "iufc") if k in kinds and not detached)
    return _forms_of(op, body, label, quick, known)


def of_two(
    function: Any,
    label: str,
    floating: bool = False,
    kinds: str = "biufc",
    refusal: type[Exception] = NotImplementedError,
    numbers: str = "12",
    check: Callable[[Any, Any, np.dtype], None] | None = None,
    refused: str = "",
) -> Forms:
    """Return the forms of an operation of two tensors or numbers.

    Operands get a common dtype, a floating one if `floating` says so. Common dtypes of a kind that
    is not in `kinds` are refused; `check` may refuse others, but real floating operands of one
    dtype are not shown to it. `numbers` says whether the first and the second operand may be
    Python numbers. `refused` is PyTorch's name of an operation that it has no derivative of.
    """
    op: Op = function.op

    def read(values: Any, at: Any, x: Any) -> list[Native]:
        given = [v.item() if isinstance(v, np.generic) else v for v in values]
        plain = [isinstance(v, NUMBERS) for v in given]
        for k, (value, where) in enumerate(zip(given, at, strict=True)):
            if not plain[k] or str(k + 1) not in numbers or (all(plain) and numbers != "12"):
                read_tensor(value, where)
        common = result_type(*(getattr(v, "_raw", v) for v in given))
        if backends.kind_of(common) not in kinds:
            instead = "x.abs() or x.real" if common.kind == "c" else "x.float() or x.long()"
            raise refusal(f"{op.name} does not take {of_numpy(common)}; write {instead} first")
        if check is not None:
            check(given[0], given[1], common)
        if backends.is_narrow(common) and any(plain) and not all(plain):
            return [v if _is_number(v) else astype(convert(v), common) for v in given]
        return promoted(*given, floating=floating)

    def body(input: Any, other: Any) -> Native:
        y = apply(op, (input, other), {})
        sources = [x for x in (input, other) if getattr(x, "_node", None) is not None]
        return conventions.unsupported(refused, y, sources) if refused and sources else y

    kind = Kind(read, tensor=True, together=True)
    note: Any = Annotated[Any, kind] if numbers else Annotated[Native, kind]
    body.__annotations__ |= {"input": note, "other": note}
    body.__doc__ = summary(function)
    quick = "" if refused else "".join(
        k for k in ("fc" if floating or check else "iufc") if k in kinds
    )  # fmt: skip
    return _forms_of(op, body, label, quick, None, numbers)


# -- two tensors -----------------------------------------------------------------------------------

add = of_two(elementwise.add, "AddBackward0")
subtract = of_two(elementwise.subtract, "SubBackward0", check=_no_truth)
subtract_from = of_two(elementwise.subtract, "RsubBackward1", check=_no_truth)
multiply = of_two(elementwise.multiply, "MulBackward0")
divide = of_two(conventions.divide, "DivBackward0", floating=True)
power = of_two(conventions.power, "PowBackward1", kinds="iufc", numbers="")
power_of_number = of_two(conventions.power, "PowBackward0", numbers="2", check=_no_inverse)
number_to_power = of_two(conventions.power, "PowBackward2", numbers="1")
_whole = functools.partial(of_two, kinds="iuf", check=no_zero)
floor_divide = _whole(elementwise.floor_divide, "NotImplemented", refused="aten::floor_divide")
_ROUNDED = {
    None: divide,
    "floor": _whole(conventions.rounded_down, "DivBackward2"),
    "trunc": _whole(conventions.truncated_divide, "DivBackward2"),
}
remainder = _whole(conventions.remainder, "RemainderBackward1")
remainder_by_number = _whole(conventions.remainder, "RemainderBackward0")
remainder_of_number = _whole(
    conventions.remainder, "NotImplemented", numbers="1", refused="aten::remainder"
)


def powers_of(x: Any, y: Any) -> tuple[Forms, tuple[Any, ...]]:
    """Return what computes x ** y, the shortest for the exponents that programs have."""
    if type(y) is Tensor:
        return (power if isinstance(x, Tensor) else number_to_power), (x, y)
    if not isinstance(y, (int, float, complex, np.generic)):
        return power, (x, y)
    if type(x) is Tensor and type(y) is not bool:
        short = powers.get(y)  # type: ignore[arg-type]
        if short is not None and backends.is_inexact(x._raw.dtype):
            return short, (x,)
    if y is True and _kind(x) == "b":
        return multiply, (x, x)
    return power_of_number, (x, y)


def to_power(x: Any, y: Any) -> Any:
    """Return x ** y."""
    forms, operands = powers_of(x, y)
    return forms.within(*operands) if forms is not power or is_operand(y) else NotImplemented


def _modulo(x: Any, y: Any) -> Any:
    if not is_operand(y):
        return NotImplemented
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


def _augmented(function: Callable[[Any, Any], Any], keeps: bool) -> Any:
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
        return change(x, compute, y, keeps=keeps) if is_operand(y) else NotImplemented

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
}
for _name, (_operator, _exchanged) in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _operator)
    setattr(Tensor, f"__r{_name}__", _reflected(_exchanged))
    setattr(Tensor, f"__i{_name}__", _augmented(_operator, _name not in ("add", "sub")))
Tensor.__rtruediv__ = _over  # type: ignore[attr-defined]
# `2 * x` is `x * 2`: nodes have the tensor first, as in PyTorch
Tensor.__radd__, Tensor.__rmul__ = add.method, multiply.method  # type: ignore[attr-defined]
put(("Tensor.__div__",), divide.method)


def offer_both(
    names: tuple[str, ...], function: Any, in_place: bool = True, method: Any = None
) -> None:
    """Offer a function under some names, as methods too and with underscores."""
    for name in names:
        put((name,), function)
        if "." not in name:
            put((f"Tensor.{name}",), method or function)
            if in_place:
                put_in_place(name, function)


def answer(forms: Forms, out: Any, *operands: Any) -> Any:
    """Return what a function that the program called makes of operands, in `out` if that is given.

    So the line that a node is from is the program's.
    """
    return forms.within(*operands) if out is None else forms.function(*operands, out=out)


def _scaled(forms: Forms) -> Any:
    """Return a sum or difference that may scale its second operand first."""

    def call(input: Any, other: Any, *rest: Any, alpha: Any = 1, out: Any = None) -> Any:
        if rest:  # (input, alpha, other), as it was before alpha had a name
            alpha, other = other, *rest
        if alpha != 1 or alpha is True:
            _check_alpha(alpha, input, other)
            both_truth = _kind(input) == _kind(other) == "b"
            other = multiply.within(other, bool(alpha) if both_truth else alpha)
        return answer(forms, out, input, other)

    return call


def _check_alpha(alpha: Any, input: Any, other: Any) -> None:
    whole = _kind(input) in "biu" and _kind(other) in "biu"
    if isinstance(alpha, bool) and {_kind(input), _kind(other)} != {"b"}:
        raise RuntimeError("alpha is a boolean, and the tensors are not; write alpha=1")
    if whole and isinstance(alpha, (float, complex)):
        raise RuntimeError("alpha has fractions, and the tensors have none; write x.float()")


offer_both(("add",), _scaled(add))
offer_both(("sub", "subtract"), _scaled(subtract))
offer_both(("mul", "multiply"), multiply.function)
offer_both(("floor_divide",), floor_divide.function)
offer_both(("true_divide",), divide.function)
for _name, _forms in _bits.items():
    offer_both((f"bitwise_{_name}",), _forms.function)


def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """Return input / other, rounded if that is asked for."""
    forms = _ROUNDED.get(rounding_mode)
    if forms is None:
        raise RuntimeError(f"div: rounding_mode is {rounding_mode!r}; give 'trunc' or 'floor'")
    return answer(forms, out, input, other)


def _remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return what is left of input after a division rounded down."""
    by = remainder_by_number if _is_number(other) else remainder
    return answer(by if isinstance(input, Tensor) else remainder_of_number, out, input, other)


def _pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Return input to the power of exponent."""
    forms, operands = powers_of(input, exponent)
    return answer(forms, out, *operands)


offer_both(("div", "divide"), _div)
offer_both(("remainder",), _remainder)
offer_both(("pow",), _pow)


def _with_arrays(forms: Forms) -> Callable[[Any, Any], Any]:
    """Return x == y where y may be NumPy's array, of which PyTorch makes a tensor for this only."""

    def equals(x: Any, y: Any) -> Any:
        if type(y) is not Tensor and not is_operand(y):
            if type(y) is not np.ndarray or backends.kind_of(y.dtype) not in "biufc":
                return NotImplemented
            y = made(y)
        return forms.within(x, y)

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
    *how: Any,
    in_place: bool = True,
    **options: Any,
) -> Forms:
    """Offer an operation of one tensor; `how` it takes numbers is as in `of_one`."""
    short = names[0].rpartition(".")[2]
    forms = of_one(function, label or f"{short.capitalize()}Backward0", *how, **options)
    offer_both(names, forms.function, in_place, forms.method)
    return forms


for _name in (
    "exp", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "reciprocal",
):  # fmt: skip
    one((_name,), getattr(elementwise, _name))
for _name in ("asin", "acos", "atan", "asinh", "acosh", "atanh"):
    one((_name, f"arc{_name[1:]}"), getattr(elementwise, _name))
one(("expm1", "special.expm1"), elementwise.expm1)
one(("exp2", "special.exp2"), conventions.exp2)
one(("sigmoid", "special.expit"), conventions.sigmoid)
one(("log1p", "special.log1p"), elementwise.log1p, "Log1PBackward0")
#: Powers by numbers that are in every program, without an array of exponents.
_power = functools.partial(of_one, label="PowBackward0", floating=False, kinds="fc")
powers: dict[float, Forms] = {
    2: _power(elementwise.square),
    0.5: _power(elementwise.sqrt),
    -1: _power(elementwise.reciprocal),
    **{e: _power(elementwise.pow_number, known={"exponent": e}) for e in (0, 3, -2)},
}
_neg = one(("neg", "negative"), elementwise.negative, "", False, "iufc", RuntimeError)
_abs = one(("abs", "absolute"), conventions.absolute, "", False, "iufc", in_place=False)


def _positive(input: Any) -> Any:
    """Return the tensor itself."""
    tensor("iufc").read(input, Argument("positive", "input"))
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
