"""Pooling of NumPy arrays, and sums of a few neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from operator import le
from typing import Any

import numpy as np

from wengert.backends import numpy_tiles as tiles
from wengert.backends.numpy_kernels import keep
from wengert.backends.numpy_windows import Geometry, Ints, is_channels_last, overlap
from wengert.backends.threads import PIECE, in_pieces

__all__ = [
    "combine", "max_pool", "max_pool_gather", "max_pool_indices", "max_pool_spread",
    "window_spread", "window_sum",
]  # fmt: skip


def _overlaps(
    length: Ints, kernel: Ints, size: Ints, geometry: Geometry
) -> list[list[tuple[slice, slice]]]:
    """Return `overlap` of each tap, for each axis."""
    return [
        [overlap(k, n, m, s, lo, d) for k in range(taps)]
        for taps, n, m, s, lo, d in zip(kernel, size, length, *geometry, strict=True)
    ]


def _each_image(work: Callable[[int, int], None], count: int, array: np.ndarray) -> None:
    """Call ``work(first, last)`` for images that cover `count`, a few at a time."""
    in_pieces(work, count, 4 * PIECE // max(1, array.nbytes // max(1, count)))


def _many_channels_last(x: np.ndarray, spatial: int) -> bool:
    """Return whether images are better worked on with their channels last."""
    return x.ndim == spatial + 2 and x.shape[1] >= 8 and is_channels_last(x)


def _images(x: np.ndarray, spatial: int, last: bool) -> np.ndarray:
    """Return x as (images, *spatial), or as (batch, *spatial, channels) if these go `last`."""
    if last:
        return np.moveaxis(x, 1, -1)
    lead = x.ndim - spatial
    return x.reshape((math.prod(x.shape[:lead]), *x.shape[lead:]))


def _as_before(images: np.ndarray, lead: Ints, last: bool) -> np.ndarray:
    """Undo `_images`, with lengths `lead` in front of the spatial axes."""
    return np.moveaxis(images, -1, 1) if last else images.reshape(*lead, *images.shape[1:])


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * (axis + 1), part)


def _only_window(taps: list[tuple[slice, slice]], dilation: int) -> slice:
    """Return the positions that the taps of the only window along an axis read."""
    starts = [positions.start for places, positions in taps if places.stop]
    return slice(starts[0], starts[-1] + 1, dilation) if starts else slice(0, 0)


def _axis_by_axis(
    x: np.ndarray, size: Ints, step: Callable[[np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """Return images of `size`, by a step for each spatial axis of some images at a time."""
    spatial = len(size)
    lead, channels_last = x.ndim - spatial, _many_channels_last(x, spatial)
    images = _images(x, spatial, channels_last)
    out = np.empty((len(images), *size, *images.shape[1 + spatial :]), x.dtype)

    def work(first: int, last: int) -> None:
        part = images[first:last]
        for axis in range(spatial):
            part = step(part, axis)
        out[first:last] = part

    _each_image(work, len(images), max(images, out, key=lambda array: array.nbytes))
    return _as_before(out, x.shape[:lead], channels_last)


def _blank(part: np.ndarray, axis: int, length: int, value: Any) -> np.ndarray:
    """Return an array of one value, like some images but for the length of a spatial axis."""
    return np.full((*part.shape[: axis + 1], length, *part.shape[axis + 2 :]), value, part.dtype)


def _reduce(
    x: np.ndarray, ufunc: Any, blank: Any, kernel: Ints, size: Ints, geometry: Geometry
) -> np.ndarray:
    """Return windows of x reduced by `ufunc`, one axis after the other."""
    taps = _overlaps(x.shape[x.ndim - len(size) :], kernel, size, geometry)

    def reduce(part: np.ndarray, axis: int) -> np.ndarray:
        if size[axis] == 1:
            window = part[_along(axis, _only_window(taps[axis], geometry.dilation[axis]))]
            return ufunc.reduce(window, axis=axis + 1, dtype=x.dtype, keepdims=True, initial=blank)
        (places, positions), *others = taps[axis]
        whole = slice(0, size[axis])
        if places == whole and others and others[0][0] == whole:
            one, two = (part[_along(axis, p)] for p in (positions, others[0][1]))
            total, others = ufunc(one, two), others[1:]
        elif places == whole:
            total = part[_along(axis, positions)].copy()
        else:  # some windows begin outside
            total, others = _blank(part, axis, size[axis], blank), taps[axis]
        for places, positions in others:
            here = total[_along(axis, places)]
            ufunc(here, part[_along(axis, positions)], out=here)
        return total

    return _axis_by_axis(x, size, reduce)


def window_sum(x: np.ndarray, *, kernel: Ints, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return the sums of windows."""
    lead = x.shape[: x.ndim - len(size)]
    whole = (*kernel,) == x.shape[len(lead) :] and {*geometry.offset} == {0}
    if (
        whole
        and {*geometry.dilation, *size} == {1}
        and x.flags.c_contiguous
        and x.dtype.char in "fd"
    ):
        row = math.prod(kernel)  # a product, which BLAS does faster
        sums = np.matmul(x.reshape(-1, row), np.ones(row, x.dtype))
        return sums.reshape(*lead, *size)
    return _reduce(x, np.add, 0, kernel, size, geometry)


