"""Arrays by TensorFlow's names: the same programs on TensorFlow and on the dialect."""
# what programs write is what is tested, also where it could be written better
# ruff: noqa: B023, E501, E711, E721, RUF005, UP031

import operator

import numpy as np
import pytest

from tests.dialects.tensorflow.lines import compare_line
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.peers

A = np.arange(6.0, dtype=np.float32).reshape(2, 3) + 1
B = np.linspace(-2.0, 3.0, 24).reshape(2, 3, 4)
V = np.array([3.0, -1.0, 2.0, 2.0, 0.5], np.float32)
N = np.array([[3, 1, 2], [2, 3, 3]], np.int32)


def grad(tf, f, *values):
    """Return the value of f, and its gradient weighted by the position of each result."""
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    ys = list(y) if isinstance(y, (list, tuple)) else [y]
    weights = [np.cos(1.0 + np.arange(np.size(p))).reshape(p.shape) for p in ys]
    given = [tf.constant(w, p.dtype) for w, p in zip(weights, ys, strict=True)]
    return y, tape.gradient(ys, xs, output_gradients=given)


SHAPES = {
    "cast": lambda tf: [
        tf.cast([1.7, -1.7, 2.0], tf.int32),
        tf.cast(tf.constant([1, 2]), "float64"),
        tf.cast([0.0, 0.5, -1.0], tf.bool),
        tf.cast([True, False], tf.float32),
        tf.cast(3, tf.float32),
        tf.cast(2.7, tf.int64),
        tf.cast(tf.constant([1 + 2j]), tf.float32),
        tf.cast(np.array([1.5, 2.5]), np.float32),
        tf.cast([300.0], tf.float16),
        tf.dtypes.cast([1, 2], tf.uint8),
        tf.cast(tf.Variable([1.5]), tf.int32),
        tf.cast([1.0], tf.complex64),
        tf.cast([200, 300], tf.uint8),
        tf.cast(True, tf.int32),
        tf.cast(tf.constant([0j, 1j]), tf.bool),
    ],
    "cast same": lambda tf: (lambda x: tf.cast(x, tf.float32) is x)(tf.constant(1.0)),
    "cast unknown": lambda tf: tf.cast([1.0], "florp"),
    "cast None": lambda tf: tf.cast(None, tf.float32),
    "cast slices": lambda tf: tf.cast(
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])), tf.float64
    ),
    "cast gradient": lambda tf: grad(tf, lambda x: tf.cast(x, tf.float64) ** 2, A),
    "cast gradient int": lambda tf: grad(
        tf, lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32), A
    ),
    "cast gradient down": lambda tf: grad(tf, lambda x: tf.cast(x, tf.float32) * 2, B),
    "cast gradient complex": lambda tf: grad(
        tf, lambda x: tf.cast(tf.cast(x, tf.complex64) * (2 + 1j), tf.float32), A
    ),
    "saturate_cast": lambda tf: [
        tf.saturate_cast([300.0, -5.0, 3.7], tf.uint8),
        tf.saturate_cast([1e20, -1e20, 0.0], tf.int32),
        tf.saturate_cast(tf.constant([100000, -100000]), tf.int16),
        tf.saturate_cast(np.array([1e300, -1e300]), tf.float32),
        tf.dtypes.saturate_cast([1, 2], tf.float32),
        tf.saturate_cast(np.array([2.0**40, -1.0]), tf.int32),
        tf.saturate_cast(tf.constant([-3, 4]), tf.uint32),
    ],
    "bitcast": lambda tf: [
        tf.bitcast(tf.constant([1.0, -2.0]), tf.int32),
        tf.bitcast(tf.constant([1.0]), tf.uint8),
        tf.bitcast(tf.constant([1, 2, 3, 4], tf.uint8), tf.int32),
        tf.bitcast(tf.constant(1.5), tf.uint32),
    ],
    "bitcast bad": lambda tf: tf.bitcast(tf.constant([1, 2, 3], tf.uint8), tf.int32),
    "shape": lambda tf: [
        tf.shape(A),
        tf.shape(5.0),
        tf.shape(A, tf.int64),
        tf.shape(A, out_type=tf.int64),
        tf.shape([[1, 2], [3, 4]]),
        tf.shape(tf.Variable(A)),
        tf.shape(A)[0] * 2,
        tf.shape_n([A, B]),
        tf.size(A),
        tf.size(B, tf.int64),
        tf.size([]),
        tf.rank(B),
        tf.rank(3.0),
        tf.size(tf.zeros([0, 3])),
    ],
    "reshape": lambda tf: [
        tf.reshape(A, [3, 2]),
        tf.reshape(A, [-1]),
        tf.reshape(A, (3, -1)),
        tf.reshape(A, tf.constant([6, 1])),
        tf.reshape(A, tf.shape(A)[::-1]),
        tf.reshape(A, [tf.shape(A)[1], -1]),
        tf.reshape([7.0], []),
        tf.reshape(3.0, [1, 1]),
        tf.reshape([], [0, 4]),
        tf.reshape(A, tf.TensorShape([3, 2])),
        tf.reshape(A, np.array([2, 3])),
        tf.reshape(tf.Variable(A), shape=[6]),
    ],
    "reshape bad": lambda tf: tf.reshape(A, [4, 2]),
    "reshape two unknown": lambda tf: tf.reshape(A, [-1, -1]),
    "reshape scalar shape": lambda tf: tf.reshape(A, 6),
    "reshape float": lambda tf: tf.reshape(A, [3.0, 2.0]),
    "reshape negative": lambda tf: tf.reshape(A, [-2, -3]),
    "reshape rest": lambda tf: tf.reshape(A, [4, -1]),
    "reshape None": lambda tf: tf.reshape(None, [1]),
    "reshape to None": lambda tf: tf.reshape(A, None),
    "reshape missing": lambda tf: tf.reshape(A),
    "reshape unknown name": lambda tf: tf.reshape(A, newshape=[6]),
    "reshape gradient": lambda tf: grad(tf, lambda x: tf.reshape(x, [3, -1]) ** 2, A),
    "expand_dims": lambda tf: [
        tf.expand_dims(A, 0),
        tf.expand_dims(A, -1),
        tf.expand_dims(A, 1),
        tf.expand_dims(A, tf.constant(2)),
        tf.expand_dims(4.0, 0),
        tf.expand_dims([1, 2], axis=-2),
    ],
    "expand_dims bad": lambda tf: tf.expand_dims(A, 3),
    "expand_dims missing": lambda tf: tf.expand_dims(A),
    "squeeze": lambda tf: [
        tf.squeeze([[[1.0], [2.0]]]),
        tf.squeeze([[[1.0], [2.0]]], 0),
        tf.squeeze([[[1.0], [2.0]]], axis=[-1]),
        tf.squeeze([[[1.0]]], axis=[0, 2]),
        tf.squeeze([[3.0]]),
        tf.squeeze(A),
    ],
    "squeeze bad": lambda tf: tf.squeeze(A, 0),
    "squeeze far": lambda tf: tf.squeeze(A, 5),
    "squeeze gradient": lambda tf: grad(tf, lambda x: tf.squeeze(tf.expand_dims(x, 1)) ** 3, A),
    "transpose": lambda tf: [
        tf.transpose(A),
        tf.transpose(B),
        tf.transpose(B, [1, 0, 2]),
        tf.transpose(B, perm=(2, 0, 1)),
        tf.transpose(B, tf.constant([2, 1, 0])),
        tf.transpose(tf.constant([[1 + 2j, 3j]]), conjugate=True),
        tf.transpose(5.0),
        tf.transpose([1, 2, 3]),
        tf.transpose(B, [0, 2, -2]),
    ],
    "transpose short": lambda tf: tf.transpose(B, [0, 1]),
    "transpose twice": lambda tf: tf.transpose(B, [0, 0, 1]),
    "transpose far": lambda tf: tf.transpose(B, [0, 1, 3]),
    "transpose gradient": lambda tf: grad(tf, lambda x: tf.transpose(x, [2, 0, 1]) ** 2, B),
    "concat": lambda tf: [
        tf.concat([A, A], 0),
        tf.concat([A, A * 2], axis=-1),
        tf.concat([tf.constant([1.0]), [2.0, 3.0]], 0),
        tf.concat((A,), 1),
        tf.concat(tf.constant(A), 0),
        tf.concat([[1, 2], [3]], 0),
        tf.concat([tf.zeros([0, 3]), A], 0),
        tf.concat([A, A], tf.constant(1)),
        tf.concat([tf.constant([1.0]), [2]], 0),
        tf.concat([np.array([1.0]), np.array([2.0])], 0),
    ],
    "concat dtypes": lambda tf: tf.concat([tf.constant([1.0]), tf.constant([2])], 0),
    "concat float in int": lambda tf: tf.concat([tf.constant([1]), [2.5]], 0),
    "concat python dtypes": lambda tf: tf.concat([[1], [2.5]], 0),
    "concat numpy dtypes": lambda tf: tf.concat([np.array([1.0]), np.array([1.0], np.float32)], 0),
    "concat shapes": lambda tf: tf.concat([A, B], 0),
    "concat rows": lambda tf: tf.concat([A, A[:1]], 1),
    "concat far": lambda tf: tf.concat([A, A], 2),
    "concat scalars": lambda tf: tf.concat([1.0, 2.0], 0),
    "concat nothing": lambda tf: tf.concat([], 0),
    "concat gradient": lambda tf: grad(tf, lambda x, y: tf.concat([x, y, x], 1) ** 2, A, A[:, :2]),
    "stack": lambda tf: [
        tf.stack([A, A]),
        tf.stack([A, A * 2], axis=1),
        tf.stack([A, A], axis=-1),
        tf.stack([1.0, 2.0, 3.0]),
        tf.stack([1, 2]),
        tf.stack([tf.constant(1.0), 2.0]),
        tf.stack([tf.constant(1.0), 2]),
        tf.stack((A[0], A[1]), 1),
        tf.stack(tf.constant(A)),
        tf.stack([[1, 2], [3, 4]], axis=1),
        tf.stack([np.float64(1.0), np.float64(2.0)]),
        tf.stack([tf.Variable(1.0), 2.0]),
    ],
    "stack shapes": lambda tf: tf.stack([A, A[0]]),
    "stack dtypes": lambda tf: tf.stack([tf.constant(1.0), tf.constant(1)]),
    "stack far": lambda tf: tf.stack([A, A], axis=3),
    "stack nothing": lambda tf: tf.stack([]),
    "stack gradient": lambda tf: grad(tf, lambda x, y: tf.stack([x, y], -1) ** 2, A, A * 2),
    "unstack": lambda tf: [
        tf.unstack(A),
        tf.unstack(A, axis=1),
        tf.unstack(A, 2),
        tf.unstack(A, num=3, axis=-1),
        tf.unstack([1, 2, 3]),
        tf.unstack(tf.zeros([0, 2])),
    ],
    "unstack num": lambda tf: tf.unstack(A, 3),
    "unstack scalar": lambda tf: tf.unstack(3.0),
    "unstack far": lambda tf: tf.unstack(A, axis=2),
    "unstack gradient": lambda tf: grad(tf, lambda x: tf.unstack(x, axis=1)[1] ** 2, A),
    "split": lambda tf: [
        tf.split(A, 3, 1),
        tf.split(A, [1, 2], axis=1),
        tf.split(A, [1, -1], 1),
        tf.split(A, num_or_size_splits=2),
        tf.split(A, tf.constant([2, 1]), -1),
        tf.split([1, 2, 3, 4], 2),
        tf.split(A, [2, 1, 0], 1),
        tf.split(A, (1, 2), 1, num=2),
    ],
    "split uneven": lambda tf: tf.split(A, 2, 1),
    "split sum": lambda tf: tf.split(A, [1, 1], 1),
    "split far": lambda tf: tf.split(A, 2, 4),
    "split zero": lambda tf: tf.split(A, 0, 1),
    "split gradient": lambda tf: grad(tf, lambda x: [p**2 for p in tf.split(x, [1, 2], 1)], A),
    "split gradient of one": lambda tf: grad(tf, lambda x: tf.split(x, 3, 1)[2] * 2, A),
    "tile": lambda tf: [
        tf.tile(A, [2, 1]),
        tf.tile([1, 2], [3]),
        tf.tile(A, tf.constant([1, 2])),
        tf.tile(A, (0, 2)),
        tf.tile(3.0, []),
    ],
    "tile short": lambda tf: tf.tile(A, [2]),
    "tile negative": lambda tf: tf.tile(A, [2, -1]),
    "tile scalar": lambda tf: tf.tile([1, 2], 2),
    "tile gradient": lambda tf: grad(tf, lambda x: tf.tile(x, [2, 3]) ** 2, A),
    "repeat": lambda tf: [
        tf.repeat(A, 2),
        tf.repeat(A, 2, axis=1),
        tf.repeat(A, [1, 2], axis=0),
        tf.repeat([3, 4], repeats=[0, 2]),
        tf.repeat(3.0, 4),
        tf.repeat(A, tf.constant([1, 0, 2]), axis=-1),
        tf.repeat(A, [2], axis=0),
        tf.repeat(A, repeats=[1, 2, 3, 1, 0, 1]),
    ],
    "repeat bad": lambda tf: tf.repeat(A, [1, 2, 3], axis=0),
    "repeat far": lambda tf: tf.repeat(A, 2, axis=2),
    "repeat gradient": lambda tf: grad(tf, lambda x: tf.repeat(x, [2, 1, 3], axis=1) ** 2, A),
    "pad": lambda tf: [
        tf.pad(A, [[1, 0], [0, 2]]),
        tf.pad(A, [[1, 1], [1, 1]], constant_values=7),
        tf.pad(A, tf.constant([[1, 1], [2, 2]]), "REFLECT"),
        tf.pad(A, [[1, 1], [2, 3]], mode="SYMMETRIC"),
        tf.pad([1, 2], [[1, 1]], constant_values=-1),
        tf.pad(A, [[1, 0], [0, 2]], mode="constant", constant_values=1.5),
        tf.pad(A, ((0, 0), (0, 0))),
        tf.pad(A, [[0, 1], [0, 0]], constant_values=tf.constant(2.0)),
        tf.pad(tf.zeros([0, 2]), [[1, 0], [0, 0]]),
        tf.pad([True], [[1, 1]], constant_values=False),
    ],
    "pad reflect far": lambda tf: tf.pad(A, [[2, 0], [0, 0]], "REFLECT"),
    "pad symmetric far": lambda tf: tf.pad(A, [[3, 0], [0, 0]], "SYMMETRIC"),
    "pad mode": lambda tf: tf.pad(A, [[1, 0], [0, 0]], "EDGE"),
    "pad short": lambda tf: tf.pad(A, [[1, 0]]),
    "pad negative": lambda tf: tf.pad(A, [[-1, 0], [0, 0]]),
    "pad float in int": lambda tf: tf.pad([1, 2], [[1, 1]], constant_values=1.5),
    "pad dtypes": lambda tf: tf.pad(A, [[1, 1], [0, 0]], constant_values=tf.constant(1)),
    "pad gradient": lambda tf: [
        grad(tf, lambda x: tf.pad(x, [[1, 2], [0, 1]]) ** 2, A),
        grad(tf, lambda x: tf.pad(x, [[1, 1], [2, 1]], "REFLECT") ** 2, A),
        grad(tf, lambda x: tf.pad(x, [[2, 1], [1, 1]], "SYMMETRIC") ** 2, A),
    ],
    "pad gradient of value": lambda tf: grad(
        tf, lambda x, c: tf.pad(x, [[1, 2], [0, 1]], constant_values=c) ** 2, A, np.float32(2.0)
    ),
    "reverse": lambda tf: [
        tf.reverse(A, [0]),
        tf.reverse(A, [-1]),
        tf.reverse(B, [0, 2]),
        tf.reverse(A, tf.constant([1])),
        tf.reverse([1, 2, 3], axis=[0]),
        tf.reverse(A, []),
    ],
    "reverse scalar": lambda tf: tf.reverse(A, 0),
    "reverse far": lambda tf: tf.reverse(A, [2]),
    "reverse twice": lambda tf: tf.reverse(A, [0, 0]),
    "reverse gradient": lambda tf: grad(tf, lambda x: tf.reverse(x, [1]) ** 2, A),
    "reverse_sequence": lambda tf: [
        tf.reverse_sequence(A, [2, 3], seq_axis=1, batch_axis=0),
        tf.reverse_sequence(B, [1, 0, 2], seq_axis=0, batch_axis=1),
        tf.reverse_sequence(B, np.array([3, 2]), 1),
        grad(tf, lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0) ** 2, A),
    ],
    "reverse_sequence far": lambda tf: tf.reverse_sequence(A, [2, 4], seq_axis=1),
    "roll": lambda tf: [
        tf.roll(V, 2, 0),
        tf.roll(A, shift=1, axis=1),
        tf.roll(A, [1, -1], [0, 1]),
        tf.roll(A, shift=[1, 1], axis=[1, 1]),
        tf.roll(V, -7, axis=-1),
        grad(tf, lambda x: tf.roll(x, [1, 2], [0, 1]) ** 2, A),
    ],
    "roll far": lambda tf: tf.roll(A, 1, 2),
    "roll lengths": lambda tf: tf.roll(A, [1, 2], 0),
    "roll scalar": lambda tf: tf.roll(1.0, 1, 0),
    "broadcast": lambda tf: [
        tf.broadcast_to([1.0, 2.0, 3.0], [2, 3]),
        tf.broadcast_to(1, (2, 2)),
        tf.broadcast_to([[1], [2]], tf.constant([3, 2, 2])),
        tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])),
        tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([3])),
        tf.broadcast_static_shape(tf.TensorShape([None, 2]), tf.TensorShape([4, 1])),
        tf.broadcast_static_shape(tf.TensorShape(None), tf.TensorShape([3])),
        tf.broadcast_dynamic_shape([2, 1], [3]),
        tf.broadcast_dynamic_shape(tf.constant([2, 1], tf.int64), tf.constant([1, 5], tf.int64)),
        grad(tf, lambda x: tf.broadcast_to(x, [2, 2, 3]) ** 2, A),
    ],
    "broadcast bad": lambda tf: tf.broadcast_to([1.0, 2.0], [3]),
    "broadcast fewer": lambda tf: tf.broadcast_to(A, [3]),
    "broadcast static bad": lambda tf: tf.broadcast_static_shape(
        tf.TensorShape([2]), tf.TensorShape([3])
    ),
    "broadcast dynamic bad": lambda tf: tf.broadcast_dynamic_shape([2], [3]),
    "identity": lambda tf: [
        tf.identity([1.0, 2.0]),
        tf.identity(tf.Variable(3.0)),
        tf.identity_n([tf.constant(1.0), tf.constant(2)]),
        tf.ensure_shape(A, [2, 3]),
        tf.ensure_shape(A, [None, 3]),
        tf.ensure_shape(A, tf.TensorShape(None)),
        tf.guarantee_const(1.0),
        grad(tf, lambda x: tf.identity(x) ** 2, A),
        grad(tf, lambda x: tf.ensure_shape(x, [2, None]) ** 2, A),
        grad(tf, lambda x: [v * 2 for v in tf.identity_n([x, x])], A),
    ],
    "ensure_shape bad": lambda tf: tf.ensure_shape(A, [3, None]),
    "ensure_shape rank": lambda tf: tf.ensure_shape(A, [2]),
    "space and depth": lambda tf: [
        tf.nn.depth_to_space(tf.reshape(tf.range(32.0), [1, 2, 2, 8]), 2),
        tf.nn.space_to_depth(tf.reshape(tf.range(32.0), [1, 4, 4, 2]), 2),
        tf.space_to_batch(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]]),
        tf.space_to_batch(tf.reshape(tf.range(8.0), [2, 4]), [3], [[1, 1]]),
        tf.nn.space_to_batch(
            tf.reshape(tf.range(30.0), [1, 3, 5, 2]), tf.constant([2, 3]), [[1, 0], [0, 1]]
        ),
        tf.space_to_batch_nd(
            tf.reshape(tf.range(24.0), [1, 2, 3, 4]), [2, 1, 2], [[0, 0], [0, 0], [1, 1]]
        ),
        tf.batch_to_space(tf.reshape(tf.range(16.0), [4, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]),
        tf.batch_to_space(tf.reshape(tf.range(36.0), [6, 2, 3]), [3], [[1, 2]]),
        tf.batch_to_space(tf.reshape(tf.range(16.0), [4, 2, 2, 1]), 2, [[0, 1], [1, 0]]),
        grad(
            tf,
            lambda x: tf.space_to_batch(x, [2, 2], [[1, 0], [0, 1]]) ** 2,
            np.arange(9.0).reshape(1, 3, 3, 1),
        ),
        grad(tf, lambda x: tf.nn.space_to_depth(x, 2) ** 2, np.arange(16.0).reshape(1, 4, 4, 1)),
    ],
    "depth_to_space bad": lambda tf: tf.nn.depth_to_space(tf.zeros([1, 2, 2, 3]), 2),
    "space_to_depth bad": lambda tf: tf.nn.space_to_depth(tf.zeros([1, 3, 2, 3]), 2),
    "space_to_depth rank": lambda tf: tf.nn.space_to_depth(tf.zeros([3, 2, 3]), 2),
    "space_to_batch bad": lambda tf: tf.space_to_batch(
        tf.zeros([1, 3, 3, 1]), [2, 2], [[0, 0]] * 2
    ),
    "batch_to_space bad": lambda tf: tf.batch_to_space(
        tf.zeros([3, 3, 3, 1]), [2, 2], [[0, 0]] * 2
    ),
}

