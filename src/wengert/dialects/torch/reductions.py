"""Sums, means, extremes, norms and cumulative functions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import (
    accumulated,
    axes_of,
    axis_of,
    check_real,
    check_some,
    given_axes,
    kept_shape,
    kind_of,
    labelled,
    lines_of,
    picked,
    tensor_of,
    truth,
    type_name,
    unable,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import guarded, offered, put
from wengert.dialects.torch.tensors import (
    LABELS,
    Tensor,
    astype,
    fast,
    ns,
    promoted,
    static,
)
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import reductions

#: All axes of an array, by how many it has.
_ALL_AXES = [tuple(range(ndim)) for ndim in range(65)]


# -- sums ------------------------------------------------------------------------------------------


def _sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum over all axes or some."""
    x = accumulated(tensor_of(input), dtype)
    y = reductions.sum_over(x, axis=axes_of(dim, x.ndim), keepdims=truth(keepdim))
    return y if dim is None else labelled(y, "SumBackward1")


def _mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean over all axes or some."""
    x = tensor_of(input) if dtype is None else astype(tensor_of(input), dtypes.to_numpy(dtype))
    if kind_of(x) not in "fc":
        raise RuntimeError(
            "mean(): whole numbers have no mean of their own dtype, and this is a "
            f"{type_name(x)}; write x.float().mean(), or give dtype="
        )
    axes = axes_of(dim, x.ndim)
    if math.prod(x.shape[a] for a in axes):
        y = reductions.mean_over(x, axis=axes, keepdims=truth(keepdim))
    else:
        y = reductions.sum_over(x, axis=axes, keepdims=truth(keepdim)) * math.nan
    return y if dim is None else labelled(y, "MeanBackward1")


def _quick(operation: Any, function: Any, depth: int = 1) -> Any:
    """Return a reduction that goes the short way for real numbers with fractions.

    `function` does all else, with PyTorch's arguments. `depth` is how many frames up the program
    is.
    """
    name = function.__name__.strip("_")
    labels = LABELS_OF[name]
    slow = guarded(function, labels[0])

    quickly = fast(operation.op, lambda *_: NotImplemented, "f", depth + 1)
    LABELS.setdefault(operation.op.name, labels[0])

    def call(
        input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None, **options: Any
    ) -> Any:
        result: Any = NotImplemented
        if out is None and not options and type(keepdim) is bool and type(input) is Tensor:
            ndim = input._raw.ndim
            if dim is None:
                result = quickly(input, axis=_ALL_AXES[ndim], keepdims=keepdim)
            elif type(dim) is int and -ndim <= dim < ndim:
                result = quickly(input, axis=(dim % ndim,), keepdims=keepdim)
        if result is NotImplemented:
            given = {} if dim is None else {"dim": dim}
            given |= {} if keepdim is False else {"keepdim": keepdim}
            return slow(input, out=out, **given, **options)
        if dim is not None and result._node is not None:
            result._node.label = labels[1]
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


#: What PyTorch calls the nodes of a reduction over all axes, and over some.
LABELS_OF = {
    "sum": ("SumBackward0", "SumBackward1"),
    "mean": ("MeanBackward0", "MeanBackward1"),
    "prod": ("ProdBackward0", "ProdBackward1"),
    "amax": ("AmaxBackward0", "AmaxBackward0"),
    "amin": ("AminBackward0", "AminBackward0"),
    "max": ("MaxBackward1", "MaxBackward0"),
    "min": ("MinBackward1", "MinBackward0"),
}


def _prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the product over all axes or one."""
    x = accumulated(tensor_of(input), dtype)
    axes = axes_of(None if dim is None else axis_of(dim, x.ndim), x.ndim)
    y = conventions.prod(x, axis=axes, keepdims=truth(keepdim))
    return y if dim is None else labelled(y, "ProdBackward1")


put(("sum", "Tensor.sum"), _quick(reductions.sum_over, _sum))
put(("mean", "Tensor.mean"), _quick(reductions.mean_over, _mean))
put(("prod", "Tensor.prod"), _quick(conventions.prod, _prod))


def _without_nan(x: Native) -> Native:
    return ns.where(ns.isnan(x), wrap_native(np.zeros((), x.dtype)), x)


