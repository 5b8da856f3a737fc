"""Views of memory with any strides."""

from __future__ import annotations

import functools
import weakref
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.torch import memory
from wengert.dialects.torch.copies import with_part
from wengert.dialects.torch.kinds import Given, Input, Int, Ints
from wengert.dialects.torch.table import as_view, both, direct, guarded
from wengert.dialects.torch.tensors import Tensor, ns
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native


class Strides(NamedTuple):
    """A view of memory: its strides, and the positions of its elements in the tensor it is of."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    #: how far from the first element of the tensor it begins
    start: int
    #: the strides that the tensor had
    before: tuple[int, ...]
    #: flat positions in the tensor; -1 for an element of the memory that is not in it
    positions: np.ndarray
    #: whether all of its elements are in the tensor, and a reference to the memory
    inside: bool
    home: Any


@functools.partial(as_view, label="AsStridedBackward0")
def _strided(input: Input, view: Any) -> Native:
    return _viewed(input, view)


def _viewed(input: Native, view: Strides) -> Native:
    raw = input._raw
    found = ns.gather_flat(input, shape=view.shape, positions=view.positions)
    if type(raw) is not np.ndarray or _in_elements(raw) != view.before:
        return found
    if not view.inside and view.home() is not memory.owner(raw):
        return found  # what is around another array is not the tensor's memory
    item, distance = raw.dtype.itemsize, abs(view.start)
    step = item if view.start >= 0 else -item
    # from the array itself, so that writes are counted with its own
    ahead = np.lib.stride_tricks.as_strided(raw, (distance + 1,), (step,))[distance:]
    steps = [s * item for s in view.strides]
    return wrap_native(np.lib.stride_tricks.as_strided(ahead, view.shape, steps), found._node)


def _in_elements(raw: np.ndarray) -> tuple[int, ...]:
    return tuple(s // raw.dtype.itemsize for s in raw.strides)


@direct(*both("as_strided"))
def as_strided(input: Given, size: Ints, stride: Ints, storage_offset: Int | None = None) -> Tensor:
    """Return a view of a tensor's memory with any strides.

    Elements that are not the tensor's have no derivative.
    """
    found: Tensor = _strided(input, _strides_of(input, size, stride, storage_offset))
    if found._base is not None and found._base is not input:
        # after a write to the memory, it is a view of all of that
        first = _offset(input) if storage_offset is None else storage_offset
        whole = _strides_of(found._base, size, stride, first)
        found._path = (functools.partial(_viewed, view=whole),)
    return found


def _scatter(input: Input, src: Input, view: Any) -> Native:
    return with_part(input, src, functools.partial(_viewed, view=view))


_scattered = guarded(_scatter, "AsStridedScatterBackward0")


@direct(*both("as_strided_scatter"))
def as_strided_scatter(
    input: Given, src: Any, size: Ints, stride: Ints, storage_offset: Int | None = None
) -> Tensor:
    """Return a tensor with other elements in a view of its memory with any strides."""
    found: Tensor = _scattered(input, src, _strides_of(input, size, stride, storage_offset))
    return found


def _offset(tensor: Tensor) -> int:
    """Return where in its memory a tensor begins."""
    raw = backends.to_numpy(tensor._raw)
    distance: int = raw.ctypes.data - memory.owner(raw).ctypes.data
    return distance // raw.dtype.itemsize


def _strides_of(
    tensor: Tensor, shape: tuple[int, ...], strides: tuple[int, ...], offset: int | None
) -> Strides:
    if len(shape) != len(strides):
        raise RuntimeError(
            f"strides {list(strides)} do not fit shape {list(shape)}; give one for each axis"
        )
    raw = backends.to_numpy(tensor._raw)
    whole, first = memory.owner(raw), _offset(tensor)
    begin = first if offset is None else offset
    positions = begin + _offsets(shape, strides)
    count = whole.nbytes // raw.dtype.itemsize
    if offset is None and positions.size and not raw.size and tensor._base is not None:
        raise RuntimeError(
            "as_strided: the tensor is a view without elements, and where such a view begins in "
            "memory is not known; give storage_offset"
        )
    if positions.size and (begin < 0 or positions.max() >= count):
        raise RuntimeError(
            f"as_strided: size {list(shape)} with strides {list(strides)} from {begin} on goes "
            f"beyond the {count} elements of the memory"
        )
    numbers = np.full(count, -1)
    numbers[first + _offsets(raw.shape, _in_elements(raw))] = np.arange(raw.size).reshape(raw.shape)
    found = numbers[positions]
    inside = not found.size or bool(found.min() >= 0)
    return Strides(
        shape, strides, begin - first, _in_elements(raw), found, inside, weakref.ref(whole)
    )


def _offsets(shape: Any, strides: Any) -> Any:
    """Return how far from the first one the elements of an array are in memory."""
    found = np.zeros(shape, np.intp)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
        found += (np.arange(n) * step).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return found
