"""tf.linalg: decompositions, solvers, norms and diagonals."""

from __future__ import annotations

from collections import namedtuple
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.conventions import absolute, sqrt, without_rule
from wengert.dialects.tensorflow.errors import FailedPreconditionError, invalid, unfit, value_error
from wengert.dialects.tensorflow.products import adjoint_of
from wengert.dialects.tensorflow.table import absent, offered, row
from wengert.dialects.tensorflow.tensors import Native, ns, wrap
from wengert.engine.record import apply
from wengert.ops import linalg as native
from wengert.ops.linalg import unguarded
from wengert.ops.linalg.functions import complex_logm
from wengert.ops.numpy.products import from_triangle

absent(
    {
        "eigh_tridiagonal": "tf.linalg.eigh(matrix), of the matrix in full",
        "tridiagonal_solve": "tf.linalg.solve(matrix, rhs), of the matrix in full",
        "tridiagonal_matmul": "tf.matmul(matrix, rhs), of the matrix in full",
        "lu_solve": "tf.linalg.solve(matrix, rhs)",
        "lu_matrix_inverse": "tf.linalg.inv(matrix)",
        "lu_reconstruct": "the matrix itself, or L @ U with its rows in order",
        "banded_triangular_solve": "tf.linalg.triangular_solve(matrix, rhs), in full",
    },
    "linalg.",
)

#: Matrices of anything, where others are invalid or a ValueError; of numbers; of complex ones.
_AnyMatrices = Annotated[Native, K.matrices("biufc")]
_Transposed = Annotated[Native, K.matrices("biufc", error=ValueError)]
_NumberMatrices = Annotated[Native, K.matrices("iufc")]
_ComplexSquare = Annotated[Native, K.matrices("c", square=True)]
_RealPair = Annotated[Native, K.together("iuf")]


def _system(square: bool = True) -> Kind:
    """Return the kind of matrices and right-hand sides, which are matrices too."""
    read_matrices = K.matrices(square=square).read

    def read(values: Any, at: Any, x: Any) -> tuple[Native, Native]:
        first, second = eager.pair(values[0], values[1], at[0].function)
        read_matrices(first, at[0])
        if second.ndim < 2:
            raise unfit("matrices: write rhs[:, tf.newaxis] for a vector", rhs=second)
        if first.shape[-2] != second.shape[-2]:
            raise unfit("as many rows in both", matrix=first, rhs=second)
        return first, second

    return Kind(read, tensor=True, together=True)


_System = Annotated[Native, _system()]
_AnySystem = Annotated[Native, _system(square=False)]


# -- transposes and parts -----------------------------------------------------------------------


row("linalg.adjoint", adjoint_of, "matrices transposed and conjugated", matrix=_Transposed)


@offered("linalg.matrix_transpose", raises=(ValueError,))
def matrix_transpose(a: _Transposed, name: Any = None, conjugate: bool = False) -> Native:
    """Return matrices with rows and columns exchanged."""
    return adjoint_of(a) if conjugate else ns.matrix_transpose(a)


@offered("linalg.band_part")
def band_part(input: _AnyMatrices, num_lower: K.Whole, num_upper: K.Whole) -> Native:
    """Return matrices with zeros beyond some diagonals; a negative number is all of them."""
    if num_lower > input.shape[-2] or num_upper > input.shape[-1]:
        given = {"num_lower": num_lower, "num_upper": num_upper}
        raise unfit("at most its lengths, or -1 for all", **given, input=input)
    below = input if num_upper < 0 else ns.tril(input, k=num_upper)
    return below if num_lower < 0 else ns.triu(below, k=-num_lower)


_ONE = "takes one diagonal"


def _diagonal(k: int, rows: int, columns: int) -> tuple[Any, ...]:
    """Return the key of the k-th diagonal of matrices."""
    length = min(rows + min(k, 0), columns - max(k, 0))
    if length <= 0 and rows and columns:
        raise invalid(f"matrices of {rows} by {columns} have no diagonal {k}")
    position = np.arange(max(length, 0))
    return ..., position + max(-k, 0), position + max(k, 0)


@offered("linalg.diag_part", raises=(ValueError,), differs=_ONE)
def diag_part(
    input: _AnyMatrices, name: Any = None, k: K.Whole = 0, padding_value: Any = 0,
    align: Any = "RIGHT_LEFT",
) -> Native:  # fmt: skip
    """Return the k-th diagonal of matrices, for which the other arguments do not matter."""
    return input[_diagonal(k, input.shape[-2], input.shape[-1])]


