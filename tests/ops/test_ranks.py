"""The indices of medians, modes and records of lines, and quantiles."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.ops import ranks

X = np.array([[3.0, 1.0, 2.0, 2.0, 5.0], [4.0, 4.0, 0.0, 7.0, 0.0]])


def test_medians() -> None:
    assert np.asarray(ranks.median_index(wg.asarray(X), 1, False)).tolist() == [[3], [0]]
    gaps = np.where(X == 5.0, np.nan, X)
    assert np.asarray(ranks.median_index(wg.asarray(gaps), 1, False)).tolist() == [[4], [0]]
    assert np.asarray(ranks.median_index(wg.asarray(gaps), 1, True)).tolist() == [[2], [0]]


def test_modes_have_the_last_index_of_the_least_of_the_most_frequent() -> None:
    assert np.asarray(ranks.mode_index(wg.asarray(X), 1)).tolist() == [[3], [4]]


def test_records() -> None:
    largest = ranks.record_indices(wg.asarray(X), 1, largest=True)
    assert np.asarray(largest).tolist() == [[0, 0, 0, 0, 4], [0, 1, 1, 3, 3]]
    smallest = ranks.record_indices(wg.asarray(X), 1, largest=False)
    assert np.asarray(smallest).tolist() == [[0, 1, 1, 1, 1], [0, 1, 2, 2, 4]]


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles(method: str) -> None:
    levels = np.array([0.0, 0.3, 0.5, 0.9])
    found = ranks.quantiles(wg.asarray(X), wg.asarray(levels), method, False)
    assert np.allclose(np.asarray(found), np.quantile(X, levels, axis=1, method=method).T)


def test_the_derivative_goes_to_one_of_equal_elements() -> None:
    def median(x: wg.Tensor) -> wg.Tensor:
        return ranks.taken(x, ranks.median_index(x, 0, False), 0)[0]

    assert np.asarray(wg.grad(median)(wg.asarray([2.0, 1.0, 2.0]))).tolist() == [1.0, 0.0, 0.0]


def test_runs() -> None:
    first, run, lengths = ranks.runs(np.array([1, 1, 2, 1]), 0)
    assert (first.tolist(), run.tolist(), lengths.tolist()) == ([0, 2, 3], [0, 0, 1, 2], [2, 1, 1])
