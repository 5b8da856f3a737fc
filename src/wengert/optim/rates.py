"""Learning rates as functions of the step: one set of formulas for this library and its dialects.

A formula takes a namespace: `numpy` for arrays of steps, in whose precision it computes, or
`NUMBERS` for Python's numbers. Many are functions of `done`, the completed share of a decay.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

#: What formulas compute with on Python's numbers.
NUMBERS: Any = SimpleNamespace(cos=math.cos, floor=math.floor, log=math.log, power=pow, minimum=min)


def share(xp: Any, step: Any, steps: Any) -> Any:
    """Return the completed share: 0 at the start, 1 from the last step on."""
    return xp.minimum(step, steps) / steps


def line(done: Any, start: Any, end: Any) -> Any:
    """Return the value on a straight line from start to end."""
    return start * (1 - done) + end * done


def polynomial(done: Any, start: Any, end: Any, power: Any) -> Any:
    """Return ``end + (start - end) * (1 - done) ** power``."""
    return end + (start - end) * (1 - done) ** power


def cosine(xp: Any, done: Any, start: Any, end: Any) -> Any:
    """Return the value on half a cosine from start to end, which continues as a wave."""
    return end + (start - end) * half_wave(xp, done)


def half_wave(xp: Any, done: Any) -> Any:
    """Return ``(1 + cos(pi * done)) / 2``, which falls from 1 to 0."""
    return (1 + xp.cos(math.pi * done)) / 2


def exponential(xp: Any, step: Any, factor: Any, every: Any, staircase: bool = False) -> Any:
    """Return the product of factors, one for each `every` steps; smoothly, or as a staircase."""
    return xp.power(factor, _times(xp, step, every, staircase))


def inverse_time(
    xp: Any, step: Any, start: Any, factor: Any, every: Any, staircase: bool = False
) -> Any:
    """Return start over a line that begins at 1 and rises by `factor` in each `every` steps."""
    return start / (1 + factor * _times(xp, step, every, staircase))


def _times(xp: Any, step: Any, every: Any, staircase: bool) -> Any:
    return xp.floor(step / every) if staircase else step / every


def restarts(xp: Any, step: Any, first: Any, growth: Any) -> tuple[Any, Any]:
    """Return which round a step is in, and how much of it is done.

    The first round, with number 0, has `first` steps; each has `growth` times as many as the last.
    """
    done = step / first
    if growth == 1:
        number = xp.floor(done)
        return number, done - number
    number = xp.floor(xp.log(1 - done * (1 - growth)) / math.log(growth))
    length = growth**number
    return number, (done - (1 - length) / (1 - growth)) / length


def triangle(xp: Any, step: Any, period: Any, rising: Any) -> tuple[Any, Any]:
    """Return which period a step is in, from 1 on, and its height: up from 0 to 1 and down again.

    `rising` is the share of a period on which it goes up.
    """
    number = xp.floor(1 + step / period)
    done = 1.0 + step / period - number
    return number, done / rising if done <= rising else (done - 1) / (rising - 1)
