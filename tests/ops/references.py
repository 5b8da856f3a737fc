"""Operations by other formulas, in NumPy and SciPy, for those that neither has under a name.

A declaration has a formula of one line as `reference=`; longer ones are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp
from scipy.integrate import quad

from tests.ops import references_linalg, references_neural

ROOT_2, ROOT_PI = math.sqrt(2), math.sqrt(math.pi)


def _by_order(*formulas: Callable[[Any], Any], first: int = 1) -> Callable[..., Any]:
    """Return derivatives of the orders `first`, first + 1, ..., each by its formula."""
    return lambda x, order: formulas[order - first](x).astype(x.dtype)


def _integral(function: Any, low: float, high: float) -> float:
    return float(quad(function, low, high, epsabs=1e-14, epsrel=1e-13, limit=200)[0])


# -- special functions ------------------------------------------------------------------------


def _sinc_first(x: Any) -> Any:
    return (np.cos(np.pi * x) - np.sin(np.pi * x) / (np.pi * x)) / x


def _exprel_first(x: Any) -> Any:
    return (np.exp(x) - np.expm1(x) / x) / x


def _gamma_density(a: Any, x: Any) -> Any:
    return x ** (a - 1) * np.exp(-x) / sp.gamma(a)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / sp.beta(a, b)


def _gammainc_derivative(a: Any, x: Any, order: int) -> Any:
    def one(a: float, x: float) -> float:
        def integrand(t: float) -> float:
            first = np.log(t) - sp.digamma(a)
            return _gamma_density(a, t) * (first if order == 1 else first**2 - sp.polygamma(1, a))

        return -_integral(integrand, x, 60.0 + x)

    return np.vectorize(one, otypes=[np.result_type(a, x)])(np.float64(a), np.float64(x))


def _betainc_derivative(a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    def one(a: float, b: float, x: float) -> float:
        def integrand(t: float) -> float:
            in_a = np.log(t) - sp.digamma(a) + sp.digamma(a + b)
            in_b = np.log1p(-t) - sp.digamma(b) + sp.digamma(a + b)
            factors = {(1, 0): in_a, (0, 1): in_b, (1, 1): in_a * in_b + sp.polygamma(1, a + b)}
            return _beta_density(a, b, t) * factors[order]

        return _integral(integrand, 0.0, x)

    dtype = np.result_type(a, b, x)
    return np.vectorize(one, otypes=[dtype])(*map(np.float64, (a, b, x)))


def _zeta_derivative(x: Any, q: Any, order: int) -> Any:
    """Return sums of 3000 terms, and the integral of the rest from half a place before it."""
    dtype = np.result_type(x, q)
    x, q = (np.asarray(value, np.float64)[..., None] for value in (x, q))
    base = np.log(q + np.arange(3000))
    total = np.sum((-base) ** order * np.exp(-x * base), axis=-1)
    x, end = x[..., 0], np.log(q[..., 0] + 2999.5)
    rest = np.exp((1 - x) * end) / (x - 1)
    first = end + 1 / (x - 1)
    return (total + rest * (-first if order == 1 else first**2 + (x - 1) ** -2.0)).astype(dtype)


def _unless_empty(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of SciPy, which has no answer for arrays without elements."""
    return lambda x, axis: function(x, axis=axis) if x.size else x


def _weighted_logsumexp(x: Any, b: Any, axis: Any) -> Any:
    total = np.sum(b * np.exp(x), axis=axis, keepdims=True)
    return np.log(total), np.sign(total)


