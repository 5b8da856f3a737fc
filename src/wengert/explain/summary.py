"""What a tape holds: operations, the memory of their residuals, and what is watched.

A tape has no list of its nodes. They live as long as tensors that were computed with them, so a
summary is of the nodes that some targets lead to, or of all that are alive.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from wengert import backends
from wengert.backends.memory import owner_of
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Token
from wengert.engine.op import OUTPUT, Op
from wengert.engine.tensor import Tensor
from wengert.explain.nodes import dtype_of_node, is_leaf, line_of_node, name_of_node
from wengert.explain.tables import Bytes, Table, Tables, counted

#: How many of the heaviest nodes are listed.
HEAVIEST = 10
_OURS = __name__.partition(".")[0]
#: Objects of ours that a node refers to and does not keep, and what is quickly passed by.
_NO_ARRAYS = (Node, Token, Op, backends.Namespace, type, str, int, float, type(None))


class OperationSummary(NamedTuple):
    """The nodes of one operation.

    `bytes` is memory that no older node holds, so that the bytes of all operations add up;
    `also_held_by` names the operations that hold some of it as well.
    """

    name: str
    nodes: int
    bytes: Bytes
    also_held_by: tuple[str, ...]


class NodeSummary(NamedTuple):
    """A node, the names by which its rules read the arrays it keeps, and the size of these.

    `bytes` is all memory that the node refers to, whoever else does. `line` is "" if unknown.
    """

    operation: str
    shape: Any
    dtype: str
    residuals: tuple[str, ...]
    bytes: Bytes
    line: str


class WatchedSummary(NamedTuple):
    """A watched tensor, or a variable, which has a name."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Summary(Tables):
    """What a tape holds: prints as tables. `GradientTape.summary` returns it, with an example.

    Attributes
    ----------
    nodes
        How many operations are recorded; those that a sweep has freed are in `freed`.
    bytes
        The memory that all residuals take together. Views count as what they are views of, and
        memory that several nodes keep counts once.
    operations
        An `OperationSummary` for each operation, most memory first.
    heaviest
        A `NodeSummary` for each of the ten nodes that keep the most memory.
    watched
        A `WatchedSummary` for each tensor and variable that is watched.
    """

    def __init__(self, nodes: Collection[Node], token: Token) -> None:
        variables = {v._leaf: v.name for v in token.variables.values()}
        nodes = sorted((n for n in nodes if n.op is not OUTPUT), key=lambda node: node.order)
        ended = [node for node in nodes if node.parent is None or node in token.starts]
        recorded = [node for node in nodes if node.parent is not None and node not in token.starts]
        self.nodes = len(recorded)
        watched = [node for node in ended if is_leaf(node) or node in token.starts]
        self.freed = len(ended) - len(watched)
        self.watched = [
            WatchedSummary(variables.get(n, n.op.name), n.shape, dtype_of_node(n)) for n in watched
        ]
        self._account(recorded)

    def _account(self, recorded: Sequence[Node]) -> None:
        """Find out who keeps what."""
        counts = Counter(name_of_node(node) for node in recorded)
        bytes_of = dict.fromkeys(counts, 0)
        holders: dict[int, dict[str, None]] = {}  # the operations that keep each memory, in order
        sizes: dict[int, int] = {}
        weights: list[tuple[int, Node]] = []
        for node in recorded:
            kept = dict(owner_of(array) for _, array in residuals(node))
            for key, size in kept.items():
                if key not in holders:
                    holders[key], sizes[key] = {}, size
                    bytes_of[name_of_node(node)] += size
                holders[key][name_of_node(node)] = None
            weights.append((sum(kept.values()), node))
        self.bytes = Bytes(sum(sizes.values()))
        also: dict[str, dict[str, None]] = {name: {} for name in counts}
        for first, *others in holders.values():
            also[first].update(dict.fromkeys(others))
        self.operations = sorted(
            (OperationSummary(n, counts[n], Bytes(bytes_of[n]), tuple(also[n])) for n in counts),
            key=lambda operation: (-operation.bytes, -operation.nodes, operation.name),
        )
        weights.sort(key=lambda pair: (-pair[0], pair[1].order))
        self.heaviest = [_summarised(node, n) for n, node in weights[:HEAVIEST] if n]

    def tables(self) -> list[Table]:
        """Return the tables that it prints as."""
        freed = f", {self.freed:,} freed by a sweep" if self.freed else ""
        title = f"{counted(self.nodes, 'node')}{freed}, which keep {self.bytes} for their rules"
        rows = [(o.name, o.nodes, o.bytes, ", ".join(o.also_held_by)) for o in self.operations]
        found = [Table(title, ("operation", "nodes", "keeps", "also kept by"), rows)]
        if self.heaviest:
            header = ["operation", "shape", "dtype", "keeps", "residuals", "line"]
            heavy = [
                [n.operation, str(n.shape), n.dtype, n.bytes, ", ".join(n.residuals), n.line]
                for n in self.heaviest
            ]
            known = len(header) if any(n.line for n in self.heaviest) else -1
            shown = [row[:known] for row in heavy]
            found.append(Table("heaviest nodes", header[:known], shown))
        kinds = Counter((w.name, str(w.shape), w.dtype) for w in self.watched)
        alike = [(*kind, count) for kind, count in kinds.items()]
        title = f"{counted(len(self.watched), 'tensor')} watched"
        return [*found, Table(title, ("watched", "shape", "dtype", "count"), alike)]


def alive(token: Token) -> list[Node]:
    """Return all nodes of a tape that something still refers to."""
    return [
        o
        for o in gc.get_objects()
        if issubclass(type(o), Node) and token in getattr(o, "tokens", ())  # asks no object itself
    ]


def residuals(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that a node keeps, with the names by which its rules read them."""
    for _, argument, values in node.edges:
        reads = node.op.reads[0 if node.op.variadic else argument] or ()
        names = reads if len(reads) == len(values) else [""] * len(values)
        for name, value in zip(names, values, strict=True):
            for array in _arrays_in([value]):
                yield name, array


def _arrays_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the raw arrays among values, in containers and in objects of ours.

    What else a user's function refers to is not a node's. Other nodes have their own.
    """
    pending, seen = list(values), set()
    while pending:
        value = pending.pop()
        if id(value) in seen or isinstance(value, _NO_ARRAYS):
            continue
        seen.add(id(value))
        if isinstance(value, (tuple, list, set, frozenset)):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
        elif type(value) is Tensor:
            pending.append(value._raw)
        elif type(value) is Block:
            pending += [value.values, value._mask]
        elif type(value).__module__.partition(".")[0] == _OURS:
            pending += _attributes(value)
        elif backends.namespace_of(value) is not None and backends.has_values(value):
            yield value


def _attributes(value: Any) -> list[Any]:
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ())]
    found = [getattr(value, slot, None) for slot in slots if slot != "__weakref__"]
    return [*found, *getattr(value, "__dict__", {}).values()]


def _summarised(node: Node, size: int) -> NodeSummary:
    kept = {name for name, _ in residuals(node)}
    names = tuple(name for name in node.op.names if name in kept)
    kind = node.shape, dtype_of_node(node)
    return NodeSummary(name_of_node(node), *kind, names, Bytes(size), line_of_node(node))
