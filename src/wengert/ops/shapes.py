"""Operations that move, repeat or drop elements and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.cotangents import Block, Deferred, restrict, unbroadcast, unbroadcast_block
from wengert.engine.op import Op
from wengert.engine.record import apply, lift
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import batching
from wengert.ops.families import axes as normalised
from wengert.ops.families import documented, linear, one_axis, position_map, sample
from wengert.regions import Region, slices, whole


def tensor(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor, whose shape decides how to go on."""
    if type(x) is Tensor:
        return x
    x = lift(x, name)
    return x if type(x) is Tensor else wrap(backends.NUMPY.asarray(x))


# -- reshape and friends --------------------------------------------------------------------


def _reshape_block(xp: Any, g: Block, x_shape: tuple[int, ...]) -> Block | None:
    """Return the block of x that a block of its reshaped elements comes from."""
    if 0 in (*x_shape, *map(len, g.region)):
        return None
    region, exact = _reshaped(g.region, g.shape, x_shape)
    if region is None:
        return _reshape_block(xp, g.ranged(xp), x_shape)
    lengths = tuple(map(len, region))
    if exact:
        return Block(x_shape, region, xp.reshape(g.values, lengths))
    if 2 * math.prod(lengths) > math.prod(x_shape):
        return None
    whole_g = xp.reshape(g.todense(xp), x_shape)
    return Block(x_shape, region, whole_g[slices(region)])


def _reshaped(region: Region, shape: Any, new: Any) -> tuple[Region | None, bool]:
    """Return the smallest region of the reshaped array with the elements of a region.

    Axes are matched in groups of equal size. Within a group the elements are one run, whose
    smallest covering rectangle in the other axes is taken. Also returns whether the elements
    are the same, in the same order. A list of positions must stay on an axis of its own, or
    there is no region.
    """
    found: list[Any] = []
    exact = True
    for mine, theirs in _groups(new, shape):
        outer = [region[a] for a in theirs]
        lengths, others = [new[a] for a in mine], [shape[a] for a in theirs]
        if lengths == others:
            found.extend(outer)
            continue
        if [n for n in lengths if n != 1] == [n for n in others if n != 1]:
            kept = iter([r for r, n in zip(outer, others, strict=True) if n != 1])
            found.extend(range(1) if n == 1 else next(kept) for n in lengths)
            continue
        if any(type(r) is not range for r in outer):
            return None, False
        first, last = _run(outer, others)
        cover = _cover(first, last, lengths)
        in_order = all(r.step == 1 or len(r) == 1 for r in outer)
        exact = exact and in_order and math.prod(map(len, cover)) == math.prod(map(len, outer))
        found.extend(cover)
    return tuple(found), exact


def _reshape_reached(region: Region, shape: Any, x_shape: Any) -> Region | None:
    if 0 in (*x_shape, *map(len, region)):
        return None
    return _reshaped(region, x_shape, shape)[0]


