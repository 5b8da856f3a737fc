"""Special functions on JAX's arrays: its own where they agree with SciPy's, and short formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jss

from wengert.backends.special_formulas import Formulas

_FORMULAS = Formulas(jnp, jss, lambda array, like: jnp.asarray(array, like.dtype))


def _in_own_dtype(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, **params: kernel(x, **params).astype(x.dtype)


def exprel(x: Any) -> Any:
    """Return (exp(x) - 1) / x."""
    safe = jnp.where(x == 0, 1.0, x).astype(x.dtype)
    return jnp.where(x == 0, jnp.ones((), x.dtype), jnp.expm1(safe) / safe)


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


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "beta_density": beta_density,
    "cbrt": jnp.cbrt,
    "cosdg": lambda x: jnp.cos(jnp.deg2rad(x)),
    "dawsn_derivative": _in_own_dtype(_FORMULAS.dawsn_derivative),
    "erfcinv": lambda x: jss.ndtri(x / 2) * -math.sqrt(0.5),
    "erfcx_derivative": _in_own_dtype(_FORMULAS.erfcx_derivative),
    "exp10": lambda x: jnp.power(jnp.asarray(10, x.dtype), x),
    "exp2": jnp.exp2,
    "exprel": exprel,
    "exprel_derivative": _in_own_dtype(_FORMULAS.exprel_derivative),
    "fresnel_cos": lambda x: jss.fresnel(x)[1],
    "fresnel_sin": lambda x: jss.fresnel(x)[0],
    "gamma_density": gamma_density,
    "log_ndtr_derivative": _FORMULAS.log_ndtr_derivative,
    "log_expit": lambda x: -jnp.logaddexp(-x, jnp.zeros((), x.dtype)),
    "loggamma": jss.gammaln,
    "polygamma": polygamma,
    "psi": jss.digamma,
    "rgamma": lambda x: 1 / jss.gamma(x),
    "sinc": jnp.sinc,
    "sinc_derivative": _in_own_dtype(_FORMULAS.sinc_derivative),
    "spence_derivative": _in_own_dtype(_FORMULAS.spence_derivative),
}
#: Functions of JAX whose values differ from SciPy's by more than rounding, or with other arguments.
_DIFFER = {"sph_harm", "sph_harm_y", "lpmn", "lpmn_values", "bessel_jn", "bernoulli"}


def function(name: str) -> Callable[..., Any] | None:
    """Return the function of a name, or None if neither JAX nor this module has it."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    found: Callable[..., Any] | None = None if name in _DIFFER else getattr(jss, name, None)
    return found
