"""Gradients of functions of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg


def grad_at(function: Any, *arrays: Any, order: int = 1) -> Any:
    """Return the gradients of the sum of a function's result."""
    tensors = [wg.asarray(np.asarray(a, float)) for a in arrays]
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        y = function(*tensors)
    return [g.numpy() for g in tape.gradient(y, tensors)]
