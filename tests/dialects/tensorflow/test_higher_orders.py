"""Tapes inside of tapes, variables that are assigned to, rows and indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare
from tests.dialects.tensorflow.tape_cases import table

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


# -- higher orders --------------------------------------------------------------------------------


@program
def third_order(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as a:
        a.watch(x)
        with tf.GradientTape() as b:
            b.watch(x)
            with tf.GradientTape() as c:
                c.watch(x)
                y = x**4
            first = c.gradient(y, x)
        second = b.gradient(first, x)
    return first, second, a.gradient(second, x)


@program
def second_order_outside_of_the_outer_tape(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        y = x**3
    first = b.gradient(y, x)
    return first, a.gradient(first, x)


@program
def penalty_on_a_gradient(tf: Any) -> Any:
    w, x = tf.Variable([1.0, -2.0]), tf.constant([0.5, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.sin(w * x))
        g = inner.gradient(y, x)
        loss = y + tf.reduce_sum(g * g)
    return outer.gradient(loss, [w, x])


@program
def hessian_by_jacobian(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3) * x[0]
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


@program
def second_derivative_of_a_line(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


@program
def jacobian_inside_of_a_tape(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.stack([x[0] ** 2 * x[1], tf.sin(x[1])])
        j = inner.jacobian(y, x)
        z = tf.reduce_sum(j**2)
    return j, outer.gradient(z, x)


@program
def jacobian_of_a_jacobian(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * x[0]
        j = inner.jacobian(y, x)
    return outer.jacobian(j, x)


@program
def batch_jacobian_inside_of_a_tape(tf: Any) -> Any:
    m = table(tf, "constant")
    with tf.GradientTape() as outer:
        outer.watch(m)
        with tf.GradientTape() as inner:
            inner.watch(m)
            y = m**3
        j = inner.batch_jacobian(y, m)
    return outer.gradient(j, m)


@program
def gradients_of_each_example(tf: Any) -> Any:
    w = tf.Variable([1.0, -2.0])
    examples = tf.constant([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])

    def of_one(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(w * x)) ** 2
        return tape.gradient(loss, w)

    return tf.vectorized_map(of_one, examples), tf.map_fn(of_one, examples)


@program
def gradients_of_each_example_by_input(tf: Any) -> Any:
    examples = tf.constant([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])

    def of_one(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(x**3) * x[0]
        return {"g": tape.gradient(loss, x), "loss": loss}

    with tf.GradientTape() as outer:
        outer.watch(examples)
        found = tf.vectorized_map(of_one, examples)
    return found, outer.gradient(found["g"], examples)


@program
def laplacian_by_a_loop(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = tf.exp(-tf.reduce_sum(x**2) / 10.0)
        g = inner.gradient(y, x)
        parts = tf.unstack(g)
    return tf.add_n([outer.gradient(p, x)[i] for i, p in enumerate(parts)])


@program
def gradient_of_a_network(tf: Any) -> Any:
    shapes = [(3, 4), (4,), (4, 2), (2,)]
    values = [tf.Variable(np.sin(np.arange(np.prod(s)) + i).reshape(s).astype("float32"))
              for i, s in enumerate(shapes)]  # fmt: skip
    x = tf.constant(np.cos(np.arange(15.0)).reshape(5, 3).astype("float32"))
    labels = tf.constant([0, 1, 1, 0, 1])
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.matmul(x, values[0]) + values[1])
        logits = tf.matmul(h, values[2]) + values[3]
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    return loss, tape.gradient(loss, values)


@program
def gradient_through_loops_and_branches(tf: Any) -> Any:
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = x
        while y < 20.0:
            y = y * x + 1.0 if y > 3.0 else y * 2.0
        for i in tf.range(3):
            y += tf.cast(i, tf.float32) * x
    return y, tape.gradient(y, x)


@program
def threads(tf: Any) -> Any:
    import threading

    v, found = tf.Variable(2.0), {}

    def work(k: int) -> None:
        with tf.GradientTape() as tape:
            y = v**k
        found[k] = tape.gradient(y, v)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(1, 4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


# -- variables that are assigned to ---------------------------------------------------------------


@program
def assigned(tf: Any) -> Any:
    a = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a
        a.assign(5.0)
        z = y + a * a
    return tape.gradient(z, a)


@program
def assigned_from_itself(tf: Any) -> Any:
    a = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a.assign_add(a * 2)
        y = a * a
    return tape.gradient(y, a), a.numpy()


@program
def assigned_value(tf: Any) -> Any:
    a = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a.assign(a * 2) * 1.0
    return tape.gradient(y, a)


@program
def steps_of_descent(tf: Any) -> Any:
    w, b = tf.Variable([1.0, -1.0]), tf.Variable(0.5)
    x, y = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), tf.constant([1.0, 0.0, 2.0])
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.1 * g)
        losses.append(loss)
    return losses, w.value(), b.value()


# -- rows and indices -----------------------------------------------------------------------------


def gathered(indices: Any, kind: str = "Variable", **options: Any) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        m = table(tf, kind)
        with tf.GradientTape() as tape:
            tape.watch(m)
            y = tf.reduce_sum(tf.gather(m, indices, **options) ** 2)
        return tape.gradient(y, m)

    return run


PROGRAMS |= {
    "gather_variable": gathered([0, 2]),
    "gather_tensor": gathered([0, 2], "constant"),
    "gather_repeated": gathered([0, 2, 0]),
    "gather_repeated_tensor": gathered([2, 2, 2], "constant"),
    "gather_matrix_of_indices": gathered([[0, 1], [2, 0]]),
    "gather_one": gathered(1),
    "gather_nothing": gathered(np.zeros((0,), np.int32)),
    "gather_long_indices": gathered(np.array([1, 1, 0])),
    "gather_columns": gathered([0, 0], axis=1),
}


@program
def gathered_twice(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(m, [0, 2]) ** 2) + tf.reduce_sum(tf.gather(m, [1, 0]) ** 3)
    return tf.convert_to_tensor(tape.gradient(y, m))


@program
def gathered_and_read(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(m, [0, 2]) ** 2) + tf.reduce_sum(m)
    return tf.convert_to_tensor(tape.gradient(y, m))


@program
def gathered_from_a_result(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape() as tape:
        z = m * 2
        y = tf.reduce_sum(tf.gather(z, [0, 2]) ** 2)
    return tape.gradient(y, m)


@program
def gathered_second_order(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(m, [0, 2, 0]) ** 3)
        g = tf.convert_to_tensor(inner.gradient(y, m))
        z = tf.reduce_sum(g**2)
    return tf.convert_to_tensor(outer.gradient(z, m))


@program
def rows_added_to_a_variable(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(m, [0, 2, 0]) ** 2)
    g = tape.gradient(y, m)
    m.scatter_sub(tf.IndexedSlices(g.values * 0.1, g.indices))
    return m.value()


@program
def indexed(tf: Any) -> Any:
    m = table(tf)
    with tf.GradientTape(persistent=True) as tape:
        parts = [m[1], m[1, 0], m[:, 1], m[::2], m[-1:], m[..., 0], m[tf.newaxis, 1], m[0:0]]
        squares = [tf.reduce_sum(p * p) for p in parts]
    return [tape.gradient(s, m) for s in squares]


@program
def element_of_a_constant(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[1, 2]
    return tape.gradient(y, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
