"""The extension `xp.special` on PyTorch's arrays: its functions by SciPy's names, and formulas.

What PyTorch lacks and no short formula gives is not here: such functions are computed in host
memory, or refused on a device. PyTorch's gammainc and gammaincc have 9 digits for a above 20.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import special

from wengert.backends.numpy_special import BERNOULLI, gamma_bell
from wengert.backends.torch_kernels import tensor

erf, erfc, erfinv, erfcx = special.erf, special.erfc, special.erfinv, special.erfcx
expit, entr, exp2, digamma = special.expit, special.entr, special.exp2, special.digamma
psi, gammaln = special.psi, special.gammaln
i0, i0e, i1, i1e = special.i0, special.i0e, special.i1, special.i1e
k0, k1 = special.modified_bessel_k0, special.modified_bessel_k1
k0e, k1e = special.scaled_modified_bessel_k0, special.scaled_modified_bessel_k1
ndtri, log_ndtr = special.ndtri, special.log_ndtr
gammainc, gammaincc, multigammaln = special.gammainc, special.gammaincc, special.multigammaln
log_expit, sinc, xlogy, xlog1py = (
    torch.nn.functional.logsigmoid, special.sinc, special.xlogy, special.xlog1py,
)  # fmt: skip


def logit(x: Any) -> Any:
    """Return log(x / (1 - x)); NaN outside of 0 to 1."""
    return torch.log(x / (1 - x))


def ndtr(x: Any) -> Any:
    """Return the normal distribution function; PyTorch's own is 1 + erf, which cancels below 0."""
    return special.erfc(x * -math.sqrt(0.5)) / 2


def erfcinv(x: Any) -> Any:
    """Return the inverse of erfc."""
    return special.ndtri(x / 2) * -math.sqrt(0.5)


def exp10(x: Any) -> Any:
    """Return 10**x."""
    return torch.pow(10.0, x)


def cbrt(x: Any) -> Any:
    """Return real cube roots, with one step of Newton's method after a power."""
    size = torch.abs(x)
    y = torch.pow(size, 1 / 3)
    safe = torch.where((y == 0) | torch.isinf(y), 1, y)
    y = torch.where((y == 0) | torch.isinf(y), y, y - (y - size / (safe * safe)) / 3)
    return torch.copysign(y, x)


def exprel(x: Any) -> Any:
    """Return (exp(x) - 1) / x."""
    return torch.where(x == 0, 1, torch.expm1(x) / torch.where(x == 0, 1, x))


def gammasgn(x: Any) -> Any:
    """Return the sign of the gamma function; NaN at its poles below 0."""
    whole = torch.floor(x)
    sign = torch.where((x > 0) | (torch.remainder(whole, 2) == 0), 1.0, -1.0).to(x.dtype)
    sign = torch.where((x < 0) & (whole == x), math.nan, sign)
    return torch.where(x == 0, torch.copysign(torch.ones_like(x), x), sign)


def gamma(x: Any) -> Any:
    """Return the gamma function."""
    return gammasgn(x) * torch.exp(special.gammaln(x))


def rgamma(x: Any) -> Any:
    """Return 1 / gamma(x), which is 0 at the poles of gamma."""
    pole = (x <= 0) & (torch.floor(x) == x)
    return torch.where(pole, 0, gammasgn(x) * torch.exp(-special.gammaln(x)))


def betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the size of the beta function."""
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def beta(a: Any, b: Any) -> Any:
    """Return the beta function."""
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * torch.exp(betaln(a, b))


def rel_entr(x: Any, y: Any) -> Any:
    """Return x log(x / y), 0 where x is 0 and y not below, and else infinity."""
    inside = (x > 0) & (y > 0)
    value = x * torch.log(torch.where(inside, x, 1) / torch.where(inside, y, 1))
    edge = torch.where((x == 0) & (y >= 0), 0.0, math.inf).to(value.dtype)
    value = torch.where(inside, value, edge)
    return torch.where(torch.isnan(x) | torch.isnan(y), math.nan, value)


def kl_div(x: Any, y: Any) -> Any:
    """Return rel_entr(x, y) - x + y."""
    return rel_entr(x, y) - x + y


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma."""
    if n == 0:
        return special.digamma(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * zeta(n + 1.0, x)


def zeta(x: Any, q: Any) -> Any:
    """Return Hurwitz's zeta function."""
    return special.zeta(x, q)


# -- derivatives of quotients that are 0/0 at a point ----------------------------------------------


def _in_double(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of double arrays as a function that returns the dtype of its arguments."""

    @functools.wraps(kernel)
    def call(*arrays: Any, **params: Any) -> Any:
        dtype = functools.reduce(torch.promote_types, (a.dtype for a in arrays))
        wide = torch.complex128 if dtype.is_complex else torch.float64
        spread: Any = torch.broadcast_tensors
        given = spread(*(a.to(wide) for a in arrays))
        return kernel(*given, **params).to(dtype)

    return call


def _gauss(count: int, device: Any) -> tuple[Any, Any]:
    """Return nodes and weights for integrals from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return tensor((nodes + 1) / 2, device), tensor(weights / 2, device)


def _quotient_derivative(
    h: Callable[[int, Any], Any], x: Any, order: int, near: float, point: float = 0.0
) -> Any:
    """Return the derivative of h(x) / (x - point) of some order; ``h(n, x)`` is the n-th of h.

    Near the point an integral, elsewhere the product rule, as in `numpy_special`.
    """
    step = x - point
    close = torch.abs(step) < near
    t, weights = _gauss(32, x.device)
    inner = torch.where(close, step, 0)[..., None]
    by_integral = (h(order + 1, point + t * inner) * (weights * t**order)).sum(-1)
    step = torch.where(close, 1.0, step)
    x = torch.where(close, point + 1.0, x)
    far = h(0, x) / step
    for n in range(1, order + 1):
        far = (h(n, x) - n * far) / step
    return torch.where(close, by_integral, far)


def _sine(n: int, x: Any) -> Any:
    turn = (torch.sin, torch.cos)[n % 2](math.pi * x)
    return math.pi ** (n - 1) * turn * (1, 1, -1, -1)[n % 4]


@_in_double
def sinc_derivative(x: Any, order: int) -> Any:
    """Return the derivative of sin(pi x) / (pi x) of some order."""
    return _quotient_derivative(_sine, x, order, near=1.0 + order / 2)


@_in_double
def exprel_derivative(x: Any, order: int) -> Any:
    """Return the derivative of (exp(x) - 1) / x of some order."""
    y = _quotient_derivative(
        lambda n, x: torch.exp(x) if n else torch.expm1(x), x, order, near=2.0 + 2 * order
    )
    return torch.where(torch.isinf(torch.exp(x)), math.inf, y)


@_in_double
def spence_derivative(x: Any, order: int) -> Any:
    """Return the derivative of spence of some order from 1; the first is -log(x) / (x - 1)."""
    return -_quotient_derivative(
        lambda n, x: -math.factorial(n - 1) / (-x) ** n if n else torch.log(x),
        x, order - 1, near=0.5, point=1.0,
    )  # fmt: skip


# -- the normal distribution -----------------------------------------------------------------------


def _far_out(x: Any, order: int, sign: int) -> Any:
    """Return the derivative of some order of sum_k sign**k (2k-1)!! / (2**(k+1) x**(2k+1))."""
    y, inverse_square = torch.zeros_like(x), 1 / (x * x)
    for k in range(24, -1, -1):
        rising = math.prod(range(2 * k + 1, 2 * k + 1 + order))
        double_factorial = math.prod(range(1, 2 * k, 2))
        y = y * inverse_square + sign**k * rising * double_factorial / 2 ** (k + 1)
    return (-1) ** order * y / x ** (order + 1)


@_in_double
def dawsn(x: Any) -> Any:
    """Return Dawson's integral, by Rybicki's sum of Gaussians, and far out by its series."""
    size = torch.clamp(torch.abs(x), max=8.0)
    total, step = torch.zeros_like(x), 0.2
    for n in range(1, 72, 2):  # the error is exp(-(pi / (2 step))**2)
        bump = torch.exp(-((size - n * step) ** 2))
        total = total - bump * torch.expm1(-4 * n * step * size) / n
    far = torch.abs(x) > 8
    outside = _far_out(torch.where(far, torch.abs(x), 8.0), 0, 1)
    return torch.copysign(torch.where(far, outside, total / math.sqrt(math.pi)), x)


@_in_double
def dawsn_derivative(x: Any, order: int) -> Any:
    """Return the derivative of dawsn of some order; 1 - 2 x dawsn(x) cancels far out."""
    before, y = dawsn(x), 1 - 2 * x * dawsn(x)
    for n in range(1, order):
        before, y = y, -2 * x * y - 2 * n * before
    far = torch.abs(x) > 7
    return torch.where(far, _far_out(torch.where(far, x, 8.0), order, 1), y)


@_in_double
def erfcx_derivative(x: Any, order: int) -> Any:
    """Return the derivative of erfcx of some order; 2 x erfcx(x) - 2/sqrt(pi) cancels far out."""
    before, y = erfcx(x), 2 * x * erfcx(x) - 2 / math.sqrt(math.pi)
    for n in range(1, order):
        before, y = y, 2 * x * y + 2 * n * before
    far = x > 7
    outside = 2 / math.sqrt(math.pi) * _far_out(torch.where(far, x, 8.0), order, -1)
    return torch.where(far, outside, y)


@_in_double
def log_ndtr_derivative(x: Any) -> Any:
    """Return the normal density over ndtr(x), both times exp(x**2 / 2): neither underflows."""
    return math.sqrt(2 / math.pi) / erfcx(x * -math.sqrt(0.5))


# -- densities -------------------------------------------------------------------------------------


def _deviance(a: Any, x: Any) -> Any:
    """Return a log(a / x) + x - a, also where x is near a."""
    ratio = (x - a) / a
    r = ratio / (2 + ratio)
    square, series = r * r, torch.zeros_like(x)
    for k in range(41, 1, -2):
        series = series * square + 1 / k
    near = r * ratio - 2 * r * square * series
    return a * torch.where(torch.abs(ratio) < 0.5, near, ratio - torch.log(x / a))


def _stirling_error(a: Any) -> Any:
    """Return log(gamma(a + 1)) less Stirling's formula for it."""
    large = torch.where(a < 10, 10.0, a)
    square, series = 1 / (large * large), torch.zeros_like(a)
    for term in (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360):
        series = (series + term) * square
    formula = (a + 0.5) * torch.log(a) - a + math.log(2 * math.pi) / 2
    return torch.where(a < 10, gammaln(a + 1) - formula, (series + 1 / 12) / large)


@_in_double
def gamma_density(a: Any, x: Any) -> Any:
    """Return x**(a - 1) exp(-x) / gamma(a), for large a without the cancellation in its log."""
    inverse = rgamma(a)
    small = torch.exp(xlogy(a - 1, x) - x) * inverse
    large = torch.sqrt(a / (2 * math.pi)) / x * torch.exp(-_deviance(a, x) - _stirling_error(a))
    small, large = torch.where(inverse == 0, 0.0, small), torch.where(x == 0, 0.0, large)
    y = torch.where(torch.isinf(x), 0.0, torch.where(a < 10, small, large))
    return torch.where(x < 0, math.nan, y)


@_in_double
def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x**(a - 1) (1 - x)**(b - 1) / beta(a, b)."""
    q, n = 1 - x, a + b
    edge = torch.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))
    errors = _stirling_error(a) + _stirling_error(b) - _stirling_error(n)
    deviance = _deviance(a, n * x) + _deviance(b, n * q)
    weight = torch.sqrt(a * (b / n) / (2 * math.pi)) * torch.exp(-deviance - errors)
    y = torch.where((x == 0) | (q == 0), edge, weight / (x * q))
    return torch.where((x >= 0) & (q >= 0), y, math.nan)


# -- Bessel functions, of which PyTorch has 7 digits only -----------------------------------------

_ANGLES = np.arange(64) * (math.pi / 64)
#: What the sum of (-1)**k J_2k(x) / k over k > 0 weighs cos(x sin(angle)) with.
_NEUMANN = sum((-1) ** k * np.cos(2 * k * _ANGLES) / k for k in range(1, 33))


def _waves(x: Any, order: int) -> tuple[Any, Any]:
    """Return J and the sum in Neumann's series of Y, of order 0 or 1, for x up to 25.

    J0 is the mean of cos(x sin(angle)) and J1 that of its slope, which a sum gives to rounding.
    """
    sine, weight = tensor(np.sin(_ANGLES), x.device), tensor(_NEUMANN, x.device)
    phase = x[..., None] * sine
    wave = torch.cos(phase) if order == 0 else torch.sin(phase) * sine
    return wave.mean(-1), (wave * weight).mean(-1)


def _hankel(x: Any, order: int) -> tuple[Any, Any]:
    """Return J and Y far out."""
    p, q, term = torch.ones_like(x), torch.zeros_like(x), torch.ones_like(x)
    for k in range(1, 25):
        term = term * ((4 * order * order - (2 * k - 1) ** 2) / (8 * k)) / x
        sign = (1, 1, -1, -1)[k % 4]
        p, q = (p, q + sign * term) if k % 2 else (p + sign * term, q)
    cosine, sine = torch.cos(x), torch.sin(x)
    c, s = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -sine - cosine)
    scale = 1 / torch.sqrt(math.pi * x)
    return scale * (p * c - q * s), scale * (p * s + q * c)


def _bessel(order: int, second: bool) -> Callable[..., Any]:
    """Return a Bessel function of the first or second kind, of order 0 or 1."""

    def kernel(x: Any) -> Any:
        size = torch.abs(x)
        near, far = torch.clamp(size, max=25.0), torch.clamp(size, min=25.0)
        j, series = _waves(near, order)
        if second:
            j = 2 * (torch.log(near / 2) + np.euler_gamma) * j - 4 * series
            j = (j if order == 0 else j - 2 * _waves(near, 0)[0] / near) / math.pi
            y = torch.where(size <= 25, j, _hankel(far, order)[1])
            return torch.where(x < 0, math.nan, torch.where(x == 0, -math.inf, y))
        y = torch.where(size <= 25, j, _hankel(far, order)[0])
        y = torch.where(torch.isinf(x), 0.0, y)
        return torch.where(x < 0, -y, y) if order else y

    return _in_double(kernel)


j0, j1, y0, y1 = (_bessel(order, second) for second in (False, True) for order in (0, 1))


# -- modified Bessel functions of any order ----------------------------------------------------


@_in_double
def _iv_series(x: Any, v: float) -> Any:
    """Return exp(-abs(x)) times the modified Bessel function, by its series or far out another."""
    size = torch.abs(x)
    near = torch.clamp(size, max=40.0)
    square, total = near * near / 4, torch.ones_like(x)
    for k in range(100, 0, -1):  # all terms are positive
        total = 1 + total * square / (k * (k + v))
    power = torch.pow(torch.where(x < 0, -near, near) / 2, v)
    close = total * power * torch.exp(-near) / math.gamma(v + 1)
    far = torch.clamp(size, min=40.0)
    series = torch.ones_like(x)
    for k in range(30, 0, -1):
        series = 1 - series * (4 * v * v - (2 * k - 1) ** 2) / (8 * k * far)
    sign = torch.where(x < 0, (-1.0) ** v if v == int(v) else math.nan, 1.0)
    return torch.where(size <= 40, close, sign * series / torch.sqrt(2 * math.pi * far))


def ive(v: float, x: Any) -> Any:
    """Return exp(-abs(x)) iv(v, x), for orders from 0."""
    return _iv_series(x, v=abs(v) if v == int(v) else v)


def iv(v: float, x: Any) -> Any:
    """Return the modified Bessel function of the first kind, for orders from 0."""
    return ive(v, x) * torch.exp(torch.abs(x))


# -- the zeta function -----------------------------------------------------------------------------


@_in_double
def zeta_derivative(x: Any, q: Any, order: int) -> Any:
    """Return the derivative of zeta(x, q) with respect to x, as `numpy_special` has it."""
    places = range(order + 1)
    total = [torch.zeros_like(x) for _ in places]

    def add(base: Any, *factors: list[Any]) -> None:
        log = torch.log(base)
        term = [base**-x * (-log) ** k / math.factorial(k) for k in places]
        for factor in factors:
            term = [sum(term[i - k] * f for k, f in enumerate(factor[: i + 1])) for i in places]
        for i in places:
            total[i] = total[i] + term[i]

    for k in range(16):
        add(q + k)
    end = q + 16
    add(end, [0.5])
    add(end, [end], [(-1) ** k / (x - 1) ** (k + 1) for k in places])  # the integral
    rising: list[list[Any]] = [[x, 1.0]]
    for j, bernoulli in enumerate(BERNOULLI, 1):
        add(end, [bernoulli / math.factorial(2 * j) / end ** (2 * j - 1)], *rising)
        rising += [[x + 2 * j - 1, 1.0], [x + 2 * j, 1.0]]
    return torch.where((x > 1) & (q > 0), math.factorial(order) * total[order], math.nan)


# -- the incomplete gamma function -----------------------------------------------------------------


@_in_double
def gammainc_derivative(a: Any, x: Any, order: int) -> Any:
    """Return the derivative of gammainc(a, x) with respect to a, as `numpy_special` has it.

    Both sides are computed everywhere, on numbers that are inside of each, and one is chosen.
    """
    inside = (a >= 0) & (x > 0) & torch.isfinite(a + x)
    a, given = torch.where(inside, a, 1.0), x
    outside = torch.where((a >= 0) & (given >= 0), 0.0, math.nan)
    x = torch.where(inside, x, 1.0)
    left = torch.log(x) < digamma(a + 1)
    small = a < 1
    raised = torch.where(small, a + 1, a)
    bell = gamma_bell(polygamma, a + 1, torch.log(x), order)[-1]
    rest = torch.where(small, gamma_density(a + 1, x) * bell, 0.0)
    below = _left_integral(raised, x, order) + rest
    y = torch.where(left, below, _right_integral(a, x, order))
    return torch.where(inside, y, outside)


def _left_integral(a: Any, x: Any, order: int) -> Any:
    a, x = a[..., None], x[..., None]
    drop = 42.0 - 2 * (a - x)
    length = (drop + torch.sqrt(drop * drop + 8 * 42.0 * a)) / (2 * a)
    t, weights = _gauss(64, x.device)
    down = length * t
    fall = (x - a) * down - x * (torch.expm1(-down) + down)
    return _integral(a, x, torch.log(x) - down, fall, length, weights, order)


def _right_integral(a: Any, x: Any, order: int) -> Any:
    a, x = a[..., None], x[..., None]
    ahead = x - a
    length = (torch.sqrt(ahead * ahead + 2 * 42.0 * x) - ahead) / x
    for _ in range(3):
        length = torch.log1p((42.0 + a * length) / x)
    t, weights = _gauss(64, x.device)
    up = length * t
    fall = -ahead * up - x * (torch.expm1(up) - up)
    return -_integral(a, x, torch.log(x) + up, fall, length, weights, order)


def _integral(a: Any, x: Any, u: Any, fall: Any, length: Any, weights: Any, order: int) -> Any:
    bell = gamma_bell(polygamma, a + 1, u, order)
    slope = a * bell[order] + order * bell[order - 1]
    return (gamma_density(a + 1, x) * length)[..., 0] * (torch.exp(fall) * slope * weights).sum(-1)
