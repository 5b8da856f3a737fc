"""Constrained minimization by IPOPT and cyipopt, with sparse exact derivatives."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.errors import WengertError
from wengert.optim.scipy_bridge import as_list, as_new
from wengert.optim.vectors import Objective, Space, VectorFunction, as_tuple

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

#: SciPy's names of options, and IPOPT's.
_NAMES = {"maxiter": "max_iter"}
_SOLVED = (0, 1)  # to the tolerance, and to what counts as acceptable


class IpoptProblem:
    """The callbacks of a constrained problem, in the form that cyipopt.Problem takes.

    The Jacobian, and the Hessian of the Lagrangian, come from sparse plans. IPOPT asks once for
    their patterns.
    All arrays are about one vector, the numbers of x0 in the order of `ravel`.

    Parameters
    ----------
    fun, x0, args, bounds, constraints
        As for `minimize_ipopt`.

    Attributes
    ----------
    n, m
        How many numbers x has, and how many values the constraints.
    start
        The numbers of x0.
    lb, ub, cl, cu
        The bounds of x and of the constraints.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> problem = wg.optim.IpoptProblem(
    ...     lambda x: wg.sum(x**2), np.ones(3),
    ...     constraints={"type": "eq", "fun": lambda x: x[1:] * x[:-1] - 2.0},
    ... )
    >>> [part.tolist() for part in problem.jacobianstructure()]
    [[0, 0, 1, 1], [0, 1, 1, 2]]
    >>> [part.tolist() for part in problem.hessianstructure()]
    [[0, 1, 1, 2, 2], [0, 0, 1, 1, 2]]
    >>> problem.hessian(np.ones(3), np.array([5.0, 7.0]), 1.0)
    array([2., 5., 2., 7., 2.])
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        x0: Any,
        *,
        args: tuple[Any, ...] = (),
        bounds: Any = None,
        constraints: Any = (),
    ) -> None:
        self._space = space = Space(x0, "minimize_ipopt")
        if not space.one_library:
            raise ValueError(
                "minimize_ipopt: x0 has arrays of several libraries, and IPOPT takes one vector; "
                "convert them to those of one library"
            )
        self._objective = Objective(fun, as_tuple(args), space)
        self._constraint, matrices, limits = _joined(constraints, space)
        self._linear = _stacked(matrices, space)
        self.n, self.start = space.size, space.start
        self.lb, self.ub = _bounds(space.bounds(bounds), space)
        self.cl, self.cu = (np.concatenate(side) for side in zip(*limits, strict=True))
        self.m = len(self.cl)
        self._nonlinear = self.m - self._linear.shape[0]
        self._objective.value_and_gradient(space.start)  # so that errors come before IPOPT does
        self._jacobian_plan = self._make_jacobian()
        self._hessian_plan: Any = None
        #: How many steps IPOPT has taken.
        self.steps = 0
        #: How often each callback was called, by its name.
        self.calls = dict.fromkeys(("objective", "gradient", "jacobian", "hessian"), 0)

    # -- values and first derivatives -------------------------------------------------------------

    def objective(self, x: np.ndarray) -> float:
        """Return the value of the function."""
        self.calls["objective"] += 1
        return self._objective.value(x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of the function."""
        self.calls["gradient"] += 1
        return self._objective.value_and_gradient(x)[1]

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the constraints, the linear ones last."""
        values = self._constraint.value(x) if self._nonlinear else np.zeros(0)
        return np.concatenate([values, self._linear @ x])

    def _make_jacobian(self) -> Any:
        if not self._nonlinear:
            return None
        from wengert.transforms.sparse.plans import jacobian

        try:
            return jacobian(self._constraint.of_one, self._space.as_one(self.start), check=True)
        except WengertError:
            return None  # a pattern that is not sparse

    def jacobianstructure(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of the elements that `jacobian` gives."""
        from scipy.sparse import coo_array

        if not self._nonlinear:
            rows, columns = np.zeros((2, 0), np.intp)
        elif self._jacobian_plan is None:
            rows, columns = np.indices((self._nonlinear, self.n)).reshape(2, -1)
        else:
            rows, columns = coo_array(self._jacobian_plan.pattern).coords
        linear = coo_array(self._linear)
        below, right = linear.coords
        return np.concatenate([rows, below + self._nonlinear]), np.concatenate([columns, right])

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the elements of the constraints' Jacobian that may differ from zero."""
        self.calls["jacobian"] += 1
        if not self._nonlinear:
            values = np.zeros(0)
        elif self._jacobian_plan is None:
            values = self._constraint.jacobian(x).ravel()
        else:
            values = self._jacobian_plan(self._space.as_one(x), format="scipy").data
        return np.concatenate([values, self._linear.data])

    # -- second derivatives -----------------------------------------------------------------------

    def _lagrangian(self, vector: Tensor, weights: Any, factor: Any) -> Any:
        value = factor * self._objective.of_one(vector)
        if self._nonlinear:
            value = value + Tensor._namespace.sum(self._constraint.of_one(vector) * weights)
        return value

    def _lower(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Return the Hessian's plan, and which of its elements are in the lower triangle."""
        if self._hessian_plan is None:
            from scipy.sparse import coo_array

            from wengert.transforms.sparse.plans import hessian

            weights = np.ones(self._nonlinear)
            start = self._space.as_one(self.start)
            plan = hessian(self._lagrangian, start, weights, 1.0, check=True)
            rows, columns = coo_array(plan.pattern).coords
            lower = rows >= columns
            self._hessian_plan = plan, lower, rows[lower], columns[lower]
        return self._hessian_plan

    def hessianstructure(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of the elements that `hessian` gives: the lower triangle."""
        return self._lower()[2:]

    def hessian(self, x: np.ndarray, lagrange: np.ndarray, obj_factor: float) -> np.ndarray:
        """Return the elements of the Hessian of obj_factor * fun + lagrange @ constraints."""
        self.calls["hessian"] += 1
        plan, lower, _, _ = self._lower()
        weights = np.array(lagrange[: self._nonlinear], np.float64)
        matrix = plan(self._space.as_one(x), weights, float(obj_factor), format="scipy")
        return np.asarray(matrix.data[lower], np.float64)

    def intermediate(self, mode: int, step: int, *more: Any) -> bool:
        """Count the steps; IPOPT calls this after each."""
        self.steps = int(step)
        return True


def minimize_ipopt(
    fun: Callable[..., Any],
    x0: Any,
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    constraints: Any = (),
    hess: bool = True,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Return what IPOPT finds with exact sparse derivatives, x in the form of x0.

    It needs the package cyipopt, and IPOPT itself. For the callbacks alone there is `IpoptProblem`.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns one real number.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    bounds, constraints
        As for `minimize`. Derivatives that a constraint brings along are not used.
    hess
        Whether to give the Hessian of the Lagrangian; IPOPT approximates it otherwise.
    tol
        IPOPT's option of that name.
    options
        IPOPT's options by name, and `maxiter` and `disp` as SciPy has them.

    Returns
    -------
    A scipy.optimize.OptimizeResult. `success` says whether IPOPT's status is 0 (solved) or 1
    (solved to an acceptable level); `constr` has the values of the constraints, and `v` their
    multipliers.
    """
    try:
        cyipopt = importlib.import_module("cyipopt")
    except ImportError as error:
        raise ImportError(
            "minimize_ipopt: IPOPT is called by way of cyipopt, which is not installed: conda "
            "install -c conda-forge cyipopt, or pip install cyipopt where IPOPT is. "
            "wg.optim.minimize with 'trust-constr' needs neither"
        ) from error
    from scipy.optimize import OptimizeResult

    problem = IpoptProblem(fun, x0, args=args, bounds=bounds, constraints=constraints)
    solver = cyipopt.Problem(
        n=problem.n,
        m=problem.m,
        problem_obj=problem,
        lb=problem.lb,
        ub=problem.ub,
        cl=problem.cl,
        cu=problem.cu,
    )
    for name, value in _options(options or {}, hess, tol).items():
        solver.add_option(name, value)
    x, told = solver.solve(problem.start.copy())
    message = told["status_msg"]
    return OptimizeResult(
        x=problem._space.tree(np.asarray(x)),
        success=told["status"] in _SOLVED,
        status=told["status"],
        message=message.decode() if isinstance(message, bytes) else message,
        fun=told["obj_val"],
        constr=np.asarray(told["g"]),
        v=np.asarray(told["mult_g"]),
        nit=problem.steps,
        nfev=problem.calls["objective"],
        njev=problem.calls["gradient"],
        nhev=problem.calls["hessian"],
    )


def _options(given: dict[str, Any], hess: bool, tol: float | None) -> dict[str, Any]:
    """Return IPOPT's options; it says nothing unless it is asked to."""
    found: dict[str, Any] = {"print_level": 5 if given.get("disp") else 0, "sb": "yes"}
    if not hess:
        found["hessian_approximation"] = "limited-memory"
    if tol is not None:
        found["tol"] = float(tol)
    found.update({_NAMES.get(name, name): v for name, v in given.items() if name != "disp"})
    return found


Limits = list[tuple[np.ndarray, np.ndarray]]


def _joined(given: Any, space: Space) -> tuple[VectorFunction, list[Any], Limits]:
    """Return all nonlinear constraints as one function, the linear ones, and the limits of both."""
    from scipy.optimize import LinearConstraint

    functions, matrices = [], []
    limits: Limits = [(np.zeros(0), np.zeros(0))]
    linear_limits: Limits = []
    for one in as_list(given):
        if isinstance(one, LinearConstraint):
            rows = np.atleast_2d(one.A) if isinstance(one.A, (list, np.ndarray)) else one.A
            matrices.append(rows)
            linear_limits.append(_sides(one, rows.shape[0], "a constraint"))
            continue
        new, args = as_new(one)
        functions.append((new.fun, args))
        single = VectorFunction(new.fun, args, space, "a constraint")
        limits.append(_sides(new, len(single.value(space.start)), "a constraint"))

    def constraints(tree: Any) -> Any:
        return [fun(tree, *args) for fun, args in functions]

    joined = VectorFunction(constraints, (), space, "a constraint")
    return joined, matrices, limits + linear_limits


def _sides(one: Any, count: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper limit of each number."""
    low, high = (np.asarray(side, np.float64) for side in (one.lb, one.ub))
    try:
        return np.array(np.broadcast_to(low, (count,))), np.array(np.broadcast_to(high, (count,)))
    except ValueError:
        raise ValueError(
            f"minimize_ipopt: {what} has {count} numbers, and limits of shapes {low.shape} and "
            f"{high.shape}; give one number, or one for each"
        ) from None


def _stacked(matrices: list[Any], space: Space) -> Any:
    """Return the matrices of linear constraints as one sparse matrix."""
    from scipy.sparse import csr_array, vstack

    if not matrices:
        return csr_array((0, space.size))
    for matrix in matrices:
        if matrix.shape[1] != space.size:
            raise ValueError(
                f"minimize_ipopt: the matrix of a LinearConstraint has {matrix.shape[1]} columns, "
                f"and x0 has {space.size} numbers; expected a column for each"
            )
    stacked = csr_array(vstack([csr_array(m) for m in matrices], format="csr"), dtype=float)
    stacked.sum_duplicates()
    return stacked


def _bounds(given: Any, space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper bound of each number."""
    from scipy.optimize import Bounds

    if given is None:
        given = Bounds(-np.inf, np.inf)
    if not isinstance(given, Bounds):
        pairs = [(-np.inf if a is None else a, np.inf if b is None else b) for a, b in given]
        given = Bounds(*np.array(pairs, np.float64).T)
    return _sides(given, space.size, "x0")
