"""Running sums and extremes, differences of neighbours, integrals and covariances."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.axes import (
    accumulated,
    axes_of,
    axis_of,
    kind_of,
    lines_of,
    part,
    taken,
    tensor_of,
    unable,
)
from wengert.dialects.torch.copies import in_order
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import astype, convert, ns, promoted
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import cumulative, reductions

# -- running ---------------------------------------------------------------------------------------

CumMax, CumMin = results("cummax", "values", "indices"), results("cummin", "values", "indices")


def _running(op: Any, x: Native, dim: Any) -> Native:
    lines, axis = lines_of(x, dim)
    y = op(lines, axis=axis)
    return y if x.ndim else ns.reshape(y, ())


@offered("cumsum", in_place=True)
def cumsum(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """Return running sums along an axis."""
    return in_order(_running(cumulative.sum_along, accumulated(tensor_of(input), dtype), dim))


@offered("cumprod", in_place=True)
def cumprod(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """Return running products along an axis."""
    return _running(cumulative.prod_along, accumulated(tensor_of(input), dtype), dim)


@offered("logcumsumexp")
def logcumsumexp(input: Any, dim: Any) -> Any:
    """Return the logarithms of running sums of exponentials along an axis."""
    x = tensor_of(input)
    if kind_of(x) == "f":
        return _running(cumulative.logsumexp_along, x, dim)
    if kind_of(x) != "c":
        raise unable("logcumsumexp_out_cpu", x)
    lines, axis = lines_of(x, dim)
    top = wrap_native(ns.real(lines)._raw.max(axis=axis, keepdims=True, initial=-math.inf))
    y = ns.log(cumulative.sum_along(ns.exp(lines - top), axis=axis)) + top
    return ns.reshape(y, x.shape)


def _record(name: str, kind: Any) -> Any:
    compare = ns.greater_equal if name == "max" else ns.less_equal

    def call(input: Any, dim: Any) -> Any:
        x = tensor_of(input)
        lines, axis = lines_of(x, dim)
        if kind_of(x) == "c":
            raise unable(f"cum{name}_cpu", x)
        numbers = wrap_native(lines._raw)  # without a node: only places are wanted
        if kind_of(x) == "b":
            numbers = ns.astype(numbers, np.uint8)
        best = getattr(ns, f"cumulative_{name}")(numbers, axis=axis)
        attained = compare(numbers, best)
        if kind_of(x) == "f":
            attained = ns.logical_or(attained, ns.isnan(numbers))
        steps = np.arange(lines.shape[axis]).reshape(-1, *[1] * (lines.ndim - 1 - axis))
        places = ns.where(attained, wrap_native(steps), wrap_native(np.zeros((), np.int64)))
        places = ns.cumulative_max(places, axis=axis)
        values = taken(lines, places, axis, x.shape)
        return kind(values, places if x.ndim else ns.reshape(places, ()))

    call.__name__ = call.__qualname__ = f"cum{name}"
    call.__doc__ = f"Return the {name}imum so far along an axis, and where it is."
    return call


offered("cummax")(_record("max", CumMax))
offered("cummin")(_record("min", CumMin))


# -- differences and integrals ---------------------------------------------------------------------


@offered("diff", label="SubBackward0")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along an axis, taken n times."""
    x = tensor_of(input)
    if not x.ndim:
        raise RuntimeError("diff: a single number has no neighbours; give an axis")
    if n < 0:
        raise RuntimeError(f"diff: n is {n}; give 0 or more")
    axis = axis_of(dim, x.ndim)
    parts = promoted(*(convert(v) for v in (prepend, x, append) if v is not None))
    x = ns.concat(parts, axis=axis) if len(parts) > 1 else x
    subtract = ns.logical_xor if kind_of(x) == "b" else ns.subtract
    for _ in range(min(n, x.shape[axis])):
        x = subtract(part(x, axis, 1, None), part(x, axis, None, -1))
    return x


def _between(y: Any, x: Any, dx: Any, dim: Any) -> tuple[Native, int]:
    """Return the areas between neighbours along an axis, twice, and the axis."""
    values = tensor_of(y, "y")
    axis = axis_of(dim, values.ndim)
    sums = part(values, axis, None, -1) + part(values, axis, 1, None)
    if x is None:
        step = 1.0 if dx is None else dx
        wide = promoted(sums, 1.0 if dx is None or isinstance(dx, (int, float)) else dx)
        return ns.multiply(wide[0], convert(step, wide[0]._raw.dtype)), axis
    points = tensor_of(x, "x")
    steps = ns.diff(points, axis=axis if points.ndim > 1 else 0)
    if points.ndim == 1:
        steps = ns.reshape(steps, (-1, *[1] * (values.ndim - 1 - axis)))
    return ns.multiply(*promoted(steps, sums)), axis


@offered("trapezoid", "trapz", method=False, label="DivBackward1")
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """Return the integral along an axis by the rule of trapezia."""
    areas, axis = _between(y, x, dx, dim)
    total = reductions.sum_over(accumulated(areas, None), axis=(axis,), keepdims=False)
    return ns.divide(*promoted(total, 2.0))


@offered("cumulative_trapezoid", method=False, label="DivBackward1")
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """Return the integrals up to each point along an axis by the rule of trapezia."""
    areas, axis = _between(y, x, dx, dim)
    total = cumulative.sum_along(accumulated(areas, None), axis=axis)
    return ns.divide(*promoted(total, 2.0))


