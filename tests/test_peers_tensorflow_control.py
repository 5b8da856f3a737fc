"""Loops, branches, nests, modules, datasets, assertions and printing, against real TensorFlow."""

from __future__ import annotations

import collections
import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow_parity
from tensorflow_parity import compare

pytestmark = [
    pytest.mark.peers,
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
