"""LU factors from the LAPACK that NumPy itself calls.

NumPy solves equations but does not hand out the factors, so that the derivative of a solution
would have to factor the same matrix again. The library is found through NumPy's own module; where
it has other names, `factor` returns None and callers do without.

Integers are passed as 64 bits of which a library of 32-bit integers reads the lower half; pivots
are only handed back to it.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


@functools.cache
def _functions(char: str) -> tuple[Any, Any] | None:
    """Return LAPACK's functions that factor and solve for a dtype, if they can be found."""
    if sys.byteorder != "little":
        return None
    try:
        from numpy.linalg import _umath_linalg

        library = ctypes.CDLL(_umath_linalg.__file__)
    except (ImportError, OSError):
        return None
    letter = _LETTERS[char]
    for prefix, suffix in (("scipy_", "_64_"), ("", "_64_"), ("", "_")):
        names = [f"{prefix}{letter}{name}{suffix}" for name in ("getrf", "getrs")]
        if all(hasattr(library, name) for name in names):
            return getattr(library, names[0]), getattr(library, names[1])
    return None


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _integer(value: int) -> Any:
    return ctypes.byref(ctypes.c_int64(value))


def factor(a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the LU factors and pivots of a matrix for `solve_factored`, or None."""
    found = _functions(a.dtype.char) if a.dtype.char in _LETTERS else None
    if found is None:
        return None
    n = a.shape[0]
    factors = np.array(a, order="C")  # to LAPACK, which counts columns first, its transpose
    pivots, info = np.zeros(n, np.int64), ctypes.c_int64(0)
    size = _integer(n)
    found[0](size, size, _pointer(factors), size, _pointer(pivots), ctypes.byref(info))
    if info.value:
        raise LinAlgError("Singular matrix")
    return factors, pivots


def solve_factored(
    factors: np.ndarray, pivots: np.ndarray, b: np.ndarray, adjoint: bool
) -> np.ndarray:
    """Return x of a x = b, or of aᴴ x = b, for a matrix b and the factors of a."""
    _, solve = _functions(factors.dtype.char)  # type: ignore[misc]
    conjugate = adjoint and b.dtype.kind == "c"
    x = np.array(np.conj(b) if conjugate else b, order="F")
    n, info = _integer(len(factors)), ctypes.c_int64(0)
    trans = ctypes.c_char_p(b"N" if adjoint else b"T")
    solve(
        trans, n, _integer(b.shape[1]), _pointer(factors), n, _pointer(pivots), _pointer(x), n,
        ctypes.byref(info), ctypes.c_size_t(1),
    )  # fmt: skip
    return np.conj(x) if conjugate else x
