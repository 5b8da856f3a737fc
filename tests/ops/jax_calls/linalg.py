"""Linear algebra in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl


def _jax_triangular(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(m, batch + m.shape[-2:]) for m in (a, b))
    return jsl.solve_triangular(a, b, lower=lower, unit_diagonal=unit)


def _adjoint(x: Any) -> Any:
    return jnp.conj(jnp.matrix_transpose(x))


def _jax_svd(x: Any, full_matrices: bool) -> Any:
    """Return the decomposition; JAX has no derivative of the further columns of square U, V."""
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    if not full_matrices:
        return u, s, vh
    all_u, _, all_vh = jnp.linalg.svd(jax.lax.stop_gradient(x), full_matrices=True)
    return _completed(u, all_u), s, _adjoint(_completed(_adjoint(vh), _adjoint(all_vh)))


def _completed(u: Any, everything: Any) -> Any:
    """Return u and an orthonormal basis of what is orthogonal to it, given one at this point."""
    basis = everything[..., :, u.shape[-1] :]
    rest = basis - u @ (_adjoint(u) @ basis)
    inverse = jnp.linalg.inv(jnp.linalg.cholesky(_adjoint(basis) @ rest))
    return jnp.concatenate([u, rest @ _adjoint(inverse)], axis=-1)


def _jax_qr(x: Any, mode: str) -> Any:
    q, r = jnp.linalg.qr(x)
    if mode == "reduced":
        return q, r
    everything, _ = jnp.linalg.qr(jax.lax.stop_gradient(x), mode="complete")
    below = jnp.zeros((*x.shape[:-2], x.shape[-2] - r.shape[-2], r.shape[-1]), r.dtype)
    return _completed(q, everything), jnp.concatenate([r, below], axis=-2)


def _lu_factors(x: Any) -> Any:
    factors, pivots, order = jax.lax.linalg.lu(x)
    return factors, pivots + 1, order, pivots


#: Operations that JAX calls by another name, or with other parameters.
JAX_CALLS: dict[str, Callable[..., Any]] = {
    "linalg.cholesky": jnp.linalg.cholesky,
    "linalg.eigh": lambda x, triangle: jnp.linalg.eigh(x, UPLO=triangle),
    "linalg.cofactor": lambda x: (
        jnp.linalg.det(x)[..., None, None] * jnp.matrix_transpose(jnp.linalg.inv(x))
    ),
    "linalg.det": lambda x: (
        jnp.linalg.det(x) if x.shape[-1] else jnp.ones(x.shape[:-2], x.dtype)  # JAX fails on 0 x 0
    ),
    "linalg.expm": jsl.expm,
    "linalg.kron": jnp.kron,
    "linalg.lu_factors": _lu_factors,
    "linalg.qr": _jax_qr,
    "linalg.solve_triangular": _jax_triangular,
    "linalg.svd": _jax_svd,
    "linalg.vector_norm": lambda x, axis, keepdims, ord: (
        jnp.sum(jnp.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)
    ),
}
#: Operations that JAX lacks, or cannot differentiate, with the reason.
NOT_IN_JAX: dict[str, str] = {
    "linalg.eig": "JAX declares no second derivative, and none of eigenvectors of real matrices",
    "linalg.logm": "JAX lacks it",
    "linalg.solve_banded": "JAX lacks it",
    "linalg.solve_sylvester": "JAX lacks it",
    "linalg.sqrtm": "JAX declares no derivative of it",
}
