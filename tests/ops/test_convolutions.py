"""Convolutions: the public functions, parts of results, and what their kernels promise."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import assert_near, check_on_strict, weights_like
from tests.ops.references_neural import convolution
from wengert.backends import NUMPY, numpy_convolutions, numpy_products, threads
from wengert.backends.numpy_windows import Geometry
from wengert.ops.neural import convolutions

RANDOM = np.random.default_rng(11)


def normal(*shape: int, dtype: Any = float) -> np.ndarray:
    values = RANDOM.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RANDOM.standard_normal(shape)
    return values.astype(dtype)


X, W, B = normal(2, 4, 7, 6), normal(6, 2, 3, 3), normal(6)

# -- what is computed -------------------------------------------------------------------------


def by_loops(x: Any, w: Any, stride: Any, before: Any, after: Any, dilation: Any) -> np.ndarray:
    """Return a convolution of one group, place by place, on a padded array."""
    x = np.pad(x, ((0, 0), (0, 0), *zip(before, after, strict=True)))
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    size = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    out = np.zeros((len(x), len(w), *size), np.result_type(x, w))
    for p in np.ndindex(*size):
        key = tuple(
            slice(i * s, i * s + r, d)
            for i, s, r, d in zip(p, stride, reach, dilation, strict=True)
        )
        window = x[(slice(None), slice(None), *key)].reshape(len(x), -1)
        out[(..., *p)] = window @ w.reshape(len(w), -1).T
    return out


CALLS: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "plain": ({}, ((1, 1), (0, 0), (0, 0), (1, 1))),
    "number": ({"padding": 2}, ((1, 1), (2, 2), (2, 2), (1, 1))),
    "of each axis": ({"padding": (1, 0), "stride": (2, 1)}, ((2, 1), (1, 0), (1, 0), (1, 1))),
    "pairs": ({"padding": ((1, 0), (0, 2))}, ((1, 1), (1, 0), (0, 2), (1, 1))),
    "valid": ({"padding": "valid", "dilation": 2}, ((1, 1), (0, 0), (0, 0), (2, 2))),
    "same": ({"padding": "same"}, ((1, 1), (1, 1), (1, 1), (1, 1))),
    "same, dilated": ({"padding": "same", "dilation": (2, 1)}, ((1, 1), (2, 1), (2, 1), (2, 1))),
    # 7 rows in steps of 2 are 4 places, which need 2 * 3 + 3 = 9 rows; 6 columns need 2 * 2 + 3 = 7
    "same, strided": ({"padding": "same", "stride": 2}, ((2, 2), (1, 0), (1, 1), (1, 1))),
    "one number in a list": ({"padding": [1], "stride": [2]}, ((2, 2), (1, 1), (1, 1), (1, 1))),
}


@pytest.mark.parametrize("name", CALLS)
def test_conv2d(name: str) -> None:
    params, loops = CALLS[name]
    w = normal(5, 4, 3, 3)
    expected = by_loops(X, w, *loops)
    assert_near(wg.nn.conv2d(X, w, **params), expected)
    assert_near(wg.nn.conv2d(X[0], w, B[:5], **params), expected[0] + B[:5, None, None])
    wg.check_grads(lambda x, w, b: wg.nn.conv2d(x, w, b, **params), [X, w, B[:5]])


def test_same_with_a_stride_gives_one_place_for_each_step() -> None:
    for n, k, s, d in itertools.product((1, 4, 7), (1, 2, 5), (1, 2, 3), (1, 2)):
        y = wg.nn.conv1d(normal(1, 1, n), normal(1, 1, k), stride=s, dilation=d, padding="same")
        assert y.shape == (1, 1, -(-n // s))


def test_groups_are_convolutions_side_by_side() -> None:
    y = wg.nn.conv2d(X, W, B, groups=2, stride=2)
    halves = [
        wg.nn.conv2d(X[:, 2 * i : 2 * i + 2], W[3 * i : 3 * i + 3], B[3 * i : 3 * i + 3], stride=2)
        for i in (0, 1)
    ]
    assert_near(y, wg.concat(halves, axis=1))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_transpose_is_one(axes: int, dtype: Any) -> None:
    sizes = (5, 4, 6)[:axes]
    x, w = normal(2, 4, *sizes, dtype=dtype), normal(6, 2, *(3, 2, 3)[:axes], dtype=dtype)
    params: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}
    y = getattr(wg.nn, f"conv{axes}d")(x, w, **params)
    z = normal(*y.shape, dtype=dtype)
    more = [(n + 2 - k) % 2 for n, k in zip(sizes, w.shape[2:], strict=True)]
    back = getattr(wg.nn, f"conv_transpose{axes}d")(z, w, output_padding=more, **params)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(y.numpy() * z), np.sum(x * back.numpy()))
    one = getattr(wg.nn, f"conv_transpose{axes}d")(
        z[0], w, normal(4) * 0, output_padding=more, **params
    )
    assert_near(one, back[0])


def test_transpose_with_pairs_and_a_bias() -> None:
    z, w, b = normal(1, 2, 4), normal(2, 3, 3), normal(3)
    whole = wg.nn.conv_transpose1d(z, w, stride=2)
    cut = wg.nn.conv_transpose1d(z, w, b, stride=2, padding=((1, 2),))
    assert_near(cut, whole[:, :, 1:-2] + b[:, None])
    wg.check_grads(lambda *a: wg.nn.conv_transpose1d(*a, stride=2, padding=1), [z, w, b])


geometries = st.tuples(
    st.integers(1, 7), st.integers(1, 3), st.integers(1, 6), st.integers(1, 3), st.integers(-2, 3),
    st.integers(1, 3),
)  # fmt: skip


@given(
    st.lists(geometries, min_size=1, max_size=3),
    st.sampled_from([(1, 1, 2), (2, 1, 1), (2, 2, 1), (1, 1, 13)]),
    st.sampled_from([0, 900, numpy_convolutions.SMALL]),
)
def test_kernels_are_their_definition_for_any_geometry(
    axes: Any, channels: Any, small: int
) -> None:
    """Windows may begin anywhere, overlap, leave gaps, and lie outside of the array."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_convolutions, "SMALL", small)
        patch.setattr(numpy_products, "LAID_OUT", max(small, 1))
        _check_kernels(axes, channels)


