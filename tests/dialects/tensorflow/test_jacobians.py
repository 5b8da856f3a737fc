"""Jacobians, batch Jacobians and forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare
from tests.dialects.tensorflow.tape_cases import table, vector

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


# -- jacobians ------------------------------------------------------------------------------------


def jacobian(
    target: Callable[..., Any],
    sources: Callable[..., Any] = lambda tf, x, v, m: x,
    persistent: bool = False,
    method: str = "jacobian",
    **options: Any,
) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x, v, m = vector(tf), tf.Variable([1.0, 2.0]), table(tf, "constant")
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch([x, m])
            y = target(tf, x, v, m)
        return getattr(tape, method)(y, sources(tf, x, v, m), **options)

    return run


PROGRAMS |= {
    "jacobian": jacobian(lambda tf, x, v, m: x * x),
    "jacobian_nest": jacobian(
        lambda tf, x, v, m: x * v[0], lambda tf, x, v, m: {"b": v, "a": [x, m]}
    ),
    "jacobian_zero": jacobian(
        lambda tf, x, v, m: x * v[0], lambda tf, x, v, m: [m, v], unconnected_gradients="zero"
    ),
    "jacobian_loop": jacobian(lambda tf, x, v, m: x * x, experimental_use_pfor=False),
    "jacobian_loop_persistent": jacobian(
        lambda tf, x, v, m: x * x, persistent=True, experimental_use_pfor=False
    ),
    "jacobian_of_a_number": jacobian(lambda tf, x, v, m: tf.reduce_sum(x * x)),
    "jacobian_of_a_constant": jacobian(lambda tf, x, v, m: tf.constant([1.0, 2.0])),
    "jacobian_of_a_constant_zero": jacobian(
        lambda tf, x, v, m: tf.constant([1.0, 2.0]), unconnected_gradients="zero"
    ),
    "jacobian_of_a_list": jacobian(lambda tf, x, v, m: [x * x]),
    "jacobian_of_none": jacobian(lambda tf, x, v, m: None),
    "jacobian_of_whole_numbers": jacobian(lambda tf, x, v, m: tf.cast(x, tf.int32)),
    "jacobian_of_nothing": jacobian(lambda tf, x, v, m: x[:0] * 2.0),
    "jacobian_of_itself": jacobian(lambda tf, x, v, m: x),
    "jacobian_of_a_variable": jacobian(lambda tf, x, v, m: v, lambda tf, x, v, m: v),
    "jacobian_of_a_matrix": jacobian(lambda tf, x, v, m: m * m, lambda tf, x, v, m: m),
    "jacobian_of_a_product": jacobian(
        lambda tf, x, v, m: tf.linalg.matvec(m, v), lambda tf, x, v, m: [m, v]
    ),
    "jacobian_of_rows": jacobian(lambda tf, x, v, m: tf.gather(m, [0, 0]), lambda tf, x, v, m: m),
}
PROGRAMS |= {
    f"batch_{name}": jacobian(target, lambda tf, x, v, m: m, method="batch_jacobian", **options)
    for name, target, options in (
        ("jacobian", lambda tf, x, v, m: m * m, {}),
        ("jacobian_of_products", lambda tf, x, v, m: m[:, :, None] * m[:, None, :], {}),
        ("jacobian_unconnected", lambda tf, x, v, m: tf.ones([3, 2]), {}),
        ("jacobian_zero", lambda tf, x, v, m: tf.ones([3, 2]), {"unconnected_gradients": "zero"}),
        ("jacobian_of_vectors", lambda tf, x, v, m: x * x, {}),
        ("jacobian_of_other_length", lambda tf, x, v, m: tf.ones([2, 2]), {}),
        ("jacobian_loop", lambda tf, x, v, m: m * m, {"experimental_use_pfor": False}),
        ("jacobian_loop_persistent", lambda tf, x, v, m: m * m,
         {"experimental_use_pfor": False, "persistent": True}),
    )
}  # fmt: skip


@program
def jacobian_then_gradient(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    tape.jacobian(y, v)
    return tape.gradient(y, v)


# -- forward mode ---------------------------------------------------------------------------------


def forward(
    function: Callable[..., Any],
    primals: Callable[..., Any] = lambda tf, x, v: x,
    tangents: Callable[..., Any] = lambda tf, x, v: tf.ones_like(x),
    **options: Any,
) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x, v = vector(tf), tf.Variable([1.0, 2.0])
        accumulator = tf.autodiff.ForwardAccumulator(primals(tf, x, v), tangents(tf, x, v))
        with accumulator:
            y = function(tf, x, v)
        return accumulator.jvp(y, **options)

    return run


PROGRAMS |= {
    "forward": forward(lambda tf, x, v: x * x),
    "forward_nest": forward(
        lambda tf, x, v: {"q": [x * x, v * v], "p": x[0] * v[1]},
        lambda tf, x, v: {"a": x, "b": v},
        lambda tf, x, v: {"a": tf.ones_like(x), "b": tf.constant([1.0, 0.0])},
    ),
    "forward_none": forward(lambda tf, x, v: v * v),
    "forward_zero": forward(lambda tf, x, v: v * v, unconnected_gradients="zero"),
    "forward_bad_option": forward(lambda tf, x, v: v * v, unconnected_gradients="q"),
    "forward_array": forward(
        lambda tf, x, v: x * x, tangents=lambda tf, x, v: np.array([1, 0, 2], np.float32)
    ),
    "forward_wider": forward(
        lambda tf, x, v: x * x, tangents=lambda tf, x, v: tf.ones([3], tf.float64)
    ),
    "forward_whole_numbers": forward(
        lambda tf, x, v: x * x,
        lambda tf, x, v: tf.constant([1, 2]),
        lambda tf, x, v: tf.constant([1, 2]),
    ),
    "forward_other_nest": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x], lambda tf, x, v: [x, x]
    ),
    "forward_list_for_tensor": forward(
        lambda tf, x, v: x, tangents=lambda tf, x, v: [1.0, 1.0, 1.0]
    ),
    "forward_no_tangent": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x, v], lambda tf, x, v: [None, v]
    ),
    "forward_of_a_number": forward(lambda tf, x, v: x, lambda tf, x, v: 1.0, lambda tf, x, v: 1.0),
    "forward_to_a_number": forward(lambda tf, x, v: 3.0),
    "forward_to_none": forward(lambda tf, x, v: None),
    "forward_to_the_primal": forward(lambda tf, x, v: x),
    "forward_to_a_variable": forward(
        lambda tf, x, v: v, lambda tf, x, v: v, lambda tf, x, v: tf.constant([3.0, 4.0])
    ),
    "forward_to_whole_numbers": forward(lambda tf, x, v: tf.cast(x, tf.int32)),
    "forward_twice_the_same": forward(
        lambda tf, x, v: x, lambda tf, x, v: [x, x], lambda tf, x, v: [x, x]
    ),
    "forward_product": forward(lambda tf, x, v: tf.reduce_sum(tf.sin(x) * tf.exp(-x))),
}


@program
def forward_not_entered(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    return accumulator.jvp(x * x), accumulator.jvp(x)


@program
def forward_entered_again(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    with accumulator:
        y = x * x
    with accumulator:
        z = y * x
    return accumulator.jvp(z)


@program
def forward_entered_while_open(tf: Any) -> Any:
    x = vector(tf)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    with accumulator, accumulator:
        pass


@program
def forward_over_reverse(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.5])) as accumulator:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3) * v[0]
        g = tape.gradient(y, v)
    return accumulator.jvp(g), accumulator.jvp(y), g


@program
def reverse_over_forward(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.5])) as accumulator:
            y = tf.reduce_sum(v**3) * v[0]
        j = accumulator.jvp(y)
    return j, tape.gradient(j, v)


@program
def forward_over_forward(tf: Any) -> Any:
    x = vector(tf)
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0, 2.0])) as a:
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 1.0, 0.0])) as b:
            y = tf.reduce_sum(x**3)
        j = b.jvp(y)
    return a.jvp(j), a.jvp(y)


@program
def forward_through_an_assignment(tf: Any) -> Any:
    a = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(a, tf.constant(1.0)) as accumulator:
        a.assign(a * 3)
        y = a * a
    return accumulator.jvp(y), accumulator.jvp(a)


@program
def guide_jac_source(tf: Any) -> Any:
    x = tf.linspace(-10.0, 10.0, 21)
    delta = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(x + delta)
    dy = tape.jacobian(y, delta)
    return (dy.shape, y.shape, dy)


@program
def guide_jac_layer(tf: Any) -> Any:
    x = tf.constant(np.linspace(-1, 1, 35).reshape(7, 5).astype("f"))
    k = tf.Variable(np.linspace(-0.5, 0.5, 50).reshape(5, 10).astype("f"))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.nn.relu(x @ k)
    j = tape.jacobian(y, k)
    g = tape.gradient(y, k)
    j_sum = tf.reduce_sum(j, axis=[0, 1])
    delta = tf.reduce_max(abs(g - j_sum)).numpy()
    return (y.shape, k.shape, j.shape, bool(delta < 0.001))


@program
def guide_newton(tf: Any) -> Any:
    x = tf.constant(np.cos(np.arange(12)).reshape(4, 3).astype("f"))
    k1 = tf.Variable(np.sin(np.arange(6)).reshape(3, 2).astype("f"))
    k2 = tf.Variable(np.cos(np.arange(4)).reshape(2, 2).astype("f"))
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            loss = tf.reduce_mean(tf.tanh(tf.tanh(x @ k1) @ k2) ** 2)
        g = t1.gradient(loss, k1)
    h = t2.jacobian(g, k1)
    n = tf.reduce_prod(k1.shape)
    gv = tf.reshape(g, [n, 1])
    hm = tf.reshape(h, [n, n])
    eye = tf.eye(h.shape[0] * h.shape[1]) * 0.001
    up = tf.linalg.solve(hm + eye, gv)
    k1.assign_sub(tf.reshape(up, k1.shape))
    return (hm, n, f"x.shape: {x.shape}, n: {n}")


@program
def guide_batchjac(tf: Any) -> Any:
    x = tf.constant(np.linspace(-1, 1, 35).reshape(7, 5).astype("f"))
    k = tf.constant(np.sin(np.arange(30)).reshape(5, 6).astype("f"))
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = tf.nn.elu(x @ k)
    j = tape.jacobian(y, x)
    js = tf.reduce_sum(j, axis=2)
    jb = tape.batch_jacobian(y, x)
    return (jb, float(tf.reduce_max(abs(jb - js))) < 1e-06, tf.einsum("bxby->bxy", j))


@program
def jac_of_dict_sources(tf: Any) -> Any:
    a, b = (tf.Variable([1.0, 2.0]), tf.Variable([[3.0], [4.0]]))
    with tf.GradientTape() as t:
        y = a * b[:, 0]
    return t.jacobian(y, {"a": a, "b": b})


@program
def hvp_fwd_over_back(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
        g = t.gradient(y, x)
    return (g, acc.jvp(g))


@program
def hvp_back_over_fwd(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    v = tf.constant([1.0, -1.0, 0.5])
    with tf.GradientTape() as t:
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = tf.reduce_sum(tf.sin(x) * tf.roll(x, 1, 0))
        j = acc.jvp(y)
    return (j, t.gradient(j, x))


@program
def fa_basic(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = tf.constant([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator(
        (x, y), (tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0]))
    ) as acc:
        z = x * y
        w = tf.reduce_sum(z)
    return (
        acc.jvp(z),
        acc.jvp(w),
        acc.jvp([z, w]),
        acc.jvp(tf.constant(1.0)),
        acc.jvp(tf.constant(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO),
    )


@program
def fa_dict(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0]])
    with tf.autodiff.ForwardAccumulator(primals=v, tangents=tf.ones([1, 2])) as acc:
        y = tf.nn.softmax(v @ [[1.0, 0.0], [2.0, 1.0]])
    return acc.jvp({"y": y})


@program
def fa_dtype(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return tf.autodiff.ForwardAccumulator(x, tf.constant([1, 2]))


@program
def fa_pytangent(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, [1.0, 0.0]) as acc:
        y = x**2
    return acc.jvp(y)


@program
def fa_nested(tf: Any) -> Any:
    x = tf.constant(1.5)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as o:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as i:
            y = tf.sin(x) * x
        d = i.jvp(y)
    return (d, o.jvp(d))


@program
def jac_scalar(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        y = x**2
        z = tf.stack([x, x**3])
    return (t.jacobian(y, x), t.jacobian(z, x), t.jacobian(z, [x]))


@program
def jac_none(tf: Any) -> Any:
    x = tf.Variable(2.0)
    y = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        z = x * tf.constant([1.0, 2.0])
    return t.jacobian(z, [x, y])


@program
def jac_pfor_false(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as t:
        y = tf.sin(x)
    return (t.jacobian(y, x, experimental_use_pfor=False), t.jacobian(y, x, parallel_iterations=2))


@program
def jac_pfor_err(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.sin(x)
    return t.jacobian(y, x, experimental_use_pfor=False)


@program
def jac_list_target(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = [x * 2, x * 3]
    return t.jacobian(y, x)


@program
def bjac_err(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = x * 2
    return t.batch_jacobian(y, x)


@program
def bjac_err2(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        y = x[:1] * 2
    return t.batch_jacobian(y, x)


@program
def hessian_diag(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            y = tf.reduce_sum(x**4)
        g = b.gradient(y, x)
    h = a.jacobian(g, x)
    return (tf.linalg.diag_part(h), h)


@program
def rosenbrock_newton(tf: Any) -> Any:
    x = tf.Variable([-1.2, 1.0], dtype=tf.float64)
    for _ in range(5):
        with tf.GradientTape() as a:
            with tf.GradientTape() as b:
                y = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
            g = b.gradient(y, x)
        h = a.jacobian(g, x)
        x.assign_sub(tf.linalg.matvec(tf.linalg.inv(h), g))
    return (x, g)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
