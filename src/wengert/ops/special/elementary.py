"""Logistic functions, entropies, and quotients and integrals of elementary functions."""

from __future__ import annotations

import math
from typing import Any

from wengert.ops import elementwise as ew
from wengert.ops.special.declare import (
    POSITIVE,
    UNIT,
    WIDE,
    ones_where,
    real_function,
    with_derivatives,
)

# -- logistic functions ---------------------------------------------------------------------------

expit = real_function(
    "expit",
    lambda xp, g, x, y: g * (y * xp.special.expit(-x)),  # 1 - y would cancel
    domain=WIDE,
    doc="Return 1 / (1 + exp(-x)). `wg.special.expit([0.0, 1.0])` is `[0.5, 0.731059]`.",
)
logit = real_function(
    "logit",
    lambda xp, g, x: g / (x * (1 - x)),
    domain=UNIT,
    doc="Return log(x / (1 - x)), the inverse of expit. "
    "`wg.special.logit([0.5, 0.9])` is `[0.0, 2.19722]`.",
)
log_expit = real_function(
    "log_expit",
    lambda xp, g, x: g * xp.special.expit(-x),
    domain=WIDE,
    doc="Return log(expit(x)), without underflow. "
    "`wg.special.log_expit([0.0, -1e3])` is `[-0.693147, -1000.0]`.",
)

# -- entropies ------------------------------------------------------------------------------------


def _undefined(x: Any, y: Any) -> Any:
    """Return where x is 0 and y has no logarithm."""
    return (x == 0) & (y == 0 if ew.is_complex(y) else y <= 0)


