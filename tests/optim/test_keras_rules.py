"""The rules of Keras's optimisers: what they have in common, and first steps known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wengert.optim import keras_rules
from wengert.optim.keras_rules import Gradient

RULES = {
    "SGD": keras_rules.SGD(0.0, False),
    "momentum": keras_rules.SGD(0.5, True),
    "Adam": keras_rules.Adam(0.5, 0.75, 1e-7, True),
    "RMSprop": keras_rules.RMSprop(0.5, 0.25, 1e-7, True),
    "Adagrad": keras_rules.Adagrad(0.5, 1e-7),
    "Adadelta": keras_rules.Adadelta(0.5, 1e-3),
    "Adamax": keras_rules.Adamax(0.5, 0.75, 1e-7),
    "Nadam": keras_rules.Nadam(0.5, 0.75, 1e-7),
    "Lion": keras_rules.Lion(0.5, 0.75),
    "Lamb": keras_rules.Lamb(0.5, 0.75, 1e-7),
}


def run(rule: keras_rules.Rule, rate: float, steps: int) -> float:
    """Return where a rule ends that goes down (x - 3) ** 2 from 1."""
    p = np.array([1.0])
    slots = [np.full(1, value) for group in rule.slots() for value in group.values()]
    shared = list(rule.shared().values())
    for step in range(1, steps + 1):
        shared = rule.next_shared(step, *shared)
        g = Gradient(2 * (p - 3), None, p.shape)
        p, *slots = rule.step(rate, step, shared, p, g, *slots)
    return float(p[0])


@pytest.mark.parametrize("name", RULES)
def test_rules_go_down_to_the_least(name: str) -> None:
    rate = {"Adadelta": 1.0, "Lion": 0.01, "Lamb": 0.02}.get(name, 0.1)
    assert run(RULES[name], rate, 400) == pytest.approx(3.0, abs=0.1)


def test_ftrl_without_penalties_is_adagrad_without_epsilon() -> None:
    p, g = np.zeros(2), Gradient(np.array([2.0, -0.5]), None, (2,))
    ftrl = keras_rules.Ftrl(-0.5, 0.1, 0.0, 0.0, 0.0, 0.0).step(0.1, 1, [], p, g, p + 0.1, p)
    adagrad = keras_rules.Adagrad(0.1, 0.0).step(0.1, 1, [], p, g, p + 0.1)
    np.testing.assert_allclose(ftrl[0], adagrad[0])


def test_parts_of_a_gradient_are_squared_before_they_are_added() -> None:
    g = Gradient(np.array([[1.0], [-3.0], [2.0]]), np.array([1, 1, 0]), (3, 1))
    assert g.total.ravel().tolist() == [2, -2, 0]
    assert g.square.ravel().tolist() == [4, 10, 0]
    assert g.size.ravel().tolist() == [2, 4, 0]
    assert g.replaced(-g.values).total.ravel().tolist() == [-2, 2, 0]
