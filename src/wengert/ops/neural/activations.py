"""Activations: functions of each element, and a few along an axis."""

from __future__ import annotations

import math
from typing import Any, Never

import numpy as np

from wengert import backends
from wengert.backends import numpy_fused as fused
from wengert.backends.numpy_kernels import maximum
from wengert.engine.tensor import Tensor
from wengert.ops import elementwise as ew
from wengert.ops import special
from wengert.ops.checks import check_option, misfit, real
from wengert.ops.families import composite, one_axis, sample
from wengert.ops.families.narrow import in_single
from wengert.ops.indexing import getitem
from wengert.ops.neural.arguments import positive, real_elementwise
from wengert.other_names import answers, unexpected

#: Further out than this, exponentials are 0 in float64; products with them have no inf * 0 within.
_FAR = 800.0


def _zeros(xp: Any, x: Any) -> Any:
    """Return zeros; NumPy compares with a row of them in half the time it takes with one."""
    return np.zeros(x.shape[-1:], x.dtype) if xp is backends.NUMPY else xp.zeros_like(x)


relu = real_elementwise(
    "nn.relu",
    lambda xp, g, y: xp.keep(g, y > 0),
    compute=lambda xp, x: xp.maximum(x, _zeros(xp, x)),
    numpy=lambda x: maximum(x, np.zeros((), x.dtype)),
    reference=lambda x: np.maximum(x, 0),
    doc="Return max(x, 0), whose derivative at 0 is 0. `wg.nn.relu([-1.0, 2.0])` is `[0.0, 2.0]`.",
)

# -- two straight lines -------------------------------------------------------------------------


def _slopes(xp: Any, g: Any, x: Any, below: Any) -> Any:
    """Return g where x is positive, else g times `below`."""
    up = x > 0
    return xp.keep(g, up) + xp.keep(g * below, xp.logical_not(up))


_prelu = real_elementwise(
    "nn.prelu",
    lambda xp, g, x, weight: _slopes(xp, g, x, weight),
    lambda xp, g, x: g * xp.minimum(x, _zeros(xp, x)),
    args=("x", "weight"),
    compute=lambda xp, x, weight: (
        xp.maximum(x, _zeros(xp, x)) + weight * xp.minimum(x, _zeros(xp, x))
    ),
    reference=lambda x, weight: np.where(x > 0, x, weight * x),
)


def prelu(x: Any, weight: Any, /) -> Tensor:
    """Return x where it is positive, else weight * x; `weight` broadcasts and can be trained.

    `wg.nn.prelu([-2.0, 3.0], 0.5)` is `[-1.0, 3.0]`.
    """
    return _prelu(real(x, "prelu"), real(weight, "prelu", "weight"))


def leaky_relu(x: Any, /, negative_slope: float = 0.01) -> Tensor:
    """Return x where it is positive, else negative_slope * x, also for the slope at 0.

    `wg.nn.leaky_relu([-2.0, 3.0])` is `[-0.02, 3.0]`.
    """
    return _prelu(real(x, "leaky_relu"), float(negative_slope))


def hardtanh(x: Any, /, min_value: float = -1.0, max_value: float = 1.0) -> Tensor:
    """Return x clipped to [min_value, max_value]; the derivative at the ends is 0.

    `wg.nn.hardtanh([-2.0, 0.5])` is `[-1.0, 0.5]`.
    """
    if not min_value < max_value:
        raise ValueError(f"hardtanh: from {min_value} to {max_value}; expected the lower end first")
    return ew.clip(real(x, "hardtanh"), float(min_value), float(max_value))


def relu6(x: Any, /) -> Tensor:
    """Return min(max(x, 0), 6). `wg.nn.relu6([-1.0, 2.0, 8.0])` is `[0.0, 2.0, 6.0]`."""
    return ew.clip(real(x, "relu6"), 0.0, 6.0)


def hardsigmoid(x: Any, /) -> Tensor:
    """Return x / 6 + 1/2, clipped to [0, 1]. `wg.nn.hardsigmoid([0.0, 4.0])` is `[0.5, 1.0]`."""
    return ew.clip(real(x, "hardsigmoid") + 3.0, 0.0, 6.0) / 6.0


hardswish = real_elementwise(
    "nn.hardswish",
    lambda xp, g, x: xp.keep(g, x >= 3) + xp.keep(g * ((2 * x + 3) / 6), (x > -3) & (x < 3)),
    compute=lambda xp, x: xp.clip(x, -3.0, None) * (xp.clip(x + 3, 0.0, 6.0) / 6),
    domain=(-5.0, 5.0),
    reference=lambda x: x * np.clip(x + 3, 0, 6) / 6,
    doc="""Return x * hardsigmoid(x); its derivative is 0 at -3, and 1 at 3.

    `wg.nn.hardswish([-4.0, 1.0])` is `[0.0, 0.666667]`.
    """,
)

# -- exponentials below 0 ---------------------------------------------------------------------


def _elu_values(xp: Any, x: Any, alpha: float, scale: float, width: float) -> Any:
    zeros = _zeros(xp, x)
    up, down = xp.maximum(x, zeros), alpha * xp.expm1(xp.minimum(x, zeros) / width)
    return scale * (up + down) if scale != 1 else up + down


