"""Functions that move elements: views, joins, splits, repeats."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.table import offered, view
from wengert.dialects.torch.tensors import convert, ns
from wengert.engine.tensor import Tensor as Native


@view("transpose", "swapaxes", "swapdims")
def transpose(input: Native, dim0: int, dim1: int) -> Any:
    """Return a tensor with two axes exchanged."""
    order = list(range(input.ndim))
    first, second = dim0 % max(input.ndim, 1), dim1 % max(input.ndim, 1)
    if order:
        order[first], order[second] = order[second], order[first]
    return ns.permute_dims(input, tuple(order))


@offered("clone")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Return a copy, through which derivatives go."""
    return ns.positive(convert(input))
