"""Penalties on parameters, and the settings and utilities of tf.keras."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np

from wengert.dialects.tensorflow.keras.options import EPSILON, Configured, keras
from wengert.dialects.tensorflow.random import set_seed
from wengert.dialects.tensorflow.table import guarded, put
from wengert.dialects.tensorflow.tensors import convert, is_tensor, made
from wengert.engine.tensor import Tensor as Native

ns = Native._namespace


@keras("utils", "to_categorical")
def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Return 1 at each index along a new last axis, else 0."""
    where = np.asarray(x, np.int64)
    shape = where.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    where = where.reshape(shape)
    count = int(where.max()) + 1 if num_classes is None else int(num_classes)
    hot = (where[..., None] == np.arange(count)).astype(np.float32 if is_tensor(x) else np.float64)
    return made(hot) if is_tensor(x) else hot


@keras("utils", "normalize")
def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Return an array over its norm along an axis."""
    array = np.asarray(x)
    norm = np.atleast_1d(np.linalg.norm(array, order, axis))
    norm[norm == 0] = 1
    result = array / np.expand_dims(norm, axis)
    return made(np.asarray(result, array.dtype)) if is_tensor(x) else result


@keras("utils", "set_random_seed")
def set_random_seed(seed: int) -> None:
    """Set the seeds of Python, of NumPy and of this program."""
    if not isinstance(seed, int):
        raise ValueError(f"set_random_seed: {seed!r}; expected a whole number")
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


def epsilon() -> float:
    """Return the small number that keeps losses from dividing by 0."""
    return EPSILON


def floatx() -> str:
    """Return the name of the usual dtype."""
    return "float32"


for _part in ("backend", "config"):
    put((f"keras.{_part}.epsilon",), epsilon)
    put((f"keras.{_part}.floatx",), floatx)


class L1L2(Configured):
    """A penalty on parameters: l1 times their absolute values plus l2 times their squares."""

    _defaults: ClassVar[dict[str, Any]] = {"l1": 0.0, "l2": 0.0}

    @guarded("regularizer", ValueError, TypeError)
    def __call__(self, x: Any) -> Any:
        """Return the penalty."""
        tensor = convert(x)
        total = ns.zeros((), dtype=tensor.dtype)
        if self._config.get("l1"):
            total = total + self._config["l1"] * ns.sum(ns.abs(tensor))
        if self._config.get("l2"):
            total = total + self._config["l2"] * ns.sum(tensor * tensor)
        return total


keras("regularizers", "L1L2", "l1_l2")(L1L2)
for _name in ("l1", "l2"):
    _doc = f"A penalty on {'absolute values' if _name == 'l1' else 'squares'}."
    _kind = type(_name.upper(), (L1L2,), {"_defaults": {_name: 0.01}, "__doc__": _doc})
    keras("regularizers", _name, _name.upper())(_kind)
