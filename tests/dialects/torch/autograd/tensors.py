"""Tensors that programs of this folder begin with."""

from __future__ import annotations

from typing import Any


def two(torch: Any, dtype: Any = None) -> Any:
    return torch.tensor([1.0, 2.0], dtype=dtype or torch.float64, requires_grad=True)


def three(torch: Any) -> Any:
    return torch.tensor([0.5, -1.0, 2.0], requires_grad=True)


def ones(torch: Any, n: int = 2) -> Any:
    return torch.ones(n, dtype=torch.float64)


def under_no_grad(torch: Any, function: Any) -> Any:
    with torch.no_grad():
        return function()


def z_of(torch: Any) -> Any:
    return torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128, requires_grad=True)


def square_of(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            (x,) = ctx.saved_tensors
            return g * 2 * x

    return Square


def function(torch: Any, forward: Any, backward: Any, **further: Any) -> Any:
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    methods.update({k: staticmethod(v) if callable(v) else v for k, v in further.items()})
    return type("F", (torch.autograd.Function,), methods)


def mat(torch: Any) -> Any:
    rows = [[1.0, 2.0, -1.0], [0.5, 3.0, 0.25]]
    return torch.tensor(rows, dtype=torch.float64, requires_grad=True)
