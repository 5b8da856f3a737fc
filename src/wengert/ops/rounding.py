"""Rounding, quotients that are rounded, and what they leave over.

Where a function is constant between jumps, nothing leads to its argument. The variants `slope=0`
have zeros there, which are numbers: they become NaN where they meet an infinite derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.ops import elementwise as ew
from wengert.ops.families import elementwise, run, variant, zero

#: Where neither a quotient nor what is left over is near a jump.
LEFT_OVER = ((2.1, 2.7), (0.91, 1.0))


def flat(xp: Any, g: Any) -> Any:
    """Return zeros: the rule of a derivative that is the number 0, and not none."""
    return xp.zeros_like(g)


floor_flat, ceil_flat, trunc_flat, round_flat = (
    variant(function, "slope=0", flat) for function in (ew.floor, ew.ceil, ew.trunc, ew.round_)
)
sign_flat = variant(ew.real_sign, "slope=0", flat)


def _without_nan(xp: Any, x: Any) -> Any:
    if backends.kind_of(x.dtype) == "b":
        return xp.asarray(x, copy=True)
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


sign_of_nan_0 = variant(
    ew.real_sign,
    "slope=0, nan=0",
    flat,
    compute=_without_nan,
    reference=np.sign,
    doc="Return -1, 0 or 1, and 0 for NaN; truths as they are.",
)
angle_of_real = elementwise(
    "angle_of_real",
    flat,
    compute=lambda xp, x: xp.where(xp.isnan(x), x, xp.astype(x < 0, x.dtype) * np.pi),
    kinds="f",
    reference=lambda x: np.angle(x).astype(x.dtype),
    doc="Return the angle of real numbers in the plane: 0, or pi where they are negative.",
)

# -- quotients ------------------------------------------------------------------------------------

floor_divide_flat = variant(ew.floor_divide, "slope=0", flat, flat)


def _floor_of_quotient(xp: Any, x1: Any, x2: Any) -> Any:
    if xp.isdtype(xp.result_type(x1, x2), "real floating"):
        return xp.floor(x1 / x2)
    return xp.floor_divide(x1, x2)


floor_of_quotient = variant(
    ew.floor_divide,
    "rounded=first",
    None,
    None,
    compute=_floor_of_quotient,
    reference=lambda x1, x2: np.floor(x1 / x2),
    doc="Return the floor of the quotient as it is rounded, so that 1.0 // 0.1 is 10.",
)


def _truncated(xp: Any, x1: Any, x2: Any) -> Any:
    if backends.kind_of(x1.dtype) == "f":
        return xp.trunc(x1 / x2)
    return (x1 - _left_by_truncation(xp, x1, x2)) // x2


def _left_by_truncation(xp: Any, x1: Any, x2: Any) -> Any:
    if xp is backends.NUMPY:
        return np.fmod(x1, x2)
    left = xp.remainder(xp.abs(x1), xp.abs(x2))
    return xp.where(x1 < 0, -left, left)


trunc_divide = zero(
    "trunc_divide",
    args=("x1", "x2"),
    compute=_truncated,
    domain=((-2.0, 2.0), (0.2, 3.0)),
    reference=lambda x1, x2: np.trunc(x1 / x2),
    doc="Return x1 / x2 rounded towards zero.",
)
trunc_divide_flat = variant(trunc_divide, "slope=0", flat, flat)

# -- what is left over ----------------------------------------------------------------------------

remainder_flat = variant(
    ew.remainder,
    "quotient=flat",
    lambda xp, g: g,
    lambda xp, g, x1, x2: -g * run(floor_divide_flat.op, xp, (x1, x2), {}),
)
fmod = elementwise(
    "fmod",
    lambda xp, g: g,
    lambda xp, g, x1, x2: -g * run(trunc_divide_flat.op, xp, (x1, x2), {}),
    compute=_left_by_truncation,
    numpy=np.fmod,
    domain=LEFT_OVER,
    kinds="f",
    doc="Return what is left of x1 after a division by x2 rounded towards zero.",
)
frac = elementwise(
    "frac",
    lambda xp, g: g,
    compute=lambda xp, x: x - xp.trunc(x),
    kinds="f",
    reference=lambda x: x - np.trunc(x),
    doc="Return x without its whole part.",
)
