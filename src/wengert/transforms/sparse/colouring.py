"""Colourings: which columns or rows of a sparse matrix one sweep can serve together.

A forward sweep with tangent v gives J @ v, a reverse sweep with cotangent w gives w @ J. Columns that
share no row can be seeded in one sweep, and their elements still be told apart; so can rows that share no
column. A colouring says which ones go together, and where each element of the matrix is found in the
results. The fewer colours, the fewer sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csc_array, csr_array, issparse

from wengert.engine.errors import ShapeError

Ints = NDArray[np.intp]
JacobianMode = Literal["auto", "forward", "reverse", "both"]
SymmetricMode = Literal["star", "acyclic"]

#: Up to so many elements a loop in Python is done before SciPy's optimisers are imported.
SMALL = 10_000
#: How much work, in elements looked at, may go into the search for fewer colours.
EFFORT = 20_000_000
#: So many passes at most in that search.
PASSES = 24
#: The search for a star colouring is a loop in Python, and is left out for more elements than this ...
MANY = 2_000_000
#: ... if columns that share no row can do with this many colours or about as many.
FEW = 64
#: Substitution adds up rounding errors from step to step, so there are only so many.
STEPS = 32
#: Sweeps in both directions need both machineries, so they must save a quarter of the colours.
WORTH = 0.75


@dataclass(frozen=True, eq=False, slots=True)
class Colouring:
    """Groups of columns and rows, and where each element is found in the results.

    Parameters
    ----------
    mode : {"forward", "reverse", "both", "star", "acyclic"}
        "forward": groups of columns, seeded with tangents. "reverse": groups of rows, seeded with
        cotangents. "both": some elements by columns, the others by rows. "star" and "acyclic": groups of
        columns of a symmetric matrix, where an element may be found as its mirror image ("star"), or
        after others are subtracted ("acyclic").
    shape : tuple of int
        The shape of the matrix.
    columns : array of int, or None
        The colour of each column; -1 for a column that is never seeded. None in mode "reverse".
    rows : array of int, or None
        The same for rows, in modes "reverse" and "both".
    column_colours, row_colours : int
        How many colours there are of each.
    index : array of int
        For each element, in the order of the pattern, its place in the results: those for columns, of shape
        `(column_colours, shape[0])`, then those for rows, of shape `(row_colours, shape[1])`, as one flat array.
    steps : tuple of pairs of arrays
        In mode "acyclic", what to subtract from what in the flat array, step by step, before looking.
    """

    mode: str
    shape: tuple[int, int]
    columns: Ints | None
    rows: Ints | None
    column_colours: int
    row_colours: int
    index: Ints
    steps: tuple[tuple[Ints, Ints], ...] = ()

    @property
    def colours(self) -> int:
        """How many sweeps it takes."""
        return self.column_colours + self.row_colours

    def column_seeds(
        self, dtype: DTypeLike = np.float64, start: int = 0, stop: int | None = None
    ) -> NDArray[Any]:
        """Return the tangents of colours `start` to `stop`, one in each row: ones and zeros.

        The product of the matrix and row k is row k of what `recover` takes first.
        """
        return _seeds(self.columns, self.column_colours, self.shape[1], dtype, start, stop)

    def row_seeds(
        self, dtype: DTypeLike = np.float64, start: int = 0, stop: int | None = None
    ) -> NDArray[Any]:
        """Return the cotangents of colours `start` to `stop`, one in each row: ones and zeros.

        The product of row k and the matrix is row k of what `recover` takes second.
        """
        return _seeds(self.rows, self.row_colours, self.shape[0], dtype, start, stop)

    def recover(
        self, forward: NDArray[Any] | None = None, reverse: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the elements of the matrix in the order of the pattern.

        Parameters
        ----------
        forward : array of shape (column_colours, shape[0]), optional
            Row k is the matrix times row k of `column_seeds()`. Left out if there are no such colours.
        reverse : array of shape (row_colours, shape[1]), optional
            Row k is row k of `row_seeds()` times the matrix. Left out if there are no such colours.
        """
        m, n = self.shape
        parts = [
            part
            for part in (
                _checked(forward, (self.column_colours, m), "forward"),
                _checked(reverse, (self.row_colours, n), "reverse"),
            )
            if part is not None
        ]
        if not parts:
            return np.zeros(len(self.index))
        flat = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self.steps:
            flat = flat.copy()
            for take, place in self.steps:
                np.subtract.at(flat, place, flat.take(take))
        return flat.take(self.index)


