"""Activations, initializers, metrics and the rest of tf.keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.keras.cases import (
    EDGES,
    LABELS,
    LOGITS,
    SHARES,
    TARGETS,
    data,
    loss_grads,
)
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore:.*num_classes > 1:SyntaxWarning"),
    pytest.mark.filterwarnings("ignore:Gradients do not exist"),
    pytest.mark.filterwarnings("ignore:no gradients for"),
]

PROGRAMS = Programs()


POINTS = np.array([-7.0, -3.0, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 3.0, 6.0, 7.0], "float32")


def activation(name: str, x: Any = POINTS, **options: Any) -> Program:
    return lambda tf: loss_grads(tf, lambda v: getattr(tf.keras.activations, name)(v, **options), x)


for _name in (
    "relu",
    "leaky_relu",
    "elu",
    "selu",
    "softplus",
    "softsign",
    "tanh",
    "sigmoid",
    "hard_sigmoid",
    "silu",
    "swish",
    "gelu",
    "exponential",
    "linear",
    "mish",
    "softmax",
    "log_softmax",
    "relu6",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "celu",
    "log_sigmoid",
    "glu",
    "tanh_shrink",
    "soft_shrink",
    "hard_shrink",
    "squareplus",
):
    # at 0, Keras's celu has the derivative 2
    points = POINTS[POINTS != 0] if _name == "celu" else POINTS
    PROGRAMS[f"activation {_name}"] = activation(_name, points)
PROGRAMS |= {
    "relu all": activation("relu", negative_slope=0.1, max_value=5.0, threshold=0.7),
    "relu max": activation("relu", max_value=5.5),
    "relu slope": activation("relu", negative_slope=0.3),
    "elu alpha": activation("elu", alpha=0.5),
    "leaky slope": activation("leaky_relu", negative_slope=0.4),
    "gelu approximate": activation("gelu", approximate=True),
    "softmax axis": lambda tf: tf.keras.activations.softmax(tf.constant(data(3, 4)), axis=0),
    "activation ints": lambda tf: tf.keras.activations.sigmoid(tf.constant([1, 2])),
    "activation list": lambda tf: tf.keras.activations.relu([-1.0, 2.0]),
    "activation get": lambda tf: tf.keras.activations.get("tanh")(tf.constant([1.0])),
    "activation None": lambda tf: tf.keras.activations.get(None)(tf.constant([1.0])),
    "activation unknown": lambda tf: tf.keras.activations.get("foo"),
}


def law(make: Callable[[Any], Any], shape: Any = (300, 200)) -> Program:
    """Return a program with the shape, dtype and moments of what an initializer gives."""

    def program(tf: Any) -> Any:
        x = make(tf)(shape)
        v = np.asarray(x)
        return x.shape, x.dtype, round(8 * np.log(v.std() + 1e-30)), bool(abs(v.mean()) < 0.02)

    return program


for _name in (
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "GlorotUniform",
    "GlorotNormal",
    "HeNormal",
    "HeUniform",
    "LecunNormal",
    "LecunUniform",
    "VarianceScaling",
    "Orthogonal",
    "Zeros",
    "Constant",
):
    PROGRAMS[f"initializer {_name}"] = law(lambda tf, n=_name: getattr(tf.keras.initializers, n)())
    PROGRAMS[f"initializer {_name} f64"] = lambda tf, n=_name: (
        getattr(tf.initializers, n)()((4, 3), dtype=tf.float64).dtype
    )
PROGRAMS |= {
    "initializer kernel": law(
        lambda tf: tf.keras.initializers.GlorotUniform(seed=1), (3, 3, 32, 64)
    ),
    "initializer vector": law(lambda tf: tf.keras.initializers.HeUniform(seed=1), (20000,)),
    "initializer scaled": law(
        lambda tf: tf.keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
    ),
    "initializer mode": lambda tf: tf.keras.initializers.VarianceScaling(mode="foo"),
    "initializer scale": lambda tf: tf.keras.initializers.VarianceScaling(scale=-1.0),
    "initializer zeros": lambda tf: tf.keras.initializers.Zeros()((2, 3)),
    "initializer ones": lambda tf: tf.keras.initializers.Ones()([2], dtype="float64"),
    "initializer constant": lambda tf: tf.keras.initializers.Constant(3.0)((2,)),
    "initializer identity": lambda tf: tf.keras.initializers.Identity(2.0)((2, 3)),
    "initializer identity rank": lambda tf: tf.keras.initializers.Identity()((2,)),
    "initializer orthogonal": lambda tf: (
        tf.round((lambda q: tf.transpose(q) @ q)(tf.keras.initializers.Orthogonal(2.0)((6, 3))))
        + 0.0
    ),
    "initializer orthogonal rank": lambda tf: tf.keras.initializers.Orthogonal()((6,)),
    "initializer again": lambda tf: (lambda i: bool(tf.reduce_all(i((2,)) == i((2,)))))(
        tf.keras.initializers.RandomNormal(seed=1)
    ),
    "initializer get": lambda tf: tf.keras.initializers.get("glorot_uniform")((2, 3)).shape,
    "initializer get unknown": lambda tf: tf.keras.initializers.get("foo"),
    "initializer of variable": lambda tf: tf.Variable(tf.keras.initializers.Zeros()((2, 3))),
    "tf zeros": lambda tf: tf.zeros_initializer()([2, 3]),
    "tf ones": lambda tf: tf.ones_initializer()(shape=[2], dtype=tf.int32),
    "tf constant": lambda tf: tf.constant_initializer(3)([2]),
    "tf constant list": lambda tf: tf.constant_initializer([1.0, 2.0])([2]),
    "tf normal": law(lambda tf: tf.random_normal_initializer(0.0, 0.1)),
    "tf uniform": law(lambda tf: tf.random_uniform_initializer(-1.0, 1.0, seed=3)),
}


def metric(kind: str, *updates: Any, **options: Any) -> Program:
    def program(tf: Any) -> Any:
        m = getattr(tf.keras.metrics, kind)(**options)
        seen: list[Any] = [m.result()]
        for given in updates:
            keywords = given[-1] if isinstance(given[-1], dict) else {}
            m.update_state(*given[: len(given) - bool(keywords)], **keywords)
            seen.append(m.result())
        m.reset_state()
        return seen, m.result(), m.name

    return program


PROGRAMS |= {
    "Mean": metric("Mean", ([1.0, 2.0, 6.0],), (5.0,), (np.ones((2, 2), "f"),)),
    "Mean weights": metric("Mean", ([1.0, 2.0], {"sample_weight": [1.0, 3.0]}), (5.0, 2.0)),
    "Mean name": metric("Mean", (1,), name="loss"),
    "Mean call": lambda tf: (lambda m: (m(1.0), m([4.0, 4.0])))(tf.keras.metrics.Mean()),
    "Sum": metric("Sum", ([1.0, 2.0],), (5,)),
    "Accuracy": metric("Accuracy", ([0, 1, 1], [0, 1, 2])),
    "BinaryAccuracy": metric(
        "BinaryAccuracy", ([0, 1, 1], [0.1, 0.9, 0.2]), ([[1], [0]], [[0.6], [0.6]])
    ),
    "BinaryAccuracy threshold": metric("BinaryAccuracy", ([0, 1], [0.1, 0.6]), threshold=0.7),
    "CategoricalAccuracy": metric("CategoricalAccuracy", (TARGETS, SHARES), (EDGES, SHARES)),
    "SparseCategoricalAccuracy": metric(
        "SparseCategoricalAccuracy", (LABELS, SHARES), (LABELS, LOGITS)
    ),
    "SparseCategoricalAccuracy column": metric(
        "SparseCategoricalAccuracy", (LABELS[:, None], LOGITS)
    ),
    "SparseCategoricalAccuracy weights": metric(
        "SparseCategoricalAccuracy", (LABELS, LOGITS, {"sample_weight": [1.0, 2.0, 0.0]})
    ),
    "TopK": metric("TopKCategoricalAccuracy", (TARGETS, LOGITS), k=2),
    "SparseTopK": metric("SparseTopKCategoricalAccuracy", (LABELS, LOGITS), k=2),
    "metric mse": metric("MeanSquaredError", (TARGETS, SHARES), (EDGES, SHARES)),
    "metric mae": metric("MeanAbsoluteError", (TARGETS, SHARES)),
    "metric rmse": metric("RootMeanSquaredError", (TARGETS, SHARES), (EDGES, SHARES)),
    "metric bce": metric("BinaryCrossentropy", (EDGES, SHARES)),
    "metric cce": metric("CategoricalCrossentropy", (TARGETS, LOGITS), from_logits=True),
    "metric scce": metric("SparseCategoricalCrossentropy", (LABELS, LOGITS), from_logits=True),
    "metric kl": metric("KLDivergence", (TARGETS, SHARES)),
    "metric hinge": metric("Hinge", (EDGES, SHARES)),
    "metric cosine": metric("CosineSimilarity", (TARGETS, SHARES)),
    "metric logcosh": metric("LogCoshError", (TARGETS, SHARES)),
    "metric functions": lambda tf: [
        tf.keras.metrics.sparse_categorical_accuracy(tf.constant(LABELS), tf.constant(LOGITS)),
        tf.keras.metrics.categorical_accuracy(tf.constant(TARGETS), tf.constant(LOGITS)),
        tf.keras.metrics.binary_accuracy(tf.constant(EDGES), tf.constant(SHARES)),
        tf.keras.metrics.mse([1.0, 2.0], [2.0, 4.0]),
    ],
    "to_categorical": lambda tf: tf.keras.utils.to_categorical([0, 2, 1]),
    "to_categorical count": lambda tf: tf.keras.utils.to_categorical(np.array([[0], [2]]), 4),
    "normalize": lambda tf: tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])),
    "epsilon": lambda tf: (tf.keras.backend.epsilon(), tf.keras.backend.floatx()),
    "l2": lambda tf: loss_grads(tf, tf.keras.regularizers.l2(0.1), LOGITS),
    "l1": lambda tf: loss_grads(tf, tf.keras.regularizers.L1(0.1), LOGITS),
    "l1 l2": lambda tf: loss_grads(tf, tf.keras.regularizers.L1L2(0.1, 0.2), LOGITS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    def program(tf: Any) -> Any:
        tf.keras.utils.set_random_seed(1)
        return PROGRAMS[name](tf)

    compare(program)
