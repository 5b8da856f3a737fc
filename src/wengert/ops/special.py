"""Special functions, with SciPy's names and values.

Rules are written in functions that have rules themselves, so that derivatives of every order
exist. Where a formula would cancel, or be 0/0, a derivative is an operation of its own
(``erfcx_derivative``, ``gammainc_derivative``), computed by `backends.numpy_special`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.errors import DtypeError
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor
from wengert.ops import batching, creation, shapes
from wengert.ops import elementwise as ew
from wengert.ops.families import axes as normalised
from wengert.ops.families import elementwise, joint, linewise, reduction, sample

ROOT_2, ROOT_HALF, ROOT_PI = math.sqrt(2), math.sqrt(0.5), math.sqrt(math.pi)
WIDE = (-3.0, 3.0)
POSITIVE = (0.3, 3.0)
UNIT = (0.1, 0.9)


def _real(x: Any, name: str) -> Tensor:
    """Return a tensor of real floating numbers, which integers become."""
    x = shapes.tensor(x, name)
    kind = backends.kind_of(x.dtype)
    if kind == "c":
        raise DtypeError(f"{name}: got {x.dtype}; expected real numbers, such as wg.real(x)")
    return x if kind == "f" else ew.astype(x, backends.namespace_of(x._raw).float64)


def _ones_where(xp: Any, mask: Any, x: Any) -> Any:
    """Return x with 1 where the mask holds, so that a logarithm or a quotient has a value."""
    return xp.where(mask, xp.ones_like(x), x)


# -- the error function and the normal distribution ---------------------------------------------

erf = elementwise(
    "special.erf",
    lambda xp, g, x: g * (xp.exp(-x * x) * (2 / ROOT_PI)),
    kinds="f",
    doc="Return the error function.",
)
erfc = elementwise(
    "special.erfc",
    lambda xp, g, x: g * (xp.exp(-x * x) * (-2 / ROOT_PI)),
    kinds="f",
    doc="Return 1 - erf(x), without its cancellation for large x.",
)
erfcx = elementwise(
    "special.erfcx",
    lambda xp, g, x: g * xp.special.erfcx_derivative(x, order=1),
    kinds="f",
    doc="Return exp(x**2) erfc(x), which does not underflow for large x.",
)
_ORDERS = [sample((2, 3), order=1), sample((), order=2), sample((0, 2), order=1)]


def _from_formula(first: Any, second: Any) -> Any:
    """Return a reference for derivatives of the orders 1 and 2, in the dtype of its argument."""

    def reference(*arrays: Any, order: int) -> Any:
        import scipy.special

        return (first if order == 1 else second)(scipy.special, *arrays).astype(arrays[-1].dtype)

    return reference


erfcx_derivative = elementwise(
    "special.erfcx_derivative",
    lambda xp, g, x, order: g * xp.special.erfcx_derivative(x, order=order + 1),
    params=("order",),
    samples=_ORDERS,
    kinds="f",
    reference=_from_formula(
        lambda sp, x: 2 * x * sp.erfcx(x) - 2 / ROOT_PI,
        lambda sp, x: (4 * x * x + 2) * sp.erfcx(x) - 4 * x / ROOT_PI,
    ),
    rounding=10.0,  # the formulas cancel
)
erfinv = elementwise(
    "special.erfinv",
    lambda xp, g, y: g * (xp.exp(y * y) * (ROOT_PI / 2)),
    domain=(-0.9, 0.9),
    kinds="f",
    doc="Return the inverse of erf.",
)
erfcinv = elementwise(
    "special.erfcinv",
    lambda xp, g, y: g * (xp.exp(y * y) * (-ROOT_PI / 2)),
    domain=(0.1, 1.9),
    kinds="f",
    doc="Return the inverse of erfc.",
)
dawsn = elementwise(
    "special.dawsn",
    lambda xp, g, x: g * xp.special.dawsn_derivative(x, order=1),
    kinds="f",
    doc="Return Dawson's integral.",
)
dawsn_derivative = elementwise(
    "special.dawsn_derivative",
    lambda xp, g, x, order: g * xp.special.dawsn_derivative(x, order=order + 1),
    params=("order",),
    samples=_ORDERS,
    kinds="f",
    reference=_from_formula(
        lambda sp, x: 1 - 2 * x * sp.dawsn(x),
        lambda sp, x: (4 * x * x - 2) * sp.dawsn(x) - 2 * x,
    ),
    rounding=10.0,  # the formulas cancel
)
ndtr = elementwise(
    "special.ndtr",
    lambda xp, g, x: g * (xp.exp(x * x * -0.5) / (ROOT_2 * ROOT_PI)),
    kinds="f",
    doc="Return the distribution function of the standard normal distribution.",
)
log_ndtr = elementwise(
    "special.log_ndtr",
    lambda xp, g, x: g * xp.special.log_ndtr_derivative(x),
    kinds="f",
    domain=(-4.0, 3.0),
    doc="Return log(ndtr(x)), which does not underflow for x far below 0.",
)


def _log_ndtr_second(xp: Any, g: Any, y: Any, x: Any) -> Any:
    """Return g times -y (x + y), which cancels where x is below 0: there by erfcx."""
    below = xp.special.erfcx_derivative(xp.where(x > 0, xp.zeros_like(x), x) * -ROOT_HALF, order=1)
    return g * xp.where(x > 0, -y * (x + y), y * y * (below * (ROOT_PI / 2)))


log_ndtr_derivative = elementwise(
    "special.log_ndtr_derivative",
    _log_ndtr_second,
    kinds="f",
    reference=lambda x: _density_over_ndtr(x),
    doc="Return the derivative of log_ndtr.",
)


def _density_over_ndtr(x: Any) -> Any:
    from scipy.special import ndtr

    return np.exp(-x * x / 2) / (ROOT_2 * ROOT_PI * ndtr(x))


ndtri = elementwise(
    "special.ndtri",
    lambda xp, g, y: g * (xp.exp(y * y * 0.5) * (ROOT_2 * ROOT_PI)),
    domain=UNIT,
    kinds="f",
    doc="Return the inverse of ndtr: quantiles of the standard normal distribution.",
)

# -- the gamma function ---------------------------------------------------------------------------

gamma = elementwise(
    "special.gamma",
    lambda xp, g, x, y: g * (y * xp.special.digamma(x)),
    domain=POSITIVE,
    kinds="f",
    doc="Return the gamma function.",
)
gammaln = elementwise(
    "special.gammaln",
    lambda xp, g, x: g * xp.special.digamma(x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the logarithm of the absolute value of gamma.",
)
digamma = psi = elementwise(
    "special.digamma",
    lambda xp, g, x: g * xp.special.polygamma(1, x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the derivative of gammaln.",
)


def _polygamma_reference(x: Any, n: int) -> Any:
    import scipy.special

    return scipy.special.polygamma(n, x).astype(x.dtype)


_polygamma = elementwise(
    "special.polygamma",
    lambda xp, g, x, n: g * xp.special.polygamma(n + 1, x),
    compute=lambda xp, x, n: xp.special.polygamma(n, x),
    params=("n",),
    samples=[sample((2, 3), n=1), sample((), n=3), sample((3,), n=0), sample((0, 2), n=2)],
    domain=(0.6, 3.0),
    kinds="f",
    reference=_polygamma_reference,
)


def polygamma(n: int, x: Any, /) -> Any:
    """Return the n-th derivative of digamma; n is one integer from 0 to 170."""
    try:
        n = operator.index(n)
    except TypeError:
        raise DtypeError(
            f"polygamma: the order n is {type(n).__name__} {n!r}; expected one integer, such as 1"
        ) from None
    if not 0 <= n <= 170:
        raise ValueError(f"polygamma: the order n is {n}; expected an integer from 0 to 170")
    return _polygamma(x, n=n)


beta = elementwise(
    "special.beta",
    lambda xp, g, y, a, b: g * (y * (xp.special.digamma(a) - xp.special.digamma(a + b))),
    lambda xp, g, y, a, b: g * (y * (xp.special.digamma(b) - xp.special.digamma(a + b))),
    args=("a", "b"),
    domain=POSITIVE,
    kinds="f",
    doc="Return gamma(a) gamma(b) / gamma(a + b).",
)
betaln = elementwise(
    "special.betaln",
    lambda xp, g, a, b: g * (xp.special.digamma(a) - xp.special.digamma(a + b)),
    lambda xp, g, a, b: g * (xp.special.digamma(b) - xp.special.digamma(a + b)),
    args=("a", "b"),
    domain=POSITIVE,
    kinds="f",
    doc="Return the logarithm of the absolute value of beta.",
)

# -- incomplete gamma functions -------------------------------------------------------------------


def _gamma_density_x(xp: Any, g: Any, y: Any, a: Any, x: Any) -> Any:
    edge = x == 0
    slope = y * ((a - 1 - x) / _ones_where(xp, edge, x))
    return g * xp.where(edge, xp.special.gamma_density(a - 1, x) - y, slope)


gamma_density = elementwise(
    "special.gamma_density",
    lambda xp, g, y, a, x: g * (xp.special.xlogy(y, x) - y * xp.special.digamma(a)),
    _gamma_density_x,
    args=("a", "x"),
    domain=(POSITIVE, POSITIVE),
    kinds="f",
    reference=lambda a, x: _density(a, x),
    doc="Return x**(a - 1) exp(-x) / gamma(a): the derivative of gammainc(a, x) in x.",
)


def _density(a: Any, x: Any) -> Any:
    from scipy.special import gamma

    return x ** (a - 1) * np.exp(-x) / gamma(a)


def _gammainc_derivative_x(xp: Any, g: Any, a: Any, x: Any, order: int) -> Any:
    from wengert.backends.numpy_special import gamma_bell

    density = xp.special.gamma_density(a, x)
    log_x = xp.log(_ones_where(xp, density == 0, x))
    return g * (density * gamma_bell(xp.special.polygamma, a, log_x, order)[order])


def _gammainc_derivative_reference(a: Any, x: Any, order: int) -> Any:
    from scipy.integrate import quad
    from scipy.special import digamma, polygamma

    def one(a: float, x: float) -> float:
        def integrand(t: float) -> float:
            first = np.log(t) - digamma(a)
            return _density(a, t) * (first if order == 1 else first**2 - polygamma(1, a))

        return -quad(integrand, x, 60.0 + x, epsabs=1e-14, epsrel=1e-13, limit=200)[0]

    dtype = np.result_type(a, x)
    return np.vectorize(one, otypes=[dtype])(np.float64(a), np.float64(x))


_PARAMETERS = [
    sample((2, 3), (3,), order=1),
    sample((), (2,), order=2),
    sample((0, 2), (2,), order=1),
]
gammainc_derivative = elementwise(
    "special.gammainc_derivative",
    lambda xp, g, a, x, order: g * xp.special.gammainc_derivative(a, x, order=order + 1),
    _gammainc_derivative_x,
    args=("a", "x"),
    params=("order",),
    samples=_PARAMETERS,
    domain=((0.6, 4.0), (0.4, 4.0)),
    kinds="f",
    reference=_gammainc_derivative_reference,
    rounding=100.0,  # integrals that nearly cancel: some 11 digits are left at order 2
    doc="Return the derivative of gammainc(a, x) in a, of some order from 1.",
)
gammainc = elementwise(
    "special.gammainc",
    lambda xp, g, a, x: g * xp.special.gammainc_derivative(a, x, order=1),
    lambda xp, g, a, x: g * xp.special.gamma_density(a, x),
    args=("a", "x"),
    domain=((0.6, 4.0), (0.4, 4.0)),
    kinds="f",
    doc="Return the incomplete gamma function: the distribution function of gamma variables.",
)
gammaincc = elementwise(
    "special.gammaincc",
    lambda xp, g, a, x: -g * xp.special.gammainc_derivative(a, x, order=1),
    lambda xp, g, a, x: -g * xp.special.gamma_density(a, x),
    args=("a", "x"),
    domain=((0.6, 4.0), (0.4, 4.0)),
    kinds="f",
    doc="Return 1 - gammainc(a, x), without its cancellation for large x.",
)


def _gamma_quantile_a(xp: Any, g: Any, y: Any, a: Any) -> Any:
    density = xp.special.gamma_density(a, y)
    slope = xp.special.gammainc_derivative(a, y, order=1)
    return -g * (slope / _ones_where(xp, density == 0, density))


gammaincinv = elementwise(
    "special.gammaincinv",
    _gamma_quantile_a,
    lambda xp, g, y, a: g / xp.special.gamma_density(a, y),
    args=("a", "p"),
    domain=((0.6, 4.0), UNIT),
    kinds="f",
    doc="Return the x with gammainc(a, x) = p: quantiles of gamma variables.",
)

# -- the incomplete beta function -----------------------------------------------------------------


def _beta_bell(xp: Any, a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    """Return the derivative of the beta density in a and b over the density."""
    from wengert.backends.numpy_special import beta_bell

    log_x = xp.log(_ones_where(xp, x == 0, x))
    log_rest = xp.log1p(-xp.where(x == 1, xp.zeros_like(x), x))
    return beta_bell(xp.special.polygamma, a, b, log_x, log_rest, order)[order]


def _beta_density_x(xp: Any, g: Any, y: Any, a: Any, b: Any, x: Any) -> Any:
    return g * (y * (_quotient(xp, a - 1, x) - _quotient(xp, b - 1, 1 - x)))


_THREE = [
    sample((2, 3), (2, 3), (2, 3)),
    sample((3,), (2, 1), ()),
    sample((0, 2), (2,), ()),
]
_BETA_DOMAIN = ((0.6, 4.0), (0.6, 4.0), (0.1, 0.9))
beta_density = elementwise(
    "special.beta_density",
    lambda xp, g, y, a, b, x: g * (y * _beta_bell(xp, a, b, x, (1, 0))),
    lambda xp, g, y, a, b, x: g * (y * _beta_bell(xp, a, b, x, (0, 1))),
    _beta_density_x,
    args=("a", "b", "x"),
    samples=_THREE,
    domain=_BETA_DOMAIN,
    kinds="f",
    reference=lambda a, b, x: _beta_values(a, b, x),
    doc="Return x**(a-1) (1-x)**(b-1) / beta(a, b): the derivative of betainc(a, b, x) in x.",
)


def _beta_values(a: Any, b: Any, x: Any) -> Any:
    from scipy.special import beta

    return x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b)


def _betainc_derivative_reference(a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    from scipy.integrate import quad
    from scipy.special import digamma, polygamma

    def one(a: float, b: float, x: float) -> float:
        def integrand(t: float) -> float:
            in_a = np.log(t) - digamma(a) + digamma(a + b)
            in_b = np.log1p(-t) - digamma(b) + digamma(a + b)
            factors = {(1, 0): in_a, (0, 1): in_b, (1, 1): in_a * in_b + polygamma(1, a + b)}
            return _beta_values(a, b, t) * factors[order]

        return quad(integrand, 0.0, x, epsabs=1e-14, epsrel=1e-13, limit=200)[0]

    dtype = np.result_type(a, b, x)
    return np.vectorize(one, otypes=[dtype])(*map(np.float64, (a, b, x)))


betainc_derivative = elementwise(
    "special.betainc_derivative",
    lambda xp, g, a, b, x, order: (
        g * xp.special.betainc_derivative(a, b, x, order=(order[0] + 1, order[1]))
    ),
    lambda xp, g, a, b, x, order: (
        g * xp.special.betainc_derivative(a, b, x, order=(order[0], order[1] + 1))
    ),
    lambda xp, g, a, b, x, order: (
        g * (xp.special.beta_density(a, b, x) * _beta_bell(xp, a, b, x, order))
    ),
    args=("a", "b", "x"),
    params=("order",),
    samples=[
        sample((2,), (2,), (2,), order=(1, 0)),
        sample((), (), (2,), order=(0, 1)),
        sample((2,), (), (), order=(1, 1)),
        sample((0, 2), (2,), (), order=(1, 0)),
    ],
    domain=_BETA_DOMAIN,
    kinds="f",
    reference=_betainc_derivative_reference,
    rounding=10.0,  # an adaptive quadrature, the only other way to compute it here
    doc="Return the derivative of betainc(a, b, x) in a and b, of an order in each.",
)
betainc = elementwise(
    "special.betainc",
    lambda xp, g, a, b, x: g * xp.special.betainc_derivative(a, b, x, order=(1, 0)),
    lambda xp, g, a, b, x: g * xp.special.betainc_derivative(a, b, x, order=(0, 1)),
    lambda xp, g, a, b, x: g * xp.special.beta_density(a, b, x),
    args=("a", "b", "x"),
    samples=_THREE,
    domain=_BETA_DOMAIN,
    kinds="f",
    doc="Return the incomplete beta function: the distribution function of beta variables.",
)

# -- logistic functions ---------------------------------------------------------------------------

expit = elementwise(
    "special.expit",
    lambda xp, g, x, y: g * (y * xp.special.expit(-x)),  # 1 - y would cancel
    domain=WIDE,
    kinds="f",
    doc="Return 1 / (1 + exp(-x)).",
)
logit = elementwise(
    "special.logit",
    lambda xp, g, x: g / (x * (1 - x)),
    domain=UNIT,
    kinds="f",
    doc="Return log(x / (1 - x)), the inverse of expit.",
)
log_expit = elementwise(
    "special.log_expit",
    lambda xp, g, x: g * xp.special.expit(-x),
    domain=WIDE,
    kinds="f",
    doc="Return log(expit(x)), which neither overflows nor underflows.",
)

# -- entropies ------------------------------------------------------------------------------------


def _undefined(x: Any, y: Any) -> Any:
    """Return where x is 0 and y has no logarithm."""
    return (x == 0) & (y == 0 if ew.is_complex(y) else y <= 0)


def _quotient(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 0 where both are 0: x log(y) is flat in y where x is 0."""
    return x / _ones_where(xp, (x == 0) & (y == 0), y)


