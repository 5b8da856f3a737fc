"""Running sums, products and extremes along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching, elementwise, joining, reductions, shapes
from wengert.ops.checks import floating, ordered
from wengert.ops.families import Operation, documented, linear, one_axis, sample, special
from wengert.regions import slices


def _reverse_sum(xp: Any, g: Any, axis: int) -> Any:
    return xp.flip(xp.cumulative_sum(xp.flip(g, axis=axis), axis=axis), axis=axis)


def _reverse_sum_block(xp: Any, g: Block, axis: int) -> Block | None:
    """Return the block up to the last element of g along the axis; the rest is zero."""
    r = g.region[axis]
    if not len(r):
        return None
    reach = max(r[0], r[-1]) + 1
    lead = tuple(map(len, g.region))
    grown = Block(
        (*lead[:axis], reach, *lead[axis + 1 :]),
        (*map(range, lead[:axis]), r, *map(range, lead[axis + 1 :])),
        g.values,
    ).todense(xp)
    region = (*g.region[:axis], range(reach), *g.region[axis + 1 :])
    return Block(g.shape, region, _reverse_sum(xp, grown, axis))


sum_along = linear(
    "cumulative_sum",
    _reverse_sum,
    params=("axis",),
    batch=batching.along_axes,
    block=_reverse_sum_block,
    reached=lambda region, shape, axis: (
        *region[:axis],
        range(region[axis].start, shape[axis]),
        *region[axis + 1 :],
    ),
    samples=[sample((4,), axis=0), sample((2, 3), axis=1), sample((0, 2), axis=0)],
)


def _cumulative_prod_rule(xp: Any, g: Any, x: Any, axis: int) -> Any:
    """Return the derivative without a division, so that it exists also at zeros.

    With s[i] = g[i] + x[i + 1] * s[i + 1], it is s[i] times the product of what comes
    before i.
    """
    if x.shape[axis] == 0:
        return g
    if elementwise.is_complex(x):
        x = xp.conj(x)
    total = _from_the_end(xp, g, _shifted(xp, x, -1, axis, fill=0), axis)
    before = _shifted(xp, xp.cumulative_prod(x, axis=axis), 1, axis, fill=1)
    return total * before


def _from_the_end(xp: Any, g: Any, factor: Any, axis: int) -> Any:
    """Return s with s[i] = g[i] + factor[i] * s[i + 1] along an axis; nothing is after the last.

    Each step doubles how far on s[i] looks.
    """
    total, reach = g, 1
    while reach < g.shape[axis]:
        total = total + factor * _shifted(xp, total, -reach, axis, fill=0)
        factor = factor * _shifted(xp, factor, -reach, axis, fill=0)
        reach *= 2
    return total


def _from_the_start(xp: Any, g: Any, factor: Any, axis: int) -> Any:
    """Return s with s[i] = g[i] + factor[i] * s[i - 1] along an axis."""
    g, factor = xp.flip(g, axis=axis), xp.flip(factor, axis=axis)
    return xp.flip(_from_the_end(xp, g, factor, axis), axis=axis)


def _part(x: Any, axis: int, start: int, stop: int | None) -> Any:
    """Return the elements from start to stop along an axis."""
    key = [range(n) for n in x.shape]
    key[axis] = key[axis][start:stop]
    return x[slices(tuple(key))]


def _shifted(xp: Any, x: Any, by: int, axis: int, fill: int) -> Any:
    """Return x moved along an axis by some positions, with `fill` where nothing comes from."""
    n = x.shape[axis]
    blank = _part(x, axis, 0, abs(by))
    filler = xp.zeros_like(blank) if fill == 0 else xp.ones_like(blank)
    if by < 0:
        return xp.concat([_part(x, axis, -by, n), filler], axis=axis)
    return xp.concat([filler, _part(x, axis, 0, max(n - by, 0))], axis=axis)


def _scan(xp: Any, ufunc: np.ufunc, x: Any, axis: int) -> Any:
    """Return x with all elements up to each one combined: by NumPy, or by doubling the reach."""
    if xp is backends.NUMPY:
        with np.errstate(invalid="ignore"):  # maximum.accumulate warns of NaN, maximum does not
            return ufunc.accumulate(x, axis=axis)
    combine, n, reach = getattr(xp, ufunc.__name__), x.shape[axis], 1
    while reach < n:
        combined = combine(_part(x, axis, reach, n), _part(x, axis, 0, n - reach))
        x = xp.concat([_part(x, axis, 0, reach), combined], axis=axis)
        reach *= 2
    return x


prod_along = special(
    "cumulative_prod",
    _cumulative_prod_rule,
    params=("axis",),
    batch=batching.along_axes,
    samples=[sample((4,), axis=0), sample((2, 3), axis=1), sample((0, 2), axis=0)],
)


def _logsumexp_rule(xp: Any, g: Any, x: Any, y: Any, axis: int) -> Any:
    """Return the sum of g[i] * exp(x - y[i]) over each i that is not before x.

    In terms of s[i] = g[i] + exp(y[i] - y[i + 1]) * s[i + 1] no exponent is positive.
    """
    following = xp.concat([_part(y, axis, 1, y.shape[axis]), _part(y, axis, -1, None)], axis=axis)
    fading = _exp_difference(xp, y, following)
    return _exp_difference(xp, x, y) * _from_the_end(xp, g, fading, axis)


def _exp_difference(xp: Any, x: Any, y: Any) -> Any:
    """Return exp(x - y), which is 1 where both are the same infinity."""
    same, nothing = x == y, xp.zeros_like(x)
    return xp.exp(xp.where(same, nothing, x) - xp.where(same, nothing, y))


_RUNS = [sample((4,), axis=0), sample((2, 3), axis=1), sample((0, 2), axis=0)]
logsumexp_along = special(
    "cumulative_logsumexp",
    _logsumexp_rule,
    params=("axis",),
    batch=batching.along_axes,
    compute=lambda xp, x, axis: _scan(xp, np.logaddexp, x, axis),
    samples=_RUNS,
    kinds="f",
    reference=lambda x, axis: np.log(np.cumsum(np.exp(x), axis=axis)),
)


def _extreme_rule(xp: Any, g: Any, x: Any, y: Any, axis: int) -> Any:
    """Share each g[i] evenly among the elements up to i that attain y[i].

    These are all in the run of equal y[i], and `count` says how many there are so far.
    """
    if xp is backends.NUMPY:
        alone = _without_ties(g, x, y, axis)
        if alone is not None:
            return alone
    goes_on = reductions.attains(y, _shifted(xp, y, -1, axis, fill=0))
    goes_on = xp.astype(goes_on, g.dtype)
    records = reductions.attains(x, y)
    went_on = _shifted(xp, goes_on, 1, axis, fill=0)
    count = _from_the_start(xp, xp.astype(records, g.dtype), went_on, axis)
    return xp.keep(_from_the_end(xp, g / count, goes_on, axis), records)


def _without_ties(g: np.ndarray, x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray | None:
    """Return the sum of g over the run that each element began; None if there are ties."""
    x, y, g = (np.moveaxis(a, axis, -1) for a in (x, y, g))
    begins = np.ones(y.shape, bool)
    begins[..., 1:] = ~reductions.attains(y[..., :-1], y[..., 1:])
    if not np.array_equal(begins, reductions.attains(x, y)):
        return None
    total = np.zeros(g.shape, g.dtype)
    if total.size:
        total[begins] = np.add.reduceat(g.reshape(-1), np.flatnonzero(begins))
    return np.moveaxis(total, -1, axis)


max_along, min_along = (
    special(
        f"cumulative_{ufunc.__name__[:3]}",
        _extreme_rule,
        params=("axis",),
        batch=batching.along_axes,
        compute=lambda xp, x, axis, ufunc=ufunc: _scan(xp, ufunc, x, axis),
        samples=_RUNS,
        kinds="f",
        reference=lambda x, axis, ufunc=ufunc: ufunc.accumulate(x, axis=axis),
    )
    for ufunc in (np.maximum, np.minimum)
)


def _one_axis(axis: int | None, x: Tensor, name: str) -> int:
    """Return the axis to go along, which is known if there is one only."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: shape {x.shape} has {x.ndim} axes; say which, with axis=")
    return one_axis(axis or 0, x.ndim, name)


