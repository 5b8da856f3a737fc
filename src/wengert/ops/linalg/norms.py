"""One number for a vector or a matrix: norms, condition and rank."""

from __future__ import annotations

import math
from typing import Any, Never

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor
from wengert.ops import batching, elementwise, reductions, shapes
from wengert.ops.checks import check_option
from wengert.ops.families import axes as normalised
from wengert.ops.families import reduction, sample, zero
from wengert.ops.linalg.decompositions import svdvals
from wengert.ops.linalg.safeguards import (
    floating,
    largest,
    matrices,
    rounding,
    tolerance,
    with_tolerance,
)
from wengert.ops.linalg.solving import inverse
from wengert.other_names import answers, unexpected

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]


def _power_norm(xp: Any, x: Any, axis: Any, keepdims: bool, ord: float) -> Any:
    size = xp.abs(x)
    if ord == 2:
        return xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdims))
    if ord > 0:
        return xp.sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)
    # an element that is 0 makes a negative power infinite, and the norm 0
    none = size == 0
    total = xp.sum(xp.where(none, xp.ones_like(size), size) ** ord, axis=axis, keepdims=keepdims)
    some = xp.any(none, axis=axis, keepdims=keepdims)
    return xp.where(some, xp.zeros_like(total), total ** (1 / ord))


def _power_norm_rule(xp: Any, g: Any, x: Any, y: Any, ord: float) -> Any:
    """Return g times x / |x| times (|x| / y) ** (ord - 1), and 0 where x or y is 0."""
    none = y == 0
    length = xp.where(none, xp.ones_like(y), y)
    if ord == 2:
        return xp.keep(g / length, ~none) * x
    size = xp.abs(x)
    blank = size == 0
    safe = xp.where(blank, xp.ones_like(size), size)
    ratio = (safe / length) ** (ord - 1)
    return xp.keep(g * ratio, xp.logical_not(xp.logical_or(blank, none))) * (x / safe)


_norm = reduction(
    "linalg.vector_norm",
    _power_norm_rule,
    params=("axis", "keepdims", "ord"),
    compute=_power_norm,
    samples=[
        sample((2, 3), axis=(1,), keepdims=False, ord=2),
        sample((2, 3), axis=(0, 1), keepdims=True, ord=3),
        sample((4,), axis=(0,), keepdims=False, ord=0.5),
        sample((2, 3), axis=(0,), keepdims=False, ord=-1.5),
        sample((0, 3), axis=(0,), keepdims=False, ord=2),
        sample((2,), axis=(), keepdims=False, ord=2),
    ],
    reference=lambda x, axis, keepdims, ord: np.linalg.vector_norm(
        x, axis=axis, keepdims=keepdims, ord=ord
    ),
)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Return the norms of vectors along `axis` (an axis, a tuple of them, or all).

    `ord` is a number p, for the p-th root of the sum of p-th powers of sizes, or inf or -inf
    for the largest or the smallest size, or 0 for how many are not zero. The derivative at 0
    is 0. `wg.linalg.vector_norm([3.0, 4.0])` is `5.0`.
    """
    x = floating(x, "vector_norm")
    along = normalised(axis, x.ndim, "linalg.vector_norm")
    if isinstance(ord, bool) or not isinstance(ord, (int, float, np.integer, np.floating)):
        raise ValueError(f"linalg.vector_norm: ord={ord!r}; expected a number, inf or -inf")
    ord = float(ord)
    if ord not in (0, 1, math.inf, -math.inf):
        return _norm(x, axis=along, keepdims=keepdims, ord=2 if ord == 2 else ord)
    size = elementwise.abs_(x)
    if ord == 0:
        count = reductions.count_nonzero(size, axis=along, keepdims=keepdims)
        return elementwise.astype(count, size.dtype)
    if ord == 1:
        return reductions.sum(size, axis=along, keepdims=keepdims)
    reduce = reductions.max if ord > 0 else reductions.min
    return reduce(size, axis=along, keepdims=keepdims)


_MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Return the norms of matrices.

    `ord` is "fro" (the root of the sum of squares), "nuc" (the sum of singular values), 2 or
    -2 (the largest or the smallest of them), 1 or -1 (the largest or smallest sum of sizes of
    a column), inf or -inf (of a row). The derivative at 0 is 0; where several are the largest,
    they share it. `wg.linalg.matrix_norm([[1.0, 2.0], [3.0, 4.0]], ord=1)` is `6.0`.
    """
    x = matrices(x, "matrix_norm")
    if ord is None or ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    check_option("linalg.matrix_norm", "ord", ord, _MATRIX_NORMS)
    if ord == "nuc":
        y = reductions.sum(_without_zeros(svdvals(x)), axis=-1, keepdims=True)
    elif abs(ord) == 2:
        s = svdvals(x)
        reduce = reductions.max if ord > 0 else reductions.min
        y = reduce(_without_zeros(s), axis=-1, keepdims=True)
    else:
        sums = reductions.sum(elementwise.abs_(x), axis=-2 if abs(ord) == 1 else -1)
        y = (reductions.max if ord > 0 else reductions.min)(sums, axis=-1, keepdims=True)
    return shapes.expand_dims(y, axis=-1) if keepdims else shapes.squeeze(y, axis=-1)


