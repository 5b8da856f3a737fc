"""tf.linalg: decompositions, solvers, norms and diagonals."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.conventions import absolute, sqrt, without_rule
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import FailedPreconditionError, as_is, invalid
from wengert.dialects.tensorflow.products import adjoint_of
from wengert.dialects.tensorflow.table import offered
from wengert.dialects.tensorflow.tensors import (
    check_dtypes,
    check_kind,
    convert,
    is_tensor,
    outward,
    pair,
    static,
)
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops import linalg as native
from wengert.ops.linalg.functions import complex_logm
from wengert.transforms.gradients import stop_gradient

ns = Native._namespace


def matrices(x: Any, name: str, square: bool = False, kinds: str = "fc") -> Native:
    """Return a tensor of matrices, which must be of floating numbers, and perhaps square."""
    tensor = convert(x)
    check_kind(tensor, kinds, name)
    if tensor.ndim < 2:
        raise invalid(f"{name}: shape {list(tensor.shape)}; expected matrices")
    if square and tensor.shape[-1] != tensor.shape[-2]:
        raise invalid(f"{name}: shape {list(tensor.shape)}; expected square matrices")
    return tensor


def _system(a: Any, b: Any, name: str, square: bool = True) -> tuple[Native, Native]:
    """Return matrices and right-hand sides, which are matrices too."""
    first, second = pair(a, b, name)
    matrices(first, name, square)
    if second.ndim < 2:
        raise invalid(
            f"the right-hand side has shape {list(second.shape)}; expected matrices: write "
            "rhs[:, tf.newaxis] for a vector"
        )
    if first.shape[-2] != second.shape[-2]:
        raise invalid(
            f"matrices of shape {list(first.shape)} for right-hand sides of {list(second.shape)}"
        )
    return first, second


# -- transposes and parts -----------------------------------------------------------------------


@offered("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """Return matrices with rows and columns exchanged, and conjugated."""
    return adjoint_of(_at_least_matrices(matrix))


@offered("linalg.matrix_transpose", raises=(ValueError,))
def matrix_transpose(a: Any, name: str | None = "matrix_transpose", conjugate: bool = False) -> Any:
    """Return matrices with rows and columns exchanged."""
    x = _at_least_matrices(a)
    return adjoint_of(x) if conjugate else ns.matrix_transpose(x)


def _at_least_matrices(x: Any) -> Native:
    tensor = convert(x)
    if tensor.ndim < 2:
        raise as_is(ValueError(f"a tensor of shape {tensor.shape}; expected matrices"))
    return tensor


@offered("linalg.band_part")
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Return matrices with zeros beyond some diagonals; a negative number is all of them."""
    x = matrices(input, "MatrixBandPart", kinds="biufc")
    lower, upper = int(static(num_lower)), int(static(num_upper))
    rows, columns = x.shape[-2:]
    for what, n, most in (("num_lower", lower, rows), ("num_upper", upper, columns)):
        if n > most:
            raise invalid(f"{what} is {n}; expected at most {most}, or -1 for all")
    apart = np.arange(columns) - np.arange(rows)[:, None]
    inside = ((apart >= -lower) | (lower < 0)) & ((apart <= upper) | (upper < 0))
    return ns.where(inside, x, np.zeros((), x.dtype))


def _band(k: Any) -> tuple[int, int, bool]:
    """Return the lowest and the highest of some diagonals, and whether a single one was given."""
    given = static(k)
    if isinstance(given, int):
        return given, given, True
    low, high = (given[0], given[-1])
    if low > high:
        raise invalid(f"k is ({low}, {high}); expected the lower diagonal first")
    return low, high, low == high


