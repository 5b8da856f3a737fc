"""One number for many: sums, products, extremes, moments and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Never

import numpy as np

from wengert import backends
from wengert.backends.numpy_kernels import total
from wengert.engine.tensor import Tensor
from wengert.ops import elementwise as ew
from wengert.ops.families import Operation, axes, documented, reduction, sample, zero
from wengert.ops.shapes import tensor
from wengert.other_names import answers, unexpected


def _count(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    return math.prod(shape[a] for a in axis)


sum_over = reduction(
    "sum",
    lambda xp, g: g,
    compute=lambda xp, x, axis, keepdims: xp.sum(x, axis=axis, dtype=x.dtype, keepdims=keepdims),
    samples=[
        sample((2, 3), axis=(0, 1), keepdims=False),
        sample((2, 3), axis=(1,), keepdims=False),
        sample((2, 3, 2), axis=(0, 2), keepdims=True),
        sample((0, 3), axis=(0,), keepdims=False),
        sample((), axis=(), keepdims=False),
    ],
)


def _by_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a reduction of NumPy arrays by a ufunc, without the checks of np.sum and its like."""
    reduce: Any = ufunc.reduce
    return lambda x, *, axis, keepdims: reduce(x, axis, x.dtype, None, keepdims)


#: Up to so many numbers are summed by a product with ones, in a quarter of the time that a ufunc
#: takes to begin.
_FEW = 256
_SINGLE, _DOUBLE = np.dtype("float32"), np.dtype("float64")
_SINGLE_ONES, _DOUBLE_ONES = np.ones(_FEW, _SINGLE), np.ones(_FEW, _DOUBLE)


