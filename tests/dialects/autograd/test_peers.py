"""The same programs on HIPS autograd and on wengert.autograd: values, shapes, kinds of arrays."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
import scipy.optimize

import wengert as wg

pytestmark = pytest.mark.peers

pytest.importorskip("autograd")


class Library:
    """One of the two: modules by their names, and the operators as attributes."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.np = self.module("numpy")

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.root}.{name}")

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(importlib.import_module(self.root), name)
        except AttributeError:
            return getattr(self.module("differential_operators"), name)


THEIRS, OURS = Library("autograd"), Library("wengert.autograd")
Program = Callable[[Library], Any]
PROGRAMS: dict[str, Program] = {}
X = onp.array([0.3, -1.2, 2.5])
M = onp.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.6, 3.0]])
SPD = M @ M.T + onp.eye(3)
Z = X + 1j * onp.array([1.0, 0.5, -0.7])


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def assert_same(ours: Any, theirs: Any, where: str = "result") -> None:
    """Compare nests: the same containers, plain NumPy in them, the same shapes and numbers."""
    assert type(ours) is not wg.Tensor, where
    if isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif theirs is None or isinstance(theirs, (str, bool, type)):
        assert ours == theirs and type(ours) is type(theirs), where
    else:
        assert isinstance(ours, (onp.ndarray, onp.generic, int, float, complex)), (
            where,
            type(ours),
        )
        if onp.ndim(theirs):
            assert type(ours) is type(theirs) is onp.ndarray, where
        a, b = onp.asarray(ours), onp.asarray(theirs)
        assert a.shape == b.shape and a.dtype == b.dtype, (
            where,
            a.shape,
            b.shape,
            a.dtype,
            b.dtype,
        )
        onp.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, err_msg=where)


# -- operators -----------------------------------------------------------------------------------


@program
def grad_of_a_number(L: Library) -> Any:
    return L.grad(L.np.tanh)(0.7), L.grad(L.grad(L.np.tanh))(0.7)


@program
def grad_of_an_array(L: Library) -> Any:
    return L.grad(lambda x: L.np.sum(L.np.sin(x) * x**2))(X)


@program
def grad_of_a_float32_array(L: Library) -> Any:
    return L.grad(lambda x: L.np.sum(x**2))(X.astype(onp.float32))


@program
def grad_by_positions(L: Library) -> Any:
    def f(x: Any, y: Any, z: Any) -> Any:
        return L.np.sum(x * y**2) * z

    args = (X, X[::-1].copy(), 2.0)
    return [L.grad(f, a)(*args) for a in (0, 1, 2, -1, (0, 2), [1, 0])]


@program
def grad_with_keywords(L: Library) -> Any:
    return L.grad(lambda x, power=2: L.np.sum(x**power))(X, power=3)


@program
def grad_of_nests(L: Library) -> Any:
    def f(p: Any) -> Any:
        return L.np.sum(p["w"] * p["layers"][0]) + p["layers"][1][0] ** 2

    return L.grad(f)({"w": X, "layers": [X**2, (3.0, X)]})


@program
def grad_of_one_element_arrays(L: Library) -> Any:
    return L.grad(lambda x: L.np.sum(x, keepdims=True) ** 2)(X), L.grad(lambda x: x * 2)(
        onp.array([[3.0]])
    )


@program
def value_and_grad(L: Library) -> Any:
    return L.value_and_grad(lambda x: L.np.sum(x**2))(X), L.value_and_grad(lambda x: x**2)(3.0)


@program
def value_and_grad_by_positions(L: Library) -> Any:
    return L.value_and_grad(lambda a, b: a * L.np.sum(b), (0, 1))(2.0, X)


@program
def elementwise_grads(L: Library) -> Any:
    f = L.elementwise_grad
    return f(L.np.tanh)(X), f(f(L.np.tanh))(X), f(lambda x: L.np.exp(x))(0.5)


@program
def jacobians(L: Library) -> Any:
    return (
        L.jacobian(lambda x: L.np.dot(M, x) ** 2)(X),
        L.jacobian(lambda x: L.np.sum(x**2))(X),
        L.jacobian(lambda x: L.np.outer(x, x))(X),
        L.jacobian(lambda x: x**2)(3.0),
        L.jacobian(lambda a, b: a * b, 1)(X, X),
    )


@program
def jacobian_of_real_by_complex(L: Library) -> Any:
    return L.jacobian(lambda z: L.np.abs(z) ** 2)(Z)


@program
def hessians(L: Library) -> Any:
    return (
        L.hessian(lambda x: L.np.prod(x) * x[0])(X),
        L.hessian(lambda x: x**3)(2.0),
        L.hessian(lambda x: L.np.dot(M, x) ** 3)(X),
    )


@program
def derivs(L: Library) -> Any:
    return L.deriv(L.np.exp)(0.5), L.deriv(lambda x: L.np.sin(x) * x)(X)


@program
def holomorphic(L: Library) -> Any:
    return L.holomorphic_grad(lambda z: z**3 + L.np.exp(z))(1.0 + 2.0j)


