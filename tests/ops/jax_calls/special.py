"""Special functions in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np


def _derivative(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return JAX's derivative of some order of a function of numbers."""

    def call(*arrays: Any, order: int) -> Any:
        derived = function
        for _ in range(order):
            derived = jax.grad(derived, holomorphic=jnp.iscomplexobj(arrays[0]))
        return jnp.vectorize(derived)(*arrays)

    return call


def _weighted(x: Any, b: Any, axis: Any) -> Any:
    return jsp.logsumexp(x, axis=axis, b=b, keepdims=True, return_sign=True)


#: Operations that JAX calls by another name, or with other parameters.
JAX_CALLS: dict[str, Callable[..., Any]] = {
    "special.beta_density": lambda a, b, x: jnp.exp(
        (a - 1) * jnp.log(x) + (b - 1) * jnp.log1p(-x) - jsp.betaln(a, b)
    ),
    "special.cbrt": jnp.cbrt,
    "special.dawsn_derivative": _derivative(jsp.dawsn),
    "special.erfcinv": lambda x: jsp.erfinv(1 - x),
    "special.erfcx_derivative": _derivative(jsp.erfcx),
    "special.exp10": lambda x: 10**x,
    "special.exp2": jnp.exp2,
    "special.exp2(kinds=complex)": lambda x: jnp.exp(x * np.log(2)),
    "special.expit(reads=result)": lambda x: 1 / (1 + jnp.exp(-x)),
    "special.exprel": lambda x: jnp.expm1(x) / x,
    "special.exprel_derivative": _derivative(lambda x: jnp.expm1(x) / x),
    "special.gamma_density": lambda a, x: jnp.exp((a - 1) * jnp.log(x) - x - jsp.gammaln(a)),
    "special.log_expit": jax.nn.log_sigmoid,
    "special.log_ndtr_derivative": jnp.vectorize(jax.grad(jsp.log_ndtr)),
    "special.multigammaln": lambda a, d: jsp.multigammaln(a, d),
    "special.polygamma": lambda x, n: jsp.polygamma(n, x),
    "special.sinc": jnp.sinc,
    "special.sinc_derivative": _derivative(jnp.sinc),
    "special.spence_derivative": lambda x, order: _derivative(lambda x: jnp.log(x) / (1 - x))(
        x, order=order - 1
    ),
    "special.spherical_j0": lambda x: jnp.sinc(x / np.pi),
    "special.weighted_logsumexp": _weighted,
    "special.zeta_derivative": _derivative(jsp.zeta),
}
#: Operations that JAX lacks, or cannot differentiate, with the reason.
NOT_IN_JAX: dict[str, str] = {
    "special.airy_ai": "JAX has no such function",
    "special.airy_ai_derivative": "JAX has no such function",
    "special.betainc": "JAX has no derivative of it in a and b",
    "special.betainc_derivative": "JAX has no derivative of betainc in a and b",
    "special.gammainc_derivative": "JAX has no second derivative of gammainc in a",
    "special.gammaincinv": "JAX has no such function",
    "special.iv": "JAX has no such function",
    "special.ive": "JAX has no such function",
    "special.spence": "its derivative there is NaN around 1",
    **{
        f"special.{name}": "JAX has no such function"
        for name in (
            *("j0", "j1", "jv", "y0", "y1", "yn", "k0", "k1", "k0e", "k1e", "rgamma"),
            *("fresnel_sin", "fresnel_cos"),
        )
    },
}
