"""Other conventions: operations with other choices at kinks, ties and zeros.

Wengert's own are in `elementwise`, `special` and `reductions`: the subgradient of least norm, ties
that share evenly, and nothing where a derivative is zero by structure. Other libraries choose
otherwise. Each choice is a variant of an operation, named by what it does; the dialects say which
ones they take. Variants of rounding are in `rounding`, those of activations in `neural.steps`.

Many differ in one point: a zero that is a number, and not structure, becomes NaN where it meets an
infinite derivative further on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.record import interested
from wengert.engine.tensor import Tensor
from wengert.ops import elementwise as ew
from wengert.ops import reductions
from wengert.ops.families import elementwise, run, variant
from wengert.ops.rounding import flat, sign_flat, sign_of_nan_0
from wengert.ops.special import elementary as special


def _zero_where(xp: Any, condition: Any, y: Any) -> Any:
    return xp.where(condition, xp.zeros_like(y), y)


# -- choices --------------------------------------------------------------------------------------

where_or_0: Any = variant(
    ew.where,
    "other=0",
    None,
    lambda xp, g, condition: _kept(xp, condition, g),
    lambda xp, g, condition: run(where_or_0.op, xp, (condition, xp.zeros_like(g), g), {}),
    doc="Return x1 where the condition holds, else x2; what is not chosen has the derivative 0.",
)


def _kept(xp: Any, condition: Any, g: Any) -> Any:
    """Return g where a condition holds, and the number 0 elsewhere."""
    return run(where_or_0.op, xp, (condition, g, xp.zeros_like(g)), {})


maximum_first = variant(
    ew.maximum,
    "ties=first",
    lambda xp, g, x1, x2: _kept(xp, x1 >= x2, g),
    lambda xp, g, x1, x2: _kept(xp, xp.logical_not(x1 >= x2), g),
    doc="Return the larger of two, the first of equal ones; the other has the derivative 0.",
)
minimum_first = variant(
    ew.minimum,
    "ties=first",
    lambda xp, g, x1, x2: _kept(xp, x1 <= x2, g),
    lambda xp, g, x1, x2: _kept(xp, xp.logical_not(x1 <= x2), g),
    doc="Return the smaller of two, the first of equal ones; the other has the derivative 0.",
)


def _unless_smaller(xp: Any, g: Any, mine: Any, other: Any) -> Any:
    """Return g where mine is not the smaller one, and half of it where they tie."""
    ties = mine == other
    if xp is not backends.NUMPY or ties.any():
        g = xp.where(ties, g / 2, g)
    return xp.keep(g, xp.logical_not(mine < other))


maximum_nan_both = variant(
    ew.maximum,
    "nan=both",
    lambda xp, g, x1, x2: _unless_smaller(xp, g, x1, x2),
    lambda xp, g, x1, x2: _unless_smaller(xp, g, x2, x1),
    doc="Return the larger of two; where one is NaN, both have the derivative 1.",
)
minimum_nan_both = variant(
    ew.minimum,
    "nan=both",
    lambda xp, g, x1, x2: _unless_smaller(xp, g, -x1, -x2),
    lambda xp, g, x1, x2: _unless_smaller(xp, g, -x2, -x1),
    doc="Return the smaller of two; where one is NaN, both have the derivative 1.",
)
clip_inclusive = variant(
    ew.clip_between,
    "bound=x",
    lambda xp, g, x, low, high: xp.keep(g, (x >= low) & (x <= high)),
    lambda xp, g, x, low, high: xp.keep(g, (x < low) & (low < high)),
    lambda xp, g, x, low, high: xp.keep(g, (x > high) | (high < low)),
    compute=lambda xp, x, low, high: xp.minimum(xp.maximum(x, low), high),
    reference=np.clip,
    doc="Return x between two bounds, at which x has the derivative and not the bound.",
)
clip_above_inclusive = variant(
    ew.clip_above,
    "bound=x",
    lambda xp, g, x, low: xp.keep(g, x >= low),
    lambda xp, g, x, low: xp.keep(g, x < low),
    compute=lambda xp, x, low: xp.maximum(x, low),
)
clip_below_inclusive = variant(
    ew.clip_below,
    "bound=x",
    lambda xp, g, x, high: xp.keep(g, x <= high),
    lambda xp, g, x, high: xp.keep(g, x > high),
    compute=lambda xp, x, high: xp.minimum(x, high),
)

# -- products and quotients that are 0 ------------------------------------------------------------


def _product_or_zero(xp: Any, x1: Any, x2: Any) -> Any:
    nothing = x2 == 0
    return _zero_where(xp, nothing, xp.where(nothing, xp.ones_like(x1), x1) * x2)


def ratio_or_zero(xp: Any, x1: Any, x2: Any) -> Any:
    """Return x1 / x2, and 0 where x1 is 0."""
    nothing = x1 == 0
    return _zero_where(xp, nothing, x1 / xp.where(nothing, xp.ones_like(x2), x2))


multiply_no_nan: Any = variant(
    ew.multiply,
    "by 0=0",
    lambda xp, g, x2: run(multiply_no_nan.op, xp, (g, x2), {}),
    lambda xp, g, x1: run(multiply_no_nan.op, xp, (x1, g), {}),
    compute=_product_or_zero,
    doc="Return the product, and 0 where the second is 0, also of an infinite first.",
)
divide_or_0: Any = variant(
    ew.divide,
    "of 0=0",
    lambda xp, g, x2: g / x2,
    lambda xp, g, y, x2: -(g / x2) * y,
    compute=ratio_or_zero,
    doc="Return the quotient, and 0 where the first is 0; its derivatives know no such case.",
)
divide_from_operands = variant(
    ew.divide,
    "reads=operands",
    lambda xp, g, x2: g / x2,
    lambda xp, g, x1, x2: -g * ((x1 / x2) / x2),
    doc="Return the quotient; its rules do not read it, so that a program may write to it.",
)
sqrt_or_0 = variant(
    ew.sqrt,
    "0 times inf=0",
    lambda xp, g, y: run(divide_or_0.op, xp, (g, 2 * y), {}),
    doc="Return the root; at 0, where its derivative is infinite, 0 times it is 0.",
)
reciprocal_or_0 = variant(
    ew.reciprocal,
    "0 times inf=0",
    lambda xp, g, y: run(multiply_no_nan.op, xp, (-y * y, g), {}),
    doc="Return 1 / x; at 0, where its derivative is infinite, 0 times it is 0.",
)
rsqrt_or_0 = variant(
    ew.rsqrt,
    "0 times inf=0",
    lambda xp, g, y: run(multiply_no_nan.op, xp, (-0.5 * (y * y * y), g), {}),
    doc="Return 1 / sqrt(x); at 0, where its derivative is infinite, 0 times it is 0.",
)
sqrt_flat_at_0 = variant(
    ew.sqrt,
    "at 0=0",
    lambda xp, g, y: _zero_where(xp, y == 0, g / (2 * xp.where(y == 0, xp.ones_like(y), y))),
    doc="Return the root, whose derivative is 0 at 0: as for that of a variance.",
)

# -- powers ---------------------------------------------------------------------------------------


def _whole_power(x: Any, y: Any) -> Any:
    """Return powers of NumPy's whole numbers; 1 over a number but 1 and -1 is 0."""
    below = y < 0
    if not np.any(below):
        return np.power(x, y)
    odd = (y & 1).astype(bool)
    inverse = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0))
    return np.where(below, inverse, np.power(x, np.where(below, 0, y))).astype(x.dtype)


