"""The graph of a tape as text, as Graphviz's source and as a drawing."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from wengert.engine.node import Node
from wengert.explain.layout import Box, drawn
from wengert.explain.nodes import dtype_of_node, is_leaf, line_of_node, name_of_node
from wengert.explain.tables import Table, counted

#: The most nodes that are drawn, and that are shown where nobody has asked for all.
DRAWN, SHOWN = 3000, 60
#: The colours of watched tensors, of results, and of what lies between them.
_COLOURS = {"leaf": "#cfe2f3", "target": "#d9ead3", "operation": "#f3f3f3"}


class GraphNode(NamedTuple):
    """A node of a graph: the names of its operations, and the positions of its parents.

    There is more than one operation where a chain is shown as one node. `role` is "leaf",
    "target" or "operation"; `line` is "" if unknown.
    """

    operations: tuple[str, ...]
    shape: Any
    dtype: str
    parents: tuple[int, ...]
    role: str
    line: str

    @property
    def name(self) -> str:
        """What the node is called: its operation, or the shortest way to say a chain of them."""
        return _chain_name(self.operations)


class Graph:
    """Nodes and their parents, in the order they were recorded; prints as a list of them.

    `GradientTape.graph` returns it, with an example. `nodes` are `GraphNode`s.
    """

    def __init__(self, nodes: Sequence[GraphNode]) -> None:
        self.nodes = tuple(nodes)

    # -- as text ------------------------------------------------------------------------

    def text(self, most: int | None = None) -> str:
        """Return a line for each node; with `most`, the first and the last of so many."""
        has_lines = any(node.line for node in self.nodes)
        header = ("#", "operation", "shape", "dtype", "from", *(["line"] if has_lines else []))
        count = len(self.nodes)
        half = count if most is None or most >= count else most // 2
        chosen = [*range(min(half, count)), *range(max(half, count - half), count)]
        digits = len(str(count))
        rows = [
            (
                str(number).rjust(digits),
                node.name,
                str(node.shape),
                node.dtype,
                ", ".join(map(str, node.parents)),
                *([node.line] if has_lines else []),
            )
            for number in chosen
            for node in [self.nodes[number]]
        ]
        lines = Table("", header, rows).text().split("\n")
        if len(rows) < count:
            missing = counted(count - len(rows), "node")
            lines.insert(1 + half, f"... {missing} more, which print(graph) shows")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text(SHOWN)

    def dot(self) -> str:
        """Return the source of a drawing by Graphviz."""
        lines = ["digraph tape {", '  node [shape=box, style="rounded,filled"]']
        for number, node in enumerate(self.nodes):
            label = "\\n".join(_quoted(line) for line in _label(node))
            lines.append(f'  {number} [label="{label}", fillcolor="{_COLOURS[node.role]}"]')
            lines += [f"  {parent} -> {number}" for parent in node.parents]
        return "\n".join([*lines, "}"])

    # -- as a drawing -------------------------------------------------------------------

    def svg(self) -> str:
        """Return a drawing, which a browser shows; nothing else need be installed."""
        if len(self.nodes) > DRAWN:
            raise ValueError(
                f"svg: the graph has {len(self.nodes):,} nodes, and a drawing of more than "
                f"{DRAWN:,} cannot be read; write graph.collapsed() to draw chains as one node, "
                "tape.graph(target, sources) for what lies between two tensors, or graph.dot() "
                "for a program that draws large graphs"
            )
        boxes = [Box(_label(node), _COLOURS[node.role], node.line) for node in self.nodes]
        return drawn(boxes, [node.parents for node in self.nodes])

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self.nodes) <= DRAWN // 10 else None

    def _repr_html_(self) -> str | None:
        if len(self.nodes) <= DRAWN // 10:
            return None  # a notebook takes the drawing
        import html  # which is slow to import

        return f"<pre>{html.escape(self.text(SHOWN))}</pre>"

    # -- chains -------------------------------------------------------------------------

    def collapsed(self) -> Graph:
        """Return the graph with each chain of operations as one node.

        A chain goes on from an operation to another if that is the only one to use the result, and
        if it takes nothing else but watched tensors. A chain that repeats is written once:
        ``(multiply, tanh) x 100``.

        Examples
        --------
        >>> import wengert as wg
        >>> w = wg.Variable(0.5, name="w")
        >>> with wg.GradientTape() as tape:
        ...     y = wg.asarray(1.0)
        ...     for _ in range(100):
        ...         y = wg.tanh(w * y)
        >>> tape.graph(y).collapsed()
        #  operation               shape  dtype    from
        0  w                       ()     float64
        1  (multiply, tanh) x 100  ()     float64  0
        """
        users = [0] * len(self.nodes)
        for node in self.nodes:
            for parent in set(node.parents):
                users[parent] += 1
        last: list[int] = []  # for each node, the position of its chain among those below
        chains: list[list[int]] = []
        for number, node in enumerate(self.nodes):
            inner = {p for p in node.parents if self.nodes[p].role != "leaf"}
            before = inner.pop() if len(inner) == 1 else None
            if before is not None and users[before] == 1 and self.nodes[before].role != "target":
                last.append(last[before])
                chains[last[before]].append(number)
            else:
                last.append(len(chains))
                chains.append([number])
        # a chain comes where its last node was, after all that it takes
        order = sorted(range(len(chains)), key=lambda chain: chains[chain][-1])
        place = {chain: position for position, chain in enumerate(order)}
        return Graph([self._joined(chains[chain], last, place, chain) for chain in order])

    def _joined(
        self, numbers: list[int], last: list[int], place: dict[int, int], chain: int
    ) -> GraphNode:
        nodes = [self.nodes[number] for number in numbers]
        parents = dict.fromkeys(last[p] for node in nodes for p in node.parents)
        return nodes[-1]._replace(
            operations=tuple(name for node in nodes for name in node.operations),
            parents=tuple(place[p] for p in parents if p != chain),
        )


def graph_of(
    nodes: Sequence[Node],
    targets: Collection[Node],
    names: Mapping[Node, str],
    starts: Collection[Node],
) -> Graph:
    """Return the graph of nodes, oldest first.

    `names` are those of variables. Paths begin at leaves and at `starts`.
    """
    place = {node: number for number, node in enumerate(nodes)}
    found = []
    for node in nodes:
        is_first = is_leaf(node) or node in starts
        edges = () if is_first else node.edges
        role = "target" if node in targets else "leaf" if is_first else "operation"
        found.append(
            GraphNode(
                (names.get(node) or name_of_node(node),),
                node.shape,
                dtype_of_node(node),
                tuple(place[parent] for parent, _, _ in edges if parent in place),
                role,
                line_of_node(node),
            )
        )
    return Graph(found)


def _label(node: GraphNode) -> list[str]:
    return [node.name, f"{node.shape} {node.dtype}"]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _chain_name(names: Sequence[str]) -> str:
    """Return the names of a chain's operations, and what repeats once.

    Examples
    --------
    >>> _chain_name(["sin"]), _chain_name(["exp", "add"] * 3)
    ('sin', '(exp, add) x 3')
    >>> _chain_name(["exp"] * 4), _chain_name(list("abcdefg"))
    ('exp x 4', 'a, b, c, ... 3 more ..., g')
    """
    period = _period(names)
    once, times = names[:period], math.ceil(len(names) / period)
    if len(once) > 6:
        once = [*once[:3], f"... {len(once) - 4} more ...", once[-1]]
    text = ", ".join(once)
    if times == 1:
        return text
    return f"({text}) x {times}" if len(once) > 1 else f"{text} x {times}"


def _period(names: Sequence[str]) -> int:
    """Return the length of the shortest piece of which a sequence is a number of repetitions."""
    length = len(names)
    borders = [0] * length  # of each prefix, the longest that is also its end: Knuth, Morris, Pratt
    for i in range(1, length):
        k = borders[i - 1]
        while k and names[i] != names[k]:
            k = borders[k - 1]
        borders[i] = k + (names[i] == names[k])
    period = length - borders[-1]
    return period if length % period == 0 else length
