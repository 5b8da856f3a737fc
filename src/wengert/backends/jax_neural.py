"""The extension `xp.nn` on JAX's arrays: convolutions by XLA, windows tap by tap.

What spreads values over an array is the transpose of what reads them, which JAX finds by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from wengert.backends.numpy_windows import Geometry, Ints, slices_of


def _transposed(function: Callable[[Any], Any], shape: Ints, g: Any) -> Any:
    """Return the transpose of a linear function of arrays of a shape, applied to g."""
    model = jax.eval_shape(lambda: jnp.zeros(tuple(shape), g.dtype))
    (found,) = jax.linear_transpose(function, model)(g)
    return found


def _edges(length: Ints, kernel: Ints, size: Ints, geometry: Geometry) -> list[tuple[int, int]]:
    """Return how far windows reach beyond an array, before and behind; negative if they do not."""
    return [
        (lo, (n - 1) * s + (k - 1) * d + 1 - lo - m)
        for m, k, n, s, lo, d in zip(length, kernel, size, *geometry, strict=True)
    ]


def _promoted(*arrays: Any) -> list[Any]:
    dtype = jnp.result_type(*arrays)
    return [jnp.asarray(a, dtype) for a in arrays]


def convolve(
    x: Any, w: Any, bias: Any = None, *, size: Ints, geometry: Geometry, groups: int
) -> Any:
    """Return the sums of x * w in windows, `size` of them, plus a bias for each channel."""
    x, w = _promoted(x, w)
    shape = (x.shape[0], w.shape[0], *size)
    if not x.size or not w.size or 0 in shape:
        z = jnp.zeros(shape, x.dtype)
    else:
        z = lax.conv_general_dilated(
            x, w, geometry.stride, _edges(x.shape[2:], w.shape[2:], size, geometry),
            rhs_dilation=geometry.dilation, feature_group_count=groups,
        )  # fmt: skip
    return z if bias is None else z + bias.reshape(-1, *(1 for _ in size))


def convolve_weight(x: Any, z: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return the sums of x * z over all windows, for each tap of kernels of `size`."""
    x, z = _promoted(x, z)
    shape = (z.shape[1], x.shape[1] // groups, *size)
    if not x.size or not z.size or 0 in shape:
        return jnp.zeros(shape, x.dtype)
    how: Any = {"size": z.shape[2:], "geometry": geometry, "groups": groups}
    return _transposed(lambda w: convolve(x, w, **how), shape, z)


def convolve_input(z: Any, w: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
    """Return, for images of `size`, the sums of z * w over all windows that see a position."""
    z, w = _promoted(z, w)
    shape = (z.shape[0], w.shape[1] * groups, *size)
    if not z.size or not w.size or 0 in shape:
        return jnp.zeros(shape, z.dtype)
    how: Any = {"size": z.shape[2:], "geometry": geometry, "groups": groups}
    return _transposed(lambda x: convolve(x, w, **how), shape, z)


# -- windows ----------------------------------------------------------------------------------


def _taps(x: Any, kernel: Ints, size: Ints, geometry: Geometry, outside: Any = 0) -> Any:
    """Return what each tap of all windows reads, on a first axis of taps."""
    lead = x.ndim - len(size)
    edges = _edges(x.shape[lead:], kernel, size, geometry)
    frame = lax.pad(
        x, jnp.asarray(outside, x.dtype), [(0, 0, 0)] * lead + [(*edge, 0) for edge in edges]
    )
    taps = itertools.product(*map(range, kernel))
    read = [frame[(..., *slices_of(k, size, geometry))] for k in taps]
    return jnp.stack(read) if read else jnp.zeros((0, *x.shape[:lead], *size), x.dtype)


def _is_nothing(shape: Ints, kernel: Ints, size: Ints) -> bool:
    return 0 in (*shape, *kernel, *size)


def unfold_windows(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the windows of x as (batch, channels, *kernel, *size), with 0 outside of x."""
    if _is_nothing(x.shape, kernel, size):
        return jnp.zeros((*x.shape[:2], *kernel, *size), x.dtype)
    taps = jnp.moveaxis(_taps(x, kernel, size, geometry), 0, 2)
    return taps.reshape(*x.shape[:2], *kernel, *size)


def fold_windows(windows: Any, *, size: Ints, geometry: Geometry) -> Any:
    """Return (batch, channels, *size) with windows added up where they overlap."""
    count = len(size)
    kernel, places = windows.shape[2 : 2 + count], windows.shape[2 + count :]
    shape = (*windows.shape[:2], *size)
    if _is_nothing(windows.shape, kernel, size):
        return jnp.zeros(shape, windows.dtype)
    how: Any = {"kernel": kernel, "size": places, "geometry": geometry}
    return _transposed(lambda x: unfold_windows(x, **how), shape, windows)


def window_sum(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the sums of windows."""
    if _is_nothing(x.shape, kernel, size):
        return jnp.zeros((*x.shape[: x.ndim - len(size)], *size), x.dtype)
    return jnp.sum(_taps(x, kernel, size, geometry), axis=0, dtype=x.dtype)


def window_spread(g: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return, for images of `size`, the sums of g over the windows that see a position."""
    lead = g.ndim - len(size)
    shape, places = (*g.shape[:lead], *size), g.shape[lead:]
    if _is_nothing(g.shape, kernel, size):
        return jnp.zeros(shape, g.dtype)
    how: Any = {"kernel": kernel, "size": places, "geometry": geometry}
    return _transposed(lambda x: window_sum(x, **how), shape, g)


def max_pool(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry, ties: str = "even") -> Any:
    """Return the largest element of each window; `ties` are only of interest to derivatives."""
    shape = (*x.shape[: x.ndim - len(size)], *size)
    lowest = -math.inf if jnp.issubdtype(x.dtype, jnp.floating) else np.iinfo(x.dtype).min
    if _is_nothing(x.shape, kernel, size):
        return jnp.full(shape, lowest, x.dtype)
    return jnp.max(_taps(x, kernel, size, geometry, lowest), axis=0)


def _shares(inputs: Any, largest: Any, kernel: Ints, geometry: Geometry, ties: str) -> Any:
    """Return what tells taps of arrays, which of them are the largest of a window, and how many.

    Of equal elements, only the first is if `ties` says so.
    """
    inputs, largest = jnp.asarray(inputs), jnp.asarray(largest)
    size = largest.shape[inputs.ndim - len(kernel) :]

    def read(x: Any) -> Any:
        return _taps(x, kernel, size, geometry)

    taps, inside = read(inputs), read(jnp.ones(inputs.shape, jnp.int8)) != 0
    won = inside & ((taps == largest) | ((taps != taps) & (largest != largest)))
    if ties == "first":
        won = won & (jnp.cumsum(won, axis=0) == 1)
    return read, won, jnp.maximum(jnp.sum(won, axis=0), 1)


def max_pool_spread(g: Any, *, inputs: Any, largest: Any, **how: Any) -> Any:
    """Return g given to the elements of `inputs` that are the largest of a window."""
    if _is_nothing(inputs.shape, how["kernel"], largest.shape):
        return jnp.zeros(inputs.shape, g.dtype)
    read, won, count = _shares(inputs, largest, **how)
    given = jnp.where(won, g / count, jnp.zeros((), g.dtype)).astype(g.dtype)
    return _transposed(read, inputs.shape, given)


def max_pool_gather(values: Any, *, inputs: Any, largest: Any, **how: Any) -> Any:
    """Return the mean of `values` where `inputs` are the largest of each window."""
    if _is_nothing(inputs.shape, how["kernel"], largest.shape):
        return jnp.zeros(largest.shape, values.dtype)
    read, won, count = _shares(inputs, largest, **how)
    total = jnp.sum(jnp.where(won, read(values), jnp.zeros((), values.dtype)), axis=0)
    return (total / count).astype(values.dtype)


def max_pool_indices(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
    """Return the flat position, in its image, of the first largest element of each window."""
    length = x.shape[x.ndim - len(size) :]
    y = max_pool(x, kernel=kernel, size=size, geometry=geometry)
    if _is_nothing(x.shape, kernel, size):
        return jnp.zeros(y.shape, jnp.int64)
    read, won, _ = _shares(x, y, kernel, geometry, "first")
    numbers = jnp.broadcast_to(jnp.arange(math.prod(length)).reshape(length), x.shape)
    return jnp.sum(jnp.where(won, read(numbers), 0), axis=0)


def combine(x: Any, *, axis: int, index: np.ndarray, weight: np.ndarray) -> Any:
    """Return sums of weight[i, t] * x[index[i, t]] over t, along one axis; index -1 is nothing."""
    places, taps = index.shape
    total: Any = jnp.zeros((*x.shape[:axis], places, *x.shape[axis + 1 :]), x.dtype)
    if not x.shape[axis]:
        return total
    column = (-1, *(1 for _ in x.shape[axis + 1 :]))
    for t in range(taps):
        term = jnp.take(x, jnp.maximum(index[:, t], 0), axis=axis)
        term = jnp.where((index[:, t] >= 0).reshape(column), term, jnp.zeros((), x.dtype))
        total = total + term * jnp.asarray(weight[:, t], x.real.dtype).reshape(column)
    return total
