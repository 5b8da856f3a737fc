"""torch.utils.data: datasets, the order of their samples, and loaders that make batches."""
