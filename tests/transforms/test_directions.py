"""Derivatives in many directions at once: `jacobian(..., along=...)`, and forward plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

RNG = np.random.default_rng(3)
X = RNG.uniform(0.5, 1.5, (2, 3))
S = RNG.standard_normal((2, 3, 4))
W = RNG.standard_normal((3, 3))


def f(x: Any) -> Any:
    """Return what goes through every family that carries raw arrays, and a few that do not."""
    y = wg.tanh(x @ W) * x[:, ::-1] + wg.sum(x, axis=0)
    z = wg.concat([wg.reshape(y, (-1,)), wg.cumulative_prod(x[0])])
    return wg.stack([wg.special.softmax(z), z * wg.max(x)]) + wg.linalg.det(
        x @ wg.matrix_transpose(x)
    )


def product(function: Any, x: Any, s: Any) -> np.ndarray:
    """Return the Jacobian, by reverse mode, times directions."""
    jacobian = wg.jacobian(function, mode="reverse")(x)
    return np.tensordot(jacobian, s, axes=x.ndim)


def test_the_product_with_directions():
    np.testing.assert_allclose(wg.jacobian(f, along=S)(X), product(f, X, S), rtol=1e-10)


def test_it_is_what_jvp_says_of_each_direction():
    found = wg.jacobian(f, along=S)(X)
    for k in range(4):
        np.testing.assert_allclose(found[..., k], wg.jvp(f, (X,), (S[..., k],))[1], rtol=1e-10)


@pytest.mark.parametrize("chunk_size", [1, 3, None, "auto"])
def test_chunks_of_directions(chunk_size):
    found = wg.jacobian(f, along=S, chunk_size=chunk_size)(X)
    np.testing.assert_allclose(found, product(f, X, S), rtol=1e-10)


def test_second_order_by_the_argument_and_by_the_directions():
    weights = RNG.standard_normal((2, 9, 4))

    def by_along(x: Any, s: Any) -> Any:
        return wg.sum(weights * wg.jacobian(f, along=s)(x))

    def by_jacobian(x: Any, s: Any) -> Any:
        return wg.sum(weights * wg.tensordot(wg.jacobian(f, mode="reverse")(x), s, axes=2))

    for spot in (0, 1):
        mine, theirs = (wg.grad(g, spot)(X, S) for g in (by_along, by_jacobian))
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)
    step = 1e-6 * RNG.standard_normal(X.shape)
    difference = (by_along(X + step, S) - by_along(X - step, S)) / 2
    np.testing.assert_allclose(np.sum(wg.grad(by_along)(X, S) * step), difference, rtol=1e-5)


def test_several_arguments_and_results_in_nests():
    def g(p: Any, c: Any) -> Any:
        return {"sum": p["a"] * c, "a": wg.sin(p["b"])}

    p, c = {"a": np.array([1.0, 2.0]), "b": np.array(0.3)}, np.array(2.0)
    along = ({"a": np.eye(2, 3), "b": np.array([0.0, 0.0, 1.0])}, np.array([1.0, 0.0, 0.0]))
    found = wg.jacobian(g, (0, 1), along=along)(p, c)
    np.testing.assert_allclose(found["sum"], [[2.0 + 1.0, 0.0, 0.0], [2.0, 2.0, 0.0]])
    np.testing.assert_allclose(found["a"], [0.0, 0.0, np.cos(0.3)])
    still = wg.jacobian(g, (0, 1), along=({"a": None, "b": along[0]["b"]}, None))(p, c)
    np.testing.assert_allclose(still["a"], [0.0, 0.0, np.cos(0.3)])
    np.testing.assert_array_equal(still["sum"], np.zeros((2, 3)))


def test_parts_of_result_and_argument():
    found = wg.jacobian(f, of=np.s_[0], wrt=np.s_[1], along=S[1])(X)
    whole = wg.jacobian(f, mode="reverse")(X)[0][:, 1]
    np.testing.assert_allclose(found, whole @ S[1], rtol=1e-10)


def test_auxiliary_results_and_kinds_of_arrays():
    y, aux = wg.jacobian(lambda x: (x**2, x.shape), has_aux=True, along=S)(X)
    assert aux == (2, 3) and type(y) is np.ndarray
    assert type(wg.jacobian(lambda x: x**2, along=S)(wg.asarray(X))) is wg.Tensor


def test_complex_directions():
    z = np.array([1.0 + 2.0j, 0.5j])
    s = np.array([[1.0j, 2.0], [1.0, 1.0j]])
    found = wg.jacobian(lambda z: z**2, holomorphic=True, along=s)(z)
    np.testing.assert_allclose(found, 2 * z[:, None] * s)


def test_inside_of_vmap():
    xs = RNG.uniform(0.5, 1.5, (5, 2, 3))
    found = wg.vmap(wg.jacobian(f, along=S))(xs)
    for x, y in zip(xs, found, strict=True):
        np.testing.assert_allclose(y, wg.jacobian(f, along=S)(x), rtol=1e-9)


def test_an_operation_of_several_results_and_half_precision():
    def eigen(x: Any) -> Any:
        values, vectors = wg.linalg.eigh(x + x.T)
        return wg.concat([values, wg.reshape(vectors**2, (-1,))])

    a = RNG.standard_normal((3, 3))
    np.testing.assert_allclose(
        wg.jacobian(eigen, mode="forward")(a), wg.jacobian(eigen, mode="reverse")(a), atol=1e-8
    )
    half = X.astype(np.float16)
    found = wg.jacobian(lambda x: wg.exp(x) * x, along=S.astype(np.float16))(half)
    assert found.dtype == np.float16
    expected = ((1 + X) * np.exp(X))[..., None] * S
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-2)


def test_what_is_wrong_is_said():
    with pytest.raises(wg.ShapeError, match=r"directions have shape \(2, 3\).*\(2, 3, k\)"):
        wg.jacobian(f, along=S[..., 0])(X)
    with pytest.raises(wg.ShapeError, match="1 and 2 directions"):
        wg.jacobian(lambda a, b: a * b, (0, 1), along=(np.ones(1), np.ones(2)))(1.0, 2.0)
    with pytest.raises(ValueError, match="leave out the mode"):
        wg.jacobian(f, mode="reverse", along=S)
    with pytest.raises(wg.ShapeError, match="one tangent for each primal"):
        wg.jacobian(lambda a, b: a * b, (0, 1), along=(np.ones(1),))(1.0, 2.0)


# -- plans ----------------------------------------------------------------------------------------


def ring(x: Any) -> Any:
    """Return numbers that each depend on three neighbours."""
    return wg.sin(x) * wg.roll(x, 1) + wg.exp(-wg.roll(x, -1)) * x


@pytest.mark.parametrize("mode", ["forward", "both", "reverse"])
def test_all_sweeps_of_a_plan_at_once(mode):
    x = RNG.uniform(-1, 1, 12)
    plan = wg.sparse.jacobian(ring, x, mode=mode)
    assert mode != "forward" or plan.sweeps > 1
    at = RNG.uniform(-1, 1, 12)
    np.testing.assert_allclose(plan(at).toarray(), wg.jacobian(ring)(at), rtol=1e-12, atol=1e-14)


def test_a_plan_in_chunks(monkeypatch):
    x = RNG.uniform(-1, 1, 12)
    plan = wg.sparse.jacobian(ring, x, mode="forward")
    expected = plan(x).toarray()
    monkeypatch.setattr("wengert.transforms.sparse.runs.quick_chunk", lambda entries: 2)
    np.testing.assert_array_equal(plan(x).toarray(), expected)


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_the_product_of_a_plan_with_directions(mode):
    x, s = RNG.uniform(-1, 1, 12), RNG.standard_normal((12, 5))
    plan = wg.sparse.jacobian(ring, x, mode=mode)
    np.testing.assert_allclose(plan(x, along=s), plan(x) @ s, rtol=1e-12, atol=1e-13)
    with pytest.raises(wg.ShapeError, match=r"along= has shape \(12,\); .*\(12, k\)"):
        plan(x, along=s[:, 0])


def test_the_product_of_a_hessian_with_directions():
    def energy(x: Any) -> Any:
        return wg.sum(ring(x) ** 2)

    x, s = RNG.uniform(-1, 1, 12), RNG.standard_normal((12, 3))
    plan = wg.sparse.hessian(energy, x)
    np.testing.assert_allclose(plan(x, along=s), plan(x) @ s, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(plan(x, along=s), wg.hessian(energy)(x) @ s, rtol=1e-10, atol=1e-12)


def test_a_plan_of_a_constant():
    plan = wg.sparse.jacobian(lambda x: wg.round(x), np.ones(3))
    np.testing.assert_array_equal(plan(np.ones(3), along=np.ones((3, 2))), np.zeros((3, 2)))
