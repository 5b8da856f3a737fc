"""One function of arrays, in every framework: its value, or its value and gradient.

`function(xp, x, **sizes)` is written once against a namespace. Each runner is what a
user of that framework writes; inputs are in its own array type before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Build, Run

Function = Callable[..., Any]


def inputs(size: int) -> np.ndarray:
    """Return float32 numbers for which the chains stay bounded, and all partials too."""
    return np.random.default_rng(0).uniform(0.5, 1.5, size).astype(np.float32)


def _wengert_gradient(function: Function, size: int, **sizes: Any) -> Run:
    wg = peers.load("wengert")
    x = wg.asarray(inputs(size))

    def run() -> Any:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = function(wg, x, **sizes)
        return y, tape.gradient(y, x)

    return run


def torch_gradient(function: Function, size: int, module: str = "torch", **sizes: Any) -> Run:
    """Return a run of a function and its gradient by autograd.grad."""
    torch = peers.load(module)
    x = torch.tensor(inputs(size), requires_grad=True)

    def run() -> Any:
        y = function(torch, x, **sizes)
        (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
        return y.detach(), gradient

    return run


def tensorflow_gradient(
    function: Function, size: int, module: str = "tensorflow", **sizes: Any
) -> Run:
    """Return a run of a function and its gradient by a GradientTape."""
    tf = peers.load(module)
    x = tf.constant(inputs(size))

    def run() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(tf, x, **sizes)
        return y, tape.gradient(y, x)

    return run


def _jax_gradient(function: Function, size: int, jit: bool = False, **sizes: Any) -> Run:
    jax = peers.load("jax")
    x = jax.numpy.asarray(inputs(size))

    def pulled(x: Any) -> Any:
        y, pull = jax.vjp(lambda x: function(jax.numpy, x, **sizes), x)
        return y, pull(jax.numpy.ones_like(y))[0]

    called = jax.jit(pulled) if jit else pulled
    return lambda: jax.block_until_ready(called(x))


def _autograd_gradient(function: Function, size: int, **sizes: Any) -> Run:
    autograd, xp = peers.load("autograd"), peers.load("autograd.numpy")
    x = inputs(size)

    def run() -> Any:
        pull, y = autograd.make_vjp(lambda x: function(xp, x, **sizes))(x)
        return y, pull(np.ones_like(y))

    return run


def one_thread(build: Build) -> Build:
    """Return a competitor of PyTorch that computes on one thread.

    PyTorch starts all threads even for the sine of 100 numbers, and waits for them. Where
    another process holds a core, that wait is a hundred times the arithmetic, and a ratio
    to it says nothing. One thread is faster on small arrays, and waits for nobody.
    """

    def built(**sizes: Any) -> Run:
        torch = peers.load("torch")
        run = build(**sizes)

        def limited() -> Any:
            torch.set_num_threads(1)
            try:
                return run()
            finally:
                torch.set_num_threads(peers.thread_count())

        return limited

    return built


def gradients(function: Function, by_hand: Build) -> dict[str, Build]:
    """Return competitors that compute a function and its gradient; `by_hand` is in NumPy."""
    return {
        "wengert": lambda **sizes: _wengert_gradient(function, **sizes),
        "numpy": by_hand,
        "torch": lambda **sizes: torch_gradient(function, **sizes),
        "tensorflow": lambda **sizes: tensorflow_gradient(function, **sizes),
        "jax": lambda **sizes: _jax_gradient(function, **sizes),
        "jax jit": lambda **sizes: _jax_gradient(function, jit=True, **sizes),
        "autograd": lambda **sizes: _autograd_gradient(function, **sizes),
    }


def _plain(xp: Any, function: Function, x: Any, sizes: dict[str, Any]) -> Run:
    return lambda: function(xp, x, **sizes)


def _wengert_value(function: Function, size: int, **sizes: Any) -> Run:
    wg = peers.load("wengert")
    return _plain(wg, function, wg.asarray(inputs(size)), sizes)


def _torch_value(function: Function, size: int, **sizes: Any) -> Run:
    torch = peers.load("torch")
    return _plain(torch, function, torch.tensor(inputs(size)), sizes)


def _tensorflow_value(function: Function, size: int, **sizes: Any) -> Run:
    tf = peers.load("tensorflow")
    return _plain(tf, function, tf.constant(inputs(size)), sizes)


def _jax_value(function: Function, size: int, jit: bool = False, **sizes: Any) -> Run:
    jax = peers.load("jax")
    x = jax.numpy.asarray(inputs(size))

    def value(x: Any) -> Any:
        return function(jax.numpy, x, **sizes)

    called = jax.jit(value) if jit else value
    return lambda: jax.block_until_ready(called(x))


def values(function: Function) -> dict[str, Build]:
    """Return competitors that compute a function while nothing is recorded."""
    return {
        "wengert": lambda **sizes: _wengert_value(function, **sizes),
        "numpy": lambda size, **sizes: _plain(np, function, inputs(size), sizes),
        "torch": lambda **sizes: _torch_value(function, **sizes),
        "tensorflow": lambda **sizes: _tensorflow_value(function, **sizes),
        "jax": lambda **sizes: _jax_value(function, **sizes),
        "jax jit": lambda **sizes: _jax_value(function, jit=True, **sizes),
        "autograd": lambda size, **sizes: _plain(
            peers.load("autograd.numpy"), function, inputs(size), sizes
        ),
    }
