"""Rules of operations on each element as one kernel each, for libraries that compile expressions.

A rule such as ``g * cos(x)`` launches a kernel for each of its operations, and for small arrays a
launch takes longer than what the kernel does. So the rule is called once with symbols for its
arguments, which write down the expression, and the library compiles that.
"""

from __future__ import annotations

import math
import textwrap
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


def expression(op: Any, argument: int = 0) -> tuple[str, int] | None:
    """Return an argument's rule as an expression of C, and how many operations it has.

    It is None where the rule is more than an expression of the elements.
    """
    if op.family != "elementwise" or op.params or op.chosen or op.transposed:
        return None
    try:
        found = op.rules[argument](_Functions(), *map(_Symbol, ("g", *op.reads[argument])))
    except (Unwritten, TypeError):
        return None
    return (found.text, found.operations) if isinstance(found, _Symbol) else None


def compiled(op: Op, xp: Any) -> Own | None:
    """Return an operation with its rules as kernels of a library; None if that has no such.

    A rule of one operation is one kernel anyway, and so are most rules of two arrays. They are
    compiled as well by a library whose own functions are slower than what it compiles.
    """
    if xp.compiled is None or (len(op.args) > 1 and not xp.compiles_all):
        return None
    found = [texts for i in range(len(op.args)) if (texts := expression(op, i))]
    least = 1 if xp.compiles_all else 2
    if len(found) < len(op.args) or all(count < least for _, count in found):
        return None
    kernels: dict[str, Any] = {}
    lines = []
    for i, (text, count) in enumerate(found):
        names = ("g", *(op.reads[i] or ()))
        alike = "".join(f" or {name}.dtype is not dtype" for name in names[1:])
        lines.append(f"part{i} = None\nif wanted[{i}]:")
        if alike:
            lines.append(f"    if {alike[4:]}:\n        return NotImplemented")
        answer = f"kernel{i}({', '.join(names)})" if count else "g"
        lines.append(f"    part{i} = {answer}")
        if count:
            name = f"rule_{i}_of_{op.name.replace('.', '_')}"
            kernels[f"kernel{i}"] = xp.compiled(xp, name, names, text)
    if None in kernels.values():
        return None
    return Own(rule=_rule(op, xp, "\n".join(lines), kernels))


def _rule(op: Op, xp: Any, parts: str, kernels: dict[str, Any]) -> Callable[..., Any]:
    """Return a rule for all arguments of an operation in arrays of real numbers."""
    read = dict.fromkeys(name for reads in op.reads for name in reads or ())
    text = f"""def rule({", ".join(("g", *read, "wanted"))}):
    dtype = g.dtype
    if dtype is not double and dtype is not single:
        return NotImplemented
{textwrap.indent(parts, "    ")}
    return [{", ".join(f"part{i}" for i in range(len(op.args)))}]
"""
    double, single = (np.dtype(d) if isinstance(d, type) else d for d in (xp.float64, xp.float32))
    known: dict[str, Any] = {"double": double, "single": single, **kernels}
    exec(text, known)
    rule: Callable[..., Any] = known["rule"]
    return rule
