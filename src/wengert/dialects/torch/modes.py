"""When operations are recorded: always, unless a program says otherwise.

Wengert records for tapes. To this dialect there is one more, which is never closed: `GRAD`. Where
nothing was said, in whichever thread, operations are recorded for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from wengert.dialects import quiet
from wengert.engine.node import Token, Tokens, active

#: The tape that is always there, and one that nothing is recorded for.
GRAD = Token(watches_read=False)
_NONE = Token(watches_read=False)
TRACKING: Tokens = frozenset({GRAD})
PAUSED: Tokens = frozenset({_NONE})
#: Whether tensors are made that can never be recorded.
_inference: ContextVar[bool] = ContextVar("wengert_torch_inference", default=False)


def current() -> Tokens:
    """Return who records now; this dialect, where nothing else was said."""
    return active.get() or TRACKING


def is_grad_enabled() -> bool:
    """Return whether operations on tensors that require gradients are recorded."""
    return GRAD in current() or (_inference.get() and _enabled_within.get())


def is_inference_mode_enabled() -> bool:
    """Return whether inference mode is on."""
    return _inference.get()


#: Whether a program has turned grad mode on within inference mode, where that has no effect.
_enabled_within: ContextVar[bool] = ContextVar("wengert_torch_enabled", default=False)


def switched(recording: Tokens, on: bool) -> Tokens:
    """Return who records if this dialect does, or does not."""
    if (recording is TRACKING or recording is PAUSED) and not _inference.get():
        return TRACKING if on else PAUSED
    if on and not _inference.get():
        return recording - {_NONE} | TRACKING
    return recording - {GRAD} or PAUSED


class Mode:
    """A context manager, and decorator of functions and generators, in which grad mode is set."""

    def __init__(self, on: bool) -> None:
        self._on = on
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append((active.get(), _enabled_within.get()))
        self._set()

    def _set(self) -> None:
        active.set(switched(active.get() or TRACKING, self._on))
        if _inference.get():
            _enabled_within.set(self._on)

    def __exit__(self, *exception: object) -> None:
        before, within = self._before.pop()
        active.set(before)
        if _enabled_within.get() is not within:
            _enabled_within.set(within)

    def clone(self) -> Mode:
        """Return another context that sets the same."""
        return Mode(self._on)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs in this mode."""
        if inspect.isclass(function):
            made: Any = function
            made.__init__ = self(made.__init__)
            return function
        again = self.clone
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **options: Any) -> Any:
                inner = function(*args, **options)
                resume: Callable[[], Any] = functools.partial(next, inner)
                while True:  # the mode is set only while the generator itself runs
                    try:
                        with again():
                            found = resume()
                    except StopIteration as end:
                        return end.value
                    try:
                        sent = yield found
                    except GeneratorExit:
                        with again():
                            inner.close()
                        raise
                    except BaseException as error:
                        resume = functools.partial(inner.throw, error)
                    else:
                        resume = functools.partial(inner.send, sent)

            return generate

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with again():
                return function(*args, **options)

        return call


class _Usual(Mode):
    """A mode that may be used as a decorator without being called."""

    _sets = True

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = object.__new__(cls)
        mode._on, mode._before = cls._sets, []
        return mode if function is None else mode(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        pass


class enable_grad(_Usual):
    """A context in which operations are recorded."""


class no_grad(_Usual):
    """A context in which operations are not recorded."""

    _sets = False


class set_grad_enabled(Mode):
    """Set from now on, or as a context, whether operations are recorded."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        super().__enter__()

    def __enter__(self) -> None:
        self._set()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs in this mode, which is not set from now on."""
        self.__exit__()
        return super().__call__(function)


class inference_mode(Mode):
    """A context in which nothing is recorded, and tensors are made that never can be."""

    #: what hooks.py does so that tensors know the mode that they are made in
    entering: Callable[[], None]
    leaving: Callable[[], None]

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Return a context, or a function that runs in this mode."""
        return cls(True)(mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        super().__init__(bool(mode))

    def __enter__(self) -> None:
        self._before.append((active.get(), _enabled_within.get(), _inference.get()))
        self.entering()
        _inference.set(self._on)
        _enabled_within.set(False)
        active.set(switched(current(), not self._on))

    def __exit__(self, *exception: object) -> None:
        before, within, inference = self._before.pop()
        active.set(before)
        _enabled_within.set(within)
        _inference.set(inference)
        self.leaving()

    def clone(self) -> inference_mode:
        """Return another context that sets the same."""
        return inference_mode(self._on)


class Tracking:
    """A context for what calls Wengert's functions: they see who records, and NumPy is quiet."""

    __slots__ = ("_loud", "_token")

    def __enter__(self) -> None:
        self._token = None if active.get() else active.set(TRACKING)
        self._loud = quiet.enter()

    def __exit__(self, *exception: object) -> None:
        quiet.leave(self._loud)
        if self._token is not None:
            active.reset(self._token)
