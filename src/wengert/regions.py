"""Regions of arrays: the positions that something is about, axis by axis."""

from __future__ import annotations

from typing import Any

import numpy as np

#: For each axis its positions: a range, or an array of them on at most one axis.
Region = tuple[Any, ...]


def slices(region: Region) -> tuple[Any, ...]:
    """Return the index that selects a region of an array."""
    return tuple(
        [
            slice(r.start, r.stop, 1)
            if type(r) is range and r.step == 1 and r.stop >= r.start
            else _slice(r)
            for r in region
        ]
    )


def _slice(r: Any) -> Any:
    """Return the slice of a range, whose end is no further than it needs to be; or positions."""
    if type(r) is not range:
        return r
    if not r:
        return slice(0, 0)
    last = r[-1]
    return slice(r.start, last + 1 if r.step > 0 else last - 1 if last else None, r.step)


def whole(shape: tuple[int, ...]) -> Region:
    """Return the region that is all of an array."""
    return tuple(map(range, shape))


def sizes(region: Region) -> tuple[int, ...]:
    """Return the shape of the values on a region."""
    return tuple(map(len, region))


def same(one: Region, two: Region) -> bool:
    """Return whether two regions are the same positions in the same order."""
    return len(one) == len(two) and all(
        a is b or (type(a) is type(b) and (a == b if type(a) is range else np.array_equal(a, b)))
        for a, b in zip(one, two, strict=True)
    )


def around(one: Region, two: Region) -> Region:
    """Return the smallest region without steps around both."""
    return tuple(
        range(min(r[0], r[-1], s[0], s[-1]), max(r[0], r[-1], s[0], s[-1]) + 1)
        if len(r) and len(s)
        else r or s
        for r, s in zip(one, two, strict=True)
    )
