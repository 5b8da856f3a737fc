"""Optimisers and schedules of the PyTorch dialect beside PyTorch itself."""

from __future__ import annotations

import copy
import importlib
import inspect
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.peers
Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Have a program compared, by its own name."""
    PROGRAMS[function.__name__] = function
    return function


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


# -- trajectories ----------------------------------------------------------------------------------

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
    "Adafactor": [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "d": 2.0},
        {"lr": 0.1, "eps": (1e-3, 1e-2), "beta2_decay": -0.5},
        {"lr": 0.1, "maximize": True},
    ],
}
KINDS = list(OPTIONS)
TRAJECTORIES = [(name, options) for name, all_ in OPTIONS.items() for options in all_]


def _id(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items()) or "defaults"
    return str(value)


def trajectory(name: str, options: dict[str, Any], dtype: str = "float64") -> Program:
    """Return a program that trains, and gives the path and what the optimiser keeps."""

    def run(torch: Any) -> Any:
        p, q = model(torch, dtype)
        opt = getattr(torch.optim, name)([p, q], **options)
        return trained(torch, opt, p, q, 15), opt.state_dict(), repr(opt), opt.defaults

    return run


@pytest.mark.parametrize(("name", "options"), TRAJECTORIES, ids=_id)
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


@pytest.mark.parametrize("path", [*KINDS, "LBFGS", "lr_scheduler", "swa_utils"])
def test_signature(path: str) -> None:
    """Arguments have PyTorch's names, order and defaults."""
    import torch

    def of(name: str, torch: Any) -> list[Any]:
        found = inspect.signature(operator.attrgetter(name)(torch.optim)).parameters.values()
        return [(a.name, a.kind, a.default) for a in found]

    names = [path]
    if path.islower():
        names = [f"{path}.{name}" for name in getattr(torch.optim, path).__all__]
    for name in names:
        assert of(name, ours) == of(name, torch), name


@pytest.mark.parametrize("name", [k for k in KINDS if k not in ("Adafactor",)])
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


@pytest.mark.parametrize("name", [k for k in KINDS if k not in ("Adafactor",)])
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


@pytest.mark.parametrize("name", [k for k in KINDS if k not in ("Adafactor",)])
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
    "Adafactor": [{"d": 0.5}, {"beta2_decay": 1}, {"eps": (-1, 1)}],
    "LBFGS": [{"lr": -1}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options"), [(n, o) for n, all_ in BAD.items() for o in all_], ids=_id
)
def test_bad_options(name: str, options: dict[str, Any]) -> None:
    """What PyTorch refuses is refused, with the same class of error."""
    compare(lambda torch: getattr(torch.optim, name)(list(model(torch)), **options))


# -- groups ----------------------------------------------------------------------------------------


