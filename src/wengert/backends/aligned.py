"""Memory for NumPy arrays that begins on a cache line.

NumPy's own arrays begin 16 bytes behind one, so that every other wide load of a processor crosses
a line: a pass over an array in cache takes up to twice as long, and one over many megabytes half
as long again. To make such an array takes some microseconds, so that it is for large ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["aligned", "aligned_like"]

#: How many bytes a cache line has, and the widest vector of a processor.
_LINE = 64


def aligned(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Return an array whose numbers are not set, at the beginning of a cache line."""
    dtype = np.dtype(dtype)
    memory = np.empty(math.prod(shape) * dtype.itemsize + _LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % _LINE
    return np.ndarray(tuple(shape), dtype, memory, start)


def aligned_like(x: np.ndarray) -> np.ndarray:
    """Return an array of the shape and dtype of one that is contiguous."""
    return aligned(x.shape, x.dtype)