def _without_zeros(s: Tensor) -> Tensor:
    """Return singular values, those that are 0 but for rounding without a derivative."""
    limit = largest(Tensor._namespace, s) * rounding(s.shape[-1], s.dtype)
    return elementwise.where(s > limit, s, batching.constant(s))


@answers
def norm(
    x: Any, /, ord: Any = None, axis: Any = None, keepdims: bool = False, **others: Never
) -> Tensor:
    """Return NumPy's norm: of vectors along one axis, of matrices on two, or of all elements.

    Without `ord` it is the root of the sum of squares, of all elements or along `axis`.
    `wg.linalg.norm([[3.0, 4.0], [0.0, 5.0]], axis=1)` is `[5.0, 5.0]`.
    """
    if others:
        raise unexpected(norm, others)
    x = floating(x, "norm")
    if ord is None:
        return vector_norm(x, axis=axis, keepdims=keepdims)
    along = normalised(axis, x.ndim, "linalg.norm")
    if len(along) not in (1, 2):
        raise ValueError(f"linalg.norm: ord={ord!r} and {len(along)} axes; say which one or two")
    if len(along) == 1:
        return vector_norm(x, axis=along, keepdims=keepdims, ord=ord)
    y = matrix_norm(shapes.moveaxis(x, along, (-2, -1)), ord=ord)
    return shapes.expand_dims(y, axis=along) if keepdims else y


def cond(x: Any, /, p: Any = None) -> Tensor:
    """Return the condition numbers of matrices: their norm times the norm of their inverse.

    `p` is an `ord` of `matrix_norm`, and 2 if it is None; then matrices need not be square.
    `wg.linalg.cond([[2.0, 0.0], [0.0, 0.5]])` is `4.0`.
    """
    x = matrices(x, "cond", square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        s = svdvals(x)
        first, last = (0, -1) if p != -2 else (-1, 0)
        return s[..., first] / s[..., last]
    return matrix_norm(x, ord=p) * matrix_norm(inverse(x), ord=p)


_rank = zero(
    "linalg.matrix_rank",
    params=("rtol",),
    compute=lambda xp, x, rtol: _counted(xp, x, rtol),
    batch=with_tolerance,
    samples=[
        sample((3, 3), rtol=None),
        sample((2, 3, 2), rtol=0.1),
        sample((2, 2), rtol=np.array(0.5)),
    ],
    kinds="fc",
    reference=lambda x, rtol: np.linalg.matrix_rank(x, rtol=rtol),
)


def _counted(xp: Any, x: Any, rtol: Any) -> Any:
    if rtol is None:
        return xp.linalg.matrix_rank(x)
    if xp is backends.NUMPY:
        return np.linalg.matrix_rank(x, rtol=rtol)
    real = xp.real(x).dtype if elementwise.is_complex(x) else x.dtype
    return xp.linalg.matrix_rank(x, rtol=xp.asarray(rtol, dtype=real))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """Return how many singular values exceed `rtol` times the largest, as integers.

    By default `rtol` is the larger side of the matrix times the rounding error.
    `wg.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]])` is `1`.
    """
    x = matrices(x, "matrix_rank")
    return _rank(x, rtol=tolerance(rtol, "matrix_rank"))
