"""Special functions on JAX's arrays: its own where they agree with SciPy's, and short formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jss
import numpy as np


def _gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for integrals from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _quotient_derivative(
    h: Callable[[int, Any], Any], x: Any, order: int, near: float, point: float = 0.0
) -> Any:
    """Return the derivative of h(x) / (x - point) of some order; ``h(n, x)`` is the n-th of h."""
    step = x - point
    close = jnp.abs(step) < near
    t, weights = _gauss(32)
    inner = point + t * jnp.where(close, step, 0.0)[..., None]
    inside = jnp.sum(h(order + 1, inner) * (weights * t**order), axis=-1)
    step = jnp.where(close, 1.0, step)
    outer = jnp.where(close, point + 1.0, x)
    far = h(0, outer) / step
    for n in range(1, order + 1):
        far = (h(n, outer) - n * far) / step
    return jnp.where(close, inside, far).astype(x.dtype)


def sinc_derivative(x: Any, order: int) -> Any:
    """Return the derivative of sin(pi x) / (pi x) of some order."""

    def sine(n: int, x: Any) -> Any:
        wave = (jnp.sin, jnp.cos)[n % 2](math.pi * x)
        return math.pi ** (n - 1) * wave * (1, 1, -1, -1)[n % 4]

    return _quotient_derivative(sine, x, order, near=1.0 + order / 2)


def exprel_derivative(x: Any, order: int) -> Any:
    """Return the derivative of (exp(x) - 1) / x of some order."""
    y = _quotient_derivative(
        lambda n, x: jnp.exp(x) if n else jnp.expm1(x), x, order, near=2.0 + 2 * order
    )
    return jnp.where(jnp.isinf(jnp.exp(x)), jnp.inf, y)


def exprel(x: Any) -> Any:
    """Return (exp(x) - 1) / x."""
    safe = jnp.where(x == 0, 1.0, x).astype(x.dtype)
    return jnp.where(x == 0, jnp.ones((), x.dtype), jnp.expm1(safe) / safe)


def spence_derivative(x: Any, order: int) -> Any:
    """Return the derivative of spence of some order from 1; the first is -log(x) / (x - 1)."""

    def logarithm(n: int, x: Any) -> Any:
        return -math.factorial(n - 1) / (-x) ** n if n else jnp.log(x)

    return -_quotient_derivative(logarithm, x, order - 1, near=0.5, point=1.0)


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma, in the dtype of x."""
    return jss.digamma(x) if n == 0 else jss.polygamma(n, x).astype(x.dtype)


def gamma_density(a: Any, x: Any) -> Any:
    """Return x**(a - 1) exp(-x) / gamma(a)."""
    y = jnp.exp(jss.xlogy(a - 1, x) - x - jss.gammaln(a))
    return jnp.where(x < 0, jnp.nan, jnp.where(jnp.isinf(x), 0.0, y))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x**(a - 1) (1 - x)**(b - 1) / beta(a, b)."""
    y = jnp.exp(jss.xlogy(a - 1, x) + jss.xlog1py(b - 1, -x) - jss.betaln(a, b))
    return jnp.where((x >= 0) & (x <= 1), y, jnp.nan)


def _far_out(x: Any, order: int, sign: int) -> Any:
    """Return the derivative of some order of sum_k sign**k (2k-1)!! / (2**(k+1) x**(2k+1))."""
    y, inverse_square = jnp.zeros_like(x), 1 / (x * x)
    for k in range(24, -1, -1):
        rising = math.prod(range(2 * k + 1, 2 * k + 1 + order))
        double_factorial = math.prod(range(1, 2 * k, 2))
        y = y * inverse_square + sign**k * rising * double_factorial / 2 ** (k + 1)
    return (-1) ** order * y / x ** (order + 1)


def erfcx_derivative(x: Any, order: int) -> Any:
    """Return the derivative of erfcx of some order; its recurrence cancels far out."""
    before, y = jss.erfcx(x), 2 * x * jss.erfcx(x) - 2 / math.sqrt(math.pi)
    for n in range(1, order):
        before, y = y, 2 * x * y + 2 * n * before
    is_far = x > 7
    far = 2 / math.sqrt(math.pi) * _far_out(jnp.where(is_far, x, 8.0), order, -1)
    return jnp.where(is_far, far, y).astype(x.dtype)


def dawsn_derivative(x: Any, order: int) -> Any:
    """Return the derivative of dawsn of some order; its recurrence cancels far out."""
    before, y = jss.dawsn(x), 1 - 2 * x * jss.dawsn(x)
    for n in range(1, order):
        before, y = y, -2 * x * y - 2 * n * before
    is_far = jnp.abs(x) > 7
    far = _far_out(jnp.where(is_far, x, 8.0), order, 1)
    return jnp.where(is_far, far, y).astype(x.dtype)


def log_ndtr_derivative(x: Any) -> Any:
    """Return the normal density over ndtr(x), both times exp(x**2 / 2): neither underflows."""
    return math.sqrt(2 / math.pi) / jss.erfcx(x * -math.sqrt(0.5))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "beta_density": beta_density,
    "cbrt": jnp.cbrt,
    "cosdg": lambda x: jnp.cos(jnp.deg2rad(x)),
    "dawsn_derivative": dawsn_derivative,
    "erfcinv": lambda x: jss.ndtri(x / 2) * -math.sqrt(0.5),
    "erfcx_derivative": erfcx_derivative,
    "exp10": lambda x: jnp.power(jnp.asarray(10, x.dtype), x),
    "exp2": jnp.exp2,
    "exprel": exprel,
    "exprel_derivative": exprel_derivative,
    "fresnel_cos": lambda x: jss.fresnel(x)[1],
    "fresnel_sin": lambda x: jss.fresnel(x)[0],
    "gamma_density": gamma_density,
    "log_ndtr_derivative": log_ndtr_derivative,
    "log_expit": lambda x: -jnp.logaddexp(-x, jnp.zeros((), x.dtype)),
    "loggamma": jss.gammaln,
    "polygamma": polygamma,
    "psi": jss.digamma,
    "rgamma": lambda x: 1 / jss.gamma(x),
    "sinc": jnp.sinc,
    "sinc_derivative": sinc_derivative,
    "spence_derivative": spence_derivative,
}
#: Functions of JAX whose values differ from SciPy's by more than rounding, or with other arguments.
_DIFFER = {"sph_harm", "sph_harm_y", "lpmn", "lpmn_values", "bessel_jn", "bernoulli"}


def function(name: str) -> Callable[..., Any] | None:
    """Return the function of a name, or None if neither JAX nor this module has it."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    found: Callable[..., Any] | None = None if name in _DIFFER else getattr(jss, name, None)
    return found
