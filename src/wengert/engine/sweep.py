"""The reverse sweep: from cotangents of some nodes to those of others.

The same loop serves every order. With raw arrays, rules compute at full speed. When a
tape is interested in the derivatives themselves, cotangents and the values that rules
read are tensors with their nodes, so that the sweep is recorded in its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Any

from numpy import ndarray

from wengert.backends import is_inexact
from wengert.engine.cotangents import Block, Deferred, add, fit, restrict, zero
from wengert.engine.node import Edge, Edges, Node, Token, Values, watching
from wengert.engine.op import OUTPUT, Op
from wengert.engine.record import output_node
from wengert.engine.tensor import wrap
from wengert.regions import Region, around


def ancestors(targets: Collection[Node], token: Token) -> list[Node]:
    """Return all nodes of a tape that `targets` were computed from, newest first."""
    entries = list(dict.fromkeys(targets))
    seen = set(entries)
    starts = token.starts
    for node in entries:  # grows while it is read
        if starts and node in starts:
            continue
        parent = node.parent
        if parent is not None and parent not in seen and token in parent.tokens:
            seen.add(parent)
            entries.append(parent)
        for parent, _, _ in node.others:
            if parent not in seen and token in parent.tokens:
                seen.add(parent)
                entries.append(parent)
    entries.sort(key=attrgetter("order"), reverse=True)
    return entries


def leading_to(sources: Collection[Node], entries: list[Node]) -> Collection[Node]:
    """Return those of `entries` (newest first) that were computed from a source."""
    if all(node in sources for node in entries if node.parent is None):
        return set(entries)  # every path ends in a source
    wanted = set(sources)
    for node in reversed(entries):
        if any(parent in wanted for parent, _, _ in node.edges):
            wanted.add(node)
    return wanted


class Carried:
    """Cotangents of nodes still to come; sums made here are `owned`, and grow in place."""

    __slots__ = ("cotangents", "defers", "may_write", "own", "owned", "watched", "xp")

    def __init__(self, xp: Any, seeds: dict[Node, Any], may_write: bool, defers: bool) -> None:
        self.xp, self.cotangents, self.may_write, self.defers = xp, seeds, may_write, defers
        self.owned, self.watched = set[Node](), watching.get() is not None
        self.own = False  # whether nothing else holds the cotangent that `pull` is asked about

    def waiting(self, parent: Node) -> Any:
        """Return the cotangent that an operation may add to by itself, if it knows how."""
        return self.cotangents.get(parent) if parent in self.owned and not self.watched else None

    def add(self, op: Op, edge: Edge, part: Any, g: Any) -> None:
        """Add what an operation answers to `g` for the argument that an edge leads to."""
        parent, is_new = edge[0], op.fresh
        held = self.cotangents.get(parent)
        fits = getattr(part, "shape", None) == parent.shape and part.dtype is parent.dtype
        if isinstance(part, Deferred):
            if not (self.defers or part.can_wait):
                part = part.todense(self.xp)
            is_new = True
        if not fits or type(part) is Block:  # `fit` has words for what is no array at all
            if op is OUTPUT:
                return self._add_result(edge, part)
            part = fit(self.xp, op, part, parent)
        if held is not None:
            is_new, own_array = True, type(part) is ndarray is type(held) and part.base is None
            if parent in self.owned and type(part) is type(held):
                held += part  # NumPy's scalars become others
                part = held
            elif own_array and self.may_write and op.computes and part is not g:
                part += held
            else:
                part = add(self.xp, held, part, parent in self.owned)
        self.cotangents[parent] = part
        if is_new and self.may_write and type(part) is not Block:
            self.owned.add(parent)

    def _add_result(self, edge: Edge, part: Any) -> None:
        """Add to the cotangent of one of an operation's several results."""
        whole, position, _ = edge
        parts = self.cotangents.setdefault(whole, [None] * len(whole.shape))
        held = parts[position]
        parts[position] = part if held is None else add(self.xp, held, part)


