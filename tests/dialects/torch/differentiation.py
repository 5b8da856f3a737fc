"""Programs for the value of an expression and its gradients, and the names that stand in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def names(torch: Any) -> dict[str, Any]:
    """Return the names that programs use."""
    i = torch.tensor([[0, 1, 2], [3, 4, 5]])
    return {
        "torch": torch,
        "inf": math.inf,
        "nan": math.nan,
        "x": torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
        "r": torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True),
        "i": i,
        "b": i > 2,
        "c": torch.tensor([1 + 2j, 3 - 1j]),
        "z": torch.tensor(3.0),
        "e": torch.tensor(np.zeros((0, 3), np.float32)),
    }


def leaves(torch: Any) -> dict[str, Any]:
    """Return the tensors that derivatives are with respect to."""
    numbers = {
        "v": [0.5, -1.25, 2.0, 0.75],
        "m": [[0.3, -1.0, 2.5, 0.1], [1.1, 0.7, -0.4, 2.2], [-0.9, 1.6, 0.2, -2.0]],
        "w": [[1.5, 0.2, -0.3], [0.4, -1.1, 0.8], [0.6, 0.9, 1.2], [-0.7, 0.1, 0.5]],
        "t": [1.0, 2.0, 2.0, 1.0, 2.0],  # ties
        "o": [[0.0, 2.0, 0.0], [3.0, 0.0, 1.5]],  # zeros
        "n": [1.0, math.nan, 3.0, 0.5],
        "k": np.cos(np.arange(12.0)).reshape(2, 2, 3),
        "s": 1.5,
    }
    found = {
        k: torch.tensor(v, dtype=torch.float64, requires_grad=True) for k, v in numbers.items()
    }
    found["c"] = torch.tensor([1 + 2j, 3 - 1j, 0.5j], dtype=torch.complex128, requires_grad=True)
    return found


def parts_of(y: Any) -> list[Any]:
    """Return the tensors of a result that have gradients."""
    parts = y if isinstance(y, (tuple, list)) else [y]
    return [p for p in parts if p.requires_grad]


def weighed(torch: Any, parts: list[Any]) -> Any:
    """Return a number that depends on all elements of some tensors."""
    total = 0.0
    for p in parts:
        shape = tuple(p.shape)
        weights = np.cos(np.arange(1.0, math.prod(shape) + 1)).reshape(shape)
        product = p * torch.tensor(weights)
        total = total + (product.abs() if p.dtype.is_complex else product).sum()
    return total


def differentiated(text: str, order: int = 2) -> Any:
    """Return a program for the value of an expression, its gradients and theirs."""

    def program(torch: Any) -> Any:
        given = leaves(torch)
        y = eval(text, {**names(torch), **given})
        total = weighed(torch, parts_of(y))
        wanted = [given[k] for k in sorted(given)]
        first = torch.autograd.grad(total, wanted, create_graph=True, allow_unused=True)
        again = parts_of([g for g in first if g is not None])
        if again and order > 1:
            weighed(torch, again).backward()
        return y, first, [None if t.grad is None else t.grad + 0 for t in wanted]

    return program
