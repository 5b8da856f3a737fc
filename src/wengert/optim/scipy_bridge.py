"""A bridge to scipy.optimize: the unknown is any tree, and derivatives are exact."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.optim.vectors import Objective, Space, VectorFunction, as_tuple

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

#: What methods make of derivatives; those named nowhere here take gradients.
_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
_WITH_HESSIAN = ("dogleg", "trust-exact")
_CONSTRAINT = "a constraint"  # in messages


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    method: Any = None,
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    constraints: Any = (),
    hess: str | None = "hvp",
    sparse: bool | str = "auto",
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Return what scipy.optimize.minimize finds with exact derivatives, x in the form of x0.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns one real number.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    method
        One of SciPy's, by name, or "ipopt" for `minimize_ipopt`. Gradients go to all that take
        them.
    bounds
        As SciPy takes them, or for an array one pair (low, high) of numbers or arrays, with None
        for no bound. If x0 is a nest, a nest of the same form with a pair for each array.
    constraints
        As SciPy takes them; their functions take an x of the form of x0 and get exact
        derivatives. A LinearConstraint is for the numbers of x0 in one vector.
    hess
        "hvp" to give exact Hessians, or products with them, to the methods that take them.
        None to leave second derivatives to SciPy.
    sparse
        Whether Hessians, and Jacobians of constraints, are computed by a sparse plan: in a few
        sweeps, and as sparse matrices where the method takes them, which is "trust-constr" alone.
        "auto" does so from 100 numbers on if at most a tenth of a matrix may differ from zero.
    tol, callback, options
        As SciPy takes them; the callback gets an x of the form of x0.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def distance(x):
    ...     return (x["a"] - 3.0) ** 2 + wg.sum((x["b"] - x["a"]) ** 2)
    >>> found = wg.optim.minimize(distance, {"a": 0.0, "b": np.zeros(2)})
    >>> found.success, found.x["b"].round(4)
    (True, array([3., 3.]))
    """
    from scipy import optimize

    if hess not in ("hvp", None):
        raise ValueError(f"minimize: hess is {hess!r}; write 'hvp' or None")
    name = method.lower() if isinstance(method, str) else ""
    if name == "ipopt":
        from wengert.optim.ipopt import minimize_ipopt

        if callback is not None:
            raise ValueError(
                "minimize: IPOPT tells a callback no x, so leave out callback; options={'disp': "
                "True} prints a line for each step"
            )
        problem = {"args": args, "bounds": bounds, "constraints": constraints}
        return minimize_ipopt(fun, x0, **problem, hess=hess is not None, tol=tol, options=options)
    space = Space(x0, "minimize")
    objective = Objective(fun, as_tuple(args), space, sparse)
    given: dict[str, Any] = {"fun": objective.value}
    if name not in _WITHOUT_GRADIENT:
        given = {"fun": objective.value_and_gradient, "jac": True}
    if hess and (name in _WITH_PRODUCTS or callable(method)):
        given["hessp"] = objective.hessian_times
    if hess and name in _WITH_HESSIAN:
        given["hess"] = objective.hessian
    made = _constraints(constraints, space, name, hess, sparse)
    found = optimize.minimize(
        **given,
        x0=space.start,
        method=method,
        bounds=space.bounds(bounds),
        constraints=[constraint for constraint, _ in made],
        tol=tol,
        callback=None if callback is None else _callback(callback, space),
        options=_options(options, name, any(sparse for _, sparse in made)),
    )
    found.x = space.tree(found.x)
    return found


