"""When tapes and accumulators record: which nodes are made while each of them is open.

In TensorFlow a tangent is computed together with its value, and recorded by the tapes and
accumulators that were entered before its own accumulator. Here tangents are computed when they are
asked for, so an accumulator needs to know who recorded when each node was made.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.tensors import tensor_of
from wengert.engine.node import Token, active
from wengert.engine.op import leaf

#: Whether a tf.function runs, where Python's numbers that a branch returns count as tensors.
in_function: ContextVar[bool] = ContextVar("wengert_tensorflow_in_function", default=False)


def as_constant(value: Any) -> Any:
    """Return a number as a tensor where a tf.function runs, and other values as they are."""
    numbers = in_function.get() and isinstance(value, (bool, int, float, complex, np.generic))
    return tensor_of(value) if numbers else value


class Span:
    """The nodes that are made while a recorder is open: their orders are from start to stop."""

    __slots__ = ("_late", "before", "start", "stop", "token")

    def __init__(self, token: Token, before: Sequence[Span] = ()) -> None:
        self.token = token
        #: the recorders that were entered before this one
        self.before = before
        self.start = now()
        self.stop: float = math.inf
        #: nodes that were made later, but belong to a node of this span: (from, to, node)
        self._late: list[tuple[int, int, int]] = []

    def time(self, order: int) -> int | None:
        """Return the order of the node that one belongs to; None if it is not of this span."""
        if self.start <= order < self.stop:
            return order
        place = bisect_right(self._late, order, key=lambda late: late[0]) - 1
        if place >= 0 and order < self._late[place][1]:
            return self._late[place][2]
        return None

    def outer(self, order: int) -> list[Span]:
        """Return the spans of recorders entered before this one that have a node too."""
        time = self.time(order)
        return [] if time is None else [s for s in self.before if s.time(time) is not None]

    def take(self, start: int, stop: int, time: int) -> None:
        """Have nodes that were made just now belong to a node of this span."""
        self._late.append((start, stop, time))


#: The spans that are not over.
_open: dict[Token, Span] = {}


def now() -> int:
    """Return an order between the nodes so far and those to come."""
    return leaf((), None).order


def begin(token: Token, before: Sequence[Span] = ()) -> Span:
    """Return the span of a recorder that is entered now."""
    span = _open[token] = Span(token, before)
    return span


def end(token: Token) -> None:
    """End the span of a recorder that is left now."""
    span = _open.pop(token, None)
    if span is not None:
        span.stop = now()


def recording() -> list[Span]:
    """Return the spans of all recorders that are open in this thread or task."""
    return [_open.get(token) or Span(token) for token in active.get()]
