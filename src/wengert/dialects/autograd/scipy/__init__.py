"""SciPy's names for programs of HIPS autograd."""

from typing import Any

from wengert.dialects.autograd.borders import late

__all__ = ["integrate", "linalg", "signal", "special", "stats"]


def __getattr__(name: str) -> Any:
    return late(__name__, name, __all__)
