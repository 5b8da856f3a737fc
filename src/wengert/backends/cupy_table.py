"""CuPy's arrays, which are NumPy's on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import cupyx
import cupyx.scipy.special
import numpy as np

from wengert.backends import cupy_kernels, strided_kernels
from wengert.backends.libraries import Table


def _special(name: str) -> Any:
    """Return CuPy's function of a name; not the one that takes an order for an array."""
    if name == "polygamma":
        return _polygamma
    return None if name == "yn" else getattr(cupyx.scipy.special, name, None)


def _polygamma(n: int, x: Any) -> Any:
    return cupyx.scipy.special.polygamma(cupy.full(x.shape, n, x.dtype), x)


def _add(x: Any, key: Any, values: Any) -> None:
    """Add values to x at a key; CuPy has no sums of complex numbers there."""
    if x.dtype.kind != "c":
        cupyx.scatter_add(x, key, values)
        return
    cupyx.scatter_add(x.real, key, values.real)
    cupyx.scatter_add(x.imag, key, values.imag)


def _solve(a: Any, b: Any) -> Any:
    """Return x of a @ x = b for stacks of matrices, of which CuPy takes only equally many."""
    if b.ndim == 1:
        return _solve(a, b[:, None])[..., 0]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (cupy.broadcast_to(m, (*lead, *m.shape[-2:])) for m in (a, b))
    return cupy.linalg.solve(a, b)


def _place(array: Any, where: int) -> Any:
    with cupy.cuda.Device(where):
        return cupy.asarray(array)


def compiled(xp: Any, name: str, arguments: Sequence[str], text: str) -> Any:
    """Return a kernel that CuPy compiles when it is first called."""
    given = ", ".join(f"T {argument}" for argument in arguments)
    otherwise = cupy.ElementwiseKernel(given, "T result", f"result = {text}", f"{name}_of_any")
    return cupy_kernels.launched(cupy, name, arguments, text, otherwise)


_ALIKE = cupy_kernels.functions(cupy)

TABLE = Table(
    {
        "compiled": compiled,
        "compiles_all": True,
        "grow": _ALIKE.grow,
        **strided_kernels.kernels(
            cupy,
            {
                "add": _add,
                "max": strided_kernels.extreme_at(cupy, cupyx.scatter_max, -1),
                "min": strided_kernels.extreme_at(cupy, cupyx.scatter_min, 0),
            },
        ),
        "location": lambda array: array.device.id,
        "place": _place,
    },
    {
        "linalg": {"solve": _solve}.get,
        "nn": strided_kernels.neural(cupy).get,
        "special": _special,
    },
    writable=True,
    array=cupy.ndarray,
    alike=_ALIKE,
)