def _check_kernels(axes: Any, channels: Any) -> None:
    lengths, kernel, size, stride, offset, dilation = map(tuple, zip(*axes, strict=True))
    groups, inputs, outputs = channels
    arrays = {
        "x": normal(2, groups * inputs, *lengths),
        "w": normal(groups * outputs, inputs, *kernel),
        "z": normal(2, groups * outputs, *size),
    }
    geometry = {"geometry": Geometry(stride, offset, dilation), "groups": groups}
    for name, role in (("convolve", "z"), ("convolve_input", "x"), ("convolve_weight", "w")):
        given = [arrays[r] for r in {"z": "xw", "x": "zw", "w": "xz"}[role]]
        shape = arrays[role].shape[2:]
        expected = convolution(role, *given, size=shape, **geometry)
        assert_near(
            getattr(numpy_convolutions, name)(*given, size=shape, **geometry), expected, name
        )


@pytest.mark.parametrize("laid_out", [1, 1000, 20_000])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_pieces_of_any_size_say_the_same(
    monkeypatch: Any, laid_out: int, groups: int, stride: int
) -> None:
    x, w, b = normal(5, 4, 9, 7), normal(6, 4 // groups, 3, 2), normal(6)

    def all_of_it() -> list[Any]:
        with wg.GradientTape() as tape:
            xs = list(map(wg.asarray, (x, w, b)))
            tape.watch(xs)
            y = wg.nn.conv2d(*xs, stride=stride, padding=1, groups=groups)
        return [y, *tape.gradient(y, xs, output_gradients=weights_like(y)[0])]

    expected = all_of_it()
    monkeypatch.setattr(numpy_convolutions, "SMALL", 0)
    monkeypatch.setattr(numpy_products, "LAID_OUT", laid_out)
    for got, whole in zip(all_of_it(), expected, strict=True):
        assert_near(got, whole)


@pytest.mark.parametrize("one_thread", [1, 2000, numpy_products.ONE_THREAD])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [1, 3])
def test_any_order_in_memory_says_the_same(
    monkeypatch: Any, one_thread: int, groups: int, stride: int, kernel: int
) -> None:
    """Channels last or first, and products in one go or a few rows at a time."""
    x, w = normal(3, 16, 9, 8), normal(4, 16 // groups, kernel, kernel)
    size = tuple((n - kernel) // stride + 1 for n in x.shape[2:])
    z = normal(3, 4, *size)
    geometry = {"geometry": Geometry((stride,) * 2, (0, 0), (1, 1)), "groups": groups}
    expected = {
        role: convolution(role, *given, size=shape, **geometry)
        for role, given, shape in (
            ("z", (x, w), size),
            ("x", (z, w), x.shape[2:]),
            ("w", (x, z), w.shape[2:]),
        )
    }
    monkeypatch.setattr(numpy_convolutions, "SMALL", 0)
    monkeypatch.setattr(numpy_products, "ONE_THREAD", one_thread)
    monkeypatch.setattr(numpy_products, "FEWEST", 2)
    for last in (False, True):
        if last:
            x, z = (np.moveaxis(np.moveaxis(a, 1, -1).copy(), -1, 1) for a in (x, z))
        got = numpy_convolutions.convolve(x, w, size=size, **geometry)
        assert (got.strides[1] == got.itemsize) == last
        assert_near(got, expected["z"])
        got = numpy_convolutions.convolve_input(z, w, size=x.shape[2:], **geometry)
        assert_near(got, expected["x"])
        got = numpy_convolutions.convolve_weight(x, z, size=w.shape[2:], **geometry)
        assert_near(got, expected["w"])


def test_memory_is_that_of_the_arrays_and_a_buffer() -> None:
    x, w = np.ones((16, 32, 48, 48), np.float32), np.ones((32, 32, 3, 3), np.float32)
    params = {"geometry": Geometry((1, 1), (1, 1), (1, 1)), "groups": 1}
    NUMPY.nn.convolve(x[:1], w, size=(48, 48), **params)
    tracemalloc.start()
    z = NUMPY.nn.convolve(x, w, size=(48, 48), **params)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    windows = 9 * x.nbytes
    assert peak < z.nbytes + 2 * threads.count() * numpy_products.LAID_OUT
    assert windows / 4 > 2 * numpy_products.LAID_OUT


# -- dtypes and libraries ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_dtypes_stay(dtype: str) -> None:
    x, w, b = (a.astype(dtype) for a in (X, W, B))
    with wg.GradientTape() as tape:
        xs = list(map(wg.asarray, (x, w, b)))
        tape.watch(xs)
        y = wg.nn.conv2d(*xs, groups=2)
        back = wg.nn.conv_transpose2d(y, xs[1], groups=2, stride=2)
    assert str(y.dtype) == dtype and str(back.dtype) == dtype
    assert [str(g.dtype) for g in tape.gradient(back, xs)] == [dtype] * 3
    expected = wg.nn.conv2d(X, W, B, groups=2).numpy()
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-2, atol=2e-2)


def test_dtypes_mix() -> None:
    assert wg.nn.conv2d(X.astype(np.float32), W, groups=2).dtype == wg.float64
    assert wg.nn.conv2d(X, W, B + 1j, groups=2).dtype == wg.complex128
    image = np.arange(2 * 4 * 7 * 6, dtype=np.uint8).reshape(X.shape)
    y = wg.nn.conv2d(image, W.astype(np.float32), groups=2)
    assert y.dtype == wg.float32
    np.testing.assert_allclose(y.numpy(), wg.nn.conv2d(image * 1.0, W, groups=2).numpy(), rtol=1e-4)
    wg.check_grads(lambda w: wg.nn.conv2d(image / 100, w, groups=2), [W])


def test_other_libraries() -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        y = wg.nn.conv2d(x, w, b, groups=2, stride=2, padding=1)
        return wg.nn.conv_transpose2d(y, w, groups=2) * y[0, 0, 0, 0]

    check_on_strict(function, [X, W, B])
    y = wg.nn.conv2d(*map(array_api_strict.asarray, (X, W)), groups=2)
    assert type(y.data) is type(array_api_strict.asarray(X))


# -- parts ------------------------------------------------------------------------------------


def parts_and_wholes(function: Any, arrays: list[np.ndarray], key: Any) -> list[tuple[Any, Any]]:
    """Return the gradients of y[key], and those of all of y with zeros around the key."""
    xs = list(map(wg.asarray, arrays))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = function(*xs)
        part = y[key]
    (w,) = weights_like(part)
    around = np.zeros(y.shape, y.dtype)
    around[key] = w
    parts = tape.gradient(part, xs, output_gradients=w, dense=False)
    return list(zip(parts, tape.gradient(y, xs, output_gradients=around), strict=True))


PARTS: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    # parameters, key of the result, region of x, region of weight
    "one pixel": ({"groups": 2}, (1, 0, 2, 3), (1, (0, 2), (2, 5), (3, 6)), (0, (0, 2))),
    "of the other group": ({"groups": 2}, (0, 5, 0, 0), (0, (2, 4), (0, 3), (0, 3)), (5, (0, 2))),
    "at a corner": (
        {"groups": 2, "padding": 1}, (0, 3, 0, 0), (0, (2, 4), (0, 2), (0, 2)), (3, (0, 2)),
    ),
    "at the other corner": (
        {"groups": 2, "padding": 1}, (0, 2, -1, -1), (0, (0, 2), (5, 7), (4, 6)), (2, (0, 2)),
    ),
    "strided": (
        {"groups": 2, "padding": 1, "stride": 2}, (0, 1, 2, 1), (0, (0, 2), (3, 6), (1, 4)),
        (1, (0, 2)),
    ),
    "dilated": (
        {"groups": 2, "padding": (2, 2), "dilation": 2}, (0, 1, 3, 0), (0, (0, 2), (1, 6), (0, 3)),
        (1, (0, 2)),
    ),
    "a row of pixels": (
        {"groups": 2}, (0, 1, 2, slice(1, 3)), (0, (0, 2), (2, 5), (1, 5)), (1, (0, 2)),
    ),
    "every second row, backward": (
        {"groups": 2}, (slice(None), 1, slice(None, None, -2), 0), ((0, 2), (0, 2), (0, 7), (0, 3)),
        (1, (0, 2)),
    ),
    "channels of a group": (
        {"groups": 2}, (0, slice(3, 6, 2), 0, 0), (0, (2, 4), (0, 3), (0, 3)), ((3, 6, 2), (0, 2)),
    ),
    "channels of two groups": (
        {"groups": 2}, (0, slice(2, 4), 1, 1), (0, (0, 4), (1, 4), (1, 4)), ((0, 6), (0, 2)),
    ),
    "channels of two groups, backward, stepped": (
        {"groups": 2, "padding": 1}, (0, slice(5, 0, -2), 1, slice(None, None, 3)),
        (0, (0, 4), (0, 3), (0, 5)), ((0, 6), (0, 2)),
    ),
}  # fmt: skip


