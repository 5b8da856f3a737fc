"""Sparse tensors as data, which become whole arrays; ragged tensors are refused."""

from __future__ import annotations

from typing import Any

import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity
program = PROGRAMS = Programs()


def sparse(tf: Any, values: Any = (1.0, 2.0, 3.0)) -> Any:
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.constant(values), [2, 3])


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
        "of strings": lambda tf, s, x: s.from_dense(["", "a"]),
        "of numbers": lambda tf, s, x: s.from_dense([[0, 7], [8, 0]]),
        "outside": lambda tf, s, x: s.to_dense(tf.SparseTensor([[5]], [1.0], [3])),
        "cast": lambda tf, s, x: tf.cast(x, tf.int32),
        "identity": lambda tf, s, x: tf.identity(x),
        "shape": lambda tf, s, x: [tf.shape(x), tf.size(x), tf.rank(x)],
        "crossed": lambda tf, s, x: s.cross_hashed(
            [tf.constant([["a"], ["bb"]]), tf.constant([[1], [-2]], tf.int64)], 2**40
        ),
        "crossed combinations": lambda tf, s, x: s.cross_hashed(
            [tf.constant([["a", "b"]]), tf.constant([["c", "d"]])], 100, hash_key=7
        ),
    }.items()
}  # fmt: skip


PROGRAMS |= {
    "partition": lambda tf: tf.experimental.RowPartition.from_value_rowids(
        [0, 0, 2], nrows=4
    ).row_splits(),
    "rows": lambda tf: [
        (x.flat_values, x.value_rowids(), str(x.shape), str(x.dtype))
        for rows in [tf.RaggedTensor.from_row_splits([1, 2, 3, 4], [0, 3, 3, 4])]
        for x in (rows, rows[1:], rows[::2], tf.gather(rows, [2, 0]), tf.cast(rows, tf.float32))
    ],
    "splits that do not fit": lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1]),
}


@program
def gradients_of_values(tf):
    values, matrix = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(tf.ones([3, 2]))
    with tf.GradientTape() as outer, tf.GradientTape() as tape:
        x = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3])
        y = tf.reduce_sum(tf.matmul(tf.sparse.to_dense(x), matrix) ** 3)
    first = tape.gradient(y, [values, matrix])
    with outer:
        total = tf.reduce_sum(first[0] ** 2)
    return first, total


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


def test_functions_of_tensors_refuse_sparse_tensors():
    with pytest.raises(TypeError, match="to_dense"):
        ours.sin(sparse(ours))
    with pytest.raises(AttributeError, match="to_dense"):
        ours.sparse.segment_sum  # noqa: B018


def test_ragged_tensors_are_refused_with_what_to_write_instead():
    with pytest.raises(AttributeError, match="pad them"):
        ours.ragged.constant  # noqa: B018
    with pytest.raises(TypeError, match="pad them"):
        ours.sin(ours.RaggedTensor.from_row_splits([1.0, 2.0], [0, 2]))
    with pytest.raises(NotImplementedError, match="pad them"):
        ours.RaggedTensorSpec([None], ours.float32)
    with pytest.raises(ValueError, match="for s in strings"):
        ours.strings.split(["a b", "c"])


def test_batches_of_a_dataset_may_be_sparse():
    spec = ours.SparseTensorSpec([None, 3], ours.float32)
    made = ours.data.Dataset.from_generator(lambda: iter([sparse(ours)]), output_signature=spec)
    assert made.element_spec == ours.SparseTensorSpec([2, 3], ours.float32)
    dense = ours.sparse.to_dense(next(iter(made)))
    assert dense.numpy().tolist() == [[0, 1, 0], [2, 0, 3]]


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
