"""Networks in JAX: activations, normalisation, losses, attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.ops.references_neural import gru_step, lstm_step, rnn_step, sequences


def _standard(x: Any, axis: Any, eps: float) -> Any:
    return jax.nn.standardize(x, axis=axis, epsilon=eps)


def _attention_weights(scores: Any, scale: float, bias: Any) -> Any:
    z = scores * scale + (0 if bias is None else bias)
    seen = jnp.isfinite(z)
    e = jnp.where(seen, jnp.exp(jnp.where(seen, z, 0)), 0)
    total = jnp.sum(e, axis=-1, keepdims=True)
    return e / jnp.where(total == 0, 1, total)


def _attention(query: Any, key: Any, value: Any, scale: float, is_causal: bool) -> Any:
    scores = query @ jnp.swapaxes(key, -1, -2)
    bias = np.where(np.tri(*scores.shape[-2:]), 0.0, -np.inf) if is_causal else None
    return _attention_weights(scores, scale, bias) @ value


def _batch_norm(x: Any, weight: Any, bias: Any, axis: Any, eps: float) -> Any:
    y = jnp.moveaxis(_standard(x, axis, eps), 1, -1) * weight + bias
    return jnp.moveaxis(y, -1, 1)


def _pull(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda g, x, **how: jax.vjp(lambda x: function(x, **how), x)[1](g)[0]


#: Activations with steps, by their parameters `how`.
_STEPPED: dict[str, Callable[..., Any]] = {
    "hardshrink": lambda x, how: jnp.where(jnp.abs(x) > how[0], x, 0),
    "hardsigmoid": lambda x, how: jnp.clip(x + 3, 0, 6) * how[0],
    "hardtanh": lambda x, how: jnp.clip(x, *how),
    "leaky_relu": lambda x, how: jax.nn.leaky_relu(x, how[0]),
    "softshrink": lambda x, how: jnp.sign(x) * jnp.maximum(jnp.abs(x) - how[0], 0),
    "threshold": lambda x, how: jnp.where(x > how[0], x, how[1]),
}
JAX_CALLS: dict[str, Callable[..., Any]] = {
    **{f"nn.{name}_stepped": function for name, function in _STEPPED.items()},
    **{f"nn.{name}_pull": _pull(function) for name, function in _STEPPED.items()},
    "nn.binary_cross_entropy_terms": lambda x, target: (
        -(target * jnp.log(x) + (1 - target) * jnp.log1p(-x))
    ),
    "nn.relu_pull": lambda g, x: jnp.where(x > 0, g, 0),
    "nn.logistic_loss": lambda x, target: jax.nn.softplus(x) - x * target,
    "nn.soft_margin_terms": lambda x, target: jax.nn.softplus(-x * target),
    "nn.softplus_until": lambda x, beta, threshold: jnp.where(
        x * beta > threshold, x, jax.nn.softplus(x * beta) / beta
    ),
    "nn.cross_entropy_pull": lambda logits, factors, labels: (
        factors[:, None] * (jax.nn.softmax(logits) - jax.nn.one_hot(labels, logits.shape[1]))
    ),
    "nn.attention": _attention,
    "nn.attention_weights": _attention_weights,
    "nn.cross_entropy": lambda logits, labels: (
        -jax.nn.log_softmax(logits)[np.arange(len(labels)), labels]
    ),
    "nn.elu": lambda x, alpha, scale, width: (
        scale * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0) / width))
    ),
    "nn.batch_norm": _batch_norm,
    "nn.batch_norm_with_moments": lambda x, weight, bias, axis, eps: (
        _batch_norm(x, weight, bias, axis, eps),
        jnp.mean(x, axis=axis),
        jnp.var(x, axis=axis, ddof=1),
    ),
    "nn.embedding": lambda weight, indices, padding_idx: weight[indices],
    "nn.gelu": lambda x, approximate: jax.nn.gelu(x, approximate=approximate == "tanh"),
    "nn.gru_steps": sequences(jnp, gru_step, 1),
    "nn.hardswish": jax.nn.hard_swish,
    "nn.huber": lambda x, delta: jnp.where(
        jnp.abs(x) <= delta, x * x / 2, delta * (jnp.abs(x) - delta / 2)
    ),
    "nn.layer_norm": lambda x, weight, bias, eps: _standard(x, -1, eps) * weight + bias,
    "nn.length": lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims)),
    "nn.linear": lambda x, weight, bias: x @ weight + bias,
    "nn.linear_by_rows": lambda x, weight, bias: x @ weight.T + bias,
    "nn.lstm_steps": sequences(jnp, lstm_step, 2),
    "nn.prelu": lambda x, weight: jnp.where(x > 0, x, weight * x),
    "nn.rnn_steps": sequences(jnp, rnn_step, 1),
    "nn.softplus": lambda x, beta: jax.nn.softplus(beta * x) / beta,
    "nn.softsign": jax.nn.soft_sign,
    "nn.standard": _standard,
    "nn.total_cross_entropy": lambda logits, labels, scale: (
        -scale * jnp.sum(jax.nn.log_softmax(logits)[np.arange(len(labels)), labels])
    ),
}
NOT_IN_JAX: dict[str, str] = {}
