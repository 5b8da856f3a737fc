"""NumPy's linear algebra, on arrays and on recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as _np

from wengert.autograd.numpy.wrapping import found as _found

__all__ = sorted(_np.linalg.__all__)


def __getattr__(name: str) -> Any:
    return _found(_np.linalg, name, __name__, globals())


def __dir__() -> list[str]:
    return __all__
