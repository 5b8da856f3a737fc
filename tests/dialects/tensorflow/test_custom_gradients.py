"""Functions with gradients of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare
from tests.dialects.tensorflow.tape_cases import vector

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


def custom(function: Callable[..., Any], count: int = 1, **options: Any) -> Callable[[Any], Any]:
    """Return a program: a function of vectors with its own gradient, and that gradient."""

    def run(tf: Any) -> Any:
        xs = [vector(tf) + float(i) for i in range(count)]
        own = tf.custom_gradient(lambda *args, **kwargs: function(tf, *args, **kwargs))
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = own(*xs, **options)
        return y, tape.gradient(y, xs)

    return run


PROGRAMS |= {
    "custom": custom(lambda tf, x: (x * 2, lambda up: up * 100.0)),
    "custom_two_results": custom(
        lambda tf, x, y: ((x * y, x + y), lambda a, b: (a * 10.0, b * 20.0)), 2
    ),
    "custom_too_few": custom(lambda tf, x, y: (x * y, lambda up: up), 2),
    "custom_too_many": custom(lambda tf, x: (x, lambda up: (up, up))),
    "custom_none": custom(lambda tf, x, y: (x * y, lambda up: (up, None)), 2),
    "custom_none_of_numbers": lambda tf: custom(
        lambda tf, x, y: (x[0] * y[1], lambda up: (None, None)), 2
    )(tf),
    "custom_option": custom(
        lambda tf, x, scale=1.0: (x * scale, lambda up: up * scale * 7.0), scale=3.0
    ),
    "custom_without_gradient": custom(lambda tf, x: x),
    "custom_dict": custom(lambda tf, x: ({"a": x * 2, "b": x * 3}, lambda a, b: a * 2 + b * 30)),
    "custom_any_number": custom(lambda tf, *xs: (tf.add_n(xs), lambda up: [up] * len(xs)), 3),
    "custom_list": custom(lambda tf, x: ([x, x * 2], lambda a, b: [a + 5.0 * b])),
    "custom_clipped": custom(
        lambda tf, x: (tf.identity(x), lambda up: tf.clip_by_value(up * x, 0.0, 2.0))
    ),
    "custom_log1pexp": custom(
        lambda tf, x: (
            tf.math.log(1 + tf.exp(x)),
            lambda up: up * (1 - 1 / (1 + tf.exp(x))),
        )
    ),
}


@program
def custom_one_result_of_two(tf: Any) -> Any:
    x = vector(tf)
    both = tf.custom_gradient(lambda x: ((x * 2, x * 3), lambda a, b: a * 10.0 + b))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = both(x)
    return tape.gradient(a, x), tape.gradient(b, x), tape.gradient([a, b], x)


@program
def custom_of_a_nest(tf: Any) -> Any:
    x = vector(tf)
    total = tf.custom_gradient(lambda xs: (tf.add_n(xs), lambda up: [up * 2.0, up * 3.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total([x, x * 2])
    return tape.gradient(y, x)


@program
def custom_of_a_variable(tf: Any) -> Any:
    w = tf.Variable(3.0)
    own = tf.custom_gradient(lambda u: (u * 2.0, lambda up: up * 5.0))
    with tf.GradientTape() as tape:
        y = own(w)
    return tape.gradient(y, w)


def reading(tf: Any, w: Any, gradient: Any) -> Any:
    x = vector(tf)
    own = tf.custom_gradient(lambda x: (x * w, gradient(x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = own(x)
    return y, tape.gradient(y, [x, w])


@program
def custom_that_reads_a_variable(tf: Any) -> Any:
    w = tf.Variable(3.0)

    def gradient(x: Any) -> Any:
        def pull(up: Any, variables: Any = None) -> Any:
            return up * w * 10.0, [tf.reduce_sum(up * x) * 100.0 for _ in variables]

        return pull

    return reading(tf, w, gradient)


@program
def custom_that_reads_a_variable_any_keyword(tf: Any) -> Any:
    w = tf.Variable(3.0)
    return reading(tf, w, lambda x: lambda up, **kwargs: (up, [up[0] for _ in kwargs["variables"]]))


@program
def custom_that_reads_a_variable_in_secret(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0), lambda x: lambda up: up)


@program
def custom_that_forgets_a_variable(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0), lambda x: lambda up, variables=None: (up, []))


@program
def custom_that_reads_a_constant_variable(tf: Any) -> Any:
    return reading(tf, tf.Variable(3.0, trainable=False), lambda x: lambda up: up * 4.0)


@program
def custom_that_reads_a_tensor(tf: Any) -> Any:
    x, z = vector(tf), tf.constant(2.0)
    own = tf.custom_gradient(lambda x: (x * z, lambda up: up * 9.0))
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = own(x)
    return tape.gradient(y, [x, z])


@program
def custom_second_order(tf: Any) -> Any:
    x = vector(tf)
    cube = tf.custom_gradient(lambda x: (x**3, lambda up: up * 3 * x**2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program
def custom_in_custom(tf: Any) -> Any:
    x = vector(tf)

    @tf.custom_gradient
    def cube(x: Any) -> Any:
        def pull(up: Any) -> Any:
            @tf.custom_gradient
            def slope(x: Any) -> Any:
                return 3 * x**2 * up, lambda u: u * 1000.0

            return slope(x)

        return x**3, pull

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program
def custom_method(tf: Any) -> Any:
    class Layer:
        @tf.custom_gradient
        def scaled(self, x: Any) -> Any:
            """Its text."""
            return x * 2, lambda up: up * 50.0

    x = vector(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Layer().scaled(x)
    return tape.gradient(y, x), Layer.scaled.__name__, Layer.scaled.__doc__


@program
def custom_without_a_tape(tf: Any) -> Any:
    return tf.custom_gradient(lambda x: (x * 2, lambda up: up))(vector(tf))


@program
def custom_of_a_python_number(tf: Any) -> Any:
    x = vector(tf)
    power = tf.custom_gradient(lambda x, n: (x**n, lambda up: (up * n * x ** (n - 1), None)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, 3.0)
    return tape.gradient(y, x)


@program
def custom_decorator_with_parentheses(tf: Any) -> Any:
    return tf.custom_gradient()(lambda x: (x * 2, lambda up: up))(vector(tf))


@program
def custom_missing_argument(tf: Any) -> Any:
    return tf.custom_gradient(lambda x: (x * 2, lambda up: up))()


@program
def recomputed(tf: Any) -> Any:
    x, w = vector(tf), tf.Variable(3.0)
    calls = []

    def layer(x: Any, scale: float = 1.0) -> Any:
        calls.append(1)
        return tf.sin(x) * w * scale

    again = tf.recompute_grad(layer)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = again(again(x, scale=2.0))
    return y, tape.gradient(y, [x, w]), len(calls), again.__name__


@program
def recomputed_two_results(tf: Any) -> Any:
    x = vector(tf)
    again = tf.recompute_grad(lambda x: (tf.exp(x), x * x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = again(x)
        y = tf.reduce_sum(a * b)
    return tape.gradient(y, x)


@program
def gradient_stopped(tf: Any) -> Any:
    x, v = vector(tf), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * tf.stop_gradient(x)) + tf.reduce_sum(tf.stop_gradient(v))
    return tape.gradient(y, [x, v]), tf.stop_gradient(1), tf.stop_gradient([x, x])


@program
def gradient_passed_through(tf: Any) -> Any:
    x = vector(tf) * 1.3
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x) * 2.0
    return y, tape.gradient(y, x)


@program
def graph_gradients(tf: Any) -> Any:
    return tf.gradients(vector(tf), vector(tf))


@program
def choices(tf: Any) -> Any:
    return [c.value for c in tf.UnconnectedGradients], tf.UnconnectedGradients("zero").name


@program
def of_a_module(tf: Any) -> Any:
    class Line(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = tf.Variable([2.0, 1.0]), tf.Variable(0.5)
            self.frozen = tf.Variable(4.0, trainable=False)

        def __call__(self, x: Any) -> Any:
            return tf.reduce_sum(self.w * x) * self.frozen + self.b

    line = Line()
    with tf.GradientTape() as tape:
        y = line(tf.constant([1.0, 2.0])) ** 2
    return tape.gradient(y, line.trainable_variables), tape.gradient.__name__


@program
def complex_numbers(tf: Any) -> Any:
    z = tf.constant([1 + 2j, 3 - 1j])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(z)
        y = tf.math.real(z * z)
        w = z * z
    return tape.gradient(y, z), tape.gradient(w, z)


@program
def dtypes_of_gradients(tf: Any) -> Any:
    answers = []
    for dtype in (tf.float16, tf.float32, tf.float64):
        v = tf.Variable([1.0, 2.0], dtype=dtype)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v * 3)
        answers.append(tape.gradient(y, v))
    return answers


@program
def cg_log1pexp(tf: Any) -> Any:

    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(up):
            return up * (1 - 1 / (1 + e))

        return (tf.math.log(1 + e), grad)

    x = tf.constant([0.0, 100.0, -3.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = log1pexp(x)
    return t.gradient(y, x)


@program
def cg_two(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):

        def grad(dz):
            return (dz * y * 10, dz * x)

        return (x * y, grad)

    a, b = (tf.Variable(2.0), tf.Variable(3.0))
    with tf.GradientTape() as t:
        z = f(a, b) * 2
    return t.gradient(z, [a, b])


@program
def cg_multi_out(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x):

        def grad(d1, d2):
            return d1 * 2 + d2 * 3

        return ((x * x, x + 1), grad)

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        a, b = f(x)
    return (t.gradient(a, x), t.gradient(b, x), t.gradient([a, b], x))


@program
def cg_var(tf: Any) -> Any:
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):

        def grad(dy, variables=None):
            return (dy * w * 100, [dy * x * 10 for v in variables])

        return (x * w, grad)

    x = tf.constant(2.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    return t.gradient(y, [x, w])


@program
def cg_var_missing(tf: Any) -> Any:
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return (x * w, lambda dy: dy)

    with tf.GradientTape():
        y = f(tf.constant(1.0))
    return y


@program
def cg_wrong_count(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):
        return (x * y, lambda dz: dz)

    x = tf.constant(1.0)
    with tf.GradientTape() as t:
        t.watch(x)
        z = f(x, x)
    return t.gradient(z, x)


@program
def cg_none(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, y):
        return (x * y, lambda dz: (dz, None))

    x, y = (tf.Variable(1.0), tf.Variable(2.0))
    with tf.GradientTape() as t:
        z = f(x, y)
    return t.gradient(z, [x, y])


@program
def cg_second(tf: Any) -> Any:

    @tf.custom_gradient
    def sq(x):

        def g(dy):
            return dy * 3 * x**2

        return (x**3, g)

    x = tf.Variable(2.0)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            y = sq(x)
        d = b.gradient(y, x)
    return (d, a.gradient(d, x))


@program
def cg_ste(tf: Any) -> Any:

    @tf.custom_gradient
    def rnd(x):
        return (tf.round(x), lambda dy: dy)

    x = tf.Variable([0.2, 0.7, 1.5])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(rnd(x) ** 2)
    return t.gradient(y, x)


@program
def cg_reversal(tf: Any) -> Any:

    @tf.custom_gradient
    def flip(x, loss=0.5):
        return (tf.identity(x), lambda dy: -dy * 0.5)

    w = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(flip(w * 2) ** 2)
    return t.gradient(y, w)


@program
def cg_kw(tf: Any) -> Any:

    @tf.custom_gradient
    def f(x, scale=2.0):
        return (x * scale, lambda dy: dy * scale)

    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x, scale=4.0)
    return (y, t.gradient(y, x))


@program
def stopgrad(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(x * tf.stop_gradient(x) + tf.stop_gradient(x**2))
    return (t.gradient(y, x), tf.stop_gradient([1.0, 2.0]), tf.stop_gradient(np.ones(2)))


@program
def stopgrad_list(tf: Any) -> Any:
    return tf.stop_gradient([tf.constant(1.0), tf.constant(2.0)])


@program
def recompute(tf: Any) -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.recompute_grad(lambda x: tf.tanh(x @ w))
    x = tf.constant([[1.0, -1.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.reduce_sum(f(x))
    return t.gradient(y, [x, w])


@program
def gpt(tf: Any) -> Any:
    f = tf.grad_pass_through(tf.round)
    x = tf.Variable([1.4, 2.6])
    with tf.GradientTape() as t:
        y = f(x) * 2
    return (y, t.gradient(y, x))


@program
def gradients_err(tf: Any) -> Any:
    return tf.gradients(1, 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
