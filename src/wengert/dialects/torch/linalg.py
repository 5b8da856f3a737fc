"""torch.linalg: norms, products, equations; and the older names of the same."""

from __future__ import annotations

import functools
import math
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import check_same, kind_of, misfit, type_name
from wengert.dialects.torch.products import check_factors, crossed
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import NAMES, LinAlgError, offered, offered_as, plain, put
from wengert.dialects.torch.tensors import Native, astype, ns, wrap_native
from wengert.ops import linalg as native
from wengert.ops import reductions
from wengert.ops.batching import constant
from wengert.ops.linalg import singular, unguarded
from wengert.ops.linalg.unguarded import singular_values

put(("linalg.LinAlgError", "_C._LinAlgError"), LinAlgError)


# -- what all of them need ---------------------------------------------------------------------


def check_matrices(
    x: Native, name: str, square: bool = False, half: type[Exception] = RuntimeError,
    whole: type[Exception] = RuntimeError,
) -> Native:  # fmt: skip
    """Return a tensor of matrices with fractions; raise `whole` for others, `half` for float16."""
    if kind_of(x) not in "fc":
        raise whole(f"{name}: got a {type_name(x)}, without fractions; write x.float()")
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise misfit(name, f"{'square ' * square}matrices, or a batch", input=x)
    if backends.is_narrow(x._raw.dtype):
        raise half(f"{name}: {x._raw.dtype} is too coarse for this; write x.float()")
    return x


def matrices(*requirements: Any) -> Kind:
    """Return the kind of tensors that are matrices; see `check_matrices`."""

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        return check_matrices(K.read_tensor(value, at), at.function, *requirements)

    return Kind(read, tensor=True)


Tolerance = K.TensorOrNumber
Matrices = Annotated[Native, matrices()]
Square = Annotated[Native, matrices(True)]
#: Matrices of which PyTorch's library has no half precision; nor whole numbers.
Factored = Annotated[Native, matrices(False, NotImplementedError)]
SquareFactored = Annotated[Native, matrices(True, NotImplementedError)]
Reflections = Annotated[Native, matrices(False, NotImplementedError, NotImplementedError)]
Triangles = Annotated[Native, matrices(True, NotImplementedError, NotImplementedError)]


def whole_numbers(x: Native) -> Native:
    """Return numbers of errors as PyTorch has them."""
    return astype(constant(x), np.dtype(np.int32))


#: What is wrong with a matrix that has no inverse.
SINGULAR = "the matrix is singular: pivot {} is 0; use torch.linalg.lstsq or pinv"


def check_info(
    check: bool, info: Native, message: str, error: type[Exception] = LinAlgError
) -> None:
    """Raise an error with the first number that is not 0, where errors are asked for."""
    raw = info._raw
    wrong = raw[raw != 0] if type(raw) is np.ndarray else np.zeros(0)
    if check and wrong.size:
        raise error(message.format(int(wrong[0])))


# -- condition and rank -------------------------------------------------------------------------


@offered("linalg.matrix_rank", method=False)
def matrix_rank(
    input: Matrices, tol: Tolerance | None = None, hermitian: K.Bool = False,
    *, atol: Tolerance | None = None, rtol: Tolerance | None = None,
) -> Native:  # fmt: skip
    """Return how many singular values exceed a tolerance: `atol`, or `rtol` times the largest."""
    if tol is not None:
        atol, rtol = tol, 0.0
    return singular.rank(input, hermitian, atol, rtol)


# -- products ----------------------------------------------------------------------------------

put(("linalg.matmul",), offered_as("matmul"))


