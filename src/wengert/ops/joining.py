"""Arrays joined along an axis, and the parts that cotangents fall into."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Never

import numpy as np

from wengert.engine.cotangents import Block
from wengert.engine.fastpath import Front, caller
from wengert.engine.node import Node, Values
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError
from wengert.ops import batching
from wengert.ops.families import one_axis, sample, special
from wengert.ops.families.declare import Function, Operation
from wengert.ops.families.directions import lead_of
from wengert.ops.families.structure import zeros_for
from wengert.ops.shapes import reshape, tensor
from wengert.other_names import answers, unexpected
from wengert.regions import Region

#: An operation of several arrays, which is linear in all.
_joined = partial(
    special,
    args=("arrays",),
    params=("axis",),
    variadic=True,
    batch=batching.with_params(lambda _, p: {"axis": p["axis"] + 1}),
    linear=True,
)
#: NumPy finds what is wrong with arrays and axes, and the functions have words for it.
_JOIN = partial(
    Front, listed=True, when="type(axis) is int", after="if axis < 0:\n    axis += _y.ndim"
)
#: The shapes that were asked about last, the axis, and where each argument begins along it.
_latest: tuple[Any, int, list[int]] = ((), 0, [0])


def _span(position: int, shapes: Any, axis: int) -> tuple[int, int]:
    """Return where an argument begins and ends along an axis on which all are joined.

    It is asked for each of perhaps thousands of arguments, so all places are found at once.
    """
    global _latest
    known, along, starts = _latest
    if known is not shapes or along != axis:
        starts = [0, *itertools.accumulate(shape[axis] for shape in shapes)]
        _latest = shapes, axis, starts
    return starts[position], starts[position + 1]


def _part(xp: Any, g: Any, position: int, shapes: Any, axis: int) -> Any:
    start, stop = _span(position, shapes, axis)
    return g[(slice(None),) * axis + (slice(start, stop), ...)]


def _part_block(
    xp: Any, g: Block, node: Any, parent: Any, argument: int, values: Values
) -> Block | None:
    position, shapes, axis = values
    start, stop = _span(position, shapes, axis)
    inside = _run_within(g.region[axis], start, stop)
    if not inside:
        return None
    r = g.region[axis][inside.start : inside.stop]
    moved = range(r.start - start, r.stop - start, r.step)
    region = (*g.region[:axis], moved, *g.region[axis + 1 :])
    key = (slice(None),) * axis + (slice(inside.start, inside.stop), ...)
    mask = (lambda: g.mask[key]) if g.is_masked else None
    return Block(shapes[position], region, g.values[key], mask)


def _run_within(r: range, start: int, stop: int) -> range:
    """Return which of the elements of a range, which are a run, lie from start to stop."""
    if r.step < 0:
        back = _run_within(r[::-1], start, stop)
        return range(len(r) - back.stop, len(r) - back.start)
    first = max(0, -((r.start - start) // r.step))
    last = min(len(r), -((r.start - stop) // r.step))
    return range(first, max(first, last))


def _part_depends(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Any:
    position, shapes, axis = values
    start, stop = _span(position, shapes, axis)
    r = region[axis]
    if type(r) is not range or r.step != 1:
        return None
    low, high = max(r.start, start), min(r.stop, stop)
    return (*region[:axis], range(low - start, max(low, high) - start), *region[axis + 1 :])


def _part_reached(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Region:
    position, shapes, axis = values
    start, _ = _span(position, shapes, axis)
    moved = range(region[axis].start + start, region[axis].stop + start)
    return (*region[:axis], moved, *region[axis + 1 :])


def _push_parts(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangents joined, with zeros for parts that have none."""
    if any(type(t) is Block for *_, t in edges):
        return NotImplemented  # which costs no more than what the blocks reach
    _, shapes, axis = edges[0][2]
    tangents = {position: t for _, position, _, t in edges}
    like = edges[0][3]
    parts, lead = [], lead_of(edges)
    for position, shape in enumerate(shapes):
        t = tangents.get(position)
        t = zeros_for(like, (*lead, *shape), node.dtype) if t is None else t
        parts.append(t if t.dtype == node.dtype else xp.astype(t, node.dtype))
    return xp.concat(parts, axis=axis + len(lead))


