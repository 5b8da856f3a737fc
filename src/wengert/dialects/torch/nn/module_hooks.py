"""Hooks of modules: functions that are called before and after a call and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.autograd_function import Function
from wengert.dialects.torch.gradients import Handle
from wengert.dialects.torch.modes import is_grad_enabled
from wengert.dialects.torch.signatures import registration
from wengert.dialects.torch.tensors import Tensor, made

#: The dicts of hooks that a module has, by the numbers of their handles.
DICTS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
)  # fmt: skip


# -- registering -----------------------------------------------------------------------------------


def register_forward_hook(
    self: Any, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
) -> Handle:
    """Have a function called with the arguments and the result of each call."""
    handle = Handle.of(self._forward_hooks, hook, prepend)
    if with_kwargs:
        self._forward_hooks_with_kwargs[handle.id] = True
    return handle


def register_forward_pre_hook(
    self: Any, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
) -> Handle:
    """Have a function called with the arguments before each call."""
    handle = Handle.of(self._forward_pre_hooks, hook, prepend)
    if with_kwargs:
        self._forward_pre_hooks_with_kwargs[handle.id] = True
    return handle


def register_full_backward_hook(
    self: Any, hook: Callable[..., Any], prepend: bool = False
) -> Handle:
    """Have a function called with the gradients of the arguments and of the result."""
    _use_backward_hooks(self, True)
    return Handle.of(self._backward_hooks, hook, prepend)


def register_backward_hook(self: Any, hook: Callable[..., Any]) -> Handle:
    """Have a function called with the gradients of the operation that made the result."""
    _use_backward_hooks(self, False)
    return Handle.of(self._backward_hooks, hook)


register_full_backward_pre_hook = registration(
    "_backward_pre_hooks", "Have a function called with the gradients of the result."
)


def _use_backward_hooks(module: Any, full: bool) -> None:
    if module._is_full_backward_hook is (not full) and module._backward_hooks:
        raise RuntimeError(
            "there are backward hooks of the other kind, old or full; use "
            "register_full_backward_hook for all of them"
        )
    module._is_full_backward_hook = full


# -- a call ----------------------------------------------------------------------------------------


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a module's `forward` gives, as its hooks leave it."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            answer = hook(module, args, kwargs)
            if answer is None:
                continue
            if not isinstance(answer, tuple) or len(answer) != 2:
                raise RuntimeError(
                    f"a forward pre-hook with kwargs returned {answer!r:.200}; return None, or a "
                    "pair of arguments and keyword arguments"
                )
            args, kwargs = answer
        elif (answer := hook(module, args)) is not None:
            args = answer if isinstance(answer, tuple) else (answer,)
    hooks, pre = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
    full = hooks if module._is_full_backward_hook else []
    watch = _Watch(module, full, pre) if full or pre else None
    if watch is not None:
        args = watch.inputs(args)
    result = module.forward(*args, **kwargs)
    for number, hook in list(module._forward_hooks.items()):
        further = (kwargs,) if number in module._forward_hooks_with_kwargs else ()
        answer = hook(module, args, *further, result)
        result = result if answer is None else answer
    if watch is not None:
        result = watch.outputs(result)
    if hooks and not full:
        _hook_last_node(module, result, hooks)
    return result


# -- gradients -------------------------------------------------------------------------------------


class BackwardHookFunction(Function):
    """Tensors as they are, with a node of their own that hooks can be put on."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Return the tensors."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Return the gradients."""
        return args


class _Watch:
    """What calls a module's backward hooks, once gradients of results and arguments are there."""

    def __init__(self, module: Any, hooks: list[Any], pre_hooks: list[Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.positions: list[int] | None = None
        #: of each argument, its shape and dtype if it is a tensor
        self.metas: list[Any] = []
        self.given: Any = None

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, whose gradients are seen."""
        self.metas = [
            (tuple(a._raw.shape), a._raw.dtype) if isinstance(a, Tensor) else None for a in args
        ]
        args, node, self.positions = _through_node(args)
        if node is not None:
            node.register_hook(self._after)
        return args

    def outputs(self, result: Any) -> Any:
        """Return the result, whose gradients are seen."""
        if not isinstance(result, (Tensor, tuple)):
            warn(f"backward hooks need tensors as results, and there is a {type(result)}")
        parts, node, positions = _through_node(result if isinstance(result, tuple) else (result,))
        if node is not None:
            node.register_hook(lambda _, given: self._before(given, positions, len(parts)))
        return parts if isinstance(result, tuple) else parts[0]

    def _before(self, given: Any, positions: Any, count: int) -> Any:
        """Take the gradients of the results, as the pre-hooks leave them."""
        self.given = _spread(given, positions, count)
        for hook in self.pre_hooks:
            answer = hook(self.module, self.given)
            if answer is not None:
                _check_count(answer, count, "Backward pre hook", "grad_output")
                self.given = answer
        answers = tuple(self.given[k] for k in positions)
        if self.positions is None:
            self._without_inputs()
        return answers

    def _without_inputs(self) -> None:
        """Call the hooks now, since no argument will get a gradient."""
        warn(
            "no argument of this module requires a gradient, so its full backward hooks are "
            "called with the gradients of its results only"
        )
        for hook in self.hooks:
            answer = hook(self.module, (None,) * len(self.metas), self.given)
            if answer is not None and any(a is not None for a in answer):
                raise RuntimeError(
                    "a backward hook returned gradients for arguments that require none; return "
                    "None"
                )
        self.given = None

    def _after(self, found: Any, _: Any) -> Any:
        """Return the gradients of the arguments, as the hooks leave them."""
        if self.given is None:  # they did not come through the results
            return None
        assert self.positions is not None
        count = len(self.metas)
        answers = tuple(
            made(np.zeros(*self.metas[k])) if g is None and k in self.positions else g
            for k, g in enumerate(_spread(found, self.positions, count))
        )
        for hook in self.hooks:
            answer = hook(self.module, answers, self.given)
            if answer is not None:
                _check_count(answer, count, "Backward hook", "grad_input")
                answers = answer
        self.given = None
        pairs = zip(self.positions, found, strict=True)
        return tuple(None if g is None else answers[k] for k, g in pairs)


def _through_node(values: tuple[Any, ...]) -> tuple[Any, Any, list[int] | None]:
    """Return values whose tensors come out of one node, that node, and which are tensors."""
    positions = [k for k, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[k].requires_grad for k in positions)):
        return values, None, None
    found: Any = BackwardHookFunction.apply(*[values[k] for k in positions])
    replaced = list(values)
    for k, tensor in zip(positions, found, strict=True):
        replaced[k] = tensor
    node = next(t.grad_fn for t in found if t.grad_fn is not None)
    kind = type(values)
    return (tuple(replaced) if kind is tuple else kind(*replaced)), node, positions


def _spread(values: Any, positions: list[int], count: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * count
    for k, value in zip(positions, values, strict=True):
        found[k] = value
    return tuple(found)


def _check_count(answer: Any, count: int, who: str, what: str) -> None:
    if len(answer) != count:
        raise RuntimeError(f"{who} returned {len(answer)} gradients for {what}; return {count}")


def _hook_last_node(module: Any, result: Any, hooks: list[Callable[..., Any]]) -> None:
    """Have hooks called with the gradients of the operation that made a result."""
    while not isinstance(result, Tensor):
        parts = result.values() if isinstance(result, dict) else result
        result = next(p for p in parts if isinstance(p, (Tensor, tuple, list, dict)))
    node: Any = result.grad_fn
    for hook in hooks if node is not None else ():
        node.register_hook(lambda found, given, hook=hook: hook(module, found, given))
