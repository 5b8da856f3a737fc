"""Nodes of this dialect: what they keep, pack and give up, and nodes that stand for others."""

from __future__ import annotations

import contextlib
import copy
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch.modes import current
from wengert.dialects.torch.tensors import Leaf, is_unreached, label_of, line_at, line_of, mark
from wengert.engine.cotangents import Block, add
from wengert.engine.node import Edge, Edges, Node, Tokens, meet, new_node
from wengert.engine.op import ALIAS, OUTPUT, Op
from wengert.engine.record import output_node
from wengert.engine.sweep import leading_to, recorded_edges, reverse
from wengert.ops.copies import COPY, Key

# -- the arrays that a node keeps ------------------------------------------------------------------


def arrays_of(node: Node) -> Iterable[np.ndarray]:
    """Return the arrays that a node keeps.

    As in PyTorch, an operation of several arguments keeps none for those that no gradients come to.
    """
    for parent, _, values in node.edges:
        if node.others and is_unreached(parent):
            continue
        for value in values:
            if type(value) is np.ndarray:
                yield value
            elif type(value) is tuple:
                yield from (v for v in value if type(v) is np.ndarray)


#: Views whose positions stand for strides.
_VIEWS = ("AsStridedBackward0", "UnfoldBackward0", "GatherFlatBackward0")


def keeps_arrays(node: Node) -> bool:
    """Return whether a node keeps any array that PyTorch's would."""
    if node.op.name == "gather_flat" and label_of(node) in _VIEWS:
        return False
    others = node.others
    if _has_array(node.values) and not (others and is_unreached(node.parent)):
        return True
    return any(_has_array(v) and not is_unreached(parent) for parent, _, v in others)


def _has_array(values: Any) -> bool:
    for value in values:
        if type(value) is np.ndarray:
            return True
        if type(value) is tuple and np.ndarray in map(type, value):
            return True
    return False


def is_part_written(node: Node) -> bool:
    """Return whether a node is that of a write to a view, which PyTorch sweeps only once."""
    return node.op is COPY and getattr(node, "label", None) == "CopySlices"


#: Among a node's values, says that something is kept which a sweep gives up.
SOMETHING = np.empty(0)


class Freed(tuple[Any, ...]):
    """What is left of a node's values after a sweep has used them: where that was."""

    code: Any = None
    last: int = 0


class Packed(tuple[Any, ...]):
    """The values of a node of which some are packed, and how to unpack all of its edges."""

    unpack: Callable[[Node], None]


def freeing(gone: Freed) -> Callable[[Node], None]:
    """Return what has a node give up its arrays; one that keeps none can be swept again."""

    def free(node: Node) -> None:
        op = node.op
        if (keeps := op.keeps) is False or type(node.values) is Freed:
            return
        if keeps is None and not (
            type(node.values) is Packed or keeps_arrays(node) or is_part_written(node)
        ):
            return
        node.values = gone
        if node.others:
            node.others = tuple([(parent, argument, gone) for parent, argument, _ in node.others])
        if op.captures and hasattr(op, "release"):
            op.release(gone)

    return free


def freed_error(node: Node) -> RuntimeError:
    """Return the error about a node whose saved tensors are needed and are not there any more."""
    values: Any = node.values
    return RuntimeError(
        f"{label_of(node)} of {line_of(node)} is needed a second time, and the backward at "
        f"{line_at(values.code, values.last)} has freed its saved tensors; write retain_graph=True "
        "there"
    )


def unpacked(nodes: list[Node]) -> Callable[[], None]:
    """Have a sweep unpack what each of some nodes has packed when it comes to it.

    Return what ends that.
    """
    packed = [(node, node.op) for node in nodes if type(node.values) is Packed]
    for node, op in packed:
        node.op = copy.copy(op)
        node.op.pull = functools.partial(_pull_unpacked, op)  # type: ignore[method-assign]

    def end() -> None:
        for node, op in packed:
            node.op = op

    return end


