"""The extension `xp.nn` on PyTorch's arrays: convolutions, windows and pooling on their device."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import torch

from wengert.backends.numpy_windows import Geometry, Ints, frame_of, overlap, slices_of
from wengert.backends.torch_kernels import tensor

#: Integers as wide as numbers, by their bytes.
_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
_CONVOLVE = (None, torch.conv1d, torch.conv2d, torch.conv3d)


def _alike(*arrays: Any) -> list[Any]:
    """Return arrays in one dtype."""
    dtype = arrays[0].dtype
    if all(array.dtype is dtype for array in arrays):
        return list(arrays)
    for array in arrays[1:]:
        dtype = torch.promote_types(dtype, array.dtype)
    return [array.to(dtype) for array in arrays]


def _frame(x: Any, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return what windows cover of x, with zeros outside of it."""
    extent, inner, outer = frame_of(x.shape[2:], kernel, size, geometry)
    if tuple(x.shape[2:]) == extent and not any(geometry.offset):
        return x
    frame = x.new_zeros((*x.shape[:2], *extent))
    frame[(..., *outer)] = x[(..., *inner)]
    return frame


@functools.lru_cache(4096)
def convolution_padding(length: Ints, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the equal padding of both sides that a geometry is, or None if it is none."""
    stride, offset, dilation = geometry
    for n, k, p, s, lo, d in zip(length, kernel, size, stride, offset, dilation, strict=True):
        if lo < 0 or (n + 2 * lo - (k - 1) * d - 1) // s + 1 != p:
            return None
    return tuple(offset)


def convolve(
    x: Any, w: Any, bias: Any = None, *, size: Ints, geometry: Geometry, groups: int
) -> Any:
    """Return the sums of x * w in windows, `size` of them, plus a bias for each channel."""
    if x.dtype is not w.dtype or (bias is not None and bias.dtype is not x.dtype):
        x, w, *others = _alike(x, w) if bias is None else _alike(x, w, bias)
        bias = others[0] if others else None
    spatial = len(size)
    if not x.numel() or not w.numel() or 0 in size or spatial not in (1, 2, 3):
        z = _by_taps(x, w, size, geometry, groups)
        return z if bias is None else z + bias.reshape(-1, *(1 for _ in size))
    kernel = w.shape[2:]
    padding = convolution_padding(x.shape[2:], kernel, size, geometry)
    if padding is None:
        x, padding = _frame(x, tuple(kernel), size, geometry), (0,) * spatial
    function: Any = _CONVOLVE[spatial]
    return function(x, w, bias, geometry.stride, padding, geometry.dilation, groups)


def _by_taps(x: Any, w: Any, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return `convolve` by a sum over taps, for arrays that PyTorch's function does not take."""
    kernel = tuple(w.shape[2:])
    z = x.new_zeros((x.shape[0], w.shape[0], *size))
    if not x.numel() or not w.numel() or 0 in size:
        return z
    frame = _frame(x, kernel, size, geometry)
    parted = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    for k in itertools.product(*map(range, kernel)):
        part = frame[(..., *slices_of(k, size, geometry))]
        part = part.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
        term = torch.einsum("ngcp,goc->ngop", part, parted[(..., *k)])
        z = z + term.reshape(z.shape)
    return z


def _pull(
    g: Any, x: Any, w: Any, geometry: Geometry, groups: int, padding: Any, wanted: int
) -> Any:
    """Return PyTorch's cotangent of x (0) or w (1)."""
    stride, _, dilation = geometry
    mask = [i == wanted for i in range(3)]
    found = torch.ops.aten.convolution_backward(
        g, x, w, None, list(stride), list(padding), list(dilation), False,
        [0] * len(stride), groups, mask,
    )  # fmt: skip
    return found[wanted]


def convolve_weight(x: Any, z: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return the sums of x * z over all windows, for each tap of kernels of `size`."""
    x, z = _alike(x, z)
    shape = (z.shape[1], x.shape[1] // groups, *size)
    if not x.numel() or not z.numel() or 0 in shape:
        return x.new_zeros(shape)
    places = tuple(z.shape[2:])
    padding = convolution_padding(x.shape[2:], size, places, geometry)
    if len(size) in (1, 2, 3) and not x.is_complex():
        if padding is None:
            x, padding = _frame(x, size, places, geometry), (0,) * len(size)
        return _pull(z, x, x.new_empty(shape), geometry, groups, padding, 1)
    windows = unfold_windows(x, kernel=size, size=places, geometry=geometry)
    windows = windows.reshape(x.shape[0], groups, shape[1], math.prod(size), -1)
    parted = z.reshape(x.shape[0], groups, z.shape[1] // groups, -1)
    return torch.einsum("ngckp,ngop->gock", windows, parted).reshape(shape)


def convolve_input(z: Any, w: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return, for images of `size`, the sums of z * w over all windows that see a position."""
    z, w = _alike(z, w)
    kernel, places = tuple(w.shape[2:]), tuple(z.shape[2:])
    shape = (z.shape[0], groups * w.shape[1], *size)
    if not z.numel() or not w.numel() or 0 in shape:
        return z.new_zeros(shape)
    padding = convolution_padding(size, kernel, places, geometry)
    if len(size) in (1, 2, 3) and not z.is_complex():
        if padding is not None:
            return _pull(z, z.new_empty(shape), w, geometry, groups, padding, 0)
        extent, inner, outer = frame_of(size, kernel, places, geometry)
        frame = z.new_empty((*shape[:2], *extent))
        found = _pull(z, frame, w, geometry, groups, (0,) * len(size), 0)
        x = z.new_zeros(shape)
        x[(..., *inner)] = found[(..., *outer)]
        return x
    parted = w.reshape(groups, w.shape[0] // groups, w.shape[1], -1)
    cotangents = z.reshape(z.shape[0], groups, z.shape[1] // groups, -1)
    windows = torch.einsum("gock,ngop->ngckp", parted, cotangents)
    windows = windows.reshape(*shape[:2], *kernel, *places)
    return fold_windows(windows, size=size, geometry=geometry)


# -- windows ----------------------------------------------------------------------------------


def unfold_windows(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the windows of x as (batch, channels, *kernel, *size), with 0 outside of x."""
    if 0 in size or 0 in kernel:
        return x.new_zeros((*x.shape[:2], *kernel, *size))
    frame = _frame(x, kernel, size, geometry)
    stride, _, dilation = geometry
    lead, steps = frame.stride()[:2], frame.stride()[2:]
    strides = (
        *lead,
        *(step * d for step, d in zip(steps, dilation, strict=True)),
        *(step * s for step, s in zip(steps, stride, strict=True)),
    )
    return torch.as_strided(frame, (*x.shape[:2], *kernel, *size), strides).clone()


def fold_windows(windows: Any, *, size: Ints, geometry: Geometry) -> Any:
    """Return (batch, channels, *size) with windows added up where they overlap."""
    count = len(size)
    lead, kernel = tuple(windows.shape[:2]), tuple(windows.shape[2 : 2 + count])
    places = tuple(windows.shape[2 + count :])
    x = windows.new_zeros((*lead, *size))
    if not windows.numel():
        return x
    extent, inner, outer = frame_of(size, kernel, places, geometry)
    frame = windows.new_zeros((*lead, *extent))
    for k in itertools.product(*map(range, kernel)):
        frame[(..., *slices_of(k, places, geometry))] += windows[(slice(None), slice(None), *k)]
    x[(..., *inner)] = frame[(..., *outer)]
    return x


# -- pooling ----------------------------------------------------------------------------------


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


def window_sum(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the sums of windows."""
    lead = x.ndim - len(size)
    out = x.new_zeros((*x.shape[:lead], *size))
    for places, positions in _taps(x.shape[lead:], kernel, size, geometry):
        out[places] += x[positions]
    return out


def window_spread(g: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return, for images of `size`, the sums of g over the windows that see a position."""
    lead = g.ndim - len(size)
    out = g.new_zeros((*g.shape[:lead], *size))
    for places, positions in _taps(size, kernel, g.shape[lead:], geometry):
        out[positions] += g[places]
    return out


def max_pool(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry, ties: str = "even") -> Any:
    """Return the largest element of each window; `ties` are only of interest to derivatives."""
    lead = x.ndim - len(size)
    if x.numel() and _covers(x.shape[lead:], kernel, size, geometry):
        parts = [x[positions] for _, positions in _taps(x.shape[lead:], kernel, size, geometry)]
        return functools.reduce(torch.maximum, parts[1:], parts[0].clone())
    lowest = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    out = torch.full((*x.shape[:lead], *size), lowest, dtype=x.dtype, device=x.device)
    for places, positions in _taps(x.shape[lead:], kernel, size, geometry):
        out[places] = torch.maximum(out[places], x[positions])
    return out


class _Winners:
    """Which elements of windows are their largest; where that is NaN, the elements that are."""

    def __init__(
        self, device: Any, inputs: Any, largest: Any, kernel: Ints, geometry: Geometry, ties: str
    ) -> None:
        inputs, largest = tensor(inputs, device), tensor(largest, device)
        self.inputs, self.largest = inputs, largest
        lead = inputs.ndim - len(kernel)
        self.keys = _taps(inputs.shape[lead:], kernel, largest.shape[lead:], geometry)
        self.first, self.shape = ties == "first", largest.shape
        self.covers = _covers(inputs.shape[lead:], kernel, largest.shape[lead:], geometry)
        found = torch.zeros_like(largest, dtype=torch.bool) if self.first else None
        self.masks = []
        for places, positions in self.keys:
            mask = (inputs[positions] == largest[places]) | torch.isnan(inputs[positions])
            if found is not None:
                mask = mask & ~found[places]
                found[places] |= mask
            self.masks.append(mask)

    def shared(self, values: Any) -> Any:
        """Return numbers, one for each window, divided by how many winners it has."""
        if self.first:
            return values
        if self.covers and self.masks:
            first, *others = self.masks
            count = first.to(values.real.dtype)
            for mask in others:
                count += mask
            return values / count
        count = torch.zeros(self.shape, dtype=values.real.dtype, device=values.device)
        for (places, _), mask in zip(self.keys, self.masks, strict=True):
            count[places] += mask
        return values / torch.clamp(count, min=1)  # some may see nothing


def max_pool_spread(g: Any, **params: Any) -> Any:
    """Return g given to the elements of `inputs` that are the largest of a window."""
    winners = _Winners(g.device, **params)
    share = winners.shared(g)
    if winners.covers:
        out = torch.empty_like(winners.inputs, dtype=g.dtype)
        bits = _BITS.get(g.itemsize)
        for (_, positions), mask in zip(winners.keys, winners.masks, strict=True):
            if bits is None:
                out[positions] = torch.where(mask, share, 0)
            else:  # a product of bits: a number may be infinite, and is written where it belongs
                torch.mul(share.view(bits), mask, out=out.view(bits)[positions])
        return out
    out = torch.zeros_like(winners.inputs, dtype=g.dtype)
    for (places, positions), mask in zip(winners.keys, winners.masks, strict=True):
        out[positions] += torch.where(mask, share[places], 0)
    return out


def max_pool_gather(values: Any, **params: Any) -> Any:
    """Return the mean of `values` where `inputs` are the largest of each window."""
    winners = _Winners(values.device, **params)
    out = torch.zeros_like(winners.largest, dtype=values.dtype)
    for (places, positions), mask in zip(winners.keys, winners.masks, strict=True):
        out[places] += torch.where(mask, values[positions], 0)
    return winners.shared(out)


def max_pool_indices(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the flat position, in its image, of the first largest element of each window."""
    y = max_pool(x, kernel=kernel, size=size, geometry=geometry)
    winners = _Winners(x.device, x, y, kernel, geometry, "first")
    length = x.shape[x.ndim - len(kernel) :]
    positions = torch.arange(math.prod(length), device=x.device).reshape(length)
    positions = torch.broadcast_to(positions, x.shape)
    out = torch.zeros_like(y, dtype=torch.int64)
    for (places, reads), mask in zip(winners.keys, winners.masks, strict=True):
        out[places] = torch.where(mask, positions[reads], out[places])
    return out


# -- sums of a few neighbours -----------------------------------------------------------------


def combine(x: Any, *, axis: int, index: Any, weight: Any) -> Any:
    """Return sums of weight[i, t] * x[index[i, t]] over t, along one axis; index -1 is nothing."""
    places, taps = index.shape
    index = tensor(index, x.device).to(torch.int64)
    weight = tensor(weight, x.device).to(x.real.dtype)
    shape = (*x.shape[:axis], places, *x.shape[axis + 1 :])
    out = x.new_zeros(shape)
    if not x.shape[axis]:
        return out
    column = (-1, *(1 for _ in x.shape[axis + 1 :]))
    for t in range(taps):
        term = torch.index_select(x, axis, torch.clamp(index[:, t], min=0))
        used = (index[:, t] >= 0).reshape(column)
        out = out + torch.where(used, term * weight[:, t].reshape(column), 0)
    return out
