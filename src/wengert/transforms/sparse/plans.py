"""Plans of sparse Jacobians and Hessians, which give a matrix in a few sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.forward import push
from wengert.engine.node import NOBODY, Node
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError, WengertError, name_of
from wengert.transforms.gradients import Call, grad, is_traced
from wengert.transforms.sparse.colouring import Colouring, jacobian_colouring, symmetric_colouring
from wengert.transforms.sparse.pattern import Cut, find_cut, find_pattern, holds, structure
from wengert.transforms.surroundings import recording

PATTERNS = ("global", "local")
JACOBIAN_MODES = ("auto", "forward", "reverse", "both")
HESSIAN_MODES = ("auto", "star", "acyclic", "reverse")
#: Seeds of up to this many numbers are kept with the plan.
KEPT = 4_000_000


class PatternError(WengertError):
    """A derivative has an element that the plan's pattern does not have."""


class _Run:
    """One recorded call of the function of a plan."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], argnum: int, what: str):
        if not -len(args) <= argnum < len(args):
            raise TypeError(
                f"{what}({name_of(fun)}): argnum={argnum}, and there are {len(args)} arguments; "
                "give an example of each argument of the function"
            )
        argnum %= len(args)
        if type(args[argnum]) is Tensor:
            args = (*args[:argnum], wrap(_cut(args[argnum])), *args[argnum + 1 :])
        elif type(args[argnum]) is np.ndarray and backends.kind_of(args[argnum].dtype) == "f":
            # the tape lives for this call only, so nobody writes to the array meanwhile
            args = (*args[:argnum], wrap(args[argnum]), *args[argnum + 1 :])
        self.call = call = Call(fun, argnum, False, args, {}, what, persistent=True)
        self.source_node: Any = call.parts[0].node
        self.source = _one_array(call.sources[0], call.what, "takes")
        self.target = _one_array(call.result, call.what, "returns")
        for tensor in (self.source, self.target):
            if backends.kind_of(tensor.dtype) != "f":
                raise DtypeError(
                    f"{call.what}: numbers are {tensor.dtype}; a sparse derivative is of real "
                    "numbers, so differentiate real and imaginary parts"
                )
        self.token = call.tape._token
        node = self.target._node
        self.depends = node is not None and self.token in node.tokens
        newest_first = ancestors([node], self.token) if self.depends else []  # type: ignore[list-item]
        self.newest_first = newest_first
        self.nodes = newest_first[::-1]
        self.xp: Any = backends.namespace_of(self.target._raw)
        self.dtype = np.dtype(str(self.target.dtype).rpartition(".")[2])

    @property
    def program(self) -> tuple[Any, ...]:
        """What a plan holds for: operations and shapes, in the order they were recorded."""
        return tuple(
            ("argument" if node is self.source_node else node.op.name, *_flat_shape(node.shape))
            for node in self.nodes
        )

    @property
    def structure(self) -> tuple[Any, ...]:
        """What else a plan's pattern relies on, for each operation."""
        return tuple(map(structure, self.nodes))

    def pull(self, weights: Any, nodes: Sequence[Node]) -> list[np.ndarray]:
        """Return the cotangents of some nodes for weights of the result, paths ending there."""
        seed = self.xp.asarray(weights.reshape(self.target.shape), dtype=self.target.dtype)
        seeds: dict[Any, Any] = {self.target._node: seed}
        ends = set(nodes)
        with recording(NOBODY):
            found = reverse(self.xp, self.newest_first, seeds, ends, False, None, ends=ends)
        return [_host(found.get(node), node) for node in nodes]

    def pulled(self, weights: Any) -> np.ndarray:
        """Return the cotangent of the argument for weights of the result."""
        return self.pull(weights, [self.source_node])[0]

    def push(self, tangent: Any) -> np.ndarray:
        """Return the tangent of the result for one of the argument."""
        source: Any = self.source
        t = self.xp.asarray(tangent.reshape(source.shape), dtype=source.dtype)
        (moved,) = push(self.call.tape, self.call.parts, [wrap(t)], [self.target])
        if moved is None:
            return np.zeros(math.prod(self.target.shape))
        return backends.to_numpy(moved._raw).ravel()


