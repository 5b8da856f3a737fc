"""Operators of tensors and variables, and how they are indexed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import summary
from wengert.dialects.quiet import Quiet
from wengert.dialects.tensorflow import conventions
from wengert.dialects.tensorflow.errors import INVALID, InvalidArgumentError, invalid, type_error
from wengert.dialects.tensorflow.kinds import tensor, together
from wengert.dialects.tensorflow.table import NAMES, at_once, guarded, quick_call
from wengert.dialects.tensorflow.tensors import (
    StringTensor,
    Tensor,
    alike,
    call_start,
    check_dtypes,
    check_kind,
    convert,
    converted_like,
    data_of,
    data_pair,
    is_like_tensor,
    is_variable,
    made,
    outward,
    pair,
)
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise
from wengert.ops.indexing import getitem

ns = Native._namespace


def of_one(operation: Any, name: str, kinds: str = "fc", when: str = "") -> Callable[..., Any]:
    """Return the function of one tensor that does an operation, for numbers of some kinds."""

    def body(x: Any) -> Native:
        return operation(x)

    body.__annotations__["x"] = Annotated[Native, tensor(kinds)]
    body.__doc__ = summary(operation)
    return guarded(name, quick=quick_call(operation, {}, kinds, when))(body)


def _is_read(value: Any) -> bool:
    """Return whether a value is a variable, also one of a library's, such as Keras's."""
    return is_variable(value) or hasattr(type(value), "_should_act_as_resource_variable")


def of_two(
    operation: Any, name: str, kinds: str = "iufc",
    whole: Callable[[Native, Native], Any] | None = None,
    read: Callable[[Any, Any, str], tuple[Native, Native]] = pair,
) -> Callable[[Any, Any], Any]:  # fmt: skip
    """Return the function of two tensors of one dtype that does an operation.

    It takes numbers of some kinds. Whole numbers are first shown to `whole`, which returns what the
    operation is done on, or raises. `read` converts the operands.
    """

    @guarded(name)
    def slowly(x: Any, y: Any) -> Native:
        first, second = read(x, y, name)
        check_kind(first, kinds, name)
        if whole is not None and first.dtype.kind in "iu":
            first, second = whole(first, second)
        return operation(first, second)

    def otherwise(op: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if any(map(_is_read, args)):
            return call(*[outward(convert(v)) if _is_read(v) else v for v in args])
        return slowly(*args)

    quick = kinds.replace("O", "")
    quick = quick if whole is None else quick.replace("i", "").replace("u", "")
    call = at_once(operation, otherwise, quick)
    call.__doc__ = summary(operation)
    return call


def _lenient(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    """Return the operands of a sum: Python's numbers that do not fit are of another dtype."""
    if not is_like_tensor(x) or isinstance(x, StringTensor):
        return data_pair(x, y, name)
    if isinstance(y, str):
        raise invalid(f"{name}: {y!r:.60} is a string, and numbers are expected")
    return one_by_one(x, y, name)


