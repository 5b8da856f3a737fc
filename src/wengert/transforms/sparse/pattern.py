"""Sparsity patterns: which elements of a result depend on which elements of the argument.

A pattern is a sparse matrix of booleans: a row for each element of a node, a column for each
element it may depend on. What an operation does to a pattern follows from its family:

    elementwise     rows are those of the operands at the same position, joined
    position maps   run on an array of positions, they tell which row each element has
    reductions      rows of all elements that are reduced to one are joined
    other linear    the matrix of the operation, if its other operands are constants
    the rest        what `Op.depends` says along each axis, which may be more than is needed

"Global" patterns hold for every argument: both branches of `where`, every element for `max`. A
"local" pattern leaves out what has a derivative of 0 at this argument.

Many programs use copies of their argument: slices, rolled or padded arrays. An element of a
copy reaches far fewer elements of the result than its original, often just one. So patterns are
found with respect to the copies (the `Cut`), and so are derivatives. Copies are position maps, and
take no arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wengert import backends
from wengert.engine.batching import Batched, opened
from wengert.engine.cotangents import Block
from wengert.engine.forward import pushed_through
from wengert.engine.node import Node
from wengert.engine.op import ALIAS, OUTPUT
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import BackendError, WengertError
from wengert.regions import whole
from wengert.transforms.sweeps import all_examples

Positions = NDArray[np.intp]
#: The most elements of the matrix of one operation that is computed to look for zeros ...
LARGEST = 4_000_000
#: ... and the most that a pattern may have.
MOST = 200_000_000


@dataclass(frozen=True)
class Cut:
    """The nodes that copy elements of the argument, and are used for more than copies.

    `nodes` are their indices among the recorded nodes, oldest first. Nodes that copy the same
    elements in the same order share a part of the cut; `parts` has the part of each node. Part k
    begins at starts[k], and the last of `starts` is the size of the cut. `sources` has the flat
    position in the argument for each element of the parts in turn, or -1 if it copies no element.
    """

    nodes: tuple[int, ...]
    parts: tuple[int, ...]
    starts: tuple[int, ...]
    sources: Positions


def find_cut(xp: Any, nodes: Sequence[Node], source: Node, target: Node) -> Cut:
    """Return the copies of `source` among nodes (oldest first) that `target` is computed from."""
    copies: dict[Node, Positions] = {source: np.arange(math.prod(source.shape))}
    used: set[Node] = {target}
    for node in nodes:
        if node is source:
            continue
        edges = [edge for edge in node.edges if edge[0] in copies]
        found = None
        if len(edges) == len(node.edges) and node.dtype == source.dtype:
            found = _copied(xp, node, [(edge, copies[edge[0]]) for edge in edges])
        if found is None:
            used.update(parent for parent, _, _ in edges)
        else:
            copies[node] = found
    positions = [i for i, node in enumerate(nodes) if node in copies and node in used]
    distinct: list[Positions] = []
    parts = []
    for i in positions:
        mine = copies[nodes[i]]
        known = (k for k, other in enumerate(distinct) if np.array_equal(mine, other))
        part = next(known, len(distinct))
        if part == len(distinct):
            distinct.append(mine)
        parts.append(part)
    starts = np.cumsum([0, *map(len, distinct)]).tolist()
    sources = np.concatenate(distinct) if distinct else np.zeros(0, np.intp)
    return Cut(tuple(positions), tuple(parts), tuple(starts), sources)


def _copied(xp: Any, node: Node, edges: list[tuple[Any, Positions]]) -> Positions | None:
    """Return where in the argument the elements of a position map of copies are from."""
    total: Positions | None = None
    for edge, source in edges:
        positions = _gathered(xp, node, edge)
        if positions is None:
            return None
        here = np.where(positions < 0, -1, source[positions]) if source.size else positions
        if total is not None and ((total >= 0) & (here >= 0)).any():
            return None  # a sum of two elements, as of x.at[key].add, is no copy
        total = here if total is None else np.maximum(total, here)
    return total


def find_pattern(
    xp: Any, nodes: Sequence[Node], cut: Cut, target: Node, local: bool = False
) -> csr_array:
    """Return the pattern of `target` with respect to the elements of a cut.

    Beside shapes, it depends on the `structure` of each node.
    """
    columns = np.where(cut.sources < 0, -1, np.arange(len(cut.sources)))
    width = len(columns)
    known = [_selection(columns[i:j], width) for i, j in pairwise(cut.starts)]
    patterns = {nodes[i]: known[part] for i, part in zip(cut.nodes, cut.parts, strict=True)}
    for node in nodes:
        if node in patterns:
            continue
        parts = [
            _through(xp, node, edge, patterns[edge[0]], local)
            for edge in node.edges
            if edge[0] in patterns
        ]
        if parts:
            patterns[node] = _joined(parts)
            if patterns[node].nnz > MOST:
                raise WengertError(
                    f"the pattern has more than {MOST:,} elements at {node!r}, so it is not "
                    "sparse; write wg.jacobian, or wg.hvp for products"
                )
    height = math.prod(target.shape)
    return patterns.get(target, csr_array((height, width), dtype=bool))


def structure(node: Node) -> tuple[Any, ...]:
    """Return what a pattern relies on at a node: parameters, and where constants are zero.

    An operation on each element has none of it.
    """
    op = node.op
    if op.pointwise:
        return ()
    if op is OUTPUT:
        return (node.argument,)
    arrays = op.arrays
    found: list[Any] = []
    for _, argument, values in node.edges:
        reads = op.reads[0 if op.variadic else argument] or ()
        named = zip(reads, values, strict=True)
        skipped = arrays.union(getattr(op, "numbers", ()))
        found += [_compared(v) for name, v in named if name not in skipped]
        if _matters(node):
            known = [v for name, v in zip(reads, values, strict=True) if name in arrays]
            found += [Constant(v, zeros=True) for v in _flat(known)]
    return tuple(found)


#: Parameters of other types, such as the function of a checkpoint, say nothing of a pattern.
_COMPARED = (int, float, str, slice, range, type(None))


def _compared(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_compared, value))
    if isinstance(value, _COMPARED):
        return value
    return None if backends.namespace_of(value) is None else Constant(value)


class Constant:
    """An array that a pattern relies on: on its elements, as for indices, or on its zeros."""

    def __init__(self, array: Any, zeros: bool = False) -> None:
        self.array, self.zeros = array, zeros
        self.known: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """Return the elements, or where they are not zero, in host memory."""
        if self.known is None:
            values = _numpy(self.array)
            self.known = values != 0 if self.zeros else values
        return self.known

    def holds_for(self, other: Constant, trusted: bool) -> bool:
        """Return whether a pattern that relies on this array holds for another.

        An array on a device is compared there, and the answer read, unless it is `trusted`.
        """
        if other.array is self.array:
            return True
        if tuple(other.array.shape) != self.read().shape:
            return False
        if backends.is_on_host(other.array):
            theirs = other.read()
            return bool(self._same(np, theirs, self.read()))
        if trusted:
            return True
        xp: Any = backends.namespace_of(other.array)
        theirs = other.array != 0 if self.zeros else other.array
        try:
            return bool(self._same(xp, theirs, xp.asarray(self.read())))
        except Exception as error:
            raise BackendError(
                f"the indices or constant operands of a plan are compared with those it was made "
                f"with, and an array of {xp.name} has no values yet ({type(error).__name__}); pass "
                "arrays that are known beforehand, or make the plan with check=False, which trusts "
                "these arrays"
            ) from error

    def _same(self, xp: Any, theirs: Any, mine: Any) -> Any:
        return xp.all(~theirs | mine) if self.zeros else xp.all(theirs == mine)

    def __getstate__(self) -> dict[str, Any]:
        return {"array": None, "zeros": self.zeros, "known": self.read()}


def read_constants(found: Any) -> None:
    """Read the arrays of a structure, which are compared with those of later calls."""
    if type(found) is Constant:
        found.read()
    elif type(found) is tuple:
        for part in found:
            read_constants(part)


def holds(then: Any, now: Any, trusted: bool = False) -> bool:
    """Return whether the pattern of one structure holds for another."""
    if then is now:
        return True
    if type(then) is Constant:
        return type(now) is Constant and then.holds_for(now, trusted)
    if type(then) is tuple:
        return (
            type(now) is tuple
            and len(then) == len(now)
            and all(holds(a, b, trusted) for a, b in zip(then, now, strict=True))
        )
    return bool(type(now) is not Constant and then == now)


def _only_moves(node: Node, argument: int) -> bool:
    """Return whether an operation may be one that moves elements: its rule reads no numbers."""
    op = node.op
    if not op.linear or type(node.shape) is list:
        return False
    return not op.arrays.intersection(op.reads[0 if op.variadic else argument] or ())


def _flat(values: Any) -> list[Any]:
    return [x for v in values for x in (v if type(v) is tuple else (v,))]


def _matters(node: Node) -> bool:
    """Return whether the zeros of a node's other operands are looked at."""
    if not node.op.linear or len(node.edges) != 1:
        return False
    size = math.prod(node.shape) * math.prod(node.edges[0][0].shape)
    return 0 < size <= LARGEST


