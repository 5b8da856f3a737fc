"""SciPy's names for programs of HIPS autograd."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert.dialects.autograd.borders import missing

__all__ = ["integrate", "linalg", "signal", "special", "stats"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise missing(__name__, name, __all__)
