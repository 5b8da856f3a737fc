"""tf.nn, tf.image and tf.random on real TensorFlow and on Wengert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow_parity

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
