"""The same program on real TensorFlow and on Wengert's dialect of it, and what must be equal."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.tensorflow as ours

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

#: How far values may be apart, relative to the largest of an array, by dtype.
TOLERANCE = {
    "float16": 2e-3,
    "float32": 2e-5,
    "float64": 1e-11,
    "complex64": 2e-5,
    "complex128": 1e-11,
}


def outcome(program: Callable[[Any], Any], tf: Any) -> Any:
    """Return what a program returns, or the exception that it raises."""
    try:
        return program(tf)
    except Exception as error:
        return error


def compare(program: Callable[[Any], Any], rtol: float | None = None) -> None:
    """Run a program on both, and assert that values, dtypes, shapes, Nones and exceptions agree."""
    import tensorflow as theirs

    expected, got = outcome(program, theirs), outcome(program, ours)
    assert_same(got, expected, rtol)


def assert_same(got: Any, expected: Any, rtol: float | None = None, where: str = "result") -> None:
    """Assert that what our program gave is what TensorFlow's gave."""
    if isinstance(expected, Exception) or isinstance(got, Exception):
        kinds = type(got).__name__, type(expected).__name__
        if not (isinstance(expected, Exception) and kinds[0] == kinds[1]):
            raise AssertionError(f"{where}: got {got!r:.500}, expected {expected!r:.500}") from (
                got if isinstance(got, Exception) else None
            )
        return
    if expected is None or got is None:
        assert got is None and expected is None, f"{where}: got {got!r}, expected {expected!r}"
        return
    if type(expected).__name__ == "IndexedSlices":
        assert type(got).__name__ == "IndexedSlices", f"{where}: got {got!r}"
        for part in ("values", "indices", "dense_shape"):
            assert_same(getattr(got, part), getattr(expected, part), rtol, f"{where}.{part}")
        return
    if isinstance(expected, dict):
        assert got.keys() == expected.keys(), where
        for key in expected:
            assert_same(got[key], expected[key], rtol, f"{where}[{key!r}]")
        return
    if isinstance(expected, (list, tuple)) and type(expected).__name__ != "TensorShape":
        assert isinstance(got, (list, tuple)), f"{where}: got {got!r:.200}"
        assert len(got) == len(expected), f"{where}: {len(got)} parts, not {len(expected)}"
        for i, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            assert_same(mine, theirs, rtol, f"{where}[{i}]")
        return
    if hasattr(expected, "numpy") and hasattr(expected, "dtype"):
        assert hasattr(got, "numpy"), f"{where}: got {got!r:.200}, not a tensor"
        assert got.dtype.name == expected.dtype.name, f"{where}: {got.dtype}, not {expected.dtype}"
        assert got.shape == expected.shape.as_list(), f"{where}: {got.shape}, not {expected.shape}"
        got, expected = np.asarray(got.numpy()), np.asarray(expected.numpy())
    if isinstance(expected, (np.ndarray, np.generic)):
        assert np.shape(got) == np.shape(expected), f"{where}: {np.shape(got)}"
        assert np.asarray(got).dtype == expected.dtype, f"{where}: {np.asarray(got).dtype}"
        tolerance = rtol or TOLERANCE.get(expected.dtype.name, 0.0)
        scale = (
            np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
            if expected.size
            else 0.0
        )
        np.testing.assert_allclose(
            got, expected, rtol=tolerance, atol=tolerance * max(float(scale), 1e-30), err_msg=where
        )
        return
    if type(expected).__name__ in ("TensorShape", "DType"):
        assert repr(got) == repr(expected), f"{where}: {got!r}, not {expected!r}"
        return
    if isinstance(expected, float):
        assert got == expected or abs(got - expected) <= 1e-5 * abs(expected), f"{where}: {got!r}"
        return
    assert got == expected, f"{where}: {got!r}, not {expected!r}"
