"""autograd.misc.optimizers: gradient descent on nests of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.misc.flatten import flatten

Function = Callable[..., Any]


def _on_nests(optimise: Function) -> Function:
    """Return an optimiser of vectors as one of nests."""

    @functools.wraps(optimise)
    def optimiser(
        grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        vector, unflatten = flatten(x0)

        def flat_grad(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimise(flat_grad, vector, flat_callback, *args, **kwargs))

    return optimiser


@_on_nests
def sgd(
    grad: Function,
    x: Any,
    callback: Any = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Return the result of gradient descent with momentum, from grad(x, i) of steps i."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@_on_nests
def rmsprop(
    grad: Function,
    x: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Return the result of descent with steps divided by the mean square of recent gradients."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean_square = gamma * mean_square + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@_on_nests
def adam(
    grad: Function,
    x: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Return the result of Adam."""
    mean, mean_square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        mean_square = b2 * mean_square + (1 - b2) * g**2
        unbiased = mean_square / (1 - b2 ** (i + 1))
        x = x - step_size * mean / (1 - b1 ** (i + 1)) / (np.sqrt(unbiased) + eps)
    return x


__all__ = ["adam", "rmsprop", "sgd"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
