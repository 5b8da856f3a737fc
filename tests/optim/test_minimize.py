"""minimize: the bridge to scipy.optimize."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

import wengert as wg
from tests.optim.trees import Layer, float_sum, numbers
from wengert import optim

# -- minimize ---------------------------------------------------------------------------------


def rosenbrock(x):
    return wg.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def plain_rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


WITHOUT_GRADIENT = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]
WITH_GRADIENT = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", None]
WITH_HESSIAN = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr", "trust-exact", "dogleg"]
TOLERANCES = {"COBYLA": 1e-5}  # it is slow
OPTIONS = {"COBYLA": {"maxiter": 20000}, "TNC": {"maxfun": 5000}, "SLSQP": {"maxiter": 500}}


def test_every_method_of_scipy_is_listed():
    known = {*WITHOUT_GRADIENT, *WITH_GRADIENT, *WITH_HESSIAN} - {None}
    methods = optimize._minimize.MINIMIZE_METHODS
    assert set(methods) <= {name.lower() for name in known}


@pytest.mark.parametrize("method", WITHOUT_GRADIENT + WITH_GRADIENT + WITH_HESSIAN)
def test_rosenbrock_in_two_dimensions(method):
    start = [1.2, 1.2] if method == "dogleg" else [0.6, 0.5]  # it needs a convex function
    x0 = np.array(start)
    tol = TOLERANCES.get(method, 1e-8)
    found = optim.minimize(rosenbrock, x0, method, tol=tol, options=OPTIONS.get(method))
    assert found.success, found.message
    if method == "COBYLA":  # where it stops in the flat valley depends on rounding
        assert found.fun < 1e-3
    else:
        np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    assert x0.tolist() == start


@pytest.mark.parametrize("method", WITH_GRADIENT + WITH_HESSIAN)
def test_rosenbrock_in_twenty_dimensions(method):
    x0 = np.full(20, 1.2) if method == "dogleg" else np.linspace(0.2, 1.2, 20)
    found = optim.minimize(rosenbrock, x0, method, tol=1e-10, options=OPTIONS.get(method))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    if method in ("Newton-CG", "trust-exact", "dogleg", "trust-ncg", "trust-krylov"):
        np.testing.assert_allclose(found.x, 1.0, atol=1e-7)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP", "trust-constr"])
def test_fewer_evaluations_than_finite_differences(method):
    calls = [0, 0]

    def counted(x):
        calls[0] += 1
        return rosenbrock(x)

    def plain(x):
        calls[1] += 1
        return plain_rosenbrock(x)

    x0 = np.linspace(0.2, 1.2, 20)
    exact = optim.minimize(counted, x0, method, options={"maxiter": 100})
    rough = optimize.minimize(plain, x0, method=method, options={"maxiter": 100})
    assert exact.fun <= rough.fun + 1e-6
    assert calls[0] < calls[1] / 4


def test_hessians_are_used():
    """Newton's method solves a quadratic at once, if the products are right."""
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.0]])

    def quadratic(x):
        return 0.5 * (x @ wg.asarray(matrix) @ x) - wg.sum(x)

    for method in WITH_HESSIAN:
        found = optim.minimize(quadratic, np.zeros(3), method)
        np.testing.assert_allclose(found.x, np.linalg.solve(matrix, np.ones(3)), atol=1e-5)
        if method in ("Newton-CG", "dogleg", "trust-exact"):
            assert found.nit <= 4
    exact = optim.minimize(rosenbrock, np.zeros(10), "Newton-CG")
    rough = optim.minimize(rosenbrock, np.zeros(10), "Newton-CG", hess=None)
    assert exact.nhev > 0 == rough.nhev
    assert exact.njev < rough.njev


def test_the_hessian_is_the_right_one():
    from wengert.optim import vectors

    x = np.linspace(-1.0, 1.3, 6)
    space = vectors.Space({"a": x[:2], "b": [x[2:5].reshape(3, 1), x[5]]}, "test")

    def fun(tree):
        parts = [tree["a"], wg.reshape(tree["b"][0], (-1,)), wg.reshape(tree["b"][1], (1,))]
        return rosenbrock(wg.concat(parts))

    objective = vectors.Objective(fun, (), space)
    for place in (x, x + 0.1, x):
        expected = optimize.rosen_hess(place)
        np.testing.assert_allclose(objective.hessian(place), expected, rtol=1e-12, atol=1e-12)
        value, slope = objective.value_and_gradient(place)
        assert value == pytest.approx(optimize.rosen(place))
        np.testing.assert_allclose(slope, optimize.rosen_der(place), rtol=1e-12)


