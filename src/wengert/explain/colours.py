"""Colours for signed numbers: red for positive, blue for negative, pale near zero."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Red, green and blue of -1, 0 and 1. Blue and red differ for every kind of colour blindness.
NEGATIVE, ZERO, POSITIVE = (33, 102, 172), (247, 247, 247), (178, 24, 43)


def shares(values: Any) -> np.ndarray:
    """Return numbers divided by the largest magnitude among them, as far as they are finite.

    Examples
    --------
    >>> from wengert.explain.colours import shares
    >>> shares([0.0, -4.0, 2.0]).tolist()
    [0.0, -1.0, 0.5]
    """
    values = np.asarray(values, dtype=float)
    finite = np.abs(values[np.isfinite(values)])
    top = finite.max(initial=0.0)
    return values / top if top > 0 else np.where(np.isfinite(values), 0.0, values)


def diverging(share: float) -> tuple[int, int, int]:
    """Return the red, green and blue of a number from -1 to 1; small ones show too. NaN is black.

    Examples
    --------
    >>> from wengert.explain.colours import diverging
    >>> diverging(0.0), diverging(1.0), diverging(-0.25)
    ((247, 247, 247), (178, 24, 43), (140, 174, 210))
    """
    if share != share:
        return 0, 0, 0
    end = POSITIVE if share > 0 else NEGATIVE
    far = min(1.0, abs(share)) ** 0.5
    red, green, blue = (round(z + far * (e - z)) for z, e in zip(ZERO, end, strict=True))
    return red, green, blue


def ink(colour: tuple[int, int, int]) -> str:
    """Return black or white, whichever has more contrast with a background.

    Examples
    --------
    >>> from wengert.explain.colours import ink
    >>> ink((247, 247, 247)), ink((33, 102, 172))
    ('#000', '#fff')
    """
    red, green, blue = ((part / 255) ** 2.2 for part in colour)
    return "#000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#fff"
