"""Eigenvalues, singular values and QR.

Vectors are determined up to a sign or phase, and for equal eigenvalues up to a rotation among
them. A function of the results has a derivative only if it does not depend on that choice.
Where equal eigenvalues would divide by zero, the quotient is taken as 0: what it multiplies is
zero for such functions. A function that does depend on the choice makes the sweep warn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import NoRuleError
from wengert.ops import batching, elementwise
from wengert.ops.checks import check_option
from wengert.ops.contractions import adjoint
from wengert.ops.families import sample, special
from wengert.ops.linalg.safeguards import (
    checked,
    hermitian,
    is_watched,
    known,
    largest,
    matrices,
    on_diagonal,
    rounding,
    safe_reciprocal,
    significant,
    skew,
    warn_degenerate,
)
from wengert.ops.linalg.solving import triangular

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]

_CHOICE = (
    "the gradient depends on which of the many {vectors} of equal {values} were returned, so "
    "there is no derivative here; write a function of the {values}, or of the space that the "
    "{vectors} span"
)
_MIXED = (
    "some {values} are equal and the gradient reaches both them and their {vectors}; what a "
    "change that parts them contributes is not known and left out. For a function of a matrix "
    "write one that needs no {vectors}, such as linalg.expm or linalg.sqrtm; if only the space "
    "that the {vectors} span is used, the gradient is right, and this warning can be ignored"
)
_PHASE = (
    "the gradient depends on the phases of the {vectors}, which are arbitrary; write a function "
    "that does not, such as one of abs({vectors})"
)


def _ties(xp: Any, values: Any) -> tuple[Any, Any]:
    """Return the differences value[j] - value[i], and which are zero but for rounding."""
    gap = values[..., None, :] - values[..., :, None]
    limit = largest(xp, values)[..., None] * rounding(values.shape[-1], values.dtype)
    return gap, xp.abs(gap) <= limit


def _shared(xp: Any, g: Any, equal: Any) -> Any:
    """Return the cotangent of values, shared evenly among those that are equal."""
    ties = xp.astype(equal, g.dtype)
    return xp.sum(ties * g[..., None, :], axis=-1) / xp.sum(ties, axis=-1)


def _values(function: Callable[..., Tensor], x: Tensor, compute: Callable[..., Any]) -> Tensor:
    """Return eigenvalues or singular values of matrices that no tape watches, without vectors."""
    if type(x._raw) is Batched:
        return batching.on_examples(function, x)
    return wrap(compute(backends.namespace_of(x._raw), x._raw))


# -- Hermitian matrices -----------------------------------------------------------------------


class EighResult(NamedTuple):
    """Eigenvalues, in ascending order, and eigenvectors, the columns of a matrix."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _eigh_rule(xp: Any, g: Any, y: Any, x_shape: Any) -> Any:
    # it reads a shape because an operation that reads values alone is taken to have one result
    values, vectors = y
    back = adjoint(xp, vectors)
    gap, equal = _ties(xp, values)
    of_values = None if g[0] is None else _shared(xp, g[0], equal)
    if g[1] is None:
        assert of_values is not None  # or there were nothing to ask
        return hermitian(xp, xp.matmul(vectors * of_values[..., None, :], back))
    turns = xp.matmul(back, g[1])
    _look("eigh", "eigenvalues", "eigenvectors", known(equal), known(turns), g[0] is not None)
    inner = turns * safe_reciprocal(xp, gap, equal)
    if of_values is not None:
        inner = inner + on_diagonal(xp, of_values)
    return hermitian(xp, xp.matmul(xp.matmul(vectors, inner), back))


def _look(name: str, values: str, vectors: str, equal: Any, turns: Any, mixed: bool) -> None:
    """Warn where the cotangent `turns` of rotations among vectors of equal values is not zero.

    `mixed` says that values are used as well as vectors.
    """
    if equal is None or turns is None:  # traced
        return
    words = {"values": values, "vectors": vectors}
    n = equal.shape[-1]
    odd = turns - np.conj(np.swapaxes(turns, -1, -2))
    if np.iscomplexobj(turns) and significant(odd * np.eye(n, dtype=bool), turns):
        warn_degenerate(name, _PHASE.format(**words))
    pairs = equal & ~np.eye(n, dtype=bool)
    if not pairs.any():
        return
    if significant(odd * pairs, turns):
        warn_degenerate(name, _CHOICE.format(**words))
    elif mixed and significant(turns * pairs, turns):
        warn_degenerate(name, _MIXED.format(**words))


