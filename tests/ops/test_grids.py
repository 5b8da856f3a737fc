"""Images at the points of a grid; the dialects' tests compare them with PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.ops.neural.grids import affine_grid, grid_sample


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_the_identity_gives_the_image(mode: str, align_corners: bool) -> None:
    image = wg.asarray(np.random.default_rng(0).normal(size=(2, 3, 4, 5)))
    theta = wg.asarray(np.tile(np.eye(2, 3), (2, 1, 1)))
    grid = affine_grid(theta, (4, 5), align_corners)
    assert grid.shape == (2, 4, 5, 2)
    found = grid_sample(image, grid, mode, "border", align_corners)
    np.testing.assert_allclose(np.asarray(found), np.asarray(image), atol=1e-12)


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_gradients(mode: str, padding_mode: str) -> None:
    rng = np.random.default_rng(1)
    image, theta = rng.normal(size=(1, 2, 4, 3)), rng.normal(size=(1, 2, 3))

    def sampled(x: wg.Tensor, t: wg.Tensor) -> wg.Tensor:
        return grid_sample(x, affine_grid(t, (2, 3), False), mode, padding_mode, False)

    wg.check_grads(sampled, [image, theta])
