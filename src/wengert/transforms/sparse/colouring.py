"""Colourings: which columns or rows of a sparse matrix one sweep can serve together.

A forward sweep with tangent v gives J @ v, a reverse sweep with cotangent w gives w @ J. Columns
that share no row can be seeded in one sweep, and their elements still be told apart; so can rows
that share no column. A colouring says which ones go together, and where each element of the matrix
is found in the results. The fewer colours, the fewer sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter, itemgetter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csc_array, csr_array, issparse

from wengert.errors import ShapeError

Ints = NDArray[np.intp]
JacobianMode = Literal["auto", "forward", "reverse", "both"]
SymmetricMode = Literal["star", "acyclic"]

#: Up to this many elements, a loop in Python is cheaper than the import of SciPy's optimisers.
SMALL = 10_000
#: How many elements the search for fewer colours may look at ...
EFFORT = 10_000_000
#: ... and in how many passes.
PASSES = 24
#: The most elements in a row for which a regular grid is looked for.
WIDE = 32
#: The search for a star colouring is a loop in Python; for more elements than this it is left out.
MANY = 1_000_000
#: The most steps of substitution, since each step adds rounding errors.
STEPS = 32
#: Sweeps in both directions have a price of their own, so they must save a quarter of the colours.
WORTH = 0.75


@dataclass(frozen=True, eq=False, slots=True)
class Colouring:
    """Groups of columns and rows, and where each element is in the results.

    Parameters
    ----------
    mode : {"forward", "reverse", "both", "star", "acyclic"}
        "forward": groups of columns, seeded with tangents. "reverse": groups of rows, seeded with
        cotangents. "both": some elements by columns, the others by rows. "star" and "acyclic":
        groups of columns of a symmetric matrix, where an element may be found as its mirror image
        ("star"), or after others are subtracted ("acyclic").
    shape : tuple of int
        The shape of the matrix.
    columns, rows : arrays of int
        The colour of each column and of each row; -1 for one that is never seeded.
    column_colours, row_colours : int
        How many colours there are of each.
    index : array of int
        For each element, in the pattern's order, its position in the results. These are, as one
        flat array: those for columns, of shape `(column_colours, shape[0])`, then those for rows,
        of shape `(row_colours, shape[1])`.
    steps : tuple of pairs of arrays
        In mode "acyclic", which elements of the flat array to subtract from which, step by step,
        before elements are read.
    """

    mode: str
    shape: tuple[int, int]
    columns: Ints
    rows: Ints
    column_colours: int
    row_colours: int
    index: Ints
    steps: tuple[tuple[Ints, Ints], ...] = ()

    @property
    def colours(self) -> int:
        """How many sweeps it takes."""
        return self.column_colours + self.row_colours

    def column_seeds(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return the tangents of all colours, one in each row: ones and zeros.

        The product of the matrix and row k is row k of what `recover` takes first.
        """
        return (self.columns == np.arange(self.column_colours)[:, None]).astype(dtype)

    def row_seeds(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return the cotangents of all colours; row k times the matrix is for `recover`, too."""
        return (self.rows == np.arange(self.row_colours)[:, None]).astype(dtype)

    def rows_of(self, colour: int) -> range | None:
        """Return from where to where there are rows of a colour, if that is at most half of all."""
        here = np.flatnonzero(self.rows == colour)
        part = range(int(here[0]), int(here[-1]) + 1) if len(here) else range(0)
        return part if 2 * len(part) <= len(self.rows) else None

    def recover(
        self, forward: NDArray[Any] | None = None, reverse: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the elements of the matrix in the order of the pattern.

        Parameters
        ----------
        forward : array of shape (column_colours, shape[0]), optional
            Row k is the matrix times row k of `column_seeds()`; needed if there is one.
        reverse : array of shape (row_colours, shape[1]), optional
            Row k is row k of `row_seeds()` times the matrix; needed if there is one.
        """
        m, n = self.shape
        first = _flat(forward, (self.column_colours, m), "forward")
        second = _flat(reverse, (self.row_colours, n), "reverse")
        if first.size and second.size:
            flat = np.concatenate([first, second])
        else:
            flat = first if first.size else second
        if self.steps:
            flat = flat.copy()
            for take, place in self.steps:
                np.subtract.at(flat, place, flat.take(take))
        return flat.take(self.index)


def _flat(part: NDArray[Any] | None, shape: tuple[int, int], name: str) -> NDArray[Any]:
    """Return one of the two results as a flat array."""
    if part is None and not shape[0]:
        return np.zeros(0)
    if part is None:
        raise ShapeError(f"recover: got no `{name}`; this colouring needs it, of shape {shape}")
    if part.shape != shape:
        raise ShapeError(f"recover: got `{name}` of shape {part.shape}; expected {shape}")
    return part.ravel()


def jacobian_colouring(pattern: csr_array, mode: JacobianMode = "auto") -> Colouring:
    """Return groups of columns or rows (or both) from which every element can be read directly.

    Parameters
    ----------
    pattern : csr_array
        The stored elements are those that may differ from zero; their values do not matter.
    mode : {"auto", "forward", "reverse", "both"}
        "auto" takes the direction with fewer colours, forward if equal; or both directions, if that
        saves a quarter of the colours. "both" takes both if that saves any.

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
    m, n = pattern.shape
    if mode == "forward":
        return _direct(pattern, "forward", _groups(pattern.tocsc()), _none(m))
    if mode == "reverse":
        return _direct(pattern, "reverse", _none(n), _groups(pattern.T))
    worth = WORTH if mode == "auto" else 1.0
    best: Colouring | None = None
    best_score = above = np.inf
    for bound, trial in _candidates(pattern, worth):
        if best is not None and bound * above >= best_score:
            break
        colouring = trial()
        score = colouring.colours / (worth if colouring.mode == "both" else 1.0)
        above = min(above, max(1.0, score / max(bound, 1.0)))  # the next will be as far off
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
        "star": each element, or its mirror image, can be read directly. "acyclic": some are found
        by subtracting others. That can take fewer colours but costs accuracy: the error of an
        element is a rounding error of the largest of those it was found with. The answer is a
        star colouring where that has three colours or fewer, where subtraction would not save any,
        and where it would take more than a few dozen steps.

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
    n = pattern.shape[0]
    best = _direct(pattern, "star", _peeled(pattern), _none(n))
    if best.colours <= 3:  # to save the third takes a long loop, or a long chain of subtractions
        return best
    graph = _Graph(pattern)
    if best.colours <= graph.least():
        return best
    if len(pattern.indices) <= MANY:
        # without elements on the diagonal some colours may turn out not to be needed
        slack = 1 if len(graph.ends) + n == len(pattern.indices) else 2
        for order in graph.orders():
            groups = graph.star(order, slack * best.colours)
            if groups is not None:
                best = min(best, _direct(pattern, "star", groups, _none(n)), key=_colours)
    if mode == "acyclic":
        for order in graph.orders():
            groups = graph.acyclic(order, best.colours)
            plan = None if groups is None else _substitution(pattern, groups)
            if groups is not None and plan is not None:
                count = _count(groups)
                best = Colouring("acyclic", (n, n), groups, _none(n), count, 0, *plan)
    return best


_colours = attrgetter("colours")


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


def _none(size: int) -> Ints:
    """Return groups of which no member is ever seeded."""
    return np.full(size, -1)


def _count(groups: Ints) -> int:
    return int(groups.max(initial=-1)) + 1


# --- where each element is found ---------------------------------------------------------


def _direct(pattern: csr_array, mode: str, columns: Ints, rows: Ints) -> Colouring:
    """Return the colouring with these groups; an error if an element cannot be read.

    An element is in up to two sums of the results: by its column, and by its row or, in mode
    "star", by its mirror image. It can be read where it is the only one. Colours that no element
    needs are dropped.
    """
    m, n = pattern.shape
    i, j = _positions(pattern)
    forward, reverse = _count(columns), _count(rows)
    total = forward * m + reverse * n
    first = columns[j]
    by_column = np.where(first >= 0, first * m + i, total)
    if mode == "star":
        second = columns[i]
        by_row = np.where(second >= 0, second * m + j, total)
        there = by_column
    else:
        second = np.where(rows[i] >= 0, rows[i] + forward, -1)
        by_row = np.where(second >= 0, forward * m + rows[i] * n + j, total)
        there = np.concatenate([by_column, by_row])
    alone = np.bincount(there, minlength=total + 1) == 1
    alone[total] = False
    at_column, at_row = alone[by_column], alone[by_row]
    if not np.all(at_column | at_row):
        raise ValueError("these groups do not fit the pattern: some elements cannot be told apart")
    needed = _needed(first, second, at_column, at_row, forward + reverse)
    if not needed.all():
        columns, rows = _kept(columns, needed[:forward]), _kept(rows, needed[forward:])
        return _direct(pattern, mode, columns, rows)
    if mode == "both" and not (forward and reverse):
        mode = "forward" if forward else "reverse"
    index = np.where(at_column, by_column, by_row)
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


def _kept(groups: Ints, needed: NDArray[np.bool_]) -> Ints:
    """Return the groups with only the needed colours, numbered anew."""
    number = np.append(np.where(needed, np.cumsum(needed) - 1, -1), -1)
    return number[groups]


def _substitution(
    pattern: csr_array, groups: Ints
) -> tuple[Ints, tuple[tuple[Ints, Ints], ...]] | None:
    """Return index and steps of an acyclic colouring; None if it takes too many steps.

    An element is in two sums: by its column, and by its mirror image. Let sums be vertices
    and elements edges: if the colouring is acyclic, this graph is a forest. An element at a leaf
    can be read there, and is then subtracted at its other end; and so on inwards.
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
            raise ValueError("these groups do not fit the pattern: it has a cycle of two colours")
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
    """Return colours of the columns such that no two of a colour share a row; -1 for empty ones."""
    n = matrix.shape[1]
    widths = np.bincount(matrix.indices, minlength=matrix.shape[0])
    bound = int(widths.max(initial=0))  # there cannot be fewer colours than elements in a row
    if bound == 0:
        return _none(n)
    if bound == n:
        return np.arange(n)
    colours, nearly = _grid(matrix, widths, bound)
    if colours is None or _count(colours) > bound:
        colours = _search(matrix, widths, bound, colours, nearly)
    return np.where(np.diff(matrix.indptr) > 0, colours, -1)


def _grid(matrix: csc_array, widths: Ints, bound: int) -> tuple[Ints | None, list[Ints]]:
    """Return colours for the columns of a regular grid, or None, and some that nearly fit.

    A column's colour is a sum of multiples of its coordinates, modulo the number of colours. The
    strides of the grid are the distances from the diagonal that occur often. Of random multiples
    those are tried that tell most elements of some rows apart.
    """
    n = matrix.shape[1]
    column = np.repeat(np.arange(n), np.diff(matrix.indptr))
    often = np.bincount(np.abs(matrix.indices - column))
    often[0] = 0
    strides = [s for s in np.argsort(-often, kind="stable")[:4] if often[s] > n // 4]
    nearly: list[Ints] = []
    if not strides or bound > WIDE:
        return None, nearly
    coordinates = np.stack([np.arange(n) // s for s in sorted({1, *strides})])
    random = np.random.default_rng(0)
    widest = random.permutation(np.flatnonzero(widths == bound))[:64]
    rows = matrix.tocsr()
    row = np.repeat(np.arange(len(widths)), widths)
    sample = coordinates[:, rows.indices[rows.indptr[widest][:, None] + np.arange(bound)]]
    for count in range(bound, 2 * bound):
        multiples = random.integers(0, count, (256, len(coordinates)))
        colours = np.sort(np.tensordot(multiples, sample, 1) % count, axis=-1)
        clashes = np.sum(colours[..., 1:] == colours[..., :-1], axis=(1, 2))
        trial = multiples[clashes.argmin()] @ coordinates % count
        if clashes.min() == 0 and np.bincount(row * count + trial[rows.indices]).max() == 1:
            return trial, nearly
        nearly.append(trial)
    return None, nearly


def _search(
    matrix: csc_array, widths: Ints, bound: int, best: Ints | None, nearly: list[Ints]
) -> Ints:
    """Return the fewest colours that several orders of the columns give.

    Each column in turn gets the first colour that is free; how many that takes depends on the
    order. Tried are the order as it is, those that share rows with most others first, and those of
    one colour after the other, for colours that nearly fit. Only two if there is a result already.
    """
    n = matrix.shape[1]
    column = np.repeat(np.arange(n), np.diff(matrix.indptr))
    others = np.bincount(column, widths[matrix.indices], n)
    passes = 2 if best is not None else min(PASSES, 2 + EFFORT // (matrix.nnz + n * bound))
    for key in [np.zeros(n), -others, *nearly][:passes]:
        trial = _first_fit(matrix, np.argsort(key, kind="stable"))
        if best is None or _count(trial) < _count(best):
            best = trial
        if _count(best) == bound:
            return best
    assert best is not None  # there are two passes or more
    for turn in range(passes):
        if _count(best) == bound:
            break
        # one colour after the other never takes more colours than before, and may take fewer
        sizes = np.bincount(best)
        rank = np.arange(len(sizes))[::-1] if turn % 2 else np.argsort(np.argsort(-sizes))
        best = _first_fit(matrix, np.argsort(rank[best], kind="stable"))
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


# --- columns for some elements, rows for the others --------------------------------------


Candidate = tuple[float, Callable[[], Colouring]]


def _candidates(pattern: csr_array, worth: float) -> list[Candidate]:
    """Return functions that colour a pattern, each with a lower bound on its colours.

    They colour columns only, rows only, long rows by reverse sweeps and the rest by forward
    sweeps, and long columns by forward sweeps and the rest by reverse sweeps, for several limits
    of what is long.
    """
    widths, heights = np.diff(pattern.indptr), np.bincount(pattern.indices)
    found: list[Candidate] = [
        (float(widths.max(initial=0)), partial(jacobian_colouring, pattern, "forward")),
        (float(heights.max(initial=0)), partial(jacobian_colouring, pattern, "reverse")),
    ]
    splits: list[Candidate] = [
        (bound / worth, partial(_split, pattern, long, transposed))
        for transposed in (False, True)
        for bound, long in _long_rows(pattern.T.tocsr() if transposed else pattern)
    ]
    splits.sort(key=itemgetter(0))
    return sorted(found + splits[:4], key=itemgetter(0))


def _long_rows(pattern: csr_array) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield sets of long rows, with the least colours of these and of the columns of the rest."""
    widths = np.diff(pattern.indptr)
    limits = np.unique(widths[widths > 0])[:-1]
    if len(limits) > 16:
        limits = limits[np.unique(np.geomspace(1, len(limits), 16).astype(int)) - 1]
    for limit in limits.tolist():
        long = widths > limit
        yield limit + int(np.bincount(pattern.indices[np.repeat(long, widths)]).max()), long


def _split(pattern: csr_array, long: NDArray[np.bool_], transposed: bool) -> Colouring:
    """Return the colouring that takes long rows by rows and the rest by columns."""
    matrix = pattern.T.tocsr() if transposed else pattern
    rows = np.full(matrix.shape[0], -1)
    rows[long] = _groups(matrix[long].T)
    columns = _groups(matrix[~long].tocsc())
    return _direct(pattern, "both", *((rows, columns) if transposed else (columns, rows)))


# --- symmetric matrices ------------------------------------------------------------------


def _peeled(pattern: csr_array) -> Ints:
    """Return colours where some long rows have one each, and the others share no row but these."""
    widths = np.diff(pattern.indptr)
    longest = np.argsort(-widths, kind="stable")
    number = int(np.argmin(np.arange(len(widths) + 1) + np.append(widths[longest], 0)))
    others = np.sort(longest[number:])
    colours = np.empty(len(widths), np.intp)
    colours[longest[:number]] = np.arange(number)
    groups = _groups(pattern[others][:, others].tocsc())
    colours[others] = np.where(groups >= 0, groups + number, -1)
    return colours


class _Graph:
    """The graph of a symmetric pattern: vertices are columns, edges elements off the diagonal.

    While it is coloured, a colour is a number with one bit and a set of colours one with many,
    so that a set is looked at in one go.
    """

    def __init__(self, pattern: csr_array) -> None:
        i, j = _positions(pattern)
        off_diagonal = i != j
        self.degrees = np.bincount(i[off_diagonal], minlength=pattern.shape[0])
        self.starts = [0, *np.cumsum(self.degrees).tolist()]
        self.ends = j[off_diagonal].tolist()

    def orders(self) -> list[Ints]:
        """Return the orders to try: as it is, and the vertices with most neighbours first."""
        return [np.arange(len(self.degrees)), np.argsort(-self.degrees, kind="stable")]

    def least(self) -> int:
        """Return a number of colours that a star or an acyclic colouring cannot do without.

        The vertices of two colours have fewer edges than vertices. Summed over all pairs, k colours
        of n vertices have at most (k - 1) * n - k * (k - 1) / 2 edges.
        """
        n = len(self.degrees)
        k = np.arange(1, n + 1)
        return 1 + int(np.searchsorted((k - 1) * (2 * n - k), len(self.ends)))

    def neighbours(self, vertex: int) -> list[int]:
        """Return the vertices next to this one."""
        return self.ends[self.starts[vertex] : self.starts[vertex + 1]]

    def star(self, order: Ints, limit: int) -> Ints | None:
        """Return colours such that neighbours differ and a path of four vertices has three or more.

        Each vertex gets the first colour that keeps this true of the vertices coloured so far.
        None if there would be as many colours as the limit.
        """
        colour = [0] * len(order)
        near = [0] * len(order)  # the colours of a vertex's neighbours,
        twice = [0] * len(order)  # those that two or more of them have,
        hubs = [0] * len(order)  # and those of neighbours with another neighbour of its own colour
        # which neighbour had a colour first; where there are few of them, they are searched instead
        first: dict[int, dict[int, int]] = {
            w: {} for w in np.flatnonzero(self.degrees > 32).tolist()
        }
        for v in order.tolist():
            around = self.neighbours(v)
            taken, pairs = near[v], twice[v]
            for w in around:
                if colour[w]:  # else it is in no path yet
                    # a path from w through v to w's twin, or from v through w and a hub to w's twin
                    taken |= near[w] if colour[w] & pairs else hubs[w]
            c = colour[v] = ~taken & (taken + 1)
            if c >> limit - 1:
                return None
            for w in around:
                if not near[w] & c:
                    near[w] |= c
                    if w in first:
                        first[w][c] = v
                else:
                    if not twice[w] & c:
                        twice[w] |= c
                        if w in first:
                            hubs[first[w][c]] |= colour[w]
                        else:
                            for x in self.neighbours(w):
                                if colour[x] == c:
                                    hubs[x] |= colour[w]
                    hubs[v] |= colour[w]
                if colour[w] & pairs:
                    hubs[w] |= c
        return _numbers(colour)

    def acyclic(self, order: Ints, limit: int) -> Ints | None:
        """Return colours such that neighbours differ and each cycle has three or more.

        None if there would be as many colours as the limit.

        The vertices of any two colours are then trees. The tree of v and another colour c has
        the name (v, c); `above` leads from a tree's names to one that stands for them all.
        """
        colour = [0] * len(order)
        near = [0] * len(order)
        twice = [0] * len(order)
        above: dict[tuple[int, int], tuple[int, int]] = {}

        def tree(name: tuple[int, int]) -> tuple[int, int]:
            while (up := above.get(name, name)) != name:
                above[name] = above.get(up, up)  # half the way for those who come later
                name = above[name]
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
            if c >> limit - 1:
                return None
            colour[v] = c
            for w in around:
                twice[w] |= near[w] & c
                near[w] |= c
                if colour[w]:
                    above[tree((w, c))] = tree((v, colour[w]))
        return _numbers(colour)


def _numbers(bits: list[int]) -> Ints:
    return np.array([bit.bit_length() - 1 for bit in bits], np.intp)
