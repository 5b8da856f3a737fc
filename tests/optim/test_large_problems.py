"""minimize and least_squares where derivatives are sparse, on problems with known answers."""

from __future__ import annotations

from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, sparse

import wengert as wg
from wengert import optim
from wengert.optim import vectors


def rosenbrock(x):
    return wg.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def start(n):
    return np.random.default_rng(0).uniform(0.5, 1.5, n)


# -- Hessians -------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["auto", True, False])
def test_rosenbrock_of_a_thousand_numbers(choice):
    found = optim.minimize(rosenbrock, start(1000), "Newton-CG", sparse=choice, tol=1e-10)
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


@pytest.mark.parametrize("method", ["trust-ncg", "trust-krylov", "trust-exact"])
def test_other_methods_with_sparse_hessians(method):
    found = optim.minimize(rosenbrock, start(150), method, sparse=True, tol=1e-9)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


def test_a_sparse_hessian_takes_few_recordings():
    """Products by sweeps record the gradient once for each x; so do those by a plan."""
    calls = {}
    for choice in (True, False):
        count = 0

        def counted(x):
            nonlocal count
            count += 1
            return rosenbrock(x)

        optim.minimize(counted, start(200), "Newton-CG", sparse=choice)
        calls[choice] = count
    assert calls[True] <= 2 * calls[False]


@pytest.mark.parametrize("choice", [True, False, "auto"])
@pytest.mark.parametrize("n", [5, 150])
def test_hessians_are_those_of_scipy(choice, n):
    x = start(n)
    space = vectors.Space({"a": x[:2], "b": (x[2:].reshape(-1, 1),)}, "test")

    def fun(tree):
        return rosenbrock(wg.concat([tree["a"], wg.reshape(tree["b"][0], (-1,))]))

    objective = vectors.Objective(fun, (), space, choice)
    expected = optimize.rosen_hess(x)
    np.testing.assert_allclose(objective.hessian(x), expected, rtol=1e-10, atol=1e-10)
    direction = np.cos(np.arange(n))
    np.testing.assert_allclose(
        objective.hessian_times(x, direction), expected @ direction, rtol=1e-10, atol=1e-9
    )
    is_sparse = objective.sparse_hessian(x) is not None
    assert is_sparse == (choice is True or (choice == "auto" and n == 150))


# -- what "auto" takes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fun", "n", "is_sparse"),
    [
        (lambda x: x[1:] * x[:-1], 200, True),
        (lambda x: x[1:] * x[:-1], 50, False),  # not worth it
        (lambda x: wg.cumulative_sum(x), 200, False),
        (lambda x: x * wg.sum(x), 200, False),
        (lambda x: x[:20] ** 2, 200, False),  # few rows
        (lambda x: wg.asarray(np.eye(200) + np.ones((200, 200))) @ x, 200, False),
        (lambda x: wg.fft.irfft(wg.fft.rfft(x)), 200, False),
        (lambda x: wg.where(x > 0, x, 0.0) * wg.roll(x, 1), 200, True),
    ],
)
def test_what_auto_takes_for_sparse(fun, n, is_sparse):
    x = np.random.default_rng(1).standard_normal(n)
    function = vectors.VectorFunction(fun, (), vectors.Space(x, "test"), "the function", "auto")
    found = function.any_jacobian(x)
    assert sparse.issparse(found) == is_sparse
    dense = wg.jacobian(fun)(x)
    np.testing.assert_allclose(found.toarray() if is_sparse else found, dense, atol=1e-12)


def test_a_derivative_that_is_zero_at_the_start_is_judged_by_its_pattern():
    x = np.zeros(200)
    space = vectors.Space(x, "test")
    function = vectors.VectorFunction(lambda x: x * wg.sum(x), (), space, "it", "auto")
    assert not function.is_sparse_at(x)


def test_a_function_that_branches_gets_another_plan():
    def fun(x, side):
        return x[1:] ** 2 if side > 0 else wg.sin(x[:-1]) * 2.0

    x = start(200)
    function = vectors.VectorFunction(fun, (), vectors.Space(x, "test"), "it", True)
    for side in (1, -1, 1, -1):
        expected = wg.jacobian(lambda x, side=side: fun(x, side))(x)
        np.testing.assert_allclose(function.any_jacobian(x, side).toarray(), expected)


def test_indices_that_depend_on_x_get_another_plan():
    """The operations and shapes stay the same, and the elements that are taken do not."""

    def sorted_neighbours(x):
        order = np.argsort(x.numpy())
        return x[order][1:] * x[order][:-1]

    space = vectors.Space(start(120), "test")
    function = vectors.VectorFunction(sorted_neighbours, (), space, "it", True)
    for seed in range(4):
        x = np.random.default_rng(seed).uniform(0.5, 2.0, 120)
        order = np.argsort(x)
        expected = np.zeros((119, 120))
        expected[np.arange(119), order[1:]] = x[order[:-1]]
        expected[np.arange(119), order[:-1]] = x[order[1:]]
        np.testing.assert_allclose(function.any_jacobian(x).toarray(), expected)


