"""Tests of transforms: gradients, forward mode, vmap, Jacobians, sparse plans, checkpoints."""
