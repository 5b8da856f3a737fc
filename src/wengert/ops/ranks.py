"""Which element of each line it is: the median, the most frequent, records, quantiles.

Where `sorting` shares a derivative among equal elements, here it goes to one of them: the one
whose index is returned.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.ops.batching import constant

ns = Tensor._namespace


def part(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Return the elements from start to stop along an axis."""
    return x[(*[slice(None)] * axis, slice(start, stop))]


def taken(x: Tensor, indices: Tensor, axis: int, shape: Any = None) -> Tensor:
    """Return the elements of x at indices along an axis, perhaps in another shape.

    `indices` has the lengths of x along all other axes.
    """
    shape = indices.shape if shape is None else shape
    if type(x._raw) is not np.ndarray or type(indices._raw) is not np.ndarray:
        found = ns.take_along_axis(x, indices, axis=axis)
        return found if found.shape == shape else ns.reshape(found, shape)
    lengths = x.shape
    before, inner = math.prod(lengths[:axis]), math.prod(lengths[axis + 1 :])
    flat = indices._raw.reshape(before, indices.shape[axis], inner)
    flat = flat + np.arange(0, before * lengths[axis], lengths[axis] or 1).reshape(-1, 1, 1)
    if inner != 1:
        flat = flat * inner + np.arange(inner)
    return ns.gather_flat(x, shape=tuple(shape), positions=flat)


def order(x: Tensor, axis: int, descending: bool = False) -> Tensor:
    """Return the indices that sort x along an axis."""
    return ns.argsort(constant(x), axis=axis, descending=descending)


def _steps(x: Tensor, axis: int) -> Tensor:
    """Return 0, 1, 2, ... along an axis of x."""
    return wrap(np.arange(x.shape[axis]).reshape(-1, *[1] * (x.ndim - 1 - axis)))


def median_index(x: Tensor, axis: int, skip_nan: bool) -> Tensor:
    """Return the index of the lower median along an axis, which is kept; of a NaN if there is one.

    With `skip_nan`, it is the median of the other numbers.
    """
    ranked = order(x, axis)
    middle = (x.shape[axis] - 1) // 2
    if backends.kind_of(x._raw.dtype) != "f":
        return part(ranked, axis, middle, middle + 1)
    strange = ns.isnan(constant(x))
    if skip_nan:
        count = ns.count_nonzero(ns.logical_not(strange), axis=axis, keepdims=True)
        return taken(ranked, ns.where(count > 0, (count - 1) // 2, ns.zeros_like(count)), axis)
    first = ns.argmax(ns.astype(strange, np.int8), axis=axis, keepdims=True)
    some = ns.any(strange, axis=axis, keepdims=True)
    return ns.where(some, first, part(ranked, axis, middle, middle + 1))


def mode_index(x: Tensor, axis: int) -> Tensor:
    """Return the last index of the most frequent element along an axis, which is kept.

    Of several elements that are as frequent, it is the least.
    """
    ranked = order(x, axis)
    values = taken(constant(x), ranked, axis)
    begins = ns.not_equal(part(values, axis, 1, None), part(values, axis, None, -1))
    none = ns.zeros_like(part(ranked, axis, 0, 1))
    begins = ns.concat([none, ns.astype(begins, np.int64)], axis=axis)
    steps = _steps(x, axis)
    start = ns.cumulative_max(begins * steps, axis=axis)
    # the length of a run so far: its first maximum is at the end of the first longest run
    last = ns.argmax(ns.broadcast_to(steps, ranked.shape) - start, axis=axis, keepdims=True)
    return taken(ranked, last, axis)


def record_indices(x: Tensor, axis: int, largest: bool) -> Tensor:
    """Return the indices of the largest elements so far along an axis, the last of equal ones."""
    numbers = constant(x)
    if x._raw.dtype.kind == "b":
        numbers = ns.astype(numbers, np.uint8)
    if largest:
        attained = ns.greater_equal(numbers, ns.cumulative_max(numbers, axis=axis))
    else:
        attained = ns.less_equal(numbers, ns.cumulative_min(numbers, axis=axis))
    if backends.kind_of(x._raw.dtype) == "f":
        attained = ns.logical_or(attained, ns.isnan(numbers))
    indices = ns.where(attained, _steps(x, axis), wrap(np.zeros((), np.int64)))
    return ns.cumulative_max(indices, axis=axis)


def quantiles(x: Tensor, levels: Tensor, interpolation: str, skip_nan: bool) -> Tensor:
    """Return the quantiles of each line, on the last axis: elements, or points between two."""
    n, last = x.shape[-1], x.ndim - 1
    ranked = taken(x, order(x, last), last)
    strange = ns.isnan(constant(x))
    if skip_nan:
        count = ns.count_nonzero(ns.logical_not(strange), axis=last, keepdims=True)
        length = ns.astype(count, x.dtype) - 1
        ranks = ns.multiply(levels, ns.where(length < 0, ns.zeros_like(length), length))
    else:
        ranks = ns.broadcast_to(levels * (n - 1), (*x.shape[:-1], levels.shape[0]))
        some = ns.any(strange, axis=last, keepdims=True)
        ranks = ns.where(some, wrap(np.array(n - 1, x.dtype)), ranks)
    fixed = constant(ranks)
    if interpolation in ("lower", "higher", "nearest"):
        rounded = {"lower": ns.floor, "higher": ns.ceil, "nearest": ns.round}[interpolation](fixed)
        return taken(ranked, ns.astype(rounded, np.int64), last)
    low, high = ns.floor(fixed), ns.ceil(fixed)
    below, above = (taken(ranked, ns.astype(index, np.int64), last) for index in (low, high))
    share = ranks - low if interpolation == "linear" else ns.full_like(low, 0.5)
    return below + (above - below) * share


def runs(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where runs of equal slices begin, the run of each slice, and their lengths."""
    rows = np.moveaxis(x, axis, 0)
    rows = rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))
    begins = np.ones(rows.shape[0], bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    first = np.flatnonzero(begins)
    return first, np.cumsum(begins) - 1, np.diff(np.append(first, rows.shape[0]))
