"""Operations that replace elements, or add to them, in a new tensor.

Derivatives flow to the new elements and to the rest. Users call them as `x.at[key].set(v)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.cotangents import Block
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching
from wengert.ops.families import pull_with_mask, sample, special
from wengert.ops.families.structure import zeros_for
from wengert.ops.indexing import has_arrays, index, is_selected, over_examples
from wengert.ops.positions import sliced
from wengert.ops.reductions import attains
from wengert.ops.segments import distinct
from wengert.regions import whole

_KEYS = [
    sample((3, 4), (4,), key=(1, slice(None)), winners=None),
    sample((5,), (2,), key=(slice(4, 1, -2),), winners=None),
    sample((3, 4), (2, 2), key=(np.array([[0], [2]]), np.array([1, 3])), winners=None),
    sample((4,), (3,), key=(np.array([1, 2, 1]),), winners=np.array([False, True, True])),
]


def _value_rule(xp: Any, g: Any, key: Any, winners: Any) -> Any:
    part = _read(xp, g, key)
    if winners is None:
        return part
    shape = tuple(part.shape)
    positions = np.arange(math.prod(shape)).reshape(shape)
    won = batching.rebatched(np.where(batching.all_values(winners), positions, -1), winners)
    return batching.call(xp, "gather_flat", part, shape=shape, positions=won)


def _read(xp: Any, g: Any, key: Any) -> Any:
    if has_arrays(key):
        return batching.call(xp, "index", g, key=key)
    is_raw = xp is not backends.NUMPY and type(g) is not Tensor and isinstance(key, tuple)
    return sliced(xp, g, key) if is_raw and Ellipsis not in key else g[key]


def _rest_rule(xp: Any, g: Any, x_shape: Any, key: Any) -> Block:
    """Return g, and zero by structure where x was replaced."""
    nothing = xp.zeros_like(_read(xp, g, key))
    values = batching.call(xp, "put", g, nothing, key=key)
    return Block(x_shape, whole(x_shape), values, lambda: ~is_selected(key, x_shape, nothing))


def _update_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the update of all examples, each with its own key if there is one that differs."""
    x, values = (batching.full(a, m, level) for a, m in zip(arrays, mapped, strict=True))
    layout = over_examples(params["key"], level) if has_arrays(params["key"]) else None
    if layout is None:
        return apply(op, (x, values), {**params, "key": (slice(None), *params["key"])})
    changed = {**params, "key": layout.key}
    if params.get("winners") is not None:
        winners = wrap(batching.full_parameter(params["winners"], level))
        changed["winners"] = layout.numpys(winners)._raw
    return apply(op, (x, layout.numpys(values)), changed)


def _put(xp: Any, x: Any, values: Any, key: Any, winners: Any) -> Any:
    """Return x with values at a key, of several at one position the last.

    NumPy writes them in their order. On a device nobody knows the order, so that only those that
    win are written, to positions that are 0 before.
    """
    if winners is None or xp is backends.NUMPY:
        return xp.put(x, values, key=key)
    blank = xp.put(x, xp.zeros_like(values), key=key)
    won = xp.asarray(batching.all_values(winners))
    return xp.put_add(blank, xp.keep(values, won), key=key)


at_set = special(
    "at_set",
    _rest_rule,
    _value_rule,
    args=("x", "values"),
    params=("key", "winners"),
    compute=_put,
    batch=_update_examples,
    linear=True,
    samples=_KEYS,
    reference=lambda x, values, key, winners: backends.NUMPY.put(x, values, key),
)