def _cut(tensor: Tensor) -> Any:
    """Return the raw array of a tensor; the tape that records it gets a warning or an error."""
    if is_traced(tensor):
        tensor._cut("a sparse plan")
    return tensor._raw


def _flat_shape(shape: Any) -> tuple[Any, ...]:
    return tuple(map(tuple, shape)) if type(shape) is list else tuple(shape)


def _host(g: Any, node: Node) -> np.ndarray:
    if g is None:
        return np.zeros(math.prod(node.shape))
    return backends.to_numpy(g.todense() if type(g) is Block else g).ravel()


def _one_array(value: Any, what: str, verb: str) -> Tensor:
    if isinstance(value, np.ndarray):
        value = wrap(value)
    if type(value) is not Tensor:
        raise TypeError(
            f"{what}: the function {verb} {type(value).__name__}; a sparse derivative is of one "
            "array with respect to one array, so join several with wg.concat"
        )
    return value


class _Assembly:
    """Where the cotangents of a cut go in the data of the matrix.

    `moves` are (colour, part of the cut, positions in it, positions in the data), and `sums` the
    same for values that are added. Positions are slices where they can be, as for stencils: these
    cost a third of an index array.
    """

    def __init__(
        self, cut: Cut, flat: NDArray[np.intp], order: NDArray[np.intp], size: int
    ) -> None:
        """Element k of the data is the sum of results at flat[i] for all i with order[i] == k."""
        self.size = size
        first = np.zeros(len(order), bool)
        first[np.unique(order, return_index=True)[1]] = True
        self.moves = _moves(cut, flat[first], order[first])
        self.sums = _moves(cut, flat[~first], order[~first])
        # a Hessian's pattern is symmetric, and what only its transpose has is zero
        self.blank = np.empty if first.sum() == size else np.zeros

    def __call__(self, results: list[list[np.ndarray]], dtype: Any) -> np.ndarray:
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