@plain("linalg.diagonal")
def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of matrices, as a view."""
    return NAMES["diagonal"](A, offset, dim1, dim2)


@offered("linalg.vecdot", method=False, label="SumBackward1")
def vecdot(x: K.Inexact, y: K.Input, *, dim: Any = -1) -> Native:
    """Return the sums of products along an axis, the first factors conjugated."""
    check_same(x, y, name="linalg.vecdot")
    product = ns.multiply(ns.conj(x) if kind_of(x) == "c" else x, y)
    axes = K.READERS.named_axes(dim, Argument("linalg.vecdot", "dim"), product)
    return reductions.sum_over(product, axis=axes, keepdims=False)


@offered("linalg.cross", method=False, label="LinalgCrossBackward0")
def linalg_cross(input: K.Input, other: K.Input, *, dim: K.Axis = -1) -> Native:
    """Return the cross products of vectors of three elements along an axis."""
    if not input.ndim:
        raise IndexError("linalg.cross: a single number has no axis; give vectors")
    return crossed(input, other, dim)


@offered("linalg.multi_dot", method=False, label="ViewBackward0")
def multi_dot(tensors: K.TensorList) -> Native:
    """Return the product of matrices, in the order that takes the fewest steps."""
    count = len(tensors)
    axes = [(1, 2) if k in (0, count - 1) else (2,) for k in range(count)]
    if count < 2 or any(x.ndim not in n for x, n in zip(tensors, axes, strict=True)):
        raise RuntimeError("multi_dot(): give two matrices or more; the ends may be vectors")
    check_factors(*tensors, name="multi_dot")
    return native.multi_dot(tensors)


@offered("linalg.matrix_power", "matrix_power", label="MmBackward0")
def matrix_power(input: K.Input, n: K.Int) -> Native:
    """Return the product of matrices with themselves, n times; of their inverses if n < 0."""
    x = input
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: got shape {list(x.shape)}; give square matrices")
    if n == 0:
        none = wrap_native(np.zeros(x.shape, bool))
        return ns.where(none, x, wrap_native(np.eye(x.shape[-1], dtype=x._raw.dtype)))
    if n == 1:
        return ns.positive(x) if kind_of(x) != "b" else x
    if n < 0:
        x = native.inv(check_matrices(x, "linalg.inv"))
    elif kind_of(x) == "b":
        raise NotImplementedError("matrix_power() of booleans; write x.int()")
    return native.matrix_power(x, abs(n))


@offered("linalg.matrix_exp", "matrix_exp", label="LinalgMatrixExpBackward0")
def matrix_exp(input: Square) -> Native:
    """Return the exponentials of square matrices."""
    return native.expm(input)


# -- determinants and inverses -----------------------------------------------------------------

Slogdet = results("linalg_slogdet", "sign", "logabsdet")
OldSlogdet = results("slogdet", "sign", "logabsdet")
_COFACTORS = "the derivative at a singular matrix is its cofactors, where PyTorch has zeros"


@offered("linalg.det", "det", method="det", label="LinalgDetBackward0", differs=_COFACTORS)
def det(A: SquareFactored) -> Native:
    """Return the determinants of square matrices."""
    return native.det(A)


@offered("linalg.slogdet", method=False, label="LinalgSlogdetBackward0")
def linalg_slogdet(A: Square) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    return Slogdet(*unguarded.slogdet(A))


@offered("slogdet", label="LinalgSlogdetBackward0")
def slogdet(input: Square) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    return OldSlogdet(*unguarded.slogdet(input))


@offered("logdet", label="WhereBackward0")
def logdet(input: Square) -> Native:
    """Return the logarithm of the determinant; NaN where that is negative."""
    sign, size = unguarded.slogdet(input)
    if kind_of(sign) == "c":
        return size + ns.log(sign)
    not_a_number = wrap_native(np.array(math.nan, size._raw.dtype))
    return ns.where(ns.equal(constant(sign), -1), not_a_number, size)


@offered("linalg.inv", "inverse", method="inverse", label="LinalgInvExBackward0")
def inv(A: Square) -> Native:
    """Return the inverses of square matrices."""
    return native.inv(A)


@offered(
    "linalg.pinv",
    method=False,
    label="LinalgPinvBackward0",
    differs="with hermitian=True, derivatives are those of a Hermitian matrix, where PyTorch's "
    "of one that is not mix it with its lower triangle",
)
def linalg_pinv(
    input: Matrices, rcond: Tolerance | None = None, hermitian: K.Bool = False,
    *, atol: Tolerance | None = None, rtol: Tolerance | None = None,
) -> Native:  # fmt: skip
    """Return the pseudo-inverses of matrices; small singular values are taken for zero."""
    return singular.pinv(input, hermitian, atol, rtol if rcond is None else rcond)


@offered("pinverse", label="LinalgPinvBackward0")
def pinverse(input: Matrices, rcond: Tolerance = 1e-15) -> Native:
    """Return the pseudo-inverses of matrices."""
    return singular.pinv(input, rtol=rcond)


# -- equations ---------------------------------------------------------------------------------


def check_system(a: Native, b: Native, name: str, left: bool = True) -> None:
    """Raise unless matrices b have the dtype of square ones and fit to them."""
    check_same(a, b, name=name)
    if b.ndim < 2 or a.shape[-1] != b.shape[-2 if left else -1]:
        raise misfit(name, "matrices, or a batch, with as many rows", A=a, B=b)


def _system(a: Native, b: Native, left: bool, name: str) -> tuple[Native, bool]:
    """Return right-hand sides as matrices, and whether they were vectors."""
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    b = ns.expand_dims(b, axis=-1) if vector else b
    check_system(a, b, name, left)
    return b, vector


@offered("linalg.solve", method=False, label="LinalgSolveExBackward0")
def solve(A: SquareFactored, B: K.Input, *, left: K.Bool = True) -> Native:
    """Return X of A @ X = B, or of X @ A = B, for square matrices A."""
    b, vector = _system(A, B, left, "linalg.solve")
    x = singular.turned(native.solve, A, b, left)
    return ns.squeeze(x, axis=-1) if vector else x


@offered("linalg.solve_triangular", method=False, label="LinalgSolveTriangularBackward0")
def solve_triangular(
    input: Triangles, B: K.Input, *, upper: K.Bool, left: K.Bool = True,
    unitriangular: K.Bool = False,
) -> Native:  # fmt: skip
    """Return X of A @ X = B, or of X @ A = B, reading one triangle of A."""
    check_system(input, B, "linalg.solve_triangular", left)
    solve = functools.partial(singular.triangular, upper=upper is left, unit=unitriangular)
    return singular.turned(solve, input, B, left)


TriangularSolve = results("triangular_solve", "solution", "cloned_coefficient")


@offered(
    "triangular_solve",
    differs="tangents are of the triangle that is read, where PyTorch's forward mode takes all of "
    "a tangent, and does not transpose it",
)
def triangular_solve(
    input: K.Input, A: Triangles, upper: K.Bool = True, transpose: K.Bool = False,
    unitriangular: K.Bool = False,
) -> Any:  # fmt: skip
    """Return X of A @ X = input, reading one triangle of A, and a copy of A."""
    check_system(A, input, "torch.triangular_solve")
    turned = ns.matrix_transpose(A) if transpose else A
    x = singular.triangular(turned, input, upper != transpose, unitriangular)
    return TriangularSolve(x, ns.positive(A))


Lstsq = results("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
Driver = Annotated[str, Kind(K.READERS.one_of("gels", "gelsy", "gelsd", "gelss"))]


@offered("linalg.lstsq", method=False, label="LinalgLstsqBackward0")
def lstsq(
    input: Matrices, b: K.Input, rcond: Tolerance | None = None, *, driver: Driver | None = None
) -> Any:
    """Return the X of least |A @ X - B|, what is left of it, the rank, and singular values.

    What is returned of the last three depends on the `driver`, as in PyTorch.
    """
    a, right, driver = input, b, driver or "gelsy"
    check_same(a, right, name="torch.linalg.lstsq")
    vector = right.ndim == a.ndim - 1 and right.shape == a.shape[:-1]
    right = ns.expand_dims(right, axis=-1) if vector else right
    if right.ndim != a.ndim or right.shape[:-1] != a.shape[:-1]:
        raise misfit("linalg.lstsq", "as many rows and batches", input=a, b=right)
    rows, columns = a.shape[-2:]
    values = singular_values(constant(a))
    rank = singular.rank(a, rtol=rcond)
    x = ns.matmul(singular.pinv(a, rtol=rcond), right)
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
