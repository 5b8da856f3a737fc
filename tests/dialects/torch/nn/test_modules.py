"""Modules: their parameters, buffers, states and modes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import net, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def names(torch: Any) -> Any:
    model = net(torch)
    return [
        repr(model),
        [n for n, _ in model.named_parameters()],
        [n for n, _ in model.named_buffers()],
        [n for n, _ in model.named_modules()],
        [n for n, _ in model.named_children()],
        [n for n, _ in model.named_parameters("p", recurse=False)],
        [n for n, _ in model.named_modules(prefix="q")],
        sum(p.numel() for p in model.parameters()),
        len(list(model.buffers())),
        [type(m).__name__ for m in model.modules()],
        "scale" in dir(model),
        "first" in dir(model),
    ]


@program
def states(torch: Any) -> Any:
    model = net(torch)
    return [
        model.state_dict(),
        model.state_dict(prefix="x."),
        list(model.state_dict()._metadata),
        model.state_dict()._metadata["inner.0"]["version"],
        model.state_dict(keep_vars=True)["scale"] is model.scale,
        model.state_dict()["scale"].requires_grad,
        model.state_dict()["scale"].data_ptr() == model.scale.data_ptr(),
    ]


@program
def loading(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1)
    before = two.scale
    answer = two.load_state_dict(one.state_dict())
    return [repr(answer), two.scale is before, two.state_dict(), list(answer.missing_keys)]


@program
def loading_assigned(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1)
    before, state = two.scale, one.state_dict()
    two.load_state_dict(state, assign=True)
    return [
        two.scale is before,
        two.scale.data_ptr() == state["scale"].data_ptr(),
        two.state_dict(),
        type(two.scale).__name__,
        two.scale.requires_grad,
    ]


@program
def loading_loosely(torch: Any) -> Any:
    model = net(torch)
    state = model.state_dict()
    del state["first.bias"]
    state["more"] = torch.ones(2)
    state["inner.9.weight"] = torch.ones(2)
    answer = model.load_state_dict(state, strict=False)
    return [
        answer.missing_keys,
        answer.unexpected_keys,
        repr(answer),
        raising(lambda: model.load_state_dict(state)),
        tuple(answer),
    ]


@program
def loading_wrongly(torch: Any) -> Any:
    model = net(torch)
    state = dict(model.state_dict(), scale=torch.ones(3))
    return [
        raising(lambda: model.load_state_dict(state)),
        raising(lambda: model.load_state_dict(state, strict=False)),
        raising(lambda: model.load_state_dict([1])),
        raising(lambda: model.load_state_dict({"scale": 3}, strict=False)),
    ]


@program
def loading_other_dtype(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1).double()
    two.load_state_dict(one.state_dict())
    return two.state_dict()


@program
def loading_plain_dict(torch: Any) -> Any:
    model = torch.nn.BatchNorm1d(2)
    state = {k: torch.full((2,), 3.0) for k in ("weight", "bias", "running_mean", "running_var")}
    return [repr(model.load_state_dict(state)), model.state_dict()]


@program
def extra_state(torch: Any) -> Any:
    class Kept(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = 1

        def get_extra_state(self) -> Any:
            return {"kept": self.kept}

        def set_extra_state(self, state: Any) -> None:
            self.kept = state["kept"]

    one, two = torch.nn.Sequential(Kept()), torch.nn.Sequential(Kept())
    one[0].kept = 5
    two.load_state_dict(one.state_dict())
    return [dict(one.state_dict()), two[0].kept, raising(lambda: two.load_state_dict({}))]


@program
def state_hooks(torch: Any) -> Any:
    model, seen = torch.nn.Linear(2, 1), []
    model.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    model.register_state_dict_post_hook(lambda m, s, prefix, about: seen.append(list(s)))
    model.register_load_state_dict_pre_hook(
        lambda m, s, *rest: seen.append(("load", len(s), rest[0]))
    )
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    model.load_state_dict({"weight": torch.ones(1, 2)})
    return [model.state_dict()["weight"], seen]


@program
def setting_attributes(torch: Any) -> Any:
    nn = torch.nn
    model = net(torch)
    order = []
    model.scale = nn.Parameter(torch.zeros(3))
    model.other = nn.Parameter(torch.zeros(1))
    order.append([n for n, _ in model.named_parameters()])
    model.first = None
    order.append([n for n, _ in model.named_children()])
    model.count = torch.tensor(9)
    model.passing = None
    order.append(list(model.state_dict()))
    model.plain = 3
    model.plain = nn.Linear(1, 1)
    order.append(["plain" in model.__dict__, [n for n, _ in model.named_children()]])
    model.scale = None
    order.append(model._parameters["scale"])
    model.tensor = torch.ones(1)
    order.append([n for n, _ in model.named_buffers()])
    model.buffer = nn.Buffer(torch.ones(1))
    model.flying = nn.Buffer(torch.ones(1), persistent=False)
    order.append([[n for n, _ in model.named_buffers()], list(model.state_dict())])
    del model.other, model.buffer, model.inner
    order.append([list(model._parameters), list(model._buffers), list(model._modules)])
    return order


@program
def wrong_attributes(torch: Any) -> Any:
    nn = torch.nn
    model = net(torch)

    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    return [
        raising(lambda: setattr(model, "scale", torch.ones(2))),
        raising(lambda: setattr(model, "scale", 3)),
        raising(lambda: setattr(model, "first", 3)),
        raising(lambda: setattr(model, "count", 3)),
        raising(lambda: model.register_parameter("a.b", None)),
        raising(lambda: model.register_parameter("", None)),
        raising(lambda: model.register_parameter(3, None)),
        raising(lambda: model.register_parameter("forward", None)),
        raising(lambda: model.register_parameter("p", torch.ones(1))),
        raising(lambda: model.register_parameter("p", nn.Parameter(torch.ones(1)) * 2)),
        raising(lambda: model.register_buffer("first", torch.ones(1))),
        raising(lambda: model.register_buffer("b.c", torch.ones(1))),
        raising(lambda: model.register_buffer("b", 3)),
        raising(lambda: model.add_module("scale", nn.ReLU())),
        raising(lambda: model.add_module("", nn.ReLU())),
        raising(lambda: model.add_module("r", 3)),
        raising(lambda: model.add_module(3, nn.ReLU())),
        raising(lambda: model.nothing),
        raising(lambda: delattr(model, "nothing")),
        raising(lambda: Early(nn.Parameter(torch.ones(1)))),
        raising(lambda: Early(nn.ReLU())),
        raising(lambda: Early(3).value),
        raising(lambda: nn.Module(3)),
        raising(lambda: nn.Module()(3)),
        raising(lambda: model.train(1)),
        raising(lambda: nn.Parameter([1.0])),
        raising(lambda: nn.Parameter(torch.tensor([1]))),
        raising(lambda: nn.Parameter(torch.tensor([1]), requires_grad=False)),
        raising(lambda: model.to(torch.int64)),
        raising(lambda: model.get_submodule("inner.7")),
        raising(lambda: model.get_submodule("scale")),
        raising(lambda: model.get_parameter("inner.0")),
        raising(lambda: model.get_buffer("scale")),
    ]


@program
def paths(torch: Any) -> Any:
    model = net(torch)
    return [
        repr(model.get_submodule("inner.0")),
        model.get_submodule("") is model,
        model.get_parameter("inner.2.weight"),
        model.get_buffer("inner.0.running_var"),
        repr(model),
    ]


@program
def shared_parts(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(1)
    one = nn.Linear(2, 2)
    model = nn.Sequential(one, nn.Tanh(), one)
    other = nn.Linear(2, 2)
    other.weight = one.weight
    model.append(other)
    model(torch.ones(3, 2)).sum().backward()
    return [
        [n for n, _ in model.named_parameters()],
        list(model.state_dict()),
        [n for n, _ in model.named_parameters(remove_duplicate=False)],
        [n for n, _ in model.named_modules()],
        [n for n, _ in model.named_modules(remove_duplicate=False)],
        [n for n, _ in model.named_children()],
        model[0].weight.grad,
        other.bias.grad,
    ]


@program
def modes(torch: Any) -> Any:
    model = net(torch)
    model.eval()
    found = [m.training for m in model.modules()]
    model.inner.train()
    return [found, [m.training for m in model.modules()], model.train() is model]


@program
def frozen(torch: Any) -> Any:
    model = net(torch)
    model.first.requires_grad_(False)
    model(numbers(torch, 4, 3)).sum().backward()
    found = [{n: p.grad for n, p in model.named_parameters()}]
    model.zero_grad(set_to_none=False)
    found.append({n: p.grad for n, p in model.named_parameters()})
    model.zero_grad()
    return [*found, [p.grad for p in model.parameters()]]


@program
def applying(torch: Any) -> Any:
    seen: list[str] = []

    def start(module: Any) -> None:
        seen.append(type(module).__name__)
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.constant_(module.weight, 0.5)
            module.bias.data.fill_(0.01)

    model = net(torch).apply(start)
    return [seen, model.state_dict()]


@program
def dtypes(torch: Any) -> Any:
    model = net(torch)
    weight = model.first.weight
    model(numbers(torch, 4, 3)).sum().backward()
    found = []
    for change in (
        lambda m: m.double(), lambda m: m.half(), lambda m: m.float(),
        lambda m: m.to(torch.float64), lambda m: m.to("cpu"),
        lambda m: m.to(torch.device("cpu"), torch.float32),
        lambda m: m.to(dtype=torch.float64), lambda m: m.to(torch.ones(1)), lambda m: m.cpu(),
        lambda m: m.type(torch.float64),
    ):  # fmt: skip
        assert change(model) is model
        found.append([weight is model.first.weight, str(weight.dtype), str(weight.grad.dtype),
                      [str(v.dtype) for v in model.state_dict().values()]])  # fmt: skip
    return found


@program
def to_cuda(torch: Any) -> Any:
    return [
        raising(lambda: torch.nn.Linear(1, 1).cuda()),
        raising(lambda: torch.nn.ReLU().cuda()._modules),
    ]


@program
def copies(torch: Any) -> Any:
    model = net(torch)
    twin = copy.deepcopy(model)
    twin(numbers(torch, 4, 3)).sum().backward()
    with torch.no_grad():
        twin.scale.add_(1)
    return [
        model.scale,
        twin.scale,
        model.first.weight.grad,
        twin.first.weight.grad,
        [p.requires_grad for p in twin.parameters()],
        twin.inner[0].running_mean,
    ]


@program
def deep_copy_of_shared(torch: Any) -> Any:
    one = torch.nn.Linear(2, 2)
    twin = copy.deepcopy(torch.nn.ModuleList([one, one]))
    return twin[0] is twin[1]


@program
def pickles(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
    model[0].bias.requires_grad_(False)
    back = pickle.loads(pickle.dumps(model))
    return [
        repr(back),
        back.state_dict(),
        back(numbers(torch, 4, 3)),
        back[0].bias.requires_grad,
        pickle.loads(pickle.dumps(model.state_dict())),
    ]


@program
def parameter_texts(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    return [
        repr(p),
        str(torch.nn.Parameter(torch.ones(1), requires_grad=False)),
        repr(p * 2)[:20],
        repr(torch.nn.Buffer(torch.ones(2))),
        repr(type(p)),
        isinstance(p, torch.Tensor),
        isinstance(p * 1, torch.nn.Parameter),
        repr(torch.nn.Parameter()),
    ]


@program
def parameters(torch: Any) -> Any:
    nn = torch.nn
    x = torch.tensor([1.0, 2.0])
    p = nn.Parameter(x)
    with torch.no_grad():
        p.mul_(2)
        q = nn.Parameter(torch.ones(2))
    y = (p * q).sum()
    y.backward()
    p.data = torch.tensor([5.0, 6.0])
    return [
        x,
        p,
        q,
        p.is_leaf,
        q.requires_grad,
        (p * q).sum(),
        nn.Parameter(p) is p,
        nn.Parameter(y).is_leaf,
        raising(lambda: p.add_(1)),
        p.data.requires_grad,
        copy.deepcopy(p),
        isinstance(nn.Buffer(x), nn.Buffer),
        isinstance(x, nn.Buffer),
        hash(p) == hash(p),
        p in {p},
    ]


@program
def to_empty_and_compile(torch: Any) -> Any:
    model = torch.nn.Linear(2, 3)
    model.compile()
    return [list(model.to_empty(device="cpu").weight.shape), model.share_memory() is model]


@program
def custom_repr(torch: Any) -> Any:
    nn = torch.nn

    class Two(nn.Module):
        def extra_repr(self) -> str:
            return "a=1\nb=2"

    class Three(Two):
        def __init__(self) -> None:
            super().__init__()
            self.two = Two()
            self.list = nn.ModuleList([nn.Sequential(nn.ReLU(), Two()) for _ in range(3)])
            self.none = None
            self.add_module("gone", None)

    return [
        repr(Two()),
        repr(Three()),
        repr(nn.ModuleList()),
        repr(nn.Sequential()),
        repr(nn.ModuleDict({"a": nn.ReLU(), "b": Two()})),
        str(nn.Sequential(Three())),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
