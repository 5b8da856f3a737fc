"""Matrices by their diagonals: triangles, diagonals put into matrices, powers of a vector."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.copies import copied
from wengert.dialects.torch.creation import creates
from wengert.dialects.torch.kinds import Bool, Dtype, Input, Int, NewAxis, summed
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, ns, wrap_native
from wengert.dialects.torch.views import check_different, diagonals


def _triangle(name: str, indices: Callable[..., Any]) -> None:
    """Offer `tril` or `triu`, and the indices of such a triangle."""

    def triangle(input: Input, diagonal: Int = 0) -> Native:
        if input.ndim < 2:
            raise RuntimeError(f"{name}: got shape {list(input.shape)}; give a matrix")
        return getattr(ns, name)(input, k=diagonal)

    def positions(row: Int, col: Int, offset: Int = 0, *, dtype: Dtype | None = None) -> np.ndarray:
        if row < 0 or col < 0:
            raise RuntimeError(f"got {row} rows and {col} columns; give 0 or more of each")
        return np.array(indices(row, offset, col)).astype(dtype or np.int64)

    triangle.__name__, positions.__name__ = name, f"{name}_indices"
    triangle.__doc__ = f"Return the {'lower' if name == 'tril' else 'upper'} triangle of matrices."
    positions.__doc__ = "Return the rows and columns of the elements of a triangle of a matrix."
    offered(name, in_place=True)(triangle)
    creates(f"{name}_indices")(positions)


_triangle("tril", np.tril_indices)
_triangle("triu", np.triu_indices)


def _on_diagonal(x: Native, offset: int, dim1: int = 0, dim2: int = 1) -> Native:
    """Return zeros with the last axis of x on the diagonals of two axes."""
    *lead, n = x.shape
    n += abs(offset)
    zeros = wrap_native(np.zeros((*lead, n, n), x.dtype))
    found = memory.with_part(zeros, lambda y: diagonals(y, offset, len(lead), len(lead) + 1), x)
    return ns.moveaxis(found, (-2, -1), (dim1, dim2))


@offered("diag_embed")
def diag_embed(input: Input, offset: Int = 0, dim1: NewAxis = -2, dim2: NewAxis = -1) -> Native:
    """Return matrices with the last axis on a diagonal, and zeros elsewhere."""
    check_different(dim1, dim2)
    return _on_diagonal(input, offset, dim1, dim2)


@offered("diag", label="DiagEmbedBackward0")
def diag(input: Input, diagonal: Int = 0) -> Native:
    """Return a matrix with a diagonal, or the diagonal of a matrix, as a copy."""
    if input.ndim == 1:
        return _on_diagonal(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): the tensor has {input.ndim} axes; give a vector or a matrix")
    return copied(ns.diagonal(input, offset=diagonal))


@offered("diagflat", label="DiagEmbedBackward0")
def diagflat(input: Input, offset: Int = 0) -> Native:
    """Return a matrix with all elements of a tensor on a diagonal."""
    return _on_diagonal(ns.reshape(input, (-1,)), offset)


@offered("vander", method=False, label="FlipBackward0")
def vander(x: Input, N: Int | None = None, increasing: Bool = False) -> Native:
    """Return the matrix of powers of the elements of a vector."""
    count = x.size if N is None else N
    if x.ndim != 1 or count < 0:
        raise misfit("vander", "a vector, and N of 0 or more", x=x, N=N)
    values = summed(x)
    ones = ns.ones_like(values)
    columns = list(itertools.accumulate([ones, *[values] * (count - 1)][:count], ns.multiply))
    if not columns:
        return wrap_native(np.zeros((x.size, 0), values.dtype))
    return ns.stack(columns if increasing else columns[::-1], axis=1)