def _elu_rule(xp: Any, g: Any, x: Any, alpha: float, scale: float, width: float) -> Any:
    slope = xp.exp(xp.minimum(x, _zeros(xp, x)) / width) * (alpha / width)
    return _slopes(xp, g * scale if scale != 1 else g, x, slope)


elu_between = real_elementwise(
    "nn.elu",
    _elu_rule,
    compute=_elu_values,
    params=("alpha", "scale", "width"),
    samples=[
        sample((2, 3), alpha=1.0, scale=1.0, width=1.0),
        sample((4,), alpha=0.7, scale=1.5, width=0.4),
        sample((0, 2), alpha=1.0, scale=1.0, width=1.0),
    ],
)


def elu(x: Any, /, alpha: float = 1.0) -> Tensor:
    """Return x where it is positive, else alpha * (exp(x) - 1).

    `wg.nn.elu([-1.0, 2.0])` is `[-0.63212, 2.0]`.
    """
    return elu_between(real(x, "elu"), alpha=float(alpha), scale=1.0, width=1.0)


def celu(x: Any, /, alpha: float = 1.0) -> Tensor:
    """Return x where it is positive, else alpha * (exp(x / alpha) - 1).

    `wg.nn.celu([-1.0, 2.0], 2.0)` is `[-0.786939, 2.0]`. Its slope has no jump.
    """
    alpha = positive(alpha, "celu", "alpha")
    return elu_between(real(x, "celu"), alpha=alpha, scale=1.0, width=alpha)


#: For these, numbers of mean 0 and variance 1 keep both.
SELU = {"alpha": 1.6732632423543772, "scale": 1.0507009873554805}


def selu(x: Any, /) -> Tensor:
    """Return elu with a slope and a scale that keep the mean 0 and the variance 1.

    `wg.nn.selu([-1.0, 2.0])` is `[-1.111331, 2.101402]`.
    """
    return elu_between(real(x, "selu"), width=1.0, **SELU)


# -- smooth -----------------------------------------------------------------------------------


def logistic(xp: Any, x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), which neither overflows nor loses small results."""
    return xp.exp(xp.minimum(x, _zeros(xp, x))) / (1 + xp.exp(-xp.abs(x)))


def _softplus(xp: Any, x: Any) -> Any:
    return xp.maximum(x, _zeros(xp, x)) + xp.log1p(xp.exp(-xp.abs(x)))


_softplus_of = real_elementwise(
    "nn.softplus",
    lambda xp, g, x, beta: g * logistic(xp, x * beta if beta != 1 else x),
    compute=lambda xp, x, beta: _softplus(xp, x * beta) / beta if beta != 1 else _softplus(xp, x),
    params=("beta",),
    samples=[sample((2, 3), beta=1.0), sample((4,), beta=2.5), sample((0, 2), beta=1.0)],
    reference=lambda x, beta: np.logaddexp(x * beta, 0) / beta,
)


def softplus(x: Any, /, beta: float = 1.0) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, which does not overflow.

    `wg.nn.softplus([0.0, 1000.0])` is `[0.693147, 1000.0]`.
    """
    return _softplus_of(real(x, "softplus"), beta=positive(beta, "softplus", "beta"))


def _silu_values(xp: Any, x: Any) -> Any:
    near = xp.clip(x, -_FAR, None)
    return near * logistic(xp, near)


def _silu_rule(xp: Any, g: Any, x: Any) -> Any:
    near = xp.clip(x, -_FAR, _FAR)
    share = logistic(xp, near)
    return g * (share * (1 + near * logistic(xp, -near)))


silu = real_elementwise(
    "nn.silu",
    _silu_rule,
    compute=_silu_values,
    reference=lambda x: x / (1 + np.exp(-x)),
    doc="Return x / (1 + exp(-x)), or swish. `wg.nn.silu([0.0, 1.0])` is `[0.0, 0.731059]`.",
)


def _mish_rule(xp: Any, g: Any, x: Any) -> Any:
    near = xp.clip(x, -_FAR, _FAR)
    t = xp.tanh(_softplus(xp, near))
    return g * (t + near * ((1 - t) * (1 + t)) * logistic(xp, near))


def _mish_values(xp: Any, x: Any) -> Any:
    near = xp.clip(x, -_FAR, None)
    return near * xp.tanh(_softplus(xp, near))


mish = real_elementwise(
    "nn.mish",
    _mish_rule,
    compute=_mish_values,
    reference=lambda x: x * np.tanh(np.logaddexp(x, 0)),
    doc="Return x * tanh(softplus(x)). `wg.nn.mish([0.0, 1.0])` is `[0.0, 0.865098]`.",
)
softsign = real_elementwise(
    "nn.softsign",
    lambda xp, g, x: g / (1 + xp.abs(x)) ** 2,
    compute=lambda xp, x: xp.clip(x, -1e30, 1e30) / (1 + xp.clip(xp.abs(x), None, 1e30)),
    reference=lambda x: x / (1 + np.abs(x)),
    doc="Return x / (1 + abs(x)). `wg.nn.softsign([-1.0, 3.0])` is `[-0.5, 0.75]`.",
)

