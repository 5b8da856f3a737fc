"""x.at[key]: a selection of x, and functional updates of it.

`x.at[key].set(v)` is a new tensor; derivatives flow to v and to the rest of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.cotangents import Block, whole
from wengert.engine.errors import DtypeError, ShapeError
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.record import SCALARS, apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching, elementwise, shapes
from wengert.ops.creation import zeros_like
from wengert.ops.families import pull_with_mask, sample, special
from wengert.ops.indexing import (
    Selected,
    getitem,
    has_arrays,
    index,
    is_selected,
    over_examples,
    parse_key,
    selected_shape,
)
from wengert.ops.reductions import attains
from wengert.ops.segments import apart, like, on_host, segment_prod

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
    places = np.arange(math.prod(shape)).reshape(shape)
    won = batching.rebatched(np.where(batching.all_values(winners), places, -1), winners)
    return batching.call(xp, "gather_flat", part, shape=shape, positions=won)


def _read(xp: Any, g: Any, key: Any) -> Any:
    return batching.call(xp, "index", g, key=key) if has_arrays(key) else g[key]


def _at_set(xp: Any, x: Any, values: Any, key: Any, winners: Any) -> Any:
    return xp.put(x, values, key=key)


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


_set = special(
    "at_set",
    _rest_rule,
    _value_rule,
    args=("x", "values"),
    params=("key", "winners"),
    compute=_at_set,
    batch=_update_examples,
    linear=True,
    samples=_KEYS,
    reference=lambda x, values, key, winners: backends.NUMPY.put(x, values, key),
)


def _push_set(xp: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Return the tangent of x with that of the values at the key.

    Where several values are at one place, the last one's tangent is there, as the value is; the
    rules, transposed, would add them up, as without `winners` they give each the cotangent.
    """
    moving: dict[int, Any] = {}
    key: Any = None
    for _, argument, values, t in edges:
        moving[argument] = t.todense(xp) if type(t) is Block else t
        key = values[0 if argument else 1]
    if 1 not in moving or not has_arrays(key):
        return NotImplemented
    x = moving[0] if 0 in moving else zeros_for(xp, node, moving[1])
    return batching.call(xp, "put", x, moving[1], key=key)


def zeros_for(xp: Any, node: Node, tangent: Any) -> Any:
    """Return zeros in the shape of an entry, of the kind of a tangent."""
    plain = backends.namespace_of(getattr(tangent, "_raw", tangent))
    zeros = plain.zeros(node.shape, dtype=node.dtype)
    return wrap(zeros) if type(tangent) is Tensor else zeros


_set.op.push = _push_set  # type: ignore[attr-defined]
_add = special(
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


def _extreme(name: str, ufunc: np.ufunc) -> Callable[..., Any]:
    """Declare x with the larger (or smaller) of each element and all its values.

    Of elements and values that tie at a place, each has an even share of the derivative.
    """

    def on_numpy(x: np.ndarray, values: np.ndarray, key: Any) -> np.ndarray:
        out = np.array(x, order="C")
        with np.errstate(invalid="ignore"):  # maximum.at warns of NaN, as maximum does not
            ufunc.at(out, key, values)
        return out

    def share(xp: Any, won: Any, x: Any, values: Any, y: Any, key: Any) -> Any:
        """Return the share of what won at each place, among x and its values there."""
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
        compute=lambda xp, x, values, key: on_host(
            xp, lambda x, values: on_numpy(x, values, key), x, values
        ),
        batch=_update_examples,
        samples=[sample(*s.shapes, key=s.params["key"]) for s in _KEYS],
        kinds="f",
        reference=on_numpy,
    )


_max = _extreme("at_max", np.maximum)
_min = _extreme("at_min", np.minimum)


for _update in (_set, _add):
    _op = _update.op  # type: ignore[attr-defined]
    _op.pull_block = partial(pull_with_mask, _op.pull_block)


def put(x: Any, values: Any, *, key: tuple[Any, ...]) -> Any:
    """Return x with `values` at a parsed key; of duplicates, the last one stays."""
    return _set(x, values, key=key, winners=_winners(key, x.shape))


def put_add(x: Any, values: Any, *, key: tuple[Any, ...]) -> Any:
    """Return x with `values` added at a parsed key; duplicates add up."""
    return _add(x, values, key=key)


