"""A bridge to scipy.optimize: the unknown is any tree, and derivatives are exact."""

from __future__ import annotations

import inspect
import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.errors import DtypeError, ShapeError, UnconnectedWarning, caller_depth
from wengert.engine.tape import GradientTape
from wengert.engine.tensor import Tensor, wrap
from wengert.engine.trees import flatten
from wengert.optim.leaves import labels, like, matching, raw, tensor
from wengert.transforms.gradients import value_and_grad

#: What methods make of derivatives; those named nowhere here take gradients.
_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
_WITH_HESSIAN = ("dogleg", "trust-exact")
_CONSTRAINT = "a constraint does"  # in messages


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    method: Any = None,
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    constraints: Any = (),
    hess: str | None = "hvp",
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """Return what scipy.optimize.minimize finds with exact derivatives, x in the form of x0.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns one real number.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    method
        One of SciPy's, by name. Gradients go to all that take them.
    bounds
        As SciPy takes them. If x0 is a nest, it may be a nest of the same form with a pair
        (low, high) for each array; None for no bound.
    constraints
        As SciPy takes them; their functions take an x of the form of x0 and get exact
        derivatives. A LinearConstraint is for the numbers of x0 in one vector.
    hess
        "hvp" to give exact Hessians, or products with them, to the methods that take them.
        None to leave second derivatives to SciPy.
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
    space = _Space(x0)
    objective = _Objective(fun, _as_tuple(args), space)
    name = method.lower() if isinstance(method, str) else ""
    given: dict[str, Any] = {"fun": objective.value}
    if name not in _WITHOUT_GRADIENT:
        given = {"fun": objective.value_and_gradient, "jac": True}
    if hess and (name in _WITH_PRODUCTS or callable(method)):
        given["hessp"] = objective.hessian_times
    if hess and name in _WITH_HESSIAN:
        given["hess"] = objective.hessian
    found = optimize.minimize(
        **given,
        x0=space.start,
        method=method,
        bounds=space.bounds(bounds),
        constraints=_constraints(constraints, space, name, hess),
        tol=tol,
        callback=None if callback is None else _callback(callback, space),
        options=options,
    )
    found.x = space.tree(found.x)
    return found


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    method: str = "trf",
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    loss: Any = "linear",
    options: dict[str, Any] | None = None,
) -> Any:
    """Return what scipy.optimize.least_squares finds with exact Jacobians, x in the form of x0.

    Parameters
    ----------
    fun
        Takes an x of the form of x0, and `args`; returns the residuals, an array or a nest of
        arrays, whose squares are to add up to little.
    x0
        Where to begin: floats, arrays or tensors, in any nest.
    bounds
        As SciPy takes them. If x0 is a nest, it may be a nest of the same form with a pair
        (low, high) for each array; None for no bound.
    method, loss
        As SciPy takes them.
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

    space = _Space(x0, "least_squares")
    residuals = _VectorFunction(fun, _as_tuple(args), space, "the residuals do")
    given = {} if bounds is None else {"bounds": space.bounds(bounds)}
    found = optimize.least_squares(
        residuals.value,
        space.start,
        residuals.jacobian,
        method=method,
        loss=loss,
        **given,
        **(options or {}),
    )
    found.x = space.tree(found.x)
    return found


def _as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


class _Space:
    """Trees of one form, and vectors of float64 in their place."""

    def __init__(self, x0: Any, caller: str = "minimize") -> None:
        self.caller = caller
        self.x0 = x0
        self.given, self.rebuild = flatten(x0)
        self.names = labels(x0, "x0")
        arrays = [self._checked(*pair) for pair in zip(self.given, self.names, strict=True)]
        self.shapes = [tuple(array.shape) for array in arrays]
        self.makers = [_maker(array) for array in arrays]
        ends = list(itertools.accumulate(map(math.prod, self.shapes), initial=0))
        self.slices = list(itertools.starmap(slice, itertools.pairwise(ends)))
        self.size = ends[-1]
        if not self.size:
            raise ValueError(f"{caller}: x0 has no numbers in it; expected at least one")
        self.start = self.vector(arrays)

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

    def bounds(self, given: Any) -> Any:
        """Return bounds for the vector."""
        from scipy.optimize import Bounds

        if given is None or isinstance(given, Bounds) or self.x0 is self.given[0]:
            return given
        low, high = np.empty((2, self.size))
        pairs = matching(self.x0, given, ("x0", "bounds"))
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


