"""Convolutions of NumPy arrays whose channels lie one after the other, by products of matrices.

Windows are laid out for the taps along all spatial axes but the first. What a tap along the first
axis reads is what another one reads, some rows further on. So there is one product for each such
tap, all of them read the same memory, and less is laid out than windows hold: a third for kernels
of 3 x 3. With a stride, rows are sorted by their remainder, so that they lie side by side as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from wengert.backends import numpy_products as products
from wengert.backends.numpy_products import Memory, held, parts_of
from wengert.backends.numpy_windows import Geometry, Ints, overlap

__all__: list[str] = []  # called by their module's name, not through `xp.nn`

#: With at least so many channels of z, a product is quicker with z transposed in memory.
MANY = 32


class _Layout(NamedTuple):
    """How the windows of some rows are laid out."""

    #: the other taps, and (remainders, rows, other lengths) of the matrix's rows
    taps: tuple[int, ...]
    shape: tuple[int, ...]
    #: where each tap along the first axis begins in a row of the matrix, and how much it reads
    starts: list[int]
    length: int
    #: parts (*taps, remainder, rows, ...) of what is laid out, and the parts of images they are
    parts: list[tuple[tuple[Any, ...], tuple[Any, ...]]]


def _layout(lengths: Ints, kernel: Ints, rows: slice, size: Ints, geometry: Geometry) -> _Layout:
    """Return the layout of the windows in some rows, of images with `lengths`."""
    return _layout_of(tuple(lengths), tuple(kernel), rows.start, rows.stop, tuple(size), geometry)


@lru_cache(maxsize=256)
def _layout_of(
    lengths: tuple[int, ...], kernel: tuple[int, ...], top: int, bottom: int,
    size: tuple[int, ...], geometry: Geometry,
) -> _Layout:  # fmt: skip
    """Return `_layout` of the rows from `top` to `bottom`."""
    stride, offset, dilation = (values[0] for values in geometry)
    here = bottom - top
    steps = [divmod(k * dilation, stride) for k in range(kernel[0])]
    count = here + max(further for further, _ in steps)
    others = math.prod(size[1:])
    first = [
        overlap(0, count, lengths[0], stride, offset - top * stride - remainder, 1)
        for remainder in range(stride)
    ]
    beside = list(zip(kernel, size, lengths, *geometry, strict=True))[1:]
    each = [[overlap(k, *where) for k in range(taps)] for taps, *where in beside]
    parts = [
        ((*(k for k, _ in taps), remainder, mine, *(to for _, (to, _) in taps)),
         (theirs, *(of for _, (_, of) in taps)))
        for remainder, (mine, theirs) in enumerate(first)
        for taps in itertools.product(*map(enumerate, each))
    ]  # fmt: skip
    return _Layout(
        tuple(kernel[1:]),
        (stride, count, *size[1:]),
        [(remainder * count + further) * others for further, remainder in steps],
        here * others,
        parts,
    )


_EACH = (slice(None), slice(None))  # image and channel


def _laid_out(
    memory: Memory, x: np.ndarray, images: slice, layout: _Layout, groups: int
) -> np.ndarray:
    """Return windows as matrices (images, groups, channels and other taps, positions)."""
    some = x[images]
    shape = (*some.shape[:2], *layout.taps, *layout.shape)
    whole = tuple(slice(0, n) for n in some.shape[2:])
    if math.prod(shape) == some.size and layout.parts[0][1] == whole:
        laid = some  # such a matrix already
    else:
        laid = held(memory, "windows", shape, x.dtype)
        if memory.get("laid") != (shape, layout.parts):  # else 0 is outside of images already
            laid[...] = 0
            memory["laid"] = shape, layout.parts
        for mine, theirs in layout.parts:
            laid[(*_EACH, *mine)] = some[(*_EACH, *theirs)]
    return laid.reshape(len(some), groups, -1, math.prod(layout.shape))


def _kernels(w: np.ndarray, groups: int) -> np.ndarray:
    """Return kernels as matrices (taps along the first axis, groups, out, in and other taps)."""
    outputs, channels, first, *others = w.shape
    parted = w.reshape(groups, outputs // groups, channels, first, *others)
    matrices = np.moveaxis(parted, 3, 0).reshape(first, groups, outputs // groups, -1)
    return np.ascontiguousarray(matrices)


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write the products of matrices to `out`, some columns at a time."""
    for part in parts_of(b.shape[-1], *a.shape[-2:]):
        np.matmul(a, b[..., part], out=out[..., part])


def _at_once(first: int, taps: int, outputs: int) -> bool:
    """Return whether windows are laid out for all taps: a few more rows, and one product."""
    return first > 1 and outputs > 2 * taps


def _reads(memory: Memory, laid: np.ndarray, layout: _Layout, at_once: bool) -> list[np.ndarray]:
    """Return what each tap along the first axis reads, or what all of them read in one matrix."""
    reads = [laid[..., at : at + layout.length] for at in layout.starts]
    if not at_once:
        return reads
    images, groups, taps, length = reads[0].shape
    stacked = held(memory, "taps", (images, groups, len(reads), taps, length), laid.dtype)
    np.stack(reads, axis=2, out=stacked)
    return [stacked.reshape(images, groups, -1, length)]


