"""Sums, means, extremes and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Quick, named, warn
from wengert.dialects.torch import conventions
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import (
    check_some,
    kind_of,
    lines_of,
    picked,
    type_name,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import guarded, offered, put
from wengert.dialects.torch.tensors import Native, Tensor, astype, fast, ns, wrap_native
from wengert.engine.record import apply
from wengert.ops import reductions

# -- sums ------------------------------------------------------------------------------------------


def _reduction(operation: Any, labels: tuple[str, str], depth: int = 2) -> Callable[..., Any]:
    """Return a decorator for a reduction, which calls an operation at once if it can.

    `labels` are what PyTorch calls its nodes, over all axes and over some.
    """

    def declare(body: Callable[..., Any]) -> Callable[..., Any]:
        call = fast(operation.op, lambda *_: NotImplemented, "f", depth, label=labels[0])
        quick = Quick(call, Tensor, {"axis": "dim", "keepdims": "keepdim"})
        return guarded(body, labels[0], other_label=labels[1], quick=quick)

    return declare


def accumulated(x: Native, dtype: np.dtype | None) -> Native:
    """Return x in the dtype that its sums have, or in one that is asked for."""
    return K.summed(x) if dtype is None else astype(x, dtype)


@_reduction(reductions.sum_over, ("SumBackward0", "SumBackward1"))
def sum_(
    input: K.Input, dim: K.Axes = None, keepdim: K.Bool = False, *, dtype: K.Dtype | None = None
) -> Native:
    """Return the sum over all axes or some."""
    return reductions.sum_over(accumulated(input, dtype), axis=dim, keepdims=keepdim)


@_reduction(reductions.mean_over, ("MeanBackward0", "MeanBackward1"))
def mean(
    input: K.Input, dim: K.Axes = None, keepdim: K.Bool = False, *, dtype: K.Dtype | None = None
) -> Native:
    """Return the mean over all axes or some."""
    x = input if dtype is None else astype(input, dtype)
    if kind_of(x) not in "fc":
        raise RuntimeError(
            "mean(): whole numbers have no mean of their own dtype, and this is a "
            f"{type_name(x)}; write x.float().mean(), or give dtype="
        )
    return _centre(x, dim, keepdim)


@_reduction(conventions.prod, ("ProdBackward0", "ProdBackward1"))
def prod(
    input: K.Input, dim: K.OneOrAll = None, keepdim: K.Bool = False, *, dtype: K.Dtype | None = None
) -> Native:
    """Return the product over all axes or one."""
    return conventions.prod(accumulated(input, dtype), axis=dim, keepdims=keepdim)


put(("sum", "Tensor.sum"), sum_)
put(("mean", "Tensor.mean"), mean)
put(("prod", "Tensor.prod"), prod)


def _without_nan(x: Native) -> Native:
    return ns.where(ns.isnan(x), wrap_native(np.zeros((), x.dtype)), x)


@offered("nansum")
def nansum(
    input: K.Real, dim: K.Axes = None, keepdim: K.Bool = False, *, dtype: K.Dtype | None = None
) -> Native:
    """Return the sum over all axes or some, where NaN counts as 0."""
    x = accumulated(input, dtype)
    x = _without_nan(x) if kind_of(x) == "f" else x
    return reductions.sum_over(x, axis=dim, keepdims=keepdim)


@offered("nanmean", label="DivBackward0")
def nanmean(
    input: K.Floating, dim: K.Axes = None, keepdim: K.Bool = False, *, dtype: K.Dtype | None = None
) -> Native:
    """Return the mean over all axes or some of what is not NaN."""
    x = accumulated(input, dtype)
    there = ns.logical_not(ns.isnan(x))
    count = ns.astype(ns.count_nonzero(there, axis=dim, keepdims=keepdim), x.dtype)
    return ns.divide(reductions.sum_over(_without_nan(x), axis=dim, keepdims=keepdim), count)


# -- spread ----------------------------------------------------------------------------------------


def _centre(x: Native, axes: tuple[int, ...], keepdim: bool) -> Native:
    """Return the mean, which is NaN of no elements."""
    if math.prod(x.shape[a] for a in axes):
        return reductions.mean_over(x, axis=axes, keepdims=keepdim)
    return reductions.sum_over(x, axis=axes, keepdims=keepdim) * math.nan


def _variance(x: Native, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Native:
    if kind_of(x) == "c":
        parts = [_variance(p, axes, correction, keepdim) for p in (ns.real(x), ns.imag(x))]
        return ns.add(*parts)
    count = math.prod(x.shape[a] for a in axes)
    if count > correction:
        return reductions.var_over(x, axis=axes, keepdims=keepdim, correction=correction)
    warn(
        "var(): the correction is as large as the number of elements or larger, so the result "
        "is nan or infinite; give more elements, or correction=0"
    )
    away = x - _centre(x, axes, True) if count else x
    total = reductions.sum_over(ns.square(away), axis=axes, keepdims=keepdim)
    return ns.divide(total, wrap_native(np.zeros((), x.dtype)))


def _deviation(x: Native, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Native:
    count = math.prod(x.shape[a] for a in axes)
    if kind_of(x) == "f" and count > correction:
        return reductions.std_over(x, axis=axes, keepdims=keepdim, correction=correction)
    return apply(conventions.root.op, (_variance(x, axes, correction, keepdim),), {})


def _spread(name: str, compute: Callable[..., Native], with_mean: bool) -> None:
    """Offer a variance or a deviation, or a pair of it and the mean."""
    what = "variance" if compute is _variance else "standard deviation"
    more = " and the mean" if with_mean else ", dividing by the count - correction"

    @offered(name, method=not with_mean)
    @named(name, f"Return the {what}{more}.")
    def spread(
        input: K.Inexact, dim: Any = None, unbiased: K.Bool | None = None, keepdim: K.Bool = False,
        *, correction: Any = None,
    ) -> Any:  # fmt: skip
        if isinstance(dim, bool):  # var(input, unbiased)
            if unbiased is not None:
                raise TypeError(f"{name}(): got two truth values; give one, unbiased")
            dim, unbiased = None, dim
        if unbiased is not None and correction is not None:
            raise TypeError(f"{name}(): give unbiased or correction, which say the same")
        given = 1 if correction is None else correction
        axes = K.axes_of(dim, input)
        y = compute(input, axes, given if unbiased is None else int(unbiased), keepdim)
        return (y, _centre(input, axes, keepdim)) if with_mean else y


_spread("var", _variance, False)
_spread("std", _deviation, False)
_spread("var_mean", _variance, True)
_spread("std_mean", _deviation, True)


@offered("trace")
def trace(input: K.Input) -> Native:
    """Return the sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: got a tensor of {input.ndim} axes; give a matrix")
    if kind_of(input) == "b":
        raise NotImplementedError("trace() of booleans; write x.int().trace()")
    return reductions.sum_over(K.summed(ns.diagonal(input)), axis=(0,), keepdims=False)


