"""functorch: the names that torch.func had before, and modules as functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from wengert.dialects.torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = [
    "combine_state_for_ensemble", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip

_ABSENT = {
    "FunctionalModule": "write make_functional(model), which returns a function and parameters",
    "FunctionalModuleWithBuffers": "write make_functional_with_buffers(model)",
    "compile": "programs run as they are written; call the function itself",
    "dim": "write vmap, einsum, or an axis by its number",
    "experimental": "write torch.func",
    "functionalize": "operations in place work in transforms as they are; leave it out",
    "make_fx": "there are no graphs of torch.fx; call the function itself",
}


def __getattr__(name: str) -> Any:
    why = f"; {_ABSENT[name]}" if name in _ABSENT else f"; there are {', '.join(__all__)}"
    raise AttributeError(f"functorch.{name} is not offered by wengert{why}")


def _copies(named: Any, tracking: bool) -> dict[str, Any]:
    """Return copies of parameters or buffers by name, which are leaves as theirs are."""
    return {
        name: value.detach().clone().requires_grad_(tracking and value.requires_grad)
        for name, value in named
    }


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """Return (function of (params, buffers, *args), params, buffers) of a module."""
    params = _copies(model.named_parameters(), not disable_autograd_tracking)
    buffers = _copies(model.named_buffers(), not disable_autograd_tracking)
    stateless, names, others = copy.deepcopy(model), tuple(params), tuple(buffers)

    def call(params: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        state = {
            **dict(zip(names, params, strict=True)),
            **dict(zip(others, buffers, strict=True)),
        }
        return functional_call(stateless, state, args, kwargs)

    return call, tuple(params.values()), tuple(buffers.values())


def make_functional(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return (function of (params, *args), params) of a module that has no buffers."""
    call, params, buffers = make_functional_with_buffers(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            f"make_functional: the module has {len(buffers)} buffers; write "
            "make_functional_with_buffers"
        )
    return lambda params, *args, **kwargs: call(params, (), *args, **kwargs), params


def combine_state_for_ensemble(
    models: Sequence[Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """Return (function, params, buffers) of modules of one class, with their states stacked."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: got no models; give at least one")
    call, _, _ = make_functional_with_buffers(models[0])
    params, buffers = stack_module_state(list(models))
    stacked, others = (tuple(v.detach() for v in s.values()) for s in (params, buffers))
    return call, stacked, others
