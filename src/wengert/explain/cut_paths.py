"""Errors and warnings where a value leaves the tapes: the line, and the function that asked.

A tensor that is converted (`float(x)`, `np.asarray(x)`) leaves a constant behind. Inside of a
transform that would make the answer wrong, so it is an error; on a tape that the user opened, where
`float(loss)` is a habit, it is a warning. The message is made here, and only then.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import warnings
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.engine.node import Tokens
from wengert.engine.tensor import Tensor
from wengert.errors import CutPathError, CutPathWarning, caller_depth, is_between, library_of
from wengert.explain import cut_advice
from wengert.explain.expressions import expression_of

_OURS = __name__.partition(".")[0]
_CONSTANT = "if a constant is meant, write x.numpy(), x.item() or wg.stop_gradient(x)"
#: Methods of arrays, which have no frame of their own.
_METHODS = frozenset(vars(np.ndarray))
#: Messages of lines that have warned: a line in a loop has its text read once.
_warned: dict[Any, str] = {}


def tell_cut(tensor: Tensor, how: str, cut: Tokens) -> None:
    """Raise or warn because a tensor that tapes record is converted.

    Parameters
    ----------
    how
        The conversion as a user could write it, such as "float(x)", or who of ours converts.
    cut
        The tapes that record the tensor now.
    """
    transform = next((token.transform for token in cut if token.transform), "")
    asker = _find_asker()
    frame = asker.frame
    if transform:
        who, instead = _who_and_instead(asker, how)
        raise CutPathError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: {who} takes plain numbers from a tensor "
            f"of shape {tensor.shape}, and {transform} would treat what is computed from them as "
            f"constant. {instead}; {_CONSTANT}"
        )
    key = (frame.f_code, frame.f_lasti, how)
    if key not in _warned:
        who, instead = _who_and_instead(asker, how)
        if len(_warned) >= 200:
            _warned.clear()
        # no shapes in it, so that Python shows the warnings of one line once
        _warned[key] = (
            f"{who} takes plain numbers from a recorded tensor, and derivatives do not follow "
            f"them. {instead}; {_CONSTANT}"
        )
    warnings.warn(_warned[key], CutPathWarning, stacklevel=caller_depth())


# -- who asked --------------------------------------------------------------------------------


class _Asker(NamedTuple):
    """Who asked for a conversion.

    The user's frame; the frame in which a library was entered, None for a function without one,
    such as `math.sin`; and the function, if it was not the user's frame that called it but a
    transform to which it was given.
    """

    frame: FrameType
    entry: FrameType | None
    given: Any


def _find_asker() -> _Asker:
    frame: FrameType = sys._getframe(1)
    while frame.f_back and library_of(frame) == _OURS and not _calls_a_function(frame):
        frame = frame.f_back
    entry: FrameType | None = None
    while frame.f_back and is_between(frame) and library_of(frame) != _OURS:
        entry, frame = frame, frame.f_back
    given = frame.f_locals.get("fun") if _calls_a_function(frame) else None
    while frame.f_back and is_between(frame):
        frame = frame.f_back
    return _Asker(frame, entry, given)


def _calls_a_function(frame: FrameType) -> bool:
    """Return whether a frame is of a transform, which calls the function that it was given."""
    code = frame.f_code
    return library_of(frame) == _OURS and "fun" in code.co_varnames + code.co_freevars


def _who_and_instead(asker: _Asker, how: str) -> tuple[str, str]:
    """Return the name of the function that takes the numbers, and what to write instead."""
    frame, entry, given = asker
    if not how.endswith("(x)"):
        return how, cut_advice.for_function(how)
    name = how
    if entry is not None:
        name = _exported(str(entry.f_globals.get("__name__", "")), entry.f_code.co_qualname)
    if given is not None:
        if entry is not None or isinstance(given, (BuiltinFunctionType, type)):
            name = public_name(given)
        return name, cut_advice.for_function(name)
    expression = expression_of(frame)
    if expression is None:
        return name, cut_advice.for_function(name)
    node, text = expression.node, expression.text()
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return cut_advice.for_assignment(expression, node)
    if isinstance(node, ast.BinOp):
        values = [_value_of(side, frame) for side in (node.left, node.right)]
        if all(map(_is_plain, values)) and entry is not None:  # an operand without a name
            values[isinstance(values[0], Tensor)] = entry.f_locals.get("self")
        others = [None if _is_plain(v) else public_name(type(v)) for v in values]
        return cut_advice.for_operator(expression, node, others)
    quoted = f" in `{text}`" if len(text) <= cut_advice.SHORT else ""
    if not isinstance(node, ast.Call):
        return name + quoted, cut_advice.for_function(name)
    called = _called_name(node, frame)
    if called is not None:
        name = called
    elif entry is None and isinstance(node.func, ast.Attribute):
        method = node.func.attr
        name = f"np.ndarray.{method}" if method in _METHODS else f"the method {method}"
    return name + quoted, cut_advice.for_call(name, expression, node)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (Tensor, np.ndarray, np.generic, int, float))


def _value_of(node: ast.AST, frame: FrameType) -> Any:
    """Return what a name stands for in a frame; None for other expressions."""
    if not isinstance(node, ast.Name):
        return None
    spaces = (frame.f_locals, frame.f_globals, vars(builtins))
    return next((space[node.id] for space in spaces if node.id in space), None)


def _called_name(call: ast.Call, frame: FrameType) -> str | None:
    """Return the full name of the function that a call is of; None if that cannot be said."""
    parts: list[str] = []
    node: ast.AST = call.func
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    owner = _value_of(node, frame)
    while parts and isinstance(owner, ModuleType):
        inner = getattr(owner, parts[0], None)
        if not isinstance(inner, ModuleType):
            break
        owner = inner
        parts.pop(0)
    if owner is None:
        return None
    if isinstance(owner, ModuleType):
        held = getattr(owner, parts[0], None) if len(parts) == 1 else None
        if inspect.isroutine(held) or isinstance(held, (type, np.ufunc)):
            return public_name(held)
        return ".".join([_short(owner.__name__), *parts])
    if not parts:
        return public_name(owner)
    kind = owner if isinstance(owner, type) else type(owner)
    return ".".join([public_name(kind), *parts])


# -- names ------------------------------------------------------------------------------------


def public_name(value: Any) -> str:
    """Return the name by which users know a function or a class; of other values, their class's.

    Examples
    --------
    >>> import math, numpy as np
    >>> public_name(math.sin), public_name(np.array), public_name(np.random.default_rng(0))
    ('math.sin', 'np.array', 'np.random.Generator')
    """
    if isinstance(value, np.ufunc):
        home = "numpy" if getattr(np, value.__name__, None) is value else "scipy.special"
        return _exported(home, value.__name__)
    if not hasattr(value, "__qualname__"):
        value = type(value)
    return _exported(getattr(value, "__module__", None) or "", value.__qualname__)


def _exported(module: str, name: str) -> str:
    """Return a dotted name without the private modules in which a library keeps a function."""
    if module in ("", "builtins", "__main__"):
        return name
    parts = module.split(".")
    for length in range(1, len(parts)):
        holder = sys.modules.get(".".join(parts[:length]))
        if hasattr(holder, name.partition(".")[0]):
            return _short(".".join([*parts[:length], name]))
    return _short(f"{module}.{name}")


def _short(name: str) -> str:
    return f"np{name[5:]}" if name == "numpy" or name.startswith("numpy.") else name
