"""Systems of equations and differential equations, on problems with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, sparse

import wengert as wg
from wengert import optim

# -- equations ------------------------------------------------------------------------------------


def bratu(n, strength):
    """Return the equations u'' + strength exp(u) = 0 between zeros, and their lower solution."""
    step = 1 / (n + 1)

    def residuals(u):
        wide = wg.pad(u, 1)
        return (wide[2:] - 2 * u + wide[:-2]) / step**2 + strength * wg.exp(u)

    theta = optimize.brentq(lambda t: t - np.sqrt(2 * strength) * np.cosh(t / 4), 0, 4)
    x = np.arange(1, n + 1) * step
    return residuals, -2 * np.log(np.cosh((x - 0.5) * theta / 2) / np.cosh(theta / 4))


@pytest.mark.parametrize("method", ["krylov", "newton", "hybr", "lm"])
@pytest.mark.parametrize("n", [20, 120])
def test_bratu(method, n):
    residuals, expected = bratu(n, 2.0)
    found = optim.root(residuals, np.zeros(n), method)
    assert found.success, found.message
    assert np.max(np.abs(found.fun)) < 1e-4
    np.testing.assert_allclose(found.x, expected, atol=0.05 / n)


def bratu_2d(n, count=None):
    def residuals(u):
        if count is not None:
            count.append(1)
        wide = np.pad(u, 1)
        beside = wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2]
        return (beside - 4 * u) * (n + 1) ** 2 + 6 * np.exp(u)

    return residuals


def test_products_replace_evaluations():
    """Where SciPy calls the function for each product, here it is recorded once for each step."""
    ours, theirs = [], []
    found = optim.root(bratu_2d(30, ours), np.zeros((30, 30)), "krylov", tol=1e-6)
    other = optimize.root(bratu_2d(30, theirs), np.zeros((30, 30)), method="krylov", tol=1e-6)
    assert found.success and other.success
    np.testing.assert_allclose(found.x, other.x, atol=1e-6)
    assert np.max(np.abs(found.fun)) < 1e-6
    assert len(ours) < len(theirs) / 2


@pytest.mark.parametrize("inner", ["lgmres", "gmres", "bicgstab"])
def test_inner_solvers_and_preconditioners(inner):
    n = 20
    laplacian = optim.linear_operator(lambda u: bratu_2d(n)(u) - 6 * np.exp(u), np.zeros((n, n)))
    inverse = np.linalg.inv(laplacian @ np.eye(n * n))
    made = []

    def preconditioner(u):
        made.append(u.shape)
        return inverse

    for M in (None, inverse, preconditioner):
        inside = {"method": inner, "inner_M": M, "inner_maxiter": 200}
        options = {"jac_options": inside, "fatol": 1e-7}
        found = optim.root(bratu_2d(n), np.zeros((n, n)), "krylov", options=options)
        assert found.success and np.max(np.abs(bratu_2d(n)(found.x))) <= 1e-7
    assert len(made) == found.nit and made[0] == (n, n)


@pytest.mark.parametrize("method", ["hybr", "lm", "newton", "krylov", "broyden1"])
def test_trees(method):
    def fun(x, target):
        return {"sum": x["a"][0] + x["a"][1] + x["b"] - target, "parts": [x["a"][0] - 2 * x["b"]],
                "more": x["a"][1] - x["b"] ** 2}  # fmt: skip

    x0 = {"a": wg.asarray([1.0, 0.5]), "b": 0.9}
    found = optim.root(fun, x0, method, args=(4.0,))
    assert found.success and type(found.x["a"]) is wg.Tensor
    assert float(found.x["b"]) == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_allclose(found.x["a"].numpy(), [2.0, 1.0], atol=1e-4)


def test_steps_that_are_too_long_are_shortened():
    """Newton's own step for the arc tangent goes further and further away."""
    for method in ("newton", "krylov"):
        found = optim.root(lambda x: wg.atan(x), np.array([3.0]), method)
        assert found.success and abs(found.x[0]) < 1e-5
    found = optim.root(lambda x: wg.log(x), np.array([6.0]), "newton")  # negative after one step
    assert found.success and found.x[0] == pytest.approx(1.0, abs=1e-5)