@offered("linalg.diag", raises=(ValueError,), differs=_ONE)
def diag(
    diagonal: K.Input, name: Any = None, k: K.Whole = 0, num_rows: K.Whole = -1,
    num_cols: K.Whole = -1, padding_value: Any = 0, align: Any = "RIGHT_LEFT",
) -> Native:  # fmt: skip
    """Return matrices with a given k-th diagonal, and `padding_value` elsewhere."""
    if not diagonal.ndim:
        raise invalid("the diagonal is one number; expected a list of them")
    *batch, length = diagonal.shape
    least = length - min(k, 0), length + max(k, 0)
    if num_rows < 0 and num_cols < 0:
        num_rows = num_cols = max(least)
    rows = least[0] if num_rows < 0 else num_rows
    columns = least[1] if num_cols < 0 else num_cols
    if rows < least[0] or columns < least[1]:
        raise invalid(f"diagonals of length {length} do not fit in {rows} rows, {columns} columns")
    around = wrap(np.full((*batch, rows, columns), padding_value, diagonal.dtype))
    return _with_diagonal(around, diagonal, k)


def _with_diagonal(matrices: Native, diagonal: Native, k: int) -> Native:
    key = _diagonal(k, matrices.shape[-2], matrices.shape[-1])
    if diagonal.shape[-1] != len(key[1]):
        raise unfit(f"{len(key[1])} numbers", diagonal=diagonal, matrices=matrices)
    return matrices.at[key].set(diagonal)


@offered("linalg.set_diag", raises=(ValueError,), differs=_ONE)
def set_diag(
    input: K.Pair, diagonal: K.Pair, name: Any = None, k: K.Whole = 0, align: Any = "RIGHT_LEFT"
) -> Native:
    """Return matrices with the k-th diagonal replaced."""
    if input.ndim < 2 or not diagonal.ndim or diagonal.shape[:-1] != input.shape[:-2]:
        raise unfit("matrices, and diagonals of one batch", diagonal=diagonal, input=input)
    return _with_diagonal(input, diagonal, k)


@offered("linalg.tensor_diag")
def tensor_diag(diagonal: K.Input) -> Native:
    """Return a tensor that is zero unless its first indices are its last ones."""
    if not diagonal.ndim:
        raise invalid("the diagonal is one number; expected a list of them")
    flat = ns.reshape(diagonal, (-1,))
    square = ns.where(np.eye(flat.size, dtype=bool), flat, np.zeros((), flat.dtype))
    return ns.reshape(square, diagonal.shape + diagonal.shape)


@offered("linalg.tensor_diag_part")
def tensor_diag_part(input: K.Input) -> Native:
    """Return the elements whose first indices are their last ones."""
    half = input.ndim // 2
    shape = input.shape[:half]
    if not input.ndim or input.ndim % 2 or shape != input.shape[half:]:
        raise invalid(f"expected a shape whose two halves are equal, got {list(input.shape)}")
    size = int(np.prod(shape, dtype=int))
    return ns.reshape(ns.linalg.diagonal(ns.reshape(input, (size, size))), shape)


row(
    "linalg.trace", lambda x: native.trace(x, dtype=x.dtype), "the sum of the diagonal",
    x=_NumberMatrices,
)  # fmt: skip


@offered("linalg.cross")
def cross(a: _RealPair, b: _RealPair) -> Native:
    """Return the cross product of vectors of length 3."""
    if a.shape != b.shape:
        raise unfit("tensors of one shape", a=a, b=b)
    if not a.ndim or a.shape[-1] != 3:
        raise unfit("vectors of length 3", FailedPreconditionError, a=a, b=b)
    return native.cross(a, b)


# -- solving ------------------------------------------------------------------------------------


row(
    "linalg.cholesky", unguarded.cholesky_or_nan, "the lower triangular factor, or NaN",
    input=K.Square,
)  # fmt: skip
row(
    "linalg.cholesky_solve", lambda chol, rhs: native.cho_solve((chol, True), rhs),
    "the solution of A X = rhs, given the Cholesky factor of A", chol=_System, rhs=_System,
)  # fmt: skip
row("linalg.det", native.det, "the determinant", input=K.Square)
row("linalg.expm", native.expm, "the exponential of a matrix", input=K.Square)
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


