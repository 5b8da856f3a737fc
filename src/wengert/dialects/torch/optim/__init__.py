"""torch.optim: optimisers and schedules of their rates."""

from wengert.dialects.torch.optim import averaging, lr_scheduler, optimizers

__all__ = ["averaging", "lr_scheduler", "optimizers"]
