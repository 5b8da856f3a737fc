"""Products, linear algebra, transforms, sums and random numbers under vmap, against a loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import fft, linalg, random, special
from wengert.engine import examples
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.ops import batching
from wengert.ops.families import REGISTRY

RNG = np.random.default_rng(11)
SIZE = 4
VECTORS = RNG.uniform(0.3, 1.5, (SIZE, 3))
MATRICES = RNG.uniform(-1, 1, (SIZE, 3, 3)) + 3 * np.eye(3)
POSITIVE = MATRICES @ np.swapaxes(MATRICES, -1, -2) + np.eye(3)
TALL = RNG.uniform(-1, 1, (SIZE, 4, 2))
ONE = RNG.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)


def flat(result: Any) -> list[Any]:
    return [y for part in result for y in flat(part)] if isinstance(result, tuple) else [result]


def loop(function: Callable[..., Any], *stacks: np.ndarray) -> list[np.ndarray]:
    results = [flat(function(*map(wg.asarray, here))) for here in zip(*stacks, strict=True)]
    return [np.stack([np.asarray(y) for y in parts]) for parts in zip(*results, strict=True)]


def assert_same(mine: Any, theirs: list[np.ndarray], rtol: float = 1e-9) -> None:
    found = flat(mine)
    assert len(found) == len(theirs)
    for a, b in zip(found, theirs, strict=True):
        assert np.asarray(a).dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), b, rtol=rtol, atol=1e-10)


@pytest.fixture
def no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: Any, *args: Any) -> Any:
        raise AssertionError(f"{op.name} was done one by one")

    monkeypatch.setattr(examples, "one_by_one", refuse)


def size(y: Any) -> Any:
    """Return one number that depends on all of a result."""
    total: Any = 0.0
    for part in flat(y):
        if np.dtype(part.dtype).kind in "fc":
            weights = np.cos(np.arange(part.size)).reshape(part.shape)
            total = total + wg.sum(wg.abs(part * (1 + weights)) ** 2)
    return total


CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "solve a vector": (linalg.solve, (MATRICES, VECTORS)),
    "solve vectors for one matrix": (lambda b: linalg.solve(ONE, b), (VECTORS,)),
    "solve matrices for one matrix": (lambda b: linalg.solve(ONE, b), (MATRICES,)),
    "solve one vector": (lambda a: linalg.solve(a, ONE[0]), (MATRICES,)),
    "solve a batch": (lambda b: linalg.solve(POSITIVE, b), (VECTORS[:, :, None],)),
    "a triangle": (lambda a, b: linalg.solve_triangular(a, b, lower=True), (MATRICES, VECTORS)),
    "one triangle": (lambda b: linalg.solve_triangular(ONE, b), (VECTORS,)),
    "one triangle, transposed": (
        lambda b: linalg.solve_triangular(ONE, b, trans=1, unit_diagonal=True),
        (TALL[:, :3],),
    ),
    "cho_solve": (
        lambda a, b: linalg.cho_solve((linalg.cholesky(a), True), b),
        (POSITIVE, VECTORS),
    ),
    "sylvester": (lambda q: linalg.solve_sylvester(ONE, POSITIVE[0], q), (MATRICES,)),
    "sylvester of a": (lambda a: linalg.solve_sylvester(a, ONE, ONE), (POSITIVE,)),
    "eigvalsh": (linalg.eigvalsh, (POSITIVE,)),
    "svdvals": (linalg.svdvals, (TALL,)),
    "pinv": (linalg.pinv, (TALL,)),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[:2], (TALL, RNG.uniform(-1, 1, (SIZE, 4)))),
    "cond": (linalg.cond, (MATRICES,)),
    "cond by the inverse": (lambda a: linalg.cond(a, "fro"), (MATRICES,)),
    "norm": (linalg.norm, (VECTORS,)),
    "spectral norm": (lambda a: linalg.matrix_norm(a, ord=2), (MATRICES,)),
    "nuclear norm": (lambda a: linalg.matrix_norm(a, ord="nuc", keepdims=True), (TALL,)),
    "largest norm": (lambda x: linalg.vector_norm(x, ord=np.inf), (VECTORS,)),
    "matrix_power": (lambda a: linalg.matrix_power(a, -3), (MATRICES,)),
    "multi_dot": (lambda a, b: linalg.multi_dot([b, a, ONE, a, b]), (MATRICES, VECTORS)),
    "block_diag": (lambda a, b: linalg.block_diag(a, ONE, b), (MATRICES, VECTORS)),
    "kron": (lambda a: linalg.kron(a, ONE), (TALL,)),
    "expm": (linalg.expm, (MATRICES / 4,)),
    "sqrtm": (linalg.sqrtm, (POSITIVE,)),
    "slogdet": (lambda a: tuple(linalg.slogdet(a)), (MATRICES,)),
    "det": (linalg.det, (MATRICES,)),
    "einsum": (lambda a, b: wg.einsum("ij,jk,k->i", a, ONE, b), (MATRICES, VECTORS)),
    "einsum of a diagonal": (lambda a: wg.einsum("ii->i", a), (MATRICES,)),
    "einsum with dots": (lambda a, b: wg.einsum("...j,j->...", a, b), (MATRICES, VECTORS)),
    "tensordot": (lambda a, b: wg.tensordot(a, b, axes=((0,), (0,))), (MATRICES, VECTORS)),
    "outer": (wg.outer, (VECTORS, VECTORS)),
    "vecdot": (wg.vecdot, (VECTORS, VECTORS)),
    "rfft": (lambda x: fft.rfft(x, n=5), (VECTORS,)),
    "irfft": (lambda x: fft.irfft(x, n=4), (VECTORS,)),
    "fft2": (fft.fft2, (MATRICES,)),
    "logsumexp": (lambda x, b: special.logsumexp(x, b=b), (VECTORS, VECTORS)),
    "logsumexp of one": (lambda b: special.logsumexp(ONE, b=b, axis=0), (VECTORS,)),
    "log_softmax": (special.log_softmax, (MATRICES,)),
    "cumulative_logsumexp": (lambda x: wg.cumulative_logsumexp(x, axis=1), (MATRICES,)),
    "cumulative_sum": (lambda x: wg.cumulative_sum(x, include_initial=True), (VECTORS,)),
    "diff": (lambda x: wg.diff(x, n=2), (VECTORS,)),
    "std": (lambda x: wg.std(x, axis=0), (MATRICES,)),
}
each = pytest.mark.parametrize("name", CASES)


@each
@pytest.mark.usefixtures("no_loops")
def test_vmap_is_a_loop(name: str) -> None:
    function, stacks = CASES[name]
    assert_same(wg.vmap(function)(*stacks), loop(function, *stacks))


@each
@pytest.mark.usefixtures("no_loops")
def test_gradients_inside_and_outside_are_those_of_a_loop(name: str) -> None:
    function, stacks = CASES[name]
    spots = tuple(range(len(stacks)))
    gradient = wg.grad(lambda *a: size(function(*a)), spots)
    expected = loop(gradient, *stacks)
    assert_same(wg.vmap(gradient)(*stacks), expected)
    outside = wg.grad(lambda *a: wg.sum(wg.vmap(lambda *b: size(function(*b)))(*a)), spots)
    assert_same(outside(*stacks), expected)


@each
@pytest.mark.usefixtures("no_loops")
def test_two_vmaps_are_two_loops(name: str) -> None:
    """The outer one has all arguments, the inner one also what is the same for its examples."""
    function, stacks = CASES[name]
    gradient = wg.grad(lambda *a: size(function(*a)), tuple(range(len(stacks))))
    halves = [a.reshape(2, 2, *a.shape[1:]) for a in stacks]
    expected = loop(gradient, *stacks)
    found = wg.vmap(wg.vmap(gradient))(*halves)
    assert_same(tuple(wg.reshape(y, (SIZE, *y.shape[2:])) for y in found), expected)
    if len(stacks) > 1:  # each pair of the first argument and of the others
        axes = (None,) + (0,) * (len(stacks) - 1)
        pairs = wg.vmap(wg.vmap(gradient, axes), (0, *(None,) * (len(stacks) - 1)))(*stacks)
        for i in range(SIZE):
            rows = [np.broadcast_to(stacks[0][i], stacks[0].shape), *stacks[1:]]
            assert_same(tuple(y[i] for y in pairs), loop(gradient, *rows))


@pytest.mark.parametrize(
    "function",
    [wg.argmax, wg.argmin, wg.all, wg.any, wg.count_nonzero],
)
@pytest.mark.parametrize("params", [{}, {"keepdims": True}, {"axis": 0}, {"axis": -1}])
def test_over_all_axes_is_over_those_of_an_example(
    function: Callable[..., Any], params: dict[str, Any]
) -> None:
    x = np.round(MATRICES)
    assert_same(
        wg.vmap(lambda x: function(x, **params))(x), loop(lambda x: function(x, **params), x)
    )
    assert wg.vmap(lambda x: function(x, **params))(x[:0]).shape[0] == 0


# -- products ---------------------------------------------------------------------------------


def shapes_of_products(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    op = REGISTRY["matmul"].op
    assert op is not None
    kept = op.compute

    def noted(xp: Any, x1: Any, x2: Any) -> Any:
        found.append((x1.shape, x2.shape))
        return kept(xp, x1, x2)

    def general(op: Op) -> Callable[..., Any]:
        return lambda *arrays, **params: apply(op, arrays, params)

    monkeypatch.setattr(op, "compute", noted)
    monkeypatch.setattr(batching, "call_of", general)  # fast paths know what computes
    return found


@pytest.mark.parametrize(
    "left, right, in_axes, expected",
    [
        ((5, 3), (3, 2), (0, None), ((5, 3), (3, 2))),  # vectors and one matrix
        ((5, 4, 3), (3, 2), (0, None), ((20, 3), (3, 2))),
        ((5, 2, 4, 3), (3, 2), (0, None), ((40, 3), (3, 2))),
        ((4, 3), (5, 3), (None, 0), ((5, 3), (3, 4))),  # one matrix and vectors
        ((4, 3), (5, 3, 2), (None, 0), ((4, 3), (5, 3, 2))),
        ((5, 4, 3), (5, 3, 2), (0, 0), ((5, 4, 3), (5, 3, 2))),
        ((5, 4, 3), (2, 3, 2), (0, None), ((5, 1, 4, 3), (2, 3, 2))),
        ((5, 3), (5, 3), (0, 0), ((5, 1, 3), (5, 3, 1))),
    ],
)
def test_a_product_is_one_product(
    left: Any, right: Any, in_axes: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x1, x2 = RNG.normal(size=left), RNG.normal(size=right)
    found = shapes_of_products(monkeypatch)
    y = wg.vmap(wg.matmul, in_axes)(x1, x2)
    assert found == [expected]
    for i in range(5):
        mine = (a if axis is None else a[i] for a, axis in zip((x1, x2), in_axes, strict=True))
        np.testing.assert_allclose(y[i], np.matmul(*mine), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "bool"])
def test_products_of_columns_and_rows(dtype: str) -> None:
    x1, x2 = (RNG.integers(0, 3, shape).astype(dtype) for shape in ((2, 1, 4, 1), (3, 1, 5)))
    y = wg.matmul(x1, x2).numpy()
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, np.matmul(x1, x2))


def test_gradients_of_each_example_of_a_network() -> None:
    params = [RNG.normal(size=shape) for shape in ((3, 5), (5,), (5, 2), (2,))]
    x, y = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 2))

    def loss(params: Any, x: Any, y: Any) -> Any:
        hidden = wg.tanh(x @ params[0] + params[1])
        return wg.sum((hidden @ params[2] + params[3] - y) ** 2)

    found = wg.vmap(wg.grad(loss), (None, 0, 0))(params, x, y)
    for i in range(6):
        for mine, theirs in zip(found, wg.grad(loss)(params, x[i], y[i]), strict=True):
            np.testing.assert_allclose(mine[i], theirs, rtol=1e-12, atol=1e-14)


# -- looks at values --------------------------------------------------------------------------


def test_an_error_names_the_example() -> None:
    stack = MATRICES.copy()
    stack[2] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(2,\) of a batch of shape \(4,\)"):
        wg.vmap(linalg.inv)(stack)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        wg.vmap(linalg.cholesky)(-POSITIVE)
    with pytest.raises(np.linalg.LinAlgError, match="dependent"):
        wg.vmap(wg.grad(lambda a: wg.sum(linalg.qr(a).Q)))(stack)


def test_a_derivative_that_is_not_determined_warns_for_any_example() -> None:
    stack = POSITIVE.copy()
    stack[1] = np.eye(3)
    first = wg.vmap(wg.grad(lambda a: linalg.eigh(a).eigenvectors[0, 1]))
    first(POSITIVE)  # no warning, which were an error
    with pytest.warns(wg.DegenerateWarning, match="eigh"):
        first(stack)
    with pytest.warns(wg.DegenerateWarning, match="svd"):
        wg.vmap(wg.grad(lambda a: linalg.svd(a).U[0, 1]))(stack)
    outer = wg.vmap(wg.vmap(wg.grad(lambda a, b: wg.sum(linalg.eigh(a).eigenvectors * b))))
    with pytest.warns(wg.DegenerateWarning, match="eigh"):
        outer(stack[None], RNG.normal(size=(1, SIZE, 3, 3)))


def test_warnings_of_two_vmaps_look_at_each_pair() -> None:
    """The matrix is mapped by one vmap and the weights by the other."""
    inner = wg.vmap(wg.grad(lambda a, w: wg.sum(linalg.eigh(a).eigenvectors * w)), (None, 0))
    found = wg.vmap(inner, (0, None))(POSITIVE, MATRICES[:3])
    for i in range(SIZE):
        for k in range(3):
            gradient = wg.grad(lambda a, w=MATRICES[k]: wg.sum(linalg.eigh(a).eigenvectors * w))
            np.testing.assert_allclose(found[i, k], gradient(POSITIVE[i]), rtol=1e-8, atol=1e-10)


def test_eigenvalues_and_their_gradients() -> None:
    values = wg.vmap(linalg.eigvals)(MATRICES)
    for mine, matrix in zip(values, MATRICES, strict=True):
        np.testing.assert_allclose(
            np.sort_complex(mine), np.sort_complex(np.linalg.eigvals(matrix)), rtol=1e-10
        )
    total = wg.grad(lambda a: wg.sum(wg.abs(linalg.eigvals(a)) ** 2))
    assert_same(wg.vmap(total)(MATRICES), loop(total, MATRICES))
    eig = wg.grad(lambda a: wg.sum(wg.abs(linalg.eig(a).eigenvectors[0]) ** 2))
    assert_same(wg.vmap(eig)(MATRICES), loop(eig, MATRICES), rtol=1e-8)


@pytest.mark.parametrize("function", [linalg.pinv, linalg.matrix_rank])
def test_a_tolerance_may_differ_between_examples(function: Callable[..., Any]) -> None:
    pairs = np.stack([TALL, TALL[::-1]], axis=1)  # two matrices for each example
    rtol = np.array([1e-9, 0.9, 1e-3, 0.99])
    both = np.stack([rtol, rtol[::-1]], axis=1)

    def call(x: Any, t: Any) -> Any:
        return function(x, rtol=t)

    assert_same(wg.vmap(call)(pairs, rtol), loop(call, pairs, rtol))
    assert_same(wg.vmap(call)(pairs, both), loop(call, pairs, both))
    found = wg.vmap(call, (None, 0))(pairs[0], both)
    assert_same(found, loop(lambda t: call(pairs[0], t), both))
    assert_same(wg.vmap(lambda x: call(x, both[0]))(pairs), loop(lambda x: call(x, both[0]), pairs))
    nested = wg.vmap(lambda x: wg.vmap(lambda t: call(x, t))(rtol))(TALL)
    assert_same(nested[1], loop(lambda t: call(TALL[1], t), rtol))


def test_lstsq_has_residuals_if_all_examples_are_of_full_rank() -> None:
    b = RNG.uniform(-1, 1, (SIZE, 4))
    result = wg.vmap(linalg.lstsq)(TALL, b)
    assert result.residuals.shape == (SIZE, 1)
    assert result.rank.tolist() == [2] * SIZE
    poor = TALL.copy()
    poor[0] = 1.0
    result = wg.vmap(linalg.lstsq)(poor, b)
    assert result.residuals.shape == (SIZE, 0)
    assert result.rank.tolist() == [1, 2, 2, 2]


def test_no_examples() -> None:
    none = np.zeros((0, 3, 3))
    assert wg.vmap(linalg.solve)(none, none[:, 0]).shape == (0, 3)
    assert wg.vmap(lambda b: linalg.solve(ONE, b))(none[:, 0]).shape == (0, 3)
    assert wg.vmap(lambda x: wg.matmul(x, ONE))(none[:, 0]).shape == (0, 3)
    assert wg.vmap(wg.grad(lambda a: linalg.det(a)))(none).shape == (0, 3, 3)
    assert wg.vmap(lambda a: linalg.eigh(a).eigenvectors)(none).shape == (0, 3, 3)
    assert wg.vmap(wg.grad(lambda a: wg.sum(linalg.svd(a).U)))(none).shape == (0, 3, 3)


# -- NumPy's functions ------------------------------------------------------------------------

NUMPY: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "sum": (lambda x: np.sum(x, axis=0), (MATRICES,)),
    "where": (lambda x: np.where(x > 1, x, 0.0), (MATRICES,)),
    "where of truths": (lambda c, x: np.where(c, x, -x), (VECTORS > 1, VECTORS)),
    "solve": (np.linalg.solve, (MATRICES, VECTORS)),
    "einsum": (lambda x, y: np.einsum("ij,j", x, y), (MATRICES, VECTORS)),
    "eig": (lambda x: np.linalg.eig(x)[0], (POSITIVE,)),
    "matrix_rank of a vector": (np.linalg.matrix_rank, (VECTORS,)),
    "fmax": (lambda x: np.fmax(x, 1.0), (VECTORS,)),
    "gradient": (lambda x: np.gradient(x), (VECTORS,)),
    "ldexp": (lambda x, e: np.ldexp(x, e), (VECTORS, RNG.integers(-3, 3, (SIZE, 3)))),
    "frexp": (lambda x: tuple(np.frexp(x)), (VECTORS,)),
    "isclose": (lambda x, y: np.isclose(x, y[0], rtol=0.4), (MATRICES, VECTORS)),
    "allclose": (lambda x: np.allclose(x, VECTORS[0]), (VECTORS,)),
    "array_equal": (lambda x: np.array_equal(x, VECTORS[0]), (VECTORS,)),
    "isreal": (np.isreal, (VECTORS + 1j * (VECTORS > 1),)),
    "digitize": (lambda x: np.digitize(x, [0.5, 1.0]), (VECTORS,)),
    "lexsort": (lambda x: np.lexsort((x, x > 1)), (VECTORS,)),
    "nanargmax": (lambda x: np.nanargmax(x), (MATRICES,)),
    "nanargmin": (lambda x: np.nanargmin(x, axis=0, keepdims=True), (MATRICES,)),
    "partition": (lambda x: np.partition(x, 1), (VECTORS,)),
    "argpartition": (lambda x: np.argpartition(x, 1, axis=None)[1], (VECTORS,)),
    "ufunc with a dtype": (lambda x: np.add(x, x, dtype=np.float64), (VECTORS,)),
    "gcd": (np.gcd, (RNG.integers(1, 50, (SIZE, 3)), RNG.integers(1, 50, (SIZE, 3)))),
    "unravel_index": (lambda i: np.unravel_index(i, (2, 4)), (np.arange(SIZE) + 1,)),
    "cov": (np.cov, (MATRICES,)),
    "convolve": (np.convolve, (VECTORS, VECTORS)),
    "fft": (lambda x: np.fft.fft(x), (VECTORS,)),
}


@pytest.mark.parametrize("name", NUMPY)
def test_functions_of_numpy(name: str) -> None:
    function, stacks = NUMPY[name]
    assert_same(wg.vmap(function)(*stacks), loop(function, *stacks))
    rows = [np.stack([a, a[::-1]], axis=1) for a in stacks]
    nested = wg.vmap(wg.vmap(function))(*rows)
    for k in range(2):
        mine = tuple(np.asarray(y)[:, k] for y in flat(nested))
        assert_same(mine, loop(function, *(row[:, k] for row in rows)))


def test_what_depends_on_the_dtype_alone_is_no_array() -> None:
    def call(x: Any) -> Any:
        assert np.iscomplexobj(x) is False
        assert np.isrealobj(x) is True
        assert np.result_type(x, np.float32) == np.float64
        return x

    wg.vmap(call)(VECTORS)


@pytest.mark.parametrize("function", [np.argwhere, np.flatnonzero, np.nonzero, np.unique])
def test_shapes_that_depend_on_values_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="inside of vmap"):
        wg.vmap(function)(VECTORS)


# -- random numbers ---------------------------------------------------------------------------

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda rng, x: random.normal(rng, x, 0.5),
    "uniform": lambda rng, x: random.uniform(rng, 0.0, x),
    "exponential": lambda rng, x: random.exponential(rng, x),
    "multivariate_normal": lambda rng, x: random.multivariate_normal(rng, x, ONE),
    "truncated_normal": lambda rng, x: random.truncated_normal(rng, x - 1, x + 1, x, 0.5),
    "gumbel_softmax": lambda rng, x: random.gumbel_softmax(rng, x),
    "hard gumbel_softmax": lambda rng, x: random.gumbel_softmax(rng, x, hard=True),
    "bernoulli": lambda rng, x: random.bernoulli(rng, x / 2),
    "categorical": lambda rng, x: random.categorical(rng, x, shape=5),
    "randint": lambda rng, x: random.randint(rng, 0, 100, shape=6) + 0 * wg.astype(x[0], int),
    "permutation": random.permutation,
    "choice": lambda rng, x: random.choice(rng, x, shape=2),
    "choice, each once": lambda rng, x: random.choice(rng, x, shape=2, replace=False),
    "choice of a few": lambda rng, x: random.choice(
        rng, x, shape=2, replace=False, p=[0.5, 0.0, 0.5]
    ),
}
OF_GAMMA: dict[str, Callable[[Any, Any], Any]] = {
    "gamma": lambda rng, x: random.gamma(rng, x),
    "chisquare": lambda rng, x: random.chisquare(rng, x),
    "student_t": lambda rng, x: random.student_t(rng, x),
    "beta": lambda rng, x: random.beta(rng, x, 2.0),
    "dirichlet": lambda rng, x: random.dirichlet(rng, x),
}


@pytest.mark.parametrize("name", [*DRAWS, *OF_GAMMA])
def test_nothing_says_whether_examples_share_numbers(name: str) -> None:
    draw = (DRAWS | OF_GAMMA)[name]
    with pytest.raises(ValueError, match="randomness='different'"):
        wg.vmap(lambda x: draw(random.generator(0), x))(VECTORS)
    with pytest.raises(ValueError, match="randomness is 'none'"):
        wg.vmap(lambda x: x, randomness="none")


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers_for_all_examples(name: str) -> None:
    def call(x: Any) -> Any:
        return DRAWS[name](random.generator(3), x)

    assert_same(wg.vmap(call, randomness="same")(VECTORS), loop(call, VECTORS))
    nested = wg.vmap(wg.vmap(call, randomness="same"), randomness="same")
    assert_same(nested(VECTORS[:, None])[:, 0], loop(call, VECTORS))


@pytest.mark.parametrize("name", OF_GAMMA)
def test_samples_that_cannot_be_shared(name: str) -> None:
    call = wg.vmap(lambda x: OF_GAMMA[name](random.generator(3), x), randomness="same")
    with pytest.raises(ValueError, match="differs between the examples"):
        call(VECTORS)
    shared = wg.vmap(
        lambda x: x + OF_GAMMA[name](random.generator(3), VECTORS[0]), 0, 0, None, "same"
    )
    expected = VECTORS + OF_GAMMA[name](random.generator(3), VECTORS[0]).numpy()
    np.testing.assert_allclose(shared(VECTORS), expected)


@pytest.mark.parametrize("name", [*DRAWS, *OF_GAMMA])
def test_other_numbers_for_each_example(name: str) -> None:
    """They are those of an array of all examples, of which none are equal."""
    draw = (DRAWS | OF_GAMMA)[name]
    wide = np.broadcast_to(VECTORS[0], (40, 3))

    def call(x: Any) -> Any:
        return wg.vmap(lambda x: draw(random.generator(3), x), randomness="different")(x)

    found = np.asarray(call(wide))
    assert len(np.unique(found.reshape(40, -1), axis=0)) > 1
    if name not in ("permutation", "randint") and "choice" not in name:
        expected = draw(random.generator(3), wg.asarray(wide)) if name != "categorical" else None
        if expected is not None:
            np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12)
    nested = wg.vmap(
        wg.vmap(lambda x: draw(random.generator(3), x), randomness="different"),
        randomness="different",
    )(wide.reshape(8, 5, 3))
    np.testing.assert_allclose(np.asarray(nested).reshape(found.shape), found, rtol=1e-12)


@pytest.mark.parametrize("name", ["normal", "truncated_normal", "gumbel_softmax", *OF_GAMMA])
def test_gradients_of_samples(name: str) -> None:
    draw = (DRAWS | OF_GAMMA)[name]
    weights = np.cos(np.arange(3.0))

    def total(x: Any) -> Any:
        return wg.sum(draw(random.generator(3), x) * weights)

    expected = wg.grad(total)(VECTORS)
    inside = wg.vmap(wg.grad(total), randomness="different")
    outside = wg.grad(lambda x: wg.sum(wg.vmap(total, randomness="different")(x)))
    np.testing.assert_allclose(inside(VECTORS), expected, rtol=1e-9)
    np.testing.assert_allclose(outside(VECTORS), expected, rtol=1e-9)


def test_hard_samples_have_the_gradient_of_smooth_ones_inside_and_outside() -> None:
    def total(hard: bool, x: Any) -> Any:
        y = random.gumbel_softmax(random.generator(3), x, hard=hard)
        return wg.sum(y * np.arange(3.0))

    expected = wg.vmap(wg.grad(lambda x: total(False, x)), randomness="same")(VECTORS)
    inside = wg.vmap(wg.grad(lambda x: total(True, x)), randomness="same")
    outside = wg.grad(lambda x: wg.sum(wg.vmap(lambda x: total(True, x), randomness="same")(x)))
    np.testing.assert_allclose(inside(VECTORS), expected)
    np.testing.assert_allclose(outside(VECTORS), expected)


def test_choices_without_replacement_are_as_likely_as_one_after_the_other() -> None:
    p = np.array([0.5, 0.3, 0.2])
    rng = random.generator(5)
    draw = wg.vmap(
        lambda x: random.choice(rng, 3, shape=2, replace=False, p=p) + 0 * x,
        randomness="different",
    )
    pairs = draw(np.zeros(20_000, int))
    for i in range(3):
        for k in range(3):
            share = float(np.mean((pairs[:, 0] == i) & (pairs[:, 1] == k)))
            expected = 0.0 if i == k else p[i] * p[k] / (1 - p[i])
            assert share == pytest.approx(expected, abs=0.015)
    with pytest.raises(ValueError, match="probabilities are not 0"):
        random.choice(rng, 3, shape=2, replace=False, p=[1.0, 0.0, 0.0])


def test_chunks_draw_numbers_of_their_own() -> None:
    rng = random.generator(0)
    call = wg.vmap(lambda x: random.normal(rng, x), chunk_size=3, randomness="different")
    assert len(np.unique(call(np.zeros(7)))) == 7


def test_other_libraries() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray(VECTORS)
    for name, draw in (DRAWS | OF_GAMMA).items():
        if name in ("randint", "multivariate_normal"):  # their other arrays are NumPy's
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = wg.vmap(
                lambda x, draw=draw: draw(random.generator(1), x), randomness="different"
            )
            found, expected = call(x), call(VECTORS)
        assert type(found) is type(x), name
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, err_msg=name)
    matrices = strict.asarray(POSITIVE)
    for function in (linalg.eigvalsh, linalg.inv, lambda a: linalg.solve(a, a[0]), linalg.cholesky):
        gradient = wg.vmap(wg.grad(lambda a, f=function: wg.sum(f(a))))
        np.testing.assert_allclose(np.asarray(gradient(matrices)), gradient(POSITIVE), rtol=1e-9)
