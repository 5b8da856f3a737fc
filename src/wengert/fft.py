"""Discrete Fourier transforms: the standard's extension."""

from wengert.ops.fft import *  # noqa: F403
from wengert.ops.fft import __all__

__all__ = list(__all__)