def _places(
    rows: int, columns: int, low: int, high: int, align: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row and column of each element of diagonals laid out as lines, and if it exists."""
    if align not in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise as_is(ValueError(f"align is {align!r}; expected such as 'RIGHT_LEFT'"))
    offsets = np.arange(high, low - 1, -1)
    lengths = np.minimum(rows + np.minimum(offsets, 0), columns - np.maximum(offsets, 0))
    if rows and columns and (lengths <= 0).any():
        raise invalid(f"diagonals {low} to {high} are not in matrices of {rows} by {columns}")
    most = int(lengths.max(initial=0))
    above, below = align.split("_")
    to_right = np.where(offsets > 0, above == "RIGHT", below == "RIGHT")
    to_right &= offsets != 0
    place = np.arange(most) - np.where(to_right, most - lengths, 0)[:, None]
    exists = (place >= 0) & (place < lengths[:, None])
    place = np.where(exists, place, 0)
    return place - np.minimum(offsets, 0)[:, None], place + np.maximum(offsets, 0)[:, None], exists


@offered("linalg.diag_part", raises=(ValueError,))
def diag_part(
    input: Any,
    name: str | None = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Return the k-th diagonal of matrices, or those from k[0] to k[1] as lines."""
    x = matrices(input, "MatrixDiagPartV3", kinds="biufc")
    low, high, single = _band(k)
    rows, columns, exists = _places(x.shape[-2], x.shape[-1], low, high, align)
    lines = x[(..., rows, columns)]
    if not exists.all():
        lines = ns.where(exists, lines, np.asarray(padding_value, x.dtype))
    return lines[..., 0, :] if single else lines


def _from_lines(
    diagonal: Native, k: Any, shape: tuple[int, int], align: str
) -> tuple[Native, np.ndarray]:
    """Return matrices with lines of numbers on their diagonals, and where those are."""
    low, high, single = _band(k)
    rows, columns, exists = _places(*shape, low, high, align)
    line, place = np.nonzero(exists)
    where = rows[exists], columns[exists]
    lines = ns.expand_dims(diagonal, axis=-2) if single else diagonal
    if lines.shape[-2:] != exists.shape:
        raise invalid(
            f"diagonals of shape {list(diagonal.shape)} for matrices of {shape}; expected "
            f"{list(exists.shape)} last"
        )
    taken = np.zeros((2, *shape), np.intp)
    taken[(0, *where)], taken[(1, *where)] = line, place
    inside = np.zeros(shape, bool)
    inside[where] = True
    return lines[(..., taken[0], taken[1])], inside


@offered("linalg.diag", raises=(ValueError,))
def diag(
    diagonal: Any,
    name: str | None = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Return matrices with given diagonals, and `padding_value` elsewhere."""
    x = convert(diagonal)
    if not x.ndim:
        raise invalid("the diagonal is one number; expected a list of them")
    low, high, _ = _band(k)
    length = x.shape[-1]
    rows, columns = int(static(num_rows)), int(static(num_cols))
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows < 0 and columns < 0:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows < 0 else rows
    columns = least_columns if columns < 0 else columns
    if rows < least_rows or columns < least_columns:
        raise invalid(f"diagonals of length {length} do not fit in {rows} rows, {columns} columns")
    inside: Any
    made, inside = _from_lines(x, k, (rows, columns), align)
    return ns.where(inside, made, np.asarray(padding_value, x.dtype))


@offered("linalg.set_diag", raises=(ValueError,))
def set_diag(
    input: Any,
    diagonal: Any,
    name: str | None = "set_diag",
    k: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Return matrices with diagonals replaced."""
    x, line = pair(input, diagonal, "MatrixSetDiagV3")
    x = matrices(x, "MatrixSetDiagV3", kinds="biufc")
    *_, single = _band(k)
    lead = line.ndim - (1 if single else 2)
    if not line.ndim or line.shape[: max(lead, 0)] != x.shape[:-2]:
        raise invalid(
            f"diagonals of shape {list(line.shape)} for matrices of shape {list(x.shape)}"
        )
    made, inside = _from_lines(line, k, (x.shape[-2], x.shape[-1]), align)
    return ns.where(inside, made, x)


@offered("linalg.tensor_diag")
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """Return a tensor that is zero unless its first indices are its last ones."""
    x = convert(diagonal)
    if not x.ndim:
        raise invalid("the diagonal is one number; expected a list of them")
    flat = ns.reshape(x, (-1,))
    eye = np.eye(flat.size, dtype=bool)
    square = ns.where(eye, flat, np.zeros((), x.dtype))
    return ns.reshape(square, x.shape + x.shape)


@offered("linalg.tensor_diag_part")
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """Return the elements whose first indices are their last ones."""
    x = convert(input)
    half = x.ndim // 2
    if not x.ndim or x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        raise invalid(f"expected a shape whose two halves are equal, got {list(x.shape)}")
    size = int(np.prod(x.shape[:half], dtype=int))
    return ns.reshape(ns.linalg.diagonal(ns.reshape(x, (size, size))), x.shape[:half])


@offered("linalg.trace")
def trace(x: Any, name: str | None = None) -> Any:
    """Return the sum of the diagonal."""
    tensor = matrices(x, "Sum", kinds="iufc")
    return ns.sum(ns.linalg.diagonal(tensor), axis=-1, dtype=tensor.dtype)


@offered("linalg.cross")
def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """Return the cross product of vectors of length 3."""
    first, second = pair(a, b, "Cross")
    check_kind(first, "iuf", "Cross")
    shown = f"got {list(first.shape)} and {list(second.shape)}"
    if first.shape != second.shape:
        raise invalid(f"Cross-products are of two tensors of one shape, {shown}")
    if not first.ndim or first.shape[-1] != 3:
        message = f"a cross product is of vectors of length 3, {shown}"
        raise FailedPreconditionError(None, None, message)
    return native.cross(first, second)


# -- solving ------------------------------------------------------------------------------------


@offered("linalg.cholesky")
def cholesky(input: Any, name: str | None = None) -> Any:
    """Return the lower triangular L with L L^H the matrix; NaN if that is not positive definite."""
    return _cholesky(matrices(input, "Cholesky", square=True))


def _cholesky(x: Native) -> Native:
    """Return the factor of the lower triangle, with a derivative in both, as of the whole."""
    if (x._raw != np.conj(np.swapaxes(x._raw, -1, -2))).any():
        x = x + stop_gradient(_from_lower(x) - x)
    try:
        return native.cholesky(x)
    except np.linalg.LinAlgError:
        return _cholesky_or_nan(x)


def _cholesky_or_nan(x: Native) -> Native:
    """Return the factors, and below the diagonal NaN of matrices that are not positive definite."""
    found = [_is_definite(matrix) for matrix in x._raw.reshape(-1, *x.shape[-2:])]
    definite = np.asarray(found).reshape(*x.shape[:-2], 1, 1)
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    safe = x + np.where(definite, np.zeros((), x.dtype), eye - x._raw)
    factor = native.cholesky(safe) * np.where(definite, 1, np.nan).astype(x.dtype)
    return ns.tril(factor)


def _is_definite(matrix: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


@offered("linalg.cholesky_solve")
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Return the solution of A X = rhs, given the Cholesky factor of A."""
    factor, right = _system(chol, rhs, "CholeskySolve")
    half = native.solve_triangular(factor, right, lower=True)
    return native.solve_triangular(adjoint_of(factor), half, lower=False)


@offered("linalg.det")
def det(input: Any, name: str | None = None) -> Any:
    """Return the determinant."""
    return native.det(matrices(input, "MatrixDeterminant", square=True))


LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


@offered("linalg.slogdet")
def slogdet(input: Any, name: str | None = None) -> Any:
    """Return the sign and the logarithm of the absolute value of the determinant."""
    sign, log = native.slogdet(matrices(input, "LogMatrixDeterminant", square=True))
    return LogMatrixDeterminant(outward(sign), outward(ns.astype(log, sign.dtype, copy=False)))


@offered("linalg.logdet")
def logdet(matrix: Any, name: str | None = None) -> Any:
    """Return the logarithm of the determinant of a positive definite matrix."""
    factor = _cholesky(matrices(matrix, "Cholesky", square=True))
    diagonal = ns.linalg.diagonal(factor)
    return 2.0 * ns.sum(
        ns.log(ns.real(diagonal) if diagonal.dtype.kind == "c" else diagonal), axis=-1
    )


@offered("linalg.inv")
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Return the inverse, or with `adjoint` that of the adjoint matrix."""
    x = matrices(input, "MatrixInverse", square=True)
    return native.inv(adjoint_of(x) if adjoint else x)


@offered("linalg.solve")
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Return the solution of a system of equations."""
    a, b = _system(matrix, rhs, "MatrixSolve")
    if a.shape[:-2] != b.shape[:-2]:
        raise invalid(f"batches of shapes {list(a.shape)} and {list(b.shape)} differ")
    return native.solve(adjoint_of(a) if adjoint else a, b)


@offered("linalg.triangular_solve", differs="a singular matrix raises InvalidArgumentError")
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Return the solution of a triangular system of equations."""
    a, b = _system(matrix, rhs, "MatrixTriangularSolve")
    if adjoint:
        return native.solve_triangular(adjoint_of(a), b, lower=not lower)
    return native.solve_triangular(a, b, lower=lower)


@offered("linalg.lstsq")
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Any:
    """Return the least-squares solution, of least norm where there are many.

    `l2_regularizer` is the weight of the squared norm of the solution.
    """
    a, b = _system(matrix, rhs, "MatrixSolveLs", square=False)
    regularizer = convert(l2_regularizer)
    weight = float(np.asarray(regularizer._raw))
    tall, flipped = a.shape[-2] >= a.shape[-1], adjoint_of(a)
    if not weight and not fast:
        return _least_squares(a, b)
    gram = ns.matmul(flipped, a) if tall else ns.matmul(a, flipped)
    if weight or is_tensor(l2_regularizer):  # of a tensor, there may be a derivative at 0 too
        one = np.eye(gram.shape[-1], dtype=gram.dtype)
        gram = gram + ns.astype(regularizer, gram.dtype) * one
    factor = _cholesky(gram)
    right = ns.matmul(flipped, b) if tall else b
    half = native.solve_triangular(factor, right, lower=True)
    found = native.solve_triangular(adjoint_of(factor), half, lower=False)
    return found if tall else ns.matmul(flipped, found)


def _least_squares(a: Native, b: Native) -> Native:
    return ns.matmul(native.pinv(a), b)


@offered("linalg.pinv")
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """Return the pseudo-inverse."""
    x = matrices(a, "Pinv")
    if rcond is None:
        rcond = 10.0 * max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return native.pinv(x, rtol=float(np.asarray(convert(rcond)._raw)))


@offered("linalg.matrix_rank")
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """Return how many singular values are more than `tol`."""
    x = matrices(a, "MatrixRank")
    values = np.linalg.svd(np.asarray(x._raw), compute_uv=False)
    if tol is None:
        largest = values.max(axis=-1, keepdims=True, initial=0.0)
        tol = np.finfo(x.dtype).eps * max(x.shape[-2:]) * largest
    else:
        tol = np.asarray(convert(tol)._raw)[..., None]
    return wrap(np.asarray((values > tol).sum(axis=-1)).astype(np.int32))


@offered("linalg.expm")
def expm(input: Any, name: str | None = None) -> Any:
    """Return the exponential of a matrix."""
    return native.expm(matrices(input, "MatrixExponential", square=True))


@offered("linalg.sqrtm", "matrix_square_root")
def sqrtm(input: Any, name: str | None = None) -> Any:
    """Return the square root of a matrix."""
    x = matrices(input, "MatrixSquareRoot", square=True)
    return ns.astype(native.sqrtm(x), x.dtype, copy=False)


@offered("linalg.logm")
def logm(input: Any, name: str | None = None) -> Any:
    """Return the logarithm of a matrix of complex numbers."""
    x = matrices(input, "MatrixLogarithm", square=True, kinds="c")
    return without_rule("linalg.logm", complex_logm(x), [x]) if x.size else x


# -- decompositions -----------------------------------------------------------------------------


@offered("linalg.eigh")
def eigh(tensor: Any, name: str | None = None) -> Any:
    """Return the eigenvalues, the least first, and the eigenvectors of a Hermitian matrix."""
    x = matrices(tensor, "SelfAdjointEigV2", square=True)
    values, vectors = native.eigh(_from_lower(x))
    return ns.astype(values, x.dtype, copy=False), vectors


def _from_lower(x: Native) -> Native:
    """Return the Hermitian matrix that has the lower triangle of x: nothing else is read."""
    lower = ns.tril(x, k=-1)
    diagonal = ns.where(np.eye(x.shape[-1], dtype=bool), x, np.zeros((), x.dtype))
    if x.dtype.kind == "c":
        diagonal = ns.astype(ns.real(diagonal), x.dtype)
    return lower + diagonal + adjoint_of(lower)


@offered("linalg.eigvalsh")
def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """Return the eigenvalues of a Hermitian matrix, the least first."""
    x = matrices(tensor, "SelfAdjointEigV2", square=True)
    return ns.astype(native.eigvalsh(_from_lower(x)), x.dtype, copy=False)


def _complex_like(x: Native) -> Any:
    return np.complex64 if x.dtype in (np.float32, np.complex64) else np.complex128


@offered("linalg.eig", "eig")
def eig(tensor: Any, name: str | None = None) -> Any:
    """Return the eigenvalues and the eigenvectors, which are complex."""
    x = matrices(tensor, "Eig", square=True)
    values, vectors = native.eig(x)
    kind = _complex_like(x)
    return ns.astype(values, kind, copy=False), ns.astype(vectors, kind, copy=False)


@offered("linalg.eigvals", "eigvals")
def eigvals(tensor: Any, name: str | None = None) -> Any:
    """Return the eigenvalues, which are complex."""
    x = matrices(tensor, "Eig", square=True)
    return ns.astype(native.eigvals(x), _complex_like(x), copy=False)


@offered("linalg.svd")
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Return the singular values s, and u and v with tensor = u diag(s) v^H."""
    x = matrices(tensor, "Svd")
    if not compute_uv:
        return native.svdvals(x)
    u, s, vh = native.svd(x, full_matrices=full_matrices)
    return s, u, adjoint_of(vh)


Qr = namedtuple("Qr", ["q", "r"])
Lu = namedtuple("Lu", ["lu", "p"])


@offered("linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """Return q, with orthonormal columns, and the upper triangular r."""
    x = matrices(input, "Qr")
    q, r = native.qr(x, mode="complete" if full_matrices else "reduced")
    return Qr(outward(q), outward(r))


@offered("linalg.lu", differs="has a gradient")
def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the factors L, without its ones, and U in one matrix, and the order of the rows."""
    x = matrices(input, "Lu", square=True)
    order = _pivots(np.asarray(x._raw))
    rows = ns.take_along_axis(x, np.broadcast_to(order[..., None], x.shape), axis=-2)
    factors = _eliminated(rows)
    places = order.astype(as_dtype(output_idx_type)._numpy)
    return Lu(outward(factors), outward(wrap(places)))


def _pivots(x: np.ndarray) -> np.ndarray:
    """Return the order of rows in which each step divides by the largest element of a column."""
    n = x.shape[-1]
    rest = x.reshape(-1, n, n).copy()
    orders = np.tile(np.arange(n), (len(rest), 1))
    for matrix, order in zip(rest, orders, strict=True):
        for k in range(n):
            best = k + int(np.argmax(np.abs(matrix[k:, k])))
            if not matrix[best, k]:
                raise invalid("the matrix has no inverse")
            matrix[[k, best]], order[[k, best]] = matrix[[best, k]], order[[best, k]]
            matrix[k + 1 :, k] /= matrix[k, k]
            matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    return orders.reshape(x.shape[:-1])


def _eliminated(x: Native) -> Native:
    """Return L and U of matrices whose rows are in order, by Gauss's elimination."""
    n = x.shape[-1]
    if n < 2:
        return x
    top, left = x[..., :1, :], x[..., 1:, :1] / x[..., :1, :1]
    rest = _eliminated(x[..., 1:, 1:] - left * top[..., 1:])
    return ns.concat([top, ns.concat([left, rest], axis=-1)], axis=-2)


def _factors(lower_upper: Native) -> tuple[Native, Native]:
    """Return L, with its ones, and U."""
    eye = np.eye(lower_upper.shape[-1], dtype=lower_upper.dtype)
    return ns.tril(lower_upper, k=-1) + eye, ns.triu(lower_upper)


@offered("linalg.lu_solve")
def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """Return the solution of a system, given the result of `tf.linalg.lu`."""
    factors, right = _system(lower_upper, rhs, "LuSolve")
    order = np.asarray(convert(perm)._raw)
    shape = (*order.shape, right.shape[-1])
    right = ns.broadcast_to(
        right, (*np.broadcast_shapes(shape[:-2], right.shape[:-2]), *shape[-2:])
    )
    rows = ns.take_along_axis(right, np.broadcast_to(order[..., None], right.shape), axis=-2)
    lower, upper = _factors(factors)
    half = native.solve_triangular(lower, rows, lower=True)
    return native.solve_triangular(upper, half, lower=False)


@offered("linalg.lu_matrix_inverse")
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """Return the inverse, given the result of `tf.linalg.lu`."""
    factors = matrices(lower_upper, "LuMatrixInverse", square=True)
    eye = np.broadcast_to(np.eye(factors.shape[-1], dtype=factors.dtype), factors.shape)
    return lu_solve(factors, perm, eye).__wengert_tensor__()


@offered("linalg.lu_reconstruct")
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """Return the matrix, given the result of `tf.linalg.lu`."""
    product = ns.matmul(*_factors(matrices(lower_upper, "LuReconstruct", square=True)))
    back = np.argsort(np.asarray(convert(perm)._raw), axis=-1)
    return ns.take_along_axis(product, np.broadcast_to(back[..., None], product.shape), axis=-2)


# -- norms --------------------------------------------------------------------------------------


def _axes_of_norm(axis: Any) -> tuple[Any, bool]:
    """Return axes as a number or a tuple, and whether they are those of matrices."""
    given = static(axis)
    if isinstance(given, list):
        if len(given) != 2 or not all(isinstance(a, int) for a in given) or given[0] == given[1]:
            raise as_is(
                ValueError(f"axis is {axis!r}; expected None, one axis, or two that differ")
            )
        return tuple(given), True
    return given, False


def _norm(tensor: Native, ord: Any, axis: Any) -> Native:
    """Return the norm, with the axes kept."""
    where, of_matrix = _axes_of_norm(axis)
    words = ("euclidean", "fro")
    known = (*words, 1, 2, np.inf) if of_matrix else None
    if isinstance(ord, str) and ord not in (words if of_matrix else words[:1]):
        raise as_is(ValueError(f"ord is {ord!r}; expected 'euclidean', or a number above 0"))
    if known is not None and ord not in known:
        raise as_is(ValueError(f"ord is {ord!r}; expected one of {known} for matrices"))
    if known is None and not isinstance(ord, str) and not ord > 0:
        raise as_is(ValueError(f"ord is {ord!r}; expected 'euclidean', or a number above 0"))
    if where is None:
        where = tuple(range(tensor.ndim))
    if of_matrix and ord == 2:
        return _spectral(tensor, where)
    if ord in (*words, 2):
        squares = tensor * ns.conj(tensor) if tensor.dtype.kind == "c" else ns.square(tensor)
        return sqrt(ns.sum(squares, axis=where, keepdims=True))
    size = apply(absolute.op, (tensor,), {})
    if of_matrix:
        inner, outer = where if ord == 1 else where[::-1]
        return ns.max(ns.sum(size, axis=inner, keepdims=True), axis=outer, keepdims=True)
    if ord == 1:
        return ns.sum(size, axis=where, keepdims=True)
    if ord == np.inf:
        return ns.max(size, axis=where, keepdims=True)
    return ns.sum(size ** float(ord), axis=where, keepdims=True) ** (1.0 / ord)


def _spectral(tensor: Native, axes: tuple[int, int]) -> Native:
    """Return the largest singular value of the matrices on two axes, which are kept."""
    places = [a % tensor.ndim for a in axes]
    moved = ns.moveaxis(tensor, places, (-2, -1))
    largest = ns.max(native.svdvals(moved), axis=-1)
    return ns.expand_dims(largest, axis=tuple(sorted(places)))


@offered("linalg.norm", "norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
) -> Any:
    """Return the norm of vectors, of matrices or of everything; its derivative at 0 is NaN."""
    x = convert(tensor)
    check_kind(x, "fc", "Norm")
    found = _norm(x, ord, axis)
    if keepdims:
        return found
    where, _ = _axes_of_norm(axis)
    where = tuple(range(x.ndim)) if where is None else where
    return ns.squeeze(found, axis=where) if where != () else found


@offered("linalg.normalize")
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> Any:
    """Return a tensor over its norm, and the norm with its axes kept."""
    x = convert(tensor)
    check_kind(x, "fc", "Norm")
    size = _norm(x, ord, axis)
    return x / ns.astype(size, x.dtype, copy=False), size


# -- tridiagonal matrices -------------------------------------------------------------------------


def _three(diagonals: Any, layout: str) -> tuple[Native, Native, Native]:
    """Return the diagonal above, the main one and the one below, all of one length.

    Of the first the last element is not used, of the last the first one.
    """
    if layout == "sequence":
        above, main, below = (convert(d) for d in diagonals)
        n = main.shape[-1]
        pad = [(0, 0)] * (main.ndim - 1)
        above = above if above.shape[-1] == n else ns.pad(above, [*pad, (0, 1)])
        below = below if below.shape[-1] == n else ns.pad(below, [*pad, (1, 0)])
        return above, main, below
    x = convert(diagonals)
    if layout == "matrix":
        pad = [(0, 0)] * (x.ndim - 2)
        above = ns.pad(ns.linalg.diagonal(x, offset=1), [*pad, (0, 1)])
        below = ns.pad(ns.linalg.diagonal(x, offset=-1), [*pad, (1, 0)])
        return above, ns.linalg.diagonal(x), below
    if layout != "compact":
        raise as_is(
            ValueError(
                f"diagonals_format is {layout!r}; expected 'compact', 'matrix' or 'sequence'"
            )
        )
    if x.ndim < 2 or x.shape[-2] != 3:
        raise as_is(ValueError(f"diagonals of shape {x.shape}; expected 3 lines"))
    return x[..., 0, :], x[..., 1, :], x[..., 2, :]


def _dense(above: Native, main: Native, below: Native) -> Native:
    n = main.shape[-1]
    apart = np.arange(n) - np.arange(n)[:, None]
    nothing = np.zeros((), main.dtype)
    total = ns.where(apart == 0, ns.expand_dims(main, axis=-2), nothing)
    total = total + ns.where(apart == 1, ns.expand_dims(above, axis=-1), nothing)
    return total + ns.where(apart == -1, ns.expand_dims(below, axis=-1), nothing)


@offered(
    "linalg.tridiagonal_solve", differs="the matrix is made in full: time and memory are of that"
)
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Any:
    """Return the solution of a system whose matrix has three diagonals."""
    matrix = _dense(*_three(diagonals, diagonals_format))
    right = convert(rhs, None, matrix.dtype)
    check_dtypes("TridiagonalSolve", matrix, right)
    if conjugate_rhs:
        right = ns.conj(right)
    if right.ndim == matrix.ndim - 1:
        return ns.squeeze(native.solve(matrix, ns.expand_dims(right, axis=-1)), axis=-1)
    return native.solve(matrix, ns.matrix_transpose(right) if transpose_rhs else right)


@offered("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Any:
    """Return the product of a matrix of three diagonals with matrices."""
    above, main, below = (ns.expand_dims(d, axis=-1) for d in _three(diagonals, diagonals_format))
    right = convert(rhs, None, main.dtype)
    check_dtypes("TridiagonalMatMul", main, right)
    if right.ndim < 2 or right.shape[-2] != main.shape[-2]:
        raise invalid(f"rhs of shape {list(right.shape)} for matrices of size {main.shape[-2]}")
    pad = [(0, 0)] * (right.ndim - 2)
    after = ns.pad(right[..., 1:, :], [*pad, (0, 1), (0, 0)])
    before = ns.pad(right[..., :-1, :], [*pad, (1, 0), (0, 0)])
    return above * after + main * right + below * before


@offered("linalg.eigh_tridiagonal", differs="the matrix is made in full: time and memory are of it")
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Return the eigenvalues of a Hermitian matrix of three diagonals; maybe eigenvectors too.

    `select` is "a" for all, "i" for those from place to place, or "v" for those in a range.
    """
    main, below = convert(alpha), convert(beta)
    check_dtypes("EighTridiagonal", main, below)
    if main.dtype.kind not in "fc":
        raise as_is(ValueError(f"alpha is of {main.dtype.name}; write tf.cast(alpha, tf.float32)"))
    if main.ndim != 1 or below.shape != (max(main.shape[0] - 1, 0),):
        raise invalid(f"alpha of shape {main.shape} for beta of shape {below.shape}, one shorter")
    if select not in ("a", "i", "v") or (select != "a" and select_range is None):
        raise as_is(ValueError(f"select={select!r} with select_range={select_range!r}"))
    below = ns.pad(below, [(1, 0)])
    above = ns.pad(ns.conj(below[1:]) if below.dtype.kind == "c" else below[1:], [(0, 1)])
    matrix = _dense(above, main, below)
    values, vectors = native.eigh(matrix)
    chosen = _selected(np.asarray(values._raw), select, select_range)
    values = values[chosen]
    return values if eigvals_only else (values, vectors[:, chosen])


def _selected(values: np.ndarray, select: str, select_range: Any) -> slice:
    """Return which eigenvalues are meant."""
    if select == "a":
        return slice(None)
    low, high = static(select_range)
    if low > high:
        raise as_is(ValueError(f"select_range {select_range!r} has its end before its start"))
    if select == "i":
        return slice(low, high + 1)
    return slice(int((values <= low).sum()), int((values <= high).sum()))


@offered(
    "linalg.banded_triangular_solve",
    differs="the matrix is made in full: time and memory are of it",
)
def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Return the solution of systems whose triangular matrices are given by their diagonals.

    Row k of `bands` is the k-th diagonal below the main one or, if upper, counted from the last row
    the k-th above; element j of it is in row j of the matrix.
    """
    lines, right = pair(bands, rhs, "BandedTriangularSolve")
    lines = matrices(lines, "BandedTriangularSolve")
    count, n = lines.shape[-2:]
    if right.ndim < 2 or right.shape[-2] != n or count > n:
        raise invalid(f"bands of shape {lines.shape} for right-hand sides of shape {right.shape}")
    row, column = np.indices((n, n))
    line = row - column if lower else count - 1 - (column - row)
    inside = (line >= 0) & (line < count) & ((row >= column) if lower else (column >= row))
    spread = lines[(..., np.where(inside, line, 0), row)]
    matrix = ns.where(inside, spread, np.zeros((), lines.dtype))
    if adjoint:
        matrix, lower = adjoint_of(matrix), not lower
    return native.solve_triangular(matrix, right, lower=lower)
