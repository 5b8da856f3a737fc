"""A line fitted by gradient descent."""

import tensorflow as tf

w = tf.Variable(2.0, name="w")
b = tf.Variable(1.0)
x = tf.constant([1.0, 2.0, 3.0, 4.0])
y = tf.constant([3.5, 5.0, 7.5, 9.0])


def loss_of(w, b):
    return tf.reduce_mean(tf.square(w * x + b - y))


for epoch in range(4):
    with tf.GradientTape() as tape:
        loss = loss_of(w, b)
    by_w, by_b = tape.gradient(loss, [w, b])
    w.assign_sub(0.05 * by_w)
    b.assign_sub(0.05 * by_b)
    print(f"epoch {epoch}: loss {loss:.5f}, gradients {by_w.numpy():.5f} {by_b.numpy():.5f}")
print(w.name, float(w), b)

z = tf.Variable(2.0)
with tf.GradientTape() as tape:
    square = z**2
    total = square + z
print("through an intermediate result:", tape.gradient(total, z).numpy())
try:
    tape.gradient(total, z)
except RuntimeError as error:
    print(type(error).__name__, "persistent" in str(error))