def _selection(columns: Positions, width: int) -> csr_array:
    """Return the matrix with one element in each row, at a column; none where that is -1."""
    kept = columns >= 0
    starts = np.zeros(len(columns) + 1, np.intp)
    np.cumsum(kept, out=starts[1:])
    inner = columns if kept.all() else columns[kept]
    return csr_array((np.ones(len(inner), bool), inner, starts), shape=(len(columns), width))


def _joined(parts: list[csr_array]) -> csr_array:
    total = parts[0]
    for part in parts[1:]:
        if part is not total:
            total = total + part
    return total


def _rows(pattern: csr_array, positions: Positions) -> csr_array:
    """Return rows of a pattern, and empty ones for positions of -1."""
    count = pattern.shape[0]
    if len(positions) == count and np.array_equal(positions, np.arange(count)):
        return pattern
    if positions.size and positions.min() < 0:
        starts = np.append(pattern.indptr, pattern.indptr[-1])
        pattern = csr_array(
            (pattern.data, pattern.indices, starts), shape=(count + 1, pattern.shape[1])
        )
        positions = np.where(positions < 0, count, positions)
    return pattern[positions]


def _gathered_into(pattern: csr_array, positions: Positions, size: int) -> csr_array:
    """Return the pattern whose row i joins all rows of another with positions[row] == i."""
    if len(positions) == size and np.array_equal(positions, np.arange(size)):
        return pattern
    if not len(positions):
        return csr_array((size, pattern.shape[1]), dtype=bool)
    return _selection(positions, size).T.tocsr() @ pattern