def _at_once(operation: Operation[Any]) -> Callable[[Function], Function]:
    """Return a decorator for a join's function, which is then called for unusual arguments only."""

    def decorate(function: Function) -> Function:
        def unusual(op: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
            return function(*args, **params)

        call = caller(operation.op, _JOIN(otherwise=unusual))
        call.__kwdefaults__ = function.__kwdefaults__
        return functools.wraps(function)(call)  # type: ignore[return-value]

    return decorate


concat_along = _joined(
    "concat",
    _part,
    block=_part_block,
    compute=lambda xp, *arrays, axis: xp.concat(arrays, axis=axis),
    samples=[
        sample((2, 3), (1, 3), axis=0),
        sample((2, 1), (2, 2), (2, 0), axis=1),
        sample((2,), axis=0),
    ],
    reference=lambda *arrays, axis: np.concatenate(arrays, axis=axis),
)
concat_along.op.numpy_function = np.concatenate
concat_along.op.aliases = False
concat_along.op.reach = _part_reached
concat_along.op.depends = _part_depends
concat_along.op.push, concat_along.op.takes_directions = _push_parts, True


@_at_once(concat_along)
@answers
def concat(arrays: Any, /, *, axis: int | None = 0, **others: Never) -> Tensor:
    """Return the arrays joined along an existing axis; flattened first if it is None.

    `wg.concat([[1, 2], [3]])` is `[1, 2, 3]`.
    """
    if others:
        raise unexpected(concat, others)
    tensors = [tensor(x, "concat") for x in arrays]
    if not tensors:
        raise ValueError("concat: got no arrays; expected at least one")
    if axis is None:
        tensors, axis = [reshape(x, (-1,)) for x in tensors], 0
    axis = one_axis(axis, tensors[0].ndim, "concat")
    rest = {(*x.shape[:axis], *x.shape[axis + 1 :]) for x in tensors}
    if len(rest) > 1 or len({x.ndim for x in tensors}) > 1:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"concat: shapes {shapes} differ in more than axis {axis}")
    return concat_along(*tensors, axis=axis)


# -- a new axis ---------------------------------------------------------------------------------


def _slice(xp: Any, g: Any, position: int, axis: int) -> Any:
    return g[(slice(None),) * axis + (position, ...)]


def _slice_block(
    xp: Any, g: Block, node: Any, parent: Any, argument: int, values: Values
) -> Block | None:
    position, axis = values
    r = g.region[axis]
    if position not in r:
        return None
    key = (slice(None),) * axis + (r.index(position), ...)
    mask = (lambda: g.mask[key]) if g.is_masked else None
    return Block(parent.shape, (*g.region[:axis], *g.region[axis + 1 :]), g.values[key], mask)


def _slice_depends(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Any:
    position, axis = values
    if position in region[axis]:
        return (*region[:axis], *region[axis + 1 :])
    return tuple(range(0) for _ in parent.shape)


def _slice_reached(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Region:
    position, axis = values
    return (*region[:axis], range(position, position + 1), *region[axis:])


def _push_slices(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangents stacked, with zeros for slices that have none."""
    if any(type(t) is Block for *_, t in edges):
        return NotImplemented
    axis, like = edges[0][2][1], edges[0][3]
    tangents = {position: t for _, position, _, t in edges}
    lead = lead_of(edges)
    shape = (*lead, *node.shape[:axis], *node.shape[axis + 1 :])
    blank = zeros_for(like, shape, node.dtype)
    slices = [tangents.get(k, blank) for k in range(node.shape[axis])]
    parts = [t if t.dtype == node.dtype else xp.astype(t, node.dtype) for t in slices]
    return xp.stack(parts, axis=axis + len(lead))


def _stacked(arrays: list[np.ndarray], *, axis: int) -> np.ndarray:
    """Return np.stack of arrays of one shape, in a third of its time for small ones."""
    if axis < 0:
        axis = one_axis(axis, arrays[0].ndim + 1, "stack")
    if not axis and arrays[0].dtype.kind in "biufc":  # NumPy looks into texts and objects
        return np.array(arrays)
    key = (slice(None),) * axis + (None, ...)
    return np.concatenate([x[key] for x in arrays], axis=axis)


stack_along = _joined(
    "stack",
    _slice,
    block=_slice_block,
    compute=lambda xp, *arrays, axis: xp.stack(arrays, axis=axis),
    samples=[
        sample((2, 3), (2, 3), axis=0),
        sample((2, 3), (2, 3), (2, 3), axis=2),
        sample((), (), axis=0),
    ],
    reference=lambda *arrays, axis: np.stack(arrays, axis=axis),
)
stack_along.op.numpy_function = _stacked
stack_along.op.aliases = False
stack_along.op.reach = _slice_reached
stack_along.op.depends = _slice_depends
stack_along.op.push, stack_along.op.takes_directions = _push_slices, True


@_at_once(stack_along)
@answers
def stack(arrays: Any, /, *, axis: int = 0, **others: Never) -> Tensor:
    """Return arrays joined along a new axis. `wg.stack([[1, 2], [3, 4]])` is `[[1, 2], [3, 4]]`."""
    if others:
        raise unexpected(stack, others)
    tensors = [tensor(x, "stack") for x in arrays]
    if len({tuple(x._raw.shape) for x in tensors}) != 1:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"stack: expected arrays of one shape, got {shapes or 'none'}")
    return stack_along(*tensors, axis=one_axis(axis, tensors[0].ndim + 1, "stack"))


__all__ = ["concat", "stack"]
