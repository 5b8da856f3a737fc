"""Norms and distances, by the names of torch and of torch.linalg."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import kept_shape, kind_of, labelled, type_name
from wengert.dialects.torch.kinds import (
    READERS,
    Axes,
    Axis,
    Bool,
    Dtype,
    Floating,
    Inexact,
    Input,
    NamedAxes,
    Number,
    Promoted,
    all_axes,
    read_tensor,
)
from wengert.dialects.torch.products import check_factors
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import astype, ns, static
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.linalg import unguarded
from wengert.ops.linalg.unguarded import vector_norm as vector_norm


@offered("norm", label="LinalgVectorNormBackward0")
def norm(
    input: Inexact,
    p: Any = "fro",
    dim: Axes = None,
    keepdim: Bool = False,
    dtype: Dtype | None = None,
) -> Native:
    """Return the p-norm over all axes or some, or a matrix's nuclear norm."""
    x = input if dtype is None else astype(input, dtype)
    if p == "nuc":
        return _nuclear(x, dim, keepdim)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: p is {p}; write 'fro', 'nuc' or a number")
    return vector_norm(x, 2.0 if p is None or p == "fro" else float(p), dim, keepdim)


def _nuclear(x: Native, axes: tuple[int, ...], keepdim: bool) -> Native:
    if len(axes) != 2:
        raise RuntimeError(f"linalg.matrix_norm: expected two axes, got {len(axes)}; give dim=")
    y = ns.linalg.matrix_norm(ns.moveaxis(x, axes, (-2, -1)), ord="nuc")
    return labelled(ns.reshape(y, kept_shape(x.shape, axes, keepdim)), "SumBackward1")


def _others(x: Native, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(x.ndim) if i != axis)


@offered("dist")
def dist(input: Promoted, other: Promoted, p: Number = 2) -> Native:
    """Return the p-norm of the difference of two tensors."""
    if kind_of(input) not in "fc":
        raise RuntimeError(f"dist(): got a {type_name(input)}, without fractions; write x.float()")
    away = ns.subtract(input, other)
    return vector_norm(away, float(p), all_axes(away), False)


@offered("renorm", in_place=True)
def renorm(input: Input, p: Number, dim: Axis, maxnorm: Number) -> Native:
    """Return a tensor whose parts along an axis have a p-norm of at most `maxnorm`."""
    if p <= 0 or maxnorm < 0:
        raise RuntimeError(f"renorm: p is {p} and maxnorm {maxnorm}; give positive numbers")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: the tensor has {input.ndim} axes; give 2 or more")
    lengths = vector_norm(input, float(p), _others(input, dim), True)
    shorter = ns.divide(maxnorm, lengths + 1e-7)
    return input * ns.where(lengths > maxnorm, shorter, ns.ones_like(lengths))


# -- distances -------------------------------------------------------------------------------------

#: Above so many differences, distances come from products of matrices.
_MANY = 4_000_000


def _lengths(away: Native, p: float, name: str) -> Native:
    """Return the p-norms of differences along the last axis."""
    if p < 0:
        raise RuntimeError(f"{name}: p is {p}; give 0 or more")
    if not away.shape[-1]:
        return ns.sum(away, axis=-1)
    return vector_norm(away, float(p), (away.ndim - 1,), False)


@offered("cdist", method=False, label="CdistBackward0")
def cdist(
    x1: Floating,
    x2: Floating,
    p: Number = 2.0,
    compute_mode: Any = "use_mm_for_euclid_dist_if_necessary",
) -> Native:
    """Return the p-norm distances between each row of x1 and each row of x2."""
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"cdist: got shapes {list(x1.shape)} and {list(x2.shape)}; give points as rows, with "
            "as many coordinates"
        )
    check_factors(x1, x2, name="cdist")
    if p == 2 and math.prod(x1.shape) * x2.shape[-2] > _MANY:
        return _by_products(x1, x2)
    return _lengths(ns.expand_dims(x1, axis=-2) - ns.expand_dims(x2, axis=-3), p, "cdist")


def _by_products(x: Native, y: Native) -> Native:
    """Return Euclidean distances by |x|^2 + |y|^2 - 2 x.y; the derivative is 0 where one is 0."""
    lengths = ns.sum(ns.square(x), axis=-1, keepdims=True)
    others = ns.expand_dims(ns.sum(ns.square(y), axis=-1), axis=-2)
    squares = lengths + others - 2 * ns.matmul(x, ns.matrix_transpose(y))
    return apply(conventions.root.op, (ns.maximum(squares, ns.zeros_like(squares)),), {})