def _ratio(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 1 where both are 0: as for all other equal numbers."""
    both = (x == 0) & (y == 0)
    return _ones_where(xp, both, x) / _ones_where(xp, both, y)


xlogy = elementwise(
    "special.xlogy",
    lambda xp, g, x1, x2: g * xp.log(_ones_where(xp, _undefined(x1, x2), x2)),
    lambda xp, g, x1, x2: g * _quotient(xp, x1, x2),
    domain=((-2.0, 2.0), POSITIVE),
    kinds="f",
    doc="Return x1 log(x2), and 0 where x1 is 0.",
)
xlog1py = elementwise(
    "special.xlog1py",
    lambda xp, g, x1, x2: g * xp.log1p(xp.where(_undefined(x1, 1 + x2), xp.zeros_like(x2), x2)),
    lambda xp, g, x1, x2: g * _quotient(xp, x1, 1 + x2),
    domain=((-2.0, 2.0), (-0.7, 2.0)),
    kinds="f",
    doc="Return x1 log(1 + x2), and 0 where x1 is 0.",
)
entr = elementwise(
    "special.entr",
    lambda xp, g, x: -g * (1 + xp.log(x)),
    domain=POSITIVE,
    kinds="f",
    doc="Return -x log(x), 0 at 0, and -inf below.",
)
rel_entr = elementwise(
    "special.rel_entr",
    lambda xp, g, x1, x2: g * (1 + xp.log(_ratio(xp, x1, x2))),
    lambda xp, g, x1, x2: -g * _ratio(xp, x1, x2),
    domain=POSITIVE,
    kinds="f",
    doc="Return x1 log(x1 / x2), and 0 where x1 is 0: terms of a relative entropy.",
)
kl_div = elementwise(
    "special.kl_div",
    lambda xp, g, x1, x2: g * xp.log(_ratio(xp, x1, x2)),
    lambda xp, g, x1, x2: g * (1 - _ratio(xp, x1, x2)),
    domain=POSITIVE,
    kinds="f",
    doc="Return x1 log(x1 / x2) - x1 + x2: terms of a divergence.",
)

# -- Bessel functions -----------------------------------------------------------------------------

i0 = elementwise(
    "special.i0",
    lambda xp, g, x: g * xp.special.i1(x),
    domain=WIDE,
    kinds="f",
    doc="Return the modified Bessel function of order 0.",
)
i1 = elementwise(
    "special.i1",
    lambda xp, g, x: g * ((xp.special.i0(x) + xp.special.iv(2, x)) / 2),
    domain=WIDE,
    kinds="f",
    doc="Return the modified Bessel function of order 1.",
)
i0e = elementwise(
    "special.i0e",
    lambda xp, g, x, y: g * (xp.special.i1e(x) - xp.sign(x) * y),
    domain=WIDE,
    kinds="f",
    doc="Return exp(-abs(x)) i0(x), which does not overflow.",
)
i1e = elementwise(
    "special.i1e",
    lambda xp, g, x, y: g * ((xp.special.i0e(x) + xp.special.ive(2, x)) / 2 - xp.sign(x) * y),
    domain=WIDE,
    kinds="f",
    doc="Return exp(-abs(x)) i1(x), which does not overflow.",
)


def _over_x(xp: Any, y: Any, x: Any, at_zero: float) -> Any:
    """Return y / x, and its limit where x is 0."""
    zero = x == 0
    return xp.where(zero, xp.full_like(x, at_zero), y / _ones_where(xp, zero, x))


airy_ai = elementwise(
    "special.airy_ai",
    lambda xp, g, x: g * xp.special.airy_ai_derivative(x),
    domain=WIDE,
    kinds="f",
    reference=lambda x: _scipy_airy(x)[0],
    doc="Return the Airy function Ai.",
)
airy_ai_derivative = elementwise(
    "special.airy_ai_derivative",
    lambda xp, g, x: g * (x * xp.special.airy_ai(x)),
    domain=WIDE,
    kinds="f",
    reference=lambda x: _scipy_airy(x)[1],
    doc="Return the derivative of the Airy function Ai.",
)


def _scipy_airy(x: Any) -> Any:
    import scipy.special

    return scipy.special.airy(x)


j0 = elementwise(
    "special.j0",
    lambda xp, g, x: -g * xp.special.j1(x),
    domain=WIDE,
    kinds="f",
    doc="Return the Bessel function of the first kind of order 0.",
)
j1 = elementwise(
    "special.j1",
    lambda xp, g, x, y: g * (xp.special.j0(x) - _over_x(xp, y, x, 0.5)),
    domain=WIDE,
    kinds="f",
    doc="Return the Bessel function of the first kind of order 1.",
)
y0 = elementwise(
    "special.y0",
    lambda xp, g, x: -g * xp.special.y1(x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the Bessel function of the second kind of order 0.",
)
y1 = elementwise(
    "special.y1",
    lambda xp, g, x, y: g * (xp.special.y0(x) - y / x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the Bessel function of the second kind of order 1.",
)
k0 = elementwise(
    "special.k0",
    lambda xp, g, x: -g * xp.special.k1(x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the modified Bessel function of the second kind of order 0.",
)
k1 = elementwise(
    "special.k1",
    lambda xp, g, x, y: -g * (xp.special.k0(x) + y / x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the modified Bessel function of the second kind of order 1.",
)
k0e = elementwise(
    "special.k0e",
    lambda xp, g, x, y: g * (y - xp.special.k1e(x)),
    domain=POSITIVE,
    kinds="f",
    doc="Return exp(x) k0(x), which does not underflow.",
)
k1e = elementwise(
    "special.k1e",
    lambda xp, g, x, y: g * (y - xp.special.k0e(x) - y / x),
    domain=POSITIVE,
    kinds="f",
    doc="Return exp(x) k1(x), which does not underflow.",
)


def _bessel_reference(name: str) -> Any:
    def reference(x: Any, v: float) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(v, x)

    return reference


_BESSEL = [sample((2, 3), v=0.0), sample((3,), v=1.5), sample((), v=2.0), sample((0, 2), v=1.0)]
_iv = elementwise(
    "special.iv",
    lambda xp, g, x, v: g * ((xp.special.iv(v - 1, x) + xp.special.iv(v + 1, x)) / 2),
    compute=lambda xp, x, v: xp.special.iv(v, x),
    params=("v",),
    samples=_BESSEL,
    domain=POSITIVE,
    kinds="f",
    reference=_bessel_reference("iv"),
)
_ive = elementwise(
    "special.ive",
    lambda xp, g, x, y, v: (
        g * ((xp.special.ive(v - 1, x) + xp.special.ive(v + 1, x)) / 2 - xp.sign(x) * y)
    ),
    compute=lambda xp, x, v: xp.special.ive(v, x),
    params=("v",),
    samples=_BESSEL,
    domain=POSITIVE,
    kinds="f",
    reference=_bessel_reference("ive"),
)


def _order(v: Any, name: str) -> float:
    try:
        return operator.index(v)
    except TypeError:
        if isinstance(v, (float, np.floating)):
            return float(v)
    raise DtypeError(
        f"{name}: the order v is {type(v).__name__} {v!r}; expected one Python number: there is no "
        "derivative with respect to it"
    )


def iv(v: float, x: Any, /) -> Any:
    """Return the modified Bessel function of the first kind; its order v is one number."""
    return _iv(_real(x, "iv"), v=_order(v, "iv"))


def ive(v: float, x: Any, /) -> Any:
    """Return exp(-abs(x)) iv(v, x), which does not overflow."""
    return _ive(_real(x, "ive"), v=_order(v, "ive"))


# -- quotients and integrals of elementary functions -----------------------------------------------

_FROM_ZERO = [sample((2, 3), order=0), sample((), order=1), sample((3,), order=2)]


def _sinc_reference(x: Any, order: int) -> Any:
    """Return derivatives of the sinc function by their formulas, which are 0/0 at 0."""
    u = np.pi * x
    sine, cosine = np.sin(u) / u, np.cos(u)
    first = (cosine - sine) / x
    return (sine, first, -(np.pi**2) * sine - 2 * first / x)[order].astype(x.dtype)


def _exprel_reference(x: Any, order: int) -> Any:
    zeroth = np.expm1(x) / x
    first = (np.exp(x) - zeroth) / x
    return (zeroth, first, (np.exp(x) - 2 * first) / x)[order].astype(x.dtype)


sinc = elementwise(
    "special.sinc",
    lambda xp, g, x: g * xp.special.sinc_derivative(x, order=1),
    domain=WIDE,
    doc="Return sin(pi x) / (pi x), and 1 at 0, where all its derivatives exist.",
)
sinc_derivative = elementwise(
    "special.sinc_derivative",
    lambda xp, g, x, order: g * xp.special.sinc_derivative(x, order=order + 1),
    params=("order",),
    samples=_FROM_ZERO,
    domain=(0.4, 3.0),
    reference=_sinc_reference,
    rounding=10.0,  # the formulas cancel
)
spherical_j0 = elementwise(
    "special.spherical_j0",
    lambda xp, g, x: g * (xp.special.sinc_derivative(x / math.pi, order=1) / math.pi),
    compute=lambda xp, x: xp.special.sinc(x / math.pi),
    domain=WIDE,
    kinds="f",
    reference=lambda x: np.sinc(x / math.pi).astype(x.dtype),
    doc="Return sin(x) / x, the spherical Bessel function of order 0.",
)
exprel = elementwise(
    "special.exprel",
    lambda xp, g, x: g * xp.special.exprel_derivative(x, order=1),
    domain=WIDE,
    kinds="f",
    doc="Return (exp(x) - 1) / x, and 1 at 0, where all its derivatives exist.",
)
exprel_derivative = elementwise(
    "special.exprel_derivative",
    lambda xp, g, x, order: g * xp.special.exprel_derivative(x, order=order + 1),
    params=("order",),
    samples=_FROM_ZERO,
    domain=(1.0, 3.0),
    kinds="f",
    reference=_exprel_reference,
    rounding=10.0,  # the formulas cancel
)
spence = elementwise(
    "special.spence",
    lambda xp, g, x: g * xp.special.spence_derivative(x, order=1),
    domain=(0.2, 3.0),
    kinds="f",
    doc="Return the integral of log(t) / (1 - t) from 1 to x.",
)
spence_derivative = elementwise(
    "special.spence_derivative",
    lambda xp, g, x, order: g * xp.special.spence_derivative(x, order=order + 1),
    params=("order",),
    samples=_ORDERS,
    domain=(1.2, 3.0),
    kinds="f",
    reference=_from_formula(
        lambda sp, x: np.log(x) / (1 - x),
        lambda sp, x: np.log(x) / (1 - x) ** 2 + 1 / (x * (1 - x)),
    ),
    rounding=100.0,  # the formulas cancel
)
expi = elementwise(
    "special.expi",
    lambda xp, g, x: g * (xp.exp(x) / x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the exponential integral Ei: of exp(t) / t from minus infinity to x.",
)
exp1 = elementwise(
    "special.exp1",
    lambda xp, g, x: -g * (xp.exp(-x) / x),
    domain=POSITIVE,
    kinds="f",
    doc="Return the exponential integral E1: of exp(-t) / t from x to infinity.",
)
fresnel_sin = elementwise(
    "special.fresnel_sin",
    lambda xp, g, x: g * xp.sin(x * x * (math.pi / 2)),
    domain=WIDE,
    kinds="f",
    reference=lambda x: __import__("scipy.special").special.fresnel(x)[0],
    doc="Return the integral of sin(pi t**2 / 2) from 0 to x.",
)
fresnel_cos = elementwise(
    "special.fresnel_cos",
    lambda xp, g, x: g * xp.cos(x * x * (math.pi / 2)),
    domain=WIDE,
    kinds="f",
    reference=lambda x: __import__("scipy.special").special.fresnel(x)[1],
    doc="Return the integral of cos(pi t**2 / 2) from 0 to x.",
)
exp2 = elementwise(
    "special.exp2",
    lambda xp, g, y: g * (y * ew.LN2),
    kinds="f",
    doc="Return 2 to the power x.",
)
exp10 = elementwise(
    "special.exp10",
    lambda xp, g, y: g * (y * ew.LN10),
    kinds="f",
    doc="Return 10 to the power x.",
)
cbrt = elementwise(
    "special.cbrt",
    lambda xp, g, y: g / (3 * (y * y)),
    domain=POSITIVE,
    kinds="f",
    doc="Return the real cube root.",
)

# -- the zeta function ----------------------------------------------------------------------------


def _zeta_derivative_q(xp: Any, g: Any, x: Any, q: Any, order: int) -> Any:
    """Return the derivative in q, -x zeta(x + 1, q), differentiated `order` times in x."""
    slope = x * xp.special.zeta_derivative(x + 1, q, order=order)
    if order:
        slope = slope + order * xp.special.zeta_derivative(x + 1, q, order=order - 1)
    return -g * slope


def _zeta_derivative_reference(x: Any, q: Any, order: int) -> Any:
    """Return sums of 3000 terms, and the integral of the rest from half a place before it."""
    dtype = np.result_type(x, q)
    x, q = (np.asarray(value, np.float64)[..., None] for value in (x, q))
    base = np.log(q + np.arange(3000))
    total = np.sum((-base) ** order * np.exp(-x * base), axis=-1)
    x, end = x[..., 0], np.log(q[..., 0] + 2999.5)
    rest = np.exp((1 - x) * end) / (x - 1)
    first = end + 1 / (x - 1)
    return (total + rest * (-first if order == 1 else first**2 + (x - 1) ** -2.0)).astype(dtype)


zeta_derivative = elementwise(
    "special.zeta_derivative",
    lambda xp, g, x, q, order: g * xp.special.zeta_derivative(x, q, order=order + 1),
    _zeta_derivative_q,
    args=("x", "q"),
    params=("order",),
    samples=_PARAMETERS,
    domain=((3.0, 5.0), POSITIVE),
    kinds="f",
    reference=_zeta_derivative_reference,
    rounding=100.0,  # thousands of terms
    doc="Return the derivative of zeta(x, q) in x, of some order from 1.",
)
zeta_pair = elementwise(
    "special.zeta",
    lambda xp, g, x, q: g * xp.special.zeta_derivative(x, q, order=1),
    lambda xp, g, x, q: -g * (x * xp.special.zeta(x + 1, q)),
    args=("x", "q"),
    domain=((1.5, 4.0), POSITIVE),
    kinds="f",
)


def zeta(x: Any, q: Any = 1.0, /) -> Any:
    """Return the sum of (k + q)**-x over k = 0, 1, 2, ..., for x > 1 and q > 0."""
    return zeta_pair(x, q)


# -- softmax and its relatives ------------------------------------------------------------------


def _shifted(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Return x less its largest element over the axes, as a new array."""
    return xp.asarray(x - xp.max(x, axis=axis, keepdims=True))


def _softmax_values(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    if 0 in x.shape:
        return +x
    y = _shifted(xp, x, axis)
    if xp is backends.NUMPY:  # nobody else has seen y
        np.exp(y, out=y)
        y /= xp.sum(y, axis=axis, keepdims=True)
        return y
    y = xp.exp(y)
    return y / xp.sum(y, axis=axis, keepdims=True)


def _log_softmax_values(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    if 0 in x.shape:
        return +x
    y = _shifted(xp, x, axis)
    if xp is backends.NUMPY:
        y -= np.log(xp.sum(np.exp(y), axis=axis, keepdims=True))
        return y
    return y - xp.log(xp.sum(xp.exp(y), axis=axis, keepdims=True))


def _softmax_rule(xp: Any, g: Any, y: Any, axis: tuple[int, ...]) -> Any:
    part = g * y
    return part - y * xp.sum(part, axis=axis, keepdims=True)


def _log_softmax_rule(xp: Any, g: Any, y: Any, axis: tuple[int, ...]) -> Any:
    return g - xp.exp(y) * xp.sum(g, axis=axis, keepdims=True)


_ROWS = [
    sample((2, 3), axis=(1,)),
    sample((3, 2, 2), axis=(0, 2)),
    sample((4,), axis=(0,)),
    sample((), axis=()),
    sample((0, 2), axis=(0,)),
    sample((2, 0), axis=(0,)),
]


def _over_nothing(name: str) -> Any:
    """Return SciPy's function, which has no answer for arrays without elements."""

    def reference(x: Any, axis: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x, axis=axis) if x.size else x

    return reference


_softmax = linewise(
    "special.softmax",
    _softmax_rule,
    params=("axis",),
    compute=_softmax_values,
    samples=_ROWS,
    kinds="f",
    reference=_over_nothing("softmax"),
)
_log_softmax = linewise(
    "special.log_softmax",
    _log_softmax_rule,
    params=("axis",),
    compute=_log_softmax_values,
    samples=_ROWS,
    kinds="f",
    reference=_over_nothing("log_softmax"),
)


def softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Return exponentials divided by their sum over `axis` (an axis, several, or all)."""
    x = _real(x, "softmax")
    return _softmax(x, axis=normalised(axis, x.ndim, "softmax"))


def log_softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Return the logarithm of softmax, which does not underflow."""
    x = _real(x, "log_softmax")
    return _log_softmax(x, axis=normalised(axis, x.ndim, "log_softmax"))


def _finite_top(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Return the largest element over the axes, and 0 where that is infinite."""
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _log_of_size(xp: Any, total: Any) -> Any:
    """Return log(abs(total)), and without a warning -inf for 0."""
    nothing = total == 0
    y = xp.log(_ones_where(xp, nothing, xp.abs(total)))
    return xp.where(nothing, xp.full_like(y, -math.inf), y)


def _logsumexp_values(xp: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    if any(x.shape[a] == 0 for a in axis):
        kept = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
        y = xp.full(kept, -math.inf, dtype=x.dtype)
    else:
        top = _finite_top(xp, x, axis)
        y = _log_of_size(xp, xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return y if keepdims else xp.squeeze(y, axis=axis)


def _shares(xp: Any, x: Any, y: Any, weight: Any, axis: tuple[int, ...]) -> Any:
    """Return exp(x - y); elements equal to an infinite y share it by their weights."""
    if xp is backends.NUMPY and np.isfinite(y).all():  # a look at values stops a jit
        return np.exp(x - y)
    known = (x == y) & xp.isinf(y)
    nothing = xp.zeros_like(x)
    share = xp.exp(xp.where(known, nothing, x) - xp.where(known, nothing, y))
    total = xp.sum(xp.where(known, weight, nothing), axis=axis, keepdims=True)
    return share / xp.where(known & (total != 0), total, xp.ones_like(x))


logsumexp_over = reduction(
    "special.logsumexp",
    lambda xp, g, x, y, axis: g * _shares(xp, x, y, xp.ones_like(x), axis),
    compute=_logsumexp_values,
    kinds="f",
    samples=[
        sample((2, 3), axis=(0, 1), keepdims=False),
        sample((2, 3), axis=(1,), keepdims=False),
        sample((2, 3, 2), axis=(0, 2), keepdims=True),
        sample((), axis=(), keepdims=False),
        sample((0, 2), axis=(1,), keepdims=False),
    ],
    reference=lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
)


def _weighted_values(xp: Any, x: Any, b: Any, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """Return log(abs(sum(b exp(x)))) and the sign of the sum, with the axes kept."""
    if 0 in x.shape:
        total = top = xp.sum(x, axis=axis, keepdims=True)
    else:
        unused = xp.full_like(x, -math.inf)
        x = xp.where(b == 0, unused, x)
        top = _finite_top(xp, x, axis)
        total = xp.sum(
            xp.where(b == 0, xp.zeros_like(x), b * xp.exp(x - top)), axis=axis, keepdims=True
        )
    return _log_of_size(xp, total) + top, xp.sign(total)


def _weighted_rule(xp: Any, g: Any, y: Any, x: Any, b: Any, axis: tuple[int, ...]) -> Any:
    size, sign = y
    part = g[0] * sign * _shares(xp, x, size, b * sign, axis)
    return part * b, part


def _weighted_batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    both = [batching.full(a, m, level) for a, m in zip(arrays, mapped, strict=True)]
    return batching.along_axes(op, level, both, (True, True), params)


_weighted = joint(
    "special.weighted_logsumexp",
    _weighted_rule,
    args=("x", "b"),
    params=("axis",),
    compute=_weighted_values,
    batch=_weighted_batch,
    kinds="f",
    samples=[
        sample((2, 3), (2, 3), axis=(1,)),
        sample((2, 3), (2, 3), axis=(0, 1)),
        sample((), (), axis=()),
        sample((2, 0), (2, 0), axis=(0,)),
    ],
    domain=((-2.0, 2.0), POSITIVE),
    reference=lambda x, b, axis: (
        np.log(total := np.sum(b * np.exp(x), axis=axis, keepdims=True)),
        np.sign(total),
    ),
)


def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """Return the logarithm of the sum of exponentials over `axis`, each times its factor in b.

    A negative sum has no logarithm, and gives NaN. With `return_sign` the result is a pair: the
    logarithm of its absolute value, and its sign.
    """
    x = _real(x, "logsumexp")
    if b is None and not return_sign:
        return logsumexp_over(x, axis=normalised(axis, x.ndim, "logsumexp"), keepdims=keepdims)
    x, b = shapes.broadcast_arrays(x, creation.ones_like(x) if b is None else _real(b, "logsumexp"))
    axis = normalised(axis, x.ndim, "logsumexp")
    y, sign = _weighted(x, b, axis=axis)
    if not keepdims:
        y, sign = (shapes.squeeze(part, axis=axis) for part in (y, sign))
    return (y, sign) if return_sign else ew.where(ew.less(sign, 0.0), math.nan, y)


__all__ = [
    "beta", "betainc", "betaln", "cbrt", "dawsn", "digamma", "entr", "erf", "erfc", "erfcinv",
    "erfcx", "erfinv", "exp1", "exp2", "exp10", "expi", "expit", "exprel", "gamma", "gammainc",
    "gammaincc", "gammaincinv", "gammaln", "i0", "i0e", "i1", "i1e", "iv", "ive", "kl_div",
    "log_expit", "log_ndtr", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "polygamma",
    "psi", "rel_entr", "sinc", "softmax", "spence", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
