"""The box of an array or a number, with the operators and methods of NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.autograd import boxes
from wengert.dialects.autograd import numpy as anp
from wengert.dialects.autograd.borders import late
from wengert.engine.tensor import Tensor

_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power",
    "mod": "mod", "floordiv": "floor_divide", "matmul": "matmul",
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
#: Methods that are functions of NumPy with the array first.
_METHODS = """
    all any argmax argmin argpartition argsort clip compress conj conjugate copy cumprod cumsum
    diagonal dot max mean min nonzero prod ptp ravel repeat round searchsorted squeeze std sum
    swapaxes take trace var
"""


def _special() -> Any:
    return late("wengert.dialects.autograd.scipy", "special", ["special"])


@boxes.boxed
def _getitem(A: Any, idx: Any) -> Any:
    return A[idx] if np.ndim(A) or not isinstance(A, (float, complex)) else np.asarray(A)[idx]


_getitem.__name__ = "__getitem__"


@boxes.boxed
def _astype(A: Any, dtype: Any, **how: Any) -> Any:
    return (np.asarray(A) if isinstance(A, (float, complex)) else A).astype(dtype, **how)


_astype.__name__ = "astype"


class ArrayBox(boxes.Box):
    """An array or a number."""

    __slots__ = ()
    __array_priority__ = 2000.0  # operators of arrays and tensors leave the call to this one
    __getitem__ = _getitem
    astype = _astype
    shape = property(lambda self: np.shape(self._value))
    ndim = property(lambda self: np.ndim(self._value))
    size = property(lambda self: int(np.prod(np.shape(self._value))))
    dtype = property(lambda self: np.result_type(boxes.getval(self)))
    T = property(lambda self: anp.transpose(self))
    real = property(lambda self: anp.real(self))
    imag = property(lambda self: anp.imag(self))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **params: Any) -> Any:
        if method != "__call__" or "out" in params:
            return NotImplemented
        home = anp if hasattr(np, ufunc.__name__) else _special()
        return getattr(home, ufunc.__name__)(*inputs, **params)

    def __array_function__(self, function: Any, types: Any, args: Any, params: Any) -> Any:
        home: Any = anp
        for part in function.__module__.split(".")[1:]:
            home = getattr(home, part)
        return getattr(home, function.__name__)(*args, **params)

    def __array__(self, *args: Any, **params: Any) -> Any:
        raise TypeError(
            "a box is no array of NumPy's; write wengert.autograd.numpy.asarray(x), or for its "
            "values getval(x) of wengert.autograd.tracer"
        )

    def __len__(self) -> int:
        return len(self._value)

    def __neg__(self) -> Any:
        return anp.negative(self)

    def __abs__(self) -> Any:
        return anp.abs(self)

    def __hash__(self) -> int:
        return id(self)

    def reshape(self, *shape: Any, **params: Any) -> Any:
        """Return the elements in another shape."""
        return anp.reshape(self, shape[0] if len(shape) == 1 else shape, **params)

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes reversed, or in another order."""
        return anp.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    def flatten(self) -> Any:
        """Return the elements as a vector."""
        return anp.ravel(self)


def _forward(name: str) -> Callable[..., Any]:
    return lambda self, *args, **params: getattr(anp, name)(self, *args, **params)


def _backward(name: str) -> Callable[..., Any]:
    return lambda self, other: getattr(anp, name)(other, self)


for _operator, _name in {**_BINARY, **_COMPARISONS}.items():
    setattr(ArrayBox, f"__{_operator}__", _forward(_name))
for _operator, _name in _BINARY.items():
    setattr(ArrayBox, f"__r{_operator}__", _backward(_name))
for _name in _METHODS.split():
    setattr(ArrayBox, _name, _forward(_name))
for _type in (np.ndarray, np.inexact, float, complex, Tensor):
    ArrayBox.register(_type)
boxes.OURS |= {np.ndarray, np.inexact, float, complex, Tensor, ArrayBox}
