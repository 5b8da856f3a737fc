"""IPOPT's callbacks, and minimize_ipopt with a stand-in for cyipopt.

The stand-in has the interface of cyipopt.Problem, and solves with what the callbacks say, by way of
SciPy. With cyipopt itself the same problems are in tests/optim/test_peers_ipopt.py.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import coo_array

import wengert as wg
from wengert import optim


class StandIn:
    """A solver with the interface of cyipopt.Problem."""

    made: list[StandIn] = []  # noqa: RUF012

    def __init__(self, n: int, m: int, problem_obj: Any, lb: Any, ub: Any, cl: Any, cu: Any):
        self.n, self.m, self.problem = n, m, problem_obj
        self.bounds = optimize.Bounds(lb, ub)
        self.limits = cl, cu
        self.options: dict[str, Any] = {}
        StandIn.made.append(self)

    def add_option(self, name: str, value: Any) -> None:
        self.options[name] = value

    def jacobian(self, x: np.ndarray) -> Any:
        rows, columns = self.problem.jacobianstructure()
        return coo_array((self.problem.jacobian(x), (rows, columns)), (self.m, self.n)).tocsr()

    def hessian(self, x: np.ndarray, lagrange: np.ndarray, factor: float) -> Any:
        rows, columns = self.problem.hessianstructure()
        assert (rows >= columns).all()
        values = self.problem.hessian(x, lagrange, factor)
        lower = coo_array((values, (rows, columns)), (self.n, self.n)).toarray()
        return lower + np.tril(lower, -1).T

    def solve(self, x0: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        exact = "hessian_approximation" not in self.options
        zeros = np.zeros(self.m)
        constraint = optimize.NonlinearConstraint(
            self.problem.constraints,
            *self.limits,
            jac=self.jacobian,
            hess=(lambda x, v: self.hessian(x, v, 0.0)) if exact else optimize.BFGS(),
        )
        found = optimize.minimize(
            self.problem.objective,
            x0,
            method="trust-constr",
            jac=self.problem.gradient,
            hess=(lambda x: self.hessian(x, zeros, 1.0)) if exact else optimize.BFGS(),
            bounds=self.bounds,
            constraints=[constraint] if self.m else [],
            options={
                "maxiter": self.options.get("max_iter", 1000),
                "gtol": 1e-8,
                "barrier_tol": 1e-9,
            },
        )
        self.problem.intermediate(0, found.nit, found.fun, 0, 0, 0, 0, 0, 0, 0, 0)
        return found.x, {
            "status": 0 if found.status in (1, 2) else -1,
            "status_msg": b"solved",
            "obj_val": found.fun,
            "g": self.problem.constraints(found.x),
            "mult_g": found.v[0] if self.m else zeros,
        }


@pytest.fixture
def stand_in(monkeypatch):
    module = types.ModuleType("cyipopt")
    module.Problem = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cyipopt", module)
    StandIn.made.clear()


# -- HS071: the problem of IPOPT's own manual -----------------------------------------------------


def hs071(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


HS071: dict[str, Any] = {
    "bounds": [(1.0, 5.0)] * 4,
    "constraints": [
        {"type": "ineq", "fun": lambda x: wg.prod(x) - 25.0},
        optimize.NonlinearConstraint(lambda x: wg.sum(x**2), 40.0, 40.0),
    ],
}
START = np.array([1.0, 5.0, 5.0, 1.0])
BEST = [1.0, 4.74299963, 3.82114998, 1.37940829]


def test_callbacks_of_hs071():
    problem = optim.IpoptProblem(hs071, START, **HS071)
    x = np.array([1.0, 2.0, 3.0, 4.0])
    a, b, c, d = x
    assert (problem.n, problem.m) == (4, 2)
    assert problem.lb.tolist() == [1.0] * 4 and problem.ub.tolist() == [5.0] * 4
    assert problem.cl.tolist() == [0.0, 40.0] and problem.cu.tolist() == [np.inf, 40.0]
    assert problem.objective(x) == pytest.approx(a * d * (a + b + c) + c)
    expected = [d * (2 * a + b + c), a * d, a * d + 1, a * (a + b + c)]
    np.testing.assert_allclose(problem.gradient(x), expected)
    np.testing.assert_allclose(problem.constraints(x), [24.0 - 25.0, 30.0])
    rows, columns = problem.jacobianstructure()
    jacobian = coo_array((problem.jacobian(x), (rows, columns)), (2, 4)).toarray()
    np.testing.assert_allclose(jacobian, [24.0 / x, 2 * x])
    rows, columns = problem.hessianstructure()
    assert (rows >= columns).all() and len(set(zip(rows, columns, strict=True))) == len(rows) == 10
    weights, factor = np.array([0.7, -1.3]), 2.5
    lower = coo_array((problem.hessian(x, weights, factor), (rows, columns)), (4, 4)).toarray()
    of_objective = np.array(
        [
            [2 * d, 0, 0, 0],
            [d, 0, 0, 0],
            [d, 0, 0, 0],
            [2 * a + b + c, a, a, 0],
        ]
    )
    of_product = np.tril(24.0 / np.outer(x, x), -1)
    expected_hessian = factor * of_objective + 0.7 * of_product - 1.3 * 2 * np.eye(4)
    np.testing.assert_allclose(lower, expected_hessian)


@pytest.mark.parametrize("hess", ["hvp", None])
@pytest.mark.usefixtures("stand_in")
def test_hs071(hess):
    found = optim.minimize(hs071, START, "ipopt", hess=hess, tol=1e-9, **HS071)
    assert found.success and found.message == "solved"
    np.testing.assert_allclose(found.x, BEST, atol=1e-3 if hess is None else 1e-5)
    assert found.fun == pytest.approx(17.0140173, abs=1e-3 if hess is None else 1e-4)
    assert (found.nhev > 0) == (hess == "hvp") and found.nfev > 0 and found.njev > 0
    assert found.nit > 0 and found.constr.shape == found.v.shape == (2,)
    options = StandIn.made[0].options
    assert options["print_level"] == 0 and options["tol"] == 1e-9


@pytest.mark.usefixtures("stand_in")
def test_options():
    optim.minimize_ipopt(
        hs071, START, **HS071, options={"maxiter": 3, "disp": True, "linear_solver": "mumps"}
    )
    options = StandIn.made[0].options
    assert options["max_iter"] == 3 and options["linear_solver"] == "mumps"
    assert options["print_level"] == 5 and "disp" not in options and "tol" not in options


# -- sparse problems ------------------------------------------------------------------------------


def double_integrator(steps):
    """Return cost and dynamics of a mass that is to be moved by 1 and to stop, and its start.

    The least integral of the square of the force, over unit time, is 12.
    """
    h = 1 / steps

    def effort(z):
        return wg.sum(z["force"][1:] ** 2 + z["force"][:-1] ** 2) * (h / 2)

    def dynamics(z):
        p, v, u = z["place"], z["speed"], z["force"]
        return {
            "move": p[1:] - p[:-1] - h / 2 * (v[1:] + v[:-1]),
            "push": v[1:] - v[:-1] - h / 2 * (u[1:] + u[:-1]),
            "ends": [p[0], v[0], p[-1] - 1.0, v[-1]],
        }

    return effort, dynamics, {name: np.zeros(steps + 1) for name in ("force", "place", "speed")}


@pytest.mark.usefixtures("stand_in")
def test_optimal_control():
    steps = 40
    effort, dynamics, z0 = double_integrator(steps)
    found = optim.minimize(effort, z0, "ipopt", constraints={"type": "eq", "fun": dynamics})
    assert found.success and found.fun == pytest.approx(12.0, rel=1e-2)
    times = np.linspace(0, 1, steps + 1)
    np.testing.assert_allclose(found.x["place"], 3 * times**2 - 2 * times**3, atol=1e-2)


def test_patterns_of_optimal_control():
    steps = 200
    effort, dynamics, z0 = double_integrator(steps)
    problem = optim.IpoptProblem(effort, z0, constraints={"type": "eq", "fun": dynamics})
    assert (problem.n, problem.m) == (603, 404)
    z = problem.start
    assert len(problem.jacobianstructure()[0]) == len(problem.jacobian(z)) == 8 * steps + 4
    rows, columns = problem.hessianstructure()
    assert rows.tolist() == columns.tolist() == list(range(201))  # the forces
    expected = np.full(201, 2 / steps)
    expected[[0, -1]] /= 2
    np.testing.assert_allclose(problem.hessian(z, np.ones(404), 1.0), expected)


@pytest.mark.usefixtures("stand_in")
def test_linear_constraints_and_bounds_of_a_nest():
    constraints = [
        optimize.LinearConstraint(
            [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], [1.0, -np.inf], [np.inf, 5.0]
        ),
        {"type": "ineq", "fun": lambda x, most: most - x["b"] ** 2, "args": (4.0,)},
    ]
    x0 = {"a": np.array([2.0, 2.0]), "b": 1.0}

    def fun(x):
        return wg.sum((x["a"] - np.array([0.0, 0.25])) ** 2) - x["b"]

    bounds = {"a": (None, 3.0), "b": (0.0, None)}
    problem = optim.IpoptProblem(fun, x0, bounds=bounds, constraints=constraints)
    assert problem.ub.tolist() == [3.0, 3.0, np.inf] and problem.lb.tolist() == [-np.inf] * 2 + [
        0.0
    ]
    assert problem.cl.tolist() == [0.0, 1.0, -np.inf]  # the nonlinear ones first
    np.testing.assert_allclose(problem.constraints(np.array([1.0, 2.0, 3.0])), [-5.0, 3.0, 5.0])
    rows, columns = problem.jacobianstructure()
    dense = coo_array((problem.jacobian(np.array([1.0, 2.0, 3.0])), (rows, columns)), (3, 3))
    assert dense.toarray().tolist() == [[0.0, 0.0, -6.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    found = optim.minimize_ipopt(fun, x0, bounds=bounds, constraints=constraints)
    np.testing.assert_allclose(found.x["a"], [0.375, 0.625], atol=1e-4)
    assert found.x["b"] == pytest.approx(2.0, abs=1e-4)


@pytest.mark.usefixtures("stand_in")
def test_no_constraints():
    problem = optim.IpoptProblem(lambda x: wg.sum(x[1:] * x[:-1]), np.ones(3))
    assert problem.m == 0 and problem.constraints(np.ones(3)).shape == (0,)
    assert problem.jacobian(np.ones(3)).shape == (0,)
    assert [part.shape for part in problem.jacobianstructure()] == [(0,), (0,)]
    assert problem.hessianstructure()[0].tolist() == [1, 2]
    found = optim.minimize(lambda x: wg.sum((x - 2.0) ** 2), wg.ones(3), "IPOPT")
    assert type(found.x) is wg.Tensor
    np.testing.assert_allclose(found.x.numpy(), 2.0, atol=1e-6)


def test_a_constraint_whose_pattern_is_not_sparse():
    """It is given as a full matrix."""
    n = 12
    constraint = {"type": "eq", "fun": lambda x: wg.cumulative_prod(x)}
    problem = optim.IpoptProblem(lambda x: wg.sum(x**2), np.ones(n), constraints=constraint)
    x = np.linspace(0.5, 1.5, n)
    rows, columns = problem.jacobianstructure()
    found = coo_array((problem.jacobian(x), (rows, columns)), (n, n)).toarray()
    np.testing.assert_allclose(found, np.tril(np.outer(np.cumprod(x), 1 / x)))


# -- what bad input gets --------------------------------------------------------------------------


def test_a_pattern_that_changes_is_refused():
    def fun(x):
        return wg.sum(x**2) if x[0].numpy() > 0 else wg.sum(x[1:] * x[:-1])

    problem = optim.IpoptProblem(fun, np.ones(3))
    problem.hessian(np.ones(3), np.zeros(0), 1.0)
    with pytest.raises(wg.sparse.PatternError, match="did not do the same operations"):
        problem.hessian(-np.ones(3), np.zeros(0), 1.0)


def test_without_cyipopt(monkeypatch):
    monkeypatch.setitem(sys.modules, "cyipopt", None)
    with pytest.raises(ImportError, match=r"conda install -c conda-forge cyipopt.*'trust-constr'"):
        optim.minimize_ipopt(hs071, START)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"bounds": [(0.0, 1.0)] * 3},
            ValueError,
            r"x0 has 4 numbers, and limits of shapes \(3,\) and \(3,\)",
        ),
        (
            {"constraints": optimize.LinearConstraint(np.ones((1, 3)), 0.0, 1.0)},
            ValueError,
            "a LinearConstraint has 3 columns, and x0 has 4 numbers",
        ),
        (
            {"constraints": optimize.NonlinearConstraint(lambda x: x[:2], [0.0] * 3, 1.0)},
            ValueError,
            r"a constraint has 2 numbers, and limits of shapes \(3,\) and \(\)",
        ),
        (
            {"constraints": {"type": "eq", "fun": lambda x: None}},
            TypeError,
            "minimize_ipopt: a constraint returned NoneType; expected an array",
        ),
        ({"callback": print}, ValueError, "IPOPT tells a callback no x"),
    ],
)
@pytest.mark.usefixtures("stand_in")
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        optim.minimize(hs071, START, "ipopt", **options)


@pytest.mark.usefixtures("stand_in")
def test_bad_functions():
    with pytest.raises(wg.ShapeError, match=r"returned shape \(4,\); expected one number"):
        optim.minimize_ipopt(lambda x: x, START)
    with pytest.raises(wg.DtypeError, match="minimize_ipopt: the function returned complex128"):
        optim.minimize_ipopt(lambda x: wg.sum(x) * 1j, START)
    with pytest.raises(ValueError, match="minimize_ipopt: the function of x0 is nan"):
        optim.minimize_ipopt(lambda x: wg.sum(x) * np.nan, START)
