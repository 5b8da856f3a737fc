"""Elements by their place: brackets, gather, scatter, index_*, masked_*, where.

A key is read in PyTorch's order: integers, slices and new axes first, which give a view; then
tensors, lists and masks, which gather elements or replace them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.torch import conventions, dtypes, memory
from wengert.dialects.torch.axes import axis_of
from wengert.dialects.torch.modes import GRAD, Tracking, current
from wengert.dialects.torch.shapes import in_order
from wengert.dialects.torch.table import (
    as_is,
    guarded,
    offered,
    plain,
    put,
    put_in_place,
    translated,
)
from wengert.dialects.torch.tensors import (
    Tensor,
    astype,
    convert,
    is_operand,
    made,
    mark,
    ns,
    promoted,
    values_of,
)
from wengert.engine.batching import Batched
from wengert.engine.node import active, meet, new_node
from wengert.engine.record import apply, interested, record
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import indexing, updates
from wengert.ops.shapes import expand_dims

_ALL = slice(None)


# -- keys ------------------------------------------------------------------------------------------


class Key(NamedTuple):
    """A key as it is applied: integers, slices and new axes first, then index arrays."""

    basic: tuple[Any, ...]
    #: for each axis of the view that `basic` makes, an index array or the slice of all
    arrays: tuple[Any, ...]
    #: what PyTorch calls the view
    label: str


def read_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Return a key, in any form that PyTorch takes, for a tensor of some shape."""
    if type(key) is int and shape and -(n := shape[0]) <= key < n:  # quickly
        rest = (_ALL,) * (len(shape) - 1)
        return Key((key if key >= 0 else key + n, *rest), rest, "SelectBackward0")
    given = _as_parts(key)
    used = sum(_axes_of(part) for part in given)
    if used > len(shape):
        if not shape:
            raise IndexError("a tensor without axes takes no index; write x.item() for its number")
        raise IndexError(f"there are more indices than axes: the tensor has {len(shape)}")
    basic: list[Any] = []
    arrays: list[Any] = []
    label, axis, seen = "AliasBackward0", 0, False
    for part in given:
        if part is Ellipsis:
            count = 0 if seen else len(shape) - used
            basic += [_ALL] * count
            arrays += [_ALL] * count
            axis, seen = axis + count, True
        elif part is None:
            basic.append(None)
            arrays.append(_ALL)
            label = "UnsqueezeBackward0"
        elif type(part) is int:
            n = shape[axis]
            if not -n <= part < n:
                raise IndexError(f"there is no index {part} on axis {axis}, which has {n} elements")
            basic.append(part if part >= 0 else part + n)
            label, axis = "SelectBackward0", axis + 1
        elif type(part) is slice:
            cut = _read_slice(part, shape[axis])
            basic.append(cut)
            arrays.append(_ALL)
            if cut != _ALL or len(given) == 1:
                label = "SliceBackward0"
            axis += 1
        elif type(part) is bool:
            basic.append(None)
            arrays.append(np.zeros(int(part), np.intp))
        else:
            count = _axes_of(part)
            places = _read_array(part, shape[axis : axis + count], axis)
            basic += [_ALL] * count
            arrays += places
            axis += count
    basic += [_ALL] * (len(shape) - axis)
    return Key(tuple(basic), tuple(arrays), label)


def _as_parts(key: Any) -> list[Any]:
    """Return the parts of a key: ints, slices, None, Ellipsis, truth values and arrays."""
    if type(key) is list and _means_tuple(key):
        key = tuple(key)
    return [_read_part(part) for part in (key if isinstance(key, tuple) else (key,))]


def _means_tuple(key: list[Any]) -> bool:
    """Return whether PyTorch takes a list for a tuple, as NumPy did once."""
    return len(key) < 32 and any(
        part is None or part is Ellipsis or isinstance(part, (slice, list, tuple, Tensor))
        for part in key
    )


def _read_part(part: Any) -> Any:
    if part is None or part is Ellipsis or type(part) in (int, bool, slice):
        return part
    if isinstance(part, Tensor):
        raw = part._raw
        if type(raw) is Batched:
            return convert(part)
        return _read_values(raw)
    if isinstance(part, (np.ndarray, np.generic)):
        return _read_values(np.asarray(part))
    if isinstance(part, (list, tuple, range)):
        return _read_values(_listed(part))
    if isinstance(part, str):
        raise TypeError("a str is not an index; expected integers, slices, tensors and masks")
    if hasattr(type(part), "__index__"):
        return operator.index(part)
    raise IndexError(
        f"an index is a {type(part).__name__}; give a whole number, a slice, ..., None, or a "
        "tensor of whole numbers or booleans"
    )


def _listed(values: Any) -> np.ndarray:
    if any(isinstance(v, Tensor) for v in values):
        values = [values_of(v) if isinstance(v, Tensor) else v for v in values]
    found = np.array(list(values))
    return found if found.size else found.astype(np.int64)


def _read_values(values: np.ndarray) -> Any:
    """Return an index tensor's numbers as an index: one without axes is an int or a truth value."""
    if values.dtype.kind == "b" or values.dtype == np.uint8:
        return bool(values) if not values.ndim else values != 0
    if values.dtype not in (np.int64, np.int32):
        raise IndexError("an index is a tensor with fractions; write index.long()")
    return int(values) if not values.ndim else values.astype(np.intp)


def _axes_of(part: Any) -> int:
    """Return how many axes a part of a key selects from."""
    if part is None or part is Ellipsis or type(part) is bool:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


def _read_slice(part: slice, n: int) -> slice:
    start, stop, step = (None if v is None else int(v) for v in (part.start, part.stop, part.step))
    if step is not None and step <= 0:
        raise as_is(
            ValueError("the slice has a step of 0 or less; write x.flip(0) for the other direction")
        )
    start, stop, step = slice(start, stop, step).indices(n)
    if start == 0 and stop == n and step == 1:
        return _ALL
    return slice(start, max(start, stop), step)


def _read_array(part: Any, lengths: tuple[int, ...], axis: int) -> list[Any]:
    """Return the index arrays of one index tensor, of which a mask makes several."""
    if isinstance(part, Native):
        if part.dtype.kind not in "iu":
            raise IndexError("inside of vmap a mask cannot select elements; write torch.where")
        return [part]
    if part.dtype.kind == "b":
        if part.shape != lengths:
            raise IndexError(
                f"a mask of shape {list(part.shape)} on axis {axis}, where the tensor has shape "
                f"{list(lengths)}; give one boolean for each element"
            )
        return list(part.nonzero())
    (n,) = lengths
    if part.size:
        low, high = part.min(), part.max()
        if low < -n or high >= n:
            wrong = low if low < -n else high
            raise IndexError(f"there is no index {wrong} on axis {axis}, which has {n} elements")
        if low < 0:
            part = np.where(part < 0, part + n, part)
    return [part]


# -- brackets --------------------------------------------------------------------------------------


_SLICE: Any = indexing.slice_parts.op


def _sliced(input: Native, basic: tuple[Any, ...]) -> Native:
    """Return the view that integers, slices and new axes make."""
    raw, node = input._raw, input._node
    if type(raw) is not np.ndarray:
        return indexing.slice_parts(input, parts=basic)
    part = raw[(*basic, ...)]  # with the ellipsis NumPy makes no number of one element
    if node is None or part.dtype.kind not in "fc":
        return wrap_native(part)
    recording = active.get()
    tokens = node.tokens if node.tokens is recording else meet(node.tokens, recording)
    if not tokens:
        return wrap_native(part)
    values = (tuple(raw.shape), basic)  # what the operation's rule reads
    made_of = new_node(_SLICE, node, 0, values, (), tokens, part.shape, part.dtype)
    return wrap_native(part, made_of)


def _part_of(tensor: Tensor, basic: tuple[Any, ...], label: str) -> Tensor:
    step = functools.partial(_sliced, basic=basic)
    with Tracking():
        return memory.viewed(tensor, step(convert(tensor)), step, label)


def _is_trivial(basic: tuple[Any, ...]) -> bool:
    return all(part is _ALL or part == _ALL for part in basic)


def _gather(input: Any, key: tuple[Any, ...]) -> Any:
    return _indexed(convert(input), key)


def _indexed(x: Native, key: tuple[Any, ...]) -> Native:
    try:
        return in_order(indexing.index(x, key=_parsed(key, x.shape)))
    except IndexError as error:
        raise _mismatch(key) from error


