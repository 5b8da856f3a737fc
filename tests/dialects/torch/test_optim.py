"""Optimisers and schedules of the PyTorch dialect, against values known by hand."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch


def parameter(*values: float) -> Any:
    """Return a parameter in double precision, with a gradient of ones."""
    p = torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))
    p.grad = torch.ones_like(p)
    return p


def test_gradient_descent_with_momentum() -> None:
    """The velocity is 1, then 1.5, then 1.75."""
    p = parameter(0.0)
    opt = torch.optim.SGD([p], lr=0.1, momentum=0.5)
    for _ in range(3):
        opt.step()
    assert math.isclose(p.item(), -0.1 * (1 + 1.5 + 1.75))
    assert opt.state[p]["momentum_buffer"].item() == 1.75


@pytest.mark.parametrize("name", ["Adam", "NAdam", "Adamax", "RMSprop", "Adagrad", "Rprop"])
def test_first_steps_go_by_the_sign(name: str) -> None:
    """The size of a gradient does not matter to the first step, nearly."""
    p = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    opt = getattr(torch.optim, name)([p], lr=0.1)
    p.grad = torch.tensor([1e-3, -1.0, 1e3], dtype=torch.float64)
    opt.step()
    moved = p.detach().numpy()
    np.testing.assert_array_equal(np.sign(moved), [-1, 1, -1])
    np.testing.assert_allclose(np.abs(moved), np.abs(moved[1]), rtol=1e-4)


def test_a_step_is_in_place() -> None:
    """The array that a parameter was made of sees its steps."""
    values = np.array([1.0, 2.0])
    p = torch.nn.Parameter(torch.from_numpy(values))
    opt = torch.optim.SGD([p], lr=0.5)
    (p * p).sum().backward()
    opt.step()
    np.testing.assert_array_equal(values, [0.0, 0.0])
    assert p._version == 1


def test_large_parameters_change_piece_by_piece() -> None:
    """All elements get their step, whether they are changed at once or not."""
    paths = []
    for turned in (False, True):
        p = torch.nn.Parameter(torch.linspace(-1, 1, 90000, dtype=torch.float64).reshape(300, 300))
        if turned:  # not contiguous, and so changed at once
            p = torch.nn.Parameter(p.detach().t())
        opt = torch.optim.Adam([p], lr=0.1)
        for _ in range(3):
            p.grad = p.detach() ** 3
            opt.step()
        paths.append(p.detach().numpy())
    np.testing.assert_array_equal(paths[0], paths[1].T)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("SGD", {"weight_decay": 0.1}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
        ("NAdam", {}),
        ("RAdam", {}),
        ("Adamax", {}),
        ("RMSprop", {"centered": True, "momentum": 0.5}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("Adadelta", {}),
    ],
)
def test_gradients_through_steps(name: str, options: dict[str, Any]) -> None:
    """The derivative by the first parameter is that of finite differences.

    The gradient that momentum begins with is a constant, as in PyTorch: it does not depend on the
    parameter here.
    """

    def after(start: Any) -> Any:
        x = start.clone()
        opt = getattr(torch.optim, name)([x], lr=0.1, differentiable=True, **options)
        for k in range(3):
            x.grad = torch.tensor([0.5, -0.3], dtype=torch.float64) + (k > 0) * start**3
            opt.step()
        return (x**2).sum()

    start = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(after(start), start)
    h = 1e-5
    for k in range(2):
        ends = []
        for sign in (1, -1):
            moved = start.detach().clone()
            moved[k] += sign * h
            ends.append(after(moved).item())
        slope = (ends[0] - ends[1]) / (2 * h)
        assert math.isclose(found[k].item(), slope, rel_tol=1e-4)


def test_a_rate_is_learnt() -> None:
    """After one step x = 2 - 4 r, so the derivative of x^2 by r is -8 x."""
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    p = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    x = p.clone()
    opt = torch.optim.SGD([x], lr=rate, differentiable=True)
    (x.grad,) = torch.autograd.grad((p * p).sum(), p, create_graph=True)
    opt.step()
    (x * x).sum().backward()
    assert math.isclose(rate.grad.item(), -8 * 1.6)
    assert math.isclose(p.grad.item(), 2 * 1.6 * 0.8)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum(search: str | None) -> None:
    """A quadratic's minimum is found, nearly exactly."""
    a = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    b = torch.tensor([1.0, -1.0], dtype=torch.float64)
    x = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    opt = torch.optim.LBFGS([x], max_iter=50, tolerance_change=1e-14, line_search_fn=search)

    def closure() -> Any:
        opt.zero_grad()
        loss = 0.5 * (x * (a * x).sum(1)).sum() - (b * x).sum()
        loss.backward()
        return loss

    assert opt.step(closure).item() == 0.0
    np.testing.assert_allclose(x.detach().numpy(), [0.6, -0.8], atol=1e-6)
    assert opt.state[x]["n_iter"] > 1


