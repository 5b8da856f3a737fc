"""Jacobians, Hessians, products and diagonals, compared with JAX and with each other."""

from __future__ import annotations

import logging
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from wengert.transforms import sweeps

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
x = rng.normal(size=5)


def wide(np: Any, x: Any) -> Any:
    return np.sin(x[:2, None] * x[None, :3])


def narrow(np: Any, x: Any) -> Any:
    return np.stack([np.sum(x**2), np.prod(np.cos(x))])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("chunk_size", ["auto", None, 1, 2, 100])
@pytest.mark.parametrize("f", [wide, narrow])
def test_jacobian_is_jaxs(f: Any, mode: str, chunk_size: Any) -> None:
    got = wg.jacobian(lambda x: f(np, x), mode=mode, chunk_size=chunk_size)(x)
    np.testing.assert_allclose(got, jax.jacrev(lambda x: f(jnp, x))(x), rtol=1e-12, atol=1e-14)
    assert type(got) is np.ndarray


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_parts_by_of_and_wrt(mode: str) -> None:
    whole = wg.jacobian(lambda x: wide(np, x))(x)
    for of, wrt in [(np.s_[0, :], None), (None, np.s_[1:4]), (np.s_[1, 2], np.s_[[0, 3, 0]])]:
        got = wg.jacobian(lambda x: wide(np, x), mode=mode, of=of, wrt=wrt)(x)
        expected = whole if of is None else whole[of]
        lead = expected.ndim - 1
        if wrt is not None:
            expected = expected[(slice(None),) * lead + (wrt,)]
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_parts_cost_what_lies_between() -> None:
    """A row of a product needs a row of the first factor: the rest is not even looked at."""
    a = rng.normal(size=(50, 50))
    a[1:] = np.nan
    got = wg.jacobian(lambda a: wg.tanh(a) @ a.T, of=np.s_[0, 0], wrt=np.s_[0])(a)
    assert np.isfinite(got).all()


def test_nests_and_argnums() -> None:
    def f(p: dict[str, Any], z: Any) -> Any:
        return {"y": p["w"] @ z + p["b"]}

    p = {"b": rng.normal(size=2), "w": rng.normal(size=(2, 3))}
    z = rng.normal(size=3)
    got = wg.jacobian(f, argnums=(0, 1))(p, z)
    expected = jax.jacrev(f, argnums=(0, 1))(p, z)
    np.testing.assert_allclose(got["y"][0]["w"], expected["y"][0]["w"])
    np.testing.assert_allclose(got["y"][0]["b"], expected["y"][0]["b"])
    np.testing.assert_allclose(got["y"][1], expected["y"][1])


def test_jacobians_are_differentiable() -> None:
    def penalty(np: Any, jacobian: Any, x: Any) -> Any:
        return np.sum(jacobian(lambda x: wide(np, x))(x) ** 2)

    got = wg.grad(lambda x: penalty(wg_names, wg.jacobian, x))(x)
    expected = jax.grad(lambda x: penalty(jnp, jax.jacrev, x))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


class wg_names:
    sin, sum = staticmethod(np.sin), staticmethod(wg.sum)


def test_holomorphic_functions() -> None:
    z = rng.normal(size=3) + 1j * rng.normal(size=3)

    def f(np: Any, z: Any) -> Any:
        return np.exp(z) * z[::-1]

    expected = jax.jacrev(lambda z: f(jnp, z), holomorphic=True)(z)
    for mode in ("forward", "reverse"):
        got = wg.jacobian(lambda z: f(np, z), mode=mode, holomorphic=True)(z)
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def test_hessian() -> None:
    def f(np: Any, x: Any) -> Any:
        return np.sum(np.sin(x) ** 3) * x[0]

    got = wg.hessian(lambda x: f(np, x))(x)
    np.testing.assert_allclose(got, jax.hessian(lambda x: f(jnp, x))(x), rtol=1e-11)
    block = wg.hessian(lambda x: f(np, x), of=np.s_[:2], wrt=np.s_[1:])(x)
    np.testing.assert_allclose(block, got[:2, 1:])
    (product,) = wg.hvp(lambda x: f(np, x), (x,), (x,))
    np.testing.assert_allclose(product, got @ x, rtol=1e-11)
    np.testing.assert_allclose(wg.hessian_diagonal(lambda x: f(np, x))(x), np.diag(got), rtol=1e-11)
    np.testing.assert_allclose(wg.laplacian(lambda x: f(np, x))(x), np.trace(got), rtol=1e-11)


def test_hessian_of_several_arguments() -> None:
    def f(a: Any, b: Any) -> Any:
        return wg.sum(a * b**2)

    a, b = rng.normal(size=2), rng.normal(size=2)
    got = wg.hessian(f, argnums=(0, 1))(a, b)
    expected = jax.hessian(lambda a, b: jnp.sum(a * b**2), argnums=(0, 1))(a, b)
    for mine, theirs in zip(got, expected, strict=True):
        for m, t in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(m, t)


