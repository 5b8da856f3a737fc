"""Random numbers from explicit generators; samples have derivatives by their parameters."""

from wengert.ops.random import *  # noqa: F403
from wengert.ops.random import __all__

__all__ = list(__all__)
