"""The extension `xp.nn` on NumPy arrays: kernels that rules of networks call."""

from __future__ import annotations

from wengert.backends.numpy_convolutions import *  # noqa: F403
from wengert.backends.numpy_pooling import *  # noqa: F403
from wengert.backends.numpy_windows import *  # noqa: F403
