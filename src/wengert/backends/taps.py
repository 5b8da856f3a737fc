"""Windows tap by tap, on arrays of any library that can be written to: pooling and its rules.

Each tap of all windows is one slice of the array, so that loops are over taps and nothing else.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends.namespace import kind_of
from wengert.backends.numpy_windows import Geometry, Ints, frame_of, overlap, slices_of


@functools.lru_cache(1024)
def _taps(length: Ints, kernel: Ints, size: Ints, geometry: Geometry) -> list[Any]:
    """Return for each tap the windows whose tap lies in the array, and what it reads, as keys."""
    axes = [
        [overlap(k, n, m, s, lo, d) for k in range(taps)]
        for taps, n, m, s, lo, d in zip(kernel, size, length, *geometry, strict=True)
    ]
    return [
        ((..., *(p for p, _ in taps)), (..., *(q for _, q in taps)))
        for taps in itertools.product(*axes)
    ]


@functools.lru_cache(1024)
def _covers(length: Ints, kernel: Ints, size: Ints, geometry: Geometry) -> bool:
    """Return whether windows lie side by side, and have all of an array between them."""
    stride, offset, dilation = geometry
    ends = tuple(n * s for n, s in zip(size, stride, strict=True))
    plain = not any(offset) and all(d == 1 for d in dilation)
    return plain and tuple(stride) == tuple(kernel) and ends == tuple(length)


class _Winners:
    """Which elements of windows are their largest; where that is NaN, the elements that are."""

    def __init__(
        self, inputs: Any, largest: Any, kernel: Ints, geometry: Geometry, ties: str, blank: Any
    ) -> None:
        lead = inputs.ndim - len(kernel)
        where = inputs.shape[lead:], tuple(kernel), largest.shape[lead:], geometry
        self.keys, self.covers = _taps(*where), _covers(*where)
        self.first, self.blank, self.masks = ties == "first", blank, []
        found = blank(largest.shape, bool) if self.first else None
        for places, positions in self.keys:
            mask = (inputs[positions] == largest[places]) | (inputs[positions] != inputs[positions])
            if found is not None:
                mask = mask & ~found[places]
                found[places] |= mask
            self.masks.append(mask)

    def __iter__(self) -> Any:
        """Yield for each tap its keys, and a mask of where its element is the largest."""
        return ((*keys, mask) for keys, mask in zip(self.keys, self.masks, strict=True))

    def shared(self, values: Any) -> Any:
        """Return numbers, one for each window, divided by how many winners it has."""
        if self.first:
            return values
        if self.covers and self.masks:
            first, *others = self.masks
            count = self.blank((), values.real.dtype) + first
            for mask in others:
                count += mask
            return values / count
        count = self.blank(values.shape, values.real.dtype)
        for places, _, mask in self:
            count[places] += mask
        return values / (count + (count == 0))  # some may see nothing


class Taps:
    """The kernels in functions of one library.

    Parameters
    ----------
    xp
        The library.
    full
        Returns an array of one number beside another: ``full(shape, number, dtype, like)``, where
        dtype may be bool.
    placed
        Returns a NumPy array, or an array, beside another: ``placed(value, like, dtype=None)``.
    """

    def __init__(self, xp: Any, full: Callable[..., Any], placed: Callable[..., Any]) -> None:
        self.xp, self.full, self.placed = xp, full, placed

    def zeros(self, shape: Any, dtype: Any, like: Any) -> Any:
        """Return zeros beside an array."""
        return self.full(shape, 0, dtype, like)

    def kernels(self) -> dict[str, Callable[..., Any]]:
        """Return the kernels by their names in `xp.nn`."""
        return {name: getattr(self, name) for name in NAMES}

    def fold_windows(self, windows: Any, *, size: Ints, geometry: Geometry) -> Any:
        """Return (batch, channels, *size) with windows added up where they overlap."""
        count = len(size)
        lead, kernel = tuple(windows.shape[:2]), tuple(windows.shape[2 : 2 + count])
        places = tuple(windows.shape[2 + count :])
        x = self.zeros((*lead, *size), windows.dtype, windows)
        if 0 in windows.shape:
            return x
        extent, inner, outer = frame_of(size, kernel, places, geometry)
        frame = self.zeros((*lead, *extent), windows.dtype, windows)
        for k in np.ndindex(*kernel):
            frame[(..., *slices_of(k, places, geometry))] += windows[(slice(None), slice(None), *k)]
        x[(..., *inner)] = frame[(..., *outer)]
        return x

    def window_sum(self, x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
        """Return the sums of windows."""
        lead = x.ndim - len(size)
        total = self.zeros((*x.shape[:lead], *size), x.dtype, x)
        for places, positions in _taps(x.shape[lead:], tuple(kernel), tuple(size), geometry):
            total[places] += x[positions]
        return total

    def window_spread(self, g: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
        """Return, for images of `size`, the sums of g over the windows that see a position."""
        lead = g.ndim - len(size)
        total = self.zeros((*g.shape[:lead], *size), g.dtype, g)
        for places, positions in _taps(tuple(size), tuple(kernel), g.shape[lead:], geometry):
            total[positions] += g[places]
        return total

    def max_pool(
        self, x: Any, *, kernel: Ints, size: Ints, geometry: Geometry, ties: str = "even"
    ) -> Any:
        """Return the largest element of each window; `ties` are only of interest to derivatives."""
        lead = x.ndim - len(size)
        where = x.shape[lead:], tuple(kernel), tuple(size), geometry
        if 0 not in x.shape and _covers(*where):
            parts = [x[positions] for _, positions in _taps(*where)]
            return functools.reduce(self.xp.maximum, parts if len(parts) > 1 else parts * 2)
        lowest = -math.inf if kind_of(x.dtype) == "f" else self.xp.iinfo(x.dtype).min
        largest = self.full((*x.shape[:lead], *size), lowest, x.dtype, x)
        for places, positions in _taps(*where):
            largest[places] = self.xp.maximum(largest[places], x[positions])
        return largest

    def _winners(
        self, like: Any, inputs: Any, largest: Any, kernel: Ints, geometry: Geometry, ties: str
    ) -> Any:
        inputs, largest = self.placed(inputs, like), self.placed(largest, like)
        blank = functools.partial(self.zeros, like=like)
        return inputs, _Winners(inputs, largest, kernel, geometry, ties, blank)

    def max_pool_spread(self, g: Any, **params: Any) -> Any:
        """Return g given to the elements of `inputs` that are the largest of a window."""
        inputs, winners = self._winners(g, **params)
        share = winners.shared(g)
        if winners.covers:
            out = self.xp.empty_like(inputs, dtype=g.dtype)
            for _, positions, mask in winners:
                self.give(out, positions, share, mask)
            return out
        out = self.zeros(inputs.shape, g.dtype, g)
        for places, positions, mask in winners:
            out[positions] += self.xp.where(mask, share[places], 0)
        return out

    def give(self, out: Any, positions: Any, share: Any, mask: Any) -> None:
        """Write a number where a mask holds, and 0 elsewhere."""
        out[positions] = self.xp.where(mask, share, 0)

    def max_pool_gather(self, values: Any, *, largest: Any, **params: Any) -> Any:
        """Return the mean of `values` where `inputs` are the largest of each window."""
        _, winners = self._winners(values, largest=largest, **params)
        out = self.zeros(largest.shape, values.dtype, values)
        for places, positions, mask in winners:
            out[places] += self.xp.where(mask, values[positions], 0)
        return winners.shared(out)

    def max_pool_indices(self, x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
        """Return the flat position, in its image, of the first largest element of each window."""
        y = self.max_pool(x, kernel=kernel, size=size, geometry=geometry)
        _, winners = self._winners(x, x, y, kernel, geometry, "first")
        length = tuple(x.shape[x.ndim - len(size) :])
        numbers = self.placed(np.arange(math.prod(length)).reshape(length), x)
        numbers = self.xp.broadcast_to(numbers, x.shape)
        found = self.zeros(y.shape, numbers.dtype, x)
        for places, positions, mask in winners:
            found[places] = self.xp.where(mask, numbers[positions], found[places])
        return found

    def combine(self, x: Any, *, axis: int, index: Any, weight: Any) -> Any:
        """Return sums of weight[i, t] * x[index[i, t]] over t, along one axis.

        The index -1 is nothing.
        """
        places, taps = index.shape
        total = self.zeros((*x.shape[:axis], places, *x.shape[axis + 1 :]), x.dtype, x)
        if not x.shape[axis]:
            return total
        index, weight = self.placed(index, x), self.placed(weight, x, x.real.dtype)
        column = (-1, *(1 for _ in x.shape[axis + 1 :]))
        for t in range(taps):
            term = x[(*(slice(None),) * axis, index[:, t])] * weight[:, t].reshape(column)
            # where there is nothing, the product may be NaN
            total = total + self.xp.where((index[:, t] >= 0).reshape(column), term, 0)
        return total


NAMES = (
    "combine", "fold_windows", "max_pool", "max_pool_gather", "max_pool_indices", "max_pool_spread",
    "window_spread", "window_sum",
)  # fmt: skip
