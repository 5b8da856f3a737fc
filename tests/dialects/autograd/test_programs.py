"""Well-known programs, written anew: the same results as HIPS autograd's."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest
import scipy.optimize

from tests.dialects.autograd.parity import SPD, Library, M, X, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def logistic_regression(L: Library) -> Any:
    np = L.np
    inputs = onp.array(
        [[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.3], [0.74, -2.5, 1.4]]
    )
    targets = onp.array([True, True, False, True])

    def loss(weights: Any) -> Any:
        predicted = 0.5 * (np.tanh(np.dot(inputs, weights) / 2.0) + 1)
        return -np.sum(np.log(predicted * targets + (1 - predicted) * (1 - targets)))

    weights = onp.zeros(3)
    for _ in range(100):
        weights = weights - 0.01 * L.grad(loss)(weights)
    return weights, loss(weights)


def network_data() -> tuple[Any, Any, Any]:
    rng = onp.random.default_rng(1)
    inputs = rng.normal(size=(20, 4))
    targets = onp.eye(3)[rng.integers(0, 3, 20)]
    params = [
        (0.1 * rng.normal(size=(m, n)), 0.1 * rng.normal(size=n)) for m, n in [(4, 6), (6, 3)]
    ]
    return inputs, targets, params


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_neural_network(optimiser: str) -> None:
    inputs, targets, start = network_data()

    def of(L: Library) -> Any:
        np, logsumexp = L.np, L.module("scipy.special").logsumexp
        flatten = L.module("misc").flatten

        def log_probabilities(params: Any, x: Any) -> Any:
            for w, b in params:
                y = np.dot(x, w) + b
                x = np.tanh(y)
            return y - logsumexp(y, axis=1, keepdims=True)

        def objective(params: Any, i: int) -> Any:
            batch = slice(5 * (i % 4), 5 * (i % 4) + 5)
            penalty = np.dot(flatten(params)[0], flatten(params)[0])
            return 0.01 * penalty - np.sum(
                log_probabilities(params, inputs[batch]) * targets[batch]
            )

        step = getattr(L.module("misc.optimizers"), optimiser)
        return step(L.grad(objective), start, step_size=0.05, num_iters=12)

    compare(of)


@program
def gaussian_process(L: Library) -> Any:
    np, mvn = L.np, L.module("scipy.stats.multivariate_normal")
    rng = onp.random.default_rng(2)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=8)

    def covariance(params: Any, a: Any, b: Any) -> Any:
        scale, lengths = np.exp(params[0]), np.exp(params[1:3])
        difference = np.expand_dims(a / lengths, 1) - np.expand_dims(b / lengths, 0)
        return scale * np.exp(-0.5 * np.sum(difference**2, axis=2))

    def likelihood(params: Any) -> Any:
        cov = covariance(params, x, x) + np.exp(params[3]) * np.eye(len(y))
        return mvn.logpdf(y, params[4] * np.ones(len(y)), cov)

    def by_hand(params: Any) -> Any:
        cov = covariance(params, x, x) + np.exp(params[3]) * np.eye(len(y))
        half = np.linalg.solve(np.linalg.cholesky(cov), y - params[4])
        return -0.5 * np.dot(half, half) - 0.5 * np.linalg.slogdet(cov)[1]

    start = onp.array([0.1, -0.3, 0.2, -1.0, 0.05])
    return L.value_and_grad(likelihood)(start), L.grad(by_hand)(start)


@program
def mixture_of_gaussians(L: Library) -> Any:
    np, mvn = L.np, L.module("scipy.stats.multivariate_normal")
    logsumexp = L.module("scipy.special").logsumexp
    flatten_func = L.module("misc.flatten").flatten_func
    points = onp.random.default_rng(3).normal(size=(15, 2)) * [1.0, 3.0]

    def likelihood(params: Any) -> Any:
        weights = params["weights"] - logsumexp(params["weights"])
        parts = [
            w + mvn.logpdf(points, mean, np.dot(root.T, root) + 0.1 * onp.eye(2))
            for w, mean, root in zip(weights, params["means"], params["roots"], strict=True)
        ]
        return np.sum(logsumexp(np.vstack(parts), axis=0))

    start = {
        "weights": onp.array([0.1, -0.2]),
        "means": onp.array([[0.5, 1.0], [-0.5, -2.0]]),
        "roots": onp.stack([onp.eye(2), M[:2, :2]]),
    }
    flat, unflatten, vector = flatten_func(lambda p: -likelihood(p), start)
    gradient = L.grad(lambda v: np.sum(flat(v)))
    hvp = L.hessian_vector_product(lambda v: np.sum(flat(v)))
    return gradient(vector), hvp(vector, vector), unflatten(gradient(vector))


@program
def recurrent_network(L: Library) -> Any:
    np = L.np
    rng = onp.random.default_rng(4)
    text = onp.eye(5)[rng.integers(0, 5, (7, 3))]
    params = {
        "start": rng.normal(size=(1, 4)),
        "change": 0.5 * rng.normal(size=(5 + 4 + 1, 4)),
        "predict": 0.5 * rng.normal(size=(4 + 1, 5)),
    }

    def affine(weights: Any, *inputs: Any) -> Any:
        return np.dot(np.hstack((*inputs, onp.ones((inputs[0].shape[0], 1)))), weights)

    def loss(params: Any) -> Any:
        hidden = np.repeat(params["start"], 3, axis=0)
        total = 0.0
        for t in range(6):
            hidden = np.tanh(affine(params["change"], text[t], hidden))
            scores = affine(params["predict"], hidden)
            scores = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
            total = total - np.sum(scores * text[t + 1])
        return total

    return L.value_and_grad(loss)(params)


@program
def runge_kutta(L: Library) -> Any:
    np = L.np

    def slope(y: Any, k: Any) -> Any:
        return np.array([y[1] * k[0], -np.sin(y[0]) - k[1] * y[1]])

    def end(k: Any, y: Any) -> Any:
        h = 0.05
        for _ in range(20):
            a = slope(y, k)
            b = slope(y + h / 2 * a, k)
            c = slope(y + h / 2 * b, k)
            d = slope(y + h * c, k)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return y

    k, y = onp.array([1.1, 0.2]), onp.array([0.5, 0.0])
    return L.jacobian(end)(k, y), L.jacobian(end, 1)(k, y)


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


@program
def rosenbrock_with_scipy(L: Library) -> Any:
    start = onp.array([-1.2, 1.0])
    bfgs = scipy.optimize.minimize(rosenbrock, start, jac=L.grad(rosenbrock), method="BFGS")
    both = scipy.optimize.minimize(L.value_and_grad(rosenbrock), start, jac=True, method="CG")
    newton = scipy.optimize.minimize(
        rosenbrock, start, jac=L.grad(rosenbrock), method="Newton-CG",
        hessp=L.hessian_vector_product(rosenbrock),
    )  # fmt: skip
    exact = scipy.optimize.minimize(
        rosenbrock, start, jac=L.grad(rosenbrock), hess=L.hessian(rosenbrock), method="trust-exact"
    )
    return [bfgs.x, both.x, newton.x, exact.x, float(bfgs.nit), float(newton.nit)]


@program
def variational_inference(L: Library) -> Any:
    np, norm = L.np, L.module("scipy.stats.norm")
    draws = onp.random.default_rng(5).normal(size=(50, 2))

    def log_density(x: Any) -> Any:
        return norm.logpdf(x[:, 1], 0, 1.35) + norm.logpdf(x[:, 0], 0, np.exp(x[:, 1]))

    def bound(params: Any) -> Any:
        mean, log_std = params[:2], params[2:]
        samples = draws * np.exp(log_std) + mean
        return -np.sum(log_std) - np.mean(log_density(samples))

    step = L.module("misc.optimizers").adam
    return step(lambda p, i: L.grad(bound)(p), onp.array([-1.0, -1.0, -2.0, -2.0]), num_iters=30)


@program
def bayesian_regression(L: Library) -> Any:
    np, norm = L.np, L.module("scipy.stats.norm")
    rng = onp.random.default_rng(6)
    x, y = rng.normal(size=(10, 3)), rng.normal(size=10)

    def log_posterior(w: Any, log_noise: Any) -> Any:
        prior = np.sum(norm.logpdf(w, 0.0, 2.0))
        return prior + np.sum(norm.logpdf(np.dot(x, w), y, np.exp(log_noise)))

    return L.grad(log_posterior, (0, 1))(X, -0.5), L.hessian(log_posterior)(X, -0.5)


@program
def poisson_regression(L: Library) -> Any:
    np, poisson = L.np, L.module("scipy.stats.poisson")
    rng = onp.random.default_rng(7)
    x, counts = rng.normal(size=(9, 3)), rng.poisson(3.0, 9)
    return L.grad(lambda w: -np.sum(poisson.logpmf(counts, np.exp(np.dot(x, w)))))(X / 5)


@program
def power_iteration(L: Library) -> Any:
    np = L.np

    def largest(m: Any) -> Any:
        v = onp.ones(3)
        for _ in range(30):
            v = np.dot(m, v)
            v = v / np.sqrt(np.sum(v**2))
        return np.dot(v, np.dot(m, v))

    return L.value_and_grad(largest)(SPD)


@program
def kalman_filter(L: Library) -> Any:
    np = L.np
    measured = onp.sin(onp.arange(12.0))

    def likelihood(params: Any) -> Any:
        noise, drift = np.exp(params[0]), np.exp(params[1])
        mean, cov, total = np.zeros(2), np.eye(2), 0.0
        step = np.array([[1.0, params[2]], [0.0, 1.0]])
        for z in measured:
            mean, cov = np.dot(step, mean), np.dot(np.dot(step, cov), step.T) + drift * np.eye(2)
            spread = cov[0, 0] + noise
            gain = cov[:, 0] / spread
            total = total - 0.5 * ((z - mean[0]) ** 2 / spread + np.log(spread))
            mean = mean + gain * (z - mean[0])
            cov = cov - np.outer(gain, cov[0])
        return total

    return L.value_and_grad(likelihood)(onp.array([-1.0, -2.0, 0.5]))


@program
def gradient_of_an_optimiser(L: Library) -> Any:
    np = L.np

    def after_training(rate: Any) -> Any:
        w = onp.ones(3)
        for _ in range(5):
            w = w - rate * L.grad(lambda w: np.sum((np.dot(M, w) - X) ** 2))(w)
        return np.sum((np.dot(M, w) - X) ** 2)

    return L.grad(after_training)(0.01)


@program
def hamiltonian_steps(L: Library) -> Any:
    np = L.np

    def energy(q: Any) -> Any:
        return np.sum(q**4) / 4 + 0.5 * np.dot(q, np.dot(SPD, q))

    def end(q: Any) -> Any:
        p = np.zeros(3)
        for _ in range(4):
            p = p - 0.05 * L.grad(energy)(q)
            q = q + 0.1 * p
        return np.sum(q * X)

    return L.grad(end)(X)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
