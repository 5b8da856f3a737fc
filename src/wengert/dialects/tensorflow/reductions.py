"""tf.math along axes: reductions, running sums, segments and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.conventions import sqrt
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.kinds import (
    Axes,
    Axis,
    Bool,
    Booleans,
    Dtype,
    Floating,
    Input,
    Numbers,
    Real,
    tensor,
)
from wengert.dialects.tensorflow.math import whole_quotient
from wengert.dialects.tensorflow.table import offered, quick_call
from wengert.dialects.tensorflow.tensors import check_kind, convert, static
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops import reductions, segments, special
from wengert.transforms.gradients import stop_gradient

ns = Native._namespace


# -- reductions ---------------------------------------------------------------------------------


def _mean(x: Native, axis: Any, keepdims: bool) -> Native:
    count = math.prod(x.shape[a] for a in axis)
    if x.dtype.kind in "iu":
        total = reductions.sum_over(x, axis=axis, keepdims=keepdims)._raw
        return wrap(whole_quotient(total, np.asarray(max(count, 1), x.dtype)).astype(x.dtype))
    if not count:
        return reductions.sum_over(x, axis=axis, keepdims=keepdims) * np.asarray(np.nan, x.dtype)
    return reductions.mean_over(x, axis=axis, keepdims=keepdims)


def _extreme(name: str) -> Callable[..., Native]:
    over = getattr(reductions, f"{name}_over")

    def extreme(x: Native, axis: Any, keepdims: bool) -> Native:
        if all(x.shape[a] for a in axis):
            return over(x, axis=axis, keepdims=keepdims)
        limits: Any = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        least, most = (-np.inf, np.inf) if x.dtype.kind == "f" else (limits.min, limits.max)
        shape = ns.sum(x, axis=axis, keepdims=keepdims).shape
        return ns.full(shape, least if name == "max" else most, dtype=x.dtype)

    return extreme


def _euclidean_norm(x: Native, axis: Any, keepdims: bool) -> Native:
    squares = x * ns.conj(x) if x.dtype.kind == "c" else ns.square(x)
    total = reductions.sum_over(squares, axis=axis, keepdims=keepdims)
    if x.dtype.kind in "iu":
        return wrap(np.sqrt(total._raw.astype(np.float64)).astype(x.dtype))
    return ns.sqrt(total)


def _variance(x: Native, axis: Any, keepdims: bool) -> Native:
    check_kind(x, "fc", "reduce_variance")
    if any(x.shape[a] == 0 for a in axis):
        return _mean(ns.real(x) if x.dtype.kind == "c" else x, axis, keepdims)
    if x.dtype.kind == "c":
        away = x - _mean(x, axis, True)
        return _mean(ns.square(ns.real(away)) + ns.square(ns.imag(away)), axis, keepdims)
    return reductions.var_over(x, axis=axis, keepdims=keepdims, correction=0)


def _std(x: Native, axis: Any, keepdims: bool) -> Native:
    return sqrt(_variance(x, axis, keepdims))  # where all are equal, not differentiable


def _reduction(
    name: str, kind: Any, compute: Any, doc: str, operation: Any = None, differs: str = ""
) -> None:
    """Offer a reduction; an `operation` is called at once for tensors of the usual kinds."""

    def reduce(input_tensor: Any, axis: Axes = None, keepdims: Bool = False) -> Any:
        return compute(input_tensor, axis=axis, keepdims=keepdims)

    reduce.__annotations__["input_tensor"] = kind
    reduce.__doc__, reduce.__name__ = f"Return the {doc} over all axes or some.", name
    names = (f"math.{name}",) if name in _ONLY_IN_MATH else (f"math.{name}", name)
    quick = None
    if operation is not None:
        quick = quick_call(operation, {"axis": "axis", "keepdims": "keepdims"})
    offered(*names, quick=quick, differs=differs)(reduce)


_ONLY_IN_MATH = ("reduce_std", "reduce_variance", "reduce_euclidean_norm")
_Spread = Annotated[Native, tensor("bfc", TypeError)]
_reduction("reduce_sum", Numbers, reductions.sum_over, "sum", reductions.sum_over)
_reduction(
    "reduce_prod", Numbers, reductions.prod_over, "product", reductions.prod_over,
    "the second derivative of complex numbers is that of the product written out",
)  # fmt: skip
_reduction("reduce_mean", Numbers, _mean, "mean, of whole numbers a whole number,")
_reduction("reduce_max", Real, _extreme("max"), "largest element, where ties share,")
_reduction("reduce_min", Real, _extreme("min"), "smallest element, where ties share,")
_reduction(
    "reduce_logsumexp", Floating, special.logsumexp_over, "log(sum(exp(x)))", None,
    "the gradient where all elements are -inf is shared evenly, and not NaN",
)  # fmt: skip
_reduction("reduce_std", _Spread, _std, "standard deviation")
_reduction("reduce_variance", _Spread, _variance, "variance")
_reduction("reduce_euclidean_norm", Numbers, _euclidean_norm, "root of the sum of squares")
_reduction("reduce_all", Booleans, ns.all, "truth of all elements")
_reduction("reduce_any", Booleans, ns.any, "truth of any element")


@offered("math.count_nonzero")
def count_nonzero(
    input: Input, axis: Axes = None, keepdims: Bool = False, dtype: Dtype = dtypes.int64
) -> Native:
    """Return how many elements are not 0."""
    return ns.astype(ns.count_nonzero(input, axis=axis, keepdims=keepdims), dtype)


def _position(name: str, ufunc: Any, instead: float) -> None:
    """Offer `argmax` or `argmin`; NaN counts as `instead`, so that it is the first or none."""

    def position(
        input: Annotated[Native, tensor("biuf")], axis: Axis = 0, output_type: Any = dtypes.int64
    ) -> Native:
        kind = as_dtype(output_type)
        if kind.name not in ("int64", "int32", "int16", "uint16"):
            raise invalid(f"output_type is {output_type!r}; expected tf.int64 or tf.int32")
        if not input.shape[axis]:
            raise invalid(f"axis {axis} of shape {list(input.shape)} has no elements")
        raw = input._raw
        if raw.dtype.kind == "f":
            raw = np.where(np.isnan(raw), np.asarray(instead, raw.dtype), raw)
        return wrap(np.asarray(ufunc(raw, axis=axis)).astype(kind._numpy))

    position.__doc__ = f"Return the index of the first {name[3:]}imum along an axis."
    position.__name__ = name
    offered(f"math.{name}", name)(position)


_position("argmax", np.argmax, -np.inf)
_position("argmin", np.argmin, np.inf)


# -- cumulative sums and products -----------------------------------------------------------------


def _cumulative(
    names: tuple[str, ...], kind: Any, compute: Any, blank: float, doc: str, differs: str = ""
) -> None:
    """Offer a running total: without each element itself if `exclusive`, from the end."""

    def call(x: Any, axis: Axis = 0, exclusive: Bool = False, reverse: Bool = False) -> Native:
        if reverse:
            x = ns.flip(x, axis=axis)
        if exclusive and x.shape[axis]:
            key = (slice(None),) * axis
            first = ns.full_like(x[(*key, slice(0, 1))], blank)
            x = ns.concat([first, x[(*key, slice(0, -1))]], axis=axis)
        total = compute(x, axis=axis)
        return ns.flip(total, axis=axis) if reverse else total

    call.__annotations__["x"] = kind
    call.__doc__, call.__name__ = f"Return {doc} along an axis.", names[0].rpartition(".")[2]
    offered(*names, differs=differs)(call)


def _in_own_dtype(function: Any) -> Callable[..., Native]:
    return lambda x, axis: function(x, axis=axis, dtype=x.dtype)


_cumulative(
    ("math.cumsum", "cumsum"), Numbers, _in_own_dtype(ns.cumulative_sum), 0, "cumulative sums"
)
_cumulative(
    ("math.cumprod",), Numbers, _in_own_dtype(ns.cumulative_prod), 1, "cumulative products",
    "where an element is 0 the gradient is that of the products, and not 0; of complex numbers it "
    "is conjugated, as those of all other functions are",
)  # fmt: skip
_cumulative(
    ("math.cumulative_logsumexp",), Floating, ns.cumulative_logsumexp, -np.inf,
    "logarithms of cumulative sums of exponentials",
)  # fmt: skip


# -- segments -----------------------------------------------------------------------------------


def _ids(segment_ids: Any) -> np.ndarray:
    ids = convert(segment_ids)
    check_kind(ids, "iu", "Segment")
    return np.asarray(ids._raw)


def _sorted(
    function: Any, data: Any, segment_ids: Any, kinds: str, op: str, of_none: int | None = None
) -> Native:
    """Return a function of each segment, of ids in order; `of_none` of those without rows."""
    x, ids = convert(data), _ids(segment_ids)
    check_kind(x, kinds, op)
    if ids.ndim != 1 or not x.ndim or ids.shape[0] != x.shape[0]:
        raise invalid(
            f"segment_ids of shape {list(ids.shape)} for data of {list(x.shape)}; expected an "
            "id for each row"
        )
    if (np.diff(ids) < 0).any():
        raise invalid("the ids go down somewhere; write tf.math.unsorted_" + op.lower())
    if ids.size and ids[0] < 0:
        raise invalid(f"the first id is {ids[0]}; expected 0 or more")
    found = function(x, ids)
    if of_none is None:
        return found
    return _filled(found, ids, of_none)


def _filled(found: Native, ids: np.ndarray, value: Any) -> Native:
    """Return results of segments with a value for those that have no rows."""
    empty = np.bincount(ids.reshape(-1), minlength=found.shape[0])[: found.shape[0]] == 0
    if not empty.any():
        return found
    empty = empty.reshape(-1, *[1] * (found.ndim - 1))
    return ns.where(empty, np.asarray(value, found.dtype), found)


def _sum_of(x: Native, ids: Any, count: int | None = None) -> Native:
    return ns.astype(segments.segment_sum(x, ids, num_segments=count), x.dtype, copy=False)


def _prod_of(x: Native, ids: Any, count: int | None = None) -> Native:
    return ns.astype(segments.segment_prod(x, ids, num_segments=count), x.dtype, copy=False)


def _mean_of(x: Native, ids: Any, count: int | None = None) -> Native:
    if x.dtype.kind not in "iu":
        return segments.segment_mean(x, ids, num_segments=count)
    total = _sum_of(x, ids, count)._raw
    sizes = np.maximum(np.bincount(ids, minlength=total.shape[0]), 1)
    return wrap(whole_quotient(total, sizes.reshape(-1, *[1] * (x.ndim - 1))).astype(x.dtype))


def _max_of(x: Native, ids: Any, count: int | None = None) -> Native:
    return segments.segment_max(x, ids, num_segments=count)


def _min_of(x: Native, ids: Any, count: int | None = None) -> Native:
    return segments.segment_min(x, ids, num_segments=count)


@offered("math.segment_sum")
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the sum of the rows of each segment."""
    return _sorted(_sum_of, data, segment_ids, "iufc", "Segment_sum")


