"""torch.nn.functional: pooling."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument
from wengert.dialects.torch import memory
from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.conventions import read
from wengert.dialects.torch.kinds import READERS, Input, Int, tensor
from wengert.dialects.torch.nn import arguments
from wengert.dialects.torch.nn.arguments import (
    Fractional,
    Ints,
    functional,
    lengths,
    misfit,
    ranked,
)
from wengert.dialects.torch.tensors import Native, ns, static, values_of
from wengert.ops.families.narrow import in_single
from wengert.ops.neural import pooling, unpooling
from wengert.ops.neural.windows import Rank, batched, unbatched

#: Tensors whose numbers have an order, and those that have means.
Ordered = Annotated[Native, tensor("iuf", NotImplementedError)]


def _is_left_out(stride: Any) -> bool:
    return stride is None or (isinstance(stride, (list, tuple)) and not stride)


def _check_axes(x: Native, spatial: int, name: str) -> None:
    if x.ndim not in (spatial + 1, spatial + 2):
        raise misfit(name, f"{spatial + 1} or {spatial + 2} axes", input=x)


def _windows(
    name: str, spatial: int, x: Native, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool,
) -> tuple[Native, bool, dict[str, Any], Any]:  # fmt: skip
    """Return x with a batch, whether it had one, the geometry of windows, and the padding."""
    _check_axes(x, spatial, name)
    kernel = lengths(kernel_size, spatial, name, "kernel_size")
    steps = kernel if _is_left_out(stride) else lengths(stride, spatial, name, "stride")
    around = lengths(padding, spatial, name, "padding")
    gaps = lengths(dilation, spatial, name, "dilation")
    rank = Rank(name, spatial)
    return pooling.pooling_windows(rank, x, kernel, steps, around, gaps, bool(ceil_mode))


def _largest(x: Native, geometry: Any, had_batch: bool, return_indices: bool) -> Any:
    y = unbatched(memory.apart(pooling.max_pool(x, **geometry, ties="first")), had_batch)
    if not return_indices:
        return y
    indices = ns.astype(pooling.max_pool_indices(x, **geometry), np.int64)
    return y, unbatched(indices, had_batch)


@ranked("max_pool{}d", "MaxPool{}DWithIndicesBackward0", first="SqueezeBackward1", also=(1, 2, 3))
def _max_pool(spatial: int) -> Any:
    name = f"max_pool{spatial}d"

    def pool(
        input: Ordered, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        """Return the largest element of each window, and where it is if that is asked for."""
        x, had_batch, geometry, _ = _windows(
            name, spatial, read(input), kernel_size, stride, padding, dilation, ceil_mode
        )
        return _largest(x, geometry, had_batch, return_indices)

    return pool


# -- means -----------------------------------------------------------------------------------------


@in_single
def _mean(
    spatial: int, x: Native, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor: int | None = None,
) -> Native:  # fmt: skip
    name = f"avg_pool{spatial}d"
    if kind_of(x) != "f" and x._raw.dtype != np.int64:
        raise unable(name, x)
    if divisor == 0:
        raise RuntimeError("divisor_override is 0; give another number, or None")
    floats = ns.astype(x, np.float64) if kind_of(x) == "i" else x
    windows, had_batch, geometry, pairs = _windows(
        name, spatial, read(floats), kernel_size, stride, padding, 1, ceil_mode
    )
    means = pooling.window_sum(windows, **geometry)
    if divisor is None:
        shape, counted = windows.shape[2:], bool(count_include_pad)
        counts = pooling.window_counts(shape, geometry, pairs, counted)
        means = pooling.divided(means, counts)
    else:
        means = means / float(divisor)
    means = unbatched(means, had_batch)
    # whole numbers are rounded towards 0
    return ns.astype(ns.trunc(means), np.int64) if kind_of(x) == "i" else means


@functional("avg_pool1d", label="SqueezeBackward1")
def avg_pool1d(
    input: Input, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Native:  # fmt: skip
    """Return the mean of each window."""
    return _mean(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


@ranked("avg_pool{}d", "AvgPool{}DBackward0", ranks=(2, 3))
def _avg_pool(spatial: int) -> Any:
    def pool(
        input: Input, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: Int | None = None,
    ) -> Native:  # fmt: skip
        """Return the mean of each window, or its sum over another divisor."""
        return _mean(
            spatial, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override,
        )  # fmt: skip

    return pool


# -- a given number of windows ---------------------------------------------------------------------


def _at(name: str) -> Argument:
    return Argument(name, "output_size")


def _output_size(name: str, spatial: int, x: Native, output_size: Any) -> Ints:
    given = static(output_size)
    sizes = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    if len(sizes) != spatial:
        raise RuntimeError(f"{name}: output_size is {output_size!r}; give {spatial} numbers")
    kept = zip(x.shape[x.ndim - spatial :], sizes, strict=True)
    found = READERS.integers([n if m is None else m for n, m in kept], _at(name))
    if min(found) < 0:
        raise RuntimeError(f"{name}: output_size is {list(found)}; give 0 or more for each axis")
    return found


_ADAPTIVE = {
    1: (pooling.adaptive_avg_pool1d, pooling.adaptive_max_pool1d),
    2: (pooling.adaptive_avg_pool2d, pooling.adaptive_max_pool2d),
    3: (pooling.adaptive_avg_pool3d, pooling.adaptive_max_pool3d),
}


@ranked("adaptive_avg_pool{}d", "AdaptiveAvgPool{}DBackward0", first="SqueezeBackward1", also=(1,))
def _adaptive_mean(spatial: int) -> Any:
    name = f"adaptive_avg_pool{spatial}d"

    def pool(input: Fractional, output_size: Any) -> Native:
        """Return the means of a number of windows that part a tensor."""
        _check_axes(input, spatial, name)
        size = _output_size(name, spatial, input, output_size)
        if 0 in size:
            return ns.zeros((*input.shape[: input.ndim - spatial], *size), dtype=input.dtype)
        averaged = set(size) == {1} and spatial > 1  # then PyTorch has a plain mean
        return _ADAPTIVE[spatial][0](input if averaged else read(input), size)

    return pool


@ranked("adaptive_max_pool{}d", "AdaptiveMaxPool{}DBackward0", first="SqueezeBackward1")
def _adaptive_max(spatial: int) -> Any:
    name = f"adaptive_max_pool{spatial}d"

    def pool(input: Fractional, output_size: Any, return_indices: bool = False) -> Any:
        """Return the largest elements of a number of windows that part a tensor."""
        _check_axes(input, spatial, name)
        size = _output_size(name, spatial, input, output_size)
        lead, image = input.shape[: input.ndim - spatial], input.shape[input.ndim - spatial :]
        if 0 in size:
            empty = ns.zeros((*lead, *size), dtype=input.dtype)
            return (empty, ns.astype(empty, np.int64)) if return_indices else empty
        if 0 in image:
            raise RuntimeError(f"{name}: input of shape {list(input.shape)} has nothing to pool")
        x, even = read(input), pooling.even_windows(image, size)
        if even is not None:
            x, had_batch = batched(x, spatial, name)
            return _largest(x, even, had_batch, return_indices)
        if arguments.is_batched(x):
            if return_indices:
                raise RuntimeError(
                    f"{name}: inside of vmap, windows must be even to return indices"
                )
            return _ADAPTIVE[spatial][1](x, size)
        found = unpooling.largest_of_uneven_windows(x, size)
        return found if return_indices else found[0]

    return pool


# -- back to where the largest were ----------------------------------------------------------------


def _unpooled_size(
    name: str, x: Native, kernel: Ints, stride: Ints, padding: Ints, output_size: Any
) -> Ints:
    """Return the size before pooling; the one that is asked for must be near."""
    spatial = len(kernel)
    usual = tuple(
        (n - 1) * s + k - 2 * p
        for n, s, k, p in zip(x.shape[-spatial:], stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return usual
    given = list(READERS.integers(output_size, _at(name)))
    if len(given) == spatial + 2:
        given = given[2:]
    if len(given) != spatial:
        raise misfit(
            name, f"{spatial} or {spatial + 2} numbers", arguments.wrong, output_size=given
        )
    for n, m, s in zip(given, usual, stride, strict=True):
        if not m - s < n < m + s:
            raise misfit(
                name, f"lengths within a stride of {usual}", arguments.wrong, output_size=given
            )
    return tuple(given)


@ranked("max_unpool{}d", "MaxUnpool{}DBackward0", first="MaxUnpool2DBackward0")
def _max_unpool(spatial: int) -> Any:
    name = f"max_unpool{spatial}d"

    def unpool(
        input: Fractional, indices: Input, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
    ) -> Native:  # fmt: skip
        """Return zeros with the elements where `max_pool` found them."""
        _check_axes(input, spatial, name)
        kernel = lengths(kernel_size, spatial, name, "kernel_size")
        steps = kernel if _is_left_out(stride) else lengths(stride, spatial, name, "stride")
        around = lengths(padding, spatial, name, "padding")
        size = _unpooled_size(name, input, kernel, steps, around, output_size)
        where = values_of(indices._raw)
        if where.dtype != np.int64 or where.shape != input.shape:
            raise misfit(name, "int64 indices of one shape", input=input, indices=where)
        return unpooling.put_back(input, where, size)

    return unpool
