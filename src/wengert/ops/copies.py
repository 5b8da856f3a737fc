"""A tensor of which a view was written to: the tensor before, with a part replaced.

A view is a path: functions of tensors that lead from the whole to it, one after the other. A key,
if there is one, says which elements of the view were written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.cotangents import Block
from wengert.engine.examples import one_by_one
from wengert.engine.node import Edges, Node
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching
from wengert.ops.families import declared, sample
from wengert.ops.indexing import index
from wengert.ops.updates import at_set, both_tangents

View = Callable[[Tensor], Tensor]
#: Index arrays, and slices, that select elements of a view.
Key = tuple[Any, ...] | None
ns = Tensor._namespace


def follow(path: tuple[View, ...], whole: Tensor) -> Tensor:
    """Return the view of a tensor that some functions lead to."""
    for step in path:
        whole = step(whole)
    return whole


def _replaced(
    x: np.ndarray, values: Any, path: tuple[View, ...], key: Key = None, own: bool = False
) -> np.ndarray:
    """Return an array with other values in a view of it; the same one if that is `own`."""
    if not path and key is None:
        return np.zeros_like(x) + values
    out = x if own else x.copy("K")
    view = follow(path, wrap(out))._raw
    if np.may_share_memory(view, out):
        view[... if key is None else key] = values
        return out
    if view.dtype != out.dtype:
        raise RuntimeError("a view of parts of complex numbers in another order; write x.clone()")
    flat = out.reshape(-1).copy()  # its elements lie in another order than those of the base
    positions = _positions(path, key, x.shape)
    flat[positions[positions >= 0]] = np.broadcast_to(values, positions.shape)[positions >= 0]
    return flat.reshape(x.shape)


def _positions(path: tuple[View, ...], key: Key, shape: tuple[int, ...]) -> Any:
    """Return where the elements of a view are in its base; -1 for those that it does not know."""
    positions = wrap(np.arange(1, math.prod(shape) + 1).reshape(shape))
    found = follow(path, positions)._raw - 1
    return found if key is None else found[key]


def _values(xp: Any, x: Any, values: Any, path: Any, key: Any) -> Any:
    """Return x with values in place of a view of it."""
    if xp is backends.NUMPY:
        return _replaced(x, values, path, key)
    positions = _positions(path, key, x.shape)
    known = np.nonzero(positions >= 0)
    taken = xp.index(xp.broadcast_to(values, positions.shape), known) if known else values
    flat = xp.put(xp.reshape(x, (-1,)), taken, (positions[known] if known else positions,))
    return xp.reshape(flat, x.shape)


def _rest(xp: Any, g: Any, path: Any, key: Any) -> Any:
    """Return the cotangent of what was there before: zero where it was replaced."""
    if not path and key is None:
        return xp.zeros_like(g)
    if xp is backends.NUMPY:
        return _replaced(g, 0, path, key)
    nothing = xp.zeros_like(_part(xp, g, path, key))
    if xp is ns:
        return apply(COPY, (g, nothing), {"path": path, "key": key})
    return _values(xp, g, nothing, path, key)


def _part(xp: Any, g: Any, path: Any, key: Any) -> Any:
    """Return the cotangent of what was written."""
    if xp is backends.NUMPY:
        found = follow(path, wrap(g))._raw
        return found if key is None else found[key]
    part = follow(path, g if xp is ns else wrap(g))
    part = part if key is None else index(part, key=key)
    return part if xp is ns else part._raw


class Copy(Op):
    """A tensor, one view of which was written to, or some elements of one.

    Its answers in a sweep are the sweep's own, and made in the memory of its cotangent if that is
    too: so many writes to one tensor cost no more than what they write.
    """

    family = "copy"
    linear = True
    fresh = True

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents, that of what was there before in the memory of `g` if it can."""
        own = sweep is not None and sweep.own
        if type(g) is Block:
            g, own = g.todense(xp), False
        if xp is not backends.NUMPY:
            return super().pull(xp, g, node, edges)
        path, key = edges[0][2]
        parts: dict[int, Any] = {argument: None for _, argument, _ in edges}
        if 1 in parts:
            parts[1] = _part(xp, g, path, key).copy()
        if 0 in parts:  # after what was written, for it may write to g
            parts[0] = _replaced(g, 0, path, key, own)
        return list(parts.values())

    def narrowed(self, dtype: Any) -> Op:
        """Return itself: nothing is computed."""
        return self

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangent of the tensor with that of what was written; the last of several."""
        path, key = edges[0][2]
        if 1 not in {edge[1] for edge in edges} or key is None:
            return NotImplemented
        tangents = both_tangents(xp, node, edges)
        if xp is ns:
            return apply(COPY, tangents, {"path": path, "key": key})
        return _values(xp, *tangents, path, key)


def _examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the same for all examples at once; one by one if a view has another dtype."""
    x, values = arrays
    path, key = params["path"], params["key"]
    if x.dtype != values.dtype or not (path or key):
        return one_by_one(op, level, arrays, mapped, params)
    x, values = (batching.full(a, m, level) for a, m in zip(arrays, mapped, strict=True))
    positions = _positions(path, key, x.shape[1:]).reshape(-1)
    flat, parts = (ns.reshape(a, (level.size, math.prod(a.shape[1:]))) for a in (x, values))
    return ns.reshape(at_set(flat, parts, key=(slice(None), positions), winners=None), x.shape)


def _later(x: Any) -> Any:
    return x[1:]


def _turned(x: Any) -> Any:
    return ns.matrix_transpose(x)


COPY = Copy("copy_slices", ("x", "values"), _values, (_rest, _part), ("path", "key"))
_ROWS = (np.array([1, 0]), slice(None))
declared(
    COPY,
    {
        "batch": _examples,
        "samples": [
            sample((3, 2), (2, 2), path=(_later,), key=None),
            sample((3, 2), (2, 2), path=(_later, _turned), key=None),
            sample((3, 2), (2, 2), path=(), key=_ROWS),
            sample((4, 2), (2, 2), path=(_later,), key=_ROWS),
        ],
        "doc": "Return x with other values in a view of it.",
    },
)
