"""torch.nn.functional: pooling."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.conventions import read
from wengert.dialects.torch.nn.arguments import (
    F,
    Ints,
    fractional,
    functional,
    is_batched,
    lengths,
    whole,
    wrong,
)
from wengert.dialects.torch.operators import to_power
from wengert.dialects.torch.table import NAMES, guarded, put
from wengert.dialects.torch.tensors import ns, only_tensor, static, values_of
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import updates
from wengert.ops.neural import pooling
from wengert.ops.neural.resampling import area_taps
from wengert.ops.neural.windows import Rank, batched, unbatched

_LABELS = {
    1: "SqueezeBackward1",
    2: "MaxPool2DWithIndicesBackward0",
    3: "MaxPool3DWithIndicesBackward0",
}


def _is_left_out(stride: Any) -> bool:
    return stride is None or (isinstance(stride, (list, tuple)) and not stride)


def _check_axes(x: Native, spatial: int, name: str) -> None:
    if x.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: got shape {list(x.shape)}; give {spatial + 1} or {spatial + 2} axes"
        )


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
    return pooling.pooling_windows(
        Rank(name, spatial), x, kernel, steps, around, gaps, bool(ceil_mode)
    )


# -- the largest -----------------------------------------------------------------------------------


def _largest(
    spatial: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    name = f"max_pool{spatial}d"
    x = only_tensor(input, name)
    if kind_of(x) not in "iuf":
        raise unable(name, x)
    x, had_batch, geometry, _ = _windows(
        name, spatial, read(x), kernel_size, stride, padding, dilation, ceil_mode
    )
    y = unbatched(memory.apart(pooling.max_pool(x, **geometry, ties="first")), had_batch)
    if not return_indices:
        return y
    places = ns.astype(pooling.max_pool_indices(x, **geometry), np.int64)
    return y, unbatched(places, had_batch)


def _max_pool(spatial: int) -> None:
    name = f"max_pool{spatial}d"

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the largest element of each window, and where it is if that is asked for."""
        return _largest(
            spatial, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
        )

    def with_indices(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the largest element of each window, and where it is."""
        return _largest(spatial, input, kernel_size, stride, padding, dilation, ceil_mode, True)

    pool.__name__ = pool.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    put((F + name, name), guarded(pool, _LABELS[spatial]))
    also = (f"{name}_with_indices",) if spatial == 1 else ()
    put((f"{F}{name}_with_indices", *also), guarded(with_indices, _LABELS[spatial]))


# -- means -----------------------------------------------------------------------------------------


def _mean(
    spatial: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Any:  # fmt: skip
    name = f"avg_pool{spatial}d"
    x = only_tensor(input, name)
    if kind_of(x) != "f" and x._raw.dtype != np.int64:
        raise unable(name, x)
    if kind_of(x) == "i":  # rounded towards 0
        means = _mean(
            spatial, ns.astype(x, np.float64), kernel_size, stride, padding, ceil_mode,
            count_include_pad, divisor_override,
        )  # fmt: skip
        return ns.astype(ns.trunc(means), np.int64)
    x, had_batch, geometry, pairs = _windows(
        name, spatial, read(x), kernel_size, stride, padding, 1, ceil_mode
    )
    sums = pooling.window_sum(x, **geometry)
    if divisor_override is not None:
        divisor = whole(divisor_override, name, "divisor_override")
        if not divisor:
            raise RuntimeError("divisor_override is 0; give another number, or None")
        return unbatched(sums / float(divisor), had_batch)
    counts = pooling.window_counts(x.shape[2:], geometry, pairs, bool(count_include_pad))
    return unbatched(pooling.divided(sums, counts), had_batch)


@functional("avg_pool1d", label="SqueezeBackward1")
def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window."""
    return _mean(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _avg_pool(spatial: int) -> None:
    name = f"avg_pool{spatial}d"

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """Return the mean of each window, or its sum over another divisor."""
        return _mean(
            spatial, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override,
        )  # fmt: skip

    pool.__name__ = pool.__qualname__ = name
    put((F + name,), guarded(pool, f"AvgPool{spatial}DBackward0"))


def _lp_pool(spatial: int) -> None:
    name = f"lp_pool{spatial}d"
    average, sign, relu = NAMES[f"{F}avg_pool{spatial}d"], NAMES["sign"], NAMES["relu"]

    def pool(
        input: Any,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Any:
        """Return the root of the sum of powers of each window."""
        count = math.prod(lengths(kernel_size, spatial, name, "kernel_size"))
        means = average(to_power(input, norm_type), kernel_size, stride, 0, ceil_mode)
        return to_power(sign(means) * relu(means.abs()) * count, 1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = name
    put((F + name,), guarded(pool, "PowBackward0"))


# -- a given number of windows ---------------------------------------------------------------------


def _output_size(name: str, spatial: int, x: Native, output_size: Any) -> Ints:
    given = static(output_size)
    sizes = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    if len(sizes) != spatial:
        raise RuntimeError(f"{name}: output_size is {output_size!r}; give {spatial} numbers")
    kept = x.shape[x.ndim - spatial :]
    found = tuple(
        n if m is None else whole(m, name, "output_size") for n, m in zip(kept, sizes, strict=True)
    )
    if min(found) < 0:
        raise RuntimeError(f"{name}: output_size is {list(found)}; give 0 or more for each axis")
    return found


_ADAPTIVE = {
    1: (pooling.adaptive_avg_pool1d, pooling.adaptive_max_pool1d),
    2: (pooling.adaptive_avg_pool2d, pooling.adaptive_max_pool2d),
    3: (pooling.adaptive_avg_pool3d, pooling.adaptive_max_pool3d),
}


def _adaptive_mean(spatial: int) -> None:
    name = f"adaptive_avg_pool{spatial}d"

    def pool(input: Any, output_size: Any) -> Any:
        """Return the means of a number of windows that part a tensor."""
        x = fractional(input, name)
        _check_axes(x, spatial, name)
        size = _output_size(name, spatial, x, output_size)
        if 0 in size:
            return ns.zeros((*x.shape[: x.ndim - spatial], *size), dtype=x.dtype)
        averaged = set(size) == {1} and spatial > 1  # then PyTorch has a plain mean
        return _ADAPTIVE[spatial][0](x if averaged else read(x), size)

    pool.__name__ = pool.__qualname__ = name
    label = {1: "SqueezeBackward1"}.get(spatial, f"AdaptiveAvgPool{spatial}DBackward0")
    also = (name,) if spatial == 1 else ()
    put((F + name, *also), guarded(pool, label))


def _places_of_largest(raw: np.ndarray, size: Ints) -> np.ndarray:
    """Return the flat position of the first largest element of each uneven window."""
    lead, spatial = raw.shape[: raw.ndim - len(size)], raw.shape[raw.ndim - len(size) :]
    taps = [area_taps(n, m)[0] for n, m in zip(spatial, size, strict=True)]
    positions = np.arange(math.prod(spatial)).reshape(spatial)
    found = np.empty((*lead, *size), np.int64)
    place: Any
    for place in itertools.product(*map(range, size)):
        window = np.ix_(*(t[i][t[i] >= 0] for t, i in zip(taps, place, strict=True)))
        flat = positions[window].reshape(-1)
        values = raw.reshape(*lead, -1)[..., flat]
        found[(..., *place)] = flat[np.argmax(values, axis=-1)]
    return found


def _adaptive_largest(spatial: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{spatial}d"
    x = fractional(input, name)
    _check_axes(x, spatial, name)
    size = _output_size(name, spatial, x, output_size)
    image = x.shape[x.ndim - spatial :]
    if 0 in size:
        shape = (*x.shape[: x.ndim - spatial], *size)
        empty = ns.zeros(shape, dtype=x.dtype)
        return (empty, ns.zeros(shape, dtype=np.int64)) if return_indices else empty
    if 0 in image:
        raise RuntimeError(f"{name}: input of shape {list(x.shape)} has nothing to pool")
    x, even = read(x), pooling.even_windows(image, size)
    if even is not None:
        x, had_batch = batched(x, spatial, name)
        y = unbatched(memory.apart(pooling.max_pool(x, **even, ties="first")), had_batch)
        if not return_indices:
            return y
        places = ns.astype(pooling.max_pool_indices(x, **even), np.int64)
        return y, unbatched(places, had_batch)
    if is_batched(x):
        if return_indices:
            raise RuntimeError(f"{name}: inside of vmap, windows must be even to return indices")
        return _ADAPTIVE[spatial][1](x, size)
    where = _places_of_largest(x._raw, size)
    lead = x.shape[: x.ndim - spatial]
    flat = ns.reshape(x, (*lead, math.prod(image)))
    index = wrap_native(where.reshape(*lead, math.prod(size)))
    y = ns.reshape(ns.take_along_axis(flat, index, axis=-1), where.shape)
    return (y, wrap_native(where)) if return_indices else y


def _adaptive_max(spatial: int) -> None:
    name = f"adaptive_max_pool{spatial}d"

    def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """Return the largest elements of a number of windows that part a tensor."""
        return _adaptive_largest(spatial, input, output_size, return_indices)

    def with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """Return the largest elements of windows that part a tensor, and where they are."""
        return _adaptive_largest(spatial, input, output_size, True)

    pool.__name__ = pool.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    label = {1: "SqueezeBackward1"}.get(spatial, f"AdaptiveMaxPool{spatial}DBackward0")
    put((F + name,), guarded(pool, label))
    also = (name,) if spatial == 1 else ()  # torch.adaptive_max_pool1d returns both
    put((f"{F}{name}_with_indices", *also), guarded(with_indices, label))


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
    given = [whole(n, name, "output_size") for n in static(list(output_size))]
    if len(given) == spatial + 2:
        given = given[2:]
    if len(given) != spatial:
        raise wrong(
            f"output_size has {len(given)} numbers; give {spatial}, one for each axis of space, "
            f"or {spatial + 2}"
        )
    for n, m, s in zip(given, usual, stride, strict=True):
        if not m - s < n < m + s:
            raise wrong(
                f"output_size is {given}; each length must be within a stride of {list(usual)}"
            )
    return tuple(given)


def _max_unpool(spatial: int) -> None:
    name = f"max_unpool{spatial}d"

    def unpool(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        """Return zeros with the elements where `max_pool` found them."""
        x = fractional(input, name)
        _check_axes(x, spatial, name)
        kernel = lengths(kernel_size, spatial, name, "kernel_size")
        steps = kernel if _is_left_out(stride) else lengths(stride, spatial, name, "stride")
        around = lengths(padding, spatial, name, "padding")
        size = _unpooled_size(name, x, kernel, steps, around, output_size)
        where = values_of(indices)
        if where.dtype != np.int64:
            raise RuntimeError(f"the indices have dtype {where.dtype}; write indices.long()")
        if where.shape != x.shape:
            raise RuntimeError(
                f"indices of {list(where.shape)} for input of {list(x.shape)}; give them one shape"
            )
        return _put_back(x, where, size, name)

    unpool.__name__ = unpool.__qualname__ = name
    put(
        (F + name,),
        guarded(unpool, {3: "MaxUnpool3DBackward0"}.get(spatial, "MaxUnpool2DBackward0")),
    )


def _put_back(x: Native, where: np.ndarray, size: Ints, name: str) -> Native:
    lead = x.shape[: x.ndim - len(size)]
    count, rows = math.prod(size), math.prod(lead)
    if where.size and (where.min() < 0 or where.max() >= count):
        raise RuntimeError(
            f"there is an index {where.max()}, beyond an output of shape {list(size)}"
        )
    flat = where.reshape(rows, math.prod(x.shape[len(lead) :]))
    nothing = wrap_native(np.zeros((rows, count), x._raw.dtype))
    values = ns.reshape(x, flat.shape)
    # each element has the derivative of its place, also where another one is written over it
    found = updates.at_set(nothing, values, key=(np.arange(rows)[:, None], flat), winners=None)
    return ns.reshape(found, (*lead, *size))


for _spatial in (1, 2, 3):
    _max_pool(_spatial)
    _adaptive_mean(_spatial)
    _adaptive_max(_spatial)
    if _spatial > 1:
        _avg_pool(_spatial)
    _lp_pool(_spatial)
    _max_unpool(_spatial)
