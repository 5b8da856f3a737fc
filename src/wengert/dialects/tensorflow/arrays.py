"""Making arrays and changing their shapes, by TensorFlow's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.operators import index
from wengert.dialects.tensorflow.shapes import TensorShape
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import (
    Tensor,
    check_dtypes,
    convert,
    is_tensor,
    outward,
    static,
)
from wengert.engine.node import ALIAS
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops.indexing import getitem

ns = Native._namespace


# -- what arguments become --------------------------------------------------------------------------


def integers(value: Any, what: str) -> Any:
    """Return a shape, or positions, as nested lists of Python's integers."""
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
        raise invalid(f"{what} must be 1-D, got {value!r}")
    if any(n < 0 for n in found):
        raise invalid(f"{what} {found} has a negative length")
    return tuple(found)


def alike(values: Sequence[Any], name: str) -> list[Native]:
    """Return tensors of one dtype, which the first tensor decides, or the first value."""
    first = next((v for v in values if hasattr(type(v), "__wengert_tensor__")), None)
    if first is None and values:
        first = values[0]
    dtype = None if first is None else convert(first).dtype
    found = [
        convert(v) if hasattr(type(v), "__wengert_tensor__") else convert(v, None, dtype)
        for v in values
    ]
    if found:
        check_dtypes(name, *found)
    return found


def numpy_dtype(dtype: Any) -> np.dtype:
    """Return NumPy's dtype of TensorFlow's, or of what stands for one."""
    return as_dtype(dtype)._numpy


def _in_range(axis: int, rank: int, what: str = "axis") -> int:
    if not -rank <= axis < rank:
        raise invalid(f"{what} {axis} is not in the range [-{rank}, {rank})")
    return axis % rank


# -- dtypes ----------------------------------------------------------------------------------------


@offered("cast", "dtypes.cast", raises=(TypeError, ValueError))
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return x in another dtype; of numbers with fractions, whole numbers are cut off."""
    wanted = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(outward(_cast(convert(x.values), wanted)), x.indices, x.dense_shape)
    if type(x) is Tensor and x.dtype == wanted:
        return x
    return _cast(convert(x), wanted)


def _cast(x: Native, dtype: dtypes.DType) -> Native:
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = ns.not_equal(x, 0) if dtype.is_bool else ns.real(x)
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
            raise invalid(f"Cannot bitcast from {raw.dtype.name} to {wanted.name}: shape {shape}")
        shape = shape[:-1]
    return wrap(np.frombuffer(raw.tobytes(), wanted).reshape(shape).copy())


# -- what a shape is -------------------------------------------------------------------------------


def _shape_of(input: Any) -> tuple[int, ...]:
    if isinstance(input, IndexedSlices) and input.dense_shape is not None:
        return tuple(int(n) for n in input.dense_shape.numpy())
    return tuple(convert(input).shape)


@offered("shape", raises=(ValueError, TypeError))
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the length of each axis, as a tensor."""
    return wrap(np.asarray(_shape_of(input), numpy_dtype(out_type or dtypes.int32)))


@offered("shape_n")
def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the shape of each tensor in a list."""
    return [wrap(np.asarray(_shape_of(x), numpy_dtype(out_type))) for x in input]


@offered("size", raises=(ValueError, TypeError))
def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the number of elements, as a tensor."""
    return wrap(np.asarray(math.prod(_shape_of(input)), numpy_dtype(out_type or dtypes.int32)))


@offered("rank", raises=(ValueError, TypeError))
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
            raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}")
    return TensorShape(found)


@offered("broadcast_dynamic_shape", raises=(ValueError, TypeError))
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """Return the shape that arrays of two shapes broadcast to, as a tensor."""
    x, y = alike([shape_x, shape_y], "BroadcastArgs")
    try:
        found = np.broadcast_shapes(tuple(x.numpy().tolist()), tuple(y.numpy().tolist()))
    except ValueError as error:
        raise invalid(f"Incompatible shapes: {x.numpy()} vs. {y.numpy()}") from error
    return wrap(np.asarray(found, x.dtype))


