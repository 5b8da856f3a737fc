"""torch.linalg: decompositions, what is made of their factors, and older names of the same."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.torch.axes import labelled
from wengert.dialects.torch.kinds import READERS, Bool, Input
from wengert.dialects.torch.linalg import (
    Factored,
    Reflections,
    SquareFactored,
    Triangles,
    check_right,
    check_same,
    check_system,
    constant,
    first_error,
    triangular_solution,
    whole_numbers,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import NAMES, LinAlgError, offered, put
from wengert.dialects.torch.tensors import ns, outward
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import linalg as native
from wengert.ops.batching import all_values
from wengert.ops.contractions import adjoint
from wengert.ops.linalg import unguarded
from wengert.ops.linalg.safeguards import is_watched, known
from wengert.ops.linalg.unguarded import lower_upper, partial_cholesky, singular_values

_SIGNS = "the signs of vectors, which are arbitrary, may be others than with PyTorch's LAPACK"


# -- Cholesky ----------------------------------------------------------------------------------

_CHANGES = (
    "derivatives are those for Hermitian changes of the matrix, with a real diagonal of the factor"
)
CholeskyEx = results("linalg_cholesky_ex", "L", "info")


def _factor(x: Native, upper: bool) -> tuple[Native, Native]:
    """Return factors, and the order of the first bad leading minor of each matrix."""
    x = adjoint(ns, x) if upper else x  # the lower triangle is read
    try:
        factor, info = unguarded.cholesky(x), np.zeros(x.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factor, info = _as_far_as_possible(x)
    return (adjoint(ns, factor) if upper else factor), wrap_native(info)


def _as_far_as_possible(x: Native) -> tuple[Native, np.ndarray]:
    values = known(x)
    assert values is not None
    info = np.zeros(values.shape[:-2], np.int32)
    parts = np.zeros(values.shape, values.dtype)
    for place in np.ndindex(info.shape):
        parts[place], info[place] = partial_cholesky(values[place])
    bad = wrap_native((info != 0)[..., None, None])
    safe = ns.where(bad, wrap_native(np.eye(x.shape[-1], dtype=x._raw.dtype)), x)
    return ns.where(bad, wrap_native(parts), unguarded.cholesky(safe)), info


def _check_minor(info: Native, name: str) -> None:
    minor = first_error(info)
    if minor:
        raise LinAlgError(
            f"{name}: the matrix is not positive-definite: its first {minor} rows and columns "
            "already fail; add a small multiple of the identity, or check how it was computed"
        )


@offered("linalg.cholesky", method=False, label="LinalgCholeskyExBackward0", differs=_CHANGES)
def linalg_cholesky(input: SquareFactored, *, upper: Bool = False) -> Native:
    """Return the lower triangular L of L @ L^H = A, or the upper triangular L^H."""
    factor, info = _factor(input, upper)
    _check_minor(info, "linalg.cholesky")
    return factor


@offered("cholesky", differs=_CHANGES)
def cholesky(input: Triangles, upper: Bool = False) -> Native:
    """Return the lower triangular L of L @ L^H = A, or the upper triangular L^H."""
    factor, info = _factor(input, upper)
    _check_minor(info, "cholesky")
    return factor


@offered("linalg.cholesky_ex", method=False, label="LinalgCholeskyExBackward0", differs=_CHANGES)
def cholesky_ex(input: SquareFactored, *, upper: Bool = False, check_errors: Bool = False) -> Any:
    """Return factors, and the order of the first bad leading minor in place of an error."""
    factor, info = _factor(input, upper)
    if check_errors:
        _check_minor(info, "linalg.cholesky_ex")
    return CholeskyEx(factor, whole_numbers(info))


def _from_factor(factor: Native, b: Native, upper: bool) -> Native:
    """Return the solution of an equation whose matrix has this factor of Cholesky."""
    lower = adjoint(ns, factor) if upper else factor
    half = triangular_solution(lower, b, False, False)
    if is_watched(factor) and _is_lower(lower):
        eye = wrap_native(np.eye(lower.shape[-1], dtype=lower._raw.dtype))
        change = eye + triangular_solution(lower, ns.triu(lower, k=1), False, False)
        half = native.solve(adjoint(ns, change), native.solve(change, half))
    return triangular_solution(adjoint(ns, lower), half, True, False)


def _is_lower(x: Native) -> bool:
    """Return whether x is a factor, whose zeros above the diagonal have derivatives as well.

    With L + N in the place of L, for N = 0 there, the matrix is L (1 + L^-1 N) (1 + L^-1 N)^H L^H.
    Of matrices that are not 0 there, PyTorch's derivatives are wrong: only a triangle is read.
    """
    values = known(x)
    return values is None or bool(
        not np.triu(values, 1).any() and np.diagonal(values, axis1=-2, axis2=-1).all()
    )


_TRIANGLES = (
    "of a matrix that is not triangular, derivatives are those of the triangle that is read, where "
    "PyTorch's are wrong"
)


@offered("cholesky_solve", differs=_TRIANGLES)
def cholesky_solve(input: Input, input2: Triangles, upper: Bool = False) -> Native:
    """Return X of A @ X = input, given a factor of Cholesky of A."""
    check_right(input, input2, "cholesky_solve")
    return _from_factor(input2, input, upper)


@offered("cholesky_inverse", differs=f"{_TRIANGLES}, and so are its tangents of any factor")
def cholesky_inverse(input: Triangles, upper: Bool = False) -> Native:
    """Return the inverse of A, given a factor of Cholesky of it."""
    eye = wrap_native(np.eye(input.shape[-1], dtype=input._raw.dtype))
    return _from_factor(input, eye, upper)


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
Geqrf = results("geqrf", "a", "tau")
QrMode = Annotated[str, Kind(READERS.one_of("reduced", "complete", "r"))]


@offered("linalg.qr", method=False, label="LinalgQrBackward0")
def linalg_qr(A: Factored, mode: QrMode = "reduced") -> Any:
    """Return Q and R of A = Q @ R, with orthonormal columns of Q and upper triangular R."""
    return Qr(*unguarded.qr(A, mode=mode))


@offered("qr", label="LinalgQrBackward0")
def qr(input: Factored, some: Bool = True) -> Any:
    """Return Q and R of A = Q @ R, with orthonormal columns of Q and upper triangular R."""
    return OldQr(*unguarded.qr(input, mode="reduced" if some else "complete"))


@offered("geqrf")
def geqrf(input: Reflections) -> Any:
    """Return the reflections that make up Q, below the diagonal of R, and their scales."""
    message = "the derivative for 'geqrf' is not implemented; write torch.linalg.qr"
    return Geqrf(*unguarded.geqrf(input, NotImplementedError, message))


# -- LU ----------------------------------------------------------------------------------------

Lu = results("linalg_lu", "P", "L", "U")
LuFactor = results("linalg_lu_factor", "LU", "pivots")
LuFactorEx = results("linalg_lu_factor_ex", "LU", "pivots", "info")
LuWithInfo = results("_lu_with_info", "LU", "pivots", "info")
LuUnpack = results("lu_unpack", "P", "L", "U")


def _read_pivot(value: Any, at: Any, x: Any) -> bool:
    if not READERS.truth(value, at):
        raise RuntimeError(f"{at} is False; on a CPU rows are always pivoted, so leave it away")
    return True


Pivot = Annotated[bool, Kind(_read_pivot)]


def _check_pivot(info: Native, name: str) -> None:
    pivot = first_error(info)
    if pivot:
        raise RuntimeError(
            f"{name}: the pivot U[{pivot},{pivot}] is 0, so the matrix is singular and no system "
            "can be solved with it; write lu_factor_ex(A) for the factors all the same"
        )


def _permutation(order: Native, dtype: Any) -> Native:
    """Return the matrix P of A = P @ L @ U, whose rows have ones where the order says."""
    rows = ns.expand_dims(order, axis=-2)
    places = wrap_native(np.arange(order.shape[-1])[:, None])
    return ns.astype(ns.equal(places, rows), dtype)


@offered("linalg.lu", method=False, label="LinalgLuBackward0")
def linalg_lu(A: Reflections, *, pivot: Pivot = True) -> Any:
    """Return a permutation P, L with ones on its diagonal, and U of A = P @ L @ U."""
    factors, _, order, _ = unguarded.lu_factors(A)
    return Lu(_permutation(order, factors._raw.dtype), *lower_upper(factors))


@offered("linalg.lu_factor", method=False, label="LinalgLuFactorExBackward0")
def lu_factor(A: Reflections, *, pivot: Pivot = True) -> Any:
    """Return L and U in one matrix, and pivots, for `lu_solve`."""
    factors, pivots, _, info = unguarded.lu_factors(A)
    _check_pivot(info, "torch.linalg.lu_factor")
    return LuFactor(factors, whole_numbers(pivots))


@offered("linalg.lu_factor_ex", method=False, label="LinalgLuFactorExBackward0")
def lu_factor_ex(A: Reflections, *, pivot: Pivot = True, check_errors: Bool = False) -> Any:
    """Return L and U in one matrix, pivots, and the first pivot that is 0 in place of an error."""
    factors, pivots, _, info = unguarded.lu_factors(A)
    if check_errors:
        _check_pivot(info, "torch.linalg.lu_factor_ex")
    return LuFactorEx(factors, whole_numbers(pivots), whole_numbers(info))


def lu(input: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return L and U in one matrix, and pivots; with `get_infos`, numbers of errors as well."""
    factors, pivots, info = NAMES["linalg.lu_factor_ex"](input, pivot=pivot)
    return LuWithInfo(factors, pivots, info) if get_infos else (factors, pivots)