@offered("linalg.slogdet")
def slogdet(input: K.Square) -> LogMatrixDeterminant:
    """Return the sign and the logarithm of the absolute value of the determinant."""
    sign, log = native.slogdet(input)
    return LogMatrixDeterminant(
        eager.outward(sign), eager.outward(ns.astype(log, sign.dtype, copy=False))
    )


@offered("linalg.logdet")
def logdet(matrix: K.Square) -> Native:
    """Return the logarithm of the determinant of a positive definite matrix."""
    diagonal = ns.linalg.diagonal(unguarded.cholesky_or_nan(matrix))
    real = ns.real(diagonal) if diagonal.dtype.kind == "c" else diagonal
    return 2.0 * ns.sum(ns.log(real), axis=-1)


@offered("linalg.inv")
def inv(input: K.Square, adjoint: bool = False) -> Native:
    """Return the inverse, or with `adjoint` that of the adjoint matrix."""
    return native.inv(adjoint_of(input) if adjoint else input)


@offered("linalg.solve")
def solve(matrix: _System, rhs: _System, adjoint: bool = False) -> Native:
    """Return the solution of a system of equations."""
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise unfit("one batch", matrix=matrix, rhs=rhs)
    return native.solve(adjoint_of(matrix) if adjoint else matrix, rhs)


@offered("linalg.triangular_solve", differs="a singular matrix raises InvalidArgumentError")
def triangular_solve(
    matrix: _System, rhs: _System, lower: bool = True, adjoint: bool = False
) -> Native:
    """Return the solution of a triangular system of equations."""
    if adjoint:
        return native.solve_triangular(adjoint_of(matrix), rhs, lower=not lower)
    return native.solve_triangular(matrix, rhs, lower=lower)


@offered("linalg.lstsq")
def lstsq(
    matrix: _AnySystem, rhs: _AnySystem, l2_regularizer: Any = 0.0, fast: bool = True
) -> Native:
    """Return the least-squares solution, of least norm where there are many.

    `l2_regularizer` is the weight of the squared norm of the solution.
    """
    regularizer = eager.convert(l2_regularizer)
    weight = float(np.asarray(regularizer._raw))
    if not weight and not fast:
        return ns.matmul(native.pinv(matrix), rhs)
    tall, flipped = matrix.shape[-2] >= matrix.shape[-1], adjoint_of(matrix)
    gram = ns.matmul(flipped, matrix) if tall else ns.matmul(matrix, flipped)
    if weight or eager.is_tensor(l2_regularizer):  # of a tensor, there may be a derivative at 0 too
        one = np.eye(gram.shape[-1], dtype=gram.dtype)
        gram = gram + ns.astype(regularizer, gram.dtype) * one
    found = native.cho_solve(
        (unguarded.cholesky_or_nan(gram), True), ns.matmul(flipped, rhs) if tall else rhs
    )
    return found if tall else ns.matmul(flipped, found)


@offered("linalg.pinv")
def pinv(a: K.Matrices, rcond: K.Array | None = None, validate_args: bool = False) -> Native:
    """Return the pseudo-inverse."""
    usual = 10.0 * max(a.shape[-2:]) * backends.finfo(a.dtype).eps
    return native.pinv(a, rtol=float(usual if rcond is None else rcond))


@offered("linalg.matrix_rank")
def matrix_rank(a: K.Matrices, tol: K.Array | None = None, validate_args: bool = False) -> Native:
    """Return how many singular values are more than `tol`."""
    values = np.linalg.svd(np.asarray(a._raw), compute_uv=False)
    if tol is None:
        tol = backends.finfo(a.dtype).eps * max(a.shape[-2:]) * values.max(axis=-1, initial=0.0)
    return wrap(np.asarray((values > np.asarray(tol)[..., None]).sum(axis=-1)).astype(np.int32))


row(
    "linalg.sqrtm matrix_square_root", lambda x: ns.astype(native.sqrtm(x), x.dtype, copy=False),
    "the square root of a matrix", input=K.Square,
)  # fmt: skip


@offered("linalg.logm")
def logm(input: _ComplexSquare) -> Native:
    """Return the logarithm of a matrix of complex numbers."""
    return without_rule("linalg.logm", complex_logm(input), [input]) if input.size else input


# -- decompositions -----------------------------------------------------------------------------


def _eigh(x: Native) -> tuple[Native, Native]:
    values, vectors = native.eigh(from_triangle(x, "eigh", upper=False))
    return ns.astype(values, x.dtype, copy=False), vectors


def _eigvalsh(x: Native) -> Native:
    return ns.astype(native.eigvalsh(from_triangle(x, "eigh", upper=False)), x.dtype, copy=False)