def test_many_missing_leaves_are_not_all_listed():
    optimiser = optim.SGD(0.1)
    params = [np.ones(1)] * 10
    with pytest.raises(wg.ShapeError, match=r"params\[3\] and 6 more; give it the structure"):
        optimiser.step(params, [], optimiser.init(params))


def test_a_linear_function_has_a_hessian_of_zero():
    found = optim.minimize(
        lambda x: wg.sum(x), np.ones(2), "trust-constr", bounds=optimize.Bounds(-1.0, 2.0)
    )
    np.testing.assert_allclose(found.x, -1.0, atol=1e-2)


def logistic(random=None):
    random = np.random.default_rng(0)
    inputs = random.standard_normal((80, 3))
    labels = (inputs @ np.array([1.0, -2.0, 0.5]) + 0.3 + random.standard_normal(80) > 0) * 1.0

    def loss(model, strength):
        score = inputs @ model["weights"] + model["bias"]
        likelihood = wg.mean(wg.logaddexp(0.0, score) - labels * score)
        return likelihood + strength * wg.sum(model["weights"] ** 2)

    return loss


@pytest.mark.parametrize("method", WITH_GRADIENT + WITH_HESSIAN)
def test_logistic_regression_of_a_dict(method):
    loss = logistic()
    x0 = {"weights": np.full(3, 0.1), "bias": 0.0}
    tol = 1e-5 if method == "trust-krylov" else 1e-9  # close to the end it divides 0 by 0
    found = optim.minimize(loss, x0, method, args=(0.01,), tol=tol)
    assert set(found.x) == {"weights", "bias"}
    assert type(found.x["weights"]) is np.ndarray and type(found.x["bias"]) is np.float64
    slope = wg.grad(loss)(found.x, 0.01)
    assert np.max(np.abs(slope["weights"])) < 1e-4 and abs(slope["bias"]) < 1e-4


def test_kinds_and_forms_come_back():
    x0 = [wg.ones((2, 2)), (np.ones(1, np.float32), wg.Variable([1.0])), Layer(np.ones(2)), 2.0]

    def fun(x):
        a, (b, c), layer, d = x
        assert all(type(v) is wg.Tensor for v in (a, b, c, layer.weight, d))
        return sum(
            wg.sum((wg.astype(v, wg.float64) - 3.0) ** 2) for v in (a, b, c, layer.weight, d)
        )

    for method in ("BFGS", "Powell", "trust-ncg"):
        found = optim.minimize(fun, x0, method)
        a, (b, c), layer, d = found.x
        assert type(a) is type(c) is wg.Tensor and type(b) is type(layer.weight) is np.ndarray
        assert (a.shape, b.dtype, layer.width, type(d)) == ((2, 2), np.float32, 3, np.float64)
        for value in (a, b, c, layer.weight, d):
            np.testing.assert_allclose(numbers(value), 3.0, atol=1e-2)
    assert x0[1][1].numpy() == 1.0


def test_arrays_of_other_libraries():
    x0 = {"a": jnp.zeros(2), "b": array_api_strict.zeros(2)}
    found = optim.minimize(
        lambda x: float_sum((x["a"] - 1.0) ** 2) * 0.0 + wg.sum((x["b"] - 2.0) ** 2), x0
    )
    assert type(found.x["a"]) is type(x0["a"]) and type(found.x["b"]) is type(x0["b"])
    np.testing.assert_allclose(np.asarray(found.x["b"]), 2.0, atol=1e-5)


@pytest.mark.parametrize(
    "method", ["L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Nelder-Mead", None]
)
def test_bounds(method):
    x0 = np.array([0.5, 0.5])
    for bounds in ([(0.0, 0.8), (None, 2.0)], optimize.Bounds([0.0, -np.inf], [0.8, 2.0])):
        found = optim.minimize(rosenbrock, x0, method, bounds=bounds)
        np.testing.assert_allclose(found.x, [0.8, 0.64], atol=1e-2)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_pair_bounds_a_bare_array(size):
    x0 = np.full(size, 2.0)
    found = optim.minimize(lambda x: wg.sum((x + 1.0) ** 2), x0, bounds=(0.5, None))
    np.testing.assert_allclose(found.x, np.full(size, 0.5))
    found = optim.minimize(lambda x: wg.sum((x - 9.0) ** 2), x0, bounds=(None, np.full(size, 3.0)))
    np.testing.assert_allclose(found.x, np.full(size, 3.0))


def test_two_pairs_bound_two_elements():
    bounds = ([1.0, 2.0], [3.0, 4.0])  # for each element (low, high), as SciPy takes them
    found = optim.minimize(lambda x: wg.sum(x**2), np.array([1.5, 3.5]), bounds=bounds)
    np.testing.assert_allclose(found.x, [1.0, 3.0])


