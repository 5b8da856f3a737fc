"""Functions of trees as functions of vectors, with their derivatives: what solvers work on."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import (
    DtypeError,
    ShapeError,
    UnconnectedWarning,
    WengertError,
    caller_depth,
    name_of,
)
from wengert.optim.leaves import labels, like, matcher, raw, tensor
from wengert.transforms.forward import linearize
from wengert.transforms.gradients import grad, value_and_grad, vjp
from wengert.transforms.jacobians import jacobian
from wengert.trees import flatten

if TYPE_CHECKING:
    from wengert.transforms.sparse.plans import Plan

#: From this many numbers of x on, "auto" checks whether a derivative is sparse, ...
LARGE = 100
#: ... which it is if no more than this share of its elements may differ from zero.
SPARSE = 0.1
_PROBES = 3  # so many rows tell whether it is worth the time to find the pattern


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Return further arguments as SciPy takes them: a tuple, or one alone."""
    return args if isinstance(args, tuple) else (args,)


def ravel(tree: Any) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """Return the numbers of a tree in one vector, and the function from such vectors to trees.

    The vector is float64. Leaves follow each other in the order of the tree, that of sorted keys
    in a dict, and the numbers of an array in C order. This is the order of the rows and columns of
    all matrices and operators in `wengert.optim`.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> x, unravel = wg.optim.ravel({"a": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> x
    array([1., 2., 3.])
    >>> unravel(2 * x)
    {'a': array([[2., 4.]]), 'b': np.float64(6.0)}
    """
    space = Space(tree, "ravel", "the tree")

    def unravel(vector: Any) -> Any:
        return space.tree(space.checked(vector))

    return space.start, unravel


