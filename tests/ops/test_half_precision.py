"""float16: what overflows it on the way must not be lost where the answer fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

#: More than the largest number that float16 has, 65,504.
COUNT = 70_000

MEANS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "mean": (wg.mean, 1.0),
    "np.mean": (np.mean, 1.0),
    "mean along an axis": (lambda x: wg.mean(wg.reshape(x, (1, -1)), axis=1)[0], 1.0),
    "mse_loss": (lambda x: wg.nn.mse_loss(x, np.zeros(COUNT, np.float16)), 2.0),
    "avg_pool1d": (lambda x: wg.sum(wg.nn.avg_pool1d(wg.reshape(x, (1, 1, -1)), COUNT)), 1.0),
    "adaptive_avg_pool1d": (
        lambda x: wg.sum(wg.nn.adaptive_avg_pool1d(wg.reshape(x, (1, 1, -1)), 1)),
        1.0,
    ),
    "avg_pool2d": (
        lambda x: wg.sum(wg.nn.avg_pool2d(wg.reshape(x, (1, 1, 280, 250)), (280, 250))),
        1.0,
    ),
    "max, all equal": (wg.max, 1.0),
    "min, all equal": (wg.min, 1.0),
}


@pytest.mark.parametrize("name", MEANS)
def test_shares_of_many_elements(name: str) -> None:
    function, factor = MEANS[name]
    x = np.ones(COUNT, np.float16)
    value, gradient = wg.value_and_grad(function)(x)
    assert value == 1 and gradient.dtype == np.float16
    np.testing.assert_allclose(gradient.astype(float), factor / COUNT, rtol=4e-3)


def test_variance() -> None:
    x = (np.arange(COUNT) % 7).astype(np.float16)
    got = wg.grad(wg.var)(x).astype(float)
    exact = 2 * (x.astype(float) - x.astype(float).mean()) / COUNT
    np.testing.assert_allclose(got, exact, atol=2e-7)


def test_cross_entropy_of_many_rows() -> None:
    logits, labels = np.zeros((COUNT, 3), np.float16), np.zeros(COUNT, int)
    value, gradient = wg.value_and_grad(lambda x: wg.nn.cross_entropy(x, labels))(logits)
    assert abs(float(value) - np.log(3)) < 1e-3
    np.testing.assert_allclose(gradient[0].astype(float) * COUNT, [-2 / 3, 1 / 3, 1 / 3], rtol=1e-2)
