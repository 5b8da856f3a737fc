"""Variables: how they are made, read and assigned to."""

import operator

import numpy as np
import pytest

from tests.dialects.tensorflow.array_cases import A, V, second_derivatives
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity


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
    "second order": lambda tf: [second_derivatives(tf, lambda x: tf.gather(x, [1, 0, 1]) ** 3)],
    "second order where": lambda tf: [second_derivatives(tf, lambda x: tf.where(x > 2, x**3, x))],
    "second order sort": lambda tf: [
        second_derivatives(tf, lambda x: tf.sort(x, direction="DESCENDING") ** 3)
    ],
    "jacobian": lambda tf: [
        (
            lambda v: (lambda tape, y: tape.jacobian(y, v))(
                *_recorded(tf, lambda f=f: f(tf, v) ** 2)
            )
        )(tf.Variable(V))
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


PROGRAMS = {**VARIABLES}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_program(name):
    compare(PROGRAMS[name])