def window_spread(g: np.ndarray, *, kernel: Ints, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return, for images of `size`, the sums of g over the windows that see a position."""
    places = g.shape[g.ndim - len(size) :]
    taps = _overlaps(size, kernel, places, geometry)

    def spread(part: np.ndarray, axis: int) -> np.ndarray:
        total = _blank(part, axis, size[axis], 0)
        if places[axis] == 1:
            total[_along(axis, _only_window(taps[axis], geometry.dilation[axis]))] = part
            return total
        for here, positions in taps[axis]:
            total[_along(axis, positions)] += part[_along(axis, here)]
        return total

    return _axis_by_axis(g, size, spread)


def max_pool(
    x: np.ndarray, *, kernel: Ints, size: Ints, geometry: Geometry, ties: str = "even"
) -> np.ndarray:
    """Return the largest element of each window; `ties` are only of interest to derivatives."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return _reduce(x, np.maximum, lowest, kernel, size, geometry)


class _Winners:
    """Which elements of windows are their largest; where that is NaN, the elements that are.

    Of several in a window all are, each with an even share, or with ``ties="first"`` the first.
    """

    def __init__(
        self, inputs: np.ndarray, largest: np.ndarray, kernel: Ints, geometry: Geometry, ties: str
    ) -> None:
        self.spatial = len(kernel)
        lead = inputs.ndim - self.spatial
        self.lead, self.last = inputs.shape[:lead], _many_channels_last(inputs, self.spatial)
        self.x, self.y = self.images(inputs), self.images(largest)
        self.has_nan = inputs.dtype.kind == "f" and bool(np.isnan(largest).any())
        self.first = ties == "first"
        #: whether no element is in two windows
        stride, _, dilation = geometry
        self.apart = {*dilation} <= {1} and all(map(le, kernel, stride))
        axes = _overlaps(inputs.shape[lead:], kernel, largest.shape[lead:], geometry)
        #: for each tap: its places and positions, as keys of images
        self.keys = [
            ((slice(None), *(p for p, _ in taps)), (slice(None), *(q for _, q in taps)))
            for taps in itertools.product(*axes)
        ]

    def images(self, x: np.ndarray) -> np.ndarray:
        """Return an array in the order in which all are worked on."""
        return _images(x, self.spatial, self.last)

    def as_before(self, images: np.ndarray) -> np.ndarray:
        """Return images in the order in which they were given."""
        return _as_before(images, self.lead, self.last)

    def of(self, first: int, last: int) -> list[np.ndarray]:
        """Return a mask for each tap, of some images."""
        x, y = self.x[first:last], self.y[first:last]
        found = np.zeros(y.shape, bool) if self.first else None
        masks: list[np.ndarray] = []
        for places, positions in self.keys:
            mask = x[positions] == y[places]
            if self.has_nan:
                mask |= np.isnan(x[positions])
            if found is not None:
                if masks:
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
        return values / np.maximum(count, 1, out=count)  # some may see nothing


def max_pool_spread(g: np.ndarray, **params: Any) -> np.ndarray:
    """Return g given to the elements of `inputs` that are the largest of a window."""
    winners = _Winners(**params)
    known = (params["inputs"], params["largest"], params["kernel"])
    if not winners.has_nan and tiles.cover(*known, params["geometry"]):
        return tiles.max_spread(g, *known, params["ties"])
    images = winners.images(g)
    out = np.zeros(winners.x.shape, g.dtype)

    def spread(first: int, last: int) -> None:
        masks = winners.of(first, last)
        share = winners.shared(images[first:last], masks)
        here = out[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            if winners.apart:
                keep(share[places], mask, here[positions])
            else:
                here[positions] += keep(share[places], mask)

    _each_image(spread, len(images), out)
    return winners.as_before(out)


def max_pool_gather(values: np.ndarray, **params: Any) -> np.ndarray:
    """Return the mean of `values` where `inputs` are the largest of each window."""
    winners = _Winners(**params)
    images = winners.images(values)
    out = np.zeros(winners.y.shape, values.dtype)

    def gather(first: int, last: int) -> None:
        masks = winners.of(first, last)
        here, part = out[first:last], images[first:last]
        for (places, positions), mask in zip(winners.keys, masks, strict=True):
            here[places] += keep(part[positions], mask)
        here[...] = winners.shared(here, masks)

    _each_image(gather, len(images), images)
    return winners.as_before(out)


def max_pool_indices(x: np.ndarray, *, kernel: Ints, size: Ints, geometry: Geometry) -> np.ndarray:
    """Return the flat position, in its image, of the first largest element of each window."""
    y = max_pool(x, kernel=kernel, size=size, geometry=geometry)
    winners = _Winners(x, y, kernel, geometry, "first")
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