SPECIAL: dict[str, Callable[..., Any]] = {
    "airy_ai": lambda x: sp.airy(x)[0],
    "airy_ai_derivative": lambda x: sp.airy(x)[1],
    "beta_density": _beta_density,
    "betainc_derivative": _betainc_derivative,
    "dawsn_derivative": _by_order(
        lambda x: 1 - 2 * x * sp.dawsn(x), lambda x: (4 * x * x - 2) * sp.dawsn(x) - 2 * x
    ),
    "erfcx_derivative": _by_order(
        lambda x: 2 * x * sp.erfcx(x) - 2 / ROOT_PI,
        lambda x: (4 * x * x + 2) * sp.erfcx(x) - 4 * x / ROOT_PI,
    ),
    "exprel_derivative": _by_order(
        lambda x: np.expm1(x) / x,
        _exprel_first,
        lambda x: (np.exp(x) - 2 * _exprel_first(x)) / x,
        first=0,
    ),
    "fresnel_cos": lambda x: sp.fresnel(x)[1],
    "fresnel_sin": lambda x: sp.fresnel(x)[0],
    "gamma_density": _gamma_density,
    "gammainc_derivative": _gammainc_derivative,
    "iv": lambda x, v: sp.iv(v, x),
    "ive": lambda x, v: sp.ive(v, x),
    "jv": lambda x, v: sp.jv(v, x),
    "log_ndtr_derivative": lambda x: np.exp(-x * x / 2) / (ROOT_2 * ROOT_PI * sp.ndtr(x)),
    "log_softmax": _unless_empty(sp.log_softmax),
    "multigammaln": lambda a, d: np.asarray(sp.multigammaln(a, d)).astype(a.dtype),
    "polygamma": lambda x, n: sp.polygamma(n, x).astype(x.dtype),
    "sinc_derivative": _by_order(
        lambda x: np.sin(np.pi * x) / (np.pi * x),
        _sinc_first,
        lambda x: -np.pi * np.sin(np.pi * x) / x - 2 * _sinc_first(x) / x,
        first=0,
    ),
    "softmax": _unless_empty(sp.softmax),
    "spence_derivative": _by_order(
        lambda x: np.log(x) / (1 - x),
        lambda x: np.log(x) / (1 - x) ** 2 + 1 / (x * (1 - x)),
    ),
    "spherical_j0": lambda x: np.sinc(x / np.pi).astype(x.dtype),
    "weighted_logsumexp": _weighted_logsumexp,
    "zeta_derivative": _zeta_derivative,
    "yn": lambda x, v: np.asarray(sp.yn(v, x)).astype(x.dtype),
}

# -- segments ---------------------------------------------------------------------------------


def _by_groups(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the rows of each segment: what a segment is, in so many words."""

    def call(data: np.ndarray, segment_ids: Any, num_segments: int) -> np.ndarray:
        parts = [function(data[segment_ids == i]) for i in range(num_segments)]
        return np.array(parts, data.dtype).reshape(num_segments, *data.shape[1:])

    return call


def _segment_softmax(data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
    weights = np.exp(data)
    ids = list(enumerate(segment_ids))
    return np.stack([weights[i] / weights[segment_ids == s].sum(axis=0) for i, s in ids])


# -- others -----------------------------------------------------------------------------------


def _copy_slices(x: Any, values: Any, path: Any, key: Any) -> Any:
    out = x.copy()
    names = [step.__name__ for step in path]
    place = out[1:] if "_later" in names else out
    place = np.swapaxes(place, 0, 1) if "_turned" in names else place
    place[... if key is None else key] = values
    return out


def _truncated_normal(low: np.ndarray, high: np.ndarray, u: np.ndarray) -> np.ndarray:
    return sp.ndtri(sp.ndtr(low) * (1 - u) + sp.ndtr(high) * u).astype(low.dtype)


def _topk(x: Any, k: int, axis: int, largest: bool) -> Any:
    order = np.argsort(-x if largest else x, axis=axis, stable=True)
    return np.take(order, np.arange(k), axis=axis)


def _argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    return np.argsort(-x if descending else x, axis=axis, stable=True)


REFERENCES: dict[str, Callable[..., Any]] = {
    **references_linalg.REFERENCES,
    **references_neural.REFERENCES,
    **{f"special.{name}": function for name, function in SPECIAL.items()},
    "argsort": _argsort,
    "copy_slices": _copy_slices,
    "random.truncated_normal_sample": _truncated_normal,
    "reshape": lambda x, shape: np.reshape(x, shape),
    "segment_logsumexp": _by_groups(
        lambda rows: np.log(np.exp(rows).sum(axis=0)) if len(rows) else rows.sum(axis=0) - np.inf
    ),
    "segment_max": _by_groups(lambda rows: rows.max(axis=0, initial=-np.inf)),
    "segment_min": _by_groups(lambda rows: rows.min(axis=0, initial=np.inf)),
    "segment_prod": _by_groups(lambda rows: rows.prod(axis=0)),
    "segment_softmax": _segment_softmax,
    "segment_sum": _by_groups(lambda rows: rows.sum(axis=0)),
    "tile": lambda x, repetitions: np.tile(x, repetitions),
    "topk_positions": _topk,
}
