"""Models, losses and loops that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.dialects.parity import Program


def model(torch: Any, dtype: str = "float64") -> tuple[Any, Any]:
    """Return two parameters, a vector and a matrix."""
    kind = getattr(torch, dtype)
    p = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=kind))
    q = torch.nn.Parameter(torch.tensor([[0.5, -1.0], [2.0, 0.25], [0.1, 1.5]], dtype=kind))
    return p, q


def loss_of(p: Any, q: Any, k: int = 0) -> Any:
    """Return a loss that is a little different each time."""
    y = (p.reshape(-1, 1) * q).sum(0)
    return (y * y).sum() + ((p - 0.1 * k) ** 4).sum() * 0.1 + (q * q * 0.3).sum()


def trained(
    torch: Any, opt: Any, p: Any, q: Any, steps: int = 12, begin: int = 0, schedule: Any = None
) -> list[Any]:
    """Return the parameters after each of some steps."""
    path = []
    for k in range(begin, begin + steps):
        opt.zero_grad()
        loss_of(p, q, k).backward()
        opt.step()
        if schedule is not None:
            schedule.step()
        path += [p.detach().clone(), q.detach().clone()]
    return path


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {},
        {"lr": 0.05},
        {"lr": 0.05, "momentum": 0.9},
        {"lr": 0.05, "momentum": 0.9, "dampening": 0.5},
        {"lr": 0.02, "momentum": 0.9, "nesterov": True},
        {"lr": 0.02, "weight_decay": 0.1},
        {"lr": 0.02, "momentum": 0.5, "weight_decay": 0.1, "nesterov": True},
        {"lr": 0.001, "maximize": True},
        {"lr": 0.001, "momentum": 0.9, "maximize": True, "weight_decay": 0.1},
        {"lr": 0.02, "foreach": True},
        {"lr": 0.02, "foreach": False, "momentum": 0.3},
        {"lr": 0.02, "fused": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "betas": (0.5, 0.9)},
        {"lr": 0.1, "eps": 0.1},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "amsgrad": True},
        {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1, "maximize": True},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.1, "foreach": True},
        {"lr": 0.1, "fused": True},
    ],
    "AdamW": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True},
        {"lr": 0.1, "weight_decay": 0.0},
        {"lr": 0.1, "maximize": True},
        {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3},
    ],
    "NAdam": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.1, "momentum_decay": 0.1, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.1, "betas": (0.5, 0.9), "maximize": True},
    ],
    "Adamax": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "eps": 1e-3},
        {"lr": 0.1, "betas": (0.5, 0.9), "maximize": True},
    ],
    "RMSprop": [
        {},
        {"lr": 0.05, "alpha": 0.9},
        {"lr": 0.02, "momentum": 0.9},
        {"lr": 0.02, "centered": True},
        {"lr": 0.02, "centered": True, "momentum": 0.5, "weight_decay": 0.1},
        {"lr": 0.02, "maximize": True, "eps": 0.1},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "lr_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5},
        {"lr": 0.1, "eps": 0.1, "maximize": True},
    ],
    "Adadelta": [
        {},
        {"lr": 0.5, "rho": 0.5},
        {"weight_decay": 0.1, "eps": 1e-3},
        {"maximize": True},
    ],
    "Rprop": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "etas": (0.3, 1.5)},
        {"lr": 0.1, "step_sizes": (0.01, 0.2)},
        {"lr": 0.1, "maximize": True},
    ],
    "ASGD": [
        {},
        {"lr": 0.05, "t0": 3},
        {"lr": 0.05, "lambd": 0.1, "alpha": 0.5},
        {"lr": 0.05, "weight_decay": 0.1, "t0": 1},
        {"lr": 0.001, "maximize": True},
    ],
}
KINDS = list(OPTIONS)


def label(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items()) or "defaults"
    return str(value)


Schedule = Callable[[Any, Any], Any]


def scheduled(make: Schedule, kind: str = "SGD") -> Program:
    """Return a program that trains with a schedule."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        options = {"momentum": 0.9} if kind == "SGD" else {}
        groups = [{"params": [p]}, {"params": [q], "lr": 0.02}]
        opt = getattr(torch.optim, kind)(groups, lr=0.05, **options)
        schedule = make(torch.optim.lr_scheduler, opt)
        rates = [schedule.get_last_lr()]
        path = []
        for k in range(14):
            path += trained(torch, opt, p, q, 1, k)
            schedule.step()
            rates.append(schedule.get_last_lr())
        state = schedule.state_dict()
        state.pop("lr_lambdas", None)
        return path, rates, state, [{**g, "params": 0} for g in opt.param_groups]

    return run
