"""Making arrays, their dtypes and what their shapes are, by TensorFlow's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import (
    alias,
    check_dtypes,
    convert,
    converted_like,
    is_like_tensor,
    is_tensor,
    outward,
    static,
)
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops.indexing import getitem

ns = Native._namespace


# -- what arguments become -------------------------------------------------------------------------


def integers(value: Any, what: str) -> Any:
    """Return a shape, or positions, as nested lists of Python's integers."""
    if type(value) is int:
        return value
    if type(value) in (list, tuple) and all(type(n) is int for n in value):
        return list(value)
    if value is None:
        convert(value)  # raises
    found = static(value)
    if any(type(n) is not int for n in np.ravel(np.asarray(found, object))):
        raise invalid(f"{what} is {value!r}; expected integers (int32 or int64)")
    return found


def one_integer(value: Any, what: str) -> int:
    """Return a single integer, which may be given as a tensor or a list of one."""
    found = integers(value, what)
    while isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, list):
        raise invalid(f"{what} is {value!r}; expected one integer")
    return int(found)


def lengths(value: Any, what: str = "shape") -> tuple[int, ...]:
    """Return a shape: of integers that are not negative, in one list."""
    found = integers(value, what)
    if not isinstance(found, list) or any(isinstance(n, list) for n in found):
        raise invalid(f"{what}: expected a vector or a number, and {value!r} has more axes")
    if any(n < 0 for n in found):
        raise invalid(f"{what} {found} has a negative length")
    return tuple(found)


def places_of(value: Any, what: str) -> list[int]:
    """Return a list of integers, negative ones among them."""
    found = integers(value, what)
    if not isinstance(found, list) or any(isinstance(n, list) for n in found):
        raise invalid(f"{what}: expected a vector or a number, and {value!r} has more axes")
    return found


def alike(values: Sequence[Any], name: str) -> list[Native]:
    """Return tensors of one dtype, which the first tensor decides, or the first value."""
    if not values:
        return []
    first = convert(next((v for v in values if is_like_tensor(v)), values[0]))
    found = [converted_like(v, first) for v in values]
    check_dtypes(name, *found)
    return found


def numpy_dtype(dtype: Any) -> np.dtype:
    """Return NumPy's dtype of TensorFlow's, or of what stands for one."""
    return as_dtype(dtype)._numpy


def in_range(axis: int, rank: int, what: str = "axis") -> int:
    """Return an axis counted from the first; negative ones are counted from the last."""
    if not -rank <= axis < rank:
        raise invalid(f"there is no {what} {axis}; it counts from -{rank} to {rank - 1}")
    return axis % rank


# -- dtypes ----------------------------------------------------------------------------------------


@offered("cast", "dtypes.cast", raises=(TypeError, ValueError))
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return x in another dtype; of numbers with fractions, whole numbers are cut off."""
    wanted = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(outward(_cast(convert(x.values), wanted)), x.indices, x.dense_shape)
    if is_tensor(x) and x.dtype == wanted:
        return x  # a variable too
    return _cast(convert(x), wanted)


def _cast(x: Native, dtype: dtypes.DType) -> Native:
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = ns.real(x)
    with np.errstate(invalid="ignore", over="ignore"):
        made: Native = ns.astype(x, dtype._numpy)
    return made


@offered("saturate_cast", "dtypes.saturate_cast", raises=(TypeError, ValueError))
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Return a value in another dtype, with numbers that it cannot hold at its limits."""
    x, wanted = convert(value), as_dtype(dtype)
    if x.dtype.kind == "c" and not wanted.is_complex:
        x = ns.real(x)
    mine = of_numpy(x.dtype)
    if mine.is_complex or wanted.is_complex or "b" in (x.dtype.kind, wanted._numpy.kind):
        return _cast(x, wanted)
    if mine.min < wanted.min:
        low = _inner_limit(wanted.min, wanted, x.dtype)
        x = ns.where(x < low, low, x)
    if mine.max > wanted.max:
        high = _inner_limit(wanted.max, wanted, x.dtype)
        x = ns.where(x > high, high, x)
    return _cast(x, wanted)


def _inner_limit(limit: Any, wanted: dtypes.DType, dtype: np.dtype) -> Any:
    """Return the number of a dtype that is next to a limit of another, on its inner side."""
    near = dtype.type(limit)
    beyond = abs(int(near)) > abs(int(limit)) if wanted.is_integer else abs(near) > abs(limit)
    return np.nextafter(near, dtype.type(0)) if beyond else near


