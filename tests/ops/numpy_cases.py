"""Calls of NumPy functions that tensors must answer, and how answers are compared."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import wengert as wg

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
KNOTS, BETWEEN = np.array([-1.7, -0.6, 0.2, 1.5]), np.array([[-1.9, -1.1, 0.0], [0.5, 1.1, 1.8]])
H = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.3], [-0.5, 0.3, 2.0]])


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


# What NumPy 2.0 does not have yet.
SINCE_2_1 = [
    case("cumulative_sum", V, include_initial=True),
    case("cumulative_prod", A, axis=1),
    case("unstack", A, axis=1),
    case("clip", A, max=0.3),
]

CASES = [
    *(SINCE_2_1 if hasattr(np, "unstack") else ()),
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
    case("quantile", A, 0.3, axis=0, method="hazen"),
    case("quantile", A, [[0.2], [0.9]], method="higher"),
    case("quantile", A, np.array([0.21, 0.68]), axis=1),
    case("percentile", A, [20, 80], axis=1, keepdims=True),
    case("percentile", V, 35, method="median_unbiased"),
    case("bincount", K, V),
    case("bincount", K, weights=V, minlength=5),
    case("cumsum", A),
    case("cumsum", A, 1),
    case("cumprod", A, axis=0),
    case("nansum", HOLES, axis=0),
    case("nanprod", HOLES),
    case("nanmean", HOLES, axis=1),
    case("nanmax", HOLES, axis=0),
    case("nanmedian", HOLES, axis=1),
    case("nanmedian", HOLES, keepdims=True),
    case("nanpercentile", HOLES, 30.0, axis=0),
    case("nanpercentile", A, [10.0, 30.0], axis=1),
    case("nanquantile", T, 0.3, axis=(0, 2)),
    case("nanquantile", HOLES, [0.0, 0.25, 1.0], axis=1, keepdims=True),
    case("nanstd", HOLES, axis=1, ddof=1),
    case("nanvar", HOLES, axis=1),
    case("nanvar", HOLES, keepdims=True),
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
    case("insert", A, 1, V, axis=0),
    case("insert", A, [0, 2], 5.0),
    case("insert", A, slice(0, 2), U[:, None], axis=1),
    case("insert", V, K, W),
    case("apply_along_axis", np.sort, 0, A),
    case("apply_along_axis", lambda v: np.outer(v, v), 1, T),
    case("apply_along_axis", lambda v, k: k * np.sum(v**2), 1, A, 3.0),
    case("apply_over_axes", np.sum, T, [0, 2]),
    case("split", A, 2, axis=1),
    case("split", V, [1, 3]),
    case("array_split", A, 3, axis=1),
    case("array_split", V, [3, 1]),
    case("hsplit", A, 2),
    case("vsplit", A, 3),
    case("dsplit", T, [1]),
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
    case("choose", K, [V, W, 2 * V]),
    case("choose", K + 1, (V, 0.5, W), mode="wrap"),
    case("choose", K + 1, (V, 0.5, W), mode="clip"),
    case("interp", BETWEEN, KNOTS, W),
    case("interp", A, [-1.0, 0.0, 1.0], [1.0, 3.0, -1.0], left=np.array(5.0), right=-5.0),
    case("interp", BETWEEN, KNOTS[::-1], W, period=4.0),
    case("interp", np.array(0.3), np.array([0.5]), np.array([2.0])),
    case("interp", BETWEEN[0], KNOTS, W + 1j * V),
    case("piecewise", A, [A < -0.5, A > 0.7], [lambda x: x**2, lambda x: 3 * x, np.exp]),
    case("piecewise", A, [MASK], [lambda x, k: k * x, 2.0], 3.0),
    case("piecewise", V, V > 0, [np.sin]),
    case("piecewise", np.array(0.4), [True, False], [np.sin, np.cos]),
    case("clip", A, -0.5, 0.5),
    case("clip", A, V - 3, V + 3),
    case("clip", np.zeros(4), V, None),
    case("nan_to_num", HOLES, nan=1.5),
    case("nan_to_num", np.array([np.inf, -np.inf, 1.0]), posinf=3.0, neginf=-3.0),
    case("angle", Z),
    case("angle", A, deg=True),
    case("real", Z),
    case("real_if_close", Z),
    case("real_if_close", A + 0j),
    case("real_if_close", A),
    case("imag", Z),
    case("real", A),
    case("sinc", np.array([-1.3, -0.01, 0.0, 0.03, 0.5, 2.0])),
    case("sinc", Z),
    case("i0", A),
    case("polyval", U, A),
    case("polyval", [1.0, -2.0, 3.0], A),
    case("linspace", np.array(0.5), np.array(2.0), 5),
    case("linspace", U, 1.0, 3, endpoint=False),
    case("logspace", np.array(0.1), np.array(0.5), 4),
    case("geomspace", np.array(0.1), np.array(0.5), 4),
    case("geomspace", P[0], 3.0, 5, endpoint=False),
    case("geomspace", np.array(-1.0), np.array(-8.0), 4),
    case("unwrap", 5 * V),
    case("unwrap", 3 * A, axis=0, period=2.0),
    # polynomials
    case("poly", V),
    case("polyadd", V, U),
    case("polyadd", V, 2.0),
    case("polysub", U, V),
    case("polymul", V, U),
    case("polymul", [0.0, 1.0, 2.0], U),
    case("polyder", V),
    case("polyder", V, 2),
    case("polyint", V),
    case("polyint", V, 2, k=np.array([1.0, 2.0])),
    case("polydiv", V, U),
    case("polydiv", U, V),
    case("polyfit", V, W, 2),
    case("polyfit", V, N, 1, w=P[0]),
    case("roots", V),
    case("roots", np.array([1.0, 0.5, -2.0])),
    case("vander", V),
    case("vander", V, 3, increasing=True),
    case("vander", np.array([0.0, 1.0, -2.0]), 4),
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
    # Fourier transforms
    case("fft.fft", A),
    case("fft.fft", Z, 3, 0, "ortho"),
    case("fft.fft", A, n=6, norm="forward"),
    case("fft.ifft", Z, axis=0),
    case("fft.rfft", A, 5),
    case("fft.rfft", A, 3, axis=0),
    case("fft.irfft", Z),
    case("fft.irfft", Z, 5, norm="ortho"),
    case("fft.irfft", A, axis=0),
    case("fft.hfft", Z, n=5, axis=1),
    case("fft.ihfft", A, norm="forward"),
    case("fft.fftn", T),
    case("fft.fftn", T, (3, -1), (0, 2)),
    case("fft.ifftn", Z, axes=(1,)),
    case("fft.rfftn", T, axes=(1, 0)),
    case("fft.irfftn", Z, s=(2, 5), axes=(0, 1), norm="forward"),
    case("fft.fft2", T),
    case("fft.ifft2", T, (2, 2)),
    case("fft.rfft2", T, axes=(0, 1)),
    case("fft.irfft2", Z, norm="ortho"),
    case("linalg.cholesky", H),
    case("linalg.cholesky", M + 4 * np.eye(3), upper=True),
    case("linalg.cond", M),
    case("linalg.cond", M, 1),
    case("linalg.cross", M, M[::-1]),
    case("linalg.det", M),
    case("linalg.diagonal", T, offset=1),
    case("linalg.eig", np.diag([1.0, 2.0, 4.0]) + 0.1 * M),
    case("linalg.eigh", H),
    case("linalg.eigh", M + np.diag([0.0, 3.0, 8.0]), UPLO="U"),
    case("linalg.eigvals", np.diag([1.0, 2.0, 4.0]) + 0.1 * M),
    case("linalg.eigvals", np.array([[0.5, 1.0], [-1.0, 0.2]])),
    case("linalg.eigvalsh", H),
    case("linalg.inv", M),
    case("linalg.lstsq", A.T, V),
    case("linalg.lstsq", A, M, rcond=0.01),
    case("linalg.matmul", A, N),
    case("linalg.matrix_norm", T),
    case("linalg.matrix_norm", T, ord=1, keepdims=True),
    case("linalg.matrix_power", M, 3),
    case("linalg.matrix_power", M, -2),
    case("linalg.matrix_transpose", T),
    case("linalg.multi_dot", [M, A, N]),
    case("linalg.norm", T),
    case("linalg.norm", A, axis=1),
    case("linalg.norm", Z),
    *(case("linalg.norm", V, p) for p in (1, 2, 3.5, 0.5, -1, np.inf, -np.inf)),
    *(case("linalg.norm", A, p) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    case("linalg.norm", T, 2, axis=(2, 0), keepdims=True),
    case("linalg.outer", V, U),
    case("linalg.pinv", A),
    case("linalg.qr", A.T),
    case("linalg.qr", A, mode="r"),
    case("linalg.slogdet", M),
    case("linalg.solve", M, U),
    case("linalg.solve", M, A),
    case("linalg.svd", A, full_matrices=False),
    case("linalg.svd", A, compute_uv=False),
    case("linalg.svdvals", A),
    case("linalg.tensordot", A, B),
    case("linalg.tensorinv", (M + 4 * np.eye(3)).reshape(3, 1, 3), ind=1),
    case("linalg.tensorsolve", spread(2, 3, 6) + 3 * np.eye(6).reshape(2, 3, 6), spread(2, 3)),
    case("linalg.trace", T, offset=1),
    case("linalg.vecdot", A, B),
    case("linalg.vector_norm", A, axis=0, keepdims=True),
]
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # which brought these functions and parameters
    CASES += [
        case("cumulative_sum", V, include_initial=True),
        case("cumulative_prod", A, axis=1),
        case("unstack", A, axis=1),
        case("clip", A, max=0.3),
    ]
#: Results without a derivative: integers, booleans, text, constants, and steps.
FLAT_CASES = [
    case("linalg.matrix_rank", A),
    case("linalg.matrix_rank", T, tol=1.0),
    case("linalg.matrix_rank", V),
    case("linalg.norm", V, 0),
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
    case("save", io.BytesIO(), A),
    case("savetxt", io.StringIO(), A),
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
    case("bincount", K, minlength=5),
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
