"""Linear operators: against matrices, and in the solvers and eigensolvers of SciPy."""

from __future__ import annotations

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse import linalg

import wengert as wg
from wengert import optim


def model(x, factor=1.0):
    return {"a": wg.sin(x["p"]) * x["q"], "b": [factor * x["q"] ** 2, wg.sum(x["p"] ** 3)]}


POINT = {"p": np.array([[0.3, -0.2, 1.1], [0.7, 0.4, -0.5]]), "q": 0.7}


def dense_jacobian(x):
    """Return the Jacobian of the model, by hand."""
    p, q = x["p"].ravel(), x["q"]
    found = np.zeros((8, 7))
    found[:6, :6], found[:6, 6] = np.diag(np.cos(p) * q), np.sin(p)
    found[6, 6] = 2 * q
    found[7, :6] = 3 * p**2
    return found


def test_a_jacobian_as_an_operator():
    J, dense = optim.linear_operator(model, POINT), dense_jacobian(POINT)
    random = np.random.default_rng(0)
    assert J.shape == (8, 7) and J.dtype == np.float64
    np.testing.assert_allclose(J @ np.eye(7), dense)
    np.testing.assert_allclose(J.T @ np.eye(8), dense.T)
    for columns in ((7,), (7, 1), (7, 3), (7, 100)):
        v = random.standard_normal(columns)
        np.testing.assert_allclose(J @ v, dense @ v, atol=1e-12)
    for columns in ((8,), (8, 1), (8, 70)):
        w = random.standard_normal(columns)
        np.testing.assert_allclose(J.H @ w, dense.T @ w, atol=1e-12)


def test_arguments_and_order():
    J = optim.linear_operator(model, POINT, args=(3.0,))
    x, unravel = optim.ravel(POINT)
    assert unravel(x)["q"] == POINT["q"]
    unit = np.zeros(7)
    unit[6] = 1.0  # q is the last: keys are sorted
    np.testing.assert_allclose((J @ unit)[6], 6 * 0.7)


@pytest.mark.parametrize("make", [np.asarray, wg.asarray, jnp.asarray, array_api_strict.asarray])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_of_any_library(make, dtype):
    if make is jnp.asarray and dtype == "float64":
        dtype = "float32"  # JAX has no other unless it is told
    x = make(np.array([1.0, 2.0, 3.0], dtype))
    J = optim.linear_operator(lambda x: x[1:] * x[:-1], x)
    expected = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]])
    np.testing.assert_allclose(J @ np.eye(3), expected)
    np.testing.assert_allclose(J.T @ np.ones(2), expected.sum(0))
    H = optim.hessian_operator(lambda x: wg.sum(x**3), x)
    np.testing.assert_allclose(H @ np.ones(3), [6.0, 12.0, 18.0])


def test_the_function_is_not_called_for_products():
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return x**2

    J = optim.linear_operator(counted, np.ones(4))
    for _ in range(5):
        assert (J @ np.ones(4)).tolist() == [2.0] * 4
        assert (J.T @ np.ones(4)).tolist() == [2.0] * 4
    assert calls == 2


def energy(x):
    return wg.sum(wg.sin(x["p"]) ** 2 * x["q"]) + x["q"] ** 4


def test_a_hessian_as_an_operator():
    H = optim.hessian_operator(energy, POINT)
    table = H @ np.eye(7)
    p, q = POINT["p"].ravel(), POINT["q"]
    expected = np.diag(np.append(2 * np.cos(2 * p) * q, 12 * q**2))
    expected[6, :6] = expected[:6, 6] = np.sin(2 * p)
    np.testing.assert_allclose(table, expected, atol=1e-12)
    np.testing.assert_allclose(H.T @ np.ones(7), expected @ np.ones(7))


def test_a_gauss_newton_matrix_as_an_operator():
    def loss(y):
        return wg.sum(wg.exp(y["a"])) + y["b"][0] * y["b"][1] ** 2

    G = optim.gauss_newton_operator(model, loss, POINT)
    J = dense_jacobian(POINT)
    y = optim.ravel({"a": np.sin(POINT["p"]) * 0.7, "b": [0.49, np.sum(POINT["p"] ** 3)]})[0]
    H = np.diag(np.append(np.exp(y[:6]), [0.0, 2 * y[6]]))
    H[6, 7] = H[7, 6] = 2 * y[7]
    expected = J.T @ H @ J
    np.testing.assert_allclose(G @ np.eye(7), expected, atol=1e-12)
    np.testing.assert_allclose(G @ np.ones(7), expected @ np.ones(7))
    # with a loss of squares it is 2 Jᵀ J, whatever the model
    squares = optim.gauss_newton_operator(
        model, lambda y: wg.sum(y["a"] ** 2) + y["b"][0] ** 2 + y["b"][1] ** 2, POINT
    )
    np.testing.assert_allclose(squares @ np.eye(7), 2 * J.T @ J, atol=1e-12)


