"""Activations as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, Weighted, layer, offer


class Hardtanh(
    Call,
    function="hardtanh",
    takes="min_val, max_val, inplace",
    shown="min_val=, max_val=, inplace?",
):
    """x clipped to an interval."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**options)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val {self.max_val} is not larger than {self.min_val}")


class ReLU6(Hardtanh, shown="inplace?"):
    """x clipped to the interval from 0 to 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


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


# -- along an axis ---------------------------------------------------------------------------------


class _AlongAxis(Call, takes="dim=None", shown="dim="):
    pass


#: What the layers take whose function has their name.
_TAKES = {
    "ReLU": "inplace", "SiLU": "inplace", "Mish": "inplace", "SELU": "inplace",
    "Threshold": "threshold, value, inplace",
    "ELU": "alpha, inplace", "CELU": "alpha, inplace", "GELU": "approximate",
    "Softplus": "beta=1.0, threshold=20.0", "LogSigmoid": "", "Softsign": "", "Tanhshrink": "",
    "GLU": "dim",
}  # fmt: skip
offer(
    "activation",
    *(Hardtanh, ReLU6, PReLU),
    *[layer(name, function=name.lower(), takes=takes) for name, takes in _TAKES.items()],
    layer("LeakyReLU", function="leaky_relu", takes="negative_slope, inplace"),
    layer("Hardsigmoid", function="hardsigmoid", takes="inplace", shown=""),
    layer("Hardswish", function="hardswish", takes="inplace", shown=""),
    layer("Hardshrink", function="hardshrink", takes="lambd", shown="lambd"),
    layer("Softshrink", function="softshrink", takes="lambd", shown="lambd"),
    layer("Sigmoid", function="sigmoid", doc="1 / (1 + exp(-x))."),
    layer("Tanh", function="tanh", doc="tanh(x)."),
    layer("Softmax", _AlongAxis, function="softmax"),
    layer("LogSoftmax", _AlongAxis, function="log_softmax"),
    layer("Softmin", _AlongAxis, function="softmin"),
)