def _eigh_shown(xp: Any, w: Any, v: Any) -> Any:
    """Return what does not depend on the phases of eigenvectors."""
    return (
        w,
        xp.abs(v) ** 2,
        xp.matmul(v * xp.sin(w)[..., None, :], xp.conj(xp.matrix_transpose(v))),
    )


def _eigh_from(xp: Any, x: Any, triangle: str) -> Any:
    x = hermitian(xp, x)
    if xp is backends.NUMPY:
        return tuple(xp.linalg.eigh(x, triangle))
    return tuple(xp.linalg.eigh(x))  # in the standard there is no choice


_eigh = special(
    "linalg.eigh",
    _eigh_rule,
    params=("triangle",),
    compute=_eigh_from,
    batch=batching.as_it_is,
    samples=[
        sample((3, 3), triangle="L"),
        sample((3, 3), triangle="U"),
        sample((2, 2, 2), triangle="L"),
        sample((1, 1), triangle="L"),
        sample((0, 2, 2), triangle="U"),
        sample((0, 0), triangle="L"),
    ],
    inputs=lambda x: [x + np.diag(3.0 * np.arange(x.shape[-1]))],
    invariant=_eigh_shown,
    rounding=100,
)
_eigh.op.sees_unused = True


def eigh(x: Any, /, *, triangle: str = "L") -> EighResult:
    """Return eigenvalues, in ascending order, and eigenvectors of Hermitian matrices.

    They are those of the Hermitian part (x + xᴴ) / 2, so that the gradient is Hermitian. NumPy
    reads the triangle "L" or "U" of it, and the signs of eigenvectors may depend on which.
    `wg.linalg.eigh([[2.0, 1.0], [1.0, 2.0]]).eigenvalues` is `[1.0, 3.0]`.
    """
    check_option("linalg.eigh", "triangle", triangle, ("L", "U"))
    return EighResult(*_eigh(matrices(x, "eigh", square=True), triangle=triangle))


def eigvalsh(x: Any, /) -> Tensor:
    """Return the eigenvalues of Hermitian matrices, in ascending order.

    They are those of the Hermitian part (x + xᴴ) / 2, so that the gradient is Hermitian.
    `wg.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])` is `[1.0, 3.0]`.
    """
    x = matrices(x, "eigvalsh", square=True)
    if is_watched(x):
        return _eigh(x, triangle="L")[0]
    return _values(eigvalsh, x, lambda xp, raw: xp.linalg.eigvalsh(hermitian(xp, raw)))


# -- any square matrices ----------------------------------------------------------------------


