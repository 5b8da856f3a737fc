"""torch.nn.init: first values of parameters, as PyTorch draws them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import named, warn
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import Tensor, made


def _offered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Offer a function that writes to a tensor without being recorded."""
    quiet: Any = no_grad(function)
    put((f"nn.init.{function.__name__}",), quiet)
    return quiet


@_offered
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill a tensor with numbers that are uniform from `a` to `b`."""
    return tensor.uniform_(a, b, generator=generator)


@_offered
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill a tensor with normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@_offered
def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Any:  # fmt: skip
    """Fill a tensor with normal numbers, of which only those from `a` to `b` are taken."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "trunc_normal_: the mean lies more than two deviations outside of [a, b], so few "
            "numbers fall inside and their distribution is off; move the bounds or the mean"
        )
    share = _chance_below((b - mean) / std) - _chance_below((a - mean) / std)
    draw = _inner_normal if share > 0.3 else _outer_normal
    return draw(tensor, mean, std, a, b, generator)


def _chance_below(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _inner_normal(tensor: Any, mean: float, std: float, a: float, b: float, rng: Any) -> Any:
    """Draw normal numbers until all lie between two bounds."""
    found = tensor.normal_(mean, std, generator=rng).detach().clone()
    low, high = (float(tensor._raw.dtype.type(end)) for end in (a, b))
    while (outside := (found < low) | (found > high)).any():
        again = found.new_empty(found.shape).normal_(mean, std, generator=rng)
        found = again.where(outside, found)
    return tensor.copy_(found)


def _outer_normal(tensor: Any, mean: float, std: float, a: float, b: float, rng: Any) -> Any:
    """Draw uniform numbers, and take each with the chance that a normal one has beside the mode."""
    mode = max(a, min(mean, b))
    highest = -0.5 * ((mode - mean) / std) ** 2
    found, left = tensor.detach(), None
    while left is None or left.any():
        drawn = found.new_empty(found.shape).uniform_(a, b, generator=rng)
        found = drawn if left is None else drawn.where(left, found)
        chance = ((drawn - mean) / std).pow(2) * -0.5 - highest
        refused = found.new_empty(found.shape).uniform_(generator=rng).log() > chance
        left = refused if left is None else left & refused
    return tensor.copy_(found)


@_offered
def constant_(tensor: Any, val: float) -> Any:
    """Fill a tensor with one number."""
    return tensor.fill_(val)


@_offered
def ones_(tensor: Any) -> Any:
    """Fill a tensor with ones."""
    return tensor.fill_(1.0)


@_offered
def zeros_(tensor: Any) -> Any:
    """Fill a tensor with zeros."""
    return tensor.zero_()


@_offered
def eye_(tensor: Any) -> Any:
    """Make a matrix the identity."""
    _check_matrix(tensor)
    return _written(tensor, np.eye(*tensor.shape))


def _written(tensor: Any, values: np.ndarray) -> Any:
    return tensor.copy_(made(values.astype(tensor._raw.dtype)))


def _check_matrix(tensor: Any) -> None:
    if tensor.ndim != 2:
        raise ValueError(f"got a tensor of {tensor.ndim} axes; give a matrix")


@plain("nn.init._calculate_fan_in_and_fan_out")
def fans_of(tensor: Any) -> tuple[int, int]:
    """Return how many numbers lead to one of a layer's results, and how many it leads to."""
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        raise ValueError("fan in and fan out need 2 axes at least; give a matrix or a kernel")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


@plain("nn.init._calculate_correct_fan")
def _fan(tensor: Any, mode: str) -> int:
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ValueError(f"mode is {mode}; give one of {modes}")
    return fans_of(tensor)[modes.index(mode.lower())]


_GAINS = {
    **dict.fromkeys(
        ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3))), 1.0
    ),
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


@_offered
def calculate_gain(nonlinearity: str, param: Any = None) -> Any:
    """Return what the deviation of weights is scaled by before some activation."""
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"leaky_relu: the slope is {param}; give a number")
        slope = 0.01 if param is None else param
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"nonlinearity is {nonlinearity}; there are {', '.join(_GAINS)} and leaky_relu"
        )
    gain = _GAINS[nonlinearity]
    return 1 if gain == 1 else gain


def _drawn(tensor: Any, kind: str, deviation: float, generator: Any) -> Any:
    """Fill a tensor with uniform or normal numbers of a deviation."""
    if kind == "normal":
        return tensor.normal_(0, deviation, generator=generator)
    bound = math.sqrt(3) * deviation
    return tensor.uniform_(-bound, bound, generator=generator)


def _named(kind: str, function: Callable[..., Any], rule: str) -> Callable[..., Any]:
    """Offer the initialisation by a rule with uniform or normal numbers."""
    function.__name__ = function.__qualname__ = f"{function.__name__}_{kind}_"
    function.__doc__ = f"Fill a tensor with {kind} numbers, by {rule} rule."
    return _offered(function)


def _xavier(kind: str) -> Callable[..., Any]:
    def xavier(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
        return _drawn(tensor, kind, gain * math.sqrt(2 / sum(fans_of(tensor))), generator)

    return _named(kind, xavier, "Glorot's")


def _kaiming(kind: str) -> Callable[..., Any]:
    def kaiming(
        tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
        generator: Any = None,
    ) -> Any:  # fmt: skip
        if 0 in tensor.shape:
            warn("this tensor has no elements to initialise")
            return tensor
        gain: float = calculate_gain(nonlinearity, a)
        return _drawn(tensor, kind, gain / math.sqrt(_fan(tensor, mode)), generator)

    return _named(kind, kaiming, "He's")


xavier_uniform_, xavier_normal_ = _xavier("uniform"), _xavier("normal")
kaiming_uniform_, kaiming_normal_ = _kaiming("uniform"), _kaiming("normal")


@_offered
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Fill a tensor with a random matrix that is orthogonal, or has orthogonal rows or columns."""
    if tensor.ndim < 2:
        raise ValueError("orthogonal_: got fewer than 2 axes; give a matrix or a kernel")
    if not tensor._raw.size:
        return tensor
    rows = tensor.shape[0]
    drawn = tensor.new_empty((rows, tensor._raw.size // rows)).normal_(0, 1, generator=generator)
    matrix = drawn._raw
    wide = matrix.shape[0] < matrix.shape[1]
    q, r = np.linalg.qr(matrix.T if wide else matrix)
    q = q * np.sign(np.diag(r))
    return _written(tensor, gain * (q.T if wide else q).reshape(tensor.shape))


def _deprecated(function: Callable[..., Any]) -> None:
    """Offer a function by its old name, without the underscore."""
    new = function.__name__
    old = new[:-1]

    @plain(f"nn.init.{old}")
    @named(old, function.__doc__)
    def call(*args: Any, **kwargs: Any) -> Any:
        warn(f"nn.init.{old} is the old name; write nn.init.{new}", FutureWarning)
        return function(*args, **kwargs)


for _function in (
    uniform_, normal_, constant_, eye_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
    kaiming_normal_, orthogonal_,
):  # fmt: skip
    _deprecated(_function)
__all__ = ["Tensor", "fans_of", "kaiming_uniform_", "normal_", "ones_", "uniform_", "zeros_"]