def _options(options: dict[str, Any] | None, method: str, sparse: bool) -> dict[str, Any] | None:
    """Return options; with them, SciPy takes some constraints sparse and others dense."""
    if method == "trust-constr" and sparse:
        return {"sparse_jacobian": True, **(options or {})}
    return options


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    method: str = "trf",
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    loss: Any = "linear",
    sparse: bool | str = "auto",
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Return what scipy.optimize.least_squares finds with exact Jacobians, x in the form of x0.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns the residuals, an array or a nest of
        arrays, whose squares are to add up to little.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    bounds
        As for `minimize`; two lists for two numbers are SciPy's, lower and upper bounds.
    method, loss
        As SciPy takes them.
    sparse
        Whether Jacobians are sparse matrices from a plan, with which SciPy takes LSMR for its
        steps; for the method "lm" they become dense. "auto" is as for `minimize`.
    options
        Further arguments of SciPy's function by name, such as ftol and max_nfev.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> times, counts = np.arange(4.0), np.array([8.0, 4.0, 2.0, 1.0])
    >>> def misfit(x):
    ...     return x["start"] * wg.exp(-x["rate"] * times) - counts
    >>> found = wg.optim.least_squares(misfit, {"start": 1.0, "rate": 1.0})
    >>> print(f"{found.x['start']:.4f} {found.x['rate']:.4f}")
    8.0000 0.6931
    """
    from scipy import optimize

    space = Space(x0, "least_squares")
    residuals = VectorFunction(fun, as_tuple(args), space, "the function", sparse)
    takes_sparse = method != "lm" and (options or {}).get("tr_solver") != "exact"
    given = {} if bounds is None else {"bounds": space.bounds(bounds)}
    found = optimize.least_squares(
        residuals.value,
        space.start,
        residuals.any_jacobian if takes_sparse else residuals.jacobian,
        method=method,
        loss=loss,
        **given,
        **(options or {}),
    )
    found.x = space.tree(found.x)
    return found


def _constraints(
    given: Any, space: Space, method: str, hess: str | None, sparse: bool | str
) -> list[tuple[Any, bool]]:
    """Return constraints on vectors with derivatives, and whether their Jacobians are sparse."""
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    found: list[tuple[Any, bool]] = []
    for one in as_list(given):
        if isinstance(one, LinearConstraint):
            found.append((one, False))
            continue
        new, args = as_new(one)
        constraint = VectorFunction(new.fun, args, space, _CONSTRAINT, sparse)
        options = {"jac": new.jac, "hess": new.hess, "keep_feasible": new.keep_feasible}
        is_sparse = False
        if callable(new.jac):
            options["jac"] = _on_vectors(new.jac, space, args)
        elif method == "trust-constr":
            is_sparse = constraint.is_sparse_at(space.start)
            options["jac"] = constraint.any_jacobian
        elif method not in _WITHOUT_GRADIENT:
            options["jac"] = constraint.jacobian
        if isinstance(one, dict) and method != "trust-constr":
            jac = {"jac": options["jac"]} if callable(options["jac"]) else {}
            found.append(({"type": one["type"], "fun": constraint.value, **jac}, False))
            continue
        if callable(new.hess):
            options["hess"] = _on_vectors(new.hess, space, ())
        elif hess and method == "trust-constr":
            options["hess"] = constraint.hessian
        found.append((NonlinearConstraint(constraint.value, new.lb, new.ub, **options), is_sparse))
    return found


def _on_vectors(
    function: Callable[..., Any], space: Space, args: tuple[Any, ...]
) -> Callable[..., Any]:
    return lambda x, *more: function(space.tree(x), *more, *args)


def as_list(given: Any) -> list[Any]:
    """Return a list of constraints, given one or several."""
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    single = isinstance(given, (dict, LinearConstraint, NonlinearConstraint))
    return [given] if single else list(given or ())


def as_new(one: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a constraint as a NonlinearConstraint, and further arguments of its function."""
    from scipy.optimize import NonlinearConstraint

    if not isinstance(one, dict):
        return one, ()
    kinds = {"eq": 0.0, "ineq": np.inf}
    kind = str(one.get("type")).lower()
    if kind not in kinds:
        raise ValueError(f"a constraint has type {one.get('type')!r}; expected 'eq' or 'ineq'")
    new = NonlinearConstraint(one["fun"], 0.0, kinds[kind], jac=one.get("jac", "2-point"))
    return new, tuple(one.get("args", ()))


def _callback(callback: Callable[..., Any], space: Space) -> Callable[..., Any]:
    """Return a callback on vectors, of the form that SciPy sees in the names of parameters."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:

        def with_result(intermediate_result: Any) -> Any:
            shown = type(intermediate_result)(intermediate_result)
            shown.x = space.tree(shown.x)
            return callback(intermediate_result=shown)

        return with_result
    return _on_vectors(callback, space, ())
