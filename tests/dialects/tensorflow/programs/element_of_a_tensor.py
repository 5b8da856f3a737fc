"""The gradient of one element, of the whole tensor that it is taken from."""

import tensorflow as tf

field = tf.constant([[0.5, -1.0, 2.0, 4.0], [1.5, 0.0, -3.0, 2.5], [8.0, 7.0, -6.0, 5.0]])
row, column = 2, 1

with tf.GradientTape() as tape:
    tape.watch(field)
    element = field[row, column]
print("element:", element.numpy())
print("d element / d field:")
print(tape.gradient(element, field).numpy())

left = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
right = tf.constant([[2.0, -1.0], [0.5, 3.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch([left, right])
    product = tf.matmul(left, right)
    corner = product[0, 1]
    total = tf.reduce_sum(product)
print("product:\n", product)
print("d corner / d left:\n", tape.gradient(corner, left))
print("d corner / d right:\n", tape.gradient(corner, right))
print("d total / d left:\n", tape.gradient(total, left))
print("not watched:", tape.gradient(total, tf.constant(1.0)))