def _pull_unpacked(op: Op, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Any:
    """Return the cotangents of a node's arguments, with what it has packed unpacked."""
    asked = {argument for _, argument, _ in edges}
    with as_unpacked(node):
        edges = [edge for edge in node.edges if edge[1] in asked]
        edges = edges if xp is backends.NUMPY else recorded_edges(node, edges)
        return op.pull(xp, g, node, edges, sweep)


@contextlib.contextmanager
def as_unpacked(node: Node) -> Iterator[None]:
    """Return a context in which a node has what it has packed."""
    values, others = node.values, node.others
    if type(values) is not Packed:
        yield
        return
    values.unpack(node)
    try:
        yield
    finally:
        if type(node.values) is not Freed:
            node.values, node.others = values, others


def is_shown(node: Node) -> bool:
    """Return whether a node is one of the program's operations, and no part of one."""
    return type(node) is Leaf or hasattr(node, "code")


# -- nodes of a sweep ------------------------------------------------------------------------------


def passed(nodes: list[Node], sources: set[Node]) -> list[Node]:
    """Return the nodes that a sweep to some sources goes through."""
    wanted = leading_to(sources, nodes)
    return [node for node in nodes if any(parent in wanted for parent, _, _ in node.edges)]


def within(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes and those that are one with them in PyTorch.

    Only the last node of an operation knows its line; a write to a view is part of the base's
    node, and results of a function have one in common.
    """
    joined = list(nodes)
    for node in joined:  # grows while it is read
        for parent, argument, _ in node.edges:
            part = node.op is OUTPUT or (argument == 1 and is_part_written(node))
            if type(parent) is not Leaf and (part or not hasattr(parent, "code")):
                joined.append(parent)
    return joined


# -- nodes that stand for others -------------------------------------------------------------------


def alias(node: Node, kind: Any = Node) -> Any:
    """Return a node for the same value as another."""
    return new_node(ALIAS, node, 0, (), (), node.tokens, node.shape, node.dtype, kind)


def node_of_write(
    before: Node | None, written: Node | None, raw: Any, path: Any, key: Key, label: str
) -> Node:
    """Return the node of a tensor, a view of which was written to. Nothing is computed."""
    recording = current()
    edges: list[Edge] = []
    tokens: Tokens = frozenset()
    for node, argument in ((written, 1), (before, 0)):
        if node is not None and node.tokens & recording:
            edges.append((node, argument, (path, key)))
            tokens = meet(tokens | node.tokens, recording)
    copy = new_node(COPY, *edges[0], tuple(edges[1:]), tokens, tuple(raw.shape), raw.dtype)
    mark(copy, label)
    return copy


def joint_node(op: Any, edges: list[Edge], tokens: Tokens, metas: list[Any]) -> Node:
    """Return one node for the results of a call, given the shape and the dtype of each."""
    shape, dtype = metas[0] if len(metas) == 1 else map(list, zip(*metas, strict=True))
    return new_node(op, *edges[0], tuple(edges[1:]), tokens, shape, dtype)


def node_of_result(joint: Node, position: int, raw: Any, label: str) -> Node:
    """Return the node of one result of a call, which is the joint node if there is no other."""
    node = output_node(joint, position, raw) if type(joint.shape) is list else joint
    assert node is not None
    mark(node, label)
    return node


def summed(xp: Any, nodes: list[Node], weights: list[Any]) -> dict[Node, Any]:
    """Return what a sweep begins with: for each node the sum of its weights, in its dtype."""
    start: dict[Node, Any] = {}
    for node, g in zip(nodes, weights, strict=True):
        if g is not None:
            same = g.dtype is node.dtype or g.dtype == node.dtype
            g = g if same else xp.astype(g, node.dtype)
            start[node] = add(xp, start[node], g) if node in start else g
    return start


def weights_of(xp: Any, g: Any) -> list[Any]:
    """Return the cotangents of the results of a call, one or several, as dense arrays."""
    g = g.todense(xp) if type(g) is Block else g
    return g if type(g) is list else [g]


class Behind(Node):
    """A node whose result is read from another node: one with hooks, or that of a written view.

    A rule that reads the result reads it from there: so hooks see derivatives of gradients too.
    """

    __slots__ = ("front",)
    front: Any

    def seen(self) -> Node:
        """Return the node in front, if there is anything left that uses it."""
        return self.front() or self


def behind(node: Node) -> Behind:
    """Return a copy of a node that is still to be told the node in front of it."""
    inner = new_node(
        node.op, node.parent, node.argument, node.values, node.others, node.tokens,
        node.shape, node.dtype, Behind,
    )  # fmt: skip
    inner.label, inner.order = label_of(node), node.order
    if hasattr(node, "code"):
        inner.code, inner.last = node.code, node.last
    return inner


# -- several nodes as one ----------------------------------------------------------------------


class Results:
    """The nodes of all results of a call, which are one node to a program.

    They are held weakly, for each of them holds this.
    """

    __slots__ = ("nodes", "shown")

    def __init__(self, nodes: list[weakref.ref[Node]]) -> None:
        self.nodes = nodes
        #: a reference to what a program sees, once it has asked
        self.shown: Any = None

    def position(self, node: Node) -> int:
        """Return which result a node is of."""
        return next(k for k, known in enumerate(self.nodes) if known() is node)


def show_as_one(nodes: Sequence[Node | None]) -> None:
    """Have the nodes of a call's results be one node to a program."""
    found = [node for node in nodes if node is not None and type(node) is not Leaf]
    if len(found) > 1:
        results = Results([weakref.ref(node) for node in found])
        for node in found:
            node.results = results


class Joint(Op):
    """A call of which the tape has several nodes, as one; its rule is a sweep over them."""

    family = "joint"
    captures = True
    sees_unused = True
    #: for each result its node, if anything can still ask for it
    parts: list[Any]
    #: the nodes of the call and those they lead to, newest first, and these alone
    inner: list[Node]
    ends: set[Node]

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents of what the call was given."""
        pairs = zip(self.parts, weights_of(xp, g), strict=True)
        known = [(part, weight) for part, weight in pairs if part is not None]
        seeds = summed(xp, [part for part, _ in known], [weight for _, weight in known])
        if not seeds:
            return [None] * len(edges)
        end = unpacked(self.inner)
        recorded = xp is not backends.NUMPY
        try:
            answers = reverse(
                xp, self.inner, seeds, self.ends, recorded, None, ends=self.ends, skips_empty=False
            )
        finally:
            end()
        return [answers.get(parent) for parent, _, _ in edges]

    def release(self, gone: Freed) -> None:
        """Give up the nodes."""
        self.inner = []


_JOINT = Joint("joint", ("arrays",), lambda xp, *arrays: None, [lambda xp, g: g], variadic=True)


def join(results: Results) -> Node:
    """Return one node in the place of those of some results, and of those inside of the call."""
    fronts = [known() for known in results.nodes]
    insides = [None if node is None else _inside(node) for node in fronts]
    op, edges = _joint_of(insides)
    parts = [part for part in op.parts if part is not None]
    metas = [((), np.dtype(bool)) if p is None else (p.shape, p.dtype) for p in op.parts]
    joint = joint_node(op, edges, parts[0].tokens, metas)
    oldest: Any = min(node.order for node in op.inner if node not in op.ends)
    joint.order = oldest - 0.25
    joint.label, joint.code, joint.last = parts[0].label, parts[0].code, parts[0].last
    for k, (front, inside) in enumerate(zip(fronts, insides, strict=True)):
        if front is not None and inside is not None:
            op.parts[k].front = weakref.ref(front)
            inside.op, inside.parent, inside.argument = OUTPUT, joint, k
            inside.values, inside.others = (), ()
            del front.results
    return joint


def join_inner(node: Node) -> None:
    """Have a node stand for those inside of its call too, and lead to what the call was given."""
    op, edges = _joint_of([node])
    op.parts[0].front = weakref.ref(node)
    node.op, (node.parent, node.argument, node.values) = op, edges[0]
    node.others = tuple(edges[1:])


def _inside(front: Node) -> Node:
    """Return a node, or the one behind its hooks."""
    return front.parent if front.op.family == "hook" and front.parent is not None else front


def _joint_of(nodes: Sequence[Node | None]) -> tuple[Joint, list[Edge]]:
    """Return the operation of a call, and the edges that lead to what the call was given.

    It has copies of the nodes, which no other sweep can free.
    """
    copies: dict[Node, Any] = {node: behind(node) for node in nodes if node is not None}
    ends: dict[Node, None] = {}
    pending = list(copies)
    for node in pending:  # grows while it is read
        for parent, _, _ in node.edges:
            if is_shown(parent):
                ends[parent] = None
            elif parent not in copies:
                copies[parent] = behind(parent)
                copies[parent].front = functools.partial(lambda known: known, parent)
                pending.append(parent)
    for part in copies.values():
        part.parent = copies.get(part.parent, part.parent)
        part.others = tuple([(copies.get(p, p), k, values) for p, k, values in part.others])
    op = copy.copy(_JOINT)
    op.parts, op.ends = [None if node is None else copies[node] for node in nodes], set(ends)
    op.inner = sorted([*copies.values(), *ends], key=attrgetter("order"), reverse=True)
    kept: tuple[Any, ...] = ()
    if any(type(node.values) is Packed or keeps_arrays(node) for node in copies):
        kept = ((SOMETHING, *(array for node in copies for array in arrays_of(node))),)
    kept = next((node.values for node in copies if type(node.values) is Freed), kept)
    return op, [(end, k, kept) for k, end in enumerate(ends)]
