"""Fourier transforms: transposes for every length and norm, and bad input."""

from __future__ import annotations

import inspect

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import check_on_strict

RANDOM = np.random.default_rng(5)
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")
NORMS = ("backward", "ortho", "forward")
FROM_REAL = ("rfft", "ihfft", "rfftn", "rfft2")


def numbers(shape, name):
    real = RANDOM.standard_normal(shape)
    return real if name in FROM_REAL else real + 1j * RANDOM.standard_normal(shape)


def inner(a, b):
    return np.sum(np.conj(a) * b).real


def check_transpose(function, x):
    """Check that <w, f(x)> is <transpose of f on w, x>, and the same for the transpose."""
    x = wg.asarray(x)
    y, pull = wg.vjp(function, x)
    w = RANDOM.standard_normal(y.shape)
    w = (w + 1j * RANDOM.standard_normal(y.shape)).astype(y.dtype) if y.dtype.kind == "c" else w
    (back,) = pull(wg.asarray(w))
    assert back.dtype == x.dtype and back.shape == x.shape
    np.testing.assert_allclose(inner(back.numpy(), x.numpy()), inner(w, y.numpy()), atol=1e-12)
    _, again = wg.vjp(lambda w: pull(w)[0], wg.asarray(w))
    np.testing.assert_allclose(again(x)[0].numpy(), y.numpy(), atol=1e-12)


# -- values and transposes ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", NORMS)
@given(st.integers(1, 7), st.none() | st.integers(1, 9), st.integers(-2, 1))
def test_along_one_axis(name, norm, length, n, axis):
    if n is None and length == 1 and name in ("irfft", "hfft"):
        n = 1  # there is no default: 2 * (1 - 1) is 0
    x = numbers((length, 3) if axis in (0, -2) else (3, length), name)
    params = {"n": n, "axis": axis, "norm": norm}
    got = getattr(wg.fft, name)(x, **params).numpy()
    expected = getattr(np.fft, name)(x, **params)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, atol=1e-12)
    check_transpose(lambda x: getattr(wg.fft, name)(x, **params), x)


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("norm", NORMS)
@given(st.permutations([0, 1, 2]), st.integers(1, 3), st.data())
def test_over_several_axes(name, norm, order, count, data):
    axes = tuple(order[:count])
    s = data.draw(st.none() | st.tuples(*[st.integers(1, 5)] * count))
    x = numbers((2, 3, 4), name)
    params = {"s": s, "axes": axes, "norm": norm}
    expected = getattr(np.fft, name)(x, **params)
    np.testing.assert_allclose(getattr(wg.fft, name)(x, **params).numpy(), expected, atol=1e-12)
    check_transpose(lambda x: getattr(wg.fft, name)(x, **params), x)


@pytest.mark.parametrize("name", TWO)
def test_over_two_axes(name):
    x = numbers((2, 4, 3), name)
    for params in ({}, {"s": (3, 5)}, {"axes": (0, 1), "norm": "ortho"}):
        expected = getattr(np.fft, name)(x, **params)
        np.testing.assert_allclose(getattr(wg.fft, name)(x, **params).numpy(), expected)
        check_transpose(lambda x, p=params: getattr(wg.fft, name)(x, **p), x)


def test_several_axes_by_default():
    x = numbers((2, 3, 4), "fftn")
    np.testing.assert_allclose(wg.fft.fftn(x).numpy(), np.fft.fftn(x))
    last = np.fft.fftn(x, s=(2, 2), axes=(1, 2))
    np.testing.assert_allclose(wg.fft.fftn(x, s=(2, 2)).numpy(), last)  # those of s are the last
    np.testing.assert_allclose(wg.fft.fftn(x, axes=()).numpy(), x)
    assert wg.fft.fftn(x.real, axes=()).dtype == wg.complex128
    np.testing.assert_allclose(
        wg.fft.fftn(x, s=(-1, 2, -1)).numpy(), np.fft.fftn(x, (2, 2, 4), (0, 1, 2))
    )


def test_there_and_back():
    x = numbers((3, 5), "rfft")
    for forth, back in [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft")]:
        for norm in NORMS:
            there = getattr(wg.fft, forth)(x, norm=norm)
            again = getattr(wg.fft, back)(there, n=5, norm=norm)
            np.testing.assert_allclose(again.numpy(), x, atol=1e-14)
    g = wg.grad(lambda x: wg.sum(wg.fft.irfft(wg.fft.rfft(x), n=5) ** 2))(x)
    np.testing.assert_allclose(g, 2 * x)


def test_a_convolution_has_its_gradient():
    x, kernel = numbers((8,), "rfft"), numbers((3,), "rfft")

    def by_transform(x, kernel):
        product = wg.fft.rfft(x, n=10) * wg.fft.rfft(kernel, n=10)
        return wg.sum(wg.sin(wg.fft.irfft(product, n=10)))

    def direct(x, kernel):
        return wg.sum(wg.sin(np.convolve(x, kernel)))

    got, expected = (wg.grad(f, (0, 1))(x, kernel) for f in (by_transform, direct))
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs)
    wg.check_grads(by_transform, [x, kernel], order=2)


def test_the_imaginary_parts_that_do_not_count_get_no_gradient():
    g = wg.grad(lambda z: wg.sum(wg.fft.irfft(z, n=4) * np.arange(4.0)))(numbers((3,), "irfft"))
    assert g[0].imag == 0 and g[2].imag == 0 and g[1].imag != 0


