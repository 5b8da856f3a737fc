"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import F, Weighted, family, offer, several
from wengert.dialects.torch.nn.layers.linear import draw_bias

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


#: What convolutions and their transposes take, beyond the size that lazy ones find out.
OPTIONS = (
    "out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, "
    "padding_mode='zeros', device=None, dtype=None"
)
TRANSPOSED = (
    "out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, "
    "dilation=1, padding_mode='zeros', device=None, dtype=None"
)


class _ConvNd(
    Weighted,
    takes=(
        "in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, "
        "output_padding, groups, bias, padding_mode, device=None, dtype=None"
    ),
    shown="in_channels, out_channels, kernel_size=, stride=, padding?, dilation?, "
    "output_padding?, groups?, bias?, padding_mode?",
):
    """A convolution along some axes, or the transpose of one."""

    def _init_with(self, **options: Any) -> None:
        _check_groups(options["in_channels"], options["out_channels"], options["groups"])
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if not isinstance(options[name], str):
                options[name] = several(options[name], self.axes)
        _check_padding(options["padding"], options["stride"], options["padding_mode"])
        super()._init_with(**options)
        self._reversed_padding_repeated_twice = self._borders()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        most, fewer = self.out_channels, self.in_channels // self.groups
        if self.transposed:
            most, fewer = self.in_channels, self.out_channels // self.groups
        return {"weight": (most, fewer, *self.kernel_size), "bias": (self.out_channels,)}

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

    def _usual(self, name: str) -> Any:
        """Return what is not printed: one number for each axis, or a flag."""
        usual = self._takes.get(name, 0)
        return usual if name in ("groups", "bias", "padding_mode") else several(usual, self.axes)

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the usual ones."""
        return super().extra_repr().replace("'", "")


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


class _Conv(_ConvNd, takes=f"in_channels, {OPTIONS}"):
    """A convolution."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(transposed=False, output_padding=0, **options)

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


class _ConvTransposeNd(_ConvNd, takes=f"in_channels, {TRANSPOSED}"):
    """The transpose of a convolution."""

    def _init_with(self, **options: Any) -> None:
        if options["padding_mode"] != "zeros":
            raise ValueError(f"padding_mode is {options['padding_mode']!r}; give 'zeros'")
        super()._init_with(transposed=True, **options)

    def _output_padding(self, input: Any, output_size: Any) -> list[int]:
        """Return the padding of results that have a size; several sizes fit one argument."""
        lead = input.ndim - self.axes
        wanted = list(output_size)
        if len(wanted) == lead + self.axes:
            wanted = wanted[lead:]
        if len(wanted) != self.axes:
            raise ValueError(f"output_size is {output_size}; give {self.axes} numbers")
        found = []
        for k, size in enumerate(wanted):
            least = (input.shape[lead + k] - 1) * self.stride[k] - 2 * self.padding[k]
            least += self.dilation[k] * (self.kernel_size[k] - 1) + 1
            most = least + self.stride[k] - 1
            if not least <= size <= most:
                raise ValueError(f"output_size is {wanted}; give axis {k} {least} to {most}")
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


CONVOLUTIONS = family("Conv", _Conv, "A convolution {}.")
TRANSPOSES = family("ConvTranspose", _ConvTransposeNd, "The transpose of a convolution {}.")
offer("conv", _ConvNd, _ConvTransposeNd, *CONVOLUTIONS, *TRANSPOSES)
