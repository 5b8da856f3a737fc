"""Tensors of inference mode and dual numbers: what may be done with them, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.autograd.tensors import two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

Case = Callable[[Any], Any]


def inference(torch: Any, *size: int) -> Any:
    with torch.inference_mode():
        return torch.ones(*(size or (2,)), dtype=torch.float64)


def inside(torch: Any, function: Callable[[], Any]) -> Any:
    with torch.inference_mode():
        return function()


def saving(torch: Any) -> Any:
    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, c):  # type: ignore[no-untyped-def]
            ctx.save_for_backward(c)
            return x * 1

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            return g, None

    return Saves


def written_inside(torch: Any, x: Any, write: Callable[[Any], Any]) -> Any:
    inside(torch, lambda: write(x))
    return x, x.requires_grad, x.is_inference()


def with_data(torch: Any, value: Any) -> Any:
    x = torch.zeros(2, dtype=torch.float64)
    x.data = value
    return x, x.is_inference()


def with_grad(torch: Any, value: Any) -> Any:
    x = two(torch)
    x.grad = value
    (x * 2).sum().backward()


def stored(torch: Any, out: Any) -> Any:
    found = torch.add(torch.ones(2, dtype=torch.float64), 1, out=out)
    return found, found is out, out.is_inference()


def swept_inside(torch: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    inside(torch, y.backward)
    return x.grad, x.grad.is_inference()


INFERENCE: dict[str, Case] = {
    "sum": lambda torch: (inference(torch) + 1).is_inference(),
    "product_with_leaf": lambda torch: inference(torch) * two(torch),
    "sum_with_leaf": lambda torch: (inference(torch) + two(torch)).requires_grad,
    "saved": lambda torch: saving(torch).apply(two(torch), inference(torch)),
    "written": lambda torch: inference(torch).add_(1),
    "view_written": lambda torch: inference(torch)[:1].add_(1),
    "is_view": lambda torch: inference(torch)[:1]._is_view(),
    "is_view_of_normal": lambda torch: inside(torch, lambda: two(torch)[:1]._is_view()),
    "element_written": lambda torch: inference(torch).__setitem__(0, 5),
    "element_written_inside": lambda torch: written_inside(
        torch, inference(torch), lambda x: x.__setitem__(0, 5)
    ),
    "written_inside": lambda torch: written_inside(torch, inference(torch), lambda x: x.add_(1)),
    "normal_written_inside": lambda torch: written_inside(
        torch, torch.ones(2), lambda x: x.add_(1)
    ),
    "leaf_written_inside": lambda torch: written_inside(torch, two(torch), lambda x: x.add_(1)),
    "computed_written_inside": lambda torch: written_inside(
        torch, two(torch) * 1, lambda x: x.add_(1)
    ),
    "out": lambda torch: stored(torch, inference(torch)),
    "out_inside": lambda torch: inside(torch, lambda: stored(torch, inference(torch))),
    "out_of_normal_inside": lambda torch: inside(
        torch, lambda: stored(torch, torch.ones(2, dtype=torch.float64))
    ),
    "requires_grad": lambda torch: inference(torch).requires_grad_(),
    "requires_grad_inside": lambda torch: inside(torch, two(torch).detach().requires_grad_),
    "version": lambda torch: inference(torch)._version,
    "clone": lambda torch: inference(torch).clone().is_inference(),
    "detach": lambda torch: inference(torch).detach().is_inference(),
    "deepcopy": lambda torch: copy.deepcopy(inference(torch)).is_inference(),
    "other_dtype": lambda torch: inference(torch).to(torch.float32).is_inference(),
    "same_dtype": lambda torch: inference(torch).to(torch.float64).is_inference(),
    "copied": lambda torch: torch.zeros(2, dtype=torch.float64).copy_(inference(torch)),
    "copied_to_computed": lambda torch: (two(torch) * 1).copy_(inference(torch)).requires_grad,
    "data": lambda torch: with_data(torch, inference(torch)),
    "grad": lambda torch: with_grad(torch, inference(torch)),
    "parameter": lambda torch: torch.nn.Parameter(inference(torch)),
    "parameter_inside": lambda torch: inside(
        torch, lambda: torch.nn.Parameter(torch.ones(2))
    ).is_inference(),
    "swept_inside": swept_inside,
}


@pytest.mark.parametrize("name", INFERENCE)
def test_inference_mode(name: str) -> None:
    compare(INFERENCE[name])


@pytest.mark.parametrize("view", ["view", "unbind"])
@pytest.mark.parametrize("kind", ["normal", "computed"])
def test_views_taken_inside(view: str, kind: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.ones(2, 2) if kind == "normal" else torch.ones(2, 2, requires_grad=True) * 1
        v = inside(torch, (lambda: x.view(4)) if view == "view" else (lambda: x.unbind()[0]))
        known = v.requires_grad, v.is_inference(), v._is_view()
        v.add_(1)
        return known, x

    compare(program)


def test_a_write_inside_to_what_a_node_has_saved() -> None:
    def program(torch: Any) -> Any:
        y = two(torch).exp()
        inside(torch, lambda: y.add_(1))
        y.sum().backward()

    compare(program)


# -- out= ------------------------------------------------------------------------------------------


def quietly(torch: Any, function: Callable[[], Any]) -> Any:
    with torch.no_grad():
        return function()


OUT: dict[str, Case] = {
    "argument_requires": lambda torch: torch.add(two(torch), 1, out=torch.ones(2).double()),
    "out_requires": lambda torch: stored(torch, two(torch)),
    "argument_under_no_grad": lambda torch: quietly(
        torch, lambda: torch.add(two(torch), 1, out=torch.ones(2).double())
    ),
    "out_under_no_grad": lambda torch: quietly(torch, lambda: stored(torch, two(torch))),
}


@pytest.mark.parametrize("name", OUT)
def test_out(name: str) -> None:
    compare(OUT[name])


# -- dual numbers ----------------------------------------------------------------------------------


def dual(torch: Any, **options: Any) -> Any:
    return torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2), **options)


def made(torch: Any, tensor: Any, tangent: Any) -> Any:
    return torch.autograd.forward_ad.make_dual(tensor, tangent)


def tangent(torch: Any, tensor: Any, **options: Any) -> Any:
    return torch.autograd.forward_ad.unpack_dual(tensor, **options).tangent


def written_view(torch: Any) -> Any:
    base = torch.ones(2)
    base[:1].mul_(dual(torch)[:1])
    return tangent(torch, base)


DUAL: dict[str, Case] = {
    "out": lambda torch: torch.add(dual(torch), 1, out=torch.empty(2)),
    "out_is_dual": lambda torch: torch.add(torch.ones(2), 1, out=dual(torch)),
    "dual_tangent": lambda torch: made(torch, torch.ones(2), dual(torch)),
    "dual_twice": lambda torch: made(torch, dual(torch), torch.ones(2)),
    "level": lambda torch: tangent(torch, dual(torch, level=0), level=0),
    "no_such_level": lambda torch: dual(torch, level=3),
    "unpacked_at_no_such_level": lambda torch: tangent(torch, dual(torch), level=3),
    "not_dual": lambda torch: tangent(torch, torch.ones(2), level=3),
    "shape": lambda torch: made(torch, torch.ones(2), torch.ones(3)),
    "dtype": lambda torch: made(torch, torch.ones(2), torch.ones(2).double()).dtype,
    "integers": lambda torch: made(torch, torch.ones(2).long(), torch.ones(2).long()),
    "integer_tangent": lambda torch: made(torch, torch.ones(2), torch.ones(2).long()),
    "written": lambda torch: tangent(torch, dual(torch).mul_(3)),
    "written_to_another": lambda torch: tangent(torch, torch.ones(2).mul_(dual(torch))),
    "written_to_a_view": written_view,
    "of_inference": lambda torch: made(torch, inference(torch), inference(torch)).shape,
    "requires_grad": lambda torch: (made(torch, two(torch), two(torch).detach()) * 2).requires_grad,
    "detached": lambda torch: tangent(torch, dual(torch).detach()),
    "under_no_grad": lambda torch: quietly(torch, lambda: tangent(torch, dual(torch) * 2)),
    "nested": lambda torch: torch.autograd.forward_ad.dual_level().__enter__(),
}


@pytest.mark.parametrize("name", DUAL)
def test_dual_numbers(name: str) -> None:
    def program(torch: Any) -> Any:
        with torch.autograd.forward_ad.dual_level():
            return DUAL[name](torch)

    compare(program)


NO_LEVEL: dict[str, Case] = {
    "make": dual,
    "exit": lambda torch: torch.autograd.forward_ad.exit_dual_level(),
    "unpack": lambda torch: tangent(torch, torch.ones(2)),
}


@pytest.mark.parametrize("name", NO_LEVEL)
def test_where_no_level_is_open(name: str) -> None:
    compare(NO_LEVEL[name])


# -- words -----------------------------------------------------------------------------------------


def swept_twice(torch: Any) -> None:
    y = two(torch).exp().sum()
    y.backward()
    y.backward()


def written_after(torch: Any) -> None:
    y = two(torch).exp()
    z = y.exp()
    y.add_(1)
    z.sum().backward()


WORDS: dict[str, tuple[str, Case]] = {
    "saved": ("inference tensor", INFERENCE["product_with_leaf"]),
    "written": ("inference tensor", INFERENCE["written"]),
    "out": ("inference tensor", INFERENCE["out"]),
    "leaf": ("inference tensor", INFERENCE["requires_grad"]),
    "parameter": ("inference tensor", INFERENCE["parameter"]),
    "no_leaf": ("does not require grad", lambda torch: torch.ones(2).sum().backward()),
    "twice": ("a second time", swept_twice),
    "overwritten": ("modified in place", written_after),
}


@pytest.mark.parametrize("name", WORDS)
def test_messages_have_the_words_that_people_look_for(name: str) -> None:
    import wengert.torch as ours

    words, case = WORDS[name]
    with pytest.raises(RuntimeError, match=words):
        case(ours)
