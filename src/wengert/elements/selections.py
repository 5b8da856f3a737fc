"""Selections: the elements x[key] as something to differentiate, to read or to replace.

`x.at[key]` is a target or a source of a gradient, which then costs only what lies between the two,
and `x.at[key].set(v)` is a new tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.cotangents import Block, selected
from wengert.engine.op import LEAF
from wengert.engine.record import SCALARS, check_together
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError
from wengert.ops import batching, elementwise, shapes
from wengert.ops.checks import like
from wengert.ops.creation import zeros_like
from wengert.ops.indexing import (
    Key,
    getitem,
    index_transpose,
    is_scalar_mask,
    parse_key,
    selected_shape,
    slice_transpose,
)
from wengert.ops.segments import segment_prod
from wengert.ops.updates import (
    maximum_at,
    minimum_at,
    put,
    put_add,
    repeated_positions,
    times_before,
)
from wengert.ops.variable import VARIABLE, Variable
from wengert.regions import Region


class Selected:
    """The elements x[key] of an array of some shape, as a gradient is asked for."""

    def __init__(self, key: Any, shape: tuple[int, ...]) -> None:
        self._parts, self._basic = key if type(key) is Key else parse_key(key, shape)
        self._whole = shape
        self.shape: tuple[int, ...] = selected_shape(self._parts, shape)

    @property
    def region(self) -> Region:
        """The smallest ranges around the elements."""
        real = [p for p in self._parts if p is not None]
        return tuple(_around(p, n) for p, n in zip(real, self._whole, strict=True))

    def embed(self, xp: Any, g: Any) -> Block:
        """Return the cotangent of x for that of x[key]."""
        if self._basic:
            return slice_transpose(xp, g, self._whole, self._parts)
        return index_transpose(xp, g, self._whole, self._parts)

    def pick(self, xp: Any, g: Any) -> Any:
        """Return g[key], reading only the part of a Block that overlaps it."""
        region = self.region
        box = selected(xp, g, region)
        offsets = iter(region)
        key: list[Any] = []
        for part in self._parts:
            if part is None:
                key.append(None)
            elif isinstance(part, slice):
                next(offsets)  # its first or last element is the box's
                key.append(slice(None, None, part.step))
            elif type(part) is Batched:
                next(offsets)  # the box is whole along this axis
                key.append(part)
            else:
                key.append(part - next(offsets).start)
        return getitem(box, tuple(key))


def _around(part: Any, n: int) -> range:
    """Return the range of positions from the first to the last that a part of a key selects."""
    if isinstance(part, slice):
        r = range(n)[part]
        return range(min(r[0], r[-1]), max(r[0], r[-1]) + 1) if r else range(0)
    if isinstance(part, int):
        return range(part, part + 1)
    if type(part) is Batched:
        return range(n)
    return range(int(part.min()), int(part.max()) + 1) if part.size else range(0)


class At:
    """The attribute `x.at`, which is indexed to get a `Selection`."""

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
    >>> wg.grad(lambda v: wg.sum(x.at[1].set(v) ** 2))(3.0)
    np.float64(6.0)
    """

    __slots__ = ("_key", "_owner", "_parsed")

    def __init__(self, owner: Any, key: Any) -> None:
        self._owner = owner  # a tensor or a variable
        self._key = key
        self._parsed = parse_key(key, self._x.shape)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self._parsed.parts

    @property
    def _x(self) -> Tensor:
        """The tensor that the elements are of; of a variable, its current value."""
        return shapes.tensor(self._owner, "at[...]")

    def __wengert_selection__(self) -> tuple[Any, Selected]:
        """Return the tensor and which of its elements, for a gradient of or by them."""
        return self._owner, Selected(self._parsed, self._x.shape)

    def _assigned(self, values: Any) -> Any:
        """Have a variable hold `values` at the key, and return this; of a tensor, a new one."""
        if self._owner is self._x:
            return self.set(values)
        self._owner[self._parts] = values
        return Selection(self._owner, self._key)

    def _variable(self, method: str, instead: str) -> Any:
        """Return the variable that the elements are of; raise TypeError for those of a tensor."""
        if self._owner is self._x:
            raise TypeError(
                f"at[...].{method}: a tensor does not change; write "
                f"x = x.at[...].{instead}(values), or make x a wg.Variable"
            )
        return self._owner

    def assign(self, values: Any) -> Any:
        """Replace these elements of a variable, and return the variable.

        `wg.Variable([1.0, 2.0]).at[1].assign(5.0)` holds `[1.0, 5.0]`; `set` returns a tensor and
        leaves the variable as it is.
        """
        return self._variable("assign", "set").assign(self.set(values))

    def assign_add(self, values: Any) -> Any:
        """Add values to these elements of a variable, and return the variable."""
        return self._variable("assign_add", "add").assign(self.add(values))

    def assign_sub(self, values: Any) -> Any:
        """Subtract values from these elements of a variable, and return the variable."""
        return self._variable("assign_sub", "subtract").assign(self.subtract(values))

    def get(self) -> Tensor:
        """Return x[key].

        `wg.asarray([1.0, 2.0]).at[1].get()` is `2.0`.
        """
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
            is_array = type(values) is Tensor or backends.namespace_of(values) is not None
            values = shapes.tensor(values, "at[...]")
            if is_array:
                check_together("at[...]", x, values)
            elif not backends.loses(values.dtype, x.dtype):
                values = like(values._raw, x)
        given = np.asarray(values).dtype if number else values.dtype
        if backends.loses(given, x.dtype):
            raise DtypeError(
                f"at[...]: values of {given} for an array of {x.dtype}, which cannot hold them; "
                "write wg.astype(x, dtype).at[...], or wg.real(values)"
            )
        if number:
            return wrap(backends.namespace_of(x._raw).asarray(values, dtype=x.dtype))
        return values if values.dtype == x.dtype else elementwise.astype(values, x.dtype)

    def set(self, values: Any) -> Tensor:
        """Return x with these elements replaced; of duplicates in the key, the last one stays.

        `wg.zeros(2).at[1].set(5.0)` is `[0.0, 5.0]`.
        """
        return put(self._x, self._values(values), key=self._parts)

    def add(self, values: Any) -> Tensor:
        """Return x with values added; duplicates in the key add up.

        `wg.ones(2).at[1].add(5.0)` is `[1.0, 6.0]`.
        """
        return put_add(self._x, self._values(values), key=self._parts)

    def subtract(self, values: Any) -> Tensor:
        """Return x with values subtracted; duplicates in the key add up.

        `wg.ones(2).at[1].subtract(5.0)` is `[1.0, -4.0]`.
        """
        return put_add(self._x, elementwise.negative(self._values(values)), key=self._parts)

    def multiply(self, values: Any) -> Tensor:
        """Return x with these elements multiplied, by all their values if there are duplicates.

        The derivative exists also where values are 0.

        `wg.ones(2).at[1].multiply(5.0)` is `[1.0, 5.0]`.
        """
        x, values = self._x, self._values(values)
        positions = repeated_positions(self._parts, x.shape)
        if positions is None:
            return put(x, elementwise.multiply(self.get(), values), key=self._parts)
        ids = shapes.reshape(wrap(positions), (-1,))
        factors = segment_prod(shapes.reshape(values, (-1,)), ids, num_segments=x.size)
        return elementwise.multiply(x, shapes.reshape(factors, x.shape))

    def divide(self, values: Any) -> Tensor:
        """Return x with these elements divided; duplicates in the key divide in turn.

        `wg.ones(2).at[1].divide(4.0)` is `[1.0, 0.25]`.
        """
        if not backends.is_inexact(self._x.dtype):
            raise DtypeError(
                f"at[...].divide: an array of {self._x.dtype} cannot hold quotients; write "
                "wg.astype(x, wg.float64).at[...].divide(values)"
            )
        return self._combine(elementwise.divide, values)

    def power(self, values: Any) -> Tensor:
        """Return x with these elements raised to a power; duplicates in the key take turns.

        `wg.asarray([2.0, 3.0]).at[1].power(2.0)` is `[2.0, 9.0]`.
        """
        return self._combine(elementwise.pow_, values)

    def min(self, values: Any) -> Tensor:
        """Return x with the smaller of each element and its values; ties share evenly.

        `wg.ones(2).at[1].min(-5.0)` is `[1.0, -5.0]`.
        """
        return minimum_at(self._x, self._values(values), key=self._parts)

    def max(self, values: Any) -> Tensor:
        """Return x with the larger of each element and its values; ties share evenly.

        `wg.ones(2).at[1].max(5.0)` is `[1.0, 5.0]`.
        """
        return maximum_at(self._x, self._values(values), key=self._parts)

    def _combine(self, function: Callable[[Any, Any], Any], values: Any) -> Any:
        """Return x with function(element, value) at the key; duplicates take turns."""
        values = self._values(values)
        positions = repeated_positions(self._parts, self._x.shape)
        if positions is None:
            return put(self._x, function(self.get(), values), key=self._parts)
        x = self._x
        rounds = times_before(positions, x.size)
        if type(rounds) is Batched:
            return self._combine_examples(function, values, rounds)
        grids = np.indices(x.shape)
        axes = [grid[self._parts] for grid in grids]
        for turn in range(int(rounds.max()) + 1):
            now = rounds == turn
            key = tuple(positions[now] for positions in axes)
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


