"""Taps for images resized by a kernel, against JAX."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import wengert as wg
from wengert.ops.neural import resizing


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("sizes", [(7, 4), (5, 13), (6, 6), (3, 1), (1, 4)])
@pytest.mark.parametrize("kernel", ["linear", "cubic", "lanczos3", "lanczos5"])
def test_kernels_resize_as_jax_does(kernel: str, sizes: tuple[int, int], antialias: bool) -> None:
    x = np.random.default_rng(0).normal(size=(2, sizes[0]))
    ours = resizing.resize_axes(wg.asarray(x), {1: resizing.kernel_taps(*sizes, kernel, antialias)})
    with jax.enable_x64(True):
        theirs = jax.image.resize(x, (2, sizes[1]), kernel, antialias=antialias)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", list(resizing.KERNELS))
def test_weights_add_up_to_one_and_are_those_of_pixels_inside(kernel: str) -> None:
    for length, size in ((9, 4), (4, 9), (2, 1)):
        index, weight = resizing.kernel_taps(length, size, kernel, antialias=True)
        assert index.max() < length
        np.testing.assert_allclose(weight.sum(axis=1), 1)
        assert ((index >= 0) | (weight == 0)).all()


def test_a_grid_rounds_centres() -> None:
    index, weight = resizing.kernel_taps(8, 5, "linear", False, grid=2)
    assert set(np.unique(weight)) <= {0.0, 0.5, 1.0}
    assert index.max() < 8


@pytest.mark.parametrize("sizes", [(6, 3), (3, 6), (7, 4), (4, 7), (5, 5)])
def test_overlaps_keep_the_mean(sizes: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(size=sizes[0])
    ours = resizing.resize_axes(wg.asarray(x), {0: resizing.overlap_taps(*sizes)}).numpy()
    assert ours.mean() == pytest.approx(x.mean())
    fine = np.repeat(x, sizes[1]).reshape(sizes[1], sizes[0]).mean(axis=1)
    np.testing.assert_allclose(ours, fine)
