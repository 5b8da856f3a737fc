"""torch.optim: optimisers and schedules of their rates."""
