"""NumPy's Fourier transforms and special functions on tensors.

What answers is in the modules of the extensions, which are imported when one is first called.
"""

from __future__ import annotations

import importlib

from wengert.ops.numpy.ufuncs import Function


def _of_one(module: str, name: str) -> Function:
    """Return a function of one array, which takes the parameters of the one that answers."""
    home = f"wengert.ops.{module}"
    return lambda x, /, **params: getattr(importlib.import_module(home), name)(x, **params)


_TRANSFORMS = """
    fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn
"""
FUNCTIONS: dict[str, Function] = {
    **{f"fft.{name}": _of_one("fft", name) for name in _TRANSFORMS.split()},
    **{name: _of_one("special", name) for name in ("i0", "sinc")},
}
