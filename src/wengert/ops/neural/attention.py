"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import numpy_fused as fused
from wengert.engine.batching import Batched, Level, plain_namespace
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError
from wengert.ops import shapes
from wengert.ops.batching import full, innermost, rebatched, widened
from wengert.ops.checks import array_like, broadcasts_to, misfit, real
from wengert.ops.contractions import matmul
from wengert.ops.families import joint, linewise, run, sample
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.arguments import number
from wengert.ops.neural.layers import dropout

_NAME = "scaled_dot_product_attention"


def _weights_values(xp: Any, scores: Any, scale: float, bias: Any) -> Any:
    if xp is backends.NUMPY and fused.suits(scores):
        return fused.softmax(scores, scale, None if bias is None else bias.astype(scores.dtype))
    scores = scores * scale
    if bias is not None:
        scores = scores + array_like(bias, scores, scores.dtype)
    if not scores.shape[-1]:
        return scores
    top = xp.max(scores, axis=-1, keepdims=True)
    nothing = xp.zeros_like(top)
    e = xp.exp(scores - xp.where(top == -math.inf, nothing, top))
    total = xp.sum(e, axis=-1, keepdims=True)
    return e / xp.where(total == 0, xp.ones_like(total), total)


def _weights_rule(xp: Any, g: Any, y: Any, scale: float) -> Any:
    if xp is backends.NUMPY and fused.suits(y, g):
        return fused.softmax_pull(y, g, scale)
    return y * (g - xp.sum(g * y, axis=-1, keepdims=True)) * scale


def _weights_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the weights of all examples; a bias that differs is in line from the right."""
    scores, bias = full(arrays[0], mapped[0], level), params["bias"]
    if type(bias) is Batched and bias.level is level:
        bias = widened(bias.values, scores.ndim - 1)._raw
    return apply(op, (scores,), params | {"bias": bias})


#: One operation for scale, mask and softmax, which are then one pass over the scores.
_weights = linewise(
    "nn.attention_weights",
    _weights_rule,
    args=("scores",),
    params=("scale", "bias"),
    compute=_weights_values,
    batch=_weights_of_examples,
    samples=[
        sample((2, 3), scale=0.5, bias=None),
        sample((2, 2, 3), scale=2.0, bias=np.array([[0, -np.inf, 0.5], [-np.inf] * 3])),
        sample((2, 0), scale=1.0, bias=None),
        sample((0, 2), scale=1.0, bias=None),
    ],
    kinds="f",
    doc="Return softmax(scores * scale + bias) along the last axis; 0 where all bias is -inf.",
)


def _causal(xp: Any, queries: int, keys: int) -> Any:
    """Return that the i-th query sees the first i + 1 keys, in a library."""
    return xp.arange(keys) <= xp.arange(queries)[:, None]


def _bias(seen: Any) -> Any:
    """Return what is added to scores, so that keys that are not seen have no weight."""
    xp: Any = plain_namespace(seen)
    nothing = xp.zeros(seen.shape, dtype=xp.float32)
    return xp.where(seen, nothing, xp.full_like(nothing, -math.inf))


# -- attention as one operation, where a library has a kernel for it ---------------------------


def _seen_weights(xp: Any, query: Any, key: Any, scale: float, is_causal: bool) -> Any:
    """Return how much each query sees of each key."""
    scores = xp.matmul(query, xp.matrix_transpose(key))
    plain = plain_namespace(getattr(scores, "_raw", scores))
    bias = _bias(_causal(plain, *scores.shape[-2:])) if is_causal else None
    return run(_weights.op, xp, (scores,), {"scale": scale, "bias": bias})


def _attention_rule(
    xp: Any, g: Any, query: Any, key: Any, value: Any, scale: float, is_causal: bool
) -> Any:
    turned = xp.matrix_transpose
    weights = _seen_weights(xp, query, key, scale, is_causal)
    by_scores = _weights_rule(xp, xp.matmul(g, turned(value)), weights, scale)
    by_query, by_key = xp.matmul(by_scores, key), xp.matmul(turned(by_scores), query)
    return by_query, by_key, xp.matmul(turned(weights), g)


def _attention_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    return apply(op, tuple(full(a, m, level) for a, m in zip(arrays, mapped, strict=True)), params)


_attention = joint(
    "nn.attention",
    _attention_rule,
    args=("query", "key", "value"),
    params=("scale", "is_causal"),
    compute=lambda xp, query, key, value, scale, is_causal: xp.matmul(
        _seen_weights(xp, query, key, scale, is_causal), value
    ),
    batch=_attention_of_examples,
    samples=[
        sample((2, 3), (4, 3), (4, 2), scale=0.5, is_causal=False),
        sample((2, 2, 3), (2, 3, 3), (2, 3, 2), scale=0.7, is_causal=True),
        sample((1, 2, 4, 2), (1, 2, 3, 2), (1, 2, 3, 2), scale=1.0, is_causal=True),
    ],
    kinds="f",
    doc="Return softmax(query @ key.T * scale) @ value for arrays with equal axes before these.",
)


def _has_kernel(query: Tensor) -> bool:
    """Return whether the library of an array has a kernel for attention."""
    return _attention.op.name in plain_namespace(query._raw).own


# -- what users call --------------------------------------------------------------------------


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    dropout_p: float = 0.0,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Return softmax(query @ key.T * scale + mask) @ value.

    The last two axes are positions and features; axes before them broadcast. `mask`
    broadcasts to (..., queries, keys): booleans say which keys a query may see, numbers are
    added to the scores, and have derivatives. With `is_causal` the i-th query sees the first
    i + 1 keys. A query that sees no key gets 0. `scale` is 1 / sqrt(features) if None.
    `dropout_p` is the share of weights to drop, by `generator`.
    `wg.nn.scaled_dot_product_attention([[0.0]], [[1.0], [2.0]], [[3.0], [5.0]])` is `[[4.0]]`.
    """
    query = real(query, _NAME, "query")
    key, value = real(key, _NAME, "key"), real(value, _NAME, "value")
    alike = _have_one_lead(query, key, value)
    rate = number(dropout_p, _NAME, "dropout_p", 0, 1)
    scale = _scale_of(query) if scale is None else float(scale)
    if alike and mask is None and not rate and _has_kernel(query):
        return _attention(query, key, value, scale=scale, is_causal=bool(is_causal))
    return _attended(query, key, value, mask, is_causal, scale, rate, generator)