def _seeds(
    groups: Ints | None, count: int, size: int, dtype: DTypeLike, start: int, stop: int | None
) -> NDArray[Any]:
    wanted = np.arange(count)[start:stop, None]
    if groups is None:
        return np.zeros((0, size), dtype)
    return (groups == wanted).astype(dtype)


def _checked(part: NDArray[Any] | None, shape: tuple[int, int], name: str) -> NDArray[Any] | None:
    """Return one of the two results as a flat array, None if there is none to be had."""
    if part is None:
        if shape[0]:
            raise ShapeError(f"recover: got no `{name}`; this colouring needs it, of shape {shape}")
        return None
    part = np.asarray(part)
    if part.shape != shape:
        raise ShapeError(f"recover: got `{name}` of shape {part.shape}; expected {shape}")
    return part.ravel() if shape[0] else None


def jacobian_colouring(pattern: csr_array, mode: JacobianMode = "auto") -> Colouring:
    """Return groups of columns or rows (or both) from which every element can be read directly.

    Parameters
    ----------
    pattern : csr_array
        The stored elements are those that may differ from zero; their values do not matter.
    mode : {"auto", "forward", "reverse", "both"}
        "auto" takes the one with the fewest colours; forward if equal. It takes both directions only if
        that saves a quarter of the colours.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.0, 5.0]]))
    >>> c = jacobian_colouring(A)
    >>> c.mode, c.colours, c.columns.tolist()
    ('forward', 2, [0, 1, 0])
    >>> c.recover(c.column_seeds() @ A.T)
    array([1., 2., 3., 4., 5.])
    """
    if mode not in get_args(JacobianMode):
        raise ValueError(f"mode: got {mode!r}; expected one of {get_args(JacobianMode)}")
    _check_pattern(pattern)
    if mode == "forward":
        return _direct(pattern, "forward", _groups(pattern.tocsc()), None)
    if mode == "reverse":
        return _direct(pattern, "reverse", None, _groups(pattern.T))
    worth = WORTH if mode == "auto" else 1.0
    best: Colouring | None = None
    best_score = np.inf
    for bound, trial in _candidates(pattern, worth):
        if bound >= best_score:
            break
        colouring = trial()
        score = colouring.colours / (worth if colouring.mode == "both" else 1.0)
        if score < best_score:
            best, best_score = colouring, score
    assert best is not None  # the first bound is finite
    return best


def symmetric_colouring(pattern: csr_array, mode: SymmetricMode = "star") -> Colouring:
    """Return groups of columns of a symmetric matrix from which every element can be found.

    Parameters
    ----------
    pattern : csr_array
        The stored elements, on both sides of the diagonal, are those that may differ from zero.
    mode : {"star", "acyclic"}
        "star": each element, or its mirror image, can be read directly. "acyclic": some are found by
        subtracting others. That can take fewer colours, and costs accuracy: the error of an element is
        of the order of rounding in the largest of those it was found with. Where the colours saved would
        take more than a few dozen steps of subtraction, or none are saved, the answer is a star colouring.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> A = np.eye(5)
    >>> A[0, :] = A[:, 0] = 1.0
    >>> c = symmetric_colouring(csr_array(A))
    >>> c.mode, c.colours, c.columns.tolist()
    ('star', 2, [0, 1, 1, 1, 1])
    """
    if mode not in get_args(SymmetricMode):
        raise ValueError(f"mode: got {mode!r}; expected one of {get_args(SymmetricMode)}")
    _check_pattern(pattern)
    _check_symmetric(pattern)
    star = _star_colouring(pattern)
    if mode == "star" or star.colours <= 3:  # one sweep less is not worth the rounding
        return star
    graph = _Graph(pattern)
    best = star
    for order in graph.orders():
        groups = graph.acyclic(order)
        count = _count(groups)
        if count < best.colours and (plan := _substitution(pattern, groups)) is not None:
            best = Colouring("acyclic", pattern.shape, groups, None, count, 0, *plan)
    return best


