"""Loops, branches and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


def on_vector(**programs: Callable[..., Any]) -> dict[str, Program]:
    """Return programs that begin with a vector."""

    def begun(function: Callable[..., Any]) -> Program:
        return lambda tf: function(tf, tf.constant([1.0, 2.0, 3.0]))

    return {name: begun(function) for name, function in programs.items()}


def with_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a program that gives the value and the gradient of a function of a vector."""

    def run(tf: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(tf, x)
        return y, tape.gradient(y, x)

    return run


# -- loops ----------------------------------------------------------------------------------------

PROGRAMS |= on_vector(
    map_square=with_gradient(lambda tf, x: tf.map_fn(lambda e: e * e, x)),
    map_rows=lambda tf, x: tf.map_fn(lambda e: e * 2, tf.ones([2, 3, 2])),
    map_to_rows=with_gradient(lambda tf, x: tf.map_fn(lambda e: x * e, x)),
    map_other_dtype=lambda tf, x: tf.map_fn(lambda e: tf.cast(e, tf.int32), x),
    map_signature=lambda tf, x: tf.map_fn(
        lambda e: tf.cast(e, tf.int32), x, fn_output_signature=tf.int32
    ),
    map_dtype=lambda tf, x: tf.map_fn(lambda e: e > 1, x, dtype=tf.bool),
    map_spec=lambda tf, x: tf.map_fn(
        lambda e: e, x, fn_output_signature=tf.TensorSpec([], tf.float32)
    ),
    map_numbers=lambda tf, x: tf.map_fn(lambda e: e, [1.0, 2.0]),
    map_array=lambda tf, x: tf.map_fn(lambda e: e * 2, np.arange(3.0)),
    map_variable=lambda tf, x: tf.map_fn(lambda e: e * 2, tf.Variable([1.0, 2.0])),
    map_to_a_number=lambda tf, x: tf.map_fn(lambda e: 2.0, x),
    map_to_a_whole_number=lambda tf, x: tf.map_fn(lambda e: 2, x),
    map_to_none=lambda tf, x: tf.map_fn(lambda e: None, x),
    map_to_a_pair=lambda tf, x: tf.map_fn(lambda e: (e, e), x),
    map_to_a_pair_signature=lambda tf, x: tf.map_fn(
        lambda e: (e, e > 1), x, fn_output_signature=(tf.float32, tf.bool)
    ),
    map_to_a_list_for_a_pair=lambda tf, x: tf.map_fn(
        lambda e: [e, e], x, fn_output_signature=(tf.float32, tf.float32)
    ),
    map_pair=lambda tf, x: tf.map_fn(lambda e: e[0] + e[1], (x, x), fn_output_signature=tf.float32),
    map_pair_no_signature=lambda tf, x: tf.map_fn(lambda e: e[0] + e[1], (x, x)),
    map_dict=lambda tf, x: tf.map_fn(
        lambda e: {"b": e["b"] * 2, "a": e["a"]}, {"a": x, "b": x * 2}
    ),
    map_uneven=lambda tf, x: tf.map_fn(lambda e: e[0], (x, x[:2]), fn_output_signature=tf.float32),
    map_nothing=lambda tf, x: tf.map_fn(lambda e: e * 2, x[:0]),
    map_scalar=lambda tf, x: tf.map_fn(lambda e: e, tf.constant(1.0)),
    map_no_function=lambda tf, x: tf.map_fn(3, x),
    map_ragged=lambda tf, x: tf.map_fn(tf.range, tf.constant([1, 2])),
    vectorised=with_gradient(lambda tf, x: tf.vectorized_map(lambda e: e * e, x)),
    vectorised_sine=with_gradient(
        lambda tf, x: tf.vectorized_map(lambda e: tf.sin(e) * tf.reduce_sum(x), x)
    ),
    vectorised_pair=lambda tf, x: tf.vectorized_map(
        lambda e: (e[0] + e[1], {"q": e[0]}), (x, x * 10)
    ),
    vectorised_broadcast=lambda tf, x: tf.vectorized_map(
        lambda e: e[0] + e[1], (x, tf.constant([10.0]))
    ),
    vectorised_constant=lambda tf, x: tf.vectorized_map(lambda e: tf.constant(1.0), x),
    vectorised_number=lambda tf, x: tf.vectorized_map(lambda e: 2.0, x),
    vectorised_array=lambda tf, x: tf.vectorized_map(lambda e: e * 2, np.arange(3.0)),
    vectorised_numbers=lambda tf, x: tf.vectorized_map(lambda e: e, [1.0, 2.0]),
    vectorised_uneven=lambda tf, x: tf.vectorized_map(lambda e: e[0] + e[1], (x, x[:2])),
    vectorised_products=lambda tf, x: tf.vectorized_map(
        lambda m: tf.linalg.matmul(m, m), tf.reshape(tf.range(12.0), [3, 2, 2])
    ),
    scan=with_gradient(lambda tf, x: tf.scan(lambda a, e: a * e + 1.0, x)),
    scan_initial=with_gradient(
        lambda tf, x: tf.scan(lambda a, e: a * e + 1.0, x, initializer=tf.constant(2.0))
    ),
    scan_initial_number=lambda tf, x: tf.scan(lambda a, e: a + e, x, initializer=0.0),
    scan_initial_dtype=lambda tf, x: tf.scan(lambda a, e: a + e, x, initializer=tf.constant(0)),
    scan_pair=lambda tf, x: tf.scan(lambda a, e: (a[0] + e, a[1] * e), x, initializer=(0.0, 1.0)),
    scan_pairs=lambda tf, x: tf.scan(
        lambda a, e: (a[0] + e[0], a[1] * e[1]), (x, x), initializer=(0.0, np.float32(1))
    ),
    scan_list_for_pair=lambda tf, x: tf.scan(
        lambda a, e: [a[0] + e, a[1]], x, initializer=(0.0, 1.0)
    ),
    scan_reverse=lambda tf, x: tf.scan(lambda a, e: a * 2 + e, x, reverse=True),
    scan_reverse_initial=lambda tf, x: tf.scan(
        lambda a, e: a * 2 + e, x, initializer=1.0, reverse=True
    ),
    scan_nothing=lambda tf, x: tf.scan(lambda a, e: a + e, x[:0], initializer=0.0),
    scan_nothing_at_all=lambda tf, x: tf.scan(lambda a, e: a + e, x[:0]),
    scan_growing=lambda tf, x: tf.scan(
        lambda a, e: tf.concat([a, [e]], 0), x, initializer=tf.zeros([1])
    ),
    foldl=with_gradient(lambda tf, x: tf.foldl(lambda a, e: a * 2 + e * e, x)),
    foldl_initial=lambda tf, x: tf.foldl(lambda a, e: a * 2 + e, x, initializer=1.0),
    foldl_pairs=lambda tf, x: tf.foldl(
        lambda a, e: (a[0] + e[0] * e[1], a[1]), (x, x), initializer=(0.0, 1.0)
    ),
    foldl_nothing=lambda tf, x: tf.foldl(lambda a, e: a + e, x[:0]),
    foldl_nothing_initial=lambda tf, x: tf.foldl(lambda a, e: a + e, x[:0], 5.0),
    fold_no_function=lambda tf, x: tf.foldl(3, x),
    while_pair=lambda tf, x: tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s * 2.0), (tf.constant(0), x)
    ),
    while_gradient=with_gradient(
        lambda tf, x: tf.while_loop(
            lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (tf.constant(0), x)
        )[1]
    ),
    while_list=lambda tf, x: tf.while_loop(
        lambda i, s: i < 3, lambda i, s: [i + 1, s * 2.0], [tf.constant(0), x]
    ),
    while_at_most=lambda tf, x: tf.while_loop(
        lambda i, s: True,
        lambda i, s: [i + 1, s * 2.0],
        [tf.constant(0), x],
        maximum_iterations=2,
    ),
    while_one=lambda tf, x: tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)]),
    while_nest=lambda tf, x: tf.while_loop(
        lambda i, d: i < 3,
        lambda i, d: (i + 1, {"a": d["a"] * 2, "b": [i]}),
        (tf.constant(0), {"a": x, "b": [tf.constant(7)]}),
    ),
    while_never=lambda tf, x: tf.while_loop(lambda i: i < 0, lambda i: [i + 1], [0]),
    while_too_many=lambda tf, x: tf.while_loop(
        lambda i: i < 3, lambda i: (i + 1, 2), [tf.constant(0)]
    ),
    while_without=lambda tf, x: tf.while_loop(lambda: True, lambda: 1, []),
    while_no_condition=lambda tf, x: tf.while_loop(1, lambda i: i, [1]),
    while_no_body=lambda tf, x: tf.while_loop(lambda i: i < 3, 1, [1]),
    while_numbers=lambda tf, x: tf.while_loop(
        lambda i, s: i < 4, lambda i, s: (i + 1, s + i), (0, 0)
    ),
)


