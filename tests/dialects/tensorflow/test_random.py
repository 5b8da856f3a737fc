"""tf.random: shapes, dtypes, errors and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.nn_cases import SINGLE, data, grads, seeded
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()


def summary(tf: Any, x: Any) -> Any:
    """Return the shape and dtype of numbers, and moments, rounded so that chance does not show."""
    values = np.asarray(x, "float64")
    spread = np.round(values.std() * 10) / 10
    return x.shape, x.dtype, np.round(values.mean() * 10) / 10 + 0.0, spread


def _rerun(tf: Any) -> Any:
    tf.random.set_seed(3)
    a = tf.random.normal([4]), tf.random.normal([4], seed=1), tf.random.normal([4], seed=1)
    tf.random.set_seed(3)
    b = tf.random.normal([4]), tf.random.normal([4], seed=1), tf.random.normal([4], seed=1)
    same = [bool(tf.reduce_all(p == q)) for p, q in zip(a, b, strict=True)]
    return same, bool(tf.reduce_all(a[1] == a[2]))


N = 200_000
PROGRAMS |= {
    "random again": _rerun,
    "normal": lambda tf: summary(tf, tf.random.normal([N // 2, 2], 1.5, 2.0)),
    "normal f64": lambda tf: summary(tf, tf.random.normal((N,), dtype=tf.float64)),
    "normal broadcast": lambda tf: tf.random.normal([2, 3], mean=[1.0, 2.0, 3.0]).shape,
    "normal scalar": lambda tf: tf.random.normal([]).shape,
    "normal tensor shape": lambda tf: tf.random.normal(tf.constant([2, 3])).shape,
    "normal TensorShape": lambda tf: tf.random.normal(tf.zeros((2, 3)).shape).shape,
    "normal int shape": lambda tf: tf.random.normal(3),
    "normal int dtype": lambda tf: tf.random.normal([2], dtype=tf.int32),
    "normal mean dtype": lambda tf: tf.random.normal([2], tf.constant(1.0, tf.float64)),
    "normal shapes": lambda tf: tf.random.normal([2], mean=[1.0, 2.0, 3.0]),
    "normal gradient": lambda tf: grads(tf, lambda m: tf.random.normal([], m), np.float32(2.0))[1],
    "uniform": lambda tf: summary(tf, tf.random.uniform([N])),
    "uniform range": lambda tf: summary(tf, tf.random.uniform([N], -1, 3)),
    "uniform int": lambda tf: summary(tf, tf.random.uniform([N], 0, 5, dtype=tf.int32)),
    "uniform int64": lambda tf: summary(tf, tf.random.uniform([N], maxval=7, dtype=tf.int64)),
    "uniform no max": lambda tf: tf.random.uniform([2], dtype=tf.int32),
    "uniform int8": lambda tf: tf.random.uniform([2], 0, 5, dtype=tf.int8),
    "uniform none": lambda tf: tf.random.uniform([2], 5, 5, dtype=tf.int32),
    "uniform float max": lambda tf: tf.random.uniform([2], 0.0, 5.0, dtype=tf.int32),
    "truncated": lambda tf: summary(tf, tf.random.truncated_normal([N], 1.0, 2.0)),
    "truncated most": lambda tf: bool(np.max(np.abs(tf.random.truncated_normal([N]))) <= 2),
    "gamma": lambda tf: summary(tf, tf.random.gamma([N], 2.0, 4.0)),
    "gamma shape": lambda tf: tf.random.gamma([5], [1.0, 2.0], beta=[[1.0], [2.0]]).shape,
    "gamma gradient": lambda tf: [
        tf.shape(g) for g in grads(tf, lambda a, b: tf.random.gamma([5], a, b), 1.0, 2.0)[1]
    ],
    "poisson": lambda tf: summary(tf, tf.random.poisson([N], 3.0)),
    "poisson shape": lambda tf: tf.random.poisson([5], [1.0, 2.0], dtype=tf.int32).shape,
    "categorical": lambda tf: summary(tf, tf.random.categorical([[0.0, 1.0, -9.0]], N)),
    "categorical int32": lambda tf: tf.random.categorical([[0.0, 1.0]], 5, dtype=tf.int32).dtype,
    "categorical rank": lambda tf: tf.random.categorical([0.0, 1.0], 5),
    "shuffle": lambda tf: tf.sort(tf.random.shuffle([3, 1, 2])),
    "shuffle rows": lambda tf: tf.reduce_sum(tf.random.shuffle(data(5, 2)), 0),
    "shuffle gradient": lambda tf: grads(tf, tf.random.shuffle, data(3))[1],
    "Generator": lambda tf: summary(tf, tf.random.Generator.from_seed(1).normal([N], 1.0)),
    "Generator uniform": lambda tf: summary(
        tf, tf.random.Generator.from_seed(1).uniform([N], 0, 9, tf.int64)
    ),
    "Generator again": lambda tf: bool(
        tf.reduce_all(
            tf.random.Generator.from_seed(1).normal([4])
            == tf.random.Generator.from_seed(1).normal([4])
        )
    ),
    "Generator split": lambda tf: len(tf.random.Generator.from_seed(1).split(3)),
    "Generator seeds": lambda tf: tf.random.Generator.from_seed(1).make_seeds(3).shape,
    "Generator global": lambda tf: tf.random.get_global_generator().normal([2]).shape,
    "Generator binomial": lambda tf: summary(
        tf, tf.random.Generator.from_seed(1).binomial([N], 10.0, 0.3)
    ),
    "stateless": lambda tf: summary(tf, tf.random.stateless_normal([N], [1, 2])),
    "stateless again": lambda tf: bool(
        tf.reduce_all(
            tf.random.stateless_normal([4], (1, 2)) == tf.random.stateless_normal([4], (1, 2))
        )
    ),
    "stateless uniform": lambda tf: summary(tf, tf.random.stateless_uniform([N], seed=(3, 4))),
    "stateless ints": lambda tf: summary(
        tf, tf.random.stateless_uniform([N], (3, 4), 0, 10, tf.int32)
    ),
    "stateless all ints": lambda tf: (
        tf.random.stateless_uniform([3], (3, 4), None, None, tf.int32).dtype
    ),
    "stateless no max": lambda tf: tf.random.stateless_uniform([3], (3, 4), dtype=tf.int32),
    "stateless truncated": lambda tf: summary(
        tf, tf.random.stateless_truncated_normal([N], (1, 2))
    ),
    "stateless categorical": lambda tf: summary(
        tf, tf.random.stateless_categorical([[0.0, 1.0]], N, (1, 2))
    ),
    "stateless gamma": lambda tf: tf.random.stateless_gamma([3, 2], [1, 2], [1.0, 2.0]).shape,
    "stateless gamma shape": lambda tf: tf.random.stateless_gamma([3], [1, 2], [1.0, 2.0]),
    "stateless poisson": lambda tf: summary(tf, tf.random.stateless_poisson([N], [1, 2], 3.0)),
    "stateless binomial": lambda tf: summary(
        tf, tf.random.stateless_binomial([N], [1, 2], 10.0, 0.3)
    ),
    "stateless seed": lambda tf: tf.random.stateless_normal([2], 1),
    "stateless seeds": lambda tf: tf.random.stateless_normal([2], [1, 2, 3]),
    "stateless float seed": lambda tf: tf.random.stateless_normal([2], [1.0, 2.0]),
    "split": lambda tf: (tf.random.split([1, 2], 3).shape, tf.random.split([1, 2]).dtype),
    "fold_in": lambda tf: tf.random.fold_in([1, 2], 3).shape,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
