"""Optimisers that a program writes, and gradients through steps."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.torch.optim.trainings import loss_of, model, trained
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- optimisers of the program ---------------------------------------------------------------------


def signed(torch: Any) -> Any:
    """Return a class of optimisers that go by the sign of a running mean."""

    class Signed(torch.optim.Optimizer):
        def __init__(self, params: Any, lr: float = 0.1, beta: float = 0.9) -> None:
            super().__init__(params, {"lr": lr, "beta": beta})

        @torch.no_grad()
        def step(self, closure: Any = None) -> Any:
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["mean"] = torch.zeros_like(p)
                    state["mean"].mul_(group["beta"]).add_(p.grad, alpha=1 - group["beta"])
                    p.add_(state["mean"].sign(), alpha=-group["lr"])
            return loss

    return Signed


@program
def own_optimisers(torch: Any) -> Any:
    p, q = model(torch)
    opt = signed(torch)([p, q], lr=0.05)
    return trained(torch, opt, p, q), opt.state_dict(), repr(opt)


@program
def own_optimisers_with_hooks(torch: Any) -> Any:
    p, q = model(torch)
    kind = signed(torch)
    opt, other = kind([p], lr=0.05), kind([q], lr=0.05)
    seen: list[str] = []
    opt.register_step_pre_hook(lambda *a: seen.append("before"))
    opt.register_step_post_hook(lambda *a: seen.append("after"))
    other.register_step_post_hook(lambda *a: seen.append("other"))
    loss_of(p, q).backward()
    opt.step()
    other.step()
    return seen, opt.step(lambda: 2.0), p, q


@program
def own_optimisers_with_data(torch: Any) -> Any:
    class Plain(torch.optim.Optimizer):
        def __init__(self, params: Any, lr: Any) -> None:
            super().__init__(params, {"lr": lr})

        def step(self) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.data.add_(p.grad.data, alpha=-group["lr"])

    p, q = model(torch)
    return trained(torch, Plain([p, q], 0.05), p, q)


@program
def own_optimisers_over_others(torch: Any) -> Any:
    class Slow(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                group["lr"] *= 0.9
            return super().step(closure)

    p, q = model(torch)
    opt = Slow([p, q], lr=0.1, momentum=0.5)
    return trained(torch, opt, p, q), opt.param_groups[0]["lr"]


@program
def own_optimisers_without_a_step(torch: Any) -> Any:
    class Nothing(torch.optim.Optimizer):
        pass

    Nothing(list(model(torch)), {}).step()


@program
def required_options(torch: Any) -> Any:
    required = importlib.import_module(f"{torch.__name__}.optim.optimizer").required
    opt = torch.optim.Optimizer([{"params": model(torch)[0], "lr": 1}], {"lr": required})
    found = repr(opt), repr(required)
    opt.add_param_group({"params": model(torch)[1]})
    return found


@program
def own_schedules(torch: Any) -> Any:
    class Halves(torch.optim.lr_scheduler.LRScheduler):
        def get_lr(self) -> Any:
            if self.last_epoch == 0:
                return [group["lr"] for group in self.optimizer.param_groups]
            return [group["lr"] / 2 for group in self.optimizer.param_groups]

    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    schedule = Halves(opt)
    path = trained(torch, opt, p, q, 4, schedule=schedule)
    return path, schedule.get_last_lr(), schedule.state_dict()


# -- gradients through steps -----------------------------------------------------------------------


@program
def learning_to_learn_by_hand(torch: Any) -> Any:
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(3):
        (g,) = torch.autograd.grad((y**4).sum(), y, create_graph=True)
        y = y - rate * g
    (y**2).sum().backward()
    return rate, x


def learnt_rate(name: str, **options: Any) -> Program:
    """Return a program with the gradient of a loss after steps by the rate."""

    def run(torch: Any) -> Any:
        rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
        p = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
        x = p.clone()
        opt = getattr(torch.optim, name)([x], lr=rate, differentiable=True, **options)
        for k in range(3):
            (x.grad,) = torch.autograd.grad((p * p * p).sum() * (k + 1), p, create_graph=True)
            opt.step()
        (x**2).sum().backward()
        return rate.grad, p.grad, x

    return run


for _name, _options in {
    "SGD": {},
    "Adam": {},
    "AdamW": {"weight_decay": 0.1},
}.items():
    PROGRAMS[f"learnt_rate_of_{_name}"] = learnt_rate(_name, **_options)
PROGRAMS["learnt_rate_with_nesterov"] = learnt_rate("SGD", momentum=0.9, nesterov=True)


@program
def learnt_decay(torch: Any) -> Any:
    decay = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True).clone()
    opt = torch.optim.SGD([x], lr=0.1, weight_decay=decay, differentiable=True)
    for _ in range(2):
        x.grad = torch.tensor([0.5, 0.25], dtype=torch.float64)
        opt.step()
    (x**2).sum().backward()
    return decay.grad, x


@program
def learnt_betas(torch: Any) -> Any:
    betas = [torch.tensor(b, dtype=torch.float64, requires_grad=True) for b in (0.9, 0.99)]
    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True).clone()
    opt = torch.optim.Adam([x], lr=0.1, betas=tuple(betas), differentiable=True)
    for k in range(3):
        x.grad = torch.tensor([0.5, 0.25 * k + 0.1], dtype=torch.float64)
        opt.step()
    (x**2).sum().backward()
    return betas[0].grad, betas[1].grad, x


@program
def second_derivatives_through_steps(torch: Any) -> Any:
    p = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    x = p.clone()
    opt = torch.optim.Adam([x], lr=0.1, differentiable=True)
    for _ in range(2):
        x.grad = p**3
        opt.step()
    (g,) = torch.autograd.grad((x**2).sum(), p, create_graph=True)
    return g, torch.autograd.grad(g.sum(), p)


@program
def differentiable_steps_of_leaves(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1, differentiable=True)
    return trained(torch, opt, p, q, 1)


@program
def differentiable_steps_of_constants(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0])
    g = torch.tensor([0.5, 0.25], requires_grad=True)
    opt = torch.optim.SGD([x], lr=0.1, momentum=0.9, differentiable=True)
    for _ in range(2):
        x.grad = g * 2
        opt.step()
    x.sum().backward()
    return g.grad, x.requires_grad, x, opt.state[x]["momentum_buffer"].requires_grad


@program
def differentiable_complex_steps(torch: Any) -> Any:
    p = torch.tensor([1 + 2j, -0.5j], dtype=torch.complex128, requires_grad=True)
    x = p.clone()
    opt = torch.optim.Adam([x], lr=0.1, differentiable=True)
    for _ in range(2):
        x.grad = p * p
        opt.step()
    (x.abs() ** 2).sum().backward()
    return p.grad, x


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
