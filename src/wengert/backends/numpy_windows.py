"""Windows of NumPy arrays: which elements they read, and the windows themselves as arrays.

Arrays are (batch, channels, *spatial). What lies outside of the array is nothing: 0 for sums,
smaller than all for the largest. No function of windows loops over windows; loops are over taps,
images, and pieces of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["fold_windows", "unfold_windows"]

Ints = Sequence[int]


class Geometry(NamedTuple):
    """Where windows read: numbers for each spatial axis.

    Tap k of window p reads position ``p * stride + k * dilation - offset``.
    """

    stride: tuple[int, ...]
    offset: tuple[int, ...]
    dilation: tuple[int, ...]


def frame_of(
    length: Ints, kernel: Ints, size: Ints, geometry: Geometry
) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the extent of the frame that windows cover, and where it and the array overlap.

    The overlap is given in positions of the array and in those of the frame.
    """
    stride, offset, dilation = geometry
    extent = tuple(
        (n - 1) * s + (k - 1) * d + 1
        for n, k, s, d in zip(size, kernel, stride, dilation, strict=True)
    )
    inner, outer = [], []
    for n, e, lo in zip(length, extent, offset, strict=True):
        first = min(max(0, -lo), n)
        last = max(first, min(n, e - lo))
        inner.append(slice(first, last))
        outer.append(slice(first + lo, last + lo) if last > first else slice(0, 0))
    return extent, tuple(inner), tuple(outer)


def windows_of(frame: np.ndarray, kernel: Ints, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return a view (..., *kernel, *size) of a frame (..., *extent)."""
    stride, _, dilation = geometry
    lead = frame.ndim - len(kernel)
    steps = frame.strides[lead:]
    return np.lib.stride_tricks.as_strided(
        frame,
        (*frame.shape[:lead], *kernel, *size),
        (
            *frame.strides[:lead],
            *(step * d for step, d in zip(steps, dilation, strict=True)),
            *(step * s for step, s in zip(steps, stride, strict=True)),
        ),
        writeable=False,
    )


def slices_of(k: Ints, size: Ints, geometry: Geometry) -> tuple[Any, ...]:
    """Return the slices of a frame that tap k of all windows reads."""
    stride, _, dilation = geometry
    return tuple(
        slice(i * d, i * d + (n - 1) * s + 1, s)
        for i, n, s, d in zip(k, size, stride, dilation, strict=True)
    )


def overlap(
    k: int, places: int, length: int, stride: int, offset: int, dilation: int
) -> tuple[slice, slice]:
    """Return the windows whose tap k reads within the array, and the positions it reads."""
    shift = k * dilation - offset
    first = max(0, -(shift // stride))  # the least p with p * stride + shift >= 0
    last = min(places, (length - 1 - shift) // stride + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    start = first * stride + shift
    return slice(first, last), slice(start, start + (last - first - 1) * stride + 1, stride)


def is_channels_last(x: np.ndarray) -> bool:
    """Return whether the channels of a position lie side by side in memory."""
    return x.shape[1] > 1 and 0 < x.strides[1] < min(map(abs, x.strides[2:]))


def unfold_windows(x: np.ndarray, *, kernel: Ints, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return the windows of x as (batch, channels, *kernel, *size), with 0 outside of x."""
    extent, inner, outer = frame_of(x.shape[2:], kernel, size, geometry)
    if 0 in size:
        return np.zeros((*x.shape[:2], *kernel, *size), x.dtype)
    frame = np.zeros((*x.shape[:2], *extent), x.dtype)
    frame[(..., *outer)] = x[(..., *inner)]
    return np.array(windows_of(frame, kernel, size, geometry))


def fold_windows(windows: np.ndarray, *, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return (batch, channels, *size) with windows added up where they overlap."""
    count = len(size)
    lead, kernel = windows.shape[:2], windows.shape[2 : 2 + count]
    places = windows.shape[2 + count :]
    x = np.zeros((*lead, *size), windows.dtype)
    if not windows.size:
        return x
    extent, inner, outer = frame_of(size, kernel, places, geometry)
    frame = np.zeros((*lead, *extent), windows.dtype)
    for k in np.ndindex(*kernel):
        frame[(..., *slices_of(k, places, geometry))] += windows[(slice(None), slice(None), *k)]
    x[(..., *inner)] = frame[(..., *outer)]
    return x