@offered("nansum")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum over all axes or some, where NaN counts as 0."""
    x = accumulated(tensor_of(input), dtype)
    if kind_of(x) == "c":
        raise RuntimeError("nansum() is not defined for complex numbers; write x.real.nansum()")
    x = _without_nan(x) if kind_of(x) == "f" else x
    return reductions.sum_over(x, axis=axes_of(dim, x.ndim), keepdims=truth(keepdim))


@offered("nanmean", label="DivBackward0")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean over all axes or some of what is not NaN."""
    x = tensor_of(input)
    if kind_of(x) not in "fc":
        raise RuntimeError(
            f"nanmean(): got a {type_name(x)}, without fractions; write x.float().nanmean()"
        )
    x = accumulated(x, dtype)
    if kind_of(x) == "c":
        raise RuntimeError("nanmean() is not defined for complex numbers; write x.real.nanmean()")
    axes, keep = axes_of(dim, x.ndim), truth(keepdim)
    there = ns.logical_not(ns.isnan(x))
    count = ns.astype(ns.count_nonzero(there, axis=axes, keepdims=keep), x.dtype)
    total = reductions.sum_over(_without_nan(x), axis=axes, keepdims=keep)
    with np.errstate(invalid="ignore"):
        return ns.divide(total, count)


@offered("Tensor.sum_to_size", label="SumBackward1")
def sum_to_size(input: Any, *size: Any) -> Any:
    """Return the sum over those axes along which `size` would be broadcast."""
    x = tensor_of(input)
    shape = tuple(static(size[0] if len(size) == 1 and not isinstance(size[0], int) else size))
    try:
        fits = np.broadcast_shapes(shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"{list(x.shape)} does not sum to {list(shape)}, which must broadcast to it"
        )
    lead = x.ndim - len(shape)
    axes = (*range(lead), *(lead + i for i, n in enumerate(shape) if n != x.shape[lead + i]))
    if not axes:
        return input
    if x._raw.dtype.kind == "b":
        x = astype(x, np.dtype(np.int64))
    return ns.reshape(reductions.sum_over(x, axis=axes, keepdims=True), shape)


# -- spread ----------------------------------------------------------------------------------------


def _correction(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, Any]:
    """Return the axes and the correction that the arguments of `var` mean."""
    if isinstance(dim, bool):  # var(input, unbiased)
        if unbiased is not None:
            raise TypeError("var(): got two truth values; give one, unbiased")
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError("var(): unbiased and correction say the same; give one of them")
    if unbiased is not None:
        return dim, int(truth(unbiased, "unbiased"))
    return dim, 1 if correction is None else correction


