"""Activations by Keras's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.dialects.tensorflow import nn
from wengert.dialects.tensorflow.keras.losses import inside
from wengert.dialects.tensorflow.keras.options import getter
from wengert.dialects.tensorflow.kinds import Floating
from wengert.dialects.tensorflow.table import guarded, put
from wengert.dialects.tensorflow.tensors import convert
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import activations

ns = Native._namespace


def _relu(x: Any, negative_slope: Any = 0.0, max_value: Any = None, threshold: Any = 0.0) -> Any:
    x = convert(x)
    if not (negative_slope or threshold or max_value is not None):
        return nn.relu(x)
    above = x if max_value is None else ns.where(x >= max_value, max_value, x)
    return ns.where(x > threshold, above, negative_slope * (x - threshold))


def _soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    return ns.where(x > threshold, x - threshold, ns.where(x < -threshold, x + threshold, 0.0))


def _linear(x: Any) -> Any:
    """Return x."""
    return x


#: Each activation: what it returns, in words, and how.
_ACTIVATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "relu": ("x above a threshold, perhaps up to a limit, else negative_slope * (x - threshold)",
             _relu),
    "leaky_relu": ("x where it is positive, else negative_slope * x",
                   lambda x, negative_slope=0.2: activations.leaky_relu(x, negative_slope)),
    "elu": ("x where it is positive, else alpha * (exp(x) - 1)",
            lambda x, alpha=1.0: activations.elu(x, alpha)),
    "celu": ("x where it is positive, else alpha * (exp(x / alpha) - 1)",
             lambda x, alpha=1.0: activations.celu(x, alpha)),
    "selu": ("elu, scaled so that a mean of 0 and a variance of 1 stay",
             lambda x: nn.selu(x)),
    "softmax": ("exp(x) over its sum along an axis", lambda x, axis=-1: activations.softmax(
        x, axis=tuple(axis) if isinstance(axis, list) else axis)),
    "log_softmax": ("the logarithm of softmax",
                    lambda x, axis=-1: activations.log_softmax(x, axis=axis)),
    "gelu": ("x times the chance that a normal number is smaller than x",
             lambda x, approximate=False: activations.gelu(
                 x, approximate="tanh" if approximate else "none")),
    "glu": ("the first half of x times the sigmoid of the second",
            lambda x, axis=-1: activations.glu(x, axis=axis)),
    "soft_shrink": ("x moved towards 0 by a threshold", _soft_shrink),
    "hard_shrink": ("x where it is beyond a threshold, else 0",
                    lambda x, threshold=0.5: ns.where(ns.abs(x) > threshold, x, 0.0)),
    "squareplus": ("(x + sqrt(x * x + b)) / 2", lambda x, b=4: (x + ns.sqrt(x * x + b)) / 2.0),
    "threshold": ("x where it is above a threshold, else another value",
                  lambda x, threshold, default_value: ns.where(x > threshold, x, default_value)),
    "hard_silu": ("x * hard_sigmoid(x)", lambda x: x * activations.hardsigmoid(x)),
    "hard_swish": ("x * hard_sigmoid(x)", lambda x: x * activations.hardsigmoid(x)),
    "tanh_shrink": ("x - tanh(x)", lambda x: x - ns.tanh(x)),
    "softplus": ("log(1 + exp(x))", lambda x: activations.softplus(x)),
    "softsign": ("x / (1 + abs(x))", lambda x: activations.softsign(x)),
    "tanh": ("tanh(x)", lambda x: ns.tanh(x)),
    "sigmoid": ("1 / (1 + exp(-x))", lambda x: activations.sigmoid(x)),
    "hard_sigmoid": ("x / 6 + 1 / 2 between 0 and 1", lambda x: activations.hardsigmoid(x)),
    "silu": ("x * sigmoid(x)", lambda x: activations.silu(x)),
    "swish": ("x * sigmoid(x)", lambda x: activations.silu(x)),
    "exponential": ("exp(x)", lambda x: ns.exp(x)),
    "mish": ("x * tanh(softplus(x))", lambda x: activations.mish(x)),
    "relu6": ("x between 0 and 6", lambda x: activations.relu6(x)),
    "log_sigmoid": ("the logarithm of sigmoid(x)", lambda x: activations.log_sigmoid(x)),
    "hard_tanh": ("x between -1 and 1", lambda x: inside(x, -1.0, 1.0)),
}  # fmt: skip
_BY_NAME: dict[str, Callable[..., Any]] = {"linear": _linear}
_DIFFERS = {"celu": "the derivative at 0 is 1; in Keras it is 2"}
for _name, (_meaning, _function) in _ACTIVATIONS.items():
    if _name != "relu":
        _function.__annotations__ = {"x": Floating}
    _function.__doc__ = f"Return {_meaning}."
    _BY_NAME[_name] = guarded(_name, ValueError, TypeError)(_function)
for _name, _function in _BY_NAME.items():
    put((f"keras.activations.{_name}",), _function, _DIFFERS.get(_name, ""))
getter("activations", _BY_NAME, "activation function", _linear)
