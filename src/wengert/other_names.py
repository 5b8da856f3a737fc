"""What other libraries call things, for those who look for them here."""

from __future__ import annotations

#: Names in NumPy, TensorFlow or PyTorch, and what to write.
INSTEAD = {
    "absolute": "wg.abs",
    "amax": "wg.max",
    "amin": "wg.min",
    "array": "wg.asarray",
    "cast": "wg.astype",
    "cat": "wg.concat",
    "clamp": "wg.clip",
    "concatenate": "wg.concat",
    "constant": "wg.asarray",
    "convert_to_tensor": "wg.asarray",
    "cummax": "wg.cumulative_max",
    "cummin": "wg.cumulative_min",
    "cumprod": "wg.cumulative_prod",
    "cumsum": "wg.cumulative_sum",
    "float_power": "wg.pow",
    "gather": "wg.take or x[indices]",
    "logcumsumexp": "wg.cumulative_logsumexp",
    "logsumexp": "wg.special.logsumexp",
    "mod": "wg.remainder",
    "norm": "wg.linalg.norm",
    "permute": "wg.permute_dims",
    "power": "wg.pow",
    "reduce_max": "wg.max",
    "reduce_mean": "wg.mean",
    "reduce_sum": "wg.sum",
    "relu": "wg.nn.relu",
    "scatter_add": "x.at[key].add",
    "sigmoid": "wg.nn.sigmoid",
    "softmax": "wg.nn.softmax",
    "swapdims": "wg.swapaxes",
    "tensor": "wg.asarray",
    "transpose": "wg.permute_dims or x.T",
    "true_divide": "wg.divide",
    "unsorted_segment_sum": "wg.segment_sum",
    "unsqueeze": "wg.expand_dims",
    **{f"arc{f}": f"wg.a{f}" for f in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}


def missing(name: str) -> AttributeError:
    """Return an error that says what to write in place of a name that is not there."""
    hint = f"; write {INSTEAD[name]}" if name in INSTEAD else ""
    return AttributeError(f"module 'wengert' has no attribute {name!r}{hint}")
