"""Pooling of NumPy arrays by windows that lie side by side and cover whole images.

What NumPy does with every other element takes several times as long as with neighbours. So the
largest of each window is written once for each of its columns, and rows are compared with it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from wengert.backends.numpy_kernels import keep
from wengert.backends.numpy_windows import Geometry, Ints
from wengert.backends.threads import in_pieces

__all__: list[str] = []  # called by their module's name, not through `xp.nn`

#: A type for the masks of neighbours that are in one window, a byte each, by how many there are.
_MASKS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
#: About how many bytes of images are worked on at a time.
_PIECE = 1 << 19


def cover(inputs: np.ndarray, largest: np.ndarray, kernel: Ints, geometry: Geometry) -> bool:
    """Return whether windows of a contiguous array are such, and `max_spread` knows their width."""
    stride, offset, dilation = geometry
    return (
        len(kernel) == 2
        and inputs.flags.c_contiguous
        and (*kernel,) == (*stride,)
        and (*offset, *dilation) == (0, 0, 1, 1)
        and inputs.shape[-2:]
        == tuple(n * k for n, k in zip(largest.shape[-2:], kernel, strict=True))
        and kernel[1] in _MASKS
        and kernel[0] * kernel[1] < 256
        and sys.byteorder == "little"
        and inputs.size > 0
    )


def max_spread(
    g: np.ndarray, inputs: np.ndarray, largest: np.ndarray, kernel: Ints, ties: str
) -> np.ndarray:
    """Return g given to the elements of windows that equal the largest, which is not NaN."""
    height, width = kernel
    length = inputs.shape[-1]
    x = inputs.reshape(-1, height, length)
    y, values = (a.reshape(-1, length // width) for a in (largest, g))
    out = np.empty(x.shape, g.dtype)

    def work(first: int, last: int) -> None:
        mask = x[first:last] == _widened(y[first:last], width)
        masks, share = mask.view(_MASKS[width]), values[first:last]
        if np.count_nonzero(mask) > share.size and ties == "first":
            _keep_first(masks)
        elif np.count_nonzero(mask) > share.size:
            share = share / _counts(masks, width).astype(share.real.dtype)
        keep(_widened(share, width), mask, out[first:last])

    in_pieces(work, len(x), _PIECE // (x.itemsize * height * length))
    return out.reshape(inputs.shape)


def _widened(values: np.ndarray, width: int) -> np.ndarray:
    """Return rows (rows, 1, ...) with each number repeated."""
    wide = np.empty((*values.shape, width), values.dtype)
    for k in range(width):
        wide[..., k] = values
    return wide.reshape(len(values), 1, -1)


def _keep_first(masks: np.ndarray) -> None:
    """Leave of the masks (rows, rows of a window, windows) only the first one of each window."""
    masks &= -masks  # the lowest bit is that of the first neighbour
    rest = masks[:, 0] == 0
    for row in range(1, masks.shape[1]):
        here = masks[:, row]
        here *= rest
        rest &= here == 0


def _counts(masks: np.ndarray, width: int) -> Any:
    """Return how many elements of each window have a mask."""
    each = masks.dtype.type
    total = masks[:, 0]
    for row in range(1, masks.shape[1]):
        total = total + masks[:, row]
    ones = each(int.from_bytes(bytes([1] * width), "little"))
    return (total * ones) >> each(8 * (width - 1))  # the highest byte is the sum of all
