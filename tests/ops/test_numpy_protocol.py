"""np.f(tensor) is NumPy's value, recorded; what has no rule says so, and nothing is detached."""

from __future__ import annotations

import io
import itertools
import operator as o
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.numpy_cases import (
    CASES,
    FLAT_CASES,
    INTEGER_CASES,
    LIKE_CASES,
    MASK,
    MODULES,
    RANDOM,
    A,
    B,
    Case,
    K,
    M,
    N,
    P,
    U,
    V,
    W,
    assert_same,
    leaves,
    mapped,
)
from tests.poison import ORIGINALS
from wengert.ops.numpy.functions import FUNCTIONS
from wengert.ops.numpy.ufuncs import METHODS, UFUNCS


@pytest.mark.parametrize("c", CASES, ids=str)
def test_value_and_derivative(c: Case) -> None:
    expected = c.function(*c.args, **c.params)
    got = c.function(*mapped(c.args, wg.asarray), **mapped(c.params, wg.asarray))
    assert_same(got, expected)
    arrays: list[np.ndarray] = []
    mapped((c.args, c.params), arrays.append)

    def call(*tensors: Any) -> Any:
        supply = iter(tensors)
        args, params = mapped((c.args, c.params), lambda _: next(supply))
        return list(leaves(c.function(*args, **params)))

    if not any(np.isnan(a).any() or np.isinf(a).any() for a in arrays):
        wg.check_grads(call, arrays, order=1)
        return
    tensors = [wg.asarray(a) for a in arrays]  # differences of NaN are NaN: check what is finite
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        results = [r for r in call(*tensors) if r.dtype == float]
    for a, g in zip(arrays, tape.gradient(results, tensors), strict=True):
        assert np.all(g.numpy()[~np.isfinite(a)] == 0)
        assert np.any(g.numpy()[np.isfinite(a)] != 0)


@pytest.mark.filterwarnings("ignore:.*fix:DeprecationWarning")  # from NumPy 2.5 on
@pytest.mark.parametrize("c", FLAT_CASES + INTEGER_CASES, ids=str)
def test_value_without_derivative(c: Case) -> None:
    expected = c.function(*c.args, **c.params)
    args = mapped(c.args, wg.asarray, "iufcb")
    with wg.GradientTape() as tape:
        tape.watch([x for x in leaves(args) if type(x) is wg.Tensor and x.dtype.kind in "fc"])
        got = c.function(*args, **c.params)
    assert_same(got, expected)
    assert all(x._node is None for x in leaves(got) if type(x) is wg.Tensor)


@pytest.mark.parametrize("c", LIKE_CASES, ids=str)
def test_like_makes_a_tensor(c: Case) -> None:
    got = c.function(*c.args, **c.params, like=wg.asarray([1.0]))
    assert_same(got, np.asarray(c.function(*c.args, **c.params)))


def test_every_function_of_the_table_has_a_case() -> None:
    cases = CASES + FLAT_CASES + INTEGER_CASES + LIKE_CASES
    tested = {ORIGINALS.get(c.function, c.function) for c in cases}
    missing = [f.__name__ for f in FUNCTIONS if f not in tested]
    assert not missing


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanmax", "nanmin"])
def test_functions_without_nan_have_the_derivative_of_what_is_left(name: str) -> None:
    function = getattr(np, name)
    wg.check_grads(lambda a: function(wg.where(MASK, a, np.nan), axis=1), [A], order=1)


def test_unique_of_duplicates_has_the_derivative_of_the_first() -> None:
    x = np.array([1.5, 0.5, 1.5, np.nan, np.nan])
    assert_same(np.unique(wg.asarray(x)), np.unique(x))
    g = wg.grad(lambda x: np.sum(np.unique(x[:3]) * np.array([2.0, 3.0])))(x)
    np.testing.assert_array_equal(g, [3.0, 2.0, 0.0, 0.0, 0.0])


