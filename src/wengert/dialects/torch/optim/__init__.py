"""torch.optim: optimisers, and schedules of their rates."""

from wengert.dialects.torch.optim import lr_scheduler, optimizers

__all__ = ["lr_scheduler", "optimizers"]
