"""Sorting, segments and running operations in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def _by_masks(function: Callable[..., Any], fill: float) -> Callable[..., Any]:
    """Return a reduction of segments as one of whole arrays with `fill` in other rows."""

    def call(data: Any, segment_ids: Any, num_segments: int) -> Any:
        def one(i: int) -> Any:
            mask = (segment_ids == i).reshape(-1, *[1] * (data.ndim - 1))
            return function(jnp.where(mask, data, fill), axis=0)

        parts = [one(i) for i in range(num_segments)]
        return jnp.stack(parts) if parts else jnp.zeros((0, *data.shape[1:]))

    return call


def _segment_softmax(data: Any, segment_ids: Any) -> Any:
    weights = jnp.exp(data)
    return weights / jax.ops.segment_sum(weights, segment_ids, 4)[segment_ids]


#: Operations that JAX calls by another name, or with other parameters.
JAX_CALLS: dict[str, Callable[..., Any]] = {
    "at_max": lambda x, values, key: x.at[key].max(values),
    "at_min": lambda x, values, key: x.at[key].min(values),
    "cumulative_logsumexp": lambda x, axis: jax.lax.cumlogsumexp(x, axis),
    "cumulative_max": lambda x, axis: jax.lax.cummax(x, axis),
    "cumulative_min": lambda x, axis: jax.lax.cummin(x, axis),
    "order_statistics": lambda x, positions: jnp.sort(x, axis=-1)[..., np.array(positions)],
    "segment_logsumexp": _by_masks(jax.nn.logsumexp, -jnp.inf),
    "segment_max": jax.ops.segment_max,
    "segment_min": jax.ops.segment_min,
    "segment_prod": _by_masks(jnp.prod, 1.0),
    "segment_softmax": _segment_softmax,
    "segment_sum": jax.ops.segment_sum,
}
#: Operations that JAX lacks, or cannot differentiate, with the reason.
NOT_IN_JAX: dict[str, str] = {
    "random.log_gamma_sample": "JAX draws numbers of its own",
    "random.truncated_normal_sample": "JAX draws numbers of its own",
}
