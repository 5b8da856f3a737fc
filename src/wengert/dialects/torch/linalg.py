"""torch.linalg: norms, products, equations; and the older names of the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import axes_of, axis_of, kind_of, truth, type_name, unable
from wengert.dialects.torch.reductions import vector_norm
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import NAMES, _LinAlgError, offered, offered_as, put
from wengert.dialects.torch.tensors import Tensor, astype, convert, ns, static
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import linalg as native
from wengert.ops import reductions
from wengert.ops.contractions import adjoint
from wengert.ops.linalg import unguarded
from wengert.ops.linalg.unguarded import reflected, singular_values

LinAlgError = _LinAlgError
put(("linalg.LinAlgError", "_C._LinAlgError"), LinAlgError)


# -- what all of them need ---------------------------------------------------------------------


def matrices(
    input: Any, name: str, square: bool = False, what: str = "A", kernel: str = "", whole: str = ""
) -> Native:
    """Return a tensor of matrices of floating numbers, perhaps square.

    `kernel` is the name in the error for half precision, and `whole` that for whole numbers,
    where PyTorch has them refused by what computes.
    """
    x = convert(input, what=what)
    if kind_of(x) not in "fc":
        if whole:
            raise unable(whole, x)
        raise RuntimeError(
            f"{name}: the tensor is a {type_name(x)}, without fractions; write x.float()"
        )
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: {what} has shape {list(x.shape)}; give a matrix, or a batch of matrices"
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: {what} has {x.shape[-2]} rows and {x.shape[-1]} columns; give square matrices"
        )
    if x._raw.dtype == np.float16:
        if kernel:
            raise unable(kernel, x)
        raise RuntimeError(f"{name}: float16 is too coarse for this decomposition; write x.float()")
    return x


def check_same(x: Native, y: Native, name: str, names: str = "A and B") -> None:
    """Raise unless two tensors have one dtype."""
    if x._raw.dtype != y._raw.dtype:
        raise RuntimeError(
            f"{name}: {names} have different dtypes, {type_name(x)} and {type_name(y)}; convert "
            "one, as y.to(x.dtype)"
        )


def constant(x: Native) -> Native:
    """Return a tensor without its node."""
    return wrap_native(x._raw)


def whole_numbers(x: Native) -> Native:
    """Return numbers of errors as PyTorch has them."""
    return astype(constant(x), np.dtype(np.int32))


def first_error(info: Native) -> int:
    """Return the first number that is not 0; 0 if there is none, or they are not known."""
    raw = info._raw
    wrong = raw[raw != 0] if type(raw) is np.ndarray else np.zeros(0)
    return int(wrong[0]) if wrong.size else 0


def is_vector(a: Native, b: Native) -> bool:
    """Return whether right-hand sides are vectors: one, or one for each matrix."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])


# -- norms -------------------------------------------------------------------------------------


def _numbers(input: Any, dtype: Any, name: str) -> Native:
    """Return a tensor of floating numbers, in a dtype that holds them."""
    x = convert(input)
    if kind_of(x) not in "fc":
        raise RuntimeError(
            f"{name}: the tensor is a {type_name(x)}, without fractions; write x.float()"
        )
    if dtype is None:
        return x
    wanted = dtypes.to_numpy(dtype)
    if wanted.kind != kind_of(x):
        kind = "real" if kind_of(x) == "f" else "complex"
        raise RuntimeError(f"{name}: dtype={dtype} for a {kind} tensor; give a {kind} dtype")
    if wanted.itemsize < x._raw.dtype.itemsize:
        raise RuntimeError(
            f"{name}: dtype={dtype} would lose precision of the {type_name(x)}; give a wider one"
        )
    return astype(x, wanted)


def _vector_norm(x: Native, ord: Any, dim: Any, keepdim: Any, name: str) -> Native:
    order = static(ord)
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise TypeError(f"{name}(): ord is a {type(ord).__name__}; give a number")
    axes = axes_of(dim, x.ndim)
    empty = 0 in x.shape and 0 in [x.shape[a] for a in axes]
    if empty and (order < 0 or order == math.inf):
        raise RuntimeError(
            f"{name}: the norm of order {order} is undefined for a tensor without elements"
        )
    return vector_norm(x, float(order), axes, truth(keepdim))