MAKING = {
    "zeros and ones": lambda tf: [
        tf.zeros([2, 3]),
        tf.zeros(3),
        tf.zeros([]),
        tf.zeros((2,), tf.int32),
        tf.zeros([2, 2], dtype="float64"),
        tf.zeros(tf.constant([2, 1])),
        tf.zeros(tf.TensorShape([1, 2])),
        tf.zeros(tf.constant(2)),
        tf.zeros([1], tf.bool),
        tf.zeros([tf.constant(2), 3]),
        tf.zeros(np.int64(2)),
        tf.zeros(tf.shape(A), tf.complex64),
        tf.ones([2, 3]),
        tf.ones(3, tf.int64),
        tf.ones([2], dtype=np.float64),
        tf.ones([0]),
        tf.ones([1], tf.bool),
        tf.zeros_like(A),
        tf.zeros_like([1, 2]),
        tf.zeros_like(A, tf.int32),
        tf.zeros_like(3.0),
        tf.zeros_like(tf.Variable(A)),
        tf.ones_like(A),
        tf.ones_like([True, False]),
        tf.ones_like(A, dtype="int64"),
        tf.ones_like([[1.0], [2.0]]),
    ],
    "zeros negative": lambda tf: tf.zeros([-1]),
    "zeros float": lambda tf: tf.zeros([2.0]),
    "zeros dtype": lambda tf: tf.zeros([2], "nothing"),
    "zeros None": lambda tf: tf.zeros(None),
    "zeros_like gradient": lambda tf: grad(tf, lambda x: tf.zeros_like(x) + tf.ones_like(x), A),
    "fill": lambda tf: [
        tf.fill([2, 3], 9),
        tf.fill([2], 1.5),
        tf.fill([], 2.0),
        tf.fill(tf.constant([1, 2]), tf.constant(3.0, tf.float64)),
        tf.fill((2,), True),
        tf.fill([2], np.float64(2.0)),
        grad(tf, lambda x: tf.fill([2, 2], x) ** 2, np.float32(3.0)),
    ],
    "fill vector": lambda tf: tf.fill([2], [1.0]),
    "fill scalar dims": lambda tf: tf.fill(2, 1.0),
    "eye": lambda tf: [
        tf.eye(3),
        tf.eye(2, 3),
        tf.eye(2, batch_shape=[2]),
        tf.eye(2, num_columns=1, batch_shape=[1, 2], dtype=tf.float64),
        tf.eye(2, dtype=tf.int32),
        tf.linalg.eye(2),
        tf.eye(tf.constant(2)),
        tf.eye(0),
    ],
    "range": lambda tf: [
        tf.range(5),
        tf.range(2, 7),
        tf.range(2, 10, 3),
        tf.range(10, 0, -3),
        tf.range(3.0),
        tf.range(0, 1, 0.25),
        tf.range(0.0, 1.0, 0.1),
        tf.range(5, dtype=tf.float32),
        tf.range(tf.constant(4)),
        tf.range(tf.constant(4, tf.int64)),
        tf.range(0, tf.constant(3.0)),
        tf.range(start=1, limit=4),
        tf.range(start=1, limit=4, delta=2),
        tf.range(0),
        tf.range(3, 3),
        tf.range(np.int64(3)),
        tf.range(np.float64(3)),
        tf.range(1, 5, dtype=tf.int64),
        tf.range(2, dtype="float64"),
        tf.range(tf.constant(0), tf.constant(3, tf.int64)),
        tf.range(1.0, -1.0, -0.5),
        tf.range(tf.shape(A)[1]),
    ],
    "range wrong way": lambda tf: tf.range(5, 2),
    "range no step": lambda tf: tf.range(5, 2, 0),
    "range vector": lambda tf: tf.range([1, 2]),
    "range float as int": lambda tf: tf.range(0, 2.5, dtype=tf.int32),
    "linspace": lambda tf: [
        tf.linspace(0.0, 1.0, 5),
        tf.linspace(0, 10, 5),
        tf.linspace(0.0, 1, 4),
        tf.linspace([0.0, 5.0], [10.0, 40.0], 5),
        tf.linspace([0.0, 5.0], [10.0, 40.0], 5, axis=-1),
        tf.linspace([[0.0], [5.0]], 10.0, 3, axis=1),
        tf.linspace(2.0, 3.0, 1),
        tf.linspace(2.0, 3.0, 2),
        tf.linspace(tf.constant(0.0, tf.float64), 1.0, num=tf.constant(3)),
        tf.linspace(1.0, -1.0, 4),
        grad(tf, lambda a, b: tf.linspace(a, b, 5) ** 2, np.float32(1.0), np.float32(2.0)),
        grad(tf, lambda a, b: tf.linspace(a, b, 1) ** 2, np.float32(1.0), np.float32(2.0)),
    ],
    "linspace none": lambda tf: tf.linspace(0.0, 1.0, 0),
    "linspace negative": lambda tf: tf.linspace(0.0, 1.0, -1),
    "linspace dtypes": lambda tf: tf.linspace(0, 1.5, 3),
    "meshgrid": lambda tf: [
        tf.meshgrid([1, 2, 3], [4, 5]),
        tf.meshgrid([1.0, 2.0], [4.0, 5.0, 6.0], indexing="ij"),
        tf.meshgrid([1.0, 2.0], [3.0], [5.0, 6.0]),
        tf.meshgrid([1.0, 2.0]),
        tf.meshgrid(3.0, [1.0, 2.0]),
        grad(tf, lambda x, y: tf.meshgrid(x, y), V, V[:2]),
    ],
    "meshgrid indexing": lambda tf: tf.meshgrid([1], [2], indexing="zz"),
    "meshgrid dtypes": lambda tf: tf.meshgrid([1], [2.0]),
    "sequence_mask": lambda tf: [
        tf.sequence_mask([1, 3, 2]),
        tf.sequence_mask([1, 3, 2], 5),
        tf.sequence_mask([[1, 3], [2, 0]], maxlen=2),
        tf.sequence_mask([1, 2], dtype=tf.float32),
        tf.sequence_mask(3),
        tf.sequence_mask(tf.constant([0, 2], tf.int64), tf.constant(3)),
    ],
    "one_hot": lambda tf: [
        tf.one_hot([0, 2, 1], 3),
        tf.one_hot([0, 2, -1, 5], 3),
        tf.one_hot([[0, 1], [1, 0]], 2, axis=0),
        tf.one_hot([0, 1], 2, on_value=5.0, off_value=-1.0),
        tf.one_hot([0, 1], 2, on_value=5, off_value=-1),
        tf.one_hot([0, 1], 3, dtype=tf.int32),
        tf.one_hot([0, 1], 3, on_value=2, dtype=tf.int32),
        tf.one_hot([0, 1], 3, on_value=True, off_value=False, dtype=tf.bool),
        tf.one_hot(1, 3),
        tf.one_hot(tf.constant([1], tf.int64), tf.constant(2), axis=1),
        tf.one_hot([0, 1], 2, off_value=0.5),
        tf.one_hot([0, 1], 2, on_value=2, dtype=tf.float64),
    ],
    "one_hot float": lambda tf: tf.one_hot([0.0, 1.0], 2),
    "one_hot dtypes": lambda tf: tf.one_hot([0], 2, on_value=1.5, off_value=0),
    "one_hot negative": lambda tf: tf.one_hot([0], -1),
    "one_hot gradient": lambda tf: grad(tf, lambda x: tf.one_hot([1, 0], 2) * x, np.float32(2.0)),
}