# -- in SciPy's solvers ---------------------------------------------------------------------------

N = 15


def poisson(u):
    """Return the negative Laplacian of u, with zeros around it."""
    wide = wg.pad(u, 1)
    beside = wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2]
    return (4 * u - beside) * (N + 1.0) ** 2


def sine():
    x = np.arange(1, N + 1) / (N + 1)
    return np.outer(np.sin(np.pi * x), np.sin(np.pi * x))


#: The smallest eigenvalue of the discrete operator; the sine is its eigenvector.
SMALLEST = 8 * (N + 1) ** 2 * np.sin(np.pi / (2 * (N + 1))) ** 2


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab", "minres"])
def test_poisson_without_a_matrix(solver):
    A = optim.linear_operator(poisson, np.zeros((N, N)))
    b = sine().ravel()
    found, code = getattr(linalg, solver)(A, b, rtol=1e-10)
    assert code == 0
    np.testing.assert_allclose(found, b / SMALLEST, atol=1e-8)


@pytest.mark.parametrize("solver", ["lsmr", "lsqr"])
def test_least_squares_without_a_matrix(solver):
    """As many differences as a grid has edges, for the values at its places."""

    def differences(u):
        return [u[1:] - u[:-1], u[:, 1:] - u[:, :-1], u[0, 0]]

    u = np.random.default_rng(0).standard_normal((9, 8))
    A = optim.linear_operator(differences, np.zeros((9, 8)))
    b = np.concatenate([np.diff(u, axis=0).ravel(), np.diff(u, axis=1).ravel(), u[:1, 0]])
    found = getattr(linalg, solver)(A, b, atol=1e-12, btol=1e-12)[0]
    np.testing.assert_allclose(found, u.ravel(), atol=1e-7)


def test_eigenvalues_and_singular_values_without_a_matrix():
    H = optim.hessian_operator(lambda u: wg.sum(u * poisson(u)) / 2, np.zeros((N, N)))
    values, vectors = linalg.eigsh(H, k=1, which="SA", tol=1e-9, v0=np.ones(N * N))
    np.testing.assert_allclose(values, [SMALLEST], rtol=1e-8)
    shape = vectors[:, 0].reshape(N, N) / vectors[:, 0].reshape(N, N)[N // 2, N // 2]
    np.testing.assert_allclose(shape, sine(), atol=1e-5)
    matrix = np.random.default_rng(0).standard_normal((30, 12))
    J = optim.linear_operator(lambda x: wg.asarray(matrix) @ x, np.zeros(12))
    found = linalg.svds(J, k=3, return_singular_vectors=False, v0=np.ones(12))
    np.testing.assert_allclose(
        np.sort(found)[::-1], np.linalg.svd(matrix, compute_uv=False)[:3], rtol=1e-10
    )
    large = linalg.lobpcg(
        H, np.random.default_rng(0).standard_normal((N * N, 3)), tol=0.1, maxiter=300
    )[0]
    assert large[0] == pytest.approx(8 * (N + 1) ** 2 - SMALLEST, rel=1e-6)


# -- what bad input gets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: optim.linear_operator(lambda x: None, np.ones(2)),
            TypeError,
            "linear_operator: the function returned NoneType; expected an array",
        ),
        (
            lambda: optim.linear_operator(lambda x: x, np.arange(2)),
            wg.DtypeError,
            "linear_operator: x has dtype int64; expected real floating numbers",
        ),
        (
            lambda: optim.linear_operator(lambda x: x * 1j, np.ones(2)),
            wg.DtypeError,
            "the function returned complex128",
        ),
        (
            lambda: optim.hessian_operator(lambda x: x, np.ones(2)),
            wg.ShapeError,
            r"returned shape \(2,\); expected one number",
        ),
        (
            lambda: optim.gauss_newton_operator(lambda x: x, lambda y: y, np.ones(2)),
            wg.ShapeError,
            r"returned shape \(2,\); expected one number",
        ),
        (
            lambda: optim.linear_operator(lambda x: x, np.ones(2)) @ (np.ones(2) * 1j),
            TypeError,
            "multiply with their real and imaginary parts",
        ),
        (
            lambda: optim.linear_operator(lambda x: x[0], [np.ones(2), array_api_strict.ones(2)]),
            ValueError,
            "x has arrays of several libraries",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
