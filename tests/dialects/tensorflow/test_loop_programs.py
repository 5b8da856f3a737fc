"""Programs with loops, branches, tensor arrays and functions."""

from __future__ import annotations

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
        tf.foldl(lambda a, x: a + x, tf.ones([3, 2]), initializer=tf.zeros(2)),
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