# -- one operation ------------------------------------------------------------------------------


def _through(xp: Any, node: Node, edge: Any, pattern: csr_array, local: bool) -> csr_array:
    """Return the part of a node's pattern that comes by one edge from a parent's pattern."""
    argument, op = edge[1], node.op
    if op is ALIAS:
        return pattern
    if op is OUTPUT or type(node.shape) is list:
        return _all_of(node, pattern)
    groups = op.grouping(node, edge)
    if groups is not None:
        into, out = groups.of_argument, groups.of_result
        if local and op.has_partials:
            alive = _alive(xp, node, edge).ravel()
            if op.pointwise and out is not None:
                alive = np.broadcast_to(alive, (math.prod(node.shape),))
                out = np.where(alive, out, -1)
            else:
                pattern = _rows(pattern, np.where(alive, np.arange(len(alive)), -1))
        if into is not None:
            pattern = _gathered_into(pattern, into, groups.total)
        return pattern if out is None else _rows(pattern, out)
    if op.linear and (local or not getattr(op, "numbers", ())):
        positions = _gathered(xp, node, edge)
        if positions is not None:
            return _rows(pattern, positions)
        positions = _scattered(xp, node, edge) if _only_moves(node, argument) else None
        if positions is not None:
            return _gathered_into(pattern, positions, math.prod(node.shape))
        matrix = _matrix(xp, node, edge)
        if matrix is not None:
            return matrix @ pattern
    return _by_axes(node, edge) @ pattern


