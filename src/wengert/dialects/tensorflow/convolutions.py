"""Convolutions and pooling by TensorFlow's names: channels last, kernels (*window, in, out).

Wengert has channels first, and kernels (out, in, *window); here axes are moved there and back.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow.errors import UnimplementedError, invalid, unfit
from wengert.dialects.tensorflow.kinds import Floating, Input, Like, Vector, one_of
from wengert.dialects.tensorflow.table import absent, offered
from wengert.dialects.tensorflow.tensors import Native, check_kind, convert, ns, static
from wengert.ops.families.narrow import in_single
from wengert.ops.neural import convolutions, pooling
from wengert.ops.neural.windows import fitting, geometry_of, padding_pairs

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
#: What TensorFlow calls the layouts, by the number of spatial axes: channels last, and first.
LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
_CHECKS: Any = (ValueError, TypeError)
absent(
    {
        "atrous_conv2d": "tf.nn.conv2d(x, filters, 1, padding, dilations=rate)",
        "atrous_conv2d_transpose": "tf.nn.conv2d_transpose(..., dilations=rate)",
        "max_pool_with_argmax": "tf.nn.max_pool2d, and tf.argmax of tf.image.extract_patches",
        "crelu": "tf.nn.relu(tf.concat([x, -x], -1))",
        "log_poisson_loss": "tf.exp(log_input) - targets * log_input",
        "weighted_moments": "tf.reduce_sum(weights * x, axes) / tf.reduce_sum(weights, axes)",
        **dict.fromkeys(("sufficient_statistics", "normalize_moments"), "tf.nn.moments(x, axes)"),
    },
    "nn.",
)


# -- arguments --------------------------------------------------------------------------------


def _is_first(data_format: Any, spatial: int, error: Any = invalid) -> bool:
    """Return whether channels come before the spatial axes."""
    if data_format is None:
        return False
    if data_format not in LAYOUTS[spatial]:
        raise unfit(f"one of {LAYOUTS[spatial]}", error, data_format=data_format)
    return bool(data_format == LAYOUTS[spatial][1])


def _per_axis(value: Any, spatial: int, first: bool, what: str) -> Ints:
    """Return strides and the like for the spatial axes: of one number, or of some or all axes."""
    if value is None or type(value) is int:
        return (1 if value is None else value,) * spatial
    value = static(value)
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(given) == 1:
        return (int(given[0]),) * spatial
    if len(given) == spatial:
        return tuple(map(int, given))
    if len(given) != spatial + 2:
        raise unfit(f"1, {spatial} or {spatial + 2} numbers", ValueError, **{what: value})
    inside = slice(2, None) if first else slice(1, -1)
    others = [given[0], given[1] if first else given[-1]]
    if any(n != 1 for n in others):
        raise unfit("1 for the batch and the channels", UnimplementedError, **{what: value})
    return tuple(map(int, given[inside]))


class _Windows(NamedTuple):
    """How windows go over the spatial axes."""

    spatial: int
    #: whether channels come before the spatial axes
    first: bool
    strides: Ints
    dilations: Ints


def _windows(
    spatial: int, strides: Any, dilations: Any = None, data_format: Any = None, error: Any = None
) -> _Windows:
    """Return what arguments say of windows; an `error` is raised for another layout."""
    first = _is_first(data_format, spatial, error or (ValueError if spatial == 1 else invalid))
    steps = _per_axis(strides, spatial, first, "strides")
    gaps = _per_axis(dilations, spatial, first, "dilations")
    return _Windows(spatial, first, steps, gaps)


def _strides_or_dilations(strides: Any, dilations: Any, spatial: int, data_format: Any) -> _Windows:
    """Return what arguments say of windows, of which strides or dilations must be 1."""
    windows = _windows(spatial, strides, dilations, data_format, ValueError)
    if max(windows.strides) > 1 and max(windows.dilations) > 1:
        raise unfit("1 for all of the ones or the others", ValueError, **windows._asdict())
    return windows


def _check_rank(x: Native, spatial: int, exactly: bool = False) -> None:
    if x.ndim < spatial + 2 or (exactly and x.ndim > spatial + 2):
        raise unfit(f"a batch, {spatial} spatial axes and channels", input=x)


def _check_spatial(spatial: int, what: str) -> int:
    if spatial not in LAYOUTS:
        raise ValueError(f"{what} for {spatial} spatial axes; expected 1, 2 or 3")
    return spatial


def _whole_list(value: Any, spatial: int, what: str) -> None:
    """Raise unless strides are a list for all axes, which is what some functions insist on."""
    if not isinstance(static(value), (list, tuple)):
        raise unfit("a list, one number for each axis", TypeError, **{what: value})
    if len(static(value)) != spatial + 2:
        raise unfit(f"{spatial + 2} numbers, one for each axis", **{what: value})


def _pairs(padding: Any, length: Ints, kernel: Ints, windows: _Windows, explicit: bool) -> Pairs:
    """Return padding as pairs (before, after) for the spatial axes."""
    strides, dilations = windows.strides, windows.dilations
    if min((*strides, *dilations)) < 1:
        raise invalid(f"strides {strides} and dilations {dilations}; expected at least 1 for each")
    if padding == "EXPLICIT":
        raise unfit("a list of pairs (before, after) in its place", ValueError, padding=padding)
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise invalid(f"padding={padding!r}; expected 'SAME' or 'VALID'")
        return padding_pairs(padding.lower(), "padding", length, kernel, strides, dilations)
    given = static(padding)
    if not explicit or not isinstance(given, (list, tuple)):
        raise TypeError(f"padding={padding!r}; this function takes 'SAME' or 'VALID'")
    if len(given) != len(length) + 2 or any(len(pair) != 2 for pair in given):
        raise unfit("a pair (before, after) for each axis", ValueError, padding=padding)
    pairs = tuple((int(before), int(after)) for before, after in given)
    inside = pairs[2:] if windows.first else pairs[1:-1]
    if set(pairs) - set(inside) - {(0, 0)}:
        raise ValueError(f"padding={padding}; write [0, 0] for the batch and the channels")
    return inside


# -- axes moved there and back ------------------------------------------------------------------


def _channels_first(x: Native, windows: _Windows) -> tuple[Native, Ints]:
    """Return x as (batch, channels, *spatial), and the lengths of the batch."""
    _check_rank(x, windows.spatial)
    batch = x.shape[: x.ndim - windows.spatial - 1]
    if len(batch) > 1:
        x = ns.reshape(x, (math.prod(batch), *x.shape[len(batch) :]))
    return (x if windows.first else ns.moveaxis(x, -1, 1)), batch


def _and_back(y: Native, batch: Ints, windows: _Windows) -> Native:
    y = y if windows.first else ns.moveaxis(y, 1, -1)
    return y if len(batch) == 1 else ns.reshape(y, (*batch, *y.shape[1:]))


def _kernel(filters: Native, spatial: int) -> Native:
    """Return a kernel (*window, in, out) as (out, in, *window)."""
    if filters.ndim != spatial + 2:
        raise invalid(f"filters of shape {filters.shape}; expected (*window, in, out)")
    return ns.permute_dims(filters, (spatial + 1, spatial, *range(spatial)))


_CONV = {1: convolutions.conv1d, 2: convolutions.conv2d, 3: convolutions.conv3d}


def _convolved(
    x: Native, kernel: Native, windows: _Windows, padding: Any, explicit: bool = False,
    groups: int | None = None,
) -> Native:  # fmt: skip
    """Return the convolution of x, in its layout, with a kernel (out, in, *window)."""
    if x.dtype.kind == "i":  # exact in double precision
        x, kernel = (ns.astype(t, np.float64) for t in (x, kernel))
        return ns.astype(_convolved(x, kernel, windows, padding, explicit, groups), np.int32)
    x, batch = _channels_first(x, windows)
    taken = kernel.shape[1]
    if not taken or x.shape[1] % taken:
        raise unfit(
            "filters of channels that the input's are a multiple of", filters=kernel, input=x
        )
    y = _CONV[windows.spatial](
        x, kernel, stride=windows.strides, dilation=windows.dilations,
        padding=_pairs(padding, x.shape[2:], kernel.shape[2:], windows, explicit),
        groups=x.shape[1] // taken if groups is None else groups,
    )  # fmt: skip
    return _and_back(y, batch, windows)


# -- convolutions -------------------------------------------------------------------------------


def _read_pixels(value: Any, at: Argument, x: Any = None) -> Native:
    found = convert(value)
    if found.dtype != np.int32:
        check_kind(found, "f", at.function)
    return found


#: Numbers with fractions, or of int32.
_Pixels = Annotated[Native, Kind(_read_pixels, tensor=True)]


@offered("nn.conv1d", raises=_CHECKS)
def conv1d(
    input: _Pixels, filters: Like, stride: Any, padding: Any, data_format: Any = "NWC",
    dilations: Any = None,
) -> Native:  # fmt: skip
    """Return the convolution of (..., length, in) with (window, in, out)."""
    windows = _windows(1, stride, dilations, data_format)
    return _convolved(input, _kernel(filters, 1), windows, padding)


def _convolution(spatial: int, kind: Any, doc: str) -> None:
    """Offer `nn.conv2d` or `nn.conv3d`."""

    @offered(f"nn.conv{spatial}d", raises=_CHECKS, doc=doc, input=kind)
    def conv(
        input: Any, filters: Like, strides: Any, padding: Any,
        data_format: Any = LAYOUTS[spatial][0], dilations: Any = None,
    ) -> Native:  # fmt: skip
        if spatial == 3:
            _whole_list(strides, 3, "strides")
        windows = _windows(spatial, strides, dilations, data_format)
        return _convolved(input, _kernel(filters, spatial), windows, padding, spatial == 2)


_convolution(2, _Pixels, "Return the convolution of (..., rows, columns, in) with a kernel.")
_convolution(3, Floating, "Return the convolution of (..., depth, rows, columns, in).")


@offered("nn.convolution", raises=_CHECKS)
def convolution(
    input: Floating, filters: Like, strides: Any = None, padding: Any = "VALID",
    data_format: Any = None, dilations: Any = None,
) -> Native:  # fmt: skip
    """Return the convolution over as many axes as the kernel has."""
    spatial = _check_spatial(filters.ndim - 2, "filters")
    windows = _strides_or_dilations(strides, dilations, spatial, data_format)
    return _convolved(input, _kernel(filters, spatial), windows, padding)


def _depthwise(
    x: Native, w: Native, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Native:
    """Return the convolution with a kernel (rows, columns, in, multiplier)."""
    _whole_list(strides, 2, "strides")
    windows = _windows(2, strides, dilations, data_format)
    if w.ndim != 4:
        raise invalid(f"filter of shape {w.shape}; expected (rows, columns, in, multiplier)")
    rows, columns, inputs, multiplier = w.shape
    channels = x.shape[1 if windows.first else -1] if x.ndim == 4 else -1
    if channels != inputs:
        raise invalid(f"a filter for {inputs} channels, and an input with {channels}")
    moved = ns.permute_dims(w, (2, 3, 0, 1))
    kernel = ns.reshape(moved, (inputs * multiplier, 1, rows, columns))
    return _convolved(x, kernel, windows, padding, explicit=True, groups=int(inputs))


@offered("nn.depthwise_conv2d", raises=_CHECKS)
def depthwise_conv2d(
    input: Floating, filter: Like, strides: Any, padding: Any, data_format: Any = None,
    dilations: Any = None,
) -> Native:  # fmt: skip
    """Return the convolution of each channel by itself with (rows, columns, in, multiplier)."""
    return _depthwise(input, filter, strides, padding, data_format, dilations)


@offered("nn.separable_conv2d", raises=_CHECKS)
def separable_conv2d(
    input: Floating, depthwise_filter: Like, pointwise_filter: Like, strides: Any, padding: Any,
    data_format: Any = None, dilations: Any = None,
) -> Native:  # fmt: skip
    """Return a convolution of each channel by itself, and then sums over channels."""
    y = _depthwise(input, depthwise_filter, strides, padding, data_format, dilations)
    if pointwise_filter.ndim != 4 or pointwise_filter.shape[:2] != (1, 1):
        raise unfit("(1, 1, in, out)", ValueError, pointwise_filter=pointwise_filter)
    return _convolved(y, _kernel(pointwise_filter, 2), _windows(2, 1, 1, data_format), "VALID")


# -- their transposes ---------------------------------------------------------------------------


def _transposed(
    x: Native, filters: Native, shape: list[int], windows: _Windows, padding: Any,
    explicit: bool = False,
) -> Native:  # fmt: skip
    """Return the transpose of a convolution whose input has a shape."""
    spatial, first, steps, gaps = windows
    if len(shape) != spatial + 2:
        raise invalid(f"output_shape={shape}; expected {spatial + 2} lengths")
    kernel = _kernel(filters, spatial)
    x, batch = _channels_first(x, windows)
    size = tuple(shape[2:] if first else shape[1:-1])
    pairs = _pairs(padding, size, kernel.shape[2:], windows, explicit)
    seen = fitting("conv_transpose", size, kernel.shape[2:], steps, pairs, gaps)
    channels = shape[1 if first else -1]
    expected = (shape[0], kernel.shape[0], *seen)
    if tuple(x.shape) != expected or channels % kernel.shape[1]:
        of = f"an input of (batch, channels, *lengths) = {expected}"
        raise unfit(of, input=x, filters=filters, output_shape=shape)
    y = convolutions.convolve_input(
        x, kernel, size=size, geometry=geometry_of(steps, pairs, gaps),
        groups=channels // kernel.shape[1],
    )  # fmt: skip
    return _and_back(y, batch, windows)


def _transpose(spatial: int) -> None:
    """Offer `nn.conv2d_transpose` and the like; `nn.conv_transpose` where it is 0, for any."""
    name = f"conv{spatial}d" if spatial else "conv"
    doc = f"Return the transpose of `{name if spatial else 'convolution'}`, (*window, out, in)."
    last = LAYOUTS[spatial][0] if spatial else None

    @offered(f"nn.{name}_transpose", raises=_CHECKS, doc=doc)
    def transpose(
        input: Floating, filters: Like, output_shape: Vector, strides: Any, padding: Any = "SAME",
        data_format: Any = last, dilations: Any = None,
    ) -> Native:  # fmt: skip
        axes = spatial or _check_spatial(len(output_shape) - 2, "output_shape")
        windows = _windows(axes, strides, dilations, data_format)
        return _transposed(input, filters, output_shape, windows, padding, spatial == 2)


for _spatial in (0, 1, 2, 3):
    _transpose(_spatial)


# -- pooling ------------------------------------------------------------------------------------


@in_single
def _mean(x: Native, geometry: dict[str, Any]) -> Native:
    """Return the mean of each window, of those of its elements that are not padding."""
    counts = pooling.window_sum(ns.asarray(np.ones(x.shape[2:])), **geometry)
    mean: Native = pooling.divided(pooling.window_sum(x, **geometry), counts.numpy())
    return mean


def _pooled(
    how: str, x: Native, ksize: Any, windows: _Windows, padding: Any, explicit: bool = False
) -> Any:
    """Return the mean or the largest element of each window.

    Of equal elements the first one has the whole derivative, as in TensorFlow.
    """
    spatial, first, steps, gaps = windows
    _check_rank(x, spatial, exactly=True)
    check_kind(x, "f" if how == "AVG" else "iuf", "pool")
    kernel = _per_axis(ksize, spatial, first, "ksize")
    if min(kernel) < 1:
        raise invalid(f"ksize={kernel}; expected at least 1 for each axis")
    x, batch = _channels_first(x, windows)
    pairs = _pairs(padding, x.shape[2:], kernel, windows, explicit)
    geometry = {
        "kernel": kernel,
        "size": fitting("pool", x.shape[2:], kernel, steps, pairs, gaps),
        "geometry": geometry_of(steps, pairs, gaps),
    }
    if how == "AVG":
        return _and_back(_mean(x, geometry), batch, windows)
    return _and_back(pooling.max_pool(x, **geometry, ties="first"), batch, windows)


_HOWS = {"MAX": "largest element", "AVG": "mean"}
_TIES = (
    "of equal largest elements the first has the derivative; TensorFlow's CPU kernel gives the "
    "whole derivative to each of them, in three dimensions only"
)


def _pooling(how: str, spatial: int) -> None:
    """Offer `nn.max_pool2d` and the like; `nn.max_pool` where it is 0, for any number of axes."""
    name = f"{how.lower()}_pool" + (f"{spatial}d" if spatial else "")
    doc = f"Return the {_HOWS[how]} of each window along {spatial or 'all spatial'} axes."
    differs = _TIES if how == "MAX" and spatial in (0, 3) else ""
    last = LAYOUTS[spatial][0] if spatial else None

    @offered(f"nn.{name}", raises=_CHECKS, differs=differs, doc=doc)
    def pool(
        input: Input, ksize: Any, strides: Any, padding: Any, data_format: Any = last
    ) -> Native:
        axes = spatial or _check_spatial(input.ndim - 2, "input")
        windows = _windows(axes, strides, 1, data_format)
        return _pooled(how, input, ksize, windows, padding, how == "MAX" and axes == 2)


for _spatial in (0, 1, 2, 3):
    _pooling("MAX", _spatial)
    _pooling("AVG", _spatial)


@offered("nn.pool", raises=_CHECKS, differs=_TIES)
def pool(
    input: Input, window_shape: Any, pooling_type: Annotated[str, one_of(*_HOWS)],
    strides: Any = None, padding: Any = "VALID", data_format: Any = None, dilations: Any = None,
) -> Native:  # fmt: skip
    """Return the mean ("AVG") or the largest element ("MAX") of each window."""
    spatial = _check_spatial(len(window_shape), "window_shape")
    windows = _strides_or_dilations(strides, dilations, spatial, data_format)
    if max(windows.dilations) > 1 and padding == "SAME":
        raise unfit("'VALID', and tf.pad before", ValueError, padding=padding, dilations=dilations)
    return _pooled(pooling_type, input, list(window_shape), windows, padding)
