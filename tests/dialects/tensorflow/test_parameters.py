"""Derivatives by parameters that are mostly given as numbers: widths, edges, weights, rates."""

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.tensorflow.array_cases import A, grad
from tests.dialects.tensorflow.parity import compare

TALL = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
RIGHT = np.array([[1.0], [2.0], [-1.0]])

PROGRAMS = {
    "kaiser": lambda tf: [
        grad(tf, lambda b: tf.signal.kaiser_window(5, b), np.float32(3.0)),
        grad(tf, lambda b: tf.signal.kaiser_window(4, b, tf.float64), np.float64(12.0)),
        grad(tf, lambda b: tf.signal.kaiser_window(3, b), np.float64(0.5)),
    ],
    "kaiser wide": lambda tf: tf.signal.kaiser_window(5, 1000.0, tf.float64),
    "kaiser int dtype": lambda tf: tf.signal.kaiser_window(5, 3.0, tf.int32),
    "lstsq": lambda tf: [
        grad(tf, lambda w, a: tf.linalg.lstsq(a, RIGHT, w), np.float64(weight), TALL)
        for weight in (0.0, 0.3)
    ],
    "lstsq wide": lambda tf: grad(
        tf, lambda w: tf.linalg.lstsq(TALL.T, RIGHT[:2], w), np.float64(0.3)
    ),
    "dropout of nothing": lambda tf: grad(
        tf, lambda x, rate: tf.nn.dropout(x, rate), A, np.float32(0.0)
    ),
    "dropout of another dtype": lambda tf: tf.nn.dropout(A, tf.constant(0.5, tf.float64)),
}


@pytest.mark.parity
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], rtol=1e-5)


def test_the_rate_of_dropout_scales_what_is_kept() -> None:
    x, rate = ours.ones(50), ours.constant(0.5)
    with ours.GradientTape() as tape:
        tape.watch(rate)
        y = ours.nn.dropout(x, rate, seed=1)
    kept = np.count_nonzero(y)
    assert 0 < kept < 50
    np.testing.assert_allclose(tape.gradient(y, rate), 4.0 * kept)  # of 1 / (1 - rate)


def test_kaiser_windows_are_even_in_beta() -> None:
    """TensorFlow's grow above 1 where beta is negative, unlike those of its reference, NumPy."""
    found = []
    for beta in (2.5, -2.5):
        b = ours.constant(beta, ours.float64)
        with ours.GradientTape() as tape:
            tape.watch(b)
            y = ours.signal.kaiser_window(6, b, ours.float64)
        found.append((np.asarray(y), np.asarray(tape.gradient(y, b))))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], -found[1][1], rtol=1e-12)
    np.testing.assert_allclose(found[1][0], np.kaiser(6, -2.5), rtol=1e-9)
