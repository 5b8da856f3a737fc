"""The nodes of an affine map: one on the tape, and two of PyTorch's where a program looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def _given(torch: Any, rows: int = 2) -> tuple[Any, Any, Any]:
    x = (torch.arange(3.0 * rows) / 8 - 0.5).reshape(rows, 3)
    w = (torch.arange(12.0) / 16 - 0.25).reshape(4, 3)
    return x.requires_grad_(), w.requires_grad_(), torch.ones(4, requires_grad=True)


def _names(node: Any) -> Any:
    if node is None:
        return None
    return [type(node).__name__, [_names(parent) for parent, _ in node.next_functions]]


def _graph(torch: Any) -> Any:
    y = torch.nn.functional.linear(*_given(torch))
    turned = y.grad_fn.next_functions[2][0]
    return _names(y.grad_fn), turned is y.grad_fn.next_functions[2][0]


def _saved(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b)
    return y.grad_fn._saved_mat1, y.grad_fn._saved_mat2


def _swept_after_a_look(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b).tanh()
    names = _names(y.grad_fn)
    y.square().sum().backward()
    return names, x.grad, w.grad, b.grad


def _second_order(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b).tanh().square().sum()
    gx, gw, gb = torch.autograd.grad(y, (x, w, b), create_graph=True)
    (gx.square().sum() + (gw * 3).sin().sum() + gb.exp().sum()).backward()
    return gx.detach(), gw.detach(), gb.detach(), x.grad, w.grad, b.grad


def _second_order_after_a_look(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b)
    shape = y.grad_fn._saved_mat2.shape
    gx, gw = torch.autograd.grad(y.exp().sum(), (x, w), create_graph=True)
    (gx.square().sum() + gw.sin().sum()).backward()
    return shape, x.grad, w.grad, b.grad


def _hooks_on_the_node(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b)
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([inputs, outputs]))
    y.grad_fn.next_functions[2][0].register_hook(lambda inputs, outputs: seen.append([inputs]))
    y.sum().backward()
    return seen, w.grad


def _hooks_on_the_tensor(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b)
    y.register_hook(lambda g: 2 * g)
    names = _names(y.grad_fn)
    y.sum().backward()
    return names, x.grad, w.grad, b.grad


def _packed(torch: Any) -> Any:
    x, w, b = _given(torch)
    shapes: list[Any] = []

    def pack(saved: Any) -> Any:
        shapes.append(tuple(saved.shape))
        return saved.clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        y = torch.nn.functional.linear(x, w, b)
    y.square().sum().backward()
    return sorted(shapes), x.grad, w.grad


def _written_weight(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w, b)
    with torch.no_grad():
        w.mul_(2)
    y.sum().backward()


def _written_weight_that_nobody_needs(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x.detach(), w, b)
    with torch.no_grad():
        w.mul_(2)
    y.sum().backward()
    return w.grad, b.grad


def _twice(torch: Any) -> Any:
    y = torch.nn.functional.linear(*_given(torch))
    y.sum().backward()
    y.sum().backward()


def _looked_at_when_freed(torch: Any) -> Any:
    y = torch.nn.functional.linear(*_given(torch))
    y.sum().backward()
    names = _names(y.grad_fn)
    try:
        return names, y.grad_fn._saved_mat1
    except RuntimeError as error:
        return names, type(error).__name__


def _rows_on_two_axes(torch: Any) -> Any:
    x, w, b = _given(torch, 10)
    y = torch.nn.functional.linear(x.reshape(2, 5, 3), w, b)
    y.square().sum().backward()
    return type(y.grad_fn).__name__, x.grad, w.grad, b.grad


def _computed_weight(torch: Any) -> Any:
    x, w, b = _given(torch)
    y = torch.nn.functional.linear(x, w * 2, b.detach())
    names = _names(y.grad_fn)
    y.exp().sum().backward()
    return names, x.grad, w.grad


def _other_kinds(torch: Any) -> Any:
    x, w, b = _given(torch)
    wide = torch.nn.functional.linear(x.double(), w.double(), b.double()).square().sum()
    wide.backward()
    z = torch.nn.functional.linear(x.detach().cfloat() * 1j, w.detach().cfloat(), b.cfloat())
    whole = torch.nn.functional.linear(torch.arange(6).reshape(2, 3), torch.ones(4, 3).long())
    return wide.detach(), x.grad, w.grad, b.grad, z.detach(), whole


PROGRAMS: list[Callable[[Any], Any]] = [
    _graph,
    _saved,
    _swept_after_a_look,
    _second_order,
    _second_order_after_a_look,
    _hooks_on_the_node,
    _hooks_on_the_tensor,
    _packed,
    _written_weight,
    _written_weight_that_nobody_needs,
    _twice,
    _looked_at_when_freed,
    _rows_on_two_axes,
    _computed_weight,
    _other_kinds,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.strip("_"))
def test_program(program: Callable[[Any], Any]) -> None:
    compare(program)
