"""Attention of several heads: projections, keys that all may see, and masks of two kinds.

Masks are as PyTorch has them: booleans say which keys are hidden, and numbers are added to scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import joining, shapes
from wengert.ops.contractions import matmul
from wengert.ops.neural.attention import attention_weights
from wengert.ops.neural.layers import linear
from wengert.ops.special import softmax

__all__ = ["merged_masks", "projected", "shares", "split_heads", "widened"]

Given = Tensor | None


def projected(
    q: Tensor, k: Tensor, v: Tensor, weights: list[Given], bias: Given
) -> tuple[Tensor, ...]:
    """Return queries, keys and values for all heads.

    The weights are three, or one for all: for one tensor it is then one product.
    """
    if len(weights) == 1:
        if q is k and k is v:
            return _thirds(linear(q, shapes.matrix_transpose(weights[0]), bias), -1)
        weights = list(_thirds(weights[0], 0))
    biases = (None,) * 3 if bias is None else _thirds(bias, 0)
    given = zip((q, k, v), weights, biases, strict=True)
    return tuple(linear(x, shapes.matrix_transpose(w), b) for x, w, b in given)


def _thirds(x: Any, axis: int) -> tuple[Tensor, ...]:
    n = x.shape[axis] // 3
    parts = [slice(k * n, (k + 1) * n) for k in range(3)]
    return tuple(x[p] if axis == 0 else x[..., p] for p in parts)


def split_heads(x: Tensor, heads: int, batch: int, time: int) -> Tensor:
    """Return (batch, heads, time, features) of a tensor with all heads on its last axis."""
    apart = shapes.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads))
    return shapes.permute_dims(apart, (batch, 2, time, 3))


def widened(mask: Given, by: int) -> Given:
    """Return a mask with further keys behind the others, which all may see."""
    if mask is None or not by:
        return mask
    blank = wrap(np.zeros((*mask.shape[:-1], by), mask.dtype))
    return joining.concat([mask, blank], axis=-1)


def _as_numbers(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask as numbers to add: -inf where booleans say that a key is hidden."""
    if backends.kind_of(mask.dtype) != "b":
        return mask
    zero, hidden = (wrap(np.array(n, like.dtype)) for n in (0.0, -math.inf))
    return ew.where(mask, hidden, zero)


def merged_masks(one: Given, other: Given, like: Tensor) -> Given:
    """Return one mask for two: booleans that say what is hidden, or numbers to add."""
    if one is None or other is None:
        return other if one is None else one
    if backends.kind_of(one.dtype) == backends.kind_of(other.dtype) == "b":
        return ew.logical_or(one, other)
    return _as_numbers(one, like) + _as_numbers(other, like)


def shares(q: Tensor, k: Tensor, mask: Given, is_causal: bool, shown: bool) -> Tensor:
    """Return the share of each key in what a query sees.

    Where a query sees no key, all shares are NaN if they are `shown`, else 0.
    """
    if shown:
        scores = matmul(q * math.sqrt(1 / q.shape[3]), shapes.matrix_transpose(k))
        return softmax(scores if mask is None else scores + _as_numbers(mask, q), axis=-1)
    if mask is not None and backends.kind_of(mask.dtype) == "b":
        mask = ew.logical_not(mask)
    return attention_weights(q, k, mask, is_causal)
