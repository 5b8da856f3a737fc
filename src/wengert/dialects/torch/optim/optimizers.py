"""Optimisers as PyTorch has them: objects with groups of parameters and state."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.gradients import Handle
from wengert.dialects.torch.modes import enable_grad, no_grad
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, convert, made
from wengert.engine.tensor import wrap
from wengert.optim import torch_rules

#: What a state holds as arrays, by PyTorch's names, is shown to programs as tensors.
Rule = torch_rules.Rule


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """What optimisers share: groups of parameters, each with its options, and state."""

    _rule: Rule | None = None

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._before: dict[int, Any] = OrderedDict()
        self._after: dict[int, Any] = OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                "but got one Tensor; write [tensor]"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)
        if type(self).step is not Optimizer.step:
            self._wrap_step()

    def _wrap_step(self) -> None:
        """Have hooks called around a step that a subclass defines."""
        inner = self.step

        @functools.wraps(inner)
        def step(*args: Any, **kwargs: Any) -> Any:
            for hook in list(self._before.values()):
                hook(self, args, kwargs)
            result = inner(*args, **kwargs)
            for hook in list(self._after.values()):
                hook(self, args, kwargs)
            return result

        self.step = step  # type: ignore[method-assign]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need an order, and those of a set change; write a list"
            )
        group["params"] = [params] if isinstance(params, Tensor) else list(params)
        if group["params"] and isinstance(group["params"][0], tuple):  # with names
            group["param_names"] = [name for name, _ in group["params"]]
            group["params"] = [p for _, p in group["params"]]
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one is {type(p).__name__}"
                )
            if not (p.is_leaf or p._retains):
                raise ValueError(
                    "can't optimize a non-leaf Tensor; give the leaf that it was computed from"
                )
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify the option {name}")
            group.setdefault(name, default)
        given = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in given for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else made(np.zeros_like(p.grad._raw))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients, and return the closure's loss."""
        rule = self._rule
        if rule is None:
            raise NotImplementedError
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for hook in list(self._before.values()):
            hook(self, (closure,), {})
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    options = {k: _number(v) for k, v in group.items() if k != "params"}
                    state = self._arrays(p)
                    new = rule(p._raw, p.grad._raw, state, options)
                    memory.overwrite(p, wrap(new.astype(p._raw.dtype, copy=False)))
                    self._keep(p, state)
        for hook in list(self._after.values()):
            hook(self, (closure,), {})
        return loss

    def _arrays(self, p: Tensor) -> dict[str, Any]:
        return {
            k: (v._raw if v._raw.shape or k not in ("step",) else int(v._raw))
            if isinstance(v, Tensor)
            else v
            for k, v in self.state[p].items()
        }

    def _keep(self, p: Tensor, state: dict[str, Any]) -> None:
        kept = self.state[p]
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                kept[name] = made(value)
            else:
                kept[name] = made(np.asarray(float(value), np.float32))

    # -- state -------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the groups, with numbers in the place of parameters."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
        groups = [
            {
                **{k: v for k, v in group.items() if k != "params"},
                "params": [numbers[id(p)] for p in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {
            numbers[id(p)] if isinstance(p, Tensor) else p: dict(value)
            for p, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the groups of another optimiser."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has {len(groups)} parameter groups, and the optimizer has "
                f"{len(self.param_groups)}"
            )
        sizes = [len(g["params"]) for g in groups], [len(g["params"]) for g in self.param_groups]
        if sizes[0] != sizes[1]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of the "
                f"optimizer's group: {sizes[0]} and {sizes[1]}"
            )
        places = {
            number: p
            for given, mine in zip(groups, self.param_groups, strict=True)
            for number, p in zip(given["params"], mine["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            p = places.get(number, number)
            self.state[p] = {
                k: made(v._raw.copy()) if isinstance(v, Tensor) else v for k, v in values.items()
            }
        self.param_groups = [
            {**{k: v for k, v in given.items() if k != "params"}, "params": mine["params"]}
            for given, mine in zip(groups, self.param_groups, strict=True)
        ]

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Have a function called before each step."""
        handle = Handle(self._before)
        self._before[handle.id] = hook
        return handle

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Have a function called after each step."""
        handle = Handle(self._after)
        self._after[handle.id] = hook
        return handle

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {number}"][number == 0 :]
            lines += [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
        return "\n".join([*lines, ")"])


def _number(value: Any) -> Any:
    return value._raw.item() if isinstance(value, Tensor) else value


def _check(condition: bool, what: str, value: Any) -> None:
    if not condition:
        raise ValueError(f"Invalid {what}: {value}")


def _check_common(lr: Any, eps: Any = None, betas: Any = None, weight_decay: Any = 0) -> None:
    _check(_number(lr) >= 0, "learning rate", lr)
    if eps is not None:
        _check(eps >= 0, "epsilon value", eps)
    if betas is not None:
        for position, beta in enumerate(betas):
            _check(0 <= beta < 1, f"beta parameter at index {position}", beta)
    _check(weight_decay >= 0, "weight_decay value", weight_decay)


class SGD(Optimizer):
    """Gradient descent, with or without momentum."""

    _rule = staticmethod(torch_rules.sgd)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_common(lr, weight_decay=weight_decay)
        _check(momentum >= 0, "momentum value", momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            dict(
                lr=lr,
                momentum=momentum,
                dampening=dampening,
                weight_decay=weight_decay,
                nesterov=nesterov,
                maximize=maximize,
                foreach=foreach,
                differentiable=differentiable,
                fused=fused,
            ),
        )


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square."""

    _rule = staticmethod(torch_rules.adam)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check_common(lr, eps, betas, weight_decay)
        super().__init__(
            params,
            dict(
                lr=lr,
                betas=betas,
                eps=eps,
                weight_decay=weight_decay,
                amsgrad=amsgrad,
                maximize=maximize,
                foreach=foreach,
                capturable=capturable,
                differentiable=differentiable,
                fused=fused,
                decoupled_weight_decay=decoupled_weight_decay,
            ),
        )


class AdamW(Adam):
    """Adam, with a decay of the parameters apart from their gradients."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def _simple(
    name: str, rule: Rule, about: str, positional: dict[str, Any], flags: dict[str, Any]
) -> type[Optimizer]:
    """Return an optimiser that is no more than a rule and its options."""

    def __init__(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        options = {**positional, **flags}
        names = list(positional)
        if len(args) > len(names):
            raise TypeError(f"{name} takes at most {len(names) + 1} positional arguments")
        given = dict(zip(names, args, strict=False))
        unknown = [k for k in kwargs if k not in options]
        if unknown:
            raise TypeError(f"{name} got an unexpected keyword argument '{unknown[0]}'")
        options.update(given, **kwargs)
        _check_common(
            options["lr"], options.get("eps"), options.get("betas"), options.get("weight_decay", 0)
        )
        Optimizer.__init__(self, params, options)

    return type(
        name, (Optimizer,), {"__doc__": about, "_rule": staticmethod(rule), "__init__": __init__}
    )


_FLAGS = {"foreach": None, "maximize": False, "capturable": False, "differentiable": False}
RMSprop = _simple(
    "RMSprop",
    torch_rules.rmsprop,
    "Steps scaled by the root of the mean square.",
    {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False},
    {"capturable": False, "foreach": None, "maximize": False, "differentiable": False},
)
Adagrad = _simple(
    "Adagrad",
    torch_rules.adagrad,
    "Steps scaled by the root of the sum of squares.",
    {"lr": 1e-2, "lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10},
    {"foreach": None, "maximize": False, "differentiable": False, "fused": None},
)
Adadelta = _simple(
    "Adadelta",
    torch_rules.adadelta,
    "Steps scaled by the ratio of the sizes of steps and gradients so far.",
    {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0},
    _FLAGS,
)
Adamax = _simple(
    "Adamax",
    torch_rules.adamax,
    "Adam with the largest gradient in the place of the mean square.",
    {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0},
    _FLAGS,
)
NAdam = _simple(
    "NAdam",
    torch_rules.nadam,
    "Adam with Nesterov's momentum.",
    {
        "lr": 2e-3,
        "betas": (0.9, 0.999),
        "eps": 1e-8,
        "weight_decay": 0,
        "momentum_decay": 4e-3,
        "decoupled_weight_decay": False,
    },
    _FLAGS,
)
RAdam = _simple(
    "RAdam",
    torch_rules.radam,
    "Adam whose variance is rectified.",
    {
        "lr": 1e-3,
        "betas": (0.9, 0.999),
        "eps": 1e-8,
        "weight_decay": 0,
        "decoupled_weight_decay": False,
    },
    _FLAGS,
)
Rprop = _simple(
    "Rprop",
    torch_rules.rprop,
    "Steps whose size for each element grows while the sign stays.",
    {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)},
    _FLAGS,
)
ASGD = _simple(
    "ASGD",
    torch_rules.asgd,
    "Gradient descent that keeps the average of where it was.",
    {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0},
    _FLAGS,
)
for _kind in (
    Optimizer, SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, Rprop, ASGD,
):  # fmt: skip
    put((f"optim.{_kind.__name__}",), _kind)
put(("optim.optimizer.Optimizer",), Optimizer)
_ = convert
