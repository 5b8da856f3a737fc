"""torch.nn's modules: values known by hand, and what modules do with their parts."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch
from wengert.torch import nn


class Scaled(nn.Module):
    """x * scale, with a count of calls that is saved and a note that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("note", torch.tensor(1.0), persistent=False)

    def forward(self, x: Any) -> Any:
        """Return x * scale."""
        self.calls += 1
        return x * self.scale


def test_parameters_get_gradients() -> None:
    model = Scaled()
    model(torch.tensor([1.0, 10.0])).sum().backward()
    assert model.scale.grad.tolist() == [1.0, 10.0]
    assert model.calls.item() == 1
    model.zero_grad()
    assert model.scale.grad is None


def test_names_and_states() -> None:
    model = nn.Sequential(Scaled(), nn.Linear(2, 1))
    assert [n for n, _ in model.named_parameters()] == ["0.scale", "1.weight", "1.bias"]
    assert list(model.state_dict()) == ["0.scale", "0.calls", "1.weight", "1.bias"]
    other = nn.Sequential(Scaled(), nn.Linear(2, 1))
    assert repr(other.load_state_dict(model.state_dict())) == "<All keys matched successfully>"
    assert torch.equal(other[1].weight, model[1].weight)
    with pytest.raises(RuntimeError, match="Missing names"):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"1\.bias has shape \[3\]"):
        other.load_state_dict({"1.bias": torch.ones(3)}, strict=False)


def test_a_model_is_printed_as_in_pytorch() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.ModuleList([nn.Tanh(), nn.Tanh()]))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): ReLU()\n"
        "  (2): ModuleList(\n"
        "    (0-1): 2 x Tanh()\n"
        "  )\n"
        ")"
    )


def test_linear_is_a_matrix_and_an_offset() -> None:
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[2.0, -1.0]]))
        layer.bias.fill_(0.5)
    assert layer(torch.tensor([3.0, 4.0])).item() == 2.5


def test_batch_norm_keeps_statistics() -> None:
    layer = nn.BatchNorm1d(1, momentum=0.5)
    found = layer(torch.tensor([[1.0], [3.0]]))
    np.testing.assert_allclose(found.detach().numpy(), [[-1.0], [1.0]], atol=1e-5)
    assert layer.running_mean.item() == 1.0
    assert layer.running_var.item() == 1.5  # half of 1 and half of 2, the variance by n - 1
    layer.eval()
    assert abs(layer(torch.tensor([[1.0]])).item()) < 1e-6


def test_first_values_are_within_their_bounds() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(400, 300)
    bound = 1 / math.sqrt(400)
    weight = layer.weight.detach().numpy()
    assert np.abs(weight).max() <= bound
    assert abs(weight.mean()) < bound / 100
    assert abs(weight.std() - bound / math.sqrt(3)) < bound / 100
    assert np.abs(layer.bias.detach().numpy()).max() <= bound


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("xavier_uniform_", math.sqrt(2 / 500)),
        ("xavier_normal_", math.sqrt(2 / 500)),
        ("kaiming_uniform_", math.sqrt(2 / 200)),
        ("kaiming_normal_", math.sqrt(2 / 200)),
    ],
)
def test_initialisation_has_its_deviation(name: str, deviation: float) -> None:
    torch.manual_seed(1)
    values = getattr(nn.init, name)(torch.empty(300, 200)).numpy()
    assert abs(values.std() / deviation - 1) < 0.02
    assert abs(values.mean()) < deviation / 50


def test_orthogonal_rows() -> None:
    torch.manual_seed(2)
    q = nn.init.orthogonal_(torch.empty(3, 5, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-12)


def test_truncated_normal_is_within_its_bounds() -> None:
    torch.manual_seed(3)
    for a, b in ((-1.0, 1.0), (2.0, 3.0)):  # by normal draws, and by uniform ones
        values = nn.init.trunc_normal_(torch.empty(5000), 0.0, 1.0, a, b).numpy()
        assert a <= values.min() and values.max() <= b
        assert values.std() > 0.2


def test_copies_are_apart() -> None:
    model = Scaled()
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.scale.zero_()
    assert model.scale.tolist() == [2.0, 3.0]
    layer = nn.Linear(2, 2)
    back = pickle.loads(pickle.dumps(layer))
    assert torch.equal(back.weight, layer.weight) and back.weight.requires_grad


def test_hooks_see_gradients() -> None:
    layer, seen = nn.Linear(2, 1, bias=False), []
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[2.0, 5.0]]))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0], go[0])))
    x = torch.ones(1, 2, requires_grad=True)
    (3 * layer(x)).sum().backward()
    assert seen[0][0].tolist() == [[6.0, 15.0]]
    assert seen[0][1].tolist() == [[3.0]]


def test_names_that_cannot_be_assigned() -> None:
    model = Scaled()
    with pytest.raises(TypeError, match="parameter 'scale'"):
        model.scale = torch.ones(2)
    with pytest.raises(KeyError, match="already has"):
        model.register_buffer("scale", None)

    class Early(nn.Module):
        def __init__(self) -> None:
            self.part = nn.ReLU()

    with pytest.raises(AttributeError, match=r"super\(\).__init__"):
        Early()


def test_clipping_returns_the_norm() -> None:
    x = torch.zeros(2, requires_grad=True)
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    assert nn.utils.clip_grad_norm_([x], 1.0).item() == 5.0
    np.testing.assert_allclose(x.grad.numpy(), [0.6, 0.8], rtol=1e-6)


def test_a_module_with_other_parameters() -> None:
    layer = nn.Linear(1, 1)
    w = torch.tensor([[3.0]], requires_grad=True)
    y = torch.func.functional_call(layer, {"weight": w, "bias": torch.zeros(1)}, torch.ones(1, 1))
    y.sum().backward()
    assert y.item() == 3.0 and w.grad.item() == 1.0 and layer.weight.grad is None


def test_lazy_layers_learn_their_sizes() -> None:
    layer = nn.LazyLinear(3)
    layer(torch.ones(2, 5))
    assert type(layer) is nn.Linear and layer.weight.shape == (3, 5)


def test_weight_norm_is_a_length_and_a_direction() -> None:
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 1, bias=False))
    with torch.no_grad():
        layer.parametrizations.weight.original0.fill_(10.0)
        layer.parametrizations.weight.original1.copy_(torch.tensor([[3.0, 4.0]]))
    np.testing.assert_allclose(layer.weight.detach().numpy(), [[6.0, 8.0]], rtol=1e-6)
