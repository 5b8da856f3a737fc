"""What users call a node: its operation, its dtype, and the line that recorded it."""

from __future__ import annotations

import os

from wengert.engine.node import Node
from wengert.engine.op import OUTPUT
from wengert.engine.tensor import dtype_name
from wengert.explain.lines import instruction_of

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def name_of_node(node: Node) -> str:
    """Return the name of a node's operation; a result of several has its position."""
    if node.op is OUTPUT and node.parent is not None:
        return f"{name_of_node(node.parent)}[{node.argument}]"
    return getattr(node, "label", "") or node.op.name


def dtype_of_node(node: Node) -> str:
    """Return the name of a node's dtype, or of those of several results."""
    given = node.dtype if isinstance(node.dtype, list) else [node.dtype]
    return ", ".join(dict.fromkeys(map(dtype_name, given)))


def is_leaf(node: Node) -> bool:
    """Return whether a node is of a watched tensor or variable, which no operation has made."""
    return not node.op.args


def line_of_node(node: Node) -> str:
    """Return "file:line" of the operation that made a node; "" if it does not know."""
    made = instruction_of(node)
    return "" if made is None or made.code.co_filename.startswith(_PACKAGE) else made.location
