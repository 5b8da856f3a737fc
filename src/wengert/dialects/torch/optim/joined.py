"""Schedules that are made of others, and the one that follows a metric."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.optim.optimizer import Optimizer
from wengert.dialects.torch.optim.ranges import check, one_of
from wengert.dialects.torch.optim.scheduler import (
    EPOCH,
    LRScheduler,
    check_optimizer,
    for_groups,
    rates_of,
    set_rate,
)
from wengert.dialects.torch.table import put


class _Several(LRScheduler):
    """A schedule made of others."""

    _schedulers: Sequence[Any]
    _packed = "_schedulers"

    def _check_parts(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name}: got no schedules; give one at least")
        for position, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name}: a {type(part).__name__} was given; give schedules")
            if isinstance(part, ReduceLROnPlateau) or optimizer is not part.optimizer:
                raise ValueError(
                    f"{name}: the schedule at index {position} is for another optimizer, or needs "
                    "a metric in each step; give schedules of one optimizer that need none"
                )


class SequentialLR(_Several):
    """One schedule after another, each from a number of steps on."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
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
            set_rate(group, group["initial_lr"])
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
        own: Any = optimizer or getattr(next(iter(schedulers), None), "optimizer", None)
        self._check_parts(own, schedulers)
        self._schedulers = schedulers
        self.optimizer = own
        self._last_lr = rates_of(own)

    def step(self) -> None:  # type: ignore[override]
        """Give groups the rates of the next step."""
        for part in self._schedulers:
            part.step()
        self._last_lr = rates_of(self.optimizer)


_RANGES = {
    "factor": ("a number below 1", lambda factor: factor < 1),
    "mode": one_of("min", "max"),
    "threshold_mode": one_of("rel", "abs"),
}


class ReduceLROnPlateau(
    LRScheduler,
    takes="mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', cooldown=0, "
    "min_lr=0, eps=1e-8",
):
    """The rate, times `factor` when a metric has not become better for some steps."""

    _order = (
        "factor, default_min_lr, min_lrs, patience, cooldown, eps, last_epoch, _last_lr, "
        "mode_worse, mode, threshold, threshold_mode"
    )

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        check(options, _RANGES)
        check_optimizer(optimizer)
        self.optimizer = optimizer
        least = options.pop("min_lr")
        self.default_min_lr = None if isinstance(least, (list, tuple)) else least
        self.min_lrs = for_groups("min_lr", optimizer, least)
        self.last_epoch = 0
        self._last_lr = rates_of(optimizer)
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
            warn(EPOCH)
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
        self._last_lr = rates_of(self.optimizer)

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
                set_rate(group, after)

    @property
    def in_cooldown(self) -> bool:
        """Whether rates were made smaller lately."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        relative = self.threshold_mode == "rel"
        if self.mode == "min":
            return a < (best * (1.0 - self.threshold) if relative else best - self.threshold)
        return a > (best * (self.threshold + 1.0) if relative else best + self.threshold)


for _kind in (SequentialLR, ChainedScheduler, ReduceLROnPlateau):
    put((f"optim.lr_scheduler.{_kind.__name__}",), _kind)
