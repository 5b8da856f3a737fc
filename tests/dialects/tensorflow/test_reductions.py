"""Reductions, segments and running totals."""

import numpy as np
import pytest

from tests.dialects.tensorflow.math_cases import INF, NAN, A, B, derived, first, look_up
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


REDUCTIONS = [
    "reduce_sum",
    "reduce_prod",
    "reduce_mean",
    "reduce_max",
    "reduce_min",
    "reduce_logsumexp",
    "reduce_std",
    "reduce_variance",
    "reduce_euclidean_norm",
]
THREE = np.random.default_rng(0).normal(size=(2, 3, 4))
AXES = {
    "all": {},
    "0": {"axis": 0},
    "-1": {"axis": -1},
    "1, kept": {"axis": 1, "keepdims": True},
    "[0, 2]": {"axis": [0, 2]},
    "(1,)": {"axis": (1,)},
    "()": {"axis": ()},
    "[]": {"axis": []},
    "all, kept": {"keepdims": True},
    "array": {"axis": np.array([0, -1])},
    "3": {"axis": 3},
    "-4": {"axis": -4},
    "twice": {"axis": [0, 0]},
    "0.5": {"axis": 0.5},
    "[0, 3]": {"axis": [0, 3]},
}


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axes):
    def program(tf):
        # of one or two numbers, second derivatives of these are 0 but for rounding
        flat = name in ("reduce_std", "reduce_euclidean_norm") and axes in ("0", "()", "[]")
        f = first if flat else derived
        return f(tf, lambda x: look_up(tf.math, name)(x, **AXES[axes]), THREE, dtype="float64")

    compare(program)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", ["reduce_all", "reduce_any", "count_nonzero"])
def test_reductions_without_derivatives(name, axes):
    compare(lambda tf: look_up(tf.math, name)(THREE > 0.3, **AXES[axes]))


