"""The formulas of schedules: values known by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wengert.optim import rates

#: For each case: a formula of a step, and its values at steps 0, 1, 2, ...
CASES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "share": (lambda k: rates.share(k, 4), [0, 0.25, 0.5, 0.75, 1, 1]),
    "line": (lambda k: rates.line(rates.share(k, 2), 1.0, 5.0), [1, 3, 5, 5]),
    "polynomial": (
        lambda k: rates.polynomial(rates.share(k, 2), 5.0, 1.0, 2),
        [5, 2, 1, 1],
    ),
    "cosine": (lambda k: rates.cosine(k / 2, 5.0, 1.0), [5, 3, 1, 3, 5]),
    "exponential": (lambda k: rates.exponential(k, 0.25, 2), [1, 0.5, 0.25, 0.125]),
    "staircase": (lambda k: rates.exponential(k, 0.25, 2, True), [1, 1, 0.25, 0.25]),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    formula, expected = CASES[name]
    found = [formula(step) for step in range(len(expected))]
    assert found == pytest.approx(expected, abs=1e-15)