def _groups(one: Sequence[int], two: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return the finest matching of consecutive axes whose lengths have equal products."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(one) or j < len(two):
        mine: list[int] = []
        theirs: list[int] = []
        p = q = 1
        while (not mine and not theirs) or p != q:
            if (p <= q and i < len(one)) or j == len(two):
                mine.append(i)
                p, i = p * one[i], i + 1
            else:
                theirs.append(j)
                q, j = q * two[j], j + 1
        while i < len(one) and one[i] == 1:
            mine.append(i)
            i += 1
        while j < len(two) and two[j] == 1:
            theirs.append(j)
            j += 1
        groups.append((mine, theirs))
    return groups


def _run(region: Sequence[range], shape: Sequence[int]) -> tuple[int, int]:
    """Return the first and the last flat position of a region."""
    first = last = 0
    for r, n in zip(region, shape, strict=True):
        first = first * n + min(r[0], r[-1])
        last = last * n + max(r[0], r[-1])
    return first, last


def _cover(first: int, last: int, shape: Sequence[int]) -> Region:
    """Return the smallest region that holds every flat position from first to last."""
    region: list[range] = []
    size = math.prod(shape)
    for n in shape:
        size //= n
        low, high = first // size, last // size
        region.append(range(low, high + 1))
        if low != high:
            region.extend(range(k) for k in shape[len(region) :])
            break
        first, last = first - low * size, last - low * size
    return tuple(region)


reshape_to = position_map(
    "reshape",
    lambda xp, g, x_shape: xp.reshape(g, x_shape),
    params=("shape",),
    compute=lambda xp, x, shape: xp.reshape(x, shape),
    block=_reshape_block,
    reached=_reshape_reached,
    takes_rows=True,
    batch=batching.with_params(lambda count, p: {"shape": (count, *p["shape"])}),
    samples=[
        sample((2, 6), shape=(3, 4)),
        sample((2, 3), shape=(6,)),
        sample((), shape=(1, 1)),
        sample((0, 3), shape=(3, 0)),
    ],
)
reshape_to.op.numpy_function = lambda x, *, shape: x.reshape(shape)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """Return x in another shape; -1 is inferred. `wg.reshape([1, 2], (2, -1))` is `[[1], [2]]`."""
    if type(x) is Tensor and type(x._raw) is np.ndarray and type(shape) is tuple:
        try:  # NumPy finds what is wrong, but takes any negative number for -1
            if not shape or min(shape) >= -1:
                return reshape_to(x, shape=shape)
        except (TypeError, ValueError):
            pass
    x = tensor(x, "reshape")
    if type(shape) is tuple and min(shape, default=0) >= 0:
        size = math.prod(shape)
        if type(size) is int and size == math.prod(x._raw.shape):  # the usual case
            return reshape_to(x, shape=shape)
    shape = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
    if shape and min(shape) < 0:
        rest = -math.prod(shape)
        if min(shape) < -1 or shape.count(-1) > 1 or not (rest or x.size):
            raise ShapeError(
                f"reshape: shape {x.shape} does not say what {shape} means; give lengths of 0 or "
                "more, and -1 once at most"
            )
        fill = x.size // rest if rest else 0
        shape = tuple(fill if n == -1 else n for n in shape)
    if math.prod(shape) != x.size:
        raise ShapeError(f"reshape: {x.size} elements of shape {x.shape} do not fill {shape}")
    return reshape_to(x, shape=shape)


def renewed(x: Tensor) -> Tensor:
    """Return x as a tensor of its own, from a function that finds nothing to do.

    Were the result x itself, a gradient with respect to it would be the gradient of the argument.
    """
    return reshape_to(x, shape=x.shape)


@lru_cache(256)
def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(a) for a in range(len(order)))


def _permute_block(xp: Any, g: Block, axes: tuple[int, ...]) -> Block:
    back = _inverse(axes)
    shape, region = tuple(g.shape[a] for a in back), tuple(g.region[a] for a in back)
    return Block(shape, region, xp.permute_dims(g.values, back))


def _permute_back(xp: Any, g: Any, axes: Any) -> Any:
    if isinstance(g, Deferred):
        turned: Any = g
        return turned.T if axes == (1, 0) else g
    return xp.permute_dims(g, _inverse(axes))


permuted = position_map(
    "permute_dims",
    _permute_back,
    params=("axes",),
    block=_permute_block,
    reached=lambda region, shape, axes: tuple(region[a] for a in axes),
    takes_rows=True,
    batch=batching.with_params(lambda _, p: {"axes": (0, *[a + 1 for a in p["axes"]])}),
    samples=[sample((2, 3), axes=(1, 0)), sample((2, 3, 4), axes=(2, 0, 1)), sample((), axes=())],
)
permuted.op.takes_deferred = True
permuted.op.numpy_function = lambda x, *, axes: x.transpose(axes)


def permute_dims(x: Any, /, axes: Any) -> Tensor:
    """Return x with its axes permuted. `wg.permute_dims([[1, 2]], (1, 0))` is `[[1], [2]]`."""
    x = tensor(x, "permute_dims")
    ndim = len(x._raw.shape)
    axes = normalised(tuple(axes), ndim, "permute_dims")
    if len(axes) != ndim:
        raise ShapeError(f"permute_dims: {axes} does not name each axis of shape {x.shape} once")
    return permuted(x, axes=axes)


def matrix_transpose(x: Any, /) -> Tensor:
    """Return x with its last two axes swapped. `wg.matrix_transpose([[1, 2]])` is `[[1], [2]]`."""
    x = tensor(x, "matrix_transpose")
    if x.ndim < 2:
        raise ShapeError(f"matrix_transpose: needs two axes, got shape {x.shape}")
    return permuted(x, axes=(1, 0)) if x.ndim == 2 else swapaxes(x, -1, -2)


