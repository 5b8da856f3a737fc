"""When operations are recorded: always, unless a program says otherwise.

Wengert records for tapes. To this dialect there is one more, which is never closed: `GRAD`. Where
nothing was said, in whichever thread, operations are recorded for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from wengert.engine.node import Token, Tokens, active

#: The tape that is always there, and one that nothing is recorded for.
GRAD = Token(watches_read=False)
_NONE = Token(watches_read=False)
TRACKING: Tokens = frozenset({GRAD})
PAUSED: Tokens = frozenset({_NONE})


def current() -> Tokens:
    """Return who records now; this dialect, where nothing else was said."""
    return active.get() or TRACKING


def is_grad_enabled() -> bool:
    """Return whether operations on tensors that require gradients are recorded."""
    return GRAD in current()


def switched(recording: Tokens, on: bool) -> Tokens:
    """Return who records if this dialect does, or does not."""
    return recording - {_NONE} | TRACKING if on else (recording - {GRAD} or PAUSED)


class Mode:
    """A context manager, and decorator of functions and generators, in which grad mode is set."""

    def __init__(self, on: bool) -> None:
        self._on = on
        self._before: list[Tokens] = []

    def __enter__(self) -> None:
        self._before.append(current())
        active.set(switched(current(), self._on))

    def __exit__(self, *exception: object) -> None:
        active.set(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **options: Any) -> Any:
                inner = function(*args, **options)
                value = None
                while True:
                    with Mode(self._on):
                        try:
                            found = inner.send(value)
                        except StopIteration as end:
                            return end.value
                    value = yield found

            return generate

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with Mode(self._on):
                return function(*args, **options)

        return call


class _Usual(Mode):
    """A mode that may be used as a decorator without being called."""

    _sets = True

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = object.__new__(cls)
        if function is None:
            return made
        Mode.__init__(made, cls._sets)
        return made(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(self._sets)


class enable_grad(_Usual):
    """A context in which operations are recorded."""


class no_grad(_Usual):
    """A context in which operations are not recorded."""

    _sets = False


class set_grad_enabled(Mode):
    """Set from now on, or as a context, whether operations are recorded."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before.append(current())
        active.set(switched(current(), bool(mode)))

    def __enter__(self) -> None:
        active.set(switched(current(), self._on))

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        active.set(self._before.pop())
        return super().__call__(function)


class Tracking:
    """A context for what calls Wengert's own functions, so that they see who records."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = None if active.get() else active.set(TRACKING)

    def __exit__(self, *exception: object) -> None:
        if self._token is not None:
            active.reset(self._token)