@program
def vjps(L: Library) -> Any:
    vjp, y = L.make_vjp(lambda x: L.np.dot(M, x))(X)
    return vjp(X**2), vjp(onp.ones(3)), y


@program
def vjps_of_nests(L: Library) -> Any:
    vjp, y = L.make_vjp(lambda a, b: a * L.np.sum(b), (0, 1))(X, M)
    return vjp(X), y


@program
def vjps_of_complex(L: Library) -> Any:
    vjp, y = L.make_vjp(lambda z: z**2 * (1 + 1j))(Z)
    back, _ = L.make_vjp(lambda x: x * (2.0 + 3.0j))(X)
    return vjp(Z**3), y, back(Z)


@program
def jvps(L: Library) -> Any:
    both = L.make_jvp(lambda x, y: L.np.dot(M, x) * y, (0, 1))(X, 2.0)((X**2, 0.5))
    return L.make_jvp(L.np.tanh)(X)(X**2), both


@program
def jvps_of_complex(L: Library) -> Any:
    return L.make_jvp(lambda z: z**2 * (1 + 1j))(Z)(Z**3)


@program
def jvps_by_reverse_mode(L: Library) -> Any:
    return L.make_jvp_reversemode(lambda x: L.np.dot(M, L.np.sin(x)))(X)(X**2)


@program
def hessian_products(L: Library) -> Any:
    def f(x: Any) -> Any:
        return L.np.sum(L.np.exp(x * x[0]))

    hvp, gradient = L.make_hvp(f)(X)
    return (
        hvp(X**2),
        gradient,
        L.hessian_vector_product(f)(X, X**2),
        L.hessian_tensor_product(lambda m: L.np.sum(m**3) * m[0, 0])(M, M.T),
    )


@program
def jacobian_products(L: Library) -> Any:
    return (
        L.vector_jacobian_product(lambda x: L.np.dot(M, x) ** 2)(X, X),
        L.tensor_jacobian_product(lambda x: L.np.outer(x, x))(X, M),
        L.tensor_jacobian_product(lambda x: L.np.outer(x, x))(X, X),
    )


@program
def gauss_newton(L: Library) -> Any:
    def model(x: Any) -> Any:
        return L.np.tanh(L.np.dot(M, x))

    return (
        L.make_ggnvp(model)(X)(X),
        L.make_ggnvp(model, lambda y: L.np.sum(y**4))(X)(X),
        L.make_ggnvp(lambda a, x: model(x) * a, f_argnum=1)(2.0, X)(X),
    )


@program
def grads_with_aux_and_names(L: Library) -> Any:
    return (
        L.grad_and_aux(lambda x: (L.np.sum(x**2), x * 3))(X),
        L.grad_named(lambda a, b: L.np.sum(a * b), "b")(X, X**2),
    )


@program
def checkpoints(L: Library) -> Any:
    f = L.checkpoint(lambda x: L.np.tanh(L.np.dot(M, x)))
    return L.grad(lambda x: L.np.sum(f(f(x))))(X), L.hessian(lambda x: L.np.sum(f(x)))(X)


@program
def names_of_functions(L: Library) -> Any:
    def parabola(x: Any) -> Any:
        return x**2

    return L.grad(parabola).__name__, L.jacobian(parabola, 0).__name__


@program
def gradients_through_gradients(L: Library) -> Any:
    np = L.np

    def inner(x: Any, y: Any) -> Any:
        return np.sum(np.sin(x) * y**2)

    def step(x: Any, y: Any) -> Any:
        return np.sum((x - 0.1 * L.grad(inner)(x, y)) ** 2)

    return L.grad(step)(X, X**2), L.grad(step, 1)(X, X**2)


@program
def perturbations_are_not_confused(L: Library) -> Any:
    return L.grad(lambda x: x * L.grad(lambda y: x + y)(1.0))(3.0)


# -- the conventions of complex numbers ----------------------------------------------------------


@program
def complex_gradients(L: Library) -> Any:
    np = L.np
    return [
        L.grad(lambda z: np.real(np.sum(z * np.conj(z))))(Z),
        L.grad(lambda z: np.abs(z) ** 2)(1.0 + 2.0j),
        L.grad(lambda z: np.sum(np.real(np.exp(z))))(Z),
        L.grad(lambda z: np.sum(np.imag(z**2)))(Z),
        L.grad(lambda z: np.sum(np.angle(z)))(Z),
        L.grad(lambda x: np.sum(np.real(np.exp(1j * x) * Z)))(X),
        L.grad(lambda z: np.sum(np.abs(np.dot(M + 1j * M.T, z))))(Z),
    ]


@program
def fourier_transforms(L: Library) -> Any:
    np = L.np
    return [
        L.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 3))(X),
        L.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 3))(onp.arange(6.0) ** 1.5),
        L.grad(lambda z: np.sum(np.real(np.fft.ifft(z) ** 2)))(Z),
        L.grad(lambda m: np.sum(np.abs(np.fft.fft2(m)) ** 2 * M))(M),
        L.grad(lambda z: np.sum(np.fft.irfft(z) ** 3))(Z),
        L.grad(lambda x: np.sum(np.fft.fftshift(x) * X))(X),
    ]


