"""Equations whose matrices have few diagonals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.engine.cotangents import unbroadcast
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError
from wengert.ops import batching, shapes
from wengert.ops.checks import misfit
from wengert.ops.contractions import conj
from wengert.ops.families import joint, sample
from wengert.ops.linalg.safeguards import checked, floating, matrices, promoted

__all__ = ["solve_banded"]


def _row_by_row(xp: Any, x: Any, before: int, after: int) -> Any:
    """Return row r of x moved by r columns to the left, with zeros around it."""
    wide = xp.pad(x, [*[(0, 0)] * (x.ndim - 1), (before, after)])
    rows = [wide[..., r : r + 1, r : r + x.shape[-1]] for r in range(x.shape[-2])]
    return xp.concat(rows, axis=-2)


def _transposed(xp: Any, ab: Any, lower: int, upper: int) -> Any:
    """Return the diagonals of the transpose, which has `upper` of them below the main one."""
    return _row_by_row(xp, xp.flip(ab, axis=-2), lower, upper)


def dense(ab: np.ndarray, upper: int) -> np.ndarray:
    """Return the matrices that diagonals make."""
    n = ab.shape[-1]
    out = np.zeros((*ab.shape[:-2], n, n), ab.dtype)
    for row in range(ab.shape[-2]):
        columns = np.arange(max(0, upper - row), min(n, n + upper - row))
        out[..., columns + row - upper, columns] = ab[..., row, columns]
    return out


def _solved(xp: Any, ab: Any, b: Any, lower: int, upper: int) -> Any:
    def compute(ab: Any, b: Any) -> Any:
        return xp.linalg.banded_solve(ab, b, lower, upper)

    def probe(ab: np.ndarray) -> None:
        np.linalg.inv(dense(ab, upper))

    return checked(xp, "solve_banded", "singular", probe, compute, ab, b)


def _rule(
    xp: Any, g: Any, y: Any, ab: Any, ab_shape: Any, b_shape: Any, lower: int, upper: int
) -> Any:
    across = conj(xp, _transposed(xp, ab, lower, upper))
    if across.dtype != g.dtype:
        across = xp.astype(across, g.dtype)
    b_bar = _of(xp, across, g, upper, lower)
    wide = xp.pad(b_bar, [*[(0, 0)] * (b_bar.ndim - 2), (upper, lower), (0, 0)])
    n, turned = b_bar.shape[-2], conj(xp, y)
    rows = [xp.sum(wide[..., r : r + n, :] * turned, axis=-1) for r in range(lower + upper + 1)]
    return unbroadcast(xp, -xp.stack(rows, axis=-2), ab_shape), unbroadcast(xp, b_bar, b_shape)


_solve_banded = joint(
    "linalg.solve_banded",
    _rule,
    args=("ab", "b"),
    params=("lower", "upper"),
    compute=_solved,
    batch=batching.as_it_is,
    samples=[
        sample((3, 4), (4, 2), lower=1, upper=1),
        sample((2, 4, 3), (3, 1), lower=2, upper=1),
        sample((2, 3), (2, 3, 2), lower=0, upper=1),
    ],
    inputs=lambda ab, b: [ab + 3 * (np.arange(ab.shape[-2]) == 1)[:, None], b],
    rounding=10,
)


def _of(xp: Any, ab: Any, b: Any, lower: int, upper: int) -> Any:
    """Return the solution, on raw arrays or tensors."""
    if type(ab) is Tensor or type(b) is Tensor:
        return _solve_banded(ab, b, lower=lower, upper=upper)
    return _solved(xp, ab, b, lower, upper)


def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any, /) -> Tensor:
    """Return x of a @ x = b, for a matrix a with l diagonals below the main one and u above.

    Row i of `ab` has the diagonal that lies u - i above the main one: `ab[u + i - j, j]` is
    `a[i, j]`. b is a vector, if it has one axis, or matrices.
    `wg.linalg.solve_banded((0, 1), [[0.0, 1.0], [2.0, 4.0]], [3.0, 4.0])` is `[1.0, 1.0]`.
    """
    lower, upper = map(operator.index, l_and_u)
    ab, b = matrices(ab, "solve_banded"), floating(b, "solve_banded")
    if lower < 0 or upper < 0 or ab.shape[-2] != lower + upper + 1:
        raise ShapeError(
            f"linalg.solve_banded: {lower} diagonals below and {upper} above, and ab of shape "
            f"{ab.shape}; expected one row for each of them and one for the main diagonal"
        )
    is_vector, n = b.ndim == 1, ab.shape[-1]
    if not b.ndim or b.shape[-2 if b.ndim > 1 else 0] != n:
        raise misfit("linalg.solve_banded", f"b of ({n},) or (..., {n}, k)", ab=ab, b=b)
    b = shapes.expand_dims(b, axis=1) if is_vector else b
    x = _solve_banded(*promoted(ab, b), lower=lower, upper=upper)
    return shapes.squeeze(x, axis=-1) if is_vector else x
