"""Tensors that change: views, versions and derivatives through writes, known by hand."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch


def _weights(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_a_write_through_a_view_shows_in_the_base() -> None:
    w = _weights(1.0, 2.0, 3.0)
    x = w * 2
    part = x[1:]
    part.mul_(10.0)
    x.sum().backward()
    assert x.tolist() == [2.0, 40.0, 60.0]
    assert w.grad.tolist() == [2.0, 20.0, 20.0]


def test_a_write_to_the_base_shows_in_its_views() -> None:
    w = _weights(1.0, 2.0)
    x = torch.zeros(2, 2, dtype=torch.float64)
    column = x.t()[0]
    x[1] = w
    assert column.requires_grad
    (column * 3).sum().backward()
    assert column.tolist() == [0.0, 1.0]
    assert w.grad.tolist() == [3.0, 0.0]


def test_views_of_views_and_second_order() -> None:
    w = _weights(1.0, 2.0, 3.0, 4.0)
    x = (w * 1).view(2, 2)
    x.t()[0].mul_(w[1])  # elements 0 and 2
    (first,) = torch.autograd.grad((x**2).sum(), w, create_graph=True)
    # (w0 w1)^2 + w1^2 + (w2 w1)^2 + w3^2
    assert first.tolist() == [8.0, 44.0, 24.0, 8.0]
    (second,) = torch.autograd.grad(first[1], w)
    assert second.tolist() == [8.0, 22.0, 24.0, 0.0]


def test_what_a_rule_reads_must_not_be_overwritten() -> None:
    w = _weights(1.0, 2.0)
    x = w * 2
    y = x * x
    x[0] = 5.0
    with pytest.raises(RuntimeError, match=r"modified in place.*test_memory"):
        y.sum().backward()


def test_detached_memory_is_shared_and_counted_and_data_is_not() -> None:
    x = torch.zeros(3)
    x.detach()[0] = 1.0
    assert x.tolist() == [1.0, 0.0, 0.0]
    assert x._version == 1
    x.data[1] = 2.0
    assert x.tolist() == [1.0, 2.0, 0.0]
    assert x._version == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda w: w.mul_(2), "a leaf that requires grad"),
        (lambda w: w[:1].mul_(2), "a view of a leaf"),
        (lambda w: (w * 1).split(1)[0].mul_(2), "several views"),
        (lambda w: (w * 1)[:1].expand(3).add_(torch.ones(3)), "several elements"),
    ],
)
def test_writes_that_are_refused(make: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        make(_weights(1.0, 2.0))


def test_writes_without_grad_leave_the_history_alone() -> None:
    w = _weights(1.0, 2.0)
    x = w * 3
    with torch.no_grad():
        x.zero_()
        w[0] = 7.0
    x.sum().backward()
    assert x.tolist() == [0.0, 0.0]
    assert w.tolist() == [7.0, 2.0]
    assert w.grad.tolist() == [3.0, 3.0]


def test_shapes_change_in_place_and_views_follow() -> None:
    w = _weights(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    x = w.reshape(2, 3) * 1
    row = x[1]
    x.t_()
    x.mul_(2.0)
    row.add_(1.0)
    assert x.tolist() == [[2.0, 9.0], [4.0, 11.0], [6.0, 13.0]]
    (x.sum() + row.sum()).backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0, 4.0, 4.0, 4.0]


def test_keys_and_masks() -> None:
    w = _weights(1.0, -2.0, 3.0, -4.0)
    x = w.clone()
    x[x < 0] = 0.0
    x[torch.tensor([0, 3])] += 5.0
    x[1:3] *= 2
    x.sum().backward()
    assert x.tolist() == [6.0, 0.0, 6.0, 5.0]
    assert w.grad.tolist() == [1.0, 0.0, 2.0, 0.0]
    with pytest.raises(ValueError, match="step of 0 or less"):
        x[::-1]
    with pytest.raises(IndexError, match="no index 4"):
        x[4]


def test_integers_come_before_index_tensors() -> None:
    x = torch.arange(24).reshape(2, 3, 4)
    assert tuple(x[0, :, torch.tensor([1, 3])].shape) == (3, 2)  # where NumPy has (2, 3)
    assert tuple(x[torch.tensor([0, 1]), :, torch.tensor([1, 3])].shape) == (2, 3)


def test_writes_of_examples() -> None:
    def function(x: Any) -> Any:
        y = x.clone()
        y[0] = x[1] * x[1]
        y[1:].add_(x[0])
        return y

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.func.vmap(function)(x).tolist() == [[4.0, 3.0], [16.0, 7.0]]
    gradient = torch.func.vmap(torch.func.grad(lambda x: function(x).sum()))
    assert gradient(x).tolist() == [[1.0, 5.0], [1.0, 9.0]]
    jacobian = torch.func.jacrev(function)(x[0])
    assert jacobian.tolist() == [[0.0, 4.0], [1.0, 1.0]]


def test_derivatives_ahead_of_writes() -> None:
    def function(x: Any) -> Any:
        y = x * 1
        y[0] = x[1] * x[1]
        y[1:].mul_(3.0)
        return y

    x = torch.tensor([1.0, 2.0])
    value, tangent = torch.func.jvp(function, (x,), (torch.tensor([1.0, 10.0]),))
    assert value.tolist() == [4.0, 6.0]
    assert tangent.tolist() == [40.0, 30.0]


def _seconds(rows: int) -> float:
    x = torch.ones(rows, 500, requires_grad=True)
    start = time.thread_time()
    out = torch.zeros(rows, 500)
    for i in range(rows):
        out[i] = x[i] * 2 if not i else out[i - 1] * 0.5 + x[i]
    out.sum().backward()
    return time.thread_time() - start


def test_writing_rows_is_linear_in_their_number() -> None:
    few, many = (min(_seconds(n) for _ in range(3)) for n in (100, 800))
    assert many < 24 * few  # 8 if it were exactly so; a copy of all for each row makes it 64


def test_many_live_views() -> None:
    x = torch.ones(400, 3, requires_grad=True) * 1
    start = time.perf_counter()
    for row in [x[i] for i in range(400)]:
        row.mul_(2.0)
    x.sum().backward()
    assert time.perf_counter() - start < 2.0
    assert np.all(x.detach().numpy() == 2.0)


def test_the_tangent_of_a_place_named_twice_is_that_of_the_last_value() -> None:
    def write(x: Any, v: Any) -> Any:
        y = x.clone()
        y[torch.tensor([0, 0])] = v
        return y, x.index_put((torch.tensor([0, 0]),), v)

    x, v = torch.zeros(2), torch.tensor([3.0, 4.0])
    _, tangents = torch.func.jvp(write, (x, v), (x + 1, 10 * v))
    assert [t.tolist() for t in tangents] == [[40.0, 1.0], [40.0, 1.0]]


def test_a_result_may_be_written_to_where_pytorch_keeps_operands() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x / torch.tensor([2.0, 4.0], requires_grad=True)
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [1.5, 0.75]


def test_a_retained_gradient_is_a_new_tensor_each_time() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.sum().backward()
    assert first.tolist() == [1.0, 1.0]
    assert y.grad.tolist() == [2.0, 2.0]
