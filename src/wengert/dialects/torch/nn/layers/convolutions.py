"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import F, offer, parameter, several
from wengert.dialects.torch.nn.layers.linear import draw_bias
from wengert.dialects.torch.nn.module import Module

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """A convolution along some axes, or the transpose of one."""

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_groups(in_channels, out_channels, groups)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.dilation, self.output_padding = (
            several(v, self.axes) for v in (kernel_size, stride, dilation, output_padding)
        )
        self.padding = padding if isinstance(padding, str) else several(padding, self.axes)
        _check_padding(self.padding, self.stride, padding_mode)
        self.transposed, self.groups, self.padding_mode = transposed, groups, padding_mode
        self._reversed_padding_repeated_twice = self._borders()
        channels = (
            (in_channels, out_channels // groups)
            if transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = parameter(*channels, *self.kernel_size, device=device, dtype=dtype)
        self.register_parameter(
            "bias", parameter(out_channels, device=device, dtype=dtype) if bias else None
        )
        self.reset_parameters()

    def _borders(self) -> list[int]:
        """Return the padding on both sides of each axis, from the last axis to the first."""
        if self.padding == "valid":
            return [0] * (2 * self.axes)
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            pairs = [(p, p) for p in self.padding]
        return [side for pair in reversed(pairs) for side in pair]

    def reset_parameters(self) -> None:
        """Draw weights and biases."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if init.fans_of(self.weight)[0]:
            draw_bias(self)

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the usual ones."""
        count = len(self.kernel_size)
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        for name, usual in (
            ("padding", (0,) * len(self.padding)),
            ("dilation", (1,) * count),
            ("output_padding", (0,) * count),
            ("groups", 1),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


def _check_groups(in_channels: int, out_channels: int, groups: int) -> None:
    if groups <= 0:
        raise ValueError("groups is 0 or less; give 1 or more")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise ValueError(f"{name} is {channels}, which {groups} groups do not divide")


def _check_padding(padding: Any, stride: tuple[int, ...], padding_mode: str) -> None:
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"padding is {padding!r}; give 'same', 'valid' or numbers")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' needs stride 1; give the padding as numbers")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode is {padding_mode!r}; give one of {_PADDING_MODES}")


class _Conv(_ConvNd):
    """A convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.axes
        function = getattr(F, f"conv{self.axes}d")
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        """Return the convolution with the weights, plus the biases."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A convolution along one axis."""

    axes = 1


class Conv2d(_Conv):
    """A convolution of images."""

    axes = 2


class Conv3d(_Conv):
    """A convolution of volumes."""

    axes = 3


class _ConvTransposeNd(_ConvNd):
    """The transpose of a convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f"{type(self).__name__} takes padding_mode='zeros' only, and {padding_mode!r} "
                "was given"
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True,
            output_padding, groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Any, output_size: Any) -> list[int]:
        """Return the padding of results that have a size; several sizes fit one argument."""
        lead = input.ndim - self.axes
        wanted = list(output_size)
        if len(wanted) == lead + self.axes:
            wanted = wanted[lead:]
        if len(wanted) != self.axes:
            raise ValueError(
                f"{type(self).__name__}: output_size has {len(output_size)} numbers for "
                f"{input.ndim} axes of input; give {self.axes}, or {lead + self.axes}"
            )
        found = []
        for k, size in enumerate(wanted):
            least = (input.shape[lead + k] - 1) * self.stride[k] - 2 * self.padding[k]
            least += self.dilation[k] * (self.kernel_size[k] - 1) + 1
            most = least + self.stride[k] - 1
            if not least <= size <= most:
                raise ValueError(
                    f"output_size={list(wanted)} cannot be reached: axis {k} can have {least} to "
                    f"{most} elements"
                )
            found.append(size - least)
        return found

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Return the transpose of the convolution with the weights, plus the biases."""
        further = (
            self.output_padding if output_size is None else self._output_padding(input, output_size)
        )
        function = getattr(F, f"conv_transpose{self.axes}d")
        return function(
            input, self.weight, self.bias, self.stride, self.padding, further, self.groups,
            self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution along one axis."""

    axes = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution of images."""

    axes = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution of volumes."""

    axes = 3


offer(
    "conv", _ConvNd, _ConvTransposeNd, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d,
    ConvTranspose3d,
)  # fmt: skip
