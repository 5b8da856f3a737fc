"""The larger or smaller of an array and a number is NumPy's, in whatever shape the array is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wengert.backends.numpy_kernels import maximum, minimum

SHAPES = [(), (1,), (0, 3), (5000,), (4096, 1), (1, 5000), (70, 70), (3, 40, 50), (2, 3, 0)]


@pytest.mark.parametrize("ours, numpys", [(maximum, np.maximum), (minimum, np.minimum)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers_beside_arrays(ours: Any, numpys: Any, dtype: Any, shape: Any) -> None:
    x = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    for array in (x, x.T, x[..., ::-1] if shape else x):
        for number in (
            np.array(0, dtype),
            np.array(2.5),
            np.array(3, np.float32),
            np.array(np.nan),
        ):
            for pair in ((array, number), (number, array)):
                got, expected = ours(*pair), numpys(*pair)
                assert got.dtype == expected.dtype
                assert got.shape == expected.shape
                np.testing.assert_array_equal(got, expected)
