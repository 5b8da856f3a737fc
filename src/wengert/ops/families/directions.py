"""Tangents in many directions at once, as raw arrays whose first axis counts the directions.

A family whose rules take further axes in front says so by `takes_directions`. Then `push` may get
`Directions` in the place of edges. To call operations on batched tensors, as `vmap` does, takes
several times as long as the arithmetic of small arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.engine.batching import Level
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.tensor import wrap


class Directions(list[Any]):
    """Edges with tangents that have an axis of directions in front; `level` counts these."""

    __slots__ = ("level",)

    def __init__(self, edges: Sequence[Any], level: Level) -> None:
        super().__init__(edges)
        self.level = level

    @property
    def lead(self) -> tuple[int]:
        """The lengths of the axes in front: the number of directions."""
        return (self.level.size,)

    def in_line(self, t: Any, node: Node) -> Any:
        """Return a tangent with axes of length 1, so that it broadcasts with arrays of a node."""
        missing = len(node.shape) + 1 - len(t.shape)
        if missing <= 0:
            return t
        return t.reshape((self.level.size, *(1,) * missing, *t.shape[1:]))

    def run(self, op: Op, operands: Sequence[Any], argument: int, params: dict[str, Any]) -> Any:
        """Return an operation on raw arrays, one of which has the axis of directions."""
        mapped = [i == argument for i in range(len(operands))]
        found: Any = op.batch(self.level, [*map(wrap, operands)], mapped, params)  # type: ignore[misc]
        return found._raw


def lead_of(edges: Sequence[Any]) -> tuple[int, ...]:
    """Return the lengths of the axes that tangents have in front: of directions, if any."""
    return edges.lead if type(edges) is Directions else ()
