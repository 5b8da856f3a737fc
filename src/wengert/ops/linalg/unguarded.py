"""Decompositions without safeguards, which dialects choose; and the factors of LU.

`decompositions` takes a quotient by the difference of equal eigenvalues for 0, and shares a
derivative among equal ones. Here, as in PyTorch, such derivatives are not finite, and each
eigenvalue has its own; one triangle of a Hermitian matrix is read; and it is an error to
differentiate what depends on phases.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.ops import batching, conventions, elementwise, reductions, rounding
from wengert.ops.contractions import adjoint
from wengert.ops.families import sample, special, variant, zero
from wengert.ops.gates import Refusal
from wengert.ops.linalg import decompositions, norms, solving
from wengert.ops.linalg.safeguards import constant, hermitian, is_watched, known, on_diagonal, skew
from wengert.ops.linalg.solving import triangular

ns = Native._namespace


def _of_hermitian(xp: Any, x: Any) -> Any:
    """Return the Hermitian part, where one triangle is read and changes are Hermitian."""
    return (hermitian(xp, x),)


def _ones_on_diagonal(x: Any) -> Any:
    return constant(np.eye(x.shape[-1]), x)


def _apart(xp: Any, values: Any) -> Any:
    """Return the differences value[j] - value[i], with ones on the diagonal."""
    gap = values[..., None, :] - values[..., :, None]
    return gap + _ones_on_diagonal(gap)


def _check_phases(xp: Any, name: str, vectors: str, turns: Any) -> None:
    """Raise if a derivative depends on the phases of complex vectors, which are arbitrary."""
    found = known(turns) if elementwise.is_complex(turns) else None
    if found is None:
        return
    phases = np.diagonal(found, axis1=-2, axis2=-1).imag
    if not (np.abs(phases) <= 1e-2).all():
        raise RuntimeError(
            f"{name}: the loss depends on the phases of the {vectors}, which are arbitrary; write "
            f"one that does not, such as one of {vectors}.abs()"
        )


# -- Hermitian matrices ------------------------------------------------------------------------


def _eigh_rule(xp: Any, g: Any, y: Any, x_shape: Any) -> Any:
    values, vectors = y
    back = adjoint(xp, vectors)
    if g[1] is None:
        return xp.matmul(vectors * g[0][..., None, :], back)
    turns = xp.matmul(back, g[1])
    _check_phases(xp, "linalg_eigh_backward", "eigenvectors", turns)
    inner = turns / _apart(xp, values) * (1 - _ones_on_diagonal(values))
    if g[0] is not None:
        inner = inner + on_diagonal(xp, g[0])
    return hermitian(xp, xp.matmul(xp.matmul(vectors, inner), back))


def _eigh(xp: Any, x: Any, triangle: str) -> Any:
    if triangle == "U":  # the lower triangle is read
        x = adjoint(xp, x)
    if xp is backends.NUMPY and x.size and not np.isfinite(x).all():
        real = x.real.dtype
        return np.full(x.shape[:-1], np.nan, real), np.full(x.shape, np.nan, x.dtype)
    return tuple(xp.linalg.eigh(x))


eigh = variant(
    decompositions._eigh,
    "ties=inf, reads=triangle",
    _eigh_rule,
    compute=_eigh,
    given=_of_hermitian,
    reference=lambda x, triangle: np.linalg.eigh(x, triangle),
    doc="Return eigenvalues and eigenvectors of Hermitian matrices, of which a triangle is read.",
)
cholesky = variant(
    solving._cholesky,
    "reads=triangle",
    solving._cholesky_rule,
    compute=lambda xp, x: xp.linalg.cholesky(x),
    given=_of_hermitian,
    doc="Return the lower factors of positive matrices, of which the lower triangle is read.",
)


def cholesky_or_nan(x: Native) -> Native:
    """Return the lower factors, with NaN for those of matrices that are not positive definite."""
    try:
        return cholesky(x)
    except np.linalg.LinAlgError:
        minors = [partial_cholesky(matrix)[1] for matrix in x._raw.reshape(-1, *x.shape[-2:])]
    bad = np.asarray(minors).reshape(*x.shape[:-2], 1, 1) > 0
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    safe = x + np.where(bad, eye - x._raw, np.zeros((), x.dtype))
    return ns.tril(cholesky(safe) * np.where(bad, np.nan, 1).astype(x.dtype))


def partial_cholesky(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Return as much of a factor as there is, and the order of the first bad leading minor."""
    factor = np.tril(matrix)
    for k in range(len(factor)):
        row = factor[k, :k]
        rest = factor[k, k].real - np.vdot(row, row).real
        if not rest > 0:
            factor[k, k] = rest
            return factor, k + 1
        factor[k, k] = np.sqrt(rest)
        factor[k + 1 :, k] -= factor[k + 1 :, :k] @ np.conj(row)
        factor[k + 1 :, k] /= factor[k, k]
    return factor, 0


