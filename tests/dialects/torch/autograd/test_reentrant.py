"""A backward inside of a backward, inside of another, to any depth."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def countdown(torch: Any, fail: bool = False, seen: list[Any] | None = None) -> Any:
    """Return a function whose backward calls it again on one less, until there is less than 0."""

    class Countdown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            if seen is not None:
                seen.append(torch.is_grad_enabled())
            if ctx.x >= 0:
                with torch.enable_grad():
                    Countdown.apply(ctx.x).sum().backward()
            elif fail:
                raise KeyError("at the end")
            return g

    return Countdown


def counted(torch: Any, levels: int, **options: Any) -> Any:
    x = torch.tensor(float(levels), requires_grad=True)
    countdown(torch, **options).apply(x).sum().backward()
    return x.grad


@program
def function_300_deep(torch: Any) -> Any:
    return counted(torch, 300)


@program
def function_1000_deep(torch: Any) -> Any:
    return counted(torch, 1000)


@program
def error_1000_deep(torch: Any) -> Any:
    return counted(torch, 1000, fail=True)


@program
def after_an_error(torch: Any) -> Any:
    try:
        counted(torch, 300, fail=True)
    except KeyError as error:
        said = error.args
    return said, counted(torch, 300), torch.is_grad_enabled()


@program
def grad_mode_of_each_level(torch: Any) -> Any:
    seen: list[Any] = []
    counted(torch, 200, seen=seen)
    return len(seen), set(seen)


@program
def hooks_1000_deep(torch: Any) -> Any:
    x = two(torch)

    def hook_of(levels: int) -> Any:
        def hook(g: Any) -> None:
            if levels:
                begin(levels - 1)

        return hook

    def begin(levels: int) -> None:
        with torch.enable_grad():
            y = x * 1
        y.register_hook(hook_of(levels))
        y.sum().backward()

    begin(1000)
    return x.grad


@program
def checkpoints_of_backward(torch: Any) -> Any:
    x = two(torch)

    def layer(levels: int) -> Any:
        def run(v: Any) -> Any:
            y = v.sin()
            if levels:
                y = y * torch.utils.checkpoint.checkpoint(layer(levels - 1), v, use_reentrant=True)
            return y

        return run

    torch.utils.checkpoint.checkpoint(layer(8), x, use_reentrant=True).sum().backward()
    return x.grad


@program
def what_is_saved_goes_through_hooks_at_every_level(torch: Any) -> Any:
    kept = []

    class Level(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):  # type: ignore[no-untyped-def]
            ctx.n = n
            return x * 1

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            if ctx.n:
                with torch.enable_grad():
                    y = two(torch)
                    (Level.apply(y, ctx.n - 1) * y).sum().backward()
            return g, None

    def pack(t: Any) -> Any:
        kept.append(1)
        return t

    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        Level.apply(x, 120).sum().backward()
    return x.grad, len(kept) > 200


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


def test_no_thread_is_left() -> None:
    before = threading.active_count()
    counted(ours, 300)
    with pytest.raises(KeyError, match="at the end"):
        counted(ours, 300, fail=True)
    assert threading.active_count() == before


def test_where_there_is_no_end_python_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wengert.dialects.torch.callbacks._THREADS", threading.active_count() + 3)
    with pytest.raises(RecursionError):
        counted(ours, 1000)
