"""Linear algebra on JAX's arrays, by the contracts of `numpy_linalg`.

Where NumPy raises an error for a matrix, the results here are not finite: values are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def cholesky(x: Any) -> Any:
    """Return the lower factors of Hermitian matrices, of which the lower triangle is read."""
    return jax.lax.linalg.cholesky(x, symmetrize_input=False)


def eigh(x: Any, UPLO: str = "L") -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read."""
    values, vectors = jnp.linalg.eigh(x, UPLO=UPLO, symmetrize_input=False)
    return values, vectors


def svd(x: Any, full_matrices: bool = True) -> tuple[Any, ...]:
    """Return U, S and Vh, with all columns of U and V or with those needed."""
    return tuple(jnp.linalg.svd(x, full_matrices=full_matrices))


def solve(a: Any, b: Any) -> Any:
    """Return x of a x = b, for matrices b."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(m, batch + m.shape[-2:]) for m in (a, b))
    return jnp.linalg.solve(a, b)


def lu_order(pivots: Any, rows: int) -> Any:
    """Return the order of rows that LAPACK's exchanges, which count from 1, lead to."""
    order = jax.lax.linalg.lu_pivots_to_permutation(jnp.asarray(pivots - 1, jnp.int32), rows)
    return order.astype(int)


def lu_factors(x: Any) -> tuple[Any, Any, Any, Any]:
    """Return L and U in one matrix, pivots, the order of rows, and the first pivot that is 0."""
    factors, pivots, order = jax.lax.linalg.lu(x)
    zero = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    count = zero.shape[-1]
    first = jnp.min(
        jnp.where(zero, jnp.arange(1, count + 1), count + 1), axis=-1, initial=count + 1
    )
    info = jnp.where(first > count, 0, first)
    return factors, pivots + 1, order.astype(int), info.astype(jnp.int32)


def banded_solve(ab: Any, b: Any, lower: int, upper: int) -> Any:
    """Return x of a x = b, where ab has the diagonals of a."""
    n = ab.shape[-1]
    a = jnp.zeros((*ab.shape[:-2], n, n), ab.dtype)
    for row in range(lower + upper + 1):
        columns = np.arange(max(0, upper - row), max(0, min(n, n + upper - row)))
        a = a.at[..., columns + row - upper, columns].set(ab[..., row, columns])
    dtype = jnp.result_type(ab, b)
    return solve(a.astype(dtype), b.astype(dtype))


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """Return x of a x + x b = q, as one system of equations."""
    dtype = jnp.result_type(a, b, q)
    batch = np.broadcast_shapes(*(m.shape[:-2] for m in (a, b, q)))
    a, b, q = (jnp.broadcast_to(m, batch + m.shape[-2:]).astype(dtype) for m in (a, b, q))
    m, n = q.shape[-2:]
    left = jnp.einsum("...ij,kl->...ikjl", a, jnp.eye(n, dtype=dtype))
    right = jnp.einsum("ij,...lk->...ikjl", jnp.eye(m, dtype=dtype), b)
    system = (left + right).reshape(*batch, m * n, m * n)
    return jnp.linalg.solve(system, q.reshape(*batch, m * n, 1)).reshape(q.shape)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "banded_solve": banded_solve,
    "cholesky": cholesky,
    "det": jnp.linalg.det,
    "eig": lambda x: tuple(jnp.linalg.eig(x)),
    "eigh": eigh,
    "eigvals": jnp.linalg.eigvals,
    "eigvalsh": jnp.linalg.eigvalsh,
    "inv": jnp.linalg.inv,
    "lu_factors": lu_factors,
    "lu_order": lu_order,
    "qr": lambda x, mode="reduced": tuple(jnp.linalg.qr(x, mode=mode)),
    "solve": solve,
    "svd": svd,
    "sylvester": sylvester,
}
