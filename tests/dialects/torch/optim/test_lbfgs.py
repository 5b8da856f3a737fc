"""L-BFGS."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.optim.trainings import label, loss_of, model
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def minimised(
    torch: Any, loss: Callable[[Any], Any], x: Any, steps: int = 3, **options: Any
) -> Any:
    """Return where L-BFGS gets, its losses, and how often the loss was computed."""
    opt = torch.optim.LBFGS([x], **options)
    calls = [0]

    def closure() -> Any:
        calls[0] += 1
        opt.zero_grad()
        value = loss(x)
        value.backward()
        return value

    losses = [opt.step(closure) for _ in range(steps)]
    state = opt.state_dict()["state"][0]
    return x, losses, calls, list(state), state["n_iter"], state["func_evals"]


def rosenbrock(x: Any) -> Any:
    """Return the values of a narrow, bent valley."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def quartic(x: Any) -> Any:
    """Return a sum of powers."""
    return ((x - 1) ** 4).sum() + (x * x).sum()


LOSSES = {"rosenbrock": rosenbrock, "quartic": quartic, "cosines": lambda x: (x.cos() + x**2).sum()}
LBFGS = [
    {},
    {"lr": 0.1},
    {"lr": 0.5, "max_iter": 5},
    {"lr": 0.01, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 4},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "lr": 0.5},
    {"line_search_fn": "strong_wolfe", "max_eval": 6},
    {"line_search_fn": "strong_wolfe", "max_eval": 2, "max_iter": 10},
    {"tolerance_grad": 0.5, "lr": 0.1},
    {"tolerance_change": 0.1, "lr": 0.1},
    {"max_iter": 1},
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", LBFGS, ids=label)
def test_lbfgs(loss: str, options: dict[str, Any]) -> None:
    """L-BFGS goes the same way, and computes the loss as often."""

    def run(torch: Any) -> Any:
        x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5, 2.0], dtype=torch.float64))
        found = minimised(torch, LOSSES[loss], x, **options)
        x.grad += 1  # at a minimum it is a difference of large terms, and mostly rounding
        return found

    compare(run, 1e-6)


@program
def lbfgs_in_single_precision(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5]))
    return minimised(torch, quartic, x, 1, max_iter=3, line_search_fn="strong_wolfe")[:2]


@program
def lbfgs_state(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64))
    opt = torch.optim.LBFGS([x], max_iter=3, history_size=2, lr=0.1)

    def closure() -> Any:
        opt.zero_grad()
        value = quartic(x)
        value.backward()
        return value

    opt.step(closure)
    opt.step(closure)
    return opt.state_dict()


@program
def lbfgs_loaded_state(torch: Any) -> Any:
    p, q = model(torch)

    def steps(opt: Any) -> list[Any]:
        def closure() -> Any:
            opt.zero_grad()
            value = loss_of(p, q)
            value.backward()
            return value

        return [opt.step(closure) for _ in range(2)]

    opt = torch.optim.LBFGS([p, q], lr=0.1, max_iter=2)
    first = steps(opt)
    other = torch.optim.LBFGS([p, q])
    other.load_state_dict(copy.deepcopy(opt.state_dict()))
    return first, steps(other), p, q


@program
def lbfgs_of_complex_parameters(torch: Any) -> Any:
    z = torch.nn.Parameter(torch.tensor([1 + 2j, -0.5 + 0.3j], dtype=torch.complex128))
    return minimised(torch, lambda z: ((z - 1j).abs() ** 4).sum(), z, lr=0.5)


@program
def lbfgs_of_a_parameter_without_a_gradient(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.LBFGS([p, q], lr=0.1)

    def closure() -> Any:
        opt.zero_grad()
        value = (q**2).sum()
        value.backward()
        return value

    return opt.step(closure), p, q


@program
def lbfgs_needs_a_closure(torch: Any) -> Any:
    torch.optim.LBFGS(list(model(torch))).step()


@program
def lbfgs_of_two_groups(torch: Any) -> Any:
    p, q = model(torch)
    return torch.optim.LBFGS([{"params": p}, {"params": q}])


@program
def lbfgs_with_an_unknown_search(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5]))
    return minimised(torch, quartic, x, line_search_fn="armijo")


@program
def lbfgs_at_the_minimum(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.zeros(3))
    return minimised(torch, lambda x: (x * x).sum(), x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