def test_where_there_is_no_root():
    found = optim.root(lambda x: x**2 + 1.0, np.array([0.7]), "newton", options={"maxiter": 40})
    assert not found.success and "residuals" in found.message
    found = optim.root(lambda x: x**3, np.array([1.0]), "newton", options={"maxiter": 2})
    assert not found.success and "after 2 steps" in found.message
    with np.errstate(invalid="ignore"):
        found = optim.root(lambda x: wg.sqrt(x), np.array([-1.0]), "newton")
    assert not found.success and "not finite" in found.message


def test_the_callback_gets_x_in_its_form():
    for method in ("newton", "krylov", "broyden1"):
        seen = []
        optim.root(
            lambda x: x["a"] ** 2 - 2.0,
            {"a": np.array([1.5])},
            method,
            callback=lambda x, f, seen=seen: seen.append((x["a"], f)),
        )
        assert seen and abs(seen[-1][0][0] - np.sqrt(2)) < 1e-4 and seen[-1][1].shape == (1,)


# -- differential equations -----------------------------------------------------------------------


def robertson(t, y):
    a, b, c = y
    fast, slow = 1e4 * b * c, 3e7 * b * b
    return [-0.04 * a + fast, 0.04 * a - fast - slow, slow]


@pytest.mark.parametrize("method", ["BDF", "Radau", "LSODA"])
def test_robertson(method):
    """Three rates that differ by nine orders of magnitude."""
    span, y0 = (0.0, 40.0), np.array([1.0, 0.0, 0.0])
    found = optim.solve_ivp(robertson, span, y0, method, options={"rtol": 1e-8, "atol": 1e-12})
    assert found.success and found.njev > 0
    np.testing.assert_allclose(found.y.sum(axis=0), 1.0, atol=1e-10)  # nothing is lost
    other = integrate.solve_ivp(robertson, span, y0, method="Radau", rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.y[:, -1], other.y[:, -1], rtol=1e-5)


def brusselator_1d(n):
    def rate(t, y):
        u, v = y["u"], y["v"]
        far = 0.02 * (n + 1) ** 2
        wide_u, wide_v = wg.pad(u, 1, constant_values=1.0), wg.pad(v, 1, constant_values=3.0)
        spread_u = far * (wide_u[2:] - 2 * u + wide_u[:-2])
        spread_v = far * (wide_v[2:] - 2 * v + wide_v[:-2])
        return {"u": 1 + u**2 * v - 4 * u + spread_u, "v": 3 * u - u**2 * v + spread_v}

    x = np.arange(1, n + 1) / (n + 1)
    return rate, {"u": 1 + np.sin(2 * np.pi * x), "v": np.full(n, 3.0)}


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_brusselator_on_a_line(method):
    n = 60
    rate, y0 = brusselator_1d(n)
    vector, unravel = optim.ravel(y0)
    calls = [0, 0]

    def counted(t, y):
        calls[0] += 1
        return rate(t, y)

    def plain(t, y):
        calls[1] += 1
        return optim.ravel(rate(t, unravel(y)))[0]

    options = {"rtol": 1e-6, "atol": 1e-8}
    found = optim.solve_ivp(counted, (0.0, 5.0), y0, method, options=options)
    other = integrate.solve_ivp(plain, (0.0, 5.0), vector, method=method, **options)
    assert found.success and found.y["u"].shape == (n, len(found.t))
    expected = unravel(other.y[:, -1])
    for name in "uv":
        np.testing.assert_allclose(found.y[name][:, -1], expected[name], rtol=1e-4)
    assert found.nfev <= other.nfev
    assert calls[0] < 0.6 * calls[1]  # SciPy's nfev leaves out those for the Jacobian


