"""What nodes and contexts have saved: the program's own tensors, not copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

#: Each returns the node, and for each name the tensor it should be; x is a leaf, y = x.exp().
SAVED: dict[str, Callable[[Any, Any, Any], tuple[Any, dict[str, Any]]]] = {
    "product": lambda torch, x, y: ((y * x).grad_fn, {"self": y, "other": x}),
    "square": lambda torch, x, y: ((y * y).grad_fn, {"self": y, "other": y}),
    "quotient": lambda torch, x, y: ((y / x).grad_fn, {"self": y, "other": x}),
    "power": lambda torch, x, y: ((y**3).grad_fn, {"self": y}),
    "sine": lambda torch, x, y: (y.sin().grad_fn, {"self": y}),
    "sine_of_leaf": lambda torch, x, y: (x.sin().grad_fn, {"self": x}),
    "exponential": lambda torch, x, y: (y.grad_fn, {"result": y}),
    "tanh": lambda torch, x, y: ((z := y.tanh()).grad_fn, {"result": z}),
    "constant": lambda torch, x, y: ((y * (c := y.detach())).grad_fn, {"other": c}),
    "factor": lambda torch, x, y: (
        (x * (c := torch.ones(2).double())).grad_fn,
        {"other": c, "self": x},
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_node_has_the_tensors_themselves(name: str) -> None:
    def run(torch: Any) -> Any:
        x = two(torch)
        node, named = SAVED[name](torch, x, x.exp())
        found = {n: getattr(node, f"_saved_{n}") for n in named}
        # of the same values, tensors in any case, and perhaps the very ones
        return found, {n: found[n] is t for n, t in named.items()}

    compare(run)


@program
def of_a_matrix_product(torch: Any) -> Any:
    a, b = (torch.ones(2, 2, requires_grad=True) * 1 for _ in range(2))
    node = (a @ b).grad_fn
    return node._saved_self is a, node._saved_mat2 is b


@program
def of_an_affine_map(torch: Any) -> Any:
    w, b, x = torch.ones(2, 2, requires_grad=True), two(torch), torch.ones(1, 2)
    node = torch.nn.functional.linear(x, w, b.float()).grad_fn
    return node.name(), node._saved_mat1 is x


@program
def of_a_view(torch: Any) -> Any:
    v = two(torch).exp()[:1]
    return v.sin().grad_fn._saved_self is v


@program
def attributes_of_the_program(torch: Any) -> Any:
    y = two(torch).exp()
    y.note = 3
    return y.sin().grad_fn._saved_self.note


@program
def what_was_dropped_is_there(torch: Any) -> Any:
    node = two(torch).exp().sin().grad_fn
    return node._saved_self


@program
def what_was_written_to_since(torch: Any) -> Any:
    y = two(torch).exp()
    z = y.sin()
    y.mul_(2)
    return z.grad_fn._saved_self


@program
def what_was_freed(torch: Any) -> Any:
    z = two(torch).sin()
    z.sum().backward()
    return z.grad_fn._saved_self


@program
def nothing_is_saved_by_a_sum(torch: Any) -> Any:
    return (two(torch) + two(torch)).grad_fn._saved_self


@program
def sizes_of_a_sum(torch: Any) -> Any:
    return two(torch).sum().grad_fn._saved_self_sym_sizes


@program
def of_hooks(torch: Any) -> Any:
    y = two(torch).exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        z, e = y.sin(), y.exp()
    return z.grad_fn._saved_self is y, e.grad_fn._saved_result is e, z.grad_fn._saved_self


def saving(torch: Any, seen: list[Any], known: dict[str, Any], setup: bool = False) -> Any:
    """Return a function that saves two arguments and its result, and looks which it gets back."""

    def looked_at(saved: Any) -> Any:
        same = [t is known[n] for t, n in zip(saved, "xyr", strict=True)]
        return same, [t._is_view() for t in saved], saved[2].grad_fn is known["r"].grad_fn

    class Product(torch.autograd.Function):
        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            seen.append(looked_at(ctx.saved_tensors))
            x, y, _ = ctx.saved_tensors
            return g * y, g * x

    def forward(x: Any, y: Any) -> Any:
        return x * y

    def with_context(ctx: Any, x: Any, y: Any) -> Any:
        r = x * y
        ctx.save_for_backward(x, y, r)
        return r

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs, output)

    Product.forward = staticmethod(forward if setup else with_context)
    if setup:
        Product.setup_context = staticmethod(setup_context)
    return Product, looked_at


@pytest.mark.parametrize("setup", [False, True])
@pytest.mark.parametrize("kind", ["leaf", "computed", "constant", "view", "parameter"])
def test_a_context_has_the_tensors_themselves(kind: str, setup: bool) -> None:
    def run(torch: Any) -> Any:
        x = two(torch)
        y = {
            "leaf": lambda: two(torch),
            "computed": lambda: x.exp(),
            "constant": lambda: torch.ones(2, dtype=torch.float64),
            "view": lambda: torch.cat([x, x])[1:3],
            "parameter": lambda: torch.nn.Parameter(torch.ones(2, dtype=torch.float64)),
        }[kind]()
        seen: list[Any] = []
        known = {"x": x, "y": y}
        function, looked_at = saving(torch, seen, known, setup)
        known["r"] = function.apply(x, y)
        seen.append(looked_at(known["r"].grad_fn.saved_tensors))
        known["r"].sum().backward()
        return seen, x.grad, y.grad if y.is_leaf else None

    compare(run)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
