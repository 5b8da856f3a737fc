"""Orders: sort, topk, median, quantiles, unique, searchsorted, counts."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Kind, named
from wengert.dialects.torch import axes
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, Tensor, astype, convert, ns, wrap_native
from wengert.ops import ranks, sorting
from wengert.ops.batching import constant, out_of_line, values_in_line
from wengert.ops.ranks import taken

_PAIR = ("values", "indices")
Sort, TopK, KthValue = (results(name, *_PAIR) for name in ("sort", "topk", "kthvalue"))
Median, NanMedian, Mode = (results(name, *_PAIR) for name in ("median", "nanmedian", "mode"))
#: Numbers, without booleans and complex ones, for functions with errors of two classes.
Numbers = Annotated[Native, K.tensor("iuf")]
Measured = Annotated[Native, K.tensor("iuf", NotImplementedError)]
Whole = Annotated[Native, K.tensor("iu", NotImplementedError)]
Fractional = Annotated[Native, K.tensor("f", NotImplementedError)]


def _raw(x: Native) -> np.ndarray:
    """Return the numbers of a tensor that no derivative is asked of."""
    found: np.ndarray = np.asarray(constant(x)._raw)
    return found


# -- sorting ---------------------------------------------------------------------------------------


def _sorted(x: Native, dim: int, descending: bool) -> tuple[Native, Native]:
    lines = axes.lines_of(x)
    order = ranks.order(lines, dim, descending)
    return taken(lines, order, dim, x.shape), ns.reshape(order, x.shape)


@offered("sort")
def sort(
    input: K.Real, dim: K.Axis = -1, descending: K.Bool = False, *, stable: K.Bool | None = None
) -> Any:
    """Return a tensor sorted along an axis, and the indices of its elements before."""
    found = Sort(*_sorted(input, dim, descending))
    axes.labelled(found.values, "SortBackward0" if stable is None else "SortBackward1")
    return found


@offered("argsort")
def argsort(
    input: K.Real, dim: K.Axis = -1, descending: K.Bool = False, stable: K.Bool = False
) -> Native:
    """Return the indices that sort a tensor along an axis."""
    return _sorted(input, dim, descending)[1]


def _check_rank(k: int, least: int, lines: Native, axis: int, name: str) -> None:
    if not least <= k <= lines.shape[axis]:
        raise axes.misfit(name, f"a number from {least} to {lines.shape[axis]}", k=k)


@offered("topk")
def topk(
    input: Numbers, k: K.Int, dim: K.Axis = -1, largest: K.Bool = True, sorted: K.Bool = True
) -> Any:
    """Return the k largest elements along an axis, or the smallest, and their indices."""
    lines = axes.lines_of(input)
    _check_rank(k, 0, lines, dim, "topk")
    indices = sorting.topk_positions(constant(lines), k=k, axis=dim, largest=largest)
    shape = indices.shape if input.ndim or k != 1 else ()
    return TopK(taken(lines, indices, dim, shape), ns.reshape(indices, shape))


@offered("kthvalue")
def kthvalue(input: Measured, k: K.Int, dim: K.Axis = -1, keepdim: K.Bool = False) -> Any:
    """Return the k-th smallest element along an axis, and its index."""
    lines = axes.lines_of(input)
    axes.check_some(lines, (dim,), "kthvalue")
    _check_rank(k, 1, lines, dim, "kthvalue")
    indices = ranks.part(ranks.order(lines, dim), dim, k - 1, k)
    return axes.picked(lines, indices, dim, keepdim, KthValue, input.shape)


# -- medians ---------------------------------------------------------------------------------------


def _middle(x: Native, dim: int, keepdim: bool, skip_nan: bool, kind: Any) -> Any:
    """Return the lower median of each line, and its index."""
    lines = axes.lines_of(x)
    axes.check_some(lines, (dim,), kind.__name__)
    return axes.picked(lines, ranks.median_index(lines, dim, skip_nan), dim, keepdim, kind, x.shape)


def _whole_middle(x: Native, skip_nan: bool) -> Native:
    """Return the lower median of all elements, which share its derivative if several are equal."""
    if not math.prod(x.shape):
        if axes.kind_of(x) != "f":
            raise RuntimeError("median: no elements; expected at least one")
        return wrap_native(np.array(math.nan, x.dtype))
    flat = ns.reshape(x, (-1,))
    count = flat.shape[0]
    rank = (count - 1) // 2
    if axes.kind_of(x) != "f" or type(flat._raw) is not np.ndarray:
        found: Native = _middle(flat, 0, False, skip_nan, NanMedian if skip_nan else Median)[0]
        return found
    strange = int(np.count_nonzero(np.isnan(_raw(flat))))
    if strange:
        rank = (count - strange - 1) // 2 if skip_nan and strange < count else count - 1
    return ns.reshape(sorting.order_statistics(flat, positions=(rank,)), ())


def _median(name: str, kind: Any) -> None:
    skip_nan = name == "nanmedian"

    @offered(name, label=f"{name.title()}Backward1")
    @named(name, "Return the lower median of all elements, or along an axis with its index.")
    def median(input: Measured, dim: K.Axis | None = None, keepdim: K.Bool = False) -> Any:
        if dim is None:
            return axes.labelled(_whole_middle(input, skip_nan), f"{name.title()}Backward0")
        return _middle(input, dim, keepdim, skip_nan, kind)


_median("median", Median)
_median("nanmedian", NanMedian)


@offered("mode")
def mode(input: K.Real, dim: K.Axis = -1, keepdim: K.Bool = False) -> Any:
    """Return the most frequent element along an axis, the least of several, and its last index."""
    lines = axes.lines_of(input)
    axes.check_some(lines, (dim,), "mode")
    return axes.picked(lines, ranks.mode_index(lines, dim), dim, keepdim, Mode, input.shape)


# -- quantiles -------------------------------------------------------------------------------------

Side = Annotated[str, Kind(K.READERS.one_of("left", "right"))]
Interpolation = Annotated[
    str, Kind(K.READERS.one_of("linear", "lower", "higher", "midpoint", "nearest"))
]


def _levels(q: Any, x: Native, name: str) -> Native:
    if isinstance(q, (int, float)) and not isinstance(q, bool):
        levels = wrap_native(np.array(q, x.dtype))
    elif isinstance(q, (Tensor, Native)):
        levels = convert(q)
    else:
        raise TypeError(f"{name}(): q is a {type(q).__name__}; give a float or a tensor")
    if levels.ndim > 1:
        raise RuntimeError(f"{name}(): q has {levels.ndim} axes; give a number or a vector")
    axes.check_same(x, levels, name=name)
    numbers = _raw(levels)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise RuntimeError(f"{name}(): q is {numbers.tolist()}; give numbers from 0 to 1")
    return levels


def _quantile(name: str) -> None:
    skip_nan = name == "nanquantile"

    @offered(name, label="SqueezeBackward4")
    @named(name, "Return the quantiles q, from 0 to 1, of all elements or along an axis.")
    def quantile(
        input: K.Input, q: Any, dim: K.Axis | None = None, keepdim: K.Bool = False, *,
        interpolation: Interpolation = "linear",
    ) -> Native:  # fmt: skip
        if input._raw.dtype.name not in ("float32", "float64"):
            raise RuntimeError(f"{name}(): the input has another dtype; write x.float()")
        if 0 in input.shape:
            raise RuntimeError(f"{name}(): the input has no elements")
        levels = _levels(q, input, name)
        if dim is None:
            lines, kept = ns.reshape(input, (-1,)), (1,) * input.ndim
        else:
            lines = ns.moveaxis(input, dim, -1) if input.ndim else ns.reshape(input, (1,))
            kept = tuple(1 if i == dim else n for i, n in enumerate(input.shape))
        y = ranks.quantiles(lines, ns.reshape(levels, (-1,)), interpolation, skip_nan)
        y = ns.moveaxis(y, -1, 0)
        return ns.reshape(y, (*levels.shape, *(kept if keepdim else lines.shape[:-1])))


_quantile("quantile")
_quantile("nanquantile")


# -- distinct values -------------------------------------------------------------------------------


def _chosen(values: Native, inverse: Any, counts: Any) -> Any:
    found = [
        values,
        *(wrap_native(np.asarray(n, np.int64)) for n in (inverse, counts) if n is not None),
    ]
    return tuple(found) if len(found) > 1 else values


@offered("unique", label="Unique2Backward0")
def unique(
    input: K.Ordered, sorted: K.Bool = True, return_inverse: K.Bool = False,
    return_counts: K.Bool = False, dim: K.Axis | None = None,
) -> Any:  # fmt: skip
    """Return the distinct elements, or the distinct slices along an axis, in order."""
    x = ns.reshape(input, (-1,)) if dim is None else input
    _, first, inverse, counts = np.unique(
        _raw(x), True, True, True, axis=dim, equal_nan=dim is not None
    )
    values = ns.take(x, wrap_native(first), axis=dim or 0)
    inverse = inverse.reshape(input.shape if dim is None else -1)
    return _chosen(values, inverse if return_inverse else None, counts if return_counts else None)


@offered("unique_consecutive")
def unique_consecutive(
    input: K.Input, return_inverse: K.Bool = False, return_counts: K.Bool = False,
    dim: K.Axis | None = None,
) -> Any:  # fmt: skip
    """Return the elements, or slices along an axis, that differ from the one before."""
    axis = dim or 0
    lines = ns.reshape(input, (-1,)) if dim is None else input
    first, inverse, counts = ranks.runs(_raw(lines), axis)
    values = ns.take(lines, wrap_native(first), axis=axis)
    inverse = inverse.reshape(input.shape) if dim is None else inverse
    return _chosen(values, inverse if return_inverse else None, counts if return_counts else None)


@offered("isin", method=False)
def isin(
    elements: Any, test_elements: Any, *, assume_unique: K.Bool = False, invert: K.Bool = False
) -> Native:
    """Return for each element whether it is among some others."""
    if not any(isinstance(given, (Tensor, Native)) for given in (elements, test_elements)):
        raise TypeError("isin(): neither elements nor test_elements is a tensor; give one")
    return ns.isin(convert(elements), convert(test_elements), invert=invert)


# -- searching -------------------------------------------------------------------------------------


def _found(line: Native, numbers: Any, side: Any, small: bool) -> Native:
    """Return the indices at which numbers go into one sorted line."""
    indices = ns.searchsorted(constant(line), constant(convert(numbers)), side=side)
    return astype(indices, np.dtype(np.int32 if small else np.int64))


@offered("searchsorted", method=False)
def searchsorted(
    sorted_sequence: K.Input, input: Any, *, out_int32: K.Bool = False, right: K.Bool = False,
    side: Side | None = None, sorter: K.Input | None = None,
) -> Native:  # fmt: skip
    """Return the indices at which elements go into sorted lines, each line having its own."""
    if side == "left" and right:
        raise RuntimeError("searchsorted(): side='left' contradicts right=True; give one of them")
    sequence = sorted_sequence
    if sorter is not None:
        if sorter.shape != sequence.shape:
            raise RuntimeError("searchsorted(): sorter and sequence differ in shape")
        sequence = taken(constant(sequence), sorter, sequence.ndim - 1)
    if not sequence.ndim:
        raise RuntimeError("searchsorted(): the sequence is a single number; give it an axis")
    where = side or ("right" if right else "left")
    if sequence.ndim == 1:
        return _found(sequence, input, where, out_int32)
    numbers = convert(input)
    if numbers.shape[:-1] != sequence.shape[:-1]:
        raise axes.misfit(
            "searchsorted", "a vector, or a sequence for each row", sequence=sequence, input=numbers
        )
    lines = ns.reshape(sequence, (-1, sequence.shape[-1]))
    rows = ns.reshape(numbers, (-1, numbers.shape[-1]))
    found = [_found(lines[k], rows[k], where, out_int32) for k in range(lines.shape[0])]
    return ns.reshape(ns.stack(found), numbers.shape)


@offered("bucketize", method=False)
def bucketize(
    input: Any, boundaries: K.Input, *, out_int32: K.Bool = False, right: K.Bool = False
) -> Native:
    """Return the number of the bucket that each element is in."""
    return _found(boundaries, input, "right" if right else "left", out_int32)


# -- counts ----------------------------------------------------------------------------------------


@offered("bincount", differs="weights have a gradient")
def bincount(input: Whole, weights: K.Input | None = None, minlength: K.Int = 0) -> Native:
    """Return how often there is each of 0, 1, 2, ..., or the sum of its weights."""
    numbers = _raw(input)
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise RuntimeError("bincount: give a vector of whole numbers from 0")
    if weights is None:
        return wrap_native(np.bincount(numbers, minlength=minlength).astype(np.int64))
    if weights._raw.dtype.name not in ("float32", "float64"):
        weights = astype(weights, np.dtype(np.float64))
    return ns.bincount(input, weights=weights, minlength=minlength)


@offered("histc")
def histc(input: Fractional, bins: K.Int = 100, min: K.Number = 0, max: K.Number = 0) -> Any:
    """Return how many elements are in each of some bins of one width."""
    values = values_in_line(input._raw)
    lead = values.shape[: values.ndim - input.ndim]  # of vmaps
    given = None if min == max else (min, max)
    counts = [
        np.histogram(row, bins, _ends(row, bins, given, 1.0))[0]
        for row in values.reshape(math.prod(lead), -1)
    ]
    return out_of_line(np.array(counts, input.dtype).reshape(*lead, bins), lead)


Histogram = results("histogram", "hist", "bin_edges")


@offered("histogram", differs="it has no gradient; PyTorch's has one that raises")
def histogram(
    input: Fractional,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: K.Input | None = None,
    density: K.Bool = False,
) -> Any:
    """Return how many elements are in each bin, or the sum of their weights, and the bins' edges.

    `bins` is their number between the least and the most element, or between two given ends, or
    the edges themselves.
    """
    numbers, known = _raw(input).reshape(-1), input.dtype
    if known.name not in ("float32", "float64"):
        raise NotImplementedError(f"histogram: input is of {known}; write x.float()")
    for name, other in (("bins", bins), ("weight", weight)):
        if isinstance(other, (Tensor, Native)) and other._raw.dtype != known:
            raise RuntimeError(f"histogram: input is of {known}, and {name} of another dtype")
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError("histogram: give one weight for each element")
    if isinstance(bins, Tensor):
        edges = _raw(convert(bins))
        if edges.ndim != 1 or range is not None:
            error = TypeError if range is not None else RuntimeError
            raise error("histogram: give bins as a vector of edges, and no range with it")
    else:
        edges = np.linspace(*_ends(numbers, bins, range), bins + 1, dtype=known)
    weights = None if weight is None else _raw(weight).reshape(-1)
    counts = np.histogram(numbers[~np.isnan(numbers)], edges, weights=_of_numbers(numbers, weights))
    sums = counts[0].astype(known)
    if density:
        sums = sums / (sums.sum() * np.diff(edges))
    return Histogram(wrap_native(sums), wrap_native(edges.copy()))


def _of_numbers(numbers: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
    return None if weights is None else weights[~np.isnan(numbers)]


def _ends(numbers: np.ndarray, bins: Any, given: Any, margin: float = 0.5) -> tuple[float, float]:
    """Return where the first of some bins begins and the last ends."""
    if not isinstance(bins, int) or bins <= 0:
        raise RuntimeError(f"histogram: bins is {bins!r}; give 1 or more, or a vector of edges")
    if given is None:
        given = (numbers.min(), numbers.max()) if numbers.size else (0.0, 1.0)
    low, high = map(float, given)
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise RuntimeError(
            f"histogram: the range from {low} to {high}; give finite limits in order"
        )
    return (low - margin, high + margin) if low == high else (low, high)
