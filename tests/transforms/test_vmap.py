"""vmap as users meet it; `tests/ops/test_modes.py` has every operation."""

from __future__ import annotations

from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
xs = rng.normal(size=(3, 4))


def scalar(np: Any, x: Any) -> Any:
    return np.sum(np.sin(x[1:]) * x[:-1]) * np.max(x)


def test_axes_in_and_out() -> None:
    def f(a: Any, b: Any) -> Any:
        return {"sum": a + b, "product": wg.sum(a * b)}

    b = rng.normal(size=(4, 3))
    got = wg.vmap(f, in_axes=(0, 1), out_axes={"product": 0, "sum": 1})(xs, b)
    np.testing.assert_allclose(got["sum"], (xs + b.T).T)
    np.testing.assert_allclose(got["product"], np.sum(xs * b.T, axis=1))
    same = wg.vmap(f, in_axes=(0, None))(xs, b[:, 0])
    np.testing.assert_allclose(same["sum"], xs + b[:, 0])
    nested = wg.vmap(lambda p: p["a"] * p["b"][0], in_axes=({"a": 0, "b": (1,)},))
    np.testing.assert_allclose(nested({"a": xs, "b": (b,)}), xs * b.T)


def test_keyword_arguments_are_the_same_for_all() -> None:
    got = wg.vmap(lambda x, *, scale, name: x * scale)(xs, scale=np.arange(4.0), name="text")
    np.testing.assert_allclose(got, xs * np.arange(4.0))


def test_results_that_are_the_same_for_all_are_repeated() -> None:
    a, b = wg.vmap(lambda x: (1.5, wg.arange(2.0)))(xs)
    np.testing.assert_array_equal(a, [1.5] * 3)
    np.testing.assert_array_equal(b, [[0.0, 1.0]] * 3)


def test_kinds_of_arrays() -> None:
    assert type(wg.vmap(wg.sin)(xs)) is np.ndarray
    assert type(wg.vmap(wg.sin)(wg.asarray(xs))) is wg.Tensor
    assert wg.vmap(wg.sin)(xs.astype(np.float32)).dtype == np.float32
    strict = wg.vmap(lambda x: wg.sum(wg.sin(x)))(array_api_strict.asarray(xs))
    np.testing.assert_allclose(np.asarray(strict), np.sin(xs).sum(axis=1))
    got = wg.vmap(lambda x: wg.sum(wg.sin(x)))(jnp.asarray(xs))
    assert isinstance(got, jax.Array)


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 3, 10])
def test_chunks(chunk_size: int | None) -> None:
    got = wg.vmap(wg.grad(lambda x: scalar(np, x)), chunk_size=chunk_size)(xs)
    np.testing.assert_allclose(got, jax.vmap(jax.grad(lambda x: scalar(jnp, x)))(xs), rtol=1e-12)


# -- with derivatives ---------------------------------------------------------------------------


def transforms(wg: Any, np: Any) -> dict[str, Any]:
    """Return the same nested transforms by two libraries' names."""
    f = lambda x: scalar(np, x)  # noqa: E731
    v = xs[0] * 0.5
    return {
        "vmap of grad": wg.vmap(wg.grad(f)),
        "grad of vmap": wg.grad(lambda x: np.sum(wg.vmap(f)(x) ** 2)),
        "vmap of hessian": wg.vmap(wg.hessian(f)),
        "hessian of vmap": wg.hessian(lambda x: np.sum(wg.vmap(f)(x) ** 2)),
        "vmap of jvp": wg.vmap(lambda x: wg.jvp(f, (x,), (v,))[1]),
        "jvp of vmap": lambda x: wg.jvp(wg.vmap(f), (x,), (x,))[1],
        "grad of vmap of grad": wg.grad(lambda x: np.sum(wg.vmap(wg.grad(f))(x) ** 3)),
        "vmap of grad of vmap": lambda x: wg.vmap(
            wg.grad(lambda x: np.sum(wg.vmap(lambda a: np.sin(a) * x[0])(x) ** 2))
        )(x),
        "vmap of vmap": wg.vmap(wg.vmap(lambda a, b: np.sin(a) * b, (0, None)), (None, 0)),
    }


