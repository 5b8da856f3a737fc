"""The error function, Dawson's integral, and the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from wengert.ops.special.declare import UNIT, real_function, with_derivatives

ROOT_2, ROOT_HALF, ROOT_PI = math.sqrt(2), math.sqrt(0.5), math.sqrt(math.pi)

erf = real_function(
    "erf",
    lambda xp, g, x: g * (xp.exp(-x * x) * (2 / ROOT_PI)),
    doc="Return 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x. "
    "`wg.special.erf([0.0, 1.0])` is `[0.0, 0.842701]`.",
)
erfc = real_function(
    "erfc",
    lambda xp, g, x: g * (xp.exp(-x * x) * (-2 / ROOT_PI)),
    doc="Return 1 - erf(x), accurate for large x. "
    "`wg.special.erfc([0.0, 5.0])` is `[1.0, 1.53746e-12]`.",
)
erfcx, erfcx_derivative = with_derivatives(
    "erfcx",
    doc="Return exp(x**2) erfc(x), without underflow. "
    "`wg.special.erfcx([0.0, 50.0])` is `[1.0, 0.0112815]`.",
)
erfinv = real_function(
    "erfinv",
    lambda xp, g, y: g * (xp.exp(y * y) * (ROOT_PI / 2)),
    domain=(-0.9, 0.9),
    doc="Return the inverse of erf. `wg.special.erfinv([0.0, 0.5])` is `[0.0, 0.476936]`.",
)
erfcinv = real_function(
    "erfcinv",
    lambda xp, g, y: g * (xp.exp(y * y) * (-ROOT_PI / 2)),
    domain=(0.1, 1.9),
    doc="Return the inverse of erfc. `wg.special.erfcinv([0.5, 1.0])` is `[0.476936, -0.0]`.",
)
dawsn, dawsn_derivative = with_derivatives(
    "dawsn",
    doc="Return exp(-x**2) times the integral of exp(t**2) from 0 to x. "
    "`wg.special.dawsn([0.0, 1.0])` is `[0.0, 0.53808]`.",
)
ndtr = real_function(
    "ndtr",
    lambda xp, g, x: g * (xp.exp(x * x * -0.5) / (ROOT_2 * ROOT_PI)),
    doc="Return the standard normal distribution function. "
    "`wg.special.ndtr([0.0, 1.0])` is `[0.5, 0.841345]`.",
)
log_ndtr = real_function(
    "log_ndtr",
    lambda xp, g, x: g * xp.special.log_ndtr_derivative(x),
    domain=(-4.0, 3.0),
    doc="Return log(ndtr(x)), without underflow. "
    "`wg.special.log_ndtr([0.0, -50.0])` is `[-0.693147, -1254.83]`.",
)


def _log_ndtr_second(xp: Any, g: Any, y: Any, x: Any) -> Any:
    """Return g times -y (x + y), which cancels where x is below 0: there by erfcx."""
    below = xp.special.erfcx_derivative(xp.where(x > 0, xp.zeros_like(x), x) * -ROOT_HALF, order=1)
    return g * xp.where(x > 0, -y * (x + y), y * y * (below * (ROOT_PI / 2)))


log_ndtr_derivative = real_function("log_ndtr_derivative", _log_ndtr_second)
ndtri = real_function(
    "ndtri",
    lambda xp, g, y: g * (xp.exp(y * y * 0.5) * (ROOT_2 * ROOT_PI)),
    domain=UNIT,
    doc="Return standard normal quantiles, the inverse of ndtr. "
    "`wg.special.ndtri([0.5, 0.975])` is `[0.0, 1.95996]`.",
)

__all__ = [
    "dawsn", "dawsn_derivative", "erf", "erfc", "erfcinv", "erfcx", "erfcx_derivative", "erfinv",
    "log_ndtr", "log_ndtr_derivative", "ndtr", "ndtri",
]  # fmt: skip
