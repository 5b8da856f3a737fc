"""np.f(tensor) is NumPy's value, recorded; what has no rule says so, and nothing is detached."""

from __future__ import annotations

import io
import itertools
import operator as o
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as wg
from wengert.ops.numpy_functions import FUNCTIONS
from wengert.ops.numpy_ufuncs import METHODS, UFUNCS

RANDOM = np.random.default_rng(7)
MODULES = (np, np.linalg, np.fft, np.emath, np.lib.stride_tricks)


def spread(*shape: int) -> np.ndarray:
    """Return numbers in a random order, away from each other and from 0, where kinks are."""
    count = int(np.prod(shape))
    numbers = np.linspace(-2.0, 2.0, 2 * count)[::2] + RANDOM.uniform(0.01, 0.05, count)
    return RANDOM.permutation(numbers).reshape(shape)


A, B, T = spread(3, 4), spread(3, 4), spread(2, 3, 4)
V, W, U = spread(4), spread(4), spread(3)
M, N = spread(3, 3), spread(4, 2)
P = RANDOM.uniform(0.3, 2.0, (3, 4))
Z = A + 1j * B
MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
HOLES = np.where(MASK, A, np.nan)
K = np.array([2, 0, 1, 2])


class Case(NamedTuple):
    """A call of one NumPy function; its float arrays become tensors."""

    name: str
    args: tuple[Any, ...]
    params: dict[str, Any]

    def __repr__(self) -> str:
        return self.name

    @property
    def function(self) -> Callable[..., Any]:
        found: Any = np
        for part in self.name.split("."):
            found = getattr(found, part)
        return found


def case(name: str, *args: Any, **params: Any) -> Case:
    return Case(name, args, params)


