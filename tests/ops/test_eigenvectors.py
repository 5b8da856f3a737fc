"""Signs of eigenvectors: those that NumPy gives outside of a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_inside_of_a_gradient_they_are_those_outside(triangle: Any, dtype: str) -> None:
    random = np.random.default_rng(3)
    for n in (2, 3, 5):
        x = random.normal(size=(n, n)).astype(dtype)
        if dtype == "complex128":
            x = x + 1j * random.normal(size=(n, n))
        seen = []

        def function(x: Any, seen: Any = seen) -> Any:
            values, vectors = np.linalg.eigh(x, triangle)
            seen.append(vectors.numpy())
            return np.sum(values)

        wg.grad(function)(x)
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(seen[0], np.linalg.eigh(x, triangle)[1], atol=tolerance)


def test_the_triangle_has_a_name() -> None:
    with pytest.raises(ValueError, match="triangle is 'X'; expected 'L' or 'U'"):
        wg.linalg.eigh(np.eye(2), triangle="X")
