"""Equations: solve, inverses, determinants, and the factor of Cholesky."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Level, plain_namespace
from wengert.engine.cotangents import unbroadcast
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError
from wengert.ops import batching, elementwise, shapes
from wengert.ops.checks import check_option, misfit
from wengert.ops.contractions import adjoint, conj
from wengert.ops.families import joint, sample, special
from wengert.ops.linalg.safeguards import checked, columns, constant, hermitian, matrices, promoted

__all__ = [
    "cho_solve", "cholesky", "det", "inv", "slogdet", "solve", "solve_sylvester",
    "solve_triangular",
]  # fmt: skip

SINGULAR = "singular"
#: From this size on, factors are kept for the rule.
LARGE = 32


def _regular(a: np.ndarray) -> np.ndarray:
    """Return square matrices for tests that are far from singular."""
    return a + 3 * np.eye(a.shape[-1])


_SQUARE = [sample((3, 3)), sample((2, 2, 2)), sample((1, 1)), sample((0, 2, 2)), sample((0, 0))]

#: An operation of square matrices that have an inverse.
_of_square = partial(
    special,
    batch=batching.as_it_is,
    samples=_SQUARE,
    inputs=lambda x: [_regular(x)],
    rounding=10,
)

# -- solve ------------------------------------------------------------------------------------


def _together(xp: Any, *arrays: Any) -> list[Any]:
    """Return raw arrays in one dtype."""
    if len({a.dtype for a in arrays}) == 1:
        return list(arrays)
    dtype = xp.result_type(*arrays)
    return [xp.astype(a, dtype) for a in arrays]


def _solved(xp: Any, a: Any, b: Any) -> Any:
    """Return the solution, and LU factors and pivots for the rule, of which there may be none."""
    a, b = _together(xp, a, b)
    if xp is backends.NUMPY and a.ndim == b.ndim == 2 and len(a) >= LARGE:
        found = checked(xp, "solve", SINGULAR, np.linalg.inv, xp.linalg.factor, a)
        if found is not None:
            return xp.linalg.solve_factored(*found, b, adjoint=False), *found
    x = checked(xp, "solve", SINGULAR, np.linalg.inv, xp.linalg.solve, a, b)
    return x, xp.zeros((0, 0), dtype=x.dtype), xp.zeros((0,), dtype=xp.int64)


def _solve_rule(xp: Any, g: Any, y: Any, a: Any, a_shape: Any, b_shape: Any) -> Any:
    (g, *_), (x, factors, pivots) = g, y
    if xp is backends.NUMPY and factors.size:
        b_bar = xp.linalg.solve_factored(factors, pivots, g, adjoint=True)
    else:
        b_bar = xp.linalg.solve(adjoint(xp, _like(xp, a, g)), g)
    a_bar = -xp.matmul(b_bar, adjoint(xp, x))
    return unbroadcast(xp, a_bar, a_shape), unbroadcast(xp, b_bar, b_shape)


def _like(xp: Any, a: Any, g: Any) -> Any:
    return a if a.dtype == g.dtype else xp.astype(a, g.dtype)


def _columns_together(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the solutions for all examples: of one equation, if the matrix is the same for all."""
    a, b = arrays
    if mapped[0] or a.ndim > 2:
        return batching.as_it_is(op, level, arrays, mapped, params)
    first = shapes.moveaxis(b, -2, 0)
    wide = shapes.reshape(first, (b.shape[-2], math.prod(first.shape[1:])))
    found = apply(op, (a, wide), params)
    x = found[0] if type(found) is tuple else found
    return shapes.moveaxis(shapes.reshape(x, first.shape), 0, -2)


def _solve_batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    x = _columns_together(op, level, arrays, mapped, params)
    x = x[0] if type(x) is tuple else x
    factors, pivots = np.zeros((level.size, 0, 0)), np.zeros((level.size, 0))  # none for the rule
    return x, constant(factors, x), constant(pivots, x, plain_namespace(x._raw).int64)