def _all_of(node: Node, pattern: csr_array) -> csr_array:
    """Return a pattern in which everything depends on all that a parent depends on."""
    shapes = node.shape if type(node.shape) is list else [node.shape]
    size = max(math.prod(shape) for shape in shapes)
    if node.op is OUTPUT:
        size = math.prod(node.shape)
    columns = np.unique(pattern.indices)
    if size * len(columns) > MOST:
        raise WengertError(f"{node!r} depends on all of its argument, so the pattern is not sparse")
    starts = np.arange(size + 1) * len(columns)
    every = np.tile(columns, size)
    return csr_array((np.ones(len(every), bool), every, starts), shape=(size, pattern.shape[1]))


def _labels(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of distinct numbers for the elements of a node."""
    size = math.prod(node.shape)
    random = np.random.default_rng(0)
    numbers = random.uniform(1.0, 2.0, size)
    if backends.kind_of(node.dtype) == "c":
        numbers = numbers + 1j * random.uniform(1.0, 2.0, size)
    return np.arange(1.0, size + 1), numbers


def _as_places(one: np.ndarray, two: np.ndarray, numbers: np.ndarray) -> Positions | None:
    """Return which labels are where, if nothing was done to them but moving."""
    found, other = np.real(one).ravel(), two.ravel()
    positions = np.rint(found).astype(np.intp) - 1
    if not (one.ravel() == positions + 1.0).all():
        return None
    if (positions < -1).any() or (positions >= len(numbers)).any():
        return None
    if np.iscomplexobj(numbers) and not np.iscomplexobj(other):
        return None
    exact = np.append(numbers, 0.0).astype(other.dtype)  # the last is for positions of -1
    return positions if (exact[positions] == other).all() else None


def _moved_to(
    xp: Any, node: Node, move: Callable[[Any], Any], shape: tuple[int, ...]
) -> Positions | None:
    """Return which element of a node is where in an array of a shape that a map makes; -1: none."""
    labels = _labels(node)
    results = [move(xp.asarray(n.reshape(node.shape), dtype=node.dtype)) for n in labels]
    if results[0] is None:
        return np.full(math.prod(shape), -1)
    one, two = map(_numpy, results)
    return _as_places(one, two, labels[1]) if one.shape == shape else None


def _gathered(xp: Any, node: Node, edge: Any) -> Positions | None:
    """Return which element of a parent each element of a position map is; -1 for none."""
    parent, argument, values = edge
    if node.op is ALIAS:
        return np.arange(math.prod(parent.shape))
    if not _only_moves(node, argument):
        return None

    def moved(t: Any) -> Any:
        return pushed_through(xp, node, [(parent, argument, values, t)])

    return _moved_to(xp, parent, moved, node.shape)


def _scattered(xp: Any, node: Node, edge: Any) -> Positions | None:
    """Return to which element of the result each element of an argument goes; -1 for none."""
    return _moved_to(xp, node, lambda g: node.op.pull(xp, g, node, [edge])[0], edge[0].shape)


def _numpy(value: Any) -> np.ndarray:
    if type(value) is Block:
        value = value.todense()
    return backends.to_numpy(value)


def _matrix(xp: Any, node: Node, edge: Any) -> csr_array | None:
    """Return where the matrix of an operation is not zero, if its other operands are constants."""
    parent, argument, values = edge
    width, height = math.prod(parent.shape), math.prod(node.shape)
    if not _matters(node):
        return None
    found = np.zeros((height, width), bool)
    for unit in (1.0, 1j) if backends.kind_of(parent.dtype) == "c" else (1.0,):
        eye = unit * np.eye(width).reshape((width, *parent.shape))
        with opened(width) as level:
            t = wrap(Batched(level, wrap(xp.asarray(eye, dtype=parent.dtype))))
            moved = pushed_through(Tensor._namespace, node, [(parent, argument, values, t)])
            if moved is not None:
                columns = all_examples(moved, level).numpy()
                found |= columns.reshape(width, height).T != 0
    return csr_array(found)


def _alive(xp: Any, node: Node, edge: Any) -> np.ndarray:
    """Return where the partial derivatives of an operation, at its argument, are not 0."""
    alive: Any = None
    for unit in (1.0, 1j) if backends.kind_of(node.dtype) == "c" else (1.0,):
        weights = xp.asarray(np.full(node.shape, unit), dtype=node.dtype)
        with np.errstate(all="ignore"):
            (part,) = node.op.pull(xp, weights, node, [edge])
        if part is not None:
            here = _numpy(part.kept(xp) if type(part) is Block else part) != 0
            alive = here if alive is None else alive | here
    return np.zeros(node.shape, bool) if alive is None else np.asarray(alive)


def _by_axes(node: Node, edge: Any) -> csr_array:
    """Return the pattern of an operation from what `Op.depends` says along each axis.

    An element depends on the intersection of the regions of its indices. That is exact for
    products, convolutions and windows, and may be too large for other operations.
    """
    shape, inner = node.shape, edge[0].shape
    size = math.prod(shape)
    low = [np.zeros(shape, np.intp) for _ in inner]
    high = [np.full(shape, n, np.intp) for n in inner]
    for axis, length in enumerate(shape):
        bounds = np.array([_bounds(node, edge, axis, i) for i in range(length)])
        if bounds.size:
            bounds = bounds.reshape(length, len(inner), 2)
            column = (-1, *(1,) * (len(shape) - axis - 1))
            for b in range(len(inner)):
                np.maximum(low[b], bounds[:, b, 0].reshape(column), out=low[b])
                np.minimum(high[b], bounds[:, b, 1].reshape(column), out=high[b])
    rows = np.arange(size)
    positions = np.zeros(size, np.intp)
    total = np.ones(size, np.intp)
    for b in range(len(inner)):
        total *= np.maximum(high[b] - low[b], 0).ravel()
    if total.sum() > MOST:
        raise WengertError(f"{node!r} depends on too much of its argument to be sparse")
    for b, length in enumerate(inner):
        first, last = low[b].ravel()[rows], high[b].ravel()[rows]
        counts = np.maximum(last - first, 0)
        starts = np.cumsum(counts) - counts
        along = np.arange(counts.sum()) - np.repeat(starts, counts) + np.repeat(first, counts)
        positions = np.repeat(positions, counts) * length + along
        rows = np.repeat(rows, counts)
    matrix = csr_array(
        (np.ones(len(rows), bool), (rows, positions)), shape=(size, math.prod(inner))
    )
    matrix.sum_duplicates()
    return matrix


def _bounds(node: Node, edge: Any, axis: int, position: int) -> list[tuple[int, int]]:
    """Return the range of an argument, along each axis, that a slice of the result depends on."""
    parent, argument, values = edge
    region = [*whole(node.shape)]
    region[axis] = range(position, position + 1)
    found = node.op.depends(tuple(region), node, parent, argument, values)
    if found is None:
        return [(0, n) for n in parent.shape]
    return [(int(min(r)), int(max(r)) + 1) if len(r) else (0, 0) for r in found]
