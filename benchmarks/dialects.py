"""The same program, word for word, on another library and on Wengert's dialect of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import elements, frameworks, importing, networks, peers
from benchmarks.chains import chain
from benchmarks.harness import Build, Case, Run

#: How PyTorch's competitor on one thread is named, which waits for no other process.
ALONE = "torch 1 thread"


def competitors_of(library: str, build: Callable[..., Run]) -> dict[str, Build]:
    """Return the competitors of a program: Wengert's dialect and the library itself."""
    competitors: dict[str, Build] = {
        "wengert": lambda **sizes: build(module=f"wengert.{library}", **sizes),
        library: lambda **sizes: build(module=library, **sizes),
    }
    if library == "torch":
        competitors[ALONE] = frameworks.one_thread(competitors["torch"])
    return competitors


def _tensorflow_jacobian(module: str, widths: tuple[int, ...]) -> Run:
    tf = peers.load(module)
    rng = np.random.default_rng(0)
    weights = [
        tf.constant(rng.standard_normal((n, m)).astype(np.float32) / np.float32(np.sqrt(n)))
        for n, m in itertools.pairwise(widths)
    ]
    x = tf.constant(rng.standard_normal((1, widths[0])).astype(np.float32))

    def run() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for w in weights[:-1]:
                y = tf.tanh(y @ w)
            y = y @ weights[-1]
        return tape.jacobian(y, x)

    return run


def _torch_backward(module: str, size: int, iterations: int) -> Run:
    torch = peers.load(module)
    x = torch.tensor(frameworks.inputs(size), requires_grad=True)

    def run() -> Any:
        x.grad = None
        y = chain(torch, x, iterations)
        y.sum().backward()
        return y.detach(), x.grad

    return run


def _pixel(module: str, **sizes: Any) -> Run:
    return elements.torch_element(elements.convolutions, elements.images, module, **sizes)


def _lstm(module: str, layers: int, width: int, batch: int, steps: int) -> Run:
    torch = peers.load(module)
    rng = np.random.default_rng(0)
    layer = torch.nn.LSTM(width, width, layers)
    with torch.no_grad():
        for p in layer.parameters():
            values = rng.uniform(-1, 1, tuple(p.shape)) / np.sqrt(width)
            p.copy_(torch.tensor(values.astype(np.float32)))
    x = torch.tensor(rng.standard_normal((steps, batch, width)).astype(np.float32))
    x.requires_grad_(True)

    def run() -> Any:
        x.grad = None
        layer.zero_grad()
        y, (h, c) = layer(x)
        (y.sum() + c.sum()).backward()
        return y.detach(), h.detach(), x.grad, [p.grad for p in layer.parameters()]

    return run


def _imports(library: str) -> dict[str, Build]:
    return {
        "wengert": importing.importer(f"wengert.{library}"),
        library: importing.importer(library),
    }


_CHAIN = {"size": 1, "iterations": 300}
_SHORT = {"size": 1, "iterations": 5}
_MLP = {"batch": 256, "widths": (784, 512, 512, 10)}
_SMALL = {"batch": 5, "widths": (8, 6, 7, 4)}

CASES = [
    Case(
        name="tensorflow-chain",
        about="900 operations y = sin(y) * 1.01 + x on 1 float32 under tf.GradientTape",
        competitors=competitors_of(
            "tensorflow", lambda **sizes: frameworks.tensorflow_gradient(chain, **sizes)
        ),
        must={"tensorflow": 1 / 8},
        sizes=_CHAIN,
        small=_SHORT,
    ),
    Case(
        name="tensorflow-mlp",
        about="MLP 784-512-512-10, batch 256, in tf's names: loss and six gradients",
        competitors=competitors_of("tensorflow", networks.tensorflow_step),
        must={"tensorflow": 1 / 1.2},
        sizes=_MLP,
        small=_SMALL,
    ),
    Case(
        name="tensorflow-jacobian",
        about="tape.jacobian of an MLP 100-256-256-100, with its forward pass",
        competitors=competitors_of("tensorflow", _tensorflow_jacobian),
        must={"tensorflow": 1 / 5},
        sizes={"widths": (100, 256, 256, 100)},
        small={"widths": (4, 5, 3)},
    ),
    Case(
        name="tensorflow-import",
        about="import in a fresh interpreter",
        competitors=_imports("tensorflow"),
        must={"tensorflow": 1 / 20},
        samplers=importing.in_processes,
    ),
    Case(
        name="torch-chain",
        about="900 operations y = sin(y) * 1.01 + x on 1 float32, and backward",
        competitors=competitors_of("torch", _torch_backward),
        must={"torch": 1 / 1.5, ALONE: 1 / 1.5},
        sizes=_CHAIN,
        small=_SHORT,
    ),
    Case(
        name="torch-mlp",
        about="MLP 784-512-512-10, batch 256, in torch's names: loss and six gradients",
        competitors=competitors_of("torch", networks.torch_step),
        must={"torch": 1.0},
        sizes=_MLP,
        small=_SMALL,
    ),
    Case(
        name="torch-pixel",
        about="one pixel after six 3x3 convolutions of 16 channels with tanh, by the image",
        competitors=competitors_of("torch", _pixel),
        must={"torch": 1 / 30},
        sizes={"size": 256, "channels": 16, "layers": 6},
        small={"size": 12, "channels": 2, "layers": 2},
        tolerance=1e-6,
    ),
    Case(
        name="torch-lstm",
        about="two LSTM layers of 256, batch 32, 100 steps, forward and backward",
        competitors=competitors_of("torch", _lstm),
        must={"torch": 1.5},
        sizes={"layers": 2, "width": 256, "batch": 32, "steps": 100},
        small={"layers": 2, "width": 5, "batch": 3, "steps": 4},
        tolerance=1e-3,
    ),
    Case(
        name="torch-import",
        about="import in a fresh interpreter",
        competitors=_imports("torch"),
        must={"torch": 1 / 8},
        samplers=importing.in_processes,
    ),
]
