"""Tests of backward, grad, hooks, modes, Function, gradcheck and checkpoint."""
