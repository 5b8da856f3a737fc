"""Elements by their places: gathering, scattering, masks and order, by TensorFlow's names."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import conventions, dtypes
from wengert.dialects.tensorflow.creation import (
    alike,
    in_range,
    lengths,
    numpy_dtype,
    one_integer,
)
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import (
    check_dtypes,
    check_kind,
    convert,
    is_tensor,
    is_variable,
    outward,
    pair,
)
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops.indexing import getitem
from wengert.ops.rows import rows_of

ns = Native._namespace


def _indices(value: Any, what: str = "indices") -> np.ndarray:
    found = convert(value)
    if found.dtype.kind not in "iu":
        raise invalid(f"{what} have dtype {of_numpy(found.dtype).name}; expected int32 or int64")
    return np.asarray(found.numpy())


def _check_inside(indices: np.ndarray, n: int, what: str) -> None:
    outside = (indices < 0) | (indices >= n)
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        raise invalid(f"indices{list(place)} = {indices[place]} is not in [0, {n}) of {what}")


# -- gathering -------------------------------------------------------------------------------------


@offered("gather", raises=(TypeError,))
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Return the elements at some places along an axis; the first axes may be of a batch."""
    x, where = convert(params), _indices(indices)
    if where.dtype.name not in ("int16", "int32", "int64"):
        raise invalid(f"indices are of {where.dtype.name}; write tf.cast(indices, tf.int32)")
    batch = batch_dims + where.ndim if batch_dims < 0 else batch_dims
    along = batch if axis is None else one_integer(axis, "axis")
    if not 0 <= batch <= where.ndim or batch > x.ndim:
        raise invalid(f"batch_dims = {batch_dims} for indices of shape {where.shape}")
    along = in_range(along, x.ndim)
    if along < batch or x.shape[:batch] != where.shape[:batch]:
        raise invalid(
            f"batch_dims {batch} and axis {along} for params of shape {x.shape} and indices of "
            f"shape {where.shape}"
        )
    _check_inside(where, x.shape[along], f"axis {along} of params of shape {x.shape}")
    if not along:
        return rows_of(x, where)
    if not batch:
        return getitem(x, (*[slice(None)] * along, where))
    lead = [
        np.arange(n).reshape(-1, *(1,) * (where.ndim - 1 - a))
        for a, n in enumerate(where.shape[:batch])
    ]
    between = [slice(None)] * (along - batch)
    found = getitem(x, (*lead, *between, where))
    if not between:
        return found
    # with slices between them, the axes of the indices come first: those not of the batch move on
    moved = range(batch, where.ndim)
    return ns.moveaxis(found, tuple(moved), tuple(a + len(between) for a in moved))


def _deep(indices: np.ndarray, shape: tuple[int, ...], batch: int, what: str) -> tuple[Any, ...]:
    """Return the key of index tuples along the last axis of `indices`, of an array of `shape`."""
    depth = indices.shape[-1]
    if depth > len(shape) - batch:
        raise invalid(f"index tuples of {depth} numbers, more than there are axes")
    parts = [indices[..., k] for k in range(depth)]
    for k, part in enumerate(parts):
        _check_inside(part, shape[batch + k], f"axis {batch + k} of {what} of shape {shape}")
    return tuple(parts)


@offered("gather_nd", raises=(TypeError,))
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """Return the elements, or slices, at index tuples along the last axis of `indices`."""
    x, where = convert(params), _indices(indices)
    if not where.ndim:
        raise invalid("gather_nd: the indices are one number; give a vector of them at least")
    if batch_dims and x.shape[:batch_dims] != where.shape[:batch_dims]:
        raise as_is(ValueError(f"batch_dims {batch_dims} of {x.shape} and {where.shape} differ"))
    key = _deep(where, x.shape, batch_dims, "params")
    if where.ndim == 2 and where.shape[1] == 1 and not batch_dims:
        return rows_of(x, where[:, 0])
    lead = [
        np.arange(n).reshape(-1, *(1,) * (where.ndim - 2 - a))
        for a, n in enumerate(where.shape[:batch_dims])
    ]
    if not key and not lead:
        return ns.broadcast_to(x, (*where.shape[:-1], *x.shape))
    return getitem(x, (*lead, *key))


