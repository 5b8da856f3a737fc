"""Order: sorting, the largest elements, quantiles, searching, and sets of values.

NaN counts as larger than every number, in each array library: it is last in ascending order
and first in descending order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Never

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError
from wengert.ops import batching, joining, reductions, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import floating, integers, like, ordered
from wengert.ops.families import axes, composite, one_axis, sample, special, zero
from wengert.ops.indexing import getitem, take, take_along_axis
from wengert.ops.reductions import attains
from wengert.other_names import answers, unexpected

_argsort = zero(
    "argsort",
    params=("axis", "descending", "stable"),
    compute=lambda xp, x, axis, descending, stable: _argsort_raw(xp, x, axis, descending, stable),
    samples=[
        sample((5,), axis=0, descending=False, stable=True),
        sample((2, 4), axis=1, descending=True, stable=True),
    ],
)


def _argsort_raw(xp: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    if xp is not backends.NUMPY:
        return xp.argsort(x, axis=axis, descending=descending, stable=stable)
    if not descending:
        return xp.argsort(x, axis=axis, stable=stable)
    # equal elements keep their order: sort the reversed array, and count from its end
    flipped = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - xp.flip(flipped, axis=axis)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the indices that sort x along an axis; NaN counts as larger than every number.

    `wg.argsort([3, 1, 2])` is `[1, 2, 0]`.
    """
    x = shapes.tensor(x, "argsort")
    axis = one_axis(axis, x.ndim, "argsort")
    return _argsort(x, axis=axis, descending=descending, stable=stable)


