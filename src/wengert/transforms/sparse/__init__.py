"""Sparse Jacobians and Hessians: patterns, colourings, and the sweeps they ask for."""