@offered("ensure_shape", raises=(ValueError, TypeError))
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return x, which must have a shape; None stands for any length."""
    tensor, wanted = convert(x), TensorShape(shape)
    if not TensorShape(tensor.shape).is_compatible_with(wanted):
        raise invalid(f"Shape of tensor x {tensor.shape} is not compatible with expected {wanted}.")
    return _alias(tensor)


def _alias(x: Native) -> Native:
    found: Native = apply(ALIAS, (x,), {})
    return found


@offered("identity", "guarantee_const", raises=(ValueError, TypeError))
def identity(input: Any, name: str | None = None) -> Any:
    """Return the same values as another tensor."""
    if isinstance(input, IndexedSlices):
        return input
    return _alias(convert(input))


@offered("identity_n", raises=(ValueError, TypeError))
def identity_n(input: Any, name: str | None = None) -> Any:
    """Return the same values as other tensors, each of a list."""
    return [_alias(convert(x)) for x in input]


# -- the same elements in another shape ------------------------------------------------------------


@offered("reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the elements in another shape; one length may be -1, for what is left."""
    x = convert(tensor)
    wanted = integers(shape, "shape")
    if not isinstance(wanted, list) or any(isinstance(n, list) for n in wanted):
        raise invalid(f"sizes input must be 1-D, not {shape!r}")
    if any(n < -1 for n in wanted) or wanted.count(-1) > 1:
        raise invalid(f"Size must be non-negative, with at most one -1, not {wanted}")
    if -1 in wanted and 0 in wanted:
        raise invalid(f"reshape cannot infer the missing input size of {wanted}")
    return ns.reshape(x, tuple(wanted))


@offered("expand_dims", raises=(ValueError,))
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with a new axis of length 1."""
    x, where = convert(input), one_integer(axis, "axis")
    return ns.expand_dims(x, axis=_in_range(where, x.ndim + 1))


@offered("squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the tensor without axes of length 1: those in `axis`, or all of them."""
    x = convert(input)
    if axis is not None:
        found = integers(axis, "axis")
        axis = tuple(found) if isinstance(found, list) else (found,)
        axis = tuple({_in_range(a, x.ndim) for a in axis})
    return ns.squeeze(x, axis=axis or None)


@offered("transpose", raises=(ValueError, TypeError))
def transpose(
    a: Any, perm: Any = None, conjugate: bool = False, name: str | None = "transpose"
) -> Any:
    """Return the tensor with its axes in another order, reversed if none is given."""
    x = convert(a)
    order = list(range(x.ndim))[::-1] if perm is None else integers(perm, "perm")
    if not isinstance(order, list) or len(order) != x.ndim:
        raise invalid(f"transpose expects a vector of size {x.ndim}, but perm is {perm!r}")
    order = [_in_range(a, x.ndim, "perm") for a in order]
    if len(set(order)) != x.ndim:
        raise invalid(f"{order} is not a permutation of the axes")
    moved = ns.permute_dims(x, tuple(order))
    return ns.conj(moved) if conjugate and x.dtype.kind == "c" else moved


