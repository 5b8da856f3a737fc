"""Convolutions, pooling and resampling in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def _hi(length: Any, kernel: Any, size: Any, stride: Any, offset: Any, dilation: Any) -> list[Any]:
    """Return JAX's padding, which may be negative, for windows that begin at -offset."""
    return [
        (lo, (p - 1) * s + (k - 1) * d + 1 - n - lo)
        for n, k, p, s, lo, d in zip(length, kernel, size, stride, offset, dilation, strict=True)
    ]


def _convolve(x: Any, w: Any, bias: Any = None, *, size: Any, geometry: Any, groups: int) -> Any:
    stride, _, dilation = geometry
    dtype = jnp.result_type(x, w)
    if 0 in (*x.shape, *w.shape):
        z = jnp.zeros((x.shape[0], w.shape[0], *size), dtype)
    else:
        z = lax.conv_general_dilated(
            x.astype(dtype),
            w.astype(dtype),
            stride,
            _hi(x.shape[2:], w.shape[2:], size, *geometry),
            rhs_dilation=dilation,
            feature_group_count=groups,
        )
    return z if bias is None else z + bias.reshape(-1, *(1,) * len(size))


def _transposed(function: Callable[..., Any], shape: Any, z: Any, dtype: Any) -> Any:
    (answer,) = jax.linear_transpose(function, jnp.zeros(shape, dtype))(z.astype(dtype))
    return answer


def _convolve_input(z: Any, w: Any, *, size: Any, groups: int, **geometry: Any) -> Any:
    shape = (z.shape[0], w.shape[1] * groups, *size)
    dtype = jnp.result_type(z, w)
    return _transposed(
        lambda x: _convolve(x, w.astype(dtype), size=z.shape[2:], groups=groups, **geometry),
        shape, z, dtype,
    )  # fmt: skip


def _convolve_weight(x: Any, z: Any, *, size: Any, groups: int, **geometry: Any) -> Any:
    shape = (z.shape[1], x.shape[1] // groups, *size)
    dtype = jnp.result_type(z, x)
    return _transposed(
        lambda w: _convolve(x.astype(dtype), w, size=z.shape[2:], groups=groups, **geometry),
        shape, z, dtype,
    )  # fmt: skip


def _pooled(x: Any, start: Any, reduce: Any, kernel: Any, size: Any, geometry: Any) -> Any:
    stride, _, dilation = geometry
    lead = x.ndim - len(size)
    lengths = x.shape[lead:]
    return lax.reduce_window(
        x,
        start,
        reduce,
        (*(1,) * lead, *kernel),
        (*(1,) * lead, *stride),
        ((0, 0),) * lead + tuple(_hi(lengths, kernel, size, *geometry)),
        window_dilation=(*(1,) * lead, *dilation),
    )


def _window_sum(x: Any, **params: Any) -> Any:
    return _pooled(x, np.zeros((), x.dtype), lax.add, **params)


def _max_pool(x: Any, ties: str, **params: Any) -> Any:
    """Return the largest of each window; JAX cannot differentiate a window with gaps."""
    if set(params["geometry"].dilation) == {1} and min(_hi_ends(x, **params)) >= 0:
        return _pooled(x, -np.inf, lax.max, **params)
    count = len(params["size"])
    windows = _windows(x, blank=-np.inf, **params)
    return jnp.max(windows, axis=tuple(range(windows.ndim - 2 * count, windows.ndim - count)))


def _hi_ends(x: Any, kernel: Any, size: Any, geometry: Any) -> list[int]:
    lengths = x.shape[x.ndim - len(size) :]
    return [hi for _, hi in _hi(lengths, kernel, size, *geometry)]


def _windows(x: Any, kernel: Any, size: Any, geometry: Any, blank: Any = 0) -> Any:
    """Return windows as (..., *kernel, *size), by reading each position of x."""
    stride, offset, dilation = geometry
    count = len(size)
    lead = x.ndim - count
    shape = x.shape[lead:]
    inside: Any = True
    positions = []
    for a in range(count):
        places = np.arange(size[a]).reshape(-1, *(1,) * (count - 1 - a)) * stride[a]
        taps = np.arange(kernel[a]).reshape(-1, *(1,) * (2 * count - 1 - a)) * dilation[a]
        at = places + taps - offset[a]
        inside = inside & (at >= 0) & (at < shape[a])
        positions.append(np.clip(at, 0, shape[a] - 1))
    return jnp.where(inside, x[(..., *positions)], jnp.asarray(blank, x.dtype))


def _fold(windows: Any, size: Any, **geometry: Any) -> Any:
    count = len(size)
    shape = (*windows.shape[:2], *size)
    kernel, places = windows.shape[2 : 2 + count], windows.shape[2 + count :]
    return _transposed(
        lambda x: _windows(x, kernel, places, **geometry), shape, windows, windows.dtype
    )


def _window_spread(g: Any, kernel: Any, size: Any, **geometry: Any) -> Any:
    lead = g.ndim - len(size)
    return _transposed(
        lambda x: _window_sum(x, kernel=kernel, size=g.shape[lead:], **geometry),
        (*g.shape[:lead], *size), g, g.dtype,
    )  # fmt: skip


def _combine(x: Any, axis: int, index: Any, weight: Any) -> Any:
    used = np.where(index < 0, 0.0, weight)
    taken = jnp.take(jnp.moveaxis(x, axis, -1), np.maximum(index, 0), axis=-1)
    return jnp.moveaxis(jnp.sum(taken * used, axis=-1), -1, axis)


JAX_CALLS: dict[str, Callable[..., Any]] = {
    "nn.combine": _combine,
    "nn.convolve": _convolve,
    "nn.convolve_biased": _convolve,
    "nn.convolve_input": _convolve_input,
    "nn.convolve_weight": _convolve_weight,
    "nn.fold_windows": _fold,
    "nn.max_pool": _max_pool,
    "nn.unfold_windows": _windows,
    "nn.window_spread": _window_spread,
    "nn.window_sum": _window_sum,
}
_TIES = "it is about ties, which JAX gives to the first"
NOT_IN_JAX: dict[str, str] = {"nn.max_pool_gather": _TIES, "nn.max_pool_spread": _TIES}
