"""Sums, means, extremes, norms and cumulative functions."""
