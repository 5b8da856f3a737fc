"""IPOPT itself, by way of cyipopt, on problems with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import wengert as wg
from wengert import optim

pytestmark = pytest.mark.peers
pytest.importorskip("cyipopt", reason="cyipopt is built against IPOPT, which is no Python package")

HS071: dict[str, Any] = {
    "bounds": [(1.0, 5.0)] * 4,
    "constraints": [
        {"type": "ineq", "fun": lambda x: wg.prod(x) - 25.0},
        {"type": "eq", "fun": lambda x: wg.sum(x**2) - 40.0},
    ],
}
START = np.array([1.0, 5.0, 5.0, 1.0])


def hs071(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


@pytest.mark.parametrize("hess", ["hvp", None])
def test_hs071(hess):
    found = optim.minimize(hs071, START, "ipopt", hess=hess, **HS071)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, [1.0, 4.74299963, 3.82114998, 1.37940829], atol=1e-6)
    assert found.fun == pytest.approx(17.0140173, abs=1e-6)
    np.testing.assert_allclose(found.v, [-0.55229366, 0.16146857], atol=1e-6)
    assert found.nit > 0 and (found.nhev > 0) == (hess is not None)


def test_ipopt_finds_no_fault_with_the_derivatives(capfd):
    options = {"derivative_test": "second-order", "disp": True, "maxiter": 1}
    optim.minimize_ipopt(hs071, START, **HS071, options=options)
    told = capfd.readouterr().out
    assert "No errors detected by derivative checker." in told


@pytest.mark.parametrize("steps", [50, 400])
def test_optimal_control(steps):
    """A pendulum that is to be swung up by a force that has a limit: all derivatives are sparse."""
    h = 4.0 / steps

    def effort(z):
        return wg.sum(z["force"][1:] ** 2 + z["force"][:-1] ** 2) * (h / 2)

    def dynamics(z):
        p, v = z["angle"], z["speed"]
        a = z["force"] - 5.0 * wg.sin(p)
        return {
            "move": p[1:] - p[:-1] - h / 2 * (v[1:] + v[:-1]),
            "push": v[1:] - v[:-1] - h / 2 * (a[1:] + a[:-1]),
            "ends": [p[0], v[0], p[-1] - np.pi, v[-1]],
        }

    z0 = {name: np.zeros(steps + 1) for name in ("force", "angle", "speed")}
    bounds = {"force": (-4.0, 4.0), "angle": (None, None), "speed": (None, None)}
    found = optim.minimize(
        effort, z0, "ipopt", bounds=bounds, constraints={"type": "eq", "fun": dynamics}
    )
    assert found.success, found.message
    z = found.x
    assert np.max(np.abs(z["force"])) <= 4.0 + 1e-6
    assert z["angle"][-1] == pytest.approx(np.pi)
    assert np.max(np.abs(wg.optim.ravel(dynamics(z))[0])) < 1e-7
    # what the force does, by an integrator that knows nothing of the constraints
    times = h * np.arange(steps + 1)

    def pendulum(t, y):
        return [y[1], np.interp(t, times, z["force"]) - 5.0 * wg.sin(y[0])]

    options = {"rtol": 1e-8, "max_step": h}
    swung = optim.solve_ivp(pendulum, (0.0, 4.0), np.zeros(2), "RK45", options=options)
    assert swung.y[0, -1] == pytest.approx(np.pi, abs=20 * h)


def test_linear_constraints_and_none():
    found = optim.minimize(
        lambda x: wg.sum(x * np.array([1.0, 2.0, 3.0])),
        np.ones(3),
        "ipopt",
        bounds=[(0.0, None)] * 3,
        constraints=optimize.LinearConstraint(np.ones((1, 3)), 1.0, np.inf),
    )
    assert found.success
    np.testing.assert_allclose(found.x, [1.0, 0.0, 0.0], atol=1e-6)
    found = optim.minimize(lambda x: wg.sum((x - 1.0) ** 2), np.zeros(3), "ipopt")
    np.testing.assert_allclose(found.x, 1.0)


def test_errors_come_out_of_ipopt():
    def fun(x):
        if x[0].numpy() > 1.0:
            raise KeyError("beyond")
        return wg.sum((x - 5.0) ** 2)

    with pytest.raises(KeyError, match="beyond"):
        optim.minimize(fun, np.zeros(2), "ipopt")
