"""NumPy's Fourier transforms and special functions on tensors.

What answers is in the modules of the extensions, which are imported when one is first called.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.ops.numpy.ufuncs import Function


def _extension(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"wengert.ops.{module}"), name)


def _along_one(name: str) -> Function:
    def call(a: Any, /, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        return _extension("fft", name)(a, n=n, axis=axis, norm=norm)

    return call


def _over_all(name: str) -> Function:
    def call(a: Any, /, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        return _extension("fft", name)(a, s=s, axes=axes, norm=norm)

    return call


def _over_two(name: str) -> Function:
    def call(a: Any, /, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return _extension("fft", name)(a, s=s, axes=axes, norm=norm)

    return call


def _of_elements(name: str) -> Function:
    return lambda x: _extension("special", name)(x)


FUNCTIONS: dict[str, Function] = {
    **{f"fft.{n}": _along_one(n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{n}": _over_all(n) for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"fft.{n}": _over_two(n) for n in ("fft2", "ifft2", "rfft2", "irfft2")},
    "i0": _of_elements("i0"),
    "sinc": _of_elements("sinc"),
}
