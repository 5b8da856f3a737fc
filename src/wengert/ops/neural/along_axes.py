"""Convolution of two arrays along some of their axes, with sums over others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.ops.neural.convolutions import conv1d, conv2d, conv3d

__all__ = ["convolve_along"]
_BY_RANK = {1: conv1d, 2: conv2d, 3: conv3d}


def convolve_along(a: Tensor, b: Tensor, axes: Any, dot_axes: Any, mode: str) -> Tensor:
    """Return the convolution of a with b along pairs of axes, with sums over further pairs.

    The axes of the result are those of a that remain, those of b that remain, and the convolved.
    `mode` is "full", "valid", or "same" for the lengths of a.
    """
    ns = Tensor._namespace
    rest_a, a = _arranged(a, axes[0], dot_axes[0])
    rest_b, b = _arranged(b, axes[1], dot_axes[1])
    if a.ndim != b.ndim or a.shape[1] != b.shape[1] or a.ndim > 5:
        raise ValueError(
            f"convolve: axes={axes} and dot_axes={dot_axes} do not fit; expected at most three "
            "pairs of axes to convolve, and pairs of equal lengths to sum over"
        )
    if a.ndim == 2:
        return ns.reshape(ns.matmul(a, ns.matrix_transpose(b)), (*rest_a, *rest_b))
    lengths = list(zip(a.shape[2:], b.shape[2:], strict=True))
    swapped = mode == "valid" and any(n < m for n, m in lengths)
    if swapped and any(n > m for n, m in lengths):
        raise ValueError(
            f"convolve: mode 'valid' of lengths {lengths}; one array must be the larger in all"
        )
    image, kernel = (b, a) if swapped else (a, b)
    margins = [_margins(m, mode) for m in kernel.shape[2:]]
    image = ns.pad(image, [(0, 0), (0, 0), *margins])
    y = _BY_RANK[a.ndim - 2](image, ns.flip(kernel, axis=tuple(range(2, kernel.ndim))))
    y = ns.swapaxes(y, 0, 1) if swapped else y
    return ns.reshape(y, (*rest_a, *rest_b, *y.shape[2:]))


def _arranged(x: Tensor, axes: Sequence[int], dot_axes: Sequence[int]) -> tuple[list[int], Tensor]:
    """Return the lengths of remaining axes, and x with axes (remaining, summed, convolved)."""
    axes, dot_axes = ([axis % x.ndim for axis in given] for given in (axes, dot_axes))
    rest = [axis for axis in range(x.ndim) if axis not in axes and axis not in dot_axes]
    lengths = [x.shape[axis] for axis in rest]
    summed = math.prod(x.shape[axis] for axis in dot_axes)
    convolved = [x.shape[axis] for axis in axes]
    moved = Tensor._namespace.permute_dims(x, (*rest, *dot_axes, *axes))
    return lengths, Tensor._namespace.reshape(moved, (math.prod(lengths), summed, *convolved))


def _margins(length: int, mode: str) -> tuple[int, int]:
    """Return how many zeros go before and after, for a kernel of some length."""
    if mode == "full":
        return length - 1, length - 1
    if mode == "same":
        return length // 2, (length - 1) // 2
    if mode == "valid":
        return 0, 0
    raise ValueError(f"convolve: mode is {mode!r}; expected 'full', 'same' or 'valid'")