def test_gauss_newton() -> None:
    target = rng.normal(size=6)
    a = rng.normal(size=(6, 5))

    def model(w: Any) -> Any:
        return wg.tanh(wg.asarray(a) @ w)

    def loss(y: Any) -> Any:
        return wg.sum((y - target) ** 4)

    v = rng.normal(size=5)
    j = wg.jacobian(model)(x)
    h = wg.hessian(loss)(np.tanh(a @ x))
    (got,) = wg.gnvp(model, loss, (x,), (v,))
    np.testing.assert_allclose(got, j.T @ h @ j @ v, rtol=1e-12)


@pytest.mark.parametrize("chunk_size", ["auto", 2])
def test_diagonal(chunk_size: Any) -> None:
    def f(x: Any) -> Any:
        return wg.sin(x) * wg.sum(x)

    got = wg.jac_diagonal(f, chunk_size)(x)
    np.testing.assert_allclose(got, np.diag(wg.jacobian(f)(x)), rtol=1e-13)


# -- of a tape ----------------------------------------------------------------------------------


def test_tape_jacobian() -> None:
    t = wg.asarray(x)
    w = wg.Variable(rng.normal(size=(3, 5)))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(t)
        y = wg.tanh(w @ t)
    jt, jw, none = tape.jacobian(y, [t, w, wg.asarray(1.0)])
    slope = 1 - y.numpy() ** 2
    np.testing.assert_allclose(jt.numpy(), slope[:, None] * w.numpy())
    np.testing.assert_allclose(jw.numpy(), np.einsum("i,ij,k->ijk", slope, np.eye(3), x))
    assert none is None
    zero = tape.jacobian(y, wg.asarray([1.0, 2.0]), unconnected_gradients="zero")
    assert zero.shape == (3, 2)
    part = tape.jacobian(y.at[1], t.at[2:])
    np.testing.assert_allclose(part.numpy(), jt.numpy()[1, 2:])


def test_a_tape_is_spent_by_a_jacobian() -> None:
    t = wg.asarray(x)
    with wg.GradientTape() as tape:
        tape.watch(t)
        y = t**2
    tape.jacobian(y, t, chunk_size=2)
    with pytest.raises(wg.TapeError, match=r"gradient\(\) was called .*test_jacobians.py"):
        tape.gradient(y, t)


def test_batch_jacobian() -> None:
    t = wg.asarray(rng.normal(size=(4, 3)))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(t)
        y = wg.stack([wg.sum(t**2, axis=1), wg.prod(t, axis=1)], axis=1)
    whole = tape.jacobian(y, t).numpy()
    for chunk_size in ("auto", 1):
        got = tape.batch_jacobian(y, t, chunk_size=chunk_size)
        np.testing.assert_allclose(got.numpy(), np.einsum("bibj->bij", whole))
    with pytest.raises(wg.ShapeError, match="the same length, that of the examples"):
        tape.batch_jacobian(y, wg.asarray(1.0))


def test_jacobian_of_a_jacobian_by_tapes() -> None:
    t = wg.asarray(x)
    with wg.GradientTape() as outer:
        outer.watch(t)
        with wg.GradientTape() as inner:
            inner.watch(t)
            y = wg.sum(t**3) * t
        first = inner.jacobian(y, t)
    got = outer.jacobian(first, t).numpy()
    expected = jax.jacrev(jax.jacrev(lambda x: jnp.sum(x**3) * x))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_chunks_keep_to_the_budget_and_say_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sweeps, "BUDGET", 4 * 5 * 8 * 2)
    with caplog.at_level(logging.INFO, logger="wengert"):
        got = wg.jacobian(lambda x: x**2)(x)
    np.testing.assert_allclose(got, np.diag(2 * x))
    assert "5 rows in chunks of 2" in caplog.text


# -- bad input ----------------------------------------------------------------------------------