def _range(of: Any) -> range:
    return range(of, of + 1) if isinstance(of, int) else range(*of)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_costs_its_receptive_field(name: str) -> None:
    params, key, seen, kernels = PARTS[name]
    for dtype in (np.float64, np.complex128):
        arrays = [
            X.astype(dtype),
            (W + 0.5j * W[::-1] if dtype is np.complex128 else W),
            B.astype(dtype),
        ]
        (x, dx), (w, dw), (b, db) = parts_and_wholes(
            lambda *a: wg.nn.conv2d(*a, **params), arrays, key
        )
        assert x.region == tuple(map(_range, seen))
        assert w.region == (*map(_range, kernels), range(3), range(3))
        for part, whole in ((x, dx), (w, dw), (b, db)):
            assert isinstance(part, wg.Block)
            assert_near(part, whole, name)


@pytest.mark.parametrize(
    "key", [(0, 1, 2, 3), (1, slice(None), 0, slice(None, None, -2)), (..., 4, 3)]
)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_parts_of_a_transposed_convolution(key: Any, groups: int, stride: int) -> None:
    z, w = normal(2, 4, 5, 4), normal(4, 2, 3, 2)

    def function(z: Any, w: Any) -> Any:
        return wg.nn.conv_transpose2d(
            z, w, stride=stride, padding=1, groups=groups, dilation=(1, 2)
        )

    for part, whole in parts_and_wholes(function, [z, w], key):
        assert isinstance(part, wg.Block)
        assert_near(part, whole)
    seen = parts_and_wholes(function, [z, w], (0, 1, 2, 3))[0][0].values.shape
    assert seen[0] == 1 and seen[1] == 4 // groups and seen[2] <= 3 and seen[3] <= 3


