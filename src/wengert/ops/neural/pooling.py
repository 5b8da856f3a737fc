"""Pooling: the largest element or the mean of each window, and the operations below them.

`windows` says which elements a window reads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends.numpy_windows import Geometry
from wengert.engine.batching import Level
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Values
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise, joining
from wengert.ops.batching import as_it_is, full, full_parameter
from wengert.ops.checks import floating, misfit, ordered
from wengert.ops.families import Sample, linear, sample, special, zero
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.resampling import area_taps, combine
from wengert.ops.neural.windows import (
    Ints,
    Pairs,
    Part,
    Rank,
    ascending,
    ascending_region,
    batched,
    by_rank,
    fitting_windows,
    per_axis,
    seeing,
    seeing_part,
    seen,
    seen_part,
    unbatched,
)
from wengert.regions import Region, slices

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

#: What an operation depends on: ``(region, node, parent, argument, values)``, see `engine.op`.
Depends = Callable[[Region, Node, Node, int, Any], Region | None]

# -- the largest ------------------------------------------------------------------------------


def _raw(x: Any) -> Any:
    """Return an array that a derivative depends on only by steps, as a parameter."""
    return x._raw if type(x) is Tensor else x


def _max_pool_rule(
    xp: Any, g: Any, x: Any, y: Any, kernel: Ints, geometry: Geometry, ties: str
) -> Any:
    found = {"inputs": _raw(x), "largest": _raw(y)}
    return xp.nn.max_pool_spread(g, **found, kernel=kernel, geometry=geometry, ties=ties)


def _max_pool_block(
    xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
) -> Block | None:
    x, y, kernel, geometry, ties = values
    given, region = ascending(xp, g)
    lengths = x.shape[len(region) - len(kernel) :]
    part = seen_part(given, region, tuple(map(range, kernel)), lengths, geometry)
    if part is None:
        return None
    given, around, cut = part
    here = x[slices(around)], y[slices(region)]
    return Block(parent.shape, around, _max_pool_rule(xp, given, *here, kernel, cut, ties))


def _window_region(
    between: Callable[..., range], region: Region, shape: Ints, values: Values
) -> Region | None:
    """Return the region of an array of `shape` that windows have in common with a region.

    `between` is `seen`, from windows to the elements in them, or `seeing`, the reverse.
    `values` are those that the rules of the maximum read.
    """
    _, _, kernel, geometry, _ = values
    lead = len(region) - len(kernel)
    if not all(map(len, region)):
        return None
    region, taps = ascending_region(region), tuple(map(range, kernel))
    return (*region[:lead], *map(between, region[lead:], taps, shape[lead:], *geometry))


def _depends(between: Callable[..., range]) -> Depends:
    """Return `Op.depends`: all of the windows, whoever is largest."""
    return lambda region, node, parent, argument, values: _window_region(
        between, region, parent.shape, values
    )


def _sample(shape: Ints, kernel: Ints, size: Ints, *geometry: Ints) -> Sample:
    return sample(shape, kernel=kernel, size=size, geometry=Geometry(*geometry))


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
    params=("kernel", "size", "geometry", "ties"),
    block=_max_pool_block,
    batch=as_it_is,
    samples=[
        replace(s, params=s.params | {"ties": ties})
        for s, ties in zip(_POOLED, itertools.cycle(("even", "first")))
    ],
    kinds="f",
)
max_pool.op.depends = _depends(seen)
max_pool.op.reach = lambda region, node, parent, argument, values: _window_region(
    seeing, region, node.shape, values
)

# Windows of 3 in steps of 2, some of which have several largest elements.
_TIED = {
    "inputs": np.array([[1.0, 3.0, 3.0, 0.0, 2.0], [2.0, 2.0, 2.0, 2.0, 5.0]]),
    "largest": np.array([[3.0, 3.0], [2.0, 5.0]]),
    "kernel": (3,),
    "geometry": Geometry((2,), (0,), (1,)),
}
_EVENLY, _TO_FIRST = _TIED | {"ties": "even"}, _TIED | {"ties": "first"}


def _shared_by_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return one of the two operations below on the images of all examples."""
    images = {name: full_parameter(params[name], level) for name in ("inputs", "largest")}
    return apply(op, (full(arrays[0], mapped[0], level),), params | images)


