"""torch.optim.lr_scheduler: how rates change from step to step.

Most schedules say by which factor a rate changes now, so that several can act on one optimiser, and
what it is after a number of steps, for `step(epoch)`. What they keep, and its names, is PyTorch's,
since that is what `state_dict` gives.
"""

from __future__ import annotations

import math
import types
import warnings
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.optim.optimizer import Optimizer
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made

_EPOCH = "step(epoch) sets the schedule to an epoch and is old; write `scheduler.step()`"


def _copied(value: Any) -> Any:
    return made(value._raw.copy()) if isinstance(value, Tensor) else value


def _rates(optimizer: Optimizer, name: str = "lr") -> list[Any]:
    """Return an option of all groups."""
    return [_copied(group[name]) for group in optimizer.param_groups]


def _set_rate(group: dict[str, Any], value: Any) -> None:
    """Give a group a rate; one that is a tensor keeps its memory."""
    if isinstance(group["lr"], Tensor):
        with no_grad():
            group["lr"].fill_(value)
    else:
        group["lr"] = value


def _for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [_copied(value)] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} has {len(value)} values, and the optimizer has {groups} groups; give one "
            "for each group"
        )
    return [_copied(v) for v in value]


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"a schedule was given a {type(optimizer).__name__}; give an optimizer")


