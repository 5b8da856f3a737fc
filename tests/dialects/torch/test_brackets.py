"""Brackets and other writes: the same programs on PyTorch and on Wengert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare
from tests.dialects.torch.tensor_data import data, mask

pytestmark = pytest.mark.parity

#: Keys for a tensor of shape (3, 4, 5).
KEYS: dict[str, Callable[[Any], Any]] = {
    "int": lambda torch: 1,
    "negative": lambda torch: -1,
    "numpy int": lambda torch: np.int64(2),
    "numpy int in tuple": lambda torch: (np.int32(0), np.int64(-1)),
    "slice": lambda torch: slice(1, 3),
    "slice all": lambda torch: slice(None),
    "slice steps": lambda torch: slice(None, None, 2),
    "slice empty": lambda torch: slice(2, 1),
    "slice beyond": lambda torch: slice(-9, 9),
    "slice of tensors": lambda torch: slice(torch.tensor(1), torch.tensor(3)),
    "none": lambda torch: None,
    "ellipsis": lambda torch: Ellipsis,
    "nothing": lambda torch: (),
    "two ints": lambda torch: (1, 2),
    "three ints": lambda torch: (1, -2, 3),
    "int and slice": lambda torch: (0, slice(1, None)),
    "slice and int": lambda torch: (slice(None), 2),
    "all slices": lambda torch: (slice(None), slice(None)),
    "ellipsis and int": lambda torch: (Ellipsis, 1),
    "int and ellipsis": lambda torch: (1, Ellipsis),
    "none and int": lambda torch: (None, 1),
    "nones": lambda torch: (slice(None), None, 1, None),
    "none last": lambda torch: (Ellipsis, None),
    "two ellipses": lambda torch: (Ellipsis, 0, Ellipsis),
    "0-d tensor": lambda torch: torch.tensor(1),
    "0-d tensors": lambda torch: (torch.tensor(1), slice(None), torch.tensor(-1)),
    "0-d int32": lambda torch: torch.tensor(1, dtype=torch.int32),
    "tensor": lambda torch: torch.tensor([2, 0]),
    "tensor repeated": lambda torch: torch.tensor([0, 0, 1]),
    "tensor negative": lambda torch: torch.tensor([-1, 0]),
    "tensor int32": lambda torch: torch.tensor([2, 0], dtype=torch.int32),
    "tensor 2-d": lambda torch: torch.tensor([[0, 1], [2, 2]]),
    "tensor empty": lambda torch: torch.tensor([], dtype=torch.int64),
    "two tensors": lambda torch: (torch.tensor([0, 2]), torch.tensor([1, 3])),
    "broadcast tensors": lambda torch: (torch.tensor([[0], [2]]), torch.tensor([1, 3, 0])),
    "apart": lambda torch: (torch.tensor([0, 2]), slice(None), torch.tensor([1, 3])),
    "tensor and slice": lambda torch: (torch.tensor([0, 2]), slice(1, 3)),
    "slice and tensor": lambda torch: (slice(None, 2), torch.tensor([0, 2, 3])),
    "last tensor": lambda torch: (Ellipsis, torch.tensor([0, 2])),
    "int and tensor": lambda torch: (0, torch.tensor([0, 2])),
    "int, all, tensor": lambda torch: (0, slice(None), torch.tensor([0, 2])),
    "tensor, int": lambda torch: (torch.tensor([0, 2]), 1),
    "tensor, all, int": lambda torch: (torch.tensor([0, 2]), slice(None), 1),
    "tensor, int, tensor": lambda torch: (torch.tensor([0, 2]), 1, torch.tensor([1, 4])),
    "tensor, none, tensor": lambda torch: (torch.tensor([0, 2]), None, torch.tensor([1, 3])),
    "none, tensor": lambda torch: (None, torch.tensor([0, 2])),
    "list": lambda torch: [0, 2],
    "list in tuple": lambda torch: ([0, 2], slice(None), [1, 4]),
    "list of bools": lambda torch: [True, False, True],
    "nested list": lambda torch: ([[0, 1], [2, 0]],),
    "empty list": lambda torch: [],
    "range": lambda torch: range(2),
    "tuple in tuple": lambda torch: ((0, 2),),
    "array": lambda torch: np.array([0, 2]),
    "array mask": lambda torch: np.array([True, False, True]),
    "array in tuple": lambda torch: (slice(None), np.array([0, 3])),
    "mask": lambda torch: mask(torch, (3, 4, 5)),
    "mask of rows": lambda torch: torch.tensor([True, False, True]),
    "mask of two axes": lambda torch: mask(torch, (3, 4)),
    "mask after slice": lambda torch: (slice(None), mask(torch, (4,))),
    "mask and int": lambda torch: (mask(torch, (3,)), 1),
    "mask and tensor": lambda torch: (torch.tensor([True, False, True]), torch.tensor([1, 2])),
    "mask of nothing": lambda torch: torch.zeros(3, dtype=torch.bool),
    "bytes": lambda torch: torch.tensor([1, 0, 1], dtype=torch.uint8),
    "True": lambda torch: True,
    "False": lambda torch: False,
    "0-d mask": lambda torch: torch.tensor(True),
    "True in tuple": lambda torch: (True, 1),
}


@pytest.mark.parametrize("name", KEYS)
def test_reading(name: str) -> None:
    if name == "False":
        pytest.skip("of no elements of a tensor with another axis there is no second derivative")

    def program(torch: Any) -> Any:
        x = data(torch, (3, 4, 5)).requires_grad_()
        part = x[KEYS[name](torch)]
        label = part.grad_fn.name().rpartition(":")[2]
        weights = torch.cos(torch.arange(1, part.numel() + 1).double()).reshape(part.shape)
        (first,) = torch.autograd.grad((part**3 * weights).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((first**2).sum(), x)
        return part, label, first, second, part._base is None, part.is_contiguous()

    compare(program)


@pytest.mark.parametrize("name", KEYS)
def test_writing_a_number(name: str) -> None:
    def program(torch: Any) -> Any:
        w = data(torch, (3, 4, 5)).requires_grad_()
        x = w * 2
        x[KEYS[name](torch)] = 1.5
        (x * x).sum().backward()
        return x, w.grad, x._version

    compare(program)


@pytest.mark.parametrize("name", KEYS)
def test_writing_a_tensor(name: str) -> None:
    if name == "tensor repeated":
        pytest.skip("of values for one place, which one stays is not said")

    def program(torch: Any) -> Any:
        w = data(torch, (3, 4, 5)).requires_grad_()
        x, key = w * 2, KEYS[name](torch)
        x[key] = w[key].detach() * w[0, 0, 0]
        (first,) = torch.autograd.grad((x**3).sum(), w, create_graph=True)
        (second,) = torch.autograd.grad((first**2).sum(), w)
        label = x.grad_fn.name().rpartition(":")[2]
        return x, first, second, None if name == "slice beyond" else label

    compare(program)


@pytest.mark.parametrize("name", KEYS)
def test_changing(name: str) -> None:
    def program(torch: Any) -> Any:
        w = data(torch, (3, 4, 5)).requires_grad_()
        x, key = w * 2, KEYS[name](torch)
        view = x[1]
        x[key] *= 3
        x[key] += w[0, 0, 0]
        ((x * x).sum() + view.sum()).backward()
        return x, view, w.grad

    compare(program)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("kind", ["int64", "bool", "float32", "complex64"])
def test_dtypes(name: str, kind: str) -> None:
    def program(torch: Any) -> Any:
        x, key = data(torch, (3, 4, 5), getattr(torch, kind)), KEYS[name](torch)
        found = x[key]
        x[key] = 1
        return found, x

    compare(program)


def _loop(torch: Any) -> Any:
    x = data(torch, (5, 3)).requires_grad_()
    out = torch.zeros(5, 3, dtype=torch.float64)
    for i in range(5):
        out[i] = x[i].sin() * (out[i - 1] if i else 1.0)
    (first,) = torch.autograd.grad((out**2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), x)
    return out, first, second, out._version


def _masked_update(torch: Any) -> Any:
    x = data(torch, (3, 4)).requires_grad_()
    y = x.clone()
    y[y < 0] = 0
    y[:, 0] *= 2
    y[y > 1] -= x.detach()[y > 1]
    y[1:, 2:] = y[:2, :2].clone() ** 2
    (first,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return y, first, second


def _makes_base_require(torch: Any) -> Any:
    base = torch.zeros(4, dtype=torch.float64)
    one, other = base[:2], base.view(2, 2)
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    before = [t.requires_grad for t in (base, one, other)]
    one.mul_(w).add_(w)
    after = [(t.requires_grad, t.is_leaf) for t in (base, one, other)]
    (other.sum() * 2 + base.sum() + (one * one).sum()).backward()
    return before, after, base, other, w.grad


def _no_grad_writes(torch: Any) -> Any:
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = w * 2
    with torch.no_grad():
        x[0] = 5.0
        x += 1
        w[1] = 7.0
    x.sum().backward()
    return x, w, w.grad, x._version, w._version


def _shared_histories(torch: Any) -> Any:
    w = data(torch, (2, 3)).requires_grad_()
    x = w * 2
    before = x + 0
    row = x[0]
    used = (row * 3).sum()
    row += w[1]
    after = x * 1
    x[1] = row
    loss = used + (before**2).sum() + (after**2).sum() + (x**2).sum()
    loss.backward()
    return x, row, w.grad


def _dtypes_of_writes(torch: Any) -> Any:
    x = torch.zeros(3)
    x[0] = 2
    x[1] = True
    x[2] = np.float64(0.5)
    y = torch.zeros(3, dtype=torch.int64)
    y[0] = 2.7
    y[1:] = torch.tensor([1.9, -1.9])
    z = torch.zeros(2, dtype=torch.bool)
    z[0] = 3
    c = torch.zeros(2, dtype=torch.complex64)
    c[0] = 1 + 2j
    c[1] = 3.0
    return x, y, z, c


def _one_by_one(torch: Any) -> Any:
    w = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    x = torch.empty(2, 2, dtype=torch.float64)
    for i in range(2):
        for j in range(2):
            x[i, j] = w[i, j] * (i + 2 * j + 1)
    x.prod().backward()
    return x, w.grad


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "loop": _loop,
    "masked update": _masked_update,
    "makes base require": _makes_base_require,
    "no_grad writes": _no_grad_writes,
    "shared histories": _shared_histories,
    "dtypes of writes": _dtypes_of_writes,
    "one by one": _one_by_one,
    "index_add bools": lambda torch: torch.zeros(3, dtype=torch.bool).index_put_(
        (torch.tensor([0]),), torch.tensor(True)
    ),
    "0-d write": lambda torch: torch.tensor(1.0).fill_(3),
    "0-d ellipsis": lambda torch: _written_0d(torch),
    "value with more axes": lambda torch: _more_axes(torch),
    "copy_ complex to real": lambda torch: torch.zeros(2).copy_(torch.tensor([1 + 2j, 3.0])),
    "fill complex": lambda torch: torch.zeros(2, dtype=torch.complex64).fill_(1 + 2j),
    "view of element": lambda torch: _element(torch),
}


def _written_0d(torch: Any) -> Any:
    x = torch.tensor(1.0)
    x[...] = 4
    x[()] += 1
    return x


def _more_axes(torch: Any) -> Any:
    x = torch.zeros(2, 3)
    x[0] = torch.ones(1, 1, 3)
    x[torch.tensor([1])] = torch.ones(1, 1, 1, 3)
    return x


def _element(torch: Any) -> Any:
    x = torch.zeros(2, 3)
    x[0, 1].add_(5)
    x[1][2] = 7
    for row in x:
        row += 1
    return x


BAD: dict[str, Callable[[Any], Any]] = {
    "range": lambda torch: torch.ones(3)[3],
    "range negative": lambda torch: torch.ones(3)[-4],
    "many": lambda torch: torch.ones(3)[0, 0],
    "0-d": lambda torch: torch.tensor(1.0)[0],
    "step": lambda torch: torch.ones(3)[::-1],
    "step 0": lambda torch: torch.ones(3)[::0],
    "float": lambda torch: torch.ones(3)[1.0],
    "str": lambda torch: torch.ones(3)["a"],
    "float tensor": lambda torch: torch.ones(3)[torch.ones(2)],
    "int16 tensor": lambda torch: torch.ones(3)[torch.ones(2, dtype=torch.int16)],
    "mask shape": lambda torch: torch.ones(3)[torch.tensor([True, False])],
    "tensor range": lambda torch: torch.ones(3)[torch.tensor([3])],
    "tensors": lambda torch: torch.ones(3, 3)[torch.tensor([0, 1]), torch.tensor([0, 1, 2])],
    "set range": lambda torch: torch.ones(3).__setitem__(3, 0.0),
    "set shape": lambda torch: torch.ones(3).__setitem__(slice(2), torch.ones(3)),
    "set shape index": lambda torch: torch.ones(3).__setitem__([0, 1], torch.ones(3)),
    "set list": lambda torch: torch.ones(3).__setitem__(0, [1.0]),
    "set array": lambda torch: torch.ones(3).__setitem__(slice(2), np.ones(2)),
    "set dtype index": lambda torch: torch.ones(3).__setitem__(
        torch.tensor([0]), torch.ones(1, dtype=torch.float64)
    ),
    "set complex": lambda torch: torch.ones(3).__setitem__(0, 1 + 2j),
    "set leaf": lambda torch: torch.ones(3, requires_grad=True).__setitem__(0, 1.0),
    "set leaf index": lambda torch: torch.ones(3, requires_grad=True).__setitem__([0], 1.0),
    "view of leaf": lambda torch: torch.ones(3, requires_grad=True)[:2].mul_(2),
    "leaf": lambda torch: torch.ones(3, requires_grad=True).mul_(2),
    "expanded": lambda torch: torch.ones(1).expand(3).add_(torch.ones(3)),
    "split view": lambda torch: (torch.ones(4, requires_grad=True) * 1).split(2)[0].mul_(2),
    "unbound row": lambda torch: next(iter(torch.ones(2, 2, requires_grad=True) * 1)).mul_(2),
    "dtype": lambda torch: torch.ones(3, dtype=torch.int64).mul_(1.5),
    "shape": lambda torch: torch.ones(3).add_(torch.ones(2, 3)),
    "overlap": lambda torch: (lambda x: x[1:].copy_(x[:2]))(torch.ones(3)),
    "copy_ shape": lambda torch: torch.ones(3).copy_(torch.ones(2)),
    "copy_ number": lambda torch: torch.ones(3).copy_(1.0),
    "fill_ tensor": lambda torch: torch.ones(3).fill_(torch.ones(3)),
    "fill_diagonal_": lambda torch: torch.ones(3).fill_diagonal_(1.0),
    "index_put list": lambda torch: torch.ones(3).index_put(torch.tensor([0]), torch.tensor(1.0)),
    "written after saving": lambda torch: _written_after(torch, lambda x: x.add_(1)),
    "written part after saving": lambda torch: _written_after(
        torch, lambda x: x.__setitem__(0, 1.0)
    ),
    "detached written after saving": lambda torch: _written_after(
        torch, lambda x: x.detach().add_(1)
    ),
    "no_grad written after saving": lambda torch: _written_after(torch, _add_quietly(torch)),
    "data written after saving": lambda torch: _written_after(torch, lambda x: x.data.add_(1)),
}


def _add_quietly(torch: Any) -> Callable[[Any], Any]:
    def change(x: Any) -> None:
        with torch.no_grad():
            x.add_(1)

    return change


def _written_after(torch: Any, change: Callable[[Any], Any]) -> Any:
    w = torch.ones(3, requires_grad=True)
    x = w * 2
    y = x * x
    change(x)
    y.sum().backward()
    return w.grad


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    compare(BAD[name])
