"""Arrays of two libraries, or on two devices, in one call: one error that names both."""

from __future__ import annotations

import itertools
from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg

NAMES = ("numpy", "jax", "strict", "device1", "dask", "torch", "meta")


def array(name: str) -> Any:
    """Return three ones of a library, on a device."""
    if name == "dask":
        return pytest.importorskip("dask.array").ones(3)
    if name in ("torch", "meta"):
        torch = pytest.importorskip("torch")
        return torch.ones(3, dtype=torch.float64, device="cpu" if name == "torch" else "meta")
    if name in ("strict", "device1"):
        device = array_api_strict.Device("CPU_DEVICE" if name == "strict" else name)
        return array_api_strict.ones(3, device=device)
    return {"numpy": np, "jax": jnp}[name].ones(3)


def weighted(a: Any, b: Any) -> Any:
    x = wg.asarray(a)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * 2
    return tape.gradient(y, x, output_gradients=b)


CALLS = {
    "an operation": wg.add,
    "an operator": lambda a, b: wg.asarray(a) * wg.asarray(b),
    "a join": lambda a, b: wg.concat([wg.asarray(a), wg.asarray(b)]),
    "a choice": lambda a, b: wg.where(wg.asarray(a) > 0, a, b),
    "a gradient": lambda a, b: wg.grad(lambda x: wg.sum(x * b))(a),
    "weights": weighted,
    "a cotangent": lambda a, b: wg.vjp(lambda x: x * 2, a)[1](b),
    "a tangent": lambda a, b: wg.jvp(lambda x: x * 2, (a,), (b,)),
    "an update": lambda a, b: wg.asarray(a).at[:3].set(b),
    "a loss": wg.nn.mse_loss,
}
TWO = [
    pytest.param(*pair, marks=pytest.mark.peers if {"torch", "meta"} & {*pair} else ())
    for pair in itertools.permutations(NAMES, 2)
]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("one", "other"), TWO)
def test_two_do_not_meet(one: str, other: str, call: Any) -> None:
    with pytest.raises(wg.BackendError, match="got arrays of .* and of .*; convert one first"):
        call(array(one), array(other))


@pytest.mark.parametrize("name", ["numpy", "jax", "strict", "device1", "dask"])
def test_numbers_and_lists_meet_all(name: str) -> None:
    x = wg.asarray(array(name))
    assert wg.sum(x * 2 + 1).shape == ()
    assert x.at[:2].set([2.0, 3.0]).shape == (3,)
    assert wg.vmap(lambda x: x * 2)(x).shape == (3,)
