"""tf.keras.optimizers, and schedules of rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.keras.cases import data
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


def tolerance(name: str) -> float | None:
    """Return how far numbers may be apart, if not as usual."""
    if name in OPTIMIZERS and name.startswith(("Adam", "Nadam", "Lamb")):
        return 1e-3  # a gradient near 0 over its own size, in single precision
    return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    def program(tf: Any) -> Any:
        tf.keras.utils.set_random_seed(1)
        return PROGRAMS[name](tf)

    compare(program, tolerance(name))
