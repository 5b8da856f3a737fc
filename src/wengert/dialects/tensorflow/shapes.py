"""The elements of arrays in other shapes and orders, and parts of them, by TensorFlow's names."""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.errors import invalid, type_error, unfit, value_error
from wengert.dialects.tensorflow.operators import index
from wengert.dialects.tensorflow.table import absent, offered
from wengert.dialects.tensorflow.tensors import Native, ns, wrap
from wengert.ops.indexing import getitem

absent(
    dict.fromkeys(
        ("space_to_batch", "batch_to_space", "nn.space_to_batch", "space_to_batch_nd"),
        "tf.reshape and tf.transpose, or dilations=... of a convolution",
    )
)

# -- the same elements in another shape ------------------------------------------------------------


@offered("reshape")
def reshape(tensor: K.Data, shape: K.Integers) -> Native:
    """Return the elements in another shape; one length may be -1, for what is left."""
    wanted = shape if isinstance(shape, list) else [shape]
    if any(isinstance(n, list) for n in wanted):
        raise invalid(f"shape is {shape!r}; expected one list of lengths")
    if any(n < -1 for n in wanted) or wanted.count(-1) > 1:
        raise invalid(f"shape is {wanted}; expected lengths from 0, and one -1 at most")
    if -1 in wanted and 0 in wanted:
        given, known = (math.prod(n for n in whole if n > 0) for whole in (tensor.shape, wanted))
        if tensor.size or given % known:
            raise invalid(f"shape is {wanted}, in which -1 could be any length")
        wanted[wanted.index(-1)] = given // known  # what the lengths that are not 0 leave
    return ns.reshape(tensor, tuple(wanted))


@offered("expand_dims", raises=(ValueError,))
def expand_dims(input: K.Data, axis: K.Whole) -> Native:
    """Return the tensor with a new axis of length 1."""
    return ns.expand_dims(input, axis=K.in_range(axis, input.ndim + 1, "expand_dims(): axis"))


@offered("squeeze")
def squeeze(input: K.Data, axis: Any = None) -> Native:
    """Return the tensor without axes of length 1: those in `axis`, or all of them."""
    if axis is None:
        return ns.squeeze(input)
    if eager.is_tensor(axis):
        raise type_error(f"axis is {axis!r}; expected an integer or a list of them")
    found = K.integers(axis, "axis")
    found = found if isinstance(found, list) else [found]
    return ns.squeeze(
        input, axis=tuple({K.in_range(a, input.ndim, "squeeze()") for a in found}) or None
    )


@offered("transpose", raises=(ValueError, TypeError))
def transpose(a: K.Data, perm: K.ListedAxes | None = None, conjugate: bool = False) -> Native:
    """Return the tensor with its axes in another order, reversed if none is given."""
    order = range(a.ndim)[::-1] if perm is None else perm
    if sorted(order) != list(range(a.ndim)):
        raise invalid(f"perm is {perm!r}; expected each of {a.ndim} axes once")
    moved = ns.permute_dims(a, tuple(order))
    return ns.conj(moved) if conjugate and a.dtype.kind == "c" else moved


@offered("concat", raises=(TypeError,))
def concat(values: Any, axis: K.Whole) -> Native:
    """Return tensors joined along an axis that they have."""
    tensors = eager.alike(
        values if isinstance(values, (list, tuple)) else [values], "ConcatV2", True
    )
    if not tensors:
        raise invalid("concat: values is empty; give at least one tensor")
    if len(tensors) == 1:
        return eager.alias(tensors[0])
    if not tensors[0].ndim:
        raise invalid("numbers without axes cannot be joined; write tf.stack(values)")
    return ns.concat(tensors, axis=K.in_range(axis, tensors[0].ndim, "concat()"))


@offered("stack", raises=(TypeError,))
def stack(values: Any, axis: int = 0) -> Any:
    """Return tensors of one shape joined along a new axis."""
    if eager.is_tensor(values) or isinstance(values, np.ndarray):
        whole = eager.tensor_of(values)
        if axis == 0:
            return whole
        values = list(whole)
    if not any(map(eager.is_like_tensor, values)) and axis == 0:
        with contextlib.suppress(ValueError, TypeError):  # one list of numbers, of one dtype
            return eager.data_of(list(values))
    tensors = eager.alike(list(values), "Pack", True)
    if not tensors:
        return wrap(np.zeros(0, np.float32))
    return ns.stack(tensors, axis=K.in_range(axis, tensors[0].ndim + 1, "stack()", value_error))


