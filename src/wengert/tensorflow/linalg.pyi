# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

def adjoint(matrix: Any, name: str | None = ..., **_options: Any) -> Any: ...
def band_part(
    input: Any, num_lower: Any, num_upper: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def banded_triangular_solve(
    bands: Any,
    rhs: Any,
    lower: bool = ...,
    adjoint: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def cholesky(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def cholesky_solve(chol: Any, rhs: Any, name: str | None = ..., **_options: Any) -> Any: ...
def cross(a: Any, b: Any, name: str | None = ..., **_options: Any) -> Any: ...
def det(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def diag(
    diagonal: Any,
    name: str | None = ...,
    k: Any = ...,
    num_rows: Any = ...,
    num_cols: Any = ...,
    padding_value: Any = ...,
    align: str = ...,
    **_options: Any,
) -> Any: ...
def diag_part(
    input: Any,
    name: str | None = ...,
    k: Any = ...,
    padding_value: Any = ...,
    align: str = ...,
    **_options: Any,
) -> Any: ...
def eig(tensor: Any, name: str | None = ..., **_options: Any) -> Any: ...
def eigh(tensor: Any, name: str | None = ..., **_options: Any) -> Any: ...
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = ...,
    select: str = ...,
    select_range: Any = ...,
    tol: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def eigvals(tensor: Any, name: str | None = ..., **_options: Any) -> Any: ...
def eigvalsh(tensor: Any, name: str | None = ..., **_options: Any) -> Any: ...
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any: ...
def expm(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def eye(
    num_rows: Any,
    num_columns: Any = ...,
    batch_shape: Any = ...,
    dtype: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def global_norm(t_list: Any, name: str | None = ..., **_options: Any) -> Any: ...
def inv(input: Any, adjoint: bool = ..., name: str | None = ..., **_options: Any) -> Any: ...
def l2_normalize(
    x: Any, axis: Any = ..., epsilon: float = ..., name: Any = ..., dim: Any = ..., **_options: Any
) -> Any: ...
def logdet(matrix: Any, name: str | None = ..., **_options: Any) -> Any: ...
def logm(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def lstsq(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = ...,
    fast: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def lu(input: Any, output_idx_type: Any = ..., name: str | None = ..., **_options: Any) -> Any: ...
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def lu_solve(
    lower_upper: Any,
    perm: Any,
    rhs: Any,
    validate_args: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = ...,
    transpose_b: bool = ...,
    adjoint_a: bool = ...,
    adjoint_b: bool = ...,
    a_is_sparse: bool = ...,
    b_is_sparse: bool = ...,
    output_type: Any = ...,
    grad_a: bool = ...,
    grad_b: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def matrix_rank(
    a: Any, tol: Any = ..., validate_args: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def matrix_transpose(
    a: Any, name: str | None = ..., conjugate: bool = ..., **_options: Any
) -> Any: ...
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = ...,
    adjoint_a: bool = ...,
    a_is_sparse: bool = ...,
    b_is_sparse: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def norm(
    tensor: Any,
    ord: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def normalize(
    tensor: Any, ord: Any = ..., axis: Any = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def pinv(
    a: Any, rcond: Any = ..., validate_args: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def qr(input: Any, full_matrices: bool = ..., name: str | None = ..., **_options: Any) -> Any: ...
def set_diag(
    input: Any,
    diagonal: Any,
    name: str | None = ...,
    k: Any = ...,
    align: str = ...,
    **_options: Any,
) -> Any: ...
def slogdet(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def solve(
    matrix: Any, rhs: Any, adjoint: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def sqrtm(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def svd(
    tensor: Any,
    full_matrices: bool = ...,
    compute_uv: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def tensor_diag(diagonal: Any, name: str | None = ..., **_options: Any) -> Any: ...
def tensor_diag_part(input: Any, name: str | None = ..., **_options: Any) -> Any: ...
def tensordot(a: Any, b: Any, axes: Any, name: str | None = ..., **_options: Any) -> Any: ...
def trace(x: Any, name: str | None = ..., **_options: Any) -> Any: ...
def triangular_solve(
    matrix: Any,
    rhs: Any,
    lower: bool = ...,
    adjoint: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = ...,
    transpose_rhs: bool = ...,
    conjugate_rhs: bool = ...,
    name: str | None = ...,
    partial_pivoting: bool = ...,
    perturb_singular: bool = ...,
    **_options: Any,
) -> Any: ...
