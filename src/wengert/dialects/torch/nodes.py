"""Nodes of this dialect: what they keep, pack and give up, and nodes that stand for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.dialects.torch.modes import current
from wengert.dialects.torch.tensors import Leaf, is_unreached, label_of, line_at, line_of, mark
from wengert.engine.cotangents import Block, add
from wengert.engine.node import Edge, Node, Tokens, meet, new_node
from wengert.engine.op import ALIAS, OUTPUT
from wengert.engine.record import output_node
from wengert.engine.sweep import leading_to
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


def keeps_arrays(node: Node) -> bool:
    """Return whether a node keeps any array that PyTorch's would."""
    if node.op.name == "gather_flat":  # positions stand for the strides of a view
        return False
    return any(True for _ in arrays_of(node))


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
        keeps = node.op.keeps
        if keeps is False or type(node.values) is Freed:
            return
        if keeps is None and not (keeps_arrays(node) or is_part_written(node)):
            return
        node.values = gone
        if node.others:
            node.others = tuple([(parent, argument, gone) for parent, argument, _ in node.others])
        if node.op.captures and hasattr(node.op, "release"):
            node.op.release(gone)

    return free


def freed_error(node: Node) -> RuntimeError:
    """Return the error about a node whose saved tensors are needed and are not there any more."""
    values: Any = node.values
    return RuntimeError(
        f"{label_of(node)} of {line_of(node)} is needed a second time, and the backward at "
        f"{line_at(values.code, values.last)} has freed its saved tensors; write retain_graph=True "
        "there"
    )


def unpacked(nodes: list[Node], sources: set[Node]) -> Callable[[], None]:
    """Unpack what nodes have packed, and return what brings that back where it was not freed."""
    packed = [node for node in nodes if type(node.values) is Packed]
    if not packed:
        return lambda: None
    on_path = set(passed(nodes, sources))
    kept = [(n, n.values, n.others) for n in packed if n in on_path]
    for node, values, _ in kept:
        assert type(values) is Packed
        values.unpack(node)

    def pack_again() -> None:
        for node, values, others in kept:
            if type(node.values) is not Freed:
                node.values, node.others = values, others

    return pack_again


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
            g = g if g.dtype == node.dtype else xp.astype(g, node.dtype)
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