class _Objective:
    """The function to minimize, on vectors."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], space: _Space) -> None:
        self.fun = fun
        self.args = args
        self.space = space
        self.__name__ = getattr(fun, "__name__", "fun")  # for errors
        self.both = value_and_grad(self)
        self.begun = False
        self.place: np.ndarray | None = None

    def __call__(self, leaves: list[Tensor]) -> Any:
        """Return the function's own answer."""
        return self.fun(self.space.rebuild(leaves), *self.args)

    def value(self, x: np.ndarray) -> float:
        """Return the value, for methods that want no gradient."""
        result = self(self.space.tensors(x))
        if not hasattr(type(result), "__float__") or getattr(result, "shape", ()) != ():
            given = getattr(result, "shape", type(result).__name__)
            raise ShapeError(f"minimize: the function returned {given}; expected one number")
        return self._first_checked(result, None)

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient, of one sweep."""
        result, gradient = self.both(self.space.tensors(x))
        slope = self.space.vector(gradient)
        return self._first_checked(result, slope), slope

    def _first_checked(self, result: Any, slope: np.ndarray | None) -> float:
        """Return the value as a float; where SciPy begins, it and the gradient must be finite."""
        dtype = getattr(result, "dtype", np.float64)
        if backends.kind_of(dtype) == "c":
            raise DtypeError(
                f"minimize: the function returned {dtype}; expected a real number, for example "
                "wg.real(z) or wg.abs(z)"
            )
        value = float(raw(result))
        if not self.begun:
            self.begun = True
            self._check_finite(value, slope)
        return value

    def _check_finite(self, value: float, slope: np.ndarray | None) -> None:
        if not math.isfinite(value):
            raise ValueError(f"minimize: the function of x0 is {value}; begin where it is finite")
        if slope is not None and not np.all(np.isfinite(slope)):
            place = int(np.argmin(np.isfinite(slope)))
            which = next(i for i, part in enumerate(self.space.slices) if place < part.stop)
            raise ValueError(
                f"minimize: the function of x0 is {value}, but its derivative with respect to "
                f"{self.space.names[which]} is {slope[place]}; begin elsewhere, or look for a "
                "square root or a division of 0"
            )

    def hessian_times(self, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the Hessian at x times a vector."""
        if self.place is None or not np.array_equal(self.place, x):
            self.place = x.copy()
            self.product = _hessian_product(self, x, self.space)
        return self.product(direction)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return the Hessian, a row for each number."""
        return np.stack([self.hessian_times(x, unit) for unit in np.eye(self.space.size)])


def _hessian_product(
    function: Callable[[list[Tensor]], Any], x: np.ndarray, space: _Space
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map from a vector to the Hessian times it: a gradient recorded once."""
    leaves = space.tensors(x)
    with GradientTape(persistent=True, watch_accessed_variables=False) as outer:
        outer.watch(leaves)
        with GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(leaves)
            value = tensor(function(leaves))
        slopes = inner.gradient(value, leaves, unconnected_gradients="zero")

    def product(direction: np.ndarray) -> np.ndarray:
        weights = space.tensors(direction)
        return space.vector(outer.gradient(slopes, leaves, output_gradients=weights))

    return product


