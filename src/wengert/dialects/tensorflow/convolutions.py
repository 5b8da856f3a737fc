"""Convolutions and pooling by TensorFlow's names: channels last, kernels (*window, in, out).

Wengert has channels first, and kernels (out, in, *window); here axes are moved there and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, int64, of_numpy
from wengert.dialects.tensorflow.errors import UnimplementedError, invalid
from wengert.dialects.tensorflow.table import offered
from wengert.dialects.tensorflow.tensors import check_dtypes, convert, static
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import convolutions, pooling, windows

ns = Native._namespace
Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
#: What TensorFlow calls the layouts, by the number of spatial axes: channels last, and first.
LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
_CHECKS: Any = (ValueError, TypeError)


# -- arguments --------------------------------------------------------------------------------


def _is_first(data_format: Any, spatial: int, error: Any = invalid) -> bool:
    """Return whether channels come before the spatial axes."""
    if data_format is None:
        return False
    if data_format not in LAYOUTS[spatial]:
        raise error(
            f"data_format={data_format!r}; expected {' or '.join(map(repr, LAYOUTS[spatial]))}"
        )
    return bool(data_format == LAYOUTS[spatial][1])


def _per_axis(value: Any, spatial: int, first: bool, what: str) -> Ints:
    """Return strides and the like for the spatial axes: of one number, or of some or all axes."""
    if value is None:
        return (1,) * spatial
    value = static(value)
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(given) == 1:
        return (int(given[0]),) * spatial
    if len(given) == spatial:
        return tuple(map(int, given))
    if len(given) != spatial + 2:
        raise ValueError(
            f"{what}={value} has {len(given)} numbers; expected one for all axes, {spatial} or "
            f"{spatial + 2}"
        )
    inside = slice(2, None) if first else slice(1, -1)
    others = [given[0], given[1] if first else given[-1]]
    if any(n != 1 for n in others):
        raise UnimplementedError(
            f"{what}={value}: windows go over the {spatial} spatial axes only; write 1 for the "
            "batch and the channels"
        )
    return tuple(map(int, given[inside]))


def _whole_list(value: Any, spatial: int, what: str) -> None:
    """Raise unless strides are a list for all axes, which is what some functions insist on."""
    if not isinstance(static(value), (list, tuple)):
        raise TypeError(f"{what}={value!r}; this function takes a list, one number for each axis")
    if len(static(value)) != spatial + 2:
        raise invalid(f"{what}={value!r}; expected {spatial + 2} numbers, one for each axis")


def _pairs(
    padding: Any, length: Ints, kernel: Ints, strides: Ints, dilations: Ints, first: bool,
    explicit: bool = True,
) -> Pairs:  # fmt: skip
    """Return padding as pairs (before, after) for the spatial axes."""
    if min((*strides, *dilations)) < 1:
        raise invalid(f"strides {strides} and dilations {dilations}; expected at least 1 for each")
    if padding == "EXPLICIT":
        raise ValueError(
            "padding='EXPLICIT' says no numbers; write a list with a pair (before, after) for "
            "each axis"
        )
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise invalid(f"padding={padding!r}; expected 'SAME' or 'VALID'")
        return windows.padding_pairs(padding.lower(), "padding", length, kernel, strides, dilations)
    given = static(padding)
    if not explicit or not isinstance(given, (list, tuple)):
        raise TypeError(f"padding={padding!r}; this function takes 'SAME' or 'VALID'")
    if len(given) != len(length) + 2 or any(len(pair) != 2 for pair in given):
        raise ValueError(
            f"padding={padding}; expected a pair (before, after) for each of {len(length) + 2} axes"
        )
    pairs = tuple((int(before), int(after)) for before, after in given)
    inside = pairs[2:] if first else pairs[1:-1]
    if set(pairs) - set(inside) - {(0, 0)}:
        raise ValueError(f"padding={padding}; write [0, 0] for the batch and the channels")
    return inside


# -- axes moved there and back ------------------------------------------------------------------


def _channels_first(x: Native, spatial: int, first: bool) -> tuple[Native, Ints]:
    """Return x as (batch, channels, *spatial), and the axes that the batch was made of."""
    batch = x.shape[: x.ndim - spatial - 1]
    if x.ndim < spatial + 2:
        raise invalid(
            f"input of shape {x.shape}; expected a batch, {spatial} spatial axes and channels"
        )
    if len(batch) > 1:
        x = ns.reshape(x, (math.prod(batch), *x.shape[len(batch) :]))
    return (x if first else ns.moveaxis(x, -1, 1)), batch


def _and_back(y: Native, batch: Ints, first: bool) -> Native:
    y = y if first else ns.moveaxis(y, 1, -1)
    return y if len(batch) == 1 else ns.reshape(y, (*batch, *y.shape[1:]))


def _kernel(filters: Native, spatial: int) -> Native:
    """Return a kernel (*window, in, out) as (out, in, *window)."""
    if filters.ndim != spatial + 2:
        raise invalid(f"filters of shape {filters.shape}; expected (*window, in, out)")
    return ns.permute_dims(filters, (spatial + 1, spatial, *range(spatial)))


def _two(input: Any, filters: Any, name: str) -> tuple[Native, Native]:
    x = convert(input)
    w = convert(filters, None, x.dtype)
    check_dtypes(name, x, w)
    if x.dtype.kind != "f" and not (name == "Conv2D" and x.dtype == np.int32):
        raise invalid(f"{name} of {of_numpy(x.dtype).name}; expected tf.float32 or tf.float64")
    return x, w


_CONV = {1: convolutions.conv1d, 2: convolutions.conv2d, 3: convolutions.conv3d}


def _convolved(
    spatial: int, x: Native, kernel: Native, strides: Any, padding: Any, first: bool,
    dilations: Any, explicit: bool = True, groups: int | None = None,
) -> Native:  # fmt: skip
    """Return the convolution of x, in its layout, with a kernel (out, in, *window)."""
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    x, batch = _channels_first(x, spatial, first)
    taken = kernel.shape[1]
    if not taken or x.shape[1] % taken:
        raise invalid(
            f"filters for {taken} channels do not divide the {x.shape[1]} channels of the input"
        )
    pairs = _pairs(padding, x.shape[2:], kernel.shape[2:], steps, gaps, first, explicit)
    y = _CONV[spatial](
        x, kernel, stride=steps, padding=pairs, dilation=gaps,
        groups=x.shape[1] // taken if groups is None else groups,
    )  # fmt: skip
    return _and_back(y, batch, first)


# -- convolutions -------------------------------------------------------------------------------


@offered("nn.conv1d", raises=_CHECKS)
def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: Any = "NWC",
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the convolution of (..., length, in) with (window, in, out)."""
    first = _is_first(data_format, 1, ValueError)
    x, w = _two(input, filters, "Conv2D")
    return _convolved(1, x, _kernel(w, 1), stride, padding, first, dilations, explicit=False)


