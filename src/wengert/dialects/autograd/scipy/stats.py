"""SciPy's distributions: densities and distribution functions with derivatives.

Each distribution is a module of functions: SciPy's own on arrays, Wengert's on recorded ones.
"""

from __future__ import annotations

import sys
import types

import scipy.stats

from wengert.dialects.autograd.numpy.wrapping import dispatching
from wengert.ops import distributions

_FUNCTIONS = {
    "beta": "cdf logpdf pdf",
    "chi2": "cdf logpdf pdf",
    "dirichlet": "logpdf pdf rvs",
    "gamma": "cdf logpdf pdf",
    "multivariate_normal": "entropy logpdf pdf",
    "norm": "cdf logcdf logpdf logsf pdf sf",
    "poisson": "cdf logpmf pmf",
    "t": "cdf logcdf logpdf pdf",
}


def _distribution(name: str, functions: list[str]) -> types.ModuleType:
    theirs = getattr(scipy.stats, name)
    module = types.ModuleType(f"{__name__}.{name}", f"Functions of scipy.stats.{name}.")
    module.__all__ = functions  # type: ignore[attr-defined]
    for function in functions:
        ours = getattr(distributions, f"{name}_{function}", None)  # None: rvs, which draws
        own = getattr(theirs, function)
        setattr(module, function, own if ours is None else dispatching(own, ours))
    return module


__all__ = sorted(_FUNCTIONS)
for _name, _functions in _FUNCTIONS.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _distribution(_name, _functions.split())
