"""Arguments, ties and misuse of tf.nn and tf.image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.nn_cases import (
    BYTES,
    IMAGE,
    KINKS,
    PHOTO,
    SINGLE,
    data,
    grads,
    seeded,
)
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()


def generator_reset(tf: Any) -> Any:
    g = tf.random.Generator.from_seed(3)
    g.reset([1, 2, 3])
    a = g.normal([4])
    g.reset([1, 2, 3])
    b = g.normal([4])
    g.reset(state=[1, 2, 3])
    return tf.reduce_all(a == b), g.uniform([2]).shape


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
    "lrn tensor": lambda tf: tf.nn.lrn(tf.constant(IMG), beta=tf.constant(0.5)),
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
    "embed norm below 0": lambda tf: grads(
        tf, lambda t: tf.nn.embedding_lookup(t, [1, 2], max_norm=-1.0), data(5, 2)
    ),
    "average loss in use": lambda tf: tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4),
    "average loss of none": lambda tf: tf.nn.compute_average_loss(tf.zeros([0, 2])),
    "average loss over none": lambda tf: tf.nn.compute_average_loss([1.0], None, 0),
    "average loss, weights of rows": lambda tf: tf.nn.compute_average_loss(
        tf.reshape(tf.range(9.0), [3, 3]), [1.0, 0.0, 2.0]
    ),
    "average loss, weights of columns": lambda tf: tf.nn.compute_average_loss(
        [1.0, 2.0], [[3.0], [4.0]]
    ),
    "average loss, one weight": lambda tf: tf.nn.compute_average_loss([1.0, 2.0], 3.0),
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
    "generator no max": lambda tf: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int64),
    "generator bad alg": lambda tf: tf.random.Generator.from_seed(1, alg="foo"),
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
    "image gray": lambda tf: grads(tf, tf.image.rgb_to_grayscale, PHOTO),
    "image gray bytes": lambda tf: tf.image.rgb_to_grayscale(BYTES),
    "image gray channels": lambda tf: tf.image.rgb_to_grayscale(PHOTO[..., :2]),
    "image convert": lambda tf: tf.image.convert_image_dtype(BYTES, tf.float32),
    "image convert back": lambda tf: tf.image.convert_image_dtype(PHOTO, tf.uint8, saturate=True),
    "image convert string": lambda tf: tf.image.convert_image_dtype(BYTES, "float64"),
    "image contrast": lambda tf: tf.image.adjust_contrast(PHOTO, 2.0),
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
    "image rank 2": lambda tf: tf.image.flip_up_down(PHOTO[0, 0]),
    "image random crop": lambda tf: tf.image.random_crop(PHOTO, [2, 4, 4, 3]).shape,
    "image random crop large": lambda tf: tf.image.random_crop(PHOTO, [2, 9, 4, 3]),
    "image random flip": lambda tf: tf.image.random_flip_left_right(PHOTO, seed=1).shape,
    "image random flip wrong": lambda tf: tf.image.random_flip_up_down(PHOTO[0, 0]),
    "image method enum": lambda tf: tf.image.resize(PHOTO, [4, 4], tf.image.ResizeMethod.AREA),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
