"""Clipping of gradients, and norms of trees."""

from __future__ import annotations

import math

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from tests.optim.trees import block_and_dense, same
from wengert import optim

# -- clipping ---------------------------------------------------------------------------------


def test_clip_by_value():
    tree = {"a": np.array([-3.0, 0.5, np.nan, np.inf]), "b": None, "c": wg.asarray([2.0])}
    clipped = optim.clip_by_value(tree, 1.0)
    np.testing.assert_array_equal(clipped["a"], [-1.0, 0.5, np.nan, 1.0])
    assert clipped["b"] is None and type(clipped["c"]) is wg.Tensor
    assert optim.clip_by_value(np.array([-3.0, 3.0]), (-1, 2)).tolist() == [-1.0, 2.0]
    assert optim.clip_by_value(np.ones(2, np.float32), 0.5).dtype == np.float32
    assert type(optim.clip_by_value(3.0, 1.0)) is np.float64


def test_clip_by_norm():
    tree = [np.array([3.0, 4.0]), np.zeros(2), None, np.array([0.3, 0.4]), np.array([3j, 4])]
    clipped = optim.clip_by_norm(tree, 1.0)
    np.testing.assert_allclose(clipped[0], [0.6, 0.8])
    assert clipped[1].tolist() == [0.0, 0.0] and clipped[2] is None
    assert clipped[3].tolist() == [0.3, 0.4]
    np.testing.assert_allclose(clipped[4], [0.6j, 0.8])


def test_clip_by_global_norm():
    tree = {"a": np.array([3.0], np.float32), "b": [wg.asarray([4.0]), None]}
    clipped, norm = optim.clip_by_global_norm(tree, 2.5)
    assert norm == 5.0 and type(norm) is float
    assert clipped["a"] == 1.5 and clipped["a"].dtype == np.float32
    assert clipped["b"][0].tolist() == [2.0] and clipped["b"][1] is None
    same_tree, norm = optim.clip_by_global_norm(tree, 5.0)
    assert norm == 5.0 and same(same_tree, tree)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_norm_that_is_not_finite(bad):
    tree = [np.array([bad, 1.0]), np.array([100.0])]
    clipped, norm = optim.clip_by_global_norm(tree, 1.0)
    assert same(clipped, tree) and not math.isfinite(norm)
    each = optim.clip_by_norm(tree, 1.0)
    assert same(each[0], tree[0]) and each[1] == 1.0


@pytest.mark.parametrize("tree", [[], {}, None, [None], [np.zeros(3)], [np.ones((0, 2))]])
def test_a_norm_of_nothing(tree):
    assert optim.global_norm(tree) == 0.0
    clipped, norm = optim.clip_by_global_norm(tree, 1.0)
    assert norm == 0.0 and same(clipped, tree)


MAKERS = {"numpy": np.asarray, "strict": array_api_strict.asarray, "jax": jnp.asarray}
SIZES = {
    "float16": [1.0],
    "float32": [1.0, 1e-30, 1e30],
    "complex64": [1.0, 1e-30, 1e30],
    "float64": [1.0, 1e-30, 1e30, 1e-200, 1e200],
}
LACKING = {("strict", "float16"), ("jax", "float64")}


@pytest.mark.parametrize(
    ("library", "kind", "size"),
    [
        (library, kind, size)
        for library in MAKERS
        for kind, sizes in SIZES.items()
        for size in sizes
        if (library, kind) not in LACKING
    ],
)
def test_norms_of_any_size(library, kind, size):
    x = MAKERS[library](np.array([3.0 * size, -4.0 * size], kind))
    assert optim.global_norm([x, x]) == pytest.approx(5.0 * math.sqrt(2) * size, rel=1e-3)
    (clipped,), _ = optim.clip_by_global_norm([x], size)
    np.testing.assert_allclose(np.asarray(clipped), np.array([0.6, -0.8]) * size, rtol=2e-3)
    assert type(clipped) is type(x) and clipped.dtype == x.dtype


