"""SciPy's special functions: its own on arrays, Wengert's on recorded ones."""

from __future__ import annotations

from typing import Any

import scipy.special as _theirs

from wengert.dialects.autograd.borders import dispatching as _dispatching
from wengert.dialects.autograd.borders import missing as _missing
from wengert.ops import special as _ours

__all__ = sorted(name for name in _ours.__all__ if hasattr(_theirs, name))


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    return _ours.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)


def _polygamma(n: Any, x: Any) -> Any:
    return _ours.polygamma(n, x)


#: Where parameters are in other places.
_FITTED = {"logsumexp": _logsumexp, "polygamma": _polygamma}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        why = ""
        if hasattr(_theirs, name) and not name.startswith("_"):
            why = (
                "wengert has no derivative of it. Call scipy.special on plain numbers, or give it "
                "a rule: primitive and defvjp of wengert.autograd.extend"
            )
        raise _missing(__name__, name, __all__, why)
    ours = _FITTED.get(name, getattr(_ours, name))
    globals()[name] = made = _dispatching(getattr(_theirs, name), ours)
    return made


def __dir__() -> list[str]:
    return __all__
