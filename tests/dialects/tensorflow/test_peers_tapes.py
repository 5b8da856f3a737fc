"""Tapes, accumulators and functions with gradients of their own, against real TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.peers,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def vector(tf: Any) -> Any:
    return tf.constant([1.0, 2.0, 3.0])


def table(tf: Any, kind: str = "Variable") -> Any:
    return getattr(tf, kind)([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def asked(target: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    """Return a program: the gradient of a target with respect to a variable."""

    def run(tf: Any) -> Any:
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = target(tf, v)
        given = {k: o(tf, v) if callable(o) else o for k, o in options.items()}
        return tape.gradient(y, given.pop("sources", v), **given)

    return run


def twice(tf: Any, v: Any) -> Any:
    return v * 2.0


PROGRAMS |= {
    # targets
    "target_number": asked(lambda tf, v: 3.0),
    "target_numbers": asked(lambda tf, v: [3.0, v * 2.0]),
    "target_array": asked(lambda tf, v: np.array(3.0)),
    "target_none": asked(lambda tf, v: None),
    "target_with_none": asked(lambda tf, v: [v * 2.0, None]),
    "target_empty": asked(lambda tf, v: []),
    "target_string": asked(lambda tf, v: "a"),
    "target_variable": asked(lambda tf, v: v),
    "target_variable_and_more": asked(lambda tf, v: [v, v * 2.0]),
    "target_constant": asked(lambda tf, v: tf.constant(1.0)),
    "target_whole_numbers": asked(lambda tf, v: tf.cast(v, tf.int32)),
    "target_whole_numbers_zero": asked(
        lambda tf, v: tf.cast(v, tf.int32), unconnected_gradients="zero"
    ),
    "target_mixed": asked(lambda tf, v: [v * 2.0, tf.cast(v, tf.int32)]),
    "target_repeated": asked(lambda tf, v: [v * 2.0] * 2),
    "target_same_twice": asked(lambda tf, v: (lambda y: [y, y])(v * 3.0)),
    "target_dict": asked(lambda tf, v: {"b": v * 2.0, "a": (v * 3.0, [v])}),
    "target_vector_sums": asked(lambda tf, v: v**3),
    "target_cast_and_back": asked(lambda tf, v: tf.cast(tf.cast(v, tf.int32), tf.float32) * 2.0),
    "target_cast_wider": asked(lambda tf, v: tf.cast(v, tf.float64) * 3.0),
    "target_comparison": asked(lambda tf, v: v > 1.0),
    # sources
    "source_none": asked(twice, sources=lambda tf, v: None),
    "source_with_none": asked(twice, sources=lambda tf, v: [v, None]),
    "source_number": asked(twice, sources=lambda tf, v: 1.0),
    "source_array": asked(twice, sources=lambda tf, v: np.ones(2)),
    "source_empty": asked(twice, sources=lambda tf, v: []),
    "source_empty_dict": asked(twice, sources=lambda tf, v: {}),
    "source_twice": asked(twice, sources=lambda tf, v: [v, v]),
    "source_nest": asked(twice, sources=lambda tf, v: {"b": [v, (v,)], "a": v}),
    "source_whole_numbers": asked(twice, sources=lambda tf, v: tf.constant(1)),
    "source_whole_numbers_zero": asked(
        twice, sources=lambda tf, v: tf.constant([1, 2]), unconnected_gradients="zero"
    ),
    "source_unwatched": asked(twice, sources=lambda tf, v: tf.constant(1.0)),
    "source_unwatched_zero": asked(
        twice,
        sources=lambda tf, v: [v, tf.constant([1.0]), tf.Variable([[2.0]], dtype=tf.float64)],
        unconnected_gradients=lambda tf, v: tf.UnconnectedGradients.ZERO,
    ),
    "unconnected_bad": asked(twice, unconnected_gradients="nil"),
    "unconnected_not_given": asked(twice, unconnected_gradients=None),
    "unconnected_enum": asked(
        lambda tf, v: v * 2.0, unconnected_gradients=lambda tf, v: tf.UnconnectedGradients.NONE
    ),
    # weights
    "weights_tensor": asked(twice, output_gradients=lambda tf, v: tf.constant([1.0, 10.0])),
    "weights_array": asked(twice, output_gradients=lambda tf, v: np.array([1, 10], np.float32)),
    "weights_variable": asked(twice, output_gradients=lambda tf, v: tf.Variable([1.0, 10.0])),
    "weights_wider": asked(twice, output_gradients=lambda tf, v: np.array([1.0, 10.0])),
    "weights_whole_numbers": asked(twice, output_gradients=lambda tf, v: tf.constant([1, 1])),
    "weights_list": asked(
        lambda tf, v: [v * 2.0, v * 3.0],
        output_gradients=lambda tf, v: [tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])],
    ),
    "weights_with_none": asked(
        lambda tf, v: [v * 2.0, v * 3.0],
        output_gradients=lambda tf, v: [tf.constant([1.0, 0.0]), None],
    ),
    "weights_few": asked(
        lambda tf, v: [v * 2.0, v * 3.0], output_gradients=lambda tf, v: [tf.constant([1.0, 1.0])]
    ),
    "weights_many": asked(
        twice, output_gradients=lambda tf, v: [tf.constant([1.0, 2.0]), tf.constant([3.0, 1.0])]
    ),
    "weights_dict": asked(
        lambda tf, v: {"b": v * 2.0, "a": v * 3.0},
        output_gradients=lambda tf, v: {"a": tf.constant([1.0, 0.0]), "b": v * 0.5},
    ),
}  # fmt: skip


# -- watching -------------------------------------------------------------------------------------


def watched(what: Callable[..., Any]) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x = vector(tf)
        with tf.GradientTape() as tape:
            tape.watch(what(tf, x))
            y = x * x
        return tape.gradient(y, x)

    return run


PROGRAMS |= {
    "watch_tensor": watched(lambda tf, x: x),
    "watch_nest": watched(lambda tf, x: {"a": [x, tf.constant(1.0)], "b": (x,)}),
    "watch_whole_numbers": watched(lambda tf, x: [tf.constant(1), x]),
    "watch_number": watched(lambda tf, x: 1.0),
    "watch_array": watched(lambda tf, x: np.ones(2)),
    "watch_none": watched(lambda tf, x: [None]),
    "watch_other": watched(lambda tf, x: tf.constant([1.0, 2.0, 3.0])),
    "watch_empty": watched(lambda tf, x: []),
}


@program
def watch_late(tf: Any) -> Any:
    x = vector(tf)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        z = y * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)


@program
def watch_intermediate(tf: Any) -> Any:
    x = vector(tf)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(y)
        z = y * y
    return tape.gradient(z, y), tape.gradient(z, x)


@program
def targets_that_are_sources(tf: Any) -> Any:
    x, v = vector(tf), tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        w = tf.Variable(2.0)
        y = w * w
    return (
        tape.gradient(x, x), tape.gradient(v, v), tape.gradient([x, v, x], [v, x]),
        tape.gradient(y, y), tape.gradient([y, w], [w, y]),
        tape.gradient(x, x, output_gradients=tf.constant([1.0, 5.0, 7.0])), tape.gradient(x, v),
    )  # fmt: skip


@program
def watch_on_a_new_tape(tf: Any) -> Any:
    tf.GradientTape().watch(vector(tf))


@program
def accessed_variables_not_watched(tf: Any) -> Any:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    return tape.gradient(y, [a, b]), len(tape.watched_variables())


@program
def variables_not_trained(tf: Any) -> Any:
    a, b = tf.Variable(1.0, trainable=False), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(b)
        y = a * b
    return tape.gradient(y, [a, b])


@program
def variables_of_whole_numbers(tf: Any) -> Any:
    a, b = tf.Variable(3), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.cast(a, tf.float32) * b
    return tape.gradient(y, [a, b])


@program
def watched_variables(tf: Any) -> Any:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    n = tf.Variable(3.0, trainable=False, name="n")
    with tf.GradientTape() as tape:
        y = b * a * n * b
    first = [v.name for v in tape.watched_variables()]
    tape.gradient(y, a)
    return first, [v.name for v in tape.watched_variables()]


@program
def watched_variables_of_a_new_tape(tf: Any) -> Any:
    return tf.GradientTape().watched_variables()


# -- when a tape may be asked ---------------------------------------------------------------------


@program
def never_entered(tf: Any) -> Any:
    v = tf.Variable(1.0)
    return tf.GradientTape().gradient(v * 2, v)


@program
def asked_twice(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    return tape.gradient(y, v)


@program
def asked_after_an_error(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises(TypeError):
        tape.gradient(y, None)
    return tape.gradient(y, v)


@program
def asked_inside(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        first = tape.gradient(v * v, v)
        y = v * 3
    with pytest.raises(RuntimeError):
        tape.gradient(y, v)
    return first


@program
def asked_inside_persistent(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        first = tape.gradient(v * v * v, v)
        second = tape.gradient(first, v)
    return first, second, tape.gradient(second, v), tape.gradient(first, v)


@program
def persistent(tf: Any) -> Any:
    x = vector(tf)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y), tape.gradient(y, z)


@program
def stopped(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            z = v * 3
        w = z * v
    return tape.gradient(y, v), tape.gradient(z, v), tape.gradient(w, v)


@program
def asked_while_stopped(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            first = tape.gradient(y, v)
        z = v * 3
    return first, tape.gradient(z, v)


@program
def stopped_after_closing(tf: Any) -> Any:
    with tf.GradientTape() as tape:
        pass
    with tape.stop_recording():
        pass


@program
def stopped_new(tf: Any) -> Any:
    with tf.GradientTape().stop_recording():
        pass


@program
def stop_with_an_error_inside(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = v * v
    return tape.gradient(y, v)


@program
def reset(tf: Any) -> Any:
    v, x = tf.Variable([1.0, 2.0]), vector(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = v * v
        tape.reset()
        z = v * 3 + 0 * y
        w = tf.reduce_sum(x * x)
    return tape.gradient([z, w], [v, x])


@program
def reset_after_closing(tf: Any) -> Any:
    with tf.GradientTape() as tape:
        pass
    tape.reset()


@program
def entered_again(tf: Any) -> Any:
    v, tape = tf.Variable([1.0, 2.0]), tf.GradientTape()
    with tape:
        a = v * 2
    with tape:
        b = a * v
    return tape.gradient(b, v)


@program
def entered_again_after_use(tf: Any) -> Any:
    v, tape = tf.Variable([1.0, 2.0]), tf.GradientTape()
    with tape:
        a = v * 2
    first = tape.gradient(a, v)
    with tape:
        b = v * v
    return first, tape.gradient(b, v)


@program
def entered_while_open(tf: Any) -> Any:
    tape = tf.GradientTape()
    with tape, tape:
        pass


@program
def an_error_inside_closes_the_tape(tf: Any) -> Any:
    v, tape = tf.Variable([1.0, 2.0]), tf.GradientTape()
    with pytest.raises(KeyError), tape:
        y = v * v
        raise KeyError
    return tape.gradient(y, v)


@program
def two_tapes_at_once(tf: Any) -> Any:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as one, tf.GradientTape() as other:
        y = v * w
        z = y * w
    return one.gradient(y, [v, w]), other.gradient(z, [v, w])


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


# -- jacobians ------------------------------------------------------------------------------------


def jacobian(
    target: Callable[..., Any],
    sources: Callable[..., Any] = lambda tf, x, v, m: x,
    persistent: bool = False,
    method: str = "jacobian",
    **options: Any,
) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x, v, m = vector(tf), tf.Variable([1.0, 2.0]), table(tf, "constant")
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch([x, m])
            y = target(tf, x, v, m)
        return getattr(tape, method)(y, sources(tf, x, v, m), **options)

    return run


PROGRAMS |= {
    "jacobian": jacobian(lambda tf, x, v, m: x * x),
    "jacobian_nest": jacobian(
        lambda tf, x, v, m: x * v[0], lambda tf, x, v, m: {"b": v, "a": [x, m]}
    ),
    "jacobian_zero": jacobian(
        lambda tf, x, v, m: x * v[0], lambda tf, x, v, m: [m, v], unconnected_gradients="zero"
    ),
    "jacobian_loop": jacobian(lambda tf, x, v, m: x * x, experimental_use_pfor=False),
    "jacobian_loop_persistent": jacobian(
        lambda tf, x, v, m: x * x, persistent=True, experimental_use_pfor=False
    ),
    "jacobian_of_a_number": jacobian(lambda tf, x, v, m: tf.reduce_sum(x * x)),
    "jacobian_of_a_constant": jacobian(lambda tf, x, v, m: tf.constant([1.0, 2.0])),
    "jacobian_of_a_constant_zero": jacobian(
        lambda tf, x, v, m: tf.constant([1.0, 2.0]), unconnected_gradients="zero"
    ),
    "jacobian_of_a_list": jacobian(lambda tf, x, v, m: [x * x]),
    "jacobian_of_none": jacobian(lambda tf, x, v, m: None),
    "jacobian_of_whole_numbers": jacobian(lambda tf, x, v, m: tf.cast(x, tf.int32)),
    "jacobian_of_nothing": jacobian(lambda tf, x, v, m: x[:0] * 2.0),
    "jacobian_of_itself": jacobian(lambda tf, x, v, m: x),
    "jacobian_of_a_variable": jacobian(lambda tf, x, v, m: v, lambda tf, x, v, m: v),
    "jacobian_of_a_matrix": jacobian(lambda tf, x, v, m: m * m, lambda tf, x, v, m: m),
    "jacobian_of_a_product": jacobian(
        lambda tf, x, v, m: tf.linalg.matvec(m, v), lambda tf, x, v, m: [m, v]
    ),
    "jacobian_of_rows": jacobian(lambda tf, x, v, m: tf.gather(m, [0, 0]), lambda tf, x, v, m: m),
}
PROGRAMS |= {
    f"batch_{name}": jacobian(target, lambda tf, x, v, m: m, method="batch_jacobian", **options)
    for name, target, options in (
        ("jacobian", lambda tf, x, v, m: m * m, {}),
        ("jacobian_of_products", lambda tf, x, v, m: m[:, :, None] * m[:, None, :], {}),
        ("jacobian_unconnected", lambda tf, x, v, m: tf.ones([3, 2]), {}),
        ("jacobian_zero", lambda tf, x, v, m: tf.ones([3, 2]), {"unconnected_gradients": "zero"}),
        ("jacobian_of_vectors", lambda tf, x, v, m: x * x, {}),
        ("jacobian_of_other_length", lambda tf, x, v, m: tf.ones([2, 2]), {}),
        ("jacobian_loop", lambda tf, x, v, m: m * m, {"experimental_use_pfor": False}),
        ("jacobian_loop_persistent", lambda tf, x, v, m: m * m,
         {"experimental_use_pfor": False, "persistent": True}),
    )
}  # fmt: skip


@program
def jacobian_then_gradient(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    tape.jacobian(y, v)
    return tape.gradient(y, v)


# -- forward mode ---------------------------------------------------------------------------------


def forward(
    function: Callable[..., Any],
    primals: Callable[..., Any] = lambda tf, x, v: x,
    tangents: Callable[..., Any] = lambda tf, x, v: tf.ones_like(x),
    **options: Any,
) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x, v = vector(tf), tf.Variable([1.0, 2.0])
        accumulator = tf.autodiff.ForwardAccumulator(primals(tf, x, v), tangents(tf, x, v))
        with accumulator:
            y = function(tf, x, v)
        return accumulator.jvp(y, **options)

    return run


PROGRAMS |= {
    "forward": forward(lambda tf, x, v: x * x),
    "forward_nest": forward(
        lambda tf, x, v: {"q": [x * x, v * v], "p": x[0] * v[1]},
        lambda tf, x, v: {"a": x, "b": v},
        lambda tf, x, v: {"a": tf.ones_like(x), "b": tf.constant([1.0, 0.0])},
    ),
    "forward_none": forward(lambda tf, x, v: v * v),
    "forward_zero": forward(lambda tf, x, v: v * v, unconnected_gradients="zero"),
    "forward_bad_option": forward(lambda tf, x, v: v * v, unconnected_gradients="q"),
    "forward_array": forward(
        lambda tf, x, v: x * x, tangents=lambda tf, x, v: np.array([1, 0, 2], np.float32)
    ),
    "forward_wider": forward(
        lambda tf, x, v: x * x, tangents=lambda tf, x, v: tf.ones([3], tf.float64)
    ),
    "forward_whole_numbers": forward(
        lambda tf, x, v: x * x,
        lambda tf, x, v: tf.constant([1, 2]),
        lambda tf, x, v: tf.constant([1, 2]),
    ),
    "forward_other_nest": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x], lambda tf, x, v: [x, x]
    ),
    "forward_list_for_tensor": forward(
        lambda tf, x, v: x, tangents=lambda tf, x, v: [1.0, 1.0, 1.0]
    ),
    "forward_no_tangent": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x, v], lambda tf, x, v: [None, v]
    ),
    "forward_of_a_number": forward(lambda tf, x, v: x, lambda tf, x, v: 1.0, lambda tf, x, v: 1.0),
    "forward_to_a_number": forward(lambda tf, x, v: 3.0),
    "forward_to_none": forward(lambda tf, x, v: None),
    "forward_to_the_primal": forward(lambda tf, x, v: x),
    "forward_to_a_variable": forward(
        lambda tf, x, v: v, lambda tf, x, v: v, lambda tf, x, v: tf.constant([3.0, 4.0])
    ),
    "forward_to_whole_numbers": forward(lambda tf, x, v: tf.cast(x, tf.int32)),
    "forward_twice_the_same": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x, x], lambda tf, x, v: [x, x]
    ),
    "forward_product": forward(lambda tf, x, v: tf.reduce_sum(tf.sin(x) * tf.exp(-x))),
}


@program
def forward_not_entered(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    return accumulator.jvp(x * x), accumulator.jvp(x)


@program
def forward_entered_again(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    with accumulator:
        y = x * x
    with accumulator:
        z = y * x
    return accumulator.jvp(z)


@program
def forward_entered_while_open(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    with accumulator, accumulator:
        pass


@program
def forward_over_reverse(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.5])) as accumulator:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3) * v[0]
        g = tape.gradient(y, v)
    return accumulator.jvp(g), accumulator.jvp(y), g


@program
def reverse_over_forward(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.5])) as accumulator:
            y = tf.reduce_sum(v**3) * v[0]
        j = accumulator.jvp(y)
    return j, tape.gradient(j, v)


@program
def forward_over_forward(tf: Any) -> Any:
    x = vector(tf)
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0, 2.0])) as a:
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 1.0, 0.0])) as b:
            y = tf.reduce_sum(x**3)
        j = b.jvp(y)
    return a.jvp(j), a.jvp(y)


@program
def forward_through_an_assignment(tf: Any) -> Any:
    a = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(a, tf.constant(1.0)) as accumulator:
        a.assign(a * 3)
        y = a * a
    return accumulator.jvp(y), accumulator.jvp(a)


# -- functions with gradients of their own --------------------------------------------------------


def custom(function: Callable[..., Any], count: int = 1, **options: Any) -> Callable[[Any], Any]:
    """Return a program: a function of vectors with its own gradient, and that gradient."""

    def run(tf: Any) -> Any:
        xs = [vector(tf) + float(i) for i in range(count)]
        own = tf.custom_gradient(lambda *args, **kwargs: function(tf, *args, **kwargs))
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = own(*xs, **options)
        return y, tape.gradient(y, xs)

    return run


PROGRAMS |= {
    "custom": custom(lambda tf, x: (x * 2, lambda up: up * 100.0)),
    "custom_two_results": custom(
        lambda tf, x, y: ((x * y, x + y), lambda a, b: (a * 10.0, b * 20.0)), 2
    ),
    "custom_too_few": custom(lambda tf, x, y: (x * y, lambda up: up), 2),
    "custom_too_many": custom(lambda tf, x: (x, lambda up: (up, up))),
    "custom_none": custom(lambda tf, x, y: (x * y, lambda up: (up, None)), 2),
    "custom_none_of_numbers": lambda tf: custom(
        lambda tf, x, y: (x[0] * y[1], lambda up: (None, None)), 2
    )(tf),
    "custom_option": custom(
        lambda tf, x, scale=1.0: (x * scale, lambda up: up * scale * 7.0), scale=3.0
    ),
    "custom_without_gradient": custom(lambda tf, x: x),
    "custom_dict": custom(lambda tf, x: ({"a": x * 2, "b": x * 3}, lambda a, b: a * 2 + b * 30)),
    "custom_any_number": custom(lambda tf, *xs: (tf.add_n(xs), lambda up: [up] * len(xs)), 3),
    "custom_list": custom(lambda tf, x: ([x, x * 2], lambda a, b: [a + 5.0 * b])),
    "custom_clipped": custom(
        lambda tf, x: (tf.identity(x), lambda up: tf.clip_by_value(up * x, 0.0, 2.0))
    ),
    "custom_log1pexp": custom(
        lambda tf, x: (
            tf.math.log(1 + tf.exp(x)),
            lambda up: up * (1 - 1 / (1 + tf.exp(x))),
        )
    ),
}


@program
def custom_one_result_of_two(tf: Any) -> Any:
    x = vector(tf)
    both = tf.custom_gradient(lambda x: ((x * 2, x * 3), lambda a, b: a * 10.0 + b))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = both(x)
    return tape.gradient(a, x), tape.gradient(b, x), tape.gradient([a, b], x)


@program
def custom_of_a_nest(tf: Any) -> Any:
    x = vector(tf)
    total = tf.custom_gradient(lambda xs: (tf.add_n(xs), lambda up: [up * 2.0, up * 3.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total([x, x * 2])
    return tape.gradient(y, x)


@program
def custom_of_a_variable(tf: Any) -> Any:
    w = tf.Variable(3.0)
    own = tf.custom_gradient(lambda u: (u * 2.0, lambda up: up * 5.0))
    with tf.GradientTape() as tape:
        y = own(w)
    return tape.gradient(y, w)


def reading(tf: Any, w: Any, gradient: Any) -> Any:
    x = vector(tf)
    own = tf.custom_gradient(lambda x: (x * w, gradient(x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = own(x)
    return y, tape.gradient(y, [x, w])


@program
def custom_that_reads_a_variable(tf: Any) -> Any:
    w = tf.Variable(3.0)

    def gradient(x: Any) -> Any:
        def pull(up: Any, variables: Any = None) -> Any:
            return up * w * 10.0, [tf.reduce_sum(up * x) * 100.0 for _ in variables]

        return pull

    return reading(tf, w, gradient)


@program
def custom_that_reads_a_variable_any_keyword(tf: Any) -> Any:
    w = tf.Variable(3.0)
    return reading(tf, w, lambda x: lambda up, **kwargs: (up, [up[0] for _ in kwargs["variables"]]))


@program
def custom_that_reads_a_variable_in_secret(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0), lambda x: lambda up: up)


@program
def custom_that_forgets_a_variable(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0), lambda x: lambda up, variables=None: (up, []))


@program
def custom_that_reads_a_constant_variable(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0, trainable=False), lambda x: lambda up: up * 4.0)


@program
def custom_that_reads_a_tensor(tf: Any) -> Any:
    x, z = vector(tf), tf.constant(2.0)
    own = tf.custom_gradient(lambda x: (x * z, lambda up: up * 9.0))
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = own(x)
    return tape.gradient(y, [x, z])


@program
def custom_second_order(tf: Any) -> Any:
    x = vector(tf)
    cube = tf.custom_gradient(lambda x: (x**3, lambda up: up * 3 * x**2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program
def custom_in_custom(tf: Any) -> Any:
    x = vector(tf)

    @tf.custom_gradient
    def cube(x: Any) -> Any:
        def pull(up: Any) -> Any:
            @tf.custom_gradient
            def slope(x: Any) -> Any:
                return 3 * x**2 * up, lambda u: u * 1000.0

            return slope(x)

        return x**3, pull

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program
def custom_method(tf: Any) -> Any:
    class Layer:
        @tf.custom_gradient
        def scaled(self, x: Any) -> Any:
            """Its text."""
            return x * 2, lambda up: up * 50.0

    x = vector(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Layer().scaled(x)
    return tape.gradient(y, x), Layer.scaled.__name__, Layer.scaled.__doc__


@program
def custom_without_a_tape(tf: Any) -> Any:
    return tf.custom_gradient(lambda x: (x * 2, lambda up: up))(vector(tf))


@program
def custom_of_a_python_number(tf: Any) -> Any:
    x = vector(tf)
    power = tf.custom_gradient(lambda x, n: (x**n, lambda up: (up * n * x ** (n - 1), None)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, 3.0)
    return tape.gradient(y, x)


@program
def custom_decorator_with_parentheses(tf: Any) -> Any:
    return tf.custom_gradient()(lambda x: (x * 2, lambda up: up))(vector(tf))


@program
def custom_missing_argument(tf: Any) -> Any:
    return tf.custom_gradient(lambda x: (x * 2, lambda up: up))()


@program
def recomputed(tf: Any) -> Any:
    x, w = vector(tf), tf.Variable(3.0)
    calls = []

    def layer(x: Any, scale: float = 1.0) -> Any:
        calls.append(1)
        return tf.sin(x) * w * scale

    again = tf.recompute_grad(layer)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = again(again(x, scale=2.0))
    return y, tape.gradient(y, [x, w]), len(calls), again.__name__


@program
def recomputed_two_results(tf: Any) -> Any:
    x = vector(tf)
    again = tf.recompute_grad(lambda x: (tf.exp(x), x * x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = again(x)
        y = tf.reduce_sum(a * b)
    return tape.gradient(y, x)


@program
def gradient_stopped(tf: Any) -> Any:
    x, v = vector(tf), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * tf.stop_gradient(x)) + tf.reduce_sum(tf.stop_gradient(v))
    return tape.gradient(y, [x, v]), tf.stop_gradient(1), tf.stop_gradient([x, x])


@program
def gradient_passed_through(tf: Any) -> Any:
    x = vector(tf) * 1.3
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x) * 2.0
    return y, tape.gradient(y, x)


@program
def graph_gradients(tf: Any) -> Any:
    return tf.gradients(vector(tf), vector(tf))


@program
def choices(tf: Any) -> Any:
    return [c.value for c in tf.UnconnectedGradients], tf.UnconnectedGradients("zero").name


@program
def of_a_module(tf: Any) -> Any:
    class Line(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = tf.Variable([2.0, 1.0]), tf.Variable(0.5)
            self.frozen = tf.Variable(4.0, trainable=False)

        def __call__(self, x: Any) -> Any:
            return tf.reduce_sum(self.w * x) * self.frozen + self.b

    line = Line()
    with tf.GradientTape() as tape:
        y = line(tf.constant([1.0, 2.0])) ** 2
    return tape.gradient(y, line.trainable_variables), tape.gradient.__name__


@program
def complex_numbers(tf: Any) -> Any:
    z = tf.constant([1 + 2j, 3 - 1j])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(z)
        y = tf.math.real(z * z)
        w = z * z
    return tape.gradient(y, z), tape.gradient(w, z)


@program
def dtypes_of_gradients(tf: Any) -> Any:
    answers = []
    for dtype in (tf.float16, tf.float32, tf.float64):
        v = tf.Variable([1.0, 2.0], dtype=dtype)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v * 3)
        answers.append(tape.gradient(y, v))
    return answers


# -- as guides and users write them


@program
def guide_dense(tf: Any) -> Any:
    w = tf.Variable(tf.reshape(tf.range(6.0) / 10, (3, 2)), name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dl_dw, dl_db = tape.gradient(loss, [w, b])
    g = tape.gradient(loss, {"w": w, "b": b})
    return (
        y,
        loss,
        dl_dw,
        dl_db,
        g["b"],
        [v.name for v in tape.watched_variables()],
        str(w.shape),
        w.name,
    )


@program
def guide_types(tf: Any) -> Any:
    x0 = tf.Variable(3.0, name="x0")
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    x2 = tf.Variable(2.0, name="x2") + 1.0
    x3 = tf.constant(3.0, name="x3")
    with tf.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2
    return tape.gradient(y, [x0, x1, x2, x3])


@program
def guide_stop(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)
    with tf.GradientTape() as t:
        x_sq = x * x
        with t.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq
    return t.gradient(z, {"x": x, "y": y})


@program
def guide_reset(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)
    reset = True
    with tf.GradientTape() as t:
        y_sq = y * y
        if reset:
            t.reset()
        z = x * x + y_sq
    return t.gradient(z, {"x": x, "y": y})


@program
def guide_clip(tf: Any) -> Any:

    @tf.custom_gradient
    def clip_gradients(y):

        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return (y, backward)

    v = tf.Variable(2.0)
    with tf.GradientTape() as t:
        output = clip_gradients(v * v)
    return t.gradient(output, v)


@program
def guide_multi_tapes(tf: Any) -> Any:
    x0 = tf.constant(0.0)
    x1 = tf.constant(0.0)
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        y0 = tf.math.sin(x0)
        y1 = tf.nn.sigmoid(x1)
        y = y0 + y1
        ys = tf.reduce_sum(y)
    return (tape0.gradient(ys, x0).numpy(), tape1.gradient(ys, x1).numpy())


@program
def guide_second(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x * x * x
        dy_dx = t1.gradient(y, x)
    return (dy_dx.numpy(), t2.gradient(dy_dx, x).numpy())


@program
def guide_inputreg(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 0.0, -1.0, 2.0]])
    k = tf.Variable(tf.cast(tf.reshape(tf.range(50), (5, 10)), tf.float32) / 30 - 0.5)
    with tf.GradientTape() as t2:
        with tf.GradientTape(watch_accessed_variables=False) as t1:
            t1.watch(x)
            y = tf.nn.relu(x @ k)
            out = tf.reduce_sum(y**2)
        g1 = t1.gradient(out, x)
        g1_mag = tf.norm(g1)
    dg1 = t2.gradient(g1_mag, [k])
    return (g1_mag, dg1, [v.shape for v in dg1])


@program
def guide_jac_source(tf: Any) -> Any:
    x = tf.linspace(-10.0, 10.0, 21)
    delta = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(x + delta)
    dy = tape.jacobian(y, delta)
    return (dy.shape, y.shape, dy)


@program
def guide_jac_layer(tf: Any) -> Any:
    x = tf.constant(np.linspace(-1, 1, 35).reshape(7, 5).astype("f"))
    k = tf.Variable(np.linspace(-0.5, 0.5, 50).reshape(5, 10).astype("f"))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.nn.relu(x @ k)
    j = tape.jacobian(y, k)
    g = tape.gradient(y, k)
    j_sum = tf.reduce_sum(j, axis=[0, 1])
    delta = tf.reduce_max(abs(g - j_sum)).numpy()
    return (y.shape, k.shape, j.shape, bool(delta < 0.001))


@program
def guide_newton(tf: Any) -> Any:
    x = tf.constant(np.cos(np.arange(12)).reshape(4, 3).astype("f"))
    k1 = tf.Variable(np.sin(np.arange(6)).reshape(3, 2).astype("f"))
    k2 = tf.Variable(np.cos(np.arange(4)).reshape(2, 2).astype("f"))
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            loss = tf.reduce_mean(tf.tanh(tf.tanh(x @ k1) @ k2) ** 2)
        g = t1.gradient(loss, k1)
    h = t2.jacobian(g, k1)
    n = tf.reduce_prod(k1.shape)
    gv = tf.reshape(g, [n, 1])
    hm = tf.reshape(h, [n, n])
    eye = tf.eye(h.shape[0] * h.shape[1]) * 0.001
    up = tf.linalg.solve(hm + eye, gv)
    k1.assign_sub(tf.reshape(up, k1.shape))
    return (hm, n, f"x.shape: {x.shape}, n: {n}")


@program
def guide_batchjac(tf: Any) -> Any:
    x = tf.constant(np.linspace(-1, 1, 35).reshape(7, 5).astype("f"))
    k = tf.constant(np.sin(np.arange(30)).reshape(5, 6).astype("f"))
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = tf.nn.elu(x @ k)
    j = tape.jacobian(y, x)
    js = tf.reduce_sum(j, axis=2)
    jb = tape.batch_jacobian(y, x)
    return (jb, float(tf.reduce_max(abs(jb - js))) < 1e-06, tf.einsum("bxby->bxy", j))


@program
def guide_none_loop(tf: Any) -> Any:
    x = tf.Variable(2.0)
    out = []
    for _epoch in range(2):
        with tf.GradientTape() as tape:
            y = x + 1
        out.append((type(x).__name__ in ("ResourceVariable", "Variable"), tape.gradient(y, x)))
        x = x + 1
    return [b for a, b in out]


@program
def guide_numpy_none(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
    with tf.GradientTape() as tape:
        x2 = x**2
        y = np.mean(x2, axis=0)
        y = tf.reduce_mean(y, axis=0)
    return (tape.gradient(y, x), y)


@program
def guide_int(tf: Any) -> Any:
    x = tf.constant(10)
    with tf.GradientTape() as g:
        g.watch(x)
        y = x * x
    return g.gradient(y, x)


@program
def guide_state(tf: Any) -> Any:
    x0 = tf.Variable(3.0)
    x1 = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    return tape.gradient(y, x0)


@program
def guide_unconnected(tf: Any) -> Any:
    x = tf.Variable([2.0, 2.0])
    y = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y**2
    return tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)


@program
def tape_str_unconn(tf: Any) -> Any:
    x = tf.Variable([2.0, 2.0])
    y = tf.Variable(3.0)
    with tf.GradientTape(True) as tape:
        z = y**2
    return (
        tape.gradient(z, [x, y], None, "zero"),
        tape.jacobian(z, x, "zero"),
        tape.gradient(z, (x,), unconnected_gradients="none"),
    )


@program
def tape_two_targets(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0 = x**2
        y1 = 1 / x
    return tape.gradient({"y0": y0, "y1": y1}, x)


@program
def tape_vec_target(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    return tape.gradient(y, x)


@program
def tape_cf(tf: Any) -> Any:
    x = tf.constant(1.0)
    v0 = tf.Variable(2.0)
    v1 = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    return (tape.gradient(result, [v0, v1]), tape.gradient(result, x))


@program
def watch_list_dict(tf: Any) -> Any:
    a, b, c = (tf.constant(1.0), tf.constant([2.0, 3.0]), tf.constant(4.0))
    with tf.GradientTape() as t:
        t.watch([a, {"k": b}])
        t.watch((c,))
        y = tf.reduce_sum(a * b * c)
    return t.gradient(y, [a, {"k": b}, (c,)])


@program
def jac_of_dict_sources(tf: Any) -> Any:
    a, b = (tf.Variable([1.0, 2.0]), tf.Variable([[3.0], [4.0]]))
    with tf.GradientTape() as t:
        y = a * b[:, 0]
    return t.jacobian(y, {"a": a, "b": b})


@program
def grad_namedtuple(tf: Any) -> Any:
    import collections

    P = collections.namedtuple("P", "w b")
    p = P(tf.Variable([[1.0, 2.0]]), tf.Variable([0.5]))
    with tf.GradientTape() as t:
        y = tf.reduce_sum(p.w * p.b)
    g = t.gradient(y, p)
    return (g.w, g.b, type(g).__name__)


@program
def grad_empty_sources(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        y = x * x
    return t.gradient(y, [])


@program
def grad_twice_err(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        y = x * x
    t.gradient(y, x)
    return t.gradient(y, x)


@program
def grad_outgrad_list(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as t:
        y = x**2
        z = x**3
    return (
        t.gradient(
            [y, z], x, output_gradients=[tf.constant([1.0, 0.0, 0.0]), tf.constant([0.0, 1.0, 0.0])]
        ),
        t.gradient(y, x, output_gradients=[1.0, 2.0, 3.0]),
        t.gradient(y, x, [np.array([1.0, 2.0, 3.0], np.float32)]),
    )


@program
def grad_target_var(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        x * 2
    return t.gradient(x, x)


@program
def grad_of_python(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        x * x
    return t.gradient(3.0, x)


@program
def grad_none_target(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        x * x
    return t.gradient(None, x)


@program
def grad_in_context(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = x**3
        g = t.gradient(y, x)
    return g


@program
def hvp_fwd_over_back(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
        g = t.gradient(y, x)
    return (g, acc.jvp(g))


@program
def hvp_back_over_back(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.math.log(tf.reduce_sum(tf.exp(x)))
        g = inner.gradient(y, x)
        gv = tf.reduce_sum(g * v)
    return outer.gradient(gv, x)


@program
def hvp_back_over_fwd(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as t:
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = tf.reduce_sum(tf.sin(x) * tf.roll(x, 1, 0))
        j = acc.jvp(y)
    return (j, t.gradient(j, x))


@program
def third(tf: Any) -> Any:
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                y = tf.reduce_sum(tf.exp(x) * x)
            g = c.gradient(y, x)
        h = b.gradient(g, x)
    return (g, h, a.gradient(h, x))


@program
def per_example(tf: Any) -> Any:
    w = tf.Variable([1.0, 2.0, 3.0])
    X = tf.constant(np.arange(12, dtype="f").reshape(4, 3) / 5)
    y = tf.constant([1.0, 0.0, 1.0, 0.0])
    with tf.GradientTape() as t:
        losses = (tf.linalg.matvec(X, w) - y) ** 2
    J = t.jacobian(losses, w)

    def one(a):
        xi, yi = a
        with tf.GradientTape() as tt:
            loss = (tf.tensordot(xi, w, 1) - yi) ** 2
        return tt.gradient(loss, w)

    return (
        J,
        tf.vectorized_map(one, (X, y)),
        tf.map_fn(one, (X, y), fn_output_signature=tf.float32),
    )


@program
def maml(tf: Any) -> Any:
    w = tf.Variable([[0.5], [-0.3]])
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    y = tf.constant([[1.0], [0.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        g = inner.gradient(loss, w)
        fast = w - 0.1 * g
        l2 = tf.reduce_mean((tf.tanh(x @ fast) - y) ** 2)
    return (l2, outer.gradient(l2, w))


@program
def fa_basic(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = tf.constant([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator(
        (x, y), (tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0]))
    ) as acc:
        z = x * y
        w = tf.reduce_sum(z)
    return (
        acc.jvp(z),
        acc.jvp(w),
        acc.jvp([z, w]),
        acc.jvp(tf.constant(1.0)),
        acc.jvp(tf.constant(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO),
    )


@program
def fa_dict(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0]])
    with tf.autodiff.ForwardAccumulator(primals=v, tangents=tf.ones([1, 2])) as acc:
        y = tf.nn.softmax(v @ [[1.0, 0.0], [2.0, 1.0]])
    return acc.jvp({"y": y})


@program
def fa_dtype(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return tf.autodiff.ForwardAccumulator(x, tf.constant([1, 2]))


@program
def fa_pytangent(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, [1.0, 0.0]) as acc:
        y = x**2
    return acc.jvp(y)


@program
def fa_nested(tf: Any) -> Any:
    x = tf.constant(1.5)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as o:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as i:
            y = tf.sin(x) * x
        d = i.jvp(y)
    return (d, o.jvp(d))


@program
def cg_log1pexp(tf: Any) -> Any:

    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(up):
            return up * (1 - 1 / (1 + e))

        return (tf.math.log(1 + e), grad)

    x = tf.constant([0.0, 100.0, -3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = log1pexp(x)
    return t.gradient(y, x)


@program
def cg_two(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):

        def grad(dz):
            return (dz * y * 10, dz * x)

        return (x * y, grad)

    a, b = (tf.Variable(2.0), tf.Variable(3.0))
    with tf.GradientTape() as t:
        z = f(a, b) * 2
    return t.gradient(z, [a, b])


@program
def cg_multi_out(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x):

        def grad(d1, d2):
            return d1 * 2 + d2 * 3

        return ((x * x, x + 1), grad)

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        a, b = f(x)
    return (t.gradient(a, x), t.gradient(b, x), t.gradient([a, b], x))


@program
def cg_var(tf: Any) -> Any:
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):

        def grad(dy, variables=None):
            return (dy * w * 100, [dy * x * 10 for v in variables])

        return (x * w, grad)

    x = tf.constant(2.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    return t.gradient(y, [x, w])


@program
def cg_var_missing(tf: Any) -> Any:
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return (x * w, lambda dy: dy)

    with tf.GradientTape():
        y = f(tf.constant(1.0))
    return y


@program
def cg_wrong_count(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):
        return (x * y, lambda dz: dz)

    x = tf.constant(1.0)
    with tf.GradientTape() as t:
        t.watch(x)
        z = f(x, x)
    return t.gradient(z, x)


@program
def cg_none(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):
        return (x * y, lambda dz: (dz, None))

    x, y = (tf.Variable(1.0), tf.Variable(2.0))
    with tf.GradientTape() as t:
        z = f(x, y)
    return t.gradient(z, [x, y])


@program
def cg_second(tf: Any) -> Any:

    @tf.custom_gradient
    def sq(x):

        def g(dy):
            return dy * 3 * x**2

        return (x**3, g)

    x = tf.Variable(2.0)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            y = sq(x)
        d = b.gradient(y, x)
    return (d, a.gradient(d, x))


@program
def cg_ste(tf: Any) -> Any:

    @tf.custom_gradient
    def rnd(x):
        return (tf.round(x), lambda dy: dy)

    x = tf.Variable([0.2, 0.7, 1.5])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(rnd(x) ** 2)
    return t.gradient(y, x)


@program
def cg_reversal(tf: Any) -> Any:

    @tf.custom_gradient
    def flip(x, loss=0.5):
        return (tf.identity(x), lambda dy: -dy * 0.5)

    w = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(flip(w * 2) ** 2)
    return t.gradient(y, w)


@program
def cg_kw(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, scale=2.0):
        return (x * scale, lambda dy: dy * scale)

    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x, scale=4.0)
    return (y, t.gradient(y, x))


@program
def stopgrad(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(x * tf.stop_gradient(x) + tf.stop_gradient(x**2))
    return (t.gradient(y, x), tf.stop_gradient([1.0, 2.0]), tf.stop_gradient(np.ones(2)))


@program
def stopgrad_list(tf: Any) -> Any:
    return tf.stop_gradient([tf.constant(1.0), tf.constant(2.0)])


@program
def recompute(tf: Any) -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.recompute_grad(lambda x: tf.tanh(x @ w))
    x = tf.constant([[1.0, -1.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.reduce_sum(f(x))
    return t.gradient(y, [x, w])


@program
def gpt(tf: Any) -> Any:
    f = tf.grad_pass_through(tf.round)
    x = tf.Variable([1.4, 2.6])
    with tf.GradientTape() as t:
        y = f(x) * 2
    return (y, t.gradient(y, x))


@program
def gradients_err(tf: Any) -> Any:
    return tf.gradients(1, 2)


@program
def jac_scalar(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        y = x**2
        z = tf.stack([x, x**3])
    return (t.jacobian(y, x), t.jacobian(z, x), t.jacobian(z, [x]))


@program
def jac_none(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        z = x * tf.constant([1.0, 2.0])
    return t.jacobian(z, [x, y])


@program
def jac_pfor_false(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as t:
        y = tf.sin(x)
    return (t.jacobian(y, x, experimental_use_pfor=False), t.jacobian(y, x, parallel_iterations=2))


@program
def jac_pfor_err(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.sin(x)
    return t.jacobian(y, x, experimental_use_pfor=False)


@program
def jac_list_target(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = [x * 2, x * 3]
    return t.jacobian(y, x)


@program
def bjac_err(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = x * 2
    return t.batch_jacobian(y, x)


@program
def bjac_err2(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        y = x[:1] * 2
    return t.batch_jacobian(y, x)


@program
def hessian_diag(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            y = tf.reduce_sum(x**4)
        g = b.gradient(y, x)
    h = a.jacobian(g, x)
    return (tf.linalg.diag_part(h), h)


@program
def rosenbrock_newton(tf: Any) -> Any:
    x = tf.Variable([-1.2, 1.0], dtype=tf.float64)
    for _ in range(5):
        with tf.GradientTape() as a:
            with tf.GradientTape() as b:
                y = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
            g = b.gradient(y, x)
        h = a.jacobian(g, x)
        x.assign_sub(tf.linalg.matvec(tf.linalg.inv(h), g))
    return (x, g)


@program
def pinn(tf: Any) -> Any:
    W1 = tf.Variable(np.linspace(-1, 1, 8).reshape(1, 8).astype("f"))
    b1 = tf.Variable(np.linspace(0, 1, 8).astype("f"))
    W2 = tf.Variable(np.cos(np.arange(8)).reshape(8, 1).astype("f"))
    x = tf.constant(np.linspace(0, 1, 5).reshape(5, 1).astype("f"))

    def u(x):
        return tf.tanh(x @ W1 + b1) @ W2

    with tf.GradientTape() as t:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = u(x)
            ux = t1.gradient(y, x)
        uxx = t2.gradient(ux, x)
        loss = tf.reduce_mean((uxx + y) ** 2) + tf.reduce_sum((u(tf.zeros([1, 1])) - 1.0) ** 2)
    return (loss, t.gradient(loss, [W1, b1, W2]))


@program
def wgan_gp(tf: Any) -> Any:
    w = tf.Variable([[0.3], [-0.5]])
    real = tf.constant([[1.0, 2.0], [0.0, 1.0]])
    fake = tf.constant([[0.5, -1.0], [2.0, 0.3]])
    al = tf.constant([[0.3], [0.8]])
    with tf.GradientTape() as o:
        inter = real + al * (fake - real)
        with tf.GradientTape() as g:
            g.watch(inter)
            p = tf.nn.leaky_relu(inter @ w) ** 2
        gr = g.gradient(p, [inter])[0]
        n = tf.sqrt(tf.reduce_sum(tf.square(gr), axis=[1]))
        gp = tf.reduce_mean((n - 1.0) ** 2)
    return (gp, o.gradient(gp, w))


@program
def reinforce(tf: Any) -> Any:
    logits = tf.Variable([0.1, 0.2, 0.7])
    acts = [0, 2, 1]
    R = tf.constant([1.0, -0.5, 2.0])
    with tf.GradientTape() as t:
        lp = tf.nn.log_softmax(logits)
        loss = -tf.reduce_mean(tf.gather(lp, acts) * R) - 0.01 * -tf.reduce_sum(tf.exp(lp) * lp)
    return (loss, t.gradient(loss, logits))


@program
def ppo(tf: Any) -> Any:
    new = tf.Variable([-1.0, -0.5, -2.0])
    old = tf.constant([-1.1, -0.7, -1.5])
    A = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as t:
        r = tf.exp(new - old)
        loss = -tf.reduce_mean(tf.minimum(r * A, tf.clip_by_value(r, 0.8, 1.2) * A))
    return (loss, t.gradient(loss, new))


@program
def attention(tf: Any) -> Any:
    q = tf.Variable(np.sin(np.arange(24)).reshape(2, 3, 4).astype("f"))
    k = tf.Variable(np.cos(np.arange(24)).reshape(2, 3, 4).astype("f"))
    v = tf.constant(np.arange(24).reshape(2, 3, 4).astype("f") / 10)
    mask = 1 - tf.linalg.band_part(tf.ones((3, 3)), -1, 0)
    with tf.GradientTape() as t:
        s = tf.matmul(q, k, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
        s += mask * -1000000000.0
        o = tf.nn.softmax(s, axis=-1) @ v
        loss = tf.reduce_sum(o**2)
    return (loss, t.gradient(loss, [q, k]))


@program
def vae(tf: Any) -> Any:
    mu = tf.Variable([[0.1, 0.2]])
    lv = tf.Variable([[-0.1, 0.3]])
    eps = tf.constant([[0.5, -1.0]])
    with tf.GradientTape() as t:
        z = eps * tf.exp(lv * 0.5) + mu
        kl = -0.5 * tf.reduce_sum(1 + lv - mu**2 - tf.exp(lv), axis=1)
        rec = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=z), axis=1
        )
        loss = tf.reduce_mean(rec + kl)
    return (loss, t.gradient(loss, [mu, lv]))


@program
def contrastive(tf: Any) -> Any:
    a = tf.Variable(np.sin(np.arange(8)).reshape(4, 2).astype("f"))
    with tf.GradientTape() as t:
        z = tf.math.l2_normalize(a, axis=1)
        s = tf.matmul(z, z, transpose_b=True) / 0.5
        s = s - tf.eye(4) * 1000000000.0
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0, 3, 2], logits=s)
        )
    return (loss, t.gradient(loss, a))


@program
def kepler(tf: Any) -> Any:
    p = tf.Variable([1.0, 0.0], dtype=tf.float64)
    v = tf.Variable([0.0, 1.0], dtype=tf.float64)
    for _ in range(5):
        with tf.GradientTape() as t:
            U = -1 / tf.norm(p)
        F = -t.gradient(U, p)
        v.assign_add(0.1 * F)
        p.assign_add(0.1 * v)
    return (p, v)


@program
def debug(tf: Any) -> Any:
    tf.debugging.assert_equal([1, 2], [1, 2])
    tf.debugging.assert_near(1.0, 1.0000001)
    tf.debugging.assert_positive([1.0])
    tf.debugging.assert_shapes([(tf.ones([2, 3]), ("a", "b")), (tf.ones([3]), ("b",))])
    return tf.debugging.check_numerics(tf.constant([1.0]), "m")


@program
def debug_e1(tf: Any) -> Any:
    return tf.debugging.assert_equal([1, 2], [1, 3], message="x")


@program
def debug_e2(tf: Any) -> Any:
    return tf.debugging.check_numerics(tf.constant([1.0, np.nan]), "m")


@program
def debug_e3(tf: Any) -> Any:
    return tf.debugging.assert_shapes([(tf.ones([2, 3]), ("a", "a"))])


@program
def debug_e4(tf: Any) -> Any:
    return tf.debugging.assert_rank(tf.ones([2]), 2)


@program
def debug_e5(tf: Any) -> Any:
    return tf.debugging.assert_type(tf.constant(1.0), tf.int32)


@program
def debug_e6(tf: Any) -> Any:
    return tf.Assert(tf.constant(False), [tf.constant(1)])


@program
def errors(tf: Any) -> Any:
    try:
        tf.reshape(tf.ones([4]), [3])
    except tf.errors.InvalidArgumentError as e:
        return (
            type(e).__name__,
            isinstance(e, tf.errors.OpError),
            isinstance(e, ValueError),
            e.error_code,
            isinstance(e.message, str),
        )


@program
def watch_after(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as t:
        x * x
        t.watch(x)
        z = x * 3
    return t.gradient(z, x)


@program
def watch_int(tf: Any) -> Any:
    x = tf.constant(2)
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.cast(x, tf.float32) ** 2
    return t.gradient(y, x)


@program
def watch_np(tf: Any) -> Any:
    with tf.GradientTape() as t:
        t.watch(np.ones(2))
        y = 1
    return y


@program
def complex_grad(tf: Any) -> Any:
    z = tf.Variable(1.0 + 2j)
    with tf.GradientTape() as t:
        y = tf.math.real(z * tf.math.conj(z))
    return t.gradient(y, z)


@program
def cast_grad(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32)
    return t.gradient(y, x)


@program
def mixed_grad_dtype(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.cast(x, tf.float64) * 2
    return (t.gradient(y, x), y)


@program
def where_nan(tf: Any) -> Any:
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as t:
        y = tf.where(x > 0, tf.math.log(x), 0.0)
    return t.gradient(y, x)


@program
def safe_where(tf: Any) -> Any:
    x = tf.Variable([0.0, 4.0])
    with tf.GradientTape() as t:
        y = tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0)
    return t.gradient(y, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
