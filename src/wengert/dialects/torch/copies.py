"""Copies of tensors, with other elements in a part of them, or laid out in memory otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import views
from wengert.dialects.torch.kinds import Given, Input
from wengert.dialects.torch.table import both, direct, offered
from wengert.dialects.torch.tensors import Native, Tensor, ns, wrap_native


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


# -- other elements in a part ----------------------------------------------------------------------