put(("lu", "Tensor.lu"), lu)


def _order(pivots: Native, rows: int, name: str) -> Native:
    """Return the order of rows that pivots lead to."""
    if pivots._raw.dtype != np.int32:
        raise RuntimeError(
            f"{name}: the pivots have dtype {outward(pivots).dtype}; write pivots.int()"
        )
    return unguarded.lu_order(constant(pivots), rows=rows)


def _in_order(b: Native, order: Native) -> Native:
    """Return matrices with their rows in another order, which may differ by matrix."""
    batch = np.broadcast_shapes(b.shape[:-2], order.shape[:-1])
    b = ns.broadcast_to(b, (*batch, *b.shape[-2:]))
    order = ns.broadcast_to(order, (*batch, order.shape[-1]))
    return ns.take_along_axis(b, ns.expand_dims(order, axis=-1), axis=-2)


def _lu_solution(
    factors: Native, pivots: Native, b: Native, left: bool, undo: bool, name: str
) -> Native:
    check_same(factors, b, name, "LU and B")
    check_system(factors, b, name, left)
    order = _order(pivots, factors.shape[-1], name)
    if order.shape != factors.shape[:-1]:
        raise RuntimeError(
            f"{name}: pivots of shape {list(order.shape)} for factors of shape "
            f"{list(factors.shape)}; give one pivot for each row"
        )
    if not left:
        return adjoint(ns, _with_factors(factors, order, adjoint(ns, b), not undo))
    return _with_factors(factors, order, b, undo)


