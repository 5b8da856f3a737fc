"""check_grads: derivatives against numerical ones, with the worst element named."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.errors import DtypeError, WengertError, cuts_shown, name_of
from wengert.engine.record import lift
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.transforms.gradients import as_native
from wengert.trees import flatten

#: Relative errors that exact derivatives stay well within, in float64.
TOLERANCE = {"complex step": 1e-10, "central differences": 1e-6}
_STEP = 1e-3


class GradientCheckError(WengertError, AssertionError):
    """A derivative and its numerical value differ."""


def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    *,
    tolerance: float | None = None,
    projections: int = 3,
    seed: int = 0,
) -> None:
    """Compare the derivatives of `fun` at `args`, up to `order`, with numerical ones.

    The results of `fun` are weighted at random to one number, whose derivative along random
    directions is compared with the complex step, where the function takes complex numbers
    as it takes real ones, and with central differences otherwise; all in float64. Each
    further order checks the gradient in its turn, as a function of arguments and weights.

    Raises
    ------
    GradientCheckError
        Naming the order, the argument and the element that is furthest off.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.check_grads(lambda x: wg.sin(x) * x, [[0.5, 1.0]])
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"check_grads: args is {type(args).__name__}; write a list of arguments, [x] for one"
        )
    leaves, rebuild = flatten([_leaf_arrays(a) for a in args])
    points = [_in_double(leaf) for leaf in leaves]

    def flat_fun(*arrays: Any) -> Any:
        return fun(*rebuild(arrays))

    random = np.random.default_rng(seed)
    name = getattr(fun, "__name__", "function")
    for level in range(1, order + 1):
        _check_first(flat_fun, points, len(leaves), level, name, tolerance, projections, random)
        # a gradient is a function of the point and of the weights, and wrong if it forgets either
        weights = _weights(flat_fun, points, random)
        flat_fun = _gradient_of(flat_fun, len(points))
        points = [*points, *weights]


def _leaf_arrays(arg: Any) -> Any:
    """Return a list of numbers as one array; nests of arrays stay nests."""
    if isinstance(arg, (list, tuple)) and not isinstance(arg, Tensor):
        leaves = flatten(arg)[0]
        if leaves and all(isinstance(leaf, (bool, int, float, complex)) for leaf in leaves):
            return np.asarray(arg)
    return arg


def _in_double(leaf: Any) -> np.ndarray:
    value = lift(leaf, "check_grads")
    array = backends.to_numpy(value._raw) if type(value) is Tensor else np.asarray(value)
    if array.dtype.kind not in "fc":
        raise DtypeError(
            f"check_grads: got {array.dtype} of shape {array.shape}; derivatives exist for "
            "floating and complex numbers, so write 1.0 for 1, or x.astype(float)"
        )
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _weights(fun: Callable[..., Any], points: list[np.ndarray], random: Any) -> list[np.ndarray]:
    """Return random weights for the elements of each result of fun."""
    results = flatten(fun(*map(wrap, points)))[0]
    weights = []
    for result in results:
        value = lift(result, "check_grads: result")
        array = value.numpy() if type(value) is Tensor else np.asarray(value)
        w = random.uniform(0.5, 1.5, array.shape) * random.choice([-1.0, 1.0], array.shape)
        if array.dtype.kind == "c":
            w = w + 1j * random.uniform(0.5, 1.5, array.shape)
        weights.append(w if array.dtype.kind in "fc" else np.zeros_like(w))
    return weights


def _gradients(fun: Callable[..., Any], tensors: list[Tensor], weights: list[Any]) -> list[Any]:
    tape = Tape(watch_accessed_variables=False)
    tape._token.transform = f"check_grads({name_of(fun)})"
    with tape, cuts_shown:
        tape.watch(tensors)
        results = [as_native(result) for result in flatten(fun(*tensors))[0]]
    pairs = [
        (t, w if type(w) is Tensor else wrap(w))
        for t, w in zip(results, weights, strict=True)
        if type(t) is Tensor and backends.is_inexact(t.dtype)
    ]
    return list(
        tape.gradient(
            [t for t, _ in pairs],
            tensors,
            output_gradients=[w for _, w in pairs],
            unconnected_gradients="zero",
        )
    )


def _gradient_of(fun: Callable[..., Any], count: int) -> Callable[..., list[Any]]:
    """Return the gradient of a weighted sum of fun's results, given arguments and weights."""

    def gradient(*arrays: Any) -> list[Any]:
        # a name of its own for each, so that an outer tape's tensor is not watched here
        tensors = [+lift(a, "check_grads") for a in arrays]
        return _gradients(fun, tensors[:count], tensors[count:])

    return gradient


