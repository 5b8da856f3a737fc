"""NumPy's names for programs of HIPS autograd.

A function is NumPy's own, which on tensors does what Wengert's operation does. What NumPy cannot
see by itself is here: tensors inside of lists, and functions that make arrays of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as _np

from wengert.dialects.autograd.borders import has_tensor
from wengert.dialects.autograd.borders import joined as _joined
from wengert.dialects.autograd.boxes import boxed as _boxed
from wengert.dialects.autograd.numpy import fft as fft
from wengert.dialects.autograd.numpy import linalg as linalg
from wengert.dialects.autograd.numpy import random as random
from wengert.dialects.autograd.numpy.wrapping import offering as _offering
from wengert.ops import creation as _creation
from wengert.ops.numpy.ufuncs import in_dtype as _in_dtype

__version__ = _np.__version__


@_boxed
def array(
    A: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, **how: Any
) -> Any:
    """Return an array; of nested lists with recorded numbers inside, a recorded one."""
    if not has_tensor((A,)):
        return _np.array(A, dtype=dtype, copy=copy, ndmin=ndmin, **how)
    tensor = _in_dtype(_creation.asarray(A, copy=copy or None), dtype)
    return tensor.reshape((1,) * (ndmin - tensor.ndim) + tensor.shape)


def _converting(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function like np.asarray; a recorded array is as it is."""

    @_boxed
    @functools.wraps(theirs)
    def convert(a: Any, dtype: Any = None, **how: Any) -> Any:
        return array(a, dtype, copy=None) if has_tensor((a,)) else theirs(a, dtype, **how)

    return convert


asarray = _converting(_np.asarray)
asanyarray = _converting(_np.asanyarray)
ascontiguousarray = _converting(_np.ascontiguousarray)


@_boxed
def full(shape: Any, fill_value: Any, dtype: Any = None, **how: Any) -> Any:
    """Return an array filled with a number, which may be recorded."""
    if not has_tensor((fill_value,)):
        return _np.full(shape, fill_value, dtype, **how)
    return _np.broadcast_to(array(fill_value, dtype), shape)


@_boxed
def full_like(a: Any, fill_value: Any, dtype: Any = None, **how: Any) -> Any:
    """Return an array in the shape of another, filled with a number, which may be recorded."""
    if not has_tensor((a, fill_value)):
        return _np.full_like(a, fill_value, dtype, **how)
    return full(_np.shape(a), fill_value, a.dtype if dtype is None else dtype)


@_boxed
def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices with the last axis of D on their diagonals: the reverse of np.diagonal."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal: write offset=0, axis1=-1, axis2=-2")
    is_diagonal = _np.eye(_np.shape(D)[-1], dtype=bool)
    return _np.where(is_diagonal, _np.expand_dims(asarray(D), -1), 0.0)


@_boxed
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of x where the condition holds and of y elsewhere, or where it holds."""
    if x is None and y is None:
        return _np.where(asarray(condition))
    return _np.where(*map(_joined, (condition, x, y)))


class _Rows:
    """np.r_ and np.c_, with recorded parts."""

    def __init__(self, numpys: Any, join: Any) -> None:
        self._numpys = numpys
        self._join = join
        self._rows = _boxed(self._joined_rows)

    def __getitem__(self, key: Any) -> Any:
        return self._rows(*(key if isinstance(key, tuple) else (key,)))

    def _joined_rows(self, *parts: Any) -> Any:
        if not has_tensor(parts):
            return self._numpys[parts]
        if isinstance(parts[0], str):
            raise TypeError(f"np.r_: {parts[0]!r} with recorded parts; write np.concatenate")
        plain = [_np.r_[p] if isinstance(p, slice) else asarray(p) for p in parts]
        return self._join([_np.atleast_1d(p) for p in plain])


r_ = _Rows(_np.r_, _np.concatenate)
c_ = _Rows(_np.c_, _np.column_stack)


__getattr__, __dir__ = _offering(_np, globals())
row_stack = __getattr__("vstack")

#: What is here and not NumPy's own.
_OWN = (
    "array", "asanyarray", "asarray", "ascontiguousarray", "c_", "fft", "full", "full_like",
    "linalg", "make_diagonal", "r_", "random", "row_stack", "where",
)  # fmt: skip
__all__ = sorted({*_OWN, *(n for n in _np.__all__ if n != "numpy")})
