"""Trees of parameters, and how the tests of optimisers compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import optree

import wengert as wg


@dataclass
class Layer:
    weight: Any
    bias: Any = None
    width: int = 3
    kind: str = "dense"


def same(a: Any, b: Any) -> bool:
    """Whether two trees are equal in structure, kinds, dtypes and numbers."""
    if optree.tree_structure(a, none_is_leaf=True) != optree.tree_structure(b, none_is_leaf=True):
        return False
    pairs = zip(
        optree.tree_leaves(a, none_is_leaf=True),
        optree.tree_leaves(b, none_is_leaf=True),
        strict=True,
    )
    return all(
        type(x) is type(y)
        and (
            x is None
            or (np.array_equal(numbers(x), numbers(y), equal_nan=True) and dtype(x) == dtype(y))
        )
        for x, y in pairs
    )


def numbers(x: Any) -> np.ndarray:
    return x.numpy() if isinstance(x, (wg.Tensor, wg.Variable)) else np.asarray(x)


def dtype(x: Any) -> Any:
    return getattr(x, "dtype", None)


def block_and_dense(key: Any, recorded: Any = None) -> tuple[Any, Any]:
    x = wg.asarray(np.arange(20.0).reshape(4, 5))
    found = []
    for dense in (False, True):
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = wg.sum(wg.exp(x * 0.1)[key])
        found.append(tape.gradient(y, x, dense=dense))
    assert type(found[0]) is wg.Block
    return found[0], found[1]


PARAMS = {"w": np.ones((2, 3)), "b": [np.ones(3), np.ones(())]}


def float_sum(x):
    return float(np.sum(x.numpy()))
