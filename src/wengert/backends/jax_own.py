"""Operations of ours that JAX computes in fewer or narrower steps than our formulas would."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from wengert.backends.namespace import Kept, Own


def _wide(dtype: Any) -> Any:
    """Return the dtype to add products up in."""
    return jnp.promote_types(dtype, jnp.float32)


def _product(subscripts: str, a: Any, b: Any) -> Any:
    """Return a contraction of narrow floats whose sums are not narrow."""
    return jnp.einsum(subscripts, a, b, preferred_element_type=_wide(a.dtype))


def _attention(query: Any, key: Any, value: Any, scale: float, is_causal: bool) -> Any:
    """Return attention, with the weights of keys for the rule."""
    given = (query, key, value)
    if any(not a.size or a.dtype != query.dtype for a in given):
        return NotImplemented
    scores = _product("...qd,...kd->...qk", query, key) * scale
    if is_causal:
        queries, keys = scores.shape[-2:]
        seen = jnp.arange(keys) <= jnp.arange(queries)[:, None]
        scores = jnp.where(seen, scores, -jnp.inf)
    parts = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    weights = (parts / jnp.sum(parts, axis=-1, keepdims=True)).astype(value.dtype)
    result = _product("...qk,...kd->...qd", weights, value).astype(value.dtype)
    return Kept(result, weights)


def _attention_pull(
    g: Any, query: Any, key: Any, value: Any, scale: float, wanted: list[bool], saved: Any
) -> Any:
    if saved is None:
        return NotImplemented
    dtype, found = query.dtype, [None] * 3
    if wanted[0] or wanted[1]:
        by_weights = _product("...qd,...kd->...qk", g, value)
        weights = saved.astype(by_weights.dtype)
        centre = jnp.sum(by_weights * weights, axis=-1, keepdims=True)
        by_scores = (weights * (by_weights - centre) * scale).astype(dtype)
        if wanted[0]:
            found[0] = _product("...qk,...kd->...qd", by_scores, key).astype(dtype)
        if wanted[1]:
            found[1] = _product("...qk,...qd->...kd", by_scores, query).astype(dtype)
    if wanted[2]:
        found[2] = _product("...qk,...qd->...kd", saved, g).astype(dtype)
    return found


OWN = {"nn.attention": Own(_attention, _attention_pull)}
