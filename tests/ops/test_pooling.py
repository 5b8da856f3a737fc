"""Pooling, unfolding and interpolation: special points, parts, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import apart, assert_near, check_on_strict, weights_like
from wengert.backends import NUMPY, numpy_pooling, numpy_tiles
from wengert.backends.numpy_windows import Geometry
from wengert.ops.neural import pooling, resampling, unfolding

X = apart((2, 3, 7, 6))


def gradient(function: Any, x: Any) -> Any:
    """Return the gradient of the sum of a function."""
    return wg.grad(lambda x: wg.sum(function(x)))(np.asarray(x, float))


def part_and_whole(function: Any, x: np.ndarray, key: Any) -> tuple[Any, Any]:
    """Return the gradient of y[key], and that of all of y with zeros around the key."""
    t = wg.asarray(x)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(t)
        y = function(t)
        part = y[key]
    (w,) = weights_like(part)
    around = np.zeros(y.shape, y.dtype)
    around[key] = w
    return (
        tape.gradient(part, t, output_gradients=w, dense=False),
        tape.gradient(y, t, output_gradients=around),
    )


# -- the largest ------------------------------------------------------------------------------


def test_max_pool_of_numbers() -> None:
    x = np.array([[[1.0, 5.0, 2.0, 3.0, 4.0]]])
    assert wg.nn.max_pool1d(x, 2).tolist() == [[[5, 3]]]
    assert wg.nn.max_pool1d(x, 2, ceil_mode=True).tolist() == [[[5, 3, 4]]]
    assert wg.nn.max_pool1d(-x, 3, stride=2, padding=1).tolist() == [[[-1, -2, -3]]]
    assert wg.nn.max_pool1d(x, 2, stride=1, dilation=3).tolist() == [[[3, 5]]]
    values, places = wg.nn.max_pool1d(x[0], 2, return_indices=True)
    assert values.tolist() == [[5, 3]] and places.tolist() == [[1, 3]]


@pytest.mark.parametrize("ties", ["even", "first"])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 4), (1, 2), (3, 1), (2, 8)], ids=str)
def test_windows_that_cover_images(
    kernel: tuple[int, int], ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (3, 2)
    random = np.random.default_rng(5)
    shape = (2, 3, size[0] * kernel[0], size[1] * kernel[1])
    geometry = Geometry(kernel, (0, 0), (1, 1))
    g = random.standard_normal((2, 3, *size))
    for x in (random.standard_normal(shape), random.integers(0, 3, shape).astype(float)):
        y = numpy_pooling.max_pool(x, kernel=kernel, size=size, geometry=geometry)
        given = {"inputs": x, "largest": y, "kernel": kernel, "geometry": geometry, "ties": ties}
        assert numpy_tiles.cover(x, y, kernel, geometry)
        got = numpy_pooling.max_pool_spread(g, **given)
        with monkeypatch.context() as patch:
            patch.setattr(numpy_tiles, "cover", lambda *_: False)
            expected = numpy_pooling.max_pool_spread(g, **given)
        np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_ties_share_evenly() -> None:
    x = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 2.0, 2.0]])[None]
    got = gradient(lambda x: wg.nn.max_pool2d(x, 2), x)
    np.testing.assert_allclose(got, [[[1 / 3, 1 / 3, 0, 0], [1 / 3, 0, 0.5, 0.5]]])
    overlapping = gradient(lambda x: wg.nn.max_pool1d(x, 2, stride=1), [[1.0, 1.0, 1.0]])
    assert overlapping.tolist() == [[0.5, 1.0, 0.5]]


@pytest.mark.parametrize("padding", [0, 1])
def test_infinities_and_nan(padding: int) -> None:
    low = np.full((1, 1, 4), -np.inf)
    assert np.isneginf(wg.nn.max_pool1d(low, 2, padding=padding).numpy()).all()
    got = gradient(lambda x: wg.nn.max_pool1d(x, 2, padding=padding), low)
    assert got.tolist() == ([[[0.5] * 4]] if padding == 0 else [[[1, 0.5, 0.5, 1]]])
    nan = np.array([[[1.0, np.nan, 3.0, 4.0]]])
    y = wg.nn.max_pool1d(nan, 2)
    assert math.isnan(y[0, 0, 0]) and y[0, 0, 1] == 4
    assert gradient(lambda x: wg.nn.max_pool1d(x, 2), nan).tolist() == [[[0, 1, 0, 1]]]
    assert wg.nn.max_pool1d(nan, 2, return_indices=True)[1].tolist() == [[[1, 3]]]


def test_an_infinite_cotangent_stays_where_it_is() -> None:
    x = wg.asarray([[[1.0, 2.0, 3.0, 4.0]]])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.nn.max_pool1d(x, 2)
    g = tape.gradient(y, x, output_gradients=np.array([[[np.inf, 1.0]]]))
    assert g.tolist() == [[[0, math.inf, 0, 1]]]


def test_a_window_that_sees_nothing() -> None:
    """A dilated window of two can have its taps before and after a short array."""
    x = np.array([[[3.0]]])
    y = wg.nn.max_pool1d(x, 2, dilation=4, padding=2, stride=1)
    assert y.tolist() == [[[-math.inf]]]
    assert gradient(lambda x: wg.nn.max_pool1d(x, 2, dilation=4, padding=2), x).tolist() == [[[0]]]


def test_integers_have_a_largest() -> None:
    x = np.arange(-6, 6).reshape(1, 12)
    y = wg.nn.max_pool1d(x, 3, padding=1)
    assert y.dtype == wg.int64 and y.tolist() == [[-5, -2, 1, 4]]
    assert wg.nn.max_pool1d(x.astype(np.uint8) // 50, 12).dtype == wg.uint8
    assert wg.nn.adaptive_max_pool1d(x, 5).dtype == wg.int64


@pytest.mark.parametrize("output", [1, 2, 3, 5, 8])
def test_adaptive_pools_are_slices(output: int) -> None:
    starts = [i * 7 // output for i in range(output)]
    stops = [-(-(i + 1) * 7 // output) for i in range(output)]
    for name, reduce in (("max", np.max), ("avg", np.mean)):
        y = getattr(wg.nn, f"adaptive_{name}_pool2d")(X, (output, None))
        expected = [reduce(X[:, :, a:b], axis=2) for a, b in zip(starts, stops, strict=True)]
        assert_near(y, np.stack(expected, axis=2))
    wg.check_grads(lambda x: wg.nn.adaptive_max_pool2d(x, (output, 4)), [X], order=2)
    wg.check_grads(lambda x: wg.nn.adaptive_avg_pool2d(x, (output, 4)), [X], order=2)


def test_ties_in_uneven_windows_share_evenly() -> None:
    got = gradient(lambda x: wg.nn.adaptive_max_pool1d(x, 2), np.ones((1, 3)))
    np.testing.assert_allclose(got, [[0.5, 1, 0.5]])
    low = np.full((1, 5), -np.inf)
    got = gradient(lambda x: wg.nn.adaptive_max_pool1d(x, 2), low)
    np.testing.assert_allclose(got, [[1 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 3]])


# -- means ------------------------------------------------------------------------------------


def test_avg_pool_of_numbers() -> None:
    x = np.array([[[1.0, 5.0, 2.0, 3.0, 4.0]]])
    assert wg.nn.avg_pool1d(x, 2).tolist() == [[[3, 2.5]]]
    assert wg.nn.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[[3, 2.5, 4]]]
    padded = wg.nn.avg_pool1d(x, 2, padding=1)
    assert padded.tolist() == [[[0.5, 3.5, 3.5]]]
    assert wg.nn.avg_pool1d(x, 2, padding=1, count_include_pad=False).tolist() == [[[1, 3.5, 3.5]]]
    assert wg.nn.avg_pool1d(x, 2, padding=((1, 0),)).tolist() == [[[0.5, 3.5, 3.5]]]
    same = wg.nn.avg_pool1d(x, 2, padding="same", count_include_pad=False)
    assert same.tolist() == [[[3, 2.5, 4]]]


def test_means_of_integers_are_fractions() -> None:
    assert wg.nn.avg_pool1d(np.array([[1, 2]]), 2).tolist() == [[1.5]]
    assert wg.nn.adaptive_avg_pool1d(np.array([[1, 2]]), 1).dtype == wg.float64


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_dtypes_stay(dtype: str) -> None:
    x = X.astype(dtype)
    functions = [
        lambda x: wg.nn.avg_pool2d(x, 3, padding=1, count_include_pad=False),
        lambda x: wg.nn.adaptive_avg_pool2d(x, 4),
        lambda x: wg.nn.fold(wg.nn.unfold(x, 2), (7, 6), 2),
        lambda x: wg.nn.interpolate(x, 9, mode="bicubic"),
        lambda x: wg.nn.interpolate(x, 9),
    ]
    if dtype != "complex64":
        functions.append(lambda x: wg.nn.max_pool2d(x, 2))
        functions.append(lambda x: wg.nn.adaptive_max_pool2d(x, 4))
    for function in functions:
        t = wg.asarray(x)
        with wg.GradientTape() as tape:
            tape.watch(t)
            y = function(t)
        assert str(y.dtype) == dtype
        assert str(tape.gradient(y, t).dtype) == dtype


def test_other_libraries() -> None:
    def function(x: Any) -> Any:
        a = wg.nn.max_pool2d(x, 3, stride=2, padding=1)
        b = wg.nn.avg_pool2d(x * x, 3, stride=2, padding=1, count_include_pad=False)
        c = wg.nn.interpolate(wg.nn.adaptive_max_pool2d(x, 3), (4, 3), mode="bilinear")
        return a * b + c

    check_on_strict(function, [X])


# -- parts ------------------------------------------------------------------------------------

#: (function, part of the result, elements of each axis that it depends on)
KEPT: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "max_pool2d": (lambda x: wg.nn.max_pool2d(x, 2), (0, 1, 2, 2), (1, 1, 2, 2)),
    "max_pool2d, at an edge": (
        lambda x: wg.nn.max_pool2d(x, 3, stride=2, padding=1), (0, 1, 0, 1), (1, 1, 2, 3),
    ),
    "max_pool2d, backward": (
        lambda x: wg.nn.max_pool2d(x, 3, stride=1), (0, 1, slice(None, None, -2), 1), (1, 1, 7, 3),
    ),
    "avg_pool2d": (lambda x: wg.nn.avg_pool2d(x, 3, stride=2), (1, 2, 1, 1), (1, 1, 3, 3)),
    "avg_pool2d, channels": (
        lambda x: wg.nn.avg_pool2d(x, 3, stride=2, padding=1), (1, slice(None, None, -1), 0, 0),
        (1, 3, 2, 2),
    ),
    "unfold": (lambda x: wg.nn.unfold(x, (2, 3), stride=2), (0, 7, 4), (1, 1, 1, 1)),
    "unfold, a column": (lambda x: wg.nn.unfold(x, (2, 3)), (0, slice(6, 12), 5), (1, 1, 2, 3)),
    "adaptive_avg_pool2d": (
        lambda x: wg.nn.adaptive_avg_pool2d(x, (3, 2)), (0, 0, 1, 1), (1, 1, 3, 3),
    ),
    "nearest": (lambda x: wg.nn.interpolate(x, (14, 12)), (0, 0, 5, 3), (1, 1, 1, 1)),
    "bilinear": (
        lambda x: wg.nn.interpolate(x, (14, 12), mode="bilinear"), (0, 0, 5, 3), (1, 1, 2, 2),
    ),
    "bicubic": (
        lambda x: wg.nn.interpolate(x, (14, 12), mode="bicubic"), (0, 0, 6, slice(8, 4, -2)),
        (1, 1, 4, 5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_a_part_costs_its_window(name: str) -> None:
    function, key, sizes = KEPT[name]
    part, whole = part_and_whole(function, X, key)
    assert isinstance(part, wg.Block)
    assert part.values.shape == sizes
    assert_near(part, whole)


def test_fold_keeps_parts() -> None:
    columns = apart((2, 12, 12))
    part, whole = part_and_whole(
        lambda c: wg.nn.fold(c, (5, 4), 2), columns, (0, 1, slice(4, 1, -2), 3)
    )
    assert isinstance(part, wg.Block) and part.region[0] == range(1)
    assert_near(part, whole)


OPS = {
    "max_pool": pooling.max_pool,
    "window_sum": pooling.window_sum,
    "unfold_windows": unfolding.unfold_windows,
}


@pytest.mark.parametrize("name", [*OPS, "window_spread", "fold_windows"])
@given(data=st.data())
def test_any_part_of_any_window(name: str, data: Any) -> None:
    """Steps, directions, and windows in part or altogether outside of the array."""

    def pick(low: int, high: int) -> tuple[int, int]:
        return data.draw(st.tuples(st.integers(low, high), st.integers(low, high)))

    lengths, kernel, size = pick(1, 6), pick(1, 3), pick(1, 4)
    geometry = {"geometry": Geometry(pick(1, 3), pick(-1, 2), pick(1, 2))}
    shape: tuple[int, ...] = (1, 2, *lengths)
    if name == "window_spread":
        shape, params = (1, 2, *size), {"kernel": kernel, "size": lengths}
    elif name == "fold_windows":
        shape, params = (1, 2, *kernel, *size), {"size": lengths}
    else:
        params = {"kernel": kernel, "size": size}
    if name == "max_pool":
        params["ties"] = data.draw(st.sampled_from(["even", "first"]))
    op = getattr(unfolding if name.endswith("fold_windows") else pooling, name)

    def function(x: Any) -> Any:
        return op(x * x, **params, **geometry)

    x = apart(shape)
    y = function(wg.asarray(x))
    key = tuple(data.draw(st.slices(n)) for n in y.shape)
    part, whole = part_and_whole(lambda x: wg.where(wg.isfinite(y), function(x), 0.0), x, key)
    assert_near(part, whole)


def test_one_window_of_many_is_computed_alone(monkeypatch: Any) -> None:
    shapes: list[Any] = []
    kernel = numpy_pooling.max_pool_spread

    def spied(g: Any, **params: Any) -> Any:
        shapes.append((g.shape, params["inputs"].shape))
        return kernel(g, **params)

    monkeypatch.setattr(NUMPY.nn, "max_pool_spread", spied)
    part, _ = part_and_whole(
        lambda x: wg.nn.max_pool2d(x, 2), np.tile(X, (1, 1, 10, 10)), (1, 2, 30, 7)
    )
    assert shapes[0] == ((1, 1, 1, 1), (1, 1, 2, 2))
    assert part.region == (range(1, 2), range(2, 3), range(60, 62), range(14, 16))


# -- windows as columns -----------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unfold_and_fold_are_transposes(axes: int) -> None:
    x = apart((2, 3, 5, 4, 3)[: 2 + axes])
    params: dict[str, Any] = {"kernel_size": 2, "stride": 2, "padding": 1}
    columns = wg.nn.unfold(x, **params)
    c = apart(columns.shape)
    back = wg.nn.fold(c, x.shape[2:], **params)
    np.testing.assert_allclose(np.sum(columns.numpy() * c), np.sum(x * back.numpy()))
    if axes > 1:
        one = wg.nn.unfold(x[0], (2,) * axes, stride=2, padding=1)
        assert_near(one, columns[0])
    assert_near(wg.nn.fold(c[0], x.shape[2:], **params), back[0])


def test_a_convolution_is_a_product_with_unfolded_windows() -> None:
    w = apart((4, 3, 3, 2))
    product = wg.reshape(w, (4, -1)) @ wg.nn.unfold(X, (3, 2), padding=1)
    expected = wg.nn.conv2d(X, w, padding=1)
    assert_near(wg.reshape(product, expected.shape), expected)


# -- interpolation ----------------------------------------------------------------------------


def test_interpolate_numbers() -> None:
    x = np.array([[[0.0, 4.0, 8.0]]])
    assert wg.nn.interpolate(x, 6).tolist() == [[[0, 0, 4, 4, 8, 8]]]
    assert wg.nn.interpolate(x, scale_factor=2).tolist() == [[[0, 0, 4, 4, 8, 8]]]
    linear = wg.nn.interpolate(x, 6, mode="linear")
    assert linear.tolist() == [[[0, 1, 3, 5, 7, 8]]]
    corners = wg.nn.interpolate(x, 5, mode="linear", align_corners=True)
    assert corners.tolist() == [[[0, 2, 4, 6, 8]]]
    assert wg.nn.interpolate(x, 1, mode="area").tolist() == [[[4]]]
    assert wg.nn.interpolate(x, 3, mode="linear").tolist() == x.tolist()


def test_interpolate_keeps_integers_that_are_near() -> None:
    y = wg.nn.interpolate(np.array([[[1, 2]]], np.uint8), 4)
    assert y.dtype == wg.uint8 and y.tolist() == [[[1, 1, 2, 2]]]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "area", "bilinear", "bicubic"])
def test_what_is_not_finite_stays_local(mode: str) -> None:
    x = np.zeros((1, 1, 8, 8))
    x[0, 0, 0, 0] = np.nan if mode == "bicubic" else np.inf  # its weights have two signs
    y = wg.nn.interpolate(x, (16, 12), mode=mode).numpy()
    assert np.isfinite(y[0, 0, 6:, 6:]).all()
    t = wg.asarray(np.zeros((1, 1, 8, 8)))
    with wg.GradientTape() as tape:
        tape.watch(t)
        z = wg.nn.interpolate(t, (16, 12), mode=mode)
    g = np.zeros(z.shape)
    g[0, 0, 0, 0] = np.nan if mode == "bicubic" else np.inf
    back = tape.gradient(z, t, output_gradients=g).numpy()
    assert np.isfinite(back[0, 0, 4:, 4:]).all()


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "area", "bilinear", "bicubic"])
@given(st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_constants_stay_constant(mode: str, length: int, size: int, corners: bool) -> None:
    align = corners and mode.startswith("bi")
    x = np.full((1, 1, length, 2), 3.0)
    y = wg.nn.interpolate(x, (size, 2), mode=mode, align_corners=align)
    np.testing.assert_allclose(y.numpy(), 3.0)


def test_the_transpose_of_taps_twice_is_themselves() -> None:
    index, weight = resampling._cubic_taps(5, 9, None, False)
    back = resampling.transposed_taps(*resampling.transposed_taps(index, weight, 5), 9)
    x = apart((2, 5))
    assert_near(
        NUMPY.nn.combine(x, axis=1, index=back[0], weight=back[1]),
        NUMPY.nn.combine(x, axis=1, index=index, weight=weight),
    )


def test_pixel_shuffles_undo_each_other() -> None:
    x = apart((2, 8, 3, 2))
    y = wg.nn.pixel_shuffle(x, 2)
    assert y.shape == (2, 2, 6, 4)
    assert y[0, 0, 0, 1] == x[0, 1, 0, 0] and y[0, 0, 1, 0] == x[0, 2, 0, 0]
    assert_near(wg.nn.pixel_unshuffle(y, 2), x)
    assert_near(wg.nn.pixel_shuffle(x[0], 2), y[0])


# -- bad input --------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "padding of more than half": (
        lambda: wg.nn.max_pool2d(X, 2, padding=2),
        ValueError,
        r"max_pool2d: padding is 2, more than half .* window of \(2, 2\)",
    ),
    "padding of more than half, one side": (
        lambda: wg.nn.avg_pool2d(X, 3, padding=((0, 2), (0, 0))),
        ValueError,
        "more than half",
    ),
    "kernel too large": (
        lambda: wg.nn.avg_pool2d(X, (8, 2)),
        wg.ShapeError,
        r"kernel of \(8, 2\).*more than the \(7, 6\)",
    ),
    "axes": (lambda: wg.nn.max_pool2d(X[0, 0], 2), wg.ShapeError, r"\(7, 6\); expected 4 axes"),
    "stride": (lambda: wg.nn.max_pool2d(X, 2, stride=0), ValueError, "stride is 0; expected at"),
    "dilation": (lambda: wg.nn.max_pool2d(X, 2, dilation=0), ValueError, "dilation is 0"),
    "kernel": (lambda: wg.nn.max_pool2d(X, (2, 0)), ValueError, r"kernel_size is \(2, 0\)"),
    "kernel of fractions": (lambda: wg.nn.max_pool2d(X, 2.0), TypeError, "expected integers"),
    "complex numbers": (
        lambda: wg.nn.max_pool2d(X + 1j, 2),
        wg.DtypeError,
        "max_pool2d: got complex128; expected real",
    ),
    "truth values": (
        lambda: wg.nn.adaptive_max_pool2d(X > 1, 2),
        wg.DtypeError,
        "got bool; expected real",
    ),
    "output sizes": (
        lambda: wg.nn.adaptive_avg_pool2d(X, (1, 2, 3)),
        ValueError,
        r"output_size is \(1, 2, 3\); expected a number, or 2",
    ),
    "output size": (
        lambda: wg.nn.adaptive_max_pool2d(X, 0),
        ValueError,
        "output_size is .*expected at least 1",
    ),
    "nothing to pool": (
        lambda: wg.nn.adaptive_max_pool1d(np.zeros((1, 0)), 2),
        wg.ShapeError,
        "expected something to pool",
    ),
    "unfold, axes": (lambda: wg.nn.unfold(X[0, 0], 2), wg.ShapeError, "expected .batch, channels"),
    "unfold, kernel": (lambda: wg.nn.unfold(X, 9), wg.ShapeError, r"kernel of \(9, 9\)"),
    "unfold, stride": (lambda: wg.nn.unfold(X, 2, stride=0), ValueError, "stride is 0"),
    "fold, size": (lambda: wg.nn.fold(X[0], 4, 2), TypeError, "output_size is 4; expected a tuple"),
    "fold, columns": (
        lambda: wg.nn.fold(np.zeros((1, 4, 5)), (3, 3), 2),
        wg.ShapeError,
        r"\(1, 4, 5\); expected a multiple of 4 taps, and the 4 windows",
    ),
    "fold, taps": (
        lambda: wg.nn.fold(np.zeros((1, 5, 4)), (3, 3), 2),
        wg.ShapeError,
        "expected a multiple of 4",
    ),
    "no size": (lambda: wg.nn.interpolate(X), ValueError, "size is None and scale_factor None"),
    "size and scale": (
        lambda: wg.nn.interpolate(X, 3, scale_factor=2),
        ValueError,
        "size is 3 and scale_factor 2; expected one",
    ),
    "mode": (
        lambda: wg.nn.interpolate(X, 3, mode="cubic"),
        ValueError,
        "'cubic'; expected 'nearest'",
    ),
    "mode of other axes": (
        lambda: wg.nn.interpolate(X, 3, mode="linear"),
        wg.ShapeError,
        "batch, channels and 1 more axes, for mode 'linear'",
    ),
    "no spatial axes": (lambda: wg.nn.interpolate(X[0, 0], 3), wg.ShapeError, "one or more more"),
    "corners": (
        lambda: wg.nn.interpolate(X, 3, align_corners=True),
        ValueError,
        "'nearest' has no corners",
    ),
    "scale": (lambda: wg.nn.interpolate(X, scale_factor=-1), ValueError, "scale_factor is -1"),
    "too small a scale": (
        lambda: wg.nn.interpolate(X, scale_factor=0.1),
        wg.ShapeError,
        r"from \(7, 6\) to \(0, 0\)",
    ),
    "integers between": (
        lambda: wg.nn.interpolate(np.ones((1, 1, 3), int), 4, mode="linear"),
        wg.DtypeError,
        "x is of int64, and mode 'linear' makes fractions",
    ),
    "shuffle": (
        lambda: wg.nn.pixel_shuffle(X, 2),
        wg.ShapeError,
        "expected a multiple of 4 channels",
    ),
    "unshuffle": (
        lambda: wg.nn.pixel_unshuffle(X, 2),
        wg.ShapeError,
        "expected multiples of 2 rows and columns",
    ),
    "shuffle, axes": (lambda: wg.nn.pixel_shuffle(X[0, 0], 1), wg.ShapeError, "at least 3 axes"),
    "shuffle, factor": (lambda: wg.nn.pixel_shuffle(X, 0), ValueError, "upscale_factor is 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, error, words = BAD[name]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("ties", ["even", "first"])
@pytest.mark.parametrize("padding", [0, 1])
def test_channels_last_in_memory_say_the_same(ties: str, padding: int) -> None:
    x = np.round(2 * np.random.default_rng(0).normal(size=(2, 12, 7, 6)))  # with ties
    last = np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)
    geometry = {"geometry": Geometry((2, 1), (padding,) * 2, (1, 1))}
    size = (3, 4)

    def all_of_it(x: np.ndarray) -> list[np.ndarray]:
        params = {"kernel": (3, 3), "size": size, **geometry}
        y = numpy_pooling.max_pool(x, **params)
        found = {"inputs": x, "largest": y, "kernel": (3, 3), **geometry, "ties": ties}
        summed = numpy_pooling.window_sum(x, **params)
        return [
            y,
            numpy_pooling.max_pool_spread(summed, **found),
            numpy_pooling.max_pool_gather(x * x, **found),
            numpy_pooling.max_pool_indices(x, **params),
            summed,
            numpy_pooling.window_spread(summed, **(params | {"size": x.shape[2:]})),
        ]

    for got, expected in zip(all_of_it(last), all_of_it(x), strict=True):
        assert got.strides[1] == got.itemsize
        assert_near(got, expected)
