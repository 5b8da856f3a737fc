"""Programs of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, labels

pytestmark = pytest.mark.parity


def test_training_of_a_small_network() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional
        x, y = data(torch, 8, 1, 8, 8, grad=False), labels(torch, 3, 8)
        w1, w2 = (data(torch, *s, seed=k) for k, s in enumerate([(4, 1, 3, 3), (3, 36)]))
        found = []
        for _ in range(3):
            h = F.max_pool2d(F.relu(F.conv2d(x, w1)), 2)
            loss = F.cross_entropy(F.linear(h.flatten(1), w2), y)
            loss.backward()
            with torch.no_grad():
                for w in (w1, w2):
                    w -= 0.1 * w.grad
                    w.grad = None
            found.append(loss.item())
        return found, w1, w2

    check(program)


def test_examples_of_vmap() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional

        def one(x: Any, label: Any) -> Any:
            h = F.softplus(F.leaky_relu(F.linear(x, w)))
            return F.cross_entropy(F.layer_norm(h, (4,)), label) + F.mse_loss(F.gelu(h), h)

        w = data(torch, 4, 3, grad=False)
        return torch.func.vmap(torch.func.grad(one))(
            data(torch, 5, 3, grad=False), labels(torch, 4, 5)
        )

    check(program)


def two_layers(torch: Any) -> Any:
    F = torch.nn.functional
    x, w, v = data(torch, 5, 3), data(torch, 4, 3, seed=1), data(torch, 1, 4, seed=2)
    (g,) = torch.autograd.grad(
        F.linear(F.leaky_relu(F.linear(x, w), 0.2), v).sum(), x, create_graph=True
    )
    ((g.norm(2, dim=1) - 1) ** 2).mean().backward()
    return w, v, x


def in_place_through_a_view(torch: Any) -> Any:
    x = torch.arange(-4.0, 4.0).requires_grad_()
    h = x * 2
    torch.nn.functional.relu(h[2:6], inplace=True)
    h.sum().backward()
    return h, x


def overwritten_result(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = torch.nn.functional.relu(x)
    y.mul_(2)
    y.sum().backward()


def overwritten_argument(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    h = x * 1
    y = torch.nn.functional.elu(h)
    h.mul_(2)
    y.sum().backward()


def two_sweeps(torch: Any) -> Any:
    y = torch.nn.functional.gelu(torch.ones(3, requires_grad=True)).sum()
    y.backward()
    y.backward()


def parameter(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.ones(2, 3))
    torch.nn.functional.linear(torch.ones(1, 3), w).sum().backward()
    return w.grad, torch.nn.functional.relu(w)


def vanishing_probability(torch: Any) -> Any:
    p = torch.tensor([0.0, 1.0], requires_grad=True)
    torch.nn.functional.kl_div(torch.tensor([-1.0, -2.0]), p, reduction="sum").backward()
    return p


def names_of_entries(torch: Any) -> Any:
    F, t = torch.nn.functional, torch
    x, w, b = (t.ones(*s, requires_grad=True) for s in ((2, 3), (4, 3), (4,)))
    y, image = x * 2, t.ones(1, 2, 4, 4, requires_grad=True)
    results = [
        F.linear(x, w, b), F.linear(x, w), F.leaky_relu(x), F.elu(x), F.celu(x), F.softplus(x),
        F.silu(x), F.mse_loss(x, y), F.l1_loss(x, y), F.l1_loss(x, y, reduction="none"),
        F.kl_div(x, y, reduction="sum"), F.hardtanh(x), F.relu6(x), F.dropout(x),
        F.layer_norm(x, (3,)), F.nll_loss(x, t.tensor([1, 2])), F.log_softmax(x, 1),
        F.binary_cross_entropy_with_logits(x, y), F.embedding(t.tensor([1]), w), F.normalize(x),
        F.cosine_similarity(x, y), F.threshold(x, 0, 1), F.huber_loss(x, y), F.prelu(x, w[0, :1]),
        F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 2),
        F.unfold(image, 2), F.pad(x, (1, 1)), F.conv2d(image, t.ones(1, 2, 2, 2)),
    ]  # fmt: skip
    return [y.grad_fn.name() for y in results]


PROGRAMS: dict[str, Program] = {
    "two_layers": two_layers,
    "in_place_through_a_view": in_place_through_a_view,
    "overwritten_result": overwritten_result,
    "overwritten_argument": overwritten_argument,
    "two_sweeps": two_sweeps,
    "parameter": parameter,
    "vanishing_probability": vanishing_probability,
    "names_of_entries": names_of_entries,
    "hessian": lambda torch: torch.autograd.functional.hessian(
        lambda a: torch.nn.functional.layer_norm(a, (6,)).pow(3).sum(), data(torch, 6, grad=False)
    ),
    "jacobian": lambda torch: torch.autograd.functional.jacobian(
        lambda a: torch.nn.functional.conv2d(a, data(torch, 2, 1, 3, 3, grad=False), padding=1),
        data(torch, 1, 1, 4, 4, grad=False),
    ),
    "truth-target": lambda torch: torch.nn.functional.binary_cross_entropy_with_logits(
        torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    ),
    "whole-target": lambda torch: torch.nn.functional.mse_loss(
        torch.tensor([1.0, 2.0]), torch.tensor([1, 0])
    ),
    "whole-l1": lambda torch: torch.nn.functional.l1_loss(torch.tensor([1]), torch.tensor([3])),
    "whole-l1-sum": lambda torch: torch.nn.functional.l1_loss(
        torch.tensor([1]), torch.tensor([3]), reduction="sum"
    ),
    "bytes": lambda torch: torch.nn.functional.interpolate(
        torch.arange(16, dtype=torch.uint8).reshape(1, 1, 4, 4), scale_factor=2
    ),
    "tensor-slope": lambda torch: torch.nn.functional.leaky_relu(
        torch.tensor([-1.0, 2.0]), negative_slope=torch.tensor(0.5)
    ),
    "keywords": lambda torch: torch.nn.functional.elu(
        input=torch.tensor([-1.0, 2.0]), alpha=2.0, inplace=False
    ),
    "complex-l1": lambda torch: torch.nn.functional.l1_loss(
        torch.tensor([3 + 4j]), torch.tensor([0j])
    ),
    "nothing": lambda torch: torch.nn.functional.cross_entropy(None, torch.tensor([1])),
    "strided": lambda torch: torch.nn.functional.softmax(
        data(torch, 2, 3, 4).transpose(1, 2), dim=2
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(PROGRAMS[name])
