"""A multilayer perceptron 784-512-512-10: what a step of training costs beside BLAS."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Run

Data = tuple[np.ndarray, np.ndarray, list[np.ndarray]]


def data(batch: int, widths: tuple[int, ...]) -> Data:
    """Return inputs, integer labels, and weights and biases of every layer in turn."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, widths[0])).astype(np.float32)
    labels = rng.integers(0, widths[-1], batch)
    parameters = []
    for before, after in itertools.pairwise(widths):
        scale = np.sqrt(2 / before)
        parameters.append((rng.standard_normal((before, after)) * scale).astype(np.float32))
        parameters.append((rng.standard_normal(after) * 0.1).astype(np.float32))
    return x, labels, parameters


def _wengert(**sizes: Any) -> Run:
    wg = peers.load("wengert")
    x, labels, parameters = data(**sizes)
    x, parameters = wg.asarray(x), [wg.asarray(p) for p in parameters]

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        with wg.GradientTape() as tape:
            tape.watch(parameters)
            h = wg.nn.relu(wg.nn.linear(x, w1, b1))
            h = wg.nn.relu(wg.nn.linear(h, w2, b2))
            loss = wg.nn.cross_entropy(wg.nn.linear(h, w3, b3), labels)
        return loss, tape.gradient(loss, parameters)

    return run


def _wengert_plain(**sizes: Any) -> Run:
    """Return a run of the same in operations that NumPy has, too."""
    wg = peers.load("wengert")
    x, labels, parameters = data(**sizes)
    x, parameters = wg.asarray(x), [wg.asarray(p) for p in parameters]
    rows = np.arange(len(labels))

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        with wg.GradientTape() as tape:
            tape.watch(parameters)
            h = wg.maximum(x @ w1 + b1, 0)
            h = wg.maximum(h @ w2 + b2, 0)
            z = h @ w3 + b3
            z = z - wg.stop_gradient(wg.max(z, axis=1, keepdims=True))
            loss = wg.mean(wg.log(wg.sum(wg.exp(z), axis=1)) - z[rows, labels])
        return loss, tape.gradient(loss, parameters)

    return run


def _numpy(**sizes: Any) -> Run:
    x, labels, parameters = data(**sizes)
    rows = np.arange(len(labels))

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h1 = x @ w1
        h1 += b1
        np.maximum(h1, 0, out=h1)
        h2 = h1 @ w2
        h2 += b2
        np.maximum(h2, 0, out=h2)
        z = h2 @ w3
        z += b3
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        total = p.sum(axis=1)
        loss = np.mean(np.log(total) - z[rows, labels])
        p /= total[:, None]
        p[rows, labels] -= 1
        p /= len(labels)
        g2 = p @ w3.T
        g2 *= h2 > 0
        g1 = g2 @ w2.T
        g1 *= h1 > 0
        return loss, (x.T @ g1, g1.sum(axis=0), h1.T @ g2, g2.sum(axis=0), h2.T @ p, p.sum(axis=0))

    return run


def torch_step(module: str = "torch", **sizes: Any) -> Run:
    """Return a run of the loss and its gradients in PyTorch."""
    torch = peers.load(module)
    x, labels, parameters = data(**sizes)
    x, labels = torch.tensor(x), torch.tensor(labels)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    cross_entropy = torch.nn.functional.cross_entropy

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = torch.relu(torch.addmm(b1, x, w1))  # addmm is what nn.Linear calls
        h = torch.relu(torch.addmm(b2, h, w2))
        loss = cross_entropy(torch.addmm(b3, h, w3), labels)
        return loss.detach(), torch.autograd.grad(loss, parameters)

    return run


def tensorflow_step(module: str = "tensorflow", **sizes: Any) -> Run:
    """Return a run of the loss and its gradients in TensorFlow."""
    tf = peers.load(module)
    x, labels, parameters = data(**sizes)
    x, labels = tf.constant(x), tf.constant(labels)
    parameters = [tf.Variable(p) for p in parameters]
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ w1 + b1)
            h = tf.nn.relu(h @ w2 + b2)
            loss = tf.reduce_mean(cross_entropy(labels, h @ w3 + b3))
        return loss, tape.gradient(loss, parameters)

    return run