PLACES = {
    "gather": lambda tf: [
        tf.gather(A, [1, 0, 1]),
        tf.gather(A, 1),
        tf.gather(A, [[0, 1], [1, 1]]),
        tf.gather(A, [2, 0], axis=1),
        tf.gather(A, [[2, 0], [1, 1]], axis=-1),
        tf.gather(B, [[2, 0], [1, 1]], batch_dims=1),
        tf.gather(B, [[2, 0], [1, 1]], axis=1, batch_dims=1),
        tf.gather(B, [[3], [1]], axis=2, batch_dims=1),
        tf.gather(B, [[[0, 1], [2, 3], [1, 1]]] * 2, axis=2, batch_dims=2),
        tf.gather(B, [[3], [1]], axis=-1, batch_dims=-1),
        tf.gather([1, 2, 3], tf.constant([2], tf.int64)),
        tf.gather(tf.Variable(A), [1]),
        tf.gather(A, np.array([0])),
        tf.gather(A, tf.constant([], tf.int32)),
        tf.gather(A, [0], axis=tf.constant(1)),
        tf.gather(V, [[0, 4], [1, 1]]),
    ],
    "gather far": lambda tf: tf.gather(A, [2]),
    "gather negative": lambda tf: tf.gather(A, [-1]),
    "gather axis": lambda tf: tf.gather(A, [0], axis=2),
    "gather float": lambda tf: tf.gather(A, [0.0]),
    "gather scalar": lambda tf: tf.gather(3.0, 0),
    "gather batch": lambda tf: tf.gather(A, [0, 1, 2], batch_dims=1),
    "gather batch far": lambda tf: tf.gather(A, [0, 1], batch_dims=2),
    "gather gradient": lambda tf: grad(tf, lambda x: tf.gather(x, [1, 0, 1]) ** 2, A),
    "gather gradient int64": lambda tf: grad(
        tf, lambda x: tf.gather(x, tf.constant([1], tf.int64)) ** 2, A
    ),
    "gather gradient deep": lambda tf: grad(tf, lambda x: tf.gather(x, [[1, 0], [0, 0]]) ** 2, V),
    "gather gradient scalar": lambda tf: grad(tf, lambda x: tf.gather(x, 1) ** 2, A),
    "gather gradient axis": lambda tf: grad(tf, lambda x: tf.gather(x, [1, 0, 1], axis=1) ** 2, A),
    "gather gradient batch": lambda tf: grad(
        tf, lambda x: tf.gather(x, [[3, 3], [1, 0]], axis=2, batch_dims=1) ** 2, B
    ),
    "gather gradient twice": lambda tf: grad(
        tf, lambda x: tf.gather(x, [1, 1]) * tf.gather(x, [0, 1]), A
    ),
    "gather gradient thrice": lambda tf: grad(
        tf, lambda x: tf.gather(x, [1, 1]) + tf.gather(x, [0, 0]) * 2 + tf.gather(x, [1, 0]) * 3, A
    ),
    "gather gradient of a distance": lambda tf: grad(
        tf,
        lambda x: tf.reduce_sum((tf.gather(x, [1, 0]) - tf.gather(x, [0, 0])) ** 2, axis=1),
        A,
    ),
    "gather gradient of two dtypes": lambda tf: grad(
        tf, lambda x: tf.gather(x, [1, 0]) * tf.gather(x, tf.constant([0, 0], tf.int64)), A
    ),
    "gather gradient and dense": lambda tf: grad(
        tf, lambda x: [tf.gather(x, [1, 1]) ** 2, x**3], A
    ),
    "gather gradient dense first": lambda tf: grad(
        tf, lambda x: [x**3, tf.gather(x, [1, 1]) ** 2], A
    ),
    "gather gradient behind": lambda tf: grad(tf, lambda x: tf.gather(x * 2, [1, 1]) ** 2, A),
    "gather gradient identity": lambda tf: grad(
        tf, lambda x: tf.gather(tf.identity(x), [1, 1]) ** 2, A
    ),
    "gather_nd": lambda tf: [
        tf.gather_nd(A, [[0, 1], [1, 2]]),
        tf.gather_nd(A, [[1], [0]]),
        tf.gather_nd(B, [[[0, 1]], [[1, 2]]]),
        tf.gather_nd(B, [0, 1, 2]),
        tf.gather_nd(B, [[[1], [0]], [[2], [2]]], batch_dims=1),
        tf.gather_nd(B, [[[1, 3]], [[2, 0]]], batch_dims=1),
        tf.gather_nd(tf.Variable(A), tf.constant([[1, 1]], tf.int64)),
        tf.gather_nd(A, [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]),
    ],
    "gather_nd far": lambda tf: tf.gather_nd(A, [[0, 3]]),
    "gather_nd negative": lambda tf: tf.gather_nd(A, [[-1, 0]]),
    "gather_nd deep": lambda tf: tf.gather_nd(A, [[0, 1, 0]]),
    "gather_nd gradient": lambda tf: [
        grad(tf, lambda x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]) ** 2, A),
        grad(tf, lambda x: tf.gather_nd(x, [[1], [1]]) ** 2, A),
        grad(tf, lambda x: tf.gather_nd(x, [[[1], [0]]]) ** 2, A),
        grad(tf, lambda x: tf.gather_nd(x, [[[1], [0]], [[2], [2]]], batch_dims=1) ** 2, B),
    ],
    "boolean_mask": lambda tf: [
        tf.boolean_mask(V, [True, False, True, False, False]),
        tf.boolean_mask(A, [True, False]),
        tf.boolean_mask(A, [False, True, True], axis=1),
        tf.boolean_mask(A, A > 2),
        tf.boolean_mask(B, [[True, False, True], [False, False, True]]),
        tf.boolean_mask(B, np.array([[True] * 4] * 3), axis=1),
        tf.boolean_mask([1, 2], [False, False]),
        grad(tf, lambda x: tf.boolean_mask(x, x > 2) ** 2, A),
        grad(tf, lambda x: tf.boolean_mask(x, [True, False]) ** 2, A),
    ],
    "boolean_mask shapes": lambda tf: tf.boolean_mask(A, [True, False, True]),
    "boolean_mask scalar": lambda tf: tf.boolean_mask(A, True),
    "where": lambda tf: [
        tf.where([[True, False], [True, True]]),
        tf.where([0, 3, 0, 1]),
        tf.where([False, False]),
        tf.where(A > 2, A, -A),
        tf.where([True, False, True], A, 0.0),
        tf.where([[True], [False]], 1, [5, 6, 7]),
        tf.where(True, 1.0, 2.0),
        tf.where(tf.constant(A) > 2, tf.constant(A), 0),
        tf.where([True, False], 1, 2),
        tf.where(tf.constant(A) > 2, np.float64(0.0), tf.constant(A)),
    ],
    "where one": lambda tf: tf.where([True], 1.0),
    "where dtypes": lambda tf: tf.where([True], tf.constant(1.0), tf.constant(1)),
    "where shapes": lambda tf: tf.where([True, False], [1, 2, 3], [1, 2, 3]),
    "where number": lambda tf: tf.where([1, 0], [1.0, 2.0], [3.0, 4.0]),
    "where python dtypes": lambda tf: tf.where([True], 1, 2.5),
    "where gradient": lambda tf: grad(tf, lambda x, y: tf.where(x > 2, x**2, y), A, A[0]),
    "where gradient of NaN": lambda tf: grad(
        tf, lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), np.float32([0.0, 4.0])
    ),
    "where second gradient": lambda tf: [
        _second(tf, lambda x: tf.where(x > 2, (tf.sqrt(x) - 2.0) ** 2, x)),
        _second(tf, lambda x: tf.where(x > 2, x**3, 1.0 / x)),
    ],
    "where gradient of division": lambda tf: grad(
        tf, lambda x: tf.where(x > 0, 1.0 / x, x), np.float32([0.0, 4.0])
    ),
    "where gradient safe": lambda tf: grad(
        tf, lambda x: tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0), np.float32([0.0, 4.0])
    ),
    "scatter_nd": lambda tf: [
        tf.scatter_nd([[1], [3], [1]], [9.0, 10.0, 11.0], [5]),
        tf.scatter_nd(tf.constant([[0, 1], [1, 0]]), [1, 2], tf.constant([2, 2])),
        tf.scatter_nd([[0], [1]], A, [3, 3]),
        tf.scatter_nd([[[0], [2]]], [[[1.0], [2.0]]], [3, 1]),
        grad(tf, lambda u: tf.scatter_nd([[1], [0], [1]], u, [4]) ** 2, V[:3]),
    ],
    "scatter_nd far": lambda tf: tf.scatter_nd([[5]], [1.0], [3]),
    "scatter_nd shapes": lambda tf: tf.scatter_nd([[0]], [1.0, 2.0], [3]),
    "tensor_scatter": lambda tf: [
        tf.tensor_scatter_nd_update(V, [[1], [3]], [9.0, 10.0]),
        tf.tensor_scatter_nd_update(A, [[1]], [[7.0, 8.0, 9.0]]),
        tf.tensor_scatter_nd_update(A, [[0, 2], [1, 0]], [7.0, 8.0]),
        tf.tensor_scatter_nd_add(V, [[1], [1]], [9.0, 10.0]),
        tf.tensor_scatter_nd_sub(V, [[1], [1]], [9.0, 10.0]),
        tf.tensor_scatter_nd_max(V, [[1], [1], [0]], [9.0, 10.0, 0.0]),
        tf.tensor_scatter_nd_min(V, [[1], [1], [0]], [9.0, -10.0, 5.0]),
        tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [9]),
        tf.tensor_scatter_nd_add(tf.Variable([1, 2]), tf.constant([[1]], tf.int64), [5]),
        tf.tensor_scatter_nd_max([1, 2], [[0]], [5]),
    ],
    "tensor_scatter far": lambda tf: tf.tensor_scatter_nd_update(V, [[5]], [1.0]),
    "tensor_scatter negative": lambda tf: tf.tensor_scatter_nd_add(V, [[-1]], [1.0]),
    "tensor_scatter shapes": lambda tf: tf.tensor_scatter_nd_update(V, [[1]], [1.0, 2.0]),
    "tensor_scatter dtypes": lambda tf: tf.tensor_scatter_nd_update(V, [[1]], tf.constant([1])),
    "tensor_scatter gradient": lambda tf: [
        grad(tf, lambda x, u: tf.tensor_scatter_nd_update(x, [[1], [3]], u) ** 2, V, V[:2]),
        grad(tf, lambda x, u: tf.tensor_scatter_nd_add(x, [[1], [1]], u) ** 2, V, V[:2]),
        grad(tf, lambda x, u: tf.tensor_scatter_nd_sub(x, [[1], [1]], u) ** 2, V, V[:2]),
        grad(tf, lambda x, u: tf.tensor_scatter_nd_max(x, [[1], [0], [2]], u) ** 2, V, V[:3]),
        grad(tf, lambda x, u: tf.tensor_scatter_nd_min(x, [[0], [0], [2]], u) ** 2, V, V[:3]),
        grad(tf, lambda x, u: tf.tensor_scatter_nd_update(x, [[0, 1]], u) ** 2, A, V[:1]),
    ],
    "dynamic": lambda tf: [
        tf.dynamic_partition(V, [0, 1, 0, 1, 1], 2),
        tf.dynamic_partition(A, [1, 1], 3),
        tf.dynamic_partition(A, [[0, 1, 0], [1, 1, 0]], num_partitions=2),
        tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]]),
        tf.dynamic_stitch([6, [4, 1], [[5, 2], [0, 3]]], [61, [41, 11], [[51, 21], [1, 31]]]),
        tf.dynamic_stitch([[0, 1], [1]], [A, A[:1]]),
        grad(tf, lambda x: [p**2 for p in tf.dynamic_partition(x, [0, 1, 0, 1, 1], 2)], V),
        grad(tf, lambda x, y: tf.dynamic_stitch([[0, 2], [1]], [x, y]) ** 2, V[:2], V[:1]),
    ],
    "dynamic far": lambda tf: tf.dynamic_partition(V, [0, 1, 0, 1, 2], 2),
    "dynamic shapes": lambda tf: tf.dynamic_partition(V, [0, 1], 2),
    "positions": lambda tf: [
        tf.unravel_index([5, 2], [2, 3]),
        tf.unravel_index(4, dims=[2, 3]),
        tf.math.invert_permutation([3, 4, 0, 2, 1]),
    ],
    "invert_permutation bad": lambda tf: tf.math.invert_permutation([0, 0]),
    "unravel_index far": lambda tf: tf.unravel_index([6], [2, 3]),
    "sort": lambda tf: [
        tf.sort(V),
        tf.sort(V, direction="DESCENDING"),
        tf.sort(A, axis=0, direction="DESCENDING"),
        tf.sort(N, axis=1),
        tf.sort(B, axis=1),
        tf.sort([3, 1, 2]),
        tf.argsort(V),
        tf.argsort(V, direction="DESCENDING"),
        tf.argsort(N, axis=0),
        tf.argsort(N, axis=-1, direction="DESCENDING", stable=True),
        tf.argsort([3, 1, 1, 2]),
        grad(tf, lambda x: tf.sort(x) ** 2, V),
        grad(tf, lambda x: tf.sort(x, axis=0, direction="DESCENDING") ** 2, A),
    ],
    "sort direction": lambda tf: tf.sort(V, direction="UP"),
    "sort far": lambda tf: tf.sort(V, axis=1),
    "sort scalar": lambda tf: tf.sort(1.0),
    "top_k": lambda tf: [
        tf.math.top_k(V, 2),
        tf.nn.top_k(A, k=1),
        tf.math.top_k(N, 2),
        tf.math.top_k(V),
        tf.math.top_k(V, k=tf.constant(3)).indices,
        tf.math.top_k(V, 5).values,
        tf.math.top_k(V, 0),
        tf.math.top_k(V, 2, index_type=tf.int64),
        grad(tf, lambda x: tf.math.top_k(x, 2)[0] ** 2, V),
        grad(tf, lambda x: tf.math.top_k(x, 2).values ** 2, A),
    ],
    "top_k many": lambda tf: tf.math.top_k(V, 6),
    "top_k scalar": lambda tf: tf.math.top_k(1.0, 1),
    "in_top_k": lambda tf: [
        tf.math.in_top_k([0, 1, 2], [[0.1, 0.9, 0.3], [0.5, 0.5, 0.1], [0.3, 0.2, 0.1]], 1),
        tf.nn.in_top_k([0, 5], [[0.1, 0.9, 0.3], [0.5, 0.5, 0.1]], k=2),
        tf.math.in_top_k([0, 1], [[0.1, np.nan, 0.3], [0.5, np.inf, 0.1]], 3),
    ],
    "unique": lambda tf: [
        tf.unique([3, 1, 3, 2, 1]),
        tf.unique([3.0, 1.0, 3.0], out_idx=tf.int64),
        tf.unique([3, 1]).y,
        tf.unique_with_counts([3, 1, 3, 2, 1]),
        tf.unique_with_counts([3, 1, 3]).count,
        tf.unique(tf.constant([], tf.float32)),
    ],
    "unique matrix": lambda tf: tf.unique(A),
    "unique gradient": lambda tf: grad(tf, lambda x: tf.unique(x)[0] ** 2, V),
    "searchsorted": lambda tf: [
        tf.searchsorted([1, 3, 5], [0, 1, 4, 6]),
        tf.searchsorted([1.0, 3.0, 5.0], [1.0, 3.0], side="right"),
        tf.searchsorted([[1, 3], [2, 4]], [[2, 3, 4], [1, 2, 5]]),
        tf.searchsorted([1, 3, 5], [4], out_type=tf.int64),
    ],
    "searchsorted side": lambda tf: tf.searchsorted([1], [1], side="middle"),
    "searchsorted shapes": lambda tf: tf.searchsorted([[1, 3], [2, 4]], [1, 2]),
    "get_static_value": lambda tf: [
        tf.get_static_value(tf.constant([1.0, 2.0])),
        tf.get_static_value(np.array(3)),
    ],
}

SLICING = {
    "slice": lambda tf: [
        tf.slice(A, [0, 1], [1, 2]),
        tf.slice(A, [1, 0], [-1, -1]),
        tf.slice(A, tf.constant([0, 0]), tf.constant([2, 1])),
        tf.slice(V, [1], size=[0]),
        tf.slice(V, (2,), (3,)),
        grad(tf, lambda x: tf.slice(x, [0, 1], [2, 1]) ** 2, A),
    ],
    "slice far": lambda tf: tf.slice(A, [0, 1], [1, 3]),
    "slice short": lambda tf: tf.slice(A, [0], [1]),
    "slice negative": lambda tf: tf.slice(A, [-1, 0], [1, 1]),
    "strided_slice": lambda tf: [
        tf.strided_slice(B, [0, 0, 0], [2, 3, 4], [1, 2, 3]),
        tf.strided_slice(V, [1], [4]),
        tf.strided_slice(V, [-1], [-4], [-1]),
        tf.strided_slice(V, [0], [3], begin_mask=1, end_mask=1),
        tf.strided_slice(B, [1, 0], [2, 2], ellipsis_mask=2),
        tf.strided_slice(B, [0, 1, 0], [0, 2, 0], new_axis_mask=1),
        tf.strided_slice(B, [1, 0], [2, 3], shrink_axis_mask=1),
        tf.strided_slice(B, [0, 0, 2], [1, 1, 3], ellipsis_mask=2, shrink_axis_mask=5),
        tf.strided_slice(B, [0, 1], [-1, -1], end_mask=2),
        grad(tf, lambda x: tf.strided_slice(x, [0, 2], [2, 0], [1, -1]) ** 2, A),
    ],
    "strided_slice far": lambda tf: tf.strided_slice(V, [7], [8], shrink_axis_mask=1),
    "strided_slice no step": lambda tf: tf.strided_slice(V, [0], [2], [0]),
    "index": lambda tf: [
        (
            lambda x: [
                x[0],
                x[-1],
                x[0, 1],
                x[0][1],
                x[1:],
                x[:, 1],
                x[:, ::2],
                x[:, ::-1],
                x[..., 0],
                x[tf.newaxis],
                x[:, None],
                x[None, ..., None],
                x[0:1, -2:],
                x[5:],
                x[-1::-1, 2::-2],
                x[tf.constant(1)],
                x[tf.constant(0), 1:],
                x[: tf.constant(1)],
                x[np.int64(1)],
                x[tf.constant(1, tf.int64)],
                x[[0, 1]],
                x[()],
                x[...],
                x[1, ..., 1:],
                x[x > 2],
                x[tf.constant([True, False])],
                x[slice(0, 1)],
                x[tf.range(1)[0]],
            ]
        )(tf.constant(A))
    ],
    "index B": lambda tf: [
        (lambda x: [x[1, 2, 3], x[..., -1, :], x[:, 1:2, ::3], x[1, ..., None], x[None, 1, None]])(
            tf.constant(B)
        )
    ],
    "index far": lambda tf: tf.constant(A)[2],
    "index far negative": lambda tf: tf.constant(A)[-3],
    "index too many": lambda tf: tf.constant(A)[0, 0, 0],
    "index float": lambda tf: tf.constant(A)[1.0],
    "index string": lambda tf: tf.constant(A)["a"],
    "index list": lambda tf: tf.constant(A)[[[0, 1]]],
    "index vector": lambda tf: tf.constant(A)[tf.constant([0, 1])],
    "index array": lambda tf: tf.constant(A)[np.array([0, 1])],
    "index scalar": lambda tf: tf.constant(1.0)[0],
    "index no step": lambda tf: tf.constant(A)[::0],
    "index bool": lambda tf: tf.constant(A)[True],
    "index float tensor": lambda tf: tf.constant(A)[tf.constant(1.0)],
    "index two ellipses": lambda tf: tf.constant(A)[..., ..., 0],
    "index scalar ellipsis": lambda tf: [tf.constant(1.0)[...], tf.constant(1.0)[None]],
    "set item": lambda tf: operator.setitem(tf.constant(A), 0, 1.0),
    "index gradient": lambda tf: [
        grad(tf, lambda x: x[0] ** 2, A),
        grad(tf, lambda x: x[:, ::-2] ** 2, A),
        grad(tf, lambda x: x[1, 2] ** 2, A),
        grad(tf, lambda x: [r**2 for r in x], A),
        grad(tf, lambda x: x[..., None, 1] ** 2, A),
        grad(tf, lambda x: x[x > 2] ** 2, A),
        grad(tf, lambda x: x[5:] ** 2, A),
    ],
    "iterate": lambda tf: [
        list(tf.constant(A)),
        list(tf.constant([1, 2])),
        [a + b for a, b in tf.constant([[1, 2], [3, 4]])],
        len(tf.constant(A)),
        list(tf.zeros([0, 2])),
        list(zip(tf.constant([1, 2]), tf.constant([3.0, 4.0]), strict=True)),
    ],
    "iterate scalar": lambda tf: list(tf.constant(1.0)),
    "len scalar": lambda tf: len(tf.constant(1.0)),
    "unpack": lambda tf: (lambda a, b: [a, b])(*tf.constant(A)),
    "in": lambda tf: 2.0 in tf.constant([1.0, 2.0]),
}

