"""Operations with PyTorch's choices where mathematics leaves one: at kinks, ties and zeros.

Operations whose derivative is zero wherever there is one (floor, sign) give zeros in PyTorch, where
Wengert has no path. Zeros are numbers there, not structure: they become NaN where they meet an
infinite derivative further on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.rules import Rule, named, operation, reduction_with, with_rules
from wengert.engine.record import apply, interested
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise, reductions, special
from wengert.ops.families import run


def _none(xp: Any, g: Any) -> Any:
    return xp.zeros_like(g)


def flat(function: Any) -> Any:
    """Return an operation of one tensor whose derivative is zero."""
    return with_rules(function, _none)


def unsupported(name: str) -> Rule:
    """Return the rule of an operation for which PyTorch has none."""

    def rule(xp: Any, g: Any) -> Any:
        raise RuntimeError(
            f"PyTorch has no derivative of {name}, and so there is none here; write x.detach() "
            "if it is to be constant"
        )

    return rule


def _where_zero(xp: Any, condition: Any, y: Any) -> Any:
    return xp.where(condition, xp.zeros_like(y), y)


# -- powers ----------------------------------------------------------------------------------------


def _whole_power(x: Any, y: Any) -> Any:
    """Return powers of NumPy's whole numbers; 1 over a number but 1 and -1 is 0."""
    below = y < 0
    if not np.any(below):
        return np.power(x, y)
    odd = (y & 1).astype(bool)
    inverse = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0))
    return np.where(below, inverse, np.power(x, np.where(below, 0, y))).astype(x.dtype)


def _power(xp: Any, x: Any, y: Any) -> Any:
    if xp is backends.NUMPY:
        return np.power(x, y) if y.dtype.kind not in "iu" else _whole_power(x, y)
    return xp.pow(x, y)


def _power_base(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
    slope = g * (x2 * run(power.op, xp, (x1, x2 - 1), {}))
    return _where_zero(xp, x2 == 0, slope)


def _power_exponent(xp: Any, g: Any, y: Any, x1: Any, x2: Any) -> Any:
    real = xp.real(x2) if elementwise.is_complex(x2) else x2
    return g * _where_zero(xp, xp.logical_and(x1 == 0, real >= 0), y * xp.log(x1))


#: x ** y: its derivative in x is 0 where y is 0; in y it is 0 where x is 0 and y is not negative.
power: Any = with_rules(elementwise.pow_, _power_base, _power_exponent, compute=_power)
#: The same with a number for an exponent, and with one for a base.
power_of_number = named(power, "power_of_number")
number_to_power = named(power, "number_to_power")


def _one_over_square(xp: Any, x: Any) -> Any:
    return 1 / (x * x)


#: Powers by numbers that are in every program, without an array of exponents.
POWERS = {
    0: operation("power_0", _none, compute=lambda xp, x: xp.ones_like(x)),
    2: operation(
        "power_2", lambda xp, g, x: g * (x + x), compute=lambda xp, x: x * x, numpy=np.square
    ),
    3: operation("power_3", lambda xp, g, x: g * (3 * (x * x)), compute=lambda xp, x: x * x * x),
    0.5: with_rules(elementwise.sqrt, lambda xp, g, y: g / (y + y), name="power_half"),
    -1: with_rules(elementwise.reciprocal, lambda xp, g, y: -g * (y * y), name="power_inverse"),
    -2: operation(
        "power_inverse_2", lambda xp, g, x, y: g * (-2 * (y / x)), compute=_one_over_square
    ),
}
square = named(POWERS[2], "square")
rsqrt = operation(
    "rsqrt",
    lambda xp, g, y: -0.5 * g * (y * y * y),
    compute=lambda xp, x: 1 / xp.sqrt(x),
)


# -- quotients -------------------------------------------------------------------------------------

#: Reads its operands and not its result, which a program may write to.
divide = with_rules(
    elementwise.divide,
    lambda xp, g, x2: g / x2,
    lambda xp, g, x1, x2: -g * ((x1 / x2) / x2),
)


def _truncated(xp: Any, x1: Any, x2: Any) -> Any:
    if backends.kind_of(x1.dtype) == "f":
        return xp.trunc(x1 / x2)
    return (x1 - np.fmod(x1, x2)) // x2


floor_divide = with_rules(
    elementwise.floor_divide, unsupported("aten::floor_divide"), unsupported("aten::floor_divide")
)
#: div with a rounding_mode.
rounded_down = with_rules(elementwise.floor_divide, _none, _none, name="div_floor")
truncated_divide = operation("div_trunc", _none, _none, compute=_truncated)
remainder = with_rules(
    elementwise.remainder,
    lambda xp, g: g,
    lambda xp, g, x1, x2: -g * run(rounded_down.op, xp, (x1, x2), {}),
)
remainder_of_number = with_rules(
    elementwise.remainder,
    lambda xp, g: g,
    unsupported("aten::remainder"),
    name="remainder_of_number",
)
fmod = operation(
    "fmod",
    lambda xp, g: g,
    lambda xp, g, x1, x2: -g * run(truncated_divide.op, xp, (x1, x2), {}),
    compute=lambda xp, x1, x2: np.fmod(x1, x2),
    numpy=np.fmod,
)
frac = operation("frac", lambda xp, g: g, compute=lambda xp, x: x - xp.trunc(x))


# -- sizes, signs and angles -----------------------------------------------------------------------


def _sign(xp: Any, x: Any) -> Any:
    if backends.kind_of(x.dtype) == "b":
        return x.copy()
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)  # and 0 for NaN


