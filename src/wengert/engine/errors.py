"""What can go wrong, by name. Each message says what was given and what to write instead."""

from __future__ import annotations

import sys


class WengertError(Exception):
    """The base of every error that is Wengert's own."""


class TapeError(WengertError, RuntimeError):
    """A tape was used in a way its state does not allow."""


class RuleError(WengertError, RuntimeError):
    """An operation's rule returned something that cannot be its derivative."""


class ShapeError(WengertError, ValueError):
    """Shapes that do not fit together."""


class BackendError(WengertError, TypeError):
    """Arrays of two libraries met in one operation."""


class DtypeError(WengertError, TypeError):
    """A derivative was asked for of numbers that have none, such as integers."""


class NoRuleError(WengertError, NotImplementedError):
    """A function that Wengert has no rule for was called on a Tensor."""


class CutPathWarning(UserWarning):
    """A recorded value left the tape, so derivatives stop there."""


class UnconnectedWarning(UserWarning):
    """A transform's result does not depend on its argument; the derivative is zero."""


def caller_line() -> str:
    """Return "file:line" of the nearest frame outside this package."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def caller_depth() -> int:
    """Return the `stacklevel` with which warnings.warn names that frame."""
    frame, depth = sys._getframe(1), 1
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, depth = frame.f_back, depth + 1
    return depth
