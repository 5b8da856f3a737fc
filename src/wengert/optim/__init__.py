"""Optimisers whose state is a plain tree, and a bridge to scipy.optimize."""

from __future__ import annotations

from wengert.optim.clipping import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from wengert.optim.first_order import SGD, Adagrad, Adam, AdamW, RMSprop
from wengert.optim.schedules import (
    constant,
    cosine_decay,
    exponential_decay,
    inverse_sqrt,
    join,
    linear,
    piecewise_constant,
    polynomial,
    step_decay,
    warmup,
)
from wengert.optim.scipy_bridge import least_squares, minimize

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "RMSprop",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "constant",
    "cosine_decay",
    "exponential_decay",
    "global_norm",
    "inverse_sqrt",
    "join",
    "least_squares",
    "linear",
    "minimize",
    "piecewise_constant",
    "polynomial",
    "step_decay",
    "warmup",
]
