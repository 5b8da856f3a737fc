"""NumPy's functions of wengert.autograd: the same derivatives as HIPS autograd's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

from tests.dialects.autograd.parity import OURS, Library, M, X, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def arrays_of_recorded_numbers(L: Library) -> Any:
    np = L.np
    return [
        L.grad(lambda x: np.sum(np.array([np.sin(x[0]), x[1] * x[2]]) ** 2))(X),
        L.jacobian(lambda x: np.array([[x[0], x[1]], [x[2], 1.0]]))(X),
        L.grad(lambda x: np.sum(np.array([x, x**2])))(X),
        L.grad(lambda x: np.sum(np.array([1.0, x])))(2.0),
        L.jacobian(lambda x: np.array(x))(X),
        L.jacobian(lambda x: np.array([x], ndmin=3))(X),
    ]


@program
def joining(L: Library) -> Any:
    np = L.np
    return [
        L.jacobian(lambda x: np.concatenate([x, x**2, onp.ones(2)]))(X),
        L.jacobian(lambda x: np.concatenate((x[None], x[None] ** 2), axis=1))(X),
        L.jacobian(lambda x: np.stack([x, 2 * x], axis=1))(X),
        L.jacobian(lambda x: np.hstack([x, x[0]]))(X),
        L.jacobian(lambda x: np.vstack([x, x**2]))(X),
        L.jacobian(lambda x: np.column_stack([x, x**2]))(X),
        L.jacobian(lambda x: np.append(x, x[0] ** 2))(X),
        L.jacobian(lambda x: np.r_[x, x[0]])(X),
        L.jacobian(lambda x: np.c_[x, x**2])(X),
    ]


@program
def sums_over_lists(L: Library) -> Any:
    np = L.np
    return [
        L.grad(lambda x: np.sum([x[0] ** 2, x[1]]))(X),
        L.grad(lambda x: np.mean([x[0] ** 2, x[1]]))(X),
        L.grad(lambda x: sum([x[i] ** 2 for i in range(3)]))(X),
        L.grad(lambda x: sum(xi**2 for xi in x))(X),
    ]


@program
def indexing(L: Library) -> Any:
    np = L.np
    return [
        L.jacobian(lambda x: x[::-1])(X),
        L.jacobian(lambda m: m[1])(M),
        L.jacobian(lambda m: m[:, [0, 2]])(M),
        L.jacobian(lambda m: m[[0, 0, 1], [1, 1, 2]])(M),
        L.jacobian(lambda x: x[x > 0])(X),
        L.jacobian(lambda m: m[..., None, -1])(M),
        L.jacobian(lambda m: np.diag(m))(M),
        L.jacobian(lambda x: np.diag(x))(X),
    ]


@program
def attributes_and_methods(L: Library) -> Any:
    def f(m: Any) -> Any:
        assert m.shape == (3, 3) and m.ndim == 2 and m.size == 9 and len(m) == 3
        assert m.dtype == onp.float64
        return (
            m.T[0].sum() + m.mean(axis=0)[1] ** 2 + m.reshape(-1)[2] + m.reshape((9, 1)).max()
            + m.flatten()[3] ** 2 + m.ravel().std() + m.transpose((1, 0))[0, 1]
            + m.swapaxes(0, 1).var() + m.cumsum(axis=0)[2, 1] + m.prod() + m.min()
            + m.diagonal(0, -1, -2).sum() + m.trace() + (m @ m)[0, 1]
        )  # fmt: skip

    return L.grad(f)(M)


ELEMENTWISE = {
    "abs": X, "absolute": X, "arccos": X / 4, "arccosh": X**2 + 2, "arcsin": X / 4, "arcsinh": X,
    "arctan": X, "arctanh": X / 4, "cos": X, "cosh": X, "deg2rad": X, "degrees": X, "exp": X,
    "exp2": X, "expm1": X, "fabs": X, "log": X**2, "log10": X**2, "log1p": X**2, "log2": X**2,
    "negative": X, "rad2deg": X, "radians": X, "reciprocal": X, "sin": X, "sinc": X, "sinh": X,
    "sqrt": X**2, "square": X, "tan": X, "tanh": X, "real": X, "nan_to_num": X, "sort": X,
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_one_array(name: str) -> None:
    def of(L: Library) -> Any:
        function = getattr(L.np, name)
        x = ELEMENTWISE[name]
        second = L.grad(lambda x: L.np.sum(L.elementwise_grad(function)(x) * X))
        return function(x), L.elementwise_grad(function)(x), second(x) if name != "sort" else 0.0

    compare(of)


PAIRS = {
    "add": (X, X**2), "subtract": (X, M), "multiply": (X, M), "divide": (M, X),
    "true_divide": (X, 2.0),
    "power": (X**2 + 0.1, X), "maximum": (X, M), "minimum": (X, 0.5), "arctan2": (X, X**2),
    "hypot": (X, X**2), "logaddexp": (X, M), "logaddexp2": (X, M), "dot": (M, X), "inner": (M, X),
    "outer": (X, X**2), "matmul": (M, M.T), "tensordot": (M, M.T), "kron": (M, M.T),
    "cross": (X, X**2), "fmax": (X, M), "fmin": (X, M), "mod": (X**2, 0.7),
    "remainder": (X**2, X + 3),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_arrays(name: str) -> None:
    def of(L: Library) -> Any:
        function = getattr(L.np, name)
        axes = {"axes": 1} if name == "tensordot" else {}
        a, b = (onp.asarray(v) for v in PAIRS[name])
        total = L.grad(lambda a, b: L.np.sum(L.np.sin(function(a, b, **axes))), (0, 1))
        return function(a, b, **axes), total(a, b)

    compare(of)


REDUCTIONS = ["sum", "mean", "prod", "var", "std", "max", "min", "cumsum", "amax", "amin"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    "settings", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}]
)
def test_reductions(name: str, settings: dict[str, Any]) -> None:
    if name == "cumsum" and ("keepdims" in settings or settings.get("axis") == (0, 1)):
        settings = {"axis": 1}

    def of(L: Library) -> Any:
        function = getattr(L.np, name)
        return L.jacobian(lambda m: function(m, **settings))(M)

    compare(of)


ARRANGED: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda np, m: np.reshape(m, (9, 1)),
    "ravel": lambda np, m: np.ravel(m),
    "transpose": lambda np, m: np.transpose(m, (1, 0)),
    "swapaxes": lambda np, m: np.swapaxes(m, 0, 1),
    "moveaxis": lambda np, m: np.moveaxis(m, 0, 1),
    "rollaxis": lambda np, m: np.rollaxis(m, 1),
    "roll": lambda np, m: np.roll(m, 1, axis=0),
    "repeat": lambda np, m: np.repeat(m, 2, axis=1),
    "tile": lambda np, m: np.tile(m, (2, 1)),
    "flipud": lambda np, m: np.flipud(m),
    "fliplr": lambda np, m: np.fliplr(m),
    "rot90": lambda np, m: np.rot90(m),
    "squeeze": lambda np, m: np.squeeze(m[None]),
    "expand_dims": lambda np, m: np.expand_dims(m, 1),
    "tril": lambda np, m: np.tril(m),
    "triu": lambda np, m: np.triu(m, 1),
    "trace": lambda np, m: np.trace(m),
    "diagonal": lambda np, m: np.diagonal(m, 0, -1, -2),
    "make_diagonal": lambda np, m: np.make_diagonal(m, axis1=-1, axis2=-2),
    "split": lambda np, m: np.split(m, 3)[1],
    "pad": lambda np, m: np.pad(m, ((1, 1), (0, 2)), "constant"),
    "broadcast_to": lambda np, m: np.broadcast_to(m[:, :1], (3, 4)),
    "atleast": lambda np, m: np.atleast_3d(np.atleast_2d(m[0])),
    "where": lambda np, m: np.where(m > 0.2, m, m**2),
    "select": lambda np, m: np.select([m > 1, m > 0], [m, m**2], default=0.0),
    "diff": lambda np, m: np.diff(m, axis=0),
    "gradient": lambda np, m: np.gradient(np.ravel(m)[:8]),
    "partition": lambda np, m: np.partition(m[0], 1),
    "einsum": lambda np, m: np.einsum("ij,kj->ik", m, m),
    "einsum3": lambda np, m: np.einsum("ij,jk,kl->il", m, M, m),
    "tensordot": lambda np, m: np.tensordot(m, M, [[0], [1]]),
    "clip": lambda np, m: np.clip(m, 0.15, 1.7),
    "linspace": lambda np, m: np.linspace(m[0, 0], m[1, 1], 4),
    "full": lambda np, m: np.full((2, 2), m[0, 0]),
    "ones_like": lambda np, m: np.ones_like(m) * m + np.zeros_like(m),
    "fix_and_floor": lambda np, m: m * np.floor(m) + m * np.sign(m) + m * np.round(m),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRANGED)
def test_arrangements(name: str) -> None:
    compare(lambda L: L.jacobian(lambda m: ARRANGED[name](L.np, m))(M))


LINALG: dict[str, Callable[[Any, Any], Any]] = {
    "inv": lambda np, m: np.linalg.inv(m),
    "det": lambda np, m: np.linalg.det(m),
    "slogdet": lambda np, m: np.linalg.slogdet(m)[1],
    "solve": lambda np, m: np.linalg.solve(m, X),
    "solve_many": lambda np, m: np.linalg.solve(m, m.T),
    "norm": lambda np, m: np.linalg.norm(m),
    "norm_axis": lambda np, m: np.linalg.norm(m, axis=1),
    "norm_nuc": lambda np, m: np.linalg.norm(m, "nuc"),
    "pinv": lambda np, m: np.linalg.pinv(m[:, :2]),
    "eigvals_of_eigh": lambda np, m: np.linalg.eigh(m + m.T)[0],
    "cholesky_of_product": lambda np, m: np.linalg.cholesky(np.dot(m, m.T)),
    "svdvals": lambda np, m: np.linalg.svd(m, compute_uv=False),
    "projection_of_eigh": lambda np, m: (lambda v: np.dot(v[:, :1], v[:, :1].T))(
        np.linalg.eigh(m + m.T)[1]
    ),
    "product_of_svd": lambda np, m: (lambda u, s, v: np.dot(u * s**2, v))(
        *np.linalg.svd(m, full_matrices=False)
    ),
}


@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(name: str) -> None:
    compare(lambda L: L.jacobian(lambda m: LINALG[name](L.np, m))(M))


def test_functions_of_plain_arrays_are_numpys_own() -> None:
    for name in ("sin", "sum", "dot", "concatenate", "zeros", "linspace", "einsum"):
        assert getattr(OURS.np, name).__wrapped__ is getattr(onp, name)
    compare(lambda L: [L.np.ndarray is onp.ndarray, L.np.pi, L.np.newaxis])


@program
def names_that_programs_of_old_use(L: Library) -> Any:
    np, convolve = L.np, L.module("scipy.signal").convolve
    return [
        L.grad(lambda x: np.dot(x.T, x))(X),
        L.grad(lambda m: np.sum(np.einsum(m, [0, 1], M, [1, 2], [2, 0]) ** 2))(M),
        L.grad(lambda m: np.sum(np.einsum(m, [1, 0], X, [0], [1]) ** 2))(M),
        L.grad(lambda m: np.sum(np.einsum(m, [Ellipsis, 0], M, [Ellipsis, 0], [Ellipsis]) ** 2))(M),
        L.grad(lambda x: np.sum(np.real_if_close(x + 0j) ** 2))(X),
        L.grad(lambda m: np.sum(convolve(m, M, axes=([], []), dot_axes=([0], [0])) ** 2))(M),
        L.grad(lambda x: np.sum(x[np.int64(np.abs(x))] ** 2))(X),
        np.where(condition=[True, False, True], x=X, y=-X),
        L.grad(lambda x: np.sum(np.where(X > 0, x, y=x**2)))(X),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
