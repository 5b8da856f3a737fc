"""signal.convolve with the parameters that HIPS autograd gave it."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import has_tensor, joined, settled
from wengert.dialects.autograd.boxes import boxed
from wengert.ops.creation import asarray
from wengert.ops.neural.along_axes import convolve_along


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
    y = convolve_along(a, b, axes, dot_axes, mode)
    return y if has_tensor((A, B)) else settled(y)


__all__ = ["convolve"]
