"""The checker is checked: it accepts right rules and rejects wrong ones, at each order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.extend import REGISTRY, elementwise, linear, reduction, sample, special
from wengert.transforms.check import GradientCheckError

X = np.array([[0.3, -0.7, 1.1], [0.9, 1.7, -0.2]])


@pytest.fixture
def declare() -> Iterator[None]:
    """Let a test declare operations, and forget them afterwards."""
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


# -- right rules ------------------------------------------------------------------------------

RIGHT: dict[str, tuple[Any, list[Any]]] = {
    "one array": (wg.sin, [X]),
    "a number": (lambda x: x**3, [0.5]),
    "a list of numbers": (lambda x: x * x, [[0.5, 1.0]]),
    "two arguments": (lambda x, y: x * wg.exp(y), [X, X[0]]),
    "a dict": (lambda p: p["w"] @ X + p["b"], [{"w": X.T.copy(), "b": X[0]}]),
    "a list of arrays": (lambda ps: wg.sum(ps[0] * ps[1][0]), [[X, (X[0],)]]),
    "several results": (lambda x: (wg.sin(x), {"more": x * x}), [X]),
    "complex": (lambda z: z * z * wg.conj(z), [X + 1j * X[::-1]]),
    "complex to real": (wg.abs, [X + 1j * X[::-1]]),
    "real to complex": (lambda x: wg.exp(1j * x), [X]),
    "complex and real": (lambda z, x: wg.real(z * x), [X + 1j * X[::-1], X]),
    "no complex step": (lambda x: wg.maximum(x, 0.25) ** 2, [X]),
    "single precision, checked in double": (wg.tanh, [X.astype(np.float32)]),
    "a tensor": (wg.exp, [wg.asarray(X)]),
    "no elements": (wg.exp, [np.zeros((0, 2))]),
    "constant": (lambda x: wg.ones(3), [X]),
    "with an integer result": (lambda x: (x * x, wg.argmax(x)), [X]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_are_accepted(name: str) -> None:
    function, args = RIGHT[name]
    wg.check_grads(function, args, order=3)


def test_it_leaves_the_registry_and_tapes_alone() -> None:
    x = wg.asarray(X)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x * x)
        wg.check_grads(wg.sin, [X])
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * X)


# -- wrong rules ------------------------------------------------------------------------------


def wrong(function: Any, args: list[Any], order: int = 2, **how: Any) -> str:
    """Return what check_grads has against a function, which must be something."""
    with pytest.raises(GradientCheckError) as caught:
        wg.check_grads(function, args, order=order, **how)
    return str(caught.value)


@pytest.mark.usefixtures("declare")
@pytest.mark.parametrize(
    "rule",
    [
        lambda xp, g, x: g * xp.sin(x),
        lambda xp, g, x: -g * xp.cos(x),
        lambda xp, g, x: g * xp.cos(x) * 1.00001,
        lambda xp, g, x: g * xp.cos(x) + 1e-5,
        lambda xp, g, x: g * 0.0,
        lambda xp, g, x: g * float("nan"),
    ],
    ids=["another function", "sign", "factor", "offset", "zero", "nan"],
)
def test_a_wrong_rule_is_rejected(rule: Any) -> None:
    f = elementwise("wrong_sin", rule, compute=lambda xp, x: xp.sin(x))
    message = wrong(f, [X], order=1)
    assert "wrong_sin: derivative of order 1" in message


@pytest.mark.usefixtures("declare")
def test_a_wrong_rule_of_one_of_two_arguments_is_rejected() -> None:
    f = elementwise(
        "wrong_divide",
        lambda xp, g, x2: g / x2,
        lambda xp, g, x1, x2: g * x1 / (x2 * x2),  # the sign
        compute=lambda xp, x1, x2: x1 / x2,
    )
    message = wrong(f, [X, X + 3], order=1)
    assert "argument 1" in message


@pytest.mark.usefixtures("declare")
def test_a_transpose_that_is_not_one_is_rejected() -> None:
    f = linear(
        "wrong_flip",
        lambda xp, g: g,
        compute=lambda xp, x: xp.flip(x, axis=0),
        samples=[sample((2, 3))],
    )
    assert "wrong_flip" in wrong(f, [X], order=1)


@pytest.mark.usefixtures("declare")
def test_a_wrong_reduction_is_rejected() -> None:
    f = reduction(
        "wrong_mean", lambda xp, g: g, compute=lambda xp, x, axis, keepdims: xp.mean(x, axis=axis)
    )
    assert "argument 0" in wrong(lambda x: f(x, axis=(1,), keepdims=False), [X], order=1)


@pytest.mark.usefixtures("declare")
def test_an_element_that_is_wrong_alone_is_found_and_named() -> None:
    def rule(xp: Any, g: Any, x: Any) -> Any:
        here = xp.asarray(np.array([[1.0, 1.0, 1.0], [1.0, 1.01, 1.0]]))
        return 2 * g * x * here

    f = special("wrong_element", rule, samples=[sample((2, 3))], compute=lambda xp, x: x * x)
    message = wrong(f, [X], order=1)
    assert "Worst element: argument 0[1, 1] = 1.7" in message
    assert "order 1" in message


def test_the_worst_argument_is_named() -> None:
    @wg.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return x * y, lambda g: (g * y, wg.where(wg.asarray([True, False, True]), g * x, 5 * g))

    message = wrong(f, [X[0], X[1]], order=1)
    assert "argument 1[1] = 1.7" in message
    assert "where the rule gives" in message


def test_a_number_has_no_index() -> None:
    f = wg.custom_gradient(lambda x: (x * x, lambda g: g * x))
    assert "argument 0 = 0.5" in wrong(f, [0.5], order=1)


@pytest.mark.usefixtures("declare")
def test_a_rule_that_is_wrong_only_at_second_order_is_rejected() -> None:
    def rule(xp: Any, g: Any, x: Any) -> Any:
        return g * xp.cos(wg.stop_gradient(x) if isinstance(x, wg.Tensor) else x)

    f = elementwise("detached_sin", rule, compute=lambda xp, x: xp.sin(x))
    wg.check_grads(f, [X], order=1)
    message = wrong(f, [X], order=2)
    assert "derivative of order 2" in message


def test_a_custom_gradient_that_is_wrong_only_at_second_order_is_rejected() -> None:
    @wg.custom_gradient
    def cube(x: Any) -> Any:
        fixed = wg.stop_gradient(x)
        return x**3, lambda g: g * 3 * fixed**2

    wg.check_grads(cube, [X], order=1)
    assert "order 2" in wrong(cube, [X], order=2)


def test_a_rule_that_is_wrong_only_at_third_order_is_rejected() -> None:
    @wg.custom_gradient
    def second(x: Any) -> Any:
        fixed = wg.stop_gradient(x)
        return 3 * x**2, lambda g: g * 6 * fixed

    @wg.custom_gradient
    def cube(x: Any) -> Any:
        return x**3, lambda g: g * second(x)

    wg.check_grads(cube, [X], order=2)
    assert "order 3" in wrong(cube, [X], order=3)


def test_a_second_order_that_is_wrong_in_the_weights_is_rejected() -> None:
    @wg.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda g: wg.stop_gradient(g) * 2 * x  # g depends on the argument, too

    assert "weight 0[" in wrong(square, [X], order=2)
    assert "order 2" in wrong(lambda x: wg.exp(square(x)), [X], order=2)


def test_a_missing_conjugate_is_rejected() -> None:
    z = X + 1j * X[::-1]
    f = wg.custom_gradient(lambda z: (z * z, lambda g: g * 2 * z))
    assert "order 1" in wrong(f, [z], order=1)
    right = wg.custom_gradient(lambda z: (z * z, lambda g: g * 2 * wg.conj(z)))
    wg.check_grads(right, [z], order=2)


def test_a_wrong_nested_argument_is_named_by_its_place() -> None:
    @wg.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return x * y, lambda g: (g * y, g * y)

    assert "argument 1[0]" in wrong(
        lambda p: f(p["a"], p["b"]), [{"a": X[0, :1], "b": X[1, :1]}], 1
    )


def test_a_cut_path_is_rejected() -> None:
    assert "order 1" in wrong(lambda x: x * wg.stop_gradient(x), [X], order=1)


def test_the_tolerance_is_the_callers() -> None:
    f = wg.custom_gradient(lambda x: (x * x, lambda g: g * 2.001 * x))
    wg.check_grads(f, [X], order=1, tolerance=1e-2)
    wrong(f, [X], order=1, tolerance=1e-5)


def test_a_seed_gives_the_same_answer() -> None:
    f = wg.custom_gradient(lambda x: (x * x, lambda g: g * x))
    assert wrong(f, [X], 1, seed=3) == wrong(f, [X], 1, seed=3)
    assert wrong(f, [X], 1, seed=3) != wrong(f, [X], 1, seed=4)


# -- bad calls --------------------------------------------------------------------------------


def test_arguments_come_in_a_list() -> None:
    with pytest.raises(TypeError, match=r"write a list of arguments, \[x\] for one"):
        wg.check_grads(wg.sin, X)


@pytest.mark.parametrize("bad", [None, "text", object()])
def test_what_is_no_array_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError):
        wg.check_grads(wg.sin, [bad])


@pytest.mark.parametrize("array", [np.arange(3), np.array([True, False]), [1, 2], 1])
def test_integers_are_refused(array: Any) -> None:
    with pytest.raises(wg.DtypeError, match="float"):
        wg.check_grads(lambda x: x * x, [array])


def test_the_callers_arrays_stay_theirs() -> None:
    mine = X.copy()
    wg.check_grads(lambda x: x * x, [mine])
    mine[0, 0] = 5.0
