"""Checkpoints in checkpoints, sweeps in checkpoints, and what a second call may do otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("outer", [True, False])
def test_nested(outer: bool, inner: bool) -> None:
    def run(torch: Any) -> Any:
        checkpoint, x = torch.utils.checkpoint.checkpoint, two(torch)

        def third(v: Any) -> Any:
            return v.tanh()

        def second(v: Any) -> Any:
            return checkpoint(third, v.sin(), use_reentrant=inner).exp()

        def first(v: Any) -> Any:
            return checkpoint(second, v.cos(), use_reentrant=inner) * v

        checkpoint(first, x, use_reentrant=outer).sum().backward()
        return x.grad

    compare(run)


@pytest.mark.parametrize("early_stop", [True, False])
def test_gradients_with_and_without_early_stop(early_stop: bool) -> None:
    def run(torch: Any) -> Any:
        checkpoint, x = torch.utils.checkpoint.checkpoint, two(torch)
        y = checkpoint(lambda v: v.sin() + 1, x, use_reentrant=False, early_stop=early_stop)
        with torch.utils.checkpoint.set_checkpoint_early_stop(early_stop):
            z = checkpoint(lambda v: v.exp().sum(), x, use_reentrant=False)
        (y.sum() + z).backward()
        return x.grad

    compare(run)


def test_without_early_stop_the_function_runs_to_its_end() -> None:
    def run(torch: Any) -> Any:
        checkpoint, x, seen = torch.utils.checkpoint.checkpoint, two(torch), []

        def function(v: Any) -> Any:
            seen.append("begins")
            y = v.sin() + 1
            seen.append("ends")
            return y

        checkpoint(function, x, use_reentrant=False, early_stop=False).sum().backward()
        return seen, x.grad

    compare(run)


@program
def backward_inside(torch: Any) -> Any:
    x, w = two(torch), two(torch)

    def function(v: Any) -> Any:
        z = v.detach().requires_grad_()
        (z * w).sum().backward()
        return v * z.grad

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()
    return x.grad, w.grad


@program
def grad_inside(torch: Any) -> Any:
    x = two(torch)

    def function(v: Any) -> Any:
        (g,) = torch.autograd.grad((v**3).sum(), v, create_graph=True)
        return g * v

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()
    return x.grad


@program
def second_order(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda v: v.sin() * v, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return g, torch.autograd.grad(g.sum(), x)


@program
def swept_twice(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(lambda v: v.sin(), two(torch), use_reentrant=False).sum()
    y.backward()
    y.backward()


@program
def swept_again(torch: Any) -> Any:
    x, seen = two(torch), []

    def function(v: Any) -> Any:
        seen.append(1)
        return v.sin()

    y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    return len(seen), x.grad


@program
def argument_written_to(torch: Any) -> Any:
    c = two(torch) * 2
    y = torch.utils.checkpoint.checkpoint(lambda v: v.sin(), c, use_reentrant=False).sum()
    c.mul_(3)
    y.backward()


def otherwise(torch: Any, **options: Any) -> Any:
    x, calls = two(torch), []

    def function(v: Any) -> Any:
        calls.append(1)
        return (v if len(calls) == 1 else torch.cat([v, v])).sin().sum()

    torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False, **options).backward()
    return x.grad


@program
def other_shapes(torch: Any) -> Any:
    return otherwise(torch)


@program
def other_values_unchecked(torch: Any) -> Any:
    x, calls = two(torch), []

    def function(v: Any) -> Any:
        calls.append(1)
        return (v if len(calls) == 1 else v + 1).sin()

    y = torch.utils.checkpoint.checkpoint(
        function, x, use_reentrant=False, determinism_check="none"
    )
    y.sum().backward()
    return x.grad


@program
def wrong_check(torch: Any) -> Any:
    return otherwise(torch, determinism_check="always")


@program
def random_numbers_are_the_same(torch: Any) -> Any:
    x = torch.ones(50, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(
        lambda v: torch.nn.functional.dropout(v, 0.5), x, use_reentrant=False
    )
    y.sum().backward()
    return bool((x.grad == y.detach()).all())


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