CASES = [
    # sums, means and order
    case("sum", A),
    case("sum", A, 1),
    case("sum", A, axis=(0, 1), keepdims=True),
    case("sum", A, axis=0, where=MASK, initial=2.0),
    case("sum", A, None, np.float64),
    case("prod", A, axis=1),
    case("prod", A, where=MASK),
    case("mean", T, (0, 2)),
    case("mean", A, axis=1, where=MASK),
    case("mean", A, dtype=np.float64, keepdims=True),
    case("max", A, axis=0),
    case("max", A, axis=1, initial=0.1, where=MASK),
    case("amax", A),
    case("min", A, 1, None, True),
    case("amin", A, axis=-1),
    case("var", A, axis=0, ddof=1),
    case("var", A, correction=1),
    case("std", A, axis=1),
    case("ptp", A, axis=1, keepdims=True),
    case("average", A, axis=0),
    case("average", A, axis=1, weights=P[0], returned=True),
    case("average", A, weights=P),
    case("average", T, axis=(2, 0), weights=np.array(P[:2].T)),
    case("median", A),
    case("median", A, axis=1, keepdims=True),
    case("quantile", A, 0.3, axis=0),
    case("quantile", T, [0.1, 0.75], axis=(0, 2)),
    case("percentile", A, [20, 80], axis=1, keepdims=True),
    case("cumsum", A),
    case("cumsum", A, 1),
    case("cumprod", A, axis=0),
    case("cumulative_sum", V, include_initial=True),
    case("cumulative_prod", A, axis=1),
    case("nansum", HOLES, axis=0),
    case("nanprod", HOLES),
    case("nanmean", HOLES, axis=1),
    case("nanmax", HOLES, axis=0),
    case("nanmin", HOLES),
    case("nancumsum", HOLES, axis=1),
    case("nancumprod", HOLES),
    case("sort", A),
    case("sort", A, axis=None, kind="stable"),
    case("partition", A, 2, axis=1),
    case("unique", V),
    case("unique", V, return_index=True, return_inverse=True, return_counts=True),
    case("unique_all", V),
    case("unique_counts", V),
    case("unique_inverse", V),
    case("unique_values", V),
    case("cov", A),
    case("cov", V, W, ddof=0),
    case("cov", A, rowvar=False, bias=True),
    case("corrcoef", A),
    # shapes
    case("reshape", A, (2, 6)),
    case("reshape", A, (2, -1), order="F"),
    case("ravel", A),
    case("ravel", A, order="F"),
    case("transpose", T),
    case("transpose", T, (1, 0, 2)),
    case("permute_dims", T, (2, 0, 1)),
    case("matrix_transpose", T),
    case("swapaxes", T, 0, -1),
    case("moveaxis", T, [0, 1], [2, 0]),
    case("rollaxis", T, 2),
    case("rollaxis", T, 0, 3),
    case("expand_dims", A, (0, 2)),
    case("squeeze", A[:, :1], axis=1),
    case("broadcast_to", V, (2, 4)),
    case("broadcast_arrays", A, V),
    case("atleast_1d", np.array(2.0)),
    case("atleast_2d", V, A),
    case("atleast_3d", np.array(1.0), V, A, T),
    case("tile", A, (2, 1)),
    case("repeat", A, 2, axis=1),
    case("repeat", V, [1, 0, 2, 1]),
    case("resize", V, (2, 3)),
    case("flip", A),
    case("flip", A, 0),
    case("fliplr", A),
    case("flipud", A),
    *(case("rot90", A, k) for k in range(4)),
    case("roll", A, 2),
    case("roll", A, (1, 1), axis=(0, 1)),
    case("fft.fftshift", A),
    case("fft.ifftshift", A, axes=1),
    case("lib.stride_tricks.sliding_window_view", V, 2),
    case("pad", A, 1),
    case("pad", V, (2, 1), mode="reflect"),
    case("pad", V, 1, constant_values=2.5),
    case("diagonal", T, 1, 1, 2),
    case("diag", V),
    case("diag", V, -2),
    case("diag", V, 1),
    case("diag", A, 1),
    case("diagflat", M, 1),
    case("trace", T, 0, 1, 2),
    case("tril", M, -1),
    case("triu", T, k=1),
    case("concatenate", [A, B]),
    case("concatenate", (A, M), 1),
    case("concatenate", (A, V), axis=None),
    case("concat", [V, W], dtype=np.float64),
    case("stack", [V, W], axis=1),
    case("vstack", [V, W]),
    case("hstack", [V, W]),
    case("hstack", [A, M]),
    case("dstack", [A, B]),
    case("column_stack", [U, A]),
    case("block", [[A, M], [np.array(N.T[:, :]), np.ones((2, 3))]]),
    case("append", A, [1.0, 2.0]),
    case("append", A, np.ones((1, 4)), axis=0),
    case("delete", A, 1, axis=1),
    case("split", A, 2, axis=1),
    case("split", V, [1, 3]),
    case("array_split", A, 3, axis=1),
    case("array_split", V, [3, 1]),
    case("hsplit", A, 2),
    case("vsplit", A, 3),
    case("dsplit", T, [1]),
    case("unstack", A, axis=1),
    case("meshgrid", U, V),
    case("meshgrid", U, V, indexing="ij"),
    case("take", A, [0, 5]),
    case("take", A, K, axis=0),
    case("take_along_axis", A, np.array([[0], [2], [1]]), 1),
    case("take_along_axis", A, K, axis=None),
    case("compress", [True, False, True], A, axis=0),
    case("extract", MASK, A),
    case("copy", A),
    case("astype", A, np.complex128),
    # elements
    case("where", MASK, A, B),
    case("where", MASK, A, 0.5),
    case("select", [MASK, A > 0], [A, B], default=2.0),
    case("clip", A, -0.5, 0.5),
    case("clip", A, max=0.3),
    case("clip", A, V - 3, V + 3),
    case("clip", np.zeros(4), V, None),
    case("nan_to_num", HOLES, nan=1.5),
    case("nan_to_num", np.array([np.inf, -np.inf, 1.0]), posinf=3.0, neginf=-3.0),
    case("angle", Z),
    case("angle", A, deg=True),
    case("real", Z),
    case("imag", Z),
    case("real", A),
    case("sinc", np.array([-1.3, -0.01, 0.0, 0.03, 0.5, 2.0])),
    case("polyval", U, A),
    case("polyval", [1.0, -2.0, 3.0], A),
    case("linspace", np.array(0.5), np.array(2.0), 5),
    case("linspace", U, 1.0, 3, endpoint=False),
    case("logspace", np.array(0.1), np.array(0.5), 4),
    # differences and integrals
    case("diff", A),
    case("diff", A, 2, 0),
    case("diff", V, prepend=np.array([1.0])),
    case("ediff1d", A, to_end=np.array([1.0, 2.0]), to_begin=3.0),
    case("gradient", V),
    case("gradient", A, 0.5),
    case("gradient", A, 0.5, np.array([0.0, 1.0, 1.5, 3.0])),
    case("gradient", A, np.array([0.0, 1.0, 2.5]), axis=0),
    case("trapezoid", A),
    case("trapezoid", A, dx=0.1, axis=0),
    case("trapezoid", A, np.cumsum(P[0])),
    case("trapezoid", A, np.cumsum(P, axis=0), axis=0),
    # products
    case("einsum", "ij,kj->ik", A, B),
    case("einsum", "ij,j", A, V, optimize=True),
    case("tensordot", A, N, 1),
    case("tensordot", T, A, axes=([1, 2], [0, 1])),
    case("dot", A, V),
    case("dot", A, N),
    case("dot", V, W),
    case("vdot", A, B),
    case("vdot", Z, Z * 1j),
    case("inner", A, B),
    case("inner", V, np.array(2.0)),
    case("outer", V, U),
    case("kron", A, M),
    case("kron", V, A),
    case("cross", M, M[::-1]),
    case("cross", M, M[::-1], axis=0),
    case("convolve", V, U),
    *(case("convolve", *pair, mode) for pair in ((V, U), (U, V)) for mode in ("same", "valid")),
    *(
        case("correlate", *pair, mode)
        for pair in ((V, U), (U, V), (U, V[:2]), (Z[0], Z[1, :3]))
        for mode in ("full", "same", "valid")
    ),
    case("linalg.cross", M, M[::-1]),
    case("linalg.diagonal", T, offset=1),
    case("linalg.matmul", A, N),
    case("linalg.matrix_norm", T),
    case("linalg.matrix_norm", T, ord=1, keepdims=True),
    case("linalg.matrix_transpose", T),
    case("linalg.multi_dot", [M, A, N]),
    case("linalg.norm", T),
    case("linalg.norm", A, axis=1),
    case("linalg.norm", Z),
    *(case("linalg.norm", V, p) for p in (1, 2, 3.5, np.inf, -np.inf)),
    *(case("linalg.norm", A, p) for p in ("fro", 1, -1, np.inf, -np.inf)),
    case("linalg.outer", V, U),
    case("linalg.tensordot", A, B),
    case("linalg.trace", T, offset=1),
    case("linalg.vecdot", A, B),
    case("linalg.vector_norm", A, axis=0, keepdims=True),
]
#: Results without a derivative: integers, booleans, text, constants, and steps.
FLAT_CASES = [
    case("all", A > 0, axis=1),
    case("any", A, keepdims=True),
    case("allclose", A, A),
    case("argmax", A, axis=1),
    case("argmin", A),
    case("argpartition", V, 2),
    case("argsort", A, axis=0),
    case("argsort", A, axis=None, stable=True),
    case("argwhere", A),
    case("around", A),
    case("array2string", A, precision=3),
    case("array_equal", A, B),
    case("array_equiv", A, A),
    case("array_repr", A),
    case("array_str", A),
    case("can_cast", A, np.float64),
    case("common_type", A, V),
    case("count_nonzero", A, axis=0),
    case("diag_indices_from", M),
    case("digitize", V, [-1.0, 0.0, 1.0]),
    case("einsum_path", "ij,jk", A, N),
    case("empty_like", A[:0]),
    case("fix", A),
    case("flatnonzero", A),
    case("full_like", A, 2.0),
    case("iscomplex", A),
    case("iscomplexobj", Z),
    case("isclose", A, B, atol=0.5),
    case("isin", V, V[:2]),
    case("isneginf", A),
    case("isposinf", A),
    case("isreal", Z),
    case("isrealobj", A),
    case("lexsort", (V, W)),
    case("may_share_memory", A, B),
    case("min_scalar_type", V),
    case("nanargmax", HOLES, axis=0),
    case("nanargmin", HOLES),
    case("ndim", A),
    case("nonzero", A > 0),
    case("ones_like", A),
    case("result_type", A, 1.0),
    case("round", A, 1),
    case("round", A * 100, -1),
    case("searchsorted", np.sort(V), W, side="right"),
    case("shape", A),
    case("shares_memory", A, B),
    case("size", A),
    case("size", A, 1),
    case("tril_indices_from", M),
    case("triu_indices_from", M, k=1),
    case("where", A),
    case("zeros_like", A),
]
#: Functions of integers, and those that make a tensor with like=; each has a test of its own.
INTEGER_CASES = [
    case("bincount", K),
    case("ix_", K, K),
    case("packbits", K.astype(np.uint8)),
    case("unpackbits", K.astype(np.uint8)),
    case("ravel_multi_index", (K, K), (3, 3)),
    case("unravel_index", K, (3, 3)),
    case("round", K, 1),
]
LIKE_CASES = [
    case("arange", 1, 5, 2),
    case("array", [1.0, 2.0]),
    case("asarray", [1.0, 2.0]),
    case("empty", 0),
    case("eye", 2, 3, k=1),
    case("eye", 2, k=1),
    case("full", (2,), 3.0),
    case("identity", 3),
    case("ones", (2, 3), dtype=np.float32),
    case("zeros", 3),
]


