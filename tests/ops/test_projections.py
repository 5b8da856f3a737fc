"""Images seen through maps, and colours; the dialect's tests compare them with TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.ops.neural.colours import hsv_from_rgb, rgb_from_hsv
from wengert.ops.neural.projections import project


@pytest.mark.parametrize("outside", ["constant", "nearest", "reflect", "wrap"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_the_identity_gives_the_image_and_others_have_derivatives(mode: str, outside: str) -> None:
    image = np.random.default_rng(0).normal(size=(2, 4, 5, 1))
    same = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0]])
    found = project(wg.asarray(image), same, (4, 5), mode, outside, 7.0)
    np.testing.assert_array_equal(np.asarray(found), image)
    maps = np.array([[1.3, 0.4, -1.2, -0.3, 0.9, 2.1, 0.01, 0.02]])
    wg.check_grads(lambda x: project(x, maps, (3, 4), mode, outside, 0.5), [image])


def test_what_lies_outside() -> None:
    row = wg.asarray(np.arange(3.0).reshape(1, 1, 3, 1))
    left = np.array([[1.0, 0, -2, 0, 1, 0, 0, 0]])
    expected = {"constant": [9, 9, 0], "nearest": [0, 0, 0], "reflect": [1, 0, 0]}
    for outside, values in expected.items():
        found = project(row, left, (1, 3), "nearest", outside, 9.0)
        assert np.asarray(found).ravel().tolist() == values


def test_colours_there_and_back() -> None:
    colours = np.random.default_rng(1).uniform(0.1, 0.9, (20, 3))
    found = rgb_from_hsv(hsv_from_rgb(wg.asarray(colours)))
    np.testing.assert_allclose(np.asarray(found), colours)
    gray = hsv_from_rgb(wg.asarray([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]))
    assert np.asarray(gray).tolist() == [[0, 0, 0.5], [0, 0, 0]]
    wg.check_grads(hsv_from_rgb, [colours[:5]])
    wg.check_grads(rgb_from_hsv, [colours[:5]])
