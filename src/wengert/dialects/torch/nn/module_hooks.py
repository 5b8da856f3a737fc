"""Hooks of modules: functions that are called before and after a call and its gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch.autograd_function import Function
from wengert.dialects.torch.gradients import Handle
from wengert.dialects.torch.modes import is_grad_enabled
from wengert.dialects.torch.signatures import registered
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, made

Hooks = dict[int, Callable[..., Any]]


class _ForEvery:
    """Hooks that are called for every module, each kind by the numbers of their handles."""

    def __init__(self) -> None:
        self.forward: Hooks = {}
        self.forward_pre: Hooks = {}
        self.backward: Hooks = {}
        self.backward_pre: Hooks = {}
        #: the numbers of those that get keyword arguments, and of those called after errors too
        self.with_kwargs: set[int] = set()
        self.always: set[int] = set()
        #: whether backward hooks get the gradients of all arguments, or of the last operation
        self.full: bool | None = None


EVERY = _ForEvery()


# -- a call ----------------------------------------------------------------------------------------


def are_set(module: Any) -> bool:
    """Return whether a call of a module has any hooks."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or EVERY.forward
        or EVERY.forward_pre
        or EVERY.backward
        or EVERY.backward_pre
    )


class Call:
    """One call of a module with its hooks."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.done: set[int] = set()

    def run(self) -> Any:
        """Return what `forward` gives, as the hooks leave it."""
        try:
            return self._run()
        except Exception:
            self._after_error()
            raise

    def _run(self) -> Any:
        module = self.module
        self._before()
        full = list(EVERY.backward.values()) if EVERY.full else []
        full += list(module._backward_hooks.values()) if module._is_full_backward_hook else []
        pre = [*EVERY.backward_pre.values(), *module._backward_pre_hooks.values()]
        watch = _Watch(module, full, pre) if full or pre else None
        if watch is not None:
            self.args = watch.inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for number, hook in self._forward_hooks():
            self.done.add(number)
            self._after(number, hook)
        if watch is not None:
            self.result = watch.outputs(self.result)
        plain_ones = list(EVERY.backward.values()) if EVERY.full is False else []
        if module._is_full_backward_hook is False:
            plain_ones += list(module._backward_hooks.values())
        if plain_ones:
            _hook_last_entry(module, self.result, plain_ones)
        return self.result

    def _before(self) -> None:
        module = self.module
        hooks = (*EVERY.forward_pre.items(), *module._forward_pre_hooks.items())
        for number, hook in hooks:
            if number in module._forward_pre_hooks_with_kwargs:
                answer = hook(module, self.args, self.kwargs)
                if answer is None:
                    continue
                if not isinstance(answer, tuple) or len(answer) != 2:
                    raise RuntimeError(
                        f"a forward pre-hook with kwargs returned {answer!r:.200}; return None, "
                        "or a pair of arguments and keyword arguments"
                    )
                self.args, self.kwargs = answer
            else:
                answer = hook(module, self.args)
                if answer is not None:
                    self.args = answer if isinstance(answer, tuple) else (answer,)

    def _forward_hooks(self) -> list[tuple[int, Callable[..., Any]]]:
        return [*EVERY.forward.items(), *self.module._forward_hooks.items()]

    def _after(self, number: int, hook: Callable[..., Any]) -> None:
        module = self.module
        if number in module._forward_hooks_with_kwargs or number in EVERY.with_kwargs:
            answer = hook(module, self.args, self.kwargs, self.result)
        else:
            answer = hook(module, self.args, self.result)
        if answer is not None:
            self.result = answer

    def _after_error(self) -> None:
        """Call the hooks that are always called and were not yet."""
        always = EVERY.always | set(self.module._forward_hooks_always_called)
        for number, hook in self._forward_hooks():
            if number in always and number not in self.done:
                try:
                    self._after(number, hook)
                except Exception as error:
                    warnings.warn(
                        "forward failed, and after it a hook with always_call=True failed too: "
                        f"{error}",
                        stacklevel=4,
                    )


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
        self.places: list[int] | None = None
        #: of each argument, its shape and dtype if it is a tensor
        self.metas: list[Any] = []
        self.given: Any = None

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, whose gradients are seen."""
        self.metas = [
            (tuple(a._raw.shape), a._raw.dtype) if isinstance(a, Tensor) else None for a in args
        ]
        args, entry, self.places = _through_entry(args)
        if entry is not None:
            entry.register_hook(self._after)
        return args

    def outputs(self, result: Any) -> Any:
        """Return the result, whose gradients are seen."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                f"backward hooks need tensors as results, and the module returned a {type(result)}",
                stacklevel=5,
            )
        parts, entry, places = _through_entry(result if isinstance(result, tuple) else (result,))
        if entry is not None:
            entry.register_hook(lambda _, given: self._before(given, places, len(parts)))
        return parts if isinstance(result, tuple) else parts[0]

    def _before(self, given: Any, places: Any, count: int) -> Any:
        """Take the gradients of the results, as the pre-hooks leave them."""
        self.given = _spread(given, places, count)
        for hook in self.pre_hooks:
            answer = hook(self.module, self.given)
            if answer is not None:
                _check_count(answer, count, "Backward pre hook", "grad_output")
                self.given = answer
        answers = tuple(self.given[k] for k in places)
        if self.places is None:
            self._without_inputs()
        return answers

    def _without_inputs(self) -> None:
        """Call the hooks now, since no argument will get a gradient."""
        warnings.warn(
            "no argument of this module requires a gradient, so its full backward hooks are "
            "called with the gradients of its results only",
            stacklevel=5,
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
        assert self.places is not None
        count = len(self.metas)
        answers = tuple(
            made(np.zeros(*self.metas[k])) if g is None and k in self.places else g
            for k, g in enumerate(_spread(found, self.places, count))
        )
        for hook in self.hooks:
            answer = hook(self.module, answers, self.given)
            if answer is not None:
                _check_count(answer, count, "Backward hook", "grad_input")
                answers = answer
        self.given = None
        return tuple(answers[k] for k in self.places)


def _through_entry(values: tuple[Any, ...]) -> tuple[Any, Any, list[int] | None]:
    """Return values whose tensors come out of one node, that node, and which are tensors."""
    places = [k for k, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[k].requires_grad for k in places)):
        return values, None, None
    found: Any = BackwardHookFunction.apply(*[values[k] for k in places])
    replaced = list(values)
    for k, tensor in zip(places, found, strict=True):
        replaced[k] = tensor
    entry = next(t.grad_fn for t in found if t.grad_fn is not None)
    made_of = type(values)
    return (tuple(replaced) if made_of is tuple else made_of(*replaced)), entry, places


def _spread(values: Any, places: list[int], count: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * count
    for k, value in zip(places, values, strict=True):
        found[k] = value
    return tuple(found)


def _check_count(answer: Any, count: int, who: str, what: str) -> None:
    if len(answer) != count:
        raise RuntimeError(f"{who} returned {len(answer)} gradients for {what}; return {count}")


def _hook_last_entry(module: Any, result: Any, hooks: list[Callable[..., Any]]) -> None:
    """Have hooks called with the gradients of the operation that made a result."""
    while not isinstance(result, Tensor):
        parts = result.values() if isinstance(result, dict) else result
        result = next(p for p in parts if isinstance(p, (Tensor, tuple, list, dict)))
    entry: Any = result.grad_fn
    for hook in hooks if entry is not None else ():
        entry.register_hook(lambda found, given, hook=hook: hook(module, found, given))


# -- for every module ------------------------------------------------------------------------------

_PLACE = "nn.modules.module."


@plain(_PLACE + "register_module_forward_pre_hook")
def register_module_forward_pre_hook(hook: Callable[..., Any]) -> Handle:
    """Have a function called before each call of any module."""
    return registered(EVERY.forward_pre, hook)


@plain(_PLACE + "register_module_forward_hook")
def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> Handle:
    """Have a function called after each call of any module."""
    handle = registered(EVERY.forward, hook)
    if with_kwargs:
        EVERY.with_kwargs.add(handle.id)
    if always_call:
        EVERY.always.add(handle.id)
    return handle


def _set_full(full: bool) -> None:
    if EVERY.full is (not full) and EVERY.backward:
        raise RuntimeError(
            "there are backward hooks of the other kind, old or full, for all modules; use "
            "register_module_full_backward_hook for all of them"
        )
    EVERY.full = full


@plain(_PLACE + "register_module_full_backward_hook")
def register_module_full_backward_hook(hook: Callable[..., Any]) -> Handle:
    """Have a function called with the gradients of each call of any module."""
    _set_full(True)
    return registered(EVERY.backward, hook)


@plain(_PLACE + "register_module_backward_hook")
def register_module_backward_hook(hook: Callable[..., Any]) -> Handle:
    """Have a function called with the gradients of the last operation of any module."""
    _set_full(False)
    return registered(EVERY.backward, hook)


@plain(_PLACE + "register_module_full_backward_pre_hook")
def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> Handle:
    """Have a function called with the gradients of the results of any module."""
    return registered(EVERY.backward_pre, hook)
