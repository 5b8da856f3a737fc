"""Programs as people write them with arrays: a recurrent net, a regression, small networks.

Data are arrays of each library before the clock starts. What counts is processor time on one
thread, the smallest of many rounds. Competitors named `numpy` are gradients written by hand.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.adbench import TORCH, case, gradient, namespace
from benchmarks.harness import Run

# -- a recurrent net ----------------------------------------------------------------------------


def _rnn_data(steps: int, batch: int, inputs: int, hidden: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal((inputs, hidden)) / inputs**0.5,
        rng.standard_normal((hidden, hidden)) / hidden**0.5,
        0.1 * rng.standard_normal(hidden),
        rng.standard_normal((steps, batch, inputs)),
        rng.standard_normal((batch, hidden)),
    ]


def _rnn(library: str, form: str = "loop", **sizes: int) -> Run:
    """Return a run of the gradients of a loss of the last state of a net.

    Ours is a loop in Python; with the form "jit" it is compiled by `wg.jit`, and NumPy arrays go in
    and come out; with the form "layer" it is a call of `wg.nn.rnn`.
    """
    data = _rnn_data(**sizes)
    if library == "numpy":
        return lambda: _rnn_by_hand(*data)
    xp = namespace(library)
    is_jit, is_layer = (library == "wengert" and form == name for name in ("jit", "layer"))

    def loss(enter: Any, repeat: Any, bias: Any, x: Any, goal: Any) -> Any:
        def step(h: Any, row: Any) -> tuple[Any, None]:
            return xp.tanh(row @ enter + h @ repeat + bias), None

        h = xp.zeros(goal.shape, dtype=goal.dtype)
        if library == "jax":
            h, _ = peers.load("jax").lax.scan(step, h, x)
        elif is_jit:
            h, _ = xp.scan(step, h, x)
        elif is_layer:
            _, h = xp.nn.rnn(x, h, enter, repeat, bias)
        else:
            for row in x:
                h, _ = step(h, row)
        return xp.mean((h - goal) ** 2)

    if is_jit:
        gradients = xp.jit(xp.grad(loss, argnums=(0, 1, 2)))
        return lambda: gradients(*data)
    return gradient(library, loss, _own(library, data), (0, 1, 2))


def _rnn_by_hand(
    enter: np.ndarray, repeat: np.ndarray, bias: np.ndarray, x: np.ndarray, goal: np.ndarray
) -> tuple[np.ndarray, ...]:
    steps, batch, inputs = x.shape
    hidden = len(repeat)
    states = np.zeros((steps + 1, batch, hidden))
    entered = x @ enter
    entered += bias
    for t in range(steps):
        np.add(entered[t], states[t] @ repeat, out=states[t + 1])
        np.tanh(states[t + 1], out=states[t + 1])
    slopes = 1 - states[1:] ** 2
    by_sums = np.empty((steps, batch, hidden))
    g = 2 * (states[-1] - goal) / goal.size
    back = np.ascontiguousarray(repeat.T)
    for t in reversed(range(steps)):
        np.multiply(g, slopes[t], out=by_sums[t])
        g = by_sums[t] @ back
    flat = by_sums.reshape(-1, hidden)
    return (
        x.reshape(-1, inputs).T @ flat,
        states[:-1].reshape(-1, hidden).T @ flat,
        flat.sum(axis=0),
    )


# -- logistic regression ------------------------------------------------------------------------


def _regression(library: str, rows: int, columns: int) -> Run:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns))
    truth = (rng.random(rows) < 0.5).astype(float)
    data = [0.1 * rng.standard_normal(columns), np.array(0.1), x, truth]
    if library == "numpy":
        return lambda: _regression_by_hand(*data)

    def cross_entropy(z: Any, truth: Any) -> Any:
        if library == "wengert":
            return peers.load("wengert").nn.bce_with_logits(z, truth)
        if library == "torch":
            functional = peers.load("torch").nn.functional
            return functional.binary_cross_entropy_with_logits(z, truth)
        xp = namespace(library)
        return xp.mean(xp.logaddexp(0.0, z) - truth * z)

    def loss(weights: Any, bias: Any, x: Any, truth: Any) -> Any:
        return cross_entropy(x @ weights + bias, truth) + 0.005 * (weights @ weights)

    return gradient(library, loss, _own(library, data), (0, 1))


def _regression_by_hand(
    weights: np.ndarray, bias: np.ndarray, x: np.ndarray, truth: np.ndarray
) -> tuple[Any, ...]:
    z = x @ weights
    z += bias
    np.negative(z, out=z)
    np.exp(z, out=z)
    z += 1
    g = np.divide(1, z, out=z)
    g -= truth
    g /= len(truth)
    return g @ x + 0.01 * weights, g.sum()


def _own(library: str, data: Sequence[np.ndarray]) -> list[Any]:
    """Return arrays as Wengert's tensors, as PyTorch's arrays are; others take NumPy's."""
    return [*map(peers.load("wengert").asarray, data)] if library == "wengert" else [*data]


