"""Linear algebra beyond the table: values, signatures, bad input and other libraries."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sl

import wengert as wg
from tests.ops.matrices import adjoint, grad, la, normal, positive
from tests.ops.op_cases import assert_near, check_on_strict, on_strict, second, vjp, weights_like
from wengert.backends import numpy_linalg
from wengert.ops.linalg import unguarded

EYE = np.eye(3)


A, S, V = normal(3, 3) + 3 * EYE, positive(3, 3), normal(3)
Z, B = normal(2, 3, 3, complex=True) + 3 * EYE, normal(2, 3, 3) + 3 * EYE

# -- names, signatures and dtypes -------------------------------------------------------------


def test_the_standards_names_are_there() -> None:
    theirs = "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm "
    theirs += "matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals "
    theirs += "tensordot trace vecdot vector_norm"
    assert set(theirs.split()) <= set(la.__all__)
    assert len(set(la.__all__)) == len(la.__all__)


def test_results_have_names() -> None:
    assert la.eigh(S)._fields == la.eig(S)._fields == ("eigenvalues", "eigenvectors")
    assert la.svd(S)._fields == ("U", "S", "Vh")
    assert la.qr(S)._fields == ("Q", "R")
    assert la.slogdet(S)._fields == ("sign", "logabsdet")


def test_scipy_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, wengert as wg; wg.linalg.inv([[1.0]]); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


_ONE_MATRIX = (
    "cholesky cond det eig eigh eigvals eigvalsh expm inv matrix_norm pinv qr slogdet sqrtm svd "
    "svdvals"
)
ONE_MATRIX = {name: getattr(la, name) for name in sorted(_ONE_MATRIX.split())}


@pytest.mark.parametrize("name", ONE_MATRIX)
def test_single_precision_and_integers(name: str) -> None:
    function = ONE_MATRIX[name]
    whole = np.array([[3, 1], [1, 2]])
    for x in (whole.astype(np.float32), whole.astype(np.complex64)):
        assert all(part.dtype in (wg.float32, wg.complex64) for part in _list(function(x)))
    for mine, theirs in zip(_list(function(whole)), _list(function(1.0 * whole)), strict=True):
        assert_near(mine, theirs)


def _list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def test_matrix_rank_and_integers() -> None:
    assert la.matrix_rank(np.array([[1, 2], [2, 4]])).item() == 1
    assert la.matrix_rank(np.diag([1.0, 0.4, 0.2]), rtol=0.3).item() == 2
    np.testing.assert_array_equal(la.matrix_power(np.array([[1, 1], [0, 1]]), 3), [[1, 3], [0, 1]])
    assert la.matrix_power(np.array([[1, 1], [0, 1]]), 0).dtype == wg.int64


def test_variables_and_lists() -> None:
    v = wg.Variable(S)
    with wg.GradientTape() as tape:
        y = la.slogdet(v).logabsdet
    assert_near(tape.gradient(y, v), np.linalg.inv(S))
    assert la.det([[1.0, 2.0], [3.0, 4.0]]).item() == pytest.approx(-2.0)


# -- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular_is_scipys(trans: Any, lower: bool, unit: bool) -> None:
    keys: Any = {"trans": trans, "lower": lower, "unit_diagonal": unit}
    for a in (A, Z[0]):
        for b in (V, A):
            got = la.solve_triangular(a, b, **keys)
            assert_near(got, sl.solve_triangular(a, b, **keys))
            wg.check_grads(lambda a, b: la.solve_triangular(a, b, **keys), [a, b], order=1)
    g = grad(lambda a: wg.sum(la.solve_triangular(a, V, **keys)), A)
    unread = np.triu(g, 1) if lower else np.tril(g, -1)
    assert g.any() and not unread.any()
    assert not unit or not np.diag(g).any()


@pytest.mark.parametrize("lower", [False, True])
def test_cho_solve_is_scipys(lower: bool) -> None:
    for s in (S, positive(3, 3, complex=True)):
        c = sl.cholesky(s, lower=lower)
        assert_near(la.cho_solve((c, lower), V), sl.cho_solve((c, lower), V))
        assert_near(la.cho_solve((c, lower), V), np.linalg.solve(s, V))
        wg.check_grads(lambda c, b: la.cho_solve((c, lower), b), [c, V], order=1)


def test_block_diag_and_multi_dot_are_scipys_and_numpys() -> None:
    blocks = [A, normal(1, 2), V]
    assert_near(la.block_diag(*blocks), sl.block_diag(*blocks))
    assert la.block_diag(np.ones((2, 3, 1, 1)), np.ones((3, 2, 2))).shape == (2, 3, 3, 3)
    wg.check_grads(la.block_diag, blocks)
    chain = [normal(4, 2), normal(2, 5), normal(5, 1), normal(1, 3)]
    for arrays in (chain, [chain[0][0], *chain[1:]], [*chain[:-1], V[:1]], chain[:2]):
        assert_near(la.multi_dot(arrays), np.linalg.multi_dot(arrays))
        wg.check_grads(lambda *arrays: la.multi_dot(arrays), arrays)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
def test_matrix_power(n: int) -> None:
    for x in (A, Z):
        assert_near(la.matrix_power(x, n), np.linalg.matrix_power(x, n), rtol=1e-11)
        if n:
            wg.check_grads(lambda x: la.matrix_power(x, n), [x / 3])


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (2, 4, 2)])
@pytest.mark.parametrize("vector", [False, True])
def test_lstsq(shape: tuple[int, ...], vector: bool) -> None:
    a = normal(*shape)
    b = normal(shape[-2]) if vector else normal(*shape[:-1], 2)
    got = la.lstsq(a, b)
    if a.ndim == 2:
        for mine, theirs in zip(got, np.linalg.lstsq(a, b), strict=True):
            expected = np.asarray(theirs)
            np.testing.assert_allclose(mine.numpy(), expected.reshape(mine.shape), rtol=1e-10)
    wg.check_grads(lambda a, b: la.lstsq(a, b).solution, [a, b])
    wg.check_grads(lambda a, b: la.lstsq(a, b).residuals, [a, b])


def test_lstsq_of_a_matrix_not_of_full_rank_gives_the_least_solution() -> None:
    a = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    x, residuals, rank, s = la.lstsq(a, V)
    expected = np.linalg.lstsq(a, V)
    assert_near(x, expected[0])
    assert rank.item() == 1 and residuals.shape == (0,) and s.shape == (2,)
    assert np.isfinite(grad(lambda a: wg.sum(la.lstsq(a, V).solution), a)).all()
    assert np.isfinite(grad(lambda a: wg.sum(la.pinv(a)), a)).all()


def test_the_derivative_of_pinv_along_matrices_of_one_rank() -> None:
    """Move along x(t) = u(t) v(t) of rank 1, where pinv is smooth."""
    u, v, du, dv = normal(3, 1), normal(1, 2), normal(3, 1), normal(1, 2)
    weights = normal(2, 3)

    def f(t: Any) -> Any:
        return wg.sum(la.pinv((u + t * du) @ (v + t * dv), rtol=1e-8) * weights)

    h = 1e-5
    numeric = (f(wg.asarray(h)).item() - f(wg.asarray(-h)).item()) / (2 * h)
    assert wg.grad(f)(0.0) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("complex", [False, True])
def test_sylvester_solves_its_equation(complex: bool) -> None:
    a, b = normal(4, 3, 3, complex=complex) + 3 * EYE, normal(2, 2) + 3 * np.eye(2)
    q = normal(3, 2)
    x = la.solve_sylvester(a, b, q).numpy()
    np.testing.assert_allclose(a @ x + x @ b, np.broadcast_to(q, x.shape), atol=1e-12)
    assert np.iscomplexobj(x) == complex


def test_sqrtm_of_a_real_matrix_may_be_complex() -> None:
    turn = np.array([[-4.0, 1.0], [0.5, 9.0]])
    root = la.sqrtm(turn)
    assert root.dtype == wg.complex128
    np.testing.assert_allclose(root.numpy() @ root.numpy(), turn, atol=1e-12)
    wg.check_grads(lambda x: wg.abs(la.sqrtm(x)) ** 2, [turn], order=1)
    assert la.sqrtm(S).dtype == wg.float64


def test_expm_is_scipys_and_its_derivative_too() -> None:
    e = normal(3, 3)
    _, frechet = sl.expm_frechet(A, e)
    _, pull = wg.vjp(la.expm, A)
    w = normal(3, 3)
    assert np.sum(np.asarray(pull(w)[0] if isinstance(pull(w), tuple) else pull(w)) * e) == (
        pytest.approx(np.sum(w * frechet))
    )
    nilpotent = np.array([[0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(la.expm(nilpotent).numpy(), [[1, 1], [0, 1]])


# -- large matrices, which NumPy solves in blocks ------------------------------------------------


@pytest.mark.parametrize("n", [31, 32, 33, 65, 100])
@pytest.mark.parametrize("complex", [False, True])
def test_blocks_of_triangles(n: int, complex: bool) -> None:
    a = normal(n, n, complex=complex) / n + np.eye(n)
    b = normal(2, n, 3)
    for lower in (False, True):
        for unit in (False, True):
            got = numpy_linalg.triangular_solve(a, b, lower, unit)
            expected = [sl.solve_triangular(a, m, lower=lower, unit_diagonal=unit) for m in b]
            np.testing.assert_allclose(got, expected, atol=1e-11)
    q = positive(n, n, complex=complex)
    low = np.linalg.cholesky(positive(n, n, complex=complex))
    inverse = np.linalg.inv(low)
    np.testing.assert_allclose(
        numpy_linalg.congruence(low, q), adjoint(inverse) @ q @ inverse, atol=1e-11
    )


@pytest.mark.parametrize("complex", [False, True])
def test_large_matrices_agree_with_the_general_rules(complex: bool) -> None:
    """On array-api-strict there are no fast paths."""
    s = positive(2, 40, 40, complex=complex) / 40
    for f in (
        la.cholesky,
        lambda x: la.solve_triangular(x, x[..., :2]),
        lambda x: la.solve(x, x[..., :2]),
        lambda x: la.det(x / 4),
    ):
        check_on_strict(f, [s])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_large_matrices_in_single_precision(dtype: Any) -> None:
    """NumPy computes these in double precision; its loops for single precision agree."""
    s = positive(2, 40, 40, complex=np.dtype(dtype).kind == "c").astype(dtype)
    x = s[..., :, :35] - np.eye(40, 35, dtype=dtype)
    u, w, vh = numpy_linalg.svd(x, full_matrices=False)
    values, vectors = numpy_linalg.eigh(s)
    pairs = [
        (numpy_linalg.cholesky(s), np.linalg.cholesky(s)),
        (numpy_linalg.solve(s, x), np.linalg.solve(s, x)),
        (values, np.linalg.eigvalsh(s)),
        ((vectors * values[..., None, :]) @ adjoint(vectors), s),
        (w, np.linalg.svd(x, compute_uv=False)),
        ((u * w[..., None, :]) @ vh, x),
    ]
    for got, expected in pairs:
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, atol=2e-5 * np.abs(expected).max())
    assert numpy_linalg.svd(x)[0].shape == (2, 40, 40)
    with pytest.raises(np.linalg.LinAlgError, match=r"linalg.cholesky: matrix \(1,\) of a batch"):
        la.cholesky(s * np.array([1, -1], dtype)[:, None, None])
    with pytest.raises(np.linalg.LinAlgError, match=r"linalg.solve: matrix \(0,\) of a batch"):
        la.solve(s * np.array([0, 1], dtype)[:, None, None], x)


# -- the Hermitian part -----------------------------------------------------------------------


@pytest.mark.parametrize("complex", [False, True])
def test_cholesky_and_eigh_see_the_hermitian_part(complex: bool) -> None:
    s, k = positive(2, 3, 3, complex=complex), normal(2, 3, 3, complex=complex)
    odd = k - adjoint(k)
    for f in (la.cholesky, la.eigvalsh, lambda x: la.cholesky(x, upper=True)):
        assert_near(f(s + odd), f(s))
    _, (g,) = vjp(la.cholesky, [wg.asarray(s + odd)])
    assert_near(g, adjoint(g.numpy()))
    assert_near(la.cholesky(s, upper=True), adjoint(np.linalg.cholesky(s)))
    wg.check_grads(lambda x: la.cholesky(x, upper=True), [s + odd])


def test_numpys_functions_read_one_triangle() -> None:
    x = wg.asarray(S + np.triu(normal(3, 3), 1))
    assert_near(np.linalg.cholesky(x), np.linalg.cholesky(x.numpy()))
    assert_near(np.linalg.eigvalsh(x, "U"), np.linalg.eigvalsh(x.numpy(), "U"))
    g = grad(lambda x: wg.sum(np.linalg.cholesky(x)), x.numpy())
    assert not np.triu(g, 1).any()
    z = positive(3, 3, complex=True) + 1j * np.diag(V)
    for uplo in "LU":
        assert_near(np.linalg.eigvalsh(wg.asarray(z), uplo), np.linalg.eigvalsh(z, uplo))


# -- norms ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(ord: Any) -> None:
    for x in (normal(2, 3, 4), normal(3, 2, complex=True)):
        for keepdims in (False, True):
            got = la.matrix_norm(x, ord=ord, keepdims=keepdims)
            assert_near(got, np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims))
        wg.check_grads(lambda x: la.matrix_norm(x, ord=ord), [x], order=1)
    assert not grad(lambda x: la.matrix_norm(x, ord=ord), np.zeros((2, 3))).any()


@pytest.mark.parametrize("ord", [2, 1, 3, 0.5, -1, -2.5, np.inf, -np.inf, 0])
def test_vector_norms(ord: Any) -> None:
    for x in (normal(2, 3), normal(4, complex=True), np.array([0.0, 2.0]), np.zeros(2)):
        for keys in ({}, {"axis": -1}, {"axis": 0, "keepdims": True}):
            with np.errstate(divide="ignore"):
                expected = np.linalg.vector_norm(x, ord=ord, **keys)
            assert_near(la.vector_norm(x, ord=ord, **keys), expected)
    if ord:  # the number of elements that are not 0 has no derivative
        for x in (np.zeros(3), np.array([0.0, 3.0])):
            assert np.isfinite(grad(lambda x: la.vector_norm(x, ord=ord), x)).all()
        assert not grad(lambda x: la.vector_norm(x, ord=ord), np.zeros(3)).any()


def test_the_second_derivative_of_a_norm() -> None:
    wg.check_grads(la.vector_norm, [V])
    hessian = wg.grad(lambda x: wg.sum(wg.grad(lambda y: la.vector_norm(y))(x) * V))(np.zeros(3))
    assert not np.asarray(hessian).any()


def test_equal_largest_singular_values_share() -> None:
    np.testing.assert_allclose(grad(lambda x: la.matrix_norm(x, ord=2), np.eye(4)), np.eye(4) / 4)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, "fro", "nuc", np.inf, -np.inf])
def test_cond(p: Any) -> None:
    assert_near(la.cond(B, p), np.linalg.cond(B, p), rtol=1e-11)
    wg.check_grads(lambda x: la.cond(x, p), [A], order=1)


# -- bad input --------------------------------------------------------------------------------


def singular_at(place: tuple[int, ...]) -> np.ndarray:
    x = positive(2, 3, 2, 2)
    x[place] = [[1.0, -1.0], [-1.0, 1.0]]
    return x


def to_torch(x: Any) -> Any:
    import torch

    return wg.asarray(torch.tensor(x))


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": wg.asarray,
    "strict": on_strict,
    "jax": lambda x: wg.asarray(jnp.asarray(x)),
    "torch": to_torch,
}
FAILING: dict[str, Callable[[Any], Any]] = {
    "solve": lambda x: la.solve(x, x[..., :1]),
    "inv": la.inv,
    "cholesky": lambda x: la.cholesky(-x),
    "solve_triangular": lambda x: la.solve_triangular(x * np.triu(np.ones((2, 2)), 1), x),
}


@pytest.mark.parametrize(
    "library",
    [pytest.param(n, marks=[pytest.mark.peers] if n == "torch" else []) for n in LIBRARIES],
)
@pytest.mark.parametrize("name", ["solve", "inv", "cholesky"])
def test_matrices_at_fault_are_named(name: str, library: str) -> None:
    make = LIBRARIES[library]
    problem = "not positive definite" if name == "cholesky" else "singular"
    x = singular_at((1, 0))
    if name == "cholesky":
        x[1, 0] = -np.eye(2)
    f = FAILING[name] if name != "cholesky" else la.cholesky
    where = rf"linalg.{name}: matrix \(1, 0\) of a batch of shape \(2, 3\) is {problem}"
    with pytest.raises(np.linalg.LinAlgError, match=where):
        f(make(x))
    with pytest.raises(np.linalg.LinAlgError, match=f"linalg.{name}: the matrix is {problem}"):
        f(make(x[1, 0]))


def test_triangles_at_fault_are_named() -> None:
    x = np.stack([np.eye(2), np.ones((2, 2)) - np.eye(2)])
    for make in (wg.asarray, on_strict):
        with pytest.raises(np.linalg.LinAlgError, match=r"solve_triangular: matrix \(1,\) of"):
            la.solve_triangular(make(x), make(np.ones((2, 2, 1))))


def test_other_failures() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="linalg.sqrtm: the matrix is singular"):
        la.sqrtm(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(
        np.linalg.LinAlgError, match="linalg.solve_sylvester: .*share an eigenvalue"
    ):
        la.solve_sylvester(np.eye(2), -np.eye(2), np.ones((2, 2)))


@pytest.mark.parametrize("name", [*ONE_MATRIX, "matrix_rank", "diagonal", "trace", "lstsq"])
def test_vectors_are_not_matrices(name: str) -> None:
    more = (V,) if name == "lstsq" else ()
    with pytest.raises(wg.ShapeError, match=r"linalg.\w+: x of shape \(3,\); expected"):
        getattr(la, name)(V, *more)


SQUARE = [n for n in ONE_MATRIX if n not in ("cond", "matrix_norm", "pinv", "qr", "svd", "svdvals")]


@pytest.mark.parametrize("name", SQUARE)
def test_matrices_that_must_be_square(name: str) -> None:
    with pytest.raises(
        wg.ShapeError, match=rf"linalg.{name}: x of shape \(2, 3\); expected square"
    ):
        getattr(la, name)(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: la.solve(A, np.ones(2)), wg.ShapeError, r"a of shape \(3, 3\), b of shape \(2,\)"),
        (lambda: la.solve(A, 1.0), wg.ShapeError, "linalg.solve: a of shape"),
        (lambda: la.solve(B, np.ones((4, 3, 1))), wg.ShapeError, "linalg.solve: the batches"),
        (lambda: la.solve_triangular(A, np.ones(2)), wg.ShapeError, "linalg.solve_triangular"),
        (lambda: la.solve_triangular(A, V, trans="X"), ValueError, "trans is 'X'"),
        (lambda: la.cho_solve(A, V), TypeError, "not a pair"),
        (lambda: la.lstsq(A, np.ones(2)), wg.ShapeError, "linalg.lstsq: a of shape"),
        (lambda: la.solve_sylvester(A, A, V[:, None]), wg.ShapeError, "linalg.solve_sylvester"),
        (lambda: la.cross(np.ones(2), np.ones(2)), wg.ShapeError, "linalg.cross: .*length 3"),
        (lambda: la.matrix_power(A, 0.5), TypeError, "linalg.matrix_power: n is 0.5"),
        (lambda: la.matrix_power(V, 2), wg.ShapeError, "linalg.matrix_power: x of shape"),
        (lambda: la.multi_dot([A]), ValueError, "got 1 arrays"),
        (lambda: la.multi_dot([A, B, A]), wg.ShapeError, r"linalg.multi_dot: arrays\[0\] of shape"),
        (lambda: la.block_diag(), ValueError, "no matrices"),
        (lambda: la.vector_norm(V, ord="fro"), ValueError, "linalg.vector_norm: ord='fro'"),
        (lambda: la.matrix_norm(A, ord=3), ValueError, "linalg.matrix_norm: ord is 3"),
        (lambda: la.norm(B, 2), ValueError, "linalg.norm: ord=2 and 3 axes"),
    ],
)  # fmt: skip
def test_bad_arguments(call: Callable[[], Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# -- other libraries --------------------------------------------------------------------------

PORTABLE: dict[str, Callable[[Any], Any]] = {
    "cholesky": la.cholesky,
    "solve": lambda x: la.solve(x, x * 2 + 1),
    "inv": la.inv,
    "det": la.det,
    "slogdet": lambda x: wg.sum(wg.abs(la.slogdet(x)[0])) * la.slogdet(x)[1],
    "eigh": lambda x: (lambda w, v: w + wg.abs(v) ** 2)(*la.eigh(x)),
    "svd": lambda x: (lambda u, s, vh: s + wg.abs(u) ** 2 + wg.abs(vh) ** 2)(
        *la.svd(x, full_matrices=False)
    ),
    "qr": lambda x: (lambda q, r: wg.abs(q) ** 2 + r)(*la.qr(x)),
    "pinv": la.pinv,
    "norm": la.vector_norm,
    "solve_triangular": lambda x: la.solve_triangular(x, x * 2 + 1, lower=True),
}


@pytest.mark.parametrize("name", [*PORTABLE, "expm", "sqrtm", "eig", "lstsq"])
def test_jax_arrays(name: str) -> None:
    more: Any = {
        "expm": la.expm,
        "sqrtm": la.sqrtm,
        "eig": lambda x: wg.abs(la.eigvals(x)),
        "lstsq": lambda x: la.lstsq(x, x[..., :1]).solution,
    }
    f = PORTABLE.get(name) or more[name]
    for x in (S, positive(2, 2, 2, complex=True)):
        results, gradients = vjp(f, [wg.asarray(x)])
        weights = [jnp.asarray(w) for w in weights_like(results)]
        got, pulled = vjp(f, [wg.asarray(jnp.asarray(x))], weights)
        assert_near(got[0], results[0], rtol=1e-10)
        assert_near(pulled[0], gradients[0], rtol=1e-10)
        assert isinstance(pulled[0]._raw, jax.Array)


@pytest.mark.parametrize("name", PORTABLE)
def test_jax_compiles_gradients(name: str) -> None:
    def weighted(x: Any) -> Any:
        y = PORTABLE[name](x)
        return wg.sum(y * y)

    @jax.jit
    def compiled(x: Any) -> Any:
        with wg.GradientTape() as tape:
            t = wg.asarray(x)
            tape.watch(t)
            y = weighted(t)
        return tape.gradient(y, t)._raw

    np.testing.assert_allclose(compiled(jnp.asarray(S)), grad(weighted, S), atol=1e-9)


def test_public_compositions_on_strict() -> None:
    for f in (
        lambda x: la.matrix_norm(x, ord="nuc"),
        lambda x: la.matrix_power(x, -2),
        lambda x: la.lstsq(x, x[..., :1]).solution,
        lambda x: la.block_diag(x[0], x[1]),
        lambda x: la.cond(x),
        lambda x: la.norm(x, np.inf, axis=(0, 2)),
        la.eigvalsh,
        la.svdvals,
    ):
        check_on_strict(f, [positive(2, 2, 2)])
    ints = array_api_strict.asarray(np.array([[2, 1], [1, 3]]))
    assert la.det(wg.asarray(ints)).dtype == array_api_strict.float64


# -- higher orders ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "expm", "sqrtm", "cholesky", "det"])
def test_third_derivatives(name: str) -> None:
    wg.check_grads(getattr(la, name), [positive(2, 2) / 3], order=3)


def test_second_derivatives_of_batches_by_their_parts() -> None:
    x = positive(3, 2, 2, complex=True)
    for f in (la.cholesky, la.inv, la.det, lambda x: la.eigh(x)[0], lambda x: la.svd(x)[1]):
        weights = weights_like(f(wg.asarray(x)))
        (whole,) = second(f, [wg.asarray(x)], weights)
        assert whole.shape == x.shape and np.isfinite(whole.numpy()).all()
        wg.check_grads(f, [x])


def test_no_warning_without_need() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = normal(60, 60).astype(np.float32)
        grad(lambda x: wg.sum(la.eigh(x).eigenvectors ** 2 * np.arange(60, dtype=np.float32)), x)
        grad(lambda x: wg.sum(la.svd(x).U ** 2 * np.arange(60, dtype=np.float32)), x)


# -- factors that are kept --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_a_large_solve_keeps_its_factors(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    a = (rng.normal(size=(40, 40)) + 1j * rng.normal(size=(40, 40)) + 12 * np.eye(40)).real
    b = rng.normal(size=(40, 3))
    if np.dtype(dtype).kind == "c":
        a, b = a + 1j * rng.normal(size=a.shape), b + 1j * rng.normal(size=b.shape)
    a, b = a.astype(dtype), b.astype(dtype)

    def large(a: Any, b: Any) -> Any:
        return wg.linalg.solve(a, b)

    def batch_of_one(a: Any, b: Any) -> Any:  # goes through NumPy's own
        return wg.linalg.solve(a[None], b[None])[0]

    tensors = [wg.asarray(a), wg.asarray(b)]
    (got, pulled), (expected, gradients) = vjp(large, tensors), vjp(batch_of_one, tensors)
    rtol = 1e-4 if np.dtype(dtype).itemsize in (4, 8) and dtype != np.float64 else 1e-11
    for mine, theirs in zip([*got, *pulled], [*expected, *gradients], strict=True):
        assert_near(mine, theirs, rtol=rtol)
    weights = weights_like(got)
    for mine, theirs in zip(
        second(large, tensors, weights), second(batch_of_one, tensors, weights), strict=True
    ):
        assert_near(mine, theirs, rtol=rtol)


def test_a_large_singular_matrix_is_named() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="linalg.solve: the matrix is singular"):
        wg.linalg.solve(np.zeros((50, 50)), np.ones((50, 1)))


@pytest.mark.parametrize("n", [3, 40])
def test_the_order_of_bytes_does_not_matter(n: int) -> None:
    a, b = np.eye(n) * 2 + 0.1, np.ones(n)
    big = wg.linalg.solve(a.astype(">f8"), b.astype(">f8"))
    np.testing.assert_allclose(big, np.linalg.solve(a, b))
    assert wg.sum(np.ones(3, ">f8")).item() == 3.0


def test_factors_of_matrices_that_are_not_positive_definite_are_nan() -> None:
    both = wg.asarray(np.stack([S, -S]))
    found = unguarded.cholesky_or_nan(both)
    np.testing.assert_allclose(found[0], np.linalg.cholesky(S))
    np.testing.assert_array_equal(np.isnan(found[1].numpy()), np.tri(3, dtype=bool))
    gradient = grad(lambda x: wg.sum(unguarded.cholesky_or_nan(x)[0]), np.stack([S, -S]))
    assert_near(gradient[0], grad(lambda x: wg.sum(wg.linalg.cholesky(x)), S))
