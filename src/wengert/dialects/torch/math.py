"""Elementwise functions of one, two and three tensors."""
