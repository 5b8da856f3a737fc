"""Equations without a solution, or with many: pseudo-inverses and least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor
from wengert.ops import elementwise, reductions, shapes
from wengert.ops.contractions import adjoint, matmul
from wengert.ops.families import sample, special
from wengert.ops.linalg.decompositions import svdvals
from wengert.ops.linalg.safeguards import (
    columns,
    constant,
    eps,
    known,
    largest,
    matrices,
    promoted,
    tolerance,
    with_tolerance,
)

__all__ = ["lstsq", "pinv"]


def _pseudo_inverse(xp: Any, x: Any, rtol: Any) -> Any:
    if rtol is None:
        rtol = max(x.shape[-2:]) * eps(x.dtype)
    if xp is backends.NUMPY:
        return np.linalg.pinv(x, rtol=rtol)
    real = xp.real(x).dtype if elementwise.is_complex(x) else x.dtype
    return xp.linalg.pinv(x, rtol=xp.asarray(rtol, dtype=real))


def _pinv_rule(xp: Any, g: Any, x: Any, y: Any) -> Any:
    """Return the derivative among matrices of the same rank, after Golub and Pereyra."""
    back, gh = adjoint(xp, y), adjoint(xp, g)
    across = -xp.matmul(xp.matmul(back, g), back)
    left = xp.matmul(xp.matmul(gh, y), back)
    right = xp.matmul(back, xp.matmul(y, gh))
    outside = left - xp.matmul(x, xp.matmul(y, left)) + right
    return across + outside - xp.matmul(right, xp.matmul(y, x))


_pinv = special(
    "linalg.pinv",
    _pinv_rule,
    params=("rtol",),
    compute=_pseudo_inverse,
    batch=with_tolerance,
    samples=[
        sample((3, 2), rtol=None),
        sample((2, 2, 3), rtol=1e-10),
        sample((2, 2), rtol=None),
        sample((2, 3, 2), rtol=np.array([1e-10, 1e-9])),
    ],
    inputs=lambda x: [x + 3 * np.eye(*x.shape[-2:])],
    reference=lambda x, rtol: np.linalg.pinv(x, rtol=rtol),
    rounding=10,
)


def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """Return the pseudo-inverses of matrices.

    Singular values up to `rtol` times the largest are taken for zero; by default `rtol` is the
    larger side of the matrix times the rounding error. Its derivative is the one among
    matrices of the same rank; a matrix that is not of full rank has no other.
    `wg.linalg.pinv([[2.0], [0.0]])` is `[[0.5, 0.0]]`.
    """
    x = matrices(x, "pinv")
    return _pinv(x, rtol=tolerance(rtol, "pinv"))


class LstsqResult(NamedTuple):
    """A solution of least squares, what is left of each column, the rank, singular values."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def lstsq(a: Any, b: Any, /, *, rcond: float | None = None) -> LstsqResult:
    """Return the x of least |a @ x - b|, and of these the least, with NumPy's further results.

    They are the sums of squares that are left of each column of b (none where a has fewer rows
    than columns or is not of full rank), the rank of a, and its singular values. Those up to
    `rcond` times the largest are taken for zero, as in `pinv`, whose derivative this has.
    Matrices a and b may be batches.
    `wg.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0]).solution` is `[2.0]`.
    """
    a = matrices(a, "lstsq")
    right, is_vector = columns(a, b, "lstsq")
    a, right = promoted(a, right)
    rows, unknowns = a.shape[-2:]
    if rcond is None or rcond < 0:
        rcond = max(rows, unknowns) * eps(a.dtype)
    x = matmul(pinv(a, rtol=rcond), right)
    s = svdvals(a)
    rank = reductions.count_nonzero(s > rcond * largest(Tensor._namespace, s), axis=-1)
    ranks = known(rank)  # None while a compiler traces
    if rows > unknowns and ranks is not None and np.all(ranks == unknowns):
        left = elementwise.abs_(right - matmul(a, x))
        residuals = reductions.sum(elementwise.square(left), axis=-2)
    else:
        residuals = constant(np.zeros(0), s)
    x = shapes.squeeze(x, axis=-1) if is_vector else x
    return LstsqResult(x, residuals, rank, s)
