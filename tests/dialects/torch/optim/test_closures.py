"""Gradients, closures, hooks and the state of optimisers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.optim.trainings import KINDS, loss_of, model, trained
from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
