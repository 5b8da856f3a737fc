"""The gamma and beta functions, complete and incomplete, and the zeta function."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError
from wengert.ops.checks import real
from wengert.ops.families import sample, zero
from wengert.ops.special.declare import POSITIVE, UNIT, WIDE, ones_where, real_function
from wengert.ops.special.elementary import quotient

gamma = real_function(
    "gamma",
    lambda xp, g, x, y: g * (y * xp.special.digamma(x)),
    domain=POSITIVE,
    doc="Return the integral of t**(x - 1) exp(-t) from 0 to inf. "
    "`wg.special.gamma([0.5, 5.0])` is `[1.77245, 24.0]`.",
)
gammaln = real_function(
    "gammaln",
    lambda xp, g, x: g * xp.special.digamma(x),
    domain=POSITIVE,
    doc="Return log(abs(gamma(x))). `wg.special.gammaln([0.5, 5.0])` is `[0.572365, 3.17805]`.",
)
digamma = psi = real_function(
    "digamma",
    lambda xp, g, x: g * xp.special.polygamma(1, x),
    domain=POSITIVE,
    doc="Return the derivative of gammaln; it is `psi`, too. "
    "`[wg.special.digamma(1.0), wg.special.psi(1.0)]` is `[-0.577216, -0.577216]`.",
)
gammasgn = zero(
    "special.gammasgn",
    domain=WIDE,
    doc="Return the sign of gamma(x), which is constant between poles. "
    "`wg.special.gammasgn([-0.5, 2.0])` is `[-1.0, 1.0]`.",
)


def _rgamma(xp: Any, g: Any, x: Any, y: Any) -> Any:
    # left of 1/2 by reflection, because gamma has poles there where 1 / gamma has none
    left = x < 0.5
    far = ones_where(xp, left, x)
    near = 1 - xp.where(left, x, xp.zeros_like(x))
    turn = math.pi * x
    slope = xp.cos(turn) - xp.sin(turn) / math.pi * xp.special.digamma(near)
    return g * xp.where(left, xp.special.gamma(near) * slope, -y * xp.special.digamma(far))


rgamma = real_function(
    "rgamma",
    _rgamma,
    domain=WIDE,
    doc="Return 1 / gamma(x), which is 0 at 0, -1, -2. "
    "`wg.special.rgamma([-1.0, 0.5, 5.0])` is `[0.0, 0.56419, 0.0416667]`.",
)


_polygamma = real_function(
    "polygamma",
    lambda xp, g, x, n: g * xp.special.polygamma(n + 1, x),
    compute=lambda xp, x, n: xp.special.polygamma(n, x),
    params=("n",),
    samples=[sample((2, 3), n=1), sample((), n=3), sample((3,), n=0), sample((0, 2), n=2)],
    domain=(0.6, 3.0),
)


def polygamma(n: int, x: Any, /) -> Tensor:
    """Return the n-th derivative of digamma. `wg.special.polygamma(1, 1.0)` is `1.64493`."""
    try:
        n = operator.index(n)
    except TypeError:
        raise DtypeError(
            f"polygamma: the order n is {type(n).__name__} {n!r}; expected one integer, such as 1"
        ) from None
    if not 0 <= n <= 170:
        raise ValueError(f"polygamma: the order n is {n}; expected an integer from 0 to 170")
    return _polygamma(x, n=n)


def _multigammaln_slope(xp: Any, g: Any, a: Any, d: int) -> Any:
    slope = xp.special.digamma(a)
    for j in range(1, d):
        slope = slope + xp.special.digamma(a - j / 2)
    return g * slope


_multigammaln = real_function(
    "multigammaln",
    _multigammaln_slope,
    args=("a",),
    compute=lambda xp, a, d: xp.special.multigammaln(a, d),
    params=("d",),
    samples=[sample((2, 3), d=3), sample((), d=1), sample((3,), d=2), sample((0, 2), d=2)],
    domain=(1.3, 4.0),
)


def multigammaln(a: Any, d: int, /) -> Tensor:
    """Return the logarithm of the gamma function of d dimensions, for a > (d - 1) / 2.

    `wg.special.multigammaln(2.0, 2)` is `0.451583`.
    """
    try:
        d = operator.index(d)
    except TypeError:
        raise DtypeError(
            f"multigammaln: d is {type(d).__name__} {d!r}; expected one integer, such as 2"
        ) from None
    return _multigammaln(real(a, "multigammaln"), d=d)


beta = real_function(
    "beta",
    lambda xp, g, y, a, b: g * (y * (xp.special.digamma(a) - xp.special.digamma(a + b))),
    lambda xp, g, y, a, b: g * (y * (xp.special.digamma(b) - xp.special.digamma(a + b))),
    args=("a", "b"),
    domain=POSITIVE,
    doc="Return gamma(a) gamma(b) / gamma(a + b). "
    "`wg.special.beta(2.0, [1.0, 3.0])` is `[0.5, 0.0833333]`.",
)
betaln = real_function(
    "betaln",
    lambda xp, g, a, b: g * (xp.special.digamma(a) - xp.special.digamma(a + b)),
    lambda xp, g, a, b: g * (xp.special.digamma(b) - xp.special.digamma(a + b)),
    args=("a", "b"),
    domain=POSITIVE,
    doc="Return log(abs(beta(a, b))). "
    "`wg.special.betaln(2.0, [1.0, 3.0])` is `[-0.693147, -2.48491]`.",
)

# -- incomplete gamma functions -------------------------------------------------------------------


def _gamma_density_x(xp: Any, g: Any, y: Any, a: Any, x: Any) -> Any:
    edge = x == 0
    slope = y * ((a - 1 - x) / ones_where(xp, edge, x))
    return g * xp.where(edge, xp.special.gamma_density(a - 1, x) - y, slope)


gamma_density = real_function(
    "gamma_density",
    lambda xp, g, y, a, x: g * (xp.special.xlogy(y, x) - y * xp.special.digamma(a)),
    _gamma_density_x,
    args=("a", "x"),
    domain=POSITIVE,
    doc="Return x**(a - 1) exp(-x) / gamma(a): the derivative of gammainc(a, x) in x.",
)


def _gammainc_derivative_x(xp: Any, g: Any, a: Any, x: Any, order: int) -> Any:
    from wengert.backends.special_formulas import gamma_bell

    density = xp.special.gamma_density(a, x)
    log_x = xp.log(ones_where(xp, density == 0, x))
    return g * (density * gamma_bell(xp.special.polygamma, a, log_x, order)[order])


_ORDERS = [
    sample((2, 3), (3,), order=1),
    sample((), (2,), order=2),
    sample((0, 2), (2,), order=1),
]
_incomplete = partial(real_function, args=("a", "x"), domain=((0.6, 4.0), (0.4, 4.0)))
gammainc_derivative = _incomplete(
    "gammainc_derivative",
    lambda xp, g, a, x, order: g * xp.special.gammainc_derivative(a, x, order=order + 1),
    _gammainc_derivative_x,
    params=("order",),
    samples=_ORDERS,
    rounding=100.0,  # integrals that nearly cancel: some 11 digits are left at order 2
    doc="Return the derivative of gammainc(a, x) in a, of some order from 1.",
)
gammainc = _incomplete(
    "gammainc",
    lambda xp, g, a, x: g * xp.special.gammainc_derivative(a, x, order=1),
    lambda xp, g, a, x: g * xp.special.gamma_density(a, x),
    doc="Return the integral of t**(a - 1) exp(-t) / gamma(a) from 0 to x: the distribution "
    "function of gamma variables. `wg.special.gammainc(2.0, 1.0)` is `0.264241`.",
)
gammaincc = _incomplete(
    "gammaincc",
    lambda xp, g, a, x: -g * xp.special.gammainc_derivative(a, x, order=1),
    lambda xp, g, a, x: -g * xp.special.gamma_density(a, x),
    doc="Return 1 - gammainc(a, x), accurate for large x. "
    "`wg.special.gammaincc(2.0, 9.0)` is `0.0012341`.",
)


def _gamma_quantile_a(xp: Any, g: Any, y: Any, a: Any) -> Any:
    density = xp.special.gamma_density(a, y)
    slope = xp.special.gammainc_derivative(a, y, order=1)
    return -g * (slope / ones_where(xp, density == 0, density))


gammaincinv = real_function(
    "gammaincinv",
    _gamma_quantile_a,
    lambda xp, g, y, a: g / xp.special.gamma_density(a, y),
    args=("a", "p"),
    domain=((0.6, 4.0), UNIT),
    doc="Return gamma quantiles, the x with gammainc(a, x) = p. "
    "`wg.special.gammaincinv(2.0, [0.5, 0.9])` is `[1.67835, 3.88972]`.",
)

# -- the incomplete beta function -----------------------------------------------------------------


def _beta_bell(xp: Any, a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    """Return the derivative of the beta density in a and b over the density."""
    from wengert.backends.numpy_special import beta_bell

    log_x = xp.log(ones_where(xp, x == 0, x))
    log_rest = xp.log1p(-xp.where(x == 1, xp.zeros_like(x), x))
    return beta_bell(xp.special.polygamma, a, b, log_x, log_rest, order)[order]


_of_three = partial(
    real_function,
    args=("a", "b", "x"),
    domain=((0.6, 4.0), (0.6, 4.0), UNIT),
)
beta_density = _of_three(
    "beta_density",
    lambda xp, g, y, a, b, x: g * (y * _beta_bell(xp, a, b, x, (1, 0))),
    lambda xp, g, y, a, b, x: g * (y * _beta_bell(xp, a, b, x, (0, 1))),
    lambda xp, g, y, a, b, x: g * (y * (quotient(xp, a - 1, x) - quotient(xp, b - 1, 1 - x))),
    doc="Return x**(a-1) (1-x)**(b-1) / beta(a, b): the derivative of betainc(a, b, x) in x.",
)


def _of_order(xp: Any, a: Any, b: Any, x: Any, in_a: int, in_b: int) -> Any:
    return xp.special.betainc_derivative(a, b, x, order=(in_a, in_b))


betainc_derivative = _of_three(
    "betainc_derivative",
    lambda xp, g, a, b, x, order: g * _of_order(xp, a, b, x, order[0] + 1, order[1]),
    lambda xp, g, a, b, x, order: g * _of_order(xp, a, b, x, order[0], order[1] + 1),
    lambda xp, g, a, b, x, order: (
        g * (xp.special.beta_density(a, b, x) * _beta_bell(xp, a, b, x, order))
    ),
    params=("order",),
    samples=[
        sample((2,), (2,), (2,), order=(1, 0)),
        sample((), (), (2,), order=(0, 1)),
        sample((2,), (), (), order=(1, 1)),
        sample((0, 2), (2,), (), order=(1, 0)),
    ],
    rounding=10.0,  # an adaptive quadrature, the only other way to compute it here
    doc="Return the derivative of betainc(a, b, x) in a and b, of an order in each.",
)
betainc = _of_three(
    "betainc",
    lambda xp, g, a, b, x: g * _of_order(xp, a, b, x, 1, 0),
    lambda xp, g, a, b, x: g * _of_order(xp, a, b, x, 0, 1),
    lambda xp, g, a, b, x: g * xp.special.beta_density(a, b, x),
    doc="Return the integral of t**(a - 1) (1 - t)**(b - 1) / beta(a, b) from 0 to x: the "
    "distribution function of beta variables. `wg.special.betainc(2.0, 3.0, 0.5)` is `0.6875`.",
)

# -- the zeta function ----------------------------------------------------------------------------


def _zeta_derivative_q(xp: Any, g: Any, x: Any, q: Any, order: int) -> Any:
    """Return the derivative in q, -x zeta(x + 1, q), differentiated `order` times in x."""
    slope = x * xp.special.zeta_derivative(x + 1, q, order=order)
    if order:
        slope = slope + order * xp.special.zeta_derivative(x + 1, q, order=order - 1)
    return -g * slope


zeta_derivative = real_function(
    "zeta_derivative",
    lambda xp, g, x, q, order: g * xp.special.zeta_derivative(x, q, order=order + 1),
    _zeta_derivative_q,
    args=("x", "q"),
    params=("order",),
    samples=_ORDERS,
    domain=((3.0, 5.0), POSITIVE),
    rounding=100.0,  # thousands of terms
    doc="Return the derivative of zeta(x, q) in x, of some order from 1.",
)
zeta_pair = real_function(
    "zeta",
    lambda xp, g, x, q: g * xp.special.zeta_derivative(x, q, order=1),
    lambda xp, g, x, q: -g * (x * xp.special.zeta(x + 1, q)),
    args=("x", "q"),
    domain=((1.5, 4.0), POSITIVE),
)


def zeta(x: Any, q: Any = 1.0, /) -> Tensor:
    """Return the sum of (k + q)**-x over k >= 0, for x > 1. `wg.special.zeta(2.0)` is `1.64493`."""
    return zeta_pair(x, q)


__all__ = [
    "beta", "beta_density", "betainc", "betainc_derivative", "betaln", "digamma", "gamma",
    "gamma_density", "gammainc", "gammainc_derivative", "gammaincc", "gammaincinv", "gammaln",
    "gammasgn", "multigammaln", "polygamma", "psi", "rgamma", "zeta", "zeta_derivative",
    "zeta_pair",
]  # fmt: skip