@pytest.mark.parametrize(
    "x0",
    [
        {"a": np.ones(60, np.float32), "b": np.ones((60, 2))},
        [wg.ones(60), wg.ones((60, 2))],
        [array_api_strict.ones(60, dtype=array_api_strict.float32), array_api_strict.ones((60, 2))],
        [jnp.ones(60), jnp.ones((60, 2))],
    ],
)
def test_trees_of_any_kind(x0):
    def fun(x):
        a, b = (x["a"], x["b"]) if isinstance(x, dict) else x
        return {"p": a**2, "q": wg.sin(b)}

    space = vectors.Space(x0, "test")
    function = vectors.VectorFunction(fun, (), space, "it", True)
    x = start(180).astype(np.float32).astype(np.float64)
    expected = np.diag(np.concatenate([2 * x[:60], np.cos(x[60:])]))
    np.testing.assert_allclose(function.any_jacobian(x).toarray(), expected, rtol=1e-6)
    np.testing.assert_allclose(function.jacobian(x), expected, rtol=1e-6)


# -- constraints ----------------------------------------------------------------------------------

CHAIN = 120


def hanging_chain(x):
    """Return the height of the links' centre of mass."""
    return wg.mean(x["y"])


def lengths(x):
    """Return the square of the length of each link, over that of a link that is stretched."""
    px = wg.concat([wg.zeros(1), x["x"], wg.asarray([1.0])])
    py = wg.concat([wg.zeros(1), x["y"], wg.zeros(1)])
    return ((px[1:] - px[:-1]) ** 2 + (py[1:] - py[:-1]) ** 2) * (CHAIN + 1.0) ** 2


@pytest.mark.parametrize("choice", ["auto", True])
def test_a_hanging_chain_by_trust_constr(choice):
    """240 unknowns and 121 constraints: the links hang in a catenary."""
    points = np.linspace(0, 1, CHAIN + 2)[1:-1]
    x0 = {"x": points, "y": -2 * points * (1 - points)}
    constraint = optimize.NonlinearConstraint(lengths, 2.25, 2.25)  # as long as 1.5 in all
    found = optim.minimize(
        hanging_chain,
        x0,
        "trust-constr",
        constraints=[constraint],
        sparse=choice,
        options={"maxiter": 200, "gtol": 1e-7},
    )
    assert sparse.issparse(found.jac[0]) and found.constr_violation < 1e-8
    # y = a cosh((x - 1/2) / a) + c, of length 2 a sinh(1 / 2a) = 1.5
    a = optimize.brentq(lambda a: 2 * a * np.sinh(0.5 / a) - 1.5, 0.1, 10)
    expected = a * np.cosh((found.x["x"] - 0.5) / a) - a * np.cosh(0.5 / a)
    np.testing.assert_allclose(found.x["y"], expected, atol=1e-3)


def test_sparse_and_dense_constraints_together():
    """The dense one is a sum over all unknowns."""
    n = 130
    constraints: list[Any] = [
        optimize.NonlinearConstraint(lambda x: x[1:] - x[:-1] ** 2, 0.0, np.inf),
        optimize.NonlinearConstraint(lambda x: wg.sum(x), n * 0.9, np.inf),
        optimize.LinearConstraint(np.ones((1, n)), -np.inf, 2.0 * n),
    ]
    x0 = np.full(n, 0.95)
    found = optim.minimize(lambda x: wg.sum(x**2), x0, "trust-constr", constraints=constraints)
    np.testing.assert_allclose(found.x, 0.9, atol=1e-4)
    assert sparse.issparse(found.jac[0])


def test_hessians_of_constraints():
    x = start(110)
    weights = np.cos(np.arange(109.0))
    space = vectors.Space(x, "test")
    for choice in (True, False):
        function = vectors.VectorFunction(
            lambda x: x[1:] ** 2 * x[:-1], (), space, "a constraint", choice
        )
        for factor in (1.0, 0.0, 2.0):
            found = function.hessian(x, factor * weights) @ np.eye(110)
            expected = np.diag(np.concatenate([[0.0], 2 * weights * x[:-1]]))
            expected += np.diag(2 * weights * x[1:], 1) + np.diag(2 * weights * x[1:], -1)
            np.testing.assert_allclose(found, factor * expected, atol=1e-12)


def test_slsqp_takes_dense_matrices_from_plans():
    n = 100
    found = optim.minimize(
        lambda x: wg.sum((x - 2.0) ** 2),
        np.zeros(n),
        "SLSQP",
        constraints={"type": "eq", "fun": lambda x: x[1::2] - x[::2] ** 2},
    )
    u = optimize.brentq(lambda u: 2 * (u - 2) + 4 * u * (u**2 - 2), 1, 2)
    np.testing.assert_allclose(found.x[::2], u, atol=1e-3)


