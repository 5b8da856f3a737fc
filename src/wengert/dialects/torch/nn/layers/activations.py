"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.dialects.torch.nn.layers.calls import F, offer, parameter
from wengert.dialects.torch.nn.module import Module


class _Activation(Module):
    """A function of each number by itself; `shown` names the options that are printed."""

    shown: tuple[str, ...] = ()
    inplace: bool

    def extra_repr(self) -> str:
        """Return the options, and that it works in place if it does."""
        options = [f"{name}={getattr(self, name)}" for name in self.shown]
        return ", ".join(options + ["inplace=True"] * getattr(self, "inplace", False))


class _InPlace(_Activation):
    """An activation whose only option is to work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_InPlace):
    """x where it is positive, else 0."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.relu(input, inplace=self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """x * tanh(softplus(x))."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.mish(input, inplace=self.inplace)


class SELU(_InPlace):
    """The elu that keeps mean 0 and variance 1."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.selu(input, self.inplace)


class Hardsigmoid(_InPlace):
    """x / 6 + 1/2, clipped to the interval from 0 to 1."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Return nothing, as PyTorch does here."""
        return ""


class Hardswish(Hardsigmoid):
    """x * hardsigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.hardswish(input, self.inplace)


class Hardtanh(_Activation):
    """x clipped to an interval."""

    shown: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, new in ((min_value, "min_val"), (max_value, "max_val")):
            if old is not None:
                warnings.warn(
                    f"`{new}ue` is the old name of an argument; write `{new}`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val {self.max_val} is not larger than {self.min_val}")

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """x clipped to the interval from 0 to 6."""

    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(_Activation):
    """x where it is above a threshold, else a value."""

    shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(_Activation):
    """x where it is positive, else x times a slope, which in training is drawn for each."""

    shown = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class LeakyReLU(_Activation):
    """x where it is positive, else negative_slope * x."""

    shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(_Activation):
    """x where it is positive, else x times a slope that is learnt."""

    shown = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = parameter(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Give all slopes their first value."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.prelu(input, self.weight)


class ELU(_Activation):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.celu(input, self.alpha, self.inplace)


class GELU(_Activation):
    """x times the chance that a normal number is smaller."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the option."""
        return f"approximate={self.approximate!r}"


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta."""

    shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.softplus(input, self.beta, self.threshold)


class Hardshrink(_Activation):
    """x, and 0 where it is no larger than `lambd`."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return the option."""
        return str(self.lambd)


class Softshrink(Hardshrink):
    """x moved towards 0 by `lambd`."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.softshrink(input, self.lambd)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.sigmoid(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + abs(x))."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Any) -> Any:
        """Return the function of each number."""
        return F.tanhshrink(input)


# -- along an axis ---------------------------------------------------------------------------------


class GLU(_Activation):
    """The first half of x along an axis, times the sigmoid of the second."""

    shown = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """Return the function along an axis."""
        return F.glu(input, self.dim)


class _AlongAxis(_Activation):
    shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_AlongAxis):
    """exp(x) over its sum along an axis."""

    def forward(self, input: Any) -> Any:
        """Return the function along an axis."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongAxis):
    """The logarithm of softmax."""

    def forward(self, input: Any) -> Any:
        """Return the function along an axis."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongAxis):
    """exp(-x) over its sum along an axis."""

    def forward(self, input: Any) -> Any:
        """Return the function along an axis."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
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
