"""Constructors from a text of their arguments, and hooks that are registered."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import wengert.torch as torch
from wengert.dialects.torch.gradients import Handle
from wengert.dialects.torch.signatures import arguments, define_init, registration


def test_arguments_of_a_text() -> None:
    found = arguments("params, lr=1e-3, betas=(0.9, 0.999), *, name='a'")
    assert [a.name for a in found] == ["params", "lr", "betas", "name"]
    assert [a.default for a in found[1:]] == [1e-3, (0.9, 0.999), "a"]
    assert found[0].default is inspect.Parameter.empty
    assert found[-1].kind is inspect.Parameter.KEYWORD_ONLY


def test_a_default_that_is_not_written_is_the_known_one() -> None:
    def known(size: int = 3) -> None: ...

    (size,) = arguments("size", inspect.signature(known).parameters)
    assert size.default == 3


def test_a_constructor_passes_its_options_on() -> None:
    class Row:
        def _init_with(self, first: Any, options: dict[str, Any]) -> None:
            self.given = first, options

    define_init(Row, "x", "a, b=2")
    make: Any = Row
    assert make(1, 5).given == (1, {"a": 5, "b": 2})
    assert str(inspect.signature(make)) == "(x: 'Any', a: 'Any', b: 'Any' = 2) -> 'None'"
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        make(1, 5, c=3)


def test_hooks_go_behind_the_others_or_before_them() -> None:
    hooks: dict[int, Any] = {}
    Handle.of(hooks, "second")
    handle = Handle.of(hooks, "first", True)
    assert list(hooks.values()) == ["first", "second"]
    handle.remove()
    assert list(hooks.values()) == ["second"]
    method = registration("_hooks", "Have a function called.")
    assert method.__doc__ == "Have a function called."


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "LBFGS", "Rprop"])
def test_optimisers_can_be_inspected(name: str) -> None:
    takes = list(inspect.signature(getattr(torch.optim, name)).parameters)
    assert takes[:2] == ["params", "lr"]


def test_schedules_can_be_inspected() -> None:
    takes = inspect.signature(torch.optim.lr_scheduler.OneCycleLR).parameters
    assert list(takes)[:4] == ["optimizer", "max_lr", "total_steps", "epochs"]
    assert takes["anneal_strategy"].default == "cos"
