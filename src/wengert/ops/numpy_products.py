"""NumPy's products and norms on tensors, composed of our operations.

`numpy_functions` says how these are called.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.engine.errors import NoRuleError, ShapeError
from wengert.ops.families import axes as normalised
from wengert.ops.numpy_shapes import at_least, flat
from wengert.ops.numpy_ufuncs import Function, floating, in_dtype, wg
from wengert.ops.shapes import tensor


def _einsum(*operands: Any) -> Any:
    if not isinstance(operands[0], str):
        raise TypeError("np.einsum: axes as lists are not supported on tensors; write 'ij,jk->ik'")
    return wg.einsum(*operands)


def _inner(a: Any, b: Any) -> Any:
    a, b = tensor(a, "inner"), tensor(b, "inner")
    return wg.tensordot(a, b, axes=((-1,), (-1,))) if a.ndim and b.ndim else wg.multiply(a, b)


def _kron(a: Any, b: Any) -> Any:
    a, b = tensor(a, "kron"), tensor(b, "kron")
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    a = wg.reshape(a, [n for length in left for n in (length, 1)])
    b = wg.reshape(b, [n for length in right for n in (1, length)])
    return wg.reshape(a * b, [m * n for m, n in zip(left, right, strict=True)])


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a = wg.moveaxis(a, axisa, -1)
    b = wg.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ShapeError(
            f"np.cross: vectors of lengths {a.shape[-1]} and {b.shape[-1]}; expected 3"
        )
    on, back = [1, 2, 0], [2, 0, 1]
    return wg.moveaxis(a[..., on] * b[..., back] - a[..., back] * b[..., on], -1, axisc)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = at_least(1)(a), at_least(1)(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ShapeError(f"np.convolve: shapes {a.shape} and {v.shape}; expected one axis each")
    a, v = (v, a) if a.size < v.size else (a, v)
    n, m = a.size, v.size
    bounds = {"full": (0, n + m - 1), "same": ((m - 1) // 2, (m - 1) // 2 + n), "valid": (m - 1, n)}
    if mode not in bounds or not m:
        raise ValueError(
            f"np.convolve: lengths {n} and {m}, mode {mode!r}; expected one of {list(bounds)}"
        )
    windows = np.arange(*bounds[mode])[:, None] + np.arange(m)
    return wg.matmul(wg.take(wg.pad(a, m - 1), windows, axis=0), wg.flip(v))


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = at_least(1)(a), at_least(1)(v)
    if a.size < v.size:  # NumPy aligns the shorter one from the other side
        return wg.flip(wg.conj(_correlate(v, a, mode)))
    return _convolve(a, wg.flip(wg.conj(v)), mode)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    diagonal = wg.diagonal(in_dtype(a, dtype), offset=offset, axis1=axis1, axis2=axis2)
    return wg.sum(diagonal, axis=-1)


def _vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return the norm of vectors; its derivative at 0 is 0."""
    size, where = wg.abs(floating(x)), {"axis": axis, "keepdims": keepdims}
    if ord in (math.inf, -math.inf):
        return (wg.max if ord > 0 else wg.min)(size, **where)
    if ord == 0:
        return wg.astype(wg.count_nonzero(size, **where), size.dtype)
    if ord == 1:
        return wg.sum(size, **where)
    if isinstance(ord, str) or ord < 1:
        raise NoRuleError(
            f"np.linalg.norm: ord={ord!r} of vectors; wengert has 0, inf, -inf and 1 on"
        )
    total = wg.sum(wg.square(size) if ord == 2 else wg.pow(size, ord), **where)
    zero = wg.equal(total, 0)
    some = wg.where(zero, 1.0, total)
    return wg.where(zero, 0.0, wg.sqrt(some) if ord == 2 else wg.pow(some, 1 / ord))


def _matrix_norm(x: Any, keepdims: bool = False, ord: Any = "fro", axes: Any = (-2, -1)) -> Any:
    """Return the norm of matrices, those that need no decomposition."""
    if ord in ("fro", None):
        return _vector_norm(x, axes, keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        raise NoRuleError(
            f"np.linalg.norm: ord={ord!r} of matrices; wengert has 'fro', 1, -1, inf, -inf"
        )
    summed, other = axes if abs(ord) == 1 else axes[::-1]
    sums = wg.sum(wg.abs(floating(x)), axis=summed, keepdims=True)
    y = (wg.max if ord > 0 else wg.min)(sums, axis=other, keepdims=True)
    return y if keepdims else wg.squeeze(y, axis=tuple(axes))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = tensor(x, "norm")
    if ord is None:
        return _vector_norm(x, axis, keepdims)
    along = normalised(axis, x.ndim, "norm")
    if len(along) not in (1, 2):
        raise ValueError(f"np.linalg.norm: ord={ord!r} and {len(along)} axes; say which one or two")
    if len(along) == 1:
        return _vector_norm(x, along, keepdims, ord)
    return _matrix_norm(x, keepdims, ord, along)


FUNCTIONS: dict[str, Function] = {
    "convolve": _convolve,
    "correlate": _correlate,
    "cross": _cross,
    "einsum": _einsum,
    "inner": _inner,
    "kron": _kron,
    "linalg.cross": lambda a, b, /, axis=-1: _cross(a, b, axis=axis),
    "linalg.diagonal": lambda x, offset=0: wg.diagonal(x, offset=offset, axis1=-2, axis2=-1),
    "linalg.matrix_norm": _matrix_norm,
    "linalg.multi_dot": lambda arrays: functools.reduce(wg.matmul, arrays),
    "linalg.norm": _norm,
    "linalg.trace": lambda x, offset=0, dtype=None: _trace(x, offset, -2, -1, dtype),
    "linalg.vector_norm": _vector_norm,
    "trace": _trace,
    "vdot": lambda a, b: wg.vecdot(flat(a), flat(b)),
}
