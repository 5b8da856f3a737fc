"""The tape's graph: one node for each operation that was recorded, and who is recording.

Nodes form one graph that every tape shares. A node holds its parents (nodes,
never tensors) and, for each, just those values that its rule reads. Which tapes care
about a node is a frozenset of tokens; an operation is recorded when that set, taken
from its inputs, meets the set of tapes that record right now.
"""

from __future__ import annotations

import itertools
import threading
import types
import weakref
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wengert.engine.op import Op


class Token:
    """A tape's identity: an object, so that it cannot be mistaken for a later tape's.

    It refers to the variables that the tape watches but not to the tape, which would then
    live as long as any node. Nodes of variables drop tokens that are no longer `alive`.
    `transform` is the name of the transform whose tape it is, in which an implicit conversion is
    an error, and "" for a tape that a user opened, on which it is a warning. `starts` are results
    that the tape did not record and was told to watch: no path leads further back from them.
    One that `only_watches` variables asks for no derivative.
    """

    only_watches = False
    __slots__ = "__weakref__", "alive", "leaves", "starts", "transform", "variables", "watches_read"

    def __init__(self, watches_read: bool, transform: str = "") -> None:
        self.alive = True
        self.leaves = 0  # how many tensors and variables are watched
        self.transform = transform
        self.watches_read = watches_read
        self.variables: dict[int, Any] = {}
        self.starts: Collection[Node] = ()


Tokens = frozenset[Token]
NOBODY: Tokens = frozenset()
#: The tapes that record in this thread or async task.
active: ContextVar[Tokens] = ContextVar("wengert_active", default=NOBODY)
#: Who sees each call and each rule's answer, for explanations and profiles: `explain.watchers`.
watching: ContextVar[Any] = ContextVar("wengert_watching", default=None)


def meet(tokens: Tokens, recording: Tokens) -> Tokens:
    """Return the tokens in both, as the very object `recording` where they are equal."""
    both = tokens & recording
    return recording if len(both) == len(recording) else both


next_order = itertools.count().__next__


#: What a rule reads; a parent, which argument it is, and what its rule reads; several of these.
Values = tuple[Any, ...]
Edge = tuple["Node", int, Values]
Edges = Sequence[Edge]


class Node:
    """One node of the tape.

    An edge leads to a parent: (node, argument number, values that the argument's rule
    reads). The first edge is held in attributes and only `others` in a tuple, because
    most operations have one and the garbage collector visits every tuple. For an operation
    of several results, `shape` and `dtype` are lists. Where a dialect has asked for it, `code`
    and `last` say which instruction made the node, `label` what the dialect calls it, and
    `results` which nodes the dialect shows as one with it.
    """

    __slots__ = (
        "__weakref__", "argument", "code", "dtype", "label", "last", "op", "order", "others",
        "parent", "results", "shape", "tokens", "values",
    )  # fmt: skip
    code: types.CodeType
    last: int
    label: str
    results: Any
    op: Op
    parent: Node | None
    argument: int
    values: Values
    others: tuple[Edge, ...]
    tokens: Tokens
    shape: Any
    dtype: Any
    order: int

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges; none for a watched tensor, and once a sweep has freed the node."""
        if self.parent is None:
            return ()
        return ((self.parent, self.argument, self.values), *self.others)

    def seen(self) -> Node:
        """Return the node that stands for the result where it is read: this one."""
        return self

    def __repr__(self) -> str:
        return f"<{self.op.name} #{self.order}: shape {self.shape}, dtype {self.dtype}>"


def new_node(
    op: Op,
    parent: Node | None,
    argument: int,
    values: Values,
    others: tuple[Edge, ...],
    tokens: Tokens,
    shape: Any,
    dtype: Any,
    kind: type[Any] = Node,
) -> Any:
    """Return a new node. A class without __init__ and this function are faster than one with."""
    node = kind()
    node.op = op
    node.parent = parent
    node.argument = argument
    node.values = values
    node.others = others
    node.tokens = tokens
    node.shape = shape
    node.dtype = dtype
    node.order = next_order()
    return node


_watching = threading.Lock()
_is_alive = attrgetter("alive")


def watch(node: Node, token: Token) -> None:
    """Have a tape care about a node, which forgets tapes that are no longer alive."""
    with _watching:  # threads may watch the same variable at the same time
        if node.parent is not None and token not in node.tokens:
            token.starts = weakref.WeakSet((*token.starts, node))
        token.leaves += token not in node.tokens
        both = frozenset([token, *filter(_is_alive, node.tokens)])
        recording = active.get()
        node.tokens = recording if both == recording else both
