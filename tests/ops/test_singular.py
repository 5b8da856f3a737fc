"""Inverses, solutions and factors of matrices of which some are singular."""

from __future__ import annotations

import numpy as np

import wengert as wg
from wengert.ops.linalg import singular, unguarded

GOOD = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, 5.0]])
BAD = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
BOTH = wg.asarray(np.stack([GOOD, BAD]))
B = np.array([[1.0], [2.0], [-1.0]])


def test_inverses_and_solutions_say_which_pivot_is_zero() -> None:
    inverse, pivots = singular.inverse(BOTH)
    assert np.allclose(np.asarray(inverse)[0], np.linalg.inv(GOOD))
    assert np.isinf(np.asarray(inverse)[1]).all()
    assert np.asarray(pivots)[0] == 0 < np.asarray(pivots)[1]
    x, pivots = singular.solution(BOTH, wg.asarray(np.stack([B, B])), True)
    assert np.allclose(np.asarray(x)[0], np.linalg.solve(GOOD, B))
    assert np.isnan(np.asarray(x)[1]).all()


def test_factors_say_which_minor_is_bad() -> None:
    factor, minors = singular.cholesky(BOTH, upper=False)
    assert np.allclose(np.asarray(factor)[0], np.linalg.cholesky(GOOD))
    assert np.asarray(minors).tolist() == [0, 2]


def test_solutions_by_factors() -> None:
    expected = np.linalg.solve(GOOD, B)
    lower = wg.asarray(np.linalg.cholesky(GOOD))
    assert np.allclose(np.asarray(singular.by_cholesky(lower, wg.asarray(B), False)), expected)
    factors, _, order, _ = unguarded.lu_factors(wg.asarray(GOOD))
    for undo in (False, True):
        found = singular.by_lu(factors, order, wg.asarray(B), undo)
        assert np.allclose(np.asarray(found), expected)  # GOOD is symmetric


def test_a_triangle_with_a_zero_pivot_gives_what_is_not_finite() -> None:
    found = singular.triangular(wg.asarray(np.diag([1.0, 0.0, 2.0])), wg.asarray(B), False, False)
    assert np.asarray(found)[:2, 0].tolist() == [1.0, np.inf]


def test_rank_and_pseudo_inverse() -> None:
    assert np.asarray(singular.rank(BOTH)).tolist() == [3, 2]
    assert np.asarray(singular.rank(BOTH, True, atol=4.5)).tolist() == [1, 1]
    assert np.allclose(np.asarray(singular.pinv(BOTH)), np.linalg.pinv(np.stack([GOOD, BAD])))
    wg.check_grads(lambda a: singular.pinv(a, rtol=1e-3), [GOOD])
