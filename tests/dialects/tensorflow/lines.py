"""Lines of Python that both TensorFlows are given, and the names that stand in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.dialects.tensorflow.parity import compare


def names(tf: Any) -> dict[str, Any]:
    """Return what names in a line stand for: tensors, and functions that differentiate."""

    def gradients(f: Callable[..., Any], *values: Any) -> Any:
        xs = [tf.convert_to_tensor(v) for v in values]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        return y, tape.gradient(y, xs)

    def forward(f: Callable[..., Any], value: Any) -> Any:
        x = tf.convert_to_tensor(value)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = f(x)
        return accumulator.jvp(y)

    return {
        "tf": tf,
        "np": np,
        "g": gradients,
        "j": forward,
        "x": tf.constant([1.0, 2.0, 3.0]),
        "z": tf.constant([0.0, 1.0, 0.0]),
        "i": tf.constant([1, 2, 3]),
        "d": tf.constant([1.0, 2.0, 3.0], tf.float64),
        "h": tf.constant([1.0, 2.0, 3.0], tf.float16),
        "b": tf.constant([True, False, True]),
        "c": tf.constant([1 + 2j, 3 - 1j]),
        "u8": tf.constant([1, 2, 3], tf.uint8),
        "i8": tf.constant([1, -2, 3], tf.int8),
        "i64": tf.constant([1, 2, 3], tf.int64),
        "s": tf.constant(2.5),
        "m": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "im": tf.constant([[1, 2], [3, 4]]),
        "t3": tf.reshape(tf.range(24.0), [2, 3, 4]),
        "em": tf.zeros([0]),
        "e2": tf.zeros([0, 3]),
        "v": tf.Variable([1.0, 2.0, 3.0]),
        "mv": tf.Variable([[1.0, 2.0], [3.0, 4.0]]),
    }


def compare_line(line: str) -> None:
    """Assert that a line gives the same, or raises the same, in both."""
    compare(lambda tf: eval(line, names(tf)))
