"""Densities and distribution functions with SciPy's parameters, composed of other operations.

They are named as the method of SciPy's distribution: `norm_logpdf` is `scipy.stats.norm.logpdf`.
Outside of a distribution's support a density is 0, and its derivative too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor
from wengert.errors import NoRuleError, ShapeError
from wengert.ops import linalg, special
from wengert.ops.shapes import tensor

wg: Any = Tensor._namespace
_LOG_2PI = math.log(2 * math.pi)


def _floats(*arguments: Any) -> list[Any]:
    """Return arguments as tensors of floats."""
    tensors = [tensor(a, "distribution") for a in arguments]
    return [t if backends.is_inexact(t.dtype) else wg.multiply(t, 1.0) for t in tensors]


def _without_single_axes(y: Any) -> Any:
    """Return y as SciPy does for vectors: without axes of length 1."""
    return wg.reshape(y, tuple(n for n in y.shape if n != 1))


def _inside(condition: Any, x: Any, elsewhere: float) -> Any:
    """Return x where it is in the support, and a harmless number elsewhere."""
    return wg.where(condition, x, elsewhere)


# -- normal -----------------------------------------------------------------------------------


def norm_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the normal density."""
    x, loc, scale = _floats(x, loc, scale)
    z = (x - loc) / scale
    return -0.5 * (z * z) - wg.log(scale) - 0.5 * _LOG_2PI


