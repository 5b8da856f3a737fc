"""A module with variables, conditions and loops inside of a tape."""

import tensorflow as tf


class Layer(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        n = inputs * outputs
        self.w = tf.Variable(
            tf.reshape(tf.range(n, dtype=tf.float32) / n, [inputs, outputs]), name="w"
        )
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return tf.nn.tanh(x @ self.w + self.b)


class Network(tf.Module):
    def __init__(self):
        super().__init__(name="network")
        self.layers = [Layer(3, 4, name="first"), Layer(4, 1, name="second")]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


network = Network()
x = tf.constant([[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]])
with tf.GradientTape() as tape:
    y = network(x)
    loss = tf.reduce_mean(y**2)
    i = tf.constant(0)
    while i < 3:
        loss = loss * 1.5 if loss < 1.0 else loss
        i += 1
    loss = tf.cond(loss > 0.1, lambda: loss, lambda: -loss)
gradients = tape.gradient(loss, network.trainable_variables)
print("loss", loss.numpy())
for variable, gradient in zip(network.trainable_variables, gradients, strict=True):
    print(variable.name, variable.shape, gradient.shape, tf.norm(gradient).numpy())
print(tf.map_fn(lambda row: tf.reduce_max(row), x), tf.scan(lambda a, e: a * 0.5 + e, x))
tf.debugging.assert_equal(tf.shape(y), [2, 1])
