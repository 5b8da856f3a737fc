"""PyTorch's dtypes, what they are in NumPy, and which one a mixture has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class dtype:
    """A kind of numbers, such as `torch.float32`."""

    __slots__ = ("name", "numpy")

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = np.dtype(name)

    @property
    def is_floating_point(self) -> bool:
        """Whether numbers are real and have fractions."""
        return self.numpy.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether numbers are complex."""
        return self.numpy.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether numbers may be negative."""
        return self.numpy.kind in "ifc"

    @property
    def itemsize(self) -> int:
        """The number of bytes."""
        return self.numpy.itemsize

    def to_real(self) -> dtype:
        """Return the dtype of real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """Return the dtype of complex numbers with such parts."""
        return {"float32": complex64, "float64": complex128}.get(self.name, self)

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
_PYTHON = {float: float32, int: int64, bool: bool_, complex: complex64}
_default = [float32]


def of_numpy(kind: Any) -> dtype:
    """Return the dtype that NumPy calls `kind`."""
    found = DTYPES.get(kind)
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{kind}; the kinds of numbers are "
            f"{', '.join(d.name for d in DTYPES.values())}"
        )
    return found


def to_numpy(kind: Any, what: str = "dtype") -> np.dtype:
    """Return NumPy's name for a dtype, which may be given as a Python type."""
    if type(kind) is dtype:
        return kind.numpy
    if kind in (float, int, bool, complex):
        return default().numpy if kind is float else _PYTHON[kind].numpy
    raise TypeError(
        f"{what} must be torch.dtype, not {type(kind).__name__}; write torch.float32 or the like"
    )


def default() -> dtype:
    """Return the dtype that Python's floating numbers get."""
    return _default[0]


def set_default(kind: dtype) -> None:
    """Set the dtype that Python's floating numbers get."""
    if type(kind) is not dtype or not kind.is_floating_point:
        raise TypeError(
            "only floating-point types are supported as the default type, such as torch.float64; "
            f"got {kind!r}"
        )
    _default[0] = kind


@contextlib.contextmanager
def default_is(kind: dtype) -> Iterator[None]:
    """Return a context in which Python's floating numbers have another dtype."""
    before = default()
    set_default(kind)
    try:
        yield
    finally:
        set_default(before)


_CATEGORIES = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def category(kind: np.dtype) -> int:
    """Return 0 for truth values, 1 for whole numbers, 2 for real and 3 for complex ones."""
    return _CATEGORIES[kind.kind]


def of_number(number: Any) -> np.dtype:
    """Return the dtype of a Python number."""
    if type(number) is complex:
        return default().to_complex().numpy
    if type(number) is float:
        return default().numpy
    return _PYTHON[type(number)].numpy


def joined(first: np.dtype, second: np.dtype) -> np.dtype:
    """Return the dtype that holds both, where whole numbers never widen floating ones."""
    if first is second or first == second:
        return first
    low, high = sorted((first, second), key=category)
    if category(low) == category(high):
        return np.promote_types(first, second)
    if category(high) == 3 and category(low) == 2:
        return np.promote_types(first, second)
    return high


def result_type(*values: Any) -> np.dtype:
    """Return the dtype of a mixture of arrays and Python numbers.

    Arrays with axes decide, unless one without axes is of a higher category, or a number is.
    """
    with_axes = without = numbers = None
    for value in values:
        if isinstance(value, (bool, int, float, complex)):
            kind = of_number(value)
            numbers = kind if numbers is None else joined(numbers, kind)
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
                found = np.promote_types(found, np.complex64)
            else:
                found = kind
    assert found is not None
    return np.dtype(found)


def floating(kind: np.dtype) -> np.dtype:
    """Return the dtype of a result with fractions: the default one for whole numbers."""
    return kind if kind.kind in "fc" else default().numpy
