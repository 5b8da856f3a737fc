"""What can go wrong, by name. Each message says what was given and what to write instead."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any, NoReturn

import numpy as np


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


class CompileError(WengertError, TypeError):
    """A function that is being compiled asks for what only a run of it could tell."""


class NoRuleError(WengertError, NotImplementedError):
    """A function that Wengert has no rule for was called on a Tensor."""


class CutPathError(WengertError, TypeError):
    """A value that a transform differentiates was converted, where derivatives do not follow."""


class CutPathWarning(UserWarning):
    """A recorded value left the tape, so derivatives stop there."""


class NonFiniteError(WengertError, FloatingPointError):
    """An element became NaN or infinite under `wg.debug(nan=True)`.

    `report` says where: the operation, its line, the element, its operands.
    """

    def __init__(self, message: str, report: Any = None) -> None:
        super().__init__(message)
        self.report = report


class NoGradientError(WengertError, TypeError):
    """A gradient that is None was given where numbers are needed."""


class NoGradientWarning(UserWarning):
    """A gradient is None, and the message says why. `explanation` is what `tape.why` returns."""

    def __init__(self, message: str, explanation: Any = None) -> None:
        super().__init__(message)
        self.explanation = explanation


class DegenerateWarning(UserWarning):
    """A derivative was asked for where equal eigenvalues leave it undetermined."""


class UnconnectedWarning(UserWarning):
    """A transform's result does not depend on its argument; the derivative is zero."""


#: Libraries that stand between a user's line and ours.
_BETWEEN = {
    __name__.partition(".")[0], "array_api_compat", "array_api_extra", "fractions", "numpy",
    "optree", "pandas", "scipy", "sklearn", "statistics",
}  # fmt: skip


def library_of(frame: FrameType) -> str:
    """Return the name of the package that a frame's code belongs to."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def is_between(frame: FrameType) -> bool:
    """Return whether a frame is of a library, and not of the user's own code."""
    return _is_between(str(frame.f_globals.get("__name__", "")))


@cache
def _is_between(module: str) -> bool:
    return module.partition(".")[0] in _BETWEEN


def users_frame(depth: int = 1) -> FrameType:
    """Return the nearest frame outside of this package and of the libraries that it calls.

    `depth` is how many frames up to begin.
    """
    frame = sys._getframe(depth)
    while _is_between(frame.f_globals.get("__name__", "")) and (behind := frame.f_back):
        frame = behind
    return frame


def caller_line() -> str:
    """Return "file:line" of the user's own code."""
    frame = users_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def caller_depth() -> int:
    """Return the `stacklevel` with which the caller's warnings.warn names that line."""
    frame: FrameType | None = sys._getframe(1)
    users, depth = users_frame(), 1
    while frame is not None and frame is not users:
        frame, depth = frame.f_back, depth + 1
    return depth


def line_of(error: BaseException) -> str:
    """Return "file:line" of the user's own code, and its text, nearest to where an error began."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if library_of(trace.tb_frame) not in {*_BETWEEN, "jax", "contextlib", "functools"}:
            found = trace
        trace = trace.tb_next
    if found is None:
        return "the function"
    name, number = found.tb_frame.f_code.co_filename, found.tb_lineno
    text = linecache.getline(name, number).strip()
    return f"{name}:{number}" + (f" ({text})" if text else "")


def explain_shapes(op: Any, raws: list[Any], error: ValueError) -> NoReturn:
    """Raise an error that names the shapes if they do not broadcast, else the one given."""
    shapes = [tuple(getattr(r, "shape", ())) for r in raws]
    if op.broadcasts:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            names = " and ".join(map(str, shapes))
            raise ShapeError(
                f"{op.name}: shapes {names} do not broadcast: from the right, each pair of "
                "lengths must be equal or one of them 1; wg.reshape or wg.expand_dims adds the 1"
            ) from error
    raise error


class _CutsShown:
    """A context out of which a CutPathError comes as itself, where a library hid it.

    NumPy makes a ValueError of any error in ``array[i] = x`` and names the first one its cause;
    SciPy answers a TypeError with another. An error that the user's own code raised stays.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, (TypeError, ValueError)) or isinstance(error, CutPathError):
            return
        hidden = error.__cause__
        last = trace
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        if last is not None and is_between(last.tb_frame):
            hidden = hidden or error.__context__
        if isinstance(hidden, CutPathError):
            raise hidden.with_traceback(trace) from None


cuts_shown = _CutsShown()


def name_of(fun: Callable[..., Any]) -> str:
    """Return what messages call a function."""
    return getattr(fun, "__name__", repr(fun))