def _jax(jit: bool = False, **sizes: Any) -> Run:
    jax = peers.load("jax")
    jnp = jax.numpy
    x, labels, parameters = data(**sizes)
    x, labels, parameters = (
        jnp.asarray(x),
        jnp.asarray(labels),
        [jnp.asarray(p) for p in parameters],
    )

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        scores = jax.nn.log_softmax(h @ w3 + b3)
        return -jnp.mean(scores[jnp.arange(len(labels)), labels])

    step = jax.value_and_grad(loss)
    step = jax.jit(step) if jit else step
    return lambda: jax.block_until_ready(step(parameters, x, labels))


def _autograd(**sizes: Any) -> Run:
    autograd, anp = peers.load("autograd"), peers.load("autograd.numpy")
    x, labels, parameters = data(**sizes)
    rows = np.arange(len(labels))

    def loss(parameters: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = anp.maximum(anp.dot(x, w1) + b1, 0.0)
        h = anp.maximum(anp.dot(h, w2) + b2, 0.0)
        z = anp.dot(h, w3) + b3
        z = z - anp.max(z, axis=1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(z), axis=1)) - z[rows, labels])

    step = autograd.value_and_grad(loss)
    return lambda: step(parameters)


def _norms(**sizes: Any) -> Run:
    wg = peers.load("wengert")
    x, labels, parameters = data(**sizes)
    x, labels = wg.asarray(x), wg.asarray(labels)
    parameters = [wg.asarray(p) for p in parameters]

    def loss(parameters: Any, x: Any, label: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = wg.nn.relu(wg.nn.linear(x, w1, b1))
        h = wg.nn.relu(wg.nn.linear(h, w2, b2))
        return wg.nn.cross_entropy(wg.nn.linear(h, w3, b3), label)

    norms = wg.per_example_norms(loss, parameters)
    return lambda: norms(x, labels)


def _jax_norms(**sizes: Any) -> Run:
    jax = peers.load("jax")
    jnp = jax.numpy
    x, labels, parameters = data(**sizes)
    x, labels = jnp.asarray(x), jnp.asarray(labels)
    parameters = [jnp.asarray(p) for p in parameters]

    def loss(parameters: Any, x: Any, label: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        return -jax.nn.log_softmax(h @ w3 + b3)[label]

    def norm(x: Any, label: Any) -> Any:
        return jnp.sqrt(sum(jnp.sum(g**2) for g in jax.grad(loss)(parameters, x, label)))

    norms = jax.jit(jax.vmap(norm))
    return lambda: jax.block_until_ready(norms(x, labels))


CASES = [
    Case(
        name="mlp",
        about="MLP 784-512-512-10, batch 256, relu, softmax cross-entropy, loss and six gradients",
        competitors={
            "wengert": _wengert,
            "numpy": _numpy,
            "torch": torch_step,
            "tensorflow": tensorflow_step,
            "jax": _jax,
            "jax jit": lambda **sizes: _jax(jit=True, **sizes),
            "autograd": _autograd,
        },
        must={"numpy": 1.1, "torch": 1.0, "tensorflow": 1.0, "jax jit": 1.0},
        sizes={"batch": 256, "widths": (784, 512, 512, 10)},
        small={"batch": 5, "widths": (8, 6, 7, 4)},
    ),
    Case(
        name="mlp-plain",
        about="the same in plain operations: products, sums, maximum, exponentials, an index",
        competitors={"wengert": _wengert_plain, "numpy": _numpy, "torch": torch_step},
        must={"numpy": 1.1},
        sizes={"batch": 256, "widths": (784, 512, 512, 10)},
        small={"batch": 5, "widths": (8, 6, 7, 4)},
    ),
    Case(
        name="per-example-norms",
        about="norms of the gradients of 256 examples, MLP 784-512-512-10, beside one of the batch",
        competitors={"wengert": _norms, "wengert batch": _wengert, "jax jit": _jax_norms},
        must={"wengert batch": 1.6},
        sizes={"batch": 256, "widths": (784, 512, 512, 10)},
        small={"batch": 5, "widths": (8, 6, 7, 4)},
        agree=False,  # the batch has another gradient; tests compare with JAX
    ),
]
