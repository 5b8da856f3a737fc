"""Arrays as pictures: which two axes are seen, and how a large array becomes a small one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.inspector.model import Map, Ranges

#: The most rows and columns of a picture.
LARGEST = 512
#: A last axis of at most so many elements is one of channels, if two longer ones come before it.
_CHANNELS = 16


class Axes(NamedTuple):
    """Which axes are rows and columns of a picture, if there are such; the others have sliders."""

    row: int | None
    column: int | None
    others: tuple[int, ...]


def axes_of(shape: Sequence[int]) -> Axes:
    """Return the axes that a picture of an array shows.

    These are the last two, or those before a last axis of channels.
    """
    count = len(shape)
    if count < 2:
        return Axes(None, 0 if count else None, ())
    row, column = count - 2, count - 1
    if count > 2 and shape[-1] <= _CHANNELS < min(shape[-3:-1]):
        row, column = count - 3, count - 2
    return Axes(row, column, tuple(a for a in range(count) if a not in (row, column)))


def cell_of(shape: Sequence[int]) -> int:
    """Return how many elements a side of a picture's cell stands for."""
    axes = axes_of(shape)
    longest = max((shape[a] for a in (axes.row, axes.column) if a is not None), default=1)
    return max(1, -(-longest // LARGEST))


def value_picture(values: np.ndarray, at: Sequence[int]) -> dict[str, Any]:
    """Return a tensor's values in the picture at some positions of its other axes."""
    ranges = tuple(map(range, values.shape))
    return _picture(Map("value", ranges, values), values.shape, at)


def map_picture(found: Map, shape: Sequence[int], at: Sequence[int]) -> dict[str, Any]:
    """Return a map in the picture of its tensor: the part that is not zero, and where it is."""
    return _picture(found, shape, at)


def _picture(found: Map, shape: Sequence[int], at: Sequence[int]) -> dict[str, Any]:
    axes, cell = axes_of(shape), cell_of(shape)
    inside = all(i in found.ranges[a] for a, i in zip(axes.others, at, strict=True))
    part: Any = found.values
    if inside:
        key: list[Any] = [slice(None)] * len(shape)
        for axis, i in zip(axes.others, at, strict=True):
            key[axis] = i - found.ranges[axis].start
        part = part[tuple(key)]
    else:
        part = np.zeros((0, 0), found.values.dtype)
    rows = range(1) if axes.row is None else found.ranges[axes.row]
    columns = range(1) if axes.column is None else found.ranges[axes.column]
    part = np.asarray(part).reshape((len(rows), len(columns)) if inside else (0, 0))
    is_complex = part.dtype.kind == "c"
    seen = np.abs(part) if is_complex else part
    seen = seen.astype(np.float32)
    top, left = rows.start // cell, columns.start // cell
    if cell > 1 and seen.size:
        seen = _reduced(seen, cell, rows.start % cell, columns.start % cell)
    finite = seen[np.isfinite(seen)]
    return {
        "top": top,
        "left": left,
        "rows": seen.shape[0],
        "columns": seen.shape[1],
        "data": base64.b64encode(np.ascontiguousarray(seen, "<f4").tobytes()).decode(),
        "low": float(finite.min()) if finite.size else 0.0,
        "high": float(finite.max()) if finite.size else 0.0,
        "complex": is_complex,
    }


def _reduced(seen: np.ndarray, cell: int, above: int, before: int) -> np.ndarray:
    """Return the element of the largest magnitude of each cell."""
    rows, columns = seen.shape
    below, after = -(above + rows) % cell, -(before + columns) % cell
    padded = np.pad(seen, ((above, below), (before, after)))
    height, width = padded.shape[0] // cell, padded.shape[1] // cell
    cells = padded.reshape(height, cell, width, cell).swapaxes(1, 2).reshape(height, width, -1)
    size = np.where(np.isnan(cells), np.inf, np.abs(cells))
    chosen = size.argmax(-1)[..., None]
    return np.take_along_axis(cells, chosen, -1)[..., 0]


def written(ranges: Ranges) -> str:
    """Return ranges as one would write them in brackets."""
    return ", ".join(str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}" for r in ranges)
