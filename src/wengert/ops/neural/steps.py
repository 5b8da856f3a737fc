"""Activations whose slope is constant between steps, with a second derivative that is 0.

What takes g back is an operation of its own, linear in g; with respect to x its derivative is the
number 0, and not nothing. At a step each says which side it takes. The parameters of an activation
are the tuple `how`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.families import run, sample, variant
from wengert.ops.neural import activations
from wengert.ops.neural.activations import logistic
from wengert.ops.neural.arguments import real_elementwise
from wengert.ops.rounding import flat

Values = Callable[..., Any]

relu_pull: Any = real_elementwise(
    "nn.relu_pull",
    lambda xp, g, x: run(relu_pull.op, xp, (g, x), {}),
    flat,
    args=("g", "x"),
    compute=lambda xp, g, x: xp.keep(g, xp.logical_not(x <= 0)),
    reference=lambda g, x: np.where(x <= 0, 0, g).astype(g.dtype),
    doc="Return g where x is not below or at 0.",
)
relu = variant(
    activations.relu,
    "second=0",
    lambda xp, g, y: run(relu_pull.op, xp, (g, y), {}),
    doc="Return x where it is positive, else 0; its derivative is 0 at 0, and 1 at NaN.",
)


def _stepped(
    name: str,
    how: tuple[float, ...],
    values: Values,
    pull: Values,
    reference: Values,
    slope: Values,
) -> Any:
    """Declare a function with steps and what takes g back through it.

    They are ``values(xp, x, how)`` and ``pull(xp, g, x, how)``. ``reference(x, *how)`` and its
    slope are the same for tests, where x is not at a step.
    """

    def back(xp: Any, g: Any, x: Any, how: Any) -> Any:
        return run(pulled.op, xp, (g, x), {"how": how})

    pulled: Any = real_elementwise(
        f"nn.{name}_pull",
        back,
        flat,
        args=("g", "x"),
        compute=pull,
        params=("how",),
        samples=[sample((2, 3), (2, 3), how=how), sample((0, 2), (0, 2), how=how)],
        domain=((-2.0, 2.0), (-5.0, 5.0)),
        reference=lambda g, x, how: (g * slope(x, *how)).astype(g.dtype),
    )
    return real_elementwise(
        f"nn.{name}_stepped",
        back,
        compute=values,
        params=("how",),
        samples=[sample((2, 3), how=how), sample((), how=how), sample((0, 2), how=how)],
        domain=(-5.0, 5.0),
        reference=lambda x, how: reference(x, *how).astype(x.dtype),
    )


def _clipped(xp: Any, x: Any, how: Any) -> Any:
    low, high = (xp.asarray(h, dtype=x.dtype) for h in how)
    return xp.minimum(xp.maximum(x, low), high)


def _shrunk(xp: Any, x: Any, how: Any) -> Any:
    width = how[0]
    return xp.where(x > width, x - width, xp.where(x < -width, x + width, x * 0))


def _outside(xp: Any, g: Any, x: Any, how: Any) -> Any:
    return xp.keep(g, xp.logical_not(xp.abs(x) <= how[0]))


leaky_relu = _stepped(
    "leaky_relu",
    (0.1,),
    lambda xp, x, how: xp.where(x > 0, x, x * how[0]),
    lambda xp, g, x, how: xp.where(x > 0, g, g * how[0]),
    lambda x, below: np.maximum(x, 0) + below * np.minimum(x, 0),
    lambda x, below: np.where(x > 0, 1, below),
)
hardtanh = _stepped(
    "hardtanh",
    (-1.0, 1.5),
    _clipped,
    lambda xp, g, x, how: xp.keep(g, xp.logical_not((x <= how[0]) | (x >= how[1]))),
    lambda x, low, high: np.clip(x, low, high),
    lambda x, low, high: (low < x) & (x < high),
)
hardsigmoid = _stepped(
    "hardsigmoid",
    (1 / 6,),  # the slope, which some libraries have in single precision only
    lambda xp, x, how: xp.clip(x + 3, 0.0, 6.0) / 6,
    lambda xp, g, x, how: xp.keep(g * how[0], (x > -3) & (x < 3)),
    lambda x, slope: np.clip(x / 6 + 0.5, 0, 1),
    lambda x, slope: (np.abs(x) < 3) * slope,
)
threshold = _stepped(
    "threshold",
    (0.3, -1.0),
    lambda xp, x, how: xp.where(x <= how[0], xp.asarray(how[1], dtype=x.dtype), x),
    lambda xp, g, x, how: xp.keep(g, xp.logical_not(x <= how[0])),
    lambda x, least, value: np.where(x > least, x, value),
    lambda x, least, value: x > least,
)
hardshrink = _stepped(
    "hardshrink",
    (0.5,),
    lambda xp, x, how: xp.where(xp.abs(x) <= how[0], x * 0, x),
    _outside,
    lambda x, width: np.where(np.abs(x) > width, x, 0),
    lambda x, width: np.abs(x) > width,
)
softshrink = _stepped(
    "softshrink",
    (0.5,),
    _shrunk,
    _outside,
    lambda x, width: np.sign(x) * np.maximum(np.abs(x) - width, 0),
    lambda x, width: np.abs(x) > width,
)


def _softplus_values(xp: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return xp.where(scaled > threshold, x, xp.logaddexp(scaled, xp.zeros((), dtype=x.dtype)) / beta)


def _softplus_rule(xp: Any, g: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return xp.where(scaled > threshold, g, g * logistic(xp, scaled))


softplus = real_elementwise(
    "nn.softplus_until",
    _softplus_rule,
    compute=_softplus_values,
    params=("beta", "threshold"),
    samples=[sample((2, 3), beta=1.0, threshold=1.0), sample((4,), beta=2.5, threshold=20.0)],
    doc="Return log(1 + exp(beta * x)) / beta, and x where beta * x is above a threshold.",
)