def _pieces(
    x: np.ndarray, channels: int, kernel: Ints, size: Ints, geometry: Geometry
) -> list[tuple[slice, slice]]:
    """Return (images, rows) that cover all windows."""
    stride = geometry[0][0]
    row = channels * stride * math.prod((*kernel[1:], *size[1:])) * x.itemsize
    return products.pieces(x.shape[0], size, row, products.LAID_OUT // 2)


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    size: tuple[int, ...],
    geometry: Geometry,
    groups: int,
) -> np.ndarray:
    """Return the sums of x * w in windows, `size` of them, plus a bias for each channel."""
    kernels, kernel = _kernels(w, groups), w.shape[2:]
    first, _, outputs, taps = kernels.shape
    z = np.empty((x.shape[0], groups, outputs, math.prod(size)), x.dtype)
    others = math.prod(size[1:])
    at_once = _at_once(first, taps, outputs)
    if at_once:
        kernels = np.moveaxis(kernels, 0, 2).reshape(1, groups, outputs, -1)
    rises = None if bias is None else np.broadcast_to(bias, (w.shape[0],)).reshape(groups, -1, 1)

    def work(memory: Memory, images: slice, rows: slice) -> None:
        layout = _layout(x.shape[2:], kernel, rows, size, geometry)
        laid = _laid_out(memory, x, images, layout, groups)
        reads = _reads(memory, laid, layout, at_once)
        out = z[images, :, :, rows.start * others : rows.stop * others]
        _multiply(kernels[0], reads[0], out)
        for matrix, read in zip(kernels[1:], reads[1:], strict=True):
            term = held(memory, "term", out.shape, x.dtype)
            _multiply(matrix, read, term)
            np.add(out, term, out=out)
        if rises is not None:
            np.add(out, rises, out=out)

    todo = _pieces(x, x.shape[1] * (first if at_once else 1), kernel, size, geometry)
    products.each(work, todo, taps, outputs)
    return z.reshape(x.shape[0], -1, *size)


def convolve_weight(
    x: np.ndarray, z: np.ndarray, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return the sums of x * z over all windows, for each tap of kernels of `size`."""
    channels, outputs, places = x.shape[1] // groups, z.shape[1] // groups, z.shape[2:]
    taps, others = channels * math.prod(size[1:]), math.prod(places[1:])
    z = np.ascontiguousarray(z).reshape(z.shape[0], groups, outputs, -1)
    at_once = _at_once(size[0], taps, outputs)
    shape = (1, groups, size[0] * taps) if at_once else (size[0], groups, taps)
    total = np.zeros((*shape, outputs), x.dtype)
    lock = Lock()

    def work(memory: Memory, images: slice, rows: slice) -> None:
        layout = _layout(x.shape[2:], size, rows, places, geometry)
        laid = _laid_out(memory, x, images, layout, groups)
        turned = z[images, :, :, rows.start * others : rows.stop * others].swapaxes(2, 3)
        if outputs >= MANY:
            copied = held(memory, "turned", turned.shape, z.dtype)
            copied[...] = turned
            turned = copied
        terms = np.zeros_like(total)
        for term, read in zip(terms, _reads(memory, laid, layout, at_once), strict=True):
            for part in parts_of(layout.length, taps, outputs):
                term += np.add.reduce(np.matmul(read[..., part], turned[:, :, part]), axis=0)
        with lock:
            np.add(total, terms, out=total)

    rows = x.shape[1] * (size[0] if at_once else 1)
    products.each(work, _pieces(x, rows, size, places, geometry), taps, outputs)
    if at_once:
        total = total.reshape(groups, size[0], taps, outputs).swapaxes(0, 1)
    parted = total.reshape(size[0], groups, channels, *size[1:], outputs)
    weight = np.moveaxis(parted, (-1, 0), (1, 3))
    return weight.reshape(groups * outputs, channels, *size)


def add_up_windows(
    z: np.ndarray, w: np.ndarray, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return the sums of z * w over all windows that see a position, for images of `size`."""
    kernels, kernel, places = _kernels(w, groups), w.shape[2:], z.shape[2:]
    _, _, outputs, taps = kernels.shape
    channels, others = groups * w.shape[1], math.prod(places[1:])
    kernels = np.ascontiguousarray(kernels.swapaxes(2, 3))
    z = np.ascontiguousarray(z).reshape(z.shape[0], groups, outputs, -1)
    x = np.zeros((z.shape[0], channels, *size), z.dtype)
    todo = _pieces(z, channels, kernel, places, geometry)

    def work(memory: Memory, rows: Sequence[tuple[slice, slice]]) -> None:
        for images, here in rows:
            layout = _layout(size, kernel, here, places, geometry)
            count = images.stop - images.start
            laid = held(memory, "windows", (count, groups, taps, math.prod(layout.shape)), z.dtype)
            laid[...] = 0
            term = held(memory, "term", (count, groups, taps, layout.length), z.dtype)
            given = z[images, :, :, here.start * others : here.stop * others]
            for matrix, at in zip(kernels, layout.starts, strict=True):
                _multiply(matrix, given, term)
                laid[..., at : at + layout.length] += term
            windows = laid.reshape(count, channels, *layout.taps, *layout.shape)
            for mine, theirs in layout.parts:
                x[(images, slice(None), *theirs)] += windows[(*_EACH, *mine)]

    by_images = [(list(rows),) for _, rows in itertools.groupby(todo, lambda piece: piece[0].start)]
    products.each(work, by_images, taps, outputs)
    return x
