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
