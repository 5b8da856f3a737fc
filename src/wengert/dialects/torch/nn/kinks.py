"""Activations with PyTorch's choices at kinks, as functions of one tensor that are chosen first.

Where a derivative is constant between steps, PyTorch's second derivative is zero, and not nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.dialects.torch.tensors import of_one
from wengert.ops.neural import activations, steps

#: What computes an activation, called by a function that the program called.
Within = Callable[..., Any]


def _offered(function: Any, name: str, kinds: str = "f", refusal: Any = NotImplementedError) -> Any:
    label = "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    return of_one(function, label, False, kinds, refusal).within


def _stepped(
    function: Any, name: str, kinds: str = "f", refusal: type[Exception] = NotImplementedError
) -> Callable[..., Within]:
    """Return what makes a function of a tensor, given the parameters of an activation."""
    within = _offered(function, name, kinds, refusal)
    return lambda *how: partial(within, how=how)


leaky_relu = _stepped(steps.leaky_relu, "leaky_relu")
hardtanh = _stepped(steps.hardtanh, "hardtanh", "iuf", RuntimeError)
#: As exact as PyTorch has it, also in double precision.
hardsigmoid = partial(_stepped(steps.hardsigmoid, "hardsigmoid"), float(np.float32(1 / 6)))
threshold = _stepped(steps.threshold, "threshold", "iuf")
hardshrink = _stepped(steps.hardshrink, "hardshrink")
softshrink = _stepped(steps.softshrink, "softshrink")
silu, mish, hardswish = (
    _offered(getattr(activations, name), name) for name in ("silu", "mish", "hardswish")
)
_elu, _celu = (_offered(activations.elu_between, name) for name in ("elu", "celu"))
_gelu = _offered(activations.gelu_of, "gelu")
_softplus = _offered(steps.softplus, "softplus")


def elu(alpha: float, scale: float, width: float, name: str = "elu") -> Within:
    """Return what computes scale * elu, which is alpha * (exp(x / width) - 1) below 0."""
    return partial(_celu if name == "celu" else _elu, alpha=alpha, scale=scale, width=width)


def gelu(approximate: str) -> Within:
    """Return what computes gelu."""
    return partial(_gelu, approximate=approximate)


def softplus(beta: float, threshold: float) -> Within:
    """Return what computes softplus, which is x where beta * x is above a threshold."""
    return partial(_softplus, beta=beta, threshold=threshold)
