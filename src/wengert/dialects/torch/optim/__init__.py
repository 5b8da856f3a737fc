"""torch.optim: optimisers and schedules of their rates."""

from wengert.dialects.torch.optim import optimizers

__all__ = ["optimizers"]
