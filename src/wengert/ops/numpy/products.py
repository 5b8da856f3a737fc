"""NumPy's products and linear algebra on tensors, by our operations.

`functions` says how these are called.
"""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.errors import NoRuleError
from wengert.ops import batching
from wengert.ops.checks import check_option, misfit
from wengert.ops.families import axes as normalised
from wengert.ops.numpy.shapes import at_least, flat
from wengert.ops.numpy.ufuncs import Function, by_name, floating, in_dtype, wg
from wengert.ops.shapes import tensor


def _einsum(*operands: Any) -> Any:
    if isinstance(operands[0], str):
        return wg.einsum(*operands)
    *pairs, last = operands if len(operands) % 2 else (*operands, None)
    inputs = ",".join(map(_labels, pairs[1::2]))
    return wg.einsum(inputs if last is None else f"{inputs}->{_labels(last)}", *pairs[::2])


#: A letter for each number of an axis, in the order in which einsum sorts letters.
_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _labels(axes: Any) -> str:
    """Return the letters for numbers of axes."""
    if not all(a is Ellipsis or 0 <= a < len(_LETTERS) for a in axes):
        raise ValueError(f"np.einsum: axes {axes}; expected numbers from 0 to {len(_LETTERS) - 1}")
    return "".join("..." if a is Ellipsis else _LETTERS[a] for a in axes)