def brusselator_2d(n):
    def around(u):
        beside = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        return 0.02 * n * n * (beside - 4 * u)

    def rate(t, y):
        u, v = np.reshape(y, (2, n, n))
        made = u * u * v
        return np.reshape(np.stack([1 + made - 4 * u + around(u), 3 * u - made + around(v)]), (-1,))

    u = 1 + 0.5 * np.sin(2 * np.pi * np.arange(n) / n)[:, None] * np.ones(n)
    return rate, np.stack([u, np.full((n, n), 3.0)]).ravel()


@pytest.mark.parametrize("method", ["Radau", "BDF"])
@pytest.mark.parametrize("way", ["solve_ivp", "jac_for_ivp", "plan"])
def test_brusselator_in_the_plane(method, way):
    rate, y0 = brusselator_2d(9)
    span = (0.0, 1.0)
    plain = integrate.solve_ivp(rate, span, y0, method=method)
    if way == "solve_ivp":
        found = optim.solve_ivp(rate, span, y0, method)
    elif way == "jac_for_ivp":
        jac = optim.jac_for_ivp(rate, 0.0, y0)
        assert sparse.issparse(jac(0.5, y0))
        found = integrate.solve_ivp(rate, span, y0, method=method, jac=jac)
    else:
        plan = wg.sparse.jacobian(rate, 0.0, y0, argnum=1)
        found = integrate.solve_ivp(rate, span, y0, method=method, jac=plan)
    assert found.success
    np.testing.assert_allclose(found.y[:, -1], plain.y[:, -1], rtol=1e-3, atol=1e-5)


def test_arguments_reach_the_jacobian_by_way_of_scipy():
    def rate(t, y, k):
        return -k * y + np.cos(t) * np.roll(y, 1)

    y0 = np.ones(150)
    for jac in (
        optim.jac_for_ivp(rate, 0.0, y0, args=(2.0,)),
        wg.sparse.jacobian(rate, 0.0, y0, 2.0, argnum=1),
    ):
        assert sparse.issparse(jac(0.0, y0, 2.0))
        found = integrate.solve_ivp(rate, (0.0, 1.0), y0, method="BDF", jac=jac, args=(2.0,))
        np.testing.assert_allclose(found.y[:, -1], np.exp(-2 + np.sin(1.0)), rtol=1e-2)


def heat(t, y):
    wide = wg.pad(y, 1)
    return (wide[2:] - 2 * y + wide[:-2]) * 1e4 - y**3


@pytest.mark.parametrize("bands", [{}, {"lband": 1, "uband": 1}, {"lband": 2, "uband": 1}])
def test_lsoda_takes_dense_and_packed_matrices(bands):
    y0 = np.sin(np.linspace(0, 3, 30))
    options = {"rtol": 1e-8, "atol": 1e-10}
    found = optim.solve_ivp(heat, (0.0, 1.0), y0, "LSODA", options={**options, **bands})
    other = optim.solve_ivp(heat, (0.0, 1.0), y0, "Radau", options=options)
    assert found.success and found.njev > 0
    np.testing.assert_allclose(found.y[:, -1], other.y[:, -1], atol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", integrate.Radau])
def test_states_of_any_form(method):
    """A ball that is thrown, its position an array of two by one, with an event where it lands."""

    def flight(t, y, gravity):
        return {
            "place": y["speed"],
            "speed": wg.stack([0.0 * y["speed"][0], y["speed"][0] * 0 - gravity]),
        }

    def landing(t, y, gravity):
        return y["place"][1, 0]

    landing.terminal, landing.direction = True, -1.0
    y0 = {"place": np.array([[0.0], [0.0]]), "speed": wg.asarray([[3.0], [10.0]])}
    found = optim.solve_ivp(
        flight, (0.0, 5.0), y0, method, args=(10.0,), events=landing, dense_output=True,
        t_eval=[0.0, 0.5, 1.0],
    )  # fmt: skip
    assert found.status == 1 and found.t_events[0][0] == pytest.approx(2.0, abs=1e-4)
    assert found.y["place"].shape == (2, 1, 3) and type(found.y["speed"]) is wg.Tensor
    np.testing.assert_allclose(found.y["place"][1, 0], [0.0, 3.75, 5.0], atol=1e-4)
    assert found.y_events[0]["place"].shape == (1, 2, 1)
    np.testing.assert_allclose(found.y_events[0]["place"][0, 0, 0], 6.0, atol=1e-4)
    np.testing.assert_allclose(found.sol(0.5)["place"], [[1.5], [3.75]], atol=1e-4)
    assert found.sol([0.1, 0.2])["place"].shape == (2, 1, 2)


def test_events_that_do_not_happen():
    events = [lambda t, y: y[0] + 1, lambda t, y: y[1] - 0.5]
    found = optim.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.ones(2), events=events)
    assert found.y_events[0].shape == (0, 2) and found.y_events[1].shape == (1, 2)