@offered("concat", raises=(TypeError,))
def concat(values: Any, axis: Any, name: str | None = "concat") -> Any:
    """Return tensors joined along an axis that they have."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise as_is(ValueError("concat: values is empty; give at least one tensor"))
    where = one_integer(axis, "axis")
    tensors = alike(values, "ConcatV2")
    if len(tensors) == 1:
        return _alias(tensors[0])
    if not tensors[0].ndim:
        raise invalid("ConcatOp : Expected concatenating dimensions of tensors, got scalars")
    where = _in_range(where, tensors[0].ndim, "concat dim")
    return ns.concat(tensors, axis=where)


@offered("stack", "parallel_stack", raises=(TypeError,))
def stack(values: Any, axis: int = 0, name: str | None = "stack") -> Any:
    """Return tensors of one shape joined along a new axis."""
    if is_tensor(values) or isinstance(values, np.ndarray):
        values = list(outward(convert(values)))
    tensors = alike(list(values), "Pack")
    if not tensors:
        raise as_is(ValueError("stack: values is empty; give at least one tensor"))
    depth = tensors[0].ndim + 1
    if not -depth <= axis < depth:
        raise as_is(ValueError(f"Argument `axis` = {axis} not in range [{-depth}, {depth})"))
    return ns.stack(tensors, axis=axis)


@offered("unstack", raises=(TypeError,))
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> Any:
    """Return a list of the parts along an axis."""
    x = convert(value)
    if not -x.ndim <= axis < x.ndim:
        raise as_is(ValueError(f"Argument `axis` = {axis} not in range [{-x.ndim}, {x.ndim})"))
    if num is not None and num != x.shape[axis]:
        raise invalid(f"unstack: num={num} of axis {axis} of shape {x.shape}")
    return list(ns.unstack(x, axis=axis))


@offered("split", raises=(TypeError,))
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = "split"
) -> Any:
    """Return a list of parts: as many as a number says, or of the lengths in a list."""
    x = convert(value)
    sizes = integers(num_or_size_splits, "num_or_size_splits")
    where = _in_range(one_integer(axis, "axis"), x.ndim)
    total = x.shape[where]
    if not isinstance(sizes, list):
        if sizes < 1 or total % sizes:
            raise invalid(
                f"Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {where} (size = {total}) and num_split {sizes}"
            )
        sizes = [total // sizes] * sizes
    if num is not None and num != len(sizes):
        raise invalid(f"split: num={num}, but there are {len(sizes)} sizes")
    if sizes.count(-1) == 1:
        rest = total - sum(n for n in sizes if n != -1)
        sizes = [rest if n == -1 else n for n in sizes]
    if sum(sizes) != total or any(n < 0 for n in sizes):
        raise invalid(f"split sizes {sizes} do not sum to {total} along axis {where}")
    ends = np.cumsum([0, *sizes]).tolist()
    before = (slice(None),) * where
    return [getitem(x, (*before, slice(a, b))) for a, b in zip(ends[:-1], ends[1:], strict=True)]


# -- repeated, padded and moved elements -----------------------------------------------------------


@offered("tile", raises=(TypeError,))
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Return the tensor repeated as a whole along each axis."""
    x, counts = convert(input), lengths(multiples, "multiples")
    if len(counts) != x.ndim:
        raise invalid(f"Expected multiples argument to be a vector of length {x.ndim}: {counts}")
    return ns.tile(x, counts) if counts else x


