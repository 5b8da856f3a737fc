"""Images at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.ops import contractions, conventions, indexing, joining, reductions, shapes
from wengert.ops import elementwise as ew

__all__ = ["affine_grid", "grid_sample"]


def _unnormalised(x: Tensor, length: int, align_corners: bool) -> Tensor:
    """Return positions among elements for coordinates from -1 to 1."""
    if align_corners:
        return (x + 1) * ((length - 1) / 2)
    return ((x + 1) * length - 1) / 2


def _clipped(x: Tensor, length: int) -> Tensor:
    """Return positions within an axis; at its ends there is no derivative."""
    bounds = [wrap(np.array(v, x.dtype)) for v in (0, length - 1)]
    inside = ew.greater(x, bounds[0]) & ew.less(x, bounds[1])
    return ew.where(inside, x, ew.clip(wrap(x._raw), *bounds))


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """Return positions reflected at both ends, until they are between them."""
    span = high - low
    if span == 0:
        return x * 0
    shifted = x - low
    away = conventions.abs_nan_0(shifted)
    folds = np.floor(away._raw / span)
    rest = away - wrap((folds * span).astype(x.dtype))
    back = wrap(folds % 2 == 1)
    return ew.where(back, span - rest, rest) + low


def _positions(x: Tensor, length: int, padding_mode: str, align_corners: bool) -> Tensor:
    """Return positions with those outside moved to where `padding_mode` takes them."""
    if padding_mode == "border":
        return _clipped(x, length)
    if padding_mode == "reflection":
        ends = (0, length - 1) if align_corners else (-0.5, length - 0.5)
        return _clipped(_reflected(x, *ends), length)
    return x


def _picked(flat: Tensor, index: list[np.ndarray], lengths: tuple[int, ...]) -> Tensor:
    """Return the elements at some positions of each image, and 0 outside."""
    inside = np.ones(index[0].shape, bool)
    position = np.zeros(index[0].shape, np.int64)
    for i, n in zip(index, lengths, strict=True):
        inside &= (i >= 0) & (i < n)
        position = position * n + np.clip(i, 0, n - 1).astype(np.int64)
    shape = (*flat.shape[:2], *position.shape[1:])
    where = np.broadcast_to(position[:, None], shape)
    found = indexing.take_along_axis(flat, wrap(np.ascontiguousarray(where)), axis=2)
    return ew.keep(found, wrap(np.broadcast_to(inside[:, None], shape)))


def _cubic_weights(t: Tensor) -> list[Tensor]:
    """Return the weights of four neighbours, by the kernel whose slope at distance 1 is -3/4."""
    a = -0.75

    def near(d: Tensor) -> Tensor:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Tensor) -> Tensor:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def grid_sample(
    x: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool
) -> Tensor:
    """Return the elements of images at the points of a grid, between which they are interpolated.

    x is (batch, channels, *space) and the grid (batch, *size, axes of space), with coordinates from
    -1 to 1, the last axis first. `mode` is "nearest", "bilinear" or "bicubic", and `padding_mode`,
    which says what lies outside, "zeros", "border" or "reflection". With `align_corners`, -1 and 1
    are the centres of the outermost elements, and else their outer ends.
    """
    size, image = grid.shape[1:-1], x.shape[2:]
    count = math.prod(size)
    flat = shapes.reshape(x, (*x.shape[:2], math.prod(image)))
    points = shapes.reshape(grid, (grid.shape[0], count, len(image)))
    axes = [
        _unnormalised(points[:, :, k], n, align_corners)
        for k, n in zip(reversed(range(len(image))), image, strict=True)
    ]
    if mode != "bicubic":
        axes = [
            _positions(p, n, padding_mode, align_corners) for p, n in zip(axes, image, strict=True)
        ]
    if mode == "nearest":
        y = _picked(flat, [np.rint(p._raw) for p in axes], image)
        nothing = reductions.sum(joining.stack([p * 0 for p in axes]), axis=0)
        y = y + shapes.expand_dims(nothing, axis=1)  # a derivative that is zero
    else:
        y = _combined(flat, axes, image, mode, padding_mode, align_corners)
    return shapes.reshape(y, (*x.shape[:2], *size))


def _combined(
    flat: Tensor, axes: list[Tensor], image: Any, mode: str, padding_mode: str, align_corners: bool
) -> Tensor:
    """Return sums of neighbours by weights, which are products of one for each axis."""
    first = [np.floor(p._raw) for p in axes]
    fractions = [p - wrap(f) for p, f in zip(axes, first, strict=True)]
    cubic = mode == "bicubic"
    weights = [_cubic_weights(t) if cubic else [1 - t, t] for t in fractions]
    reach = range(-1, 3) if cubic else range(2)
    total: Any = None
    for taps in itertools.product(range(len(reach)), repeat=len(axes)):
        index = [f + reach[k] for f, k in zip(first, taps, strict=True)]
        if cubic:
            index = [
                _positions(wrap(i), n, padding_mode, align_corners)._raw
                for i, n in zip(index, image, strict=True)
            ]
        weight = math.prod((w[k] for w, k in zip(weights[1:], taps[1:], strict=True)),
                           start=weights[0][taps[0]])  # fmt: skip
        part = _picked(flat, index, image) * shapes.expand_dims(weight, axis=1)
        total = part if total is None else total + part
    return total


def affine_grid(theta: Tensor, sizes: tuple[int, ...], align_corners: bool) -> Tensor:
    """Return the grid of points that affine maps take the centres of elements to.

    theta is (batch, n, n + 1), one matrix for each example, for images of n axes with these sizes.
    """
    spatial = len(sizes)
    ticks = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        ticks.append(line if align_corners else line * (n - 1) / n)
    planes = np.meshgrid(*ticks, indexing="ij")
    base = np.stack([*reversed(planes), np.ones_like(planes[0])], axis=-1)
    points = wrap(base.reshape(-1, spatial + 1).astype(theta._raw.dtype))
    moved = contractions.matmul(points, shapes.matrix_transpose(theta))
    return shapes.reshape(moved, (theta.shape[0], *sizes, spatial))
