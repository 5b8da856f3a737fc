"""torch.signal.windows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.creation import new
from wengert.dialects.torch.devices import read_length
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, static


def _window(values: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Offer a window by a function of the places 0, 1, …, of its period, and of further numbers."""
    name = values.__name__
    further = [*inspect.signature(values).parameters.values()][2:]
    known = {p.name for p in further}
    needed = {p.name for p in further if p.default is p.empty}

    def create(
        M: Any,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor:
        if not options.keys() <= known or not needed <= options.keys():
            wrong = sorted(options.keys() - known or needed - options.keys())
            raise TypeError(f"{name}(): these keyword arguments are unknown or not given: {wrong}")
        kind = dtypes.default() if dtype is None else dtype
        if kind not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{name}: dtype is {kind}; give torch.float32 or torch.float64")
        length = read_length(name, M)
        if length < 0:
            raise ValueError(f"{name}: M is {length}; give 0 or more")
        period = length - 1 if sym else length
        raw = values(np.arange(length), max(period, 1), **options)
        raw = np.ones(length) if length < 2 else raw
        return new(raw.astype(kind.numpy), layout, device, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"Return the window `{name}` of M numbers; with sym=False, of a period of M."
    plain(f"signal.windows.{name}")(create)
    return values


def _positive(value: Any, name: str, least: float = 0.0) -> float:
    found = float(static(value))
    if not found > least:
        raise ValueError(f"{name} is {value}; give a positive number")
    return found


@_window
def bartlett(places: np.ndarray, period: int) -> np.ndarray:
    """Return a triangle."""
    return 1 - np.abs(2 * places / period - 1)


@_window
def cosine(places: np.ndarray, period: int) -> np.ndarray:
    """Return half a wave."""
    return np.sin(np.pi * (places + 0.5) / (period + 1))


@_window
def exponential(
    places: np.ndarray, period: int, center: float | None = None, tau: float = 1.0
) -> np.ndarray:
    """Return what decays from the centre by e in `tau` places."""
    width = _positive(tau, "Tau")
    if center is not None and period < len(places):
        raise ValueError("exponential: center needs sym=False; leave one of them out")
    middle = period / 2 if center is None else static(center)
    return np.exp(-np.abs(places - middle) / width)


@_window
def gaussian(places: np.ndarray, period: int, std: float = 1.0) -> np.ndarray:
    """Return the bell of a standard deviation."""
    width = _positive(std, "Standard deviation")
    return np.exp(-0.5 * ((places - period / 2) / width) ** 2)


def _cosines(places: np.ndarray, period: int, weights: Any) -> np.ndarray:
    angles = 2 * np.pi * places / period
    return np.sum(
        [w * math.cos(math.pi * k) * np.cos(k * angles) for k, w in enumerate(weights)], axis=0
    )


@_window
def general_cosine(places: np.ndarray, period: int, a: Any) -> np.ndarray:
    """Return a sum of waves with weights, which change sign."""
    weights = static(a)
    if not hasattr(weights, "__iter__"):
        raise TypeError("the coefficients are no list; give a list of numbers")
    weights = list(weights)
    if not weights:
        raise ValueError("there are no coefficients; give one at least")
    return _cosines(places, period, weights)


@_window
def general_hamming(places: np.ndarray, period: int, alpha: float = 0.54) -> np.ndarray:
    """Return a wave above a constant alpha."""
    return _cosines(places, period, (static(alpha), 1 - static(alpha)))


@_window
def hamming(places: np.ndarray, period: int) -> np.ndarray:
    """Return Hamming's window."""
    return _cosines(places, period, (0.54, 0.46))


@_window
def hann(places: np.ndarray, period: int) -> np.ndarray:
    """Return Hann's window."""
    return _cosines(places, period, (0.5, 0.5))


@_window
def blackman(places: np.ndarray, period: int) -> np.ndarray:
    """Return Blackman's window."""
    return _cosines(places, period, (0.42, 0.5, 0.08))


@_window
def nuttall(places: np.ndarray, period: int) -> np.ndarray:
    """Return Nuttall's window."""
    return _cosines(places, period, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window
def kaiser(places: np.ndarray, period: int, beta: float = 12.0) -> np.ndarray:
    """Return Kaiser's window."""
    shape = float(static(beta))
    if shape < 0:
        raise ValueError(f"beta is {beta}; give 0 or more")
    heights = np.sqrt(np.maximum(1 - (2 * places / period - 1) ** 2, 0.0))
    return np.i0(shape * heights) / np.i0(shape)
