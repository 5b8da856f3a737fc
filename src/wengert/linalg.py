"""Linear algebra: the standard's extension, and what NumPy and SciPy have beyond it."""

from wengert.ops.linalg import *  # noqa: F403
from wengert.ops.linalg import __all__

__all__ = list(__all__)
