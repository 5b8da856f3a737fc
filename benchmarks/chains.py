"""Long chains of operations on small arrays: what one operation costs beside its arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frameworks import gradients, inputs, one_thread, values
from benchmarks.harness import Build, Case, Run


def chain(xp: Any, x: Any, iterations: int) -> Any:
    """Return the end of a chain of three operations per iteration."""
    y = x
    for _ in range(iterations):
        y = xp.sin(y) * 1.01 + x
    return y


def chain_by_hand(size: int, iterations: int) -> Run:
    """Return a run of the chain and its derivative in NumPy, keeping what backward needs."""
    x = inputs(size)

    def run() -> tuple[np.ndarray, np.ndarray]:
        y, kept = x, []
        for _ in range(iterations):
            kept.append(y)
            y = np.sin(y) * 1.01 + x
        g = np.ones_like(y)
        gradient = np.zeros_like(x)
        while kept:
            gradient += g
            g = g * 1.01 * np.cos(kept.pop())
        return y, gradient + g

    return run


_CHAINS = gradients(chain, chain_by_hand)
_CHAINS["torch 1 thread"] = one_thread(_CHAINS["torch"])
_FORWARD = values(chain)
_FORWARD["torch 1 thread"] = one_thread(_FORWARD["torch"])
_MUST = {"torch": 0.6, "torch 1 thread": 0.6, "tensorflow": 0.1, "autograd": 0.35}
_SHORT = 9_999
_LONG = 999_999


def _of_length(build: Build, operations: int) -> Build:
    """Return a build function whose chain has this many operations at full size."""

    def built(size: int, shrink: int) -> Run:
        return build(size=size, iterations=operations // 3 // shrink)

    return built


CASES = [
    Case(
        name="chain-1",
        about="900 operations y = sin(y) * 1.01 + x on 1 float32, forward and gradient",
        competitors=_CHAINS,
        must=_MUST,
        sizes={"size": 1, "iterations": 300},
        small={"size": 1, "iterations": 5},
    ),
    Case(
        name="chain-100",
        about="900 operations y = sin(y) * 1.01 + x on 100 float32, forward and gradient",
        competitors=_CHAINS,
        must=_MUST,
        sizes={"size": 100, "iterations": 300},
        small={"size": 7, "iterations": 5},
    ),
    Case(
        name="chain-100-forward",
        about="the same 900 operations on 100 float32 with no tape open, forward only",
        competitors=_FORWARD,
        must={"numpy": 1.6},
        sizes={"size": 100, "iterations": 300},
        small={"size": 7, "iterations": 5},
    ),
    Case(
        name="chain-million",
        about=f"{_LONG:,} operations against {_SHORT:,}, time per operation, forward and gradient",
        # The chain converges, and its derivative too, so all lengths give the same numbers
        # and the check of agreement is one of the long chain's gradient.
        competitors={
            "wengert": _of_length(_CHAINS["wengert"], _LONG),
            f"wengert {_SHORT:,}": _of_length(_CHAINS["wengert"], _SHORT),
            "numpy": _of_length(_CHAINS["numpy"], _LONG),
        },
        must={f"wengert {_SHORT:,}": 1.4},
        work={"wengert": _LONG, f"wengert {_SHORT:,}": _SHORT, "numpy": _LONG},
        sizes={"size": 1, "shrink": 1},
        small={"size": 1, "shrink": 50},
    ),
]