# -- extremes --------------------------------------------------------------------------------------

Max, Min = results("max", "values", "indices"), results("min", "values", "indices")
_OVER = {"max": reductions.max_over, "min": reductions.min_over}


def _check_elements(x: Native, name: str) -> None:
    if 0 in x.shape:
        raise RuntimeError(f"{name}(): there are no elements to choose from; give dim=")


def _extreme(name: str, kind: Any) -> Callable[..., Any]:
    """Return `max` or `min`: of all elements, along an axis with positions, or of two tensors."""
    of_all = getattr(conventions, f"{name}_of_all")
    op = getattr(conventions, f"{name}imum").op
    position = getattr(ns, f"arg{name}")
    label = f"{name.title()}Backward1"

    def whole(input: K.Ordered, dim: K.Axes = None, keepdim: K.Bool = False) -> Native:
        _check_elements(input, name)
        return of_all(input, axis=dim, keepdims=False)

    def along(input: K.Real, dim: K.Axis, keepdim: K.Bool = False) -> Any:
        lines = lines_of(input)
        check_some(lines, (dim,), name)
        positions = position(lines, axis=dim, keepdims=True)
        return picked(lines, positions, dim, keepdim, kind, input.shape)

    def pair(input: K.Promoted, other: K.Promoted) -> Native:
        if kind_of(input) == "c":
            raise RuntimeError(f"{name}imum: complex numbers have no order; write x.abs()")
        return apply(op, (input, other), {})

    of_elements = _reduction(of_all, (label, label), 3)(whole)
    of_lines = guarded(along, f"{name.title()}Backward0")
    of_two = guarded(pair, f"{name.title()}imumBackward0")

    @named(name, f"Return the {name}imum of all, along an axis with its index, or of two tensors.")
    def call(input: Any, *args: Any, **options: Any) -> Any:
        if not args and not options:
            return of_elements(input)
        if "other" in options or (len(args) == 1 and isinstance(args[0], Tensor)):
            return of_two(input, *args, **options)
        if not args and options.keys() <= {"out"}:
            return of_elements(input, **options)
        return of_lines(input, *args, **options)

    return call