@program
def array_of_tensors(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            array = array.write(i, x[i] * x[0])
        y = array.stack()
    return y, tape.gradient(y, x), array.size()


@program
def array_of_tensors_in_a_loop(tf: Any) -> Any:
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    _, array = tf.while_loop(
        lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, i * i)), (tf.constant(0), array)
    )
    return array.stack()


PROGRAMS |= {
    "array_too_far": lambda tf: tf.TensorArray(tf.float32, size=1).write(3, 1.0),
    "array_other_dtype": lambda tf: tf.TensorArray(tf.float32, size=1).write(0, tf.constant(1)),
    "array_read": lambda tf: tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0]).read(1),
    "array_read_too_far": lambda tf: tf.TensorArray(tf.float32, size=2).read(4),
    "array_gather": lambda tf: (
        tf.TensorArray(tf.float32, size=3).unstack([1.0, 2.0, 3.0]).gather([2, 0])
    ),
    "array_concat": lambda tf: (
        tf.TensorArray(tf.float32, size=2).unstack([[1.0, 2.0], [3.0, 4.0]]).concat()
    ),
    "array_with_gaps": lambda tf: tf.TensorArray(tf.float32, size=3).write(1, [5.0, 6.0]).stack(),
}

# -- branches -------------------------------------------------------------------------------------

