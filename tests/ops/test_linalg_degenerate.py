"""Linear algebra at special points: singular matrices and equal eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from tests.ops.matrices import grad, la, normal, positive, unitary
from tests.ops.op_cases import assert_near, on_strict
from wengert.errors import DegenerateWarning

# -- determinants -----------------------------------------------------------------------------


def cofactors(x: np.ndarray) -> np.ndarray:
    n = len(x)
    minors = [
        [np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)] for i in range(n)
    ]
    return np.array(minors) * (-1) ** np.add.outer(np.arange(n), np.arange(n))


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("complex", [False, True])
def test_det_has_its_derivatives_at_every_rank(rank: int, complex: bool) -> None:
    x = normal(4, rank, complex=complex) @ normal(rank, 4, complex=complex)
    for make in (wg.asarray, on_strict):
        with wg.GradientTape() as tape:
            t = make(x)
            tape.watch(t)
            y = la.det(t)
        np.testing.assert_allclose(
            np.asarray(tape.gradient(y, t).numpy()), np.conj(cofactors(x)), atol=1e-12
        )
    wg.check_grads(la.det, [x], order=2)


def test_det_of_large_numbers_of_equal_singular_values() -> None:
    wg.check_grads(la.det, [np.eye(4)], order=3)
    wg.check_grads(la.det, [unitary(3) * 2], order=3)


def test_slogdet_of_singular_matrices() -> None:
    singular = np.ones((2, 2))
    sign, log = la.slogdet(singular)
    assert sign.item() == 0 and log.item() == -np.inf
    with pytest.raises(np.linalg.LinAlgError, match=r"linalg.slogdet: .*singular.*no derivative"):
        wg.grad(lambda x: la.slogdet(x).logabsdet)(singular)


# -- equal eigenvalues ------------------------------------------------------------------------


def rotated(values: Any) -> np.ndarray:
    q = unitary(len(values))
    return q @ np.diag(np.asarray(values, float)) @ q.T


TIED = [
    np.eye(3),
    np.zeros((3, 3)),
    np.diag([1.0, 1.0, 2.0]),
    rotated([1, 1, 2]),
    rotated([3, 1, 1]),
]


@pytest.mark.parametrize("x", TIED)
def test_functions_of_equal_eigenvalues(x: np.ndarray) -> None:
    for f, expected in (
        (lambda x: wg.sum(la.eigvalsh(x)), np.eye(3)),
        (lambda x: wg.sum(la.eigvalsh(x) ** 3), 3 * x @ x),
        (lambda x: wg.sum(wg.exp(la.eigh(x).eigenvalues)), sl.expm(x)),
        (lambda x: wg.sum(la.svdvals(x) ** 2), 2 * x),
    ):
        np.testing.assert_allclose(grad(f, x), expected, atol=1e-12)


def test_the_space_of_equal_eigenvalues_has_a_derivative() -> None:
    x, w = rotated([1, 1, 2]), normal(3, 3)

    def projector(x: Any) -> Any:
        v = la.eigh(x).eigenvectors[:, :2]
        return wg.sum((v @ v.T) * w)

    v = np.linalg.eigh(x)[1]
    p, q = v[:, :2] @ v[:, :2].T, np.outer(v[:, 2], v[:, 2])
    inner = p @ (w + w.T) @ q / 2 / (1 - 2)
    np.testing.assert_allclose(grad(projector, x), inner + inner.T, atol=1e-12)


def test_the_orthogonal_factor_of_an_orthogonal_matrix() -> None:
    """All singular values are 1; U Vh does not depend on the choice of vectors."""
    q, w = unitary(3), normal(3, 3)

    def polar(x: Any) -> Any:
        u, _, vh = la.svd(x)
        return wg.sum(u @ vh * w)

    inner = q.T @ w
    np.testing.assert_allclose(grad(polar, q), q @ (inner - inner.T) / 2, atol=1e-12)


def test_choices_among_equal_eigenvalues_warn() -> None:
    w = normal(3, 3)
    for f, words in (
        (lambda x: wg.sum(la.eigh(x).eigenvectors * w), "linalg.eigh: .*which of the many"),
        (lambda x: wg.sum(la.svd(x).U * w), "linalg.svd: .*which of the many"),
    ):
        with pytest.warns(DegenerateWarning, match=words):
            assert np.isfinite(grad(f, np.eye(3))).all()

    def exponential(x: Any) -> Any:  # differs from expm where eigenvalues are equal
        values, vectors = la.eigh(x)
        return wg.sum((vectors * wg.exp(values)) @ vectors.T * w)

    with pytest.warns(DegenerateWarning, match="linalg.eigh: some eigenvalues are equal.*expm"):
        grad(exponential, np.eye(3))
    x = rotated([1.0, 2.0, 4.0])
    expected = grad(lambda x: wg.sum(la.expm(x) * w), x)
    np.testing.assert_allclose(grad(exponential, x), (expected + expected.T) / 2, atol=1e-10)


def test_phases_of_vectors_warn() -> None:
    s, w = positive(3, 3, complex=True), normal(3, 3)
    for f in (
        lambda x: wg.sum(wg.real(la.eigh(x).eigenvectors) * w),
        lambda x: wg.sum(wg.real(la.svd(x).U) * w),
        lambda x: wg.sum(wg.real(la.eig(x).eigenvectors) * w),
    ):
        with pytest.warns(DegenerateWarning, match="phases"):
            grad(f, s)
    # the vectors of a real matrix are real up to a sign
    grad(lambda x: wg.sum(wg.real(la.eig(x).eigenvectors) * w), rotated([1, 2, 3]))


def test_zero_singular_values() -> None:
    x = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])

    def nearest(x: Any) -> Any:
        u, s, vh = la.svd(x, full_matrices=False)
        return wg.sum((u[:, :1] * s[:1]) @ vh[:1] * np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]))

    assert np.isfinite(grad(nearest, x)).all()
    assert np.isfinite(grad(lambda x: la.matrix_norm(x, ord="nuc"), x)).all()
    u, _, vh = np.linalg.svd(x)
    np.testing.assert_allclose(
        grad(lambda x: la.matrix_norm(x, ord="nuc"), x), np.outer(u[:, 0], vh[0]), atol=1e-12
    )
    with pytest.warns(DegenerateWarning, match="some singular values are 0"):
        grad(lambda x: wg.sum(la.svd(x, full_matrices=False).U), np.diag([1.0, 0.0, 0.0])[:, :2])


def test_the_further_columns_of_square_factors() -> None:
    x = normal(4, 2)

    def outside(factor: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: wg.sum((q := factor(x)[:, 2:]) @ wg.matrix_transpose(q) * w)

    w = normal(4, 4)
    for factor in (lambda x: la.svd(x).U, lambda x: la.qr(x, mode="complete").Q):
        wg.check_grads(outside(factor), [x])
    with pytest.raises(wg.NoRuleError, match="linalg.svd: .*columns of U.*full_matrices=False"):
        grad(lambda x: wg.sum(la.svd(x).U[:, 2:]) * 1.0, x)
    with pytest.raises(wg.NoRuleError, match="linalg.svd: .*columns of Vh"):
        grad(lambda x: wg.sum(la.svd(x).Vh[2:]), x.T)
    with pytest.raises(wg.NoRuleError, match="linalg.qr: .*mode='reduced'"):
        grad(lambda x: wg.sum(la.qr(x, mode="complete").Q[:, 2:]), x)


def test_qr_modes() -> None:
    x = normal(4, 2)
    for mode in ("reduced", "complete"):
        for mine, theirs in zip(la.qr(x, mode=mode), np.linalg.qr(x, mode=mode), strict=True):
            assert_near(mine, theirs)
    assert_near(la.qr(x, mode="r"), np.linalg.qr(x, mode="r"))
    with pytest.raises(ValueError, match="mode is 'raw'.*'reduced', 'complete' or 'r'"):
        la.qr(x, mode="raw")
    with pytest.raises(np.linalg.LinAlgError, match="linalg.qr: .*dependent"):
        grad(lambda x: wg.sum(la.qr(x).Q), np.ones((3, 2)))


def test_defective_matrices() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="linalg.eig: .*defective"):
        grad(lambda x: wg.sum(wg.real(la.eigvals(x))), np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.warns(DegenerateWarning, match="linalg.eig: .*which of the many"):
        grad(lambda x: wg.sum(wg.real(la.eig(x).eigenvectors) * normal(2, 2)), np.eye(2))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_functions_of_symmetric_matrices_by_eigenvalues(n: int, seed: int) -> None:
    """Sums of functions of eigenvalues, with any ties, have the gradient V f'(w) Vᵀ."""
    random = np.random.default_rng(seed)
    q = np.linalg.qr(random.standard_normal((n, n)))[0]
    x = q @ np.diag(random.integers(-2, 3, n).astype(float)) @ q.T
    w, v = np.linalg.eigh((x + x.T) / 2)
    g = grad(lambda x: wg.sum(wg.sin(la.eigvalsh(x))), x)
    np.testing.assert_allclose(g, (v * np.cos(w)) @ v.T, atol=1e-10)


