"""Networks in JAX: activations, normalisation, losses, attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def _standard(x: Any, axis: Any, eps: float) -> Any:
    return jax.nn.standardize(x, axis=axis, epsilon=eps)


def _attention_weights(scores: Any, scale: float, bias: Any) -> Any:
    z = scores * scale + (0 if bias is None else bias)
    seen = jnp.isfinite(z)
    e = jnp.where(seen, jnp.exp(jnp.where(seen, z, 0)), 0)
    total = jnp.sum(e, axis=-1, keepdims=True)
    return e / jnp.where(total == 0, 1, total)


JAX_CALLS: dict[str, Callable[..., Any]] = {
    "nn.cross_entropy_pull": lambda logits, factors, labels: (
        factors[:, None] * (jax.nn.softmax(logits) - jax.nn.one_hot(labels, logits.shape[1]))
    ),
    "nn.attention_weights": _attention_weights,
    "nn.cross_entropy": lambda logits, labels: (
        -jax.nn.log_softmax(logits)[np.arange(len(labels)), labels]
    ),
    "nn.elu": lambda x, alpha, scale, width: (
        scale * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0) / width))
    ),
    "nn.embedding": lambda weight, indices, padding_idx: weight[indices],
    "nn.gelu": lambda x, approximate: jax.nn.gelu(x, approximate=approximate == "tanh"),
    "nn.hardswish": jax.nn.hard_swish,
    "nn.huber": lambda x, delta: jnp.where(
        jnp.abs(x) <= delta, x * x / 2, delta * (jnp.abs(x) - delta / 2)
    ),
    "nn.layer_norm": lambda x, weight, bias, eps: _standard(x, -1, eps) * weight + bias,
    "nn.length": lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims)),
    "nn.linear": lambda x, weight, bias: x @ weight + bias,
    "nn.prelu": lambda x, weight: jnp.where(x > 0, x, weight * x),
    "nn.softplus": lambda x, beta: jax.nn.softplus(beta * x) / beta,
    "nn.softsign": jax.nn.soft_sign,
    "nn.standard": _standard,
    "nn.total_cross_entropy": lambda logits, labels, scale: (
        -scale * jnp.sum(jax.nn.log_softmax(logits)[np.arange(len(labels)), labels])
    ),
}
NOT_IN_JAX: dict[str, str] = {}