# -- kinks and ties ------------------------------------------------------------------------------


@program
def ties(L: Library) -> Any:
    np = L.np
    tied = onp.array([1.0, 3.0, 3.0, 0.0])
    return [
        L.grad(lambda x: np.max(x))(tied),
        L.grad(lambda x: np.min(x))(onp.zeros(3)),
        L.grad(lambda x: np.sum(np.max(x, axis=0)))(onp.stack([tied, tied[::-1]])),
        L.grad(np.maximum, (0, 1))(2.0, 2.0),
        L.grad(lambda x: np.sum(np.maximum(0, x)))(tied),
        L.grad(lambda x: np.sum(np.abs(x)))(tied),
        L.grad(lambda x: np.sum(np.clip(x, 0.0, 1.0)))(tied),
        L.grad(lambda x: np.sum(x**0))(tied),
        L.grad(lambda x: np.sum(x**2))(onp.zeros(2)),
        L.grad(lambda x: np.sum(np.where(x > 1, x**2, -x)))(tied),
    ]


# -- NumPy's functions ---------------------------------------------------------------------------


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
    for name in ("sin", "sum", "dot", "concatenate", "zeros", "linspace", "where", "einsum"):
        assert getattr(OURS.np, name).__wrapped__ is getattr(onp, name)
    assert OURS.np.ndarray is onp.ndarray is THEIRS.np.ndarray
    assert OURS.np.pi == THEIRS.np.pi and OURS.np.newaxis is THEIRS.np.newaxis


# -- SciPy's functions ---------------------------------------------------------------------------

UNIT = onp.array([0.2, 0.55, 0.9])
POSITIVE = onp.array([0.4, 1.3, 3.1])
SPECIAL: dict[str, tuple[Any, ...]] = {
    "beta": (POSITIVE, POSITIVE[::-1]), "betaln": (POSITIVE, POSITIVE[::-1]), "psi": (POSITIVE,),
    "digamma": (POSITIVE,), "gamma": (POSITIVE,), "gammaln": (POSITIVE,), "erf": (X,), "erfc": (X,),
    "erfinv": (UNIT,), "erfcinv": (UNIT,), "logit": (UNIT,), "expit": (X,), "i0": (X,), "i1": (X,),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name: str) -> None:
    def of(L: Library) -> Any:
        function = getattr(L.module("scipy.special"), name)
        args = SPECIAL[name]
        places = tuple(range(len(args)))
        total = L.grad(lambda *a: L.np.sum(function(*a) * X), places)
        return function(*args), total(*args), L.grad(lambda *a: L.np.sum(total(*a)[0] * X))(*args)

    compare(of)


@program
def special_functions_with_orders(L: Library) -> Any:
    s, np = L.module("scipy.special"), L.np
    return [
        L.grad(lambda x: np.sum(s.polygamma(2, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.betainc(2.0, 3.0, x)))(UNIT),
        L.grad(lambda x: np.sum(s.gammainc(2.0, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.gammaincc(2.0, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.iv(1.5, x)))(POSITIVE),
        L.grad(lambda x: np.sum(s.ive(1.5, x)))(POSITIVE),
    ]


@program
def logsumexps(L: Library) -> Any:
    logsumexp = L.module("scipy.special").logsumexp
    return [
        L.grad(logsumexp)(X),
        L.jacobian(lambda m: logsumexp(m, axis=0))(M),
        L.jacobian(lambda m: logsumexp(m, 1, keepdims=True))(M),
        L.jacobian(lambda m: logsumexp(m, axis=1, b=onp.array([1.0, 2.0, 3.0])))(M),
        L.hessian(logsumexp)(X),
    ]


STATS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...]]] = {
    "norm": ("pdf cdf sf logpdf logcdf logsf", (X, 0.2, 1.7), (0, 1, 2)),
    "t": ("pdf logpdf", (X, 3.5, 0.2, 1.7), (0, 1, 2, 3)),
    "beta": ("pdf logpdf", (UNIT, 2.3, 1.4), (0, 1, 2)),
    "gamma": ("pdf logpdf", (POSITIVE, 2.3), (0, 1)),
    "chi2": ("pdf logpdf cdf", (POSITIVE, 3), (0,)),
    "poisson": ("pmf logpmf cdf", (onp.array([0.0, 2.0, 5.0]), 2.3), (1,)),
    "dirichlet": ("pdf logpdf", (onp.array([0.2, 0.3, 0.5]), onp.array([1.5, 2.0, 0.7])), (0, 1)),
}


@pytest.mark.parametrize("name", STATS)
def test_distributions(name: str) -> None:
    methods, args, places = STATS[name]

    def of(L: Library) -> Any:
        stats = L.module(f"scipy.stats.{name}")
        found = []
        for method in methods.split():
            function = getattr(stats, method)
            found.append(
                (function(*args), L.grad(lambda *a, f=function: L.np.sum(f(*a)), places)(*args))
            )
        return found

    compare(of)