@offered("linalg.vector_norm", method=False, label="LinalgVectorNormBackward0")
def linalg_vector_norm(
    input: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the norm of all elements or of those along some axes."""
    x = _numbers(input, dtype, "linalg.vector_norm")
    return _vector_norm(x, ord, dim, keepdim, "linalg.vector_norm")


def _matrix_norm(x: Native, ord: Any, dim: Any, keepdim: Any) -> Native:
    name = "linalg.matrix_norm"
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: got a tensor of shape {list(x.shape)}; give a matrix, or a batch of matrices"
        )
    given = dim if isinstance(dim, (tuple, list)) else (dim,)
    if len(given) != 2:
        raise RuntimeError(f"{name}: dim is {dim}; give the two axes of the matrices")
    axes = [axis_of(d, x.ndim) for d in given]
    if axes[0] == axes[1]:
        raise RuntimeError(f"{name}: dim is {tuple(given)}; give two different axes")
    order = static(ord)
    known = ("fro", "nuc") if isinstance(order, str) else (1, -1, 2, -2, math.inf, -math.inf)
    if order is None or isinstance(order, bool):
        raise TypeError(f"{name}(): ord is {order}; give a number or a string")
    if order not in known:
        raise RuntimeError(f"{name}: ord is {ord}; write one of {known}")
    keep = truth(keepdim)
    if order == "fro":
        return vector_norm(x, 2.0, tuple(axes), keep)
    y = ns.reshape(_of_matrix(ns.moveaxis(x, axes, (-2, -1)), order), _left(x.shape, axes, keep))
    return y


def _left(shape: tuple[int, ...], axes: Any, keepdim: bool) -> tuple[int, ...]:
    if keepdim:
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def _of_matrix(x: Native, order: Any) -> Native:
    """Return a norm of matrices on the last two axes; the largest of nothing is 0."""
    if order == "nuc" or abs(order) == 2:
        values = singular_values(x)
        if order == "nuc":
            return reductions.sum_over(values, axis=(x.ndim - 2,), keepdims=False)
    else:
        size = apply(conventions.absolute.op, (x,), {})
        axis = x.ndim - (2 if abs(order) == 1 else 1)
        values = reductions.sum_over(size, axis=(axis,), keepdims=False)
    last = x.ndim - 2
    if not values.shape[last]:
        return reductions.sum_over(values, axis=(last,), keepdims=False)
    reduce = reductions.max_over if order > 0 else reductions.min_over
    return reduce(values, axis=(last,), keepdims=False)


@offered("linalg.matrix_norm", method=False, label="LinalgVectorNormBackward0")
def matrix_norm(
    input: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the norm of matrices."""
    return _matrix_norm(_numbers(input, dtype, "linalg.matrix_norm"), ord, dim, keepdim)


@offered("linalg.norm", method=False, label="LinalgVectorNormBackward0")
def norm(
    input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the norm of vectors along an axis, of matrices on two, or of all elements."""
    x = _numbers(input, dtype, "linalg.vector_norm")
    if dim is not None:
        axes = dim if isinstance(dim, (tuple, list)) else (dim,)
        if len(axes) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: dim has {list(axes)}; give one axis for vectors, or two for matrices"
            )
    elif ord is None:
        axes = ()  # all of them
    elif x.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: ord needs a vector or a matrix, and this tensor has {x.ndim} axes; "
            "give dim="
        )
    else:
        axes = (0,) if x.ndim == 1 else (0, 1)
    if ord is None:
        return _vector_norm(x, 2, axes, keepdim, "linalg.norm")
    if len(axes) == 1 and not isinstance(ord, str):
        return _vector_norm(x, ord, axes, keepdim, "linalg.norm")
    return _matrix_norm(x, ord, axes, keepdim)


@offered(
    "linalg.cond",
    method=False,
    label="SqueezeBackward1",
    differs="has a gradient also for p=1, inf and 'fro'",
)
def cond(input: Any, p: Any = None) -> Any:
    """Return the condition numbers of matrices: their norm times that of their inverse."""
    x = convert(input)
    if x.ndim < 2:
        raise RuntimeError("linalg.cond: got a vector or a number; give a matrix")
    order = static(p)
    if order is None or order in (2, -2):
        values = singular_values(matrices(x, "linalg.svd", kernel="linalg_svd_cpu"))
        if 0 in x.shape[-2:]:
            return reductions.sum_over(values, axis=(values.ndim - 1,), keepdims=False)
        first, last = values[..., 0], values[..., -1]
        return ns.divide(last, first) if order == -2 else ns.divide(first, last)
    if order not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond: p is {p}; write 'fro', 2 or the like")
    x = matrices(x, f"linalg.cond(ord={p})", square=True, kernel="lu_cpu")
    inverse, info = _inverse(x)
    last_two = (-2, -1)
    sizes = _matrix_norm(x, order, last_two, False) * _matrix_norm(inverse, order, last_two, False)
    none = wrap_native(np.array(math.inf, sizes.dtype))
    return ns.where(ns.equal(info, wrap_native(np.array(0, np.int32))), sizes, none)


def _limit(values: Native, x: Native, atol: Any, rtol: Any) -> Native:
    """Return up to what singular values are taken for zero, next to the largest of them."""
    real = values._raw.dtype
    if rtol is None:
        positive = atol is not None and np.any(np.asarray(static(atol)) > 0)
        rtol = 0.0 if positive else float(np.finfo(real).eps) * max(x.shape[-2:])
    limits = [constant(convert(v)) for v in (0.0 if atol is None else atol, rtol)]
    absolute, relative = (astype(v, real) for v in limits)
    if not values.shape[-1]:
        return ns.broadcast_to(absolute, values.shape[:-1])
    largest = ns.max(constant(values), axis=-1)
    return ns.maximum(absolute, relative * largest)


def _sizes(x: Native, hermitian: Any) -> Native:
    """Return singular values; of Hermitian matrices, the sizes of their eigenvalues."""
    x = constant(x)
    if not truth(hermitian, "hermitian"):
        return singular_values(x)
    return ns.abs(unguarded.eigh(x, triangle="L")[0])


def _check_numbers(x: Native, name: str) -> None:
    if kind_of(x) not in "fc" or x._raw.dtype == np.float16:
        raise RuntimeError(
            f"{name}: the tensor is a {type_name(x)}; write x.float(), or x.double()"
        )
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: got a tensor of shape {list(x.shape)}; give a matrix, or a batch of matrices"
        )


@offered("linalg.matrix_rank", method=False)
def matrix_rank(
    input: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """Return how many singular values exceed a tolerance: `atol`, or `rtol` times the largest."""
    x = convert(input)
    _check_numbers(x, "torch.linalg.matrix_rank")
    if tol is not None:
        atol, rtol = tol, 0.0
    values = _sizes(x, hermitian)
    limit = _limit(values, x, atol, rtol)
    return ns.count_nonzero(ns.greater(values, ns.expand_dims(limit, axis=-1)), axis=-1)


# -- products ----------------------------------------------------------------------------------

put(("linalg.matmul",), offered_as("matmul"))


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of matrices, as a view."""
    if not isinstance(A, Tensor):
        raise TypeError(f"diagonal(): A is a {type(A).__name__}; give a tensor")
    return NAMES["diagonal"](A, offset, dim1, dim2)


put(("linalg.diagonal",), diagonal)


@offered("linalg.vecdot", method=False, label="SumBackward1")
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Return the sums of products along an axis, the first factors conjugated."""
    first, second = convert(x, what="x"), convert(y, what="y")
    check_same(first, second, "linalg.vecdot", "x and y")
    _numbers(first, None, "linalg.vecdot")
    first = ns.conj(first) if kind_of(first) == "c" else first
    product = ns.multiply(first, second)
    axes = (axis_of(dim, product.ndim),) if product.ndim else ()
    return reductions.sum_over(product, axis=axes, keepdims=False)


@offered("linalg.cross", method=False, label="LinalgCrossBackward0")
def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the cross products of vectors of three elements along an axis."""
    x, y = convert(input), convert(other, what="other")
    if x.ndim != y.ndim:
        raise RuntimeError(
            f"linalg.cross: the factors have {x.ndim} and {y.ndim} axes; give them as many"
        )
    if not x.ndim:
        raise IndexError(f"dim={dim} was given for a single number, which has no axis")
    axis = axis_of(dim, x.ndim)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: axis {dim} has {x.shape[axis]} and {y.shape[axis]} elements; vectors "
            "of 3 have a cross product"
        )
    check_same(x, y, "linalg.cross", "input and other")
    return native.cross(x, y, axis=axis)


@offered("linalg.multi_dot", method=False, label="ViewBackward0")
def multi_dot(tensors: Any) -> Any:
    """Return the product of matrices, in the order that takes the fewest steps."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"multi_dot(): got a {type(tensors).__name__}; give a tuple of tensors")
    found = [convert(t, what=f"tensors[{k}]") for k, t in enumerate(tensors)]
    if len(found) < 2:
        raise RuntimeError(f"multi_dot(): got {len(found)} tensors; give two or more")
    for k, x in enumerate(found):
        ends = k in (0, len(found) - 1)
        if x.ndim != 2 and not (ends and x.ndim == 1):
            raise RuntimeError(
                f"multi_dot(): tensor {k} has {x.ndim} axes; give {'1 or ' if ends else ''}2"
            )
        check_same(found[0], x, "multi_dot()", "all tensors")
    if kind_of(found[0]) == "b":
        raise unable("addmm_impl_cpu_", found[0])
    return native.multi_dot(found)


@offered("linalg.matrix_power", "matrix_power", label="MmBackward0")
def matrix_power(input: Any, n: int) -> Any:
    """Return the product of matrices with themselves, n times; of their inverses if n < 0."""
    x = convert(input)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"matrix_power(): n is a {type(n).__name__}; give a whole number")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: got shape {list(x.shape)}; give square matrices")
    if n == 0:
        none = wrap_native(np.zeros(x.shape, bool))
        return ns.where(none, x, wrap_native(np.eye(x.shape[-1], dtype=x._raw.dtype)))
    if n == 1:
        return ns.positive(x) if kind_of(x) != "b" else x
    if n < 0:
        x = native.inv(matrices(x, "linalg.inv"))
    elif kind_of(x) == "b":
        raise unable("addmm_impl_cpu_", x)
    return native.matrix_power(x, abs(int(n)))


@offered("linalg.matrix_exp", "matrix_exp", label="LinalgMatrixExpBackward0")
def matrix_exp(input: Any) -> Any:
    """Return the exponentials of square matrices."""
    return native.expm(matrices(input, "linalg.matrix_exp", square=True))


@offered("linalg.vander", method=False, label="CatBackward0")
def linalg_vander(x: Any, *, N: Any = None) -> Any:
    """Return the powers 0 to N - 1 of the elements of vectors, as rows of matrices."""
    vector = convert(x, what="x")
    if kind_of(vector) == "b" or vector._raw.dtype == np.float16:
        raise RuntimeError(
            f"linalg.vander: got a {type_name(vector)}; give numbers, for example x.float()"
        )
    count = N if N is not None else vector.shape[-1] if vector.ndim else 1
    if count <= 1:
        raise RuntimeError(f"N is {count}; give 2 or more")
    if kind_of(vector) in "iu":
        vector = astype(vector, np.dtype(np.int64))
    powers = [ns.ones_like(vector), vector]
    for _ in range(count - 2):
        powers.append(ns.multiply(powers[-1], vector))
    return ns.stack(powers[:count], axis=-1)


@offered(
    "linalg.householder_product",
    "orgqr",
    method="orgqr",
    label="LinalgHouseholderProductBackward0",
)
def householder_product(input: Any, tau: Any) -> Any:
    """Return the first columns of a product of reflections, as `torch.geqrf` describes them."""
    x, scales = _reflections(input, tau, "orgqr_cpu")
    if x.shape[-2] < x.shape[-1]:
        raise RuntimeError(
            f"householder_product: the matrix has shape {list(x.shape)}; it must not have more "
            "columns than rows"
        )
    eye = wrap_native(np.eye(*x.shape[-2:], dtype=x._raw.dtype))
    return reflected(x, scales, ns.broadcast_to(eye, x.shape))


def _reflections(input: Any, tau: Any, kernel: str) -> tuple[Native, Native]:
    x = matrices(input, "torch.linalg.householder_product", kernel=kernel, whole=kernel)
    scales = convert(tau, what="tau")
    check_same(x, scales, "torch.linalg.householder_product", "input and tau")
    if scales.ndim != x.ndim - 1 or scales.shape[:-1] != x.shape[:-2]:
        raise RuntimeError(
            f"householder_product: tau has shape {list(scales.shape)} for a matrix of "
            f"{list(x.shape)}; give one vector for each matrix"
        )
    if scales.shape[-1] > x.shape[-1]:
        raise RuntimeError(
            f"householder_product: {scales.shape[-1]} numbers in tau for {x.shape[-1]} columns; "
            "give one for each column at most"
        )
    return x, scales


@offered("ormqr")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Return Q @ other, or other @ Q, where reflections make up the square Q, or its adjoint."""
    x, scales = _reflections(input, tau, "ormqr_cpu")
    y = matrices(other, "torch.ormqr", what="other")
    check_same(x, y, "torch.ormqr", "input and other")
    if y.shape[-2 if left else -1] != x.shape[-2]:
        raise RuntimeError(
            f"ormqr: axis {-2 if left else -1} of other, of shape {list(y.shape)}, does not fit "
            f"the rows of input, of shape {list(x.shape)}"
        )
    if left:
        return reflected(x, scales, y, transpose)
    return adjoint(ns, reflected(x, scales, adjoint(ns, y), not transpose))


# -- determinants and inverses -----------------------------------------------------------------

Slogdet = results("linalg_slogdet", "sign", "logabsdet")
OldSlogdet = results("slogdet", "sign", "logabsdet")
InvEx = results("linalg_inv_ex", "inverse", "info")
SolveEx = results("linalg_solve_ex", "result", "info")


_COFACTORS = "the derivative at a singular matrix is its cofactors, where PyTorch has zeros"


@offered("linalg.det", method=False, label="LinalgDetBackward0", differs=_COFACTORS)
def linalg_det(A: Any) -> Any:
    """Return the determinants of square matrices."""
    return native.det(matrices(A, "linalg.det", square=True, kernel="lu_cpu"))


@offered("det", label="LinalgDetBackward0", differs=_COFACTORS)
def det(input: Any) -> Any:
    """Return the determinants of square matrices."""
    return native.det(matrices(input, "linalg.det", square=True, kernel="lu_cpu"))


def _log_determinant(A: Any, name: str) -> tuple[Native, Native]:
    sign, size = unguarded.slogdet(matrices(A, name, square=True))
    return sign, size


@offered("linalg.slogdet", method=False, label="LinalgSlogdetBackward0")
def linalg_slogdet(A: Any) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    return Slogdet(*_log_determinant(A, "linalg.slogdet"))


@offered("slogdet", label="LinalgSlogdetBackward0")
def slogdet(input: Any) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    return OldSlogdet(*_log_determinant(input, "linalg.slogdet"))


@offered("logdet", label="WhereBackward0")
def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant; NaN where that is negative."""
    sign, size = _log_determinant(input, "logdet")
    if kind_of(sign) == "c":
        return size + ns.log(sign)
    not_a_number = wrap_native(np.array(math.nan, size._raw.dtype))
    return ns.where(ns.equal(constant(sign), -1), not_a_number, size)


@offered("linalg.inv", method=False, label="LinalgInvExBackward0")
def inv(A: Any) -> Any:
    """Return the inverses of square matrices."""
    return native.inv(matrices(A, "linalg.inv", square=True))


@offered("inverse", label="LinalgInvExBackward0")
def inverse(input: Any) -> Any:
    """Return the inverses of square matrices."""
    return native.inv(matrices(input, "linalg.inv", square=True))


def _pivots_of(x: Native) -> Native:
    """Return which pivots of singular matrices are 0, counted from 1; 0 for the others."""
    info: Native = unguarded.lu_factors(constant(x))[3]
    raw = info._raw
    if type(raw) is np.ndarray and not raw.any():  # in another precision one is 0
        return wrap_native(np.full(raw.shape, x.shape[-1], np.int32))
    return info


def _instead(x: Native, info: Native, compute: Any, filler: float) -> Native:
    """Return what `compute` makes of matrices, with another number for those that are singular."""
    bad = ns.expand_dims(ns.not_equal(info, wrap_native(np.array(0, np.int32))), axis=(-2, -1))
    eye = wrap_native(np.eye(x.shape[-1], dtype=x._raw.dtype))
    return ns.where(
        bad, wrap_native(np.array(filler, x._raw.dtype)), compute(ns.where(bad, eye, x))
    )


def _no_error(x: Native) -> Native:
    return wrap_native(np.zeros(x.shape[:-2], np.int32))


def _inverse(x: Native) -> tuple[Native, Native]:
    """Return inverses, and which pivot of a matrix is 0."""
    try:
        return native.inv(x), _no_error(x)
    except np.linalg.LinAlgError:
        info = _pivots_of(x)
        return _instead(x, info, native.inv, math.inf), info


def _check_errors(check: Any, info: Native, name: str) -> None:
    pivot = first_error(info)
    if truth(check, "check_errors") and pivot:
        raise LinAlgError(
            f"{name}: the matrix is singular: pivot {pivot} is 0; use torch.linalg.lstsq or pinv"
        )


@offered("linalg.inv_ex", method=False, label="LinalgInvExBackward0")
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """Return inverses, and the number of the first pivot that is 0 in place of an error."""
    inverse, info = _inverse(matrices(A, "linalg.inv", square=True))
    _check_errors(check_errors, info, "linalg.inv_ex")
    return InvEx(inverse, whole_numbers(info))


def _of_lower_triangle(x: Native) -> Native:
    """Return the Hermitian matrices of lower triangles, with the derivatives of the whole ones."""
    given = constant(x)
    below = ns.tril(given, k=-1)
    diagonal = ns.tril(ns.triu(given))
    read = below + adjoint(ns, below) + (diagonal + ns.conj(diagonal)) / 2
    return x + (read - given)


@offered(
    "linalg.pinv",
    method=False,
    label="LinalgPinvBackward0",
    differs="with hermitian=True, derivatives are those of a Hermitian matrix, where PyTorch's "
    "of one that is not mix it with its lower triangle",
)
def pinv(
    input: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """Return the pseudo-inverses of matrices; small singular values are taken for zero."""
    x = convert(input)
    _check_numbers(x, "linalg.pinv")
    if not x.size:
        return ns.matrix_transpose(x)
    if rcond is not None:
        rtol = rcond
    if truth(hermitian, "hermitian"):
        x = _of_lower_triangle(x)
    values = _sizes(x, hermitian)
    limit = _limit(values, x, atol, rtol)
    largest = ns.max(values, axis=-1)
    one = ns.ones_like(largest)
    return native.pinv(x, rtol=limit / ns.where(ns.equal(largest, 0), one, largest))


@offered("pinverse", label="LinalgPinvBackward0")
def pinverse(input: Any, rcond: Any = 1e-15) -> Any:
    """Return the pseudo-inverses of matrices."""
    return convert(NAMES["linalg.pinv"](input, rcond))


@offered("linalg.tensorinv", method=False, label="ReshapeAliasBackward0")
def tensorinv(input: Any, ind: int = 2) -> Any:
    """Return the inverse under `tensordot` over `ind` axes."""
    x = convert(input)
    if ind <= 0:
        raise RuntimeError(f"ind is {ind}; give a whole number of 1 or more")
    rows, columns = x.shape[:ind], x.shape[ind:]
    if ind > x.ndim or math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            f"the axes of shape {list(x.shape)} before and after ind={ind} hold different "
            "numbers of elements, so there is no square matrix to invert"
        )
    square = ns.reshape(x, (math.prod(rows), math.prod(columns)))
    return ns.reshape(native.inv(matrices(square, "linalg.inv")), (*columns, *rows))


# -- equations ---------------------------------------------------------------------------------


def _shapes(a: Native, b: Native) -> str:
    return " and ".join("x".join(map(str, t.shape[-2:])) for t in (a, b))


def check_system(a: Native, b: Native, name: str, left: bool = True) -> None:
    """Raise unless matrices b fit to square ones, and batches to each other."""
    if b.ndim < 2:
        raise RuntimeError(
            f"{name}: B has shape {list(b.shape)}; give a matrix, or a batch of matrices"
        )
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: {'AX' if left else 'XA'} = B has no solution of any shape ({_shapes(a, b)})"
        )


def _system(A: Any, B: Any, left: Any, name: str) -> tuple[Native, Native, bool]:
    """Return matrices, right-hand sides as matrices, and whether those were vectors."""
    a = matrices(A, "linalg.solve", square=True, kernel="lu_cpu")
    b = convert(B, what="B")
    check_same(a, b, name)
    vector = is_vector(a, b)
    b = ns.expand_dims(b, axis=-1) if vector else b
    check_system(a, b, name, truth(left, "left"))
    return a, b, vector


def _solution(a: Native, b: Native, left: bool) -> Native:
    if left:
        return native.solve(a, b)
    turned = native.solve(ns.matrix_transpose(a), ns.matrix_transpose(b))
    return ns.matrix_transpose(turned)


@offered("linalg.solve", method=False, label="LinalgSolveExBackward0")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return X of A @ X = B, or of X @ A = B, for square matrices A."""
    a, b, vector = _system(A, B, left, "linalg.solve")
    x = _solution(a, b, left)
    return ns.squeeze(x, axis=-1) if vector else x


@offered("linalg.solve_ex", method=False, label="LinalgSolveExBackward0")
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """Return the solution, and the number of the first pivot that is 0 in place of an error."""
    a, b, vector = _system(A, B, left, "linalg.solve_ex")
    try:
        x, info = _solution(a, b, left), _no_error(a)
    except np.linalg.LinAlgError:
        info = _pivots_of(a)
        _check_errors(check_errors, info, "torch.linalg.solve_ex")
        x = _instead(a, info, lambda safe: _solution(safe, b, left), math.nan)
    return SolveEx(ns.squeeze(x, axis=-1) if vector else x, whole_numbers(info))


@offered("linalg.tensorsolve", method=False, label="ViewBackward0")
def tensorsolve(input: Any, other: Any, dims: Any = None) -> Any:
    """Return x of tensordot(input, x, x.ndim) = other."""
    x, y = convert(input), convert(other, what="other")
    if dims is not None:
        moved = [axis_of(d, x.ndim) for d in (dims if isinstance(dims, (tuple, list)) else (dims,))]
        x = ns.moveaxis(x, moved, tuple(range(x.ndim - len(moved), x.ndim)))
    left = x.shape[y.ndim :]
    if math.prod(left) != math.prod(x.shape[: y.ndim]):
        raise RuntimeError(
            f"a tensor of shape {list(x.shape)} is not square over the axes of the right-hand "
            f"side, of shape {list(y.shape)}"
        )
    size = math.prod(left)
    a = matrices(ns.reshape(x, (size, size)), "linalg.solve", kernel="lu_cpu")
    check_same(a, y, "linalg.solve")
    return ns.reshape(native.solve(a, ns.reshape(y, (size,))), left)


def triangular_solution(a: Native, b: Native, upper: bool, unit: bool) -> Native:
    """Return X of a X = b for a triangle of a; what is divided by 0 is not finite."""
    try:
        return native.solve_triangular(a, b, lower=not upper, unit_diagonal=unit)
    except np.linalg.LinAlgError:
        with np.errstate(all="ignore"):
            return _substituted(a, b, upper)


def _substituted(a: Native, b: Native, upper: bool) -> Native:
    """Return the same row by row, where a pivot is 0."""
    n = a.shape[-1]
    found: dict[int, Native] = {}
    for i in reversed(range(n)) if upper else range(n):
        rest = b[..., i, :]
        for j, x in found.items():
            rest = rest - a[..., i, j][..., None] * x
        found[i] = rest / a[..., i, i][..., None]
    return ns.stack([found[i] for i in range(n)], axis=-2)


@offered("linalg.solve_triangular", method=False, label="LinalgSolveTriangularBackward0")
def solve_triangular(
    input: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """Return X of A @ X = B, or of X @ A = B, reading one triangle of A."""
    name = "linalg.solve_triangular"
    kernel = "triangular_solve_cpu"
    a = matrices(input, name, square=True, kernel=kernel, whole=kernel)
    b = convert(B, what="B")
    check_same(a, b, name)
    check_system(a, b, name, truth(left, "left"))
    upper, unit = truth(upper, "upper"), truth(unitriangular, "unitriangular")
    if left:
        return triangular_solution(a, b, upper, unit)
    a, b = ns.matrix_transpose(a), ns.matrix_transpose(b)
    return ns.matrix_transpose(triangular_solution(a, b, not upper, unit))


TriangularSolve = results("triangular_solve", "solution", "cloned_coefficient")


@offered(
    "triangular_solve",
    differs="tangents are of the triangle that is read, where PyTorch's forward mode takes all of "
    "a tangent, and does not transpose it",
)
def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """Return X of A @ X = input, reading one triangle of A, and a copy of A."""
    kernel = "triangular_solve_cpu"
    b, a = convert(input), matrices(A, "torch.triangular_solve", True, "A", kernel, kernel)
    check_right(b, a, "torch.triangular_solve")
    turned = ns.matrix_transpose(a) if transpose else a
    x = triangular_solution(turned, b, upper != transpose, unitriangular)
    return TriangularSolve(x, ns.positive(a))


def check_right(b: Native, a: Native, name: str) -> None:
    """Raise unless right-hand sides are matrices that fit to square ones."""
    if b.ndim < 2:
        raise RuntimeError(f"{name}: b has {b.ndim} axes; give a matrix, as b[:, None]")
    check_same(b, a, name, "b and A")
    check_system(a, b, name)


Lstsq = results("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@offered("linalg.lstsq", method=False, label="LinalgLstsqBackward0")
def lstsq(input: Any, b: Any, rcond: Any = None, *, driver: str | None = None) -> Any:
    """Return the X of least |A @ X - B|, what is left of it, the rank, and singular values.

    What is returned of the last three depends on the `driver`, as in PyTorch.
    """
    name = "torch.linalg.lstsq"
    a, right = convert(input), convert(b, what="b")
    _check_numbers(a, name)
    check_same(a, right, name, "input and other")
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: driver is {driver}; give one of {_DRIVERS}")
    vector = right.ndim == a.ndim - 1 and right.shape == a.shape[:-1]
    right = ns.expand_dims(right, axis=-1) if vector else right
    if right.ndim < 2 or a.shape[-2] != right.shape[-2]:
        raise RuntimeError(
            f"{name}: matrices and right-hand sides need equal rows, not {_shapes(a, right)}"
        )
    if right.ndim != a.ndim or right.shape[:-2] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}: matrices of shape {list(a.shape)} and right-hand sides of "
            f"{list(right.shape)} belong to different batches"
        )
    rows, columns = a.shape[-2:]
    values = singular_values(constant(a))
    limit = _limit(values, a, None, None if rcond is None else static(rcond))
    rank = ns.count_nonzero(ns.greater(values, ns.expand_dims(limit, axis=-1)), axis=-1)
    x = ns.matmul(convert(NAMES["linalg.pinv"](a, rtol=rcond)), right)
    full = driver == "gels" or bool(np.all(rank._raw == columns))
    residuals = ns.real(ns.reshape(x, (-1,))[:0])
    if rows > columns and full and driver != "gelsy":
        rest = ns.abs(right - ns.matmul(a, x))
        residuals = ns.sum(ns.square(rest), axis=-2)
    none = wrap_native(np.zeros(0, values._raw.dtype))
    return Lstsq(
        ns.squeeze(x, axis=-1) if vector else x,
        residuals,
        wrap_native(np.zeros(0, np.int64)) if driver == "gels" else constant(rank),
        constant(values) if driver in ("gelsd", "gelss") else none,
    )


def _removed(name: str, instead: str) -> None:
    def call(*args: Any, **options: Any) -> Any:
        raise RuntimeError(f"torch.{name} is gone from PyTorch; write torch.linalg.{instead}")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Raise: PyTorch has no `{name}` any more."
    put((name,) if name == "matrix_rank" else (name, f"Tensor.{name}"), call)


_removed("symeig", "eigh(A, UPLO='U')")
_removed("eig", "eig(A)")
_removed("solve", "solve(A, B)")
_removed("lstsq", "lstsq(A, B)")
_removed("matrix_rank", "matrix_rank(A)")