# -- a small network of convolutions ------------------------------------------------------------


def _cnn(library: str, channels: int, size: int, batch: int) -> Run:
    rng = np.random.default_rng(1)  # no window has two maxima that rounding could exchange
    wide, flat = 2 * channels, 2 * channels * (size // 4) ** 2
    shapes = [(channels, 1, 3, 3), (wide, channels, 3, 3), (flat, 10)]
    data: list[np.ndarray] = []
    for shape in shapes:
        fan, count = (shape[0], shape[1]) if len(shape) == 2 else (9 * shape[1], shape[0])
        data += [rng.standard_normal(shape) * (2 / fan) ** 0.5, 0.1 * rng.standard_normal(count)]
    data.append(rng.standard_normal((batch, 1, size, size)))
    data = [a.astype(np.float32) for a in data]
    labels = rng.integers(0, 10, batch)
    conv, pool, relu, cross_entropy = _layers(library, labels)

    def loss(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
        x = pool(relu(conv(x, w1, b1)))
        x = pool(relu(conv(x, w2, b2)))
        return cross_entropy(x.reshape((batch, flat)) @ w3 + b3)

    return gradient(library, loss, _own(library, data), tuple(range(6)))


def _layers(library: str, labels: np.ndarray) -> tuple[Any, ...]:
    """Return 3x3 convolution, 2x2 pooling, relu and cross-entropy of a library."""
    if library == "wengert":
        nn = peers.load("wengert").nn
        return (
            lambda x, w, b: nn.conv2d(x, w, b, padding=1),
            lambda x: nn.max_pool2d(x, 2),
            nn.relu,
            lambda z: nn.cross_entropy(z, labels),
        )
    if library == "torch":
        torch = peers.load("torch")
        functional, there = torch.nn.functional, torch.tensor(labels)
        return (
            lambda x, w, b: functional.conv2d(x, w, b, padding=1),
            lambda x: functional.max_pool2d(x, 2),
            torch.relu,
            lambda z: functional.cross_entropy(z, there),
        )
    jax = peers.load("jax")
    lax, jnp = jax.lax, jax.numpy
    rows = jnp.arange(len(labels))
    window = (1, 1, 2, 2)
    return (
        lambda x, w, b: lax.conv(x, w, (1, 1), "SAME") + b[:, None, None],
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID"),
        jax.nn.relu,
        lambda z: -jnp.mean(jax.nn.log_softmax(z)[rows, labels]),
    )


# -- two blocks of a GPT ------------------------------------------------------------------------


def _gpt(library: str, blocks: int, width: int, heads: int, length: int, batch: int) -> Run:
    rng = np.random.default_rng(0)
    data: list[np.ndarray] = []
    for _ in range(blocks):
        for before, after in itertools.pairwise([width, 3 * width, width, 4 * width, width]):
            before = width if after == width and before == 3 * width else before
            data.append(rng.standard_normal((before, after)) / before**0.5)
            data.append(0.1 * rng.standard_normal(after))
        data += [1 + 0.1 * rng.standard_normal(width) for _ in range(4)]
    data.append(rng.standard_normal((batch, length, width)))
    data = [a.astype(np.float32) for a in data]
    norm, attention, gelu = _blocks(library, width)
    shape = (batch, length, 3, heads, width // heads)
    xp = namespace(library)

    def loss(*given: Any) -> Any:
        x = given[-1]
        for k in range(blocks):
            wq, bq, wo, bo, w1, b1, w2, b2, n1, n2, n3, n4 = given[12 * k : 12 * k + 12]
            joined = xp.moveaxis((norm(x, n1, n2) @ wq + bq).reshape(shape), 3, 1)
            q, k_, v = (joined[:, :, :, i] for i in range(3))
            found = xp.moveaxis(attention(q, k_, v), 1, 2).reshape((batch, length, width))
            x = x + found @ wo + bo
            x = x + gelu(norm(x, n3, n4) @ w1 + b1) @ w2 + b2
        return xp.mean(x**2)

    return gradient(library, loss, _own(library, data), tuple(range(12 * blocks)))


def _blocks(library: str, width: int) -> tuple[Any, ...]:
    """Return layer norm, causal attention, and gelu by tanh of a library."""
    if library == "wengert":
        nn = peers.load("wengert").nn
        return (
            nn.layer_norm,
            lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda x: nn.gelu(x, approximate="tanh"),
        )
    if library == "torch":
        functional = peers.load("torch").nn.functional
        return (
            lambda x, w, b: functional.layer_norm(x, (width,), w, b),
            lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda x: functional.gelu(x, approximate="tanh"),
        )
    jax = peers.load("jax")
    jnp = jax.numpy

    def norm(x: Any, w: Any, b: Any) -> Any:
        away = x - jnp.mean(x, axis=-1, keepdims=True)
        return away * jax.lax.rsqrt(jnp.mean(away**2, axis=-1, keepdims=True) + 1e-5) * w + b

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = q @ jnp.swapaxes(k, -2, -1) / q.shape[-1] ** 0.5
        visible = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        return jax.nn.softmax(jnp.where(visible, scores, -jnp.inf)) @ v

    return norm, attention, lambda x: jax.nn.gelu(x, approximate=True)


CASES = [
    case(
        "rnn",
        "gradients of a recurrent net of 200 steps, 64 wide, batch 16, in a loop",
        _rnn,
        ("wengert", "numpy", TORCH, "jax jit", "autograd"),
        {TORCH: 0.6, "numpy": 1.6},
        sizes={"steps": 200, "batch": 16, "inputs": 64, "hidden": 64},
        small={"steps": 3, "batch": 2, "inputs": 4, "hidden": 3},
    ),
    *[
        case(
            f"rnn-{form}",
            f"the same net with {how}",
            functools.partial(_rnn, form=form),
            ("wengert", "numpy", TORCH, "jax jit"),
            {TORCH: 0.6, "numpy": 1.6},
            sizes={"steps": 200, "batch": 16, "inputs": 64, "hidden": 64},
            small={"steps": 3, "batch": 2, "inputs": 4, "hidden": 3},
        )
        for form, how in (
            ("jit", "wg.scan, compiled by wg.jit; NumPy arrays in and out"),
            ("layer", "wg.nn.rnn, which is one operation, on NumPy arrays"),
        )
    ],
    case(
        "logistic-regression",
        "gradients of a logistic regression, 100,000 x 50",
        _regression,
        ("wengert", "numpy", TORCH, "jax jit", "autograd"),
        {TORCH: 1.0, "numpy": 1.4},
        sizes={"rows": 100_000, "columns": 50},
        small={"rows": 7, "columns": 3},
    ),
    case(
        "cnn",
        "gradients of two convolutions with relu and pooling, 28x28, batch 64, float32",
        _cnn,
        ("wengert", TORCH, "jax jit"),
        {TORCH: 1.2},
        tolerance=1e-5,
        sizes={"channels": 16, "size": 28, "batch": 64},
        small={"channels": 2, "size": 8, "batch": 3},
    ),
    case(
        "gpt-blocks",
        "gradients of two blocks of a GPT, 128 wide, 4 heads, 128 tokens, batch 8, float32",
        _gpt,
        ("wengert", TORCH, "jax jit"),
        {TORCH: 1.2},
        tolerance=1e-5,
        sizes={"blocks": 2, "width": 128, "heads": 4, "length": 128, "batch": 8},
        small={"blocks": 1, "width": 8, "heads": 2, "length": 5, "batch": 3},
    ),
]
