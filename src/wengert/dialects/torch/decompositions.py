"""torch.linalg: decompositions, what is made of their factors, and older names of the same."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.torch.axes import labelled, misfit
from wengert.dialects.torch.kinds import READERS, Bool, Input
from wengert.dialects.torch.linalg import (
    SINGULAR,
    Factored,
    Reflections,
    SquareFactored,
    Triangles,
    check_info,
    check_system,
    whole_numbers,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, ns, outward, wrap_native
from wengert.ops.batching import all_values, constant
from wengert.ops.contractions import adjoint
from wengert.ops.linalg import singular, unguarded
from wengert.ops.linalg.unguarded import lower_upper, singular_values

_SIGNS = "the signs of vectors, which are arbitrary, may be others than with PyTorch's LAPACK"


# -- Cholesky ----------------------------------------------------------------------------------

_CHANGES = (
    "derivatives are those for Hermitian changes of the matrix, with a real diagonal of the factor"
)
CholeskyEx = results("linalg_cholesky_ex", "L", "info")
_INDEFINITE = (
    "the matrix is not positive-definite: its first {} rows and columns already fail; add a small "
    "multiple of the identity, or check how it was computed"
)


@offered("linalg.cholesky", method=False, label="LinalgCholeskyExBackward0", differs=_CHANGES)
def linalg_cholesky(input: SquareFactored, *, upper: Bool = False) -> Native:
    """Return the lower triangular L of L @ L^H = A, or the upper triangular L^H."""
    factor, info = singular.cholesky(input, upper)
    check_info(True, info, _INDEFINITE)
    return factor


@offered("cholesky", differs=_CHANGES)
def cholesky(input: Triangles, upper: Bool = False) -> Native:
    """Return the lower triangular L of L @ L^H = A, or the upper triangular L^H."""
    factor, info = singular.cholesky(input, upper)
    check_info(True, info, _INDEFINITE)
    return factor


@offered("linalg.cholesky_ex", method=False, label="LinalgCholeskyExBackward0", differs=_CHANGES)
def cholesky_ex(input: SquareFactored, *, upper: Bool = False, check_errors: Bool = False) -> Any:
    """Return factors, and the order of the first bad leading minor in place of an error."""
    factor, info = singular.cholesky(input, upper)
    check_info(check_errors, info, _INDEFINITE)
    return CholeskyEx(factor, whole_numbers(info))


_TRIANGLES = (
    "of a matrix that is not triangular, derivatives are those of the triangle that is read, where "
    "PyTorch's are wrong"
)


@offered("cholesky_solve", differs=_TRIANGLES)
def cholesky_solve(input: Input, input2: Triangles, upper: Bool = False) -> Native:
    """Return X of A @ X = input, given a factor of Cholesky of A."""
    check_system(input2, input, "cholesky_solve")
    return singular.by_cholesky(input2, input, upper)


@offered("cholesky_inverse", differs=f"{_TRIANGLES}, and so are its tangents of any factor")
def cholesky_inverse(input: Triangles, upper: Bool = False) -> Native:
    """Return the inverse of A, given a factor of Cholesky of it."""
    eye = wrap_native(np.eye(input.shape[-1], dtype=input._raw.dtype))
    return singular.by_cholesky(input, eye, upper)


# -- eigenvalues -------------------------------------------------------------------------------

Eigh = results("linalg_eigh", "eigenvalues", "eigenvectors")
Eig = results("linalg_eig", "eigenvalues", "eigenvectors")


def _read_triangle(value: Any, at: Any, x: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{at} is a {type(value).__name__}; give 'L' or 'U'")
    letter: str = READERS.one_of("L", "U")(value.upper(), at)
    return letter


Triangle = Annotated[str, Kind(_read_triangle)]


@offered("linalg.eigh", method=False, label="LinalgEighBackward0", differs=_SIGNS)
def eigh(input: Triangles, UPLO: Triangle = "L") -> Any:
    """Return eigenvalues, in ascending order, and eigenvectors of Hermitian matrices."""
    return Eigh(*unguarded.eigh(input, triangle=UPLO))


@offered("linalg.eigvalsh", method=False, label="LinalgEighBackward0")
def eigvalsh(input: Triangles, UPLO: Triangle = "L") -> Native:
    """Return the eigenvalues of Hermitian matrices, in ascending order."""
    return unguarded.eigh(input, triangle=UPLO)[0]


def _eig(x: Native) -> tuple[Native, Native]:
    if not np.isfinite(all_values(x._raw)).all():
        raise RuntimeError(
            "eig(): the matrix holds infinities or NaNs; look for where they come from with "
            "torch.isfinite(x)"
        )
    return unguarded.eig(x)


@offered("linalg.eig", method=False, label="LinalgEigBackward0", differs=_SIGNS)
def eig(input: SquareFactored) -> Any:
    """Return eigenvalues and eigenvectors of square matrices, as complex numbers."""
    return Eig(*_eig(input))


@offered("linalg.eigvals", method=False, label="LinalgEigBackward0")
def eigvals(input: SquareFactored) -> Native:
    """Return the eigenvalues of square matrices, as complex numbers."""
    return _eig(input)[0]


# -- singular values ---------------------------------------------------------------------------

Svd = results("linalg_svd", "U", "S", "Vh")
OldSvd = results("svd", "U", "S", "V")


def _refuse_driver(value: Any, at: Any, x: Any) -> None:
    raise RuntimeError(f"{at} chooses a routine for GPUs, and this runs on the CPU; leave it out")


Driver = Annotated[Any, Kind(_refuse_driver, "{0} is None")]


@offered("linalg.svd", method=False, label="LinalgSvdBackward0", differs=_SIGNS)
def linalg_svd(A: Factored, full_matrices: Bool = True, *, driver: Driver = None) -> Any:
    """Return U, S and Vh of A = U @ diag(S) @ Vh, with S in descending order."""
    return Svd(*unguarded.svd(A, full_matrices=full_matrices))


@offered("linalg.svdvals", method=False, label="LinalgSvdBackward0")
def svdvals(A: Factored, *, driver: Driver = None) -> Native:
    """Return the singular values of matrices, in descending order."""
    return singular_values(A)


@offered("svd", label="LinalgSvdBackward0", differs=_SIGNS)
def svd(input: Factored, some: Bool = True, compute_uv: Bool = True) -> Any:
    """Return U, S and V of A = U @ diag(S) @ V^H; zeros for U and V if they are not asked for."""
    if not compute_uv:
        shapes = [(*input.shape[:-2], n, n) for n in input.shape[-2:]]
        u, v = (wrap_native(np.zeros(shape, input._raw.dtype)) for shape in shapes)
        return OldSvd(u, singular_values(input), v)
    u, s, vh = unguarded.svd(input, full_matrices=not some)
    return OldSvd(u, s, labelled(adjoint(ns, vh), "TransposeBackward0"))


# -- QR ----------------------------------------------------------------------------------------

Qr, OldQr = results("linalg_qr", "Q", "R"), results("qr", "Q", "R")
QrMode = Annotated[str, Kind(READERS.one_of("reduced", "complete", "r"))]


@offered("linalg.qr", method=False, label="LinalgQrBackward0")
def linalg_qr(A: Factored, mode: QrMode = "reduced") -> Any:
    """Return Q and R of A = Q @ R, with orthonormal columns of Q and upper triangular R."""
    return Qr(*unguarded.qr(A, mode=mode))


@offered("qr", label="LinalgQrBackward0")
def qr(input: Factored, some: Bool = True) -> Any:
    """Return Q and R of A = Q @ R, with orthonormal columns of Q and upper triangular R."""
    return OldQr(*unguarded.qr(input, mode="reduced" if some else "complete"))


# -- LU ----------------------------------------------------------------------------------------

Lu = results("linalg_lu", "P", "L", "U")
LuFactor = results("linalg_lu_factor", "LU", "pivots")
LuUnpack = results("lu_unpack", "P", "L", "U")


def _read_pivot(value: Any, at: Any, x: Any) -> bool:
    if not READERS.truth(value, at):
        raise RuntimeError(f"{at} is False; on a CPU rows are always pivoted, so leave it away")
    return True


Pivot = Annotated[bool, Kind(_read_pivot)]


@offered("linalg.lu", method=False, label="LinalgLuBackward0")
def linalg_lu(A: Reflections, *, pivot: Pivot = True) -> Any:
    """Return a permutation P, L with ones on its diagonal, and U of A = P @ L @ U."""
    factors, _, order, _ = unguarded.lu_factors(A)
    return Lu(singular.permutation(order, factors._raw.dtype), *lower_upper(factors))


@offered("linalg.lu_factor", method=False, label="LinalgLuFactorExBackward0")
def lu_factor(A: Reflections, *, pivot: Pivot = True) -> Any:
    """Return L and U in one matrix, and pivots, for `lu_solve`."""
    factors, pivots, _, info = unguarded.lu_factors(A)
    check_info(True, info, SINGULAR, RuntimeError)
    return LuFactor(factors, whole_numbers(pivots))


@offered("lu", label="LinalgLuFactorExBackward0")
def lu(input: Reflections, pivot: Pivot = True) -> Any:
    """Return L and U in one matrix, and pivots; of singular matrices too."""
    factors, pivots, _, _ = unguarded.lu_factors(input)
    return factors, whole_numbers(pivots)


def _order(pivots: Native, rows: int, name: str) -> Native:
    """Return the order of rows that pivots lead to."""
    if pivots._raw.dtype != np.int32:
        raise RuntimeError(
            f"{name}: the pivots have dtype {outward(pivots).dtype}; write pivots.int()"
        )
    return unguarded.lu_order(constant(pivots), rows=rows)


def _lu_solution(
    factors: Native, pivots: Native, b: Native, left: bool, undo: bool, name: str
) -> Native:
    check_system(factors, b, name, left)
    if pivots.shape != factors.shape[:-1]:
        raise misfit(name, "one pivot for each row", pivots=pivots, factors=factors)
    order = _order(pivots, factors.shape[-1], name)
    if not left:
        return adjoint(ns, singular.by_lu(factors, order, adjoint(ns, b), not undo))
    return singular.by_lu(factors, order, b, undo)


@offered("linalg.lu_solve", method=False, label="LinalgLuSolveBackward0")
def linalg_lu_solve(
    LU: Triangles, pivots: Input, B: Input, *, left: Bool = True, adjoint: Bool = False
) -> Native:
    """Return X of A @ X = B, or of X @ A = B, given the result of `lu_factor(A)`."""
    return _lu_solution(LU, pivots, B, left, adjoint, "linalg.lu_solve")


# -- of low rank -------------------------------------------------------------------------------


@offered("lu_unpack", method=False, label="LuUnpackBackward0")
def lu_unpack(
    LU_data: Input, LU_pivots: Input, unpack_data: Bool = True, unpack_pivots: Bool = True
) -> Any:
    """Return a permutation P, L with ones on its diagonal, and U of the result of `lu_factor`."""
    dtype = LU_data._raw.dtype
    p = lower = upper = wrap_native(np.empty(0, dtype))
    if unpack_pivots:
        p = singular.permutation(_order(LU_pivots, LU_data.shape[-2], "torch.lu_unpack"), dtype)
    if unpack_data:
        lower, upper = lower_upper(LU_data)
    return LuUnpack(p, lower, upper)
