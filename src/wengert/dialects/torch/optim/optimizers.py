"""PyTorch's optimisers: their options, what they keep for a parameter, and their rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.modes import enable_grad, no_grad
from wengert.dialects.torch.optim.optimizer import ByRule, Optimizer, filled, item, number
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made
from wengert.optim import formulas, lbfgs

Betas = tuple[Any, Any]


def _check(holds: bool, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"the {what} is out of range: {value}")


def _check_rate(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr._raw.size != 1:
        raise ValueError(f"lr is a tensor of {lr._raw.size} elements; give one number")
    _check(item(lr) >= 0, "learning rate", lr)


def _check_options(lr: Any, eps: float, weight_decay: Any, betas: Betas | None = None) -> None:
    _check_rate(lr)
    _check(eps >= 0, "epsilon value", eps)
    for position, beta in enumerate(betas or ()):
        _check(0 <= item(beta) < 1, f"beta {position}", beta)
    _check(item(weight_decay) >= 0, "weight_decay value", weight_decay)


def _check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    if fused and differentiable:
        raise RuntimeError(
            "fused=True has no derivative, which differentiable=True needs; leave one away"
        )
    if fused and foreach:
        raise RuntimeError("fused and foreach are two ways to compute one step; leave one away")


def _picked(given: dict[str, Any], names: str) -> dict[str, Any]:
    """Return the arguments that are options, in the order in which PyTorch shows them."""
    return {name: given[name] for name in names.split()}


class SGD(ByRule):
    """Gradient descent, with or without momentum."""

    _formula = staticmethod(formulas.sgd)
    _pairs = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_options(lr, 0, weight_decay)
        _check(momentum >= 0, "momentum value", momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("nesterov=True needs momentum above 0, and dampening=0")
        names = "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        super().__init__(params, _picked(locals(), names))
        _check_fused(fused, foreach, differentiable)

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if group["momentum"] == 0:
            return {}
        state: dict[str, Any] = self.state[p]
        state.setdefault("momentum_buffer", None)  # which will be the first gradient
        return state


class Adam(ByRule):
    """Steps scaled by running means of the gradient and of its square."""

    _formula = staticmethod(formulas.adam)
    _kept = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if foreach and not capturable and any(isinstance(v, Tensor) for v in (lr, *betas)):
            raise ValueError("foreach=True takes lr and betas as floats; leave foreach away")
        _check_options(lr, eps, weight_decay, betas)
        both_numbers = all(isinstance(beta, float) for beta in betas)
        if not both_numbers and not all(
            isinstance(beta, Tensor) and beta._raw.size == 1 for beta in betas
        ):
            raise ValueError(f"betas is {betas}; give two floats, or two tensors of one element")
        betas = tuple(
            beta.squeeze() if isinstance(beta, Tensor) and beta._raw.shape else beta
            for beta in betas
        )
        names = (
            "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused "
            "decoupled_weight_decay"
        )
        super().__init__(params, _picked(locals(), names))
        _check_fused(fused, foreach, differentiable)

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        largest = {"max_exp_avg_sq": filled(p)} if group["amsgrad"] else {}
        return super()._begin(p, group) | largest


class AdamW(Adam):
    """Adam, with a decay of the parameters apart from their gradients."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 1e-2,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class NAdam(ByRule):
    """Adam with Nesterov's momentum."""

    _formula = staticmethod(formulas.nadam)

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options(lr, eps, weight_decay, betas)
        _check(momentum_decay >= 0, "momentum_decay value", momentum_decay)
        names = (
            "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
            "capturable differentiable"
        )
        super().__init__(params, _picked(locals(), names))

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        moments = {"exp_avg": filled(p), "exp_avg_sq": filled(p)}
        return {"step": number(0), "mu_product": number(1), **moments}


class RAdam(ByRule):
    """Adam whose variance is rectified."""

    _formula = staticmethod(formulas.radam)
    _kept = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options(lr, eps, weight_decay, betas)
        names = (
            "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
            "differentiable"
        )
        super().__init__(params, _picked(locals(), names))


class Adamax(ByRule):
    """Adam with the largest gradient in the place of the mean square."""

    _formula = staticmethod(formulas.adamax)
    _kept = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_options(lr, eps, weight_decay, betas)
        names = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, _picked(locals(), names))


