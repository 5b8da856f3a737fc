"""Fourier transforms of PyTorch's arrays, also of those without elements, which MKL refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat.torch import fft as transforms


def _transform(name: str) -> Callable[..., Any]:
    """Return a transform that computes one of ones instead, if there is nothing to compute."""
    function = getattr(transforms, name)

    def call(x: Any, **how: Any) -> Any:
        if x.numel():
            return function(x, **how)
        axes = how.get("axes") or range(x.ndim) if name.endswith("n") else (how.get("axis", -1),)
        axes = {axis % x.ndim for axis in axes}
        batch = [n for axis, n in enumerate(x.shape) if axis not in axes]
        if 0 not in batch:  # an error of the library's own
            return function(x, **how)
        model = x.new_ones([n if axis in axes else 1 for axis, n in enumerate(x.shape)])
        found = function(model, **how)
        shape = [
            m if axis in axes else n
            for axis, (n, m) in enumerate(zip(x.shape, found.shape, strict=True))
        ]
        return found.new_zeros(shape)

    return call


fft, ifft, rfft, irfft, hfft, ihfft = map(
    _transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
)
fftn, ifftn, rfftn, irfftn = map(_transform, ("fftn", "ifftn", "rfftn", "irfftn"))
