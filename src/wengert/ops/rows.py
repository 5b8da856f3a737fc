"""Rows of a table, whose cotangents somebody may want as they come: for each row that was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.engine.batching import Level
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Values
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.ops import batching
from wengert.ops.families import declared, sample
from wengert.ops.indexing import index, index_examples, index_transpose

#: ``(node, indices, rows) -> bool`` is offered cotangents of rows, and says whether it takes them.
collector: ContextVar[Callable[[Node, np.ndarray, Any], bool] | None] = ContextVar(
    "wengert_rows", default=None
)


class Rows(Op):
    """x[indices]: rows of a table."""

    linear = copies = True
    #: whether there is a node of this operation anywhere
    recorded = False

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        """Return g in the rows that were read; None if it is collected."""
        shape, indices = values
        rows = xp.reshape(g, (indices.size, *shape[1:]))
        flat = indices.reshape(-1)
        taken_by = collector.get()
        if taken_by is not None and taken_by(node, flat, xp.astype(rows, node.dtype)):
            return None
        return index_transpose(xp, rows, shape, (flat.astype(np.intp),))

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the rows of the tangent."""
        ((_, _, (_, indices), t),) = edges
        if type(t) is Block:
            return NotImplemented
        return batching.call(xp, "index", t, key=(indices,))


def _rows_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    plain: Op = index.op
    return index_examples(plain, level, arrays, mapped, {"key": (params["indices"],)})


ROWS = Rows(
    "rows",
    ("x",),
    lambda xp, x, indices: xp.index(x, (indices,)),
    [lambda xp, g, x_shape, indices: None],  # `pull_array` has the rule
    ("indices",),
)
declared(
    ROWS,
    {
        "batch": _rows_of_examples,
        "samples": [
            sample((4, 2), indices=np.array([2, 0, 2])),
            sample((3,), indices=np.array([[1, 0], [2, 2]])),
            sample((3, 2), indices=np.array(1)),
        ],
        "reference": lambda x, indices: x[indices],
        "doc": "Return rows of an array; indices are inside of it.",
    },
)


def rows_of(table: Tensor, indices: Any) -> Tensor:
    """Return rows of a table; indices are inside of it."""
    found: Tensor = apply(ROWS, (table,), {"indices": indices})
    ROWS.recorded = ROWS.recorded or found._node is not None
    return found