PROGRAMS |= on_vector(
    cond=with_gradient(lambda tf, x: tf.cond(x[0] > 0, lambda: x * 2, lambda: x * 3)),
    cond_otherwise=with_gradient(lambda tf, x: tf.cond(x[0] > 5, lambda: x * 2, lambda: x * 3)),
    cond_python=lambda tf, x: tf.cond(True, lambda: 1, lambda: 2),
    cond_number=lambda tf, x: tf.cond(0, lambda: x, lambda: x * 2),
    cond_float=lambda tf, x: tf.cond(tf.constant(1.0), lambda: x, lambda: x * 2),
    cond_list=lambda tf, x: tf.cond(True, lambda: [x], lambda: [x]),
    cond_pair=lambda tf, x: tf.cond(True, lambda: (1, x), lambda: (2, x)),
    cond_none=lambda tf, x: tf.cond(True, lambda: None, lambda: None),
    cond_vector=lambda tf, x: tf.cond(x > 0, lambda: x, lambda: x),
    cond_no_functions=lambda tf, x: tf.cond(tf.constant(True), x, x),
    cond_one_function=lambda tf, x: tf.cond(tf.constant(True), lambda: x),
    cond_keywords=lambda tf, x: tf.cond(
        pred=tf.constant(False), true_fn=lambda: x, false_fn=lambda: -x
    ),
    switch=lambda tf, x: tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2]),
    switch_outside=lambda tf, x: tf.switch_case(tf.constant(5), [lambda: x, lambda: x * 2]),
    switch_negative=lambda tf, x: tf.switch_case(tf.constant(-1), [lambda: x, lambda: x * 2]),
    switch_default=lambda tf, x: tf.switch_case(
        tf.constant(5), {1: lambda: x, 0: lambda: x * 2}, default=lambda: x * 7
    ),
    switch_dict=lambda tf, x: tf.switch_case(tf.constant(1), {1: lambda: x, 0: lambda: x * 2}),
    switch_pairs=lambda tf, x: tf.switch_case(tf.constant(1), [(1, lambda: x), (0, lambda: x * 2)]),
    switch_gap=lambda tf, x: tf.switch_case(tf.constant(1), {3: lambda: x, 0: lambda: x * 2}),
    switch_python=lambda tf, x: tf.switch_case(1, [lambda: x, lambda: x]),
    switch_float=lambda tf, x: tf.switch_case(x[0], [lambda: x, lambda: x]),
)