@program
def groups_with_options(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([{"params": [p], "lr": 0.1}, {"params": q, "momentum": 0.5}], lr=0.01)
    return trained(torch, opt, p, q), repr(opt), opt.state_dict()


@program
def groups_may_be_made_by_a_generator(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam((t for t in (p, q)), 0.1)
    return trained(torch, opt, p, q), len(opt.param_groups[0]["params"])


@program
def group_is_the_dict_that_was_given(torch: Any) -> Any:
    p, _ = model(torch)
    group = {"params": p}
    opt = torch.optim.SGD([group], lr=0.3)
    return opt.param_groups[0] is group, sorted(group), group["params"][0] is p


@program
def groups_added_later(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p], lr=0.1)
    first = trained(torch, opt, p, q, 3)
    opt.add_param_group({"params": q, "lr": 0.01, "betas": (0.5, 0.5)})
    return first, trained(torch, opt, p, q, 5), opt.state_dict(), repr(opt)


@program
def rates_changed_by_hand(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.RMSprop([p, q])
    path = []
    for k in range(5):
        for group in opt.param_groups:
            group["lr"] = 0.1 / (k + 1)
        path += trained(torch, opt, p, q, 2, k)
    return path


@program
def frozen_parameters_stay(torch: Any) -> Any:
    p, q = model(torch)
    p.requires_grad_(False)
    opt = torch.optim.Adam([p, q], lr=0.1)
    path = trained(torch, opt, p, q, 4)
    p.requires_grad_(True)
    return path, trained(torch, opt, p, q, 4), opt.state_dict()


@program
def parameters_without_gradients_stay(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1, momentum=0.9, weight_decay=0.1)
    (q * q).sum().backward()
    opt.step()
    return p.detach(), q.detach(), sorted(opt.state_dict()["state"])


@program
def plain_tensors_are_parameters(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    opt = torch.optim.SGD([x], lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        (x**2).sum().backward()
        opt.step()
    return x


@program
def named_parameters(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([("p", p), ("q", q)], lr=0.1)
    return opt.state_dict(), repr(opt), trained(torch, opt, p, q, 3)


@program
def named_groups(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([{"params": [("p", p)]}, {"params": [("q", q)], "lr": 1.0}], lr=0.1)
    return opt.state_dict()


@program
def some_names(torch: Any) -> Any:
    p, q = model(torch)
    return torch.optim.SGD([("p", p), q], lr=0.1)


@program
def names_in_some_groups(torch: Any) -> Any:
    p, q = model(torch)
    return torch.optim.SGD([{"params": [("p", p)]}, {"params": [q]}], lr=0.1)


@program
def one_tensor(torch: Any) -> Any:
    return torch.optim.SGD(model(torch)[0], lr=0.1)


@program
def no_parameters(torch: Any) -> Any:
    return torch.optim.SGD([], lr=0.1)


@program
def a_set_of_parameters(torch: Any) -> Any:
    return torch.optim.SGD([{"params": set(model(torch))}], lr=0.1)


@program
def numbers_as_parameters(torch: Any) -> Any:
    return torch.optim.SGD([1.0, 2.0], lr=0.1)


@program
def a_parameter_in_two_groups(torch: Any) -> Any:
    p, _ = model(torch)
    return torch.optim.SGD([{"params": p}, {"params": p}], lr=0.1)


@program
def a_computed_tensor(torch: Any) -> Any:
    p, _ = model(torch)
    return torch.optim.SGD([p * 2], lr=0.1)


@program
def a_computed_tensor_that_retains(torch: Any) -> Any:
    p, _ = model(torch)
    x = p * 2
    x.retain_grad()
    return len(torch.optim.SGD([x], lr=0.1).param_groups)


@program
def a_group_that_is_no_dict(torch: Any) -> Any:
    p, q = model(torch)
    torch.optim.SGD([p], lr=0.1).add_param_group([q])


@program
def tensor_rates_of_two_elements(torch: Any) -> Any:
    return torch.optim.SGD(list(model(torch)), lr=torch.tensor([0.1, 0.2]))


@program
def tensor_rates_with_foreach(torch: Any) -> Any:
    return torch.optim.Adam(list(model(torch)), lr=torch.tensor(0.1), foreach=True)


@program
def capturable_needs_another_device(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], capturable=True)
    return trained(torch, opt, p, q, 1)


@program
def fused_needs_real_numbers(torch: Any) -> Any:
    z = torch.nn.Parameter(torch.tensor([1 + 2j]))
    opt = torch.optim.SGD([z], fused=True)
    z.abs().sum().backward()
    opt.step()


# -- memory ----------------------------------------------------------------------------------------


@program
def parameters_keep_memory_and_versions(torch: Any) -> Any:
    p, q = model(torch)
    place, shared = p.data_ptr(), p.detach()
    opt = torch.optim.SGD([p, q], lr=0.1)
    loss_of(p, q).backward()
    before = p._version
    opt.step()
    return p.data_ptr() == place, shared, p._version - before, p.is_leaf, p.requires_grad


@program
def a_step_spoils_a_graph(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    loss = loss_of(p, q)
    loss.backward(retain_graph=True)
    opt.step()
    loss.backward()


@program
def a_step_spoils_a_graph_with_its_state(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 1)
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = (w * opt.state[p]["exp_avg"]).sum()
    opt.step()
    y.backward()


@program
def gradients_that_are_not_finite(torch: Any) -> Any:
    found = []
    for name in KINDS[:-1]:
        p = torch.nn.Parameter(torch.ones(4))
        opt = getattr(torch.optim, name)([p], lr=0.1)
        for _ in range(2):
            p.grad = torch.tensor([float("nan"), float("inf"), 1.0, 0.0])
            opt.step()
        found.append(p.detach())
    return found


@program
def gradients_of_zero(torch: Any) -> Any:
    found = []
    for name in KINDS:
        p = torch.nn.Parameter(torch.ones(4))
        opt = getattr(torch.optim, name)([p], lr=0.1)
        for k in range(3):
            p.grad = torch.tensor([0.0, 1.0, -1.0, 0.0]) * (k % 2)
            opt.step()
        found += [p.detach(), opt.state_dict()]
    return found


@program
def parameters_of_two_dtypes(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    q = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    opt = torch.optim.AdamW([p, q], lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        ((p * q) ** 2).sum().backward()
        opt.step()
    return p, q, opt.state_dict()


@program
def parameters_without_elements(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(0, 3))
    opt = torch.optim.Adam([p])
    p.sum().backward()
    opt.step()
    return p, opt.state_dict()


@program
def parameters_whose_data_is_replaced(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 2)
    p.data = torch.tensor([5.0, 4.0, 3.0], dtype=torch.float64)
    opt.state[q]["step"] += 5
    return trained(torch, opt, p, q, 3), opt.state_dict()


@program
def the_same_parameter_twice(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.tensor([2.0]))
    opt = torch.optim.SGD([p, p], lr=0.1)
    p.grad = torch.ones(1)
    opt.step()
    return p.detach()


@program
def steps_in_hooks_of_gradients(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.tensor([2.0]))
    opt = torch.optim.SGD([p], lr=0.1)
    p.register_post_accumulate_grad_hook(lambda _: opt.step() or opt.zero_grad())
    for _ in range(3):
        (p * p).sum().backward()
    return p.detach(), p.grad


@program
def more_in_groups_and_states(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([{"params": [p, q], "name": "all", "w": torch.ones(3)}], lr=0.1)
    opt.state["seen"] = {"x": 1}
    path = trained(torch, opt, p, q, 2)
    other = torch.optim.SGD([p, q])
    other.load_state_dict(opt.state_dict())
    return path, opt.state_dict(), other.state_dict(), other.state["seen"]


@program
def rates_of_no_kind(torch: Any) -> Any:
    return torch.optim.SGD(list(model(torch)), lr="fast")


@program
def betas_as_tensors(torch: Any) -> Any:
    p, q = model(torch)
    betas = torch.tensor(0.9), torch.tensor([0.99])
    opt = torch.optim.Adam([p, q], lr=torch.tensor([0.1]), betas=betas)
    return trained(torch, opt, p, q, 3), repr(opt)


@program
def state_keeps_identity(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 1)
    mean = opt.state[p]["exp_avg"]
    trained(torch, opt, p, q, 3)
    return mean is opt.state[p]["exp_avg"], mean, list(opt.state[p])


@program
def steps_are_counted_in_the_default_dtype(torch: Any) -> Any:
    torch.set_default_dtype(torch.float64)
    try:
        p, q = model(torch)
        opt = torch.optim.Adam([p, q], lr=0.1)
        trained(torch, opt, p, q, 3)
        return opt.state[p]["step"], opt.state[q]["step"].dtype
    finally:
        torch.set_default_dtype(torch.float32)


@program
def views_of_parameters_see_steps(torch: Any) -> Any:
    p, q = model(torch)
    row = q.detach()[0]
    trained(torch, torch.optim.Adam([p, q], lr=0.1), p, q, 3)
    return row


@program
def transposed_parameters(torch: Any) -> Any:
    p, q = model(torch)
    q = torch.nn.Parameter(q.detach().reshape(2, 3).t())
    return trained(torch, torch.optim.Adam([p, q], lr=0.1), p, q), q.stride()


@program
def scalars_as_parameters(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor(2.0, dtype=torch.float64))
    opt = torch.optim.Adam([x], lr=0.1)
    for _ in range(6):
        opt.zero_grad()
        (x**4).backward()
        opt.step()
    return x, opt.state_dict()


@program
def half_precision(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor([1.0, -2.0], dtype=torch.float16))
    opt = torch.optim.SGD([x], lr=0.125, momentum=0.5)
    for _ in range(4):
        x.grad = torch.tensor([0.5, 1.0], dtype=torch.float16)
        opt.step()
    return x.detach(), opt.state_dict()


# -- gradients, closures and hooks -----------------------------------------------------------------


@program
def zero_grad_forgets(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    loss_of(p, q).backward()
    opt.zero_grad()
    return p.grad, q.grad


@program
def zero_grad_in_place(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    loss_of(p, q).backward()
    held = p.grad
    opt.zero_grad(set_to_none=False)
    return held is p.grad, held, q.grad


@program
def zero_grad_of_recorded_gradients(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    loss_of(p, q).backward(create_graph=True)
    opt.zero_grad(False)
    return p.grad, p.grad.requires_grad


@program
def gradients_add_up_without_zero_grad(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.01)
    for _ in range(4):
        loss_of(p, q).backward()
        opt.step()
    return p, q


@program
def closures(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)

    def closure() -> Any:
        opt.zero_grad()
        loss = loss_of(p, q)
        loss.backward()
        return loss

    return [opt.step(closure) for _ in range(5)], p, q


@program
def closures_under_no_grad(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)

    def closure() -> Any:
        loss = loss_of(p, q)
        loss.backward()
        return torch.is_grad_enabled()

    with torch.no_grad():
        return opt.step(closure=closure), torch.is_grad_enabled(), p


@program
def steps_return_nothing_without_a_closure(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q])
    return opt.step(), torch.is_grad_enabled()


@program
def hooks_around_steps(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    seen: list[Any] = []
    before = opt.register_step_pre_hook(
        lambda o, args, kwargs: seen.append(("before", o is opt, len(args), sorted(kwargs)))
    )
    opt.register_step_post_hook(lambda o, args, kwargs: seen.append(("after", args[0] is opt)))
    loss_of(p, q).backward()
    opt.step()
    opt.step(None)
    opt.step(closure=None)
    before.remove()
    opt.step()
    return seen


@program
def hooks_that_change_arguments(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    opt.register_step_pre_hook(lambda o, args, kwargs: ((*args[:1], lambda: 5.0), {}))
    return opt.step()


@program
def hooks_that_return_nonsense(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    opt.register_step_pre_hook(lambda o, args, kwargs: 3)
    opt.step()


@program
def hooks_of_all_optimisers(torch: Any) -> Any:
    everywhere = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    seen: list[str] = []
    first = everywhere.register_optimizer_step_pre_hook(lambda *a: seen.append("all before"))
    last = everywhere.register_optimizer_step_post_hook(lambda *a: seen.append("all after"))
    try:
        p, q = model(torch)
        opt = torch.optim.Adam([p, q])
        opt.register_step_pre_hook(lambda *a: seen.append("before"))
        opt.register_step_post_hook(lambda *a: seen.append("after"))
        opt.step()
    finally:
        first.remove()
        last.remove()
    opt.step()
    return seen


@program
def hooks_around_states(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    seen: list[str] = []
    opt.register_state_dict_pre_hook(lambda o: seen.append("saving"))
    opt.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    opt.register_load_state_dict_pre_hook(lambda o, state: seen.append(sorted(state)))
    opt.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    opt.load_state_dict(opt.state_dict())
    return seen


# -- state -----------------------------------------------------------------------------------------


@program
def states_share_tensors(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 2)
    state = opt.state_dict()
    trained(torch, opt, p, q, 2, 2)
    return state, state["state"][0]["exp_avg"] is opt.state[p]["exp_avg"]


@program
def states_of_other_dtypes(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 2)
    r, s = model(torch, "float32")
    other = torch.optim.Adam([r, s])
    other.load_state_dict(opt.state_dict())
    return other.state_dict()


@program
def states_written_by_hand(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    state = {
        k: {"step": 3, "exp_avg": torch.ones_like(t), "exp_avg_sq": torch.ones_like(t)}
        for k, t in enumerate((p, q))
    }
    groups = [{"lr": 0.05, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0, "params": [0, 1]}]
    opt.load_state_dict({"state": state, "param_groups": groups})
    path = trained(torch, opt, p, q, 4)
    return path, opt.state_dict()["state"], sorted(opt.param_groups[0])


@program
def states_of_other_groups(torch: Any) -> Any:
    p, q = model(torch)
    one = torch.optim.SGD([p, q], lr=0.1)
    two = torch.optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.1)
    one.load_state_dict(two.state_dict())


@program
def states_of_other_sizes(torch: Any) -> Any:
    p, q = model(torch)
    torch.optim.SGD([p, q], lr=0.1).load_state_dict(torch.optim.SGD([p], lr=0.1).state_dict())


@program
def states_are_cleared(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 3)
    opt.state.clear()
    return trained(torch, opt, p, q, 3), opt.state_dict()


@program
def state_begins_empty(torch: Any) -> Any:
    p, q = model(torch)
    found = [getattr(torch.optim, name)([p, q], lr=0.1).state_dict() for name in KINDS]
    return found, len(torch.optim.Adam([p]).state[q])


@program
def optimisers_are_copied(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1, momentum=0.9)
    trained(torch, opt, p, q, 3)
    other = copy.deepcopy(opt)
    r, s = other.param_groups[0]["params"]
    return trained(torch, other, r, s, 3), p, r is p, other.state_dict()


@program
def states_are_pickled(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.Adam([p, q], lr=0.1)
    trained(torch, opt, p, q, 3)
    return pickle.loads(pickle.dumps(opt.state_dict()))


PROGRAMS["text_of_one_group"] = printed(lambda torch: print(torch.optim.Adam(list(model(torch)))))
PROGRAMS["text_of_lbfgs"] = printed(lambda torch: print(torch.optim.LBFGS(list(model(torch)))))


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


# -- L-BFGS ----------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("options", LBFGS, ids=_id)
def test_lbfgs(loss: str, options: dict[str, Any]) -> None:
    """L-BFGS goes the same way, and computes the loss as often."""

    def run(torch: Any) -> Any:
        x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5, 2.0], dtype=torch.float64))
        return minimised(torch, LOSSES[loss], x, **options)

    compare(run, 1e-6)


@program
def lbfgs_in_single_precision(torch: Any) -> Any:
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5]))
    return minimised(torch, quartic, x, 1, line_search_fn="strong_wolfe")[:2]


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


# -- schedules -------------------------------------------------------------------------------------

Schedule = Callable[[Any, Any], Any]
SCHEDULES: dict[str, Schedule] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda k: 0.9**k),
    "LambdaLR-list": lambda s, o: s.LambdaLR(o, [lambda k: 1 / (k + 1), lambda k: 0.5]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda k: 0.95),
    "MultiplicativeLR-list": lambda s, o: s.MultiplicativeLR(o, [lambda k: 0.9, lambda k: k]),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "StepLR-gamma": lambda s, o: s.StepLR(o, step_size=4, gamma=0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "ConstantLR-options": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=3),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "LinearLR-options": lambda s, o: s.LinearLR(o, 0.1, 0.5, total_iters=7),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "PolynomialLR-options": lambda s, o: s.PolynomialLR(o, total_iters=8, power=2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5),
    "CosineAnnealingLR-least": lambda s, o: s.CosineAnnealingLR(o, T_max=4, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "CosineAnnealingWarmRestarts-mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.001),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "CyclicLR-triangular2": lambda s, o: s.CyclicLR(
        o, 0.01, [0.1, 0.2], step_size_up=2, step_size_down=4, mode="triangular2"
    ),
    "CyclicLR-exp_range": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "CyclicLR-function": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 3, scale_fn=lambda x: 1 / x, scale_mode="cycle"
    ),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=20),
    "OneCycleLR-linear": lambda s, o: s.OneCycleLR(
        o, [0.1, 0.2], epochs=5, steps_per_epoch=4, anneal_strategy="linear", pct_start=0.5
    ),
    "OneCycleLR-three": lambda s, o: s.OneCycleLR(
        o, 0.1, 20, three_phase=True, div_factor=10, final_div_factor=100, cycle_momentum=False
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], milestones=[4]
    ),
    "SequentialLR-warmup": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, 0.01, total_iters=4), s.CosineAnnealingLR(o, 6), s.StepLR(o, 2)],
        [4, 10],
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]
    ),
    "ChainedScheduler-optimizer": lambda s, o: s.ChainedScheduler(
        [s.StepLR(o, 3, 0.5), s.LinearLR(o)], optimizer=o
    ),
}


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


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str) -> None:
    """Rates, parameters and what is kept are those of PyTorch."""
    compare(scheduled(SCHEDULES[name]), 1e-7)


