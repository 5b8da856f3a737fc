"""torch.nn.functional: convolutions, and windows as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.nn.arguments import (
    Ints,
    check_one_dtype,
    fractional,
    functional,
    lengths,
    optional,
    whole,
)
from wengert.dialects.torch.tensors import astype, ns, only_tensor
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import convolutions, unfolding

_DOUBLE = np.dtype(np.float64)
_CONV = {1: convolutions.conv1d, 2: convolutions.conv2d, 3: convolutions.conv3d}
_TRANSPOSED = {
    1: convolutions.conv_transpose1d,
    2: convolutions.conv_transpose2d,
    3: convolutions.conv_transpose3d,
}


def _operands(
    name: str, spatial: int, input: Any, weight: Any, bias: Any
) -> tuple[Native, Native, Native | None]:
    """Return what is convolved, whose dtypes and axes are right."""
    x, w = only_tensor(input, name), only_tensor(weight, name, "weight")
    b = optional(bias, name, "bias")
    if x.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: got shape {list(x.shape)}; give {spatial + 2} axes (batch, channels and "
            f"{spatial} in space), or {spatial + 1} without a batch"
        )
    check_one_dtype(name, input=x, weight=w, bias=b)
    if kind_of(x) == "b":
        raise unable(name, x)
    return x, w, b


def _steps(name: str, spatial: int, what: str, value: Any, least: int) -> Ints:
    found = lengths(value, spatial, name, what)
    if min(found) < least:
        raise RuntimeError(
            f"{what}={list(found)}; give {'1' if least else '0'} or more for each axis"
        )
    return found


def _convolved(
    name: str, spatial: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> Any:  # fmt: skip
    x, w, b = _operands(name, spatial, input, weight, bias)
    steps = _steps(name, spatial, "stride", stride, 1)
    gaps = _steps(name, spatial, "dilation", dilation, 1)
    if isinstance(padding, str):
        if padding not in ("valid", "same"):
            raise RuntimeError(f"padding is '{padding}'; give 'valid', 'same' or numbers")
        if padding == "same" and max(steps) > 1:
            raise RuntimeError("padding='same' needs stride 1; give the padding as numbers")
    else:
        padding = _steps(name, spatial, "padding", padding, 0)
    groups = whole(groups, name, "groups")
    if groups < 1:
        raise RuntimeError(f"groups is {groups}; give 1 or more")
    kind = x._raw.dtype
    if kind.kind in "iu":  # exact in double precision, and without derivatives
        x, w = astype(x, _DOUBLE), astype(w, _DOUBLE)
        b = None if b is None else astype(b, _DOUBLE)
    y = _CONV[spatial](x, w, b, stride=steps, padding=padding, dilation=gaps, groups=groups)
    return astype(y, kind)


@functional("conv1d", label="ConvolutionBackward0")
def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the convolution of (batch, in, length) with (out, in / groups, window)."""
    return _convolved("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@functional("conv2d", label="ConvolutionBackward0")
def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the convolution of (batch, in, rows, columns) with (out, in / groups, *window)."""
    return _convolved("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@functional("conv3d", label="ConvolutionBackward0")
def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the convolution of (batch, in, three axes) with (out, in / groups, *window)."""
    return _convolved("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    name: str, spatial: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    output_padding: Any, groups: Any, dilation: Any,
) -> Any:  # fmt: skip
    x, w, b = _operands(name, spatial, input, weight, bias)
    return _TRANSPOSED[spatial](
        fractional(x, name),
        w,
        b,
        stride=_steps(name, spatial, "stride", stride, 1),
        padding=_steps(name, spatial, "padding", padding, 0),
        output_padding=_steps(name, spatial, "output_padding", output_padding, 0),
        dilation=_steps(name, spatial, "dilation", dilation, 1),
        groups=whole(groups, name, "groups"),
    )


@functional("conv_transpose1d", label="ConvolutionBackward0")
def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    """Return the transpose of conv1d, with a weight of (in, out / groups, window)."""
    return _transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


@functional("conv_transpose2d", label="ConvolutionBackward0")
def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    """Return the transpose of conv2d, with a weight of (in, out / groups, *window)."""
    return _transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


@functional("conv_transpose3d", label="ConvolutionBackward0")
def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    """Return the transpose of conv3d, with a weight of (in, out / groups, *window)."""
    return _transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


@functional("conv_tbc", label="ConvTbcBackward0")
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Return the convolution of (length, batch, in) with (window, in, out)."""
    x, w = only_tensor(input, "conv_tbc"), only_tensor(weight, "conv_tbc", "weight")
    if x.ndim != 3 or w.ndim != 3:
        raise RuntimeError(f"conv_tbc: got {x.ndim} and {w.ndim} axes; give 3 of each")
    y = convolutions.conv1d(
        ns.permute_dims(x, (1, 2, 0)),
        ns.permute_dims(w, (2, 1, 0)),
        only_tensor(bias, "conv_tbc", "bias"),
        padding=pad,
    )
    return ns.permute_dims(y, (2, 0, 1))


# -- columns ---------------------------------------------------------------------------------------


@functional(label="Im2ColBackward0")
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Return windows of (batch, channels, rows, columns) as (batch, channels * taps, places)."""
    x = fractional(input, "unfold")
    if x.ndim < 3:
        raise IndexError(f"unfold: the tensor has {x.ndim} axes; give 4, or 3 without a batch")
    if x.ndim > 4:
        raise RuntimeError(f"unfold: got shape {list(x.shape)}; give 4 axes, or 3 without a batch")
    return unfolding.unfold(
        x,
        lengths(kernel_size, 2, "unfold", "kernel_size"),
        stride=lengths(stride, 2, "unfold", "stride"),
        padding=lengths(padding, 2, "unfold", "padding"),
        dilation=lengths(dilation, 2, "unfold", "dilation"),
    )


@functional(label="Col2ImBackward0")
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Return images from windows as `unfold` makes them, added where they overlap."""
    x = fractional(input, "fold")
    if x.ndim not in (2, 3):
        raise RuntimeError(f"fold: got shape {list(x.shape)}; give 3 axes, or 2 without a batch")
    return unfolding.fold(
        x,
        lengths(output_size, 2, "fold", "output_size"),
        lengths(kernel_size, 2, "fold", "kernel_size"),
        stride=lengths(stride, 2, "fold", "stride"),
        padding=lengths(padding, 2, "fold", "padding"),
        dilation=lengths(dilation, 2, "fold", "dilation"),
    )