_solve = joint(
    "linalg.solve",
    _solve_rule,
    args=("a", "b"),
    compute=_solved,
    batch=_solve_batch,
    samples=[
        sample((3, 3), (3, 2)),
        sample((2, 2, 2), (2, 1)),
        sample((2, 2), (3, 2, 1)),
        sample((2, 2), (2, 0)),
        sample((0, 2, 2), (2, 1)),
    ],
    inputs=lambda a, b: [_regular(a), b],
    invariant=lambda xp, x, *factors: x,
    rounding=10,
)
_solve.op.sees_unused = True


def solve(x1: Any, x2: Any, /) -> Tensor:
    """Return x of x1 @ x = x2, for square matrices x1.

    x2 is a vector, if it has one axis, or matrices. Axes before are a batch, and broadcast.
    `wg.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])` is `[1.0, 0.5]`.
    """
    a = matrices(x1, "solve", square=True)
    b, is_vector = columns(a, x2, "solve")
    _check_batches("solve", a, b)
    x = _solve(*promoted(a, b))[0]
    return shapes.squeeze(x, axis=-1) if is_vector else x


def _check_batches(name: str, *arrays: Tensor) -> None:
    try:
        np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    except ValueError as error:
        given = " and ".join(str(x.shape) for x in arrays)
        raise ShapeError(
            f"linalg.{name}: the batches of shapes {given} do not broadcast"
        ) from error


inverse = _of_square(
    "linalg.inv",
    lambda xp, g, y: -xp.matmul(xp.matmul(adjoint(xp, y), g), adjoint(xp, y)),
    compute=lambda xp, x: checked(xp, "inv", SINGULAR, np.linalg.inv, xp.linalg.inv, x),
)


def inv(x: Any, /) -> Tensor:
    """Return the inverses of square matrices.

    `wg.linalg.inv([[2.0, 0.0], [0.0, 4.0]])` is `[[0.5, 0.0], [0.0, 0.25]]`.
    """
    return inverse(matrices(x, "inv", square=True))


# -- triangles --------------------------------------------------------------------------------


def _triangle(xp: Any, a: Any, lower: bool, unit: bool) -> Any:
    part = xp.tril(a, k=-int(unit)) if lower else xp.triu(a, k=int(unit))
    return part + constant(np.eye(a.shape[-1]), a) if unit else part


def _triangular_solved(xp: Any, a: Any, b: Any, lower: bool, unit: bool) -> Any:
    def compute(a: Any, b: Any) -> Any:
        if xp is backends.NUMPY:
            return xp.linalg.triangular_solve(a, b, lower, unit)
        return xp.linalg.solve(_triangle(xp, a, lower, unit), b)

    def probe(a: np.ndarray) -> None:
        np.linalg.inv(_triangle(backends.NUMPY, a, lower, unit))

    return checked(xp, "solve_triangular", SINGULAR, probe, compute, *_together(xp, a, b))


def _triangular_rule(
    xp: Any, g: Any, y: Any, a: Any, a_shape: Any, b_shape: Any, lower: bool, unit: bool
) -> Any:
    b_bar = triangular(xp, adjoint(xp, _like(xp, a, g)), g, not lower, unit)
    a_bar = -xp.matmul(b_bar, adjoint(xp, y))
    a_bar = xp.tril(a_bar, k=-int(unit)) if lower else xp.triu(a_bar, k=int(unit))
    return unbroadcast(xp, a_bar, a_shape), unbroadcast(xp, b_bar, b_shape)


_solve_triangular = joint(
    "linalg.solve_triangular",
    _triangular_rule,
    args=("a", "b"),
    params=("lower", "unit"),
    compute=_triangular_solved,
    batch=_columns_together,
    samples=[
        sample((3, 3), (3, 2), lower=True, unit=False),
        sample((2, 2, 2), (2, 1), lower=False, unit=True),
        sample((2, 2), (2, 2, 1), lower=False, unit=False),
    ],
    inputs=lambda a, b: [_regular(a), b],
    rounding=10,
)


