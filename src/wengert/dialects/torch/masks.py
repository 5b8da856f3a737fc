"""Elements where a condition holds: masked_*, where, nonzero."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import check_same, misfit
from wengert.dialects.torch.brackets import scalar
from wengert.dialects.torch.gathering import with_axis
from wengert.dialects.torch.kinds import Bool, Given, Input, TensorOrNumber, read_tensor
from wengert.dialects.torch.table import both, direct, guarded, offered, plain
from wengert.dialects.torch.tensors import Native, made, ns, promoted, values_of, wrap_native
from wengert.engine.batching import Batched
from wengert.engine.record import apply
from wengert.explain.watchers import finished
from wengert.ops import indexing, updates


def _read_mask(value: Any, at: Argument, x: Any = None) -> Native:
    mask = read_tensor(value, at)
    raw = mask._raw
    if raw.dtype.kind != "b":
        raise RuntimeError(f"{at} has dtype {raw.dtype}; write mask.bool()")
    # later writes to it leave the rule alone
    return wrap_native(raw.copy()) if type(raw) is np.ndarray else mask


def _read_condition(value: Any, at: Argument, x: Any = None) -> Native:
    if hasattr(value, "_raw") and value._raw.dtype.kind == "u":
        return read_tensor(value.bool(), at)
    return _read_mask(value, at)


#: A tensor of booleans; one of bytes as well.
Mask = Annotated[Native, Kind(_read_mask)]
Condition = Annotated[Native, Kind(_read_condition)]


@offered("masked_fill", in_place=True)
def masked_fill(input: Input, mask: Mask, value: TensorOrNumber) -> Native:
    """Return a tensor with one value where a mask holds."""
    if isinstance(value, Native) and dtypes.category(value.dtype) > dtypes.category(input.dtype):
        raise RuntimeError(f"the number does not fit into {input.dtype}; write x.to() first")
    return apply(conventions.where.op, (mask, scalar(value, input, "masked_fill"), input), {})


@offered("masked_select")
def masked_select(input: Input, mask: Condition) -> Native:
    """Return the elements where a mask holds, in a row."""
    x, chosen = map(with_axis, ns.broadcast_arrays(input, mask))
    return indexing.index(x, key=tuple(values_of(chosen._raw).nonzero()))


@offered("masked_scatter", in_place=True)
def masked_scatter(input: Input, mask: Mask, source: Input) -> Native:
    """Return a tensor with the elements of another, one after the other, where a mask holds."""
    check_same(input, source, name="masked_scatter")
    x, chosen = ns.broadcast_arrays(input, mask)
    values = ns.reshape(source, (-1,))
    if type(chosen._raw) is Batched:  # each example has positions of its own
        counts = ns.cumulative_sum(ns.reshape(ns.astype(chosen, np.int64), (-1,)))
        order = ns.maximum(ns.reshape(counts, x.shape) - 1, 0)
        return ns.where(chosen, ns.take(values, order), x)
    positions = np.flatnonzero(values_of(chosen._raw))
    if positions.size > values.size:
        raise misfit("masked_scatter", f"{positions.size} elements or more", source=source)
    flat, taken = ns.reshape(x, (-1,)), values[: positions.size]
    return ns.reshape(updates.at_set(flat, taken, key=(positions,), winners=None), x.shape)


def _where(condition: Condition, input: Any, other: Any) -> Native:
    return apply(conventions.where.op, (condition, *promoted(input, other)), {})


_chosen = guarded(_where, "WhereBackward0")


@plain("where")
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Return elements of one tensor where a condition holds, and else of another.

    With a condition only, return the indices where it holds.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return _chosen(condition, input, other, out=out)


@plain("Tensor.where")
def _where_method(self: Any, condition: Any, other: Any) -> Any:
    """Return this tensor where a condition holds, and else another."""
    return _chosen(condition, self, other)


@direct(*both("nonzero"))
def nonzero(input: Given, *, as_tuple: Bool = False, out: Any = None) -> Any:
    """Return the indices of elements that are not zero: as rows, or one tensor for each axis."""
    raw = backends.to_numpy(input._raw)
    found: Any
    if as_tuple:
        found = tuple([made(p.astype(np.int64)) for p in np.atleast_1d(raw).nonzero()])
    else:
        found = made(np.ascontiguousarray(np.argwhere(raw).astype(np.int64)))
    return finished("nonzero", found, [input])


@plain(*both("argwhere"))
def argwhere(input: Any) -> Any:
    """Return the indices of elements that are not zero, as rows."""
    return nonzero(input)
