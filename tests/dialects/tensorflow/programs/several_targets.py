"""What the gradient of a tensor means: that of its sum, unless weights say otherwise."""

import tensorflow as tf

x = tf.Variable([[2.1, 1.6], [2.4, 1.9]])

with tf.GradientTape(persistent=True) as tape:
    total = tf.reduce_sum(x)
    mean = tf.reduce_mean(x)
    one = x[0, 1]
    squares = x * x

print("Variable:\n", x)
for name, target in [("sum", total), ("mean", mean), ("one", one), ("squares", squares)]:
    print(f"gradient of {name}:\n", tape.gradient(target, x))
weights = tf.constant([[1.0, 0.0], [0.0, -1.0]])
print("weighted:", tape.gradient(squares, x, output_gradients=weights).numpy().tolist())
print("both:", tape.gradient([total, squares], x).numpy())
print("jacobian of the columns' sums:")
with tf.GradientTape() as tape:
    columns = tf.reduce_sum(x**2, axis=0)
print(tape.jacobian(columns, x))