CLIPS = {
    "clip_by_value": lambda tf: [
        tf.clip_by_value(A, 2.0, 4.0),
        tf.clip_by_value([1, 5, 9], 2, 6),
        tf.clip_by_value(A, [1.0, 2.0, 3.0], 4.0),
        tf.clip_by_value(A, 2, 4),
        tf.clip_by_value([np.nan, 1.0], 2.0, 4.0),
        tf.clip_by_value(A, clip_value_min=tf.constant(2.0), clip_value_max=5.0),
        tf.clip_by_value([1.0], 5.0, 3.0),
        grad(tf, lambda x: tf.clip_by_value(x, 2.0, 4.0), A),
        grad(tf, lambda x, a, b: tf.clip_by_value(x, a, b), A, np.float32(2.0), np.float32(4.0)),
    ],
    "clip_by_value of infinity": lambda tf: grad(
        tf, lambda x: tf.clip_by_value(tf.math.log(x), -5.0, 5.0), np.float32([0.0, 1.0])
    ),
    "clip_by_value inside": lambda tf: grad(
        tf, lambda x: tf.math.log(tf.clip_by_value(x, 1e-3, 1.0)), np.float32([0.0, 0.5, 1.0])
    ),
    "clip_by_value shapes": lambda tf: tf.clip_by_value([1.0, 2.0], [[1.0], [2.0]], 3.0),
    "clip_by_value misfit": lambda tf: tf.clip_by_value([1.0, 2.0], [1.0, 2.0, 3.0], 3.0),
    "clip_by_value dtypes": lambda tf: tf.clip_by_value([1, 2], 1.5, 3),
    "clip_by_norm": lambda tf: [
        tf.clip_by_norm(A, 2.0),
        tf.clip_by_norm(A, 100.0),
        tf.clip_by_norm(A, 2.0, axes=[1]),
        tf.clip_by_norm(A, 2.0, axes=0),
        tf.clip_by_norm(tf.zeros([2]), 1.0),
        tf.clip_by_norm(A, [[1.0], [2.0]], axes=1),
        tf.clip_by_norm(A, 5),
        tf.clip_by_norm(B, 0.5),
        grad(tf, lambda x: tf.clip_by_norm(x, 2.0), A),
        grad(tf, lambda x: tf.clip_by_norm(x, 200.0), A),
        grad(tf, lambda x: tf.clip_by_norm(x, 2.0), np.zeros(2, np.float32)),
        grad(tf, lambda x, c: tf.clip_by_norm(x, c, 1), A, np.float32(5.0)),
    ],
    "clip_by_norm int": lambda tf: tf.clip_by_norm([1, 2], 1),
    "clip_by_global_norm": lambda tf: [
        tf.clip_by_global_norm([tf.constant(A), tf.constant(V)], 3.0),
        tf.clip_by_global_norm([tf.constant(A), None], 300.0),
        tf.clip_by_global_norm([tf.constant(A)], 3.0, use_norm=tf.constant(6.0)),
        tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 3.0),
        tf.clip_by_global_norm((tf.zeros([2]),), 1.0),
        tf.clip_by_global_norm([A, V], 1),
        tf.linalg.global_norm([tf.constant(A), None, tf.constant(V)]),
        tf.linalg.global_norm([B]),
        grad(tf, lambda x, y: tf.linalg.global_norm([x, y]), A, V),
        grad(tf, lambda x, y: tf.clip_by_global_norm([x, y], 2.0)[0], A, V),
    ],
    "clip_by_global_norm slices": lambda tf: tf.clip_by_global_norm(
        [tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([4, 2]))], 1.0
    ),
    "clip_by_global_norm tensor": lambda tf: tf.clip_by_global_norm(tf.constant(A), 3.0),
    "clip_by_global_norm None": lambda tf: tf.clip_by_global_norm([None], 3.0),
    "global_norm tensor": lambda tf: tf.linalg.global_norm(tf.constant(A)),
}


VALUES = {
    "constant float as int": lambda tf: tf.constant(1.5, tf.int32),
    "constant complex as float": lambda tf: tf.constant(1j, tf.float32),
    "constant int as bool": lambda tf: tf.constant(1, tf.bool),
    "constant bool as int": lambda tf: tf.constant(True, tf.int32),
    "constant bool as float": lambda tf: tf.constant(True, tf.float32),
    "constant mixed bool": lambda tf: tf.constant([True, 1]),
    "constant ragged": lambda tf: tf.constant([[1, 2], [3]]),
    "constant None": lambda tf: tf.constant(None),
    "constant None inside": lambda tf: tf.constant([1.0, None]),
    "constant too large": lambda tf: tf.constant(2**63),
    "constant too large for int32": lambda tf: tf.constant(2**31, tf.int32),
    "constant too large for uint8": lambda tf: tf.constant(256, tf.uint8),
    "constant negative unsigned": lambda tf: tf.constant(-1, tf.uint8),
    "constant shape": lambda tf: tf.constant([1.0, 2.0, 3.0], shape=[2]),
    "constant shape fewer": lambda tf: tf.constant([1.0, 2.0], shape=[2, 2]),
    "constant dtype": lambda tf: tf.constant(1.0, "nothing"),
    "constant object": lambda tf: tf.constant(object()),
    "constant dict": lambda tf: tf.constant({"a": 1}),
    "constant function": lambda tf: tf.constant(lambda: 1),
    "constant tensors inside": lambda tf: tf.constant([tf.constant(1.0), tf.constant(2.0)]),
    "convert": lambda tf: [
        tf.convert_to_tensor([1, 2]),
        tf.convert_to_tensor(1.5, tf.float64),
        tf.convert_to_tensor(1.5, dtype_hint=tf.float64),
        tf.convert_to_tensor(1.5, dtype_hint=tf.int32),
        tf.convert_to_tensor(np.array([1.0])),
        tf.convert_to_tensor(np.array([1.0]), tf.float32),
        tf.convert_to_tensor(tf.Variable([1.0])),
        tf.convert_to_tensor([tf.constant(1.0), 2.0]),
        tf.convert_to_tensor([tf.constant([1.0, 2.0]), [3, 4]]),
        tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]]),
        tf.convert_to_tensor([1, tf.constant(2.0)]),
        tf.convert_to_tensor((tf.Variable(1.0), 2.0)),
        tf.convert_to_tensor(tf.TensorShape([2, 3])),
        tf.convert_to_tensor([np.float64(1.0), tf.constant(2.0, tf.float64)]),
        tf.convert_to_tensor(
            tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([1, 1]), tf.constant([3, 1]))
        ),
        tf.convert_to_tensor([1, 2], dtype="float32"),
        tf.convert_to_tensor([]),
        tf.convert_to_tensor([], tf.int32),
        tf.convert_to_tensor([True]),
    ],
    "convert dtype of tensor": lambda tf: tf.convert_to_tensor(tf.constant(1.0), tf.float64),
    "convert dtype of variable": lambda tf: tf.convert_to_tensor(tf.Variable(1.0), tf.int32),
    "convert mixed": lambda tf: tf.convert_to_tensor([tf.constant(1.0), tf.constant(2)]),
    "convert shapes": lambda tf: tf.convert_to_tensor([tf.constant([1.0]), tf.constant(2.0)]),
    "convert None": lambda tf: tf.convert_to_tensor(None),
    "convert unknown shape": lambda tf: tf.convert_to_tensor(tf.TensorShape([None, 3])),
    "convert slices without shape": lambda tf: tf.convert_to_tensor(
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    ),
    "convert packed gradient": lambda tf: grad(
        tf, lambda x, y: tf.convert_to_tensor([[x[0], y], [y, 2.0]]) ** 2, V, np.float32(3.0)
    ),
    "tensor": lambda tf: [
        (
            lambda x: [
                x.shape,
                x.dtype,
                x.ndim,
                x.numpy(),
                x.get_shape(),
                x.set_shape([2, 3]),
                x.shape == (2, 3),
                x.shape == [2, 3],
                x.shape != (2, 3),
                tuple(x.shape),
                x.shape[0],
                x.shape.as_list(),
                x.dtype == tf.float32,
                x.dtype == "float32",
                x.dtype == np.float32,
                x.ref() == x.ref(),
                hash(x.ref()) == hash(x.ref()),
                x.ref().deref() is x,
                np.asarray(x),
                np.array(x, dtype=np.float64),
                np.sum(x),
                np.square(x),
                tf.is_tensor(x),
                isinstance(x, tf.Tensor),
                tf.is_tensor(1.0),
                tf.is_tensor(tf.Variable(1.0)),
                x.dtype.name,
                len(x),
                x.device.rpartition("/")[2],
                x.experimental_ref() == x.ref(),
            ]
        )(tf.constant(A))
    ],
    "tensor as number": lambda tf: [
        float(tf.constant(1.5)),
        int(tf.constant(3)),
        int(tf.constant(3.7)),
        bool(tf.constant(True)),
        bool(tf.constant(0.0)),
        complex(tf.constant(1j)),
        [1, 2, 3][tf.constant(1)],
        round(float(tf.constant(1.26)), 1),
        list(range(tf.constant(3))),
        f"{tf.constant(1.5):.2f}",
        f"{tf.constant(3)}",
        f"{tf.constant(1.1)}",
        "%.3f" % tf.constant(1.5),
        tf.constant(3).numpy() + 1,
        tf.constant(1.0).numpy().dtype,
        bool(tf.constant([1])),
    ],
    "bool of many": lambda tf: bool(tf.constant([1, 2])),
    "float of many": lambda tf: float(tf.constant([1.0, 2.0])),
    "index of float": lambda tf: [1, 2][tf.constant(1.0)],
    "hash": lambda tf: hash(tf.constant(1.0)),
    "set_shape": lambda tf: tf.constant(A).set_shape([3, 2]),
    "tensor reshape": lambda tf: tf.constant(A).reshape([6]),
    "tensor T": lambda tf: tf.constant(A).T,
    "tensor astype": lambda tf: tf.constant(A).astype("float64"),
    "tensor name": lambda tf: tf.constant(A).name,
    "tensor assign": lambda tf: tf.constant(A).assign(A),
    "new tensor": lambda tf: hasattr(tf.constant(1.0), "assign_add"),
    "deep copy": lambda tf: (
        lambda copy: [
            copy.deepcopy(tf.constant(A)),
            copy.copy(tf.constant(A)),
            copy.deepcopy(tf.Variable(A)),
        ]
    )(__import__("copy")),
}

SHOWN = {
    f"print {name}": (lambda make: lambda tf: [repr(make(tf)), str(make(tf)), f"{make(tf)}"])(make)
    for name, make in {
        "float": lambda tf: tf.constant(1.1),
        "double": lambda tf: tf.constant(1.1, tf.float64),
        "half": lambda tf: tf.constant(1.1, tf.float16),
        "int": lambda tf: tf.constant(3),
        "bool": lambda tf: tf.constant(True),
        "complex": lambda tf: tf.constant(1 + 2j),
        "complex64": lambda tf: tf.constant(1.1 + 2j, tf.complex64),
        "uint8": lambda tf: tf.constant(3, tf.uint8),
        "nan": lambda tf: tf.constant(float("nan")),
        "inf": lambda tf: tf.constant([float("inf"), 1.0]),
        "vector": lambda tf: tf.constant(V),
        "doubles": lambda tf: tf.constant([1.0, 2.5], tf.float64),
        "ints": lambda tf: tf.constant([1, 2, 3]),
        "int64s": lambda tf: tf.constant([1, 2], tf.int64),
        "bools": lambda tf: tf.constant([True, False]),
        "complexes": lambda tf: tf.constant([1 + 2j, 3j]),
        "matrix": lambda tf: tf.constant(A),
        "three axes": lambda tf: tf.constant(B),
        "one row": lambda tf: tf.constant([[1.0, 2.0]]),
        "one column": lambda tf: tf.constant([[1], [2]]),
        "empty": lambda tf: tf.constant([]),
        "empty matrix": lambda tf: tf.zeros([0, 3]),
        "empty ints": lambda tf: tf.zeros([2, 0], tf.int32),
        "long": lambda tf: tf.range(40),
        "longer": lambda tf: tf.range(1500),
        "many floats": lambda tf: tf.linspace(0.0, 1.0, 30),
        "one": lambda tf: tf.constant([1.0]),
        "one deep": lambda tf: tf.constant([[[1.0]]]),
        "variable": lambda tf: tf.Variable(1.1),
        "variable vector": lambda tf: tf.Variable(V),
        "variable matrix": lambda tf: tf.Variable(A, name="w"),
        "variable ints": lambda tf: tf.Variable([1, 2], name="n", trainable=False),
        "variable empty": lambda tf: tf.Variable(tf.zeros([0, 2])),
        "shape": lambda tf: tf.TensorShape([1, None, 3]),
        "shape one": lambda tf: tf.TensorShape([2]),
        "shape none": lambda tf: tf.TensorShape([]),
        "shape unknown": lambda tf: tf.TensorShape(None),
        "dtype": lambda tf: tf.float32,
        "dtype bool": lambda tf: tf.bool,
        "dtype complex": lambda tf: tf.complex128,
        "slices": lambda tf: str(
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
        ),
        "numpy": lambda tf: tf.constant(A).numpy(),
        "list of tensors": lambda tf: [tf.constant(1.0), tf.constant([1, 2])],
    }.items()
}

KINDS = {
    "dtype": lambda tf: [
        [
            d.name,
            d.size,
            d.is_floating,
            d.is_integer,
            d.is_complex,
            d.is_bool,
            d.is_unsigned,
            d.is_numpy_compatible,
            d.is_numeric,
            d.is_quantized,
            d.as_numpy_dtype.__name__,
            d.real_dtype.name,
            d.base_dtype.name,
        ]
        for d in (
            tf.float16,
            tf.float32,
            tf.float64,
            tf.int8,
            tf.int32,
            tf.int64,
            tf.uint8,
            tf.uint32,
            tf.bool,
            tf.complex64,
            tf.complex128,
        )
    ],
    "dtype limits": lambda tf: (
        [
            [float(d.min), float(d.max)]
            for d in (tf.float16, tf.float32, tf.float64, tf.int8, tf.uint16)
        ]
        + [tf.int32.limits, tf.uint8.limits, tf.int64.max]
    ),
    "dtype bool limits": lambda tf: tf.bool.max,
    "dtype complex limits": lambda tf: tf.complex64.max,
    "dtype equality": lambda tf: [
        tf.float32 == tf.float32,
        tf.float32 == "float32",
        tf.float32 == np.float32,
        tf.float32 == np.dtype("float32"),
        tf.float32 != tf.float64,
        tf.float32 is None,
        tf.half is tf.float16,
        tf.double == tf.float64,
        {tf.float32: 1}[tf.float32],
        tf.int32 == int,
        tf.float32 == float,
        tf.bool == bool,
        tf.float32 == "nothing",
        tf.float32.is_compatible_with("float32"),
        tf.float32.is_compatible_with(tf.float64),
    ],
    "as_dtype": lambda tf: [
        tf.as_dtype(v)
        for v in (
            "float32",
            "half",
            "double",
            "int64",
            np.float64,
            np.dtype("int8"),
            tf.int32,
            float,
            bool,
            np.complex64,
            "bool",
            "float",
        )
    ],
    "as_dtype bad": lambda tf: tf.as_dtype("nothing"),
    "as_dtype None": lambda tf: tf.as_dtype(None),
    "dtype call": lambda tf: tf.dtypes.as_dtype("float16"),
    "numpy of dtype": lambda tf: [
        np.zeros(2, tf.float32.as_numpy_dtype),
        np.dtype(tf.int32.as_numpy_dtype),
    ],
    "numpy takes dtype": lambda tf: np.zeros(2, tf.float32).dtype.name,
    "shape": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.ndims,
                s.as_list(),
                s.num_elements(),
                s.is_fully_defined(),
                list(s),
                len(s),
                s[0],
                s[-1],
                s[1:],
                s[:1],
                s.concatenate([4]),
                s + [5],
                [1] + s,
                s + (None,),
                s == [2, 3],
                s == (2, 3),
                s == tf.TensorShape([2, 3]),
                s != [2, 4],
                s == [2, None],
                s == None,
                s.is_compatible_with([2, None]),
                s.is_compatible_with([2, 4]),
                s.is_compatible_with(None),
                s.merge_with([None, 3]),
                s.with_rank(2),
                s.with_rank_at_least(1),
                s.with_rank_at_most(3),
                s.assert_has_rank(2),
                s.assert_is_fully_defined(),
                s.assert_same_rank([1, 1]),
                s.most_specific_compatible_shape([2, 5]),
                bool(s),
                hash(s) == hash(tf.TensorShape([2, 3])),
                2 in s,
                tuple(s),
                s.is_subtype_of(tf.TensorShape([2, None])),
                [*s, 7],
                int(s[0]) * 2,
            ]
        )(tf.TensorShape([2, 3]))
    ],
    "shape unknown": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.num_elements(),
                s.is_fully_defined(),
                bool(s),
                s.concatenate([2]),
                s.merge_with([2]),
                s == tf.TensorShape(None),
                s == None,
                s.with_rank(2),
                s.is_compatible_with([1]),
            ]
        )(tf.TensorShape(None))
    ],
    "shape partly": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.num_elements(),
                s.is_fully_defined(),
                s.as_list(),
                s[0],
                s[1],
                list(s),
                s == [None, 3],
                s == tf.TensorShape([None, 3]),
                s.merge_with([2, 3]),
                s[1:],
                s.most_specific_compatible_shape([4, 3]),
            ]
        )(tf.TensorShape([None, 3]))
    ],
    "shape made": lambda tf: [
        tf.TensorShape(3),
        tf.TensorShape((2, 3)),
        tf.TensorShape([np.int64(2)]),
        tf.TensorShape(tf.TensorShape([1])),
        tf.TensorShape([]).num_elements(),
        tf.TensorShape([]).rank,
        tf.TensorShape([0]).num_elements(),
        bool(tf.TensorShape([])),
    ],
    "shape list of unknown": lambda tf: tf.TensorShape(None).as_list(),
    "shape len of unknown": lambda tf: len(tf.TensorShape(None)),
    "shape merge": lambda tf: tf.TensorShape([2]).merge_with([3]),
    "shape rank": lambda tf: tf.TensorShape([2]).with_rank(2),
    "shape rank at least": lambda tf: tf.TensorShape([2]).with_rank_at_least(2),
    "shape rank at most": lambda tf: tf.TensorShape([2, 2]).with_rank_at_most(1),
    "shape assert": lambda tf: tf.TensorShape([2]).assert_is_compatible_with([3]),
    "shape assert defined": lambda tf: tf.TensorShape([None]).assert_is_fully_defined(),
    "shape far": lambda tf: tf.TensorShape([2])[3],
    "shape string": lambda tf: tf.TensorShape("ab"),
    "shape negative": lambda tf: tf.TensorShape([-1]),
    "shape very negative": lambda tf: tf.TensorShape([-2]),
    "shape float": lambda tf: tf.TensorShape([2.5]),
    "slices": lambda tf: [
        (
            lambda s: [
                s.values,
                s.indices,
                s.dense_shape,
                s.shape,
                s.dtype,
                -s,
                tf.convert_to_tensor(s),
                tf.convert_to_tensor(s) * 2,
            ]
        )(
            tf.IndexedSlices(
                values=tf.constant([[1.0, 2.0], [3.0, 4.0]]),
                indices=tf.constant([0, 2]),
                dense_shape=tf.constant([3, 2]),
            )
        )
    ],
    "slices no shape": lambda tf: [
        (lambda s: [s.values, s.indices, s.dense_shape])(
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
        )
    ],
}


