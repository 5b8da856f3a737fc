"""NumPy's random numbers, which have no derivatives by their parameters."""

from __future__ import annotations

import functools
from typing import Any

import numpy as _np

from wengert.dialects.autograd.borders import has_tensor
from wengert.dialects.autograd.numpy.wrapping import offering as _offering
from wengert.errors import NoRuleError

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


__getattr__, __dir__ = _offering(_np.random, globals(), _of_plain)
