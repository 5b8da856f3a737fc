"""Products and rearrangements of matrices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.ops import elementwise, joining, reductions, shapes
from wengert.ops.checks import misfit
from wengert.ops.contractions import matmul, outer, tensordot, vecdot
from wengert.ops.families import composite, one_axis, sample
from wengert.ops.linalg.safeguards import constant, matrices, promoted
from wengert.ops.linalg.solving import inv
from wengert.ops.shapes import matrix_transpose

__all__ = [
    "block_diag", "cross", "diagonal", "kron", "matmul", "matrix_power", "matrix_transpose",
    "multi_dot", "outer", "tensordot", "trace", "vecdot",
]  # fmt: skip


@composite(
    "linalg.cross",
    samples=[sample((3,), (3,)), sample((2, 3), (3,)), sample((3, 2), (3, 1), axis=0)],
)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements, which lie along `axis`.

    `wg.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])` is `[0.0, 0.0, 1.0]`.
    """
    x1, x2 = shapes.tensor(x1, "linalg.cross"), shapes.tensor(x2, "linalg.cross")
    ndim = max(x1.ndim, x2.ndim)
    axis = one_axis(axis, ndim, "linalg.cross") - ndim
    if any(-axis > x.ndim or x.shape[axis] != 3 for x in (x1, x2)):
        raise misfit("linalg.cross", f"length 3 along axis {axis}", x1=x1, x2=x2)
    after, before = [[shapes.roll(x, shift, axis=axis) for x in (x1, x2)] for shift in (-1, 1)]
    return after[0] * before[1] - before[0] * after[1]


@composite(
    "linalg.diagonal", samples=[sample((3, 3)), sample((2, 3, 4), offset=1), sample((0, 2, 2))]
)
def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """Return the diagonals of matrices, or those `offset` columns to the right.

    `wg.linalg.diagonal([[1.0, 2.0], [3.0, 4.0]])` is `[1.0, 4.0]`.
    """
    x = shapes.tensor(x, "linalg.diagonal")
    if x.ndim < 2:
        raise misfit("linalg.diagonal", "matrices", x=x)
    return shapes.diagonal(x, offset=offset, axis1=-2, axis2=-1)


@composite("linalg.trace", samples=[sample((3, 3)), sample((2, 3, 4), offset=-1)])
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Return the sums of the diagonals of matrices.

    `wg.linalg.trace([[1.0, 2.0], [3.0, 4.0]])` is `5.0`.
    """
    return reductions.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@composite(
    "linalg.kron",
    samples=[sample((2, 3), (2, 2)), sample((2,), (3, 2)), sample((), (2,))],
    reference=np.kron,
)
def kron(a: Any, b: Any, /) -> Tensor:
    """Return the Kronecker product: the blocks a[i, j] * b, along all axes.

    `wg.linalg.kron([1.0, 2.0], [3.0, 4.0])` is `[3.0, 4.0, 6.0, 8.0]`.
    """
    a, b = shapes.tensor(a, "linalg.kron"), shapes.tensor(b, "linalg.kron")
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    a = shapes.reshape(a, [n for length in left for n in (length, 1)])
    b = shapes.reshape(b, [n for length in right for n in (1, length)])
    lengths = [m * n for m, n in zip(left, right, strict=True)]
    return shapes.reshape(elementwise.multiply(a, b), lengths)


def block_diag(*arrays: Any) -> Tensor:
    """Return a matrix with the given matrices along its diagonal, and zeros.

    A vector is a matrix of one row, a number one of one element. Axes before the last two are
    a batch, and broadcast.
    `wg.linalg.block_diag([[1.0]], [[2.0, 3.0]])` is `[[1.0, 0.0, 0.0], [0.0, 2.0, 3.0]]`.
    """
    if not arrays:
        raise ValueError("linalg.block_diag: got no matrices; expected at least one")
    tensors = promoted(*(shapes.tensor(x, "linalg.block_diag") for x in arrays))
    blocks = [
        shapes.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x for x in tensors
    ]
    batch = shapes.broadcast_shapes(*(x.shape[:-2] for x in blocks))
    width = sum(x.shape[-1] for x in blocks)
    rows, left = [], 0
    for x in blocks:
        x = shapes.broadcast_to(x, batch + x.shape[-2:])
        around = [(0, 0)] * (x.ndim - 1) + [(left, width - left - x.shape[-1])]
        rows.append(shapes.pad(x, around))
        left += x.shape[-1]
    return joining.concat(rows, axis=-2)


def multi_dot(arrays: Sequence[Any], /) -> Tensor:
    """Return the product of two or more matrices, in the order that takes the fewest steps.

    The first and the last may be vectors.
    `wg.linalg.multi_dot([[1.0, 2.0], np.eye(2), [3.0, 4.0]])` is `11.0`.
    """
    tensors = [shapes.tensor(x, "linalg.multi_dot") for x in arrays]
    if len(tensors) < 2:
        raise ValueError(f"linalg.multi_dot: got {len(tensors)} arrays; expected at least two")
    row, column = tensors[0].ndim == 1, tensors[-1].ndim == 1
    tensors[0] = shapes.expand_dims(tensors[0], axis=0) if row else tensors[0]
    tensors[-1] = shapes.expand_dims(tensors[-1], axis=1) if column else tensors[-1]
    if any(x.ndim != 2 for x in tensors):
        given = {f"arrays[{i}]": x for i, x in enumerate(tensors)}
        raise misfit("linalg.multi_dot", "matrices, and vectors at the ends", **given)
    sizes = [x.shape[0] for x in tensors] + [tensors[-1].shape[1]]
    product = _in_order(tensors, _best_splits(sizes), 0, len(tensors) - 1)
    dropped = (0,) * row + (1,) * column
    return shapes.squeeze(product, axis=dropped) if dropped else product


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each run of factors, by the classical dynamic programme."""
    count = len(sizes) - 1
    costs: dict[tuple[int, int], int] = {(i, i): 0 for i in range(count)}
    splits = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = {
                k: costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            splits[i, j] = min(options, key=options.__getitem__)
            costs[i, j] = options[splits[i, j]]
    return splits


def _in_order(tensors: list[Tensor], splits: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return tensors[i]
    k = splits[i, j]
    return matmul(_in_order(tensors, splits, i, k), _in_order(tensors, splits, k + 1, j))


def matrix_power(x: Any, n: int, /) -> Tensor:
    """Return the n-th power of square matrices; for negative n, of their inverses.

    `wg.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3)` is `[[1.0, 3.0], [0.0, 1.0]]`.
    """
    if not isinstance(n, (int, np.integer)):
        raise TypeError(f"linalg.matrix_power: n is {n!r}; expected an integer")
    x = shapes.tensor(x, "linalg.matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise misfit("linalg.matrix_power", "square matrices", x=x)
    if n < 0:
        return matrix_power(inv(matrices(x, "matrix_power")), -n)
    if n == 0:
        return shapes.broadcast_to(constant(np.eye(x.shape[-1]), x), x.shape)
    squares = x
    factors = []
    while n:
        if n & 1:
            factors.append(squares)
        n >>= 1
        squares = matmul(squares, squares) if n else squares
    return functools.reduce(matmul, factors) if len(factors) > 1 else shapes.renewed(factors[0])
