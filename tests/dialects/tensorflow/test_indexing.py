"""Gathering, scattering, slicing and clipping."""

import operator

import numpy as np
import pytest

from tests.dialects.tensorflow.array_cases import A, B, V, grad, second_derivatives
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity


N = np.array([[3, 1, 2], [2, 3, 3]], np.int32)

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
        second_derivatives(tf, lambda x: tf.where(x > 2, (tf.sqrt(x) - 2.0) ** 2, x)),
        second_derivatives(tf, lambda x: tf.where(x > 2, x**3, 1.0 / x)),
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
        tf.math.invert_permutation([3, 4, 0, 2, 1]),
    ],
    "invert_permutation bad": lambda tf: tf.math.invert_permutation([0, 0]),
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
    "clip_by_norm below 0": lambda tf: [
        tf.clip_by_norm(A, -1.0),
        tf.clip_by_norm(A, -1),
        tf.clip_by_norm(A, np.float64(-1.0)),
        tf.clip_by_norm(A, tf.Variable(-1.0)),
        tf.clip_by_norm(A, [[-1.0], [2.0]], axes=1),
        grad(tf, lambda x: tf.clip_by_norm(x, -2.0), A),
        grad(tf, lambda x, c: tf.clip_by_norm(x, c), A, np.float32(-5.0)),
        grad(tf, lambda x, c: tf.clip_by_norm(x, c), A, np.float32(0.0)),
    ],
    "clip_by_norm slices below 0": lambda tf: tf.clip_by_norm(
        tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([4, 2])), -1.0
    ),
    "clip_by_norm dtypes": lambda tf: [
        tf.clip_by_norm(A, tf.constant(2)),
        grad(tf, lambda x, c: tf.clip_by_norm(x, c), A, np.float64(2.0)),
    ],
    "clip_by_norm complex": lambda tf: tf.clip_by_norm(A, tf.constant(2.0 + 0j)),
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
    "clip_by_global_norm dtypes": lambda tf: tf.clip_by_global_norm(
        [tf.constant(A), tf.constant(V, tf.float64)], 2.0, use_norm=tf.constant(3.0)
    ),
    "clip_by_global_norm tensor": lambda tf: tf.clip_by_global_norm(tf.constant(A), 3.0),
    "clip_by_global_norm None": lambda tf: tf.clip_by_global_norm([None], 3.0),
    "global_norm tensor": lambda tf: tf.linalg.global_norm(tf.constant(A)),
}


PROGRAMS = {**PLACES, **SLICING, **CLIPS}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_program(name):
    compare(PROGRAMS[name])