# -- gelu -------------------------------------------------------------------------------------

_HEIGHT = 1 / math.sqrt(2 * math.pi)
_BASE, _CUBE = fused.TANH_ODDS
_NEAR = 40.0  # beyond, gelu is 0 or x


def _gelu_values(xp: Any, x: Any, approximate: str) -> Any:
    if xp is backends.NUMPY and fused.suits(x):
        return fused.gelu(x, approximate)
    near = xp.clip(x, -_NEAR, None)
    if approximate == "none":
        return near * xp.special.ndtr(near)
    low = xp.clip(near, None, _NEAR)
    return near * logistic(xp, low * (_BASE + _CUBE * (low * low)))


def _gelu_rule(xp: Any, g: Any, x: Any, y: Any, approximate: str) -> Any:
    if xp is backends.NUMPY and fused.suits(x, g):
        return fused.gelu_pull(x, y, g, approximate)
    near = xp.clip(x, -_NEAR, _NEAR)
    square = near * near
    if approximate == "none":
        bell = xp.exp(square * -0.5) * _HEIGHT
        return g * (xp.special.ndtr(near) + near * bell)
    odds = near * (_BASE + _CUBE * square)
    share = logistic(xp, odds)
    return g * (share * (1 + logistic(xp, -odds) * (near * (_BASE + 3 * _CUBE * square))))


gelu_of = real_elementwise(
    "nn.gelu",
    _gelu_rule,
    compute=_gelu_values,
    params=("approximate",),
    samples=[
        sample((2, 3), approximate="none"),
        sample((2, 3), approximate="tanh"),
        sample((), approximate="none"),
        sample((0, 2), approximate="tanh"),
    ],
)


def gelu(x: Any, /, *, approximate: str = "none") -> Tensor:
    """Return x times the share of the normal distribution below x.

    With ``approximate="tanh"`` that share is taken as a formula with tanh gives it.
    `wg.nn.gelu([-1.0, 2.0])` is `[-0.158655, 1.954500]`.
    """
    if approximate != "none":
        check_option("gelu", "approximate", approximate, ("none", "tanh"))
    return gelu_of(real(x, "gelu"), approximate=approximate)


# -- logistic functions, and functions along an axis ------------------------------------------


def sigmoid(x: Any, /) -> Tensor:
    """Return 1 / (1 + exp(-x)). `wg.nn.sigmoid([0.0, 1.0])` is `[0.5, 0.731059]`."""
    return special.expit(real(x, "sigmoid"))


def log_sigmoid(x: Any, /) -> Tensor:
    """Return log(sigmoid(x)), which neither overflows nor underflows.

    `wg.nn.log_sigmoid([0.0, -1000.0])` is `[-0.693147, -1000.0]`.
    """
    return special.log_expit(real(x, "log_sigmoid"))


@answers
def softmax(x: Any, /, *, axis: Any = -1, **others: Never) -> Tensor:
    """Return exp(x) / sum(exp(x)), the sum being along `axis`, one or several.

    `wg.nn.softmax([0.0, 1.0])` is `[0.268941, 0.731059]`.
    """
    if others:
        raise unexpected(softmax, others)
    return special.softmax(real(x, "softmax"), axis=axis)


@answers
def log_softmax(x: Any, /, *, axis: Any = -1, **others: Never) -> Tensor:
    """Return log(softmax(x)), which does not underflow.

    `wg.nn.log_softmax([0.0, 1000.0])` is `[-1000.0, 0.0]`.
    """
    if others:
        raise unexpected(log_softmax, others)
    return special.log_softmax(real(x, "log_softmax"), axis=axis)


def softmin(x: Any, /, *, axis: Any = -1) -> Tensor:
    """Return softmax(-x). `wg.nn.softmin([0.0, 1.0])` is `[0.731059, 0.268941]`."""
    return special.softmax(-real(x, "softmin"), axis=axis)


@composite(
    "nn.glu",
    samples=[sample((2, 4)), sample((6, 2), axis=0), sample((0, 2))],
    kinds="f",
    reference=lambda x, axis=-1: (halves := np.split(x, 2, axis))[0] / (1 + np.exp(-halves[1])),
)
@in_single
def glu(x: Any, /, *, axis: int = -1) -> Tensor:
    """Return the first half of x along an axis, times the sigmoid of the second.

    `wg.nn.glu([2.0, 4.0, 0.0, 0.0])` is `[1.0, 2.0]`.
    """
    x = real(x, "glu")
    axis = one_axis(axis, x.ndim, "glu")
    if x.shape[axis] % 2:
        raise misfit("glu", f"an even length of axis {axis}", x=x)
    half, before = x.shape[axis] // 2, (slice(None),) * axis
    first = getitem(x, (*before, slice(0, half)))
    return first * special.expit(getitem(x, (*before, slice(half, None))))


__all__ = [
    "celu", "elu", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "log_sigmoid", "log_softmax", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu",
    "softmax", "softmin", "softplus", "softsign",
]  # fmt: skip
