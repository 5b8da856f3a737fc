"""Programs of tf.math: divisions, kinks, dtypes, errors, complex numbers."""

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

program = WRITTEN = Programs()


@program
def integer_divisions(tf):
    a, b = tf.constant([7, -7, 7, -7]), tf.constant([2, 2, -2, -2])
    return (
        a // b,
        a % b,
        a / b,
        tf.math.floormod(a, b),
        (
            -7 // b,
            7 % b,
            tf.math.floordiv(a, 3),
            tf.math.mod(-1, 5),
            1 / a,
        ),
    )


@program
def integer_division_by_zero(tf):
    return tf.constant(1) // tf.constant(0)


@program
def float_remainders(tf):
    x = tf.constant([5.5, -5.5, 2.0])
    y = tf.constant([2.0, 2.0, -1.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b = tf.math.floormod(x, y), x // y
    return a, b, tape.gradient(a, [x, y]), tape.gradient(b, [x, y])


@program
def python_numbers(tf):
    x = tf.constant(2.5)
    i = tf.constant(3)
    return (
        1 - x,
        2 / x,
        x / 2,
        3**x,
        x**3,
        x // 1,
        7 % x,
        -x,
        abs(-x),
        2 * i,
        i - 1,
        i**2,
        7 // i,
        (
            i / 2,
            x > 2,
            2 > x,  # noqa: SIM300
            x == 2.5,
            i != 3,
            float(x) + int(i),
            round(float(x), 1),
            bool(i),
        ),
    )


@program
def mixed_dtype_errors(tf):
    x, i, d = tf.constant([1.0]), tf.constant([1]), tf.constant([1.0], tf.float64)
    b, s = tf.constant([True]), tf.constant([1], tf.uint8)
    found = []
    for f in (
        lambda: x + i, lambda: x * d, lambda: i + 0.5, lambda: d - x, lambda: x / i, lambda: i**0.5,
        lambda: x @ x, lambda: b + b, lambda: -b, lambda: -s, lambda: abs(s), lambda: x + 1j,
        lambda: tf.maximum(x, i), lambda: tf.sqrt(i), lambda: tf.exp(2), lambda: tf.pow(x, i),
        lambda: tf.add(1, x), lambda: tf.add(i, x), lambda: x < d, lambda: x & x, lambda: ~x,
        lambda: tf.math.reciprocal(i), lambda: tf.math.rsqrt(4), lambda: tf.reduce_mean(b),
        lambda: tf.logical_and(x, x), lambda: tf.math.is_nan(i), lambda: tf.round(b),
        lambda: i << 1,
        lambda: tf.sin("a"), lambda: x + "a", lambda: tf.reduce_sum(["a", "b"]), lambda: x + None,
        lambda: tf.subtract(x, [1, 2, 3]), lambda: tf.multiply(x, {}), lambda: tf.divide(x, "b"),
    ):  # fmt: skip
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def kinks(tf):
    x = tf.constant([-1.0, 0.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [
            tf.abs(x), tf.maximum(x, 0.0), tf.maximum(0.0, x), tf.minimum(x, -x), tf.sign(x),
            tf.nn.relu(x), tf.clip_by_value(x, 0.0, 1.0), tf.round(x), tf.floor(x), x**2 / 2,
            tf.math.ceil(x), tf.where(x > 0, x, 0.1 * x), tf.math.squared_difference(x, 0.0),
            tf.sqrt(tf.abs(x)), tf.math.divide_no_nan(1.0, x), tf.math.multiply_no_nan(x, x),
        ]  # fmt: skip
    return [tape.gradient(y, x) for y in ys]


@program
def safe_square_root(tf):
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        naive = tf.where(x > 0, tf.sqrt(x), 0.0)
        safe = tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0)
        root = tf.sqrt(x)
        power = x**0.5
        inverse = tf.math.rsqrt(x)
    return [tape.gradient(y, x) for y in (naive, safe, root, power, inverse)]


@program
def ties(tf):
    x = tf.constant([[1.0, 1.0, 0.0], [2.0, 5.0, 5.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [
            tf.reduce_max(x), tf.reduce_max(x, axis=1), tf.reduce_min(x, 0),
            tf.sort(x, axis=1)[:, 0],
            tf.maximum(x[0], x[1] - 4), tf.math.top_k(x, 2).values, tf.reduce_max(x, keepdims=True),
            tf.math.segment_max(tf.transpose(x), [0, 0, 1]), tf.norm(x, ord=np.inf),
        ]  # fmt: skip
    return [tape.gradient(y, x) for y in ys]


@program
def nan_and_inf(tf):
    x = tf.constant([np.nan, -np.inf, np.inf, 0.0, 1.0])
    return (
        tf.math.is_nan(x), tf.math.is_inf(x), tf.math.is_finite(x), tf.reduce_max(x[1:]),
        tf.argmax(x), tf.argmin(x), tf.argmax([np.nan, 1.0]), tf.reduce_sum(x), x == x,
        tf.maximum(x, 0.0), tf.sign(x), tf.where(tf.math.is_nan(x), 0.0, x), tf.sigmoid(x),
        tf.exp(x), tf.math.log(x), 1 / x, x * 0, tf.sqrt(x), tf.math.divide_no_nan(x, 0.0),
        tf.reduce_any(tf.math.is_nan(x)), tf.tanh(x), tf.atan(x), tf.clip_by_value(x, -1.0, 1.0),
    )  # fmt: skip


@program
def reductions_by_axis(tf):
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    names = ["sum", "mean", "max", "min", "prod", "logsumexp"]
    found = []
    for name in names:
        f = getattr(tf, f"reduce_{name}")
        found += [
            f(x, 1),
            f(x, axis=[0, -1]),
            f(x / 9, axis=(2,), keepdims=True),
            f(x[:, :0], axis=0),
        ]
    return found


@program
def reductions_gradient(tf):
    x = tf.constant([[0.5, -1.0], [2.0, 0.25]])
    found = []
    for f in (tf.reduce_prod, tf.math.reduce_std, tf.math.reduce_variance, tf.reduce_logsumexp,
              tf.math.reduce_euclidean_norm, tf.reduce_mean):  # fmt: skip
        for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, **options)
            found += [y, tape.gradient(y, x)]
    return found


@program
def boolean_reductions(tf):
    x = tf.constant([[1, 0], [2, 3]])
    return (
        tf.reduce_all(x > 0, axis=0),
        tf.reduce_any(x == 0),
        tf.math.count_nonzero(x, axis=1),
        (
            tf.logical_and(x > 0, x < 3),
            (x > 0) | (x == 0),
            tf.logical_not(x > 1),
            (x > 0) ^ (x > 1),
            tf.reduce_sum(tf.cast(x > 1, tf.int32)),
            tf.math.logical_xor(x > 0, [True, False]),
        ),
    )


@program
def running_totals(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [
            tf.cumsum(x), tf.cumsum(x, axis=-1, reverse=True), tf.cumsum(x, 1, exclusive=True),
            tf.math.cumprod(x, axis=1), tf.math.cumprod(x, 1, True, True),
            tf.math.cumulative_logsumexp(x, axis=1), tf.cumsum(x, exclusive=True, reverse=True),
        ]  # fmt: skip
    w = tf.constant([[1.0, -2.0, 0.5], [3.0, 1.0, -1.0]])
    return [(y, tape.gradient(y, x, output_gradients=w)) for y in ys]


@program
def segments_of_a_batch(tf):
    scores = tf.constant([1.0, 2.0, 3.0, -1.0, 0.5])
    ids = tf.constant([0, 0, 2, 2, 2])
    with tf.GradientTape() as tape:
        tape.watch(scores)
        top = tf.math.segment_max(scores, ids)
        e = tf.exp(scores - tf.gather(top, ids))
        soft = e / tf.gather(tf.math.segment_sum(e, ids), ids)
        loss = tf.reduce_sum(soft * [1.0, 2.0, 3.0, 4.0, 5.0])
    return top, soft, tape.gradient(loss, scores)


@program
def graph_message_passing(tf):
    nodes = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    src, dst = tf.constant([0, 1, 2, 2]), tf.constant([1, 2, 0, 1])
    with tf.GradientTape() as tape:
        messages = tf.gather(nodes, src) * tf.constant([[1.0], [0.5], [2.0], [-1.0]])
        a = tf.math.unsorted_segment_sum(messages, dst, num_segments=3)
        b = tf.math.unsorted_segment_mean(messages, dst, 4)
        c = tf.math.unsorted_segment_max(messages, dst, 3)
        loss = tf.reduce_sum(tf.tanh(a / 10)) + tf.reduce_sum(b) + tf.reduce_sum(c)
    return a, b, c, tf.convert_to_tensor(tape.gradient(loss, nodes))


@program
def clipped_gradients(tf):
    a, b = tf.Variable([3.0, 4.0]), tf.Variable(12.0)
    with tf.GradientTape() as tape:
        y = 0.5 * (tf.reduce_sum(a**2) + b**2)
    grads = tape.gradient(y, [a, b])
    clipped, norm = tf.clip_by_global_norm(grads, 6.5)
    return (
        clipped,
        norm,
        tf.linalg.global_norm(grads),
        tf.clip_by_norm(grads[0], 1),
        (
            tf.clip_by_value(grads[0], -3.5, 3.5),
            tf.clip_by_global_norm([grads[0], None], 1.0)[0][1],
        ),
    )


@program
def differentiated_clips(tf):
    x = tf.constant([3.0, -4.0, 0.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.clip_by_value(x, -1, 1)
        b = tf.clip_by_norm(x, 2.0)
        c = tf.clip_by_norm(x, 100.0)
        (d,), norm = tf.clip_by_global_norm([x], 1.0)
    return [tape.gradient(v, x) for v in (a, b, c, d, norm)]


@program
def complex_signals(tf):
    t = tf.linspace(0.0, 1.0, 5)
    phase = tf.Variable(0.3)
    with tf.GradientTape() as tape:
        z = tf.exp(tf.complex(0.0 * t, 2 * np.pi * t + phase))
        y = tf.reduce_sum(tf.math.real(z) ** 2 + tf.math.imag(z * tf.math.conj(z[0])))
    return z, y, tape.gradient(y, phase), tf.math.angle(z), tf.abs(z), z.dtype


@program
def complex_gradients(tf):
    z = tf.Variable([1 + 2j, -0.5 + 0.1j])
    with tf.GradientTape(persistent=True) as tape:
        ys = [
            tf.abs(z) ** 2, z**2, tf.math.conj(z) * 3, tf.exp(z), tf.sigmoid(z), tf.math.log(z),
            tf.reduce_sum(z * tf.math.conj(z)), tf.math.real(z**3), tf.sqrt(z), 1 / z, tf.sin(z),
            tf.math.imag(z) * 2, tf.reduce_prod(z), tf.cast(tf.math.real(z), tf.complex128) * z,
        ]  # fmt: skip
    return [tape.gradient(y, z) for y in ys]


@program
def multiply_no_nan_twice(tf):
    x, y = tf.constant([np.inf, 2.0, 3.0]), tf.constant([0.0, 0.0, 4.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.math.multiply_no_nan(x, y)
        gx, gy = tape.gradient(z, [x, y])
    return z, gx, gy, outer.gradient(gx, y), outer.gradient(gy, x)


@program
def zero_power_twice(tf):
    x = tf.constant([0.0, 2.0])
    found = []
    for n in (0, 1, 2, 3, 0.5):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**n
            g = tape.gradient(y, x)
        found += [y, g, outer.gradient(g, x)]
    return found


@program
def power_of_variables(tf):
    a, b = tf.Variable([2.0, 0.0, -3.0]), tf.Variable([3.0, 2.0, 2.0])
    with tf.GradientTape() as tape:
        y = a**b + 2.0**b - b ** tf.constant(2.0)
    return y, tape.gradient(y, [a, b])


@program
def entropy_of_zeros(tf):
    p = tf.constant([0.0, 0.25, 0.75])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(p)
        a = -tf.reduce_sum(tf.math.xlogy(p, p))
        b = -tf.reduce_sum(p * tf.math.log(p + 1e-9))
        c = tf.reduce_sum(tf.math.xdivy(p, p))
        d = -tf.reduce_sum(tf.math.multiply_no_nan(tf.math.log(p), p))
    return [(v, tape.gradient(v, p)) for v in (a, b, c, d)]


@program
def special_functions(tf):
    x = tf.constant([0.4, 1.7])
    names = ["lgamma", "digamma", "erf", "erfc", "expm1", "log1p", "bessel_i0", "bessel_i1",
             "bessel_i0e", "sinh", "acosh", "asinh", "special.dawsn", "special.bessel_j1",
             "special.bessel_k0", "special.expint", "special.spence",
             "special.fresnel_cos"]  # fmt: skip
    found = []
    for name in names:
        f = tf.math
        for part in name.split("."):
            f = getattr(f, part)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x + (1.0 if name == "acosh" else 0.0))
        found.append((y, tape.gradient(y, x)))
    return found


@program
def gamma_functions(tf):
    a, x = tf.constant([0.5, 2.0]), tf.constant([1.0, 1.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, x])
        p, q = tf.math.igamma(a, x), tf.math.igammac(a, x)
        t = tf.math.polygamma(1.0, x)
    return p, q, t, tape.gradient(p, [a, x]), tape.gradient(q, [a, x]), tape.gradient(t, x)


@program
def bits(tf):
    a = tf.constant([5, 3], tf.uint8)
    return (
        tf.bitwise.bitwise_and(a, 6),
        tf.bitwise.left_shift(a, 1),
        tf.bitwise.invert(a),
        a & 4,
        a | 8,
        (
            a ^ a,
            ~a,
            tf.bitwise.right_shift(tf.constant([-8]), [1]),
            tf.bitwise.bitwise_xor([1, 2], [3, 4]),
        ),
    )


@program
def confusion(tf):
    labels, predicted = [0, 1, 2, 2], [0, 2, 2, 2]
    m = tf.math.confusion_matrix(labels, predicted)
    recall = tf.linalg.diag_part(m) / tf.reduce_sum(m, axis=1)
    return (
        m,
        recall,
        tf.math.bincount([1, 1, 3], minlength=5, dtype=tf.int64),
        tf.math.bincount([0, 1], weights=[0.5, 0.25]),
    )


@program
def names_and_keywords(tf):
    x = tf.constant([1.0, 2.0])
    return (
        tf.add(x, y=x, name="sum"), tf.math.multiply(x=x, y=2), tf.pow(x, y=2.0),
        tf.reduce_sum(input_tensor=x, axis=0, keepdims=True, name="s"), tf.abs(x=-x, name="a"),
        tf.math.log(x, name="l"), tf.maximum(x=x, y=1.5), tf.math.atan2(y=x, x=x), tf.square(x=x),
        tf.cumsum(x, axis=0, name="c"), tf.argmax(input=x), tf.sqrt(x, "root"), tf.less(x, y=2.0),
        tf.clip_by_value(t=x, clip_value_min=1, clip_value_max=1.5), tf.sigmoid(x=x),
        tf.math.reciprocal(x=x, name="r"), tf.scalar_mul(scalar=2.0, x=x), tf.negative(x=x),
    )  # fmt: skip


@program
def argument_errors(tf):
    x = tf.constant([[1.0, 2.0]])
    found = []
    for f in (
        lambda: tf.reduce_sum(x, axis=2), lambda: tf.reduce_sum(x, axis=[0, 0]), lambda: tf.add(x),
        lambda: tf.reduce_max(x, axis="a"), lambda: tf.argmax(x, axis=5), lambda: tf.cumsum(x, 3),
        lambda: tf.add_n([]), lambda: tf.add_n([x, x[0]]), lambda: tf.math.segment_sum(x, [0, 1]),
        lambda: tf.math.segment_sum(x[0], [1, 0]), lambda: tf.reduce_sum(x, dim=0),
        lambda: tf.clip_by_value(x, [1.0, 2.0, 3.0], 4.0),
        lambda: tf.math.confusion_matrix([0], [-1]),
        lambda: tf.math.top_k(x, 5), lambda: tf.math.unsorted_segment_sum(x, [9], 2),
        lambda: tf.sqrt(None),
        lambda: tf.clip_by_norm(x, None), lambda: tf.argmax(tf.zeros([0])), lambda: tf.pow(2, -1),
    ):  # fmt: skip
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_written(name):
    compare(WRITTEN[name])
