"""Kernels on NumPy arrays that have a quicker way for some shapes."""

from __future__ import annotations

import numpy as np
import pytest

from wengert.backends import numpy_kernels as kernels

SHAPES = [
    ((3000, 3), (1,)), ((3000, 3), -1), ((3000, 3), 0), ((400, 3, 3), (1, 2)), ((25, 100, 10), 1),
    ((25, 100, 10), (0, 1)), ((4, 5, 60, 7), (1, 2)), ((5, 80, 6), (0, 2)), ((300, 2), (1, 0)),
    ((300, 2), None), ((300, 2), ()), ((0, 3), 1), ((300, 1), 1), ((300, 0), 1), ((2, 300), 1),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_are_numpys(shape, axis, dtype, keepdims):
    x = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    for array in (x, np.asfortranarray(x), x[::-1]):
        found = kernels.total(array, axis=axis, keepdims=keepdims)
        expected = np.sum(array, axis=axis, keepdims=keepdims)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        tolerance = 1e-4 if dtype is np.float32 else 1e-11
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=100 * tolerance)


def test_a_line_with_an_infinity_does_not_touch_the_others():
    x = np.ones((300, 3))
    x[5, 1], x[7, 2] = np.inf, np.nan
    expected = np.full(300, 3.0)
    expected[5], expected[7] = np.inf, np.nan
    np.testing.assert_array_equal(kernels.total(x, axis=1), expected)
    columns = kernels.total(x, axis=0)
    assert columns[0] == 300 and columns[1] == np.inf and np.isnan(columns[2])
