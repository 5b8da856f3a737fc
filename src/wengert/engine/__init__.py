"""Tensor, tape, sweeps and cotangents: records, walks, accumulates; knows no operation by name."""