def _places(key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Return the flat place of each selected element, as a raw array; None if no two are one."""
    if not has_arrays(key):
        return None
    places = index(wrap(np.arange(math.prod(shape)).reshape(shape)), key=key)._raw
    flat = np.sort(apart(places, math.prod(shape)), axis=None)
    return places if (flat[1:] == flat[:-1]).any() else None


def _rounds(places: Any, size: int) -> Any:
    """Return for each of the places how often it was selected before, as a raw array."""
    flat = apart(places, size)
    order = np.argsort(flat, axis=None, kind="stable")
    ranked = flat.reshape(-1)[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    before = np.arange(ranked.size) - np.repeat(starts, np.diff(np.r_[starts, ranked.size]))
    rounds = np.empty(ranked.size, int)
    rounds[order] = before
    return batching.rebatched(rounds.reshape(flat.shape), places)


def _winners(key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Return which of the selected elements is the last of its place; None if all are."""
    places = _places(key, shape)
    if places is None:
        return None
    flat = apart(places, math.prod(shape))
    numbers = np.arange(flat.size).reshape(flat.shape)
    last = np.empty(int(flat.max()) + 1, int)
    last[flat.reshape(-1)] = numbers.reshape(-1)
    return batching.rebatched(last[flat] == numbers, places)


class At:
    """What `x.at` is: index it to get a `Selection`."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, key: Any) -> Selection:
        return Selection(self._owner, key)


class Selection:
    """The elements x[key], to read or to replace in a new tensor.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.zeros(4)
    >>> x.at[1].set(5.0)
    Tensor([0., 5., 0., 0.], dtype=float64)
    >>> x.at[wg.asarray([0, 0, 2])].add(1.0)
    Tensor([2., 0., 1., 0.], dtype=float64)
    """

    __slots__ = ("_key", "_owner", "_parts", "_x")

    def __init__(self, owner: Any, key: Any) -> None:
        self._owner = owner  # a tensor or a variable
        self._x = shapes.tensor(owner, "at[...]")
        self._key = key
        self._parts = parse_key(key, self._x.shape).parts

    def __wengert_selection__(self) -> tuple[Any, Selected]:
        """Return the tensor and which of its elements, for a gradient of or by them."""
        return self._owner, Selected(self._key, self._x.shape)

    def _assigned(self, values: Any) -> Any:
        """Have a variable hold `values` at the key, and return this; of a tensor, a new one."""
        if self._owner is self._x:
            return self.set(values)
        self._owner[self._parts] = values
        return Selection(self._owner, self._key)

    def get(self) -> Any:
        """Return x[key]."""
        return getitem(self._x, self._key)

    def _values(self, values: Any) -> Any:
        """Return values with the shape of the selection and the dtype of x."""
        shape = selected_shape(self._parts, self._x.shape)
        values = self._in_dtype(values)
        try:
            return shapes.broadcast_to(values, shape)
        except ShapeError as error:
            raise ShapeError(
                f"at[...]: values of shape {values.shape} for a selection of shape {shape} "
                f"of an array of shape {self._x.shape}"
            ) from error

    def _in_dtype(self, values: Any) -> Any:
        """Return values as a tensor of x's library and dtype, if that can hold them."""
        x = self._x
        number = type(values) in SCALARS
        if not number:
            values = shapes.tensor(values, "at[...]")
        given = np.asarray(values).dtype if number else values.dtype
        if backends.loses(given, x.dtype):
            raise DtypeError(
                f"at[...]: values of {given} for an array of {x.dtype}, which cannot hold them; "
                "write wg.astype(x, dtype).at[...], or wg.real(values)"
            )
        if number:
            return wrap(backends.namespace_of(x._raw).asarray(values, dtype=x.dtype))
        return values if values.dtype == x.dtype else elementwise.astype(values, x.dtype)

    def set(self, values: Any) -> Any:
        """Return x with these elements replaced; of duplicates in the key, the last one stays."""
        return put(self._x, self._values(values), key=self._parts)

    def add(self, values: Any) -> Any:
        """Return x with values added; duplicates in the key add up."""
        return put_add(self._x, self._values(values), key=self._parts)

    def subtract(self, values: Any) -> Any:
        """Return x with values subtracted; duplicates in the key add up."""
        return put_add(self._x, elementwise.negative(self._values(values)), key=self._parts)

    def multiply(self, values: Any) -> Any:
        """Return x with these elements multiplied, by all their values if there are duplicates.

        The derivative exists also where values are 0.
        """
        x, values = self._x, self._values(values)
        places = _places(self._parts, x.shape)
        if places is None:
            return put(x, elementwise.multiply(self.get(), values), key=self._parts)
        ids = shapes.reshape(wrap(places), (-1,))
        factors = segment_prod(shapes.reshape(values, (-1,)), ids, num_segments=x.size)
        return elementwise.multiply(x, shapes.reshape(factors, x.shape))

    def divide(self, values: Any) -> Any:
        """Return x with these elements divided; duplicates in the key divide in turn."""
        if not backends.is_inexact(self._x.dtype):
            raise DtypeError(
                f"at[...].divide: an array of {self._x.dtype} cannot hold quotients; write "
                "wg.astype(x, wg.float64).at[...].divide(values)"
            )
        return self._combine(elementwise.divide, values)

    def power(self, values: Any) -> Any:
        """Return x with these elements raised to a power; duplicates in the key take turns."""
        return self._combine(elementwise.pow_, values)

    def min(self, values: Any) -> Any:
        """Return x with the smaller of each element and its values; ties share evenly."""
        return _min(self._x, self._values(values), key=self._parts)

    def max(self, values: Any) -> Any:
        """Return x with the larger of each element and its values; ties share evenly."""
        return _max(self._x, self._values(values), key=self._parts)

    def _combine(self, function: Callable[[Any, Any], Any], values: Any) -> Any:
        """Return x with function(element, value) at the key; duplicates take turns."""
        values = self._values(values)
        places = _places(self._parts, self._x.shape)
        if places is None:
            return put(self._x, function(self.get(), values), key=self._parts)
        x = self._x
        rounds = _rounds(places, x.size)
        if type(rounds) is Batched:
            return self._combine_examples(function, values, rounds)
        grids = np.indices(x.shape)
        axes = [grid[self._parts] for grid in grids]
        for turn in range(int(rounds.max()) + 1):
            now = rounds == turn
            key = tuple(places[now] for places in axes)
            x = put(x, function(getitem(x, key), getitem(values, now)), key=key)
        return x

    def _combine_examples(
        self, function: Callable[[Any, Any], Any], values: Any, rounds: Batched
    ) -> Any:
        """Return the same where other elements have their turn in other examples."""
        x, where = self._x, elementwise.where
        for turn in range(int(batching.all_values(rounds).max()) + 1):
            now = like(batching.rebatched(batching.all_values(rounds) == turn, rounds), x)
            there = put_add(zeros_like(x), now, key=self._parts) != 0
            mine = put_add(zeros_like(x), where(now != 0, values, 0), key=self._parts)
            x = where(there, function(x, where(there, mine, 1)), x)
        return x

    def __repr__(self) -> str:
        return f"{self._x!r}.at[{self._key!r}]"