class RMSprop(ByRule):
    """Steps scaled by the root of the mean square."""

    _formula = staticmethod(formulas.rmsprop)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options(lr, eps, weight_decay)
        _check(momentum >= 0, "momentum value", momentum)
        _check(alpha >= 0, "alpha value", alpha)
        names = (
            "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        )
        super().__init__(params, _picked(locals(), names))

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": number(0), "square_avg": filled(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = filled(p)
        if group["centered"]:
            state["grad_avg"] = filled(p)
        return state


class Adagrad(ByRule):
    """Steps scaled by the root of the sum of squares."""

    _formula = staticmethod(formulas.adagrad)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_options(lr, eps, weight_decay)
        _check(lr_decay >= 0, "lr_decay value", lr_decay)
        _check(
            initial_accumulator_value >= 0,
            "initial_accumulator_value value",
            initial_accumulator_value,
        )
        names = (
            "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
            "differentiable fused"
        )
        super().__init__(params, _picked(locals(), names))
        _check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._state_of(p, group)

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": number(0), "sum": filled(p, self.defaults["initial_accumulator_value"])}

    def share_memory(self) -> None:
        """Do nothing: there is one process."""


class Adadelta(ByRule):
    """Steps scaled by the ratio of the sizes of steps and gradients so far."""

    _formula = staticmethod(formulas.adadelta)
    _kept = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options(lr, eps, weight_decay)
        _check(0 <= rho <= 1, "rho value", rho)
        names = "lr rho eps weight_decay maximize capturable foreach differentiable"
        super().__init__(params, _picked(locals(), names))


class Rprop(ByRule):
    """Steps whose size for each element grows while the sign stays."""

    _formula = staticmethod(formulas.rprop)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_rate(lr)
        _check(0 < etas[0] < 1 < etas[1], "eta values", etas)
        names = "lr etas step_sizes foreach maximize differentiable capturable"
        super().__init__(params, _picked(locals(), names))

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": number(0), "prev": filled(p), "step_size": filled(p, item(group["lr"]))}


class ASGD(ByRule):
    """Gradient descent that keeps the average of where it was."""

    _formula = staticmethod(formulas.asgd)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_options(lr, 0, weight_decay)
        names = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
        super().__init__(params, _picked(locals(), names))

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        numbers = {"step": number(0), "eta": number(item(group["lr"])), "mu": number(1)}
        return {**numbers, "ax": filled(p)}


class Adafactor(ByRule):
    """Steps scaled by mean squares of the rows and columns of a matrix."""

    _formula = staticmethod(formulas.adafactor)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        _check_options(lr, eps[1], weight_decay)
        _check(beta2_decay <= 0, "beta2_decay, 0 at most,", beta2_decay)
        _check(eps[0] is None or eps[0] >= 0, "epsilon1, 0 or more,", eps[0])
        _check(d >= 1, "threshold d, 1 or more,", d)
        names = "lr beta2_decay eps d weight_decay foreach maximize"
        super().__init__(params, _picked(locals(), names))

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if p._raw.dtype.kind == "c":
            raise RuntimeError(
                "Adafactor: a parameter is complex; use Adam, or give its real and imaginary parts"
            )
        raw = p._raw
        if raw.ndim < 2:
            return {"step": number(0), "variance": filled(p)}
        *rest, rows, columns = raw.shape
        return {
            "step": number(0),
            "row_var": made(np.zeros((*rest, rows, 1), raw.dtype)),
            "col_var": made(np.zeros((*rest, 1, columns), raw.dtype)),
        }


class LBFGS(Optimizer):
    """Steps along directions that the last changes of the gradient suggest.

    The closure computes the loss again, calls `backward`, and returns the loss.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        _check_rate(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS takes one group of parameters; give one list")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _gradient(self) -> np.ndarray:
        """Return the gradients of all parameters as one array of real numbers."""
        parts = [np.zeros_like(p._raw) if p.grad is None else p.grad._raw for p in self._params]
        return np.concatenate([_flat(part) for part in parts])

    def _move(self, distance: Any, direction: np.ndarray) -> None:
        """Add a multiple of a direction to the parameters."""
        begin = 0
        for p in self._params:
            raw = p._raw
            memory.check_memory(raw)
            size = _flat(raw).size
            part = (distance * direction[begin : begin + size]).astype(raw.real.dtype, copy=False)
            raw += part.view(raw.dtype).reshape(raw.shape)
            memory.note_write(raw)
            begin += size

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take up to `max_iter` steps, and return the closure's first loss."""

        def loss_now() -> Any:
            with enable_grad():
                return closure()

        def evaluate() -> tuple[float, np.ndarray]:
            return float(loss_now()), self._gradient()

        def look(distance: Any, direction: np.ndarray) -> tuple[float, np.ndarray]:
            before = [p._raw.copy() for p in self._params]
            self._move(distance, direction)
            found = evaluate()
            for p, raw in zip(self._params, before, strict=True):
                memory.write(p._raw, raw)
            return found

        with no_grad():
            options = {k: item(v) for k, v in self.param_groups[0].items() if k != "params"}
            if options["line_search_fn"] not in (None, "strong_wolfe"):
                raise RuntimeError(
                    f"line_search_fn is {options['line_search_fn']!r}; give 'strong_wolfe' or None"
                )
            kept = self.state[self._params[0]]
            kept.setdefault("func_evals", 0)
            kept.setdefault("n_iter", 0)
            first = loss_now()
            kept["func_evals"] += 1
            gradient = self._gradient()
            if np.abs(gradient).max() <= options["tolerance_grad"]:
                return first
            state = {name: _arrays(value) for name, value in kept.items()}
            lbfgs.minimise(gradient, float(first), state, options, self._move, evaluate, look)
            kept.update({name: _tensors(state[name]) for name in _KEPT if name in state})
        return first


#: What L-BFGS keeps, in PyTorch's order.
_KEPT = (
    "func_evals", "n_iter", "al", "d", "t", "old_dirs", "old_stps", "ro", "H_diag",
    "prev_flat_grad", "prev_loss",
)  # fmt: skip


def _flat(raw: np.ndarray) -> np.ndarray:
    """Return an array as a flat one of real numbers."""
    flat = raw.reshape(-1)
    return np.ascontiguousarray(flat).view(raw.real.dtype) if raw.dtype.kind == "c" else flat


def _arrays(value: Any) -> Any:
    """Return tensors as arrays and numbers, also in lists."""
    if isinstance(value, list):
        return [_arrays(v) for v in value]
    return value._raw[()] if isinstance(value, Tensor) else value


def _tensors(value: Any) -> Any:
    """Return arrays, and numbers found from arrays, as tensors, also in lists."""
    if isinstance(value, list):
        return [_tensors(v) for v in value]
    return made(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


for _kind in (
    SGD, Adam, AdamW, NAdam, RAdam, Adamax, RMSprop, Adagrad, Adadelta, Rprop, ASGD, LBFGS,
):  # fmt: skip
    put((f"optim.{_kind.__name__}", f"optim.{_kind.__name__.lower()}.{_kind.__name__}"), _kind)
put(("optim.Adafactor",), Adafactor)
