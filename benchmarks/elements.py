"""Gradients of one element: what they cost here, and what a whole backward pass costs elsewhere.

The forward pass is done before the clock starts, wherever a library can keep it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Effort, Run, Sampler, timers


def _random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# -- one element of a result, by all arguments ----------------------------------------------------


def _wengert(program: Any, make: Any, dense: bool = True, **sizes: Any) -> Run:
    """Return the gradient of one element of a program's result, by its first arguments."""
    wg = peers.load("wengert")
    arrays, constants, key = make(**sizes)
    tensors, constants = [wg.asarray(a) for a in arrays], [wg.asarray(c) for c in constants]
    tape = wg.GradientTape(persistent=True)
    with tape:
        tape.watch(tensors)
        y = program(_wengert_names(wg), *tensors, *constants)

    def run() -> Any:
        found = tape.gradient(y.at[key], tensors, dense=dense)
        return found if dense else [g if isinstance(g, wg.Tensor) else g.values for g in found]

    return run


def _wengert_names(wg: Any) -> Any:
    class Names:
        tanh = staticmethod(wg.tanh)

        @staticmethod
        def conv(x: Any, w: Any) -> Any:
            return wg.nn.conv2d(x, w, padding=1)

        attention = staticmethod(lambda q, k, v: wg.nn.scaled_dot_product_attention(q, k, v))

    return Names


def torch_element(program: Any, make: Any, module: str = "torch", **sizes: Any) -> Run:
    """Return a run of one element's gradients in PyTorch."""
    torch = peers.load(module)
    arrays, constants, key = make(**sizes)
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    constants = [torch.tensor(c) for c in constants]

    class Names:
        tanh = staticmethod(torch.tanh)

        @staticmethod
        def conv(x: Any, w: Any) -> Any:
            return torch.nn.functional.conv2d(x, w, padding=1)

        attention = staticmethod(torch.nn.functional.scaled_dot_product_attention)

    y = program(Names, *tensors, *constants)
    return lambda: torch.autograd.grad(y[key], tensors, retain_graph=True)


def _tensorflow(program: Any, make: Any, **sizes: Any) -> Run:
    tf = peers.load("tensorflow")
    arrays, constants, key = make(**sizes)
    tensors, constants = [tf.constant(a) for a in arrays], [tf.constant(c) for c in constants]
    tape = tf.GradientTape(persistent=True)

    class Names:
        tanh = staticmethod(tf.tanh)

    with tape:
        tape.watch(tensors)
        y = program(Names, *tensors, *constants)[key]
    return lambda: tape.gradient(y, tensors)


def _case(
    name: str,
    about: str,
    program: Callable[..., Any],
    make: Callable[..., Any],
    sizes: dict[str, Any],
    small: dict[str, Any],
    faster: float,
    tensorflow: bool = False,
    dense: bool = True,
    tolerance: float = 1e-4,
) -> Case:
    competitors: dict[str, Any] = {
        "wengert": lambda **sizes: _wengert(program, make, dense, **sizes),
        "torch": lambda **sizes: torch_element(program, make, **sizes),
    }
    if tensorflow:
        competitors["tensorflow"] = lambda **sizes: _tensorflow(program, make, **sizes)
    peers_named = [n for n in competitors if n != "wengert"]
    return Case(
        name=name,
        about=f"{about}; after the forward pass",
        competitors=competitors,
        must=dict.fromkeys(peers_named, 1 / faster),
        sizes=sizes,
        small=small,
        tolerance=tolerance,
        agree=dense,
    )


