"""implicit_function: derivatives of solutions, against closed forms and differences."""

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import linalg as sparse_linalg

import wengert as wg

METHODS = ["dense", "gmres", lambda a, b: sparse_linalg.bicgstab(a, b, rtol=1e-13)[0]]
NAMES = ["dense", "gmres", "callable"]


def close(a, b, rtol=1e-9, atol=1e-12):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=atol)


def differences(f, x, h=1e-5):
    """Return the Jacobian of a function of a vector, by central differences."""
    x = np.asarray(x, float)
    columns = [
        (np.asarray(f(x + h * e)) - np.asarray(f(x - h * e))) / (2 * h) for e in np.eye(x.size)
    ]
    return np.stack(columns, axis=-1)


def square_root(linear_solve):
    return wg.implicit_function(
        lambda a: np.sqrt(a), residual=lambda x, a: x * x - a, linear_solve=linear_solve
    )


# -- square roots: everything in closed form --------------------------------------------------


@pytest.mark.parametrize("method", [*METHODS, "cg", "auto"], ids=[*NAMES, "cg", "auto"])
def test_square_roots_of_any_order_in_both_modes(method):
    root = square_root(method)
    a, v = np.array([0.5, 2.0, 3.0]), np.array([1.0, -2.0, 0.5])
    close(root(a), np.sqrt(a))
    first, second, third = a**-0.5 / 2, -(a**-1.5) / 4, 3 * a**-2.5 / 8

    def total(a):
        return wg.sum(root(a))

    close(wg.grad(total)(a), first)
    close(wg.jvp(root, (a,), (v,))[1], first * v)
    close(wg.jacobian(root)(a), np.diag(first))
    close(wg.jacobian(root, mode="forward")(a), np.diag(first))
    close(wg.hessian(total)(a), np.diag(second))
    close(wg.hvp(total, (a,), (v,))[0], second * v)  # forward over reverse

    def slope(a):
        return wg.sum(wg.jvp(root, (a,), (np.ones(3),))[1])

    close(wg.grad(slope)(a), second)  # reverse over forward
    close(wg.jvp(slope, (a,), (v,))[1], np.sum(second * v))  # forward over forward
    close(wg.grad(lambda a: wg.sum(wg.grad(slope)(a)))(a), third)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_square_roots_under_vmap(method):
    root = square_root(method)
    a = np.array([[0.5, 2.0], [3.0, 4.0], [5.0, 6.0]])
    first, second = a**-0.5 / 2, -(a**-1.5) / 4
    close(wg.vmap(root)(a), np.sqrt(a))
    close(wg.vmap(wg.vmap(root))(a), np.sqrt(a))
    close(wg.grad(lambda a: wg.sum(wg.vmap(root)(a)))(a), first)
    close(wg.vmap(wg.grad(lambda a: wg.sum(root(a))))(a), first)
    close(wg.jvp(wg.vmap(root), (a,), (np.ones_like(a),))[1], first)
    close(wg.vmap(wg.jacobian(root))(a), [np.diag(row) for row in first])
    close(wg.vmap(wg.hessian(lambda a: wg.sum(root(a))))(a), [np.diag(row) for row in second])
    close(wg.grad(lambda a: wg.sum(wg.vmap(wg.grad(lambda a: wg.sum(root(a))))(a)))(a), second)
    scaled = wg.implicit_function(
        lambda a, b: np.sqrt(a) * b,
        residual=lambda x, a, b: x * x - a * b * b,
        linear_solve=method,
    )
    by_a, by_b = wg.grad(
        lambda a, b: wg.sum(wg.vmap(scaled, in_axes=(0, None))(a, b)), argnums=(0, 1)
    )(a, 2.0)
    close(by_a, 2 * first)
    close(by_b, np.sum(np.sqrt(a)))


def test_no_examples():
    root = square_root("dense")
    assert wg.vmap(root)(np.ones((0, 2))).shape == (0, 2)
    assert wg.grad(lambda a: wg.sum(wg.vmap(root)(a)))(np.ones((0, 2))).shape == (0, 2)


