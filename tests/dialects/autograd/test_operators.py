"""Operators, complex numbers and kinks: the same programs on HIPS autograd."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from tests.dialects.autograd.parity import Library, M, X, Z, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
