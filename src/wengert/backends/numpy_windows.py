"""Windows of NumPy arrays: convolutions by BLAS, pooling, and sums of a few neighbours.

Arrays are (batch, channels, *spatial). Along each spatial axis, a window is described by
whole numbers: tap k of the window at place p reads position ``p * stride + k * dilation - offset``,
and what lies outside of the array is nothing: 0 for sums, smaller than all for the largest.
No function here loops over places; loops are over taps, images, and pieces of memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from wengert.backends.numpy_kernels import keep
from wengert.backends.threads import PIECE, in_pieces

__all__ = [
    "combine",
    "convolve",
    "convolve_input",
    "convolve_weight",
    "fold_windows",
    "max_pool",
    "max_pool_gather",
    "max_pool_indices",
    "max_pool_spread",
    "unfold_windows",
    "window_spread",
    "window_sum",
]

Ints = Sequence[int]
Memory = dict[str, np.ndarray]
#: About how many bytes of windows each core lays out side by side at a time.
LAID_OUT = 4 * 1024 * 1024
#: Products of matrices of fewer terms than this are computed by one thread in OpenBLAS.
ONE_THREAD = 1 << 19
#: Of larger matrices than so many rows have so few terms, products are left to BLAS's threads.
FEWEST = 48
#: Windows of no more bytes than this are laid out in one go.
SMALL = 1 << 18


def _with_working_dtype(*arrays: np.ndarray) -> tuple[list[np.ndarray], np.dtype]:
    """Return arrays in one dtype that BLAS takes, and the dtype of the result."""
    dtype = np.result_type(*arrays)
    working = np.dtype(np.float32) if dtype == np.float16 else dtype
    return [a.astype(working, copy=False) for a in arrays], dtype


# -- frames: the part of an array that windows can see --------------------------------------


def _frame(
    length: Ints, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the extent that windows cover, and where it and the array overlap, in each."""
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


def _windows(frame: np.ndarray, kernel: Ints, size: Ints, stride: Ints, dilation: Ints) -> Any:
    """Return a view (..., *kernel, *size) of a frame (..., *extent)."""
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


def _tap(k: Ints, size: Ints, stride: Ints, dilation: Ints) -> tuple[Any, ...]:
    """Return the slices of a frame that tap k of all windows reads."""
    return tuple(
        slice(i * d, i * d + (n - 1) * s + 1, s)
        for i, n, s, d in zip(k, size, stride, dilation, strict=True)
    )


# -- convolutions -----------------------------------------------------------------------------


def _is_channels_last(x: np.ndarray) -> bool:
    """Return whether the channels of a place lie side by side in memory."""
    return x.shape[1] > 1 and 0 < x.strides[1] < min(map(abs, x.strides[2:]))


def _empty(
    shape: Sequence[int], dtype: Any, channels_last: bool, memory: Memory | None = None
) -> np.ndarray:
    """Return an array (batch, channels, *spatial) with either order in memory."""
    ordered = (shape[0], *shape[2:], shape[1]) if channels_last else shape
    array = np.empty(ordered, dtype) if memory is None else _held(memory, "image", ordered, dtype)
    return np.moveaxis(array, -1, 1) if channels_last else array


