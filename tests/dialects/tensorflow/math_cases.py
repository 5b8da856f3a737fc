"""Numbers, and functions with their gradients, that the tests of tf.math share."""

import numpy as np

INF, NAN = float("inf"), float("nan")


def look_up(tf, name):
    """Return what a dotted name is."""
    for part in name.split("."):
        tf = getattr(tf, part)
    return tf


def weighted(tf, y, tape, xs):
    """Return gradients of y, weighted by the position of each element."""
    shape = y.shape.as_list()
    weights = np.cos(1.0 + np.arange(int(np.prod(shape)))).reshape(shape)
    return tape.gradient(y, xs, output_gradients=tf.cast(weights, y.dtype))


def first(tf, f, *values, dtype="float32"):
    """Return f of tensors, and its gradients."""
    xs = [tf.constant(v, dtype) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [y, weighted(tf, y, tape, xs)]


def derived(tf, f, *values, dtype="float32"):
    """Return f of tensors, its gradients, and their gradients."""
    xs = [tf.constant(v, dtype) for v in values]
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(xs)
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        found = weighted(tf, y, tape, xs)
    second = [None if g is None else weighted(tf, g, outer, xs) for g in found]
    return [y, found, second]


A, B = [[0.3, 1.2, 2.0], [0.9, 0.1, 2.4]], [[0.5, 1.2, -1.0], [2.0, 0.7, 0.3]]


def normal_cdf(tf, x):
    return 0.5 * (1.0 + tf.math.erf(x / tf.sqrt(2.0)))