class _VectorFunction:
    """A function of many values: on vectors, with its Jacobian and its Hessian."""

    def __init__(
        self, fun: Callable[..., Any], args: tuple[Any, ...], space: _Space, what: str
    ) -> None:
        self.fun = fun
        self.args = args
        self.space = space
        self.what = what

    def __call__(self, leaves: list[Tensor]) -> Tensor:
        """Return the function's answer, one number or a nest of arrays, as a vector."""
        xp = Tensor._namespace
        parts = flatten(self.fun(self.space.rebuild(leaves), *self.args))[0]
        return xp.concat([xp.reshape(tensor(part), (-1,)) for part in parts])

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return the values."""
        return self(self.space.tensors(x)).numpy().astype(float)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives: a row for each value, a column for each number of x."""
        leaves = self.space.tensors(x)
        with GradientTape(persistent=True, watch_accessed_variables=False) as outer:
            with GradientTape(persistent=True, watch_accessed_variables=False) as inner:
                inner.watch(leaves)
                values = self(leaves)
                few = values.size <= self.space.size
                elements = [values[i] for i in range(values.size)] if few else []
            # The gradient of a weighted sum is linear in the weights. Its own gradient, with
            # respect to the weights, is a column.
            weights = Tensor._namespace.zeros_like(values)
            outer.watch(weights)
            slopes = inner.gradient(values, leaves, weights)
        linked = [i for i, slope in enumerate(slopes) if slope is not None]
        if not linked:
            warnings.warn(
                f"{self.space.caller}: {self.what} not depend on x, so all derivatives are zero; "
                "if that is not meant, look for float(x), .numpy() or stop_gradient on the way",
                UnconnectedWarning,
                stacklevel=caller_depth(),
            )
            return np.zeros((values.size, self.space.size))
        if few:
            return np.stack([self.space.vector(inner.gradient(e, leaves)) for e in elements])
        slopes = [slopes[i] for i in linked]
        units = map(self.space.tensors, np.eye(self.space.size))
        columns = [outer.gradient(slopes, weights, [u[i] for i in linked]) for u in units]
        return np.stack([backends.to_numpy(raw(column)) for column in columns], axis=1)

    def hessian(self, x: np.ndarray, weights: np.ndarray) -> Any:
        """Return the Hessian of the weighted sum of values, as a linear operator."""
        from scipy.sparse.linalg import LinearOperator

        xp = Tensor._namespace
        product = _hessian_product(lambda leaves: xp.sum(self(leaves) * weights), x, self.space)
        size = self.space.size
        return LinearOperator((size, size), matvec=product, dtype=np.float64)


def _constraints(given: Any, space: _Space, method: str, hess: str | None) -> list[Any]:
    """Return constraints on vectors, with the derivatives that the method takes."""
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    single = isinstance(given, (dict, LinearConstraint, NonlinearConstraint))
    found: list[Any] = []
    for one in [given] if single else list(given or ()):
        if isinstance(one, LinearConstraint):
            found.append(one)
        elif isinstance(one, dict) and method != "trust-constr":
            found.append(_old_constraint(one, space, method))
        else:
            found.append(_new_constraint(one, space, method, hess))
    return found


def _old_constraint(one: dict[str, Any], space: _Space, method: str) -> dict[str, Any]:
    args = tuple(one.get("args", ()))
    constraint = _VectorFunction(one["fun"], args, space, _CONSTRAINT)
    made = {"type": one["type"], "fun": constraint.value}
    if callable(one.get("jac")):
        made["jac"] = lambda x: one["jac"](space.tree(x), *args)
    elif method not in _WITHOUT_GRADIENT:
        made["jac"] = constraint.jacobian
    return made


def _new_constraint(one: Any, space: _Space, method: str, hess: str | None) -> Any:
    from scipy.optimize import NonlinearConstraint

    args: tuple[Any, ...] = ()
    if isinstance(one, dict):
        args = tuple(one.get("args", ()))
        high = {"eq": 0.0, "ineq": np.inf}[one["type"]]
        one = NonlinearConstraint(one["fun"], 0.0, high, jac=one.get("jac", "2-point"))
    constraint = _VectorFunction(one.fun, args, space, _CONSTRAINT)
    options = {"jac": one.jac, "hess": one.hess, "keep_feasible": one.keep_feasible}
    if callable(one.jac):
        options["jac"] = lambda x: one.jac(space.tree(x), *args)
    elif method not in _WITHOUT_GRADIENT:
        options["jac"] = constraint.jacobian
    if callable(one.hess):
        options["hess"] = lambda x, weights: one.hess(space.tree(x), weights)
    elif hess and method == "trust-constr":
        options["hess"] = constraint.hessian
    return NonlinearConstraint(constraint.value, one.lb, one.ub, **options)


def _callback(callback: Callable[..., Any], space: _Space) -> Callable[..., Any]:
    """Return a callback on vectors, of the form that SciPy sees in the names of parameters."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:

        def with_result(intermediate_result: Any) -> Any:
            shown = type(intermediate_result)(intermediate_result)
            shown.x = space.tree(shown.x)
            return callback(intermediate_result=shown)

        return with_result

    def with_x(xk: np.ndarray, *more: Any) -> Any:
        return callback(space.tree(xk), *more)

    return with_x
