"""Tapes as guides and users write them."""

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
def guide_dense(tf: Any) -> Any:
    w = tf.Variable(tf.reshape(tf.range(6.0) / 10, (3, 2)), name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dl_dw, dl_db = tape.gradient(loss, [w, b])
    g = tape.gradient(loss, {"w": w, "b": b})
    return (
        y,
        loss,
        dl_dw,
        dl_db,
        g["b"],
        [v.name for v in tape.watched_variables()],
        str(w.shape),
        w.name,
    )


@program
def guide_types(tf: Any) -> Any:
    x0 = tf.Variable(3.0, name="x0")
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    x2 = tf.Variable(2.0, name="x2") + 1.0
    x3 = tf.constant(3.0, name="x3")
    with tf.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2
    return tape.gradient(y, [x0, x1, x2, x3])


@program
def guide_stop(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)
    with tf.GradientTape() as t:
        x_sq = x * x
        with t.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq
    return t.gradient(z, {"x": x, "y": y})


@program
def guide_reset(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)
    reset = True
    with tf.GradientTape() as t:
        y_sq = y * y
        if reset:
            t.reset()
        z = x * x + y_sq
    return t.gradient(z, {"x": x, "y": y})


@program
def guide_clip(tf: Any) -> Any:

    @tf.custom_gradient
    def clip_gradients(y):

        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return (y, backward)

    v = tf.Variable(2.0)
    with tf.GradientTape() as t:
        output = clip_gradients(v * v)
    return t.gradient(output, v)


@program
def guide_multi_tapes(tf: Any) -> Any:
    x0 = tf.constant(0.0)
    x1 = tf.constant(0.0)
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        y0 = tf.math.sin(x0)
        y1 = tf.nn.sigmoid(x1)
        y = y0 + y1
        ys = tf.reduce_sum(y)
    return (tape0.gradient(ys, x0).numpy(), tape1.gradient(ys, x1).numpy())


@program
def guide_second(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x * x * x
        dy_dx = t1.gradient(y, x)
    return (dy_dx.numpy(), t2.gradient(dy_dx, x).numpy())


@program
def guide_inputreg(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 0.0, -1.0, 2.0]])
    k = tf.Variable(tf.cast(tf.reshape(tf.range(50), (5, 10)), tf.float32) / 30 - 0.5)
    with tf.GradientTape() as t2:
        with tf.GradientTape(watch_accessed_variables=False) as t1:
            t1.watch(x)
            y = tf.nn.relu(x @ k)
            out = tf.reduce_sum(y**2)
        g1 = t1.gradient(out, x)
        g1_mag = tf.norm(g1)
    dg1 = t2.gradient(g1_mag, [k])
    return (g1_mag, dg1, [v.shape for v in dg1])


@program
def guide_none_loop(tf: Any) -> Any:
    x = tf.Variable(2.0)
    out = []
    for _epoch in range(2):
        with tf.GradientTape() as tape:
            y = x + 1
        out.append((type(x).__name__ in ("ResourceVariable", "Variable"), tape.gradient(y, x)))
        x = x + 1
    return [b for a, b in out]


@program
def guide_numpy_none(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
    with tf.GradientTape() as tape:
        x2 = x**2
        y = np.mean(x2, axis=0)
        y = tf.reduce_mean(y, axis=0)
    return (tape.gradient(y, x), y)


@program
def guide_int(tf: Any) -> Any:
    x = tf.constant(10)
    with tf.GradientTape() as g:
        g.watch(x)
        y = x * x
    return g.gradient(y, x)


@program
def guide_state(tf: Any) -> Any:
    x0 = tf.Variable(3.0)
    x1 = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    return tape.gradient(y, x0)


@program
def guide_unconnected(tf: Any) -> Any:
    x = tf.Variable([2.0, 2.0])
    y = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y**2
    return tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)


@program
def tape_str_unconn(tf: Any) -> Any:
    x = tf.Variable([2.0, 2.0])
    y = tf.Variable(3.0)
    with tf.GradientTape(True) as tape:
        z = y**2
    return (
        tape.gradient(z, [x, y], None, "zero"),
        tape.jacobian(z, x, "zero"),
        tape.gradient(z, (x,), unconnected_gradients="none"),
    )