@pytest.mark.parametrize("name", ["CyclicLR", "OneCycleLR", "OneCycleLR-linear"])
def test_schedule_of_betas(name: str) -> None:
    """Momenta of Adam are its first betas."""
    compare(scheduled(SCHEDULES[name], "Adam"), 1e-6)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if not n.startswith(("Seq", "Chain"))])
def test_schedule_at_an_epoch(name: str) -> None:
    """A step may be named, and steps may go on from there."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.02}], 0.05, momentum=0.9)
        schedule = SCHEDULES[name](torch.optim.lr_scheduler, opt)
        rates = []
        for epoch in (3, 7, None, None, 1, None):
            schedule.step(epoch)
            rates.append((schedule.get_last_lr(), schedule.last_epoch))
        return rates

    compare(run, 1e-9)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if "-" not in n and "Cyc" not in n])
def test_schedule_loaded(name: str) -> None:
    """A schedule that takes over another's state goes on as it would."""

    def run(torch: Any) -> Any:
        make, schedules = SCHEDULES[name], torch.optim.lr_scheduler
        p, q = model(torch)
        opt = torch.optim.SGD([p, q], lr=0.1, momentum=0.9)
        schedule = make(schedules, opt)
        trained(torch, opt, p, q, 4, schedule=schedule)
        other = torch.optim.SGD([p, q], lr=0.1, momentum=0.9)
        again = make(schedules, other)
        again.load_state_dict(schedule.state_dict())
        other.load_state_dict(opt.state_dict())
        rates = []
        for _ in range(6):
            other.step()
            again.step()
            rates.append(again.get_last_lr())
        return rates, again.last_epoch

    compare(run, 1e-9)