def _complex(function: Any) -> Any:
    """Return a function of matrices with results that are complex, in their precision."""

    def call(x: Native) -> Any:
        to = np.complex64 if x.dtype in (np.float32, np.complex64) else np.complex128
        found = function(x)
        if type(found) is Native:
            return ns.astype(found, to, copy=False)
        return tuple(ns.astype(part, to, copy=False) for part in found)

    return call


row("linalg.eigh", _eigh, "eigenvalues, ascending, and eigenvectors", tuple, tensor=K.Square)
row("linalg.eigvalsh", _eigvalsh, "the eigenvalues of a Hermitian matrix", tensor=K.Square)
row("linalg.eig eig", _complex(native.eig), "eigenvalues and eigenvectors", tuple, tensor=K.Square)
row("linalg.eigvals eigvals", _complex(native.eigvals), "the eigenvalues", tensor=K.Square)


@offered("linalg.svd")
def svd(tensor: K.Matrices, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Return the singular values s, and u and v with tensor = u diag(s) v^H."""
    if not compute_uv:
        return native.svdvals(tensor)
    u, s, vh = native.svd(tensor, full_matrices=full_matrices)
    return s, u, adjoint_of(vh)


Qr = namedtuple("Qr", ["q", "r"])
Lu = namedtuple("Lu", ["lu", "p"])


@offered("linalg.qr")
def qr(input: K.Matrices, full_matrices: bool = False) -> Qr:
    """Return q, with orthonormal columns, and the upper triangular r."""
    return Qr(
        *map(eager.outward, native.qr(input, mode="complete" if full_matrices else "reduced"))
    )


@offered("linalg.lu", differs="has a gradient")
def lu(input: K.Square, output_idx_type: K.Dtype = dtypes.int32) -> Lu:
    """Return the factors L, without its ones, and U in one matrix, and the order of the rows."""
    factors, _, order, bad = unguarded.lu_factors(input)
    if bad._raw.any():
        raise invalid("the matrix has no inverse")
    return Lu(eager.outward(factors), eager.outward(ns.astype(order, output_idx_type)))


# -- norms --------------------------------------------------------------------------------------


def _axes_of_norm(axis: Any, x: Native) -> tuple[Any, bool]:
    """Return axes as a number or a tuple, and whether they are those of matrices."""
    given = tuple(range(x.ndim)) if axis is None else eager.static(axis)
    if not isinstance(given, list):
        return given, False
    if len(given) != 2 or not all(isinstance(a, int) for a in given) or given[0] == given[1]:
        raise value_error(f"axis is {axis!r}; expected None, one axis, or two that differ")
    return tuple(given), True


def _check_order(ord: Any, of_matrix: bool) -> None:
    """Raise unless there is a norm of this order."""
    if of_matrix:
        known = ord in ("euclidean", "fro", 1, 2, np.inf)
    else:
        known = ord == "euclidean" if isinstance(ord, str) else ord > 0
    if not known:
        instead = "'fro', 1, 2 or np.inf" if of_matrix else "a number above 0"
        raise value_error(f"ord is {ord!r}; expected 'euclidean' or {instead}")


def _norm(tensor: Native, ord: Any, where: Any, of_matrix: bool) -> Native:
    """Return the norm, with the axes kept."""
    _check_order(ord, of_matrix)
    if of_matrix and ord == 2:
        return _spectral(tensor, where)
    if ord in ("euclidean", "fro", 2):
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
    positions = [a % tensor.ndim for a in axes]
    moved = ns.moveaxis(tensor, positions, (-2, -1))
    largest = ns.max(native.svdvals(moved), axis=-1)
    return ns.expand_dims(largest, axis=tuple(sorted(positions)))


@offered("linalg.norm", "norm")
def norm(
    tensor: K.Inexact, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None
) -> Native:
    """Return the norm of vectors, of matrices or of everything; its derivative at 0 is NaN."""
    where, of_matrix = _axes_of_norm(axis, tensor)
    found = _norm(tensor, ord, where, of_matrix)
    return found if keepdims or where == () else ns.squeeze(found, axis=where)


@offered("linalg.normalize")
def normalize(tensor: K.Inexact, ord: Any = "euclidean", axis: Any = None) -> tuple[Native, Native]:
    """Return a tensor over its norm, and the norm with its axes kept."""
    size = _norm(tensor, ord, *_axes_of_norm(axis, tensor))
    return tensor / ns.astype(size, tensor.dtype, copy=False), size
