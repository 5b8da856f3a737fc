"""Learning rates that change: frozen records that are called with the number of the step, from 0.

They have the names of functions, because that is how they are used. As records, they print as they
were written, compare, and can be pickled.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from wengert.optim import rates

Schedule = Callable[[int], float]


class _Schedule:
    """The base of all schedules, which checks parameters by their names."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.name in ("steps", "every"):
                _check_count(f"{self._name}: {field.name}", value)
            elif field.name in ("value", "start", "end", "rate", "factor", "power"):
                _check_number(f"{self._name}: {field.name}", value)
            elif field.name == "schedule":
                _check_schedule(self._name, value)

    def __call__(self, step: int) -> float:
        """Return the value for a step; the first one is step 0."""
        return self._at(step)

    def _at(self, step: int) -> float:
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return type(self).__name__


def _check_count(what: str, value: Any) -> None:
    if isinstance(value, bool) or not hasattr(type(value), "__index__") or value < 1:
        raise ValueError(f"{what} is {value!r}; expected a number of steps, 1 or more")


def _check_number(what: str, value: Any) -> None:
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{what} is {value!r}; expected a number")
    if not 0 <= float(value) < math.inf:
        raise ValueError(f"{what} is {value!r}; expected a finite number, 0 or more")


def _part(step: int, steps: int) -> float:
    """Return the completed share: 0 at the start, 1 from the last step on."""
    return rates.share(max(step, 0), steps)


@dataclass(frozen=True)
class constant(_Schedule):
    """Return a schedule that is `value` at every step.

    `wg.optim.constant(0.1)(7)` is `0.1`.
    """

    value: float

    def _at(self, step: int) -> float:
        return self.value


@dataclass(frozen=True)
class polynomial(_Schedule):
    """Return a schedule that goes from `start` to `end` in `steps` along a power.

    At step k it is ``end + (start - end) * (1 - k / steps) ** power``, and `end` afterwards:
    `wg.optim.polynomial(1.0, 0.0, 10)(5)` is `0.25`.
    """

    start: float
    end: float
    steps: int
    power: float = 2.0

    def _at(self, step: int) -> float:
        return rates.polynomial(_part(step, self.steps), self.start, self.end, self.power)


@dataclass(frozen=True)
class linear(_Schedule):
    """Return a schedule that goes from `start` to `end` along a straight line, in `steps`.

    `wg.optim.linear(1.0, 0.0, 10)(5)` is `0.5`.
    """

    start: float
    end: float
    steps: int

    def _at(self, step: int) -> float:
        return rates.line(_part(step, self.steps), self.start, self.end)


@dataclass(frozen=True)
class cosine_decay(_Schedule):
    """Return a schedule that goes from `start` to `end` along half a cosine, in `steps`.

    Examples
    --------
    >>> import wengert as wg
    >>> schedule = wg.optim.cosine_decay(0.1, 100)
    >>> [round(schedule(k), 4) for k in (0, 25, 50, 100, 1000)]
    [0.1, 0.0854, 0.05, 0.0, 0.0]
    """

    start: float
    steps: int
    end: float = 0.0

    def _at(self, step: int) -> float:
        return rates.cosine(_part(step, self.steps), self.start, self.end)


@dataclass(frozen=True)
class exponential_decay(_Schedule):
    """Return a schedule that is multiplied by `rate` every `steps`, smoothly, down to `end`.

    At step k it is ``start * rate ** (k / steps)``, and never less than `end`:
    `wg.optim.exponential_decay(0.1, 0.5, 10)(20)` is `0.025`.
    """

    start: float
    rate: float
    steps: int = 1
    end: float = 0.0

    def _at(self, step: int) -> float:
        left = rates.exponential(step, self.rate, self.steps)
        return max(self.start * left, self.end)


@dataclass(frozen=True)
class step_decay(_Schedule):
    """Return a schedule that drops to `factor` of its value after each `every` steps.

    At step k it is ``start * factor ** (k // every)``:
    `wg.optim.step_decay(0.1, 0.5, 10)(25)` is `0.025`.
    """

    start: float
    factor: float
    every: int

    def _at(self, step: int) -> float:
        return self.start * rates.exponential(step, self.factor, self.every, True)


@dataclass(frozen=True)
class inverse_sqrt(_Schedule):
    """Return a schedule that is `start` for `steps`, and then falls as 1 / sqrt(step).

    At step k it is ``start * sqrt(steps / max(k, steps))``:
    `wg.optim.inverse_sqrt(0.1, 100)(400)` is `0.05`.
    """

    start: float
    steps: int

    def _at(self, step: int) -> float:
        return self.start * math.sqrt(self.steps / max(step, self.steps))


class _Pieces(_Schedule):
    """A schedule of several pieces, with boundaries between them."""

    def __post_init__(self) -> None:
        given = {field.name: tuple(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        for field, value in given.items():
            object.__setattr__(self, field, value)
        boundaries = given.pop("boundaries")
        ((what, pieces),) = given.items()
        for boundary in boundaries:
            _check_count(f"{self._name}: a boundary", boundary)
        if any(a >= b for a, b in itertools.pairwise(boundaries)):
            raise ValueError(
                f"{self._name}: the boundaries are {boundaries}; each must exceed the last"
            )
        count = len(boundaries)
        if len(pieces) != count + 1:
            raise ValueError(
                f"{self._name}: got {len(pieces)} {what} for {count} boundaries; "
                f"expected {count + 1}"
            )
        for piece in pieces:
            if what == "values":
                _check_number(f"{self._name}: a value", piece)
            else:
                _check_schedule(self._name, piece)


@dataclass(frozen=True)
class piecewise_constant(_Pieces):
    """Return a schedule with a value for each piece between boundaries.

    It is values[0] before step boundaries[0], values[1] from there on, and so forth:
    `wg.optim.piecewise_constant([10], [0.1, 0.01])(10)` is `0.01`.
    """

    boundaries: Sequence[int]
    values: Sequence[float]

    def _at(self, step: int) -> float:
        return self.values[bisect.bisect_right(self.boundaries, step)]


@dataclass(frozen=True)
class join(_Pieces):
    """Return a schedule that follows one schedule after another.

    The next one begins at each boundary, and counts its steps from there.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.optim import cosine_decay, join, linear
    >>> schedule = join([linear(0.0, 0.1, 10), cosine_decay(0.1, 90)], [10])
    >>> [round(schedule(k), 4) for k in (0, 5, 10, 55, 100)]
    [0.0, 0.05, 0.1, 0.05, 0.0]
    """

    schedules: Sequence[Schedule]
    boundaries: Sequence[int]

    def _at(self, step: int) -> float:
        i = bisect.bisect_right(self.boundaries, step)
        return self.schedules[i](step - (self.boundaries[i - 1] if i else 0))


@dataclass(frozen=True)
class warmup(_Schedule):
    """Return a schedule that rises along a line to where another begins, and then follows that.

    It goes from `start` to ``schedule(0)`` in `steps`; from there the other counts from 0:
    `wg.optim.warmup(wg.optim.constant(0.1), 10)(5)` is `0.05`.
    """

    schedule: Schedule
    steps: int
    start: float = 0.0

    def _at(self, step: int) -> float:
        if step >= self.steps:
            return self.schedule(step - self.steps)
        return linear(self.start, self.schedule(0), self.steps)(step)


def _check_schedule(name: str, schedule: Any) -> None:
    if not callable(schedule):
        raise TypeError(
            f"{name}: got {schedule!r}; expected a schedule, so for a number write "
            "wg.optim.constant(number)"
        )