class Space:
    """Trees of one form, and vectors of float64 with their numbers."""

    def __init__(self, x0: Any, caller: str, name: str = "x0") -> None:
        self.caller = caller
        self.name = name
        self.x0 = x0
        self.given, self.rebuild = flatten(x0)
        self.names = labels(x0, name)
        arrays = [self._checked(*pair) for pair in zip(self.given, self.names, strict=True)]
        self.shapes = [tuple(array.shape) for array in arrays]
        self.dtypes = [array.dtype for array in arrays]
        self.makers = [_maker(array) for array in arrays]
        ends = list(itertools.accumulate(map(math.prod, self.shapes), initial=0))
        self.slices = list(itertools.starmap(slice, itertools.pairwise(ends)))
        self.size = ends[-1]
        if not self.size:
            raise ValueError(f"{caller}: {name} has no numbers in it; expected at least one")
        self.start = self.vector(arrays)
        libraries = [backends.namespace_of(array) for array in arrays]
        #: Whether all arrays are of one library, so that one array can have all their numbers.
        self.one_library = all(xp is libraries[0] for xp in libraries)
        self._widest = max(arrays, key=lambda a: backends.namespace_of(a).finfo(a.dtype).bits)

    def _checked(self, value: Any, name: str) -> Any:
        if value is None:
            raise TypeError(f"{self.caller}: {name} is None; expected an array or a number")
        array = raw(value)
        if backends.kind_of(array.dtype) != "f":
            raise DtypeError(
                f"{self.caller}: {name} has dtype {array.dtype}; expected real floating numbers, "
                "so write 1.0 for 1, and a complex number as two real ones"
            )
        return array

    def checked(self, vector: Any) -> np.ndarray:
        """Return a vector that was given, as an array, if it has the right length."""
        x = np.asarray(vector, dtype=np.float64)
        if x.shape != (self.size,):
            raise ShapeError(
                f"{self.caller}: a vector has shape {x.shape}; expected ({self.size},), a number "
                f"for each of {self.name}"
            )
        return x

    def vector(self, leaves: Sequence[Any]) -> np.ndarray:
        """Return the numbers of arrays or tensors in one vector; None counts as zeros."""
        found = np.zeros(self.size)
        for leaf, part in zip(leaves, self.slices, strict=True):
            if leaf is not None:
                found[part] = backends.to_numpy(raw(leaf)).reshape(-1)
        return found

    def tensors(self, x: np.ndarray) -> list[Tensor]:
        """Return the arrays whose numbers a vector has, as tensors."""
        parts = zip(self.slices, self.shapes, self.makers, strict=True)
        return [wrap(make(np.reshape(x[part], shape))) for part, shape, make in parts]

    def tree(self, x: np.ndarray) -> Any:
        """Return the tree whose numbers a vector has, with arrays of the kinds in x0."""
        pairs = zip(self.tensors(x), self.given, strict=True)
        return self.rebuild([like(array._raw, given) for array, given in pairs])

    def trees(self, table: np.ndarray, first: bool) -> Any:
        """Return the tree of many vectors: arrays with one more axis, the first or the last.

        They are the rows of the table if it is the first, and its columns if it is the last.
        """
        count = len(table) if first else table.shape[-1]
        leaves = []
        for part, shape, make, given in zip(
            self.slices, self.shapes, self.makers, self.given, strict=True
        ):
            block = table[:, part] if first else table[part]
            full = (count, *shape) if first else (*shape, count)
            number = np.ndim(raw(given)) == 0 and not isinstance(given, Tensor)
            made = make(np.reshape(block, full))
            leaves.append(made if number else like(made, given))
        return self.rebuild(leaves)

    def as_one(self, x: np.ndarray) -> Any:
        """Return a vector as one array, of the library and the widest dtype of those in x0."""
        if backends.namespace_of(self._widest) is backends.NUMPY:
            return np.asarray(x, self._widest.dtype)
        return wrap(_maker(self._widest)(x))

    def parts(self, vector: Tensor) -> list[Tensor]:
        """Return the arrays whose numbers one array has; derivatives go through this."""
        xp = Tensor._namespace
        found = []
        for part, shape, dtype in zip(self.slices, self.shapes, self.dtypes, strict=True):
            piece = vector if len(self.slices) == 1 else vector[part]
            piece = piece if piece.shape == shape else xp.reshape(piece, shape)
            found.append(piece if piece.dtype == dtype else xp.astype(piece, dtype))
        return found

    def bounds(self, given: Any) -> Any:
        """Return bounds for the vector."""
        from scipy.optimize import Bounds

        if given is None or isinstance(given, Bounds):
            return given
        if self.x0 is not self.given[0]:
            pairs = matcher(self.x0)(given, (self.name, "bounds"))
        elif self._is_pair(given):
            pairs = [given]
        else:  # SciPy's own: a pair for each element
            return given
        low, high = np.empty((2, self.size))
        for pair, name, part, shape in zip(
            pairs, self.names, self.slices, self.shapes, strict=True
        ):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(
                    f"{self.caller}: the bounds of {name} are {pair!r}; expected a pair (low, high)"
                )
            below, above = pair
            low[part] = self._bound(-np.inf if below is None else below, shape, name)
            high[part] = self._bound(np.inf if above is None else above, shape, name)
        return Bounds(low, high)

    def _is_pair(self, given: Any) -> bool:
        """Return whether bounds of one array are (low, high), and not pairs for two elements."""
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            return False
        if self.size != 2:
            return True
        are_arrays = [not isinstance(b, (tuple, list)) for b in given]
        return all(are_arrays) and any(b is None or np.ndim(raw(b)) == 0 for b in given)

    def _bound(self, value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
        bound = backends.to_numpy(raw(value))
        try:
            return np.broadcast_to(bound, shape).reshape(-1)
        except ValueError:
            raise ShapeError(
                f"{self.caller}: a bound of {name} has shape {bound.shape}; expected a number, or "
                f"shape {shape}"
            ) from None


def _maker(array: Any) -> Callable[[np.ndarray], Any]:
    """Return a function that makes arrays of one library, dtype and device."""
    xp, dtype = backends.namespace_of(array), array.dtype
    if xp is backends.NUMPY:
        return lambda part: np.array(part, dtype)
    return lambda part: xp.asarray(part.copy(), dtype=dtype, device=array.device)


# -- sparse matrices ------------------------------------------------------------------------------


class Planned:
    """A sparse derivative: from a plan, and from another one where the first does not hold.

    Each matrix is compared with one more sweep. A solver goes to points that nobody has seen, and
    a pattern that leaves out an element there would be a wrong derivative.
    """

    def __init__(self, make: Callable[..., Plan], *example: Any) -> None:
        self.make = make
        self.plan = make(*example)

    def __call__(self, *args: Any) -> Any:
        """Return the matrix at some arguments, in SciPy's compressed rows."""
        from wengert.transforms.sparse.plans import PatternError

        try:
            return self.plan(*args, format="scipy")
        except PatternError:
            self.plan = self.make(*args)
        # A plan holds where it was made, so the comparison could only fail by rounding.
        self.plan._check = False
        try:
            return self.plan(*args, format="scipy")
        finally:
            self.plan._check = True


class MaybeSparse:
    """A derivative as a sparse matrix, if that is asked for or, for "auto", if it pays.

    The first call decides. `probe` takes what a call takes, and returns how many rows the matrix
    has and a function that gives one of them; `make` returns a plan for some arguments.
    """

    def __init__(
        self,
        sparse: bool | str,
        space: Space,
        probe: Callable[..., tuple[int, Callable[[int], np.ndarray]]],
        make: Callable[..., Plan],
    ) -> None:
        if not (isinstance(sparse, bool) or sparse == "auto"):
            raise ValueError(f"{space.caller}: sparse is {sparse!r}; write 'auto', True or False")
        self.sparse, self.space, self.probe, self.make = sparse, space, probe, make
        self.planned: Planned | None = None
        self.decided = False

    def __call__(self, x: np.ndarray, *more: Any) -> Any:
        """Return the matrix at a vector, or None if it is to be computed otherwise."""
        if not self.decided:
            self.decided = True
            self.planned = self._choose(x, *more)
        return None if self.planned is None else self.planned(self.space.as_one(x), *more)

    def _choose(self, x: np.ndarray, *more: Any) -> Planned | None:
        space = self.space
        if self.sparse is False:
            return None
        example = (space.as_one(x), *more)
        if self.sparse is True:
            if not space.one_library:
                raise ValueError(
                    f"{space.caller}: sparse=True needs arrays of one library, and {space.name} "
                    "has those of several; convert them, or write sparse=False"
                )
            return Planned(self.make, *example)
        if space.size < LARGE or not space.one_library:
            return None
        rows, row = self.probe(x, *more)
        if rows < LARGE:
            return None
        # three rows show most dense matrices for what they are before time goes into a pattern
        probes = np.linspace(0, rows - 1, _PROBES + 2).astype(int)[1:-1]
        if np.mean([np.count_nonzero(row(i)) for i in probes]) > SPARSE * space.size:
            return None
        try:
            planned = Planned(self.make, *example)
        except WengertError:  # the pattern is not sparse, or unknown
            return None
        return planned if planned.plan.pattern.nnz <= SPARSE * rows * space.size else None


# -- functions ------------------------------------------------------------------------------------


class Objective:
    """A function of one value: on vectors, with its gradient and its Hessian."""

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        space: Space,
        sparse: bool | str = False,
    ) -> None:
        self.fun, self.args, self.space = fun, args, space
        self.__name__ = name_of(fun)  # for errors
        self.both = value_and_grad(self)
        self.begun = False
        self.point: np.ndarray | None = None
        self.sparse_hessian = MaybeSparse(sparse, space, self._rows, self._plan)

    def __call__(self, leaves: list[Tensor]) -> Any:
        """Return the function's own answer."""
        return self.fun(self.space.rebuild(leaves), *self.args)

    def of_one(self, vector: Tensor) -> Any:
        """Return the function's own answer for one array."""
        return self(self.space.parts(vector))

    def value(self, x: np.ndarray) -> float:
        """Return the value, for methods that want no gradient."""
        result = self(self.space.tensors(x))
        if not hasattr(type(result), "__float__") or getattr(result, "shape", ()) != ():
            given = getattr(result, "shape", type(result).__name__)
            raise ShapeError(
                f"{self.space.caller}: the function returned {given}; expected one number"
            )
        return self._first_checked(result, None)

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient, of one sweep."""
        result, gradient = self.both(self.space.tensors(x))
        slope = self.space.vector(gradient)
        return self._first_checked(result, slope), slope

    def _first_checked(self, result: Any, slope: np.ndarray | None) -> float:
        """Return the value as a float; where a solver begins, it and the gradient are finite."""
        dtype = getattr(result, "dtype", np.float64)
        if backends.kind_of(dtype) == "c":
            raise DtypeError(
                f"{self.space.caller}: the function returned {dtype}; expected a real number, for "
                "example wg.real(z) or wg.abs(z)"
            )
        value = float(raw(result))
        if not self.begun:
            self.begun = True
            self._check_finite(value, slope)
        return value

    def _check_finite(self, value: float, slope: np.ndarray | None) -> None:
        caller = self.space.caller
        if not math.isfinite(value):
            raise ValueError(f"{caller}: the function of x0 is {value}; begin where it is finite")
        if slope is not None and not np.all(np.isfinite(slope)):
            i = int(np.argmin(np.isfinite(slope)))
            which = next(k for k, part in enumerate(self.space.slices) if i < part.stop)
            raise ValueError(
                f"{caller}: the function of x0 is {value}, but its derivative with respect to "
                f"{self.space.names[which]} is {slope[i]}; begin elsewhere, or look for a "
                "square root or a division of 0"
            )

    def hessian_times(self, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the Hessian at x times a vector; what does not depend on the vector is kept."""
        if self.point is None or not np.array_equal(self.point, x):
            self.point = x.copy()
            matrix = self.sparse_hessian(x)
            self.product = hessian_product(self, x, self.space) if matrix is None else matrix.dot
        return self.product(direction)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return the Hessian, a row for each number."""
        matrix = self.sparse_hessian(x)
        if matrix is not None:
            return matrix.toarray()
        blocks = jacobian(grad(self))(self.space.tensors(x))
        return np.concatenate(
            [
                _table(row, math.prod(shape))
                for row, shape in zip(blocks, self.space.shapes, strict=True)
            ]
        )

    def _rows(self, x: np.ndarray) -> tuple[int, Callable[[int], np.ndarray]]:
        size = self.space.size
        product = hessian_product(self, x, self.space)
        return size, lambda i: product(np.eye(1, size, i)[0])

    def _plan(self, vector: Any) -> Plan:
        from wengert.transforms.sparse.plans import hessian

        return hessian(self.of_one, vector, check=True)


def hessian_product(
    function: Callable[[list[Tensor]], Any], x: np.ndarray, space: Space
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map from a vector to the Hessian times it: a gradient recorded once."""
    push = linearize(grad(function), space.tensors(x))[1]
    return lambda direction: space.vector(push(space.tensors(direction)))