def triangular(xp: Any, a: Any, b: Any, lower: bool, unit: bool = False) -> Any:
    """Return the solution of a x = b for a triangle of a, on raw arrays or tensors."""
    if type(a) is Tensor or type(b) is Tensor:
        return _solve_triangular(a, b, lower=lower, unit=unit)
    return _triangular_solved(xp, a, b, lower, unit)


def solve_triangular(
    a: Any, b: Any, /, *, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """Return x of a @ x = b, reading only the upper triangle of a, or the lower one.

    With `trans` 1 or "T" the transpose of a is taken, with 2 or "C" the conjugate
    transpose. With `unit_diagonal` the diagonal is taken to be 1 and not read. What is not
    read has the derivative 0. b is a vector, if it has one axis, or matrices.
    `wg.linalg.solve_triangular([[2.0, 1.0], [0.0, 4.0]], [3.0, 4.0])` is `[1.0, 1.0]`.
    """
    a = matrices(a, "solve_triangular", square=True)
    check_option("linalg.solve_triangular", "trans", trans, (0, 1, 2, "N", "T", "C"))
    b, is_vector = columns(a, b, "solve_triangular")
    if trans not in (0, "N"):
        a, lower = shapes.matrix_transpose(a), not lower
        a = conj(Tensor._namespace, a) if trans in (2, "C") else a
    _check_batches("solve_triangular", a, b)
    x = _solve_triangular(*promoted(a, b), lower=bool(lower), unit=bool(unit_diagonal))
    return shapes.squeeze(x, axis=-1) if is_vector else x


# -- Cholesky ---------------------------------------------------------------------------------


def _factored(xp: Any, x: Any) -> Any:
    symmetric = hermitian(xp, x)
    problem = "not positive definite"
    return checked(xp, "cholesky", problem, np.linalg.cholesky, xp.linalg.cholesky, symmetric)


@lru_cache(maxsize=8)
def _half(n: int, dtype: str) -> np.ndarray:
    """Return ones below the diagonal and halves on it."""
    return (np.tri(n) - 0.5 * np.eye(n)).astype(dtype)


def _cholesky_rule(xp: Any, g: Any, y: Any) -> Any:
    """Return L^-H Q L^-1, where Q is the Hermitian part of the lower half of L^H g."""
    upper = adjoint(xp, y)
    n = y.shape[-1]
    if xp is backends.NUMPY:
        inner = xp.matmul(upper, g) * _half(n, y.dtype.char.lower())
        return xp.linalg.congruence(y, hermitian(xp, inner))
    inner = hermitian(xp, xp.matmul(upper, g) * constant(_half(n, "d"), y))
    half = triangular(xp, upper, inner, lower=False)
    return adjoint(xp, triangular(xp, upper, adjoint(xp, half), lower=False))


_cholesky = _of_square(
    "linalg.cholesky",
    _cholesky_rule,
    compute=_factored,
    inputs=lambda a: [a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1])],
)


def cholesky(x: Any, /, *, upper: bool = False) -> Tensor:
    """Return the lower triangular L of L @ Lᴴ = x, or the upper triangular Lᴴ.

    The factor is that of the Hermitian part (x + xᴴ) / 2, so that the gradient is Hermitian.
    `wg.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]])` is `[[2.0, 0.0], [1.0, 1.0]]`.
    """
    factor = _cholesky(matrices(x, "cholesky", square=True))
    return adjoint(Tensor._namespace, factor) if upper else factor


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, /) -> Tensor:
    """Return x of a @ x = b from a Cholesky factor of a: (c, lower), as SciPy has it.

    Only the lower triangle of c, or the upper one, is read and has a derivative.
    `wg.linalg.cho_solve(([[2.0, 0.0], [1.0, 1.0]], True), [6.0, 4.0])` is `[1.0, 1.0]`.
    """
    try:
        c, lower = c_and_lower
    except (TypeError, ValueError):
        raise TypeError(
            "linalg.cho_solve: the first argument is not a pair; write (linalg.cholesky(a), True)"
        ) from None
    first, last = (0, 2) if lower else (2, 0)
    half = solve_triangular(c, b, lower=lower, trans=first)
    return solve_triangular(c, half, lower=lower, trans=last)


