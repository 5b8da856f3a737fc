"""NumPy's warnings: TensorFlow's names give none, and leave those of the program as they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
import wengert.tensorflow as tf

_IMPORT = """
import warnings
import numpy as np
before = list(warnings.filters), np.geterr()
import wengert.tensorflow as tf
tf.nn.relu, tf.data.Dataset, tf.linalg.inv
assert (list(warnings.filters), np.geterr()) == before
"""


def test_an_import_changes_no_filter_and_no_setting_of_numpy() -> None:
    subprocess.run([sys.executable, "-c", _IMPORT], check=True)


def test_native_operations_warn_beside_the_dialect() -> None:
    assert tf.math.log(tf.zeros(1)).numpy() == -np.inf
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        wg.log(wg.zeros(1))


COMPUTED: list[Callable[[Any], Any]] = [
    lambda x: tf.math.log(x),
    lambda x: 1.0 / x,
    lambda x: x / x,
    lambda x: x**-1.0,
    lambda x: x**-2,
    lambda x: tf.pow(x, -1.0),
    lambda x: tf.math.reciprocal(x),
    lambda x: (x - 1e300) * 1e300,
    lambda x: tf.exp(x + 1e4),
    lambda x: tf.reduce_sum(1.0 / x - 1.0 / x),
    lambda x: tf.reduce_logsumexp(tf.math.log(x) - tf.math.log(x)),
    lambda x: tf.nn.softmax(1.0 / x),
    lambda x: tf.norm(1.0 / x),
    lambda x: tf.linalg.matmul(1.0 / x[None], x[:, None]),
    lambda x: tf.nn.l2_normalize(1.0 / x),
    lambda x: tf.math.cumsum(1.0 / x - 2.0 / x),
    lambda x: tf.vectorized_map(tf.math.log, x),
    lambda x: tf.map_fn(tf.math.log, x),
    lambda x: tf.recompute_grad(tf.math.log)(x),
    lambda x: tf.math.zeta(1.0 / x, x),
    lambda x: tf.cast(tf.exp(x + 700.0), tf.float32),
]


@pytest.mark.parametrize("compute", COMPUTED)
def test_the_dialect_does_not_warn(compute: Callable[[Any], Any]) -> None:
    x = tf.Variable([0.0, 0.0], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as tape:
            y = compute(x)
            z = tf.reduce_sum(y)
        g = tape.gradient(z, x)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        w = compute(x)
    outer.gradient(g, x)
    tape.jacobian(y, x)
    forward.jvp(w)
    assert not np.isfinite(y).all()


def test_assignment_does_not_warn() -> None:
    for change in (
        lambda v: v.assign_add([3e38, -3e38]),
        lambda v: v.assign_sub([-3e38, 3e38]),
        lambda v: v.scatter_add(tf.IndexedSlices([3e38], [0])),
        lambda v: v.scatter_mul(tf.IndexedSlices([3e38], [0])),
        lambda v: v.scatter_div(tf.IndexedSlices([0.0], [1])),
        lambda v: v.scatter_nd_sub([[0]], [-3e38]),
    ):
        v = tf.Variable([3e38, -3e38])
        change(v)
        assert not np.isfinite(v).all()


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Nadam", "Ftrl"])
def test_optimizers_and_losses_do_not_warn(kind: str) -> None:
    v = tf.Variable([3e38, 0.0])
    optimizer = getattr(tf.keras.optimizers, kind)(1e30)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.keras.losses.KLDivergence()(tf.constant([1.0, 0.0]), v * 2.0)
            loss += tf.keras.losses.MeanSquaredError()(tf.constant([1.0, 0.0]), v * 2.0)
        tape.gradient(loss, v)
        optimizer.apply_gradients([(tf.constant([1e30, -1e30]), v)])
    tf.keras.metrics.Mean()([np.inf, -np.inf])


def test_what_a_program_computes_in_functions_of_its_own_warns() -> None:
    def log_of_zero() -> None:
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(1))

    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        def backward(d: Any) -> Any:
            log_of_zero()
            return 2.0 * d

        log_of_zero()
        return 2.0 * x, backward

    def noisy(x: Any) -> Any:
        log_of_zero()
        return tf.sin(x)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(noisy)(doubled(x))
        y += tf.map_fn(noisy, x) + tf.vectorized_map(noisy, x) + tf.function(noisy)(x)
        y += tf.py_function(noisy, [x], tf.float32)
    assert tape.gradient(y, x) is not None


def test_a_program_that_asks_for_errors_gets_them() -> None:
    zero = tf.zeros(2)
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            tf.math.log(zero)
        with pytest.raises(FloatingPointError):
            zero / zero
        with pytest.raises(FloatingPointError):
            tf.nn.softmax(1.0 / zero)
