"""Random numbers: distributions, derivatives along the paths of samples, and bad input."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import scipy.special as sp

import wengert as wg
from tests.ops.op_cases import on_strict
from wengert import random
from wengert.ops.random.continuous import _log_gamma_slope

generator = random.generator
INF = np.inf

#: Each family with parameters, and SciPy's name and parameters of the same distribution.
FAMILIES: dict[str, tuple[Any, tuple[Any, ...], str, dict[str, Any]]] = {
    "normal": (random.normal, (1.5, 0.5), "norm", {"loc": 1.5, "scale": 0.5}),
    "uniform": (random.uniform, (-1.0, 3.0), "uniform", {"loc": -1.0, "scale": 4.0}),
    "exponential": (random.exponential, (2.0,), "expon", {"scale": 2.0}),
    "laplace": (random.laplace, (-1.0, 0.7), "laplace", {"loc": -1.0, "scale": 0.7}),
    "logistic": (random.logistic, (0.5, 1.2), "logistic", {"loc": 0.5, "scale": 1.2}),
    "cauchy": (random.cauchy, (0.5, 1.2), "cauchy", {"loc": 0.5, "scale": 1.2}),
    "gumbel": (random.gumbel, (0.5, 1.2), "gumbel_r", {"loc": 0.5, "scale": 1.2}),
    "log_normal": (random.log_normal, (0.2, 0.5), "lognorm", {"s": 0.5, "scale": np.exp(0.2)}),
    "truncated_normal": (
        random.truncated_normal,
        (-1.0, 2.0, 0.5, 1.5),
        "truncnorm",
        {"a": -1.0, "b": 1.0, "loc": 0.5, "scale": 1.5},
    ),
    "truncated_normal, a tail": (
        random.truncated_normal,
        (9.0, 9.5),
        "truncnorm",
        {"a": 9.0, "b": 9.5},
    ),
    "truncated_normal, one bound": (
        random.truncated_normal,
        (-INF, -8.0),
        "truncnorm",
        {"a": -INF, "b": -8.0},
    ),
    "gamma": (random.gamma, (2.5, 0.5), "gamma", {"a": 2.5, "scale": 0.5}),
    "gamma, small": (random.gamma, (0.2,), "gamma", {"a": 0.2}),
    "log_gamma": (random.log_gamma, (0.4,), "loggamma", {"c": 0.4}),
    "chisquare": (random.chisquare, (3.0,), "chi2", {"df": 3.0}),
    "student_t": (
        random.student_t, (3.0, 1.0, 2.0), "t", {"df": 3.0, "loc": 1.0, "scale": 2.0},
    ),
    "beta": (random.beta, (0.5, 2.0), "beta", {"a": 0.5, "b": 2.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
def test_distribution(name: str, dtype: Any) -> None:
    import scipy.stats

    function, params, theirs, settings = FAMILIES[name]
    x = function(generator(1), *params, shape=(100, 50), dtype=dtype)
    assert x.shape == (100, 50) and x.dtype == dtype
    exact = getattr(scipy.stats, theirs)(**settings)
    assert scipy.stats.kstest(x.numpy().ravel().astype(float), exact.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_gives_the_same_numbers_again(name: str) -> None:
    function, params, *_ = FAMILIES[name]
    rng = generator(5)
    first, second = function(rng, *params, shape=4), function(rng, *params, shape=4)
    again = function(generator(5), *params, shape=4)
    np.testing.assert_array_equal(first.numpy(), again.numpy())
    assert (first.numpy() != second.numpy()).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes_dtypes_and_libraries(name: str) -> None:
    function, params, *_ = FAMILIES[name]
    assert function(generator(0), *params).shape == ()
    assert function(generator(0), *params).dtype == wg.float64
    assert function(generator(0), *params, shape=3).shape == (3,)
    rows = [np.full((2, 1), p, np.float32) for p in params]
    x = function(generator(0), *rows)
    assert x.shape == (2, 1) and x.dtype == wg.float32
    assert function(generator(0), *rows, shape=(4, 2, 3)).shape == (4, 2, 3)
    assert function(generator(0), *rows, dtype=wg.float64).dtype == wg.float64
    with pytest.raises(wg.ShapeError, match=r"shape \(2, 1\) do not broadcast to shape=\(3, 3\)"):
        function(generator(0), *rows, shape=(3, 3))
    strict = function(generator(0), *map(on_strict, rows), shape=(2, 3))
    assert isinstance(strict.data, type(array_api_strict.ones(1)))
    np.testing.assert_allclose(
        strict.numpy(), function(generator(0), *rows, shape=(2, 3)).numpy(), rtol=1e-6
    )


SMOOTH = [name for name, (f, *_) in FAMILIES.items() if f in (
    random.normal, random.uniform, random.exponential, random.laplace, random.logistic,
    random.cauchy, random.gumbel, random.log_normal,
)]  # fmt: skip


@pytest.mark.parametrize("name", [*SMOOTH, "truncated_normal", "truncated_normal, a tail"])
def test_derivatives_are_those_for_constant_noise(name: str) -> None:
    function, params, *_ = FAMILIES[name]
    arrays = [np.full((2, 1), p) for p in params]
    wg.check_grads(
        lambda *a: function(generator(3), *a, shape=(2, 3)),
        arrays,
        order=2,
        tolerance=1e-5 if "truncated" in name else None,
    )
    single = [a.astype(np.float32) for a in arrays]
    slopes = wg.grad(
        lambda *a: wg.sum(function(generator(3), *a)), argnums=tuple(range(len(arrays)))
    )(*single)
    assert all(s.dtype == np.float32 and np.isfinite(s).all() for s in slopes)


def test_truncated_normal_without_a_bound() -> None:
    low, high = np.array([-INF, 0.0, -INF]), np.array([1.0, INF, INF])
    x = random.truncated_normal(generator(0), low, high, shape=(500, 3)).numpy()
    assert (x[:, 0] <= 1).all() and (x[:, 1] >= 0).all() and x[:, 2].min() < -2

    def total(loc: Any, scale: Any) -> Any:
        return wg.sum(random.truncated_normal(generator(0), low, high, loc, scale) ** 2)

    slopes = wg.grad(total, argnums=(0, 1))(np.zeros(3), np.ones(3))
    assert all(np.isfinite(s).all() for s in slopes)
    wg.check_grads(total, [np.zeros(3), np.ones(3)], order=2, tolerance=1e-5)
    far = random.truncated_normal(generator(0), 40.0, 41.0, shape=5).numpy()
    assert ((far >= 40) & (far < 40.5)).all()


# -- gamma and what is made of it ---------------------------------------------------------------


def _quantile_slope(alpha: float, u: float, upper: bool) -> float:
    """Return d log(z) / d alpha by differences of SciPy's inverse of the distribution function."""
    inverse = sp.gammainccinv if upper else sp.gammaincinv
    steps, weights = np.arange(1, 5), np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
    h = 1e-2 * alpha
    ends = [np.log(inverse(alpha + s * steps * h, u)) for s in (1, -1)]
    return float(np.sum(weights * (ends[0] - ends[1])) / h)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 0.1, 0.5, 0.9, 1, 1.5, 3, 10, 100, 1e3, 1e4])
