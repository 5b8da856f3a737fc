"""The extension `xp.special` on NumPy: SciPy's functions, and derivatives that SciPy lacks.

The kernels compute in double precision and return the dtype of their arguments.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as scipy_special

from wengert.backends.special_formulas import Formulas
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


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma, in the dtype of x."""
    if n == 0:
        return scipy_special.digamma(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * scipy_special.zeta(n + 1.0, x)


class _Masked(Formulas):
    """The kernels of all libraries, where each part of a flat array is computed by itself."""

    def either(self, mask: Any, one: Any, other: Any, *arrays: Any) -> Any:
        y = np.empty_like(arrays[0])
        y[mask] = one(*(a[mask] for a in arrays))
        y[~mask] = other(*(a[~mask] for a in arrays))
        return y

    def total(self, values: Any, weights: Any) -> Any:
        return values @ weights


_FORMULAS = _Masked(np, sys.modules[__name__], lambda array, like: array)
globals().update(_FORMULAS.kernels(_in_double))


# -- the incomplete beta function -----------------------------------------------------------------


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
    y[small] = _FORMULAS.beta_weight(*part, x[small], q[small]) / part[0]
    y[small] *= beta_bell(polygamma, *part, *logs, order, (1, 0))[order]
    a, b, x, q = (v[:, None] for v in (np.where(small, a + 1, a), b, x, q))
    n = a + b
    length = np.minimum((42.0 - n * np.log(q)) / a, 700.0)
    for _ in range(16):  # Newton's method from above, for a convex function
        grown = 1 + q * np.expm1(length)
        fall = n * np.log(grown) - b * length
        length = length - (fall - 42.0) / (n * q * np.exp(length) / grown - b)
    t, weights = _FORMULAS.gauss(80, x)
    down = length * t
    rise = np.log1p(q * np.expm1(down))
    log_t = np.log(x) - rise
    bell = beta_bell(polygamma, a, b, log_t, np.log(q) + down - rise, order, (1, 1))
    i, j = order  # a b / beta(a + 1, b + 1) has no infinite terms as one goes to 0
    slope = a * b * bell[i, j]
    slope = slope + (i * b * bell[i - 1, j] if i else 0) + (j * a * bell[i, j - 1] if j else 0)
    slope = slope + (i * j * bell[i - 1, j - 1] if i and j else 0)
    scale = _FORMULAS.beta_weight(a, b, x, q) / (a * b) * length
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
