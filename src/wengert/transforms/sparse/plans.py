"""Plans of sparse Jacobians and Hessians, which give a matrix in a few sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wengert import backends
from wengert.errors import BackendError, ShapeError, WengertError, name_of
from wengert.explain import html
from wengert.transforms.gradients import grad
from wengert.transforms.sparse.assembly import Assembly, Moves, Placed, by_colour
from wengert.transforms.sparse.colouring import Colouring, jacobian_colouring, symmetric_colouring
from wengert.transforms.sparse.formats import built, check_format
from wengert.transforms.sparse.pattern import Cut, find_cut, find_pattern, holds, read_constants
from wengert.transforms.sparse.runs import Run, cast

PATTERNS = ("global", "local")
JACOBIAN_MODES = ("auto", "forward", "reverse", "both")
HESSIAN_MODES = ("auto", "star", "acyclic", "reverse")
#: Seeds of up to this many numbers are kept with the plan.
KEPT = 4_000_000


class PatternError(WengertError):
    """A derivative has an element that the plan's pattern does not have."""


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
        self._trusts = check is False
        run = Run(self._function, example, argnum, self._name)
        self.shape = (math.prod(run.target.shape), math.prod(run.source.shape))
        self._argument = run.source.shape
        self._program, self._structure = run.program, run.structure
        try:
            read_constants(self._structure)
            inner, self._cut = self._patterns(run)
        except WengertError:
            raise
        except Exception as error:
            if backends.is_on_host(run.target._raw):
                raise
            raise BackendError(
                f"{self._name}: the pattern of {name_of(fun)} is found by values, and an array of "
                f"{run.xp.name} has none yet ({type(error).__name__}); make the plan beforehand, "
                "with an example in host memory, and give it such arrays afterwards"
            ) from error
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

    def _patterns(self, run: Run) -> tuple[csr_array, Cut]:
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
        self._kept_seeds: np.ndarray | None = None
        self._placed = Placed()
        if self._on_cut:
            order = self._order(inner, columns)
            self._assembly = Assembly(best.index, order, self.pattern.nnz)
            self._moves = Moves(self._cut, self._assembly)
        else:
            self._assembly = by_colour(best, self.pattern.nnz)
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

    def __call__(self, *args: Any, format: str | None = None) -> Any:
        """Return the derivative at an argument.

        Parameters
        ----------
        args
            The arguments of the function, arrays of any library on any device.
        format
            "scipy" for a `scipy.sparse.csr_array` in host memory, "torch_coo", "torch_csr",
            "jax_bcoo" or "cupy_csr" for a matrix of that library, where the argument is. By
            default, that of the argument's library; SciPy's for NumPy arrays.
        """
        check_format(format, self._name)
        run = self._run(args)
        values = self._data(run)
        self._check_values(run, values)
        return built(format, values, self._template, self._placed, self._name)

    def values(self, *args: Any) -> Any:
        """Return the elements of the derivative, in the order of `pattern`, where the argument is.

        Nothing is copied to host memory, so it can be compiled: ``jax.jit(plan.values)``.

        Examples
        --------
        >>> import numpy as np, wengert as wg
        >>> plan = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(3))
        >>> plan.values(np.array([1.0, 2.0, 3.0]))
        array([2., 1., 3., 2.])
        """
        run = self._run(args)
        values = self._data(run)
        self._check_values(run, values)
        return values

    def _run(self, args: Sequence[Any]) -> Run:
        run = Run(self._function, tuple(args), self._argnum, self._name)
        self._check_program(run)
        return run

    def _matrix(self, data: np.ndarray) -> csr_array:
        return built("scipy", data, self._template, self._placed, self._name)

    def _check_program(self, run: Run) -> None:
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
            if not holds(then, now, self._trusts):
                raise PatternError(
                    f"{self._name}: {node.op.name!r} of {name_of(self._fun)} has other indices, "
                    "parameters or zeros of a constant operand than when the plan was made, so its "
                    "pattern may be another. Indices that are computed from the argument (argsort, "
                    "argmax) change with it: use wg.jacobian, or make a plan for each case. Give a "
                    "constant operand without zeros as an example"
                )

    def _data(self, run: Run) -> Any:
        if not (run.depends and self.pattern.nnz):
            return run.xp.zeros(0, dtype=run.dtype)
        return self._assembled(self._swept(run, range(self.sweeps)), run.dtype)

    def _swept(self, run: Run, colours: range) -> list[Any]:
        """Return the results of the sweeps for some colours; those of columns come first."""
        if self._on_cut:
            nodes = [run.nodes[i] for i in self._cut.nodes]
            return [self._sums(run.pull(self._seed(run, k), nodes)) for k in colours]
        # a column of a Hessian is a row, and pulls are cheaper
        by_column = run.pulled if self._symmetric else run.push
        first = self._colouring.column_colours
        return [(by_column if k < first else run.pulled)(self._seed(run, k)) for k in colours]

    def _seed(self, run: Run, colour: int) -> Any:
        """Return the seed of a colour, where the function computes; small ones of rows are kept."""
        colouring, xp = self._colouring, run.xp
        first = colouring.column_colours
        by_rows = colour >= first
        groups = colouring.rows if by_rows else colouring.columns
        if not run.on_numpy:
            if self.sweeps == 1 and not groups.any():
                return xp.ones(len(groups), dtype=run.dtype)
            there = self._placed("rows" if by_rows else "columns", groups, xp, run.target._raw)
            return xp.astype(there == (colour - first if by_rows else colour), run.dtype)
        if not by_rows or colouring.row_colours * self.shape[0] > KEPT:
            return (groups == (colour - first if by_rows else colour)).astype(run.dtype)
        if self._kept_seeds is None or self._kept_seeds.dtype != run.dtype:
            self._kept_seeds = colouring.row_seeds(run.dtype)
        return self._kept_seeds[colour - first]

    def _assembled(self, results: list[Any], dtype: Any) -> Any:
        """Return the elements of the matrix from the results of all sweeps."""
        flat = [part for result in results for part in result] if self._on_cut else results
        xp: Any = backends.namespace_of(flat[0])
        if xp is not backends.NUMPY:
            return cast(xp, self._assembly(xp, flat, self._placed), dtype)
        if self._on_cut:
            return self._moves(results, dtype)
        first = self._colouring.column_colours
        forward, reverse = (np.stack(r) if r else None for r in (results[:first], results[first:]))
        return self._colouring.recover(forward, reverse)

    def _sums(self, cotangents: list[Any]) -> list[Any]:
        """Return the cotangent of each part of the cut: the sum of those of its nodes."""
        sums: list[Any] = [None] * (len(self._cut.starts) - 1)
        for part, g in zip(self._cut.parts, cotangents, strict=True):
            sums[part] = g if sums[part] is None else sums[part] + g
        return sums

    def _check_values(self, run: Run, values: Any) -> None:
        """Compare values with a sweep, if that was asked for; host memory is where that happens."""
        if not (self._check and run.depends):
            return
        try:
            data = backends.to_numpy(values)
        except Exception as error:
            raise BackendError(
                f"{self._name}: the plan checks each matrix, and an array of {run.xp.name} has no "
                f"values yet ({type(error).__name__}); make the plan with check=False"
            ) from error
        self._probe(run, self._matrix(data))

    def _probe(self, run: Run, matrix: csr_array) -> None:
        """Raise if a product with the matrix is not what a sweep says."""
        random = np.random.default_rng()
        weights = random.uniform(0.5, 1.5, self.shape[0]).astype(matrix.dtype)
        expected = backends.to_numpy(run.pulled(weights))
        difference = np.abs(expected - matrix.T @ weights)
        size = abs(matrix).T @ weights + np.abs(expected)
        eps = backends.finfo(matrix.dtype).eps
        suspects = np.flatnonzero(difference > 1e3 * eps * size)
        # a column of small numbers may differ by rounding only, so its elements are looked at
        for column in suspects[np.argsort(-difference[suspects])].tolist():
            seed = np.zeros(self.shape[1], matrix.dtype)
            seed[column] = 1
            values = backends.to_numpy(run.push(seed))
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

    def _head(self) -> str:
        m, n = self.shape
        share = self.pattern.nnz / max(m * n, 1)
        sweeps = "sweep" if self.sweeps == 1 else "sweeps"
        return (
            f"{self._name} of {name_of(self._fun)}: {m} x {n}, {self.pattern.nnz} elements "
            f"({share:.2%}), {self.sweeps} {sweeps} ({self.mode})"
        )

    def __repr__(self) -> str:
        return f"<{self._head()}>\n{self.draw()}"

    def _repr_html_(self) -> str:
        down, across = (min(length, html.CELLS) for length in self.shape)
        return html.density_map(_densities(self.pattern, down, across), self._head())

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
    shade = _densities(pattern, min(down, width), across)
    level = np.ceil(shade * (len(_DOTS) - 1)).astype(int)
    return "\n".join("|" + "".join(_DOTS[k] for k in line) + "|" for line in level)


def _densities(pattern: csr_array, down: int, across: int) -> NDArray[Any]:
    """Return the share of elements in each of so many parts of a pattern."""
    m, n = pattern.shape
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr)) * down // max(m, 1)
    columns = pattern.indices.astype(np.intp) * across // max(n, 1)
    counts = np.zeros((down, across))
    np.add.at(counts, (rows, columns), 1)
    heights = np.bincount(np.arange(m) * down // max(m, 1), minlength=down)
    widths = np.bincount(np.arange(n) * across // max(n, 1), minlength=across)
    return counts / np.outer(heights, widths)


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
