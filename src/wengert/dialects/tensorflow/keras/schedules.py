"""Learning rates that change with the number of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from wengert.dialects.tensorflow.keras.options import (
    REQUIRED,
    Configured,
    configured,
    keras,
    options_of,
)
from wengert.dialects.tensorflow.tensors import convert, made
from wengert.optim import rates


@keras("optimizers.schedules", "LearningRateSchedule")
class LearningRateSchedule(Configured):
    """A function from the number of the step to a learning rate; subclasses define __call__."""

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(self, step)")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this schedule."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_config(self)")


class _OfFormula(LearningRateSchedule):
    """A schedule that is a formula of the step and of its options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        Configured.__init__(self, *args, **options)
        for name, given in self._config.items():
            if name in ("decay_steps", "first_decay_steps") and given <= 0:
                raise ValueError(f"{type(self).__name__}: {name}={given}; expected more than 0")

    get_config = Configured.get_config

    def __call__(self, step: Any) -> Any:
        options = {key: value for key, value in self._config.items() if key != "name"}
        first = next(iter(options.values()))
        kind = convert(first).dtype
        steps = np.asarray(convert(step).numpy()).astype(kind)
        return made(np.asarray(type(self)._function(steps, **options), kind))


def _schedule(name: str, label: str = "", after: int = 9) -> Callable[[Any], Any]:
    """Return a decorator that offers a class for a formula of a step and of options.

    Its option `name` is `label` unless given, and comes after so many of the others.
    """

    def declare(formula: Callable[..., Any]) -> Any:
        options = list(options_of(formula, 1).items())
        options.insert(after, ("name", label or name))
        return configured("optimizers.schedules", name, _OfFormula, dict(options), formula)

    return declare


@_schedule("ExponentialDecay")
def _exponential(
    step: Any, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: Any = False
) -> Any:
    """Return initial * decay_rate ** (step / decay_steps)."""
    factor = rates.exponential(np, step, float(decay_rate), decay_steps, staircase)
    return initial_learning_rate * factor


@_schedule("InverseTimeDecay")
def _inverse_time(
    step: Any, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: Any = False
) -> Any:
    """Return initial / (1 + decay_rate * step / decay_steps)."""
    return rates.inverse_time(np, step, initial_learning_rate, decay_rate, decay_steps, staircase)


@_schedule("PolynomialDecay")
def _polynomial(
    step: Any, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
    power: float = 1.0, cycle: bool = False,
) -> Any:  # fmt: skip
    """Return rates from initial to end, in decay_steps; the rest shrinks as a power."""
    if cycle:
        decay_steps = decay_steps * np.maximum(np.ceil(step / decay_steps), 1)
    done = rates.share(np, step, decay_steps)
    return rates.polynomial(done, initial_learning_rate, end_learning_rate, power)


@_schedule("CosineDecay", after=3)
def _cosine(
    step: Any, initial_learning_rate: Any, decay_steps: Any, alpha: float = 0.0,
    warmup_target: Any = None, warmup_steps: Any = 0,
) -> Any:  # fmt: skip
    """Return half a cosine to alpha * initial, perhaps after a line up to warmup_target."""
    start = initial_learning_rate
    if warmup_target is not None:
        if step < warmup_steps:
            return rates.line(step / warmup_steps, start, warmup_target)
        start, step = warmup_target, step - warmup_steps
    return start * rates.cosine(np, rates.share(np, step, decay_steps), 1, alpha)


@_schedule("CosineDecayRestarts", "SGDRDecay")
def _restarts(
    step: Any, initial_learning_rate: Any, first_decay_steps: Any, t_mul: float = 2.0,
    m_mul: float = 1.0, alpha: float = 0.0,
) -> Any:  # fmt: skip
    """Return half cosines one after another, each t_mul times as long and m_mul times as high."""
    number, done = rates.restarts(np, step, first_decay_steps, t_mul)
    high = (1 - alpha) * m_mul**number
    return initial_learning_rate * (rates.cosine(np, done, high, 0) + alpha)


@keras("optimizers.schedules", "PiecewiseConstantDecay")
class PiecewiseConstantDecay(_OfFormula):
    """values[0] up to and with step boundaries[0], then values[1], and so forth."""

    _defaults: ClassVar[dict[str, Any]] = {
        "boundaries": REQUIRED, "values": REQUIRED, "name": "PiecewiseConstant"
    }  # fmt: skip

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        counts = len(self._config["boundaries"]), len(self._config["values"])
        if counts[0] != counts[1] - 1:
            raise ValueError(f"{counts[0]} boundaries need one value more, and {counts[1]} came")

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step."""
        values = [convert(value).numpy() for value in self._config["values"]]
        passed = sum(bool(convert(step).numpy() > float(b)) for b in self._config["boundaries"])
        return made(np.asarray(values[passed], values[0].dtype))
