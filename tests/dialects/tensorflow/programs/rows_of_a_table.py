"""A table of which a few rows are read, and a loop over batches that trains it."""

import tensorflow as tf

table = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]), name="table")
words = tf.constant([[0, 3], [3, 4], [1, 0], [2, 2]])
scores = tf.constant([1.0, 0.0, 2.0, -1.0])
data = tf.data.Dataset.from_tensor_slices((words, scores)).batch(2)

with tf.GradientTape() as tape:
    rows = tf.gather(table, [3, 0, 3])
    loss = tf.reduce_sum(rows**2)
gradient = tape.gradient(loss, table)
print(type(gradient).__name__, gradient.indices.numpy(), gradient.values.numpy().tolist())
print(tf.convert_to_tensor(gradient).numpy())


@tf.function
def step(batch, wanted):
    with tf.GradientTape() as tape:
        found = tf.reduce_sum(tf.gather(table, batch), axis=[1, 2])
        loss = tf.reduce_mean((found - wanted) ** 2)
    table.assign_sub(0.01 * tf.convert_to_tensor(tape.gradient(loss, table)))
    return loss


for epoch in range(2):
    losses = [step(batch, wanted).numpy() for batch, wanted in data]
    print("epoch", epoch, "losses", losses[0], losses[1])
print(table)
