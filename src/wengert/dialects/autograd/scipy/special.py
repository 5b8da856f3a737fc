"""SciPy's special functions: its own on arrays, Wengert's on recorded ones."""

from __future__ import annotations

from typing import Any

import scipy.special as _theirs

from wengert.dialects.autograd.borders import missing as _missing
from wengert.dialects.autograd.numpy.wrapping import dispatching as _dispatching
from wengert.ops import special as _ours

__all__ = sorted(name for name in _ours.__all__ if hasattr(_theirs, name))


#: SciPy's names of parameters in SciPy's order, where ours differ.
_FITTED: dict[str, Any] = {
    "logsumexp": lambda a, axis=None, b=None, keepdims=False, return_sign=False: _ours.logsumexp(
        a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign
    ),
    "polygamma": lambda n, x: _ours.polygamma(n, x),
}


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
    globals()[name] = offered = _dispatching(getattr(_theirs, name), ours)
    return offered


def __dir__() -> list[str]:
    return __all__
