"""Sums, means and largest rows of bags: several rows of a table taken as one."""

from __future__ import annotations

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import indexing, segments

__all__ = ["bagged"]


def bagged(rows: Tensor, bags: np.ndarray, count: int, mode: str) -> Tensor:
    """Return the "sum", "mean" or "max" of the rows of each of `count` bags; 0 of an empty one.

    `bags` has the number of the bag that each row is in.
    """
    if mode == "max":
        return _largest(rows, bags, count)
    sums = segments.segment_sum(rows, bags, num_segments=count)
    if mode == "sum":
        return sums
    sizes = np.maximum(np.bincount(bags, minlength=count), 1)
    return sums / wrap(sizes[:, None].astype(sums.dtype))


def _largest(rows: Tensor, bags: np.ndarray, count: int) -> Tensor:
    """Return the largest row of each bag by its elements; the first of equal ones has the share."""
    some = np.bincount(bags, minlength=count) > 0
    largest = segments.segment_max(rows, bags, num_segments=count)
    raw, last = rows._raw, len(bags)
    if type(raw) is np.ndarray:
        first = np.full((count, raw.shape[1]), last)
        there = raw == largest._raw[bags]
        np.minimum.at(first, bags, np.where(there, np.arange(last)[:, None], last))
        if (first[some] < last).all():  # and nothing is NaN
            first[~some] = 0
            largest = indexing.take_along_axis(rows, wrap(first), axis=0) if last else largest
    return ew.where(wrap(some[:, None]), largest, 0.0)