def test_a_function_of_a_matrix_with_equal_eigenvalues_warns_also_where_a_weight_is_zero() -> None:
    def element(a: Any) -> Any:
        values, vectors = wg.linalg.eigh(a)
        return ((vectors * wg.exp(values)) @ vectors.mT)[0, 1]

    with pytest.warns(DegenerateWarning):
        wg.grad(element)(np.eye(2))


def test_determinants_whose_factors_are_large_and_small() -> None:
    x = np.diag(np.repeat([16, 1 / 16], [32, 32])).astype(np.float32)
    np.testing.assert_allclose(wg.grad(wg.linalg.det)(x), np.diag(1 / np.diag(x)), rtol=1e-3)
    x = np.random.default_rng(0).standard_normal((300, 300))
    x *= np.exp(-np.linalg.slogdet(x)[1] / 300)  # of determinant 1 or -1
    expected = np.linalg.det(x) * np.linalg.inv(x).T
    got = wg.grad(wg.linalg.det)(x.astype(np.float32))
    np.testing.assert_allclose(got, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("function", [wg.linalg.eigvalsh, wg.linalg.svdvals])
def test_equal_values_share_the_derivative_of_one(function: Any) -> None:
    np.testing.assert_allclose(wg.grad(lambda x: function(x)[0])(np.eye(3)), np.eye(3) / 3)
