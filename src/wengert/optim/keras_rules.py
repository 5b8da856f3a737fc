"""The steps of Keras's optimisers, which differ from `first_order` in where small numbers stand.

A rule is a record of hyperparameters. It names the arrays that are kept for each parameter, and
says what a step makes of a parameter and of those, on raw NumPy arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


class Gradient:
    """A gradient, or the parts of one that are to be added at some rows of a parameter.

    Keras squares such parts before it adds them up, so a rule must ask for what it needs.
    """

    def __init__(self, values: np.ndarray, rows: np.ndarray | None, shape: tuple[int, ...]) -> None:
        self.values, self.rows, self.shape = values, rows, shape

    def _dense(self, values: np.ndarray) -> np.ndarray:
        if self.rows is None:
            return values
        total = np.zeros(self.shape, values.dtype)
        np.add.at(total, self.rows, values)
        return total

    @property
    def total(self) -> np.ndarray:
        """The gradient."""
        return self._dense(self.values)

    @property
    def square(self) -> np.ndarray:
        """Its square; of parts, the sum of their squares."""
        return self._dense(self.values * self.values)

    @property
    def size(self) -> np.ndarray:
        """Its absolute value; of parts, the sum of theirs."""
        return self._dense(np.abs(self.values))

    def replaced(self, values: np.ndarray) -> Gradient:
        """Return a gradient at the same rows with other values."""
        return Gradient(values, self.rows, self.shape)


class Rule:
    """What optimisers share."""

    def slots(self) -> list[dict[str, float]]:
        """Return the arrays kept for each parameter and what they begin with, in groups."""
        return self._slots()

    def shared(self) -> dict[str, float]:
        """Return the numbers kept for all parameters together, and what they begin with."""
        return self._shared()

    def next_shared(self, step: int, *numbers: float) -> list[float]:
        """Return those numbers at a step, the first of which is 1."""
        return self._next_shared(step, *numbers)

    def step(
        self, rate: float, step: int, shared: list[float], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        """Return the new parameter and slots."""
        return self._step(rate, (step, *shared), p, g, *slots)

    def _slots(self) -> list[dict[str, float]]:
        return []

    def _shared(self) -> dict[str, float]:
        return {}

    def _next_shared(self, step: int, *numbers: float) -> list[float]:
        return list(numbers)

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        raise NotImplementedError


def single(value: float) -> float:
    """Return a number rounded to single precision, which Keras does whatever the dtype."""
    return float(np.float32(value))


def _towards(average: Any, value: Any, kept: float) -> Any:
    """Return a running average after one more value."""
    return average + (value - average) * (1 - kept)


@dataclass(frozen=True)
class SGD(Rule):
    """Steps against the gradient, or against a sum of past steps."""

    momentum: float
    nesterov: bool

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0}] if self.momentum else []

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        if not slots:
            return [p - g.total * rate]
        down, kept = g.total * rate, single(self.momentum)
        momentum = slots[0] * kept - down
        return [p + (momentum * kept - down if self.nesterov else momentum), momentum]


@dataclass(frozen=True)
class Adam(Rule):
    """The gradient's mean over its root mean square, to which `epsilon` is added uncorrected."""

    beta_1: float
    beta_2: float
    epsilon: float
    amsgrad: bool

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "velocity": 0.0}] + [{"velocity_hat": 0.0}] * self.amsgrad

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        step = at[0]
        rate = rate * math.sqrt(1 - single(self.beta_2) ** step) / (1 - single(self.beta_1) ** step)
        mean = _towards(slots[0], g.total, self.beta_1)
        square = _towards(slots[1], g.square, self.beta_2)
        kept = [mean, square]
        if self.amsgrad:
            square = np.maximum(slots[2], square)
            kept.append(square)
        return [p - mean * rate / (np.sqrt(square) + self.epsilon), *kept]


@dataclass(frozen=True)
class RMSprop(Rule):
    """Steps of the gradient over its root mean square, in which `epsilon` is under the root."""

    rho: float
    momentum: float
    epsilon: float
    centered: bool

    def _slots(self) -> list[dict[str, float]]:
        names = ["velocity"] + ["momentum"] * (self.momentum > 0)
        return [{name: 0.0} for name in names + ["average_gradient"] * self.centered]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        spread = square = self.rho * slots[0] + (1 - self.rho) * g.square
        kept = [square]
        means = []
        if self.centered:
            means = [self.rho * slots[-1] + (1 - self.rho) * g.total]
            spread = square - means[0] * means[0]
        down = rate * g.total / np.sqrt(spread + self.epsilon)
        if self.momentum > 0:
            down = self.momentum * slots[1] + down
            kept.append(down)
        return [p - down, *kept, *means]


