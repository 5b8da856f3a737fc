"""Explanations: the user's line, why a value leaves a tape, what a tape holds and costs."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a module when it is first asked: few programs need an explanation."""
    full = f"{__name__}.{name}"
    try:
        return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
