"""torch.optim.lr_scheduler: how rates change from step to step.

Most schedules say by which factor a rate changes now, so that several can act on one optimiser, and
what it is after a number of steps, for `step(epoch)`. What they keep, and its names, is PyTorch's,
since that is what `state_dict` gives.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.optim import scheduler
from wengert.dialects.torch.optim.optimizer import Optimizer, check, one_of
from wengert.dialects.torch.table import put
from wengert.optim import rates

# -- functions of the program ----------------------------------------------------------------------


class LambdaLR(scheduler.LRScheduler, takes="lr_lambda, last_epoch=-1"):
    """The first rate, times a function of the number of steps."""

    _packed = "lr_lambdas"

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        functions = scheduler.for_groups("lr_lambda", optimizer, options.pop("lr_lambda"))
        super()._init_with(optimizer, {**options, "lr_lambdas": functions})

    def _rates(self) -> list[Any]:
        both = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [rate * function(self.last_epoch) for function, rate in both]


# -- factors ---------------------------------------------------------------------------------------


class _ByFactor(scheduler.LRScheduler):
    """A schedule whose rates are the first ones, times a function of the number of steps.

    At each step rates are multiplied by the ratio of its values, so that several can act on one
    optimiser.
    """

    _factor: ClassVar[Callable[[Any, int], float]]
    #: whether it changes at each step; then a schedule that is continued begins without a change
    _smooth = False

    def __init_subclass__(
        cls, *, factor: Callable[[Any, int], float] | None = None, smooth: bool = False,
        **further: Any,
    ) -> None:  # fmt: skip
        """Take the function of a schedule and a number of steps, and whether it is smooth."""
        super().__init_subclass__(**further)
        if factor is not None:
            cls._factor, cls._smooth = factor, smooth

    def _rates(self) -> list[Any]:
        now = self.last_epoch
        before = self._factor(now - 1) if now else 1.0
        stays = before == 0 or (self._smooth and self._is_initial and now != 0)
        factor = 1.0 if stays else self._factor(now) / before
        if factor == 1:
            return scheduler.rates_of(self.optimizer)
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._factor(self.last_epoch)
        return [rate * factor for rate in self.base_lrs]


class StepLR(
    _ByFactor,
    takes="step_size, gamma=0.1, last_epoch=-1",
    factor=lambda its, step: rates.exponential(step, its.gamma, its.step_size, True),
):
    """The rate, times `gamma` after each `step_size` steps."""


class MultiStepLR(
    _ByFactor,
    takes="milestones, gamma=0.1, last_epoch=-1",
    factor=lambda its, step: its.gamma ** bisect_right(sorted(its.milestones.elements()), step),
):
    """The rate, times `gamma` after some numbers of steps."""

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        counts = Counter(options["milestones"])
        super()._init_with(optimizer, {**options, "milestones": counts})


class ConstantLR(
    _ByFactor,
    takes=f"factor={1 / 3}, total_iters=5, last_epoch=-1",
    factor=lambda its, step: its.factor if step < its.total_iters else 1.0,
):
    """The rate, times `factor` for the first `total_iters` steps."""


class LinearLR(
    _ByFactor,
    takes=f"start_factor={1 / 3}, end_factor=1.0, total_iters=5, last_epoch=-1",
    factor=lambda its, step: rates.line(
        rates.share(step, its.total_iters), its.start_factor, its.end_factor
    ),
    smooth=True,
):
    """The rate, times a factor that changes linearly for `total_iters` steps."""


class ExponentialLR(
    _ByFactor,
    takes="gamma, last_epoch=-1",
    factor=lambda its, step: its.gamma**step,
    smooth=True,
):
    """The rate, times `gamma` after each step."""


class PolynomialLR(
    _ByFactor,
    takes="total_iters=5, power=1.0, last_epoch=-1",
    factor=lambda its, step: (1 - rates.share(step, its.total_iters)) ** its.power,
    smooth=True,
):
    """The rate, times a power of the share of `total_iters` steps that is left."""


# -- waves -----------------------------------------------------------------------------------------


class CosineAnnealingLR(scheduler.LRScheduler, takes="T_max, eta_min=0.0, last_epoch=-1"):
    """The rate on a cosine from the first one to `eta_min`, in `T_max` steps."""

    def _left(self, step: int) -> float:
        return rates.half_wave(step / self.T_max)

    def _rates(self) -> list[Any]:
        now, least, groups = self.last_epoch, self.eta_min, self.optimizer.param_groups
        if self._is_initial:
            return scheduler.rates_of(self.optimizer)
        if self._step_count == 1 and now > 0:
            return self._get_closed_form_lr()
        if (now - 1 - self.T_max) % (2 * self.T_max) == 0:  # at its least there is no ratio
            rise = 1 - self._left(1)
            both = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (rate - least) * rise for rate, group in both]
        ratio = self._left(now) / self._left(now - 1)
        return [ratio * (group["lr"] - least) + least for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        done = self.last_epoch / self.T_max
        return [rates.cosine(done, rate, self.eta_min) for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(
    scheduler.LRScheduler, takes="T_0, T_mult=1, eta_min=0.0, last_epoch=-1"
):
    """The rate on a cosine that begins anew after `T_0` steps, and ever longer ones."""

    _order = "T_0, T_i, T_mult, eta_min, T_cur"

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        self.T_i: int = options["T_0"]
        self.T_cur: float = options["last_epoch"]
        super()._init_with(optimizer, options)

    def _rates(self) -> list[Any]:
        done = self.T_cur / self.T_i
        return [rates.cosine(done, rate, self.eta_min) for rate in self.base_lrs]

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
        with scheduler.within_step(self):
            values = self.get_lr()
        self._give(values)

    def _go_to(self, epoch: float) -> None:
        """Set which cosine a step is on, and how far along it."""
        if epoch < 0:
            raise ValueError(f"epoch is {epoch}; give 0 or more")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:  # in whole numbers, since the round ends when they are equal
            ratio = self.T_mult - 1
            done = int(math.log(epoch / self.T_0 * ratio + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**done - 1) / ratio
            self.T_i = self.T_0 * self.T_mult**done


class OneCycleLR(
    scheduler.LRScheduler,
    takes="max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, "
    "anneal_strategy='cos', cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, "
    "div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1",
):
    """The rate going up to a value once and then down to nearly nothing."""

    _order = "total_steps, _schedule_phases, _anneal_func_type, cycle_momentum, use_beta1"

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        scheduler.check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(options)
        check(options)
        share, three = options.pop("pct_start"), options.pop("three_phase")
        self._schedule_phases = _phases(share, self.total_steps, three)
        self._anneal_func_type = options.pop("anneal_strategy")
        highest = scheduler.for_groups("max_lr", optimizer, options.pop("max_lr"))
        first, last = options.pop("div_factor"), options.pop("final_div_factor")
        if options["last_epoch"] == -1:
            for high, group in zip(highest, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / first
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / last
        momenta = {name: options.pop(name) for name in ("max_momentum", "base_momentum")}
        if options["cycle_momentum"]:
            self._begin_momentum(momenta, options["last_epoch"] == -1)
        super()._init_with(optimizer, options)

    def _begin_momentum(self, momenta: dict[str, Any], anew: bool) -> None:
        """Give all groups the largest momentum before the first step."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("this optimizer has no momentum to cycle; write cycle_momentum=False")
        self.use_beta1 = "betas" in defaults
        for name, value in momenta.items():
            values = scheduler.for_groups(name, self.optimizer, value)
            for group, its in zip(self.optimizer.param_groups if anew else (), values, strict=anew):
                group[name] = its
        for group in self.optimizer.param_groups if anew else ():
            self._set_momentum(group, group["max_momentum"])

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _rates(self) -> list[Any]:
        """Return the rates for now, having given groups their momenta."""
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
            done = 1 - rates.half_wave(done)

        def between(group: dict[str, Any], what: str) -> Any:
            return rates.line(done, group[phase[f"start_{what}"]], group[phase[f"end_{what}"]])

        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                self._set_momentum(group, between(group, "momentum"))
        return [between(group, "lr") for group in self.optimizer.param_groups]


