"""CuPy's arrays, which are NumPy's on a GPU."""

from __future__ import annotations

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


TABLE = Table(
    {
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