def _scale_of(query: Tensor) -> float:
    features = query._raw.shape[-1]
    return 1 / math.sqrt(features) if features else 1.0


@in_single
def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Any,
    is_causal: bool,
    scale: float,
    rate: float,
    generator: Any,
) -> Tensor:
    """Return attention as products with weights, of which some may be dropped."""
    weights = attention_weights(query, key, mask, is_causal, scale)
    if rate:
        weights = dropout(weights, rate, generator=generator)
    return matmul(weights, value)


@in_single
def attention_weights(
    query: Tensor, key: Tensor, mask: Any = None, is_causal: bool = False, scale: Any = None
) -> Tensor:
    """Return how much each query sees of each key; the arguments are those of attention."""
    scale = _scale_of(query) if scale is None else float(scale)
    scores = matmul(query, shapes.matrix_transpose(key))
    mask = None if mask is None else shapes.tensor(mask, _NAME)
    seen: Any = None
    if is_causal:
        seen = _causal(plain_namespace((scores if mask is None else mask)._raw), *scores.shape[-2:])
    if mask is not None:
        _check_mask(mask, scores.shape)
        if backends.kind_of(mask.dtype) == "b":
            given = innermost(mask._raw)
            seen = rebatched(given if seen is None else given & seen, mask._raw)
        else:
            scores, scale = scores * scale + mask, 1.0
    bias = None if seen is None else rebatched(_bias(innermost(seen)), seen)
    return _weights(scores, scale=scale, bias=bias)


def _have_one_lead(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Return whether all have the same axes before the last two, or raise if they do not fit."""
    q, k, v = query._raw.shape, key._raw.shape, value._raw.shape
    if len(q) >= 2 <= len(k) and q[-1] == k[-1] and len(v) >= 2 and k[-2] == v[-2]:
        if q[:-2] == k[:-2] == v[:-2]:
            return True
        try:
            np.broadcast_shapes(q[:-2], k[:-2], v[:-2])
            return False
        except ValueError:
            pass
    expected = "(..., n, e), (..., m, e) and (..., m, v)"
    raise misfit(_NAME, expected, query=query, key=key, value=value)


def _check_mask(mask: Any, shape: tuple[int, ...]) -> None:
    if backends.kind_of(mask.dtype) not in "bf":
        raise DtypeError(
            f"{_NAME}: mask of {mask.dtype}; expected booleans (True: may be seen) or floating "
            "numbers to add"
        )
    if not broadcasts_to(mask.shape, shape):
        raise misfit(_NAME, f"one that broadcasts to that of the scores, {shape}", mask=mask)


__all__ = ["scaled_dot_product_attention"]
