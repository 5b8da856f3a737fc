"""Kernels of special functions that no library has, in elementary functions of any library.

Each is one that formulas in SciPy's functions would get wrong somewhere: by cancellation far out,
as 0/0 at a point, or because there is no formula at all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip

NAMES = (
    "beta_density", "dawsn_derivative", "erfcx_derivative", "exprel_derivative", "gamma_density",
    "gammainc_derivative", "log_ndtr_derivative", "sinc_derivative", "spence_derivative",
    "zeta_derivative",
)  # fmt: skip


@functools.cache
def _gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for integrals from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


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


class Formulas:
    """The kernels in functions of one library.

    Parameters
    ----------
    xp
        The library.
    special
        Its special functions, by SciPy's names.
    constant
        Returns a NumPy array as one of the library: ``constant(array, like)``.
    """

    def __init__(self, xp: Any, special: Any, constant: Callable[[np.ndarray, Any], Any]) -> None:
        self.xp, self.special, self._constant = xp, special, constant

    def kernels(self, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
        """Return the kernels by name, each wrapped."""
        return {name: wrap(getattr(self, name)) for name in NAMES}

    def either(self, mask: Any, one: Any, other: Any, *arrays: Any) -> Any:
        """Return one function of arrays where a mask holds, and another function elsewhere."""
        return self.xp.where(mask, one(*arrays), other(*arrays))

    def total(self, values: Any, weights: Any) -> Any:
        """Return the sums of values along the last axis, weighted."""
        return (values * weights).sum(-1)

    def gauss(self, count: int, like: Any) -> tuple[Any, Any]:
        """Return nodes and weights for integrals from 0 to 1."""
        nodes, weights = _gauss(count)
        return self._constant(nodes, like), self._constant(weights, like)

    # -- quotients that are 0/0 at a point ---------------------------------------------------------

    def _quotient_derivative(
        self, h: Callable[[int, Any], Any], x: Any, order: int, near: float, point: float = 0.0
    ) -> Any:
        """Return the derivative of h(x) / (x - point) of some order; ``h(n, x)`` is the n-th of h.

        Where x is near the point, where h is 0, as the integral over t from 0 to 1 of t**n times
        h(n + 1, point + t (x - point)). Elsewhere from the product rule for the denominator times
        the quotient.
        """

        def by_integral(x: Any) -> Any:
            t, weights = self.gauss(32, x)
            inner = point + t * (x - point)[..., None]
            return self.total(h(order + 1, inner), weights * t**order)

        def by_product_rule(x: Any) -> Any:
            step = x - point
            y = h(0, x) / step
            for n in range(1, order + 1):
                y = (h(n, x) - n * y) / step
            return y

        close = self.xp.abs(x - point) < near
        return self.either(close, by_integral, by_product_rule, x)

    def sinc_derivative(self, x: Any, order: int) -> Any:
        """Return the derivative of sin(pi x) / (pi x) of some order."""

        def sine(n: int, x: Any) -> Any:
            wave = (self.xp.sin, self.xp.cos)[n % 2](math.pi * x)
            return math.pi ** (n - 1) * wave * (1, 1, -1, -1)[n % 4]

        return self._quotient_derivative(sine, x, order, near=1.0 + order / 2)

    def exprel_derivative(self, x: Any, order: int) -> Any:
        """Return the derivative of (exp(x) - 1) / x of some order."""

        def exponential(n: int, x: Any) -> Any:
            return self.xp.exp(x) if n else self.xp.expm1(x)

        y = self._quotient_derivative(exponential, x, order, near=2.0 + 2 * order)
        return self.xp.where(self.xp.isinf(self.xp.exp(x)), math.inf, y)

    def spence_derivative(self, x: Any, order: int) -> Any:
        """Return the derivative of spence of some order from 1; the first is -log(x) / (x - 1)."""

        def logarithm(n: int, x: Any) -> Any:
            return -math.factorial(n - 1) / (-x) ** n if n else self.xp.log(x)

        return -self._quotient_derivative(logarithm, x, order - 1, near=0.5, point=1.0)

    # -- erfcx and Dawson's integral ---------------------------------------------------------------

    def far_out(self, x: Any, order: int, sign: int) -> Any:
        """Return the derivative of some order of sum_k sign**k (2k-1)!! / (2**(k+1) x**(2k+1))."""
        y, inverse_square = self.xp.zeros_like(x), 1 / (x * x)
        for k in range(24, -1, -1):
            rising = math.prod(range(2 * k + 1, 2 * k + 1 + order))
            double_factorial = math.prod(range(1, 2 * k, 2))
            y = y * inverse_square + sign**k * rising * double_factorial / 2 ** (k + 1)
        return (-1) ** order * y / x ** (order + 1)

    def erfcx_derivative(self, x: Any, order: int) -> Any:
        """Return the derivative of erfcx of some order; 2 x erfcx(x) - 2/sqrt(pi) cancels."""

        def by_recurrence(x: Any) -> Any:
            before = self.special.erfcx(x)
            y = 2 * x * before - 2 / math.sqrt(math.pi)
            for n in range(1, order):
                before, y = y, 2 * x * y + 2 * n * before
            return y

        def outside(x: Any) -> Any:
            return 2 / math.sqrt(math.pi) * self.far_out(x, order, -1)

        far = (self.xp.real(x) > 7) & (x == self.xp.conj(x))
        return self.either(far, outside, by_recurrence, x)

    def log_ndtr_derivative(self, x: Any) -> Any:
        """Return the normal density over ndtr(x), both times exp(x**2 / 2): neither underflows."""
        return math.sqrt(2 / math.pi) / self.special.erfcx(x * -math.sqrt(0.5))

    def dawsn_derivative(self, x: Any, order: int) -> Any:
        """Return the derivative of dawsn of some order; 1 - 2 x dawsn(x) cancels far out."""

        def by_recurrence(x: Any) -> Any:
            before = self.special.dawsn(x)
            y = 1 - 2 * x * before
            for n in range(1, order):
                before, y = y, -2 * x * y - 2 * n * before
            return y

        far = (self.xp.abs(x) > 7) & (x == self.xp.conj(x))
        return self.either(far, lambda x: self.far_out(x, order, 1), by_recurrence, x)

    # -- densities ---------------------------------------------------------------------------------

    def _deviance(self, a: Any, x: Any) -> Any:
        """Return a log(a / x) + x - a, also where x is near a."""
        ratio = (x - a) / a
        r = ratio / (2 + ratio)
        square, series = r * r, self.xp.zeros_like(x)
        for k in range(41, 1, -2):  # log(1 + ratio) = 2 (r + r**3 / 3 + r**5 / 5 + ...)
            series = series * square + 1 / k
        near = r * ratio - 2 * r * square * series
        far = ratio - self.xp.log(x / a)
        return a * self.xp.where(self.xp.abs(ratio) < 0.5, near, far)

    def _stirling_series(self, a: Any) -> Any:
        """Return log(gamma(a + 1)) less Stirling's formula for it, for a >= 10."""
        square, series = 1 / (a * a), self.xp.zeros_like(a)
        terms = -3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360
        for term in terms:
            series = (series + term) * square
        return (series + 1 / 12) / a

    def _stirling_error(self, a: Any) -> Any:
        """Return the same for any a."""
        formula = (a + 0.5) * self.xp.log(a) - a + math.log(2 * math.pi) / 2
        small = self.special.gammaln(a + 1) - formula
        return self.xp.where(a < 10, small, self._stirling_series(a))

    def gamma_density(self, a: Any, x: Any) -> Any:
        """Return x**(a - 1) exp(-x) / gamma(a), for large a without the cancellation in its log."""
        where, exp = self.xp.where, self.xp.exp
        inverse = self.special.rgamma(a)
        small = where(inverse == 0, 0.0, exp(self.special.xlogy(a - 1, x) - x) * inverse)
        fall = exp(-self._deviance(a, x) - self._stirling_series(a))
        large = where(x == 0, 0.0, self.xp.sqrt(a / (2 * math.pi)) / x * fall)
        y = where(self.xp.isinf(x), 0.0, where(a < 10, small, large))
        return where(x < 0, math.nan, y)

    def beta_weight(self, a: Any, b: Any, x: Any, q: Any) -> Any:
        """Return x**a q**b / beta(a, b), where q is 1 - x."""
        n = a + b
        errors = self._stirling_error(a) + self._stirling_error(b) - self._stirling_error(n)
        deviance = self._deviance(a, n * x) + self._deviance(b, n * q)
        return self.xp.sqrt(a * (b / n) / (2 * math.pi)) * self.xp.exp(-deviance - errors)

    def beta_density(self, a: Any, b: Any, x: Any) -> Any:
        """Return x**(a - 1) (1 - x)**(b - 1) / beta(a, b)."""
        special, q = self.special, 1 - x
        log = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)
        inner = self.beta_weight(a, b, x, q) / (x * q)
        y = self.xp.where((x == 0) | (q == 0), self.xp.exp(log), inner)
        return self.xp.where((x >= 0) & (q >= 0), y, math.nan)

    # -- the incomplete gamma function -------------------------------------------------------------

    def gammainc_derivative(self, a: Any, x: Any, order: int) -> Any:
        """Return the derivative of gammainc(a, x) with respect to a, of some order from 1.

        It is the integral of that of the density t**a exp(-t) / gamma(a) of u = log(t), from minus
        infinity to log(x), or minus the one from there to infinity: both together are the
        derivative of 1. The side is taken on which the first derivative has one sign, and cut off
        where the density has fallen by exp(-42).
        """
        xp = self.xp

        def left(a: Any, x: Any) -> Any:
            # gammainc(a, x) = gammainc(a + 1, x) + x**a exp(-x) / gamma(a + 1)
            rest = self.either(a < 1, difference, lambda a, x: xp.zeros_like(x), a, x)
            return self._left_integral(xp.where(a < 1, a + 1, a), x, order) + rest

        def difference(a: Any, x: Any) -> Any:
            bell = gamma_bell(self.special.polygamma, a + 1, xp.log(x), order)[-1]
            return self.gamma_density(a + 1, x) * bell

        def inner(a: Any, x: Any) -> Any:
            is_left = xp.log(x) < self.special.digamma(a + 1)
            return self.either(is_left, left, lambda a, x: self._right_integral(a, x, order), a, x)

        def outer(a: Any, x: Any) -> Any:
            return xp.where((a >= 0) & (x >= 0), 0.0, math.nan)

        inside = (a >= 0) & (x > 0) & xp.isfinite(a + x)
        return self.either(inside, inner, outer, a, x)

    def _left_integral(self, a: Any, x: Any, order: int) -> Any:
        xp, a, x = self.xp, a[..., None], x[..., None]
        drop = 42.0 - 2 * (a - x)
        length = (drop + xp.sqrt(drop * drop + 8 * 42.0 * a)) / (2 * a)
        t, weights = self.gauss(64, x)
        down = length * t
        fall = (x - a) * down - x * (xp.expm1(-down) + down)
        return self._integral(a, x, xp.log(x) - down, fall, length, weights, order)

    def _right_integral(self, a: Any, x: Any, order: int) -> Any:
        xp, a, x = self.xp, a[..., None], x[..., None]
        ahead = x - a
        length = (xp.sqrt(ahead * ahead + 2 * 42.0 * x) - ahead) / x
        for _ in range(3):
            length = xp.log1p((42.0 + a * length) / x)
        t, weights = self.gauss(64, x)
        up = length * t
        fall = -ahead * up - x * (xp.expm1(up) - up)
        return -self._integral(a, x, xp.log(x) + up, fall, length, weights, order)

    def _integral(
        self, a: Any, x: Any, u: Any, fall: Any, length: Any, weights: Any, order: int
    ) -> Any:
        """Return the integral over u of the derivative of exp(a u - exp(u)) / gamma(a).

        With gamma(a + 1) / a in place of gamma(a), nothing is infinite as a goes to 0.
        """
        bell = gamma_bell(self.special.polygamma, a + 1, u, order)
        slope = a * bell[order] + order * bell[order - 1]
        scale = (self.gamma_density(a + 1, x) * length)[..., 0]
        return scale * self.total(self.xp.exp(fall) * slope, weights)

    # -- the zeta function -------------------------------------------------------------------------

    def zeta_derivative(self, x: Any, q: Any, order: int) -> Any:
        """Return the derivative of zeta(x, q) with respect to x, for x > 1 and q > 0.

        By the Euler-Maclaurin formula, whose terms are held as Taylor polynomials in x.
        """
        places = range(order + 1)
        total = [self.xp.zeros_like(x) for _ in places]

        def add(base: Any, *factors: list[Any]) -> None:
            log = self.xp.log(base)
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
        return self.xp.where((x > 1) & (q > 0), math.factorial(order) * total[order], math.nan)