def _inner(a: Any, b: Any) -> Any:
    a, b = tensor(a, "inner"), tensor(b, "inner")
    return wg.tensordot(a, b, axes=((-1,), (-1,))) if a.ndim and b.ndim else wg.multiply(a, b)


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a = wg.moveaxis(a, axisa, -1)
    b = wg.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise misfit("np.cross", "vectors of length 3", a=a, b=b)
    on, back = [1, 2, 0], [2, 0, 1]
    return wg.moveaxis(a[..., on] * b[..., back] - a[..., back] * b[..., on], -1, axisc)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Return np.convolve."""
    a, v = at_least(1)(a), at_least(1)(v)
    if a.ndim != 1 or v.ndim != 1:
        raise misfit("np.convolve", "one axis each", a=a, v=v)
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
    return convolve(a, wg.flip(wg.conj(v)), mode)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    diagonal = wg.diagonal(in_dtype(a, dtype), offset=offset, axis1=axis1, axis2=axis2)
    return wg.sum(diagonal, axis=-1)


# -- np.linalg ----------------------------------------------------------------------------------


def from_triangle(x: Any, name: str, upper: bool) -> Any:
    """Return Hermitian matrices from one triangle, the only one that NumPy reads.

    Then the values are NumPy's for any matrix, and the derivative is in that triangle.
    """
    x = floating(x)
    if x.ndim < 2:
        raise misfit(f"np.linalg.{name}", "matrices", x=x)
    half, rest = (wg.triu(x), wg.triu(x, k=1)) if upper else (wg.tril(x), wg.tril(x, k=-1))
    if backends.kind_of(x.dtype) == "c":  # of the diagonal, NumPy reads the real part
        half = half - wg.tril(wg.triu(half - wg.conj(half))) / 2
    return half + wg.conj(wg.matrix_transpose(rest))


def _is_upper(uplo: str) -> bool:
    check_option("np.linalg", "UPLO", uplo.upper(), ("L", "U"))
    return uplo.upper() == "U"


def _eigh(a: Any, UPLO: str = "L") -> Any:
    matrix = from_triangle(a, "eigh", _is_upper(UPLO))
    return wg.linalg.eigh(matrix, triangle=UPLO.upper())


def real_where_all_are(x: Any, parts: Any) -> Any:
    """Return complex results of a real matrix as real numbers, if all eigenvalues are real."""
    found = batching.all_values(parts[0]._raw)
    real = backends.kind_of(floating(x).dtype) != "c" and not found.imag.any()
    return [wg.real(part) for part in parts] if real else parts


# From NumPy 2.5 on the eigenvalues of a real matrix are complex numbers, real ones too; what
# np.roots makes of them is as it was.
_ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0.dev0"


def _as_numpy_has_it(x: Any, parts: Any) -> Any:
    return parts if _ALWAYS_COMPLEX else real_where_all_are(x, parts)


def _eig(a: Any) -> Any:
    result = wg.linalg.eig(a)
    return type(result)(*_as_numpy_has_it(a, result))


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise NoRuleError(
            "np.linalg.svd: hermitian=True is not supported on tensors; write np.linalg.eigh, or "
            "leave it out"
        )
    if not compute_uv:
        return wg.linalg.svdvals(a)
    return wg.linalg.svd(a, full_matrices=full_matrices)


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a = tensor(a, "lstsq")
    if a.ndim != 2:
        raise misfit("np.linalg.lstsq", "one matrix", a=a)
    x, residuals, rank, s = wg.linalg.lstsq(a, b, rcond=rcond)
    return x, residuals, wg.astype(rank, wg.int32), s


def _rank(A: Any, tol: Any = None, *, rtol: Any = None) -> Any:
    A = tensor(A, "matrix_rank")
    if A.ndim < 2:
        some = wg.any(A)
        return wg.astype(some, wg.int64) if type(A._raw) is Batched else int(some)
    if tol is None:
        return wg.linalg.matrix_rank(A, rtol=rtol)
    return wg.count_nonzero(wg.greater(wg.linalg.svdvals(A), tol), axis=-1)


def _tensorinv(a: Any, ind: int = 2) -> Any:
    a = tensor(a, "tensorinv")
    shape = (*a.shape[ind:], *a.shape[:ind])
    side = math.prod(a.shape[ind:])
    if ind <= 0 or side * side != a.size:
        raise misfit("np.linalg.tensorinv", f"one that is square when cut at {ind}", a=a)
    return wg.reshape(wg.linalg.inv(wg.reshape(a, (side, side))), shape)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = tensor(a, "tensorsolve"), tensor(b, "tensorsolve")
    if axes is not None:
        moved = normalised(tuple(axes), a.ndim, "tensorsolve")
        a = wg.permute_dims(a, [*(k for k in range(a.ndim) if k not in moved), *moved])
    shape = a.shape[b.ndim :]
    side = math.prod(shape)
    if side * side != a.size or b.size != side:
        raise misfit("np.linalg.tensorsolve", "b.shape + x.shape of a", a=a, b=b)
    x = wg.linalg.solve(wg.reshape(a, (side, side)), wg.reshape(b, (side,)))
    return wg.reshape(x, shape)


def _of_one(name: str) -> Function:
    return lambda x, /, **params: getattr(wg.linalg, name)(x, **params)


def _of_two(name: str) -> Function:
    return lambda x1, x2, /, **params: getattr(wg.linalg, name)(x1, x2, **params)


#: Functions that are ours, with NumPy's parameters after one or two arrays.
_ONE = "cond det diagonal inv matrix_norm multi_dot norm qr slogdet svdvals trace vector_norm"
_TWO = "cross matrix_power solve"
_LINALG: dict[str, Function] = {
    **{name: _of_one(name) for name in _ONE.split()},
    **{name: _of_two(name) for name in _TWO.split()},
    "cholesky": lambda a, /, upper=False: wg.linalg.cholesky(
        from_triangle(a, "cholesky", upper), upper=upper
    ),
    "eig": _eig,
    "eigh": _eigh,
    "eigvals": lambda a: _as_numpy_has_it(a, [wg.linalg.eigvals(a)])[0],
    "eigvalsh": lambda a, UPLO="L": wg.linalg.eigvalsh(
        from_triangle(a, "eigvalsh", _is_upper(UPLO))
    ),
    "lstsq": _lstsq,
    "matrix_rank": _rank,
    "pinv": lambda a, rcond=None, *, rtol=1e-15: wg.linalg.pinv(
        a, rtol=rtol if rcond is None else rcond
    ),
    "svd": _svd,
    "tensorinv": _tensorinv,
    "tensorsolve": _tensorsolve,
}

FUNCTIONS: dict[str, Function] = {
    **by_name(convolve, _correlate, _cross, _einsum, _inner, _trace),
    "kron": _of_two("kron"),
    "vdot": lambda a, b: wg.vecdot(flat(a), flat(b)),
    **{f"linalg.{name}": function for name, function in _LINALG.items()},
}
