"""One tape and several threads: one answer, or an error, and never a wrong number."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.backends import threads


@pytest.fixture
def restless() -> Iterator[None]:
    """Have Python change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("ask", ["gradient", "jacobian"])
def test_of_two_threads_one_gets_the_derivative(restless: None, ask: str) -> None:
    for _ in range(150):
        x = wg.asarray(np.linspace(0.0, 1.0, 5))
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(6):
                y = wg.sin(y) + x
        answers: list[Any] = []
        gate = threading.Barrier(2)

        def work(
            tape: Any = tape, x: Any = x, y: Any = y, gate: Any = gate, answers: Any = answers
        ) -> None:
            gate.wait()
            try:
                answers.append(getattr(tape, ask)(y, x).numpy())
            except wg.TapeError:
                answers.append(None)

        both = [threading.Thread(target=work) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert sum(answer is not None for answer in answers) == 1
        with wg.GradientTape() as again:
            again.watch(x)
            z = x
            for _ in range(6):
                z = wg.sin(z) + x
        (got,) = [answer for answer in answers if answer is not None]
        np.testing.assert_allclose(got, getattr(again, ask)(z, x).numpy(), rtol=1e-12)


def test_pieces_are_each_done_once(restless: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count", lambda: 4)
    monkeypatch.setattr(threads, "_pool", None)
    for _ in range(20):
        done = np.zeros(5000, int)

        def work(start: int, stop: int, done: Any = done) -> None:
            done[start:stop] += 1

        threads.in_pieces(work, len(done), 3)
        assert (done == 1).all()
