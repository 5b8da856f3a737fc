"""How the elements of an array lie in memory."""

from __future__ import annotations

import numpy as np


def steps(raw: np.ndarray) -> list[tuple[int, int]]:
    """Return lengths and strides of the axes along which there is more than one element."""
    return [(n, s) for n, s in zip(raw.shape, raw.strides, strict=True) if n != 1]


def is_dense(raw: np.ndarray) -> bool:
    """Return whether the elements of an array are all of a piece of memory."""
    if raw.flags.c_contiguous:
        return True
    step = raw.itemsize
    for stride, n in sorted(zip(raw.strides, raw.shape, strict=True)):
        if n != 1:
            if stride != step:
                return False
            step *= n
    return True


def is_expanded(raw: np.ndarray) -> bool:
    """Return whether several elements of an array are one place in memory, along an axis."""
    lengths = zip(raw.shape, raw.strides, strict=True)
    return 0 in raw.strides and raw.size > 0 and any(n > 1 and not s for n, s in lengths)
