"""The kernels of `numpy_kernels` for a library that has only the standard.

Each runs on the host through NumPy and goes back to the array's own library
and device: correct everywhere, fast where host and device memory are one.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends import numpy_kernels


def kernels(base: Any) -> dict[str, Callable[..., Any]]:
    """Return every kernel, computing on arrays of the library `base`."""
    table = {name: _through_numpy(base, kernel) for name, kernel in numpy_kernels.KERNELS.items()}
    table["keep"] = lambda x, mask: base.where(mask, x, base.zeros_like(x))
    table["copy"] = lambda x: base.asarray(x, copy=True)
    table["cumulative_sum"] = lambda x, axis: base.cumulative_sum(x, axis=axis, dtype=x.dtype)
    table["cumulative_prod"] = lambda x, axis: base.cumulative_prod(x, axis=axis, dtype=x.dtype)
    return table


#: Where a library has an extension's functions under SciPy's names, with SciPy's meaning.
_ELSEWHERE = {
    ("special", "jax.numpy"): "jax.scipy.special",
    ("special", "cupy"): "cupyx.scipy.special",
}


class Extension:
    """The functions of an extension: the library's own, and through NumPy what it lacks."""

    def __init__(self, base: Any, library: str, name: str, on_numpy: Any) -> None:
        self._base = base
        self._on_numpy = on_numpy
        self._own: Any = None
        if name in ("linalg", "fft"):  # extensions of the standard
            self._own = getattr(base, name, None)
        elif (name, library) in _ELSEWHERE:
            self._own = importlib.import_module(_ELSEWHERE[name, library])

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._own, name, None)
        if function is None:
            function = _through_numpy(self._base, getattr(self._on_numpy, name))
        setattr(self, name, function)
        return function


def _through_numpy(base: Any, kernel: Callable[..., np.ndarray]) -> Callable[..., Any]:
    @functools.wraps(kernel)
    def call(*args: Any, **params: Any) -> Any:
        devices = [a.device for a in args if hasattr(a, "__dlpack__")]
        result = kernel(*[_to_host(a) for a in args], **{k: _to_host(v) for k, v in params.items()})
        device = devices[0] if devices else None
        if isinstance(result, tuple):
            return tuple(base.asarray(np.array(part), device=device) for part in result)
        return base.asarray(np.array(result), device=device)

    return call


def _to_host(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_to_host(v) for v in value)
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return value
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
