"""Computing without NumPy's warnings: PyTorch and TensorFlow say nothing of log(0).

The program's own settings stay what they are. What a dialect computes, and nothing else, runs with
NumPy's "warn" replaced by "ignore"; a program that asks for "raise", "call" or "print" gets that in
a dialect as well.

NumPy keeps the settings in a context variable. `np.errstate` takes as long as an operation on a
small array. To set the variable takes a fifth of that, which is what functions do (`Quiet`), and to
call a function in a context of its own takes a tenth, which is what operators do (`QUIETLY`).
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from contextvars import Context, Token
from typing import Any, NamedTuple

import numpy as np


def _quiet_context() -> Context:
    """Return a context in which only NumPy's settings are set, to say nothing."""

    def copy() -> Context:
        with np.errstate(all="ignore"):
            return contextvars.copy_context()

    return Context().run(copy)


_CONTEXT = _quiet_context()
#: Where NumPy keeps its settings, what they are where nothing was said, and those that are quiet.
((_STATE, _QUIET),) = _CONTEXT.items()
_USUAL = Context().run(_STATE.get)
#: Settings that a program has made, as it made them and without warnings: the last that were seen.
_last: list[tuple[Any, Any]] = [(_USUAL, _QUIET)]


def _without_warnings(state: Any) -> Any:
    """Return the settings that are in force with "ignore" in the place of "warn"."""
    if state is _USUAL:
        return _QUIET
    before, quiet = _last[0]
    if state is not before and state is not quiet:
        silenced = {kind: "ignore" for kind, does in np.geterr().items() if does == "warn"}
        with np.errstate(**silenced):  # type: ignore[arg-type]
            quiet = _STATE.get() if silenced else state
        _last[0] = state, quiet
    return quiet


def enter() -> Token[Any] | None:
    """Silence NumPy from now on, and return what `leave` takes."""
    state = _STATE.get()
    if state is _QUIET:
        return None
    return _STATE.set(_without_warnings(state))


def leave(token: Token[Any] | None) -> None:
    """Bring back the settings that were in force before `enter`."""
    if token is not None:
        _STATE.reset(token)


class Quiet:
    """A context in which NumPy gives no warnings."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = enter()

    def __exit__(self, *exception: object) -> None:
        leave(self._token)


class Quietly(NamedTuple):
    """Without warnings: ``run(function, ...)`` if NumPy's settings are `usual`, else `slowly`."""

    state: Callable[[], Any]
    usual: Any
    run: Callable[..., Any]
    slowly: Callable[..., Any]


def _slowly(function: Callable[..., Any], *args: Any, **params: Any) -> Any:
    token = enter()
    try:
        return function(*args, **params)
    finally:
        leave(token)


#: For the fast paths of operations: what computes on arrays depends on no context variable, so it
#: can run in a context with none but NumPy's. Only one thread at a time can be in it.
QUIETLY = Quietly(_STATE.get, _USUAL, _CONTEXT.run, _slowly)


def aloud(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a program's function, such as a hook, with the settings that the program has made."""
    state = _STATE.get()
    before, quiet = (_USUAL, _QUIET) if state is _QUIET else _last[0]
    if state is not quiet:
        return function(*args, **options)
    token = _STATE.set(before)
    try:
        return function(*args, **options)
    finally:
        _STATE.reset(token)
