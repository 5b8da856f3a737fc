"""Linear algebra on NumPy arrays: the extension of the standard, and what our rules need beyond.

Whatever multiplies large matrices is left to NumPy's own BLAS. SciPy brings another one with
threads of its own, and where the two take turns, each waits for the other's threads: a factor
of ten has been measured. So triangular equations are solved here by products of blocks, and
SciPy is used, when first needed, only for what NumPy lacks. np.linalg computes in double
precision whatever it is given; for large matrices in single precision that takes twice as long,
so we call the loops inside of it that do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import *  # noqa: F403
from numpy.linalg import LinAlgError

from wengert.backends.numpy_lapack import factor, solve_factored  # noqa: F401

#: The size of the blocks of triangular matrices, of which those on the diagonal are inverted.
BLOCK = 32


def _each(function: Callable[..., Any], *arrays: np.ndarray) -> Any:
    """Return a function of matrices for each of a batch."""
    if all(a.ndim == 2 for a in arrays):
        return function(*arrays)
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    spread = [np.broadcast_to(a, batch + a.shape[-2:]) for a in arrays]
    out = np.empty(batch + arrays[-1].shape[-2:], arrays[-1].dtype)
    for place in np.ndindex(batch):
        out[place] = function(*(a[place] for a in spread))
    return out


def logm(x: np.ndarray) -> np.ndarray:
    """Return the principal logarithms of complex matrices, computed in double precision."""
    from scipy.linalg import logm

    return np.asarray(_each(logm, x.astype(complex))).astype(x.dtype)


def lu_order(pivots: np.ndarray, rows: int) -> np.ndarray:
    """Return the order of rows that LAPACK's exchanges, which count from 1, lead to."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    orders = np.tile(np.arange(rows), (len(flat), 1))
    for order, exchanges in zip(orders, flat, strict=True):
        for k, other in enumerate(exchanges - 1):
            order[k], order[other] = order[other], order[k]
    return orders.reshape(*pivots.shape[:-1], rows)


def lu_factors(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return L and U in one matrix, pivots, the order of rows, and the first pivot that is 0."""
    from scipy.linalg import get_lapack_funcs

    *batch, rows, columns = x.shape
    factors, k = np.empty(x.shape, x.dtype), min(rows, columns)
    pivots, info = np.zeros((*batch, k), np.int32), np.zeros(tuple(batch), np.int32)
    if x.size:
        (factor,) = get_lapack_funcs(("getrf",), (x,))
        for place in np.ndindex(*batch):
            factors[place], found, info[place] = factor(x[place])
            pivots[place] = found + 1
    return factors, pivots, lu_order(pivots, rows), info


# -- single precision -------------------------------------------------------------------------


def _fail(kind: str, flag: int) -> None:
    raise LinAlgError("singular, or not positive definite")


def _in_single(name: str, *arrays: np.ndarray) -> Any:
    """Return what NumPy's own loop says for large matrices in single precision, else None."""
    x = arrays[0]
    if x.dtype.char not in "fF" or min(x.shape[-2:]) < BLOCK:
        return None
    from numpy.linalg import _umath_linalg

    loop = getattr(_umath_linalg, name, None)  # another NumPy may call it otherwise
    if loop is None:
        return None
    with np.errstate(call=_fail, invalid="call", over="ignore", divide="ignore", under="ignore"):
        return loop(*arrays)


def cholesky(x: np.ndarray) -> np.ndarray:  # type: ignore[no-redef]
    """Return the lower factors of Hermitian matrices."""
    found = _in_single("cholesky_lo", x)
    return np.linalg.cholesky(x) if found is None else found


def eigh(x: np.ndarray, UPLO: Any = "L") -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-redef]
    """Return eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read."""
    loop = "eigh_lo" if UPLO == "L" else "eigh_up"
    return tuple(_in_single(loop, x) or np.linalg.eigh(x, UPLO))


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:  # type: ignore[no-redef]
    """Return x of a x = b, for matrices b."""
    found = _in_single("solve", a, b)
    return np.linalg.solve(a, b) if found is None else found


def svd(x: np.ndarray, full_matrices: bool = True) -> tuple[np.ndarray, ...]:  # type: ignore[no-redef]
    """Return U, S and Vh, with all columns of U and V or with those needed."""
    found = _in_single("svd_f" if full_matrices else "svd_s", x)
    return tuple(found or np.linalg.svd(x, full_matrices=full_matrices))


# -- triangles --------------------------------------------------------------------------------


