"""torch.autograd.functional."""