@composite(
    samples=[sample((5,), axis=0), sample((2, 4), axis=1), sample((3, 2), axis=-2)], kinds="f"
)
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return x sorted along an axis; each element keeps its gradient.

    NaN counts as larger than every number. `wg.sort([3, 1, 2], descending=True)` is `[3, 2, 1]`.
    """
    order = argsort(x, axis=axis, descending=descending, stable=stable)
    return take_along_axis(x, order, axis=axis)


# -- the largest elements -----------------------------------------------------------------


def _top_positions(xp: Any, x: Any, k: int, axis: int, largest: bool) -> Any:
    if xp is backends.NUMPY and x.size > 2000 and 0 < k <= x.shape[axis] // 4:
        found = _top_by_partition(np.moveaxis(x, axis, -1), k, largest)
        if found is not None:
            return np.moveaxis(found, -1, axis)
    order = _argsort_raw(xp, x, axis, largest, True)
    return order[(*[slice(None)] * axis, slice(0, k), ...)]


def _top_by_partition(x: np.ndarray, k: int, largest: bool) -> np.ndarray | None:
    """Return what a stable sort would, without sorting more than k elements; None if NaN is."""
    n = x.shape[-1]
    position = n - k if largest else k - 1
    edge = np.partition(x, position, axis=-1)[..., position : position + 1]
    chosen = x >= edge if largest else x <= edge
    count = np.count_nonzero(chosen)
    if x.dtype.kind == "f" and (np.isnan(edge).any() or np.isnan(x).any()):
        return None
    if count != chosen.size // n * k:  # more tie with the last one than there is room for
        inside, ties = x > edge if largest else x < edge, x == edge
        room = k - np.count_nonzero(inside, axis=-1, keepdims=True)
        chosen = inside | (ties & (np.cumsum(ties, axis=-1) <= room))
    positions = np.nonzero(chosen)[-1].reshape(*x.shape[:-1], k)
    values = np.take_along_axis(x, positions, axis=-1)
    order = _argsort_raw(backends.NUMPY, values, values.ndim - 1, largest, True)
    return np.take_along_axis(positions, order, axis=-1)


topk_positions = zero(
    "topk_positions",
    params=("k", "axis", "largest"),
    compute=_top_positions,
    samples=[
        sample((5,), k=2, axis=0, largest=True),
        sample((2, 4), k=3, axis=1, largest=False),
        sample((3, 2), k=0, axis=0, largest=True),
    ],
)


class TopK(NamedTuple):
    """The largest (or smallest) elements along an axis, best first, and where they are."""

    values: Tensor
    indices: Tensor


def topk(x: Any, k: int, /, *, axis: int = -1, largest: bool = True) -> TopK:
    """Return the k largest elements along an axis, or the smallest, and their positions.

    The best is first, and of equal elements the one that is first in x. Each element keeps its
    derivative. NaN counts as larger than every number.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.topk(wg.asarray([1.0, 3.0, 2.0]), 2).values
    Tensor([3., 2.], dtype=float64)
    """
    x = ordered(x, "topk")
    axis = one_axis(axis, x.ndim, "topk")
    k = operator.index(k)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(
            f"topk: k={k} of {x.shape[axis]} elements along axis {axis} of shape {x.shape}; "
            f"expected 0 to {x.shape[axis]}"
        )
    positions = topk_positions(x, k=k, axis=axis, largest=bool(largest))
    return TopK(take_along_axis(x, positions, axis=axis), positions)


# -- quantiles ----------------------------------------------------------------------------


def _sorted_at(xp: Any, x: Any, positions: tuple[int, ...]) -> Any:
    if xp is backends.NUMPY:
        few = len(positions) < 16
        ranked = np.partition(x, positions, axis=-1) if few else np.sort(x, axis=-1)
        return ranked[..., list(positions)]
    return xp.take(xp.sort(x, axis=-1), xp.asarray(np.asarray(positions)), axis=-1)


def _order_rule(xp: Any, g: Any, x: Any, y: Any, positions: tuple[int, ...]) -> Any:
    """Share the g of each position evenly among the elements that have its value."""
    total = xp.zeros_like(x)
    for i in range(len(positions)):
        mine = g[..., i : i + 1]
        if xp is backends.NUMPY and not mine.any():  # the position was looked at for a NaN
            continue
        won = xp.astype(attains(x, y[..., i : i + 1]), g.dtype)
        total = total + won * (mine / xp.sum(won, axis=-1, keepdims=True))
    return total


order_statistics = special(
    "order_statistics",
    _order_rule,
    params=("positions",),
    compute=_sorted_at,
    batch=batching.as_it_is,
    samples=[sample((5,), positions=(2,)), sample((2, 4), positions=(0, 3))],
    kinds="f",
    reference=lambda x, positions: np.sort(x, axis=-1)[..., list(positions)],
    doc="Return the elements at some positions of the sorted last axis; ties share evenly.",
)

#: Where the quantile q of n elements is: at n * q + a + q * (1 - a - b) - 1, from 0.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


#: Where it is for methods that are constant in q between jumps.
_STEPS = {
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.round((n - 1) * q),
    "midpoint": lambda n, q: (np.floor((n - 1) * q) + np.ceil((n - 1) * q)) / 2,
    "inverted_cdf": lambda n, q: np.ceil(n * q) - 1,
    "averaged_inverted_cdf": lambda n, q: (np.ceil(n * q) + np.floor(n * q + 1)) / 2 - 1,
    "closest_observation": lambda n, q: np.round(n * q) - 1,
}
_METHODS = (*_CONTINUOUS, *_STEPS)
#: Those whose result is always an element of x.
_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _quantile(
    name: str, x: Any, q: Any, axis: Any, method: str, keepdims: bool, percent: float = 1.0
) -> Any:
    x, q = ordered(x, name), _levels(name, q, percent)
    if method not in _METHODS:
        raise ValueError(
            f"{name}: method={method!r}; expected one of {', '.join(map(repr, _METHODS))}"
        )
    x = x if method in _ELEMENTS else floating(x, name)
    reduced = axes(axis, x.ndim, name)
    kept = tuple(i for i in range(x.ndim) if i not in reduced)
    rows = shapes.permute_dims(x, (*kept, *reduced))
    n = int(np.prod([x.shape[i] for i in reduced], dtype=int))
    rows = shapes.reshape(rows, (*(x.shape[i] for i in kept), n))
    if n == 0:
        raise ValueError(f"{name}: no elements along axis {axis} of shape {x.shape}")
    y = _between(rows, q, method)
    y = shapes.permute_dims(y, (*range(len(kept), y.ndim), *range(len(kept))))
    if not keepdims:
        return y
    return shapes.reshape(y, (*q.shape, *(1 if i in reduced else m for i, m in enumerate(x.shape))))


def _levels(name: str, q: Any, percent: float) -> Tensor:
    """Return levels as fractions, which may have a derivative, or differ between examples."""
    given = shapes.tensor(q, name)
    if backends.kind_of(given.dtype) == "c":
        raise DtypeError(f"{name}: q of {given.dtype}; expected real numbers")
    values = batching.all_values(given._raw)
    if not ((values >= 0) & (values <= percent)).all():
        raise ValueError(f"{name}: q={values.tolist()}; expected numbers from 0 to {percent:g}")
    if batching.is_recorded(given):
        return given if percent == 1 else given / percent
    return wrap(batching.rebatched(np.asarray(values, dtype=float) / percent, given._raw))


def _between(rows: Tensor, q: Tensor, method: str) -> Any:
    """Return the levels q of each row: elements, or points between two that are neighbours."""
    n = rows.shape[-1]
    follows = batching.is_recorded(q) and method in _CONTINUOUS
    levels = batching.all_values(q._raw).astype(float)
    if method in _CONTINUOUS:
        a, b = _CONTINUOUS[method]
        position = n * levels + (a + levels * (1 - a - b)) - 1
    else:
        position = np.asarray(_STEPS[method](n, levels))
    inside = np.clip(position, 0, n - 1)
    each = partial(batching.rebatched, like=q._raw)
    low = np.floor(inside).astype(int)
    # where q has a derivative, the neighbour matters also at an element itself
    high = np.minimum(low + 1, n - 1) if follows else np.ceil(inside).astype(int)
    low = np.maximum(high - 1, 0) if follows else low
    positions, where = np.unique(
        np.stack([low, high, np.full_like(low, n - 1)]), return_inverse=True
    )
    where = where.reshape(3, *low.shape)
    found = order_statistics(rows, positions=tuple(positions.tolist()))
    below, above, last = (take(found, wrap(each(part)), axis=-1) for part in where)
    usual = type(found._raw) is np.ndarray and _differences_are_finite(found._raw)
    if follows:
        moves = (position >= 0) & (position <= n - 1)
        slope = like(each(np.where(moves, n + 1 - a - b, 0.0)), below)
        # 0, with q's derivative
        change = ew.astype(q - batching.constant(q), below.dtype, copy=False)
        share = like(each(inside - low), below) + slope * change
        below = _interpolated(below, above, share, usual)
    elif (inside != low).any():
        below = _interpolated(below, above, like(each(inside - low), below), usual)
    if usual or backends.kind_of(rows.dtype) != "f":
        return below
    return ew.where(ew.isnan(last), last, below)  # NaN sorts last


def _differences_are_finite(x: np.ndarray) -> bool:
    return x.dtype.kind != "f" or bool((np.abs(x) < backends.finfo(x.dtype).max / 2).all())


def _interpolated(below: Tensor, above: Tensor, share: Tensor, finite: bool) -> Any:
    """Return the point between two numbers at a share of the way."""
    if finite:
        return below + (above - below) * share
    known = ew.logical_and(ew.isinf(below), ew.equal(below, above))  # inf - inf is NaN
    gap = ew.where(known, 0.0, above) - ew.where(known, 0.0, below)
    bounded = ew.isfinite(gap)  # if not, an infinite neighbour decides, whatever its share
    inner = below + ew.where(bounded, gap, 0.0) * share
    return ew.where(bounded, inner, below * (1 - share) + above * share)


def _of_levels(name: str, percent: float, doc: str) -> Callable[..., Tensor]:
    """Return the function that gives quantiles for levels from 0 to `percent`."""

    @answers
    def quantiles(
        x: Any, q: Any, /, *, axis: Any = None, method: str = "linear", keepdims: bool = False,
        **others: Never,
    ) -> Tensor:  # fmt: skip
        if others:
            raise unexpected(quantiles, others)
        return _quantile(name, x, q, axis, method, keepdims, percent)

    quantiles.__name__, quantiles.__qualname__, quantiles.__doc__ = name, name, doc
    return quantiles


quantile = _of_levels(
    "quantile",
    1.0,
    """Return the quantiles q, from 0 to 1, over `axis` (an axis, a tuple of them, or all).

    The axes of q come first in the result. `method` is one of NumPy's. The derivative goes to
    the elements that the quantile is between; elements that are equal share it evenly. q may
    have a derivative, too. Where there is a NaN, the result is NaN.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.quantile(wg.asarray([1.0, 2.0, 4.0]), [0.5, 0.75])
    Tensor([2., 3.], dtype=float64)
    """,
)
percentile = _of_levels(
    "percentile",
    100.0,
    "Return quantiles, with q from 0 to 100. `wg.percentile([1.0, 2.0, 4.0], 75)` is `3.0`.",
)


@answers
def median(x: Any, /, *, axis: Any = None, keepdims: bool = False, **others: Never) -> Tensor:
    """Return the middle element over `axis`, or the mean of the two in the middle.

    Elements that are equal share the derivative evenly. Where there is a NaN, the result is NaN.
    `wg.median([[1.0, 9.0, 2.0, 4.0]], axis=1)` is `[3.0]`.
    """
    if others:
        raise unexpected(median, others)
    return _quantile("median", x, 0.5, axis, "linear", keepdims)


# -- searching ----------------------------------------------------------------------------


def _search_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the positions in the array of each example, or in one for all."""
    x1, x2 = arrays
    if not mapped[0]:
        return apply(op, (x1, x2), params)
    values = batching.full(x2, mapped[1], level)
    lines = shapes.reshape(values, (level.size, math.prod(values.shape[1:])))
    # where it is among all numbers, less where it is among those of x2; ties keep their order
    both, first = ([x1, lines], x1.shape[1]) if params["side"] == "right" else ([lines, x1], 0)
    mine = (slice(None), slice(first, first + lines.shape[1]))
    found = getitem(_ranks(joining.concat(both, axis=1)), mine) - _ranks(lines)
    return shapes.reshape(found, values.shape)


