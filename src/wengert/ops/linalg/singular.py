"""Factors, inverses and solutions also of matrices that are singular, and where those fail.

Where `wg.linalg.inv` raises an error, these return what can be computed, and for each matrix a
number that says which pivot or minor is the first bad one, counted from 1; 0 if none is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.ops import linalg
from wengert.ops.batching import constant
from wengert.ops.contractions import adjoint
from wengert.ops.linalg import unguarded
from wengert.ops.linalg.safeguards import is_watched, known

ns = Tensor._namespace


def _eye(x: Tensor) -> Tensor:
    return wrap(np.eye(x.shape[-1], dtype=x._raw.dtype))


# -- rank and pseudo-inverse ----------------------------------------------------------------------


def _sizes(x: Tensor, hermitian: bool) -> Tensor:
    """Return singular values; of Hermitian matrices, the sizes of their eigenvalues."""
    x = constant(x)
    return ns.abs(unguarded.eigh(x, triangle="L")[0]) if hermitian else unguarded.singular_values(x)


def _limit(values: Tensor, x: Tensor, atol: Any, rtol: Any) -> Tensor:
    """Return up to what singular values are taken for zero: `atol`, or `rtol` of the largest."""
    real = values._raw.dtype
    if rtol is None:
        positive = atol is not None and np.any(np.asarray(getattr(atol, "_raw", atol)) > 0)
        rtol = 0.0 if positive else float(np.finfo(real).eps) * max(x.shape[-2:])
    absolute, relative = (
        ns.astype(constant(v), real) if isinstance(v, Tensor) else wrap(np.array(v, real))
        for v in (0.0 if atol is None else atol, rtol)
    )
    if not values.shape[-1]:
        return ns.broadcast_to(absolute, values.shape[:-1])
    return ns.maximum(absolute, relative * ns.max(constant(values), axis=-1))


def rank(x: Tensor, hermitian: bool = False, atol: Any = None, rtol: Any = None) -> Tensor:
    """Return how many singular values exceed `atol`, or `rtol` times the largest."""
    values = _sizes(x, hermitian)
    limit = ns.expand_dims(_limit(values, x, atol, rtol), axis=-1)
    return ns.count_nonzero(ns.greater(values, limit), axis=-1)


def _of_lower_triangle(x: Tensor) -> Tensor:
    """Return the Hermitian matrices of lower triangles, with the derivatives of the whole ones."""
    given = constant(x)
    below = ns.tril(given, k=-1)
    diagonal = ns.tril(ns.triu(given))
    read = below + adjoint(ns, below) + (diagonal + ns.conj(diagonal)) / 2
    return x + (read - given)


def pinv(x: Tensor, hermitian: bool = False, atol: Any = None, rtol: Any = None) -> Tensor:
    """Return pseudo-inverses; singular values up to a tolerance are taken for zero."""
    if not x.size:
        return ns.matrix_transpose(x)
    x = _of_lower_triangle(x) if hermitian else x
    values = _sizes(x, hermitian)
    largest = ns.max(values, axis=-1)
    scale = ns.where(ns.equal(largest, 0), ns.ones_like(largest), largest)
    return linalg.pinv(x, rtol=_limit(values, x, atol, rtol) / scale)


# -- inverses and solutions -----------------------------------------------------------------------


def _where_regular(
    x: Tensor, compute: Callable[[Tensor], Tensor], filler: float
) -> tuple[Tensor, Tensor]:
    """Return what `compute` makes of matrices, a number for those that are singular, and pivots."""
    try:
        return compute(x), wrap(np.zeros(x.shape[:-2], np.int32))
    except np.linalg.LinAlgError:
        info: Tensor = unguarded.lu_factors(constant(x))[3]
    raw = info._raw
    if type(raw) is np.ndarray and not raw.any():  # in another precision one is 0
        info = wrap(np.full(raw.shape, x.shape[-1], np.int32))
    bad = ns.expand_dims(ns.not_equal(info, wrap(np.array(0, np.int32))), axis=(-2, -1))
    number = wrap(np.array(filler, x._raw.dtype))
    return ns.where(bad, number, compute(ns.where(bad, _eye(x), x))), info


def inverse(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return inverses, infinite for singular matrices, and which of their pivots is 0."""
    return _where_regular(x, linalg.inv, math.inf)


