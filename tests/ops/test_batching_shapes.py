"""vmap of what moves, selects, replaces, sorts and groups elements, with indices that differ.

That each operation by itself is a loop under vmap is tested in `test_modes`; here is what its
samples cannot have: keys, ids, orders and levels that differ between examples, and nested vmaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from wengert.engine import examples

RANDOM = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _no_operation_is_done_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(op: Any, *args: Any) -> Any:
        raise AssertionError(f"{op.name} was called once for each example")

    monkeypatch.setattr(examples, "one_by_one", refused)


def looped(function: Callable[..., Any], in_axes: tuple[int | None, ...], *args: Any) -> Any:
    """Return what vmap returns, by a loop."""
    size = next(len(a) for a, axis in zip(args, in_axes, strict=True) if axis == 0)
    results = []
    for i in range(size):
        here = [a if axis is None else a[i] for a, axis in zip(args, in_axes, strict=True)]
        results.append(np.asarray(wg.asarray(function(*map(wg.asarray, here)))))
    return np.stack(results)


def agree(function: Callable[..., Any], in_axes: tuple[int | None, ...], *args: Any) -> None:
    """Compare values and gradients, of sources inside and outside, with a loop.

    The function is of an array x and of what has no derivative.
    """
    got = wg.vmap(function, in_axes)(*args)
    np.testing.assert_allclose(got, looped(function, in_axes, *args), rtol=1e-12, atol=1e-12)
    if not np.size(got):
        return

    def scalar(*given: Any) -> Any:
        y = function(*given)
        return wg.sum(wg.sin(y) * np.cos(np.arange(y.size)).reshape(y.shape))

    expected = looped(wg.grad(scalar), in_axes, *args)
    inside = wg.vmap(wg.grad(scalar), in_axes)(*args)
    np.testing.assert_allclose(inside, expected, rtol=1e-9, atol=1e-12)
    outside = wg.grad(lambda x, *rest: wg.sum(wg.vmap(scalar, in_axes)(x, *rest)))(*args)
    if in_axes[0] is None:
        expected = expected.sum(axis=0)
    np.testing.assert_allclose(outside, expected, rtol=1e-9, atol=1e-12)

    def tangent(*given: Any) -> Any:
        t = np.cos(np.arange(given[0].size)).reshape(given[0].shape)
        return wg.jvp(lambda x: function(x, *given[1:]), (given[0],), (t,))[1]

    np.testing.assert_allclose(
        wg.vmap(tangent, in_axes)(*args), looped(tangent, in_axes, *args), rtol=1e-9, atol=1e-12
    )


# -- keys -----------------------------------------------------------------------------------------

LENGTHS = (3, 4, 2)
EXAMPLES = 5


@st.composite
def keys(draw: Any) -> tuple[list[Any], list[Any]]:
    """Return parts of a key of an array of LENGTHS, and for each if it differs, or None."""
    parts: list[Any] = []
    shapes: list[Any] = [(), (2,), (1,), (3, 1), (3, 2), (1, 2)]
    for n in LENGTHS:
        if draw(st.integers(0, 6)) == 0:
            parts.append(None)
        kind = draw(st.sampled_from(["slice", "int", "same", "differs", "differs"]))
        if kind == "slice":
            parts.append(
                draw(st.sampled_from([slice(None), slice(1, None), slice(None, None, -1)]))
            )
        elif kind == "int":
            parts.append(draw(st.integers(-n, n - 1)))
        else:
            shape = draw(st.sampled_from(shapes))
            lead = (EXAMPLES,) if kind == "differs" else ()
            size = int(np.prod((*lead, *shape)))
            places = draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
            array = np.array(places, int).reshape((*lead, *shape))
            parts.append(("differs", array) if kind == "differs" else array)
    cut = draw(st.integers(0, 3))
    if cut == 0:
        parts = [*parts[:-1], Ellipsis] if parts[-1] is not None else parts
    elif cut == 1:
        parts = [Ellipsis, *parts[1:]] if parts[0] is not None else parts
    return parts, [p[1] for p in parts if isinstance(p, tuple)]


def keyed(parts: list[Any], given: Any) -> tuple[Any, ...]:
    rest = iter(given)
    return tuple(next(rest) if isinstance(p, tuple) else p for p in parts)


def broadcasts(parts: list[Any]) -> bool:
    arrays = [p[1][0] if isinstance(p, tuple) else p for p in parts]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays if isinstance(a, (np.ndarray, np.generic))))
    except ValueError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(keys(), st.booleans())
def test_a_key_of_any_form_may_differ_between_examples(found: Any, x_differs: bool) -> None:
    parts, differing = found
    if not broadcasts(parts) or not (differing or x_differs):
        return
    x = RANDOM.normal(size=(EXAMPLES, *LENGTHS) if x_differs else LENGTHS)
    in_axes = (0 if x_differs else None, *[0] * len(differing))
    agree(lambda x, *places: wg.asarray(x)[keyed(parts, places)], in_axes, x, *differing)


def test_an_index_out_of_range_in_any_example_is_found() -> None:
    x = wg.arange(4.0)
    with pytest.raises(IndexError, match="index 4 is out of range"):
        wg.vmap(lambda i: x[i])(np.array([0, 4, 1]))
    with pytest.raises(IndexError, match="index -5 is out of range"):
        wg.vmap(lambda i: x.at[i].set(0.0))(np.array([0, -5, 1]))
    with pytest.raises(IndexError, match="float64"):
        wg.vmap(lambda i: x[i])(np.array([0.0, 1.0]))


def test_a_mask_that_differs_has_no_shape() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for function in (
        lambda x: x[x > 1],
        lambda x: x.at[x > 1].set(0.0),
        lambda x: wg.nonzero(x),
        lambda x: wg.unique_values(x),
        lambda x: wg.repeat(x, wg.astype(x, wg.int64)),
        lambda x: x[0 : x[0]],
    ):
        with pytest.raises(TypeError, match="inside of vmap a tensor of shape"):
            wg.vmap(function)(x)


def test_what_is_zero_by_structure_stays_zero() -> None:
    """The slope of the square root at 0 is infinite, and those elements are not selected."""
    x, places = np.zeros((3, 4)), np.array([[0, 2], [1, 2], [3, 0]])
    x[np.arange(3)[:, None], places] = [1.0, 4.0]

    def root(x: Any, i: Any) -> Any:
        return wg.sum(wg.sqrt(x)[i])

    def rest(x: Any, i: Any) -> Any:
        return wg.sum(wg.sqrt(wg.abs(x)).at[wg.argsort(x)[:2]].set(0.0)) + x[i[0]]

    for function in (root, rest):
        inside = wg.vmap(wg.grad(function))(x, places)
        assert np.isfinite(inside).all()
        np.testing.assert_allclose(inside, looped(wg.grad(function), (0, 0), x, places))
        outside = wg.grad(lambda x, f=function: wg.sum(wg.vmap(f)(x, places)))(x)
        np.testing.assert_allclose(outside, inside)


def test_masks_and_keys_that_differ_meet() -> None:
    x, places = RANDOM.normal(size=(4, 6)), RANDOM.integers(6, size=(4, 5))
    known = np.array([True, False, True, True, False])
    agree(lambda x, i: wg.where(known, wg.asarray(x)[i], 0.0), (0, 0), x, places)
    agree(lambda x, i: wg.tril(wg.asarray(x)[i]), (0, 0), x, places)
    agree(lambda x, i: wg.where(known, wg.asarray(x)[i], 0.0), (None, 0), x[0], places)
    agree(
        lambda x, i: wg.where(np.arange(6) > 2, wg.asarray(x).at[i].set(x[:5] ** 2), 0.0),
        (0, 0),
        x,
        places,
    )


def test_gradients_of_selections_that_differ() -> None:
    x, places = RANDOM.normal(size=(3, 4)), np.array([[0, 2], [1, 1], [3, 0]])

    def of_part(x: Any, i: Any) -> Any:
        with wg.GradientTape() as tape:
            x = wg.asarray(x)
            tape.watch(x)
            y = wg.sin(x) * wg.sum(x)
        return tape.gradient(y.at[i], x.at[i])

    got = wg.vmap(of_part)(x, places)
    np.testing.assert_allclose(got, looped(of_part, (0, 0), x, places))


def test_nested_vmaps_with_keys_of_either_level() -> None:
    x = RANDOM.normal(size=(3, 4, 5))
    i, j = RANDOM.integers(4, size=(2, 2)), RANDOM.integers(5, size=(6, 3))

    def picked(x: Any, i: Any, j: Any) -> Any:
        return wg.asarray(x)[:, i[:, None], j]

    got = wg.vmap(wg.vmap(picked, (None, None, 0)), (None, 0, None))(x, i, j)
    assert got.shape == (2, 6, 3, 2, 3)
    for a in range(2):
        for b in range(6):
            np.testing.assert_array_equal(got[a, b], x[:, i[a][:, None], j[b]])

    def updated(x: Any, i: Any, j: Any) -> Any:
        x = wg.asarray(x)
        x = x.at[0, i[0], j].set(x[1, i[1], j] ** 2)
        return x.at[..., i, j[:2]].multiply(2.0)

    def scalar(x: Any, i: Any, j: Any) -> Any:
        return wg.sum(updated(x, i, j) ** 3)

    inner = wg.vmap(wg.vmap(wg.grad(scalar), (None, None, 0)), (None, 0, None))(x, i, j)
    for a in range(2):
        for b in range(6):
            np.testing.assert_allclose(inner[a, b], wg.grad(scalar)(x, i[a], j[b]))


def test_second_derivatives_through_keys_that_differ() -> None:
    x, places = RANDOM.normal(size=(3, 4)), np.array([[0, 2], [1, 1], [3, 0]])

    def scalar(x: Any, i: Any) -> Any:
        x = wg.asarray(x)
        return wg.sum(x[i] ** 3 * x[1]) + wg.sum(wg.sin(x.at[i].set(x[:2] ** 2)))

    def hessian_row(x: Any, i: Any) -> Any:
        return wg.grad(lambda x: wg.sum(wg.grad(scalar)(x, i) * np.arange(4.0)))(x)

    got = wg.vmap(hessian_row)(x, places)
    np.testing.assert_allclose(got, looped(hessian_row, (0, 0), x, places), rtol=1e-9)


# -- functions with indices -----------------------------------------------------------------------


@pytest.mark.parametrize("x_axis", [0, None])
def test_functions_of_indices_that_differ(x_axis: int | None) -> None:
    x = RANDOM.normal(size=(4, 3, 5) if x_axis == 0 else (3, 5))
    for function, places in (
        (lambda x, i: wg.take(x, i, axis=1), RANDOM.integers(-5, 5, size=(4, 2))),
        (lambda x, i: wg.take(x, i), RANDOM.integers(15, size=(4, 2, 2))),
        (lambda x, i: wg.take(x, i, axis=0), RANDOM.integers(3, size=4)),
        (lambda x, i: wg.take_along_axis(x, i, axis=1), RANDOM.integers(5, size=(4, 3, 2))),
        (lambda x, i: wg.take_along_axis(x, i, axis=0), RANDOM.integers(3, size=(4, 1, 5))),
        (lambda x, i: np.take_along_axis(x, i, 1), RANDOM.integers(5, size=(4, 3, 2))),
        (lambda x, i: wg.roll(x, i, axis=1), RANDOM.integers(-9, 9, size=4)),
        (lambda x, i: wg.roll(x, i), RANDOM.integers(-9, 9, size=4)),
        (lambda x, i: x[:, [i[0], i[1], 2]], RANDOM.integers(-5, 5, size=(4, 2))),
        (lambda x, i: x @ wg.eye(5)[i], RANDOM.integers(5, size=4)),
        (lambda x, i: x @ wg.zeros(5).at[i].set(1.0), RANDOM.integers(5, size=(4, 2))),
    ):
        agree(lambda x, i, f=function: f(wg.asarray(x), i), (x_axis, 0), x, places)


def test_sorting() -> None:
    x = RANDOM.normal(size=(4, 3, 5))
    agree(lambda x: wg.sort(x, axis=0), (0,), x)
    agree(lambda x: wg.sort(x, descending=True), (0,), x)
    agree(lambda x: wg.asarray(x)[wg.argsort(x[:, 0])], (0,), x)
    agree(lambda x: wg.topk(x, 2, axis=1).values, (0,), x)
    agree(lambda x: wg.median(x, axis=0), (0,), x)
    agree(lambda x: wg.quantile(x, np.array([0.1, 0.7]), axis=(0, 1)), (0,), x)
    agree(np.sort, (0,), x)


@pytest.mark.parametrize("method", ["linear", "hazen", "lower", "midpoint"])
def test_quantiles_of_levels_that_differ(method: str) -> None:
    x, q = RANDOM.normal(size=(4, 6)), RANDOM.uniform(size=(4, 2))
    for x_axis in (0, None):
        here = x if x_axis == 0 else x[0]
        agree(lambda x, q: wg.quantile(x, q, method=method), (x_axis, 0), here, q)
        agree(lambda x, q: wg.percentile(x, 100 * q[0], method=method), (x_axis, 0), here, q)
    if method in ("linear", "hazen"):  # with the others a level has no derivative
        agree(lambda q, x: wg.quantile(x, q, method=method), (0, 0), q, x)
        agree(lambda q, x: wg.quantile(x, q, method=method), (0, None), q, x[0])


def test_nan_is_the_quantile_of_the_example_that_has_it() -> None:
    x = RANDOM.normal(size=(3, 4))
    x[1, 2] = np.nan
    got = wg.vmap(wg.median)(x)
    np.testing.assert_array_equal(np.isnan(got), [False, True, False])


@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_in_arrays_that_differ(side: str) -> None:
    x1 = np.sort(RANDOM.integers(6, size=(4, 7)).astype(float), axis=1)
    x1[2, -2:] = np.nan
    x2 = RANDOM.integers(-1, 8, size=(4, 2, 3)).astype(float)
    x2[1, 0, 0] = x2[2, 1, 1] = np.nan
    for axes in ((0, 0), (0, None), (None, 0)):
        given = [a if axis == 0 else a[2] for a, axis in zip((x1, x2), axes, strict=True)]
        got = wg.vmap(lambda a, b: wg.searchsorted(a, b, side=side), axes)(*given)
        for i in range(4):
            here = [a[i] if axis == 0 else a for a, axis in zip(given, axes, strict=True)]
            np.testing.assert_array_equal(got[i], np.searchsorted(*here, side=side))
    empty = wg.vmap(lambda a, b: wg.searchsorted(a, b, side=side))(x1[:, :0], x2)
    np.testing.assert_array_equal(empty, np.zeros((4, 2, 3)))


def test_searching_with_a_sorter_and_membership() -> None:
    x, y = RANDOM.integers(9, size=(4, 5)), RANDOM.integers(9, size=(4, 2, 2))

    def sought(x: Any, y: Any) -> Any:
        return wg.searchsorted(x, y, sorter=wg.argsort(x))

    np.testing.assert_array_equal(wg.vmap(sought)(x, y), looped(sought, (0, 0), x, y))
    for invert in (False, True):
        got = wg.vmap(lambda x, y, k=invert: wg.isin(y, x, invert=k))(x, y)
        expected = [np.isin(b, a, invert=invert) for a, b in zip(x, y, strict=True)]
        np.testing.assert_array_equal(got, expected)


# -- updates --------------------------------------------------------------------------------------

UPDATES = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("axes", [(0, 0, 0), (0, 0, None), (None, 0, 0), (0, None, 0)])
def test_updates_at_places_that_differ(update: str, axes: tuple[Any, ...]) -> None:
    arrays = (
        RANDOM.uniform(0.5, 2, size=(4, 3, 5)),
        RANDOM.uniform(0.5, 2, size=(4, 3, 2)),
        RANDOM.integers(-5, 5, size=(4, 2)),
    )
    x, v, places = (a if axis == 0 else a[1] for a, axis in zip(arrays, axes, strict=True))

    def at_columns(x: Any, v: Any, i: Any) -> Any:
        return getattr(wg.asarray(x).at[:, i], update)(v)

    def at_rows(x: Any, v: Any, i: Any) -> Any:
        return getattr(wg.asarray(x).at[i % 3, 1:3], update)(v[:2])

    def apart(x: Any, v: Any, i: Any) -> Any:
        return getattr(wg.asarray(x[..., None]).at[0, :, i * 0], update)(v[0, :, None])

    for function in (at_columns, at_rows, apart):
        agree(function, axes, x, v, places)
        swapped = (axes[1], axes[0], axes[2])
        agree(lambda v, x, i, f=function: f(x, v, i), swapped, v, x, places)


@pytest.mark.parametrize("update", UPDATES)
def test_updates_at_the_same_place_in_some_examples(update: str) -> None:
    x, v = RANDOM.uniform(0.5, 2, size=(3, 4)), RANDOM.uniform(0.5, 2, size=(3, 5))
    places = np.array([[0, 1, 2, 3, 0], [2, 2, 2, 1, 1], [3, 2, 3, 0, 3]])
    agree(lambda x, v, i: getattr(wg.asarray(x).at[i], update)(v), (0, 0, 0), x, v, places)
    agree(lambda v, x, i: getattr(wg.asarray(x).at[i], update)(v), (0, None, 0), v, x[0], places)
    agree(lambda x, v: getattr(wg.asarray(x).at[places[2]], update)(v), (0, 0), x, v)


def test_assignment() -> None:
    x, i = RANDOM.normal(size=(3, 4)), np.array([2, 0, -1])

    def assigned(x: Any, i: Any) -> Any:
        y = wg.asarray(x) * 2.0
        y[i] = x[0] ** 2
        y[1:3] += y[:2]
        return y

    agree(assigned, (0, 0), x, i)

    def filled(x: Any, i: Any) -> Any:
        y = wg.zeros(4)  # the same for all examples, until it gets what is not
        y[i] = wg.asarray(x)[0]
        return y

    agree(filled, (0, 0), x, i)

    def partly(x: Any) -> Any:
        part = x[1:]
        part[0] = 1.0
        return part

    with pytest.raises(TypeError, match="a part of another tensor"):
        wg.vmap(partly)(wg.asarray(x))


# -- segments -------------------------------------------------------------------------------------

SEGMENTS = [
    wg.segment_sum,
    wg.segment_prod,
    wg.segment_mean,
    wg.segment_max,
    wg.segment_min,
    wg.segment_logsumexp,
    wg.segment_softmax,
]


@pytest.mark.parametrize("function", SEGMENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)])
def test_segments_that_differ(function: Any, axes: tuple[Any, ...]) -> None:
    data = RANDOM.normal(size=(4, 7, 2))
    ids = np.concatenate([np.tile(np.arange(3), (4, 1)), RANDOM.integers(3, size=(4, 4))], axis=1)
    data, ids = (a if axis == 0 else a[1] for a, axis in zip((data, ids), axes, strict=True))
    options = {} if function is wg.segment_softmax else {"num_segments": 3}
    agree(lambda x, i: function(x, i, **options), axes, data, ids)


def test_products_of_segments_with_zeros() -> None:
    data, ids = RANDOM.normal(size=(3, 6)), RANDOM.integers(2, size=(3, 6))
    data[0, 1] = data[1, :2] = 0.0
    agree(lambda x, i: wg.segment_prod(x, i, num_segments=2), (0, 0), data, ids)


def test_the_number_of_segments_must_be_known() -> None:
    data, ids = RANDOM.normal(size=(3, 6)), RANDOM.integers(2, size=(3, 6))
    with pytest.raises(ValueError, match="num_segments=n"):
        wg.vmap(wg.segment_sum)(data, ids)
    with pytest.raises(ValueError, match="minlength above"):
        wg.vmap(lambda i: wg.bincount(i))(ids)
    got = wg.vmap(lambda i: wg.bincount(i, minlength=4))(ids)
    np.testing.assert_array_equal(got, [np.bincount(i, minlength=4) for i in ids])
    agree(lambda w, i: wg.bincount(i, weights=w, minlength=4), (0, 0), data, ids)
    agree(lambda w, i: wg.bincount(i, weights=w, minlength=4), (None, 0), data[0], ids)


def test_nested_vmaps_of_segments_and_searches() -> None:
    data, ids = RANDOM.normal(size=(3, 6)), RANDOM.integers(2, size=(4, 6))

    def scalar(x: Any, i: Any) -> Any:
        return wg.sum(wg.segment_prod(x, i, num_segments=2) * wg.sum(wg.segment_softmax(x, i)[:2]))

    got = wg.vmap(wg.vmap(wg.grad(scalar), (None, 0)), (0, None))(data, ids)
    for a in range(3):
        for b in range(4):
            np.testing.assert_allclose(got[a, b], wg.grad(scalar)(data[a], ids[b]), rtol=1e-9)
    edges = np.sort(data, axis=1)
    places = wg.vmap(wg.vmap(wg.searchsorted, (None, 0)), (0, None))(edges, data)
    for a in range(3):
        for b in range(3):
            np.testing.assert_array_equal(places[a, b], np.searchsorted(edges[a], data[b]))


# -- shapes ---------------------------------------------------------------------------------------


def test_shapes_of_nested_vmaps() -> None:
    x, y = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(3, 2))

    def moved(x: Any, y: Any) -> Any:
        x = wg.broadcast_to(wg.reshape(wg.tile(x, (2, 2)), (2, -1)), (3, 2, 8))
        x = wg.concat([x, wg.broadcast_to(y, (3, 2, 2))], axis=2)
        x = wg.pad(wg.flip(wg.roll(x, 3, axis=2), axis=0), ((0, 1), (0, 0), (2, 0)), "edge")
        return wg.diagonal(wg.permute_dims(x, (2, 0, 1)), offset=1, axis1=1, axis2=0)

    got = wg.vmap(wg.vmap(moved, (0, None)), (0, None))(x, y[0])
    for a in range(2):
        for b in range(3):
            np.testing.assert_array_equal(got[a, b], moved(x[a, b], y[0]))
    both = wg.vmap(wg.vmap(moved, (None, 0)), (0, None))(x[:, 0], y)
    for a in range(2):
        for b in range(3):
            np.testing.assert_array_equal(both[a, b], moved(x[a, 0], y[b]))


def test_triangles_of_a_line() -> None:
    x = RANDOM.normal(size=(3, 4))
    agree(lambda x: wg.tril(x), (0,), x)
    agree(lambda x: wg.triu(x, k=1), (0,), x)
    np.testing.assert_array_equal(wg.tril(x[0]), np.tril(x[0]))


def test_no_examples() -> None:
    none, x = np.zeros((0, 3)), np.zeros((0, 2), int)
    assert wg.vmap(lambda x, i: wg.asarray(x)[i])(none, x).shape == (0, 2)
    assert wg.vmap(lambda i: wg.ones((4, 5))[:, i])(x).shape == (0, 4, 2)
    assert wg.vmap(lambda i: wg.ones((4, 5)).at[:, i].set(0.0))(x).shape == (0, 4, 5)
    assert wg.vmap(lambda x, i: wg.segment_sum(x[:2], i, num_segments=7))(none, x).shape == (0, 7)
    assert wg.vmap(lambda x: wg.median(x))(none).shape == (0,)
    assert wg.vmap(lambda x, i: wg.searchsorted(x, i))(none, x).shape == (0, 2)


def test_other_libraries() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray(RANDOM.normal(size=(3, 4)))
    i = strict.asarray([[0, 2], [1, 1], [3, 0]])

    def scalar(x: Any, i: Any) -> Any:
        y = x.at[i].set(x[:2] ** 2).at[i].multiply(2.0)
        return wg.sum(y[i] ** 2) + wg.sum(wg.segment_mean(x[:2], i, num_segments=4) * x)

    got = wg.vmap(wg.grad(scalar))(x, i)
    expected = wg.vmap(wg.grad(scalar))(np.asarray(x), np.asarray(i))
    np.testing.assert_allclose(np.asarray(got), expected)