def _power(xp: Any, x1: Any, x2: Any) -> Any:
    if xp is backends.NUMPY:
        return np.power(x1, x2) if x2.dtype.kind not in "iu" else _whole_power(x1, x2)
    return xp.pow(x1, x2)


def _power_exponent(xp: Any, g: Any, y: Any, x1: Any, x2: Any) -> Any:
    real = xp.real(x2) if ew.is_complex(x2) else x2
    return g * _zero_where(xp, xp.logical_and(x1 == 0, real >= 0), y * xp.log(x1))


power_flat_at_0: Any = variant(
    ew.pow_,
    "at 0=0",
    lambda xp, g, x1, x2: _zero_where(
        xp, x2 == 0, g * (x2 * run(power_flat_at_0.op, xp, (x1, x2 - 1), {}))
    ),
    _power_exponent,
    compute=_power,
    doc="""Return x1 to the power x2.

    The derivative in x1 is 0 where x2 is 0; that in x2 is 0 where x1 is 0 and x2 is not negative.
    """,
)


def _positive_or_one(xp: Any, x: Any) -> Any:
    """Return x, and 1 where it is not positive; where complex, where it is 0."""
    other = x == 0 if ew.is_complex(x) else xp.logical_not(x > 0)
    return xp.where(other, xp.ones_like(x), x)


