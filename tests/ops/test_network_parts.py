"""Parts of networks that dialects share: bags of rows, unpooling, heads of attention, layers."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.ops.neural import bags, heads, recurrent, unpooling

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode: str) -> None:
    rows, number = RNG.standard_normal((5, 3)), np.array([2, 0, 0, 2, 2])
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    expected = np.stack([reduce(rows[number == 0], axis=0), np.zeros(3),
                         reduce(rows[number == 2], axis=0)])  # fmt: skip
    found = bags.bagged(wg.asarray(rows), number, 3, mode)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    wg.check_grads(lambda x: bags.bagged(wg.asarray(x), number, 3, mode), [rows])


def test_the_first_of_equal_rows_of_a_bag_has_the_derivative() -> None:
    found = wg.grad(lambda x: wg.sum(bags.bagged(x, np.zeros(3, int), 1, "max")))(np.ones((3, 2)))
    assert found.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_largest_elements_are_put_back() -> None:
    x = RNG.standard_normal((2, 5, 4))
    largest, where = unpooling.largest_of_uneven_windows(wg.asarray(x), (3, 2))
    np.testing.assert_array_equal(largest, wg.nn.adaptive_max_pool2d(x, (3, 2)))
    np.testing.assert_array_equal(
        x.reshape(2, -1)[np.arange(2)[:, None], np.asarray(where).reshape(2, -1)],
        np.asarray(largest).reshape(2, -1),
    )
    places = np.asarray(where)
    back = np.asarray(unpooling.put_back(largest, places, (5, 4)))
    assert np.array_equal(back[back != 0], x[back != 0]) and (back != 0).sum() <= 12
    apart = RNG.permuted(np.tile(np.arange(20), (2, 1)), axis=1)[:, :6].reshape(2, 3, 2)
    wg.check_grads(lambda y: unpooling.put_back(wg.asarray(y), apart, (5, 4)), [largest.numpy()])
    wg.check_grads(lambda v: unpooling.largest_of_uneven_windows(wg.asarray(v), (3, 2))[0], [x])
    with pytest.raises(wg.ShapeError, match="position 19 of 6 elements"):
        unpooling.put_back(wg.asarray([[1.0]]), np.array([[19]]), (2, 3))


def test_an_element_that_is_written_over_has_the_derivative_of_its_position() -> None:
    twice = np.array([[1, 1]])
    found = wg.grad(lambda y: wg.sum(unpooling.put_back(y, twice, (3,)) * 2))(np.ones((1, 2)))
    assert found.tolist() == [[2, 2]]


def test_masks_of_two_kinds_are_one() -> None:
    hidden, added = wg.asarray([[True, False]]), wg.asarray([[0.5, 1.0]])
    merged = heads.merged_masks(hidden, added, added)
    assert merged is not None and merged.tolist() == [[-np.inf, 1.0]]
    assert heads.merged_masks(None, hidden, added) is hidden
    both = heads.merged_masks(hidden, wg.asarray([[False, True]]), added)
    assert both is not None and both.tolist() == [[True, True]]
    wide = heads.widened(hidden, 2)
    assert wide is not None and wide.tolist() == [[True, False, False, False]]


@pytest.mark.parametrize("shown", [True, False])
def test_shares_of_keys(shown: bool) -> None:
    q, k = RNG.standard_normal((2, 1, 2, 3, 4))
    scores = q @ np.swapaxes(k, -1, -2) / 2
    scores[..., 1] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True)
    mask = wg.asarray(np.array([[False, True, False]]))

    def shares(q: object, k: object) -> wg.Tensor:
        return heads.shares(wg.asarray(q), wg.asarray(k), mask, False, shown)

    np.testing.assert_allclose(shares(q, k), expected, rtol=1e-14)
    wg.check_grads(shares, [q, k])


def test_stacked_layers_are_layers_one_after_the_other() -> None:
    sizes, width = (2, 2, 2), 3
    parts = [
        {"weight_x": wg.asarray(RNG.standard_normal((n, width))),
         "weight_h": wg.asarray(RNG.standard_normal((width, width))),
         "bias_x": None, "bias_h": None}
        for n in (4, 4, 2 * width, 2 * width)
    ]  # fmt: skip
    rows, state = RNG.standard_normal((6, 4)), RNG.standard_normal((4, 2, width))

    def stacked(x: object, h: object) -> tuple[wg.Tensor, ...]:
        return recurrent.stacked_rows(
            recurrent.rnn_rows, wg.asarray(x), [wg.asarray(h)], parts, sizes=sizes, directions=2,
            between=lambda between: between * 0.5,
        )  # fmt: skip

    found, last = stacked(rows, state)
    x = rows
    for layer in range(2):
        x = x if not layer else x * 0.5
        ways = []
        for way, steps in enumerate(([0, 1, 2], [2, 1, 0])):
            its, h, out = parts[2 * layer + way], state[2 * layer + way], np.empty((6, width))
            for t in steps:
                here = slice(2 * t, 2 * t + 2)
                h = np.tanh(x[here] @ its["weight_x"].numpy() + h @ its["weight_h"].numpy())
                out[here] = h
            np.testing.assert_allclose(last[2 * layer + way], h, rtol=1e-12)
            ways.append(out)
        x = np.concatenate(ways, axis=1)
    np.testing.assert_allclose(found, x, rtol=1e-12)
    wg.check_grads(lambda x, h: stacked(x, h)[0], [rows, state])
