"""Programs that make a NaN or an infinity: where it began is the line with the mark.

What is expected: the phase, the operation and the element. A program returns the tape, the target
and the source that `tape.find_nonfinite` is asked about, where a tape recorded it.
"""

from __future__ import annotations

import numpy as np

import wengert as wg
import wengert.tensorflow as tf
import wengert.torch as torch
from tests.explain.program_table import Table

NONFINITE = Table()
makes = NONFINITE.put

# -- forward ---------------------------------------------------------------------------------------


@makes(("forward", "log", (1,)))
def log_of_zero():
    x = wg.asarray([1.0, 0.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.log(x))  # here
    return tape, y, x


@makes(("forward", "sqrt", (0, 1)))
def sqrt_of_a_negative_number_in_a_function():
    def layer(p):
        return wg.sqrt(p)  # here

    x = wg.asarray([[1.0, -4.0], [9.0, -1.0]])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(layer(x) * 2.0)
    return tape, y, x


@makes(("forward", "divide", (2,)))
def division_by_zero():
    x, d = wg.asarray([1.0, 2.0, 3.0]), wg.asarray([1.0, 2.0, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        ratio = x / d  # here
        y = wg.sum(ratio)
    return tape, y, x


@makes(("forward", "exp", (0,)))
def exp_of_a_large_number():
    x = wg.asarray([1000.0, 1.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        weights = wg.exp(x)  # here
        y = weights[0] / wg.sum(weights)
    return tape, y, x


@makes(("forward", "square", ()))
def float32_overflows():
    x = wg.asarray(np.float32(3e30))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x  # here
    return tape, y, x


@makes(("forward", "matmul", (0, 0)))
def a_matrix_product_overflows():
    a, b = wg.asarray(np.full((1, 2), 3e38, np.float32)), wg.ones((2, 2), dtype=wg.float32)
    with wg.GradientTape() as tape:
        tape.watch(a)
        product = wg.matmul(a, b)  # here
        y = product[0, 1] * 0.0
    return tape, y, a


@makes(("forward", "square", ()))
def a_loop_diverges():
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(12):
            y = y * y  # here
    return tape, y, x


@makes(("forward", "subtract", (0,)))
def infinity_minus_infinity():
    x, top = wg.asarray([np.inf, 1.0]), wg.asarray([np.inf, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        wg.sum(x - top)  # here
    return None


@makes(("forward", "log", (1,)))
def with_numpys_names():
    x = wg.asarray([0.5, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = np.mean(np.log(x))  # here
    return tape, y, x


@makes(("forward", "log", ()))
def a_probability_in_a_comprehension():
    p = wg.asarray([0.5, 0.5, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(p)
        parts = [p[i] * wg.log(p[i]) for i in range(3)]  # here
        y = -sum(parts)
    return tape, y, p


@makes(("forward", "pow_number", (1,)))
def a_root_of_a_negative_number():
    x = wg.asarray([4.0, -8.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x ** (1 / 3))  # here
    return tape, y, x


@makes(("forward", "log", (1, 0)))
def inside_vmap():
    x = wg.asarray([[1.0, 2.0], [0.0, 3.0]])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.vmap(lambda row: wg.sum(wg.log(row)))(x))  # here
    return tape, y, x


@makes(("forward", "", (1,)))
def in_the_data():
    x = wg.asarray([1.0, np.nan])
    with wg.GradientTape() as tape:
        tape.watch(x)
        wg.sum(x * 2.0)  # here
    return None


@makes(("forward", "log", (0,)))
def without_a_tape():
    x = wg.asarray([0.0, 1.0])
    wg.log(x)  # here


# -- in a rule -------------------------------------------------------------------------------------


@makes(("backward", "sqrt", (1,)))
def the_slope_of_sqrt_at_zero():
    x = wg.asarray([4.0, 0.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(wg.sqrt(x))  # here
    tape.gradient(y, x)
    return tape, y, x


@makes(("backward", "sqrt", ()))
def the_length_of_a_zero_vector():
    v = wg.Variable([0.0, 0.0])
    with wg.GradientTape(persistent=True) as tape:
        squares = wg.sum(v**2)
        y = wg.sqrt(squares)  # here
    tape.gradient(y, v)
    return tape, y, v


@makes(("backward", "asin", (0,)))
def the_slope_of_asin_at_one():
    x = wg.asarray([1.0, 0.5])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(wg.asin(x))  # here
    tape.gradient(y, x)
    return tape, y, x


@makes(("backward", "pow_number", (0,)))
def the_slope_of_a_root_at_zero():
    x = wg.asarray([0.0, 1.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(x**0.5)  # here
    tape.gradient(y, x)
    return tape, y, x


@makes(("forward", "divide", (0,)))
def in_a_rule_of_ones_own():
    @wg.custom_gradient
    def steep(x):
        return x * 1.0, lambda g: g / x  # here

    x = wg.asarray([0.0, 1.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(steep(x))
    with np.errstate(divide="ignore"):
        tape.gradient(y, x)
    return None


@makes(("backward", "sqrt", (0,)))
def the_branch_not_taken_in_a_composite():
    def distance(p):
        return wg.where(p > 0, wg.sqrt(p) * p, 0.0)

    def safe(p):
        return wg.sqrt(wg.where(p > 0, p, 0.0))  # here

    x = wg.asarray([0.0, 4.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(wg.where(x > 0, safe(x), 0.0) + safe(x)) + wg.sum(distance(x))
    tape.gradient(y, x)
    return tape, y, x


@makes(("forward", "divide", (0,)))
def the_branch_not_taken_forward():
    x = wg.asarray([0.0, 4.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        inverse = 1.0 / x  # here
        y = wg.sum(wg.where(x > 0, inverse, 0.0))
    return tape, y, x


# -- second derivatives, forward mode --------------------------------------------------------------


@makes(("backward", "pow_number", ()))
def in_a_second_derivative():
    x = wg.asarray(0.0)
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x**1.5
        slope = inner.gradient(y, x)  # here
    outer.gradient(slope, x)
    return outer, slope, x


@makes(("tangent", "sqrt", (1,)))
def in_jvp():
    x, t = wg.asarray([4.0, 0.0]), wg.asarray([1.0, 1.0])
    wg.jvp(lambda p: wg.sum(wg.sqrt(p)), (x,), (t,))  # here


@makes(("tangent", "sqrt", ()))
def in_a_forward_accumulator():
    x = wg.asarray(0.0)
    with wg.ForwardAccumulator(x, wg.asarray(1.0)) as forward:
        y = wg.sqrt(x) * 2.0  # here
    forward.jvp(y)


@makes(("backward", "sqrt", (1,)))
def in_grad():
    def loss(p):
        return wg.sum(wg.sqrt(p))  # here

    wg.grad(loss)(wg.asarray([1.0, 0.0]))


# -- in an optimiser -------------------------------------------------------------------------------


@makes(("step", "SGD", (1,)))
def a_step_of_sgd():
    optimiser = wg.optim.SGD(1e300)
    params = {"w": np.array([1.0, 2.0])}
    state = optimiser.init(params)
    with np.errstate(over="ignore"):
        optimiser.step(params, {"w": np.array([0.0, 1e200])}, state)  # here


@makes(("step", "Adam", ()))
def a_step_of_adam_in_a_training_loop():
    v = wg.Variable(1.0, name="v")
    optimiser = wg.optim.Adam(0.1, eps=0.0)
    state = optimiser.init([v])
    for _ in range(2):
        with wg.GradientTape() as tape:
            loss = v * 0.0
        with np.errstate(invalid="ignore"):
            _, state = optimiser.step([v], tape.gradient(loss, [v]), state)  # here


@makes(("step", "RMSprop", (0, 1)))
def a_gradient_that_is_not_finite():
    optimiser = wg.optim.RMSprop(0.1)
    params = [np.ones((1, 2))]
    state = optimiser.init(params)
    with np.errstate(invalid="ignore"):
        optimiser.step(params, [np.array([[0.0, np.nan]])], state)  # here


# -- dialects --------------------------------------------------------------------------------------


@makes(("forward", "log", (0,)))
def in_tensorflow():
    v = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.log(v))  # here
    tape.gradient(y, v)


@makes(("backward", "sqrt", (1,)))
def in_tensorflows_gradient():
    v = tf.Variable([1.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sqrt(v))  # here
    tape.gradient(y, v)


@makes(("forward", "reciprocal", (1,)))
def in_pytorch():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    y = (1.0 / x).sum()  # here
    y.backward()


@makes(("backward", "sqrt", (1,)))
def in_pytorchs_backward():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    y = x.sqrt().sum()  # here
    y.backward()
