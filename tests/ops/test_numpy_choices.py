"""np.interp, np.piecewise, np.choose and the polynomials: second order, both modes, examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.numpy_cases import assert_same

X = np.array([-1.9, 0.4, 1.1])
KNOTS, HEIGHTS = np.array([-1.5, -0.6, 0.3, 1.6]), np.array([1.0, 3.0, -2.0, 0.5])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "apply_along_axis": lambda x: np.apply_along_axis(lambda v: v**3, 0, x),
    "apply_over_axes": lambda x: np.apply_over_axes(lambda a, axis: np.sum(a**2, axis), x, [0]),
    "choose": lambda x: np.choose([0, 1, 0], [x**2, x**3]),
    "geomspace": lambda x: np.geomspace(np.exp(x[0]), np.exp(x[1]), 4),
    "insert": lambda x: np.insert(x**2, 1, x[0] ** 3),
    "interp of x": lambda x: np.interp(x, KNOTS, HEIGHTS) ** 2,
    "interp of points": lambda x: np.interp(np.array([0.5, 0.7]), np.sort(x), x**2),
    "interp in a period": lambda x: np.interp(np.array([0.1, 0.3]), x, x**2, period=2.5),
    "nanmedian": lambda x: np.nanmedian(x**3),
    "nanquantile": lambda x: np.nanquantile(x**2, [0.2, 0.7]),
    "nanstd": np.nanstd,
    "nanvar": lambda x: np.nanvar(x**2),
    "piecewise": lambda x: np.piecewise(x, [x < 0, x > 1], [np.sin, 2.0, np.exp]),
    "poly": np.poly,
    "polyadd": lambda x: np.polyadd(x**2, x[:2]),
    "polyder": lambda x: np.polyder(x**3),
    "polydiv": lambda x: np.concatenate(np.polydiv(x, x[1:])),
    "polyfit": lambda x: np.polyfit(x, HEIGHTS[:3], 1),
    "polyint": lambda x: np.polyint(x**2, 2),
    "polymul": lambda x: np.polymul(x, x[1:]),
    "polysub": lambda x: np.polysub(x[:2], x**2),
    "roots": lambda x: np.abs(np.roots(x)) ** 2,
    "unwrap": lambda x: np.unwrap(4 * x**2),
    "vander": np.vander,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name: str) -> None:
    wg.check_grads(FUNCTIONS[name], [X], order=2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_agree(name: str) -> None:
    function = FUNCTIONS[name]
    y, pull = wg.vjp(function, X)
    tangent = np.array([0.3, -0.7, 0.5])
    weights = np.cos(np.arange(y.size) + 1.0).reshape(y.shape)
    moved = wg.jvp(function, (X,), (tangent,))[1]
    np.testing.assert_allclose(np.sum(weights * moved), np.sum(pull(weights)[0] * tangent))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_of_vmap(name: str) -> None:
    function = FUNCTIONS[name]
    many = np.stack([X, X + 0.1, X[[1, 0, 2]]])

    def gradient(x: Any) -> Any:
        return wg.grad(lambda x: wg.sum(function(x) ** 2))(x)

    for f in (function, gradient):
        one_by_one = np.stack([wg.asarray(f(wg.asarray(x))).numpy() for x in many])
        np.testing.assert_allclose(wg.vmap(f)(wg.asarray(many)).numpy(), one_by_one, rtol=1e-9)


# -- interp -----------------------------------------------------------------------------------


def test_interp_has_the_slope_to_the_right_at_a_point() -> None:
    slopes = np.diff(HEIGHTS) / np.diff(KNOTS)
    got = wg.grad(lambda x: np.sum(np.interp(x, KNOTS, HEIGHTS)))(KNOTS)
    np.testing.assert_allclose(got, [*slopes, 0.0])
    assert_same(np.interp(wg.asarray(KNOTS), KNOTS, HEIGHTS), np.interp(KNOTS, KNOTS, HEIGHTS))


def test_interp_beyond_its_points() -> None:
    ends = np.array([-5.0, 5.0])
    got = wg.grad(lambda x: np.sum(np.interp(x, KNOTS, HEIGHTS)))(ends)
    assert got.tolist() == [0.0, 0.0]
    by_heights = wg.grad(lambda f: np.sum(np.interp(ends, KNOTS, f)))(HEIGHTS)
    assert by_heights.tolist() == [1.0, 0.0, 0.0, 1.0]
    x = wg.asarray(ends)
    by_left = wg.grad(lambda c: np.sum(np.interp(x, KNOTS, HEIGHTS, left=c)))(2.0)
    assert by_left == 1.0


def test_interp_where_values_are_hard() -> None:
    x = np.array([np.nan, -np.inf, np.inf, 0.5, 1.0])
    steps = np.array([0.0, 1.0, 1.0, 2.0])  # a jump at 1
    assert_same(np.interp(wg.asarray(x), steps, HEIGHTS), np.interp(x, steps, HEIGHTS))
    assert_same(np.interp(wg.asarray([1, 2]), [0, 3], [1, 7]), np.interp([1, 2], [0, 3], [1, 7]))
    half = wg.asarray(np.array([0.5], np.float32))
    assert np.interp(half, KNOTS, HEIGHTS).dtype == np.float64
    with pytest.raises(wg.ShapeError, match=r"xp of shape \(4,\), fp of shape \(3,\)"):
        np.interp(half, KNOTS, HEIGHTS[:3])
    with pytest.raises(ValueError, match="period is 0"):
        np.interp(half, KNOTS, HEIGHTS, period=0.0)


# -- piecewise and choose ---------------------------------------------------------------------


def test_piecewise_calls_a_function_where_it_holds_only() -> None:
    seen: list[tuple[int, ...]] = []

    def root(x: Any) -> Any:
        seen.append(x.shape)
        return np.sqrt(x)

    x = np.array([-4.0, 4.0, -9.0, 9.0])
    got = wg.grad(lambda x: np.sum(np.piecewise(x, [x > 0, x > 100], [root, root, 0.0])))(x)
    np.testing.assert_allclose(got, [0.0, 0.25, 0.0, 1 / 6])
    assert seen == [(2,)]


def test_a_later_piece_comes_before_an_earlier_one() -> None:
    x = np.array([1.0, 2.0, 3.0])
    pieces = ([x > 0, x > 1], [lambda v: v, lambda v: v**2])
    assert_same(np.piecewise(wg.asarray(x), *pieces), np.piecewise(x, *pieces))


def test_piecewise_and_choose_say_what_they_expect() -> None:
    x = wg.asarray(X)
    with pytest.raises(ValueError, match="3 functions for 1 conditions"):
        np.piecewise(x, [X > 0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not from 0 to 1"):
        np.choose([0, 1, 2], [x, x])
    with pytest.raises(ValueError, match="mode is 'far'"):
        np.choose([0, 1, 1], [x, x], mode="far")


def test_vander_has_a_derivative_at_zero() -> None:
    got = wg.jacobian(lambda x: np.vander(x, 4))(np.zeros(1))
    assert got[0, :, 0].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_roots_with_zeros_at_both_ends() -> None:
    p = np.array([0.0, 1.0, -3.0, 2.0, 0.0])
    assert_same(np.roots(wg.asarray(p)), np.roots(p))
    assert_same(np.roots(wg.asarray(np.zeros(3))), np.roots(np.zeros(3)))
    assert_same(np.poly(wg.asarray(np.eye(2) * 2.0)), np.poly(np.eye(2) * 2.0))
