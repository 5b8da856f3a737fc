"""Norms of examples' gradients, and sums of clipped ones, against a gradient for each example."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

RNG = np.random.default_rng(256)


def _perceptron(p, x, y):
    h = wg.tanh(wg.nn.linear(x, p["w1"], p["b1"]))
    return wg.sum((h @ p["w2"] - y) ** 2)


def _by_rows(p, x, y):
    h = wg.sin(x @ p["w1"] + p["b1"])
    return wg.sum((p["w2"].T @ h - y) ** 2)


def _shared(p, x, y):  # a weight that is used twice, and by itself
    h = wg.tanh(x @ p["w1"] @ p["w1"].T @ p["w1"] + p["b1"])
    return wg.sum((h @ p["w2"] - y) ** 2) + 0.1 * wg.sum(p["w2"] ** 2)


def _params(inputs=5):
    shapes = {"w1": (inputs, 6), "b1": (6,), "w2": (6, 3)}
    return {name: RNG.standard_normal(shape) for name, shape in shapes.items()}


def _one_by_one(loss, params, *examples):
    gradients = [wg.grad(loss)(params, *example) for example in zip(*examples, strict=True)]
    squares = [sum(np.sum(np.asarray(g) ** 2) for g in each.values()) for each in gradients]
    return gradients, np.sqrt(squares)


@pytest.mark.parametrize("loss", [_perceptron, _by_rows, _shared])
def test_norms_and_clipped_sums(loss):
    params, xs, ys = _params(), RNG.standard_normal((7, 5)), RNG.standard_normal((7, 3))
    gradients, norms = _one_by_one(loss, params, xs, ys)
    found = wg.per_example_norms(loss, params)(xs, ys)
    assert type(found) is np.ndarray
    assert np.allclose(found, norms, rtol=1e-12)
    limit = float(np.median(norms))
    total, again = wg.clipped_gradient(loss, params, limit)(xs, ys)
    assert np.allclose(again, norms, rtol=1e-12)
    for name in params:
        expected = sum(g[name] * min(1.0, limit / n) for g, n in zip(gradients, norms, strict=True))
        assert type(total[name]) is np.ndarray
        assert np.allclose(total[name], expected, atol=1e-12)


def test_sequences_have_many_terms():
    params, xs, ys = _params(), RNG.standard_normal((4, 2, 5)), RNG.standard_normal((4, 2, 3))
    gradients, norms = _one_by_one(_perceptron, params, xs, ys)
    assert np.allclose(wg.per_example_norms(_perceptron, params)(xs, ys), norms, rtol=1e-12)
    total, _ = wg.clipped_gradient(_perceptron, params, 1.0)(xs, ys)
    expected = sum(g["w1"] / n for g, n in zip(gradients, norms, strict=True))
    assert np.allclose(total["w1"], expected, atol=1e-12)


def test_convolutions_and_embeddings():
    table, kernel = RNG.standard_normal((9, 4)), RNG.standard_normal((2, 4, 3))
    words = RNG.integers(0, 9, (5, 6))
    words[0, :3] = 2  # a row that is read several times

    def loss(p, word):
        x = wg.nn.embedding(word, p[0])
        return wg.sum(wg.tanh(wg.nn.conv1d(x.T, p[1])) ** 2)

    _, norms = _one_by_one(lambda p, w: loss((p["t"], p["k"]), w), {"t": table, "k": kernel}, words)
    assert np.allclose(wg.per_example_norms(loss, (table, kernel))(words), norms, rtol=1e-12)


def test_variables_tensors_and_chunks():
    params = _params()
    variables = {name: wg.Variable(p) for name, p in params.items()}
    xs, ys = RNG.standard_normal((7, 5)), RNG.standard_normal((7, 3))
    _, norms = _one_by_one(_perceptron, params, xs, ys)
    assert np.allclose(wg.per_example_norms(_perceptron, variables, chunk_size=3)(xs, ys), norms)
    total, _ = wg.clipped_gradient(_perceptron, variables, 1e9)(wg.asarray(xs), wg.asarray(ys))
    batch = wg.grad(lambda p: sum(_perceptron(p, x, y) for x, y in zip(xs, ys, strict=True)))
    assert np.allclose(total["w1"], batch(params)["w1"])


def test_an_example_without_a_gradient_keeps_zeros():
    norms = wg.per_example_norms(lambda w, x: (x @ w) ** 2, np.ones((2,)))(np.zeros((3, 2)))
    assert np.array_equal(norms, np.zeros(3))
    total, _ = wg.clipped_gradient(lambda w, x: (x @ w) ** 2, np.ones(2), 1.0)(np.zeros((3, 2)))
    assert np.array_equal(total, np.zeros(2))


def test_no_gradient_of_a_layer_is_formed():
    """Norms for a wide layer do not take the memory of one gradient for each example."""
    import tracemalloc

    w, xs = np.ones((1000, 1000)), RNG.standard_normal((64, 1000))
    norms = wg.per_example_norms(lambda w, x: wg.sum(wg.tanh(x @ w)), wg.asarray(w))
    norms(xs)
    tracemalloc.start()
    norms(xs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < w.nbytes  # of 64 times as much


def test_errors():
    with pytest.raises(ValueError, match="max_norm"):
        wg.clipped_gradient(_perceptron, _params(), 0)
    with pytest.raises(wg.ShapeError, match="expected one number"):
        wg.per_example_norms(lambda w, x: x @ w, np.ones((2, 2)))(np.ones((3, 2)))


def test_vector_example_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    params, xs = _params(), RNG.standard_normal((7, 5)).astype(np.float32)
    params = {name: p.astype(np.float32) for name, p in params.items()}

    def theirs(p, x):
        return jnp.sum(jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"])

    def norm(x):
        return jnp.sqrt(sum(jnp.sum(g**2) for g in jax.grad(theirs)(params, x).values()))

    def ours(p, x):
        return wg.sum(wg.tanh(x @ p["w1"] + p["b1"]) @ p["w2"])

    found = wg.per_example_norms(ours, params)(xs)
    assert found.dtype == np.float32
    assert np.allclose(found, jax.vmap(norm)(xs), rtol=1e-5)
