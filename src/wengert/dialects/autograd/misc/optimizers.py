"""autograd.misc.optimizers: gradient descent on nests of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.autograd.misc.flatten import flatten
from wengert.engine.tensor import Tensor, wrap
from wengert.optim import formulas
from wengert.optim.formulas import Formula, step_in_place

Function = Callable[..., Any]


def _on_nests(optimise: Function) -> Function:
    """Return an optimiser of vectors as one of nests."""

    @functools.wraps(optimise)
    def optimiser(
        grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        vector, unflatten = flatten(x0)

        def flat_grad(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimise(flat_grad, vector, flat_callback, *args, **kwargs))

    return optimiser


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else wrap(x)


def _descended(
    grad: Function, x: Any, callback: Any, steps: int, formula: Formula,
    options: dict[str, Any], **kept: float,
) -> Any:  # fmt: skip
    """Return where a formula goes from x; `kept` is what its state begins with."""
    state: dict[str, Any] = {name: np.full(len(x), value) for name, value in kept.items()}
    dtype = np.dtype(float)
    learnt = any(isinstance(v, Tensor) for v in (*options.values(), *options.get("betas", ())))
    for i in range(steps):
        g = grad(x, i)
        callback(x, i, g)
        state["step"] = i + 1
        if learnt or isinstance(x, Tensor) or isinstance(g, Tensor):
            state.update((name, _tensor(state[name])) for name in kept)
            x = formula(Tensor._namespace, _tensor(x), g, state, options)
            continue
        if not x.dtype == g.dtype == dtype:
            dtype = np.result_type(x, g, dtype)
            g = g.astype(dtype)
            state.update((name, state[name].astype(dtype)) for name in kept)
        x = step_in_place(formula, x.astype(dtype), g, state, options)  # a copy of what is seen
    return x


@_on_nests
def sgd(
    grad: Function, x: Any, callback: Any = None, num_iters: int = 200, step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:  # fmt: skip
    """Return the result of gradient descent with momentum, from grad(x, i) of steps i."""
    options = {"lr": step_size, "momentum": mass, "dampening": mass}
    return _descended(grad, x, callback, num_iters, formulas.sgd, options, momentum_buffer=0.0)


@_on_nests
def rmsprop(
    grad: Function, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.1,
    gamma: float = 0.9, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Return the result of descent with steps divided by the mean square of recent gradients."""
    options = {"lr": step_size, "alpha": gamma, "eps": eps}
    return _descended(grad, x, callback, num_iters, formulas.rmsprop, options, square_avg=1.0)


@_on_nests
def adam(
    grad: Function, x: Any, callback: Any = None, num_iters: int = 100,
    step_size: float = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Return the result of Adam."""
    options = {"lr": step_size, "betas": (b1, b2), "eps": eps}
    return _descended(
        grad, x, callback, num_iters, formulas.adam, options, exp_avg=0.0, exp_avg_sq=0.0
    )


__all__ = ["adam", "rmsprop", "sgd"]