def test_numbers_as_states():
    found = optim.solve_ivp(lambda t, y: {"a": -y["a"]}, (0.0, 1.0), {"a": 1.0}, "BDF")
    assert found.y["a"].shape == (len(found.t),)
    assert found.y["a"][-1] == pytest.approx(np.exp(-1), rel=1e-2)


def test_a_jacobian_of_ones_own_is_kept():
    calls = []

    def jac(t, y):
        calls.append(t)
        return -np.eye(2)

    optim.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.ones(2), options={"jac": jac})
    assert calls


# -- what bad input gets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: optim.root(lambda x: x[:2], np.ones(3)),
            wg.ShapeError,
            "root: the function returned 2 numbers for an x of 3; .* wg.optim.least_squares",
        ),
        (lambda: optim.root(lambda x: None, np.ones(3)), TypeError, "root: .* returned NoneType"),
        (lambda: optim.root(lambda x: x * 1j, np.ones(3)), wg.DtypeError, "returned complex128"),
        (lambda: optim.root(lambda x: x, np.ones(3) * 1j), wg.DtypeError, "x0 has dtype complex"),
        (lambda: optim.root(lambda x: x, np.ones(3), "secant"), ValueError, "Unknown solver"),
        (
            lambda: optim.root(lambda x: x, np.ones(3), "krylov", options={"ftol": 1.0}),
            ValueError,
            "krylov has no option ftol; there are fatol, maxiter, jac_options",
        ),
        (
            lambda: optim.root(
                lambda x: x, np.ones(3), "krylov", options={"jac_options": {"M": None}}
            ),
            ValueError,
            "jac_options has no option M; there are method, inner_maxiter, inner_M",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: y.T, (0, 1), np.ones((2, 3))),
            wg.ShapeError,
            r"y0 has the shapes \[\(2, 3\)\] and the function returned \[\(3, 2\)\]",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: y["a"], (0, 1), {"a": np.ones(2), "b": 1.0}),
            wg.ShapeError,
            r"y0 has the shapes \[\(2,\), \(\)\] and the function returned \[",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: None, (0, 1), np.ones(2)),
            TypeError,
            "solve_ivp: the function returned .* got NoneType; expected a tensor",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: y * 1j, (0, 1), np.ones(2)),
            wg.DtypeError,
            "returned complex128",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: y, (0, 1), np.ones(2) * 1j),
            wg.DtypeError,
            "y0 has dtype complex128; .* a complex number as two real ones",
        ),
        (
            lambda: optim.solve_ivp(lambda t, y: y, (0, 1), np.ones(2), sparse=None),
            ValueError,
            "solve_ivp: sparse is None",
        ),
        (
            lambda: optim.jac_for_ivp(lambda t, y: y, 0.0, np.ones((2, 2))),
            wg.ShapeError,
            r"y has the shapes \[\(2, 2\)\]; .* write wg.optim.solve_ivp",
        ),
        (
            lambda: optim.jac_for_ivp(lambda t, y: y, 0.0, np.ones(2))(0.0, np.ones(3)),
            wg.ShapeError,
            r"a vector has shape \(3,\); expected \(2,\)",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
