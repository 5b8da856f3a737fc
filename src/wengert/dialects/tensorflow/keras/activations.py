"""Activations by Keras's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.dialects.tensorflow import nn
from wengert.dialects.tensorflow.keras.losses import inside
from wengert.dialects.tensorflow.keras.names import looked_up
from wengert.dialects.tensorflow.table import offered, plain, put
from wengert.dialects.tensorflow.tensors import convert
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import activations

ns = Native._namespace
_CHECKS: Any = (ValueError, TypeError)
_BY_NAME: dict[str, Callable[..., Any]] = {}


def _activation(
    *names: str, differs: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        full = [f"keras.activations.{name}" for name in names]
        call = offered(*full, raises=_CHECKS, differs=differs)(function)
        _BY_NAME.update(dict.fromkeys(names, call))
        return call

    return declare


def _real(x: Any) -> Native:
    return nn._real(x, "activation")


@_activation("relu")
def relu(
    x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Any:
    """Return x above a threshold, perhaps up to a limit, and negative_slope * (x - threshold)."""
    x = convert(x)
    if not (negative_slope or threshold or max_value is not None):
        return nn.relu(x)
    above = x if max_value is None else ns.where(x >= max_value, max_value, x)
    below = negative_slope * (x - threshold)
    return ns.where(x > threshold, above, below)


@_activation("leaky_relu")
def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return x where it is positive, else negative_slope * x."""
    return activations.leaky_relu(_real(x), negative_slope)


@_activation("elu")
def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return x where it is positive, else alpha * (exp(x) - 1)."""
    return activations.elu(_real(x), alpha)


@_activation("celu", differs="the derivative at 0 is 1; in Keras it is 2")
def celu(x: Any, alpha: float = 1.0) -> Any:
    """Return x where it is positive, else alpha * (exp(x / alpha) - 1)."""
    return activations.celu(_real(x), alpha)


@_activation("softmax")
def softmax(x: Any, axis: Any = -1) -> Any:
    """Return exp(x) over its sum along an axis."""
    return activations.softmax(_real(x), axis=tuple(axis) if isinstance(axis, list) else axis)


@_activation("log_softmax")
def log_softmax(x: Any, axis: int = -1) -> Any:
    """Return the logarithm of softmax."""
    return activations.log_softmax(_real(x), axis=axis)


@_activation("gelu")
def gelu(x: Any, approximate: bool = False) -> Any:
    """Return x times the chance that a normal number is smaller than x."""
    return activations.gelu(_real(x), approximate="tanh" if approximate else "none")


@_activation("glu")
def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half of x times the sigmoid of the second."""
    return activations.glu(_real(x), axis=axis)


@_activation("soft_shrink")
def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    """Return x moved towards 0 by a threshold."""
    x = _real(x)
    return ns.where(x > threshold, x - threshold, ns.where(x < -threshold, x + threshold, 0.0))


@_activation("hard_shrink")
def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    """Return x where it is beyond a threshold, else 0."""
    x = _real(x)
    return ns.where(ns.abs(x) > threshold, x, 0.0)


@_activation("squareplus")
def squareplus(x: Any, b: float = 4) -> Any:
    """Return (x + sqrt(x * x + b)) / 2."""
    x = _real(x)
    return (x + ns.sqrt(x * x + b)) / 2.0


@_activation("threshold")
def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """Return x where it is above a threshold, else another value."""
    x = _real(x)
    return ns.where(x > threshold, x, default_value)


@_activation("hard_silu", "hard_swish")
def hard_silu(x: Any) -> Any:
    """Return x * hard_sigmoid(x)."""
    x = _real(x)
    return x * activations.hardsigmoid(x)


@_activation("tanh_shrink")
def tanh_shrink(x: Any) -> Any:
    """Return x - tanh(x)."""
    x = _real(x)
    return x - ns.tanh(x)


def _of_x(name: str, function: Callable[[Native], Any]) -> None:
    """Offer an activation without options."""

    def call(x: Any) -> Any:
        return function(_real(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {name}(x)."
    _activation(name)(call)


for _name, _function in {
    "selu": nn.selu, "softplus": activations.softplus, "softsign": activations.softsign,
    "tanh": ns.tanh, "sigmoid": activations.sigmoid, "hard_sigmoid": activations.hardsigmoid,
    "silu": activations.silu, "swish": activations.silu, "exponential": ns.exp,
    "mish": activations.mish, "relu6": activations.relu6, "log_sigmoid": activations.log_sigmoid,
    "hard_tanh": lambda x: inside(x, -1.0, 1.0),
}.items():  # fmt: skip
    _of_x(_name, _function)


def linear(x: Any) -> Any:
    """Return x."""
    return x


put(("keras.activations.linear",), linear)
_BY_NAME["linear"] = linear


@plain("keras.activations.get")
def get(identifier: Any) -> Any:
    """Return an activation by its name, or as it is; None is `linear`."""
    return linear if identifier is None else looked_up(identifier, _BY_NAME, "activation function")
