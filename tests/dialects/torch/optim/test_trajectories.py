"""What optimisers do to parameters, step by step, and the options that they refuse."""

from __future__ import annotations

import copy
import inspect
import operator
from typing import Any

import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.torch.optim.trainings import KINDS, OPTIONS, label, model, trained
from tests.dialects.torch.parity import answer, compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

TRAJECTORIES = [(name, options) for name, all_ in OPTIONS.items() for options in all_]


def trajectory(name: str, options: dict[str, Any], dtype: str = "float64") -> Program:
    """Return a program that trains, and gives the path and what the optimiser keeps."""

    def run(torch: Any) -> Any:
        p, q = model(torch, dtype)
        opt = getattr(torch.optim, name)([p, q], **options)
        return trained(torch, opt, p, q, 15), opt.state_dict(), repr(opt), opt.defaults

    return run


@pytest.mark.parametrize(("name", "options"), TRAJECTORIES, ids=label)
def test_trajectory(name: str, options: dict[str, Any]) -> None:
    """Parameters, state and options are those of PyTorch after each step."""
    compare(trajectory(name, options), 1e-7)


@pytest.mark.parametrize("name", KINDS)
def test_trajectory_in_single_precision(name: str) -> None:
    """So they are in single precision."""
    compare(trajectory(name, {}, "float32"), 1e-4)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_large_parameters(name: str, turned: bool) -> None:
    """Parameters of many elements, which are changed piece by piece, are changed everywhere."""

    def run(torch: Any) -> Any:
        x = (torch.arange(150000, dtype=torch.float64) / 7).cos().reshape(300, 500)
        p = torch.nn.Parameter(x.t() if turned else x.clone())
        opt = getattr(torch.optim, name)(
            [p], lr=0.1, **({"momentum": 0.9} if name == "SGD" else {})
        )
        for _ in range(3):
            opt.zero_grad()
            (p**4).sum().backward()
            opt.step()
        return p.detach(), opt.state_dict()

    compare(run, 1e-7)


#: Names that are not offered on purpose.
LEFT_OUT = ("MultiplicativeLR", "ChainedScheduler", "CyclicLR")


@pytest.mark.parametrize("path", [*KINDS, "LBFGS", "lr_scheduler"])
def test_signature(path: str) -> None:
    """Arguments have PyTorch's names, order and defaults."""

    def of(name: str, torch: Any) -> list[Any]:
        found = inspect.signature(operator.attrgetter(name)(torch.optim)).parameters.values()
        return [(a.name, a.kind.name, default(a)) for a in found]

    def default(argument: Any) -> Any:
        given = argument.default
        return given if given is not argument.empty else "none is given"

    names = [path]
    if path.islower():
        listed = answer(lambda torch: getattr(torch.optim, path).__all__)
        names = [f"{path}.{name}" for name in listed["parts"] if name not in LEFT_OUT]
    for name in names:
        compare(lambda torch, name=name: of(name, torch))


@pytest.mark.parametrize("name", KINDS)
def test_complex(name: str) -> None:
    """Complex parameters are pairs of real ones."""

    def run(torch: Any) -> Any:
        z = torch.nn.Parameter(torch.tensor([1 + 2j, -0.5 + 0.3j], dtype=torch.complex128))
        opt = getattr(torch.optim, name)([z], lr=0.05)
        path = []
        for _ in range(8):
            opt.zero_grad()
            loss = ((z * z).abs() ** 2).sum() + (z - 1j).abs().sum()
            loss.backward()
            opt.step()
            path.append(z.detach().clone())
        return path, opt.state_dict()

    compare(run, 1e-7)


def complex_with(name: str, **options: Any) -> Program:
    """Return a program that trains a complex parameter with options."""

    def run(torch: Any) -> Any:
        z = torch.nn.Parameter(torch.tensor([[1 + 2j], [-0.5 + 0.3j]], dtype=torch.complex128).T)
        opt = getattr(torch.optim, name)([z], lr=0.05, **options)
        path = []
        for _ in range(6):
            opt.zero_grad()
            (z.abs() ** 4).sum().backward()
            opt.step()
            path.append(z.detach().clone())
        return path, opt.state_dict()

    return run