class EigResult(NamedTuple):
    """Eigenvalues, in no particular order, and eigenvectors, the columns of a matrix."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _complex(xp: Any, x: Any) -> Any:
    if elementwise.is_complex(x):
        return x
    return xp.astype(x, xp.complex64 if x.dtype == xp.float32 else xp.complex128)


def _eig_rule(xp: Any, g: Any, y: Any, x: Any, x_shape: Any) -> Any:
    # it reads a shape because an operation that reads values alone is taken to have one result
    values, vectors = y
    back = adjoint(xp, vectors)
    inner = on_diagonal(xp, g[0])
    if type(g[1]) is not np.ndarray or g[1].any():
        turns = xp.matmul(back, g[1])
        gap, equal = _ties(xp, values)
        _look_at_eig(known(x), known(values), known(equal), known(turns))
        lengths = xp.real(xp.linalg.diagonal(turns))  # vectors keep their length
        turns = turns - xp.matmul(back, vectors) * lengths[..., None, :]
        inner = inner + turns * xp.conj(safe_reciprocal(xp, gap, equal))
    right = xp.matmul(inner, back)
    if type(right) is Tensor:
        return xp.linalg.solve(back, right)
    problem = "defective: it has too few eigenvectors, and its eigenvalues no derivative"
    return checked(xp, "eig", problem, _inverted, _eig_solved(xp), back, right)


def _eig_solved(xp: Any) -> Any:
    def solved(back: Any, right: Any) -> Any:
        values = known(back)
        if values is not None:
            _inverted(values)
        return xp.linalg.solve(back, right)

    return solved


def _inverted(vectors: np.ndarray) -> None:
    """Raise an error if vectors are dependent but for rounding."""
    inverse = np.linalg.inv(vectors)
    sizes = [np.abs(m).sum(axis=-1).max(axis=-1, initial=0.0) for m in (vectors, inverse)]
    if (sizes[0] * sizes[1] * rounding(vectors.shape[-1], vectors.dtype) > 1).any():
        raise np.linalg.LinAlgError("dependent vectors")


def _look_at_eig(x: Any, values: Any, equal: Any, turns: Any) -> None:
    if turns is None:
        return
    words = {"values": "eigenvalues", "vectors": "eigenvectors"}
    diagonal = np.eye(turns.shape[-1], dtype=bool)
    turned = np.imag(turns) * diagonal
    if not np.iscomplexobj(x):  # a real vector of a real matrix stays real
        turned = turned * (np.imag(values) != 0)[..., None, :]
    if significant(turned, turns):
        warn_degenerate("eig", _PHASE.format(**words))
    if significant(turns * (equal & ~diagonal), turns):
        warn_degenerate("eig", _CHOICE.format(**words))


def _eigen(xp: Any, x: Any) -> tuple[Any, Any]:
    values, vectors = xp.linalg.eig(x)
    return _complex(xp, values), _complex(xp, vectors)


def _eig_shown(xp: Any, w: Any, v: Any) -> Any:
    """Return what depends neither on the phases of eigenvectors nor on their order."""
    order = xp.argsort(xp.real(w) + 0.1 * xp.imag(w), axis=-1)
    w = xp.take_along_axis(w, order, axis=-1)
    v = xp.take_along_axis(v, order[..., None, :], axis=-1)
    return w, xp.abs(v) ** 2


_eig = special(
    "linalg.eig",
    _eig_rule,
    compute=_eigen,
    batch=batching.as_it_is,
    samples=[sample((3, 3)), sample((2, 2, 2)), sample((1, 1)), sample((0, 2, 2))],
    inputs=lambda x: [x + np.diag(2.0 * np.arange(x.shape[-1]))],
    invariant=_eig_shown,
    rounding=100,
)


def eig(x: Any, /) -> EigResult:
    """Return eigenvalues and eigenvectors, of length 1, of square matrices, as complex numbers.

    The derivative exists where eigenvalues are distinct.
    `wg.linalg.eig([[0.0, -1.0], [1.0, 0.0]]).eigenvalues` is `[1j, -1j]`.
    """
    return EigResult(*_eig(matrices(x, "eig", square=True)))


def eigvals(x: Any, /) -> Tensor:
    """Return the eigenvalues of square matrices, as complex numbers in no particular order.

    `wg.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])` is `[1j, -1j]`.
    """
    x = matrices(x, "eigvals", square=True)
    if is_watched(x):
        return _eig(x)[0]
    return _values(eigvals, x, lambda xp, raw: _complex(xp, xp.linalg.eigvals(raw)))


# -- singular values --------------------------------------------------------------------------


class SVDResult(NamedTuple):
    """Unitary U, singular values S in descending order, and unitary V, conjugate transposed."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _svd_rule(xp: Any, g: Any, y: Any) -> Any:
    u, s, vh = y
    k = s.shape[-1]
    first, second = u[..., :, :k], vh[..., :k, :]
    gap, equal = _ties(xp, s)
    mixed = g[1] is not None
    gs = _shared(xp, g[1], equal) if mixed else xp.zeros_like(s)
    if g[0] is None and g[2] is None:
        return xp.matmul(first * gs[..., None, :], second)
    gu = xp.zeros_like(u) if g[0] is None else g[0]
    gv = adjoint(xp, xp.zeros_like(vh) if g[2] is None else g[2])
    v, uh = adjoint(xp, vh), adjoint(xp, u)
    on_left, on_right = xp.matmul(uh, gu), xp.matmul(vh, gv)
    limit = largest(xp, s) * rounding(k, s.dtype)
    sums = s[..., None, :] + s[..., :, None]
    apart = safe_reciprocal(xp, gap, equal)
    together = safe_reciprocal(xp, sums, sums <= limit[..., None])
    inverse = safe_reciprocal(xp, s, s <= limit)[..., None, :]
    left, right = skew(xp, on_left), skew(xp, on_right)
    # what turns the vectors out of the space that they span
    out_u = left[..., k:, :k] if u.shape[-1] > k else gu - xp.matmul(u, on_left)
    out_v = right[..., k:, :k] if vh.shape[-2] > k else gv - xp.matmul(v, on_right)
    _look_at_svd(mixed, *map(known, (s, limit, equal, on_left, on_right, out_u, out_v)))
    one, two = left[..., :k, :k], right[..., :k, :k]
    inner = ((one + two) * apart + (one - two) * together) * 0.5 + on_diagonal(xp, gs)
    columns = xp.matmul(first, inner)
    if u.shape[-2] > k:
        out_u = out_u * inverse
        columns = columns + (xp.matmul(u[..., :, k:], out_u) if u.shape[-1] > k else out_u)
    x_bar = xp.matmul(columns, second)
    if vh.shape[-1] == k:
        return x_bar
    out_v = out_v * inverse
    rows = xp.matmul(v[..., :, k:], out_v) if vh.shape[-2] > k else out_v
    return x_bar + xp.matmul(first, adjoint(xp, rows))


