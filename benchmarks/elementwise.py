"""Thirty passes over a large array: how well each framework uses memory bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frameworks import gradients, inputs
from benchmarks.harness import Case, Run


def passes(xp: Any, x: Any, blocks: int) -> Any:
    """Return the end of a chain of ten elementwise operations per block."""
    y = x
    for _ in range(blocks):
        y = _block(xp, y, x)
    return y


def _block(xp: Any, y: Any, x: Any) -> Any:
    wave = xp.sin(y * 1.5)
    gate = xp.tanh((wave + x) * wave) - 0.5
    return gate / (xp.exp(gate) + 1.0) * x


def passes_by_hand(size: int, blocks: int) -> Run:
    """Return a run in NumPy that passes over memory as often as the chain rule asks for."""
    x = inputs(size)

    def run() -> tuple[np.ndarray, np.ndarray]:
        y, kept = x, []
        for _ in range(blocks):
            angle = y * 1.5
            wave = np.sin(angle)
            shifted = wave + x
            tanh = np.tanh(shifted * wave)
            gate = tanh - 0.5
            exp = np.exp(gate)
            below = exp + 1.0
            ratio = gate / below
            y = ratio * x
            kept.append((angle, wave, shifted, tanh, exp, below, ratio))
        g_x = np.zeros_like(x)
        g_y = np.ones_like(y)
        while kept:
            angle, wave, shifted, tanh, exp, below, ratio = kept.pop()
            g_x += g_y * ratio
            g_ratio = g_y * x
            g_gate = g_ratio / below
            g_gate += -(g_ratio * ratio) / below * exp
            g_product = g_gate * (1 - tanh * tanh)
            g_shifted = g_product * wave
            g_x += g_shifted
            g_wave = g_product * shifted
            g_wave += g_shifted
            g_y = g_wave * np.cos(angle) * 1.5
        g_x += g_y
        return y, g_x

    return run


COMPETITORS = gradients(passes, passes_by_hand)
CASES = [
    Case(
        name="elementwise-30",
        about="30 elementwise operations on 2e6 float32, forward and gradient",
        competitors=COMPETITORS,
        must={"numpy": 1.15},
        sizes={"size": 2_000_000, "blocks": 3},
        small={"size": 1000, "blocks": 3},
    )
]
