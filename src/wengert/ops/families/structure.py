"""Which elements depend on which: helpers of several families."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor, wrap
from wengert.regions import Region, sizes


def repeated(shape: tuple[int, ...], to: tuple[int, ...]) -> np.ndarray:
    """Return which element of an array of one shape each is of another that it broadcasts to."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), to).ravel()


def reduced(shape: tuple[int, ...], axis: Collection[int]) -> tuple[int, ...]:
    """Return a shape with length 1 along some axes."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape))


def zeros_kept(xp: Any, part: Any, g: Block, region: Region, mask: Any = None) -> Any:
    """Return a rule's answer to the values of g with what is zero by structure zero still."""
    if not g.is_masked or part is g.values:
        return part
    part = xp.broadcast_to(part, sizes(region))
    return Block(g.shape, region, part, mask or (lambda: g.mask)).kept(xp)


def zeros_for(tangent: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return zeros of the kind of a tangent: an array of its library, or a tensor."""
    zeros = backends.namespace_of(getattr(tangent, "_raw", tangent)).zeros(shape, dtype=dtype)
    return wrap(zeros) if type(tangent) is Tensor else zeros
