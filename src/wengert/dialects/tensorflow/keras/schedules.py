"""Learning rates that change with the number of the step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.keras.names import keras
from wengert.dialects.tensorflow.tensors import convert, outward
from wengert.engine.tensor import Tensor as Native
from wengert.optim import rates

ns = Native._namespace


@keras("optimizers.schedules", "LearningRateSchedule")
class LearningRateSchedule:
    """A function from the number of the step to a learning rate; subclasses define __call__."""

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step."""
        raise NotImplementedError(
            f"the schedule {type(self).__name__} does not define __call__(self, step)"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this schedule."""
        raise NotImplementedError(
            f"the schedule {type(self).__name__} does not define get_config(self)"
        )

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return a schedule from its arguments."""
        return cls(**config)


class _OfFormula(LearningRateSchedule):
    """A schedule that is a formula of its arguments, which are fields, and of the step."""

    def __post_init__(self) -> None:
        for name in ("decay_steps", "first_decay_steps"):
            given = getattr(self, name, 1)
            if given <= 0:
                raise ValueError(f"{type(self).__name__}: {name}={given}; expected more than 0")

    def get_config(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __call__(self, step: Any) -> Any:
        start = np.asarray(convert(self._start()).numpy())
        steps = np.asarray(convert(step).numpy()).astype(start.dtype)
        return outward(ns.asarray(np.asarray(self._at(steps), start.dtype)))

    def _start(self) -> Any:
        return self.initial_learning_rate  # type: ignore[attr-defined]

    def _at(self, step: Any) -> Any:
        raise NotImplementedError


@keras("optimizers.schedules", "ExponentialDecay")
@dataclass(eq=False, repr=False)
class ExponentialDecay(_OfFormula):
    """initial * decay_rate ** (step / decay_steps)."""

    initial_learning_rate: Any
    decay_steps: Any
    decay_rate: Any
    staircase: bool = False
    name: str = "ExponentialDecay"

    def _at(self, step: Any) -> Any:
        given = float(self.decay_rate), self.decay_steps, self.staircase
        return self.initial_learning_rate * rates.exponential(np, step, *given)


@keras("optimizers.schedules", "InverseTimeDecay")
@dataclass(eq=False, repr=False)
class InverseTimeDecay(_OfFormula):
    """initial / (1 + decay_rate * step / decay_steps)."""

    initial_learning_rate: Any
    decay_steps: Any
    decay_rate: Any
    staircase: bool = False
    name: str = "InverseTimeDecay"

    def _at(self, step: Any) -> Any:
        given = self.initial_learning_rate, self.decay_rate, self.decay_steps, self.staircase
        return rates.inverse_time(np, step, *given)


@keras("optimizers.schedules", "PolynomialDecay")
@dataclass(eq=False, repr=False)
class PolynomialDecay(_OfFormula):
    """From initial to end, in decay_steps; the rest shrinks as a power."""

    initial_learning_rate: Any
    decay_steps: Any
    end_learning_rate: Any = 0.0001
    power: float = 1.0
    cycle: bool = False
    name: str = "PolynomialDecay"

    def _at(self, step: Any) -> Any:
        steps = self.decay_steps
        if self.cycle:
            steps = steps * np.maximum(np.ceil(step / steps), 1)
        ends = self.initial_learning_rate, self.end_learning_rate
        return rates.polynomial(rates.share(np, step, steps), *ends, self.power)


@keras("optimizers.schedules", "CosineDecay")
@dataclass(eq=False, repr=False)
class CosineDecay(_OfFormula):
    """Half a cosine from initial to alpha * initial, perhaps after a line up to warmup_target."""

    initial_learning_rate: Any
    decay_steps: Any
    alpha: float = 0.0
    name: str = "CosineDecay"
    warmup_target: Any = None
    warmup_steps: Any = 0

    def _at(self, step: Any) -> Any:
        start = self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return rates.line(step / self.warmup_steps, start, self.warmup_target)
            start, step = self.warmup_target, step - self.warmup_steps
        return start * rates.cosine(np, rates.share(np, step, self.decay_steps), 1, self.alpha)


@keras("optimizers.schedules", "CosineDecayRestarts")
@dataclass(eq=False, repr=False)
class CosineDecayRestarts(_OfFormula):
    """Half cosines one after another, each t_mul times as long and m_mul times as high."""

    initial_learning_rate: Any
    first_decay_steps: Any
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str = "SGDRDecay"

    def _at(self, step: Any) -> Any:
        number, done = rates.restarts(np, step, self.first_decay_steps, self.t_mul)
        high = (1 - self.alpha) * self.m_mul**number
        return self.initial_learning_rate * (rates.cosine(np, done, high, 0) + self.alpha)


@keras("optimizers.schedules", "PiecewiseConstantDecay")
@dataclass(eq=False, repr=False)
class PiecewiseConstantDecay(_OfFormula):
    """values[0] up to and with step boundaries[0], then values[1], and so forth."""

    boundaries: Any
    values: Any
    name: str = "PiecewiseConstant"

    def __post_init__(self) -> None:
        if len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                f"{len(self.boundaries)} boundaries and {len(self.values)} values; expected one "
                "value more than boundaries"
            )

    def _start(self) -> Any:
        return self.values[0]

    def _at(self, step: Any) -> Any:
        passed = sum(int(step > float(b)) for b in self.boundaries)
        return np.asarray(convert(self.values[passed]).numpy())


Rate = float | Callable[[], Any] | LearningRateSchedule
