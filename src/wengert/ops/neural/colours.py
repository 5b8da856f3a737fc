"""Colours as red, green and blue, and as hue, saturation and value, on the last axis."""

from __future__ import annotations

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import joining, reductions

__all__ = ["hsv_from_rgb", "rgb_from_hsv"]


def hsv_from_rgb(x: Tensor) -> Tensor:
    """Return hue, saturation and value, all from 0 to 1; gray has hue and saturation 0."""
    red, green, blue = (x[..., k] for k in range(3))
    value = reductions.max(x, axis=-1)
    span = value - reductions.min(x, axis=-1)
    zero = wrap(np.zeros((), x.dtype))
    coloured, lit = wrap(span._raw > 0), wrap(value._raw > 0)
    width = 6 * ew.where(coloured, span, zero + 1)
    hue = ew.where(
        wrap(red._raw == value._raw),
        (green - blue) / width,
        ew.where(
            wrap(green._raw == value._raw),
            (blue - red) / width + 1 / 3,
            (red - green) / width + 2 / 3,
        ),
    )
    hue = ew.where(coloured, ew.where(wrap(hue._raw < 0), hue + 1, hue), zero)
    saturation = ew.where(lit, span / ew.where(lit, value, zero + 1), zero)
    return joining.stack([hue, saturation, value], axis=-1)


def rgb_from_hsv(x: Tensor) -> Tensor:
    """Return red, green and blue of hues, saturations and values from 0 to 1."""
    hue, saturation, value = 6 * x[..., 0], x[..., 1], x[..., 2]
    bounds = [wrap(np.array(v, x.dtype)) for v in (0, 1)]
    shares = [ew.abs_(hue - 3) - 1, 2 - ew.abs_(hue - 2), 2 - ew.abs_(hue - 4)]
    parts = [(1 - saturation + saturation * ew.clip(s, *bounds)) * value for s in shares]
    return joining.stack(parts, axis=-1)
