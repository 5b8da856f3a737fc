"""Jacobians and Hessians, dense and sparse, and gradients of many examples."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Run

# -- sparse: 1-D Burgers, chained Rosenbrock ------------------------------------------------------


def _state(n: int) -> np.ndarray:
    return np.sin(np.linspace(0.0, 3.0, n)) + 0.1 * np.cos(np.arange(n))


def burgers(np: Any, u: Any) -> Any:
    """Return the rate of change of u on a grid, whose neighbours at both ends are 0."""
    n = u.shape[0]
    h, nu = 1 / (n + 1), 0.01
    p = np.pad(u, 1)
    return -u * (p[2:] - p[:-2]) / (2 * h) + nu * (p[2:] - 2 * u + p[:-2]) / h**2


def rosenbrock(np: Any, x: Any) -> Any:
    """Return the chained Rosenbrock function."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _jax() -> Any:
    jax = peers.load("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def _total(data: Any) -> Any:
    """Return what tells a wrong matrix from a right one, whatever its format."""
    data = np.asarray(data)
    return np.array([data.sum(), np.abs(data).sum(), (data**2).sum() ** 0.5])


def _wengert_plan(n: int, kind: str) -> Run:
    wg, x = peers.load("wengert"), _state(n)
    make = wg.sparse.jacobian if kind == "jacobian" else wg.sparse.hessian
    fun = burgers if kind == "jacobian" else rosenbrock
    return lambda: _total(make(lambda x: fun(wg, x), x)(x).data)


def _wengert_value(n: int, kind: str) -> Run:
    wg, x = peers.load("wengert"), _state(n)
    make = wg.sparse.jacobian if kind == "jacobian" else wg.sparse.hessian
    fun = burgers if kind == "jacobian" else rosenbrock
    plan = make(lambda x: fun(wg, x), x)
    return lambda: plan(x).data


def _asdex(n: int, kind: str) -> tuple[Any, Any, Any]:
    jax, asdex = _jax(), peers.load("asdex")
    jnp, x = jax.numpy, jax.numpy.asarray(_state(n))
    fun = burgers if kind == "jacobian" else rosenbrock

    def make() -> Any:
        def of_x(x: Any) -> Any:
            return fun(jnp, x)

        if kind == "jacobian":
            colouring = asdex.jacobian_coloring(of_x, x)
            return jax.jit(asdex.jacobian_from_coloring(of_x, colouring))
        colouring = asdex.hessian_coloring(of_x, x)
        return jax.jit(asdex.hessian_from_coloring(of_x, colouring))

    return jax, make, x


def _asdex_plan(n: int, kind: str) -> Run:
    jax, make, x = _asdex(n, kind)
    return lambda: _total(jax.block_until_ready(make()(x)).data)


def _asdex_value(n: int, kind: str) -> Run:
    jax, make, x = _asdex(n, kind)
    compiled = make()
    return lambda: jax.block_until_ready(compiled(x)).data


def _casadi(n: int, kind: str, symbols: str) -> Any:
    ca = peers.load("casadi")
    x = getattr(ca, symbols).sym("x", n)
    if kind == "jacobian":
        h, nu = 1 / (n + 1), 0.01
        p = ca.vertcat(0, x, 0)
        right, left = p[2:], p[:-2]
        y = -x * (right - left) / (2 * h) + nu * (right - 2 * x + left) / h**2
        matrix = ca.jacobian(y, x)
    else:
        ahead, here = x[1:], x[:-1]
        matrix = ca.hessian(ca.sum1(100 * (ahead - here**2) ** 2 + (1 - here) ** 2), x)[0]
    return ca.Function("f", [x], [matrix])


def _casadi_plan(n: int, kind: str, symbols: str) -> Run:
    x = _state(n)
    return lambda: _total(_casadi(n, kind, symbols)(x).nonzeros())


def _casadi_value(n: int, kind: str, symbols: str) -> Run:
    made, x = _casadi(n, kind, symbols), _state(n)
    return lambda: made(x)


def _with(build: Any, *more: Any) -> Any:
    return lambda **sizes: build(sizes["n"], *more)


# -- dense: perceptrons of 1000 to 1000 -----------------------------------------------------------


def _weights(widths: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    weights = [
        (rng.standard_normal((after, before)) * before**-0.5).astype(np.float32)
        for before, after in itertools.pairwise(widths)
    ]
    return rng.standard_normal(widths[0]).astype(np.float32), weights


def _perceptron(np: Any, matmul: Any, x: Any, weights: list[Any]) -> Any:
    for w in weights[:-1]:
        x = np.tanh(matmul(w, x))
    return matmul(weights[-1], x)


def _wengert_dense(widths: tuple[int, ...]) -> Run:
    wg = peers.load("wengert")
    x, arrays = _weights(widths)
    weights = [wg.asarray(w) for w in arrays]
    jacobian = wg.jacobian(lambda x: _perceptron(wg, wg.matmul, x, weights))
    return lambda: jacobian(x)


def _jax_dense(widths: tuple[int, ...]) -> Run:
    jax = peers.load("jax")
    x, arrays = _weights(widths)
    weights = [jax.numpy.asarray(w) for w in arrays]
    compiled = jax.jit(jax.jacrev(lambda x: _perceptron(jax.numpy, jax.numpy.matmul, x, weights)))
    return lambda: jax.block_until_ready(compiled(x))


def _tensorflow_dense(widths: tuple[int, ...]) -> Run:
    tf = peers.load("tensorflow")
    x, arrays = _weights(widths)
    source = tf.constant(x)
    weights = [tf.constant(w) for w in arrays]

    def run() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(source)
            y = _perceptron(tf, tf.linalg.matvec, source, weights)
        return tape.jacobian(y, source)

    return run


# -- gradients of each example --------------------------------------------------------------------


def _examples(examples: int, widths: tuple[int, ...]) -> tuple[Any, Any, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((examples, widths[0])).astype(np.float32)
    y = rng.standard_normal((examples, widths[-1])).astype(np.float32)
    parameters: list[np.ndarray] = []
    for before, after in itertools.pairwise(widths):
        parameters.append((rng.standard_normal((before, after)) / before**0.5).astype(np.float32))
        parameters.append(np.zeros(after, np.float32))
    return x, y, parameters


def _loss(np: Any, parameters: Any, x: Any, y: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    h = np.tanh(x @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    return np.sum((h @ w3 + b3 - y) ** 2)


def _wengert_examples(**sizes: Any) -> Run:
    wg = peers.load("wengert")
    x, y, parameters = _examples(**sizes)
    gradients = wg.vmap(wg.grad(lambda p, x, y: _loss(wg, p, x, y)), (None, 0, 0))
    return lambda: gradients(parameters, x, y)


def _wengert_loop(**sizes: Any) -> Run:
    wg = peers.load("wengert")
    x, y, parameters = _examples(**sizes)
    gradient = wg.grad(lambda p, x, y: _loss(wg, p, x, y))

    def run() -> Any:
        each = [gradient(parameters, *pair) for pair in zip(x, y, strict=True)]
        return [np.stack(parts) for parts in zip(*each, strict=True)]

    return run


def _torch_examples(**sizes: Any) -> Run:
    torch = peers.load("torch")
    x, y, parameters = _examples(**sizes)
    given = [torch.tensor(p) for p in parameters], torch.tensor(x), torch.tensor(y)
    gradients = torch.func.vmap(
        torch.func.grad(lambda p, x, y: _loss(torch, p, x, y)), (None, 0, 0)
    )
    return lambda: gradients(*given)


def _jax_examples(**sizes: Any) -> Run:
    jax = peers.load("jax")
    x, y, parameters = _examples(**sizes)
    gradients = jax.jit(jax.vmap(jax.grad(lambda p, x, y: _loss(jax.numpy, p, x, y)), (None, 0, 0)))
    return lambda: jax.block_until_ready(gradients(parameters, x, y))


CASES = [
    Case(
        name="sparse-plan",
        about="sparse Jacobian of 1-D Burgers, n = 100,000: pattern, colours and first value",
        competitors={
            "wengert": _with(_wengert_plan, "jacobian"),
            "asdex": _with(_asdex_plan, "jacobian"),
            "casadi SX": _with(_casadi_plan, "jacobian", "SX"),
            "casadi MX": _with(_casadi_plan, "jacobian", "MX"),
        },
        must={"asdex": 1 / 3, "casadi SX": 1.0, "casadi MX": 1.0},
        sizes={"n": 100_000},
        small={"n": 50},
        tolerance=1e-9,
    ),
    Case(
        name="sparse-value",
        about="the same, each further value",
        competitors={
            "wengert": _with(_wengert_value, "jacobian"),
            "asdex jit": _with(_asdex_value, "jacobian"),
            "casadi SX": _with(_casadi_value, "jacobian", "SX"),
            "casadi MX": _with(_casadi_value, "jacobian", "MX"),
        },
        must={"asdex jit": 1.5, "casadi SX": 0.25, "casadi MX": 0.25},
        sizes={"n": 100_000},
        small={"n": 50},
        agree=False,
    ),
    Case(
        name="sparse-hessian",
        about="sparse Hessian of the chained Rosenbrock function, n = 100,000: plan and value",
        competitors={
            "wengert": _with(_wengert_plan, "hessian"),
            "asdex": _with(_asdex_plan, "hessian"),
            "casadi SX": _with(_casadi_plan, "hessian", "SX"),
        },
        must={"asdex": 1.0, "casadi SX": 1.0},
        sizes={"n": 100_000},
        small={"n": 50},
        agree=False,
    ),
    Case(
        name="jacobian-mlp",
        about="dense Jacobian of a perceptron 1000-256-256-1000, by reverse mode",
        competitors={
            "wengert": _wengert_dense,
            "jax jit": _jax_dense,
            "tensorflow": _tensorflow_dense,
        },
        must={"jax jit": 1.2, "tensorflow": 0.2},
        sizes={"widths": (1000, 256, 256, 1000)},
        small={"widths": (5, 3, 4, 5)},
    ),
    Case(
        name="jacobian-mlp-wide",
        about="the same with three layers of 1000: little but matrix products",
        competitors={
            "wengert": _wengert_dense,
            "jax jit": _jax_dense,
            "tensorflow": _tensorflow_dense,
        },
        must={"jax jit": 1.2},
        sizes={"widths": (1000, 1000, 1000, 1000)},
        small={"widths": (5, 5, 5, 5)},
    ),
    Case(
        name="vmap-grad",
        about="gradients of each of 512 examples, perceptron 16-32-32-1",
        competitors={
            "wengert": _wengert_examples,
            "wengert loop": _wengert_loop,
            "torch func": _torch_examples,
            "jax jit": _jax_examples,
        },
        must={"wengert loop": 0.02, "torch func": 1.5},
        sizes={"examples": 512, "widths": (16, 32, 32, 1)},
        small={"examples": 3, "widths": (4, 5, 5, 2)},
        tolerance=1e-3,
    ),
    Case(
        name="vmap-grad-large",
        about="gradients of each of 512 examples, perceptron 64-128-128-10: 53 MB of results",
        competitors={
            "wengert": _wengert_examples,
            "torch func": _torch_examples,
            "jax jit": _jax_examples,
        },
        must={"torch func": 1.5},
        sizes={"examples": 512, "widths": (64, 128, 128, 10)},
        small={"examples": 3, "widths": (4, 5, 5, 2)},
        tolerance=1e-3,
    ),
]