def reverse(
    xp: Any,
    entries: list[Node],
    seeds: dict[Node, Any],
    sources: set[Node],
    recorded: bool,
    release: Token | None,
    regions: dict[Node, Region] | None = None,
    ends: Collection[Node] = (),
    defers: bool = False,
    free: Callable[[Node], None] | None = None,
    skips_empty: bool = True,
) -> dict[Node, Any]:
    """Return the cotangents of `sources`; those that no path leads to are missing.

    Nodes are visited from the newest to the oldest, so that a cotangent is complete when its node
    is reached. The node's operation answers with cotangents for its arguments, which are added to
    what is carried for these. What was carried for a source is a result.

    `entries` are the seeds' ancestors, newest first. `recorded` says that cotangents are tensors;
    `release`, that each node gives up its edges once they are used (or what `free` takes from it),
    unless another live tape cares about it. Of the sources in `regions` only a part is asked for.
    Paths end at `ends`: no cotangent goes through one of them. Cotangents without elements are zero
    by structure and go no further if `skips_empty`. Deferred ones give answers if `defers`.
    """
    wanted = leading_to(sources, entries)
    limits = reached(regions, entries, wanted, sources) if regions else {}
    known = {node: g for node, g in seeds.items() if node in wanted}
    carried = Carried(xp, known, not recorded and xp.writable, defers)
    cotangents, owned, add_part = carried.cotangents, carried.owned, carried.add
    results: dict[Node, Any] = {}
    array = None if recorded else xp.array
    grow: Any = None if recorded else xp.grow
    some_unwanted, joined = len(wanted) < len(entries), dict[Any, Any]()
    watcher = watching.get()
    for node in entries:
        g = cotangents.pop(node, None)
        if g is None:
            continue
        if limits and node in limits:
            g = restrict(xp, g, limits[node])
        if node in sources:
            ready = not isinstance(g, Deferred)
            results[node] = g if ready else g.answer() if defers else g.todense(xp, joined)
        first = node.parent
        if first is None or (ends and node in ends):
            continue
        op = node.op
        if type(g) is not array and (type(g) in (Block, list) or isinstance(g, Deferred)):
            g = _as_taken(xp, node, g, seeds, skips_empty)
        edge, others = (first, node.argument, node.values), node.others
        edges: Edges = (edge, *others) if others else (edge,)
        for edge in edges if some_unwanted else ():
            if edge[0] not in wanted:
                edges = [edge for edge in edges if edge[0] in wanted]
                break
        if g is not None and edges:
            if recorded:
                edges = recorded_edges(node, edges)
            fresh = op.fresh
            if fresh:
                carried.own = node in owned and node not in sources
            pull = op.pull if watcher is None else watcher.pulling(op)
            parts = iter(pull(xp, g, node, edges, carried))
            for edge in edges:
                parent, part = edge[0], next(parts)
                usual = type(part) is array and part.shape == parent.shape
                usual = usual and part.dtype is parent.dtype
                if usual and not fresh and parent not in cotangents:
                    cotangents[parent] = part
                elif usual and parent in owned and type(cotangents[parent]) is array:
                    cotangents[parent] = grow(cotangents[parent], part)
                elif part is not None:
                    add_part(op, edge, part, g)
        if release is not None and (
            len(node.tokens) == 1 or not any(t.alive for t in node.tokens if t is not release)
        ):
            if free is None:
                node.parent, node.values, node.others = None, (), ()
            else:
                free(node)
    missing = sources - results.keys()
    for node in missing and missing.intersection(entries):  # a path, but to no element
        results[node] = zero(node.shape, node.dtype, like=next(iter(seeds.values())))
    return results


def _as_taken(xp: Any, node: Node, g: Any, seeds: dict[Node, Any], skips_empty: bool) -> Any:
    """Return a Block, or the cotangents of several results, as the node's operation takes them.

    It is None for a Block without elements, which is zero.
    """
    if type(g) is list:
        return [_dense(xp, node, k, part, seeds) for k, part in enumerate(g)]
    if type(g) is not Block:
        return g if node.op.takes_deferred else g.todense(xp)
    if all(map(len, g.region)):
        return g if node.op.takes_rows else g.ranged(xp)
    return None if skips_empty else g.todense(xp)


def reached(
    parts: dict[Node, Region],
    entries: list[Node],
    wanted: Collection[Node],
    sources: Collection[Node],
) -> dict[Node, Region]:
    """Return for each node the region that depends on the given parts, where it is not all.

    Of `sources` that are not among the parts all is asked for.
    """
    limits: dict[Node, Region] = {}
    for node in reversed(entries):
        if node not in wanted or type(node.shape) is list:
            continue
        if not any(parent in wanted for parent, _, _ in node.edges):
            if node in parts:  # nothing further is asked for behind it
                limits[node] = parts[node]
            continue
        if node in sources:
            continue
        region: Region | None = None
        for parent, argument, values in node.edges:
            if parent not in wanted:
                continue
            start = limits.get(parent)
            part = None
            if start is not None:
                part = node.op.reach(start, node, parent, argument, values)
            if part is None:
                region = None
                break
            region = part if region is None else around(region, part)
        if region is not None:
            limits[node] = region
    return limits


def _dense(xp: Any, node: Node, k: int, part: Any, seeds: dict[Node, Any]) -> Any:
    """Return the cotangent of the k-th result of an operation as an array, or None.

    It is None for integers, and where an operation wants to know that nothing uses the result.
    """
    if part is None and is_inexact(node.dtype[k]) and not node.op.sees_unused:
        part = zero(node.shape[k], node.dtype[k], like=next(iter(seeds.values())))
    return part.todense(xp) if type(part) is Block else part


def recorded_edges(node: Node, edges: Edges) -> list[Edge]:
    """Return edges with the values that rules read as tensors with their nodes."""
    return [(parent, k, recorded_values(node, k, values)) for parent, k, values in edges]


def recorded_values(node: Node, argument: int, values: Values) -> tuple[Any, ...]:
    """Return the values that a rule reads as tensors with their nodes."""
    op = node.op
    reads = op.reads[0 if op.variadic else argument] or ()
    if not op.arrays.intersection(reads):
        return values
    parents = {position: parent.seen() for parent, position, _ in node.edges}

    def tensor(name: str, value: Any) -> Any:
        if name == "arrays":
            return tuple(wrap(v, parents.get(i)) for i, v in enumerate(value))
        if name == "y":
            if type(value) is not tuple and type(value) is not list:
                return wrap(value, node.seen())
            return tuple(wrap(v, output_node(node.seen(), i, v)) for i, v in enumerate(value))
        if name in op.args:
            return wrap(value, parents.get(op.args.index(name)))
        return value

    return tuple(map(tensor, reads, values))