def test_nanmax_of_nothing_is_nan() -> None:
    x = wg.asarray([[np.nan, np.nan], [1.0, np.nan]])
    np.testing.assert_array_equal(np.nanmax(x, axis=1).numpy(), [np.nan, 1.0])
    np.testing.assert_array_equal(np.nanmin(x, axis=1).numpy(), [np.nan, 1.0])


def test_median_of_infinity_and_nan() -> None:
    assert np.median(wg.asarray([1.0, 2.0, np.inf])).item() == 2.0
    assert np.isnan(np.median(wg.asarray([1.0, 2.0, np.nan])).item())
    with pytest.raises(ValueError, match="from 0 to 1"):
        np.quantile(wg.asarray(V), 1.5)
    assert_same(np.quantile(V, wg.asarray(0.5)), np.quantile(V, 0.5))


def test_sinc_has_its_second_derivative_at_zero() -> None:
    wg.check_grads(np.sinc, [np.array([-0.5, 0.0, 0.02])], order=2)
    second = wg.grad(wg.grad(np.sinc))(0.0)
    np.testing.assert_allclose(second, -(np.pi**2) / 3)


def test_norm_at_zero_has_derivative_zero() -> None:
    for p in (None, 2, 3):
        np.testing.assert_array_equal(wg.grad(lambda x, p=p: np.linalg.norm(x, p))(np.zeros(3)), 0)


def test_full_like_follows_a_tensor() -> None:
    g = wg.grad(lambda v: np.sum(np.full_like(wg.zeros((2, 3)), v)))(2.0)
    assert g == 6.0


def test_float32_stays() -> None:
    x = wg.asarray(P.astype(np.float32))
    raw = P.astype(np.float32)
    for name in ("mean", "var", "cov", "median", "sinc", "cbrt", "exp2", "gradient", "trapezoid"):
        expected = getattr(np, name)(raw)
        for mine, theirs in zip(leaves(getattr(np, name)(x)), leaves(expected), strict=True):
            assert mine.dtype == theirs.dtype, name
    assert np.nanmean(x).dtype == np.float32
    for name in ("fmod", "fmax", "fmin", "heaviside", "logaddexp2"):
        assert getattr(np, name)(x, 2.0).dtype == np.float32, name
        assert getattr(np, name)(2.0, x).dtype == np.float32, name
    assert np.ldexp(x, 2).dtype == np.quantile(x, 0.3).dtype == np.float32
    assert np.sum(x, dtype=np.float64).dtype == np.float64
    assert np.vstack([x, x], dtype=np.float64).dtype == np.float64


# -- ufuncs -----------------------------------------------------------------------------------

INSIDE, ONES = RANDOM.uniform(0.2, 0.9, (2, 3)), np.ones((2, 3), int)
ARGUMENTS: dict[str, tuple[np.ndarray, ...]] = {
    "arccosh": (INSIDE + 1,),
    **dict.fromkeys(
        ("remainder", "floor_divide", "fmod", "divmod"),
        (RANDOM.uniform(2.1, 2.9, (2, 3)), RANDOM.uniform(0.8, 1.0, (2, 3))),
    ),
    "matmul": (A, N),
    "matvec": (A, V),
    "vecmat": (V, N),
    "vecdot": (A, B),
    "modf": (INSIDE - 3.0,),
    "ldexp": (A, np.array([1, -2, 0, 3])),
    **dict.fromkeys(
        ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm"),
        (K, K + 3),
    ),
    "invert": (K,),
    "bitwise_count": (K,),
}
UFUNC_NAMES = sorted({u.__name__ for u in vars(np).values() if isinstance(u, np.ufunc)})
NO_RULE_UFUNCS = {"isnat", "spacing"}


def arguments(ufunc: np.ufunc) -> tuple[np.ndarray, ...]:
    return ARGUMENTS.get(ufunc.__name__, (INSIDE, np.array(INSIDE[::-1, ::-1]))[: ufunc.nin])