@offered("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """Return the same bits read as another dtype."""
    raw, wanted = np.ascontiguousarray(convert(input)._raw), numpy_dtype(type)
    shape = convert(input).shape
    if raw.dtype.itemsize > wanted.itemsize:
        shape = (*shape, raw.dtype.itemsize // wanted.itemsize)
    elif raw.dtype.itemsize < wanted.itemsize:
        if not shape or shape[-1] * raw.dtype.itemsize != wanted.itemsize:
            raise invalid(f"{raw.dtype.name} in shape {shape} does not make whole {wanted.name}")
        shape = shape[:-1]
    return wrap(np.frombuffer(raw.tobytes(), wanted).reshape(shape).copy())


# -- what a shape is -------------------------------------------------------------------------------


def _shape_of(input: Any) -> tuple[int, ...]:
    if isinstance(input, IndexedSlices) and input.dense_shape is not None:
        return tuple(int(n) for n in input.dense_shape.numpy())
    return tuple(convert(input).shape)


@offered("shape", raises=(ValueError, TypeError), recorded=False)
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the length of each axis, as a tensor."""
    return wrap(np.asarray(_shape_of(input), numpy_dtype(out_type or dtypes.int32)))


@offered("shape_n")
def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the shape of each tensor in a list."""
    return [wrap(np.asarray(_shape_of(x), numpy_dtype(out_type))) for x in input]


@offered("size", raises=(ValueError, TypeError), recorded=False)
def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the number of elements, as a tensor."""
    return wrap(np.asarray(math.prod(_shape_of(input)), numpy_dtype(out_type or dtypes.int32)))


@offered("rank", raises=(ValueError, TypeError), recorded=False)
def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of axes, as a tensor."""
    return wrap(np.asarray(len(_shape_of(input)), np.int32))


@plain("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the shape that arrays of two shapes broadcast to; None is a length not known."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    short, long = sorted((list(x), list(y)), key=len)
    found = []
    for a, b in zip([1] * (len(long) - len(short)) + short, long, strict=True):
        if a is None or b is None:
            known = b if a is None else a
            found.append(known if known is not None and known > 1 else None)
        elif a == b or 1 in (a, b):
            found.append(b if a == 1 else a)
        else:
            raise ValueError(f"the shapes {x} and {y} do not broadcast")
    return TensorShape(found)


@offered("broadcast_dynamic_shape", raises=(ValueError, TypeError))
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """Return the shape that arrays of two shapes broadcast to, as a tensor."""
    x, y = alike([shape_x, shape_y], "BroadcastArgs")
    try:
        found = np.broadcast_shapes(tuple(x.numpy().tolist()), tuple(y.numpy().tolist()))
    except ValueError as error:
        raise invalid(f"the shapes {x.numpy()} and {y.numpy()} do not broadcast") from error
    return wrap(np.asarray(found, x.dtype))


@offered("ensure_shape", raises=(ValueError, TypeError))
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return x, which must have a shape; None stands for any length."""
    tensor, wanted = convert(x), TensorShape(shape)
    if not TensorShape(tensor.shape).is_compatible_with(wanted):
        raise invalid(f"the tensor has shape {tensor.shape}; expected {wanted}")
    return alias(tensor)


@offered("identity", "guarantee_const", raises=(ValueError, TypeError))
def identity(input: Any, name: str | None = None) -> Any:
    """Return the same values as another tensor."""
    if isinstance(input, IndexedSlices):
        return input
    return alias(convert(input))


@offered("identity_n", raises=(ValueError, TypeError))
def identity_n(input: Any, name: str | None = None) -> Any:
    """Return the same values as other tensors, each of a list."""
    return [alias(convert(x)) for x in input]


# -- new arrays ------------------------------------------------------------------------------------


def _new_shape(shape: Any) -> tuple[int, ...]:
    """Return the shape of a new array, which may be one integer."""
    if shape is None:
        convert(shape)  # raises
    found = static(shape)
    found = found if isinstance(found, list) else [found]
    if any(type(n) is not int for n in found):
        kind = ValueError if None in found else TypeError
        raise as_is(kind(f"shape is {shape!r}; expected integers"))
    return lengths(found)


@offered("zeros")
def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Any:
    """Return zeros in a shape."""
    return wrap(np.zeros(_new_shape(shape), _or_raise(dtype)))


@offered("ones")
def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Any:
    """Return ones in a shape."""
    return wrap(np.ones(_new_shape(shape), _or_raise(dtype)))


def _or_raise(dtype: Any) -> np.dtype:
    try:
        return numpy_dtype(dtype)
    except TypeError as error:
        raise as_is(error) from error


@offered("zeros_like", raises=(TypeError, ValueError))
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros in the shape and dtype of a tensor."""
    x = convert(input)
    return wrap(np.zeros(x.shape, x.dtype if dtype is None else numpy_dtype(dtype)))


@offered("ones_like", raises=(TypeError, ValueError))
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return ones in the shape and dtype of a tensor."""
    x = convert(input)
    return wrap(np.ones(x.shape, x.dtype if dtype is None else numpy_dtype(dtype)))


@offered("fill", raises=(TypeError,))
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Return a tensor filled with one number, whose derivative it takes."""
    x = convert(value)
    if x.size != 1 or x.ndim > 1:
        raise invalid(f"fill: the value has shape {x.shape}; give one number, without axes")
    found = integers(dims, "dims")
    return ns.broadcast_to(
        ns.reshape(x, ()), lengths(found if isinstance(found, list) else [found])
    )


@offered("eye", "linalg.eye", raises=(TypeError,))
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Return a matrix with ones on its diagonal, or a batch of them."""
    for count in (num_rows, num_columns):
        if isinstance(count, float):
            raise TypeError(f"eye: {count} rows or columns; expected whole numbers")
    rows = one_integer(num_rows, "num_rows")
    columns = rows if num_columns is None else one_integer(num_columns, "num_columns")
    if rows < 0 or columns < 0:
        raise invalid(f"eye: {rows} rows and {columns} columns; expected no negative numbers")
    if isinstance(batch_shape, int):
        raise TypeError(f"batch_shape is {batch_shape}; expected a list")
    one = np.eye(rows, columns, dtype=numpy_dtype(dtype))
    batch = () if batch_shape is None else lengths(batch_shape, "batch_shape")
    return wrap(np.broadcast_to(one, (*batch, rows, columns)).copy())


_RANGE_ORDER = ("int32", "int64", "float32", "float64")


@offered("range", raises=(TypeError, ValueError))
def range_(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Any:
    """Return numbers from `start` (or 0) up to but without `limit`, `delta` apart."""
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else as_dtype(dtype)
    ends = []
    for value in (start, limit, delta):
        if wanted is None or is_tensor(value):
            ends.append(convert(value))
        else:
            ends.append(convert(value, wanted))
    if any(e.size != 1 or e.ndim > 1 for e in ends):
        raise invalid("start, limit and delta of range must be scalars")
    ends = [ns.reshape(e, ()) for e in ends]
    if wanted is None:
        names = [e.dtype.name for e in ends]
        wanted = as_dtype(
            max(names, key=_RANGE_ORDER.index) if set(names) <= set(_RANGE_ORDER) else names[1]
        )
    first, last, step = (e.numpy().astype(wanted._numpy)[()] for e in ends)
    if step == 0:
        raise invalid("delta is 0; expected a step")
    if (last - first) * np.sign(step) < 0:
        raise invalid(f"steps of {step} do not lead from {first} to {last}")
    return wrap(_steps(first, last, step, wanted._numpy))


def _steps(first: Any, last: Any, step: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return np.arange(int(first), int(last), int(step)).astype(dtype)
    count = math.ceil(abs((last - first) / step))  # in the precision that is asked for
    return (first + np.arange(count).astype(dtype) * step).astype(dtype)


@offered("linspace", raises=(TypeError, ValueError))
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Return `num` numbers from `start` to `stop`, evenly apart; whole numbers become float64."""
    first = convert(start)
    last = convert(stop, of_numpy(first.dtype))
    if convert(num).dtype.kind not in "iu":
        raise TypeError(f"num is {num!r}; expected a whole number")
    count = one_integer(num, "num")
    if count < 0:
        raise invalid(f"num is {count}; expected 0 or more")
    if first.dtype.kind in "iu":
        first, last = ns.astype(first, np.float64), ns.astype(last, np.float64)
    first, last = ns.broadcast_arrays(first, last)
    where = in_range(axis, first.ndim + 1)
    line = ns.expand_dims(first, axis=where)
    end = ns.expand_dims(last, axis=where)
    shape = [1] * line.ndim
    shape[where] = max(count - 2, 0)
    steps = wrap(np.arange(1, max(count, 2) - 1).astype(first.dtype).reshape(shape))
    inner = line + (end - line) / max(count - 1, 1) * steps
    whole = ns.concat([line, inner, end], axis=where)
    return getitem(whole, (*[slice(None)] * where, slice(0, count)))


@offered("meshgrid", raises=(TypeError, ValueError))
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = "meshgrid") -> Any:
    """Return a list of grids of coordinates, one for each vector of values along an axis."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is {indexing!r}; expected 'xy' or 'ij'")
    tensors = [convert(a) for a in args]
    if not tensors:
        return []
    check_dtypes("Mul", *tensors)
    lines = [ns.reshape(x, (-1,)) for x in tensors]
    return list(ns.meshgrid(*lines, indexing=indexing))
