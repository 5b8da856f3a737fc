"""torch.func."""
