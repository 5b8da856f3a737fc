"""Assertions, and gradients beside differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.control_cases import vector
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


# -- assertions -----------------------------------------------------------------------------------


def checked(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        own = [a(tf) if callable(a) else a for a in args]
        return getattr(tf.debugging, name)(*own, **kwargs)

    return run


PROGRAMS |= {
    f"assertion_{i}_{name}": checked(name, *args)
    for i, (name, *args) in enumerate(
        [
            ("assert_equal", 1, 1), ("assert_equal", 1, 2), ("assert_equal", vector, vector),
            ("assert_equal", lambda tf: tf.constant([1, 2]), lambda tf: tf.constant([1, 3])),
            ("assert_equal", lambda tf: tf.constant(1), lambda tf: tf.constant(1.0)),
            ("assert_equal", vector, lambda tf: tf.constant([1.0, 2.0])),
            ("assert_equal", vector, [1.0, 2.0, 3.0]), ("assert_equal", vector, np.arange(3.0)),
            ("assert_none_equal", 1, 2), ("assert_none_equal", [1, 2], [3, 2]),
            ("assert_near", 1.0, 1.1), ("assert_near", 1.0, 1.0000001),
            ("assert_near", 1.0, 1.1, 0.2), ("assert_near", 1.0, 1.1, 0.0, 0.2),
            ("assert_near", lambda tf: tf.constant(1), lambda tf: tf.constant(1)),
            ("assert_near", vector, lambda tf: tf.constant(1.0, tf.float64)),
            ("assert_less", 1, 1), ("assert_less", 1, 2), ("assert_less_equal", 1, 1),
            ("assert_greater", 1, 1), ("assert_greater", vector, 0.5),
            ("assert_greater_equal", 1, 1), ("assert_negative", 1.0), ("assert_negative", -1.0),
            ("assert_positive", [0.0]), ("assert_positive", lambda tf: tf.zeros([0])),
            ("assert_non_negative", -1), ("assert_non_positive", 1), ("assert_non_positive", 0),
            ("assert_rank", vector, 1), ("assert_rank", vector, 2),
            ("assert_rank", vector, lambda tf: tf.constant(1)),
            ("assert_rank_at_least", vector, 1), ("assert_rank_at_least", vector, 2),
            ("assert_rank_in", vector, [1, 2]), ("assert_rank_in", vector, (2, 3)),
            ("assert_scalar", vector), ("assert_scalar", 1.0), ("assert_integer", vector),
            ("assert_integer", lambda tf: tf.constant(1)), ("assert_type", vector, "float32"),
            ("assert_type", vector, "int32"),
            ("assert_all_finite", vector, "m"), ("assert_all_finite", [1.0, np.nan], "m"),
            ("check_numerics", vector, "m"), ("check_numerics", [np.inf], "m"),
            ("check_numerics", lambda tf: tf.constant([1]), "m"),
            ("assert_shapes", lambda tf: [(vector(tf), ("N",)), (tf.ones([3, 2]), ("N", 2))]),
            ("assert_shapes", lambda tf: [(vector(tf), ("N",)), (tf.ones([4]), ("N",))]),
            ("assert_shapes", lambda tf: [(vector(tf), (4,))]),
            ("assert_shapes", lambda tf: [(vector(tf), ("N", "M"))]),
            ("assert_shapes", lambda tf: [(tf.ones([2, 5, 3]), (..., 3)), (vector(tf), (3,))]),
            ("assert_shapes", lambda tf: [(vector(tf), (None,)), (tf.constant(1), ())]),
            ("assert_shapes", lambda tf: [(vector(tf), "N"), (tf.ones([2, 3]), "MN")]),
            ("assert_shapes", {}),
        ]
    )
}  # fmt: skip


@program
def gradient_through_a_check(tf: Any) -> Any:
    x = vector(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(x, "x") ** 2
    return tape.gradient(y, x)


@program
def assertions_of_conditions(tf: Any) -> Any:
    return tf.Assert(tf.constant(True), [1.0])


@program
def assertions_of_conditions_that_fail(tf: Any) -> Any:
    return tf.Assert(tf.constant(False), ["text", vector(tf)])


@program
def assertions_of_vectors(tf: Any) -> Any:
    return tf.Assert(vector(tf) > 0, [])


@program
def messages_of_errors(tf: Any) -> Any:
    try:
        tf.debugging.assert_equal(1, 2, message="so it is")
    except tf.errors.InvalidArgumentError as error:
        return "so it is" in str(error), "so it is" in error.message


# -- gradients and differences --------------------------------------------------------------------


def checked_gradient(f: Callable[..., Any], *args: Any, **options: Any) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        points = [a(tf) if callable(a) else a for a in args]
        return tf.test.compute_gradient(lambda *xs: f(tf, *xs), points, **options)

    return run


PROGRAMS |= {
    "differences": checked_gradient(lambda tf, x: x * x, vector),
    "differences_of_a_product": checked_gradient(
        lambda tf, a, b: tf.matmul(a, b), [[1.0, 2.0]], [[3.0], [4.0]]
    ),
    "differences_of_a_constant": checked_gradient(lambda tf, x: tf.stop_gradient(x), vector),
    "differences_step": checked_gradient(
        lambda tf, x: x * x, lambda tf: tf.constant([1.0], tf.float64), delta=1e-3
    ),
    "differences_whole": checked_gradient(lambda tf, x: x, lambda tf: tf.constant([1])),
    "differences_no_list": lambda tf: tf.test.compute_gradient(lambda x: x, vector(tf)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name], rtol=1e-3 if name.startswith("differences") else None)