def _between_windows_and_inputs(name: str, other: str, **tests: Any) -> Callable[..., Any]:
    """Declare one of two operations that are each other's transpose."""
    return linear(
        f"nn.{name}",
        lambda xp, g, inputs, largest, kernel, geometry, ties: getattr(xp.nn, other)(
            g, inputs=inputs, largest=largest, kernel=kernel, geometry=geometry, ties=ties
        ),
        params=("inputs", "largest", "kernel", "geometry", "ties"),
        batch=_shared_by_examples,
        **tests,
    )


max_pool_spread = _between_windows_and_inputs(
    "max_pool_spread",
    "max_pool_gather",
    samples=[sample((2, 2), **_EVENLY), sample((2, 2), **_TO_FIRST)],
    doc="Return x shared evenly by the largest inputs of each window, or given to the first.",
)
max_pool_gather = _between_windows_and_inputs(
    "max_pool_gather",
    "max_pool_spread",
    samples=[sample((2, 5), **_EVENLY), sample((2, 5), **_TO_FIRST)],
    doc="Return the mean of x at the largest inputs of each window, or x at the first.",
)
for _operation, _between in ((max_pool_spread, seeing), (max_pool_gather, seen)):
    _operation.op.numbers = ("inputs", "largest")  # type: ignore[attr-defined]
    _operation.op.depends = _depends(_between)  # type: ignore[attr-defined]


max_pool_indices = zero(
    "nn.max_pool_indices",
    params=("kernel", "size", "geometry"),
    samples=_POOLED,
    doc="Return the flat position of the first largest element of each window.",
)

# -- sums -------------------------------------------------------------------------------------


def _windows(name: str, other: str, part_of: Callable[..., Part], **tests: Any) -> Any:
    """Declare one of two sums that are each other's transpose, by what a part has to do with."""

    def transpose(xp: Any, g: Any, x_shape: Ints, kernel: Ints, geometry: Geometry) -> Any:
        size = tuple(x_shape[len(x_shape) - len(kernel) :])
        return getattr(xp.nn, other)(g, kernel=kernel, size=size, geometry=geometry)

    def block(xp: Any, g: Block, x_shape: Ints, kernel: Ints, geometry: Geometry) -> Block | None:
        lengths = x_shape[len(g.region) - len(kernel) :]
        part = part_of(xp, g, tuple(map(range, kernel)), lengths, geometry)
        if part is None:
            return None
        values, region, cut = part
        return Block(x_shape, region, transpose(xp, values, tuple(map(len, region)), kernel, cut))

    params = ("kernel", "size", "geometry")
    return linear(f"nn.{name}", transpose, params=params, block=block, batch=as_it_is, **tests)


window_sum = _windows(
    "window_sum",
    "window_spread",
    lambda xp, g, *windows: seen_part(*ascending(xp, g), *windows),
    samples=_POOLED,
    doc="Return the sums of windows.",
)
window_spread = _windows(
    "window_spread",
    "window_sum",
    seeing_part,
    samples=[
        _sample((2, 1, 2, 2), (2, 2), (4, 5), (2, 2), (0, 0), (1, 1)),
        _sample((1, 2, 4), (3,), (5,), (1,), (1,), (1,)),
        _sample((2, 3, 3), (2, 3), (5, 4), (2, 1), (1, 1), (2, 1)),
    ],
    doc="Return the sums over the windows that see a position.",
)

# -- what users call --------------------------------------------------------------------------


