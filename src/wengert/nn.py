"""What networks are made of, as functions of tensors."""

from wengert.ops.neural import *  # noqa: F403
from wengert.ops.neural import __all__

__all__ = list(__all__)
