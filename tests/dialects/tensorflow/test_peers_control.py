"""Loops, branches, nests, modules, datasets, assertions and printing, against real TensorFlow."""

from __future__ import annotations

import collections
import contextlib
import io
import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow import parity as tensorflow_parity
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.peers,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

Pair = collections.namedtuple("Pair", "a b")
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def on_vector(**programs: Callable[..., Any]) -> None:
    """Add programs that begin with a vector."""
    for name, function in programs.items():
        PROGRAMS[name] = lambda tf, function=function: function(tf, tf.constant([1.0, 2.0, 3.0]))


def with_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a program that gives the value and the gradient of a function of a vector."""

    def run(tf: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(tf, x)
        return y, tape.gradient(y, x)

    return run


# -- loops ----------------------------------------------------------------------------------------

on_vector(
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
    foldr=with_gradient(lambda tf, x: tf.foldr(lambda a, e: a * 2 + e * e, x)),
    foldr_initial=lambda tf, x: tf.foldr(lambda a, e: a * 2 + e, x, initializer=1.0),
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

on_vector(
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
    case=lambda tf, x: tf.case(
        [(x[0] > 5, lambda: x), (x[0] > 0, lambda: x * 2)], default=lambda: x * 3
    ),
    case_default=lambda tf, x: tf.case([(x[0] > 5, lambda: x)], default=lambda: x * 3),
    case_nothing_holds=lambda tf, x: tf.case([(x[0] > 5, lambda: x), (x[0] > 6, lambda: x)]),
    case_python=lambda tf, x: tf.case([(True, lambda: x)]),
    case_no_pairs=lambda tf, x: tf.case([x[0] > 1]),
    case_empty=lambda tf, x: tf.case([], default=lambda: x),
    case_dict=lambda tf, x: tf.case({}),
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


# -- nests ----------------------------------------------------------------------------------------


def nest(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda tf: getattr(tf.nest, name)(*args, **kwargs)


ordered = collections.OrderedDict
PROGRAMS |= {
    f"nest_{i}_{run[0]}": nest(*run[:-1], **run[-1])
    for i, run in enumerate(
        [
            ("flatten", {"b": 1, "a": [2, (3, None)]}, {}),
            ("flatten", ordered([("b", 1), ("a", 2)]), {}),
            ("flatten", Pair(1, [2]), {}),
            ("flatten", "abc", {}),
            ("flatten", 5, {}),
            ("flatten", None, {}),
            ("flatten", [], {}),
            ("flatten", {"a": 1}.values(), {}),
            ("flatten", {1: "a", "b": 2}, {}),
            ("pack_sequence_as", {"b": 0, "a": [0, 0]}, [1, 2, 3], {}),
            ("pack_sequence_as", Pair(0, (0,)), [1, 2], {}),
            ("pack_sequence_as", [0, 0], [1], {}),
            ("pack_sequence_as", 0, [1], {}),
            ("pack_sequence_as", 0, [1, 2], {}),
            ("pack_sequence_as", [0, 0], 5, {}),
            ("assert_same_structure", [1, 2], [3, 4], {}),
            ("assert_same_structure", [1, 2], (3, 4), {}),
            ("assert_same_structure", [1, 2], (3, 4), {"check_types": False}),
            ("assert_same_structure", [1, 2], [3], {}),
            ("assert_same_structure", {"a": 1}, {"b": 1}, {}),
            ("assert_same_structure", {"a": 1}, ordered(a=1), {}),
            ("assert_same_structure", Pair(1, 2), (1, 2), {}),
            ("assert_same_structure", 1, [1], {}),
            ("assert_same_structure", [1, [2]], [[1], 2], {}),
            ("map_structure", lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 10, "y": [20]}, {}),
            ("map_structure", lambda a: a * 2, Pair(1, (2, 3)), {}),
            ("map_structure", lambda a, b: a + b, [1], [1, 2], {}),
            ("map_structure", lambda a, b: a + b, [1], (1,), {}),
            ("map_structure", lambda a, b: a + b, [1], (1,), {"check_types": False}),
            ("map_structure", lambda a: a, {}),
            ("map_structure", 1, [2], {}),
            ("map_structure", lambda a: a, [1], {"other": 3}),
            ("is_nested", [], {}),
            ("is_nested", Pair(1, 2), {}),
            ("is_nested", {}, {}),
            ("is_nested", "abc", {}),
            ("is_nested", {1}, {}),
            ("is_nested", np.arange(2), {}),
        ]
    )
}


@program
def nest_of_tensors(tf: Any) -> Any:
    tree = {"w": tf.Variable([1.0, 2.0]), "b": [tf.constant(1.0), (tf.constant(2),)]}
    return tf.nest.map_structure(lambda t: t * 2, tree), len(tf.nest.flatten(tree))


# -- modules, names and contexts ------------------------------------------------------------------


@program
def modules(tf: Any) -> Any:
    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = tf.Variable(5.0, name="q")

        @tf.Module.with_name_scope
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "late"):
                self.late = tf.Variable(6.0, name="late")
            return x * self.late

    class MyHTTPNet(tf.Module):
        def __init__(self, name: str | None = None) -> None:
            super().__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")
            self.b = tf.Variable(2.0, name="b", trainable=False)
            self.parts = [Inner(), Inner()]
            self.a = {"z": tf.Variable(3.0, name="z"), "k": (tf.Variable(4.0, name="k"),)}
            self.again, self.me, self.text = self.b, self, "text"

    net = MyHTTPNet()
    value = net.parts[0](tf.constant(2.0))
    return (
        value,
        [v.name for v in net.variables],
        [v.name for v in net.trainable_variables],
        [v.name for v in net.non_trainable_variables],
        [m.name for m in net.submodules],
        net.name,
        MyHTTPNet(name="other").name,
        MyHTTPNet(name="other").w.name,
    )


@program
def module_with_a_bad_name(tf: Any) -> Any:
    return tf.Module(name="a b")


@program
def module_without_init(tf: Any) -> Any:
    class Bare(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(1.0)

    return [v.numpy() for v in Bare().variables]


@program
def module_without_init_name(tf: Any) -> Any:
    return type("Bare", (tf.Module,), {"__init__": lambda self: None})().name


@program
def name_scopes(tf: Any) -> Any:
    with tf.name_scope("foo") as outer, tf.name_scope("bar") as inner:
        names = tf.Variable(1.0, name="w").name, tf.Variable(1.0).name
    with tf.name_scope(outer):
        again = tf.Variable(1.0, name="w").name
    return outer, inner, names, again, tf.Variable(1.0, name="w").name, tf.name_scope("a").name


@program
def name_scope_of_none(tf: Any) -> Any:
    return tf.name_scope(None)


@program
def contexts(tf: Any) -> Any:
    x = tf.constant([1.0])
    with tf.device("/CPU:0"), tf.init_scope(), tf.control_dependencies([x]):
        y = x + 1
    return y, tf.group(x, y), tf.no_op(), tf.timestamp().dtype, tf.executing_eagerly()


@program
def devices(tf: Any) -> Any:
    cpu = tf.config.list_physical_devices("CPU")
    return [d.name for d in cpu], cpu[0].device_type, tf.config.list_physical_devices("TPU")


@program
def functions_run_eagerly(tf: Any) -> Any:
    tf.config.run_functions_eagerly(True)
    first = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(False)
    return first, tf.config.functions_run_eagerly()


@program
def specs(tf: Any) -> Any:
    one = tf.TensorSpec([None, 2], tf.int32, name="n")
    x = tf.constant([[1, 2]])
    return (
        repr(one),
        one == tf.TensorSpec([None, 2], tf.int32, name="n"),
        one.is_compatible_with(x),
        one.is_compatible_with(tf.constant([1])),
        repr(tf.TensorSpec.from_tensor(x)),
        one.dtype,
        one.shape,
    )


# -- datasets -------------------------------------------------------------------------------------


def dataset(make: Callable[..., Any]) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        made = make(tf, tf.data.Dataset)
        return list(made) if hasattr(made, "__iter__") else made

    return run


PROGRAMS |= {
    f"dataset_{name}": dataset(make)
    for name, make in {
        "slices": lambda tf, D: D.from_tensor_slices((np.ones((3, 2), np.float32), [0, 1, 2])),
        "slices_of_lists": lambda tf, D: D.from_tensor_slices([[1, 2], [3, 4]]),
        "slices_of_dicts": lambda tf, D: D.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}),
        "slices_uneven": lambda tf, D: D.from_tensor_slices(([1, 2], [1, 2, 3])),
        "slices_of_a_number": lambda tf, D: D.from_tensor_slices(1.0),
        "tensors": lambda tf, D: D.from_tensors(([1, 2], 3.0)),
        "range": lambda tf, D: D.range(2, 9, 3),
        "zip": lambda tf, D: D.zip((D.range(2), D.range(5, 9))),
        "zip_of_two": lambda tf, D: D.zip(D.range(2), D.range(5, 9)),
        "batch": lambda tf, D: D.from_tensor_slices(([1.0, 2.0, 3.0], [0, 1, 2])).batch(2),
        "batch_drop": lambda tf, D: D.range(5).batch(2, drop_remainder=True),
        "batch_ragged": lambda tf, D: D.range(3).map(lambda x: tf.range(x)).batch(2),
        "map": lambda tf, D: D.from_tensor_slices(([1.0, 2.0], [3, 4])).map(
            lambda a, b: (a * 2, {"q": b + 1})
        ),
        "map_number": lambda tf, D: D.range(2).map(lambda x: (x, 1.5)),
        "filter": lambda tf, D: D.range(5).filter(lambda x: x % 2 == 0),
        "repeat": lambda tf, D: D.range(2).repeat(2).batch(3),
        "repeat_forever": lambda tf, D: D.range(2).repeat().take(5),
        "take_skip": lambda tf, D: D.range(9).skip(2).take(3),
        "enumerate": lambda tf, D: D.range(5, 7).enumerate(start=3),
        "prefetch": lambda tf, D: D.range(3).cache().prefetch(tf.data.AUTOTUNE),
        "concatenate": lambda tf, D: D.range(2).concatenate(D.range(1)),
        "unbatch": lambda tf, D: D.range(4).batch(3).unbatch(),
        "flat_map": lambda tf, D: D.range(3).flat_map(lambda x: D.range(x)),
        "reduce": lambda tf, D: D.range(4).reduce(np.int64(0), lambda s, e: s + e),
        "generator": lambda tf, D: D.from_generator(
            lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)
        ),
        "length": lambda tf, D: (len(D.range(5).batch(2)), D.range(5).batch(2).cardinality()),
        "length_forever": lambda tf, D: len(D.range(5).repeat()),
        "numpy": lambda tf, D: list(D.range(3).batch(2).as_numpy_iterator()),
        "shuffled": lambda tf, D: sorted(
            int(x) for x in D.range(20).shuffle(5, seed=1).as_numpy_iterator()
        ),
    }.items()
}


# -- assertions -----------------------------------------------------------------------------------


def checked(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        own = [a(tf) if callable(a) else a for a in args]
        return getattr(tf.debugging, name)(*own, **kwargs)

    return run


def vector(tf: Any) -> Any:
    return tf.constant([1.0, 2.0, 3.0])


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
            ("assert_type", vector, "int32"), ("assert_proper_iterable", 1),
            ("assert_proper_iterable", vector), ("assert_proper_iterable", [1]),
            ("assert_same_float_dtype", lambda tf: [vector(tf)]),
            ("assert_same_float_dtype", lambda tf: [vector(tf), tf.constant(1)]),
            ("assert_all_finite", vector, "m"), ("assert_all_finite", [1.0, np.nan], "m"),
            ("check_numerics", vector, "m"), ("check_numerics", [np.inf], "m"),
            ("check_numerics", lambda tf: tf.constant([1]), "m"),
            ("is_numeric_tensor", vector), ("is_numeric_tensor", 1),
            ("is_numeric_tensor", lambda tf: tf.constant(True)),
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
    "differences_complex": checked_gradient(
        lambda tf, x: x * x, lambda tf: tf.constant([1 + 2j, 3j])
    ),
    "differences_step": checked_gradient(
        lambda tf, x: x * x, lambda tf: tf.constant([1.0], tf.float64), delta=1e-3
    ),
    "differences_whole": checked_gradient(lambda tf, x: x, lambda tf: tf.constant([1])),
    "differences_no_list": lambda tf: tf.test.compute_gradient(lambda x: x, vector(tf)),
}


# -- operators, texts and NumPy


@program
def print1(tf: Any) -> Any:
    x = tf.constant([[1.5, 2.0], [3.0, 4.0]])
    i = tf.constant(3)
    b = tf.constant([True, False])
    s = tf.constant(2.5)
    return (
        str(x),
        repr(x),
        str(i),
        repr(i),
        str(b),
        repr(b),
        str(s),
        repr(s),
        f"{s}",
        f"{s:.3f}",
        f"{i:03d}",
        f"{i}",
        f"{s:.2f}",
        "%d" % i,  # noqa: UP031
        f"{s:>8.2f}",
    )


@program
def print2(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="w")
    n = tf.Variable(3)
    u = tf.Variable([[1, 2], [3, 4]], dtype=tf.int64, trainable=False)
    return (
        str(v),
        repr(v),
        repr(n),
        str(u),
        f"{v}",
        f"{n}",
        str(v.dtype),
        repr(v.dtype),
        str(v.shape),
        repr(v.shape),
        v.name,
        n.name,
        str(v.value()),
    )


@program
def print3(tf: Any) -> Any:
    return (
        [
            repr(tf.constant(v))
            for v in (
                1e-08,
                10000000000.0,
                float("nan"),
                float("inf"),
                1.0,
                123456.789,
                0.1,
                1 / 3,
            )
        ],
        repr(tf.constant(0.1, tf.float64)),
        repr(tf.constant(1 + 2j)),
        repr(tf.zeros([0])),
        repr(tf.zeros([2, 0, 3])),
        str(tf.zeros([0, 2])),
        repr(tf.range(5)),
        repr(tf.range(2000)),
        str(tf.ones([3, 4, 2])),
    )


@program
def print4(tf: Any) -> Any:
    return (
        str(tf.float32),
        repr(tf.float32),
        tf.float32.name,
        str(tf.TensorShape([1, None])),
        repr(tf.TensorShape(None)),
        str(tf.constant(1.0).shape),
        repr(tf.constant(1.0).shape),
        f"{tf.ones([2, 3]).shape}",
        str(tf.ones([2, 3]).shape.as_list()),
        f"{tf.float64}",
        f"{tf.constant([1.0]).dtype}",
        tf.ones([2, 3]).shape == (2, 3),
        tf.ones([2, 3]).shape == [2, 3],
        tf.ones([3]).shape != (3,),
    )


@program
def fmt_vec_err(tf: Any) -> Any:
    return f"{tf.constant([1.0, 2.0]):.2f}"


@program
def fmt_vec(tf: Any) -> Any:
    return (
        f"{tf.constant([1.0, 2.0])}",
        f"{tf.constant([[1]])}",
        f"{tf.constant([1.0])}",
    )


@program
def fmt_var_spec(tf: Any) -> Any:
    return f"{tf.Variable(2.5):.1f}"


@program
def print_slices(tf: Any) -> Any:
    t = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(t, [1, 1])
    g = tape.gradient(y, t)
    return (str(g), g.shape, g.dtype, tf.convert_to_tensor(g))


@program
def ops_mixed(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    n = np.array([3.0, 2.0, 1.0], np.float32)
    m = np.array([3.0, 2.0, 1.0])
    return (
        x + n,
        n + x,
        x - m,
        m - x,
        2 * x,
        x / 2,
        2 / x,
        x // 2,
        7 // x,
        x % 2,
        5 % x,
        x**2,
        2**x,
        -x,
        abs(-x),
        +x,
        n * x,
        m / x,
        x < n,
        n < x,
        x == n,
        n == x,
        x != m,
        x >= 2,
        x <= 2,
    )


@program
def ops_npscalar(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return (
        np.float32(2) * x,
        x * np.float64(2),
        np.float64(2) * x,
        x + np.int64(1),
        np.int32(3) - x,
        x / np.float16(2),
        np.float64(2) ** x,
        x ** np.int64(2),
        x > np.float64(1.5),
        np.float64(1.5) < x,
    )


@program
def ops_int(tf: Any) -> Any:
    x = tf.constant([7, -7, 3])
    return (
        x // 2,
        x % 3,
        x / 2,
        2 ** tf.abs(x),
        x**2,
        -x,
        abs(x),
        x & 3,
        x | 8,
        x ^ 1,
        ~x,
        1 & x,
        x == 7,
        x != 7,
        10 // x,
        10 % x,
    )


@program
def ops_shift(tf: Any) -> Any:
    x = tf.constant([7, -7, 3])
    return x << 1


@program
def ops_bool(tf: Any) -> Any:
    a = tf.constant([True, False, True])
    b = tf.constant([True, True, False])
    return (
        a & b,
        a | b,
        a ^ b,
        ~a,
        a == b,
        a != b,
        a & True,
        False | b,
        True ^ a,
        np.array([True, False, False]) & a,
    )


@program
def ops_bool_add(tf: Any) -> Any:
    return tf.constant([True]) + tf.constant([True])


@program
def ops_bool_mul(tf: Any) -> Any:
    return tf.constant([True]) * tf.constant([2.0])


@program
def ops_int_float(tf: Any) -> Any:
    return tf.constant([1]) * 2.5


@program
def ops_int_float2(tf: Any) -> Any:
    return 2.5 * tf.constant([1])


@program
def ops_int_float3(tf: Any) -> Any:
    return tf.constant([1]) + 2.5


@program
def ops_int_float4(tf: Any) -> Any:
    return tf.constant(1) - 2.5


@program
def ops_int_cmp_float(tf: Any) -> Any:
    return tf.constant([1, 2]) > 1.5


@program
def ops_float_cmp_int(tf: Any) -> Any:
    return (tf.constant([1.0, 2.0]) > 1, tf.constant([1.0]) == 1)


@program
def ops_f32_f64(tf: Any) -> Any:
    return tf.constant(1.0) + tf.constant(1.0, tf.float64)


@program
def ops_f64_py(tf: Any) -> Any:
    return (tf.constant(1.0, tf.float64) + 1.5, tf.constant(1.0, "float64") * np.float32(2))


@program
def ops_list(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return ([*x, 1, 2], [1, 2, *x], x * [[1.0], [2.0]], (1.0, 2.0) - x, x == [1.0, 2.0], x < [2, 1])


@program
def ops_none(tf: Any) -> Any:
    return tf.constant([1.0]) + None


@program
def ops_none_eq(tf: Any) -> Any:
    return (tf.constant([1.0]) == None, tf.constant(1.0) != None)  # noqa: E711


@program
def ops_str(tf: Any) -> Any:
    return tf.constant([1.0]) + "a"


@program
def ops_divzero_int(tf: Any) -> Any:
    return tf.constant([1]) // tf.constant([0])


@program
def ops_divzero(tf: Any) -> Any:
    return (
        tf.constant([1.0, 0.0, -1.0]) / 0,
        tf.constant([1]) / 0,
        tf.constant(1.0) // 0.0,
        tf.constant(1.0) % 0.0,
    )


@program
def divmod(tf: Any) -> Any:
    return divmod(tf.constant(7), 2)


@program
def round(tf: Any) -> Any:
    return (round(tf.constant(2.567), 1), round(tf.constant(2.5)))


@program
def round_vec(tf: Any) -> Any:
    return round(tf.constant([2.567, 1.2]), 1)


@program
def pow_neg(tf: Any) -> Any:
    return (
        tf.constant(-8.0) ** (1 / 3),
        tf.constant(4.0) ** (-0.5),
        tf.constant(2) ** 3,
        tf.constant(0.0) ** 0,
    )


@program
def pow_negint(tf: Any) -> Any:
    return tf.constant(2) ** (-1)


@program
def matmul_ops(tf: Any) -> Any:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    n = np.eye(2, dtype="f") * 2
    return (a @ a, a @ n, n @ a, a @ [[1.0], [1.0]], [[1.0, 1.0]] @ a)


@program
def matmul_vec(tf: Any) -> Any:
    return tf.constant([[1.0, 2.0]]) @ tf.constant([1.0, 2.0])


@program
def conv(tf: Any) -> Any:
    s = tf.constant(3.7)
    tf.constant([5])
    return (
        float(s),
        int(s),
        bool(s),
        complex(s),
        [1, 2, 3, 4][tf.constant(2)],
        list(range(tf.constant(3))),
        np.float32(s),
        "abc"[tf.constant(1)],
    )


@program
def bool_vec(tf: Any) -> Any:
    return bool(tf.constant([1.0, 2.0]))


@program
def bool_one(tf: Any) -> Any:
    return (
        bool(tf.constant([1.0])),
        bool(tf.constant([[0]])),
        not tf.constant(False),
        tf.constant(0.0) and 1,
    )


@program
def float_one(tf: Any) -> Any:
    return float(tf.constant([1.0]))


@program
def index_float(tf: Any) -> Any:
    return [1, 2][tf.constant(1.0)]


@program
def len_iter(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return (
        len(x),
        list(x),
        [[float(v) for v in r] for r in x],
        sum(x),
        max(tf.constant([1.0, 3.0, 2.0])),
        sorted(tf.constant([3, 1, 2]).numpy().tolist()),
        list(zip(x, [1, 2], strict=False)),
        [*tf.range(3)],
    )


@program
def len_scalar(tf: Any) -> Any:
    return len(tf.constant(1.0))


@program
def iter_scalar(tf: Any) -> Any:
    return list(tf.constant(1.0))


@program
def contained(tf: Any) -> Any:
    return (
        2.0 in tf.constant([1.0, 2.0]),
        tf.constant(5) in [tf.constant(5)],
        3 in tf.constant([1, 2]),
    )


@program
def contained_vectors(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) in [tf.constant([1.0, 2.0])]


@program
def hash(tf: Any) -> Any:
    return hash(tf.constant(1.0))


@program
def hash_set(tf: Any) -> Any:
    return {tf.constant(1.0)}


@program
def hash_var(tf: Any) -> Any:
    return {tf.Variable(1.0): 1}


@program
def ref(tf: Any) -> Any:
    a = tf.constant(1.0)
    b = tf.Variable(2.0)
    d = {a.ref(): 1, b.ref(): 2}
    return (
        d[a.ref()],
        d[b.ref()],
        b.ref() in d,
        a.ref().deref() is a,
        a.ref() == tf.constant(1.0).ref(),
    )


@program
def np_funcs(tf: Any) -> Any:
    x = tf.constant([1.0, 4.0, 9.0])
    return (
        np.sqrt(x),
        np.sum(x),
        np.mean(x),
        np.array(x),
        np.asarray(x, np.float64),
        np.add(x, 1),
        np.dot(x, x),
        np.max(x),
        np.concatenate([x, x]),
        np.stack([x, x]),
        np.where(x > 2, x, 0),
        np.isnan(x),
        np.allclose(x, x),
        np.shape(x),
        np.size(x),
        np.ndim(x),
    )


@program
def np_var(tf: Any) -> Any:
    v = tf.Variable([1.0, 4.0])
    return (
        np.sqrt(v),
        np.sum(v),
        np.array(v),
        v.numpy(),
        v.numpy().tolist(),
        np.shape(v),
        np.asarray(v).dtype,
        np.mean(v),
        np.stack([v, v]),
    )


@program
def np_assign(tf: Any) -> Any:
    a = np.zeros(3, "f")
    a[:2] = tf.constant([1.0, 2.0])
    a[2] = tf.constant(3.0)
    a += tf.constant([1.0, 1.0, 1.0])
    return a


@program
def inplace(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = x
    x += 1
    x *= 2
    x -= 0.5
    x /= 2
    x **= 2
    return (x, y)


@program
def inplace_np(tf: Any) -> Any:
    a = np.array([1.0, 2.0], "f")
    a = a * tf.constant([2.0, 2.0])
    return a


@program
def setitem(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    x[0] = 5.0
    return x


@program
def chained_cmp(tf: Any) -> Any:
    x = tf.constant(2.0)
    return (1 < x < 3, x > 1 and x < 1, x is not None)


@program
def eq_shapes(tf: Any) -> Any:
    return (
        tf.constant([1.0, 2.0]) == tf.constant([1.0, 2.0, 3.0]),
        tf.constant([1, 2]) != tf.constant([1, 2, 3]),
        tf.constant([1.0, 2.0]) == tf.constant([[1.0], [2.0]]),
    )


@program
def eq_dtype(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) == tf.constant([1, 2])


@program
def lt_shapes(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) < tf.constant([1.0, 2.0, 3.0])


@program
def attr(tf: Any) -> Any:
    x = tf.ones([2, 3])
    return (
        x.shape[0],
        x.shape[-1],
        x.shape[:1],
        x.ndim,
        x.shape.rank,
        x.dtype == tf.float32,
        x.dtype is tf.float32,
        x.get_shape().as_list(),
        len(x.shape),
        tuple(x.shape),
        list(x.shape),
        x.shape.num_elements(),
        x.dtype.is_floating,
        x.numpy().dtype,
        x.dtype.as_numpy_dtype,
        [*x.shape],
        [*x.shape, 4],
        (1, *tuple(x.shape)),
    )


@program
def attr_sum(tf: Any) -> Any:
    return tf.ones([2, 3]).sum()


@program
def attr_item(tf: Any) -> Any:
    return tf.constant(2.0).item()


@program
def numpy_item(tf: Any) -> Any:
    return (
        tf.constant(2.0).numpy().item(),
        tf.constant([1, 2]).numpy().tolist(),
        type(tf.constant(2.0).numpy()).__name__,
        type(tf.constant([2]).numpy()).__name__,
    )


@program
def shape_ops(tf: Any) -> Any:
    x = tf.ones([2, 3, 4])
    n, h, w = x.shape
    _a, _b = x.shape[:2]
    return (
        n * h * w,
        tf.reshape(x, [-1, x.shape[-1]]).shape,
        tf.zeros(x.shape[1:]).shape,
        tf.reshape(x, [*x.shape[:1], -1]).shape,
        np.prod(x.shape),
        tf.zeros_like(x).shape,
        tf.shape(x)[0],
        tf.reshape(x, (tf.shape(x)[0], -1)).shape,
    )


@program
def tensorshape_eq(tf: Any) -> Any:
    return (
        tf.ones([2]).shape == tf.TensorShape([2]),
        tf.TensorShape([2, None]) == tf.TensorShape([2, None]),
        tf.TensorShape([2, None]).is_compatible_with([2, 7]),
        tf.TensorShape([1, 2]).concatenate([3]),
    )


@program
def pickle(tf: Any) -> Any:
    import copy

    x = tf.constant([1.0, 2.0])
    v = tf.Variable([1.0, 2.0], name="q")
    c = copy.deepcopy(v)
    c.assign([5.0, 5.0])
    return (copy.copy(x), copy.deepcopy(x), v, c, c.name)


@program
def large_int(tf: Any) -> Any:
    return (
        tf.constant(2**31),
        tf.constant([2**40, 1]),
        tf.constant(-(2**31)),
        tf.constant(2**31 - 1),
    )


@program
def large_int2(tf: Any) -> Any:
    return tf.constant(2**63)


@program
def large_mul(tf: Any) -> Any:
    return tf.constant([1]) * 2**40


@program
def nested_const(tf: Any) -> Any:
    return (
        tf.constant([[1, 2.5], [3, 4]]),
        tf.constant((1, 2)),
        tf.constant([np.float64(1.0), 2.0]),
        tf.constant([np.arange(3), np.arange(3)]),
        tf.constant(range(3)),
        tf.constant([]),
        tf.constant([[]]),
        tf.constant(np.arange(3.0)),
        tf.constant(np.arange(3)),
    )


@program
def ragged_const(tf: Any) -> Any:
    return tf.constant([[1, 2], [3]])


@program
def const_shape(tf: Any) -> Any:
    return (
        tf.constant(0, shape=(2, 3)),
        tf.constant([1, 2, 3, 4], shape=[2, 2]),
        tf.constant(1.5, "float64", [2]),
        tf.constant(np.ones(4), dtype=tf.float32, shape=(2, 2)),
    )


@program
def const_shape_err(tf: Any) -> Any:
    return tf.constant([1, 2, 3], shape=[2, 2])


@program
def const_dtype_err(tf: Any) -> Any:
    return tf.constant(1.5, tf.int32)


@program
def const_dtype_np(tf: Any) -> Any:
    return (
        tf.constant(np.array([1.5, 2.7]), tf.int32),
        tf.constant([1, 2], np.float64),
        tf.constant([1, 2], "half"),
        tf.constant(3, float),
    )


@program
def const_bool_int(tf: Any) -> Any:
    return tf.constant([0, 1], tf.bool)


@program
def const_tensors(tf: Any) -> Any:
    return tf.constant([tf.constant(1.0), tf.constant(2.0)])


@program
def ctt_tensors(tf: Any) -> Any:
    return (
        tf.convert_to_tensor([tf.constant(1.0), 2.0, np.float32(3)]),
        tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]]),
    )


@program
def ctt_dtype(tf: Any) -> Any:
    return tf.convert_to_tensor(tf.constant([1.0, 2.0]), dtype=tf.int32)


@program
def ctt_hint(tf: Any) -> Any:
    return (
        tf.convert_to_tensor([1, 2], dtype_hint=tf.float32),
        tf.convert_to_tensor(1, dtype_hint="float64"),
        tf.convert_to_tensor(1.5, dtype_hint=tf.int32),
    )


# -- variables


@program
def var_guide(tf: Any) -> Any:
    my = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    v = tf.Variable(my)
    b = tf.Variable([False, False, False, True])
    c = tf.Variable([5 + 4j, 6 + 1j])
    return (
        v.shape,
        v.dtype,
        v.numpy(),
        tf.convert_to_tensor(v),
        tf.math.argmax(v),
        tf.reshape(v, [1, 4]),
        b,
        c,
        repr(c),
        v.trainable,
    )


@program
def var_assign_chain(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    r = a.assign([1, 2])
    x = a.assign_add([2, 3]).numpy()
    y = a.assign_sub([7.0, 9.0]).numpy()
    return (r, x, y, a)


@program
def var_assign_shape(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign([1.0, 2.0, 3.0])
    return a


@program
def var_assign_scalar(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign(1.0)
    return a


@program
def var_assign_add_bcast(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign_add(1.0)
    return a


@program
def var_assign_dtype(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign(tf.constant([1, 2]))
    return a


@program
def var_assign_np64(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign(np.array([1.5, 2.5]))
    a.assign_add(np.ones(2))
    return a


@program
def var_assign_int_py(tf: Any) -> Any:
    a = tf.Variable([2, 3])
    a.assign([1.5, 2.5])
    return a


@program
def var_copy(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    b = tf.Variable(a)
    a.assign([5, 6])
    return (a, b, a is b)


@program
def var_names(tf: Any) -> Any:
    m = tf.constant([[1.0, 2.0]])
    a = tf.Variable(m, name="Mark")
    b = tf.Variable(m + 1, name="Mark")
    return (a.name, b.name, a == b, tf.Variable(1.0).name)


@program
def var_device(tf: Any) -> Any:
    with tf.device("CPU:0"):
        a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        return tf.matmul(a, b)


@program
def var_ops(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    w = tf.Variable([3.0, 2.0, 1.0])
    return (
        v + w,
        v - 1,
        1 - v,
        v * w,
        v / w,
        2 / v,
        v // 2,
        v % 2,
        v**2,
        2**v,
        -v,
        abs(v),
        v < w,
        v == w,
        v != w,
        v >= 2.0,
        v[0],
        v[1:],
        v[-1],
        v[::-1],
        v[tf.newaxis],
        v[..., None],
        tf.reduce_sum(v),
    )


@program
def var_matmul(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    return (
        v @ v,
        v @ [[1.0], [1.0]],
        [[1.0, 1.0]] @ v,
        tf.transpose(v),
        v @ np.eye(2, dtype="f"),
        np.eye(2, dtype="f") @ v,
        np.eye(2) @ v,
    )


@program
def var_iadd(tf: Any) -> Any:
    v = tf.Variable(1.0)
    v += 1
    return v


@program
def var_slice_assign(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0, 0].assign(9.0)
    v[1].assign([7.0, 8.0])
    v[:, 1].assign(tf.constant([0.0, 0.0]))
    return v


@program
def var_slice_assign2(tf: Any) -> Any:
    v = tf.Variable(tf.zeros([4, 3]))
    v[1:3].assign(tf.ones([2, 3]))
    v[::2, 0].assign([5.0, 6.0])
    v[-1, -1].assign(2)
    return v


@program
def var_scatter(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v.scatter_nd_update([[0], [2]], [9.0, 8.0])
    v.scatter_nd_add([[1], [1]], [1.0, 1.0])
    v.scatter_update(tf.IndexedSlices([7.0], [3]))
    v.scatter_sub(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 0])))
    return v


@program
def var_scatter_oob(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    v.scatter_nd_update([[5]], [1.0])
    return v


@program
def var_shape_none(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    v.assign([[1.0, 2.0], [3.0, 4.0]])
    return (v.shape, v.numpy(), v * 2)


@program
def var_shape_partial(tf: Any) -> Any:
    v = tf.Variable(tf.zeros([1, 2]), shape=[None, 2])
    v.assign(tf.ones([3, 2]))
    return (v.shape, v.numpy())


@program
def var_shape_bad(tf: Any) -> Any:
    return tf.Variable([1.0, 2.0], shape=[3])


@program
def var_callable(tf: Any) -> Any:
    return (
        tf.Variable(lambda: tf.ones([2]) * 3),
        tf.Variable(initial_value=2, dtype=tf.float64),
        tf.Variable(np.arange(3)),
        tf.Variable([True]),
        tf.Variable(3, dtype="float32"),
        tf.Variable(1.0, trainable=False).trainable,
    )


@program
def var_dtype_conflict(tf: Any) -> Any:
    return tf.Variable(tf.constant([1.0]), dtype=tf.int32)


@program
def var_dtype_bad(tf: Any) -> Any:
    return tf.Variable([1.5], dtype=tf.int32)


@program
def var_none(tf: Any) -> Any:
    return tf.Variable()


@program
def var_len(tf: Any) -> Any:
    return len(tf.Variable([1.0, 2.0]))


@program
def var_iter(tf: Any) -> Any:
    return (
        [x * 2 for x in tf.Variable([1.0, 2.0])],
        sum(tf.Variable([1.0, 2.0])),
        list(zip(tf.Variable([1.0, 2.0]), [3, 4], strict=False)),
    )


@program
def var_conv(tf: Any) -> Any:
    v = tf.Variable(3.0)
    return (float(v), int(v), bool(v), v.numpy().item(), np.float32(v), complex(v))


@program
def var_cond(tf: Any) -> Any:
    v = tf.Variable(3.0)
    return (1 if v > 2 else 0, (v < 5 and v > 1).numpy(), v is not None)


@program
def var_eq(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    return v == [1.0, 2.0], v == v, v != tf.constant([1.0, 3.0])


@program
def var_eq_none(tf: Any) -> Any:
    return tf.Variable([1.0, 2.0]) == None  # noqa: E711


@program
def var_in_list(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable(2.0)
    return (v in [v, w], [v, w].index(w))


@program
def var_in_list2(tf: Any) -> Any:
    v = tf.Variable([1.0, 1.0])
    w = tf.Variable([2.0, 2.0])
    return w in [v, w]


@program
def var_setattr(tf: Any) -> Any:
    v = tf.Variable(1.0)
    v.foo = 3
    return v.foo


@program
def var_dict(tf: Any) -> Any:
    v = tf.Variable(1.0)
    d = {v.name: v, "a": [v]}
    return (tf.nest.flatten(d), tf.nest.map_structure(lambda x: x + 1, d))


@program
def var_grad_after_assign(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = v * v
        v.assign(5.0)
        z = y + v
    return (t.gradient(z, v), z)


@program
def var_assign_in_tape_val(tf: Any) -> Any:
    v = tf.Variable(2.0)
    c = tf.constant(3.0)
    with tf.GradientTape() as t:
        t.watch(c)
        y = v.assign_add(c * c) * c
    return (t.gradient(y, c), v)


@program
def var_read_value(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    a = v.read_value()
    b = v.value()
    v.assign([5.0, 5.0])
    return (a, b, v, tf.identity(v))


@program
def var_constraint(tf: Any) -> Any:
    v = tf.Variable([1.0, -2.0], constraint=tf.nn.relu)
    return (v.constraint(v), v)


@program
def var_bad_trainable_watch(tf: Any) -> Any:
    v = tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as t:
        t.watch(v)
        y = v * v
    return (t.gradient(y, v), [x.name for x in t.watched_variables()])


@program
def var_gather(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2)
    g = t.gradient(y, v)
    return (g, g.values, g.indices, tf.convert_to_tensor(g))


@program
def var_sparse_apply(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.nn.embedding_lookup(v, [0, 2, 0]) ** 2)
    g = t.gradient(y, v)
    v.assign_sub(0.1 * g)
    return v


@program
def var_sparse_mul(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.gather(v, [0, 2]) ** 2)
    g = t.gradient(y, v)
    return (g * 2.0, tf.reduce_sum(g), tf.norm(g), g + v, -g)


@program
def var_sparse_scatter(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.gather(v, [0, 2]) ** 2)
    g = t.gradient(y, v)
    v.scatter_sub(g)
    return (
        v,
        tf.clip_by_global_norm([g], 1.0)[0][0],
        tf.clip_by_norm(g, 1.0),
        tf.linalg.global_norm([g]),
    )


@program
def module(tf: Any) -> Any:

    class Dense(tf.Module):
        def __init__(self, i, o, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([i, o]) * 0.1, name="w")
            self.b = tf.Variable(tf.zeros([o]), name="b")

        @tf.function
        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    class MLP(tf.Module):
        def __init__(self, sizes, name=None):
            super().__init__(name=name)
            self.layers = []
            with self.name_scope:
                for i, o in itertools.pairwise(sizes):
                    self.layers.append(Dense(i, o))

        def __call__(self, x):
            for loss in self.layers:
                x = loss(x)
            return x

    m = MLP([3, 4, 2], name="net")
    x = tf.ones([2, 3])
    with tf.GradientTape() as t:
        loss = tf.reduce_mean(m(x) ** 2)
    gs = t.gradient(loss, m.trainable_variables)
    return (
        gs,
        [v.name for v in m.variables],
        m.name,
        [s.name for s in m.submodules],
        len(m.submodules),
        m.layers[0].name_scope.name,
    )


@program
def module_nottrain(tf: Any) -> Any:

    class M(tf.Module):
        def __init__(self):
            self.a = tf.Variable(1.0)
            self.d = {"x": tf.Variable(2.0, trainable=False), "k": [tf.Variable(3.0)]}
            self.t = (tf.Variable(4.0), 5)

    m = M()
    with contextlib.suppress(Exception):
        super(M, m).__init__()
    return (m.variables, m.trainable_variables, m.non_trainable_variables)


@program
def module_repr(tf: Any) -> Any:

    class M(tf.Module):
        pass

    return (M().name, M(name="q").name)


@program
def sgd_loop(tf: Any) -> Any:
    TW, TB = (3.0, 2.0)
    x = tf.linspace(-2, 2, 21)
    x = tf.cast(x, tf.float32)
    y = x * TW + TB + tf.sin(10 * x) * 0.1
    w = tf.Variable(5.0)
    b = tf.Variable(0.0)
    losses = []
    for _epoch in range(10):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean(tf.square(y - (w * x + b)))
        dw, db = t.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        losses.append(loss.numpy())
    return (w, b, np.array(losses), f"W = {w.numpy():1.2f}, b = {b.numpy():1.2f}, loss={loss:2.5f}")


# -- loops, functions, nests and datasets


@program
def while_grad(tf: Any) -> Any:
    i = tf.constant(0)
    x = tf.constant(1.0)
    with tf.GradientTape() as t:
        t.watch(x)
        _, y = tf.while_loop(
            lambda i, y: i < 4, lambda i, y: (i + 1, y * x + 1.0), [i, tf.constant(1.0)]
        )
    return (_, y, t.gradient(y, x))


@program
def while_max(tf: Any) -> Any:
    return tf.while_loop(
        lambda i: True, lambda i: (i + 1,), (tf.constant(0),), maximum_iterations=3
    )


@program
def while_single(tf: Any) -> Any:
    return tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])


@program
def while_single_list(tf: Any) -> Any:
    return tf.while_loop(lambda i: tf.less(i, 3), lambda i: [tf.add(i, 1)], [0])


@program
def while_dict(tf: Any) -> Any:
    return tf.while_loop(
        lambda d: d["i"] < 3,
        lambda d: ({"i": d["i"] + 1, "x": d["x"] * 2},),
        ({"i": tf.constant(0), "x": tf.constant(1.0)},),
    )


@program
def while_dtype_change(tf: Any) -> Any:
    return tf.while_loop(lambda i: i < 3.0, lambda i: i + 0.5, [tf.constant(0)])


@program
def while_shape(tf: Any) -> Any:
    return tf.while_loop(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, tf.concat([x, [1.0]], 0)),
        [tf.constant(0), tf.constant([1.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )


@program
def cond_grad(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = tf.cond(x > 1, lambda: x**2, lambda: x * 3)
    return (y, t.gradient(y, x))


@program
def cond_bool(tf: Any) -> Any:
    return (
        tf.cond(True, lambda: 1, lambda: 2),
        tf.cond(
            tf.constant(False),
            true_fn=lambda: (tf.constant(1), 2),
            false_fn=lambda: (tf.constant(3), 4),
        ),
    )


@program
def cond_vec(tf: Any) -> Any:
    return tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2)


@program
def cond_none(tf: Any) -> Any:
    return tf.cond(True, lambda: None, lambda: None)


@program
def cond_int(tf: Any) -> Any:
    return tf.cond(tf.constant(1), lambda: 1.0, lambda: 2.0)


@program
def case_pairs(tf: Any) -> Any:
    x = tf.constant(3.0)
    return (
        tf.case(
            [(x < 1, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))],
            default=lambda: tf.constant(3),
        ),
        tf.case([(x > 10, lambda: 1)], default=lambda: -1),
    )


@program
def case_excl(tf: Any) -> Any:
    x = tf.constant(3.0)
    return tf.case(
        [(x < 10, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))], exclusive=True
    )


@program
def switch(tf: Any) -> Any:
    return (
        [
            tf.switch_case(
                tf.constant(i),
                [lambda: tf.constant(1.0), lambda: tf.constant(2.0)],
                default=lambda: tf.constant(-1.0),
            )
            for i in (0, 1, 5, -1)
        ],
        tf.switch_case(tf.constant(1), {0: lambda: 1, 1: lambda: 2}),
    )


@program
def map_fn(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return (
        tf.map_fn(tf.reduce_sum, x),
        tf.map_fn(lambda r: r * 2, x),
        tf.map_fn(lambda a: a[0] * a[1], (x, x)),
        tf.map_fn(lambda r: (r, r + 1), x, fn_output_signature=(tf.float32, tf.float32)),
        tf.map_fn(
            lambda i: tf.cast(i, tf.float32) * 0.5, tf.range(3), fn_output_signature=tf.float32
        ),
        tf.map_fn(lambda r: tf.argmax(r), x, dtype=tf.int64),
    )


@program
def map_fn_dtype_err(tf: Any) -> Any:
    return tf.map_fn(lambda i: tf.cast(i, tf.float32), tf.range(3))


@program
def map_fn_dict(tf: Any) -> Any:
    return tf.map_fn(
        lambda d: {"s": d["a"] + d["b"]},
        {"a": tf.range(3.0), "b": tf.ones(3)},
        fn_output_signature={"s": tf.float32},
    )


@program
def map_fn_spec(tf: Any) -> Any:
    return tf.map_fn(
        lambda i: tf.ones([2]) * tf.cast(i, tf.float32),
        tf.range(3),
        fn_output_signature=tf.TensorSpec([2], tf.float32),
    )


@program
def map_fn_grad(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as t:
        y = tf.map_fn(lambda v: v**2, x)
    return (y, t.gradient(y, x))


@program
def map_fn_empty(tf: Any) -> Any:
    return tf.map_fn(lambda v: v * 2, tf.zeros([0, 2]))


@program
def scan(tf: Any) -> Any:
    x = tf.range(1.0, 6.0)
    return (
        tf.scan(lambda a, b: a + b, x),
        tf.scan(lambda a, b: a * b, x, initializer=2.0),
        tf.scan(lambda a, b: a + b, x, reverse=True),
        tf.scan(lambda a, b: (a[1], a[0] + b), x, initializer=(0.0, 1.0)),
        tf.scan(lambda a, b: a * 0.9 + b, tf.reshape(tf.range(6.0), [3, 2]), tf.zeros(2)),
    )


@program
def scan_fib(tf: Any) -> Any:
    return tf.scan(
        lambda a, _: (a[1], a[0] + a[1]), tf.range(6), initializer=(tf.constant(0), tf.constant(1))
    )


@program
def scan_rnn(tf: Any) -> Any:
    w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])
    xs = tf.constant(np.linspace(-1, 1, 12).reshape(3, 2, 2).astype("f"))
    with tf.GradientTape() as t:
        hs = tf.scan(lambda h, x: tf.tanh(h @ w + x), xs, initializer=tf.zeros([2, 2]))
        loss = tf.reduce_sum(hs[-1] ** 2)
    return (hs, t.gradient(loss, w))


@program
def fold(tf: Any) -> Any:
    return (
        tf.foldl(lambda a, x: a - x, tf.range(5.0)),
        tf.foldr(lambda a, x: a - x, tf.range(5.0)),
        tf.foldl(lambda a, x: a + x, tf.ones([3, 2]), initializer=tf.zeros(2)),
        tf.foldr(lambda a, x: a * 2 + x, [1, 2, 3], initializer=0),
    )


@program
def vmap(tf: Any) -> Any:
    a = tf.constant(np.arange(12, dtype="f").reshape(3, 2, 2))
    return (
        tf.vectorized_map(tf.linalg.trace, a),
        tf.vectorized_map(lambda x: tf.matmul(x, x, transpose_b=True), a),
        tf.vectorized_map(lambda t: t[0] + t[1], (a, a)),
        tf.vectorized_map(lambda x: (tf.reduce_max(x), x[0]), a),
        tf.vectorized_map(lambda x: x * 2, tf.range(3)),
    )


@program
def vmap_jac(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def f(r):
        with tf.GradientTape() as t:
            t.watch(r)
            y = tf.stack([r[0] * r[1], tf.sin(r[0])])
        return t.jacobian(y, r)

    return (tf.vectorized_map(f, x), tf.map_fn(f, x))


@program
def vmap_hess(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])

    def f(r):
        with tf.GradientTape() as t2:
            t2.watch(r)
            with tf.GradientTape() as t:
                t.watch(r)
                y = tf.reduce_sum(r**3) * r[0]
            g = t.gradient(y, r)
        return t2.jacobian(g, r)

    return tf.map_fn(f, x)


@program
def tarray(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=3)
    for i in range(3):
        ta = ta.write(i, tf.fill([2], float(i)))
    return (ta.stack(), ta.size(), ta.concat())


@program
def tarray2(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        for i in tf.range(4):
            ta = ta.write(i, x ** tf.cast(i, tf.float32))
        y = tf.reduce_sum(ta.stack())
    return (y, t.gradient(y, x))


@program
def tarray_read_twice(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    a = ta.read(0)
    return (a, ta.read(0))


@program
def tarray_clear(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=2, clear_after_read=False).unstack([1.0, 2.0])
    return (ta.read(0), ta.read(0), ta.gather([1, 0]))


@program
def tarray_scatter(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=3)
    ta = ta.scatter([2, 0, 1], tf.constant([[1.0], [2.0], [3.0]]))
    return ta.stack()


@program
def tarray_split(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    ta = ta.split(tf.range(5.0), [2, 3])
    return (ta.read(0), ta.read(1))


@program
def tarray_attrs(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, 3, element_shape=[2])
    return (ta.dtype, ta.element_shape, ta.dynamic_size, ta.size())


@program
def tarray_shape_err(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, size=2)
    ta = ta.write(0, [1.0, 2.0])
    ta = ta.write(1, [1.0])
    return ta.stack()


@program
def tarray_while(tf: Any) -> Any:
    n = 5
    ta = tf.TensorArray(tf.float32, size=n)
    _, ta = tf.while_loop(
        lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, tf.cast(i * i, tf.float32))), (0, ta)
    )
    return ta.stack()


@program
def func(tf: Any) -> Any:

    @tf.function
    def f(x, y=2.0, *, z=1.0):
        return x * y + z

    return (
        f(3.0),
        f(tf.constant([1.0, 2.0]), y=3.0),
        f(np.array([1.0, 2.0]), z=0.0),
        f(2),
        f(x=1.0),
    )


@program
def func_nest(tf: Any) -> Any:

    @tf.function
    def f(d):
        return {"a": d["x"] + 1, "b": (d["y"], [d["x"] * 2])}

    return f({"x": tf.constant(1.0), "y": np.ones(2)})


@program
def func_none(tf: Any) -> Any:

    @tf.function
    def f(x):
        if x is None:
            return None
        return x + 1

    return (f(None), f(tf.constant(1)))


@program
def func_sig(tf: Any) -> Any:

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.reduce_sum(x)

    return (f([1.0, 2.0]), f(tf.constant([3.0])), f(np.ones(2, "f")))


@program
def func_sig_err(tf: Any) -> Any:

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return x

    return f(tf.constant([[1.0]]))


@program
def func_sig_err2(tf: Any) -> Any:

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return x

    return f(tf.constant([1]))


@program
def func_jit(tf: Any) -> Any:
    f = tf.function(lambda x: x**2, jit_compile=False)
    return (f(tf.constant(3.0)), f(3), f.python_function(2))


@program
def func_loop(tf: Any) -> Any:

    @tf.function
    def f(n):
        s = tf.constant(0)
        for i in tf.range(n):
            if i % 2 == 0:
                s += i
        return s

    return f(tf.constant(10))


@program
def func_while(tf: Any) -> Any:

    @tf.function
    def f(x):
        while tf.reduce_sum(x) > 1.0:
            x = x / 2
        return x

    return f(tf.constant([4.0, 5.0]))


@program
def func_var(tf: Any) -> Any:
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        return v

    return (f(2.0), f(3.0), v)


@program
def func_grad(tf: Any) -> Any:

    @tf.function
    def f(x):
        with tf.GradientTape() as t:
            t.watch(x)
            y = x**3
        return t.gradient(y, x)

    return (f(tf.constant(2.0)), f(tf.constant([1.0, 2.0])))


@program
def func_ret_py(tf: Any) -> Any:

    @tf.function
    def f():
        return (1, 2.5, True, [1, 2], None)

    return f()


@program
def func_kw_err(tf: Any) -> Any:

    @tf.function
    def f(x):
        return x

    return f(1, 2)


@program
def func_concrete(tf: Any) -> Any:

    @tf.function
    def f(x):
        return x * 2

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return c(tf.constant([1.0, 2.0]))


@program
def nest_again(tf: Any) -> Any:
    s = {"b": [1, (2, 3)], "a": 4}
    return (
        tf.nest.flatten(s),
        tf.nest.map_structure(lambda x: x * 2, s),
        tf.nest.pack_sequence_as(s, [10, 20, 30, 40]),
        tf.nest.is_nested([1]),
        tf.nest.is_nested(1),
        tf.nest.flatten(5),
        tf.nest.flatten([]),
        tf.nest.map_structure(lambda a, b: a + b, [1, 2], [3, 4]),
    )


@program
def nest_err(tf: Any) -> Any:
    return tf.nest.map_structure(lambda a, b: a + b, [1, 2], [3])


@program
def nest_same(tf: Any) -> Any:
    return tf.nest.assert_same_structure([1, 2], (1, 2))


@program
def ds1(tf: Any) -> Any:
    ds = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0, 4.0, 5.0], [0, 1, 0, 1, 0])).batch(2)
    return ([(x, y) for x, y in ds], len(ds), ds.cardinality())


@program
def ds2(tf: Any) -> Any:
    ds = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x).take(3)
    return (list(ds.as_numpy_iterator()), [int(x) for x in ds])


@program
def ds3(tf: Any) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]})
    return (list(ds), next(iter(ds))["b"])


@program
def ds4(tf: Any) -> Any:
    a = tf.data.Dataset.range(3)
    b = tf.data.Dataset.from_tensor_slices([10, 20, 30])
    z = tf.data.Dataset.zip((a, b))
    return (
        list(z.as_numpy_iterator()),
        list(a.concatenate(a).as_numpy_iterator()),
        list(a.repeat(2).as_numpy_iterator()),
        list(a.enumerate(5).as_numpy_iterator()),
        a.reduce(np.int64(0), lambda s, x: s + x),
        list(a.skip(1).as_numpy_iterator()),
    )


@program
def ds5(tf: Any) -> Any:
    ds = tf.data.Dataset.range(7).batch(3, drop_remainder=True)
    return (list(ds.as_numpy_iterator()), len(ds))


@program
def ds_window(tf: Any) -> Any:
    ds = (
        tf.data.Dataset.range(7)
        .window(3, shift=2, drop_remainder=True)
        .flat_map(lambda w: w.batch(3))
    )
    return list(ds.as_numpy_iterator())


@program
def ds_padded(tf: Any) -> Any:
    ds = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2)
    return list(ds.as_numpy_iterator())


@program
def ds_shard(tf: Any) -> Any:
    return (
        list(tf.data.Dataset.range(7).shard(3, 1).as_numpy_iterator()),
        list(tf.data.Dataset.range(5).take_while(lambda x: x < 3).as_numpy_iterator()),
        list(tf.data.Dataset.range(3).apply(lambda d: d.map(lambda x: x + 1)).as_numpy_iterator()),
        tf.data.Dataset.range(1).get_single_element(),
        list(tf.data.Dataset.from_tensor_slices([1, 1, 2]).unique().as_numpy_iterator()),
        list(
            tf.data.Dataset.range(3)
            .interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
            .as_numpy_iterator()
        ),
        list(
            tf.data.Dataset.range(5)
            .scan(np.int64(0), lambda s, x: (s + x, s + x))
            .as_numpy_iterator()
        ),
        list(tf.data.Dataset.range(6).batch(3).rebatch(2).as_numpy_iterator()),
        list(tf.data.Dataset.range(4).batch(2).unbatch().as_numpy_iterator()),
    )


@program
def ds_gen(tf: Any) -> Any:

    def gen():
        for i in range(3):
            yield (i, [float(i)] * 2)

    ds = tf.data.Dataset.from_generator(
        gen, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32))
    )
    return list(ds.as_numpy_iterator())


@program
def ds_iter(tf: Any) -> Any:
    it = iter(tf.data.Dataset.range(2))
    return (next(it), it.get_next(), next(it, None))


@program
def ds_stop(tf: Any) -> Any:
    it = iter(tf.data.Dataset.range(1))
    next(it)
    return it.get_next()


@program
def ds_len_err(tf: Any) -> Any:
    return len(tf.data.Dataset.range(3).repeat())


@program
def ds_mismatch(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


@program
def ds_shuffle_set(tf: Any) -> Any:
    return sorted(tf.data.Dataset.range(10).shuffle(5, seed=1).as_numpy_iterator())


@program
def ds_map2(tf: Any) -> Any:
    ds = (
        tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [3.0, 4.0]))
        .map(lambda a, b: (a + b, a * b), num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
        .cache()
    )
    return list(ds)


@program
def print_ds(tf: Any) -> Any:
    return repr(tf.data.Dataset.range(3).element_spec)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name], rtol=1e-3 if name.startswith("differences") else None)


# -- printing -------------------------------------------------------------------------------------

PRINTED: dict[str, Callable[[Any], Any]] = {
    "vector": lambda tf: (vector(tf),),
    "number": lambda tf: (tf.constant(1.0), tf.constant(2), tf.constant(True)),
    "python": lambda tf: (1.0, 2, "a", True, None),
    "matrix": lambda tf: (tf.constant([[1.0, 2.0], [3.0, 4.5]]),),
    "long": lambda tf: (tf.range(20),),
    "large": lambda tf: (tf.reshape(tf.range(200), [10, 20]),),
    "deep": lambda tf: (tf.ones([8, 2, 2]),),
    "digits": lambda tf: tuple(
        tf.constant(v) for v in (1 / 3, 0.1, 1e10, 1e-10, 123456789.0, 1e5, 1e6, 1e-4, 1e-5, 0.0)
    ),
    "double": lambda tf: (tf.constant([1 / 3, 0.1, 2.0], tf.float64),),
    "half": lambda tf: (tf.constant(1.5, tf.float16),),
    "list": lambda tf: ([1, 2.5, vector(tf), "s"], (1,), (vector(tf), None)),
    "dict": lambda tf: ({"b": vector(tf), "a": {"z": 1}},),
    "pair": lambda tf: (Pair(1, tf.constant(2)),),
    "variable": lambda tf: (tf.Variable([1.0, 2.0]), [tf.Variable(3)]),
    "infinite": lambda tf: (tf.constant([np.nan, np.inf, -np.inf]),),
    "nothing": lambda tf: (),
    "empty": lambda tf: (tf.zeros([0]), tf.zeros([0, 2])),
    "array": lambda tf: (np.arange(3.0), np.float32(1.5)),
    "label": lambda tf: ("loss:", tf.constant(0.25), "step", 3),
    "types": lambda tf: (tf.float32, vector(tf).shape),
}  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"sep": "|", "end": "!\n"}, {"summarize": 2}, {"summarize": -1}
]  # fmt: skip


def printed(tf: Any, make: Callable[[Any], Any], options: Any, capfd: Any) -> str:
    capfd.readouterr()
    tf.print(*make(tf), **options)
    sys.stderr.flush()
    return capfd.readouterr().err


@pytest.mark.parametrize("name", PRINTED)
def test_print_as_tensorflow(name: str, capfd: Any) -> None:
    import tensorflow as theirs

    for options in OPTIONS:
        expected = printed(theirs, PRINTED[name], options, capfd)
        assert printed(tensorflow_parity.ours, PRINTED[name], options, capfd) == expected


def test_print_to_streams(tmp_path: Any, capsys: Any) -> None:
    tf = tensorflow_parity.ours
    stream, file = io.StringIO(), tmp_path / "out.txt"
    tf.print(vector(tf), output_stream=stream)
    for _ in range(2):
        tf.print("x", 1, output_stream=f"file://{file}")
    tf.print("y", output_stream=sys.stdout)
    assert stream.getvalue() == "[1 2 3]\n"
    assert file.read_text() == "x 1\nx 1\n"
    assert capsys.readouterr().out == "y\n"
    with pytest.raises(ValueError, match="sys.stderr"):
        tf.print("x", output_stream="elsewhere")
    with pytest.raises(ValueError, match="colour"):
        tf.print("x", colour=1)


def test_names_are_tensorflows() -> None:
    import tensorflow as theirs

    ours = tensorflow_parity.ours
    ours._facade.load_all()

    def is_theirs(name: str) -> bool:
        found: Any = theirs
        for part in name.split("."):
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True

    assert [name for name in ours._facade.names if not is_theirs(name)] == []