@program
def distribution_functions_by_x_and_loc(L: Library) -> Any:
    t, beta, gamma = (L.module(f"scipy.stats.{n}") for n in ("t", "beta", "gamma"))
    np = L.np
    return [
        L.grad(lambda x, m: np.sum(t.cdf(x, 3.5, m, 1.7)), (0, 1))(X, 0.2),
        L.grad(lambda x, m: np.sum(t.logcdf(x, 3.5, m)), (0, 1))(X, 0.2),
        L.grad(lambda x: np.sum(beta.cdf(x, 2.3, 1.4)))(UNIT),
        L.grad(lambda x: np.sum(gamma.cdf(x, 2.3)))(POSITIVE),
    ]


@program
def normal_vectors(L: Library) -> Any:
    mvn, np = L.module("scipy.stats.multivariate_normal"), L.np
    points = onp.stack([X, X**2, onp.zeros(3)])
    return [
        mvn.logpdf(points, X, SPD),
        L.grad(lambda x, m, c: np.sum(mvn.logpdf(x, m, c)), (0, 1, 2))(points, X, SPD),
        L.grad(lambda m, c: mvn.logpdf(X, m, c), 1)(X**2, SPD),
        L.grad(lambda x: np.sum(mvn.pdf(x, X, SPD)))(points),
        L.grad(lambda c: mvn.entropy(X, c))(SPD),
    ]


@program
def scipy_linear_algebra(L: Library) -> Any:
    linalg, np = L.module("scipy.linalg"), L.np
    return [
        L.grad(lambda m: np.sum(linalg.sqrtm(np.dot(m, m.T) + onp.eye(3)) * M))(M),
        L.grad(lambda m, x: np.sum(linalg.solve_triangular(m, x) ** 2), (0, 1))(onp.triu(M), X),
        L.grad(lambda m: np.sum(linalg.solve_triangular(m, M, trans="T", lower=True)))(onp.tril(M)),
        L.grad(lambda a, b, q: np.sum(linalg.solve_sylvester(a, b, q) ** 2), (0, 1, 2))(
            M, SPD, M.T
        ),
    ]


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolutions(mode: str) -> None:
    rng = onp.random.default_rng(0)
    cases = [
        (rng.normal(size=7), rng.normal(size=3), {}),
        (rng.normal(size=4), rng.normal(size=4), {}),
        (rng.normal(size=(5, 6)), rng.normal(size=(2, 3)), {}),
        (rng.normal(size=(2, 6)), rng.normal(size=(3, 4)), {"axes": [[1], [1]]}),
        (
            rng.normal(size=(2, 3, 6, 5)),
            rng.normal(size=(4, 3, 2, 3)),
            {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [1])},
        ),
    ]

    def of(L: Library) -> Any:
        convolve = L.module("scipy.signal").convolve
        found = []
        for a, b, settings in cases:
            y = convolve(a, b, mode=mode, **settings)
            total = lambda a, b: L.np.sum(convolve(a, b, mode=mode, **settings) ** 2)  # noqa: B023, E731
            places = 0 if mode == "same" else (0, 1)
            found.append([y, L.grad(total, places)(a, b)])
        return found

    compare(of)


def test_convolution_of_the_smaller_with_the_larger() -> None:
    a, b = onp.arange(3.0), onp.arange(5.0)[:, None] * onp.ones(2)
    settings = {"axes": ([0], [0]), "mode": "valid"}
    compare(lambda L: L.module("scipy.signal").convolve(a, b, **settings))


def test_odeint() -> None:
    def of(L: Library) -> Any:
        np = L.np
        odeint = L.module("scipy.integrate").odeint

        def f(y: Any, t: Any, a: Any, b: Any) -> Any:
            return np.array([a[0] * y[0] - b * y[0] * y[1], -a[1] * y[1] + y[0] * y[1] + 0.1 * t])

        def end(y0: Any, t: Any, a: Any, b: Any) -> Any:
            args = L.module("builtins").tuple((a, b))
            return np.sum(odeint(f, y0, t, args, rtol=1e-10, atol=1e-10) ** 2)

        args = (onp.array([1.0, 0.5]), onp.array([0.0, 0.4, 1.0]), onp.array([0.7, 0.5]), 0.9)
        return L.grad(end, (0, 1, 2, 3))(*args)

    for ours, theirs in zip(of(OURS), of(THEIRS), strict=True):
        onp.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
        assert isinstance(ours, (onp.ndarray, onp.float64))


# -- extending -----------------------------------------------------------------------------------


@program
def a_primitive(L: Library) -> Any:
    extend, np = L.module("extend"), L.np

    @extend.primitive
    def logsumexp(x: Any) -> Any:
        assert type(x) is onp.ndarray
        high = onp.max(x)
        return high + onp.log(onp.sum(onp.exp(x - high)))

    extend.defvjp(logsumexp, lambda ans, x: lambda g: g * np.exp(x - ans))
    return (
        logsumexp(X),
        L.grad(lambda x: logsumexp(x**2))(X),
        L.hessian(logsumexp)(X),
        L.jacobian(lambda x: np.array([logsumexp(x), logsumexp(2 * x)]))(X),
    )