def pooling_windows(
    rank: Rank, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Tensor, bool, dict[str, Any], Pairs]:
    """Return x with a batch, whether it had one, the parameters of windows, and the padding."""
    name, spatial = rank
    x, had_batch = batched(x, spatial, name)
    kernel, lengths = per_axis(kernel_size, spatial, name, "kernel_size", 1), x.shape[2:]
    steps = kernel if stride is None else stride
    size, geometry, pairs = fitting_windows(name, lengths, kernel, steps, padding, dilation)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, geometry.dilation, strict=True)]
    if any(max(pair) > r // 2 for pair, r in zip(pairs, reach, strict=True)):
        raise ValueError(
            f"{name}: padding is {padding!r}, more than half of what a window of {kernel} with "
            f"dilation {geometry.dilation} covers; a window could lie in it altogether"
        )
    if ceil_mode:  # one more window for what is left, if it begins before the padding after x
        axes = zip(size, geometry.stride, reach, lengths, pairs, strict=True)
        size = tuple(
            p + (p * s < n + lo and p * s + r - s < n + lo + hi) for p, s, r, n, (lo, hi) in axes
        )
    return x, had_batch, {"kernel": kernel, "size": size, "geometry": geometry}, pairs


def _max_pool(
    rank: Rank,
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of x (batch, channels, {axes}).

    x may lack the batch axis. `stride` is `kernel_size` unless given. Padding never wins.
    With `ceil_mode`, what is left at the end of an axis is a window, too. Elements that tie
    share the derivative evenly. With `return_indices`, also return the flat position, in its
    channel, of the first largest element of each window.
    `wg.nn.max_pool{n}d(np.arange(3.0 ** {n}).reshape({cube}), 3).item()` is `3.0 ** {n} - 1`.
    """
    x, had_batch, windows, _ = pooling_windows(
        rank, ordered(x, rank.name), kernel_size, stride, padding, dilation, ceil_mode
    )
    y = unbatched(max_pool(x, **windows, ties="even"), had_batch)
    if not return_indices:
        return y
    return y, unbatched(max_pool_indices(x, **windows), had_batch)


max_pool1d, max_pool2d, max_pool3d = by_rank("max_pool", _max_pool)


def window_counts(
    lengths: Ints, windows: dict[str, Any], padding: Pairs, include_pad: bool
) -> np.ndarray:
    """Return how many elements each window has, with or without those of the padding."""
    total: Any = 1
    sizes = windows["size"], windows["kernel"], windows["geometry"].stride
    for length, pair, places, kernel, stride in zip(lengths, padding, *sizes, strict=True):
        start = np.arange(places) * stride - pair[0]
        low, high = (-pair[0], length + pair[1]) if include_pad else (0, length)
        counts = np.maximum(np.minimum(start + kernel, high) - np.maximum(start, low), 1)
        total = np.multiply.outer(total, counts)
    return total


@in_single
def _avg_pool(
    rank: Rank,
    x: Any,
    kernel_size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of x (batch, channels, {axes}).

    Padding counts as zeros, unless `count_include_pad` is false. What `ceil_mode` adds beyond
    the padding never counts. The rest is as for `max_pool{n}d`.
    `wg.nn.avg_pool{n}d(np.arange(3.0 ** {n}).reshape({cube}), 3).item()` is `(3.0 ** {n} - 1) / 2`.
    """
    x = floating(x, rank.name)
    x, had_batch, windows, pairs = pooling_windows(
        rank, x, kernel_size, stride, padding, 1, ceil_mode
    )
    counts = window_counts(x.shape[2:], windows, pairs, count_include_pad)
    return unbatched(divided(window_sum(x, **windows), counts), had_batch)


avg_pool1d, avg_pool2d, avg_pool3d = by_rank("avg_pool", _avg_pool)


def divided(y: Tensor, divisor: np.ndarray) -> Tensor:
    """Return sums over the numbers of their terms, which are those of the last axes."""
    if divisor.size and divisor.min() == divisor.max():
        return elementwise.divide(y, float(divisor.flat[0]))
    xp: Any = backends.namespace_of(y._raw)
    real = xp.real(y._raw) if backends.kind_of(y.dtype) == "c" else y._raw
    return elementwise.divide(y, wrap(xp.asarray(divisor, dtype=real.dtype)))


# -- a given number of windows ----------------------------------------------------------------


def _adaptive(rank: Rank, x: Any, output_size: Any) -> tuple[Tensor, bool, Ints]:
    """Return x with a batch, whether it had one, and the size of the result."""
    name, spatial = rank
    x, had_batch = batched(x, spatial, name)
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * spatial
    if len(given) != spatial:
        raise ValueError(
            f"{name}: output_size is {output_size!r}; expected a number, or {spatial} of them"
        )
    kept = [n if m is None else m for m, n in zip(given, x.shape[2:], strict=True)]
    size = per_axis(kept, spatial, name, "output_size", 1)
    if 0 in x.shape[2:]:
        raise misfit(name, "something to pool", x=x)
    return x, had_batch, size


def side_by_side(kernel: Ints, length: Ints) -> dict[str, Any]:
    """Return the parameters of windows that lie side by side and cover an array."""
    size = tuple(n // k for n, k in zip(length, kernel, strict=True))
    zeros, ones = (0,) * len(kernel), (1,) * len(kernel)
    return {"kernel": kernel, "size": size, "geometry": Geometry(kernel, zeros, ones)}


def even_windows(length: Ints, size: Ints) -> dict[str, Any] | None:
    """Return the parameters of windows that part an array evenly; None if they do not."""
    if any(n % m for n, m in zip(length, size, strict=True)):
        return None
    return side_by_side(tuple(n // m for n, m in zip(length, size, strict=True)), length)


@in_single
def _adaptive_avg_pool(rank: Rank, x: Any, output_size: Any) -> Tensor:
    """Return the means of windows that part x (batch, channels, {axes}) evenly.

    Window i of n along an axis goes from floor(i * length / n) to ceil((i + 1) * length / n).
    `output_size` is a number, or one for each axis; None keeps the length of an axis.
    `wg.nn.adaptive_avg_pool{n}d(np.ones({cube}), 1).item()` is `1.0`.
    """
    x = floating(x, rank.name)
    y, had_batch, size = _adaptive(rank, x, output_size)
    windows = even_windows(y.shape[2:], size)
    if windows is not None:
        y = divided(window_sum(y, **windows), np.asarray(math.prod(windows["kernel"])))
    else:
        for axis, m in enumerate(size, 2):
            index, weight = area_taps(y.shape[axis], m)
            y = combine(y, axis=axis, index=index, weight=weight)
    return unbatched(y, had_batch)


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = by_rank(
    "adaptive_avg_pool", _adaptive_avg_pool
)


def _by_length(x: Tensor, size: Ints, kernel: Ints) -> Tensor:
    """Return the largest of uneven windows, from those of each length along the next axis.

    Windows of one length are laid side by side, so that they part the axis evenly.
    """
    if len(kernel) == len(size):
        return max_pool(x, **side_by_side(kernel, x.shape[2:]), ties="even")
    axis = 2 + len(kernel)
    index, _ = area_taps(x.shape[axis], size[len(kernel)])
    lengths = np.sum(index >= 0, axis=1)
    parts, order = [], []
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        taken = _picked(x, axis, index[places, :length].reshape(-1))
        parts.append(_by_length(taken, size, (*kernel, length)))
        order.append(places)
    back = np.argsort(np.concatenate(order))
    return parts[0] if len(parts) == 1 else _picked(joining.concat(parts, axis=axis), axis, back)


def _picked(x: Tensor, axis: int, index: np.ndarray) -> Tensor:
    return combine(x, axis=axis, index=index[:, None], weight=np.ones((len(index), 1)))


def _adaptive_max_pool(rank: Rank, x: Any, output_size: Any) -> Tensor:
    """Return the largest elements of the windows of `adaptive_avg_pool{n}d`.

    `wg.nn.adaptive_max_pool{n}d(np.ones({cube}), 1).item()` is `1.0`.
    """
    x, had_batch, size = _adaptive(rank, ordered(x, rank.name), output_size)
    windows = even_windows(x.shape[2:], size)
    if windows is None:
        return unbatched(_by_length(x, size, ()), had_batch)
    return unbatched(max_pool(x, **windows, ties="even"), had_batch)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = by_rank(
    "adaptive_max_pool", _adaptive_max_pool
)
