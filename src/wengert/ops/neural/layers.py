"""Layers with parameters or with chance: an affine map, embedding, dropout.

`linear` could be written in other operations, and is one of its own because it then keeps and
passes over less memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends.numpy_kernels import sum_of_rows
from wengert.engine.batching import Level
from wengert.engine.cotangents import Block
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import shapes
from wengert.ops.batching import (
    all_values,
    constant,
    drawn,
    full_parameter,
    innermost,
    is_visible,
    merged,
    rebatched,
)
from wengert.ops.checks import all_below, array_like, integers, like, misfit, real
from wengert.ops.contractions import adjoint, as_rows, conj, matmul
from wengert.ops.families import contraction, sample
from wengert.ops.families import linear as declare_linear
from wengert.ops.indexing import scatter
from wengert.ops.neural.arguments import number
from wengert.regions import Region

# -- x @ weight + bias ------------------------------------------------------------------------


#: Of fewer numbers than this, NumPy is quicker to begin with a sum than with a product.
_FEW = 1 << 12


def _by_rows(xp: Any, x: Any, matrix: Any) -> Any:
    """Return x @ matrix; NumPy has one product for all rows if these are on one axis.

    Of two matrices, `dot` takes half the time of `matmul` to begin with.
    """
    if xp is not backends.NUMPY or len(x.shape) < 2:
        return xp.matmul(x, matrix)
    if len(x.shape) == 2:
        return x.dot(matrix)
    y = as_rows(xp, x).dot(matrix)
    return y.reshape(*x.shape[:-1], y.shape[-1])


def _affine(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    y = _by_rows(xp, x, weight)
    if y.dtype != bias.dtype:
        return y + bias
    y += bias  # nobody else has seen y
    return y


def _affine_regions(region: Region, shapes: Any) -> tuple[Region, Region, Region]:
    *batch, rows, columns = region
    inner = range(shapes[0][-1])
    return (*batch, rows, inner), (inner, columns), region


def _weight_factors(xp: Any, g: Any, x: Any, shapes: Any) -> tuple[Any, Any]:
    if type(g) is np.ndarray and g.ndim == 2 and x.dtype.kind == "f":  # the usual case
        return x, g
    return conj(xp, as_rows(xp, x)), as_rows(xp, g)


def _weight_rule(xp: Any, g: Any, x: Any, shapes: Any) -> Any:
    rows, columns = _weight_factors(xp, g, x, shapes)
    return _by_rows(xp, xp.matrix_transpose(rows), columns)


def _row_factors(xp: Any, g: Any, x: Any, shapes: Any) -> tuple[Any, Any]:
    return _weight_factors(xp, g, x, shapes)[::-1]


def _row_rule(xp: Any, g: Any, x: Any, shapes: Any) -> Any:
    return xp.matrix_transpose(_weight_rule(xp, g, x, shapes))


def _bias_rule(xp: Any, g: Any, shapes: Any) -> Any:
    """Return the sum over all but the last axis; of many, as a product, which BLAS does faster."""
    rows = g if len(g.shape) == 2 else as_rows(xp, g)
    count = rows.shape[0]
    if count == 1:
        return xp.reshape(g, (g.shape[-1],))
    if xp is backends.NUMPY:
        return sum_of_rows(rows)
    if count * g.shape[-1] < _FEW:
        return xp.sum(rows, axis=0)
    return xp.matmul(xp.ones_like(rows[:, 0]), rows)


def _linear_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the affine map of the rows of all examples, in one product if they share a weight."""
    x, weight, bias = arrays
    lead = x.shape[mapped[0] : -1]
    rows, shape = math.prod(lead), (level.size, *lead, weight.shape[-1])
    if mapped == [True, False, False]:
        x = shapes.reshape(x, (level.size * rows, x.shape[-1]))
        return shapes.reshape(apply(op, (x, weight, bias), params), shape)
    x = shapes.reshape(x, (*x.shape[: mapped[0]], rows, x.shape[-1]))
    bias = shapes.expand_dims(bias, axis=-2)
    return shapes.reshape(matmul(x, weight) + bias, shape)


affine = contraction(
    "nn.linear",
    lambda xp, g, weight, shapes: _by_rows(xp, g, adjoint(xp, weight)),
    _weight_rule,
    _bias_rule,
    factors=(None, _weight_factors, None),
    regions=_affine_regions,
    args=("x", "weight", "bias"),
    compute=_affine,
    added=-1,
    batch=_linear_of_examples,
    samples=[
        sample((2, 3), (3, 4), (4,)),
        sample((2, 2, 3), (3, 2), (2,)),
        sample((0, 3), (3, 2), (2,)),
    ],
    reference=lambda x, weight, bias: x @ weight + bias,
)