def _held(memory: Memory, what: str, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Return an array that the next piece writes over: new memory is slow the first time."""
    size = math.prod(shape)
    if what not in memory or memory[what].size < size:
        memory[what] = np.empty(size, dtype)
    return memory[what][:size].reshape(shape)


def _pieces(batch: int, size: Ints, row: int, by_place: bool) -> list[tuple[slice, slice]]:
    """Return (images, rows) that cover all places: several images, or some rows of one.

    `row` is the number of bytes that the windows of a row take. Images whose places are not side
    by side are better taken one by one, unless they are small.
    """
    if not batch or not math.prod(size):
        return []
    rows = min(max(1, LAID_OUT // max(1, row)), size[0])
    rows = -(-size[0] // -(-size[0] // rows))  # pieces of about the same size
    images = max(1, (LAID_OUT if by_place else LAID_OUT // 4) // max(1, row * size[0]))
    return [
        (slice(first, min(first + images, batch)), slice(top, min(top + rows, size[0])))
        for first in range(0, batch, images)
        for top in range(0, size[0], rows)
    ]


def _few_rows(taps: int, channels: int) -> int:
    """Return how many rows a product with a matrix may have that BLAS computes in one thread."""
    return (ONE_THREAD - 1) // max(1, taps * channels)


def _each(work: Callable[..., None], pieces: list[Any], taps: int, channels: int) -> None:
    """Call ``work(memory, *piece)`` for all pieces: over the cores, unless BLAS uses them itself.

    What is in `memory` is that of one thread.
    """

    def run(first: int, last: int, memory: Memory) -> None:
        for piece in pieces[first:last]:
            work(memory, *piece)

    in_pieces(run, len(pieces), 1 if _few_rows(taps, channels) >= FEWEST else len(pieces), dict)


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write the products of matrices (groups, rows, taps) and (groups, taps, channels) to `out`.

    They are computed a few rows at a time, which BLAS is quickest at if it is called by each core.
    """
    groups, rows, taps = a.shape
    few = _few_rows(taps, b.shape[2])
    if few < FEWEST or rows <= few:
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
    few = _few_rows(taps, b.shape[2])
    if few < FEWEST or rows <= few:
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
    """Return a piece of z as matrices (groups, places, channels): a view if memory allows."""
    part = np.moveaxis(z, 1, -1)[images, rows]
    flat = part.reshape(math.prod(part.shape[:-1]), groups, z.shape[1] // groups)
    return flat.swapaxes(0, 1)


def _long_runs(x: np.ndarray, kernel: Ints, groups: int) -> bool:
    """Return whether windows are best laid out place by place: their parts are long in memory."""
    return _is_channels_last(x) and x.shape[1] // groups * kernel[-1] >= 8


def _laid_out(
    memory: Memory, x: np.ndarray, images: slice, rows: slice, kernel: Ints, size: Ints,
    stride: Ints, offset: Ints, dilation: Ints, groups: int, by_place: bool,
) -> np.ndarray:  # fmt: skip
    """Return the windows of a piece as matrices (groups, places, window and channels)."""
    here = (rows.stop - rows.start, *size[1:])
    below = (offset[0] - rows.start * stride[0], *offset[1:])
    extent, inner, outer = _frame(x.shape[2:], kernel, here, stride, below, dilation)
    part = x[(images, slice(None), *inner)]
    if part.shape[2:] != extent:  # windows reach over the border
        frame = _empty((*part.shape[:2], *extent), x.dtype, by_place, memory)
        frame[...] = 0
        frame[(..., *outer)] = part
        part = frame
    windows = _windows(part, kernel, here, stride, dilation)
    count, spatial = windows.shape[0], len(kernel)
    windows = windows.reshape(count, groups, x.shape[1] // groups, *kernel, *here)
    taps, places = range(3, 3 + spatial), range(3 + spatial, 3 + 2 * spatial)
    order = (1, 0, *places, *taps, 2) if by_place else (1, *taps, 2, 0, *places)
    laid = windows.transpose(order)
    if math.prod(kernel) > 1:  # else the images may be such matrices already
        held = _held(memory, "windows", laid.shape, x.dtype)
        held[...] = laid
        laid = held
    if by_place:
        return laid.reshape(groups, count * math.prod(here), -1)
    return laid.reshape(groups, -1, count * math.prod(here)).swapaxes(1, 2)


def _convolve_small(
    x: np.ndarray,
    w: np.ndarray,
    size: tuple[int, ...],
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """Return `convolve` without pieces, where Python around them takes longer than BLAS."""
    batch, channels, kernel = x.shape[0], x.shape[1], w.shape[2:]
    extent, inner, outer = _frame(x.shape[2:], kernel, size, stride, offset, dilation)
    frame = np.zeros((batch, channels, *extent), x.dtype)
    frame[(..., *outer)] = x[(..., *inner)]
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
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """Return the sums of x * w in windows at places of `size`, plus a bias for each channel."""
    zero = np.zeros(1, w.dtype)
    (x, w, bias), dtype = _with_working_dtype(x, w, zero if bias is None else bias)
    kernel = w.shape[2:]
    if not x.size or not w.size:
        z = np.empty((x.shape[0], w.shape[0], *size), x.dtype)
        z[...] = bias.reshape(-1, *(1 for _ in size))
        return z.astype(dtype, copy=False)
    if x.shape[0] * x.shape[1] * math.prod(kernel) * math.prod(size) * x.itemsize <= SMALL:
        z = _convolve_small(x, w, size, stride, offset, dilation, groups)
        z += bias.reshape(-1, *(1 for _ in size))
        return z.astype(dtype, copy=False)
    z = _empty((x.shape[0], w.shape[0], *size), x.dtype, _is_channels_last(x))
    by_place = _long_runs(x, kernel, groups)
    x = x if by_place else np.ascontiguousarray(x)
    kernels = _kernels(w, groups)
    taps, outputs = kernels.shape[1:]
    rises = bool(bias.any())
    bias = np.broadcast_to(bias, (w.shape[0],)).reshape(groups, 1, -1)

    def work(memory: Memory, images: slice, rows: slice) -> None:
        windows = _laid_out(
            memory, x, images, rows, kernel, size, stride, offset, dilation, groups, by_place
        )
        out = _places(z, images, rows, groups)
        _multiply(windows, kernels, out)
        if rises:
            out += bias
        if not np.may_share_memory(out, z):  # then it was a copy
            part = np.moveaxis(z, 1, -1)[images, rows]
            part[...] = out.swapaxes(0, 1).reshape(part.shape)

    row = x.shape[1] * math.prod((*kernel, *size[1:])) * x.itemsize
    _each(work, _pieces(x.shape[0], size, row, by_place), taps, outputs)
    return z.astype(dtype, copy=False)


def convolve_weight(
    x: np.ndarray,
    z: np.ndarray,
    *,
    size: tuple[int, ...],
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """Return the sums of x * z over all places, for each tap of kernels of `size`."""
    (x, z), dtype = _with_working_dtype(x, z)
    channels, outputs, places = x.shape[1] // groups, z.shape[1] // groups, z.shape[2:]
    taps = channels * math.prod(size)
    total = np.zeros((groups, taps, outputs), x.dtype)
    if x.size and z.size and total.size:
        by_place = _long_runs(x, size, groups)
        x = x if by_place else np.ascontiguousarray(x)
        lock = Lock()

        def work(memory: Memory, images: slice, rows: slice) -> None:
            windows = _laid_out(
                memory, x, images, rows, size, places, stride, offset, dilation, groups, by_place
            )
            term = _multiply_transposed(windows, _places(z, images, rows, groups))
            with lock:
                np.add(total, term, out=total)

        row = x.shape[1] * math.prod((*size, *places[1:])) * x.itemsize
        _each(work, _pieces(x.shape[0], places, row, by_place), taps, outputs)
    parted = total.reshape(groups, *size, channels, outputs)
    weight = np.moveaxis(parted, (-1, -2), (1, 2)).reshape(groups * outputs, channels, *size)
    return weight.astype(dtype, copy=False)


def convolve_input(
    z: np.ndarray,
    w: np.ndarray,
    *,
    size: tuple[int, ...],
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """Return, for images of `size`, the sums of z * w over all windows that see a position."""
    (z, w), dtype = _with_working_dtype(z, w)
    outputs, channels, kernel = w.shape[0] // groups, w.shape[1], w.shape[2:]
    if not z.size or not w.size:
        return np.zeros((z.shape[0], groups * channels, *size), dtype)
    laid_out = z.shape[0] * z.shape[1] * math.prod(kernel) * math.prod(size) * z.itemsize
    # a convolution with the kernels turned around
    if set(stride) == {1} and (outputs <= 2 * channels or laid_out <= SMALL):
        turned = w.reshape(groups, outputs, channels, *kernel).swapaxes(1, 2)
        turned = turned.reshape(groups * channels, outputs, *kernel)
        back = (slice(None, None, -1),) * len(kernel)
        reach = [(k - 1) * d - lo for k, d, lo in zip(kernel, dilation, offset, strict=True)]
        return convolve(
            z,
            turned[(slice(None), slice(None), *back)],
            size=size,
            stride=stride,
            offset=reach,
            dilation=dilation,
            groups=groups,
        ).astype(dtype, copy=False)
    return _add_up_windows(z, w, size, stride, offset, dilation, groups).astype(dtype, copy=False)


def _add_up_windows(
    z: np.ndarray,
    w: np.ndarray,
    size: tuple[int, ...],
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """Return `convolve_input` by computing all windows and adding them up where they overlap."""
    batch, kernel, places = z.shape[0], w.shape[2:], z.shape[2:]
    channels = w.shape[1]
    by_place = _is_channels_last(z) and channels >= 8
    x = _empty((batch, groups * channels, *size), z.dtype, by_place)
    x[...] = 0
    extent, inner, outer = _frame(size, kernel, places, stride, offset, dilation)
    kernels = _kernels(w, groups).swapaxes(1, 2)
    outputs, taps = kernels.shape[1:]
    row = groups * taps * math.prod(places[1:]) * z.itemsize
    pieces = _pieces(batch, places, row, by_place)
    by_images = {images.start: images for images, _ in pieces}

    def work(memory: Memory, images: slice) -> None:
        count = images.stop - images.start
        frame = _empty((count, groups * channels, *extent), z.dtype, by_place, memory)
        frame[...] = 0
        parted = frame.reshape(count, groups, channels, *extent)
        for _, rows in (piece for piece in pieces if piece[0] == images):
            here = (rows.stop - rows.start, *places[1:])
            shape = (groups, count * math.prod(here), taps)
            if by_place:
                windows = _held(memory, "windows", shape, z.dtype)
            else:
                windows = _held(memory, "windows", (groups, taps, shape[1]), z.dtype)
                windows = windows.swapaxes(1, 2)
            _multiply(_places(z, images, rows, groups), kernels, windows)
            windows = windows.reshape(groups, count, *here, *kernel, channels)
            below = parted[:, :, :, rows.start * stride[0] :]
            for k in np.ndindex(*kernel):
                tap = windows[(..., *k, slice(None))]  # (groups, count, *here, channels)
                below[(..., *_tap(k, here, stride, dilation))] += np.moveaxis(tap, (0, -1), (1, 2))
        x[(images, slice(None), *inner)] = frame[(..., *outer)]

    _each(work, [(images,) for images in by_images.values()], outputs, taps)
    return x


# -- windows as arrays ------------------------------------------------------------------------


def unfold_windows(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return the windows of x as (batch, channels, *kernel, *size), with 0 outside of x."""
    extent, inner, outer = _frame(x.shape[2:], kernel, size, stride, offset, dilation)
    if 0 in size:
        return np.zeros((*x.shape[:2], *kernel, *size), x.dtype)
    frame = np.zeros((*x.shape[:2], *extent), x.dtype)
    frame[(..., *outer)] = x[(..., *inner)]
    return np.array(_windows(frame, kernel, size, stride, dilation))


def fold_windows(
    windows: np.ndarray, *, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return (batch, channels, *size) with windows added up where they overlap."""
    count = len(size)
    lead, kernel = windows.shape[:2], windows.shape[2 : 2 + count]
    places = windows.shape[2 + count :]
    x = np.zeros((*lead, *size), windows.dtype)
    if not windows.size:
        return x
    extent, inner, outer = _frame(size, kernel, places, stride, offset, dilation)
    frame = np.zeros((*lead, *extent), windows.dtype)
    for k in np.ndindex(*kernel):
        frame[(..., *_tap(k, places, stride, dilation))] += windows[(slice(None), slice(None), *k)]
    x[(..., *inner)] = frame[(..., *outer)]
    return x


# -- pooling ----------------------------------------------------------------------------------


def _overlap(
    k: int, places: int, length: int, stride: int, offset: int, dilation: int
) -> tuple[slice, slice]:
    """Return the places at which tap k reads within the array, and the positions it reads."""
    shift = k * dilation - offset
    first = max(0, -(shift // stride))  # the least p with p * stride + shift >= 0
    last = min(places, (length - 1 - shift) // stride + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    start = first * stride + shift
    return slice(first, last), slice(start, start + (last - first - 1) * stride + 1, stride)


def _overlaps(
    length: Ints, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> list[list[tuple[slice, slice]]]:
    """Return `_overlap` of each tap, for each axis."""
    return [
        [_overlap(k, n, m, s, lo, d) for k in range(taps)]
        for taps, n, m, s, lo, d in zip(kernel, size, length, stride, offset, dilation, strict=True)
    ]


def _each_image(work: Callable[[int, int], None], count: int, array: np.ndarray) -> None:
    """Call ``work(first, last)`` for images that cover `count`, a few at a time."""
    in_pieces(work, count, PIECE // max(1, array.nbytes // max(1, count)))


def _many_channels_last(x: np.ndarray, spatial: int) -> bool:
    """Return whether images are better worked on with their channels last."""
    return x.ndim == spatial + 2 and x.shape[1] >= 8 and _is_channels_last(x)


def _images(x: np.ndarray, spatial: int, last: bool) -> np.ndarray:
    """Return x as (images, *spatial), or as (batch, *spatial, channels) if these go `last`."""
    if last:
        return np.moveaxis(x, 1, -1)
    lead = x.ndim - spatial
    return x.reshape((math.prod(x.shape[:lead]), *x.shape[lead:]))


def _as_before(images: np.ndarray, lead: Ints, last: bool) -> np.ndarray:
    """Return what `_images` was made of, with lengths `lead` in front of the spatial axes."""
    return np.moveaxis(images, -1, 1) if last else images.reshape(*lead, *images.shape[1:])


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * (axis + 1), part)


def _only_window(taps: list[tuple[slice, slice]], dilation: int) -> slice:
    """Return the positions that the taps of the only window along an axis read."""
    starts = [positions.start for places, positions in taps if places.stop]
    return slice(starts[0], starts[-1] + 1, dilation) if starts else slice(0, 0)


def _reduce(
    x: np.ndarray, ufunc: Any, blank: Any, kernel: Ints, size: Ints, geometry: dict[str, Ints]
) -> np.ndarray:
    """Return windows of x reduced by `ufunc`, one axis after the other."""
    spatial = len(size)
    lead, last = x.ndim - spatial, _many_channels_last(x, spatial)
    images = _images(x, spatial, last)
    taps = _overlaps(x.shape[lead:], kernel, size, **geometry)
    out = np.empty((len(images), *size, *images.shape[1 + spatial :]), x.dtype)

    def reduce(first: int, last: int) -> None:
        part = images[first:last]
        for axis in range(spatial):
            if size[axis] == 1:
                window = part[_along(axis, _only_window(taps[axis], geometry["dilation"][axis]))]
                part = ufunc.reduce(
                    window, axis=axis + 1, dtype=x.dtype, keepdims=True, initial=blank
                )
                continue
            (places, positions), *others = taps[axis]
            if places == slice(0, size[axis]):
                total = part[_along(axis, positions)].copy()
            else:  # some windows begin outside
                shape = (*part.shape[: axis + 1], size[axis], *part.shape[axis + 2 :])
                total, others = np.full(shape, blank, x.dtype), taps[axis]
            for places, positions in others:
                here = total[_along(axis, places)]
                ufunc(here, part[_along(axis, positions)], out=here)
            part = total
        out[first:last] = part

    _each_image(reduce, len(images), images)
    return _as_before(out, x.shape[:lead], last)


def window_sum(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return the sums of windows."""
    geometry = {"stride": stride, "offset": offset, "dilation": dilation}
    return _reduce(x, np.add, 0, kernel, size, geometry)


def window_spread(
    g: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return, for images of `size`, the sums of g over the windows that see a position."""
    spatial = len(size)
    lead, last = g.ndim - spatial, _many_channels_last(g, spatial)
    places = g.shape[lead:]
    images = _images(g, spatial, last)
    taps = _overlaps(size, kernel, places, stride, offset, dilation)
    out = np.empty((len(images), *size, *images.shape[1 + spatial :]), g.dtype)

    def spread(first: int, last: int) -> None:
        part = images[first:last]
        for axis in range(spatial):
            shape = (*part.shape[: axis + 1], size[axis], *part.shape[axis + 2 :])
            total = np.zeros(shape, g.dtype)
            if places[axis] == 1:
                total[_along(axis, _only_window(taps[axis], dilation[axis]))] = part
                part = total
                continue
            for here, positions in taps[axis]:
                total[_along(axis, positions)] += part[_along(axis, here)]
            part = total
        out[first:last] = part

    _each_image(spread, len(images), out)
    return _as_before(out, g.shape[:lead], last)


def max_pool(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints,
    ties: str = "even",
) -> np.ndarray:  # fmt: skip
    """Return the largest element of each window; `ties` are only of interest to derivatives."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    geometry = {"stride": stride, "offset": offset, "dilation": dilation}
    return _reduce(x, np.maximum, lowest, kernel, size, geometry)


class _Winners:
    """Which elements of windows are their largest; where that is NaN, the elements that are.

    Of several in a window all are, each with an even share, or with ``ties="first"`` the first.
    """

    def __init__(
        self, x: np.ndarray, y: np.ndarray, kernel: Ints, ties: str, **geometry: Ints
    ) -> None:
        spatial = len(kernel)
        lead = x.ndim - spatial
        self.lead, self.last = x.shape[:lead], _many_channels_last(x, spatial)
        self.x, self.y = self.images(x, spatial), self.images(y, spatial)
        self.has_nan = x.dtype.kind == "f" and bool(np.isnan(y).any())
        self.first = ties == "first"
        axes = _overlaps(x.shape[lead:], kernel, y.shape[lead:], **geometry)
        #: for each tap: its places and positions, as keys of images
        self.keys = [
            ((slice(None), *(p for p, _ in taps)), (slice(None), *(q for _, q in taps)))
            for taps in itertools.product(*axes)
        ]

    def images(self, x: np.ndarray, spatial: int) -> np.ndarray:
        """Return an array in the order in which all are worked on."""
        return _images(x, spatial, self.last)

    def as_before(self, images: np.ndarray) -> np.ndarray:
        """Return images in the order in which they were given."""
        return _as_before(images, self.lead, self.last)

    def of(self, first: int, last: int) -> list[np.ndarray]:
        """Return a mask for each tap, of some images."""
        x, y = self.x[first:last], self.y[first:last]
        found = np.zeros(y.shape, bool) if self.first else None
        masks = []
        for places, positions in self.keys:
            mask = x[positions] == y[places]
            if self.has_nan:
                mask |= np.isnan(x[positions])
            if found is not None:
                mask &= ~found[places]
                found[places] |= mask
            masks.append(mask)
        return masks

    def shared(self, values: np.ndarray, masks: list[np.ndarray]) -> np.ndarray:
        """Return numbers, one for each window, divided by how many winners it has."""
        if self.first:
            return values
        count = np.zeros(values.shape, values.real.dtype)
        for (places, _), mask in zip(self.keys, masks, strict=True):
            count[places] += mask
        quotient: np.ndarray = values / np.maximum(count, 1, out=count)  # some may see nothing
        return quotient


def max_pool_spread(
    g: np.ndarray,
    *,
    inputs: np.ndarray,
    largest: np.ndarray,
    kernel: Ints,
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    ties: str,
) -> np.ndarray:
    """Return g given to the elements of `inputs` that are the largest of a window."""
    winners = _Winners(
        inputs, largest, kernel, ties, stride=stride, offset=offset, dilation=dilation
    )
    images = winners.images(g, len(kernel))
    out = np.zeros(winners.x.shape, g.dtype)

    def spread(first: int, last: int) -> None:
        masks = winners.of(first, last)
        share = winners.shared(images[first:last], masks)
        here = out[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            here[positions] += keep(share[places], mask)

    _each_image(spread, len(images), out)
    return winners.as_before(out)


def max_pool_gather(
    values: np.ndarray,
    *,
    inputs: np.ndarray,
    largest: np.ndarray,
    kernel: Ints,
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    ties: str,
) -> np.ndarray:
    """Return the mean of `values` where `inputs` are the largest of each window."""
    winners = _Winners(
        inputs, largest, kernel, ties, stride=stride, offset=offset, dilation=dilation
    )
    images = winners.images(values, len(kernel))
    out = np.zeros(winners.y.shape, values.dtype)

    def gather(first: int, last: int) -> None:
        masks = winners.of(first, last)
        here, part = out[first:last], images[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            here[places] += keep(part[positions], mask)
        here[...] = winners.shared(here, masks)

    _each_image(gather, len(images), images)
    return winners.as_before(out)


def max_pool_indices(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return the flat position, in its image, of the first largest element of each window."""
    geometry: dict[str, Any] = {"stride": stride, "offset": offset, "dilation": dilation}
    y = max_pool(x, kernel=kernel, size=size, **geometry)
    winners = _Winners(x, y, kernel, "first", **geometry)
    length = x.shape[x.ndim - len(kernel) :]
    positions = np.arange(math.prod(length)).reshape(
        1, *length, *(1 for _ in winners.x.shape[1 + len(length) :])
    )
    out = np.zeros(winners.y.shape, np.int64)

    def find(first: int, last: int) -> None:
        here = out[first:last]
        for (places, reads), mask in zip(winners.keys, winners.of(first, last), strict=True):
            np.copyto(here[places], positions[reads], where=mask)

    _each_image(find, len(out), winners.x)
    return winners.as_before(out)


# -- sums of a few neighbours -----------------------------------------------------------------


def combine(x: np.ndarray, *, axis: int, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return sums of weight[i, t] * x[index[i, t]] over t, along one axis; index -1 is nothing."""
    shape = (math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))
    images = x.reshape(shape)
    places, taps = index.shape
    out = np.zeros((shape[0], places, shape[2]), x.dtype)
    weights = weight.astype(x.real.dtype)[:, :, None]
    exact = bool((weight == 1).all())
    unused = [np.flatnonzero(index[:, t] < 0) for t in range(taps)]

    def add_up(first: int, last: int) -> None:
        here = images[first:last]
        for t in range(taps):
            term = np.take(here, index[:, t], axis=1)
            term[:, unused[t]] = 0  # before the product: 0 * inf is not 0
            if not exact:
                term *= weights[:, t]
            out[first:last] += term

    if out.size and shape[1]:
        _each_image(add_up, shape[0], out)
    return out.reshape(*x.shape[:axis], places, *x.shape[axis + 1 :])
