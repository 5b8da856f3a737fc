"""tf.math along axes: reductions, running sums, segments and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow.conventions import sqrt
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import invalid, unfit
from wengert.dialects.tensorflow.math import whole_quotient
from wengert.dialects.tensorflow.table import offered, quick_call
from wengert.dialects.tensorflow.tensors import Native, check_kind, ns, wrap
from wengert.ops import reductions, segments, special

# -- reductions ---------------------------------------------------------------------------------


def mean_of(x: Native, axis: Any, keepdims: bool) -> Native:
    """Return the mean, of whole numbers rounded towards 0."""
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
        limits: Any = (
            backends.finfo(x.dtype) if backends.kind_of(x.dtype) == "f" else np.iinfo(x.dtype)
        )
        least, most = (
            (-np.inf, np.inf) if backends.kind_of(x.dtype) == "f" else (limits.min, limits.max)
        )
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
        return mean_of(ns.real(x) if x.dtype.kind == "c" else x, axis, keepdims)
    return reductions.var_over(x, axis=axis, keepdims=keepdims, correction=0)


def _std(x: Native, axis: Any, keepdims: bool) -> Native:
    return sqrt(_variance(x, axis, keepdims))  # where all are equal, not differentiable


def _reduction(
    name: str, kind: Any, compute: Any, doc: str, operation: Any = None, differs: str = ""
) -> None:
    """Offer a reduction; an `operation` is called at once for tensors of the usual kinds."""
    names = (f"math.{name}",) if name in _ONLY_IN_MATH else (f"math.{name}", name)
    given = {"axis": "axis", "keepdims": "keepdims"}
    quick = None if operation is None else quick_call(operation, given)
    doc = f"Return the {doc} over all axes or some."

    @offered(*names, quick=quick, differs=differs, doc=doc, input_tensor=kind)
    def reduce(input_tensor: Any, axis: K.Axes = None, keepdims: K.Bool = False) -> Any:
        return compute(input_tensor, axis=axis, keepdims=keepdims)


_ONLY_IN_MATH = ("reduce_std", "reduce_variance", "reduce_euclidean_norm")
_Spread = Annotated[Native, K.tensor("bfc", TypeError)]
_reduction("reduce_sum", K.Numbers, reductions.sum_over, "sum", reductions.sum_over)
_reduction(
    "reduce_prod", K.Numbers, reductions.prod_over, "product", reductions.prod_over,
    "the second derivative of complex numbers is that of the product written out",
)  # fmt: skip
_reduction("reduce_mean", K.Numbers, mean_of, "mean, of whole numbers a whole number,")
_reduction("reduce_max", K.Real, _extreme("max"), "largest element, where ties share,")
_reduction("reduce_min", K.Real, _extreme("min"), "smallest element, where ties share,")
_reduction(
    "reduce_logsumexp", K.Floating, special.logsumexp_over, "log(sum(exp(x)))", None,
    "the gradient where all elements are -inf is shared evenly, and not NaN",
)  # fmt: skip
_reduction("reduce_std", _Spread, _std, "standard deviation")
_reduction("reduce_variance", _Spread, _variance, "variance")
_reduction("reduce_euclidean_norm", K.Numbers, _euclidean_norm, "root of the sum of squares")
_reduction("reduce_all", K.Booleans, ns.all, "truth of all elements")
_reduction("reduce_any", K.Booleans, ns.any, "truth of any element")


@offered("math.count_nonzero")
def count_nonzero(
    input: K.Input, axis: K.Axes = None, keepdims: K.Bool = False, dtype: K.Dtype = dtypes.int64
) -> Native:
    """Return how many elements are not 0."""
    return ns.astype(ns.count_nonzero(input, axis=axis, keepdims=keepdims), dtype)


def _position(name: str, ufunc: Any, instead: float) -> None:
    """Offer `argmax` or `argmin`; NaN counts as `instead`, so that it is the first or none."""

    @offered(f"math.{name}", name, doc=f"Return the index of the first {name[3:]}imum on an axis.")
    def position(
        input: Annotated[Native, K.tensor("biuf")], axis: K.Axis = 0,
        output_type: Any = dtypes.int64,
    ) -> Native:  # fmt: skip
        kind = as_dtype(output_type)
        if kind.name not in ("int64", "int32", "int16", "uint16"):
            raise invalid(f"output_type is {output_type!r}; expected tf.int64 or tf.int32")
        if not input.shape[axis]:
            raise invalid(f"axis {axis} of shape {list(input.shape)} has no elements")
        raw = input._raw
        if backends.kind_of(raw.dtype) == "f":
            raw = np.where(np.isnan(raw), np.asarray(instead, raw.dtype), raw)
        return wrap(np.asarray(ufunc(raw, axis=axis)).astype(kind._numpy))


_position("argmax", np.argmax, -np.inf)
_position("argmin", np.argmin, np.inf)


# -- cumulative sums and products -----------------------------------------------------------------


def _cumulative(
    names: tuple[str, ...], kind: Any, compute: Any, blank: float, doc: str, differs: str = ""
) -> None:
    """Offer a running total: without each element itself if `exclusive`, from the end."""

    @offered(*names, differs=differs, doc=f"Return {doc} along an axis.", x=kind)
    def call(
        x: Any, axis: K.Axis = 0, exclusive: K.Bool = False, reverse: K.Bool = False
    ) -> Native:
        if reverse:
            x = ns.flip(x, axis=axis)
        if exclusive and x.shape[axis]:
            key = (slice(None),) * axis
            first = ns.full_like(x[(*key, slice(0, 1))], blank)
            x = ns.concat([first, x[(*key, slice(0, -1))]], axis=axis)
        total = compute(x, axis=axis)
        return ns.flip(total, axis=axis) if reverse else total


def _in_own_dtype(function: Any) -> Callable[..., Native]:
    return lambda x, axis: function(x, axis=axis, dtype=x.dtype)


_cumulative(
    ("math.cumsum", "cumsum"), K.Numbers, _in_own_dtype(ns.cumulative_sum), 0, "cumulative sums"
)
_cumulative(
    ("math.cumprod",), K.Numbers, _in_own_dtype(ns.cumulative_prod), 1, "cumulative products",
    "where an element is 0 the gradient is that of the products, and not 0; of complex numbers it "
    "is conjugated, as those of all other functions are",
)  # fmt: skip
_cumulative(
    ("math.cumulative_logsumexp",), K.Floating, ns.cumulative_logsumexp, -np.inf,
    "logarithms of cumulative sums of exponentials",
)  # fmt: skip


# -- segments -----------------------------------------------------------------------------------


def _sizes(ids: np.ndarray, found: Native) -> np.ndarray:
    """Return how many rows each segment has, in a shape that broadcasts with the results."""
    counts = np.bincount(ids, minlength=found.shape[0])[: found.shape[0]]
    return counts.reshape(-1, *[1] * (found.ndim - 1))


def _filled(found: Native, ids: np.ndarray, value: Any) -> Native:
    """Return results of segments with a value for those that have no rows."""
    empty: Any = _sizes(ids, found) == 0
    return ns.where(empty, np.asarray(value, found.dtype), found) if empty.any() else found


def _kept(function: Any) -> Callable[..., Native]:
    """Return a function of segments with results of the dtype of the data."""
    return lambda x, ids, count=None: ns.astype(
        function(x, ids, num_segments=count), x.dtype, copy=False
    )


_sum_of, _prod_of = _kept(segments.segment_sum), _kept(segments.segment_prod)
_max_of, _min_of = _kept(segments.segment_max), _kept(segments.segment_min)


def _segment_mean(x: Native, ids: np.ndarray, count: int | None = None) -> Native:
    if x.dtype.kind not in "iu":
        return segments.segment_mean(x, ids, num_segments=count)
    total = _sum_of(x, ids, count)
    return wrap(whole_quotient(total._raw, np.maximum(_sizes(ids, total), 1)).astype(x.dtype))


def _segment(name: str, kind: Any, compute: Any, doc: str, of_none: int | None = None) -> None:
    """Offer a function of each segment, of ids in order; `of_none` of those without rows."""

    @offered(
        f"math.segment_{name}", doc=f"Return the {doc} of the rows of each segment.", data=kind
    )
    def call(data: Any, segment_ids: K.Indices) -> Native:
        ids = segment_ids
        if ids.ndim != 1 or not data.ndim or ids.shape[0] != data.shape[0]:
            raise unfit("an id for each row", segment_ids=ids, data=data)
        if (np.diff(ids) < 0).any():
            raise invalid(f"the ids go down somewhere; write tf.math.unsorted_segment_{name}")
        if ids.size and ids[0] < 0:
            raise invalid(f"the first id is {ids[0]}; expected 0 or more")
        found = compute(data, ids)
        return found if of_none is None else _filled(found, ids, of_none)


_segment("sum", K.Numbers, _sum_of, "sum")
_segment("prod", K.Numbers, _prod_of, "product")
_segment("mean", K.Numbers, _segment_mean, "mean")
_segment("max", K.Real, _max_of, "largest", 0)
_segment("min", K.Real, _min_of, "smallest", 0)


def _unsorted_segment(
    name: str, kind: Any, compute: Any, doc: str, finish: Callable[[Native, np.ndarray], Native]
) -> None:
    """Offer a function of each segment, of ids in any order; rows of negative ids are dropped.

    `finish` takes the results, and the ids.
    """

    @offered(f"math.unsorted_segment_{name}", doc=f"Return {doc}.", data=kind)
    def call(data: Any, segment_ids: K.Indices, num_segments: K.Count) -> Native:
        shape, count = segment_ids.shape, num_segments
        if data.shape[: len(shape)] != shape:
            raise unfit("the first axes of data", segment_ids=segment_ids, data=data)
        flat = segment_ids.reshape(-1)
        if flat.size and flat.max() >= count:
            position = int(np.argmax(flat >= count))
            raise invalid(f"id {flat[position]}, at index {position}, of {count} segments")
        rows = ns.reshape(data, (flat.size, *data.shape[len(shape) :]))
        if flat.size and flat.min() < 0:  # dropped: a segment more, and then not
            flat = np.where(flat < 0, count, flat)
            return finish(compute(rows, flat, count + 1)[:count], flat)
        return finish(compute(rows, flat, count), flat)


def _over_sizes(power: float) -> Callable[[Native, np.ndarray], Native]:
    """Return what divides sums by a power of how many rows they are of."""

    def divided(total: Native, ids: np.ndarray) -> Native:
        total = ns.astype(total, np.float64) if total.dtype.kind in "iu" else total
        return total / (np.maximum(_sizes(ids, total), 1) ** power).astype(total.dtype)

    return divided


def _or_limit(which: str) -> Callable[[Native, np.ndarray], Native]:
    """Return what puts a limit of the dtype where a segment has no rows."""

    def fill(found: Native, ids: np.ndarray) -> Native:
        limits: Any = (backends.finfo if backends.kind_of(found.dtype) == "f" else np.iinfo)(
            found.dtype
        )
        return _filled(found, ids, getattr(limits, which))

    return fill


def _as_found(found: Native, ids: np.ndarray) -> Native:
    return found


_unsorted_segment("sum", K.Numbers, _sum_of, "the sum of the rows of each segment", _as_found)
_unsorted_segment("prod", K.Numbers, _prod_of, "the product of the rows of each segment", _as_found)
_unsorted_segment(
    "mean", K.Numbers, _sum_of, "the mean of the rows of each segment; 0 of one without rows",
    _over_sizes(1),
)  # fmt: skip
_unsorted_segment(
    "sqrt_n", K.Inexact, _sum_of,
    "the sum of the rows of each segment over the root of their number", _over_sizes(0.5),
)  # fmt: skip
_unsorted_segment(
    "max", K.Real, _max_of, "the largest of the rows of each segment; of none, the least number",
    _or_limit("min"),
)  # fmt: skip
_unsorted_segment(
    "min", K.Real, _min_of,
    "the smallest of the rows of each segment; of none, the greatest number", _or_limit("max"),
)  # fmt: skip


# -- counts -------------------------------------------------------------------------------------


@offered("math.bincount", raises=(ValueError,), differs="weights have a gradient")
def bincount(
    arr: K.Array, weights: K.Input | None = None, minlength: K.Whole | None = None,
    maxlength: K.Whole | None = None, dtype: K.Dtype = dtypes.int32, name: Any = None,
    axis: Any = None, binary_output: bool = False,
) -> Native:  # fmt: skip
    """Return how often there is each of 0, 1, 2, ..., or the sum of its weights.

    With axis=-1, for each row of a matrix.
    """
    values = arr.astype(np.int64)
    if axis not in (None, 0, -1):
        raise ValueError(f"axis is {axis}; expected 0 or -1")
    if values.size and values.min() < 0:
        raise invalid("arr has negative numbers; expected counts from 0")
    count = max(int(values.max(initial=-1)) + 1, minlength or 0)
    count = count if maxlength is None else min(count, maxlength)
    if weights is not None and weights.shape != values.shape:
        raise unfit("one shape", weights=weights, arr=arr)
    by_row = axis == -1 and values.ndim == 2
    rows = len(values) if by_row else 1
    ids = np.where(values < count, values, count)
    if by_row:
        ids = ids + np.arange(rows)[:, None] * (count + 1)
    if weights is None or binary_output:
        found: Any = np.bincount(ids.reshape(-1), minlength=rows * (count + 1))
        found = np.minimum(found, 1) if binary_output else found
        found = wrap(found.astype(dtype if weights is None else weights.dtype))
    else:
        found = _sum_of(ns.reshape(weights, (-1,)), ids.reshape(-1), rows * (count + 1))
    found = ns.reshape(found, (rows, count + 1))[:, :count]
    return found if by_row else found[0]


@offered("math.confusion_matrix")
def confusion_matrix(
    labels: K.Array, predictions: K.Array, num_classes: K.Whole | None = None,
    weights: K.Input | None = None, dtype: K.Dtype = dtypes.int32,
) -> Native:  # fmt: skip
    """Return how often each class, by rows, was taken for each class, by columns."""
    rows, columns = _squeezed(labels.astype(np.int64), predictions.astype(np.int64))
    highest = max(int(v.max(initial=-1)) for v in (rows, columns))
    count = highest + 1 if num_classes is None else num_classes
    for what, values in (("labels", rows), ("predictions", columns)):
        if ((values < 0) | (values >= count)).any():
            raise invalid(f"{what} is {values}; expected classes from 0 to {count - 1}")
    weights = ns.ones(rows.shape, dtype=dtype) if weights is None else weights
    if not rows.shape == columns.shape == weights.shape:
        raise unfit("one shape", labels=rows, predictions=columns, weights=weights)
    weights = ns.astype(weights, dtype, copy=False)
    flat = _sum_of(weights, (rows * count + columns).reshape(-1), count * count)
    return ns.reshape(flat, (count, count))


def _squeezed(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays, one without a last axis of length 1 that the other does not have."""
    if rows.ndim - columns.ndim == 1 and rows.shape[-1] == 1:
        rows = rows[..., 0]
    elif columns.ndim - rows.ndim == 1 and columns.shape[-1] == 1:
        columns = columns[..., 0]
    return rows, columns
