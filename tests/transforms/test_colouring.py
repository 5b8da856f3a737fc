"""Colourings: every matrix with the pattern comes back, and with few sweeps."""

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import block_array, coo_array, csc_array, csr_array, diags_array, eye_array, kron

from tests.transforms.colourings import verify
from wengert.transforms.sparse import colouring as module
from wengert.transforms.sparse.colouring import (
    Colouring,
    jacobian_colouring,
    symmetric_colouring,
)

JACOBIAN = ("auto", "forward", "reverse", "both")
SYMMETRIC = ("star", "acyclic")


def pattern_of(matrix: Any) -> csr_array:
    """Return the pattern of a matrix; the stored values are zeros, for they must not matter."""
    matrix = csr_array(matrix)
    matrix.eliminate_zeros()
    matrix.sum_duplicates()
    return csr_array((0 * matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def band(n: int, *offsets: int) -> csr_array:
    return pattern_of(diags_array([np.ones(n - abs(k)) for k in offsets], offsets=offsets))


def arrow(n: int, rows: int = 1, columns: int = 1) -> csr_array:
    i = np.arange(n)
    parts = [(i, i)]
    parts += [(np.full(n, k), i) for k in range(rows)]
    parts += [(i, np.full(n, k)) for k in range(columns)]
    places = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    return pattern_of(coo_array((np.ones(len(places[0])), places), shape=(n, n)))


def grid(n: int, dimensions: int, periodic: bool) -> csr_array:
    """Return the pattern of a Laplacian on a regular grid."""
    line = diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    if periodic:
        line[0, n - 1] = line[n - 1, 0] = 1
    total = csr_array((n**dimensions, n**dimensions))
    for axis in range(dimensions):
        before, after = eye_array(n**axis), eye_array(n ** (dimensions - 1 - axis))
        total = total + kron(kron(before, line, "csr"), after, "csr")
    return pattern_of(total)


def brusselator(n: int, species_first: bool) -> csr_array:
    """Return the pattern of two species on a periodic grid, coupled at each point."""
    space = grid(n, 2, True)
    space.data[:] = 1
    points = eye_array(n * n, format="csr")
    blocks = block_array([[space, points], [points, space]], format="csr")
    if not species_first:
        order = np.arange(2 * n * n).reshape(2, -1).T.ravel()
        blocks = blocks[order][:, order]
    return pattern_of(blocks)


def ones(pattern: csr_array) -> np.ndarray:
    """Return the dense matrix with ones where the pattern has elements."""
    data = np.ones(len(pattern.indices))
    return csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape).toarray()


def products(colouring: Colouring, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the sweeps would."""
    forward = colouring.column_seeds(matrix.dtype) @ matrix.T
    return forward, colouring.row_seeds(matrix.dtype) @ matrix


# --- any pattern -------------------------------------------------------------------------


@st.composite
def patterns(draw: st.DrawFn, symmetric: bool = False) -> csr_array:
    m = draw(st.integers(0, 12))
    n = m if symmetric else draw(st.integers(0, 12))
    density = draw(st.sampled_from([0.0, 0.05, 0.15, 0.3, 0.6, 1.0]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = random.random((m, n)) < density
    for _ in range(draw(st.integers(0, 2))):  # a long row or column
        if m and n:
            matrix[random.integers(m), :] |= random.random(n) < 0.8
            matrix[:, random.integers(n)] |= random.random(m) < 0.8
    if symmetric:
        matrix |= matrix.T
        if draw(st.booleans()):
            np.fill_diagonal(matrix, True)
    return pattern_of(matrix.astype(float))


@pytest.mark.parametrize("mode", JACOBIAN)
@given(pattern=patterns(), small=st.sampled_from([0, 10_000]))
def test_matrix_comes_back(mode: str, pattern: csr_array, small: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL", small)  # both SciPy's loop and ours
        colouring = jacobian_colouring(pattern, mode)
    assert verify(pattern, colouring)
    matrix = ones(pattern) * np.random.default_rng(0).integers(1, 1000, pattern.shape)
    data = colouring.recover(*products(colouring, matrix))
    assert np.array_equal(data, matrix[matrix != 0])
    m, n = pattern.shape
    if mode == "forward":
        assert np.sum(matrix != 0, axis=1).max(initial=0) <= colouring.colours <= n
        assert colouring.row_colours == 0
    if mode == "reverse":
        assert np.sum(matrix != 0, axis=0).max(initial=0) <= colouring.colours <= m
        assert colouring.column_colours == 0
    assert mode in ("auto", "both") or colouring.mode == mode


@pytest.mark.parametrize("mode", SYMMETRIC)
@given(pattern=patterns(symmetric=True))
def test_symmetric_matrix_comes_back(mode: str, pattern: csr_array) -> None:
    colouring = symmetric_colouring(pattern, mode)
    assert verify(pattern, colouring)
    values = np.random.default_rng(0).integers(1, 1000, pattern.shape)
    matrix = ones(pattern) * (values + values.T)
    data = colouring.recover(*products(colouring, matrix))
    assert np.array_equal(data, matrix[matrix != 0])


@given(pattern=patterns(symmetric=True))
def test_star_and_acyclic_by_definition(pattern: csr_array) -> None:
    """Two colours induce stars, or trees: counted, not found by the paths of the code."""
    graph = module._Graph(pattern)
    links = ones(pattern) * (1 - np.eye(pattern.shape[0]))
    for order in graph.orders():
        for kind in (graph.star, graph.acyclic):
            colours = kind(order, 100)
            assert colours is not None
            for a in range(colours.max(initial=-1) + 1):
                assert not links[np.ix_(colours == a, colours == a)].any()
                for b in range(a):
                    both = np.isin(colours, (a, b))
                    part = links[np.ix_(both, both)]
                    # in a forest each part has one edge fewer than vertices
                    laplacian = np.diag(part.sum(0)) - part
                    parts = len(part) - np.linalg.matrix_rank(laplacian)
                    assert part.sum() / 2 == len(part) - parts
                    if kind == graph.star:  # no edge between two vertices with other neighbours
                        inner = part.sum(0) > 1
                        assert not part[np.ix_(inner, inner)].any()


@given(pattern=patterns(), seed=st.integers(0, 99))
def test_first_fit_is_the_same_in_scipy_and_here(pattern: csr_array, seed: int) -> None:
    compiled = module._compiled()
    assert compiled is not None
    order = np.random.default_rng(seed).permutation(pattern.shape[1])
    matrix = csc_array(pattern)
    ours = module._first_fit(matrix, order)
    assert np.array_equal(ours, compiled(matrix, order))


def test_first_fit_without_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = brusselator(32, True)
    expected = jacobian_colouring(pattern)
    monkeypatch.setattr(module, "_compiled", lambda: None)
    found = jacobian_colouring(pattern)
    assert np.array_equal(found.columns, expected.columns)


# --- known numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize(
    ("pattern", "colours"),
    [
        (band(50, 0), 1),
        (band(50, -1, 0, 1), 3),
        (band(50, -2, -1, 0, 1, 2), 5),
        (band(50, 0, 7), 2),
        (pattern_of(np.ones((6, 6))), 6),
        (pattern_of(np.zeros((4, 3))), 0),
        (pattern_of(np.zeros((0, 3))), 0),
        (pattern_of(np.zeros((3, 0))), 0),
        (pattern_of(np.zeros((0, 0))), 0),
        (grid(12, 2, False), 5),
        (grid(10, 2, True), 5),
        (grid(8, 3, False), 7),
        (grid(8, 3, True), 8),
        (brusselator(32, True), 8),
        (brusselator(32, False), 8),
    ],
    ids=lambda value: None if isinstance(value, int) else f"{value.shape[0]}x{value.shape[1]}",
)
def test_jacobian_colours(pattern: csr_array, colours: int, mode: str) -> None:
    colouring = jacobian_colouring(pattern, mode)
    assert colouring.colours == colours
    assert verify(pattern, colouring)


def test_one_long_row_goes_in_reverse() -> None:
    pattern = pattern_of(np.ones((1, 20)))
    colouring = jacobian_colouring(pattern)
    assert (colouring.mode, colouring.colours) == ("reverse", 1)
    assert jacobian_colouring(pattern_of(np.ones((20, 1)))).mode == "forward"


@pytest.mark.parametrize("mode", ["auto", "both"])
def test_arrow_goes_both_ways(mode: str) -> None:
    for pattern, colours in ((arrow(40), 3), (arrow(40, 2, 3), 6), (arrow(40, 0, 1), 2)):
        colouring = jacobian_colouring(pattern, mode)
        assert colouring.colours == colours
        assert verify(pattern, colouring)
    assert jacobian_colouring(arrow(40), mode).mode == "both"
    assert jacobian_colouring(arrow(40, 0, 1), mode).mode == "forward"
    assert jacobian_colouring(arrow(40, 1, 0), mode).mode == "reverse"


def test_both_directions_must_save_a_quarter() -> None:
    assert jacobian_colouring(arrow(4)).mode == "forward"
    assert jacobian_colouring(arrow(4), "both").colours == 3
    assert jacobian_colouring(arrow(5)).mode == "both"


@pytest.mark.parametrize(
    ("pattern", "star", "acyclic"),
    [
        (band(50, 0), 1, 1),
        (band(50, -1, 0, 1), 3, 3),
        (arrow(40), 2, 2),
        (arrow(40, 3, 3), 4, 4),
        (pattern_of(np.ones((6, 6))), 6, 6),
        (pattern_of(np.zeros((4, 4))), 0, 0),
        (pattern_of(np.zeros((0, 0))), 0, 0),
        (grid(12, 2, False), 5, 4),
    ],
    ids=["diagonal", "tridiagonal", "arrow", "three arrows", "dense", "zero", "empty", "grid"],
)
def test_symmetric_colours(pattern: csr_array, star: int, acyclic: int) -> None:
    for mode, colours in (("star", star), ("acyclic", acyclic)):
        colouring = symmetric_colouring(pattern, mode)
        assert colouring.colours == colours
        assert verify(pattern, colouring)


def test_colours_without_use_are_dropped() -> None:
    """Without a diagonal the ends of an arrow are all found at its head."""
    colouring = symmetric_colouring(pattern_of(ones(arrow(10)) - np.eye(10)))
    assert colouring.colours == 1
    assert colouring.columns.tolist() == [0] + 9 * [-1]


@cache
def substituted() -> tuple[csr_array, Colouring]:
    """Return a pattern and its colouring with steps of substitution."""
    random = np.random.default_rng(0)
    matrix = (random.random((150, 150)) < 0.03) + np.eye(150)
    pattern = pattern_of(matrix + matrix.T)
    return pattern, symmetric_colouring(pattern, "acyclic")


def test_few_steps_of_substitution() -> None:
    """A ladder of two colours takes more steps than are allowed, so a star colouring it is."""
    assert symmetric_colouring(grid(60, 2, False), "acyclic").mode == "star"
    pattern, colouring = substituted()
    assert colouring.mode == "acyclic"
    assert 0 < len(colouring.steps) < module.STEPS
    assert colouring.colours < symmetric_colouring(pattern, "star").colours
    assert verify(pattern, colouring)


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto", "both"])
def test_large_and_quick(mode: str) -> None:
    pattern = band(100_000, -1, 0, 1)
    colouring = jacobian_colouring(pattern, mode)
    assert colouring.colours == 3
    assert verify(pattern, colouring)


def test_large_arrow() -> None:
    pattern = arrow(100_000)
    for colouring, colours in ((jacobian_colouring(pattern), 3), (symmetric_colouring(pattern), 2)):
        assert colouring.colours == colours
        assert verify(pattern, colouring)


def test_many_elements_without_a_search_for_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 10)
    monkeypatch.setattr(module._Graph, "star", None)
    pattern = grid(10, 2, True)
    assert symmetric_colouring(pattern).colours == 5


def test_indices_of_64_bits() -> None:
    pattern = brusselator(40, True)
    wide = pattern.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert pattern.nnz > module.SMALL
    expected = jacobian_colouring(pattern, "forward").columns
    assert np.array_equal(jacobian_colouring(wide, "forward").columns, expected)


# --- what a colouring is -----------------------------------------------------------------


def test_seeds() -> None:
    colouring = jacobian_colouring(arrow(6))
    columns, rows = colouring.column_seeds(np.float32), colouring.row_seeds()
    assert columns.dtype == np.float32
    assert columns.tolist() == [[1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1]]
    assert rows.tolist() == [[1, 0, 0, 0, 0, 0]]
    assert jacobian_colouring(arrow(6), "forward").row_seeds().shape == (0, 6)


def test_empty_columns_are_not_seeded() -> None:
    colouring = jacobian_colouring(pattern_of(np.eye(4, 6)))
    assert colouring.columns.tolist() == [0, 0, 0, 0, -1, -1]


def test_complex_and_single_precision_stay() -> None:
    pattern = arrow(6)
    matrix = (ones(pattern) + np.diag(np.arange(6))).astype(np.complex64) * np.complex64(1 + 2j)
    for colouring in (jacobian_colouring(pattern), symmetric_colouring(pattern, "acyclic")):
        data = colouring.recover(*products(colouring, matrix))
        assert data.dtype == np.complex64
        assert np.array_equal(data, matrix[matrix != 0])


def test_a_colouring_can_be_pickled() -> None:
    arrows = arrow(6)
    for pattern, colouring in ((arrows, jacobian_colouring(arrows)), substituted()):
        again = pickle.loads(pickle.dumps(colouring))
        assert verify(pattern, again)
        with pytest.raises(AttributeError):
            again.mode = "forward"


def test_verify_finds_a_wrong_colouring() -> None:
    pattern = band(9, -1, 0, 1)
    colouring = jacobian_colouring(band(9, -1, 0))
    wrong = Colouring(
        "forward", (9, 9), colouring.columns, colouring.rows, 2, 0, np.zeros(pattern.nnz, np.intp)
    )
    assert not verify(pattern, wrong)
    with pytest.raises(ValueError, match="cannot be told apart"):
        module._direct(pattern, "forward", colouring.columns, colouring.rows)
    with pytest.raises(ValueError, match="cycle of two colours"):
        module._substitution(grid(4, 1, True), np.array([0, 1, 0, 1]))


def test_substitution_is_accurate_and_leaves_its_arguments_alone() -> None:
    pattern, colouring = substituted()
    values = np.random.default_rng(1).standard_normal(pattern.shape)
    matrix = ones(pattern) * (values + values.T)
    forward, _ = products(colouring, matrix)
    before = forward.copy()
    data = colouring.recover(forward)
    np.testing.assert_allclose(data, matrix[ones(pattern) != 0], rtol=0, atol=1e-13)
    assert np.array_equal(forward, before)


def test_results_of_a_wrong_shape_are_refused() -> None:
    colouring = jacobian_colouring(arrow(6))
    with pytest.raises(ValueError, match=r"got no `forward`.*\(2, 6\)"):
        colouring.recover()
    with pytest.raises(ValueError, match=r"got `reverse` of shape \(2, 6\); expected \(1, 6\)"):
        colouring.recover(np.zeros((2, 6)), np.zeros((2, 6)))


def test_patterns_that_are_refused() -> None:
    with pytest.raises(TypeError, match=r"got ndarray.*scipy.sparse.csr_array"):
        jacobian_colouring(np.eye(3))
    with pytest.raises(TypeError, match="got csc_array"):
        jacobian_colouring(csc_array(np.eye(3)))
    double = csr_array((np.ones(2), [1, 1], [0, 2, 2]), shape=(2, 2))
    with pytest.raises(ValueError, match="sum_duplicates"):
        jacobian_colouring(double)
    with pytest.raises(ValueError, match="expected a square matrix"):
        symmetric_colouring(pattern_of(np.ones((2, 3))))
    with pytest.raises(ValueError, match="not symmetric"):
        symmetric_colouring(band(4, 0, 1))
    with pytest.raises(ValueError, match="mode: got 'sideways'; expected one of"):
        jacobian_colouring(band(4, 0), "sideways")
    with pytest.raises(ValueError, match="mode: got 'forward'; expected one of"):
        symmetric_colouring(band(4, 0), "forward")