class Plan:
    """The sparse derivative of a function: call it with an argument to get a matrix.

    Attributes
    ----------
    pattern
        Where elements may differ from zero, as a matrix of booleans.
    colors
        A colour for each row or column that a sweep is seeded with; rows in `mode` "reverse".
    sweeps
        How many sweeps a value takes.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> plan = wg.sparse.jacobian(lambda x: x**2, np.ones(2))
    >>> plan.shape, plan.mode, plan.sweeps, plan(np.array([1.0, 3.0])).toarray().tolist()
    ((2, 2), 'reverse', 1, [[2.0, 0.0], [0.0, 6.0]])
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        example: tuple[Any, ...],
        argnum: int,
        pattern: str,
        mode: str,
        check: bool | None,
        symmetric: bool,
    ) -> None:
        modes = HESSIAN_MODES if symmetric else JACOBIAN_MODES
        for name, value, choices in (("pattern", pattern, PATTERNS), ("mode", mode, modes)):
            if value not in choices:
                expected = ", ".join(choices)
                raise ValueError(f"sparse: {name} is {value!r}; expected one of {expected}")
        self._fun, self._argnum, self._symmetric = fun, argnum, symmetric
        self.kind = "hessian" if symmetric else "jacobian"
        self._name = f"sparse.{self.kind}"
        self._local = pattern == "local"
        self._check = self._local if check is None else check
        run = _Run(self._function, example, argnum, self._name)
        self.shape = (math.prod(run.target.shape), math.prod(run.source.shape))
        self._argument = run.source.shape
        self._program, self._structure = run.program, run.structure
        inner, self._cut = self._patterns(run)
        columns = self._cut.sources[inner.indices]
        whole = csr_array(
            (np.ones(len(columns), bool), columns, inner.indptr), self.shape, copy=True
        )
        whole.sum_duplicates()
        if symmetric:
            whole = (whole + whole.T).tocsr()
            whole.sort_indices()
        self.pattern = whole
        self._set_colouring(inner, columns, mode)
        self._template = whole.copy()

    @property
    def _function(self) -> Callable[..., Any]:
        return grad(self._fun, self._argnum) if self._symmetric else self._fun

    def _patterns(self, run: _Run) -> tuple[csr_array, Cut]:
        if not run.depends:
            return csr_array((self.shape[0], 0), dtype=bool), Cut(
                (), (), (0,), np.zeros(0, np.intp)
            )
        target: Any = run.target._node
        cut = find_cut(run.xp, run.nodes, run.source_node, target)
        inner = find_pattern(run.xp, run.nodes, cut, target, self._local)
        inner.sort_indices()
        return inner, cut

    def _set_colouring(self, inner: csr_array, columns: Any, mode: str) -> None:
        """Choose which sweeps to do: rows with respect to the cut, or columns, or both."""
        choices: list[Colouring] = []
        if mode in ("auto", "reverse"):
            choices.append(jacobian_colouring(inner, "reverse"))
        if mode in ("star", "acyclic"):
            choices.append(symmetric_colouring(self.pattern, mode))  # type: ignore[arg-type]
        elif mode in ("forward", "both"):
            choices.append(jacobian_colouring(self.pattern, mode))  # type: ignore[arg-type]
        elif mode == "auto" and self._symmetric and choices[0].colours > 2:
            choices.append(symmetric_colouring(self.pattern))
        elif mode == "auto" and choices[0].colours > 3:
            choices.append(jacobian_colouring(self.pattern, "auto"))
        best = min(choices, key=lambda c: c.colours)
        self._colouring = best
        self._on_cut = mode in ("auto", "reverse") and best is choices[0]
        self._assembly = None
        self._kept_seeds: np.ndarray | None = None
        if self._on_cut:
            order = self._order(inner, columns)
            self._assembly = _Assembly(self._cut, best.index, order, self.pattern.nnz)
        self.mode = best.mode
        self.sweeps = best.colours

    def _order(self, inner: csr_array, columns: Any) -> NDArray[np.intp]:
        """Return where each element of the cut's pattern is in the pattern of the matrix."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(inner.indptr))
        keys = rows * np.intp(self.shape[1]) + columns
        outer = np.repeat(np.arange(self.shape[0]), np.diff(self.pattern.indptr))
        known = outer * np.intp(self.shape[1]) + self.pattern.indices
        return np.searchsorted(known, keys)

    @property
    def colors(self) -> NDArray[np.intp]:
        """A colour for each row (mode "reverse") or column; for "both", those of columns first."""
        c = self._colouring
        if self.mode == "both":
            return np.concatenate([c.columns, c.rows])
        return c.rows if self.mode == "reverse" else c.columns

    # -- values ---------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> csr_array:
        """Return the derivative at an argument."""
        run = self._run(args)
        data = self._data(run) if run.depends else np.zeros(0, run.dtype)
        matrix = self._matrix(data)
        if self._check and run.depends:
            self._probe(run, matrix)
        return matrix

    def _run(self, args: Sequence[Any]) -> _Run:
        run = _Run(self._function, tuple(args), self._argnum, self._name)
        self._check_program(run)
        return run

    def _matrix(self, data: np.ndarray) -> csr_array:
        inner = self._template
        return csr_array((data, inner.indices.copy(), inner.indptr.copy()), shape=self.shape)

    def _check_program(self, run: _Run) -> None:
        if run.source.shape != self._argument:
            raise ShapeError(
                f"{self._name}: the plan is for an argument of shape {self._argument}, and was "
                f"called with {run.source.shape}; make another plan"
            )
        mine, now = self._program, run.program
        if mine != now:
            at = next(
                (i for i, (a, b) in enumerate(zip(mine, now, strict=False)) if a != b),
                min(len(mine), len(now)),
            )
            was, is_now = (repr(p[at]) if at < len(p) else "nothing" for p in (mine, now))
            raise PatternError(
                f"{self._name}: {name_of(self._fun)} did not do the same operations as when the "
                f"plan was made: operation {at} was {was} and is {is_now}. A plan holds for one "
                "sequence of operations, so write wg.where in place of `if`, or make a plan for "
                "each case"
            )
        for node, then, now in zip(run.nodes, self._structure, run.structure, strict=True):
            if not holds(then, now):
                raise PatternError(
                    f"{self._name}: {node.op.name!r} of {name_of(self._fun)} has other indices, "
                    "parameters or zeros of a constant operand than when the plan was made, so its "
                    "pattern may be another. Indices that are computed from the argument (argsort, "
                    "argmax) change with it: use wg.jacobian, or make a plan for each case. Give a "
                    "constant operand without zeros as an example"
                )

    def _data(self, run: _Run) -> np.ndarray:
        return self._assembled(self._swept(run, range(self.sweeps)), run.dtype)

    def _swept(self, run: _Run, colours: range) -> list[Any]:
        """Return the results of the sweeps for some colours; those of columns come first."""
        if self._on_cut:
            nodes = [run.nodes[i] for i in self._cut.nodes]
            return [self._sums(run.pull(seed, nodes)) for seed in self._seeds(run.dtype, colours)]
        colouring = self._colouring
        # a column of a Hessian is a row, and pulls are cheaper
        by_column = run.pulled if self._symmetric else run.push
        results = []
        for k in colours:
            if k < colouring.column_colours:
                results.append(by_column((colouring.columns == k).astype(run.dtype)))
            else:
                seed = colouring.rows == k - colouring.column_colours
                results.append(run.pulled(seed.astype(run.dtype)))
        return results

    def _assembled(self, results: list[Any], dtype: Any) -> np.ndarray:
        """Return the data of the matrix from the results of all sweeps."""
        if self._on_cut:
            return self._assembly(results, dtype)  # type: ignore[misc]
        first = self._colouring.column_colours
        forward, reverse = (np.stack(r) if r else None for r in (results[:first], results[first:]))
        return self._colouring.recover(forward, reverse)

    def _seeds(self, dtype: Any, colours: range) -> Any:
        """Return the cotangent of the result for some colours; small ones are kept."""
        colouring = self._colouring
        if colouring.row_colours * self.shape[0] > KEPT:
            return ((colouring.rows == k).astype(dtype) for k in colours)
        if self._kept_seeds is None or self._kept_seeds.dtype != dtype:
            self._kept_seeds = colouring.row_seeds(dtype)
        return self._kept_seeds[colours.start : colours.stop]

    def _sums(self, cotangents: list[np.ndarray]) -> list[np.ndarray]:
        """Return the cotangent of each part of the cut: the sum of those of its nodes."""
        sums: list[Any] = [None] * (len(self._cut.starts) - 1)
        for part, g in zip(self._cut.parts, cotangents, strict=True):
            sums[part] = g if sums[part] is None else sums[part] + g
        return sums

    def _probe(self, run: _Run, matrix: csr_array) -> None:
        """Raise if a product with the matrix is not what a sweep says."""
        random = np.random.default_rng()
        weights = random.uniform(0.5, 1.5, self.shape[0]).astype(matrix.dtype)
        expected = run.pulled(weights)
        difference = np.abs(expected - matrix.T @ weights)
        size = abs(matrix).T @ weights + np.abs(expected)
        eps = backends.finfo(matrix.dtype).eps
        suspects = np.flatnonzero(difference > 1e3 * eps * size)
        # a column of small numbers may differ by rounding only, so its elements are looked at
        for column in suspects[np.argsort(-difference[suspects])].tolist():
            seed = np.zeros(self.shape[1], matrix.dtype)
            seed[column] = 1
            values = run.push(seed)
            apart = np.abs(values - matrix[:, [column]].toarray().ravel())
            known = self.pattern[:, [column]].toarray().ravel()
            # what cancels to nothing is found by two sweeps with the rounding of larger numbers
            scale = np.where(known, abs(matrix).max(), np.abs(values).max())
            wrong = np.flatnonzero(apart > 1e3 * eps * scale)
            if len(wrong):
                row = int(wrong[0])
                self._refuse(row, column, values[row], bool(known[row]))

    def _refuse(self, row: int, column: int, value: float, known: bool) -> NoReturn:
        advice = 'make the plan with pattern="global", or another one for this argument'
        if not self._local:
            advice = "make another plan for this argument"
        raise PatternError(
            f"{self._name}: the derivative has an element at ({row}, {column}) of size {value:.6g} "
            f"that the plan's pattern {'has for other paths only' if known else 'does not have'}. "
            f"The pattern of {name_of(self._fun)} changes with its argument: {advice}"
        )

    # -- looks ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        m, n = self.shape
        share = self.pattern.nnz / max(m * n, 1)
        sweeps = "sweep" if self.sweeps == 1 else "sweeps"
        head = (
            f"<{self._name} of {name_of(self._fun)}: {m} x {n}, {self.pattern.nnz} elements "
            f"({share:.2%}), {self.sweeps} {sweeps} ({self.mode})>"
        )
        return f"{head}\n{self.draw()}"

    def draw(self, width: int = 40) -> str:
        """Return the pattern as text: a character for each block of elements."""
        return draw(self.pattern, width)

    def spy(self, ax: Any = None, **options: Any) -> Any:
        """Plot the pattern with Matplotlib, which must be installed, and return the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "plan.spy() plots with Matplotlib, which is not installed: pip install matplotlib; "
                "print(plan) draws the pattern as text"
            ) from error
        if ax is None:
            _, ax = plt.subplots()
        options.setdefault("markersize", max(0.5, min(5.0, 250 / max(self.shape))))
        ax.spy(self.pattern, **options)
        return ax


_DOTS = " .:+*#"


def draw(pattern: csr_array, width: int = 40) -> str:
    """Return a pattern as lines of characters, darker for more elements; two rows in one line."""
    m, n = pattern.shape
    if not m or not n:
        return ""
    across = min(n, width)
    down = min(m, max(1, round(m * across / n / 2) if n > width or m > width // 2 else m))
    down = min(down, width)
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr)) * down // m
    columns = pattern.indices.astype(np.intp) * across // n
    counts = np.zeros((down, across))
    np.add.at(counts, (rows, columns), 1)
    heights = np.bincount(np.arange(m) * down // m, minlength=down)
    widths = np.bincount(np.arange(n) * across // n, minlength=across)
    shade = counts / np.outer(heights, widths)
    level = np.ceil(shade * (len(_DOTS) - 1)).astype(int)
    return "\n".join("|" + "".join(_DOTS[k] for k in line) + "|" for line in level)


def jacobian(
    fun: Callable[..., Any],
    *example: Any,
    argnum: int = 0,
    pattern: str = "global",
    mode: str = "auto",
    check: bool | None = None,
) -> Plan:
    """Return a plan for the sparse Jacobian of `fun`: ``plan(x)`` is a scipy.sparse.csr_array.

    Its rows are the elements of fun(x), its columns those of x, both in C order.

    Parameters
    ----------
    fun
        Takes an array x, and perhaps more arguments, and returns an array.
    example
        The arguments to make the plan with; the plan is for their shapes.
    argnum
        Which argument is x.
    pattern
        "global" for a pattern that holds for every x: both branches of `where`, every element for
        `max`. "local" for one that leaves out what has a derivative of 0 at the example. Indices
        that are computed from x, as by `argsort`, count as constants.
    mode
        "reverse" seeds groups of rows, "forward" groups of columns, "both" some of each; "auto"
        takes the fewest sweeps.
    check
        Whether to compare each matrix with one more sweep, and raise `PatternError` if an element
        is missing. By default for local patterns.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> plan = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(4))
    >>> plan(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> print(plan)
    <sparse.jacobian of <lambda>: 3 x 4, 6 elements (50.00%), 1 sweep (reverse)>
    |##  |
    | ## |
    |  ##|
    """
    return Plan(fun, example, argnum, pattern, mode, check, symmetric=False)


def hessian(
    fun: Callable[..., Any],
    *example: Any,
    argnum: int = 0,
    pattern: str = "global",
    mode: str = "auto",
    check: bool | None = None,
) -> Plan:
    """Return a plan for the sparse Hessian of `fun`, which returns one number.

    Parameters are those of `jacobian`, except `mode`: "star" and "acyclic" colour the symmetric
    pattern, to read elements directly or by substitution; "reverse" seeds groups of rows; "auto"
    takes the fewest sweeps without substitution.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> plan = wg.sparse.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), np.ones(3))
    >>> plan(np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    return Plan(fun, example, argnum, pattern, mode, check, symmetric=True)