def test_bounds_of_a_nest():
    def fun(x):
        return wg.sum((x["a"] - 3.0) ** 2) + wg.sum((x["b"][0] + 3.0) ** 2)

    x0 = {"a": np.zeros((2, 2)), "b": [np.zeros(2)]}
    bounds = {"a": (None, np.array([[1.0, 5.0], [2.0, 3.0]])), "b": [(-1, 10.0)]}
    found = optim.minimize(fun, x0, bounds=bounds)
    np.testing.assert_allclose(found.x["a"], [[1.0, 3.0], [2.0, 3.0]], atol=1e-5)
    np.testing.assert_allclose(found.x["b"][0], -1.0)
    low = optim.minimize(fun, x0, bounds=optimize.Bounds(-2.0, 0.5))
    np.testing.assert_allclose(low.x["a"], 0.5)
    with pytest.raises(wg.ShapeError, match=r"a bound of x0\['a'\] has shape \(3,\)"):
        optim.minimize(fun, x0, bounds={"a": (np.zeros(3), None), "b": [(None, None)]})
    with pytest.raises(ValueError, match=r"the bounds of x0\['b'\]\[0\] are 1.0"):
        optim.minimize(fun, x0, bounds={"a": (None, None), "b": [1.0]})
    with pytest.raises(wg.ShapeError, match=r"bounds has nothing for x0\['b'\]\[0\]"):
        optim.minimize(fun, x0, bounds={"a": (None, None)})


def disc(x):
    return 1.5 - x["p"][0] ** 2 - x["p"][1] ** 2


def tilt(x):
    return wg.sum(x["p"]) + x["q"] ** 2


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA", "COBYQA", None])
@pytest.mark.parametrize("style", ["old", "new"])
def test_constraints(method, style):
    """The least of p0 + p1 + q² in a disc: on its rim."""
    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}
    if style == "old":
        constraints: Any = {"type": "ineq", "fun": disc}
    else:
        constraints = [optimize.NonlinearConstraint(disc, 0.0, np.inf)]
    found = optim.minimize(tilt, x0, method, constraints=constraints)
    np.testing.assert_allclose(found.x["p"], -math.sqrt(0.75), atol=1e-3)
    np.testing.assert_allclose(found.x["q"], 0.0, atol=1e-2)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_of_several_values(method):
    def both(x, total):
        return [x[0] * x[1] - 2.0, wg.sum(x) - total]

    def fun(x):
        return wg.sum(x**2)

    constraints = [
        {"type": "eq", "fun": both, "args": (4.0,)},
        optimize.LinearConstraint([[1.0, 0.0, 0.0]], 1.0, 3.0),
    ]
    found = optim.minimize(fun, np.array([1.5, 1.5, 1.0]), method, constraints=constraints)
    assert abs(found.x[0] * found.x[1] - 2.0) < 1e-6 and abs(np.sum(found.x) - 4.0) < 1e-6
    other = optimize.minimize(
        lambda x: np.sum(x**2),
        [1.5, 1.5, 1.0],
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda x: [x[0] * x[1] - 2.0, np.sum(x) - 4.0]},
            {"type": "ineq", "fun": lambda x: [x[0] - 1.0, 3.0 - x[0]]},
        ],
    )
    assert found.fun == pytest.approx(other.fun, abs=1e-4)


def test_derivatives_of_constraints():
    """What the bridge hands to SciPy, against central differences."""
    from wengert.optim import vectors

    def fun(x):
        return {"a": x["p"][0] * wg.exp(x["p"][1]), "b": [wg.sin(x["q"]) * x["p"]]}

    space = vectors.Space({"p": np.array([0.3, -0.2]), "q": 0.7}, "test")
    constraint = vectors.VectorFunction(fun, (), space, "a constraint")
    x, step = space.start, 1e-5
    assert constraint.value(x).shape == (3,)
    jacobian = constraint.jacobian(x)
    weights = np.array([1.0, -2.0, 0.5])
    hessian = constraint.hessian(x, weights) @ np.eye(3)
    for i, unit in enumerate(np.eye(3)):
        ahead, behind = x + step * unit, x - step * unit
        slope = (constraint.value(ahead) - constraint.value(behind)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, i], slope, atol=1e-9)
        bend = weights @ (constraint.jacobian(ahead) - constraint.jacobian(behind)) / (2 * step)
        np.testing.assert_allclose(hessian[:, i], bend, atol=1e-9)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_derivatives_of_constraints_that_are_given(method):
    calls = []

    def jacobian(x):
        calls.append(x)
        return np.array([[-2 * x["p"][0], -2 * x["p"][1], 0.0]])

    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}
    old = {"type": "ineq", "fun": disc, "jac": jacobian}
    new = optimize.NonlinearConstraint(
        disc, 0.0, np.inf, jac=jacobian, hess=lambda x, v: v[0] * np.diag([-2.0, -2.0, 0.0])
    )
    for constraint in [old] + [new] * (method == "trust-constr"):
        calls.clear()
        found = optim.minimize(tilt, x0, method, constraints=constraint)
        np.testing.assert_allclose(found.x["p"], -math.sqrt(0.75), atol=1e-3)
        assert calls and set(calls[0]) == {"p", "q"}


