"""Operations of Wengert with another library's choices where mathematics leaves one."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Sequence
from typing import Any

from wengert.engine.record import apply
from wengert.ops.families import Elementwise, Reduction

Rule = Callable[..., Any]


def with_rules(
    function: Any,
    *rules: Rule | None,
    chosen: Sequence[Rule] = (),
    compute: Callable[..., Any] | None = None,
    name: str = "",
) -> Any:
    """Return an elementwise function with these rules; its operation is the attribute `op`.

    The values are the same, unless `compute` says otherwise, and so is the name.
    """
    base = function.op
    op = Elementwise(name or base.name, base.args, compute or base.compute, rules, base.params)
    if compute is None:
        op.numpy_function, op.aliases = base.numpy_function, base.aliases
    op.chosen = tuple(chosen)

    def call(*args: Any, **params: Any) -> Any:
        return apply(op, args, params)

    call.op = op  # type: ignore[attr-defined]
    return call


def reduction_with(function: Any, rule: Rule) -> Any:
    """Return a reduction with another rule; its operation is the attribute `op`."""
    base = function.op
    op = Reduction(base.name, base.args, base.compute, [rule], base.params)

    def call(x: Any, **params: Any) -> Any:
        return apply(op, (x,), params)

    call.op = op  # type: ignore[attr-defined]
    return call


def named(function: Any, name: str) -> Any:
    """Return an elementwise function's operation under another name, as the attribute `op`."""
    op = copy.copy(function.op)
    op.name = name
    return types.SimpleNamespace(op=op)


def operation(
    name: str,
    *rules: Rule | None,
    compute: Callable[..., Any],
    numpy: Callable[..., Any] | None = None,
) -> Any:
    """Return an elementwise operation that only a dialect has, as the attribute `op`.

    ``compute(xp, x)``, or ``(xp, x1, x2)`` and so on, has its values; `numpy` is NumPy's own
    function for them, if there is one.
    """
    args = ("x",) if len(rules) == 1 else tuple(f"x{k + 1}" for k in range(len(rules)))
    op = Elementwise(name, args, compute, rules)
    op.numpy_function = numpy
    op.aliases = False
    return types.SimpleNamespace(op=op)