def test_a_pixel_of_padding_only_has_no_derivative_by_x() -> None:
    x, w = normal(1, 1, 3), normal(1, 1, 2)
    (dx, whole), (dw, _) = parts_and_wholes(
        lambda x, w: wg.nn.conv1d(x, w, padding=3), [x, w], (0, 0, 0)
    )
    assert not dx.values.size and not dw.values.size
    assert not whole.numpy().any()


@pytest.mark.parametrize("name", ["convolve", "convolve_input", "convolve_weight"])
@given(data=st.data())
def test_any_part_of_any_of_the_three(name: str, data: Any) -> None:
    """Steps, directions, groups and padding: the part says what the whole says."""
    groups, inputs, outputs = data.draw(st.sampled_from([(1, 3, 2), (2, 2, 2), (3, 1, 2)]))
    pick = lambda low, high: data.draw(st.integers(low, high))  # noqa: E731
    geometry = {
        "geometry": Geometry((pick(1, 3),), (pick(-1, 3),), (pick(1, 2),)),
        "groups": groups,
    }
    shapes = {
        "x": (2, groups * inputs, pick(1, 6)),
        "w": (groups * outputs, inputs, pick(1, 3)),
        "z": (2, groups * outputs, pick(1, 5)),
    }
    role = {"convolve": "z", "convolve_input": "x", "convolve_weight": "w"}[name]
    arrays = [normal(*shapes[r]) for r in {"z": "xw", "x": "zw", "w": "xz"}[role]]
    op = getattr(convolutions, name)
    key = tuple(
        slice(*data.draw(st.slices(n)).indices(n)) if n else slice(None) for n in shapes[role]
    )
    key = tuple(slice(k.start, k.stop if k.stop >= 0 else None, k.step) for k in key)

    def function(*xs: Any) -> Any:
        return wg.square(op(*xs, size=shapes[role][2:], **geometry))

    for part, whole in parts_and_wholes(function, arrays, key):
        assert isinstance(part, wg.Block)
        assert_near(part, whole)


