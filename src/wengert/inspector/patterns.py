"""Sparsity patterns of what was recorded: Jacobians and Hessians, and groups of a colouring."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from wengert import backends
from wengert.engine.node import Node
from wengert.engine.sweep import ancestors
from wengert.engine.tensor import Tensor
from wengert.transforms.sparse.colouring import Colouring, jacobian_colouring, symmetric_colouring
from wengert.transforms.sparse.pattern import find_cut, find_pattern
from wengert.transforms.tape import GradientTape

#: The most rows or columns of a matrix whose pattern is looked for.
MOST = 100_000


class Pattern(NamedTuple):
    """Which elements of a matrix there are, and for each, in which sweep it is found."""

    matrix: csr_array
    groups: np.ndarray
    colouring: Colouring


def jacobian_pattern(tape: GradientTape, target: Tensor, source: Tensor) -> Pattern:
    """Return the pattern of the Jacobian of a recorded tensor by another."""
    found = _pattern(tape, target, source)
    return _coloured(found, jacobian_colouring(found))


def hessian_pattern(tape: GradientTape, target: Tensor, source: Tensor) -> Pattern:
    """Return the pattern of the Hessian of a recorded number by a tensor."""
    if target.size != 1:
        raise ValueError(
            f"a Hessian is of one number, and the target has shape {target.shape}; choose a target "
            "with one element, or the Jacobian"
        )
    with tape:  # which records the sweep
        gradient = tape.gradient(target, source)
    if gradient is None or gradient._node is None:
        size = source.size
        found = csr_array((size, size), dtype=bool)
    else:
        found = _pattern(tape, gradient, source)
        found = csr_array(found + found.T)  # a symmetric matrix, however each half was found
    return _coloured(found, symmetric_colouring(found))


def _pattern(tape: GradientTape, target: Tensor, source: Tensor) -> csr_array:
    height, width = target.size, source.size
    if max(height, width) > MOST:
        raise ValueError(
            f"the matrix would have {height:,} x {width:,} elements; a pattern is looked for up to "
            f"{MOST:,} rows and columns, so choose smaller tensors"
        )
    end: Any = target._node
    start: Any = source._node
    nodes: list[Node] = ancestors([end], tape._token)[::-1]
    if start not in nodes:
        return csr_array((height, width), dtype=bool)
    xp = backends.namespace_of(target._raw)
    cut = find_cut(xp, nodes, start, end)
    inner = find_pattern(xp, nodes, cut, end)
    rows = np.repeat(np.arange(height), np.diff(inner.indptr))
    columns = cut.sources[inner.indices]
    real = columns >= 0
    ones = np.ones(int(real.sum()), bool)
    found = csr_array((ones, (rows[real], columns[real])), shape=(height, width))
    found.sum_duplicates()
    found.sort_indices()
    return found


def _coloured(matrix: csr_array, colouring: Colouring) -> Pattern:
    height, width = matrix.shape
    border = colouring.column_colours * height
    by_column = colouring.index < border
    groups = np.where(
        by_column,
        colouring.index // max(height, 1),
        colouring.column_colours + (colouring.index - border) // max(width, 1),
    )
    return Pattern(matrix, groups, colouring)


def density(pattern: Pattern) -> float:
    """Return which share of the matrix's elements there are."""
    total = math.prod(pattern.matrix.shape)
    return pattern.matrix.nnz / total if total else 0.0
