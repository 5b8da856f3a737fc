"""What schedules of learning rates share: counting steps, and giving groups their rates."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.optim.optimizer import Optimizer, check
from wengert.dialects.torch.signatures import define_init, split
from wengert.dialects.torch.tensors import Tensor, made

EPOCH = "step(epoch) sets the schedule to an epoch and is old; write `scheduler.step()`"


def _copied(value: Any) -> Any:
    return made(value._raw.copy()) if isinstance(value, Tensor) else value


def rates_of(optimizer: Optimizer, name: str = "lr") -> list[Any]:
    """Return an option of all groups."""
    return [_copied(group[name]) for group in optimizer.param_groups]


def set_rate(group: dict[str, Any], value: Any) -> None:
    """Give a group a rate; one that is a tensor keeps its memory."""
    if isinstance(group["lr"], Tensor):
        with no_grad():
            group["lr"].fill_(value)
    else:
        group["lr"] = value


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [_copied(value)] * groups
    if len(value) != groups:
        raise misfit(name, f"one value for each of {groups} groups", ValueError, values=value)
    return [_copied(v) for v in value]


def check_optimizer(optimizer: Any) -> None:
    """Raise if something is no optimiser."""
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


def _packed(value: Any) -> Any:
    """Return what functions and schedules know, also in lists; None for what cannot be saved."""
    if isinstance(value, (list, tuple)):
        return [_packed(part) for part in value]
    if hasattr(value, "optimizer"):
        return value.state_dict()
    return None if value is None or isinstance(value, FunctionType) else value.__dict__.copy()


def _unpack(value: Any, state: Any) -> None:
    """Have functions and schedules know what others knew."""
    if isinstance(value, (list, tuple)):
        for part, known in zip(value, state, strict=False):
            _unpack(part, known)
    elif hasattr(value, "optimizer"):
        value.load_state_dict(state)
    elif value is not None and state is not None:
        value.__dict__.update(state)


class LRScheduler:
    """What schedules share: the number of steps so far, and giving groups their rates."""

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    #: what holds functions or schedules, of which a state has only what they know
    _packed: str = ""
    #: what a state shows first, in PyTorch's order
    _order: str = ""
    _step_count: int
    _last_lr: list[Any]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init_subclass__(cls, *, takes: str = "", **further: Any) -> None:
        """Write the constructor, if a text says what it takes behind the optimiser."""
        super().__init_subclass__(**further)
        define_init(cls, "optimizer", takes)

    def _init_with(self, optimizer: Optimizer, options: dict[str, Any]) -> None:
        """Check the options, and keep them as attributes."""
        check(options)
        last_epoch = options.pop("last_epoch")
        self.__dict__.update(options)
        LRScheduler.__init__(self, optimizer, last_epoch)

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for position, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"last_epoch continues a schedule, and param_groups[{position}] has no "
                    "'initial_lr' yet; load the state of the optimizer first"
                )
        self.base_lrs = rates_of(optimizer, "initial_lr")
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
        """Return all that is kept, but for the optimiser; of callable objects, their attributes."""
        first = {name: None for name in split(self._order) if name in self.__dict__}
        state = first | {k: v for k, v in self.__dict__.items() if k != "optimizer"}
        if self._packed in state:
            state[self._packed] = _packed(state.pop(self._packed))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule."""
        own = self.__dict__.get(self._packed)
        self.__dict__.update({k: v for k, v in state_dict.items() if k != self._packed})
        if self._packed:
            _unpack(own, state_dict[self._packed])

    def get_last_lr(self) -> list[Any]:
        """Return the rates that groups were given last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the rates for now; a subclass says which."""
        if not self._get_lr_called_within_step:
            warn(
                "get_lr() computes the next learning rate, and belongs to step(); write "
                "get_last_lr() for the one in use"
            )
        return self._rates()

    def _rates(self) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no method get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Give groups the rates of the next step, or of one that is named."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn if the optimiser has made no step before the first of the schedule."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn(
                "`optimizer.step` was replaced after the schedule was made, so calls of it are "
                "not seen; make the schedule after that"
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warn(
                "the schedule took a step before the optimizer did, so the first learning rate "
                "is never used; call `optimizer.step()` and then `lr_scheduler.step()`"
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with within_step(self):
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            values = self.get_lr() if closed is None else closed()
        self._give(values)

    def _give(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, value)
        self._last_lr = rates_of(self.optimizer)


@contextmanager
def within_step(schedule: LRScheduler) -> Iterator[None]:
    """Have `get_lr` know that a step calls it, and not the program."""
    schedule._get_lr_called_within_step = True
    try:
        yield
    finally:
        schedule._get_lr_called_within_step = False
