"""What a tape is asked, what it watches, and when it may be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare
from tests.dialects.tensorflow.tape_cases import vector

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


@program
def persistent(tf: Any) -> Any:
    x = vector(tf)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y), tape.gradient(y, z)


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