def swapaxes(x: Any, axis1: int, axis2: int, /) -> Tensor:
    """Return x with two axes swapped. `wg.swapaxes([[1, 2]], 0, 1)` is `[[1], [2]]`."""
    x = tensor(x, "swapaxes")
    first, second = one_axis(axis1, x.ndim, "swapaxes"), one_axis(axis2, x.ndim, "swapaxes")
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return permute_dims(x, order)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    """Return x with axes moved to `destination`. `wg.moveaxis([[1, 2]], 0, 1)` is `[[1], [2]]`."""
    x = tensor(x, "moveaxis")
    start = normalised(source, x.ndim, "moveaxis")
    end = normalised(destination, x.ndim, "moveaxis")
    if len(start) != len(end):
        raise ValueError(f"moveaxis: {source} and {destination} differ in length")
    order = [a for a in range(x.ndim) if a not in start]
    for to, a in sorted(zip(end, start, strict=True)):
        order.insert(to, a)
    return permute_dims(x, order)


def expand_dims(x: Any, /, axis: Any = 0) -> Tensor:
    """Return x with new axes of length 1. `wg.expand_dims([1, 2], axis=1)` is `[[1], [2]]`."""
    x = tensor(x, "expand_dims")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = normalised(axis, x.ndim + count, "expand_dims")
    lengths = iter(x.shape)
    return reshape(x, tuple(1 if a in new else next(lengths) for a in range(x.ndim + count)))


def squeeze(x: Any, /, axis: Any = None) -> Tensor:
    """Return x without axes of length 1: all, or `axis`. `wg.squeeze([[1, 2]])` is `[1, 2]`."""
    x = tensor(x, "squeeze")
    ones = tuple(a for a, n in enumerate(x.shape) if n == 1)
    dropped = ones if axis is None else normalised(axis, x.ndim, "squeeze")
    if any(a not in ones for a in dropped):
        raise ValueError(f"squeeze: axis {axis} of shape {x.shape} is not of length 1")
    return reshape(x, tuple(n for a, n in enumerate(x.shape) if a not in dropped))


# -- repetition -------------------------------------------------------------------------------


def _broadcast_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    (x,), shape = arrays, params["shape"]
    if x.ndim <= len(shape):
        ones = (1,) * (len(shape) + 1 - x.ndim)
        x = reshape_to(x, shape=(level.size, *ones, *x.shape[1:]))
    return apply(op, (x,), {"shape": (level.size, *shape)})


