"""Windows of signal processing: torch.signal.windows, and torch.hann_window and the like."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.creation import NewDtype, creates
from wengert.dialects.torch.kinds import Bool, Int
from wengert.dialects.torch.tensors import static


def _window(values: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Offer a window by a function of indices 0, 1, …, of its period, and of further numbers."""
    name = values.__name__
    further = [*inspect.signature(values).parameters.values()][2:]
    known = {p.name for p in further}
    needed = {p.name for p in further if p.default is p.empty}

    def symmetric(
        M: Int, *, sym: Bool = True, dtype: NewDtype = None, **options: Any
    ) -> np.ndarray:
        if not options.keys() <= known or not needed <= options.keys():
            wrong = sorted(options.keys() - known or needed - options.keys())
            raise TypeError(f"{name}(): these keyword arguments are unknown or not given: {wrong}")
        kind = dtypes.or_default(dtype)
        if kind not in (np.float32, np.float64) or M < 0:
            raise ValueError(
                f"{name}: M is {M} and dtype {kind}; give 0 or more, and torch.float32 or "
                "torch.float64"
            )
        return _drawn(values, M, not sym, kind, options)

    symmetric.__name__ = name
    symmetric.__doc__ = f"Return the window `{name}` of M numbers; with sym=False, of a period M."
    creates(f"signal.windows.{name}")(symmetric)
    return values


def _drawn(
    values: Callable[..., np.ndarray], length: int, periodic: bool, kind: np.dtype, options: Any
) -> np.ndarray:
    raw = values(np.arange(length), max(length - (not periodic), 1), **options)
    return (np.ones(length) if length < 2 else raw).astype(kind)


def _periodic(name: str, values: Callable[..., np.ndarray]) -> None:
    """Offer a window that has a period by default, and takes further numbers by position."""
    further = [*inspect.signature(values).parameters][2:]

    def window(
        window_length: Int, periodic: Any = True, *args: Any, dtype: NewDtype = None, **options: Any
    ) -> np.ndarray:
        kind = dtypes.or_default(dtype)
        if kind.kind != "f" or window_length < 0:
            raise RuntimeError(
                f"{name}: a length of {window_length} and dtype {kind}; give 0 or more, and a "
                "dtype with fractions"
            )
        options |= dict(zip(further, args, strict=False))
        return _drawn(values, window_length, bool(periodic), kind, options)

    window.__name__ = f"{name}_window"
    window.__doc__ = f"Return a {name.capitalize()} window."
    creates(window.__name__)(window)


def _positive(value: Any, name: str, least: float = 0.0) -> float:
    found = float(static(value))
    if not found > least:
        raise ValueError(f"{name} is {value}; give a positive number")
    return found


@_window
def bartlett(indices: np.ndarray, period: int) -> np.ndarray:
    """Return a triangle."""
    return 1 - np.abs(2 * indices / period - 1)


@_window
def cosine(indices: np.ndarray, period: int) -> np.ndarray:
    """Return half a wave."""
    return np.sin(np.pi * (indices + 0.5) / (period + 1))


@_window
def exponential(
    indices: np.ndarray, period: int, center: float | None = None, tau: float = 1.0
) -> np.ndarray:
    """Return what decays from the centre by e in `tau` steps."""
    width = _positive(tau, "Tau")
    if center is not None and period < len(indices):
        raise ValueError("exponential: center needs sym=False; leave one of them out")
    middle = period / 2 if center is None else static(center)
    return np.exp(-np.abs(indices - middle) / width)


@_window
def gaussian(indices: np.ndarray, period: int, std: float = 1.0) -> np.ndarray:
    """Return the bell of a standard deviation."""
    width = _positive(std, "Standard deviation")
    return np.exp(-0.5 * ((indices - period / 2) / width) ** 2)


def _cosines(indices: np.ndarray, period: int, weights: Any) -> np.ndarray:
    angles = 2 * np.pi * indices / period
    return np.sum(
        [w * math.cos(math.pi * k) * np.cos(k * angles) for k, w in enumerate(weights)], axis=0
    )


@_window
def general_cosine(indices: np.ndarray, period: int, a: Any) -> np.ndarray:
    """Return a sum of waves with weights, which change sign."""
    weights = static(a)
    if not hasattr(weights, "__iter__"):
        raise TypeError("the coefficients are no list; give a list of numbers")
    weights = list(weights)
    if not weights:
        raise ValueError("there are no coefficients; give one at least")
    return _cosines(indices, period, weights)


@_window
def general_hamming(indices: np.ndarray, period: int, alpha: float = 0.54) -> np.ndarray:
    """Return a wave above a constant alpha."""
    return _cosines(indices, period, (static(alpha), 1 - static(alpha)))


@_window
def hamming(indices: np.ndarray, period: int) -> np.ndarray:
    """Return Hamming's window."""
    return _cosines(indices, period, (0.54, 0.46))


@_window
def hann(indices: np.ndarray, period: int) -> np.ndarray:
    """Return Hann's window."""
    return _cosines(indices, period, (0.5, 0.5))


@_window
def blackman(indices: np.ndarray, period: int) -> np.ndarray:
    """Return Blackman's window."""
    return _cosines(indices, period, (0.42, 0.5, 0.08))


@_window
def nuttall(indices: np.ndarray, period: int) -> np.ndarray:
    """Return Nuttall's window."""
    return _cosines(indices, period, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window
def kaiser(indices: np.ndarray, period: int, beta: float = 12.0) -> np.ndarray:
    """Return Kaiser's window."""
    shape = float(static(beta))
    if shape < 0:
        raise ValueError(f"beta is {beta}; give 0 or more")
    heights = np.sqrt(np.maximum(1 - (2 * indices / period - 1) ** 2, 0.0))
    return np.i0(shape * heights) / np.i0(shape)


def _two_weights(
    indices: np.ndarray, period: int, alpha: float = 0.54, beta: float = 0.46
) -> np.ndarray:
    return _cosines(indices, period, (alpha, beta))


_periodic("hamming", _two_weights)
for _name in ("bartlett", "blackman", "hann", "kaiser"):
    _periodic(_name, globals()[_name])
