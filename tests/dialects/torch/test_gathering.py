"""Gather, scatter, index_*, masked_* and fills: the same programs on PyTorch and on Wengert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare
from tests.dialects.torch.tensor_data import data, mask

pytestmark = pytest.mark.parity


def _gradients(function: Callable[..., Any], *shapes: Any) -> Callable[[Any], Any]:
    """Return a program with values, derivatives of both orders and a second sweep of a function."""

    def program(torch: Any) -> Any:
        given = [data(torch, s).requires_grad_() for s in shapes]
        given[1:] = [(g * 0.5 + 0.1).detach().requires_grad_() for g in given[1:]]
        found = function(torch, *given)
        weights = torch.cos(torch.arange(1, found.numel() + 1).double()).reshape(found.shape)
        loss = (found * found * weights).sum()
        first = torch.autograd.grad(loss, given, create_graph=True, allow_unused=True)
        again = sum((f * f).sum() for f in first if f is not None)
        second: Any = None
        if again.requires_grad:
            second = torch.autograd.grad(again, given, materialize_grads=True)
        y = function(torch, *given).sum()
        y.backward()
        try:
            y.backward()
            swept = "twice"
        except RuntimeError:
            swept = "once"
        grads = [g.grad for g in given]
        in_order = found.is_contiguous()
        return found, first, second, in_order, grads, swept, found.grad_fn.name().rpartition(":")[2]

    return program


def _index(torch: Any, *values: Any) -> Any:
    return torch.tensor(values)


def _rows(torch: Any) -> Any:
    return torch.tensor([[0, 2, 1, 0], [1, 1, 0, 2]])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "index_select": _gradients(lambda t, x: x.index_select(1, _index(t, 3, 0, 3)), (3, 4)),
    "index_select function": _gradients(
        lambda t, x: t.index_select(x, dim=-1, index=_index(t, 1)), (3, 4)
    ),
    "index_select int32": _gradients(lambda t, x: x.index_select(0, _index(t, 1).int()), (3, 4)),
    "index_select 0-d": _gradients(lambda t, x: x.index_select(0, t.tensor(1)), (3, 4)),
    "index_add": _gradients(lambda t, x, y: x.index_add(0, _index(t, 0, 2, 0), y), (4, 2), (3, 2)),
    "index_add alpha": _gradients(
        lambda t, x, y: t.index_add(x, 1, _index(t, 1, 0), y, alpha=2.5), (3, 2), (3, 2)
    ),
    "index_add_": _gradients(
        lambda t, x, y: (x * 1).index_add_(0, _index(t, 0, 2, 0), y), (4, 2), (3, 2)
    ),
    "index_copy": _gradients(lambda t, x, y: x.index_copy(0, _index(t, 2, 0), y), (3, 2), (2, 2)),
    "index_copy_": _gradients(
        lambda t, x, y: (x * 1).index_copy_(1, _index(t, 1), y), (3, 2), (3, 1)
    ),
    "index_fill": _gradients(lambda t, x: x.index_fill(1, _index(t, 0, 2), 1.5), (2, 3)),
    "index_fill tensor": _gradients(
        lambda t, x, y: x.index_fill(0, _index(t, 0), y.sum()), (2, 3), (2,)
    ),
    "index_fill_": _gradients(lambda t, x: (x * 1).index_fill_(1, _index(t, 0, 2), 1.5), (2, 3)),
    "index_put": _gradients(
        lambda t, x, y: x.index_put((_index(t, 0, 2), _index(t, 1, 0)), y), (3, 2), (2,)
    ),
    "index_put accumulate": _gradients(
        lambda t, x, y: x.index_put((_index(t, 0, 0, 1),), y, accumulate=True), (3, 2), (3, 2)
    ),
    "index_put mask": _gradients(
        lambda t, x, y: x.index_put((x.detach() > 0,), y.sum()), (3, 2), (1,)
    ),
    "index_put_": _gradients(
        lambda t, x, y: (x * 1).index_put_((_index(t, 0, 2),), y), (3, 2), (2, 2)
    ),
    "index_put_ accumulate": _gradients(
        lambda t, x, y: (x * 1).index_put_((_index(t, 1, 1),), y, accumulate=True), (3, 2), (2, 2)
    ),
    "gather": _gradients(lambda t, x: x.gather(0, _rows(t)), (3, 4)),
    "gather dim": _gradients(lambda t, x: t.gather(x, 1, _index(t, [0, 3], [2, 2])), (3, 4)),
    "gather negative dim": _gradients(lambda t, x: x.gather(-1, _index(t, [0], [1])), (2, 3)),
    "take": _gradients(lambda t, x: x.take(_index(t, 0, 5, -1, 0)), (3, 4)),
    "take 2-d": _gradients(lambda t, x: t.take(x, _index(t, [0, 5], [1, 1])), (3, 4)),
    "take_along_dim": _gradients(lambda t, x: t.take_along_dim(x, _rows(t), dim=0), (3, 4)),
    "take_along_dim broadcast": _gradients(
        lambda t, x: x.take_along_dim(_index(t, [0, 1]).T, 1), (3, 4)
    ),
    "take_along_dim flat": _gradients(lambda t, x: x.take_along_dim(_index(t, 3, 1)), (3, 4)),
    "scatter": _gradients(lambda t, x, y: x.scatter(0, _index(t, [0, 1, 2, 0]), y), (3, 4), (1, 4)),
    "scatter number": _gradients(lambda t, x: x.scatter(0, _index(t, [0, 1, 2, 0]), 1.5), (3, 4)),
    "scatter value": _gradients(
        lambda t, x: t.scatter(x, dim=1, index=_index(t, [0], [1]), value=2.0), (3, 4)
    ),
    "scatter_": _gradients(
        lambda t, x, y: (x * 1).scatter_(1, _index(t, [0, 1]), y), (3, 4), (1, 2)
    ),
    "scatter_add": _gradients(lambda t, x, y: x.scatter_add(0, _rows(t), y), (3, 4), (2, 4)),
    "scatter_add_": _gradients(
        lambda t, x, y: (x * 1).scatter_add_(0, _rows(t), y), (3, 5), (2, 4)
    ),
    **{
        f"scatter_reduce {how} {own}": _gradients(
            lambda t, x, y, how=how, own=own: x.scatter_reduce(
                0, _rows(t), y, how, include_self=own
            ),
            (3, 4),
            (2, 4),
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    },
    "scatter_reduce_": _gradients(
        lambda t, x, y: (x * 1).scatter_reduce_(0, _rows(t), y, reduce="mean"), (3, 4), (2, 4)
    ),
    "masked_fill": _gradients(lambda t, x: x.masked_fill(mask(t, (3, 4)), 1.5), (3, 4)),
    "masked_fill tensor": _gradients(
        lambda t, x, y: x.masked_fill(mask(t, (4,)), y.sum()), (3, 4), (2,)
    ),
    "masked_fill inf": _gradients(
        lambda t, x: x.masked_fill(mask(t, (3, 4)), float("-inf")).exp(), (3, 4)
    ),
    "masked_fill_": _gradients(lambda t, x: (x * 1).masked_fill_(mask(t, (3, 4)), 0), (3, 4)),
    "masked_select": _gradients(lambda t, x: x.masked_select(mask(t, (3, 4))), (3, 4)),
    "masked_select broadcast": _gradients(lambda t, x: t.masked_select(x, mask(t, (4,))), (3, 4)),
    "masked_scatter": _gradients(
        lambda t, x, y: x.masked_scatter(mask(t, (3, 4)), y), (3, 4), (3, 4)
    ),
    "masked_scatter_": _gradients(
        lambda t, x, y: (x * 1).masked_scatter_(mask(t, (4,)), y), (3, 4), (12,)
    ),
    "where": _gradients(lambda t, x, y: t.where(mask(t, (3, 4)), x, y), (3, 4), (3, 4)),
    "where numbers": _gradients(lambda t, x: t.where(x > 0, x, 0.5), (3, 4)),
    "where number first": _gradients(lambda t, x: t.where(x > 0, 1, x), (3, 4)),
    "where broadcast": _gradients(lambda t, x, y: t.where(mask(t, (3, 1)), x, y), (4,), (3, 4)),
    "where method": _gradients(lambda t, x, y: x.where(x.detach() > 0, y), (3, 4), (1,)),
    "where other": _gradients(lambda t, x: x.where(x > 0, 0.0), (3, 4)),
    "fill_": _gradients(lambda t, x: (x * 1).fill_(2.0) + x, (3,)),
    "fill_ tensor": _gradients(lambda t, x, y: (x * 1).fill_(y.sum()) * 1, (3,), (2,)),
    "zero_": _gradients(lambda t, x: (x * 1).zero_() + x, (3,)),
    "copy_": _gradients(lambda t, x, y: (x * 1).copy_(y), (3, 2), (2,)),
    "copy_ float32": _gradients(lambda t, x, y: (x * 1).float().copy_(y).double(), (3, 2), (2,)),
    "fill_diagonal_": _gradients(lambda t, x: (x * 1).fill_diagonal_(2.0), (3, 4)),
    "fill_diagonal_ wrap": _gradients(lambda t, x: (x * 1).fill_diagonal_(2.0, wrap=True), (7, 3)),
}
#: Composites, whose nodes have other names in PyTorch, or that keep more or less.
OTHERWISE = {
    "take_along_dim", "take_along_dim broadcast", "take_along_dim flat", "index_put mask",
    "masked_select", "masked_select broadcast", "fill_diagonal_", "fill_diagonal_ wrap",
    "scatter number", "scatter value", "masked_fill tensor", "index_fill tensor", "fill_ tensor",
    "copy_", "copy_ float32", "index_add alpha",
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    def program(torch: Any) -> Any:
        found = FUNCTIONS[name](torch)
        return found[:4] if name in OTHERWISE else found

    compare(program, rtol=1e-5 if "float32" in name else 1e-9)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "nonzero": lambda torch: torch.tensor([[0, 1], [2, 0]]).nonzero(),
    "nonzero tuple": lambda torch: torch.nonzero(torch.tensor([[0, 1], [2, 0]]), as_tuple=True),
    "nonzero 0-d": lambda torch: torch.tensor(3.0).nonzero(),
    "nonzero 0-d tuple": lambda torch: torch.tensor(3.0).nonzero(as_tuple=True),
    "argwhere": lambda torch: torch.argwhere(torch.tensor([[0, 1], [2, 0]])),
    "where alone": lambda torch: torch.where(torch.tensor([[0, 1], [2, 0]])),
    "where dtypes": lambda torch: torch.where(torch.tensor([True, False]), 1, 2.5),
    "where ints": lambda torch: torch.where(torch.tensor([True, False]), 1, 2),
    "where promoted": lambda torch: torch.where(
        torch.tensor([True, False]), torch.tensor([1, 2]), torch.tensor(2.5)
    ),
    "take ints": lambda torch: torch.arange(6).take(torch.tensor([[0, 1], [5, 2]])),
    "take 0-d": lambda torch: torch.arange(6).take(torch.tensor(2)),
    "gather ints": lambda torch: torch.arange(6).reshape(2, 3).gather(1, torch.tensor([[2], [0]])),
    "gather empty": lambda torch: torch.ones(2, 3).gather(1, torch.zeros(2, 0, dtype=torch.int64)),
    "scatter one-hot": lambda torch: torch.zeros(3, 4).scatter_(
        1, torch.tensor([[1], [3], [0]]), 1.0
    ),
    "scatter add ints": lambda torch: torch.zeros(4, dtype=torch.int64).scatter_add_(
        0, torch.tensor([0, 1, 0]), torch.tensor([1, 2, 3])
    ),
    "scatter reduce add": lambda torch: torch.ones(4).scatter(
        0, torch.tensor([0, 1, 0]), torch.tensor([1.0, 2.0, 3.0]), reduce="add"
    ),
    "scatter reduce multiply": lambda torch: torch.ones(4).scatter_(
        0, torch.tensor([0, 1, 0]), 2.0, reduce="multiply"
    ),
    "scatter_reduce ints": lambda torch: torch.ones(3, dtype=torch.int64).scatter_reduce(
        0, torch.tensor([0, 1, 0]), torch.tensor([5, 2, 3]), "mean"
    ),
    "scatter_reduce amax ints": lambda torch: torch.ones(3, dtype=torch.int64).scatter_reduce(
        0, torch.tensor([0, 1, 0]), torch.tensor([5, 2, 3]), "amax", include_self=False
    ),
    "index_add ints": lambda torch: torch.zeros(3, dtype=torch.int64).index_add_(
        0, torch.tensor([0, 1, 0]), torch.tensor([1, 2, 3])
    ),
    "masked_fill ints": lambda torch: torch.arange(3).masked_fill(
        torch.tensor([True, False, True]), 7
    ),
    "masked_select none": lambda torch: torch.ones(3).masked_select(
        torch.zeros(3, dtype=torch.bool)
    ),
    "0-d index_add": lambda torch: torch.tensor(1.0).index_add(
        0, torch.tensor([0]), torch.tensor(2.0)
    ),
}
BAD: dict[str, Callable[[Any], Any]] = {
    "index_select 2-d": lambda torch: torch.ones(3).index_select(0, torch.tensor([[0]])),
    "index_select range": lambda torch: torch.ones(3).index_select(0, torch.tensor([3])),
    "index_select float": lambda torch: torch.ones(3).index_select(0, torch.ones(1)),
    "index_select list": lambda torch: torch.ones(3).index_select(0, [0]),
    "index_add shape": lambda torch: torch.ones(3).index_add(0, torch.tensor([0]), torch.ones(2)),
    "index_add dtype": lambda torch: torch.ones(3).index_add(
        0, torch.tensor([0]), torch.ones(1, dtype=torch.float64)
    ),
    "index_copy shape": lambda torch: torch.ones(3).index_copy(0, torch.tensor([0]), torch.ones(2)),
    "index_fill tensor": lambda torch: torch.ones(3).index_fill(
        0, torch.tensor([0]), torch.ones(2)
    ),
    "gather ndim": lambda torch: torch.ones(3, 2).gather(0, torch.tensor([0])),
    "gather dtype": lambda torch: torch.ones(3).gather(0, torch.ones(1)),
    "gather range": lambda torch: torch.ones(3).gather(0, torch.tensor([3])),
    "gather negative": lambda torch: torch.ones(3).gather(0, torch.tensor([-1])),
    "gather size": lambda torch: torch.ones(3, 2).gather(0, torch.zeros(1, 3, dtype=torch.int64)),
    "scatter dtype": lambda torch: torch.ones(3).scatter(
        0, torch.tensor([0]), torch.ones(1, dtype=torch.float64)
    ),
    "scatter range": lambda torch: torch.ones(3).scatter(0, torch.tensor([3]), 1.0),
    "scatter_add size": lambda torch: torch.ones(3).scatter_add(
        0, torch.tensor([0, 1]), torch.ones(1)
    ),
    "scatter reduce": lambda torch: torch.ones(3).scatter(
        0, torch.tensor([0]), torch.ones(1), reduce="max"
    ),
    "scatter_reduce": lambda torch: torch.ones(3).scatter_reduce(
        0, torch.tensor([0]), torch.ones(1), "max"
    ),
    "take range": lambda torch: torch.ones(3).take(torch.tensor([3])),
    "take dtype": lambda torch: torch.ones(3).take(torch.ones(1)),
    "masked_fill dtype": lambda torch: torch.ones(3).masked_fill(torch.ones(3), 1.0),
    "masked_fill shape": lambda torch: torch.ones(3).masked_fill(
        torch.ones(2, dtype=torch.bool), 1.0
    ),
    "masked_fill value": lambda torch: torch.ones(3).masked_fill(
        torch.ones(3, dtype=torch.bool), torch.ones(2)
    ),
    "masked_fill_ grows": lambda torch: torch.ones(3).masked_fill_(
        torch.ones(2, 3, dtype=torch.bool), 1.0
    ),
    "masked_select dtype": lambda torch: torch.ones(3).masked_select(torch.ones(3)),
    "masked_scatter few": lambda torch: torch.ones(3).masked_scatter(
        torch.ones(3, dtype=torch.bool), torch.ones(2)
    ),
    "where dtype": lambda torch: torch.where(torch.ones(3), 1.0, 2.0),
    "where shapes": lambda torch: torch.where(
        torch.ones(3, dtype=torch.bool), torch.ones(2), torch.ones(3)
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    compare(BAD[name])