def test_lbfgs_counts_evaluations() -> None:
    """The state says how often the closure ran."""
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
    opt = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    calls = []

    def closure() -> Any:
        opt.zero_grad()
        loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
        loss.backward()
        calls.append(loss.item())
        return loss

    for _ in range(5):
        opt.step(closure)
    assert len(calls) == opt.state[x]["func_evals"]
    np.testing.assert_allclose(x.detach().numpy(), [1.0, 1.0], atol=1e-4)


def test_state_is_taken_over() -> None:
    """A new optimiser with another's state makes the same next step."""
    p, q = parameter(1.0, 2.0), parameter(1.0, 2.0)
    one, two = torch.optim.Adam([p], lr=0.1), torch.optim.Adam([q], lr=0.5)
    one.step()
    with torch.no_grad():
        q.copy_(p)
    two.load_state_dict(copy.deepcopy(one.state_dict()))
    one.step()
    two.step()
    np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())
    assert two.param_groups[0]["lr"] == 0.1


def test_hooks_are_called_around_steps_of_own_optimisers() -> None:
    """A step that a program defines has hooks around it."""

    class Fixed(torch.optim.Optimizer):  # type: ignore[misc, name-defined]
        @torch.no_grad()
        def step(self, closure: Any = None) -> None:
            for p in self.param_groups[0]["params"]:
                p.sub_(1)

    p = parameter(3.0)
    opt = Fixed([p], {})
    seen: list[str] = []
    opt.register_step_pre_hook(lambda *_: seen.append(f"before {p.item()}"))
    opt.register_step_post_hook(lambda *_: seen.append(f"after {p.item()}"))
    opt.step()
    assert seen == ["before 3.0", "after 2.0"]


def test_schedules() -> None:
    """Rates after some steps are those of the formulas."""
    schedules = torch.optim.lr_scheduler
    for make, expected in (
        (lambda o: schedules.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
        (lambda o: schedules.ExponentialLR(o, 0.5), [1, 0.5, 0.25, 0.125, 0.0625]),
        (lambda o: schedules.MultiStepLR(o, [1, 3], 0.1), [1, 0.1, 0.1, 0.01, 0.01]),
        (lambda o: schedules.LinearLR(o, 0.5, total_iters=2), [0.5, 0.75, 1, 1, 1]),
        (lambda o: schedules.PolynomialLR(o, 4), [1, 0.75, 0.5, 0.25, 0]),
        (lambda o: schedules.CosineAnnealingLR(o, 2), [1, 0.5, 0, 0.5, 1]),
        (lambda o: schedules.LambdaLR(o, lambda k: 1 / (k + 1)), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
    ):
        opt = torch.optim.SGD([parameter(1.0)], lr=1.0)
        schedule = make(opt)
        rates = []
        for _ in range(5):
            rates.append(schedule.get_last_lr()[0])
            opt.step()
            schedule.step()
        np.testing.assert_allclose(rates, expected, atol=1e-12)


def test_a_schedule_warns_of_the_wrong_order() -> None:
    """The optimiser goes first."""
    schedule = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([parameter(1.0)]), 2)
    with pytest.warns(UserWarning, match="before the optimizer"):
        schedule.step()


def test_names_that_are_left_out_say_so() -> None:
    """What is not offered says what to write."""
    with pytest.raises(AttributeError, match="write Adam"):
        _ = torch.optim.SparseAdam