power_by_formula: Any = variant(
    ew.pow_,
    "at 0=formula",
    lambda xp, g, x1, x2: g * (x2 * run(power_by_formula.op, xp, (x1, x2 - 1), {})),
    lambda xp, g, y, x1: g * y * xp.log(_positive_or_one(xp, x1)),
    doc="""Return x1 to the power x2.

    The derivative in x1 is x2 * x1 ** (x2 - 1) also at 0 ** 0, where that is not a number; that in
    x2 is 0 where x1 is not positive.
    """,
)

# -- sizes, signs and angles ----------------------------------------------------------------------


def _abs_nan_0_rule(xp: Any, g: Any, x: Any) -> Any:
    if ew.is_complex(x):
        return ew.abs_rule(xp, g, x) if xp is not Tensor._namespace else g * xp.sign(x)
    return g * run(sign_of_nan_0.op, xp, (x,), {})


abs_flat = variant(
    ew.abs_,
    "sign=flat",
    lambda xp, g, x: (
        ew.abs_rule(xp, g, x) if ew.is_complex(x) else g * run(sign_flat.op, xp, (x,), {})
    ),
)
abs_nan_0 = variant(
    ew.abs_,
    "sign=flat, nan=0",
    _abs_nan_0_rule,
    doc="Return absolute values; the derivative at NaN is 0.",
)


def _turned(xp: Any, g: Any, y: Any, x1: Any) -> Any:
    """Return g times the sign that copysign gave, and 0 for the sign of 0."""
    nothing = x1 == 0
    return g * _zero_where(xp, nothing, y / xp.where(nothing, xp.ones_like(x1), x1))


copysign_flat = variant(ew.copysign, "second=0", _turned, flat)
nextafter_flat = variant(ew.nextafter, "second=0", lambda xp, g: g, flat)
nextafter_unless_equal = variant(
    ew.nextafter,
    "second=0, equal=0",
    lambda xp, g, x1, x2: xp.keep(g, x1 != x2),
    flat,
    doc="Return the next number after x1 towards x2; where they are equal, the derivative is 0.",
)
hypot_nan_at_0 = variant(
    ew.hypot,
    "at 0=nan",
    lambda xp, g, y, x1: g * (x1 / y),
    lambda xp, g, y, x2: g * (x2 / y),
    doc="Return sqrt(x1**2 + x2**2), whose derivatives are not numbers at the origin.",
)
atan2_nan_at_0 = variant(
    ew.atan2,
    "at 0=nan",
    lambda xp, g, x1, x2: x2 * (g / (x1 * x1 + x2 * x2)),
    lambda xp, g, x1, x2: -x1 * (g / (x1 * x1 + x2 * x2)),
    doc="Return the angle of the point (x2, x1), without derivatives at the origin.",
)

# -- exponentials and logarithms ------------------------------------------------------------------


def _expit(xp: Any, x: Any) -> Any:
    if xp is not backends.NUMPY or not x.shape:
        return 1 / (1 + xp.exp(-x))
    y = np.negative(x)  # which nobody else has seen
    np.exp(y, out=y)
    y += 1
    return np.reciprocal(y, out=y)


expit_from_result = variant(
    special.expit,
    "reads=result",
    lambda xp, g, y: g * ((1 - y) * y),
    compute=_expit,
    kinds="fc",
    reference=lambda x: 1 / (1 + np.exp(-x)),
    doc="Return 1 / (1 + exp(-x)), also of complex numbers; its rule reads nothing but that.",
)


def _exp2(xp: Any, x: Any) -> Any:
    if ew.is_complex(x) or xp is not backends.NUMPY:
        return xp.exp(x * ew.LN2)
    return np.exp2(x)


