"""least_squares: the bridge to scipy.optimize."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import wengert as wg
from tests.optim.trees import float_sum
from wengert import optim

# -- least squares ----------------------------------------------------------------------------


def decay_curve(times):
    rates = {"start": np.array([2.0, 1.0]), "rate": (1.5, 0.2)}

    def curve(model):
        slow, fast = model["rate"]
        return model["start"][0] * wg.exp(-slow * times) + model["start"][1] * wg.exp(-fast * times)

    values = curve(rates).numpy()
    return rates, lambda model: curve(model) - values


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method):
    rates, residuals = decay_curve(np.linspace(0.0, 5.0, 40))
    x0 = {"start": np.array([1.0, 1.0]), "rate": (1.0, 0.5)}
    found = optim.least_squares(residuals, x0, method, options={"xtol": 1e-12})
    assert found.success
    np.testing.assert_allclose(found.x["start"], rates["start"], rtol=1e-6)
    np.testing.assert_allclose(found.x["rate"], rates["rate"], rtol=1e-6)
    assert type(found.x["rate"]) is tuple and found.jac.shape == (40, 4)


def test_bounds_and_losses_of_least_squares():
    _, residuals = decay_curve(np.linspace(0.0, 5.0, 40))
    x0 = {"start": np.array([1.0, 1.0]), "rate": (1.0, 0.5)}
    bounds = {"start": (0.0, np.array([1.8, 5.0])), "rate": ((None, None), (0.0, None))}
    found = optim.least_squares(residuals, x0, bounds=bounds, loss="soft_l1")
    assert found.x["start"][0] == pytest.approx(1.8, abs=1e-3)
    line = optim.least_squares(
        lambda x, data: x * data - 3.0, np.array([1.0]), args=(np.ones(3),), bounds=(0.0, 2.0)
    )
    np.testing.assert_allclose(line.x, 2.0, atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_jacobians_of_any_shape(count):
    """By rows if they are fewer, by columns otherwise; against each other."""
    from wengert.optim import vectors

    weights = np.random.default_rng(0).standard_normal((count, 3))

    def fun(x):
        return wg.sin(wg.asarray(weights) @ x["p"]) * x["q"]

    space = vectors.Space({"p": np.array([0.3, -0.2, 0.5]), "q": 0.7}, "test")
    function = vectors.VectorFunction(fun, (), space, "the function")
    got = function.jacobian(space.start)
    x = space.start
    inner = weights @ x[:3]
    expected = np.column_stack([np.cos(inner)[:, None] * weights * x[3], np.sin(inner)])
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_bad_least_squares():
    with pytest.raises(wg.DtypeError, match="least_squares: x0 has dtype int64"):
        optim.least_squares(lambda x: x, np.arange(2))
    with pytest.warns(
        wg.UnconnectedWarning, match=r"jacobian\(<lambda>\): the result does not depend"
    ):
        optim.least_squares(lambda x: np.ones(3) * float_sum(x), np.ones(2))


def test_scipy_is_imported_when_it_is_called():
    probe = "import sys, wengert.optim; print('scipy' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"
