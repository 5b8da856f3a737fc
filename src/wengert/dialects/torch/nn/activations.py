"""torch.nn.functional: activations."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes, memory
from wengert.dialects.torch.axes import axis_of, kind_of, unable
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.nn import kinks
from wengert.dialects.torch.nn.arguments import F, activation, functional, is_batched, number, real
from wengert.dialects.torch.random import exponential
from wengert.dialects.torch.table import NAMES, guarded, offered, offered_as, plain, put
from wengert.dialects.torch.tensors import Tensor, astype, ns, of_one, only_tensor
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import special
from wengert.ops.batching import constant, drawn
from wengert.ops.neural import activations

# -- straight lines --------------------------------------------------------------------------------

_relu = of_one(conventions.relu, "ReluBackward0", False, "iuf", RuntimeError).within
_relu_in_place = offered_as("relu_")


def relu(input: Any, inplace: bool = False) -> Any:
    """Return x where it is positive, else 0."""
    return _relu_in_place(input) if inplace else _relu(input)


put((F + "relu",), relu)
put((F + "relu_",), _relu_in_place)
for _name in ("sigmoid", "tanh"):
    put((F + _name,), NAMES[_name])


@activation("hardtanh", underscored=(F + "hardtanh_",))
def hardtanh(min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Return x clipped to an interval; its derivative at the ends is 0."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val={min_val} exceeds max_val={max_val}; swap them")
    return kinks.hardtanh(number(min_val), number(max_val))


@activation("relu6")
def relu6() -> Any:
    """Return x clipped to the interval from 0 to 6."""
    return kinks.hardtanh(0, 6)


@activation("leaky_relu", underscored=(F + "leaky_relu_",))
def leaky_relu(negative_slope: float = 0.01) -> Any:
    """Return x where it is positive, else negative_slope * x."""
    return kinks.leaky_relu(number(negative_slope))


@activation("hardsigmoid")
def hardsigmoid() -> Any:
    """Return x / 6 + 1/2, clipped to the interval from 0 to 1."""
    return kinks.hardsigmoid()


@activation("hardswish")
def hardswish() -> Any:
    """Return x * hardsigmoid(x)."""
    return kinks.hardswish


@activation("threshold", "threshold", underscored=(F + "threshold_", "threshold_"))
def threshold(threshold: float, value: float) -> Any:
    """Return x where it is above a threshold, else a value."""
    return kinks.threshold(number(threshold), number(value))


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


@functional("prelu", "prelu", "Tensor.prelu", label="PreluKernelBackward0")
def prelu(input: Any, weight: Any) -> Any:
    """Return x where it is positive, else x times the weight of its channel."""
    x, w = real(input, "prelu"), only_tensor(weight, "prelu", "weight")
    if x._raw.dtype != w._raw.dtype:
        raise RuntimeError(
            f"prelu: the input has dtype {x.dtype} and the weight {w.dtype}; convert one"
        )
    if w.ndim > 1:
        raise RuntimeError(f"prelu: the weight has {w.ndim} axes; give one number, or a vector")
    if w.ndim and w.shape[0] != 1:
        if not x.ndim:
            raise RuntimeError("prelu: a single number takes one weight")
        channels = x.shape[1] if x.ndim > 1 else 1
        if channels != w.shape[0]:
            raise RuntimeError(
                f"prelu: {w.shape[0]} weights for {channels} channels; give one weight, or one "
                "for each channel"
            )
        w = ns.reshape(w, (w.shape[0], *(1,) * (x.ndim - 2)))
    elif not x.ndim:
        w = ns.reshape(w, ())
    return activations.prelu(conventions.read(x), conventions.read(w))


@activation("rrelu", "rrelu", underscored=(F + "rrelu_", "rrelu_"))
def rrelu(lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """Return x where it is positive, else x times a slope, which in training is drawn for each."""
    if lower > upper:
        raise RuntimeError(f"rrelu: lower={lower} exceeds upper={upper}; swap them")
    if training:
        return lambda input: _with_slopes(input, lower, upper)
    return kinks.leaky_relu((lower + upper) / 2)


def _slopes_drawn(input: Any, lower: float, upper: float) -> Any:
    x = real(input, "rrelu")
    if is_batched(x):
        raise RuntimeError("rrelu: inside of vmap there is no training; write training=False")
    below = x._raw <= 0
    drawn = default_generator.uniform(int(below.sum()), np.dtype(np.float64))
    slopes = np.ones(x.shape, x.dtype)
    slopes[below] = drawn * (upper - lower) + lower
    return x * wrap_native(slopes)


_with_slopes = guarded(_slopes_drawn, "RreluWithNoiseBackward0")


# -- curves ----------------------------------------------------------------------------------------


@activation("elu", underscored=(F + "elu_",))
def elu(alpha: float = 1.0) -> Any:
    """Return x where it is positive, else alpha * (exp(x) - 1)."""
    return kinks.elu(number(alpha), 1.0, 1.0)


@activation("selu", "selu", underscored=(F + "selu_", "selu_"))
def selu() -> Any:
    """Return elu with a slope and a scale that keep the mean 0 and the variance 1."""
    return kinks.elu(activations.SELU["alpha"], activations.SELU["scale"], 1.0)


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


def _complex_silu(input: Any) -> Any:
    x = only_tensor(input, "silu")
    return x * apply(conventions.sigmoid.op, (x,), {})


_of_complex = guarded(_complex_silu, "SiluBackward0")


@plain(F + "silu")
def silu(input: Any, inplace: bool = False) -> Any:
    """Return x * sigmoid(x)."""
    if inplace:
        return change(input, silu)
    if isinstance(input, Tensor) and input._raw.dtype.kind == "c":
        return _of_complex(input)
    return kinks.silu(input)


@activation("mish")
def mish() -> Any:
    """Return x * tanh(softplus(x))."""
    return kinks.mish


@plain(F + "softplus")
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold."""
    return kinks.softplus(number(beta), number(threshold))(input)