@offered("math.segment_prod")
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the product of the rows of each segment."""
    return _sorted(_prod_of, data, segment_ids, "iufc", "Segment_prod")


@offered("math.segment_mean")
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the mean of the rows of each segment."""
    return _sorted(_mean_of, data, segment_ids, "iufc", "Segment_mean")


@offered("math.segment_max")
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the largest of the rows of each segment; 0 of one without rows."""
    return _sorted(_max_of, data, segment_ids, "iuf", "Segment_max", 0)


@offered("math.segment_min")
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the smallest of the rows of each segment; 0 of one without rows."""
    return _sorted(_min_of, data, segment_ids, "iuf", "Segment_min", 0)


def _unsorted(
    function: Any, data: Any, segment_ids: Any, num_segments: Any, kinds: str, op: str
) -> tuple[Native, np.ndarray]:
    """Return a function of each segment, of ids in any order, and the ids; negative ones drop."""
    x, ids, count = convert(data), _ids(segment_ids), static(num_segments)
    check_kind(x, kinds, op)
    if type(count) is not int or count < 0:
        raise invalid(f"num_segments is {num_segments!r}; expected a whole number from 0")
    if x.shape[: ids.ndim] != ids.shape:
        raise invalid(
            f"segment_ids of shape {list(ids.shape)} for data of shape {list(x.shape)}; expected "
            "its first axes"
        )
    rest = x.shape[ids.ndim :]
    flat = ids.reshape(-1)
    if flat.size and flat.max() >= count:
        place = int(np.argmax(flat >= count))
        raise invalid(f"id {flat[place]}, at place {place}, of {count} segments")
    rows = ns.reshape(x, (flat.size, *rest))
    if flat.size and flat.min() < 0:  # dropped: a segment more, and then not
        flat = np.where(flat < 0, count, flat)
        return function(rows, flat, count + 1)[:count], flat
    return function(rows, flat, count), flat