@pytest.mark.parametrize("u", [1e-10, 1e-3, 0.1, 0.4, 0.6])
@pytest.mark.parametrize("upper", [False, True])
def test_slopes_of_gamma_samples(alpha: float, u: float, upper: bool) -> None:
    z = sp.gammainccinv(alpha, u) if upper else sp.gammaincinv(alpha, u)
    if z < 1e-290:
        exact = (sp.digamma(alpha + 1) - (np.log(u) + sp.gammaln(alpha + 1)) / alpha) / alpha
        log_z = (np.log(u) + sp.gammaln(alpha + 1)) / alpha  # where z**alpha is all that counts
    else:
        exact, log_z = _quantile_slope(alpha, u, upper), np.log(z)
    got = _log_gamma_slope(wg.backends.NUMPY, np.array(alpha), np.array(log_z))
    np.testing.assert_allclose(got, exact, rtol=1e-9)


def test_samples_of_gamma_move_with_their_quantile() -> None:
    alpha = np.array([0.3, 1.0, 2.5, 20.0])
    z, slope = wg.value_and_grad(lambda a: wg.sum(random.gamma(generator(2), a)))(alpha)
    z = random.gamma(generator(2), alpha).numpy()
    u, h = sp.gammainc(alpha, z), 1e-5
    exact = (sp.gammaincinv(alpha + h, u) - sp.gammaincinv(alpha - h, u)) / (2 * h)
    np.testing.assert_allclose(slope, exact, rtol=1e-6)
    second = wg.grad(lambda a: wg.sum(wg.grad(
        lambda b: wg.sum(random.gamma(generator(2), b)))(a)))(alpha)  # fmt: skip
    h = 1e-3
    sides = [sp.gammaincinv(alpha + s * h, u) for s in (-1, 0, 1)]
    np.testing.assert_allclose(second, (sides[0] - 2 * sides[1] + sides[2]) / h**2, rtol=1e-3)


