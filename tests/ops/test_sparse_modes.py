"""Every operation of the registry in a sparse Jacobian: no test names an operation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import SMOOTH, Case, inexact, leaves


def of_real_numbers(y: Any) -> Any:
    return wg.real(y) - wg.imag(y) if y.dtype.kind == "c" else y * 2.0


REAL = [case for case in SMOOTH if "f" in case.kinds]


@pytest.mark.parametrize("case", REAL, ids=[case.id for case in REAL])
@pytest.mark.parametrize("pattern", ["global", "local"])
def test_sparse_jacobians_are_dense_ones(case: Case, pattern: str) -> None:
    arrays = case.arrays("f")
    for k, array in enumerate(arrays):
        if not inexact(array):
            continue
        for number, result in enumerate(leaves(case.function(*map(wg.asarray, arrays)))):
            if not inexact(result):
                continue

            def function(x: Any, k: int = k, number: int = number) -> Any:
                # x is also used in a place where it is not what the operation gets
                tensors = [x * 1.0 if i == k else wg.asarray(a) for i, a in enumerate(arrays)]
                return of_real_numbers(leaves(case.function(*tensors))[number])

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wg.UnconnectedWarning)
                dense = wg.jacobian(function)(array)
                shape = (result.size, array.size)
                for mode in ("auto", "forward") if pattern == "global" else ("auto",):
                    plan = wg.sparse.jacobian(function, array, pattern=pattern, mode=mode)
                    got = plan(array).toarray()
                    np.testing.assert_allclose(
                        got, dense.reshape(shape), rtol=1e-9, atol=1e-11, err_msg=case.id
                    )


@pytest.mark.parametrize("case", REAL, ids=[case.id for case in REAL])
def test_global_patterns_hold_at_other_arguments(case: Case) -> None:
    """Also where elements are in another order, so that other branches are taken."""
    if case.entry.inputs is not None:
        return
    arrays = case.arrays("f")
    random = np.random.default_rng(3)
    for k, array in enumerate(arrays):
        if not inexact(array) or not array.size:
            continue
        results = leaves(case.function(*map(wg.asarray, arrays)))
        if not inexact(results[0]):
            continue

        def function(x: Any, k: int = k) -> Any:
            tensors = [x if i == k else wg.asarray(a) for i, a in enumerate(arrays)]
            return of_real_numbers(leaves(case.function(*tensors))[0])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wg.UnconnectedWarning)
            plan = wg.sparse.jacobian(function, array, check=True)
            other = random.permutation(array.ravel()).reshape(array.shape)
            dense = wg.jacobian(function)(other).reshape(plan.shape)
            try:
                got = plan(other).toarray()
            except wg.sparse.PatternError as error:
                if case.name in CHOSEN_BY_VALUE:
                    continue
                raise AssertionError(case.id) from error
        np.testing.assert_allclose(got, dense, rtol=1e-9, atol=1e-11, err_msg=case.id)


#: Functions that compute indices from their argument, which count as constants.
CHOSEN_BY_VALUE = {"sort": "an index by argsort"}
