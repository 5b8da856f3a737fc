"""torch.optim.swa_utils: averages of a model's parameters, and a schedule that goes with them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.optim.optimizer import Optimizer, check
from wengert.dialects.torch.optim.scheduler import LRScheduler, for_groups
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, made
from wengert.optim.rates import half_wave, line


@plain("optim.swa_utils.get_ema_avg_fn")
def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """Return a function that gives an average of which a new value is a fixed share."""
    check({"decay": decay})

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


@plain("optim.swa_utils.get_ema_multi_avg_fn")
def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Return a function that changes averages, of which new values are a fixed share, in place."""
    average = get_ema_avg_fn(decay)

    @no_grad()
    def update(averaged: Iterable[Any], current: Iterable[Any], num_averaged: Any) -> None:
        for mine, new in zip(averaged, current, strict=True):
            mine.copy_(average(mine, new, num_averaged))

    return update


def _equal_shares(averaged: Iterable[Any], current: Iterable[Any], num_averaged: Any) -> None:
    """Change averages, of which all values so far have the same share, in place."""
    for mine, new in zip(averaged, current, strict=True):
        mine += (new - mine) / (num_averaged + 1)


@plain("optim.swa_utils.AveragedModel")
class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that the model has had."""

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("avg_fn and multi_avg_fn were both given; leave one of them out")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", made(np.array(0)))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the model's parameters into the averages."""
        mine, given = self._averaged(self.module), self._averaged(model)
        count = self.n_averaged
        with no_grad():
            if int(count) == 0:
                for average, new in zip(mine, given, strict=False):
                    average.copy_(new)
            elif self.avg_fn is not None:
                for average, new in zip(mine, given, strict=True):
                    average.copy_(self.avg_fn(average, new, count))
            else:
                (self.multi_avg_fn or _equal_shares)(mine, given, count)
            if not self.use_buffers:
                for average, new in zip(self.module.buffers(), model.buffers(), strict=True):
                    average.copy_(new)
            count += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        """Return the tensors of a model that are averaged."""
        buffers = model.buffers() if self.use_buffers else ()
        return [tensor.detach() for tensor in itertools.chain(model.parameters(), buffers)]


@plain("optim.swa_utils.update_bn")
@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalisation anew, by a pass over data."""
    normal = [m for m in model.modules() if hasattr(m, "reset_running_stats")]
    if not normal:
        return
    momenta = [m.momentum for m in normal]
    was_training = model.training
    model.train()
    for module in normal:
        module.reset_running_stats()
        module.momentum = None  # all batches have the same share
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in zip(normal, momenta, strict=True):
        module.momentum = momentum
    model.train(was_training)


@plain("optim.swa_utils.SWALR")
class SWALR(LRScheduler, takes="swa_lr, anneal_epochs=10, anneal_strategy='cos', last_epoch=-1"):
    """The rate going to a constant one in some steps."""

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        goals = for_groups("swa_lr", optimizer, options.pop("swa_lr"))
        for rate, group in zip(goals, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        check(options)
        self._anneal_strategy = options.pop("anneal_strategy")
        super()._init_with(optimizer, options)

    def _share(self, step: int) -> float:
        """Return how much of the constant rate there is after some steps."""
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else 1 - half_wave(t)

    def get_lr(self) -> list[Any]:
        """Return the rates for now."""
        self._warn_outside()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            last, goal = group["lr"], group["swa_lr"]
            first = goal if before == 1 else (last - before * goal) / (1 - before)
            rates.append(line(now, first, goal))
        return rates
