"""torch.nn.functional of the dialect, with values that are known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert.torch as torch
from wengert.backends import NUMPY
from wengert.dialects.torch.nn import kinks
from wengert.engine.cotangents import Block

F = torch.nn.functional


def test_straight_activations_and_their_kinks() -> None:
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    (F.leaky_relu(x, 0.5) + F.hardtanh(x, -1.0, 3.0) + F.threshold(x, 0.0, 7.0)).sum().backward()
    assert x.grad.tolist() == [0.5, 1.5, 2.0]
    assert F.softshrink(x, 1.0).tolist() == [-1.0, 0.0, 2.0]


def test_second_derivative_between_steps_is_zero_and_not_nothing() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(F.leaky_relu(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert second.tolist() == [0.0, 0.0]


def test_parameters_make_an_operation_once() -> None:
    assert kinks.leaky_relu(0.25) is kinks.leaky_relu(0.25)


def test_activation_in_place() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    h = x * 1
    assert F.elu(h, inplace=True) is h
    h.sum().backward()
    assert x.grad.tolist() == pytest.approx([math.exp(-1), 1.0])
    with pytest.raises(RuntimeError, match="leaf"):
        F.relu(x, inplace=True)


def test_cross_entropy_of_even_logits_is_the_logarithm_of_their_number() -> None:
    x = torch.zeros(2, 4, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([1, 3]))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(4))
    assert x.grad[0].tolist() == [0.125, -0.375, 0.125, 0.125]


def test_labels_may_change_before_backward() -> None:
    x, t = torch.zeros(1, 2, requires_grad=True), torch.tensor([0])
    loss = F.cross_entropy(x, t)
    t[0] = 1
    loss.backward()
    assert x.grad.tolist() == [[-0.5, 0.5]]


def test_linear_is_with_the_transpose() -> None:
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = F.linear(torch.tensor([[1.0, 10.0]]), w, torch.tensor([0.5, 0.0]))
    y.sum().backward()
    assert y.tolist() == [[21.5, 43.0]]
    assert w.grad.tolist() == [[1.0, 10.0], [1.0, 10.0]]


def test_a_pixel_has_the_gradient_of_its_window() -> None:
    x = torch.ones(1, 1, 6, 6, requires_grad=True)
    w = torch.arange(9.0).reshape(1, 1, 3, 3)
    y = F.conv2d(x, w, padding="same")
    (g,) = torch.autograd.grad(y[0, 0, 2, 3], x)
    assert g[0, 0, 1:4, 2:5].tolist() == w[0, 0].tolist()
    assert g.sum() == w.sum()


def test_a_pixel_goes_back_as_a_block() -> None:
    x = torch.ones(1, 1, 6, 6, requires_grad=True)
    node = F.conv2d(x, torch.ones(1, 1, 3, 3), padding=1)._node
    place = (range(1), range(1), range(2, 3), range(3, 4))
    pixel = Block((1, 1, 6, 6), place, np.ones((1, 1, 1, 1), np.float32))
    parent, argument, values = node.edges[0]
    back = node.op.pull_block(NUMPY, pixel, node, parent, argument, values)
    assert type(back) is Block
    assert back.region[2:] == (range(1, 4), range(2, 5))


def test_of_equal_elements_the_first_is_the_largest() -> None:
    x = torch.zeros(1, 1, 2, 2, requires_grad=True)
    y, where = F.max_pool2d(x, 2, return_indices=True)
    y.sum().backward()
    assert where.tolist() == [[[[0]]]]
    assert x.grad.tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]


def test_batch_norm_moves_its_statistics() -> None:
    mean, variance = torch.zeros(1), torch.ones(1)
    y = F.batch_norm(torch.tensor([[1.0], [3.0]]), mean, variance, training=True, eps=0.0)
    assert y.tolist() == [[-1.0], [1.0]]
    assert mean.item() == pytest.approx(0.2)
    assert variance.item() == pytest.approx(0.9 + 0.1 * 2)


def test_dropout_keeps_the_mean_and_is_off_without_training() -> None:
    x = torch.ones(10_000)
    torch.manual_seed(0)
    y = F.dropout(x, 0.25)
    assert sorted(set(y.tolist())) == pytest.approx([0.0, 4 / 3])
    assert y.mean().item() == pytest.approx(1.0, abs=0.05)
    assert F.dropout(x, 0.25, training=False) is x


def test_errors_have_pytorchs_classes() -> None:
    with pytest.raises(IndexError):
        F.cross_entropy(torch.zeros(1, 2), torch.tensor([2]))
    with pytest.raises(ValueError, match="reduction"):
        F.mse_loss(torch.zeros(2), torch.zeros(2), reduction="all")
    with pytest.raises(RuntimeError, match="padding"):
        F.conv2d(torch.zeros(1, 1, 3, 3), torch.zeros(1, 1, 2, 2), padding="full")
    with pytest.raises(NotImplementedError, match="Long"):
        F.softmax(torch.tensor([1, 2]), 0)
    with pytest.warns(UserWarning, match="shape"):
        F.mse_loss(torch.zeros(2, 1), torch.zeros(2))
