"""Data, and functions with their gradients, that the tests of tf.nn share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.dialects.parity import Program


def data(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Return numbers without ties."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def grads(tf: Any, f: Callable[..., Any], *arrays: Any) -> Any:
    """Return f and the gradients of a weighted sum of it with respect to all arguments."""
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    weights = None
    if not isinstance(y, (list, tuple)):
        weights = tf.constant(data(*y.shape, seed=99, dtype=y.dtype.name))
    return y, tape.gradient(y, xs, weights)


KINKS = np.array([-7.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 7.0], "float32")


IMAGE, KERNEL = data(2, 7, 6, 3), data(3, 2, 3, 4, seed=1)


PHOTO = np.random.default_rng(5).uniform(size=(2, 8, 6, 3)).astype("float32")
BYTES = (PHOTO * 255).astype("uint8")


def seeded(program: Program) -> Program:
    """Return a program whose random numbers are the same whenever it runs."""

    def run(tf: Any) -> Any:
        tf.random.set_seed(1)
        return program(tf)

    return run


#: Where TensorFlow computes in single precision whatever the dtype, and how close it comes.
SINGLE = {"gelu f64": 1e-7, "resize f64": 2e-5}
