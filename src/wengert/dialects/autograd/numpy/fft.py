"""NumPy's Fourier transforms, on arrays and on recorded ones."""

from __future__ import annotations

import numpy as _np

from wengert.dialects.autograd.numpy.wrapping import offering as _offering

__all__ = sorted(_np.fft.__all__)
__getattr__, __dir__ = _offering(_np.fft, globals())
