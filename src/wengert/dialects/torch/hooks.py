"""Hooks, anomalies, inference mode, and what a program sees of saved tensors."""