def test_callbacks_get_x_in_its_form():
    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}

    def fun(x):
        return wg.sum((x["p"] - 1.0) ** 4) + x["q"] ** 2

    seen: list[Any] = []
    optim.minimize(fun, x0, "BFGS", callback=lambda x: seen.append(x["p"]))
    assert len(seen) > 2 and type(seen[-1]) is np.ndarray

    def by_name(intermediate_result):
        seen.append(intermediate_result.x["q"])
        if len(seen) == 2:
            raise StopIteration

    seen.clear()
    found = optim.minimize(fun, x0, "L-BFGS-B", callback=by_name)
    assert len(seen) == 2 and "StopIteration" in str(found.message)
    seen.clear()
    optim.minimize(fun, x0, "trust-constr", callback=lambda x, result: seen.append(x["q"]))
    assert seen
    seen.clear()
    optim.minimize(fun, x0, "TNC", callback=lambda x: seen.append(x["q"]))
    assert seen


def test_a_method_of_ones_own():
    def newton(fun, x0, args, jac, hessp, **options):
        hessian = np.stack([hessp(x0, unit) for unit in np.eye(x0.size)])
        x = x0 - np.linalg.solve(hessian, jac(x0))
        return optimize.OptimizeResult(x=x, fun=fun(x), success=True)

    found = optim.minimize(lambda x: wg.sum((x["a"] - 2.0) ** 2), {"a": np.zeros(2)}, newton)
    np.testing.assert_allclose(found.x["a"], 2.0)


def test_nan_on_the_way_is_left_to_scipy():
    found = optim.minimize(
        lambda x: wg.sum(x - wg.log(x)), np.array([0.1, 5.0]), "L-BFGS-B", bounds=[(0.01, None)] * 2
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optim.minimize(lambda x: x, np.ones(2)), wg.ShapeError, r"returned shape \(2,\)"),
        (
            lambda: optim.minimize(lambda x: x, np.ones(2), "Nelder-Mead"),
            wg.ShapeError,
            r"minimize: the function returned \(2,\); expected one number",
        ),
        (
            lambda: optim.minimize(lambda x: None, np.ones(2), "Powell"),
            wg.ShapeError,
            "the function returned NoneType",
        ),
        (lambda: optim.minimize(lambda x: None, np.ones(2)), TypeError, "returned NoneType"),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) * 1j, np.ones(2)),
            wg.DtypeError,
            r"returned complex128; expected a real number, for example wg.real\(z\)",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) * np.nan, np.ones(2)),
            ValueError,
            "the function of x0 is nan; begin where it is finite",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) + np.inf, np.ones(2), "Powell"),
            ValueError,
            "the function of x0 is inf",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x["b"] ** 0.5) + x["a"], {"a": 1.0, "b": 0.0}),
            ValueError,
            r"its derivative with respect to x0\['b'\] is inf",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x["n"]), {"n": np.arange(3)}),
            wg.DtypeError,
            r"minimize: x0\['n'\] has dtype int64; expected real floating numbers",
        ),
        (lambda: optim.minimize(wg.sum, np.ones(2) * 1j), wg.DtypeError, "x0 has dtype complex128"),
        (lambda: optim.minimize(wg.sum, {"a": None}), TypeError, r"x0\['a'\] is None"),
        (lambda: optim.minimize(wg.sum, []), ValueError, "x0 has no numbers"),
        (lambda: optim.minimize(wg.sum, np.ones(2), hess="exact"), ValueError, "'hvp' or None"),
        (lambda: optim.minimize(wg.sum, np.ones(2), "Newton"), ValueError, "Unknown solver"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_bad_minimization(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_functions_that_lose_the_way_back_to_x():
    with pytest.warns(wg.UnconnectedWarning, match="does not depend on the argument"):
        optim.minimize(lambda x: float_sum(x**2), np.ones(2))
    with pytest.warns(
        wg.UnconnectedWarning, match=r"jacobian\(<lambda>\): the result does not depend"
    ):
        optim.minimize(
            lambda x: wg.sum(x**2),
            np.ones(2),
            "SLSQP",
            constraints={"type": "ineq", "fun": lambda x: float_sum(x)},
        )
