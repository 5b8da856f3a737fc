"""Special functions, with SciPy's names and values."""

from wengert.ops.special import *  # noqa: F403
from wengert.ops.special import __all__

__all__ = list(__all__)
