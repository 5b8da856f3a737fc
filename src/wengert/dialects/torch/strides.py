"""How the elements of an array lie in memory, and whether they can be written to."""

from __future__ import annotations

from typing import Any

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


def check_apart(place: Any, values: Any, whole: bool = True) -> None:
    """Raise if values are in the memory that is written to, at other places than their own.

    `whole` says that they may be all of that memory, in the same order.
    """
    if type(place) is not np.ndarray or type(values) is not np.ndarray:
        return
    if not np.may_share_memory(place, values) or not (is_dense(place) and is_dense(values)):
        return
    same = place.ctypes.data == values.ctypes.data and place.nbytes == values.nbytes
    if whole and same and place.ndim == values.ndim and steps(place) == steps(values):
        return
    raise RuntimeError(
        "the tensor that is written to shares part of its memory with an operand; write "
        ".clone() on one of them before the operation"
    )


def check_memory(raw: np.ndarray, several: bool = False) -> None:
    """Raise if memory cannot be written to, or would be by several elements and may not."""
    if not several and is_expanded(raw):
        raise RuntimeError(
            "several elements of the tensor that is written to share one place in memory; write "
            "x.clone() before the operation"
        )
    if not raw.flags.writeable:
        raise RuntimeError("this tensor shares memory that cannot be written to; write x.clone()")