def _parsed(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    if any(type(part) is Native for part in key):
        return indexing.parse_key(key, shape).parts
    return key


def _mismatch(key: tuple[Any, ...]) -> IndexError:
    shapes = ", ".join(str(list(part.shape)) for part in key if type(part) is not slice)
    return IndexError(
        f"the indices have shapes {shapes}, which do not broadcast; give them one shape"
    )


_gathered = guarded(_gather, "IndexBackward0")


def getitem(self: Tensor, key: Any) -> Tensor:
    """Return x[key]: a view, unless there is a tensor, a list or a mask in the key."""
    if type(key) is slice:
        memory.check_usable(self)
    basic, arrays, label = read_key(key, self._raw.shape)
    if all(type(part) is slice for part in arrays):
        return _part_of(self, basic, label)
    if not _is_trivial(basic):
        self = _part_of(self, basic, label)
    found: Tensor = _gathered(self, arrays)
    return found


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write to x[key]."""
    if key is False:
        return
    if _is_bytes(key) and not isinstance(value, Tensor):
        raise RuntimeError(
            "x[mask] = number takes booleans, and this mask has bytes; write mask.bool()"
        )
    basic, arrays, label = read_key(key, self._raw.shape)
    given = _value(self, value)
    memory.check_writable(self)
    if all(type(part) is slice for part in arrays):
        if isinstance(value, Tensor) and type(self._raw) is np.ndarray:
            if _is_same_place(self, basic, value):
                return
            place = self._raw[(*basic, ...)]
            if place.shape == value._raw.shape:
                memory.check_apart(place, value._raw)
        with Tracking():
            if _is_trivial(basic):
                memory.overwrite(self, _stripped(given, self._raw.shape))
                return
            shape = _shape_of(basic, self._raw.shape)
            step = functools.partial(_sliced, basic=basic)
            memory.overwrite_part(self, step, _stripped(given, shape))
        return
    if not _is_trivial(basic):
        self = _part_of(self, basic, label)
    _put_there(self, arrays, given, False)


def _is_bytes(key: Any) -> bool:
    return isinstance(key, Tensor) and key._raw.dtype == np.uint8


def _shape_of(basic: tuple[Any, ...], shape: Any) -> tuple[int, ...]:
    return tuple(np.broadcast_to(np.empty((), bool), tuple(shape))[basic].shape)


def _value(tensor: Tensor, value: Any) -> Native:
    """Return what is assigned to elements of a tensor."""
    if isinstance(value, (bool, int, float, complex, np.generic)):
        number = value.item() if isinstance(value, np.generic) else value
        return wrap_native(_number(number, tensor._raw.dtype))
    if not isinstance(value, Tensor):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a tensor of {tensor.dtype}; write "
            "torch.tensor(value)"
        )
    return convert(value)


def _number(value: Any, kind: np.dtype) -> np.ndarray:
    """Return a number in a dtype, which must not lose an imaginary part."""
    if isinstance(value, complex) and kind.kind != "c":
        if value.imag:
            raise RuntimeError(f"the number does not fit into {kind}; write x.to() first")
        value = value.real
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(kind)


def _stripped(value: Native, shape: Any) -> Native:
    """Return a value without the axes of length 1 that it has before those of its place."""
    extra = len(value._raw.shape) - len(shape)
    if extra > 0 and all(n == 1 for n in value._raw.shape[:extra]):
        return ns.reshape(value, tuple(value._raw.shape[extra:]))
    return value


def _is_same_place(tensor: Tensor, basic: tuple[Any, ...], value: Any) -> bool:
    """Return whether a value is the very part that it is assigned to, as in ``x[0] += 1``."""
    if not isinstance(value, Tensor) or type(tensor._raw) is not np.ndarray:
        return False
    if value._base is None or memory.base_of(value) is not memory.base_of(tensor):
        return False
    if type(value._raw) is not np.ndarray:
        return False
    there, here = tensor._raw[(*basic, ...)], value._raw
    same = there.shape == here.shape and memory.steps(there) == memory.steps(here)
    if not same or there.ctypes.data != here.ctypes.data or there.dtype != here.dtype:
        return False
    memory.note_write(there)
    return True


def _put_there(tensor: Tensor, key: tuple[Any, ...], value: Native, accumulate: bool) -> None:
    """Write to the elements that index arrays select, or add to them."""
    memory.check_writable(tensor)
    memory.check_apart(tensor._raw, value._raw, False)
    with Tracking(), translated("index_put_"):
        value = _for_index_put(convert(tensor), key, value)
        raw = tensor._raw
        if type(raw) is not np.ndarray or type(value._raw) is not np.ndarray or _differs(key):
            memory.overwrite(tensor, _changed(convert(tensor), key, value, accumulate), 0)
            return
        memory.check_memory(raw, True)
        if GRAD in current() and value._node is not None and GRAD in value._node.tokens:
            memory.check_view(tensor)
        before = tensor._node if accumulate else None
        if accumulate:
            np.add.at(raw, key, value._raw)
        else:
            raw[key] = value._raw
        memory.note_write(raw)
        base = memory.base_of(tensor)
        if accumulate:
            node = _sum_entry(raw, before, key, value)
            memory.settle(base, memory.path_of(tensor), node, True)
        else:
            memory.settle(
                base, memory.path_of(tensor), value._node, label="IndexPutBackward0", key=key
            )


def _changed(x: Native, key: tuple[Any, ...], value: Native, accumulate: bool) -> Native:
    """Return a tensor with other values at a key, or with values added there."""
    key = _parsed(key, x.shape)
    if accumulate:
        return updates.at_add(x, value, key=key)
    return updates.at_set(x, value, key=key, winners=None)


def _sum_entry(raw: Any, before: Any, key: tuple[Any, ...], value: Native) -> Any:
    """Return the node of a tensor that values were added to. Nothing is computed."""
    nodes = [before, value._node]
    tokens = interested(nodes)
    if not tokens:
        return None
    op = updates.at_add.op
    node = record(op, raw, [raw, value._raw], nodes, {"key": key}, tokens)._node
    if node is not None:
        mark(node, "IndexPutBackward0")
    return node


def _differs(key: tuple[Any, ...]) -> bool:
    return any(type(part) is Native for part in key)


def _for_index_put(x: Native, key: tuple[Any, ...], value: Native) -> Native:
    """Return values in the shape of what they replace."""
    if value._raw.dtype != x._raw.dtype:
        raise RuntimeError(
            f"a value of {dtypes.of_numpy(value._raw.dtype)} is assigned to elements of "
            f"{dtypes.of_numpy(x._raw.dtype)}; convert it with value.to(x.dtype)"
        )
    try:
        shape = indexing.selected_shape(_parsed(key, x.shape), x.shape)
    except IndexError as error:
        raise _mismatch(key) from error
    value = _stripped(value, shape)
    try:
        return ns.broadcast_to(value, shape)
    except ValueError as error:
        raise RuntimeError(
            f"a value of shape {list(value._raw.shape)} does not broadcast to the {list(shape)} "
            "elements that it is assigned to"
        ) from error


put(("Tensor.__getitem__",), getitem)
put(("Tensor.__setitem__",), setitem)


def _index_key(indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the key of index_put: a sequence of index tensors."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"index_put(): the indices are a {type(indices).__name__}; give a tuple of tensors"
        )
    for part in indices:
        if not isinstance(part, Tensor):
            raise TypeError(f"index_put(): indices hold a {type(part).__name__}; expected Tensors")
    return read_key(tuple([_with_axis(p) for p in indices]), shape).arrays


def _with_axis(index: Tensor) -> Any:
    return index if index._raw.shape else made(np.reshape(index._raw, (1,)))


@plain("Tensor.index_put_", "index_put_")
def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """Write to the elements at some indices, or add to them."""
    _put_there(self, _index_key(indices, self._raw.shape), convert(values), accumulate)
    return self


@offered("index_put")
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return a tensor with other values at some indices, or with values added there."""
    x = convert(input)
    key = _index_key(indices, x.shape)
    return _changed(x, key, _for_index_put(x, key, convert(values)), accumulate)


# -- along one axis --------------------------------------------------------------------------------


def _places(index: Any, name: str, kinds: str = "il") -> np.ndarray | Native:
    """Return an index tensor's numbers; those of many examples stay a tensor."""
    if not isinstance(index, Tensor):
        raise TypeError(f"{name}(): index is a {type(index).__name__}; write torch.tensor(index)")
    if index._raw.dtype != np.int64 and (index._raw.dtype != np.int32 or "i" not in kinds):
        raise RuntimeError(f"{name}(): the index has dtype {index.dtype}; write index.long()")
    return convert(index) if type(index._raw) is Batched else values_of(index).astype(np.intp)


def _line(index: Any, name: str) -> Any:
    """Return a list of places, which may be given as a tensor without axes."""
    places = _places(index, name)
    if places.ndim > 1:
        raise IndexError(f"{name}(): the index has shape {places.shape}; give a vector")
    if isinstance(places, Native):
        return places if places.ndim else ns.reshape(places, (1,))
    return places.reshape(-1)


def _checked(places: Any, n: int, name: str, error: type[Exception] = IndexError) -> Any:
    if isinstance(places, np.ndarray) and places.size:
        low, high = places.min(), places.max()
        if low < 0 or high >= n:
            raise error(
                f"{name}(): there is no index {low if low < 0 else high} on an axis of {n} elements"
            )
    return places


def _along(axis: int, places: Any) -> tuple[Any, ...]:
    return (*(_ALL,) * axis, places)


@offered("index_select")
def index_select(input: Any, dim: Any, index: Any) -> Any:
    """Return the elements at some places of an axis."""
    x, places = convert(input), _line(index, "index_select")
    axis = axis_of(dim, x.ndim)
    _checked(places, x.shape[axis] if x.ndim else 1, "index_select")
    if not x.ndim:
        return ns.reshape(x, ())
    return in_order(indexing.getitem(x, _along(axis, places)))


def _source(x: Native, source: Any, axis: int, places: Any, name: str) -> Native:
    """Return what is put at some places of an axis, checked against them."""
    values = convert(source, what="source")
    if name == "index_copy" and values.ndim == x.ndim and values.shape[axis] != places.shape[0]:
        raise IndexError(
            f"index_copy_(): {places.shape[0]} indices for {values.shape[axis]} slices of the "
            "source; give one index for each slice"
        )
    if values.dtype != x.dtype:
        raise RuntimeError(
            f"{name}(): the source has dtype {dtypes.of_numpy(values.dtype)}, and the tensor "
            f"{dtypes.of_numpy(x.dtype)}; convert one of them"
        )
    count = places.shape[0]
    if not values.ndim and x.ndim <= 1:
        values = ns.reshape(values, (1,) if x.ndim else ())
    wanted = (*x.shape[:axis], count, *x.shape[axis + 1 :]) if x.ndim else ()
    if values.shape != wanted:
        raise RuntimeError(
            f"{name}(): the source has shape {list(values.shape)}, and slices of {list(wanted)} "
            "are written; give it that shape"
        )
    return values


def _in_line(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a tensor with at least one axis, for tensors with none as well."""

    @functools.wraps(function)
    def call(input: Any, dim: Any, index: Any, *args: Any, **options: Any) -> Any:
        x = convert(input)
        if x.ndim:
            return function(x, dim, index, *args, **options)
        values = [
            expand_dims(convert(a), axis=0) if isinstance(a, Tensor) and not a._raw.shape else a
            for a in args
        ]
        found = function(ns.reshape(x, (1,)), dim, index, *values, **options)
        return ns.reshape(found, ())

    return call


@offered("index_add", in_place=True)
@_in_line
def index_add(input: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return a tensor with others added at some places of an axis."""
    x, places = convert(input), _line(index, "index_add")
    axis = axis_of(dim, x.ndim)
    values = _source(x, source, axis, _checked(places, x.shape[axis], "index_add"), "index_add")
    if alpha != 1:
        values = ns.multiply(values, wrap_native(_number(alpha, x.dtype)))
    return x.at[_along(axis, places)].add(values)


@offered("index_copy", in_place=True)
@_in_line
def index_copy(input: Any, dim: Any, index: Any, source: Any) -> Any:
    """Return a tensor with others at some places of an axis."""
    x, places = convert(input), _line(index, "index_copy")
    axis = axis_of(dim, x.ndim)
    values = _source(x, source, axis, _checked(places, x.shape[axis], "index_copy"), "index_copy")
    return _set(x, _along(axis, places), values)


def _set(x: Native, key: tuple[Any, ...], values: Native) -> Any:
    """Return a tensor with other values at a key. Each value has the derivative of its place."""
    parts = indexing.parse_key(key, x.shape).parts
    shape = indexing.selected_shape(parts, x.shape)
    return updates.at_set(x, ns.broadcast_to(values, shape), key=parts, winners=None)


@offered("index_fill", in_place=True)
def index_fill(input: Any, dim: Any, index: Any, value: Any) -> Any:
    """Return a tensor with one value at some places of an axis."""
    whole, places = convert(input), _line(index, "index_fill")
    axis = axis_of(dim, whole.ndim)
    x = whole if whole.ndim else ns.reshape(whole, (1,))
    if type(places) is np.ndarray:  # a place that is named twice counts once in derivatives
        n = x.shape[axis]
        places = np.unique(np.where((-n <= places) & (places < 0), places + n, places))
    found = _set(x, _along(axis, places), _scalar(value, x, "index_fill"))
    return found if whole.ndim else ns.reshape(found, ())


def _scalar(value: Any, x: Native, name: str) -> Native:
    """Return a number, or a tensor without axes, in the dtype of another tensor."""
    if isinstance(value, (Tensor, Native)):
        if value._raw.shape:
            raise RuntimeError(
                f"{name}: the value has {len(value._raw.shape)} axes; give a single number"
            )
        return astype(convert(value), x._raw.dtype)
    if not is_operand(value):
        raise TypeError(f"{name}(): value is a {type(value)}; give a number or a tensor")
    return wrap_native(_number(value, x._raw.dtype))


# -- elements along an axis ------------------------------------------------------------------------


def _element_key(x: Native, axis: int, index: Any) -> tuple[Any, ...]:
    """Return the key of the elements of a tensor with the places of `index` along one axis."""
    shape = index.shape
    key: list[Any] = list(np.ogrid[tuple(map(slice, shape))])
    key[axis] = index
    if isinstance(index, Native):
        return indexing.parse_key(tuple(key), x.shape).parts
    return tuple(key)


def _elements(
    input: Any, dim: Any, index: Any, name: str, src: Any = None
) -> tuple[Native, int, Any, Any]:
    """Return a tensor, an axis, places along it and values for them, checked."""
    x, places = convert(input), _places(index, name, "l" if name != "gather" else "il")
    axis = axis_of(dim, x.ndim)
    values = None if src is None else convert(src, what="src")
    if not x.ndim:
        x = ns.reshape(x, (1,))
    if not places.ndim:
        places = ns.reshape(places, (1,)) if isinstance(places, Native) else places.reshape(1)
    if values is not None and not values.ndim:
        values = ns.reshape(values, (1,))
    if isinstance(places, np.ndarray) and not places.size:
        return x, axis, None, values
    _check_extent(x, axis, places, values, name)
    _checked(places, x.shape[axis], name, RuntimeError)
    if values is not None:
        values = values[tuple(slice(n) for n in places.shape)]
    return x, axis, places, values


def _check_extent(x: Native, axis: int, places: Any, values: Native | None, name: str) -> None:
    if places.ndim != x.ndim:
        raise RuntimeError(
            f"the index has {places.ndim} axes, and the tensor has {x.ndim}; give it as many"
        )
    if any(m > n for a, (m, n) in enumerate(zip(places.shape, x.shape, strict=True)) if a != axis):
        raise RuntimeError(
            f"{name}(): an index of shape {list(places.shape)} is too large for a tensor of "
            f"shape {list(x.shape)}; only axis {axis} may be longer"
        )
    if values is None:
        return
    if values.ndim != places.ndim:
        raise RuntimeError(
            f"the index has {places.ndim} axes, and src has {values.ndim}; give it as many"
        )
    if any(m > n for m, n in zip(places.shape, values.shape, strict=True)):
        raise RuntimeError(
            f"{name}(): an index of shape {list(places.shape)} is too large for src of shape "
            f"{list(values.shape)}"
        )


@offered("gather")
def gather(input: Any, dim: Any, index: Any, *, sparse_grad: bool = False) -> Any:
    """Return the elements at places along one axis, one for each element of the index."""
    shape = index._raw.shape if isinstance(index, Tensor) else ()
    x, axis, places, _ = _elements(input, dim, index, "gather")
    if places is None:
        found = indexing.index(ns.reshape(x, (-1,)), key=(np.zeros(0, np.intp),))
        return ns.reshape(found, shape)
    return ns.reshape(indexing.index(x, key=_element_key(x, axis, places)), shape)


@offered("take_along_dim", label="GatherBackward0")
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Return the elements at places along one axis, broadcast over the others."""
    x, places = convert(input), _places(indices, "take_along_dim", "l")
    if dim is None:
        return indexing.getitem(ns.reshape(x, (-1,)), _flat(places))
    if x.ndim != places.ndim:
        raise RuntimeError(
            f"take_along_dim(): the tensor has {x.ndim} axes, and the indices have "
            f"{places.ndim}; give them as many"
        )
    axis = axis_of(dim, x.ndim)
    _checked_around(places, x.shape[axis], "take_along_dim")
    return in_order(ns.take_along_axis(x, places, axis=axis))


def _flat(places: Any) -> Any:
    return ns.reshape(places, (-1,)) if isinstance(places, Native) else places.reshape(-1)


def _checked_around(places: Any, n: int, name: str, error: type[Exception] = IndexError) -> Any:
    """Return places that may be counted from the end, having checked them."""
    if isinstance(places, np.ndarray) and places.size:
        low, high = places.min(), places.max()
        if low < -n or high >= n:
            raise error(f"{name}: there is no index {low if low < -n else high} among {n}")
    return places


@offered("scatter", label="ScatterBackward0")
def scatter(
    input: Any, dim: Any, index: Any, src: Any = None, value: Any = None, *, reduce: Any = None
) -> Any:
    """Return a tensor with others (or a number) at places along one axis."""
    return _scattered(input, dim, index, src, value, reduce)


def _scattered(input: Any, dim: Any, index: Any, src: Any, value: Any, reduce: Any) -> Any:
    given = src if src is not None else value
    if given is None:
        raise TypeError("scatter() needs src or value; give one of them")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("scatter(): reduce is unknown; give 'add' or 'multiply'")
    whole = convert(input)
    if not isinstance(given, (Tensor, Native)):
        number = wrap_native(_number(given, whole.dtype))
        shape = index._raw.shape if isinstance(index, Tensor) else ()
        given = ns.broadcast_to(number, shape)
    elif given._raw.dtype != whole.dtype:
        raise RuntimeError("scatter: src has another dtype than x; write src.to(x.dtype)")
    x, axis, places, values = _elements(input, dim, index, "scatter", given)
    if places is None:
        return ns.positive(whole)
    key = _element_key(x, axis, places)
    if reduce == "add":
        found = x.at[key].add(values)
    elif reduce == "multiply":
        found = x.at[key].multiply(values)
    else:
        found = updates.at_set(x, values, key=key, winners=None)
    return ns.reshape(found, whole.shape)


put_in_place("scatter", scatter)


@offered("scatter_add", in_place=True)
def scatter_add(input: Any, dim: Any, index: Any, src: Any) -> Any:
    """Return a tensor with others added at places along one axis."""
    whole = convert(input)
    if convert(src, what="src").dtype != whole.dtype:
        raise RuntimeError("scatter_add: src has another dtype than x; write src.to(x.dtype)")
    x, axis, places, values = _elements(input, dim, index, "scatter_add", src)
    if places is None:
        return ns.positive(whole)
    return ns.reshape(x.at[_element_key(x, axis, places)].add(values), whole.shape)


@offered("scatter_reduce", in_place=True)
def scatter_reduce(
    input: Any, dim: Any, index: Any, src: Any, reduce: Any, *, include_self: bool = True
) -> Any:
    """Return a tensor with the sum (or another reduction) of elements and others at places."""
    whole = convert(input)
    if convert(src, what="src").dtype != whole.dtype:
        raise RuntimeError("scatter_reduce: src has another dtype than x; write src.to(x.dtype)")
    x, axis, places, values = _elements(input, dim, index, "scatter_reduce", src)
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    _check_reduction(reduce, ("sum", "prod", "mean", "amax", "amin"), "scatter_reduce")
    if places is None:
        return ns.positive(whole)
    key = _element_key(x, axis, places)
    return ns.reshape(_reduced(x, key, values, reduce, include_self), whole.shape)


@offered("index_reduce", in_place=True)
@_in_line
def index_reduce(
    input: Any, dim: Any, index: Any, source: Any, reduce: Any, *, include_self: bool = True
) -> Any:
    """Return a tensor with a reduction of elements and others at places of an axis."""
    x, places = convert(input), _line(index, "index_reduce")
    axis = axis_of(dim, x.ndim)
    _check_reduction(reduce, ("prod", "mean", "amax", "amin"), "index_reduce")
    values = _source(
        x, source, axis, _checked(places, x.shape[axis], "index_reduce"), "index_reduce"
    )
    key = indexing.parse_key(_along(axis, places), x.shape).parts
    return _reduced(x, key, values, reduce, include_self)


def _check_reduction(reduce: Any, known: tuple[str, ...], name: str) -> None:
    if reduce not in known:
        raise RuntimeError(f"{name}(): reduce is {reduce}; give one of {', '.join(known)}")


def _lowest(kind: np.dtype, sign: int) -> Any:
    if kind.kind == "f":
        return -sign * np.inf
    if kind.kind == "b":
        return sign < 0
    limits = np.iinfo(kind)
    return limits.min if sign > 0 else limits.max


def _reduced(x: Native, key: Any, values: Native, reduce: str, include_self: bool) -> Any:
    """Return a reduction of the elements of x, if these are included, and values at a key."""
    if not include_self:
        before = x
        neutral = {"prod": 1, "amax": _lowest(x.dtype, 1), "amin": _lowest(x.dtype, -1)}
        nothing = wrap_native(np.full(values.shape, neutral.get(reduce, 0), x.dtype))
        x = updates.at_set(x, nothing, key=key, winners=None)
        if reduce in ("amax", "amin"):
            values = _with_ties(before._raw, x._raw, key, values, reduce)
    if reduce == "prod":
        return x.at[key].multiply(values)
    if reduce == "amax":
        return x.at[key].max(values)
    if reduce == "amin":
        return x.at[key].min(values)
    total = x.at[key].add(values)
    if reduce == "sum":
        return total
    ones = wrap_native(np.ones(values.shape, x.dtype))
    counts = wrap_native(np.full(x.shape, int(include_self), x.dtype)).at[key].add(ones)
    counts = ns.maximum(counts, wrap_native(np.ones((), x.dtype)))
    if x.dtype.kind in "iu":
        return ns.floor_divide(total, counts)
    return ns.divide(total, counts)


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


# -- flat places -----------------------------------------------------------------------------------


def _flat_places(index: Any, size: int, name: str) -> Any:
    places = _places(index, name, "l")
    if isinstance(places, np.ndarray):
        _checked_around(places, size, name)
        return np.where(places < 0, places + size, places)
    return places


@offered("take")
def take(input: Any, index: Any) -> Any:
    """Return the elements at places of the flat tensor."""
    x = convert(input)
    places = _flat_places(index, x.size, "take")
    flat = ns.reshape(x, (-1,))
    if not places.ndim:
        one = places.reshape(1) if isinstance(places, np.ndarray) else ns.reshape(places, (1,))
        return ns.reshape(indexing.getitem(flat, one), ())
    return indexing.getitem(flat, places)


@offered("put", in_place=True)
def put_function(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return a tensor with others at places of the flat tensor, or added there."""
    x, values = convert(input), convert(source, what="source")
    if values.dtype != x.dtype:
        raise RuntimeError("put_(): source has another dtype; write source.to(x.dtype)")
    places = _flat_places(index, x.size, "put_")
    if places.size != values.size:
        raise IndexError(
            f"put_(): {places.size} indices for {values.size} values; give one index for each value"
        )
    flat, values = ns.reshape(x, (-1,)), ns.reshape(values, (-1,))
    key = indexing.parse_key((_flat(places),), flat.shape).parts
    if accumulate:
        found = updates.at_add(flat, values, key=key)
    else:
        found = updates.at_set(flat, values, key=key, winners=None)
    return ns.reshape(found, x.shape)


# -- masks -----------------------------------------------------------------------------------------


def _mask(mask: Any, name: str, bytes_too: bool = False) -> Native:
    if not isinstance(mask, (Tensor, Native)):
        raise TypeError(f"{name}(): mask is a {type(mask).__name__}; give a tensor")
    kind = mask._raw.dtype
    if kind == np.uint8 and bytes_too:
        return convert(mask) != 0
    if kind.kind != "b":
        raise RuntimeError(f"{name}: the mask has dtype {dtypes.of_numpy(kind)}; write mask.bool()")
    if type(mask._raw) is np.ndarray:
        return wrap_native(mask._raw.copy())  # later writes to it leave the rule alone
    return convert(mask)


@offered("masked_fill")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return a tensor with one value where a mask holds."""
    x, where = convert(input), _mask(mask, "masked_fill")
    given = _fill_value(value, x, "masked_fill")
    return apply(conventions.where.op, (where, given, x), {})


def _fill_value(value: Any, x: Native, name: str) -> Native:
    if isinstance(value, (Tensor, Native)):
        kinds = dtypes.category(value._raw.dtype), dtypes.category(x._raw.dtype)
        if kinds[0] > kinds[1]:
            raise RuntimeError(f"the number does not fit into {x.dtype}; write x.to() first")
    return _scalar(value, x, name)


put_in_place("masked_fill", masked_fill)


@offered("masked_select", method=True)
def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask holds, in a row."""
    x, where = convert(input), _mask(mask, "masked_select", True)
    x, where = ns.broadcast_arrays(x, where)
    if not x.ndim:
        x, where = ns.reshape(x, (1,)), ns.reshape(where, (1,))
    return indexing.index(x, key=tuple(values_of(where._raw).nonzero()))


@offered("masked_scatter", in_place=True)
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Return a tensor with the elements of another, one after the other, where a mask holds."""
    x, where = convert(input), _mask(mask, "masked_scatter")
    values = convert(source, what="source")
    if values.dtype != x.dtype:
        raise RuntimeError(
            f"masked_scatter: a source of {dtypes.of_numpy(values.dtype)} for a tensor of "
            f"{dtypes.of_numpy(x.dtype)}; convert one of them"
        )
    x, where = ns.broadcast_arrays(x, where)
    shape = x.shape
    if type(where._raw) is Batched:  # each example has places of its own
        order = ns.reshape(ns.cumulative_sum(ns.reshape(ns.astype(where, np.int64), (-1,))), shape)
        return ns.where(where, ns.take(ns.reshape(values, (-1,)), ns.maximum(order - 1, 0)), x)
    places = np.flatnonzero(values_of(where._raw))
    if places.size > values.size:
        raise RuntimeError(
            f"masked_scatter: {values.size} elements in source for {places.size} places"
        )
    flat = ns.reshape(x, (-1,))
    taken = ns.reshape(values, (-1,))[: places.size]
    return ns.reshape(updates.at_set(flat, taken, key=(places,), winners=None), shape)


@offered("where")
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return elements of one tensor where a condition holds, and else of another.

    With a condition only, return the places where it holds.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    chosen = _mask(condition, "where", True)
    x, y = promoted(input, other)
    return apply(conventions.where.op, (chosen, x, y), {})


def _where_method(self: Any, condition: Any, other: Any) -> Any:
    """Return this tensor where a condition holds, and else another."""
    return where(condition, self, other)


Tensor.where = _where_method  # type: ignore[attr-defined]


@plain("nonzero", "Tensor.nonzero")
def nonzero(input: Any, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Return the places of elements that are not zero: as rows, or one tensor for each axis."""
    raw = backends.to_numpy(convert(input)._raw)
    if as_tuple:
        return tuple(made(p.astype(np.int64)) for p in np.atleast_1d(raw).nonzero())
    found = np.argwhere(raw).astype(np.int64)
    return made(np.ascontiguousarray(found))


@plain("argwhere", "Tensor.argwhere")
def argwhere(input: Any) -> Any:
    """Return the places of elements that are not zero, as rows."""
    return nonzero(input)


@plain("unravel_index")
def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """Return the places along each axis of elements that are given by flat places."""
    flat = _places(indices, "unravel_index")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(lengths))
    if flat.size and (flat.min() < 0 or flat.max() >= size):
        raise as_is(ValueError(f"unravel_index: an index is beyond {size} elements"))
    return tuple([made(np.asarray(p, np.int64)) for p in np.unravel_index(flat, lengths)])


# -- whole tensors ---------------------------------------------------------------------------------


@plain("Tensor.copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Tensor:
    """Write another tensor's values to this one."""
    if isinstance(src, (bool, int, float, complex)):
        src = made(_number(src, self._raw.dtype))
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): got a {type(src).__name__}; give a tensor")
    memory.check_writable(self)
    if src is not self:
        memory.check_apart(self._raw, src._raw)
        memory.overwrite(self, convert(src))
    elif type(self._raw) is np.ndarray:
        memory.note_write(self._raw)
    return self


def _fill(self: Any, value: Any, label: str) -> Tensor:
    memory.check_writable(self)
    with Tracking():
        memory.overwrite(self, _scalar(value, convert(self), "fill_"), label=label)
    return self


@plain("Tensor.fill_", "fill_")
def fill_(self: Any, value: Any) -> Tensor:
    """Write one value to all elements."""
    return _fill(self, value, "FillBackward1" if isinstance(value, Tensor) else "FillBackward2")


@plain("fill")
def fill(input: Any, value: Any) -> Tensor:
    """Return a tensor like another, all of whose elements are one value."""
    found: Tensor = fill_(input.clone(), value)
    return found


@plain("Tensor.zero_", "zero_")
def zero_(self: Any) -> Tensor:
    """Write zeros to all elements."""
    return _fill(self, 0, "ZeroBackward0")


@plain("Tensor.fill_diagonal_")
def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one value to the main diagonal, which goes on below a tall matrix if it wraps."""
    shape = self._raw.shape
    if len(shape) < 2:
        raise RuntimeError("fill_diagonal_: give a tensor of 2 axes or more")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("fill_diagonal_: more than 2 axes must have one length")
    places = np.zeros(shape, bool)
    np.fill_diagonal(places, True, wrap=wrap and len(shape) == 2)
    rows = tuple(made(p) for p in places.nonzero())
    value = wrap_native(_number(fill_value, self._raw.dtype))
    _put_there(self, _index_key(rows, shape), value, False)
    return self
