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
    """Return values, and those of operations that can be computed from them again.

    `nodes` are newest first. An operation is computed again where all its arguments are known:
    those that nodes stand for, and constants and parameters that a rule reads.
    """
    found = dict(values)
    for node in reversed(nodes):
        if node not in found and node.op.args and not node.op.variadic and not node.op.captures:
            value = _computed_again(node, found)
            if value is not None:
                found[node] = value
    return found


def _computed_again(node: Node, values: dict[Node, Any]) -> Any:
    op = node.op
    known: dict[str, Any] = {}
    for parent, position, kept in node.edges:
        known |= dict(zip(op.reads[position] or (), kept, strict=False))
        if parent in values:
            known[op.args[position]] = values[parent]
    if type(node.shape) is list or not all(name in known for name in (*op.args, *op.params)):
        return None
    xp: Any = backends.namespace_of(known[op.args[0]])
    if xp is None:
        return None
    with np.errstate(all="ignore"):
        arguments = [known[name] for name in op.args]
        return op.compute(xp, *arguments, **{name: known[name] for name in op.params})
