"""What other libraries call things, for those who look for them here.

A name that is not there is answered with what to write, from one of three tables: names of the
namespace, attributes of tensors, and arguments of functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

#: Names in NumPy, TensorFlow or PyTorch, and what to write.
INSTEAD = {
    "absolute": "wg.abs",
    "amax": "wg.max",
    "amin": "wg.min",
    "array": "wg.asarray",
    "cast": "wg.astype",
    "cat": "wg.concat",
    "clamp": "wg.clip",
    "concatenate": "wg.concat",
    "constant": "wg.asarray",
    "convert_to_tensor": "wg.asarray",
    "cummax": "wg.cumulative_max",
    "cummin": "wg.cumulative_min",
    "cumprod": "wg.cumulative_prod",
    "cumsum": "wg.cumulative_sum",
    "elementwise_grad": "wg.grad of a sum, wg.vjp or wg.jac_diagonal",
    "enable_grad": "`with wg.GradientTape() as tape:`, in which operations are recorded",
    "float_power": "wg.pow",
    "from_numpy": "wg.asarray",
    "function": "wg.jit",
    "gather": "wg.take or x[indices]",
    "jacfwd": "wg.jacobian(f, mode='forward')",
    "jacrev": "wg.jacobian(f, mode='reverse')",
    "logcumsumexp": "wg.cumulative_logsumexp",
    "logsumexp": "wg.special.logsumexp",
    "mod": "wg.remainder",
    "no_grad": "`with tape.stop_recording():` inside of a tape, or wg.stop_gradient(x); outside of "
    "a tape nothing is recorded",
    "norm": "wg.linalg.norm",
    "Parameter": "wg.Variable",
    "permute": "wg.permute_dims",
    "power": "wg.pow",
    "rand": "wg.random.uniform(rng, shape)",
    "randn": "wg.random.normal(rng, shape)",
    "reduce_max": "wg.max",
    "reduce_mean": "wg.mean",
    "reduce_sum": "wg.sum",
    "relu": "wg.nn.relu",
    "scatter_add": "x.at[key].add",
    "sigmoid": "wg.nn.sigmoid",
    "softmax": "wg.nn.softmax",
    "swapdims": "wg.swapaxes",
    "tensor": "wg.asarray",
    "transpose": "wg.permute_dims or x.T",
    "true_divide": "wg.divide",
    "unsorted_segment_sum": "wg.segment_sum",
    "unsqueeze": "wg.expand_dims",
    **{f"arc{f}": f"wg.a{f}" for f in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}

#: Attributes that tensors of other libraries have, and what to write for a tensor x.
ATTRIBUTES = {
    "backward": "tape.gradient(x, sources), with `tape.watch(sources)` before, or wg.grad(f)",
    "clone": "x.copy()",
    "contiguous": "x: a tensor is never written to, and needs no copy",
    "cpu": "x.to_device('cpu')",
    "cuda": "wg.asarray of an array of PyTorch's, JAX's or CuPy's that is on the device",
    "detach": "wg.stop_gradient(x)",
    "dim": "x.ndim",
    "double": "wg.astype(x, wg.float64)",
    "expand": "wg.broadcast_to(x, shape)",
    "float": "wg.astype(x, wg.float32)",
    "grad": "tape.gradient(y, x), which returns the gradient",
    "matmul": "x @ y",
    "mm": "x @ y",
    "norm": "wg.linalg.norm(x)",
    "numel": "x.size",
    "permute": "wg.permute_dims(x, order)",
    "relu": "wg.nn.relu(x)",
    "requires_grad": "tape.watch(x)",
    "requires_grad_": "tape.watch(x)",
    "retain_grad": "tape.gradient(y, [x, ...]): any recorded tensor is a source",
    "sigmoid": "wg.nn.sigmoid(x)",
    "softmax": "wg.nn.softmax(x)",
    "t": "x.T",
    "to": "wg.astype(x, dtype) or x.to_device(device)",
    "type": "wg.astype(x, dtype)",
    "unsqueeze": "wg.expand_dims(x, axis)",
    "view": "wg.reshape(x, shape)",
    **{
        f: f"wg.{f}(x)"
        for f in ("abs", "cos", "exp", "log", "log1p", "sin", "sqrt", "square", "tan", "tanh")
    },
}
#: Arguments that are called otherwise in other libraries: our name, or what to write.
ARGUMENTS = {
    "beta_1": "beta1",
    "beta_2": "beta2",
    "betas": "beta1= and beta2=",
    "ddof": "correction",
    "dim": "axis",
    "dims": "axis",
    "epsilon": "eps",
    "keep_dims": "keepdims",
    "keepdim": "keepdims",
    "lr": "learning_rate",
    "reduction_indices": "axis",
    "rho": "decay",
    "unbiased": "correction=1 or correction=0",
}


def missing(name: str) -> AttributeError:
    """Return an error that says what to write in place of a name that is not there."""
    hint = f"; write {INSTEAD[name]}" if name in INSTEAD else ""
    return AttributeError(f"module 'wengert' has no attribute {name!r}{hint}")


class _Missing:
    """An attribute that is not there: to ask for it is an AttributeError with an answer."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}; write "
            f"{ATTRIBUTES[self.name]}",
            name=self.name,
            obj=value,
        )


def answer_for_attributes(cls: Any) -> None:
    """Have a class answer for attributes that it lacks; `hasattr` and `dir` do not see them."""
    for name in ATTRIBUTES:
        setattr(cls, name, _Missing(name))
    cls.__dir__ = lambda self: sorted({*object.__dir__(self)} - ATTRIBUTES.keys())


def answers(function: Function) -> Function:
    """Return a function that takes `**others`, to refuse them, without these in its signature."""
    given = inspect.signature(function)
    named = [p for p in given.parameters.values() if p.kind is not p.VAR_KEYWORD]
    function.__signature__ = given.replace(parameters=named)  # type: ignore[attr-defined]
    return function


def unexpected(function: Callable[..., Any], others: Mapping[str, Any]) -> TypeError:
    """Return an error for arguments that a function does not take, which says what it takes."""
    taken = [n for n, p in inspect.signature(function).parameters.items() if p.kind]
    key = next((key for key in others if ARGUMENTS.get(key, key) in taken), next(iter(others)))
    given = f"{function.__name__}: got {key}={others[key]!r:.40}"
    instead = ARGUMENTS.get(key, "")
    if instead in taken:
        return TypeError(f"{given}; write {instead}={others[key]!r:.40}")
    if any(f"{name}=" in instead for name in taken):
        return TypeError(f"{given}; write {instead}")
    return TypeError(f"{given}; it takes {', '.join(taken)}")