# -- determinants -----------------------------------------------------------------------------


def _others(xp: Any, s: Any) -> Any:
    """Return the products of the other elements of the last axis, without a quotient.

    It takes large and small ones in turn: in the order of size, products would overflow on the way
    to a result that does not.
    """
    n, axis = s.shape[-1], len(s.shape) - 1
    if not n:
        return s
    order = np.empty(n, int)
    order[::2], order[1::2] = np.arange((n + 1) // 2), np.arange(n - 1, (n + 1) // 2 - 1, -1)
    back = np.argsort(order)
    s = xp.take(s, constant(order, s, _int64(xp, s)), axis=axis)
    first = xp.ones_like(s[..., :1])
    before = xp.cumulative_prod(xp.concat([first, s[..., :-1]], axis=axis), axis=axis)
    behind = xp.concat([first, xp.flip(s, axis=axis)[..., :-1]], axis=axis)
    others = before * xp.flip(xp.cumulative_prod(behind, axis=axis), axis=axis)
    return xp.take(others, constant(back, s, _int64(xp, s)), axis=axis)


def _int64(xp: Any, like: Any) -> Any:
    return plain_namespace(like._raw if type(like) is Tensor else like).int64


def _phase(xp: Any, u: Any, vh: Any) -> Any:
    return (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _cofactors(xp: Any, x: Any) -> Any:
    """Return cofactors; by singular values, that is right also for singular matrices."""
    found = xp.linalg.cofactor(x) if xp is backends.NUMPY else None
    if found is not None:
        return found
    u, s, vh = xp.linalg.svd(x)
    product = xp.matmul(u * _others(xp, s)[..., None, :], vh)
    return _phase(xp, u, vh) * conj(xp, product)


def _cofactor_rule(xp: Any, g: Any, x: Any, y: Any) -> Any:
    """Return the second derivative of the determinant, applied to g.

    In the bases of its singular vectors a matrix is diagonal, and the second derivative of the
    determinant has the products of all but two singular values. It needs no inverse. On
    tensors, for higher derivatives, the inverse is used: equal singular values do it no harm.
    """
    if type(g) is Tensor or type(x) is Tensor:
        inverse = xp.linalg.inv(x)
        size = xp.sum(g * conj(xp, xp.matrix_transpose(inverse)), axis=(-2, -1), keepdims=True)
        scaled = xp.matrix_transpose(g * conj(xp, xp.linalg.det(x))[..., None, None])
        back = adjoint(xp, inverse)
        return size * conj(xp, y) - xp.matmul(xp.matmul(back, scaled), back)
    u, s, vh = xp.linalg.svd(x)
    n = s.shape[-1]
    diagonal = constant(np.eye(n), s)
    rows = s[..., None, :] * (1 - diagonal) + diagonal
    pairs = _others(xp, rows) * (1 - diagonal)
    inner = xp.matmul(xp.matmul(adjoint(xp, u), conj(xp, g)), adjoint(xp, vh))
    traces = xp.sum(inner * diagonal, axis=-1)[..., None, :]
    swapped = xp.sum(pairs * traces, axis=-1)[..., None] * diagonal
    swapped = (swapped - pairs * xp.matrix_transpose(inner)) * _phase(xp, u, vh)
    return xp.matmul(xp.matmul(u, conj(xp, swapped)), vh)


cofactor = _of_square(
    "linalg.cofactor",
    _cofactor_rule,
    compute=_cofactors,
    samples=[sample((3, 3)), sample((2, 2, 2)), sample((1, 1)), sample((0, 2, 2))],
    rounding=100,  # by singular values or by the inverse
    doc="Return the matrices of cofactors, which are the derivative of the determinant.",
)


def _det_rule(xp: Any, g: Any, x: Any) -> Any:
    parts = cofactor(x) if type(x) is Tensor else _cofactors(xp, x)
    return g[..., None, None] * conj(xp, parts)


_det = _of_square(
    "linalg.det",
    _det_rule,
)


def det(x: Any, /) -> Tensor:
    """Return the determinants of square matrices; singular ones have a derivative, too.

    `wg.linalg.det([[1.0, 2.0], [3.0, 4.0]])` is `-2.0`.
    """
    return _det(matrices(x, "det", square=True))


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


def _slogdet_rule(xp: Any, g: Any, y: Any, x: Any, x_shape: Any) -> Any:
    # it reads a shape because an operation that reads values alone is taken to have one result
    size = g[1]
    if elementwise.is_complex(x):
        turn = xp.imag(g[0] * xp.conj(y[0]))
        size = size + turn * 1j
    if type(x) is Tensor:
        inverse = xp.linalg.inv(x)
    else:
        problem = "singular, where the logarithm has no derivative"
        inverse = checked(xp, "slogdet", problem, np.linalg.inv, xp.linalg.inv, x)
    return size[..., None, None] * adjoint(xp, inverse)


_slogdet = _of_square(
    "linalg.slogdet",
    _slogdet_rule,
    compute=lambda xp, x: tuple(xp.linalg.slogdet(x)),
)


def slogdet(x: Any, /) -> SlogdetResult:
    """Return the sign of the determinant, and the logarithm of its absolute value.

    `wg.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])` is `(-1.0, 0.0)`.
    """
    return SlogdetResult(*_slogdet(matrices(x, "slogdet", square=True)))


# -- Sylvester --------------------------------------------------------------------------------


def _sylvester_solved(
    xp: Any,
    a: Any,
    b: Any,
    q: Any,
    name: str = "solve_sylvester",
    problem: str = "such that a and -b share an eigenvalue, and there is no solution",
) -> Any:
    arrays = _together(xp, a, b, q)
    return checked(xp, name, problem, np.asarray, xp.linalg.sylvester, *arrays)


def _sylvester_rule(
    xp: Any, g: Any, y: Any, a: Any, b: Any, a_shape: Any, b_shape: Any, q_shape: Any
) -> Any:
    back_a, back_b = (adjoint(xp, _like(xp, m, g)) for m in (a, b))
    q_bar = sylvester_of(xp, back_a, back_b, g)
    a_bar = -xp.matmul(q_bar, adjoint(xp, y))
    b_bar = -xp.matmul(adjoint(xp, y), q_bar)
    return (
        unbroadcast(xp, a_bar, a_shape),
        unbroadcast(xp, b_bar, b_shape),
        unbroadcast(xp, q_bar, q_shape),
    )


sylvester = joint(
    "linalg.solve_sylvester",
    _sylvester_rule,
    args=("a", "b", "q"),
    compute=_sylvester_solved,
    batch=batching.as_it_is,
    samples=[sample((2, 2), (3, 3), (2, 3)), sample((2, 2, 2), (2, 2, 2), (2, 2, 2))],
    inputs=lambda a, b, q: [_regular(a), _regular(b), q],
    rounding=10,
)


def sylvester_of(xp: Any, a: Any, b: Any, q: Any, *words: str) -> Any:
    """Return x of a x + x b = q, on raw arrays or tensors; `words` are for an error."""
    if any(type(m) is Tensor for m in (a, b, q)):
        return sylvester(a, b, q)
    return _sylvester_solved(xp, a, b, q, *words)


def solve_sylvester(a: Any, b: Any, q: Any, /) -> Tensor:
    """Return x of a @ x + x @ b = q, for square matrices a and b.

    `wg.linalg.solve_sylvester([[1.0]], [[2.0]], [[6.0]])` is `[[2.0]]`.
    """
    a, b = (matrices(m, "solve_sylvester", square=True) for m in (a, b))
    q = matrices(q, "solve_sylvester")
    if q.shape[-2:] != (a.shape[-1], b.shape[-1]):
        expected = "(..., m, m), (..., n, n) and (..., m, n)"
        raise misfit("linalg.solve_sylvester", expected, a=a, b=b, q=q)
    _check_batches("solve_sylvester", a, b, q)
    return sylvester(*promoted(a, b, q))