@offered("gradient", method=False, label="CatBackward0")
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Return the slopes of a function by its values on a grid, along all axes or some."""
    x = tensor_of(input)
    x = astype(x, dtypes.floating(x._raw.dtype))
    if edge_order not in (1, 2):
        raise RuntimeError("gradient: unknown edge_order; give 1 or 2")
    axes = axes_of(dim, x.ndim)
    if spacing is None:
        spacing = 1
    if isinstance(spacing, (tuple, list)):
        spacings = list(spacing)
        if len(spacings) != len(axes):
            raise RuntimeError(
                f"gradient: spacing has {len(spacings)} elements for {len(axes)} axes; give one "
                "for each, or one number"
            )
    else:
        spacings = [spacing] * len(axes)
    for a in axes:
        if x.shape[a] < edge_order + 1:
            raise RuntimeError(
                f"gradient: axis {a} has {x.shape[a]} elements; give one more than edge_order at "
                "least"
            )
    return tuple([_slopes(x, a, h, edge_order) for a, h in zip(axes, spacings, strict=True)])


def _slopes(x: Native, axis: int, spacing: Any, edge_order: int) -> Native:
    n = x.shape[axis]
    if isinstance(spacing, (int, float)):
        steps = wrap_native(np.full(n - 1, spacing, x.dtype))
    else:
        given = convert(spacing)
        if not given.ndim:
            steps = ns.broadcast_to(astype(given, x.dtype), (n - 1,))
        elif given.shape != (n,):
            raise RuntimeError(
                f"gradient: coordinates of shape {list(given.shape)} along axis {axis}; give {n}"
            )
        else:
            steps = ns.diff(astype(given, x.dtype))
    steps = ns.reshape(steps, (-1, *[1] * (x.ndim - 1 - axis)))
    slopes = (part(x, axis, 1, None) - part(x, axis, None, -1)) / steps
    left, right = steps[:-1], steps[1:]
    before, after = part(slopes, axis, None, -1), part(slopes, axis, 1, None)
    inner = (before * right + after * left) / (left + right)
    first, last = part(slopes, axis, None, 1), part(slopes, axis, -1, None)
    if edge_order == 2:  # the slope at the end of the parabola through three points
        bend = (after - before) / (left + right)
        first = first - part(bend, axis, None, 1) * left[:1]
        last = last + part(bend, axis, -1, None) * right[-1:]
    return ns.concat([first, inner, last], axis=axis)


# -- covariance ------------------------------------------------------------------------------------


def _covariance(input: Any, correction: Any, fweights: Any, aweights: Any) -> Native:
    x = tensor_of(input)
    if x.ndim > 2:
        raise RuntimeError(f"cov(): got {x.ndim} axes; give a matrix with one variable in each row")
    if kind_of(x) == "b":
        raise RuntimeError("cov(): booleans have no covariance; write x.float()")
    x = astype(x, dtypes.floating(x._raw.dtype))
    rows = x if x.ndim == 2 else ns.reshape(x, (1, -1))
    count = rows.shape[1]
    given = [convert(w) for w in (fweights, aweights) if w is not None]
    for w in given:
        if w.shape != (count,):
            raise RuntimeError(
                f"cov(): expected weights with one number for each of the {count} observations, "
                f"got shape {list(w.shape)}"
            )
    if fweights is not None and kind_of(given[0]) not in "iu":
        raise RuntimeError("cov(): fweights count how often a column occurs; give whole numbers")
    if aweights is not None and kind_of(given[-1]) != "f":
        raise RuntimeError("cov(): aweights are not floating numbers; write aweights.float()")
    real = ns.real(rows).dtype if kind_of(rows) == "c" else rows.dtype
    weights = None
    for w in given:
        w = astype(w, real)
        weights = w if weights is None else weights * w
    total: Any = count if weights is None else ns.sum(weights)
    freedom = total - correction
    if aweights is not None and correction:
        freedom = total - correction * ns.sum(weights * astype(given[-1], real)) / total
    centred = _weighted_centre(rows, weights, total)
    if float(freedom if isinstance(freedom, (int, float)) else freedom._raw) <= 0:
        warnings.warn(
            "cov(): the correction exceeds the weights' sum",
            stacklevel=3,
        )
        freedom = wrap_native(np.zeros((), real))
    weighed = centred if weights is None else centred * weights
    turned = ns.matrix_transpose(weighed)
    turned = ns.conj(turned) if kind_of(rows) == "c" else turned
    with np.errstate(all="ignore"):
        return ns.squeeze(
            ns.divide(ns.matmul(centred, turned), freedom),
            axis=tuple(range(2)) if rows.shape[0] == 1 else (),
        )


def _weighted_centre(rows: Native, weights: Any, total: Any) -> Native:
    if not rows.shape[1]:
        return rows
    if weights is None:
        return rows - reductions.mean_over(rows, axis=(1,), keepdims=True)
    return rows - reductions.sum_over(rows * weights, axis=(1,), keepdims=True) / total


@offered("cov", label="SqueezeBackward0")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariances of variables, which are rows; observations are columns."""
    return _covariance(input, correction, fweights, aweights)


@offered("corrcoef", label="ClampBackward1")
def corrcoef(input: Any) -> Any:
    """Return the coefficients of correlation of variables, which are rows."""
    c = _covariance(input, 1, None, None)
    if not c.ndim:
        return ns.divide(c, c)
    spread = ns.sqrt(ns.real(ns.diagonal(c)) if kind_of(c) == "c" else ns.diagonal(c))
    y = c / ns.reshape(spread, (-1, 1)) / ns.reshape(spread, (1, -1))
    if kind_of(c) == "c":
        return ns.complex(ns.clip(ns.real(y), -1, 1), ns.clip(ns.imag(y), -1, 1))
    return ns.clip(y, -1, 1)
