"""torch.futures: values that are set later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare
from wengert import torch as ours

pytestmark = pytest.mark.parity


def _waited(future: Any) -> Any:
    try:
        return future.wait()
    except Exception as error:
        return type(error).__name__, str(error)


def _set(torch: Any, value: Any) -> Any:
    made = torch.futures.Future()
    made.set_result(value)
    return made


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda torch: (_set(torch, 3).done(), _set(torch, 3).wait(), _set(torch, 3).value()),
    "not yet": lambda torch: torch.futures.Future().done(),
    "then": lambda torch: _set(torch, 3).then(lambda f: f.wait() + 1).wait(),
    "collected": lambda torch: [
        f.wait() for f in torch.futures.collect_all([_set(torch, n) for n in (1, 2)]).wait()
    ],
    "none": lambda torch: torch.futures.collect_all([]).wait(),
    "too early": lambda torch: torch.futures.Future().value(),
    "a class": lambda torch: isinstance(_set(torch, 3), torch.Future),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    compare(PROGRAMS[name])


def test_errors_are_raised_by_wait_and_passed_on_by_then() -> None:
    def program(torch: Any) -> Any:
        made = torch.futures.Future()
        made.set_exception(ValueError("no"))
        return _waited(made)

    compare(program)
    made: Any = ours.futures.Future()
    after = made.then(lambda f: f.wait())
    made.set_exception(ValueError("no"))
    assert _waited(after) == ("ValueError", "no")


def test_another_thread_sets_the_value() -> None:
    made: Any = ours.futures.Future()
    seen: list[int] = []
    made.add_done_callback(lambda f: seen.append(f.value()))
    threading.Timer(0.01, made.set_result, [7]).start()
    assert made.wait() == 7
    assert ours.futures.collect_all([made]).wait() == [made] and seen == [7]
