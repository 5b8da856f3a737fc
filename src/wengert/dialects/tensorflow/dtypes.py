"""TensorFlow's dtypes: objects with names, and what they are in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends


class DType:
    """A kind of numbers, such as `tf.float32`; equal to its name and to NumPy's dtype."""

    __slots__ = (
        "_numpy", "as_numpy_dtype", "is_bool", "is_complex", "is_floating", "is_integer",
        "is_numeric", "is_unsigned", "name", "size",
    )  # fmt: skip
    is_numpy_compatible, is_quantized = True, False

    _numpy: np.dtype[Any]
    as_numpy_dtype: Any

    def __init__(self, name: str, size: int = 0) -> None:
        self.name = name
        if not size:  # of a dtype that NumPy has
            self._numpy = np.dtype(object if name == "string" else name)
            self.as_numpy_dtype = object if name == "string" else self._numpy.type
        self.size = 0 if name == "string" else size or self._numpy.itemsize
        kind = "f" if size else self._numpy.kind
        self.is_floating, self.is_complex, self.is_bool = kind == "f", kind == "c", kind == "b"
        self.is_integer, self.is_unsigned = kind in "iu", kind == "u"
        self.is_numeric = kind in "iufc"

    def __getattr__(self, name: str) -> Any:
        """Return what `ml_dtypes` calls it, once that is asked for."""
        if name not in ("_numpy", "as_numpy_dtype"):
            raise AttributeError(f"tf.DType has no attribute {name!r}")
        self._numpy = backends.extended(self.name)
        self.as_numpy_dtype = self._numpy.type
        _BY_NUMPY[self._numpy] = self
        return getattr(self, name)

    @property
    def base_dtype(self) -> DType:
        """Itself: there are no references."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def min(self) -> Any:
        """The least number; an error for booleans and complex ones."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The greatest number; an error for booleans and complex ones."""
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if not self.is_numeric or self.is_complex:
            raise TypeError(f"{which}: {self} has no order")
        info: Any = backends.finfo(self._numpy) if self.is_floating else np.iinfo(self._numpy)
        value = getattr(info, which)
        return value if self.is_floating else int(value)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether another dtype is the same."""
        return self == any_dtype(other)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None:
            return False
        try:
            return self is any_dtype(other)
        except TypeError:
            return False

    __hash__ = object.__hash__  # there is one object of each

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> Any:
        return any_dtype, (self.name,)


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
string = DType("string")
bfloat16 = DType("bfloat16", 2)
float8_e4m3fn = DType("float8_e4m3fn", 1)
float8_e5m2 = DType("float8_e5m2", 1)
#: Dtypes that NumPy has only with `ml_dtypes`, by name; float8 is for storage.
EXTENDED = {d.name: d for d in (bfloat16, float8_e4m3fn, float8_e5m2)}

_BY_NUMPY = {
    d._numpy: d
    for d in (
        float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        complex64, complex128, bool_, string,
    )
}  # fmt: skip
BY_NAME = {d.name: d for d in _BY_NUMPY.values()} | EXTENDED
_OTHER_NAMES = {"half": "float16", "float": "float32", "double": "float64"}


def as_dtype(type_value: Any) -> DType:
    """Return a dtype of numbers or booleans; see `any_dtype`."""
    found = any_dtype(type_value)
    if found is string:
        raise TypeError(
            "got tf.string; expected a dtype of numbers, such as tf.float32: strings are plain "
            "data, as tf.constant('a') makes them"
        )
    return found


def any_dtype(type_value: Any) -> DType:
    """Return the dtype of a name, of NumPy's dtype or type, or of Python's type."""
    if type(type_value) is DType:
        return type_value
    given = type_value
    if type(given) is str and given in BY_NAME:
        return BY_NAME[given]
    if isinstance(given, str):
        given = _OTHER_NAMES.get(given, given)
    elif given is float:
        return float32
    elif isinstance(given, (np.ndarray, np.generic)):
        given = given.dtype
    try:
        if any(given is kind for kind in (None, int, complex, str, bytes)):
            raise TypeError
        if isinstance(given, str) and given not in BY_NAME:
            raise TypeError
        if given == "string":
            return string
        found = np.dtype(given).newbyteorder("=")
        return string if found.kind in "SU" else of_numpy(found)
    except (TypeError, ValueError, KeyError):
        raise TypeError(
            f"{type_value!r} is no dtype; write tf.float32, 'int64', np.float64, tf.string, ..."
        ) from None


def of_numpy(dtype: Any) -> DType:
    """Return the dtype of an array."""
    found = _BY_NUMPY.get(dtype)
    return BY_NAME[dtype.name] if found is None else found
