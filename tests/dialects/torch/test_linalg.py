"""torch.linalg and torch.fft in the dialect, where the values are known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert.torch as torch

linalg = torch.linalg


def leaf(*rows: object) -> torch.Tensor:
    """Return a matrix that requires gradients."""
    return torch.tensor([*rows], dtype=torch.float64, requires_grad=True)


def test_the_gradient_of_a_determinant_is_the_cofactors() -> None:
    a = leaf([1.0, 2.0], [3.0, 5.0])
    linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[5.0, -3.0], [-2.0, 1.0]])


def test_a_singular_determinant_has_a_gradient() -> None:
    a = leaf([1.0, 2.0], [2.0, 4.0])
    torch.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_the_gradient_of_logdet_is_the_inverse() -> None:
    a = leaf([2.0, 0.0], [0.0, 4.0])
    torch.logdet(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[0.5, 0.0], [0.0, 0.25]])


def test_a_matrix_without_an_inverse_is_an_error_of_its_own() -> None:
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.inv(torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="positive-definite"):
        linalg.cholesky(-torch.eye(2))


def test_cholesky_reads_one_triangle() -> None:
    a = torch.tensor([[4.0, 99.0], [2.0, 5.0]])
    assert linalg.cholesky(a).tolist() == [[2.0, 0.0], [1.0, 2.0]]
    assert linalg.cholesky(a.T, upper=True).tolist() == [[2.0, 1.0], [0.0, 2.0]]


def test_cholesky_goes_as_far_as_it_can() -> None:
    factor, info = linalg.cholesky_ex(torch.tensor([[4.0, 2.0], [2.0, 1.0]]))
    assert factor.tolist() == [[2.0, 0.0], [1.0, 0.0]]
    assert info.item() == 2


def test_equal_eigenvalues_have_gradients_of_their_own() -> None:
    a = leaf([1.0, 0.0], [0.0, 1.0])
    linalg.eigvalsh(a)[0].backward()
    assert a.grad.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_eigenvectors_of_equal_eigenvalues_have_none() -> None:
    a = leaf([1.0, 0.0], [0.0, 1.0])
    (linalg.eigh(a).eigenvectors ** 2)[0, 0].backward()
    assert np.isnan(a.grad.numpy()).any()


def test_a_gradient_that_depends_on_phases_is_refused() -> None:
    a = torch.tensor([[2.0, 1j], [-1j, 3.0]], dtype=torch.complex128, requires_grad=True)
    vectors = linalg.eigh(a).eigenvectors
    with pytest.raises(RuntimeError, match="phases of the eigenvectors"):
        (vectors.real.sum() + vectors.imag.sum() * 2).backward()


def test_qr_without_q_has_no_gradient() -> None:
    a = leaf([1.0, 2.0], [3.0, 5.0])
    with pytest.raises(RuntimeError, match="mode='r'"):
        linalg.qr(a, mode="r").R.sum().backward()


def test_lu_puts_a_matrix_together_again() -> None:
    a = leaf([1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [2.0, 2.0, 7.0])
    p, lower, upper = linalg.lu(a)
    product = p @ lower @ upper
    np.testing.assert_allclose(product.detach().numpy(), a.detach().numpy(), atol=1e-14)
    weights = torch.arange(9.0, dtype=torch.float64).reshape(3, 3)
    (product * weights).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), weights.numpy(), atol=1e-12)


def test_lu_solve_solves() -> None:
    a, b = leaf([1.0, 2.0], [3.0, 4.0]), torch.eye(2, dtype=torch.float64)
    found = linalg.lu_solve(*linalg.lu_factor(a), b)
    np.testing.assert_allclose(found.detach().numpy(), [[-2.0, 1.0], [1.5, -0.5]])


def test_a_triangle_with_a_zero_gives_what_is_not_finite() -> None:
    a = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
    found = linalg.solve_triangular(a, torch.ones(2, 1), upper=True)
    assert found.flatten().tolist() == [-math.inf, math.inf]


def test_names_of_results() -> None:
    found = linalg.slogdet(torch.eye(2) * -2)
    assert (found.sign.item(), round(found.logabsdet.item(), 5)) == (1.0, 1.38629)
    assert type(found).__name__ == "linalg_slogdet"
    assert torch.svd(torch.eye(2))._fields == ("U", "S", "V")


def test_the_transform_of_a_constant() -> None:
    x = torch.ones(4, requires_grad=True)
    y = torch.fft.rfft(x)
    assert y.dtype is torch.complex64
    assert y.tolist() == [4 + 0j, 0j, 0j]
    y[0].real.backward()
    assert x.grad.tolist() == [1.0] * 4


def test_whole_numbers_are_transformed_in_the_default_dtype() -> None:
    assert torch.fft.fft(torch.arange(4)).dtype is torch.complex64
    assert torch.fft.fftfreq(4).tolist() == [0.0, 0.25, -0.5, -0.25]
    with pytest.raises(IndexError):
        torch.fft.fft(torch.ones(3), dim=2)
    with pytest.raises(RuntimeError):
        torch.fft.rfft(torch.ones(3) + 0j)


def test_a_signal_comes_back_from_its_pieces() -> None:
    signal = torch.cos(torch.arange(40.0, dtype=torch.float64))
    window = torch.hann_window(8, dtype=torch.float64)
    pieces = torch.stft(signal, 8, window=window, return_complex=True)
    assert pieces.shape == (5, 21)
    back = torch.istft(pieces, 8, window=window, length=40)
    np.testing.assert_allclose(back.numpy(), signal.numpy(), atol=1e-12)


def test_windows() -> None:
    assert torch.hann_window(5, periodic=False).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]
    with pytest.raises(AttributeError, match=r"scipy\.signal\.windows"):
        _ = torch.signal.windows
