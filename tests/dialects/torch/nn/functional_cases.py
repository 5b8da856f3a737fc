"""Data, and functions with their gradients, that the tests of torch.nn.functional share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.dialects.parity import Program
from tests.dialects.torch.parity import compare


def data(torch: Any, *shape: int, seed: int = 0, dtype: str = "float64", low: float = -2.5,
         high: float = 2.5, grad: bool = True) -> Any:  # fmt: skip
    """Return a tensor of the same numbers in both libraries."""
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    return torch.tensor(numbers.tolist(), dtype=getattr(torch, dtype), requires_grad=grad)


def labels(torch: Any, count: int, *shape: int, seed: int = 0) -> Any:
    """Return whole numbers below a count."""
    return torch.tensor(np.random.default_rng(seed).integers(0, count, shape).tolist())


def weighed(torch: Any, y: Any) -> Any:
    """Return a number that depends on all elements of a result."""
    scale = torch.tensor(np.linspace(0.3, 1.7, max(int(y.numel()), 1)).tolist(), dtype=y.dtype)
    return (y * scale[: y.numel()].reshape(y.shape)).sum()


def with_gradients(
    call: Callable[..., Any], *shapes: Any, second: bool = True, **options: Any
) -> Program:
    """Return a program: a function's values, its gradients, and gradients of those."""

    def program(torch: Any) -> Any:
        arrays = [data(torch, *shape, seed=k, **options) for k, shape in enumerate(shapes)]
        y = call(torch, *arrays)
        whole = weighed(torch, y)
        gradients = torch.autograd.grad(
            whole, arrays, create_graph=second, allow_unused=True, retain_graph=True
        )
        if not second:
            return y, gradients
        total = sum(
            ((g * (k + 1)).sin().sum() for k, g in enumerate(gradients) if g is not None),
            y.sum() * 0,
        )
        further = torch.autograd.grad(total, arrays, allow_unused=True)
        return y, [g if g is None else g.detach() for g in gradients], further

    return program


def check(program: Program, rtol: float | None = None) -> None:
    compare(program, rtol)


def loss(name: str, *shapes: Any, second: bool = True, low: float = -2.5, high: float = 2.5,
         **options: Any) -> Program:  # fmt: skip
    return with_gradients(
        lambda t, *arrays: getattr(t.nn.functional, name)(*arrays, **options), *shapes,
        second=second, low=low, high=high,
    )  # fmt: skip