def _with_fractions(x: Native) -> Native:
    return astype(x, dtypes.floating(x._raw.dtype))


@functional("softsign", label="DivBackward0")
def softsign(input: Any) -> Any:
    """Return x / (1 + abs(x))."""
    given = only_tensor(input, "softsign")
    if kind_of(given) == "b":
        raise unable("abs_cpu", given)
    x = _with_fractions(given)
    around = apply(conventions.absolute.op, (x,), {}) + 1
    return apply(conventions.divide.op, (x, around), {})


@functional("tanhshrink", label="SubBackward0")
def tanhshrink(input: Any) -> Any:
    """Return x - tanh(x)."""
    given = only_tensor(input, "tanhshrink")
    if kind_of(given) == "b":
        raise RuntimeError("tanhshrink: booleans have no differences; write x.float()")
    x = _with_fractions(given)
    return x - ns.tanh(x)


@functional("logsigmoid", label="LogSigmoidBackward0")
def logsigmoid(input: Any) -> Any:
    """Return log(sigmoid(x))."""
    return special.log_expit(real(input, "log_sigmoid"))


@functional("glu")
def glu(input: Any, dim: int = -1) -> Any:
    """Return the first half of x along an axis, times the sigmoid of the second."""
    x = real(input, "glu")
    if not x.ndim:
        raise RuntimeError("glu: a single number has no halves; give an axis")
    axis = axis_of(dim, x.ndim)
    if x.shape[axis] % 2:
        raise RuntimeError(f"glu: axis {axis} has {x.shape[axis]} elements; give an even number")
    return activations.glu(x, axis=axis)


# -- along an axis ---------------------------------------------------------------------------------


def _lines(function: Any, input: Any, dim: Any, dtype: Any, name: str) -> Native:
    x = only_tensor(input, name)
    if dtype is not None:
        x = astype(x, dtypes.to_numpy(dtype))
    axis = axis_of(dim, x.ndim)
    if kind_of(x) != "f":
        raise unable(name, x)
    if not x.ndim:
        return ns.reshape(function(ns.reshape(x, (1,)), axis=0), ())
    return function(x, axis=axis)


@offered("softmax")
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return exp(x) over its sum along an axis."""
    return _lines(special.softmax, input, dim, dtype, "softmax")


@offered("log_softmax")
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of softmax."""
    return _lines(special.log_softmax, input, dim, dtype, "log_softmax")


def _usual_axis(input: Any, name: str, stacklevel: int) -> int:
    """Return the axis that is meant where none is given, which PyTorch warns about."""
    warnings.warn(
        f"{name}: no axis was given, and one was guessed from the shape; write dim=",
        stacklevel=stacklevel,
    )
    return 0 if only_tensor(input, name).ndim in (0, 1, 3) else 1


def _of_functional(name: str, function: Any) -> None:
    def call(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            dim = _usual_axis(input, name, _stacklevel)
        return function(input, dim, dtype)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    put((F + name,), call)


def _softmin(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return exp(-x) over its sum along an axis."""
    return _lines(special.softmax, -only_tensor(input, "softmin"), dim, dtype, "softmin")


_of_functional("softmax", softmax)
_of_functional("log_softmax", log_softmax)
_of_functional("softmin", guarded(_softmin, "SoftmaxBackward0"))


def _gumbel(size: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    waits = exponential(default_generator, math.prod(size)).astype(kind)
    return -np.log(waits.reshape(size))


@functional("gumbel_softmax", label="SoftmaxBackward0")
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Return softmax of logits with noise; with `hard` the largest is 1, and derivatives stay."""
    x = real(logits, "gumbel_softmax", "logits")
    axis = axis_of(dim, x.ndim)
    kind = x._raw.dtype
    noise = drawn("gumbel_softmax", lambda size: _gumbel(size, kind), x.shape)
    soft = _lines(special.softmax, (x + noise) / tau, axis, None, "gumbel_softmax")
    if not hard:
        return soft
    places = ns.expand_dims(ns.argmax(soft, axis=axis), axis=axis)
    sizes = [1] * soft.ndim
    sizes[axis] = soft.shape[axis]
    steps = wrap_native(np.arange(soft.shape[axis]).reshape(sizes))
    return ns.astype(ns.equal(places, steps), kind) - constant(soft) + soft
