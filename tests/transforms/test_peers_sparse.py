"""Colourings beside those of asdex: never more colours, on patterns of many kinds."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import block_array, coo_array, csr_array, diags_array, eye_array, kron

from tests.transforms.colourings import verify
from wengert.transforms.sparse.colouring import jacobian_colouring, symmetric_colouring

pytestmark = pytest.mark.peers


def line(n: int, periodic: bool) -> csr_array:
    matrix = diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    if periodic:
        matrix[0, n - 1] = matrix[n - 1, 0] = 1
    return csr_array(matrix)


def plane(n: int, periodic: bool) -> csr_array:
    one, each = line(n, periodic), eye_array(n)
    return csr_array(kron(one, each, "csr") + kron(each, one, "csr"))


def space(n: int, periodic: bool) -> csr_array:
    one, each = line(n, periodic), eye_array(n)
    across = kron(plane(n, periodic), each, "csr")
    return csr_array(across + kron(eye_array(n * n), one, "csr"))


def brusselator(n: int, species_first: bool) -> csr_array:
    """Return the pattern of two species on a periodic grid, coupled at each point."""
    one, each = plane(n, True), eye_array(n * n)
    blocks = csr_array(block_array([[one, each], [each, one]]))
    if species_first:
        return blocks
    order = np.arange(2 * n * n).reshape(2, -1).T.ravel()
    return blocks[order][:, order]


def arrow(n: int, diagonal: bool = True) -> csr_array:
    i = np.arange(n)
    rows, columns = np.concatenate([i, 0 * i[1:], i[1:]]), np.concatenate([i, i[1:], 0 * i[1:]])
    kept = slice(None) if diagonal else slice(n, None)
    places = rows[kept], columns[kept]
    return csr_array(coo_array((np.ones(len(places[0])), places), shape=(n, n)))


def scattered(m: int, n: int, density: float) -> csr_array:
    return csr_array((np.random.default_rng(m + n).random((m, n)) < density).astype(float))


def clean(matrix: csr_array) -> csr_array:
    matrix = csr_array(matrix)
    matrix.eliminate_zeros()
    matrix.sum_duplicates()
    return matrix


PATTERNS: dict[str, Callable[[], csr_array]] = {
    "line": lambda: line(1000, False),
    "ring": lambda: line(1000, True),
    "plane": lambda: plane(50, False),
    "torus": lambda: plane(64, True),
    "space": lambda: space(12, False),
    "periodic space": lambda: space(12, True),
    "nine points": lambda: kron(line(30, False), line(30, False), "csr"),
    "brusselator, species first": lambda: brusselator(64, True),
    "brusselator, species last": lambda: brusselator(64, False),
    "arrow": lambda: arrow(60),
    "arrow without a diagonal": lambda: arrow(60, False),
    "scattered": lambda: scattered(500, 500, 0.006),
    "scattered, thinner": lambda: scattered(1500, 1500, 0.001),
    "scattered, tall": lambda: scattered(600, 200, 0.01),
    "scattered, wide": lambda: scattered(200, 600, 0.01),
    "dense": lambda: scattered(20, 20, 1.1),
}


def theirs(pattern: csr_array, kind: str, **options: str) -> int:
    """Return how many colours asdex needs; it warns where it finds that it saves nothing."""
    import asdex  # here, because collecting the tests must not take seconds

    rows, columns = pattern.nonzero()
    sparsity = asdex.SparsityPattern.from_coo(rows, columns, pattern.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", asdex.DenseColoringWarning)
        return getattr(asdex, f"{kind}_coloring_from_sparsity")(sparsity, **options).num_colors


@pytest.mark.parametrize("name", PATTERNS)
def test_jacobian_colours(name: str) -> None:
    pattern = clean(PATTERNS[name]())
    for ours, mode in (("forward", {"mode": "fwd"}), ("reverse", {"mode": "rev"}), ("auto", {})):
        colouring = jacobian_colouring(pattern, ours)
        assert verify(pattern, colouring)
        assert colouring.colours <= theirs(pattern, "jacobian", **mode), ours


@pytest.mark.parametrize("name", PATTERNS)
def test_hessian_colours(name: str) -> None:
    pattern = PATTERNS[name]()
    if pattern.shape[0] != pattern.shape[1]:
        pattern = pattern @ pattern.T
    pattern = clean(pattern + pattern.T)
    colouring = symmetric_colouring(pattern)
    assert verify(pattern, colouring)
    assert colouring.colours <= theirs(pattern, "hessian")
