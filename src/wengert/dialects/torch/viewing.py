"""How views are made: by an operation at once, as any other, or by a function of several.

A view that is only read costs what any operation does, and a note for its base: see `memory.noted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import Viewed
from wengert.dialects.torch import memory
from wengert.dialects.torch.modes import Tracking
from wengert.dialects.torch.nodes import show_as_one
from wengert.dialects.torch.tensors import Native, Tensor, convert, fast, wrap_native
from wengert.engine.op import Op
from wengert.ops import shapes
from wengert.ops.copies import View
from wengert.ops.indexing import slice_parts


def _quick(op: Op, when: str = "", compute: Any = None) -> Any:
    """Return what makes a view by an operation; NotImplemented for all that is unusual."""
    return fast(op, lambda *_: NotImplemented, "", 0, when, errors=None, compute=compute)


def _by(operation: Any, function: Any = None, when: str = "", compute: Any = None) -> Viewed:
    """Return how an operation makes a view, and a function where that takes more parameters."""
    (parameter,) = operation.op.params
    quick = _quick(operation.op, when, compute)
    return Viewed(quick, function or operation, parameter, memory.noted)


# NumPy takes any negative number for a length that it is to find
_LENGTHS = "shape == (-1,) or not shape or min(shape) >= -1"
RESHAPED = _by(shapes.reshape_to, shapes.reshape, _LENGTHS, "_x0.reshape(shape)")
PERMUTED = _by(shapes.permuted)


def _in_memory(x: np.ndarray, *, shape: tuple[int, ...]) -> np.ndarray:
    """Return the same memory in another shape, or raise if there is no such view."""
    found = x.reshape(shape)
    near = found.base is x or (found.base is not None and found.base is x.base)
    if not near and found.size and memory.owner(found) is not memory.owner(x):
        raise ValueError(
            f"the elements of shape {list(x.shape)} are not in one piece of memory, so there "
            "is no such view; write .reshape(...) instead"
        )
    return found


def _reshaped_in_memory(x: Native, *, shape: tuple[int, ...]) -> Native:
    found: Native = shapes.reshape(x, shape)
    if type(x._raw) is np.ndarray:
        _in_memory(x._raw, shape=found._raw.shape)
    return found


VIEWED = _by(shapes.reshape_to, _reshaped_in_memory, _LENGTHS, _in_memory)
VIEWED_AS = _by(shapes.reshape_to, _reshaped_in_memory, "", _in_memory)  # the lengths of a tensor


def viewed(tensor: Any, step: View, label: str, several: bool = False) -> Tensor:
    """Return the view of a tensor that a function makes, perhaps one of several."""
    with Tracking():
        return memory.viewed(tensor, step(convert(tensor)), step, label, several)


# -- parts -----------------------------------------------------------------------------------------


# with an ellipsis NumPy makes no number of one element
_TAKEN = "_x0[parts if parts and type(parts[-1]) is slice else (*parts, ...)]"
_quick_part = _quick(slice_parts.op, compute=_TAKEN)


def sliced(x: Native, parts: tuple[Any, ...]) -> Native:
    """Return what integers, slices and new axes select, as a view."""
    found: Native = slice_parts(x, parts=parts)
    if type(x._raw) is np.ndarray and not found._raw.shape:
        return wrap_native(x._raw[(*parts, ...)], found._node)
    return found


SLICED = Viewed(_quick_part, sliced, "parts", memory.noted)


def part_of(tensor: Any, parts: tuple[Any, ...], label: str, several: bool = False) -> Tensor:
    """Return the view that integers, slices and new axes select of a tensor."""

    def step(whole: Native) -> Native:
        return sliced(whole, parts)

    found = _quick_part(tensor, parts=parts)
    if found is not NotImplemented:
        return memory.noted(tensor, found, step, label, several)
    return viewed(tensor, step, label, several)


def parts_of(
    tensor: Any, several: Sequence[tuple[Any, ...]], label: str, one_node: bool
) -> tuple[Tensor, ...]:
    """Return several views, which are results of one node or of one each."""
    found = tuple([part_of(tensor, parts, label, one_node) for parts in several])
    if one_node and found and (found[0]._held is not None or found[0]._node is not None):
        show_as_one([p._held[0] if p._held is not None else p._node for p in found])
    return found
