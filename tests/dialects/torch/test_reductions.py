"""Reductions, orders and products of the PyTorch dialect, with values known by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import wengert.torch as torch


def test_sums_and_means_have_gradients() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x.sum(0) * torch.tensor([1.0, 10.0])).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 10], [1, 10]])
    x.grad = None
    x.mean().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 2), 0.25))


def test_whole_numbers_are_summed_as_int64_and_have_no_mean() -> None:
    assert torch.tensor([True, True]).sum().dtype is torch.int64
    with pytest.raises(RuntimeError, match="mean"):
        torch.tensor([1, 2]).mean()


def test_the_maximum_shares_among_ties_and_along_an_axis_goes_to_the_first() -> None:
    x = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    (whole,) = torch.autograd.grad(x.max(), x)
    (along,) = torch.autograd.grad(x.max(0).values, x)
    np.testing.assert_array_equal(whole.numpy(), [0.5, 0, 0.5])
    np.testing.assert_array_equal(along.numpy(), [1, 0, 0])


def test_named_results_unpack_print_and_can_be_pickled() -> None:
    found = torch.tensor([[3.0, 5.0]]).max(1)
    values, indices = found
    assert values.item() == 5 and indices.item() == 1
    assert repr(found) == "torch.return_types.max(\nvalues=tensor([5.]),\nindices=tensor([1]))"
    assert type(found) is torch.return_types.max
    assert pickle.loads(pickle.dumps(type(found))) is type(found)


def test_products_of_zeros_have_derivatives() -> None:
    x = torch.tensor([0.0, 3.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.prod(), x)
    np.testing.assert_array_equal(g.numpy(), [6, 0, 0])
    (g,) = torch.autograd.grad(x.cumprod(0).sum(), x)
    np.testing.assert_array_equal(g.numpy(), [1 + 3 + 6, 0, 0])


def test_a_norm_of_zeros_has_derivative_zero() -> None:
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    x.norm().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0])


def test_matrix_products_have_gradients() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.tensor([[5.0, 6.0], [7.0, 8.0]], requires_grad=True)
    (a @ b).sum().backward()
    np.testing.assert_array_equal(a.grad.numpy(), [[11, 15], [11, 15]])
    np.testing.assert_array_equal(b.grad.numpy(), [[4, 4], [6, 6]])
    with pytest.raises(RuntimeError, match="2x2 and 1x3"):
        a @ torch.tensor([[1.0, 2.0, 3.0]])
    with pytest.raises(RuntimeError, match=r"y\.to\(x\.dtype\)"):
        a @ b.detach().double()
    with pytest.raises(TypeError):
        a @ 2


def test_einsum_takes_letters() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    expected = np.array([[5, 11], [11, 25]])
    np.testing.assert_array_equal(torch.einsum("ij,kj->ik", a, a).numpy(), expected)
    with pytest.raises(TypeError, match="write 'ij,jk->ik'"):
        torch.einsum(a, [0, 1], a, [2, 1], [0, 2])


def test_a_product_knows_that_a_factor_was_overwritten() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    y = (a @ b).sum()
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified in place"):
        y.backward()


def test_many_distances_come_from_norms() -> None:
    from wengert.dialects.torch import norms

    rng = np.random.default_rng(0)
    x, y = (torch.tensor(rng.normal(size=(n, 3)), requires_grad=True) for n in (4, 5))
    near = torch.cdist(x, y)
    far = norms._by_products(x.__wengert_tensor__(), y.__wengert_tensor__())
    np.testing.assert_allclose(far._raw, near.detach().numpy(), rtol=1e-12)


def test_quantiles_lie_between_elements() -> None:
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    q = torch.quantile(x, 0.75)
    q.backward()
    assert q.item() == 3
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0.5, 0.5])


def test_axes_are_also_called_as_in_numpy() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(axis=1, keepdims=True).shape == (2, 1)
    with pytest.raises(IndexError, match="no axis 2"):
        x.sum(2)