@pytest.mark.parametrize("name", transforms(jax, jnp))
def test_nests_are_jaxs(name: str) -> None:
    given = (xs[0], xs[1]) if name == "vmap of vmap" else (xs,)
    got = transforms(wg, np)[name](*given)
    expected = transforms(jax, jnp)[name](*given)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_what_an_outer_tape_cares_about_is_not_lost_inside() -> None:
    """The inner gradient is not by g, but depends on it; g is the same for all examples."""

    def f(g: Any, np: Any, vmap: Any, grad: Any) -> Any:
        return np.sum(vmap(lambda x: grad(lambda x: np.sum(np.sin(x) * g))(x))(xs) ** 2)

    g = rng.normal(size=4)
    got = wg.grad(lambda g: f(g, np, lambda h: wg.vmap(h), wg.grad))(g)
    np.testing.assert_allclose(got, jax.grad(lambda g: f(g, jnp, jax.vmap, jax.grad))(g))
    _, moved = wg.jvp(lambda g: f(g, np, lambda h: wg.vmap(h), wg.grad), (g,), (g,))
    np.testing.assert_allclose(moved, got @ g)


def test_stop_gradient_stops_tapes_outside_as_well() -> None:
    got = wg.grad(lambda x: wg.sum(wg.vmap(lambda x: wg.stop_gradient(x) * x)(x)))(xs)
    np.testing.assert_allclose(got, xs)


def test_variables_are_read_and_differentiated() -> None:
    w = wg.Variable(rng.normal(size=4))
    with wg.GradientTape() as tape:
        y = wg.sum(wg.vmap(lambda x: wg.sum(w * x) ** 2)(wg.asarray(xs)))
    got = tape.gradient(y, w)
    expected = 2 * ((xs @ w.numpy())[:, None] * xs).sum(axis=0)
    np.testing.assert_allclose(got.numpy(), expected)


def test_gradients_of_each_example_with_respect_to_what_is_the_same() -> None:
    def loss(w: Any, x: Any) -> Any:
        return wg.sum(wg.tanh(w @ x) ** 2)

    w = rng.normal(size=(2, 4))
    got = wg.vmap(wg.grad(loss), (None, 0))(w, xs)
    expected = [wg.grad(loss)(w, x) for x in xs]
    np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_an_exception_leaves_no_level_open() -> None:
    def fails(x: Any) -> Any:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        wg.vmap(fails)(xs)
    np.testing.assert_allclose(wg.grad(lambda x: wg.sum(x**2))(xs), 2 * xs)


def test_what_is_handed_out_is_nobody_elses() -> None:
    kept = wg.asarray(xs) * 1.0
    before = kept.numpy().copy()
    _, same = wg.vmap(lambda x, t: (x, t))(xs, kept)
    same[...] = 99.0
    np.testing.assert_array_equal(kept.numpy(), before)
    _, moved = wg.jvp(lambda x: x, (xs,), (kept,))
    moved[...] = 99.0
    _, pull = wg.vjp(lambda x: x, xs)
    pull(kept)[0][...] = 99.0
    np.testing.assert_array_equal(kept.numpy(), before)


def test_printing() -> None:
    shown = []
    wg.vmap(lambda x: shown.append(repr(x)) or x)(xs)
    assert "3 examples" in shown[0]


# -- bad input ----------------------------------------------------------------------------------


