"""concat and stack of many parts: linear time, in both modes and at second order."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg


def _reverse(parts: list[Any], join: Callable[..., Any]) -> Any:
    with wg.GradientTape() as tape:
        tape.watch(parts)
        y = wg.sum(join(parts) ** 2)
    return tape.gradient(y, parts)


def _forward(parts: list[Any], join: Callable[..., Any]) -> Any:
    return wg.jvp(lambda *parts: join(parts), tuple(parts), tuple(parts))


def _twice(parts: list[Any], join: Callable[..., Any]) -> Any:
    with wg.GradientTape() as outer:
        outer.watch(parts)
        with wg.GradientTape() as inner:
            inner.watch(parts)
            y = wg.sum(join(parts) ** 3)
        first = inner.gradient(y, parts)
        total = wg.sum(join(first))
    return outer.gradient(total, parts)


@pytest.mark.parametrize("join", [wg.concat, wg.stack])
@pytest.mark.parametrize("way", [_reverse, _forward, _twice])
def test_time_is_linear_in_the_number_of_parts(way: Any, join: Any) -> None:
    def seconds(count: int) -> float:
        parts = [wg.asarray(np.full(2, 1.0 + k)) for k in range(count)]
        best = np.inf
        for _ in range(3):
            start = time.thread_time()  # what this thread computed, whatever else runs
            way(parts, join)
            best = min(best, time.thread_time() - start)
        return best

    few, many = seconds(400), seconds(3200)
    assert many < 24 * few  # 8 times the parts; quadratic time would take 64 times as long


def test_steps_of_either_sign_through_a_join() -> None:
    a, b, c = (np.arange(n) + 10.0 * n for n in (3, 4, 5))
    whole = np.concatenate([a, b, c])
    for key in (slice(None, None, -1), slice(10, 1, -2), slice(1, 12, 3), slice(4, 6), slice(7, 2)):
        tensors = [wg.asarray(part) for part in (a, b, c)]
        with wg.GradientTape(persistent=True) as tape:
            tape.watch(tensors)
            y = wg.concat(tensors)
            z = wg.sum(y[key] ** 2)
        expected = np.zeros(12)
        expected[key] = 2 * whole[key]
        for got in (
            tape.gradient(z, tensors, unconnected_gradients="zero"),
            [g.todense() if isinstance(g, wg.Block) else g
             for g in tape.gradient(z, tensors, unconnected_gradients="zero", dense=False)],
        ):  # fmt: skip
            np.testing.assert_allclose(np.concatenate([np.asarray(g) for g in got]), expected)


def test_tangents_of_some_parts() -> None:
    x = wg.asarray([1.0, 2.0])
    y, tangent = wg.jvp(lambda x: wg.concat([x, np.zeros(1), x * x]), (x,), (wg.ones(2),))
    np.testing.assert_allclose(tangent, [1.0, 1.0, 0.0, 2.0, 4.0])
    assert y.shape == (5,)


def test_a_join_takes_arrays_beside_tensors() -> None:
    x, beside = wg.asarray(np.arange(6.0).reshape(2, 3)), np.ones((2, 3))
    for axis in (0, 1, -1):
        found = wg.jacobian(lambda a, k=axis: wg.concat([beside, a, beside], axis=k))(x)
        moved = np.moveaxis(found.numpy(), axis % 2, 0)
        width = x.shape[axis]
        assert not moved[:width].any() and not moved[2 * width :].any()
        middle = np.moveaxis(moved[width : 2 * width], 0, axis % 2)
        assert np.array_equal(middle.reshape(6, 6), np.eye(6))
    for axis in (0, 1, 2, -1, -3):
        joined = wg.stack([beside, x], axis=axis)
        assert np.array_equal(joined.numpy(), np.stack([beside, x.numpy()], axis=axis))


def test_an_array_beside_tensors_may_be_written_to_afterwards() -> None:
    x, beside = wg.asarray(np.arange(3.0)), np.ones(3)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        joined, total = wg.concat([x, beside]), x + beside
    beside[:] = 7.0
    assert joined.numpy().tolist() == [0.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    assert total.numpy().tolist() == [1.0, 2.0, 3.0]
    assert tape.gradient(total, x).numpy().tolist() == [1.0, 1.0, 1.0]


def test_a_stack_far_below_the_axes_is_refused() -> None:
    x = wg.asarray(np.ones((2, 3)))
    for axis in (-4, 3):
        with pytest.raises(np.exceptions.AxisError, match="stack: axis"):
            wg.stack([x, x], axis=axis)
