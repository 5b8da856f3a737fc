"""check_grads: derivatives against numerical ones, with the worst element named."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.record import lift
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, WengertError, cuts_shown, name_of
from wengert.transforms.gradients import as_native, as_tensor
from wengert.trees import flatten

#: Relative errors that exact derivatives stay well within, in float64.
TOLERANCE = {"complex step": 1e-10, "central differences": 1e-6}
_STEP = 1e-3
#: From arrays to the number whose derivative is checked.
Total = Callable[[list[np.ndarray]], complex]


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

    The check takes a random weighted sum of the results, and compares its derivative along random
    directions with a numerical one, in float64: the complex step where the function takes complex
    numbers as it takes real ones, and central differences otherwise. Each further order checks
    the gradient in its turn, as a function of arguments and weights. Returns None.

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
    points = [in_double(leaf) for leaf in leaves]

    def current(*arrays: Any) -> Any:
        return fun(*rebuild(arrays))

    random = np.random.default_rng(seed)
    for level in range(1, order + 1):
        weights = random_weights(_results(current, points), random)
        gradients = _gradients(current, [wrap(p.copy()) for p in points], weights)
        exact = [g.numpy() for g in gradients]
        total = _weighted(current, weights)
        for _ in range(projections):
            directions = [random_direction(p, random) for p in points]
            products = [g * np.conj(u) for g, u in zip(exact, directions, strict=True)]
            ours = sum(float(np.real(np.sum(p))) for p in products)
            scale = 1.0 + sum(float(np.sum(np.abs(p))) for p in products)
            found = derivatives(total, points, directions)
            if not any(_is_near(ours, *pair, scale, tolerance) for pair in found):
                numeric, method = found[0]
                raise GradientCheckError(
                    f"{getattr(fun, '__name__', 'function')}: derivative of order {level} is "
                    f"wrong: along a random direction it is {ours:.10g}, by {method} "
                    f"{numeric:.10g}. {_worst_element(total, points, exact, len(leaves))}"
                )
        # a gradient is a function of the point and of the weights, and wrong if it forgets either
        current = _gradient_of(current, len(points))
        points = [*points, *weights]


def _leaf_arrays(arg: Any) -> Any:
    """Return a list of numbers as one array; nests of arrays stay nests."""
    if isinstance(arg, (list, tuple)) and not isinstance(arg, Tensor):
        leaves = flatten(arg)[0]
        if leaves and all(isinstance(leaf, (bool, int, float, complex)) for leaf in leaves):
            return np.asarray(arg)
    return arg


def in_double(leaf: Any) -> np.ndarray:
    """Return a point to check at as an array of double precision."""
    array = as_tensor(leaf, "check_grads").numpy()
    if not backends.is_inexact(array.dtype):
        raise DtypeError(
            f"check_grads: got {array.dtype} of shape {array.shape}; derivatives exist for "
            "floating and complex numbers, so write 1.0 for 1, or x.astype(float)"
        )
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _results(fun: Callable[..., Any], points: list[np.ndarray]) -> list[np.ndarray]:
    results = flatten(fun(*map(wrap, points)))[0]
    return [as_tensor(result, "check_grads: result").numpy() for result in results]


def random_direction(point: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return random numbers of the shape of an array, complex where that is."""
    u = np.asarray(random.standard_normal(point.shape))
    return u + 1j * random.standard_normal(point.shape) if point.dtype.kind == "c" else u


def random_weights(results: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Return random weights for the elements of each result; zeros for integers."""
    weights = []
    for array in results:
        w = random.uniform(0.5, 1.5, array.shape) * random.choice([-1.0, 1.0], array.shape)
        if array.dtype.kind == "c":
            w = w + 1j * random.uniform(0.5, 1.5, array.shape)
        weights.append(np.asarray(w if backends.is_inexact(array.dtype) else np.zeros_like(w)))
    return weights


def weighted_sum(results: list[np.ndarray], weights: list[np.ndarray]) -> complex:
    """Return the sum of all results, weighted.

    Real results are not conjugated: for the complex step, their imaginary part is the derivative.
    """
    pairs = zip(results, weights, strict=True)
    return sum(
        (np.conj(w).ravel() @ r.ravel() for r, w in pairs if backends.is_inexact(r.dtype)), 0.0
    )


def _weighted(fun: Callable[..., Any], weights: list[np.ndarray]) -> Total:
    return lambda points: weighted_sum(_results(fun, points), weights)


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
    targets, seeds = [t for t, _ in pairs], [w for _, w in pairs]
    return list(tape.gradient(targets, tensors, seeds, unconnected_gradients="zero"))


def _gradient_of(fun: Callable[..., Any], count: int) -> Callable[..., list[Any]]:
    """Return the gradient of a weighted sum of fun's results, given arguments and weights."""

    def gradient(*arrays: Any) -> list[Any]:
        # a name of its own for each, so that an outer tape's tensor is not watched here
        tensors = [+lift(a, "check_grads") for a in arrays]
        return _gradients(fun, tensors[:count], tensors[count:])

    return gradient


def _is_near(
    ours: float, numeric: float, method: str, scale: float, tolerance: float | None
) -> bool:
    allowed = (TOLERANCE[method] if tolerance is None else tolerance) * scale
    return abs(ours - numeric) <= allowed or bool(np.isnan(ours) and np.isnan(numeric))


def derivatives(
    total: Total, points: list[np.ndarray], directions: list[np.ndarray]
) -> list[tuple[float, str]]:
    """Return numerical derivatives of `total` along a direction, each with its method's name.

    The complex step is exact where a function takes complex numbers as it takes real ones. Where
    it does not, such as a gradient, which conjugates, the step is another number. It may by chance
    be near central differences, and then both are returned: an exact derivative is one of them.
    """

    def moved(t: Any) -> list[np.ndarray]:
        return [np.asarray(p + t * u) for p, u in zip(points, directions, strict=True)]

    def real(t: float) -> float:
        return float(np.real(total(moved(t))))

    h = _STEP
    near, far = real(h) - real(-h), real(2 * h) - real(-2 * h)
    central = (8 * near - far) / (12 * h)
    differences = [(central, "central differences")]
    if all(backends.kind_of(p.dtype) == "f" for p in points):
        step = 1e-20
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = np.imag(total(moved(1j * step))) / step
        except Exception:  # the function does not take complex numbers
            value = np.nan
        apart = abs(value - central) / (1 + abs(central))
        if apart <= 1e-4:
            return [(float(value), "complex step"), *(differences if apart > 1e-7 else ())]
    return differences


def _worst_element(
    total: Total, points: list[np.ndarray], exact: list[np.ndarray], count: int
) -> str:
    """Return a sentence about the element whose derivative is furthest off."""
    worst: tuple[float, str] = (-1.0, "")
    for k, point in enumerate(points):
        for index in np.ndindex(point.shape):
            numeric: complex = 0.0
            for unit in (1.0, 1j) if point.dtype.kind == "c" else (1.0,):
                directions = [np.zeros_like(p) for p in points]
                directions[k][index] = unit
                numeric += unit * derivatives(total, points, directions)[0][0]
            got = exact[k][index]
            error = float(abs(got - numeric))
            if not error <= worst[0]:  # a NaN is worse than anything
                where = f"argument {k}" if k < count else f"weight {k - count}"
                where += f"[{', '.join(map(str, index))}]" if index else ""
                worst = (
                    np.inf if np.isnan(error) else error,
                    f"Worst element: {where} = {point[index]:.6g}, where the rule gives "
                    f"{got:.10g} and differences {numeric:.10g}",
                )
    return worst[1]
