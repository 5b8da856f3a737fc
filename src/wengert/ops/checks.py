"""Errors about arguments, in one form: what was given, and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.engine.errors import ShapeError


def misfit(name: str, expected: str, **given: Any) -> ShapeError:
    """Return the error that arguments, given by their names, do not have the expected shapes."""
    shapes = ", ".join(f"{what} of shape {tuple(x.shape)}" for what, x in given.items())
    return ShapeError(f"{name}: {shapes}; expected {expected}")


def check_option(name: str, what: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise unless the value of an argument is one of the options."""
    if value not in options:
        *others, last = map(repr, options)
        raise ValueError(f"{name}: {what} is {value!r}; expected {', '.join(others)} or {last}")


def broadcasts_to(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether an array of a shape broadcasts to another shape."""
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False