@program
def tape_two_targets(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0 = x**2
        y1 = 1 / x
    return tape.gradient({"y0": y0, "y1": y1}, x)


@program
def tape_vec_target(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    return tape.gradient(y, x)


@program
def tape_cf(tf: Any) -> Any:
    x = tf.constant(1.0)
    v0 = tf.Variable(2.0)
    v1 = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    return (tape.gradient(result, [v0, v1]), tape.gradient(result, x))


@program
def watch_list_dict(tf: Any) -> Any:
    a, b, c = (tf.constant(1.0), tf.constant([2.0, 3.0]), tf.constant(4.0))
    with tf.GradientTape() as t:
        t.watch([a, {"k": b}])
        t.watch((c,))
        y = tf.reduce_sum(a * b * c)
    return t.gradient(y, [a, {"k": b}, (c,)])


@program
def grad_namedtuple(tf: Any) -> Any:
    import collections

    P = collections.namedtuple("P", "w b")
    p = P(tf.Variable([[1.0, 2.0]]), tf.Variable([0.5]))
    with tf.GradientTape() as t:
        y = tf.reduce_sum(p.w * p.b)
    g = t.gradient(y, p)
    return (g.w, g.b, type(g).__name__)


@program
def grad_empty_sources(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        y = x * x
    return t.gradient(y, [])


@program
def grad_twice_err(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        y = x * x
    t.gradient(y, x)
    return t.gradient(y, x)


@program
def grad_outgrad_list(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as t:
        y = x**2
        z = x**3
    return (
        t.gradient(
            [y, z], x, output_gradients=[tf.constant([1.0, 0.0, 0.0]), tf.constant([0.0, 1.0, 0.0])]
        ),
        t.gradient(y, x, output_gradients=[1.0, 2.0, 3.0]),
        t.gradient(y, x, [np.array([1.0, 2.0, 3.0], np.float32)]),
    )


@program
def grad_target_var(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        x * 2
    return t.gradient(x, x)


@program
def grad_of_python(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        x * x
    return t.gradient(3.0, x)


@program
def grad_none_target(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        x * x
    return t.gradient(None, x)


@program
def grad_in_context(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = x**3
        g = t.gradient(y, x)
    return g


@program
def hvp_back_over_back(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.math.log(tf.reduce_sum(tf.exp(x)))
        g = inner.gradient(y, x)
        gv = tf.reduce_sum(g * v)
    return outer.gradient(gv, x)


@program
def third(tf: Any) -> Any:
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                y = tf.reduce_sum(tf.exp(x) * x)
            g = c.gradient(y, x)
        h = b.gradient(g, x)
    return (g, h, a.gradient(h, x))


@program
def watch_after(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as t:
        x * x
        t.watch(x)
        z = x * 3
    return t.gradient(z, x)


@program
def watch_int(tf: Any) -> Any:
    x = tf.constant(2)
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.cast(x, tf.float32) ** 2
    return t.gradient(y, x)


@program
def watch_np(tf: Any) -> Any:
    with tf.GradientTape() as t:
        t.watch(np.ones(2))
        y = 1
    return y


@program
def complex_grad(tf: Any) -> Any:
    z = tf.Variable(1.0 + 2j)
    with tf.GradientTape() as t:
        y = tf.math.real(z * tf.math.conj(z))
    return t.gradient(y, z)


@program
def cast_grad(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32)
    return t.gradient(y, x)


@program
def mixed_grad_dtype(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.cast(x, tf.float64) * 2
    return (t.gradient(y, x), y)


@program
def where_nan(tf: Any) -> Any:
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as t:
        y = tf.where(x > 0, tf.math.log(x), 0.0)
    return t.gradient(y, x)


@program
def safe_where(tf: Any) -> Any:
    x = tf.Variable([0.0, 4.0])
    with tf.GradientTape() as t:
        y = tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0)
    return t.gradient(y, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