@program
def a_primitive_of_several_arguments(L: Library) -> Any:
    extend, np = L.module("extend"), L.np

    @extend.primitive
    def scaled(n: Any, x: Any, y: Any, sign: float = 1.0) -> Any:
        return sign * n * x * y**2

    extend.defvjp(
        scaled,
        lambda ans, n, x, y, sign=1.0: lambda g: sign * n * g * y**2,
        lambda ans, n, x, y, sign=1.0: lambda g: 2 * sign * n * g * x * y,
        argnums=(1, 2),
    )
    both = L.grad(lambda x, y: np.sum(scaled(3, x, y, sign=-1.0)), (0, 1))
    return both(X, X**2), L.grad(lambda x: np.sum(scaled(2, x, x)))(X)


@program
def a_primitive_with_one_rule_for_all(L: Library) -> Any:
    extend, np = L.module("extend"), L.np

    @extend.primitive
    def product(*factors: Any) -> Any:
        return math.prod(factors)

    def vjp(argnum: int, ans: Any, args: Any, kwargs: Any) -> Any:
        return lambda g: g * math.prod(args[:argnum]) * math.prod(args[argnum + 1 :])

    extend.defvjp_argnum(product, vjp)
    return L.grad(lambda x: product(x[0], x[1], x[2], 2.0))(X), L.grad(
        lambda x: np.sum(product(x, x))
    )(X)


@program
def a_primitive_with_tangents(L: Library) -> Any:
    extend = L.module("extend")

    @extend.primitive
    def weighted(w: Any, x: Any) -> Any:
        return w * x

    extend.defjvp(weighted, "same", lambda t, ans, w, x: w * t)
    return L.make_jvp(lambda x: weighted(x, x**2))(X)(X), L.deriv(lambda x: weighted(x, 2.0))(1.0)


@program
def a_primitive_of_complex_numbers(L: Library) -> Any:
    extend, np = L.module("extend"), L.np

    @extend.primitive
    def squared(z: Any) -> Any:
        return z * z

    extend.defvjp(squared, lambda ans, z: lambda g: g * 2 * z)
    return L.grad(lambda z: np.sum(np.imag(squared(z) * (1 + 2j))))(Z), L.make_vjp(squared)(Z)[0](Z)


@program
def a_primitive_without_derivative(L: Library) -> Any:
    extend, np = L.module("extend"), L.np

    @extend.notrace_primitive
    def nearest(x: Any) -> Any:
        return onp.round(x)

    return L.grad(lambda x: np.sum(x * nearest(x)))(X)


@program
def vector_spaces(L: Library) -> Any:
    vspace = L.module("extend").vspace
    space, nest, z = vspace(M), vspace([X, (2.0,)]), vspace(Z)
    return [
        space.zeros(), space.ones(), list(space.standard_basis())[4], float(space.size),
        space.shape, nest.zeros(), nest.ones(), float(nest.size), list(nest.standard_basis())[3],
        z.ones(), float(z.size), list(z.standard_basis())[1], z.iscomplex, space.iscomplex,
        space.add(M, M), nest.scalar_mul([X, (2.0,)], 3.0), z.inner_prod(Z, Z), z.covector(Z),
        space == vspace(M.T), space == vspace(X),
    ]  # fmt: skip


@program
def what_builtins_say(L: Library) -> Any:
    builtins, seen = L.module("builtins"), []

    def f(p: Any) -> Any:
        x, parts = p
        seen.extend([
            builtins.isinstance(x, onp.ndarray), builtins.isinstance(x, float),
            builtins.isinstance(L.np.sum(x), onp.float64), builtins.type(x) is onp.ndarray,
            builtins.isinstance(parts, dict), builtins.isinstance(parts, builtins.dict),
            isinstance(x, onp.ndarray),
        ])  # fmt: skip
        made = builtins.dict({"a": x[0], "b": parts["c"]})
        more = builtins.list([made["a"], x[1]])
        return more[0] * made["b"] + builtins.tuple((x[2],))[0]

    return L.grad(f)((X, {"c": 2.0})), seen


# -- misc ----------------------------------------------------------------------------------------


