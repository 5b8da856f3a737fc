"""Orders: sort, topk, median, quantiles, unique, searchsorted, counts."""