sign: Any = with_rules(elementwise._real_sign, _none, compute=_sign)


def _abs_rule(xp: Any, g: Any, x: Any) -> Any:
    if elementwise.is_complex(x):
        return g * (elementwise._abs_rule(xp, 1, x) if xp is backends.NUMPY else xp.sign(x))
    return g * run(sign.op, xp, (x,), {})


absolute = with_rules(elementwise.abs_, _abs_rule)


def _turned(xp: Any, g: Any, y: Any, x1: Any) -> Any:
    """Return g times the sign that copysign gave, and 0 for the sign of 0."""
    nothing = x1 == 0
    return g * _where_zero(xp, nothing, y / xp.where(nothing, xp.ones_like(x1), x1))


copysign = with_rules(elementwise.copysign, _turned, _none)
nextafter = with_rules(elementwise.nextafter, lambda xp, g, x1, x2: xp.keep(g, x1 != x2), _none)
heaviside = operation(
    "heaviside",
    unsupported("aten::heaviside"),
    unsupported("aten::heaviside"),
    compute=lambda xp, x1, x2: xp.where(x1 == 0, x2, xp.astype(x1 > 0, x1.dtype)),
)
#: Derivatives are not numbers at the origin.
hypot = with_rules(
    elementwise.hypot, lambda xp, g, y, x1: g * (x1 / y), lambda xp, g, y, x2: g * (x2 / y)
)
_DEGREE = math.pi / 180
deg2rad = operation("deg2rad", lambda xp, g: g * _DEGREE, compute=lambda xp, x: x * _DEGREE)
rad2deg = operation("rad2deg", lambda xp, g: g / _DEGREE, compute=lambda xp, x: x / _DEGREE)


# -- choices ---------------------------------------------------------------------------------------


def _unless_smaller(xp: Any, g: Any, mine: Any, other: Any) -> Any:
    """Return g where mine is not the smaller one, and half of it where they tie."""
    ties = mine == other
    if xp is not backends.NUMPY or ties.any():
        g = xp.where(ties, g / 2, g)
    return xp.keep(g, xp.logical_not(mine < other))


