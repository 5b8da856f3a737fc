"""Arrays, and functions of tapes, that the tests of arrays share."""

import numpy as np

A = np.arange(6.0, dtype=np.float32).reshape(2, 3) + 1
B = np.linspace(-2.0, 3.0, 24).reshape(2, 3, 4)
V = np.array([3.0, -1.0, 2.0, 2.0, 0.5], np.float32)


def grad(tf, f, *values):
    """Return the value of f, and its gradient weighted by the position of each result."""
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    ys = list(y) if isinstance(y, (list, tuple)) else [y]
    weights = [np.cos(1.0 + np.arange(np.size(p))).reshape(p.shape) for p in ys]
    given = [tf.constant(w, p.dtype) for w, p in zip(weights, ys, strict=True)]
    return y, tape.gradient(ys, xs, output_gradients=given)


def second_derivatives(tf, f):
    x = tf.constant(A)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = tf.convert_to_tensor(inner.gradient(y, x))
    return g, outer.gradient(g, x)