@pytest.mark.parametrize("name", UFUNC_NAMES)
def test_ufunc(name: str) -> None:
    ufunc = getattr(np, name)
    args = arguments(ufunc)
    if name in NO_RULE_UFUNCS:
        with pytest.raises(wg.NoRuleError, match=f"np.{name}"):
            ufunc(*map(wg.asarray, args))
        return
    assert_same(ufunc(*map(wg.asarray, args)), ufunc(*args))
    inexact = [a for a in args if a.dtype == float]
    if inexact and name != "nextafter":  # differences cannot see its derivative
        rest = args[len(inexact) :]
        wg.check_grads(lambda *xs: ufunc(*xs, *rest), inexact, order=1)


@pytest.mark.parametrize("name", ["cbrt", "fabs", "fmod", "fmax", "fmin", "float_power", "frexp"])
def test_composed_ufuncs_where_they_are_hard(name: str) -> None:
    """Signs, zeros, infinities, NaN and integers come out as NumPy has them."""
    ufunc = getattr(np, name)
    one = np.array([-8.0, -0.5, -0.0, 0.0, 27.0, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        for args in itertools.product((one, np.array([5, -3, 2])[:, None]), repeat=ufunc.nin):
            pair = args if ufunc.nin == 1 else (args[0], 1.0 * args[1][..., ::-1])
            assert_same(ufunc(*map(wg.asarray, pair)), ufunc(*pair))
        assert np.fmod(wg.asarray(K), 2).dtype == K.dtype


def test_derivatives_at_kinks_and_ends() -> None:
    assert wg.grad(lambda x: np.heaviside(0.0, x))(0.5) == 1.0
    assert wg.grad(lambda x: np.fmod(x, 2.0))(0.0) == 1.0
    assert wg.grad(lambda x: np.fmax(x, np.nan))(1.0) == 1.0
    with np.errstate(divide="ignore"):
        assert wg.grad(np.cbrt)(0.0) == np.inf
    np.testing.assert_array_equal(np.ldexp(wg.asarray([5e-324]), 1074).numpy(), [1.0])


def test_reduce_accumulate_outer() -> None:
    x = wg.asarray(A)
    for ufunc in METHODS["reduce"]:
        assert_same(ufunc.reduce(x), ufunc.reduce(A))
        assert_same(ufunc.reduce(x, axis=None), ufunc.reduce(A, axis=None))
        assert_same(ufunc.reduce(x, 1, keepdims=True), ufunc.reduce(A, 1, keepdims=True))
    for ufunc in METHODS["accumulate"]:
        assert_same(ufunc.accumulate(x), ufunc.accumulate(A))
        assert_same(ufunc.accumulate(x, axis=1), ufunc.accumulate(A, axis=1))
    assert_same(np.subtract.outer(x, V), np.subtract.outer(A, V))
    some = {"where": MASK, "initial": 1.0}
    assert_same(np.add.reduce(x, **some), np.add.reduce(A, **some))
    wg.check_grads(lambda a: [np.multiply.reduce(a), np.add.accumulate(a)], [A], order=1)
    wg.check_grads(np.arctan2.outer, [V, U], order=1)


def test_ufunc_keywords() -> None:
    x = wg.asarray(V)
    assert np.exp(x, dtype=np.float32).dtype == np.float32
    assert_same(np.add(wg.asarray(K), 1, dtype=float), np.add(K, 1, dtype=float))
    assert_same(np.exp(x, where=True, casting="same_kind", order="K"), np.exp(V))
    assert_same(np.vecdot(wg.asarray(A), B, axis=0), np.vecdot(A, B, axis=0))
    with pytest.raises(TypeError, match=r"np.where\(mask, np.exp"):
        np.exp(x, where=V > 0)
    with pytest.raises(TypeError, match="casting='unsafe'"):
        np.exp(x, casting="unsafe")
    with pytest.raises(TypeError, match="dtype"):
        np.add(x, x, dtype=int)
    with pytest.raises(TypeError, match="axes="):
        np.matmul(wg.asarray(M), M, axes=[(0, 1), (0, 1), (0, 1)])
    with pytest.raises(ValueError, match="initial="):
        np.max(x, where=V > 0)


# -- operators between kinds ------------------------------------------------------------------


@pytest.mark.parametrize("make", [wg.asarray, wg.Variable], ids=["Tensor", "Variable"])
def test_operators_in_any_order(make: Callable[[Any], Any]) -> None:
    x = make(P)
    for op in (o.add, o.sub, o.mul, o.truediv, o.floordiv, o.mod, divmod, o.lt, o.le, o.gt, o.ge):
        assert_same(op(B, x), op(B, P))
        assert_same(op(x, B), op(P, B))
        assert_same(op(np.float64(2), x), op(np.float64(2), P))
    for op in (o.pow, o.eq, o.ne):
        assert_same(op(P, x), op(P, P))
        assert_same(op(np.float64(2), x), op(np.float64(2), P))
    assert_same(B.T @ x, B.T @ P)
    assert_same(x @ B.T, P @ B.T)


def test_operators_record_in_any_order() -> None:
    def f(x: Any) -> Any:
        return np.sum(B.T @ (np.float64(2) * x) + (N @ N.T) ** 2 - np.exp(B.T) @ x)

    wg.check_grads(f, [A], order=2)


def test_variables_are_watched() -> None:
    w = wg.Variable(V)
    with wg.GradientTape() as tape:
        y = np.sum(np.exp(w) * W) + np.dot(W, w) + np.linalg.norm(w)
    g = tape.gradient(y, w).numpy()
    np.testing.assert_allclose(g, np.exp(V) * W + W + V / np.linalg.norm(V))
    assert_same(np.concatenate([w, V]), np.concatenate([V, V]))
    assert np.shape(w) == (4,) and np.ndim(w) == 1
    assert_same(np.isclose(w, V), np.isclose(V, V))


def test_out_is_refused() -> None:
    x, a = wg.asarray(V), np.zeros(4)
    with pytest.raises(TypeError, match="never written to"):
        np.add(V, V, out=wg.asarray(V))
    with pytest.raises(TypeError, match="out= would write"):
        np.exp(x, out=a)
    with pytest.raises(TypeError, match="out= would write"):
        np.sum(x, out=np.zeros(()))
    with pytest.raises(TypeError, match="never written to"):
        np.sum(V, out=x)
    with pytest.raises(TypeError, match="out= would write"):
        np.cumsum(x, 0, None, a)
    assert np.sum(x, None, None, None).item() == pytest.approx(V.sum())
    assert np.exp(x, out=None).shape == (4,)
    assert not a.any()


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "**="])
def test_changing_an_array_in_place_says_what_to_write(operator: str) -> None:
    names = {"a": np.ones(4), "x": wg.asarray(V)}
    with pytest.raises(TypeError, match=r"write a = a \+ x"):
        exec(f"a {operator} x", names)
    np.testing.assert_array_equal(names["a"], np.ones(4))