def verify(pattern: csr_array, colouring: Colouring) -> bool:
    """Return whether a matrix with this pattern comes back from its products with the seeds.

    The elements are distinct whole numbers, so sums are exact and no element can pass for another.
    """
    size = len(pattern.indices)
    values = np.random.default_rng(0).permutation(np.arange(1, size + 1))
    if colouring.mode in ("star", "acyclic"):
        _check_symmetric(pattern)
        i, j = _positions(pattern)
        places = np.minimum(i, j) * np.intp(pattern.shape[1]) + np.maximum(i, j)
        values = values[np.unique(places, return_inverse=True)[1]]
    matrix = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    found = colouring.recover(
        (matrix @ colouring.column_seeds(values.dtype).T).T,
        (matrix.T @ colouring.row_seeds(values.dtype).T).T,
    )
    return np.array_equal(found, values)


# --- what a pattern must be --------------------------------------------------------------


def _check_pattern(pattern: Any) -> None:
    if not (issparse(pattern) and pattern.format == "csr" and pattern.ndim == 2):
        raise TypeError(
            f"pattern: got {type(pattern).__name__}; expected a matrix in CSR form, so write "
            "scipy.sparse.csr_array(pattern)"
        )
    if not pattern.has_canonical_format:
        raise ValueError(
            "pattern: its elements are not in order, or one is there twice; "
            "call pattern.sum_duplicates() first"
        )


def _check_symmetric(pattern: csr_array) -> None:
    m, n = pattern.shape
    if m != n:
        raise ShapeError(f"pattern: got shape {pattern.shape}; expected a square matrix")
    mirror = pattern.T.tocsr()
    mirror.sort_indices()
    if not (
        np.array_equal(mirror.indptr, pattern.indptr)
        and np.array_equal(mirror.indices, pattern.indices)
    ):
        raise ValueError(
            "pattern: got one that is not symmetric; write pattern + pattern.T, "
            "or use jacobian_colouring"
        )


