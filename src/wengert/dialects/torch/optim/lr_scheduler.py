"""torch.optim.lr_scheduler: how rates change from step to step.

Most schedules say by which factor a rate changes now, so that several can act on one optimiser, and
what it is after a number of steps, for `step(epoch)`. What they keep, and its names, is PyTorch's,
since that is what `state_dict` gives.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wengert.dialects.torch.optim.optimizer import Optimizer
from wengert.dialects.torch.optim.scheduler import (
    LRScheduler,
    check_optimizer,
    for_groups,
    rates_of,
    set_rate,
    within_step,
)
from wengert.dialects.torch.table import put
from wengert.optim import rates
from wengert.optim.rates import NUMBERS

# -- functions of the program ----------------------------------------------------------------------


class LambdaLR(LRScheduler):
    """The first rate, times a function of the number of steps."""

    _packed = "lr_lambdas"

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(
                f"got {len(lr_lambda)} functions for {groups} groups; give one for each group"
            )
        else:
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        return [
            rate * function(self.last_epoch)
            for function, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(LambdaLR):
    """The rate, times a function of the number of steps at each of them."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        for function in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda is a {type(function).__name__}; give a function of the epoch"
                )
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        if self._is_initial:
            return rates_of(self.optimizer)
        return [
            group["lr"] * function(self.last_epoch)
            for function, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        ]


# -- factors ---------------------------------------------------------------------------------------


class _OfFields(LRScheduler):
    """A schedule whose arguments are its fields: first the optimiser, last the step to begin at."""

    def __post_init__(self) -> None:
        self._check()
        super().__init__(self.optimizer, self.__dict__.pop("last_epoch"))

    def _check(self) -> None:
        """Raise if an argument is not what it should be."""