# -- any square matrices -----------------------------------------------------------------------


def _eig_rule(xp: Any, g: Any, y: Any, x_shape: Any) -> Any:
    values, vectors = y
    back = adjoint(xp, vectors)
    inner = None if g[0] is None else on_diagonal(xp, g[0])
    if g[1] is not None:
        turns = xp.matmul(back, g[1])
        _check_phases(xp, "linalg_eig_backward", "eigenvectors", turns)
        lengths = xp.real(xp.linalg.diagonal(turns))  # vectors keep their length
        turns = turns - xp.matmul(back, vectors) * lengths[..., None, :]
        turned = turns / xp.conj(_apart(xp, values)) * (1 - _ones_on_diagonal(values))
        inner = turned if inner is None else inner + turned
    return _solved(xp, back, xp.matmul(inner, back))


def _solved(xp: Any, a: Any, b: Any) -> Any:
    try:
        return xp.linalg.solve(a, b)
    except np.linalg.LinAlgError:  # too few eigenvectors
        return b * np.nan


eig = variant(decompositions._eig, "ties=inf", _eig_rule)
eig.op.sees_unused = True


def _slogdet_rule(xp: Any, g: Any, y: Any, x: Any, x_shape: Any) -> Any:
    g = [xp.zeros_like(part) if of is None else of for of, part in zip(g, y, strict=True)]
    try:
        return solving._slogdet_rule(xp, g, y, x, x_shape)
    except np.linalg.LinAlgError:  # a singular matrix
        return xp.zeros_like(x) + ((g[0] + g[1]) * np.nan)[..., None, None]


slogdet = variant(solving._slogdet, "singular=nan", _slogdet_rule)
slogdet.op.sees_unused = True


# -- singular values ---------------------------------------------------------------------------


def _svd_rule(xp: Any, g: Any, y: Any, x_shape: Any) -> Any:
    k = y[1].shape[-1]
    u, s, vh = y[0][..., :, :k], y[1], y[2][..., :k, :]  # what is beyond has no derivative
    if g[0] is None and g[2] is None:
        return xp.matmul(u * g[1][..., None, :], vh)
    left, out_u = _turned(xp, u, g[0] if g[0] is None else g[0][..., :, :k])
    v = adjoint(xp, vh)
    right, out_v = _turned(xp, v, g[2] if g[2] is None else adjoint(xp, g[2][..., :k, :]))
    _check_phases(xp, "svd_backward", "singular vectors", (left + right) * 0.5)
    inner = (left * s[..., None, :] + s[..., :, None] * right) / _apart(xp, s * s)
    if g[1] is not None:
        inner = inner + on_diagonal(xp, g[1])
    if elementwise.is_complex(u) and g[0] is not None and g[2] is not None:
        inner = inner + on_diagonal(xp, xp.linalg.diagonal(left) / (2 * s))
    columns = xp.matmul(u, inner)
    if x_shape[-2] > k:
        columns = columns + out_u / s[..., None, :]
    x_bar = xp.matmul(columns, vh)
    if x_shape[-1] > k:
        x_bar = x_bar + xp.matmul(u, adjoint(xp, out_v / s[..., None, :]))
    return x_bar


def _turned(xp: Any, vectors: Any, g: Any) -> tuple[Any, Any]:
    """Return how a cotangent turns vectors among themselves, twice, and out of their space."""
    if g is None:
        nothing = vectors[..., :0, :]
        return xp.matmul(adjoint(xp, nothing), nothing), xp.zeros_like(vectors)
    within = xp.matmul(adjoint(xp, vectors), g)
    return skew(xp, within), g - xp.matmul(vectors, within)


def _check_finite(x: np.ndarray) -> None:
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("linalg.svd: the matrix has elements that are not finite")


