"""Which hooks run, and in which order: a table of what is asked for by what is hooked."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

#: What gradients are asked of, beside all leaves.
CHOSEN = ["x", "w", "y", "z", "u", "xz", "yz", "xw", "ux", "zu", "xyzuw"]
ASKED: dict[str, Callable[[Any, Any, list[Any]], Any]] = {
    "backward": lambda torch, loss, inputs: loss.backward(inputs=inputs),
    "backward_create": lambda torch, loss, inputs: loss.backward(inputs=inputs, create_graph=True),
    "grad": lambda torch, loss, inputs: torch.autograd.grad(loss, inputs),
    "grad_create": lambda torch, loss, inputs: torch.autograd.grad(loss, inputs, create_graph=True),
}


def hooked(torch: Any, retained: str) -> tuple[dict[str, Any], list[str]]:
    """Return the tensors of a program, with every kind of hook, and where they log their calls."""
    seen: list[str] = []
    x, w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    x.requires_grad_(), w.requires_grad_()
    y = x * w
    z = y.sin()
    tensors = {"x": x, "w": w, "y": y, "z": z, "u": z * 2}

    def logs(text: str) -> Callable[..., None]:
        return lambda *_: seen.append(text)

    for name, tensor in tensors.items():
        tensor.register_hook(logs(f"{name} first"))
        if name in retained:
            tensor.retain_grad()
        tensor.register_hook(logs(f"{name} second"))
        if tensor.grad_fn is None:
            tensor.register_post_accumulate_grad_hook(logs(f"{name} accumulated"))
        else:
            tensor.grad_fn.register_prehook(logs(f"{name} before its node"))
            tensor.grad_fn.register_hook(logs(f"{name} after its node"))
    accumulates = y.grad_fn.next_functions[0][0]
    accumulates.register_prehook(logs("before x accumulates"))
    accumulates.register_hook(logs("after x accumulates"))
    return tensors, seen


def grads_of(tensors: dict[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: t.grad for name, t in tensors.items()}


@pytest.mark.parametrize("retained", ["", "yz"])
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("how", ASKED)
def test_of_some_tensors(how: str, chosen: str, retained: str) -> None:
    def program(torch: Any) -> Any:
        tensors, seen = hooked(torch, retained)
        loss = tensors["u"].sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's, about create_graph
            found = ASKED[how](torch, loss, [tensors[name] for name in chosen])
        return seen, found, grads_of(tensors)

    compare(program)


@pytest.mark.parametrize("retained", ["", "yz", "u"])
def test_of_all_leaves(retained: str) -> None:
    def program(torch: Any) -> Any:
        tensors, seen = hooked(torch, retained)
        tensors["u"].sum().backward()
        return seen, grads_of(tensors)

    compare(program)


def functions(torch: Any, seen: list[str]) -> dict[str, Any]:
    """Return tensors that functions of the program made, whose backwards log their calls."""

    class One(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, name):  # type: ignore[no-untyped-def]
            ctx.name = name
            return x * 2

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            seen.append(ctx.name)
            return g * 2, None

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):  # type: ignore[no-untyped-def]
            seen.append("two")
            return g * 2 + h * 3

    x = torch.ones(2, requires_grad=True)
    y = One.apply(x, "y")
    z = One.apply(y, "z")
    a, b = Two.apply(z)
    return {"x": x, "y": y, "z": z, "a": a, "b": b}


@pytest.mark.parametrize("chosen", ["x", "y", "z", "a", "ab", "xz", "za", "b"])
@pytest.mark.parametrize("how", ASKED)
def test_which_functions_run(how: str, chosen: str) -> None:
    def program(torch: Any) -> Any:
        seen: list[str] = []
        tensors = functions(torch, seen)
        loss = (tensors["a"] * tensors["b"]).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ASKED[how](torch, loss, [tensors[name] for name in chosen])
        return seen, found, grads_of(tensors)

    compare(program)


def test_hooks_registered_and_removed_by_hooks() -> None:
    def program(torch: Any) -> Any:
        x, seen = torch.ones(2, requires_grad=True), []
        y = x * 2

        def first(g: Any) -> None:
            seen.append("first")
            handle.remove()
            y.register_hook(lambda g: seen.append("later"))

        handle = y.register_hook(first)
        y.register_hook(lambda g: seen.append("second"))
        for _ in range(3):
            y.sum().backward(retain_graph=True)
        return seen, x.grad

    compare(program)


@pytest.mark.parametrize("view", ["squeeze", "unbind"])
def test_a_hook_on_a_view_that_becomes_a_leaf(view: str) -> None:
    def program(torch: Any) -> Any:
        base, seen = torch.ones(2, 2, requires_grad=True), []
        with torch.no_grad():
            v = base.squeeze() if view == "squeeze" else base.unbind()[0]
        v.register_hook(seen.append)
        v.register_hook(lambda g: g * -0.5)
        (v * v).sum().backward()  # which no gradient comes to the view by
        before = list(seen)
        if view == "squeeze":
            v.requires_grad_()
            (v * v).sum().backward()
        return before, seen, v.grad, base.grad

    compare(program)


@pytest.mark.parametrize("of", ["grad", "vjp", "func_grad"])
def test_a_derivative_is_an_operation_of_its_own(of: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.tensor([0.5, 1.5], requires_grad=True)
        y = x * 1
        if of == "grad":
            (g,) = torch.autograd.grad(y.sin().sum(), y, create_graph=True)
        elif of == "vjp":
            (g,) = torch.func.vjp(lambda z: z.sin(), y)[1](y)
        else:
            g = torch.func.grad(lambda z: z.sin().sum())(y)
        copy = g.clone()
        copy.sum().backward()
        (copy * y).sum().backward(inputs=[copy], retain_graph=True)
        return copy.grad, copy.grad_fn.next_functions[0][0] is g.grad_fn

    compare(program)
