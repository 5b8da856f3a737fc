"""Operations with PyTorch's choices at kinks, which are steps of the derivative.

Where a derivative is constant between steps, PyTorch's second derivative is zero, and not nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.node import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.ops.families import Elementwise, _run
from wengert.ops.neural.activations import logistic

#: Takes a cotangent, the argument and the parameters. Returns the cotangent of the argument.
Pull = Callable[..., np.ndarray]


def stepped(name: str, values: Callable[..., Any], pull: Pull) -> Callable[..., Native]:
    """Return a function of a tensor whose slope is constant between steps.

    Both take the parameters, a tuple, as their last argument.
    """
    back = Elementwise(
        f"{name}_backward",
        ("g", "x"),
        lambda xp, g, x, how: pull(g, x, how),
        (
            lambda xp, g, x, how: _run(back, xp, (g, x), {"how": how}),
            lambda xp, g: xp.zeros_like(g),
        ),
        ("how",),
    )
    op = Elementwise(
        name,
        ("x",),
        lambda xp, x, how: values(x, how),
        (lambda xp, g, x, how: _run(back, xp, (g, x), {"how": how}),),
        ("how",),
    )
    for declared in (op, back):
        declared.aliases = False
    return lambda x, *how: apply(op, (x,), {"how": how})


def _zero(x: np.ndarray) -> Any:
    return np.zeros((), x.dtype)


def _clipped(x: np.ndarray, how: Any) -> Any:
    low, high = (np.array(h, x.dtype) for h in how)
    return np.minimum(np.maximum(x, low), high)


def _hard_values(x: np.ndarray, how: Any) -> Any:
    return np.where(np.abs(x) <= how[0], _zero(x), x)


def _soft_values(x: np.ndarray, how: Any) -> Any:
    width = np.array(how[0], x.dtype)
    return np.where(x > width, x - width, np.where(x < -width, x + width, x * 0))


def _outside(g: np.ndarray, x: np.ndarray, how: Any) -> Any:
    return np.where(np.abs(x) <= how[0], _zero(g), g)


leaky_relu = stepped(
    "leaky_relu",
    lambda x, how: np.where(x > 0, x, x * how[0]),
    lambda g, x, how: np.where(x > 0, g, g * how[0]),
)
hardtanh = stepped(
    "hardtanh",
    _clipped,
    lambda g, x, how: np.where((x <= how[0]) | (x >= how[1]), _zero(g), g),
)
hardsigmoid = stepped(
    "hardsigmoid",
    lambda x, how: np.clip(x + 3, 0, 6) / 6,
    lambda g, x, how: np.where((x > -3) & (x < 3), g / 6, _zero(g)),
)
threshold = stepped(
    "threshold",
    lambda x, how: np.where(x <= how[0], np.array(how[1], x.dtype), x),
    lambda g, x, how: np.where(x <= how[0], _zero(g), g),
)
hardshrink = stepped("hardshrink", _hard_values, _outside)
softshrink = stepped("softshrink", _soft_values, _outside)


# -- smooth ones with a straight part ------------------------------------------------------------


def _softplus_values(xp: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.logaddexp(scaled, _zero(x)) / beta)


def _softplus_rule(xp: Any, g: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return xp.where(scaled > threshold, g, g * logistic(xp, scaled))


softplus: Op = Elementwise(
    "softplus", ("x",), _softplus_values, (_softplus_rule,), ("beta", "threshold")
)