def _total(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Return the sum of a NumPy array over some axes."""
    size = x.size
    if size <= _FEW and len(axis) == x.ndim and not keepdims:
        if x.dtype is _DOUBLE:
            return x.ravel().dot(_DOUBLE_ONES[:size])
        if x.dtype is _SINGLE:
            return x.ravel().dot(_SINGLE_ONES[:size])
    return total(x, axis, x.dtype, keepdims)


sum_over.op.numpy_function = _total


mean_over = reduction("mean", lambda xp, g, x_shape, axis: g / _count(x_shape, axis))


def _mean_on_numpy(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    count = _count(x.shape, axis)
    if not count or x.dtype.kind not in "fc":
        return np.mean(x, axis=axis, keepdims=keepdims)
    return _total(x, axis=axis, keepdims=keepdims) / count


mean_over.op.numpy_function = _mean_on_numpy


def attains(x: Any, y: Any) -> Any:
    """Return whether x is y, as NaN is where a NaN made y what it is."""
    if isinstance(y, np.ndarray) and not np.isnan(y).any():  # the usual case, in fewer passes
        return x == y
    return (x == y) | ((x != x) & (y != y))


def _extreme_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    """Share g evenly among the elements that attain the extreme."""
    winners = xp.astype(attains(x, y), g.dtype)
    return g * (winners / xp.sum(winners, axis=axis, keepdims=True))


max_over = reduction("max", _extreme_rule, kinds="f")
min_over = reduction("min", _extreme_rule, kinds="f")
max_over.op.numpy_function = _by_ufunc(np.maximum)
min_over.op.numpy_function = _by_ufunc(np.minimum)


def prod_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    """Return g times the product of the other elements, which exists also at zeros."""
    if xp is backends.NUMPY and not (x == 0).any():  # a look at values stops a jit
        return g * (y / x)
    kept = tuple(a for a in range(len(x.shape)) if a not in axis)
    order = (*kept, *axis)
    rows = xp.permute_dims(x, order)
    lead = len(kept)
    flat = xp.reshape(rows, (math.prod(rows.shape[:lead]), math.prod(rows.shape[lead:])))
    others = _before(xp, flat) * xp.flip(_before(xp, xp.flip(flat, axis=1)), axis=1)
    inverse = tuple(order.index(a) for a in range(len(order)))
    return g * xp.permute_dims(xp.reshape(others, tuple(rows.shape)), inverse)


def _before(xp: Any, rows: Any) -> Any:
    """Return, for each element, the product of those before it in its row."""
    first = xp.ones_like(rows[:, :1])
    return xp.cumulative_prod(xp.concat([first, rows[:, :-1]], axis=1), axis=1)


prod_over = reduction(
    "prod",
    prod_rule,
    compute=lambda xp, x, axis, keepdims: xp.prod(x, axis=axis, dtype=x.dtype, keepdims=keepdims),
    domain=(0.3, 1.5),
)


prod_over.op.numpy_function = _by_ufunc(np.multiply)


def _var_rule(xp: Any, g: Any, x: Any, axis: tuple[int, ...], correction: Any) -> Any:
    freedom = _count(tuple(x.shape), axis) - correction
    offset = x - xp.mean(x, axis=axis, keepdims=True)
    return g * (offset * (2 / freedom if freedom else math.nan))


def _std_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...], correction: Any) -> Any:
    nothing = y == 0  # where all are equal: the least subgradient, and no curvature
    scale = xp.where(nothing, xp.zeros_like(y), 0.5 / xp.where(nothing, xp.ones_like(y), y))
    part = _var_rule(xp, g, x, axis, correction) * scale
    # exact up to rounding, which alone is left where all are equal and their mean is not exact
    return part - xp.mean(part, axis=axis, keepdims=True)


_MOMENTS = [
    sample((2, 3), axis=(0, 1), keepdims=False, correction=0),
    sample((3, 2), axis=(0,), keepdims=True, correction=1),
    sample((3, 2, 4), axis=(0, 2), keepdims=False, correction=0.5),
]
_MOMENT_PARAMS = ("axis", "keepdims", "correction")


def _moment(name: str, rule: Any) -> Any:
    return reduction(name, rule, params=_MOMENT_PARAMS, samples=_MOMENTS, kinds="f")


var_over, std_over = _moment("var", _var_rule), _moment("std", _std_rule)
std_over.op.scales = False


def accumulated(x: Any, dtype: Any, name: str) -> Tensor:
    """Return x in the dtype that its sums are kept in: at least the default integer."""
    x = tensor(x, name)
    if dtype is None and (x._raw.dtype is _SINGLE or x._raw.dtype is _DOUBLE):
        return x
    if dtype is not None:
        return ew.astype(x, dtype, copy=False)
    kind = backends.kind_of(x._raw.dtype)
    if kind not in "biu":
        return x
    xp: Any = backends.namespace_of(x._raw)
    default = xp.uint64 if kind == "u" else xp.int64
    return x if x.dtype in (xp.int64, xp.uint64) else ew.astype(x, default)


@answers
def sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, **others: Never
) -> Tensor:
    """Return the sum over `axis`. `wg.sum([[1, 5], [7, 2]], axis=0)` is `[8, 7]`."""
    if others:
        raise unexpected(sum, others)
    x = accumulated(x, dtype, "sum")
    return sum_over(x, axis=axes(axis, len(x._raw.shape), "sum"), keepdims=keepdims)


@answers
def prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, **others: Never
) -> Tensor:
    """Return the product over `axis`; its gradient exists also where elements are 0.

    `wg.prod([[1, 5], [7, 2]], axis=0)` is `[7, 10]`.
    """
    if others:
        raise unexpected(prod, others)
    x = accumulated(x, dtype, "prod")
    return prod_over(x, axis=axes(axis, len(x._raw.shape), "prod"), keepdims=keepdims)


def _over_axes(op: Operation[Tensor]) -> Callable[..., Tensor]:
    """Return what users call for a reduction: over an axis, a tuple of them, or all."""
    name = op.__name__

    @answers
    def reduce(x: Any, /, *, axis: Any = None, keepdims: bool = False, **others: Never) -> Tensor:
        if others:
            raise unexpected(reduce, others)
        x = tensor(x, name)
        return op(x, axis=axes(axis, len(x._raw.shape), name), keepdims=keepdims)

    return documented(reduce, name)


def _moment_over_axes(op: Operation[Tensor]) -> Callable[..., Tensor]:
    name = op.__name__

    @answers
    def reduce(
        x: Any,
        /,
        *,
        axis: Any = None,
        correction: float = 0.0,
        keepdims: bool = False,
        **others: Never,
    ) -> Tensor:
        if others:
            raise unexpected(reduce, others)
        x = tensor(x, name)
        over = axes(axis, len(x._raw.shape), name)
        return op(x, axis=over, correction=correction, keepdims=keepdims)

    return documented(reduce, name)


mean, max, min = map(_over_axes, (mean_over, max_over, min_over))
var, std = map(_moment_over_axes, (var_over, std_over))

# -- no derivative ------------------------------------------------------------------------

_TESTS = [sample((2, 3), axis=(1,), keepdims=False), sample((2, 3), axis=(0, 1), keepdims=True)]
all, any, count_nonzero = (
    _over_axes(zero(name, params=("axis", "keepdims"), samples=_TESTS, kinds="fb"))
    for name in ("all", "any", "count_nonzero")
)
_ARG = [sample((2, 3), axis=1, keepdims=False), sample((2, 3), axis=None, keepdims=True)]


def _position(name: str) -> Callable[..., Tensor]:
    op = zero(name, params=("axis", "keepdims"), samples=_ARG)

    @answers
    def find(
        x: Any, /, *, axis: int | None = None, keepdims: bool = False, **others: Never
    ) -> Tensor:
        if others:
            raise unexpected(find, others)
        return op(x, axis=axis, keepdims=keepdims)

    return documented(find, name)


argmax, argmin = map(_position, ("argmax", "argmin"))

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "std", "sum",
    "var",
]  # fmt: skip
