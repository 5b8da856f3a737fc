"""Reads of variables, constants from branches, recomputed structures, and a loop from a guide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

program = PROGRAMS = Programs()


@program
def reads_in_a_tape(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a, b, c = v.value(), tf.convert_to_tensor(v), v.read_value()
        y = a * b**2 * c**3
    return tape.gradient(y, [a, b, c, v])


@program
def reads_before_a_tape(tf: Any) -> Any:
    v = tf.Variable(2.0)
    a, b = v.value(), tf.identity(v)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * b**2 * v**3
    return tape.gradient(y, [a, b, v])


@program
def reads_that_are_watched(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        a, b = v.value(), tf.convert_to_tensor(v)
        tape.watch(a)
        y = a * b**2 * v**3
    return tape.gradient(y, [a, b, v])


@program
def reads_around_an_assignment(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = v.value()
        v.assign(5.0)
        b = v.value()
        y = a * b**2
    return [a, b, *tape.gradient(y, [a, b, v])]


@program
def reads_of_parts(tf: Any) -> Any:
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        parts = [v[0], v[0], tf.cast(v, tf.float32)[0], v.value()[0]]
        y = parts[0] * parts[1] ** 2 * parts[2] ** 3 * parts[3]
    return tape.gradient(y, [*parts, v])


@program
def reads_at_second_order(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            a = v.value()
            y = a**3 * v
        g = inner.gradient(y, [a, v])
        z = g[0] * g[1]
    return [*g, *outer.gradient(z, [a, v])]


@program
def reads_in_forward_mode(tf: Any) -> Any:
    v = tf.Variable(2.0)
    a = v.value()
    with tf.autodiff.ForwardAccumulator(a, tf.constant(1.0)) as forward:
        y = a * v**2
    return forward.jvp(y)


@program
def constants_from_branches(tf: Any) -> Any:
    x = tf.Variable([2.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.cond(x[0] > 1.0, lambda: tf.constant([3.0, 3.0]), lambda: x)
        z = tf.switch_case(tf.constant(1), [lambda: x, lambda: tf.constant([1.0])])
    zeros = tape.gradient(y, x, unconnected_gradients="zero")
    return [tape.gradient(y, x), tape.jacobian(y, x), tape.gradient(z, x), zeros]


@program
def a_sum_in_a_function(tf: Any) -> Any:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = 0.0
            for i in tf.range(3):
                if tf.cast(i, tf.float32) > x:
                    total += x * x
        return tape.gradient(total, x)

    return slope(tf.constant(0.5))


@program
def recomputed_structures(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.recompute_grad
    def f(parts):
        return {"a": parts["x"] * v, "b": (parts["y"][0] ** 2, [parts["x"] ** 3])}

    x, y = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        found = f({"x": x, "y": [y]})
        total = found["a"] + found["b"][0] * found["b"][1][0]
    return [found, tape.gradient(total, [x, y, v])]


@program
def line_by_a_module(tf: Any) -> Any:
    class Line(tf.Module):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w, self.b = tf.Variable(5.0), tf.Variable(0.0)

        def __call__(self, x):
            return self.w * x + self.b

    x = tf.constant(np.linspace(-2, 2, 21, dtype=np.float32))
    y = 3.0 * x + 2.0 + tf.sin(7.0 * x)
    model, losses = Line(name="line"), []

    @tf.function
    def step(rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - model(x)))
        dw, db = tape.gradient(loss, [model.w, model.b])
        model.w.assign_sub(rate * dw)
        model.b.assign_sub(rate * db)
        return loss

    for _ in range(10):
        losses.append(step(0.1))
    return [model.name, losses, list(model.trainable_variables)]


@pytest.mark.parity
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


# -- what is not as in TensorFlow -----------------------------------------------------------------


def test_a_number_from_a_branch_of_a_function_has_no_gradient():
    """TensorFlow answers 0 here, as the branch not taken depends on x."""
    tf = ours

    @tf.function
    def slopes(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = 3.0 if x > 1.0 else x
            a, b = tf.cond(x > 1.0, lambda: (3.0, x * x), lambda: (x, 1.0))
        zero = tape.gradient(y, x, unconnected_gradients="zero")
        return tape.gradient([y, a], x), tape.jacobian(a, x), tape.gradient(b, x), zero

    found = slopes(tf.constant(2.0))
    assert found[:2] == (None, None)
    assert [g.numpy() for g in found[2:]] == [4.0, 0.0]


def test_a_number_is_no_target_outside_of_a_function():
    x = ours.constant(2.0)
    with ours.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(AttributeError, match="expected a tensor"):
        tape.gradient(3.0, x)


def test_recomputed_functions_take_and_return_anything():
    """TensorFlow raises for None, texts and objects."""
    tf = ours

    @tf.recompute_grad
    def f(x, other, text="", parts=None):
        return {"y": x * x * parts["k"][0], "none": None}, text, other

    x, other = tf.constant(3.0), object()
    with tf.GradientTape() as tape:
        tape.watch(x)
        found, text, same = f(x, other, text="t", parts={"k": [x, None]})
    assert (text, same is other, found["none"]) == ("t", True, None)
    assert tape.gradient(found["y"], x).numpy() == 27.0
