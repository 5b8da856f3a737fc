"""Images seen through projective maps of the plane."""

from __future__ import annotations

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew

__all__ = ["project"]


def project(
    images: Tensor, maps: np.ndarray, size: tuple[int, int], mode: str, outside: str, fill: float
) -> Tensor:
    """Return images (batch, rows, columns, channels) of another size, seen through maps.

    A map of 8 numbers takes column x and row y of the result to column (m0 x + m1 y + m2) / k and
    row (m3 x + m4 y + m5) / k of the image, where k is m6 x + m7 y + 1. `mode` is "nearest" or
    "bilinear". `outside` says what lies there: "constant", which is `fill`, "nearest", "reflect"
    or "wrap". The derivative is by images alone.
    """
    y, x = np.meshgrid(*(np.arange(n, dtype=np.float32) for n in size), indexing="ij")
    m = [np.asarray(maps[:, k, None, None], np.float32) for k in range(8)]
    with np.errstate(all="ignore"):
        scale = m[6] * x + m[7] * y + 1
        columns = (m[0] * x + m[1] * y + m[2]) / scale
        rows = (m[3] * x + m[4] * y + m[5]) / scale
    shape = (images.shape[0], *size)
    axes = [
        np.broadcast_to(_moved(p, n, outside), shape)
        for p, n in zip((rows, columns), images.shape[1:3], strict=True)
    ]
    if mode == "nearest":
        return _picked(images, [np.trunc(p + np.copysign(np.float32(0.5), p)) for p in axes], fill)
    first = [np.floor(p) for p in axes]
    parts = []
    for i in (0, 1):
        for j in (0, 1):
            weights = (1 - abs(axes[0] - first[0] - i)) * (1 - abs(axes[1] - first[1] - j))
            found = _picked(images, [first[0] + i, first[1] + j], fill)
            parts.append(found * wrap(weights.astype(images.dtype)[..., None]))
    return parts[0] + parts[1] + parts[2] + parts[3]


def _moved(p: np.ndarray, n: int, outside: str) -> np.ndarray:
    """Return positions with those outside of an axis moved to where they are read."""
    if outside == "constant":
        return p
    if outside == "reflect":
        p = p - 2 * n * np.floor(p / (2 * n))
        p = np.where(p > n - 1, np.where(p >= n, 2 * n - 1 - p, p), p)
    elif outside == "wrap" and n > 1:
        below = p + n * (np.trunc(-p / (n - 1)) + 1)
        p = np.where(p < 0, below, np.where(p > n - 1, p - n * np.trunc(p / (n - 1)), p))
    return np.clip(p, 0, n - 1)


def _picked(images: Tensor, index: list[np.ndarray], fill: float) -> Tensor:
    """Return the elements at some positions of each image, and a number outside."""
    lengths = images.shape[1:3]
    pairs = list(zip(index, lengths, strict=True))
    inside = np.logical_and(*((i >= 0) & (i < n) for i, n in pairs))
    rows, columns = (np.clip(np.nan_to_num(i), 0, n - 1).astype(np.int64) for i, n in pairs)
    batch = np.arange(images.shape[0])[:, None, None]
    found = images[batch, rows, columns]
    kept = wrap(np.broadcast_to(inside[..., None], found.shape))
    return ew.where(kept, found, wrap(np.array(fill, images.dtype)))
