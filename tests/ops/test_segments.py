"""Reductions of segments, counts, and the reductions of x.at[key]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import assert_near, check_on_strict, on_strict, vjp
from wengert.ops import segments

IDS = np.array([3, 0, 3, 1, 0, 3])
DATA = np.array([0.5, -1.0, 2.0, 0.7, 1.5, -0.3])
ROWS = np.stack([DATA, DATA[::-1] + 0.05], axis=1)

#: The reduction, what it is of all rows of a segment, and what an empty segment has.
REDUCTIONS: dict[str, tuple[Any, Any, float]] = {
    "sum": (wg.segment_sum, lambda x: x.sum(axis=0), 0.0),
    "mean": (wg.segment_mean, lambda x: x.mean(axis=0), 0.0),
    "prod": (wg.segment_prod, lambda x: x.prod(axis=0), 1.0),
    "max": (wg.segment_max, lambda x: x.max(axis=0), -np.inf),
    "min": (wg.segment_min, lambda x: x.min(axis=0), np.inf),
    "logsumexp": (wg.segment_logsumexp, lambda x: np.log(np.exp(x).sum(axis=0)), -np.inf),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("data", [DATA, ROWS, ROWS.reshape(6, 1, 2)], ids=["1", "2", "3"])
def test_values_and_empty_segments(name: str, data: np.ndarray) -> None:
    function, of_rows, blank = REDUCTIONS[name]
    got = function(wg.asarray(data), IDS, num_segments=5)
    for i in range(5):
        rows = data[i == IDS]
        expected = of_rows(rows) if len(rows) else np.full(data.shape[1:], blank)
        np.testing.assert_allclose(got.numpy()[i], expected)
    assert function(data, IDS).shape == (4, *data.shape[1:])
    assert function(data, wg.asarray(IDS), num_segments=4).shape == (4, *data.shape[1:])
    assert function(data[:0], IDS[:0]).shape == (0, *data.shape[1:])
    assert function(data[:0], []).shape == (0, *data.shape[1:])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_derivatives_where_a_segment_is_empty(name: str) -> None:
    function, of_rows, _ = REDUCTIONS[name]
    used = np.array([0, 1, 3])
    wg.check_grads(lambda x: function(x, IDS, num_segments=5)[used], [ROWS], order=2)
    one = wg.grad(lambda x: wg.sum(function(x, IDS)[3]))(ROWS)
    assert (one[IDS != 3] == 0).all()
    rows = ROWS[IDS == 3]
    step = 1e-6 * np.arange(6.0).reshape(3, 2)
    slope = (np.sum(of_rows(rows + step)) - np.sum(of_rows(rows - step))) / 2
    np.testing.assert_allclose(np.sum(one[IDS == 3] * step), slope, rtol=1e-5)


@pytest.mark.parametrize("name", [*REDUCTIONS, "softmax"])
def test_array_api_strict(name: str) -> None:
    function = getattr(wg, f"segment_{name}")
    check_on_strict(lambda x: function(x, np.array([1, 0, 1, 1, 0, 1])), [ROWS])


@pytest.mark.parametrize("name", [*REDUCTIONS, "softmax"])
def test_single_precision_stays(name: str) -> None:
    function, x = getattr(wg, f"segment_{name}"), ROWS.astype(np.float32)
    assert function(x, IDS).dtype == wg.float32
    assert wg.grad(lambda x: wg.sum(function(x, IDS)[1] ** 2))(x).dtype == np.float32


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1.5, 0.0, 0.0, 1.0, 2.0])), max_size=8)
)
def test_products_have_the_derivative_of_the_other_elements(pairs: Any) -> None:
    ids = np.array([i for i, _ in pairs], int)
    x = np.array([v for _, v in pairs])
    source = wg.asarray(x)
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(source)
        with wg.GradientTape() as inner:
            inner.watch(source)
            y = wg.segment_prod(source, ids, num_segments=4)
        g = inner.gradient(y, source)
        parts = [g[j] for j in range(len(x))]
    everyone = np.arange(len(x))
    for j in everyone:
        mates = (ids == ids[j]) & (everyone != j)
        assert g.numpy()[j] == np.prod(x[mates])
        row = outer.gradient(parts[j], source, unconnected_gradients="zero").numpy()
        for k in everyone:
            rest = mates & (everyone != k)
            assert row[k] == (np.prod(x[rest]) if mates[k] else 0.0)


def test_products_of_complex_numbers() -> None:
    z = np.array([1 + 2j, 0, 0.5 - 1j, 2j, 0, 1.0])
    wg.check_grads(lambda z: wg.segment_prod(z, IDS), [z], order=2)


def test_ties_share_evenly() -> None:
    x = np.array([2.0, 2.0, 1.0, 2.0, -1.0])
    ids = np.array([0, 0, 0, 0, 1])
    third = 1 / 3
    g = wg.grad(lambda x: wg.sum(wg.segment_max(x, ids)))(x)
    np.testing.assert_allclose(g, [third, third, 0, third, 1])
    g = wg.grad(lambda x: wg.sum(wg.segment_min(x, ids)))(-x)
    np.testing.assert_allclose(g, [third, third, 0, third, 1])


def test_nan_stays_in_its_segment() -> None:
    x = np.array([1.0, np.nan, 3.0, 4.0])
    ids = np.array([0, 0, 1, 1])
    for name in REDUCTIONS:
        y = REDUCTIONS[name][0](x, ids).numpy()
        assert np.isnan(y[0]) and np.isfinite(y[1]), name
    np.testing.assert_array_equal(
        wg.grad(lambda x: wg.sum(wg.segment_max(x, ids)))(x), [0, 1, 0, 1]
    )


def test_integers() -> None:
    x = np.array([3, 1, 2], np.int32)
    assert wg.segment_sum(x, [0, 0, 2]).dtype == wg.int64
    assert wg.segment_prod(x, [0, 0, 2]).tolist() == [3, 1, 2]
    assert wg.segment_max(x, [0, 0, 2]).tolist() == [3, -(2**31), 2]
    assert wg.segment_min(x, [0, 0, 2]).tolist() == [1, 2**31 - 1, 2]
    assert wg.segment_mean(x, [0, 0, 2]).tolist() == [2.0, 0.0, 2.0]
    assert wg.segment_sum(np.array([True, True]), [1, 1]).tolist() == [0, 2]


def test_logsumexp_does_not_overflow() -> None:
    inf = np.inf
    x = np.array([1000.0, 1000.0, -1000.0, -1000.0, -inf, inf, 5.0, -inf])
    ids = np.array([0, 0, 1, 1, 2, 3, 3, 1])
    value, pull = wg.vjp(lambda x: wg.segment_logsumexp(x, ids), x)
    log2 = np.log(2)
    np.testing.assert_allclose(np.asarray(value), [1000 + log2, log2 - 1000, -inf, inf])
    np.testing.assert_allclose(pull(np.ones(4))[0], [0.5, 0.5, 0.5, 0.5, 1, 1, 0, 0])


def test_softmax() -> None:
    inf = np.inf
    x = np.array([1000.0, 1000.0, -inf, -inf, 5.0, inf, -inf])
    ids = np.array([0, 0, 1, 1, 2, 2, 0])
    got = wg.segment_softmax(x, ids)
    np.testing.assert_allclose(got.numpy(), [0.5, 0.5, 0.5, 0.5, 0, 1, 0])
    shares = wg.segment_softmax(ROWS, IDS)
    np.testing.assert_allclose(wg.segment_sum(shares, IDS).numpy()[[0, 1, 3]], 1)
    assert wg.segment_softmax(ROWS[:0], []).shape == (0, 2)
    assert wg.segment_softmax(np.array([1, 1]), [0, 0]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64])
def test_sums_of_many_rows_agree_with_those_of_few(dtype: Any) -> None:
    random = np.random.default_rng(3)
    x = random.integers(-50, 50, (4000, 2, 3)).astype(dtype)
    ids = random.integers(0, 70, 4000)
    many = segments._sums(x, ids, 72)
    assert many.dtype == dtype
    np.testing.assert_array_equal(many, segments._accumulated(np.add, x, ids, 72, 0))
    y = np.where(np.arange(4000) == 7, np.inf, 1.0)[:, None] * np.ones(3)
    sums = segments._sums(y, ids, 72)
    assert np.isinf(sums).sum() == 3 and not np.isnan(sums).any()


def test_ids_are_copied() -> None:
    ids = np.array([0, 1])
    source = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(source)
        y = wg.segment_sum(source, ids)[0]
    ids[:] = 1
    assert tape.gradient(y, source).tolist() == [1.0, 0.0]


FUNCTIONS = [getattr(wg, f"segment_{name}") for name in (*REDUCTIONS, "softmax")]
BAD: dict[str, tuple[Any, Any, Any, str]] = {
    "lengths": (DATA, IDS[:-1], wg.ShapeError, r"\(5,\) for data of shape \(6,\).*\(6,\)"),
    "two axes": (ROWS, IDS[:, None], wg.ShapeError, "one id for each row"),
    "no axes": (1.0, IDS, wg.ShapeError, "no axes"),
    "floats": (DATA, IDS * 1.0, wg.DtypeError, "segment_ids of float64; expected integers"),
    "booleans": (DATA, IDS > 0, wg.DtypeError, "segment_ids of bool"),
    "negative": (DATA, IDS - 1, IndexError, "from -1 to 2"),
}


@pytest.mark.parametrize("make", [wg.asarray, on_strict], ids=["numpy", "strict"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BAD)
def test_ids_that_are_wrong(case: str, function: Any, make: Any) -> None:
    data, ids, error, words = BAD[case]
    with pytest.raises(error, match=f"{function.__name__}: .*{words}"):
        function(make(np.asarray(data)), ids)


@pytest.mark.parametrize("function", FUNCTIONS[:-1], ids=lambda f: f.__name__)
def test_numbers_of_segments_that_are_wrong(function: Any) -> None:
    with pytest.raises(IndexError, match="from 0 to 3 of 3 segments; expected 0 to 2"):
        function(DATA, IDS, num_segments=3)
    with pytest.raises(ValueError, match="num_segments=-1"):
        function(DATA[:0], [], num_segments=-1)
    with pytest.raises(TypeError, match="float"):
        function(DATA, IDS, num_segments=4.0)


@pytest.mark.parametrize("name", ["max", "min", "logsumexp", "softmax"])
def test_complex_numbers_have_no_order(name: str) -> None:
    with pytest.raises(wg.DtypeError, match=f"segment_{name}: got complex128; expected real"):
        getattr(wg, f"segment_{name}")(DATA * 1j, IDS)


# -- bincount -----------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 15))
def test_bincount(values: list[int], minlength: int) -> None:
    x = np.array(values, int)
    expected = np.bincount(x, minlength=minlength)
    got = wg.bincount(x, minlength=minlength)
    assert_near(got, expected)
    weights = np.cos(np.arange(len(x)))
    sums = np.bincount(x, weights, minlength).astype(float)  # NumPy: integers, if x is empty
    assert_near(wg.bincount(x, weights=weights, minlength=minlength), sums)


def test_bincount_gives_derivatives_to_weights() -> None:
    wg.check_grads(lambda w: wg.bincount(IDS, weights=w, minlength=6), [DATA], order=2)
    check_on_strict(lambda w: wg.bincount(IDS, weights=w), [DATA])
    assert type(wg.bincount(on_strict(IDS)).data) is type(on_strict(IDS).data)
    assert wg.bincount(IDS, weights=[1, 1, 1, 1, 1, 1]).dtype == wg.float64
    assert wg.bincount(IDS, weights=DATA.astype(np.float32)).dtype == wg.float32


@pytest.mark.parametrize(
    ("x", "params", "error", "words"),
    [
        (DATA, {}, wg.DtypeError, "x of float64"),
        (IDS[:, None], {}, wg.ShapeError, r"\(6, 1\); expected one axis"),
        (IDS - 1, {}, IndexError, "has -1; expected 0 or more"),
        (IDS, {"weights": DATA[1:]}, wg.ShapeError, r"\(5,\) for x of shape \(6,\)"),
        (IDS, {"minlength": -1}, ValueError, "minlength=-1"),
    ],
)
def test_bincount_of_what_is_wrong(x: Any, params: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=f"bincount: .*{words}"):
        wg.bincount(x, **params)


# -- x.at[key] ----------------------------------------------------------------------------------

KEYS: dict[str, Any] = {
    "duplicates": np.array([1, 0, 1, 1]),
    "rows": (np.array([0, 0, 2]), slice(0, 2)),
    "slice": slice(None, None, 2),
    "integer": 1,
    "mask": np.array([True, False, True]),
}
UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("method", UFUNCS)
def test_updates(method: str, key: str) -> None:
    where = KEYS[key]
    x = np.array([[1.3, 0.4, 2.2], [0.7, 1.9, 1.1], [0.25, 3.1, 0.9]])
    count = np.empty(x.shape)[where].size
    values = (0.317 + 0.47 * np.arange(count) % 1.7).reshape(x[where].shape)
    expected = x.copy()
    UFUNCS[method].at(expected, where, values)

    def update(x: Any, values: Any) -> Any:
        return getattr(x.at[where], method)(values)

    assert_near(update(wg.asarray(x), wg.asarray(values)), expected)
    wg.check_grads(update, [x, values], order=2)
    check_on_strict(update, [x, values])
    single = wg.asarray(x.astype(np.float32))
    assert update(single, 2.0).dtype == wg.float32


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["max", "min"])
def test_updates_share_ties_evenly(sign: float) -> None:
    x, values = sign * np.array([1.0, 5.0, 2.0]), sign * np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    key = np.array([0, 0, 1, 2, 2])

    def update(x: Any, values: Any) -> Any:
        return x.at[key].max(values) if sign > 0 else x.at[key].min(values)

    _, gradients = vjp(update, [wg.asarray(x), wg.asarray(values)], [np.array([6.0, 1.0, 1.0])])
    assert_near(gradients[0], np.array([2.0, 1.0, 0.0]))
    assert_near(gradients[1], np.array([2.0, 2.0, 0.0, 0.5, 0.5]))


def test_updates_with_nan() -> None:
    x, values = np.array([1.0, np.nan]), np.array([np.nan, 3.0])
    y = wg.asarray(x).at[:].max(values)
    assert np.isnan(y.numpy()).all()


@pytest.mark.parametrize("row", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [2.0, 0.0, 0.0]])
def test_multiplying_by_zeros(row: list[float]) -> None:
    key = np.array([0, 0, 0])
    x, values = np.array([1.5, 4.0]), np.array(row)
    wg.check_grads(lambda x, v: x.at[key].multiply(v), [x, values], order=2)
    g = wg.grad(lambda v: wg.asarray(x).at[key].multiply(v)[0])(values)
    np.testing.assert_allclose(g, [1.5 * np.prod(np.delete(values, i)) for i in range(3)])
    wg.check_grads(lambda x, v: x.at[key].multiply(v), [x * 0, values], order=2)


def test_updates_of_integers() -> None:
    x = wg.asarray([1, 2, 3])
    key = np.array([0, 0, 2])
    assert x.at[key].multiply(5).tolist() == [25, 2, 15]
    assert x.at[key].max([7, 9, 1]).tolist() == [9, 2, 3]
    assert x.at[key].min([7, -9, 1]).tolist() == [-9, 2, 1]
    assert x.at[key].subtract(1).tolist() == [-1, 2, 2]
    assert x.at[key].power(2).tolist() == [1, 2, 9]
    with pytest.raises(wg.DtypeError, match="cannot hold"):
        x.at[0].max(1.5)
    with pytest.raises(wg.ShapeError, match=r"\(2,\) for a selection of shape \(3,\)"):
        x.at[key].max([1, 2])