_broadcast_to = position_map(
    "broadcast_to",
    lambda xp, g, x_shape: unbroadcast(xp, g, x_shape),
    params=("shape",),
    block=lambda xp, g, x_shape: unbroadcast_block(xp, g.values, g.region, x_shape),
    reached=lambda region, shape, x_shape: tuple(
        range(n) if i < 0 or x_shape[i] == 1 else region[i]
        for i, n in enumerate(shape, len(x_shape) - len(shape))
    ),
    takes_rows=True,
    batch=_broadcast_examples,
    samples=[
        sample((2, 1), shape=(3, 2, 4)),
        sample((), shape=(2,)),
        sample((3,), shape=(2, 3)),
        sample((1, 2), shape=(0, 2)),
    ],
)


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    """Return x broadcast to `shape`. `wg.broadcast_to([1, 2], (2, 2))` is `[[1, 2], [1, 2]]`."""
    x = tensor(x, "broadcast_to")
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    lead = len(shape) - x.ndim
    if lead < 0 or any(n not in (1, shape[lead + a]) for a, n in enumerate(x.shape)):
        raise ShapeError(f"broadcast_to: shape {x.shape} does not broadcast to {shape}")
    return _broadcast_to(x, shape=shape)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Return the shape that these broadcast to. `wg.broadcast_shapes((3, 1), (4,))` is `(3, 4)`."""
    try:
        return tuple(backends.NUMPY.broadcast_shapes(*shapes))
    except ValueError as error:
        raise ShapeError(
            f"broadcast_shapes: {' and '.join(map(str, shapes))} do not fit"
        ) from error


def broadcast_arrays(*arrays: Any) -> tuple[Tensor, ...]:
    """Return the arrays broadcast against each other.

    `wg.broadcast_arrays([1, 2], [[3], [4]])` is `([[1, 2], [1, 2]], [[3, 3], [4, 4]])`.
    """
    tensors = [tensor(x, "broadcast_arrays") for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(broadcast_to(x, shape) for x in tensors)


def _tile_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    ndim = max(arrays[0].ndim - 1, len(params["repetitions"]))  # fewer are for the last axes
    return apply(op, (batching.widened(arrays[0], ndim),), params)


_tile = position_map(
    "tile",
    params=("repetitions",),
    batch=_tile_examples,
    compute=lambda xp, x, repetitions: xp.tile(x, repetitions),
    samples=[sample((2, 3), repetitions=(2, 1)), sample((2,), repetitions=(3, 2))],
)


def tile(x: Any, repetitions: Any, /) -> Tensor:
    """Return copies of x side by side. `wg.tile([1, 2], 2)` is `[1, 2, 1, 2]`."""
    counts = (repetitions,) if isinstance(repetitions, int) else tuple(map(int, repetitions))
    return _tile(x, repetitions=counts)


def _repeated(xp: Any, x: Any, repeats: Any, axis: int) -> Any:
    """Return x with elements repeated; the positions are known without a look at an array."""
    if isinstance(repeats, int):
        return xp.repeat(x, repeats, axis=axis)
    positions = np.repeat(np.arange(x.shape[axis]), repeats)
    return xp.take(x, xp.asarray(positions), axis=axis)


_repeat = position_map(
    "repeat",
    params=("repeats", "axis"),
    batch=batching.along_axes,
    compute=lambda xp, x, repeats, axis: _repeated(xp, x, repeats, axis),
    samples=[
        sample((2, 3), repeats=2, axis=1),
        sample((2, 3), repeats=(1, 3), axis=0),
        sample((3,), repeats=2, axis=0),
    ],
    reference=lambda x, repeats, axis: __import__("numpy").repeat(x, repeats, axis=axis),
)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Return x with each element repeated. `wg.repeat([1, 2], [2, 1])` is `[1, 1, 2]`."""
    x = tensor(x, "repeat")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    counts: Any = repeats if isinstance(repeats, int) else tensor(repeats, "repeat").numpy()
    if not isinstance(counts, int):
        counts = int(counts) if counts.ndim == 0 else tuple(map(int, counts.reshape(-1)))
    return _repeat(x, repeats=counts, axis=one_axis(axis, x.ndim, "repeat"))


# -- moving -----------------------------------------------------------------------------------


def _flip_block(xp: Any, g: Block, axis: tuple[int, ...]) -> Block:
    region = tuple(
        range(n - 1, -1, -1)[r.start : r.stop if r.stop >= 0 else None : r.step] if a in axis else r
        for a, (r, n) in enumerate(zip(g.region, g.shape, strict=True))
    )
    return Block(g.shape, region, g.values)


_flip = position_map(
    "flip",
    lambda xp, g, axis: xp.flip(g, axis=axis),
    params=("axis",),
    block=_flip_block,
    reached=lambda region, shape, axis: tuple(
        range(n - r.stop, n - r.start) if a in axis else r
        for a, (r, n) in enumerate(zip(region, shape, strict=True))
    ),
    batch=batching.along_axes,
    samples=[sample((2, 3), axis=(1,)), sample((2, 3), axis=(0, 1)), sample((3,), axis=(0,))],
)


def flip(x: Any, /, *, axis: Any = None) -> Tensor:
    """Return x with the order along `axis` reversed. `wg.flip([1, 2, 3])` is `[3, 2, 1]`."""
    x = tensor(x, "flip")
    return _flip(x, axis=normalised(axis, x.ndim, "flip"))


def _roll_block(xp: Any, g: Block, shift: Any, axis: Any) -> Block | None:
    """Return the block moved back; where it goes over the end, a list of positions."""
    region = list(g.region)
    for by, a in zip(shift, axis, strict=True):
        r, n = region[a], g.shape[a]
        if type(r) is range and len(r) == n and r.step == 1 and any(s % n for s in shift):
            return None
        positions = (np.asarray(r) - by) % n
        runs = len(positions) == 1 or (np.diff(positions) == getattr(r, "step", 0)).all()
        if runs and type(r) is range:
            first = int(positions[0])
            stop = first + len(r) * r.step
            region[a] = range(first, stop, r.step)
        else:
            region[a] = positions
    if sum(type(r) is not range for r in region) > 1:
        return None
    return Block(g.shape, tuple(region), g.values)


