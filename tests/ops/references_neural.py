"""Operations of networks by other formulas, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from wengert.backends.numpy_windows import Geometry

Ints = tuple[int, ...]


def _gelu(x: Any, approximate: str) -> Any:
    if approximate == "none":
        share = (1 + sp.erf(x / np.sqrt(2))) / 2
    else:
        share = (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return (x * share).astype(x.dtype)


def _attention_weights(scores: Any, scale: float, bias: Any) -> Any:
    z = scores * scale + (0 if bias is None else bias)
    e = np.exp(z)
    total = np.sum(e, axis=-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(scores.dtype)


def _attention(query: Any, key: Any, value: Any, scale: float, is_causal: bool) -> Any:
    scores = query @ np.swapaxes(key, -1, -2)
    bias = np.where(np.tri(*scores.shape[-2:]), 0.0, -np.inf) if is_causal else None
    dtype = np.result_type(query, key, value)
    return (_attention_weights(scores, scale, bias) @ value).astype(dtype)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return np.log(np.sum(np.exp(logits), axis=1)) - logits[np.arange(len(labels)), labels]


def _cross_entropy_pull(logits: Any, factors: Any, labels: Any) -> Any:
    shares = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    hits = labels[:, None] == np.arange(logits.shape[1])
    return (factors[:, None] * (shares - hits)).astype(np.result_type(logits, factors))


def _standard(x: Any, axis: Any, eps: float) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def _channelwise(x: Any, weight: Any, bias: Any) -> Any:
    return np.moveaxis(np.moveaxis(x, 1, -1) * weight + bias, -1, 1)


# -- windows --


def _unfolded(x: Any, kernel: Ints, size: Ints, geometry: Geometry, blank: Any = 0) -> Any:
    """Return windows as (..., *kernel, *size), element by element: what tests compare with."""
    lead = x.ndim - len(size)
    out = np.full((*x.shape[:lead], *kernel, *size), blank, x.dtype)
    for index in np.ndindex(*kernel, *size):
        k, p = index[: len(size)], index[len(size) :]
        i = [q * s + t * d - lo for q, t, s, lo, d in zip(p, k, *geometry, strict=True)]
        if all(0 <= n < length for n, length in zip(i, x.shape[lead:], strict=True)):
            out[(..., *index)] = x[(..., *i)]
    return out


def _folded(x: Any, size: Ints, geometry: Geometry) -> Any:
    middle = 2 + len(size)
    out = np.zeros((*x.shape[:2], math.prod(size)), x.dtype)
    which = np.arange(math.prod(size)).reshape(size) + 1
    read = _unfolded(which, x.shape[2:middle], x.shape[middle:], geometry)
    for at in np.ndindex(*read.shape):
        if read[at]:
            out[:, :, read[at] - 1] += x[(slice(None), slice(None), *at)]
    return out.reshape(*x.shape[:2], *size)


def _reduced(reduce: Callable[..., Any], blank: float) -> Callable[..., Any]:
    """Return a reduction of windows by their definition."""

    def reference(x: Any, kernel: Ints, size: Ints, geometry: Geometry, ties: str = "") -> Any:
        windows = _unfolded(x, kernel, size, geometry, blank)
        count = len(size)
        return reduce(windows, axis=tuple(range(windows.ndim - 2 * count, windows.ndim - count)))

    return reference


def _first_largest(x: Any, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    lead = x.ndim - len(size)
    positions = np.arange(math.prod(x.shape[lead:])).reshape(x.shape[lead:])
    where = _unfolded(positions, kernel, size, geometry)
    windows = _unfolded(x, kernel, size, geometry, blank=-np.inf)
    flat = windows.reshape(*x.shape[:lead], math.prod(kernel), *size)
    first = np.argmax(flat, axis=lead)
    where = np.broadcast_to(where.reshape(-1, *size), flat.shape)
    return np.take_along_axis(where, np.expand_dims(first, lead), axis=lead).squeeze(lead)


def _spread(x: Any, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    lead = x.ndim - len(size)
    places = x.shape[lead:]
    which = np.arange(math.prod(size)).reshape(size) + 1
    read = _unfolded(which, kernel, places, geometry).reshape(-1, math.prod(places)) - 1
    out = np.zeros((math.prod(x.shape[:lead]), math.prod(size)), x.dtype)
    for taps in read:
        for p, i in enumerate(taps):
            out[:, i] += x.reshape(len(out), -1)[:, p] * (i >= 0)
    return out.reshape(*x.shape[:lead], *size)


# Windows of 3 in steps of 2, and the share of each element in the largest of each window.
_THIRD = 1 / 3
_SHARES = np.array(
    [
        [[0, 0.5, 0.5, 0, 0], [0, 0, 1, 0, 0]],
        [[_THIRD, _THIRD, _THIRD, 0, 0], [0, 0, 0, 0, 1]],
    ]
)
_FIRST = np.array([[[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]], [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]])


def _shares(ties: str) -> np.ndarray:
    return _SHARES if ties == "even" else _FIRST


def _combined(x: Any, axis: int, index: Any, weight: Any) -> Any:
    matrix = np.zeros((len(index), x.shape[axis]))
    for i, t in np.ndindex(*index.shape):
        if index[i, t] >= 0:
            matrix[i, index[i, t]] += weight[i, t]
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis).astype(x.dtype)


def convolution(role: str, a: Any, b: Any, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return the missing factor of the sum over z * w * x, term by term, to compare with."""
    dtype = np.result_type(a, b)
    if role == "z":
        x, w, z = a, b, np.zeros((a.shape[0], b.shape[0], *size), dtype)
    elif role == "x":
        z, w, x = a, b, np.zeros((a.shape[0], b.shape[1] * groups, *size), dtype)
    else:
        x, z, w = a, b, np.zeros((b.shape[1], a.shape[1] // groups, *size), dtype)
    inputs, outputs = w.shape[1], w.shape[0] // groups
    for p in np.ndindex(*z.shape[2:]):
        for k in np.ndindex(*w.shape[2:]):
            i = [q * s + t * d - lo for q, t, s, lo, d in zip(p, k, *geometry, strict=True)]
            if not all(0 <= n < length for n, length in zip(i, x.shape[2:], strict=True)):
                continue
            for group in range(groups):
                c = slice(group * inputs, (group + 1) * inputs)
                o = slice(group * outputs, (group + 1) * outputs)
                if role == "z":
                    z[(slice(None), o, *p)] += x[(slice(None), c, *i)] @ w[(o, slice(None), *k)].T
                elif role == "x":
                    x[(slice(None), c, *i)] += z[(slice(None), o, *p)] @ w[(o, slice(None), *k)]
                else:
                    w[(o, slice(None), *k)] += z[(slice(None), o, *p)].T @ x[(slice(None), c, *i)]
    return dtype.type(1) * {"x": x, "w": w, "z": z}[role]


def _convolution(result: str) -> Callable[..., Any]:
    def reference(a: Any, b: Any, bias: Any = None, **params: Any) -> Any:
        total = convolution(result, a, b, **params)
        return total if bias is None else total + bias.reshape(-1, *(1 for _ in params["size"]))

    return reference


# -- recurrent layers --


def sequences(xp: Any, step: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a layer of so many states, sequence by sequence, for NumPy and for JAX."""

    def layer(x: Any, *given: Any, sizes: Ints, reverse: bool, **params: Any) -> Any:
        states, weights = given[:count], given[count:]
        starts = np.cumsum((0, *sizes))
        found: dict[int, Any] = {}
        for k in range(sizes[0]):
            held = [s[k] for s in states]
            times = [t for t, size in enumerate(sizes) if size > k]
            for t in reversed(times) if reverse else times:
                row = starts[t] + k
                found[row] = step(xp, x[row], *held, *weights, **params)
                held = list(found[row][:count])
        results = tuple(map(xp.stack, zip(*(found[k] for k in sorted(found)), strict=True)))
        return results if len(results) > 1 else results[0]

    return layer


def _sigmoid(xp: Any, x: Any) -> Any:
    return xp.tanh(x / 2) / 2 + 0.5


def lstm_step(xp: Any, x: Any, h: Any, c: Any, weight: Any) -> Any:
    i, f, a, o = xp.split(x + h @ weight, 4)
    i, f, a, o = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(a), _sigmoid(xp, o)
    c = f * c + i * a
    return o * xp.tanh(c), c, xp.stack([i, f, a, o])


def gru_step(xp: Any, x: Any, h: Any, weight: Any, bias: Any) -> Any:
    parts = zip(xp.split(x, 3), xp.split(h @ weight + bias, 3), strict=True)
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = parts
    r, z = _sigmoid(xp, x_r + h_r), _sigmoid(xp, x_z + h_z)
    n = xp.tanh(x_n + r * h_n)
    return (1 - z) * n + z * h, xp.stack([r, z, n, h_n])


def rnn_step(xp: Any, x: Any, h: Any, weight: Any, activation: str) -> Any:
    z = x + h @ weight
    return (xp.tanh(z) if activation == "tanh" else xp.where(z > 0, z, 0),)


REFERENCES: dict[str, Callable[..., Any]] = {
    "nn.attention": _attention,
    "nn.attention_weights": _attention_weights,
    "nn.combine": _combined,
    "nn.convolve": _convolution("z"),
    "nn.convolve_biased": _convolution("z"),
    "nn.convolve_input": _convolution("x"),
    "nn.convolve_weight": _convolution("w"),
    "nn.cross_entropy": _cross_entropy,
    "nn.cross_entropy_pull": _cross_entropy_pull,
    "nn.batch_norm": lambda x, weight, bias, axis, eps: _channelwise(
        _standard(x, axis, eps), weight, bias
    ),
    "nn.batch_norm_with_moments": lambda x, weight, bias, axis, eps: (
        _channelwise(_standard(x, axis, eps), weight, bias),
        np.mean(x, axis=axis),
        np.var(x, axis=axis, ddof=1),
    ),
    "nn.elu": lambda x, alpha, scale, width: (
        scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / width))
    ),
    "nn.fold_windows": _folded,
    "nn.gelu": _gelu,
    "nn.gru_steps": sequences(np, gru_step, 1),
    "nn.huber": lambda x, delta: np.where(
        np.abs(x) <= delta, x * x / 2, delta * (np.abs(x) - delta / 2)
    ).astype(x.dtype),
    "nn.layer_norm": lambda x, weight, bias, eps: _standard(x, -1, eps) * weight + bias,
    "nn.lstm_steps": sequences(np, lstm_step, 2),
    "nn.max_pool": _reduced(np.max, -np.inf),
    "nn.max_pool_gather": lambda x, ties, **params: np.einsum(
        "ri,rpi->rp", x, _shares(ties)
    ).astype(x.dtype),
    "nn.max_pool_indices": _first_largest,
    "nn.max_pool_spread": lambda x, ties, **params: np.einsum(
        "rp,rpi->ri", x, _shares(ties)
    ).astype(x.dtype),
    "nn.rnn_steps": sequences(np, rnn_step, 1),
    "nn.softplus_until": lambda x, beta, threshold: np.where(
        x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta
    ),
    "nn.standard": _standard,
    "nn.total_cross_entropy": lambda logits, labels, scale: (
        scale * np.sum(_cross_entropy(logits, labels))
    ),
    "nn.unfold_windows": _unfolded,
    "nn.window_spread": _spread,
    "nn.window_sum": _reduced(np.sum, 0),
}
