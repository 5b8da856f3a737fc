"""0 as a cotangent where a derivative is infinite, or not a number: TensorFlow's product is 0."""

import numpy as np
import pytest

from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

FUNCTIONS = {
    "sqrt": lambda tf, x: tf.sqrt(x),
    "rsqrt": lambda tf, x: tf.math.rsqrt(x),
    "reciprocal": lambda tf, x: tf.math.reciprocal(x),
    "std": lambda tf, x: tf.math.reduce_std(x),
    "norm": lambda tf, x: tf.norm(x),
    "norm of a matrix": lambda tf, x: tf.norm(tf.reshape(x, [1, -1]), axis=[0, 1]),
    "global_norm": lambda tf, x: tf.linalg.global_norm([x]),
    "l2_normalize": lambda tf, x: tf.nn.l2_normalize(x, epsilon=0.0),
    "batch_normalization": lambda tf, x: tf.nn.batch_normalization(
        tf.constant([1.0, 2.0], tf.float64), 0.0, x, None, None, 0.0
    ),
}
POINTS = {"zero": [0.0, 0.0], "negative": [-1.0, -3.0], "positive": [4.0, 1.0]}


def _orders(tf, f, start, weight):
    """Return the gradient of a weighted result, and its own by x and the weight."""
    x, w = tf.constant(start, tf.float64), tf.constant(weight, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch([x, w])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(tf, x) * w)
        first = tape.gradient(y, x)
        total = tf.reduce_sum(first)
    return first, outer.gradient(total, [x, w])


@pytest.mark.parametrize("weight", [0.0, 2.0])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name, point, weight):
    compare(lambda tf: _orders(tf, FUNCTIONS[name], POINTS[point], weight))


@pytest.mark.parametrize("name", ["std", "norm", "global_norm"])
def test_under_an_absolute_value(name):
    def program(tf):
        x = tf.Variable(np.zeros(3))
        with tf.GradientTape() as tape:
            y = tf.abs(FUNCTIONS[name](tf, x))
        return tape.gradient(y, x)

    compare(program)