def _slope_of_mean(function: Any, params: list[float], power: int = 1) -> tuple[Any, Any]:
    """Return the mean of the derivatives of samples to each parameter, and its error."""
    count = 40_000
    arrays = [np.full(count, p) for p in params]
    slopes = wg.grad(
        lambda *a: wg.sum(function(generator(11), *a) ** power), argnums=tuple(range(len(arrays)))
    )(*arrays)
    return [s.mean() for s in slopes], [s.std() / np.sqrt(count) for s in slopes]


#: A function, parameters, a power, and the derivatives of the mean of that power.
MEANS: dict[str, tuple[Any, list[float], int, list[float]]] = {
    "gamma": (random.gamma, [2.5, 0.5], 1, [0.5, 2.5]),
    "gamma, squares": (random.gamma, [0.7, 1.0], 2, [2 * 0.7 + 1, 2 * 0.7 * 1.7]),
    "log_gamma": (random.log_gamma, [0.6], 1, [float(sp.polygamma(1, 0.6))]),
    "chisquare": (random.chisquare, [3.0], 1, [1.0]),
    "chisquare, squares": (random.chisquare, [3.0], 2, [2 * 3.0 + 2]),
    "beta": (random.beta, [0.5, 2.0], 1, [2.0 / 2.5**2, -0.5 / 2.5**2]),
    "beta, squares": (
        random.beta,
        [2.0, 1.0],
        2,
        # a (a + 1) / ((a + b) (a + b + 1)), by hand
        [(5 * 12 - 6 * 7) / 12**2, -6 * 7 / 12**2],
    ),
    "student_t, squares": (random.student_t, [12.0], 2, [-2 / 10**2]),
}


@pytest.mark.parametrize("name", MEANS)
def test_derivatives_of_means(name: str) -> None:
    function, params, power, exact = MEANS[name]
    means, errors = _slope_of_mean(function, params, power)
    for mean, error, value in zip(means, errors, exact, strict=True):
        assert abs(mean - value) < 4.5 * error


def test_dirichlet() -> None:
    alpha = np.array([0.5, 1.0, 2.5])
    x = random.dirichlet(generator(0), alpha, shape=(20_000, 3))
    np.testing.assert_allclose(x.numpy().sum(axis=1), 1)
    np.testing.assert_allclose(x.numpy().mean(axis=0), alpha / 4, atol=0.01)
    rows = np.broadcast_to(alpha, (20_000, 3)).copy()
    slope = wg.grad(lambda a: wg.sum(random.dirichlet(generator(1), a)[:, 0]))(rows)
    # of the mean alpha[0] / sum(alpha)
    np.testing.assert_allclose(slope.mean(axis=0), [3.5 / 16, -0.5 / 16, -0.5 / 16], atol=0.01)
    slope = wg.grad(lambda a: wg.sum(random.dirichlet(generator(1), a)))(rows)
    np.testing.assert_allclose(slope, 0, atol=1e-10)  # they sum to 1, whatever alpha is
    assert random.dirichlet(generator(0), alpha.astype(np.float32)).dtype == wg.float32


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 0.05])
def test_small_parameters(alpha: float) -> None:
    a = np.full((200, 3), alpha)
    x, pull = wg.vjp(lambda a: random.dirichlet(generator(0), a), a)
    np.testing.assert_allclose(np.asarray(x).sum(axis=1), 1)
    assert np.isfinite(pull(np.ones((200, 3)) * np.arange(3.0))[0]).all()
    for function in (
        lambda a: random.beta(generator(0), a, a),
        lambda a: random.gamma(generator(0), a),
        lambda a: random.log_gamma(generator(0), a),
    ):
        y, pull = wg.vjp(function, a)
        assert np.isfinite(np.asarray(y)).all() and np.isfinite(pull(np.ones((200, 3)))[0]).all()


