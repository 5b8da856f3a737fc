"""Images resized by a kernel: each new pixel is a weighted mean of old ones around it.

Pixels are areas whose centres are at 0.5, 1.5, ... Weights are those of a kernel at the distance of
two centres; what lies outside of the image does not count, and the weights add up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.resampling import Taps, combine

__all__ = ["KERNELS", "kernel_taps", "overlap_taps", "resize_axes"]


def _cubic(d: np.ndarray, b: float, c: float) -> np.ndarray:
    """Return the cubic kernels of Mitchell and Netravali; b = 0 and c = 1/2 is that of Keys."""
    near = ((12 - 9 * b - 6 * c) * d + (-18 + 12 * b + 6 * c)) * d**2 + (6 - 2 * b)
    far = (((-b - 6 * c) * d + (6 * b + 30 * c)) * d + (-12 * b - 48 * c)) * d + (8 * b + 24 * c)
    return np.where(d < 1, near, np.where(d < 2, far, 0.0)) / 6


def _lanczos(d: np.ndarray, radius: int) -> np.ndarray:
    return np.where(d < radius, np.sinc(d) * np.sinc(d / radius), 0.0)


#: Each kernel with the distance from which on it is 0.
KERNELS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "linear": (lambda d: np.maximum(1 - d, 0), 1.0),
    "cubic": (lambda d: _cubic(d, 0.0, 0.5), 2.0),
    "mitchell": (lambda d: _cubic(d, 1 / 3, 1 / 3), 2.0),
    "lanczos3": (lambda d: _lanczos(d, 3), 3.0),
    "lanczos5": (lambda d: _lanczos(d, 5), 5.0),
    "gaussian": (lambda d: np.where(d < 1.5, np.exp(-2 * d**2), 0.0), 1.5),
}


def kernel_taps(length: int, size: int, kernel: str, antialias: bool, grid: int = 0) -> Taps:
    """Return which old pixels each new one takes, and their weights.

    With `antialias`, the kernel is as much wider as the image becomes smaller. With a `grid`,
    centres are rounded to so many places between two pixels.
    """
    function, radius = KERNELS[kernel]
    ratio = length / size
    width = max(ratio, 1.0) if antialias else 1.0
    centre = (np.arange(size) + 0.5) * ratio
    if grid:
        centre = np.rint((centre - 0.5) * grid) / grid + 0.5
    first = np.ceil(centre - radius * width - 0.5).astype(int)
    index = first[:, None] + np.arange(math.floor(2 * radius * width) + 1)
    inside = (index >= 0) & (index < length)
    weight = np.where(inside, function(np.abs(index + 0.5 - centre[:, None]) / width), 0.0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    return np.where(weight == 0, -1, index), weight


def overlap_taps(length: int, size: int) -> Taps:
    """Return the old pixels under each new one, weighted by how much of it they cover."""
    ratio = length / size
    start, stop = np.arange(size) * ratio, np.arange(1, size + 1) * ratio
    index = np.floor(start + 1e-9).astype(int)[:, None] + np.arange(math.ceil(ratio) + 1)
    covered = np.minimum(index + 1, stop[:, None]) - np.maximum(index, start[:, None])
    weight = np.where((covered > 1e-9) & (index < length), covered, 0.0) / ratio
    return np.where(weight == 0, -1, index), weight


@in_single
def resize_axes(x: Any, taps: dict[int, Taps]) -> Tensor:
    """Return x with each axis that has taps resized by them."""
    for axis, (index, weight) in taps.items():
        x = combine(x, axis=axis, index=index, weight=weight)
    return x