@program
def flattening(L: Library) -> Any:
    flatten = L.module("misc").flatten
    nest = {"w": [M, X], "b": (2.0, {"z": X, "a": X**2})}
    vector, unflatten = flatten(nest)
    func, back, start = L.module("misc.flatten").flatten_func(lambda p: {"y": p["w"][1] ** 2}, nest)
    return [
        vector, unflatten(vector**2), func(start), back(start),
        L.grad(lambda v: L.np.sum(unflatten(v)["w"][1] ** 2))(vector),
        L.jacobian(func)(start),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimisers(name: str) -> None:
    def of(L: Library) -> Any:
        optimise = getattr(L.module("misc.optimizers"), name)
        seen: list[Any] = []

        def objective(p: Any, i: int) -> Any:
            return L.np.sum((p["a"] - X) ** 2) + (p["b"] - i) ** 2

        def callback(p: Any, i: int, g: Any) -> None:
            seen.append((i * 1.0, p["a"], g["b"]))

        start = {"a": onp.zeros(3), "b": 1.0}
        end = optimise(L.grad(objective), start, callback=callback, num_iters=20, step_size=0.05)
        return end, seen, optimise(L.grad(objective), start, None, 5)

    compare(of)


@program
def fixed_points(L: Library) -> Any:
    fixed_point = L.module("misc.fixed_points").fixed_point

    def root(a: Any) -> Any:
        return fixed_point(
            lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12
        )

    return L.grad(root)(2.0), L.grad(L.grad(root))(2.0)


def test_checks_of_gradients() -> None:
    for L in (THEIRS, OURS):
        check, np = L.module("test_util"), L.np
        check.check_grads(lambda x, np=np: np.sin(x) * x)(X)
        check.check_grads(lambda x, y: x * y**2, (0, 1), modes=["rev"], order=1)(X, X)
        check.check_vjp(np.tanh, X)
        check.check_jvp(np.tanh, X)
        check.combo_check(np.sum, 0, order=1)([M, M.T], axis=[None, 0])

        wrong = L.module("extend").primitive(lambda x: x**2)
        L.module("extend").defvjp(wrong, lambda ans, x: lambda g: g * x)
        with pytest.raises(AssertionError):
            check.check_grads(wrong, modes=["rev"])(X)


# -- well-known programs, written anew -----------------------------------------------------------


@program
def logistic_regression(L: Library) -> Any:
    np = L.np
    inputs = onp.array(
        [[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.3], [0.74, -2.5, 1.4]]
    )
    targets = onp.array([True, True, False, True])

    def loss(weights: Any) -> Any:
        predicted = 0.5 * (np.tanh(np.dot(inputs, weights) / 2.0) + 1)
        return -np.sum(np.log(predicted * targets + (1 - predicted) * (1 - targets)))

    weights = onp.zeros(3)
    for _ in range(100):
        weights = weights - 0.01 * L.grad(loss)(weights)
    return weights, loss(weights)


def network_data() -> tuple[Any, Any, Any]:
    rng = onp.random.default_rng(1)
    inputs = rng.normal(size=(20, 4))
    targets = onp.eye(3)[rng.integers(0, 3, 20)]
    params = [
        (0.1 * rng.normal(size=(m, n)), 0.1 * rng.normal(size=n)) for m, n in [(4, 6), (6, 3)]
    ]
    return inputs, targets, params


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_neural_network(optimiser: str) -> None:
    inputs, targets, start = network_data()

    def of(L: Library) -> Any:
        np, logsumexp = L.np, L.module("scipy.special").logsumexp
        flatten = L.module("misc").flatten

        def log_probabilities(params: Any, x: Any) -> Any:
            for w, b in params:
                y = np.dot(x, w) + b
                x = np.tanh(y)
            return y - logsumexp(y, axis=1, keepdims=True)

        def objective(params: Any, i: int) -> Any:
            batch = slice(5 * (i % 4), 5 * (i % 4) + 5)
            penalty = np.dot(flatten(params)[0], flatten(params)[0])
            return 0.01 * penalty - np.sum(
                log_probabilities(params, inputs[batch]) * targets[batch]
            )

        step = getattr(L.module("misc.optimizers"), optimiser)
        return step(L.grad(objective), start, step_size=0.05, num_iters=12)

    compare(of)


@program
def gaussian_process(L: Library) -> Any:
    np, mvn = L.np, L.module("scipy.stats.multivariate_normal")
    rng = onp.random.default_rng(2)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=8)

    def covariance(params: Any, a: Any, b: Any) -> Any:
        scale, lengths = np.exp(params[0]), np.exp(params[1:3])
        difference = np.expand_dims(a / lengths, 1) - np.expand_dims(b / lengths, 0)
        return scale * np.exp(-0.5 * np.sum(difference**2, axis=2))

    def likelihood(params: Any) -> Any:
        cov = covariance(params, x, x) + np.exp(params[3]) * np.eye(len(y))
        return mvn.logpdf(y, params[4] * np.ones(len(y)), cov)

    def by_hand(params: Any) -> Any:
        cov = covariance(params, x, x) + np.exp(params[3]) * np.eye(len(y))
        half = np.linalg.solve(np.linalg.cholesky(cov), y - params[4])
        return -0.5 * np.dot(half, half) - 0.5 * np.linalg.slogdet(cov)[1]

    start = onp.array([0.1, -0.3, 0.2, -1.0, 0.05])
    return L.value_and_grad(likelihood)(start), L.grad(by_hand)(start)


@program
def mixture_of_gaussians(L: Library) -> Any:
    np, mvn = L.np, L.module("scipy.stats.multivariate_normal")
    logsumexp = L.module("scipy.special").logsumexp
    flatten_func = L.module("misc.flatten").flatten_func
    points = onp.random.default_rng(3).normal(size=(15, 2)) * [1.0, 3.0]

    def likelihood(params: Any) -> Any:
        weights = params["weights"] - logsumexp(params["weights"])
        parts = [
            w + mvn.logpdf(points, mean, np.dot(root.T, root) + 0.1 * onp.eye(2))
            for w, mean, root in zip(weights, params["means"], params["roots"], strict=True)
        ]
        return np.sum(logsumexp(np.vstack(parts), axis=0))

    start = {
        "weights": onp.array([0.1, -0.2]),
        "means": onp.array([[0.5, 1.0], [-0.5, -2.0]]),
        "roots": onp.stack([onp.eye(2), M[:2, :2]]),
    }
    flat, unflatten, vector = flatten_func(lambda p: -likelihood(p), start)
    gradient = L.grad(lambda v: np.sum(flat(v)))
    hvp = L.hessian_vector_product(lambda v: np.sum(flat(v)))
    return gradient(vector), hvp(vector, vector), unflatten(gradient(vector))


