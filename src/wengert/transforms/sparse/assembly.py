"""From the results of sweeps to the elements of the matrix.

On NumPy elements are copied by slices where that can be. On other libraries all results are
one flat array, from which elements are gathered by indices that each device gets once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wengert.transforms.sparse.colouring import Colouring
from wengert.transforms.sparse.pattern import Cut


class Placed:
    """Arrays of a plan on the devices that have seen it, put there once and by name.

    They are not pickled: another process has other devices.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Any, Any], Any] = {}

    def __call__(self, name: str, array: Any, xp: Any, like: Any) -> Any:
        """Return an array, or what a function returns, where `like` is; `xp` computes that."""
        where = xp.location(like)
        key = name, xp, where
        if key not in self._kept:
            self._kept[key] = xp.place(array() if callable(array) else array, where)
        return self._kept[key]

    def __reduce__(self) -> Any:
        return Placed, ()


class Assembly:
    """Where the elements of the matrix are in the results of all sweeps, one after another.

    Element k is the sum of the results at flat[i] for all i with order[i] == k, after the results
    at some positions were subtracted from others, step by step.
    """

    def __init__(
        self,
        flat: NDArray[np.intp],
        order: NDArray[np.intp],
        size: int,
        steps: tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...] = (),
    ) -> None:
        self.size, self.steps = size, steps
        first = np.zeros(len(order), bool)
        first[np.unique(order, return_index=True)[1]] = True
        #: the first term of each element, and the positions of the others and of what they are in
        self.flat, self.order = flat[first], order[first]
        self.more, self.into = flat[~first], order[~first]
        # a Hessian's pattern is symmetric, and what only its transpose has is zero
        self.full = len(self.order) == size
        self.gaps = np.full(size, -1)
        self.gaps[self.order] = self.flat

    def __call__(self, xp: Any, results: list[Any], placed: Placed) -> Any:
        """Return the elements from flat results, where these are."""
        flat = results[0] if len(results) == 1 else xp.concat(results)
        for i, pair in enumerate(self.steps):
            take, put = (placed(f"step {i}.{j}", a, xp, flat) for j, a in enumerate(pair))
            flat = flat - xp.scatter_flat(_taken(xp, flat, take), tuple(flat.shape), put)
        gaps = placed("gaps", self.gaps, xp, flat)
        data = _taken(xp, flat, gaps) if self.full else xp.gather_flat(flat, (self.size,), gaps)
        if len(self.more):
            terms = _taken(xp, flat, placed("more", self.more, xp, flat))
            data = data + xp.scatter_flat(terms, (self.size,), placed("into", self.into, xp, flat))
        return data


def _taken(xp: Any, flat: Any, positions: Any) -> Any:
    return xp.take(flat, positions, axis=0)


class Moves:
    """An assembly of the cotangents of a cut on NumPy.

    `moves` are (colour, part of the cut, positions in it, positions in the data), and `sums` the
    same for values that are added. Positions are slices where they can be, as for stencils: these
    cost a third of an index array.
    """

    def __init__(self, cut: Cut, assembly: Assembly) -> None:
        self.size = assembly.size
        self.moves = _moves(cut, assembly.flat, assembly.order)
        self.sums = _moves(cut, assembly.more, assembly.into)
        self.blank = np.empty if assembly.full else np.zeros

    def __call__(self, results: list[list[np.ndarray]], dtype: Any) -> np.ndarray:
        """Return the elements from results by colour and part."""
        data: np.ndarray = self.blank(self.size, dtype)
        for colour, part, take, put in self.moves:
            data[put] = results[colour][part][take]
        for colour, part, take, put in self.sums:
            np.add.at(data, put, results[colour][part][take])
        return data


def _moves(cut: Cut, flat: NDArray[np.intp], order: NDArray[np.intp]) -> list[tuple[Any, ...]]:
    width = max(len(cut.sources), 1)
    colours, columns = flat // width, flat % width
    parts = np.searchsorted(cut.starts, columns, side="right") - 1
    keys = colours * len(cut.starts) + parts
    by_key = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[by_key], append=-1)) + 1
    moves = []
    for here in np.split(by_key, ends[:-1]) if len(ends) else []:
        colour, part = int(colours[here[0]]), int(parts[here[0]])
        take = _progression(columns[here] - cut.starts[part])
        moves.append((colour, part, take, _progression(order[here])))
    return moves


def _progression(positions: NDArray[np.intp]) -> Any:
    """Return positions as a slice, if they are at equal distances."""
    step = int(positions[1] - positions[0]) if len(positions) > 1 else 1
    if step < 1 or (np.diff(positions) != step).any():
        return positions
    return slice(int(positions[0]), int(positions[-1]) + 1, step)


def by_colour(colouring: Colouring, size: int) -> Assembly:
    """Return the assembly of whole columns and rows, as `Colouring.recover` reads them."""
    return Assembly(colouring.index, np.arange(size), size, colouring.steps)
