"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, F, Weighted, offer


class ReLU(Call, function="relu", takes="inplace", shown="inplace?"):
    """x where it is positive, else 0."""


class SiLU(Call, function="silu", takes="inplace", shown="inplace?"):
    """x * sigmoid(x)."""


class Mish(Call, function="mish", takes="inplace", shown="inplace?"):
    """x * tanh(softplus(x))."""


class SELU(Call, function="selu", takes="inplace", shown="inplace?"):
    """The elu that keeps mean 0 and variance 1."""


class Hardsigmoid(Call, function="hardsigmoid", takes="inplace"):
    """x / 6 + 1/2, clipped to the interval from 0 to 1."""


class Hardswish(Call, function="hardswish", takes="inplace"):
    """x * hardsigmoid(x)."""


class Hardtanh(
    Call,
    function="hardtanh",
    takes="min_val, max_val, inplace, min_value=None, max_value=None",
    shown="min_val=, max_val=, inplace?",
):
    """x clipped to an interval."""

    def _init_with(self, **options: Any) -> None:
        for new in ("min_val", "max_val"):
            old = options.pop(f"{new}ue")
            if old is not None:
                warnings.warn(
                    f"`{new}ue` is the old name of an argument; write `{new}`",
                    FutureWarning,
                    stacklevel=3,
                )
                options[new] = old
        super()._init_with(**options)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val {self.max_val} is not larger than {self.min_val}")


class ReLU6(Hardtanh, shown="inplace?"):
    """x clipped to the interval from 0 to 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(
    Call,
    function="threshold",
    takes="threshold, value, inplace",
    shown="threshold=, value=, inplace?",
):
    """x where it is above a threshold, else a value."""


class RReLU(
    Call, function="rrelu", takes="lower, upper, inplace", shown="lower=, upper=, inplace?"
):
    """x where it is positive, else x times a slope, which in training is drawn for each."""


class LeakyReLU(
    Call, function="leaky_relu", takes="negative_slope, inplace", shown="negative_slope=, inplace?"
):
    """x where it is positive, else negative_slope * x."""


class PReLU(
    Weighted,
    function="prelu",
    takes="num_parameters=1, init=0.25, device=None, dtype=None",
    shown="num_parameters=",
):
    """x where it is positive, else x times a slope that is learnt."""

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.num_parameters,)}

    def reset_parameters(self) -> None:
        """Give all slopes their first value."""
        self.weight.data.fill_(self.init)


class ELU(Call, function="elu", takes="alpha, inplace", shown="alpha=, inplace?"):
    """x where it is positive, else alpha * (exp(x) - 1)."""


class CELU(Call, function="celu", takes="alpha, inplace", shown="alpha=, inplace?"):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""


class GELU(Call, function="gelu", takes="approximate", shown="approximate="):
    """x times the chance that a normal number is smaller."""


class Softplus(
    Call, function="softplus", takes="beta=1.0, threshold=20.0", shown="beta=, threshold="
):
    """log(1 + exp(beta * x)) / beta."""


class Hardshrink(Call, function="hardshrink", takes="lambd", shown="lambd"):
    """x, and 0 where it is no larger than `lambd`."""


class Softshrink(Call, function="softshrink", takes="lambd", shown="lambd"):
    """x moved towards 0 by `lambd`."""


class Sigmoid(Call, function="sigmoid"):
    """1 / (1 + exp(-x))."""


class Tanh(Call, function="tanh"):
    """tanh(x)."""


class LogSigmoid(Call, function="logsigmoid"):
    """log(sigmoid(x))."""


class Softsign(Call, function="softsign"):
    """x / (1 + abs(x))."""


class Tanhshrink(Call, function="tanhshrink"):
    """x - tanh(x)."""


# -- along an axis ---------------------------------------------------------------------------------


class GLU(Call, function="glu", takes="dim", shown="dim="):
    """The first half of x along an axis, times the sigmoid of the second."""


class _AlongAxis(Call, takes="dim=None", passes="_stacklevel", shown="dim="):
    #: a warning is for the line that calls the module
    _stacklevel = 5


class Softmax(_AlongAxis, function="softmax"):
    """exp(x) over its sum along an axis."""


class LogSoftmax(_AlongAxis, function="log_softmax"):
    """The logarithm of softmax."""


class Softmin(_AlongAxis, function="softmin"):
    """exp(-x) over its sum along an axis."""


class Softmax2d(Call):
    """Softmax over the channels of images."""

    def forward(self, input: Any) -> Any:
        """Return the function along the channels."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: the input has {input.ndim} axes; give 3 or 4")
        return F.softmax(input, -3, _stacklevel=5)


offer(
    "activation", ReLU, SiLU, Mish, SELU, Hardsigmoid, Hardswish, Hardtanh, ReLU6, Threshold,
    RReLU, LeakyReLU, PReLU, ELU, CELU, GELU, Softplus, Hardshrink, Softshrink, Sigmoid, Tanh,
    LogSigmoid, Softsign, Tanhshrink, GLU, Softmax, LogSoftmax, Softmin, Softmax2d,
)  # fmt: skip
