"""torch.utils.benchmark: how long a statement takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare
from wengert import torch as ours

pytestmark = pytest.mark.parity


class _Clock:
    """A timer on which a second passes with each look."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> float:
        self.seconds += 1
        return float(self.seconds)


def _timer(torch: Any, **options: Any) -> Any:
    benchmark = importlib.import_module(f"{torch.__name__}.utils.benchmark")
    return benchmark.Timer("torch.ones(2) + x", timer=_Clock(), **options)


def _shown(measurement: Any) -> Any:
    return repr(measurement).partition("\n")[2], measurement.number_per_run, measurement.times


def _merits(torch: Any) -> Any:
    made = _timer(torch, globals={"x": 1}).timeit(10)
    made.raw_times = [40.0, 10.0, 20.0, 90.0, 30.0]
    return made.times, made.median, made.mean, made.iqr


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "timeit": lambda torch: _shown(_timer(torch, globals={"x": 1}).timeit(10)),
    "labels": lambda torch: _shown(
        _timer(
            torch,
            setup="x = 1",
            label="sum",
            sub_label="small",
            description="of two",
            num_threads=2,
        ).timeit(100)
    ),
    "merits": _merits,
    "attributes": lambda torch: [
        getattr(_timer(torch, globals={"x": 1}, label="sum").timeit(2), name)
        for name in ("label", "sub_label", "stmt", "setup", "num_threads", "title")
    ],
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_measurements(program: Callable[[Any], Any]) -> None:
    compare(program)


def test_blocks_run_until_the_time_is_over() -> None:
    timer = ours.utils.benchmark.Timer("x.add_(1)", globals={"x": ours.zeros(())})
    measured = timer.blocked_autorange(min_run_time=0.02)
    assert sum(measured.raw_times) >= 0.02
    assert 0 < measured.median < 1e-3


def test_other_languages_are_refused() -> None:
    with pytest.raises(ValueError, match="only Python's statements"):
        ours.utils.benchmark.Timer("x;", language="c++")
