"""torch.nn.functional: convolutions, and windows as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.kinds import Int
from wengert.dialects.torch.nn import arguments
from wengert.dialects.torch.nn.arguments import Alike, Ints, functional, lengths, misfit, ranked
from wengert.dialects.torch.tensors import Native, astype
from wengert.ops.neural import convolutions, unfolding

_DOUBLE = np.dtype(np.float64)
_CONV = {1: convolutions.conv1d, 2: convolutions.conv2d, 3: convolutions.conv3d}
_TRANSPOSED = {
    1: convolutions.conv_transpose1d,
    2: convolutions.conv_transpose2d,
    3: convolutions.conv_transpose3d,
}


def _check_operands(name: str, spatial: int, x: Native) -> None:
    if x.ndim not in (spatial + 1, spatial + 2):
        raise misfit(name, f"batch, channels and {spatial} axes of space", input=x)
    if kind_of(x) == "b":
        raise unable(name, x)


@ranked("conv{}d", "ConvolutionBackward0", also=(1, 2, 3))
def _conv(spatial: int) -> Any:
    name, compute = f"conv{spatial}d", _CONV[spatial]

    def conv(
        input: Alike, weight: Alike, bias: Alike = None, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: Int = 1,
    ) -> Native:  # fmt: skip
        """Return the convolution of (batch, in, *space) with (out, in / groups, *window)."""
        _check_operands(name, spatial, input)
        steps = lengths(stride, spatial, name, "stride")
        gaps = lengths(dilation, spatial, name, "dilation")
        if not isinstance(padding, str):
            padding = lengths(padding, spatial, name, "padding")
        elif padding not in ("valid", "same") or (padding == "same" and max(steps) > 1):
            raise misfit(name, "'valid', numbers, or 'same'", padding=padding, stride=steps)
        options: Any = {"stride": steps, "padding": padding, "dilation": gaps, "groups": groups}
        kind = input._raw.dtype
        if kind.kind not in "iu":
            return compute(input, weight, bias, **options)
        # exact in double precision, and without derivatives
        exact = [None if v is None else astype(v, _DOUBLE) for v in (input, weight, bias)]
        return astype(compute(*exact, **options), kind)

    return conv


@ranked("conv_transpose{}d", "ConvolutionBackward0", also=(1, 2, 3))
def _conv_transpose(spatial: int) -> Any:
    name, compute = f"conv_transpose{spatial}d", _TRANSPOSED[spatial]

    def conv_transpose(
        input: Alike, weight: Alike, bias: Alike = None, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: Int = 1, dilation: Any = 1,
    ) -> Native:  # fmt: skip
        """Return the transpose of a convolution, with a weight of (in, out / groups, *window)."""
        _check_operands(name, spatial, input)
        if kind_of(input) not in "fc":
            raise unable(name, input)
        return compute(
            input,
            weight,
            bias,
            stride=lengths(stride, spatial, name, "stride"),
            padding=lengths(padding, spatial, name, "padding"),
            output_padding=lengths(output_padding, spatial, name, "output_padding"),
            dilation=lengths(dilation, spatial, name, "dilation"),
            groups=groups,
        )

    return conv_transpose


# -- columns ---------------------------------------------------------------------------------------


def _windows(name: str, **given: Any) -> dict[str, Ints]:
    return {what: lengths(value, 2, name, what) for what, value in given.items()}


@functional(label="Im2ColBackward0")
def unfold(
    input: arguments.Fractional, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Native:  # fmt: skip
    """Return windows of (batch, channels, rows, columns) as (batch, channels * taps, positions)."""
    if input.ndim not in (3, 4):
        error = IndexError if input.ndim < 3 else RuntimeError
        raise misfit("unfold", "4 axes, or 3 without a batch", error, input=input)
    given = _windows("unfold", stride=stride, padding=padding, dilation=dilation)
    return unfolding.unfold(input, lengths(kernel_size, 2, "unfold", "kernel_size"), **given)


@functional(label="Col2ImBackward0")
def fold(
    input: arguments.Fractional, output_size: Any, kernel_size: Any, dilation: Any = 1,
    padding: Any = 0, stride: Any = 1,
) -> Native:  # fmt: skip
    """Return images from windows as `unfold` makes them, added where they overlap."""
    sizes = _windows("fold", output_size=output_size, kernel_size=kernel_size)
    given = _windows("fold", stride=stride, padding=padding, dilation=dilation)
    return unfolding.fold(input, *sizes.values(), **given)
