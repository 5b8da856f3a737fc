"""Keys of every form: reading, writing and selecting are as NumPy does it on plain arrays.

A short slice of what ``python -m tests.campaign --indexing --minutes 5`` goes on with.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.campaign.indexing import campaign, comparisons, numbers, one
from tests.poison import poisoned


@pytest.mark.parametrize("seed", range(8))
def test_random_keys(seed: int) -> None:
    report = campaign(seed, programs=60)
    assert not report.failures, report.markdown()
    assert report.comparisons > 800


def test_every_comparison_is_made() -> None:
    counts = campaign(1, programs=150).counts
    for name in ("get", "refused", "at.set", "at.max", "x[key] = values", "tangent of at.set"):
        assert counts[name], name


#: Keys that were once read otherwise than NumPy reads them, with the shape of the array.
FOUND = {
    "an ellipsis for no axis between arrays": ((2, 2, 6), np.s_[:, np.array([0, 1]), ..., 5]),
    "a list and a number around an ellipsis": ((3, 4), ([0, 2], ..., 1)),
    "backward": ((4,), np.s_[::-1]),
    "backward, past both ends": ((3, 2), np.s_[7:-9:-2, ::-1]),
    "a new axis outside": ((3,), np.s_[None, 2]),
    "an index of no elements": ((3, 2), np.zeros(0, int)),
    "a mask of nothing": ((3,), np.zeros(3, bool)),
    "a 0-d index": ((3,), np.array(1)),
    "the same element three times": ((2, 2), (np.array([1, 1, -1]), np.array([0, 0, 0]))),
}


@pytest.mark.parametrize("name", FOUND)
def test_keys_that_were_found(name: str) -> None:
    shape, key = FOUND[name]
    rng = np.random.default_rng(0)
    with poisoned():
        for _ in range(20):  # with other weights and other keys beside it
            assert len(list(comparisons(rng, numbers(rng, shape), key))) > 20


def test_a_seed_is_an_array_and_a_key() -> None:
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    assert one((5, 7), first) == one((5, 7), second)
    assert first == second
