"""PyTorch's dtypes, what they are in NumPy, and which one a mixture has."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends


class Shown(type):
    """The class of classes that Python shows by PyTorch's name of them."""

    shown: str

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


class dtype(metaclass=Shown):
    """A kind of numbers, such as `torch.float32`."""

    shown = "torch.dtype"
    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    numpy: np.dtype

    def __init__(self, name: str, itemsize: int = 0) -> None:
        self.name = name
        if not itemsize:  # of a dtype that NumPy has
            self.numpy = np.dtype(name)
        kind = ("c" if name == "complex32" else "f") if itemsize else self.numpy.kind
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"
        self.is_signed = kind in "ifc" and name != "float8_e8m0fnu"
        self.itemsize = itemsize or self.numpy.itemsize

    def __getattr__(self, name: str) -> Any:
        """Return what `ml_dtypes` calls it, once that is asked for."""
        if name != "numpy":
            raise AttributeError(f"torch.dtype has no attribute {name!r}")
        if self.name == "complex32":
            raise TypeError("torch.complex32: NumPy has no such dtype; write torch.complex64")
        self.numpy = backends.extended(self.name)
        DTYPES[self.numpy] = self
        return self.numpy

    def to_real(self) -> dtype:
        """Return the dtype of real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """Return the dtype of complex numbers with such parts."""
        if self.is_complex:
            return self
        if not self.is_floating_point:
            raise RuntimeError(f"{self!r} has no complex counterpart, because it has no fractions")
        return complex128 if self.name == "float64" else complex64

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name


float16 = dtype("float16")
float32 = dtype("float32")
float64 = dtype("float64")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
complex64 = dtype("complex64")
complex128 = dtype("complex128")
bool_ = dtype("bool")
bfloat16 = dtype("bfloat16", 2)
#: Has a name for programs that list dtypes; no tensor is of it.
complex32 = dtype("complex32", 4)
#: Dtypes that NumPy has only with `ml_dtypes`, by name; float8 is for storage.
EXTENDED = {"bfloat16": bfloat16} | {
    f"float8_{name}": dtype(f"float8_{name}", 1)
    for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
}
#: By NumPy's dtype.
DTYPES = {
    d.numpy: d
    for d in (
        float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        complex64, complex128, bool_,
    )
}  # fmt: skip
#: Further names of some.
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32,
    "long": int64, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
#: What PyTorch calls tensors of a dtype.
TYPES = {
    "float16": "Half", "float32": "Float", "float64": "Double", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "uint8": "Byte", "bool": "Bool", "uint16": "UInt16",
    "uint32": "UInt32", "uint64": "UInt64", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "bfloat16": "BFloat16",
    **{name: name.capitalize() for name in EXTENDED if "8" in name},
}  # fmt: skip
_PYTHON = {float: float64, int: int64, bool: bool_, complex: complex128}
_default = [float32]


def of_numpy(kind: Any) -> dtype:
    """Return the dtype that NumPy calls `kind`."""
    found = DTYPES.get(kind)
    if found is None and str(kind) in EXTENDED:
        found = EXTENDED[str(kind)]
        DTYPES[kind] = found
    if found is None:
        raise TypeError(
            f"an array of NumPy's {kind} cannot become a tensor; convert it to one of "
            f"{', '.join(d.name for d in DTYPES.values())}"
        )
    return found


def to_numpy(kind: Any, what: str = "dtype") -> np.dtype:
    """Return NumPy's name for a dtype, which may be given as a Python type."""
    if type(kind) is dtype:
        return kind.numpy
    if kind in _PYTHON:
        return _PYTHON[kind].numpy
    raise TypeError(
        f"{what}: got a value of type {type(kind).__name__}; write torch.float32 or the like"
    )


def default() -> dtype:
    """Return the dtype that Python's floating numbers get."""
    return _default[0]


def or_default(kind: np.dtype | None) -> np.dtype:
    """Return a dtype that may be left out, or the default one."""
    return default().numpy if kind is None else kind


def set_default(kind: dtype) -> None:
    """Set the dtype that Python's floating numbers get."""
    if type(kind) is not dtype or not kind.is_floating_point:
        raise TypeError(
            f"the default dtype must have fractions, and {kind!r} was given; write torch.float32 "
            "or torch.float64"
        )
    _default[0] = kind