def test_writing_into_an_array_is_refused() -> None:
    x, a = wg.asarray(V), np.zeros(4)
    for write in (
        lambda: np.copyto(a, x),
        lambda: np.put(a, [0], x),
        lambda: np.putmask(a, a == 0, x),
        lambda: np.add.at(a, [0, 1, 2, 3], x),
        lambda: np.put_along_axis(a, K, x, 0),
    ):
        with pytest.raises(wg.NoRuleError, match="x.at"):
            write()
    assert not a.any()


def test_unsupported_parameters_are_named() -> None:
    x = wg.asarray(A)
    with pytest.raises(TypeError, match="np.quantile: weights="):
        np.quantile(x, 0.5, method="inverted_cdf", weights=A)
    with pytest.raises(TypeError, match="np.take: mode='clip'"):
        np.take(x, [9], mode="clip")
    with pytest.raises(TypeError, match="np.nan_to_num: copy=False"):
        np.nan_to_num(x, copy=False)
    with pytest.raises(TypeError, match="order='A'"):
        np.reshape(x, -1, order="A")
    with pytest.raises(ValueError, match="ord is 3"):
        np.linalg.norm(x, 3)
    with pytest.raises(wg.NoRuleError, match="np.linalg.svd: hermitian=True"):
        np.linalg.svd(x, hermitian=True)
    with pytest.raises(ValueError, match="UPLO is 'X'"):
        np.linalg.eigh(wg.asarray(M), "X")
    with pytest.raises(wg.DtypeError, match="x of float64"):
        np.bincount(wg.asarray(V))
    assert_same(np.quantile(x, 0.5, method="linear"), np.quantile(A, 0.5))
    assert_same(np.sum(x, keepdims=np._NoValue), np.sum(A))


