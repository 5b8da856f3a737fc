"""Single operations of linear algebra and networks: a result, and gradients of all arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Run

Arrays = list[np.ndarray]
#: ``program(m, constants, *arrays)``, written once against a namespace `m` of each library.
Program = Callable[..., Any]
Data = Callable[..., tuple[Arrays, dict[str, Any]]]


# -- the libraries ------------------------------------------------------------------------------


def _wengert(program: Program, data: Data, **sizes: Any) -> Run:
    wg = peers.load("wengert")
    m = SimpleNamespace(
        sum=wg.sum,
        solve=wg.linalg.solve,
        cholesky=wg.linalg.cholesky,
        eigh=wg.linalg.eigh,
        svd=lambda a: wg.linalg.svd(a, full_matrices=False),
        conv2d=lambda x, w: wg.nn.conv2d(x, w, padding=1),
        attention=wg.nn.scaled_dot_product_attention,
        layer_norm=lambda x, w, b: wg.nn.layer_norm(x, w, b),
        gelu=wg.nn.gelu,
        gelu_tanh=lambda x: wg.nn.gelu(x, approximate="tanh"),
        cross_entropy=lambda x, labels: wg.nn.cross_entropy(x, labels),
    )
    arrays, constants = data(**sizes)
    tensors = [wg.asarray(a) for a in arrays]
    constants = {k: v if v.dtype.kind == "i" else wg.asarray(v) for k, v in constants.items()}

    def run() -> Any:
        with wg.GradientTape() as tape:
            tape.watch(tensors)
            y = program(m, *tensors, **constants)
        return y, tape.gradient(y, tensors)

    return run


def _torch(program: Program, data: Data, **sizes: Any) -> Run:
    torch = peers.load("torch")
    functions = torch.nn.functional
    m = SimpleNamespace(
        sum=torch.sum,
        solve=torch.linalg.solve,
        cholesky=torch.linalg.cholesky,
        eigh=torch.linalg.eigh,
        svd=lambda a: torch.linalg.svd(a, full_matrices=False),
        conv2d=lambda x, w: functions.conv2d(x, w, padding=1),
        attention=functions.scaled_dot_product_attention,
        layer_norm=lambda x, w, b: functions.layer_norm(x, w.shape, w, b),
        gelu=functions.gelu,
        gelu_tanh=lambda x: functions.gelu(x, approximate="tanh"),
        cross_entropy=functions.cross_entropy,
    )
    arrays, constants = data(**sizes)
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    constants = {k: torch.tensor(v) for k, v in constants.items()}

    def run() -> Any:
        y = program(m, *tensors, **constants)
        return y.detach(), torch.autograd.grad(y, tensors, torch.ones_like(y))

    return run


def _jax(program: Program, data: Data, **sizes: Any) -> Run:
    jax = peers.load("jax")
    jnp = jax.numpy

    def layer_norm(x: Any, w: Any, b: Any) -> Any:
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.var(x, axis=-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w + b

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        return jax.nn.softmax(scores) @ v

    m = SimpleNamespace(
        sum=jnp.sum,
        solve=jnp.linalg.solve,
        cholesky=jnp.linalg.cholesky,
        eigh=jnp.linalg.eigh,
        svd=lambda a: jnp.linalg.svd(a, full_matrices=False),
        conv2d=lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), [(1, 1), (1, 1)]),
        attention=attention,
        layer_norm=layer_norm,
        gelu=lambda x: jax.nn.gelu(x, approximate=False),
        gelu_tanh=lambda x: jax.nn.gelu(x, approximate=True),
        cross_entropy=lambda x, labels: (
            -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(len(labels)), labels])
        ),
    )
    arrays, constants = data(**sizes)
    inputs = [jnp.asarray(a) for a in arrays]

    @jax.jit
    def pulled(inputs: Any) -> Any:
        y, pull = jax.vjp(lambda *xs: program(m, *xs, **constants), *inputs)
        return y, pull(jnp.ones_like(y))

    return lambda: jax.block_until_ready(pulled(inputs))


# -- the operations -----------------------------------------------------------------------------


def _random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _positive(size: int) -> tuple[Arrays, dict[str, Any]]:
    """Return a symmetric positive definite matrix with eigenvalues apart from each other."""
    basis, _ = np.linalg.qr(_random(size, size))
    values = np.linspace(1, 3, size, dtype=np.float32)
    matrix = (basis * values) @ basis.T
    return [(matrix + matrix.T) / 2], {}


def _weighted(size: int) -> tuple[Arrays, dict[str, Any]]:
    arrays, _ = _positive(size)
    return arrays, {"weights": _random(size, size, seed=1)}


def _general(size: int) -> tuple[Arrays, dict[str, Any]]:
    """Return a matrix with singular values apart from each other, and weights."""
    left, _ = np.linalg.qr(_random(size, size))
    (right,), _ = _positive(size)
    return [left @ right], {"weights": _random(size, size, seed=1)}


def _eigh(m: Any, a: Any, weights: Any) -> Any:
    values, vectors = m.eigh(a)
    return m.sum(values * weights[0]) + m.sum(vectors * vectors * weights)


def _svd(m: Any, a: Any, weights: Any) -> Any:
    u, s, vh = m.svd(a)
    return m.sum(s * weights[0]) + m.sum(u * u * weights) + m.sum(vh * vh * weights)


def _labelled(rows: int, columns: int) -> tuple[Arrays, dict[str, Any]]:
    labels = np.random.default_rng(1).integers(0, columns, rows)
    return [_random(rows, columns)], {"labels": labels}


def _case(
    name: str,
    about: str,
    program: Program,
    data: Data,
    limit: float | None,
    sizes: dict[str, Any],
    small: dict[str, Any],
    tolerance: float = 1e-4,
) -> Case:
    return Case(
        name=name,
        about=f"{about}, float32, forward and gradients",
        competitors={
            "wengert": lambda **sizes: _wengert(program, data, **sizes),
            "torch": lambda **sizes: _torch(program, data, **sizes),
            "jax jit": lambda **sizes: _jax(program, data, **sizes),
        },
        must={} if limit is None else {"torch": limit},
        sizes=sizes,
        small=small,
        tolerance=tolerance,
    )


_SQUARE, _SMALL = {"size": 256}, {"size": 5}
_TABLE, _SMALL_TABLE = {"rows": 4096, "columns": 1024}, {"rows": 5, "columns": 7}

CASES = [
    _case(
        "conv2d",
        "conv2d, kernel 3x3, 64 channels to 64, on 32x64x56x56",
        lambda m, x, w: m.conv2d(x, w),
        lambda batch, channels, size: (
            [_random(batch, channels, size, size), _random(channels, channels, 3, 3, seed=1)],
            {},
        ),
        2.0,
        {"batch": 32, "channels": 64, "size": 56},
        {"batch": 2, "channels": 3, "size": 6},
    ),
    _case(
        "attention",
        "scaled dot-product attention, 8 heads, 512 places, width 64",
        lambda m, q, k, v: m.attention(q, k, v),
        lambda heads, length, width: (
            [_random(heads, length, width, seed=s) for s in range(3)],
            {},
        ),
        1.2,
        {"heads": 8, "length": 512, "width": 64},
        {"heads": 2, "length": 5, "width": 3},
    ),
    _case(
        "cholesky",
        "Cholesky factor of a 256x256 matrix",
        lambda m, a: m.cholesky(a),
        _positive,
        1.3,
        _SQUARE,
        _SMALL,
    ),
    _case(
        "solve",
        "solution of 256 equations for 256 right-hand sides",
        lambda m, a, b: m.solve(a, b),
        lambda size: ([*_positive(size)[0], _random(size, size, seed=1)], {}),
        1.3,
        _SQUARE,
        _SMALL,
    ),
    _case(
        "eigh",
        "eigenvalues and vectors of a symmetric 256x256 matrix, weighted",
        _eigh,
        _weighted,
        1.3,
        _SQUARE,
        _SMALL,
        tolerance=1e-2,
    ),
    _case(
        "svd",
        "singular values and vectors of a 256x256 matrix, weighted",
        _svd,
        _general,
        1.3,
        _SQUARE,
        _SMALL,
        tolerance=1e-2,
    ),
    _case(
        "layer-norm",
        "layer norm with weight and bias, 4096x1024",
        lambda m, x, w, b: m.layer_norm(x, w, b),
        lambda rows, columns: (
            [_random(rows, columns), _random(columns, seed=1), _random(columns, seed=2)],
            {},
        ),
        1.3,
        _TABLE,
        _SMALL_TABLE,
    ),
    _case(
        "cross-entropy",
        "softmax cross-entropy with class indices, mean, 4096x1024",
        lambda m, x, labels: m.cross_entropy(x, labels),
        _labelled,
        1.3,
        _TABLE,
        _SMALL_TABLE,
    ),
    _case(
        "gelu",
        "gelu (with erf), 4096x1024",
        lambda m, x: m.gelu(x),
        lambda rows, columns: ([_random(rows, columns)], {}),
        1.3,
        _TABLE,
        _SMALL_TABLE,
    ),
    _case(
        "gelu-tanh",
        "gelu (with tanh), 4096x1024",
        lambda m, x: m.gelu_tanh(x),
        lambda rows, columns: ([_random(rows, columns)], {}),
        1.3,
        _TABLE,
        _SMALL_TABLE,
    ),
]
