"""Windows of NumPy arrays: convolutions by BLAS, pooling, and sums of a few neighbours.

Arrays are (batch, channels, *spatial). Along each spatial axis, a window is described by
whole numbers: tap k of the window at place p reads position ``p * stride + k * dilation - offset``,
and what lies outside of the array is nothing: 0 for sums, smaller than all for the largest.
No function here loops over places; loops are over taps, images, and pieces of memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
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
#: About how many bytes of windows are laid out side by side for one product of matrices.
LAID_OUT = 4 * 1024 * 1024
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


def _pieces(batch: int, size: Ints, taps: int, itemsize: int) -> Iterator[tuple[slice, slice]]:
    """Return (images, rows) that cover all windows: several images, or some rows of one."""
    if not batch or not math.prod(size):
        return
    row = max(1, taps * math.prod(size[1:]) * itemsize)
    parts = min(-(-row * size[0] // LAID_OUT), size[0])
    rows = -(-size[0] // parts)
    images = max(1, LAID_OUT // (row * size[0]))
    for first in range(0, batch, images):
        for top in range(0, size[0], rows):
            yield slice(first, min(first + images, batch)), slice(top, min(top + rows, size[0]))


def _columns(
    x: np.ndarray,
    kernel: tuple[int, ...],
    size: tuple[int, ...],
    stride: Ints,
    offset: Ints,
    dilation: Ints,
    groups: int,
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Return (images, rows, matrices whose columns are the windows there), piece by piece.

    The matrices (groups, channels and taps of a group, images and places) are valid until
    the next piece is asked for.
    """
    batch, channels = x.shape[:2]
    inside, reads, writes = _frame(x.shape[2:], kernel, size, stride, offset, dilation)
    in_place = math.prod(kernel) == 1 and set(stride) == {1} and not any(offset)
    if in_place and inside == x.shape[2:] and x[:1].nbytes > PIECE // 8:
        for i in range(batch):  # an image is such a matrix already, and not too small a one
            yield slice(i, i + 1), slice(0, size[0]), x[i].reshape(groups, -1, math.prod(size))
        return
    taps = channels * math.prod(kernel)
    pieces = list(_pieces(batch, size, taps, x.itemsize))
    if not pieces:
        return
    most = pieces[0][0].stop
    padded = math.prod(r.stop - r.start for r in reads) < math.prod(inside)
    frames = np.zeros((most, channels, *inside), x.dtype) if padded else x
    widest = pieces[0][1].stop * math.prod(size[1:]) * most
    buffer = np.empty(taps * widest, x.dtype)
    spatial = range(2, 2 + len(kernel))
    order = (1, *spatial, 0, *(a + len(kernel) for a in spatial))
    for images, rows in pieces:
        count = images.stop - images.start
        here = (rows.stop - rows.start, *size[1:])
        frame = frames[:count] if padded else x[(images, slice(None), *reads)]
        source = x[(images, slice(None), *reads)]
        below = frame[:, :, rows.start * stride[0] :]
        windows = _windows(below, kernel, here, stride, dilation).transpose(order)
        laid = buffer[: taps * count * math.prod(here)]
        target = laid.reshape(channels, *kernel, count, *here)

        def lay_out(first: int, last: int) -> None:
            if padded and not rows.start:  # noqa: B023 - runs within this turn of the loop
                frame[(slice(None), slice(first, last), *writes)] = source[:, first:last]  # noqa: B023
            target[first:last] = windows[first:last]  # noqa: B023

        in_pieces(lay_out, channels, PIECE // max(1, laid.nbytes // max(1, channels)))
        yield images, rows, laid.reshape(groups, -1, count * math.prod(here))


def _piece_of(z: np.ndarray, images: slice, rows: slice, groups: int) -> np.ndarray:
    """Return a piece of the convolved images as matrices (groups, channels, places)."""
    channels, size = z.shape[1], z.shape[2:]
    flat = math.prod(size[1:])
    if images.stop - images.start == 1:  # a view, if z is contiguous
        image = z[images.start].reshape(groups, channels // groups, math.prod(size))
        return image[:, :, rows.start * flat : rows.stop * flat]
    part = z[images].swapaxes(0, 1)
    return part.reshape(groups, channels // groups, -1)


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
    z = np.empty((x.shape[0], w.shape[0], *size), x.dtype)
    rises = bool(bias.any())
    bias = np.broadcast_to(bias, (w.shape[0],)).reshape(groups, -1, 1)
    rows_of_w = np.ascontiguousarray(w).reshape(groups, w.shape[0] // groups, -1)
    for images, rows, columns in _columns(x, kernel, size, stride, offset, dilation, groups):
        out = _piece_of(z, images, rows, groups)
        np.matmul(rows_of_w, columns, out=out)
        if rises:
            out += bias
        if images.stop - images.start > 1:  # then `out` was a copy
            count = images.stop - images.start
            z[images] = out.reshape(w.shape[0], count, *size).swapaxes(0, 1)
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
    channels, outputs = x.shape[1] // groups, z.shape[1]
    total = np.zeros((groups, channels * math.prod(size), outputs // groups), x.dtype)
    if x.size and z.size and total.size:
        z = np.ascontiguousarray(z)
        term = np.empty_like(total)
        places = z.shape[2:]
        for images, rows, columns in _columns(x, size, places, stride, offset, dilation, groups):
            part = _piece_of(z, images, rows, groups)
            np.matmul(columns, part.swapaxes(1, 2), out=term)  # BLAS is slower the other way
            total += term
    weight = total.swapaxes(1, 2).reshape(outputs, channels, *size)
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
    channels = w.shape[1] * groups
    x = np.zeros((batch, channels, *size), z.dtype)
    extent, inner, outer = _frame(size, kernel, places, stride, offset, dilation)
    columns_of_w = w.reshape(groups, w.shape[0] // groups, -1).swapaxes(1, 2)
    z = np.ascontiguousarray(z)
    taps = list(np.ndindex(*kernel))
    for images, rows in _pieces(batch, places, channels * len(taps), z.itemsize):
        count, here = images.stop - images.start, (rows.stop - rows.start, *places[1:])
        part = _piece_of(z, images, rows, groups)
        windows = np.matmul(columns_of_w, part).reshape(channels, *kernel, count, *here)
        if rows.start == 0:
            frame = np.zeros((channels, count, *extent), z.dtype)
        below = frame[:, :, rows.start * stride[0] :]

        def add_up(first: int, last: int) -> None:
            for k in taps:
                seen = (slice(first, last), slice(None), *_tap(k, here, stride, dilation))  # noqa: B023
                below[seen] += windows[(slice(first, last), *k)]  # noqa: B023

        in_pieces(add_up, channels, PIECE // max(1, windows.nbytes // channels))
        if rows.stop == places[0]:
            x[(images, slice(None), *inner)] = frame[(..., *outer)].swapaxes(0, 1)
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


def _flat(x: np.ndarray, spatial: int) -> np.ndarray:
    """Return x with one axis in front of its spatial ones."""
    lead = x.ndim - spatial
    return x.reshape((math.prod(x.shape[:lead]), *x.shape[lead:]))


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
    images = _flat(x, spatial)
    taps = _overlaps(images.shape[1:], kernel, size, **geometry)
    out = np.empty((len(images), *size), x.dtype)

    def reduce(first: int, last: int) -> None:
        part = images[first:last]
        for axis in range(spatial):
            if size[axis] == 1:
                window = part[_along(axis, _only_window(taps[axis], geometry["dilation"][axis]))]
                part = ufunc.reduce(
                    window, axis=axis + 1, dtype=x.dtype, keepdims=True, initial=blank
                )
                continue
            shape = (*part.shape[: axis + 1], size[axis], *part.shape[axis + 2 :])
            total = np.full(shape, blank, x.dtype)
            for places, positions in taps[axis]:
                here = total[_along(axis, places)]
                ufunc(here, part[_along(axis, positions)], out=here)
            part = total
        out[first:last] = part

    _each_image(reduce, len(images), images)
    return out.reshape(*x.shape[: x.ndim - spatial], *size)


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
    places = g.shape[g.ndim - spatial :]
    images = _flat(g, spatial)
    taps = _overlaps(size, kernel, places, stride, offset, dilation)
    out = np.empty((len(images), *size), g.dtype)

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
    return out.reshape(*g.shape[: g.ndim - spatial], *size)


def max_pool(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return the largest element of each window."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    geometry = {"stride": stride, "offset": offset, "dilation": dilation}
    return _reduce(x, np.maximum, lowest, kernel, size, geometry)


class _Winners:
    """Which elements of windows are their largest; where that is NaN, the elements that are."""

    def __init__(self, x: np.ndarray, y: np.ndarray, kernel: Ints, **geometry: Ints) -> None:
        spatial = len(kernel)
        self.x, self.y = _flat(x, spatial), _flat(y, spatial)
        self.has_nan = x.dtype.kind == "f" and bool(np.isnan(y).any())
        length, size = self.x.shape[1:], self.y.shape[1:]
        axes = _overlaps(length, kernel, size, **geometry)
        #: for each tap: its places and positions, as keys of images
        self.keys = [
            ((slice(None), *(p for p, _ in taps)), (slice(None), *(q for _, q in taps)))
            for taps in itertools.product(*axes)
        ]

    def of(self, first: int, last: int) -> list[np.ndarray]:
        """Return a mask for each tap, of some images."""
        x, y = self.x[first:last], self.y[first:last]
        masks = []
        for places, positions in self.keys:
            mask = x[positions] == y[places]
            if self.has_nan:
                mask |= np.isnan(x[positions])
            masks.append(mask)
        return masks

    def count(self, first: int, last: int, masks: list[np.ndarray], dtype: Any) -> np.ndarray:
        """Return the number of winners in each window; 1 for a window that sees nothing."""
        count = np.zeros((last - first, *self.y.shape[1:]), dtype)
        for (places, _), mask in zip(self.keys, masks, strict=True):
            count[places] += mask
        return np.maximum(count, 1, out=count)


def max_pool_spread(
    g: np.ndarray,
    *,
    inputs: np.ndarray,
    largest: np.ndarray,
    kernel: Ints,
    stride: Ints,
    offset: Ints,
    dilation: Ints,
) -> np.ndarray:
    """Return g shared evenly by the elements of `inputs` that are the largest of a window."""
    winners = _Winners(inputs, largest, kernel, stride=stride, offset=offset, dilation=dilation)
    images = _flat(g, len(kernel))
    out = np.zeros(winners.x.shape, g.dtype)

    def spread(first: int, last: int) -> None:
        masks = winners.of(first, last)
        share = images[first:last] / winners.count(first, last, masks, g.real.dtype)
        here = out[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            here[positions] += keep(share[places], mask)

    _each_image(spread, len(images), out)
    return out.reshape(inputs.shape)


def max_pool_gather(
    values: np.ndarray,
    *,
    inputs: np.ndarray,
    largest: np.ndarray,
    kernel: Ints,
    stride: Ints,
    offset: Ints,
    dilation: Ints,
) -> np.ndarray:
    """Return the mean of `values` where `inputs` are the largest of each window."""
    winners = _Winners(inputs, largest, kernel, stride=stride, offset=offset, dilation=dilation)
    images = _flat(values, len(kernel))
    out = np.zeros(winners.y.shape, values.dtype)

    def gather(first: int, last: int) -> None:
        masks = winners.of(first, last)
        here, part = out[first:last], images[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            here[places] += keep(part[positions], mask)
        here /= winners.count(first, last, masks, values.real.dtype)

    _each_image(gather, len(images), images)
    return out.reshape(largest.shape)


def max_pool_indices(
    x: np.ndarray, *, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> np.ndarray:
    """Return the flat position, in its image, of the first largest element of each window."""
    geometry = {"stride": stride, "offset": offset, "dilation": dilation}
    y = max_pool(x, kernel=kernel, size=size, **geometry)
    winners = _Winners(x, y, kernel, **geometry)
    length = winners.x.shape[1:]
    positions = np.arange(math.prod(length)).reshape(1, *length)
    out = np.zeros(winners.y.shape, np.int64)

    def find(first: int, last: int) -> None:
        here = out[first:last]
        for (places, reads), mask in zip(
            winners.keys[::-1], winners.of(first, last)[::-1], strict=True
        ):
            np.copyto(here[places], positions[reads], where=mask)  # the first tap has the last word

    _each_image(find, len(out), winners.x)
    return out.reshape(y.shape)


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
