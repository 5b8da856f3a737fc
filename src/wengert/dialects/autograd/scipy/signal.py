"""signal.convolve with the parameters that HIPS autograd gave it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.autograd.borders import has_tensor, joined, settled
from wengert.dialects.autograd.boxes import boxed
from wengert.ops import neural
from wengert.ops.creation import asarray

_BY_RANK = {1: neural.conv1d, 2: neural.conv2d, 3: neural.conv3d}


@boxed
def convolve(
    A: Any, B: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full",
) -> Any:  # fmt: skip
    """Return the convolution of A with B along some axes.

    Parameters
    ----------
    axes
        The axes to convolve, a list for A and one for B; all of them by default.
    dot_axes
        Further axes, a list for each, over which products are summed.
    mode
        "full", "valid", or "same" for the lengths of A.

    The axes of the result are those of A that remain, those of B that remain, and the convolved.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd.scipy.signal import convolve
    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0]))
    array([1., 3., 5., 3.])
    """
    a, b = asarray(joined(A)), asarray(joined(B))
    if axes is None:
        axes = [range(a.ndim), range(a.ndim)]
    rest_a, a = _arranged(a, axes[0], dot_axes[0])
    rest_b, b = _arranged(b, axes[1], dot_axes[1])
    if a.ndim != b.ndim or a.shape[1] != b.shape[1] or a.ndim > 5:
        raise ValueError(
            f"convolve: axes={axes} and dot_axes={dot_axes} do not fit; expected at most three "
            "pairs of axes to convolve, and pairs of equal lengths to sum over"
        )
    if a.ndim == 2:
        y: Any = np.reshape(np.matmul(a, np.swapaxes(b, 0, 1)), (*rest_a, *rest_b))
        return y if has_tensor((A, B)) else settled(y)
    lengths = list(zip(a.shape[2:], b.shape[2:], strict=True))
    swapped = mode == "valid" and any(n < m for n, m in lengths)
    if swapped and any(n > m for n, m in lengths):
        raise ValueError(
            f"convolve: mode 'valid' of lengths {lengths}; one array must be the larger in all"
        )
    image, kernel = (b, a) if swapped else (a, b)
    margins = [_margins(m, mode) for m in kernel.shape[2:]]
    image = np.pad(image, [(0, 0), (0, 0), *margins])
    y = _BY_RANK[a.ndim - 2](image, np.flip(kernel, tuple(range(2, kernel.ndim))))
    y = np.swapaxes(y, 0, 1) if swapped else y
    y = np.reshape(y, (*rest_a, *rest_b, *y.shape[2:]))
    return y if has_tensor((A, B)) else settled(y)


def _arranged(x: Any, axes: Sequence[int], dot_axes: Sequence[int]) -> tuple[Any, Any]:
    """Return the lengths of remaining axes, and x with axes (remaining, summed, convolved)."""
    axes, dot_axes = ([axis % x.ndim for axis in given] for given in (axes, dot_axes))
    rest = [axis for axis in range(x.ndim) if axis not in axes and axis not in dot_axes]
    lengths = [x.shape[axis] for axis in rest]
    summed = math.prod(x.shape[axis] for axis in dot_axes)
    convolved = [x.shape[axis] for axis in axes]
    x = np.transpose(x, (*rest, *dot_axes, *axes))
    return lengths, np.reshape(x, (math.prod(lengths), summed, *convolved))


def _margins(length: int, mode: str) -> tuple[int, int]:
    """Return how many zeros go before and after, for a kernel of some length."""
    if mode == "full":
        return length - 1, length - 1
    if mode == "same":
        return length // 2, (length - 1) // 2
    if mode == "valid":
        return 0, 0
    raise ValueError(f"convolve: mode is {mode!r}; expected 'full', 'same' or 'valid'")


__all__ = ["convolve"]