def _with_factors(factors: Native, order: Native, b: Native, undo: bool) -> Native:
    """Return X of P L U X = b; `undo` has the adjoint matrix in its place."""
    if not undo:
        half = triangular_solution(factors, _in_order(b, order), False, True)
        return triangular_solution(factors, half, True, False)
    back = adjoint(ns, factors)
    half = triangular_solution(back, b, False, False)
    return _in_order(triangular_solution(back, half, True, True), ns.argsort(order, axis=-1))


@offered("linalg.lu_solve", method=False, label="LinalgLuSolveBackward0")
def linalg_lu_solve(
    LU: Triangles, pivots: Input, B: Input, *, left: Bool = True, adjoint: Bool = False
) -> Native:
    """Return X of A @ X = B, or of X @ A = B, given the result of `lu_factor(A)`."""
    return _lu_solution(LU, pivots, B, left, adjoint, "linalg.lu_solve")


@offered("lu_solve", label="LinalgLuSolveBackward0")
def lu_solve(input: Input, LU_data: Triangles, LU_pivots: Input) -> Native:
    """Return X of A @ X = input, given the result of `lu_factor(A)`."""
    return _lu_solution(LU_data, LU_pivots, input, True, False, "lu_solve")


@offered("lu_unpack", method=False, label="LuUnpackBackward0")
def lu_unpack(
    LU_data: Input, LU_pivots: Input, unpack_data: Bool = True, unpack_pivots: Bool = True
) -> Any:
    """Return a permutation P, L with ones on its diagonal, and U of the result of `lu_factor`."""
    dtype = LU_data._raw.dtype
    p = lower = upper = wrap_native(np.empty(0, dtype))
    if unpack_pivots:
        p = _permutation(_order(LU_pivots, LU_data.shape[-2], "torch.lu_unpack"), dtype)
    if unpack_data:
        lower, upper = lower_upper(LU_data)
    return LuUnpack(p, lower, upper)


# -- of low rank -------------------------------------------------------------------------------


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """Return U, S and V of a matrix close to A of rank q, by products with random matrices."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    matrix = A if M is None else A - M
    wide = matrix.shape[-2] < matrix.shape[-1]
    matrix = matrix.mH if wide else matrix
    randn, basis_of = NAMES["randn"], NAMES["linalg.qr"]
    basis = basis_of(matrix @ randn(matrix.shape[-1], q, dtype=matrix.dtype)).Q
    for _ in range(niter):
        basis = basis_of(matrix.mH @ basis).Q
        basis = basis_of(matrix @ basis).Q
    u, s, vh = NAMES["linalg.svd"](basis.mH @ matrix, full_matrices=False)
    u, v = basis @ u, vh.mH
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Return U, S and V of a matrix close to A, without the means of its columns, of rank q."""
    most = min(A.shape[-2:])
    q = min(6, most) if q is None else q
    if not 0 <= q <= most:
        raise ValueError(
            f"q is {q}; give a whole number from 0 to {most}, the smaller side of the matrix"
        )
    if niter < 0:
        raise ValueError(f"niter is {niter}; give 0 or more")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


put(("svd_lowrank",), svd_lowrank)
put(("pca_lowrank",), pca_lowrank)
