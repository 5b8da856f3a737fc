"""The shapes of any number of arguments, and where each of them lies when they are joined."""

from __future__ import annotations

import itertools


class Shapes(tuple[tuple[int, ...], ...]):
    """The shapes of an operation's arguments, in order."""

    _starts: dict[int, list[int]]

    def span(self, position: int, axis: int) -> tuple[int, int]:
        """Return where an argument begins and ends along an axis on which all are joined.

        It is asked for each of perhaps thousands of arguments, so all places are found at once.
        """
        if not hasattr(self, "_starts"):
            self._starts = {}
        starts = self._starts.get(axis)
        if starts is None:
            lengths = (shape[axis] for shape in self)
            starts = self._starts[axis] = [0, *itertools.accumulate(lengths)]
        return starts[position], starts[position + 1]
