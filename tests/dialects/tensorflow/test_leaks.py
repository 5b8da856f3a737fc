"""Memory after many training steps: what a step makes is gone after it.

The long run is ``python -m tests.dialects.tensorflow.test_leaks 100000``, of all kinds of steps or
of those that are named after the number.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wengert.autograd.numpy as anp
from wengert.autograd.misc.optimizers import adam

import wengert.tensorflow as tf
from wengert.autograd import elementwise_grad, grad, hessian_vector_product, value_and_grad

Step = Callable[[], Any]


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(8, 4)).astype(np.float32), rng.normal(size=(8, 2)).astype(np.float32)


def tape_and_assign() -> Step:
    """Return a step with a tape and variables that are assigned to."""
    x, y = map(tf.constant, _data())
    w, b = tf.Variable(tf.zeros([4, 2])), tf.Variable(tf.zeros([2]))

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w + b) - y) ** 2)
        for v, g in zip((w, b), tape.gradient(loss, (w, b)), strict=True):
            v.assign_sub(0.1 * g)

    return step


def keras_optimizer() -> Step:
    """Return a step with an optimizer, a loss and a metric of Keras, in a tf.function."""
    x, y = map(tf.constant, _data())
    w = tf.Variable(tf.ones([4, 2]))
    optimizer, loss_of = tf.keras.optimizers.Adam(0.01), tf.keras.losses.MeanSquaredError()
    metric = tf.keras.metrics.Mean()

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, tf.nn.relu(x @ w))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        metric.update_state(loss)
        return loss

    return step


def nested() -> Step:
    """Return a step with a persistent tape in another, an accumulator, and reads of variables."""
    x, y = map(tf.constant, _data())
    v = tf.Variable(tf.ones([4, 2]))

    def step() -> None:
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape(persistent=True) as inner:
                read = tf.convert_to_tensor(v)
                with tf.autodiff.ForwardAccumulator(v, tf.ones_like(v)) as forward:
                    loss = tf.reduce_sum((tf.reshape(x @ v, [8, 2]) - y) ** 2)
            first = inner.gradient(loss, v)
            size = tf.reduce_sum(first * first) + tf.reduce_sum(read)
        outer.gradient(size, [v, read])
        outer.gradient(forward.jvp(loss), v)
        v.assign(0.99 * v)

    return step


def rows() -> Step:
    """Return a step with rows of a table, whose gradients are IndexedSlices, and a custom one."""
    table = tf.Variable(tf.ones([16, 3]))

    @tf.custom_gradient
    def clipped(t: Any) -> Any:
        return tf.identity(t), lambda d: tf.clip_by_value(d, -1.0, 1.0)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(clipped(tf.gather(table, [1, 3, 3])) ** 2)
        slices = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.01 * slices.values, slices.indices))

    return step


def autograd_step() -> Step:
    """Return a step by the functions of HIPS autograd."""
    x, y = (a.astype(np.float64) for a in _data())
    w = [np.ones((4, 2))]

    def loss(w: Any) -> Any:
        return anp.mean((anp.tanh(anp.dot(x, w)) - y) ** 2)

    slope, product = value_and_grad(loss), hessian_vector_product(loss)
    wise = elementwise_grad(lambda t: anp.sin(t) * t)

    def step() -> None:
        _, g = slope(w[0])
        product(w[0], g)
        wise(x)
        w[0] = w[0] - 0.1 * g

    return step


def autograd_optimizer() -> Step:
    """Return a step of an optimizer of HIPS autograd."""
    slope = grad(lambda w, i: anp.sum((w - 1.0) ** 2))
    return lambda: adam(slope, np.zeros(4), num_iters=1)


STEPS = [tape_and_assign, keras_optimizer, nested, rows, autograd_step, autograd_optimizer]


def _resident() -> int:
    """Return the bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def _objects(step: Step, count: int) -> tuple[int, int]:
    """Return how many objects some steps leave behind, and how many of them in cycles."""
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(count):
        step()
    cycles = gc.collect()
    return len(gc.get_objects()) - before, cycles


@pytest.mark.parametrize("made", STEPS)
def test_a_step_leaves_nothing_behind(made: Callable[[], Step]) -> None:
    step = made()
    for _ in range(20):  # caches are filled
        step()
    left, _ = _objects(step, 300)
    assert left < 30


@pytest.mark.parametrize("made", [tape_and_assign, keras_optimizer, rows, autograd_step])
def test_a_step_leaves_nothing_to_the_cycle_collector(made: Callable[[], Step]) -> None:
    step = made()
    for _ in range(20):
        step()
    gc.collect()
    gc.disable()
    try:
        _, cycles = _objects(step, 100)
    finally:
        gc.enable()
    assert cycles == 0


def main(count: int, names: list[str]) -> None:
    """Print by how much memory grows in many steps of each kind, or of those that are named."""
    for made in [made for made in STEPS if not names or made.__name__ in names]:
        step = made()
        for _ in range(2000):
            step()
        gc.collect()
        before = _resident()
        for _ in range(count):
            step()
        gc.collect()
        grown = (_resident() - before) / 2**20
        print(f"{made.__name__}: {grown:+.2f} MB in {count} steps", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
