"""autograd.builtins: lists, tuples and dicts are Python's own, and isinstance sees values."""

from __future__ import annotations

import builtins
from builtins import dict, list, tuple  # noqa: UP029
from typing import Any

from wengert.dialects.autograd.boxes import getval, isbox


def isinstance(value: Any, kinds: Any) -> bool:
    """Return whether a value is of a class; a recorded array is one of NumPy's, too."""
    return builtins.isinstance(value, kinds) or (
        isbox(value) and builtins.isinstance(getval(value), kinds)
    )


def type(value: Any) -> Any:
    """Return the class of a value: of a recorded array, that of the array."""
    return builtins.type(getval(value))


__all__ = ["dict", "isinstance", "list", "tuple", "type"]