def _running(op: Operation[Tensor], blank: str) -> Callable[..., Tensor]:
    """Return what users call for running sums or products, after a blank one if they want."""
    name = op.__name__

    def run(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Tensor:
        x = reductions.accumulated(x, dtype, name)
        axis = _one_axis(axis, x, name)
        y = op(x, axis=axis)
        if not include_initial:
            return y
        xp: Any = backends.namespace_of(y._raw)
        first = getattr(xp, blank)((*x.shape[:axis], 1, *x.shape[axis + 1 :]), dtype=y.dtype)
        return joining.concat([wrap(first), y], axis=axis)

    return documented(run, name)


def _ordered(op: Operation[Tensor], exact: bool = True) -> Callable[..., Tensor]:
    """Return what users call for running extremes and the like, of numbers that have an order."""
    name = op.__name__

    def run(x: Any, /, *, axis: int | None = None) -> Tensor:
        x = ordered(x, name)
        x = x if exact else floating(x, name)
        return op(x, axis=_one_axis(axis, x, name))

    return documented(run, name)


cumulative_sum, cumulative_prod = _running(sum_along, "zeros"), _running(prod_along, "ones")
cumulative_max, cumulative_min = _ordered(max_along), _ordered(min_along)
cumulative_logsumexp = _ordered(logsumexp_along, exact=False)


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Tensor:
    """Return x[i + 1] - x[i] along an axis, n times over. `wg.diff([1, 3, 2])` is `[2, -1]`."""
    x = shapes.tensor(x, "diff")
    axis = one_axis(axis, x.ndim, "diff")
    ends = [e for e in (prepend, x, append) if e is not None]
    x = joining.concat(ends, axis=axis) if len(ends) > 1 else x
    before = (slice(None),) * axis
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x if n else shapes.renewed(x)


__all__ = [
    "cumulative_logsumexp", "cumulative_max", "cumulative_min", "cumulative_prod", "cumulative_sum",
    "diff",
]  # fmt: skip