@offered("math.unsorted_segment_sum")
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the sum of the rows of each segment."""
    return _unsorted(_sum_of, data, segment_ids, num_segments, "iufc", "UnsortedSegmentSum")[0]


@offered("math.unsorted_segment_prod")
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the product of the rows of each segment."""
    return _unsorted(_prod_of, data, segment_ids, num_segments, "iufc", "UnsortedSegmentProd")[0]


@offered("math.unsorted_segment_mean")
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the mean of the rows of each segment; 0 of one without rows."""
    found, sizes = _sum_and_sizes(data, segment_ids, num_segments)
    return found / sizes.astype(found.dtype)


@offered("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the sum of the rows of each segment over the square root of how many there are."""
    check_kind(convert(data), "fc", "Sqrt")
    found, sizes = _sum_and_sizes(data, segment_ids, num_segments)
    return found / np.sqrt(sizes).astype(found.dtype)


def _sum_and_sizes(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Native, np.ndarray]:
    found, ids = _unsorted(_sum_of, data, segment_ids, num_segments, "iufc", "UnsortedSegmentSum")
    if found.dtype.kind in "iu":
        found = ns.astype(found, np.float64)
    sizes = np.maximum(np.bincount(ids, minlength=found.shape[0])[: found.shape[0]], 1)
    return found, sizes.reshape(-1, *[1] * (found.ndim - 1))


