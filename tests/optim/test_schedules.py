"""Schedules of learning rates."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from tests.optim.trees import PARAMS
from wengert import optim

# -- schedules --------------------------------------------------------------------------------

SCHEDULES: list[tuple[Any, dict[int, float]]] = [
    (optim.constant(0.3), {0: 0.3, 1000: 0.3}),
    (optim.linear(1.0, 0.0, 4), {0: 1.0, 1: 0.75, 4: 0.0, 5: 0.0}),
    (optim.linear(0.0, 2.0, 4), {0: 0.0, 3: 1.5, 9: 2.0}),
    (optim.polynomial(1.0, 0.2, 10), {0: 1.0, 5: 0.2 + 0.8 * 0.25, 10: 0.2, 11: 0.2}),
    (optim.polynomial(1.0, 0.2, 10, power=1.0), {5: 0.6}),
    (optim.cosine_decay(2.0, 10), {0: 2.0, 5: 1.0, 10: 0.0, 99: 0.0}),
    (optim.cosine_decay(2.0, 4, end=1.0), {0: 2.0, 1: 1.5 + 0.5 * math.sqrt(0.5), 4: 1.0}),
    (optim.exponential_decay(1.0, 0.5), {0: 1.0, 1: 0.5, 3: 0.125}),
    (optim.exponential_decay(1.0, 0.25, steps=2, end=0.1), {1: 0.5, 2: 0.25, 9: 0.1}),
    (optim.step_decay(1.0, 0.1, every=3), {0: 1.0, 2: 1.0, 3: 0.1, 8: 0.01}),
    (optim.inverse_sqrt(0.5, 100), {0: 0.5, 100: 0.5, 400: 0.25}),
    (optim.piecewise_constant([3, 5], [1.0, 0.1, 0.01]), {0: 1.0, 2: 1.0, 3: 0.1, 5: 0.01}),
    (
        optim.join(
            [optim.linear(0.0, 1.0, 2), optim.constant(1.0), optim.linear(1.0, 0, 4)], [2, 5]
        ),
        {0: 0.0, 1: 0.5, 2: 1.0, 4: 1.0, 5: 1.0, 7: 0.5, 9: 0.0},
    ),
    (optim.warmup(optim.cosine_decay(1.0, 10), 4), {0: 0.0, 1: 0.25, 4: 1.0, 9: 0.5, 14: 0.0}),
    (optim.warmup(optim.constant(1.0), 2, start=0.5), {0: 0.5, 1: 0.75, 2: 1.0}),
]


@pytest.mark.parametrize(("schedule", "values"), SCHEDULES, ids=str)
def test_schedules(schedule, values):
    assert {step: schedule(step) for step in values} == pytest.approx(values, abs=1e-12)
    assert all(type(schedule(step)) in (float, int) for step in values)
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert eval(repr(schedule), vars(optim)) == schedule
    assert hash(schedule) is not None


def test_a_schedule_sets_the_learning_rate_of_each_step():
    optimiser = optim.SGD(optim.piecewise_constant([1, 2], [1.0, 10.0, 100.0]))
    params, state = np.array(0.0), optimiser.init(np.array(0.0))
    for expected in (-1.0, -11.0, -111.0):
        params, state = optimiser.step(params, np.array(1.0), state)
        assert params == expected
    assert pickle.loads(pickle.dumps(optimiser)) == optimiser


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_a_schedule_that_gives_no_rate(value):
    optimiser = optim.Adam(lambda step: value)
    with pytest.raises(ValueError, match="the learning rate of step 0 is"):
        optimiser.step(PARAMS, PARAMS, optimiser.init(PARAMS))
    with pytest.raises(TypeError, match="the learning rate of step 0 is None; expected a number"):
        optim.SGD(lambda step: None).step(PARAMS, PARAMS, {"step": 0})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.linear(1.0, 0.0, 0), ValueError, "linear: steps is 0; expected a number of"),
        (lambda: optim.linear(1.0, 0.0, 2.5), ValueError, "steps is 2.5"),
        (lambda: optim.constant(-1.0), ValueError, "constant: value is -1.0; expected a finite"),
        (lambda: optim.cosine_decay(math.nan, 5), ValueError, "cosine_decay: start is nan"),
        (lambda: optim.cosine_decay("1", 5), TypeError, "start is '1'; expected a number"),
        (lambda: optim.step_decay(1.0, 0.1, -1), ValueError, "every is -1"),
        (lambda: optim.piecewise_constant([1], [1.0]), ValueError, "1 values for 1 boundaries"),
        (lambda: optim.piecewise_constant([2, 2], [1, 1, 1]), ValueError, "each must exceed"),
        (lambda: optim.piecewise_constant([0], [1, 1]), ValueError, "a boundary is 0"),
        (lambda: optim.join([optim.constant(1.0), 0.1], [5]), TypeError, "wg.optim.constant"),
        (lambda: optim.warmup(0.1, 5), TypeError, "got 0.1; expected a schedule"),
    ],
)
def test_bad_schedules(make, error, message):
    with pytest.raises(error, match=message):
        make()