@offered("unstack", raises=(TypeError,))
def unstack(value: K.Data, num: int | None = None, axis: int = 0) -> list[Native]:
    """Return a list of the parts along an axis."""
    where = K.in_range(axis, value.ndim, "unstack()", value_error)
    if num is not None and num != value.shape[where]:
        raise invalid(f"unstack: num={num} of axis {axis} of shape {value.shape}")
    return list(ns.unstack(value, axis=where))


@offered("split", raises=(TypeError,))
def split(
    value: K.Data, num_or_size_splits: Any, axis: K.WholeAxis = 0, num: Any = None
) -> list[Native]:
    """Return a list of parts: as many as a number says, or of the lengths in a list."""
    count, total = num_or_size_splits, value.shape[axis]
    if isinstance(count, float) or (eager.is_tensor(count) and not np.ndim(count)):
        raise value_error("num_or_size_splits is a tensor of one number; write an integer")
    sizes = K.integers(count, "num_or_size_splits")
    if not isinstance(sizes, list):
        if sizes < 1 or total % sizes:
            raise unfit(f"equal parts of {total}", num_or_size_splits=sizes, value=value)
        sizes = [total // sizes] * sizes
    if num is not None and num != len(sizes):
        raise invalid(f"split: num={num}, but there are {len(sizes)} sizes")
    if sizes.count(-1) == 1:
        rest = total - sum(n for n in sizes if n != -1)
        sizes = [rest if n == -1 else n for n in sizes]
    if sum(sizes) != total or any(n < 0 for n in sizes):
        raise invalid(f"split sizes {sizes} do not sum to {total} along axis {axis}")
    ends = np.cumsum([0, *sizes]).tolist()
    before = (slice(None),) * axis
    return [getitem(value, (*before, slice(a, b))) for a, b in itertools.pairwise(ends)]


# -- repeated, padded and moved elements -----------------------------------------------------------


@offered("tile", raises=(TypeError,))
def tile(input: K.Data, multiples: K.Shape) -> Native:
    """Return the tensor repeated as a whole along each axis."""
    if len(multiples) != input.ndim:
        raise invalid(f"multiples is {multiples}; expected a number for each of {input.ndim} axes")
    return ns.tile(input, multiples) if multiples else input


@offered("repeat")
def repeat(input: K.Data, repeats: Any, axis: Any = None) -> Native:
    """Return the tensor with each element repeated, a number of times or its own number."""
    if isinstance(repeats, float):
        raise type_error(f"repeats is {repeats}; expected whole numbers")
    counts = np.asarray(K.integers(repeats, "repeats"))
    x, where = (ns.reshape(input, (-1,)), 0) if axis is None else (input, axis)
    where = K.in_range(where, x.ndim, "repeat()", value_error)
    if counts.ndim > 1 or counts.size not in (1, x.shape[where]):
        raise value_error(f"repeats is {repeats!r} for axis {where} of shape {x.shape}")
    if (counts < 0).any():
        raise invalid(f"repeats {repeats!r} has negative numbers")
    return ns.repeat(x, counts.item() if counts.size == 1 else counts, axis=where)


@offered("pad")
def pad(
    tensor: Any, paddings: K.Integers, mode: str = "CONSTANT", constant_values: Any = 0
) -> Native:
    """Return the tensor with more elements around it: a number, or its own mirrored."""
    kind, x = mode.upper(), eager.convert(tensor)
    if kind not in _FARTHEST:
        raise value_error(f"mode is {mode!r}; expected one of {', '.join(_FARTHEST)}")
    if np.shape(paddings) != (x.ndim, 2) and (x.ndim or np.size(paddings)):
        raise invalid(f"paddings is {paddings}; expected two widths for each of {x.ndim} axes")
    for n, ends in zip(x.shape, paddings, strict=True):
        if min(ends) < 0 or max(ends) > n + _FARTHEST[kind]:
            raise invalid(f"paddings {ends} of an axis of length {n}, in mode {kind}")
    if kind != "CONSTANT" or not x.ndim:
        return ns.pad(x, paddings, kind.lower()) if x.ndim else x
    x, value = eager.alike([tensor, constant_values], "PadV2")
    if value.ndim:
        raise invalid(f"constant_values has shape {value.shape}; expected one number")
    return ns.pad(x, paddings, constant_values=value.numpy().item())


#: How much longer than an axis its padding may be, by mode.
_FARTHEST = {"CONSTANT": math.inf, "REFLECT": -1, "SYMMETRIC": 0}


@offered("reverse")
def reverse(tensor: K.Data, axis: K.Vector) -> Native:
    """Return the tensor with elements along some axes in reverse order."""
    axes = {K.in_range(a, tensor.ndim, "reverse()") for a in axis}
    if len(axes) < len(axis):
        raise invalid(f"axis is {axis!r}, which has one twice")
    return ns.flip(tensor, axis=tuple(axes)) if axes else eager.alias(tensor)


@offered("roll")
def roll(input: K.Input, shift: K.Integers, axis: K.ListedAxes) -> Native:
    """Return the tensor with elements moved along axes, the last ones coming first again."""
    shifts = shift if isinstance(shift, list) else [shift]
    if len(shifts) != len(axis):
        raise invalid(f"shift is {shifts} for axis {axis}; expected as many")
    return ns.roll(input, tuple(shifts), axis=tuple(axis))


@offered("broadcast_to")
def broadcast_to(input: K.Data, shape: K.Shape) -> Native:
    """Return the tensor repeated along new axes and axes of length 1 until it has a shape."""
    return ns.broadcast_to(input, shape)


@offered("reverse_sequence", raises=(TypeError, ValueError))
def reverse_sequence(
    input: K.Input, seq_lengths: K.Array, seq_axis: K.WholeAxis | None = None,
    batch_axis: K.WholeAxis | None = None,
) -> Native:  # fmt: skip
    """Return the tensor with the first elements along an axis reversed, as many as lengths say."""
    x, counts, seq, batch = input, seq_lengths, seq_axis, batch_axis or 0
    if seq is None:
        raise ValueError("reverse_sequence: give seq_axis")
    n = x.shape[seq]
    fits = seq != batch and counts.shape == (x.shape[batch],)
    if not fits or not ((counts >= 0) & (counts <= n)).all():
        raise invalid(f"seq_lengths {counts} for shape {x.shape}, axes {seq} and {batch}")
    steps = np.arange(n)
    order = np.where(steps < counts[:, None], counts[:, None] - 1 - steps, steps)
    moved = ns.moveaxis(x, (batch, seq), (0, 1))
    taken = getitem(moved, (np.arange(len(counts))[:, None], order))
    return ns.moveaxis(taken, (0, 1), (batch, seq))


# -- blocks of space and depth ---------------------------------------------------------------------


def _moved_blocks(name: str, to_space: bool, doc: str) -> None:
    """Offer `depth_to_space` or `space_to_depth`."""

    @offered(f"nn.{name}", raises=(TypeError,), doc=doc)
    def move(input: K.Input, block_size: int, data_format: str = "NHWC") -> Native:
        if input.ndim != 4 or data_format != "NHWC":
            raise unfit("images 'NHWC'", input=input, data_format=data_format)
        (n, h, w, c), b = input.shape, block_size
        if b < 2 or (c % (b * b) if to_space else h % b or w % b):
            raise invalid(f"images of shape {input.shape} are not whole blocks of {b} by {b}")
        if to_space:
            parts, shape = (n, h, w, b, b, c // (b * b)), (n, h * b, w * b, c // (b * b))
        else:
            parts, shape = (n, h // b, b, w // b, b, c), (n, h // b, w // b, b * b * c)
        return ns.reshape(ns.permute_dims(ns.reshape(input, parts), (0, 1, 3, 2, 4, 5)), shape)


_moved_blocks("depth_to_space", True, "Return images with blocks made of their channels.")
_moved_blocks("space_to_depth", False, "Return images with channels made of their blocks.")


# -- slices ----------------------------------------------------------------------------------------


@offered("slice", raises=(TypeError,))
def slice_(input_: K.Data, begin: K.Vector, size: K.Vector) -> Native:
    """Return the part that starts at `begin` and has some size; -1 is for all that is left."""
    if not len(begin) == len(size) == input_.ndim:
        raise invalid(f"begin and size for shape {input_.shape}; expected a number for each axis")
    key = []
    for start, count, n in zip(begin, size, input_.shape, strict=True):
        stop = n if count == -1 else start + count
        if not 0 <= start <= n or not start <= stop <= n:
            raise invalid(f"begin {start} and size {count} reach outside of a length {n}")
        key.append(slice(start, stop))
    return getitem(input_, tuple(key))


@offered("strided_slice", raises=(TypeError,))
def strided_slice(
    input_: K.Input, begin: K.Vector, end: K.Vector, strides: K.Vector | None = None,
    begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0,
    shrink_axis_mask: int = 0, var: Any = None,
) -> Any:  # fmt: skip
    """Return a part by its beginnings, ends and steps; bits of masks give them other meanings."""
    steps = [1] * len(begin) if strides is None else strides
    if not len(begin) == len(end) == len(steps):
        raise invalid(f"begin {begin}, end {end} and strides {steps} differ in length")
    key: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(begin, end, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            ends = None if begin_mask & bit else start, None if end_mask & bit else stop
            key.append(slice(*ends, step))
    return index(input_, tuple(key))
