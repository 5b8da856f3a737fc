"""autograd.builtins: lists, tuples and dicts are Python's own, and isinstance sees values."""

from __future__ import annotations

import builtins
from builtins import dict, list, tuple  # noqa: UP029
from typing import Any

from wengert.dialects.autograd.borders import values
from wengert.ops.numpy.ufuncs import is_tensor


def isinstance(value: Any, kinds: Any) -> bool:
    """Return whether a value is of a class; a recorded array is one of NumPy's, too."""
    return builtins.isinstance(value, kinds) or (
        is_tensor(value) and builtins.isinstance(values(value), kinds)
    )


def type(value: Any) -> Any:
    """Return the class of a value: of a recorded array, that of the array."""
    return builtins.type(values(value) if is_tensor(value) else value)


__all__ = ["dict", "isinstance", "list", "tuple", "type"]
