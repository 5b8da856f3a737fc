"""Operators of tensors, and the elementwise functions of one and two tensors that are as simple."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch import conventions
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import offered, put, put_in_place
from wengert.dialects.torch.tensors import (
    Tensor,
    convert,
    is_operand,
    ns,
    of_one,
    of_two,
)
from wengert.ops import elementwise, special


def _not_truth(pair: list[Any]) -> list[Any]:
    if any(t._raw.dtype.kind == "b" for t in pair):
        raise RuntimeError("the `-` operator with bool tensors is not supported; write x ^ y")
    return pair


# -- two tensors -----------------------------------------------------------------------------------

add, _add = of_two(elementwise.add, "AddBackward0")
subtract, _subtract = of_two(elementwise.subtract, "SubBackward0", prepare=_not_truth)
multiply, _multiply = of_two(elementwise.multiply, "MulBackward0")
divide, _divide = of_two(elementwise.divide, "DivBackward0", floating=True)
power, _power = of_two(conventions.power, "PowBackward0")
floor_divide, _floor_divide = of_two(conventions.floor_divide, "FloorDivideBackward0")
remainder, _remainder = of_two(elementwise.remainder, "RemainderBackward0")
_COMPARISONS = {
    "lt": (elementwise.less, "less"),
    "le": (elementwise.less_equal, "less_equal"),
    "gt": (elementwise.greater, "greater"),
    "ge": (elementwise.greater_equal, "greater_equal"),
    "eq": (elementwise.equal, ""),
    "ne": (elementwise.not_equal, "not_equal"),
}


def _reflected(function: Any) -> Any:
    def call(x: Any, y: Any) -> Any:
        return function(y, x) if is_operand(y) else NotImplemented

    return call


def _scaled(function: Any, operator: Any) -> Any:
    """Return a sum or difference that may scale its second operand first."""

    def call(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
        return function(input, other if alpha == 1 else multiply(other, alpha), out=out)

    return call


def _both(names: tuple[str, ...], function: Any, in_place: bool = True) -> None:
    """Offer a function under some names, as methods too and with underscores."""
    for name in names:
        put((name, f"Tensor.{name}"), function)
        if in_place:
            put_in_place(name, function)


_both(("add",), _scaled(_add, add))
_both(("sub", "subtract"), _scaled(_subtract, subtract))
_both(("mul", "multiply"), _multiply)
_both(("floor_divide",), _floor_divide)
_both(("remainder",), _remainder)


@offered("rsub", label="RsubBackward1")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return other - alpha * input."""
    return convert(subtract(other, input if alpha == 1 else multiply(input, alpha)))


def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """Return input / other, rounded if that is asked for."""
    if rounding_mode is None:
        return _divide(input, other, out=out)
    if rounding_mode == "floor":
        return _floor_divide(input, other, out=out)
    if rounding_mode == "trunc":
        return _truncated(input, other, out=out)
    raise RuntimeError(
        f"div expected rounding_mode to be one of None, 'trunc' or 'floor' but found "
        f"'{rounding_mode}'"
    )


_, _truncated = of_two(conventions.truncated_divide, "DivBackward1")
_both(("div", "divide"), _div)
_both(("true_divide",), _divide)


@offered("pow", "float_power", label="PowBackward0", in_place=True)
def _pow(input: Any, exponent: Any) -> Any:
    """Return input to the power of exponent."""
    return convert(power(input, exponent))


_OPERATORS = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": floor_divide,
    "mod": remainder,
    "pow": power,
}
for _name, _function in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _function)
    setattr(Tensor, f"__r{_name}__", _reflected(_function))

    def _changed(x: Any, y: Any, function: Any = _function) -> Any:
        return change(x, function, y) if is_operand(y) else NotImplemented

    setattr(Tensor, f"__i{_name}__", _changed)
for _name, (_compared, _long) in _COMPARISONS.items():
    _function, _call = of_two(_compared, f"{_name.capitalize()}Backward0")
    setattr(Tensor, f"__{_name}__", _function)
    _both(tuple(filter(None, (_name, _long))), _call)
Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]


# -- one tensor ------------------------------------------------------------------------------------

#: Names, the operation, and whether whole numbers become floating ones.
_ONE: dict[tuple[str, ...], tuple[Any, bool]] = {
    ("exp",): (elementwise.exp, True),
    ("expm1", "special.expm1"): (elementwise.expm1, True),
    ("log",): (elementwise.log, True),
    ("log2",): (elementwise.log2, True),
    ("log10",): (elementwise.log10, True),
    ("log1p", "special.log1p"): (elementwise.log1p, True),
    ("sqrt",): (elementwise.sqrt, True),
    ("sin",): (elementwise.sin, True),
    ("cos",): (elementwise.cos, True),
    ("tan",): (elementwise.tan, True),
    ("asin", "arcsin"): (elementwise.asin, True),
    ("acos", "arccos"): (elementwise.acos, True),
    ("atan", "arctan"): (elementwise.atan, True),
    ("sinh",): (elementwise.sinh, True),
    ("cosh",): (elementwise.cosh, True),
    ("tanh",): (elementwise.tanh, True),
    ("asinh", "arcsinh"): (elementwise.asinh, True),
    ("acosh", "arccosh"): (elementwise.acosh, True),
    ("atanh", "arctanh"): (elementwise.atanh, True),
    ("neg", "negative"): (elementwise.negative, False),
    ("abs", "absolute"): (elementwise.abs_, False),
    ("reciprocal",): (elementwise.reciprocal, True),
}
_METHODS: dict[str, Any] = {}
for _names, (_operation, _floats) in _ONE.items():
    _short = _names[0]
    _method, _call = of_one(_operation, f"{_short.capitalize()}Backward0", _floats)
    _METHODS[_short] = _method
    for _name in _names:
        put((_name,), _call)
        if "." not in _name:
            put((f"Tensor.{_name}",), _method)
            put_in_place(_name, _call)
Tensor.__neg__ = _METHODS["neg"]  # type: ignore[attr-defined]
Tensor.__abs__ = _METHODS["abs"]  # type: ignore[attr-defined]
Tensor.__pos__ = lambda x: x  # type: ignore[attr-defined]

_ = ns, special
