"""Reading elements: x[key] in every form, take, and take_along_axis.

A key of integers, slices, Ellipsis and newaxis selects a hyper-rectangle, so the
derivative of x[key] is a Block. Index arrays and masks gather, and their derivative
scatters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block, Region, selected, sizes, whole
from wengert.engine.errors import ShapeError
from wengert.engine.tensor import Tensor
from wengert.ops import shapes
from wengert.ops.families import linear, one_axis, position_map, sample


class Key(NamedTuple):
    """An index expression with one part for each axis of an array, and newaxes.

    Parts are int, slice, None or an array of integers. `basic` says there is no array.
    """

    parts: tuple[Any, ...]
    basic: bool


def parse_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Return an index expression for an array of `shape` in one form."""
    given = [_part(p) for p in (key if isinstance(key, tuple) else (key,))]
    used = 0
    for part in given:
        if isinstance(part, np.ndarray) and part.dtype == bool:
            used += part.ndim
        elif part is not None and part is not Ellipsis:
            used += 1
    dots = [i for i, p in enumerate(given) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index may have one ellipsis ('...')")
    if used > len(shape):
        raise IndexError(f"{used} indices for an array of shape {shape}")
    at = dots[0] if dots else len(given)
    given[at : at + 1] = [slice(None)] * (len(shape) - used)
    parts: list[Any] = []
    axis = 0
    for part in given:
        if part is None:
            parts.append(None)
        elif isinstance(part, np.ndarray) and part.dtype == bool:
            lengths = shape[axis : axis + part.ndim]
            if any(m not in (n, 0) for m, n in zip(part.shape, lengths, strict=True)):
                raise IndexError(
                    f"a mask of shape {part.shape} at axis {axis} of an array of shape {shape}; "
                    f"its shape must be {lengths}"
                )
            parts.extend(part.nonzero())
            axis += part.ndim
        else:
            parts.append(_checked(part, axis, shape))
            axis += 1
    return Key(tuple(parts), not any(isinstance(p, np.ndarray) for p in parts))


def _part(part: Any) -> Any:
    """Return one part of a key as int, slice, None, Ellipsis or a NumPy array."""
    if part is None or part is Ellipsis or type(part) is int:
        return part
    if isinstance(part, slice):
        return slice(*(None if v is None else int(v) for v in (part.start, part.stop, part.step)))
    if type(part) is Tensor:
        part = part.numpy()
    array = np.asarray(part) if not isinstance(part, (list, tuple)) or part else np.zeros(0, int)
    if array.dtype.kind == "b":
        if array.ndim == 0:
            raise IndexError("a mask without axes inside an index; write x[None][mask[None]]")
        return array
    if array.dtype.kind not in "iu":
        raise IndexError(
            f"{part!r} is not an index; expected integers, slices, ..., None, or arrays of "
            "integers or booleans"
        )
    return int(array) if array.ndim == 0 else array.astype(np.intp, copy=True)


def _checked(part: Any, axis: int, shape: tuple[int, ...]) -> Any:
    n = shape[axis]
    if isinstance(part, slice):
        return _inside(part, n)
    if isinstance(part, int):
        low = high = part
    else:
        low = np.minimum.reduce(part, axis=None, initial=0)
        high = np.maximum.reduce(part, axis=None, initial=-1)
    if low < -n or high >= n:
        wrong = low if low < -n else high
        raise IndexError(f"index {wrong} is out of range for axis {axis} of shape {shape}")
    if isinstance(part, int):
        return part % n
    return part if low >= 0 else np.where(part < 0, part + n, part)


def _inside(part: slice, n: int) -> slice:
    """Return the same slice of n places with its ends among them, as not every library does."""
    if part == slice(None):
        return part
    r = range(n)[part]
    return slice(r.start, r.stop if r.stop >= 0 else None, r.step) if r else slice(0, 0)


# -- basic keys ---------------------------------------------------------------------------


def _rectangle(parts: tuple[Any, ...], shape: tuple[int, ...]) -> Region:
    real = [p for p in parts if p is not None]
    return tuple(
        range(n)[p] if isinstance(p, slice) else range(p, p + 1)
        for p, n in zip(real, shape, strict=True)
    )


def _slice_block(xp: Any, g: Block, x_shape: Any, parts: Any) -> Block:
    """Return the block of x that a block of x[parts] is."""
    region = []
    outer = iter(g.region)
    lengths = iter(x_shape)
    for part in parts:
        if part is None:
            next(outer)
            continue
        n = next(lengths)
        if not isinstance(part, slice):
            region.append(range(part, part + 1))
            continue
        mine, r = range(n)[part], next(outer)
        if type(r) is not range:
            region.append(mine.start + r * mine.step)
            continue
        step = mine.step * r.step
        start = mine.start + r.start * mine.step
        region.append(range(start, start + len(r) * step, step))
    return Block(x_shape, tuple(region), xp.reshape(g.values, sizes(tuple(region))))


def _slice_reached(region: Region, shape: Any, x_shape: Any, parts: Any) -> Region | None:
    """Return where the elements of a region, of ranges without steps, are in x[parts]."""
    found: list[range] = []
    mine = iter(zip(region, x_shape, strict=True))
    for part in parts:
        if part is None:
            found.append(range(1))
            continue
        r, n = next(mine)
        taken = range(n)[part] if isinstance(part, slice) else range(part, part + 1)
        if len(taken) > 1 and taken.step == 1:
            low, high = max(r.start, taken.start), min(r.stop, taken.stop)
            here = range(low - taken.start, max(low, high) - taken.start)
        elif len(taken) > 1:
            here = range(len(taken))
        else:
            here = range(int(len(taken) > 0 and taken[0] in r))
        if isinstance(part, slice):
            found.append(here)
        elif not here:
            return (range(0),) * len(shape)
    return tuple(found)


def _slice_transpose(xp: Any, g: Any, x_shape: Any, parts: Any) -> Block:
    region = _rectangle(parts, x_shape)
    return Block(x_shape, region, xp.reshape(g, tuple(map(len, region))))


_slice = position_map(
    "slice",
    _slice_transpose,
    params=("parts",),
    compute=lambda xp, x, parts: x[parts],
    block=_slice_block,
    reached=_slice_reached,
    takes_rows=True,
    samples=[
        sample((3, 4), parts=(1, 2)),
        sample((3, 4), parts=(slice(None, None, -1), slice(1, 4, 2))),
        sample((3, 4), parts=(None, 0, slice(None))),
        sample((4,), parts=(slice(3, 0, -2),)),
        sample((2, 3), parts=(slice(0, 0), slice(None))),
    ],
    reference=lambda x, parts: x[parts],
    doc="Return the hyper-rectangle that integers, slices and newaxes select.",
)

# -- index arrays -------------------------------------------------------------------------

_KEYS = [
    sample((3, 4), key=(np.array([0, 2, 0]), slice(None))),
    sample((3, 4), key=(np.array([[0], [2]]), np.array([1, 3]))),
    sample((2, 3, 4), key=(np.array([1, 0]), slice(None), np.array([0, 3]))),
    sample((3,), key=(np.zeros(0, int),)),
]


def _index_transpose(xp: Any, g: Any, x_shape: Any, key: Any) -> Any:
    """Return g where x[key] has its elements from: rows of x, or an array with a mask."""
    key = (*key, *[slice(None)] * (len(x_shape) - sum(part is not None for part in key)))
    lists = [part for part in key if not isinstance(part, slice)]
    if len(lists) == 1 and getattr(lists[0], "ndim", 0) == 1:
        region = tuple(
            range(n)[part] if isinstance(part, slice) else part
            for part, n in zip(key, x_shape, strict=True)
        )
        block = Block(x_shape, region, g)
        return block if len(lists[0]) < x_shape[block.rows or 0] else block.ranged(xp)

    def mask() -> np.ndarray:
        found = np.zeros(x_shape, bool)
        found[key] = True
        return found

    return Block(x_shape, whole(x_shape), xp.scatter(g, shape=x_shape, key=key), mask)


index = position_map(
    "index",
    _index_transpose,
    params=("key",),
    compute=lambda xp, x, key: xp.index(x, key),
    samples=_KEYS,
    reference=lambda x, key: x[key],
    doc="Return x[key] for a key with index arrays.",
)
scatter = linear(
    "scatter",
    lambda xp, g, key: xp.index(g, key=key),
    args=("values",),
    params=("shape", "key"),
    compute=lambda xp, values, shape, key: xp.scatter(values, shape, key),
    samples=[sample((3,), shape=(4,), key=(np.array([0, 2, 0]),))],
    reference=lambda values, shape, key: backends.NUMPY.scatter(values, shape, key),
    doc="Return zeros of `shape` with `values` added at `key`; duplicates add up.",
)


def _integers_and_slices(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Return the parts of a key in its usual form, quickly; None for all that needs a look."""
    given = key if type(key) is tuple else (key,)
    if len(given) > len(shape):
        return None
    parts: list[Any] = []
    for part, n in zip(given, shape, strict=False):
        if type(part) is int and -n <= part < n:
            parts.append(part if part >= 0 else part + n)
        elif type(part) is slice:
            parts.append(_inside(part, n))
        else:
            return None
    return (*parts, *[slice(None)] * (len(shape) - len(given)))


def is_scalar_mask(key: Any) -> bool:
    """Return whether a key is True or False, or an array of one of them without axes."""
    return isinstance(key, (bool, np.bool_)) or (
        getattr(key, "shape", None) == () and backends.kind_of(key.dtype) == "b"
    )


def getitem(x: Any, key: Any) -> Any:
    """Return x[key], for any key that NumPy takes."""
    x = shapes.tensor(x, "x[...]")
    usual = _integers_and_slices(key, x.shape)
    if usual is not None:
        return _slice(x, parts=usual)
    if is_scalar_mask(key):
        x, key = shapes.expand_dims(x, axis=0), slice(0, int(bool(key)))
    parts, basic = parse_key(key, x.shape)
    return _slice(x, parts=parts) if basic else index(x, key=parts)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return the elements at `indices` along one axis; of the flat array if `axis` is None."""
    x = shapes.tensor(x, "take")
    if axis is None:
        if x.ndim != 1:
            x = shapes.reshape(x, (-1,))
        axis = 0
    axis = one_axis(axis, x.ndim, "take")
    where = _integers(indices, "take")
    return getitem(x, (*[slice(None)] * axis, where))


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Return the elements at `indices`, an array that matches x along the other axes."""
    x = shapes.tensor(x, "take_along_axis")
    axis = one_axis(axis, x.ndim, "take_along_axis")
    where = _integers(indices, "take_along_axis")
    if where.ndim != x.ndim:
        raise ShapeError(f"take_along_axis: indices of shape {where.shape} for shape {x.shape}")
    shape = shapes.broadcast_shapes(
        *((*s[:axis], 1, *s[axis + 1 :]) for s in (x.shape, where.shape))
    )
    x = shapes.broadcast_to(x, (*shape[:axis], x.shape[axis], *shape[axis + 1 :]))
    key: list[Any] = list(np.ogrid[tuple(map(slice, (*shape[:axis], 1, *shape[axis + 1 :])))])
    key[axis] = where
    return getitem(x, tuple(key))


def _integers(indices: Any, name: str) -> np.ndarray:
    where = np.asarray(shapes.tensor(indices, name).numpy())
    if where.dtype.kind not in "iu":
        raise TypeError(f"{name}: indices have dtype {where.dtype}; expected integers")
    return where


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the parts of x along one axis, which they lack."""
    x = shapes.tensor(x, "unstack")
    axis = one_axis(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(getitem(x, (*before, i)) for i in range(x.shape[axis]))


# -- selections -----------------------------------------------------------------------------


class Selected:
    """The elements x[key] of an array of some shape, as a gradient is asked for."""

    def __init__(self, key: Any, shape: tuple[int, ...]) -> None:
        self._parts, self._basic = parse_key(key, shape)
        self._whole = shape
        places = np.broadcast_to(np.empty((), bool), shape)
        self.shape: tuple[int, ...] = places[self._parts].shape

    @property
    def region(self) -> Region:
        """The smallest ranges around the elements."""
        real = [p for p in self._parts if p is not None]
        return tuple(_around(p, n) for p, n in zip(real, self._whole, strict=True))

    def embed(self, xp: Any, g: Any) -> Block:
        """Return the cotangent of x for that of x[key]."""
        if self._basic:
            return _slice_transpose(xp, g, self._whole, self._parts)
        return _index_transpose(xp, g, self._whole, self._parts)

    def pick(self, xp: Any, g: Any) -> Any:
        """Return g[key], at the cost of what is asked for and what there is."""
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
    return range(int(part.min()), int(part.max()) + 1) if part.size else range(0)