_roll = position_map(
    "roll",
    lambda xp, g, shift, axis: xp.roll(g, tuple(-s for s in shift), axis=axis),
    params=("shift", "axis"),
    block=_roll_block,
    reached=lambda region, shape, shift, axis: tuple(
        range(n) if a in axis else r for a, (r, n) in enumerate(zip(region, shape, strict=True))
    ),
    takes_rows=True,
    batch=batching.along_axes,
    samples=[sample((5,), shift=(2,), axis=(0,)), sample((2, 3), shift=(1, -1), axis=(0, 1))],
)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Return x shifted cyclically along `axis`. `wg.roll([1, 2, 3], 1)` is `[3, 1, 2]`."""
    x = tensor(x, "roll")
    if type(shift) is Tensor and type(shift._raw) is Batched:
        return _rolled_apart(x, shift, axis)
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    where = tuple(
        one_axis(a, x.ndim, "roll") for a in (axis if isinstance(axis, (tuple, list)) else (axis,))
    )
    shifts = (
        tuple(map(int, shift)) if isinstance(shift, (tuple, list)) else (int(shift),) * len(where)
    )
    if len(shifts) != len(where):
        raise ValueError(f"roll: shift {shift} and axis {axis} differ in length")
    return _roll(x, shift=shifts, axis=where)


def _rolled_apart(x: Tensor, shift: Tensor, axis: Any) -> Any:
    """Return x moved along one axis by a number that differs between examples."""
    if axis is None:
        return reshape(_rolled_apart(reshape(x, (-1,)), shift, 0), x.shape)
    if shift.ndim or isinstance(axis, (tuple, list)):
        raise ShapeError(
            f"roll: shift of shape {shift.shape} for axis {axis} inside of vmap; expected one "
            "number for one axis. Write wg.roll once for each axis"
        )
    axis = one_axis(axis, x.ndim, "roll")
    positions = (wrap(np.arange(x.shape[axis])) - shift) % max(x.shape[axis], 1)
    return Tensor._namespace.take(x, positions, axis=axis)


def _unpad(xp: Any, g: Any, x_shape: Any, widths: Any, mode: str) -> Any:
    if mode == "constant":
        return g[tuple(slice(b, b + n) for (b, _), n in zip(widths, x_shape, strict=True))]
    op: Any = _pad.op
    return op.transpose(xp, g, x_shape, widths, mode, 0)


def _unpad_block(xp: Any, g: Block, x_shape: Any, widths: Any, mode: str) -> Any:
    if mode != "constant":
        op: Any = _pad.op
        return op.transpose_block(xp, g, x_shape, widths, mode, 0)
    inside = tuple(range(b, b + n) for (b, _), n in zip(widths, x_shape, strict=True))
    if any(r.step < 0 for r in g.region):
        return None
    cut = restrict(xp, g, inside)
    region = tuple(
        range(r.start - b, r.stop - b, r.step) for r, (b, _) in zip(cut.region, widths, strict=True)
    )
    return Block(x_shape, region, cut.values)


def _pad_reached(region: Region, shape: Any, x_shape: Any, widths: Any, mode: str) -> Region | None:
    if mode != "constant":
        return None
    return tuple(range(r.start + b, r.stop + b) for r, (b, _) in zip(region, widths, strict=True))


def _pad_array(xp: Any, x: Any, widths: Any, mode: str, value: Any) -> Any:
    return xp.pad(x, widths, mode, constant_values=value)


_pad = position_map(
    "pad",
    _unpad,
    params=("widths", "mode", "value"),
    compute=_pad_array,
    block=_unpad_block,
    reached=_pad_reached,
    batch=batching.with_params(lambda _, p: {"widths": ((0, 0), *p["widths"])}),
    samples=[
        sample((2, 3), widths=((1, 0), (0, 2)), mode="constant", value=1.5),
        sample((4,), widths=((2, 1),), mode="reflect", value=0),
        sample((3,), widths=((1, 2),), mode="edge", value=0),
        sample((3, 2), widths=((1, 1), (0, 1)), mode="wrap", value=0),
        sample((3,), widths=((2, 2),), mode="symmetric", value=0),
    ],
    reference=lambda x, widths, mode, value: _pad_array(backends.NUMPY, x, widths, mode, value),
)
_pad.op.of_tangents = {"value": 0}
PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Tensor:
    """Return x with more elements around it, as np.pad does.

    `pad_width` is a number, (before, after), or one such pair for each axis; `mode` is
    "constant", "edge", "reflect", "symmetric" or "wrap".
    `wg.pad([1, 2], (1, 2))` is `[0, 1, 2, 0, 0]`.
    """
    x = tensor(x, "pad")
    if mode not in PAD_MODES:
        raise ValueError(f"pad: mode {mode!r}; expected one of {', '.join(PAD_MODES)}")
    if isinstance(constant_values, (tuple, list)) and len({*np.ravel(constant_values)}) == 1:
        constant_values = np.ravel(constant_values)[0].item()  # the same on all sides
    if not isinstance(constant_values, (int, float, complex)):
        raise TypeError(f"pad: constant_values is {constant_values!r}; expected one number")
    if not x.ndim:
        return renewed(x)
    widths = backends.NUMPY.broadcast_to(backends.NUMPY.asarray(pad_width), (x.ndim, 2)).tolist()
    return _pad(x, widths=tuple(map(tuple, widths)), mode=mode, value=constant_values)


_diagonal = position_map(
    "diagonal",
    params=("offset", "axis1", "axis2"),
    batch=batching.along_axes,
    samples=[
        sample((3, 3), offset=0, axis1=0, axis2=1),
        sample((2, 3, 4), offset=1, axis1=1, axis2=2),
        sample((2, 3, 4), offset=-1, axis1=2, axis2=0),
    ],
)


def diagonal(x: Any, /, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of the matrices on two axes, as a new last axis.

    `wg.diagonal([[1, 2], [3, 4]])` is `[1, 4]`.
    """
    x = tensor(x, "diagonal")
    first, second = one_axis(axis1, x.ndim, "diagonal"), one_axis(axis2, x.ndim, "diagonal")
    return _diagonal(x, offset=offset, axis1=first, axis2=second)