def test_float32_stays_float32():
    root = square_root("auto")
    a = np.array([4.0, 9.0], np.float32)
    gradient = wg.grad(lambda a: wg.sum(root(a)))(a)
    assert gradient.dtype == np.float32
    close(gradient, [0.25, 1 / 6], rtol=1e-6)
    close(wg.grad(lambda a: wg.sum(square_root("gmres")(a)))(a), [0.25, 1 / 6], rtol=1e-5)


@pytest.mark.parametrize("method", ["dense", "gmres"])
def test_arrays_of_another_library(method):
    strict = pytest.importorskip("array_api_strict")
    a = strict.asarray([4.0, 9.0])
    gradient = wg.grad(lambda a: wg.sum(square_root(method)(a)))(a)
    assert type(gradient) is type(a)
    close(gradient, [0.25, 1 / 6])


# -- systems of equations ---------------------------------------------------------------------


def equations(x, t):
    return np.stack([x[0] + t[0] * np.sin(x[1]) - t[1], x[1] ** 3 + t[2] * np.cos(x[0]) - t[0]])


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_nonlinear_system_by_scipy(method):
    @wg.implicit_function(residual=equations, linear_solve=method)
    def solve(t):
        assert type(t) is np.ndarray and t.flags.writeable
        found = optimize.root(equations, np.ones(2), args=(t,), tol=1e-13)
        assert found.success
        return found.x

    t = np.array([0.7, 2.0, 0.5])
    close(wg.jacobian(solve)(t), differences(solve, t), rtol=1e-7)
    close(wg.jacobian(solve, mode="forward")(t), differences(solve, t), rtol=1e-7)
    loss = wg.grad(lambda t: wg.sum(solve(t) ** 3))
    close(wg.jacobian(loss)(t), differences(loss, t), rtol=1e-6)
    both = wg.jacobian(wg.jacobian(solve, mode="forward"))(t)
    close(both, differences(wg.jacobian(solve), t), rtol=1e-6)


def test_nests_of_unknowns_and_parameters_and_integers():
    def residual(x, p, power):
        u, (v,) = x["u"], x["v"]
        return {"a": u**power - p["s"], "b": [v * u - p["m"] @ v - p["c"]]}

    def solver(p, power):
        assert type(power) is int
        u = p["s"] ** (1 / power)
        return {"u": u, "v": (np.linalg.solve(u * np.eye(2) - p["m"], p["c"]),)}

    solve = wg.implicit_function(solver, residual=residual)
    p = {
        "s": np.float64(8.0),
        "m": np.array([[0.1, 0.2], [0.3, 0.4]]),
        "c": np.array([1.0, 2.0]),
    }

    def direct(p):
        u = p["s"] ** (1 / 3)
        return wg.sum(wg.linalg.solve(u * wg.eye(2) - p["m"], p["c"]) ** 2) * u

    def total(p):
        x = solve(p, 3)
        return wg.sum(x["v"][0] ** 2) * x["u"]

    mine, theirs = wg.grad(total)(p), wg.grad(direct)(p)
    for key in p:
        close(mine[key], theirs[key])
    ones = {k: np.ones_like(v) for k, v in p.items()}
    mine, theirs = wg.hvp(total, (p,), (ones,))[0], wg.hvp(direct, (p,), (ones,))[0]
    for key in p:
        close(mine[key], theirs[key])


def test_complex_unknowns_also_of_equations_that_are_not_holomorphic():
    def solver(a):  # x + conj(x) / 2 = a
        return np.real(a) / 1.5 + 2j * np.imag(a)

    solve = wg.implicit_function(solver, residual=lambda x, a: x + wg.conj(x) / 2 - a)
    a, w = np.array([1.0 + 2j, 3.0 - 1j]), np.array([0.5 - 1j, 2.0 + 1j])
    _, pull = wg.vjp(solve, a)
    close(pull(w)[0], w.real / 1.5 + 2j * w.imag)
    close(wg.jvp(solve, (a,), (w,))[1], w.real / 1.5 + 2j * w.imag)
    root = wg.implicit_function(np.sqrt, residual=lambda x, a: x * x - a)
    wg.check_grads(lambda a: wg.real(root(a)) * wg.imag(root(a)), [a])