def _ranks(lines: Tensor) -> Tensor:
    """Return the place of each number in its sorted line."""
    return argsort(argsort(lines, axis=1), axis=1)


_searchsorted = zero(
    "searchsorted",
    batch=_search_examples,
    args=("x1", "x2"),
    params=("side",),
    samples=[sample((1,), (3,), side="left"), sample((1,), (2, 2), side="right")],
)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Return the indices at which x2 would be inserted in x1, which is sorted, or x1[sorter] is.

    Of equal elements, side "left" is before the first and "right" after the last.
    `wg.searchsorted([1, 3, 5], [0, 3, 4])` is `[0, 1, 2]`.
    """
    x1 = shapes.tensor(x1, "searchsorted")
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted: x1 of shape {x1.shape}; expected one axis")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side={side!r}; expected 'left' or 'right'")
    if sorter is not None:
        order = integers(sorter, "searchsorted", "sorter")
        if order.shape != x1.shape:
            raise ShapeError(
                f"searchsorted: sorter of shape {order.shape} for x1 of shape {x1.shape}; expected "
                "positions that sort x1, as wg.argsort(x1) returns them"
            )
        x1 = getitem(x1, wrap(order))
    return _searchsorted(x1, x2, side=side)


def nonzero(x: Any, /) -> tuple[Tensor, ...]:
    """Return the indices of nonzero elements, an array for each axis.

    `wg.nonzero([[1, 0], [2, 3]])` is `([0, 1, 1], [0, 0, 1])`.
    """
    x = shapes.tensor(x, "nonzero")
    if not x.ndim:
        raise ValueError("nonzero: the array has no axes")
    xp: Any = backends.namespace_of(_settled(x))
    return tuple(map(wrap, xp.nonzero(x._raw)))


def _settled(x: Tensor) -> Any:
    """Return the raw array, or raise if its values differ between examples."""
    return np.asarray(x._raw) if type(x._raw) is Batched else x._raw


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Return whether each element of x1 is in x2. `wg.isin([1, 2], [3, 1])` is `[True, False]`."""
    x1, x2 = shapes.tensor(x1, "isin"), shapes.tensor(x2, "isin")
    if Batched in (type(x1._raw), type(x2._raw)):
        same = ew.equal(shapes.expand_dims(x1, axis=-1), shapes.reshape(x2, (-1,)))
        found = reductions.any(same, axis=-1)
        return ew.logical_not(found) if invert else found
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
    """Return the distinct values, first indices, inverse indices and counts.

    `wg.unique_all([7, 5, 7]).indices` is `[1, 0]`.
    """
    x = shapes.tensor(x, "unique_all")
    xp: Any = backends.namespace_of(_settled(x))
    found = xp.unique_all(x._raw)
    values = getitem(shapes.reshape(x, (-1,)), wrap(found.indices))
    return UniqueAll(values, wrap(found.indices), wrap(found.inverse_indices), wrap(found.counts))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct values and their counts. `wg.unique_counts([5, 5]).counts` is `[2]`."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct values, and for each element the index of its value.

    `wg.unique_inverse([7, 5, 7]).inverse_indices` is `[1, 0, 1]`.
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Tensor:
    """Return the distinct values; each has the gradient of its first element.

    `wg.unique_values([7, 5, 7])` is `[5, 7]`.
    """
    return unique_all(x).values


__all__ = [
    "argsort", "isin", "median", "nonzero", "percentile", "quantile", "searchsorted", "sort",
    "topk", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip
