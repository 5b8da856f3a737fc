"""Elements by their positions along an axis: index_*, gather, scatter, take and put."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import check_same, misfit
from wengert.dialects.torch.brackets import as_number, scalar
from wengert.dialects.torch.copies import in_order
from wengert.dialects.torch.kinds import READERS, Axis, Bool, Input, TensorOrNumber, read_given
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, convert, ns, values_of, wrap_native
from wengert.engine.batching import Batched
from wengert.ops import indexing, updates

_ALL = slice(None)


# -- positions -------------------------------------------------------------------------------------


def _positions(*kinds: type[Any], most: int = 64) -> Kind:
    """Return the kind of index tensors of some dtypes, with at most so many axes.

    Their numbers are an array; those of many examples stay a tensor.
    """
    dtypes = tuple(map(np.dtype, kinds))

    def read(value: Any, at: Argument, x: Any = None) -> np.ndarray | Native:
        index = read_given(value, at)
        if index._raw.dtype not in dtypes:
            raise RuntimeError(f"{at} has dtype {index.dtype}; write index.long()")
        if len(index._raw.shape) > most:
            raise IndexError(f"{at} has shape {list(index._raw.shape)}; give a vector")
        if type(index._raw) is Batched:
            return convert(index)
        return values_of(index).astype(np.intp)

    return Kind(read)


#: Positions along an axis; those that must be of int64; and a vector, or a number, of them.
Positions = Annotated[Any, _positions(np.int64, np.int32)]
Longs = Annotated[Any, _positions(np.int64)]
Line = Annotated[Any, _positions(np.int64, np.int32, most=1)]


def with_axis(x: Any) -> Any:
    """Return a tensor or an array with at least one axis."""
    if x.ndim:
        return x
    return ns.reshape(x, (1,)) if isinstance(x, Native) else x.reshape(1)


def _check(
    positions: Any, n: int, name: str, error: type[Exception] = IndexError, least: int = 0
) -> None:
    """Raise if there is no such position among n, counted from 0 or from `least`."""
    if isinstance(positions, np.ndarray) and positions.size:
        low, high = positions.min(), positions.max()
        if low < least or high >= n:
            wrong = low if low < least else high
            raise error(f"{name}(): there is no index {wrong} on an axis of {n} elements")


# -- whole slices along an axis --------------------------------------------------------------------


def _along(x: Native, axis: int, positions: Any) -> tuple[Any, ...]:
    """Return the key of slices at positions along an axis."""
    return indexing.parse_key((*(_ALL,) * axis, with_axis(positions)), x.shape).parts


@offered("index_select")
def index_select(input: Input, dim: Axis, index: Line) -> Native:
    """Return the slices at some positions of an axis."""
    x = with_axis(input)
    _check(index, x.shape[dim], "index_select")
    if not input.ndim:
        return ns.reshape(input, ())
    return in_order(indexing.index(x, key=_along(x, dim, index)))


def _with_slices(
    input: Native, dim: int, index: Any, source: Native, name: str, how: str = ""
) -> Native:
    """Return a tensor with slices replaced, or added to, at positions of an axis."""
    x = with_axis(input)
    _check(index, x.shape[dim], name)
    if name == "index_copy" and source.ndim == x.ndim and source.shape[dim] != index.size:
        raise misfit(name, "one index for each slice", IndexError, index=index, source=source)
    check_same(x, source, name=name)
    values = with_axis(source) if x.ndim == 1 else source
    wanted = (*x.shape[:dim], index.size, *x.shape[dim + 1 :])
    if values.shape != wanted:
        raise misfit(name, f"a source of shape {list(wanted)}", source=source)
    found = _reduced(x, _along(x, dim, index), values, how, True)
    return found if input.ndim else ns.reshape(found, ())


@offered("index_add", in_place=True)
def index_add(input: Input, dim: Axis, index: Line, source: Input, *, alpha: Any = 1) -> Native:
    """Return a tensor with others added at some positions of an axis."""
    if alpha != 1:
        source = ns.multiply(source, wrap_native(as_number(alpha, source.dtype)))
    return _with_slices(input, dim, index, source, "index_add", "sum")


@offered("index_copy", in_place=True)
def index_copy(input: Input, dim: Axis, index: Line, source: Input) -> Native:
    """Return a tensor with others at some positions of an axis."""
    return _with_slices(input, dim, index, source, "index_copy")


HowOrSum = Annotated[str, Kind(READERS.one_of("sum", "prod", "mean", "amax", "amin", "max", "min"))]


@offered("index_fill", in_place=True)
def index_fill(input: Input, dim: Axis, index: Line, value: TensorOrNumber) -> Native:
    """Return a tensor with one value at some positions of an axis."""
    x = with_axis(input)
    if type(index) is np.ndarray:  # a position that is named twice counts once in derivatives
        n = x.shape[dim]
        index = np.unique(np.where((-n <= index) & (index < 0), index + n, index))
    key = _along(x, dim, index)
    shape = indexing.selected_shape(key, x.shape)
    values = ns.broadcast_to(scalar(value, x, "index_fill"), shape)
    return ns.reshape(updates.at_set(x, values, key=key, winners=None), input.shape)


# -- elements along an axis ------------------------------------------------------------------------


def _elements(x: Native, axis: int, index: Any) -> tuple[Any, ...]:
    """Return the key of the elements of a tensor with the positions of `index` along one axis."""
    key: list[Any] = list(np.ogrid[tuple(map(slice, index.shape))])
    key[axis] = index
    parts = tuple(key)
    return indexing.parse_key(parts, x.shape).parts if isinstance(index, Native) else parts


def _check_extent(index: Any, shape: Any, axis: int | None, what: str, name: str) -> None:
    """Raise if an index is larger than a tensor along any axis but one."""
    fits = len(shape) == index.ndim and all(
        m <= n or a == axis for a, (m, n) in enumerate(zip(index.shape, shape, strict=True))
    )
    if not fits:
        but = "" if axis is None else f"; only axis {axis} may be longer"
        raise misfit(name, f"one within {what} of shape {list(shape)}{but}", index=index)


def _is_empty(index: Any) -> bool:
    return isinstance(index, np.ndarray) and not index.size


@offered("gather")
def gather(input: Input, dim: Axis, index: Positions, *, sparse_grad: Any = False) -> Native:
    """Return the elements at positions along one axis, one for each element of the index."""
    x, positions = with_axis(input), with_axis(index)
    if _is_empty(index):
        key: tuple[Any, ...] = (np.zeros(0, np.intp),)
        return ns.reshape(indexing.index(ns.reshape(x, (-1,)), key=key), index.shape)
    _check_extent(positions, x.shape, dim, "a tensor", "gather")
    _check(positions, x.shape[dim], "gather", RuntimeError)
    return ns.reshape(indexing.index(x, key=_elements(x, dim, positions)), index.shape)


@offered("take_along_dim", label="GatherBackward0")
def take_along_dim(input: Input, indices: Longs, dim: Axis | None = None) -> Native:
    """Return the elements at positions along one axis, broadcast over the others."""
    if dim is None:
        return indexing.getitem(ns.reshape(input, (-1,)), _flat(indices))
    n = input.shape[dim]
    _check(indices, n, "take_along_dim", least=-n)
    return in_order(ns.take_along_axis(input, indices, axis=dim))


def _flat(positions: Any) -> Any:
    return ns.reshape(positions, (-1,)) if isinstance(positions, Native) else positions.reshape(-1)


def _scattered(
    input: Native, dim: int, index: Any, src: Any, name: str, reduce: str, own: bool = True
) -> Native:
    """Return a tensor with elements replaced, or reduced with others, at positions of an axis."""
    if not isinstance(src, Native):
        src = ns.broadcast_to(wrap_native(as_number(src, input.dtype)), index.shape)
    check_same(input, src, name=name)
    if _is_empty(index):
        return ns.positive(input)
    x, positions, values = with_axis(input), with_axis(index), with_axis(src)
    _check_extent(positions, x.shape, dim, "a tensor", name)
    _check_extent(positions, values.shape, None, "src", name)
    _check(positions, x.shape[dim], name, RuntimeError)
    values = values[tuple(map(slice, positions.shape))]
    key = _elements(x, dim, positions)
    return ns.reshape(_reduced(x, key, values, reduce, own), input.shape)


_SCATTERS = {None: "", "add": "sum", "multiply": "prod"}


@offered("scatter", in_place=True)
def scatter(
    input: Input, dim: Axis, index: Longs, src: TensorOrNumber | None = None,
    value: TensorOrNumber | None = None, *,
    reduce: Annotated[Any, Kind(READERS.one_of(*_SCATTERS))] = None,
) -> Native:  # fmt: skip
    """Return a tensor with others (or a number) at positions along one axis."""
    given = value if src is None else src
    if given is None:
        raise TypeError("scatter() needs src or value; give one of them")
    return _scattered(input, dim, index, given, "scatter", _SCATTERS[reduce])


@offered("scatter_add", in_place=True)
def scatter_add(input: Input, dim: Axis, index: Longs, src: Input) -> Native:
    """Return a tensor with others added at positions along one axis."""
    return _scattered(input, dim, index, src, "scatter_add", "sum")


@offered("scatter_reduce", in_place=True)
def scatter_reduce(
    input: Input, dim: Axis, index: Longs, src: Input, reduce: HowOrSum, *,
    include_self: Bool = True,
) -> Native:  # fmt: skip
    """Return a tensor with the sum (or another reduction) of elements and others at positions."""
    how = reduce if reduce not in ("max", "min") else f"a{reduce}"
    return _scattered(input, dim, index, src, "scatter_reduce", how, include_self)


def _neutral(kind: np.dtype, reduce: str) -> Any:
    """Return the number that leaves a reduction alone."""
    if reduce not in ("amax", "amin"):
        return int(reduce == "prod")
    if kind.kind in "iu":
        return np.iinfo(kind).min if reduce == "amax" else np.iinfo(kind).max
    if kind.kind == "b":
        return reduce == "amin"
    return -np.inf if reduce == "amax" else np.inf


def _reduced(x: Native, key: Any, values: Native, reduce: str, include_self: bool) -> Native:
    """Return a reduction of the elements of x, if these are included, and values at a key.

    Without a reduction, values replace elements, and each value has the derivative of its element.
    """
    if not reduce:
        return updates.at_set(x, values, key=key, winners=None)
    if not include_self:
        before = x
        nothing = wrap_native(np.full(values.shape, _neutral(x.dtype, reduce), x.dtype))
        x = updates.at_set(x, nothing, key=key, winners=None)
        if reduce in ("amax", "amin"):
            values = _with_ties(before._raw, x._raw, key, values, reduce)
    methods = {"prod": "multiply", "amax": "max", "amin": "min"}
    total = getattr(x.at[key], methods.get(reduce, "add"))(values)
    if reduce != "mean":
        return total
    ones = wrap_native(np.ones(values.shape, x.dtype))
    counts = wrap_native(np.full(x.shape, int(include_self), x.dtype)).at[key].add(ones)
    counts = ns.maximum(counts, wrap_native(np.ones((), x.dtype)))
    return (ns.floor_divide if x.dtype.kind in "iu" else ns.divide)(total, counts)


def _with_ties(before: Any, x: Any, key: Any, values: Native, reduce: str) -> Native:
    """Return values whose derivatives are shared with elements that were there and are equal.

    PyTorch counts these among the ties, though they are not included.
    """
    arrays = (before, x, values._raw)
    if values._node is None or not all(type(a) is np.ndarray for a in arrays):
        return values
    found = x.copy()
    (np.maximum if reduce == "amax" else np.minimum).at(found, key, values._raw)
    equal = (before == found).astype(x.dtype)
    counts = np.zeros_like(x)
    np.add.at(counts, key, values._raw == found[key])
    share = counts / np.maximum(counts + equal, 1)
    return conventions.scaled(values, wrap_native(share[key]))


# -- flat positions --------------------------------------------------------------------------------


@offered("take")
def take(input: Input, index: Longs) -> Native:
    """Return the elements at positions of the flat tensor."""
    _check(index, input.size, "take", least=-input.size)
    flat = ns.reshape(input, (-1,))
    return ns.reshape(indexing.getitem(flat, with_axis(index)), index.shape)