_WIDE_UNSIGNED = ("uint16", "uint32", "uint64")
_CATEGORIES = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def category(kind: np.dtype) -> int:
    """Return 0 for truth values, 1 for whole numbers, 2 for real and 3 for complex ones."""
    return _CATEGORIES[backends.kind_of(kind)]


def of_number(number: Any) -> np.dtype:
    """Return the dtype of a Python number."""
    if isinstance(number, bool):
        return bool_.numpy
    if isinstance(number, int):
        return int64.numpy
    return default().numpy if isinstance(number, float) else default().to_complex().numpy


def joined(first: np.dtype, second: np.dtype) -> np.dtype:
    """Return the dtype that holds both, where whole numbers never widen floating ones."""
    if first is second or first == second:
        return first
    low, high = sorted((first, second), key=category)
    if low.name in _WIDE_UNSIGNED or high.name in _WIDE_UNSIGNED:
        if backends.kind_of(high) == "f":
            return high
        raise RuntimeError(f"{first} and {second} have no common dtype; write x.long() first")
    if category(low) == category(high) or (category(high) == 3 and category(low) == 2):
        if "float8" in first.name + second.name:
            raise RuntimeError(f"{first} and {second} have no common dtype; write x.float() first")
        return backends.promoted(first, second)
    return high


def result_type(*values: Any) -> np.dtype:
    """Return the dtype of a mixture of arrays and Python numbers.

    Arrays with axes decide, unless one without axes is of a higher category, or a number is.
    """
    with_axes: np.dtype | None = None
    without: np.dtype | None = None
    numbers: np.dtype | None = None
    for value in values:
        if isinstance(value, (bool, int, float, complex)):
            of_one = of_number(value)
            numbers = of_one if numbers is None else joined(numbers, of_one)
        elif value.shape:
            with_axes = value.dtype if with_axes is None else joined(with_axes, value.dtype)
        else:
            without = value.dtype if without is None else joined(without, value.dtype)
    found = None
    for kind in (with_axes, without, numbers):
        if kind is None:
            continue
        if found is None:
            found = kind
        elif category(kind) > category(found):
            if category(kind) == 3 and category(found) == 2:  # a real array stays as exact
                found = backends.promoted(found, np.complex64)
            else:
                found = kind
    assert found is not None
    return np.dtype(found)


def floating(kind: np.dtype) -> np.dtype:
    """Return the dtype of a result with fractions: the default one for whole numbers."""
    return kind if backends.is_inexact(kind) else default().numpy


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the dtype that holds both."""
    return of_numpy(joined(_given(type1, "type1").numpy, _given(type2, "type2").numpy))


def _given(kind: Any, what: str) -> dtype:
    if type(kind) is not dtype:
        raise TypeError(f"{what} is a {type(kind).__name__}; write torch.float32 or the like")
    return kind


class _Limits:
    """The limits of a dtype."""

    dtype: str
    _shown: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        shown = [f"{n}={getattr(self, n):g}" for n in self._shown]
        return f"{type(self).__name__}({', '.join(shown)}, dtype={self.dtype})"


class finfo(_Limits):
    """The limits of a floating dtype."""

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        kind = default() if type is None else _given(type, "type")
        if not backends.is_inexact(kind.numpy):
            raise TypeError(
                f"torch.finfo() is for dtypes with fractions, not {kind}; write torch.iinfo"
            )
        limits: Any = backends.finfo(kind.numpy)
        self.bits: int = limits.bits
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(f"1e-{limits.precision}")
        self.dtype = kind.to_real().name


class iinfo(_Limits):
    """The limits of a dtype of whole numbers."""

    _shown = ("min", "max")

    def __init__(self, type: dtype) -> None:
        kind = _given(type, "type")
        if kind.numpy.kind not in "iu":
            raise TypeError(f"torch.iinfo() is for whole numbers, not {kind}; write torch.finfo")
        limits = np.iinfo(kind.numpy)
        self.bits, self.min, self.max = limits.bits, int(limits.min), int(limits.max)
        self.dtype = kind.name
