"""Programs with variables."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
