"""The ufuncs of scipy.special on tensors: a table from their names to the operations they are.

SciPy is not imported for it: a ufunc of SciPy's can only be met after somebody else has done so.
Those of its functions that are no ufuncs, such as `scipy.special.logsumexp`, convert tensors before
they compute, unless SCIPY_ARRAY_API is set; `cut_paths` then says what to write.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from typing import Any

from wengert.ops.numpy.ufuncs import Function, floating, wg

#: Where SciPy keeps its ufuncs, also those that its functions hide.
_HOME = "scipy.special._ufuncs"
#: Ufuncs that have an operation of their name in `ops.special`, or in the main namespace.
_OURS = """
    beta betainc betaln cbrt dawsn entr erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit
    expm1 exprel gamma gammainc gammaincc gammaincinv gammaln gammasgn i0 i0e i1 i1e iv ive j0 j1 jv
    k0 k0e k1 k1e kl_div log1p log_expit log_ndtr logit ndtr ndtri psi rel_entr rgamma spence
    xlog1py xlogy y0 y1 yn
"""


def is_special(ufunc: Any) -> bool:
    """Return whether a ufunc is one of scipy.special's."""
    return getattr(sys.modules.get(_HOME), ufunc.__name__, None) is ufunc


@functools.cache
def answer(ufunc: Any) -> Function | None:
    """Return what a ufunc of scipy.special is on tensors; None if it is none, or has no rule."""
    if not is_special(ufunc):
        return None
    name = ufunc.__name__
    if name in _OURS.split():
        ours = getattr(_special(), name, None) or getattr(wg, name)
        return lambda *xs: ours(*xs)
    return _COMPOSED.get(name)


def _special() -> Any:
    return importlib.import_module("wengert.ops.special")


# -- compositions -----------------------------------------------------------------------------


def _boxcox(x: Any, lmbda: Any, /) -> Any:
    x, lmbda = floating(x), floating(lmbda)
    logarithm = wg.log(x)
    at_zero = wg.where(lmbda == 0, logarithm, (x**lmbda - 1) / lmbda)
    return wg.where(x == 0, at_zero, logarithm * _special().exprel(logarithm * lmbda))


def _boxcox1p(x: Any, lmbda: Any, /) -> Any:
    logarithm = wg.log1p(floating(x))
    return logarithm * _special().exprel(logarithm * lmbda)


def _binom(n: Any, k: Any, /) -> Any:
    n, k = floating(n), floating(k)
    y = 1 / ((n + 1) * _special().beta(1 + n - k, 1 + k))
    return wg.where(wg.logical_and(n < 0, n == wg.floor(n)), math.nan, y)


def _cosm1(x: Any, /) -> Any:
    half = wg.sin(floating(x) / 2)
    return -2 * half * half


def _erfi(x: Any, /) -> Any:
    x = floating(x)
    return 2 / math.sqrt(math.pi) * wg.exp(x * x) * _special().dawsn(x)


def _huber(delta: Any, r: Any, /) -> Any:
    delta, r = floating(delta), floating(r)
    size = wg.abs(r)
    inside = wg.where(size <= delta, r * r / 2, delta * (size - delta / 2))
    return wg.where(delta < 0, math.inf, inside)


def _pseudo_huber(delta: Any, r: Any, /) -> Any:
    delta, r = floating(delta), floating(r)
    square = (r / delta) ** 2
    # square / (1 + sqrt(1 + square)) is sqrt(1 + square) - 1 without cancellation
    y = delta * delta * square / (1 + wg.sqrt(1 + square))
    return wg.where(delta > 0, y, wg.where(delta == 0, 0.0, math.inf))


_COMPOSED: dict[str, Function] = {
    "_riemann_zeta": lambda x, /: _special().zeta(x),
    "_zeta": lambda x, q, /: _special().zeta(x, q),
    "betaincc": lambda a, b, x, /: _special().betainc(b, a, wg.subtract(1.0, x)),
    "binom": _binom,
    "boxcox": _boxcox,
    "boxcox1p": _boxcox1p,
    "chdtr": lambda v, x, /: _special().gammainc(wg.multiply(v, 0.5), wg.multiply(x, 0.5)),
    "chdtrc": lambda v, x, /: _special().gammaincc(wg.multiply(v, 0.5), wg.multiply(x, 0.5)),
    "cosm1": _cosm1,
    "erfi": _erfi,
    "fresnel": lambda x, /: (_special().fresnel_sin(x), _special().fresnel_cos(x)),
    "gdtr": lambda a, b, x, /: _special().gammainc(b, wg.multiply(a, x)),
    "gdtrc": lambda a, b, x, /: _special().gammaincc(b, wg.multiply(a, x)),
    "huber": _huber,
    "pseudo_huber": _pseudo_huber,
}
