"""Keras's PyTorch backend on the dialect, beside PyTorch: both need the packages at run time."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.peers
PROGRAM = """
import sys
import numpy as np
import keras
from keras import layers

def data(*shape):
    return np.random.RandomState(len(shape)).standard_normal(shape).astype("float32")

def mlp():
    parts = [layers.Dense(8, "relu"), layers.BatchNormalization(), layers.Dense(6, "gelu")]
    parts += [layers.LayerNormalization(), layers.Dense(3, "softmax")]
    labels = np.eye(3, dtype="float32")[np.arange(20) % 3]
    how = "categorical_crossentropy", keras.optimizers.Adam(0.01)
    return keras.Sequential([keras.Input((5,)), *parts]), data(20, 5), labels, *how

def cnn():
    parts = [layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D()]
    parts += [layers.Conv2D(3, 2, padding="same"), layers.Flatten(), layers.Dense(2)]
    model = keras.Sequential([keras.Input((8, 8, 2)), *parts])
    return model, data(16, 8, 8, 2), data(16, 2), "mse", keras.optimizers.RMSprop(0.01)

def lstm():
    parts = [layers.LSTM(5, return_sequences=True), layers.GRU(4), layers.Dense(2)]
    model = keras.Sequential([keras.Input((6, 4)), *parts])
    return model, data(16, 6, 4), data(16, 2), "mse", keras.optimizers.AdamW(0.01)

def attention():
    given = keras.Input((6, 4))
    mixed = layers.MultiHeadAttention(2, 3)(given, given) + given
    model = keras.Model(given, layers.Dense(1)(layers.GlobalAveragePooling1D()(mixed)))
    return model, data(16, 6, 4), data(16, 1), "mae", keras.optimizers.SGD(0.01, momentum=0.9)

def embedding():
    parts = [layers.Embedding(10, 4), layers.Bidirectional(layers.SimpleRNN(3)), layers.Dense(1)]
    model = keras.Sequential([keras.Input((6,), dtype="int32"), *parts])
    words = np.random.RandomState(0).randint(0, 10, (16, 6))
    return model, words, data(16, 1), "mse", keras.optimizers.Adagrad(0.05)

assert keras.backend.backend() == "torch"
model, x, y, loss, optimizer = globals()[sys.argv[1]]()
draw = np.random.RandomState(7)
model.set_weights([draw.uniform(0.01, 0.4, w.shape).astype(w.dtype) for w in model.get_weights()])
model.compile(optimizer, loss, metrics=["mae"])
history = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
found = [*history.values(), model.evaluate(x, y, verbose=0), *model.get_weights()]
found.append(model.predict(x, verbose=0))
model.save(sys.argv[2] + ".keras")
again = keras.models.load_model(sys.argv[2] + ".keras")
assert np.array_equal(again.predict(x, verbose=0), found[-1])
np.savez(sys.argv[2], *found)
"""


@pytest.mark.parametrize("name", ["mlp", "cnn", "lstm", "attention", "embedding"])
def test_a_model_is_trained_as_on_pytorch(name, tmp_path):
    pytest.importorskip("keras")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    found = {}
    for who, start in {"theirs": [], "ours": ["-m", "wengert", "run"]}.items():
        command = [sys.executable, *start, str(program), name, str(tmp_path / who)]
        settings = {**os.environ, "KERAS_BACKEND": "torch"}
        subprocess.run(command, env=settings, check=True, capture_output=True)
        with np.load(tmp_path / f"{who}.npz") as arrays:
            found[who] = [arrays[key] for key in arrays.files]
    for one, other in zip(found["ours"], found["theirs"], strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)
