"""TensorFlow's dtypes: objects with names, and what they are in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """A kind of numbers, such as `tf.float32`; equal to its name and to NumPy's dtype."""

    __slots__ = ("_numpy", "name")
    name: str

    def __init__(self, name: str) -> None:
        self.name = name
        self._numpy = np.dtype(name)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type."""
        return self._numpy.type

    @property
    def base_dtype(self) -> DType:
        """Itself: there are no references."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_floating(self) -> bool:
        """Whether numbers are real and have fractions."""
        return self._numpy.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether numbers are whole."""
        return self._numpy.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether numbers are whole and never negative."""
        return self._numpy.kind == "u"

    @property
    def is_complex(self) -> bool:
        """Whether numbers are complex."""
        return self._numpy.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether values are True or False."""
        return self._numpy.kind == "b"

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers."""
        return not self.is_bool

    @property
    def is_quantized(self) -> bool:
        """Whether numbers stand for others by a table: never."""
        return False

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy has it."""
        return True

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._numpy.itemsize

    @property
    def min(self) -> Any:
        """The least number; an error for booleans and complex ones."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The greatest number; an error for booleans and complex ones."""
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if self.is_bool or self.is_complex:
            raise TypeError(f"{which}: {self} has no order")
        info: Any = np.finfo(self._numpy) if self.is_floating else np.iinfo(self._numpy)
        value = getattr(info, which)
        return value if self.is_floating else int(value)

    @property
    def limits(self) -> tuple[Any, Any]:
        """What numbers range over in images: 0 to the greatest, or to 1 if they have fractions."""
        if self.is_complex or self == float16:
            raise ValueError(f"limits: images have no range in {self}")
        return 0, 1 if self.is_floating else True if self.is_bool else self.max

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether another dtype is the same."""
        return self == as_dtype(other)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None:
            return False
        try:
            return self._numpy == as_dtype(other)._numpy
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._numpy)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


float16 = half = DType("float16")
float32 = DType("float32")
float64 = double = DType("float64")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
complex64 = DType("complex64")
complex128 = DType("complex128")
bool_ = DType("bool")

_BY_NUMPY = {
    d._numpy: d
    for d in (
        float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        complex64, complex128, bool_,
    )
}  # fmt: skip
_NAMES = {d.name for d in _BY_NUMPY.values()}
_OTHER_NAMES = {"half": "float16", "float": "float32", "double": "float64"}


def as_dtype(type_value: Any) -> DType:
    """Return the dtype of a name, of NumPy's dtype or type, or of Python's type."""
    if type(type_value) is DType:
        return type_value
    given = type_value
    if isinstance(given, str):
        given = _OTHER_NAMES.get(given, given)
    elif given is float:
        return float32
    elif isinstance(given, (np.ndarray, np.generic)):
        given = given.dtype
    try:
        if given is None or given is int or given is complex:
            raise TypeError
        if isinstance(given, str) and given not in _NAMES:
            raise TypeError
        return _BY_NUMPY[np.dtype(given).newbyteorder("=")]
    except (TypeError, ValueError, KeyError):
        raise TypeError(
            f"{type_value!r} is no dtype; "
            "tensors here hold numbers and booleans, so write tf.float32, 'int64', np.float64, ..."
        ) from None


def of_numpy(dtype: Any) -> DType:
    """Return the dtype of an array."""
    return _BY_NUMPY[dtype]
