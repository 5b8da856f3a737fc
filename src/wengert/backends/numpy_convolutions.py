"""Convolutions of NumPy arrays, by products of matrices.

Those of arrays whose channels are last in memory are here; others are in `numpy_channels_first`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from wengert.backends import numpy_channels_first as channels_first
from wengert.backends import numpy_products as products
from wengert.backends.numpy_products import Memory, each, few_rows, held
from wengert.backends.numpy_windows import (
    Geometry,
    Ints,
    frame_of,
    is_channels_last,
    slices_of,
    windows_of,
)

__all__ = ["convolve", "convolve_input", "convolve_weight"]

#: Windows of no more bytes than this are laid out in one go.
SMALL = 1 << 18


def _alike(*arrays: np.ndarray) -> list[np.ndarray]:
    """Return arrays in one dtype, which BLAS wants."""
    dtype = np.result_type(*arrays)
    return [a.astype(dtype, copy=False) for a in arrays]


def _empty(shape: Sequence[int], dtype: Any, memory: Memory | None = None) -> np.ndarray:
    """Return an array (batch, channels, *spatial) whose channels are last in memory."""
    ordered = (shape[0], *shape[2:], shape[1])
    array = np.empty(ordered, dtype) if memory is None else held(memory, "image", ordered, dtype)
    return np.moveaxis(array, -1, 1)


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write the products of matrices (groups, rows, taps) and (groups, taps, channels) to `out`.

    They are computed a few rows at a time, which BLAS is quickest at if it is called by each core.
    """
    groups, rows, taps = a.shape
    few = few_rows(taps, b.shape[2])
    if not few or rows <= few:
        np.matmul(a, b, out=out)
        return
    whole = rows - rows % few
    parts = [m[:, :whole].reshape(groups, whole // few, few, -1) for m in (a, out)]
    np.matmul(parts[0], b[:, None], out=parts[1])
    if whole < rows:
        np.matmul(a[:, whole:], b, out=out[:, whole:])


def _multiply_transposed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products of matrices (groups, rows, taps), transposed, and (groups, rows, ...)."""
    groups, rows, taps = a.shape
    few = few_rows(taps, b.shape[2])
    if not few or rows <= few:
        return np.matmul(a.swapaxes(1, 2), b)
    whole = rows - rows % few
    parts = [m[:, :whole].reshape(groups, whole // few, few, -1) for m in (a, b)]
    total: np.ndarray = np.matmul(parts[0].swapaxes(2, 3), parts[1]).sum(axis=1)
    if whole < rows:
        total += np.matmul(a[:, whole:].swapaxes(1, 2), b[:, whole:])
    return total


def _kernels(w: np.ndarray, groups: int) -> np.ndarray:
    """Return kernels (out, in, *window) as matrices (groups, window and in, out)."""
    outputs, channels, *kernel = w.shape
    parted = w.reshape(groups, outputs // groups, channels, *kernel)
    moved = np.moveaxis(parted, (1, 2), (-1, -2))
    return moved.reshape(groups, -1, outputs // groups)


def _places(z: np.ndarray, images: slice, rows: slice, groups: int) -> np.ndarray:
    """Return a piece of z as matrices (groups, windows, channels): a view if memory allows."""
    part = np.moveaxis(z, 1, -1)[images, rows]
    flat = part.reshape(math.prod(part.shape[:-1]), groups, z.shape[1] // groups)
    return flat.swapaxes(0, 1)


def _long_runs(x: np.ndarray, kernel: Ints, groups: int) -> bool:
    """Return whether windows are best laid out one by one: their parts are long in memory."""
    return is_channels_last(x) and x.shape[1] // groups * kernel[-1] >= 8


def _laid_out(
    memory: Memory, x: np.ndarray, images: slice, rows: slice, kernel: Ints, size: Ints,
    geometry: Geometry, groups: int,
) -> np.ndarray:  # fmt: skip
    """Return the windows of a piece as matrices (groups, windows, taps and channels)."""
    stride, offset, dilation = geometry
    here = (rows.stop - rows.start, *size[1:])
    below = Geometry(stride, (offset[0] - rows.start * stride[0], *offset[1:]), dilation)
    extent, inner, outer = frame_of(x.shape[2:], kernel, here, below)
    part = x[(images, slice(None), *inner)]
    if part.shape[2:] != extent:  # windows reach over the border
        frame = _empty((*part.shape[:2], *extent), x.dtype, memory)
        frame[...] = 0
        frame[(..., *outer)] = part
        part = frame
    windows = windows_of(part, kernel, here, below)
    count, spatial = windows.shape[0], len(kernel)
    windows = windows.reshape(count, groups, x.shape[1] // groups, *kernel, *here)
    taps, places = range(3, 3 + spatial), range(3 + spatial, 3 + 2 * spatial)
    windows = windows.transpose(1, 0, *places, *taps, 2)
    if math.prod(kernel) > 1:  # else the images may be such matrices already
        laid = held(memory, "windows", windows.shape, x.dtype)
        laid[...] = windows
        windows = laid
    return windows.reshape(groups, count * math.prod(here), -1)


def _convolve_small(
    x: np.ndarray, w: np.ndarray, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return `convolve` without pieces, where Python around them takes longer than BLAS."""
    batch, channels, kernel = x.shape[0], x.shape[1], w.shape[2:]
    extent, inner, outer = frame_of(x.shape[2:], kernel, size, geometry)
    frame = np.zeros((batch, channels, *extent), x.dtype)
    frame[(..., *outer)] = x[(..., *inner)]
    stride, _, dilation = geometry
    steps = frame.strides[2:]
    windows = np.ndarray(
        (batch, channels, *kernel, *size),
        x.dtype,
        frame,
        strides=(
            *frame.strides[:2],
            *[step * d for step, d in zip(steps, dilation, strict=True)],
            *[step * s for step, s in zip(steps, stride, strict=True)],
        ),
    )
    taps = channels // groups * math.prod(kernel)
    columns = windows.reshape(batch, groups, taps, math.prod(size))
    z = np.matmul(w.reshape(groups, w.shape[0] // groups, -1), columns)
    return z.reshape(batch, w.shape[0], *size)


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    size: tuple[int, ...],
    geometry: Geometry,
    groups: int,
) -> np.ndarray:
    """Return the sums of x * w in windows, `size` of them, plus a bias for each channel."""
    if bias is None:
        x, w = _alike(x, w)
    else:
        x, w, bias = _alike(x, w, bias)
        bias = bias.reshape(-1, *(1 for _ in size)) if bias.any() else None
    kernel = w.shape[2:]
    if not x.size or not w.size:
        z = np.zeros((x.shape[0], w.shape[0], *size), x.dtype)
        return z if bias is None else np.add(z, bias, out=z)
    if x.shape[0] * x.shape[1] * math.prod(kernel) * math.prod(size) * x.itemsize <= SMALL:
        z = _convolve_small(x, w, size, geometry, groups)
        return z if bias is None else np.add(z, bias, out=z)
    if not _long_runs(x, kernel, groups):
        return channels_first.convolve(x, w, bias, size, geometry, groups)
    z = _empty((x.shape[0], w.shape[0], *size), x.dtype)
    kernels = _kernels(w, groups)
    taps, outputs = kernels.shape[1:]
    rises = None if bias is None else bias.reshape(groups, 1, -1)

    def work(memory: Memory, images: slice, rows: slice) -> None:
        windows = _laid_out(memory, x, images, rows, kernel, size, geometry, groups)
        out = _places(z, images, rows, groups)
        _multiply(windows, kernels, out)
        if rises is not None:
            out += rises
        if not np.may_share_memory(out, z):  # then it was a copy
            part = np.moveaxis(z, 1, -1)[images, rows]
            part[...] = out.swapaxes(0, 1).reshape(part.shape)

    row = x.shape[1] * math.prod((*kernel, *size[1:])) * x.itemsize
    each(work, products.pieces(x.shape[0], size, row, products.LAID_OUT), taps, outputs)
    return z


def convolve_weight(
    x: np.ndarray, z: np.ndarray, *, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return the sums of x * z over all windows, for each tap of kernels of `size`."""
    x, z = _alike(x, z)
    channels, outputs, places = x.shape[1] // groups, z.shape[1] // groups, z.shape[2:]
    taps = channels * math.prod(size)
    total = np.zeros((groups, taps, outputs), x.dtype)
    if x.size and z.size and total.size:
        if not _long_runs(x, size, groups):
            return channels_first.convolve_weight(x, z, size, geometry, groups)
        lock = Lock()

        def work(memory: Memory, images: slice, rows: slice) -> None:
            windows = _laid_out(memory, x, images, rows, size, places, geometry, groups)
            term = _multiply_transposed(windows, _places(z, images, rows, groups))
            with lock:
                np.add(total, term, out=total)

        row = x.shape[1] * math.prod((*size, *places[1:])) * x.itemsize
        each(work, products.pieces(x.shape[0], places, row, products.LAID_OUT), taps, outputs)
    parted = total.reshape(groups, *size, channels, outputs)
    weight = np.moveaxis(parted, (-1, -2), (1, 2)).reshape(groups * outputs, channels, *size)
    return weight


def convolve_input(
    z: np.ndarray, w: np.ndarray, *, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return, for images of `size`, the sums of z * w over all windows that see a position."""
    z, w = _alike(z, w)
    stride, offset, dilation = geometry
    outputs, channels, kernel = w.shape[0] // groups, w.shape[1], w.shape[2:]
    if not z.size or not w.size:
        return np.zeros((z.shape[0], groups * channels, *size), z.dtype)
    laid_out = z.shape[0] * z.shape[1] * math.prod(kernel) * math.prod(size) * z.itemsize
    # a convolution with the kernels turned around
    if set(stride) == {1} and (outputs <= 2 * channels or laid_out <= SMALL):
        turned = w.reshape(groups, outputs, channels, *kernel).swapaxes(1, 2)
        turned = turned.reshape(groups * channels, outputs, *kernel)
        back = (slice(None, None, -1),) * len(kernel)
        reach = tuple((k - 1) * d - lo for k, d, lo in zip(kernel, dilation, offset, strict=True))
        turned = turned[(slice(None), slice(None), *back)]
        around = Geometry(stride, reach, dilation)
        x = convolve(z, turned, size=size, geometry=around, groups=groups)
    else:
        by_place = is_channels_last(z) and channels >= 8
        add_up = _add_up_windows if by_place else channels_first.add_up_windows
        x = add_up(z, w, size, geometry, groups)
    return x


def _add_up_windows(
    z: np.ndarray, w: np.ndarray, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return `convolve_input` of channels last by adding up all windows where they overlap."""
    batch, kernel, places = z.shape[0], w.shape[2:], z.shape[2:]
    channels = w.shape[1]
    x = _empty((batch, groups * channels, *size), z.dtype)
    x[...] = 0
    extent, inner, outer = frame_of(size, kernel, places, geometry)
    kernels = _kernels(w, groups).swapaxes(1, 2)
    outputs, taps = kernels.shape[1:]
    row = groups * taps * math.prod(places[1:]) * z.itemsize
    pieces = products.pieces(batch, places, row, products.LAID_OUT)
    by_images = {images.start: images for images, _ in pieces}

    def work(memory: Memory, images: slice) -> None:
        count = images.stop - images.start
        frame = _empty((count, groups * channels, *extent), z.dtype, memory)
        frame[...] = 0
        parted = frame.reshape(count, groups, channels, *extent)
        for _, rows in (piece for piece in pieces if piece[0] == images):
            here = (rows.stop - rows.start, *places[1:])
            windows = held(memory, "windows", (groups, count * math.prod(here), taps), z.dtype)
            _multiply(_places(z, images, rows, groups), kernels, windows)
            windows = windows.reshape(groups, count, *here, *kernel, channels)
            below = parted[:, :, :, rows.start * geometry[0][0] :]
            for k in np.ndindex(*kernel):
                tap = windows[(..., *k, slice(None))]  # (groups, count, *here, channels)
                below[(..., *slices_of(k, here, geometry))] += np.moveaxis(tap, (0, -1), (1, 2))
        x[(images, slice(None), *inner)] = frame[(..., *outer)]

    each(work, [(images,) for images in by_images.values()], outputs, taps)
    return x
