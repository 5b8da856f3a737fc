"""Tests of the engine: tensors, the tape, sweeps and cotangents."""