def test_multivariate_normal() -> None:
    loc, factor = np.array([1.0, -1.0]), np.array([[2.0, 0.0], [1.0, 0.5]])
    x = random.multivariate_normal(generator(0), loc, factor, shape=(40_000, 2)).numpy()
    np.testing.assert_allclose(x.mean(axis=0), loc, atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), factor @ factor.T, atol=0.1)
    wg.check_grads(
        lambda m, f: random.multivariate_normal(generator(0), m, f, shape=(3, 2)),
        [loc, factor],
        order=2,
    )
    batch = random.multivariate_normal(generator(0), np.zeros((3, 1, 2)), np.ones((4, 2, 2)))
    assert batch.shape == (3, 4, 2)
    for m, f in ((loc, factor[:1]), (np.array(1.0), factor), (loc, loc)):
        with pytest.raises(wg.ShapeError, match=r"expected \(..., n\) and \(..., n, n\)"):
            random.multivariate_normal(generator(0), m, f)


# -- choices ------------------------------------------------------------------------------------

LOGITS = np.log(np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]))


def test_gumbel_softmax() -> None:
    x = random.gumbel_softmax(generator(0), LOGITS, 0.5, shape=(20_000, 2, 3)).numpy()
    np.testing.assert_allclose(x.sum(axis=-1), 1)
    best = np.argmax(x, axis=-1)
    for i in range(2):
        share = np.bincount(best[:, i]) / 20_000
        np.testing.assert_allclose(share, np.exp(LOGITS[i]), atol=0.015)
    wg.check_grads(
        lambda z, t: random.gumbel_softmax(generator(0), z, t), [LOGITS, np.array(0.7)], order=2
    )
    columns = random.gumbel_softmax(generator(0), LOGITS.T, axis=0)
    np.testing.assert_allclose(columns.numpy().sum(axis=0), 1)


@pytest.mark.parametrize("make", [wg.asarray, on_strict], ids=["numpy", "strict"])
def test_hard_gumbel_softmax_has_the_slope_of_the_soft_one(make: Any) -> None:
    weights = make(np.array([1.0, 2.0, 5.0]))
    results = []
    for hard in (True, False):
        z = make(LOGITS)
        with wg.GradientTape() as tape:
            tape.watch(z)
            y = random.gumbel_softmax(generator(4), z, 0.8, hard=hard)
            loss = wg.sum(y * weights)
        results.append((y.numpy(), tape.gradient(loss, z).numpy()))
    (hard, slope), (soft, exact) = results
    assert set(hard.ravel().tolist()) == {0.0, 1.0} and (hard.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(np.argmax(hard, axis=1), np.argmax(soft, axis=1))
    np.testing.assert_allclose(slope, exact)


def test_categorical() -> None:
    x = random.categorical(generator(0), LOGITS, shape=(20_000, 2))
    assert x.dtype == wg.int64 and x.shape == (20_000, 2)
    for i in range(2):
        share = np.bincount(x.numpy()[:, i]) / 20_000
        np.testing.assert_allclose(share, np.exp(LOGITS[i]), atol=0.015)
    assert random.categorical(generator(0), LOGITS.T, axis=0).shape == (2,)
    never = random.categorical(generator(0), np.array([0.0, -INF]), shape=100)
    assert not never.numpy().any()
    assert type(random.categorical(generator(0), on_strict(LOGITS)).data) is type(
        array_api_strict.ones(1)
    )
    with pytest.raises(ValueError, match="nothing but -inf along axis 0"):
        random.categorical(generator(0), np.array([-INF, -INF]))
    with pytest.raises(ValueError, match="logits has nan"):
        random.categorical(generator(0), np.array([0.0, np.nan]))


def test_bernoulli() -> None:
    x = random.bernoulli(generator(0), np.array([0.0, 0.3, 1.0]), shape=(20_000, 3))
    assert x.dtype == wg.bool
    np.testing.assert_allclose(x.numpy().mean(axis=0), [0, 0.3, 1], atol=0.015)
    p = wg.asarray([0.5, 0.5])
    with wg.GradientTape() as tape:
        tape.watch(p)
        y = wg.sum(wg.astype(random.bernoulli(generator(0), p), wg.float64))
    assert tape.gradient(y, p) is None
    assert random.bernoulli(generator(0)).shape == ()
    for bad in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match="bernoulli: p has .*; expected numbers from 0 to 1"):
            random.bernoulli(generator(0), bad)


