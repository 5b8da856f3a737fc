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
from wengert.ops.linalg import products, unguarded
from wengert.ops.linalg.functions import complex_logm

absent(
    {
        "eigh_tridiagonal": "tf.linalg.eigh(matrix), of the matrix in full",
        "banded_triangular_solve": "tf.linalg.triangular_solve(matrix, rhs), in full",
    },
    "linalg.",
)
_NEEDS_ALL = "the matrix is made in full: time and memory are of that"

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


def _band(k: Any) -> tuple[int, int, bool]:
    """Return the lowest and the highest of some diagonals, and whether a single one was given."""
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    if low > high:
        raise invalid(f"k is ({low}, {high}); expected the lower diagonal first")
    return low, high, low == high


_Align = Annotated[str, K.one_of("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")]


def _layout(
    rows: int, columns: int, low: int, high: int, align: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row and column of each element of diagonals laid out as lines, and if it exists."""
    offsets = np.arange(high, low - 1, -1)
    lengths = np.minimum(rows + np.minimum(offsets, 0), columns - np.maximum(offsets, 0))
    if rows and columns and (lengths <= 0).any():
        raise invalid(f"diagonals {low} to {high} are not in matrices of {rows} by {columns}")
    most = int(lengths.max(initial=0))
    above, below = align.split("_")
    to_right = np.where(offsets > 0, above == "RIGHT", below == "RIGHT") & (offsets != 0)
    position = np.arange(most) - np.where(to_right, most - lengths, 0)[:, None]
    exists = (position >= 0) & (position < lengths[:, None])
    position = np.where(exists, position, 0)
    down, right = np.maximum(-offsets, 0)[:, None], np.maximum(offsets, 0)[:, None]
    return position + down, position + right, exists


@offered("linalg.diag_part", raises=(ValueError,))
def diag_part(
    input: _AnyMatrices, name: Any = None, k: K.Integers = 0, padding_value: Any = 0,
    align: _Align = "RIGHT_LEFT",
) -> Native:  # fmt: skip
    """Return the k-th diagonal of matrices, or those from k[0] to k[1] as lines."""
    low, high, single = _band(k)
    rows, columns, exists = _layout(input.shape[-2], input.shape[-1], low, high, align)
    lines = input[(..., rows, columns)]
    if not exists.all():
        lines = ns.where(exists, lines, np.asarray(padding_value, input.dtype))
    return lines[..., 0, :] if single else lines


def _from_lines(
    diagonal: Native, k: Any, shape: tuple[int, int], align: str
) -> tuple[Native, np.ndarray]:
    """Return matrices with lines of numbers on their diagonals, and where those are."""
    low, high, single = _band(k)
    rows, columns, exists = _layout(*shape, low, high, align)
    line, position = np.nonzero(exists)
    where = rows[exists], columns[exists]
    lines = ns.expand_dims(diagonal, axis=-2) if single else diagonal
    if lines.shape[-2:] != exists.shape:
        raise unfit(f"{list(exists.shape)} last", diagonal=diagonal, matrices=shape)
    taken = np.zeros((2, *shape), np.intp)
    taken[(0, *where)], taken[(1, *where)] = line, position
    inside = np.zeros(shape, bool)
    inside[where] = True
    return lines[(..., taken[0], taken[1])], inside


@offered("linalg.diag", raises=(ValueError,))
def diag(
    diagonal: K.Input, name: Any = None, k: K.Integers = 0, num_rows: K.Whole = -1,
    num_cols: K.Whole = -1, padding_value: Any = 0, align: _Align = "RIGHT_LEFT",
) -> Native:  # fmt: skip
    """Return matrices with given diagonals, and `padding_value` elsewhere."""
    if not diagonal.ndim:
        raise invalid("the diagonal is one number; expected a list of them")
    low, high, _ = _band(k)
    length = diagonal.shape[-1]
    least = length - min(high, 0), length + max(low, 0)
    if num_rows < 0 and num_cols < 0:
        num_rows = num_cols = max(least)
    rows = least[0] if num_rows < 0 else num_rows
    columns = least[1] if num_cols < 0 else num_cols
    if rows < least[0] or columns < least[1]:
        raise invalid(f"diagonals of length {length} do not fit in {rows} rows, {columns} columns")
    inside: Any
    found, inside = _from_lines(diagonal, k, (rows, columns), align)
    return ns.where(inside, found, np.asarray(padding_value, diagonal.dtype))


@offered("linalg.set_diag", raises=(ValueError,))
def set_diag(
    input: K.Pair, diagonal: K.Pair, name: Any = None, k: K.Integers = 0,
    align: _Align = "RIGHT_LEFT",
) -> Native:  # fmt: skip
    """Return matrices with diagonals replaced."""
    lead = diagonal.ndim - (1 if _band(k)[2] else 2)
    fits = input.ndim > 1 and diagonal.ndim and diagonal.shape[: max(lead, 0)] == input.shape[:-2]
    if not fits:
        raise unfit("matrices, and diagonals of one batch", diagonal=diagonal, input=input)
    found, inside = _from_lines(diagonal, k, (input.shape[-2], input.shape[-1]), align)
    return ns.where(inside, found, input)


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
    values, vectors = native.eigh(_from_lower(x))
    return ns.astype(values, x.dtype, copy=False), vectors


def _from_lower(x: Native) -> Native:
    """Return the Hermitian matrix that has the lower triangle of x: nothing else is read."""
    lower = ns.tril(x, k=-1)
    diagonal = ns.where(np.eye(x.shape[-1], dtype=bool), x, np.zeros((), x.dtype))
    if x.dtype.kind == "c":
        diagonal = ns.astype(ns.real(diagonal), x.dtype)
    return lower + diagonal + adjoint_of(lower)


def _eigvalsh(x: Native) -> Native:
    return ns.astype(native.eigvalsh(_from_lower(x)), x.dtype, copy=False)


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


def _in_order(x: Native, order: np.ndarray) -> Native:
    """Return the rows of matrices in an order."""
    return ns.take_along_axis(x, np.broadcast_to(order[..., None], x.shape), axis=-2)


@offered("linalg.lu_solve")
def lu_solve(
    lower_upper: _System, perm: K.Array, rhs: _System, validate_args: bool = False
) -> Native:
    """Return the solution of a system, given the result of `tf.linalg.lu`."""
    batch = np.broadcast_shapes(perm.shape[:-1], rhs.shape[:-2])
    rows = _in_order(ns.broadcast_to(rhs, (*batch, perm.shape[-1], rhs.shape[-1])), perm)
    lower, upper = unguarded.lower_upper(lower_upper)
    half = native.solve_triangular(lower, rows, lower=True)
    return native.solve_triangular(upper, half, lower=False)


@offered("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper: K.Square, perm: Any, validate_args: bool = False) -> Native:
    """Return the inverse, given the result of `tf.linalg.lu`."""
    eye = np.eye(lower_upper.shape[-1], dtype=lower_upper.dtype)
    found: Any = lu_solve(lower_upper, perm, np.broadcast_to(eye, lower_upper.shape))
    return eager.convert(found)


@offered("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper: K.Square, perm: K.Array, validate_args: bool = False) -> Native:
    """Return the matrix, given the result of `tf.linalg.lu`."""
    product = ns.matmul(*unguarded.lower_upper(lower_upper))
    return _in_order(product, np.argsort(perm, axis=-1))


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


# -- tridiagonal matrices -------------------------------------------------------------------------

_Layout = Annotated[str, K.one_of("compact", "matrix", "sequence")]


def _ends(line: Native, before: int, after: int) -> Native:
    """Return lines with zeros at their ends."""
    return ns.pad(line, [(0, 0)] * (line.ndim - 1) + [(before, after)])


def _three(diagonals: Any, layout: str) -> tuple[Native, Native, Native]:
    """Return the diagonal above, the main one and the one below, all of one length.

    Of the first the last element is not used, of the last the first one.
    """
    if layout == "sequence":
        above, main, below = (eager.convert(d) for d in diagonals)
        above = above if above.shape == main.shape else _ends(above, 0, 1)
        return above, main, below if below.shape == main.shape else _ends(below, 1, 0)
    x = eager.convert(diagonals)
    if layout == "matrix":
        above, main, below = (ns.linalg.diagonal(x, offset=k) for k in (1, 0, -1))
        return _ends(above, 0, 1), main, _ends(below, 1, 0)
    if x.ndim < 2 or x.shape[-2] != 3:
        raise value_error(f"diagonals of shape {x.shape}; expected 3 lines")
    return x[..., 0, :], x[..., 1, :], x[..., 2, :]


@offered("linalg.tridiagonal_solve", differs=_NEEDS_ALL)
def tridiagonal_solve(
    diagonals: Any, rhs: Any, diagonals_format: _Layout = "compact", transpose_rhs: bool = False,
    conjugate_rhs: bool = False, name: Any = None, partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Native:  # fmt: skip
    """Return the solution of a system whose matrix has three diagonals."""
    matrix = products.tridiagonal(*_three(diagonals, diagonals_format))
    right = eager.convert(rhs, None, matrix.dtype)
    eager.check_dtypes("TridiagonalSolve", matrix, right)
    right = ns.conj(right) if conjugate_rhs else right
    if right.ndim == matrix.ndim - 1:
        return ns.squeeze(native.solve(matrix, ns.expand_dims(right, axis=-1)), axis=-1)
    return native.solve(matrix, ns.matrix_transpose(right) if transpose_rhs else right)


@offered("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: _Layout = "compact") -> Native:
    """Return the product of a matrix of three diagonals with matrices."""
    lines = _three(diagonals, diagonals_format)
    right = eager.convert(rhs, None, lines[1].dtype)
    eager.check_dtypes("TridiagonalMatMul", lines[1], right)
    if right.ndim < 2 or right.shape[-2] != lines[1].shape[-1]:
        raise unfit(f"matrices of {lines[1].shape[-1]} rows", rhs=right)
    return products.tridiagonal_matmul(*lines, right)
