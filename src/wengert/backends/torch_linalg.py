"""Linear algebra on PyTorch's arrays: what our rules need beyond the extension of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from wengert.backends.numpy_linalg import inside_out
from wengert.backends.torch_kernels import tensor


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


def triangular_solve(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    """Return the solution of a x = b, reading only one triangle of a."""
    a, b = _alike(a, b)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (m.expand(*batch, *m.shape[-2:]) for m in (a, b))
    return torch.linalg.solve_triangular(a, b, upper=not lower, unitriangular=unit)


def congruence(l: Any, q: Any) -> Any:  # noqa: E741
    """Return l^-H q l^-1 for lower triangular l."""
    l, q = _alike(l, q)  # noqa: E741
    half = torch.linalg.solve_triangular(l.mH, q, upper=True)
    return torch.linalg.solve_triangular(l, half, upper=False, left=False)


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


def cofactor(x: Any) -> Any:
    """Return the matrices of cofactors: the derivative of the determinant.

    By singular values, which is right for any matrix, and needs no look at the values.
    """
    u, s, vh = torch.linalg.svd(x)
    order = inside_out(s.shape[-1])
    mixed = s[..., tensor(order, x.device)]
    ones = torch.ones_like(s[..., :1])
    before = torch.cumprod(torch.cat([ones, mixed[..., :-1]], -1), -1)
    after = torch.cumprod(torch.cat([ones, torch.flip(mixed[..., 1:], (-1,))], -1), -1)
    others = (before * torch.flip(after, (-1,)))[..., tensor(order.argsort(), x.device)]
    phase = torch.linalg.det(u) * torch.linalg.det(vh)
    return phase[..., None, None] * torch.conj((u * others[..., None, :]) @ vh).resolve_conj()
