"""Activations, losses and normalisations of tf.nn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.nn_cases import KINKS, SINGLE, data, grads, seeded
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()

PLAIN = (
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "gelu",
    "silu",
    "swish",
    "softplus",
    "softsign",
    "sigmoid",
    "tanh",
    "softmax",
    "log_softmax",
    "l2_normalize",
    "l2_loss",
)
for _name in PLAIN:
    PROGRAMS |= {
        f"{_name} f32": lambda tf, n=_name: grads(tf, getattr(tf.nn, n), KINKS),
        f"{_name} f64": lambda tf, n=_name: grads(
            tf, getattr(tf.nn, n), data(3, 4, dtype="float64")
        ),
        f"{_name} int": lambda tf, n=_name: getattr(tf.nn, n)(tf.constant([1, -2, 9])),
        f"{_name} list": lambda tf, n=_name: getattr(tf.nn, n)([1.0, -2.0]),
        f"{_name} empty": lambda tf, n=_name: getattr(tf.nn, n)(tf.zeros((0, 3))),
        f"{_name} bool": lambda tf, n=_name: getattr(tf.nn, n)(tf.constant([True])),
        f"{_name} far": lambda tf, n=_name: grads(
            tf, getattr(tf.nn, n), np.array([-90.0, 80.0], "float32")
        ),
    }


def _twice(tf: Any, f: Callable[[Any], Any]) -> Any:
    x = tf.constant([0.3, -0.7, 1.9])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.gradient(g, x)


PROGRAMS |= {
    "relu variable": lambda tf: tf.nn.relu(tf.Variable([1.0, -1.0])),
    "relu keyword": lambda tf: tf.nn.relu(features=[1.0, -1.0], name="r"),
    "relu uint8": lambda tf: tf.nn.relu(tf.constant([1, 2], tf.uint8)),
    "relu scalar": lambda tf: tf.nn.relu(-2.0),
    "leaky alpha": lambda tf: grads(tf, lambda x: tf.nn.leaky_relu(x, alpha=0.3), KINKS),
    "gelu tanh": lambda tf: grads(tf, lambda x: tf.nn.gelu(x, approximate=True), KINKS),
    "silu beta": lambda tf: grads(tf, lambda x, b: tf.nn.silu(x, beta=b), KINKS, np.float32(0.7)),
    "softmax axis": lambda tf: grads(tf, lambda x: tf.nn.softmax(x, axis=0), data(3, 4)),
    "softmax axis tensor": lambda tf: tf.nn.softmax(data(3, 4), axis=tf.constant(1)),
    "softmax bad axis": lambda tf: tf.nn.softmax([1.0], axis=1),
    "softmax list axis": lambda tf: tf.nn.softmax(tf.zeros((3, 2)), axis=[0, 1]),
    "softmax 3d": lambda tf: grads(tf, lambda x: tf.nn.softmax(x, 1), data(2, 3, 4)),
    "softmax big": lambda tf: tf.nn.softmax([1000.0, 0.0]),
    "log_softmax axis": lambda tf: grads(tf, lambda x: tf.nn.log_softmax(x, axis=0), data(3, 4)),
    "silu twice": lambda tf: _twice(tf, tf.nn.silu),
    "softplus twice": lambda tf: _twice(tf, tf.nn.softplus),
    "softmax twice": lambda tf: _twice(tf, tf.nn.softmax),
    "elu twice": lambda tf: _twice(tf, tf.nn.elu),
    "gelu twice": lambda tf: _twice(tf, tf.nn.gelu),
    "math.softmax": lambda tf: tf.math.softmax([1.0, 2.0]),
    "math.log_softmax": lambda tf: tf.math.log_softmax([1.0, 2.0]),
    "math.softplus": lambda tf: tf.math.softplus([1.0, 2.0]),
    "math.softsign": lambda tf: tf.math.softsign([1.0, 2.0]),
    "math.l2_normalize": lambda tf: tf.math.l2_normalize([1.0, 2.0]),
    "linalg.l2_normalize": lambda tf: tf.linalg.l2_normalize([1.0, 2.0]),
    # losses
    "sce": lambda tf: grads(
        tf, tf.nn.softmax_cross_entropy_with_logits, abs(data(3, 4)), data(3, 4, seed=1)
    ),
    "sce axis": lambda tf: grads(
        tf,
        lambda a, b: tf.nn.softmax_cross_entropy_with_logits(a, b, axis=0),
        data(3, 4),
        data(3, 4),
    ),
    "sce 3d": lambda tf: grads(
        tf, tf.nn.softmax_cross_entropy_with_logits, data(2, 3, 4), data(2, 3, 4, seed=1)
    ),
    "sce 1d": lambda tf: tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], [1.0, 2.0]),
    "sce int labels": lambda tf: tf.nn.softmax_cross_entropy_with_logits([[0, 1]], [[1.0, 2.0]]),
    "sce keywords": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        logits=tf.constant([[1.0, 2.0]], tf.float64), labels=[[0.5, 0.5]]
    ),
    "sce broadcast": lambda tf: tf.nn.softmax_cross_entropy_with_logits(data(1, 4), data(3, 4)),
    "sce one-hot": lambda tf: grads(
        tf, tf.nn.softmax_cross_entropy_with_logits, np.eye(4, dtype="float32")[:3], data(3, 4)
    ),
    "sce mismatch": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        [[0.0, 1.0, 2.0]], [[1.0, 2.0]]
    ),
    "sce None": lambda tf: tf.nn.softmax_cross_entropy_with_logits(None, [[1.0, 2.0]]),
    "sce int logits": lambda tf: tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[1, 2]]),
    "ssce": lambda tf: grads(
        tf, lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], x), data(3, 4)
    ),
    "ssce 3d": lambda tf: grads(
        tf,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            tf.constant([[0, 1], [2, 3]], tf.int64), x
        ),
        data(2, 2, 4, dtype="float64"),
    ),
    "ssce scalar": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(1, [1.0, 2.0]),
    "ssce empty": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.zeros((0,), tf.int32), tf.zeros((0, 3))
    ),
    "ssce outside": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([5], [[1.0, 2.0]]),
    "ssce negative": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([-1], [[1.0, 2.0]]),
    "ssce length": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[1.0], [2.0]]),
    "ssce rank": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([[1]], [[1.0, 2.0]]),
    "ssce float": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([1.0], [[1.0, 2.0]]),
    "sigmoid ce": lambda tf: grads(
        tf,
        tf.nn.sigmoid_cross_entropy_with_logits,
        np.linspace(0, 1, 10, dtype="float32"),
        KINKS * 20,
    ),
    "sigmoid ce int": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(tf.constant([1]), [1.0]),
    "sigmoid ce shape": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [[1.0, 2.0]]),
    "sigmoid ce None": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(None, [1.0]),
    "sigmoid ce keywords": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(
        logits=[1.0, -1.0], labels=[1.0, 0.0]
    ),
    "weighted ce": lambda tf: grads(
        tf,
        lambda a, b, c: tf.nn.weighted_cross_entropy_with_logits(a, b, c),
        np.linspace(0, 1, 10, dtype="float32"),
        KINKS,
        np.float32(2.5),
    ),
    "weighted ce number": lambda tf: tf.nn.weighted_cross_entropy_with_logits(
        labels=[1.0, 0.0], logits=[0.3, -2.0], pos_weight=3
    ),
    "average loss": lambda tf: tf.nn.compute_average_loss(tf.constant([1.0, 2.0, 4.0])),
    "average loss weights": lambda tf: tf.nn.compute_average_loss(
        tf.constant([1.0, 2.0, 4.0]), sample_weight=[1.0, 0.0, 2.0], global_batch_size=2
    ),
    # normalisation
    "moments": lambda tf: grads(tf, lambda x: tf.nn.moments(x, [0, 1]), data(3, 4, 2)),
    "moments keep": lambda tf: tf.nn.moments(data(3, 4), axes=0, keepdims=True),
    "moments negative": lambda tf: tf.nn.moments(data(3, 4), axes=[-1]),
    "moments f64": lambda tf: grads(
        tf, lambda x: tf.nn.moments(x, [0]), data(3, 4, dtype="float64")
    ),
    "moments half": lambda tf: tf.nn.moments(tf.constant([1.0, 2.0, 4.0], tf.float16), [0]),
    "moments int": lambda tf: tf.nn.moments(tf.constant([1, 2, 4]), [0]),
    "variance only": lambda tf: grads(tf, lambda x: tf.nn.moments(x, [0])[1], data(3, 4)),
    "batch norm": lambda tf: grads(
        tf,
        lambda x, m, v, o, s: tf.nn.batch_normalization(x, m, v, o, s, 1e-3),
        data(3, 4),
        data(4),
        abs(data(4, seed=1)),
        data(4, seed=2),
        data(4, seed=3),
    ),
    "batch norm bare": lambda tf: tf.nn.batch_normalization(data(3, 4), 0.5, 2.0, None, None, 1e-3),
    "batch norm dtypes": lambda tf: tf.nn.batch_normalization(
        tf.constant(data(3, 4)), tf.zeros(4, tf.float64), tf.ones(4), None, None, 1e-3
    ),
    "l2 axis": lambda tf: grads(tf, lambda x: tf.nn.l2_normalize(x, axis=1), data(3, 4)),
    "l2 axes": lambda tf: grads(tf, lambda x: tf.nn.l2_normalize(x, axis=[0, 2]), data(3, 4, 2)),
    "l2 zero": lambda tf: grads(tf, lambda x: tf.nn.l2_normalize(x, 0), np.zeros(2, "float32")),
    "l2 epsilon": lambda tf: grads(
        tf, lambda x: tf.nn.l2_normalize(x, 0, epsilon=1.0), np.array([1.0, 0.0], "float32")
    ),
    "lrn": lambda tf: grads(tf, tf.nn.lrn, data(2, 3, 3, 7)),
    "lrn options": lambda tf: grads(
        tf, lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.75), data(2, 3, 3, 7)
    ),
    "lrn f64": lambda tf: tf.nn.lrn(tf.constant(data(1, 2, 2, 3, dtype="float64"))),
    "bias": lambda tf: grads(tf, tf.nn.bias_add, data(2, 3, 4), data(4)),
    "bias first": lambda tf: grads(
        tf, lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"), data(2, 3, 4, 2), data(3)
    ),
    "bias NWC": lambda tf: tf.nn.bias_add(data(2, 3, 4), data(4), data_format="NWC"),
    "bias format": lambda tf: tf.nn.bias_add(data(2, 3), data(3), data_format="foo"),
    "bias length": lambda tf: tf.nn.bias_add(data(2, 3), data(2)),
    "bias rank": lambda tf: tf.nn.bias_add([1.0, 2.0], [1.0, 2.0]),
    "bias dtype": lambda tf: tf.nn.bias_add(tf.zeros((2, 3)), tf.zeros(3, tf.float64)),
    "dropout 0": lambda tf: tf.nn.dropout(data(3, 4), 0),
    "dropout 1": lambda tf: tf.nn.dropout(data(3, 4), 1.0),
    "dropout int": lambda tf: tf.nn.dropout([1, 2], 0.5),
    "dropout noise": lambda tf: tf.nn.dropout(data(3, 4), 0.5, noise_shape=[3, 5]),
    "dropout values": lambda tf: np.unique(tf.nn.dropout(tf.ones((90, 90)), 0.25)),
    "dropout rows": lambda tf: np.unique(
        np.ptp(tf.nn.dropout(tf.ones((90, 90)), 0.25, noise_shape=[90, 1]).numpy(), axis=1)
    ),
    "embedding": lambda tf: grads(tf, lambda t: tf.nn.embedding_lookup(t, [1, 1, 0]), data(4, 3)),
    "embedding 2d": lambda tf: _of_variable(
        tf, lambda v: tf.nn.embedding_lookup(v, [[1, 1], [0, 3]])
    ),
    "embedding scalar": lambda tf: _of_variable(tf, lambda v: tf.nn.embedding_lookup(v, 2)),
    "embedding clipped": lambda tf: _of_variable(
        tf, lambda v: tf.nn.embedding_lookup(v, [[1, 1], [0, 3]], max_norm=1.0)
    ),
    "embedding parts": lambda tf: tf.nn.embedding_lookup(
        [tf.constant(data(2, 3)), tf.constant(data(1, 3))], [0, 2, 1]
    ),
    "embedding one part": lambda tf: tf.nn.embedding_lookup([tf.constant(data(2, 3))], [0, 1]),
    "embedding outside": lambda tf: tf.nn.embedding_lookup(tf.constant(data(2, 3)), [0, 7]),
    "embedding negative": lambda tf: tf.nn.embedding_lookup(tf.constant(data(2, 3)), [-1]),
    "embedding of rank 3": lambda tf: tf.nn.embedding_lookup(tf.constant(data(2, 3, 2)), [1, 0]),
    "embedding of rank 1": lambda tf: tf.nn.embedding_lookup(tf.constant(data(4)), [1, 0]),
    "embedding float": lambda tf: tf.nn.embedding_lookup(tf.constant(data(4, 2)), [1.0, 0.0]),
    "missing": lambda tf: tf.nn.foo,
}


def _of_variable(tf: Any, f: Callable[[Any], Any]) -> Any:
    v = tf.Variable(data(4, 3))
    with tf.GradientTape() as tape:
        y = f(v)
    return y, tape.gradient(y, v)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
