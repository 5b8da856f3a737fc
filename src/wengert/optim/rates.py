"""Learning rates as functions of the step: one set of formulas for this library and its dialects.

Many are functions of `done`, the completed share of a decay.
"""

from __future__ import annotations

import math
from typing import Any


def share(step: Any, steps: Any) -> Any:
    """Return the completed share: 0 at the start, 1 from the last step on."""
    return min(step, steps) / steps


def line(done: Any, start: Any, end: Any) -> Any:
    """Return the value on a straight line from start to end."""
    return start * (1 - done) + end * done


def polynomial(done: Any, start: Any, end: Any, power: Any) -> Any:
    """Return ``end + (start - end) * (1 - done) ** power``."""
    return end + (start - end) * (1 - done) ** power


def cosine(done: Any, start: Any, end: Any) -> Any:
    """Return the value on half a cosine from start to end, which continues as a wave."""
    return end + (start - end) * half_wave(done)


def half_wave(done: Any) -> Any:
    """Return ``(1 + cos(pi * done)) / 2``, which falls from 1 to 0."""
    return (1 + math.cos(math.pi * done)) / 2


def exponential(step: Any, factor: Any, every: Any, staircase: bool = False) -> Any:
    """Return the product of factors, one for each `every` steps; smoothly, or as a staircase."""
    return pow(factor, math.floor(step / every) if staircase else step / every)
