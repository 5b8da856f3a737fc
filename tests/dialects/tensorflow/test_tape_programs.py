"""Whole programs with tapes, and checks of numbers."""

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
def per_example(tf: Any) -> Any:
    w = tf.Variable([1.0, 2.0, 3.0])
    X = tf.constant(np.arange(12, dtype="f").reshape(4, 3) / 5)
    y = tf.constant([1.0, 0.0, 1.0, 0.0])
    with tf.GradientTape() as t:
        losses = (tf.linalg.matvec(X, w) - y) ** 2
    J = t.jacobian(losses, w)

    def one(a):
        xi, yi = a
        with tf.GradientTape() as tt:
            loss = (tf.tensordot(xi, w, 1) - yi) ** 2
        return tt.gradient(loss, w)

    return (
        J,
        tf.vectorized_map(one, (X, y)),
        tf.map_fn(one, (X, y), fn_output_signature=tf.float32),
    )


@program
def maml(tf: Any) -> Any:
    w = tf.Variable([[0.5], [-0.3]])
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    y = tf.constant([[1.0], [0.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        g = inner.gradient(loss, w)
        fast = w - 0.1 * g
        l2 = tf.reduce_mean((tf.tanh(x @ fast) - y) ** 2)
    return (l2, outer.gradient(l2, w))


@program
def pinn(tf: Any) -> Any:
    W1 = tf.Variable(np.linspace(-1, 1, 8).reshape(1, 8).astype("f"))
    b1 = tf.Variable(np.linspace(0, 1, 8).astype("f"))
    W2 = tf.Variable(np.cos(np.arange(8)).reshape(8, 1).astype("f"))
    x = tf.constant(np.linspace(0, 1, 5).reshape(5, 1).astype("f"))

    def u(x):
        return tf.tanh(x @ W1 + b1) @ W2

    with tf.GradientTape() as t:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = u(x)
            ux = t1.gradient(y, x)
        uxx = t2.gradient(ux, x)
        loss = tf.reduce_mean((uxx + y) ** 2) + tf.reduce_sum((u(tf.zeros([1, 1])) - 1.0) ** 2)
    return (loss, t.gradient(loss, [W1, b1, W2]))


@program
def wgan_gp(tf: Any) -> Any:
    w = tf.Variable([[0.3], [-0.5]])
    real = tf.constant([[1.0, 2.0], [0.0, 1.0]])
    fake = tf.constant([[0.5, -1.0], [2.0, 0.3]])
    al = tf.constant([[0.3], [0.8]])
    with tf.GradientTape() as o:
        inter = real + al * (fake - real)
        with tf.GradientTape() as g:
            g.watch(inter)
            p = tf.nn.leaky_relu(inter @ w) ** 2
        gr = g.gradient(p, [inter])[0]
        n = tf.sqrt(tf.reduce_sum(tf.square(gr), axis=[1]))
        gp = tf.reduce_mean((n - 1.0) ** 2)
    return (gp, o.gradient(gp, w))


@program
def reinforce(tf: Any) -> Any:
    logits = tf.Variable([0.1, 0.2, 0.7])
    acts = [0, 2, 1]
    R = tf.constant([1.0, -0.5, 2.0])
    with tf.GradientTape() as t:
        lp = tf.nn.log_softmax(logits)
        loss = -tf.reduce_mean(tf.gather(lp, acts) * R) - 0.01 * -tf.reduce_sum(tf.exp(lp) * lp)
    return (loss, t.gradient(loss, logits))


@program
def ppo(tf: Any) -> Any:
    new = tf.Variable([-1.0, -0.5, -2.0])
    old = tf.constant([-1.1, -0.7, -1.5])
    A = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as t:
        r = tf.exp(new - old)
        loss = -tf.reduce_mean(tf.minimum(r * A, tf.clip_by_value(r, 0.8, 1.2) * A))
    return (loss, t.gradient(loss, new))


@program
def attention(tf: Any) -> Any:
    q = tf.Variable(np.sin(np.arange(24)).reshape(2, 3, 4).astype("f"))
    k = tf.Variable(np.cos(np.arange(24)).reshape(2, 3, 4).astype("f"))
    v = tf.constant(np.arange(24).reshape(2, 3, 4).astype("f") / 10)
    mask = 1 - tf.linalg.band_part(tf.ones((3, 3)), -1, 0)
    with tf.GradientTape() as t:
        s = tf.matmul(q, k, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
        s += mask * -1000000000.0
        o = tf.nn.softmax(s, axis=-1) @ v
        loss = tf.reduce_sum(o**2)
    return (loss, t.gradient(loss, [q, k]))


@program
def vae(tf: Any) -> Any:
    mu = tf.Variable([[0.1, 0.2]])
    lv = tf.Variable([[-0.1, 0.3]])
    eps = tf.constant([[0.5, -1.0]])
    with tf.GradientTape() as t:
        z = eps * tf.exp(lv * 0.5) + mu
        kl = -0.5 * tf.reduce_sum(1 + lv - mu**2 - tf.exp(lv), axis=1)
        rec = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=z), axis=1
        )
        loss = tf.reduce_mean(rec + kl)
    return (loss, t.gradient(loss, [mu, lv]))


@program
def contrastive(tf: Any) -> Any:
    a = tf.Variable(np.sin(np.arange(8)).reshape(4, 2).astype("f"))
    with tf.GradientTape() as t:
        z = tf.math.l2_normalize(a, axis=1)
        s = tf.matmul(z, z, transpose_b=True) / 0.5
        s = s - tf.eye(4) * 1000000000.0
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0, 3, 2], logits=s)
        )
    return (loss, t.gradient(loss, a))


@program
def kepler(tf: Any) -> Any:
    p = tf.Variable([1.0, 0.0], dtype=tf.float64)
    v = tf.Variable([0.0, 1.0], dtype=tf.float64)
    for _ in range(5):
        with tf.GradientTape() as t:
            U = -1 / tf.norm(p)
        F = -t.gradient(U, p)
        v.assign_add(0.1 * F)
        p.assign_add(0.1 * v)
    return (p, v)


@program
def debug(tf: Any) -> Any:
    tf.debugging.assert_equal([1, 2], [1, 2])
    tf.debugging.assert_near(1.0, 1.0000001)
    tf.debugging.assert_positive([1.0])
    tf.debugging.assert_shapes([(tf.ones([2, 3]), ("a", "b")), (tf.ones([3]), ("b",))])
    return tf.debugging.check_numerics(tf.constant([1.0]), "m")


@program
def debug_e1(tf: Any) -> Any:
    return tf.debugging.assert_equal([1, 2], [1, 3], message="x")


@program
def debug_e2(tf: Any) -> Any:
    return tf.debugging.check_numerics(tf.constant([1.0, np.nan]), "m")


@program
def debug_e3(tf: Any) -> Any:
    return tf.debugging.assert_shapes([(tf.ones([2, 3]), ("a", "a"))])


@program
def debug_e4(tf: Any) -> Any:
    return tf.debugging.assert_rank(tf.ones([2]), 2)


@program
def debug_e5(tf: Any) -> Any:
    return tf.debugging.assert_type(tf.constant(1.0), tf.int32)


@program
def debug_e6(tf: Any) -> Any:
    return tf.Assert(tf.constant(False), [tf.constant(1)])


@program
def errors(tf: Any) -> Any:
    try:
        tf.reshape(tf.ones([4]), [3])
    except tf.errors.InvalidArgumentError as e:
        return (
            type(e).__name__,
            isinstance(e, tf.errors.OpError),
            isinstance(e, ValueError),
            e.error_code,
            isinstance(e.message, str),
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