def _table(blocks: Sequence[Any], rows: int) -> np.ndarray:
    """Return the Jacobians by each array of x as one matrix."""
    parts = [backends.to_numpy(raw(block)).reshape(rows, -1) for block in blocks]
    return np.concatenate(parts, axis=1).astype(np.float64)


class VectorFunction:
    """A function of many values: on vectors, with its Jacobian and its Hessian.

    `what` is what to call it in errors. Methods take a vector, and whatever further arguments come
    before `args`.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        space: Space,
        what: str,
        sparse: bool | str = False,
    ) -> None:
        self.fun, self.args, self.space, self.what = fun, args, space, what
        self.__name__ = name_of(fun)
        self.sparse_jacobian = MaybeSparse(sparse, space, self._rows, self._plan)
        self.curvature: Planned | None = None

    def __call__(self, leaves: list[Tensor], *more: Any) -> Tensor:
        """Return the function's answer, one number or a nest of arrays, as a vector."""
        xp = Tensor._namespace
        parts = flatten(self.fun(self.space.rebuild(leaves), *more, *self.args))[0]
        flat = [xp.reshape(self._answer(part), (-1,)) for part in parts]
        if not flat:
            raise TypeError(
                f"{self.space.caller}: {self.what} returned an empty nest; expected arrays"
            )
        return flat[0] if len(flat) == 1 else xp.concat(flat)

    def _answer(self, part: Any) -> Tensor:
        caller = self.space.caller
        try:
            found = tensor(part)
        except TypeError:
            raise TypeError(
                f"{caller}: {self.what} returned {type(part).__name__}; expected an array, or a "
                "nest of arrays"
            ) from None
        kind = backends.kind_of(found.dtype)
        if kind == "c":
            raise DtypeError(
                f"{caller}: {self.what} returned {found.dtype}; the solver works on real numbers, "
                "so return [wg.real(z), wg.imag(z)], and take complex unknowns as two real arrays"
            )
        return found if kind == "f" else Tensor._namespace.astype(found, np.float64)

    def of_one(self, vector: Tensor, *more: Any) -> Tensor:
        """Return the values for one array."""
        return self(self.space.parts(vector), *more)

    def value(self, x: np.ndarray, *more: Any) -> np.ndarray:
        """Return the values."""
        return self(self.space.tensors(x), *more).numpy().astype(float)

    def jacobian(self, x: np.ndarray, *more: Any) -> np.ndarray:
        """Return the derivatives: a row for each value, a column for each number of x."""
        matrix = self.sparse_jacobian(x, *more)
        if matrix is not None:
            return matrix.toarray()
        leaves = self.space.tensors(x)
        blocks = jacobian(self)(leaves, *more)
        return _table(blocks, int(blocks[0].shape[0]))

    def any_jacobian(self, x: np.ndarray, *more: Any) -> Any:
        """Return the derivatives as a sparse matrix where that was chosen, else as an array."""
        matrix = self.sparse_jacobian(x, *more)
        return self.jacobian(x, *more) if matrix is None else matrix

    def is_sparse_at(self, x: np.ndarray) -> bool:
        """Whether Jacobians are sparse matrices; decided where this is asked first."""
        return self.sparse_jacobian(x) is not None

    def _rows(self, x: np.ndarray, *more: Any) -> tuple[int, Callable[[int], np.ndarray]]:
        values, pull = vjp(lambda leaves: self(leaves, *more), self.space.tensors(x))

        def row(i: int) -> np.ndarray:
            weights = np.eye(1, len(values), i)[0]
            xp: Any = backends.namespace_of(raw(values))
            return self.space.vector(pull(xp.asarray(weights, dtype=values.dtype))[0])

        return len(values), row

    def _plan(self, vector: Any, *more: Any) -> Plan:
        from wengert.transforms.sparse import plans

        plan = plans.jacobian(self.of_one, vector, *more, check=True)
        if not plan.pattern.nnz:
            warnings.warn(
                f"{self.space.caller}: what {self.what} returned does not depend on the argument, "
                "so all derivatives are zero; if that is not meant, look for float(x), .numpy() or "
                "stop_gradient on the way",
                UnconnectedWarning,
                stacklevel=caller_depth(),
            )
        return plan

    def hessian(self, x: np.ndarray, weights: np.ndarray) -> Any:
        """Return the Hessian of the weighted sum of values: sparse, or a linear operator."""
        from scipy.sparse.linalg import LinearOperator

        weights = np.asarray(weights, np.float64)
        if self.is_sparse_at(x):
            return self._sparse_hessian(x, weights)
        xp = Tensor._namespace
        product = hessian_product(lambda leaves: xp.sum(self(leaves) * weights), x, self.space)
        size = self.space.size
        return LinearOperator((size, size), matvec=product, rmatvec=product, dtype=np.float64)

    def _sparse_hessian(self, x: np.ndarray, weights: np.ndarray) -> Any:
        from wengert.transforms.sparse.plans import hessian

        def weighted(vector: Tensor, weights: Any) -> Any:
            return Tensor._namespace.sum(self.of_one(vector) * weights)

        one = self.space.as_one(x)
        if self.curvature is None:
            self.curvature = Planned(lambda v, w: hessian(weighted, v, w, check=True), one, weights)
        return self.curvature(one, weights)