# -- fixed points -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_fixed_point_by_a_loop(method):
    def step(x, w, b):
        return wg.tanh(w @ x + b)

    @wg.implicit_function(fixed_point=step, linear_solve=method)
    def equilibrium(w, b):
        x = np.zeros_like(b)
        for _ in range(200):
            x = np.tanh(w @ x + b)
        return x

    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(3, 3)) / 4, rng.normal(size=3)

    def unrolled(w, b):
        x = wg.zeros(3)
        for _ in range(60):
            x = step(x, w, b)
        return x

    for mine, theirs in zip(
        wg.grad(lambda w, b: wg.sum(equilibrium(w, b) ** 2), argnums=(0, 1))(w, b),
        wg.grad(lambda w, b: wg.sum(unrolled(w, b) ** 2), argnums=(0, 1))(w, b),
        strict=True,
    ):
        close(mine, theirs)
    close(
        wg.hessian(lambda b: wg.sum(equilibrium(w, b) ** 2))(b),
        wg.hessian(lambda b: wg.sum(unrolled(w, b) ** 2))(b),
    )


# -- optima and steady states -----------------------------------------------------------------


def test_the_optimum_of_ridge_regression_by_its_optimality_condition():
    rng = np.random.default_rng(1)
    a, y = rng.normal(size=(10, 3)), rng.normal(size=10)

    def objective(x, penalty):
        return wg.sum((a @ x - y) ** 2) + penalty * wg.sum(x**2)

    @wg.implicit_function(residual=wg.grad(objective), linear_solve="cg")
    def fit(penalty):
        found = wg.optim.minimize(lambda x: objective(x, penalty), np.zeros(3), method="BFGS")
        return np.linalg.solve(a.T @ a + penalty * np.eye(3), a.T @ y) + 0 * np.asarray(found.x)

    inverse = np.linalg.inv(a.T @ a + 2 * np.eye(3))
    x = inverse @ a.T @ y
    close(wg.jvp(fit, (2.0,), (1.0,))[1], -inverse @ x)
    close(wg.grad(lambda p: wg.sum(fit(p)))(2.0), -np.sum(inverse @ x))
    close(wg.grad(wg.grad(lambda p: wg.sum(fit(p))))(2.0), 2 * np.sum(inverse @ inverse @ x))


def test_the_steady_state_of_an_ode():
    from scipy.integrate import solve_ivp

    def rate(x, k):  # a loop of production and decay
        return wg.stack([k[0] / (1 + x[1] ** 2) - x[0], k[1] * x[0] - x[1] * k[2]])

    def plain_rate(_, x, k):
        return [k[0] / (1 + x[1] ** 2) - x[0], k[1] * x[0] - x[1] * k[2]]

    @wg.implicit_function(residual=rate)
    def steady(k):
        return solve_ivp(plain_rate, (0, 200), [1.0, 1.0], args=(k,), rtol=1e-10, atol=1e-12).y[
            :, -1
        ]

    k = np.array([2.0, 1.5, 0.8])

    def exact(k):
        x = optimize.brentq(lambda x: k[0] / (1 + (k[1] * x / k[2]) ** 2) - x, 0, 10, xtol=1e-15)
        return np.array([x, k[1] * x / k[2]])

    close(wg.jacobian(steady)(k), differences(exact, k), rtol=1e-7)
    gradient = wg.grad(lambda k: wg.sum(steady(k) ** 2))
    exact_gradient = wg.grad(lambda k: wg.sum(wg.implicit_function(exact, residual=rate)(k) ** 2))
    close(wg.jacobian(gradient)(k), differences(exact_gradient, k), rtol=1e-6)