def _total_steps(options: dict[str, Any]) -> int:
    """Return the number of steps of a cycle, which is given as such or as a product."""
    given = {name: options.pop(name) for name in ("total_steps", "epochs", "steps_per_epoch")}
    total = given.pop("total_steps")
    given = given if total is None else {"total_steps": total}
    if None in given.values():
        raise ValueError(
            "the length of the schedule is unknown; give total_steps, or epochs and steps_per_epoch"
        )
    check(given)
    return math.prod(given.values())


def _phases(share: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Return the phases of a cycle, and between which of a group's values each one goes."""

    def phase(end: float, *values: str) -> dict[str, Any]:
        keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        return {"end_step": end, **dict(zip(keys, values, strict=True))}

    lr, momentum = ("max_lr", "min_lr"), ("base_momentum", "max_momentum")
    up = phase(float(share * total) - 1, "initial_lr", "max_lr", *reversed(momentum))
    if not three:
        return [up, phase(total - 1, *lr, *momentum)]
    down = phase(float(2 * share * total) - 2, "max_lr", "initial_lr", *momentum)
    return [up, down, phase(total - 1, "initial_lr", "min_lr", *momentum[1:] * 2)]


# -- made of others, and by a metric ---------------------------------------------------------------


class SequentialLR(scheduler.LRScheduler):
    """One schedule after another, each from a number of steps on."""

    _packed = "_schedulers"

    def __init__(
        self, optimizer: Optimizer, schedulers: list[scheduler.LRScheduler], milestones: list[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        _check_parts(optimizer, schedulers)
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
            scheduler.set_rate(group, group["initial_lr"])
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


def _check_parts(optimizer: Any, schedulers: Sequence[Any]) -> None:
    if not schedulers:
        raise ValueError("SequentialLR: got no schedules; give one at least")
    for position, part in enumerate(schedulers):
        if not hasattr(part, "optimizer"):
            raise TypeError(f"SequentialLR: a {type(part).__name__} was given; give schedules")
        if isinstance(part, ReduceLROnPlateau) or optimizer is not part.optimizer:
            raise ValueError(
                f"SequentialLR: the schedule at index {position} is for another optimizer, or "
                "needs a metric in each step; give schedules of one optimizer that need none"
            )


_PLATEAU = {
    "factor": ("a number below 1", lambda factor: factor < 1),
    "mode": one_of("min", "max"),
    "threshold_mode": one_of("rel", "abs"),
}


class ReduceLROnPlateau(
    scheduler.LRScheduler,
    takes="mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', cooldown=0, "
    "min_lr=0, eps=1e-8",
):
    """The rate, times `factor` when a metric has not become better for some steps."""

    _order = (
        "factor, default_min_lr, min_lrs, patience, cooldown, eps, last_epoch, _last_lr, "
        "mode_worse, mode, threshold, threshold_mode"
    )

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        check(options, _PLATEAU)
        scheduler.check_optimizer(optimizer)
        self.optimizer = optimizer
        least = options.pop("min_lr")
        self.default_min_lr = None if isinstance(least, (list, tuple)) else least
        self.min_lrs = scheduler.for_groups("min_lr", optimizer, least)
        self.last_epoch = 0
        self._last_lr = scheduler.rates_of(optimizer)
        self.mode_worse = math.inf if options["mode"] == "min" else -math.inf
        self.__dict__.update(options)
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """See a metric, and make rates smaller if it has not become better for long enough."""
        now = float(metrics)
        if epoch is not None:
            warn(scheduler.EPOCH)
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
        self._last_lr = scheduler.rates_of(self.optimizer)

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
                scheduler.set_rate(group, after)

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
    scheduler.LRScheduler, LambdaLR, StepLR, MultiStepLR, ConstantLR, LinearLR,
    ExponentialLR, PolynomialLR, CosineAnnealingLR, CosineAnnealingWarmRestarts,
    OneCycleLR, SequentialLR, ReduceLROnPlateau,
):  # fmt: skip
    put((f"optim.lr_scheduler.{_kind.__name__}",), _kind)
put(("optim.lr_scheduler._LRScheduler",), scheduler.LRScheduler)