def triangle(a: np.ndarray, lower: bool, unit: bool) -> np.ndarray:
    """Return a triangle of matrices, with ones on its diagonal if `unit`."""
    part = np.tril(a, -1 if unit else 0) if lower else np.triu(a, 1 if unit else 0)
    return part + np.eye(a.shape[-1], dtype=a.dtype) if unit else part


def triangular_solve(a: np.ndarray, b: np.ndarray, lower: bool, unit: bool) -> np.ndarray:
    """Return the solution of a x = b, reading only one triangle of a."""
    n = a.shape[-1]
    if n <= BLOCK:
        return np.linalg.solve(triangle(a, lower, unit), b)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty(batch + b.shape[-2:], np.result_type(a, b))
    blocks = [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    for here in blocks if lower else reversed(blocks):
        done = slice(0, here.start) if lower else slice(here.stop, n)
        rest = b[..., here, :] - a[..., here, done] @ x[..., done, :]
        x[..., here, :] = np.linalg.inv(triangle(a[..., here, here], lower, unit)) @ rest
    return x


def congruence(l: np.ndarray, q: np.ndarray) -> np.ndarray:  # noqa: E741
    """Return l^-H q l^-1 for lower triangular l."""
    inverse = _lower_inverse(l)
    return np.conj(inverse).swapaxes(-1, -2) @ q @ inverse


def _lower_inverse(l: np.ndarray) -> np.ndarray:  # noqa: E741
    """Return the inverse of lower triangular matrices, by those of its halves."""
    n = l.shape[-1]
    if n <= BLOCK:
        return np.linalg.inv(l)
    m = n // 2
    out = np.zeros(l.shape, l.dtype)
    out[..., :m, :m] = first = _lower_inverse(l[..., :m, :m])
    out[..., m:, m:] = second = _lower_inverse(l[..., m:, m:])
    np.negative(second @ (l[..., m:, :m] @ first), out=out[..., m:, :m])
    return out


# -- determinants -----------------------------------------------------------------------------


def cofactor(x: np.ndarray) -> np.ndarray | None:
    """Return the matrices of cofactors by the inverse; None where that is not accurate."""
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(x)
        except LinAlgError:
            return None
        size = np.abs(x).sum(axis=-1).max(axis=-1, initial=0.0)
        condition = size * np.abs(inverse).sum(axis=-1).max(axis=-1, initial=0.0)
        if not (condition < 1e-2 / np.sqrt(np.finfo(x.dtype).eps)).all():
            return None
    found: np.ndarray = np.linalg.det(x)[..., None, None] * inverse.swapaxes(-1, -2)
    return found


# -- functions of matrices --------------------------------------------------------------------


def expm(x: np.ndarray) -> np.ndarray:
    """Return the exponentials of matrices."""
    from scipy.linalg import expm

    return expm(x)


def sqrtm(x: np.ndarray) -> np.ndarray:
    """Return the principal square roots; real where they are."""
    import warnings

    from scipy.linalg import sqrtm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a singular matrix, which is looked at here
        root = sqrtm(x)
    if not np.isfinite(root).all() and np.isfinite(x).all():
        raise LinAlgError("no square root")
    return root


def banded_solve(ab: np.ndarray, b: np.ndarray, lower: int, upper: int) -> np.ndarray:
    """Return x of a x = b, where ab has the diagonals of a."""
    from scipy.linalg import solve_banded

    dtype = np.result_type(ab, b)
    if not b.size:
        return np.zeros(np.broadcast_shapes(ab.shape[:-2], b.shape[:-2]) + b.shape[-2:], dtype)
    arrays = (m.astype(dtype, copy=False) for m in (ab, b))
    return _each(lambda ab, b: solve_banded((lower, upper), ab, b, check_finite=False), *arrays)


def sylvester(a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return x of a x + x b = q."""
    dtype = np.result_type(a, b, q)
    return _each(_sylvester, *(m.astype(dtype, copy=False) for m in (a, b, q)))


def _sylvester(a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    from scipy.linalg import get_lapack_funcs, schur

    if not q.size:
        return q
    kind: Any = "complex" if a.dtype.kind == "c" else "real"
    r, u = schur(a, output=kind)
    s, v = schur(np.conj(b).T, output=kind)
    inner = np.conj(u).T @ q @ v
    solve = get_lapack_funcs("trsyl", dtype=a.dtype)
    y, scale, info = solve(r, s, inner, tranb="C" if kind == "complex" else "T")
    if info:  # LAPACK went on with other eigenvalues, because those of a and -b meet
        raise LinAlgError("singular")
    return u @ (scale * y) @ np.conj(v).T
