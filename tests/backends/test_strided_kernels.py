"""Kernels for libraries like NumPy, with NumPy as that library: what all operations compute."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest

from tests.ops.op_cases import CASES, Case, assert_near, leaves
from wengert import backends
from wengert.backends import numpy_kernels, strided_kernels
from wengert.backends.namespace import EXTENSIONS, Namespace, numpy_extension


def _extension(name: str) -> Any:
    if name != "nn":
        return numpy_extension(name)
    return type("nn", (), {k: staticmethod(v) for k, v in strided_kernels.neural(np).items()})


AT = {
    "add": np.add.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
    "multiply": np.multiply.at,
}
STRIDED = Namespace(
    "strided",
    array_api_compat.numpy,
    numpy_kernels.SHORTCUTS | strided_kernels.kernels(np, AT),
    _extension,
    writable=True,
)
#: Not those whose results are one choice of many.
DIRECT = [c for c in CASES if hasattr(c.entry.op, "compute") and c.entry.invariant is None]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("change", "nan"), [(np.maximum.at, -1), (np.minimum.at, 0)])
def test_extremes_by_integers_are_exact(dtype: str, change: Any, nan: int) -> None:
    rng = np.random.default_rng(0)
    x = np.array([*rng.standard_normal(6), np.nan, -np.inf, 0.0, 1e-320], dtype)
    key = rng.integers(0, len(x), 40)
    values = np.array([*rng.standard_normal(36), np.nan, np.inf, -0.0, -1e30], dtype)
    expected, found = x.copy(), x.copy()
    with np.errstate(invalid="ignore"):
        change(expected, key, values)
    strided_kernels.extreme_at(np, change, nan)(found, key, values)
    np.testing.assert_array_equal(found, expected)


def test_extremes_of_integers() -> None:
    x = np.array([3, -4])
    strided_kernels.extreme_at(np, np.maximum.at, -1)(x, (np.array([1, 1]),), np.array([7, 9]))
    assert x.tolist() == [3, 9]


def test_all_kernels_are_there() -> None:
    assert strided_kernels.kernels(np, AT).keys() == numpy_kernels.KERNELS.keys()
    names = set(dir(numpy_extension("nn"))) & strided_kernels.neural(np).keys()
    assert names == strided_kernels.neural(np).keys()
    assert set(EXTENSIONS) == {"fft", "linalg", "nn", "special"}


@pytest.mark.parametrize("case", DIRECT, ids=[case.id for case in DIRECT])
def test_operations_compute_what_numpy_computes(case: Case) -> None:
    op = case.entry.op
    params = {name: case.sample.params[name] for name in op.params if name in case.sample.params}
    for kind in case.kinds:
        arrays = case.arrays(kind)
        expected = op.compute(backends.NUMPY, *arrays, **params)
        got = op.compute(STRIDED, *arrays, **params)
        for mine, theirs in zip(leaves(got), leaves(expected), strict=True):
            assert_near(mine, theirs, kind, rtol=1e-11)
