"""Functions for networks: the public ones over the operations that the table tests."""

import numpy as np
import pytest

import wengert as wg

RANDOM = np.random.default_rng(3)
X, W, B = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((3, 5)), RANDOM.standard_normal(5)
LOGITS, LABELS = RANDOM.standard_normal((2, 3, 4)), np.array([[0, 3, 1], [2, 2, 0]])


@pytest.mark.parametrize("x", [X, X[0], X.reshape(2, 2, 3)])
def test_linear(x):
    np.testing.assert_allclose(wg.nn.linear(x, W, B).numpy(), x @ W + B)
    wg.check_grads(wg.nn.linear, [x, W, B])


def test_linear_leaves_its_arguments_alone():
    x, w, b = map(wg.asarray, (X, W, B))
    wg.nn.linear(x, w, b)
    for tensor, before in ((x, X), (w, W), (b, B)):
        np.testing.assert_array_equal(tensor.numpy(), before)


def test_linear_promotes():
    assert wg.nn.linear(X.astype(np.float32), W.astype(np.float32), B).dtype == wg.float64


def test_linear_of_shapes_that_do_not_fit():
    with pytest.raises(wg.ShapeError, match=r"\(4, 3\), \(5, 3\) and \(5,\)"):
        wg.nn.linear(X, W.T, B)


def test_relu_at_zero():
    assert wg.grad(wg.nn.relu)(0.0) == 0 and wg.grad(wg.nn.relu)(1e-300) == 1
    assert np.isinf(wg.grad(lambda x: np.inf * wg.nn.relu(x))(1.0))
    assert wg.grad(lambda x: wg.nn.relu(x) * 0 + wg.nn.relu(x))(-1.0) == 0


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction):
    shifted = LOGITS - np.log(np.exp(LOGITS).sum(axis=-1, keepdims=True))
    losses = -np.take_along_axis(shifted, LABELS[..., None], axis=-1)[..., 0]
    expected = losses if reduction == "none" else getattr(losses, reduction)()
    got = wg.nn.cross_entropy(LOGITS, LABELS, reduction=reduction)
    np.testing.assert_allclose(got.numpy(), expected)
    wg.check_grads(lambda z: wg.nn.cross_entropy(z, LABELS, reduction=reduction), [LOGITS])


def test_cross_entropy_of_large_logits_is_finite():
    value, slope = wg.value_and_grad(wg.nn.cross_entropy)(np.array([[1e4, -1e4]]), np.array([1]))
    assert value == 2e4
    np.testing.assert_allclose(slope, [[1, -1]])


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (LABELS * 1.0, wg.DtypeError, "indices of classes"),
        (LABELS[0], wg.ShapeError, r"\(3,\).*\(2, 3, 4\)"),
        (LABELS + 1, IndexError, "from 1 to 4 of 4 classes"),
    ],
)
def test_labels_that_are_wrong(labels, error, words):
    with pytest.raises(error, match=words):
        wg.nn.cross_entropy(LOGITS, labels)
    with pytest.raises(ValueError, match="'average'"):
        wg.nn.cross_entropy(LOGITS, LABELS, reduction="average")
