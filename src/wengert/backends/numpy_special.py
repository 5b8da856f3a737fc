"""The extension `xp.special` on NumPy: SciPy's functions, and derivatives that SciPy lacks.

Each kernel here is one that formulas in SciPy's functions would get wrong somewhere: by
cancellation far out, as 0/0 at a point, or because there is no formula at all. They compute in
double precision and return the dtype of their arguments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as scipy_special

from wengert.backends.threads import in_pieces


def __getattr__(name: str) -> Any:
    """Return a function of SciPy that is none of ours."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(scipy_special, name)


def _part(name: str, position: int) -> Callable[..., Any]:
    """Return one of the results of a function of SciPy."""
    function = getattr(scipy_special, name)
    return lambda x: function(x)[position].astype(x.dtype, copy=False)


airy_ai, airy_ai_derivative = _part("airy", 0), _part("airy", 1)
fresnel_sin, fresnel_cos = _part("fresnel", 0), _part("fresnel", 1)


def yn(n: int, x: np.ndarray) -> np.ndarray:
    """Return SciPy's yn in the dtype of x, for which it takes double."""
    return np.asarray(scipy_special.yn(n, x)).astype(x.dtype, copy=False)


def multigammaln(a: np.ndarray, d: int) -> np.ndarray:
    """Return SciPy's multigammaln in the dtype of a, for which it takes double."""
    return np.asarray(scipy_special.multigammaln(a, d)).astype(a.dtype, copy=False)


