"""tf.math, tf.linalg and tf.signal of the dialect, with values that are known."""

import math

import numpy as np
import pytest

import wengert.tensorflow as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def gradient(f, *values):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, xs)]


def test_functions_are_under_both_names():
    assert tf.math.exp is tf.exp
    assert tf.math.reduce_sum is tf.reduce_sum
    assert tf.linalg.matmul is tf.matmul


def test_python_numbers_become_tensors():
    assert tf.sqrt(4.0).numpy() == 2.0
    assert tf.add(x=1.0, y=2.0, name="sum").dtype == tf.float32
    assert tf.maximum([1, 5], 3).numpy().tolist() == [3, 5]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.exp(1), tf.errors.InvalidArgumentError),
        (lambda: tf.floor(tf.constant([1])), tf.errors.InvalidArgumentError),
        (lambda: tf.add(tf.constant(1), tf.constant(1.0)), tf.errors.InvalidArgumentError),
        (lambda: tf.multiply(tf.constant(1), 2.5), TypeError),
        (lambda: tf.divide(tf.constant(1), tf.constant(1.0)), TypeError),
        (lambda: tf.add(True, False), tf.errors.InvalidArgumentError),
        (lambda: tf.math.floordiv(1, 0), tf.errors.InvalidArgumentError),
        (lambda: tf.pow(2, -1), tf.errors.InvalidArgumentError),
        (lambda: tf.reduce_sum(X, axis=2), tf.errors.InvalidArgumentError),
        (lambda: tf.reduce_sum(X, axis=[0, 0]), tf.errors.InvalidArgumentError),
        (lambda: tf.exp(None), ValueError),
        (lambda: tf.math.reduce_std([1, 2]), TypeError),
        (lambda: tf.matmul(X, [1.0, 2.0]), tf.errors.InvalidArgumentError),
        (lambda: tf.matmul(X, X, transpose_a=True, adjoint_a=True), ValueError),
        (lambda: tf.einsum("ij->k", X), ValueError),
        (lambda: tf.tensordot(X, X, 3), ValueError),
        (lambda: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]), tf.errors.InvalidArgumentError),
        (lambda: tf.norm(X, ord="fro"), ValueError),
        (lambda: tf.math.segment_sum([1.0, 2.0], [1, 0]), tf.errors.InvalidArgumentError),
        (lambda: tf.signal.fft(X), tf.errors.InvalidArgumentError),
    ],
)
def test_errors_are_of_tensorflows_classes(call, error):
    with pytest.raises(error):
        call()


def test_whole_numbers():
    assert tf.reduce_mean([-1, -2, -4]).numpy() == -2
    assert (tf.constant([7, -7]) // 2).numpy().tolist() == [3, -4]
    assert (tf.constant(1) / 2).dtype == tf.float64
    assert tf.reduce_max(tf.zeros([0], tf.int32)).numpy() == np.iinfo(np.int32).min


def test_ties_and_kinks_are_tensorflows():
    assert gradient(tf.maximum, [1.0], [1.0]) == [[1.0], [0.0]]
    assert gradient(tf.minimum, [1.0], [1.0]) == [[1.0], [0.0]]
    assert gradient(tf.reduce_max, [1.0, 1.0, 0.0]) == [[0.5, 0.5, 0.0]]
    assert gradient(tf.sign, [2.0]) == [[0.0]]
    assert gradient(tf.floor, [2.0]) == [None]
    assert gradient(tf.abs, [0.0]) == [[0.0]]
    assert gradient(tf.math.xlogy, [0.0], [2.0]) == [[0.0], [0.0]]
    assert gradient(tf.math.divide_no_nan, [1.0], [0.0]) == [[0.0], [0.0]]
    assert gradient(tf.math.multiply_no_nan, [math.inf], [0.0]) == [[0.0], [math.inf]]
    assert gradient(tf.pow, [-2.0], [3.0]) == [[12.0], [0.0]]
    assert gradient(tf.math.zeta, [2.0], [1.0])[0] is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_norm_has_no_derivative_at_zero():
    for f in (tf.norm, tf.math.reduce_euclidean_norm, tf.math.reduce_std):
        assert np.isnan(gradient(f, [0.0, 0.0])[0]).all()
    assert np.isnan(gradient(lambda x: x**0.0, [0.0])[0]).all()


def test_running_sums():
    x = [1.0, 2.0, 3.0]
    assert tf.cumsum(x, exclusive=True).numpy().tolist() == [0.0, 1.0, 3.0]
    assert tf.cumsum(x, reverse=True).numpy().tolist() == [6.0, 5.0, 3.0]
    assert tf.math.cumprod(x, exclusive=True, reverse=True).numpy().tolist() == [6.0, 3.0, 1.0]
    # TensorFlow has zeros here
    assert gradient(tf.math.cumprod, [0.0, 2.0]) == [[3.0, 0.0]]


def test_segments():
    x, ids = [1.0, 2.0, 3.0], [2, -1, 0]
    assert tf.math.unsorted_segment_sum(x, ids, 3).numpy().tolist() == [3.0, 0.0, 1.0]
    assert tf.math.unsorted_segment_max(x, ids, 3)[1].numpy() == np.finfo(np.float32).min
    assert tf.math.segment_max(x, [0, 0, 2]).numpy().tolist() == [2.0, 0.0, 3.0]
    assert tf.math.bincount([1, 1, 2], weights=x).numpy().tolist() == [0.0, 3.0, 3.0]


def test_decompositions_have_tensorflows_order():
    s, u, v = tf.linalg.svd(X)
    np.testing.assert_allclose(tf.matmul(u * s, v, adjoint_b=True), X, rtol=1e-5)
    e, q = tf.linalg.eigh([[2.0, 99.0], [1.0, 2.0]])  # the lower triangle is read
    np.testing.assert_allclose(e, [1.0, 3.0], rtol=1e-5)
    np.testing.assert_allclose(np.abs(q), np.sqrt(0.5) * np.ones((2, 2)), rtol=1e-5)


def test_the_gradient_of_lu():
    a = np.array([[1.0, 2.0], [4.0, 3.0]])

    def f(x):
        return tf.reduce_sum(tf.linalg.lu(x)[0])

    found = gradient(f, a)[0]
    step = 1e-6
    for i in range(2):
        for j in range(2):
            change = np.zeros((2, 2))
            change[i, j] = step
            near = (f(tf.constant(a + change)) - f(tf.constant(a - change))).numpy() / (2 * step)
            assert near == pytest.approx(found[i][j], rel=1e-6)


def test_diagonals():
    with pytest.raises(tf.errors.InvalidArgumentError, match="one whole number"):
        tf.linalg.diag_part(tf.reshape(tf.range(9), [3, 3]), k=(-1, 1))
    assert tf.linalg.diag([1, 2], k=1).numpy().tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]


def test_transforms():
    assert tf.signal.fft([1.0, 1.0]).dtype == tf.complex64
    np.testing.assert_allclose(tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0, 4.0])), [1, 2, 3, 4])
    assert tf.signal.frame([1, 2, 3, 4, 5], 2, 2).numpy().tolist() == [[1, 2], [3, 4]]
