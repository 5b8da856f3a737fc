"""Convolutions and pools of tf.nn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.nn_cases import IMAGE, KERNEL, SINGLE, data, grads, seeded
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()


EXPLICIT = [[0, 0], [1, 2], [0, 1], [0, 0]]


def conv(name: str, x: Any, w: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda a, b: getattr(tf.nn, name)(a, b, *args, **options), x, w)


def pool(name: str, x: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda a: getattr(tf.nn, name)(a, *args, **options), x)


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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