def _look_at_svd(
    mixed: bool, s: Any, limit: Any, equal: Any, left: Any, right: Any, out_u: Any, out_v: Any
) -> None:
    if s is None or left is None:  # traced
        return
    k = s.shape[-1]
    for turns, name in ((left, "U"), (right, "Vh")):
        extra = turns[..., k:, k:]
        if significant(extra - np.conj(np.swapaxes(extra, -1, -2)), turns):
            raise NoRuleError(
                f"linalg.svd: the gradient depends on the columns of {name} that no singular value "
                "belongs to, which are an arbitrary basis; write full_matrices=False, or a "
                "function of the space that they span"
            )
    one, two = left[..., :k, :k], right[..., :k, :k]
    _look("svd", "singular values", "singular vectors", equal, one + two, mixed)
    none = (s <= limit)[..., None, :]
    if not none.any():
        return
    odd = (one - two) - np.conj(np.swapaxes(one - two, -1, -2))
    whole = np.concatenate([np.abs(m) for m in (one, two, out_u, out_v)], axis=-2)
    both = np.concatenate([odd * np.swapaxes(none, -1, -2), out_u, out_v], axis=-2)
    if significant(both * none, whole):
        words = {"values": "singular values", "vectors": "singular vectors"}
        warn_degenerate("svd", "some singular values are 0: " + _CHOICE.format(**words))


def _svd_shown(xp: Any, u: Any, s: Any, vh: Any) -> Any:
    """Return what does not depend on the phases of singular vectors."""
    k = s.shape[-1]
    product = xp.matmul(u[..., :, :k] * xp.sin(s)[..., None, :], vh[..., :k, :])
    u1, u2, v2 = u[..., :, :1], u[..., :, k:], xp.conj(xp.matrix_transpose(vh[..., k:, :]))
    spaces = [xp.matmul(m, xp.conj(xp.matrix_transpose(m))) for m in (u1, u2, v2)]
    return s, xp.abs(u[..., :, :k]) ** 2, xp.abs(vh[..., :k, :]) ** 2, product, *spaces


