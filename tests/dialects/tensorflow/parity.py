"""What the harness must know of TensorFlow: its tensors, and the slices of sparse gradients."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import wengert.tensorflow as ours
from tests.dialects.parity import Describe, Dialect, array_fields

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def special(value: Any, of: Describe) -> Any:
    """Describe tensors, variables, slices, shapes, dtypes, and dictionaries in any order."""
    name = type(value).__name__
    if name == "IndexedSlices":
        parts = value.values, value.indices, value.dense_shape
        return {"kind": "slices", "parts": [of(part) for part in parts]}
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: str(item[0]))
        return {"kind": "dict", "items": [[of(key), of(part)] for key, part in items]}
    if name in ("TensorShape", "DType"):
        return {"kind": name, "text": repr(value)}
    if isinstance(value, np.ndarray | np.generic):
        return None
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        fields = array_fields(np.asarray(value.numpy()))
        return {"kind": "tensor", **fields, "dtype": value.dtype.name}
    return None


TENSORFLOW = Dialect("tensorflow", ours, special)
compare, assert_same = TENSORFLOW.compare, TENSORFLOW.assert_same
