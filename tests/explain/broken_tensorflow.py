"""Programs over TensorFlow's names whose gradient is None."""

from __future__ import annotations

import numpy as np

import wengert.tensorflow as tf
from tests.explain.program_table import Table
from wengert import Reason

TENSORFLOW = Table()
broken = TENSORFLOW.put

# -- what the tape does not watch ------------------------------------------------------------------


@broken(Reason.NOT_WATCHED)
def a_constant_without_watch():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x**2)  # here
    return tape.gradient(y, x)


@broken(Reason.NOT_WATCHED)
def a_constant_in_a_function():
    def loss(p):
        return tf.reduce_mean(tf.square(p - 1.0))  # here

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = loss(x)
    return tape.gradient(y, x)


@broken(Reason.NOT_WATCHED)
def a_constant_beside_a_variable():
    w, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * x)  # here
    return tape.gradient(y, x)


@broken(Reason.NOT_WATCHED)
def a_variable_with_trainable_false():
    v = tf.Variable([1.0, 2.0], trainable=False)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)  # here
    return tape.gradient(y, v)


@broken(Reason.NOT_WATCHED)
def watch_accessed_variables_false():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = tf.reduce_sum(v * v)  # here
    return tape.gradient(y, v)


@broken(Reason.NOT_WATCHED)
def a_variable_became_a_tensor():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(v)
        v = v + 1.0
    with tf.GradientTape() as second:
        y = v * 2.0  # here
    return second.gradient(y, v)


@broken(Reason.WATCHED_LATE)
def watch_after_use():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x  # here
        tape.watch(x)
    return tape.gradient(y, x)


# -- outside of the tape ---------------------------------------------------------------------------


@broken(Reason.BEFORE)
def before_the_tape():
    v = tf.Variable(3.0)
    hidden = v * v  # here
    with tf.GradientTape() as tape:
        y = hidden * 2.0
    return tape.gradient(y, v)


@broken(Reason.AFTER)
def after_the_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        hidden = v * v
    y = tf.sin(hidden)  # here
    return tape.gradient(y, v)


@broken(Reason.PAUSED)
def stop_recording():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        hidden = v * v
        with tape.stop_recording():
            y = hidden + 1.0  # here
    return tape.gradient(y, v)


@broken(Reason.RESET)
def reset():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        tape.reset()  # here
        tf.sin(v)
    return tape.gradient(y, v)


@broken(Reason.OTHER_TAPE)
def the_other_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as first:
        tf.sin(v)
    with tf.GradientTape():
        y = v * v  # here
    return first.gradient(y, v)


@broken(Reason.SWAPPED)
def swapped():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v  # here
    return tape.gradient(v, y)


@broken(Reason.UNRELATED)
def a_variable_of_another_layer():
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        tf.sin(w)
        y = v * v  # here
    return tape.gradient(y, w)


@broken(Reason.UNRELATED)
def a_variable_that_is_not_read():
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v  # here
    return tape.gradient(y, w)


@broken(Reason.OTHER_OBJECT)
def an_equal_constant():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    twin = tf.constant([1.0, 2.0])
    return tape.gradient(y, twin)


@broken(Reason.OTHER_OBJECT)
def converted_again():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    again = tf.convert_to_tensor(x.numpy())
    return tape.gradient(y, again)


# -- cuts ------------------------------------------------------------------------------------------


@broken(Reason.CONVERTED)
def through_numpy():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        hidden = (v * v).numpy()  # here
        y = tf.reduce_sum(tf.constant(hidden))
    return tape.gradient(y, v)


@broken(Reason.CONVERTED)
def through_numpys_functions():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        hidden = np.exp(x)  # here
        y = tf.reduce_mean(hidden)
    return tape.gradient(y, x)


@broken(Reason.CONVERTED)
def through_float():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        scale = float(v * v)  # here
        y = tf.constant(2.0) * scale
    return tape.gradient(y, v)


@broken(Reason.CONVERTED)
def in_a_loop_over_elements():
    x = tf.constant([1.0, 2.0, 3.0])
    total = 0.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        for element in x:
            total += element.numpy() ** 2  # here
        y = tf.constant(total)
    return tape.gradient(y, x)


@broken(Reason.INTEGER)
def cast_to_integers():
    x = tf.constant([1.5, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        steps = tf.cast(x, tf.int32)  # here
        y = tf.reduce_sum(tf.cast(steps, tf.float32))
    return tape.gradient(y, x)


@broken(Reason.INTEGER)
def cast_to_bool():
    v = tf.Variable([0.0, 2.5])
    with tf.GradientTape() as tape:
        mask = tf.cast(v, tf.bool)  # here
        y = tf.reduce_sum(tf.where(mask, 1.0, 0.0))
    return tape.gradient(y, v)


@broken(Reason.DETACHED)
def stop_gradient():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.stop_gradient(v * v))  # here
    return tape.gradient(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def argmax():
    v = tf.Variable([1.0, 4.0, 2.0])
    with tf.GradientTape() as tape:
        best = tf.argmax(v)  # here
        y = tf.cast(best, tf.float32) * 2.0
    return tape.gradient(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def rounded():
    v = tf.Variable([1.4, 2.6])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.round(v))  # here
    return tape.gradient(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def an_accuracy():
    logits, labels = tf.Variable([[1.0, 2.0], [3.0, 0.0]]), tf.constant([1, 1], tf.int64)
    with tf.GradientTape() as tape:
        guesses = tf.argmax(logits, axis=1)  # here
        y = tf.reduce_mean(tf.cast(tf.equal(guesses, labels), tf.float32))
    return tape.gradient(y, logits)


@broken(Reason.ZERO_DERIVATIVE)
def a_comparison():
    v = tf.Variable([1.0, -1.0])
    with tf.GradientTape() as tape:
        positive = v > 0.0  # here
        y = tf.reduce_sum(tf.cast(positive, tf.float32))
    return tape.gradient(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def in_a_model():
    class Model:
        def __init__(self):
            self.w = tf.Variable([[0.5, 1.5], [2.5, 3.5]])

        def __call__(self, x):
            hidden = tf.matmul(x, self.w)
            return tf.floor(hidden)  # here

    model = Model()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(tf.ones((1, 2))))
    return tape.gradient(y, model.w)


@broken(Reason.ASSIGNED)
def assigned():
    v, state = tf.Variable(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        state.assign(v * v)  # here
        y = state * 3.0
    return tape.gradient(y, v)


@broken(Reason.ASSIGNED)
def added():
    v, state = tf.Variable(2.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        state.assign_add(v)  # here
        y = state * 3.0
    return tape.gradient(y, v)


@broken(Reason.CUSTOM_NONE)
def a_custom_gradient_of_none():
    @tf.custom_gradient
    def silent(x):
        return x * 2.0, lambda g: None

    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(silent(v))  # here
    return tape.gradient(y, v)


@broken(Reason.NOT_WATCHED)
def the_second_of_two_sources():
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = v * x  # here
    return tape.gradient(y, [v, x])


@broken(Reason.NOT_WATCHED)
def in_a_dict_of_sources():
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = v * x  # here
    return tape.gradient(y, {"v": v, "x": x})


@broken(Reason.NOT_WATCHED)
def of_a_jacobian():
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x  # here
    return tape.jacobian(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def of_an_inner_gradient():
    v = tf.Variable(2.5)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * tf.floor(v)  # here
        slope = inner.gradient(y, v)
    return outer.gradient(slope, v)