@offered("repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the tensor with each element repeated, a number of times or its own number."""
    x, counts = convert(input), integers(repeats, "repeats")
    if axis is None:
        x, where = ns.reshape(x, (-1,)), 0
    elif not -x.ndim <= axis < x.ndim:
        raise as_is(ValueError(f"`axis` must be in the range [{-x.ndim}, {x.ndim}), got {axis}"))
    else:
        where = axis % x.ndim
    flat = counts if isinstance(counts, list) else [counts]
    if any(isinstance(n, list) for n in flat):
        raise as_is(ValueError(f"repeats must be a scalar or a vector, got {repeats!r}"))
    if any(n < 0 for n in flat) or len(flat) not in (1, x.shape[where]):
        raise invalid(f"repeats {flat} for axis {where} of shape {x.shape}")
    return ns.repeat(x, flat[0] if len(flat) == 1 else np.asarray(flat), axis=where)


@offered("pad")
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """Return the tensor with more elements around it: a number, or its own mirrored."""
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise as_is(
            ValueError(
                f"Value of argument `mode` expected to be one of 'CONSTANT', 'REFLECT', or "
                f"'SYMMETRIC'. Received `mode` = {mode}"
            )
        )
    x, widths = convert(tensor), integers(paddings, "paddings")
    if np.shape(widths) != (x.ndim, 2) and not (x.ndim == 0 and np.size(widths) == 0):
        raise invalid(f"paddings must be a matrix with {x.ndim} rows and 2 columns: {widths}")
    most = {"REFLECT": -1, "SYMMETRIC": 0}.get(kind)
    for n, ends in zip(x.shape, widths, strict=True):
        if min(ends) < 0 or (most is not None and max(ends) > n + most):
            raise invalid(f"paddings {ends} of an axis of length {n}, in mode {kind}")
    if not x.ndim:
        return x
    if kind != "CONSTANT":
        return ns.pad(x, widths, kind.lower())
    value = convert(constant_values, None if is_tensor(constant_values) else of_numpy(x.dtype))
    check_dtypes("PadV2", x, value)
    return ns.pad(x, widths, constant_values=value.numpy().item())


@offered("reverse")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with elements along some axes in reverse order."""
    x, where = convert(tensor), integers(axis, "axis")
    if not isinstance(where, list):
        raise invalid(f"'dims' must be 1-dimensional, not {axis!r}")
    axes = [_in_range(a, x.ndim) for a in where]
    if len(set(axes)) < len(axes):
        raise invalid(f"axis {axis!r} specified more than once")
    return ns.flip(x, axis=tuple(axes)) if axes else _alias(x)


@offered("roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with elements moved along axes, the last ones coming first again."""
    x = convert(input)
    shifts, where = integers(shift, "shift"), integers(axis, "axis")
    shifts = shifts if isinstance(shifts, list) else [shifts]
    where = where if isinstance(where, list) else [where]
    if not x.ndim:
        raise invalid("input must be 1-D or higher")
    if len(shifts) != len(where):
        raise invalid(f"shift and axis must have the same size: {shifts} and {where}")
    return ns.roll(x, tuple(shifts), axis=tuple(_in_range(a, x.ndim) for a in where))


@offered("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Return the tensor repeated along new axes and axes of length 1 until it has a shape."""
    return ns.broadcast_to(convert(input), lengths(shape))


@offered("reverse_sequence", raises=(TypeError, ValueError))
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """Return the tensor with the first elements along an axis reversed, as many as lengths say."""
    x, counts = convert(input), convert(seq_lengths).numpy()
    if seq_axis is None:
        raise ValueError("reverse_sequence: give seq_axis")
    batch_axis = 0 if batch_axis is None else batch_axis
    seq, batch = _in_range(seq_axis, x.ndim), _in_range(batch_axis, x.ndim)
    n = x.shape[seq]
    if (
        seq == batch
        or counts.shape != (x.shape[batch],)
        or (counts > n).any()
        or (counts < 0).any()
    ):
        raise invalid(f"seq_lengths {counts} for shape {x.shape}, axes {seq} and {batch}")
    steps = np.arange(n)
    order = np.where(steps < counts[:, None], counts[:, None] - 1 - steps, steps)
    moved = ns.moveaxis(x, (batch, seq), (0, 1))
    taken = getitem(moved, (np.arange(len(counts))[:, None], order))
    return ns.moveaxis(taken, (0, 1), (batch, seq))


# -- blocks of space, depth and batch --------------------------------------------------------------


@offered("space_to_batch", "space_to_batch_nd", "nn.space_to_batch")
def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Return blocks of the axes after the first, moved into the first."""
    x, blocks = convert(input), _blocks(block_shape, input)
    widths = np.asarray(integers(paddings, "paddings"))
    if widths.shape != (len(blocks), 2) or (widths < 0).any() or x.ndim <= len(blocks):
        raise invalid(f"paddings {widths.tolist()} for blocks {blocks} of shape {x.shape}")
    rest = x.ndim - 1 - len(blocks)
    x = ns.pad(x, [(0, 0), *map(tuple, widths.tolist()), *[(0, 0)] * rest])
    inner = x.shape[1 : 1 + len(blocks)]
    if any(n % b for n, b in zip(inner, blocks, strict=True)):
        raise invalid(f"padded lengths {inner} are not divisible by blocks {blocks}")
    parts = [n for n, b in zip(inner, blocks, strict=True) for n in (n // b, b)]
    x_split = ns.reshape(x, (x.shape[0], *parts, *x.shape[1 + len(blocks) :]))
    count = len(blocks)
    order = [
        *range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, x_split.ndim)
    ]  # fmt: skip
    outer = [n // b for n, b in zip(inner, blocks, strict=True)]
    shape = (x.shape[0] * math.prod(blocks), *outer, *x.shape[1 + count :])
    return ns.reshape(ns.permute_dims(x_split, tuple(order)), shape)


@offered("batch_to_space", "nn.batch_to_space")
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Return what `space_to_batch` was given: parts of the first axis, moved into blocks."""
    x, blocks = convert(input), _blocks(block_shape, input)
    ends, count = np.asarray(integers(crops, "crops")), len(blocks)
    if ends.shape != (count, 2) or (ends < 0).any() or x.ndim <= count:
        raise invalid(f"crops {ends.tolist()} for blocks {blocks} of shape {x.shape}")
    if x.shape[0] % math.prod(blocks):
        raise invalid(f"batch {x.shape[0]} is not divisible by the product of {blocks}")
    batch, inner = x.shape[0] // math.prod(blocks), x.shape[1 : 1 + count]
    parted = ns.reshape(x, (*blocks, batch, *x.shape[1:]))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    moved = ns.permute_dims(parted, (*order, *range(2 * count + 1, parted.ndim)))
    whole = [n * b for n, b in zip(inner, blocks, strict=True)]
    made = ns.reshape(moved, (batch, *whole, *x.shape[1 + count :]))
    if any(a + b > n for (a, b), n in zip(ends.tolist(), whole, strict=True)):
        raise invalid(f"crops {ends.tolist()} are larger than {whole}")
    cut = [slice(a, n - b) for (a, b), n in zip(ends.tolist(), whole, strict=True)]
    return getitem(made, (slice(None), *cut))


def _blocks(block_shape: Any, input: Any) -> list[int]:
    found = integers(block_shape, "block_shape")
    blocks = found if isinstance(found, list) else [found, found]
    if any(b < 1 for b in blocks):
        raise invalid(f"block_shape {blocks}; expected lengths of at least 1")
    return blocks


def _channels_last(x: Native, data_format: str) -> None:
    if x.ndim != 4:
        raise invalid(f"Input rank should be 4 instead of {x.ndim}")
    if data_format != "NHWC":
        raise invalid(f"Only NHWC data_format supported on CPU. Got {data_format}")


@offered("nn.depth_to_space", raises=(TypeError,))
def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Return images with blocks made of their channels."""
    x = convert(input)
    _channels_last(x, data_format)
    n, h, w, c = x.shape
    b = block_size
    if b < 2 or c % (b * b):
        raise invalid(f"Input depth dimension {c} should be divisible by: {b * b}")
    parts = ns.reshape(x, (n, h, w, b, b, c // (b * b)))
    return ns.reshape(ns.permute_dims(parts, (0, 1, 3, 2, 4, 5)), (n, h * b, w * b, c // (b * b)))


@offered("nn.space_to_depth", raises=(TypeError,))
def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Return images with channels made of their blocks."""
    x = convert(input)
    _channels_last(x, data_format)
    n, h, w, c = x.shape
    b = block_size
    if b < 2 or h % b or w % b:
        raise invalid(f"Image width {w} and height {h} should be divisible by block_size: {b}")
    parts = ns.reshape(x, (n, h // b, b, w // b, b, c))
    return ns.reshape(ns.permute_dims(parts, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))


# -- new arrays ------------------------------------------------------------------------------------


def _new_shape(shape: Any) -> tuple[int, ...]:
    """Return the shape of a new array, which may be one integer."""
    found = static(shape)
    found = found if isinstance(found, list) else [found]
    if any(type(n) is not int for n in found):
        raise as_is(TypeError(f"shape is {shape!r}; expected integers"))
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
    if x.ndim:
        raise invalid(f"value must be a scalar, got shape {x.shape}")
    return ns.broadcast_to(x, lengths(dims, "dims"))


@offered("eye", "linalg.eye", raises=(TypeError,))
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Return a matrix with ones on its diagonal, or a batch of them."""
    rows = one_integer(num_rows, "num_rows")
    columns = rows if num_columns is None else one_integer(num_columns, "num_columns")
    if rows < 0 or columns < 0:
        raise as_is(
            ValueError(f"eye: {rows} rows and {columns} columns; expected no negative numbers")
        )
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
    if any(e.ndim for e in ends):
        raise invalid("start, limit and delta of range must be scalars")
    if wanted is None:
        names = [e.dtype.name for e in ends]
        wanted = as_dtype(
            max(names, key=_RANGE_ORDER.index) if set(names) <= set(_RANGE_ORDER) else names[0]
        )
    first, last, step = (e.numpy().astype(wanted._numpy)[()] for e in ends)
    if step == 0:
        raise invalid("Requires delta != 0: 0")
    if (last - first) * np.sign(step) < 0:
        raise invalid(f"Requires start <= limit when delta > 0: {first}/{last}")
    return wrap(_steps(first, last, step, wanted._numpy))


def _steps(first: Any, last: Any, step: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return np.arange(int(first), int(last), int(step)).astype(dtype)
    count = int(math.ceil(abs((float(last) - float(first)) / float(step))))
    return (first + np.arange(count).astype(dtype) * step).astype(dtype)


@offered("linspace", "lin_space", raises=(TypeError, ValueError))
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Return `num` numbers from `start` to `stop`, evenly apart; whole numbers become float64."""
    first = convert(start)
    last = convert(stop, of_numpy(first.dtype))
    count = one_integer(num, "num")
    if count < 1:
        raise invalid(f"Requires num > 0: {count}")
    if first.dtype.kind in "iu":
        first, last = ns.astype(first, np.float64), ns.astype(last, np.float64)
    first, last = ns.broadcast_arrays(first, last)
    where = _in_range(axis, first.ndim + 1)
    line = ns.expand_dims(first, axis=where)
    if count == 1:
        return line
    end = ns.expand_dims(last, axis=where)
    shape = [1] * line.ndim
    shape[where] = count - 2
    steps = wrap(np.arange(1, count - 1).astype(first.dtype).reshape(shape))
    inner = line + (end - line) / (count - 1) * steps
    return ns.concat([line, inner, end], axis=where)


@offered("meshgrid", raises=(TypeError, ValueError))
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = "meshgrid") -> Any:
    """Return a list of grids of coordinates, one for each vector of values along an axis."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` must be either 'xy' or 'ij', got '{indexing}'")
    tensors = [convert(a) for a in args]
    if not tensors:
        return []
    check_dtypes("Mul", *tensors)
    lines = [ns.reshape(x, (-1,)) for x in tensors]
    return list(ns.meshgrid(*lines, indexing=indexing))


# -- slices ----------------------------------------------------------------------------------------


@offered("slice", raises=(TypeError,))
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return the part that starts at `begin` and has some size; -1 is for all that is left."""
    x = convert(input_)
    starts, counts = integers(begin, "begin"), integers(size, "size")
    if np.shape(starts) != (x.ndim,) or np.shape(counts) != (x.ndim,):
        raise invalid(f"Expected begin and size arguments to be 1-D tensors of size {x.ndim}")
    key = []
    for start, count, n in zip(starts, counts, x.shape, strict=True):
        stop = n if count == -1 else start + count
        if not 0 <= start <= n or not start <= stop <= n:
            raise invalid(f"Expected begin {start} and size {count} inside of a length {n}")
        key.append(slice(start, stop))
    return getitem(x, tuple(key))


@offered("strided_slice", raises=(TypeError,))
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """Return a part by its beginnings, ends and steps; bits of the masks give them other meanings."""
    starts, stops = lengths_or_places(begin, "begin"), lengths_or_places(end, "end")
    steps = [1] * len(starts) if strides is None else lengths_or_places(strides, "strides")
    if not len(starts) == len(stops) == len(steps):
        raise invalid(f"begin {starts}, end {stops} and strides {steps} differ in length")
    key: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            key.append(
                slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step)
            )
    return index(convert(input_), tuple(key))


def lengths_or_places(value: Any, what: str) -> list[int]:
    """Return a list of integers, negative ones among them."""
    found = integers(value, what)
    if not isinstance(found, list) or any(isinstance(n, list) for n in found):
        raise invalid(f"{what} must be 1-D, got {value!r}")
    return found
