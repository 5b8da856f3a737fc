"""torch.nn: functions, modules, initialisation, and what goes with them."""

from wengert.dialects.torch.nn import module

__all__ = ["module"]
