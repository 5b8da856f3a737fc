"""Systems of equations, and differential equations, with exact Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.errors import ShapeError
from wengert.optim.leaves import raw
from wengert.optim.operators import jacobian_operator
from wengert.optim.vectors import Space, VectorFunction, as_tuple
from wengert.trees import flatten

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_WITH_JACOBIAN = ("hybr", "lm")
_NEWTON = ("newton", "krylov")
_IMPLICIT = ("Radau", "BDF", "LSODA")
#: What Newton's methods take as options, with SciPy's default for the size of the residuals.
_DEFAULTS = {"fatol": float(np.finfo(float).eps ** (1 / 3)), "maxiter": 100, "jac_options": None}
_INNER = {"method": "lgmres", "inner_maxiter": 20, "inner_M": None}


def root(
    fun: Callable[..., Any],
    x0: Any,
    method: str = "hybr",
    *,
    args: tuple[Any, ...] = (),
    sparse: bool | str = "auto",
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Return where all values of `fun` are zero, in the form of scipy.optimize.root's results.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns as many numbers as x has, in an array or
        a nest of arrays.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    method
        "hybr" or "lm", which are SciPy's with the exact Jacobian. For large systems "newton", which
        solves with the Jacobian, sparse if it can be, or "krylov", which never has the Jacobian but
        only products with it. SciPy's other methods take no derivatives.
    sparse
        Whether the Jacobian is computed by a sparse plan; "auto" is as for `minimize`.
    tol, callback
        As SciPy takes them; the callback gets x, in the form of x0, and the residuals.
    options
        As SciPy takes them. For "newton" and "krylov": `fatol`, the largest residual to accept;
        `maxiter`; and for "krylov" `jac_options`, a dict of `method` ("lgmres", "gmres",
        "bicgstab", ...), `inner_maxiter` (20), and `inner_M`, a preconditioner: a matrix or linear
        operator, or a function of x that returns one.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def circle_and_line(x):
    ...     return [x["p"] ** 2 + x["q"] ** 2 - 2.0, x["p"] - x["q"]]
    >>> found = wg.optim.root(circle_and_line, {"p": 2.0, "q": 0.5})
    >>> found.success, found.x["p"].round(6)
    (True, np.float64(1.0))
    """
    from scipy import optimize

    space = Space(x0, "root")
    function = VectorFunction(fun, as_tuple(args), space, "the function", sparse)
    count = len(function.value(space.start))
    if count != space.size and not (method == "lm" and count > space.size):
        raise ShapeError(
            f"root: the function returned {count} numbers for an x of {space.size}; expected as "
            "many equations as unknowns. For more equations write wg.optim.least_squares"
        )
    seen = None if callback is None else lambda x, f: callback(space.tree(x), f)
    if method in _NEWTON:
        found = _newton(function, method, tol, seen, options or {})
    else:
        found = optimize.root(
            function.value,
            space.start,
            method=method,
            jac=function.jacobian if method in _WITH_JACOBIAN else None,
            tol=tol,
            callback=seen,
            options=options,
        )
    found.x = space.tree(np.asarray(found.x))
    return found


# -- Newton's method ------------------------------------------------------------------------------


def _newton(
    function: VectorFunction,
    method: str,
    tol: float | None,
    callback: Callable[..., Any] | None,
    options: dict[str, Any],
) -> OptimizeResult:
    """Return what Newton's method finds, with steps shortened until they lead downwards."""
    from scipy.optimize import OptimizeResult

    settings = _settings(_DEFAULTS, options, method)
    limit = settings["fatol"] if tol is None else tol
    inner = _settings(_INNER, settings["jac_options"] or {}, f"{method}: jac_options")
    x, f = function.space.start, function.value(function.space.start)
    nfev, steps, message = 1, 0, ""
    forcing = 0.5
    while np.max(np.abs(f)) > limit:
        if steps == settings["maxiter"]:
            message = f"the residuals are above {limit:.3g} after {steps} steps"
            break
        try:
            if method == "newton":
                direction = _solved(function, x, f)
            else:
                direction = _iterated(function, x, f, forcing, inner)
        except (np.linalg.LinAlgError, RuntimeError) as error:  # the latter is SuperLU's
            if "singular" not in str(error).lower():
                raise
            message = "the Jacobian is singular; begin elsewhere, or use method='lm'"
            break
        before = np.linalg.norm(f)
        x, f, tried = _search(function, x, f, direction)
        nfev += tried
        if not tried:
            message = "no step along Newton's direction makes the residuals smaller"
            break
        steps += 1
        # the better the last step was, the more exactly the next one is worth to be found
        forcing = float(np.clip(0.9 * (np.linalg.norm(f) / before) ** 2, 1e-8, 0.5))
        if callback is not None:
            callback(x, f)
    if not np.all(np.isfinite(f)):
        message = "the function of x0 is not finite; begin elsewhere"
    return OptimizeResult(
        x=x,
        fun=f,
        success=not message,
        status=int(bool(message)) + 1,
        message=message or "the residuals are small enough",
        method=method,
        nit=steps,
        nfev=nfev,
        njev=steps,
    )