@program
def recurrent_network(L: Library) -> Any:
    np = L.np
    rng = onp.random.default_rng(4)
    text = onp.eye(5)[rng.integers(0, 5, (7, 3))]
    params = {
        "start": rng.normal(size=(1, 4)),
        "change": 0.5 * rng.normal(size=(5 + 4 + 1, 4)),
        "predict": 0.5 * rng.normal(size=(4 + 1, 5)),
    }

    def affine(weights: Any, *inputs: Any) -> Any:
        return np.dot(np.hstack((*inputs, onp.ones((inputs[0].shape[0], 1)))), weights)

    def loss(params: Any) -> Any:
        hidden = np.repeat(params["start"], 3, axis=0)
        total = 0.0
        for t in range(6):
            hidden = np.tanh(affine(params["change"], text[t], hidden))
            scores = affine(params["predict"], hidden)
            scores = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
            total = total - np.sum(scores * text[t + 1])
        return total

    return L.value_and_grad(loss)(params)


@program
def runge_kutta(L: Library) -> Any:
    np = L.np

    def slope(y: Any, k: Any) -> Any:
        return np.array([y[1] * k[0], -np.sin(y[0]) - k[1] * y[1]])

    def end(k: Any, y: Any) -> Any:
        h = 0.05
        for _ in range(20):
            a = slope(y, k)
            b = slope(y + h / 2 * a, k)
            c = slope(y + h / 2 * b, k)
            d = slope(y + h * c, k)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return y

    k, y = onp.array([1.1, 0.2]), onp.array([0.5, 0.0])
    return L.jacobian(end)(k, y), L.jacobian(end, 1)(k, y)


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


@program
def rosenbrock_with_scipy(L: Library) -> Any:
    start = onp.array([-1.2, 1.0])
    bfgs = scipy.optimize.minimize(rosenbrock, start, jac=L.grad(rosenbrock), method="BFGS")
    both = scipy.optimize.minimize(L.value_and_grad(rosenbrock), start, jac=True, method="CG")
    newton = scipy.optimize.minimize(
        rosenbrock, start, jac=L.grad(rosenbrock), method="Newton-CG",
        hessp=L.hessian_vector_product(rosenbrock),
    )  # fmt: skip
    exact = scipy.optimize.minimize(
        rosenbrock, start, jac=L.grad(rosenbrock), hess=L.hessian(rosenbrock), method="trust-exact"
    )
    return [bfgs.x, both.x, newton.x, exact.x, float(bfgs.nit), float(newton.nit)]


@program
def variational_inference(L: Library) -> Any:
    np, norm = L.np, L.module("scipy.stats.norm")
    draws = onp.random.default_rng(5).normal(size=(50, 2))

    def log_density(x: Any) -> Any:
        return norm.logpdf(x[:, 1], 0, 1.35) + norm.logpdf(x[:, 0], 0, np.exp(x[:, 1]))

    def bound(params: Any) -> Any:
        mean, log_std = params[:2], params[2:]
        samples = draws * np.exp(log_std) + mean
        return -np.sum(log_std) - np.mean(log_density(samples))

    step = L.module("misc.optimizers").adam
    return step(lambda p, i: L.grad(bound)(p), onp.array([-1.0, -1.0, -2.0, -2.0]), num_iters=30)


@program
def bayesian_regression(L: Library) -> Any:
    np, norm = L.np, L.module("scipy.stats.norm")
    rng = onp.random.default_rng(6)
    x, y = rng.normal(size=(10, 3)), rng.normal(size=10)

    def log_posterior(w: Any, log_noise: Any) -> Any:
        prior = np.sum(norm.logpdf(w, 0.0, 2.0))
        return prior + np.sum(norm.logpdf(np.dot(x, w), y, np.exp(log_noise)))

    return L.grad(log_posterior, (0, 1))(X, -0.5), L.hessian(log_posterior)(X, -0.5)


@program
def poisson_regression(L: Library) -> Any:
    np, poisson = L.np, L.module("scipy.stats.poisson")
    rng = onp.random.default_rng(7)
    x, counts = rng.normal(size=(9, 3)), rng.poisson(3.0, 9)
    return L.grad(lambda w: -np.sum(poisson.logpmf(counts, np.exp(np.dot(x, w)))))(X / 5)


@program
def power_iteration(L: Library) -> Any:
    np = L.np

    def largest(m: Any) -> Any:
        v = onp.ones(3)
        for _ in range(30):
            v = np.dot(m, v)
            v = v / np.sqrt(np.sum(v**2))
        return np.dot(v, np.dot(m, v))

    return L.value_and_grad(largest)(SPD)


