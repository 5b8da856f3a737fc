"""`Namespace`: what rules and operations see of an array library."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

#: What computes the functions of each extension on NumPy arrays.
EXTENSIONS = {
    "fft": "numpy.fft",
    "linalg": "wengert.backends.numpy_linalg",
    "nn": "wengert.backends.numpy_neural",
    "special": "wengert.backends.numpy_special",
}
#: Functions of one number that the standard and C have by the same name.
FUNCTIONS = ("cos", "cosh", "exp", "expm1", "log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh")


def kind_of(dtype: Any) -> str:
    """Return "f", "c", "i", "u" or "b": what numbers a dtype of any library holds."""
    if isinstance(dtype, np.dtype) and dtype.kind != "V":  # as ml_dtypes has it
        return dtype.kind
    return _kind_of(dtype)


@functools.cache
def _kind_of(dtype: Any) -> str:
    name = str(dtype).rpartition(".")[2]  # torch.float32, array_api_strict.float32
    prefixes = {"float": "f", "bfloat": "f", "complex": "c", "int": "i", "uint": "u", "bool": "b"}
    return next((k for prefix, k in prefixes.items() if name.startswith(prefix)), "O")


class Own(NamedTuple):
    """How a library computes an operation of ours by kernels of its own.

    `compute` takes raw arrays and parameters, and may return a `Kept`; if it is None, the operation
    computes as it always does. `rule` takes g and, by the names of its parameters, what rules
    read, None for what no argument's rule does; further `saved`, and `wanted`, which says for
    each argument whether its cotangent is asked for. It returns one for each argument, or just
    that of the only one. Either may return NotImplemented, which leaves it to the operation.
    """

    compute: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None


class Kept(NamedTuple):
    """A result, and what the kernel that made it keeps for the one of its rule."""

    result: Any
    saved: Any


class Namespace:
    """The Array API functions of one array library, our extra kernels, and extensions."""

    #: ``(x, y) -> x``, which is then the sum of both: an array that nobody else holds
    grow: Callable[[Any, Any], Any] = staticmethod(operator.iadd)
    #: what compiles programs of the library's arrays, if anything does
    control: Any = None
    #: ``(xp, name, arguments, text) -> function``: what compiles an expression of C of each element
    #: of arrays of one type T, if anything does; the function is None where that cannot be
    compiled: Callable[..., Any] | None = None
    #: whether such a function takes less time than the library's own of a single operation
    compiles_all = False

    def __init__(
        self,
        name: str,
        base: Any,
        kernels: dict[str, Any],
        extension: Callable[[str], Any],
        writable: bool,
        immutable: bool = False,
        array: type | None = None,
        alike: Any = None,
        narrow: frozenset[str] = frozenset(),
        own: Mapping[str, Own] | None = None,
    ) -> None:
        self.name = name
        self.base = base
        #: whether an array that nobody else holds may be written to
        self.writable = writable
        #: whether nobody can write to its arrays
        self.immutable = immutable
        #: the class of its arrays, if operations on them go a fast way
        self.array = array
        #: the families of operations that it computes in narrow floats itself
        self.narrow = narrow
        #: the operations that it has kernels for, by name
        self.own: Mapping[str, Own] = own or {}
        #: where functions of two arrays of one dtype are looked for first
        self.alike = alike
        #: whether a dtype of its has real fractions
        self.is_real = functools.cache(lambda dtype: kind_of(dtype) == "f")
        self._extension = extension
        self.__dict__.update(kernels)

    def __getattr__(self, name: str) -> Any:
        value = self._extension(name) if name in EXTENSIONS else getattr(self.base, name)
        setattr(self, name, value)  # the next look-up finds it without this call
        return value

    def scalar(self, value: Any, dtype: Any) -> Any:
        """Return a Python number as a new array without axes."""
        return self.asarray(value, dtype=dtype)

    def location(self, array: Any) -> Any:
        """Return where an array is, if this namespace has arrays in several places."""
        return None

    def place(self, array: Any, where: Any) -> Any:
        """Return a NumPy array as one of the library at a location, as a constant."""
        return self.asarray(array)

    def __repr__(self) -> str:
        return f"<namespace of {self.name} arrays>"


def numpy_extension(name: str) -> Any:
    """Return the module with the functions of an extension for NumPy arrays."""
    return importlib.import_module(EXTENSIONS[name])
