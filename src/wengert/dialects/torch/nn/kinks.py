"""Activations with PyTorch's choices at kinks, as functions of one tensor that are chosen first.

Where a derivative is constant between steps, PyTorch's second derivative is zero, and not nothing.
What calls an operation with some parameters is made when they are first used: so activations are as
fast as other operations of one tensor.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch.operators import of_one
from wengert.ops.neural import activations, steps

#: What computes an activation, called by a function that the program called.
Within = Callable[[Any], Any]


def _made(
    function: Any, name: str, params: str = "", kinds: str = "f",
    refusal: type[Exception] = NotImplementedError,
) -> Callable[..., Within]:  # fmt: skip
    """Return what makes a function of a tensor, given the parameters of an activation."""
    label = "".join(part.capitalize() for part in name.split("_")) + "Backward0"

    @functools.lru_cache(256)
    def make(*given: Any) -> Within:
        known = {"how": given} if params == "how" else dict(zip(params.split(), given, strict=True))
        return of_one(function, label, False, kinds, refusal, known or None).within

    return make


leaky_relu = _made(steps.leaky_relu, "leaky_relu", "how")
hardtanh = _made(steps.hardtanh, "hardtanh", "how", "iuf", RuntimeError)
#: As exact as PyTorch has it, also in double precision.
_SIXTH = float(np.float32(1 / 6))
hardsigmoid = functools.partial(_made(steps.hardsigmoid, "hardsigmoid", "how"), _SIXTH)
threshold = _made(steps.threshold, "threshold", "how", "iuf")
hardshrink = _made(steps.hardshrink, "hardshrink", "how")
softshrink = _made(steps.softshrink, "softshrink", "how")
#: alpha, scale and width of scale * elu, which is alpha * (exp(x / width) - 1) below 0.
elu = _made(activations.elu_between, "elu", "alpha scale width")
celu = _made(activations.elu_between, "celu", "alpha scale width")
gelu = _made(activations.gelu_of, "gelu", "approximate")
#: beta and a threshold: it is x where beta * x is above that.
softplus = _made(steps.softplus, "softplus", "beta threshold")
silu, mish, hardswish = (
    _made(getattr(activations, name), name)() for name in ("silu", "mish", "hardswish")
)
