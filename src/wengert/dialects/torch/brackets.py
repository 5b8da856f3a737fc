"""Brackets and other writes to tensors: x[key], index_put, copy_ and fill_.

A key is read in PyTorch's order: integers, slices and new axes first, which give a view; then
tensors, lists and masks, which gather elements or replace them.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.torch import dtypes, memory
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.copies import in_order
from wengert.dialects.torch.kinds import Bool, Given, Input, Number
from wengert.dialects.torch.modes import GRAD, Tracking, current
from wengert.dialects.torch.strides import check_apart, check_memory, steps
from wengert.dialects.torch.table import as_is, direct, guarded, offered, plain, put, translated
from wengert.dialects.torch.tensors import (
    Tensor,
    astype,
    convert,
    is_operand,
    made,
    mark,
    ns,
    values_of,
)
from wengert.dialects.torch.viewing import part_of, sliced
from wengert.engine.batching import Batched
from wengert.engine.node import watching
from wengert.engine.record import interested, record
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import indexing, updates

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
        raise IndexError(
            f"there are {used} indices for {len(shape)} axes; write x.item() for a single number"
        )
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
            arrays += _read_array(part, shape[axis : axis + count], axis)
            basic += [_ALL] * count
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
        if (watcher := watching.get()) is not None:
            watcher.left(part, "an index")
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


def _is_trivial(basic: tuple[Any, ...]) -> bool:
    return all(part is _ALL or part == _ALL for part in basic)


@functools.partial(guarded, label="IndexBackward0")
def _gathered(input: Input, key: Any) -> Native:
    try:
        return in_order(indexing.index(input, key=_parsed(key, input.shape)))
    except IndexError as error:
        raise _mismatch(key) from error


def _differs(key: tuple[Any, ...]) -> bool:
    """Return whether a key differs between examples."""
    return any(type(part) is Native for part in key)


def _parsed(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    return indexing.parse_key(key, shape).parts if _differs(key) else key


def _mismatch(key: tuple[Any, ...]) -> IndexError:
    shapes = ", ".join(str(list(part.shape)) for part in key if type(part) is not slice)
    return IndexError(
        f"the indices have shapes {shapes}, which do not broadcast; give them one shape"
    )


def getitem(self: Tensor, key: Any) -> Tensor:
    """Return x[key]: a view, unless there is a tensor, a list or a mask in the key."""
    if type(key) is slice:
        memory.check_usable(self)
    basic, arrays, label = read_key(key, self._raw.shape)
    if all(type(part) is slice for part in arrays):
        return part_of(self, basic, label)
    if not _is_trivial(basic):
        self = part_of(self, basic, label)
    return _gathered(self, arrays)


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write to x[key]."""
    if key is False:
        return
    if isinstance(key, Tensor) and key._raw.dtype == np.uint8 and not isinstance(value, Tensor):
        raise RuntimeError(
            "x[mask] = number takes booleans, and this mask has bytes; write mask.bool()"
        )
    basic, arrays, label = read_key(key, self._raw.shape)
    given = _value(value, self._raw.dtype)
    memory.check_writable(self)
    if all(type(part) is slice for part in arrays):
        if isinstance(value, Tensor) and type(self._raw) is np.ndarray:
            if _is_same_place(self, basic, value):
                return
            target = self._raw[(*basic, ...)]
            if target.shape == value._raw.shape:
                check_apart(target, value._raw)
        with Tracking():
            if _is_trivial(basic):
                memory.overwrite(self, _stripped(given, self._raw.shape))
                return
            if given._raw.shape:
                given = _stripped(given, _shape_of(basic, self._raw.shape))
            memory.overwrite_part(self, functools.partial(sliced, parts=basic), given)
        return
    if not _is_trivial(basic):
        self = part_of(self, basic, label)
    _put_there(self, arrays, given, False)


def _shape_of(basic: tuple[Any, ...], shape: Any) -> tuple[int, ...]:
    return tuple(np.broadcast_to(np.empty((), bool), tuple(shape))[basic].shape)


def _value(value: Any, kind: np.dtype) -> Native:
    """Return what is assigned to elements: a number in their dtype, or a tensor."""
    if isinstance(value, (Tensor, Native)):
        return convert(value)
    if not is_operand(value):
        raise TypeError(
            f"can't assign a {type(value).__name__} to elements of {kind}; write "
            "torch.tensor(value)"
        )
    return wrap_native(as_number(value, kind))


