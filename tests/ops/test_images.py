"""Measures of images, and convolution along axes, against SciPy and differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage, signal

import wengert as wg
from wengert.ops.neural.along_axes import convolve_along
from wengert.ops.neural.images import sobel_edges, standardised, structural_similarity

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(2, 6, 5, 3)), RNG.normal(size=(2, 6, 5, 3))


@pytest.mark.parametrize("axis", [0, 1])
def test_edges_are_sobels(axis: int) -> None:
    found = sobel_edges(wg.asarray(X)).numpy()[..., axis]
    for image, edges in zip(X, found, strict=True):
        for channel in range(3):
            expected = ndimage.sobel(image[..., channel], axis, mode="mirror")
            np.testing.assert_allclose(edges[..., channel], expected, atol=1e-12)


def test_standardised_images_have_mean_0_and_variance_1() -> None:
    found = standardised(wg.asarray(X)).numpy()
    np.testing.assert_allclose(found.mean((1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(found.var((1, 2, 3)), 1, rtol=1e-12)


def test_an_image_is_like_itself() -> None:
    c = wg.asarray(1e-4)
    np.testing.assert_allclose(structural_similarity(wg.asarray(X), wg.asarray(X), c, c, 3), 1.0)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_along_all_axes_is_scipys(mode: str) -> None:
    a, b = X[0, ..., 0], Y[0, :3, :2, 0]
    found = convolve_along(wg.asarray(a), wg.asarray(b), ((0, 1), (0, 1)), ((), ()), mode)
    expected = signal.convolve(a, b, mode)
    if mode == "same":  # an even length has its middle after the half
        expected = signal.convolve(a, b)[1 : 1 + a.shape[0], : a.shape[1]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


C = wg.asarray(1e-2)
FUNCTIONS = {
    "edges": sobel_edges,
    "standardised": standardised,
    "likeness": lambda x: structural_similarity(x, wg.asarray(Y), C, C, 3),
    "along axes": lambda x: convolve_along(
        x, wg.asarray(Y), ((1,), (1,)), ((0, 3), (0, 3)), "full"
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    wg.check_grads(FUNCTIONS[name], (X,))
