"""tf.nn, tf.image and tf.random on real TensorFlow and on Wengert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow import parity as tensorflow_parity

pytestmark = pytest.mark.peers

Program = Callable[[Any], Any]


def data(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Return numbers without ties."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def grads(tf: Any, f: Callable[..., Any], *arrays: Any) -> Any:
    """Return f and the gradients of a weighted sum of it with respect to all arguments."""
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    weights = None
    if not isinstance(y, (list, tuple)):
        weights = tf.constant(data(*y.shape, seed=99, dtype=y.dtype.name))
    return y, tape.gradient(y, xs, weights)


KINKS = np.array([-7.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 7.0], "float32")
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
    "crelu",
    "l2_normalize",
    "l2_loss",
)

PROGRAMS: dict[str, Program] = {}
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
del PROGRAMS["crelu bool"]  # an InvalidArgumentError of another operation, by chance a TypeError


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
    "crelu axis": lambda tf: grads(tf, lambda x: tf.nn.crelu(x, axis=0), data(3, 4)),
    "silu twice": lambda tf: _twice(tf, tf.nn.silu),
    "softplus twice": lambda tf: _twice(tf, tf.nn.softplus),
    "softmax twice": lambda tf: _twice(tf, tf.nn.softmax),
    "elu twice": lambda tf: _twice(tf, tf.nn.elu),
    "gelu twice": lambda tf: _twice(tf, tf.nn.gelu),
    "math.softmax": lambda tf: tf.math.softmax([1.0, 2.0]),
    "math.log_softmax": lambda tf: tf.math.log_softmax([1.0, 2.0]),
    "math.softplus": lambda tf: tf.math.softplus([1.0, 2.0]),
    "math.softsign": lambda tf: tf.math.softsign([1.0, 2.0]),
    "math.zero_fraction": lambda tf: tf.math.zero_fraction([1.0, 0.0]),
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
    "log poisson": lambda tf: grads(
        tf, tf.nn.log_poisson_loss, np.array([0.0, 1.0, 2.5, 3.0], "float32"), data(4)
    ),
    "log poisson full": lambda tf: grads(
        tf,
        lambda b: tf.nn.log_poisson_loss([0.0, 1.0, 2.5, 3.0], b, compute_full_loss=True),
        data(4),
    ),
    "log poisson shape": lambda tf: tf.nn.log_poisson_loss([1.0], [1.0, 2.0]),
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
    "weighted moments": lambda tf: grads(
        tf, lambda x, w: tf.nn.weighted_moments(x, [0], w), data(3, 4), abs(data(3, 1, seed=3))
    ),
    "weighted moments keep": lambda tf: tf.nn.weighted_moments(
        data(3, 4), [0, 1], tf.ones((3, 4)), keepdims=True
    ),
    "normalize moments": lambda tf: tf.nn.normalize_moments(
        tf.constant(4.0), tf.constant([2.0, 3.0]), tf.constant([9.0, 8.0]), shift=None
    ),
    "sufficient": lambda tf: tf.nn.sufficient_statistics(data(3, 4), [0])[:3],
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
    "zero fraction": lambda tf: tf.nn.zero_fraction([0, 1, 0, 0]),
    "zero fraction empty": lambda tf: tf.nn.zero_fraction(tf.zeros((0,))),
    # dropout and embeddings
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


# -- windows ------------------------------------------------------------------------------------

EXPLICIT = [[0, 0], [1, 2], [0, 1], [0, 0]]


def conv(name: str, x: Any, w: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda a, b: getattr(tf.nn, name)(a, b, *args, **options), x, w)


def pool(name: str, x: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda a: getattr(tf.nn, name)(a, *args, **options), x)


IMAGE, KERNEL = data(2, 7, 6, 3), data(3, 2, 3, 4, seed=1)
PROGRAMS |= {
    "conv2d same": conv("conv2d", IMAGE, KERNEL, 1, "SAME"),
    "conv2d valid": conv("conv2d", IMAGE, KERNEL, 1, "VALID"),
    "conv2d stride 2": conv("conv2d", IMAGE, KERNEL, 2, "SAME"),
    "conv2d stride pair": conv("conv2d", IMAGE, KERNEL, [2, 3], "SAME"),
    "conv2d stride of one": conv("conv2d", IMAGE, KERNEL, [2], "VALID"),
    "conv2d strides": conv("conv2d", IMAGE, KERNEL, [1, 2, 1, 1], "VALID"),
    "conv2d dilation": conv("conv2d", IMAGE, KERNEL, 1, "SAME", dilations=2),
    "conv2d dilations": conv("conv2d", IMAGE, KERNEL, 1, "VALID", dilations=[1, 2, 3, 1]),
    "conv2d explicit": conv("conv2d", IMAGE, KERNEL, 2, EXPLICIT),
    "conv2d f64": conv("conv2d", IMAGE.astype("d"), KERNEL.astype("d"), 2, "SAME"),
    "conv2d first": conv("conv2d", data(2, 3, 6, 7), KERNEL, 2, "SAME", data_format="NCHW"),
    "conv2d groups": conv("conv2d", data(2, 5, 5, 4), data(3, 3, 2, 6), 1, "SAME"),
    "conv2d batches": conv("conv2d", data(2, 2, 5, 5, 3), KERNEL, 1, "SAME"),
    "conv2d keywords": lambda tf: tf.nn.conv2d(
        input=IMAGE, filters=KERNEL, strides=1, padding="SAME", name="c"
    ),
    "conv2d variables": lambda tf: tf.nn.conv2d(
        tf.constant(IMAGE), tf.Variable(KERNEL), strides=(1, 1), padding="SAME"
    ),
    "conv2d depth": lambda tf: tf.nn.conv2d(data(1, 5, 5, 3), data(3, 3, 2, 6), 1, "SAME"),
    "conv2d dtypes": lambda tf: tf.nn.conv2d(
        tf.constant(IMAGE), tf.constant(KERNEL.astype("d")), 1, "SAME"
    ),
    "conv2d padding": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, 1, "FOO"),
    "conv2d lower case": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, 1, "same"),
    "conv2d EXPLICIT": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, 1, "EXPLICIT"),
    "conv2d three strides": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, [1, 2, 1], "SAME"),
    "conv2d batch stride": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, [2, 1, 1, 1], "SAME"),
    "conv2d stride 0": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, 0, "SAME"),
    "conv2d format": lambda tf: tf.nn.conv2d(IMAGE, KERNEL, 1, "SAME", data_format="FOO"),
    "conv1d": conv("conv1d", data(2, 7, 3), data(3, 3, 4), 1, "SAME"),
    "conv1d stride": conv("conv1d", data(2, 7, 3), data(3, 3, 4), stride=2, padding="VALID"),
    "conv1d dilation": conv("conv1d", data(2, 9, 3), data(3, 3, 4), 1, "VALID", dilations=2),
    "conv1d first": conv("conv1d", data(2, 3, 7), data(3, 3, 4), 1, "SAME", data_format="NCW"),
    "conv1d strides": conv("conv1d", data(2, 7, 3), data(3, 3, 4), [1, 2, 1], "SAME"),
    "conv1d batches": conv("conv1d", data(2, 2, 7, 3), data(3, 3, 4), 1, "SAME"),
    "conv1d list": lambda tf: tf.nn.conv1d(
        data(2, 7, 3), data(3, 3, 4), 1, [[0, 0], [1, 1], [0, 0]]
    ),
    "conv3d": conv("conv3d", data(2, 4, 5, 3, 2), data(2, 3, 2, 2, 3), [1, 1, 1, 1, 1], "SAME"),
    "conv3d strides": conv(
        "conv3d", data(2, 4, 5, 3, 2), data(2, 3, 2, 2, 3), [1, 2, 2, 1, 1], "VALID"
    ),
    "conv3d dilations": conv(
        "conv3d",
        data(1, 5, 5, 5, 2),
        data(2, 2, 2, 2, 3),
        [1] * 5,
        "VALID",
        dilations=[1, 2, 1, 3, 1],
    ),
    "conv3d int": lambda tf: tf.nn.conv3d(data(2, 4, 5, 3, 2), data(2, 3, 2, 2, 3), 1, "SAME"),
    "convolution": conv("convolution", IMAGE, KERNEL),
    "convolution strides": conv("convolution", IMAGE, KERNEL, strides=[2, 1], padding="SAME"),
    "convolution dilations": conv("convolution", IMAGE, KERNEL, padding="SAME", dilations=[2, 1]),
    "convolution 1d": conv("convolution", data(2, 7, 3), data(3, 3, 4)),
    "convolution 3d": conv(
        "convolution", data(2, 4, 5, 3, 2), data(2, 3, 2, 2, 3), data_format="NDHWC"
    ),
    "convolution first": conv("convolution", data(2, 3, 6, 7), KERNEL, data_format="NCHW"),
    "convolution both": lambda tf: tf.nn.convolution(IMAGE, KERNEL, [2, 1], "SAME", dilations=2),
    "depthwise": conv("depthwise_conv2d", IMAGE, data(3, 2, 3, 2), [1, 1, 1, 1], "SAME"),
    "depthwise strides": conv("depthwise_conv2d", IMAGE, data(3, 2, 3, 2), [1, 2, 2, 1], "VALID"),
    "depthwise dilations": conv(
        "depthwise_conv2d", IMAGE, data(3, 2, 3, 2), [1, 1, 1, 1], "SAME", dilations=[2, 2]
    ),
    "depthwise explicit": conv("depthwise_conv2d", IMAGE, data(3, 2, 3, 2), [1, 1, 1, 1], EXPLICIT),
    "depthwise int": lambda tf: tf.nn.depthwise_conv2d(IMAGE, data(3, 2, 3, 2), 1, "SAME"),
    "depthwise depth": lambda tf: tf.nn.depthwise_conv2d(
        IMAGE, data(3, 2, 2, 2), [1, 1, 1, 1], "SAME"
    ),
    "separable": lambda tf: grads(
        tf,
        lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, 2, 2, 1], "SAME"),
        IMAGE,
        data(3, 2, 3, 2),
        data(1, 1, 6, 4),
    ),
    "atrous": conv("atrous_conv2d", IMAGE, KERNEL, 2, "SAME"),
    "atrous valid": conv("atrous_conv2d", IMAGE, KERNEL, rate=2, padding="VALID"),
    "atrous transpose": conv(
        "atrous_conv2d_transpose", IMAGE, data(3, 2, 4, 3), (2, 7, 6, 4), 2, "SAME"
    ),
    "conv2d_transpose": conv("conv2d_transpose", IMAGE, data(3, 2, 4, 3), (2, 14, 12, 4), 2),
    "conv2d_transpose odd": conv("conv2d_transpose", IMAGE, data(3, 2, 4, 3), [2, 13, 11, 4], 2),
    "conv2d_transpose valid": conv(
        "conv2d_transpose", IMAGE, data(3, 2, 4, 3), [2, 15, 12, 4], strides=2, padding="VALID"
    ),
    "conv2d_transpose dilated": conv(
        "conv2d_transpose", IMAGE, data(3, 2, 4, 3), [2, 11, 8, 4], 1, "VALID", dilations=2
    ),
    "conv2d_transpose explicit": conv(
        "conv2d_transpose",
        IMAGE,
        data(3, 2, 4, 3),
        [2, 14, 11, 4],
        2,
        [[0, 0], [1, 0], [1, 0], [0, 0]],
    ),
    "conv2d_transpose first": conv(
        "conv2d_transpose",
        data(2, 3, 6, 7),
        data(3, 2, 4, 3),
        (2, 4, 12, 14),
        2,
        data_format="NCHW",
    ),
    "conv2d_transpose tensor": lambda tf: tf.nn.conv2d_transpose(
        IMAGE, data(3, 2, 4, 3), output_shape=tf.constant([2, 14, 12, 4]), strides=[1, 2, 2, 1]
    ),
    "conv1d_transpose": conv("conv1d_transpose", data(2, 5, 3), data(3, 4, 3), (2, 10, 4), 2),
    "conv3d_transpose": conv(
        "conv3d_transpose", data(2, 2, 3, 2, 3), data(2, 3, 2, 4, 3), (2, 4, 6, 4, 4), 2
    ),
    "conv_transpose": conv("conv_transpose", IMAGE, data(3, 2, 4, 3), (2, 14, 12, 4), 2),
    "max_pool2d": pool("max_pool2d", IMAGE, 2, 2, "SAME"),
    "max_pool2d valid": pool("max_pool2d", IMAGE, [3, 2], [2, 1], "VALID"),
    "max_pool2d lists": pool("max_pool2d", IMAGE, [1, 3, 2, 1], [1, 2, 1, 1], "SAME"),
    "max_pool2d explicit": pool("max_pool2d", IMAGE, 3, 2, [[0, 0], [1, 1], [1, 0], [0, 0]]),
    "max_pool2d ties": pool("max_pool2d", np.zeros((1, 4, 4, 2), "float32"), 2, 1, "SAME"),
    "max_pool2d after relu": pool("max_pool2d", np.maximum(IMAGE - 0.5, 0), 3, 2, "SAME"),
    "max_pool2d f64": pool("max_pool2d", IMAGE.astype("d"), 2, 2, "SAME"),
    "max_pool2d int": lambda tf: tf.nn.max_pool2d(
        tf.constant(np.arange(32).reshape(1, 4, 4, 2).astype("int32")), 2, 2, "VALID"
    ),
    "max_pool2d first": lambda tf: tf.nn.max_pool2d(IMAGE, 2, 2, "SAME", data_format="NCHW"),
    "max_pool2d large": lambda tf: tf.nn.max_pool2d(IMAGE, 9, 1, "VALID"),
    "max_pool2d large same": pool("max_pool2d", IMAGE, 9, 1, "SAME"),
    "max_pool2d padding": lambda tf: tf.nn.max_pool2d(IMAGE, 2, 2, "foo"),
    "max_pool2d stride 0": lambda tf: tf.nn.max_pool2d(IMAGE, 2, 0, "SAME"),
    "max_pool2d rank": lambda tf: tf.nn.max_pool2d(IMAGE[0], 2, 2, "SAME"),
    "max_pool1d": pool("max_pool1d", data(2, 7, 3), 2, 2, "SAME"),
    "max_pool1d ties": pool("max_pool1d", np.ones((2, 7, 3), "float32"), 3, 1, "SAME"),
    "max_pool1d lists": pool("max_pool1d", data(2, 7, 3), [3], [2], "VALID"),
    "max_pool1d first": lambda tf: tf.nn.max_pool1d(data(2, 7, 3), 2, 2, "SAME", "NCW"),
    "max_pool3d": pool("max_pool3d", data(2, 4, 5, 3, 2), 2, 2, "SAME"),
    "max_pool rank 3": pool("max_pool", data(2, 7, 3), 2, 2, "SAME"),
    "max_pool": pool("max_pool", IMAGE, ksize=2, strides=2, padding="VALID"),
    "max_pool rank 2": lambda tf: tf.nn.max_pool(data(2, 3), 2, 2, "SAME"),
    "avg_pool2d": pool("avg_pool2d", IMAGE, 2, 2, "SAME"),
    "avg_pool2d same": pool("avg_pool2d", IMAGE, 3, 1, "SAME"),
    "avg_pool2d valid": pool("avg_pool2d", IMAGE, [3, 2], [2, 1], "VALID"),
    "avg_pool2d f64": pool("avg_pool2d", IMAGE.astype("d"), 3, 2, "SAME"),
    "avg_pool2d int": lambda tf: tf.nn.avg_pool2d(tf.zeros((1, 4, 4, 2), tf.int32), 2, 2, "SAME"),
    "avg_pool2d list": lambda tf: tf.nn.avg_pool2d(IMAGE, 3, 1, EXPLICIT),
    "avg_pool1d": pool("avg_pool1d", data(2, 7, 3), 3, 2, "SAME"),
    "avg_pool3d": pool("avg_pool3d", data(2, 4, 5, 3, 2), 2, 2, "SAME"),
    "avg_pool": pool("avg_pool", IMAGE, 2, 2, "SAME"),
    "pool max": pool("pool", IMAGE, [2, 2], "MAX"),
    "pool avg": pool("pool", IMAGE, [2, 3], "AVG", strides=[2, 1], padding="SAME"),
    "pool dilated": pool("pool", IMAGE, [2, 2], "MAX", dilations=[2, 2]),
    "pool dilated avg": pool("pool", IMAGE, [2, 2], "AVG", dilations=[2, 1]),
    "pool 1d": pool("pool", data(2, 7, 3), [2], "AVG"),
    "pool bad": lambda tf: tf.nn.pool(IMAGE, [2, 2], "max"),
    "pool same dilated": lambda tf: tf.nn.pool(
        IMAGE, [2, 2], "MAX", padding="SAME", dilations=[2, 2]
    ),
    "pool both": lambda tf: tf.nn.pool(IMAGE, [2, 2], "MAX", strides=[2, 2], dilations=[2, 2]),
    "pool number": lambda tf: tf.nn.pool(IMAGE, 2, "MAX"),
    "argmax": lambda tf: tf.nn.max_pool_with_argmax(IMAGE, 2, 2, "SAME"),
    "argmax batch": lambda tf: tf.nn.max_pool_with_argmax(
        IMAGE, 2, 2, "VALID", output_dtype=tf.int32, include_batch_in_index=True
    ),
}


# -- images ---------------------------------------------------------------------------------------

PHOTO = np.random.default_rng(5).uniform(size=(2, 8, 6, 3)).astype("float32")
BYTES = (PHOTO * 255).astype("uint8")


def image(name: str, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda x: getattr(tf.image, name)(x, *args, **options), PHOTO)


def plain_image(name: str, x: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: getattr(tf.image, name)(tf.constant(x), *args, **options)


for _method in (
    "bilinear",
    "nearest",
    "bicubic",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
):
    PROGRAMS |= {
        f"resize {_method} smaller": image("resize", [3, 4], _method),
        f"resize {_method} larger": image("resize", [11, 14], method=_method),
        f"resize {_method} smooth": image("resize", [3, 5], _method, antialias=True),
        f"resize {_method} one": image("resize", [1, 1], _method),
        f"resize {_method} bytes": plain_image("resize", BYTES, [3, 4], _method),
    }
PROGRAMS |= {
    "resize area": plain_image("resize", PHOTO, [3, 4], "area"),
    "resize area larger": plain_image("resize", PHOTO, [11, 13], "area"),
    "resize area even": plain_image("resize", PHOTO, [4, 3], "area", antialias=True),
    "resize one image": plain_image("resize", PHOTO[0], [3, 4]),
    "resize ratio": plain_image("resize", PHOTO, [16, 4], preserve_aspect_ratio=True),
    "resize ratio 2": plain_image("resize", PHOTO, [5, 5], preserve_aspect_ratio=True),
    "resize same": plain_image("resize", PHOTO.astype("d"), [8, 6]),
    "resize f64": lambda tf: grads(tf, lambda x: tf.image.resize(x, [3, 4]), PHOTO.astype("d")),
    "resize tensor size": lambda tf: tf.image.resize(PHOTO, tf.constant([3, 4])),
    "resize enum": lambda tf: tf.image.resize(PHOTO, (3, 4), tf.image.ResizeMethod.BICUBIC),
    "resize rank": plain_image("resize", PHOTO[0, 0], [3, 4]),
    "resize size": plain_image("resize", PHOTO, [3]),
    "resize float size": plain_image("resize", PHOTO, [3.0, 4.0]),
    "resize number": plain_image("resize", PHOTO, 3),
    "resize zero": plain_image("resize", PHOTO, [0, 3]),
    "resize method": plain_image("resize", PHOTO, [3, 3], "foo"),
    "with pad": image("resize_with_pad", 9, 9),
    "with pad 2": image("resize_with_pad", 5, 9),
    "crop or pad": image("resize_with_crop_or_pad", 5, 9),
    "crop or pad 2": image("resize_with_crop_or_pad", 11, 3),
    "central crop": image("central_crop", 0.5),
    "central crop third": image("central_crop", 0.33),
    "central crop one": plain_image("central_crop", PHOTO[0], 1.0),
    "central crop zero": plain_image("central_crop", PHOTO, 0.0),
    "box": image("crop_to_bounding_box", 1, 2, 3, 4),
    "box large": plain_image("crop_to_bounding_box", PHOTO, 1, 2, 30, 4),
    "pad box": image("pad_to_bounding_box", 1, 2, 12, 11),
    "pad box small": plain_image("pad_to_bounding_box", PHOTO, 1, 2, 3, 4),
    "flip": image("flip_left_right"),
    "flip up": image("flip_up_down"),
    "flip one": plain_image("flip_left_right", PHOTO[0]),
    "flip rank": plain_image("flip_left_right", PHOTO[0, 0]),
    "turn": image("rot90"),
    "turn 2": image("rot90", 2),
    "turn 3": image("rot90", k=3),
    "turn one": plain_image("rot90", PHOTO[0], 1),
    "transposed": image("transpose"),
    "patches": image("extract_patches", [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    "patches apart": image("extract_patches", [1, 3, 2, 1], [1, 1, 1, 1], [1, 2, 2, 1], "VALID"),
    "gray": image("rgb_to_grayscale"),
    "gray bytes": plain_image("rgb_to_grayscale", BYTES),
    "gray f64": plain_image("rgb_to_grayscale", PHOTO.astype("d")),
    "to rgb": plain_image("grayscale_to_rgb", PHOTO[..., :1]),
    "yuv": image("rgb_to_yuv"),
    "yuv back": image("yuv_to_rgb"),
    "yiq": image("rgb_to_yiq"),
    "yiq back": image("yiq_to_rgb"),
    "brightness": image("adjust_brightness", 0.3),
    "brightness bytes": plain_image("adjust_brightness", BYTES, 0.3),
    "contrast": plain_image("adjust_contrast", PHOTO, 1.7),
    "contrast bytes": plain_image("adjust_contrast", BYTES, 2.0),
    "gamma": image("adjust_gamma", 2.0, 0.5),
    "gamma negative": plain_image("adjust_gamma", PHOTO, -1.0),
    "standard": image("per_image_standardization"),
    "standard flat": plain_image("per_image_standardization", np.ones((4, 4, 1), "float32")),
    "standard bytes": plain_image("per_image_standardization", BYTES),
    "variation": image("total_variation"),
    "variation one": plain_image("total_variation", PHOTO[0]),
    "differences": plain_image("image_gradients", PHOTO),
    "sobel": image("sobel_edges"),
    "psnr": lambda tf: grads(tf, lambda a, b: tf.image.psnr(a, b, 1.0), PHOTO, PHOTO * 0.9),
    "psnr bytes": lambda tf: tf.image.psnr(BYTES, BYTES // 2, 255),
    "ssim": lambda tf: grads(
        tf,
        lambda a, b: tf.image.ssim(a, b, 1.0),
        np.tile(PHOTO, (1, 2, 2, 1)),
        np.tile(PHOTO, (1, 2, 2, 1)) ** 2,
    ),
    "ssim options": lambda tf: tf.image.ssim(
        tf.constant(PHOTO),
        tf.constant(PHOTO**2),
        max_val=1.0,
        filter_size=4,
        filter_sigma=1.0,
        k2=0.1,
    ),
    "ssim small": lambda tf: tf.image.ssim(PHOTO, PHOTO, 1.0),
    "to float": plain_image("convert_image_dtype", BYTES, "float32"),
    "to bytes": plain_image("convert_image_dtype", PHOTO, "uint8"),
    "to bytes saturated": plain_image("convert_image_dtype", PHOTO * 3 - 1, "uint8", saturate=True),
    "to int16": plain_image("convert_image_dtype", BYTES, "int16"),
    "random_crop": lambda tf: tf.image.random_crop(PHOTO, [1, 3, 3, 3]).shape,
    "random_crop large": lambda tf: tf.image.random_crop(PHOTO, [1, 30, 3, 3]),
    "random_flip": lambda tf: tf.reduce_sum(tf.image.random_flip_left_right(PHOTO)),
    "random_brightness": lambda tf: tf.image.random_brightness(PHOTO, -1.0),
}

# -- random numbers: shapes, dtypes, errors and laws ----------------------------------------------


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


# -- programs as users write them -----------------------------------------------------------------


def small_network(tf: Any) -> Any:
    """A convolutional network, its loss, and a few steps of gradient descent."""
    x = tf.constant(data(4, 8, 8, 3))
    labels = tf.constant([0, 2, 1, 2])
    w1 = tf.Variable(data(3, 3, 3, 8, seed=1) * 0.3, name="w1")
    b1 = tf.Variable(tf.zeros(8), name="b1")
    w2 = tf.Variable(data(3, 3, 8, 4, seed=2) * 0.3)
    w3 = tf.Variable(data(16, 3, seed=3) * 0.3)
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w1, strides=1, padding="SAME"), b1))
            h = tf.nn.max_pool2d(h, ksize=2, strides=2, padding="VALID")
            h = tf.nn.leaky_relu(tf.nn.conv2d(h, w2, [1, 1, 1, 1], "SAME"), alpha=0.1)
            h = tf.nn.avg_pool2d(h, 2, 2, "SAME")
            logits = tf.reshape(h, [4, -1]) @ w3
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        variables = [w1, b1, w2, w3]
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
        losses.append(loss)
    return losses, [v.read_value() for v in variables]


def autoencoder(tf: Any) -> Any:
    x = tf.constant(data(2, 8, 8, 1))
    down = tf.Variable(data(3, 3, 1, 4, seed=1))
    up = tf.Variable(data(3, 3, 1, 4, seed=2))
    with tf.GradientTape() as tape:
        code = tf.nn.elu(tf.nn.conv2d(x, down, 2, "SAME"))
        back = tf.nn.conv2d_transpose(code, up, tf.shape(x), strides=2)
        loss = tf.reduce_mean(tf.square(tf.nn.sigmoid(back) - x)) + 1e-3 * tf.nn.l2_loss(down)
    return loss, tape.gradient(loss, {"down": down, "up": up})


def gan(tf: Any) -> Any:
    """The losses of a generator and a discriminator, each with its own tape."""
    noise, real = tf.constant(data(4, 3)), tf.constant(data(4, 5, seed=1))
    g, d = tf.Variable(data(3, 5, seed=2)), tf.Variable(data(5, 1, seed=3))
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = tf.nn.tanh(noise @ g)
        real_score, fake_score = real @ d, fake @ d
        bce = tf.nn.sigmoid_cross_entropy_with_logits
        gen = tf.reduce_mean(bce(tf.ones_like(fake_score), fake_score))
        disc = tf.reduce_mean(
            bce(labels=tf.ones_like(real_score), logits=real_score)
            + bce(labels=tf.zeros_like(fake_score), logits=fake_score)
        )
    return gen, disc, gen_tape.gradient(gen, g), disc_tape.gradient(disc, d)


def attention(tf: Any) -> Any:
    q, k, v = (tf.constant(data(2, 5, 4, seed=i)) for i in range(3))
    mask = tf.linalg.band_part(tf.ones((5, 5)), -1, 0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([q, k, v])
        scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(4.0)
        weights = tf.nn.softmax(scores + (1.0 - mask) * -1e9, axis=-1)
        out = tf.reduce_sum(tf.square(weights @ v))
    return weights, [tape.gradient(out, t) for t in (q, k, v)]


def batch_norm(tf: Any) -> Any:
    x = tf.Variable(data(6, 4))
    gamma, beta = tf.Variable(tf.ones([4])), tf.Variable(tf.zeros([4]))
    with tf.GradientTape() as tape:
        mean, variance = tf.nn.moments(x, axes=[0])
        y = tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
        loss = tf.reduce_sum(y**3)
    return y, tape.gradient(loss, [x, gamma, beta])


def penalty(tf: Any) -> Any:
    """A gradient penalty: a gradient of the norm of a gradient, through convolutions."""
    x, w = tf.constant(data(2, 6, 6, 2)), tf.Variable(data(3, 3, 2, 3, seed=1))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = tf.reduce_sum(tf.nn.softplus(tf.nn.conv2d(x, w, 1, "VALID")), axis=[1, 2, 3])
        slopes = inner.gradient(score, x)
        norms = tf.sqrt(tf.reduce_sum(slopes**2, axis=[1, 2, 3]) + 1e-12)
        loss = tf.reduce_mean((norms - 1.0) ** 2)
    return loss, outer.gradient(loss, w)


def twice_pooled(tf: Any) -> Any:
    x = tf.constant(data(1, 4, 4, 2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.nn.max_pool2d(x, 2, 2, "SAME") ** 3)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def per_example(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.Variable(data(2, 2, 2, 3, seed=1))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, w, 1, "VALID")), axis=[1, 2, 3])
    return tape.jacobian(y, w)


def edges(tf: Any) -> Any:
    """A fixed filter, as a constant."""
    kernel = tf.constant([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
    kernel = tf.tile(kernel[:, :, tf.newaxis, tf.newaxis], [1, 1, 3, 1])
    return tf.nn.depthwise_conv2d(PHOTO, kernel, strides=[1, 1, 1, 1], padding="SAME")


def moving_average(tf: Any) -> Any:
    signal = tf.reshape(tf.range(10.0), [1, 10, 1])
    return tf.squeeze(tf.nn.conv1d(signal, tf.ones([3, 1, 1]) / 3, stride=1, padding="VALID"))


def distillation(tf: Any) -> Any:
    teacher, student = tf.constant(data(4, 5)), tf.Variable(data(4, 5, seed=1))
    with tf.GradientTape() as tape:
        soft = tf.stop_gradient(tf.nn.softmax(teacher / 2.0))
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(soft, student / 2.0))
    return loss, tape.gradient(loss, student)


def contrastive(tf: Any) -> Any:
    a, b = tf.Variable(data(4, 6)), tf.constant(data(4, 6, seed=1))
    with tf.GradientTape() as tape:
        similar = tf.matmul(tf.nn.l2_normalize(a, axis=1), tf.math.l2_normalize(b, 1), False, True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(4), similar / 0.1)
        )
    return loss, tape.gradient(loss, a)


def words(tf: Any) -> Any:
    table, out = tf.Variable(data(7, 3)), tf.Variable(data(3, 7, seed=1))
    with tf.GradientTape() as tape:
        h = tf.reduce_mean(tf.nn.embedding_lookup(table, [[1, 2], [2, 2]]), axis=1)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], h @ out)
    return loss, tape.gradient(loss, [table, out])


def focal(tf: Any) -> Any:
    logits, labels = tf.Variable(data(6)), tf.constant([0, 1, 1, 0, 1, 0], tf.float32)
    with tf.GradientTape() as tape:
        p = tf.nn.sigmoid(logits)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
        pt = labels * p + (1 - labels) * (1 - p)
        loss = tf.reduce_mean(tf.pow(1 - pt, 2.0) * ce)
    return loss, tape.gradient(loss, logits)


def reparametrised(tf: Any) -> Any:
    """The evidence lower bound with its noise given by a seed: only what does not depend on it."""
    mean, log_var = tf.Variable([0.5, -0.5]), tf.Variable([0.1, 0.2])
    with tf.GradientTape() as tape:
        noise = tf.random.stateless_normal([2], seed=[1, 2])
        z = mean + tf.exp(log_var / 2) * noise
        kl = -0.5 * tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var))
    return z.shape, kl, tape.gradient(kl, [mean, log_var])


def noise_has_gradients(tf: Any) -> Any:
    mean = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.random.normal([4], mean, 1.0))
    return tape.gradient(y, mean)


def uniform_has_gradients(tf: Any) -> Any:
    low = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.random.uniform([4], low, low + 1.0))
    return tape.gradient(y, low)


def reinforce(tf: Any) -> Any:
    logits = tf.Variable(data(3, 4))
    with tf.GradientTape() as tape:
        actions = tf.random.categorical(logits, 1)
        chosen = tf.constant([[0], [3], [1]], tf.int64)
        log_probs = tf.nn.log_softmax(logits)
        picked = tf.gather(log_probs, chosen, batch_dims=1)
        loss = -tf.reduce_mean(picked * tf.constant([[1.0], [2.0], [-1.0]]))
    return actions.shape, actions.dtype, loss, tape.gradient(loss, logits)


def of_jit(tf: Any) -> Any:
    @tf.function
    def step(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.reduce_mean(tf.nn.gelu(tf.nn.conv2d(x, w, 1, "SAME"), approximate=True))
        return y, tape.gradient(y, w)

    return step(tf.constant(IMAGE), tf.constant(data(3, 3, 3, 2)))


def mapped(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.constant(data(2, 2, 2, 3, seed=1))
    return tf.map_fn(lambda i: tf.nn.conv2d(i[tf.newaxis], w, 1, "VALID")[0], x)


def vectorised(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.constant(data(2, 2, 2, 3, seed=1))
    return tf.vectorized_map(
        lambda i: tf.reduce_sum(
            tf.nn.max_pool2d(tf.nn.conv2d(i[None], w, 1, "SAME"), 2, 2, "SAME")
        ),
        x,
    )


def dropped(tf: Any) -> Any:
    x = tf.ones([100, 10])
    y = tf.nn.dropout(x, 0.5)
    kept = tf.reduce_all((y == 0.0) | (y == 2.0))
    columns = tf.nn.dropout(x, rate=0.3, noise_shape=[1, 10], seed=1)
    same = tf.reduce_all(columns == columns[:1])
    return kept, same, y.dtype, y.shape


def dropped_gradient(tf: Any) -> Any:
    x = tf.Variable(tf.ones([50]))
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(x, rate=0.5)
    return tf.reduce_all(tape.gradient(y, x) == y)


def generator_use(tf: Any) -> Any:
    g = tf.random.Generator.from_seed(1234)
    a = g.normal([2, 3])
    b = g.uniform(shape=[4], minval=0, maxval=10, dtype=tf.int32)
    c = g.truncated_normal([1000], mean=1.0, stddev=0.5)
    in_range = tf.reduce_all(tf.abs(c - 1.0) <= 1.0)
    return a.shape, a.dtype, b.shape, b.dtype, in_range, g.make_seeds(3).shape, len(g.split(2))


def generator_reset(tf: Any) -> Any:
    g = tf.random.Generator.from_seed(3)
    g.reset_from_key_counter(1, [0, 0])
    a = g.normal([4])
    g.reset_from_key_counter(key=1, counter=[0, 0])
    b = g.normal([4])
    g.reset(state=[1, 2, 3])
    return tf.reduce_all(a == b), g.uniform([2]).shape


def generator_again(tf: Any) -> Any:
    one, two = tf.random.Generator.from_seed(7), tf.random.Generator.from_seed(7)
    first = tf.reduce_all(one.normal([5]) == two.normal([5]))
    copy = tf.random.Generator(one)
    second = tf.reduce_all(one.normal([5]) == copy.normal([5]))
    one.reset_from_seed(7)
    two.reset_from_seed(7)
    return first, second, tf.reduce_all(one.uniform([3]) == two.uniform([3]))


def seeds_again(tf: Any) -> Any:
    tf.random.set_seed(5)
    a = tf.random.uniform([3])
    tf.random.set_seed(5)
    b = tf.random.uniform([3])
    c = tf.random.uniform([3])
    return tf.reduce_all(a == b), tf.reduce_any(b == c)


def shuffled(tf: Any) -> Any:
    x = tf.range(10)
    return tf.sort(tf.random.shuffle(x)), tf.random.shuffle(tf.zeros([0, 3])).shape


def image_pipeline(tf: Any) -> Any:
    x = tf.cast(BYTES, tf.float32) / 255.0
    x = tf.image.resize(x, (4, 4))
    x = tf.image.flip_left_right(x)
    x = tf.image.adjust_brightness(x, 0.1)
    x = tf.clip_by_value(x, 0.0, 1.0)
    return tf.image.per_image_standardization(x)


def style(tf: Any) -> Any:
    """Gram matrices and total variation, as for the transfer of styles."""
    x = tf.Variable(PHOTO)
    with tf.GradientTape() as tape:
        gram = tf.linalg.einsum("bijc,bijd->bcd", x, x) / tf.cast(48, tf.float32)
        loss = tf.reduce_sum(gram**2) + 1e-2 * tf.reduce_sum(tf.image.total_variation(x))
    return loss, tape.gradient(loss, x)


USES: tuple[Program, ...] = (
    small_network, autoencoder, gan, attention, batch_norm, penalty, twice_pooled, per_example,
    edges, moving_average, distillation, contrastive, words, focal, reparametrised,
    noise_has_gradients, uniform_has_gradients, reinforce, of_jit, mapped, vectorised, dropped,
    dropped_gradient, generator_use, generator_again, seeds_again, shuffled, image_pipeline, style,
)  # fmt: skip
PROGRAMS |= {program.__name__.replace("_", " "): program for program in USES}

TIES = np.array([[1, 1, 2, 2], [1, 1, 2, 0], [3, 0, 0, 0], [0, 3, 0, 0]], "float32")[
    None, :, :, None
]
IMG = data(1, 5, 6, 2, seed=7)
PROGRAMS |= {
    # arguments in other forms
    "conv positional name": lambda tf: tf.nn.conv2d(IMAGE, data(2, 2, 3, 4), 1, "SAME", name="c"),
    "conv filters keyword": lambda tf: tf.nn.conv2d(
        input=IMAGE, filters=data(2, 2, 3, 4), strides=(1, 2), padding="VALID", dilations=(1, 1)
    ),
    "conv numpy both": lambda tf: tf.nn.conv2d(IMAGE.astype("d"), data(2, 2, 3, 4), 1, "SAME"),
    "conv strides tensor": lambda tf: tf.nn.conv2d(
        IMAGE, data(2, 2, 3, 4), tf.constant([1, 2, 2, 1]), "SAME"
    ),
    "conv strides numpy": lambda tf: tf.nn.conv2d(IMAGE, data(2, 2, 3, 4), np.int64(2), "SAME"),
    "conv strides float": lambda tf: tf.nn.conv2d(IMAGE, data(2, 2, 3, 4), 1.5, "SAME"),
    "conv padding None": lambda tf: tf.nn.conv2d(IMAGE, data(2, 2, 3, 4), 1, None),
    "conv padding lower": lambda tf: tf.nn.conv2d(IMAGE, data(2, 2, 3, 4), 1, "same"),
    "conv int": lambda tf: tf.nn.conv2d(
        tf.ones((1, 3, 3, 1), tf.int32), tf.ones((2, 2, 1, 1), tf.int32), 1, "SAME"
    ),
    "conv half": lambda tf: tf.nn.conv2d(
        tf.ones((1, 3, 3, 1), tf.float16), tf.ones((2, 2, 1, 1), tf.float16), 1, "SAME"
    ),
    "conv bool": lambda tf: tf.nn.conv2d(
        tf.ones((1, 3, 3, 1), tf.bool), tf.ones((2, 2, 1, 1), tf.bool), 1, "SAME"
    ),
    "conv complex": lambda tf: tf.nn.conv2d(
        tf.ones((1, 3, 3, 1), tf.complex64), tf.ones((2, 2, 1, 1), tf.complex64), 1, "SAME"
    ),
    "conv large kernel": lambda tf: tf.nn.conv2d(IMG, data(9, 9, 2, 1), 1, "VALID"),
    "conv large same": lambda tf: tf.nn.conv2d(IMG, data(9, 9, 2, 1), 1, "SAME"),
    "conv channels": lambda tf: tf.nn.conv2d(IMG, data(3, 3, 5, 1), 1, "SAME"),
    "conv rank 5": lambda tf: tf.nn.conv2d(IMG[None], data(3, 3, 2, 1), 1, "SAME"),
    "conv list": lambda tf: tf.nn.conv2d(tf.constant(IMG.tolist()), data(3, 3, 2, 1), 1, "SAME"),
    "conv groups": lambda tf: grads(
        tf, lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), data(2, 5, 5, 4), data(3, 3, 2, 6, seed=1)
    ),
    "conv explicit": lambda tf: grads(
        tf,
        lambda x, w: tf.nn.conv2d(x, w, [1, 2, 1, 1], [[0, 0], [2, 1], [0, 3], [0, 0]]),
        IMG,
        data(3, 2, 2, 3, seed=1),
    ),
    "conv1d batchless": lambda tf: tf.nn.conv1d(data(2, 3, 7, 2), data(3, 2, 4), 2, "SAME"),
    "conv1d dilated": lambda tf: grads(
        tf, lambda x, w: tf.nn.conv1d(x, w, 1, "VALID", dilations=2), data(2, 9, 2), data(3, 2, 4)
    ),
    "conv1d causal": lambda tf: tf.nn.conv1d(
        tf.pad(tf.constant(data(2, 7, 2)), [[0, 0], [2, 0], [0, 0]]), data(3, 2, 4), 1, "VALID"
    ),
    "conv3d grads": lambda tf: grads(
        tf,
        lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 1, 1], "SAME"),
        data(1, 4, 5, 3, 2),
        data(2, 2, 2, 2, 3, seed=1),
    ),
    "convolution same": lambda tf: tf.nn.convolution(IMG, data(3, 3, 2, 4), padding="SAME"),
    "convolution dilated": lambda tf: tf.nn.convolution(IMG, data(2, 2, 2, 4), dilations=[2, 2]),
    "depthwise multiplier": lambda tf: grads(
        tf,
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID"),
        IMG,
        data(3, 3, 2, 3, seed=1),
    ),
    "depthwise dilated": lambda tf: tf.nn.depthwise_conv2d(
        IMG, data(2, 2, 2, 1), [1, 1, 1, 1], "SAME", dilations=[2, 2]
    ),
    "depthwise number": lambda tf: tf.nn.depthwise_conv2d(IMG, data(2, 2, 2, 1), 1, "SAME"),
    "separable in use": lambda tf: grads(
        tf,
        lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME"),
        IMG,
        data(3, 3, 2, 2, seed=1),
        data(1, 1, 4, 3, seed=2),
    ),
    "transposed grads": lambda tf: grads(
        tf,
        lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 9, 12, 3], [1, 2, 2, 1]),
        IMG,
        data(3, 3, 3, 2, seed=1),
    ),
    "transposed valid": lambda tf: tf.nn.conv2d_transpose(
        IMG, data(3, 3, 3, 2), output_shape=(1, 7, 8, 3), strides=1, padding="VALID"
    ),
    "conv1d transposed": lambda tf: tf.nn.conv1d_transpose(
        data(2, 4, 2), data(3, 3, 2), [2, 8, 3], 2
    ),
    "max ties": lambda tf: grads(tf, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), TIES),
    "max ties overlap": lambda tf: grads(tf, lambda x: tf.nn.max_pool2d(x, 3, 1, "SAME"), TIES),
    "max zeros": lambda tf: grads(
        tf, lambda x: tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID"), -np.abs(IMG)
    ),
    "max many channels": lambda tf: grads(
        tf, lambda x: tf.nn.max_pool2d(x, [2, 3], [2, 1], "SAME"), data(2, 6, 7, 16)
    ),
    "max many tied": lambda tf: grads(
        tf, lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), np.round(data(2, 6, 7, 16))
    ),
    "avg many channels": lambda tf: grads(
        tf, lambda x: tf.nn.avg_pool2d(x, [2, 3], [2, 1], "SAME"), data(2, 6, 7, 16)
    ),
    "conv many channels": lambda tf: grads(
        tf, lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), data(2, 9, 8, 16), data(3, 3, 16, 12)
    ),
    "conv pool grads": lambda tf: grads(
        tf,
        lambda x, w: tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "SAME"),
        data(4, 16, 16, 8),
        data(5, 5, 8, 16),
    ),
    "max int": lambda tf: tf.nn.max_pool2d(tf.reshape(tf.range(16), (1, 4, 4, 1)), 2, 2, "SAME"),
    "max bool": lambda tf: tf.nn.max_pool2d(tf.ones((1, 4, 4, 1), tf.bool), 2, 2, "SAME"),
    "max negative": lambda tf: tf.nn.max_pool2d(IMG, -1, 2, "SAME"),
    "max zero size": lambda tf: tf.nn.max_pool2d(IMG, 0, 2, "SAME"),
    "max keyword": lambda tf: tf.nn.max_pool(
        input=IMG, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", name="p"
    ),
    "max over channels": lambda tf: tf.nn.max_pool2d(IMG, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
    "max over channels uneven": lambda tf: tf.nn.max_pool2d(
        data(1, 2, 2, 5), [1, 1, 1, 2], [1, 1, 1, 2], "VALID"
    ),
    "cross flat": lambda tf: grads(
        tf,
        lambda x: tf.nn.softmax_cross_entropy_with_logits(np.eye(6, 3, dtype="float32"), x),
        data(2, 3, 3),
    ),
    "cross not flat": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        np.ones((1, 3, 4), "float32"), data(2, 3, 4)
    ),
    "cross axis 0": lambda tf: grads(
        tf,
        lambda p, x: tf.nn.softmax_cross_entropy_with_logits(p, x, axis=0),
        np.abs(data(3, 2)),
        data(3, 2, seed=1),
    ),
    "cross broadcast": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        [[0.0, 1.0, 0.0]], data(4, 3)
    ),
    "silu name": lambda tf: tf.nn.silu([1.0], name="s"),
    "max wrong length": lambda tf: tf.nn.max_pool2d(IMG, [2, 2, 2], 2, "SAME"),
    "max list": lambda tf: tf.nn.max_pool2d(TIES.tolist(), 2, 2, "SAME"),
    "global mean": lambda tf: tf.reduce_mean(IMG, axis=[1, 2]),
    "l2 dim": lambda tf: tf.nn.l2_normalize(IMG, dim=1),
    "l2 all": lambda tf: tf.nn.l2_normalize([3.0, 4.0]),
    "l2 zeros": lambda tf: grads(tf, lambda x: tf.nn.l2_normalize(x, 0), np.zeros(3, "float32")),
    "l2 axes in use": lambda tf: tf.math.l2_normalize(IMG, axis=[1, 2], epsilon=1e-3),
    "l2 negative": lambda tf: tf.linalg.l2_normalize(IMG, -1, 1e-12, "n"),
    "l2 int": lambda tf: tf.nn.l2_normalize([3, 4]),
    "softmax axis 0": lambda tf: grads(tf, lambda x: tf.nn.softmax(x, 0), data(3, 4)),
    "softmax empty": lambda tf: tf.nn.softmax(tf.zeros([0, 3])),
    "softmax list": lambda tf: tf.nn.softmax([1.0, 2.0, 3.0], name="s"),
    "softmax int": lambda tf: tf.nn.softmax([1, 2, 3]),
    "softmax axis in use": lambda tf: tf.nn.softmax(data(3, 4), axis=2),
    "softmax huge": lambda tf: grads(tf, tf.nn.softmax, np.array([1e4, -1e4, 0.0], "float32")),
    "softmax inf": lambda tf: tf.nn.softmax([0.0, -np.inf, 1.0]),
    "log softmax inf": lambda tf: tf.nn.log_softmax([0.0, -np.inf, 1.0]),
    "relu list": lambda tf: tf.nn.relu([-1.0, 0.0, 2.0]),
    "relu int": lambda tf: tf.nn.relu([-1, 0, 2]),
    "relu nan": lambda tf: tf.nn.relu([np.nan, -1.0]),
    "relu bool": lambda tf: tf.nn.relu([True]),
    "relu none": lambda tf: tf.nn.relu(None),
    "relu scalar in use": lambda tf: tf.nn.relu(-2.0),
    "leaky alpha in use": lambda tf: grads(tf, lambda x: tf.nn.leaky_relu(x, 0.01), KINKS),
    "leaky tensor": lambda tf: tf.nn.leaky_relu(KINKS, tf.constant(0.3)),
    "elu kinks": lambda tf: grads(tf, tf.nn.elu, KINKS),
    "gelu int": lambda tf: tf.nn.gelu([1, 2]),
    "silu beta in use": lambda tf: grads(tf, lambda x: tf.nn.silu(x, beta=2.0), KINKS),
    "softplus big": lambda tf: grads(tf, tf.nn.softplus, np.array([-200.0, 0, 200.0], "float32")),
    "crelu axis in use": lambda tf: tf.nn.crelu(data(2, 3), axis=0),
    "cross rank": lambda tf: tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], [[1.0, 2.0]]),
    "cross int labels": lambda tf: tf.nn.softmax_cross_entropy_with_logits([[0, 1]], [[1.0, 2.0]]),
    "cross keyword": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        labels=[[0.2, 0.8]], logits=[[1.0, 2.0]], axis=-1
    ),
    "cross labels gradient": lambda tf: grads(
        tf,
        tf.nn.softmax_cross_entropy_with_logits,
        np.array([[0.2, 0.8], [1, 0]], "float32"),
        data(2, 2),
    ),
    "sparse range": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([5], data(1, 3)),
    "sparse float": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([1.0], data(1, 3)),
    "sparse shape": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], data(1, 3)),
    "sparse 3d": lambda tf: grads(
        tf,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([[0, 1], [2, 0]], x),
        data(2, 2, 3),
    ),
    "sparse uint8": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        np.array([1], "uint8"), data(1, 3)
    ),
    "sigmoid shapes": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [[1.0]]),
    "sigmoid int": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits([1, 0], [1.0, 2.0]),
    "sigmoid missing": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0]),
    "sigmoid extreme": lambda tf: grads(
        tf,
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(x), x),
        np.array([-100.0, 0, 100.0], "float32"),
    ),
    "weighted": lambda tf: grads(
        tf,
        lambda z, x: tf.nn.weighted_cross_entropy_with_logits(z, x, 2.0),
        np.array([0.0, 1.0, 1.0], "float32"),
        data(3),
    ),
    "poisson full": lambda tf: grads(
        tf, lambda x: tf.nn.log_poisson_loss([0.0, 1.0, 3.0], x, compute_full_loss=True), data(3)
    ),
    "moments keep in use": lambda tf: tf.nn.moments(IMG, [1, 2], keepdims=True),
    "moments number": lambda tf: tf.nn.moments(IMG, 0),
    "moments tuple": lambda tf: tf.nn.moments(IMG, (0, -1)),
    "moments none": lambda tf: tf.nn.moments(IMG, []),
    "moments int in use": lambda tf: tf.nn.moments(tf.constant([[1, 2], [4, 6]]), [0]),
    "norm no scale": lambda tf: tf.nn.batch_normalization(IMG, 0.5, 2.0, None, None, 1e-3),
    "lrn in use": lambda tf: grads(
        tf, lambda x: tf.nn.lrn(x, 2, bias=1.0, alpha=0.5, beta=0.75), IMG
    ),
    "lrn defaults": lambda tf: grads(tf, tf.nn.local_response_normalization, data(1, 2, 2, 20)),
    "lrn f64 in use": lambda tf: tf.nn.lrn(IMG.astype("d")),
    "lrn half": lambda tf: tf.nn.lrn(tf.ones((1, 2, 2, 3), tf.float16)),
    "lrn rank": lambda tf: tf.nn.lrn(data(2, 3)),
    "bias first in use": lambda tf: grads(
        tf, lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"), data(2, 3, 4, 4), data(3)
    ),
    "bias shape": lambda tf: tf.nn.bias_add(IMG, data(3)),
    "bias format in use": lambda tf: tf.nn.bias_add(IMG, data(2), "foo"),
    "bias int": lambda tf: tf.nn.bias_add(tf.ones((2, 3), tf.int32), [1, 2, 3]),
    "bias vector": lambda tf: tf.nn.bias_add(data(3), data(3)),
    "dropout rate": lambda tf: tf.nn.dropout(IMG, 1.5),
    "dropout zero": lambda tf: tf.nn.dropout(IMG, 0),
    "dropout int in use": lambda tf: tf.nn.dropout([1, 2], 0.5),
    "dropout tensor": lambda tf: tf.nn.dropout(tf.zeros(3), tf.constant(0.5)),
    "embed numpy": lambda tf: tf.nn.embedding_lookup(data(5, 2), np.array([[0, 4]])),
    "embed range": lambda tf: tf.nn.embedding_lookup(data(5, 2), [7]),
    "embed float": lambda tf: tf.nn.embedding_lookup(data(5, 2), [1.0]),
    "embed norm": lambda tf: tf.nn.embedding_lookup(data(5, 2) * 9, [1, 2], max_norm=1.0),
    "zero fraction in use": lambda tf: tf.nn.zero_fraction([0.0, 1.0, 0.0]),
    "average loss in use": lambda tf: tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4),
    "average loss weights in use": lambda tf: tf.nn.compute_average_loss(
        tf.constant([1.0, 2.0]), sample_weight=[1.0, 0.5]
    ),
    # random
    "normal scalar shape": lambda tf: tf.random.normal([]).shape,
    "normal tuple": lambda tf: tf.random.normal((2, 3), 1.0, 2.0, tf.float64, 1).dtype,
    "normal string": lambda tf: tf.random.normal([2], dtype="float64").dtype,
    "normal int dtype in use": lambda tf: tf.random.normal([2], dtype=tf.int32),
    "normal int mean": lambda tf: tf.random.normal([2], mean=1).dtype,
    "normal bare": lambda tf: tf.random.normal(3),
    "normal float shape": lambda tf: tf.random.normal([2.0]),
    "normal negative": lambda tf: tf.random.normal([-1]),
    "normal tensor shape in use": lambda tf: tf.random.normal(tf.constant([2, 3])).shape,
    "normal shape of": lambda tf: tf.random.normal(tf.shape(IMG)).shape,
    "normal broadcast in use": lambda tf: tf.random.normal([4, 3], [0.0, 1.0, 2.0], 0.1).shape,
    "uniform int in use": lambda tf: tf.random.uniform([3], maxval=5, dtype=tf.int32).dtype,
    "uniform no max in use": lambda tf: tf.random.uniform([3], dtype=tf.int32),
    "uniform order": lambda tf: tf.random.uniform([3], 5, 2, tf.int32),
    "uniform bool": lambda tf: tf.random.uniform([3], dtype=tf.bool),
    "uniform int64 in use": lambda tf: tf.random.uniform([3], 0, 10, "int64").dtype,
    "uniform bounds": lambda tf: tf.reduce_all(tf.random.uniform([99], -1, 1) < 1.0),
    "categorical dtype": lambda tf: tf.random.categorical([[1.0, 2.0]], 3, tf.int32).dtype,
    "categorical rank in use": lambda tf: tf.random.categorical([1.0, 2.0], 3),
    "categorical sure": lambda tf: tf.random.categorical([[-99.0, 99.0]], 4),
    "categorical none": lambda tf: tf.random.categorical([[1.0, 2.0]], 0),
    "gamma shape in use": lambda tf: tf.random.gamma([2], [1.0, 2.0, 3.0]).shape,
    "poisson in use": lambda tf: tf.random.poisson([2], [1.0, 2.0], dtype=tf.int32).dtype,
    "truncated in use": lambda tf: tf.reduce_max(tf.abs(tf.random.truncated_normal([99]))) <= 2.0,
    "generator nothing": lambda tf: tf.random.Generator(),
    "generator alg": lambda tf: tf.random.Generator.from_seed(1, alg="philox").normal([2]).shape,
    "generator binomial": lambda tf: tf.random.Generator.from_seed(1).binomial([2], 5.0, 0.5).dtype,
    "generator whole": lambda tf: tf.random.Generator.from_seed(1).uniform_full_int([2]).dtype,
    "generator no max": lambda tf: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int64),
    "generator bad alg": lambda tf: tf.random.Generator.from_seed(1, alg="foo"),
    "generator state": lambda tf: tf.random.Generator.from_state([1, 2, 3], alg="philox").algorithm,
    "generator key": lambda tf: tf.random.Generator.from_key_counter(1, [0, 0], "philox").key.dtype,
    "generator reset": generator_reset,
    "generator int normal": lambda tf: tf.random.Generator.from_seed(1).normal([2], dtype=tf.int32),
    "seed none": lambda tf: tf.random.set_seed(None),
    "categorical ints": lambda tf: tf.random.categorical([[1, 2]], 3),
    "average loss float": lambda tf: tf.nn.compute_average_loss([1.0], global_batch_size=2.5),
    "stateless dropout": lambda tf: tf.nn.experimental.stateless_dropout(
        tf.ones([4]), rate=0.0, seed=[1, 2]
    ),
    "stateless dropout same": lambda tf: tf.reduce_all(
        tf.nn.experimental.stateless_dropout(tf.ones([50]), 0.5, [1, 2])
        == tf.nn.experimental.stateless_dropout(tf.ones([50]), 0.5, seed=[1, 2])
    ),
    "stateless flips": lambda tf: (
        tf.image.stateless_random_flip_left_right(PHOTO, (1, 2)).shape,
        tf.image.stateless_random_flip_up_down(PHOTO[0], seed=[1, 2]).shape,
    ),
    "stateless crop": lambda tf: tf.image.stateless_random_crop(PHOTO, [1, 2, 3, 3], (1, 2)).shape,
    "stateless crop large": lambda tf: tf.image.stateless_random_crop(PHOTO, [9, 2, 3, 3], (1, 2)),
    "stateless brightness": lambda tf: (
        tf.image.stateless_random_brightness(PHOTO, 0.2, (1, 2)).dtype
    ),
    "stateless contrast": lambda tf: tf.image.stateless_random_contrast(PHOTO, 0.2, 0.1, (1, 2)),
    "stateless image seed": lambda tf: tf.image.stateless_random_flip_left_right(PHOTO, 3),
    "generator bare": lambda tf: tf.random.Generator.from_seed(1).normal(2),
    "global generator": lambda tf: tf.random.get_global_generator().normal([2]).shape,
    "stateless alg": lambda tf: tf.random.stateless_uniform([2], [1, 2], alg="philox").shape,
    "stateless tensor": lambda tf: tf.random.stateless_normal([2], tf.constant([1, 2])).dtype,
    "stateless same": lambda tf: tf.reduce_all(
        tf.random.stateless_uniform([5], seed=[1, 2]) == tf.random.stateless_uniform([5], [1, 2])
    ),
    "stateless ints in use": lambda tf: (
        tf.random.stateless_uniform([3], [1, 2], minval=0, maxval=5, dtype=tf.int32).dtype
    ),
    # images
    "image resize int": lambda tf: tf.image.resize(
        tf.range(16)[None, :, None, None][:, :4], [2, 1]
    ),
    "image resize keyword": lambda tf: tf.image.resize(
        images=PHOTO, size=(4, 4), method="nearest", name="r"
    ),
    "image crop": lambda tf: grads(
        tf, lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 4), PHOTO
    ),
    "image crop tensor": lambda tf: tf.image.crop_to_bounding_box(PHOTO, tf.constant(1), 2, 3, 4),
    "image crop outside": lambda tf: tf.image.crop_to_bounding_box(PHOTO, 7, 2, 3, 4),
    "image pad": lambda tf: tf.image.pad_to_bounding_box(PHOTO[0], 1, 2, 12, 10),
    "image pad small": lambda tf: tf.image.pad_to_bounding_box(PHOTO, 1, 2, 3, 4),
    "image gray": lambda tf: grads(tf, tf.image.rgb_to_grayscale, PHOTO),
    "image gray bytes": lambda tf: tf.image.rgb_to_grayscale(BYTES),
    "image gray channels": lambda tf: tf.image.rgb_to_grayscale(PHOTO[..., :2]),
    "image rgb": lambda tf: tf.image.grayscale_to_rgb(tf.constant(PHOTO[..., :1])),
    "image convert": lambda tf: tf.image.convert_image_dtype(BYTES, tf.float32),
    "image convert back": lambda tf: tf.image.convert_image_dtype(PHOTO, tf.uint8, saturate=True),
    "image convert string": lambda tf: tf.image.convert_image_dtype(BYTES, "float64"),
    "image rot": lambda tf: [tf.image.rot90(PHOTO, k) for k in (-1, 0, 1, 2, 3, 5)],
    "image rot one": lambda tf: tf.image.rot90(PHOTO[0]),
    "image contrast": lambda tf: tf.image.adjust_contrast(PHOTO, 2.0),
    "image gamma": lambda tf: tf.image.adjust_gamma(PHOTO, 0.5, gain=2),
    "image gamma negative": lambda tf: tf.image.adjust_gamma(PHOTO, -1),
    "image psnr": lambda tf: grads(
        tf, lambda a, b: tf.image.psnr(a, b, max_val=1.0), PHOTO, PHOTO[::-1].copy()
    ),
    "image ssim": lambda tf: tf.image.ssim(
        np.repeat(PHOTO, 3, 1).repeat(3, 2), np.repeat(PHOTO[::-1], 3, 1).repeat(3, 2), 1.0
    ),
    "image variation": lambda tf: grads(tf, tf.image.total_variation, PHOTO),
    "image variation one": lambda tf: tf.image.total_variation(tf.constant(PHOTO[0])),
    "image sobel": lambda tf: grads(tf, tf.image.sobel_edges, PHOTO),
    "image patches": lambda tf: grads(
        tf,
        lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        PHOTO,
    ),
    "image patches keywords": lambda tf: tf.image.extract_patches(
        images=PHOTO, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 2, 2, 1], padding="SAME"
    ),
    "image gradients": lambda tf: tf.image.image_gradients(tf.constant(PHOTO)),
    "image rank 2": lambda tf: tf.image.flip_up_down(PHOTO[0, 0]),
    "image random crop": lambda tf: tf.image.random_crop(PHOTO, [2, 4, 4, 3]).shape,
    "image random crop large": lambda tf: tf.image.random_crop(PHOTO, [2, 9, 4, 3]),
    "image random flip": lambda tf: tf.image.random_flip_left_right(PHOTO, seed=1).shape,
    "image random flip wrong": lambda tf: tf.image.random_flip_up_down(PHOTO[0, 0]),
    "image random brightness": lambda tf: tf.image.random_brightness(PHOTO, -0.1),
    "image random contrast": lambda tf: tf.image.random_contrast(PHOTO, 0.9, 0.5),
    "image yuv": lambda tf: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(PHOTO)),
    "image method enum": lambda tf: tf.image.resize(PHOTO, [4, 4], tf.image.ResizeMethod.AREA),
}


def seeded(program: Program) -> Program:
    """Return a program whose random numbers are the same whenever it runs."""

    def run(tf: Any) -> Any:
        tf.random.set_seed(1)
        return program(tf)

    return run


#: Where TensorFlow computes in single precision whatever the dtype, and how close it comes.
SINGLE = {"gelu f64": 1e-7, "resize f64": 2e-5}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    tensorflow_parity.compare(seeded(PROGRAMS[name]), SINGLE.get(name))