@dataclass(frozen=True)
class Adagrad(Rule):
    """Steps of the gradient over the root of the sum of all its squares."""

    initial_accumulator_value: float
    epsilon: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"accumulator": self.initial_accumulator_value}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        total = slots[0] + g.square
        return [p - rate * g.total / np.sqrt(total + self.epsilon), total]


@dataclass(frozen=True)
class Adadelta(Rule):
    """Steps of the gradient times the root mean square of steps over that of gradients."""

    rho: float
    epsilon: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"accumulated_grad": 0.0, "accumulated_delta_var": 0.0}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        square = g.square
        grads = self.rho * slots[0] + (1 - self.rho) * square
        ratio = np.sqrt(slots[1] + self.epsilon) / np.sqrt(grads + self.epsilon)
        deltas = self.rho * slots[1] + (1 - self.rho) * (ratio * ratio * square)
        return [p - rate * (ratio * g.total), grads, deltas]


@dataclass(frozen=True)
class Adamax(Rule):
    """The gradient's mean over the largest gradient so far, which decays."""

    beta_1: float
    beta_2: float
    epsilon: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "norm": 0.0}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        step = at[0]
        mean = _towards(slots[0], g.total, self.beta_1)
        largest = np.maximum(self.beta_2 * slots[1], g.size)
        scale = (1 - single(self.beta_1) ** step) * (largest + self.epsilon)
        return [p - rate * mean / scale, mean, largest]


@dataclass(frozen=True)
class Nadam(Rule):
    """Adam with a look ahead along the mean, whose weights grow with the steps."""

    beta_1: float
    beta_2: float
    epsilon: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "velocity": 0.0}]

    def _shared(self) -> dict[str, float]:
        return {"u_product": 1.0}

    def _weight(self, step: int) -> float:
        return single(self.beta_1) * (1 - 0.5 * single(0.96) ** step)

    def _next_shared(self, step: int, *numbers: float) -> list[float]:
        return [numbers[0] * self.beta_1 * (1 - 0.5 * 0.96**step)]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        step, product = at
        now, ahead = self._weight(step), self._weight(step + 1)
        mean = _towards(slots[0], g.total, single(self.beta_1))
        square = _towards(slots[1], g.square, single(self.beta_2))
        direction = ahead * mean / (1 - product * ahead) + (1 - now) * g.total / (1 - product)
        size = np.sqrt(square / (1 - single(self.beta_2) ** step)) + self.epsilon
        return [p - direction * rate / size, mean, square]


@dataclass(frozen=True)
class Ftrl(Rule):
    """Follow the regularised leader: a parameter is a function of sums, 0 where they are small."""

    learning_rate_power: float
    initial_accumulator_value: float
    l1_regularization_strength: float
    l2_regularization_strength: float
    l2_shrinkage_regularization_strength: float
    beta: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"accumulator": self.initial_accumulator_value, "linear": 0.0}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        power, l1 = -self.learning_rate_power, self.l1_regularization_strength
        l2 = self.l2_regularization_strength + self.beta / (2 * rate)
        total = slots[0] + g.square
        shrunk = g.total + 2 * self.l2_shrinkage_regularization_strength * p
        linear = slots[1] + shrunk - (total**power - slots[0] ** power) / rate * p
        quadratic = total**power / rate + 2 * l2
        return [(np.clip(linear, -l1, l1) - linear) / quadratic, total, linear]


@dataclass(frozen=True)
class Lion(Rule):
    """Steps of the learning rate's size along the signs of a mean."""

    beta_1: float
    beta_2: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        total, keep, long = g.total, single(self.beta_1), single(self.beta_2)
        sign = np.sign(slots[0] * keep + total * (1 - keep))
        return [p - rate * sign, slots[0] * long + total * (1 - long)]


@dataclass(frozen=True)
class Lamb(Rule):
    """Adam with steps as long as the parameter is large."""

    beta_1: float
    beta_2: float
    epsilon: float

    def _slots(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "velocity": 0.0}]

    def _step(
        self, rate: float, at: tuple[Any, ...], p: Any, g: Gradient, *slots: Any
    ) -> list[Any]:
        step = at[0]
        mean = _towards(slots[0], g.total, self.beta_1)
        square = _towards(slots[1], g.square, self.beta_2)
        size = np.sqrt(square / (1 - single(self.beta_2) ** step)) + self.epsilon
        change = mean / (1 - single(self.beta_1) ** step) / size
        lengths = [math.sqrt(float(np.sum(x * x))) for x in (p, change)]
        ratio = lengths[0] / lengths[1] if min(lengths) > 0 else 1.0
        return [p - ratio * rate * change, mean, square]