PROGRAMS["complex_momentum"] = complex_with("SGD", momentum=0.9, weight_decay=0.1, nesterov=True)
PROGRAMS["complex_amsgrad"] = complex_with("Adam", amsgrad=True, weight_decay=0.1)
PROGRAMS["complex_centred"] = complex_with("RMSprop", centered=True, momentum=0.5)
PROGRAMS["complex_accumulator"] = complex_with("Adagrad", initial_accumulator_value=0.5)


@pytest.mark.parametrize("name", KINDS)
def test_differentiable(name: str) -> None:
    """Gradients go through steps."""

    def run(torch: Any) -> Any:
        p = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
        g = torch.tensor([0.3, 0.2, -0.4], dtype=torch.float64, requires_grad=True)
        x = p.clone()
        opt = getattr(torch.optim, name)([x], lr=0.1, differentiable=True)
        # PyTorch's own second step of these overwrites what it needs for gradients
        for k in range(1 if name in ("Adamax", "Rprop") else 2):
            x.grad = g * (k + 1) + 0.1 * p
            opt.step()
        found = torch.autograd.grad((x * x).sum(), (p, g), allow_unused=True)
        return x, found

    compare(run, 1e-7)


@pytest.mark.parametrize("name", KINDS)
def test_loaded_state(name: str) -> None:
    """An optimiser that takes over another's state goes on as it would."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = getattr(torch.optim, name)([p, q], lr=0.05)
        trained(torch, opt, p, q, 5)
        r, s = (torch.nn.Parameter(t.detach().clone()) for t in (p, q))
        other = getattr(torch.optim, name)([r, s], lr=0.7)
        other.load_state_dict(copy.deepcopy(opt.state_dict()))
        return trained(torch, other, r, s, 5, 5), other.state_dict()

    compare(run, 1e-7)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Rprop", "ASGD", "NAdam"])
def test_rate_as_a_tensor(name: str) -> None:
    """A rate may be a tensor of one element."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = getattr(torch.optim, name)([p, q], lr=torch.tensor(0.05, dtype=torch.float64))
        path = trained(torch, opt, p, q, 4)
        opt.param_groups[0]["lr"].fill_(0.01)
        return path, trained(torch, opt, p, q, 4, 4), opt.state_dict()["param_groups"]

    compare(run, 1e-6)


BAD = {
    "SGD": [{"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"nesterov": True},
            {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, {"fused": True, "foreach": True},
            {"fused": True, "differentiable": True}, {"wrong": 1}],
    "Adam": [{"lr": -1}, {"betas": (1.0, 0.9)}, {"betas": (0.9, 1.0)}, {"eps": -1},
             {"weight_decay": -1}, {"betas": (0, 0.9)}, {"fused": True, "foreach": True}],
    "AdamW": [{"lr": -1}, {"decoupled_weight_decay": True}],
    "NAdam": [{"momentum_decay": -1}, {"eps": -1}],
    "RAdam": [{"betas": (-0.1, 0.9)}],
    "Adamax": [{"lr": -1}, {"eps": -1}],
    "RMSprop": [{"alpha": -1}, {"momentum": -1}],
    "Adagrad": [{"lr_decay": -1}, {"initial_accumulator_value": -1}, {"eps": -1}],
    "Adadelta": [{"rho": 2}, {"rho": -1}],
    "Rprop": [{"etas": (1.5, 0.5)}, {"lr": -1}],
    "ASGD": [{"weight_decay": -1}, {"lr": -1}],
    "LBFGS": [{"lr": -1}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options"), [(n, o) for n, all_ in BAD.items() for o in all_], ids=label
)
def test_bad_options(name: str, options: dict[str, Any]) -> None:
    """What PyTorch refuses is refused, with the same class of error."""
    compare(lambda torch: getattr(torch.optim, name)(list(model(torch)), **options))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
