"""Hooks of tensors and nodes, and hooks of what is saved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import square_of, three, two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- hooks -----------------------------------------------------------------------------------------


@program
def hook_sees(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * 2
    y.register_hook(seen.append)
    (y * y).sum().backward()
    return seen, x.grad


@program
def hook_replaces(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (y * y).sum().backward()
    return x


@program
def hook_on_leaf(torch: Any) -> Any:
    x = two(torch)
    x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    (x * x).sum().backward()
    return x


@program
def hook_removed(torch: Any) -> Any:
    x = two(torch)
    handle = x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    handle.remove()
    handle.remove()
    (x * x).sum().backward()
    return x


@program
def hook_as_context(torch: Any) -> Any:
    x = two(torch)
    with x.register_hook(lambda g: g * 10):
        (x * x).sum().backward()
    (x * x).sum().backward()
    return x


@program
def hooks_in_order(torch: Any) -> Any:
    x = two(torch)
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    (x * 3).sum().backward()
    return x


@program
def hook_registered_after_use(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    z = (y * y).sum()
    y.register_hook(lambda g: g * 0)
    z.backward()
    return x


@program
def hook_in_place(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g.mul_(3))
    (y * y).sum().backward()
    return x


@program
def hook_clamps(torch: Any) -> Any:
    x = three(torch)
    x.register_hook(lambda g: torch.clamp(g, -1, 1))
    (x**3).sum().backward()
    return x


@program
def hook_and_grad(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    return torch.autograd.grad((y * y).sum(), [y, x])


@program
def hook_second_order(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    y.register_hook(lambda g: g * y)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def hook_on_both_sides(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * 2
    z = y.exp()
    for name, t in (("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append((name, g)))
    z.sum().backward()
    return seen


@program
def hook_order_of_leaves(torch: Any) -> Any:
    seen: list[str] = []
    b, a, x = two(torch), two(torch), two(torch)
    y = x * a
    z = y * b
    for name, t in (("b", b), ("a", a), ("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append(name))
    for name, t in (("b", b), ("a", a)):
        t.register_post_accumulate_grad_hook(lambda t, name=name: seen.append(f"{name} has it"))
    z.sum().backward()
    return seen


PROGRAMS.update(
    hook_on_constant=lambda torch: torch.ones(2).register_hook(print),
    hook_returning_a_number=lambda torch: _hooked(torch, lambda g: 3.0),
    hook_returning_other_shape=lambda torch: _hooked(torch, lambda g: torch.ones(3)),
    hook_returning_other_dtype=lambda torch: _hooked(torch, lambda g: g.float()),
    hook_raising=lambda torch: _hooked(torch, lambda g: 1 / 0),
)


def _hooked(torch: Any, hook: Any) -> Any:
    x = two(torch)
    x.register_hook(hook)
    (x * x).sum().backward()
    return x


@program
def post_accumulate_hook(torch: Any) -> Any:
    x, seen = two(torch), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.clone())))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return seen, x


@program
def post_accumulate_hook_optimises(torch: Any) -> Any:
    x = two(torch)

    def step(t: Any) -> None:
        with torch.no_grad():
            t -= 0.1 * t.grad
        t.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
    handle.remove()
    (x * x).sum().backward()
    return x


@program
def post_accumulate_hook_not_in_grad(torch: Any) -> Any:
    x, seen = two(torch), []
    x.register_post_accumulate_grad_hook(seen.append)
    torch.autograd.grad((x * x).sum(), x)
    return len(seen)


PROGRAMS.update(
    post_accumulate_hook_on_non_leaf=lambda torch: (
        two(torch) * 2
    ).register_post_accumulate_grad_hook(print),
    post_accumulate_hook_on_constant=lambda torch: torch.ones(2).register_post_accumulate_grad_hook(
        print
    ),
)


@program
def entry_hook(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    (y * 3).sum().backward()
    return seen, x


@program
def entry_hook_replaces(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, gi[1] * 3))
    y.sum().backward()
    return x, w


@program
def entry_prehook(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x * w
    handle = y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return x, w


@program
def entry_hooks_and_tensor_hooks(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x.exp()
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda go: seen.append("before"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("after"))
    y.sum().backward()
    return seen, x


@program
def entry_hook_of_leaf(torch: Any) -> Any:
    x, seen = two(torch), []
    leaf = x.exp().grad_fn.next_functions[0][0]
    leaf.register_hook(lambda gi, go: seen.append((gi, go, x.grad.clone())))
    leaf.register_prehook(lambda go: (go[0] * 2,))
    (x * x).sum().backward()
    return seen, x


@program
def entry_hook_of_wrong_number(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    y.sum().backward()


# -- what is saved ---------------------------------------------------------------------------------


@program
def saved_tensors_hooks_count(torch: Any) -> Any:
    packed, unpacked = [], []
    x, w = two(torch), two(torch)

    def pack(t: Any) -> Any:
        packed.append(t.detach().clone())
        return t

    def unpack(t: Any) -> Any:
        unpacked.append(1)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * w).exp().sum()
    z = y + (x * x).sum()
    z.backward()
    return packed, len(unpacked), x, w


@program
def saved_tensors_hooks_change(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t + 1):
        y = x.exp()
    y.sum().backward()
    return x


@program
def saved_tensors_hooks_nested(torch: Any) -> Any:
    hooks, seen = torch.autograd.graph.saved_tensors_hooks, []
    x = two(torch)
    with hooks(lambda t: (seen.append("outer"), t)[1], lambda t: t):
        a = x.exp()
        with hooks(lambda t: (seen.append("inner"), t)[1], lambda t: t):
            b = x.exp()
        c = x.exp()
    (a + b + c).sum().backward()
    return seen, x


@program
def saved_tensors_hooks_retain_graph(torch: Any) -> Any:
    seen: list[int] = []
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (seen.append(1), t)[1]):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    return len(seen), x


@program
def saved_tensors_hooks_freed(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp().sum()
    y.backward()
    y.backward()


@program
def saved_tensors_hooks_second_order(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), torch.from_numpy):
        y = (x**3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)


@program
def saved_tensors_hooks_in_a_function(torch: Any) -> Any:
    seen: list[Any] = []
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (seen.append(t.detach().clone()), t)[1], lambda t: t * 2
    ):
        y = square_of(torch).apply(x)
    y.sum().backward()
    return seen, x


PROGRAMS.update(
    saved_tensors_hooks_bad_unpack=lambda torch: _bad_unpack(torch),
    saved_tensors_hooks_disabled=lambda torch: _disabled(torch),
    save_on_cpu=lambda torch: _in_context(torch, torch.autograd.graph.save_on_cpu()),
    save_on_cpu_pinned=lambda torch: _in_context(
        torch, torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
    ),
)


def _bad_unpack(torch: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: t):
        y = two(torch).exp()
    y.sum().backward()


def _disabled(torch: Any) -> Any:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        y = two(torch).exp()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return y


def _in_context(torch: Any, context: Any) -> Any:
    x = two(torch)
    with context:
        y = ((x * x).exp() * x).sum()
    y.backward()
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
