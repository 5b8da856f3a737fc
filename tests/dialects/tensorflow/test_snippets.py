"""Short programs as people write them around tapes, against real TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


@program
def setitem_var(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    v[0] = 3.0


@program
def setitem_t(tf: Any) -> Any:
    v = tf.constant([1.0, 2.0])
    v[0] = 3.0


@program
def gradients_attr(tf: Any) -> Any:
    with tf.GradientTape() as t:
        y = tf.Variable(1.0) * 2
    return t.gradients(y, y)


@program
def wrt_element(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.reduce_sum(x**2)
    return t.gradient(y, x[0, 1])


@program
def wrt_slice_inside(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        e = x[0, 1]
        y = e**2 + tf.reduce_sum(x)
    return t.gradient(y, [e, x])


@program
def repr_tape(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    return (
        repr(x),
        str(x),
        repr(x * 2),
        str(x * 2),
        f"{x[0, 0]:.3f}",
        f"{x[0]}",
        str(tf.constant(1.0)),
        repr(tf.constant([True])),
        repr(tf.constant(1 + 2j)),
    )


@program
def scatter_var(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    v[1].assign(9.0)
    return v.value()


@program
def scatter_grad(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    u = tf.Variable([5.0])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.tensor_scatter_nd_update(v, [[1]], u) ** 2)
    return t.gradient(y, [v, u])


@program
def scatter_nd(tf: Any) -> Any:
    u = tf.constant([1.0, 2.0])
    with tf.GradientTape() as t:
        t.watch(u)
        y = tf.scatter_nd([[0], [3]], u, [5]) ** 2
    return y, t.gradient(y, u)


@program
def onehot_mask(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        m = tf.one_hot(1, 3)
        y = tf.reduce_sum(x * m) ** 2
    return t.gradient(y, x)


@program
def where_mask(tf: Any) -> Any:
    x = tf.constant([1.0, -2.0, 3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.where(x > 0, tf.sqrt(tf.abs(x)), x * 2)
    return y, t.gradient(y, x)


@program
def bool_mask(tf: Any) -> Any:
    x = tf.constant([1.0, -2.0, 3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.boolean_mask(x, x > 0) ** 2
    return y, t.gradient(y, x)


@program
def bool_mask2(tf: Any) -> Any:
    x = tf.Variable([[1.0, -2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(x[x > 0] ** 2)
    return t.gradient(y, x)


@program
def gather_nd(tf: Any) -> Any:
    x = tf.Variable([[1.0, -2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        y = tf.gather_nd(x, [[0, 1], [0, 1], [1, 0]]) ** 2
    return y, t.gradient(y, x)


@program
def loop_elements(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        ys = [xi**2 for xi in x]
        zs = tf.unstack(x * x)
    return [t.gradient(y, x) for y in ys], [t.gradient(z, x) for z in zs]


@program
def np_inputs(tf: Any) -> Any:
    x = np.array([1.0, 2.0], np.float32)
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(w * x) + np.float32(2) * w[0]
    return y, t.gradient(y, w)


@program
def np_func(tf: Any) -> Any:
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as t:
        y = np.sum(w)
    return t.gradient(y, w)


@program
def np_func2(tf: Any) -> Any:
    w = tf.constant([3.0, 4.0])
    return np.sin(w)


@program
def py_builtin(tf: Any) -> Any:
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as t:
        y = sum(w) + max(w) + abs(w[0]) + pow(w[1], 2)
    return y, t.gradient(y, w)


@program
def clip(tf: Any) -> Any:
    w = [tf.Variable([3.0, 4.0]), tf.Variable(1.0)]
    with tf.GradientTape() as t:
        y = tf.reduce_sum(w[0] ** 2) * w[1]
    g, n = tf.clip_by_global_norm(t.gradient(y, w), 1.0)
    return g, n


@program
def mean_ax(tf: Any) -> Any:
    x = tf.Variable(tf.ones([2, 3]))
    with tf.GradientTape() as t:
        y = tf.reduce_mean(x, axis=0)
        z = tf.reduce_sum(y[1])
    return t.gradient(z, x)


@program
def int_var(tf: Any) -> Any:
    x = tf.Variable(3)
    with tf.GradientTape() as t:
        y = x * x
    return t.gradient(y, x)


@program
def const_int(tf: Any) -> Any:
    x = tf.constant(3)
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    return t.gradient(y, x)


@program
def convert_in(tf: Any) -> Any:
    x = [1.0, 2.0]
    with tf.GradientTape() as t:
        x = tf.convert_to_tensor(x)
        t.watch(x)
        y = x[0] * x[1]
    return t.gradient(y, x)


@program
def numpy_break(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.constant(x.numpy()) * 2
    return t.gradient(y, x)


@program
def assign_break(tf: Any) -> Any:
    a = tf.Variable(2.0)
    b = tf.Variable(3.0)
    with tf.GradientTape() as t:
        b.assign_add(a)
        y = b * b
    return t.gradient(y, [a, b])


@program
def reassign(tf: Any) -> Any:
    x = tf.Variable(2.0)
    r = []
    for _e in range(2):
        with tf.GradientTape() as t:
            y = x + 1
        r.append((type(x).__name__.endswith("Variable"), t.gradient(y, x)))
        x = x + 1
    return r


@program
def hess_diag(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = tf.reduce_sum(tf.math.log(x) * x)
        g = t1.gradient(y, x)
    return t2.gradient(g, x)


@program
def grad_none_loss(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t:
        pass
    y = x * 2
    return t.gradient(y, x)


@program
def norm(tf: Any) -> Any:
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as t:
        y = tf.norm(x)
    return y, t.gradient(y, x)


@program
def ein(tf: Any) -> Any:
    a = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        y = tf.einsum("ij,kj->ik", a, a)
    return y, t.gradient(y, a)


@program
def conv(tf: Any) -> Any:
    x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
    k = tf.Variable(tf.ones([3, 3, 1, 1]))
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.nn.conv2d(x, k, 1, "SAME")
        e = y[0, 2, 2, 0]
    return t.gradient(e, [x, k])


@program
def tape_in_fn(tf: Any) -> Any:
    @tf.function
    def f(x):
        with tf.GradientTape() as t:
            t.watch(x)
            y = x**3
        return t.gradient(y, x)

    return f(tf.constant([1.0, 2.0]))


@program
def tape_args(tf: Any) -> Any:
    return tf.GradientTape(True, False) is not None


@program
def saved_state(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    before = v.numpy()
    v.assign_add([1.0, 1.0])
    return before, v.numpy(), v.read_value(), tf.identity(v)


@program
def eq_hash(tf: Any) -> Any:
    v = tf.Variable(1.0)
    return {v.ref(): 1}[v.ref()], v.ref().deref() is v


@program
def hash_var(tf: Any) -> Any:
    return {tf.Variable(1.0): 1}


@program
def in_list(tf: Any) -> Any:
    v = tf.Variable(1.0)
    return v in [v]


@program
def bool_multi(tf: Any) -> Any:
    return bool(tf.constant([True, False]))


@program
def py_if(tf: Any) -> Any:
    return 1 if tf.constant(2.0) > 1 else 0


@program
def gradient_kwargs(tf: Any) -> Any:
    v = tf.Variable(1.0)
    with tf.GradientTape() as t:
        y = v * 2
    return t.gradient(
        target=y,
        sources=v,
        output_gradients=None,
        unconnected_gradients=tf.UnconnectedGradients.NONE,
    )


@program
def softmax_elem(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.nn.softmax(x)[0, 1]
    return t.gradient(y, x)


@program
def jac_softmax(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.nn.softmax(x)
    return t.jacobian(y, x)


@program
def saliency(tf: Any) -> Any:
    x = tf.Variable(tf.reshape(tf.range(12.0), [1, 2, 2, 3]))
    with tf.GradientTape() as t:
        y = tf.reduce_max(tf.nn.max_pool2d(x, 2, 1, "SAME"))
    return t.gradient(y, x)


@program
def cumsum(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.cumsum(x)[1]
    return t.gradient(y, x)


@program
def ta_fn(tf: Any) -> Any:
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            ta = ta.write(i, tf.cast(i, tf.float32) ** 2)
        return ta.stack()

    return f(tf.constant(4))


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