def test_a_block_becomes_dense():
    x = wg.asarray(numbers((4,), "rfft"))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.abs(wg.fft.fft(x)[1])
    expected = wg.grad(lambda x: wg.abs(wg.sum(x * np.exp(-0.5j * np.pi * np.arange(4)))))(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected.numpy())


# -- dtypes and libraries -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_single_precision_and_integers(name):
    x = numbers((4, 4), name)
    single = x.astype(np.float32 if x.dtype.kind == "f" else np.complex64)
    function = getattr(wg.fft, name)
    got, expected = function(single), getattr(np.fft, name)(single)
    assert got.dtype == expected.dtype
    (g,) = wg.vjp(function, single)[1](got.numpy())
    assert g.dtype == single.dtype
    whole = np.arange(16).reshape(4, 4)
    np.testing.assert_allclose(function(whole).numpy(), getattr(np.fft, name)(whole), atol=1e-12)
    real = function(single.real)  # real numbers where complex ones are usual
    assert real.dtype in (wg.complex64, wg.float32)


def test_on_another_library():
    x = numbers((3, 4), "rfft")
    check_on_strict(lambda x: wg.fft.irfftn(wg.fft.rfftn(x, s=(4, 5)) ** 2), [x])
    check_on_strict(lambda x: wg.fft.hfft(wg.fft.fft(x, n=3), n=4), [x])
    whole = wg.fft.fft(array_api_strict.asarray([1, 2]))
    assert type(whole.data) is type(array_api_strict.asarray(1))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(name, n):
    got = getattr(wg.fft, name)(n, d=0.5)
    np.testing.assert_array_equal(got.numpy(), getattr(np.fft, name)(n, 0.5))
    assert got.dtype == wg.float64
    assert getattr(wg.fft, name)(n, dtype=wg.float32, device="cpu").dtype == wg.float32


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), ()])
def test_shifts(axes):
    x = numbers((3, 4, 5), "rfft")
    there = wg.fft.fftshift(x, axes=axes)
    np.testing.assert_array_equal(there.numpy(), np.fft.fftshift(x, axes))
    np.testing.assert_array_equal(wg.fft.ifftshift(there, axes=axes).numpy(), x)
    check_transpose(lambda x: wg.fft.fftshift(x, axes=axes), x)
    check_transpose(lambda x: wg.fft.ifftshift(x, axes=axes), x)


@pytest.mark.parametrize("name", [*ONE, *MANY, "fftfreq", "rfftfreq", "fftshift", "ifftshift"])
def test_signatures_are_the_standards(name):
    mine = inspect.signature(getattr(wg.fft, name)).parameters
    theirs = inspect.signature(getattr(array_api_strict.fft, name)).parameters
    assert list(mine) == list(theirs)
    assert [p.kind for p in mine.values()] == [p.kind for p in theirs.values()]
    assert [p.default for p in mine.values()] == [p.default for p in theirs.values()]


# -- bad input ----------------------------------------------------------------------------------

X, Z = numbers((2, 3), "rfft"), numbers((2, 3), "fft")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: wg.fft.fft(X, n=0), ValueError, "fft: length 0 for axis 1; expected at least 1"),
        (lambda: wg.fft.irfft(Z[:, :1]), ValueError, "irfft: length 0 for axis 1"),
        (lambda: wg.fft.fft(X[:, :0]), ValueError, "length 0"),
        (lambda: wg.fft.fft(X, n=2.5), TypeError, "length 2.5 for axis 1; expected an integer"),
        (lambda: wg.fft.fft(X, norm="orto"), ValueError, "'orto'; expected 'backward', 'ortho'"),
        (lambda: wg.fft.fft(X, axis=2), IndexError, "axis 2 of an array with 2 axes"),
        (lambda: wg.fft.fft(3.0), IndexError, "an array with 0 axes"),
        (lambda: wg.fft.rfft(Z), wg.DtypeError, r"write wg.real\(x\), or fft.fft for complex"),
        (lambda: wg.fft.rfft2(Z), wg.DtypeError, "rfftn: got complex128"),
        (lambda: wg.fft.ihfft(Z), wg.DtypeError, "or fft.ifft for complex"),
        (lambda: wg.fft.fftn(X, s=4), TypeError, "s is 4; expected a length for each axis"),
        (lambda: wg.fft.fftn(X, s=(4,), axes=(0, 1)), ValueError, "1 lengths for the 2 axes"),
        (lambda: wg.fft.fftn(X, s=(4, 4, 4)), ValueError, "3 lengths for 2 axes"),
        (lambda: wg.fft.fftn(X, axes=(0, 0)), ValueError, "names an axis twice"),
        (lambda: wg.fft.fftn(X, s=(4, 0)), ValueError, "length 0 for axis 1"),
        (lambda: wg.fft.rfftn(X, axes=()), ValueError, "no axis to transform"),
        (lambda: wg.fft.irfftn(Z, axes=()), ValueError, "no axis to transform"),
        (lambda: wg.fft.fftfreq(0), ValueError, "length 0"),
        (lambda: wg.fft.fftfreq(4, dtype=wg.int64), wg.DtypeError, "real floating dtype"),
        (lambda: wg.fft.rfftfreq(4, device="gpu"), ValueError, "'gpu'"),
        (lambda: wg.fft.fftshift(X, axes=3), IndexError, "axis 3"),
        (lambda: wg.fft.fft("x"), TypeError, "got str"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
