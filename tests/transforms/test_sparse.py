"""Sparse Jacobians and Hessians: patterns in closed form, values, and what bad input gets."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg

rng = np.random.default_rng(0)


def same_pattern(plan: Any, expected: Any) -> bool:
    return np.array_equal(plan.pattern.toarray(), np.asarray(expected, bool))


def burgers(u: Any, nu: float = 0.01, h: float = 0.1) -> Any:
    p = wg.pad(u, 1)
    return -u * (p[2:] - p[:-2]) / (2 * h) + nu * (p[2:] - 2 * u + p[:-2]) / h**2


def brusselator(y: Any, n: int = 6) -> Any:
    u, v = wg.unstack(wg.reshape(y, (2, n, n)))

    def laplacian(a: Any) -> Any:
        rolled = [wg.roll(a, s, axis=axis) for s in (1, -1) for axis in (0, 1)]
        return rolled[0] + rolled[1] + rolled[2] + rolled[3] - 4 * a

    du = 1 + u * u * v - 4.4 * u + laplacian(u)
    dv = 3.4 * u - u * u * v + laplacian(v)
    return wg.reshape(wg.stack([du, dv]), (-1,))


def rosenbrock(x: Any) -> Any:
    return wg.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def chain_of_squares(x: Any) -> Any:
    """A program with most kinds of operations, 8 to 6."""
    a = wg.reshape(x, (2, 4))
    b = wg.where(a > 0, a**2, wg.sin(a))
    c = wg.concat([wg.sum(b, axis=0), wg.max(b, axis=1)])
    return c * wg.asarray(np.arange(1.0, 7.0))


def test_burgers_is_tridiagonal_and_takes_one_sweep() -> None:
    n = 30
    u = rng.normal(size=n)
    plan = wg.sparse.jacobian(burgers, u)
    assert same_pattern(
        plan, sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).toarray()
    )
    assert plan.sweeps == 1
    np.testing.assert_allclose(plan(u).toarray(), wg.jacobian(burgers)(u), rtol=1e-13, atol=1e-12)


def test_the_brusselators_pattern_is_exact() -> None:
    n = 6
    y = rng.uniform(0.5, 2.0, 2 * n * n)
    plan = wg.sparse.jacobian(brusselator, y)
    dense = wg.jacobian(brusselator)(y)
    assert plan.pattern.nnz == 2 * n * n * 6
    assert same_pattern(plan, dense != 0)
    assert plan.sweeps == 2
    np.testing.assert_allclose(plan(y).toarray(), dense, rtol=1e-12)


@pytest.mark.parametrize("mode", ["auto", "star", "acyclic", "reverse"])
def test_rosenbrocks_hessian_is_tridiagonal(mode: str) -> None:
    x = rng.normal(size=12)
    plan = wg.sparse.hessian(rosenbrock, x, mode=mode)
    assert same_pattern(plan, np.abs(np.subtract.outer(np.arange(12), np.arange(12))) <= 1)
    np.testing.assert_allclose(plan(x).toarray(), wg.hessian(rosenbrock)(x), rtol=1e-11)
    assert plan.sweeps <= 3


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "both"])
@pytest.mark.parametrize("pattern", ["global", "local"])
def test_all_modes_give_the_dense_jacobian(mode: str, pattern: str) -> None:
    x = rng.normal(size=8)
    plan = wg.sparse.jacobian(chain_of_squares, x, mode=mode, pattern=pattern)
    np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(chain_of_squares)(x), rtol=1e-13)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_programs(data: Any) -> None:
    """Programs of random slices, products and sums: the plan at one point holds at others."""
    n = data.draw(st.integers(3, 9))
    steps = data.draw(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, n - 1)), min_size=1, max_size=6)
    )

    def program(x: Any) -> Any:
        y = x
        for kind, k in steps:
            if kind == 0:
                y = y * wg.roll(x, k, axis=0)
            elif kind == 1:
                y = y + wg.flip(y) * 0.5
            elif kind == 2:
                y = wg.where(y > x[k], y, wg.sin(x))
            elif kind == 3:
                y = wg.maximum(y, x) - x[k]
            elif kind == 4:
                y = y.at[k].set(x[0] ** 2)
            elif kind == 5:
                y = wg.cumulative_sum(y) / n
            else:
                y = wg.matmul(wg.tril(wg.ones((n, n)), k=-1), y) / n
        return y

    plan = wg.sparse.jacobian(program, rng.normal(size=n), check=True)
    for _ in range(3):
        x = rng.normal(size=n)
        np.testing.assert_allclose(
            plan(x).toarray(), wg.jacobian(program)(x), rtol=1e-10, atol=1e-12
        )


def test_a_constant_matrix_has_the_pattern_of_its_elements() -> None:
    a = rng.normal(size=(20, 15)) * (rng.random((20, 15)) < 0.1)
    plan = wg.sparse.jacobian(lambda x: wg.sin(wg.asarray(a) @ x), np.ones(15))
    assert same_pattern(plan, a != 0)


def test_global_patterns_take_both_branches_and_local_ones_what_is_there() -> None:
    def f(x: Any) -> Any:
        return wg.where(x > 0, wg.roll(x, 1, axis=0), x) + 0 * wg.max(x)

    x = np.array([1.0, -2.0, 3.0])
    assert same_pattern(wg.sparse.jacobian(f, x), np.ones((3, 3)))
    assert same_pattern(
        wg.sparse.jacobian(f, x, pattern="local"), [[0, 0, 1], [0, 1, 0], [0, 1, 0]]
    )


def test_a_local_pattern_that_no_longer_holds_is_noticed() -> None:
    def f(x: Any) -> Any:
        return wg.where(x > 0, x**2, wg.roll(x, 1, axis=0))

    plan = wg.sparse.jacobian(f, np.array([1.0, 2.0, 3.0]), pattern="local")
    plan(np.array([3.0, 1.0, 2.0]))
    with pytest.raises(wg.sparse.PatternError, match=r"element at \(1, 0\) of size 1 .*global"):
        plan(np.array([3.0, -1.0, 2.0]))
    unchecked = wg.sparse.jacobian(f, np.array([1.0, 2.0, 3.0]), pattern="local", check=False)
    unchecked(np.array([3.0, -1.0, 2.0]))


def test_another_sequence_of_operations_is_noticed() -> None:
    def f(x: Any) -> Any:
        return wg.sin(x) if x[0] > 0 else wg.cos(wg.exp(x))

    plan = wg.sparse.jacobian(f, np.ones(2))
    with pytest.raises(wg.sparse.PatternError, match=r"'sin'.*'exp'.*wg.where"):
        plan(-np.ones(2))


def test_further_arguments_and_argnum() -> None:
    def f(t: float, y: Any) -> Any:
        return t * y * wg.roll(y, 1, axis=0)

    y = np.array([1.0, 2.0, 3.0])
    plan = wg.sparse.jacobian(f, 0.0, y, argnum=1)
    np.testing.assert_allclose(plan(2.0, y).toarray(), [[6, 0, 2], [4, 2, 0], [0, 6, 4]])


def test_shapes_are_flat_and_dtype_is_the_functions() -> None:
    x = np.ones((2, 3), np.float32)
    plan = wg.sparse.jacobian(lambda x: wg.sum(x**2, axis=1), x)
    got = plan(x)
    assert got.shape == (2, 6)
    assert got.dtype == np.float32
    assert isinstance(got, sp.csr_array)
    scalar = wg.sparse.jacobian(lambda x: x**2, np.float64(3.0))
    assert scalar(3.0).toarray().tolist() == [[6.0]]


def test_what_does_not_depend_on_the_argument() -> None:
    with pytest.warns(wg.UnconnectedWarning):
        wg.grad(lambda x: wg.asarray(2.0))(1.0)
    plan = wg.sparse.jacobian(lambda x: wg.ones(3), np.ones(2))
    assert plan.pattern.nnz == 0
    assert plan(np.ones(2)).toarray().tolist() == [[0, 0]] * 3
    linear = wg.sparse.hessian(lambda x: wg.sum(x), np.ones(2))
    assert linear(np.ones(2)).toarray().tolist() == [[0, 0]] * 2


def test_plans_pickle_and_are_used_again() -> None:
    x = rng.normal(size=9)
    plan = pickle.loads(pickle.dumps(wg.sparse.jacobian(burgers, x)))
    np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(burgers)(x), rtol=1e-13, atol=1e-12)


def test_results_do_not_share_what_they_hold() -> None:
    x = rng.normal(size=5)
    plan = wg.sparse.jacobian(burgers, x)
    one = plan(x)
    kept = one.toarray()
    two = plan(2 * x)
    two.data[:] = 0
    np.testing.assert_array_equal(one.toarray(), kept)
    one.eliminate_zeros()
    one.indices[:] = 0
    plan.pattern.indices[:] = 0
    np.testing.assert_allclose(plan(x).toarray(), kept)


def test_other_array_libraries() -> None:
    x = rng.normal(size=7)
    plan = wg.sparse.jacobian(burgers, array_api_strict.asarray(x))
    got = plan(array_api_strict.asarray(x))
    np.testing.assert_allclose(got.toarray(), wg.jacobian(burgers)(x), rtol=1e-13, atol=1e-12)


def test_the_pattern_is_drawn() -> None:
    plan = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(4))
    assert plan.draw() == "|##  |\n| ## |\n|  ##|"
    assert "3 x 4, 6 elements (50.00%), 1 sweep (reverse)" in repr(plan)
    large = wg.sparse.jacobian(lambda x: x**2, np.ones(1000))
    assert len(large.draw().splitlines()) <= 40
    assert plan.colors.tolist() == [0, 0, 0]


def test_the_pattern_is_plotted() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    ax = wg.sparse.jacobian(burgers, np.ones(5)).spy()
    assert ax.get_xlim()[1] == 4.5


def test_bad_input() -> None:
    x = np.ones(3)
    with pytest.raises(TypeError, match=r"returns tuple.*wg.concat"):
        wg.sparse.jacobian(lambda x: (x, x), x)
    with pytest.raises(wg.DtypeError, match="complex128.*real and imaginary"):
        wg.sparse.jacobian(lambda x: x * 1j, x)
    with pytest.raises(ValueError, match="'sideways'; expected one of auto"):
        wg.sparse.jacobian(burgers, x, mode="sideways")
    with pytest.raises(ValueError, match="'some'; expected one of global, local"):
        wg.sparse.hessian(rosenbrock, x, pattern="some")
    with pytest.raises(wg.ShapeError, match=r"shape \(3,\), and was called with \(4,\)"):
        wg.sparse.jacobian(burgers, x)(np.ones(4))
    with pytest.raises(wg.ShapeError, match="expected one number"):
        wg.sparse.hessian(burgers, x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, shift, a: wg.sort(x),
        lambda x, shift, a: x[wg.argmax(x)] * x,
        lambda x, shift, a: wg.take_along_axis(x, wg.argsort(x), axis=0),
        lambda x, shift, a: x[x > 0.5],
        lambda x, shift, a: wg.roll(x, shift, axis=0),
        lambda x, shift, a: a @ x,
        lambda x, shift, a: wg.stop_gradient(wg.where(x[:, None] > x[None], 1.0, 0.0)) @ x,
        lambda x, shift, a: wg.sum(wg.reshape(x, (2, 2)), axis=shift % 2),
    ],
)
def test_a_pattern_that_no_longer_holds_is_never_silently_wrong(f: Any) -> None:
    """By default, also for global patterns: indices and zeros of constants are compared."""
    one, two = np.array([1.0, 0.2, 0.8, 0.4]), np.array([0.3, 0.9, 0.1, 1.5])
    eye, ones = wg.asarray(np.eye(4)), wg.ones((4, 4))
    plan = wg.sparse.jacobian(f, one, 1, eye)
    np.testing.assert_allclose(
        plan(one, 1, eye).toarray(), wg.jacobian(lambda x: f(x, 1, eye))(one).reshape(plan.shape)
    )
    with pytest.raises(wg.sparse.PatternError, match="than when the plan was made"):
        plan(two, 2, ones)


def test_a_constant_with_more_zeros_is_no_other_pattern() -> None:
    plan = wg.sparse.jacobian(lambda x, a: a @ x, np.ones(3), wg.ones((3, 3)))
    assert plan(np.ones(3), wg.asarray(np.eye(3))).toarray().tolist() == np.eye(3).tolist()


def test_arrow_matrices_take_both_directions() -> None:
    def f(x: Any) -> Any:
        return wg.concat([wg.sum(x, axis=0, keepdims=True) ** 2, x[1:] * x[0]])

    x = rng.normal(size=50)
    plan = wg.sparse.jacobian(f, x)
    assert plan.sweeps <= 3
    np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(f)(x))


def test_a_tape_is_told_that_it_ends_at_a_plan() -> None:
    plan = wg.sparse.jacobian(lambda x: x**2, np.ones(2))
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        with pytest.warns(wg.CutPathWarning, match="a sparse plan"):
            got = plan(x)
    assert got.toarray().tolist() == [[2.0, 0.0], [0.0, 4.0]]


X = wg.asarray(np.arange(1.0, 5.0))


@pytest.mark.parametrize("example", [np.zeros(4), np.ones(4), np.array([1.0, 0.0, 0.0, 1.0])])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.dot(x, x)[None],
        lambda x: wg.reshape(x[:, None] @ x[None, :], (-1,)),
        lambda x: wg.reshape(x, (2, 2)) @ wg.reshape(x, (2, 2)),
        lambda x: wg.einsum("i,j->ij", x, wg.flip(x)),
        lambda x: np.convolve(x, x),
        lambda x: wg.nn.linear(wg.reshape(x, (2, 2)), wg.reshape(x, (2, 2)), x[:2]),
        lambda x: wg.tensordot(x, x, axes=0),
        lambda x: wg.vmap(lambda a: a @ wg.reshape(x, (2, 2)))(wg.reshape(x, (2, 2))),
        lambda x: x * wg.roll(x, 1, axis=0),
    ],
)
def test_an_example_of_zeros_and_ones_is_as_good_as_any(f: Any, example: np.ndarray) -> None:
    """A product looks like a copy, or like nothing, where its other factor is 1 or 0."""
    plan = wg.sparse.jacobian(f, example)
    x = rng.normal(size=4)
    np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(f)(x).reshape(plan.shape), rtol=1e-12)
    g = lambda x: wg.sum(wg.sin(f(x)))  # noqa: E731
    hessian = wg.sparse.hessian(g, example)
    np.testing.assert_allclose(hessian(x).toarray(), wg.hessian(g)(x), rtol=1e-9, atol=1e-12)


def test_a_constant_factor_is_no_copy() -> None:
    x = np.ones(3)
    plan = wg.sparse.jacobian(lambda x, a: wg.sin(a @ x), x, np.eye(3))
    got = plan(x, 2 * np.eye(3)).toarray()
    np.testing.assert_allclose(got, 2 * np.cos(2.0) * np.eye(3))
    large = wg.sparse.jacobian(lambda x, a: a @ x, np.ones(2100), np.eye(2100))
    np.testing.assert_allclose(large(np.ones(2100), np.ones((2100, 2100))).toarray(), 1.0)


def test_checkpoints_have_plans() -> None:
    f = wg.checkpoint(lambda x: wg.sin(x) * wg.roll(x, 1, axis=0))
    x = rng.normal(size=4)
    plan = wg.sparse.jacobian(f, x)
    np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(f)(x), rtol=1e-13)


def test_the_check_sees_small_elements_beside_large_ones() -> None:
    def f(x: Any) -> Any:
        turned = wg.roll(x[1:], 1, axis=0) * 3
        return wg.concat([x[:1] * 1e6, wg.where(x[1:] > 0, x[1:], turned)])

    plan = wg.sparse.jacobian(f, np.ones(5, np.float32), pattern="local")
    with pytest.raises(wg.sparse.PatternError, match="of size 3"):
        plan(-np.ones(5, np.float32))


def test_dtype_and_position_of_the_argument() -> None:
    plan = wg.sparse.jacobian(lambda t, y: t * y**2, 1.0, np.ones(3, np.float32), argnum=-1)
    assert plan(2.0, np.ones(3)).dtype == np.float64
    with pytest.raises(TypeError, match="argnum=0, and there are 0 arguments"):
        wg.sparse.jacobian(burgers)


# -- no number from anywhere else ------------------------------------------------------------------


def test_a_hessian_whose_pattern_is_not_symmetric_by_itself() -> None:
    """What only the transpose of the pattern has is zero, not what memory held."""

    def pooled(x: Any) -> Any:
        return wg.sum(wg.nn.max_pool1d(wg.reshape(x, (1, 1, -1)), 2) ** 2)

    x = np.array([1.0, 2.0, 3.0, 0.5])
    for mode in ("auto", "reverse", "star", "acyclic"):
        plan = wg.sparse.hessian(pooled, x, mode=mode)
        np.testing.assert_allclose(plan(x).toarray(), np.diag([0.0, 2.0, 2.0, 0.0]))


def test_a_hessian_of_windows_holds_wherever_the_largest_is() -> None:
    def pooled(x: Any) -> Any:
        return wg.sum(wg.nn.max_pool2d(wg.reshape(x, (1, 1, 3, 3)), 2, stride=1) ** 3)

    random = np.random.default_rng(0)
    for mode in ("auto", "reverse", "star", "acyclic"):
        plan = wg.sparse.hessian(pooled, random.normal(size=9), mode=mode)
        for _ in range(4):
            x = random.normal(size=9)
            np.testing.assert_allclose(plan(x).toarray(), wg.hessian(pooled)(x), atol=1e-12)


UPDATES: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x.at[:2].add(x[1:]),
    "add at indices": lambda x: x.at[np.array([0, 0, 2])].add(x),
    "subtract": lambda x: x.at[1:].subtract(x[:2]),
    "set": lambda x: x.at[:2].set(x[1:]),
    "set at indices": lambda x: x.at[np.array([2, 0])].set(x[1:]),
    "add to another": lambda x: wg.zeros(3).at[::2].add(x[:2]),
    "add a constant": lambda x: x.at[:2].add(3.0),
    "multiply": lambda x: x.at[:2].multiply(x[1:]),
}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "both"])
@pytest.mark.parametrize("name", UPDATES)
def test_patterns_of_updates(name: str, mode: str) -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 4.0])
    plan = wg.sparse.jacobian(UPDATES[name], a, mode=mode)
    for x in (a, b):
        np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(UPDATES[name])(x))


def _piecewise(random: np.random.Generator, n: int) -> Callable[[Any], Any]:
    """Return a random function of n numbers with branches."""
    terms = []
    for _ in range(random.integers(1, 5)):
        count = int(random.integers(1, n + 1))
        terms.append((random.integers(6), *(random.permutation(n)[:count] for _ in range(3))))

    def function(x: Any) -> Any:
        total = 0.0
        for kind, i, j, k in terms:
            a, b, c = x[i], x[j], x[k]
            total += (
                lambda a, b, c: wg.sum(wg.where(c > 0, a * b, a + b)),
                lambda a, b, c: wg.sum(wg.nn.relu(a) * b),
                lambda a, b, c: wg.sum(wg.maximum(a, b) ** 2),
                lambda a, b, c: wg.sum(wg.clip(a * b, -0.5, 0.5)),
                lambda a, b, c: wg.max(a) * wg.sum(b),
                lambda a, b, c: wg.sum(wg.abs(a) * b * c),
            )[kind](a, b, c)
        return total

    return function


@pytest.mark.parametrize("seed", range(25))
def test_local_hessians_say_when_a_branch_has_changed(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    function, here, there = _piecewise(random, n), random.normal(size=n), random.normal(size=n)
    for mode in ("auto", "star", "reverse", "acyclic"):
        plan = wg.sparse.hessian(function, here, pattern="local", mode=mode)
        np.testing.assert_allclose(plan(here).toarray(), wg.hessian(function)(here), atol=1e-12)
        try:
            found = plan(there).toarray()
        except wg.sparse.PatternError:
            continue
        np.testing.assert_allclose(found, wg.hessian(function)(there), atol=1e-12)


def test_a_sweep_starts_where_the_rows_of_its_colour_are():
    """Rows of one kind may stand together: cotangents of the others are zero by structure."""
    visits: list[int] = []

    def rule(xp, g, x):
        visits.append(1)
        return g * xp.cos(x)

    from wengert.extend import elementwise as declare

    name = "sine_that_counts"
    sine = declare(name, rule, compute=lambda xp, x: xp.sin(x))
    try:

        def errors(x):
            return wg.concat([sine(x[:5] * x[5:]) * x[:5], 1 - x[5:] ** 2])

        x = np.linspace(0.1, 0.9, 10)
        plan = wg.sparse.jacobian(errors, x, mode="reverse")
        assert plan.sweeps == 2
        np.testing.assert_allclose(plan(x).toarray(), wg.jacobian(errors)(x), rtol=1e-12)
        visits.clear()
        plan(x)
        assert len(visits) == 1
    finally:
        wg.extend.REGISTRY.pop(name)
