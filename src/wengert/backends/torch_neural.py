"""The extension `xp.nn` on PyTorch's arrays: convolutions, windows and pooling on their device."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import torch

from wengert.backends.numpy_windows import Geometry, Ints, frame_of, slices_of
from wengert.backends.taps import Taps
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
def convolution_padding(x: Ints, w: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the equal padding of both sides that a geometry is, for PyTorch's convolutions.

    `x` and `w` are shapes. It is None if the padding is not equal, or if PyTorch has no function
    for so many axes or for arrays without elements.
    """
    if 0 in (*x, *w, *size) or len(size) not in (1, 2, 3):
        return None
    for n, k, p, s, lo, d in zip(x[2:], w[2:], size, *geometry, strict=True):
        if lo < 0 or (n + 2 * lo - (k - 1) * d - 1) // s + 1 != p:
            return None
    return tuple(geometry.offset)


def convolve(
    x: Any, w: Any, bias: Any = None, *, size: Ints, geometry: Geometry, groups: int
) -> Any:
    """Return the sums of x * w in windows, `size` of them, plus a bias for each channel."""
    if x.dtype is not w.dtype or (bias is not None and bias.dtype is not x.dtype):
        x, w, *others = _alike(x, w) if bias is None else _alike(x, w, bias)
        bias = others[0] if others else None
    padding = convolution_padding(x.shape, w.shape, size, geometry)
    spatial = len(size)
    if padding is None:
        if not x.numel() or not w.numel() or 0 in size or spatial not in (1, 2, 3):
            z = _by_taps(x, w, size, geometry, groups)
            return z if bias is None else z + bias.reshape(-1, *(1 for _ in size))
        x, padding = _frame(x, tuple(w.shape[2:]), size, geometry), (0,) * spatial
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
    padding = convolution_padding(x.shape, shape, places, geometry)
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
    padding = convolution_padding(shape, w.shape, places, geometry)
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


class _Taps(Taps):
    def give(self, out: Any, positions: Any, share: Any, mask: Any) -> None:
        bits = _BITS.get(share.itemsize)
        if bits is None:
            super().give(out, positions, share, mask)
        else:  # a product of bits: a number may be infinite, and is written where it belongs
            torch.mul(share.view(bits), mask, out=out.view(bits)[positions])


def _full(shape: Any, number: Any, dtype: Any, like: Any) -> Any:
    return like.new_full(shape, number, dtype=torch.bool if dtype is bool else dtype)


def _placed(value: Any, like: Any, dtype: Any = None) -> Any:
    return tensor(value, like.device).to(dtype)


_TAPS = _Taps(torch, _full, _placed)
fold_windows = _TAPS.fold_windows
globals().update(_TAPS.kernels())
