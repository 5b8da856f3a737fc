"""Order: sorting, searching, and sets of values."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import shapes
from wengert.ops.families import composite, one_axis, sample, zero
from wengert.ops.indexing import getitem, take_along_axis

_argsort = zero(
    "argsort",
    params=("axis", "descending", "stable"),
    compute=lambda xp, x, axis, descending, stable: _argsort_raw(xp, x, axis, descending, stable),
    samples=[
        sample((5,), axis=0, descending=False, stable=True),
        sample((2, 4), axis=1, descending=True, stable=True),
    ],
    reference=lambda x, axis, descending, stable: _argsort_raw(
        backends.NUMPY, x, axis, descending, stable
    ),
)


def _argsort_raw(xp: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    if xp is not backends.NUMPY:
        return xp.argsort(x, axis=axis, descending=descending, stable=stable)
    if not descending:
        return xp.argsort(x, axis=axis, stable=stable)
    # equal elements keep their order: sort the reversed array, and count from its end
    flipped = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - xp.flip(flipped, axis=axis)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the positions that sort x along an axis."""
    x = shapes.tensor(x, "argsort")
    axis = one_axis(axis, x.ndim, "argsort")
    return _argsort(x, axis=axis, descending=descending, stable=stable)


@composite(
    samples=[sample((5,), axis=0), sample((2, 4), axis=1), sample((3, 2), axis=-2)], kinds="f"
)
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return x sorted along an axis; each element keeps its derivative."""
    order = argsort(x, axis=axis, descending=descending, stable=stable)
    return take_along_axis(x, order, axis=axis)


_searchsorted = zero(
    "searchsorted",
    args=("x1", "x2"),
    params=("side",),
    compute=lambda xp, x1, x2, side: xp.searchsorted(x1, x2, side=side),
    samples=[sample((1,), (3,), side="left"), sample((1,), (2, 2), side="right")],
)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Return where elements of x2 would go in the sorted x1."""
    if sorter is not None:
        x1 = getitem(x1, sorter)
    return _searchsorted(x1, x2, side=side)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Return the positions of elements that are not zero, an array for each axis."""
    x = shapes.tensor(x, "nonzero")
    if not x.ndim:
        raise ValueError("nonzero: the array has no axes")
    xp: Any = backends.namespace_of(x._raw)
    return tuple(map(wrap, xp.nonzero(x._raw)))


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Return for each element of x1 whether it is among those of x2."""
    x1, x2 = shapes.tensor(x1, "isin"), shapes.tensor(x2, "isin")
    xp: Any = backends.namespace_of(x1._raw)
    return wrap(xp.isin(x1._raw, x2._raw, invert=invert))


class UniqueAll(NamedTuple):
    """The distinct values, where each is first, which each element is, and how many."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct values, and how many there are of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct values, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct values, with where they are; each has its first element's derivative."""
    x = shapes.tensor(x, "unique_all")
    xp: Any = backends.namespace_of(x._raw)
    found = xp.unique_all(x._raw)
    values = getitem(shapes.reshape(x, (-1,)), wrap(found.indices))
    return UniqueAll(values, wrap(found.indices), wrap(found.inverse_indices), wrap(found.counts))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct values, and how many there are of each."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct values, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Any:
    """Return the distinct values; each has the derivative of its first element."""
    return unique_all(x).values
