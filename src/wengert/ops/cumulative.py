"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

from wengert.engine.cotangents import Block, slices
from wengert.ops import elementwise, reductions, shapes
from wengert.ops.families import linear, one_axis, sample, special


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


_cumulative_sum = linear(
    "cumulative_sum",
    _reverse_sum,
    params=("axis",),
    block=_reverse_sum_block,
    reached=lambda region, shape, axis: (
        *region[:axis],
        range(region[axis].start, shape[axis]),
        *region[axis + 1 :],
    ),
    compute=lambda xp, x, axis: xp.cumulative_sum(x, axis=axis),
    samples=[sample((4,), axis=0), sample((2, 3), axis=1), sample((0, 2), axis=0)],
)


def _cumulative_prod_rule(xp: Any, g: Any, x: Any, axis: int) -> Any:
    """Return the derivative without a division, so that it exists also at zeros.

    With s[i] = g[i] + x[i + 1] * s[i + 1], it is s[i] times the product of what comes
    before i. The recurrence is solved by doubling the reach of each s[i].
    """
    n = x.shape[axis]
    if n == 0:
        return g
    if elementwise.is_complex(x):
        x = xp.conj(x)
    total, factor = g, _shifted(xp, x, -1, axis, fill=0)
    reach = 1
    while reach < n:
        total = total + factor * _shifted(xp, total, -reach, axis, fill=0)
        factor = factor * _shifted(xp, factor, -reach, axis, fill=0)
        reach *= 2
    before = _shifted(xp, xp.cumulative_prod(x, axis=axis), 1, axis, fill=1)
    return total * before


def _shifted(xp: Any, x: Any, by: int, axis: int, fill: int) -> Any:
    """Return x moved along an axis by some places, with `fill` where nothing comes from."""
    key = tuple(range(n) for n in x.shape)
    n = x.shape[axis]
    edge = (*key[:axis], range(min(abs(by), n)), *key[axis + 1 :])
    rest = range(abs(by), n) if by < 0 else range(max(n - by, 0))
    kept = x[slices((*key[:axis], rest, *key[axis + 1 :]))]
    blank = x[slices(edge)]
    filler = xp.zeros_like(blank) if fill == 0 else xp.ones_like(blank)
    return xp.concat([kept, filler] if by < 0 else [filler, kept], axis=axis)


_cumulative_prod = special(
    "cumulative_prod",
    _cumulative_prod_rule,
    params=("axis",),
    compute=lambda xp, x, axis: xp.cumulative_prod(x, axis=axis),
    samples=[sample((4,), axis=0), sample((2, 3), axis=1), sample((0, 2), axis=0)],
)


def _running(op: Any, x: Any, axis: Any, dtype: Any, initial: bool, blank: Any) -> Any:
    name = op.__name__
    x = reductions._accumulated(x, dtype, name)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{name}: shape {x.shape} has {x.ndim} axes; say which, with axis=")
        axis = 0
    axis = one_axis(axis, x.ndim, name)
    y = op(x, axis=axis)
    if not initial:
        return y
    return shapes.concat([blank((*x.shape[:axis], 1, *x.shape[axis + 1 :]), y), y], axis=axis)


def _blank(name: str) -> Any:
    from wengert import backends
    from wengert.engine.tensor import wrap

    def make(shape: tuple[int, ...], like: Any) -> Any:
        xp: Any = backends.namespace_of(like._raw)
        return wrap(getattr(xp, name)(shape, dtype=like.dtype))

    return make


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Return running sums along an axis, after a 0 if `include_initial`."""
    return _running(_cumulative_sum, x, axis, dtype, include_initial, _blank("zeros"))


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Return running products along an axis, after a 1 if `include_initial`.

    The derivative exists also where elements are 0.
    """
    return _running(_cumulative_prod, x, axis, dtype, include_initial, _blank("ones"))


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along an axis, taken n times."""
    x = shapes.tensor(x, "diff")
    axis = one_axis(axis, x.ndim, "diff")
    ends = [e for e in (prepend, x, append) if e is not None]
    x = shapes.concat(ends, axis=axis) if len(ends) > 1 else x
    before = (slice(None),) * axis
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x