# -- many unknowns ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "cg"])
def test_five_thousand_unknowns_without_their_matrix(method):
    from scipy.linalg import solve_banded

    n = 5000

    def residual(x, c, b):  # a tridiagonal equation with a nonlinear term
        left, right = wg.pad(x[:-1], (1, 0)), wg.pad(x[1:], (0, 1))
        return c * x - left - right + x**3 - b

    def bands(x, c):
        table = np.zeros((3, n))
        table[0, 1:] = table[2, :-1] = -1
        table[1] = c + 3 * x * x
        return table

    def solver(c, b):
        x = np.zeros(n)
        for _ in range(30):
            r = c * x + x**3 - b
            r[1:] -= x[:-1]
            r[:-1] -= x[1:]
            x = x - solve_banded((1, 1), bands(x, c), r)
        return x

    solve = wg.implicit_function(solver, residual=residual, linear_solve=method)
    rng = np.random.default_rng(2)
    c, b, w = 3.0, rng.normal(size=n), rng.normal(size=n)
    x = solver(c, b)
    u = solve_banded((1, 1), bands(x, c), w)  # the matrix is symmetric
    by_c, by_b = wg.grad(lambda c, b: wg.sum(w * solve(c, b)), argnums=(0, 1))(c, b)
    close(by_b, u, rtol=1e-7, atol=1e-9)
    close(by_c, -np.sum(u * x), rtol=1e-8)
    close(wg.jvp(solve, (c, b), (0.0, w))[1], u, rtol=1e-7, atol=1e-9)
    second = wg.grad(wg.grad(lambda c: wg.sum(w * solve(c, b))))(c)
    h = 1e-4
    slopes = [
        -np.sum(solve_banded((1, 1), bands(solver(t, b), t), w) * solver(t, b))
        for t in (c - h, c + h)
    ]
    close(second, (slopes[1] - slopes[0]) / (2 * h), rtol=1e-5)


# -- what else it takes -----------------------------------------------------------------------


def test_keyword_arguments_are_the_solvers_alone():
    seen = []

    @wg.implicit_function(residual=lambda x, a: x * x - a)
    def root(a, start=1.0, steps=8):
        seen.append((type(start), steps))
        x = start
        for _ in range(steps):
            x = (x + a / x) / 2
        return x

    def twice(a):
        first = root(a)
        return root(a, start=first, steps=3) + 0 * first

    close(wg.grad(twice)(2.0), 0.5 / np.sqrt(2))
    assert seen[-1] == (np.float64, 3)
    a = np.array([2.0, 3.0])
    close(wg.vmap(wg.grad(twice))(a), 0.5 / np.sqrt(a))
    close(root(2.0, start=wg.Variable(1.5)), np.sqrt(2))


def test_variables_and_tapes():
    a = wg.Variable([4.0, 9.0])
    root = square_root("auto")
    with wg.GradientTape() as tape:
        y = wg.sum(root(a))
    close(tape.gradient(y, a), [0.25, 1 / 6])


def test_a_solver_may_use_wengert_itself_under_vmap():
    @wg.implicit_function(residual=lambda x, a: x**3 - a)
    def root(a):
        x = np.ones_like(a)
        for _ in range(50):
            value, slope = wg.jvp(lambda x: x**3 - a, (x,), (np.ones_like(a),))
            assert type(value) is np.ndarray
            x = x - value / slope
        return x

    a = np.array([[1.0, 8.0], [2.0, 3.0]])
    close(wg.vmap(root)(a), np.cbrt(a))
    close(wg.grad(lambda a: wg.sum(wg.vmap(root)(a)))(a), a ** (-2 / 3) / 3)


# -- what is refused --------------------------------------------------------------------------