def _of_standard(name: str, function: Callable[[Any], Any], sign: int, what: str) -> Any:
    """Return a function of the standard normal distribution, or of its mirror image, for any."""

    def call(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        x, loc, scale = _floats(x, loc, scale)
        return function((x - loc) / scale if sign > 0 else (loc - x) / scale)

    call.__name__, call.__doc__ = name, f"Return {what}."
    return call


_CDF, _LOG = "the normal distribution function", "the logarithm of"
norm_cdf = _of_standard("norm_cdf", special.ndtr, 1, _CDF)
norm_sf = _of_standard("norm_sf", special.ndtr, -1, f"one minus {_CDF}")
norm_logcdf = _of_standard("norm_logcdf", special.log_ndtr, 1, f"{_LOG} {_CDF}")
norm_logsf = _of_standard("norm_logsf", special.log_ndtr, -1, f"{_LOG} one minus {_CDF}")

# -- Student's t ------------------------------------------------------------------------------


def t_logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the density of Student's t."""
    x, df, loc, scale = _floats(x, df, loc, scale)
    z = (x - loc) / scale
    constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * wg.log(df * math.pi)
    return constant - wg.log(scale) - (df + 1) / 2 * wg.log1p(z * z / df)


def t_cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the distribution function of Student's t."""
    x, df, loc, scale = _floats(x, df, loc, scale)
    z = (x - loc) / scale
    # betainc(df/2, df/2, u) with u = (1 + z / root) / 2: smooth at 0. Its lower tail in the form
    # that does not cancel; abs has no derivative at 0, so the sign is put back with `where`.
    is_left = wg.less(z, 0.0)
    z = wg.where(is_left, -z, z)
    root = wg.sqrt(z * z + df)
    tail = special.betainc(df / 2, df / 2, df / (2 * root * (root + z)))
    return wg.where(is_left, tail, 1 - tail)


def t_logcdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the distribution function of Student's t."""
    return wg.log(t_cdf(x, df, loc, scale))


# -- beta and gamma ---------------------------------------------------------------------------


def beta_logpdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the beta density."""
    x, a, b, loc, scale = _floats(x, a, b, loc, scale)
    z = (x - loc) / scale
    within = wg.logical_and(wg.greater_equal(z, 0.0), wg.less_equal(z, 1.0))
    z = _inside(within, z, 0.5)
    y = special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b) - wg.log(scale)
    return wg.where(within, y, -math.inf)


def beta_cdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the beta distribution function."""
    x, a, b, loc, scale = _floats(x, a, b, loc, scale)
    z = (x - loc) / scale
    within = wg.logical_and(wg.greater(z, 0.0), wg.less(z, 1.0))
    y = special.betainc(a, b, _inside(within, z, 0.5))
    return wg.where(within, y, wg.where(wg.less_equal(z, 0.0), 0.0, 1.0))


def gamma_logpdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the gamma density."""
    x, a, loc, scale = _floats(x, a, loc, scale)
    z = (x - loc) / scale
    within = wg.greater_equal(z, 0.0)
    z = _inside(within, z, 1.0)
    y = special.xlogy(a - 1, z) - z - special.gammaln(a) - wg.log(scale)
    return wg.where(within, y, -math.inf)


def gamma_cdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the gamma distribution function."""
    x, a, loc, scale = _floats(x, a, loc, scale)
    z = (x - loc) / scale
    within = wg.greater(z, 0.0)
    return wg.where(within, special.gammainc(a, _inside(within, z, 1.0)), 0.0)


def chi2_logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the logarithm of the chi-square density."""
    return gamma_logpdf(x, wg.divide(df, 2.0), loc, wg.multiply(scale, 2.0))


def chi2_cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
    """Return the chi-square distribution function."""
    return gamma_cdf(x, wg.divide(df, 2.0), loc, wg.multiply(scale, 2.0))


# -- Poisson ----------------------------------------------------------------------------------


def poisson_logpmf(k: Any, mu: Any, loc: Any = 0.0) -> Tensor:
    """Return the logarithm of the probability of k Poisson events."""
    k, mu, loc = _floats(k, mu, loc)
    count = k - loc
    within = wg.logical_and(wg.greater_equal(count, 0.0), wg.equal(count, wg.floor(count)))
    count = _inside(within, count, 1.0)
    y = special.xlogy(count, mu) - special.gammaln(count + 1) - mu
    return wg.where(within, y, -math.inf)


def poisson_cdf(k: Any, mu: Any, loc: Any = 0.0) -> Tensor:
    """Return the probability of at most k Poisson events."""
    k, mu, loc = _floats(k, mu, loc)
    count = wg.floor(k - loc)
    within = wg.greater_equal(count, 0.0)
    return wg.where(within, special.gammaincc(_inside(within, count, 0.0) + 1, mu), 0.0)


# -- vectors ----------------------------------------------------------------------------------


def dirichlet_logpdf(x: Any, alpha: Any) -> Tensor:
    """Return the logarithm of the Dirichlet density of x, whose first axis sums to 1.

    x may lack the last part of each sum, as in SciPy.
    """
    x, alpha = _floats(x, alpha)
    if alpha.ndim != 1 or x.shape[0] not in (alpha.size, alpha.size - 1):
        raise ShapeError(
            f"dirichlet: x of shape {x.shape} and alpha of {alpha.shape}; the first axis of x must "
            "have the length of alpha"
        )
    if x.shape[0] == alpha.size - 1:
        x = wg.concat([x, 1 - wg.sum(x, axis=0, keepdims=True)], axis=0)
    given = x.numpy()
    if given.min() < 0 or np.abs(given.sum(axis=0) - 1).max() > 1e-9:
        raise ValueError("dirichlet: x must lie in the simplex: no part negative, sums of 1")
    weights = wg.reshape(alpha - 1, (-1,) + (1,) * (x.ndim - 1))
    constant = special.gammaln(wg.sum(alpha)) - wg.sum(special.gammaln(alpha))
    return _without_single_axes(wg.sum(special.xlogy(weights, x), axis=0) + constant)


def _moments(mean: Any, cov: Any) -> tuple[Any, Any]:
    """Return the mean as a vector and the covariance as a matrix; without a mean, it is 0."""
    (cov,) = _floats(cov)
    (mean,) = _floats(np.zeros(cov.shape[0] if cov.ndim == 2 else 1) if mean is None else mean)
    mean = wg.reshape(mean, (-1,))
    if cov.ndim == 0:
        cov = cov * np.eye(mean.size)
    elif cov.ndim == 1:
        cov = wg.expand_dims(cov, axis=0) * np.eye(cov.size)
    if cov.shape != (mean.size, mean.size):
        raise ShapeError(
            f"multivariate_normal: a mean of {mean.size} numbers and a covariance of shape "
            f"{cov.shape}; expected a square matrix of that size"
        )
    return mean, cov


def multivariate_normal_logpdf(
    x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False
) -> Any:
    """Return the logarithm of the normal density of vectors along the last axis of x."""
    (x,) = _floats(x)
    mean, cov = _moments(mean, cov)
    if mean.size == 1 and x.ndim < 2:
        x = wg.expand_dims(x, axis=-1)
    if not x.ndim or x.shape[-1] != mean.size:
        raise ShapeError(
            f"multivariate_normal: x of shape {x.shape} and a mean of {mean.size} numbers; the "
            "last axis of x must have that length"
        )
    offset = x - mean
    if allow_singular:
        return _of_singular(offset, cov)
    factor = linalg.cholesky(cov)
    rows = wg.reshape(offset, (-1, mean.size))
    z = linalg.solve_triangular(factor, wg.matrix_transpose(rows), lower=True)
    squares = wg.reshape(wg.sum(z * z, axis=0), offset.shape[:-1])
    half_logdet = wg.sum(wg.log(linalg.diagonal(factor)))
    return _without_single_axes(-0.5 * (mean.size * _LOG_2PI + squares) - half_logdet)


def _of_singular(offset: Any, cov: Any) -> Any:
    if cov._node is not None:
        raise NoRuleError(
            "multivariate_normal: with allow_singular=True there is no derivative by the covariance"
        )
    values, vectors = np.linalg.eigh(cov.numpy())
    small = 1e6 * np.finfo(values.dtype).eps * np.abs(values).max()  # as SciPy decides it
    kept = values > small
    z = wg.matmul(offset, vectors[:, kept] / np.sqrt(values[kept]))
    constant = kept.sum() * _LOG_2PI + np.log(values[kept]).sum()
    outside = np.linalg.norm(offset.numpy() @ vectors[:, ~kept], axis=-1)
    y = -0.5 * (wg.sum(z * z, axis=-1) + constant)
    return _without_single_axes(wg.where(outside < 1e3 * small, y, -math.inf))


def multivariate_normal_entropy(mean: Any = None, cov: Any = 1.0) -> Tensor:
    """Return the entropy of normal vectors."""
    mean, cov = _moments(mean, cov)
    half_logdet = wg.sum(wg.log(linalg.diagonal(linalg.cholesky(cov))))
    return 0.5 * mean.size * (1 + _LOG_2PI) + half_logdet


# -- densities that are no logarithms ---------------------------------------------------------


def _density(log_density: Callable[..., Tensor]) -> Any:
    """Return exp of a logarithm of a density."""

    @functools.wraps(log_density)
    def density(*args: Any, **params: Any) -> Tensor:
        return wg.exp(log_density(*args, **params))

    density.__name__ = log_density.__name__.replace("_logp", "_p")
    density.__doc__ = (log_density.__doc__ or "").replace("the logarithm of ", "")
    return density


norm_pdf, t_pdf, chi2_pdf = _density(norm_logpdf), _density(t_logpdf), _density(chi2_logpdf)
beta_pdf, gamma_pdf = _density(beta_logpdf), _density(gamma_logpdf)
poisson_pmf, dirichlet_pdf = _density(poisson_logpmf), _density(dirichlet_logpdf)
multivariate_normal_pdf = _density(multivariate_normal_logpdf)