class _ByFactor(_OfFields):
    """A schedule that is a factor for all groups, at each step and since the first."""

    def _factor(self) -> float | None:
        """Return by what rates are multiplied now; None for nothing."""
        raise NotImplementedError

    def _factor_so_far(self) -> float:
        """Return by what the first rates are multiplied after all steps so far."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        factor = self._factor()
        return rates_of(self.optimizer) if factor is None else self._times(factor)

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._factor_so_far()
        return [rate * factor for rate in self.base_lrs]


@dataclass(eq=False, repr=False)
class StepLR(_ByFactor):
    """The rate, times `gamma` after each `step_size` steps."""

    optimizer: Optimizer
    step_size: int
    gamma: float = 0.1
    last_epoch: int = -1

    def _factor(self) -> float | None:
        at_end = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if at_end else None

    def _factor_so_far(self) -> float:
        return rates.exponential(NUMBERS, self.last_epoch, self.gamma, self.step_size, True)


@dataclass(eq=False, repr=False)
class MultiStepLR(_ByFactor):
    """The rate, times `gamma` after some numbers of steps."""

    optimizer: Optimizer
    milestones: Any  # numbers of steps; from then on, how often each of them was given
    gamma: float = 0.1
    last_epoch: int = -1

    def _check(self) -> None:
        self.milestones = Counter(self.milestones)

    def _factor(self) -> float | None:
        times = self.milestones.get(self.last_epoch)
        return None if times is None else self.gamma**times

    def _factor_so_far(self) -> float:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return float(self.gamma**passed)


@dataclass(eq=False, repr=False)
class ConstantLR(_ByFactor):
    """The rate, times `factor` for the first `total_iters` steps."""

    optimizer: Optimizer
    factor: float = 1.0 / 3
    total_iters: int = 5
    last_epoch: int = -1

    def _check(self) -> None:
        if self.factor > 1.0 or self.factor < 0:
            raise ValueError(f"factor is {self.factor}; give a number from 0 to 1")

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _factor_so_far(self) -> float:
        return self.factor if self.last_epoch < self.total_iters else 1.0


@dataclass(eq=False, repr=False)
class LinearLR(_ByFactor):
    """The rate, times a factor that changes linearly for `total_iters` steps."""

    optimizer: Optimizer
    start_factor: float = 1.0 / 3
    end_factor: float = 1.0
    total_iters: int = 5
    last_epoch: int = -1

    def _check(self) -> None:
        if self.start_factor > 1.0 or self.start_factor <= 0:
            raise ValueError(
                f"start_factor is {self.start_factor}; give a number above 0 and at most 1"
            )
        if self.end_factor > 1.0 or self.end_factor < 0:
            raise ValueError(f"end_factor is {self.end_factor}; give a number from 0 to 1")

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        change = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        return 1.0 + change / before

    def _factor_so_far(self) -> float:
        done = rates.share(NUMBERS, self.last_epoch, self.total_iters)
        return rates.line(done, self.start_factor, self.end_factor)


@dataclass(eq=False, repr=False)
class ExponentialLR(_ByFactor):
    """The rate, times `gamma` after each step."""

    optimizer: Optimizer
    gamma: float
    last_epoch: int = -1

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _factor_so_far(self) -> float:
        return float(self.gamma**self.last_epoch)


@dataclass(eq=False, repr=False)
class PolynomialLR(_ByFactor):
    """The rate, times a power of the share of `total_iters` steps that is left."""

    optimizer: Optimizer
    total_iters: int = 5
    power: float = 1.0
    last_epoch: int = -1

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return float((left / before) ** self.power)

    def _factor_so_far(self) -> float:
        done = rates.share(NUMBERS, self.last_epoch, self.total_iters)
        return float(rates.polynomial(done, 1.0, 0.0, self.power))


# -- waves -----------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class CosineAnnealingLR(_OfFields):
    """The rate on a cosine from the first one to `eta_min`, in `T_max` steps."""

    optimizer: Optimizer
    T_max: int
    eta_min: float = 0.0
    last_epoch: int = -1

    def _left(self, step: int) -> float:
        return rates.half_wave(NUMBERS, step / self.T_max)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        now, least, groups = self.last_epoch, self.eta_min, self.optimizer.param_groups
        if self._is_initial:
            return rates_of(self.optimizer)
        if self._step_count == 1 and now > 0:
            return self._get_closed_form_lr()
        if (now - 1 - self.T_max) % (2 * self.T_max) == 0:  # at its least there is no ratio
            rise = 1 - self._left(1)
            return [
                group["lr"] + (rate - least) * rise
                for rate, group in zip(self.base_lrs, groups, strict=True)
            ]
        ratio = self._left(now) / self._left(now - 1)
        return [ratio * (group["lr"] - least) + least for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        done = self.last_epoch / self.T_max
        return [rates.cosine(NUMBERS, done, rate, self.eta_min) for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate on a cosine that begins anew after `T_0` steps, and ever longer ones."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"T_0 is {T_0}; give a whole number of 1 or more")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"T_mult is {T_mult}; give a whole number of 1 or more")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"eta_min is {eta_min}, of type {type(eta_min).__name__}; give a number"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        done = self.T_cur / self.T_i
        return [rates.cosine(NUMBERS, done, rate, self.eta_min) for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Give groups the rates of the next step, or of one that is named, with fractions."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with within_step(self):
            values = self.get_lr()
        self._give(values)

    def _go_to(self, epoch: float) -> None:
        """Find which cosine a step is on, and how far along it."""
        if epoch < 0:
            raise ValueError(f"epoch is {epoch}; give 0 or more")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            ratio = self.T_mult - 1
            done = int(math.log(epoch / self.T_0 * ratio + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**done - 1) / ratio
            self.T_i = self.T_0 * self.T_mult**done


def _set_momentum(schedule: Any, group: dict[str, Any], value: Any) -> None:
    if schedule.use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _begin_momentum(schedule: Any, base: Any, largest: Any, first: bool) -> tuple[Any, Any]:
    """Return momenta for all groups, having given them the largest at the first step."""
    optimizer = schedule.optimizer
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("this optimizer has no momentum to cycle; write cycle_momentum=False")
    schedule.use_beta1 = "betas" in optimizer.defaults
    bases = for_groups("base_momentum", optimizer, base)
    most = for_groups("max_momentum", optimizer, largest)
    if first:
        for group, high, low in zip(optimizer.param_groups, most, bases, strict=True):
            _set_momentum(schedule, group, high)
            group["max_momentum"], group["base_momentum"] = high, low
    return bases, most


class CyclicLR(LRScheduler):
    """The rate going up and down between two values."""

    _packed = "_scale_fn_custom"

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_rate(group, rate)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                f"mode is {mode!r}; give 'triangular', 'triangular2' or 'exp_range', or a "
                "function as scale_fn"
            )
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = _begin_momentum(
                self, base_momentum, max_momentum, last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return how high a cycle is, by its number or that of the step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """Return the rates for now, having given groups their momenta."""
        self._warn_outside()
        now = self.last_epoch
        cycle, height = rates.triangle(NUMBERS, now, self.total_size, self.step_ratio)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else now)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                _set_momentum(self, group, high - (high - low) * height)
        ends = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in ends]


class OneCycleLR(LRScheduler):
    """The rate going up to a value once and then down to nearly nothing."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"pct_start is {pct_start}; give a float from 0 to 1")
        check_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        most = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for high, group in zip(most, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _begin_momentum(self, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates for now, having given groups their momenta."""
        self._warn_outside()
        now, begin = self.last_epoch, 0.0
        if now > self.total_steps:
            raise ValueError(
                f"step {now} of a schedule of {self.total_steps} steps; give a larger total_steps"
            )
        for phase in self._schedule_phases[:-1]:
            if now <= phase["end_step"]:
                break
            begin = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        done = (now - begin) / (phase["end_step"] - begin)
        if self._anneal_func_type == "cos":
            done = 1 - rates.half_wave(NUMBERS, done)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(self, group, rates.line(done, *ends))
        return [
            rates.line(done, group[phase["start_lr"]], group[phase["end_lr"]])
            for group in self.optimizer.param_groups
        ]


def check_strategy(anneal_strategy: str) -> None:
    """Raise if there is no such way from one rate to another."""
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy is {anneal_strategy}; give 'cos' or 'linear'")


def _total_steps(total: int | None, epochs: int | None, each: int | None) -> int:
    """Return the number of steps of a cycle, which is given as such or as a product."""
    if total is not None:
        given = {"total_steps": total}
    elif epochs is not None and each is not None:
        given = {"epochs": epochs, "steps_per_epoch": each}
    else:
        raise ValueError(
            "the length of the schedule is unknown; give total_steps, or epochs and steps_per_epoch"
        )
    for name, value in given.items():
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"{name} is {value}; give a whole number of 1 or more")
    return math.prod(given.values())


def _phases(share: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Return the phases of a cycle, and between which of a group's values each one goes."""

    def phase(end: float, ends: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
        return {
            "end_step": end,
            "start_lr": f"{ends[0]}_lr",
            "end_lr": f"{ends[1]}_lr",
            "start_momentum": f"{momenta[0]}_momentum",
            "end_momentum": f"{momenta[1]}_momentum",
        }

    up = phase(float(share * total) - 1, ("initial", "max"), ("max", "base"))
    if not three:
        return [up, phase(total - 1, ("max", "min"), ("base", "max"))]
    down = phase(float(2 * share * total) - 2, ("max", "initial"), ("base", "max"))
    return [up, down, phase(total - 1, ("initial", "min"), ("max", "max"))]


for _kind in (
    LRScheduler, LambdaLR, MultiplicativeLR, StepLR, MultiStepLR, ConstantLR, LinearLR,
    ExponentialLR, PolynomialLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR,
    OneCycleLR,
):  # fmt: skip
    put((f"optim.lr_scheduler.{_kind.__name__}",), _kind)
put(("optim.lr_scheduler._LRScheduler",), LRScheduler)
