"""Copies of tensors, with other elements in a part of them, or laid out in memory otherwise."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import memory, views
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.kinds import Axis, Given, Input, Int, Ints
from wengert.dialects.torch.table import both, direct, offered
from wengert.dialects.torch.tensors import Native, Tensor, astype, ns, wrap_native


def copied(x: Native) -> Native:
    """Return a tensor with memory of its own, through which derivatives go."""
    if backends.is_inexact(x._raw.dtype) or type(x._raw) is not np.ndarray:
        return ns.positive(x) if x._raw.dtype.kind != "b" else x
    return wrap_native(x._raw.copy())


def in_order(x: Native) -> Native:
    """Return a new tensor with its elements in memory in their order, as PyTorch has them."""
    raw = x._raw
    if type(raw) is not np.ndarray or raw.flags.c_contiguous:
        return x
    return wrap_native(np.ascontiguousarray(raw), x._node)


@offered("clone")
def clone(input: Input, *, memory_format: Any = None) -> Native:
    """Return a copy, through which derivatives go."""
    return copied(input)


@direct("Tensor.contiguous")
def contiguous(self: Given, memory_format: Any = None) -> Tensor:
    """Return a tensor whose elements lie in memory in their order: itself, or a copy."""
    if type(self._raw) is not np.ndarray or self._raw.flags.c_contiguous:
        return self
    found: Tensor = clone(self)
    found._raw = np.ascontiguousarray(found._raw)
    return found


@direct(*both("ravel"))
def ravel(input: Given) -> Tensor:
    """Return all elements on one axis."""
    return views.reshape(contiguous(input), -1)


@offered("narrow_copy", label="SliceBackward0_copy")
def narrow_copy(input: Input, dim: Axis, start: Int, length: Int) -> Native:
    """Return a copy of so many elements along one axis."""
    return copied(views.narrowed(input, dim, start, length))


# -- other elements in a part ----------------------------------------------------------------------


def with_part(x: Native, src: Native, part: Callable[[Native], Native]) -> Native:
    """Return a tensor with other elements in a view of it, which must have their shape."""
    shape = part(x).shape
    if src.shape != shape:
        raise misfit("scatter", f"a part of shape {list(shape)}", src=src)
    return memory.with_part(x, part, astype(src, x.dtype))


@offered("slice_scatter")
def slice_scatter(
    input: Input, src: Input, dim: Axis = 0, start: Int | None = None, end: Int | None = None,
    step: Int = 1,
) -> Native:  # fmt: skip
    """Return a tensor with other elements in a slice along one axis."""
    part = slice(start, end, step)
    return with_part(input, src, functools.partial(views.sliced, axis=dim, part=part))


@offered("select_scatter")
def select_scatter(input: Input, src: Input, dim: Axis, index: Int) -> Native:
    """Return a tensor with other elements at one index of an axis."""
    return with_part(input, src, functools.partial(views.selected, dim=dim, index=index))


@offered("diagonal_scatter")
def diagonal_scatter(
    input: Input, src: Input, offset: Int = 0, dim1: Axis = 0, dim2: Axis = 1
) -> Native:
    """Return a tensor with other elements on the diagonals of two axes."""
    part = functools.partial(views.diagonals, offset=offset, dim1=dim1, dim2=dim2)
    return with_part(input, src, part)


@offered("as_strided_scatter")
def as_strided_scatter(
    input: Input, src: Input, size: Ints, stride: Ints, storage_offset: Int | None = None
) -> Native:
    """Return a tensor with other elements in a view of its memory with any strides."""
    view = views.strides_of(input, size, stride, storage_offset)
    return with_part(input, src, functools.partial(views.strided, view=view))