def plateau(losses: list[float], **options: Any) -> Program:
    """Return a program with the rates that some losses lead to."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=1.0)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        rates = []
        for loss in losses:
            schedule.step(loss)
            rates.append((schedule.get_last_lr(), schedule.num_bad_epochs, schedule.in_cooldown))
        return rates, schedule.state_dict()

    return run


_LEVEL = [1.0, 0.9, 0.9, 0.9, 0.9, 0.8, 0.85, 0.85, 0.85, 0.85, 0.85, 0.7, 0.7]
PROGRAMS["plateau"] = plateau(_LEVEL, patience=2)
PROGRAMS["plateau_max"] = plateau(_LEVEL, mode="max", patience=1, factor=0.5)
PROGRAMS["plateau_cooldown"] = plateau(_LEVEL, patience=0, cooldown=2)
PROGRAMS["plateau_absolute"] = plateau(
    _LEVEL, patience=1, threshold=0.15, threshold_mode="abs", min_lr=0.05
)
PROGRAMS["plateau_max_absolute"] = plateau(
    _LEVEL, mode="max", patience=1, threshold_mode="abs", min_lr=[0.2, 0.4]
)
PROGRAMS["plateau_eps"] = plateau(_LEVEL, patience=0, eps=0.1)


@program
def plateau_of_tensors(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
    for _ in range(3):
        schedule.step(loss_of(p, q))
    schedule.step(0.0, epoch=10)
    return schedule.get_last_lr(), schedule.last_epoch, schedule.best


@program
def plateau_loaded(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=1.0)
    one = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "max", patience=1)
    one.step(1.0)
    one.step(0.5)
    two = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
    two.load_state_dict(one.state_dict())
    two.step(0.5)
    return two.get_last_lr(), two.state_dict()


BAD_SCHEDULES: dict[str, Schedule] = {
    "no optimiser": lambda s, o: s.StepLR(3, 3),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda k: 1.0] * 3),
    "no function": lambda s, o: s.MultiplicativeLR(o, 0.5),
    "constant": lambda s, o: s.ConstantLR(o, 1.5),
    "linear start": lambda s, o: s.LinearLR(o, 0),
    "linear end": lambda s, o: s.LinearLR(o, 0.5, 2),
    "resumed": lambda s, o: s.StepLR(o, 3, last_epoch=4),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    "restarts mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0),
    "restarts least": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 1, None),
    "restarts epoch": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-1),
    "cyclic mode": lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="square"),
    "cyclic rates": lambda s, o: s.CyclicLR(o, [0.1] * 3, 1.0),
    "cyclic momentum": lambda s, o: s.CyclicLR(o, 0.1, 1.0),
    "one cycle steps": lambda s, o: s.OneCycleLR(o, 0.1),
    "one cycle zero": lambda s, o: s.OneCycleLR(o, 0.1, 0),
    "one cycle epochs": lambda s, o: s.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=2),
    "one cycle share": lambda s, o: s.OneCycleLR(o, 0.1, 5, pct_start=2),
    "one cycle strategy": lambda s, o: s.OneCycleLR(o, 0.1, 5, anneal_strategy="square"),
    "plateau factor": lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    "plateau mode": lambda s, o: s.ReduceLROnPlateau(o, "least"),
    "plateau threshold": lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="both"),
    "plateau rates": lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1] * 3),
    "plateau step": lambda s, o: s.ReduceLROnPlateau(o).step(),
    "sequence empty": lambda s, o: s.SequentialLR(o, [], []),
    "sequence milestones": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]),
    "sequence plateau": lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []),
    "sequence epoch": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], []).step(3),
    "chain empty": lambda s, o: s.ChainedScheduler([]),
    "chain plateau": lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]),
    "chain other": lambda s, o: s.ChainedScheduler([s.StepLR(o, 1)], copy.deepcopy(o)),
    "no get_lr": lambda s, o: s.LRScheduler(o),
}


@pytest.mark.parametrize("name", BAD_SCHEDULES)
def test_bad_schedules(name: str) -> None:
    """What PyTorch refuses is refused, with the same class of error."""

    def run(torch: Any) -> Any:
        opt = torch.optim.Adagrad(list(model(torch)), lr=0.1)
        return BAD_SCHEDULES[name](torch.optim.lr_scheduler, opt)

    compare(run)


@program
def one_cycle_ends(torch: Any) -> Any:
    opt = torch.optim.SGD(list(model(torch)), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, 5)
    for _ in range(6):
        schedule.step()


@program
def schedules_resumed(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([{"params": [p, q], "initial_lr": 0.1}], lr=0.05)
    found = []
    for make in (
        lambda s: s.StepLR(opt, 3, last_epoch=4),
        lambda s: s.CosineAnnealingLR(opt, 10, last_epoch=4),
        lambda s: s.ExponentialLR(opt, 0.9, last_epoch=4),
        lambda s: s.LambdaLR(opt, lambda k: 0.9**k, last_epoch=4),
        lambda s: s.LinearLR(opt, last_epoch=2),
    ):
        schedule = make(torch.optim.lr_scheduler)
        opt.step()
        schedule.step()
        found.append((schedule.get_last_lr(), schedule.last_epoch))
    return found


@program
def schedules_with_fractions_of_epochs(torch: Any) -> Any:
    opt = torch.optim.SGD(list(model(torch)), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2)
    rates = []
    for k in range(30):
        schedule.step(k / 3)
        rates.append((schedule.get_last_lr(), schedule.T_cur, schedule.T_i, schedule.last_epoch))
    return rates


@program
def schedules_of_tensor_rates(torch: Any) -> Any:
    rate = torch.tensor(0.1, dtype=torch.float64)
    opt = torch.optim.SGD(list(model(torch)), lr=rate, momentum=0.9)
    found = []
    for make in (
        lambda s: s.StepLR(opt, 2, 0.5),
        lambda s: s.LinearLR(opt),
        lambda s: s.CosineAnnealingLR(opt, 5),
        lambda s: s.LambdaLR(opt, lambda k: 0.5**k),
    ):
        schedule = make(torch.optim.lr_scheduler)
        for _ in range(3):
            schedule.step()
        found.append((schedule.get_last_lr(), opt.param_groups[0]["lr"] is rate))
    return found


@program
def callable_objects_are_saved(torch: Any) -> Any:
    class Decay:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, k: int) -> float:
            return self.by**k

    opt = torch.optim.SGD(list(model(torch)), lr=0.1)
    one = torch.optim.lr_scheduler.LambdaLR(opt, Decay(0.5))
    two = torch.optim.lr_scheduler.LambdaLR(opt, Decay(0.9))
    two.load_state_dict(one.state_dict())
    two.step()
    return one.state_dict(), two.get_last_lr()


@program
def warnings_of_schedules(torch: Any) -> Any:
    found = []
    for steps in (
        lambda s: s.step(),
        lambda s: (s.optimizer.step(), s.step()),
        lambda s: s.step(3),
        lambda s: s.get_lr(),
        lambda s: s.get_last_lr(),
    ):
        opt = torch.optim.SGD(list(model(torch)), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(opt, 3)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            steps(schedule)
        found.append([(w.category.__name__, str(w.message)[:40]) for w in seen])
    return found


@program
def hooks_see_steps_of_scheduled_optimisers(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    torch.optim.lr_scheduler.StepLR(opt, 3)
    seen: list[int] = []
    opt.register_step_post_hook(lambda o, args, kwargs: seen.append(len(args)))
    opt.step()
    return seen, opt.step(lambda: 4.0)


@program
def isinstance_of_optimisers(torch: Any) -> Any:
    opt = torch.optim.AdamW(list(model(torch)))
    schedule = torch.optim.lr_scheduler.StepLR(opt, 3)
    return [
        isinstance(opt, torch.optim.Optimizer),
        isinstance(opt, torch.optim.Adam),
        isinstance(schedule, torch.optim.lr_scheduler.LRScheduler),
        issubclass(
            torch.optim.lr_scheduler.ReduceLROnPlateau, torch.optim.lr_scheduler.LRScheduler
        ),
    ]


# -- averages --------------------------------------------------------------------------------------


def small(torch: Any) -> Any:
    """Return a model of one parameter and one buffer."""

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            return x * self.w

    return Small()


def averaged(options: Callable[[Any], dict[str, Any]]) -> Program:
    """Return a program with averages of a model's parameters."""

    def run(torch: Any) -> Any:
        net = small(torch)
        mean = torch.optim.swa_utils.AveragedModel(net, **options(torch.optim.swa_utils))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        found = []
        for _ in range(4):
            opt.zero_grad()
            (net(torch.tensor([1.0, 3.0])) ** 2).sum().backward()
            opt.step()
            net.seen += 1
            mean.update_parameters(net)
            found.append(mean.module.w.detach().clone())
        return found, mean.n_averaged, mean.module.seen, mean(torch.ones(2)), net.w

    return run


