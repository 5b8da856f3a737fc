"""Tapes in tapes, Hessians, and products with them."""

import tensorflow as tf

x = tf.constant(3.0)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x * x
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
print(first, second)

p = tf.Variable([1.0, -0.5, 2.0])


def energy(p):
    return p[0] * p[1] ** 2 + tf.sin(p[2]) * p[0]


with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        e = energy(p)
    g = inner.gradient(e, p)
print("Hessian:\n", outer.jacobian(g, p).numpy())

with tf.autodiff.ForwardAccumulator(p, tf.constant([1.0, 0.0, 2.0])) as forward:
    with tf.GradientTape() as tape:
        e = energy(p)
    g = tape.gradient(e, p)
print("times a vector:", forward.jvp(g).numpy())

batch = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(batch)
    z = tf.exp(batch / 4.0) * tf.reduce_sum(batch, axis=1, keepdims=True)
print("Jacobian of each example:\n", tape.batch_jacobian(z, batch))
