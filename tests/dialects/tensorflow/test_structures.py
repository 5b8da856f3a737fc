"""Nests, modules, names, contexts and datasets."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.control_cases import Pair
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


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
        "map_in_parallel": lambda tf, D: D.range(3).map(lambda x: x + 1, tf.data.AUTOTUNE),
        "filter": lambda tf, D: D.range(5).filter(lambda x: x % 2 == 0),
        "filter_option": lambda tf, D: D.range(5).filter(lambda x: x % 2 == 0, colour=1),
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
        list(tf.data.Dataset.range(3).apply(lambda d: d.map(lambda x: x + 1)).as_numpy_iterator()),
        tf.data.Dataset.range(1).get_single_element(),
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
    compare(PROGRAMS[name])