# -- x[key] = value -------------------------------------------------------------------------


def _holders(view: np.ndarray) -> int:
    return sys.getrefcount(view.base)


#: What `_holders` says of a view into memory that nothing else refers to.
_ONE_HOLDER = _holders(np.empty(1)[:])


def _is_part(raw: Any) -> bool:
    """Whether an array is a view into memory that something else refers to, as far as is known."""
    while type(raw) is Batched:
        raw = raw.values._raw
    if type(raw) is np.ndarray:
        return raw.base is not None and _holders(raw) > _ONE_HOLDER
    inside = getattr(raw, "_array", None)  # array-api-strict's
    base = inside.base if isinstance(inside, np.ndarray) else getattr(raw, "_base", None)
    return base is not None


def _set_item(self: Tensor, key: Any, value: Any) -> None:
    """Have x be ``x.at[key].set(value)``: no array is written to, and derivatives follow.

    Inside of vmap, a tensor that was the same for all examples may become one that differs.
    """
    node, raw = self._node, self._raw
    if node is not None and node.op is LEAF and any(token.alive for token in node.tokens):
        raise TypeError(
            "x[key] = value: a tape watches x, and the gradient is with respect to what x was; "
            "write y = x.copy() and assign to y, or y = x.at[key].set(value)"
        )
    if node is not None and node.op is VARIABLE:
        raise TypeError(
            "x[key] = value: x is the value of a variable; write v[key] = value to change that, or "
            "assign to x.copy()"
        )
    if _is_part(raw):
        raise TypeError(
            "x[key] = value: x is a part of another tensor, which the assignment would not reach; "
            "write a[part][key] = value as a[part, key] = value, or assign to x.copy()"
        )
    if is_scalar_mask(key):
        one_more = shapes.expand_dims(self, axis=0)
        new = shapes.squeeze(At(one_more)[: int(bool(key))].set(value), axis=0)
    else:
        new = At(self)[key].set(value)
    self._raw, self._node = new._raw, new._node


def install() -> None:
    """Give Tensor and Variable their `at`, and Tensor its assignment."""
    for cls in (Tensor, Variable):
        cls.at = property(At)
    Tensor.__setitem__ = _set_item  # type: ignore[index]
