"""Orders: sort, topk, median, quantiles, unique, searchsorted, counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.torch.axes import (
    axis_of,
    check_real,
    check_some,
    kind_of,
    labelled,
    lines_of,
    part,
    picked,
    taken,
    tensor_of,
    truth,
    type_name,
    unable,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import (
    Tensor,
    astype,
    convert,
    ns,
    static,
    values_of,
)
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import sorting
from wengert.ops.batching import constant, out_of_line, values_in_line

_PAIR = ("values", "indices")
Sort, TopK, KthValue = (results(name, *_PAIR) for name in ("sort", "topk", "kthvalue"))
Median, NanMedian, Mode = (results(name, *_PAIR) for name in ("median", "nanmedian", "mode"))
Histogram = results("histogram", "hist", "bin_edges")
HistogramDD = results("histogramdd", "hist", "bin_edges")


def _raw(x: Native) -> np.ndarray:
    """Return the numbers of a tensor that no derivative is asked of."""
    found: np.ndarray = np.asarray(constant(x)._raw)
    return found


# -- sorting ---------------------------------------------------------------------------------------


def _order(x: Native, axis: int, descending: bool) -> Native:
    return ns.argsort(constant(x), axis=axis, descending=descending)


def _sorted(x: Native, dim: Any, descending: Any) -> tuple[Native, Native]:
    if kind_of(x) == "c":
        raise RuntimeError("complex numbers have no order; sort x.abs() or x.real")
    lines, axis = lines_of(x, dim)
    order = _order(lines, axis, truth(descending, "descending"))
    return taken(lines, order, axis, x.shape), order if x.ndim else ns.reshape(order, ())


@offered("sort")
def sort(input: Any, dim: Any = -1, descending: bool = False, *, stable: Any = None) -> Any:
    """Return a tensor sorted along an axis, and where its elements were."""
    found = Sort(*_sorted(tensor_of(input), dim, descending))
    labelled(found.values, "SortBackward0" if stable is None else "SortBackward1")
    return found


@offered("argsort")
def argsort(input: Any, dim: Any = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the places that sort a tensor along an axis."""
    return _sorted(tensor_of(input), dim, descending)[1]


@offered("msort", label="SortBackward0")
def msort(input: Any) -> Any:
    """Return a tensor sorted along its first axis."""
    return _sorted(tensor_of(input), 0, False)[0]