def test_bad_input() -> None:
    with pytest.raises(wg.ShapeError, match=r"argument.*has 3.*argument.*has 2; give all the same"):
        wg.vmap(lambda a, b: a)(xs, xs[:2])
    with pytest.raises(wg.ShapeError, match="has no axis of examples; write in_axes=None"):
        wg.vmap(lambda a, b: a)(xs, 2.0)
    with pytest.raises(ValueError, match="in_axes is None for all"):
        wg.vmap(lambda a: a, in_axes=None)(xs)
    with pytest.raises(ValueError, match="in_axes has 2 parts.*1 positional"):
        wg.vmap(lambda a: a, in_axes=(0, 0))(xs)
    with pytest.raises(np.exceptions.AxisError, match="in_axes is 5"):
        wg.vmap(lambda a: a, in_axes=5)(xs)
    with pytest.raises(TypeError, match=r"returned 'text'; expected arrays or numbers"):
        wg.vmap(lambda a: "text")(xs)
    with pytest.raises(ValueError, match="out_axes has None"):
        wg.vmap(lambda a: a, out_axes=None)(xs)
    with pytest.raises(ValueError, match="chunk_size is -1"):
        wg.vmap(lambda a: a, chunk_size=-1)
    with pytest.raises(TypeError, match=r"cannot.*decide an `if`.*wg.where"):
        wg.vmap(lambda a: a if a[0] > 0 else -a)(xs)
    with pytest.raises(TypeError, match="has no single value"):
        wg.vmap(lambda a: a[a > 0])(xs)
    kept = []
    wg.vmap(lambda a: kept.append(a) or a)(xs)
    with pytest.raises(TypeError, match="used after its function returned"):
        wg.vmap(lambda a: a * kept[0])(xs)


def test_masks_of_numpy_beside_masks_that_differ() -> None:
    mask = np.array([True, False, True, True])

    def f(x: Any) -> Any:
        return wg.sum(wg.where(x > 0, wg.where(mask, wg.sqrt(wg.abs(x)), 1.0), 0.0))

    got = wg.vmap(wg.grad(f))(xs)
    np.testing.assert_allclose(got, [wg.grad(f)(x) for x in xs])


def test_tables_that_are_the_same_for_all_are_indexed_by_what_differs() -> None:
    table = rng.normal(size=(5, 2))
    got = wg.vmap(lambda t, i: t[i], in_axes=(None, 0))(table, np.array([4, 0, 4]))
    np.testing.assert_array_equal(got, table[[4, 0, 4]])


def test_random_numbers_of_bounds_that_differ_at_two_levels() -> None:
    low, high = np.array([-1.0, -0.5, 0.0]), np.array([1.0, 2.0])

    def sample(low: Any, high: Any) -> Any:
        return wg.random.truncated_normal(np.random.default_rng(0), low, high)

    inner = lambda h: wg.vmap(lambda x: sample(x, h), randomness="same")(low)  # noqa: E731
    got = wg.vmap(inner, randomness="same")(high)
    expected = [[sample(a, b).item() for a in low] for b in high]
    np.testing.assert_allclose(got, expected)
    with pytest.raises(ValueError, match="each chunk would draw again"):
        wg.vmap(inner, randomness="same", chunk_size=1)


def test_variables_do_not_hold_what_differs_between_examples() -> None:
    w = wg.Variable([0.0, 0.0, 0.0, 0.0])
    with pytest.raises(TypeError, match="a variable cannot hold a tensor from inside of vmap"):
        wg.vmap(lambda x: w.assign(x))(xs)


def test_a_mask_of_examples_over_values_that_are_the_same_for_all() -> None:
    """The rule of x**0 returns zeros that no example differs in, and `where` has a mask of each."""

    def function(c: Any, x: Any) -> Any:
        return wg.sum(wg.where(c != 1.0, x**0, c))

    c, x = np.arange(3.0)[:, None], np.ones((3, 1))
    by_c, by_x = wg.vmap(wg.grad(function, (0, 1)))(c, x)
    np.testing.assert_array_equal(by_c, [[0.0], [1.0], [0.0]])
    np.testing.assert_array_equal(by_x, np.zeros((3, 1)))


def test_a_mask_of_examples_through_an_extension() -> None:
    """A mask goes the way of the values, here through windows, whose kernels are in `xp.nn`."""

    def loss(z: Any) -> Any:
        windows = wg.nn.unfold(wg.reshape(wg.abs(z), (1, 1, 2, 2)), 2)[0, :3, 0]
        return wg.sum(wg.where(windows > 0.5, windows * windows, 0.0))

    z = np.arange(12.0).reshape(3, 4).astype(complex) / 10
    expected = [wg.grad(loss)(row) for row in z]
    np.testing.assert_allclose(wg.vmap(wg.grad(loss))(z), expected)
