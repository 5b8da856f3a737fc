"""Errors that say what the program did: what cut a path, what was freed, what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch

x = torch.ones(2, requires_grad=True)


def detached() -> None:
    y = x.detach() * 2
    z = y.sum()
    z.backward()


def detached_and_bound_anew() -> None:
    y = x * 1
    y = y.detach()
    y.sum().backward()


def under_no_grad() -> None:
    with torch.no_grad():
        y = x * 2
    (y**2).sum().backward()


def compared() -> None:
    (x > 0).float().sum().backward()


def the_place_of_the_largest() -> None:
    most = x.argmax()
    most.float().backward()


def through_data() -> None:
    loss = x.data.pow(2).sum()
    loss.backward()


def of_a_number() -> None:
    total = sum(v.item() for v in x)
    torch.tensor(total).backward()


def chosen_among_tensors() -> None:
    index = x.argmax() if x.ndim > 0 else x
    torch.autograd.grad(index.float(), x)


class Paused(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    @torch.no_grad()
    def forward(self, x: Any) -> Any:
        return self.weight * x


def in_a_module() -> None:
    model = Paused()
    model(x).sum().backward()


def helper(x: Any) -> Any:
    h = x.tanh()
    out = h.detach()
    return out * 2


def in_a_function() -> None:
    helper(x).sum().backward()


@pytest.mark.parametrize(
    ("program", "cut", "line"),
    [
        (detached, "detach()", 1),
        (detached_and_bound_anew, "detach()", 2),
        (under_no_grad, "no_grad()", 1),
        (compared, "a comparison", 1),
        (the_place_of_the_largest, "argmax()", 1),
        (through_data, ".data", 1),
        (of_a_number, "item()", 1),
        (chosen_among_tensors, "argmax()", 1),
    ],
)
def test_what_cut_the_path(program: Callable[[], None], cut: str, line: int) -> None:
    with pytest.raises(RuntimeError) as caught:
        program()
    where = f"{__file__}:{program.__code__.co_firstlineno + line}"
    assert f"; {cut} at {where} cut the path" in str(caught.value)


def test_what_cut_the_path_in_a_module() -> None:
    with pytest.raises(RuntimeError, match=r"no_grad\(\) at .* cut the path"):
        in_a_module()


def test_what_cut_the_path_in_a_function() -> None:
    with pytest.raises(RuntimeError, match=r"detach\(\) at .* cut the path"):
        in_a_function()


def test_there_was_no_path() -> None:
    def never() -> None:
        y = torch.ones(2)
        y.sum().backward()

    with pytest.raises(RuntimeError, match="does not require grad: .* none of which"):
        never()
    with pytest.raises(RuntimeError, match="does not require grad"):  # of a program without text
        exec("torch.ones(()).backward()", {"torch": torch})


def test_the_second_backward_names_the_first() -> None:
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"MulBackward0 of .*py:\d+ .*second time.*py:\d+"):
        y.backward()


def test_shapes_that_do_not_fit_are_both_named() -> None:
    with pytest.raises(RuntimeError, match=r"3.*4"):
        torch.ones(3) + torch.ones(4)
    with pytest.raises(RuntimeError, match=r"2x3 and 4x5"):
        torch.ones(2, 3) @ torch.ones(4, 5)


def test_what_was_not_chosen_meets_infinite_derivatives_as_a_number() -> None:
    y = torch.tensor([0.0, 1.0], requires_grad=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        torch.where(y > 0, y.log(), torch.zeros(2)).sum().backward()
    assert y.grad.isnan().tolist() == [True, False]


def test_the_tangent_of_a_dual_is_the_one_given() -> None:
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        tangent = torch.ones(2)
        dual = forward.make_dual(torch.zeros(2), tangent)
        assert forward.unpack_dual(dual).tangent is tangent
        assert repr(dual) == "tensor([0., 0.], tangent=tensor([1., 1.]))"


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return torch.from_numpy(2 * x.numpy())

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Doubled.apply(x), in_dims[0]


def test_gradients_inside_vmap_of_a_function_with_a_rule_for_it() -> None:
    found = torch.vmap(torch.func.grad(lambda v: (Doubled.apply(v) ** 2).sum()))(torch.eye(2))
    assert found.tolist() == [[8.0, 0.0], [0.0, 8.0]]