def one_by_one(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    """Return operands of which the first gets no dtype from the second."""
    first = convert(x)
    second = convert(y, None, first.dtype)
    check_dtypes(name, first, second)
    return first, second


def _factors(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    """Return the operands of a product: where one is boolean, whether each is 1 or more."""
    if not is_like_tensor(x):
        return pair(x, y, name)
    first = convert(x)
    if first.dtype.kind != "b" and not (is_like_tensor(y) and convert(y).dtype.kind == "b"):
        return pair(first, y, name)
    second = convert(y, None, first.dtype)
    return _at_least_one(first), _at_least_one(second)


def _at_least_one(x: Native) -> Any:
    return ns.astype(ns.astype(x, np.int32), bool)


def same(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    """Return the operands of a quotient."""
    first, second = alike((x, y))
    if first.dtype != second.dtype:
        kinds = f"{first.dtype.name} and {second.dtype.name}"
        raise type_error(f"{name} of {kinds}; write tf.cast(x, dtype)")
    if first.dtype.kind == "b":
        raise type_error("a quotient of booleans; write tf.cast(x, tf.float32)")
    return first, second


def floating(x: Any, y: Any) -> tuple[Any, Any]:
    """Return whole numbers as floating ones, as Python divides."""
    to = np.float32 if x.dtype.itemsize < 4 else np.float64
    return ns.astype(x, to), ns.astype(y, to)


def _no_zero(x: Any, y: Any) -> tuple[Any, Any]:
    if not y._raw.all():
        raise invalid("whole numbers are divided by 0; write tf.math.divide_no_nan(x, y)")
    return x, y


def _no_negative(x: Any, y: Any) -> tuple[Any, Any]:
    if (y._raw < 0).any():
        raise invalid("whole numbers to negative powers; write tf.cast(x, tf.float32) ** y")
    return x, y


add = of_two(elementwise.add, "AddV2", "iufcO", read=_lenient)
subtract = of_two(elementwise.subtract, "Sub")
multiply = of_two(elementwise.multiply, "Mul", "biufc", read=_factors)
less = of_two(elementwise.less, "Less", "iuf")
less_equal = of_two(elementwise.less_equal, "LessEqual", "iuf")
greater = of_two(elementwise.greater, "Greater", "iuf")
greater_equal = of_two(elementwise.greater_equal, "GreaterEqual", "iuf")
equal_to = of_two(elementwise.equal, "Equal", "biufcO", read=data_pair)
not_equal_to = of_two(elementwise.not_equal, "NotEqual", "biufcO", read=data_pair)
divide = of_two(elementwise.divide, "RealDiv", whole=floating, read=same)
floor_divide = of_two(conventions.floor_divide, "FloorDiv", "iuf", whole=_no_zero)
remainder = of_two(elementwise.remainder, "FloorMod", "iuf", whole=_no_zero)
_power = of_two(conventions.power, "Pow", "ifc", whole=_no_negative)


def power(x: Any, y: Any) -> Any:
    """Return x ** y."""
    quick = type(x) is Tensor and type(y) in (int, float) and x._raw.dtype.kind in "fc"
    if quick and y not in (0, 1):  # for which TensorFlow has further derivatives, of 0 and NaN
        with Quiet():
            return outward(elementwise.power(x.__wengert_tensor__(), y))
    return _power(x, y)


def equal(x: Any, y: Any) -> Any:
    """Return where x and y are equal; of shapes that do not fit, False."""
    return _compared(equal_to, x, y, False)


def not_equal(x: Any, y: Any) -> Any:
    """Return where x and y differ; of shapes that do not fit, True."""
    return _compared(not_equal_to, x, y, True)


def _compared(function: Any, x: Any, y: Any, without: bool) -> Any:
    if y is None or x is None:
        return without
    try:
        return function(x, y)
    except InvalidArgumentError:
        try:
            np.broadcast_shapes(np.shape(x), np.shape(y))
        except ValueError:
            return made(np.array(without))
        raise


def matmul(x: Any, y: Any) -> Any:
    """Return x @ y."""
    if not is_like_tensor(x):  # unlike in tf.matmul, the tensor decides the dtype
        x = converted_like(x, convert(y))
    return NAMES["matmul"](x, y)


def _logical(name: str, on_bool: Any, on_int: Any) -> Any:
    """Return an operator that is logical for booleans and bitwise for whole numbers."""

    @guarded(name)
    def call(x: _Bits, y: _Bits) -> Native:
        return (on_bool if x.dtype.kind == "b" else on_int)(x, y)

    return call


_Bits = Annotated[Native, together("biu")]


@guarded("Invert")
def _invert(x: Annotated[Native, tensor("biu")]) -> Native:
    """Return not x, or its bits inverted."""
    return (elementwise.logical_not if x.dtype.kind == "b" else elementwise.bitwise_invert)(x)


_VALID = (
    "got the index {!r}; expected whole numbers, slices, ..., None, or a mask, so write "
    "tf.gather(x, indices)"
)


def index(x: Any, key: Any) -> Any:
    """Return x[key], for keys of integers, slices, ... and None, or a mask."""
    tensor = data_of(x)
    if isinstance(key, (Tensor, np.ndarray, bool)) and np.asarray(key).dtype == bool:
        return _masked(tensor, np.asarray(key))
    parts = key if isinstance(key, tuple) else tuple(key) if isinstance(key, list) else (key,)
    start = call_start()
    try:
        return outward(getitem(tensor, tuple(map(_part, parts))), start)
    except INVALID as error:
        if isinstance(error, TypeError):
            raise
        raise invalid(f"{error} [Op:StridedSlice]") from error


def _masked(x: Native, mask: np.ndarray) -> Any:
    if not mask.ndim:
        raise ValueError("a mask must have axes; write x[None] for one more")
    if x.shape[: mask.ndim] != mask.shape:
        raise ValueError(f"a mask of shape {mask.shape} for a tensor of shape {x.shape}")
    return outward(getitem(x, mask))


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


def _reflected(function: Any) -> Any:
    return lambda x, y: function(y, x)


_BINARY = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floor_divide,
    "mod": remainder, "pow": power, "matmul": matmul,
    "and": _logical("And", elementwise.logical_and, elementwise.bitwise_and),
    "or": _logical("Or", elementwise.logical_or, elementwise.bitwise_or),
    "xor": _logical("Xor", elementwise.logical_xor, elementwise.bitwise_xor),
}  # fmt: skip
_OTHERS = {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal,
    "neg": of_one(elementwise.negative, "Neg", "ifc"),
    "abs": of_one(conventions.absolute, "Abs", "ifc"), "invert": _invert,
}  # fmt: skip


def install(kind: type[Any]) -> type[Any]:
    """Give a class the operators of tensors, but for its brackets, and return it."""
    for name, function in _BINARY.items():
        setattr(kind, f"__{name}__", function)
        setattr(kind, f"__r{name}__", _reflected(function))
    for name, function in _OTHERS.items():
        setattr(kind, f"__{name}__", function)
    return kind


install(Tensor).__getitem__ = index
