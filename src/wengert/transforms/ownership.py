"""Who else holds an array: what may be handed out, or written to, without a copy."""

from __future__ import annotations

import sys

import numpy as np

from wengert.engine.tensor import Tensor, wrap


def _references(tensor: Tensor) -> int:
    raw = tensor._raw
    return sys.getrefcount(raw if raw.base is None else raw.base)


#: What `_references` says of a tensor whose array, or what that is a view of, nobody else holds.
_ALONE = [_references(wrap(np.zeros(1))), _references(wrap(np.zeros(2)[:1]))]


def is_alone(tensor: Tensor) -> bool:
    """Whether nothing but a tensor refers to its memory, a NumPy array that may be written to."""
    raw = tensor._raw
    if type(raw) is not np.ndarray or not raw.flags.writeable:
        return False
    if raw.base is None:
        del raw
        return _references(tensor) <= _ALONE[0]
    if type(raw.base) is not np.ndarray or raw.base.base is not None:
        return False
    kept = sys.getrefcount(raw)
    del raw
    return kept <= _ALONE[0] and _references(tensor) <= _ALONE[1]
