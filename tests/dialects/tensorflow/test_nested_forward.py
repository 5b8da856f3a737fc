"""Accumulators and tapes inside of one another, in every order, read in every position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity
PROGRAMS: list[Callable[..., Any]] = []


def forward(tf: Any, primal: Any, tangent: Any) -> Any:
    """Return an accumulator."""
    return tf.autodiff.ForwardAccumulator(primal, tangent)


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a function of TensorFlow, a point and two directions be a program to compare."""
    PROGRAMS.append(function)
    return function


@program
def ff_closed(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = x**3
    return o.jvp(i.jvp(y))


@program
def ff_rev(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = x**3
    return i.jvp(o.jvp(y))


@program
def ff_rev_in(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = x**3
        r = o.jvp(y)
        return i.jvp(r)


@program
def ff_mid(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        with forward(tf, x, u) as i:
            y = x**3
        j = i.jvp(y)
    return o.jvp(j)


@program
def fr(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        with tf.GradientTape() as g:
            g.watch(x)
            y = x**3
        d = g.gradient(y, x)
    return o.jvp(d)


@program
def fr_out(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, tf.GradientTape() as g:
        g.watch(x)
        y = x**3
    d = g.gradient(y, x)
    return o.jvp(d)


@program
def tape_in_j(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, tf.GradientTape() as g:
        g.watch(x)
        y = x**3
    return g.gradient(o.jvp(y), x)


@program
def tape_out_j(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = x**3
    return g.gradient(o.jvp(y), x)


@program
def tape_late(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = x * x
        with tf.GradientTape() as g:
            g.watch(x)
            z = y * x
    return g.gradient(o.jvp(z), x)


@program
def tang_dep(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(t)
        with forward(tf, x, t * t) as o:
            y = x**3
    return g.gradient(o.jvp(y), t)


@program
def same_obj(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = x**3
    return o.jvp(y) is o.jvp(y)


@program
def same_src(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = x**3
            z = y * x
    return g.gradient(o.jvp(z), o.jvp(y))


@program
def src_prim(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = x**3
            z = y * x
    return g.gradient(o.jvp(z), y)


@program
def read_in_tape(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = x**3
    with tf.GradientTape() as g:
        g.watch(x)
        j = o.jvp(y)
    return g.gradient(j, x)


@program
def read_in_tape_y(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = x**3
    with tf.GradientTape() as g:
        g.watch(o.jvp(y))
        j = o.jvp(y) * 2
    return g.gradient(j, o.jvp(y))


@program
def stop_rec(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = x**3
            with g.stop_recording():
                z = y * x
    return g.gradient(o.jvp(z), x)


@program
def stop_rec_read(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = x**3
        with g.stop_recording():
            j = o.jvp(y)
    return g.gradient(j, x)


@program
def fff(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as a, forward(tf, x, u) as b, forward(tf, x, t) as c:
        y = x**4
    return a.jvp(b.jvp(c.jvp(y)))


@program
def fff2(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as a, forward(tf, x, u) as b, forward(tf, x, t) as c:
        y = x**4
    return [
        a.jvp(c.jvp(y)),
        b.jvp(c.jvp(y)),
        a.jvp(b.jvp(y)),
        c.jvp(b.jvp(y)),
        b.jvp(a.jvp(y)),
        c.jvp(a.jvp(y)),
    ]


@program
def ftf(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as a:
        with tf.GradientTape() as g:
            g.watch(x)
            with forward(tf, x, u) as c:
                y = x**4
        d = g.gradient(c.jvp(y), x)
    return a.jvp(d)


@program
def fft(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, u) as a, forward(tf, x, u) as c:
        with tf.GradientTape() as g:
            g.watch(x)
            y = x**4
        d = g.gradient(y, x)
    return a.jvp(c.jvp(d))


@program
def tg_in_acc_after(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, u) as a:
        with tf.GradientTape(persistent=True) as g:
            g.watch(x)
            y = x**4
        g.gradient(y, x)
    return a.jvp(g.gradient(y, x))


@program
def var(tf: Any, x: Any, t: Any, u: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as g, forward(tf, v, t) as o:
        y = v**3
    return g.gradient(o.jvp(y), v)


@program
def tang_prim(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, x * 2) as i:
        y = x**3
    return o.jvp(i.jvp(y))


@program
def tang_prim2(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, x * 2) as i:
        pass
    return o.jvp(i.jvp(x))


@program
def reenter(tf: Any, x: Any, t: Any, u: Any) -> Any:
    o = forward(tf, x, t)
    with o:
        y = x**2
    with o:
        z = y * x
    return o.jvp(z)


@program
def between(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = x**2
    w = y * 3
    with o:
        z = w * x
    return o.jvp(z)


@program
def fn(tf: Any, x: Any, t: Any, u: Any) -> Any:
    @tf.function
    def f(x):
        return x**3 * tf.sin(x)

    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = f(x)
    return o.jvp(i.jvp(y))


@program
def created_early(tf: Any, x: Any, t: Any, u: Any) -> Any:
    i = forward(tf, x, u)
    with forward(tf, x, t) as o, i:
        y = x**3
    return o.jvp(i.jvp(y))


@program
def created_early_rev(tf: Any, x: Any, t: Any, u: Any) -> Any:
    i = forward(tf, x, u)
    with forward(tf, x, t) as o, i:
        y = x**3
    return i.jvp(o.jvp(y))


@program
def reenter_order(tf: Any, x: Any, t: Any, u: Any) -> Any:
    i = forward(tf, x, u)
    with i:
        w = x * x
    with forward(tf, x, t) as o, i:
        y = w * x
    return [o.jvp(i.jvp(y)), i.jvp(o.jvp(y))]


@program
def tape_reenter(tf: Any, x: Any, t: Any, u: Any) -> Any:
    g = tf.GradientTape(persistent=True)
    with g:
        g.watch(x)
    with forward(tf, x, t) as o, g:
        y = x**3
    return g.gradient(o.jvp(y), x)


@program
def tape_stop_reenter(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            with g.stop_recording():
                x * x
            y = x**3
    return g.gradient(o.jvp(y), x)


@program
def tape_reset(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g, forward(tf, x, t) as o:
        g.reset()
        g.watch(x)
        y = x**3
    return g.gradient(o.jvp(y), x)


@program
def tape_close_before(tf: Any, x: Any, t: Any, u: Any) -> Any:
    g = tf.GradientTape(persistent=True)
    g.__enter__()
    g.watch(x)
    with forward(tf, x, t) as o:
        y = x**3
        g.__exit__(None, None, None)
        z = y * x
    return [g.gradient(o.jvp(y), x), g.gradient(o.jvp(z), x), g.gradient(o.jvp(z), y)]


@program
def var_assign1(tf: Any, x: Any, t: Any, u: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with forward(tf, v, t) as i:
        y = v**3
        v.assign([3.0, 3.0])
        y = y + v**2
    return i.jvp(y)


@program
def grad_in_acc_of_jvp(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape() as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = tf.sin(x)
            z = tf.reduce_sum(tf.exp(y) * x)
        j = o.jvp(z)
        w = j * z
    return g.gradient(w, x)


@program
def read_inside(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape(persistent=True) as g:
        g.watch(x)
        with forward(tf, x, t) as o:
            y = tf.sin(x)
            j = o.jvp(y)
            z = y * j
            k = o.jvp(z)
    return [k, g.gradient(z, x), g.gradient(z, j), g.gradient(z, y)]


@program
def read_inside2(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = tf.sin(x)
        j = i.jvp(y)
        z = y * j
        k = i.jvp(z)
    return [k, o.jvp(k), o.jvp(z), o.jvp(j), i.jvp(j), i.jvp(z)]


@program
def watch_inner_tangent(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with tf.GradientTape(persistent=True) as g, forward(tf, x, t) as o:
        y = tf.sin(x)
        g.watch(o.jvp(y))
        z = y * y * 3.0
    return [g.gradient(o.jvp(z), o.jvp(y)), g.gradient(o.jvp(z), x), g.gradient(o.jvp(z), y)]


@program
def fn2(tf: Any, x: Any, t: Any, u: Any) -> Any:
    @tf.function
    def f(x):
        with forward(tf, x, t) as o:
            y = x**3
        return o.jvp(y)

    with tf.GradientTape() as g:
        g.watch(x)
        y = f(x)
    return g.gradient(y, x)


@program
def unc(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o:
        y = tf.constant([1.0, 2.0]) * 3
    return o.jvp(y, "zero")


@program
def cg(tf: Any, x: Any, t: Any, u: Any) -> Any:
    @tf.custom_gradient
    def f(a):
        return a**3, lambda d: d * 3 * a**2

    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        y = f(x)
    return o.jvp(i.jvp(y))


@program
def topk(tf: Any, x: Any, t: Any, u: Any) -> Any:
    with forward(tf, x, t) as o, forward(tf, x, u) as i:
        a = tf.math.top_k(x * x, 2)[0]
        c, d = tf.split(x**3, 2)
    return [o.jvp(i.jvp(a)), o.jvp(i.jvp(c)), o.jvp(i.jvp(d))]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_nested(function: Callable[..., Any]) -> None:
    def run(tf: Any) -> Any:
        x, t, u = tf.constant([1.0, 2.0]), tf.constant([1.0, 1.0]), tf.constant([1.0, 3.0])
        return function(tf, x, t, u)

    compare(run)