def _by_rows_rule(xp: Any, g: Any, weight: Any, shapes: Any) -> Any:
    if type(g) is np.ndarray and g.ndim == 2 and weight.dtype.kind == "f":  # the usual case
        return g.dot(weight)
    return _by_rows(xp, g, conj(xp, weight))


def _by_rows_regions(region: Region, shapes: Any) -> tuple[Region, Region, Region]:
    *batch, rows, columns = region
    inner = range(shapes[0][-1])
    return (*batch, rows, inner), (columns, inner), region


def _by_rows_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    x, weight, bias = arrays
    turned = shapes.matrix_transpose(weight)
    return _linear_of_examples(affine.op, level, (x, turned, bias), mapped, params)


affine_by_rows = contraction(
    "nn.linear_by_rows",
    _by_rows_rule,
    _row_rule,
    _bias_rule,
    factors=(None, _row_factors, None),
    regions=_by_rows_regions,
    args=("x", "weight", "bias"),
    compute=lambda xp, x, weight, bias: _affine(xp, x, xp.matrix_transpose(weight), bias),
    batch=_by_rows_of_examples,
    samples=[
        sample((2, 3), (4, 3), (4,)),
        sample((2, 2, 3), (2, 3), (2,)),
        sample((0, 3), (2, 3), (2,)),
    ],
    reference=lambda x, weight, bias: x @ weight.T + bias,
    doc="Return x @ weight.T + bias, for a weight with a row for each element of the result.",
)


