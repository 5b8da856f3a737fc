"""Images of another size: sums of a few neighbours along one axis after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError
from wengert.ops import shapes
from wengert.ops.batching import along_axes
from wengert.ops.checks import check_option, misfit
from wengert.ops.families import linear, sample
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.windows import per_axis

__all__ = ["interpolate", "pixel_shuffle", "pixel_unshuffle"]

Taps = tuple[np.ndarray, np.ndarray]

# -- sums of a few neighbours -----------------------------------------------------------------


def transposed_taps(index: np.ndarray, weight: np.ndarray, length: int) -> Taps:
    """Return index and weight of the transpose: for each position, the results that read it."""
    places, taps = np.nonzero(index >= 0)
    positions = index[places, taps]
    order = np.argsort(positions, kind="stable")
    positions, places, taps = positions[order], places[order], taps[order]
    counts = np.bincount(positions, minlength=length)
    slot = np.arange(len(positions)) - np.repeat(np.cumsum(counts) - counts, counts)
    back = np.full((length, counts.max(initial=1)), -1)
    weights = np.zeros(back.shape)
    back[positions, slot] = places
    weights[positions, slot] = weight[places, taps]
    return back, weights


def _combine_transpose(
    xp: Any, g: Any, x_shape: tuple[int, ...], axis: int, index: np.ndarray, weight: np.ndarray
) -> Any:
    index, weight = transposed_taps(index, weight, x_shape[axis])
    return xp.nn.combine(g, axis=axis, index=index, weight=weight)


def _combine_block(
    xp: Any, g: Block, x_shape: tuple[int, ...], axis: int, index: np.ndarray, weight: np.ndarray
) -> Block | None:
    places = list(g.region[axis])
    index, weight = index[places], weight[places]
    read = index[index >= 0]
    if not read.size:
        return None
    first, last = int(read.min()), int(read.max())
    region = (*g.region[:axis], range(first, last + 1), *g.region[axis + 1 :])
    sizes = tuple(map(len, region))
    index = np.where(index < 0, -1, index - first)
    return Block(x_shape, region, _combine_transpose(xp, g.values, sizes, axis, index, weight))


_INDEX = np.array([[0, 1], [2, 2], [1, -1], [-1, -1]])
_WEIGHT = np.array([[0.25, 0.75], [2.0, -1.5], [1.0, 0.0], [0.0, 0.0]])
combine = linear(
    "nn.combine",
    _combine_transpose,
    params=("axis", "index", "weight"),
    block=_combine_block,
    batch=along_axes,
    samples=[
        sample((2, 3), axis=1, index=_INDEX, weight=_WEIGHT),
        sample((4, 1, 2), axis=0, index=_INDEX, weight=_WEIGHT),
        sample((2, 3, 2), axis=1, index=np.array([[2], [0]]), weight=np.ones((2, 1))),
        sample((0, 3), axis=1, index=_INDEX, weight=_WEIGHT),
    ],
    doc="Return the sums of weight[i, t] * x[index[i, t]] over t, along one axis.",
)


def area_taps(length: int, size: int) -> Taps:
    """Return the windows that part `length` in `size`, evenly up to rounding, for their means."""
    start = np.arange(size) * length // size
    stop = -(-np.arange(1, size + 1) * length // size)
    counts = (stop - start)[:, None]
    taps = np.arange(int(counts.max(initial=0)))
    used = taps < counts
    return np.where(used, start[:, None] + taps, -1), np.where(used, 1 / counts, 0.0)


def _nearest_taps(length: int, size: int, scale: float | None, exact: bool) -> Taps:
    places = np.arange(size)
    if scale is None and not exact:
        position = places * length // size
    elif scale is None:
        position = (2 * places + 1) * length // (2 * size)
    else:
        position = np.floor((places + 0.5 * exact) / scale).astype(int)
    return np.minimum(position, length - 1)[:, None], np.ones((size, 1))


def _source(length: int, size: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Return the position of each new element among the old ones."""
    places = np.arange(size)
    if align_corners:
        return places * ((length - 1) / (size - 1) if size > 1 else 0.0)
    return (places + 0.5) * (length / size if scale is None else 1 / scale) - 0.5


def _linear_taps(length: int, size: int, scale: float | None, align_corners: bool) -> Taps:
    source = np.maximum(_source(length, size, scale, align_corners), 0)
    first = np.minimum(np.floor(source).astype(int), length - 1)
    fraction = np.minimum(source - first, 1)
    second = np.minimum(first + 1, length - 1)
    return np.stack([first, second], axis=1), np.stack([1 - fraction, fraction], axis=1)


def _cubic_taps(length: int, size: int, scale: float | None, align_corners: bool) -> Taps:
    source = _source(length, size, scale, align_corners)
    first = np.floor(source)
    reach = np.arange(-1, 3)
    distance = np.abs(source[:, None] - first[:, None] - reach)
    a = -0.75  # the slope at distance 1, for which this kernel is known
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    index = np.clip(first[:, None].astype(int) + reach, 0, length - 1)
    return index, np.where(distance <= 1, near, far)


# -- what users call --------------------------------------------------------------------------

#: The modes, and how many spatial axes each is for; any number where there is none.
_MODES = {
    "nearest": None,
    "nearest-exact": None,
    "area": None,
    "linear": 1,
    "bilinear": 2,
    "trilinear": 3,
    "bicubic": 2,
}


