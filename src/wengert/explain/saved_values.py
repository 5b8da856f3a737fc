"""Values that a graph still holds: what rules read, and what follows from that."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.node import Node


def saved_values(nodes: list[Node]) -> dict[Node, Any]:
    """Return the raw value of each node that some rule reads, its own or a child's."""
    found: dict[Node, Any] = {}
    for node in nodes:
        op = node.op
        parents = {position: parent for parent, position, _ in node.edges}
        for _, argument, values in node.edges:
            names = op.reads[0 if op.variadic else argument] or ()
            for name, value in zip(names, values, strict=False):
                if name == "y" and hasattr(value, "shape"):
                    found.setdefault(node, value)
                elif name == "arrays":
                    for position, each in enumerate(value):
                        if position in parents:
                            found.setdefault(parents[position], each)
                elif name in op.args and op.args.index(name) in parents:
                    found.setdefault(parents[op.args.index(name)], value)
    return found


def replayed(nodes: list[Node], values: dict[Node, Any]) -> dict[Node, Any]:
    """Return values, and those of elementwise operations that can be computed from them again.

    `nodes` are newest first. An operation is computed again where all its arguments are known:
    those that nodes stand for, and constants that a rule reads.
    """
    found = dict(values)
    for node in reversed(nodes):
        op = node.op
        if node in found or not op.pointwise or op.params or op.variadic:
            continue
        known: dict[str, Any] = {}
        for parent, position, kept in node.edges:
            names = op.reads[position] or ()
            known |= {n: v for n, v in zip(names, kept, strict=False) if n in op.args}
            if parent in found:
                known[op.args[position]] = found[parent]
        xp = backends.namespace_of(next(iter(known.values()), None))
        if xp is not None and all(name in known for name in op.args):
            with np.errstate(all="ignore"):
                found[node] = op.compute(xp, *[known[name] for name in op.args])
    return found