def _svd(xp: Any, x: Any, full_matrices: bool) -> Any:
    if xp is backends.NUMPY:
        _check_finite(x)
    return tuple(xp.linalg.svd(x, full_matrices=full_matrices))


svd = variant(
    decompositions._svd,
    "ties=inf",
    _svd_rule,
    compute=_svd,
    samples=[
        sample((2, 2), full_matrices=True),
        sample((3, 2), full_matrices=False),
        sample((2, 3), full_matrices=False),
        sample((0, 2, 2), full_matrices=False),
    ],
    reference=np.linalg.svd,
    doc="Return U, S and Vh; what is beyond the columns that S needs has no derivative.",
)


def singular_values(x: Native) -> Native:
    """Return the singular values of matrices, in descending order."""
    values: Native
    if type(x._raw) is np.ndarray and not is_watched(x):  # no vectors are needed
        _check_finite(x._raw)
        values = decompositions.svdvals(x)
    else:
        values = svd(x, full_matrices=False)[1]
    return values


# -- QR ----------------------------------------------------------------------------------------


def _qr_rule(xp: Any, g: Any, y: Any, x: Any, mode: str) -> Any:
    if mode == "r":
        raise RuntimeError(
            "linalg.qr: its derivative needs Q, which mode='r' does not compute; write "
            "mode='reduced'"
        )
    if mode == "complete" and x.shape[-2] > x.shape[-1]:
        raise RuntimeError(
            "linalg.qr: the complete Q of a matrix with more rows than columns has no derivative; "
            "write mode='reduced'"
        )
    g = [xp.zeros_like(part) if of is None else of for of, part in zip(g, y, strict=True)]
    try:
        return decompositions._qr_rule(xp, g, y, x)
    except np.linalg.LinAlgError:  # the first columns are dependent
        return xp.zeros_like(x) * np.nan


def _qr(xp: Any, x: Any, mode: str) -> Any:
    if mode != "r":
        return tuple(xp.linalg.qr(x, mode=mode))
    return np.empty((0,), x.dtype), np.linalg.qr(x, mode="r")


qr = variant(
    decompositions._qr,
    "dependent=nan",
    _qr_rule,
    compute=_qr,
    samples=[
        sample((3, 3), mode="reduced"),
        sample((3, 2), mode="reduced"),
        sample((2, 3), mode="complete"),
        sample((2, 3, 2), mode="reduced"),
        sample((0, 2, 2), mode="reduced"),
    ],
    reference=np.linalg.qr,
    doc="Return Q and R; with mode 'r' Q is empty, and there is no derivative.",
)
qr.op.sees_unused = True


def _reflectors(xp: Any, x: Any, kind: Any, message: str) -> Any:
    reflectors, tau = np.linalg.qr(x, mode="raw")
    return np.swapaxes(reflectors, -1, -2).copy(), tau


_GEQRF = Refusal(
    "geqrf", ("x",), _reflectors, [lambda xp, g, kind, message: None], ("kind", "message")
)
_GEQRF.batch = functools.partial(batching.as_it_is, _GEQRF)


def geqrf(x: Native, kind: type[Exception], message: str) -> tuple[Native, Native]:
    """Return the reflections of QR and their scales; a sweep that comes to them raises an error."""
    reflections, tau = apply(_GEQRF, (x,), {"kind": kind, "message": message})
    return reflections, tau


def reflected(vectors: Native, tau: Native, x: Native) -> Native:
    """Return x under the reflections 1 - tau v v^H, the last one first.

    The vectors are columns, with zeros above the diagonal and a one on it that are not read.
    """
    rows, count = vectors.shape[-2], tau.shape[-1]
    columns = ns.tril(vectors, k=-1) + np.eye(rows, vectors.shape[-1], dtype=vectors.dtype)
    for k in reversed(range(count)):
        v = columns[..., k : k + 1]
        x = x - tau[..., k][..., None, None] * ns.matmul(v, ns.matmul(adjoint(ns, v), x))
    return x


# -- LU ----------------------------------------------------------------------------------------


lu_order = zero(
    "linalg.lu_order",
    params=("rows",),
    samples=[sample((3,), rows=4), sample((2, 2), rows=3)],
    domain=(1, 4),
    kinds="i",
    doc="Return the order of rows that exchanges, which count from 1, lead to.",
)


