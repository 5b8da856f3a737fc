"""Tensors as Python sees them: sizes, devices, numbers out, conversions, printing."""