def _limit(dtype: Any, which: str) -> Any:
    return getattr(np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype), which)


@offered("math.unsorted_segment_max")
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the largest of the rows of each segment; the least number of one without rows."""
    found, ids = _unsorted(_max_of, data, segment_ids, num_segments, "iuf", "UnsortedSegmentMax")
    return _filled(found, ids, _limit(found.dtype, "min"))


@offered("math.unsorted_segment_min")
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the smallest of the rows of each segment; the greatest number of one without rows."""
    found, ids = _unsorted(_min_of, data, segment_ids, num_segments, "iuf", "UnsortedSegmentMin")
    return _filled(found, ids, _limit(found.dtype, "max"))


# -- counts -------------------------------------------------------------------------------------


@offered("math.bincount", raises=(ValueError,), differs="weights have a gradient")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """Return how often there is each of 0, 1, 2, ..., or the sum of its weights.

    With axis=-1, for each row of a matrix.
    """
    values = np.asarray(stop_gradient(convert(arr))._raw).astype(np.int64)
    if axis not in (None, 0, -1):
        raise ValueError(f"axis is {axis}; expected 0 or -1")
    if values.size and values.min() < 0:
        raise invalid("arr has negative numbers; expected counts from 0")
    count = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        count = max(count, int(static(minlength)))
    if maxlength is not None:
        count = min(count, int(static(maxlength)))
    weighed = None if weights is None else convert(weights)
    if weighed is not None and weighed.shape != values.shape:
        raise invalid(f"weights of shape {weighed.shape} for arr of shape {values.shape}")
    by_row = axis == -1 and values.ndim == 2
    rows = len(values) if by_row else 1
    ids = np.where(values < count, values, count)
    if by_row:
        ids = ids + np.arange(rows)[:, None] * (count + 1)
    if weighed is None or binary_output:
        found: Any = np.bincount(ids.reshape(-1), minlength=rows * (count + 1))
        found = np.minimum(found, 1) if binary_output else found
        kind = as_dtype(dtype)._numpy if weighed is None else weighed.dtype
        found = wrap(found.astype(kind))
    else:
        flat = ns.reshape(weighed, (-1,))
        found = _sum_of(flat, ids.reshape(-1), rows * (count + 1))
    found = ns.reshape(found, (rows, count + 1))[:, :count]
    return found if by_row else found[0]


@offered("math.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Return how often each class, by rows, was taken for each class, by columns."""
    rows, columns = (np.asarray(convert(v)._raw).astype(np.int64) for v in (labels, predictions))
    rows, columns = _squeezed(rows, columns)
    for what, values in (("labels", rows), ("predictions", columns)):
        if values.size and values.min() < 0:
            raise invalid(f"{what} has negative numbers; expected classes from 0")
    highest = max((int(v.max()) for v in (rows, columns) if v.size), default=-1)
    count = highest + 1 if num_classes is None else int(static(num_classes))
    for what, values in (("labels", rows), ("predictions", columns)):
        if values.size and values.max() >= count:
            raise invalid(f"{what} has class {values.max()} of {count} classes")
    kind = as_dtype(dtype)._numpy
    if rows.shape != columns.shape:
        raise invalid(f"labels of shape {rows.shape} for predictions of shape {columns.shape}")
    weighed = ns.ones(rows.shape, dtype=kind) if weights is None else convert(weights)
    if weighed.shape != rows.shape:
        raise invalid(f"weights of shape {weighed.shape} for labels of shape {rows.shape}")
    weighed = ns.astype(weighed, kind, copy=False)
    flat = _sum_of(weighed, (rows * count + columns).reshape(-1), count * count)
    return ns.reshape(flat, (count, count))


def _squeezed(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays, one without a last axis of length 1 that the other does not have."""
    if rows.ndim - columns.ndim == 1 and rows.shape[-1] == 1:
        rows = rows[..., 0]
    elif columns.ndim - rows.ndim == 1 and columns.shape[-1] == 1:
        columns = columns[..., 0]
    return rows, columns