exp2_complex = variant(
    special.exp2,
    "kinds=complex",
    lambda xp, g, y: g * (y * ew.LN2),
    compute=_exp2,
    kinds="fc",
    reference=np.exp2,
)
logit_within = variant(
    special.logit,
    "outside=nan",
    lambda xp, g, x: xp.where((x < 0) | (x > 1), xp.full_like(x, math.nan), g / (x * (1 - x))),
    doc="Return log(x / (1 - x)), whose derivative is NaN outside of the interval from 0 to 1.",
)
xlogy_by_formula = variant(
    special.xlogy,
    "second=formula",
    special.xlogy.op.rules[0],
    lambda xp, g, x1, x2: g * x1 / x2,
)
xlogy_flat_at_0 = variant(
    special.xlogy,
    "at 0=0",
    lambda xp, g, x1, x2: g * xp.special.xlogy(xp.astype(x1 != 0, x2.dtype), x2),
    lambda xp, g, x1, x2: g * ratio_or_zero(xp, x1, x2),
    doc="Return x1 log(x2), and 0 where x1 is 0, where it is flat in x1 as well.",
)
xlog1py_flat_at_0 = variant(
    special.xlog1py,
    "at 0=0",
    lambda xp, g, x1, x2: g * xp.special.xlog1py(xp.astype(x1 != 0, x2.dtype), x2),
    lambda xp, g, x1, x2: g * ratio_or_zero(xp, x1, 1 + x2),
    doc="Return x1 log(1 + x2), and 0 where x1 is 0, where it is flat in x1 as well.",
)


def _logaddexp(xp: Any, x1: Any, x2: Any) -> Any:
    if not ew.is_complex(x1) and not ew.is_complex(x2):
        return xp.logaddexp(x1, x2)
    first = xp.real(x1) >= xp.real(x2) if ew.is_complex(x1) and ew.is_complex(x2) else x1 == x1
    larger, smaller = xp.where(first, x1, x2), xp.where(first, x2, x1)
    return larger + xp.log1p(xp.exp(smaller - larger))


logaddexp_complex = variant(
    ew.logaddexp,
    "kinds=complex",
    lambda xp, g, x1, x2: g / (1 + xp.exp(x2 - x1)),
    lambda xp, g, x1, x2: g / (1 + xp.exp(x1 - x2)),
    compute=_logaddexp,
    kinds="fc",
    reference=lambda x1, x2: np.log(np.exp(x1) + np.exp(x2)),
    doc="Return log(exp(x1) + exp(x2)), also of complex numbers.",
)

# -- constants that have a derivative, which is 0 -------------------------------------------------


def _in_common_shape(xp: Any, x1: Any, x2: Any) -> Any:
    alike = x1.shape == x2.shape and x1.dtype == x2.dtype
    return x1 if alike else x1 + xp.zeros_like(x2)


unmoved: Any = elementwise(
    "unmoved",
    lambda xp, g, x2: run(unmoved.op, xp, (g, x2), {}),
    flat,
    compute=_in_common_shape,
    reference=lambda x1, x2: x1 + 0 * x2,
    doc="Return x1 in the common shape; its derivative in x2 is the number 0.",
)
_read = elementwise(
    "read",
    lambda xp, g, x: run(unmoved.op, xp, (g, x), {}),
    compute=lambda xp, x: x,
    reference=lambda x: x,
)


def read(x: Tensor) -> Tensor:
    """Return x for an operation whose derivative reads x, though it is constant in it.

    So the second derivative is zero, and not nothing.
    """
    return _read(x) if interested([x._node]) else x


# -- reductions -----------------------------------------------------------------------------------


def _prod_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    raw = x._raw if xp is Tensor._namespace else None
    if type(raw) is np.ndarray and raw.all():
        return g * (y / x)
    return reductions.prod_rule(xp, g, x, y, axis)


prod_by_quotient = variant(
    reductions.prod_over,
    "second=quotient",
    _prod_rule,
    doc="""Return products.

    The derivative is made of the product itself where none is zero, also where it is recorded: so
    hooks at the product see what is asked of it.
    """,
)


def _extreme_rule(xp: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
    """Share g evenly among the elements that attain the extreme; others get 0, also of infinity.

    None attains it where a program has changed the result behind the tape's back.
    """
    winners = reductions.attains(x, y)
    count = xp.sum(xp.astype(winners, g.dtype), axis=axis, keepdims=True)
    count = xp.where(count == 0, xp.ones_like(count), count)
    return _zero_where(xp, xp.logical_not(winners), g / count)


max_others_0 = variant(reductions.max_over, "others=0", _extreme_rule)
min_others_0 = variant(reductions.min_over, "others=0", _extreme_rule)
