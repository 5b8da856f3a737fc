"""Optimisers whose state is a plain tree, and solvers of SciPy and IPOPT on trees."""

from __future__ import annotations

from wengert.optim.clipping import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from wengert.optim.equations import jac_for_ivp, root, solve_ivp
from wengert.optim.first_order import SGD, Adagrad, Adam, AdamW, RMSprop
from wengert.optim.ipopt import IpoptProblem, minimize_ipopt
from wengert.optim.operators import gauss_newton_operator, hessian_operator, linear_operator
from wengert.optim.schedules import (
    constant,
    cosine_decay,
    exponential_decay,
    inverse_sqrt,
    join,
    linear,
    piecewise_constant,
    polynomial,
    step_decay,
    warmup,
)
from wengert.optim.scipy_bridge import least_squares, minimize
from wengert.optim.vectors import ravel

__all__ = [
    "SGD", "Adagrad", "Adam", "AdamW", "IpoptProblem", "RMSprop", "clip_by_global_norm",
    "clip_by_norm", "clip_by_value", "constant", "cosine_decay", "exponential_decay",
    "gauss_newton_operator", "global_norm", "hessian_operator", "inverse_sqrt", "jac_for_ivp",
    "join", "least_squares", "linear", "linear_operator", "minimize", "minimize_ipopt",
    "piecewise_constant", "polynomial", "ravel", "root", "solve_ivp", "step_decay", "warmup",
]  # fmt: skip