def test_methods_of_arrays_ask_tensors_too() -> None:
    with pytest.raises(wg.NoRuleError, match="np.clip"):
        V.clip(wg.asarray(0.1), 1.0)


class Foreign:
    """An array of a library that wengert does not know, with NumPy's protocols."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **params: Any) -> str:
        return f"foreign {ufunc.__name__}"

    def __array_function__(self, function: Any, types: Any, args: Any, params: Any) -> str:
        return f"foreign {function.__name__}"


class ForeignArray(Foreign, np.ndarray):
    """An array with units, say, which NumPy's arrays have not."""


@pytest.mark.parametrize("other", [Foreign(), np.ones(4).view(ForeignArray)], ids=["own", "sub"])
def test_other_libraries_get_their_turn(other: Any) -> None:
    x = wg.asarray(V)
    assert np.add(x, other) == "foreign add"
    assert np.concatenate([x, other]) == "foreign concatenate"


def test_a_ufunc_that_is_not_numpys() -> None:
    special = pytest.importorskip("scipy.special")
    with pytest.raises(wg.NoRuleError, match="scipy.special.bdtr: "):
        special.bdtr(1.0, 2, wg.asarray(V))


@pytest.mark.parametrize(
    "call",
    [
        np.median, np.gradient, np.unique, np.sinc, np.argwhere, np.linalg.norm, np.frexp,
        lambda x: np.fmod(x, 2.0), lambda x: np.fmax(1.0, x), lambda x: np.ldexp(x, 2),
        lambda x: np.isclose(x, 1.0), lambda x: np.convolve(x, x), lambda x: np.split(x, 2),
    ],
)  # fmt: skip
def test_other_libraries_arrays_stay_theirs(call: Callable[[Any], Any]) -> None:
    strict = pytest.importorskip("array_api_strict")
    raw = np.array([1.0, 4.0, 2.0, 0.5])
    results = leaves(call(wg.asarray(strict.asarray(raw))))
    for result, expected in zip(results, leaves(call(raw)), strict=True):
        assert type(result._raw) is type(strict.asarray(raw))
        np.testing.assert_allclose(np.from_dlpack(result._raw), expected, rtol=1e-12)


# -- nothing is detached ----------------------------------------------------------------------


def dispatched() -> list[Any]:
    """Return every public function of NumPy that asks its arguments."""
    found = {
        f: None
        for module in MODULES
        for name, f in sorted(vars(module).items())
        if isinstance(f, type(np.sum)) and not name.startswith("_")
    }
    assert len(found) > 250
    return list(found)


