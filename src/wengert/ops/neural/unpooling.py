"""Where the largest elements of windows are, as flat positions, and back to there."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import indexing, shapes, updates
from wengert.ops.neural.resampling import area_taps
from wengert.ops.neural.windows import Ints

__all__ = ["largest_of_uneven_windows", "put_back"]


def largest_of_uneven_windows(x: Tensor, size: Ints) -> tuple[Tensor, Tensor]:
    """Return the first largest element of each of `size` windows of the last axes, and where."""
    lead, spatial = x.shape[: x.ndim - len(size)], x.shape[x.ndim - len(size) :]
    where = _positions(x._raw, lead, spatial, size)
    flat = shapes.reshape(x, (*lead, math.prod(spatial)))
    index = wrap(where.reshape(*lead, math.prod(size)))
    y = shapes.reshape(indexing.take_along_axis(flat, index, axis=-1), where.shape)
    return y, wrap(where)


def _positions(raw: np.ndarray, lead: Ints, spatial: Ints, size: Ints) -> np.ndarray:
    taps = [area_taps(n, m)[0] for n, m in zip(spatial, size, strict=True)]
    positions = np.arange(math.prod(spatial)).reshape(spatial)
    found = np.empty((*lead, *size), np.int64)
    index: Any
    for index in itertools.product(*map(range, size)):
        window = np.ix_(*(t[i][t[i] >= 0] for t, i in zip(taps, index, strict=True)))
        flat = positions[window].reshape(-1)
        values = raw.reshape(*lead, -1)[..., flat]
        found[(..., *index)] = flat[np.argmax(values, axis=-1)]
    return found


def put_back(x: Tensor, where: np.ndarray, size: Ints) -> Tensor:
    """Return zeros of `size` on the last axes, with the elements of x at flat positions.

    Each element has the derivative of its position, also where another is written over it.
    """
    lead = x.shape[: x.ndim - len(size)]
    count, rows = math.prod(size), math.prod(lead)
    if where.size and (where.min() < 0 or where.max() >= count):
        raise ShapeError(f"position {where.max()} of {count} elements; give those of `max_pool`")
    flat = where.reshape(rows, math.prod(x.shape[len(lead) :]))
    nothing = wrap(np.zeros((rows, count), x.dtype))
    key = (np.arange(rows)[:, None], flat)
    found = updates.at_set(nothing, shapes.reshape(x, flat.shape), key=key, winners=None)
    return shapes.reshape(found, (*lead, *size))
