"""Functions that bring their own gradients, and gradients that are stopped."""

import tensorflow as tf


@tf.custom_gradient
def clipped(x):
    def gradient(upstream):
        return tf.clip_by_value(upstream, -1.0, 1.0)

    return tf.identity(x), gradient


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def gradient(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), gradient


v = tf.Variable([1.0, 100.0])
with tf.GradientTape(persistent=True) as tape:
    a = tf.reduce_sum(clipped(v) * tf.constant([0.5, 7.0]))
    b = log1pexp(v)
    c = tf.reduce_sum(v * tf.stop_gradient(v))
    with tape.stop_recording():
        d = v * v
print(tape.gradient(a, v).numpy(), tape.gradient(b, v).numpy(), tape.gradient(c, v).numpy())
print(tape.gradient(d, v), tape.gradient(d, v, unconnected_gradients="zero").numpy())
print([variable.name for variable in tape.watched_variables()])
