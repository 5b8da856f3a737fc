"""Groups of parameters, and the memory that steps write to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.optim.trainings import KINDS, loss_of, model, trained
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


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
    for name in KINDS:
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
