"""Windows of signal processing: torch.hann_window and the like, over scipy.signal.windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.creation import NewDtype, creates
from wengert.dialects.torch.kinds import Bool, Int, Number


def _drawn(name: str, length: int, dtype: Any, draw: Callable[[], np.ndarray]) -> np.ndarray:
    kind = dtypes.or_default(dtype)
    if kind.kind != "f" or length < 0:
        raise RuntimeError(
            f"{name}: a length of {length} and dtype {kind}; give 0 or more, and a dtype with "
            "fractions"
        )
    return (draw() if length > 1 else np.ones(length)).astype(kind)


def _plain_window(name: str) -> None:
    """Offer a window that takes no further numbers."""

    def window(window_length: Int, periodic: Bool = True, *, dtype: NewDtype = None) -> np.ndarray:
        from scipy.signal import get_window  # which takes a while to import

        return _drawn(
            name, window_length, dtype, lambda: get_window(name, window_length, fftbins=periodic)
        )

    window.__name__ = f"{name}_window"
    window.__doc__ = f"Return a {name.capitalize()} window."
    creates(window.__name__)(window)


for _name in ("bartlett", "blackman", "hann"):
    _plain_window(_name)


@creates("hamming_window")
def hamming_window(
    window_length: Int,
    periodic: Bool = True,
    alpha: Number = 0.54,
    beta: Number = 0.46,
    *,
    dtype: NewDtype = None,
) -> np.ndarray:
    """Return alpha - beta * cos of one turn."""
    turns = 2 * np.pi * np.arange(window_length) / max(window_length - (not periodic), 1)
    return _drawn("hamming", window_length, dtype, lambda: alpha - beta * np.cos(turns))


@creates("kaiser_window")
def kaiser_window(
    window_length: Int, periodic: Bool = True, beta: Number = 12.0, *, dtype: NewDtype = None
) -> np.ndarray:
    """Return a Kaiser window of shape beta."""
    wide = window_length + bool(periodic)
    return _drawn(
        "kaiser", window_length, dtype, lambda: np.kaiser(wide, float(beta))[:window_length]
    )
