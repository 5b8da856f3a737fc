"""Programs compiled by `wg.jit`, beside the same programs in jax.numpy compiled by `jax.jit`.

Both get arrays of JAX's, so that what is compared is the compiled programs and what calling them
costs. Compilation has cases of its own.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import objectives, peers
from benchmarks.harness import Case, Run, processor_timers
from benchmarks.jacobians import burgers

#: The most that a program, and that compiling it, may take of jax.jit's time.
_MOST, _MOST_TO_COMPILE = 1.15, 1.5


def _jax() -> Any:
    jax = peers.load("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def _gmm(library: str, points: int, d: int, k: int) -> tuple[Any, list[np.ndarray]]:
    """Return the function to compile, and its arguments."""
    data = list(objectives.gmm_data(points, d, k))
    if library == "wengert":
        wg = peers.load("wengert")
        f = functools.partial(objectives.gmm, wg, wg.special.logsumexp)
        return wg.grad(f, argnums=(0, 1, 2)), data
    jax = _jax()
    f = functools.partial(objectives.gmm, jax.numpy, jax.scipy.special.logsumexp)
    return jax.grad(f, argnums=(0, 1, 2)), data


def _lstm(library: str, steps: int) -> tuple[Any, list[np.ndarray]]:
    data = list(objectives.lstm_data(steps))
    if library == "wengert":
        wg = peers.load("wengert")
        f = functools.partial(objectives.lstm, wg, wg.nn.sigmoid, wg.scan)
        return wg.grad(f, argnums=(0, 1)), data
    jax = _jax()
    f = functools.partial(objectives.lstm, jax.numpy, jax.nn.sigmoid, jax.lax.scan)
    return jax.grad(f, argnums=(0, 1)), data


def _hand(library: str, points: int) -> tuple[Any, list[np.ndarray]]:
    data = list(objectives.hand_data(points))
    if library == "wengert":
        wg = peers.load("wengert")
        return wg.jacobian(functools.partial(objectives.hand, wg), mode="forward"), data
    jax = _jax()
    return jax.jacfwd(functools.partial(objectives.hand, jax.numpy)), data


def _mlp(library: str, batch: int) -> tuple[Any, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    widths = (784, 512, 512, 10)
    data = [rng.standard_normal((batch, widths[0])), rng.standard_normal((batch, widths[-1]))]
    for a, b in itertools.pairwise(widths):
        data += [rng.standard_normal((a, b)) / a**0.5, rng.standard_normal(b)]
    data = [a.astype(np.float32) for a in data]

    def loss(xp: Any, x: Any, y: Any, *parameters: Any) -> Any:
        for k in range(0, len(parameters), 2):
            x = x @ parameters[k] + parameters[k + 1]
            x = xp.tanh(x) if k < 4 else x
        return xp.mean((x - y) ** 2)

    wanted = tuple(range(2, 8))
    if library == "wengert":
        wg = peers.load("wengert")
        return wg.value_and_grad(functools.partial(loss, wg), argnums=wanted), data
    jax = _jax()
    return jax.value_and_grad(functools.partial(loss, jax.numpy), argnums=wanted), data


def _burgers(library: str, n: int) -> tuple[Any, list[np.ndarray]]:
    """Return the values of a tridiagonal Jacobian, row by row."""
    u = np.sin(np.linspace(0.0, 3.0, n)) + 0.1 * np.cos(np.arange(n))
    if library == "wengert":
        wg = peers.load("wengert")
        plan = wg.sparse.jacobian(lambda x: burgers(wg, x), u)
        return plan.values, [u]
    jax = _jax()
    jnp = jax.numpy
    seeds = np.zeros((3, n))
    for colour in range(3):
        seeds[colour, colour::3] = 1.0
    rows = np.repeat(np.arange(n), 3)[1:-1]
    columns = (np.arange(n)[:, None] + np.array([-1, 0, 1])).reshape(-1)[1:-1]

    def values(u: Any) -> Any:
        f = functools.partial(burgers, jnp)
        products = jax.vmap(lambda s: jax.jvp(f, (u,), (s,))[1])(jnp.asarray(seeds))
        return products[columns % 3, rows]

    return values, [u]


Make = Callable[..., tuple[Any, list[np.ndarray]]]


def _compiled(library: str, function: Any) -> Any:
    return peers.load("wengert").jit(function) if library == "wengert" else _jax().jit(function)


def _run(library: str, make: Make, **sizes: Any) -> Run:
    jax = _jax()
    function, data = make(library, **sizes)
    program = _compiled(library, function)
    arrays = [*map(jax.numpy.asarray, data)]
    return lambda: jax.block_until_ready(program(*arrays))


def _compiling(library: str, make: Make, **sizes: Any) -> Run:
    """Return a run that compiles from nothing."""
    jax = _jax()

    def run() -> Any:
        jax.clear_caches()
        function, data = make(library, **sizes)
        return jax.block_until_ready(_compiled(library, function)(*map(jax.numpy.asarray, data)))

    return run


def _cases(
    name: str, about: str, make: Make, sizes: Any, small: Any, tolerance: float
) -> list[Case]:
    return [
        Case(
            name=f"jit-{name}{suffix}",
            about=f"{about}{words}",
            competitors={
                library: functools.partial(kind, library, make) for library in ("wengert", "jax")
            },
            must={"jax": limit},
            sizes=sizes,
            small=small,
            verdict="minimum",
            tolerance=tolerance,
            samplers=processor_timers,
        )
        for suffix, words, kind, limit in (
            ("", ", compiled.", _run, _MOST),
            ("-compile", ": compiling it.", _compiling, _MOST_TO_COMPILE),
        )
    ]


CASES = [
    *_cases("gmm", "Gradient of ADBench's Gaussian mixture", _gmm,
            {"points": 1000, "d": 10, "k": 25}, {"points": 5, "d": 3, "k": 2}, 1e-6),
    *_cases("lstm", "Gradient of ADBench's LSTM over characters by wg.scan", _lstm,
            {"steps": 1024}, {"steps": 4}, 1e-6),
    *_cases("hand", "Jacobian of hand tracking, by 26 parameters", _hand,
            {"points": 100}, {"points": 3}, 1e-6),
    *_cases("mlp", "MLP 784-512-512-10 in single precision: loss and six gradients", _mlp,
            {"batch": 256}, {"batch": 2}, 1e-4),
    *_cases("burgers", "Values of the sparse Jacobian of Burgers' equation", _burgers,
            {"n": 10_000}, {"n": 12}, 1e-6),
]  # fmt: skip
