"""torch.nn.functional: activations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import named, warn
from wengert.dialects.torch import conventions, memory
from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.kinds import Axis, Dtype, Input, floating
from wengert.dialects.torch.nn import arguments, kinks
from wengert.dialects.torch.nn.arguments import F, Floats, activation, functional, misfit, number
from wengert.dialects.torch.operators import of_one, one
from wengert.dialects.torch.random import exponential
from wengert.dialects.torch.table import NAMES, guarded, offered, plain, put
from wengert.dialects.torch.tensors import Native, astype, ns, only_tensor, wrap_native
from wengert.engine.record import apply
from wengert.ops import special
from wengert.ops.batching import constant, drawn
from wengert.ops.neural import activations, steps

# -- straight lines --------------------------------------------------------------------------------

one(("relu",), steps.relu, "", False, "iuf")
_relu = of_one(steps.relu, "ReluBackward0", False, "iuf", RuntimeError).within
_relu_in_place = NAMES["relu_"]


@plain(F + "relu")
def relu(input: Any, inplace: bool = False) -> Any:
    """Return x where it is positive, else 0."""
    return _relu_in_place(input) if inplace else _relu(input)


put((F + "relu_",), _relu_in_place)
for _name in ("sigmoid", "tanh"):
    put((F + _name,), NAMES[_name])


@activation("hardtanh", underscored=(F + "hardtanh_",))
def hardtanh(min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Return x clipped to an interval; its derivative at the ends is 0."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val={min_val} exceeds max_val={max_val}; swap them")
    return kinks.hardtanh(number(min_val), number(max_val))


activation("relu6", doc="Return x clipped to the interval from 0 to 6.")(
    lambda: kinks.hardtanh(0, 6)
)
activation(
    "leaky_relu",
    underscored=(F + "leaky_relu_",),
    doc="Return x where it is positive, else negative_slope * x.",
)(lambda negative_slope=0.01: kinks.leaky_relu(number(negative_slope)))
activation("hardsigmoid", doc="Return x / 6 + 1/2, clipped to the interval from 0 to 1.")(
    lambda: kinks.hardsigmoid()
)
activation("hardswish", doc="Return x * hardsigmoid(x).")(lambda: kinks.hardswish)
activation(
    "threshold",
    "threshold",
    underscored=(F + "threshold_", "threshold_"),
    doc="Return x where it is above a threshold, else a value.",
)(lambda threshold, value: kinks.threshold(number(threshold), number(value)))


@plain(F + "hardshrink", "hardshrink", "Tensor.hardshrink")
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return x, and 0 where it is no larger than `lambd`."""
    return kinks.hardshrink(number(lambd))(input)


@plain(F + "softshrink")
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return x moved towards 0 by `lambd`."""
    if lambd < 0:
        raise RuntimeError(f"lambd is {lambd}; give 0 or more")
    return kinks.softshrink(number(lambd))(input)


@functional("prelu", "Tensor.prelu", label="PreluKernelBackward0")
def prelu(input: arguments.Alike, weight: arguments.Alike) -> Native:
    """Return x where it is positive, else x times the weight of its channel."""
    x, w = input, weight
    if kind_of(x) != "f":
        raise unable("prelu", x)
    channels = 1 if x.ndim == 1 else x.shape[1] if x.ndim else 0
    several = w.ndim > 0 and w.shape[0] != 1
    if w.ndim > 1 or (several and channels != w.shape[0]):
        raise misfit("prelu", "one weight, or one for each channel", input=x, weight=w)
    if several:
        w = ns.reshape(w, (w.shape[0], *(1,) * (x.ndim - 2)))
    elif not x.ndim:
        w = ns.reshape(w, ())
    return activations.prelu(conventions.read(x), conventions.read(w))


# -- curves ----------------------------------------------------------------------------------------


activation(
    "elu",
    underscored=(F + "elu_",),
    doc="Return x where it is positive, else alpha * (exp(x) - 1).",
)(lambda alpha=1.0: kinks.elu(number(alpha), 1.0, 1.0))
activation(
    "selu",
    "selu",
    underscored=(F + "selu_", "selu_"),
    doc="Return elu with a slope and a scale that keep the mean 0 and the variance 1.",
)(lambda: kinks.elu(activations.SELU["alpha"], activations.SELU["scale"], 1.0))
activation("mish", doc="Return x * tanh(softplus(x)).")(lambda: kinks.mish)


@activation("celu", "celu", underscored=(F + "celu_", "celu_"))
def celu(alpha: float = 1.0) -> Any:
    """Return x where it is positive, else alpha * (exp(x / alpha) - 1)."""
    if alpha == 0:
        raise RuntimeError("celu: alpha is 0, and it is divided by; give another number")
    return kinks.celu(number(alpha), 1.0, number(alpha))


@plain(F + "gelu")
def gelu(input: Any, *, approximate: str = "none") -> Any:
    """Return x times the chance that a normal number is smaller than x."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu: approximate is {approximate!r}; give 'none' or 'tanh'")
    return memory.apart(kinks.gelu(approximate)(input))


