"""Data that the tests of tf.keras share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def data(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


SHARES = np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7]], "float32")
TARGETS = np.array([[0.0, 1.0, 0.0], [0.7, 0.2, 0.1], [0.0, 0.0, 1.0]], "float32")
EDGES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], "float32")
LABELS = np.array([1, 0, 2])
LOGITS = data(3, 3, seed=4)


def loss_grads(tf: Any, f: Callable[[Any], Any], predictions: Any) -> Any:
    x = tf.constant(predictions)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)
