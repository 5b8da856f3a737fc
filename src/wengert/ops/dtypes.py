"""Dtypes, constants and what the namespace says about itself. Dtypes are NumPy's."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor

bool_ = np.dtype("bool")
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
#: The dtypes of the standard by name.
DTYPES: dict[str, Any] = {
    d.name: d
    for d in (
        bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64,
        complex64, complex128,
    )
}  # fmt: skip
#: One more, which NumPy has and the standard has not.
float16 = np.dtype("float16")
e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def _dtype(value: Any) -> Any:
    return value.dtype if hasattr(value, "dtype") else value


class FloatLimits(NamedTuple):
    """The limits of a floating dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntegerLimits(NamedTuple):
    """The limits of an integer dtype, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> FloatLimits:
    """Return the limits of a floating dtype. `wg.finfo(wg.float32).bits` is `32`."""
    info = backends.finfo(_dtype(type))
    return FloatLimits(
        info.bits,
        eps=float(info.eps),
        max=float(info.max),
        min=float(info.min),
        smallest_normal=float(info.smallest_normal),
        dtype=info.dtype,
    )


def iinfo(type: Any, /) -> IntegerLimits:
    """Return the limits of an integer dtype. `wg.iinfo(wg.int8).max` is `127`."""
    info = np.iinfo(_dtype(type))
    return IntegerLimits(info.bits, int(info.max), int(info.min), info.dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind: "real floating", "integral", ..., or another dtype.

    `wg.isdtype(wg.float32, "real floating")` is `True`.
    """
    if isinstance(dtype, np.dtype) and dtype.kind != "V":
        return bool(np.isdtype(dtype, kind))
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any(
        backends.kind_of(dtype) in _KINDS[k] if isinstance(k, str) else dtype == k for k in kinds
    )


def can_cast(from_: Any, to: Any, /) -> bool:
    """Return whether NumPy casts one dtype, or an array's, to another safely.

    `wg.can_cast(wg.int32, wg.float32)` is `False`.
    """
    return bool(np.can_cast(_dtype(from_), to))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype that operations on these arrays, dtypes and numbers have.

    `wg.result_type(wg.int8, wg.float32) == wg.float32` is `True`.
    """
    given = [a.dtype if type(a) is Tensor else _dtype(a) for a in arrays_and_dtypes]
    libraries = {
        id(xp): xp
        for a in arrays_and_dtypes
        if type(a) is Tensor and (xp := backends.namespace_of(a._raw)) is not None
    }
    (xp,) = libraries.values() if len(libraries) == 1 else (backends.NUMPY,)
    return backends.promoted(*given) if xp is backends.NUMPY else xp.result_type(*given)


class Info:
    """What the namespace can do, as the Array API standard asks."""

    def capabilities(self) -> dict[str, Any]:
        """Return which optional behaviours there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return where new arrays live."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Return where new arrays can live."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the dtypes of arrays made without one."""
        return {
            "real floating": DTYPES["float64"],
            "complex floating": DTYPES["complex128"],
            "integral": DTYPES["int64"],
            "indexing": DTYPES["int64"],
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return all dtypes, or those of a kind, by name."""
        return {name: d for name, d in DTYPES.items() if kind is None or np.isdtype(d, kind)}


def __array_namespace_info__() -> Info:
    """Return the namespace's description of itself, an `Info`.

    `wg.__array_namespace_info__().default_device()` is `"cpu"`.
    """
    return Info()


__all__ = [
    "__array_namespace_info__", "can_cast", "complex64", "complex128", "e", "finfo", "float16",
    "float32", "float64", "iinfo", "inf", "int8", "int16", "int32", "int64", "isdtype", "nan",
    "newaxis", "pi", "result_type", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
