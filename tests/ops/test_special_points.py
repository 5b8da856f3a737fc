"""Functions made of operations, and points where the mathematics leaves a choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import (
    as_numpy,
    assert_near,
    check_on_strict,
    on_strict,
    vjp,
)

# -- functions made of operations -------------------------------------------------------------

_A, _B = np.arange(1.0, 7.0).reshape(2, 3) / 5, np.array([[0.3, -1.2, 0.7], [1.1, -0.4, 0.9]])
_V, _Z = np.array([0.5, -1.0, 2.0]), _A + 1j * _B
_ORDER = np.array([[2, 0, 0], [1, 1, 2]])

#: Public functions that are no entry of the registry: (ours, NumPy's, arguments).
MADE_OF_OTHERS: dict[str, tuple[Any, Any, list[np.ndarray]]] = {
    "sign of complex": (wg.sign, np.sign, [_Z]),
    "angle": (wg.angle, np.angle, [_Z]),
    "pow of a number": (lambda x: 2.0**x, lambda x: 2.0**x, [_B]),
    "pow with an array": (wg.pow, np.power, [_A, _B]),
    "clip above": (lambda x: wg.clip(x, 0.5), lambda x: np.clip(x, 0.5, None), [_B]),
    "clip below": (lambda x: wg.clip(x, max=0.5), lambda x: np.clip(x, None, 0.5), [_B]),
    "clip": (lambda x: wg.clip(x, -0.5, 0.8), lambda x: np.clip(x, -0.5, 0.8), [_B]),
    "remainder of negatives": (wg.remainder, np.remainder, [_B, np.array([0.4, -0.7, 0.25])]),
    "matrix_transpose": (wg.matrix_transpose, np.matrix_transpose, [_A]),
    "swapaxes": (lambda x: wg.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1), [_A]),
    "moveaxis": (lambda x: wg.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), [_A]),
    "expand_dims": (
        lambda x: wg.expand_dims(x, axis=(0, -1)),
        lambda x: np.expand_dims(x, (0, -1)),
        [_A],
    ),
    "squeeze": (lambda x: wg.squeeze(x[:1]), lambda x: np.squeeze(x[:1]), [_A]),
    "broadcast_arrays": (
        lambda x, y: wg.broadcast_arrays(x, y)[1],
        lambda x, y: np.broadcast_arrays(x, y)[1],
        [_A, _V],
    ),
    "stack": (
        lambda x, y: wg.stack([x, y], axis=-1),
        lambda x, y: np.stack([x, y], axis=-1),
        [_A, _B],
    ),
    "concat of flat arrays": (
        lambda x, y: wg.concat([x, y], axis=None),
        lambda x, y: np.concatenate([x, y], axis=None),
        [_A, _V],
    ),
    "unstack": (lambda x: wg.unstack(x, axis=1)[2], lambda x: x[:, 2], [_A]),
    "repeat, flat": (lambda x: wg.repeat(x, 2), lambda x: np.repeat(x, 2), [_A]),
    "repeat with 0": (
        lambda x: wg.repeat(x, np.array([0, 3, 1]), axis=1),
        lambda x: np.repeat(x, [0, 3, 1], axis=1),
        [_A],
    ),
    "roll, flat": (lambda x: wg.roll(x, 2), lambda x: np.roll(x, 2), [_A]),
    "pad": (
        lambda x: wg.pad(x, (2, 1), "reflect"),
        lambda x: np.pad(x, (2, 1), "reflect"),
        [np.vstack([_A, _B])],
    ),
    "take, flat": (lambda x: wg.take(x, _ORDER), lambda x: np.take(x, _ORDER), [_A]),
    "take": (lambda x: wg.take(x, _ORDER, axis=1), lambda x: np.take(x, _ORDER, axis=1), [_A]),
    "take_along_axis": (
        lambda x: wg.take_along_axis(x, _ORDER, axis=1),
        lambda x: np.take_along_axis(x, _ORDER, axis=1),
        [_A],
    ),
    "take_along_axis, indices broadcast": (
        lambda x: wg.take_along_axis(x, _ORDER[:1, :2] - 1, axis=1),
        lambda x: np.take_along_axis(x, _ORDER[:1, :2] - 1, axis=1),
        [_A],
    ),
    "take_along_axis, array broadcasts": (
        lambda x: wg.take_along_axis(x[:1], _ORDER, axis=1),
        lambda x: np.take_along_axis(x[:1], _ORDER, axis=1),
        [_A],
    ),
    "sort, descending": (
        lambda x: wg.sort(x, axis=0, descending=True),
        lambda x: -np.sort(-x, axis=0),
        [_B],
    ),
    "diff": (lambda x: wg.diff(x, n=2), lambda x: np.diff(x, n=2), [_A]),
    "diff with ends": (
        lambda x, y: wg.diff(x, axis=0, append=y, prepend=y),
        lambda x, y: np.diff(x, axis=0, append=y, prepend=y),
        [_A, _V[None]],
    ),
    "cumulative_sum from 0": (
        lambda x: wg.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: np.cumulative_sum(x, axis=1, include_initial=True),
        [_A],
    ),
    "cumulative_prod from 1": (
        lambda x: wg.cumulative_prod(x, axis=0, include_initial=True),
        lambda x: np.cumulative_prod(x, axis=0, include_initial=True),
        [_Z],
    ),
    "matmul of vectors": (wg.matmul, np.matmul, [_V, _V + 1]),
    "matmul, vector first": (wg.matmul, np.matmul, [_V, _B.T]),
    "matmul, vector last": (wg.matmul, np.matmul, [np.stack([_A, _B]), _V]),
    "einsum, trace": (
        lambda x: wg.einsum("ii", x),
        lambda x: np.einsum("ii", x),
        [np.vstack([_A, _V])],
    ),
    "einsum, diagonal": (
        lambda x, y: wg.einsum("ij,iik->ki", x, y),
        lambda x, y: np.einsum("ij,iik->ki", x, y),
        [_A, np.stack([_A, _B])[:, :, :2].copy()],
    ),
    "einsum, ellipsis": (
        lambda x, y: wg.einsum("...i,ji->j...", x, y),
        lambda x, y: np.einsum("...i,ji->j...", x, y),
        [np.stack([_A, _B]), _Z],
    ),
    "einsum, length 1 repeats": (
        lambda x, y: wg.einsum("ij,ij->i", x, y),
        lambda x, y: np.einsum("ij,ij->i", x, y),
        [_A[:, :1], _B],
    ),
    "full": (lambda x: wg.full((2, 3), x), lambda x: np.full((2, 3), x), [_V[1]]),
    "linspace": (lambda x, y: wg.linspace(x, y, 4), lambda x, y: np.linspace(x, y, 4), [_V, _A]),
    "meshgrid": (
        lambda x, y: wg.meshgrid(x, y)[1] * wg.meshgrid(x, y)[0],
        lambda x, y: np.meshgrid(x, y)[1] * np.meshgrid(x, y)[0],
        [_V, _A[0, :2].copy()],
    ),
    "unique_values": (wg.unique_values, np.unique_values, [_B]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE_OF_OTHERS)
def test_functions_made_of_operations(name: str) -> None:
    ours, numpys, arrays = MADE_OF_OTHERS[name]
    assert_near(ours(*map(wg.asarray, arrays)), numpys(*arrays), name)
    wg.check_grads(ours, arrays, order=2)


@pytest.mark.parametrize("name", MADE_OF_OTHERS)
def test_array_api_strict_agrees_on_functions(name: str) -> None:
    ours, _, arrays = MADE_OF_OTHERS[name]
    check_on_strict(ours, arrays)


# -- special points ---------------------------------------------------------------------------

_INF = np.inf

#: Where conventions decide: (function, arguments, gradient of the result's sum for each).
POINTS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "abs at 0": (wg.abs, [[0.0, -1.0]], [[0.0, -1.0]]),
    "abs at complex 0": (wg.abs, [[0j, 3 + 4j]], [[0j, 0.6 + 0.8j]]),
    "hypot at its tip": (wg.hypot, [[0.0, 3.0], [0.0, 4.0]], [[0.0, 0.6], [0.0, 0.8]]),
    "atan2 at the origin": (wg.atan2, [[0.0], [0.0]], [[0.0], [0.0]]),
    "copysign of 0": (wg.copysign, [[0.0, -3.0], [1.0, 1.0]], [[0.0, -1.0], [0.0, 0.0]]),
    "sqrt at 0": (wg.sqrt, [[0.0, 4.0]], [[_INF, 0.25]]),
    "log at 0": (wg.log, [[0.0]], [[_INF]]),
    "reciprocal of a small number": (wg.reciprocal, [[1e-3]], [[-1e6]]),
    "maximum, a tie": (wg.maximum, [[1.0, 1.0, 2.0], [1.0, 3.0, 0.0]], [[0.5, 0, 1], [0.5, 1, 0]]),
    "minimum, a tie": (wg.minimum, [[1.0, 1.0, 2.0], [1.0, 3.0, 0.0]], [[0.5, 1, 0], [0.5, 0, 1]]),
    "maximum of x and x": (lambda x: wg.maximum(x, x), [[1.0]], [[1.0]]),
    "max, ties": (wg.max, [[2.0, 1.0, 2.0, 2.0]], [[1 / 3, 0, 1 / 3, 1 / 3]]),
    "min, ties": (wg.min, [[2.0, 1.0, 1.0]], [[0, 0.5, 0.5]]),
    "max, ties along an axis": (
        lambda x: wg.max(x, axis=1),
        [[[1.0, 1.0], [0.0, 3.0]]],
        [[[0.5, 0.5], [0.0, 1.0]]],
    ),
    "max, ties in two axes": (
        lambda x: wg.max(x, axis=(0, 2), keepdims=True),
        [[[[1.0, 1.0], [0.0, 3.0]], [[1.0, 0.0], [3.0, 3.0]]]],
        [[[[1 / 3, 1 / 3], [0, 1 / 3]], [[1 / 3, 0], [1 / 3, 1 / 3]]]],
    ),
    "std of equal elements": (wg.std, [[0.1, 0.1, 0.1]], [[0.0, 0.0, 0.0]]),
    "std of exactly equal elements": (wg.std, [[2.0, 2.0]], [[0.0, 0.0]]),
    "std of one row of equal elements": (
        lambda x: wg.std(x, axis=1),
        [[[0.7] * 4, [1.0, -1.0, 1.0, -1.0]]],
        [[[0.0] * 4, [0.25, -0.25, 0.25, -0.25]]],
    ),
    "var of equal elements": (wg.var, [[0.1, 0.1, 0.1]], [[0.0, 0.0, 0.0]]),
    "x**0 at 0": (lambda x: x**0, [[0.0, 2.0]], [[0.0, 0.0]]),
    "x**1 at 0": (lambda x: x**1, [[0.0, 2.0]], [[1.0, 1.0]]),
    "x**2 at 0": (lambda x: x**2, [[0.0, 2.0]], [[0.0, 4.0]]),
    "x**3 at 0": (lambda x: x**3, [[0.0, -2.0]], [[0.0, 12.0]]),
    "x**0.5 at 0": (lambda x: x**0.5, [[0.0, 4.0]], [[_INF, 0.25]]),
    "x**0.0 at 0": (lambda x: x**0.0, [[0.0]], [[0.0]]),
    "pow at 0": (
        wg.pow,
        [[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.5]],
        [[0.0, 1.0, 0.0, _INF], [0.0, 0.0, 0.0, 0.0]],
    ),
    "pow of a negative base": (
        lambda x: wg.pow(x, wg.asarray([2.0, 3.0])), [[-2.0, -1.0]], [[-4, 3]],
    ),
    "0**x": (lambda x: 0.0**x, [[0.0, 2.0]], [[0.0, 0.0]]),
    "clip at the low bound": (wg.clip, [[1.0], [1.0], [2.0]], [[0.0], [1.0], [0.0]]),
    "clip at the high bound": (wg.clip, [[2.0], [1.0], [2.0]], [[0.0], [0.0], [1.0]]),
    "clip inside": (wg.clip, [[1.5], [1.0], [2.0]], [[1.0], [0.0], [0.0]]),
    "clip at equal bounds": (wg.clip, [[1.0], [1.0], [1.0]], [[0.0], [1.0], [0.0]]),
    "clip with bounds the wrong way round": (wg.clip, [[1.5], [2.0], [1.0]], [[0.0], [0.0], [1.0]]),
    "clip at its only bound": (lambda x: wg.clip(x, 0.0), [[0.0, 1.0]], [[0.0, 1.0]]),
    "where, both branches": (
        lambda x, y: wg.where(wg.asarray([True, False]), x * x, 3 * y),
        [[2.0, 2.0], [5.0, 5.0]],
        [[4.0, 0.0], [0.0, 3.0]],
    ),
    "where of x and x": (lambda x: wg.where(x > 0, x, -x), [[2.0, -3.0]], [[1.0, -1.0]]),
    "logaddexp far apart": (wg.logaddexp, [[1e3, -_INF], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]),
    "complex sign at 0": (lambda x: wg.real(wg.sign(x)), [[0j]], [[0j]]),
    "prod, no zero": (wg.prod, [[2.0, 3.0, 4.0]], [[12.0, 8.0, 6.0]]),
    "prod, one zero": (wg.prod, [[0.0, 3.0, 4.0]], [[12.0, 0.0, 0.0]]),
    "prod, two zeros": (wg.prod, [[0.0, 3.0, 0.0]], [[0.0, 0.0, 0.0]]),
    "prod of nothing": (wg.prod, [np.zeros(0)], [np.zeros(0)]),
    "mean of nothing along another axis": (
        lambda x: wg.mean(x, axis=1), [np.zeros((0, 2))], [np.zeros((0, 2))],
    ),
    "sort of equal elements": (lambda x: wg.sort(x)[:2], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 1.0]]),
    "sort of equal elements, descending": (
        lambda x: wg.sort(x, descending=True) * wg.asarray([1.0, 2.0, 3.0]),
        [[1.0, 0.0, 1.0]],
        [[1.0, 3.0, 2.0]],
    ),
    "argsort cuts the path": (lambda x: x * wg.argsort(x, descending=True), [[2.0, 7.0]], [[1, 0]]),
    "floor cuts the path": (lambda x: x * wg.floor(x), [[2.5]], [[2.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_special_points(name: str) -> None:
    function, args, expected = POINTS[name]
    tensors = [wg.asarray(np.asarray(a)) for a in args]
    with np.errstate(all="ignore"):
        result = function(*tensors)
        weights = [np.ones(result.shape, result.dtype)]
        _, gradients = vjp(function, tensors, weights)
    for got, exact, x in zip(gradients, expected, tensors, strict=True):
        assert_near(got, np.asarray(exact, dtype=x.dtype), name)


#: (a function that is infinite or undefined for x <= 0, its first and second derivative at 4)
BRANCHES: dict[str, tuple[Any, float, float]] = {
    "sqrt": (wg.sqrt, 1 / 4, -1 / 32),
    "log": (wg.log, 1 / 4, -1 / 16),
    "reciprocal": (lambda x: 1 / x, -1 / 16, 1 / 32),
    "power": (lambda x: x**-0.5, -1 / 16, 3 / 128),
    "product": (lambda x: wg.exp(x) * (1 / x) / wg.exp(x), -1 / 16, 1 / 32),
    "acos": (lambda x: wg.acos(1 - x / 8), 1 / (8 * np.sqrt(0.75)), None),
    "norm": (lambda x: wg.sqrt(wg.sum(wg.stack([x, 0 * x]) ** 2, axis=0)), 1.0, 0.0),
    "indexed": (lambda x: wg.stack([x, wg.sqrt(x)])[1], 1 / 4, -1 / 32),
    "turned": (lambda x: wg.flip(wg.log(wg.flip(x))), 1 / 4, -1 / 16),
    "summed": (lambda x: wg.sum(wg.sqrt(wg.expand_dims(x, axis=1)), axis=1), 1 / 4, -1 / 32),
    "repeated": (lambda x: wg.broadcast_to(wg.log(x), (2, 3))[0], 1 / 4, -1 / 16),
    "gathered": (lambda x: wg.take(wg.sqrt(x), [0, 1, 2], axis=0), 1 / 4, -1 / 32),
    "by index arrays": (lambda x: wg.sqrt(x)[np.array([[0, 1, 2]])][0], 1 / 4, -1 / 32),
    "embedded": (
        lambda x: wg.nn.embedding([0, 1, 2], wg.sqrt(x)[:, None])[:, 0],
        1 / 4,
        -1 / 32,
    ),
    "updated": (lambda x: wg.sqrt(x).at[:0].set(1.0), 1 / 4, -1 / 32),
    "put in": (lambda x: wg.zeros(3).at[:].set(wg.sqrt(x)), 1 / 4, -1 / 32),
    "triangle": (
        lambda x: wg.tril(wg.sqrt(x)[:, None] * wg.ones((1, 1)), k=9)[:, 0],
        1 / 4,
        -1 / 32,
    ),
    "segments": (lambda x: wg.segment_sum(wg.sqrt(x), [0, 1, 2]), 1 / 4, -1 / 32),
    "nested": (lambda x: wg.where(x > -0.5, wg.sqrt(x), wg.log(x)), 1 / 4, -1 / 32),
}


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("choose", ["where", "mask", "assignment"])
def test_the_branch_not_taken_is_zero_by_structure(name: str, choose: str) -> None:
    function, first, second = BRANCHES[name]

    def program(x: Any) -> Any:
        y = function(x)
        if choose == "mask":
            return wg.sum(y[x > 0])
        if choose == "where":
            return wg.sum(wg.where(x > 0, y, 0.0))
        y = y * 1.0
        y[x <= 0] = 0.0
        return wg.sum(y)

    x = np.array([-1.0, 0.0, 4.0])
    with np.errstate(all="ignore"):
        once = wg.grad(program)
        twice = wg.grad(lambda x: wg.sum(once(x)))
        np.testing.assert_allclose(once(x), [0, 0, first], rtol=1e-12)
        if second is not None:
            np.testing.assert_allclose(twice(x), [0, 0, second], rtol=1e-10, atol=1e-12)


def test_what_is_zero_by_number_is_not_zero_by_structure() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(wg.grad(lambda x: wg.sqrt(x) ** 2)(0.0))
        assert np.isnan(wg.grad(lambda x: 0.0 * wg.sqrt(x))(0.0))


@pytest.mark.parametrize("function", [wg.sign, wg.round, lambda x: wg.floor_divide(x, 2.0)])
def test_a_flat_function_has_no_gradient(function: Any) -> None:
    x = wg.asarray([0.0, 1.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x) is None


def test_argsort_keeps_the_order_of_equal_elements() -> None:
    x = np.array([[1.0, 0.0, 1.0, 2.0, 0.0, 1.0]])
    assert wg.argsort(wg.asarray(x)).tolist() == [[1, 4, 0, 2, 5, 3]]
    assert wg.argsort(wg.asarray(x), descending=True).tolist() == [[3, 0, 2, 5, 1, 4]]
    assert wg.argsort(wg.asarray(x.T), axis=0).tolist() == [[1], [4], [0], [2], [5], [3]]


def test_second_derivatives_of_pow_at_exponents_0_1_and_2() -> None:
    x, p = np.full(3, 2.0), np.arange(3.0)
    wg.check_grads(wg.pow, [x, p], order=2)
    for exponent in (0, 1, 2, 3, 0.5, -1):
        wg.check_grads(lambda x, e=exponent: x**e, [x], order=3)
    assert wg.grad(wg.grad(lambda x: x**2))(0.0) == 2.0


#: Rows with no, one and two zeros; one is at an end, two are next to each other or apart.
ZEROS = {
    "no zero": [1.5, -2.0, 0.5, 3.0],
    "a zero first": [0.0, -2.0, 0.5, 3.0],
    "a zero inside": [1.5, -2.0, 0.0, 3.0],
    "a zero last": [1.5, -2.0, 0.5, 0.0],
    "two zeros": [1.5, 0.0, 0.5, 0.0],
    "two zeros together": [0.0, 0.0, 0.5, 3.0],
    "only zeros": [0.0, 0.0, 0.0, 0.0],
}
PRODUCTS = {
    "prod": (wg.prod, lambda x: np.prod(x)),
    "prod of rows": (
        lambda x: wg.prod(wg.stack([x, x[::-1] + 1.0]), axis=1),
        lambda x: np.prod(np.stack([x, x[::-1] + 1.0]), axis=1),
    ),
    "cumulative_prod": (
        lambda x: wg.cumulative_prod(x) * _WEIGHTS,
        lambda x: np.cumprod(x) * _WEIGHTS,
    ),
}
_WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])


def _slope(function: Any, x: np.ndarray, i: int) -> Any:
    """Return the derivative with respect to x[i] of a function that is linear in it."""
    high, low = x.copy(), x.copy()
    high[i], low[i] = 1.0, 0.0
    return function(high) - function(low)


@pytest.mark.parametrize("product", ["prod", "cumulative_prod"])
@pytest.mark.parametrize("row", ZEROS)
@pytest.mark.parametrize("unit", [1.0, 1.0 + 0.5j], ids=["real", "complex"])
def test_products_at_zeros(product: str, row: str, unit: complex) -> None:
    ours, numpys = PRODUCTS[product]
    x = np.asarray(ZEROS[row]) * unit

    def total(x: np.ndarray) -> Any:
        return np.sum(numpys(x))

    count = range(len(x))
    gradient = np.array([_slope(total, x, i) for i in count])
    hessian = np.array(
        [[_slope(lambda v, i=i: _slope(total, v, i), x, j) for j in count] for i in count]
    )
    source = wg.asarray(x)
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(source)
        with wg.GradientTape() as inner:
            inner.watch(source)
            y = wg.sum(ours(source))
        g = inner.gradient(y, source)
        parts = [wg.real(g[i]) if unit != 1.0 else g[i] for i in count]
    assert_near(g, np.conj(gradient))
    for i in count:
        assert_near(outer.gradient(parts[i], source), np.conj(hessian[i]), f"row {i}")


def test_products_of_rows_some_of_which_have_zeros() -> None:
    x = np.array([list(ZEROS["no zero"]), ZEROS["two zeros"], ZEROS["a zero inside"]])
    for axis in (0, 1, (0, 1)):
        wg.check_grads(lambda x, a=axis: wg.prod(x, axis=a), [x], order=2)
        wg.check_grads(lambda x, a=axis: wg.prod(x, axis=a, keepdims=True), [x], order=2)
    for axis in (0, 1):
        wg.check_grads(lambda x, a=axis: wg.cumulative_prod(x, axis=a), [x], order=2)


def test_logaddexp_where_both_are_equal() -> None:
    def second(x: float) -> float:
        return wg.grad(wg.grad(lambda x: wg.logaddexp(0.0, x)))(x)

    assert second(0.0) == pytest.approx(0.25)
    assert second(1e-9) == pytest.approx(0.25)
    for infinite in (np.inf, -np.inf):
        assert wg.grad(lambda x, y=infinite: wg.logaddexp(y, x))(infinite) == 0.5


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wg.sum(wg.sqrt(x)[np.array([0, 2, 0])]),
        lambda x: wg.sum(wg.flip(wg.sqrt(x))[np.array([0, 2])]),
        lambda x: wg.sqrt(x)[0] + wg.sqrt(x)[2],
        lambda x: wg.sum(wg.clip(0.3, wg.sqrt(x), 9.0)) + wg.sum(x[::2]),
    ],
)
def test_what_lies_between_is_zero_by_structure(function: Any) -> None:
    with np.errstate(all="ignore"):
        assert np.isfinite(wg.grad(function)(np.array([1.0, 0.0, 4.0]))).all()


@pytest.mark.parametrize("on", [wg.asarray, on_strict], ids=["numpy", "strict"])
def test_a_complex_number_is_as_wide_as_both_parts(on: Any) -> None:
    narrow, wide = np.ones(2, np.float32), np.array([1 / 3, 2 / 3])
    for parts in ((narrow, wide), (wide, narrow)):
        z = wg.complex(*map(on, parts))
        assert as_numpy(z).dtype == np.complex128
        assert_near(wg.real(z), parts[0].astype(np.float64))
        assert_near(wg.imag(z), parts[1].astype(np.float64))
    assert as_numpy(wg.complex(on(narrow), on(narrow))).dtype == np.complex64
