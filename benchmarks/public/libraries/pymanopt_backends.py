"""The Rayleigh quotient and a completion, with pymanopt's backends of three libraries."""

import autograd.numpy as anp
import numpy as np
import pymanopt
import tensorflow as tf
import torch
from pymanopt import manifolds, optimizers

np.random.seed(0)
n = 12
matrix = np.random.randn(n, n)
matrix = 0.5 * (matrix + matrix.T)
sphere = manifolds.Sphere(n)
stiefel = manifolds.Stiefel(n, 3)
start = sphere.random_point(), stiefel.random_point()
direction = stiefel.random_tangent_vector(start[1])
tensor, constant = torch.from_numpy(matrix), tf.constant(matrix)


@pymanopt.function.autograd(sphere)
def by_autograd(x):
    """Return a negative Rayleigh quotient."""
    return -x @ matrix @ x


@pymanopt.function.pytorch(sphere)
def by_pytorch(x):
    """Return the same."""
    return -torch.matmul(x, torch.matmul(tensor, x))


@pymanopt.function.tensorflow(sphere)
def by_tensorflow(x):
    """Return the same."""
    return -tf.tensordot(x, tf.tensordot(constant, x, axes=1), axes=1)


@pymanopt.function.autograd(stiefel)
def sum_by_autograd(x):
    """Return a sum of two terms."""
    return anp.sum(anp.exp(-(x**2))) - anp.trace(x.T @ matrix @ x)


@pymanopt.function.pytorch(stiefel)
def sum_by_pytorch(x):
    """Return the same."""
    return torch.sum(torch.exp(-(x**2))) - torch.trace(x.T @ tensor @ x)


@pymanopt.function.tensorflow(stiefel)
def sum_by_tensorflow(x):
    """Return the same."""
    product = tf.matmul(x, tf.matmul(constant, x), transpose_a=True)
    return tf.reduce_sum(tf.exp(-(x**2))) - tf.linalg.trace(product)


for cost in (by_autograd, by_pytorch, by_tensorflow):
    problem = pymanopt.Problem(sphere, cost)
    for kind in (optimizers.SteepestDescent, optimizers.ConjugateGradient, optimizers.TrustRegions):
        found = kind(verbosity=0, max_iterations=40).run(problem, initial_point=start[0])
        print(kind.__name__, found.cost)
for cost in (sum_by_autograd, sum_by_pytorch, sum_by_tensorflow):
    problem = pymanopt.Problem(stiefel, cost)
    print(cost(start[1]), problem.riemannian_gradient(start[1]).sum())
    print(problem.riemannian_hessian(start[1], direction).sum())
    optimizer = optimizers.TrustRegions(verbosity=0, max_iterations=15)
    print(optimizer.run(problem, initial_point=start[1]).cost)
