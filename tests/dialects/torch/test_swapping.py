"""torch.utils.swap_tensors: two tensors that change places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare
from wengert import torch as ours

pytestmark = pytest.mark.parity


def _swapped(torch: Any) -> Any:
    one, other = torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.zeros(3))
    one.note = 5
    torch.utils.swap_tensors(one, other)
    return one, other


def _classes(torch: Any) -> Any:
    one, other = _swapped(torch)
    kinds = [isinstance(t, torch.nn.Parameter) for t in (one, other)]
    return kinds, one, other, other.note, hasattr(one, "note")


def _gradients(torch: Any) -> Any:
    one, other = _swapped(torch)
    (one**2).sum().backward()
    before = one.grad, other.grad
    (3 * other).sum().backward()
    (second,) = torch.autograd.grad((one**3).sum(), one, create_graph=True)
    return before, one.grad, other.grad, torch.autograd.grad(second.sum(), one)


def _in_a_module(torch: Any) -> Any:
    layer = torch.nn.Linear(2, 1, bias=False)
    weight = layer.weight
    torch.utils.swap_tensors(weight, torch.nn.Parameter(torch.tensor([[2.0, 3.0]])))
    layer(torch.tensor([[1.0, 10.0]])).sum().backward()
    return weight is layer.weight, weight, weight.grad


def _accumulated(torch: Any) -> Any:
    one, other = torch.ones(2, requires_grad=True), torch.zeros(2)
    one.sum().backward()
    torch.utils.swap_tensors(one, other)
    return one.requires_grad, one.grad, other.requires_grad, other.grad


def _of_a_base(torch: Any) -> Any:
    base = torch.ones(3, requires_grad=True)
    part = base[0]
    torch.utils.swap_tensors(base, torch.ones(2))
    return part


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "classes and attributes": _classes,
    "gradients": _gradients,
    "in a module": _in_a_module,
    "accumulated": _accumulated,
    "of a base": _of_a_base,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_tensors_change_places(program: Callable[[Any], Any]) -> None:
    compare(program)


def test_hooks_go_along() -> None:
    one, other, seen = ours.ones(2, requires_grad=True), ours.zeros(2), []
    one.register_hook(lambda g: seen.append(g.tolist()))
    ours.utils.swap_tensors(one, other)
    (2 * other).sum().backward()
    assert seen == [[2.0, 2.0]]
    assert one.grad is None
    assert other.grad.tolist() == [2.0, 2.0]


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="got a int"):
        ours.utils.swap_tensors(ours.ones(2), 1)
    with pytest.raises(RuntimeError, match="is a view, or has views"):
        ours.utils.swap_tensors(ours.ones(2)[0], ours.ones(1))
