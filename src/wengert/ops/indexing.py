"""Reading elements: x[key] in every form, take, and take_along_axis.

A key of integers, slices, Ellipsis and newaxis selects a hyper-rectangle, so the
derivative of x[key] is a Block. Index arrays and masks gather, and their derivative
scatters. Inside of `vmap`, integers and index arrays may differ between examples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.cotangents import Block
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import batching, joining, shapes
from wengert.ops.batching import innermost, is_visible, on_device
from wengert.ops.families import linear, one_axis, position_map, sample
from wengert.ops.positions import sliced
from wengert.regions import Region, sizes, whole


class Key(NamedTuple):
    """An index expression with one part for each axis of an array, and newaxes.

    Parts are int, slice, None, an array of integers, or such an array for each of the examples of
    a `vmap`. `basic` says there is no array.
    """

    parts: tuple[Any, ...]
    basic: bool


def parse_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Return an index expression for an array of `shape` in one form."""
    if (element := _element(key, shape)) is not None:
        return Key(element, True)
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
    apart = bool(dots) and used == len(shape) and _is_between_arrays(given, at)
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
    if apart:
        parts = _arrays_first(parts, shape)
    return Key(tuple(parts), not has_arrays(parts))


def _element(key: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the position of an element that a key of integers selects; None for other keys."""
    given = key if type(key) is tuple else (key,)
    if len(given) != len(shape):
        return None
    for part, n in zip(given, shape, strict=True):
        if type(part) is not int or not -n <= part < n:
            return None
    return tuple([part % n for part, n in zip(given, shape, strict=True)])


def _is_between_arrays(given: list[Any], at: int) -> bool:
    """Return whether an ellipsis stands between index arrays, or between one and an integer.

    Such indices are no neighbours to NumPy, even if the ellipsis stands for no axis.
    """
    before, after = (any(map(_is_array_or_int, side)) for side in (given[:at], given[at + 1 :]))
    return before and after and has_arrays(given)


def _is_array_or_int(part: Any) -> bool:
    return part is not None and not isinstance(part, slice)


def _arrays_first(parts: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return a key of index arrays alone that selects what arrays that are no neighbours do.

    NumPy has the axes of such arrays before those of slices and newaxes.
    """
    kept = [i for i, part in enumerate(parts) if not _is_array_or_int(part)]
    found: list[Any] = []
    axis = 0
    for i, part in enumerate(parts):
        if part is None:
            continue
        if isinstance(part, slice):
            after = len(kept) - kept.index(i) - 1
            found.append(np.arange(shape[axis])[part].reshape(-1, *(1,) * after))
        elif type(part) is int:
            found.append(np.full((1,) * len(kept), part))
        else:
            lengths = (*part.shape, *(1,) * len(kept))
            found.append(shapes.reshape(wrap(part), lengths)._raw)
        axis += 1
    return found


def has_arrays(parts: Any) -> bool:
    """Return whether there is an index array among the parts of a key."""
    return any(
        part is not None and part is not Ellipsis and not isinstance(part, (int, slice))
        for part in parts
    )


def selected_shape(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of x[parts], of one example, for an x of `shape`."""
    if all(type(p) is int for p in parts):
        return ()
    usual = int, slice, type(None), np.ndarray
    one = [p if isinstance(p, usual) else np.zeros(p.shape, np.intp) for p in parts]
    return np.broadcast_to(np.empty((), bool), shape)[tuple(one)].shape


def _part(part: Any) -> Any:
    """Return one part of a key as int, slice, None, Ellipsis or a NumPy array.

    An array of integers on a device stays there.
    """
    if part is None or part is Ellipsis or type(part) is int:
        return part
    if isinstance(part, slice):
        return slice(*(None if v is None else int(v) for v in (part.start, part.stop, part.step)))
    if isinstance(part, list) and any(type(getattr(p, "_raw", None)) is Batched for p in part):
        part = joining.stack(part)
    if type(part) is Tensor:
        raw = part._raw
        part = raw if type(raw) is Batched or not is_visible(raw) else part.numpy()
    if not is_visible(part) and backends.kind_of(part.dtype) in "iu":
        return batching.rebatched(on_device(innermost(part)), part)
    if type(part) is Batched and backends.kind_of(part.dtype) != "b":
        if backends.kind_of(part.dtype) in "iu":
            positions = batching.all_values(part)
            known = positions.dtype == np.intp and type(part.values._raw) is np.ndarray
            return part if known else batching.rebatched(positions.astype(np.intp), part)
        raise IndexError(f"an array of {part.dtype} is not an index; expected integers")
    if not is_visible(part):
        part = backends.to_host(part, "an index of booleans, which decide on the result's shape,")
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
    if type(part) is not int and not is_visible(part):
        return part
    positions = batching.all_values(part) if type(part) is Batched else part
    if isinstance(part, int):
        low = high = part
    else:
        low = np.minimum.reduce(positions, axis=None, initial=0)
        high = np.maximum.reduce(positions, axis=None, initial=-1)
    if low < -n or high >= n:
        wrong = low if low < -n else high
        raise IndexError(f"index {wrong} is out of range for axis {axis} of shape {shape}")
    if isinstance(part, int):
        return part % n
    if low >= 0:
        return part
    return batching.rebatched(np.where(positions < 0, positions + n, positions), part)


def _inside(part: slice, n: int) -> slice:
    """Return the same slice of n positions with its ends among them, as not every library does."""
    start, stop = part.start, part.stop
    if (
        part.step is None
        and (start is None or (type(start) is int and start >= 0))
        and (stop is None or (type(stop) is int and (start or 0) < stop <= n))
        and (start is None or stop is not None)
    ):  # the usual case
        return part
    r = range(n)[part]
    return slice(r.start, r.stop if r.stop >= 0 else None, r.step) if r else slice(0, 0)


# -- basic keys ---------------------------------------------------------------------------


def _rectangle(parts: tuple[Any, ...], shape: tuple[int, ...]) -> Region:
    if None in parts:
        parts = tuple([p for p in parts if p is not None])
    pairs = zip(parts, shape, strict=True)
    return tuple([range(n)[p] if type(p) is slice else range(p, p + 1) for p, n in pairs])


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


def slice_transpose(xp: Any, g: Any, x_shape: Any, parts: Any) -> Block:
    """Return g on the rectangle that a slice was cut from."""
    region = _rectangle(parts, x_shape)
    return Block(x_shape, region, xp.reshape(g, tuple(map(len, region))))


_ALL = slice(None)
#: All of so many axes.
_ALL_OF = [(_ALL,) * count for count in range(65)]


slice_parts = position_map(
    "slice",
    slice_transpose,
    batch=batching.with_params(lambda _, p: {"parts": (_ALL, *p["parts"])}),
    params=("parts",),
    compute=lambda xp, x, parts: sliced(xp, x, parts),
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
slice_parts.op.numpy_function = lambda x, *, parts: x[parts]

# -- index arrays -------------------------------------------------------------------------

_KEYS = [
    sample((3, 4), key=(np.array([0, 2, 0]), slice(None))),
    sample((3, 4), key=(np.array([[0], [2]]), np.array([1, 3]))),
    sample((2, 3, 4), key=(np.array([1, 0]), slice(None), np.array([0, 3]))),
    sample((3,), key=(np.zeros(0, int),)),
]


class Layout(NamedTuple):
    """How a key selects of the arrays of all examples at once: see `over_examples`."""

    key: tuple[Any, ...]
    #: the axes of the selection that NumPy has elsewhere, and where they belong
    there: tuple[int, ...]
    here: tuple[int, ...]

    def ours(self, selection: Tensor) -> Tensor:
        """Return a selection with the axis of examples first, and each in its usual order."""
        return shapes.moveaxis(selection, self.there, self.here) if self.here else selection

    def numpys(self, values: Tensor) -> Tensor:
        """Return values for a selection in the order of axes that NumPy has."""
        return shapes.moveaxis(values, self.here, self.there) if self.here else values


def over_examples(key: tuple[Any, ...], level: Level) -> Layout:
    """Return the key that selects of arrays with a first axis of examples what `key` does of each.

    NumPy has the axes of index arrays first, unless the arrays are neighbours in the key. Arrays
    that differ between examples go with an array that counts those, so theirs are always first.
    """
    count, position, neighbours = _index_axes(key)
    if not any(type(part) is Batched and part.level is level for part in key):
        return Layout((_ALL, *key), () if neighbours else (count,), () if neighbours else (0,))
    numbers = np.arange(level.size)
    if count:
        numbers = numbers.reshape(-1, *(1,) * count)
    moved = tuple(range(1, 1 + count)) if position else ()
    return Layout(
        (numbers, *_lifted(key, level, count)), moved, tuple([axis + position for axis in moved])
    )


def _index_axes(key: tuple[Any, ...]) -> tuple[int, int, bool]:
    """Return how many axes the index arrays make, where, and if the arrays are neighbours."""
    count, first, last, arrays = 0, -1, -1, 0
    for i, part in enumerate(key):
        if part is not None and type(part) is not slice:
            first, last, arrays = i if first < 0 else first, i, arrays + 1
            if type(part) is not int and part.ndim > count:
                count = part.ndim
    neighbours = last - first < arrays
    return count, first if neighbours else 0, neighbours


def _lifted(key: tuple[Any, ...], level: Level, ndim: int) -> tuple[Any, ...]:
    """Return a key with its index arrays for all examples, whose axis is before `ndim` others."""
    found = list(key)
    for i, part in enumerate(key):
        if type(part) is Batched and part.level is level:
            values = part.values
            found[i] = (values if values.ndim > ndim else batching.widened(values, ndim))._raw
    return tuple(found)


def index_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the selection of all examples, each with its own index arrays if they differ."""
    (x,), key = arrays, params["key"]
    if mapped[0]:
        layout = over_examples(key, level)
        return layout.ours(apply(op, (x,), {"key": layout.key}))
    count, position, _ = _index_axes(key)
    y = apply(op, (x,), {"key": _lifted(key, level, count)})
    return shapes.moveaxis(y, position, 0) if position else y


def _scatter_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    layout = over_examples(params["key"], level)
    values = layout.numpys(batching.full(arrays[0], mapped[0], level))
    return apply(op, (values,), {"shape": (level.size, *params["shape"]), "key": layout.key})


def is_selected(key: tuple[Any, ...], shape: tuple[int, ...], part: Any) -> Any:
    """Return which elements of an array of `shape` a key selects; `part` is an array of those."""
    if all(isinstance(p, (int, slice, np.ndarray)) for p in key if p is not None):
        found = np.zeros(shape, bool)
        found[key] = True
        return found
    ones = Tensor._namespace.ones_like(part if type(part) is Tensor else wrap(part))
    return (scatter(ones, shape=shape, key=key) != 0)._raw


def index_transpose(xp: Any, g: Any, x_shape: Any, key: Any) -> Any:
    """Return g where x[key] has its elements from: rows of x, or an array with a mask."""
    key = (*key, *[slice(None)] * (len(x_shape) - sum(part is not None for part in key)))
    lists = [part for part in key if not isinstance(part, slice)]
    if len(lists) == 1 and isinstance(lists[0], np.ndarray) and lists[0].ndim == 1:
        region = tuple(
            range(n)[part] if isinstance(part, slice) else part
            for part, n in zip(key, x_shape, strict=True)
        )
        block = Block(x_shape, region, g)
        return block if len(lists[0]) < x_shape[block.rows or 0] else block.ranged(xp)

    values = batching.call(xp, "scatter", g, shape=x_shape, key=key)
    return Block(x_shape, whole(x_shape), values, lambda: is_selected(key, x_shape, g))


index = position_map(
    "index",
    index_transpose,
    params=("key",),
    batch=index_examples,
    samples=_KEYS,
    reference=lambda x, key: x[key],
    doc="Return x[key] for a key with index arrays.",
)
scatter = linear(
    "scatter",
    lambda xp, g, key: batching.call(xp, "index", g, key=key),
    batch=_scatter_examples,
    args=("values",),
    params=("shape", "key"),
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
    lengths = iter(shape)
    for part in given:
        n = next(lengths)
        if type(part) is int and -n <= part < n:
            parts.append(part if part >= 0 else part + n)
        elif type(part) is slice:
            parts.append(_inside(part, n))
        else:
            return None
    return (*parts, *_ALL_OF[len(shape) - len(given)])


def is_scalar_mask(key: Any) -> bool:
    """Return whether a key is True or False, or an array of one of them without axes."""
    return isinstance(key, (bool, np.bool_)) or (
        getattr(key, "shape", None) == () and backends.kind_of(key.dtype) == "b"
    )


def getitem(x: Any, key: Any) -> Any:
    """Return x[key], for any key that NumPy takes."""
    x = x if type(x) is Tensor else shapes.tensor(x, "x[...]")
    usual = _integers_and_slices(key, x._raw.shape)
    if usual is not None:
        return slice_parts(x, parts=usual)
    if is_scalar_mask(key):
        x, key = shapes.expand_dims(x, axis=0), slice(0, int(bool(key)))
    parts, basic = parse_key(key, x.shape)
    return slice_parts(x, parts=parts) if basic else index(x, key=parts)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at `indices` along `axis`, or of the flattened array.

    `wg.take([[1, 2], [3, 4]], [1, 0, 1], axis=1)` is `[[2, 1, 2], [4, 3, 4]]`.
    """
    x = shapes.tensor(x, "take")
    if axis is None:
        if x.ndim != 1:
            x = shapes.reshape(x, (-1,))
        axis = 0
    axis = one_axis(axis, x.ndim, "take")
    where = _integers(indices, "take")
    return getitem(x, (*[slice(None)] * axis, where))


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Tensor:
    """Return the elements at `indices`, which match x along the other axes.

    `wg.take_along_axis([[1, 2], [3, 4]], [[1], [0]], axis=1)` is `[[2], [3]]`.
    """
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


def _integers(indices: Any, name: str) -> Any:
    where = shapes.tensor(indices, name)
    if backends.kind_of(where.dtype) not in "iu":
        raise TypeError(f"{name}: indices have dtype {where.dtype}; expected integers")
    raw = where._raw
    return raw if type(raw) is Batched or not is_visible(raw) else np.asarray(where.numpy())


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the slices of x along one axis, as a tuple.

    `wg.unstack([[1, 2], [3, 4]])` is `([1, 2], [3, 4])`.
    """
    x = shapes.tensor(x, "unstack")
    axis = one_axis(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(getitem(x, (*before, i)) for i in range(x.shape[axis]))


__all__ = ["take", "take_along_axis", "unstack"]