_svd = special(
    "linalg.svd",
    _svd_rule,
    params=("full_matrices",),
    compute=lambda xp, x, full_matrices: tuple(xp.linalg.svd(x, full_matrices=full_matrices)),
    batch=batching.as_it_is,
    samples=[
        sample((2, 2), full_matrices=True),
        sample((3, 2), full_matrices=False),
        sample((2, 3), full_matrices=False),
        sample((2, 3, 2), full_matrices=True),
        sample((2, 4), full_matrices=True),
        sample((0, 2, 2), full_matrices=False),
    ],
    inputs=lambda x: [x + np.eye(*x.shape[-2:]) * (1 + 2 * np.arange(x.shape[-1]))],
    invariant=_svd_shown,
    rounding=100,
)
_svd.op.sees_unused = True


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Return U, S and Vh of x = U @ diag(S) @ Vh, with S in descending order.

    With `full_matrices` U and V are square; their further columns are an arbitrary basis.
    `wg.linalg.svd([[0.0, 2.0], [1.0, 0.0]]).S` is `[2.0, 1.0]`.
    """
    return SVDResult(*_svd(matrices(x, "svd"), full_matrices=bool(full_matrices)))


def svdvals(x: Any, /) -> Tensor:
    """Return the singular values of matrices, in descending order.

    `wg.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])` is `[2.0, 1.0]`.
    """
    x = matrices(x, "svdvals")
    if is_watched(x):
        return _svd(x, full_matrices=False)[1]
    return _values(svdvals, x, lambda xp, raw: xp.linalg.svdvals(raw))


# -- QR ---------------------------------------------------------------------------------------


class QRResult(NamedTuple):
    """Unitary Q, and upper triangular R."""

    Q: Tensor
    R: Tensor


def _qr_rule(xp: Any, g: Any, y: Any, x: Any) -> Any:
    q, r = y
    gq, gr = g
    k = min(x.shape[-2:])
    if q.shape[-1] > k:
        gq, q = _reduced(xp, gq, q, k), q[..., :, :k]
        r, gr = r[..., :k, :], gr[..., :k, :]
    if r.shape[-1] == k:
        return _qr_square(xp, gq, gr, q, r)
    # of a wide matrix only the first columns are factored, and the others are Qᴴ of theirs
    rest = gr[..., :, k:]
    gq = gq + xp.matmul(x[..., :, k:], adjoint(xp, rest))
    first = _qr_square(xp, gq, gr[..., :, :k], q, r[..., :, :k])
    return xp.concat([first, xp.matmul(q, rest)], axis=-1)


def _qr_square(xp: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    values = known(r)
    if values is not None and values.size:
        sizes = np.abs(np.diagonal(values, axis1=-2, axis2=-1))
        limit = rounding(values.shape[-1], values.dtype) * sizes.max(axis=-1, keepdims=True)
        if (sizes <= limit).any():
            raise np.linalg.LinAlgError(
                "linalg.qr: the first columns of a matrix are dependent, and it has no derivative"
            )
    inner = xp.matmul(adjoint(xp, q), gq) - xp.matmul(gr, adjoint(xp, r))
    upper = xp.triu(inner)
    both = upper + adjoint(xp, xp.triu(inner, k=1))
    if elementwise.is_complex(both):  # the diagonal of R is real
        both = both - on_diagonal(xp, xp.imag(xp.linalg.diagonal(inner)) * 1j)
    right = gq - xp.matmul(q, both)
    return adjoint(xp, triangular(xp, r, adjoint(xp, right), lower=False))


def _reduced(xp: Any, gq: Any, q: Any, k: int) -> Any:
    """Return the cotangent of the first columns of Q, having moved that of the others to them."""
    first, others = q[..., :, :k], q[..., :, k:]
    turns, values = known(xp.matmul(adjoint(xp, others), gq[..., :, k:])), known(gq)
    if turns is not None and values is not None:
        odd = turns - np.conj(np.swapaxes(turns, -1, -2))
        if significant(odd, np.concatenate([values, values], axis=-1)):
            raise NoRuleError(
                "linalg.qr: the gradient depends on the last columns of a complete Q, which are an "
                "arbitrary basis; write mode='reduced', or a function of the space that they span"
            )
    return gq[..., :, :k] - xp.matmul(others, xp.matmul(adjoint(xp, gq[..., :, k:]), first))


def _qr_shown(xp: Any, q: Any, r: Any) -> Any:
    k = min(q.shape[-2], r.shape[-1])
    others = q[..., :, k:]
    return q[..., :, :k], r, xp.matmul(others, xp.conj(xp.matrix_transpose(others)))


_qr = special(
    "linalg.qr",
    _qr_rule,
    params=("mode",),
    compute=lambda xp, x, mode: tuple(xp.linalg.qr(x, mode=mode)),
    batch=batching.as_it_is,
    samples=[
        sample((3, 3), mode="reduced"),
        sample((3, 2), mode="reduced"),
        sample((2, 3, 2), mode="complete"),
        sample((2, 3), mode="reduced"),
        sample((0, 2, 2), mode="reduced"),
    ],
    inputs=lambda x: [x + 3 * np.eye(*x.shape[-2:])],
    invariant=_qr_shown,
    rounding=10,
)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """Return Q and R of x = Q @ R, with orthonormal columns of Q and upper triangular R.

    `mode` is "reduced", "complete" (square Q, whose last columns are an arbitrary basis) or
    "r" (only R). The derivative exists where the first columns of x are independent.
    `np.abs(wg.linalg.qr([[3.0, 0.0], [4.0, 5.0]]).R.numpy())` is `[[5.0, 4.0], [0.0, 3.0]]`.
    """
    check_option("linalg.qr", "mode", mode, ("reduced", "complete", "r"))
    x = matrices(x, "qr")
    result = QRResult(*_qr(x, mode="reduced" if mode == "r" else mode))
    return result.R if mode == "r" else result