def test_one_pixel_of_many_is_computed_alone(monkeypatch: Any) -> None:
    calls: list[Any] = []
    kernel = numpy_convolutions.convolve_input

    def spied(z: Any, w: Any, **params: Any) -> Any:
        calls.append((z.shape, w.shape, params["size"]))
        return kernel(z, w, **params)

    monkeypatch.setattr(NUMPY.nn, "convolve_input", spied)
    x = wg.asarray(normal(4, 8, 100, 100))
    w = wg.asarray(normal(16, 8, 3, 3))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.nn.conv2d(wg.nn.conv2d(x, w, padding=1), wg.reshape(w, (8, 16, 3, 3)), padding=1)
        pixel = y[2, 3, 50, 0]
    block = tape.gradient(pixel, x, dense=False)
    assert calls == [
        ((1, 1, 1, 1), (1, 16, 3, 3), (3, 2)),
        ((1, 16, 3, 2), (16, 8, 3, 3), (5, 3)),
    ]
    assert block.region == (range(2, 3), range(8), range(48, 53), range(3))


# -- bad input --------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "kernel too large": (
        lambda: wg.nn.conv2d(X, normal(1, 4, 9, 3), padding=0),
        wg.ShapeError,
        r"kernel of \(9, 3\).*covers \(9, 3\), more than the \(7, 6\)",
    ),
    "kernel too large when dilated": (
        lambda: wg.nn.conv1d(normal(1, 1, 4), normal(1, 1, 3), dilation=2),
        wg.ShapeError,
        r"dilation \(2,\) covers \(5,\), more than the \(4,\)",
    ),
    "channels": (
        lambda: wg.nn.conv2d(X, normal(6, 3, 3, 3)),
        wg.ShapeError,
        "expected 3 channels of x",
    ),
    "channels of groups": (
        lambda: wg.nn.conv2d(X, W, groups=3),
        wg.ShapeError,
        "expected 6 channels of x, for groups=3",
    ),
    "groups of results": (
        lambda: wg.nn.conv2d(X, normal(5, 2, 3, 3), groups=2),
        wg.ShapeError,
        "groups=2 does not divide the 5 channels",
    ),
    "no groups": (
        lambda: wg.nn.conv2d(X, W, groups=0),
        ValueError,
        "groups is 0; expected at least 1",
    ),
    "axes of x": (
        lambda: wg.nn.conv2d(X[0, 0], W),
        wg.ShapeError,
        r"x of shape \(7, 6\); expected 4 axes.*or 3",
    ),
    "axes of weight": (
        lambda: wg.nn.conv2d(X, W[0]),
        wg.ShapeError,
        r"weight of shape \(2, 3, 3\); expected two axes for channels and 2",
    ),
    "an empty kernel": (
        lambda: wg.nn.conv1d(normal(1, 1, 4), normal(1, 1, 0)),
        wg.ShapeError,
        "a kernel with elements",
    ),
    "stride": (
        lambda: wg.nn.conv2d(X, W, groups=2, stride=0),
        ValueError,
        "stride is 0; expected at",
    ),
    "dilation": (
        lambda: wg.nn.conv2d(X, W, groups=2, dilation=(1, -1)),
        ValueError,
        r"dilation is \(1, -1\)",
    ),
    "fractions": (
        lambda: wg.nn.conv2d(X, W, groups=2, stride=1.5),
        TypeError,
        "stride is 1.5; expected integers",
    ),
    "too many strides": (
        lambda: wg.nn.conv2d(X, W, groups=2, stride=(1, 1, 1)),
        ValueError,
        "expected a number, or 2",
    ),
    "negative padding": (
        lambda: wg.nn.conv2d(X, W, groups=2, padding=-1),
        ValueError,
        "padding is -1; expected at least 0",
    ),
    "unknown padding": (
        lambda: wg.nn.conv2d(X, W, groups=2, padding="full"),
        ValueError,
        "'full'; expected 'valid', 'same'",
    ),
    "pairs for one axis": (
        lambda: wg.nn.conv2d(X, W, groups=2, padding=((1, 1),)),
        ValueError,
        "or 2 pairs",
    ),
    "numbers and pairs": (
        lambda: wg.nn.conv2d(X, W, groups=2, padding=(1, (1, 1))),
        ValueError,
        "or 2 pairs",
    ),
    "bias": (
        lambda: wg.nn.conv2d(X, W, B[:4], groups=2),
        wg.ShapeError,
        r"bias of shape \(4,\); expected \(6,\)",
    ),
    "integers": (
        lambda: wg.nn.conv1d(np.ones((1, 1, 3), int), np.ones((1, 1, 2), int)),
        wg.DtypeError,
        "x is of int64 and weight of int64; expected floating-point",
    ),
    "channels, transposed": (
        lambda: wg.nn.conv_transpose2d(X, normal(2, 4, 3, 3)),
        wg.ShapeError,
        r"expected 2 channels of x, for a weight \(in, out / groups",
    ),
    "groups, transposed": (
        lambda: wg.nn.conv_transpose2d(X, normal(4, 1, 3, 3), groups=3),
        wg.ShapeError,
        "groups=3 does not divide the 4",
    ),
    "bias, transposed": (
        lambda: wg.nn.conv_transpose2d(X, normal(4, 1, 3, 3), B[:3], groups=2),
        wg.ShapeError,
        r"bias of shape \(3,\); expected \(2,\)",
    ),
    "output_padding": (
        lambda: wg.nn.conv_transpose1d(
            normal(1, 1, 3), normal(1, 1, 2), stride=2, output_padding=2
        ),
        ValueError,
        "output_padding is 2; expected less than the stride",
    ),
    "nothing left": (
        lambda: wg.nn.conv_transpose1d(normal(1, 1, 1), normal(1, 1, 2), padding=1),
        wg.ShapeError,
        r"gives \(0,\); expected at least one",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, error, words = BAD[name]
    with pytest.raises(error, match=words):
        call()
