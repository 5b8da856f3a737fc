"""torch.linalg, and the names of it that are elsewhere."""
