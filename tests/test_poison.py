"""Poisoned memory is what it says, where it says."""

import numpy as np
import pytest

import wengert as wg
from tests import poison
from tests.poison import poisoned
from wengert import backends


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_numbers_are_not(dtype: str) -> None:
    with poisoned():
        assert np.isnan(np.empty((2, 3), dtype)).all()
        assert np.isnan(np.empty_like(np.zeros(2, dtype))).all()
        assert np.isnan(backends.NUMPY.empty(3, dtype=dtype)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integers_are_odd_and_no_index(dtype: str) -> None:
    with poisoned():
        found = np.empty(2, dtype)
    assert (found % 2 == 1).all()
    assert (found > 100).all()


def test_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    before = poison._EMPTY, poison._EMPTY_LIKE
    for place in (np, backends.NUMPY):  # the suite itself runs on poisoned memory
        monkeypatch.setattr(place, "empty", before[0])
        monkeypatch.setattr(place, "empty_like", before[1])
    with pytest.raises(ZeroDivisionError), poisoned():
        assert np.empty is not before[0]
        backends.NUMPY.empty(1)
        raise ZeroDivisionError
    assert (np.empty, np.empty_like) == before
    assert backends.NUMPY.empty is before[0]


def test_the_suite_runs_on_poisoned_memory() -> None:
    assert np.isnan(np.empty(2)).all() and np.isnan(backends.NUMPY.empty(2)).all()


def test_what_is_written_is_right() -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)
    with poisoned():
        got = wg.grad(lambda x: wg.sum(wg.linalg.inv(x @ wg.matrix_transpose(x)) ** 2))(x)
    assert np.isfinite(got).all()