def _push_set(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangent of x with that of the values at the key.

    Where several values are at one position, the last one's tangent is there, as the value is; the
    rules, transposed, would add them up, as without `winners` they give each the cotangent.
    """
    _, argument, values, _ = edges[-1]
    key = values[0 if argument else 1]
    if not has_arrays(key) and any(type(t) is Block for *_, t in edges):
        return NotImplemented  # which costs no more than what the blocks reach
    if argument == 0:  # the values do not move
        (x,) = (t.todense(xp) if type(t) is Block else t for *_, t in edges)
        return batching.call(xp, "put", x, xp.zeros_like(_read(xp, x, key)), key=key)
    x, written = both_tangents(xp, node, edges)
    if batching.is_batched(values):
        return batching.call(xp, "put", x, written, key=key)
    return _put(xp, x, written, key, winners=values[1])


def _push_add(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangent of x with that of the values added at the key."""
    if any(type(t) is Block for *_, t in edges):
        return NotImplemented
    _, argument, values, t = edges[-1]
    if argument == 0:
        return t
    x, written = both_tangents(xp, node, edges)
    return batching.call(xp, "put_add", x, written, key=values[0])


def both_tangents(xp: Any, node: Node, edges: Sequence[Any]) -> tuple[Any, Any]:
    """Return the tangents of x, which may be zeros, and of what is written to it."""
    moving = {argument: t.todense(xp) if type(t) is Block else t for _, argument, _, t in edges}
    if 0 not in moving:
        moving[0] = zeros_for(moving[1], node.shape, node.dtype)
    return moving[0], moving[1]


at_set.op.push = _push_set
at_add = special(
    "at_add",
    lambda xp, g: g,
    lambda xp, g, key: _read(xp, g, key),
    args=("x", "values"),
    params=("key",),
    compute=lambda xp, x, values, key: xp.put_add(x, values, key=key),
    batch=_update_examples,
    linear=True,
    samples=[sample(*s.shapes, key=s.params["key"]) for s in _KEYS],
    reference=lambda x, values, key: backends.NUMPY.put_add(x, values, key),
)
at_add.op.push = _push_add


def _extreme(name: str, ufunc: np.ufunc) -> Callable[..., Any]:
    """Declare x with the larger (or smaller) of each element and all its values.

    Of elements and values that tie at a position, each has an even share of the derivative.
    """
    kernel = f"put_{ufunc.__name__[:3]}"

    def share(xp: Any, won: Any, x: Any, values: Any, y: Any, key: Any) -> Any:
        """Return the share of what won at each position, among x and its values there."""
        mine = xp.astype(attains(x, y), y.dtype)
        theirs = xp.astype(attains(values, _read(xp, y, key)), y.dtype)
        count = xp.put_add(mine, theirs, key=key)
        return mine / count if won == "x" else theirs / _read(xp, count, key)

    return special(
        name,
        lambda xp, g, x, values, y, key: g * share(xp, "x", x, values, y, key),
        lambda xp, g, x, values, y, key: _read(xp, g, key) * share(xp, "values", x, values, y, key),
        args=("x", "values"),
        params=("key",),
        compute=lambda xp, x, values, key: getattr(xp, kernel)(x, values, key),
        batch=_update_examples,
        samples=[sample(*s.shapes, key=s.params["key"]) for s in _KEYS],
        kinds="f",
        reference=getattr(backends.NUMPY, kernel),
    )


maximum_at = _extreme("at_max", np.maximum)
minimum_at = _extreme("at_min", np.minimum)


for _update in (at_set, at_add):
    _op = _update.op
    _op.pull_block = partial(pull_with_mask, _op.pull_block)


def put(x: Any, values: Any, *, key: tuple[Any, ...]) -> Any:
    """Return x with `values` at a parsed key; of duplicates, the last one stays."""
    return at_set(x, values, key=key, winners=_winners(key, x.shape))


def put_add(x: Any, values: Any, *, key: tuple[Any, ...]) -> Any:
    """Return x with `values` added at a parsed key; duplicates add up."""
    return at_add(x, values, key=key)


def repeated_positions(key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Return the flat place of each selected element, as a raw array; None if no two are one."""
    if not has_arrays(key):
        return None
    positions = index(wrap(np.arange(math.prod(shape)).reshape(shape)), key=key)._raw
    flat = np.sort(distinct(positions, math.prod(shape)), axis=None)
    return positions if (flat[1:] == flat[:-1]).any() else None


def times_before(positions: Any, size: int) -> Any:
    """Return for each of the positions how often it was selected before, as a raw array."""
    flat = distinct(positions, size)
    order = np.argsort(flat, axis=None, kind="stable")
    ranked = flat.reshape(-1)[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    before = np.arange(ranked.size) - np.repeat(starts, np.diff(np.r_[starts, ranked.size]))
    rounds = np.empty(ranked.size, int)
    rounds[order] = before
    return batching.rebatched(rounds.reshape(flat.shape), positions)


def _winners(key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Return which of the selected elements is the last of its position; None if all are."""
    positions = repeated_positions(key, shape)
    if positions is None:
        return None
    flat = distinct(positions, math.prod(shape))
    numbers = np.arange(flat.size).reshape(flat.shape)
    last = np.empty(int(flat.max()) + 1, int)
    last[flat.reshape(-1)] = numbers.reshape(-1)
    return batching.rebatched(last[flat] == numbers, positions)