@offered("boolean_mask", raises=(TypeError, ValueError))
def boolean_mask(
    tensor: Any, mask: Any, axis: Any = None, name: str | None = "boolean_mask"
) -> Any:
    """Return the elements where a mask holds, along one axis."""
    x, chosen = convert(tensor), convert(mask)
    if not chosen.ndim:
        raise ValueError("the mask is one boolean; expected an axis")
    along = 0 if axis is None else one_integer(axis, "axis")
    shape = x.shape[along : along + chosen.ndim]
    if shape != chosen.shape:
        raise ValueError(
            f"a mask of shape {chosen.shape} for axes of shape {shape}; the last axis is given as "
            f"{x.ndim - 1}"
        )
    along = along + x.ndim if along < 0 else along
    flat = ns.reshape(x, (*x.shape[:along], -1, *x.shape[along + chosen.ndim :]))
    places = np.flatnonzero(chosen.numpy())
    return getitem(flat, (*[slice(None)] * along, places))


@offered("where", raises=(TypeError,))
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Return x where a condition holds and y elsewhere; without them, the places where it holds."""
    if x is None and y is None:
        chosen = convert(condition)
        if not chosen.ndim:
            raise invalid("tf.where of one number; expected an axis")
        return wrap(np.argwhere(chosen.numpy()).astype(np.int64))
    if x is None or y is None:
        raise as_is(ValueError("one of x and y is None; give both or none"))
    chosen = convert(condition, None if is_tensor(condition) else dtypes.bool_)
    first, second = pair(x, y, "SelectV2")
    if chosen.dtype.kind != "b":
        raise invalid(f"condition has dtype {of_numpy(chosen.dtype).name}; expected bool")
    return conventions.select(chosen, first, second)


@offered("one_hot", raises=(TypeError, ValueError))
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Return a new axis that is one value at the place of an index, and another elsewhere."""
    for value, what in ((indices, "indices"), (depth, "depth")):
        if isinstance(value, float):
            raise TypeError(f"{what} is {value}; expected whole numbers")
    wanted = None if dtype is None else as_dtype(dtype)
    for value, what in ((on_value, "on_value"), (off_value, "off_value")):
        if value is not None:
            like = None if dtype is None else as_dtype(dtype)._numpy
            mine = of_numpy(convert(value, None, like).dtype)
            if wanted is not None and mine != wanted:
                raise TypeError(f"{what} has dtype {mine.name}; expected {wanted.name}")
            wanted = mine
    kind = (wanted or dtypes.float32)._numpy
    if kind.kind == "b" and (on_value is None or off_value is None):
        raise TypeError("tf.one_hot of booleans: give on_value=True and off_value=False")
    on, off = (
        np.asarray(default if v is None else convert(v)._raw, kind)
        for v, default in ((on_value, 1), (off_value, 0))
    )
    where, count = _indices(indices), one_integer(depth, "depth")
    if count < 0:
        raise invalid(f"depth is {count}; expected 0 or more")
    along = -1 if axis is None else axis
    if not -1 <= along <= where.ndim:
        raise invalid(f"axis is {axis}; expected one from -1 to {where.ndim}")
    hot = where[..., None] == np.arange(count)
    return wrap(np.moveaxis(np.where(hot, on, off), -1, along).copy())


# -- scattering ------------------------------------------------------------------------------------


