"""Containers of modules, and hooks of modules."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- containers ------------------------------------------------------------------------------------


@program
def sequential(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    found = [len(model), repr(model[0]), repr(model[-1]), repr(model[1:]), repr(model[::2])]
    model[1] = nn.ELU()
    model.append(nn.GELU()).extend([nn.SiLU(), nn.Mish()])
    model.insert(1, nn.Softplus())
    found.append(repr(model))
    del model[0]
    del model[2:4]
    found += [repr(model), repr(model.pop(0)), repr(model)]
    model += nn.Sequential(nn.ReLU())
    return [*found, repr(model), [repr(m) for m in model], list(model._modules)]


@program
def sequential_by_name(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(
        OrderedDict([("a", nn.Linear(2, 3)), ("b", nn.ReLU()), ("c", nn.Linear(3, 1))])
    )
    found = [repr(model), repr(model.a), list(model.state_dict()), repr(model[:2]), repr(model[1])]
    model[1] = nn.Tanh()
    model.append(nn.ReLU())
    model.add_module("last", nn.Sigmoid())
    found.append(repr(model))
    del model[0]
    return [*found, repr(model)]


@program
def sequential_wrong(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.ReLU())
    return [
        raising(lambda: model[1]),
        raising(lambda: model[-2]),
        raising(lambda: model["a"]),
        raising(lambda: nn.Sequential(3)),
        raising(lambda: model.append(3)),
        raising(lambda: model.insert(5, nn.ReLU())),
        raising(lambda: model.insert(0, 3)),
        raising(lambda: model(1, 2)),
        raising(lambda: nn.Sequential()(3)),
    ]


@program
def module_list(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.ReLU()])
    found = [repr(parts), len(parts), repr(parts[1:]), repr(parts[-1]), type(parts[:2]).__name__]
    parts.append(nn.Tanh())
    parts.extend([nn.ReLU(), nn.ReLU()])
    parts.insert(1, nn.Sigmoid())
    parts[0] = nn.ELU()
    del parts[2]
    found += [repr(parts), list(parts.state_dict()), repr(parts.__add__([nn.GELU()]))]
    parts += [nn.Mish()]
    found += [repr(parts.pop(-1)), repr(parts.pop(0)), [repr(m) for m in parts]]
    return [
        *found,
        raising(lambda: parts(1)),
        raising(lambda: parts[99]),
        raising(lambda: parts.append(1)),
        raising(lambda: parts.extend(3)),
        nn.ReLU() in parts,
        parts[0] in parts,
    ]


@program
def module_dict(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 2)})
    parts["c"] = nn.Tanh()
    parts.update([["d", nn.GELU()], ("b", nn.ELU())])
    found = [
        repr(parts),
        list(parts),
        list(parts.keys()),
        "a" in parts,
        len(parts),
        [repr(v) for v in parts.values()],
        [k for k, _ in parts.items()],
        repr(parts.pop("c")),
        list(parts.state_dict()),
        repr(parts.a),
    ]
    del parts["a"]
    parts.update(nn.ModuleDict({"z": nn.ReLU()}))
    found.append(repr(parts))
    parts.clear()
    return [
        *found,
        len(parts),
        raising(lambda: parts["q"]),
        raising(lambda: parts.update(3)),
        raising(lambda: parts.update([3])),
        raising(lambda: parts.update([(1, 2, 3)])),
        raising(lambda: parts.__setitem__("update", nn.ReLU())),
        raising(lambda: parts(1)),
    ]


@program
def parameter_list(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ParameterList([nn.Parameter(torch.ones(2, 3)), torch.zeros(1)])
    parts.append(torch.ones(()))
    parts.extend([nn.Parameter(torch.ones(1), requires_grad=False), "text"])
    parts += [torch.tensor([2.0])]
    found = [
        repr(parts),
        len(parts),
        list(parts.state_dict()),
        type(parts[1]).__name__,
        parts[-1],
        repr(parts[:2]),
        [n for n, _ in parts.named_parameters()],
    ]
    parts[0] = torch.full((2,), 7.0)
    sum(p.sum() for p in parts if p != "text").backward()
    return [
        *found,
        parts[0],
        raising(lambda: parts()),
        raising(lambda: parts[9]),
        raising(lambda: parts.extend(torch.ones(2))),
        raising(lambda: parts.extend(3)),
    ]


@program
def parameter_dict(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ParameterDict({"b": torch.ones(2), "a": nn.Parameter(torch.zeros(1))})
    parts["c"] = torch.ones(1, 2)
    found = [
        repr(parts),
        list(parts),
        len(parts),
        "a" in parts,
        parts["c"],
        parts.get("q"),
        parts.get("q", 3),
        list(parts.state_dict()),
        [k for k, _ in parts.items()],
        parts.pop("a"),
    ]
    found += [list(parts.keys()), list(parts.values())]
    parts.update([("x", 1)])
    found.append(repr(parts))
    del parts["b"]
    parts.clear()
    return [
        *found,
        len(parts),
        raising(lambda: parts["q"]),
        raising(lambda: parts()),
        raising(lambda: parts.update(3)),
        raising(lambda: parts.__setitem__(1, 2)),
    ]


# -- hooks -----------------------------------------------------------------------------------------


@program
def forward_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 2), []
    x = torch.ones(1, 2)
    before = model.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model.register_forward_pre_hook(lambda m, args: seen.append(args))
    after = model.register_forward_hook(lambda m, args, result: result + 1)
    model.register_forward_hook(lambda m, args, result: seen.append((args, result)), prepend=True)
    one = model(x)
    before.remove()
    two = model(x)
    after.remove()
    with model.register_forward_hook(lambda m, args, result: 7):
        three = model(x)
    return [one, two, three, model(x), seen, len(model._forward_hooks)]


@program
def hooks_with_kwargs(torch: Any) -> Any:
    class Scaled(torch.nn.Module):
        def forward(self, x: Any, by: int = 1) -> Any:
            return x * by

    model, seen = Scaled(), []
    model.register_forward_pre_hook(lambda m, a, k: (a, {"by": k["by"] + 1}), with_kwargs=True)
    model.register_forward_hook(lambda m, a, k, y: seen.append((a, k, y)), with_kwargs=True)
    found = model(torch.ones(1), by=2)
    model.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    return [found, seen, raising(lambda: model(torch.ones(1), by=2))]


@program
def backward_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 2), []
    model.register_full_backward_hook(lambda m, gi, go: seen.append(("full", gi, go)))
    model.register_full_backward_pre_hook(lambda m, go: seen.append(("pre", go)))
    x = numbers(torch, 3, 2, grad=True)
    model(x).sum().backward()
    seen.append(x.grad)
    model(x.detach()).sum().backward()
    with torch.no_grad():
        model(x)
    return [seen, model.weight.grad]


@program
def backward_hooks_that_change(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    model[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    model[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    x = numbers(torch, 3, 2, grad=True)
    model(x).sum().backward()
    return everything(model, x)


@program
def backward_hooks_of_two(torch: Any) -> Any:
    class Two(torch.nn.Module):
        def forward(self, x: Any, n: int, y: Any) -> Any:
            return x * n, (x * y).sum(), "text"

    model, seen = Two(), []
    model.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x, y = numbers(torch, 3, grad=True), numbers(torch, 3, seed=1)
    one, two, _ = model(x, 2, y)
    (one.sum() + 3 * two).backward()
    one, two, _ = model(x, 2, y)
    two.backward()
    return [seen, x.grad, str(two.grad_fn.name())]


@program
def backward_hooks_wrong(torch: Any) -> Any:
    x = numbers(torch, 3, 2, grad=True)

    def run(*answer: Any) -> Any:
        model = torch.nn.ReLU()
        model.register_full_backward_hook(lambda m, gi, go: answer)
        return raising(lambda: model(x).sum().backward())

    both = torch.nn.ReLU()
    both.register_full_backward_hook(lambda m, gi, go: None)
    return [
        run(1, 2),
        run(torch.ones(3, 2)),
        run(torch.ones(1)),
        raising(lambda: both.register_backward_hook(lambda m, gi, go: None)),
    ]


@program
def old_backward_hooks(torch: Any) -> Any:
    seen: list[Any] = []
    model = torch.nn.Tanh()
    model.register_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x = numbers(torch, 3, grad=True)
    model(x).sum().backward()
    return [seen, x.grad]


@program
def parameter_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 1), []
    model.weight.register_hook(lambda g: g * 2)
    model.bias.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    model(torch.ones(3, 2)).sum().backward()
    return [model.weight.grad, model.bias.grad, seen]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