def test_randint() -> None:
    x = random.randint(generator(0), -2, 3, shape=(500,))
    assert set(x.tolist()) == {-2, -1, 0, 1, 2} and x.dtype == wg.int64
    assert random.randint(generator(0), 0, 3).shape == ()
    assert random.randint(generator(0), 0, 3, dtype=np.int8).dtype == wg.int8
    with pytest.raises(ValueError, match="low=3 and high=3; expected low < high"):
        random.randint(generator(0), 3, 3)
    with pytest.raises(TypeError):
        random.randint(generator(0), 0.0, 3)
    with pytest.raises(wg.DtypeError, match="integer dtype"):
        random.randint(generator(0), 0, 3, dtype=float)


def test_permutation() -> None:
    x = np.arange(12.0).reshape(3, 4)
    y = random.permutation(generator(0), x, axis=1)
    order = [int(v) for v in y.numpy()[0]]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_array_equal(y.numpy(), x[:, order])
    wg.check_grads(lambda x: random.permutation(generator(0), x, axis=1) ** 2, [x], order=1)
    assert sorted(random.permutation(generator(0), 5).tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(wg.ShapeError, match="permutation: x has no axes"):
        random.permutation(generator(0), wg.asarray(1.0))


def test_choice() -> None:
    x = np.array([1.0, 2.0, 4.0])
    y = random.choice(generator(0), x, shape=(20_000,), p=[0.2, 0.3, 0.5])
    shares = [np.mean(y.numpy() == v) for v in x]
    np.testing.assert_allclose(shares, [0.2, 0.3, 0.5], atol=0.015)
    assert sorted(random.choice(generator(0), 4, shape=4, replace=False).tolist()) == [0, 1, 2, 3]
    assert random.choice(generator(0), x).shape == ()
    assert random.choice(generator(0), np.ones((2, 3)), shape=(4, 5), axis=1).shape == (2, 4, 5)
    g = wg.grad(lambda x: wg.sum(random.choice(generator(0), x, shape=9)))(x)
    assert g.sum() == 9
    with pytest.raises(ValueError, match=r"shape=\(4,\) of 3 elements without replacement"):
        random.choice(generator(0), x, shape=4, replace=False)
    with pytest.raises(ValueError, match="p sums to 1.5"):
        random.choice(generator(0), x, p=[0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match="expected probabilities"):
        random.choice(generator(0), x, p=[1.5, -0.5, 0.0])
    with pytest.raises(wg.ShapeError, match=r"p of shape \(2,\) for 3 elements"):
        random.choice(generator(0), x, p=[0.5, 0.5])
    with pytest.raises(ValueError, match="no elements along axis 0"):
        random.choice(generator(0), np.zeros(0))


# -- generators and bad input -------------------------------------------------------------------


def test_generators() -> None:
    rng = generator(3)
    assert isinstance(rng, np.random.Generator)
    a, b = (random.normal(r, shape=3).numpy() for r in rng.spawn(2))
    assert (a != b).all()
    assert generator([1, 2]).random() == generator([1, 2]).random()
    assert generator(np.int64(3)).random() == generator(3).random()
    for seed in (None, True, 1.5, rng):
        with pytest.raises(TypeError, match="expected an integer"):
            generator(seed)


CALLS = {
    **{name: lambda rng, f=f, p=p: f(rng, *p) for name, (f, p, *_) in FAMILIES.items()},
    "dirichlet": lambda rng: random.dirichlet(rng, [1.0, 1.0]),
    "multivariate_normal": lambda rng: random.multivariate_normal(rng, np.ones(1), np.ones((1, 1))),
    "gumbel_softmax": lambda rng: random.gumbel_softmax(rng, LOGITS),
    "bernoulli": lambda rng: random.bernoulli(rng),
    "categorical": lambda rng: random.categorical(rng, LOGITS),
    "randint": lambda rng: random.randint(rng, 0, 2),
    "permutation": lambda rng: random.permutation(rng, 3),
    "choice": lambda rng: random.choice(rng, 3),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rng", [0, None, np.random, np.random.RandomState(0)], ids=str)
def test_what_is_no_generator_is_refused(name: str, rng: Any) -> None:
    plain = name.partition(",")[0]
    with pytest.raises(TypeError, match=f"{plain}: rng is of type .*random.generator"):
        CALLS[name](rng)


BAD: dict[str, tuple[Any, Any, str]] = {
    "normal": (lambda r: random.normal(r, 0.0, [1.0, -2.0]), ValueError, "scale has -2.0"),
    "laplace": (lambda r: random.laplace(r, scale=-1.0), ValueError, "laplace: scale has -1.0"),
    "exponential": (lambda r: random.exponential(r, -1.0), ValueError, "scale has -1.0"),
    "uniform": (lambda r: random.uniform(r, 2.0, 1.0), ValueError, "expected low <= high"),
    "truncated_normal": (lambda r: random.truncated_normal(r, 1, 1), ValueError, "low < high"),
    "truncated_normal, nan": (
        lambda r: random.truncated_normal(r, np.nan, 1.0), ValueError, "low < high",
    ),
    "truncated_normal, scale": (
        lambda r: random.truncated_normal(r, 0, 1, 0, 0), ValueError, "scale has 0.0",
    ),
    "gamma, 0": (lambda r: random.gamma(r, 0.0), ValueError, "alpha has 0.0; expected positive"),
    "gamma, nan": (lambda r: random.gamma(r, np.nan), ValueError, "alpha has nan"),
    "gamma, inf": (lambda r: random.gamma(r, np.inf), ValueError, "alpha has inf"),
    "gamma, scale": (lambda r: random.gamma(r, 1.0, -1.0), ValueError, "scale has -1.0"),
    "log_gamma": (lambda r: random.log_gamma(r, -1.0), ValueError, "alpha has -1.0"),
    "beta": (lambda r: random.beta(r, 1.0, 0.0), ValueError, "beta: b has 0.0"),
    "chisquare": (lambda r: random.chisquare(r, -1.0), ValueError, "df has -1.0"),
    "student_t": (lambda r: random.student_t(r, 0.0), ValueError, "df has 0.0"),
    "dirichlet": (lambda r: random.dirichlet(r, [1.0, 0.0]), ValueError, "alpha has 0.0"),
    "dirichlet, no axis": (lambda r: random.dirichlet(r, 1.0), wg.ShapeError, r"\(..., n\)"),
    "gumbel_softmax": (
        lambda r: random.gumbel_softmax(r, LOGITS, 0.0), ValueError, "temperature has 0.0",
    ),
    "complex": (lambda r: random.normal(r, 1j), wg.DtypeError, "loc of complex128"),
    "dtype": (lambda r: random.normal(r, dtype=int), wg.DtypeError, "real floating dtype"),
    "libraries": (
        lambda r: random.normal(r, np.ones(2), on_strict(np.ones(2))), wg.BackendError, "several",
    ),
    "shapes": (lambda r: random.normal(r, np.ones(2), np.ones(3)), wg.ShapeError, "broadcast"),
    "text": (lambda r: random.normal(r, "a"), TypeError, "normal: got str"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_parameters_that_are_wrong(case: str) -> None:
    call, error, words = BAD[case]
    with pytest.raises(error, match=words):
        call(generator(0))


def test_nan_in_a_location_or_a_scale_gives_nan() -> None:
    assert np.isnan(random.normal(generator(0), np.nan).item())
    assert np.isnan(random.normal(generator(0), 0.0, np.nan).item())
    assert random.normal(generator(0), 2.0, 0.0).item() == 2.0


def test_variables_are_watched() -> None:
    loc, log_scale = wg.Variable([0.0, 1.0]), wg.Variable(0.0)
    with wg.GradientTape() as tape:
        x = random.normal(generator(0), loc, wg.exp(log_scale))
        loss = wg.sum(x**2)
    slopes = tape.gradient(loss, [loc, log_scale])
    np.testing.assert_allclose(slopes[0].numpy(), 2 * x.numpy())
    noise = x.numpy() - loc.numpy()
    np.testing.assert_allclose(slopes[1].numpy(), np.sum(2 * x.numpy() * noise))


@pytest.mark.parametrize("name", ["normal", "truncated_normal", "gamma", "student_t", "log_gamma"])
def test_the_derivative_of_one_sample_is_a_part_of_that_of_all(name: str) -> None:
    function, params, *_ = FAMILIES[name]
    arrays = [np.full((3, 4), p) for p in params]
    every = tuple(range(len(arrays)))
    ones = wg.grad(lambda *a: function(generator(0), *a)[1, 2], argnums=every)(*arrays)
    sums = wg.grad(lambda *a: wg.sum(function(generator(0), *a)), argnums=every)(*arrays)
    for one, total in zip(ones, sums, strict=True):
        expected = np.zeros((3, 4))
        expected[1, 2] = total[1, 2]
        np.testing.assert_allclose(one, expected, rtol=1e-12)
