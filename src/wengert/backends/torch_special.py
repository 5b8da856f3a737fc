"""The extension `xp.special` on PyTorch's arrays: its functions by SciPy's names, and formulas.

What PyTorch lacks and no short formula gives is not here: such functions are computed in host
memory, or refused on a device. PyTorch's gammainc and gammaincc have 9 digits for a above 20.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import special

from wengert.backends.special_formulas import Formulas
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


def _constant(array: np.ndarray, like: Any) -> Any:
    return tensor(array, like.device).to(like.dtype)


_FORMULAS = Formulas(torch, sys.modules[__name__], _constant)
globals().update(_FORMULAS.kernels(_in_double))


@_in_double
def dawsn(x: Any) -> Any:
    """Return Dawson's integral, by Rybicki's sum of Gaussians, and far out by its series."""
    size = torch.clamp(torch.abs(x), max=8.0)
    total, step = torch.zeros_like(x), 0.2
    for n in range(1, 72, 2):  # the error is exp(-(pi / (2 step))**2)
        bump = torch.exp(-((size - n * step) ** 2))
        total = total - bump * torch.expm1(-4 * n * step * size) / n
    far = torch.abs(x) > 8
    outside = _FORMULAS.far_out(torch.where(far, torch.abs(x), 8.0), 0, 1)
    return torch.copysign(torch.where(far, outside, total / math.sqrt(math.pi)), x)


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
