"""Operations on Dask's arrays: values and gradients are graphs that nothing computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import CASES, Case, inexact, leaves, weights_like
from wengert import backends

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

#: Operations with a sample that has no lazy form, by the reason.
REASONS = {
    "its kernel is NumPy's, and has no lazy form yet": [
        "gcd",
        "lcm",
        "segment_prod",
        "segment_max",
        "segment_min",
        "segment_logsumexp",
        "segment_softmax",
        "at_max",
        "at_min",
        "nn.convolve",
        "nn.convolve_input",
        "nn.convolve_weight",
        "nn.convolve_biased",
        "nn.combine",
        "nn.max_pool",
        "nn.max_pool_spread",
        "nn.max_pool_gather",
        "nn.max_pool_indices",
        "nn.window_sum",
        "nn.window_spread",
        "nn.unfold_windows",
        "nn.fold_windows",
        "random.truncated_normal_sample",
        "random.log_gamma_sample",
    ],
    "Dask repeats each element equally often": [
        "repeat",
    ],
    "Dask has no largest element of an empty chunk": [
        "max",
        "min",
        "special.logsumexp",
        "max(others=0)",
        "min(others=0)",
        "nn.cross_entropy",
        "nn.cross_entropy_pull",
    ],
    "the order is needed to record it": [
        "sort",
    ],
    "the probe for its dtype is outside of its domain": [
        "special.multigammaln",
    ],
    "decompositions and solvers need whole matrices": [
        "linalg.solve_banded",
        "linalg.solve",
        "linalg.inv",
        "linalg.solve_triangular",
        "linalg.cholesky",
        "linalg.cofactor",
        "linalg.det",
        "linalg.slogdet",
        "linalg.solve_sylvester",
        "linalg.eigh",
        "linalg.eig",
        "linalg.svd",
        "linalg.qr",
        "linalg.expm",
        "linalg.logm",
        "linalg.sqrtm",
        "linalg.pinv",
        "linalg.matrix_rank",
        "linalg.eigh(ties=inf, reads=triangle)",
        "linalg.cholesky(reads=triangle)",
        "linalg.eig(ties=inf)",
        "linalg.slogdet(singular=nan)",
        "linalg.svd(ties=inf)",
        "linalg.qr(dependent=nan)",
        "linalg.lu_order",
        "linalg.lu_factors",
    ],
    "Dask transforms an axis of one chunk only": [
        "fft.forward",
        "fft.inverse",
        "fft.from_real",
        "fft.to_real",
        "fft.fft",
        "fft.ifft",
        "fft.rfft",
        "fft.irfft",
        "fft.hfft",
        "fft.ihfft",
        "fft.fftn",
        "fft.ifftn",
        "fft.rfftn",
        "fft.irfftn",
        "fft.fft2",
        "fft.ifft2",
        "fft.rfft2",
        "fft.irfft2",
    ],
    "an array of Dask's has no device": [
        "nn.attention_weights",
    ],
}
EXEMPT = {name: reason for reason, names in REASONS.items() for name in names}
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
    for mine, theirs in zip(got, expected, strict=True):
        assert isinstance(mine.data, da.Array)
        value = np.asarray(mine.data.compute(scheduler="synchronous"))
        assert (value.shape, value.dtype) == (theirs.shape, theirs.numpy().dtype)
        np.testing.assert_allclose(value, theirs.numpy(), rtol=1e-10, atol=1e-10)


def check_all(name: str) -> None:
    for case in (c for c in CASES if c.name == name):
        for kind in case.kinds[:1] + [k for k in case.kinds[1:] if k == "c"]:
            check(case, kind)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in EXEMPT])
def test_values_and_gradients_stay_lazy(name: str) -> None:
    check_all(name)


@pytest.mark.parametrize("name", EXEMPT)
def test_what_is_exempt_does_not_pass(name: str) -> None:
    with pytest.raises(Exception):  # noqa: B017
        check_all(name)


def test_unknown_chunks_are_an_error_with_a_sentence() -> None:
    x = da.arange(4.0, chunks=2)
    with pytest.raises(wg.BackendError, match="compute_chunk_sizes"):
        backends.namespace_of(x).reshape(x[x > 1], (1, -1))
