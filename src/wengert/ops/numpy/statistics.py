"""NumPy's sums, means and order on tensors, composed of our operations.

`functions` says how these are called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops import ranks, samples
from wengert.ops.checks import misfit
from wengert.ops.families import axes as normalised
from wengert.ops.families import one_axis
from wengert.ops.numpy.shapes import at_least, flat
from wengert.ops.numpy.ufuncs import (
    REDUCTIONS,
    Function,
    by_name,
    constant,
    double,
    floating,
    in_dtype,
    in_line,
    is_inexact,
    number,
    values,
    wg,
)
from wengert.ops.shapes import tensor


def _mean(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    a = in_dtype(a, dtype)
    if where is True:
        return wg.mean(a, axis=axis, keepdims=keepdims)
    total = REDUCTIONS["sum"](a, axis, None, keepdims, None, where)
    count = wg.count_nonzero(wg.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims)
    return wg.divide(total, wg.astype(count, total.dtype) if is_inexact(total) else count)


def _moment(compute: Function) -> Function:
    """Return NumPy's function of a moment, one of ours."""

    def moment(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        correction: Any = None,
    ) -> Any:
        correction = ddof if correction is None else correction
        return compute(in_dtype(a, dtype), axis=axis, correction=correction, keepdims=keepdims)

    return moment


def _nanvar(a: Any, axis: Any, correction: Any, keepdims: bool) -> Any:
    given = wg.logical_not(wg.isnan(a))
    offset = wg.where(given, a - _nanmean(a, axis, keepdims=True), 0.0)
    square = wg.real(offset * wg.conj(offset))
    total = wg.sum(square, axis=axis, keepdims=keepdims)
    count = wg.astype(wg.count_nonzero(given, axis=axis, keepdims=keepdims), total.dtype)
    freedom = count - correction
    return wg.where(freedom > 0, total, math.nan) / freedom


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    a = tensor(a, "average")
    weights = wg.ones_like(a) if weights is None else tensor(weights, "average")
    if weights.shape != a.shape:
        along = normalised(axis, a.ndim, "average")
        if axis is None or weights.shape != tuple(a.shape[i] for i in along):
            expected = f"weights of the shape of a, or of its lengths along axis {axis}"
            raise misfit("np.average", expected, a=a, weights=weights)
        weights = wg.permute_dims(weights, sorted(range(len(along)), key=along.__getitem__))
        weights = wg.reshape(weights, [n if i in along else 1 for i, n in enumerate(a.shape)])
    total = wg.sum(wg.broadcast_to(weights, a.shape), axis=axis, keepdims=keepdims)
    y = wg.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (y, total) if returned else y