maximum = with_rules(
    elementwise.maximum,
    lambda xp, g, x1, x2: _unless_smaller(xp, g, x1, x2),
    lambda xp, g, x1, x2: _unless_smaller(xp, g, x2, x1),
)
minimum = with_rules(
    elementwise.minimum,
    lambda xp, g, x1, x2: _unless_smaller(xp, g, -x1, -x2),
    lambda xp, g, x1, x2: _unless_smaller(xp, g, -x2, -x1),
)
#: The larger of two numbers, of which one may be NaN; the first of equal ones.
fmax = operation(
    "fmax",
    lambda xp, g, x1, x2: xp.keep(g, (x1 >= x2) | xp.isnan(x2)),
    lambda xp, g, x1, x2: xp.keep(g, xp.logical_not((x1 >= x2) | xp.isnan(x2))),
    compute=lambda xp, x1, x2: np.fmax(x1, x2),
    numpy=np.fmax,
)
fmin = operation(
    "fmin",
    lambda xp, g, x1, x2: xp.keep(g, (x1 <= x2) | xp.isnan(x2)),
    lambda xp, g, x1, x2: xp.keep(g, xp.logical_not((x1 <= x2) | xp.isnan(x2))),
    compute=lambda xp, x1, x2: np.fmin(x1, x2),
    numpy=np.fmin,
)
#: At a bound, x has the derivative and not the bound.
clamp = with_rules(
    elementwise._clip,
    lambda xp, g, x, low, high: xp.keep(g, (x >= low) & (x <= high)),
    lambda xp, g, x, low, high: xp.keep(g, (x < low) & (low < high)),
    lambda xp, g, x, low, high: xp.keep(g, (x > high) | (high < low)),
    name="clamp",
    compute=lambda xp, x, low, high: np.minimum(np.maximum(x, low), high),
)
clamp_min = with_rules(
    elementwise._above,
    lambda xp, g, x, low: xp.keep(g, x >= low),
    lambda xp, g, x, low: xp.keep(g, x < low),
    name="clamp_min",
    compute=lambda xp, x, low: np.maximum(x, low),
)
clamp_max = with_rules(
    elementwise._below,
    lambda xp, g, x, high: xp.keep(g, x <= high),
    lambda xp, g, x, high: xp.keep(g, x > high),
    name="clamp_max",
    compute=lambda xp, x, high: np.minimum(x, high),
)
#: g where x is not below or at 0; constant in x, but not without a path to it.
_where_positive: Any = operation(
    "threshold",
    lambda xp, g, x2: run(_where_positive.op, xp, (g, x2), {}),
    lambda xp, g: xp.zeros_like(g),
    compute=lambda xp, x1, x2: xp.keep(x1, xp.logical_not(x2 <= 0)),
)
relu = operation(
    "relu",
    lambda xp, g, y: run(_where_positive.op, xp, (g, y), {}),
    # NumPy compares with a row of zeros in half the time it takes with one
    compute=lambda xp, x: np.maximum(x, np.zeros(x.shape[-1:], x.dtype)),
)


# -- logarithms and what is made of them -----------------------------------------------------------


def _sigmoid(xp: Any, x: Any) -> Any:
    if not x.shape:
        return 1 / (1 + np.exp(-x))
    y = np.negative(x)  # which nobody else has seen
    np.exp(y, out=y)
    y += 1
    return np.reciprocal(y, out=y)


sigmoid = operation("sigmoid", lambda xp, g, y: g * ((1 - y) * y), compute=_sigmoid)


def _exp2(xp: Any, x: Any) -> Any:
    return np.exp(x * elementwise.LN2) if x.dtype.kind == "c" else np.exp2(x)


exp2 = operation("exp2", lambda xp, g, y: g * (y * elementwise.LN2), compute=_exp2)
#: Not a number outside of the interval from 0 to 1.
logit = with_rules(
    special.logit,
    lambda xp, g, x: xp.where((x < 0) | (x > 1), xp.full_like(x, math.nan), g / (x * (1 - x))),
)
xlogy = with_rules(
    special.xlogy,
    special.xlogy.op.rules[0],  # type: ignore[attr-defined]
    lambda xp, g, x1, x2: g * x1 / x2,
)
xlog1py = with_rules(
    special.xlog1py,
    special.xlog1py.op.rules[0],  # type: ignore[attr-defined]
    lambda xp, g, x1, x2: g * x1 / (1 + x2),
)