# -- functions ------------------------------------------------------------------------------------


def spec(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def double(a: Any) -> Any:
            return a * 2

        own = [a(tf) if callable(a) else a for a in args]
        return double(*own, **{k: a(tf) if callable(a) else a for k, a in kwargs.items()})

    return run


PROGRAMS |= {
    "function_signature": spec(lambda tf: tf.constant([1.0, 2.0])),
    "function_signature_list": spec([1.0, 2.0]),
    "function_signature_whole": spec([1, 2]),
    "function_signature_array": spec(np.ones(2)),
    "function_signature_variable": spec(lambda tf: tf.Variable([1.0])),
    "function_signature_keyword": spec(a=lambda tf: tf.constant([1.0])),
    "function_signature_rank": spec(lambda tf: tf.constant(1.0)),
    "function_signature_dtype": spec(lambda tf: tf.constant([1])),
    "function_signature_few": spec(),
    "function_signature_many": spec([1.0], [1.0]),
}


@program
def function_results(tf: Any) -> Any:
    @tf.function
    def results(x: Any) -> Any:
        return x * 2, 1.5, None, {"a": 3, "b": [True]}, tf.Variable if False else x

    return results(tf.constant([1.0, 2.0]))


@program
def function_arguments(tf: Any) -> Any:
    @tf.function
    def kinds(a: Any, b: Any, c: Any, d: float = 2.0) -> Any:
        return tf.is_tensor(a), tf.is_tensor(b), tf.is_tensor(c[0]), c[0] * d

    return kinds(np.ones(2), 1.0, [np.ones(2)])


@program
def function_names(tf: Any) -> Any:
    @tf.function
    def named(a: Any, b: float = 2.0) -> Any:
        """Its text."""
        return a * b

    return named.__name__, named.__doc__, named.python_function(2.0), named.input_signature


@program
def function_missing_argument(tf: Any) -> Any:
    return tf.function(lambda a: a)()


@program
def function_of_no_function(tf: Any) -> Any:
    return tf.function(3)


@program
def function_methods(tf: Any) -> Any:
    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.w

        @tf.function(jit_compile=False, reduce_retracing=True)
        def twice(self, x: Any, k: int = 2) -> Any:
            return x * self.w * tf.cast(k, tf.float32)

    layer, x = Layer(), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(x) * layer.twice(x, k=3))
    return y, tape.gradient(y, layer.trainable_variables)


@program
def function_that_trains(tf: Any) -> Any:
    w = tf.Variable([1.0, -1.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x - 1.0) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    return [step(tf.constant([1.0, 2.0])) for _ in range(3)], w.value()


@program
def function_with_loops(tf: Any) -> Any:
    @tf.function
    def total(a: Any) -> Any:
        s = tf.constant(0.0)
        for i in tf.range(3):
            s = s + tf.cast(i, tf.float32) * a if a > 0 else s - 1.0
        while s < 10.0:
            s = s * 2.0
        return s

    return total(tf.constant(2.0)), total(tf.constant(5.0))


@program
def function_concrete(tf: Any) -> Any:
    double = tf.function(lambda x: x * 2)
    concrete = double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return concrete(tf.constant([1.0, 2.0]))


@program
def function_error_inside(tf: Any) -> Any:
    def broken() -> Any:
        raise KeyError("k")

    return tf.function(broken)()


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