def attempts(x: Any) -> Iterator[tuple[Any, ...]]:
    """Return ways to call a function, of which some fit."""
    yield from (
        (x,),
        (x, x),
        (x, x, x),
        (x, 1),
        (x, 0, 1),
        (x, x, 1),
        (x, 0, x),
        (x, x, x, 0),
        ([x, x],),
    )
    yield from ((1, x), (x, (2, 2)), (x, [x > 0], [x, 0.0]), (np.zeros(4), x), (x.numpy() > 0, x))
    yield from ((np.sum, 0, x), (np.sum, x, 0), ("i,i", x, x), (io.BytesIO(), x))


def is_detached(result: Any) -> bool:
    """Return whether there are floats in a result that are not in a tensor."""
    if isinstance(result, np.ndarray) and result.dtype == object:
        result = result.ravel().tolist()
    return any(
        isinstance(leaf, (float, complex, np.inexact))
        or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")
        for leaf in leaves(result)
    )


@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_no_function_gives_plain_floats_of_a_watched_tensor(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # np.save("i,i", x) writes a file
    refused = set()
    asked: list[Any] = []
    answer = wg.Tensor.__array_function__
    monkeypatch.setattr(
        wg.Tensor, "__array_function__", lambda *args: asked.append(args) or answer(*args)
    )
    for function in dispatched():
        x = wg.asarray(V.reshape(shape))
        for args, others in zip(attempts(x), attempts(2.0 * x), strict=True):
            tensors = [x for x in leaves(args) if type(x) is wg.Tensor and x.dtype == float]
            with wg.GradientTape() as tape, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", wg.CutPathWarning)
                tape.watch(tensors)
                asked.clear()
                try:
                    result = function(*args)
                except wg.NoRuleError as error:
                    if f".{function.__name__}: " in str(error):
                        refused.add(function)
                    continue
                except wg.CutPathWarning:
                    # loud is right where x is a length or an index, and where NumPy converts what
                    # it does not ask, such as a list
                    assert not asked or any(a is x for a in args[1:]), function.__name__
                    continue
                except Exception:
                    continue
            if is_detached(result) and function is not np.empty_like:
                # x may have stood for a dtype, or where the function did not look at it
                same = repr(function(*others)) == repr(result)
                assert same, f"{function.__name__}{args} gave {result!r}"
    assert not [f.__name__ for f in dispatched() if f not in refused and f not in FUNCTIONS]


def test_no_ufunc_gives_plain_floats_of_a_watched_tensor() -> None:
    x = wg.asarray(INSIDE)
    calls: list[Callable[[Any], Any]] = [
        lambda u: u(*[x] * u.nin),
        lambda u: u(*[x, INSIDE][: u.nin]),
        lambda u: u(*[INSIDE, x][-u.nin :]),
        lambda u: u.outer(x, x),
        lambda u: u.reduce(x),
        lambda u: u.accumulate(x),
        lambda u: u.reduceat(x, [0, 1]),
        lambda u: u.at(np.array(INSIDE), [0], x),
    ]
    for name, call in itertools.product(UFUNC_NAMES, calls):
        with wg.GradientTape() as tape, np.errstate(all="ignore"):
            tape.watch(x)
            try:
                result = call(getattr(np, name))
            except (wg.NoRuleError, TypeError, ValueError, RuntimeError):
                continue
        assert all(type(leaf) is wg.Tensor for leaf in leaves(result)), name
    assert set(UFUNCS) == {getattr(np, n) for n in UFUNC_NAMES if n not in NO_RULE_UFUNCS}


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.union1d(x, x), "np.union1d"),
        (lambda x: np.trim_zeros(x), "np.trim_zeros"),
        (lambda x: np.histogram(x), "np.histogram"),
        (lambda x: np.add.reduceat(x, [0, 2]), "np.add.reduceat"),
        (lambda x: np.maximum.accumulate(x), "np.maximum.accumulate"),
    ],
)
def test_no_rule_says_what_and_what_instead(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(wg.NoRuleError) as caught:
        call(wg.asarray(V))
    assert str(caught.value).startswith(f"{name}: ")
    assert "Write " in str(caught.value) and "x.numpy()" in str(caught.value)