def _logaddexp(xp: Any, x1: Any, x2: Any) -> Any:
    if not elementwise.is_complex(x1):
        return np.logaddexp(x1, x2)
    larger = np.where(x1.real >= x2.real, x1, x2)
    smaller = np.where(x1.real >= x2.real, x2, x1)
    return larger + np.log1p(np.exp(smaller - larger))


logaddexp = operation(
    "logaddexp",
    lambda xp, g, x1, x2: g / (1 + xp.exp(x2 - x1)),
    lambda xp, g, x1, x2: g / (1 + xp.exp(x1 - x2)),
    compute=_logaddexp,
)
logaddexp2 = operation(
    "logaddexp2",
    lambda xp, g, x1, x2: g / (1 + xp.exp((x2 - x1) * elementwise.LN2)),
    lambda xp, g, x1, x2: g / (1 + xp.exp((x1 - x2) * elementwise.LN2)),
    compute=lambda xp, x1, x2: np.logaddexp2(x1, x2),
    numpy=np.logaddexp2,
)


# -- reductions ------------------------------------------------------------------------------------

#: The root of a variance, whose derivative is 0 where it is 0.
root = with_rules(
    elementwise.sqrt,
    lambda xp, g, y: _where_zero(xp, y == 0, g / (2 * xp.where(y == 0, xp.ones_like(y), y))),
    name="root",
)
#: The sign, with a derivative that is zero, and not none.
flat_sign = with_rules(elementwise._real_sign, _none, name="flat_sign")
#: The first of two arrays, with a derivative that the second one scales.
scaled = operation(
    "scaled", lambda xp, g, x2: g * x2, _none, compute=lambda xp, x1, x2: x1 + xp.zeros_like(x2)
)


# -- choices ---------------------------------------------------------------------------------------

#: The derivative is the number 0 where a value was not chosen, so NaN where it meets an infinite
#: derivative further on.
where: Any = with_rules(
    elementwise.where,
    None,
    lambda xp, g, condition: run(where.op, xp, (condition, g, xp.zeros_like(g)), {}),
    lambda xp, g, condition: run(where.op, xp, (condition, xp.zeros_like(g), g), {}),
)


# -- what reads its argument again -----------------------------------------------------------------

_read_backward: Any = operation(
    "read_backward",
    lambda xp, g, x2: run(_read_backward.op, xp, (g, x2), {}),
    _none,
    compute=lambda xp, g, x: g,
)
_read: Any = operation(
    "read", lambda xp, g, x: run(_read_backward.op, xp, (g, x), {}), compute=lambda xp, x: x
)
_read_backward.op.aliases = _read.op.aliases = True


def read(x: Native) -> Native:
    """Return x for an operation whose derivative in PyTorch reads x, though it is constant in it.

    So the second derivative is zero, and not nothing.
    """
    return apply(_read.op, (x,), {}) if interested([x._node]) else x


# -- reductions ------------------------------------------------------------------------------------


def _prod_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    """Return g times the product of the others, made of the product itself where none is zero.

    So a derivative of it goes through the product, and hooks there see it.
    """
    raw = x._raw if xp is Native._namespace else None
    if type(raw) is np.ndarray and raw.all():
        return g * (y / x)
    return reductions._prod_rule(xp, g, x, y, axis)


prod = reduction_with(reductions._prod, _prod_rule)


def _extreme_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    """Share g evenly among the elements that attain the extreme; others get 0, also of infinity.

    None attains it where a program has changed the result behind the tape's back.
    """
    winners = reductions.attains(x, y)
    dtype = xp.float32 if backends.is_half(g.dtype) else g.dtype  # which holds any count
    count = xp.sum(xp.astype(winners, dtype), axis=axis, keepdims=True)
    count = xp.where(count == 0, xp.ones_like(count), count)
    return _where_zero(xp, xp.logical_not(winners), xp.astype(g / count, g.dtype))


#: Over all elements; with `amax` and `amin`, others get their part of g times 0.
max_of_all = reduction_with(reductions._max, _extreme_rule)
min_of_all = reduction_with(reductions._min, _extreme_rule)
