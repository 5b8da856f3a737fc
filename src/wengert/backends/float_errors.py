"""What NumPy does about floating-point errors while Wengert computes.

A program's own settings stay what they are. Only what Wengert computes runs with another word in
the place of NumPy's "warn": natively "call", so that a warning names the user's line (`LOCATED`),
and in dialects "ignore", because PyTorch and TensorFlow say nothing of log(0) (`QUIET`). A program
that asks for "raise", "call" or "print" gets that from Wengert as well.

NumPy keeps the settings in a context variable. `np.errstate` takes as long as an operation on a
small array. To set the variable takes a fifth of that (`enter`, `leave`), and to call a function in
a context of its own takes a hundredth (`run`), which is what fast paths do.
"""

from __future__ import annotations

import contextvars
import warnings
from collections.abc import Callable
from contextvars import Context, Token
from typing import Any

import numpy as np

from wengert.errors import caller_depth

#: NumPy's settings, by what it calls the errors.
_SETTINGS = {
    "divide by zero": "divide",
    "overflow": "over",
    "underflow": "under",
    "invalid value": "invalid",
}


class _Told:
    """What NumPy calls for an error: `LOCATED.tell`, or what a program set for some kinds."""

    def __init__(self, theirs: Any = None, kinds: frozenset[str] = frozenset()) -> None:
        self.theirs, self.kinds = theirs, kinds

    def __call__(self, kind: str, flag: int) -> None:
        if _SETTINGS[kind] in self.kinds:
            self.theirs(kind, flag)
        else:
            LOCATED.tell(kind)

    def write(self, message: str) -> None:
        """Pass on what a program has logged."""
        self.theirs.write(message)


_TOLD = _Told()


def _warn(kind: str) -> None:
    """Say at the user's line that an operation met a floating-point error."""
    warnings.warn(f"{kind} encountered", RuntimeWarning, stacklevel=caller_depth())


class FloatErrors:
    """NumPy's settings with a word in the place of "warn".

    Attributes
    ----------
    state, usual, run
        ``run(function, ...)`` computes under these settings if ``state()`` is `usual`, which it is
        where a program has set nothing. Only one thread at a time can be in it: a second one gets
        a RuntimeError, and calls `slowly`. A function that runs there reads no context variable.
    """

    def __init__(self, word: str) -> None:
        self._word = word
        self._context = Context().run(self._made)
        ((self._variable, self.mine),) = self._context.items()
        self.state = self._variable.get
        self.usual = Context().run(self.state)
        self.run = self._context.run
        #: what says that there was an error, by its kind; `explain.float_warnings` sets it
        self.tell: Callable[[str], None] = _warn
        #: settings that a program has made, before and after: the last that were seen
        self._last = self.usual, self.mine

    def _made(self) -> Context:
        with self._changed(self._words()):
            return contextvars.copy_context()

    def _words(self) -> dict[str, Any]:
        """Return what is to be changed of the settings that are in force."""
        theirs = _kinds_of_program()
        return {
            kind: self._word
            for kind, does in np.geterr().items()
            if does == "warn" or (does == "call" and kind not in theirs)
        }

    def _changed(self, words: dict[str, Any]) -> np.errstate:
        if self._word != "call":
            return np.errstate(**words)
        call, theirs = np.geterrcall(), _kinds_of_program()
        if isinstance(call, _Told) or not theirs:
            return np.errstate(call=call if isinstance(call, _Told) else _TOLD, **words)
        return np.errstate(call=_Told(call, theirs), **words)

    def enter(self) -> Token[Any] | None:
        """Have these settings from now on, and return what `leave` takes."""
        state = self.state()
        if state is self.mine:
            return None
        before, after = self._last
        if state is self.usual:
            after = self.mine
        elif state is not before and state is not after:
            after, words = state, self._words()
            if words:
                with self._changed(words):
                    after = self.state()
            self._last = state, after
        return self._variable.set(after)

    def leave(self, token: Token[Any] | None) -> None:
        """Bring back the settings that were in force before `enter`."""
        if token is not None:
            self._variable.reset(token)

    def slowly(self, function: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """Call a function under these settings, whatever the program has set."""
        if self.state() is self.mine:
            return function(*args, **params)
        token = self.enter()
        try:
            return function(*args, **params)
        finally:
            self.leave(token)

    def aloud(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a program's function, such as a hook, with the settings that the program made."""
        state = self.state()
        before, after = (self.usual, self.mine) if state is self.mine else self._last
        if state is not after:
            return function(*args, **options)
        token = self._variable.set(before)
        try:
            return function(*args, **options)
        finally:
            self._variable.reset(token)


def _kinds_of_program() -> frozenset[str]:
    """Return the kinds of errors for which NumPy calls what a program has set."""
    call: Any = np.geterrcall()
    if isinstance(call, _Told):
        return call.kinds
    return frozenset(kind for kind, does in np.geterr().items() if does in ("call", "log"))


LOCATED = FloatErrors("call")
QUIET = FloatErrors("ignore")