def _positions(pattern: csr_array) -> tuple[Ints, Ints]:
    """Return the row and the column of each element."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return rows, pattern.indices.astype(np.intp)


def _count(groups: Ints | None) -> int:
    return 0 if groups is None else int(groups.max(initial=-1)) + 1


# --- where each element is found ---------------------------------------------------------


def _direct(pattern: csr_array, mode: str, columns: Ints | None, rows: Ints | None) -> Colouring:
    """Return the colouring with these groups; an error if an element cannot be read.

    An element is in up to two places of the results: by its column, and by its row, or in mode "star" as
    its mirror image. It can be read where it is the only one. Colours that no element needs are dropped.
    """
    m, n = pattern.shape
    i, j = _positions(pattern)
    forward, reverse = _count(columns), _count(rows)
    nowhere = forward * m + reverse * n
    summed = np.zeros(nowhere + 1, np.intp)  # how many elements are in each place

    def places(groups: Ints, of: Ints, start: int, size: int, other: Ints) -> Ints:
        colour = groups[of]
        return np.where(colour >= 0, start + colour * size + other, nowhere)

    by_column = by_row = None
    if columns is not None:
        by_column = places(columns, j, 0, m, i)
        summed += np.bincount(by_column, minlength=nowhere + 1)
    if rows is not None:
        by_row = places(rows, i, forward * m, n, j)
        summed += np.bincount(by_row, minlength=nowhere + 1)
    if mode == "star":
        assert columns is not None
        by_row = places(columns, i, 0, m, j)
    summed[nowhere] = 0
    at_column = by_column is not None and summed[by_column] == 1
    at_row = by_row is not None and summed[by_row] == 1
    if not np.all(at_column | at_row):
        raise ValueError("these groups do not fit the pattern: some elements cannot be told apart")
    if by_column is None or by_row is None:
        index = by_row if by_column is None else by_column
    else:
        second = columns[i] if mode == "star" else np.where(rows[i] < 0, -1, rows[i] + forward)
        needed = _needed(columns[j], second, at_column, at_row, forward + reverse)
        if not needed.all():
            kept = _kept(columns, needed[:forward]), _kept(rows, needed[forward:])
            return _direct(pattern, mode, *kept)
        index = np.where(at_column, by_column, by_row)
    if mode == "both" and not (forward and reverse):
        mode = "forward" if forward else "reverse"
    return Colouring(mode, (m, n), columns, rows, forward, reverse, index)


def _needed(
    first: Ints, second: Ints, at_first: NDArray[np.bool_], at_second: NDArray[np.bool_], count: int
) -> NDArray[np.bool_]:
    """Return which colours are needed, if each element can be read in one or two of them."""
    needed = np.zeros(count, np.bool_)
    needed[first[at_first & (~at_second | (first == second))]] = True
    needed[second[at_second & ~at_first]] = True
    choice = at_first & at_second & ~needed[first] & ~needed[second]
    first, second = first[choice], second[choice]
    while len(first):  # the colour that most of the others can be read in
        colour = np.bincount(np.concatenate([first, second])).argmax()
        needed[colour] = True
        rest = (first != colour) & (second != colour)
        first, second = first[rest], second[rest]
    return needed


def _kept(groups: Ints | None, needed: NDArray[np.bool_]) -> Ints | None:
    """Return the groups with only the needed colours, numbered anew."""
    if groups is None:
        return None
    number = np.append(np.where(needed, np.cumsum(needed) - 1, -1), -1)
    return number[groups]


def _substitution(
    pattern: csr_array, groups: Ints
) -> tuple[Ints, tuple[tuple[Ints, Ints], ...]] | None:
    """Return index and steps of an acyclic colouring; None if it takes too many steps.

    An element (i, j) is in two places: at i among those of j's colour, and at j among those of i's. Let
    these places be vertices and elements edges: then an acyclic colouring makes this graph a forest. An
    element at a leaf can be read there, and is then subtracted at its other end; and so on inwards.
    """
    n = pattern.shape[0]
    i, j = _positions(pattern)
    order = np.arange(len(i))
    mirrored = csr_array((order, pattern.indices, pattern.indptr), shape=(n, n)).T.tocsr().data
    index = groups[j] * n + i
    edges = np.flatnonzero(i < j)
    ends = np.stack([index[edges], index[mirrored[edges]]])
    degree = np.bincount(ends.ravel(), minlength=_count(groups) * n)
    steps: list[tuple[Ints, Ints]] = []
    while len(edges):
        if len(steps) == STEPS:
            return None
        leaf = degree[ends] == 1
        now = leaf.any(axis=0)
        if not now.any():
            raise ValueError(
                "these groups do not fit the pattern: some elements cannot be told apart"
            )
        outer = np.where(leaf[0], ends[0], ends[1])[now]
        inner = np.where(leaf[0], ends[1], ends[0])[now]
        index[edges[now]] = index[mirrored[edges[now]]] = outer
        np.subtract.at(degree, inner, 1)
        degree[outer] = 0
        more = degree[inner] > 0
        steps.append((outer[more], inner[more]))
        edges, ends = edges[~now], ends[:, ~now]
    return index, tuple(steps[:-1])  # after the last there is nothing left to read


# --- groups of columns that share no row -------------------------------------------------


def _groups(matrix: csc_array) -> Ints:
    """Return a colour for each column such that no two of a colour share a row; -1 for an empty one.

    Each column in turn gets the first colour that is free. How many colours that takes depends on the order,
    so several are tried, until there are no more colours than elements in some row: that is the least.
    """
    m, n = matrix.shape
    widths = np.bincount(matrix.indices, minlength=m)
    bound = int(widths.max(initial=0))
    if bound == n:
        return np.arange(n)
    best = _first_fit(matrix, np.arange(n))
    passes = min(PASSES, EFFORT // (matrix.nnz + n * bound + 1))
    for hoped_for, order in islice(_orders(matrix, widths), passes):
        if hoped_for >= _count(best):
            break
        trial = _first_fit(matrix, order)
        if _count(trial) < _count(best):
            best = trial
    for turn in range(passes):
        if _count(best) == bound:
            break
        # one colour after the other never takes more colours than before, and may take fewer
        sizes = np.bincount(best)
        rank = np.arange(len(sizes))[::-1] if turn % 2 else np.argsort(np.argsort(-sizes))
        best = _first_fit(matrix, np.argsort(rank[best], kind="stable"))
    best[np.diff(matrix.indptr) == 0] = -1
    return best


def _first_fit(matrix: csc_array, order: Ints) -> Ints:
    """Return for each column the first colour that no column before it shares a row with."""
    if matrix.nnz > SMALL and (compiled := _compiled()) is not None:
        return np.asarray(compiled(matrix, order), np.intp)
    indices, starts = matrix.indices.tolist(), matrix.indptr.tolist()
    seen = [0] * matrix.shape[0]  # the colours in each row, as bits of a number
    colours = np.zeros(len(order), np.intp)
    for column in order.tolist():
        rows = indices[starts[column] : starts[column + 1]]
        taken = 0
        for row in rows:
            taken |= seen[row]
        free = ~taken & (taken + 1)
        for row in rows:
            seen[row] |= free
        colours[column] = free.bit_length() - 1
    return colours


@cache
def _compiled() -> Callable[[csc_array, Ints], NDArray[Any]] | None:
    """Return SciPy's own first fit, the one behind its finite differences.

    Its name is private, so it may go; the loop in `_first_fit` gives the same answers, more slowly.
    """
    try:
        from scipy.optimize._numdiff import group_columns
    except ImportError:
        return None
    return group_columns


def _orders(matrix: csc_array, widths: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield orders of the columns to try, with the number of colours that is hoped for.

    First those that share rows with the most others. Then orders for regular grids, where a column's
    colour is a sum of multiples of its coordinates, modulo the number of colours. The strides of the grid
    are the distances from the diagonal that occur often. The multiples are chosen at random, and
    the choice that tells most elements apart in some of the widest rows is taken.
    """
    m, n = matrix.shape
    bound = int(widths.max())
    column = np.repeat(np.arange(n), np.diff(matrix.indptr))
    others = np.bincount(column, widths[matrix.indices], n)
    yield bound, np.argsort(-others, kind="stable")
    often = np.bincount(np.abs(matrix.indices - column))
    often[0] = 0
    strides = [s for s in np.argsort(-often, kind="stable")[:4] if often[s] > n // 4]
    if not strides or bound > 32:
        return
    coordinates = np.stack([np.arange(n) // s for s in {1, *strides}])
    random = np.random.default_rng(0)
    widest = np.flatnonzero(widths == bound)
    widest = random.permutation(widest)[:64]
    rows = matrix.tocsr()
    sample = coordinates[:, rows.indices[rows.indptr[widest][:, None] + np.arange(bound)]]
    for count in range(bound, n):
        multiples = random.integers(0, count, (256, len(coordinates)))
        colours = np.sort(np.tensordot(multiples, sample, 1) % count, axis=-1)
        clashes = np.sum(colours[..., 1:] == colours[..., :-1], axis=(1, 2))
        yield count, np.argsort(multiples[clashes.argmin()] @ coordinates % count, kind="stable")


# --- columns for some elements, rows for the others --------------------------------------


def _candidates(pattern: csr_array, worth: float) -> list[tuple[float, Callable[[], Colouring]]]:
    """Return ways to colour a pattern, with the least number of colours each can take.

    Besides columns only and rows only these are: long rows by reverse sweeps and the rest by forward sweeps;
    long columns by forward sweeps and the rest by reverse sweeps. What is long is a matter of trying.
    """
    widths, heights = (
        np.diff(pattern.indptr),
        np.bincount(pattern.indices, minlength=pattern.shape[1]),
    )
    found: list[tuple[float, Callable[[], Colouring]]] = [
        (float(widths.max(initial=0)), lambda: jacobian_colouring(pattern, "forward")),
        (float(heights.max(initial=0)), lambda: jacobian_colouring(pattern, "reverse")),
    ]
    splits = [
        (bound / worth, partial(_split, pattern, long, transposed))
        for transposed in (False, True)
        for bound, long in _long_rows(pattern.T.tocsr() if transposed else pattern)
    ]
    splits.sort(key=itemgetter(0))
    return sorted(found + splits[:4], key=itemgetter(0))


def _long_rows(pattern: csr_array) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield sets of long rows, with a bound for the colours of these rows and of the other columns."""
    widths = np.diff(pattern.indptr)
    limits = np.unique(widths[widths > 0])[:-1]
    if len(limits) > 16:
        limits = limits[np.unique(np.geomspace(1, len(limits), 16).astype(int)) - 1]
    for limit in limits.tolist():
        long = widths > limit
        yield limit + int(np.bincount(pattern.indices[np.repeat(long, widths)]).max()), long


def _split(pattern: csr_array, long: NDArray[np.bool_], transposed: bool) -> Colouring:
    """Return the colouring with long rows by rows and the rest by columns; transposed, the other way."""
    matrix = pattern.T.tocsr() if transposed else pattern
    rows = np.full(matrix.shape[0], -1)
    rows[long] = _groups(matrix[long].T)
    columns = _groups(matrix[~long].tocsc())
    return _direct(pattern, "both", *((rows, columns) if transposed else (columns, rows)))


# --- symmetric matrices ------------------------------------------------------------------


def _star_colouring(pattern: csr_array) -> Colouring:
    """Return the best of the groups of columns that share no row, and of two star colourings."""
    bound = int(np.diff(pattern.indptr).max(initial=0))
    plain = None
    if bound <= 3 or (bound <= FEW and len(pattern.indices) > MANY):
        plain = _direct(pattern, "star", _groups(pattern.tocsc()), None)
        if plain.colours <= 3 or len(pattern.indices) > MANY:
            return plain
    graph = _Graph(pattern)
    found = [_direct(pattern, "star", graph.star(order), None) for order in graph.orders()]
    best = min(found, key=_colours)
    if plain is None and bound < best.colours:
        plain = _direct(pattern, "star", _groups(pattern.tocsc()), None)
    return best if plain is None else min(best, plain, key=_colours)


_colours = attrgetter("colours")


class _Graph:
    """The graph of a symmetric pattern: a vertex for each column, an edge for each element off the diagonal.

    Colours are single bits of a number and sets of colours are numbers, so a set is looked at in one go.
    """

    def __init__(self, pattern: csr_array) -> None:
        i, j = _positions(pattern)
        edges = i != j
        self.degrees = np.bincount(i[edges], minlength=pattern.shape[0])
        self.starts = [0, *np.cumsum(self.degrees).tolist()]
        self.ends = j[edges].tolist()

    def orders(self) -> list[Ints]:
        """Return the orders to try: as it is, and the vertices with most neighbours first."""
        natural = np.arange(len(self.degrees))
        largest_first = np.argsort(-self.degrees, kind="stable")
        return (
            [largest_first] if np.array_equal(natural, largest_first) else [natural, largest_first]
        )

    def neighbours(self, vertex: int) -> list[int]:
        return self.ends[self.starts[vertex] : self.starts[vertex + 1]]

    def star(self, order: Ints) -> Ints:
        """Return colours such that neighbours differ and a path of four vertices has at least three.

        Each vertex gets the first colour that keeps this true of the vertices coloured so far.
        """
        colour = [0] * len(order)
        near = [0] * len(order)  # the colours of a vertex's neighbours,
        twice = [0] * len(order)  # those that two or more of them have,
        hubs = [0] * len(order)  # and those of neighbours with another neighbour of its own colour
        for v in order.tolist():
            around = self.neighbours(v)
            taken, pairs = near[v], twice[v]
            for w in around:
                if colour[w]:  # else it is in no path yet
                    # a path from w through v to w's twin, or from v through w and a hub to w's twin
                    taken |= near[w] if colour[w] & pairs else hubs[w]
            c = colour[v] = ~taken & (taken + 1)
            for w in around:
                if not near[w] & c:
                    near[w] |= c
                else:
                    if not twice[w] & c:
                        twice[w] |= c
                        for x in self.neighbours(w):
                            if colour[x] == c:
                                hubs[x] |= colour[w]
                    hubs[v] |= colour[w]
                if colour[w] & pairs:
                    hubs[w] |= c
        return _numbers(colour)

    def acyclic(self, order: Ints) -> Ints:
        """Return colours such that neighbours differ and each cycle has at least three.

        The vertices of any two colours are then trees. The tree of v and another colour c has the name
        (v, c); `above` leads from a tree's names to one that stands for them all.
        """
        colour = [0] * len(order)
        near = [0] * len(order)
        twice = [0] * len(order)
        above: dict[tuple[int, int], tuple[int, int]] = {}

        def tree(name: tuple[int, int]) -> tuple[int, int]:
            while (up := above.get(name, name)) != name:
                name = above[name] = above.get(up, up)
            return name

        def closes_a_cycle(vertices: list[int], c: int) -> bool:
            trees = [tree((w, c)) for w in vertices if near[w] & c]
            return len(set(trees)) < len(trees)

        for v in order.tolist():
            around = self.neighbours(v)
            twins = [w for w in around if colour[w] & twice[v]]
            taken = near[v]
            while closes_a_cycle(twins, c := ~taken & (taken + 1)):
                taken |= c
            colour[v] = c
            for w in around:
                twice[w] |= near[w] & c
                near[w] |= c
                if colour[w]:
                    above[tree((w, c))] = tree((v, colour[w]))
        return _numbers(colour)


def _numbers(bits: list[int]) -> Ints:
    return np.array([bit.bit_length() - 1 for bit in bits], np.intp)