def _settings(defaults: dict[str, Any], given: dict[str, Any], what: str) -> dict[str, Any]:
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise ValueError(
            f"root: {what} has no option {', '.join(unknown)}; there are {', '.join(defaults)}"
        )
    return {**defaults, **given}


def _solved(function: VectorFunction, x: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return Newton's step, by the Jacobian."""
    from scipy.sparse import issparse, linalg

    matrix = function.any_jacobian(x)
    if issparse(matrix):
        return np.asarray(linalg.splu(matrix.tocsc()).solve(-f))
    return np.linalg.solve(matrix, -f)


def _iterated(
    function: VectorFunction, x: np.ndarray, f: np.ndarray, rtol: float, inner: dict[str, Any]
) -> np.ndarray:
    """Return Newton's step up to a relative error, by products with the Jacobian."""
    from scipy.sparse import linalg

    M = inner["inner_M"]
    if callable(M) and not hasattr(M, "matvec"):
        M = M(function.space.tree(x))
    solver = getattr(linalg, inner["method"])
    products = jacobian_operator(function, x)
    return np.asarray(solver(products, -f, rtol=rtol, maxiter=inner["inner_maxiter"], M=M)[0])


def _search(
    function: VectorFunction, x: np.ndarray, f: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a better point along a direction, its residuals, and how many points were tried."""
    norm = np.linalg.norm(f)
    for tried in range(30):
        share = 0.5**tried
        there = x + share * direction
        with np.errstate(all="ignore"):  # a step that is too long may lead anywhere
            residuals = function.value(there)
        if np.linalg.norm(residuals) <= (1 - 1e-4 * share) * norm:
            return there, residuals, tried + 1
    return x, f, 0


# -- differential equations -----------------------------------------------------------------------


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "Radau",
    *,
    args: tuple[Any, ...] = (),
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    sparse: bool | str = "auto",
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Return what scipy.integrate.solve_ivp finds with exact Jacobians, y of any form.

    Parameters
    ----------
    fun
        Takes a time, a y of the form of y0, and `args`; returns the derivative of y by time, in
        the form of y0. If y0 is a vector, a list of numbers will do.
    t_span
        The first and the last time.
    y0
        The state to begin with: floats, arrays or tensors, in any nest.
    method
        One of SciPy's. "Radau" and "BDF" get the Jacobian as a sparse matrix, if it is sparse;
        "LSODA" gets it dense, or packed if `options` has `lband` and `uband`. The explicit methods
        need none.
    t_eval, dense_output
        As SciPy takes them.
    events
        As SciPy takes them; they get a y of the form of y0.
    sparse
        Whether the Jacobian is computed by a sparse plan; "auto" is as for `minimize`.
    options
        Further arguments of SciPy's function by name, such as rtol, atol and max_step.

    Returns
    -------
    SciPy's result. Arrays in `y` have one more axis, the last one, for the times `t`, and those of
    `y_events` one more axis in front. `sol(t)` is a tree, too.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def decay(t, y):
    ...     return {"a": -50.0 * y["a"], "b": y["a"] - y["b"]}
    >>> found = wg.optim.solve_ivp(decay, (0.0, 1.0), {"a": np.ones(2), "b": np.zeros(2)})
    >>> found.success, found.y["b"].shape == (2, len(found.t))
    (True, True)
    """
    from scipy import integrate

    space = Space(y0, "solve_ivp", "y0")
    args = as_tuple(args)
    function = VectorFunction(lambda y, t: fun(t, y, *args), (), space, "the function", sparse)
    start, stop = map(float, t_span)
    _check_rate(fun(start, space.rebuild(space.tensors(space.start)), *args), space)
    given = dict(options or {})
    name = method if isinstance(method, str) else method.__name__
    if name in _IMPLICIT and "jac" not in given and "jac_sparsity" not in given:
        given["jac"] = _jacobian_of_time(function, name, given)
    found = integrate.solve_ivp(
        lambda t, y: function.value(y, t),
        (start, stop),
        space.start,
        method=method,
        t_eval=t_eval,
        dense_output=dense_output,
        events=_events(events, space, args),
        **given,
    )
    found.y = space.trees(found.y, first=False)
    if found.y_events is not None:
        tables = (np.reshape(one, (-1, space.size)) for one in found.y_events)
        found.y_events = [space.trees(table, first=True) for table in tables]
    if found.sol is not None:
        found.sol = partial(_state_at, found.sol, space)
    return found


def _state_at(sol: Callable[..., np.ndarray], space: Space, t: Any) -> Any:
    """Return the state at a time, or at times, as SciPy interpolates it."""
    found = sol(t)
    return space.tree(found) if found.ndim == 1 else space.trees(found, first=False)


def jac_for_ivp(
    fun: Callable[..., Any],
    t: float,
    y: Any,
    *,
    args: tuple[Any, ...] = (),
    sparse: bool | str = "auto",
) -> Callable[..., Any]:
    """Return the Jacobian of fun(t, y, *args) by y, for `jac=` of scipy.integrate.solve_ivp.

    Parameters
    ----------
    fun
        As scipy.integrate.solve_ivp takes it: of a time and a vector, and perhaps `args`.
    t, y, args
        An example of each, such as those that the integration begins with.
    sparse
        Whether it is a sparse matrix, from a plan; "auto" is as for `minimize`.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> jac = wg.optim.jac_for_ivp(lambda t, y: t * y**2, 0.0, np.ones(2))
    >>> jac(2.0, np.array([1.0, 3.0]))
    array([[ 4.,  0.],
           [ 0., 12.]])
    """
    space = Space(y, "jac_for_ivp", "y")
    if len(space.shapes) != 1 or len(space.shapes[0]) != 1:
        raise ShapeError(
            f"jac_for_ivp: y has the shapes {space.shapes}; SciPy's function takes one vector. For "
            "other states write wg.optim.solve_ivp"
        )
    function = VectorFunction(
        lambda y, t, *args: fun(t, y, *args), (), space, "the function", sparse
    )
    function.any_jacobian(space.start, t, *as_tuple(args))

    def jac(t: float, y: np.ndarray, *args: Any) -> Any:
        return function.any_jacobian(space.checked(y), t, *args)

    return jac


def _check_rate(rate: Any, space: Space) -> None:
    """Raise if a derivative by time has not the form of the state."""
    shapes = _shapes(rate)
    vector = len(space.shapes) == 1 and len(space.shapes[0]) == 1
    if shapes == space.shapes or (vector and shapes == [()] * space.size):
        return
    raise ShapeError(
        f"solve_ivp: y0 has the shapes {space.shapes} and the function returned {shapes}; expected "
        "the derivative of each number of y by time, in the form of y0"
    )


def _shapes(tree: Any) -> list[tuple[int, ...]]:
    try:
        return [tuple(raw(leaf).shape) for leaf in flatten(tree)[0]]
    except TypeError as error:  # it says what it got
        raise TypeError(f"solve_ivp: the function returned another value: {error}") from None


def _jacobian_of_time(
    function: VectorFunction, method: str, options: dict[str, Any]
) -> Callable[..., Any]:
    if method != "LSODA":
        return lambda t, y: function.any_jacobian(y, t)
    below, above = options.get("lband"), options.get("uband")
    if below is None and above is None:
        return lambda t, y: function.jacobian(y, t)
    return lambda t, y: _packed(function.jacobian(y, t), below or 0, above or 0)


def _packed(matrix: np.ndarray, below: int, above: int) -> np.ndarray:
    """Return the diagonals of a matrix as rows, as LSODA takes them."""
    packed = np.zeros((below + above + 1, len(matrix)))
    for row, offset in enumerate(range(above, -below - 1, -1)):
        diagonal = np.diagonal(matrix, offset)
        first = max(offset, 0)
        packed[row, first : first + len(diagonal)] = diagonal
    return packed


def _events(given: Any, space: Space, args: tuple[Any, ...]) -> Any:
    if given is None:
        return None

    def wrapped(event: Callable[..., Any]) -> Callable[..., Any]:
        def on_vector(t: float, y: np.ndarray) -> float:
            return float(event(t, space.tree(y), *args))

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(on_vector, name, getattr(event, name))
        return on_vector

    return wrapped(given) if callable(given) else [wrapped(event) for event in given]