def test_a_solution_that_is_none_is_named():
    far = wg.implicit_function(lambda a: np.sqrt(a) + 0.1, residual=lambda x, a: x * x - a)
    assert far(4.0).item() == 2.1  # no derivative is wanted
    with pytest.raises(wg.RuleError, match=r"norm 0\.41, so that x is off by about 0\.0976"):
        wg.grad(far)(4.0)
    with pytest.raises(wg.RuleError, match="off by about"):
        wg.vmap(wg.grad(far))(np.array([4.0, 9.0]))
    loose = wg.implicit_function(
        lambda a: np.sqrt(a) + 0.1, residual=lambda x, a: x * x - a, tolerance=None
    )
    close(wg.grad(loose)(4.0), 1 / 4.2)
    nan = wg.implicit_function(lambda a: a * np.nan, residual=lambda x, a: x * x - a)
    with pytest.raises(wg.RuleError, match="norm nan"):
        wg.grad(nan)(4.0)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_of_the_residual_do_not_matter(scale):
    def solve(error):
        return wg.implicit_function(
            lambda a: np.sqrt(a) * (1 + error), residual=lambda x, a: scale * (x * x - a)
        )

    close(wg.grad(solve(1e-9))(4.0), 0.25, rtol=1e-7)
    with pytest.raises(wg.RuleError, match="off by"):
        wg.grad(solve(1e-2))(4.0)


def test_badly_scaled_equations_are_not_singular():
    s = np.array([1.0, 1e-20, 1e15])
    solve = wg.implicit_function(
        lambda a: a / s, residual=lambda x, a: s * x - a, linear_solve="dense"
    )
    close(wg.jacobian(solve)(s), np.diag(1 / s))


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 4.0]], [[0.1, 0.2], [0.3, 0.6]], [[0.0, 0.0], [0.0, 1.0]]]
)
def test_a_singular_system_is_named(matrix):
    m = np.array(matrix)
    solve = wg.implicit_function(lambda a: a * 0, residual=lambda x, a: m @ x + 0 * a)
    for derivative in (
        wg.grad(lambda a: solve(a)[0]),
        lambda a: wg.vmap(wg.grad(lambda a: solve(a)[0]))(a[None]),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=r"2 x 2 matrix, is\s+singular"):
            derivative(np.ones(2))


def test_a_double_root_is_singular():
    solve = wg.implicit_function(lambda a: a, residual=lambda x, a: (x - a) ** 2)
    with pytest.raises(np.linalg.LinAlgError, match="double root"):
        wg.grad(solve)(3.0)
    iterative = wg.implicit_function(
        lambda a: a, residual=lambda x, a: (x - a) ** 2, linear_solve="gmres"
    )
    with pytest.raises(np.linalg.LinAlgError, match="gmres did not solve"):
        wg.grad(iterative)(3.0)


def test_what_the_equation_reads_must_be_an_argument():
    z = wg.asarray(2.0)

    def outer(z):
        solve = wg.implicit_function(lambda a: np.sqrt(2 * a), residual=lambda x, a: x * x - a * z)
        return solve(z)

    with pytest.raises(wg.RuleError, match="its equation also depends on a recorded tensor"):
        wg.grad(outer)(z)

    def batched(a, z):
        solve = wg.implicit_function(
            lambda a: np.sqrt(2 * a), residual=lambda x, a: x * x - a * z, tolerance=None
        )
        return solve(a)

    with pytest.raises(wg.RuleError, match="also depends"):
        wg.grad(lambda z: wg.sum(wg.vmap(batched)(z, z)))(np.full(2, 2.0))


def test_mistakes_are_explained():
    with pytest.raises(TypeError, match="one of residual=F"):
        wg.implicit_function(np.sqrt)
    with pytest.raises(TypeError, match="one of residual=F"):
        wg.implicit_function(np.sqrt, residual=np.sin, fixed_point=np.sin)
    with pytest.raises(ValueError, match="linear_solve is 'lu'"):
        wg.implicit_function(np.sqrt, residual=np.sin, linear_solve="lu")
    short = wg.implicit_function(lambda a: a, residual=lambda x, a: wg.sum(x - a))
    with pytest.raises(wg.ShapeError, match="residual returned 1 numbers, and there are 2"):
        wg.grad(lambda a: wg.sum(short(a)))(np.ones(2))
    whole = wg.implicit_function(lambda a: 1, residual=lambda x, a: x - a)
    with pytest.raises(wg.DtypeError, match="the solver returned int64"):
        whole(1.0)
    result = wg.implicit_function(
        lambda a: optimize.root(lambda x: x - a, 0.0), residual=lambda x, a: x - a
    )
    with pytest.raises(TypeError, match="the solver's result"):
        result(1.0)
