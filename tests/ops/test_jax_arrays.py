"""Every operation and its rules inside of `jax.jit`, where nobody can look at values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from tests.ops.exemptions import JAX
from tests.ops.op_cases import CASES, Case, assert_near, inexact, leaves, weights_like
from wengert import backends

FIRST = [case for case in CASES if case.number == 0]


def compiled(case: Case) -> tuple[list[Any], list[Any]]:
    """Return the results and gradients that a compiled program gives, and those of NumPy."""
    arrays = case.arrays(case.kinds[0])
    sources = [] if case.entry.family == "zero" else [i for i, a in enumerate(arrays) if inexact(a)]
    weights = weights_like(case.function(*map(wg.asarray, arrays)))

    def program(arrays: Any, weights: Any) -> Any:
        tensors = list(map(wg.asarray, arrays))
        watched = [tensors[i] for i in sources]
        with wg.GradientTape() as tape:
            tape.watch(watched)
            results = leaves(case.function(*tensors))
        values = [y.data for y in results]
        if not watched:
            return values
        found = tape.gradient(
            results, watched, output_gradients=weights, unconnected_gradients="zero"
        )
        return [*values, *(g.data for g in found)]

    given = [jnp.asarray(a) for a in arrays], [jnp.asarray(w) for w in weights]
    return jax.jit(program)(*given), program(arrays, weights)


@pytest.mark.parametrize("case", [c for c in FIRST if c.name not in JAX], ids=str)
def test_compiles(case: Case) -> None:
    got, expected = compiled(case)
    for mine, theirs in zip(got, expected, strict=True):
        if theirs.dtype.kind in "iu":  # JAX counts in 32 bits where that is enough
            mine = mine.astype(theirs.dtype)
        assert_near(np.asarray(mine), theirs, rtol=1e-8 * case.entry.rounding)


@pytest.mark.parametrize("case", [c for c in FIRST if c.name in JAX], ids=str)
def test_what_is_not_compiled_says_so(case: Case) -> None:
    with pytest.raises(wg.BackendError, match="needed in host memory"):
        compiled(case)


def test_all_exempt_operations_exist() -> None:
    assert {case.name for case in FIRST} >= JAX.keys()


def test_indices_and_labels_may_be_arguments() -> None:
    drawn = np.random.default_rng(0)
    table, labels = drawn.standard_normal((5, 4)), np.array([1, 3, -100, 0])
    rows = np.array([4, 0, 4, 2])

    def loss(table: Any, rows: Any, labels: Any) -> Any:
        return wg.nn.cross_entropy(wg.nn.embedding(rows, table), labels)

    expected = wg.grad(loss)(table, rows, labels)
    got = jax.jit(wg.grad(loss))(*map(jnp.asarray, (table, rows, labels)))
    assert_near(np.asarray(got), expected)
    hot = jax.jit(lambda i: wg.nn.one_hot(i, 5).data)(jnp.asarray(rows))
    assert_near(np.asarray(hot), wg.nn.one_hot(rows, 5))

    def taken(x: Any, i: Any) -> Any:
        return wg.sum(wg.asarray(x)[i] ** 2) + wg.sum(wg.take(x, i, axis=1) ** 3)

    columns = np.array([1, 1, 0])
    got = jax.jit(wg.grad(taken))(jnp.asarray(table), jnp.asarray(columns))
    assert_near(np.asarray(got), wg.grad(taken)(table, columns))


def test_a_mask_as_an_index_says_what_it_needs() -> None:
    with pytest.raises(wg.BackendError, match="an index of booleans"):
        jax.jit(lambda x: wg.asarray(x)[x > 0].data)(jnp.ones(3))


def test_elements_and_transforms_compile() -> None:
    x = np.linspace(0.1, 1, 6).reshape(2, 3)

    def f(x: Any) -> Any:
        return wg.tanh(x[..., :2] * 2 + x[..., 1:])

    def corner(x: Any) -> Any:
        a = wg.asarray(x)
        with wg.GradientTape() as tape:
            tape.watch(a)
            z = f(a)
        return tape.gradient(z.at[0, 1], a).data

    def raw(y: Any) -> Any:
        return y.data if isinstance(y, wg.Tensor) else y

    for g in (wg.jacobian(f), lambda x: wg.jvp(f, (x,), (x,))[1], wg.vmap(f), corner):
        got = jax.jit(lambda x, g=g: raw(g(x)))(jnp.asarray(x))
        assert_near(np.asarray(got), g(x))


def test_host_memory_is_read_only_where_it_is() -> None:
    assert backends.is_on_host(jnp.ones(2))
    assert jax.jit(lambda x: jnp.asarray(backends.is_on_host(x)))(jnp.ones(2)) == False  # noqa: E712
