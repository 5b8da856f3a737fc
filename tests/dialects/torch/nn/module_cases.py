"""Numbers, modules and what is compared of them, that the tests of modules share."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(
    torch: Any, *shape: int, seed: int = 0, grad: bool = False, dtype: str = "float32"
) -> Any:
    """Return the same normal numbers in both libraries."""
    raw = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    return torch.tensor(raw).requires_grad_(grad)


def everything(module: Any, *tensors: Any) -> list[Any]:
    """Return a module's state, the gradients of its parameters, and those of tensors."""
    state = {k: v.detach().clone() for k, v in module.state_dict().items()}
    return [state, {k: p.grad for k, p in module.named_parameters()}, [t.grad for t in tensors]]


def net(torch: Any, seed: int = 0) -> Any:
    """Return a small network of a class with parameters, buffers and parts."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 4)
            self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))
            self.register_buffer("count", torch.tensor(3))
            self.register_buffer("passing", torch.ones(2), persistent=False)
            self.inner = nn.Sequential(nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))

        def forward(self, x: Any) -> Any:
            return self.inner(torch.relu(self.first(x))) * self.scale

    torch.manual_seed(seed)
    return Net()


def raising(function: Any) -> Any:
    """Return what a function gives, or the name of the class of its exception."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__