# -- least squares --------------------------------------------------------------------------------


def bundle(cameras=8, points=40):
    """Return residuals of points seen by cameras that shift, turn and zoom; and the truth."""
    random = np.random.default_rng(0)
    truth = {
        "angle": random.normal(0, 0.2, cameras),
        "shift": random.normal(0, 1, (cameras, 2)),
        "zoom": random.uniform(0.8, 1.2, cameras),
        "points": random.normal(0, 1, (points, 2)),
    }
    who, which = (i.ravel() for i in np.indices((cameras, points)))
    seen = random.uniform(size=who.size) < 0.6
    who, which = who[seen], which[seen]

    def project(x):
        c, s = wg.cos(x["angle"][who]), wg.sin(x["angle"][who])
        p, t, z = x["points"][which], x["shift"][who], x["zoom"][who]
        return wg.stack(
            [z * (c * p[:, 0] - s * p[:, 1]) + t[:, 0], z * (s * p[:, 0] + c * p[:, 1]) + t[:, 1]]
        )

    image = project(truth).numpy()

    def residuals(x):  # the first camera stays, or all could be turned and scaled together
        fixed = [x["angle"][0] - truth["angle"][0], x["zoom"][0] - truth["zoom"][0]]
        return [project(x) - image, *fixed, x["shift"][0] - truth["shift"][0]]

    return truth, residuals


@pytest.mark.parametrize(
    ("choice", "loss"), [("auto", "linear"), (True, "soft_l1"), (False, "linear")]
)
def test_bundle_adjustment(choice, loss):
    truth, residuals = bundle() if choice else bundle(cameras=6, points=15)
    random = np.random.default_rng(1)
    x0 = {name: value + random.normal(0, 0.05, value.shape) for name, value in truth.items()}
    found = optim.least_squares(
        residuals, x0, loss=loss, sparse=choice, options={"xtol": 1e-12, "ftol": 1e-12}
    )
    assert sparse.issparse(found.jac) == (choice is not False)
    for name, value in truth.items():
        np.testing.assert_allclose(found.x[name], value, atol=1e-4)


@pytest.mark.parametrize(("method", "options"), [("lm", {}), ("trf", {"tr_solver": "exact"})])
def test_least_squares_that_take_dense_matrices(method, options):
    found = optim.least_squares(
        lambda x: [10 * (x[1:] - x[:-1] ** 2), 1 - x],
        np.full(40, 0.9),
        method,
        sparse=True,
        options=options,
    )
    assert isinstance(found.jac, np.ndarray)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


# -- what bad input gets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: optim.minimize(wg.sum, np.ones(2), sparse="yes"),
            ValueError,
            "minimize: sparse is 'yes'; write 'auto', True or False",
        ),
        (
            lambda: optim.least_squares(lambda x: x, np.ones(2), sparse=1),
            ValueError,
            "least_squares: sparse is 1",
        ),
        (
            lambda: optim.least_squares(lambda x: None, np.ones(2)),
            TypeError,
            "least_squares: the function returned NoneType; expected an array, or a nest",
        ),
        (
            lambda: optim.least_squares(lambda x: [], np.ones(2)),
            TypeError,
            "least_squares: the function returned an empty nest",
        ),
        (
            lambda: optim.least_squares(lambda x: x * 1j, np.ones(2)),
            wg.DtypeError,
            r"returned complex128; .* return \[wg.real\(z\), wg.imag\(z\)\]",
        ),
        (
            lambda: optim.ravel({"a": np.arange(3)}),
            wg.DtypeError,
            r"ravel: the tree\['a'\] has dtype int64",
        ),
        (
            lambda: optim.ravel(np.ones(3))[1](np.ones(4)),
            wg.ShapeError,
            r"ravel: a vector has shape \(4,\); expected \(3,\)",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_arrays_of_several_libraries_cannot_be_sparse():
    x0 = {"a": np.ones(2), "b": array_api_strict.ones(2)}
    with pytest.raises(ValueError, match="sparse=True needs arrays of one library"):
        optim.minimize(lambda x: wg.sum(x["a"] ** 2), x0, "Newton-CG", sparse=True)


def test_a_sparse_function_that_loses_the_way_back_to_x():
    with pytest.warns(wg.UnconnectedWarning, match="does not depend on the argument"):
        optim.least_squares(lambda x: np.ones(3), np.ones(2), sparse=True)


def test_ravel():
    tree = {"b": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "a": [wg.asarray([5.0]), 6.0]}
    x, unravel = optim.ravel(tree)
    assert x.tolist() == [5.0, 6.0, 1.0, 2.0, 3.0, 4.0] and x.dtype == np.float64
    again = unravel(x + 1)
    assert again["b"].dtype == np.float32 and again["b"].tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert type(again["a"][0]) is wg.Tensor and again["a"][1] == 7.0
