"""Scaled dot-product attention, beyond the table of operations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert as wg
from tests.ops.gradients import grad_at

RANDOM = np.random.default_rng(3)
nn = wg.nn
QUERY, KEY = RANDOM.standard_normal((2, 4, 3)), RANDOM.standard_normal((2, 5, 3))
VALUE = RANDOM.standard_normal((2, 5, 2))
attention = nn.scaled_dot_product_attention


def attended(q, k, v, bias=0.0, scale=None):
    z = q @ np.swapaxes(k, -1, -2) * (scale or 1 / np.sqrt(q.shape[-1])) + bias
    return scipy.special.softmax(z, axis=-1) @ v


def test_attention_is_what_it_says():
    np.testing.assert_allclose(attention(QUERY, KEY, VALUE).numpy(), attended(QUERY, KEY, VALUE))
    np.testing.assert_allclose(
        attention(QUERY, KEY, VALUE, scale=0.3).numpy(), attended(QUERY, KEY, VALUE, scale=0.3)
    )
    wg.check_grads(attention, [QUERY, KEY, VALUE], order=2)


def test_attention_takes_masks_of_booleans_and_of_numbers():
    seen = np.array([[1, 1, 0, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 1]], bool)
    expected = attended(QUERY, KEY, VALUE, np.where(seen, 0, -np.inf))
    np.testing.assert_allclose(attention(QUERY, KEY, VALUE, mask=seen).numpy(), expected)
    added = np.where(seen, 0.0, -np.inf)
    np.testing.assert_allclose(attention(QUERY, KEY, VALUE, mask=added).numpy(), expected)
    numbers = RANDOM.standard_normal((4, 5))
    wg.check_grads(lambda *a: attention(*a[:3], mask=a[3]), [QUERY, KEY, VALUE, numbers], order=2)


def test_causal_attention():
    seen = np.tri(4, 5, dtype=bool)
    causal = attention(QUERY, KEY, VALUE, is_causal=True).numpy()
    np.testing.assert_allclose(causal, attention(QUERY, KEY, VALUE, mask=seen).numpy())
    both = np.ones((4, 5), bool)
    both[:, 1] = False
    np.testing.assert_allclose(
        attention(QUERY, KEY, VALUE, is_causal=True, mask=both).numpy(),
        attention(QUERY, KEY, VALUE, mask=seen & both).numpy(),
    )


@pytest.mark.parametrize("kind", [bool, float])
def test_a_query_that_sees_nothing_gets_zero_and_no_derivative(kind):
    seen = np.ones((4, 5), bool)
    seen[2] = False
    mask = seen if kind is bool else np.where(seen, 0.0, -np.inf)
    got = attention(QUERY, KEY, VALUE, mask=mask).numpy()
    np.testing.assert_array_equal(got[:, 2], 0)
    slopes = grad_at(lambda *a: attention(*a, mask=mask), QUERY, KEY, VALUE)
    assert all(np.isfinite(s).all() for s in slopes)
    np.testing.assert_array_equal(slopes[0][:, 2], 0)


def test_attention_broadcasts_and_takes_other_numbers_of_keys():
    q = RANDOM.standard_normal((3, 1, 4, 3))
    expected = attended(q, KEY, VALUE)
    assert expected.shape == (3, 2, 4, 2)
    np.testing.assert_allclose(attention(q, KEY, VALUE).numpy(), expected)
    nothing = attention(QUERY, KEY[:, :0], VALUE[:, :0]).numpy()
    np.testing.assert_array_equal(nothing, np.zeros((2, 4, 2)))


def test_attention_with_dropout():
    generator = np.random.default_rng(5)
    got = attention(QUERY, KEY, VALUE, dropout_p=0.5, generator=generator).numpy()
    weights = attended(QUERY, KEY, np.eye(5))
    dropped = nn.dropout(weights, 0.5, generator=np.random.default_rng(5)).numpy()
    np.testing.assert_allclose(got, dropped @ VALUE)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: attention(QUERY, VALUE, VALUE), wg.ShapeError, r"query of shape \(2, 4, 3\), key"),
        (lambda: attention(QUERY, KEY, VALUE[:, :4]), wg.ShapeError, r"expected \(..., n, e\)"),
        (lambda: attention(QUERY[0, 0], KEY, VALUE), wg.ShapeError, r"expected \(..., n, e\), "),
        (
            lambda: attention(QUERY, KEY[:1, None].repeat(3, 1), VALUE),
            wg.ShapeError,
            r"expected \(..., n, e\), ",
        ),
        (
            lambda: attention(QUERY, KEY, VALUE, mask=np.ones((3, 5), bool)),
            wg.ShapeError,
            r"\(3, 5\); expected one that broadcasts to that of the scores, \(2, 4, 5\)",
        ),
        (
            lambda: attention(QUERY, KEY, VALUE, mask=np.ones((7, 2, 4, 5), bool)),
            wg.ShapeError,
            "expected one that broadcasts",
        ),
        (
            lambda: attention(QUERY, KEY, VALUE, mask=np.ones((4, 5), int)),
            wg.DtypeError,
            "mask of int64; expected booleans",
        ),
        (lambda: attention(QUERY, KEY, VALUE, dropout_p=1), ValueError, "dropout_p is 1"),
        (lambda: attention(QUERY, KEY, VALUE, dropout_p=0.5), TypeError, "NoneType; expected a np"),
    ],
)
def test_bad_input_of_attention(call, error, words):
    with pytest.raises(error, match=words):
        call()
