"""Running extremes and sums of exponentials, and what running totals and extremes do at ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import assert_near, check_on_strict, on_strict, vjp

X = np.array([[0.3, -1.0, 2.0, 0.7], [1.5, 1.1, -0.3, 3.0], [0.9, 2.5, 0.1, -0.5]])
RUNNING = {
    "cumulative_logsumexp": np.logaddexp,
    "cumulative_max": np.maximum,
    "cumulative_min": np.minimum,
}


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("name", RUNNING)
def test_values_and_derivatives(name: str, axis: int) -> None:
    function = getattr(wg, name)
    assert_near(function(wg.asarray(X), axis=axis), RUNNING[name].accumulate(X, axis=axis))
    wg.check_grads(lambda x: function(x, axis=axis), [X], order=2)
    check_on_strict(lambda x: function(x, axis=axis), [X])


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 8, 9, 33])
def test_lengths(name: str, length: int) -> None:
    x = np.arange(float(length)) * 0.6180339887 % 1  # no two are near each other
    function = getattr(wg, name)
    expected = RUNNING[name].accumulate(x)
    assert_near(function(x), expected)
    assert_near(function(on_strict(x)), expected)
    if length:
        wg.check_grads(function, [x], order=2)


@pytest.mark.parametrize("name", RUNNING)
def test_single_precision_stays(name: str) -> None:
    function, x = getattr(wg, name), X.astype(np.float32)
    assert function(x, axis=0).dtype == wg.float32
    assert wg.grad(lambda x: wg.sum(function(x, axis=1)))(x).dtype == np.float32


@pytest.mark.parametrize("name", RUNNING)
def test_bad_input(name: str) -> None:
    function = getattr(wg, name)
    for make in (wg.asarray, on_strict):
        with pytest.raises(ValueError, match=rf"{name}: shape \(3, 4\) has 2 axes; say which"):
            function(make(X))
        with pytest.raises(np.exceptions.AxisError, match="axis 2 of an array with 2 axes"):
            function(make(X), axis=2)
        with pytest.raises(wg.DtypeError, match=f"{name}: got .*complex128"):
            function(make(X * 1j), axis=0)


def test_integers() -> None:
    x = np.array([3, 5, 1, 5])
    assert wg.cumulative_max(x).tolist() == [3, 5, 5, 5]
    assert wg.cumulative_min(x).tolist() == [3, 3, 1, 1]
    assert wg.cumulative_max(on_strict(x)).tolist() == [3, 5, 5, 5]
    assert wg.cumulative_logsumexp(x).dtype == wg.float64


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=9))
def test_ties_share_as_in_max_of_what_came_so_far(values: list[float]) -> None:
    x = np.array(values)
    weights = np.arange(1.0, len(x) + 1)
    for running, whole in ((wg.cumulative_max, wg.max), (wg.cumulative_min, wg.min)):
        got = wg.grad(lambda x, f=running: wg.sum(f(x) * weights))(x)
        expected = sum(
            w * wg.grad(lambda x, n=i + 1, f=whole: f(x[:n]))(x) for i, w in enumerate(weights)
        )
        np.testing.assert_allclose(got, expected, atol=1e-14)


def test_nan_stays() -> None:
    x = np.array([1.0, 2.0, np.nan, 3.0])
    for function in (wg.cumulative_max, wg.cumulative_min):
        value, pull = wg.vjp(function, x)
        np.testing.assert_array_equal(np.asarray(value)[2:], [np.nan, np.nan])
        g = pull(np.array([1.0, 1.0, 1.0, 1.0]))[0]
        assert g[2] == 2 and g[3] == 0 and g[:2].sum() == 2
        np.testing.assert_array_equal(function(on_strict(x)).numpy(), np.asarray(value))
    assert np.isnan(wg.cumulative_logsumexp(x).numpy()[2:]).all()


def test_logsumexp_of_infinite_and_large_numbers() -> None:
    inf = np.inf
    x = np.array([-inf, -inf, 1000.0, -1000.0, 1000.0])
    value, pull = wg.vjp(wg.cumulative_logsumexp, x)
    log2 = np.log(2)
    np.testing.assert_allclose(np.asarray(value), [-inf, -inf, 1000, 1000, 1000 + log2])
    g = pull(np.array([0.0, 0.0, 1.0, 1.0, 1.0]))[0]
    np.testing.assert_allclose(g, [0, 0, 2.5, 0, 0.5])
    value, pull = wg.vjp(wg.cumulative_logsumexp, np.array([1.0, inf, 2.0]))
    np.testing.assert_allclose(np.asarray(value), [1, inf, inf])
    np.testing.assert_allclose(pull(np.ones(3))[0], [1, 2, 0])


def test_logsumexp_of_many_numbers() -> None:
    x = np.linspace(-800, 800, 2001)
    weights = np.cos(np.arange(2001.0))
    got = wg.grad(lambda x: wg.sum(wg.cumulative_logsumexp(x) * weights))(x)
    y = np.logaddexp.accumulate(x)
    exact = [np.sum(weights[i:] * np.exp(x[i] - y[i:])) for i in range(2001)]
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-12)


def test_weights_that_are_negative_or_zero() -> None:
    x = wg.asarray(X)
    for weights in (-np.ones(X.shape), np.zeros(X.shape), np.sign(X)):
        _, (g,) = vjp(lambda x: wg.cumulative_logsumexp(x, axis=1), [x], [weights])
        y = np.logaddexp.accumulate(X, axis=1)
        exact = [
            [np.sum(weights[r, i:] * np.exp(X[r, i] - y[r, i:])) for i in range(4)]
            for r in range(3)
        ]
        assert_near(g, np.array(exact))


#: Points where the mathematics leaves a choice: (function, argument, gradient of the sum).
POINTS: dict[str, tuple[Any, Any, Any]] = {
    "cumulative_max, a tie": (wg.cumulative_max, [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]),
    "cumulative_min, a tie": (wg.cumulative_min, [1.0, 1.0, 2.0], [2.0, 1.0, 0.0]),
    "cumulative_prod at zeros": (wg.cumulative_prod, [2.0, 0.0, 3.0, 0.0], [1.0, 8.0, 0.0, 0.0]),
    "norm at 0": (np.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
    "norm of rows, one of which is 0": (
        lambda x: np.linalg.norm(x, axis=1),
        [[0.0, 0.0], [3.0, 4.0]],
        [[0.0, 0.0], [0.6, 0.8]],
    ),
    "std of equal elements, with correction": (
        lambda x: wg.std(x, correction=1),
        [0.3, 0.3, 0.3],
        [0.0, 0.0, 0.0],
    ),
    "var of one element": (wg.var, [4.0], [0.0]),
    "std of one element": (wg.std, [4.0], [0.0]),
    "max of infinities": (wg.max, [np.inf, np.inf, 1.0], [0.5, 0.5, 0.0]),
}


@pytest.mark.parametrize("name", POINTS)
def test_special_points(name: str) -> None:
    function, x, expected = POINTS[name]
    with np.errstate(all="ignore"):
        got = wg.grad(lambda x: wg.sum(function(x)))(np.array(x))
    np.testing.assert_allclose(got, expected, atol=1e-15)
