"""tf.keras, as far as a loop with a GradientTape takes from it, on TensorFlow and on Wengert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow import parity as tensorflow_parity

pytestmark = [
    pytest.mark.peers,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore:.*num_classes > 1:SyntaxWarning"),
    pytest.mark.filterwarnings("ignore:Gradients do not exist"),
    pytest.mark.filterwarnings("ignore:no gradients for"),
]

Program = Callable[[Any], Any]


def data(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# -- optimisers -----------------------------------------------------------------------------------


def train(make: Callable[[Any], Any], steps: int = 6, dtype: str = "float32") -> Program:
    """Return a program that fits a small function, and returns parameters and state as it goes."""

    def program(tf: Any) -> Any:
        w = tf.Variable(data(3, 2, dtype=dtype), name="w")
        b = tf.Variable(np.zeros(2, dtype), name="b")
        optimizer = make(tf)
        x, y = tf.constant(data(5, 3, seed=1, dtype=dtype)), data(5, 2, seed=2, dtype=dtype)
        seen = []
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.tanh(x @ w + b) - y) ** 2)
            grads = tape.gradient(loss, [w, b])
            optimizer.apply_gradients(zip(grads, [w, b], strict=True))
            seen.append((loss, w.numpy(), b.numpy()))
        state = [v.numpy() for v in optimizer.variables if v.shape == (3, 2) or v.shape == (2,)]
        return seen, state, int(optimizer.iterations.numpy())

    return program


def rows(make: Callable[[Any], Any]) -> Program:
    """Return a program that steps some rows of a table, one of them twice."""

    def program(tf: Any) -> Any:
        table = tf.Variable(data(5, 3), name="table")
        optimizer = make(tf)
        seen = []
        for step in range(4):
            with tf.GradientTape() as tape:
                found = tf.gather(table, [1, 3, 1, step])
                loss = tf.reduce_sum(found**3)
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
            seen.append(table.numpy())
        return seen

    return program


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda tf: tf.keras.optimizers.SGD(0.1),
    "SGD default": lambda tf: tf.keras.optimizers.SGD(),
    "SGD momentum": lambda tf: tf.keras.optimizers.SGD(0.1, momentum=0.9),
    "SGD nesterov": lambda tf: tf.optimizers.SGD(0.1, 0.9, True),
    "SGD decay": lambda tf: tf.keras.optimizers.SGD(0.1, weight_decay=0.1),
    "SGD clipnorm": lambda tf: tf.keras.optimizers.SGD(0.1, clipnorm=0.1),
    "SGD clipvalue": lambda tf: tf.keras.optimizers.SGD(0.1, clipvalue=0.05),
    "SGD global": lambda tf: tf.keras.optimizers.SGD(0.1, global_clipnorm=0.1),
    "SGD global large": lambda tf: tf.keras.optimizers.SGD(0.1, global_clipnorm=1e3),
    "SGD ema": lambda tf: tf.keras.optimizers.SGD(
        0.1, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=2
    ),
    "SGD accumulation": lambda tf: tf.keras.optimizers.SGD(0.1, gradient_accumulation_steps=2),
    "SGD scaled": lambda tf: tf.keras.optimizers.SGD(0.1, loss_scale_factor=4.0),
    "Adam": lambda tf: tf.keras.optimizers.Adam(0.1),
    "Adam default": lambda tf: tf.keras.optimizers.Adam(),
    "Adam options": lambda tf: tf.keras.optimizers.Adam(
        learning_rate=0.05, beta_1=0.8, beta_2=0.95, epsilon=1e-3
    ),
    "Adam amsgrad": lambda tf: tf.keras.optimizers.Adam(0.3, amsgrad=True),
    "Adam decay": lambda tf: tf.keras.optimizers.Adam(0.1, weight_decay=0.1),
    "Adam clipnorm": lambda tf: tf.keras.optimizers.Adam(0.1, clipnorm=0.1),
    "Adam accumulation": lambda tf: tf.keras.optimizers.Adam(0.1, gradient_accumulation_steps=3),
    "AdamW": lambda tf: tf.keras.optimizers.AdamW(0.1),
    "AdamW options": lambda tf: tf.keras.optimizers.AdamW(0.1, 0.3, amsgrad=True),
    "RMSprop": lambda tf: tf.keras.optimizers.RMSprop(0.1),
    "RMSprop momentum": lambda tf: tf.keras.optimizers.RMSprop(0.1, rho=0.8, momentum=0.5),
    "RMSprop centered": lambda tf: tf.keras.optimizers.RMSprop(0.1, centered=True, momentum=0.3),
    "Adagrad": lambda tf: tf.keras.optimizers.Adagrad(0.1),
    "Adagrad options": lambda tf: tf.keras.optimizers.Adagrad(
        0.1, initial_accumulator_value=0.01, epsilon=1e-3
    ),
    "Adadelta": lambda tf: tf.keras.optimizers.Adadelta(1.0),
    "Adadelta options": lambda tf: tf.keras.optimizers.Adadelta(1.0, rho=0.8, epsilon=1e-3),
    "Adamax": lambda tf: tf.keras.optimizers.Adamax(0.1),
    "Nadam": lambda tf: tf.keras.optimizers.Nadam(0.1),
    "Ftrl": lambda tf: tf.keras.optimizers.Ftrl(0.1),
    "Ftrl options": lambda tf: tf.keras.optimizers.Ftrl(
        0.1,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.02,
        l2_shrinkage_regularization_strength=0.03,
        beta=0.1,
        learning_rate_power=-0.4,
    ),
    "Lion": lambda tf: tf.keras.optimizers.Lion(0.05),
    "Lamb": lambda tf: tf.keras.optimizers.Lamb(0.05),
    "exponential": lambda tf: tf.keras.optimizers.SGD(
        tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
    ),
    "callable": lambda tf: tf.keras.optimizers.SGD(lambda: 0.3),
    "get": lambda tf: tf.keras.optimizers.get("rmsprop"),
}

PROGRAMS: dict[str, Program] = {}
for _name, _make in OPTIMIZERS.items():
    PROGRAMS[_name] = train(_make)
    if "accumulation" not in _name and "scaled" not in _name:
        PROGRAMS[f"{_name} rows"] = rows(_make)
for _name in (
    "SGD momentum",
    "SGD decay",
    "Adam",
    "AdamW",
    "RMSprop centered",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "Nadam",
    "Ftrl",
    "Lion",
    "Lamb",
):
    PROGRAMS[f"{_name} f64"] = train(OPTIMIZERS[_name], dtype="float64")


def apply(tf: Any, optimizer: Any, *pairs: Any) -> Any:
    optimizer.apply_gradients(pairs)
    return [v.numpy() for _, v in pairs]


def _rate_changes(tf: Any) -> Any:
    v, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.SGD(0.5)
    seen = [float(optimizer.learning_rate)]
    for rate in (0.25, tf.constant(0.125), np.float32(2.0)):
        optimizer.learning_rate = rate
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
        seen.append((float(optimizer.learning_rate), v.numpy()))
    optimizer.learning_rate.assign(0.5)
    optimizer.learning_rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.2])
    return seen, float(optimizer.learning_rate)


def _set_schedule(tf: Any) -> Any:
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
    tf.keras.optimizers.SGD(schedule).learning_rate = 0.1


def _own(tf: Any) -> Any:
    class Signs(tf.keras.optimizers.Optimizer):
        def build(self, variables: Any) -> None:
            super().build(variables)
            self.seen = [self.add_variable_from_reference(v, "seen") for v in variables]

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            seen = self.seen[self._get_variable_index(variable)]
            self.assign_add(seen, tf.abs(gradient))
            self.assign_sub(variable, tf.cast(learning_rate, variable.dtype) * tf.sign(gradient))

    return train(lambda tf: Signs(0.25))(tf)


def _constrained(tf: Any) -> Any:
    v = tf.Variable([1.0, -2.0], constraint=lambda x: tf.maximum(x, 0.0))
    return apply(tf, tf.keras.optimizers.SGD(0.1), (tf.constant([1.0, 1.0]), v))


def _spared(tf: Any) -> Any:
    v, b = tf.Variable([1.0], name="kernel"), tf.Variable([1.0], name="bias")
    optimizer = tf.keras.optimizers.AdamW(0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return apply(tf, optimizer, (tf.constant([1.0]), v), (tf.constant([1.0]), b))


def _some(tf: Any) -> Any:
    a, b = tf.Variable([1.0]), tf.Variable([2.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.apply_gradients([(None, a), (tf.constant([1.0]), b)])
    optimizer.apply_gradients([(tf.constant([1.0]), a), (tf.constant([1.0]), b)])
    return a.numpy(), b.numpy(), optimizer.iterations.numpy()


def _built(tf: Any) -> Any:
    v, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.Adam(0.1)
    optimizer.build([v])
    optimizer.apply([tf.constant([1.0, -1.0])])
    return v.numpy(), [x.numpy() for x in optimizer.variables], len(optimizer.variables)


def _unknown(tf: Any) -> Any:
    optimizer = tf.keras.optimizers.SGD(0.1)
    apply(tf, optimizer, (tf.constant(1.0), tf.Variable(1.0)))
    apply(tf, optimizer, (tf.constant(1.0), tf.Variable(1.0)))


def _in_tape(tf: Any) -> Any:
    v, optimizer = tf.Variable(2.0), tf.keras.optimizers.SGD(0.5, momentum=0.5)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        optimizer.apply_gradients([(tape.gradient(y, v), v)])
        z = v * 3.0
    return v.numpy(), tape.gradient(z, v), [x.name for x in tape.watched_variables()]


def _config(tf: Any) -> Any:
    config = tf.keras.optimizers.SGD(0.5, momentum=0.5, name="mine").get_config()
    again = tf.keras.optimizers.SGD.from_config(config)
    return config, float(again.learning_rate), again.momentum, again.name


SGD: Callable[..., Any] = lambda tf, *args, **options: tf.keras.optimizers.SGD(*args, **options)  # noqa: E731
PROGRAMS |= {
    "rate changes": _rate_changes,
    "rate of schedule": _set_schedule,
    "own optimizer": _own,
    "constraint": _constrained,
    "spared": _spared,
    "some gradients": _some,
    "build and apply": _built,
    "unknown variable": _unknown,
    "within a tape": _in_tape,
    "config": _config,
    "names": lambda tf: (SGD(tf, 0.1, name="x").name, tf.keras.optimizers.AdamW(0.1).weight_decay),
    "rate int": lambda tf: SGD(tf, 1),
    "rate tensor": lambda tf: SGD(tf, tf.constant(0.1)),
    "rate NumPy": lambda tf: float(SGD(tf, np.float64(0.1)).learning_rate),
    "rate single": lambda tf: SGD(tf, np.float32(0.1)),
    "lr": lambda tf: SGD(tf, lr=0.1),
    "momentum": lambda tf: SGD(tf, 0.1, momentum=2.0),
    "momentum int": lambda tf: SGD(tf, 0.1, momentum=1),
    "two limits": lambda tf: SGD(tf, 0.1, clipnorm=1.0, clipvalue=1.0),
    "no gradients": lambda tf: apply(tf, SGD(tf, 0.1), (None, tf.Variable(1.0))),
    "empty": lambda tf: apply(tf, SGD(tf, 0.1)),
    "shape": lambda tf: apply(tf, SGD(tf, 0.1), (tf.zeros(3), tf.Variable([1.0, 2.0]))),
    "shape Adam": lambda tf: apply(
        tf, tf.keras.optimizers.Adam(0.1), (tf.zeros(3), tf.Variable([1.0, 2.0]))
    ),
    "NumPy gradient": lambda tf: apply(tf, SGD(tf, 0.1), (np.ones(2), tf.Variable([1.0, 2.0]))),
    "list gradient": lambda tf: apply(tf, SGD(tf, 0.1), ([1.0, 1.0], tf.Variable([1.0, 2.0]))),
    "other dtype": lambda tf: apply(
        tf, SGD(tf, 0.1), (tf.ones(2), tf.Variable([1.0, 2.0], dtype=tf.float64))
    ),
    "minimize": lambda tf: SGD(tf, 0.1).minimize,
    "get unknown": lambda tf: tf.keras.optimizers.get("foo"),
    "AdamW None": lambda tf: tf.keras.optimizers.AdamW(0.1, weight_decay=None),
    "iterations": lambda tf: (SGD(tf, 0.1).iterations.dtype == "int64", SGD(tf, 0.1).built),
}

# -- schedules ------------------------------------------------------------------------------------


def schedule(name: str, *args: Any, **options: Any) -> Program:
    def program(tf: Any) -> Any:
        made = getattr(tf.keras.optimizers.schedules, name)(*args, **options)
        return [made(step) for step in (0, 1, 2, 3, 7, 10, 11, 25, 40, 100)], made(
            tf.constant(5, tf.int64)
        )

    return program


PROGRAMS |= {
    "ExponentialDecay": schedule("ExponentialDecay", 0.1, 10, 0.5),
    "ExponentialDecay stairs": schedule("ExponentialDecay", 0.1, 10, 0.5, staircase=True),
    "InverseTimeDecay": schedule("InverseTimeDecay", 0.1, 10, 0.5),
    "InverseTimeDecay stairs": schedule("InverseTimeDecay", 0.1, 10, 0.5, True),
    "PolynomialDecay": schedule("PolynomialDecay", 0.1, 10),
    "PolynomialDecay power": schedule("PolynomialDecay", 0.1, 10, 0.01, power=0.5),
    "PolynomialDecay cycle": schedule("PolynomialDecay", 0.1, 10, cycle=True),
    "CosineDecay": schedule("CosineDecay", 0.1, 20),
    "CosineDecay alpha": schedule("CosineDecay", 0.1, 20, alpha=0.1),
    "CosineDecay warm": schedule("CosineDecay", 0.0, 20, warmup_target=0.3, warmup_steps=5),
    "CosineDecayRestarts": schedule("CosineDecayRestarts", 0.1, 6),
    "CosineDecayRestarts even": schedule("CosineDecayRestarts", 0.1, 6, t_mul=1.0, m_mul=0.8),
    "CosineDecayRestarts all": schedule("CosineDecayRestarts", 0.1, 6, 1.5, 0.9, 0.05),
    "PiecewiseConstantDecay": schedule("PiecewiseConstantDecay", [2, 10], [1.0, 0.5, 0.1]),
    "PiecewiseConstantDecay bad": schedule("PiecewiseConstantDecay", [2, 10], [1.0, 0.5]),
    "no steps": schedule("CosineDecay", 0.1, 0),
    "schedule config": lambda tf: tf.keras.optimizers.schedules.CosineDecay(0.1, 20).get_config(),
    "bare schedule": lambda tf: tf.keras.optimizers.schedules.LearningRateSchedule()(1),
}

# -- losses ---------------------------------------------------------------------------------------

SHARES = np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7]], "float32")
TARGETS = np.array([[0.0, 1.0, 0.0], [0.7, 0.2, 0.1], [0.0, 0.0, 1.0]], "float32")
EDGES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], "float32")
LABELS = np.array([1, 0, 2])
LOGITS = data(3, 3, seed=4)


def loss_grads(tf: Any, f: Callable[[Any], Any], predictions: Any) -> Any:
    x = tf.constant(predictions)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


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

# -- activations, initializers, metrics and the rest ---------------------------------------------

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


# -- whole loops ---------------------------------------------------------------------------------

Y = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "f")
P = np.array([[0.1, 0.8, 0.1], [0.6, 0.3, 0.1]], "f")
L = np.array([[1.0, 2.0, -1.0], [0.5, 0.1, 0.2]], "f")


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def opt_run(tf: Any, o: Any, n: int = 4) -> Any:
    v = tf.Variable([1.0, -2.0, 3.0])
    m = tf.Variable([[0.5, 0.5]])
    for _ in range(n):
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(v**4) + tf.reduce_sum(tf.sin(m * v[0]))
        gs = t.gradient(loss, [v, m])
        o.apply_gradients(zip(gs, [v, m], strict=True))
    return v, m, int(o.iterations), [tuple(w.shape) for w in o.variables]


@program
def loss_objects(tf: Any) -> Any:
    k = tf.keras.losses
    out = {}
    for n in [
        "MeanSquaredError",
        "MeanAbsoluteError",
        "MeanAbsolutePercentageError",
        "MeanSquaredLogarithmicError",
        "Huber",
        "LogCosh",
        "KLDivergence",
        "Poisson",
        "Hinge",
        "SquaredHinge",
        "CategoricalHinge",
        "CosineSimilarity",
        "BinaryCrossentropy",
        "CategoricalCrossentropy",
        "BinaryFocalCrossentropy",
        "CategoricalFocalCrossentropy",
    ]:
        loss = getattr(k, n)()
        out[n] = [
            loss(Y, P),
            loss(tf.constant(Y), tf.constant(P)),
            loss(Y.tolist(), P.tolist()),
            loss(y_true=Y, y_pred=P, sample_weight=[1.0, 2.0]),
            getattr(k, n)(reduction="sum")(Y, P),
            getattr(k, n)(reduction="none")(Y, P),
            loss.name,
        ]
    return out


@program
def loss_logits(tf: Any) -> Any:
    k = tf.keras.losses
    x = tf.Variable(L)
    with tf.GradientTape(persistent=True) as t:
        a = k.CategoricalCrossentropy(from_logits=True)(Y, x)
        b = k.BinaryCrossentropy(from_logits=True)(Y, x)
        c = k.SparseCategoricalCrossentropy(from_logits=True)(np.array([1, 0]), x)
        d = k.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(Y, x)
        e = k.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)(np.array([1, 0]), x)
    return [(v, t.gradient(v, x)) for v in (a, b, c, d, e)]


@program
def loss_probs(tf: Any) -> Any:
    k = tf.keras.losses
    x = tf.Variable(P)
    with tf.GradientTape(persistent=True) as t:
        vs = [
            k.CategoricalCrossentropy()(Y, x),
            k.BinaryCrossentropy()(Y, x),
            k.SparseCategoricalCrossentropy()(np.array([[1], [0]]), x),
            k.KLDivergence()(Y, x),
            k.Poisson()(Y, x),
            k.CosineSimilarity(axis=0)(Y, x),
            k.Huber(delta=0.2)(Y, x),
            k.Dice()(Y, x),
            k.Tversky()(Y, x),
        ]
    return [(v, t.gradient(v, x)) for v in vs]


@program
def loss_fn(tf: Any) -> Any:
    k = tf.keras.losses
    return [
        f(Y, P)
        for f in (
            k.mse,
            k.mae,
            k.MSE,
            k.MAE,
            k.mape,
            k.msle,
            k.huber,
            k.logcosh,
            k.kld,
            k.KLD,
            k.poisson,
            k.hinge,
            k.squared_hinge,
            k.categorical_hinge,
            k.cosine_similarity,
            k.binary_crossentropy,
            k.categorical_crossentropy,
        )
    ]


@program
def loss_fn_missing(tf: Any) -> Any:
    return tf.keras.losses.mean_squared_error(Y, P)


@program
def loss_get(tf: Any) -> Any:
    return (
        [
            tf.keras.losses.get(n)(Y, P)
            for n in (
                "mse",
                "mean_squared_error",
                "mae",
                "categorical_crossentropy",
                "kl_divergence",
                "log_cosh",
                "huber",
            )
        ],
        tf.keras.losses.get("MeanSquaredError")(Y, P),
    )


@program
def loss_get_bad(tf: Any) -> Any:
    return tf.keras.losses.get("nope")


@program
def loss_shapes(tf: Any) -> Any:
    k = tf.keras.losses
    return (
        k.MeanSquaredError()(np.array([1.0, 2.0]), np.array([[1.0], [3.0]])),
        k.MeanSquaredError()(tf.constant([[1.0], [2.0]]), tf.constant([1.0, 3.0])),
        k.BinaryCrossentropy()([0.0, 1.0], [0.3, 0.6]),
        k.mse([1.0, 2.0], [1.0, 4.0]),
        k.MeanSquaredError()([1, 2], [1.5, 2.5]),
        k.MeanSquaredError()(np.ones((2, 2)), np.zeros((2, 2))),
    )


@program
def loss_scalar(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError()(1.0, 2.0)


@program
def loss_scalar_fn(tf: Any) -> Any:
    return tf.keras.losses.mse(1.0, 2.0)


@program
def loss_mismatch(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError()(tf.ones([2, 3]), tf.ones([2, 2]))


@program
def loss_cce_mismatch(tf: Any) -> Any:
    return tf.keras.losses.CategoricalCrossentropy()(tf.ones([2, 3]), tf.ones([2, 2]))


@program
def loss_red_bad(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError(reduction="bad")


@program
def loss_f64(tf: Any) -> Any:
    return (
        tf.keras.losses.MeanSquaredError()(
            tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64)
        ),
        tf.keras.losses.mse(tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64)),
        tf.keras.losses.MeanSquaredError(dtype="float64")([1.0], [2.0]),
    )


@program
def loss_custom(tf: Any) -> Any:

    class W(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.square(y_true - y_pred) * [1.0, 2.0, 3.0], axis=-1)

    return (W()(Y, P), W(reduction="sum")(Y, P), W(name="w").name)


@program
def opts(tf: Any) -> Any:
    k = tf.keras.optimizers
    return {
        n: opt_run(tf, getattr(k, n)())
        for n in (
            "SGD",
            "Adam",
            "AdamW",
            "RMSprop",
            "Adagrad",
            "Adadelta",
            "Adamax",
            "Nadam",
            "Ftrl",
            "Lion",
            "Lamb",
        )
    }


@program
def opts2(tf: Any) -> Any:
    k = tf.keras.optimizers
    return [
        opt_run(tf, o)
        for o in (
            k.SGD(0.1, momentum=0.9),
            k.SGD(learning_rate=0.01, momentum=0.9, nesterov=True),
            k.Adam(0.01, amsgrad=True),
            k.Adam(learning_rate=0.1, beta_1=0.5, beta_2=0.9, epsilon=0.001),
            k.RMSprop(0.01, centered=True, momentum=0.5),
            k.SGD(0.1, clipnorm=1.0),
            k.SGD(0.1, clipvalue=0.5),
            k.SGD(0.1, global_clipnorm=1.0),
            k.Adam(0.1, weight_decay=0.01),
            k.Adam(0.01, use_ema=True, ema_momentum=0.9),
            k.SGD(0.01, gradient_accumulation_steps=2),
        )
    ]


@program
def opt_sched(tf: Any) -> Any:
    k = tf.keras.optimizers
    s = k.schedules
    r = []
    for sc in (
        s.ExponentialDecay(0.1, 2, 0.5),
        s.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5, staircase=True),
        s.PolynomialDecay(0.1, 5, 0.01, power=2.0),
        s.CosineDecay(0.1, 5),
        s.CosineDecay(0.0, 5, warmup_target=0.1, warmup_steps=2),
        s.PiecewiseConstantDecay([1, 3], [0.1, 0.05, 0.01]),
        s.InverseTimeDecay(0.1, 1, 0.5),
        s.CosineDecayRestarts(0.1, 2),
    ):
        r.append(([sc(i) for i in range(6)], opt_run(tf, k.SGD(sc))))
    return r


@program
def opt_sched_custom(tf: Any) -> Any:

    class S(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, d):
            self.d = tf.cast(d, tf.float32)

        def __call__(self, step):
            step = tf.cast(step, tf.float32)
            return tf.math.rsqrt(self.d) * tf.math.minimum(tf.math.rsqrt(step + 1), step * 0.01)

    o = tf.keras.optimizers.Adam(S(16), beta_1=0.9, beta_2=0.98, epsilon=1e-09)
    return (opt_run(tf, o), o.learning_rate)


@program
def opt_lr(tf: Any) -> Any:
    o = tf.keras.optimizers.Adam(0.1)
    a = float(o.learning_rate)
    o.learning_rate = 0.01
    b = o.learning_rate.numpy()
    o.learning_rate.assign(0.5)
    return (a, b, float(o.learning_rate), o.get_config()["beta_1"])


@program
def opt_int_lr(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(1)


@program
def opt_lr_kw(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(lr=0.1)


@program
def opt_none(tf: Any) -> Any:
    v = tf.Variable(1.0)
    o = tf.keras.optimizers.SGD(0.1)
    o.apply_gradients([(None, v)])
    return v


@program
def opt_some_none(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable(1.0)
    o = tf.keras.optimizers.SGD(0.1)
    o.apply_gradients([(tf.constant(1.0), v), (None, w)])
    return (v, w)


@program
def opt_empty(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(0.1).apply_gradients([])


@program
def opt_apply(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    o = tf.keras.optimizers.Adam(0.1)
    o.build([v])
    o.apply([tf.constant([1.0, 1.0])])
    o.apply([tf.constant([1.0, 1.0])], [v])
    return v


@program
def opt_minimize(tf: Any) -> Any:
    v = tf.Variable(1.0)
    return tf.keras.optimizers.SGD(0.1).minimize(lambda: v**2, [v])


@program
def opt_new_var(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable(1.0)
    o = tf.keras.optimizers.Adam(0.1)
    o.apply_gradients([(tf.constant(1.0), v)])
    o.apply_gradients([(tf.constant(1.0), w)])
    return w


@program
def opt_sparse(tf: Any) -> Any:
    r = []
    for n in ("SGD", "Adam", "Adagrad", "RMSprop"):
        e = tf.Variable(tf.reshape(tf.range(8.0), [4, 2]))
        o = getattr(tf.keras.optimizers, n)(0.1)
        for _ in range(3):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum(tf.gather(e, [1, 3, 1]) ** 2)
            o.apply_gradients([(t.gradient(loss, e), e)])
        r.append(e)
    return r


@program
def opt_f64(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], dtype=tf.float64)
    o = tf.keras.optimizers.Adam(0.1)
    o.apply_gradients([(tf.constant([1.0, 0.5], tf.float64), v)])
    return (v, o.variables[2].numpy())


@program
def opt_get(tf: Any) -> Any:
    return (
        type(tf.keras.optimizers.get("adam")).__name__,
        type(tf.keras.optimizers.get("SGD")).__name__,
        float(tf.keras.optimizers.get("adam").learning_rate),
    )


@program
def opt_shape_err(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.constant([1.0, 2.0, 3.0]), v)])
    return v


@program
def metrics(tf: Any) -> Any:
    m = tf.keras.metrics
    a = m.Mean(name="x")
    a.update_state([1.0, 2.0, 3.0])
    a(4.0)
    r = [a.result(), a.name, float(a.result())]
    a.reset_state()
    r.append(a.result())
    b = m.SparseCategoricalAccuracy()
    b.update_state([1, 0], P)
    c = m.BinaryAccuracy(threshold=0.4)
    c.update_state([0.0, 1.0], [0.3, 0.6])
    d = m.MeanSquaredError()
    d(Y, P)
    e = m.CategoricalAccuracy()
    e(Y, P)
    f = m.RootMeanSquaredError()
    f(Y, P)
    g = m.Sum()
    g([1.0, 2.0])
    h = m.Accuracy()
    h([1, 2, 3], [1, 2, 4])
    i = m.MeanAbsoluteError()
    i(Y, P, sample_weight=[1.0, 0.0])
    j = m.CosineSimilarity()
    j(Y, P)
    return (r, [q.result() for q in (b, c, d, e, f, g, h, i, j)])


@program
def metric_mean_w(tf: Any) -> Any:
    m = tf.keras.metrics.Mean()
    m.update_state([1.0, 3.0], sample_weight=[1.0, 0.0])
    m.update_state(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    return (m.result(), [w.numpy() for w in m.variables])


@program
def metric_tensor(tf: Any) -> Any:
    q = tf.keras.metrics.MeanTensor()
    q.update_state([1.0, 2.0])
    return q.result()


@program
def metric_str(tf: Any) -> Any:
    a = tf.keras.metrics.Mean()
    a(3.0)
    return (f"{a.result():.2f}", f"loss {a.result()}", str(a.result().numpy()), repr(a))


@program
def metric_custom(tf: Any) -> Any:

    class M(tf.keras.metrics.Metric):
        def __init__(self, name="m", **kw):
            super().__init__(name=name, **kw)
            self.t = self.add_weight(name="t", initializer="zeros")

        def update_state(self, x, sample_weight=None):
            self.t.assign_add(tf.reduce_sum(x))

        def result(self):
            return self.t

    m = M()
    m.update_state([1.0, 2.0])
    m(3.0)
    return m.result() + 0.0


@program
def acts(tf: Any) -> Any:
    a = tf.keras.activations
    x = tf.constant([-2.0, -0.5, 0.0, 0.5, 2.0])
    out = {}
    for n in (
        "relu",
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
        "leaky_relu",
        "relu6",
        "celu",
        "log_sigmoid",
        "hard_silu",
        "hard_tanh",
        "tanh_shrink",
        "soft_shrink",
        "hard_shrink",
        "squareplus",
    ):
        with tf.GradientTape() as t:
            t.watch(x)
            y = getattr(a, n)(x)
        out[n] = (y,)
    return (
        out,
        a.softmax(tf.ones([2, 3])),
        a.get("relu")(x),
        a.get(None)(x),
        a.softmax(x[None]),
        a.relu(x, max_value=1.0),
        a.relu(x, 0.1),
    )


@program
def act_softmax1(tf: Any) -> Any:
    return tf.keras.activations.softmax(tf.constant([1.0, 2.0]))


@program
def inits(tf: Any) -> Any:
    i = tf.keras.initializers
    return (
        i.Zeros()([2, 3]),
        i.Ones()((2,)),
        i.Constant(3.0)([2]),
        i.Identity(gain=2.0)((2, 2)),
        i.get("zeros")([2]),
        i.GlorotUniform(seed=1)((2, 3)).shape,
        i.HeNormal()([3, 3]).dtype,
        tf.zeros_initializer()([2]),
        tf.ones_initializer()(shape=(2,), dtype=tf.float64),
        tf.constant_initializer(2.0)([2, 2]),
        tf.random_normal_initializer(seed=1)([2]).shape,
    )


@program
def utils(tf: Any) -> Any:
    return (
        tf.keras.utils.to_categorical([0, 2, 1]),
        tf.keras.utils.to_categorical([0, 1], num_classes=4),
        tf.keras.utils.normalize(np.array([[3.0, 4.0]])),
        tf.keras.backend.epsilon(),
        tf.keras.backend.floatx(),
    )


@program
def reg(tf: Any) -> Any:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as t:
        loss = (
            tf.keras.regularizers.L2(0.1)(x)
            + tf.keras.regularizers.l1(0.2)(x)
            + tf.keras.regularizers.L1L2(l1=0.1, l2=0.1)(x)
        )
    return (loss, t.gradient(loss, x))


@program
def train_again(tf: Any) -> Any:
    W = tf.Variable(tf.zeros([2, 1]))
    b = tf.Variable([0.0])
    X = tf.constant(np.linspace(-1, 1, 16).reshape(8, 2).astype("f"))
    y = tf.reduce_sum(X, 1, keepdims=True) * 2 + 1
    opt = tf.keras.optimizers.Adam(learning_rate=0.05)
    lf = tf.keras.losses.MeanSquaredError()
    m = tf.keras.metrics.Mean()
    ds = tf.data.Dataset.from_tensor_slices((X, y)).batch(3)

    @tf.function
    def step(x, t):
        with tf.GradientTape() as tape:
            loss = lf(t, x @ W + b)
        opt.apply_gradients(zip(tape.gradient(loss, [W, b]), [W, b], strict=False))
        return loss

    for _e in range(4):
        m.reset_state()
        for x, t in ds:
            m.update_state(step(x, t))
    return (W, b, m.result(), int(opt.iterations))


def tolerance(name: str) -> float | None:
    """Return how far numbers may be apart, if not as usual."""
    if name in OPTIMIZERS and name.startswith(("Adam", "Nadam", "Lamb")):
        return 1e-3  # a gradient near 0 over its own size, in single precision
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

    tensorflow_parity.compare(program, tolerance(name))