activation("silu", doc="Return x * sigmoid(x).")(lambda: kinks.silu)


@plain(F + "softplus")
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold."""
    return kinks.softplus(number(beta), number(threshold))(input)


@functional(label="DivBackward0")
def softsign(input: Input) -> Native:
    """Return x / (1 + abs(x))."""
    if kind_of(input) == "b":
        raise unable("abs_cpu", input)
    x = floating(input)
    return apply(conventions.divide.op, (x, apply(conventions.absolute.op, (x,), {}) + 1), {})


@functional(label="SubBackward0")
def tanhshrink(input: Input) -> Native:
    """Return x - tanh(x)."""
    if kind_of(input) == "b":
        raise RuntimeError("tanhshrink: booleans have no differences; write x.float()")
    x = floating(input)
    return x - ns.tanh(x)


@functional(label="LogSigmoidBackward0")
def logsigmoid(input: Floats) -> Native:
    """Return log(sigmoid(x))."""
    return special.log_expit(input)


@functional()
def glu(input: Floats, dim: Axis = -1) -> Native:
    """Return the first half of x along an axis, times the sigmoid of the second."""
    if not input.ndim or input.shape[dim] % 2:
        raise misfit("glu", "an even number of elements", input=input, dim=dim)
    return activations.glu(input, axis=dim)


# -- along an axis ---------------------------------------------------------------------------------


def _lines(function: Any, x: Native, axis: int, dtype: np.dtype | None, name: str) -> Native:
    if dtype is not None:
        x = astype(x, dtype)
    if kind_of(x) != "f":
        raise unable(name, x)
    if not x.ndim:
        return ns.reshape(function(ns.reshape(x, (1,)), axis=0), ())
    return function(x, axis=axis)


@offered("softmax")
def softmax(input: Input, dim: Axis, dtype: Dtype | None = None) -> Native:
    """Return exp(x) over its sum along an axis."""
    return _lines(special.softmax, input, dim, dtype, "softmax")


@offered("log_softmax")
def log_softmax(input: Input, dim: Axis, dtype: Dtype | None = None) -> Native:
    """Return the logarithm of softmax."""
    return _lines(special.log_softmax, input, dim, dtype, "log_softmax")


def _usual_axis(input: Any, name: str) -> int:
    """Return the axis that is meant where none is given, which PyTorch warns about."""
    warn(f"{name}: no axis was given, and one was guessed from the shape; write dim=")
    return 0 if only_tensor(input, name).ndim in (0, 1, 3) else 1


def _of_functional(name: str, function: Any) -> None:
    @plain(F + name)
    @named(name, function.__doc__)
    def call(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            dim = _usual_axis(input, name)
        return function(input, dim, dtype)


def _softmin(input: Input, dim: Axis, dtype: Dtype | None = None) -> Native:
    """Return exp(-x) over its sum along an axis."""
    return _lines(special.softmax, -input, dim, dtype, "softmin")


_of_functional("softmax", softmax)
_of_functional("log_softmax", log_softmax)
_of_functional("softmin", guarded(_softmin, "SoftmaxBackward0"))


def _gumbel(size: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    waits = exponential(default_generator, math.prod(size)).astype(kind)
    return -np.log(waits.reshape(size))


@functional(label="SoftmaxBackward0")
def gumbel_softmax(
    logits: Floats, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: Axis = -1
) -> Native:
    """Return softmax of logits with noise; with `hard` the largest is 1, and derivatives stay."""
    axis, kind = dim, logits._raw.dtype
    noise = drawn("gumbel_softmax", lambda size: _gumbel(size, kind), logits.shape)
    soft = _lines(special.softmax, (logits + noise) / tau, axis, None, "gumbel_softmax")
    if not hard:
        return soft
    largest = ns.expand_dims(ns.argmax(soft, axis=axis), axis=axis)
    sizes = [1] * soft.ndim
    sizes[axis] = soft.shape[axis]
    steps = wrap_native(np.arange(soft.shape[axis]).reshape(sizes))
    return ns.astype(ns.equal(largest, steps), kind) - constant(soft) + soft