@offered("pdist", method=False)
def pdist(input: Floating, p: Number = 2.0) -> Native:
    """Return the p-norm distances between each two rows of a matrix."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist: got {input.ndim} axes; give points as rows")
    rows, columns = (wrap_native(k) for k in np.triu_indices(input.shape[0], 1))
    return _lengths(ns.take(input, rows, axis=0) - ns.take(input, columns, axis=0), p, "pdist")


# -- torch.linalg ----------------------------------------------------------------------------------


def _wider(x: Native, dtype: np.dtype | None, name: str) -> Native:
    """Return a tensor in a dtype that holds its numbers."""
    if dtype is None:
        return x
    if dtype.kind != kind_of(x) or dtype.itemsize < x._raw.dtype.itemsize:
        raise RuntimeError(
            f"{name}: dtype={dtype} for a {type_name(x)}; give a dtype that holds its numbers"
        )
    return astype(x, dtype)


def _vector_norm(x: Native, ord: Any, axes: tuple[int, ...], keepdim: bool, name: str) -> Native:
    order = READERS.number(ord, Argument(name, "ord"))
    if isinstance(order, bool):
        raise TypeError(f"{name}(): ord is a truth value; give a number")
    empty = 0 in x.shape and 0 in [x.shape[a] for a in axes]
    if empty and (order < 0 or order == math.inf):
        raise RuntimeError(
            f"{name}: the norm of order {order} is undefined for a tensor without elements"
        )
    return vector_norm(x, float(order), axes, keepdim)


@offered("linalg.vector_norm", method=False, label="LinalgVectorNormBackward0")
def linalg_vector_norm(
    input: Inexact, ord: Any = 2, dim: Axes = None,
    keepdim: Bool = False, *, dtype: Dtype | None = None,
) -> Native:  # fmt: skip
    """Return the norm of all elements or of those along some axes."""
    x = _wider(input, dtype, "linalg.vector_norm")
    return _vector_norm(x, ord, dim, keepdim, "linalg.vector_norm")


MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def norm_of_matrices(x: Native, ord: Any, axes: tuple[int, ...], keepdim: bool) -> Native:
    """Return a norm of the matrices on two axes."""
    name = "linalg.matrix_norm"
    if len(axes) != 2:
        raise RuntimeError(f"{name}: dim is {axes}; give the two axes of the matrices")
    order = static(ord)
    if order is None or isinstance(order, bool):
        raise TypeError(f"{name}(): ord is {order}; give a number or a string")
    if order not in MATRIX_NORMS:
        raise RuntimeError(f"{name}: ord is {ord}; write one of {MATRIX_NORMS}")
    if order == "fro":
        return vector_norm(x, 2.0, axes, keepdim)
    y = unguarded.matrix_norm(ns.moveaxis(x, axes, (-2, -1)), order)
    return ns.reshape(y, kept_shape(x.shape, axes, keepdim))


def _read_some_matrices(value: Any, at: Argument, x: Any = None) -> Native:
    found = read_tensor(value, at)
    if kind_of(found) not in "fc" or found.ndim < 2:
        raise RuntimeError(
            f"{at} is a {type_name(found)} of shape {list(found.shape)}; give matrices of numbers "
            "with fractions"
        )
    return found


@offered("linalg.matrix_norm", method=False, label="LinalgVectorNormBackward0")
def matrix_norm(
    input: Annotated[Native, Kind(_read_some_matrices, tensor=True)],
    ord: Any = "fro", dim: NamedAxes = (-2, -1),
    keepdim: Bool = False, *, dtype: Dtype | None = None,
) -> Native:  # fmt: skip
    """Return the norm of matrices."""
    return norm_of_matrices(_wider(input, dtype, "linalg.matrix_norm"), ord, dim, keepdim)


@offered("linalg.norm", method=False, label="LinalgVectorNormBackward0")
def linalg_norm(
    input: Inexact, ord: Any = None, dim: NamedAxes | None = None,
    keepdim: Bool = False, *, dtype: Dtype | None = None,
) -> Native:  # fmt: skip
    """Return the norm of vectors along an axis, of matrices on two, or of all elements."""
    x = _wider(input, dtype, "linalg.vector_norm")
    axes = all_axes(x) if dim is None else dim
    if len(axes) not in (1, 2) and (dim is not None or ord is not None):
        raise RuntimeError(
            f"linalg.norm: the axes {axes} of shape {list(x.shape)}; give dim=, one axis for "
            "vectors or two for matrices"
        )
    if ord is None or (len(axes) == 1 and not isinstance(ord, str)):
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdim, "linalg.norm")
    return norm_of_matrices(x, ord, axes, keepdim)