def turned(solve: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor, left: bool) -> Tensor:
    """Return X of a X = b by a function that solves this; if not `left`, of X a = b."""
    if left:
        return solve(a, b)
    return ns.matrix_transpose(solve(ns.matrix_transpose(a), ns.matrix_transpose(b)))


def solution(a: Tensor, b: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    """Return solutions, NaN for singular matrices, and which of their pivots is 0."""
    return _where_regular(a, lambda safe: turned(linalg.solve, safe, b, left), math.nan)


def triangular(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
    """Return X of a X = b for a triangle of a; what is divided by 0 is not finite."""
    try:
        return linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unit)
    except np.linalg.LinAlgError:
        with np.errstate(all="ignore"):
            return _substituted(a, b, upper)


def _substituted(a: Tensor, b: Tensor, upper: bool) -> Tensor:
    """Return the same row by row, where a pivot is 0."""
    n = a.shape[-1]
    found: dict[int, Tensor] = {}
    for i in reversed(range(n)) if upper else range(n):
        rest = b[..., i, :]
        for j, x in found.items():
            rest = rest - a[..., i, j][..., None] * x
        found[i] = rest / a[..., i, i][..., None]
    return ns.stack([found[i] for i in range(n)], axis=-2)


# -- Cholesky -------------------------------------------------------------------------------------


def cholesky(x: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """Return factors, and the order of the first bad leading minor of each matrix."""
    x = adjoint(ns, x) if upper else x  # the lower triangle is read
    try:
        factor, info = unguarded.cholesky(x), np.zeros(x.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factor, info = _as_far_as_possible(x)
    return (adjoint(ns, factor) if upper else factor), wrap(info)


def _as_far_as_possible(x: Tensor) -> tuple[Tensor, np.ndarray]:
    values = known(x)
    assert values is not None
    info = np.zeros(values.shape[:-2], np.int32)
    parts = np.zeros(values.shape, values.dtype)
    for index in np.ndindex(info.shape):
        parts[index], info[index] = unguarded.partial_cholesky(values[index])
    bad = wrap((info != 0)[..., None, None])
    return ns.where(bad, wrap(parts), unguarded.cholesky(ns.where(bad, _eye(x), x))), info


def by_cholesky(factor: Tensor, b: Tensor, upper: bool) -> Tensor:
    """Return the solution of an equation whose matrix has this factor of Cholesky."""
    lower = adjoint(ns, factor) if upper else factor
    half = triangular(lower, b, False, False)
    if is_watched(factor) and _is_lower(lower):
        change = _eye(lower) + triangular(lower, ns.triu(lower, k=1), False, False)
        half = linalg.solve(adjoint(ns, change), linalg.solve(change, half))
    return triangular(adjoint(ns, lower), half, True, False)


def _is_lower(x: Tensor) -> bool:
    """Return whether x is a factor, whose zeros above the diagonal have derivatives as well.

    With L + N in the place of L, for N = 0 there, the matrix is L (1 + L^-1 N) (1 + L^-1 N)^H L^H.
    Of matrices that are not 0 there, only a triangle is read.
    """
    values = known(x)
    return values is None or bool(
        not np.triu(values, 1).any() and np.diagonal(values, axis1=-2, axis2=-1).all()
    )


# -- LU -------------------------------------------------------------------------------------------


def permutation(order: Tensor, dtype: Any) -> Tensor:
    """Return the matrix P of A = P @ L @ U, whose rows have ones where the order says."""
    rows = wrap(np.arange(order.shape[-1])[:, None])
    return ns.astype(ns.equal(rows, ns.expand_dims(order, axis=-2)), dtype)


def _in_order(b: Tensor, order: Tensor) -> Tensor:
    """Return matrices with their rows in another order, which may differ by matrix."""
    batch = np.broadcast_shapes(b.shape[:-2], order.shape[:-1])
    b = ns.broadcast_to(b, (*batch, *b.shape[-2:]))
    order = ns.broadcast_to(order, (*batch, order.shape[-1]))
    return ns.take_along_axis(b, ns.expand_dims(order, axis=-1), axis=-2)


def by_lu(factors: Tensor, order: Tensor, b: Tensor, undo: bool) -> Tensor:
    """Return X of P L U X = b; `undo` has the adjoint matrix in its place."""
    if not undo:
        half = triangular(factors, _in_order(b, order), False, True)
        return triangular(factors, half, True, False)
    back = adjoint(ns, factors)
    half = triangular(back, b, False, False)
    return _in_order(triangular(back, half, True, True), ns.argsort(order, axis=-1))
