"""torch.nn.utils: norms of gradients, parametrizations, packed sequences."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, net, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- utilities -------------------------------------------------------------------------------------


def swept(torch: Any) -> Any:
    """Return a network with gradients."""
    model = net(torch)
    (model(numbers(torch, 4, 3)) * 10).sum().backward()
    return model


@pytest.mark.parametrize("norm_type", [2.0, 1, float("inf"), 3])
@pytest.mark.parametrize("max_norm", [0.5, 1e4])
def test_clip_grad_norm(norm_type: float, max_norm: float) -> None:
    def program(torch: Any) -> Any:
        model = swept(torch)
        utils = torch.nn.utils
        grads = [p.grad for p in model.parameters()]
        total = utils.get_total_norm(grads, norm_type)
        return [
            total,
            utils.clip_grad_norm_(model.parameters(), max_norm, norm_type),
            [p.grad for p in model.parameters()],
            grads[0] is next(model.parameters()).grad,
        ]

    compare(program)


@program
def clipping(torch: Any) -> Any:
    utils = torch.nn.utils
    model = swept(torch)
    utils.clip_grad_value_(model.parameters(), 0.5)
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.tensor([float("inf"), 1.0])
    return [
        [p.grad for p in model.parameters()],
        utils.clip_grad_norm_([], 1.0),
        raising(lambda: utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)),
        utils.clip_grad_norm_(x, 1.0),
        x.grad,
        utils.clip_grad_norm_([torch.ones(2)], 1.0),
    ]


@program
def vectors(torch: Any) -> Any:
    utils = torch.nn.utils
    model = net(torch)
    vector = utils.parameters_to_vector(model.parameters())
    utils.vector_to_parameters(vector * 2, model.parameters())
    vector.sum().backward()
    return [
        vector,
        model.state_dict(),
        model.scale.grad,
        raising(lambda: utils.vector_to_parameters([1], [])),
        model.scale.requires_grad,
    ]


@program
def weight_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [
        repr(layer),
        *everything(layer),
        layer.weight,
        [n for n, _ in layer.named_parameters()],
    ]
    torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    return [*found, repr(layer), layer.weight, type(layer).__name__]


@program
def weight_norm_dims(torch: Any) -> Any:
    torch.manual_seed(0)
    found = []
    for dim in (0, 1, None):
        layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(2, 3, 2), dim=dim)
        layer(numbers(torch, 1, 2, 4)).pow(2).sum().backward()
        found.append(everything(layer))
    return found


@program
def old_weight_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2), name="weight")
    for _ in range(2):
        layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer), layer.weight]
    torch.nn.utils.remove_weight_norm(layer)
    return [*found, layer.state_dict(), raising(lambda: torch.nn.utils.remove_weight_norm(layer))]


@program
def spectral_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 4))
    layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer)]
    layer.eval()
    return [*found, layer.weight, layer(numbers(torch, 4, 3))]


@program
def old_spectral_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.spectral_norm(torch.nn.Conv2d(2, 3, 2))
    for _ in range(2):
        layer(numbers(torch, 1, 2, 3, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer)]
    torch.nn.utils.remove_spectral_norm(layer)
    return [*found, layer.state_dict()]


@program
def own_parametrization(torch: Any) -> Any:
    class Symmetric(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Halved(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x / 2

    parametrize = torch.nn.utils.parametrize
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    one = layer.weight
    layer.weight = torch.ones(3, 3)
    two = layer.weight
    parametrize.register_parametrization(layer, "weight", Halved())
    layer(torch.ones(1, 3)).sum().backward()
    return [
        one,
        two,
        layer.weight,
        repr(layer),
        everything(layer),
        parametrize.is_parametrized(layer),
        parametrize.is_parametrized(layer, "bias"),
        copy.deepcopy(layer).weight,
        raising(lambda: setattr(layer, "weight", torch.ones(3, 3))),
        raising(lambda: parametrize.register_parametrization(layer, "none", Halved())),
    ]


@program
def sequences(torch: Any) -> Any:
    rnn = torch.nn.utils.rnn
    parts = [numbers(torch, n, 2, seed=n, grad=True) for n in (3, 1, 2)]
    padded = rnn.pad_sequence(parts, batch_first=True, padding_value=-1.0)
    padded.pow(2).sum().backward()
    return [
        padded,
        rnn.pad_sequence(parts),
        rnn.pad_sequence(parts, padding_side="left"),
        [p.grad for p in parts],
        rnn.unpad_sequence(padded, torch.tensor([3, 1, 2]), batch_first=True),
    ]


# -- other parameters ------------------------------------------------------------------------------


@program
def functional_calls(torch: Any) -> Any:
    call = torch.func.functional_call
    model = net(torch)
    x = numbers(torch, 4, 3)
    other = {k: (v.detach() * 2).requires_grad_() for k, v in model.named_parameters()}
    y = call(model, other, (x,))
    y.sum().backward()
    before = model.scale
    return [
        y,
        {k: v.grad for k, v in other.items()},
        model.scale.grad,
        model.scale is before,
        call(model, {"scale": torch.zeros(2)}, x),
        call(model, ({}, {"scale": torch.ones(2)}), (x,)),
        model.inner[0].num_batches_tracked,
        torch.nn.utils.stateless.functional_call(model, {"scale": torch.zeros(2)}, x),
    ]


@program
def functional_calls_wrong(torch: Any) -> Any:
    call = torch.func.functional_call
    model = torch.nn.Linear(2, 1)
    x, w = torch.ones(1, 2), torch.ones(1, 2)
    return [
        raising(lambda: call(model, {"w": w}, x).shape),
        raising(lambda: call(model, {"a.b": w}, x)),
        raising(lambda: call(model, {"weight": w}, x, strict=True)),
        raising(lambda: call(model, {"weight": w, "bias": w[0, :1], "q": w}, x, strict=True)),
        raising(lambda: call(model, ({"weight": w}, {"weight": w}), x)),
        raising(lambda: call(model, {"weight": 3}, x)),
        raising(lambda: call(model, 3, x)),
        "w" in dir(model),
        model.weight.requires_grad,
    ]


@program
def functional_calls_tied(torch: Any) -> Any:
    nn = torch.nn

    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Parameter(torch.ones(2))
            self.b = self.a

        def forward(self, x: Any) -> Any:
            return x * self.a + self.b

    call, x, model = torch.func.functional_call, torch.ones(2), Tied()
    return [
        call(model, {"a": torch.zeros(2)}, x),
        call(model, {"b": torch.zeros(2)}, x),
        call(model, {"a": torch.zeros(2)}, x, tie_weights=False),
        raising(lambda: call(model, {"a": torch.zeros(2), "b": torch.ones(2)}, x)),
    ]


@program
def stacked_modules(torch: Any) -> Any:
    models = [net(torch, k).eval() for k in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    base = copy.deepcopy(models[0])
    x = numbers(torch, 4, 3)
    together = torch.vmap(lambda p, b: torch.func.functional_call(base, (p, b), (x,)))(
        params, buffers
    )
    return [
        params,
        buffers,
        together,
        torch.stack([m(x) for m in models]),
        raising(lambda: torch.func.stack_module_state([])),
        raising(lambda: torch.func.stack_module_state([models[0], net(torch)])),
        raising(lambda: torch.func.stack_module_state([models[0], torch.nn.ReLU().eval()])),
    ]


@program
def gradients_of_examples(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    params = {k: v.detach() for k, v in model.named_parameters()}

    def loss(p: Any, x: Any, y: Any) -> Any:
        return (torch.func.functional_call(model, p, (x,)) - y).pow(2).sum()

    x, y = numbers(torch, 5, 3), numbers(torch, 5, 1, seed=1)
    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)


@program
def hessian_of_parameters(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sigmoid(), torch.nn.Linear(2, 1))
    loss = model(numbers(torch, 3, 2)).pow(2).mean()
    params = list(model.parameters())
    first = torch.autograd.grad(loss, params, create_graph=True)
    product = sum((g * torch.ones_like(g)).sum() for g in first)
    return [first, torch.autograd.grad(product, params)]


@program
def second_order_with_hooks(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Softplus(), nn.Linear(3, 1))
    model[0].register_full_backward_hook(lambda m, gi, go: None)
    x = numbers(torch, 4, 2, grad=True)
    (g,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
    return [g, *everything(model, x)]


@program
def classes_of_results(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    results = [p.detach(), p.data, p.clone(), p[0], p.view(1, 2), p + 1, -p, p.float(), p.double()]
    results += [p.cpu(), p.to(torch.float32), torch.relu(p), p.requires_grad_(), p * p, 2 / p]
    return [type(x).__name__ for x in results]


@program
def writes_to_parameters(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    found = [
        raising(lambda: p.zero_()),
        raising(lambda: p.__setitem__(0, 1.0)),
        raising(lambda: p.data.add_(1)),
        raising(lambda: p.detach().add_(1)),
    ]
    with torch.no_grad():
        p.copy_(torch.tensor([4.0, 5.0]))
        p[0] = 7.0
    p.requires_grad = False
    p.add_(1)
    return [found, p, p._version]


@program
def derivatives_of_modules(torch: Any) -> Any:
    torch.manual_seed(0)
    x, model = torch.randn(2, 3), torch.nn.Linear(3, 2)
    cubed = torch.func.hessian(lambda x: model(x).pow(3).sum())(x)
    whole = torch.autograd.functional.jacobian(model, x)
    return [whole, torch.func.jacrev(model)(x), cubed, torch.func.vmap(model)(x)]


@program
def wrong_calls(torch: Any) -> Any:
    nn = torch.nn
    image = torch.ones(1, 1, 2, 2)
    return [
        raising(lambda: nn.Linear(2, 2)(np.ones((1, 2)))),
        raising(lambda: nn.Linear(2.0, 2)),
        raising(lambda: nn.Linear(-1, 2)),
        raising(lambda: nn.Sequential([nn.ReLU()])),
        raising(lambda: nn.ModuleList(nn.ReLU())),
        raising(lambda: nn.ModuleDict({"a.b": nn.ReLU()})),
        raising(lambda: nn.ModuleDict({1: nn.ReLU()})),
        raising(lambda: nn.BatchNorm1d(2)(torch.ones(2, 2, dtype=torch.int64))),
        raising(lambda: nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([0, 3]))),
        raising(lambda: nn.ReLU()(torch.ones(2, dtype=torch.bool))),
        raising(lambda: nn.Softmax(dim=5)(torch.ones(2))),
        raising(lambda: nn.MaxPool2d(3)(image)),
        raising(lambda: nn.PixelShuffle(2)(torch.ones(1, 3, 2, 2))),
        raising(lambda: nn.Upsample(scale_factor=2, size=3)(image)),
        raising(lambda: nn.Upsample()(image)),
        raising(lambda: nn.GLU()(torch.ones(3))),
        raising(lambda: nn.Conv2d(1, 1, 3)(image)),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
