"""Operators of tensors and variables, and how they are indexed."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow.errors import INVALID, invalid
from wengert.dialects.tensorflow.tensors import Tensor, convert, of_one, of_two, outward, pair
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise
from wengert.ops.indexing import getitem

ns = Native._namespace

add = of_two(elementwise.add, "AddV2")
subtract = of_two(elementwise.subtract, "Sub")
multiply = of_two(elementwise.multiply, "Mul")
negative = of_one(elementwise.negative, "Neg", "iufc")
less = of_two(elementwise.less, "Less")
less_equal = of_two(elementwise.less_equal, "LessEqual")
greater = of_two(elementwise.greater, "Greater")
greater_equal = of_two(elementwise.greater_equal, "GreaterEqual")
_floats = of_two(elementwise.divide, "RealDiv")
_equal = of_two(elementwise.equal, "Equal")
_not_equal = of_two(elementwise.not_equal, "NotEqual")
floor_divide = of_two(elementwise.floor_divide, "FloorDiv")
remainder = of_two(elementwise.remainder, "FloorMod")
_power = of_two(elementwise.pow_, "Pow")
_abs = of_one(elementwise.abs_, "Abs", "iufc")


def divide(x: Any, y: Any) -> Any:
    """Return x / y; whole numbers are made floating, as Python does."""
    if type(x) is Tensor and x._raw.dtype.kind in "fc":
        return _floats(x, y)
    first, second = pair(x, y, "RealDiv")
    if first.dtype.kind in "iu":
        to = np.float32 if first.dtype.itemsize < 4 else np.float64
        first, second = ns.astype(first, to), ns.astype(second, to)
    return _floats(outward(first), outward(second))


def power(x: Any, y: Any) -> Any:
    """Return x ** y."""
    if type(x) is Tensor and type(y) in (int, float) and x._raw.dtype.kind in "fc":
        return outward(elementwise.power(x.__wengert_tensor__(), y))
    first, second = pair(x, y, "Pow")
    if second.dtype.kind == "i" and (second._raw < 0).any():
        raise invalid("Integers to negative integer powers are not allowed [Op:Pow]")
    return _power(outward(first), outward(second))


def equal(x: Any, y: Any) -> Any:
    """Return where x and y are equal."""
    return False if y is None or x is None else _equal(x, y)


def not_equal(x: Any, y: Any) -> Any:
    """Return where x and y differ."""
    return True if y is None or x is None else _not_equal(x, y)


def matmul(x: Any, y: Any) -> Any:
    """Return x @ y."""
    from wengert.dialects.tensorflow.table import NAMES

    return NAMES["matmul"](x, y)


def logical(name: str, on_bool: Any, on_int: Any) -> Any:
    """Return an operator that is logical for booleans and bitwise for whole numbers."""

    def call(x: Any, y: Any) -> Any:
        first, second = pair(x, y, name)
        return outward((on_bool if first.dtype.kind == "b" else on_int)(first, second))

    return call


and_ = logical("And", elementwise.logical_and, elementwise.bitwise_and)
or_ = logical("Or", elementwise.logical_or, elementwise.bitwise_or)
xor = logical("Xor", elementwise.logical_xor, elementwise.bitwise_xor)


def invert(x: Any) -> Any:
    """Return not x, or its bits inverted."""
    tensor = convert(x)
    function = elementwise.logical_not if tensor.dtype.kind == "b" else elementwise.bitwise_invert
    return outward(function(tensor))


_VALID = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices, got {!r}; write tf.gather(x, indices)"
)


def _index(x: Any, key: Any) -> Any:
    """Return x[key], for keys of integers, slices, ... and None, or a mask."""
    tensor = convert(x)
    if isinstance(key, (Tensor, np.ndarray)) and np.asarray(key).dtype == bool:
        return outward(getitem(tensor, np.asarray(key)))
    parts = key if isinstance(key, tuple) else tuple(key) if isinstance(key, list) else (key,)
    try:
        return outward(getitem(tensor, tuple(map(_part, parts))))
    except INVALID as error:
        if isinstance(error, TypeError):
            raise
        raise invalid(f"{error} [Op:StridedSlice]") from error


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis or type(part) is int:
        return part
    if isinstance(part, slice):
        return slice(
            *(None if v is None else _integer(v) for v in (part.start, part.stop, part.step))
        )
    return _integer(part)


def _integer(part: Any) -> int:
    array = np.asarray(part)
    if array.shape or array.dtype.kind not in "iu":
        raise TypeError(_VALID.format(part))
    return int(array)


index = _index


def _reflected(function: Any) -> Any:
    return lambda x, y: function(y, x)


BINARY = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floor_divide,
    "mod": remainder, "pow": power, "matmul": matmul, "and": and_, "or": or_, "xor": xor,
}  # fmt: skip
COMPARISONS = {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal,
}  # fmt: skip
UNARY = {"neg": negative, "abs": _abs, "invert": invert, "pos": lambda x: x}


def install(kind: type[Any], index: bool = True) -> None:
    """Give a class the operators of tensors, and with `index` its brackets."""
    for name, function in BINARY.items():
        setattr(kind, f"__{name}__", function)
        setattr(kind, f"__r{name}__", _reflected(function))
    for name, function in {**COMPARISONS, **UNARY}.items():
        setattr(kind, f"__{name}__", function)
    if index:
        kind.__getitem__ = _index


install(Tensor)
