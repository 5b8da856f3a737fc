"""NumPy's functions on tensors: what np.sum(x) calls; by topic, as rows over operations."""
