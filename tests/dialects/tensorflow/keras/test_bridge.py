"""How `tf.keras` is found: from Python, under `wengert run`; and what is said where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
import wengert.tensorflow as tf
from wengert.dialects.tensorflow.keras import specs


def run(code: str, *how: str, **environment: str) -> str:
    """Return what a program prints in a new process, which must go well."""
    found = subprocess.run(
        [sys.executable, *how, "-c", code],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_an_import_of_the_dialect_does_not_import_keras() -> None:
    code = "import sys, wengert.tensorflow as tf; dir(tf); print('keras' in sys.modules)"
    assert run(code) == "False"


def test_keras_finds_the_dialect_and_nobody_else_does() -> None:
    code = """
import sys
import wengert.tensorflow as tf
import wengert.tensorflow.keras.layers as layers
from wengert.tensorflow.keras.models import Sequential
print(type(tf.keras.layers.Dense(2)(tf.ones((1, 3)))) is tf.Tensor, layers is tf.keras.layers)
print(Sequential is tf.keras.Sequential, tf.optimizers.Adam is tf.keras.optimizers.Adam)
print("tensorflow" in sys.modules)
"""
    assert run(code).split() == ["True", "True", "True", "True", "False"]


def test_a_program_that_imports_keras_under_run() -> None:
    code = """
import keras
import tensorflow as tf
from tensorflow.keras.layers import Dense, Lambda
from tensorflow import keras as other
x = keras.Input((None, 3))
print(tf.__name__, keras.backend.backend(), Dense is keras.layers.Dense, other is tf.keras)
print(Lambda(lambda x: tf.reduce_sum(x, axis=-1))(x).shape)
"""
    expected = "wengert.tensorflow tensorflow True True\n(None, None)"
    assert run(code, "-m", "wengert", "run") == expected


_ASK = """
import wengert.tensorflow as tf
try:
    tf.keras
except ImportError as error:
    print(error)
"""


def test_keras_with_another_backend_is_an_error() -> None:
    told = run(f"import keras\n{_ASK}", KERAS_BACKEND="numpy")
    assert "the package keras was imported before, with the backend 'numpy'" in told
    told = run(_ASK, KERAS_BACKEND="numpy")
    assert "set KERAS_BACKEND=tensorflow" in told


def test_keras_that_is_not_installed() -> None:
    told = run(f"import sys\nsys.modules['keras'] = None\n{_ASK}")
    assert "pip install 'wengert[keras]'" in told


def test_settings_of_the_process_stay() -> None:
    code = "import os, wengert.tensorflow as tf; tf.keras; print(os.environ.get('KERAS_BACKEND'))"
    assert run(code, KERAS_BACKEND="") == ""
    assert run(code, KERAS_BACKEND="tensorflow") == "tensorflow"


def test_gradients_of_elements_through_a_model() -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(5, "tanh"), layers.Dense(2)])
    x = tf.constant(np.random.default_rng(0).normal(size=(6, 4)).astype("f"))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = model(x)[4, 1]
    block = tape.gradient(y, x, dense=False)
    assert type(block) is wg.Block and block.region[0] == range(4, 5)
    whole = tape.gradient(y, x)
    assert not np.asarray(whole)[[0, 1, 2, 3, 5]].any()
    kernel = model.trainable_variables[2].value
    one = tape.gradient(y, kernel.at[3, 1])
    assert float(one) == pytest.approx(float(np.asarray(tape.gradient(y, kernel))[3, 1]))


def test_shapes_of_functions_of_symbolic_tensors() -> None:
    keras = tf.keras
    x, y = keras.KerasTensor((None, 3, None)), keras.KerasTensor((2, 5), "int32")
    found = specs.compute_output_spec(
        lambda x, y: (tf.transpose(x), {"y": y + 1, "n": 7, "size": x.shape[0]}), x, y
    )
    assert found[0].shape == (None, 3, None) and found[0].dtype == "float32"
    assert found[1]["y"].shape == (2, 5) and found[1]["y"].dtype == "int32"
    assert found[1]["n"] == 7 and found[1]["size"].shape == ()
    with pytest.raises(ValueError, match="number of axes"):
        specs.compute_output_spec(lambda x: x if x.shape[0] == 5 else x[0], x)


@pytest.mark.parametrize("name", ["distribute.DistributedDataset", "distribute.TPUStrategy"])
def test_classes_that_nothing_is_an_instance_of(name: str) -> None:
    kind = tf
    for part in name.split("."):
        kind = getattr(kind, part)
    assert not isinstance(tf.ones(2), kind)
    with pytest.raises(NotImplementedError, match=f"tf.{name} is not offered"):
        kind([[0]], [1.0], [2])


def test_a_custom_gradient_of_a_variable_that_keras_reads_as_a_cast() -> None:
    """Its gradient is asked for once, as an argument, also where the policy narrows its values."""

    @tf.custom_gradient
    def twice(x):
        return 2 * x, lambda upstream, variables=None: 3 * upstream

    class Layer(tf.keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(2,), initializer="ones")

        def call(self, x):
            return x * twice(self.kernel)

    layer = Layer(dtype="mixed_float16")
    with tf.GradientTape() as tape:
        y = layer(tf.constant([1.0, 5.0]))
    assert y.dtype == tf.float16
    assert tape.gradient(y, layer.trainable_variables)[0].numpy().tolist() == [3.0, 15.0]


def test_a_saved_model_is_refused_in_words(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    with pytest.raises(AttributeError, match=r"no graph to look at or to export.*model\.save"):
        model.export(tmp_path / "model", format="tf_saved_model", verbose=False)
