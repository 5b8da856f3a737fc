"""Windows: which elements of an array each of them reads, and the arguments that say so.

Along each spatial axis, tap k of window p reads position
``p * stride + k * dilation - offset``. What lies outside of the array is nothing. Convolutions,
pooling and unfolding share this.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from wengert.backends.numpy_windows import Geometry
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError
from wengert.ops import shapes
from wengert.ops.checks import misfit
from wengert.regions import Region

P = ParamSpec("P")
R = TypeVar("R")
Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

# -- one function for each number of spatial axes ---------------------------------------------


class Rank(NamedTuple):
    """The name of a function and the number of its spatial axes."""

    name: str
    spatial: int


def by_rank(
    name: str, function: Callable[Concatenate[Rank, P], R]
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R]]:
    """Return a function of a Rank for one, two and three spatial axes: conv1d, conv2d, conv3d.

    In its docstring {n} is the number, {axes} the names of the axes, and {cube} the shape of an
    image with 3 elements on each of them.
    """
    one, two, three = (_of_rank(Rank(f"{name}{n}d", n), function) for n in (1, 2, 3))
    return one, two, three


def _of_rank(rank: Rank, function: Callable[Concatenate[Rank, P], R]) -> Callable[P, R]:
    @functools.wraps(function)
    def call(*args: P.args, **params: P.kwargs) -> R:
        return function(rank, *args, **params)

    call.__name__ = call.__qualname__ = rank.name
    axes = ("length", "rows, columns", "depth, rows, columns")[rank.spatial - 1]
    cube = (1, 1, *(3,) * rank.spatial)
    call.__doc__ = (function.__doc__ or "").format(n=rank.spatial, axes=axes, cube=cube)
    signature = inspect.signature(function)
    _, *others = signature.parameters.values()
    call.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    return call


# -- regions ----------------------------------------------------------------------------------


def moved(r: range, by: int) -> range:
    """Return a range shifted by a number."""
    return range(r.start + by, r.stop + by, r.step)


def ascending(xp: Any, g: Block) -> tuple[Any, Region]:
    """Return the values and the region of a Block, with no range that runs backward."""
    backward = tuple(a for a, r in enumerate(g.region) if r.step < 0)
    if not backward:
        return g.values, g.region
    return xp.flip(g.values, axis=backward), ascending_region(g.region)


def ascending_region(region: Region) -> Region:
    """Return a region with no range that runs backward."""
    return tuple(r[::-1] if r.step < 0 else r for r in region)


def filled(xp: Any, values: Any, region: Region, hull: Region) -> Any:
    """Return values on a region as those around it, with 0 where there were none.

    Each range of `hull` is that of the region, or one without steps around it.
    """
    if region == hull:
        return values
    inner = tuple(
        range(len(r)) if r == h else moved(r, -h.start) for r, h in zip(region, hull, strict=True)
    )
    return Block(tuple(map(len, hull)), inner, values).todense(xp)


def hull(r: range) -> range:
    """Return the smallest range without steps around one that ascends."""
    return range(r[0], r[-1] + 1) if r else r


def seen(
    windows: range, taps: range, length: int, stride: int, offset: int, dilation: int
) -> range:
    """Return the positions, of `length`, around all that some taps of some windows read."""
    if not windows or not taps:
        return range(0)
    first = windows[0] * stride + taps[0] * dilation - offset
    last = windows[-1] * stride + taps[-1] * dilation - offset
    return range(max(0, first), max(0, min(length, last + 1)))


def seeing(
    positions: range, taps: range, count: int, stride: int, offset: int, dilation: int
) -> range:
    """Return the windows, of `count`, around all whose taps read some positions."""
    if not positions or not taps:
        return range(0)
    first = -((taps[-1] * dilation - offset - positions[0]) // stride)
    last = (positions[-1] + offset - taps[0] * dilation) // stride
    return range(max(0, first), max(0, min(count, last + 1)))


def cut_geometry(windows: Region, taps: Region, positions: Region, geometry: Geometry) -> Geometry:
    """Return the geometry for parts of arrays, whose counts begin at 0."""
    rows = zip(windows, taps, positions, *geometry, strict=True)
    cut = [
        (s * p.step, lo + x.start - p.start * s - t.start * d, d * t.step)
        for p, t, x, s, lo, d in rows
    ]
    return Geometry(*zip(*cut, strict=True))


#: Values on a region, the region they have to do with, and the geometry between both.
Part = tuple[Any, Region, Geometry] | None


def seen_part(values: Any, region: Region, taps: Region, lengths: Ints, geometry: Geometry) -> Part:
    """Return values of windows with what their taps read, and the geometry; None if nothing."""
    lead = len(region) - len(taps)
    positions = tuple(map(seen, region[lead:], taps, lengths, *geometry))
    if not all(positions):
        return None
    cut = cut_geometry(region[lead:], taps, positions, geometry)
    return values, (*region[:lead], *positions), cut


def seeing_part(xp: Any, g: Block, taps: Region, counts: Ints, geometry: Geometry) -> Part:
    """Return g around its region, the windows that read there, and the geometry of both."""
    values, region = ascending(xp, g)
    lead = len(region) - len(taps)
    around = (*region[:lead], *map(hull, region[lead:]))
    windows = tuple(map(seeing, around[lead:], taps, counts, *geometry))
    if not all(windows):
        return None
    cut = cut_geometry(windows, taps, around[lead:], geometry)
    return filled(xp, values, region, around), (*region[:lead], *windows), cut


# -- arguments --------------------------------------------------------------------------------


def per_axis(value: Any, count: int, name: str, what: str, least: int) -> Ints:
    """Return a number, or one for each of `count` axes, as a tuple of such."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    try:
        numbers = tuple(operator.index(n) for n in given)
    except TypeError as error:
        raise TypeError(f"{name}: {what} is {value!r}; expected integers") from error
    if len(numbers) not in (1, count):
        raise ValueError(f"{name}: {what} is {value!r}; expected a number, or {count} of them")
    if min(numbers) < least:
        raise ValueError(f"{name}: {what} is {value!r}; expected at least {least}")
    return numbers * (count // len(numbers))


def pairs_per_axis(padding: Any, count: int, name: str) -> Pairs:
    """Return padding as pairs (before, after), one for each axis."""
    if isinstance(padding, (tuple, list)) and any(isinstance(p, (tuple, list)) for p in padding):
        if len(padding) != count or any(not hasattr(p, "__len__") or len(p) != 2 for p in padding):
            raise ValueError(
                f"{name}: padding is {padding!r}; expected a number, {count} of them, or {count} "
                "pairs (before, after)"
            )
        return tuple(
            (before, after)
            for before, after in (per_axis(p, 2, name, "padding", 0) for p in padding)
        )
    return tuple((n, n) for n in per_axis(padding, count, name, "padding", 0))


def padding_pairs(
    padding: Any, name: str, length: Ints, kernel: Ints, stride: Ints, dilation: Ints
) -> Pairs:
    """Return padding in any form as pairs; "same" gives a window for each step of a stride."""
    if padding == "valid":
        padding = 0
    if padding == "same":
        totals = [
            max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
            for n, k, s, d in zip(length, kernel, stride, dilation, strict=True)
        ]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        raise ValueError(
            f"{name}: padding is {padding!r}; expected 'valid', 'same', numbers or pairs"
        )
    return pairs_per_axis(padding, len(length), name)


def batched(x: Any, spatial: int, name: str) -> tuple[Tensor, bool]:
    """Return x with a batch axis, and whether it had one."""
    x = shapes.tensor(x, name)
    ndim = len(x._raw.shape)
    if ndim not in (spatial + 1, spatial + 2):
        axes = f"{spatial + 2} axes (batch, channels and {spatial} more)"
        raise misfit(name, f"{axes}, or {spatial + 1} without a batch", x=x)
    return (x, True) if ndim == spatial + 2 else (shapes.expand_dims(x, axis=0), False)


def unbatched(y: Tensor, had_batch: bool) -> Tensor:
    """Return a result with a batch axis only if the argument had one."""
    return y if had_batch else shapes.squeeze(y, axis=0)


def fitting(
    name: str, length: Ints, kernel: Ints, stride: Ints, padding: Pairs, dilation: Ints
) -> Ints:
    """Return how many windows fit on each axis, or raise."""
    padded = tuple(n + lo + hi for n, (lo, hi) in zip(length, padding, strict=True))
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    if any(r > n for r, n in zip(reach, padded, strict=True)):
        raise ShapeError(
            f"{name}: a kernel of {kernel} with dilation {dilation} covers {reach}, more than the "
            f"{padded} that x of {length} has with its padding"
        )
    return tuple((n - r) // s + 1 for n, r, s in zip(padded, reach, stride, strict=True))


def geometry_of(stride: Ints, padding: Pairs, dilation: Ints) -> Geometry:
    """Return the geometry of windows of which the first begins in the padding."""
    return Geometry(stride, tuple(before for before, _ in padding), dilation)


def fitting_windows(
    name: str, length: Ints, kernel: Ints, stride: Any, padding: Any, dilation: Any
) -> tuple[Ints, Geometry, Pairs]:
    """Return how many windows fit on each axis, their geometry, and the padding."""
    plain = _is_key(stride) and _is_key(dilation) and (type(padding) is str or _is_key(padding))
    find = _known_windows if plain else _windows
    return find(name, length, kernel, stride, padding, dilation)


def _is_key(value: Any) -> bool:
    """Whether a value is an integer or a tuple of them: 1.0 and True are the same key as 1."""
    return type(value) is int or (type(value) is tuple and {*map(type, value)} == {int})


def _windows(
    name: str, length: Ints, kernel: Ints, stride: Any, padding: Any, dilation: Any
) -> tuple[Ints, Geometry, Pairs]:
    spatial = len(length)
    strides = per_axis(stride, spatial, name, "stride", 1)
    dilations = per_axis(dilation, spatial, name, "dilation", 1)
    pairs = padding_pairs(padding, name, length, kernel, strides, dilations)
    size = fitting(name, length, kernel, strides, pairs, dilations)
    return size, geometry_of(strides, pairs, dilations), pairs


_known_windows = functools.lru_cache(512)(_windows)
