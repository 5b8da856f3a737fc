"""Learning rates that change with the number of the step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.keras.names import keras
from wengert.dialects.tensorflow.tensors import convert, outward
from wengert.engine.tensor import Tensor as Native

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


class _Formula(LearningRateSchedule):
    """A schedule that is a formula of its arguments and of the step."""

    def __init__(self, **given: Any) -> None:
        self._given = given
        self.__dict__.update(given)
        for name in ("decay_steps", "first_decay_steps"):
            if name in given and given[name] <= 0:
                raise ValueError(
                    f"{type(self).__name__}: {name}={given[name]}; expected more than 0"
                )

    def get_config(self) -> dict[str, Any]:
        return dict(self._given)

    def __call__(self, step: Any) -> Any:
        start = np.asarray(convert(self._start()).numpy())
        steps = np.asarray(convert(step).numpy()).astype(start.dtype)
        return outward(ns.asarray(np.asarray(self._at(steps), start.dtype)))

    def _start(self) -> Any:
        return self.initial_learning_rate  # type: ignore[attr-defined]

    def _at(self, step: Any) -> Any:
        raise NotImplementedError


@keras("optimizers.schedules", "ExponentialDecay")
class ExponentialDecay(_Formula):
    """initial * decay_rate ** (step / decay_steps)."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any,
        staircase: bool = False, name: str = "ExponentialDecay",
    ) -> None:  # fmt: skip
        super().__init__(
            initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
            decay_rate=decay_rate, staircase=staircase, name=name,
        )  # fmt: skip

    def _at(self, step: Any) -> Any:
        c = self._given
        part = step / c["decay_steps"]
        part = np.floor(part) if c["staircase"] else part
        return c["initial_learning_rate"] * np.power(float(c["decay_rate"]), part)


@keras("optimizers.schedules", "InverseTimeDecay")
class InverseTimeDecay(_Formula):
    """initial / (1 + decay_rate * step / decay_steps)."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any,
        staircase: bool = False, name: str = "InverseTimeDecay",
    ) -> None:  # fmt: skip
        super().__init__(
            initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
            decay_rate=decay_rate, staircase=staircase, name=name,
        )  # fmt: skip

    def _at(self, step: Any) -> Any:
        c = self._given
        part = step / c["decay_steps"]
        part = np.floor(part) if c["staircase"] else part
        return c["initial_learning_rate"] / (1 + c["decay_rate"] * part)


@keras("optimizers.schedules", "PolynomialDecay")
class PolynomialDecay(_Formula):
    """From initial to end, in decay_steps; the rest shrinks as a power."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
        power: float = 1.0, cycle: bool = False, name: str = "PolynomialDecay",
    ) -> None:  # fmt: skip
        super().__init__(
            initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
            end_learning_rate=end_learning_rate, power=power, cycle=cycle, name=name,
        )  # fmt: skip

    def _at(self, step: Any) -> Any:
        c = self._given
        steps, start, end = c["decay_steps"], c["initial_learning_rate"], c["end_learning_rate"]
        if c["cycle"]:
            steps = steps * np.maximum(np.ceil(step / steps), 1)
        part = np.minimum(step, steps) / steps
        return (start - end) * (1 - part) ** c["power"] + end


@keras("optimizers.schedules", "CosineDecay")
class CosineDecay(_Formula):
    """Half a cosine from initial to alpha * initial, perhaps after a line up to warmup_target."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, alpha: float = 0.0,
        name: str = "CosineDecay", warmup_target: Any = None, warmup_steps: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, alpha=alpha,
            name=name, warmup_target=warmup_target, warmup_steps=warmup_steps,
        )  # fmt: skip

    def _at(self, step: Any) -> Any:
        c = self._given
        start, first = c["initial_learning_rate"], 0
        if c["warmup_target"] is not None:
            first = c["warmup_steps"]
            if step < first:
                return (c["warmup_target"] - start) * step / first + start
            start = c["warmup_target"]
        part = np.minimum(step - first, c["decay_steps"]) / c["decay_steps"]
        return start * ((1 - c["alpha"]) * 0.5 * (1 + np.cos(np.pi * part)) + c["alpha"])


@keras("optimizers.schedules", "CosineDecayRestarts")
class CosineDecayRestarts(_Formula):
    """Half cosines one after another, each t_mul times as long and m_mul times as high."""

    def __init__(
        self, initial_learning_rate: Any, first_decay_steps: Any, t_mul: float = 2.0,
        m_mul: float = 1.0, alpha: float = 0.0, name: str = "SGDRDecay",
    ) -> None:  # fmt: skip
        super().__init__(
            initial_learning_rate=initial_learning_rate, first_decay_steps=first_decay_steps,
            t_mul=t_mul, m_mul=m_mul, alpha=alpha, name=name,
        )  # fmt: skip

    def _at(self, step: Any) -> Any:
        c = self._given
        done, t_mul = step / c["first_decay_steps"], c["t_mul"]
        if t_mul == 1:
            restarts = np.floor(done)
            done = done - restarts
        else:
            restarts = np.floor(np.log(1 - done * (1 - t_mul)) / math.log(t_mul))
            done = (done - (1 - t_mul**restarts) / (1 - t_mul)) / t_mul**restarts
        high = c["m_mul"] ** restarts
        part = (1 - c["alpha"]) * 0.5 * high * (1 + np.cos(np.pi * done)) + c["alpha"]
        return c["initial_learning_rate"] * part


@keras("optimizers.schedules", "PiecewiseConstantDecay")
class PiecewiseConstantDecay(_Formula):
    """values[0] up to and with step boundaries[0], then values[1], and so forth."""

    def __init__(self, boundaries: Any, values: Any, name: str = "PiecewiseConstant") -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                f"{len(boundaries)} boundaries and {len(values)} values; expected one value more "
                "than boundaries"
            )
        super().__init__(boundaries=boundaries, values=values, name=name)

    def _start(self) -> Any:
        return self._given["values"][0]

    def _at(self, step: Any) -> Any:
        passed = sum(int(step > float(b)) for b in self._given["boundaries"])
        return np.asarray(convert(self._given["values"][passed]).numpy())


Rate = float | Callable[[], Any] | LearningRateSchedule
