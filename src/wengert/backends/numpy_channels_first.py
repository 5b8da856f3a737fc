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

    #: the other taps, and (remainders that are read, rows, other lengths) of the matrix's rows
    taps: tuple[int, ...]
    shape: tuple[int, ...]
    #: where each tap along the first axis begins in a row of the matrix, and how much it reads
    starts: list[int]
    length: int
    #: which of these taps are the first ones with their remainder, and what these do not read
    leads: list[bool]
    unread: list[slice]
    #: parts (*taps, channels, remainder, rows, ...) of what is laid out, and of images for them
    parts: list[tuple[tuple[Any, ...], tuple[Any, ...]]]
    #: which of these parts of images have no position that an earlier one has
    apart: list[bool]
    #: what of the matrix (*taps, channels, ...) is outside of images
    outside: list[tuple[Any, ...]]
    #: for windows whose rows are those of images, moved along: those parts, of flat images
    runs: list[tuple[tuple[Any, ...], slice]]


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
    remainders = sorted({remainder for _, remainder in steps})
    first = [
        overlap(0, count, lengths[0], stride, offset - top * stride - remainder, 1)
        for remainder in remainders
    ]
    beside = list(zip(kernel, size, lengths, *geometry, strict=True))[1:]
    each = [[overlap(k, *where) for k in range(taps)] for taps, *where in beside]
    parts = [
        ((*(k for k, _ in taps), _ALL, at, mine, *(to for _, (to, _) in taps)),
         (theirs, *(of for _, (_, of) in taps)))
        for at, (mine, theirs) in enumerate(first)
        for taps in itertools.product(*map(enumerate, each))
    ]  # fmt: skip
    starts = [(remainders.index(of) * count + further) * others for further, of in steps]
    begin: dict[int, int] = {}
    for start, (_, of) in zip(starts, steps, strict=True):
        begin.setdefault(of, start)
    leads = [start == begin[of] for start, (_, of) in zip(starts, steps, strict=True)]
    unread = [
        part
        for at, of in enumerate(remainders)
        for part in (
            slice(at * count * others, begin[of]),
            slice(begin[of] + here * others, (at + 1) * count * others),
        )
        if part.start < part.stop
    ]
    classes = [tuple(of.start % of.step if of.step else 0 for of in theirs) for _, theirs in parts]
    apart = [key not in classes[:k] for k, key in enumerate(classes)]
    alike = set(geometry.stride) == {1} and size[1:] == lengths[1:]
    return _Layout(
        kernel[1:],
        (len(remainders), count, *size[1:]),
        starts,
        here * others,
        leads,
        unread,
        parts,
        apart,
        _outside(first, each, count, size),
        [_run(mine, theirs, (count, *size[1:]), lengths) for mine, theirs in parts if alike],
    )


def _rest(part: slice, length: int) -> list[slice]:
    """Return what is before and after a part."""
    return [s for s in (slice(0, part.start), slice(part.stop, length)) if s.start < s.stop]


def _outside(first: Any, each: Any, count: int, size: Ints) -> list[tuple[Any, ...]]:
    """Return the parts of a _Layout's matrix that are outside of images."""
    taps = (_ALL,) * len(each)
    rows = [(*taps, _ALL, at, s) for at, (mine, _) in enumerate(first) for s in _rest(mine, count)]
    return rows + [
        (*taps[:a], k, *taps[a + 1 :], _ALL, _ALL, _ALL, *taps[:a], s)
        for a, where in enumerate(each)
        for k, (mine, _) in enumerate(where)
        for s in _rest(mine, size[a + 1])
    ]


def _run(mine: Any, theirs: Any, shape: Ints, lengths: Ints) -> tuple[tuple[Any, ...], slice]:
    """Return one of the runs of a _Layout, whose rows, ... are `shape` and those of images."""
    taps, places = mine[: -len(shape) - 1], mine[-len(shape) :]
    steps = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    starts = [of.start - to.start for to, of in zip(places, theirs, strict=True)]
    ahead = sum(start * step for start, step in zip(starts, steps, strict=True))
    first = max(places[0].start * steps[0], -ahead)
    last = max(first, min(places[0].stop * steps[0], math.prod(lengths) - ahead))
    return (*taps, slice(first, last)), slice(first + ahead, last + ahead)


_ALL = slice(None)


def _laid_out(
    memory: Memory, x: np.ndarray, images: slice, layout: _Layout, groups: int
) -> np.ndarray:
    """Return windows as matrices (images, groups, other taps and channels, positions)."""
    some = _in_groups(x[images], groups)
    lead, lengths = some.shape[:3], some.shape[3:]
    shape = (*lead[:2], *layout.taps, lead[2], *layout.shape)
    if math.prod(shape) == some.size and layout.parts[0][1] == tuple(slice(0, n) for n in lengths):
        laid = some  # such a matrix already
    else:
        laid = held(memory, "windows", shape, x.dtype)
        if layout.runs:
            flat, given = laid.reshape(*shape[: -len(lengths) - 1], -1), some.reshape(*lead, -1)
            for to, of in layout.runs:
                flat[(_ALL, _ALL, *to)] = given[..., of]
        else:
            for mine, theirs in layout.parts:
                laid[(_ALL, _ALL, *mine)] = some[(..., *theirs)]
        for nothing in layout.outside:
            laid[(_ALL, _ALL, *nothing)] = 0
    return laid.reshape(*lead[:2], -1, math.prod(layout.shape))