def _after(tf, value, change, **options):
    v = tf.Variable(value, **options)
    result = change(v)
    return [v.numpy(), result if result is None else tf.identity(result)]


VARIABLES = {
    "variable": lambda tf: [
        (
            lambda v: [
                v.shape,
                v.dtype,
                v.name,
                v.trainable,
                v.numpy(),
                v.value(),
                v.read_value(),
                v + 1.0,
                v.get_shape(),
                v[0],
                v[1:, 0],
                -v,
                v @ tf.transpose(v) if hasattr(tf, "matmul") else 0,
                v * v,
                2.0 * v,
                v / 2.0,
                v > 2.0,
                abs(v),
                v**2,
                [r.numpy() for r in v],
                v.ref() == v.ref(),
                v.ref().deref() is v,
                v.constraint,
                isinstance(v, tf.Variable),
                isinstance(v, tf.Tensor),
                tf.is_tensor(v),
                np.array(v),
                v == v,
                v.sparse_read([1]),
                v.gather_nd([[0, 1]]),
                v.initial_value if False else 0,
                v.device.rpartition("/")[2],
                v.ndim if hasattr(v, "ndim") else "none",
            ]
        )(tf.Variable(A))
    ],
    "variable made": lambda tf: [
        (lambda v: [v.numpy(), v.name, v.trainable, v.dtype, v.shape])(tf.Variable(*a, **k))
        for a, k in [
            ((3.0,), {}),
            (([1, 2],), {}),
            ((1,), {"dtype": tf.float32}),
            ((1.0, False), {}),
            ((lambda: tf.ones([2]),), {}),
            ((lambda: 2.0,), {"dtype": tf.float64}),
            ((A,), {"name": "weights"}),
            ((tf.constant(2.0),), {}),
            ((tf.Variable(1.5),), {}),
            ((np.float64(2.0),), {}),
            (([1.0, 2.0],), {"shape": [2]}),
            ((True,), {}),
            ((1.0,), {"name": "a/b"}),
            (([],), {}),
            (((1.0, 2.0),), {"trainable": True}),
            (([tf.constant(1.0), 2.0],), {}),
            ((1.0,), {"shape": tf.TensorShape(None)}),
            (([1.0],), {"shape": [None]}),
            ((np.zeros((2, 0)),), {}),
        ]
    ],
    "variable nothing": lambda tf: tf.Variable(),
    "variable None": lambda tf: tf.Variable(None),
    "variable dtype": lambda tf: tf.Variable(tf.constant(1.0), dtype=tf.float64),
    "variable float as int": lambda tf: tf.Variable(1.5, dtype=tf.int32),
    "variable wrong shape": lambda tf: tf.Variable([1.0, 2.0], shape=[3]),
    "variable constraint": lambda tf: [
        (lambda v: v.constraint(v))(tf.Variable([-1.0, 2.0], constraint=lambda x: x * 2))
    ],
    "assign": lambda tf: [
        _after(tf, A, lambda v: v.assign(A * 2)),
        _after(tf, A, lambda v: v.assign_add(A)),
        _after(tf, A, lambda v: v.assign_sub(A * 3)),
        _after(tf, 1.0, lambda v: v.assign(2)),
        _after(tf, 1.0, lambda v: v.assign_add(1)),
        _after(tf, [1.0, 2.0], lambda v: v.assign(tf.constant([3.0, 4.0]))),
        _after(tf, 1, lambda v: v.assign_add(2)),
        _after(tf, 1.0, lambda v: v.assign(tf.Variable(5.0))),
        _after(tf, [1.0, 2.0], lambda v: v.assign(v * 2)),
        _after(tf, 1.0, lambda v: v.assign(np.float64(2.5))),
        _after(tf, 1.0, lambda v: v.assign_add(1.0).assign_add(2.0)),
        _after(tf, [1.0], lambda v: v.assign([1.0, 2.0]), shape=[None]),
        _after(tf, 1.0, lambda v: v.assign([[1.0, 2.0]]), shape=tf.TensorShape(None)),
        _after(tf, [1.0, 2.0], lambda v: v.assign_add(1.0)) if False else 0,
    ],
    "assign shape": lambda tf: tf.Variable([1.0]).assign([1.0, 2.0]),
    "assign scalar to vector": lambda tf: tf.Variable([1.0, 2.0]).assign(1.0),
    "assign_add shape": lambda tf: tf.Variable([1.0, 2.0]).assign_add([1.0, 2.0, 3.0]),
    "assign_add scalar to vector": lambda tf: _after(tf, [1.0, 2.0], lambda v: v.assign_add(1.0)),
    "assign dtype": lambda tf: tf.Variable([1.0]).assign(tf.constant([1])),
    "assign float to int": lambda tf: tf.Variable(1).assign(1.5),
    "assign_add dtype": lambda tf: tf.Variable(1.0).assign_add(tf.constant(1)),
    "assign None": lambda tf: tf.Variable(1.0).assign(None),
    "assign nothing back": lambda tf: tf.Variable(1.0).assign(2.0, read_value=False),
    "set item": lambda tf: operator.setitem(tf.Variable(A), 0, 1.0),
    "in place operators": lambda tf: [
        (lambda v: operator.iadd(v, 1.0))(tf.Variable([1.0])),
        isinstance(operator.iadd(tf.Variable([1.0]), 1.0), tf.Variable),
    ],
    "assign parts": lambda tf: [
        _after(tf, A, lambda v: v[0].assign([7.0, 8.0, 9.0])),
        _after(tf, A, lambda v: v[0, 1].assign(7.0)),
        _after(tf, A, lambda v: v[:, 1:].assign(tf.zeros([2, 2]))),
        _after(tf, A, lambda v: v[1].assign_add([1.0, 1.0, 1.0])) if False else 0,
        _after(tf, V, lambda v: v[1:3].assign([0.0, 0.0])),
        _after(tf, V, lambda v: v[::2].assign([1.0, 2.0, 3.0])),
        _after(tf, A, lambda v: v[..., 0].assign([5.0, 6.0])),
        _after(tf, V, lambda v: v[tf.constant(1)].assign(5.0)),
        _after(tf, V, lambda v: v[::-1].assign(V)),
        _after(tf, A, lambda v: v[0].assign(0.0)) if False else 0,
    ],
    "assign part shape": lambda tf: tf.Variable(A)[0].assign([1.0, 2.0]),
    "assign part scalar": lambda tf: _after(tf, A, lambda v: v[0].assign(0.0)),
    "assign_add part": lambda tf: tf.Variable(A)[0].assign_add([1.0, 1.0, 1.0]),
    "scatter": lambda tf: [
        _after(
            tf,
            A,
            lambda v, how=how: getattr(v, how)(
                tf.IndexedSlices(
                    tf.constant([[1.0, 2.0, 4.0], [2.0, 2.0, 8.0]]), tf.constant([1, 1])
                ),
            ),
        )
        for how in (
            "scatter_add",
            "scatter_sub",
            "scatter_update",
            "scatter_mul",
            "scatter_div",
            "scatter_max",
            "scatter_min",
        )
    ],
    "scatter int": lambda tf: _after(
        tf, [1, 2, 3], lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([5]), tf.constant([1])))
    ),
    "scatter not slices": lambda tf: tf.Variable(A).scatter_add(A),
    "scatter far": lambda tf: tf.Variable(A).scatter_add(
        tf.IndexedSlices(tf.constant([[1.0, 2.0, 3.0]]), tf.constant([5]))
    ),
    "scatter_nd": lambda tf: [
        _after(tf, V, lambda v: v.scatter_nd_add([[1], [1]], [1.0, 2.0])),
        _after(tf, V, lambda v: v.scatter_nd_sub([[1], [2]], [1.0, 2.0])),
        _after(tf, V, lambda v: v.scatter_nd_update([[1], [2]], [7.0, 8.0])),
        _after(tf, A, lambda v: v.scatter_nd_update([[1, 0]], [7.0])),
        _after(tf, A, lambda v: v.scatter_nd_add([[1]], [[7.0, 8.0, 9.0]])),
    ],
    "scatter_nd far": lambda tf: tf.Variable(V).scatter_nd_add([[7]], [1.0]),
    "batch_scatter_update": lambda tf: _after(
        tf,
        A,
        lambda v: v.batch_scatter_update(
            tf.IndexedSlices(tf.constant([[7.0], [8.0]]), tf.constant([[0], [2]]))
        ),
    ),
    "equality": lambda tf: [
        (lambda v: [v == 1.0, v != 1.0, v is v, [v][0] is v])(tf.Variable([1.0, 2.0]))
    ],
    "hash": lambda tf: hash(tf.Variable(1.0)),
    "gradient": lambda tf: [
        (
            lambda v, w: (lambda tape, y: tape.gradient(y, [v, w]))(
                *_recorded(tf, lambda: v[0] * tf.constant(2.0) + w.value() * v.read_value())
            )
        )(tf.Variable(V), tf.Variable(3.0))
    ],
    "gradient of gather": lambda tf: [
        (
            lambda v: (lambda tape, y: tape.gradient(y, v))(
                *_recorded(tf, lambda: tf.gather(v, [1, 0, 1]) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: tape.gradient(y, v))(
                *_recorded(tf, lambda: v.sparse_read([1, 0]) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: tape.gradient(y, v))(
                *_recorded(tf, lambda: tf.gather(v, [1, 0], axis=1) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: tape.gradient(y, v))(
                *_recorded(tf, lambda: tf.gather_nd(v, [[1], [0]]) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: tape.gradient(y, v))(
                *_recorded(tf, lambda: tf.gather(v.value(), [[1, 0]]) ** 2)
            )
        )(tf.Variable(A)),
    ],
    "apply a gradient": lambda tf: [
        (
            lambda v: (lambda tape, y: _after(tf, A, lambda w: w.scatter_sub(tape.gradient(y, v))))(
                *_recorded(tf, lambda: tf.gather(v, [1, 0, 1]) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: _after(tf, A, lambda w: w.assign_sub(tape.gradient(y, v))))(
                *_recorded(tf, lambda: tf.gather(v, [1, 0, 1]) ** 2)
            )
        )(tf.Variable(A)),
        (
            lambda v: (lambda tape, y: tf.convert_to_tensor(tape.gradient(y, v)) * 2.0)(
                *_recorded(tf, lambda: tf.gather(v, [1, 0, 1]) ** 2)
            )
        )(tf.Variable(A)),
    ],
    "second order": lambda tf: [_second(tf, lambda x: tf.gather(x, [1, 0, 1]) ** 3)],
    "second order where": lambda tf: [_second(tf, lambda x: tf.where(x > 2, x**3, x))],
    "second order sort": lambda tf: [
        _second(tf, lambda x: tf.sort(x, direction="DESCENDING") ** 3)
    ],
    "jacobian": lambda tf: [
        (lambda v: (lambda tape, y: tape.jacobian(y, v))(*_recorded(tf, lambda: f(tf, v) ** 2)))(
            tf.Variable(V)
        )
        for f in (
            lambda tf, v: tf.gather(v, [1, 0, 1]),
            lambda tf, v: tf.where(v > 1, v, 2 * v),
            lambda tf, v: tf.reverse(v, [0])[1:],
        )
    ],
}


def _recorded(tf, f):
    with tf.GradientTape(persistent=True) as tape:
        y = f()
    return tape, y


def _second(tf, f):
    x = tf.constant(A)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = tf.convert_to_tensor(inner.gradient(y, x))
    return g, outer.gradient(g, x)


#: programs of one expression
LINES = r"""
tf.constant(1)
tf.constant(1.5)
tf.constant(True)
tf.constant(1 + 2j)
tf.constant([1, 2.5])
tf.constant([1, 2.5, 3j])
tf.constant([])
tf.constant([[], []])
tf.constant([[1, 2], [3, 4]], tf.float64)
tf.constant(2**31)
tf.constant(-(2**31))
tf.constant(2**31 - 1)
tf.constant([1, 2**40])
tf.constant(np.float64(1.5))
tf.constant([np.float64(1.5), np.float64(2.5)])
tf.constant([np.float32(1.5), 2.0])
tf.constant([np.int64(1), np.int64(2)])
tf.constant([np.int32(1), 2])
tf.constant(np.int64(3))
tf.constant(np.array([1, 2]))
tf.constant(np.array([1.0, 2.0]))
tf.constant(np.array([True, False]))
tf.constant(np.bool_(True))
tf.constant([np.bool_(True), False])
tf.constant([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
tf.constant([np.array([1, 2]), [3, 4]])
tf.constant(range(3))
tf.constant((1, 2))
tf.constant(np.float16(1.5))
tf.constant(np.uint8(3))
tf.constant(tf.constant([1.0]))
tf.constant(tf.Variable([1.0]))
tf.constant(tf.constant([1.0]), tf.float64)
tf.constant([1.0, 2.0], shape=[2, 1])
tf.constant(3, shape=[2, 2])
tf.constant([3.0], shape=(2,))
tf.constant(1, dtype="float32")
tf.constant(1, dtype=np.float64)
tf.constant(1.0, dtype=tf.complex64)
tf.constant(True, tf.bool)
tf.constant([1, 2], tf.uint8)
tf.constant(np.array([1.5, 2.5]), tf.float32)
tf.constant(np.array([1.5, 2.5]), tf.int32)
tf.constant(np.array([1, 2]), tf.float32)
tf.constant(float("inf"))
tf.constant(np.zeros((0, 3)))
tf.constant([1e400, 1.0])
tf.constant([[True], [False]])
tf.constant([1.5,3j])
tf.constant([2**40, 1.5])
tf.constant([np.float64(1.5), 2.0])
tf.constant([2.0, np.float64(1.5)])
tf.constant([1, np.float64(1.5)])
tf.constant([np.int64(1), 2])
tf.constant([1, np.int64(1)])
tf.constant([np.int32(1), 2.5])
tf.constant([np.uint8(1), np.uint8(2)])
tf.constant([np.float16(1)])
tf.constant([[3,4], np.array([1, 2])])
tf.constant([np.array([1.,2.],np.float32), [3.5, 4]])
tf.constant([range(2),range(2)])
tf.constant([np.array(1.0), np.array(2.0)])
tf.constant(np.array([1j]), tf.float32)
tf.constant(np.float64(1.5), tf.int32)
tf.constant(np.int64(1), tf.float32)
tf.constant(np.array([True]), tf.float32)
tf.constant([tf.constant([1.0,2.0])])
tf.constant([tf.constant([1.0,2.0]), [3.,4.]])
tf.constant([tf.Variable(1.0), 2.0])
tf.constant([np.array(3), 1])
tf.constant(2**64)
tf.constant(2**63, tf.uint64)
tf.constant([2**63])
tf.constant(2**31, tf.float32)
tf.constant([True, 1.0])
tf.constant([1, True])
tf.constant(True, tf.float32)
tf.constant([1.0, True])
tf.constant(1.0, tf.float16)
tf.constant([[1,2],3])
tf.constant([1,[2,3]])
tf.constant({1,2})
tf.constant(1e39, tf.float32)
tf.constant(3, shape=[])
tf.constant([], shape=[0,2])
tf.constant([[1,2],[3,4]], shape=[4])
tf.constant([1.,2.], tf.float64, [1,2])
tf.as_dtype(bool)
tf.as_dtype(complex)
tf.as_dtype(float)
tf.zeros([2], int)
tf.zeros([2], float)
tf.cast([1.5], int)
tf.cast([1], float)
tf.TensorShape([2,3]).most_specific_compatible_shape([2,5])
tf.TensorShape([2,3]).is_subtype_of(tf.TensorShape([2,None]))
tf.TensorShape([2,3]).most_specific_compatible_shape([2])
tf.TensorShape([2,3]) == 5
tf.TensorShape([2,3]) == None
tf.TensorShape([2]) == 2
f"{tf.Variable(1.0):.2f}"
f"{tf.constant([1.0]):.2f}"
tf.Variable([1.,2.,3.])[1:].assign(5.0)
tf.Variable([1.0]).initial_value
tf.Variable([1.0]).set_shape([1])
tf.Variable([1.0]).is_initialized()
tf.Variable([1.0]).ndim
tf.Variable(1.0, trainable=None).trainable
tf.Variable([1,2]).trainable
tf.Variable(1.0).gather_nd([[0]])
tf.Variable([1.0]).assign([2.0], read_value=False)
tf.Variable([1.0]).scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0], tf.int64)))
tf.Variable([1.,2.]).scatter_nd_min([[0]],[-5.])
tf.Variable([1.,2.]).scatter_nd_update([[0]],[[5.]])
tf.Variable([1.,2.]).scatter_update(tf.IndexedSlices([5.], [0]))
tf.Variable([[1.,2.]]).scatter_update(tf.IndexedSlices(tf.constant([5.]), tf.constant([0])))
tf.Variable([[1.,2.]]).scatter_add(tf.IndexedSlices(tf.constant(5.), tf.constant([0])))
tf.Variable([1.,2.])[tf.constant([True,False])].assign([1.])
tf.Variable([1.,2.])[None].assign([[3.,4.]])
tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))*2
tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))+1.0
tf.constant(1.0)+tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])).numpy()
tf.reduce_sum(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])))
tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])).name
tf.convert_to_tensor([1, 2.5])
tf.convert_to_tensor([1, tf.constant(2.0)])
tf.convert_to_tensor([1.5, tf.constant(2)])
tf.convert_to_tensor([[1.0, 2.0], [tf.constant(2.0, tf.float64), 2]])
tf.convert_to_tensor([np.float64(1.0), tf.constant(2.0)])
tf.convert_to_tensor([tf.constant(2.0), np.float64(1.0)])
tf.convert_to_tensor([tf.constant([1.,2.]), 3.0])
tf.convert_to_tensor([tf.constant(1.0)], tf.float64)
tf.convert_to_tensor(tf.constant(1), dtype_hint=tf.float32)
tf.convert_to_tensor(np.array([1.0]), dtype_hint=tf.float32)
tf.constant(1.0)._rank()
tf.constant([1,2]).shape.ndims
tf.constant(1.0).graph
tf.constant([1.0]).cpu()
tf.constant([3,1]).size
np.float32(2)*tf.constant(3.5)
np.array([1.,2.])*tf.constant([3.5,1.],tf.float64)
np.array([1.,2.])*tf.constant([3.5,1.])
tf.constant([1,2])==tf.constant([1,2,3])
tf.constant([1,2])=="a"
tf.constant(1.0) in [tf.constant(1.0)]
tf.where(tf.constant([1,0]), tf.constant([1.,2.]), tf.constant([1.,2.]))
tf.repeat(tf.constant([[1,2]]), [[1,2]], axis=1)
tf.one_hot([0,1], 2, dtype=tf.float32, on_value=1, off_value=0)
tf.one_hot([0,1], 2, 1, 0)
tf.broadcast_to([1.,2.], 2)
tf.slice([1.,2.], 0, 1)
tf.roll([1.,2.], [[1]], [[0]])
tf.transpose([[1.,2.]], 0)
tf.expand_dims([1.,2.], [0])
tf.expand_dims([1.,2.], [0,1])
tf.squeeze([[1.,2.]], [])
tf.squeeze([[1.,2.]], tf.constant(0))
tf.stack([[1,2],[3]])
tf.stack([1, 2.5])
tf.stack([2.5, 1])
tf.stack([[1.0, tf.constant(2.0)], [3, 4]])
tf.concat([[1.0, tf.constant(2.0)], [3, 4]], 0)
tf.concat([tf.constant(1.0)], 0)
tf.concat([[1.0]], 5)
tf.tile([[1.,2.]], [2.0, 1.0])
tf.pad([[1,2]], [[1,1]])
tf.pad([1.,2.], [[1,1]], constant_values=[1.0])
tf.pad([1.,2.], [1,1])
tf.fill([2.0], 1)
tf.eye(-1)
tf.eye(2.0)
tf.eye(2, batch_shape=2)
tf.range(tf.constant([1,2]))
tf.range(np.float32(3))
tf.range(0, 10, 2.5)
tf.range(3, delta=-1)
tf.gather([1,2,3], tf.constant(1))
tf.gather([[1,2],[3,4]], [[0],[1]], batch_dims=1)
tf.gather([[1,2],[3,4]], [True, False])
tf.gather([[1,2],[3,4]], [])
tf.boolean_mask([[1,2],[3,4]], [1,0])
tf.boolean_mask([[1,2],[3,4]], [True,False], axis=5)
tf.where([1.5,0.0])
tf.sort([True, False])
tf.sort([1+2j, 3])
tf.sort(tf.constant([3,1,2],tf.uint8))
tf.argsort([np.nan,1.,2.])
tf.sort([np.nan,1.,2.])
tf.sort([np.nan,1.,2.],direction='DESCENDING')
tf.math.top_k([np.nan,1.,2.],2)
tf.unique([[1,2]])
tf.linspace([0.,1.],[1.,2.],3,axis=5)
tf.linspace(0.,1.,2.5)
tf.sequence_mask([1.5,2.0])
tf.sequence_mask([1,2], maxlen=-1)
tf.shape(None)
tf.size(None)
tf.clip_by_value([1.,2.], tf.constant(1), tf.constant(2))
tf.clip_by_value(tf.constant([1.,2.]), tf.constant(1), tf.constant(2))
tf.clip_by_value([1.,2.], None, 1.0)
tf.split([1.,2.,3.], [1,-1,-1])
tf.split([1.,2.,3.], 3.0)
tf.unstack([[1,2]], axis=-3)
tf.zeros([2,3.5])
tf.zeros('a')
tf.ones_like(None)
tf.identity(None)
tf.reverse([1,2],[0.0])
tf.meshgrid()
tf.scatter_nd([[0]], [1.0], 3)
tf.scatter_nd([0], [1.0], [3])
tf.scatter_nd([[-1]], [1.0], [3])
tf.scatter_nd([[0.0]], [1.0], [3])
tf.cast([-1.5], tf.uint8)
tf.tensor_scatter_nd_update([1.,2.], [[0],[0]], [5.,6.])
tf.Variable([1.,2.]).scatter_nd_max([[0]],[5.])
tf.stack(tf.unstack(tf.constant([[1.,2.],[3.,4.]]))[::-1])
tf.reshape(tf.transpose(tf.reshape(tf.range(24), [2,3,4]), [0,2,1]), [2,-1])
tf.concat([tf.expand_dims(tf.range(3), 1), tf.expand_dims(tf.range(3), 1)], axis=1)
tf.concat([tf.ones([2,1]), tf.zeros([2,2])], 1)
tf.concat([tf.Variable([1.0]), tf.constant([2.0])], 0)
tf.stack([tf.Variable(1.0), tf.Variable(2.0)])
tf.gather(tf.constant([10,20,30]), tf.argsort([3,1,2]))
tf.gather(tf.eye(3), [0, 2])
tf.reduce_sum(tf.one_hot([0,1,1], 2), axis=0)
tf.tensor_scatter_nd_update(tf.zeros([3,3]), tf.stack([tf.range(3), tf.range(3)], 1), tf.ones(3))
tf.scatter_nd(tf.expand_dims([0,2], 1), tf.constant([1.,2.]), tf.constant([4]))
tf.where(tf.equal(tf.constant([1,2,3]) % 2, 0))
tf.squeeze(tf.where(tf.constant([1,2,3]) > 1), 1)
tf.boolean_mask(tf.range(5), tf.range(5) % 2 == 0)
tf.range(5)[tf.newaxis, :] <= tf.range(3)[:, tf.newaxis]
tf.linspace(-1.0, 1.0, 5)[1:-1]
tf.cast(tf.linspace(0, 9, 4), tf.int32)
tf.pad(tf.ones([2, 2]), tf.constant([[1, 1], [1, 1]]), constant_values=-np.inf)
tf.pad(tf.constant([1.0]), [[0, 3 - 1]])
tf.split(tf.range(10), [3, 3, 4])[1]
tf.reverse(tf.range(4), axis=[0])[:2]
tf.tile(tf.constant([[1], [2]]), [1, 3])
tf.tile([1, 2], tf.constant([2]))
tf.repeat(tf.range(3), tf.range(3))
tf.meshgrid(tf.range(2), tf.range(3), indexing='ij')[0]
tf.stack(tf.meshgrid(tf.linspace(0., 1., 2), tf.linspace(0., 1., 3)), -1)
tf.shape(tf.zeros([2, 3]))[0].numpy()
tf.zeros(tf.concat([tf.shape(tf.zeros([2])), [3]], 0))
tf.fill(tf.shape(tf.ones([2, 2])), 0.5)
tf.zeros([tf.shape(tf.ones([2, 2]))[0], 4])
tf.ones([2] * 3).shape
tf.ones_like(tf.constant([1, 2]), dtype=tf.float32)
tf.eye(2) * tf.constant([[2.0], [3.0]])
tf.identity(3)
tf.constant(np.arange(6).reshape(2, 3), dtype=tf.float32)
tf.constant(np.arange(3), dtype=tf.int32)
tf.constant([[1.0, 2.0], [3.0, 4.0]]).shape.as_list()
tf.constant(1.0).shape.rank
tf.constant([1, 2, 3]).shape[0]
tf.constant([1.0, 2.0]).dtype.as_numpy_dtype
tf.searchsorted(tf.constant([0., 1., 2.]), tf.constant([0.5, 2.5]))
tf.math.top_k(tf.constant([[1., 3., 2.], [6., 5., 4.]]), k=2, sorted=False).values.shape
tf.sort(tf.constant([[3, 1], [2, 4]]), axis=0, direction='DESCENDING')
tf.unique(tf.constant([1.5, 1.5, 2.0]))
tf.unique_with_counts(tf.constant([3, 3, 1], tf.int64), tf.int64)
tf.broadcast_to(tf.constant([1.0, 2.0]), [3, 2])
tf.broadcast_to(tf.range(3), [2, 3])
tf.ensure_shape(tf.constant([1, 2]), (2,))
tf.clip_by_value(tf.range(5.0), 1, 3)
tf.clip_by_value(tf.constant([1, 5]), 2, 4)
tf.clip_by_norm(tf.constant([3.0, 4.0]), 1)
tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], tf.constant(1.0))[1]
tf.linalg.global_norm([])
tf.clip_by_global_norm([], 1.0)
tf.slice(tf.range(10), [2], [3])
tf.strided_slice(tf.range(10), [0], [10], [3])
tf.range(10)[2:8:3]
tf.range(10)[-3:]
tf.range(10)[tf.constant(2):tf.constant(5)]
tf.reshape(tf.range(8), [2,2,2])[..., 1]
tf.reshape(tf.range(8), [2,2,2])[1, :, 0]
tf.reshape(tf.range(8), [2,2,2])[:, tf.newaxis, ...].shape
tf.constant([[1,2],[3,4]])[0][1]
tf.constant([[1,2],[3,4]])[0, -1].numpy()
tf.constant([1.,2.,3.])[::-1]
tf.constant([1.,2.,3.])[3]
tf.constant([1.,2.,3.])[1:1]
tf.constant([1.,2.,3.])['x']
tf.constant([1.,2.,3.])[1.5:]
tf.constant([1.,2.,3.])[None, None].shape
tf.gather_nd(tf.constant([[1,2],[3,4]]), tf.constant([[0,0],[1,1]]))
tf.gather_nd([[1,2],[3,4]], [])
tf.gather_nd([[1,2],[3,4]], [[]])
tf.gather([1,2,3], [[0],[2]], axis=0)
tf.gather(tf.constant([[1,2],[3,4]]), tf.constant([1,0]), axis=1, batch_dims=1)
tf.gather(tf.constant([[1,2],[3,4]]), 0, axis=-1)
tf.gather(params=[1,2], indices=[1])
tf.gather([[1,2],[3,4]], tf.constant([[0,1],[1,0]]), axis=1, batch_dims=1)
tf.dynamic_partition([1,2,3], [0,0,1], 2)
tf.dynamic_partition([[1,2],[3,4]], [1,0], 2)
tf.dynamic_partition(tf.constant([1,2]), tf.constant([0.0, 1.0]), 2)
tf.transpose(tf.ones([2,3]))
tf.transpose(tf.ones([2,3,4]), perm=[0,2,1]).shape
tf.expand_dims(tf.expand_dims([1,2], 0), -1).shape
tf.squeeze(tf.ones([1,2,1])).shape
tf.squeeze(tf.ones([1,2,1]), axis=-1).shape
tf.squeeze(tf.ones([1,2,1]), axis=(0,2)).shape
tf.size(tf.ones([2,3])).numpy()
tf.rank(tf.ones([2,3])).numpy()
int(tf.size(tf.ones([2,3]))) + int(tf.rank([1]))
tf.cast(tf.constant([1.9, -1.9]), tf.int64)
tf.cast(tf.constant([0, 1, 2]), tf.bool)
tf.cast(tf.constant([1+1j]), tf.complex128)
tf.cast(True, tf.float32)
tf.cast(tf.constant([1, 2]), dtype='float16')
tf.cast(np.array([[1, 2]]), tf.float32)
tf.cast(3.7, 'int32')
tf.cast(x=[1], dtype=tf.float64)
tf.sequence_mask(tf.constant([2, 1]), 3, dtype=tf.int32)
tf.roll(tf.range(5), shift=2, axis=0)
tf.roll(tf.reshape(tf.range(6),[2,3]), shift=[1], axis=[1])
tf.nn.depth_to_space(tf.reshape(tf.range(4.0),[1,1,1,4]), 2)
tf.Variable(tf.zeros([2, 2]))
tf.Variable(np.ones(3)).dtype
tf.Variable([1, 2, 3]).assign([4, 5, 6])
tf.Variable(1.0).assign_add(2.5).numpy()
tf.Variable([[1.0]]) + tf.constant(1.0)
tf.Variable(2.0) ** 2
1.0 - tf.Variable(2.0)
tf.Variable([1.0, 2.0])[0]
tf.Variable([1.0, 2.0])[0].numpy() + 1
tf.Variable(3).numpy().dtype
tf.Variable(initial_value=[1.0], trainable=False, name='x').name
tf.Variable(lambda: tf.zeros([2])).shape
tf.Variable(tf.random.normal([2])).shape
tf.Variable([1.0]).value() + 1
float(tf.Variable(2.5))
int(tf.Variable(2))
bool(tf.Variable(True))
[1, 2, 3][tf.Variable(1)]
np.array(tf.Variable([1.0, 2.0])) * 2
np.sqrt(tf.Variable([4.0]))
len(tf.Variable([1.0, 2.0]))
[float(v) for v in tf.Variable([1.0, 2.0])]
tf.Variable([1.0]).assign(np.array([2.0]))
tf.Variable([1.0]).assign(tf.constant([2.0], tf.float64))
tf.Variable(np.array([1.0])).assign([2])
tf.Variable([1.0, 2.0]) == tf.Variable([1.0, 3.0])
tf.Variable(1.0) in [tf.Variable(1.0)]
tf.Variable([1, 2]) / 2
tf.Variable([5, 7]) // 2
tf.Variable([1.0]).shape == (1,)
str(tf.Variable([1.0, 2.0], name='v'))
repr(tf.Variable([[1, 2], [3, 4]], dtype=tf.int64))
tf.convert_to_tensor(tf.Variable([1.0]), dtype=tf.float32)
tf.is_tensor([1.0])
tf.is_tensor(tf.IndexedSlices(tf.constant([1.]), tf.constant([0])))
tf.TensorShape([1, 2]).as_list() + [3]
tf.TensorShape([1, 2]) + tf.TensorShape([3])
tf.TensorShape([None, 2]).is_compatible_with([5, 2])
list(tf.TensorShape([1, 2]))
tf.float32.is_floating and tf.int32.is_integer
tf.float32.name + tf.int64.name
tf.as_dtype('float32') is tf.float32
tf.as_dtype(np.int64) == tf.int64
tf.constant(5) // 2
tf.constant([1.0, 2.0]).numpy().sum()
tf.constant(1.0) == 1.0
tf.constant([1, 2]) != tf.constant([1, 3])
tf.reshape(tf.constant([1.0, 2.0]), (2, 1)) @ tf.reshape(tf.constant([3.0, 4.0]), (1, 2))
tf.get_static_value(tf.constant([1, 2])).tolist()
tf.get_static_value([1, 2])
tf.get_static_value(tf.Variable(1.0))
tf.parallel_stack([tf.constant([1.0]), tf.constant([2.0])])
tf.parallel_stack([1.0, 2.0])
tf.shape_n([tf.ones([1, 2])])
tf.bitcast(tf.constant(1.0), tf.int32).numpy()
tf.saturate_cast(300, tf.uint8)
tf.reverse_sequence([[1,2,3],[4,5,6]], [2,3], seq_axis=1)
tf.one_hot([[0, 2], [1, -1]], 3, axis=-1).shape
tf.one_hot(tf.constant(2), depth=4)
tf.one_hot([0], tf.constant(3), dtype=tf.bool)
tf.zeros([2, 2], tf.float32).numpy().tolist()
tf.zeros(shape=(1,), dtype=tf.dtypes.int32)
tf.zeros_like(tf.constant([[1.5]]), dtype=tf.int32)
tf.ones(tf.shape([1, 2, 3]))
tf.range(1, 10, 2, dtype=tf.float64)
tf.range(0.0)
tf.range(tf.constant(1.5), tf.constant(4.0))
tf.range(5, -1, -2)
tf.range(10, delta=3)
tf.range(limit=5, start=0)
tf.range(tf.Variable(3))
tf.linspace(0.0, 1.0, tf.constant(3))
tf.linspace(start=0.0, stop=1.0, num=3)
tf.linspace(np.float64(0), np.float64(1), 3)
tf.linspace(0.0, [1.0, 2.0], 3)
tf.meshgrid([1, 2], [3, 4], indexing='ij', name='grid')
tf.meshgrid([[1, 2]], [3])
tf.meshgrid([1], [2], foo=1)
tf.tensor_scatter_nd_add(tf.zeros([2, 2]), [[0], [0]], [[1., 1.], [2., 2.]])
tf.tensor_scatter_nd_sub(tensor=[1, 2], indices=[[0]], updates=[5])
tf.scatter_nd(indices=[[0]], updates=[1], shape=[2])
tf.scatter_nd([[0, 1]], [[1.0, 2.0]], [1, 2, 2])
tf.unravel_index([[3, 4]], [3, 3])
tf.math.invert_permutation(tf.constant([1, 0], tf.int64))
tf.dynamic_stitch([tf.constant([0, 1]), tf.constant([2])], [tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6]])])
tf.space_to_batch([[1.0, 2.0]], block_shape=[2], paddings=[[0, 0]])
tf.math.in_top_k(targets=[1], predictions=[[0.1, 0.2]], k=1)
tf.nn.in_top_k([1], [[1, 2]], 1)
tf.where(True)
tf.split([1.,2.,3.], tf.constant(3))
tf.as_dtype(int)
len(tf.Variable([1.0]))
float(tf.constant([1.5]))
tf.IndexedSlices(tf.constant([1.]), tf.constant([0]), tf.constant([2])) * 2.0
tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15], [0.0, 5.0], nbins=5)
tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15], [0.0, 5.0], nbins=5)
tf.histogram_fixed_width([[1, 2], [3, 4]], [0, 5], 5)
tf.histogram_fixed_width([1.0], [0.0, 5.0], 3, tf.int64)
tf.histogram_fixed_width_bins([0.5], [5.0, 0.0])
tf.histogram_fixed_width([1.0], [0.0, 5.0], 0)
tf.is_symbolic_tensor(tf.constant(1.0))
tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN).aggregation.name
tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).trainable
tf.Variable(1.0).synchronization.name
"""


def _all(*tables):
    return [pytest.param(program, id=name) for table in tables for name, program in table.items()]


@pytest.mark.parametrize(
    "program", _all(SHAPES, MAKING, PLACES, SLICING, CLIPS, VALUES, SHOWN, KINDS, VARIABLES)
)
@pytest.mark.filterwarnings("ignore")
def test_program(program):
    compare(program)


@pytest.mark.parametrize("line", LINES.strip().split("\n"))
@pytest.mark.filterwarnings("ignore")
def test_line(line):
    compare(lambda tf: eval(line, {"tf": tf, "np": np}))


# -- programs as people write them -----------------------------------------------------------------

WRITTEN = {}


def program(function):
    """Put a program into the table, by its name."""
    WRITTEN[function.__name__] = function
    return function


@program
def sliding_windows(tf):
    series = tf.range(10, dtype=tf.float32)
    windows = tf.stack([series[i : i + 4] for i in range(0, len(series) - 3, 2)])
    inputs, target = windows[:, :-1], windows[:, -1:]
    return inputs, target, windows.shape, f"{inputs.shape} {target.shape}"


@program
def one_hot_accuracy(tf):
    labels = tf.constant([2, 0, 1, 1])
    scores = tf.constant([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.9, 0.0, 0.1]])
    hot = tf.one_hot(labels, depth=scores.shape[-1], on_value=0.9, off_value=0.05)
    hits = tf.equal(tf.argmax(scores, axis=1, output_type=tf.int32), labels)
    print_ = str(tf.reduce_mean(tf.cast(hits, tf.float32)))
    return hot, hits, print_, -tf.reduce_sum(hot * tf.math.log(scores + 1e-7), axis=-1)


@program
def embedding_update(tf):
    table = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))
    ids = np.array([[1, 1], [3, 0]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, ids)
        loss = tf.reduce_sum(tf.reduce_mean(rows, axis=1) ** 2)
    grad = tape.gradient(loss, table)
    dense = tf.convert_to_tensor(grad)
    table.assign_sub(0.1 * dense)
    return grad, dense, table, loss


@program
def embedding_twice(tf):
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        a = tf.gather(table, [0, 1])
        b = tf.gather(table, [1, 2])
        loss = tf.reduce_sum(a * 2.0) + tf.reduce_sum(b * 3.0)
    return tape.gradient(loss, table)


@program
def gather_then_dense_use(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(w, [0, 0])) + tf.reduce_sum(w**2)
    return tape.gradient(y, w)


@program
def batched_gather(tf):
    q = tf.constant([[0.1, 0.5, 0.2], [0.9, 0.3, 0.4]])
    actions = tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(q)
        a = tf.gather(q, actions, batch_dims=1)
        b = tf.gather_nd(q, tf.stack([tf.range(2), actions], axis=1))
        c = tf.reduce_sum(q * tf.one_hot(actions, 3), axis=1)
    return a, b, c, tape.gradient(a, q), tape.gradient(b, q), tape.gradient(c, q)


@program
def im2col(tf):
    image = tf.reshape(tf.range(1, 17, dtype=tf.float32), (4, 4))
    kernel = tf.Variable([[0.0, 1.0], [-1.0, 2.0]])
    with tf.GradientTape() as tape:
        patches = [image[i : i + 3, j : j + 3] for i in range(2) for j in range(2)]
        out = tf.add_n([p * k for p, k in zip(patches, tf.reshape(kernel, [-1]), strict=True)])
        loss = tf.reduce_mean(tf.square(out))
    return out, tape.gradient(loss, kernel)


@program
def finite_difference_stencil(tf):
    u = tf.sin(tf.linspace(0.0, 3.0, 9))
    with tf.GradientTape() as tape:
        tape.watch(u)
        lap = tf.roll(u, 1, axis=0) - 2 * u + tf.roll(u, -1, 0)
        energy = tf.reduce_sum(lap[1:-1] ** 2)
    return lap, energy, tape.gradient(energy, u)


@program
def padded_total_variation(tf):
    x = tf.constant([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        p = tf.pad(x, tf.constant([[1, 1], [1, 1]]), mode="SYMMETRIC")
        tv = tf.reduce_sum(tf.abs(p[1:] - p[:-1])) + tf.reduce_sum(tf.abs(p[:, 1:] - p[:, :-1]))
    return p, tv, tape.gradient(tv, x)


@program
def strided_reads(tf):
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[:, ::2, ::-1][..., 1:3] * x[:, tf.newaxis, 1:2, -2:][:, 0]
    return y, tape.gradient(y, x), x[0, ..., -1], x[..., None].shape, x[1][2][3]


@program
def slice_with_tensors(tf):
    x = tf.range(10) * 3
    start, size = tf.constant(2), tf.constant(4)
    return (
        x[start : start + size],
        x[: tf.argmax(x)],
        x[tf.constant(-1)],
        x[:: tf.constant(2)],
        (
            tf.slice(x, [start], [size]),
            tf.strided_slice(x, [start], [-1], [2]),
        ),
    )


@program
def ragged_fails(tf):
    return tf.constant([[1, 2], [3]])


@program
def item_assignment_fails(tf):
    x = tf.zeros([2])
    x[0] = 1.0


@program
def scatter_list(tf):
    base = tf.zeros([4, 2])
    updates = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    idx = tf.constant([[1], [3], [1]])
    with tf.GradientTape() as tape:
        tape.watch([base, updates])
        y = tf.tensor_scatter_nd_add(base, idx, updates)
        z = tf.scatter_nd(idx, updates, base.shape)
        loss = tf.reduce_sum(y**2 + 2 * z)
    return y, z, tape.gradient(loss, [base, updates])


@program
def masks(tf):
    x = tf.constant([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    mask = x > 0
    with tf.GradientTape() as tape:
        tape.watch(x)
        kept = tf.boolean_mask(x, mask)
        y = tf.reduce_sum(kept**2) + tf.reduce_sum(x[mask]) + tf.reduce_sum(tf.where(mask, x, 0.0))
    return kept, x[mask], tape.gradient(y, x), tf.where(mask), tf.where(~mask)[:, 1]


@program
def causal_mask(tf):
    n = 4
    i, j = tf.range(n)[:, None], tf.range(n)
    mask = i >= j
    band = tf.linalg.band_part(tf.ones((n, n)), -1, 0)
    scores = tf.random.normal([1]) * 0 + tf.cast(i * j, tf.float32)
    masked = tf.where(mask, scores, -1e9)
    return mask, tf.reduce_all(tf.cast(mask, tf.float32) == band), tf.nn.softmax(masked, axis=-1)


@program
def length_mask(tf):
    lengths = [1, 3, 0]
    x = tf.ones([3, 4])
    mask = tf.sequence_mask(lengths, maxlen=4, dtype=x.dtype)
    mean = tf.math.divide_no_nan(tf.reduce_sum(x * mask, 1), tf.reduce_sum(mask, 1))
    return mask, mean


@program
def attention_heads(tf):
    x = tf.reshape(tf.range(24.0) / 10, [2, 3, 4])
    heads = tf.transpose(tf.reshape(x, [2, 3, 2, -1]), perm=[0, 2, 1, 3])
    with tf.GradientTape() as tape:
        tape.watch(heads)
        w = tf.nn.softmax(tf.matmul(heads, heads, transpose_b=True) / tf.sqrt(2.0))
        out = tf.reshape(tf.transpose(w @ heads, [0, 2, 1, 3]), (tf.shape(x)[0], -1, 4))
    return out, tape.gradient(out, heads)


@program
def batch_of_dynamic_shape(tf):
    x = tf.ones([5, 2, 3])
    batch = tf.shape(x)[0]
    flat = tf.reshape(x, [batch, -1])
    ones = tf.ones([batch, 1])
    return (
        tf.concat([flat, ones], axis=-1).shape,
        tf.zeros_like(flat)[:batch, 0],
        tf.fill([batch], 7),
        tf.tile([[1, 2]], [batch, 1]),
        tf.eye(batch),
        tf.range(batch),
        tf.rank(x) - 1,
    )


@program
def meshgrid_field(tf):
    xs, ys = tf.linspace(-1.0, 1.0, 3), tf.linspace(0.0, 1.0, 2)
    x, y = tf.meshgrid(xs, ys)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        f = tf.sin(x) * y**2
    points = tf.stack([tf.reshape(x, [-1]), tf.reshape(y, [-1])], axis=1)
    return f, tape.gradient(f, (x, y)), points, tf.meshgrid(xs, ys, indexing="ij")[0].shape


@program
def packed_lists(tf):
    a, b = tf.constant(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        v = tf.convert_to_tensor([a, b, 3.0])
        m = tf.stack([[a, b], [b, 1.0]])
        y = tf.reduce_sum(v * v) + tf.linalg.det(m)
    return v, m, tape.gradient(y, [a, b])


@program
def pack_mixed_dtypes(tf):
    return tf.stack([tf.constant(1.0), tf.constant(1)])


@program
def split_lstm_gates(tf):
    z = tf.reshape(tf.range(16.0) / 8 - 1, [2, 8])
    with tf.GradientTape() as tape:
        tape.watch(z)
        i, f, g, o = tf.split(z, 4, axis=-1)
        c = tf.sigmoid(f) * 0.5 + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    return h, tape.gradient(h, z), len(tf.split(z, [3, -1], 1)), tf.split(z, [3, 5], 1)[1].shape


@program
def unstack_rnn(tf):
    w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])
    seq = tf.reshape(tf.range(6.0) / 10, [3, 1, 2])
    h = tf.zeros([1, 2])
    with tf.GradientTape() as tape:
        for x in tf.unstack(seq):
            h = tf.tanh(x + h @ w)
    return h, tape.gradient(h, w)


@program
def iterate_rows(tf):
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    total, names = 0.0, []
    with tf.GradientTape() as tape:
        tape.watch(m)
        for k, row in enumerate(m):
            total += (k + 1) * tf.reduce_sum(row**2)
            names.append(str(row.numpy()))
    (a, b), (c, d) = m
    return total, tape.gradient(total, m), names, a + d, b * c


@program
def sort_quantile(tf):
    x = tf.constant([5.0, 1.0, 4.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s = tf.sort(x)
        median = s[tf.size(x) // 2]
        top = tf.reduce_mean(tf.math.top_k(x, k=2).values)
    return (
        median,
        tape.gradient(median, x),
        top,
        tape.gradient(top, x),
        tf.argsort(x, direction="DESCENDING"),
        tf.gather(x, tf.argsort(x)),
    )


@program
def unique_counts(tf):
    words = tf.constant([3, 1, 3, 2, 1, 3])
    y, idx, count = tf.unique_with_counts(words)
    u = tf.unique(words)
    return (
        y,
        idx,
        count,
        tf.gather(u.y, u.idx),
        tf.math.bincount(words),
        tf.reduce_all(tf.gather(y, idx) == words),
    )


@program
def unique_gradient(tf):
    x = tf.constant([1.0, 2.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.unique(x)[0])
    return tape.gradient(y, x)


@program
def same_tensor_converted(tf):
    x = tf.constant([1.0, 2.0])
    same = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(same)
        y = x**2
    return tape.gradient(y, x), same is x, tf.convert_to_tensor(x, tf.float32) is x


@program
def dtype_strings(tf):
    x = tf.cast([1.7, -1.7], "int64")
    return (
        x,
        x.dtype == "int64",
        x.dtype.as_numpy_dtype is np.int64,
        tf.cast(x, np.float16),
        (
            tf.zeros([2], "bool"),
            tf.ones((1, 2), dtype=np.int8),
            tf.as_dtype("double").name,
            str(tf.cast(x, bool).dtype),
        ),
    )


@program
def dtype_names(tf):
    kinds = [tf.float16, tf.float32, tf.float64, tf.int8, tf.uint16, tf.bool, tf.complex64]
    return [(k.name, k.size, k.is_floating, k.is_integer, repr(k), str(k)) for k in kinds]


@program
def shape_arithmetic(tf):
    s = tf.zeros([2, 3, 4]).shape
    return (
        s[1:],
        s[-1],
        s.as_list()[::-1],
        s + (5,),
        s[:2].concatenate([7]),
        tuple(s),
        len(s),
        (
            s.num_elements(),
            s == (2, 3, 4),
            s.rank,
            str(s),
            repr(s[:0]),
            list(s),
        ),
    )


@program
def shape_unpacking(tf):
    rows, cols = tf.zeros([3, 5]).shape
    a, b = tf.unstack(tf.shape(tf.zeros([3, 5])))
    return rows * cols, a * b, tf.zeros([rows, 1]).shape, type(rows).__name__


@program
def broadcast_rules(tf):
    a = tf.Variable(tf.ones([3, 1]))
    b = tf.Variable(tf.ones([1, 4]) * 2)
    c = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((a + b) * c - tf.broadcast_to(a, [2, 3, 4]))
    return y, tape.gradient(y, [a, b, c]), tf.broadcast_static_shape(a.shape, b.shape)


@program
def broadcast_fails(tf):
    return tf.ones([2, 3]) + tf.ones([2])


@program
def reshape_fails(tf):
    return tf.reshape(tf.range(6), [4, 2])


@program
def concat_shapes_fail(tf):
    return tf.concat([tf.zeros([2, 3]), tf.zeros([2, 2])], axis=0)


@program
def empty_arrays(tf):
    e = tf.zeros([0, 3])
    return (
        tf.reduce_sum(e, axis=0), tf.concat([e, tf.ones([1, 3])], 0), tf.reshape(e, [3, -1]).shape,
        tf.reshape(e, [-1, 0]), e[:, 1], tf.stack([e, e]).shape, tf.size(e), bool(tf.constant([])),
        tf.gather(tf.ones([2, 2]), tf.constant([], tf.int32)), tf.where(tf.constant([], tf.bool)),
    )  # fmt: skip


@program
def printing(tf):
    x = tf.constant([[1.5, -2.0], [0.0, 1e-3]])
    v = tf.Variable([1, 2], name="count")
    return (
        str(x), repr(x), f"{x[0, 0]:.2f}", "%s" % x[0], str(v), repr(v), f"{x.shape} {x.dtype}",
        repr(tf.constant(True)), str(tf.constant(3)), repr(tf.constant([], tf.int32)),
        f"{x.numpy().mean():.3f}", repr(tf.constant(1 + 2j)), str(tf.range(3.0)),
        repr(tf.TensorShape([None, 2])), str(tf.zeros([1, 1, 2])), f"{tf.constant(2)}",
    )  # fmt: skip


@program
def numpy_both_ways(tf):
    x = tf.constant([1.0, 2.0])
    a = np.array([[3.0], [4.0]], np.float32)
    return (
        a * x,
        x * a,
        a @ x[None],
        np.add(x, 1),
        np.sum(x),
        np.array(x) + 1,
        x - a,
        a / x,
        (
            x + np.float32(1),
            np.float32(2) * x,
            np.dot(x, x),
            np.stack([x, x]),
            x.numpy() * 2,
            tf.constant(a).numpy().dtype,
        ),
    )


@program
def repeat_tile(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.repeat(x, [2, 1], axis=0) ** 2
        b = tf.tile(x, (1, 3)) ** 2
        c = tf.repeat(x, 2) * tf.range(8.0)
    return [(v, tape.gradient(v, x)) for v in (a, b, c)]


@program
def reverse_discount(tf):
    rewards = tf.constant([1.0, 0.0, 2.0, 3.0])
    gamma = tf.Variable(0.9)
    with tf.GradientTape() as tape:
        returns, total = [], tf.constant(0.0)
        for r in tf.reverse(rewards, axis=[0]):
            total = r + gamma * total
            returns.insert(0, total)
        g = tf.stack(returns)
        g = (g - tf.reduce_mean(g)) / (tf.math.reduce_std(g) + 1e-8)
        loss = tf.reduce_sum(g * tf.range(4.0))
    return g, tape.gradient(loss, gamma)


@program
def partition_and_stitch(tf):
    x = tf.constant([10.0, 20.0, 30.0, 40.0])
    parts = tf.constant([0, 1, 1, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        low, high = tf.dynamic_partition(x, parts, 2)
        where = tf.dynamic_partition(tf.range(4), parts, 2)
        y = tf.dynamic_stitch(where, [low * 2, high**2])
    return low, high, y, tape.gradient(y, x)


@program
def case_by_searchsorted(tf):
    edges = tf.constant([0.0, 1.0, 2.0])
    x = tf.constant([-0.5, 0.0, 0.5, 1.0, 5.0])
    bucket = tf.searchsorted(edges, x, side="right")
    slope = tf.Variable([0.0, 1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(slope, bucket) * x
    return bucket, y, tf.convert_to_tensor(tape.gradient(y, slope))


@program
def casts_in_a_graph(tf):
    x = tf.constant([1.4, 2.6])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.cast(x, tf.float64) * np.pi
        b = tf.cast(tf.cast(x, tf.int32), tf.float32) * x
        c = tf.cast(x > 2, x.dtype)
        d = tf.saturate_cast(x * 100, tf.float16)
    return [tape.gradient(v, x) for v in (a, b, c, d)] + [a, b, c, d]


@program
def identity_and_stop(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.identity(x) ** 2 + tf.stop_gradient(x) * x
        z = tf.identity_n([y, x])[0]
    return tape.gradient(z, [x, y])


@program
def string_operand(tf):
    return tf.constant([1.0]) * "a"


@program
def none_operand(tf):
    return tf.reshape(None, [1])


@program
def index_errors(tf):
    x = tf.constant([1.0, 2.0])
    found = []
    for bad in (5, -3, 1.0, [0, 1, 2], "a", (0, 0)):
        try:
            found.append(x[bad])
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def membership(tf):
    x = tf.constant([1, 2, 3])
    found = []
    for f in (lambda: 2 in x, lambda: {x}, lambda: bool(x), lambda: int(x), lambda: len(x[0])):
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def range_forms(tf):
    return [
        tf.range(3), tf.range(1, 4), tf.range(0, 1, 0.25), tf.range(5, 0, -2), tf.range(3.0),
        tf.range(2, dtype=tf.int64), tf.range(np.int64(3)), tf.range(tf.constant(3)),
        tf.range(start=2, limit=8, delta=3), tf.range(0.0, 1.0, 0.1, dtype="float64"),
        tf.cast(tf.range(3), tf.float32) / 2, tf.range([4]), tf.linspace(1, 2, 3), tf.range(0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_written(name):
    compare(WRITTEN[name])


#: Single lines, in which names stand for what `tensorflow_lines.names` says.
SINGLE = """
tf.math.top_k([1.,3.,3.,2.],3)
tf.sort([[3,1],[2,5]],axis=0,direction='DESCENDING')
tf.sort(b)
tf.sort(u8,direction='DESCENDING')
tf.argsort(u8)
tf.argsort(i8)
tf.argsort(tf.constant([3,1,2],tf.int64),axis=0)
tf.argsort([[3,1,2],[1,1,0]],axis=-1,stable=True)
tf.unique([3.,np.nan,3.,np.nan])
tf.unique(tf.constant([],tf.int32))
tf.unique([True,False,True])
tf.unique([3,1,3],out_idx=tf.int64)
tf.histogram_fixed_width([.1,.3,.6,.7,.9],[0.,1.],10)
tf.histogram_fixed_width_bins([.1,.3,.6,.7,.9],[0.,1.],10)
tf.histogram_fixed_width([1,2,3],[0,10])
tf.searchsorted([[1,3,5],[2,4,6]],[[3,4],[1,7]])
tf.searchsorted([1,2,3],[[1,2],[3,4]])
tf.searchsorted([1.,2.],[1,2])
tf.linspace(0.,1.,11)
tf.linspace(0.,10.,7)
tf.linspace(-1.,1.,100)
tf.linspace(5.,1.,3)
tf.linspace([0.,1.],[10.,20.],5)
tf.linspace(1.,1.,3)
tf.linspace(0.,1.,-1)
tf.range(0.,1.,.1)
tf.range(0.,.3,.1)
tf.range(1.,0.,-.25)
tf.range(.5,3.)
tf.range(0,1,tf.constant(.25))
tf.range(10)[::-1]
tf.math.cumsum([True,False])
tf.cumsum([[1,2],[3,4]],axis=tf.constant(1))
tf.reduce_sum(m,axis=tf.constant(0))
tf.reduce_sum(m,axis=np.int64(-1))
tf.reduce_sum(m,axis=tf.range(2))
tf.reduce_sum(m,tf.constant([],tf.int32))
tf.reduce_sum(m,axis=tf.range(1,tf.rank(m)))
tf.reduce_mean(t3,axis=list(range(1,3)))
tf.reduce_mean(t3,axis=range(1,3))
tf.reduce_mean(t3,axis=tuple(range(1,len(t3.shape))))
tf.reduce_sum(m,keepdims=1)
tf.reduce_sum(m,axis=True)
tf.argmax(m,tf.constant(1))
tf.argmax(m,-1,tf.int32)
tf.argmax(m,axis=1.)
tf.concat([m,m],axis=tf.constant(1))
tf.stack([x,x],tf.constant(1))
tf.expand_dims(x,np.int64(0))
tf.transpose(m,tf.range(1,-1,-1))
tf.reshape(m,tf.shape(x)[:1]*0+4)
tf.reshape(m,(tf.size(m),))
tf.reshape(m,[tf.size(m)//2,-1])
tf.reshape(m,[np.int64(4),np.int32(1)])
tf.reshape(m,x.shape+[1])
tf.tile(x[None],[tf.shape(m)[0],1])
tf.tile(x,tf.constant([2],tf.int64))
tf.fill(x.shape,0.)
tf.fill(tf.TensorShape([2]),0.)
tf.zeros([*x.shape,2])
tf.ones(x.shape[0])
tf.ones((x.shape[0],tf.constant(2)))
tf.eye(x.shape[0])
tf.eye(tf.shape(x)[0])
tf.gather(x,tf.argsort(x))
tf.gather(m,tf.argmax(m,axis=1),axis=1,batch_dims=1)
tf.gather(x,[[0],[1]])
tf.gather(x,u8[:1])
tf.gather(x,tf.constant([0],tf.int16))
tf.gather(x,tf.constant([0],tf.uint8))
tf.gather(m,[0],axis=tf.constant(1))
tf.gather(x,indices=[0],batch_dims=0,axis=0)
tf.gather(x,[0],None)
tf.gather(x,[0],None,0)
tf.split(x,num_or_size_splits=[1,2],axis=0,name='n')
tf.split(x,tf.constant(3))
tf.split(t3,[1,1,2],2,3)
tf.split(t3,np.array([1,3]),-1)
tf.unstack(x,num=3,axis=0)
tf.where(m>2,m,tf.zeros_like(m))
tf.where(tf.constant(True),x,x+1)
tf.where(b,x[0],x)
tf.where(b,v,x)
tf.where(b,c[0],0)
tf.where(b,True,False)
tf.where(b,1,0.5)
tf.where(b,[1,2,3],[4,5,6])
tf.where(m>2)[0]
tf.where(s>1)
tf.where(v>1)
tf.where([0,1,2])
tf.squeeze(tf.where(x>1),-1)
tf.boolean_mask(v,b)
tf.boolean_mask(m,tf.constant([[True,False],[True,True]]))
tf.boolean_mask(x,x>10)
tf.pad(m,[(1,0),(0,1)])
tf.pad(m,np.array([[1,0],[0,1]]))
tf.pad(m,((1,1),(0,0)),constant_values=tf.constant(2.))
tf.pad(x,[[0,0]])
tf.pad(s,tf.zeros([0,2],tf.int32))
tf.pad(m,[[1.,0.],[0.,1.]])
tf.pad(i,[[1,1]],'REFLECT')
tf.pad(x,[[3,0]],'REFLECT')
tf.pad(em,[[1,1]])
tf.roll(x,tf.constant(1),tf.constant(0))
tf.roll(m,(1,1),(0,0))
tf.reverse(t3,axis=[0,2])
tf.reverse(x,axis=tf.constant([0]))
tf.repeat(x,tf.constant([1,0,2]))
tf.repeat(x,2.)
tf.meshgrid(*[tf.range(2)]*3,indexing='ij')[2]
tf.one_hot(tf.constant([[1],[0]]),2)
tf.one_hot(np.array([1,0]),2)
tf.one_hot(i,4)[..., None]
tf.one_hot([1],2.)
tf.one_hot(1.,2)
tf.sequence_mask([1.,2.])
tf.sequence_mask(tf.constant([[1,2],[0,3]]))
tf.sequence_mask([1,2],tf.constant(4))
tf.shape([[1,2],[3,4]])[1]
tf.shape(x)+1
tf.shape(s)
tf.size(5)
tf.rank([])
tf.broadcast_to(s,tf.shape(m))
tf.broadcast_to([[1],[2]],[2,3])
tf.broadcast_to(x[:,None],(3,2))
tf.broadcast_to(b,[2,3])
tf.ensure_shape(x,[3])
tf.ensure_shape(x,[None])
tf.ensure_shape(x,[4])
tf.ensure_shape(x,None)
tf.ensure_shape(m,(2,None))
tf.searchsorted(x,2.5)
tf.scatter_nd(tf.constant([[0],[2]]),tf.constant([1,2]),tf.constant([4]))
tf.scatter_nd([[0,0],[1,1]],x[:2],(2,2))
tf.scatter_nd([[0]],[1.],[3,2])
tf.tensor_scatter_nd_update(m,[[0,1]],[9.])
tf.tensor_scatter_nd_update(m,tf.constant([[0,1],[1,0]]),[9.,8.])
tf.tensor_scatter_nd_update(v,[[0]],[9.])
tf.tensor_scatter_nd_add(m,[[0],[0]],[[1.,1.],[2.,2.]])
tf.tensor_scatter_nd_update(x,[[0],[0]],[1.,2.])
tf.dynamic_partition(m,[1,0],2)
tf.dynamic_partition(x,[0,2,0],2)
tf.dynamic_partition(x,b,2)
tf.dynamic_partition(x,tf.cast(b,tf.int32),2)
tf.dynamic_stitch([[0],[1,2]],[[1.],[2.,3.]])
tf.dynamic_stitch([0,1],[x,x])
tf.math.confusion_matrix([0,1],[1,1],num_classes=2,dtype=tf.float32)
tf.math.confusion_matrix([0,5],[1,1],num_classes=2)
tf.math.bincount([[0,1],[1,1]],axis=-1)
tf.math.bincount([0,1,1],binary_output=True)
tf.math.bincount([])
tf.math.bincount([-1])
tf.math.bincount(tf.constant([1,2]),minlength=1,maxlength=2)
tf.math.in_top_k([0,1],[[.9,.1],[.9,.1]],k=1)
tf.math.count_nonzero([[0.,1.],[2.,0.]],0)
tf.math.is_strictly_increasing([])
tf.math.accumulate_n([m,m])
tf.space_to_batch(tf.reshape(tf.range(16),[1,4,4,1]),[2,2],[[0,0],[0,0]])
tf.batch_to_space(tf.reshape(tf.range(16),[4,2,2,1]),[2,2],[[0,0],[0,0]])
tf.nn.space_to_depth(tf.reshape(tf.range(16),[1,4,4,1]),2)
tf.nn.depth_to_space(tf.reshape(tf.range(16),[1,2,2,4]),2)
tf.unravel_index(5,[2,3])
tf.unravel_index([10],[2,3])
tf.get_static_value(x)
tf.get_static_value(3)
tf.no_op()
tf.group(x)
tf.grad_pass_through(tf.round)(x)
tf.parallel_stack([x,x])
tf.saturate_cast(x*1e20,tf.int32)
tf.saturate_cast(-1,tf.uint8)
tf.bitcast(tf.constant([1,2],tf.int32),tf.float32)
tf.bitcast(u8,tf.int8)
tf.bitcast(x,tf.float64)
"""


@pytest.mark.parametrize("line", SINGLE.strip().split("\n"))
@pytest.mark.filterwarnings("ignore")
def test_single_line(line):
    compare_line(line)
