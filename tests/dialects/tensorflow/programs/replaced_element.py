"""One element of a vector is replaced; what the others and the new value mean for a loss."""

import tensorflow as tf


def replaced(vector, index, value):
    """Return a vector with another value at one place, by a mask."""
    mask = tf.tensor_scatter_nd_update(
        tf.zeros_like(vector), tf.reshape(tf.cast(index, tf.int32), [1, 1]), tf.ones([1])
    )
    return vector * (1 - mask) + mask * value


def step(vector, index, value, rate=0.1):
    with tf.GradientTape() as tape:
        tape.watch([vector, value])
        changed = replaced(vector, index, value)
        loss = tf.reduce_sum(tf.square(changed))
    by_vector, by_value = tape.gradient(loss, [vector, value])
    return loss, by_vector, by_value, vector - rate * by_vector


for index in range(3):
    loss, by_vector, by_value, after = step(tf.constant([1.0, -2.0, 3.0]), index, tf.constant(10.0))
    print(f"Index {index}: loss {loss.numpy()}")
    print("  by the vector:", by_vector.numpy(), "by the value:", by_value.numpy())
    print("  after a step:", after.numpy())

x = tf.Variable([1.0, 2.0, 3.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.tensor_scatter_nd_update(x, [[1], [3]], [20.0, 40.0])
    loss = tf.reduce_sum(y * y)
print(tape.gradient(loss, x))