PROGRAMS["averaged_model"] = averaged(lambda s: {})
PROGRAMS["averaged_model_buffers"] = averaged(lambda s: {"use_buffers": True})
PROGRAMS["averaged_model_ema"] = averaged(lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)})
PROGRAMS["averaged_model_ema_lists"] = averaged(
    lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.9)}
)
PROGRAMS["averaged_model_swa"] = averaged(lambda s: {"avg_fn": s.get_swa_avg_fn()})
PROGRAMS["averaged_model_own"] = averaged(lambda s: {"avg_fn": lambda a, b, n: 0.5 * a + 0.5 * b})
PROGRAMS["averaged_model_both"] = averaged(
    lambda s: {"avg_fn": s.get_swa_avg_fn(), "multi_avg_fn": s.get_swa_multi_avg_fn()}
)


@program
def statistics_computed_anew(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.InstanceNorm1d(2))
    x = torch.arange(24.0).reshape(3, 2, 4)
    net(x * 5)
    net.eval()
    torch.optim.swa_utils.update_bn([x, (x * 2, 1)], net)
    return net[0].running_mean, net[0].running_var, net[0].momentum, net.training


for _strategy in ("cos", "linear"):
    for _epochs in (0, 4):
        PROGRAMS[f"swalr_{_strategy}_{_epochs}"] = (
            lambda torch, strategy=_strategy, epochs=_epochs: scheduled(
                lambda s, o: torch.optim.swa_utils.SWALR(o, 0.01, epochs, strategy)
            )(torch)[:2]
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    """Programs do the same on both."""
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
