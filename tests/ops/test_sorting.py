"""Order: sorting with NaN, the largest elements, quantiles, and searching."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wengert as wg
from tests.ops.op_cases import apart, assert_near, check_on_strict, on_strict
from wengert.ops import sorting

NAN = np.nan
X = np.array([[0.3, -1.0, 2.0, 0.7, 1.2], [1.5, 1.1, -0.3, 3.0, -2.0], [0.9, 2.5, 0.1, -0.5, 1.9]])
LIBRARIES = pytest.mark.parametrize("make", [wg.asarray, on_strict], ids=["numpy", "strict"])

# -- sort and argsort -------------------------------------------------------------------------


@LIBRARIES
def test_nan_counts_as_larger_than_every_number(make: Any) -> None:
    x = np.array([2.0, NAN, -np.inf, np.inf, NAN, 1.0])
    up, down = wg.argsort(make(x)), wg.argsort(make(x), descending=True)
    assert up.tolist() == [2, 5, 0, 3, 1, 4]
    assert down.tolist() == [1, 4, 3, 0, 5, 2]
    np.testing.assert_array_equal(wg.sort(make(x)).numpy(), x[[2, 5, 0, 3, 1, 4]])
    top = wg.topk(make(x), 3)
    assert top.indices.tolist() == [1, 4, 3]
    assert wg.topk(make(x), 2, largest=False).indices.tolist() == [2, 5]


@LIBRARIES
@given(hnp.arrays(float, st.integers(0, 12), elements=st.sampled_from([-1.0, -0.0, 0.0, 1.0, NAN])))
def test_order_is_stable_both_ways(make: Any, x: np.ndarray) -> None:
    places = sorted(range(len(x)), key=lambda i: (np.isnan(x[i]), 0 if np.isnan(x[i]) else x[i]))
    assert wg.argsort(make(x)).tolist() == places
    key = {i: (not np.isnan(x[i]), 0 if np.isnan(x[i]) else -x[i]) for i in range(len(x))}
    assert wg.argsort(make(x), descending=True).tolist() == sorted(key, key=key.__getitem__)


# -- topk -------------------------------------------------------------------------------------


@LIBRARIES
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_topk(make: Any, largest: bool, axis: int) -> None:
    for k in range(X.shape[axis] + 1):
        got = wg.topk(make(X), k, axis=axis, largest=largest)
        ranked = np.argsort(-X if largest else X, axis=axis)
        places = np.take(ranked, np.arange(k), axis=axis)
        np.testing.assert_array_equal(got.indices.numpy(), places)
        np.testing.assert_array_equal(got.values.numpy(), np.take_along_axis(X, places, axis=axis))
        if k and make is wg.asarray:
            wg.check_grads(
                lambda x, k=k: wg.topk(x, k, axis=axis, largest=largest).values, [X], order=2
            )
    check_on_strict(lambda x: wg.topk(x, 2, axis=axis, largest=largest).values, [X])


@given(
    hnp.arrays(float, (3, 40), elements=st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])),
    st.integers(1, 10),
    st.booleans(),
)
def test_topk_by_partition_is_what_a_stable_sort_gives(
    x: np.ndarray, k: int, largest: bool
) -> None:
    found = sorting._top_by_partition(x, k, largest)
    order = np.argsort(-x if largest else x, axis=-1, stable=True)
    np.testing.assert_array_equal(found, order[:, :k])


def test_topk_of_many() -> None:
    x = np.random.default_rng(0).permutation(3000.0 * np.arange(1, 6001)).reshape(3, 2000)
    for axis in (0, 1):
        got = wg.topk(x, x.shape[axis] // 4 or 1, axis=axis)
        ranked = np.take(np.argsort(-x, axis=axis), np.arange(x.shape[axis] // 4 or 1), axis=axis)
        np.testing.assert_array_equal(got.indices.numpy(), ranked)
    x[1, 77] = NAN
    assert wg.topk(x, 2).indices.numpy()[1, 0] == 77
    integers = np.arange(5000) % 50
    assert wg.topk(integers, 3).indices.tolist() == [49, 99, 149]
    assert wg.topk(wg.asarray(x[:, :0]), 0).values.shape == (3, 0)


def test_topk_keeps_the_first_of_equal_elements() -> None:
    x = np.array([1.0, 2.0, 2.0, 0.0, 2.0])
    assert wg.topk(x, 2).indices.tolist() == [1, 2]
    g = wg.grad(lambda x: wg.sum(wg.topk(x, 2).values))(x)
    np.testing.assert_array_equal(g, [0, 1, 1, 0, 0])


@LIBRARIES
def test_topk_of_what_is_wrong(make: Any) -> None:
    with pytest.raises(ValueError, match=r"topk: k=6 of 5 elements along axis 1.*0 to 5"):
        wg.topk(make(X), 6)
    with pytest.raises(ValueError, match="topk: k=-1"):
        wg.topk(make(X), -1)
    with pytest.raises(TypeError, match="float"):
        wg.topk(make(X), 2.0)
    with pytest.raises(np.exceptions.AxisError, match="topk: axis 2"):
        wg.topk(make(X), 1, axis=2)
    with pytest.raises(np.exceptions.AxisError):
        wg.topk(make(np.array(1.0)), 1)
    with pytest.raises(wg.DtypeError, match="topk: got .*complex128"):
        wg.topk(make(X * 1j), 1)


# -- quantile, percentile, median -------------------------------------------------------------

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_those_of_numpy(method: str) -> None:
    if method == "closest_observation" and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("NumPy 2.0 takes another of two elements that are equally close")
    levels = np.linspace(0, 1, 41)
    for n in range(1, 9):
        x = np.sin(1.0 + 5.1 * np.arange(n))
        expected = np.quantile(x, levels, method=method)
        np.testing.assert_allclose(wg.quantile(x, levels, method=method).numpy(), expected)
        percent = wg.percentile(x, 100 * levels, method=method).numpy()
        np.testing.assert_allclose(percent, np.percentile(x, 100 * levels, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_have_derivatives(method: str) -> None:
    q = np.array([0.0, 0.13, 0.5, 0.77, 1.0])

    def function(x: Any) -> Any:
        return wg.quantile(x, q, axis=1, method=method)

    wg.check_grads(function, [X], order=2)
    check_on_strict(function, [X])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (1, 0), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("q", [0.3, [0.2, 0.9], [[0.1, 0.5, 0.6]]], ids=["0", "1", "2"])
def test_shapes_are_those_of_numpy(axis: Any, keepdims: bool, q: Any) -> None:
    got = wg.quantile(wg.asarray(X), q, axis=axis, keepdims=keepdims)
    if axis == ():
        expected = np.broadcast_to(X, (*np.shape(q), *X.shape))  # nothing is reduced
    else:
        expected = np.quantile(X, q, axis=axis, keepdims=keepdims)
    assert_near(got, np.asarray(expected))
    middle = np.median(X, axis=axis, keepdims=keepdims) if axis != () else X
    assert_near(wg.median(wg.asarray(X), axis=axis, keepdims=keepdims), np.asarray(middle))


def test_many_levels_at_once() -> None:
    x = np.random.default_rng(1).standard_normal(1000)
    levels = np.linspace(0, 1, 101)
    np.testing.assert_allclose(wg.quantile(x, levels).numpy(), np.quantile(x, levels))
    wg.check_grads(lambda x: wg.quantile(x, levels[::5]), [apart((30,))], order=1)


@pytest.mark.parametrize("method", sorting._CONTINUOUS)
def test_levels_have_a_derivative(method: str) -> None:
    x, q = X[0], np.array([0.22, 0.43, 0.71])
    wg.check_grads(lambda x, q: wg.quantile(x, q, method=method), [x, q], order=2)
    wg.check_grads(lambda q: wg.percentile(x, q, method=method), [100 * q], order=1)
    check_on_strict(lambda x, q: wg.quantile(x, q, method=method), [x, q])


def test_derivatives_by_levels_at_their_ends() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert wg.grad(lambda q: wg.quantile(x, q))(0.0) == 2.0
    assert wg.grad(lambda q: wg.quantile(x, q))(1.0) == 4.0
    assert wg.grad(lambda q: wg.quantile(x, q))(0.5) == 4.0  # to the right of a kink
    assert wg.grad(lambda q: wg.quantile(x, q, method="weibull"))(0.01) == 0.0
    assert wg.quantile(x, wg.asarray(0.5)).item() == 2.0
    with pytest.warns(wg.UnconnectedWarning):
        assert wg.grad(lambda q: wg.quantile(x, q, method="lower"))(0.4) == 0.0


@pytest.mark.parametrize("method", ["linear", "lower", "midpoint"])
def test_equal_elements_share_evenly(method: str) -> None:
    x = np.array([2.0, 1.0, 2.0, 0.0, 2.0, 3.0, 2.0])
    g = wg.grad(lambda x: wg.quantile(x, 0.5, method=method))(x)
    np.testing.assert_allclose(g, (x == 2) / 4)


@given(hnp.arrays(float, st.integers(1, 7), elements=st.sampled_from([-1.0, 0.0, 1.0, 2.0])))
def test_the_ends_are_min_and_max(x: np.ndarray) -> None:
    for q, function in ((0.0, wg.min), (1.0, wg.max)):
        value, slope = wg.value_and_grad(lambda x, q=q: wg.quantile(x, q))(x)
        exact = wg.value_and_grad(function)(x)
        assert value == exact[0]
        np.testing.assert_allclose(slope, exact[1])


@given(hnp.arrays(float, st.integers(1, 9), elements=st.floats(-9, 9)), st.floats(0, 1))
def test_quantile_is_numpys(x: np.ndarray, q: float) -> None:
    np.testing.assert_allclose(wg.quantile(x, q).numpy(), np.quantile(x, q), atol=1e-14)
    np.testing.assert_allclose(wg.median(x).numpy(), np.median(x), atol=1e-14)
    same = np.full(4, x[0])
    assert wg.quantile(same, q).item() == x[0]


@LIBRARIES
def test_nan_and_infinities(make: Any) -> None:
    inf = np.inf
    x = make(np.array([[1.0, NAN, 2.0], [1.0, 3.0, 2.0]]))
    for function in (wg.median, lambda x, axis: wg.quantile(x, 0.1, axis=axis, method="lower")):
        y = function(x, axis=1).numpy()
        assert np.isnan(y[0]) and np.isfinite(y[1])
    for row, middle in (
        ([-inf, 1.0], -inf),
        ([1.0, inf], inf),
        ([-inf, 0.0, inf], 0.0),
        ([inf, inf], inf),
        ([1.0, 2.0, inf], 2.0),
        ([-1.7e308, 1.7e308], 0.0),
    ):
        with np.errstate(over="ignore"):
            assert wg.median(make(np.array(row))).item() == middle, row
    with np.errstate(invalid="ignore"):
        assert np.isnan(wg.median(make(np.array([-inf, inf]))).item())
    g = wg.grad(wg.median)(np.array([1.0, 2.0, inf]))
    np.testing.assert_array_equal(g, [0, 1, 0])


def test_dtypes() -> None:
    single = X.astype(np.float32)
    for function in (wg.median, lambda x: wg.quantile(x, 0.3), lambda x: wg.percentile(x, [3, 4])):
        assert function(single).dtype == wg.float32
        assert wg.grad(lambda x, f=function: wg.sum(f(x)))(single).dtype == np.float32
        assert function(np.arange(4)).dtype == wg.float64
    assert wg.quantile(np.arange(4), 0.5, method="lower").dtype == wg.int64
    assert wg.quantile(single, wg.asarray(0.3)).dtype == wg.float32


@LIBRARIES
def test_quantiles_of_what_is_wrong(make: Any) -> None:
    x = make(X)
    for q in (-0.1, 1.1, [0.5, NAN]):
        with pytest.raises(ValueError, match="quantile: q=.*; expected numbers from 0 to 1"):
            wg.quantile(x, q)
    with pytest.raises(ValueError, match="percentile: q=101.*from 0 to 100"):
        wg.percentile(x, 101)
    with pytest.raises(ValueError, match="method='cubic'; expected one of 'interpolated"):
        wg.quantile(x, 0.5, method="cubic")
    with pytest.raises(ValueError, match="median: no elements"):
        wg.median(make(np.zeros((2, 0))), axis=1)
    with pytest.raises(np.exceptions.AxisError, match="median: axis 2"):
        wg.median(x, axis=2)
    with pytest.raises(wg.DtypeError, match="median: got .*complex128"):
        wg.median(make(X * 1j))
    with pytest.raises(wg.DtypeError, match="quantile: q of complex128"):
        wg.quantile(x, 0.5j)


# -- searchsorted -------------------------------------------------------------------------------


@LIBRARIES
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(make: Any, side: str) -> None:
    x, v = np.array([3.0, 1.0, 2.0, 2.0]), np.array([[2.0, 0.0], [9.0, 2.5]])
    order = np.argsort(x)
    expected = np.searchsorted(x, v, side=side, sorter=order)
    got = wg.searchsorted(make(x), make(v), side=side, sorter=wg.argsort(make(x)))
    np.testing.assert_array_equal(got.numpy(), expected)
    got = wg.searchsorted(make(x[order]), make(v), side=side)
    np.testing.assert_array_equal(got.numpy(), expected)


@LIBRARIES
def test_searchsorted_of_what_is_wrong(make: Any) -> None:
    x = make(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(wg.ShapeError, match=r"x1 of shape \(3, 5\); expected one axis"):
        wg.searchsorted(make(X), x)
    with pytest.raises(ValueError, match="side='middle'; expected 'left' or 'right'"):
        wg.searchsorted(x, x, side="middle")
    with pytest.raises(wg.DtypeError, match="sorter of .*float64; expected integers"):
        wg.searchsorted(x, x, sorter=x)
    with pytest.raises(wg.ShapeError, match=r"sorter of shape \(2,\) for x1 of shape \(3,\)"):
        wg.searchsorted(x, x, sorter=[0, 1])
    with pytest.raises(IndexError, match="index 3 is out of range"):
        wg.searchsorted(x, x, sorter=[0, 1, 3])
