"""Influence through products, whose gradients are factors."""

from __future__ import annotations

import numpy as np

import wengert as wg


def test_influence_of_a_whole_argument_through_a_product():
    w, x = np.arange(6.0).reshape(2, 3), np.array([[1.0, 2.0]])
    block = wg.influence(lambda w: wg.asarray(x) @ w, w, of=np.s_[:, :])
    assert type(block) is wg.Block
    assert np.array_equal(np.asarray(block), np.array([[1.0] * 3, [2.0] * 3]))