def test_bad_input() -> None:
    with pytest.raises(wg.DtypeError, match="a real Jacobian cannot hold them.*holomorphic=True"):
        wg.jacobian(lambda x: x * 1j)(x)
    with pytest.raises(wg.DtypeError, match="needs a complex argument"):
        wg.jacobian(lambda x: x, holomorphic=True)(x)
    with pytest.raises(TypeError, match=r"returned 'text'; expected arrays"):
        wg.jacobian(lambda x: (x, "text"))(x)
    with pytest.raises(TypeError, match=r"returned None"):
        wg.jacobian(lambda x: None)(x)
    with pytest.raises(wg.DtypeError, match="returned int64"):
        wg.jacobian(lambda x: wg.argmax(x))(x)
    with pytest.raises(ValueError, match="mode is 'backward'"):
        wg.jacobian(wg.sin, mode="backward")
    with pytest.raises(ValueError, match="chunk_size is 0"):
        wg.jacobian(wg.sin, chunk_size=0)(x)
    with pytest.raises(wg.ShapeError, match="same shape in and out"):
        wg.jac_diagonal(lambda x: x[1:])(x)
    with pytest.raises(wg.ShapeError, match="expected one number"):
        wg.hessian(lambda x: x)(x)
    with pytest.raises(IndexError, match="out of range"):
        wg.jacobian(wg.sin, of=np.s_[9])(x)
    tape = wg.GradientTape()
    with pytest.raises(TypeError, match="target is a list; give one tensor"):
        tape.jacobian([wg.asarray(x)], wg.asarray(x))


def test_diagonals_take_further_arguments() -> None:
    def f(x: Any, a: Any, *, b: float) -> Any:
        return wg.sum(x**3 * a) * b

    a = rng.normal(size=5)
    np.testing.assert_allclose(wg.laplacian(f)(x, a, b=2.0), np.sum(12 * x * a))
    np.testing.assert_allclose(wg.hessian_diagonal(f)(x, a, b=2.0), 12 * x * a)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_dtype_is_the_arguments_in_both_modes(mode: str) -> None:
    got = wg.jacobian(lambda x: x * np.arange(3.0), mode=mode)(np.ones(3, np.float32))
    assert got.dtype == np.float32


def test_a_jacobian_begins_with_rows_of_the_unit_matrix() -> None:
    """The first product of a reverse sweep is skipped, and must be what it would be."""
    a, b = rng.normal(size=(4, 5)), rng.normal(size=(5, 5))
    for f in (
        lambda x: wg.asarray(a) @ wg.tanh(wg.asarray(b) @ x),
        lambda x: wg.flip(wg.asarray(a) @ x),
        lambda x: wg.reshape(wg.asarray(a) @ x, (2, 2)) @ wg.asarray(b[:2, :3]),
        lambda x: wg.tanh(x) @ wg.asarray(b),
        lambda x: (wg.asarray(b) @ x)[::-1] @ wg.asarray(b),
    ):
        for chunk_size in (None, 2):
            got = wg.jacobian(f, mode="reverse", chunk_size=chunk_size)(x)
            np.testing.assert_allclose(got, wg.jacobian(f, mode="forward")(x), rtol=1e-12)


# -- several small arguments ----------------------------------------------------------------------


def residuals(p):
    t = np.linspace(0.0, 2.0, 9)
    return np.stack([p["size"] * np.exp(-p["rate"] * t), np.sin(p["phase"][0] * t) + p["phase"][1]])


def counted_sweeps(monkeypatch):
    calls, forward = [], sweeps.forward
    monkeypatch.setattr(sweeps, "forward", lambda *args: calls.append(1) or forward(*args))
    return calls


def test_small_arguments_share_one_forward_sweep(monkeypatch):
    p = {"size": np.float64(1.3), "rate": np.array(0.4), "phase": np.array([0.7, -0.2])}
    calls = counted_sweeps(monkeypatch)
    found = wg.jacobian(residuals)(p)
    assert len(calls) == 1
    t = np.linspace(0.0, 2.0, 9)
    zero, decay = np.zeros(9), np.exp(-0.4 * t)
    np.testing.assert_allclose(found["size"], [decay, zero], rtol=1e-14)
    np.testing.assert_allclose(found["rate"], [-1.3 * t * decay, zero], rtol=1e-14)
    second = np.stack([t * np.cos(0.7 * t), np.ones(9)], -1)
    np.testing.assert_allclose(found["phase"], [np.zeros((9, 2)), second], rtol=1e-14)
    reverse = wg.jacobian(residuals, mode="reverse")(p)
    for name, one in reverse.items():
        np.testing.assert_allclose(found[name], one, rtol=1e-14)


def test_derivatives_of_shared_sweeps_are_differentiated_again():
    p = {"size": np.array(1.3), "rate": np.array(0.4), "phase": np.array([0.7, -0.2])}

    def loss(q):
        return sum(wg.sum(one**2) for one in wg.jacobian(residuals, mode="forward")(q).values())

    wg.check_grads(loss, [p], order=1)


def test_an_infinite_partial_does_not_spoil_other_arguments():
    with np.errstate(all="ignore"):
        found = wg.jacobian(lambda a, b: (np.ones(3) * a) + np.sqrt(b), (0, 1))(2.0, 0.0)
    np.testing.assert_array_equal(found[0], np.ones(3))
    np.testing.assert_array_equal(found[1], np.full(3, np.inf))