def _with_cold_caches(case: Case) -> Case:
    """Return a case before each sample of which something else has used the caches."""

    def samplers(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
        other = np.ones(_FOREIGN // 8)

        def cold(sample: Sampler) -> Sampler:
            def after_another() -> float:
                np.add(other, 1.0, out=other)
                return sample()

            return after_another

        # a sample is one call: the next would find in the caches what this one left there
        found = timers(case, names, dataclasses.replace(effort, sample=0.0))
        return {name: cold(sample) for name, sample in found.items()}

    return dataclasses.replace(
        case,
        name=f"{case.name}-cold",
        about=f"{case.about}; with cold caches",
        samplers=samplers,
    )


def convolutions(m: Any, x: Any, *weights: Any) -> Any:
    """Return an image after convolutions, each with tanh."""
    for w in weights:
        x = m.tanh(m.conv(x, w))
    return x


def images(size: int, channels: int, layers: int) -> Any:
    """Return an image, the weights of convolutions, and the place of a pixel."""
    widths = [1] + [channels] * layers
    weights = [
        _random(after, before, 3, 3, seed=i) / np.float32(3 * np.sqrt(before))
        for i, (before, after) in enumerate(itertools.pairwise(widths))
    ]
    return [_random(1, 1, size, size)], weights, (0, 0, size // 2, size // 2)


# -- a row of a table -----------------------------------------------------------------------------


def _rows(rows: int, count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, rows, count)


def _wengert_embedding(rows: int, width: int, count: int) -> Run:
    wg = peers.load("wengert")
    table = wg.Variable(_random(rows, width))
    places = _rows(rows, count)
    optimiser = wg.optim.Adam(1e-3)
    state = optimiser.init(table)

    def run() -> Any:
        nonlocal state
        with wg.GradientTape() as tape:
            taken = wg.take(table, places, axis=0)
            loss = wg.sum(taken * taken)
        gradient = tape.gradient(loss, table, dense=False)
        _, state = optimiser.step(table, gradient, state, in_place=True)
        return loss

    return run


def _torch_embedding(rows: int, width: int, count: int) -> Run:
    torch = peers.load("torch")
    table = torch.tensor(_random(rows, width), requires_grad=True)
    places = torch.tensor(_rows(rows, count))
    optimiser = torch.optim.Adam([table], lr=1e-3)

    def run() -> Any:
        taken = torch.nn.functional.embedding(places, table)
        loss = torch.sum(taken * taken)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.detach()

    return run


# -- one element through many layers --------------------------------------------------------------


def _wengert_element(size: int, layers: int) -> Run:
    wg = peers.load("wengert")
    x = wg.asarray(_random(size, size))
    tape = wg.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        z = x
        for _ in range(layers):
            z = wg.sin(z)
    return lambda: tape.gradient(z.at[3, 4], x.at[3, 4])


def _torch_element(size: int, layers: int) -> Run:
    torch = peers.load("torch")
    x = torch.tensor(_random(size, size), requires_grad=True)
    z = x
    for _ in range(layers):
        z = torch.sin(z)
    return lambda: torch.autograd.grad(z[3, 4], x, retain_graph=True)[0][3, 4]


#: How many bytes another computation goes through before each sample: more than caches have.
_FOREIGN = 512 * 1024 * 1024
_SQUARE = {"size": 2048}


def _matrices(size: int) -> Any:
    return [_random(size, size)], [_random(size, size, seed=1)], (0, 0)


CASES = [
    _case(
        "element-matmul-block",
        "gradient of (x @ y)[0, 0] by x, 2048x2048, as a Block",
        lambda m, x, y: x @ y,
        _matrices,
        _SQUARE,
        {"size": 8},
        faster=1000,
        tensorflow=True,
        dense=False,
    ),
    _case(
        "element-matmul-dense",
        "the same as a whole array",
        lambda m, x, y: x @ y,
        _matrices,
        _SQUARE,
        {"size": 8},
        faster=100,
        tensorflow=True,
    ),
    _case(
        "element-conv",
        "one pixel after six 3x3 convolutions of 16 channels with tanh, by the 256x256 image",
        convolutions,
        images,
        {"size": 256, "channels": 16, "layers": 6},
        {"size": 12, "channels": 2, "layers": 2},
        faster=30,
        tolerance=1e-6,
    ),
    _case(
        "element-attention",
        "one element of attention, 2048 places of width 64, by queries, keys and values",
        lambda m, q, k, v: m.attention(q, k, v),
        lambda length, width: (
            [_random(1, length, width, seed=s) for s in range(3)],
            [],
            (0, length // 2, 3),
        ),
        {"length": 2048, "width": 64},
        {"length": 6, "width": 4},
        faster=50,
    ),
    Case(
        name="element-embedding",
        about="table of 1,000,000 x 64, 32 rows gathered: gradient and a step of Adam",
        competitors={"wengert": _wengert_embedding, "torch": _torch_embedding},
        must={"torch": 1 / 100},
        sizes={"rows": 1_000_000, "width": 64, "count": 32},
        small={"rows": 50, "width": 4, "count": 3},
        agree=False,
    ),
    Case(
        name="element-layers",
        about="one element by one element through 50 elementwise layers of 4096x4096",
        competitors={"wengert": _wengert_element, "torch": _torch_element},
        must={"torch": 1 / 100},
        sizes={"size": 4096, "layers": 50},
        small={"size": 6, "layers": 3},
    ),
]
CASES += [
    _with_cold_caches(case)
    for case in CASES
    if case.name in ("element-matmul-block", "element-conv", "element-attention")
]
