"""Layers with parameters or with chance: an affine map, embedding, dropout.

`linear` could be written in other operations, and is one of its own because it then keeps and
passes over less memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block, Region
from wengert.engine.errors import ShapeError
from wengert.engine.tensor import wrap
from wengert.ops import elementwise as ew
from wengert.ops import shapes
from wengert.ops.contractions import adjoint, matmul
from wengert.ops.families import contraction, sample
from wengert.ops.families import linear as declare_linear
from wengert.ops.neural.arguments import integers, number, real

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
    count = math.prod(g.shape[:-1])
    rows = xp.reshape(x, (count, x.shape[-1]))
    return xp.matmul(adjoint(xp, rows), xp.reshape(g, (count, g.shape[-1])))


def _bias_rule(xp: Any, g: Any, shapes: Any) -> Any:
    """Return the sum over all but the last axis, as a product, which BLAS does faster."""
    if not g.shape[-1]:
        return xp.sum(g, axis=tuple(range(len(g.shape) - 1)))
    rows = xp.reshape(g, (math.prod(g.shape[:-1]), g.shape[-1]))
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


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """Return x @ weight + bias, in one pass over memory less.

    The last axis of x meets the first of `weight`, a matrix; `bias` is a vector, or None.
    """
    x, weight = shapes.tensor(x, "linear"), shapes.tensor(weight, "linear")
    left, right = x.shape, weight.shape
    if bias is not None:
        bias = shapes.tensor(bias, "linear")
    given = right[1:] if bias is None else bias.shape
    if not left or len(right) != 2 or left[-1] != right[0] or given != right[1:]:
        raise ShapeError(
            f"linear: shapes {left}, {right} and {given} do not fit; expected "
            "(..., n), (n, m) and (m,)"
        )
    if bias is None:
        return matmul(x, weight)
    if len(left) > 1:
        return _linear(x, weight, bias)
    return shapes.squeeze(_linear(shapes.expand_dims(x, axis=0), weight, bias), axis=0)


# -- rows by their indices --------------------------------------------------------------------


def _embedding_rule(xp: Any, g: Any, weight_shape: Any, indices: Any, padding_idx: Any) -> Any:
    places, rows = indices.reshape(-1), xp.reshape(g, (indices.size, weight_shape[1]))
    if padding_idx is not None:
        kept = np.flatnonzero(places != padding_idx)
        places, rows = places[kept], xp.index(rows, key=(kept,))
    block = Block(weight_shape, (places, range(weight_shape[1])), rows)
    return block if len(places) < weight_shape[0] else block.ranged(xp)


_embedding = declare_linear(
    "nn.embedding",
    _embedding_rule,
    moves=True,
    args=("weight",),
    params=("indices", "padding_idx"),
    compute=lambda xp, weight, indices, padding_idx: xp.index(weight, (indices,)),
    samples=[
        sample((4, 3), indices=np.array([[1, 3], [1, 0]]), padding_idx=None),
        sample((2, 2), indices=np.array(1), padding_idx=None),
        sample((3, 2), indices=np.zeros((2, 0), int), padding_idx=None),
    ],
    reference=lambda weight, indices, padding_idx: weight[indices],
)


def embedding(indices: Any, weight: Any, *, padding_idx: int | None = None) -> Any:
    """Return the rows of `weight`, a matrix, at `indices`, as a new last axis.

    The row `padding_idx` gets no derivative.
    """
    weight = shapes.tensor(weight, "embedding")
    where = integers(indices, "embedding", "indices")
    if weight.ndim != 2:
        raise ShapeError(f"embedding: weight of shape {weight.shape}; expected a matrix")
    count = weight.shape[0]
    _check_range(where, count, "embedding: indices", "rows")
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise IndexError(f"embedding: padding_idx is {padding_idx}, of {count} rows")
        padding_idx = int(padding_idx) % count
    return _embedding(weight, indices=where, padding_idx=padding_idx)


def _check_range(where: np.ndarray, count: int, what: str, of: str) -> None:
    """Raise unless all indices are from 0 up to and without `count`."""
    if where.size:
        low, high = where.min(), where.max()
        if low < 0 or high >= count:
            raise IndexError(f"{what} from {low} to {high} of {count} {of}")


def one_hot(indices: Any, num_classes: int, *, dtype: Any = None) -> Any:
    """Return 1 at each index along a new last axis of length `num_classes`, else 0.

    The dtype is float64 unless given.
    """
    where = integers(indices, "one_hot", "indices")
    _check_range(where, int(num_classes), "one_hot: indices", "classes")
    kind = np.float64 if dtype is None else dtype
    return wrap(np.asarray(where[..., None] == np.arange(int(num_classes))).astype(kind))


# -- dropout ----------------------------------------------------------------------------------


def dropout(x: Any, rate: float, *, generator: Any, training: bool = True) -> Any:
    """Return x with each element 0 by chance `rate`, and the others divided by 1 - rate.

    `generator` is a np.random.Generator, which draws one number for each element. What it drops
    is a constant: derivatives follow the elements that are left.
    """
    x, rate = real(x, "dropout"), number(rate, "dropout", "rate", 0, 1)
    if not training or not rate:
        return x
    if not isinstance(generator, np.random.Generator):
        raise TypeError(
            f"dropout: generator is {type(generator).__name__}; expected a np.random.Generator, "
            "such as np.random.default_rng(0)"
        )
    kept = generator.random(x.shape, dtype=np.float32) >= rate
    xp: Any = backends.namespace_of(x._raw)
    mask = kept if xp is backends.NUMPY else xp.asarray(kept, device=x._raw.device)
    return ew.keep(x * (1 / (1 - rate)), wrap(mask))


__all__ = ["dropout", "embedding", "linear", "one_hot"]