def _watch(optimizer: Optimizer) -> None:
    """Have an optimiser remember that `step` was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    reference, step = weakref.ref(optimizer), type(optimizer).step
    own = optimizer.__dict__.get("step")

    @wraps(step)
    def call(*args: Any, **kwargs: Any) -> Any:
        me: Any = reference()
        me._opt_called = True
        return step(me, *args, **kwargs) if own is None else own(*args, **kwargs)

    call._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = call  # type: ignore[method-assign]


class LRScheduler:
    """What schedules share: the number of steps so far, and giving groups their rates."""

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    _step_count: int
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for position, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"last_epoch continues a schedule, and param_groups[{position}] has no "
                    "'initial_lr' yet; load the state of the optimizer first"
                )
        self.base_lrs = _rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Give groups their first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return all that is kept, but for the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the rates that groups were given last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the rates for now; a subclass says which."""
        raise NotImplementedError(f"{type(self).__name__} has no method get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Give groups the rates of the next step, or of one that is named."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn if the optimiser has made no step before the first of the schedule."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "`optimizer.step` was replaced after the schedule was made, so calls of it are "
                "not seen; make the schedule after that",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "the schedule took a step before the optimizer did, so the first learning rate "
                "is never used; call `optimizer.step()` and then `lr_scheduler.step()`",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with _within_step(self):
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            values = self.get_lr() if closed is None else closed()
        self._give(values)

    def _give(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            _set_rate(group, value)
        self._last_lr = _rates(self.optimizer)

    def _times(self, factor: float) -> list[Any]:
        """Return the rates of all groups, times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "get_lr() computes the next learning rate, and belongs to step(); write "
                "get_last_lr() for the one in use",
                UserWarning,
                stacklevel=3,
            )


@contextmanager
def _within_step(schedule: LRScheduler) -> Iterator[None]:
    schedule._get_lr_called_within_step = True
    try:
        yield
    finally:
        schedule._get_lr_called_within_step = False


# -- functions of the program ----------------------------------------------------------------------


class LambdaLR(LRScheduler):
    """The first rate, times a function of the number of steps."""

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

    def state_dict(self) -> dict[str, Any]:
        """Return all that is kept; of functions, only the attributes of callable objects."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        state["lr_lambdas"] = [_attributes(function) for function in functions]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule."""
        attributes = state_dict["lr_lambdas"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, given in zip(self.lr_lambdas, attributes, strict=False):
            if given is not None:
                function.__dict__.update(given)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        return [
            rate * function(self.last_epoch)
            for function, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


def _attributes(function: Any) -> dict[str, Any] | None:
    """Return what a callable object knows; None for a function, which cannot be saved."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


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
            return _rates(self.optimizer)
        return [
            group["lr"] * function(self.last_epoch)
            for function, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        ]


# -- factors ---------------------------------------------------------------------------------------


class _ByFactor(LRScheduler):
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
        return _rates(self.optimizer) if factor is None else self._times(factor)

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._factor_so_far()
        return [rate * factor for rate in self.base_lrs]


class StepLR(_ByFactor):
    """The rate, times `gamma` after each `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        at_end = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if at_end else None

    def _factor_so_far(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_ByFactor):
    """The rate, times `gamma` after some numbers of steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        times = self.milestones.get(self.last_epoch)
        return None if times is None else self.gamma**times

    def _factor_so_far(self) -> float:
        return float(
            self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        )


class ConstantLR(_ByFactor):
    """The rate, times `factor` for the first `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(f"factor is {factor}; give a number from 0 to 1")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _factor_so_far(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_ByFactor):
    """The rate, times a factor that changes linearly for `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(f"start_factor is {start_factor}; give a number above 0 and at most 1")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(f"end_factor is {end_factor}; give a number from 0 to 1")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        change = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        return 1.0 + change / before

    def _factor_so_far(self) -> float:
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share


class ExponentialLR(_ByFactor):
    """The rate, times `gamma` after each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _factor_so_far(self) -> float:
        return float(self.gamma**self.last_epoch)


class PolynomialLR(_ByFactor):
    """The rate, times a power of the share of `total_iters` steps that is left."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return float((left / before) ** self.power)

    def _factor_so_far(self) -> float:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return float(left**self.power)


# -- waves -----------------------------------------------------------------------------------------


def _half_wave(share: float) -> float:
    """Return what is left of a height after a share of half a cosine."""
    return (1 + math.cos(math.pi * share)) / 2


class CosineAnnealingLR(LRScheduler):
    """The rate on a cosine from the first one to `eta_min`, in `T_max` steps."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        now, least, groups = self.last_epoch, self.eta_min, self.optimizer.param_groups
        if self._is_initial:
            return _rates(self.optimizer)
        if self._step_count == 1 and now > 0:
            return self._get_closed_form_lr()
        if (now - 1 - self.T_max) % (2 * self.T_max) == 0:  # at its least there is no ratio
            rise = 1 - _half_wave(1 / self.T_max)
            return [
                group["lr"] + (rate - least) * rise
                for rate, group in zip(self.base_lrs, groups, strict=True)
            ]
        ratio = _half_wave(now / self.T_max) / _half_wave((now - 1) / self.T_max)
        return [ratio * (group["lr"] - least) + least for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        left = _half_wave(self.last_epoch / self.T_max)
        return [self.eta_min + (rate - self.eta_min) * left for rate in self.base_lrs]


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
        left = _half_wave(self.T_cur / self.T_i)
        return [self.eta_min + (rate - self.eta_min) * left for rate in self.base_lrs]

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
        with _within_step(self):
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
    bases = _for_groups("base_momentum", optimizer, base)
    most = _for_groups("max_momentum", optimizer, largest)
    if first:
        for group, high, low in zip(optimizer.param_groups, most, bases, strict=True):
            _set_momentum(schedule, group, high)
            group["max_momentum"], group["base_momentum"] = high, low
    return bases, most


class CyclicLR(LRScheduler):
    """The rate going up and down between two values."""

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
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _set_rate(group, rate)
        self.max_lrs = _for_groups("max_lr", optimizer, max_lr)
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
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        rising = x <= self.step_ratio
        height = x / self.step_ratio if rising else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                _set_momentum(self, group, high - (high - low) * height * scale)
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return all that is kept; of a function, only the attributes of a callable object."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if function is None else _attributes(function)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule."""
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


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
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"pct_start is {pct_start}; give a float from 0 to 1")
        _check_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        most = _for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for high, group in zip(most, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _begin_momentum(self, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, share: float) -> Any:
        """Return what is between two values."""
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) * _half_wave(share)

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
        share = (now - begin) / (phase["end_step"] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(self, group, self._between(*ends, share))
        return rates


def _check_strategy(anneal_strategy: str) -> None:
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

    def phase(end: float, rates: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
        return {
            "end_step": end,
            "start_lr": f"{rates[0]}_lr",
            "end_lr": f"{rates[1]}_lr",
            "start_momentum": f"{momenta[0]}_momentum",
            "end_momentum": f"{momenta[1]}_momentum",
        }

    up = phase(float(share * total) - 1, ("initial", "max"), ("max", "base"))
    if not three:
        return [up, phase(total - 1, ("max", "min"), ("base", "max"))]
    down = phase(float(2 * share * total) - 2, ("max", "initial"), ("base", "max"))
    return [up, down, phase(total - 1, ("initial", "min"), ("max", "max"))]


# -- several schedules -----------------------------------------------------------------------------


class _Several(LRScheduler):
    """A schedule made of others."""

    _schedulers: Sequence[Any]

    def _check_parts(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        name = type(self).__name__
        for position, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(
                    f"{name}: the schedule at index {position} has no optimizer; give schedules "
                    "only"
                )
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{name}: ReduceLROnPlateau at index {position} needs a metric in each step; "
                    "call it by itself"
                )
            if optimizer is not part.optimizer:
                raise ValueError(
                    f"{name}: the schedule at index {position} is for another optimizer; give "
                    "schedules of one"
                )

    def state_dict(self) -> dict[str, Any]:
        """Return all that is kept, with the states of the parts."""
        state = super().state_dict()
        parts = state.pop("_schedulers")
        state["_schedulers"] = [part.state_dict() for part in parts]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule with as many parts."""
        parts = state_dict["_schedulers"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for part, state in zip(self._schedulers, parts, strict=False):
            part.load_state_dict(state)


class SequentialLR(_Several):
    """One schedule after another, each from a number of steps on."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR: got no schedules; give one at least")
        self._check_parts(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: {len(schedulers)} schedules and {len(milestones)} milestones; "
                "give one milestone less than schedules"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # the parts have made their first steps already
            _set_rate(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back a step of all parts."""
        whole = self if sched is None else sched
        if hasattr(whole, "_schedulers"):
            for part in whole._schedulers:
                self.recursive_undo(part)
        elif hasattr(whole, "last_epoch"):
            whole.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Give groups the rates of the next step."""
        self.last_epoch += 1
        position = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[position]
        if position > 0 and self._milestones[position - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Several):
    """Several schedules, all of which act at each step."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler: got no schedules; give one at least")
        if optimizer is None:
            optimizer = schedulers[0].optimizer
        self._check_parts(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = _rates(optimizer)

    def step(self) -> None:  # type: ignore[override]
        """Give groups the rates of the next step."""
        for part in self._schedulers:
            part.step()
        self._last_lr = _rates(self.optimizer)


class ReduceLROnPlateau(LRScheduler):
    """The rate, times `factor` when a metric has not become better for some steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"factor is {factor}; give a number below 1")
        self.factor = factor
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        several, groups = isinstance(min_lr, (list, tuple)), len(optimizer.param_groups)
        if several and len(min_lr) != groups:
            raise ValueError(
                f"min_lr has {len(min_lr)} numbers for {groups} groups; give one for each group"
            )
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = _rates(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode is {mode}; write 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode is {threshold_mode}; write 'rel' or 'abs'")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """See a metric, and make rates smaller if it has not become better for long enough."""
        now = float(metrics)
        if epoch is not None:
            warnings.warn(_EPOCH, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(now, self.best):
            self.best = now
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = _rates(self.optimizer)

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"the optimizer has {len(groups)} groups now, and had {len(self.min_lrs)} "
                    "when ReduceLROnPlateau was made; set min_lrs"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, least)
            if before - after > self.eps:
                _set_rate(group, after)

    @property
    def in_cooldown(self) -> bool:
        """Whether rates were made smaller lately."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        relative = self.threshold_mode == "rel"
        if self.mode == "min":
            return a < (best * (1.0 - self.threshold) if relative else best - self.threshold)
        return a > (best * (self.threshold + 1.0) if relative else best + self.threshold)


for _kind in (
    LRScheduler, LambdaLR, MultiplicativeLR, StepLR, MultiStepLR, ConstantLR, LinearLR,
    ExponentialLR, PolynomialLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR,
    OneCycleLR, SequentialLR, ChainedScheduler, ReduceLROnPlateau,
):  # fmt: skip
    put((f"optim.lr_scheduler.{_kind.__name__}",), _kind)
put(("optim.lr_scheduler._LRScheduler",), LRScheduler)
