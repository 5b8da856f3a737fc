"""NumPy's Fourier transforms, on arrays and on recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as _np

from wengert.dialects.autograd.numpy.wrapping import offered as _offered

__all__ = sorted(_np.fft.__all__)


def __getattr__(name: str) -> Any:
    return _offered(_np.fft, name, __name__, globals())


def __dir__() -> list[str]:
    return __all__
