"""implicit_function: derivatives of what a solver finds, from the equation that it solves.

If F(x, t) = 0 defines x by t, then dx = -A⁻¹ dF/dt dt with A = dF/dx: the derivative needs the
equation at the solution, and nothing of how the solution was found. Inside, unknowns and residuals
are vectors of real numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, highest, levels, outside, plain_namespace
from wengert.engine.node import NOBODY
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, RuleError, ShapeError, name_of
from wengert.ops.batching import all_values, example
from wengert.transforms.checkpoint import now
from wengert.transforms.forward import jvp, linearize
from wengert.transforms.gradients import as_tensor, vjp
from wengert.transforms.jacobians import jacobian
from wengert.transforms.single_node import (
    as_tensors,
    detached,
    is_inexact,
    is_recorded,
    recorded_as_one,
    refuse_captured,
)
from wengert.transforms.surroundings import recording
from wengert.trees import Rebuild, flatten

#: Up to this many unknowns "auto" makes the matrix dF/dx.
DENSE = 1000
METHODS = ("auto", "dense", "gmres", "cg")


def implicit_function(
    solver: Callable[..., Any] | None = None,
    residual: Callable[..., Any] | None = None,
    fixed_point: Callable[..., Any] | None = None,
    linear_solve: str | Callable[[Any, np.ndarray], Any] = "auto",
    tolerance: float | None = 1e-4,
) -> Any:
    """Return a function that calls `solver`, and whose derivatives come from its equation.

    Parameters
    ----------
    solver
        ``x = solver(*theta)``, by any means: it gets NumPy arrays that it may write to (scalars for
        arrays without axes) in the nests that were given, and nothing that it does is recorded.
        Keyword arguments go to it alone. None to use the result as a decorator.
    residual
        ``residual(x, *theta)`` is zero at the solution. It has as many numbers as x, and is
        made of operations that can be differentiated.
    fixed_point
        In place of `residual`: ``fixed_point(x, *theta)`` is x at the solution.
    linear_solve
        How to solve for derivatives: "dense" makes the matrix dF/dx; "gmres", and "cg" for a
        symmetric one, only multiply by it; "auto" takes "dense" up to 1000 unknowns. A
        function ``(A, b) -> A⁻¹ b`` gets a SciPy LinearOperator and a vector.
    tolerance
        How far off the solution may be, relative to its size or to 1, if that is greater: where
        a derivative is wanted, an error says so. None not to look.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> from scipy.optimize import brentq
    >>> @wg.implicit_function(residual=lambda x, a: x**3 + x - a)
    ... def root(a):
    ...     return brentq(lambda x: x**3 + x - a, 0, 10)
    >>> wg.grad(root)(10.0)  # 1 / (3 x**2 + 1) at x = 2
    np.float64(0.0769230769230...)
    """
    if (residual is None) == (fixed_point is None):
        raise TypeError(
            "implicit_function: write one of residual=F, where F(x, *theta) is zero at the "
            "solution, and fixed_point=G, where G(x, *theta) is x"
        )
    if not callable(linear_solve) and linear_solve not in METHODS:
        raise ValueError(
            f"implicit_function: linear_solve is {linear_solve!r}; expected one of "
            f"{', '.join(METHODS)}, or a function of a LinearOperator and a vector"
        )
    if solver is None:
        return functools.partial(
            implicit_function,
            residual=residual,
            fixed_point=fixed_point,
            linear_solve=linear_solve,
            tolerance=tolerance,
        )

    @functools.wraps(solver)
    def solve(*theta: Any, **options: Any) -> Any:
        solution = _Solution(solver, residual, fixed_point, linear_solve, theta)
        return solution(options, tolerance)

    return solve


class _Solution:
    """One call of an implicit function."""

    def __init__(
        self,
        solver: Callable[..., Any],
        residual: Callable[..., Any] | None,
        fixed_point: Callable[..., Any] | None,
        linear_solve: Any,
        theta: tuple[Any, ...],
    ) -> None:
        self.name = f"implicit_function({name_of(solver)})"
        self.solver, self.residual, self.fixed_point = solver, residual, fixed_point
        self.linear_solve = linear_solve
        leaves, self.rebuild = flatten(theta)
        self.theta = as_tensors(leaves, self.name)
        #: those arrays of theta that have derivatives, and where they are
        self.indices = [i for i, t in enumerate(self.theta) if is_inexact(t)]
        like = next((t._raw for t in self.theta if type(t) is Tensor), None)
        self.library: Any = backends.NUMPY if like is None else plain_namespace(like)

    def __call__(self, options: dict[str, Any], tolerance: float | None) -> Any:
        leaves, rebuild = flatten(options)
        constants = [*map(detached, self.theta), *map(_option, leaves)]
        count = len(self.theta)

        def on_numpy(values: list[Any]) -> tuple[list[Tensor], Rebuild]:
            return self.solved(self.rebuild(values[:count]), rebuild(values[count:]))

        results, self.form = _one_by_one(on_numpy, constants)
        #: shape and dtype of each array of x, and how many real numbers it takes
        self.kinds = [(r.shape, r.dtype) for r in results]
        self.sizes = [math.prod(shape) * _parts(dtype) for shape, dtype in self.kinds]
        if not any(map(is_recorded, self.theta)):
            return self.form(results)
        self.check(results, tolerance)
        return self.form(
            recorded_as_one(
                self.name, self.theta, results, self.backward, self.forward, reads_results=True
            )
        )

    def solved(self, theta: Any, options: Any) -> tuple[list[Tensor], Rebuild]:
        """Return what the solver finds, as tensors of the arguments' library."""
        leaves, form = flatten(self.solver(*theta, **options))
        found = [as_tensor(leaf, f"{self.name}: the solver's result") for leaf in leaves]
        for x in found:
            if not backends.is_inexact(x.dtype):
                raise DtypeError(
                    f"{self.name}: the solver returned {x.dtype} of shape {x.shape}; expected "
                    "floating or complex numbers"
                )
        return [*map(self.tensor, found)], form

    def tensor(self, value: Any) -> Tensor:
        """Return numbers of NumPy as a tensor of the arguments' library."""
        array = value.numpy() if type(value) is Tensor else np.asarray(value)
        return wrap(array if self.library is backends.NUMPY else self.library.asarray(array))

    # -- the equation, on vectors of real numbers --

    def equation(self, x: Tensor, moving: Sequence[Tensor]) -> Tensor:
        """Return F(x, theta) as a vector, given x as one and the arrays that have derivatives."""
        theta = list(self.theta)
        for i, tensor in zip(self.indices, moving, strict=True):
            theta[i] = tensor
        nest = self.form(self.unpacked(x))
        fun: Any = self.residual or self.fixed_point
        found = packed(flatten(fun(nest, *self.rebuild(theta)))[0], self.name)
        if found.shape != x.shape:
            what = "residual" if self.residual else "fixed_point"
            raise ShapeError(
                f"{self.name}: {what} returned {found.size} numbers, and there are {x.size} "
                "unknowns; as many equations as unknowns determine a derivative"
            )
        return found if self.residual else found - x

    def at(self, x: Tensor) -> Callable[..., Tensor]:
        """Return the equation as a function of the arrays that have derivatives."""

        def equation(*moving: Any) -> Tensor:
            return self.equation(x, moving)

        return equation

    def unpacked(self, x: Tensor) -> list[Tensor]:
        """Return the arrays that a vector of real numbers stands for."""
        xp = Tensor._namespace
        arrays, start = [], 0
        for (shape, dtype), size in zip(self.kinds, self.sizes, strict=True):
            part = x[start : start + size]
            start += size
            if _parts(dtype) == 2:
                part = part[: size // 2] + 1j * part[size // 2 :]
            arrays.append(xp.astype(xp.reshape(part, shape), dtype))
        return arrays

    def thetas(self) -> list[Tensor]:
        return [self.theta[i] for i in self.indices]

    def check(self, results: list[Tensor], tolerance: float | None) -> None:
        """Raise if the equation reads recorded tensors, or does not hold."""
        theta, before = self.theta, now()
        self.theta = [*map(detached, theta)]
        try:
            x = packed(results, self.name)
            r = self.equation(x, self.thetas())
            refuse_captured(f"{self.name}: its equation", [], [r], before)
            if tolerance is not None and x.size:
                self.check_solved(x, r, tolerance)
        finally:
            self.theta = theta

    def check_solved(self, x: Tensor, r: Tensor, tolerance: float) -> None:
        """Raise if x is far from a solution.

        How far, a second residual tells: it says how fast residuals change with x.
        """
        xp = Tensor._namespace
        scale = xp.maximum(_norm(x), 1.0)
        step = scale * math.sqrt(backends.finfo(all_values(x._raw).dtype).eps)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], x.size) / math.sqrt(x.size)
        with np.errstate(all="ignore"):
            there = x + xp.astype(self.tensor(signs), x.dtype) * step
            moved = self.equation(there, self.thetas())
            norms, steps, changes, scales = np.broadcast_arrays(
                *(all_values(v._raw) for v in (_norm(r), step, _norm(moved - r), scale))
            )
            off = norms * steps / changes
        off = np.where(np.isfinite(off) | ~np.isfinite(norms), off, norms)
        off = np.where(norms == 0, 0.0, off)
        if not np.all(off <= tolerance * scales):
            worst = int(np.argmax(np.where(np.isnan(off), np.inf, off / scales)))
            raise RuleError(
                f"{self.name}: the solver returned x whose residual has norm "
                f"{norms.ravel()[worst]:.3g}, so that x is off by about {off.ravel()[worst]:.3g}; "
                "derivatives hold at a solution. Let the solver converge further, or write "
                f"tolerance=... (now {tolerance:g}), None not to look"
            )

    # -- derivatives --

    def backward(self, results: list[Any], weights: list[Any]) -> list[Any]:
        """Return the cotangents of theta: -(dF/dtheta)ᵀ u, where Aᵀ u are the weights."""
        x, theta = packed(results, self.name), self.thetas()
        u = self.solve(x, theta, packed(weights, self.name), transpose=True)
        _, pull = vjp(self.at(x), *theta)
        found: list[Any] = [None] * len(self.theta)
        for i, cotangent in zip(self.indices, pull(-u), strict=True):
            found[i] = cotangent
        return found

    def forward(self, results: list[Any], tangents: list[Any]) -> list[Any]:
        """Return the tangents of x: -A⁻¹ dF/dtheta dtheta."""
        x, theta = packed(results, self.name), self.thetas()
        directions = [tangents[i] for i in self.indices]
        _, b = jvp(self.at(x), theta, directions)
        return self.unpacked(self.solve(x, theta, -b, transpose=False))

    def solve(self, x: Tensor, theta: list[Tensor], b: Tensor, transpose: bool) -> Tensor:
        """Return A⁻¹ b, or (Aᵀ)⁻¹ b, with A = dF/dx; it can be differentiated in its turn."""
        method = self.linear_solve
        if method == "auto":
            method = "dense" if x.size <= DENSE else "gmres"
        if method == "dense":
            return self.solve_dense(x, theta, b, transpose)

        def product(u: Any, x: Any, b: Any, *theta: Any) -> Any:
            if transpose:
                return vjp(lambda x: self.equation(x, theta), x)[1](u)[0] - b
            return jvp(lambda x: self.equation(x, theta), (x,), (u,))[1] - b

        def iterate(x: Any, b: Any, *theta: Any) -> Any:
            return self.iterate(method, x, theta, b, transpose)

        iterate.__name__ = str(method)
        return _Solution(iterate, product, None, self.linear_solve, (x, b, *theta))({}, None)

    def solve_dense(self, x: Tensor, theta: list[Tensor], b: Tensor, transpose: bool) -> Tensor:
        from wengert.ops.linalg.solving import solve

        a = jacobian(lambda x: self.equation(x, theta))(x)
        a = a.mT if transpose else a
        try:
            found = solve(a, b)
        except np.linalg.LinAlgError:
            raise self.singular(x) from None
        if _is_singular(*map(detached, (a, found, b))):
            raise self.singular(x)
        return found

    def singular(self, x: Tensor) -> np.linalg.LinAlgError:
        return np.linalg.LinAlgError(
            f"{self.name}: the derivative of the equation by x, a {x.size} x {x.size} matrix, is "
            "singular at the solution, so x has no derivative there: it may be a double root, or "
            "equations may be redundant or leave some unknown free"
        )

    def iterate(self, method: Any, x: Any, theta: Any, b: Any, transpose: bool) -> np.ndarray:
        """Return A⁻¹ b for arrays of NumPy, by a method that only multiplies by A."""
        from scipy.sparse import linalg

        dtype, n = x.dtype, x.size
        push, pull = self.products(self.tensor(x), [*map(self.tensor, theta)])
        matvec, rmatvec = (pull, push) if transpose else (push, pull)
        a = linalg.LinearOperator((n, n), matvec=matvec, rmatvec=rmatvec, dtype=dtype)
        if callable(method):
            return np.asarray(method(a, b), dtype).reshape(n)
        rtol = 1e-10 if dtype == np.float64 else 1e-5
        if method == "gmres":
            restart = min(n, 100)
            found, failed = linalg.gmres(a, b, rtol=rtol, restart=restart, maxiter=max(20, n // 50))
        else:
            found, failed = linalg.cg(a, b, rtol=rtol, maxiter=10 * n)
        if failed or not np.all(np.isfinite(found)):
            raise np.linalg.LinAlgError(
                f"{self.name}: {method} did not solve for the derivative: the residual is "
                f"{np.linalg.norm(b - matvec(found)):.3g} of {np.linalg.norm(b):.3g}. The "
                "derivative of the equation by x may be singular or badly conditioned; write "
                'linear_solve="dense", or a function (A, b) that has a preconditioner'
            )
        return found

    def products(self, x: Tensor, theta: list[Tensor]) -> tuple[Any, Any]:
        """Return the functions that multiply vectors of NumPy by A and by its transpose."""

        def equation(x: Any) -> Any:
            return self.equation(x, theta)

        @functools.cache
        def pushed() -> Any:
            return linearize(equation, x)[1]

        @functools.cache
        def pulled() -> Any:
            pull = vjp(equation, x)[1]
            return lambda u: pull(u)[0]

        def on_numpy(product: Any, v: Any) -> np.ndarray:
            found = product(self.tensor(np.array(v, dtype).reshape(x.shape)))
            return np.array(found.numpy())  # solvers write to it

        dtype = all_values(x._raw).dtype
        return lambda v: on_numpy(pushed(), v), lambda v: on_numpy(pulled(), v)


# -- vectors ----------------------------------------------------------------------------------


def _parts(dtype: Any) -> int:
    return 2 if backends.kind_of(dtype) == "c" else 1


def packed(arrays: Sequence[Any], name: str) -> Tensor:
    """Return arrays as one vector of real numbers: of complex ones, the two parts in turn."""
    xp = Tensor._namespace
    parts = []
    for value in arrays:
        array = as_tensor(value, f"{name}: the equation's result")
        flat = xp.reshape(array, (-1,))
        parts += [xp.real(flat), xp.imag(flat)] if _parts(flat.dtype) == 2 else [flat]
    return xp.concat(parts) if len(parts) != 1 else parts[0]


def _norm(x: Tensor) -> Tensor:
    xp = Tensor._namespace
    largest = xp.max(xp.abs(x))  # so that no square overflows
    safe = xp.where(largest > 0, largest, 1.0)
    return safe * xp.sqrt(xp.sum((x / safe) ** 2))


def _is_singular(a: Tensor, x: Tensor, b: Tensor) -> bool:
    """Return whether x is so large for a solution of a x = b that it has no correct digit.

    Rows and columns are scaled first, so that units of measurement make no difference.
    """
    if not x.size:
        return False
    xp = Tensor._namespace
    with np.errstate(all="ignore"):
        rows = xp.max(xp.abs(a), axis=1)
        a, b = a / xp.expand_dims(rows, axis=1), b / rows
        columns = xp.max(xp.abs(a), axis=0)
        a, x = a / columns, x * columns
        size, given = xp.sqrt(xp.sum(a * a)), _norm(b)
        tiny = 10 * float(backends.finfo(all_values(x._raw).dtype).eps)
        wrong = ~(tiny * size * _norm(x) <= given)
        return bool(np.any(all_values((wrong & xp.isfinite(size) & xp.isfinite(given))._raw)))


# -- the solver on NumPy arrays -----------------------------------------------------------------


def _one_by_one(
    solve: Callable[[list[Any]], tuple[list[Tensor], Rebuild]], values: list[Any]
) -> tuple[list[Tensor], Rebuild]:
    """Return what `solve` finds for values of NumPy; for examples of vmap, each in turn."""
    raws = [v._raw for v in values if type(v) is Tensor]
    level = highest(raws, {}) if levels.get() else None
    if level is None:
        before = levels.get()
        levels.set(())
        try:
            with recording(NOBODY):
                return solve([*map(_on_numpy, values)])
        finally:
            levels.set(before)
    xp = Tensor._namespace
    found = []
    with outside(level):
        for i in range(level.size or 1):
            results, form = _one_by_one(solve, [example(value, level, i) for value in values])
            found.append(results)
        whole = [xp.stack(parts)[: level.size] for parts in zip(*found, strict=True)]
    return [wrap(Batched(level, y)) for y in whole], form


def _option(value: Any) -> Any:
    """Return a keyword argument of the solver; of a variable, its value."""
    convert = getattr(type(value), "__wengert_tensor__", None)
    return detached(value if convert is None else convert(value))


def _on_numpy(value: Any) -> Any:
    if type(value) is not Tensor:
        return value
    array = np.array(value.numpy())
    return array if array.ndim else array[()]
