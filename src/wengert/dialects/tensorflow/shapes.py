"""The elements of arrays in other shapes and orders, and parts of them, by TensorFlow's names."""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.creation import (
    alike,
    in_range,
    integers,
    lengths,
    one_integer,
    places_of,
)
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.operators import index
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import (
    alias,
    convert,
    is_like_tensor,
    is_tensor,
    tensor_of,
)
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops.indexing import getitem

ns = Native._namespace


# -- the same elements in another shape ------------------------------------------------------------


@offered("reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the elements in another shape; one length may be -1, for what is left."""
    x = convert(tensor)
    wanted = integers(shape, "shape")
    wanted = wanted if isinstance(wanted, list) else [wanted]
    if any(isinstance(n, list) for n in wanted):
        raise invalid(f"shape is {shape!r}; expected one list of lengths")
    if any(n < -1 for n in wanted) or wanted.count(-1) > 1:
        raise invalid(f"shape is {wanted}; expected lengths from 0, and one -1 at most")
    if -1 in wanted and 0 in wanted:
        given, known = (math.prod(n for n in lengths_ if n > 0) for lengths_ in (x.shape, wanted))
        if not x.size and not given % known:  # what the lengths that are not 0 leave
            wanted[wanted.index(-1)] = given // known
            return ns.reshape(x, tuple(wanted))
        raise invalid(f"shape is {wanted}, in which -1 could be any length")
    return ns.reshape(x, tuple(wanted))


@offered("expand_dims", raises=(ValueError,))
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with a new axis of length 1."""
    x, where = convert(input), one_integer(axis, "axis")
    return ns.expand_dims(x, axis=in_range(where, x.ndim + 1))


@offered("squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the tensor without axes of length 1: those in `axis`, or all of them."""
    x = convert(input)
    if axis is not None:
        if is_tensor(axis):
            raise as_is(TypeError(f"axis is {axis!r}; expected an integer or a list of them"))
        found = integers(axis, "axis")
        axis = tuple(found) if isinstance(found, list) else (found,)
        axis = tuple({in_range(a, x.ndim) for a in axis})
    return ns.squeeze(x, axis=axis or None)


@offered("transpose", raises=(ValueError, TypeError))
def transpose(
    a: Any, perm: Any = None, conjugate: bool = False, name: str | None = "transpose"
) -> Any:
    """Return the tensor with its axes in another order, reversed if none is given."""
    x = convert(a)
    order = list(range(x.ndim))[::-1] if perm is None else integers(perm, "perm")
    if not isinstance(order, list) or len(order) != x.ndim:
        raise invalid(f"perm is {perm!r}; expected the {x.ndim} axes in an order")
    order = [in_range(a, x.ndim, "perm") for a in order]
    if len(set(order)) != x.ndim:
        raise invalid(f"{order} does not name each axis once")
    moved = ns.permute_dims(x, tuple(order))
    return ns.conj(moved) if conjugate and x.dtype.kind == "c" else moved


@offered("concat", raises=(TypeError,))
def concat(values: Any, axis: Any, name: str | None = "concat") -> Any:
    """Return tensors joined along an axis that they have."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise invalid("concat: values is empty; give at least one tensor")
    where = one_integer(axis, "axis")
    tensors = alike(values, "ConcatV2")
    if len(tensors) == 1:
        return alias(tensors[0])
    if not tensors[0].ndim:
        raise invalid("numbers without axes cannot be joined; write tf.stack(values)")
    where = in_range(where, tensors[0].ndim, "concat dim")
    return ns.concat(tensors, axis=where)


@plain("parallel_stack")
def parallel_stack(values: Any, name: str | None = "parallel_stack") -> Any:
    """Raise: what runs at once is for graphs."""
    raise RuntimeError(
        "tf.parallel_stack is for graphs, which are not here; write tf.stack(values)"
    )


@offered("stack", raises=(TypeError,))
def stack(values: Any, axis: int = 0, name: str | None = "stack") -> Any:
    """Return tensors of one shape joined along a new axis."""
    if is_tensor(values) or isinstance(values, np.ndarray):
        whole = tensor_of(values)
        if axis == 0:
            return whole
        values = list(whole)
    if not any(map(is_like_tensor, values)) and axis == 0:
        with contextlib.suppress(ValueError, TypeError):  # one list of numbers, of one dtype
            return convert(list(values))
    tensors = alike(list(values), "Pack")
    if not tensors:
        return wrap(np.zeros(0, np.float32))
    depth = tensors[0].ndim + 1
    if not -depth <= axis < depth:
        raise as_is(ValueError(f"axis is {axis}; expected one from {-depth} to {depth - 1}"))
    return ns.stack(tensors, axis=axis)


@offered("unstack", raises=(TypeError,))
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> Any:
    """Return a list of the parts along an axis."""
    x = convert(value)
    if not -x.ndim <= axis < x.ndim:
        raise as_is(ValueError(f"axis {axis} is not one of the {x.ndim} of shape {x.shape}"))
    if num is not None and num != x.shape[axis]:
        raise invalid(f"unstack: num={num} of axis {axis} of shape {x.shape}")
    return list(ns.unstack(x, axis=axis))


@offered("split", raises=(TypeError,))
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = "split"
) -> Any:
    """Return a list of parts: as many as a number says, or of the lengths in a list."""
    x = convert(value)
    if isinstance(num_or_size_splits, float):
        raise as_is(ValueError("num_or_size_splits is a tensor of one number; write an integer"))
    sizes = integers(num_or_size_splits, "num_or_size_splits")
    where = in_range(one_integer(axis, "axis"), x.ndim)
    total = x.shape[where]
    if not isinstance(sizes, list):
        if is_tensor(num_or_size_splits):
            raise as_is(
                ValueError("num_or_size_splits is a tensor of one number; write an integer")
            )
        if sizes < 1 or total % sizes:
            raise invalid(
                f"axis {where}, of length {total}, does not split into {sizes} equal parts"
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
    return [getitem(x, (*before, slice(a, b))) for a, b in itertools.pairwise(ends)]


# -- repeated, padded and moved elements -----------------------------------------------------------


@offered("tile", raises=(TypeError,))
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Return the tensor repeated as a whole along each axis."""
    x, counts = convert(input), lengths(multiples, "multiples")
    if len(counts) != x.ndim:
        raise invalid(f"multiples is {counts}; expected one number for each of {x.ndim} axes")
    return ns.tile(x, counts) if counts else x


@offered("repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the tensor with each element repeated, a number of times or its own number."""
    if isinstance(repeats, float):
        raise as_is(TypeError(f"repeats is {repeats}; expected whole numbers"))
    x, counts = convert(input), integers(repeats, "repeats")
    if axis is None:
        x, where = ns.reshape(x, (-1,)), 0
    elif not -x.ndim <= axis < x.ndim:
        raise as_is(ValueError(f"axis {axis} is not one of the {x.ndim} of shape {x.shape}"))
    else:
        where = axis % x.ndim
    flat = counts if isinstance(counts, list) else [counts]
    if any(isinstance(n, list) for n in flat):
        raise as_is(ValueError(f"repeats is {repeats!r}; expected a number or a list of them"))
    if len(flat) not in (1, x.shape[where]):
        raise as_is(ValueError(f"repeats {flat} for axis {where} of shape {x.shape}"))
    if any(n < 0 for n in flat):
        raise invalid(f"repeats {flat} has negative numbers")
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
        raise as_is(ValueError(f"mode is {mode!r}; expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'"))
    x, widths = convert(tensor), integers(paddings, "paddings")
    if np.shape(widths) != (x.ndim, 2) and not (x.ndim == 0 and np.size(widths) == 0):
        raise invalid(f"paddings is {widths}; expected two widths for each of {x.ndim} axes")
    most = {"REFLECT": -1, "SYMMETRIC": 0}.get(kind)
    for n, ends in zip(x.shape, widths, strict=True):
        if min(ends) < 0 or (most is not None and max(ends) > n + most):
            raise invalid(f"paddings {ends} of an axis of length {n}, in mode {kind}")
    if not x.ndim:
        return x
    if kind != "CONSTANT":
        return ns.pad(x, widths, kind.lower())
    x, value = alike([tensor, constant_values], "PadV2")
    if value.ndim:
        raise invalid(f"constant_values has shape {value.shape}; expected one number")
    return ns.pad(x, widths, constant_values=value.numpy().item())


@offered("reverse")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with elements along some axes in reverse order."""
    x, where = convert(tensor), integers(axis, "axis")
    if not isinstance(where, list):
        raise invalid(f"axis is {axis!r}; expected a list of axes")
    axes = [in_range(a, x.ndim) for a in where]
    if len(set(axes)) < len(axes):
        raise invalid(f"axis is {axis!r}, which has one twice")
    return ns.flip(x, axis=tuple(axes)) if axes else alias(x)


@offered("roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Return the tensor with elements moved along axes, the last ones coming first again."""
    x = convert(input)
    shifts, where = integers(shift, "shift"), integers(axis, "axis")
    shifts = shifts if isinstance(shifts, list) else [shifts]
    where = where if isinstance(where, list) else [where]
    if not x.ndim:
        raise invalid("one number cannot be rolled; expected an axis")
    if len(shifts) != len(where):
        raise invalid(f"shift is {shifts} for axis {where}; expected as many")
    return ns.roll(x, tuple(shifts), axis=tuple(in_range(a, x.ndim) for a in where))


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
    seq, batch = in_range(seq_axis, x.ndim), in_range(batch_axis, x.ndim)
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


@offered("batch_to_space")
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
        raise invalid(f"shape {x.shape}; expected images: batch, height, width, channels")
    if data_format != "NHWC":
        raise invalid(f"data_format is {data_format!r}; expected 'NHWC'")


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
        raise invalid(f"{c} channels are not whole blocks of {b * b}")
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
        raise invalid(f"images of {h} by {w} are not whole blocks of {b} by {b}")
    parts = ns.reshape(x, (n, h // b, b, w // b, b, c))
    return ns.reshape(ns.permute_dims(parts, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))


# -- slices ----------------------------------------------------------------------------------------


@offered("slice", raises=(TypeError,))
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return the part that starts at `begin` and has some size; -1 is for all that is left."""
    x = convert(input_)
    starts, counts = integers(begin, "begin"), integers(size, "size")
    if np.shape(starts) != (x.ndim,) or np.shape(counts) != (x.ndim,):
        raise invalid(f"begin and size for shape {x.shape}; expected a number for each axis")
    key = []
    for start, count, n in zip(starts, counts, x.shape, strict=True):
        stop = n if count == -1 else start + count
        if not 0 <= start <= n or not start <= stop <= n:
            raise invalid(f"begin {start} and size {count} reach outside of a length {n}")
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
    """Return a part by its beginnings, ends and steps; bits of masks give them other meanings."""
    starts, stops = places_of(begin, "begin"), places_of(end, "end")
    steps = [1] * len(starts) if strides is None else places_of(strides, "strides")
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
