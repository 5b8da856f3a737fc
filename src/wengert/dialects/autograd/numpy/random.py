"""NumPy's random numbers, which have no derivatives by their parameters."""

from __future__ import annotations

import functools
from typing import Any

import numpy as _np

from wengert.dialects.autograd.borders import has_tensor, missing
from wengert.engine.errors import NoRuleError

__all__ = sorted(_np.random.__all__)


def _of_plain(function: Any) -> Any:
    name = function.__name__

    @functools.wraps(function)
    def draw(*args: Any, **params: Any) -> Any:
        if has_tensor((*args, *params.values())):
            raise NoRuleError(
                f"np.random.{name}: a parameter is recorded, and numbers drawn this way have no "
                "derivative by it; write mean + scale * np.random.randn(...), or wg.random"
            )
        return function(*args, **params)

    return draw


def __getattr__(name: str) -> Any:
    if name.startswith("__") or not hasattr(_np.random, name):
        raise missing(__name__, name, dir(_np.random))
    value = getattr(_np.random, name)
    is_function = callable(value) and not isinstance(value, type)
    globals()[name] = offered = _of_plain(value) if is_function else value
    return offered


def __dir__() -> list[str]:
    return __all__