def _updated(shape: tuple[int, ...], indices: Any, updates: Native, name: str) -> Any:
    """Return the key of a scatter, having checked that the updates fit."""
    places = _indices(indices)
    if not places.ndim:
        raise invalid(f"{name}: the indices are one number; give a vector of them at least")
    key = _deep(places, shape, 0, "the tensor")
    expected = (*places.shape[:-1], *shape[len(key) :])
    if updates.shape != expected:
        raise invalid(
            f"{name}: updates of shape {updates.shape} for indices of shape {places.shape} into "
            f"shape {shape}; expected {expected}"
        )
    return key


@offered("scatter_nd", raises=(TypeError,))
def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """Return zeros in a shape with updates added at index tuples."""
    values, whole = convert(updates), lengths(shape)
    key = _updated(whole, indices, values, "ScatterNd")
    if not key:
        lead = tuple(range(values.ndim - len(whole)))
        return ns.sum(values, axis=lead) if lead else values
    return ns.scatter(values, shape=whole, key=key)


def _scatter(how: str, tensor: Any, indices: Any, updates: Any) -> Any:
    x, values = pair(tensor, updates, f"TensorScatter{how.title()}")
    key = _updated(x.shape, indices, values, f"TensorScatter{how.title()}")
    if not values.size:
        return ns.positive(x)
    return getattr(x.at[key if key else (...,)], how)(values)


@offered(
    "tensor_scatter_nd_update",
    raises=(TypeError,),
    differs="of several updates at one place, only the one that stays has a gradient",
)
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """Return the tensor with elements, or slices, at index tuples replaced."""
    return _scatter("set", tensor, indices, updates)