put(("max", "Tensor.max"), _extreme("max", Max))
put(("min", "Tensor.min"), _extreme("min", Min))


def _shared(name: str) -> Callable[..., Any]:
    """Return `amax` or `amin`, where equal elements share the derivative."""
    label = f"A{name}Backward0"

    @named(f"a{name}", f"Return the {name}imum over all axes or some; ties share gradients.")
    def shared(input: K.Ordered, dim: K.Axes = (), keepdim: K.Bool = False) -> Native:
        if len(dim) == input.ndim:
            _check_elements(input, f"a{name}")
        check_some(input, dim, f"a{name}")
        return _OVER[name](input, axis=dim, keepdims=keepdim)

    return _reduction(_OVER[name], (label, label))(shared)


put(("amax", "Tensor.amax"), _shared("max"))
put(("amin", "Tensor.amin"), _shared("min"))


def _position(name: str) -> None:
    """Offer `argmax` or `argmin`."""
    find = getattr(ns, name)

    @offered(name)
    @named(name, f"Return the index of the {name[3:]}imum, in the flat tensor or along dim.")
    def position(
        input: Annotated[Native, K.tensor("iuf")], dim: K.Axis | None = None,
        keepdim: K.Bool = False,
    ) -> Native:  # fmt: skip
        if dim is None:
            if 0 in input.shape:
                raise IndexError(f"{name}(): there are no elements to choose from; give dim=")
            return find(input, axis=None, keepdims=keepdim and input.ndim > 0)
        lines = lines_of(input)
        check_some(lines, (dim,), name)
        found = find(lines, axis=dim, keepdims=keepdim)
        return found if input.ndim else ns.reshape(found, ())


def _truth(name: str) -> None:
    """Offer `all` or `any`."""
    reduce = getattr(ns, name)

    @offered(name)
    @named(name, f"Return whether {name} elements over all axes or some are not zero.")
    def truth(input: K.Input, dim: K.NamedAxes | None = None, keepdim: K.Bool = False) -> Native:
        found = reduce(input, axis=dim, keepdims=keepdim)
        kind = input._raw.dtype
        return astype(found, kind if kind == np.uint8 else np.dtype(bool))


for _name in ("argmax", "argmin"):
    _position(_name)
for _name in ("all", "any"):
    _truth(_name)


@offered("count_nonzero")
def count_nonzero(input: K.Input, dim: K.Axes = None) -> Native:
    """Return how many elements over all axes or some are not zero."""
    return astype(ns.count_nonzero(input, axis=dim), np.dtype(np.int64))