PROGRAMS = {
    "axis tensor": lambda tf: tf.reduce_sum(tf.ones([2, 3]), tf.constant(1)),
    "axes tensor": lambda tf: tf.reduce_sum(tf.ones([2, 3]), tf.constant([0, 1])),
    "by name": lambda tf: tf.reduce_mean(input_tensor=[1.0, 2.0], axis=0, keepdims=True, name="m"),
    "tf names": lambda tf: [
        tf.reduce_sum([1, 2]),
        tf.reduce_mean([1, 2, 4]),
        tf.reduce_mean([-1, -2, -4]),
        tf.reduce_max([1, 2]),
        tf.reduce_min([1.0, 2.0]),
        tf.reduce_prod([2, 3]),
        tf.reduce_all([True, False]),
        tf.reduce_any([True, False]),
        tf.reduce_logsumexp([1.0, 2.0]),
    ],
    "nothing": lambda tf: [
        f(tf.zeros(s, d), axis=a)
        for f in (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean, tf.reduce_prod)
        for s, a in (([0], None), ([0, 2], 0), ([0, 2], 1), ([2, 0], [0, 1]))
        for d in ("float32", "int32")
    ],
    "nothing, moments": lambda tf: [
        tf.math.reduce_std(tf.zeros([0])),
        tf.math.reduce_variance(tf.zeros([0])),
        tf.reduce_logsumexp(tf.zeros([0])),
        tf.math.reduce_euclidean_norm(tf.zeros([0])),
        tf.reduce_all(tf.zeros([0], tf.bool)),
        tf.reduce_any(tf.zeros([0], tf.bool)),
    ],
    "ties": lambda tf: first(tf, lambda x: tf.reduce_max(x, 1), [[2.0, 2.0, 1.0], [0.0, 0.0, 0.0]]),
    "ties of min": lambda tf: first(tf, tf.reduce_min, [2.0, 1.0, 1.0]),
    "max of nan": lambda tf: tf.reduce_max([1.0, NAN]),
    "prod at zero": lambda tf: first(tf, tf.reduce_prod, [0.0, 2.0, 3.0]),
    "prod at zeros": lambda tf: first(tf, tf.reduce_prod, [0.0, 2.0, 0.0]),
    "std of equal": lambda tf: first(tf, tf.math.reduce_std, [1.0, 1.0]),
    "norm of zero": lambda tf: first(tf, tf.math.reduce_euclidean_norm, [0.0, 0.0]),
    "int norm": lambda tf: tf.math.reduce_euclidean_norm([3, 5]),
    "overflow of logsumexp": lambda tf: first(tf, tf.reduce_logsumexp, [1000.0, 1000.0, -INF]),
    "-inf": lambda tf: tf.reduce_logsumexp([-INF, -INF]),
    "int8": lambda tf: tf.reduce_sum(tf.constant([100, 100], tf.int8)),
    "scalar": lambda tf: [tf.reduce_sum(3.0), tf.reduce_mean(3.0, axis=[]), tf.reduce_max(3)],
    "scalar, axis": lambda tf: tf.reduce_sum(3.0, axis=0),
    "list of tensors": lambda tf: tf.reduce_sum([tf.constant(1.0), tf.constant(2.0)]),
    "gradient of list": lambda tf: first(
        tf, lambda x, y: tf.reduce_mean([x, 2.0 * y, x * y]), 3.0, 4.0
    ),
    "count": lambda tf: [
        tf.math.count_nonzero([0, 1, 2], dtype=tf.int32),
        tf.math.count_nonzero([0.0, 0.1]),
        tf.math.count_nonzero([[0, 1], [2, 3]], axis=0, keepdims=True),
    ],
    "argmax": lambda tf: [
        tf.argmax([1, 3, 3]),
        tf.argmax([[1.0, 2.0], [3.0, 0.0]], axis=1),
        tf.argmax([[1.0, 2.0], [3.0, 0.0]], axis=-1, output_type=tf.int32),
        tf.argmin([[1.0, 2.0], [1.0, 0.0]]),
        tf.math.argmin(tf.constant([3, 1, 1]), 0),
        tf.argmax(tf.constant([True, False, True])),
        tf.argmax([[1.0, 2.0]], tf.constant(1)),
    ],
    "argmax axis": lambda tf: tf.argmax([1.0, 2.0], axis=4),
    "argmax scalar": lambda tf: tf.argmax(1.0),
    "argmax of nothing": lambda tf: tf.argmax(tf.zeros([0, 2])),
    "gradient of argmax": lambda tf: first(
        tf, lambda x: tf.cast(tf.argmax(x), tf.float32), [1.0, 2.0]
    ),
    "argmax float type": lambda tf: tf.argmax([1.0], output_type=tf.float32),
    # running sums
    **{
        f"{name} {exclusive} {reverse} {axis}": (
            lambda tf, n=name, e=exclusive, r=reverse, a=axis: (derived if a else first)(
                tf, lambda x: look_up(tf.math, n)(x, a, e, r), THREE, dtype="float64"
            )
        )
        for name in ("cumsum", "cumprod", "cumulative_logsumexp")
        for exclusive in (False, True)
        for reverse in (False, True)
        for axis in (0, 1, -1)
    },
    "cumsum of ints": lambda tf: tf.cumsum([1, 2, 3], reverse=True, exclusive=True),
    "cumsum axis": lambda tf: tf.cumsum([1.0, 2.0], axis=2),
    "cumsum axes": lambda tf: tf.cumsum([1.0, 2.0], axis=[0]),
    "cumsum axis tensor": lambda tf: tf.cumsum([1.0, 2.0], axis=tf.constant(0)),
    "cumsum of nothing": lambda tf: tf.cumsum(tf.zeros([0, 2]), exclusive=True),
    "cumprod of ints": lambda tf: tf.math.cumprod([1, 2, 3]),
    # segments
    **{
        f"segment_{name}": (
            lambda tf, n=name: first(
                tf,
                lambda x: look_up(tf.math, f"segment_{n}")(x, [0, 0, 1, 3]),
                [[1.0, 2.0], [1.0, 3.0], [4.0, 5.0], [-6.0, -7.0]],
            )
        )
        for name in ("sum", "mean", "max", "min", "prod")
    },
    **{
        f"unsorted_segment_{name}": (
            lambda tf, n=name: first(
                tf,
                lambda x: look_up(tf.math, f"unsorted_segment_{n}")(x, [2, -1, 0, 2], 4),
                [[1.0, 2.0], [1.0, 3.0], [4.0, 5.0], [1.0, -7.0]],
            )
        )
        for name in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
    "int segments": lambda tf: [
        look_up(tf.math, f"segment_{n}")([1, 2, 3, -4], [0, 0, 2, 2])
        for n in ("sum", "mean", "max", "min", "prod")
    ],
    "int unsorted": lambda tf: [
        look_up(tf.math, f"unsorted_segment_{n}")([1, 2, 3], [0, 0, 2], tf.constant(4))
        for n in ("sum", "mean", "max", "min", "prod")
    ],
    "int sqrt_n": lambda tf: tf.math.unsorted_segment_sqrt_n([1, 2, 3], [0, 0, 2], 4),
    "segments of matrices": lambda tf: first(
        tf,
        lambda x: tf.math.unsorted_segment_sum(x, tf.constant([[0, 1], [1, 1]]), 2),
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
    ),
    "segment order": lambda tf: tf.math.segment_sum([1.0, 2.0], [1, 0]),
    "segment lengths": lambda tf: tf.math.segment_sum([1.0, 2.0], [0]),
    "segment negative": lambda tf: tf.math.segment_sum([1.0, 2.0], [-1, 0]),
    "segment float ids": lambda tf: tf.math.segment_sum([1.0, 2.0], [0.0, 1.0]),
    "segment too high": lambda tf: tf.math.unsorted_segment_sum([1.0, 2.0], [0, 5], 3),
    "segment shapes": lambda tf: tf.math.unsorted_segment_sum([1.0, 2.0], [0, 1, 1], 3),
    "segment of nothing": lambda tf: tf.math.unsorted_segment_sum(
        tf.zeros([0]), tf.zeros([0], tf.int32), 2
    ),
    # counts
    "bincount": lambda tf: [
        tf.math.bincount([1, 1, 2]),
        tf.math.bincount([1, 1, 2], weights=[1.0, 2.0, 3.0]),
        tf.math.bincount([[1, 1, 2], [0, 1, 1]], axis=-1),
        tf.math.bincount([[1, 2], [0, 1]]),
        tf.math.bincount([1, 1, 5], maxlength=3),
        tf.math.bincount([1, 5], minlength=8),
        tf.math.bincount([1, 5], dtype=tf.int64),
        tf.math.bincount([1, 1, 2], binary_output=True),
        tf.math.bincount([1, 1, 2], weights=[1, 2, 3]),
        tf.math.bincount([1], dtype=tf.float32),
        tf.math.bincount(tf.constant([], tf.int32)),
    ],
    "bincount negative": lambda tf: tf.math.bincount([-1]),
    "bincount weights": lambda tf: tf.math.bincount([1, 2], weights=[1.0]),
    "confusion": lambda tf: [
        tf.math.confusion_matrix([1, 2, 4], [2, 2, 4]),
        tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3, dtype=tf.int64),
        tf.math.confusion_matrix([1, 2], [2, 2], weights=[0.5, 2.0], dtype=tf.float32),
        tf.math.confusion_matrix([[1], [2]], [2, 2]),
    ],
    "confusion bound": lambda tf: tf.math.confusion_matrix([1, 4], [2, 2], num_classes=3),
    "confusion negative": lambda tf: tf.math.confusion_matrix([1, -4], [2, 2]),
    # several tensors
    "add_n": lambda tf: [
        tf.add_n([1.0, 2.0, 3.0]),
        tf.math.add_n([[1, 2], [3, 4]]),
        tf.add_n([tf.Variable([1.0]), tf.constant([2.0])]),
    ],
    "add_n grads": lambda tf: first(tf, lambda x, y: tf.add_n([x, y, x]), [1.0], [2.0]),
    "add_n nothing": lambda tf: tf.add_n([]),
    "add_n shapes": lambda tf: tf.add_n([[1.0], [1.0, 2.0]]),
    "add_n dtypes": lambda tf: tf.add_n([tf.constant(1.0), tf.constant(1)]),
    "scalar_mul": lambda tf: [
        tf.math.scalar_mul(2, tf.constant([1.0])),
        tf.scalar_mul(2.5, tf.Variable([1.0, 2.0])),
        tf.scalar_mul(tf.constant(2.0), tf.constant([3.0])),
        tf.scalar_mul(2.0, tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))).values,
    ],
    "scalar_mul vector": lambda tf: tf.scalar_mul([1.0, 2.0], tf.constant([1.0, 2.0])),
    "scalar_mul number": lambda tf: tf.scalar_mul(2.0, 3),
    "scalar_mul float, int": lambda tf: tf.scalar_mul(2.5, tf.constant([1])),
    "lbeta": lambda tf: first(tf, tf.math.lbeta, [[1.0, 2.0], [0.5, 3.0]]),
    "finite": lambda tf: [
        f([NAN, INF, -INF, 1.0]) for f in (tf.math.is_nan, tf.math.is_inf, tf.math.is_finite)
    ],
    "betainc": lambda tf: first(tf, tf.math.betainc, [2.0, 0.5], [3.0, 1.0], [0.5, 0.1]),
    # whole numbers
    "int division": lambda tf: [
        tf.constant([7, -7]) // 2,
        tf.constant([7, -7]) % 3,
        tf.constant([7, -7]) / 2,
        tf.math.floordiv([7, -7], [2, 2]),
        tf.math.floormod([7, -7], [-3, -3]),
        tf.math.divide_no_nan([1, 2], [0, 4]),
    ],
    "floordiv by zero": lambda tf: tf.math.floordiv(1, 0),
    "floormod by zero": lambda tf: tf.math.floormod([1, 2], [1, 0]),
    "// by zero": lambda tf: tf.constant(1) // 0,
    "negative power": lambda tf: tf.pow(2, -1),
    "powers": lambda tf: [tf.pow(2, 3), tf.pow([2.0, 3.0], 2), tf.pow(2.0, [1.0, 2.0])],
    "zeroth power": lambda tf: first(tf, lambda x: x**0.0, [0.0, 2.0]),
    "powers of x": lambda tf: [
        derived(tf, lambda x, p=p: x**p, [0.5, 2.0]) for p in (0, 1, 2, 3, 0.5, -1, -2.5)
    ],
    "root at zero": lambda tf: first(tf, lambda x: x**0.5, [0.0, 4.0]),
    "bits": lambda tf: [
        tf.bitwise.bitwise_and([5, 6], [3, 3]),
        tf.bitwise.bitwise_or([5, 6], [3, 3]),
        tf.bitwise.bitwise_xor([5, 6], [3, 3]),
        tf.bitwise.invert([5, -6]),
        tf.bitwise.left_shift([5, 6], [1, 2]),
        tf.bitwise.right_shift([-5, 6], [1, 2]),
        tf.bitwise.bitwise_and(tf.constant(5, tf.uint8), 3),
    ],
    "bits of floats": lambda tf: tf.bitwise.bitwise_and([1.0], [2.0]),
    "logic": lambda tf: [
        tf.logical_and([True, False], True),
        tf.logical_or([True, False], False),
        tf.math.logical_xor([True, False], True),
        tf.logical_not([True, False]),
        tf.math.logical_not(True),
    ],
    "logic of ints": lambda tf: tf.logical_and(1, 0),
    "logic of int tensors": lambda tf: tf.logical_or(tf.constant(1), tf.constant(0)),
    "complex": lambda tf: [
        tf.complex(1.0, 2.0),
        tf.complex(tf.ones([2], tf.float64), tf.zeros([2], tf.float64)),
    ],
    "complex grads": lambda tf: first(
        tf,
        lambda x, y: tf.abs(tf.complex(x, y)) + tf.math.real(tf.complex(y, x) ** 2),
        [3.0],
        [4.0],
    ),
    "complex ints": lambda tf: tf.complex(1, 2),
    "complex of two": lambda tf: tf.complex(tf.ones([], tf.float64), 1.0),
    "angle": lambda tf: first(
        tf, lambda x, y: tf.math.angle(tf.complex(x, y)), [1.0, -2.0], [0.5, 0.3]
    ),
    "conj, real, imag": lambda tf: first(
        tf,
        lambda x, y: (
            tf.math.imag(tf.math.conj(tf.complex(x, y)) * tf.complex(x, y) ** 2)
            + tf.math.real(tf.complex(x, y))
        ),
        [1.0, -2.0],
        [0.5, 0.3],
    ),
    "by keyword": lambda tf: [
        tf.add(x=1.0, y=2.0, name="sum"),
        tf.sin(x=0.5, name="s"),
        tf.maximum(x=1.0, y=2.0),
        tf.atan2(y=1.0, x=2.0),
        tf.math.igamma(a=1.0, x=2.0),
        tf.sqrt(4.0, "root"),
        tf.math.zeta(x=2.0, q=1.0),
        tf.math.softmax(logits=[1.0, 2.0], axis=0),
        tf.math.top_k([1.0, 2.0]).values,
    ],
    "missing argument": lambda tf: tf.reduce_sum(),
    "unknown argument": lambda tf: tf.reduce_sum([1.0], dim=0),
    "same function": lambda tf: [tf.math.exp is tf.exp, tf.math.reduce_sum is tf.reduce_sum],
    "softmax axes": lambda tf: [
        derived(tf, lambda x, a=a: tf.math.softmax(x, a), THREE) for a in (None, 0, 1, -1)
    ],
    "mse": lambda tf: derived(
        tf, lambda x, y: tf.reduce_mean(tf.math.squared_difference(x, y)), A, B
    ),
    "float16": lambda tf: [
        tf.exp(tf.constant([1.0], tf.float16)),
        tf.constant([1.0], tf.float16) + 1,
        tf.reduce_mean(tf.constant([1.0, 2.0], tf.float16)),
    ],
    "jacobian": lambda tf: _jacobian(tf, lambda x: tf.cumsum(tf.sin(x)) * tf.reduce_max(x)),
    "hidden layer": lambda tf: first(
        tf, lambda x, w: tf.reduce_sum(tf.tanh(tf.matmul(x, w)) ** 2), A, np.ones((3, 2))
    ),
    "nones": lambda tf: first(
        tf,
        lambda x, y: tf.reduce_sum(tf.floor(x)) + tf.reduce_sum(tf.stop_gradient(y)),
        [1.5],
        [2.0],
    ),
}


def _jacobian(tf, f):
    x = tf.constant([0.5, -0.2, 0.9])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    compare(PROGRAMS[name])
