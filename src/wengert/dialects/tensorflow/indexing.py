"""Elements by their positions: gathering, scattering, masks and order, by TensorFlow's names."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow import conventions, dtypes
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid, type_error, unfit, value_error
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import Native, ns, wrap
from wengert.ops.indexing import getitem
from wengert.ops.rows import rows_of

_Index = dtypes.int32


def _check_inside(indices: np.ndarray, n: int, what: str) -> None:
    outside = (indices < 0) | (indices >= n)
    if outside.any():
        position = tuple(int(i) for i in np.argwhere(outside)[0])
        raise invalid(f"indices{list(position)} = {indices[position]} is not in [0, {n}) of {what}")


# -- gathering -------------------------------------------------------------------------------------


def _batch_key(shape: tuple[int, ...], after: int) -> list[np.ndarray]:
    """Return the indices of the axes of a batch, for a key whose indices have `after` axes more."""
    return [
        np.arange(n).reshape(-1, *(1,) * (len(shape) + after - 1 - a)) for a, n in enumerate(shape)
    ]


#: Any tensor or strings, or a ragged tensor.
_Table = Annotated[
    Any, Kind(lambda v, *_: v if hasattr(v, "rows") else eager.data_of(v), tensor=True)
]


@offered("gather", raises=(TypeError,))
def gather(
    params: _Table, indices: K.Indices, validate_indices: Any = None, axis: K.Whole | None = None,
    batch_dims: int = 0,
) -> Native:  # fmt: skip
    """Return the elements at some indices along an axis; the first axes may be of a batch."""
    if hasattr(params, "rows"):
        if axis or batch_dims:
            raise type_error("axis and batch_dims of a ragged tensor; give neither")
        return params.rows(indices)
    if indices.dtype.name not in ("int16", "int32", "int64"):
        raise invalid(f"indices are of {indices.dtype.name}; write tf.cast(indices, tf.int32)")
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch <= indices.ndim or batch > params.ndim:
        raise invalid(f"batch_dims = {batch_dims} for indices of shape {indices.shape}")
    along = K.in_range(batch if axis is None else axis, params.ndim, "gather()")
    if along < batch or params.shape[:batch] != indices.shape[:batch]:
        axes = {"batch_dims": batch, "axis": along}
        raise unfit("one batch, before the axis", **axes, params=params, indices=indices)
    _check_inside(indices, params.shape[along], f"axis {along} of params of shape {params.shape}")
    if not along:
        return rows_of(params, indices)
    if not batch:
        return getitem(params, (*[slice(None)] * along, indices))
    lead = _batch_key(indices.shape[:batch], indices.ndim - batch)
    between = [slice(None)] * (along - batch)
    found = getitem(params, (*lead, *between, indices))
    if not between:
        return found
    # with slices between them, the axes of the indices come first: those not of the batch move on
    moved = range(batch, indices.ndim)
    return ns.moveaxis(found, tuple(moved), tuple(a + len(between) for a in moved))


def _deep(indices: np.ndarray, shape: tuple[int, ...], batch: int, what: str) -> tuple[Any, ...]:
    """Return the key of index tuples along the last axis of `indices`, of an array of `shape`."""
    if not indices.ndim:
        raise invalid("the indices are one number; give a vector of them at least")
    depth = indices.shape[-1]
    if depth > len(shape) - batch:
        raise invalid(f"index tuples of {depth} numbers, more than there are axes")
    parts = [indices[..., k] for k in range(depth)]
    for k, part in enumerate(parts):
        _check_inside(part, shape[batch + k], f"axis {batch + k} of {what} of shape {shape}")
    return tuple(parts)


@offered("gather_nd", raises=(TypeError,))
def gather_nd(
    params: K.Data, indices: K.Indices, batch_dims: int = 0, name: Any = None,
    bad_indices_policy: str = "",
) -> Native:  # fmt: skip
    """Return the elements, or slices, at index tuples along the last axis of `indices`."""
    batch = indices.shape[:batch_dims]
    if params.shape[:batch_dims] != batch:
        raise as_is(unfit("one batch", ValueError, params=params, indices=indices))
    key = _deep(indices, params.shape, batch_dims, "params")
    if indices.ndim == 2 and indices.shape[1] == 1 and not batch:
        return rows_of(params, indices[:, 0])
    lead = _batch_key(batch, indices.ndim - 1 - len(batch))
    if not key and not lead:
        return ns.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    return getitem(params, (*lead, *key))


@offered("boolean_mask", raises=(TypeError, ValueError))
def boolean_mask(tensor: K.Data, mask: K.Array, axis: K.Whole = 0) -> Native:
    """Return the elements where a mask holds, along one axis."""
    if not mask.ndim:
        raise ValueError("the mask is one boolean; expected an axis")
    if tensor.shape[axis : axis + mask.ndim] != mask.shape:
        raise unfit("the axes from `axis` on", ValueError, mask=mask, tensor=tensor, axis=axis)
    along = axis % tensor.ndim
    flat = ns.reshape(tensor, (*tensor.shape[:along], -1, *tensor.shape[along + mask.ndim :]))
    return getitem(flat, (*[slice(None)] * along, np.flatnonzero(mask)))


@offered("where", raises=(TypeError,))
def where(condition: Any, x: Any = None, y: Any = None) -> Native:
    """Return x where a condition holds and y elsewhere; without them, where it holds."""
    if x is None and y is None:
        chosen = eager.convert(condition)
        if not chosen.ndim:
            raise invalid("tf.where of one number; expected an axis")
        return wrap(np.argwhere(chosen.numpy()).astype(np.int64))
    if x is None or y is None:
        raise value_error("one of x and y is None; give both or none")
    chosen = eager.convert(condition, None if eager.is_tensor(condition) else dtypes.bool_)
    first, second = eager.data_pair(x, y, "SelectV2")
    if chosen.dtype.kind != "b":
        raise invalid(f"condition has dtype {of_numpy(chosen.dtype).name}; expected bool")
    return conventions.select(chosen, first, second)


@offered("one_hot", raises=(TypeError, ValueError))
def one_hot(
    indices: Any, depth: K.Count, on_value: Any = None, off_value: Any = None, axis: Any = None,
    dtype: K.Dtype | None = None,
) -> Native:  # fmt: skip
    """Return a new axis that is one value at the position of an index, and another elsewhere."""
    if isinstance(indices, float):
        raise TypeError(f"indices is {indices}; expected whole numbers")
    wanted = dtype
    for value, what in ((on_value, "on_value"), (off_value, "off_value")):
        if value is not None:
            mine = eager.convert(value, None, dtype).dtype
            if wanted is not None and mine != wanted:
                raise TypeError(f"{what} has dtype {mine.name}; expected {wanted.name}")
            wanted = mine
    kind = np.dtype(np.float32) if wanted is None else wanted
    if kind.kind == "b" and (on_value is None or off_value is None):
        raise TypeError("tf.one_hot of booleans: give on_value=True and off_value=False")
    on, off = (
        np.asarray(default if v is None else eager.convert(v)._raw, kind)
        for v, default in ((on_value, 1), (off_value, 0))
    )
    where = K.read_indices(indices, "indices")
    along = -1 if axis is None else axis
    if not -1 <= along <= where.ndim:
        raise invalid(f"axis is {axis}; expected one from -1 to {where.ndim}")
    hot = where[..., None] == np.arange(depth)
    return wrap(np.moveaxis(np.where(hot, on, off), -1, along).copy())


# -- scattering ------------------------------------------------------------------------------------


def _updated(shape: tuple[int, ...], indices: np.ndarray, updates: Native) -> tuple[Any, ...]:
    """Return the key of a scatter, having checked that the updates fit."""
    key = _deep(indices, shape, 0, "the tensor")
    expected = (*indices.shape[:-1], *shape[len(key) :])
    if updates.shape != expected:
        raise unfit(f"updates of shape {expected}", updates=updates, indices=indices, into=shape)
    return key


@offered("scatter_nd", raises=(TypeError,))
def scatter_nd(
    indices: K.Indices, updates: K.Input, shape: K.Shape, bad_indices_policy: str = ""
) -> Native:
    """Return zeros in a shape with updates added at index tuples."""
    key = _updated(shape, indices, updates)
    if not key:
        lead = tuple(range(updates.ndim - len(shape)))
        return ns.sum(updates, axis=lead) if lead else updates
    return ns.scatter(updates, shape=shape, key=key)


def _scatter(name: str, method: str, doc: str, differs: str = "") -> None:
    """Offer a function that changes a tensor at index tuples, as a method of `at` does."""

    @offered(f"tensor_scatter_nd_{name}", raises=(TypeError,), differs=differs, doc=doc)
    def scatter(
        tensor: K.Pair, indices: K.Indices, updates: K.Pair, bad_indices_policy: str = ""
    ) -> Native:
        key = _updated(tensor.shape, indices, updates)
        if not updates.size:
            return ns.positive(tensor)
        return getattr(tensor.at[key or (...,)], method)(updates)


_scatter(
    "update", "set", "Return the tensor with elements, or slices, at index tuples replaced.",
    "of several updates at one index, only the one that stays has a gradient",
)  # fmt: skip
_scatter("add", "add", "Return the tensor with updates added at index tuples.")
_scatter("sub", "subtract", "Return the tensor with updates subtracted at index tuples.")
_scatter("max", "max", "Return the tensor with the larger of elements and updates.")
_scatter("min", "min", "Return the tensor with the smaller of elements and updates.")


@offered("dynamic_partition", raises=(TypeError,))
def dynamic_partition(data: K.Input, partitions: K.Indices, num_partitions: int) -> list[Native]:
    """Return a list of the elements of each part; `partitions` says which part each belongs to."""
    if num_partitions < 1:
        raise invalid(f"num_partitions is {num_partitions}; expected at least 1")
    if data.shape[: partitions.ndim] != partitions.shape:
        raise unfit("the first axes of data", partitions=partitions, data=data)
    _check_inside(partitions, num_partitions, "partitions")
    flat = ns.reshape(data, (partitions.size, *data.shape[partitions.ndim :]))
    return [getitem(flat, (np.flatnonzero(partitions == k),)) for k in range(num_partitions)]


@offered("dynamic_stitch", raises=(TypeError,))
def dynamic_stitch(indices: Any, data: Any) -> Native:
    """Return elements of a list of tensors at the indices that are given; the last one stays."""
    where = [K.read_indices(i, "indices") for i in indices]
    tensors = eager.alike(data, "DynamicStitch")
    if len(where) != len(tensors) or not where:
        raise invalid(f"{len(where)} indices for {len(tensors)} tensors; expected as many")
    rest = tensors[0].shape[where[0].ndim :]
    for positions, x in zip(where, tensors, strict=True):
        if x.shape != (*positions.shape, *rest):
            raise unfit("the axes of indices first", indices=positions, data=x)
    flat = np.concatenate([p.reshape(-1) for p in where])
    if (flat < 0).any():
        raise invalid(f"the index {flat.min()} is negative")
    rows = ns.concat([ns.reshape(x, (-1, *rest)) for x in tensors], axis=0)
    count = int(flat.max(initial=-1)) + 1
    blank = wrap(np.zeros((count, *rest), rows.dtype))
    return blank.at[flat].set(rows) if count else blank


@offered("math.invert_permutation")
def invert_permutation(x: K.Indices) -> Native:
    """Return the permutation that undoes another."""
    if x.ndim != 1 or sorted(x.tolist()) != list(range(x.size)):
        raise invalid(f"{x.tolist()} is not a permutation of 0 to {x.size - 1}")
    return wrap(np.argsort(x).astype(x.dtype))


# -- order -----------------------------------------------------------------------------------------

_Direction = Annotated[str, K.one_of("ASCENDING", "DESCENDING")]


def _order(x: Native, axis: int, direction: str) -> Native:
    """Return the indices that sort a tensor; NaN is the first in both directions."""
    if backends.kind_of(x.dtype) == "f" and direction == "ASCENDING":
        return ns.argsort(-x, axis=axis, descending=True)
    return ns.argsort(x, axis=axis, descending=direction == "DESCENDING")


@offered("sort", raises=(ValueError, TypeError))
def sort(values: K.Real, axis: K.WholeAxis = -1, direction: _Direction = "ASCENDING") -> Native:
    """Return a tensor sorted along an axis."""
    return ns.take_along_axis(values, _order(values, axis, direction), axis=axis)


@offered("argsort", raises=(ValueError, TypeError))
def argsort(
    values: K.Real, axis: K.WholeAxis = -1, direction: _Direction = "ASCENDING",
    stable: bool = False,
) -> Native:  # fmt: skip
    """Return the indices that sort a tensor along an axis; equal elements keep their order."""
    return ns.astype(_order(values, axis, direction), np.int32)


TopKV2 = namedtuple("TopKV2", ["values", "indices"])


@offered("math.top_k", "nn.top_k", raises=(TypeError,))
def top_k(
    input: K.Input, k: K.Count = 1, sorted: bool = True, index_type: K.Dtype = _Index
) -> TopKV2:
    """Return the largest elements along the last axis, and their indices."""
    if not input.ndim or k > input.shape[-1]:
        raise invalid(f"k is {k} of lines of shape {input.shape}; expected no more than there are")
    values, indices = ns.topk(input, k)
    return TopKV2(eager.outward(values), eager.outward(ns.astype(indices, index_type)))


@offered("math.in_top_k", "nn.in_top_k", raises=(TypeError,))
def in_top_k(targets: K.Indices, predictions: K.Array, k: K.Whole) -> Native:
    """Return whether fewer than k predictions are larger than that of the target."""
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        raise unfit("a target for each row", targets=targets, predictions=predictions)
    inside = (targets >= 0) & (targets < predictions.shape[1])
    mine = predictions[np.arange(len(targets)), np.where(inside, targets, 0)]
    usable = inside & np.isfinite(mine) & np.isfinite(predictions).all(axis=1)
    return wrap(usable & ((predictions > mine[:, None]).sum(axis=1) < k))


Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


@offered("unique_with_counts", raises=(TypeError,))
def unique_with_counts(x: K.Data, out_idx: K.Dtype = _Index) -> UniqueWithCounts:
    """Return distinct values in order of appearance, which each is, and how many of each."""
    if x.ndim != 1:
        raise invalid(f"tf.unique of shape {x.shape}; expected one axis")
    _, first, inverse, counts = np.unique(
        x.numpy(), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.argsort(order)
    y = conventions.without_rule("unique", x[first[order]], [x])
    which, many = (a.astype(out_idx) for a in (rank[inverse.reshape(-1)], counts[order]))
    return UniqueWithCounts(eager.outward(y), eager.outward(wrap(which)), eager.outward(wrap(many)))


@offered("unique", raises=(TypeError,))
def unique(x: Any, out_idx: Any = _Index) -> Unique:
    """Return distinct values in the order in which they appear, and which of them each is."""
    return Unique(*unique_with_counts(x, out_idx)[:2])


@offered("raw_ops.Bucketize", raises=(TypeError, ValueError))
def bucketize(input: K.Array, boundaries: Any) -> Native:
    """Return how many of some boundaries, which ascend, each number has reached."""
    return wrap(np.searchsorted(np.asarray(boundaries, float), input, "right").astype(np.int32))


@offered("searchsorted", raises=(TypeError, ValueError))
def searchsorted(
    sorted_sequence: K.Input, values: K.Same,
    side: Annotated[str, K.one_of("left", "right")] = "left", out_type: K.Dtype = _Index,
) -> Native:  # fmt: skip
    """Return where values would go in sorted sequences, each in that of the same batch."""
    lines, x = sorted_sequence, values
    if not lines.ndim or lines.shape[:-1] != x.shape[:-1]:
        raise unfit("one batch", sorted_sequence=lines, values=x)
    flat, asked = (t.numpy().reshape(math.prod(t.shape[:-1]), t.shape[-1]) for t in (lines, x))
    found = [np.searchsorted(a, v, side=side) for a, v in zip(flat, asked, strict=True)]  # type: ignore[call-overload]
    return wrap(np.asarray(found, out_type).reshape(x.shape))


@offered("sequence_mask", raises=(TypeError, ValueError))
def sequence_mask(
    lengths: K.Array, maxlen: K.Count | None = None, dtype: K.Dtype = dtypes.bool_
) -> Native:
    """Return for each length as many True as it says, then False."""
    most = max(0, int(lengths.max(initial=0))) if maxlen is None else maxlen
    return wrap((np.arange(most) < lengths[..., None]).astype(dtype))


@plain("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor as a NumPy array."""
    if eager.is_variable(tensor):
        return None
    return tensor.numpy() if eager.is_tensor(tensor) else tensor
