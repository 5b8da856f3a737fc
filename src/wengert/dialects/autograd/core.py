"""autograd.core: derivatives of functions on boxes, where a program has classes of its own.

The rule of a function is that of `defvjp` or `defjvp`, if a program has given one; otherwise it is
Wengert's derivative of that function. So what a trace around this one sees of a sweep is one call
for each function and argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.autograd import boxes, calls
from wengert.dialects.autograd.borders import settled
from wengert.dialects.autograd.boxes import Box, Node, boxed, getval, trace
from wengert.dialects.autograd.extend import (
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    vspace,
)
from wengert.dialects.autograd.extend import with_old_methods as primitive
from wengert.dialects.autograd.numpy import boxes as _arrays  # noqa: F401  boxes of arrays
from wengert.dialects.autograd.util import subvals, toposort
from wengert.dialects.autograd.vspaces import NestVSpace
from wengert.errors import NoRuleError, name_of
from wengert.transforms import forward
from wengert.trees import flatten

Function = Callable[..., Any]


def needs_boxes(x: Any) -> bool:
    """Return whether a derivative by x is one of boxes: in a trace, or by a class of a program."""
    if boxes.trace_stack.running:
        return True
    return type(x) is not np.ndarray and any(map(boxes.is_custom, flatten(x)[0]))


def _at(fun: Function, args: Sequence[Any], kwargs: Any, argnums: Sequence[int]) -> Function:
    return lambda moved: fun(*subvals(args, zip(argnums, moved, strict=True)), **kwargs)


# -- reverse mode -----------------------------------------------------------------------------


class VJPNode(Node):
    """A call, and the function from its result's cotangent to those of its arguments."""

    __slots__ = ("parents", "vjp")
    of_derivatives = True

    def __init__(
        self, value: Any, fun: Function, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.parents = parents
        op = getattr(fun, "_wengert_primitive", None)
        if op is None:
            pulls = [_pull(fun, argnum, args, kwargs) for argnum in parent_argnums]
            self.vjp: Function = lambda g: [pull(g, *args) for pull in pulls]
        elif op.vjps is None:
            raise NoRuleError(f"{op.name}: this primitive has no rule for cotangents; write defvjp")
        else:
            self.vjp = op.vjps(parent_argnums, value, args, kwargs)

    def initialize_root(self) -> None:
        """Set up the node of the argument."""
        self.parents, self.vjp = (), lambda g: ()


def _pull(fun: Any, argnum: int, given: Any, kwargs: Any) -> Function:
    """Return the function from a cotangent and arguments to the cotangent of one of them."""
    if hasattr(fun, "pulls") and type(given[0]) is not NestVSpace:
        return fun.pulls[argnum]  # a function of a space of the program's own

    @boxed
    def pull(g: Any, *args: Any) -> Any:
        moving = _at(fun, args, kwargs, (argnum,))
        return calls.Call(moving, (args[argnum],), name_of(fun)).pulled(g)[0]

    pull.__name__ = f"vjp_{name_of(fun)}"
    return pull


def _sum(x: Any, y: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    return vspace(y).add(x, y)


def backward_pass(g: Any, end_node: Any) -> Any:
    """Return the cotangent of a trace's argument, for that of its result."""
    cotangents = {end_node: g}
    for node in toposort(end_node):
        g = cotangents.pop(node)
        parts = [None] * len(node.parents) if g is None else node.vjp(g)
        for parent, part in zip(node.parents, parts, strict=True):
            cotangents[parent] = _sum(cotangents.get(parent), part)
    return g


def make_vjp(fun: Function, x: Any) -> tuple[Function, Any]:
    """Return (vjp, fun's value at x), with values in boxes."""
    value, node = trace(VJPNode.new_root(), fun, x)
    if node is None:
        return lambda g: vspace(x).zeros(), value

    def vjp(g: Any) -> Any:
        found = backward_pass(g, node)
        return vspace(x).zeros() if found is None else found

    return vjp, value


class BoxedCall:
    """One call of `fun` at x, as `calls.Call` is, with values in boxes."""

    def __init__(
        self, fun: Function, x: Any, what: str, has_aux: bool = False, again: bool = False
    ) -> None:
        self.what, self.aux = f"{what}({name_of(fun)})", None

        def first(x: Any) -> Any:
            result, self.aux = fun(x)
            return result

        self._vjp, self.result = make_vjp(first if has_aux else fun, x)

    def leaves(self) -> list[Any]:
        """Return the arrays of the result."""
        return [np.asarray(leaf) for leaf in flatten(getval(self.result))[0]]

    def pulled(self, weights: Any = None) -> Any:
        """Return the cotangents of x, for those of the result, which are ones by default."""
        return settled(self._vjp(vspace(self.result).ones() if weights is None else weights))

    def answer(self) -> Any:
        """Return the result."""
        return settled(self.result)

    def more(self) -> Any:
        """Return what the function gave beside its result."""
        return self.aux._value if isinstance(self.aux, Box) else self.aux


# -- forward mode -----------------------------------------------------------------------------


class JVPNode(Node):
    """A call, and the tangent of its result."""

    __slots__ = ("g",)
    of_derivatives = True

    def __init__(
        self, value: Any, fun: Function, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        tangents = [parent.g for parent in parents]
        op = getattr(fun, "_wengert_primitive", None)
        if op is None:
            self.g = _push(fun, parent_argnums, kwargs)(tangents, *args)
        elif op.jvps is None:
            raise NoRuleError(f"{op.name}: this primitive has no rule for tangents; write defjvp")
        else:
            self.g = op.jvps(parent_argnums, tangents, value, args, kwargs)

    def initialize_root(self, g: Any) -> None:
        """Set up the node of the argument."""
        self.g = g


def _push(fun: Function, argnums: Sequence[int], kwargs: Any) -> Function:
    """Return the function from tangents and arguments to the tangent of the result."""

    @boxed
    def push(tangents: Any, *args: Any) -> Any:
        moving = _at(fun, args, kwargs, argnums)
        primals = tuple(args[argnum] for argnum in argnums)
        return settled(forward.jvp(moving, (primals,), (tuple(tangents),))[1])

    push.__name__ = f"jvp_{name_of(fun)}"
    return push


def make_jvp(fun: Function, x: Any) -> Function:
    """Return a function from a tangent of x to (fun's value, its tangent)."""

    def jvp(g: Any) -> tuple[Any, Any]:
        value, node = trace(JVPNode.new_root(g), fun, x)
        return value, vspace(value).zeros() if node is None else node.g

    return jvp


__all__ = [
    "Box", "JVPNode", "Node", "VJPNode", "VSpace", "backward_pass", "def_linear", "defjvp",
    "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "getval",
    "make_jvp", "make_vjp", "primitive", "toposort", "trace", "vspace",
]  # fmt: skip

#: What is said of tables of rules.
ABSENT = dict.fromkeys(
    ("primitive_jvps", "primitive_vjps"), "rules of NumPy's functions are Wengert's own"
)