@in_single
def interpolate(
    x: Any,
    size: Any = None,
    *,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Tensor:
    """Return images x (batch, channels, *spatial) in another size, or times a `scale_factor`.

    `mode` is "nearest", "nearest-exact", "area", "linear" (one spatial axis), "bilinear" or
    "bicubic" (two), or "trilinear" (three). Elements are areas whose centres are at 0.5, 1.5, ...;
    with `align_corners` they are points, and the first and last ones stay in place.
    `wg.nn.interpolate([[[1.0, 2.0]]], 4)` is `[[[1.0, 1.0, 2.0, 2.0]]]`.
    """
    x = given = shapes.tensor(x, "interpolate")
    spatial = x.ndim - 2
    _check_mode(x, mode, align_corners)
    lengths = x.shape[2:]
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"interpolate: size is {size!r} and scale_factor {scale_factor!r}; expected one of them"
        )
    scales: list[float | None] = [None] * spatial
    if size is None:
        factors = _factors(scale_factor, spatial)
        sizes = tuple(math.floor(n * f) for n, f in zip(lengths, factors, strict=True))
        scales = list(factors)
    else:
        sizes = per_axis(size, spatial, "interpolate", "size", 1)
    if 0 in lengths or 0 in sizes:
        raise ShapeError(
            f"interpolate: from {lengths} to {sizes}; expected at least one element on each axis"
        )
    for a, (n, m, scale) in enumerate(zip(lengths, sizes, scales, strict=True)):
        if n == m and scale in (None, 1.0):
            continue  # each place is its own
        index, weight = _taps(mode, n, m, scale, align_corners)
        index = np.where(weight == 0, -1, index)  # what has no weight is not read
        x = combine(x, axis=2 + a, index=index, weight=weight)
    return x if x is not given else shapes.renewed(x)


def _check_mode(x: Tensor, mode: str, align_corners: bool) -> None:
    check_option("interpolate", "mode", mode, tuple(_MODES))
    spatial, wanted = x.ndim - 2, _MODES[mode]
    if spatial < 1 or wanted not in (None, spatial):
        expected = "one or more" if wanted is None else str(wanted)
        expected = f"batch, channels and {expected} more axes, for mode {mode!r}"
        raise misfit("interpolate", expected, x=x)
    if wanted is None and align_corners:
        raise ValueError(f"interpolate: mode {mode!r} has no corners to align")
    if not mode.startswith("nearest") and not backends.is_inexact(x.dtype):
        raise DtypeError(
            f"interpolate: x is of {x.dtype}, and mode {mode!r} makes fractions; write "
            "wg.astype(x, wg.float32)"
        )


def _factors(scale_factor: Any, spatial: int) -> tuple[float, ...]:
    many = isinstance(scale_factor, (tuple, list))
    factors = tuple(map(float, scale_factor)) if many else (float(scale_factor),) * spatial
    if len(factors) != spatial or not all(0 < f < math.inf for f in factors):
        raise ValueError(
            f"interpolate: scale_factor is {scale_factor!r}; expected a positive number, or "
            f"{spatial} of them"
        )
    return factors


def _taps(mode: str, length: int, size: int, scale: float | None, align_corners: bool) -> Taps:
    if mode == "area":
        return area_taps(length, size)
    if mode.startswith("nearest"):
        return _nearest_taps(length, size, scale, mode == "nearest-exact")
    taps = _cubic_taps if mode == "bicubic" else _linear_taps
    return taps(length, size, scale, align_corners)


def _checked_shuffle(x: Any, factor: Any, name: str, what: str) -> tuple[Tensor, int]:
    x = shapes.tensor(x, name)
    (r,) = per_axis(factor, 1, name, what, 1)
    if x.ndim < 3:
        raise misfit(name, "at least 3 axes (channels, rows, columns)", x=x)
    return x, r


def pixel_shuffle(x: Any, upscale_factor: int) -> Tensor:
    """Return images r times as high and wide, from r * r channels for each of theirs.

    `wg.nn.pixel_shuffle(np.arange(4.0).reshape(4, 1, 1), 2)` is `[[[0.0, 1.0], [2.0, 3.0]]]`.
    """
    x, r = _checked_shuffle(x, upscale_factor, "pixel_shuffle", "upscale_factor")
    *batch, channels, height, width = x.shape
    if channels % (r * r):
        raise misfit("pixel_shuffle", f"a multiple of {r * r} channels", x=x)
    count, rest = len(batch), channels // (r * r)
    x = shapes.reshape(x, (*batch, rest, r, r, height, width))
    order = (*range(count), *(count + a for a in (0, 3, 1, 4, 2)))
    return shapes.reshape(shapes.permute_dims(x, order), (*batch, rest, height * r, width * r))


def pixel_unshuffle(x: Any, downscale_factor: int) -> Tensor:
    """Return images with r * r channels for each one, 1 / r as high and wide.

    It undoes `pixel_shuffle`.
    `wg.nn.pixel_unshuffle([[[0.0, 1.0], [2.0, 3.0]]], 2)` is `np.arange(4.0).reshape(4, 1, 1)`.
    """
    x, r = _checked_shuffle(x, downscale_factor, "pixel_unshuffle", "downscale_factor")
    *batch, channels, height, width = x.shape
    if height % r or width % r:
        raise misfit("pixel_unshuffle", f"multiples of {r} rows and columns", x=x)
    count = len(batch)
    x = shapes.reshape(x, (*batch, channels, height // r, r, width // r, r))
    order = (*range(count), *(count + a for a in (0, 2, 4, 1, 3)))
    shape = (*batch, channels * r * r, height // r, width // r)
    return shapes.reshape(shapes.permute_dims(x, order), shape)
