"""torch.nn.functional.multi_head_attention_forward: attention of several heads at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.axes import kind_of
from wengert.dialects.torch.kinds import Input
from wengert.dialects.torch.nn.arguments import F, check_one_dtype
from wengert.dialects.torch.nn.functional import dropped
from wengert.dialects.torch.table import guarded, put
from wengert.dialects.torch.tensors import ns
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import contractions
from wengert.ops.neural import heads, layers

Given = Native | None
NAME = "multi_head_attention_forward"


def _check(right: bool, message: str) -> None:
    """Raise the error that PyTorch raises for shapes that do not fit."""
    if not right:
        raise AssertionError(f"{NAME}: {message}")


def _check_shapes(
    q: Native, k: Native, v: Native, padding: Given, mask: Given, width: int, count: int
) -> None:
    axes = q.ndim
    _check(axes in (2, 3), f"query has {axes} axes; give 3: time, batch, features, or 2")
    _check(k.ndim == axes and v.ndim == axes, f"query has {axes} axes; give key and value as many")
    if padding is not None:
        given = f"key_padding_mask has {padding.ndim} axes"
        _check(padding.ndim == axes - 1, f"{given}; give {axes - 1}")
    _check(mask is None or mask.ndim in (2, 3), "attn_mask is no matrix; give (queries, keys)")
    _check(q.shape[-1] == width, f"the query has {q.shape[-1]} features; give {width}")
    _check(width % count == 0, f"{width} features are not divisible by {count} heads")
    _check(k.shape[:-1] == v.shape[:-1], "key and value have other lengths")


def _mask_of(mask: Given, padding: Given, q: Native, keys: int, alone: bool) -> Given:
    """Return one mask that broadcasts to (batch, heads, queries, keys)."""
    batch, several, count, _ = q.shape
    if mask is not None:
        shape = (count, keys) if mask.ndim == 2 else (batch * several, count, keys)
        if mask.shape != shape:
            error: type[Exception] = AssertionError if alone and mask.ndim == 3 else RuntimeError
            raise error(f"attn_mask is {list(mask.shape)}; give {list(shape)}")
        mask = mask if mask.ndim == 2 else ns.reshape(mask, (batch, several, count, keys))
    if padding is not None:
        given = f"key_padding_mask is {list(padding.shape)}"
        _check(padding.shape == (batch, keys), f"{given}; give {[batch, keys]}")
        padding = ns.reshape(padding, (batch, 1, 1, keys))
    kinds = {kind_of(m) for m in (mask, padding) if m is not None}
    _check(kinds <= {"b", "f"}, "a mask is of whole numbers; give booleans or floating numbers")
    if len(kinds) == 2:
        warn("key_padding_mask and attn_mask have other dtypes; give both booleans or numbers")
    return heads.merged_masks(mask, padding, q)


def multi_head_attention_forward(
    query: Input, key: Input, value: Input, embed_dim_to_check: Any, num_heads: Any,
    in_proj_weight: Input | None, in_proj_bias: Input | None, bias_k: Input | None,
    bias_v: Input | None, add_zero_attn: Any, dropout_p: Any, out_proj_weight: Input,
    out_proj_bias: Input | None, training: Any = True, key_padding_mask: Input | None = None,
    need_weights: Any = True, attn_mask: Input | None = None, use_separate_proj_weight: Any = False,
    q_proj_weight: Input | None = None, k_proj_weight: Input | None = None,
    v_proj_weight: Input | None = None, static_k: Input | None = None,
    static_v: Input | None = None, average_attn_weights: Any = True, is_causal: Any = False,
    batch_first: Any = False,
) -> tuple[Native, Given]:  # fmt: skip
    """Return what all heads see of the values, projected, and the weights or None."""
    q, k, v, mask, padding = query, key, value, attn_mask, key_padding_mask
    _check_shapes(q, k, v, padding, mask, embed_dim_to_check, num_heads)
    _check(use_separate_proj_weight or k.shape == v.shape, "key and value have other shapes")
    check_one_dtype(
        NAME, query=q, key=k, value=v, in_proj_weight=in_proj_weight, in_proj_bias=in_proj_bias,
        q_proj_weight=q_proj_weight, out_proj_weight=out_proj_weight,
        attn_mask=None if mask is None or kind_of(mask) != "f" else mask,
        key_padding_mask=None if padding is None or kind_of(padding) != "f" else padding,
    )  # fmt: skip
    if is_causal and mask is None:
        raise RuntimeError(
            f"{NAME}: is_causal=True says what attn_mask is, and there is none; give "
            "nn.Transformer.generate_square_subsequent_mask(n)"
        )
    causal = is_causal and padding is None and not need_weights
    mask = None if causal else mask
    alone = q.ndim == 2
    one = all(x._raw is q._raw and x._node is q._node for x in (k, v))
    items, steps = (0, 1) if batch_first else (1, 0)
    if alone:
        q, k, v = (ns.expand_dims(x, axis=items) for x in (q, k, v))
        padding = None if padding is None else ns.expand_dims(padding, axis=0)
    separate = [q_proj_weight, k_proj_weight, v_proj_weight]
    weights = separate if use_separate_proj_weight else [in_proj_weight]
    q, k, v = heads.projected(q, q if one else k, q if one else v, weights, in_proj_bias)
    batch, width = q.shape[items], q.shape[2]
    more = 0
    if bias_k is not None and bias_v is not None:
        more, shape = 1, (batch, 1, width) if batch_first else (1, batch, width)
        k = ns.concat([k, ns.broadcast_to(bias_k, shape)], axis=steps)
        v = ns.concat([v, ns.broadcast_to(bias_v, shape)], axis=steps)
    q, k, v = (heads.split_heads(x, num_heads, items, steps) for x in (q, k, v))
    if static_k is not None:
        k = ns.reshape(static_k, (batch, num_heads, *static_k.shape[1:]))
    if static_v is not None:
        v = ns.reshape(static_v, (batch, num_heads, *static_v.shape[1:]))
    if add_zero_attn:
        more += 1
        blank = wrap_native(np.zeros((batch, num_heads, 1, k.shape[3]), k._raw.dtype))
        k, v = ns.concat([k, blank], axis=2), ns.concat([v, blank], axis=2)
    mask, padding = heads.widened(mask, more), heads.widened(padding, more)
    both = _mask_of(mask, padding, q, k.shape[2], alone)
    shares = heads.shares(q, k, both, bool(causal), need_weights)
    if training and dropout_p:
        shares = dropped(shares, dropout_p)
    # PyTorch has time first in memory, which dropout draws by
    in_place = batch_first and not (training and dropout_p)
    seen = contractions.matmul(shares, v)
    seen = ns.permute_dims(seen, (0, 2, 1, 3) if in_place else (2, 0, 1, 3))
    y = ns.reshape(seen, (*seen.shape[:2], width))
    y = layers.linear(y, ns.matrix_transpose(out_proj_weight), out_proj_bias)
    y = ns.permute_dims(y, (1, 0, 2)) if batch_first and not in_place else y
    y = ns.squeeze(y, axis=items) if alone else y
    if not need_weights:
        return y, None
    shown = ns.mean(shares, axis=1) if average_attn_weights else shares
    return y, ns.squeeze(shown, axis=0) if alone else shown


attend = guarded(multi_head_attention_forward, "ViewBackward0")
put((f"{F}{NAME}",), attend)
