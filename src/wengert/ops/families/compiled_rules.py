"""Rules of functions of each element as one kernel each, for libraries that compile expressions.

A rule such as ``g * cos(x)`` launches a kernel for each of its operations, and for small arrays a
launch takes longer than what the kernel does. So the rule is called once with symbols for its
arguments, which write down the expression, and the library compiles that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends.namespace import FUNCTIONS, Own
from wengert.engine.op import Op


class Unwritten(Exception):
    """A rule does what has no place in an expression."""


class _Symbol:
    """An expression of C, over arrays of a type T, that grows as a rule computes with it."""

    __array_ufunc__ = None  # a NumPy array says that it cannot compute with this
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, operations: int = 0) -> None:
        self.text, self.operations = text, operations

    def __getattr__(self, name: str) -> Any:
        raise Unwritten(name)

    def _refuse(self, *_: Any) -> Any:
        raise Unwritten

    __bool__ = __eq__ = __ne__ = _refuse

    def __neg__(self) -> _Symbol:
        return _Symbol(f"(-{self.text})", self.operations + 1)

    def __add__(self, other: Any) -> _Symbol:
        return _joined(self, "+", other)

    def __radd__(self, other: Any) -> _Symbol:
        return _joined(other, "+", self)

    def __sub__(self, other: Any) -> _Symbol:
        return _joined(self, "-", other)

    def __rsub__(self, other: Any) -> _Symbol:
        return _joined(other, "-", self)

    def __mul__(self, other: Any) -> _Symbol:
        return _joined(self, "*", other)

    def __rmul__(self, other: Any) -> _Symbol:
        return _joined(other, "*", self)

    def __truediv__(self, other: Any) -> _Symbol:
        return _joined(self, "/", other)

    def __rtruediv__(self, other: Any) -> _Symbol:
        return _joined(other, "/", self)


class _Functions:
    """The namespace of symbols."""

    def __getattr__(self, name: str) -> Callable[[Any], _Symbol]:
        if name not in FUNCTIONS:
            raise Unwritten(name)

        def function(x: Any) -> _Symbol:
            x = _symbol(x)
            return _Symbol(f"{name}({x.text})", x.operations + 1)

        return function


def _symbol(value: Any) -> _Symbol:
    if isinstance(value, _Symbol):
        return value
    if isinstance(value, (int, float)) and math.isfinite(value):
        return _Symbol(f"T({float(value)!r})")
    raise Unwritten


def _joined(one: Any, sign: str, two: Any) -> _Symbol:
    one, two = _symbol(one), _symbol(two)
    return _Symbol(f"({one.text} {sign} {two.text})", one.operations + two.operations + 1)


def expression(op: Any) -> str | None:
    """Return the rule of a function of one array as an expression of C.

    It is None for other operations, and for a rule of one kernel already.
    """
    if op.family != "elementwise" or len(op.args) != 1 or op.params or op.chosen or op.transposed:
        return None
    try:
        found = op.rules[0](_Functions(), *map(_Symbol, ("g", *op.reads[0])))
    except (Unwritten, TypeError):
        return None
    return found.text if isinstance(found, _Symbol) and found.operations > 1 else None


def compiled(op: Op, xp: Any) -> Own | None:
    """Return an operation with its rule as a kernel of a library; None if that has no such."""
    if xp.compiled is None or (text := expression(op)) is None:
        return None
    names = ("g", *(op.reads[0] or ()))
    kernel = xp.compiled(xp, f"rule_of_{op.name.replace('.', '_')}", names, text)
    if kernel is None:
        return None
    given = ", ".join(names)
    alike = "".join(f" and {name}.dtype is dtype" for name in names[1:])
    source = f"""def rule({given}):
    dtype = g.dtype
    if (dtype is double or dtype is single){alike}:
        return kernel({given})
    return NotImplemented
"""
    double, single = (np.dtype(d) if isinstance(d, type) else d for d in (xp.float64, xp.float32))
    known: dict[str, Any] = {"kernel": kernel, "double": double, "single": single}
    exec(source, known)
    return Own(rule=known["rule"])
