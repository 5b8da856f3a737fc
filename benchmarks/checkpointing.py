"""A chain of many layers that keeps few of its values, against one that keeps all of them."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Build, Case, Effort, Run, Sampler

LAYERS = 10_000


def _numbers(layers: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return float32 numbers: the first layer's argument, a weight for each layer, a bias."""
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=size), rng.uniform(0.5, 1.5, layers)
    return x.astype(np.float32), weights.astype(np.float32), np.full(size, 0.1, np.float32)


def _wengert(chain: Callable[..., Any]) -> Build:
    """Return a build function for chain(step, x, layers), its value and all gradients."""

    def build(layers: int, size: int) -> Run:
        wg = peers.load("wengert")
        numbers, factors, bias = _numbers(layers, size)
        x, b = wg.asarray(numbers), wg.asarray(bias)
        weights = [wg.asarray(w) for w in factors]

        def step(x: Any, i: int) -> Any:
            return wg.tanh(x * weights[i] + b)

        def run() -> Any:
            with wg.GradientTape() as tape:
                tape.watch([x, b, weights])
                y = wg.sum(chain(step, x, layers))
            of_x, of_b, of_weights = tape.gradient(y, [x, b, weights])
            return y, of_x, of_b, wg.stack(of_weights)

        return run

    return build


def _plain(step: Callable[..., Any], x: Any, layers: int) -> Any:
    for i in range(layers):
        x = step(x, i)
    return x


def _in_segments(step: Callable[..., Any], x: Any, layers: int) -> Any:
    return peers.load("wengert").checkpoint_loop(step, x, layers)


def _with_snapshots(step: Callable[..., Any], x: Any, layers: int) -> Any:
    loop = peers.load("wengert").checkpoint_loop
    return loop(step, x, layers, snapshots=20)


def _torch(layers: int, size: int) -> Run:
    """Return a run of PyTorch's own checkpoints, in segments of the same length."""
    torch = peers.load("torch")
    checkpoint = peers.load("torch.utils.checkpoint").checkpoint
    numbers, factors, bias = _numbers(layers, size)
    x, b = (torch.tensor(n, requires_grad=True) for n in (numbers, bias))
    weights = [torch.tensor(w, requires_grad=True) for w in factors]
    length = max(1, round(layers**0.5))

    def segment(x: Any, start: int) -> Any:
        for w in weights[start : start + length]:
            x = torch.tanh(x * w + b)
        return x

    def run() -> Any:
        y = x
        for start in range(0, layers, length):
            y = checkpoint(segment, y, start, use_reentrant=False)
        y = y.sum()
        of_x, of_b, *of_weights = torch.autograd.grad(y, [x, b, *weights])
        return y.detach(), of_x, of_b, torch.stack(of_weights)

    return run


def _fewer(build: Build) -> Build:
    """Return a build function for a quarter of the layers."""
    return lambda layers, size: build(layers // 4, size)


def traced(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers of the most bytes that Python and NumPy hold during one call.

    They count exactly, in one process, what arrays and entries take, and so tell how memory
    grows with the length of a chain.
    """

    def sampler(run: Run) -> Sampler:
        def sample() -> float:
            gc.collect()
            tracemalloc.start()
            try:
                run()
                return float(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()

        return sample

    return {name: sampler(case.competitors[name](**case.sizes)) for name in names}


_SEGMENTS, _SNAPSHOTS, _TAPE = map(_wengert, (_in_segments, _with_snapshots, _plain))

CASES = [
    Case(
        name="checkpoint",
        about=f"{LAYERS:,} layers tanh(x * w + b) on 10,000 float32, in segments, with gradients",
        competitors={
            "wengert": _SEGMENTS,
            "wengert tape": _TAPE,
            "wengert snapshots": _SNAPSHOTS,
            "torch": _torch,
        },
        must={"wengert tape": 1.5},
        sizes={"layers": LAYERS, "size": 10_000},
        small={"layers": 50, "size": 7},
        tolerance=1e-3,
    ),
    Case(
        name="checkpoint-memory",
        about=f"peak memory of {LAYERS:,} layers in segments against a quarter of them, and a tape",
        competitors={
            "wengert": _SEGMENTS,
            "wengert quarter": _fewer(_SEGMENTS),
            "wengert tape": _TAPE,
        },
        must={"wengert quarter": 2.5, "wengert tape": 0.1},
        sizes={"layers": LAYERS, "size": 10_000},
        small={"layers": 48, "size": 100},
        unit="B",
        agree=False,
        samplers=traced,
    ),
]
