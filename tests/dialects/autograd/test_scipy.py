"""SciPy's functions of wengert.autograd: the same derivatives as HIPS autograd's."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from tests.dialects.autograd.parity import SPD, Library, M, X, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

UNIT = onp.array([0.2, 0.55, 0.9])
POSITIVE = onp.array([0.4, 1.3, 3.1])
SPECIAL: dict[str, tuple[Any, ...]] = {
    "beta": (POSITIVE, POSITIVE[::-1]), "betaln": (POSITIVE, POSITIVE[::-1]), "psi": (POSITIVE,),
    "digamma": (POSITIVE,), "gamma": (POSITIVE,), "gammaln": (POSITIVE,), "erf": (X,), "erfc": (X,),
    "erfinv": (UNIT,), "erfcinv": (UNIT,), "logit": (UNIT,), "expit": (X,), "i0": (X,), "i1": (X,),
    "j0": (X,), "j1": (X,), "y0": (POSITIVE,), "y1": (POSITIVE,), "rgamma": (POSITIVE,),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name: str) -> None:
    def of(L: Library) -> Any:
        function = getattr(L.module("scipy.special"), name)
        args = SPECIAL[name]
        places = tuple(range(len(args)))
        total = L.grad(lambda *a: L.np.sum(function(*a) * X), places)
        return function(*args), total(*args), L.grad(lambda *a: L.np.sum(total(*a)[0] * X))(*args)

    compare(of)


@program
def special_functions_with_orders(L: Library) -> Any:
    s, np = L.module("scipy.special"), L.np
    return [
        L.grad(lambda x: np.sum(s.polygamma(2, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.betainc(2.0, 3.0, x)))(UNIT),
        L.grad(lambda x: np.sum(s.gammainc(2.0, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.gammaincc(2.0, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.iv(1.5, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.ive(1.5, x)))(POSITIVE),
        L.hessian(lambda x: np.sum(s.jn(2, x)))(X),
        L.hessian(lambda x: np.sum(s.yn(3, x)))(POSITIVE),
        L.hessian(lambda x: np.sum(s.multigammaln(x, 3)))(POSITIVE + 1),
        L.grad(lambda x: np.sum(s.gammasgn(x) * x))(X),
    ]


@program
def banded_equations(L: Library) -> Any:
    solve, np = L.module("scipy.linalg").solve_banded, L.np
    ab = onp.stack([onp.array([0.0, 0.3, 0.2]), M.diagonal(), onp.array([0.1, 0.6, 0.0])])
    total = L.grad(lambda ab, b: np.sum(solve((1, 1), ab, b) ** 2), (0, 1))
    return solve((1, 1), ab, X), total(ab, X), L.jacobian(lambda b: solve((1, 1), ab, b))(X)


@program
def logsumexps(L: Library) -> Any:
    logsumexp = L.module("scipy.special").logsumexp
    return [
        L.grad(logsumexp)(X),
        L.jacobian(lambda m: logsumexp(m, axis=0))(M),
        L.jacobian(lambda m: logsumexp(m, 1, keepdims=True))(M),
        L.jacobian(lambda m: logsumexp(m, axis=1, b=onp.array([1.0, 2.0, 3.0])))(M),
        L.hessian(logsumexp)(X),
    ]


STATS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...]]] = {
    "norm": ("pdf cdf sf logpdf logcdf logsf", (X, 0.2, 1.7), (0, 1, 2)),
    "t": ("pdf logpdf", (X, 3.5, 0.2, 1.7), (0, 1, 2, 3)),
    "beta": ("pdf logpdf", (UNIT, 2.3, 1.4), (0, 1, 2)),
    "gamma": ("pdf logpdf", (POSITIVE, 2.3), (0, 1)),
    "chi2": ("pdf logpdf cdf", (POSITIVE, 3), (0,)),
    "poisson": ("pmf logpmf cdf", (onp.array([0.0, 2.0, 5.0]), 2.3), (1,)),
    "dirichlet": ("pdf logpdf", (onp.array([0.2, 0.3, 0.5]), onp.array([1.5, 2.0, 0.7])), (0, 1)),
}


@pytest.mark.parametrize("name", STATS)
def test_distributions(name: str) -> None:
    methods, args, places = STATS[name]

    def of(L: Library) -> Any:
        stats = L.module(f"scipy.stats.{name}")
        found = []
        for method in methods.split():
            function = getattr(stats, method)
            found.append(
                (function(*args), L.grad(lambda *a, f=function: L.np.sum(f(*a)), places)(*args))
            )
        return found

    compare(of)


@program
def distribution_functions_by_x_and_loc(L: Library) -> Any:
    t, beta, gamma = (L.module(f"scipy.stats.{n}") for n in ("t", "beta", "gamma"))
    np = L.np
    return [
        L.grad(lambda x, m: np.sum(t.cdf(x, 3.5, m, 1.7)), (0, 1))(X, 0.2),
        L.grad(lambda x, m: np.sum(t.logcdf(x, 3.5, m)), (0, 1))(X, 0.2),
        L.grad(lambda x: np.sum(beta.cdf(x, 2.3, 1.4)))(UNIT),
        L.grad(lambda x: np.sum(gamma.cdf(x, 2.3)))(POSITIVE),
    ]


@program
def normal_vectors(L: Library) -> Any:
    mvn, np = L.module("scipy.stats.multivariate_normal"), L.np
    points = onp.stack([X, X**2, onp.zeros(3)])
    return [
        mvn.logpdf(points, X, SPD),
        L.grad(lambda x, m, c: np.sum(mvn.logpdf(x, m, c)), (0, 1, 2))(points, X, SPD),
        L.grad(lambda m, c: mvn.logpdf(X, m, c), 1)(X**2, SPD),
        L.grad(lambda x: np.sum(mvn.pdf(x, X, SPD)))(points),
        L.grad(lambda c: mvn.entropy(X, c))(SPD),
    ]


@program
def scipy_linear_algebra(L: Library) -> Any:
    linalg, np = L.module("scipy.linalg"), L.np
    return [
        L.grad(lambda m: np.sum(linalg.sqrtm(np.dot(m, m.T) + onp.eye(3)) * M))(M),
        L.grad(lambda m, x: np.sum(linalg.solve_triangular(m, x) ** 2), (0, 1))(onp.triu(M), X),
        L.grad(lambda m: np.sum(linalg.solve_triangular(m, M, trans="T", lower=True)))(onp.tril(M)),
        L.grad(lambda a, b, q: np.sum(linalg.solve_sylvester(a, b, q) ** 2), (0, 1, 2))(
            M, SPD, M.T
        ),
    ]


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolutions(mode: str) -> None:
    rng = onp.random.default_rng(0)
    cases = [
        (rng.normal(size=7), rng.normal(size=3), {}),
        (rng.normal(size=4), rng.normal(size=4), {}),
        (rng.normal(size=(5, 6)), rng.normal(size=(2, 3)), {}),
        (rng.normal(size=(2, 6)), rng.normal(size=(3, 4)), {"axes": [[1], [1]]}),
        (
            rng.normal(size=(2, 3, 6, 5)),
            rng.normal(size=(4, 3, 2, 3)),
            {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [1])},
        ),
    ]

    def of(L: Library) -> Any:
        convolve = L.module("scipy.signal").convolve
        found = []
        for a, b, settings in cases:
            y = convolve(a, b, mode=mode, **settings)
            total = lambda a, b: L.np.sum(convolve(a, b, mode=mode, **settings) ** 2)  # noqa: B023, E731
            places = 0 if mode == "same" else (0, 1)
            found.append([y, L.grad(total, places)(a, b)])
        return found

    compare(of)


def test_convolution_of_the_smaller_with_the_larger() -> None:
    a, b = onp.arange(3.0), onp.arange(5.0)[:, None] * onp.ones(2)
    settings = {"axes": ([0], [0]), "mode": "valid"}
    compare(lambda L: L.module("scipy.signal").convolve(a, b, **settings))


def test_odeint() -> None:
    def of(L: Library) -> Any:
        np = L.np
        odeint = L.module("scipy.integrate").odeint

        def f(y: Any, t: Any, a: Any, b: Any) -> Any:
            return np.array([a[0] * y[0] - b * y[0] * y[1], -a[1] * y[1] + y[0] * y[1] + 0.1 * t])

        def end(y0: Any, t: Any, a: Any, b: Any) -> Any:
            args = L.module("builtins").tuple((a, b))
            return np.sum(odeint(f, y0, t, args, rtol=1e-10, atol=1e-10) ** 2)

        args = (onp.array([1.0, 0.5]), onp.array([0.0, 0.4, 1.0]), onp.array([0.7, 0.5]), 0.9)
        return L.grad(end, (0, 1, 2, 3))(*args)

    compare(of, 1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