def _in_groups(x: np.ndarray, groups: int) -> np.ndarray:
    """Return (batch, channels, ...) as (batch, groups, channels of each, ...)."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _kernels(w: np.ndarray, groups: int) -> np.ndarray:
    """Return kernels as matrices (taps along the first axis, groups, out, other taps and in)."""
    outputs, _, first, *_ = w.shape
    parted = w.reshape(groups, outputs // groups, *w.shape[1:])
    moved = parted.transpose(3, 0, 1, *range(4, parted.ndim), 2)
    matrices = np.empty(moved.shape, w.dtype)
    matrices[...] = moved
    return matrices.reshape(first, groups, outputs // groups, -1)


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray, parts: Sequence[slice]) -> None:
    """Write the products of matrices to `out`, some columns at a time."""
    if len(parts) == 1:
        np.matmul(a, b, out=out)
        return
    for part in parts:
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
    rises = None if bias is None else bias.reshape(groups, -1, 1)

    def work(memory: Memory, images: slice, rows: slice) -> None:
        layout = _layout(x.shape[2:], kernel, rows, size, geometry)
        laid = _laid_out(memory, x, images, layout, groups)
        reads = _reads(memory, laid, layout, at_once)
        out = z[images, :, :, rows.start * others : rows.stop * others]
        parts = parts_of(layout.length, *kernels.shape[-2:])
        _multiply(kernels[0], reads[0], out, parts)
        for matrix, read in zip(kernels[1:], reads[1:], strict=True):
            term = held(memory, "term", out.shape, x.dtype)
            _multiply(matrix, read, term, parts)
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
        parts = parts_of(layout.length, taps, outputs)
        for term, read in zip(terms, _reads(memory, laid, layout, at_once), strict=True):
            for part in parts:
                term += np.add.reduce(np.matmul(read[..., part], turned[:, :, part]), axis=0)
        with lock:
            np.add(total, terms, out=total)

    rows = x.shape[1] * (size[0] if at_once else 1)
    products.each(work, _pieces(x, rows, size, places, geometry), taps, outputs)
    if at_once:
        total = total.reshape(groups, size[0], taps, outputs).swapaxes(0, 1)
    parted = total.reshape(size[0], groups, *size[1:], channels, outputs)
    last = parted.ndim - 1
    weight = parted.transpose(1, last, last - 1, 0, *range(2, last - 1))
    return weight.reshape(groups * outputs, channels, *size)


def add_up_windows(
    z: np.ndarray, w: np.ndarray, size: tuple[int, ...], geometry: Geometry, groups: int
) -> np.ndarray:
    """Return the sums of z * w over all windows that see a position, for images of `size`."""
    kernels, kernel, places = _kernels(w, groups), w.shape[2:], z.shape[2:]
    _, _, outputs, taps = kernels.shape
    channels, others = w.shape[1], math.prod(places[1:])
    kernels = np.ascontiguousarray(kernels.swapaxes(2, 3))
    z = np.ascontiguousarray(z).reshape(z.shape[0], groups, outputs, -1)
    x = np.zeros((z.shape[0], groups * channels, *size), z.dtype)
    todo = _pieces(z, groups * channels, kernel, places, geometry)

    def work(memory: Memory, rows: Sequence[tuple[slice, slice]]) -> None:
        for images, here in rows:
            layout = _layout(size, kernel, here, places, geometry)
            count = images.stop - images.start
            laid = held(memory, "windows", (count, groups, taps, math.prod(layout.shape)), z.dtype)
            for part in layout.unread:
                laid[..., part] = 0
            term = held(memory, "term", (count, groups, taps, layout.length), z.dtype)
            given = z[images, :, :, here.start * others : here.stop * others]
            parts = parts_of(layout.length, *kernels.shape[-2:])
            for matrix, at, leads in zip(kernels, layout.starts, layout.leads, strict=True):
                there = laid[..., at : at + layout.length]
                _multiply(matrix, given, there if leads else term, parts)
                if not leads:
                    there += term
            windows = laid.reshape(count, groups, *layout.taps, channels, *layout.shape)
            some = _in_groups(x[images], groups)
            for (mine, theirs), apart in zip(layout.parts, layout.apart, strict=True):
                if apart and len(rows) == 1:
                    some[(..., *theirs)] = windows[(_ALL, _ALL, *mine)]
                else:
                    some[(..., *theirs)] += windows[(_ALL, _ALL, *mine)]

    by_images = [(list(rows),) for _, rows in itertools.groupby(todo, lambda piece: piece[0].start)]
    products.each(work, by_images, taps, outputs)
    return x