def test_clipping_blocks():
    block, dense = block_and_dense((slice(1, 3), 2))
    clipped, norm = optim.clip_by_global_norm([block, None], 0.1)
    want, want_norm = optim.clip_by_global_norm([dense, None], 0.1)
    assert type(clipped[0]) is wg.Block and norm == pytest.approx(want_norm)
    np.testing.assert_allclose(clipped[0].todense().numpy(), want[0].numpy())
    each = optim.clip_by_norm(block, 0.1)
    np.testing.assert_allclose(each.todense().numpy(), want[0].numpy())
    small = optim.clip_by_value(block, 0.2)
    assert type(small) is wg.Block
    np.testing.assert_array_equal(small.todense().numpy(), np.clip(dense.numpy(), -0.2, 0.2))
    moved = optim.clip_by_value(block, (0.1, 0.2))  # the zeros move too
    np.testing.assert_array_equal(moved.numpy(), np.clip(dense.numpy(), 0.1, 0.2))


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clipping_is_differentiable(limit):
    def by_norm(x, y):
        clipped, norm = optim.clip_by_global_norm({"x": x, "y": y}, limit)
        return wg.sum(clipped["x"] ** 3) + wg.sum(clipped["y"]) + norm

    def by_each(x, y):
        return sum(wg.sum(g**3) for g in optim.clip_by_norm([x, y], limit))

    def by_value(x, y):
        return sum(wg.sum(g**3) for g in optim.clip_by_value([x, y], limit))

    for function in (by_norm, by_each, by_value):
        wg.check_grads(function, [[0.3, -0.9], [0.4]])


def test_a_recorded_norm():
    x = np.array([0.0, 0.0])
    assert wg.grad(optim.global_norm)(x).tolist() == [0.0, 0.0]
    assert wg.grad(lambda x: optim.clip_by_global_norm([x], 1.0)[0][0][0])(x).tolist() == [1.0, 0.0]
    slope = wg.grad(lambda x: optim.global_norm([x, np.ones(2)]))(np.array([1.0, 1.0]))
    np.testing.assert_allclose(slope, 0.5)
    mixed = wg.grad(lambda x: wg.sum(optim.clip_by_global_norm([x, np.ones(2)], 1.0)[0][1]))
    wg.check_grads(
        lambda x: wg.sum(optim.clip_by_global_norm([x, np.ones(2)], 1.0)[0][1]), [[1.0, 2.0]]
    )
    assert np.all(mixed(np.ones(2)) < 0)
    single = wg.grad(lambda x: wg.sum(optim.clip_by_norm(x, 1.0)))(np.ones(2, np.float32))
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optim.clip_by_value([np.ones(1)], -1.0), ValueError, "limit is -1.0"),
        (lambda: optim.clip_by_value([np.ones(1)], (2, 1)), ValueError, r"limit is \(2, 1\)"),
        (lambda: optim.clip_by_value([np.ones(1)], math.nan), ValueError, "limit is nan"),
        (lambda: optim.clip_by_value({"z": np.ones(1) * 1j}, 1.0), wg.DtypeError, "have no order"),
        (lambda: optim.clip_by_norm([np.ones(1)], 0.0), ValueError, "max_norm is 0.0"),
        (lambda: optim.clip_by_global_norm([np.ones(1)], -2), ValueError, "max_norm is -2"),
        (lambda: optim.clip_by_norm({"n": np.arange(2)}, 1.0), wg.DtypeError, r"gradients\['n'\]"),
        (lambda: optim.global_norm([np.arange(2)]), wg.DtypeError, "got int64"),
        (lambda: optim.global_norm(["x"]), TypeError, "got str"),
    ],
)
def test_bad_clipping(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_clipping_adds_up_rows_that_come_twice():
    block = wg.Block((9, 1), (np.array([5, 5]), range(1)), np.ones((2, 1)))
    dense = block.todense()
    assert optim.global_norm([block]) == optim.global_norm([dense]) == 2.0
    for clip in (
        lambda g: optim.clip_by_value(g, 1.0),
        lambda g: optim.clip_by_norm(g, 1.0),
        lambda g: optim.clip_by_global_norm(g, 1.0)[0],
    ):
        np.testing.assert_allclose(np.asarray(clip([block])[0]), np.asarray(clip([dense])[0]))
