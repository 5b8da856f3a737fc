"""Operations with TensorFlow's choices where mathematics leaves one: at kinks, ties and zeros."""

from __future__ import annotations

from typing import Any

from wengert.dialects.rules import Rule, with_rules
from wengert.ops import elementwise, special
from wengert.ops.families import run


def without_rule(name: str) -> Rule:
    """Return the rule of an operation for which TensorFlow has none."""

    def rule(xp: Any, g: Any) -> Any:
        raise LookupError(f"{name} has no gradient in TensorFlow, and so none here")

    return rule


def _where_positive(xp: Any, x: Any) -> Any:
    """Return x, and 1 where it is not positive; where complex, where it is 0."""
    flat = x == 0 if elementwise.is_complex(x) else xp.logical_not(x > 0)
    return xp.where(flat, xp.ones_like(x), x)


#: x ** y: its derivative in x is y * x ** (y - 1) also at 0 ** 0, where that is not a number, and
#: in y that of a constant where x is not positive.
power: Any = with_rules(
    elementwise.pow_,
    lambda xp, g, x1, x2: g * (x2 * run(power.op, xp, (x1, x2 - 1), {})),
    lambda xp, g, y, x1: g * y * xp.log(_where_positive(xp, x1)),
)
#: The floor of the rounded quotient, so that 1.0 // 0.1 is 10.
floor_divide = with_rules(
    elementwise.floor_divide, None, None, compute=lambda xp, x1, x2: _floor_of_quotient(xp, x1, x2)
)
#: The larger of two, the first of equal ones; the other has the number 0 as its derivative.
maximum = with_rules(
    elementwise.maximum,
    lambda xp, g, x1, x2: _where(xp, x1 >= x2, g),
    lambda xp, g, x1, x2: _where(xp, xp.logical_not(x1 >= x2), g),
)
#: The smaller of two, the first of equal ones; the other has the number 0 as its derivative.
minimum = with_rules(
    elementwise.minimum,
    lambda xp, g, x1, x2: _where(xp, x1 <= x2, g),
    lambda xp, g, x1, x2: _where(xp, xp.logical_not(x1 <= x2), g),
)
#: At 0, where the derivatives of these three are infinite, 0 times it is 0.
sqrt = with_rules(elementwise.sqrt, lambda xp, g, y: run(quotient_or_zero.op, xp, (g, 2 * y), {}))
reciprocal = with_rules(elementwise.reciprocal, lambda xp, g, y: _times_or_zero(xp, -y * y, g))
rsqrt: Any = with_rules(
    elementwise.reciprocal,
    lambda xp, g, y: _times_or_zero(xp, -0.5 * (y * y * y), g),
    compute=lambda xp, x: 1 / xp.sqrt(x),
    name="rsqrt",
)
#: The derivative is the number 0 where a value was not chosen, so NaN where it meets an infinite
#: derivative further on.
where: Any = with_rules(
    elementwise.where,
    None,
    lambda xp, g, condition: _where(xp, condition, g),
    lambda xp, g, condition: run(where.op, xp, (condition, xp.zeros_like(g), g), {}),
)
#: Derivatives are not numbers at the origin.
atan2 = with_rules(
    elementwise.atan2,
    lambda xp, g, x1, x2: x2 * (g / (x1 * x1 + x2 * x2)),
    lambda xp, g, x1, x2: -x1 * (g / (x1 * x1 + x2 * x2)),
)
#: The derivative is zero, and not None.
sign = with_rules(elementwise._real_sign, lambda xp, g: xp.zeros_like(g))
absolute = with_rules(elementwise.abs_, lambda xp, g, x: _abs_rule(xp, g, x))
nextafter = with_rules(elementwise.nextafter, lambda xp, g: g, lambda xp, g: xp.zeros_like(g))
#: Flat in the first where that is 0.
xlogy = with_rules(
    special.xlogy,
    lambda xp, g, x1, x2: g * xp.special.xlogy(xp.astype(x1 != 0, x2.dtype), x2),
    lambda xp, g, x1, x2: g * _ratio_or_zero(xp, x1, x2),
)
xlog1py = with_rules(
    special.xlog1py,
    lambda xp, g, x1, x2: g * xp.special.xlog1py(xp.astype(x1 != 0, x2.dtype), x2),
    lambda xp, g, x1, x2: g * _ratio_or_zero(xp, x1, 1 + x2),
)
#: No derivative with respect to x.
zeta: Any = with_rules(
    special._zeta, None, lambda xp, g, x, q: -g * (x * run(zeta.op, xp, (x + 1, q), {}))
)
#: The product, and 0 where the second is 0, also of an infinite first.
multiply_no_nan: Any = with_rules(
    elementwise.multiply,
    lambda xp, g, x2: run(multiply_no_nan.op, xp, (g, x2), {}),
    lambda xp, g, x1: run(multiply_no_nan.op, xp, (x1, g), {}),
    compute=lambda xp, x1, x2: _product_or_zero(xp, x1, x2),
)
#: The quotient, and 0 where the first is 0, also of a second that is 0 or not a number. Only the
#: value is so: 0 is no special case for its derivatives.
quotient_or_zero: Any = with_rules(
    elementwise.divide,
    lambda xp, g, x2: g / x2,
    lambda xp, g, y, x2: -(g / x2) * y,
    compute=lambda xp, x1, x2: _ratio_or_zero(xp, x1, x2),
)


def _floor_of_quotient(xp: Any, x: Any, y: Any) -> Any:
    if xp.isdtype(xp.result_type(x, y), "real floating"):
        return xp.floor(x / y)
    return xp.floor_divide(x, y)


def _where(xp: Any, condition: Any, g: Any) -> Any:
    """Return g where a condition holds, and the number 0 elsewhere."""
    return run(where.op, xp, (condition, g, xp.zeros_like(g)), {})


def _product_or_zero(xp: Any, x: Any, y: Any) -> Any:
    nothing = y == 0
    return xp.where(nothing, xp.zeros_like(y), xp.where(nothing, xp.ones_like(y), x) * y)


def _times_or_zero(xp: Any, factor: Any, g: Any) -> Any:
    """Return a factor times g, and 0 where g is 0, also of a factor that is not finite."""
    return run(multiply_no_nan.op, xp, (factor, g), {})


def _ratio_or_zero(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 0 where x is 0."""
    nothing = x == 0
    return xp.where(nothing, xp.zeros_like(y), x / xp.where(nothing, xp.ones_like(y), y))


def _abs_rule(xp: Any, g: Any, x: Any) -> Any:
    if elementwise.is_complex(x):
        return elementwise._abs_rule(xp, g, x)
    return g * run(sign.op, xp, (x,), {})


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds and y elsewhere."""
    return where(condition, x, y)
