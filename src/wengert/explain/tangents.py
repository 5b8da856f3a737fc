"""Forward mode, watched: where a tangent became NaN or infinite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import explain
from wengert.engine import forward
from wengert.engine.node import Node, watching
from wengert.engine.sweep import ancestors
from wengert.engine.tape import Part, Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import NonFiniteError

if TYPE_CHECKING:
    from wengert.explain.nonfinite import NonFinite


def push(
    tape: Tape,
    places: Sequence[Part],
    tangents: Sequence[Any],
    targets: Sequence[Tensor],
    dense: bool = True,
) -> list[Any]:
    """Return the tangent of each target, as `engine.forward.push` does.

    Under `wg.debug(nan=True)` one that is not finite is a `NonFiniteError`. What `where` drops may
    be infinite on the way, so the way is looked at only then.
    """
    found = forward.push(tape, places, tangents, targets, dense)
    watcher = watching.get()
    while watcher is not None and not isinstance(watcher, explain.nonfinite.NonFiniteLedger):
        watcher = watcher.outer
    if watcher is not None and not all(map(_is_finite, found)):
        born = _first(tape, places, tangents, targets)
        if born is not None:
            raise NonFiniteError(str(born), born)
    return found


def _is_finite(tangent: Any) -> bool:
    return all(np.isfinite(values).all() for values in _arrays(tangent))


def _arrays(tangent: Any) -> list[np.ndarray]:
    arrays: list[np.ndarray] = explain.nonfinite.as_arrays(Tensor._namespace, tangent)
    return arrays


def _first(
    tape: Tape, places: Sequence[Part], tangents: Sequence[Any], targets: Sequence[Tensor]
) -> NonFinite | None:
    """Return the first operation whose tangent is not finite although its arguments' are."""
    ends = [t._node for t in targets if t._node is not None and tape._token in t._node.tokens]
    nodes = [n for n in reversed(ancestors(ends, tape._token)) if type(n.shape) is not list]
    blank = np.zeros(())
    moved = forward.push(tape, places, tangents, [wrap(blank, node) for node in nodes])
    known: dict[Node, list[np.ndarray]] = dict(zip(nodes, map(_arrays, moved), strict=True))
    for node, values in known.items():
        before = [a for parent, _, _ in node.edges for a in known.get(parent, [])]
        found = (
            explain.nonfinite.born_in_tangent(node, values[0], before)
            if values and node.edges
            else None
        )
        if found is not None:
            return found
    return None
