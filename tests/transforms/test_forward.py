"""Forward mode as users meet it; `tests/ops/test_modes.py` has every operation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
x, v = rng.normal(size=4), rng.normal(size=4)


def program(np: Any, x: Any) -> Any:
    y = np.tanh(x[1:] * x[:-1]) + np.sum(x**2)
    return np.stack([np.cumsum(y), np.flip(y) * np.max(x)])


def test_jvp_is_jaxs() -> None:
    got, moved = wg.jvp(lambda x: program(np, x), (x,), (v,))
    expected, tangent = jax.jvp(lambda x: program(jnp, x), (x,), (v,))
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    np.testing.assert_allclose(moved, tangent, rtol=1e-13)
    assert type(moved) is np.ndarray


def test_forward_modes_nest() -> None:
    def third(f: Any, jvp: Any) -> Any:
        one = lambda x: jvp(f, (x,), (v,))[1]  # noqa: E731
        two = lambda x: jvp(one, (x,), (v,))[1]  # noqa: E731
        return jvp(two, (x,), (v,))[1]

    got = third(lambda x: program(np, x), wg.jvp)
    np.testing.assert_allclose(got, third(lambda x: program(jnp, x), jax.jvp), rtol=1e-10)


def test_nests_and_none() -> None:
    def f(point: dict[str, Any], scale: Any) -> Any:
        return {"product": point["a"] * point["b"] * scale}

    point = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}
    moving = {"a": np.array([1.0, 0.0]), "b": None}
    value, tangent = wg.jvp(f, (point, 2.0), (moving, 0.5))
    np.testing.assert_allclose(value["product"], [6.0, 16.0])
    np.testing.assert_allclose(tangent["product"], [6.0 + 1.5, 4.0])


def test_has_aux() -> None:
    value, tangent, aux = wg.jvp(lambda x: (x**2, "more"), (3.0,), (1.0,), has_aux=True)
    assert (value, tangent, aux) == (9.0, 6.0, "more")


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return wg.sin(x)

    y, push = wg.linearize(f, x)
    for direction in np.eye(4):
        np.testing.assert_allclose(push(direction), np.cos(x) * direction)
    assert len(calls) == 1
    np.testing.assert_allclose(y, np.sin(x))


def test_what_does_not_depend_has_a_tangent_of_zero() -> None:
    _, tangent = wg.jvp(lambda x: (x, wg.ones(2)), (1.0,), (1.0,))
    assert tangent[0] == 1.0
    np.testing.assert_array_equal(tangent[1], [0.0, 0.0])


# -- ForwardAccumulator ---------------------------------------------------------------------------


def test_accumulator_over_a_tape_gives_products_with_the_hessian() -> None:
    t = wg.asarray(x)
    with wg.ForwardAccumulator(t, wg.asarray(v)) as forward, wg.GradientTape() as tape:
        tape.watch(t)
        loss = wg.sum(t**3) * t[0]
    gradient = tape.gradient(loss, t)
    with wg.ForwardAccumulator(t, wg.asarray(v)) as forward:
        with wg.GradientTape() as tape:
            tape.watch(t)
            loss = wg.sum(t**3) * t[0]
        gradient = tape.gradient(loss, t)
    hessian = wg.hessian(lambda x: wg.sum(x**3) * x[0])(x)
    np.testing.assert_allclose(forward.jvp(gradient).numpy(), hessian @ v)


def test_a_tape_over_an_accumulator() -> None:
    t = wg.asarray(x)
    with wg.GradientTape() as tape:
        tape.watch(t)
        with wg.ForwardAccumulator(t, wg.asarray(v)) as forward:
            y = wg.sum(t**3)
        moved = forward.jvp(y)
    np.testing.assert_allclose(tape.gradient(moved, t).numpy(), 6 * x * v)


def test_variables_and_nests() -> None:
    w, b = wg.Variable([1.0, 2.0]), wg.Variable(3.0)
    with wg.ForwardAccumulator([w, b], [np.array([1.0, 0.0]), 2.0]) as forward:
        y = {"sum": wg.sum(w) * b, "none": wg.asarray(1.0)}
    moved = forward.jvp(y)
    assert moved["sum"].item() == 1.0 * 3.0 + 2.0 * 3.0
    assert moved["none"] is None
    assert forward.jvp(y, unconnected_gradients="zero")["none"].item() == 0.0


def test_a_tangent_of_one_element_costs_its_cone() -> None:
    big = wg.asarray(rng.normal(size=(64, 64)))
    with wg.ForwardAccumulator(big.at[3, 5], 1.0) as forward:
        y = wg.tanh(big * 2.0)[2:10]
    moved = forward.jvp(y, dense=False)
    assert isinstance(moved, wg.Block)
    assert moved.values.shape == (1, 1)
    assert moved.index == (slice(1, 2, 1), slice(5, 6, 1))
    product = wg.asarray(rng.normal(size=(64, 32)))
    with wg.ForwardAccumulator(big.at[3, 5], 1.0) as forward:
        z = big @ product
    assert forward.jvp(z, dense=False).values.shape == (1, 32)


def test_blocks_are_taken_as_tangents() -> None:
    t = wg.asarray(x)
    block = wg.Block((4,), (range(1, 3),), wg.asarray([1.0, 2.0]))
    with wg.ForwardAccumulator(t, block) as forward:
        y = t**2
    np.testing.assert_allclose(forward.jvp(y).numpy(), 2 * x * [0, 1, 2, 0])


def test_where_is_free_of_nan() -> None:
    _, tangent = wg.jvp(
        lambda x: wg.where(x > 0, wg.sqrt(x), x), (np.array([0.0, 4.0]),), (np.ones(2),)
    )
    np.testing.assert_allclose(tangent, [1.0, 0.25])


def test_bad_input() -> None:
    with pytest.raises(wg.ShapeError, match=r"shape \(3,\) and its primal \(4,\)"):
        wg.jvp(wg.sin, (x,), (np.ones(3),))
    with pytest.raises(TypeError, match=r"primals is ndarray; write a tuple"):
        wg.jvp(wg.sin, x, v)
    with pytest.raises(wg.ShapeError, match="one tangent for each primal"):
        wg.jvp(wg.sin, (x,), (v, v))
    with pytest.raises(wg.DtypeError, match="complex128 and its primal float64"):
        wg.jvp(wg.sin, (x,), (v * 1j,))
    with pytest.raises(wg.DtypeError, match="int64"):
        wg.jvp(wg.sin, (np.arange(3),), (np.ones(3),))
    forward = wg.ForwardAccumulator(wg.asarray(x), v)
    with pytest.raises(wg.TapeError, match="was not entered"):
        forward.jvp(wg.asarray(x))
    with pytest.raises(ValueError, match="'nothing'; write 'none' or 'zero'"):
        forward.jvp(wg.asarray(x), unconnected_gradients="nothing")


def test_several_primals_may_be_parts_of_one_tensor() -> None:
    a = wg.asarray([1.0, 2.0, 3.0])
    with wg.ForwardAccumulator((a.at[0], a.at[1:]), (1.0, np.ones(2))) as forward:
        y = a**2
    np.testing.assert_allclose(forward.jvp(y).numpy(), [2.0, 4.0, 6.0])


def test_arguments_that_do_not_move_may_be_anything() -> None:
    def f(x: Any, i: int, name: str) -> Any:
        return x[i] ** 2

    value, tangent = wg.jvp(f, (x, 2, "text"), (v, None, None))
    np.testing.assert_allclose(tangent, 2 * x[2] * v[2])
    assert isinstance(value, np.float64)


# -- selections with steps of either sign ---------------------------------------------------------

SELECTIONS = [np.s_[::-1], np.s_[4:1:-2], np.s_[1::2], np.s_[-1], np.s_[np.array([3, 0, 3])]]
THROUGH: dict[str, Any] = {
    "slice": lambda x: x[1:],
    "slice back": lambda x: x[3:0:-2],
    "concat": lambda x: wg.concat([x, 2 * x]),
    "pad": lambda x: wg.pad(x, (1, 2)),
    "roll": lambda x: wg.roll(x, 2, axis=0),
    "flip": wg.flip,
    "reshape": lambda x: wg.reshape(x, (1, 5)),
    "matmul": lambda x: wg.asarray(np.arange(10.0).reshape(2, 5)) @ x,
    "cumulative_sum": wg.cumulative_sum,
    "softmax": wg.nn.softmax,
    "sum": wg.sum,
    "sort": wg.sort,
    "outside": lambda x: x[None, 2],
}


@pytest.mark.parametrize("key", SELECTIONS, ids=repr)
@pytest.mark.parametrize("name", THROUGH)
def test_tangents_of_selections(name: str, key: Any) -> None:
    raw = np.array([0.3, -1.2, 2.5, 0.9, 0.1])
    given = np.arange(1.0, 1 + np.size(raw[key])).reshape(np.shape(raw[key]))
    direction = np.zeros(5)
    np.add.at(direction, key, given)
    x = wg.asarray(raw)
    with wg.ForwardAccumulator(x.at[key], given) as accumulator:
        y = THROUGH[name](x)
    expected = wg.jacobian(THROUGH[name], mode="reverse")(raw) @ direction
    np.testing.assert_allclose(
        accumulator.jvp(y, unconnected_gradients="zero"), expected, atol=1e-12
    )
    if not isinstance(key, np.ndarray):
        columns = wg.jacobian(THROUGH[name], wrt=key, mode="forward")(raw)
        rows = wg.jacobian(THROUGH[name], wrt=key, mode="reverse")(raw)
        np.testing.assert_allclose(columns, rows, atol=1e-12)


def test_a_real_tangent_meets_an_empty_complex_one() -> None:
    x, y = wg.asarray(np.ones((3, 3), complex)), wg.asarray(np.ones((3, 3)))
    nothing, some = np.s_[..., np.zeros(0, int), 0], np.s_[3:1:-2, None, -2]
    tangents = [np.zeros(0, complex), np.array([[0.5]])]
    with wg.ForwardAccumulator([x.at[nothing], y.at[some]], tangents) as accumulator:
        z = y + x
    expected = np.zeros((3, 3), complex)
    expected[2, 1] = 0.5
    np.testing.assert_array_equal(accumulator.jvp(z), expected)