def _triangle(name: str) -> Callable[..., Tensor]:
    def within(region: Region, k: int) -> np.ndarray:
        rows, columns = (np.asarray(r) for r in region[-2:])
        above = columns[None, :] - rows[:, None]
        return above <= k if name == "tril" else above >= k

    def transpose(xp: Any, g: Any, k: int) -> Block:
        shape = tuple(g.shape)
        part = getattr(xp, name)(g, k=k)
        return Block(shape, whole(shape), part, lambda: within(whole(shape), k))

    def block(xp: Any, g: Block, k: int) -> Block:
        kept = Block(g.shape, g.region, g.values, lambda: within(g.region, k))
        values = kept.kept(xp)
        if not g.is_masked:
            return Block(g.shape, g.region, values, kept.mask)
        return Block(g.shape, g.region, values, lambda: kept.mask & g.mask)

    op = linear(
        name,
        transpose,
        params=("k",),
        block=block,
        reached=lambda region, shape, k: region,
        takes_rows=True,
        batch=batching.as_it_is,
        samples=[sample((3, 3), k=0), sample((2, 3, 4), k=1), sample((3, 2), k=-1)],
    )

    def triangle(x: Any, /, *, k: int = 0) -> Tensor:
        return op(_matrices(x, name), k=k)

    return documented(triangle, name)


def _matrices(x: Any, name: str) -> Tensor:
    x = tensor(x, name)
    if not x.ndim:
        raise ShapeError(f"{name}: got an array without axes; expected matrices")
    return broadcast_to(x, (x.shape[0], x.shape[0])) if x.ndim == 1 else x  # as NumPy has it


tril, triu = map(_triangle, ("tril", "triu"))


__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "diagonal", "expand_dims",
    "flip", "matrix_transpose", "moveaxis", "pad", "permute_dims", "repeat", "reshape", "roll",
    "squeeze", "swapaxes", "tile", "tril", "triu",
]  # fmt: skip
