"""The formulas of schedules: values known by hand, on numbers and on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wengert.optim import rates
from wengert.optim.rates import NUMBERS

#: For each case: a formula of a namespace and a step, and its values at steps 0, 1, 2, ...
CASES: dict[str, tuple[Callable[[Any, Any], Any], list[float]]] = {
    "share": (lambda xp, k: rates.share(xp, k, 4), [0, 0.25, 0.5, 0.75, 1, 1]),
    "line": (lambda xp, k: rates.line(rates.share(xp, k, 2), 1.0, 5.0), [1, 3, 5, 5]),
    "polynomial": (
        lambda xp, k: rates.polynomial(rates.share(xp, k, 2), 5.0, 1.0, 2),
        [5, 2, 1, 1],
    ),
    "cosine": (lambda xp, k: rates.cosine(xp, k / 2, 5.0, 1.0), [5, 3, 1, 3, 5]),
    "exponential": (lambda xp, k: rates.exponential(xp, k, 0.25, 2), [1, 0.5, 0.25, 0.125]),
    "staircase": (lambda xp, k: rates.exponential(xp, k, 0.25, 2, True), [1, 1, 0.25, 0.25]),
    "inverse time": (lambda xp, k: rates.inverse_time(xp, k, 6.0, 1, 2), [6, 4, 3]),
    "inverse staircase": (lambda xp, k: rates.inverse_time(xp, k, 6.0, 1, 2, True), [6, 6, 3]),
    "rounds": (lambda xp, k: rates.restarts(xp, k, 2, 1)[0], [0, 0, 1, 1, 2]),
    "done": (lambda xp, k: rates.restarts(xp, k, 2, 1)[1], [0, 0.5, 0, 0.5, 0]),
    "longer rounds": (lambda xp, k: rates.restarts(xp, k + 0.5, 1, 2)[0], [0, 1, 1, 2, 2, 2, 2]),
    "done of longer rounds": (
        lambda xp, k: rates.restarts(xp, k + 0.5, 1, 2)[1],
        [0.5, 0.25, 0.75, 0.125, 0.375],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    """Numbers give Python's numbers, and arrays give arrays, of all steps at once."""
    formula, expected = CASES[name]
    found = [formula(NUMBERS, step) for step in range(len(expected))]
    assert found == pytest.approx(expected, abs=1e-15)
    assert not any(isinstance(value, np.generic) for value in found)
    steps = np.arange(len(expected), dtype=np.float32)
    several = formula(np, steps)
    assert several.dtype == np.float32
    np.testing.assert_allclose(several, expected, atol=1e-6)


def test_triangle() -> None:
    """It rises for 1 of 4 steps and falls for 3, and counts its periods."""
    found = [rates.triangle(NUMBERS, step, 4, 0.25) for step in range(6)]
    assert [number for number, _ in found] == [1, 1, 1, 1, 2, 2]
    assert [height for _, height in found] == pytest.approx([0, 1, 2 / 3, 1 / 3, 0, 1])
