"""Programs in which NumPy meets a floating-point error: the warning is to name the marked line.

What is expected is the text of the warning. Where a sweep computes, it is to name the line that
ends in ``# recorded`` while lines are noted.
"""

from __future__ import annotations

import numpy as np

import wengert as wg
from tests.explain.program_table import Table

FLOATS = Table()
meets = FLOATS.put


@meets("divide by zero encountered in log")
def a_function():
    wg.log(wg.asarray([1.0, 0.0]))  # here


@meets("divide by zero encountered in log")
def a_function_of_numpys():
    np.log(wg.asarray([1.0, 0.0]))  # here


@meets("divide by zero encountered in divide")
def an_operator():
    x, y = wg.asarray([1.0, 2.0]), wg.asarray([1.0, 0.0])
    x / y  # here


@meets("divide by zero encountered in divide")
def an_operator_in_a_loop():
    x = wg.asarray([1.0, 2.0])
    for k in (1.0, 0.0, 0.0):
        x / k  # here


@meets("overflow encountered in exp")
def in_a_function():
    def layer(x):
        return wg.exp(x)  # here

    layer(wg.asarray(1000.0))


@meets("invalid value encountered in sqrt")
def while_a_tape_records():
    x = wg.asarray([1.0, -1.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        wg.sum(wg.sqrt(x))  # here


@meets("divide by zero encountered in log")
def inside_vmap():
    x = wg.asarray([[1.0, 2.0], [0.0, 3.0]])
    wg.vmap(lambda row: wg.sum(wg.log(row)))(x)  # here


@meets("overflow encountered in square")
def in_float32():
    x = wg.asarray(np.float32(3e30))
    x * x  # here


@meets("overflow encountered in matmul")
def in_a_matrix_product():
    a = wg.asarray(np.full((2, 2), 3e38, np.float32))
    wg.matmul(a, a)  # here


@meets("divide by zero encountered in the derivative of sqrt")
def in_a_sweep():
    x = wg.asarray([1.0, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.sqrt(x))  # recorded
    tape.gradient(y, x)  # here


@meets("divide by zero encountered in the derivative of sqrt")
def in_grad():
    wg.grad(lambda p: wg.sum(wg.sqrt(p)))(wg.asarray([1.0, 0.0]))  # here


@meets("divide by zero encountered in the derivative of sqrt")
def in_a_jacobian():
    x = wg.asarray([1.0, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sqrt(x)  # recorded
    tape.jacobian(y, x)  # here


@meets("divide by zero encountered in the derivative of pow_number")
def in_a_second_derivative():
    x = wg.asarray(0.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x**1.5
        slope = inner.gradient(y, x)  # recorded
    outer.gradient(slope, x)  # here
