"""What leaves values as they are, and changes or stops the cotangents that come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from wengert.engine.node import Edges, Node
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.ops import batching


class Structural(Op):
    """What is no operation of mathematics: a value's own node, or a gate for cotangents."""

    family = "structural"


class Refusal(Structural):
    """A value that has no derivative where mathematics has one: a sweep that comes to it raises."""

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Raise the error that the program was promised."""
        kind, message = edges[0][2]
        raise kind(message)


_REFUSAL = Refusal(
    "refusal",
    ("arrays",),
    lambda xp, *arrays, kind, message: arrays[0],
    [lambda xp, g, kind, message: None],  # `pull` raises
    ("kind", "message"),
    variadic=True,
)
_REFUSAL.batch = partial(batching.as_it_is, _REFUSAL)


def refused(value: Any, sources: Iterable[Any], kind: type[Exception], message: str) -> Tensor:
    """Return a value computed from sources; a sweep from it to them raises an error."""
    return apply(_REFUSAL, (value, *sources), {"kind": kind, "message": message})


_SCALING = Structural(
    "scaled",
    ("x", "scale"),
    lambda xp, x, scale: x,
    [lambda xp, g, scale: g * scale, None],
)
_SCALING.batch = partial(batching.as_it_is, _SCALING)


def scaled(x: Any, scale: Any) -> Tensor:
    """Return x, with a derivative that `scale`, an array of its shape, is in place of ones."""
    return apply(_SCALING, (x, scale), {})
