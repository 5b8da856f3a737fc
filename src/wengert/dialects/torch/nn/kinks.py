"""Activations with PyTorch's choices at kinks, which are steps of the derivative.

Where a derivative is constant between steps, PyTorch's second derivative is zero, and not nothing.
Parameters are part of an operation, which is made when it is first used with them: so activations
are as fast as other operations of one tensor.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.rules import operation
from wengert.dialects.torch.tensors import of_one
from wengert.ops.families import run
from wengert.ops.neural import activations
from wengert.ops.neural.activations import logistic

#: What computes an activation, called by a function that the program called.
Within = Callable[[Any], Any]
_KEPT = 256


def _offered(op: Any, name: str, kinds: str = "f", refusal: Any = NotImplementedError) -> Within:
    label = "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    return of_one(op, label, False, kinds, refusal).within


def stepped(
    name: str,
    values: Callable[..., Any],
    pull: Callable[..., Any],
    kinds: str = "f",
    refusal: type[Exception] = NotImplementedError,
) -> Callable[..., Within]:
    """Return what makes a function of a tensor whose slope is constant between steps.

    ``values(x, how)`` and ``pull(g, x, how)`` take the parameters, a tuple, as their last argument.
    """

    @functools.lru_cache(_KEPT)
    def make(*how: Any) -> Within:
        back: Any = operation(
            f"{name}_backward",
            lambda xp, g, x2: run(back.op, xp, (g, x2), {}),
            lambda xp, g: xp.zeros_like(g),
            compute=lambda xp, g, x: pull(g, x, how),
        )
        op = operation(
            name,
            lambda xp, g, x: run(back.op, xp, (g, x), {}),
            compute=lambda xp, x: values(x, how),
        )
        return _offered(op, name, kinds, refusal)

    return make


def _zero(x: np.ndarray) -> Any:
    return np.zeros((), x.dtype)


def _clipped(x: np.ndarray, how: Any) -> Any:
    low, high = (np.array(h, x.dtype) for h in how)
    return np.minimum(np.maximum(x, low), high)


def _hard_values(x: np.ndarray, how: Any) -> Any:
    return np.where(np.abs(x) <= how[0], _zero(x), x)


def _soft_values(x: np.ndarray, how: Any) -> Any:
    width = np.array(how[0], x.dtype)
    return np.where(x > width, x - width, np.where(x < -width, x + width, x * 0))


def _outside(g: np.ndarray, x: np.ndarray, how: Any) -> Any:
    return np.where(np.abs(x) <= how[0], _zero(g), g)


#: As exact as PyTorch has it, also in double precision.
_SIXTH = float(np.float32(1 / 6))
leaky_relu = stepped(
    "leaky_relu",
    lambda x, how: np.where(x > 0, x, x * how[0]),
    lambda g, x, how: np.where(x > 0, g, g * how[0]),
)
hardtanh = stepped(
    "hardtanh",
    _clipped,
    lambda g, x, how: np.where((x <= how[0]) | (x >= how[1]), _zero(g), g),
    "iuf",
    RuntimeError,
)
hardsigmoid = stepped(
    "hardsigmoid",
    lambda x, how: np.clip(x + 3, 0, 6) / 6,
    lambda g, x, how: np.where((x > -3) & (x < 3), g * _SIXTH, _zero(g)),
)
threshold = stepped(
    "threshold",
    lambda x, how: np.where(x <= how[0], np.array(how[1], x.dtype), x),
    lambda g, x, how: np.where(x <= how[0], _zero(g), g),
    "iuf",
)
hardshrink = stepped("hardshrink", _hard_values, _outside)
softshrink = stepped("softshrink", _soft_values, _outside)


# -- curves ----------------------------------------------------------------------------------------


@functools.lru_cache(_KEPT)
def elu(alpha: float, scale: float, width: float, name: str = "elu") -> Within:
    """Return what computes scale * elu, which is alpha * (exp(x / width) - 1) below 0."""
    how = (alpha, scale, width)
    op = operation(
        name,
        lambda xp, g, x: activations._elu_rule(xp, g, x, *how),
        compute=lambda xp, x: activations._elu_values(xp, x, *how),
    )
    return _offered(op, name)


@functools.lru_cache(_KEPT)
def gelu(approximate: str) -> Within:
    """Return what computes gelu."""
    op = operation(
        "gelu",
        lambda xp, g, x, y: activations._gelu_rule(xp, g, x, y, approximate),
        compute=lambda xp, x: activations._gelu_values(xp, x, approximate),
    )
    return _offered(op, "gelu")


@functools.lru_cache(_KEPT)
def softplus(beta: float, threshold: float) -> Within:
    """Return what computes softplus, which is x where beta * x is above a threshold."""

    def values(xp: Any, x: Any) -> Any:
        scaled = x * beta
        return np.where(scaled > threshold, x, np.logaddexp(scaled, _zero(x)) / beta)

    def rule(xp: Any, g: Any, x: Any) -> Any:
        scaled = x * beta
        return xp.where(scaled > threshold, g, g * logistic(xp, scaled))

    return _offered(operation("softplus", rule, compute=values), "softplus")


def _of(function: Any, name: str) -> Within:
    return _offered(types.SimpleNamespace(op=function.op), name)


silu, mish, hardswish = (
    _of(getattr(activations, name), name) for name in ("silu", "mish", "hardswish")
)
