"""Python collects all objects less often while programs record, and as before afterwards."""

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import collector

THRESHOLDS = (700, 10, 10)


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    gc.collect()
    yield
    gc.set_threshold(*before)


def recorded(tape: wg.GradientTape, operations: int) -> Any:
    x = wg.asarray(np.ones(1))
    tape.watch(x)
    for _ in range(operations):
        x = wg.sin(x)
    return x


class Cycle:
    def __init__(self) -> None:
        self.me = self


def without_nodes() -> list[list[int]]:
    """Make so many objects that the middle generation is collected."""
    return [[k] for k in range(3 * THRESHOLDS[0] * THRESHOLDS[1] * collector.YOUNG_LESS)]


def test_thresholds_are_raised_while_a_long_tape_records() -> None:
    with wg.GradientTape() as tape:
        recorded(tape, 20_000)
        young, middle, old = gc.get_threshold()
    assert (young, middle) == (700 * collector.YOUNG_LESS, 10)
    assert young * middle * old == 700 * 10 * 10 * collector.LESS
    without_nodes()
    assert gc.get_threshold() == THRESHOLDS


def test_an_explicit_collection_puts_it_back_and_finds_cycles() -> None:
    with wg.GradientTape() as tape:
        y = recorded(tape, 20_000)
        cycle = weakref.ref(Cycle())
        assert gc.get_threshold() != THRESHOLDS
        gc.collect()
        assert cycle() is None
    assert tape.gradient(y, y) is not None
    gc.collect()
    assert gc.get_threshold() == THRESHOLDS


def test_cycles_are_collected_without_being_asked_for() -> None:
    cycle = weakref.ref(Cycle())
    with wg.GradientTape() as tape:
        y = recorded(tape, 20_000)
    assert y is not None
    without_nodes()
    assert cycle() is None


def test_errors_nested_tapes_and_threads() -> None:
    def record() -> None:
        with (
            pytest.raises(ZeroDivisionError),
            wg.GradientTape() as outer,
            wg.GradientTape() as tape,
        ):
            outer.watch(recorded(tape, 20_000))
            raise ZeroDivisionError

    threads = [threading.Thread(target=record) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    without_nodes()
    assert gc.get_threshold() == THRESHOLDS


def test_thresholds_of_the_program_stay() -> None:
    with wg.GradientTape() as tape:
        recorded(tape, 20_000)
        gc.set_threshold(500, 5, 5)
        without_nodes()
        assert gc.get_threshold() == (500, 5, 5)
    gc.set_threshold(0)  # which is how a program turns collections off
    with wg.GradientTape() as tape:
        recorded(tape, 2_000)
    assert gc.get_threshold()[0] == 0


def test_few_full_collections_on_a_long_tape() -> None:
    full = []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "start" and info["generation"] == 2:
            full.append(info)

    gc.callbacks.append(note)
    try:
        with wg.GradientTape() as tape:
            y = recorded(tape, 150_000)
    finally:
        gc.callbacks.remove(note)
    assert y is not None
    assert len(full) <= 1
