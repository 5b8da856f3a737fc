"""The formulas of optimisers: where they go, and first steps known by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.optim import formulas
from wengert.optim.formulas import Formula

ADAM = {"betas": (0.5, 0.75), "eps": 1e-7, "amsgrad": True}
RMSPROP = {"alpha": 0.5, "momentum": 0.25, "eps": 1e-7, "centered": True}
MOMENTS = ("exp_avg", "exp_avg_sq")
AVERAGES = ("square_avg", "grad_avg", "momentum_buffer")

#: For each case: a formula, a rate, its options, and what is kept, all of which begins at 0.
CASES: dict[str, tuple[Formula, float, dict[str, Any], tuple[str, ...]]] = {
    "sgd": (formulas.sgd, 0.1, {}, ()),
    "sgd momentum": (
        formulas.sgd,
        0.1,
        {"momentum": 0.5, "nesterov": True},
        ("momentum_buffer",),
    ),
    "adam": (formulas.adam, 0.1, ADAM, (*MOMENTS, "max_exp_avg_sq")),
    "adam scaled": (formulas.adam, 0.1, {**ADAM, "eps_scaled": True}, (*MOMENTS, "max_exp_avg_sq")),
    "radam": (formulas.radam, 0.1, ADAM, MOMENTS),
    "adamax": (formulas.adamax, 0.1, ADAM, ("exp_avg", "exp_inf")),
    "rmsprop": (formulas.rmsprop, 0.1, {**RMSPROP, "at_least_0": True}, AVERAGES),
    "adagrad": (formulas.adagrad, 0.5, {"eps": 1e-7}, ("sum",)),
    "adadelta": (formulas.adadelta, 1.0, {"rho": 0.5, "eps": 1e-3}, ("square_avg", "acc_delta")),
}


def run(name: str, gradient: Any, p: Any, steps: int) -> Any:
    """Return where a formula goes from p in some steps, given gradient(p)."""
    formula, rate, options, kept = CASES[name]
    state: dict[str, Any] = {key: np.zeros(p.shape) for key in kept}
    for step in range(1, steps + 1):
        state["step"] = step
        p = formula(np, p, gradient(p), state, {**options, "lr": rate})
    return p


@pytest.mark.parametrize("name", CASES)
def test_formulas_go_down_to_the_least(name: str) -> None:
    """They find the least of (x - 3) ** 2, in the memory of the array that they were given."""
    p = np.array([1.0])
    found = run(name, lambda x: 2 * (x - 3), p, 400)
    assert found is p
    assert float(p[0]) == pytest.approx(3.0, abs=0.1)


def test_where_epsilon_stands() -> None:
    """First steps with an epsilon that matters, by hand: the gradient is 2, the rate 1."""

    def first(formula: Formula, kept: tuple[str, ...], **options: Any) -> float:
        state: dict[str, Any] = {key: np.zeros(1) for key in kept}
        state["step"] = 1
        given = {"lr": 1.0, "eps": 5.0, **options}
        return -float(formula(np, np.zeros(1), np.full(1, 2.0), state, given)[0])

    square = ("sum",)
    assert first(formulas.adagrad, square) == pytest.approx(2 / (2 + 5))
    adam = {"betas": (0.5, 0.75), "amsgrad": False}
    assert first(formulas.adam, MOMENTS, **adam) == pytest.approx(2 / (2 + 5))
    # the root is that of 0.25 * 4, and its bias 0.5
    assert first(formulas.adam, MOMENTS, **adam, eps_scaled=True) == pytest.approx(1 / (1 + 5))
    largest = ("exp_avg", "exp_inf")
    assert first(formulas.adamax, largest, betas=(0.5, 0.5)) == pytest.approx(2 / (2 + 5))


def test_tensors_are_not_written_to() -> None:
    """On tensors a formula leaves what it was given, and the step has a derivative."""
    p, xp = wg.asarray([1.0, 2.0]), wg.Tensor._namespace

    def stepped(rate: Any) -> Any:
        state = {"exp_avg": wg.zeros(2), "exp_avg_sq": wg.zeros(2), "step": 1}
        options = {"lr": rate, "betas": (0.5, 0.5), "eps": 0.0, "amsgrad": False}
        return wg.sum(formulas.adam(xp, p, wg.asarray([3.0, -4.0]), state, options))

    assert float(wg.grad(stepped)(wg.asarray(0.1))) == pytest.approx(0.0)
    np.testing.assert_array_equal(np.asarray(p), [1.0, 2.0])


@pytest.mark.parametrize("name", CASES)
def test_stepped_leaves_its_arguments(name: str) -> None:
    """Large arrays, which are stepped in pieces, and turned ones, which are not, all agree."""
    formula, rate, options, kept = CASES[name]
    rng = np.random.default_rng(0)
    p, g = rng.normal(size=(2, 300, 200))
    state: dict[str, Any] = {key: rng.uniform(0.5, 0.7, size=p.shape) for key in kept}
    given = {**options, "lr": rate}
    own = {**{key: array.copy() for key, array in state.items()}, "step": 2}
    expected = formula(np, p.copy(), g, own, given)
    for turn in (lambda x: x, lambda x: np.asarray(x.T.copy().T)):
        arrays = {key: turn(array) for key, array in state.items()}
        before = {key: array.copy() for key, array in arrays.items()}
        new: dict[str, Any] = {**arrays, "step": 2}
        moved = formulas.stepped(formula, turn(p), g, new, given)
        np.testing.assert_array_equal(turn(p), p)
        np.testing.assert_allclose(moved, expected, rtol=1e-12)
        for key in kept:
            np.testing.assert_array_equal(arrays[key], before[key])
            np.testing.assert_allclose(new[key], own[key], rtol=1e-12)