def as_number(value: Any, kind: np.dtype) -> np.ndarray:
    """Return a number in a dtype, which must not lose an imaginary part."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, complex) and kind.kind != "c":
        if value.imag:
            raise RuntimeError(f"the number does not fit into {kind}; write x.to() first")
        value = value.real
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(kind)


def _stripped(value: Native, shape: Any) -> Native:
    """Return a value without the axes of length 1 that it has before those of its target."""
    extra = len(value._raw.shape) - len(shape)
    if extra > 0 and all(n == 1 for n in value._raw.shape[:extra]):
        return ns.reshape(value, tuple(value._raw.shape[extra:]))
    return value


def _is_same_place(tensor: Tensor, basic: tuple[Any, ...], value: Tensor) -> bool:
    """Return whether a value is the very part that it is assigned to, as in ``x[0] += 1``."""
    if value._base is None or memory.base_of(value) is not memory.base_of(tensor):
        return False
    if type(value._raw) is not np.ndarray:
        return False
    there, here = tensor._raw[(*basic, ...)], value._raw
    same = there.shape == here.shape and steps(there) == steps(here)
    if not same or there.ctypes.data != here.ctypes.data or there.dtype != here.dtype:
        return False
    memory.note_write(there)
    return True


def _put_there(tensor: Tensor, key: tuple[Any, ...], value: Native, accumulate: bool) -> None:
    """Write to the elements that index arrays select, or add to them."""
    memory.check_writable(tensor)
    check_apart(tensor._raw, value._raw, False)
    with Tracking(), translated("index_put_"):
        value = _for_index_put(convert(tensor), key, value)
        raw = tensor._raw
        if type(raw) is not np.ndarray or type(value._raw) is not np.ndarray or _differs(key):
            memory.overwrite(tensor, _changed(convert(tensor), key, value, accumulate), 0)
            return
        check_memory(raw, True)
        if GRAD in current() and value._node is not None and GRAD in value._node.tokens:
            memory.check_view(tensor)
        before, node = tensor._node if accumulate else None, value._node
        if accumulate:
            np.add.at(raw, key, value._raw)
            node = _sum_node(raw, before, key, value)
        else:
            raw[key] = value._raw
        memory.note_write(raw)
        base, path = memory.base_of(tensor), memory.path_of(tensor)
        there = None if accumulate else key
        memory.settle(base, path, node, accumulate, "IndexPutBackward0", there)


def _changed(x: Native, key: tuple[Any, ...], value: Native, accumulate: bool) -> Native:
    """Return a tensor with other values at a key, or with values added there."""
    key = _parsed(key, x.shape)
    if accumulate:
        return updates.at_add(x, value, key=key)
    return updates.at_set(x, value, key=key, winners=None)


def _sum_node(raw: Any, before: Any, key: tuple[Any, ...], value: Native) -> Any:
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
    return ns.broadcast_to(_stripped(value, shape), shape)


put(("Tensor.__getitem__",), getitem)
put(("Tensor.__setitem__",), setitem)


def _index_key(indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the key of index_put: a sequence of index tensors."""
    parts = indices if isinstance(indices, (tuple, list)) else (None,)
    for part in parts:
        if not isinstance(part, Tensor):
            given = indices if part is None else part
            raise TypeError(
                f"index_put(): indices are, or hold, a {type(given).__name__}; give a tuple of "
                "tensors"
            )
    with_axes = [p if p._raw.shape else made(np.reshape(p._raw, (1,))) for p in parts]
    return read_key(tuple(with_axes), shape).arrays


@direct("Tensor.index_put_", "index_put_")
def index_put_(self: Given, indices: Any, values: Given, accumulate: Bool = False) -> Tensor:
    """Write to the elements at some indices, or add to them."""
    _put_there(self, _index_key(indices, self._raw.shape), convert(values), accumulate)
    return self


@offered("index_put")
def index_put(input: Input, indices: Any, values: Input, accumulate: Bool = False) -> Native:
    """Return a tensor with other values at some indices, or with values added there."""
    key = _index_key(indices, input.shape)
    return _changed(input, key, _for_index_put(input, key, values), accumulate)


# -- whole tensors ---------------------------------------------------------------------------------


def scalar(value: Any, x: Native, name: str) -> Native:
    """Return a number, or a tensor without axes, in the dtype of another tensor."""
    found = _value(value, x._raw.dtype)
    if found._raw.shape:
        raise RuntimeError(f"{name}: the value has {found.ndim} axes; give a single number")
    return astype(found, x._raw.dtype)


@direct("Tensor.copy_")
def copy_(self: Given, src: Any, non_blocking: Any = False) -> Tensor:
    """Write another tensor's values to this one."""
    value = _value(src, self._raw.dtype)
    memory.check_writable(self)
    if src is not self:
        check_apart(self._raw, value._raw)
        memory.overwrite(self, value)
    elif type(self._raw) is np.ndarray:
        memory.note_write(self._raw)
    return self


def _fill(self: Any, value: Any, label: str) -> Tensor:
    memory.check_writable(self)
    with Tracking():
        memory.overwrite(self, scalar(value, convert(self), "fill_"), label=label)
    return self


@direct("Tensor.fill_", "fill_")
def fill_(self: Given, value: Any) -> Tensor:
    """Write one value to all elements."""
    return _fill(self, value, "FillBackward1" if isinstance(value, Tensor) else "FillBackward2")


@plain("fill")
def fill(input: Any, value: Any) -> Tensor:
    """Return a tensor like another, all of whose elements are one value."""
    return fill_(input.clone(), value)


@direct("Tensor.zero_", "zero_")
def zero_(self: Given) -> Tensor:
    """Write zeros to all elements."""
    return _fill(self, 0, "ZeroBackward0")


@direct("Tensor.fill_diagonal_")
def fill_diagonal_(self: Given, fill_value: Number, wrap: Bool = False) -> Tensor:
    """Write one value to the main diagonal, which goes on below a tall matrix if it wraps."""
    shape = self._raw.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise misfit("fill_diagonal_", "a matrix, or axes of one length", input=self)
    chosen = np.zeros(shape, bool)
    np.fill_diagonal(chosen, True, wrap=wrap and len(shape) == 2)
    value = wrap_native(as_number(fill_value, self._raw.dtype))
    _put_there(self, chosen.nonzero(), value, False)
    return self
