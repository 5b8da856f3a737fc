"""CuPy's arrays, which are NumPy's on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import cupyx
import cupyx.scipy.special

from wengert.backends import strided_kernels
from wengert.backends.libraries import Table


def _special(name: str) -> Any:
    """Return CuPy's function of a name; not the one that takes an order for an array."""
    return None if name == "yn" else getattr(cupyx.scipy.special, name, None)


def _place(array: Any, where: int) -> Any:
    with cupy.cuda.Device(where):
        return cupy.asarray(array)


def compiled(xp: Any, name: str, arguments: Sequence[str], text: str) -> Any:
    """Return a kernel that CuPy compiles when it is first called."""
    given = ", ".join(f"T {argument}" for argument in arguments)
    return cupy.ElementwiseKernel(given, "T result", f"result = {text}", name)


TABLE = Table(
    {
        "compiled": compiled,
        **strided_kernels.kernels(cupy, {"add": cupyx.scatter_add}),
        "location": lambda array: array.device.id,
        "place": _place,
    },
    {
        "nn": strided_kernels.neural(cupy).get,
        "special": _special,
    },
    writable=True,
    array=cupy.ndarray,
)