def _affine_by_rows(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    if x.ndim != 2 or x.dtype is not bias.dtype:
        return _affine(backends.NUMPY, x, weight.T, bias)
    y = x.dot(weight.T)
    y += bias
    return y


affine_by_rows.op.numpy_function = _affine_by_rows


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """Return x @ weight + bias.

    The last axis of x meets the first of `weight`, a matrix; `bias` is a vector, or None.
    `wg.nn.linear([1.0, 2.0], [[3.0], [4.0]], [5.0])` is `[16.0]`.
    """
    if type(x) is not Tensor or type(weight) is not Tensor:
        x, weight = shapes.tensor(x, "linear"), shapes.tensor(weight, "linear")
    if bias is not None and type(bias) is not Tensor:
        bias = shapes.tensor(bias, "linear")
    left, right = x._raw.shape, weight._raw.shape
    given = right[1:] if bias is None else bias._raw.shape
    if not left or len(right) != 2 or left[-1] != right[0] or given != right[1:]:
        arrays = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
        raise misfit("linear", "(..., n), (n, m) and (m,)", **arrays)
    if bias is None:
        return matmul(x, weight)
    if len(left) > 1:
        return affine(x, weight, bias)
    return shapes.squeeze(affine(shapes.expand_dims(x, axis=0), weight, bias), axis=0)


# -- rows by their indices --------------------------------------------------------------------


def _embedding_rule(xp: Any, g: Any, weight_shape: Any, indices: Any, padding_idx: Any) -> Any:
    if type(indices) is not np.ndarray:  # of examples, or on a device: not known where rows are
        return _rows_anywhere(g, weight_shape, indices, padding_idx)
    places, rows = indices.reshape(-1), xp.reshape(g, (indices.size, weight_shape[1]))
    if padding_idx is not None:
        kept = np.flatnonzero(places != padding_idx)
        places, rows = places[kept], xp.index(rows, key=(kept,))
    block = Block(weight_shape, (places, range(weight_shape[1])), rows)
    return block if len(places) < weight_shape[0] else block.ranged(xp)


def _rows_anywhere(g: Any, shape: Any, indices: Any, padding_idx: Any) -> Any:
    rows = g if type(g) is Tensor else wrap(g)
    if padding_idx is not None:
        rows = ew.keep(rows, _mask_like(rows, indices, innermost(indices) != padding_idx))
    total = scatter(rows, shape=shape, key=(indices,))
    return total if type(g) is Tensor else total._raw


def _mask_like(rows: Tensor, indices: Any, mask: Any) -> Tensor:
    """Return a mask of indices for the rows there, in their library."""
    return shapes.expand_dims(like(rebatched(mask, indices), rows), axis=-1)


def _embedding_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return rows at all examples' indices; those of several tables are counted through."""
    (weight,), padding = arrays, params["padding_idx"]
    if not mapped[0]:
        return apply(op, (weight,), params | {"indices": params["indices"].values._raw})
    indices = full_parameter(params["indices"], level)
    first = np.arange(level.size).reshape(-1, *(1,) * (len(indices.shape) - 1)) * weight.shape[1]
    further = {"indices": (wrap(indices) + wrap(first))._raw, "padding_idx": None}
    rows = apply(op, (merged(weight, 0),), further)
    if padding is None:
        return rows
    padded = _mask_like(rows, indices, innermost(indices) == padding)
    return ew.where(padded, constant(rows), rows)


_embedding = declare_linear(
    "nn.embedding",
    _embedding_rule,
    moves=True,
    args=("weight",),
    params=("indices", "padding_idx"),
    compute=lambda xp, weight, indices, padding_idx: xp.index(weight, (indices,)),
    batch=_embedding_of_examples,
    samples=[
        sample((4, 3), indices=np.array([[1, 3], [1, 0]]), padding_idx=None),
        sample((2, 2), indices=np.array(1), padding_idx=None),
        sample((3, 2), indices=np.zeros((2, 0), int), padding_idx=None),
    ],
    reference=lambda weight, indices, padding_idx: weight[indices],
)


def embedding(indices: Any, weight: Any, *, padding_idx: int | None = None) -> Tensor:
    """Return the rows of `weight`, a matrix, at `indices`, as a new last axis.

    The row `padding_idx` gets no derivative.
    `wg.nn.embedding([1, 0, 1], [[1.0], [2.0]])` is `[[2.0], [1.0], [2.0]]`.
    """
    weight = shapes.tensor(weight, "embedding")
    where = integers(indices, "embedding", "indices")
    if weight.ndim != 2:
        raise misfit("embedding", "a matrix", weight=weight)
    count = weight.shape[0]
    _check_range(where, count, "embedding: indices", "rows")
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise IndexError(f"embedding: padding_idx is {padding_idx}, of {count} rows")
        padding_idx = int(padding_idx) % count
    return _embedding(weight, indices=where, padding_idx=padding_idx)


def _check_range(where: Any, count: int, what: str, of: str) -> None:
    """Raise unless all indices are from 0 up to and without `count`."""
    if not is_visible(where):
        return
    values = all_values(where)
    if not all_below(values, count):
        raise IndexError(f"{what} from {values.min()} to {values.max()} of {count} {of}")


def one_hot(indices: Any, num_classes: int, *, dtype: Any = None) -> Tensor:
    """Return 1 at each index along a new last axis of length `num_classes`, else 0.

    The dtype is float64 unless given.
    `wg.nn.one_hot([0, 2], 3)` is `[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]`.
    """
    where = integers(indices, "one_hot", "indices")
    _check_range(where, int(num_classes), "one_hot: indices", "classes")
    inner = innermost(where)
    xp: Any = backends.namespace_of(inner)
    hot = inner[..., None] == xp.arange(int(num_classes))
    return wrap(rebatched(xp.astype(hot, xp.float64 if dtype is None else dtype), where))


# -- dropout ----------------------------------------------------------------------------------


def dropout(x: Any, rate: float, *, generator: Any, training: bool = True) -> Tensor:
    """Return x with each element 0 with probability `rate`, and the others divided by 1 - rate.

    `generator` is a np.random.Generator, which draws one number for each element. What it drops
    is a constant: derivatives follow the elements that are left.
    `wg.nn.dropout([1.0, 2.0], 0.5, generator=np.random.default_rng(0))` is `[2.0, 4.0]`.
    """
    x, rate = real(x, "dropout"), number(rate, "dropout", "rate", 0, 1)
    if not training or not rate:
        return shapes.renewed(x)
    if not isinstance(generator, np.random.Generator):
        raise TypeError(
            f"dropout: generator is {type(generator).__name__}; expected a np.random.Generator, "
            "such as np.random.default_rng(0)"
        )

    def draw(size: tuple[int, ...]) -> Any:
        return array_like(generator.random(size, dtype=np.float32) >= rate, x._raw)

    return ew.keep(x * (1 / (1 - rate)), drawn("dropout", draw, x.shape))


__all__ = ["dropout", "embedding", "linear", "one_hot"]
