"""The list itself: what an operation is to the engine, one entry, and who is recording.

Entries form one graph that every tape shares. An entry holds its parents (entries,
never tensors) and, for each, just those values that its rule reads. Which tapes care
about an entry is a frozenset of tokens; an operation is recorded when that set, taken
from its inputs, meets the set of tapes that record right now.
"""

from __future__ import annotations

import inspect
import itertools
import math
import threading
import types
import weakref
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from operator import itemgetter
from typing import Any

import numpy as np

from wengert.engine.errors import RuleError


class Token:
    """A tape's identity: an object, so that it cannot be mistaken for a later tape's.

    It refers to the variables that the tape watches but not to the tape, which would then
    live as long as any entry. Entries of variables drop tokens that are no longer `alive`.
    `transform` is the name of the transform whose tape it is, in which an implicit conversion is
    an error, and "" for a tape that a user opened, on which it is a warning. `starts` are results
    that the tape did not record and was told to watch: no path leads further back from them.
    """

    __slots__ = ("alive", "starts", "transform", "variables", "watches_read")

    def __init__(self, watches_read: bool, transform: str = "") -> None:
        self.alive = True
        self.transform = transform
        self.watches_read = watches_read
        self.variables: dict[int, Any] = {}
        self.starts: Collection[Node] = ()


Tokens = frozenset[Token]
NOBODY: Tokens = frozenset()
#: The tapes that record in this thread or async task.
active: ContextVar[Tokens] = ContextVar("wengert_active", default=NOBODY)


def meet(tokens: Tokens, recording: Tokens) -> Tokens:
    """Return the tokens in both, as the very object `recording` where they are equal."""
    both = tokens & recording
    return recording if len(both) == len(recording) else both


_next_order = itertools.count().__next__


Edge = tuple["Node", int, tuple[Any, ...]]