@offered("tensor_scatter_nd_add", raises=(TypeError,))
def tensor_scatter_nd_add(
    tensor: Any,
    indices: Any,
    updates: Any,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Any:
    """Return the tensor with updates added at index tuples."""
    return _scatter("add", tensor, indices, updates)


@offered("tensor_scatter_nd_sub", raises=(TypeError,))
def tensor_scatter_nd_sub(
    tensor: Any,
    indices: Any,
    updates: Any,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Any:
    """Return the tensor with updates subtracted at index tuples."""
    return _scatter("subtract", tensor, indices, updates)


@offered("tensor_scatter_nd_max", raises=(TypeError,))
def tensor_scatter_nd_max(
    tensor: Any,
    indices: Any,
    updates: Any,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Any:
    """Return the tensor with the larger of elements and updates at index tuples."""
    return _scatter("max", tensor, indices, updates)


@offered("tensor_scatter_nd_min", raises=(TypeError,))
def tensor_scatter_nd_min(
    tensor: Any,
    indices: Any,
    updates: Any,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Any:
    """Return the tensor with the smaller of elements and updates at index tuples."""
    return _scatter("min", tensor, indices, updates)


@offered("dynamic_partition", raises=(TypeError,))
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> Any:
    """Return a list of the elements of each part; `partitions` says which part each belongs to."""
    x, part = convert(data), _indices(partitions, "partitions")
    if num_partitions < 1:
        raise invalid(f"num_partitions is {num_partitions}; expected at least 1")
    if x.shape[: part.ndim] != part.shape:
        raise invalid(
            f"partitions of shape {part.shape} for data of shape {x.shape}; expected its first axes"
        )
    _check_inside(part, num_partitions, "partitions")
    flat = ns.reshape(x, (part.size, *x.shape[part.ndim :]))
    return [getitem(flat, (np.flatnonzero(part == k),)) for k in range(num_partitions)]


@offered("dynamic_stitch", raises=(TypeError,))
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Return elements of a list of tensors at the places that `indices` say; the last one stays."""
    where = [_indices(i) for i in indices]
    tensors = alike(data, "DynamicStitch")
    if len(where) != len(tensors) or not where:
        raise invalid(f"{len(where)} indices for {len(tensors)} tensors; expected as many")
    rest = tensors[0].shape[where[0].ndim :]
    for places, x in zip(where, tensors, strict=True):
        if x.shape != (*places.shape, *rest):
            raise invalid(f"data of shape {x.shape} for indices of shape {places.shape}")
        if places.size and places.min() < 0:
            raise invalid(f"indices {places.min()} are negative")
    places = np.concatenate([p.reshape(-1) for p in where])
    rows = ns.concat(
        [ns.reshape(x, (p.size, *rest)) for p, x in zip(where, tensors, strict=True)], axis=0
    )
    count = int(places.max()) + 1 if places.size else 0
    blank = wrap(np.zeros((count, *rest), rows.dtype))
    return blank.at[places].set(rows) if count else blank


@offered("unravel_index", raises=(TypeError,))
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """Return the place along each axis of flat places in a shape."""
    where, shape = _indices(indices), lengths(dims, "dims")
    if where.ndim > 1:
        raise invalid(f"indices of shape {where.shape}; expected one axis or none")
    _check_inside(where, math.prod(shape), "dims")
    return wrap(np.stack(np.unravel_index(where, shape)).astype(where.dtype))


@offered("math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Any:
    """Return the permutation that undoes another."""
    order = _indices(x, "x")
    if order.ndim != 1 or sorted(order.tolist()) != list(range(order.size)):
        raise invalid(f"{order.tolist()} is not a permutation of 0 to {order.size - 1}")
    return wrap(np.argsort(order).astype(order.dtype))


# -- order -----------------------------------------------------------------------------------------


def _direction(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction is {direction!r}; expected 'ASCENDING' or 'DESCENDING'")
    return direction == "DESCENDING"


def _line(axis: Any, x: Native) -> int:
    if not x.ndim:
        raise invalid("a scalar has no order; give at least one axis")
    return in_range(one_integer(axis, "axis"), x.ndim)


def _ordered(values: Any, axis: Any, direction: str) -> tuple[Native, int, Native]:
    """Return a tensor, an axis, and the places that sort it; NaN is the first either way."""
    down, x = _direction(direction), convert(values)
    check_kind(x, "iuf", "TopKV2")
    along = _line(axis, x)
    if x.dtype.kind == "f" and not down:
        return x, along, ns.argsort(-x, axis=along, descending=True)
    return x, along, ns.argsort(x, axis=along, descending=down)


@offered("sort", raises=(ValueError, TypeError))
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Return a tensor sorted along an axis."""
    x, along, order = _ordered(values, axis, direction)
    return ns.take_along_axis(x, order, axis=along)


@offered("argsort", raises=(ValueError, TypeError))
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """Return the places that sort a tensor along an axis; equal elements keep their order."""
    return ns.astype(_ordered(values, axis, direction)[2], np.int32)


TopKV2 = namedtuple("TopKV2", ["values", "indices"])


@offered("math.top_k", "nn.top_k", raises=(TypeError,))
def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Return the largest elements along the last axis, and where they are."""
    x, count = convert(input), one_integer(k, "k")
    if not x.ndim or not 0 <= count <= x.shape[-1]:
        raise invalid(f"k is {count} of lines of shape {x.shape}; expected no more than there are")
    values, places = ns.topk(x, count)
    return TopKV2(outward(values), outward(ns.astype(places, numpy_dtype(index_type))))


@offered("math.in_top_k", "nn.in_top_k", raises=(TypeError,))
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Return whether fewer than k predictions are larger than that of the target."""
    where, scores, count = _indices(targets, "targets"), convert(predictions), one_integer(k, "k")
    if scores.ndim != 2 or where.shape != scores.shape[:1]:
        raise invalid(f"targets of shape {where.shape} for predictions of shape {scores.shape}")
    values = scores.numpy()
    inside = (where >= 0) & (where < values.shape[1])
    mine = values[np.arange(len(where)), np.where(inside, where, 0)]
    usable = inside & np.isfinite(mine) & np.isfinite(values).all(axis=1)
    return wrap(usable & ((values > mine[:, None]).sum(axis=1) < count))


Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _distinct(x: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    """Return distinct values in the order in which they appear, which each is, and how many."""
    tensor = convert(x)
    if tensor.ndim != 1:
        raise invalid(f"tf.unique of shape {tensor.shape}; expected one axis")
    _, first, inverse, counts = np.unique(
        tensor.numpy(),
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    order = np.argsort(first)
    rank = np.argsort(order)
    kind = numpy_dtype(out_idx)
    y = conventions.without_rule("unique", tensor[first[order]], [tensor])
    which, many = rank[inverse.reshape(-1)].astype(kind), counts[order].astype(kind)
    return outward(y), outward(wrap(which)), outward(wrap(many))


@offered("unique", raises=(TypeError,))
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return distinct values in the order in which they appear, and which of them each is."""
    y, which, _ = _distinct(x, out_idx)
    return Unique(y, which)


@offered("unique_with_counts", raises=(TypeError,))
def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return distinct values, which of them each is, and how many there are of each."""
    return UniqueWithCounts(*_distinct(x, out_idx))


@offered("searchsorted", raises=(TypeError, ValueError))
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Return where values would go in sorted sequences, each in that of the same batch."""
    lines, x = convert(sorted_sequence), convert(values)
    check_dtypes("LowerBound", lines, x)
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}; expected 'left' or 'right'")
    if not lines.ndim or lines.shape[:-1] != x.shape[:-1]:
        raise invalid(f"sorted_sequence of shape {lines.shape} for values of shape {x.shape}")
    flat, asked = (t.numpy().reshape(math.prod(t.shape[:-1]), t.shape[-1]) for t in (lines, x))
    found = [np.searchsorted(a, v, side=side) for a, v in zip(flat, asked, strict=True)]  # type: ignore[call-overload]
    return wrap(np.asarray(found, numpy_dtype(out_type)).reshape(x.shape))


@offered("histogram_fixed_width_bins", raises=(TypeError,))
def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Return which of some bins of one width each value is in; the outer ones have all beyond."""
    x, ends = _with_range(values, value_range, nbins)
    low, high = ends.numpy()
    scaled = (x.numpy() - low) / (high - low)  # in the precision of the values
    places = np.floor(scaled * scaled.dtype.type(one_integer(nbins, "nbins")))
    return wrap(np.clip(places, 0, one_integer(nbins, "nbins") - 1).astype(numpy_dtype(dtype)))


def _with_range(values: Any, value_range: Any, nbins: Any) -> tuple[Native, Native]:
    x, ends = pair(values, value_range, "Sub")
    if one_integer(nbins, "nbins") < 1 or ends.shape != (2,):
        raise invalid(f"nbins is {nbins!r} and value_range {value_range!r}")
    return x, ends


@offered("histogram_fixed_width", raises=(TypeError,))
def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Return how many values are in each of some bins of one width."""
    x, ends = _with_range(values, value_range, nbins)
    count = one_integer(nbins, "nbins")
    low, high = ends.numpy().astype(float)
    places = np.floor((x.numpy().astype(float) - low) / (high - low) * count)
    counts = np.bincount(np.ravel(np.clip(places, 0, count - 1)).astype(int), minlength=count)
    return wrap(counts.astype(numpy_dtype(dtype)))


@offered("sequence_mask", raises=(TypeError, ValueError))
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Any:
    """Return for each length as many True as it says, then False."""
    counts = convert(lengths).numpy()
    most = max(0, int(counts.max(initial=0))) if maxlen is None else one_integer(maxlen, "maxlen")
    if most < 0:
        raise invalid(f"maxlen is {most}; expected no negative number")
    return wrap((np.arange(most) < counts[..., None]).astype(numpy_dtype(dtype)))


@plain("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Return False: there are no graphs."""
    return False


@plain("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor as a NumPy array."""
    if is_variable(tensor):
        return None
    return tensor.numpy() if is_tensor(tensor) else tensor
