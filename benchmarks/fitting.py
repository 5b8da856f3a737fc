"""Keras's own `fit`, on TensorFlow and on Wengert's dialect of it, in processes that take turns.

Keras has one backend in a process, so each sample is a process of its own. It prints the least
time of a step over several epochs, after a first epoch that is not counted. TensorFlow runs
eagerly, step by step as a user debugs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Build, Case, Effort, Sampler, check_agreement


def _perceptron(keras: Any, widths: list[int]) -> Any:
    *hidden, last = widths[1:]
    layers = [keras.layers.Dense(n, activation="relu") for n in hidden]
    return keras.Sequential([keras.Input((widths[0],)), *layers, keras.layers.Dense(last)])


def _convolutional(keras: Any, size: int, channels: int) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((size, size, 1)),
            layers.Conv2D(channels, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(2 * channels, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


_MODELS = {"perceptron": _perceptron, "convolutional": _convolutional}


def fit(model: str, batch: int, steps: int, epochs: int, **sizes: Any) -> dict[str, Any]:
    """Return the least seconds of a step, of the clock and of the processor, and the losses."""
    import keras

    network = _MODELS[model](keras, **sizes)
    rng = np.random.default_rng(0)
    shapes = [w.shape for w in network.get_weights()]
    scales = [0.5 / np.sqrt(np.prod(s[:-1])) if len(s) > 1 else 0.0 for s in shapes]
    pairs = zip(shapes, scales, strict=True)
    network.set_weights([(rng.standard_normal(s) * by).astype(np.float32) for s, by in pairs])
    x = rng.standard_normal((batch * steps, *network.input_shape[1:])).astype(np.float32)
    y = rng.integers(0, network.output_shape[-1], batch * steps)
    network.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        run_eagerly=True,
    )
    losses, taken = [], []
    for _ in range(1 + epochs):
        start = time.perf_counter(), time.process_time()
        done = network.fit(x, y, batch_size=batch, epochs=1, shuffle=False, verbose=0)
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        losses += done.history["loss"]
    clock, processor = (min(column) / steps for column in zip(*taken[1:], strict=True))
    return {"clock": clock, "processor": processor, "losses": losses}


def _child(ours: bool, sizes: Mapping[str, Any]) -> dict[str, Any]:
    start = ["-m", "wengert", "run"] if ours else []
    command = [sys.executable, *start, "-m", "benchmarks.fitting", json.dumps(dict(sizes))]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True,
        env=os.environ | {"KERAS_BACKEND": "tensorflow"},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def _in_processes(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers of the time of a step in a new process, having compared the losses."""
    runs = {name: case.competitors[name](**case.sizes) for name in names}
    check_agreement(case, {name: run() for name, run in runs.items()})
    return {name: lambda ours=name == "wengert": _child(ours, case.sizes)["clock"] for name in runs}


def _competitors() -> dict[str, Build]:
    return {
        "wengert": lambda **sizes: lambda: _child(True, sizes)["losses"],
        "tensorflow": lambda **sizes: lambda: _child(False, sizes)["losses"],
    }


def _case(name: str, about: str, most: float, **sizes: Any) -> Case:
    return Case(
        name=name,
        about=about,
        competitors=_competitors(),
        must={"tensorflow": most},
        samplers=_in_processes,
        verdict="minimum",
        tolerance=1e-3,
        **sizes,
    )


CASES = [
    _case(
        "keras-mlp",
        "MLP 32-64-64-10, batch 32, by Keras's fit with Adam, run eagerly: a step",
        0.25,
        sizes={
            "model": "perceptron",
            "widths": [32, 64, 64, 10],
            "batch": 32,
            "steps": 50,
            "epochs": 5,
        },
        small={"model": "perceptron", "widths": [4, 3, 2], "batch": 3, "steps": 2, "epochs": 1},
    ),
    _case(
        "keras-cnn",
        "two convolutions, pooling and a dense layer, 28x28, batch 64, by Keras's fit: a step",
        1.3,
        sizes={
            "model": "convolutional",
            "size": 28,
            "channels": 16,
            "batch": 64,
            "steps": 10,
            "epochs": 4,
        },
        small={
            "model": "convolutional",
            "size": 10,
            "channels": 2,
            "batch": 3,
            "steps": 2,
            "epochs": 1,
        },
    ),
]


if __name__ == "__main__":
    # TensorFlow reads its number of threads before it first computes.
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(peers.thread_count())
    tf.config.threading.set_inter_op_parallelism_threads(peers.thread_count())
    print(json.dumps(fit(**json.loads(sys.argv[1]))))
