"""tf.keras.losses."""

from __future__ import annotations

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


def of_class(
    name: str, true: Any, predicted: Any, *args: Any, weight: Any = None, **options: Any
) -> Program:
    return lambda tf: loss_grads(
        tf,
        lambda x: getattr(tf.keras.losses, name)(*args, **options)(true, x, sample_weight=weight),
        predicted,
    )


def of_function(name: str, true: Any, predicted: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: loss_grads(
        tf, lambda x: getattr(tf.keras.losses, name)(true, x, *args, **options), predicted
    )


SIMPLE = {
    "MeanSquaredError": "MSE",
    "MeanAbsoluteError": "mae",
    "MeanAbsolutePercentageError": "MAPE",
    "MeanSquaredLogarithmicError": "msle",
    "CosineSimilarity": "cosine_similarity",
    "Huber": "huber",
    "LogCosh": "logcosh",
    "Hinge": "hinge",
    "SquaredHinge": "squared_hinge",
    "CategoricalHinge": "categorical_hinge",
    "KLDivergence": "kld",
    "Poisson": "poisson",
    "BinaryCrossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
    "BinaryFocalCrossentropy": "binary_focal_crossentropy",
    "CategoricalFocalCrossentropy": "categorical_focal_crossentropy",
    "Dice": "dice",
    "Tversky": "tversky",
}
for _name, _function in SIMPLE.items():
    PROGRAMS |= {
        f"{_name} loss": of_class(_name, TARGETS, SHARES),
        f"{_name} edges": of_class(_name, EDGES, SHARES),
        f"{_name} sum": of_class(_name, TARGETS, SHARES, reduction="sum"),
        f"{_name} none": of_class(_name, TARGETS, SHARES, reduction="none"),
        f"{_name} None": of_class(_name, TARGETS, SHARES, reduction=None),
        f"{_name} f64": of_class(_name, TARGETS.astype("d"), SHARES.astype("d")),
        f"{_name} in f64": of_class(
            _name, TARGETS.astype("d"), SHARES.astype("d"), dtype="float64"
        ),
        f"{_function} function": of_function(_function, TARGETS, SHARES),
        f"{_function} f64 function": of_function(
            _function, TARGETS.astype("d"), SHARES.astype("d")
        ),
        f"{_function} ints": of_function(_function, EDGES.astype("int32"), SHARES),
        f"{_function} 3d": of_function(_function, TARGETS[None], SHARES[None]),
        f"{_name} as of top": lambda tf, n=_name: getattr(tf.losses, n)(name="x").name,
        f"{_name} name": lambda tf, n=_name: (getattr(tf.keras.losses, n)().name,),
        f"{_name} bad": lambda tf, n=_name: getattr(tf.keras.losses, n)(reduction="foo"),
    }
    if _name not in ("Dice", "Tversky"):
        PROGRAMS |= {
            f"{_name} weights": of_class(_name, TARGETS, SHARES, weight=[1.0, 0.5, 2.0]),
            f"{_name} weight": of_class(_name, TARGETS, SHARES, weight=2.0),
            f"{_name} column": of_class(
                _name, TARGETS, SHARES, weight=np.array([[1.0], [0.0], [2.0]], "float32")
            ),
            f"{_name} mean": of_class(
                _name, TARGETS, SHARES, weight=[1.0, 0.5, 2.0], reduction="mean_with_sample_weight"
            ),
        }

PROGRAMS |= {
    "mse column": of_class("MeanSquaredError", np.array([1.0, 2.0]), np.array([[1.0], [3.0]], "f")),
    "mse column 2": of_class(
        "MeanSquaredError", np.array([[1.0], [2.0]]), np.array([1.0, 3.0], "f")
    ),
    "mse lists": lambda tf: tf.keras.losses.MeanSquaredError()([1.0, 2.0], [1.0, 3.0]),
    "mse function lists": lambda tf: tf.keras.losses.MSE([1.0, 2.0], [1.0, 3.0]),
    "mse ints": lambda tf: tf.keras.losses.MSE([1, 2], [1, 3]),
    "mse shapes": lambda tf: tf.keras.losses.MSE([1.0, 2.0, 3.0], [1.0, 3.0]),
    "mse scalars": lambda tf: tf.keras.losses.MeanSquaredError()(1.0, 3.0),
    "mse empty": of_class("MeanSquaredError", np.zeros((0, 3)), np.zeros((0, 3), "f")),
    "mae kink": of_class("MeanAbsoluteError", np.zeros(3), np.array([0.0, 1.0, -1.0], "f")),
    "hinge kink": of_class("Hinge", np.ones((1, 2)), np.array([[1.0, 0.5]], "f")),
    "hinge signs": of_class("Hinge", np.array([[-1.0, 1.0]]), np.array([[0.3, 0.5]], "f")),
    "huber delta": of_class("Huber", np.zeros(4), np.array([0.1, 2.0, -0.5, 0.5], "f"), delta=0.5),
    "huber far": of_class("Huber", np.zeros(2), np.array([10.0, -20.0], "f"), 3.0),
    "logcosh far": of_class("LogCosh", np.zeros(2), np.array([100.0, -100.0], "f")),
    "cosine axis": of_class("CosineSimilarity", TARGETS, SHARES, axis=0),
    "bce logits": of_class("BinaryCrossentropy", EDGES, LOGITS, from_logits=True),
    "bce logits positional": of_class("BinaryCrossentropy", EDGES, LOGITS, True),
    "bce smooth": of_class(
        "BinaryCrossentropy", EDGES, LOGITS, from_logits=True, label_smoothing=0.1
    ),
    "bce sure": of_class("BinaryCrossentropy", EDGES, EDGES[::-1].copy()),
    "bce ints": of_class("BinaryCrossentropy", np.array([0, 1, 1]), np.array([0.1, 0.7, 0.2], "f")),
    "bce column": of_class(
        "BinaryCrossentropy", np.array([0.0, 1.0]), np.array([[0.2], [0.7]], "f")
    ),
    "bce shapes": lambda tf: tf.keras.losses.binary_crossentropy([1.0, 0.0, 1.0], [0.1, 0.2]),
    "bce axis": of_function("binary_crossentropy", TARGETS, SHARES, axis=0),
    "cce logits": of_class("CategoricalCrossentropy", TARGETS, LOGITS, from_logits=True),
    "cce smooth": of_class("CategoricalCrossentropy", EDGES, SHARES, label_smoothing=0.2),
    "cce smooth logits": of_class(
        "CategoricalCrossentropy", EDGES, LOGITS, from_logits=True, label_smoothing=0.2
    ),
    "cce sure": of_class("CategoricalCrossentropy", EDGES, EDGES[::-1].copy()),
    "cce unnormalised": of_class("CategoricalCrossentropy", TARGETS, SHARES * 2),
    "cce axis": of_function("categorical_crossentropy", TARGETS, SHARES, axis=0),
    "cce axis bool": of_function("categorical_crossentropy", TARGETS, SHARES, axis=True),
    "cce shapes": of_function("categorical_crossentropy", TARGETS, SHARES[:, :2]),
    "focal options": of_class(
        "CategoricalFocalCrossentropy",
        TARGETS,
        LOGITS,
        alpha=0.5,
        gamma=3.0,
        from_logits=True,
        label_smoothing=0.1,
    ),
    "binary focal": of_class("BinaryFocalCrossentropy", EDGES, LOGITS, True, 0.3, 1.5, True),
    "scce": of_class("SparseCategoricalCrossentropy", LABELS, SHARES),
    "scce logits": of_class("SparseCategoricalCrossentropy", LABELS, LOGITS, from_logits=True),
    "scce positional": of_class("SparseCategoricalCrossentropy", LABELS, LOGITS, True),
    "scce none": of_class("SparseCategoricalCrossentropy", LABELS, LOGITS, True, reduction="none"),
    "scce weights": of_class(
        "SparseCategoricalCrossentropy", LABELS, LOGITS, True, weight=[1.0, 0.0, 2.0]
    ),
    "scce column": of_class("SparseCategoricalCrossentropy", LABELS[:, None], SHARES),
    "scce ignore": of_class("SparseCategoricalCrossentropy", LABELS, SHARES, ignore_class=0),
    "scce ignore sum": of_class(
        "SparseCategoricalCrossentropy", LABELS, LOGITS, True, ignore_class=0, reduction="sum"
    ),
    "scce ignore negative": of_class(
        "SparseCategoricalCrossentropy", np.array([1, -1, 2]), LOGITS, True, ignore_class=-1
    ),
    "scce 3d": of_class(
        "SparseCategoricalCrossentropy", np.array([[0, 1], [2, 1]]), data(2, 2, 3), from_logits=True
    ),
    "scce function": of_function("sparse_categorical_crossentropy", LABELS, SHARES),
    "scce function logits": of_function(
        "sparse_categorical_crossentropy", LABELS, LOGITS, from_logits=True
    ),
    "scce outside": of_class("SparseCategoricalCrossentropy", np.array([1, 0, 3]), LOGITS, True),
    "scce shapes": of_class("SparseCategoricalCrossentropy", LABELS[:2], LOGITS, True),
    "scce sure": of_class("SparseCategoricalCrossentropy", LABELS, EDGES),
    "gce": of_class("CategoricalGeneralizedCrossEntropy", LABELS, SHARES, q=0.7),
    "dice axis": of_class("Dice", TARGETS, SHARES, axis=(0,), reduction="none"),
    "tversky options": of_class("Tversky", TARGETS, SHARES, alpha=0.3, beta=0.7),
    "Reduction": lambda tf: (tf.keras.losses.Reduction.NONE, tf.keras.losses.Reduction.SUM),
    "loss get": lambda tf: tf.keras.losses.get("mse")([1.0, 2.0], [1.0, 3.0]),
    "loss get class": lambda tf: tf.keras.losses.get("MeanSquaredError")([1.0, 2.0], [1.0, 3.0]),
    "loss get unknown": lambda tf: tf.keras.losses.get("foo"),
    "loss variable": lambda tf: tf.keras.losses.MeanSquaredError()(
        tf.zeros(2), tf.Variable([1.0, 2.0])
    ),
    "loss unexpected": lambda tf: tf.keras.losses.MeanSquaredError(foo=1),
}


def _own_loss(tf: Any) -> Any:
    class Cubes(tf.keras.losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return tf.reduce_sum(tf.abs(y_true - y_pred) ** 3, axis=-1)

    return loss_grads(tf, lambda x: Cubes()(TARGETS, x, sample_weight=[1.0, 2.0, 3.0]), SHARES)


PROGRAMS["own loss"] = _own_loss


def tolerance(name: str) -> float | None:
    """Return how far numbers may be apart, if not as usual."""
    if name.endswith(" f64") and name.removesuffix(" f64") in SIMPLE:
        return 2e-5  # losses are of single precision, whatever is given
    if name in ("LogCosh in f64", "logcosh f64 function"):
        return 1e-7  # Keras's log(2) is of single precision
    return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    def program(tf: Any) -> Any:
        tf.keras.utils.set_random_seed(1)
        return PROGRAMS[name](tf)

    compare(program, tolerance(name))