def _cumulative(name: str) -> Function:
    def cumulative(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        a, axis = (flat(a), 0) if axis is None else (a, axis)
        return getattr(wg, name)(a, axis=axis, dtype=dtype)

    return cumulative


def _without_nan(function: Function, neutral: float) -> Function:
    """Return a function for arrays in which NaN counts as a neutral element."""

    def call(a: Any, **params: Any) -> Any:
        return function(wg.where(wg.isnan(a), neutral, a), **params)

    return call


def _nan_extreme(name: str, neutral: float) -> Function:
    def extreme(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        y = _without_nan(getattr(wg, name), neutral)(a, axis=axis, keepdims=keepdims)
        return wg.where(wg.all(wg.isnan(a), axis=axis, keepdims=keepdims), math.nan, y)

    return extreme


def _nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return _mean(a, axis, dtype, keepdims, where=wg.logical_not(wg.isnan(a)))


def _nan_quantile(name: str, scale: float) -> Function:
    def quantile(a: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a = floating(a)
        along = normalised(axis, a.ndim, name)
        parts = np.asarray(values(q), float) / scale
        if parts.ndim > 1 or np.any((parts < 0) | (parts > 1)):
            raise ValueError(f"np.{name}: q is {q}; expected numbers from 0 to {scale:g}")
        rest = [i for i in range(a.ndim) if i not in along]
        lines = wg.permute_dims(a, [*rest, *along])
        lines = wg.reshape(lines, (*lines.shape[: len(rest)], -1))
        found = ranks.quantiles(lines, number(parts.reshape(-1), a), "linear", skip_nan=True)
        y = wg.moveaxis(found, -1, 0) if parts.ndim else found[..., 0]
        kept = tuple(i + parts.ndim for i in sorted(along))
        return wg.expand_dims(y, axis=kept) if keepdims else y

    return quantile


def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    weights = None if weights is None else double(weights)  # as NumPy computes it
    return wg.bincount(x, weights=weights, minlength=minlength)


def _sorting(name: str) -> Function:
    def call(a: Any, axis: int | None = -1, stable: Any = None) -> Any:
        a, axis = (flat(a), 0) if axis is None else (a, axis)
        return getattr(wg, name)(a, axis=axis)

    return call


def _partition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    a, axis = (flat(a), -1) if axis is None else (tensor(a, "partition"), axis)
    return wg.take_along_axis(a, _argpartition(a, kth, axis), axis=axis)


def _argpartition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    a, axis = (flat(a), -1) if axis is None else (tensor(a, "argpartition"), axis)
    axis = one_axis(axis, a.ndim, "argpartition") - a.ndim
    return in_line(lambda v: np.argpartition(v, kth, axis=axis), a)


def _nan_arg(name: str) -> Function:
    def arg(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a = tensor(a, name)
        along = normalised(axis, a.ndim, name) if axis is not None else range(a.ndim)
        lines = wg.reshape(a, (-1,)) if axis is None else a
        where = -1 if axis is None else along[0] - a.ndim
        y = in_line(lambda v: getattr(np, name)(v, axis=where), lines)
        return wg.expand_dims(y, axis=tuple(along)) if keepdims and a.ndim else y

    return arg


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    equal_nan: bool = True,
) -> Any:
    found = np.unique(values(ar), True, True, True, equal_nan=equal_nan)[1:]
    ar = flat(ar)
    parts = [wg.take(ar, found[0]), *(constant(part, ar) for part in found)]
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = tuple(part for part, want in zip(parts, wanted, strict=True) if want)
    return chosen if len(chosen) > 1 else chosen[0]


def _cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    x = at_least(2)(m)
    x = x if rowvar or tensor(m, "cov").ndim == 1 else x.mT
    if y is not None:
        y = at_least(2)(y)
        x = wg.concat([x, y if rowvar or y.shape[0] == 1 else y.mT])
    x = double(x)  # as NumPy computes it
    freedom = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    return wg.squeeze(samples.covariance(x, freedom))


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    c = _cov(x, y, rowvar)
    return samples.correlation(c) if c.ndim else c / c


FUNCTIONS: dict[str, Function] = {
    **by_name(_argpartition, _average, _bincount, _corrcoef, _cov, _mean, _nanmean, _partition),
    **by_name(_unique),
    **REDUCTIONS,
    "amax": REDUCTIONS["max"],
    "amin": REDUCTIONS["min"],
    "argsort": _sorting("argsort"),
    "cumprod": _cumulative("cumulative_prod"),
    "cumsum": _cumulative("cumulative_sum"),
    "nanargmax": _nan_arg("nanargmax"),
    "nanargmin": _nan_arg("nanargmin"),
    "nancumprod": _without_nan(_cumulative("cumulative_prod"), 1),
    "nancumsum": _without_nan(_cumulative("cumulative_sum"), 0),
    "nanmax": _nan_extreme("max", -math.inf),
    "nanmedian": lambda a, axis=None, keepdims=False: _nan_quantile("nanmedian", 1.0)(
        a, 0.5, axis, keepdims
    ),
    "nanmin": _nan_extreme("min", math.inf),
    "nanpercentile": _nan_quantile("nanpercentile", 100.0),
    "nanprod": _without_nan(REDUCTIONS["prod"], 1),
    "nanquantile": _nan_quantile("nanquantile", 1.0),
    "nanstd": _moment(lambda a, **how: wg.sqrt(_nanvar(a, **how))),
    "nansum": _without_nan(REDUCTIONS["sum"], 0),
    "nanvar": _moment(_nanvar),
    "ptp": lambda a, /, **how: wg.max(a, **how) - wg.min(a, **how),
    "sort": _sorting("sort"),
    "std": _moment(wg.std),
    "var": _moment(wg.var),
}
