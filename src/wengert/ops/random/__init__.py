"""Random numbers from explicit generators; samples have derivatives by their parameters.

A sample is a function of noise, which is constant, and of parameters: ``loc + scale * noise``.
Derivatives go to the parameters. Where there is no such formula (gamma, and what is made of
it), a sample moves with its parameter so that it stays the same quantile. The derivative is
then ``-(dP/dalpha) / density``, with the distribution function P.

Inside of `vmap` its `randomness` says whether each example has noise of its own.
"""

from wengert.ops.random.continuous import *  # noqa: F403
from wengert.ops.random.discrete import *  # noqa: F403
from wengert.ops.random.parameters import generator

__all__ = [
    "bernoulli", "beta", "categorical", "cauchy", "chisquare", "choice", "dirichlet",  # noqa: F405
    "exponential", "gamma", "generator", "gumbel", "gumbel_softmax", "laplace",  # noqa: F405
    "log_gamma", "log_normal", "logistic", "multivariate_normal", "normal",  # noqa: F405
    "permutation", "randint", "student_t", "truncated_normal", "uniform",  # noqa: F405
]  # fmt: skip
