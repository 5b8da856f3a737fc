"""Calling a program's functions from a sweep, and the hooks on saved tensors that are in force.

What such a function switches on and does not switch off is off again when it returns: PyTorch runs
each in the state that `backward` was called in.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from wengert.dialects.quiet import aloud
from wengert.engine.node import active
from wengert.engine.record import witnesses


class _Saving:
    """Of a thread: hooks on what is saved, the last in force, and why there may be none.

    Threads that a sweep goes on in have this one in common.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.refusals: list[str] = []
        #: how many derivatives run of which the program knows no transform
        self.within = 0


_of_thread: contextvars.ContextVar[_Saving] = contextvars.ContextVar("wengert_torch_saving")


def _saving() -> _Saving:
    try:
        return _of_thread.get()
    except LookupError:
        made = _Saving()
        _of_thread.set(made)
        return made


def hooks_in_force() -> Any:
    """Return the hooks that what is saved goes through now; None if there are none."""
    stack = _saving().stack
    return stack[-1][0] if stack else None


def push_hooks(hooks: Any, pack: Callable[[Any], None]) -> None:
    """Put hooks in force; `pack` is called with each new node."""
    if _saving().refusals:
        raise RuntimeError(_saving().refusals[-1])
    _saving().stack.append((hooks, pack))
    witnesses.append(pack)


def pop_hooks() -> None:
    """Take the hooks away that were put in force last."""
    _, pack = _saving().stack.pop()
    witnesses.remove(pack)


@contextlib.contextmanager
def no_hooks(error_message: str) -> Iterator[None]:
    """Return a context in which hooks on what is saved are refused, in these words."""
    if _saving().stack:
        raise RuntimeError(error_message)
    _saving().refusals.append(error_message)
    try:
        yield
    finally:
        _saving().refusals.pop()


@contextlib.contextmanager
def no_transform() -> Iterator[None]:
    """Return a context for derivatives that are to the program none of torch.func."""
    _saving().within += 1
    try:
        yield
    finally:
        _saving().within -= 1


def transforms_by_reverse(name: str) -> contextlib.AbstractContextManager[None]:
    """Return a context for a transform of torch.func that takes gradients."""
    if _saving().within:
        return contextlib.nullcontext()
    return no_hooks(
        f"torch.func.{name} does not go with hooks on saved tensors; write it outside of the "
        "saved_tensors_hooks, or use torch.autograd.grad"
    )


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a program's function gives, in the state that the sweep was begun in."""
    before, stack = active.get(), _saving().stack
    depth = len(stack)
    try:
        return aloud(function, *args)
    finally:
        if active.get() is not before:
            active.set(before)
        while len(stack) > depth:
            pop_hooks()


# -- sweeps inside of sweeps -----------------------------------------------------------------------

#: How many frames a thread may hold before a sweep goes on in another, and how many threads.
_FRAMES, _THREADS = 300, 1000


def with_room(function: Callable[[], Any]) -> Any:
    """Return what a function gives; it runs in a new thread if there are many frames in this one.

    A sweep may call a function of the program that begins another, and so on: Python has frames
    for some fifty such levels.
    """
    try:
        sys._getframe(min(_FRAMES, sys.getrecursionlimit() // 2))
    except ValueError:  # there are not so many
        return function()
    if threading.active_count() > _THREADS:
        return function()
    from concurrent.futures import ThreadPoolExecutor  # late: few sweeps are so deep

    with ThreadPoolExecutor(1) as another:
        return another.submit(contextvars.copy_context().run, function).result()
