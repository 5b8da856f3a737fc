"""Raw arrays: which library computes them, behind one namespace.

A rule is written against a namespace `xp`. For raw arrays that is a
`Namespace`: the functions of the array's own library by their Array API names,
plus the few functions of `numpy_kernels` (or of a library's own table) that the
standard lacks, plus the extensions `xp.linalg`, `xp.fft`, `xp.special` and `xp.nn`.
No library but NumPy is imported before its array is seen, and no extension before it is used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.backends import numpy_kernels
from wengert.backends.extended_dtypes import extended, finfo
from wengert.backends.host import allow_host_fallback, has_values, is_on_host, to_host, to_numpy
from wengert.backends.namespace import Kept, Namespace, kind_of, numpy_extension
from wengert.errors import BackendError

__all__ = [
    "NUMPY", "QUICK", "Kept", "Namespace", "allow_host_fallback", "extended", "finfo", "guarded",
    "has_values", "in_one_program", "is_byte", "is_inexact", "is_narrow", "is_on_host", "kind_of",
    "loses", "namespace_of", "narrow_among", "plain", "promoted", "protected", "rounded",
    "to_host", "to_numpy",
]  # fmt: skip

NUMPY = Namespace(
    "numpy",
    np,
    numpy_kernels.KERNELS | numpy_kernels.SHORTCUTS,
    numpy_extension,
    writable=True,
    array=np.ndarray,
)
#: Classes of arrays of other libraries on which operations go a fast way, and what tells those of
#: one namespace from others of the class.
QUICK: dict[type, Callable[[Any], Any]] = {}
#: Of each class of arrays the namespace, or what has one for each device; None for no arrays.
_BY_TYPE: dict[type, Any] = {np.ndarray: NUMPY}


def namespace_of(array: Any) -> Any:
    """Return the namespace that computes `array`, or None if it is not an array."""
    kind = type(array)
    if kind not in _BY_TYPE:
        if hasattr(kind, "__wengert_namespace__"):  # depends on more than its type
            return array.__wengert_namespace__()
        _BY_TYPE[kind] = _find_library(array)
    found = _BY_TYPE[kind]
    return found if found is None or type(found) is Namespace else found.of(array)


def _find_library(array: Any) -> Any:
    if isinstance(array, (np.ndarray, np.generic)):
        return NUMPY
    if isinstance(array, (bool, int, float, complex, str, bytes, list, tuple, dict)):
        return None
    import array_api_compat

    if not array_api_compat.is_array_api_obj(array):
        return None
    return _library(array_api_compat.array_namespace(array))


@functools.cache
def _library(base: Any) -> Any:
    from wengert.backends.libraries import Library

    found = Library(base)
    if found.table.array is not None:
        QUICK[found.table.array] = attrgetter("device") if found.table.by_device else type
    return found


def in_one_program(name: str, xp: Any, other: Any, raws: list[Any]) -> tuple[Any, list[Any]]:
    """Return the namespace that compiles a program, and its arrays with NumPy's as constants.

    Elsewhere arrays of two libraries do not meet, and an error says so.
    """
    both = {xp, other} - {NUMPY}
    mine: Any = both.pop() if len(both) == 1 else None
    if mine is None or mine.control is None or not any(map(mine.control.is_traced, raws)):
        raise BackendError(
            f"{name}: got arrays of {xp.name} and of {other.name if other else 'no library'}; "
            "convert one first, with wg.from_dlpack or its library's own asarray"
        )
    return mine, [mine.asarray(r) if isinstance(r, np.ndarray) else r for r in raws]


_DOUBLE, _SINGLE = np.dtype("float64"), np.dtype("float32")


def is_narrow(dtype: Any) -> bool:
    """Whether a dtype of any library has fractions in fewer than 32 bits, as bfloat16 has."""
    return _is_narrow(dtype) if isinstance(dtype, np.dtype) else _is_narrow_elsewhere(dtype)


@functools.cache
def _is_narrow(dtype: Any) -> bool:
    name = str(dtype).rpartition(".")[2]
    return name in ("float16", "bfloat16") or name.startswith(("float8_", "float4_"))


@functools.cache
def _is_narrow_elsewhere(dtype: Any) -> bool:  # by itself: dtypes of two libraries do not compare
    return _is_narrow(str(dtype))


def is_byte(value: Any) -> bool:
    """Whether a value is an array of floats of 8 bits, which libraries keep but do not compute."""
    dtype = getattr(value, "dtype", None)
    return getattr(dtype, "itemsize", 0) == 1 and is_narrow(dtype)


def narrow_among(values: Any) -> Any:
    """Return the narrow dtype of the arrays with fractions, or None if there is none.

    It is float32 where these differ. Numbers have no say.
    """
    for value in values:
        dtype = getattr(value, "dtype", _DOUBLE)
        if dtype is not _DOUBLE and dtype is not _SINGLE and is_narrow(dtype):
            break
    else:
        return None
    first, *others = [v.dtype for v in values if hasattr(v, "dtype") and is_inexact(v.dtype)]
    return first if all(d == first for d in others) else np.dtype(np.float32)


def rounded(xp: Any, array: Any, dtype: Any) -> Any:
    """Return an array in a narrow dtype; numbers beyond its largest are infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return xp.astype(array, dtype)


def promoted(*dtypes: Any) -> np.dtype:
    """Return the dtype of a mixture. Narrow floats that do not hold each other become float32."""
    try:
        return np.result_type(*dtypes)
    except TypeError:
        single = np.dtype(np.float32)
        wide = [single if hasattr(d, "kind") and is_narrow(d) else d for d in dtypes]
        return np.result_type(*wide)


def is_inexact(dtype: Any) -> bool:
    """Whether a derivative with respect to numbers of this dtype exists."""
    if isinstance(dtype, np.dtype) and (kind := dtype.kind) != "V":  # quickly
        return kind in "fc"
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
        if array.dtype.kind not in "biufc" and kind_of(array.dtype) != "f":
            raise TypeError(f"got an array of {array.dtype}; expected numbers")
        if not array.dtype.isnative:  # BLAS and LAPACK read memory as it is
            return np.asarray(array, array.dtype.newbyteorder("="))
        return np.asarray(array)
    if getattr(array, "requires_grad", False) is True:
        raise TypeError(
            "got an array that its own library records (requires_grad=True), so that two tapes "
            "would follow it; write x.detach()"
        )
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


def guarded(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's rule that cannot write to what it reads, which others read as well."""

    def call(xp: Any, *values: Any) -> Any:
        locked = [v for v in values if isinstance(v, np.ndarray) and v.flags.writeable]
        for value in locked:
            value.flags.writeable = False
        try:
            return rule(xp, *values)
        finally:
            for value in locked:
                value.flags.writeable = True

    return call
