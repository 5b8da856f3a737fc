"""Which lines of a checkpointed function run again, and what its graph is meanwhile."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def again(torch: Any, body: Any, **options: Any) -> Any:
    """Return which lines run, a before and b after the body, and the gradient."""
    x, seen = two(torch), []

    def function(v: Any) -> Any:
        seen.append("a")
        y = body(v)
        seen.append("b")
        return y

    y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False, **options)
    y.sum().backward()
    return "".join(seen), x.grad


BODIES = {
    "sine": lambda torch: lambda v: v.sin(),
    "result": lambda torch: lambda v: v.exp() + 1,
    "nothing": lambda torch: lambda v: v * 2 + 1,
    "product": lambda torch: lambda v: v * v,
    "in place": lambda torch: lambda v: v.sin().mul_(v),
    "result in place": lambda torch: lambda v: (v * 2).exp_(),
    "view": lambda torch: lambda v: v[1:],
    "write to a view": lambda torch: lambda v: v.sin().index_fill_(0, torch.tensor([0]), 2.0),
    "positions": lambda torch: lambda v: v.index_select(0, torch.tensor([1])),
    "sum at positions": lambda torch: lambda v: v.index_add(0, torch.tensor([0]), v[:1]),
    "order": lambda torch: lambda v: v.sort()[0],
    "several": lambda torch: lambda v: torch.cat([v.sin(), v]),
    "composite": lambda torch: lambda v: torch.nn.functional.layer_norm(v, (2,)),
    "matrices": lambda torch: lambda v: torch.nn.functional.linear(v[None], torch.ones(3, 2)),
    "function": lambda torch: lambda v: double(torch).apply(v.sin()),
}


def double(torch: Any) -> Any:
    """Return a function that reads what it saved."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Double


@pytest.mark.parametrize("body", BODIES)
def test_lines_that_run_again(body: str) -> None:
    compare(
        lambda torch: [
            again(torch, BODIES[body](torch), early_stop=stops) for stops in (True, False)
        ]
    )


@program
def a_setting(torch: Any) -> Any:
    found = [again(torch, lambda v: v.sin())]
    for stops in (True, False):
        with torch.utils.checkpoint.set_checkpoint_early_stop(stops):
            for given in (True, False):
                found.append(again(torch, lambda v: v.sin(), early_stop=given))
    return found, again(torch, lambda v: v.sin())


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("outer", [True, False])
def test_nested(outer: bool, inner: bool, goes_on: bool) -> None:
    def run(torch: Any) -> Any:
        checkpoint, x, seen = torch.utils.checkpoint.checkpoint, two(torch), []

        def third(v: Any) -> Any:
            seen.append("3a")
            y = v.tanh()
            seen.append("3b")
            return y

        def second(v: Any) -> Any:
            seen.append("2a")
            y = checkpoint(third, v.sin(), use_reentrant=False, early_stop=inner)
            seen.append("2b")
            y = y.exp() if goes_on else y
            seen.append("2c")
            return y

        def first(v: Any) -> Any:
            seen.append("1a")
            y = checkpoint(second, v.cos(), use_reentrant=False, early_stop=outer)
            seen.append("1b")
            y = y * v if goes_on else y
            seen.append("1c")
            return y

        checkpoint(first, x, use_reentrant=False, early_stop=outer).sum().backward()
        return seen, x.grad

    compare(run)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("stops", [True, False])
def test_a_gradient_inside(stops: bool, keep: bool) -> None:
    def run(torch: Any) -> Any:
        def body(v: Any) -> Any:
            y = v.sin().cos()
            (g,) = torch.autograd.grad(y.sum(), v, retain_graph=keep)
            return v.cos() * g

        return again(torch, body, early_stop=stops)

    compare(run)


@program
def the_function_sees_the_end(torch: Any) -> Any:
    seen = []

    def body(v: Any) -> Any:
        try:
            return v.sin()
        finally:
            seen.append("finally")

    return again(torch, body), seen


@program
def sweeps_one_after_the_other(torch: Any) -> Any:
    x, seen = two(torch), []

    def function(v: Any) -> Any:
        seen.append("a")
        y = v.sin()
        seen.append("b")
        return y + 1, y.exp()

    y, z = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    z.sum().backward()
    return "".join(seen), x.grad