def _variance(x: Native, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Native:
    if kind_of(x) == "c":
        parts = [_variance(p, axes, correction, keepdim) for p in (ns.real(x), ns.imag(x))]
        return ns.add(*parts)
    count = math.prod(x.shape[a] for a in axes)
    if count > correction:
        return reductions.var_over(x, axis=axes, keepdims=keepdim, correction=correction)
    warnings.warn(
        "var(): the correction is as large as the number of elements or larger, so the result "
        "is nan or infinite; give more elements, or correction=0",
        stacklevel=4,
    )
    with np.errstate(all="ignore"):
        away = x - _centre(x, axes) if count else x
        total = reductions.sum_over(ns.square(away), axis=axes, keepdims=keepdim)
        return ns.divide(total, wrap_native(np.zeros((), x.dtype)))


def _centre(x: Native, axes: tuple[int, ...], keepdim: bool = True) -> Native:
    if math.prod(x.shape[a] for a in axes):
        return reductions.mean_over(x, axis=axes, keepdims=keepdim)
    return reductions.sum_over(x, axis=axes, keepdims=keepdim) * math.nan


def _deviation(x: Native, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Native:
    count = math.prod(x.shape[a] for a in axes)
    if kind_of(x) == "f" and count > correction:
        return reductions.std_over(x, axis=axes, keepdims=keepdim, correction=correction)
    return apply(conventions.root.op, (_variance(x, axes, correction, keepdim),), {})


def _spread(
    compute: Any, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any
) -> tuple[Native, Native, tuple[int, ...]]:
    """Return the variance or the deviation, the tensor, and the axes."""
    x = tensor_of(input)
    if kind_of(x) not in "fc":
        raise RuntimeError(
            f"std and var need fractions, and this is a {type_name(x)}; write x.float() first"
        )
    dim, correction = _correction(dim, unbiased, correction)
    axes = axes_of(dim, x.ndim)
    return compute(x, axes, correction, truth(keepdim)), x, axes


@offered("var")
def var(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Return the variance over all axes or some, dividing by the count less `correction`."""
    return _spread(_variance, input, dim, unbiased, keepdim, correction)[0]


@offered("std")
def std(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Return the standard deviation over all axes or some."""
    return _spread(_deviation, input, dim, unbiased, keepdim, correction)[0]


@offered("var_mean", method=False)
def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Return the variance and the mean."""
    y, x, axes = _spread(_variance, input, dim, unbiased, keepdim, correction)
    return y, _centre(x, axes, keepdim)


@offered("std_mean", method=False)
def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Return the standard deviation and the mean."""
    y, x, axes = _spread(_deviation, input, dim, unbiased, keepdim, correction)
    return y, _centre(x, axes, keepdim)


@offered("logsumexp")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over some axes."""
    x = tensor_of(input)
    x = astype(x, dtypes.floating(x._raw.dtype))
    axes, keep = given_axes(dim, x.ndim), truth(keepdim)
    if not axes and x.ndim:
        raise RuntimeError("logsumexp: got no dim; name at least one, such as dim=0")
    if kind_of(x) == "c":
        top = wrap_native(ns.real(x)._raw.max(axis=axes, keepdims=True, initial=-math.inf))
        y = ns.log(reductions.sum_over(ns.exp(x - top), axis=axes, keepdims=True)) + top
        return ns.reshape(y, kept_shape(x.shape, axes, keep))
    return ns.special.logsumexp(x, axis=axes, keepdims=keep)


@offered("trace")
def trace(input: Any) -> Any:
    """Return the sum of a matrix's diagonal."""
    x = tensor_of(input)
    if x.ndim != 2:
        raise RuntimeError(f"trace: got a tensor of {x.ndim} axes; give a matrix")
    if kind_of(x) == "b":
        raise unable("trace", x)
    return reductions.sum_over(accumulated(ns.diagonal(x), None), axis=(0,), keepdims=False)


# -- extremes --------------------------------------------------------------------------------------

Max, Min = results("max", "values", "indices"), results("min", "values", "indices")
MinMax = results("aminmax", "min", "max")


def _whole(name: str, x: Native) -> Native:
    if kind_of(x) == "c":
        raise unable(f"{name}_all", x)
    if 0 in x.shape:
        raise RuntimeError(f"{name}(): there are no elements to choose from; give dim=")
    of_all = getattr(conventions, f"{name.removeprefix('a')}_of_all")
    y: Native = of_all(x, axis=axes_of(None, x.ndim), keepdims=False)
    return labelled(y, f"{name.title()}Backward1")


def _extreme(name: str, x: Native, axes: tuple[int, ...], keepdim: bool) -> Native:
    return getattr(reductions, f"{name}_over")(x, axis=axes, keepdims=keepdim)


def _along(name: str, x: Native, dim: Any, keepdim: Any, kind: Any) -> Any:
    lines, axis = lines_of(x, dim)
    check_real(x, name)
    check_some(lines, (axis,), name)
    places = getattr(ns, f"arg{name}")(lines, axis=axis, keepdims=True)
    return picked(lines, places, axis, truth(keepdim), kind, x.shape)


def _of_two(name: str, input: Any, other: Any) -> Native:
    pair = promoted(tensor_of(input), tensor_of(other, "other"))
    if kind_of(pair[0]) == "c":
        raise RuntimeError(f"{name}imum: complex numbers have no order; write x.abs() or x.real")
    op = getattr(conventions, f"{name}imum").op
    return labelled(apply(op, tuple(pair), {}), f"{name.title()}imumBackward0")


_NOT_GIVEN: Any = object()


def _extreme_function(name: str, kind: Any) -> Any:
    def call(
        input: Any, dim: Any = _NOT_GIVEN, keepdim: Any = _NOT_GIVEN, *, other: Any = None
    ) -> Any:
        if isinstance(dim, Tensor) and keepdim is _NOT_GIVEN:
            other = dim
        if other is not None:
            return _of_two(name, input, other)
        if dim is not _NOT_GIVEN:
            keep = False if keepdim is _NOT_GIVEN else keepdim
            return _along(name, tensor_of(input), dim, keep, kind)
        if keepdim is not _NOT_GIVEN:
            raise TypeError(f"{name}() takes keepdim together with dim; write dim=0 or the like")
        return _whole(name, tensor_of(input))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the {name}imum of all, along an axis with its place, or of two tensors."
    return call


def _quick_extreme(name: str, kind: Any) -> Any:
    """Return the function of all elements that goes the short way, and else another."""
    function = _extreme_function(name, kind)
    slow = guarded(function, f"{name.title()}Backward0")
    whole = _quick(getattr(conventions, f"{name}_of_all"), function, 2)

    def call(input: Any, *args: Any, **options: Any) -> Any:
        return slow(input, *args, **options) if args or options else whole(input)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


put(("max", "Tensor.max"), _quick_extreme("max", Max))
put(("min", "Tensor.min"), _quick_extreme("min", Min))


def _shared(name: str) -> Any:
    def call(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
        x = tensor_of(input)
        if kind_of(x) == "c":
            raise unable(f"{name}_values_cpu", x)
        some = isinstance(dim, (tuple, list)) and not dim
        axes = axes_of(dim, x.ndim)
        if some and 0 in x.shape:
            _whole(f"a{name}", x)
        check_some(x, axes, f"a{name}")
        return _extreme(name, x, axes, truth(keepdim))

    call.__name__ = call.__qualname__ = f"a{name}"
    call.__doc__ = f"Return the {name}imum over all axes or some; equal elements share derivatives."
    return call


put(("amax", "Tensor.amax"), _quick(reductions.max_over, _shared("max")))
put(("amin", "Tensor.amin"), _quick(reductions.min_over, _shared("min")))


@offered("aminmax")
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the least and the greatest element over all axes or one."""
    x = tensor_of(input)
    if kind_of(x) == "c":
        raise unable("aminmax_cpu", x)
    if dim is None and 0 in x.shape:
        raise RuntimeError("aminmax(): there are no elements to choose from; name a dim")
    axes = axes_of(None if dim is None else axis_of(dim, x.ndim), x.ndim)
    check_some(x, axes, "aminmax")
    keep = truth(keepdim)
    return MinMax(_extreme("min", x, axes, keep), _extreme("max", x, axes, keep))


def _place(name: str) -> Any:
    def call(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = tensor_of(input)
        check_real(x, f"arg{name}")
        if kind_of(x) == "b":
            raise RuntimeError(f"arg{name}(): booleans have no order here; write x.int() first")
        keep = truth(keepdim)
        if dim is None:
            if 0 in x.shape:
                raise IndexError(f"arg{name}(): there are no elements to choose from; give dim=")
            return getattr(ns, f"arg{name}")(x, axis=None, keepdims=keep and x.ndim > 0)
        lines, axis = lines_of(x, dim)
        check_some(lines, (axis,), f"arg{name}")
        found = getattr(ns, f"arg{name}")(lines, axis=axis, keepdims=keep)
        return found if x.ndim else ns.reshape(found, ())

    call.__name__ = call.__qualname__ = f"arg{name}"
    call.__doc__ = f"Return the place of the {name}imum, in the flat tensor or along an axis."
    return call


offered("argmax")(_place("max"))
offered("argmin")(_place("min"))


def _truths(name: str) -> Any:
    def call(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = tensor_of(input)
        axes = axes_of(None, x.ndim) if dim is None else given_axes(dim, x.ndim)
        found = getattr(ns, name)(x, axis=axes, keepdims=truth(keepdim))
        kind = x._raw.dtype if x._raw.dtype == np.uint8 else np.dtype(bool)
        return astype(found, kind)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return whether {name} elements over all axes or some are not zero."
    return call


offered("all")(_truths("all"))
offered("any")(_truths("any"))


@offered("count_nonzero")
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Return how many elements over all axes or some are not zero."""
    x = tensor_of(input)
    return astype(ns.count_nonzero(x, axis=axes_of(dim, x.ndim)), np.dtype(np.int64))


# -- norms -----------------------------------------------------------------------------------------


def vector_norm(x: Native, p: float, axes: tuple[int, ...], keepdim: bool) -> Native:
    """Return the p-norm over some axes; its derivative is 0 where it is 0."""
    if p == 0:  # which PyTorch has a derivative of, zero
        ones = ns.square(apply(conventions.flat_sign.op, (ns.abs(x),), {}))
        return reductions.sum_over(ones, axis=axes, keepdims=keepdim)
    if abs(p) in (1, math.inf) and p != -1:  # these have a second derivative, which is zero
        size = apply(conventions.absolute.op, (x,), {})
        reduce = {
            1: reductions.sum_over,
            math.inf: reductions.max_over,
            -math.inf: reductions.min_over,
        }[p]
        return reduce(size, axis=axes, keepdims=keepdim)
    return ns.linalg.vector_norm(x, axis=axes, keepdims=keepdim, ord=p)


@offered("norm", label="LinalgVectorNormBackward0")
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """Return the p-norm over all axes or some, or a matrix's nuclear norm."""
    x = tensor_of(input)
    if kind_of(x) not in "fc":
        raise RuntimeError(f"norm: got a {type_name(x)}, without fractions; write x.float().norm()")
    x = x if dtype is None else astype(x, dtypes.to_numpy(dtype))
    keep = truth(keepdim)
    if p == "nuc":
        return _nuclear(x, dim, keep)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: p is {p}; write 'fro', 'nuc' or a number")
    order = 2.0 if p is None or p == "fro" else float(static(p))
    return vector_norm(x, order, axes_of(dim, x.ndim), keep)


def _nuclear(x: Native, dim: Any, keepdim: bool) -> Native:
    axes = axes_of(dim, x.ndim)
    if len(axes) != 2:
        raise RuntimeError(f"linalg.matrix_norm: expected two axes, got {len(axes)}; give dim=")
    y = ns.linalg.matrix_norm(ns.moveaxis(x, axes, (-2, -1)), ord="nuc")
    return labelled(ns.reshape(y, kept_shape(x.shape, axes, keepdim)), "SumBackward1")


@offered("frobenius_norm", method=False, label="LinalgVectorNormBackward0")
def frobenius_norm(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the root of the sum of squares over all axes or some."""
    x = tensor_of(input)
    return vector_norm(x, 2.0, axes_of(dim, x.ndim), truth(keepdim))


@offered("nuclear_norm", method=False, label="SumBackward1")
def nuclear_norm(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the sum of a matrix's singular values."""
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = None, dim
    return _nuclear(tensor_of(input), dim, truth(keepdim))


@offered("norm_except_dim", method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """Return the norms over all axes but one, which are kept."""
    x = tensor_of(v, "v")
    if dim == -1:
        return vector_norm(x, float(pow), axes_of(None, x.ndim), False)
    axis = axis_of(dim, x.ndim)
    return vector_norm(x, float(pow), tuple(i for i in range(x.ndim) if i != axis), True)


@offered("dist")
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """Return the p-norm of the difference of two tensors."""
    x, y = promoted(tensor_of(input), tensor_of(other, "other"))
    if kind_of(x) not in "fc":
        raise RuntimeError(f"dist(): got a {type_name(x)}, without fractions; write x.float()")
    away = ns.subtract(x, y)
    return vector_norm(away, float(p), axes_of(None, away.ndim), False)


@offered("renorm", in_place=True)
def renorm(input: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    """Return a tensor whose parts along an axis have a p-norm of at most `maxnorm`."""
    x = tensor_of(input)
    if p <= 0:
        raise RuntimeError(f"renorm: p is {p}; give a positive number")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: maxnorm is {maxnorm}; give 0 or more")
    if x.ndim < 2:
        raise RuntimeError(f"renorm: the tensor has {x.ndim} axes; give 2 or more")
    axis = axis_of(dim, x.ndim)
    lengths = vector_norm(x, float(p), tuple(i for i in range(x.ndim) if i != axis), True)
    shorter = ns.divide(maxnorm, lengths + 1e-7)
    return x * ns.where(lengths > maxnorm, shorter, ns.ones_like(lengths))
