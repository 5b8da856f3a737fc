"""bfloat16 and float8: computed in float32 and rounded once, as float16 is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

SHAPE = (4, 6)


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Return normal numbers in bfloat16."""
    drawn = np.random.default_rng(seed).standard_normal(shape or SHAPE)
    return drawn.astype(wg.bfloat16)


def apart(got: Any, exact: Any) -> float:
    """Return how many units in the last place numbers are off, those near 0 of the mean size."""
    got, exact = (np.asarray(a).astype(np.float64) for a in (got, exact))
    scale = np.maximum(np.abs(exact), np.abs(exact).mean() + 1e-30)
    return float(np.max(np.abs(got - exact) / scale, initial=0.0)) * 256


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": wg.sin,
    "tanh": wg.tanh,
    "a number": lambda x: x * 1.01 + 0.3,
    "a power": lambda x: wg.abs(x) ** 1.3,
    "sum": lambda x: wg.sum(x, axis=1),
    "mean": wg.mean,
    "var": wg.var,
    "max": lambda x: wg.max(x, axis=0),
    "logsumexp": lambda x: wg.special.logsumexp(x, axis=1),
    "softmax": lambda x: wg.nn.softmax(x, axis=1),
    "matmul": lambda x: x @ x.T,
    "einsum": lambda x: wg.einsum("ij,kj->ik", x, x),
    "cumulative_sum": lambda x: wg.cumulative_sum(x, axis=1),
    "erf": wg.special.erf,
    "gelu": wg.nn.gelu,
    "slices": lambda x: x[1:, ::2],
    "concat": lambda x: wg.concat([x, wg.flip(x, axis=0)]),
    "where": lambda x: wg.where(x > 0, x, x * 2),
    "rms_norm": wg.nn.rms_norm,
    "huber_loss": lambda x: wg.nn.huber_loss(x, x[::-1]),
    "conv1d": lambda x: wg.nn.conv1d(wg.reshape(x, (1, 4, 6)), wg.reshape(x[:, :4], (2, 4, 2))),
    "norm": wg.linalg.vector_norm,
    "sort": lambda x: wg.sort(x, axis=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_are_rounded_once(name: str) -> None:
    function, x, t = FUNCTIONS[name], numbers(1), numbers(2)
    wide, slope = x.astype(np.float64), t.astype(np.float64)
    y, exact = function(wg.asarray(x)), function(wg.asarray(wide))
    assert y.dtype == wg.bfloat16 and apart(y, exact) <= 2.5
    weights = numbers(3, *y.shape)

    def weighted(x: Any) -> Any:
        return wg.sum(function(x) * wg.asarray(weights.astype(x.dtype)))

    g = wg.grad(weighted)(x)
    assert g.dtype == wg.bfloat16 and apart(g, wg.grad(weighted)(wide)) <= 6
    _, tangent = wg.jvp(function, (x,), (t,))
    assert tangent.dtype == wg.bfloat16
    assert apart(tangent, wg.jvp(function, (wide,), (slope,))[1]) <= 12


def test_many_terms_are_added_up() -> None:
    x = np.full(4096, 1.0078125, wg.bfloat16)
    assert float(wg.sum(wg.asarray(x))) == 4128
    assert float(wg.asarray(x) @ wg.asarray(x)) == 4160
    value, g = wg.value_and_grad(wg.mean)(x)
    assert float(value) == 1.0078125 and float(g[0]) == 1 / 4096


def test_elements() -> None:
    x = wg.asarray(numbers(1))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sin(x)[1, 2]
    block = tape.gradient(y, x, dense=False)
    assert block.values.dtype == wg.bfloat16 and block.values.shape == (1, 1)
    assert apart(block.values, np.cos(np.asarray(x)[1:2, 2:3].astype(float))) <= 1


def test_second_derivatives_and_examples() -> None:
    x = numbers(1, 3)
    h = wg.hessian(lambda x: wg.sum(wg.sin(x) * x))(x)
    wide = x.astype(np.float64)
    exact = np.diag(2 * np.cos(wide) - wide * np.sin(wide))
    assert h.dtype == wg.bfloat16 and apart(h, exact) <= 3
    rows = wg.vmap(lambda x: wg.sum(x * 1.5))(numbers(2))
    assert rows.dtype == wg.bfloat16
    assert apart(rows, (numbers(2).astype(float) * 1.5).sum(1)) <= 2


def test_mixtures() -> None:
    x = wg.asarray(numbers(1, 3))
    for other, dtype in (
        (x, wg.bfloat16),
        (2.5, wg.bfloat16),
        (wg.astype(x, wg.float16), wg.float32),
        (wg.astype(x, wg.float32), wg.float32),
        (wg.astype(x, wg.float64), wg.float64),
        (wg.asarray([1, 2, 3]), wg.float64),
    ):
        assert (x * other).dtype == (other * x).dtype == dtype
        if not isinstance(other, float):
            assert wg.result_type(x, other) == dtype


def test_what_is_known_of_it() -> None:
    limits = wg.finfo(wg.bfloat16)
    assert (limits.bits, limits.eps) == (16, 2**-7)
    assert wg.isdtype(wg.bfloat16, "real floating") and not wg.isdtype(wg.bfloat16, "integral")
    assert wg.zeros(2, dtype=wg.bfloat16).dtype == wg.bfloat16
    assert "bfloat16" in repr(wg.ones(2, dtype=wg.bfloat16))


def test_8_bits() -> None:
    x = wg.asarray([0.3, -1.7, 300.0], dtype=wg.float32)
    for dtype in (wg.float8_e4m3fn, wg.float8_e5m2):
        g = wg.grad(lambda x, d=dtype: wg.sum(wg.astype(wg.astype(x, d), wg.float32) ** 2))(x)
        rounded = np.asarray(x).astype(dtype).astype(np.float32)
        np.testing.assert_array_equal(np.asarray(g), (2 * rounded).astype(dtype).astype(np.float32))


def test_the_package_is_imported_late() -> None:
    code = """
import sys
import wengert as wg, wengert.torch as torch, wengert.tensorflow as tf
wg.sin(wg.ones(2)), torch.bfloat16.itemsize, tf.bfloat16.size
assert torch.ones(2).dtype != torch.bfloat16 and tf.ones(2).dtype != tf.bfloat16
assert "ml_dtypes" not in sys.modules
sys.modules["ml_dtypes"] = None
asked = lambda: wg.bfloat16, lambda: torch.ones(2).bfloat16(), lambda: tf.cast(1.0, "bfloat16")
for ask in asked:
    try:
        ask()
    except ImportError as error:
        assert "wengert[bfloat16]" in str(error)
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