def quotient(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 0 where both are 0: x log(y) is flat in y where x is 0."""
    return x / ones_where(xp, (x == 0) & (y == 0), y)


def _ratio(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 1 where both are 0: as for all other equal numbers."""
    both = (x == 0) & (y == 0)
    return ones_where(xp, both, x) / ones_where(xp, both, y)


xlogy = real_function(
    "xlogy",
    lambda xp, g, x1, x2: g * xp.log(ones_where(xp, _undefined(x1, x2), x2)),
    lambda xp, g, x1, x2: g * quotient(xp, x1, x2),
    domain=((-2.0, 2.0), POSITIVE),
    doc="Return x1 log(x2), and 0 where x1 is 0. "
    "`wg.special.xlogy([0.0, 2.0], [0.0, 3.0])` is `[0.0, 2.19722]`.",
)
xlog1py = real_function(
    "xlog1py",
    lambda xp, g, x1, x2: g * xp.log1p(xp.where(_undefined(x1, 1 + x2), xp.zeros_like(x2), x2)),
    lambda xp, g, x1, x2: g * quotient(xp, x1, 1 + x2),
    domain=((-2.0, 2.0), (-0.7, 2.0)),
    doc="Return x1 log(1 + x2), and 0 where x1 is 0. "
    "`wg.special.xlog1py([0.0, 2.0], 1.0)` is `[0.0, 1.38629]`.",
)
entr = real_function(
    "entr",
    lambda xp, g, x: -g * (1 + xp.log(x)),
    domain=POSITIVE,
    doc="Return -x log(x), 0 at 0, and -inf below. "
    "`wg.special.entr([0.0, 0.5])` is `[0.0, 0.346574]`.",
)
rel_entr = real_function(
    "rel_entr",
    lambda xp, g, x1, x2: g * (1 + xp.log(_ratio(xp, x1, x2))),
    lambda xp, g, x1, x2: -g * _ratio(xp, x1, x2),
    domain=POSITIVE,
    doc="Return x1 log(x1 / x2), and 0 where x1 is 0. "
    "`wg.special.rel_entr(0.5, 0.25)` is `0.346574`.",
)
kl_div = real_function(
    "kl_div",
    lambda xp, g, x1, x2: g * xp.log(_ratio(xp, x1, x2)),
    lambda xp, g, x1, x2: g * (1 - _ratio(xp, x1, x2)),
    domain=POSITIVE,
    doc="Return x1 log(x1 / x2) - x1 + x2. `wg.special.kl_div(0.5, 0.25)` is `0.0965736`.",
)

# -- quotients and integrals ----------------------------------------------------------------------

sinc, sinc_derivative = with_derivatives(
    "sinc",
    (0, 1, 2),
    domain=WIDE,
    beyond=(0.4, 3.0),
    kinds="fc",
    doc="Return sin(pi x) / (pi x), and 1 at 0. `wg.special.sinc([0.0, 0.5])` is `[1.0, 0.63662]`.",
)
spherical_j0 = real_function(
    "spherical_j0",
    lambda xp, g, x: g * (xp.special.sinc_derivative(x / math.pi, order=1) / math.pi),
    compute=lambda xp, x: xp.special.sinc(x / math.pi),
    domain=WIDE,
    doc="Return sin(x) / x, the spherical Bessel function of order 0.",
)
exprel, exprel_derivative = with_derivatives(
    "exprel",
    (0, 1, 2),
    domain=WIDE,
    beyond=(1.0, 3.0),
    doc="Return (exp(x) - 1) / x, and 1 at 0. `wg.special.exprel([0.0, 1.0])` is `[1.0, 1.71828]`.",
)
spence, spence_derivative = with_derivatives(
    "spence",
    domain=(0.2, 3.0),
    beyond=(1.2, 3.0),
    rounding=100.0,
    doc="Return the integral of log(t) / (1 - t) from 1 to x. "
    "`wg.special.spence([0.0, 1.0])` is `[1.64493, 0.0]`.",
)
expi = real_function(
    "expi",
    lambda xp, g, x: g * (xp.exp(x) / x),
    domain=POSITIVE,
    doc="Return Ei(x), the integral of exp(t) / t from -inf to x. "
    "`wg.special.expi(1.0)` is `1.89512`.",
)
exp1 = real_function(
    "exp1",
    lambda xp, g, x: -g * (xp.exp(-x) / x),
    domain=POSITIVE,
    doc="Return E1(x), the integral of exp(-t) / t from x to inf. "
    "`wg.special.exp1(1.0)` is `0.219384`.",
)
fresnel_sin = real_function(
    "fresnel_sin",
    lambda xp, g, x: g * xp.sin(x * x * (math.pi / 2)),
    domain=WIDE,
    doc="Return the integral of sin(pi t**2 / 2) from 0 to x.",
)
fresnel_cos = real_function(
    "fresnel_cos",
    lambda xp, g, x: g * xp.cos(x * x * (math.pi / 2)),
    domain=WIDE,
    doc="Return the integral of cos(pi t**2 / 2) from 0 to x.",
)
exp2 = real_function(
    "exp2",
    lambda xp, g, y: g * (y * ew.LN2),
    doc="Return 2 to the power x. `wg.special.exp2([-1.0, 3.0])` is `[0.5, 8.0]`.",
)
exp10 = real_function(
    "exp10",
    lambda xp, g, y: g * (y * ew.LN10),
    doc="Return 10 to the power x. `wg.special.exp10([-1.0, 3.0])` is `[0.1, 1000.0]`.",
)
cbrt = real_function(
    "cbrt",
    lambda xp, g, y: g / (3 * (y * y)),
    domain=POSITIVE,
    doc="Return the real cube root. `wg.special.cbrt([27.0, -8.0])` is `[3.0, -2.0]`.",
)

__all__ = [
    "cbrt", "entr", "exp1", "exp2", "exp10", "expi", "expit", "exprel", "exprel_derivative",
    "fresnel_cos", "fresnel_sin", "kl_div", "log_expit", "logit", "rel_entr", "sinc",
    "sinc_derivative", "spence", "spence_derivative", "spherical_j0", "xlog1py", "xlogy",
]  # fmt: skip
