"""Tensors that programs with tapes begin with."""

from __future__ import annotations

from typing import Any


def vector(tf: Any) -> Any:
    return tf.constant([1.0, 2.0, 3.0])


def table(tf: Any, kind: str = "Variable") -> Any:
    return getattr(tf, kind)([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