def mapped(tree: Any, change: Callable[[np.ndarray], Any], kinds: str = "fc") -> Any:
    """Return a tree with its floating arrays changed."""
    if isinstance(tree, np.ndarray) and tree.dtype.kind in kinds:
        return change(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(part, change, kinds) for part in tree)
    if isinstance(tree, dict):
        return {name: mapped(part, change, kinds) for name, part in tree.items()}
    return tree


def leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, (list, tuple)):
        for part in tree:
            yield from leaves(part)
    else:
        yield tree


def assert_same(got: Any, expected: Any) -> None:
    """Assert that tensors have the values, dtypes and nesting of NumPy's arrays."""
    if isinstance(expected, (list, tuple)):
        assert isinstance(got, (list, tuple)) and len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert_same(mine, theirs)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert type(got) is wg.Tensor
        assert got.shape == expected.shape
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-14)
    else:
        assert type(got) is type(expected)
        assert got == expected


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
    tested = {c.function for c in CASES + FLAT_CASES + INTEGER_CASES + LIKE_CASES}
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
    with pytest.raises(wg.NoRuleError, match="q is a tensor"):
        np.quantile(V, wg.asarray(0.5))


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
    with pytest.raises(TypeError, match="immutable"):
        np.add(V, V, out=wg.asarray(V))
    with pytest.raises(TypeError, match="out= would write"):
        np.exp(x, out=a)
    with pytest.raises(TypeError, match="out= would write"):
        np.sum(x, out=np.zeros(()))
    with pytest.raises(TypeError, match="immutable"):
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
    with pytest.raises(TypeError, match="np.quantile: method='lower'"):
        np.quantile(x, 0.5, method="lower")
    with pytest.raises(TypeError, match="np.take: mode='clip'"):
        np.take(x, [9], mode="clip")
    with pytest.raises(TypeError, match="np.nan_to_num: copy=False"):
        np.nan_to_num(x, copy=False)
    with pytest.raises(TypeError, match="order='A'"):
        np.reshape(x, -1, order="A")
    with pytest.raises(wg.NoRuleError, match="ord=2 of matrices"):
        np.linalg.norm(x, 2)
    with pytest.raises(wg.NoRuleError, match="float64"):
        np.bincount(K, weights=wg.asarray(V))
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
    with pytest.raises(wg.NoRuleError, match="the ufunc bdtr"):
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
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
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
        (lambda x: np.interp(x, x, x), "np.interp"),
        (lambda x: np.i0(x), "np.i0"),
        (lambda x: np.linalg.solve(np.eye(4), x), "np.linalg.solve"),
        (lambda x: np.linalg.svd(x[None]), "np.linalg.svd"),
        (lambda x: np.fft.fft(x), "np.fft.fft"),
        (lambda x: np.choose([0, 1, 0, 1], [x, x]), "np.choose"),
        (lambda x: np.histogram(x), "np.histogram"),
        (lambda x: np.save(io.BytesIO(), x), "np.save"),
        (lambda x: np.add.reduceat(x, [0, 2]), "np.add.reduceat"),
        (lambda x: np.maximum.accumulate(x), "np.maximum.accumulate"),
    ],
)
def test_no_rule_says_what_and_what_instead(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(wg.NoRuleError) as caught:
        call(wg.asarray(V))
    assert str(caught.value).startswith(f"{name}: ")
    assert "Write " in str(caught.value) and "x.numpy()" in str(caught.value)