def _in_double(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of flat double arrays as a function of arrays that broadcast.

    Quadratures hold many numbers for each element, so elements come in pieces.
    """

    @functools.wraps(kernel)
    def call(*arrays: Any, **params: Any) -> Any:
        given = np.broadcast_arrays(*arrays)
        dtype = np.result_type(*arrays, np.float32)
        wide = np.result_type(dtype, np.float64)
        flat = [np.ravel(a).astype(wide) for a in given]
        y = np.empty(flat[0].shape, wide)

        def work(start: int, stop: int) -> None:
            with np.errstate(all="ignore"):
                y[start:stop] = kernel(*(a[start:stop] for a in flat), **params)

        in_pieces(work, y.size, 2048)
        with np.errstate(over="ignore"):  # as SciPy's functions in single precision
            return y.reshape(given[0].shape).astype(dtype)

    return call


@functools.cache
def _gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for integrals from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


# -- quotients that are 0/0 at a point ------------------------------------------------------------


def _quotient_derivative(
    h: Callable[[int, Any], Any], x: np.ndarray, order: int, near: float, point: float = 0.0
) -> np.ndarray:
    """Return the derivative of h(x) / (x - point) of some order; ``h(n, x)`` is the n-th of h.

    Where x is near the point, where h is 0, as the integral over t from 0 to 1 of t**n times
    h(n + 1, point + t (x - point)). Elsewhere from the product rule for the denominator times
    the quotient.
    """
    step = x - point
    close = np.abs(step) < near
    y = np.empty_like(x)
    t, weights = _gauss(32)
    y[close] = h(order + 1, point + t * step[close, None]) @ (weights * t**order)
    x, step = x[~close], step[~close]
    far = h(0, x) / step
    for n in range(1, order + 1):
        far = (h(n, x) - n * far) / step
    y[~close] = far
    return y


def _sine(n: int, x: Any) -> Any:
    return math.pi ** (n - 1) * (np.sin, np.cos)[n % 2](math.pi * x) * (1, 1, -1, -1)[n % 4]


def _exponential(n: int, x: Any) -> Any:
    return np.exp(x) if n else np.expm1(x)


def _logarithm(n: int, x: Any) -> Any:
    return -math.factorial(n - 1) / (-x) ** n if n else np.log(x)


@_in_double
def sinc_derivative(x: Any, order: int) -> Any:
    """Return the derivative of sin(pi x) / (pi x) of some order."""
    return _quotient_derivative(_sine, x, order, near=1.0 + order / 2)


@_in_double
def exprel_derivative(x: Any, order: int) -> Any:
    """Return the derivative of (exp(x) - 1) / x of some order."""
    y = _quotient_derivative(_exponential, x, order, near=2.0 + 2 * order)
    return np.where(np.isinf(np.exp(x)), math.inf, y)


@_in_double
def spence_derivative(x: Any, order: int) -> Any:
    """Return the derivative of spence of some order from 1; the first is -log(x) / (x - 1)."""
    return -_quotient_derivative(_logarithm, x, order - 1, near=0.5, point=1.0)


# -- erfcx and Dawson's integral ------------------------------------------------------------------


def _far_out(x: np.ndarray, order: int, sign: int) -> np.ndarray:
    """Return the derivative of some order of sum_k sign**k (2k-1)!! / (2**(k+1) x**(2k+1))."""
    y = np.zeros_like(x)
    inverse_square = 1 / (x * x)
    for k in range(24, -1, -1):
        rising = math.prod(range(2 * k + 1, 2 * k + 1 + order))
        double_factorial = math.prod(range(1, 2 * k, 2))
        y = y * inverse_square + sign**k * rising * double_factorial / 2 ** (k + 1)
    return (-1) ** order * y / x ** (order + 1)


@_in_double
def erfcx_derivative(x: Any, order: int) -> Any:
    """Return the derivative of erfcx of some order; 2 x erfcx(x) - 2/sqrt(pi) cancels far out."""
    before, y = scipy_special.erfcx(x), 2 * x * scipy_special.erfcx(x) - 2 / math.sqrt(math.pi)
    for n in range(1, order):
        before, y = y, 2 * x * y + 2 * n * before
    far = (x.real > 7) & (x.imag == 0)
    y[far] = 2 / math.sqrt(math.pi) * _far_out(x[far], order, -1)
    return y


@_in_double
def log_ndtr_derivative(x: Any) -> Any:
    """Return the normal density over ndtr(x), both times exp(x**2 / 2): neither underflows."""
    return math.sqrt(2 / math.pi) / scipy_special.erfcx(x * -math.sqrt(0.5))


@_in_double
def dawsn_derivative(x: Any, order: int) -> Any:
    """Return the derivative of dawsn of some order; 1 - 2 x dawsn(x) cancels far out."""
    before, y = scipy_special.dawsn(x), 1 - 2 * x * scipy_special.dawsn(x)
    for n in range(1, order):
        before, y = y, -2 * x * y - 2 * n * before
    far = (np.abs(x) > 7) & (x.imag == 0)
    y[far] = _far_out(x[far], order, 1)
    return y


# -- polygamma ------------------------------------------------------------------------------------


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma, in the dtype of x."""
    if n == 0:
        return scipy_special.digamma(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * scipy_special.zeta(n + 1.0, x)


# -- the incomplete gamma function ----------------------------------------------------------------


def _deviance(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a log(a / x) + x - a, also where x is near a."""
    ratio = (x - a) / a
    r = ratio / (2 + ratio)
    square, series = r * r, np.zeros_like(x)
    for k in range(41, 1, -2):  # log(1 + ratio) = 2 (r + r**3 / 3 + r**5 / 5 + ...)
        series = series * square + 1 / k
    near = r * ratio - 2 * r * square * series
    return a * np.where(np.abs(ratio) < 0.5, near, ratio - np.log(x / a))


def _stirling_error(a: np.ndarray) -> np.ndarray:
    """Return log(gamma(a + 1)) less Stirling's formula for it, for a >= 10."""
    square, series = 1 / (a * a), np.zeros_like(a)
    for term in (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360):
        series = (series + term) * square
    return (series + 1 / 12) / a


@_in_double
def gamma_density(a: Any, x: Any) -> Any:
    """Return x**(a - 1) exp(-x) / gamma(a), for large a without the cancellation in its log."""
    inverse = scipy_special.rgamma(a)
    small = np.exp(scipy_special.xlogy(a - 1, x) - x) * inverse
    large = np.sqrt(a / (2 * math.pi)) / x * np.exp(-_deviance(a, x) - _stirling_error(a))
    y = np.where(a < 10, np.where(inverse == 0, 0.0, small), np.where(x == 0, 0.0, large))
    return np.where(x < 0, np.nan, np.where(np.isinf(x), 0.0, y))


def _bell(logs: list[Any]) -> list[Any]:
    """Return the derivatives of f over f, from order 0 on, given those of log f from 1 on."""
    found: list[Any] = [1.0]
    for n in range(len(logs)):
        found.append(sum(math.comb(n, k) * found[n - k] * logs[k] for k in range(n + 1)))
    return found


def gamma_bell(polygamma: Callable[..., Any], a: Any, log_t: Any, order: int) -> list[Any]:
    """Return the derivatives of t**a / gamma(a) with respect to a, over it, up to some order."""
    logs = [-polygamma(n, a) for n in range(order)]
    return _bell([log_t + logs[0], *logs[1:]])


@_in_double
def gammainc_derivative(a: Any, x: Any, order: int) -> Any:
    """Return the derivative of gammainc(a, x) with respect to a, of some order from 1.

    It is the integral of that of the density t**a exp(-t) / gamma(a) of u = log(t), from minus
    infinity to log(x), or minus the one from there to infinity: both together are the derivative
    of 1. The side is taken on which the first derivative has one sign, and cut off where the
    density has fallen by exp(-42).
    """
    y = np.zeros_like(x)
    y[~((a >= 0) & (x >= 0))] = np.nan
    inside = (a >= 0) & (x > 0) & np.isfinite(a + x)
    left = inside & (np.log(x) < scipy_special.digamma(a + 1))
    right = inside & ~left
    y[right] = _right_integral(a[right], x[right], order)
    small = left & (a < 1)
    y[left] = _left_integral(np.where(small, a + 1, a)[left], x[left], order)
    # gammainc(a, x) = gammainc(a + 1, x) + x**a exp(-x) / gamma(a + 1)
    a, x = a[small], x[small]
    y[small] += gamma_density(a + 1, x) * gamma_bell(polygamma, a + 1, np.log(x), order)[-1]
    return y


def _left_integral(a: Any, x: Any, order: int) -> Any:
    a, x = a[:, None], x[:, None]
    drop = 42.0 - 2 * (a - x)
    length = (drop + np.sqrt(drop * drop + 8 * 42.0 * a)) / (2 * a)
    t, weights = _gauss(64)
    down = length * t
    fall = (x - a) * down - x * (np.expm1(-down) + down)
    return _integral(a, x, np.log(x) - down, fall, length, weights, order)


def _right_integral(a: Any, x: Any, order: int) -> Any:
    a, x = a[:, None], x[:, None]
    ahead = x - a
    length = (np.sqrt(ahead * ahead + 2 * 42.0 * x) - ahead) / x
    for _ in range(3):
        length = np.log1p((42.0 + a * length) / x)
    t, weights = _gauss(64)
    up = length * t
    fall = -ahead * up - x * (np.expm1(up) - up)
    return -_integral(a, x, np.log(x) + up, fall, length, weights, order)


def _integral(a: Any, x: Any, u: Any, fall: Any, length: Any, weights: Any, order: int) -> Any:
    """Return the integral over u of the derivative of exp(a u - exp(u)) / gamma(a).

    With gamma(a + 1) / a in place of gamma(a), nothing is infinite as a goes to 0.
    """
    bell = gamma_bell(polygamma, a + 1, u, order)
    slope = a * bell[order] + order * bell[order - 1]
    return (gamma_density(a + 1, x) * length)[:, 0] * ((np.exp(fall) * slope) @ weights)


# -- the incomplete beta function -----------------------------------------------------------------


def _any_stirling_error(a: np.ndarray) -> np.ndarray:
    formula = (a + 0.5) * np.log(a) - a + math.log(2 * math.pi) / 2
    return np.where(a < 10, scipy_special.gammaln(a + 1) - formula, _stirling_error(a))


def _beta_weight(a: Any, b: Any, x: Any, q: Any) -> Any:
    """Return x**a q**b / beta(a, b), where q is 1 - x."""
    n = a + b
    errors = _any_stirling_error(a) + _any_stirling_error(b) - _any_stirling_error(n)
    deviance = _deviance(a, n * x) + _deviance(b, n * q)
    return np.sqrt(a * (b / n) / (2 * math.pi)) * np.exp(-deviance - errors)


@_in_double
def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x**(a - 1) (1 - x)**(b - 1) / beta(a, b)."""
    q = 1 - x
    edge = scipy_special.xlogy(a - 1, x) + scipy_special.xlog1py(b - 1, -x)
    edge = np.exp(edge - scipy_special.betaln(a, b))
    y = np.where((x == 0) | (q == 0), edge, _beta_weight(a, b, x, q) / (x * q))
    return np.where((x >= 0) & (q >= 0), y, np.nan)


@_in_double
def betainc_derivative(a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    """Return the derivative of betainc(a, b, x) with respect to a and b, of an order in each.

    As for gammainc, with the density of u = log(x / (1 - x)).
    """
    q = 1 - x
    inside = (a > 0) & (b > 0) & (x > 0) & (q > 0) & np.isfinite(a + b)
    y = np.where((a > 0) & (b > 0) & (x >= 0) & (q >= 0), 0.0, np.nan)
    if order[0] >= order[1]:  # the side on which the first derivative has one sign
        left = inside & (np.log(x) < _mean_log(a, b))
    else:
        left = inside & (np.log(q) >= _mean_log(b, a))
    right = inside & ~left
    y[left] = _beta_left(a[left], b[left], x[left], q[left], order)
    y[right] = -_beta_left(b[right], a[right], q[right], x[right], (order[1], order[0]))
    return y


def _mean_log(a: Any, b: Any) -> Any:
    """Return the mean of log(t) under the beta density, of a + 1 for a below 1."""
    a = np.where(a < 1, a + 1, a)
    return scipy_special.digamma(a) - scipy_special.digamma(a + b)


def _beta_left(a: Any, b: Any, x: Any, q: Any, order: tuple[int, int]) -> Any:
    """Return the derivative of the integral from 0 to x."""
    y = np.zeros_like(x)
    small = a < 1  # betainc(a, b, x) = betainc(a + 1, b, x) + x**a q**b / (a beta(a, b))
    part = a[small], b[small]
    logs = np.log(x[small]), np.log1p(-x[small])
    y[small] = _beta_weight(*part, x[small], q[small]) / part[0]
    y[small] *= beta_bell(polygamma, *part, *logs, order, (1, 0))[order]
    a, b, x, q = (v[:, None] for v in (np.where(small, a + 1, a), b, x, q))
    n = a + b
    length = np.minimum((42.0 - n * np.log(q)) / a, 700.0)
    for _ in range(16):  # Newton's method from above, for a convex function
        grown = 1 + q * np.expm1(length)
        fall = n * np.log(grown) - b * length
        length = length - (fall - 42.0) / (n * q * np.exp(length) / grown - b)
    t, weights = _gauss(80)
    down = length * t
    rise = np.log1p(q * np.expm1(down))
    log_t = np.log(x) - rise
    bell = beta_bell(polygamma, a, b, log_t, np.log(q) + down - rise, order, (1, 1))
    i, j = order  # a b / beta(a + 1, b + 1) has no infinite terms as one goes to 0
    slope = a * b * bell[i, j]
    slope = slope + (i * b * bell[i - 1, j] if i else 0) + (j * a * bell[i, j - 1] if j else 0)
    slope = slope + (i * j * bell[i - 1, j - 1] if i and j else 0)
    scale = _beta_weight(a, b, x, q) / (a * b) * length
    return y + scale[:, 0] * ((np.exp(b * down - n * rise) * slope) @ weights)


def beta_bell(
    polygamma: Callable[..., Any],
    a: Any,
    b: Any,
    log_t: Any,
    log_rest: Any,
    order: tuple[int, int],
    more: tuple[int, int] = (0, 0),
) -> dict[tuple[int, int], Any]:
    """Return derivatives of f = t**a (1-t)**b / beta(a, b) over it, by their order in a and b.

    With `more`, of f gamma(a) gamma(b) / gamma(a + more[0]) / gamma(b + more[1]).
    """

    def of_log(i: int, j: int) -> Any:
        y = polygamma(i + j - 1, a + b)
        if j == 0:
            y = y - polygamma(i - 1, a + more[0])
        if i == 0:
            y = y - polygamma(j - 1, b + more[1])
        return y + (log_t if (i, j) == (1, 0) else log_rest if (i, j) == (0, 1) else 0)

    logs = {(i, j): of_log(i, j) for i, j in np.ndindex(order[0] + 1, order[1] + 1) if i + j}
    found: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for i, j in logs:
        m, n = (i - 1, j) if i else (0, j - 1)  # one derivative of f is f times that of log f
        found[i, j] = sum(
            math.comb(m, k) * math.comb(n, h) * found[m - k, n - h] * logs[k + i - m, h + j - n]
            for k, h in np.ndindex(m + 1, n + 1)
        )
    return found


# -- the zeta function ----------------------------------------------------------------------------


@_in_double
def zeta_derivative(x: Any, q: Any, order: int) -> Any:
    """Return the derivative of zeta(x, q) with respect to x, of some order, for x > 1 and q > 0.

    By the Euler-Maclaurin formula, whose terms are held as Taylor polynomials in x.
    """
    total = [np.zeros_like(x) for _ in range(order + 1)]

    def add(base: Any, *factors: list[Any]) -> None:
        log = np.log(base)
        term = [base**-x * (-log) ** k / math.factorial(k) for k in range(order + 1)]
        for factor in factors:
            term = [sum(term[i - k] * f for k, f in enumerate(factor[: i + 1])) for i in places]
        for i in places:
            total[i] += term[i]

    places = range(order + 1)
    for k in range(16):
        add(q + k)
    end = q + 16
    add(end, [0.5])
    add(end, [end], [(-1) ** k / (x - 1) ** (k + 1) for k in places])  # the integral
    rising: list[list[Any]] = [[x, 1.0]]
    for j, bernoulli in enumerate(BERNOULLI, 1):
        add(end, [bernoulli / math.factorial(2 * j) / end ** (2 * j - 1)], *rising)
        rising += [[x + 2 * j - 1, 1.0], [x + 2 * j, 1.0]]
    return np.where((x > 1) & (q > 0), math.factorial(order) * total[order], np.nan)


BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip
