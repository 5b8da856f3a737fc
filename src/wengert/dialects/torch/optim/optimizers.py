"""PyTorch's optimisers: their options, what they keep for a parameter, and their formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.modes import enable_grad, no_grad
from wengert.dialects.torch.optim.optimizer import ByRule, OfOptions, item
from wengert.dialects.torch.strides import check_memory
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made
from wengert.optim import formulas, lbfgs


class SGD(
    ByRule,
    formula=formulas.sgd,
    takes="lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, "
    "foreach=None, differentiable=False, fused=None",
):
    """Gradient descent, with or without momentum."""

    _pairs = False

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError("nesterov=True needs momentum above 0, and dampening=0")
        super()._init_with(params, options)

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if group["momentum"] == 0:
            return {}
        state: dict[str, Any] = self.state[p]
        state.setdefault("momentum_buffer", None)  # which will be the first gradient
        return state


class Adam(
    ByRule,
    formula=formulas.adam,
    takes="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, "
    "maximize=False, capturable=False, differentiable=False, fused=None, "
    "decoupled_weight_decay=False",
    keeps="exp_avg, exp_avg_sq, max_exp_avg_sq if amsgrad",
    last="foreach, capturable, differentiable, fused, decoupled_weight_decay",
):
    """Steps scaled by running means of the gradient and of its square."""

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        betas = options["betas"]
        given = [isinstance(value, Tensor) for value in (options["lr"], *betas)]
        if options["foreach"] and not options["capturable"] and any(given):
            raise ValueError("foreach=True takes lr and betas as floats; leave foreach away")
        if not all(isinstance(b, float) for b in betas) and not all(
            isinstance(b, Tensor) and b._raw.size == 1 for b in betas
        ):
            raise ValueError(f"betas is {betas}; give two floats, or two tensors of one element")
        betas = tuple(b.squeeze() if isinstance(b, Tensor) and b._raw.shape else b for b in betas)
        super()._init_with(params, {**options, "betas": betas})


class AdamW(
    Adam,
    takes="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None",
):
    """Adam, with decoupled weight decay."""

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        super()._init_with(params, {**options, "decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class NAdam(
    ByRule,
    formula=formulas.nadam,
    takes="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, "
    "decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, "
    "differentiable=False",
    numbers="mu_product=1",
    keeps="exp_avg, exp_avg_sq",
    last="foreach, capturable, differentiable",
):
    """Adam with Nesterov's momentum."""


class RAdam(
    ByRule,
    formula=formulas.radam,
    takes="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, "
    "*, foreach=None, maximize=False, capturable=False, differentiable=False",
    keeps="exp_avg, exp_avg_sq",
    last="foreach, capturable, decoupled_weight_decay, differentiable",
):
    """Adam whose variance is rectified."""


class Adamax(
    ByRule,
    formula=formulas.adamax,
    takes="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, "
    "maximize=False, differentiable=False, capturable=False",
    keeps="exp_avg, exp_inf",
):
    """Adam with the largest gradient in place of the mean square."""


class RMSprop(
    ByRule,
    formula=formulas.rmsprop,
    takes="lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, "
    "capturable=False, foreach=None, maximize=False, differentiable=False",
    keeps="square_avg, momentum_buffer if momentum, grad_avg if centered",
    last="alpha, eps, centered, weight_decay, capturable, foreach, maximize, differentiable",
):
    """Steps scaled by the root of the mean square."""


class Adagrad(
    ByRule,
    formula=formulas.adagrad,
    takes="lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, "
    "foreach=None, *, maximize=False, differentiable=False, fused=None",
    keeps="sum=initial_accumulator_value",
    last="weight_decay, initial_accumulator_value, foreach, maximize, differentiable, fused",
):
    """Steps scaled by the root of the sum of squares."""

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        super()._init_with(params, options)
        for group in self.param_groups:
            for p in group["params"]:
                self._state_of(p, group)

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return super()._begin(p, self.defaults)


class Adadelta(
    ByRule,
    formula=formulas.adadelta,
    takes="lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, "
    "maximize=False, differentiable=False",
    keeps="square_avg, acc_delta",
    last="capturable, foreach, differentiable",
):
    """Steps scaled by the ratio of the sizes of steps and gradients so far."""


class Rprop(
    ByRule,
    formula=formulas.rprop,
    takes="lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, "
    "maximize=False, differentiable=False",
    keeps="prev, step_size=lr",
    last="capturable",
):
    """Steps whose size for each element grows while the sign stays."""

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        shrink, grow = options["etas"]
        if not 0 < shrink < 1 < grow:
            raise ValueError(f"etas is {options['etas']}; give one below 1 and one above")
        super()._init_with(params, options)


class ASGD(
    ByRule,
    formula=formulas.asgd,
    takes="lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, "
    "differentiable=False, capturable=False",
    numbers="eta=lr, mu=1",
    keeps="ax",
):
    """Gradient descent that keeps the average of where it was."""


class LBFGS(
    OfOptions,
    takes="lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, "
    "history_size=100, line_search_fn=None",
):
    """Steps along directions that the last changes of the gradient suggest.

    The closure computes the loss again, calls `backward`, and returns the loss.
    """

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        if options["max_eval"] is None:
            options["max_eval"] = options["max_iter"] * 5 // 4
        super()._init_with(params, options)
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
            check_memory(raw)
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
