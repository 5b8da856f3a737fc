"""What the engine must know of an operation: its rules, and how cotangents go through it."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.node import NOBODY, Edge, Edges, Node, Values, new_node
from wengert.errors import RuleError


class Grouping(NamedTuple):
    """Elements of an argument in groups: an element of the result depends on all of one group.

    `of_argument` and `of_result` are the number of the group of each element, in order; None if
    each element is a group of its own.
    """

    of_argument: np.ndarray | None
    of_result: np.ndarray | None
    total: int


class Op:
    """What the engine must know of an operation.

    A rule is called as ``rule(xp, g, *values)``. The names of its further parameters
    say what it reads, and so what is kept: ``y`` (the result), an argument's name (its
    value), that name followed by ``_shape``, ``shapes`` (of all arguments), a keyword
    parameter of the operation, and for an operation of any number of arguments
    ``position`` (which one the rule is asked about) and ``arrays`` (all their values).

    A subclass is a family: it knows more about its operations, and so overrides
    `pull_block` (how a Block goes through), `pull_array` or `pull` itself.
    """

    family = "special"
    #: whether its rules hold tensors of their own, which a tape may care about
    captures = False
    #: a function of NumPy arrays that computes it, if there is one; it takes a list of them if
    #: there may be any number
    numpy_function: Callable[..., Any] | None = None
    #: whether a cotangent may come back larger than its argument, because that was broadcast
    broadcasts = False
    #: whether each element of the result depends on one element of each argument
    pointwise = False
    #: whether a rule multiplies by partial derivatives: one for each element of the argument
    has_partials = False
    #: whether an argument may be a Python number
    takes_numbers = False
    #: whether a result may share memory with an argument
    aliases = True
    #: whether `pull_block` takes a Block on a list of positions
    takes_rows = False
    #: whether a cotangent that is not computed yet may go through
    takes_deferred = False
    #: whether `push` takes tangents with an axis of directions: see `ops.families.directions`
    takes_directions = False
    #: whether a rule of several results gets None, in place of zeros, for those not used
    sees_unused = False
    #: whether its result is linear in each argument while the others do not change
    linear = False
    #: whether its results are elements of its arguments, which need not be computed
    copies = False
    #: whether its function of NumPy's rounds once, also narrow floats
    rounds_once = False
    #: whether nothing else holds the arrays that `pull` returns, so that a sweep may write to them
    fresh = False
    #: whether arrays that `pull` returns are new, if they are not the cotangent or views
    computes = False
    #: ``(level, arrays, mapped, params) -> results`` for many examples at once, each array that is
    #: mapped with a first axis for them, as each result; if None, examples are done one by one
    batch: Callable[..., Any] | None = None

    def __init__(
        self,
        name: str,
        args: Sequence[str],
        compute: Callable[..., Any],
        rules: Sequence[Callable[..., Any] | None],
        params: Sequence[str] = (),
        variadic: bool = False,
    ) -> None:
        self.name = name
        self.args = tuple(args)
        self.params = tuple(params)
        self.compute = compute
        self.variadic = variadic
        self.takes_deferred = not self.args  # nothing is computed from the cotangent of a leaf
        if len(rules) != len(self.args):
            raise RuleError(
                f"{name}: takes the arrays {self.args} but declares {len(rules)} rules; "
                "write one for each, or None where the derivative is zero"
            )
        self.rules = tuple(rules)
        values = ["arrays", "position"] if variadic else self.args
        shapes = [] if variadic else [f"{a}_shape" for a in self.args]
        #: what a rule can read, in the order that `record` lays it out
        self.names = ("y", *values, *shapes, "shapes", *self.params)
        self.reads = tuple(None if r is None else self._reads(r) for r in self.rules)
        self.rules = tuple(r if r is None or _is_ours(r) else backends.guarded(r) for r in rules)
        self.picks = tuple(None if r is None else self._pick(r) for r in self.reads)
        #: the names by which rules read arrays of numbers
        self.arrays = frozenset({"y", "arrays", *self.args})
        reads = [set(r) for r in self.reads if r is not None]
        #: whether every node keeps arrays (True), or none does (False); None if that depends
        self.keeps: bool | None = None
        if reads and all(r & self.arrays for r in reads):
            self.keeps = True
        elif not self.captures and not any(r & {*self.arrays, *self.params} for r in reads):
            self.keeps = False

    def _reads(self, rule: Callable[..., Any]) -> tuple[str, ...]:
        """Return the names a rule reads, having checked that they exist."""
        names = parameters_of(rule)
        if names[:2] != ("xp", "g"):
            raise RuleError(f"{self.name}: a rule takes (xp, g, ...), this one {names}")
        unknown = [n for n in names[2:] if n not in self.names]
        if unknown:
            raise RuleError(
                f"{self.name}: a rule reads {unknown}; it can read {', '.join(self.names)}"
            )
        return names[2:]

    def _pick(self, reads: tuple[str, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """Return a fast function from all values to the tuple of those in `reads`."""
        places = [self.names.index(n) for n in reads]
        if len(places) > 1:
            return itemgetter(*places)
        if not places:
            return lambda values: ()
        only = places[0]
        return lambda values: (values[only],)

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents of the arguments that `edges` lead to, given that of the result.

        `g` is an array, a Block, or a list for an operation of several results. If it is the
        sweep's `own`, an operation may write to it. If no sweep asks, no answer is deferred.
        """
        if type(g) is Block:
            return [self.pull_block(xp, g, node, *edge) for edge in edges]
        return [self.pull_array(xp, g, node, argument, values) for _, argument, values in edges]

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        """Return the cotangent of one argument for a dense `g`."""
        return self.rules[0 if self.variadic else argument](xp, g, *values)  # type: ignore[misc]

    def pull_block(
        self, xp: Any, g: Any, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return the cotangent of one argument for a Block `g`; here, without a rule, densely."""
        return self.pull_array(xp, g.todense(xp), node, argument, values)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangent of the result, given edges with their parents' tangents.

        An edge is (parent, argument number, values, tangent). NotImplemented has the rules
        transposed, which is what a tangent needs of an operation that says no more.
        """
        return NotImplemented

    def reach(self, region: Any, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region of the result that depends on a region of an argument; None for all."""
        return None

    def depends(self, region: Any, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region of an argument that a region of the result depends on; None for all."""
        return None

    def grouping(self, node: Node, edge: Edge) -> Grouping | None:
        """Return which elements of the result depend on which of an argument; None if unknown."""
        return None

    def work(self, region: Any, part: Any, node: Node, argument: int, values: Any) -> int:
        """Return how many multiply-adds take a cotangent on `region` to the argument's `part`."""
        return max(math.prod(map(len, region)), math.prod(map(len, part)))

    def narrowed(self, dtype: Any) -> Op:
        """Return the operation on narrow floats, whose results have a dtype: here, itself."""
        return self

    def on(self, xp: Any) -> Op:
        """Return the operation as the library `xp` has it: here, itself."""
        return self

    def __repr__(self) -> str:
        return f"<{self.family} operation {self.name}({', '.join(self.args)})>"


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's parameters; of a plain one without the cost of `inspect`."""
    if type(function) is types.FunctionType and not hasattr(function, "__wrapped__"):
        code = function.__code__
        if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(function).parameters)


def _is_ours(rule: Callable[..., Any]) -> bool:
    return getattr(rule, "__module__", "").partition(".")[0] == __name__.partition(".")[0]


#: The node of a watched tensor, and of one result of an operation that has several.
LEAF = Op("leaf", (), lambda xp: None, ())
OUTPUT = Op("output", ("arrays",), lambda xp, *arrays: None, (lambda xp, g: g,), variadic=True)
#: A new name for an old value: a transform's argument is not the tensor it was made from.
ALIAS = Op("alias", ("x",), lambda xp, x: x, (lambda xp, g: g,))
ALIAS.pull_block = OUTPUT.pull_block = lambda xp, g, *_: g  # type: ignore[method-assign]
ALIAS.reach = ALIAS.depends = lambda region, *_: region  # type: ignore[method-assign]
ALIAS.takes_rows = OUTPUT.takes_rows = True
ALIAS.takes_deferred = True


def leaf(shape: Any, dtype: Any) -> Node:
    """Return a node for a value that nothing was computed from."""
    return new_node(LEAF, None, 0, (), (), NOBODY, shape, dtype)
