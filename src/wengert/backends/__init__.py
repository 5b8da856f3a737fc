"""Raw arrays: which library computes them, behind one namespace.

A rule is written against a namespace `xp`. For raw arrays that is a
`Namespace`: the functions of the array's own library by their Array API names,
plus the few functions of `numpy_kernels` (or `portable_kernels`) that the
standard lacks, plus the extensions `xp.linalg`, `xp.fft`, `xp.special` and `xp.nn`.
No library but NumPy is imported before its array is seen, and no extension before it is used.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends import numpy_kernels

#: What computes the functions of each extension on NumPy arrays.
EXTENSIONS = {
    "fft": "numpy.fft",
    "linalg": "wengert.backends.numpy_linalg",
    "nn": "wengert.backends.numpy_neural",
    "special": "wengert.backends.numpy_special",
}


class Namespace:
    """The Array API functions of one array library, our extra kernels, and extensions."""

    def __init__(
        self,
        name: str,
        base: Any,
        kernels: dict[str, Any],
        extension: Callable[[str], Any],
        writable: bool,
    ) -> None:
        self.name = name
        self.base = base
        #: whether an array that nobody else holds may be written to
        self.writable = writable
        #: whether nobody can write to its arrays
        self.immutable = name == "jax.numpy"
        self._extension = extension
        self.__dict__.update(kernels)

    def __getattr__(self, name: str) -> Any:
        value = self._extension(name) if name in EXTENSIONS else getattr(self.base, name)
        setattr(self, name, value)  # the next look-up finds it without this call
        return value

    def __repr__(self) -> str:
        return f"<namespace of {self.name} arrays>"


def numpy_extension(name: str) -> Any:
    """Return the module with the functions of an extension for NumPy arrays."""
    return importlib.import_module(EXTENSIONS[name])


NUMPY = Namespace(
    "numpy", np, numpy_kernels.KERNELS | numpy_kernels.SHORTCUTS, numpy_extension, writable=True
)
_BY_TYPE: dict[type, Namespace | None] = {np.ndarray: NUMPY}


def namespace_of(array: Any) -> Any:
    """Return the namespace that computes `array`, or None if it is not an array."""
    kind = type(array)
    if kind not in _BY_TYPE:
        if hasattr(kind, "__wengert_namespace__"):  # depends on more than its type
            return array.__wengert_namespace__()
        _BY_TYPE[kind] = _find_namespace(array)
    return _BY_TYPE[kind]


def _find_namespace(array: Any) -> Namespace | None:
    if isinstance(array, (np.ndarray, np.generic)):
        return NUMPY
    if isinstance(array, (bool, int, float, complex, str, bytes, list, tuple, dict)):
        return None
    import array_api_compat

    if not array_api_compat.is_array_api_obj(array):
        return None
    return _portable_namespace(array_api_compat.array_namespace(array))


@functools.cache
def _portable_namespace(base: Any) -> Namespace:
    from wengert.backends import portable_kernels

    name = base.__name__.removeprefix("array_api_compat.")

    def extension(wanted: str) -> Any:
        return portable_kernels.Extension(base, name, wanted, numpy_extension(wanted))

    return Namespace(name, base, portable_kernels.kernels(base), extension, writable=False)


def kind_of(dtype: Any) -> str:
    """Return "f", "c", "i", "u" or "b": what numbers a dtype of any library holds."""
    return dtype.kind if isinstance(dtype, np.dtype) else _kind_by_name(str(dtype))


@functools.cache
def _kind_by_name(name: str) -> str:
    name = name.rpartition(".")[2]  # torch.float32, array_api_strict.float32
    prefixes = {"float": "f", "bfloat": "f", "complex": "c", "int": "i", "uint": "u", "bool": "b"}
    return next((k for prefix, k in prefixes.items() if name.startswith(prefix)), "O")


def is_half(dtype: Any) -> bool:
    """Whether a dtype of any library is float16, whose largest number is 65,504."""
    if isinstance(dtype, np.dtype):
        return dtype.char == "e"
    return str(dtype).rpartition(".")[2] == "float16"


def is_inexact(dtype: Any) -> bool:
    """Whether a derivative with respect to numbers of this dtype exists."""
    return kind_of(dtype) in "fc"


def loses(given: Any, dtype: Any) -> bool:
    """Whether `dtype` cannot hold the fractions or imaginary parts of a given dtype."""
    order = "biufc".index
    kind = kind_of(given)
    return kind in "fc" and order(kind) > order(kind_of(dtype))


def plain(array: Any) -> Any:
    """Return an array of its library's own class, of numbers.

    A subclass of ndarray may give operators another meaning, as np.matrix does with `*`.
    """
    if isinstance(array, (np.ndarray, np.generic)):
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(
                "got a masked array, whose mask derivatives do not follow; write "
                "wg.where(mask, 0.0, array.data), or array.filled(value)"
            )
        if array.dtype.kind not in "biufc":
            raise TypeError(f"got an array of {array.dtype}; expected numbers")
        if not array.dtype.isnative:  # BLAS and LAPACK read memory as it is
            return np.asarray(array, array.dtype.newbyteorder("="))
        return np.asarray(array)
    return array


def protected(array: Any) -> Any:
    """Return `array`, or a copy where its owner could still write to it."""
    array = plain(array)
    if isinstance(array, np.ndarray):
        return array.copy() if _is_writable(array) else array
    xp = namespace_of(array)
    return array if xp is None or xp.immutable else xp.asarray(array, copy=True)


def _is_writable(array: np.ndarray) -> bool:
    """Whether the array, or an array it is a view of, may be written to."""
    link: Any = array
    while isinstance(link, np.ndarray):
        if link.flags.writeable:
            return True
        link = link.base
    return link is not None and not isinstance(link, bytes)


def to_numpy(array: Any) -> np.ndarray:
    """Return the values as a NumPy array, from any library's memory."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    try:
        return np.from_dlpack(array)
    except (AttributeError, TypeError, BufferError, RuntimeError):
        return np.asarray(array)
