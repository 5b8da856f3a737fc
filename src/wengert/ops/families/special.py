"""Operations with rules of their own, for one argument or for all, and compositions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node, Values
from wengert.engine.op import Op
from wengert.errors import RuleError
from wengert.ops.families.declare import (
    Function,
    Operation,
    Rule,
    Tests,
    by_name,
    declared,
    register,
)
from wengert.ops.families.reduction import Linewise


def special(
    name: str,
    *rules: Rule | None,
    args: Sequence[str] = ("x",),
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    variadic: bool = False,
    block: Callable[..., Any] | None = None,
    linear: bool = False,
    **tests: Unpack[Tests],
) -> Operation[Any]:
    """Declare an operation with rules of its own; `block` as in `Op.pull_block`.

    `linear` says that the result is linear in each argument while the others do not change.
    """
    op = Op(name, args, compute or by_name(name), rules, params, variadic)
    op.linear = linear
    if block is not None:
        op.pull_block = block  # type: ignore[method-assign]
    return declared(op, tests)


class Joint(Op):
    """One rule returns the cotangents of all arguments, for those that share work."""

    family = "joint"

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the rule's answers, which is called once for all arguments."""
        g = g.todense(xp) if type(g) is Block else g
        found = self._answers(xp, g, edges[0][2])
        return [found[argument] for _, argument, _ in edges]

    def _answers(self, xp: Any, g: Any, values: Values) -> Sequence[Any]:
        rule: Any = self.rules[0]
        found: Sequence[Any] = rule(xp, g, *values)
        if len(found) != len(self.args):
            raise RuleError(
                f"{self.name}: the rule returned {len(found)} cotangents for the arrays "
                f"{self.args}; return one for each, None where the derivative is zero"
            )
        return found


class JointLinewise(Joint, Linewise):
    """One rule for all arguments, the first of which goes line by line: layer norm."""

    family = "linewise"

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the rule's answers on the lines that g touches."""
        if type(g) is not Block:
            return super().pull(xp, g, node, edges, sweep)
        region, wide, here = self._lines(xp, g, node, 0, edges[0][2])
        found = self._answers(xp, wide, here)
        return [
            Block(parent.shape, region, found[0]) if argument == 0 else found[argument]
            for parent, argument, _ in edges
        ]


def joint(
    name: str,
    rule: Rule,
    *,
    args: Sequence[str],
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    lines: bool = False,
    **tests: Unpack[Tests],
) -> Operation[Any]:
    """Declare an operation by one rule ``(xp, g, ...) -> (cotangent of each argument)``.

    `lines` says that the first argument goes as in `linewise`.
    """
    kind = JointLinewise if lines else Joint
    op = kind(name, args, compute or by_name(name), [rule] * len(args), params)
    return declared(op, tests)


def composite(name: str = "", **tests: Unpack[Tests]) -> Callable[[Function], Function]:
    """Declare a function whose body is other operations; it needs no rule, only tests.

    `name` is its name in the registry, such as "linalg.trace", if it is not in the main namespace.
    """

    def declare(function: Function) -> Function:
        return register(function, None, name, "composite", tests)

    return declare
