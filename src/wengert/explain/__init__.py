"""Explanations: the user's line, why a value leaves a tape, what a tape holds and costs."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a module when it is first asked: few programs need an explanation."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