def lower_upper(factors: Native) -> tuple[Native, Native]:
    """Return L, with ones on its diagonal, and U of the one matrix that has both."""
    rows, columns = factors.shape[-2:]
    k = min(rows, columns)
    eye = np.eye(rows, k, dtype=factors.dtype)
    return ns.tril(factors[..., :, :k], k=-1) + eye, ns.triu(factors[..., :k, :])


def _lu_rule(xp: Any, g: Any, y: Any) -> Any:
    rows, columns = y.shape[-2:]
    k = min(rows, columns)
    square, g1 = y[..., :k, :k], g[..., :k, :k]
    lower = xp.tril(square, k=-1) + _ones_on_diagonal(square)
    upper = xp.triu(square)
    below = xp.matmul(adjoint(xp, lower), xp.tril(g1, k=-1))
    above = xp.matmul(xp.triu(g1), adjoint(xp, upper))
    if columns > k:  # the other columns of U are L^-1 of those of x
        below = below - xp.matmul(g[..., :, k:], adjoint(xp, y[..., :, k:]))
    if rows > k:  # the other rows of L are those of x times U^-1
        above = above - xp.matmul(adjoint(xp, y[..., k:, :]), g[..., k:, :])
    inner = xp.tril(below, k=-1) + xp.triu(above)
    first = _divided(xp, upper, _divided_left(xp, lower, inner))
    if columns > k:
        return xp.concat([first, _divided_left(xp, lower, g[..., :, k:])], axis=-1)
    if rows > k:
        return xp.concat([first, _divided(xp, upper, g[..., k:, :])], axis=-2)
    return first


def _divided_left(xp: Any, lower: Any, x: Any) -> Any:
    """Return L^-H x."""
    return triangular(xp, adjoint(xp, lower), x, lower=False, unit=True)


def _divided(xp: Any, upper: Any, x: Any) -> Any:
    """Return x U^-H, which is not finite where U has a zero on its diagonal."""
    try:
        return adjoint(xp, triangular(xp, upper, adjoint(xp, x), lower=False))
    except np.linalg.LinAlgError:
        return x * np.nan


def _lu_factors_rule(xp: Any, g: Any, y: Any, x_shape: Any) -> Any:
    factors, _, order, _ = y
    back = xp.argsort(order, axis=-1)[..., None]
    return xp.take_along_axis(_lu_rule(xp, g[0], factors), back, axis=-2)


lu_factors = special(
    "linalg.lu_factors",
    _lu_factors_rule,
    batch=batching.as_it_is,
    samples=[sample((3, 3)), sample((3, 2)), sample((2, 3)), sample((2, 3, 3)), sample((0, 2, 2))],
    inputs=lambda x: [x + 5 * np.eye(*x.shape[-2:])[::-1]],
    invariant=lambda xp, factors, pivots, order, info: factors,
    rounding=10,
    doc="""Return L and U in one matrix, pivots, the order of rows, and the first pivot that is 0.

    L has ones on its diagonal, which are left out.
    """,
)
lu_factors.op.sees_unused = True


# -- norms -------------------------------------------------------------------------------------


def vector_norm(x: Native, p: float, axes: tuple[int, ...], keepdim: bool) -> Native:
    """Return the p-norm over some axes; its derivative is 0 where it is 0."""
    if p == 0:  # which has a derivative, zero
        ones = elementwise.square(rounding.sign_flat(elementwise.abs_(x)))
        return reductions.sum_over(ones, axis=axes, keepdims=keepdim)
    if p in (1, math.inf, -math.inf):  # these have a second derivative, which is zero
        over = {
            1: reductions.sum_over,
            math.inf: reductions.max_over,
            -math.inf: reductions.min_over,
        }
        return over[p](conventions.abs_nan_0(x), axis=axes, keepdims=keepdim)
    return norms.vector_norm(x, axis=axes, keepdims=keepdim, ord=p)


def matrix_norm(x: Native, order: Any) -> Native:
    """Return a norm of matrices on the last two axes; the largest of nothing is 0."""
    last = x.ndim - 2
    if order == "nuc" or abs(order) == 2:
        values = singular_values(x)
    else:
        axis = last if abs(order) == 1 else last + 1
        values = reductions.sum_over(conventions.abs_nan_0(x), axis=(axis,), keepdims=False)
    if order == "nuc" or not values.shape[last]:
        return reductions.sum_over(values, axis=(last,), keepdims=False)
    reduce = reductions.max_over if order > 0 else reductions.min_over
    return reduce(values, axis=(last,), keepdims=False)
