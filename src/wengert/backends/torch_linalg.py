"""Linear algebra on PyTorch's arrays: what our rules need beyond the extension of the standard."""

from __future__ import annotations

from typing import Any

import torch


def _alike(*arrays: Any) -> list[Any]:
    """Return arrays in one dtype."""
    dtype = arrays[0].dtype
    for array in arrays[1:]:
        dtype = torch.promote_types(dtype, array.dtype)
    return [array.to(dtype) for array in arrays]


def solve(a: Any, b: Any) -> Any:
    """Return x of a x = b, for matrices b."""
    return torch.linalg.solve(*_alike(a, b))


def expm(x: Any) -> Any:
    """Return the exponentials of matrices."""
    return torch.linalg.matrix_exp(x)


def lu_factors(x: Any) -> tuple[Any, Any, Any, Any]:
    """Return L and U in one matrix, pivots, the order of rows, and the first pivot that is 0."""
    factors, pivots, info = torch.linalg.lu_factor_ex(x)
    return factors, pivots, lu_order(pivots, x.shape[-2]), info


def lu_order(pivots: Any, rows: int) -> Any:
    """Return the order of rows that LAPACK's exchanges, which count from 1, lead to."""
    batch = pivots.shape[:-1]
    order = torch.arange(rows, device=pivots.device).expand(*batch, rows).clone()
    for k in range(pivots.shape[-1]):
        other = pivots[..., k : k + 1].to(torch.int64) - 1
        here = order[..., k : k + 1].clone()
        order[..., k : k + 1] = torch.gather(order, -1, other)
        order = order.scatter(-1, other, here)
    return order


def banded_solve(ab: Any, b: Any, lower: int, upper: int) -> Any:
    """Return x of a x = b, where ab has the diagonals of a, by the whole matrix a."""
    ab, b = _alike(ab, b)
    n = ab.shape[-1]
    a = ab.new_zeros((*ab.shape[:-2], n, n))
    for row in range(lower + upper + 1):
        first, last = max(0, upper - row), min(n, n + upper - row)
        if last > first:
            torch.diagonal(a, upper - row, -2, -1)[...] = ab[..., row, first:last]
    return torch.linalg.solve(a, b)
