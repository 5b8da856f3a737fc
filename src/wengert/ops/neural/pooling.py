"""Pooling over windows, and windows as columns.

Windows are as in `convolutions`: tap k of the window at place p reads position
``p * stride + k * dilation - offset``, and what lies outside of the array is nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.cotangents import Block, Region, slices
from wengert.engine.errors import DtypeError, ShapeError
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise, joining, shapes
from wengert.ops.batching import as_it_is, full, full_parameter, in_first_axis
from wengert.ops.families import linear, position_map, sample, special, zero
from wengert.ops.neural.convolutions import (
    Ints,
    ascending,
    batched,
    cut_geometry,
    filled,
    fitting,
    hull,
    padding_pairs,
    pairs_per_axis,
    per_axis,
    seeing,
    seen,
    unbatched,
)
from wengert.ops.neural.resampling import area_taps, combine

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fold",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "unfold",
]

# -- parts of windows -------------------------------------------------------------------------


def _seen_part(
    places: Region, taps: Region, lengths: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> tuple[Region, dict[str, Ints]] | None:
    """Return what some taps at some places read, and the geometry from there; None if nothing."""
    positions = tuple(map(seen, places, taps, lengths, stride, offset, dilation))
    if not all(positions):
        return None
    return positions, cut_geometry(places, taps, positions, stride, offset, dilation)


def _seeing_part(
    xp: Any, g: Block, taps: Region, counts: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> tuple[Any, Region, dict[str, Ints]] | None:
    """Return g around its region, the places that read there, and the geometry of both."""
    values, region = ascending(xp, g)
    lead = len(region) - len(taps)
    around = (*region[:lead], *map(hull, region[lead:]))
    places = tuple(map(seeing, around[lead:], taps, counts, stride, offset, dilation))
    if not all(places):
        return None
    geometry = cut_geometry(places, taps, around[lead:], stride, offset, dilation)
    return filled(xp, values, region, around), (*region[:lead], *places), geometry


# -- the largest ------------------------------------------------------------------------------


def _raw(x: Any) -> Any:
    """Return an array that a derivative depends on only by steps, as a parameter."""
    return x._raw if type(x) is Tensor else x


def _max_pool_rule(
    xp: Any, g: Any, x: Any, y: Any, kernel: Ints, stride: Ints, offset: Ints, dilation: Ints,
    ties: str,
) -> Any:  # fmt: skip
    return xp.nn.max_pool_spread(
        g,
        inputs=_raw(x),
        largest=_raw(y),
        kernel=kernel,
        stride=stride,
        offset=offset,
        dilation=dilation,
        ties=ties,
    )


def _max_pool_block(
    xp: Any, g: Block, node: Any, parent: Any, argument: int, values: tuple[Any, ...]
) -> Block | None:
    x, y, kernel, *geometry, ties = values
    given, region = ascending(xp, g)
    lead = len(region) - len(kernel)
    found = _seen_part(region[lead:], tuple(map(range, kernel)), x.shape[lead:], *geometry)
    if found is None:
        return None
    around = (*region[:lead], *found[0])
    part = _max_pool_rule(
        xp, given, x[slices(around)], y[slices(region)], kernel, **found[1], ties=ties
    )
    return Block(parent.shape, around, part)


def _window_region(
    between: Callable[..., range], region: Region, shape: Ints, kernel: Ints, geometry: Any
) -> Region | None:
    """Return the region of an array of `shape` that windows have in common with a region.

    `between` is `seen`, from windows to the elements in them, or `seeing`, the other way.
    """
    lead = len(region) - len(kernel)
    if not all(map(len, region)):
        return None
    region = tuple(r[::-1] if r.step < 0 else r for r in region)
    taps = tuple(map(range, kernel))
    return (*region[:lead], *map(between, region[lead:], taps, shape[lead:], *geometry))


def _max_pool_depends(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Any:
    _, _, kernel, *geometry, _ = values
    return _window_region(seen, region, parent.shape, kernel, geometry)


def _max_pool_reach(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Any:
    _, _, kernel, *geometry, _ = values
    return _window_region(seeing, region, node.shape, kernel, geometry)


def _by_definition(
    x: Any, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints, blank: Any = 0
) -> Any:
    """Return windows as (..., *kernel, *size), element by element: what tests compare with."""
    lead = x.ndim - len(size)
    out = np.full((*x.shape[:lead], *kernel, *size), blank, x.dtype)
    for p, k in itertools.product(np.ndindex(*size), np.ndindex(*kernel)):
        i = [p[a] * stride[a] + k[a] * dilation[a] - offset[a] for a in range(len(size))]
        if all(0 <= n < length for n, length in zip(i, x.shape[lead:], strict=True)):
            out[(..., *k, *p)] = x[(..., *i)]
    return out


def _taps_of(windows: Any, size: Ints) -> Ints:
    """Return the axes of taps in windows (..., *kernel, *size)."""
    count = len(size)
    return tuple(range(windows.ndim - 2 * count, windows.ndim - count))


def _reduced(reduce: Any, blank: Any) -> Any:
    """Return a reduction of windows by their definition."""

    def reference(x: Any, size: Ints, ties: str = "", **params: Any) -> Any:
        windows = _by_definition(x, size=size, blank=blank, **params)
        return reduce(windows, axis=_taps_of(windows, size))

    return reference


def _sample(
    shape: Ints, kernel: Ints, size: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Any:
    return sample(
        shape, kernel=kernel, size=size, stride=stride, offset=offset, dilation=dilation
    )  # fmt: skip


_GEOMETRY = ("stride", "offset", "dilation")
_POOLED = [
    _sample((2, 1, 4, 5), (2, 2), (2, 2), (2, 2), (0, 0), (1, 1)),
    _sample((1, 2, 5), (3,), (4,), (1,), (1,), (1,)),
    _sample((2, 5, 4), (2, 3), (3, 3), (2, 1), (1, 1), (2, 1)),
    _sample((1, 3, 2, 3), (2, 1, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    _sample((0, 2, 4), (2,), (2,), (2,), (0,), (1,)),
]

max_pool = special(
    "nn.max_pool",
    _max_pool_rule,
    params=("kernel", "size", *_GEOMETRY, "ties"),
    block=_max_pool_block,
    batch=as_it_is,
    samples=[
        replace(s, params=s.params | {"ties": ties})
        for s, ties in zip(_POOLED, itertools.cycle(("even", "first")))
    ],
    kinds="f",
    reference=_reduced(np.max, -np.inf),
)
max_pool.op.depends = _max_pool_depends
max_pool.op.reach = _max_pool_reach

# Windows of 3 in steps of 2, and the share of each element in the largest of each window.
_TIED = {
    "inputs": np.array([[1.0, 3.0, 3.0, 0.0, 2.0], [2.0, 2.0, 2.0, 2.0, 5.0]]),
    "largest": np.array([[3.0, 3.0], [2.0, 5.0]]),
    "kernel": (3,),
    "stride": (2,),
    "offset": (0,),
    "dilation": (1,),
}
_EVENLY, _TO_FIRST = _TIED | {"ties": "even"}, _TIED | {"ties": "first"}
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


def _shared(xp: Any, name: str, *arrays: Any) -> Any:
    """Return one of the two operations below, with what both read."""
    x, inputs, largest, kernel, stride, offset, dilation, ties = arrays
    return getattr(xp.nn, name)(
        x,
        inputs=inputs,
        largest=largest,
        kernel=kernel,
        stride=stride,
        offset=offset,
        dilation=dilation,
        ties=ties,
    )


def _shared_by_examples(
    op: Op, level: Level, arrays: list[Tensor], mapped: list[bool], params: Any
) -> Any:
    """Return one of the two operations below on the images of all examples."""
    images = {name: full_parameter(params[name], level) for name in ("inputs", "largest")}
    return apply(op, (full(arrays[0], mapped[0], level),), params | images)


max_pool_spread = linear(
    "nn.max_pool_spread",
    lambda xp, g, inputs, largest, kernel, stride, offset, dilation, ties: _shared(
        xp, "max_pool_gather", g, inputs, largest, kernel, stride, offset, dilation, ties
    ),
    params=("inputs", "largest", "kernel", *_GEOMETRY, "ties"),
    batch=_shared_by_examples,
    samples=[sample((2, 2), **_EVENLY), sample((2, 2), **_TO_FIRST)],
    reference=lambda x, ties, **params: np.einsum("rp,rpi->ri", x, _shares(ties)).astype(x.dtype),
    doc="Return x shared evenly by the largest inputs of each window, or given to the first.",
)
max_pool_gather = linear(
    "nn.max_pool_gather",
    lambda xp, g, inputs, largest, kernel, stride, offset, dilation, ties: _shared(
        xp, "max_pool_spread", g, inputs, largest, kernel, stride, offset, dilation, ties
    ),
    params=("inputs", "largest", "kernel", *_GEOMETRY, "ties"),
    batch=_shared_by_examples,
    samples=[sample((2, 5), **_EVENLY), sample((2, 5), **_TO_FIRST)],
    reference=lambda x, ties, **params: np.einsum("ri,rpi->rp", x, _shares(ties)).astype(x.dtype),
    doc="Return the mean of x at the largest inputs of each window, or x at the first.",
)


def _shared_depends(between: Callable[..., range]) -> Callable[..., Any]:
    """Return `Op.depends` of the two operations above: all of the windows, whoever is largest."""

    def depends(region: Region, node: Any, parent: Any, argument: int, values: Any) -> Any:
        _, _, kernel, *geometry, _ = values
        return _window_region(between, region, parent.shape, kernel, geometry)

    return depends


for _shares_of, _between in ((max_pool_spread, seeing), (max_pool_gather, seen)):
    _shares_of.op.numbers = ("inputs", "largest")
    _shares_of.op.depends = _shared_depends(_between)


def _first_largest(x: Any, size: Ints, **params: Any) -> Any:
    lead = x.ndim - len(size)
    positions = np.arange(math.prod(x.shape[lead:])).reshape(x.shape[lead:])
    where = _by_definition(positions, size=size, **params)
    windows = _by_definition(x, size=size, blank=-np.inf, **params)
    flat = windows.reshape(*x.shape[:lead], math.prod(params["kernel"]), *size)
    first = np.argmax(flat, axis=lead)
    where = np.broadcast_to(where.reshape(-1, *size), flat.shape)
    return np.take_along_axis(where, np.expand_dims(first, lead), axis=lead).squeeze(lead)


max_pool_indices = zero(
    "nn.max_pool_indices",
    params=("kernel", "size", *_GEOMETRY),
    samples=_POOLED,
    reference=_first_largest,
    doc="Return the flat position of the first largest element of each window.",
)

# -- sums -------------------------------------------------------------------------------------


def _sum_transpose(
    xp: Any, g: Any, x_shape: Ints, kernel: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Any:
    size = tuple(x_shape[len(x_shape) - len(kernel) :])
    return xp.nn.window_spread(
        g, kernel=kernel, size=size, stride=stride, offset=offset, dilation=dilation
    )


def _sum_block(
    xp: Any, g: Block, x_shape: Ints, kernel: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Block | None:
    values, region = ascending(xp, g)
    lead = len(region) - len(kernel)
    found = _seen_part(
        region[lead:], tuple(map(range, kernel)), x_shape[lead:], stride, offset, dilation
    )
    if found is None:
        return None
    around = (*region[:lead], *found[0])
    part = _sum_transpose(xp, values, tuple(map(len, around)), kernel, **found[1])
    return Block(x_shape, around, part)


def _spread_transpose(
    xp: Any, g: Any, x_shape: Ints, kernel: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Any:
    size = tuple(x_shape[len(x_shape) - len(kernel) :])
    return xp.nn.window_sum(
        g, kernel=kernel, size=size, stride=stride, offset=offset, dilation=dilation
    )


def _spread_block(
    xp: Any, g: Block, x_shape: Ints, kernel: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Block | None:
    lead = len(g.region) - len(kernel)
    found = _seeing_part(xp, g, tuple(map(range, kernel)), x_shape[lead:], stride, offset, dilation)
    if found is None:
        return None
    values, region, cut = found
    return Block(
        x_shape, region, _spread_transpose(xp, values, tuple(map(len, region)), kernel, **cut)
    )


def _spread_by_definition(x: Any, kernel: Ints, size: Ints, **geometry: Ints) -> Any:
    lead = x.ndim - len(size)
    places = x.shape[lead:]
    which = np.arange(math.prod(size)).reshape(size) + 1
    read = _by_definition(which, kernel, places, **geometry).reshape(-1, math.prod(places)) - 1
    out = np.zeros((math.prod(x.shape[:lead]), math.prod(size)), x.dtype)
    for taps in read:
        for p, i in enumerate(taps):
            out[:, i] += x.reshape(len(out), -1)[:, p] * (i >= 0)
    return out.reshape(*x.shape[:lead], *size)


window_sum = linear(
    "nn.window_sum",
    _sum_transpose,
    params=("kernel", "size", *_GEOMETRY),
    block=_sum_block,
    batch=as_it_is,
    samples=_POOLED,
    reference=_reduced(np.sum, 0),
    doc="Return the sums of windows.",
)
window_spread = linear(
    "nn.window_spread",
    _spread_transpose,
    params=("kernel", "size", *_GEOMETRY),
    block=_spread_block,
    batch=as_it_is,
    samples=[
        _sample((2, 1, 2, 2), (2, 2), (4, 5), (2, 2), (0, 0), (1, 1)),
        _sample((1, 2, 4), (3,), (5,), (1,), (1,), (1,)),
        _sample((2, 3, 3), (2, 3), (5, 4), (2, 1), (1, 1), (2, 1)),
    ],
    reference=_spread_by_definition,
    doc="Return the sums over the windows that see a position.",
)

# -- windows as arrays ------------------------------------------------------------------------


def _unfold_transpose(
    xp: Any, g: Any, x_shape: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Any:
    return xp.nn.fold_windows(
        g, size=tuple(x_shape[2:]), stride=stride, offset=offset, dilation=dilation
    )


def _unfold_block(
    xp: Any, g: Block, x_shape: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Block | None:
    values, region = ascending(xp, g)
    middle = len(x_shape)
    found = _seen_part(region[middle:], region[2:middle], x_shape[2:], stride, offset, dilation)
    if found is None:
        return None
    around = (*region[:2], *found[0])
    part = _unfold_transpose(xp, values, tuple(map(len, around)), **found[1])
    return Block(x_shape, around, part)


def _fold_transpose(
    xp: Any, g: Any, x_shape: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Any:
    middle = len(x_shape) // 2 + 1
    return xp.nn.unfold_windows(
        g,
        kernel=tuple(x_shape[2:middle]),
        size=tuple(x_shape[middle:]),
        stride=stride,
        offset=offset,
        dilation=dilation,
    )


def _fold_block(
    xp: Any, g: Block, x_shape: Ints, stride: Ints, offset: Ints, dilation: Ints
) -> Block | None:
    middle = len(x_shape) // 2 + 1
    taps = tuple(map(range, x_shape[2:middle]))
    found = _seeing_part(xp, g, taps, x_shape[middle:], stride, offset, dilation)
    if found is None:
        return None
    values, region, cut = found
    around = (*region[:2], *taps, *region[2:])
    part = _fold_transpose(xp, values, tuple(map(len, around)), **cut)
    return Block(x_shape, around, part)


unfold_windows = position_map(
    "nn.unfold_windows",
    _unfold_transpose,
    params=("kernel", "size", *_GEOMETRY),
    block=_unfold_block,
    batch=in_first_axis,
    samples=[s for s in _POOLED if len(s.shapes[0]) == 2 + len(s.params["size"])],
    reference=_by_definition,
    doc="Return windows of x as (batch, channels, *kernel, *size), with 0 outside of x.",
)


def _fold_by_definition(x: Any, size: Ints, **geometry: Ints) -> Any:
    middle = 2 + len(size)
    out = np.zeros((*x.shape[:2], math.prod(size)), x.dtype)
    which = np.arange(math.prod(size)).reshape(size) + 1
    read = _by_definition(which, x.shape[2:middle], x.shape[middle:], **geometry)
    for at in np.ndindex(*read.shape):
        if read[at]:
            out[:, :, read[at] - 1] += x[(slice(None), slice(None), *at)]
    return out.reshape(*x.shape[:2], *size)


fold_windows = linear(
    "nn.fold_windows",
    _fold_transpose,
    params=("size", *_GEOMETRY),
    block=_fold_block,
    batch=in_first_axis,
    samples=[
        sample((2, 1, 2, 2, 2, 2), size=(4, 5), stride=(2, 2), offset=(0, 0), dilation=(1, 1)),
        sample((1, 2, 3, 4), size=(5,), stride=(1,), offset=(1,), dilation=(1,)),
        sample((1, 1, 2, 2, 3, 2), size=(5, 3), stride=(2, 1), offset=(1, 0), dilation=(2, 1)),
    ],
    reference=_fold_by_definition,
    doc="Return (batch, channels, *size) with windows added up where they overlap.",
)

# -- what users call --------------------------------------------------------------------------


def _pooling(
    name: str, spatial: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool,
) -> tuple[Tensor, bool, dict[str, Ints], tuple[tuple[int, int], ...]]:  # fmt: skip
    """Return x with a batch, whether it had one, the geometry of windows, and the padding."""
    x, had_batch = batched(x, spatial, name)
    kernel = per_axis(kernel_size, spatial, name, "kernel_size", 1)
    strides = kernel if stride is None else per_axis(stride, spatial, name, "stride", 1)
    dilations = per_axis(dilation, spatial, name, "dilation", 1)
    pairs = padding_pairs(padding, name, x.shape[2:], kernel, strides, dilations)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if any(max(pair) > r // 2 for pair, r in zip(pairs, reach, strict=True)):
        raise ValueError(
            f"{name}: padding is {padding!r}, more than half of what a window of {kernel} with "
            f"dilation {dilations} covers; a window could lie in it altogether"
        )
    size = fitting(name, x.shape[2:], kernel, strides, pairs, dilations)
    if ceil_mode:  # one more window for what is left, if it begins before the padding after x
        size = tuple(
            p + (p * s < n + lo and p * s + r - s < n + lo + hi)
            for p, s, r, n, (lo, hi) in zip(size, strides, reach, x.shape[2:], pairs, strict=True)
        )
    geometry = {
        "kernel": kernel,
        "size": size,
        "stride": strides,
        "offset": tuple(before for before, _ in pairs),
        "dilation": dilations,
    }
    return x, had_batch, geometry, pairs


def _real(x: Any, name: str) -> Tensor:
    x = shapes.tensor(x, name)
    if backends.kind_of(x.dtype) not in "fiu":
        raise DtypeError(f"{name}: x is of {x.dtype}; expected real numbers, which have an order")
    return x


def _max_pool(
    name: str, spatial: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    x = _real(x, name)
    x, had_batch, geometry, _ = _pooling(
        name, spatial, x, kernel_size, stride, padding, dilation, ceil_mode
    )
    y = unbatched(max_pool(x, **geometry, ties="even"), had_batch)
    if not return_indices:
        return y
    return y, unbatched(max_pool_indices(x, **geometry), had_batch)


def max_pool1d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of x (batch, channels, length).

    As for `max_pool2d`.
    """
    return _max_pool(
        "max_pool1d", 1, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool2d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of x (batch, channels, rows, columns).

    x may lack the batch axis. `stride` is `kernel_size` unless given. Padding never wins.
    With `ceil_mode`, what is left at the end of an axis is a window, too. Elements that tie
    share the derivative evenly. With `return_indices`, also return the flat position, in its
    channel, of the first largest element of each window.
    """
    return _max_pool(
        "max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of x (batch, channels, three more axes).

    As for `max_pool2d`.
    """
    return _max_pool(
        "max_pool3d", 3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def _fractional(x: Any, name: str) -> Tensor:
    """Return x in a dtype that has fractions; integers in the default one."""
    x = shapes.tensor(x, name)
    if backends.is_inexact(x.dtype):
        return x
    return elementwise.astype(x, backends.namespace_of(x._raw).float64)


def _counts(
    places: int, kernel: int, stride: int, length: int, pair: tuple[int, int], include_pad: bool
) -> Any:
    """Return how many elements each window along an axis has."""
    start = np.arange(places) * stride - pair[0]
    low, high = (-pair[0], length + pair[1]) if include_pad else (0, length)
    return np.maximum(np.minimum(start + kernel, high) - np.maximum(start, low), 1)


def _halves_in_single(pool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a pool that averages numbers of half precision, whose sums it may not hold."""

    def pooled(name: str, spatial: int, x: Any, *how: Any) -> Any:
        x = _fractional(x, name)
        if not backends.is_half(x.dtype):
            return pool(name, spatial, x, *how)
        single = elementwise.astype(x, backends.namespace_of(x._raw).float32)
        return elementwise.astype(pool(name, spatial, single, *how), x.dtype)

    return pooled


@_halves_in_single
def _avg_pool(
    name: str, spatial: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool,
) -> Any:  # fmt: skip
    x, had_batch, geometry, pairs = _pooling(
        name, spatial, x, kernel_size, stride, padding, 1, ceil_mode
    )
    divisor: Any = 1
    for a, pair in enumerate(pairs):
        counts = _counts(
            geometry["size"][a], geometry["kernel"][a], geometry["stride"][a], x.shape[2 + a], pair,
            count_include_pad,
        )  # fmt: skip
        divisor = np.multiply.outer(divisor, counts)
    return unbatched(divided(window_sum(x, **geometry), divisor), had_batch)


def divided(y: Tensor, divisor: np.ndarray) -> Any:
    """Return sums over the numbers of their terms, which are those of the last axes."""
    if divisor.size and divisor.min() == divisor.max():
        return elementwise.divide(y, float(divisor.flat[0]))
    xp: Any = backends.namespace_of(y._raw)
    real = xp.real(y._raw) if backends.kind_of(y.dtype) == "c" else y._raw
    return elementwise.divide(y, wrap(xp.asarray(divisor, dtype=real.dtype)))


def avg_pool1d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window of x (batch, channels, length), as `avg_pool2d` does."""
    return _avg_pool("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window of x (batch, channels, rows, columns).

    Padding counts as zeros, unless `count_include_pad` is false. What `ceil_mode` adds beyond
    the padding never counts. The rest is as for `max_pool2d`.
    """
    return _avg_pool("avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool3d(
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window of x (batch, channels, three more axes).

    As for `avg_pool2d`.
    """
    return _avg_pool("avg_pool3d", 3, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


# -- a given number of windows ----------------------------------------------------------------


def _adaptive(name: str, spatial: int, x: Any, output_size: Any) -> tuple[Tensor, bool, Ints]:
    """Return x with a batch, whether it had one, and the size of the result."""
    x, had_batch = batched(x, spatial, name)
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * spatial
    if len(given) != spatial:
        raise ValueError(
            f"{name}: output_size is {output_size!r}; expected a number, or {spatial} of them"
        )
    kept = [n if m is None else m for m, n in zip(given, x.shape[2:], strict=True)]
    size = per_axis(kept, spatial, name, "output_size", 1)
    if 0 in x.shape[2:]:
        raise ShapeError(f"{name}: x of shape {x.shape} has nothing to pool")
    return x, had_batch, size


def _even(length: Ints, size: Ints) -> dict[str, Ints] | None:
    """Return the geometry of windows that part an array evenly; None if they do not."""
    if any(n % m for n, m in zip(length, size, strict=True)):
        return None
    kernel = tuple(n // m for n, m in zip(length, size, strict=True))
    count = len(size)
    return {
        "kernel": kernel,
        "size": size,
        "stride": kernel,
        "offset": (0,) * count,
        "dilation": (1,) * count,
    }


@_halves_in_single
def _adaptive_avg(name: str, spatial: int, x: Any, output_size: Any) -> Any:
    x, had_batch, size = _adaptive(name, spatial, x, output_size)
    geometry = _even(x.shape[2:], size)
    if geometry is not None:
        y = window_sum(x, **geometry)
        return unbatched(divided(y, np.asarray(math.prod(geometry["kernel"]))), had_batch)
    for axis, m in enumerate(size, 2):
        index, weight = area_taps(x.shape[axis], m)
        x = combine(x, axis=axis, index=index, weight=weight)
    return unbatched(x, had_batch)


def adaptive_avg_pool1d(x: Any, output_size: Any) -> Any:
    """Return `output_size` means over x (batch, channels, length)."""
    return _adaptive_avg("adaptive_avg_pool1d", 1, x, output_size)


def adaptive_avg_pool2d(x: Any, output_size: Any) -> Any:
    """Return the means of windows that part x (batch, channels, rows, columns) evenly.

    Window i of n along an axis goes from floor(i * length / n) to ceil((i + 1) * length / n).
    `output_size` is a number, or one for each axis; None keeps the length of an axis.
    """
    return _adaptive_avg("adaptive_avg_pool2d", 2, x, output_size)


def adaptive_avg_pool3d(x: Any, output_size: Any) -> Any:
    """Return means as `adaptive_avg_pool2d` does, for x (batch, channels, three more axes)."""
    return _adaptive_avg("adaptive_avg_pool3d", 3, x, output_size)


def _by_length(x: Tensor, size: Ints, kernel: Ints) -> Tensor:
    """Return the largest of uneven windows, from those of each length along the next axis.

    Windows of one length are laid side by side, so that they part the axis evenly.
    """
    if len(kernel) == len(size):
        count = len(size)
        return max_pool(
            x, kernel=kernel, size=tuple(n // k for n, k in zip(x.shape[2:], kernel, strict=True)),
            stride=kernel, offset=(0,) * count, dilation=(1,) * count, ties="even",
        )  # fmt: skip
    axis = 2 + len(kernel)
    index, _ = area_taps(x.shape[axis], size[len(kernel)])
    lengths = np.sum(index >= 0, axis=1)
    parts, order = [], []
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        side_by_side = _picked(x, axis, index[places, :length].reshape(-1))
        parts.append(_by_length(side_by_side, size, (*kernel, length)))
        order.append(places)
    back = np.argsort(np.concatenate(order))
    return parts[0] if len(parts) == 1 else _picked(joining.concat(parts, axis=axis), axis, back)


def _picked(x: Tensor, axis: int, index: np.ndarray) -> Any:
    return combine(x, axis=axis, index=index[:, None], weight=np.ones((len(index), 1)))


def _adaptive_max(name: str, spatial: int, x: Any, output_size: Any) -> Any:
    x, had_batch, size = _adaptive(name, spatial, _real(x, name), output_size)
    geometry = _even(x.shape[2:], size)
    if geometry is None:
        return unbatched(_by_length(x, size, ()), had_batch)
    return unbatched(max_pool(x, **geometry, ties="even"), had_batch)


def adaptive_max_pool1d(x: Any, output_size: Any) -> Any:
    """Return the largest of `output_size` windows of x (batch, channels, length)."""
    return _adaptive_max("adaptive_max_pool1d", 1, x, output_size)


def adaptive_max_pool2d(x: Any, output_size: Any) -> Any:
    """Return the largest elements of the windows of `adaptive_avg_pool2d`."""
    return _adaptive_max("adaptive_max_pool2d", 2, x, output_size)


def adaptive_max_pool3d(x: Any, output_size: Any) -> Any:
    """Return the largest elements of the windows of `adaptive_avg_pool3d`."""
    return _adaptive_max("adaptive_max_pool3d", 3, x, output_size)


# -- windows as columns -----------------------------------------------------------------------


def unfold(
    x: Any, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    """Return windows as columns: (batch, channels times taps, places).

    x is (batch, channels, *spatial), with any number of spatial axes. It may lack the batch axis
    if `kernel_size` has a number for each spatial axis.
    """
    x = shapes.tensor(x, "unfold")
    many = isinstance(kernel_size, (tuple, list))
    spatial = len(kernel_size) if many and len(kernel_size) > 1 else x.ndim - 2
    if spatial < 1:
        raise ShapeError(f"unfold: x has shape {x.shape}; expected (batch, channels, *spatial)")
    x, had_batch = batched(x, spatial, "unfold")
    kernel = per_axis(kernel_size, spatial, "unfold", "kernel_size", 1)
    strides = per_axis(stride, spatial, "unfold", "stride", 1)
    dilations = per_axis(dilation, spatial, "unfold", "dilation", 1)
    pairs = pairs_per_axis(padding, spatial, "unfold")
    size = fitting("unfold", x.shape[2:], kernel, strides, pairs, dilations)
    windows = unfold_windows(
        x,
        kernel=kernel,
        size=size,
        stride=strides,
        offset=tuple(before for before, _ in pairs),
        dilation=dilations,
    )
    columns = shapes.reshape(
        windows, (x.shape[0], x.shape[1] * math.prod(kernel), math.prod(size))
    )  # fmt: skip
    return unbatched(columns, had_batch)


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
) -> Any:
    """Return images (batch, channels, *output_size) from columns, added where they overlap.

    It is the transpose of `unfold`, and takes (batch, channels times taps, places).
    `output_size` has a number for each spatial axis.
    """
    x = shapes.tensor(x, "fold")
    if not isinstance(output_size, (tuple, list)):
        raise TypeError(
            f"fold: output_size is {output_size!r}; expected a tuple, one for each axis"
        )
    spatial = len(output_size)
    size = per_axis(output_size, spatial, "fold", "output_size", 1)
    x, had_batch = batched(x, 1, "fold")
    kernel = per_axis(kernel_size, spatial, "fold", "kernel_size", 1)
    strides = per_axis(stride, spatial, "fold", "stride", 1)
    dilations = per_axis(dilation, spatial, "fold", "dilation", 1)
    pairs = pairs_per_axis(padding, spatial, "fold")
    places = fitting("fold", size, kernel, strides, pairs, dilations)
    taps = math.prod(kernel)
    if x.shape[1] % taps or x.shape[2] != math.prod(places):
        raise ShapeError(
            f"fold: x has shape {x.shape}; expected a multiple of {taps} (taps of a kernel of "
            f"{kernel}) and {math.prod(places)} places, which {size} has"
        )
    windows = shapes.reshape(x, (x.shape[0], x.shape[1] // taps, *kernel, *places))
    y = fold_windows(
        windows,
        size=size,
        stride=strides,
        offset=tuple(before for before, _ in pairs),
        dilation=dilations,
    )
    return unbatched(y, had_batch)
