"""Operations of linear algebra by other formulas, in NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.backends import numpy_linalg


def _eig(x: Any) -> Any:
    kind = np.result_type(x.dtype, np.complex64)
    return [part.astype(kind) for part in np.linalg.eig(x)]


def _of_hermitian(function: Callable[..., Any], *params: str) -> Callable[..., Any]:
    """Return a function of NumPy of the Hermitian part of matrices."""
    return lambda x, **given: function(
        (x + np.conj(np.swapaxes(x, -1, -2))) / 2, *(given[name] for name in params)
    )


def _logm(x: Any) -> Any:
    parts = [scipy.linalg.logm(matrix) for matrix in x.astype(complex).reshape(-1, *x.shape[-2:])]
    return np.reshape(parts, x.shape).astype(x.dtype)


def _triangular(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    part = np.tril(a, k=-int(unit)) if lower else np.triu(a, k=int(unit))
    return np.linalg.solve(part + np.eye(a.shape[-1], dtype=a.dtype) if unit else part, b)


def _cofactor(x: Any) -> Any:
    transposed = np.swapaxes(np.linalg.inv(x), -1, -2)
    return np.linalg.det(x)[..., None, None] * transposed


def _banded(ab: Any, b: Any, lower: int, upper: int) -> Any:
    batch = np.broadcast_shapes(ab.shape[:-2], b.shape[:-2])
    ab, b = (np.broadcast_to(m, batch + m.shape[-2:]) for m in (ab, b))
    out = [scipy.linalg.solve_banded((lower, upper), ab[i], b[i]) for i in np.ndindex(batch)]
    return np.reshape(out, b.shape)


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    dtype = np.result_type(a, b, q)  # SciPy errs where only some are complex
    a, b, q = (m.astype(dtype) for m in (a, b, q))
    if a.ndim == b.ndim == 2:
        return scipy.linalg.solve_sylvester(a, b, q)
    return np.stack([scipy.linalg.solve_sylvester(*m) for m in zip(a, b, q, strict=True)])


def _exchanged(pivots: np.ndarray, rows: int) -> np.ndarray:
    if pivots.ndim > 1:
        return np.stack([_exchanged(part, rows) for part in pivots])
    order = np.arange(rows)
    for k, other in enumerate(pivots):
        order[[k, other - 1]] = order[[other - 1, k]]
    return order


def _lu(x: np.ndarray) -> Any:
    *batch, rows, columns = x.shape
    factors = np.empty(x.shape, x.dtype)
    for place in np.ndindex(*batch):
        _, lower, upper = scipy.linalg.lu(x[place])
        k = min(rows, columns)
        factors[place] = np.tril(np.eye(rows, columns), -1)
        factors[place][:, :k] = np.tril(lower, -1)
        factors[place][:k] += np.triu(upper)
    return factors, *numpy_linalg.lu_factors(x)[1:]


REFERENCES: dict[str, Callable[..., Any]] = {
    "linalg.cholesky": _of_hermitian(np.linalg.cholesky),
    "linalg.cofactor": _cofactor,
    "linalg.eig": _eig,
    "linalg.eigh": _of_hermitian(np.linalg.eigh, "triangle"),
    "linalg.expm": scipy.linalg.expm,
    "linalg.logm": _logm,
    "linalg.lu_factors": _lu,
    "linalg.lu_order": _exchanged,
    "linalg.solve_banded": _banded,
    "linalg.solve_sylvester": _sylvester,
    "linalg.solve_triangular": _triangular,
    "linalg.sqrtm": scipy.linalg.sqrtm,
}