def _check_first(
    fun: Callable[..., Any],
    points: list[np.ndarray],
    count: int,
    level: int,
    name: str,
    tolerance: float | None,
    projections: int,
    random: Any,
) -> None:
    weights = _weights(fun, points, random)
    exact = [g.numpy() for g in _gradients(fun, [wrap(p.copy()) for p in points], weights)]

    def total(arrays: list[np.ndarray]) -> complex:
        results = flatten(fun(*map(wrap, arrays)))[0]
        value: complex = 0.0
        for result, w in zip(results, weights, strict=True):
            array = _raw(result)
            if array.dtype.kind in "fc":
                # for the complex step, real results carry their derivative as imaginary part
                value += (np.conj(w) if w.dtype.kind == "c" else w).ravel() @ array.ravel()
        return value

    for _ in range(projections):
        directions = [_direction(p, random) for p in points]
        mine = sum(float(np.real(np.vdot(g, u))) for g, u in zip(exact, directions, strict=True))
        scale = 1.0 + sum(
            float(np.sum(np.abs(g * u))) for g, u in zip(exact, directions, strict=True)
        )
        theirs, method = _numerical(total, points, directions)
        allowed = (TOLERANCE[method] if tolerance is None else tolerance) * scale
        if not abs(mine - theirs) <= allowed and not (np.isnan(mine) and np.isnan(theirs)):
            _report(total, points, exact, count, level, name, method, mine, theirs)


def _raw(result: Any) -> np.ndarray:
    value = lift(result, "check_grads: result")
    return value.numpy() if type(value) is Tensor else np.asarray(value)


def _direction(point: np.ndarray, random: Any) -> np.ndarray:
    u = random.standard_normal(point.shape)
    return u + 1j * random.standard_normal(point.shape) if point.dtype.kind == "c" else u


def _numerical(
    total: Callable[[list[np.ndarray]], complex],
    points: list[np.ndarray],
    directions: list[np.ndarray],
) -> tuple[float, str]:
    """Return the derivative of `total` along a direction, and how it was found."""

    def moved(t: Any) -> list[np.ndarray]:
        return [np.asarray(p + t * u) for p, u in zip(points, directions, strict=True)]

    def real(t: float) -> float:
        return float(np.real(total(moved(t))))

    h = _STEP
    near, far = real(h) - real(-h), real(2 * h) - real(-2 * h)
    central = (8 * near - far) / (12 * h)
    if all(p.dtype.kind == "f" for p in points):
        step = 1e-20
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = np.imag(total(moved(1j * step))) / step
        except Exception:  # the function does not take complex numbers
            value = np.nan
        if abs(value - central) <= 1e-4 * (1 + abs(central)):
            return float(value), "complex step"
    return central, "central differences"


def _report(
    total: Callable[[list[np.ndarray]], complex],
    points: list[np.ndarray],
    exact: list[np.ndarray],
    count: int,
    level: int,
    name: str,
    method: str,
    mine: float,
    theirs: float,
) -> None:
    """Raise an error that names the element whose derivative is furthest off."""
    worst: tuple[float, int, tuple[int, ...], Any, Any] = (-1.0, 0, (), 0.0, 0.0)
    for k, point in enumerate(points):
        for place in np.ndindex(point.shape):
            numeric: complex = 0.0
            for unit in (1.0, 1j) if point.dtype.kind == "c" else (1.0,):
                directions = [np.zeros_like(p) for p in points]
                directions[k][place] = unit
                numeric += unit * _numerical(total, points, directions)[0]
            got = exact[k][place]
            error = float(abs(got - numeric))
            if not error <= worst[0]:  # a NaN is worse than anything
                worst = (np.inf if np.isnan(error) else error, k, place, got, numeric)
    _, k, place, got, numeric = worst
    where = f"argument {k}" if k < count else f"weight {k - count}"
    where += f"[{', '.join(map(str, place))}]" if place else ""
    raise GradientCheckError(
        f"{name}: derivative of order {level} is wrong: along a random direction it is "
        f"{mine:.10g}, by {method} {theirs:.10g}. Worst element: {where} = "
        f"{points[k][place]:.6g}, where the rule gives {got:.10g} and differences {numeric:.10g}"
    )


__all__ = ["GradientCheckError", "check_grads"]
