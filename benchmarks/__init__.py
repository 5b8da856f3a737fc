"""Wengert against its peers, on one machine, in one process: run ``python -m benchmarks``."""
