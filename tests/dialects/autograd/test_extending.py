"""Primitives, vector spaces and the module misc: the same programs on HIPS autograd."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp
import pytest

from tests.dialects.autograd.parity import OURS, Library, M, X, Z, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

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


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
@pytest.mark.parametrize("of", ["rate", "start", "gradient"])
def test_optimisers_have_derivatives(name: str, of: str) -> None:
    """Where an optimiser ends may be differentiated: by its rate, its start, and its gradients."""
    np, optimise = OURS.np, getattr(OURS.module("misc.optimizers"), name)

    def end(s: Any) -> Any:
        rate, start, scale = (s if of == what else 0.5 for what in ("rate", "start", "gradient"))
        given = start * onp.array([1.0, -2.0])
        return np.sum(optimise(lambda x, i: scale + np.sin(x), given, None, 4, rate) ** 3)

    slope = (end(0.5 + 1e-6) - end(0.5 - 1e-6)) / 2e-6
    assert OURS.grad(end)(0.5) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@program
def fixed_points(L: Library) -> Any:
    fixed_point = L.module("misc.fixed_points").fixed_point

    def root(a: Any) -> Any:
        return fixed_point(
            lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12
        )

    return L.grad(root)(2.0), L.grad(L.grad(root))(2.0)


def test_checks_of_gradients() -> None:
    def of(L: Library) -> str:
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
        return "done"

    assert compare(of) == "done"


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
