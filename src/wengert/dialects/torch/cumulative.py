"""Cumulative sums and extremes, differences of neighbours, integrals and covariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import named, warn
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import kind_of, lines_of, misfit
from wengert.dialects.torch.copies import in_order
from wengert.dialects.torch.reductions import accumulated
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, astype, convert, ns, promoted, wrap_native
from wengert.ops import cumulative, reductions, samples
from wengert.ops.ranks import part, record_indices, taken

# -- cumulative sums and extremes ------------------------------------------------------------------


CumMax, CumMin = results("cummax", "values", "indices"), results("cummin", "values", "indices")


def _along(compute: Callable[..., Native], x: Native, dim: int) -> Native:
    y = compute(lines_of(x), axis=dim)
    return y if x.ndim else ns.reshape(y, ())


@offered("cumsum", in_place=True)
def cumsum(input: K.Input, dim: K.Axis, *, dtype: K.Dtype | None = None) -> Native:
    """Return cumulative sums along an axis."""
    return in_order(_along(cumulative.sum_along, accumulated(input, dtype), dim))


@offered("cumprod", in_place=True)
def cumprod(input: K.Input, dim: K.Axis, *, dtype: K.Dtype | None = None) -> Native:
    """Return cumulative products along an axis."""
    return _along(cumulative.prod_along, accumulated(input, dtype), dim)


@offered("logcumsumexp")
def logcumsumexp(
    input: Annotated[Native, K.tensor("f", NotImplementedError)], dim: K.Axis
) -> Native:
    """Return the logarithms of cumulative sums of exponentials along an axis."""
    return _along(cumulative.logsumexp_along, input, dim)


def _record(name: str, kind: Any) -> None:
    """Offer `cummax` or `cummin`."""

    @offered(f"cum{name}")
    @named(f"cum{name}", f"Return the {name}imum so far along an axis, and its index.")
    def record(input: K.Ordered, dim: K.Axis) -> Any:
        lines = lines_of(input)
        indices = record_indices(lines, dim, name == "max")
        values = taken(lines, indices, dim, input.shape)
        return kind(values, ns.reshape(indices, input.shape))


_record("max", CumMax)
_record("min", CumMin)


# -- differences and integrals ---------------------------------------------------------------------


@offered("diff", label="SubBackward0")
def diff(
    input: K.Input, n: K.Int = 1, dim: K.Axis = -1, prepend: K.Input | None = None,
    append: K.Input | None = None,
) -> Native:  # fmt: skip
    """Return the differences of neighbours along an axis, taken n times."""
    if not input.ndim or n < 0:
        raise misfit("diff", "an axis, and n of 0 or more", input=input, n=n)
    parts = promoted(*(v for v in (prepend, input, append) if v is not None))
    x = ns.concat(parts, axis=dim) if len(parts) > 1 else input
    subtract = ns.logical_xor if kind_of(x) == "b" else ns.subtract
    for _ in range(min(n, x.shape[dim])):
        x = subtract(part(x, dim, 1, None), part(x, dim, None, -1))
    return x


def _areas(y: Native, x: Native | None, dx: Any, axis: int) -> Native:
    """Return twice the areas between neighbours on the last axis, in the dtype of their sums."""
    if x is None:
        y, widths = promoted(y, 1.0 if dx is None else dx)
    else:
        y, widths = promoted(y, ns.diff(x, axis=axis) if x.ndim > 1 else ns.diff(x))
        widths = ns.moveaxis(widths, axis, -1) if x.ndim > 1 else widths
    return K.summed(samples.trapezia(y, widths, axis=axis))


@offered("trapezoid", "trapz", method=False, label="DivBackward1")
def trapezoid(y: K.Input, x: K.Input | None = None, *, dx: Any = None, dim: K.Axis = -1) -> Native:
    """Return the integral along an axis by the rule of trapezia."""
    areas = _areas(y, x, dx, dim)
    total = reductions.sum_over(areas, axis=(areas.ndim - 1,), keepdims=False)
    return ns.divide(*promoted(total, 2.0))


@offered("gradient", method=False, label="CatBackward0")
def gradient(
    input: K.Fractions, *, spacing: Any = 1, dim: K.Axes = None, edge_order: K.Int = 1
) -> tuple[Native, ...]:
    """Return the slopes of a function by its values on a grid, along all axes or some."""
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient: edge_order is {edge_order}; give 1 or 2")
    one = not isinstance(spacing, (tuple, list))
    spacings = [1 if spacing is None else spacing] * len(dim) if one else spacing
    lengths = [input.shape[a] for a in dim]
    grids = [astype(convert(h, input.dtype), input.dtype) for h in spacings]
    shapes = [grid.shape for grid in grids]
    if len(shapes) != len(dim) or any(
        n <= edge_order or s not in ((), (n,)) for n, s in zip(lengths, shapes, strict=True)
    ):
        raise RuntimeError(
            f"gradient: axes of {lengths} elements with spacings of shapes {shapes}; give one for "
            "each axis, numbers or all coordinates, and more than edge_order elements"
        )
    return tuple(
        samples.slopes(input, grid, axis=a, edge_order=edge_order)
        for a, grid in zip(dim, grids, strict=True)
    )


# -- covariance ------------------------------------------------------------------------------------


Variables = Annotated[Native, K.tensor("iufc", become=K.floating)]


@offered("cov", label="SqueezeBackward0")
def cov(input: Variables, *, correction: K.Number = 1) -> Native:
    """Return the covariances of variables, which are rows; observations are columns."""
    if input.ndim > 2:
        raise misfit("cov", "a matrix with one variable in each row", input=input)
    rows = input if input.ndim == 2 else ns.reshape(input, (1, -1))
    freedom: Any = rows.shape[1] - correction
    if freedom <= 0:
        warn("cov(): the correction is the number of observations, or more")
        freedom = wrap_native(np.zeros((), ns.real(rows).dtype))
    found = samples.covariance(rows, freedom)
    return ns.reshape(found, ()) if rows.shape[0] == 1 else found


@offered("corrcoef", label="ClampBackward1")
def corrcoef(input: Variables) -> Native:
    """Return the coefficients of correlation of variables, which are rows."""
    c: Native = cov.__wrapped__(input)  # type: ignore[attr-defined]
    if not c.ndim:
        return ns.divide(c, c)
    y = samples.correlation(c)
    if kind_of(c) == "c":
        return ns.complex(ns.clip(ns.real(y), -1, 1), ns.clip(ns.imag(y), -1, 1))
    return ns.clip(y, -1, 1)
