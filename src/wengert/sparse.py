"""Sparse Jacobians and Hessians, by plans that are made once; see docs/sparse.md."""

from wengert.transforms.sparse.plans import PatternError, Plan, hessian, jacobian

__all__ = ["PatternError", "Plan", "hessian", "jacobian"]
