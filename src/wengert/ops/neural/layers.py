"""What networks are made of: an affine map, a kink, and the loss of a classifier.

Each could be written in other operations, and is one of its own because it then keeps and
passes over less memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.engine.cotangents import Region
from wengert.engine.errors import DtypeError, ShapeError
from wengert.ops import shapes
from wengert.ops.contractions import adjoint
from wengert.ops.families import contraction, sample, special
from wengert.ops.families import elementwise as declare_elementwise

relu = declare_elementwise(
    "nn.relu",
    lambda xp, g, y: xp.keep(g, y > 0),
    # NumPy compares with a row of zeros in half the time it takes with one zero
    compute=lambda xp, x: xp.maximum(x, xp.zeros(tuple(x.shape)[-1:], dtype=x.dtype)),
    kinds="f",
    reference=lambda x: np.maximum(x, 0),
    doc="Return x where it is positive, else 0; its derivative at 0 is 0.",
)

# -- x @ weight + bias ------------------------------------------------------------------------


def _affine(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    y = xp.matmul(x, weight)
    if y.dtype != bias.dtype:
        return y + bias
    y += bias  # nobody else has seen y
    return y


def _affine_regions(region: Region, shapes: Any) -> tuple[Region, Region, Region]:
    *batch, rows, columns = region
    inner = range(shapes[0][-1])
    return (*batch, rows, inner), (inner, columns), region


def _weight_rule(xp: Any, g: Any, x: Any, shapes: Any) -> Any:
    rows = xp.reshape(x, (-1, x.shape[-1]))
    return xp.matmul(adjoint(xp, rows), xp.reshape(g, (-1, g.shape[-1])))


def _bias_rule(xp: Any, g: Any, shapes: Any) -> Any:
    """Return the sum over all but the last axis, as a product, which BLAS does faster."""
    rows = xp.reshape(g, (-1, g.shape[-1]))
    return xp.matmul(xp.ones_like(rows[:, 0]), rows)


_linear = contraction(
    "nn.linear",
    lambda xp, g, weight, shapes: xp.matmul(g, adjoint(xp, weight)),
    _weight_rule,
    _bias_rule,
    regions=_affine_regions,
    args=("x", "weight", "bias"),
    compute=_affine,
    samples=[
        sample((2, 3), (3, 4), (4,)),
        sample((2, 2, 3), (3, 2), (2,)),
        sample((0, 3), (3, 2), (2,)),
    ],
    reference=lambda x, weight, bias: x @ weight + bias,
)


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Return x @ weight + bias, in one pass over memory less.

    The last axis of x meets the first of `weight`, a matrix; `bias` is a vector.
    """
    x, weight, bias = (shapes.tensor(a, "linear") for a in (x, weight, bias))
    left, right = x.shape, weight.shape
    if not left or len(right) != 2 or left[-1] != right[0] or bias.shape != right[1:]:
        raise ShapeError(
            f"linear: shapes {left}, {right} and {bias.shape} do not fit; expected "
            "(..., n), (n, m) and (m,)"
        )
    if len(left) > 1:
        return _linear(x, weight, bias)
    return shapes.squeeze(_linear(shapes.expand_dims(x, axis=0), weight, bias), axis=0)


# -- softmax cross-entropy --------------------------------------------------------------------


def _places(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(labels)), labels


def _cross_entropy(xp: Any, logits: Any, labels: Any) -> Any:
    top = xp.max(logits, axis=1, keepdims=True)
    sums = xp.sum(xp.exp(logits - top), axis=1)
    return xp.log(sums) + top[:, 0] - xp.index(logits, key=_places(labels))


def _cross_entropy_rule(xp: Any, g: Any, y: Any, logits: Any, labels: Any) -> Any:
    top = y + xp.index(logits, key=_places(labels))  # log of the sum of exponentials
    shares = xp.exp(logits - top[:, None]) * g[:, None]
    return xp.put_add(shares, -g, key=_places(labels))


_rows_cross_entropy = special(
    "nn.cross_entropy",
    _cross_entropy_rule,
    args=("logits",),
    params=("labels",),
    compute=_cross_entropy,
    samples=[
        sample((3, 4), labels=np.array([1, 3, 1])),
        sample((2, 1), labels=np.array([0, 0])),
        sample((0, 3), labels=np.zeros(0, int)),
    ],
    kinds="f",
    reference=lambda logits, labels: (
        np.log(np.sum(np.exp(logits), axis=1)) - logits[np.arange(len(labels)), labels]
    ),
)


def _total(xp: Any, logits: Any, labels: Any, scale: float) -> Any:
    return xp.sum(_cross_entropy(xp, logits, labels)) * scale


def _total_rule(xp: Any, g: Any, logits: Any, labels: Any, scale: float) -> Any:
    weights = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    shares = weights * (g * scale / xp.sum(weights, axis=1, keepdims=True))
    return xp.put_add(shares, xp.broadcast_to(-g * scale, (len(labels),)), key=_places(labels))


_total_cross_entropy = special(
    "nn.total_cross_entropy",
    _total_rule,
    args=("logits",),
    params=("labels", "scale"),
    compute=_total,
    samples=[
        sample((3, 4), labels=np.array([1, 3, 1]), scale=1.0),
        sample((2, 5), labels=np.array([0, 4]), scale=0.5),
    ],
    kinds="f",
    reference=lambda logits, labels, scale: (
        scale
        * np.sum(np.log(np.sum(np.exp(logits), axis=1)) - logits[np.arange(len(labels)), labels])
    ),
)


def cross_entropy(logits: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """Return minus the logarithm of the probability that softmax gives to each label.

    Classes are on the last axis of `logits`; `labels` are their indices, in the shape of the
    other axes. `reduction` is "mean", "sum" or "none".
    """
    logits = shapes.tensor(logits, "cross_entropy")
    where = labels if type(labels) is np.ndarray else shapes.tensor(labels, "labels").numpy()
    if where.dtype.kind not in "iu":
        raise DtypeError(f"cross_entropy: labels of {where.dtype}; expected indices of classes")
    if logits.ndim == 0 or where.shape != logits.shape[:-1]:
        raise ShapeError(
            f"cross_entropy: labels of shape {where.shape} for logits of shape {logits.shape}; "
            f"expected {logits.shape[:-1]}"
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(
            f"cross_entropy: reduction {reduction!r}; expected 'mean', 'sum' or 'none'"
        )
    count = logits.shape[-1]
    flat = logits if logits.ndim == 2 else shapes.reshape(logits, (where.size, count))
    places = where.reshape(-1).astype(np.intp)  # a copy, which nobody else can write to
    if places.size:
        low, high = np.minimum.reduce(places), np.maximum.reduce(places)
        if low < 0 or high >= count:
            raise IndexError(f"cross_entropy: labels from {low} to {high} of {count} classes")
    if reduction == "none":
        losses = _rows_cross_entropy(flat, labels=places)
        return losses if losses.shape == where.shape else shapes.reshape(losses, where.shape)
    scale = 1.0 if reduction == "sum" else 1 / where.size if where.size else np.nan
    return _total_cross_entropy(flat, labels=places, scale=scale)


__all__ = ["cross_entropy", "linear", "relu"]