@offered("nn.conv2d", raises=_CHECKS)
def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NHWC",
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the convolution of (..., rows, columns, in) with (rows, columns, in, out)."""
    first = _is_first(data_format, 2)
    x, w = _two(input, filters, "Conv2D")
    whole = x.dtype.kind == "i"
    if whole:  # exact in double precision
        x, w = (ns.astype(t, np.float64) for t in (x, w))
    y = _convolved(2, x, _kernel(w, 2), strides, padding, first, dilations)
    return ns.astype(y, np.int32) if whole else y


@offered("nn.conv3d", raises=_CHECKS)
def conv3d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NDHWC",
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the convolution of (..., depth, rows, columns, in) with (*window, in, out)."""
    _whole_list(strides, 3, "strides")
    first = _is_first(data_format, 3)
    x, w = _two(input, filters, "Conv3D")
    return _convolved(3, x, _kernel(w, 3), strides, padding, first, dilations, explicit=False)


def _spatial_of(filters: Any, axes: int = 2) -> int:
    rank = convert(filters).ndim - axes
    if rank not in (1, 2, 3):
        raise ValueError(f"filters with {rank} axes for the window; expected 1, 2 or 3")
    return rank


@offered("nn.convolution", raises=_CHECKS)
def convolution(
    input: Any, filters: Any, strides: Any = None, padding: Any = "VALID", data_format: Any = None,
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the convolution over as many axes as the kernel has."""
    spatial = _spatial_of(filters)
    first = _is_first(data_format, spatial, ValueError)
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    if max(steps) > 1 and max(gaps) > 1:
        raise ValueError(
            f"strides {steps} with dilations {gaps}: of the two, one must be 1 on all axes"
        )
    x, w = _two(input, filters, "Convolution")
    return _convolved(
        spatial, x, _kernel(w, spatial), list(steps), padding, first, list(gaps), explicit=False
    )


def _depthwise_kernel(w: Native) -> Native:
    """Return (rows, columns, in, multiplier) as (in * multiplier, 1, rows, columns)."""
    if w.ndim != 4:
        raise invalid(f"filter of shape {w.shape}; expected (rows, columns, in, multiplier)")
    rows, columns, inputs, multiplier = w.shape
    moved = ns.permute_dims(w, (2, 3, 0, 1))
    return ns.reshape(moved, (inputs * multiplier, 1, rows, columns))


def _depthwise(x: Native, w: Native, strides: Any, padding: Any, first: bool, gaps: Any) -> Native:
    _whole_list(strides, 2, "strides")
    inputs = x.shape[1 if first else -1] if x.ndim == 4 else -1
    if w.ndim == 4 and inputs != w.shape[2]:
        raise invalid(f"a filter for {w.shape[2]} channels, and an input with {inputs}")
    return _convolved(2, x, _depthwise_kernel(w), strides, padding, first, gaps, groups=int(inputs))


@offered("nn.depthwise_conv2d", raises=_CHECKS)
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = None,
    dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the convolution of each channel by itself with (rows, columns, in, multiplier)."""
    x, w = _two(input, filter, "DepthwiseConv2dNative")
    return _depthwise(x, w, strides, padding, _is_first(data_format, 2), dilations)


@offered("nn.separable_conv2d", raises=_CHECKS)
def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return a convolution of each channel by itself, and then sums over channels."""
    first = _is_first(data_format, 2)
    x, w = _two(input, depthwise_filter, "DepthwiseConv2dNative")
    y = _depthwise(x, w, strides, padding, first, dilations)
    pointwise = convert(pointwise_filter, None, x.dtype)
    if pointwise.ndim != 4 or pointwise.shape[:2] != (1, 1):
        raise ValueError(f"pointwise_filter of shape {pointwise.shape}; expected (1, 1, in, out)")
    return _convolved(2, y, _kernel(pointwise, 2), 1, "VALID", first, None)


@offered("nn.atrous_conv2d", raises=_CHECKS)
def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Any:
    """Return the convolution with a kernel whose elements are `rate` apart."""
    x, w = _two(value, filters, "Conv2D")
    return _convolved(2, x, _kernel(w, 2), 1, padding, False, int(rate), explicit=False)


# -- their transposes ---------------------------------------------------------------------------


def _transposed(
    spatial: int, input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any,
    data_format: Any, dilations: Any, explicit: bool = False,
) -> Native:  # fmt: skip
    """Return the transpose of a convolution whose input has `output_shape`."""
    first = _is_first(data_format, spatial, ValueError if spatial == 1 else invalid)
    x, w = _two(input, filters, f"Conv{spatial}DBackpropInput")
    shape = [int(n) for n in static(output_shape)]
    if len(shape) != spatial + 2:
        raise invalid(f"output_shape={shape}; expected {spatial + 2} lengths")
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    kernel = _kernel(w, spatial)
    x, batch = _channels_first(x, spatial, first)
    size = tuple(shape[2:] if first else shape[1:-1])
    pairs = _pairs(padding, size, kernel.shape[2:], steps, gaps, first, explicit)
    _check_transposed(x, kernel, shape, size, first, (steps, pairs, gaps))
    y = convolutions.convolve_input(
        x, kernel, size=size, geometry=windows.geometry_of(steps, pairs, gaps),
        groups=shape[1 if first else -1] // kernel.shape[1],
    )  # fmt: skip
    return _and_back(y, batch, first)


def _check_transposed(
    x: Native, kernel: Native, shape: Sequence[int], size: Ints, first: bool, geometry: Any
) -> None:
    steps, pairs, gaps = geometry
    seen = windows.fitting("conv_transpose", size, kernel.shape[2:], steps, pairs, gaps)
    channels = shape[1 if first else -1]
    expected = (shape[0], kernel.shape[0], *seen)
    if tuple(x.shape) != expected or channels % kernel.shape[1]:
        raise invalid(
            f"output_shape={list(shape)} with filters for {kernel.shape[1]} and "
            f"{kernel.shape[0]} channels goes with an input of (batch, channels, *lengths) = "
            f"{expected}, which is {x.shape}"
        )


@offered("nn.conv1d_transpose", raises=_CHECKS)
def conv1d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
    data_format: Any = "NWC", dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the transpose of `conv1d`; the kernel is (window, out, in)."""
    return _transposed(
        1, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


@offered("nn.conv2d_transpose", raises=_CHECKS)
def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
    data_format: Any = "NHWC", dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the transpose of `conv2d`; the kernel is (rows, columns, out, in)."""
    return _transposed(
        2, input, filters, output_shape, strides, padding, data_format, dilations, explicit=True
    )


@offered("nn.conv3d_transpose", raises=_CHECKS)
def conv3d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
    data_format: Any = "NDHWC", dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the transpose of `conv3d`; the kernel is (*window, out, in)."""
    return _transposed(
        3, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


@offered("nn.conv_transpose", raises=_CHECKS)
def conv_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the transpose of `convolution`."""
    spatial = len(static(output_shape)) - 2
    if spatial not in LAYOUTS:
        raise ValueError(f"output_shape={output_shape}; expected 3, 4 or 5 lengths")
    return _transposed(
        spatial, input, filters, output_shape, strides, padding, data_format, dilations
    )


@offered("nn.atrous_conv2d_transpose", raises=_CHECKS)
def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: Any, name: str | None = None
) -> Any:
    """Return the transpose of `atrous_conv2d`."""
    return _transposed(2, value, filters, output_shape, 1, padding, None, int(rate))


# -- pooling ------------------------------------------------------------------------------------


def _mean(x: Native, geometry: dict[str, Any]) -> Native:
    """Return the mean of each window, of those of its elements that are not padding."""
    counts = pooling.window_sum(ns.asarray(np.ones(x.shape[2:])), **geometry)
    mean: Native = pooling.divided(pooling.window_sum(x, **geometry), counts.numpy())
    return mean


def _depth(ksize: Any, strides: Any) -> int:
    """Return how many channels a window of one pixel has, in steps of the same; 0 if it is none."""
    window = static(ksize)
    if window != static(strides) or not isinstance(window, list) or window[:3] != [1, 1, 1]:
        return 0
    return int(window[3]) if len(window) == 4 and window[3] > 1 else 0


def _over_channels(x: Native, depth: int) -> Native:
    """Return the largest of each `depth` channels of (batch, rows, columns, channels)."""
    if x.shape[-1] % depth:
        raise UnimplementedError(f"windows of {depth} channels do not part {x.shape[-1]} evenly")
    largest: Native = pooling.max_pool(
        x, **pooling.side_by_side((depth,), x.shape[-1:]), ties="first"
    )
    return largest


def _pooled(
    how: str, spatial: int, input: Any, ksize: Any, strides: Any, padding: Any, first: bool,
    dilations: Any = None, explicit: bool = False, indices: bool = False,
) -> Any:  # fmt: skip
    """Return the mean or the largest element of each window, and if asked for where that is.

    Of equal elements the first one has the whole derivative, as in TensorFlow.
    """
    x = convert(input)
    if x.dtype.kind not in ("f" if how == "AVG" else "fiu"):
        raise invalid(
            f"pooling of {of_numpy(x.dtype).name}; expected floating-point numbers: write "
            "tf.cast(x, tf.float32)"
        )
    if x.ndim != spatial + 2:
        raise invalid(
            f"input of shape {x.shape}; expected a batch, {spatial} spatial axes and channels"
        )
    if how == "MAX" and (depth := _depth(ksize, strides)) and not first and not indices:
        return _over_channels(x, depth)
    kernel = _per_axis(ksize, spatial, first, "ksize")
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    if min(kernel) < 1:
        raise invalid(f"ksize={kernel}; expected at least 1 for each axis")
    x, batch = _channels_first(x, spatial, first)
    pairs = _pairs(padding, x.shape[2:], kernel, steps, gaps, first, explicit)
    geometry = {
        "kernel": kernel,
        "size": windows.fitting("pool", x.shape[2:], kernel, steps, pairs, gaps),
        "geometry": windows.geometry_of(steps, pairs, gaps),
    }
    if how == "AVG":
        return _and_back(_mean(x, geometry), batch, first)
    y = _and_back(pooling.max_pool(x, **geometry, ties="first"), batch, first)
    if not indices:
        return y
    return y, _and_back(pooling.max_pool_indices(x, **geometry), batch, first)


def _pooling(how: str, spatial: int, name: str) -> None:
    """Offer `nn.max_pool2d` and the like."""
    last = LAYOUTS[spatial][0]

    def pool(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = last,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        first = _is_first(data_format, spatial, ValueError if spatial == 1 else invalid)
        return _pooled(
            how, spatial, input, ksize, strides, padding, first,
            explicit=how == "MAX" and spatial == 2,
        )  # fmt: skip

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Return the {_HOWS[how]} of each window along {spatial} axes."
    offered(f"nn.{name}", raises=_CHECKS, differs=_TIES if name == "max_pool3d" else "")(pool)


_HOWS = {"MAX": "largest element", "AVG": "mean"}
_TIES = (
    "of equal largest elements the first has the derivative; TensorFlow's CPU kernel gives the "
    "whole derivative to each of them, in three dimensions only"
)
for _spatial in (1, 2, 3):
    _pooling("MAX", _spatial, f"max_pool{_spatial}d")
    _pooling("AVG", _spatial, f"avg_pool{_spatial}d")


def _of_any_rank(how: str, name: str) -> None:
    """Offer `nn.max_pool` and `nn.avg_pool`, which see how many axes there are."""

    def pool(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        spatial = convert(input).ndim - 2
        if spatial not in LAYOUTS:
            raise ValueError(f"input has {spatial + 2} axes; expected 3, 4 or 5")
        first = _is_first(data_format, spatial, ValueError if spatial == 1 else invalid)
        return _pooled(
            how, spatial, input, ksize, strides, padding, first,
            explicit=how == "MAX" and spatial == 2,
        )  # fmt: skip

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Return the {_HOWS[how]} of each window."
    offered(f"nn.{name}", raises=_CHECKS, differs=_TIES if how == "MAX" else "")(pool)


_of_any_rank("MAX", "max_pool")
_of_any_rank("AVG", "avg_pool")


@offered("nn.pool", raises=_CHECKS, differs=_TIES)
def pool(
    input: Any, window_shape: Any, pooling_type: str, strides: Any = None, padding: Any = "VALID",
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the mean ("AVG") or the largest element ("MAX") of each window."""
    spatial = len(window_shape)
    if spatial not in LAYOUTS or pooling_type not in _HOWS:
        raise ValueError(
            f"pooling_type={pooling_type!r} over {spatial} axes; expected 'MAX' or 'AVG' over 1 "
            "to 3 axes"
        )
    first = _is_first(data_format, spatial, ValueError)
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    if max(gaps) > 1 and max(steps) > 1:
        raise ValueError(
            f"strides {steps} with dilations {gaps}: of the two, one must be 1 on all axes"
        )
    if max(gaps) > 1 and padding == "SAME":
        raise ValueError(
            f"padding='SAME' with dilations {gaps}; write 'VALID', and tf.pad before it"
        )
    return _pooled(
        pooling_type, spatial, input, list(window_shape), list(steps), padding, first, list(gaps)
    )


@offered("nn.max_pool_with_argmax", raises=_CHECKS)
def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
    output_dtype: Any = int64, include_batch_in_index: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest elements, and where they are in (rows, columns, channels) laid flat."""
    if data_format != "NHWC":
        raise ValueError(f"data_format={data_format!r}; this function takes 'NHWC'")
    y, where = _pooled("MAX", 2, input, ksize, strides, padding, False, indices=True)
    batch, rows, columns, channels = convert(input).shape
    flat = np.asarray(where.numpy()) * channels + np.arange(channels)
    if include_batch_in_index:
        flat = flat + (np.arange(batch) * rows * columns * channels)[:, None, None, None]
    return y, ns.asarray(flat.astype(as_dtype(output_dtype)._numpy))
