"""Arrays joined along an axis, and the parts that cotangents fall into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.cotangents import (
    Block,
    Region,
)
from wengert.engine.errors import ShapeError
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching
from wengert.ops.families import one_axis, sample, special
from wengert.ops.shapes import reshape, reshape_to, tensor


def _part(xp: Any, g: Any, position: int, shapes: Any, axis: int) -> Any:
    start, stop = shapes.span(position, axis)
    return g[(slice(None),) * axis + (slice(start, stop), ...)]


def _part_block(
    xp: Any, g: Block, node: Any, parent: Any, argument: int, values: tuple[Any, ...]
) -> Block | None:
    position, shapes, axis = values
    start, stop = shapes.span(position, axis)
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
    start, stop = shapes.span(position, axis)
    r = region[axis]
    if type(r) is not range or r.step != 1:
        return None
    low, high = max(r.start, start), min(r.stop, stop)
    return (*region[:axis], range(low - start, max(low, high) - start), *region[axis + 1 :])


def _part_reached(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Region:
    position, shapes, axis = values
    start, _ = shapes.span(position, axis)
    moved = range(region[axis].start + start, region[axis].stop + start)
    return (*region[:axis], moved, *region[axis + 1 :])


def _push_parts(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangents joined, with zeros for parts that have none."""
    if any(type(t) is Block for *_, t in edges):
        return NotImplemented  # which costs no more than what the blocks reach
    _, shapes, axis = edges[0][2]
    tangents = {position: t for _, position, _, t in edges}
    like = edges[0][3]
    plain = backends.namespace_of(getattr(like, "_raw", like))
    parts = []
    for position, shape in enumerate(shapes):
        t = tangents.get(position)
        if t is None:
            zeros = plain.zeros(shape, dtype=node.dtype)
            t = wrap(zeros) if type(like) is Tensor else zeros
        parts.append(t if t.dtype == node.dtype else xp.astype(t, node.dtype))
    return xp.concat(parts, axis=axis)


def _concat_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    full = [batching.full(x, m, level) for x, m in zip(arrays, mapped, strict=True)]
    return apply(op, tuple(full), {"axis": params["axis"] + 1})


_concat = special(
    "concat",
    _part,
    args=("arrays",),
    params=("axis",),
    variadic=True,
    block=_part_block,
    batch=_concat_examples,
    compute=lambda xp, *arrays, axis: xp.concat(arrays, axis=axis),
    linear=True,
    samples=[
        sample((2, 3), (1, 3), axis=0),
        sample((2, 1), (2, 2), (2, 0), axis=1),
        sample((2,), axis=0),
    ],
    reference=lambda *arrays, axis: np.concatenate(arrays, axis=axis),
)
_concat.op.numpy_function = np.concatenate
_concat.op.reach = _part_reached
_concat.op.depends = _part_depends
_concat.op.push = _push_parts


def concat(arrays: Any, /, *, axis: int | None = 0) -> Tensor:
    """Return the arrays joined along an existing axis; flattened first if it is None.

    `wg.concat([[1, 2], [3]])` is `[1, 2, 3]`.
    """
    if type(arrays) is not list:
        arrays = list(arrays)
    first = arrays[0] if arrays else None
    usual = type(first) is Tensor and type(first._raw) is np.ndarray
    if usual and type(axis) is int and axis >= 0:
        try:  # NumPy finds what is wrong, and we have the words for it
            return _concat(*arrays, axis=axis)
        except ValueError:
            pass
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
    return _concat(*tensors, axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """Return arrays joined along a new axis. `wg.stack([[1, 2], [3, 4]])` is `[[1, 2], [3, 4]]`."""
    tensors = [tensor(x, "stack") for x in arrays]
    if len({tuple(x._raw.shape) for x in tensors}) != 1:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"stack: expected arrays of one shape, got {shapes or 'none'}")
    shape = tensors[0].shape
    axis = one_axis(axis, len(shape) + 1, "stack")
    if axis < len(shape):  # joined along an axis that is then cut in two
        new = (*shape[:axis], len(tensors), *shape[axis:])
        return reshape_to(_concat(*tensors, axis=axis), shape=new)
    return _concat(*(reshape_to(x, shape=(*shape, 1)) for x in tensors), axis=axis)


__all__ = ["concat", "stack"]