@program
def higher_orders(torch: Any) -> Any:
    x, seen = two(torch), []

    def function(v: Any) -> Any:
        seen.append("a")
        y = v.sin()
        seen.append("b")
        y = y * v
        seen.append("c")
        return y + 1

    y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    return g, h, torch.autograd.grad(h.sum(), x), "".join(seen)


@program
def hooks_of_the_first_call(torch: Any) -> Any:
    x, seen = two(torch), []

    def function(v: Any) -> Any:
        y = v.sin()
        z = y.exp()
        for name, tensor in (("y", y), ("z", z)):
            tensor.register_hook(lambda g, name=name: seen.append((name, g)))
        return z + 1

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()
    return seen


@program
def a_tensor_that_stays(torch: Any) -> Any:
    x, kept = two(torch), []

    def function(v: Any) -> Any:
        y = v.sin()
        y.retain_grad()
        kept.append(y)
        return y * y

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()
    kept[0].sum().backward()
    return len(kept), kept[0].grad, x.grad


@program
def the_graph(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(
        lambda v: v.sin() * v + 1, two(torch), use_reentrant=False
    )
    product = y.grad_fn.next_functions[0][0]
    return y.grad_fn.name(), product.name(), [node.name() for node, _ in product.next_functions]


@program
def saved_values(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda v: v.sin(), x, use_reentrant=False)
    before = y.grad_fn._saved_self.tolist()
    y.sum().backward()
    return before, x.grad


@program
def hooks_of_the_program(torch: Any) -> Any:
    seen = []

    def note(name: str) -> Any:
        return lambda t: (seen.append(name), t)[1]

    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(note("pack"), note("unpack")):
        y = torch.utils.checkpoint.checkpoint(lambda v: v.sin().exp(), x, use_reentrant=False)
        y = y * y
    y.sum().backward()
    return seen, x.grad


@program
def autocast_of_the_first_call(torch: Any) -> Any:
    x, seen = torch.ones(2, 2, requires_grad=True), []

    def function(v: Any) -> Any:
        y = v @ v
        seen.append(str(y.dtype))
        return y.sin()

    with torch.autocast("cpu", torch.bfloat16):
        y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    y.float().sum().backward()
    return seen, x.grad


def changed(torch: Any, later: Any, **options: Any) -> Any:
    x, calls = two(torch), []

    def function(v: Any) -> Any:
        calls.append(1)
        return v.sin() if len(calls) == 1 else later(v.sin())

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False, **options).sum().backward()
    return x.grad


@program
def more_is_saved_again(torch: Any) -> Any:
    return changed(torch, lambda y: y.exp())


@program
def more_is_saved_again_to_the_end(torch: Any) -> Any:
    return changed(torch, lambda y: y.exp(), early_stop=False)


@program
def less_is_saved_again(torch: Any) -> Any:
    x, calls = two(torch), []

    def function(v: Any) -> Any:
        calls.append(1)
        return v.sin().exp() if len(calls) == 1 else v.sin()

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()


@program
def results_in_place_are_packed(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (1, t), lambda held: held[1]):
        y = x.sin().mul_(x).exp_().sum()
    y.backward()
    return x.grad


@program
def positions_are_freed(torch: Any) -> Any:
    y = two(torch).sort()[0].sum()
    y.backward()
    y.backward()


def test_a_write_to_a_saved_tensor_is_an_error() -> None:
    # PyTorch gives the gradient of what was written
    def function(v: Any) -> Any:
        y = v.sin()
        z = y * y
        y.add_(1)
        return z

    x = two(ours)
    checkpoint = ours.utils.checkpoint.checkpoint
    loss = checkpoint(function, x, use_reentrant=False, early_stop=False).sum()
    with pytest.raises(RuntimeError, match="modified in place: checkpoint's function wrote to it"):
        loss.backward()


def test_memory_between_the_calls() -> None:
    x = ours.ones(100_000, requires_grad=True)

    def function(v: Any) -> Any:
        for _ in range(10):
            v = (v * v).exp_().sort()[0].reciprocal()
        return v

    def run() -> tuple[int, int]:
        tracemalloc.start()
        y = x
        for _ in range(8):
            y = ours.utils.checkpoint.checkpoint(function, y, use_reentrant=False)
        kept, _ = tracemalloc.get_traced_memory()
        y.sum().backward()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return kept // x.nbytes, (most - kept) // x.nbytes

    run()
    kept, more = run()
    assert kept < 10  # the results of the calls, and nodes
    assert more < 80  # what one call saves: ten results, powers and positions, of 64 bits


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
