"""Models of the real Keras: layers, training, saving and derivatives, as TensorFlow has them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.keras.parity import compare

pytestmark = [
    pytest.mark.parity,
    # Keras's own, which NumPy gives with TensorFlow as well
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
program = PROGRAMS = Programs()


def data(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def with_weights(model: Any) -> Any:
    """Return a model whose weights are drawn by NumPy, the same on each backend."""
    weights = list(model.get_weights())
    for i, w in enumerate(weights):
        if w.dtype.kind == "f":
            drawn = data(*w.shape, seed=i)
            weights[i] = 0.3 * drawn if w.ndim > 1 else 0.5 + 0.1 * drawn**2
    model.set_weights(weights)
    return model


def trained(tf: Any, model: Any, x: Any, y: Any, **how: Any) -> Any:
    """Return all that training shows: the losses, the weights, evaluation and predictions."""
    with_weights(model)
    options = {"optimizer": "adam", "loss": "mse", "metrics": ["mae"], **how}
    model.compile(**options)
    history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
    evaluated = model.evaluate(x, y, batch_size=8, verbose=0)
    predicted = model.predict(x, batch_size=8, verbose=0)
    return history, model.get_weights(), evaluated, predicted


@program
def mlp(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((6,)),
            layers.Dense(8, activation="relu"),
            layers.Dense(5, activation="gelu", kernel_regularizer="l2"),
            layers.Dense(3),
        ]
    )
    return trained(tf, model, data(20, 6), data(20, 3, seed=1))


@program
def classifier(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Input((6,)), layers.Dense(8, "tanh"), layers.Dense(4, "softmax")]
    )
    return trained(
        tf, model, data(20, 6), np.arange(20) % 4,
        optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy", tf.keras.metrics.SparseTopKCategoricalAccuracy(2)],
    )  # fmt: skip


@program
def convolutions(tf: Any) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 2))
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.SeparableConv2D(3, 2, strides=2)(x)
    x = layers.Conv2DTranspose(3, 3, strides=2)(x)
    x = layers.AveragePooling2D(2, padding="same")(x)
    x = layers.UpSampling2D(2)(x)
    x = layers.GlobalAveragePooling2D()(layers.ZeroPadding2D(1)(x))
    model = tf.keras.Model(inputs, layers.Dense(2)(x))
    return trained(tf, model, data(12, 8, 8, 2), data(12, 2, seed=1))


@program
def sequences_of_convolutions(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((12, 3)),
            layers.Conv1D(4, 3, padding="causal", dilation_rate=2, activation="swish"),
            layers.MaxPooling1D(2),
            layers.Conv1D(4, 3, strides=2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    return trained(tf, model, data(10, 12, 3), data(10, 1, seed=1))


@program
def normalisation(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((6, 4)),
            layers.Dense(4, use_bias=False),
            layers.BatchNormalization(momentum=0.8),
            layers.LayerNormalization(),
            layers.GroupNormalization(2),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )
    return trained(tf, model, data(16, 6, 4), data(16, 2, seed=1))


@program
def lstm(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((5, 3)),
            layers.LSTM(4, return_sequences=True),
            layers.Bidirectional(layers.LSTM(3)),
            layers.Dense(1),
        ]
    )
    return trained(tf, model, data(12, 5, 3), data(12, 1, seed=1))


@program
def gru(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((None, 3)),
            layers.GRU(4, return_sequences=True, go_backwards=True),
            layers.SimpleRNN(3, return_sequences=True),
            layers.RNN(layers.GRUCell(3, reset_after=False)),
            layers.Dense(1),
        ]
    )
    return trained(tf, model, data(12, 5, 3), data(12, 1, seed=1))


@program
def masked_words(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((6,), dtype="int32"),
            layers.Embedding(10, 4, mask_zero=True),
            layers.LSTM(3),
            layers.Dense(1, "sigmoid"),
        ]
    )
    words = np.arange(72).reshape(12, 6) % 10
    words[:, 4:] *= np.arange(12)[:, None] % 2
    return trained(tf, model, words, np.arange(12) % 2, loss="binary_crossentropy")


@program
def attention(tf: Any) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input((5, 4))
    x = layers.MultiHeadAttention(2, 3)(inputs, inputs, use_causal_mask=True)
    x = layers.LayerNormalization()(layers.Add()([x, inputs]))
    x = layers.Attention(use_scale=True)([x, inputs])
    x = layers.Concatenate()([x, layers.AdditiveAttention()([inputs, x])])
    model = tf.keras.Model(inputs, layers.Dense(1)(layers.GlobalMaxPooling1D()(x)))
    return trained(tf, model, data(10, 5, 4), data(10, 1, seed=1))


@program
def two_inputs_and_outputs(tf: Any) -> Any:
    layers = tf.keras.layers
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b")
    x = layers.Dense(4, "relu")(layers.concatenate([a, b]))
    outputs = {"one": layers.Dense(1, name="one")(x), "two": layers.Dense(2, name="two")(x)}
    model = with_weights(tf.keras.Model({"a": a, "b": b}, outputs))
    model.compile("rmsprop", {"one": "mse", "two": "mae"}, loss_weights={"one": 1.0, "two": 0.5})
    x = {"a": data(12, 3), "b": data(12, 2, seed=1)}
    y = {"one": data(12, 1, seed=2), "two": data(12, 2, seed=3)}
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return history, model.get_weights(), model.predict(x, verbose=0)


@program
def subclassed(tf: Any) -> Any:
    class Residual(tf.keras.layers.Layer):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.inner = tf.keras.layers.Dense(units, "relu")

        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

        def call(self, x: Any) -> Any:
            self.add_loss(0.01 * tf.reduce_sum(self.scale**2))
            return x * self.scale + self.inner(x)

    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.parts = [Residual(4), Residual(4)]
            self.last = tf.keras.layers.Dense(1)

        def call(self, x: Any, training: bool = False) -> Any:
            for part in self.parts:
                x = part(x)
            return self.last(x)

    model = Net()
    model(data(2, 4))
    return trained(tf, model, data(12, 4), data(12, 1, seed=1)), len(model.trainable_variables)


@program
def own_train_step(tf: Any) -> Any:
    class Model(tf.keras.Model):
        def train_step(self, batch: Any) -> Any:
            x, y = batch
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss, "norm": tf.linalg.global_norm(gradients)}

    inputs = tf.keras.Input((4,))
    model = with_weights(Model(inputs, tf.keras.layers.Dense(2, "tanh")(inputs)))
    model.compile("adam", "mse")
    fitted = model.fit(data(12, 4), data(12, 2, seed=1), batch_size=4, shuffle=False, verbose=0)
    return fitted.history, model.get_weights()


@program
def loop_with_a_tape(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(5, "tanh"), layers.Dense(1)])
    with_weights(model)
    optimizer, loss_of = tf.keras.optimizers.Adam(0.01), tf.keras.losses.MeanSquaredError()
    batches = tf.data.Dataset.from_tensor_slices((data(12, 4), data(12, 1, seed=1))).batch(4)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, gradients

    return [step(x, y) for x, y in batches], model.get_weights(), int(optimizer.iterations)


@program
def second_order(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((3,)), layers.Dense(4, "tanh"), layers.Dense(1)])
    with_weights(model)
    x, kernel = tf.constant(data(5, 3)), model.trainable_variables[0].value
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = model(x)
        slope = inner.gradient(y, x)
        penalty = tf.reduce_mean(tf.reduce_sum(slope**2, axis=1))
    with tf.autodiff.ForwardAccumulator(kernel, tf.ones_like(kernel)) as along:
        z = model(x)
    return (
        slope, outer.gradient(penalty, model.trainable_variables[:3]),
        outer.batch_jacobian(slope, x), along.jvp(z),
    )  # fmt: skip


@program
def jacobian_by_weights(tf: Any) -> Any:
    model = with_weights(tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(model(data(2, 3)))
    return tape.jacobian(y, model.trainable_variables), tape.gradient(y, model.trainable_weights[0])


@program
def fit_of_a_dataset(tf: Any) -> Any:
    model = with_weights(tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)]))
    model.compile("adam", "mse", metrics=["mae"], steps_per_execution=2)
    pairs = tf.data.Dataset.from_tensor_slices((data(22, 4), data(22, 1, seed=1)))
    fitted = model.fit(
        pairs.batch(4).prefetch(1), epochs=2, verbose=0, validation_data=pairs.batch(8),
        shuffle=False,
    )  # fmt: skip
    return fitted.history, model.get_weights(), model.evaluate(pairs.batch(3), verbose=0)


@program
def weights_of_examples_and_classes(tf: Any) -> Any:
    model = with_weights(
        tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, "softmax")])
    )
    model.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    x, y = data(12, 4), np.arange(12) % 3
    options = {"batch_size": 4, "shuffle": False, "verbose": 0}
    first = model.fit(x, y, sample_weight=np.linspace(0, 1, 12), **options).history
    second = model.fit(x, y, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, **options).history
    model.train_on_batch(x, y)
    return first, second, model.get_weights()


@program
def callbacks(tf: Any) -> Any:
    seen = []

    class Log(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append((epoch, sorted(logs), float(self.model.optimizer.learning_rate)))

    model = with_weights(tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)]))
    model.compile(tf.keras.optimizers.SGD(1e-4), "mse")
    with tempfile.TemporaryDirectory() as folder:
        best = str(Path(folder) / "best.weights.h5")
        chosen = [
            Log(),
            tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            tf.keras.callbacks.ReduceLROnPlateau("loss", patience=1, min_delta=1.0),
            tf.keras.callbacks.EarlyStopping("loss", patience=2, min_delta=1.0),
            tf.keras.callbacks.ModelCheckpoint(best, "loss", True, True, save_weights_only=True),
            tf.keras.callbacks.CSVLogger(str(Path(folder) / "log.csv")),
            tf.keras.callbacks.TerminateOnNaN(),
        ]
        chosen[4].verbose = 0
        options = {"batch_size": 4, "shuffle": False, "verbose": 0, "validation_split": 0.25}
        model.fit(data(16, 4), data(16, 1, seed=1), epochs=6, callbacks=chosen, **options)
        model.load_weights(best)
        lines = (Path(folder) / "log.csv").read_text().splitlines()
    return seen, model.get_weights(), len(lines), lines[0]


@program
def saved_and_loaded(tf: Any) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input((6, 4))
    x = layers.BatchNormalization()(layers.Conv1D(3, 2, activation="relu")(inputs))
    model = tf.keras.Model(inputs, layers.Dense(1)(layers.GRU(3)(layers.Dropout(0.2)(x))))
    with_weights(model)
    model.compile("adam", "mse")
    model.fit(data(8, 6, 4), data(8, 1, seed=1), verbose=0, shuffle=False, batch_size=8)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.keras")
        model.save(path)
        again = tf.keras.models.load_model(path)
        model.save_weights(str(Path(folder) / "w.weights.h5"))
        copied = tf.keras.models.clone_model(model)
        copied.load_weights(str(Path(folder) / "w.weights.h5"))
    new = data(3, 6, 4, seed=2)
    same = [
        bool(np.array_equal(model.predict(new, verbose=0), m.predict(new, verbose=0)))
        for m in (again, copied)
    ]
    count = int(again.optimizer.iterations)
    return same, count, [w.shape for w in again.get_weights()], type(again.optimizer).__name__


@program
def loss_scale(tf: Any) -> Any:
    model = with_weights(tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)]))
    optimizer = tf.keras.optimizers.LossScaleOptimizer(
        tf.keras.optimizers.Adam(0.01), initial_scale=64.0, dynamic_growth_steps=2
    )
    model.compile(optimizer, "mse")
    options = {"batch_size": 4, "shuffle": False, "verbose": 0, "epochs": 2}
    history = model.fit(data(12, 4), data(12, 1, seed=1), **options).history
    infinite = np.full((4, 4), np.inf, "float32")
    model.fit(infinite, data(4, 1), batch_size=4, verbose=0)
    return history["loss"], model.get_weights(), float(optimizer.dynamic_scale)


@program
def half_precision(tf: Any) -> Any:
    dense = tf.keras.layers.Dense(3, "relu", dtype="mixed_float16")
    y = with_weights(tf.keras.Sequential([tf.keras.Input((4,)), dense]))(data(2, 4))
    return y, [v.dtype for v in dense.weights], dense.compute_dtype


@program
def optimisers_with_options(tf: Any) -> Any:
    found = []
    of = tf.keras.optimizers
    decay = of.schedules.CosineDecay(0.1, 5, warmup_target=0.2, warmup_steps=2)
    for optimizer in (
        of.AdamW(decay, weight_decay=0.01, global_clipnorm=1.0), of.Adam(0.1, amsgrad=True),
        of.Nadam(0.1), of.Adafactor(0.1), of.Lion(0.01), of.Lamb(0.1), of.Ftrl(0.1),
        of.RMSprop(0.1, centered=True, momentum=0.5), of.Adagrad(0.1, clipvalue=0.1),
        of.Adam(0.1, use_ema=True), of.SGD(0.1, gradient_accumulation_steps=2),
    ):  # fmt: skip
        model = with_weights(tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)]))
        model.compile(optimizer, "mse")
        model.fit(data(12, 4), data(12, 2), batch_size=3, shuffle=False, verbose=0)
        found.append(model.get_weights())
    return found


@program
def functions_of_keras(tf: Any) -> Any:
    ops, x = tf.keras.ops, tf.constant(data(3, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = ops.logsumexp(ops.matmul(x, ops.transpose(x)), axis=-1)
        z = ops.sum(ops.einsum("ij,ij->i", x, ops.softmax(x)) ** 2)
    return y, z, tape.gradient(y, x), tape.gradient(z, x), ops.argmax(x, axis=1), ops.top_k(x, 2)


@program
def errors(tf: Any) -> Any:
    dense = tf.keras.layers.Dense(2)
    dense(data(2, 3))
    found = []
    for mistake in (
        lambda: dense(data(2, 4)),
        lambda: tf.keras.Sequential().fit(data(2, 3)),
        lambda: tf.keras.optimizers.get("nothing"),
        lambda: tf.keras.Model(tf.keras.Input((3,)), data(2, 2)),
        lambda: tf.keras.models.load_model("there/is/no.keras"),
    ):
        try:
            found.append(mistake())
        except Exception as error:
            found.append(error)
    return found


@program
def checkpoint_of_model_and_optimizer(tf: Any) -> Any:
    keras, x = tf.keras, data(4, 2)

    def made() -> tuple[Any, Any]:
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
        optimizer = keras.optimizers.Adam(0.1)
        optimizer.build(model.trainable_variables)
        return with_weights(model), optimizer

    def trained(model: Any, optimizer: Any) -> list[float]:
        losses = []
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - 1.0) ** 2)
            optimizer.apply(tape.gradient(loss, model.trainable_variables))
            losses.append(float(loss))
        return losses

    model, optimizer = made()
    first = trained(model, optimizer)
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(folder + "/ckpt")
        other, again = made()
        tf.train.Checkpoint(model=other, optimizer=again).restore(path).assert_consumed()
    return [first, trained(model, optimizer), trained(other, again)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], rtol=2e-5)
