"""What samples tell: slopes and areas of a function by its values, covariances of variables."""

from __future__ import annotations

from typing import Any

from wengert import backends
from wengert.engine.tensor import Tensor
from wengert.ops import contractions, joining, reductions, shapes
from wengert.ops import elementwise as ew
from wengert.ops.cumulative import diff


def slopes(f: Tensor, spacing: Tensor, /, *, axis: int, edge_order: int = 1) -> Tensor:
    """Return the derivatives of a function at the points where it has the values f.

    `spacing` is the distance of neighbours or, with one axis, the coordinates of all points.
    Inner points have the slope of the parabola through their neighbours; the ends have that of
    the nearest line or, with `edge_order=2`, of the nearest parabola.
    `slopes(wg.asarray([1.0, 4.0, 9.0]), wg.asarray(1.0), axis=0)` is `[3.0, 4.0, 5.0]`.
    """
    f = shapes.moveaxis(f, axis, -1)
    last = (f.shape[-1] - 1,)
    steps = diff(spacing) if spacing.ndim else shapes.broadcast_to(spacing, last)
    slope = diff(f) / steps
    before, after, left, right = slope[..., :-1], slope[..., 1:], steps[:-1], steps[1:]
    inner = (before * right + after * left) / (left + right)
    first, final = slope[..., :1], slope[..., -1:]
    if edge_order == 2:
        bend = (after - before) / (left + right)
        first, final = first - bend[..., :1] * left[:1], final + bend[..., -1:] * right[-1:]
    return shapes.moveaxis(joining.concat([first, inner, final], axis=-1), -1, axis)


def trapezia(y: Tensor, widths: Any, /, *, axis: int) -> Tensor:
    """Return twice the areas below the lines between neighbours; their axis becomes the last.

    `widths` are distances along the last axis. `trapezia(wg.asarray([1.0, 2.0, 4.0]), 1.0, axis=0)`
    is `[3.0, 6.0]`.
    """
    y = shapes.moveaxis(y, axis, -1)
    return (y[..., 1:] + y[..., :-1]) * widths


def covariance(rows: Tensor, freedom: Any, /, weights: Tensor | None = None) -> Tensor:
    """Return the sums of products of variables without their means, by `freedom`.

    Variables are rows, and observations columns, which may have weights.
    `covariance(wg.asarray([[1.0, 3.0], [2.0, 6.0]]), 1)` is `[[2.0, 4.0], [4.0, 8.0]]`.
    """
    if not rows.shape[1]:
        centred = rows
    elif weights is None:
        centred = rows - reductions.mean_over(rows, axis=(1,), keepdims=True)
    else:
        total = reductions.sum_over(rows * weights, axis=(1,), keepdims=True)
        centred = rows - total / reductions.sum(weights)
    turned = shapes.matrix_transpose(centred if weights is None else centred * weights)
    if backends.kind_of(rows.dtype) == "c":
        turned = ew.conj(turned)
    return ew.divide(contractions.matmul(centred, turned), freedom)


def correlation(covariances: Tensor, /) -> Tensor:
    """Return covariances by the standard deviations of both variables.

    `correlation(wg.asarray([[4.0, 2.0], [2.0, 4.0]]))` is `[[1.0, 0.5], [0.5, 1.0]]`.
    """
    variances = shapes.diagonal(covariances)
    if backends.kind_of(variances.dtype) == "c":
        variances = ew.real(variances)
    spread = ew.sqrt(variances)
    return covariances / shapes.expand_dims(spread, axis=1) / spread


__all__ = ["correlation", "covariance", "slopes", "trapezia"]
