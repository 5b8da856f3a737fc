"""Sparse tensors and ragged tensors, as data that programs pass around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity
program = PROGRAMS = Programs()


def sparse(tf: Any, values: Any = (1.0, 2.0, 3.0)) -> Any:
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.constant(values), [2, 3])


def other(tf: Any) -> Any:
    return tf.sparse.from_dense([[0.0, -4.0, 5.0], [0.0, 6.0, 1.0]])


def parts(x: Any) -> Any:
    """Return what a program found, with the parts of a sparse tensor in the place of one."""
    return (x.indices, x.values, x.dense_shape) if hasattr(x, "dense_shape") else x


PROGRAMS |= {
    f"sparse: {name}": lambda tf, what=what: parts(what(tf, tf.sparse, sparse(tf)))
    for name, what in {
        "made": lambda tf, s, x: x,
        "said": lambda tf, s, x: [str(v) for v in (x.shape, x.dtype, x.get_shape())],
        "is tensor": lambda tf, s, x: tf.is_tensor(x),
        "wrong lengths": lambda tf, s, x: tf.SparseTensor([[0, 1]], [1.0, 2.0], [2, 3]),
        "wrong rank": lambda tf, s, x: tf.SparseTensor([[0, 1]], [1.0], [2, 3, 4]),
        "dense": lambda tf, s, x: s.to_dense(x),
        "dense with a default": lambda tf, s, x: s.to_dense(x, -1.0),
        "dense strings": lambda tf, s, x: s.to_dense(sparse(tf, ["a", "b", "c"])),
        "strings with a default": lambda tf, s, x: s.to_dense(sparse(tf, ["a", "b", "c"]), "-"),
        "dense booleans": lambda tf, s, x: s.to_dense(sparse(tf, [True, False, True])),
        "outside": lambda tf, s, x: s.to_dense(tf.SparseTensor([[5]], [1.0], [3])),
        "of strings": lambda tf, s, x: s.from_dense(["", "a"]),
        "of numbers": lambda tf, s, x: s.from_dense([[0, 7], [8, 0]]),
        "cast": lambda tf, s, x: tf.cast(x, tf.int32),
        "identity": lambda tf, s, x: tf.identity(x),
        "shape": lambda tf, s, x: [tf.shape(x), tf.size(x), tf.rank(x)],
        "add": lambda tf, s, x: s.add(x, other(tf)),
        "add dense": lambda tf, s, x: s.add(x, tf.ones([2, 3])),
        "maximum": lambda tf, s, x: s.maximum(x, other(tf)),
        "minimum": lambda tf, s, x: s.minimum(x, other(tf)),
        "times dense": lambda tf, s, x: x * tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "times a number": lambda tf, s, x: x * 2.0,
        "over a row": lambda tf, s, x: x / tf.constant([1.0, 2.0, 4.0]),
        "map": lambda tf, s, x: s.map_values(tf.square, x),
        "map of two": lambda tf, s, x: s.map_values(tf.add, x, x),
        "retain": lambda tf, s, x: s.retain(x, [True, False, True]),
        "reshape": lambda tf, s, x: s.reshape(x, [3, 2]),
        "reshape to a rest": lambda tf, s, x: s.reshape(x, [-1]),
        "reshape to another size": lambda tf, s, x: s.reshape(x, [7]),
        "expand": lambda tf, s, x: s.expand_dims(x, 1),
        "expand the last": lambda tf, s, x: s.expand_dims(x),
        "expand too far": lambda tf, s, x: s.expand_dims(x, 5),
        "transpose": lambda tf, s, x: s.transpose(x),
        "transpose by order": lambda tf, s, x: s.transpose(s.expand_dims(x, 0), [2, 0, 1]),
        "concat": lambda tf, s, x: s.concat(0, [x, other(tf)]),
        "concat columns": lambda tf, s, x: s.concat(1, [x, other(tf)]),
        "reorder": lambda tf, s, x: s.reorder(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])),
        "matmul": lambda tf, s, x: s.sparse_dense_matmul(x, tf.ones([3, 2])),
        "matmul of adjoints": lambda tf, s, x: s.sparse_dense_matmul(
            x, tf.ones([4, 2]), adjoint_a=True, adjoint_b=True
        ),
        "rows that are empty": lambda tf, s, x: [
            parts(part) for part in s.fill_empty_rows(tf.SparseTensor([[2, 1]], [5], [3, 3]), 9)
        ],
        "rows of a table": lambda tf, s, x: [
            tf.nn.embedding_lookup_sparse(tf.reshape(tf.range(6.0), [3, 2]), ids, x, combiner=how)
            for ids in [sparse(tf, [2, 0, 1])]
            for how in ("sum", "mean", "sqrtn")
        ],
        "means of rows": lambda tf, s, x: tf.nn.embedding_lookup_sparse(
            tf.reshape(tf.range(6.0), [3, 2]), sparse(tf, [2, 0, 1]), None
        ),
        "sum": lambda tf, s, x: s.reduce_sum(x),
        "sum of rows": lambda tf, s, x: s.reduce_sum(x, 1, keepdims=True),
        "greatest": lambda tf, s, x: s.reduce_max(s.map_values(tf.negative, x), 0),
        "counts": lambda tf, s, x: s.bincount([[0, 2], [2, 2]], axis=-1),
        "counts of one row": lambda tf, s, x: s.bincount([3, 1, 3], minlength=6),
        "counts up to a number": lambda tf, s, x: s.bincount(
            [[0, 2, 9]], axis=-1, minlength=3, maxlength=3, binary_output=True
        ),
        "sums of weights": lambda tf, s, x: s.bincount(
            [[0, 2], [2, 2]], weights=[[0.5, 1.0], [2.0, 3.0]], axis=-1
        ),
        "crossed": lambda tf, s, x: s.cross_hashed(
            [tf.constant([["a"], ["bb"]]), tf.constant([[1], [-2]], tf.int64)], 2**40
        ),
        "crossed combinations": lambda tf, s, x: s.cross_hashed(
            [tf.constant([["a", "b"]]), tf.constant([["c", "d"]])], 100, hash_key=7
        ),
        "common": lambda tf, s, x: tf.sets.intersection(
            s.from_dense([[3, 1, 2], [4, 0, 0]]), s.from_dense([[2, 3, 0], [5, 0, 0]])
        ),
    }.items()
}  # fmt: skip


@program
def gradients_of_values_and_matrices(tf):
    values, matrix = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(tf.ones([3, 2]))
    with tf.GradientTape() as outer, tf.GradientTape() as tape:
        x = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3])
        y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, matrix) ** 3)
    first = tape.gradient(y, [values, matrix])
    with outer:
        total = tf.reduce_sum(first[0] ** 2)
    return first, total


def ragged(tf: Any) -> Any:
    return tf.ragged.constant([[1, 2, 3], [], [4]])


def listed(x: Any) -> Any:
    """Return what a program found, with lists in the place of ragged tensors."""
    if isinstance(x, list):
        return [listed(part) for part in x]
    return (x.to_list(), str(x.dtype)) if hasattr(x, "row_splits") else x


PROGRAMS |= {
    f"ragged: {name}": lambda tf, what=what: listed(what(tf, tf.RaggedTensor, ragged(tf)))
    for name, what in {
        "made": lambda tf, R, x: x,
        "shown": lambda tf, R, x: repr(x),
        "said": lambda tf, R, x: [str(x.shape), str(x.dtype), x.ragged_rank],
        "values": lambda tf, R, x: [x.values, x.flat_values, x.row_splits, x.nested_row_splits],
        "lengths": lambda tf, R, x: [x.nrows(), x.row_lengths(), x.value_rowids()],
        "bounds": lambda tf, R, x: [x.bounding_shape(), x.bounding_shape(1)],
        "dense": lambda tf, R, x: [x.to_tensor(), x.to_tensor(9)],
        "dense of a shape": lambda tf, R, x: [
            x.to_tensor(shape=[None, 2]), x.to_tensor(0, shape=[4, 5]),
        ],
        "rows": lambda tf, R, x: [x[0], x[-1], x[1:], x[::2], x[0, 1], x[:, 1:], x[:, :1]],
        "no such row": lambda tf, R, x: x[5],
        "an element of each row": lambda tf, R, x: x[:, 0],
        "iterated": lambda tf, R, x: list(x),
        "map": lambda tf, R, x: tf.ragged.map_flat_values(tf.square, x),
        "map of two": lambda tf, R, x: tf.ragged.map_flat_values(tf.add, x, x),
        "other values": lambda tf, R, x: x.with_values(tf.constant([1.0, 2.0, 3.0, 4.0])),
        "cast": lambda tf, R, x: tf.cast(x, tf.float32),
        "identity": lambda tf, R, x: tf.identity(x),
        "gather": lambda tf, R, x: tf.gather(x, [2, 0]),
        "gather by rows": lambda tf, R, x: tf.gather(tf.constant([10, 20, 30, 40, 50]), x),
        "concat": lambda tf, R, x: tf.concat([x, x], 0),
        "concat rows": lambda tf, R, x: tf.concat([x, x + 10], 1),
        "mapped": lambda tf, R, x: tf.map_fn(lambda row: row[:1] * 2, x),
        "counts": lambda tf, R, x: tf.math.bincount(x, minlength=5, maxlength=5, axis=-1),
        "operators": lambda tf, R, x: [x + x, x * 2, 2 - x, x == x, x > 1],
        "by splits": lambda tf, R, x: R.from_row_splits([1, 2, 3], [0, 1, 3]),
        "by lengths": lambda tf, R, x: R.from_row_lengths([1, 2, 3], [1, 2]),
        "by rows": lambda tf, R, x: R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5),
        "of a tensor": lambda tf, R, x: [
            R.from_tensor([[1, 2], [3, 0]]), R.from_tensor([[1, 2], [3, 0]], padding=0),
            R.from_tensor([[1, 2], [3, 0]], lengths=[1, 2]),
        ],
        "splits that do not fit": lambda tf, R, x: R.from_row_splits([1, 2, 3], [0, 1, 2]),
        "splits not from zero": lambda tf, R, x: R.from_row_splits([1, 2, 3], [1, 3]),
        "lengths that do not fit": lambda tf, R, x: R.from_row_lengths([1, 2, 3], [1, 1]),
        "nested": lambda tf, R, x: [
            tf.ragged.constant([[[1, 2], [3]], [[4]]]),
            tf.ragged.constant([[[1, 2], [3]], [[4]]]).to_tensor(),
            tf.ragged.constant([[[1, 2], [3]], [[4]]])[0],
        ],
        "of one ragged axis": lambda tf, R, x: tf.ragged.constant(
            [[[1, 2], [3, 4]], [[4, 5]]], ragged_rank=1
        ).to_tensor(),
        "strings": lambda tf, R, x: tf.ragged.constant([["a"], ["b", "c"]]).to_tensor(),
        "no rows": lambda tf, R, x: tf.ragged.constant([1, 2]),
        "of a dtype": lambda tf, R, x: tf.ragged.constant([[1.0], [2, 3]], dtype=tf.float64),
        "elements of a dataset": lambda tf, R, x: list(tf.data.Dataset.from_tensor_slices(x)),
        "spec": lambda tf, R, x: str(tf.RaggedTensorSpec([None, None], tf.int32).dtype),
        "partition": lambda tf, R, x: tf.experimental.RowPartition.from_value_rowids(
            [0, 0, 2], nrows=4
        ).row_splits(),
        "split": lambda tf, R, x: [tf.strings.split(["a b", "c", ""]), tf.strings.split("a b")],
        "characters": lambda tf, R, x: [
            tf.strings.unicode_split(["aä", "b"], "UTF-8"), tf.strings.bytes_split(["aä", ""]),
            tf.strings.unicode_split("aä", "UTF-8"),
        ],
        "ngrams": lambda tf, R, x: [
            tf.strings.ngrams(tf.strings.split(["a b c", "d"]), 2),
            tf.strings.ngrams(tf.strings.split(["a b c", "d"]), (1, 2), separator="-"),
            tf.strings.ngrams(["a", "b", "c"], 2), tf.strings.ngrams([["a", "b", "c"]], (2, 3)),
            tf.strings.ngrams([["a", "b"]], 3),
        ],
        "ngrams with padding": lambda tf, R, x: [
            tf.strings.ngrams(tf.strings.split(["a b c", "d"]), 2, pad_values="_"),
            tf.strings.ngrams(
                tf.strings.split(["a b c", "d"]), 3, pad_values=("<", ">"), padding_width=1
            ),
            tf.strings.ngrams(
                tf.strings.split(["a", "d e f"]), 3, preserve_short_sequences=True
            ),
        ],
        "parts of strings": lambda tf, R, x: [
            tf.strings.substr(["hello", "wörld"], 1, 3), tf.strings.substr("abc", -2, 2),
            tf.strings.substr("wörld", 1, 3, unit="UTF8_CHAR"),
            tf.strings.substr(["abc", "defg"], [1, 2], [1, 5]),
        ],
        "a part outside": lambda tf, R, x: tf.strings.substr("abc", 4, 2),
        "patterns": lambda tf, R, x: [
            tf.strings.regex_replace(["a1b22", "c"], "[0-9]+", r"<\0>"),
            tf.strings.regex_replace("aaa", "a", "b", replace_global=False),
            tf.strings.regex_replace("ab", "(a)(b)", r"\2\1"),
            tf.strings.regex_full_match(["ab", "abc"], "a.*b"),
        ],
        "no pattern": lambda tf, R, x: tf.strings.regex_replace("abc", "(a", "b"),
        "boundaries": lambda tf, R, x: tf.raw_ops.Bucketize(
            input=[[-5.0, 0.0], [1.5, 9.0]], boundaries=[0.0, 1.0, 3.0]
        ),
    }.items()
}  # fmt: skip


@program
def gradients_through_rows(tf):
    values = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        rows = tf.RaggedTensor.from_row_lengths(values, [3, 0, 1])
        y = tf.reduce_sum(rows.to_tensor(shape=[None, 2]) ** 2)
    return y, tf.convert_to_tensor(tape.gradient(y, values))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


def test_functions_of_tensors_refuse_both():
    with pytest.raises(TypeError, match="to_dense"):
        ours.sin(sparse(ours))
    with pytest.raises(TypeError, match="to_tensor"):
        ours.sin(ragged(ours))
    with pytest.raises(TypeError, match="two sparse"):
        sparse(ours) * sparse(ours)


def test_what_is_not_offered_of_them_says_what_is():
    with pytest.raises(AttributeError, match="flat_values"):
        ours.ragged.stack  # noqa: B018
    with pytest.raises(AttributeError, match="to_dense"):
        ours.sparse.segment_sum  # noqa: B018
    with pytest.raises(NotImplementedError, match="axis"):
        ours.gather(ragged(ours), [0], axis=1)


def test_the_shape_of_rows_is_that_of_the_array_that_holds_them():
    assert ours.shape(ragged(ours)).numpy().tolist() == [3, 3]


def test_batches_of_a_dataset_may_be_sparse():
    spec = ours.SparseTensorSpec([None, 3], ours.float32)
    made = ours.data.Dataset.from_generator(lambda: iter([sparse(ours)]), output_signature=spec)
    assert made.element_spec == ours.SparseTensorSpec([2, 3], ours.float32)
    assert np.array_equal(ours.sparse.to_dense(next(iter(made))), [[0, 1, 0], [2, 0, 3]])


def test_the_last_of_several_batches_may_be_shorter():
    numbers = ours.data.Dataset.range(5)
    assert numbers.batch(2).shard(2, 0).element_spec.shape.as_list() == [None]
    assert numbers.batch(2, drop_remainder=True).take(1).element_spec.shape.as_list() == [2]


def test_a_strategy_of_one_device_runs_what_it_is_given():
    strategy = ours.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        made = strategy.distribute_datasets_from_function(
            lambda context: ours.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))
        )
    assert [batch.numpy().tolist() for batch in made] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="one device"):
        ours.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