@offered("topk")
def topk(input: Any, k: Any, dim: Any = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the k largest elements along an axis, or the smallest, and where they are."""
    x = tensor_of(input)
    if kind_of(x) in "bc":
        raise RuntimeError(f"topk: a {type_name(x).lower()} has no order; write x.abs()")
    lines, axis = lines_of(x, dim)
    count = static(k)
    if not 0 <= count <= lines.shape[axis]:
        raise RuntimeError(
            f"k={count} of {lines.shape[axis]} elements; give a smaller k, of 0 or more"
        )
    places = sorting.topk_positions(
        constant(lines), k=count, axis=axis, largest=truth(largest, "largest")
    )
    shape = places.shape if x.ndim or count != 1 else ()
    return TopK(taken(lines, places, axis, shape), ns.reshape(places, shape))


@offered("kthvalue")
def kthvalue(input: Any, k: Any, dim: Any = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest element along an axis, and where it is."""
    x = tensor_of(input)
    if kind_of(x) in "bc":
        raise unable("kthvalue_cpu", x)
    lines, axis = lines_of(x, dim)
    check_some(lines, (axis,), "kthvalue")
    count = static(k)
    if not 1 <= count <= lines.shape[axis]:
        raise RuntimeError(
            f"kthvalue(): k={count} of {lines.shape[axis]} elements on axis {axis}; give a "
            "number from 1 to that"
        )
    places = part(_order(lines, axis, False), axis, count - 1, count)
    return picked(lines, places, axis, truth(keepdim), KthValue, x.shape)


# -- medians ---------------------------------------------------------------------------------------


def _middle(x: Native, dim: Any, keepdim: Any, skip_nan: bool, kind: Any) -> Any:
    """Return the lower median of each line, and its place."""
    lines, axis = lines_of(x, dim)
    check_some(lines, (axis,), kind.__name__)
    order = _order(lines, axis, False)
    middle = (lines.shape[axis] - 1) // 2
    if kind_of(x) != "f":
        places = part(order, axis, middle, middle + 1)
    else:
        strange = ns.isnan(constant(lines))
        if skip_nan:
            count = ns.count_nonzero(ns.logical_not(strange), axis=axis, keepdims=True)
            rank = ns.where(count > 0, (count - 1) // 2, ns.zeros_like(count))
            places = taken(order, rank, axis)
        else:
            first = ns.argmax(ns.astype(strange, np.int8), axis=axis, keepdims=True)
            some = ns.any(strange, axis=axis, keepdims=True)
            places = ns.where(some, first, part(order, axis, middle, middle + 1))
    return picked(lines, places, axis, truth(keepdim), kind, x.shape)


def _whole_middle(x: Native, skip_nan: bool) -> Native:
    """Return the lower median of all elements, which share its derivative if several are equal."""
    if not math.prod(x.shape):
        if kind_of(x) != "f":
            raise RuntimeError("median: no elements; expected at least one")
        return wrap_native(np.array(math.nan, x.dtype))
    flat = ns.reshape(x, (-1,))
    count = flat.shape[0]
    rank = (count - 1) // 2
    if kind_of(x) != "f" or type(flat._raw) is not np.ndarray:
        found: Native = _middle(flat, 0, False, skip_nan, NanMedian if skip_nan else Median)[0]
        return found
    strange = int(np.count_nonzero(np.isnan(_raw(flat))))
    if strange:
        rank = (count - strange - 1) // 2 if skip_nan and strange < count else count - 1
    return ns.reshape(sorting.order_statistics(flat, positions=(rank,)), ())


def _median_function(name: str, kind: Any) -> Any:
    skip_nan = name == "nanmedian"

    def call(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = tensor_of(input)
        if kind_of(x) in "bc":
            raise unable("median_cpu", x)
        if dim is None:
            return labelled(_whole_middle(x, skip_nan), f"{name.title()}Backward0")
        found = _middle(x, dim, keepdim, skip_nan, kind)
        labelled(found[0], f"{name.title()}Backward1")
        return found

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Return the lower median of all elements, or along an axis with its place."
    return call


offered("median")(_median_function("median", Median))
offered("nanmedian")(_median_function("nanmedian", NanMedian))


@offered("mode")
def mode(input: Any, dim: Any = -1, keepdim: bool = False) -> Any:
    """Return the most frequent element along an axis, the least of several, and its last place."""
    x = tensor_of(input)
    check_real(x, "mode")
    lines, axis = lines_of(x, dim)
    check_some(lines, (axis,), "mode")
    order = _order(lines, axis, False)
    ranked = taken(constant(lines), order, axis)
    n = lines.shape[axis]
    steps = wrap_native(np.arange(n).reshape(-1, *[1] * (lines.ndim - 1 - axis)))
    begins = ns.not_equal(part(ranked, axis, 1, None), part(ranked, axis, None, -1))
    begins = ns.concat(
        [ns.zeros_like(part(order, axis, 0, 1)), ns.astype(begins, np.int64)], axis=axis
    )
    start = ns.cumulative_max(begins * steps, axis=axis)
    # the length of a run so far: its first maximum is at the end of the first longest run
    last = ns.argmax(ns.broadcast_to(steps, order.shape) - start, axis=axis, keepdims=True)
    places = taken(order, last, axis)
    return picked(lines, places, axis, truth(keepdim), Mode, x.shape)


# -- quantiles -------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _levels(q: Any, x: Native, name: str) -> Native:
    if isinstance(q, (int, float)) and not isinstance(q, bool):
        levels = wrap_native(np.array(q, x.dtype))
    elif isinstance(q, (Tensor, Native)):
        levels = convert(q)
    else:
        raise TypeError(f"{name}(): q is a {type(q).__name__}; give a float or a tensor")
    if levels.ndim > 1:
        raise RuntimeError(f"{name}(): q has {levels.ndim} axes; give a number or a vector")
    if levels._raw.dtype != x._raw.dtype:
        raise RuntimeError(
            f"{name}(): q is a {type_name(levels)} and the input a {type_name(x)}; convert one"
        )
    numbers = _raw(levels)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise RuntimeError(f"{name}(): q is {numbers.tolist()}; give numbers from 0 to 1")
    return levels


def _quantile_function(name: str) -> Any:
    skip_nan = name == "nanquantile"

    def call(
        input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Any:
        x = tensor_of(input)
        if x._raw.dtype.name not in ("float32", "float64"):
            raise RuntimeError(f"{name}(): the input has another dtype; write x.float()")
        if 0 in x.shape:
            raise RuntimeError(f"{name}(): the input has no elements")
        levels = _levels(q, x, name)
        if interpolation not in _INTERPOLATIONS:
            raise RuntimeError(
                f"{name}(): interpolation is {interpolation}; give one of "
                f"{', '.join(_INTERPOLATIONS)}"
            )
        keep = truth(keepdim)
        if dim is None:
            lines, kept = ns.reshape(x, (-1,)), (1,) * x.ndim
        else:
            axis = axis_of(dim, x.ndim)
            lines = ns.moveaxis(x, axis, -1) if x.ndim else ns.reshape(x, (1,))
            kept = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
        y = _at_levels(lines, ns.reshape(levels, (-1,)), interpolation, skip_nan)
        y = ns.moveaxis(y, -1, 0)
        return ns.reshape(y, (*levels.shape, *(kept if keep else lines.shape[:-1])))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Return the quantiles q, from 0 to 1, of all elements or along an axis."
    return call


def _at_levels(lines: Native, levels: Native, interpolation: str, skip_nan: bool) -> Native:
    """Return the quantiles of each line, along the last axis."""
    n, last = lines.shape[-1], lines.ndim - 1
    order = _order(lines, last, False)
    ranked = taken(lines, order, last)
    strange = ns.isnan(constant(lines))
    if skip_nan:
        count = ns.count_nonzero(ns.logical_not(strange), axis=last, keepdims=True)
        length = ns.astype(count, lines.dtype) - 1
        ranks = ns.multiply(levels, ns.where(length < 0, ns.zeros_like(length), length))
    else:
        ranks = ns.broadcast_to(levels * (n - 1), (*lines.shape[:-1], levels.shape[0]))
        some = ns.any(strange, axis=last, keepdims=True)
        ranks = ns.where(some, wrap_native(np.array(n - 1, lines.dtype)), ranks)
    fixed = constant(ranks)
    if interpolation in ("lower", "higher", "nearest"):
        rounded = {"lower": ns.floor, "higher": ns.ceil, "nearest": ns.round}[interpolation](fixed)
        return taken(ranked, ns.astype(rounded, np.int64), last)
    low, high = ns.floor(fixed), ns.ceil(fixed)
    below, above = (taken(ranked, ns.astype(place, np.int64), last) for place in (low, high))
    share = ranks - low if interpolation == "linear" else ns.full_like(low, 0.5)
    return below + (above - below) * share


offered("quantile", label="SqueezeBackward4")(_quantile_function("quantile"))
offered("nanquantile", label="SqueezeBackward4")(_quantile_function("nanquantile"))


# -- distinct values -------------------------------------------------------------------------------


def _chosen(
    values: Native, inverse: Any, counts: Any, with_inverse: bool, with_counts: bool
) -> Any:
    found = [values]
    if with_inverse:
        found.append(wrap_native(np.asarray(inverse, np.int64)))
    if with_counts:
        found.append(wrap_native(np.asarray(counts, np.int64)))
    return tuple(found) if len(found) > 1 else values


@offered("unique", label="Unique2Backward0")
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """Return the distinct elements, or the distinct slices along an axis, in order."""
    x = tensor_of(input)
    if kind_of(x) == "c":
        raise unable("unique", x)
    if dim is None:
        flat = ns.reshape(x, (-1,))
        _, first, inverse, counts = np.unique(_raw(flat), True, True, True, equal_nan=False)
        values = ns.take(flat, wrap_native(first), axis=0)
        inverse = inverse.reshape(x.shape)
    else:
        axis = axis_of(dim, x.ndim)
        numbers = _raw(x)
        _, first, inverse, counts = np.unique(numbers, True, True, True, axis=axis)
        values = ns.take(x, wrap_native(first), axis=axis)
        inverse = inverse.reshape(-1)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


@offered("unique_consecutive")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the elements, or slices along an axis, that differ from the one before."""
    x = tensor_of(input)
    axis = 0 if dim is None else axis_of(dim, x.ndim)
    lines = ns.reshape(x, (-1,)) if dim is None else x
    rows = np.moveaxis(_raw(lines), axis, 0)
    rows = rows.reshape(rows.shape[0], -1)
    begins = np.ones(rows.shape[0], bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    inverse = np.cumsum(begins) - 1
    counts = np.diff(np.append(first, rows.shape[0]))
    values = ns.take(lines, wrap_native(first), axis=axis)
    if dim is None:
        inverse = inverse.reshape(x.shape)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


@offered("isin", method=False)
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Return for each element whether it is among some others."""
    if not isinstance(elements, (Tensor, Native)) and not isinstance(
        test_elements, (Tensor, Native)
    ):
        raise TypeError("isin(): neither elements nor test_elements is a tensor; give one")
    return ns.isin(convert(elements), convert(test_elements), invert=invert)


# -- searching -------------------------------------------------------------------------------------


def _side(name: str, right: bool, side: Any) -> str:
    if side is None:
        return "right" if right else "left"
    if side not in ("left", "right"):
        raise RuntimeError(f"{name}(): side is {side}; give 'left' or 'right'")
    if side == "left" and right:
        raise RuntimeError(f"{name}(): side='left' contradicts right=True; give one of them")
    found: str = side
    return found


def _found(line: Native, numbers: Any, side: Any, small: bool) -> Native:
    """Return where numbers go in one line that is sorted."""
    places = ns.searchsorted(constant(line), constant(convert(numbers)), side=side)
    return astype(places, np.dtype(np.int32 if small else np.int64))


@offered("searchsorted", method=False)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    """Return where elements would go in lines that are sorted, each line having its own."""
    name = "torch.searchsorted"
    sequence = tensor_of(sorted_sequence, "sorted_sequence")
    where = _side(name, right, side)
    if sorter is not None:
        places = tensor_of(sorter, "sorter")
        if places.shape != sequence.shape:
            raise RuntimeError(f"{name}(): sorter and sequence differ in shape")
        sequence = taken(constant(sequence), places, sequence.ndim - 1)
    if not sequence.ndim:
        raise RuntimeError(f"{name}(): the sequence is a single number; give it one axis at least")
    if sequence.ndim == 1:
        return _found(sequence, input, where, out_int32)
    numbers = convert(input)
    if numbers.shape[:-1] != sequence.shape[:-1]:
        raise RuntimeError(
            f"{name}(): a sequence of shape {list(sequence.shape)} for values of shape "
            f"{list(numbers.shape)}; give a vector, or one sequence for each row of values"
        )
    lines = ns.reshape(sequence, (-1, sequence.shape[-1]))
    rows = ns.reshape(numbers, (-1, numbers.shape[-1]))
    found = [_found(lines[k], rows[k], where, out_int32) for k in range(lines.shape[0])]
    return ns.reshape(ns.stack(found), numbers.shape)


@offered("bucketize", method=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Return the number of the bucket that each element is in."""
    edges = tensor_of(boundaries, "boundaries")
    if edges.ndim != 1:
        raise RuntimeError(f"bucketize: the boundaries have {edges.ndim} axes; give a vector")
    return _found(edges, input, "right" if right else "left", out_int32)


# -- counts ----------------------------------------------------------------------------------------


@offered("bincount", differs="weights have a gradient")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often there is each of 0, 1, 2, ..., or the sum of its weights."""
    x = tensor_of(input)
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength is {minlength}; give 0 or more")
    if kind_of(x) not in "iu":
        raise unable("bincount_cpu", x)
    numbers = _raw(x)
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise RuntimeError("bincount: give a vector of whole numbers from 0")
    if weights is None:
        return wrap_native(np.bincount(numbers, minlength=minlength).astype(np.int64))
    weighed = convert(weights)
    if weighed.shape != x.shape:
        raise RuntimeError("bincount: give one weight for each number")
    if weighed._raw.dtype.name not in ("float32", "float64"):
        weighed = astype(weighed, np.dtype(np.float64))
    return ns.bincount(x, weights=weighed, minlength=minlength)


def _limits(numbers: np.ndarray, low: Any, high: Any, widen: float) -> tuple[Any, Any]:
    """Return the ends of the bins: those of the numbers if none are given."""
    if low == high and numbers.size:
        low, high = numbers.min(), numbers.max()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"the range from {low} to {high} is not finite")
    return (low - widen, high + widen) if low == high else (low, high)


@offered("histc")
def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """Return how many elements are in each of some bins of one width."""
    x = tensor_of(input)
    if kind_of(x) != "f":
        raise unable("histogram_cpu", x)
    if bins <= 0:
        raise RuntimeError(f"histc: bins is {bins}; give 1 or more")
    values = values_in_line(x._raw)
    lead = values.shape[: values.ndim - x.ndim]  # of vmaps
    counts = [_counts(row, bins, min, max) for row in values.reshape(math.prod(lead), -1)]
    return out_of_line(np.array(counts, x.dtype).reshape(*lead, bins), lead)


def _counts(numbers: np.ndarray, bins: int, least: Any, most: Any) -> np.ndarray:
    low, high = _limits(numbers, least, most, 1)
    if low > high:
        raise RuntimeError("histc: min exceeds max; swap them")
    inside = numbers[(numbers >= low) & (numbers <= high)]
    places = ((inside - low) / (high - low) * bins).astype(np.int64)
    return np.bincount(np.minimum(places, bins - 1), minlength=bins)


def _edges(numbers: np.ndarray, bins: Any, ends: Any, name: str) -> np.ndarray:
    """Return the ends of the bins along one axis."""
    if isinstance(bins, (Tensor, Native)):
        edges = _raw(convert(bins))
        if edges.ndim != 1:
            raise RuntimeError(f"{name}: the bins have {edges.ndim} axes; give a vector of edges")
        return edges
    if not isinstance(bins, int) or bins <= 0:
        raise RuntimeError(f"{name}: bins is {bins!r}; give 1 or more")
    if ends is None:
        low, high = (numbers.min(), numbers.max()) if numbers.size else (0.0, 1.0)
    else:
        low, high = ends
        if low > high:
            raise RuntimeError(f"{name}: the range goes from {low} to {high}; swap them")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1, dtype=numbers.dtype)


def _histogram(
    rows: np.ndarray, bins: Sequence[Any], ends: Any, weight: Any, density: bool, name: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the weights in each bin of a grid, and its edges."""
    columns = rows.shape[1]
    spans = [None] * columns if ends is None else [*zip(ends[::2], ends[1::2], strict=True)]
    edges = [_edges(rows[:, k], bins[k], spans[k], name) for k in range(columns)]
    places, inside = [], np.ones(len(rows), bool)
    for k, line in enumerate(edges):
        place = np.searchsorted(line, rows[:, k], side="right") - 1
        place = np.where(rows[:, k] == line[-1], len(line) - 2, place)
        inside &= (place >= 0) & (place < len(line) - 1)
        places.append(place)
    shape = tuple(len(line) - 1 for line in edges)
    flat = np.ravel_multi_index([p[inside] for p in places], shape)
    weights = None if weight is None else weight.reshape(-1)[inside]
    found = np.bincount(flat, weights=weights, minlength=math.prod(shape)).reshape(shape)
    found = found.astype(rows.dtype)
    if density:
        found = found / found.sum()
        for k, line in enumerate(edges):
            found = found / np.diff(line).reshape(-1, *[1] * (columns - 1 - k))
    return found, edges


def _weights(weight: Any, shape: tuple[int, ...], x: Native, name: str) -> Any:
    if weight is None:
        return None
    numbers = values_of(weight)
    if numbers.shape != shape:
        raise RuntimeError(f"{name}: the weight needs shape {list(shape)}")
    if numbers.dtype != x.dtype:
        raise RuntimeError(f"{name}: weight and input have different dtypes; convert one")
    return numbers


@offered("histogram")
def histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """Return how many elements, or their weights, are in each bin, and the edges of the bins."""
    x = tensor_of(input)
    if kind_of(x) != "f":
        raise unable("histogramdd", x)
    weighed = _weights(weight, x.shape, x, "torch.histogram")
    found, edges = _histogram(
        _raw(x).reshape(-1, 1), [bins], range, weighed, density, "torch.histogram"
    )
    return Histogram(wrap_native(found), wrap_native(edges[0]))


@offered("histogramdd", method=False)
def histogramdd(
    input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """Return how many points are in each cell of a grid, and its edges along each axis."""
    x = tensor_of(input)
    if kind_of(x) != "f":
        raise unable("histogramdd", x)
    rows = _raw(x).reshape(-1, x.shape[-1])
    given = [bins] * rows.shape[1] if isinstance(bins, int) else list(bins)
    if len(given) != rows.shape[1]:
        raise RuntimeError(
            f"torch.histogramdd: bins for {len(given)} axes, and points have {rows.shape[1]}"
        )
    weighed = _weights(weight, x.shape[:-1], x, "torch.histogramdd")
    found, edges = _histogram(rows, given, range, weighed, density, "torch.histogramdd")
    return HistogramDD(wrap_native(found), tuple(wrap_native(line) for line in edges))