class Node:
    """One entry of the list.

    An edge leads to a parent: (entry, argument number, values that the argument's rule
    reads). The first edge is held in attributes and only `others` in a tuple, because
    most operations have one and the garbage collector visits every tuple. For an operation
    of several results, `shape` and `dtype` are lists. Where a dialect has asked for it, `code`
    and `last` say which instruction made the entry, and `label` what the dialect calls it.
    """

    __slots__ = (
        "__weakref__", "argument", "code", "dtype", "label", "last", "op", "order", "others",
        "parent", "shape", "tokens", "values",
    )  # fmt: skip
    code: types.CodeType
    last: int
    label: str
    op: Op
    parent: Node | None
    argument: int
    values: tuple[Any, ...]
    others: tuple[Edge, ...]
    tokens: Tokens
    shape: Any
    dtype: Any
    order: int

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges; none for a watched tensor, and once a sweep has freed the entry."""
        if self.parent is None:
            return ()
        return ((self.parent, self.argument, self.values), *self.others)

    def seen(self) -> Node:
        """Return the entry that stands for the result where it is read: this one."""
        return self

    def free(self) -> None:
        """Give up the parents and the values."""
        self.parent = None
        self.values = self.others = ()

    def __repr__(self) -> str:
        return f"<{self.op.name} #{self.order}: shape {self.shape}, dtype {self.dtype}>"


def entry(
    op: Op,
    parent: Node | None,
    argument: int,
    values: tuple[Any, ...],
    others: tuple[Edge, ...],
    tokens: Tokens,
    shape: Any,
    dtype: Any,
    kind: type[Any] = Node,
) -> Any:
    """Return a new entry. A class without __init__ and this function are faster than one with."""
    node = kind()
    node.op = op
    node.parent = parent
    node.argument = argument
    node.values = values
    node.others = others
    node.tokens = tokens
    node.shape = shape
    node.dtype = dtype
    node.order = _next_order()
    return node


_watching = threading.Lock()


def watch(node: Node, token: Token) -> None:
    """Have a tape care about an entry, which forgets tapes that are no longer alive."""
    with _watching:  # threads may watch the same variable at the same time
        if node.parent is not None and token not in node.tokens:
            token.starts = weakref.WeakSet((*token.starts, node))
        both = frozenset(t for t in node.tokens if t.alive) | {token}
        recording = active.get()
        node.tokens = recording if both == recording else both


def leaf(shape: Any, dtype: Any) -> Node:
    """Return an entry for a value that nothing was computed from."""
    return entry(LEAF, None, 0, (), (), NOBODY, shape, dtype)


class Op:
    """What the engine must know of an operation.

    A rule is called as ``rule(xp, g, *values)``. The names of its further parameters
    say what it reads, and so what is kept: ``y`` (the result), an argument's name (its
    value), that name followed by ``_shape``, ``shapes`` (of all arguments), a keyword
    parameter of the operation, and for an operation of any number of arguments
    ``position`` (which one the rule is asked about) and ``arrays`` (all their values).

    A subclass is a family: it knows more about its operations, and so overrides
    `pull_block` (how a Block goes through) or `pull` itself.
    """

    family = "special"
    #: whether its rules hold tensors of their own, which a tape may care about
    captures = False
    #: NumPy's own function that computes it, if there is one
    numpy_function: Callable[..., Any] | None = None
    #: whether a cotangent may come back larger than its argument, because that was broadcast
    broadcasts = False
    #: whether a result may share memory with an argument
    aliases = True
    #: whether `pull` is no more than a call of the rule when the result is real
    direct = False
    #: whether `pull_block` takes a Block on a list of positions
    takes_rows = False
    #: whether a rule of several results gets None, in place of zeros, for those not used
    sees_unused = False
    #: whether its result is linear in each argument while the others do not change
    linear = False
    #: whether it holds something from one argument's rule for the next, until `let_go`
    holds = False
    #: whether cotangents of arguments come from ``consume(g, node, argument, values, own)``, which
    #: may write to `g` if it is the sweep's `own`, and whose answers are the sweep's own
    consumes = False
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
        self.rules = tuple(r if r is None or _is_ours(r) else _guarded(r) for r in rules)
        self.picks = tuple(None if r is None else self._pick(r) for r in self.reads)
        #: the names by which rules read arrays of numbers
        self.arrays = frozenset({"y", "arrays", *self.args})
        reads = [set(r) for r in self.reads if r is not None]
        #: whether every entry keeps arrays (True), or none does (False); None if that depends
        self.keeps: bool | None = None
        if reads and all(r & self.arrays for r in reads):
            self.keeps = True
        elif not self.captures and not any(r & {*self.arrays, *self.params} for r in reads):
            self.keeps = False
        #: whether rules read no more than the result and the arguments' values
        self.reads_values_only = set().union(*filter(None, self.reads)) <= {"y", *self.args}

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

    def pull(self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]) -> Any:
        """Return the cotangent of one argument, given that of the result."""
        return self.rules[0 if self.variadic else argument](xp, g, *values)  # type: ignore[misc]

    def pull_block(
        self, xp: Any, g: Any, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return the cotangent for a Block `g`; here, for a family without a rule, densely."""
        return self.pull(xp, g.todense(xp), node, argument, values)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangent of the result, given edges with their parents' tangents.

        An edge is (parent, argument number, values, tangent). NotImplemented has the rules
        transposed, which is what a tangent needs of an operation that says no more.
        """
        return NotImplemented

    def let_go(self) -> None:
        """Forget what was held while the arguments of one entry got their cotangents."""

    def reach(self, region: Any, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region of the result that depends on a region of an argument; None for all."""
        return None

    def depends(self, region: Any, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region of an argument that a region of the result depends on; None for all."""
        return None

    def work(self, region: Any, part: Any, node: Node, argument: int, values: Any) -> int:
        """Return how many multiply-adds take a cotangent on `region` to the argument's `part`."""
        return max(math.prod(map(len, region)), math.prod(map(len, part)))

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


def _guarded(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's rule that cannot write to what it reads, which others read as well."""

    def call(xp: Any, *values: Any) -> Any:
        locked = [v for v in values if isinstance(v, np.ndarray) and v.flags.writeable]
        for value in locked:
            value.flags.writeable = False
        try:
            return rule(xp, *values)
        finally:
            for value in locked:
                value.flags.writeable = True

    return call


#: The entry of a watched tensor, and of one result of an operation that has several.
LEAF = Op("leaf", (), lambda xp: None, ())
OUTPUT = Op("output", ("results",), lambda xp, results: None, (lambda xp, g: g,))
#: A new name for an old value: a transform's argument is not the tensor it was made from.
ALIAS = Op("alias", ("x",), lambda xp, x: x, (lambda xp, g: g,))
ALIAS.pull_block = lambda xp, g, node, parent, argument, values: g  # type: ignore[method-assign]
ALIAS.reach = ALIAS.depends = lambda region, *_: region  # type: ignore[method-assign]
ALIAS.takes_rows = True
