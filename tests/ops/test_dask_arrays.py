"""Operations on Dask's arrays: values and gradients are graphs that nothing computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.exemptions import DASK
from tests.ops.op_cases import CASES, Case, inexact, leaves, weights_like
from wengert import backends

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

NAMES = list(dict.fromkeys(case.name for case in CASES))


def raising(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("a graph was computed")


def results_and_gradients(case: Case, kind: str, convert: Any, weights: Any = None) -> Any:
    arrays = case.arrays(kind)
    tensors = [wg.asarray(convert(a)) for a in arrays]
    sources = [t for t, a in zip(tensors, arrays, strict=True) if inexact(a)]
    with wg.GradientTape() as tape:
        tape.watch(sources)
        results = leaves(case.function(*tensors))
    weights = weights or weights_like(results)
    pairs = [(r, convert(w)) for r, w in zip(results, weights, strict=True) if inexact(w)]
    if not pairs or not sources:
        return results, weights
    targets, seeds = map(list, zip(*pairs, strict=True))
    found = tape.gradient(targets, sources, output_gradients=seeds, unconnected_gradients="zero")
    return [*results, *found], weights


def check(case: Case, kind: str) -> None:
    expected, weights = results_and_gradients(case, kind, lambda a: a)
    with dask.config.set(scheduler=raising):
        size = 1 + case.number % 2
        got, _ = results_and_gradients(case, kind, lambda a: da.from_array(a, chunks=size), weights)
    assert all(isinstance(mine.data, da.Array) for mine in got)
    computed = dask.compute(*(mine.data for mine in got), scheduler="synchronous")
    for value, theirs in zip(map(np.asarray, computed), expected, strict=True):
        assert (value.shape, value.dtype) == (theirs.shape, theirs.numpy().dtype)
        np.testing.assert_allclose(value, theirs.numpy(), rtol=1e-10, atol=1e-10)


def check_all(name: str) -> None:
    for case in (c for c in CASES if c.name == name):
        for kind in case.kinds[:1] + [k for k in case.kinds[1:] if k == "c"]:
            check(case, kind)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in DASK])
def test_values_and_gradients_stay_lazy(name: str) -> None:
    check_all(name)


@pytest.mark.parametrize("name", DASK)
def test_what_is_exempt_says_so(name: str) -> None:
    with pytest.raises(wg.BackendError, match="allow_host_fallback"):
        check_all(name)


def test_unknown_chunks_are_an_error_with_a_sentence() -> None:
    x = da.arange(4.0, chunks=2)
    with pytest.raises(wg.BackendError, match="compute_chunk_sizes"):
        backends.namespace_of(x).reshape(x[x > 1], (1, -1))