@program
def kalman_filter(L: Library) -> Any:
    np = L.np
    measured = onp.sin(onp.arange(12.0))

    def likelihood(params: Any) -> Any:
        noise, drift = np.exp(params[0]), np.exp(params[1])
        mean, cov, total = np.zeros(2), np.eye(2), 0.0
        step = np.array([[1.0, params[2]], [0.0, 1.0]])
        for z in measured:
            mean, cov = np.dot(step, mean), np.dot(np.dot(step, cov), step.T) + drift * np.eye(2)
            spread = cov[0, 0] + noise
            gain = cov[:, 0] / spread
            total = total - 0.5 * ((z - mean[0]) ** 2 / spread + np.log(spread))
            mean = mean + gain * (z - mean[0])
            cov = cov - np.outer(gain, cov[0])
        return total

    return L.value_and_grad(likelihood)(onp.array([-1.0, -2.0, 0.5]))


@program
def gradient_of_an_optimiser(L: Library) -> Any:
    np = L.np

    def after_training(rate: Any) -> Any:
        w = onp.ones(3)
        for _ in range(5):
            w = w - rate * L.grad(lambda w: np.sum((np.dot(M, w) - X) ** 2))(w)
        return np.sum((np.dot(M, w) - X) ** 2)

    return L.grad(after_training)(0.01)


@program
def hamiltonian_steps(L: Library) -> Any:
    np = L.np

    def energy(q: Any) -> Any:
        return np.sum(q**4) / 4 + 0.5 * np.dot(q, np.dot(SPD, q))

    def end(q: Any) -> Any:
        p = np.zeros(3)
        for _ in range(4):
            p = p - 0.05 * L.grad(energy)(q)
            q = q + 0.1 * p
        return np.sum(q * X)

    return L.grad(end)(X)


# -- running them --------------------------------------------------------------------------------


def compare(of: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = of(THEIRS)
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", wg.UnconnectedWarning)  # autograd has one like it
        ours = of(OURS)
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 60


# -- differences that stay -----------------------------------------------------------------------


def test_both_refuse_what_has_no_gradient() -> None:
    for L in (THEIRS, OURS):
        np = L.np
        with pytest.raises(TypeError):
            L.grad(np.sin)(X)
        with pytest.raises(TypeError):
            L.value_and_grad(np.sin)(X)
        with pytest.raises(TypeError):
            L.grad(lambda z: z**2)(1.0 + 2.0j)
        with pytest.raises(TypeError):
            L.elementwise_grad(lambda z: z * 1j)(X)
        with pytest.raises(TypeError):
            L.grad(lambda x: x**2)(3)
        with pytest.warns(UserWarning, match="independent|does not depend"):
            assert L.grad(lambda x: 3.0)(2.0) == 0
        with pytest.warns(UserWarning, match="not complex"):
            assert L.holomorphic_grad(lambda x: x**2)(3.0) == 6
        extend = L.module("extend")
        bare = extend.primitive(lambda x: x)
        with pytest.raises(NotImplementedError):
            L.grad(bare)(1.0)


def test_integer_arrays_are_refused_here() -> None:
    waves = [lambda x, L=L: L.np.sum(L.np.sin(x)) for L in (THEIRS, OURS)]
    assert THEIRS.grad(waves[0])(onp.zeros(3, dtype=int)).tolist() == [1, 1, 1]
    with pytest.raises(TypeError, match="float"):
        OURS.grad(waves[1])(onp.zeros(3, dtype=int))


def test_what_autograd_does_not_do() -> None:
    programs: dict[str, Callable[[Any, Any], Any]] = {
        "broadcast_to": lambda np, m: np.broadcast_to(m, (2, 3, 3)),
        "diagonal": lambda np, m: np.diagonal(m, offset=1),
        "gradient": lambda np, m: np.gradient(m[0]),
        "qr": lambda np, m: np.linalg.qr(m)[1],
        "median": lambda np, m: np.median(m),
        "meshgrid": lambda np, m: np.meshgrid(m[0], m[1])[0],
        "asarray": lambda np, m: np.asarray(m),
    }
    for f in programs.values():
        with pytest.raises((NotImplementedError, ValueError, AssertionError, TypeError)):
            THEIRS.grad(lambda m: THEIRS.np.sum(f(THEIRS.np, m) ** 2))(M)  # noqa: B023
        wg.check_grads(lambda m: f(OURS.np, m), [M], order=1)  # noqa: B023


def test_nan_there_and_a_number_here() -> None:
    points: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
        "norm": (lambda np, x: np.linalg.norm(x), onp.zeros(2)),
        "std": (lambda np, x: np.std(x), onp.ones(3)),
        "prod": (lambda np, x: np.prod(x), onp.array([0.0, 2.0, 3.0])),
        "sinc": (lambda np, x: np.sinc(x), 0.0),
        "where": (lambda np, x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), onp.array([0.0, 1.0])),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f, x in points.values():
            assert onp.isnan(THEIRS.grad(lambda x: f(THEIRS.np, x))(x)).any()  # noqa: B023
            assert onp.isfinite(OURS.grad(lambda x: f(OURS.np, x))(x)).all()  # noqa: B023
