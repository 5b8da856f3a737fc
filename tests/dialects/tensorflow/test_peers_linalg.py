"""tf.linalg, products and tf.signal: the same programs on TensorFlow and on Wengert."""

import numpy as np
import pytest

from tests.dialects.tensorflow import parity as tensorflow_parity
from tests.dialects.tensorflow.lines import compare_line

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

RNG = np.random.default_rng(1)
A = RNG.normal(size=(3, 3))
B = RNG.normal(size=(3, 2))
TALL = RNG.normal(size=(4, 2))
WIDE = RNG.normal(size=(2, 4))
MANY = RNG.normal(size=(2, 3, 3))
SIDES = RNG.normal(size=(2, 3, 2))
LOWER = np.tril(A) + 3 * np.eye(3)
S = A @ A.T + np.eye(3)
SPD = MANY @ np.swapaxes(MANY, -1, -2) + np.eye(3)
THREE = RNG.normal(size=(2, 3, 4))
Z = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))


def graded(tf, f, *values, dtype="float64"):
    """Return f of tensors and its gradients, each result weighted by position."""
    xs = [tf.constant(v, dtype) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
        parts = list(y) if isinstance(y, (list, tuple)) else [y]
        total = tf.constant(0.0, tf.float64)
        for part in parts:
            if part.dtype.is_integer or part.dtype.is_bool:
                continue
            shape = part.shape.as_list()
            weights = np.cos(1.0 + np.arange(int(np.prod(shape)))).reshape(shape)
            real = tf.math.real(part) + 0.3 * tf.math.imag(part) if part.dtype.is_complex else part
            total += tf.reduce_sum(tf.cast(real, tf.float64) * weights)
    return [parts, tape.gradient(total, xs)]


def up_to_sign(tf, v):
    """Return columns multiplied so that their sums are positive."""
    return v * tf.sign(tf.reduce_sum(v, -2, keepdims=True))


PRODUCTS = {
    "matmul": lambda tf: graded(tf, tf.matmul, A, B),
    "matmul a": lambda tf: graded(tf, lambda a, b: tf.matmul(a, b, transpose_a=True), A, B),
    "matmul b": lambda tf: graded(tf, lambda a, b: tf.matmul(a, b, transpose_b=True), A, A),
    "matmul ab": lambda tf: graded(
        tf, lambda a, b: tf.matmul(a, b, True, True), B, A[:2].T @ A[:2]
    ),
    "matmul adjoint": lambda tf: graded(
        tf, lambda a, b: tf.matmul(a, b, adjoint_a=True, adjoint_b=True), Z, Z, dtype="complex128"
    ),
    "matmul transposed complex": lambda tf: graded(
        tf, lambda a, b: tf.linalg.matmul(a, b, transpose_a=True), Z, Z, dtype="complex128"
    ),
    "matmul batch": lambda tf: graded(tf, tf.matmul, MANY, SIDES),
    "matmul batch, one": lambda tf: graded(tf, tf.matmul, MANY, B),
    "matmul one, batch": lambda tf: graded(tf, tf.matmul, A, SIDES),
    "matmul ints": lambda tf: tf.matmul([[1, 2]], [[3], [4]]),
    "matmul lists": lambda tf: tf.matmul([[1.0, 2.0]], [[3], [4]]),
    "matmul numpy": lambda tf: tf.matmul(tf.constant([[1.0, 2.0]]), np.array([[3.0], [4.0]])),
    "matmul numpy first": lambda tf: tf.matmul(np.array([[3.0, 4.0]]), tf.constant([[1.0], [2.0]])),
    "matmul variables": lambda tf: tf.matmul(
        tf.Variable([[1.0, 2.0]]), tf.Variable([[1.0], [2.0]])
    ),
    "matmul vector": lambda tf: tf.matmul([1.0, 2.0], [[1.0], [2.0]]),
    "matmul sizes": lambda tf: tf.matmul([[1.0, 2.0]], [[1.0]]),
    "matmul batches": lambda tf: tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 1])),
    "matmul dtypes": lambda tf: tf.matmul(tf.ones([1, 2]), tf.ones([2, 1], tf.float64)),
    "matmul bools": lambda tf: tf.matmul([[True]], [[True]]),
    "matmul flags": lambda tf: tf.matmul(A, A, transpose_a=True, adjoint_a=True),
    "matmul None": lambda tf: tf.matmul(None, A),
    "matmul empty": lambda tf: tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 3])),
    "@": lambda tf: graded(tf, lambda a, b: a @ b, A, B),
    "@ vector": lambda tf: tf.constant(A) @ tf.constant([1.0, 2.0, 3.0], tf.float64),
    "@ numpy": lambda tf: [tf.constant(A) @ B, A @ tf.constant(B)],
    "matvec": lambda tf: graded(tf, tf.linalg.matvec, A, B[:, 0]),
    "matvec transposed": lambda tf: graded(
        tf, lambda a, b: tf.linalg.matvec(a, b, transpose_a=True), TALL, TALL[:, 0]
    ),
    "matvec batch": lambda tf: graded(tf, tf.linalg.matvec, MANY, SIDES[:, :, 0]),
    "matvec sizes": lambda tf: tf.linalg.matvec(A, TALL[:, 0]),
    "tensordot 1": lambda tf: graded(tf, lambda a, b: tf.tensordot(a, b, 1), A, B),
    "tensordot 0": lambda tf: graded(tf, lambda a, b: tf.tensordot(a, b, 0), B[0], B[:, 0]),
    "tensordot axes": lambda tf: graded(
        tf, lambda a, b: tf.tensordot(a, b, axes=[[1, 0], [0, 1]]), THREE, THREE.transpose(1, 0, 2)
    ),
    "tensordot pair": lambda tf: graded(tf, lambda a, b: tf.tensordot(a, b, axes=(0, 0)), A, B),
    "tensordot negative": lambda tf: tf.tensordot(THREE, THREE, axes=[[-1], [-1]]),
    "tensordot vectors": lambda tf: tf.tensordot([1, 2], [3, 4], 1),
    "tensordot sizes": lambda tf: tf.tensordot(A, TALL, 1),
    "tensordot 5": lambda tf: tf.tensordot(A, A, 5),
    "tensordot -1": lambda tf: tf.tensordot(A, A, -1),
    "tensordot lengths": lambda tf: tf.tensordot(A, A, [[0], [0, 1]]),
    "tensordot one": lambda tf: tf.tensordot(A, A, [1]),
    "tensordot dtypes": lambda tf: tf.tensordot(tf.constant([1.0]), tf.constant([1]), 1),
    **{
        f"einsum {spec}": (lambda tf, s=spec, v=values: graded(tf, lambda *x: tf.einsum(s, *x), *v))
        for spec, values in {
            "ij,jk->ik": (A, B),
            "ij,jk": (A, B),
            "ij->ji": (A,),
            "ii->i": (A,),
            "ii->": (A,),
            "ij->": (A,),
            "ij->i": (A,),
            "bij,bjk->bik": (MANY, SIDES),
            "i,j->ij": (A[0], B[0]),
            "i,i->": (A[0], A[1]),
            "...ij,...jk->...ik": (MANY, B),
            "...i,...i->...": (MANY, A[0]),
            "ij,jk,kl->il": (A, A, B),
            "b...->...": (MANY,),
            "i j , j -> i": (A, A[0]),
            "ij,ij->ij": (A, A),
            "ij": (A,),
            "ji": (A,),
            "abc,cd->abd": (MANY, B),
        }.items()
    },
    "einsum optimize": lambda tf: tf.einsum("ij,jk,kl->il", A, A, B, optimize="optimal"),
    "einsum ints": lambda tf: tf.einsum("i,i->", tf.constant([1, 2]), tf.constant([3, 4])),
    "einsum lists": lambda tf: tf.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]),
    "einsum sizes": lambda tf: tf.einsum("ij,jk->ik", A, TALL),
    "einsum ones": lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([1, 2])),
    "einsum rank": lambda tf: tf.einsum("ijk->i", A),
    "einsum twice": lambda tf: tf.einsum("i->ii", tf.ones([2])),
    "einsum unknown": lambda tf: tf.einsum("ij->k", A),
    "einsum count": lambda tf: tf.einsum("ij,jk->ik", A),
    "einsum digits": lambda tf: tf.einsum("i1->i", A),
    "einsum dtypes": lambda tf: tf.einsum("i,i->", tf.constant([1.0]), tf.constant([1])),
    "einsum keyword": lambda tf: tf.einsum("i->i", tf.constant([1.0]), florp=3),
    "einsum name": lambda tf: tf.linalg.einsum("i->i", tf.constant([1.0]), name="e"),
}

LINALG = {
    "adjoint": lambda tf: [tf.linalg.adjoint(Z), tf.linalg.adjoint(MANY)],
    "matrix_transpose": lambda tf: [
        tf.linalg.matrix_transpose(MANY),
        tf.linalg.matrix_transpose(Z, conjugate=True),
    ],
    "matrix_transpose vector": lambda tf: tf.linalg.matrix_transpose([1.0]),
    "band_part": lambda tf: [
        tf.linalg.band_part(MANY, i, j) for i in (-1, 0, 1) for j in (-1, 0, 2)
    ],
    "band_part grads": lambda tf: graded(tf, lambda x: tf.linalg.band_part(x, -1, 0), A),
    "band_part ints": lambda tf: tf.linalg.band_part([[1, 2], [3, 4]], 0, -1),
    "band_part too many": lambda tf: tf.linalg.band_part(A, 5, 0),
    "band_part vector": lambda tf: tf.linalg.band_part([1.0], 0, 0),
    "cholesky": lambda tf: graded(tf, tf.linalg.cholesky, S),
    "cholesky batch": lambda tf: graded(tf, tf.linalg.cholesky, SPD),
    "cholesky of lower": lambda tf: graded(tf, tf.linalg.cholesky, np.tril(S)),
    "cholesky ints": lambda tf: tf.linalg.cholesky([[1, 0], [0, 1]]),
    "cholesky not square": lambda tf: tf.linalg.cholesky(TALL),
    "cholesky vector": lambda tf: tf.linalg.cholesky([1.0]),
    "cholesky_solve": lambda tf: graded(tf, tf.linalg.cholesky_solve, LOWER, B),
    "cholesky_solve batch": lambda tf: graded(
        tf, lambda a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b), SPD, SIDES
    ),
    "cross": lambda tf: graded(tf, tf.linalg.cross, A, A[::-1]),
    "cross shapes": lambda tf: tf.linalg.cross(A, A[0]),
    "cross of two": lambda tf: tf.linalg.cross([1.0, 2.0], [3.0, 4.0]),
    "det": lambda tf: graded(tf, tf.linalg.det, A),
    "det batch": lambda tf: graded(tf, tf.linalg.det, MANY),
    "det not square": lambda tf: tf.linalg.det(TALL),
    "slogdet": lambda tf: graded(tf, tf.linalg.slogdet, MANY),
    "logdet": lambda tf: graded(tf, tf.linalg.logdet, SPD),
    "inv": lambda tf: graded(tf, tf.linalg.inv, MANY),
    "inv adjoint": lambda tf: graded(tf, lambda x: tf.linalg.inv(x, adjoint=True), A),
    "inv complex": lambda tf: graded(tf, lambda x: tf.linalg.inv(x, True), Z, dtype="complex128"),
    "inv singular": lambda tf: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]),
    "inv float32": lambda tf: tf.linalg.inv(tf.constant(A, tf.float32)),
    "solve": lambda tf: graded(tf, tf.linalg.solve, A, B),
    "solve batch": lambda tf: graded(tf, tf.linalg.solve, MANY, SIDES),
    "solve adjoint": lambda tf: graded(tf, lambda a, b: tf.linalg.solve(a, b, adjoint=True), A, B),
    "solve vector": lambda tf: tf.linalg.solve(A, A[0]),
    "solve singular": lambda tf: tf.linalg.solve([[1.0, 2.0], [2.0, 4.0]], [[1.0], [1.0]]),
    "solve sizes": lambda tf: tf.linalg.solve(A, TALL),
    "solve batches": lambda tf: tf.linalg.solve(MANY, B),
    "solve dtypes": lambda tf: tf.linalg.solve(tf.constant(A), tf.constant(B, tf.float32)),
    **{
        f"triangular_solve {lower} {adjoint}": (
            lambda tf, lo=lower, ad=adjoint: graded(
                tf,
                lambda a, b: tf.linalg.triangular_solve(a, b, lower=lo, adjoint=ad),
                A + 3 * np.eye(3),
                B,
            )
        )
        for lower in (True, False)
        for adjoint in (True, False)
    },
    "triangular_solve batch": lambda tf: graded(
        tf, tf.linalg.triangular_solve, MANY + 3 * np.eye(3), B
    ),
    "lstsq": lambda tf: graded(tf, tf.linalg.lstsq, TALL, RNG_B4),
    "lstsq wide": lambda tf: graded(tf, tf.linalg.lstsq, WIDE, B[:2]),
    "lstsq l2": lambda tf: graded(
        tf, lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.3), TALL, RNG_B4
    ),
    "lstsq l2 wide": lambda tf: graded(
        tf, lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.3), WIDE, B[:2]
    ),
    "lstsq slow": lambda tf: tf.linalg.lstsq(TALL, RNG_B4, fast=False),
    "pinv": lambda tf: graded(tf, tf.linalg.pinv, TALL),
    "pinv wide": lambda tf: graded(tf, tf.linalg.pinv, WIDE),
    "pinv rank": lambda tf: tf.linalg.pinv(np.outer(A[0], A[1])),
    "matrix_rank": lambda tf: [
        tf.linalg.matrix_rank(A),
        tf.linalg.matrix_rank(np.outer(A[0], A[1])),
        tf.linalg.matrix_rank(MANY),
        tf.linalg.matrix_rank(A, tol=1.5),
    ],
    "expm": lambda tf: graded(tf, tf.linalg.expm, A),
    "expm batch": lambda tf: tf.linalg.expm(MANY),
    "sqrtm": lambda tf: graded(tf, tf.linalg.sqrtm, S),
    "matrix_square_root": lambda tf: tf.matrix_square_root(S),
    "eigh": lambda tf: graded(
        tf, lambda x: (lambda e, v: [e, up_to_sign(tf, v)])(*tf.linalg.eigh(x)), S
    ),
    "eigh batch": lambda tf: graded(
        tf, lambda x: (lambda e, v: [e, up_to_sign(tf, v)])(*tf.linalg.eigh(x)), SPD
    ),
    "eigh of lower": lambda tf: graded(tf, lambda x: tf.linalg.eigh(x)[0], A),
    "eigvalsh": lambda tf: graded(tf, tf.linalg.eigvalsh, S),
    "eigh complex": lambda tf: tf.linalg.eigh(Z + Z.conj().T)[0],
    "eigh not square": lambda tf: tf.linalg.eigh(TALL),
    "eigvals": lambda tf: tf.sort(tf.math.real(tf.linalg.eigvals(S))),
    "eigvals complex": lambda tf: [
        tf.linalg.eigvals(A).dtype,
        tf.sort(tf.abs(tf.eigvals(tf.constant(A, tf.float32)))),
    ],
    "eig": lambda tf: (
        lambda e, v: [
            tf.reduce_sum(e),
            e.dtype,
            v.shape,
            tf.reduce_max(tf.abs(tf.matmul(tf.cast(A, tf.complex128), v) - v * e)) < 1e-10,
        ]
    )(*tf.linalg.eig(A)),
    "eigvals grads": lambda tf: graded(
        tf, lambda x: tf.reduce_sum(tf.abs(tf.linalg.eigvals(x)) ** 3), A
    ),
    "svd": lambda tf: graded(tf, lambda x: tf.linalg.svd(x, compute_uv=False), TALL),
    "svd parts": lambda tf: (
        [p.shape for p in tf.linalg.svd(TALL)]
        + [p.shape for p in tf.linalg.svd(WIDE, full_matrices=True)]
    ),
    "svd order": lambda tf: graded(
        tf,
        lambda x: (lambda s, u, v: [s, tf.matmul(u * s, v, adjoint_b=True), tf.abs(v)])(
            *tf.linalg.svd(x)
        ),
        A,
    ),
    "svd batch": lambda tf: graded(tf, lambda x: tf.abs(tf.linalg.svd(x)[1]), MANY),
    "qr": lambda tf: graded(
        tf, lambda x: (lambda q, r: [tf.abs(q), tf.abs(r)])(*tf.linalg.qr(x)), TALL
    ),
    "qr full": lambda tf: [p.shape for p in tf.linalg.qr(TALL, full_matrices=True)],
    "qr product": lambda tf: graded(tf, lambda x: tf.matmul(*tf.linalg.qr(x)), A),
    "lu": lambda tf: tf.linalg.lu(A),
    "lu batch": lambda tf: tf.linalg.lu(MANY),
    "lu int64": lambda tf: tf.linalg.lu(A, output_idx_type=tf.int64)[1],
    "lu singular": lambda tf: tf.linalg.lu([[0.0, 0.0], [0.0, 0.0]]),
    "lu_solve": lambda tf: tf.linalg.lu_solve(*tf.linalg.lu(A), B),
    "lu_matrix_inverse": lambda tf: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(MANY)),
    "lu_reconstruct": lambda tf: tf.linalg.lu_reconstruct(*tf.linalg.lu(MANY)),
    "diag": lambda tf: graded(tf, tf.linalg.diag, A),
    "diag k": lambda tf: [tf.linalg.diag([1.0, 2.0], k=k) for k in (-2, -1, 0, 1)],
    "diag padding": lambda tf: tf.linalg.diag([1, 2], k=1, num_rows=4, num_cols=3, padding_value=9),
    "diag band": lambda tf: [
        tf.linalg.diag([[0.0, 8.0, 9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 0.0]], k=(-1, 1)),
        tf.linalg.diag(
            [[8.0, 9.0, 0.0], [1.0, 2.0, 3.0], [0.0, 4.0, 5.0]], k=(-1, 1), align="LEFT_RIGHT"
        ),
    ],
    "diag_part": lambda tf: graded(tf, tf.linalg.diag_part, THREE),
    "diag_part k": lambda tf: [tf.linalg.diag_part(THREE, k=k) for k in (-2, -1, 0, 1, 3)],
    "diag_part band": lambda tf: [
        tf.linalg.diag_part(THREE, k=(-1, 2), align=a, padding_value=7)
        for a in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
    ],
    "diag_part too far": lambda tf: tf.linalg.diag_part(A, k=5),
    "set_diag": lambda tf: graded(tf, tf.linalg.set_diag, MANY, SIDES[:, :, 0]),
    "set_diag k": lambda tf: tf.linalg.set_diag(tf.zeros([3, 4]), [1.0, 2.0, 3.0], k=1),
    "set_diag band": lambda tf: tf.linalg.set_diag(
        tf.zeros([3, 3]), [[0.0, 8.0, 9.0], [1.0, 2.0, 3.0]], k=(0, 1)
    ),
    "set_diag sizes": lambda tf: tf.linalg.set_diag(tf.zeros([3, 3]), [1.0, 2.0]),
    "tensor_diag": lambda tf: graded(tf, tf.linalg.tensor_diag, B),
    "tensor_diag_part": lambda tf: graded(tf, tf.linalg.tensor_diag_part, A),
    "tensor_diag_part 4": lambda tf: tf.linalg.tensor_diag_part(
        tf.reshape(tf.range(36), [2, 3, 2, 3])
    ),
    "tensor_diag_part odd": lambda tf: tf.linalg.tensor_diag_part(THREE),
    "trace": lambda tf: graded(tf, tf.linalg.trace, MANY),
    "trace ints": lambda tf: tf.linalg.trace([[1, 2], [3, 4]]),
    "trace wide": lambda tf: tf.linalg.trace(WIDE),
    "eye": lambda tf: [tf.linalg.eye(2), tf.eye(2, 3, batch_shape=[2], dtype=tf.int32)],
    **{
        f"norm {ord} {axis} {keepdims}": (
            lambda tf, o=ord, a=axis, k=keepdims: graded(tf, lambda x: tf.norm(x, o, a, k), THREE)
        )
        for ord in ("euclidean", "fro", 1, 2, np.inf, 3, 1.5, "florp", -1)
        for axis in (None, 0, -1, [0, 1], (-2, -1), [1])
        for keepdims in (None, True)
    },
    "norm at zero": lambda tf: graded(tf, tf.norm, [0.0, 0.0]),
    "norm 1 at zero": lambda tf: graded(tf, lambda x: tf.linalg.norm(x, ord=1), [0.0, 2.0]),
    "norm ties": lambda tf: graded(tf, lambda x: tf.linalg.norm(x, ord=np.inf), [2.0, -2.0, 1.0]),
    "norm ints": lambda tf: tf.norm([3, 4]),
    "norm complex": lambda tf: tf.norm(Z),
    "norm by name": lambda tf: tf.norm(tensor=A, ord=1, axis=1, keepdims=True, name="n"),
    "norm list": lambda tf: tf.norm([3.0, 4.0]),
    "normalize": lambda tf: graded(tf, lambda x: tf.linalg.normalize(x, axis=1), A),
    "normalize all": lambda tf: graded(tf, tf.linalg.normalize, A),
    "normalize 1": lambda tf: tf.linalg.normalize(A, ord=1, axis=0),
    "l2_normalize": lambda tf: graded(tf, lambda x: tf.linalg.l2_normalize(x, axis=1), A),
    "global_norm": lambda tf: tf.linalg.global_norm([A, B]),
    "tridiagonal_solve": lambda tf: graded(tf, tf.linalg.tridiagonal_solve, BANDS, B),
    "tridiagonal_solve vector": lambda tf: graded(tf, tf.linalg.tridiagonal_solve, BANDS, B[:, 0]),
    "tridiagonal_solve matrix": lambda tf: tf.linalg.tridiagonal_solve(
        tf.constant(LOWER), tf.constant(B), diagonals_format="matrix"
    ),
    "tridiagonal_solve sequence": lambda tf: tf.linalg.tridiagonal_solve(
        [tf.constant(v) for v in ([1.0, 2.0], [4.0, 5.0, 6.0], [1.0, 1.0])],
        tf.constant([1.0, 2.0, 3.0]),
        diagonals_format="sequence",
    ),
    "tridiagonal_matmul": lambda tf: graded(tf, tf.linalg.tridiagonal_matmul, BANDS, B),
    "gaussian": lambda tf: graded(
        tf,
        lambda s, x: (
            tf.linalg.logdet(s)
            + tf.reduce_sum(x * tf.linalg.cholesky_solve(tf.linalg.cholesky(s), x))
        ),
        S,
        B,
    ),
}
RNG_B4 = RNG.normal(size=(4, 3))
BANDS = RNG.normal(size=(3, 3)) + np.array([[0.0], [4.0], [0.0]])

X = RNG.normal(size=(2, 8))
XX = RNG.normal(size=(2, 4, 6))
C = X + 1j * X[::-1]
CC = XX + 1j * XX[::-1]
SIGNAL = {
    "fft": lambda tf: graded(tf, tf.signal.fft, C, dtype="complex128"),
    "ifft": lambda tf: graded(tf, tf.signal.ifft, C, dtype="complex128"),
    "fft2d": lambda tf: graded(tf, tf.signal.fft2d, CC, dtype="complex128"),
    "ifft2d": lambda tf: graded(tf, tf.signal.ifft2d, CC, dtype="complex128"),
    "fft3d": lambda tf: graded(tf, tf.signal.fft3d, CC, dtype="complex128"),
    "ifft3d": lambda tf: graded(tf, tf.signal.ifft3d, CC, dtype="complex128"),
    "rfft": lambda tf: graded(tf, tf.signal.rfft, X),
    "rfft longer": lambda tf: graded(tf, lambda x: tf.signal.rfft(x, [12]), X),
    "rfft shorter": lambda tf: tf.signal.rfft(tf.constant(X), fft_length=[5]),
    "rfft float32": lambda tf: tf.signal.rfft(tf.constant(X, tf.float32)),
    "irfft": lambda tf: graded(tf, tf.signal.irfft, C, dtype="complex128"),
    "irfft odd": lambda tf: tf.signal.irfft(tf.constant(C), [7]),
    "irfft of reals": lambda tf: tf.signal.irfft(tf.constant(X)),
    "rfft2d": lambda tf: graded(tf, tf.signal.rfft2d, XX),
    "rfft2d length": lambda tf: tf.signal.rfft2d(XX, [4, 8]),
    "irfft2d": lambda tf: graded(tf, tf.signal.irfft2d, CC, dtype="complex128"),
    "irfft2d length": lambda tf: tf.signal.irfft2d(CC, [4, 9]),
    "rfft3d": lambda tf: tf.signal.rfft3d(XX),
    "irfft3d": lambda tf: tf.signal.irfft3d(CC),
    "fft of reals": lambda tf: tf.signal.fft(X),
    "rfft of complex": lambda tf: tf.signal.rfft(tf.constant(C)),
    "fft of real tensors": lambda tf: tf.signal.fft(tf.constant(X)),
    "fft of lists": lambda tf: [tf.signal.fft([1.0, 2.0]), tf.signal.rfft([1.0, 2.0])],
    "fft complex64": lambda tf: tf.signal.fft(tf.constant(C, tf.complex64)),
    "fft scalar": lambda tf: tf.signal.fft(tf.constant(1j)),
    "fftshift": lambda tf: [
        tf.signal.fftshift(X),
        tf.signal.fftshift(XX, axes=1),
        tf.signal.fftshift(XX, axes=(0, -1)),
    ],
    "ifftshift": lambda tf: [tf.signal.ifftshift(XX[..., :5]), tf.signal.ifftshift(X, 1)],
    "fftshift grads": lambda tf: graded(tf, tf.signal.fftshift, X),
    **{
        f"dct {type} {norm} {n}": (
            lambda tf, t=type, o=norm, m=n: graded(
                tf, lambda x: tf.signal.dct(x, type=t, n=m, norm=o), X
            )
        )
        for type in (1, 2, 3, 4)
        for norm in (None, "ortho")
        for n in (None, 5, 11)
        if (type, norm) != (1, "ortho")
    },
    "dct 1 ortho": lambda tf: tf.signal.dct(X, type=1, norm="ortho"),
    "dct 7": lambda tf: tf.signal.dct(X, type=7),
    **{
        f"idct {type} {norm}": (
            lambda tf, t=type, o=norm: graded(tf, lambda x: tf.signal.idct(x, type=t, norm=o), X)
        )
        for type in (1, 2, 3, 4)
        for norm in (None, "ortho")
        if (type, norm) != (1, "ortho")
    },
    "frame": lambda tf: graded(tf, lambda x: tf.signal.frame(x, 3, 2), X),
    "frame end": lambda tf: graded(
        tf, lambda x: tf.signal.frame(x, 3, 2, pad_end=True, pad_value=5.0), X
    ),
    "frame axis": lambda tf: tf.signal.frame(XX, 2, 1, axis=1),
    "frame ints": lambda tf: tf.signal.frame([1, 2, 3, 4, 5], 2, 2),
    "frame long": lambda tf: tf.signal.frame([1.0, 2.0], 5, 1),
    "overlap_and_add": lambda tf: graded(tf, lambda x: tf.signal.overlap_and_add(x, 2), XX),
    "overlap_and_add gaps": lambda tf: tf.signal.overlap_and_add(XX, 7),
    "windows": lambda tf: [
        f(n, **options)
        for f in (tf.signal.hann_window, tf.signal.hamming_window)
        for n in (1, 2, 5, 8)
        for options in ({}, {"periodic": False}, {"dtype": tf.float64})
    ],
    "kaiser": lambda tf: (
        [tf.signal.kaiser_window(n) for n in (1, 4, 7)] + [tf.signal.kaiser_window(5, beta=3.0)]
    ),
    "vorbis": lambda tf: tf.signal.vorbis_window(8),
    "stft": lambda tf: graded(tf, lambda x: tf.signal.stft(x, 4, 2), X),
    "stft length": lambda tf: tf.signal.stft(X, 4, 2, fft_length=8, pad_end=True),
    "stft no window": lambda tf: tf.signal.stft(X, 4, 2, window_fn=None),
    "inverse_stft": lambda tf: tf.signal.inverse_stft(tf.signal.stft(X, 4, 2), 4, 2),
    "inverse_stft window": lambda tf: tf.signal.inverse_stft(
        tf.signal.stft(tf.constant(X, tf.float32), 4, 2),
        4,
        2,
        window_fn=tf.signal.inverse_stft_window_fn(2),
    ),
    "spectrum": lambda tf: graded(tf, lambda x: tf.reduce_sum(tf.abs(tf.signal.rfft(x)) ** 2), X),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    tensorflow_parity.compare(PRODUCTS[name])


@pytest.mark.parametrize("name", LINALG)
def test_linalg(name):
    tensorflow_parity.compare(LINALG[name], rtol=1e-7 if "float32" not in name else 1e-4)


@pytest.mark.parametrize("name", SIGNAL)
def test_signal(name):
    single = ("windows", "kaiser", "vorbis", "float32", "64", "stft", "2d length", "3d", "of reals")
    loose = any(word in name for word in single)
    tensorflow_parity.compare(SIGNAL[name], rtol=1e-5 if loose else 1e-9)


# -- programs as people write them -----------------------------------------------------------------

WRITTEN = {}


def program(function):
    """Put a program into the table, by its name."""
    WRITTEN[function.__name__] = function
    return function


@program
def ridge_regression(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    y = tf.constant([[1.0], [2.0], [4.0]])
    lam = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        w = tf.linalg.solve(
            tf.transpose(x) @ x + lam * tf.eye(2), tf.matmul(x, y, transpose_a=True)
        )
        loss = tf.reduce_sum(tf.square(w))
    return w, tape.gradient(loss, lam), tf.linalg.lstsq(x, y, l2_regularizer=0.5)


@program
def gaussian_process(tf):
    x = tf.constant([[0.0], [0.7], [1.5]], tf.float64)
    y = tf.constant([0.1, 0.9, 0.3], tf.float64)
    length = tf.Variable(0.8, dtype=tf.float64)
    noise = tf.Variable(0.1, dtype=tf.float64)
    with tf.GradientTape() as tape:
        square = tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)
        k = tf.exp(-0.5 * square / length**2) + noise * tf.eye(3, dtype=tf.float64)
        factor = tf.linalg.cholesky(k)
        alpha = tf.linalg.cholesky_solve(factor, y[:, None])[:, 0]
        log_det = 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        nll = 0.5 * tf.tensordot(y, alpha, 1) + 0.5 * log_det
    return nll, tape.gradient(nll, [length, noise]), tf.linalg.logdet(k), tf.linalg.slogdet(k)[1]


@program
def multivariate_normal(tf):
    mu = tf.Variable([0.5, -0.5])
    scale = tf.Variable([[1.0, 0.0], [0.3, 0.8]])
    x = tf.constant([[0.0, 1.0], [2.0, -1.0]])
    with tf.GradientTape() as tape:
        tril = tf.linalg.band_part(scale, -1, 0)
        z = tf.linalg.triangular_solve(tril, tf.transpose(x - mu), lower=True)
        logp = -0.5 * tf.reduce_sum(z**2, axis=0) - tf.reduce_sum(
            tf.math.log(tf.abs(tf.linalg.diag_part(tril)))
        )
    return logp, tape.gradient(logp, [mu, scale])


@program
def power_iteration(tf):
    a = tf.constant([[4.0, 1.0], [2.0, 3.0]])
    v = tf.ones([2, 1])
    with tf.GradientTape() as tape:
        tape.watch(a)
        for _ in range(8):
            v = a @ v
            v /= tf.norm(v)
        value = tf.squeeze(tf.transpose(v) @ a @ v)
    return value, tape.gradient(value, a)


@program
def pca_of_points(tf):
    x = tf.constant([[2.0, 0.5], [0.0, 1.0], [-1.0, -0.4], [3.0, 1.5]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        centred = x - tf.reduce_mean(x, axis=0, keepdims=True)
        cov = tf.matmul(centred, centred, transpose_a=True) / tf.cast(tf.shape(x)[0] - 1, x.dtype)
        values, vectors = tf.linalg.eigh(cov)
        s = tf.linalg.svd(centred, compute_uv=False)
        explained = values[-1] / tf.reduce_sum(values)
    return values, tf.abs(vectors), s, tape.gradient(explained, x), tape.gradient(s[0], x)


@program
def low_rank(tf):
    m = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
    s, u, v = tf.linalg.svd(m)
    one = u[:, :1] * s[0] @ tf.transpose(v[:, :1])
    whole = tf.matmul(u, tf.matmul(tf.linalg.diag(s), v, adjoint_b=True))
    return s, one, whole, tf.linalg.matrix_rank(one), u.shape, v.shape


@program
def decompositions_by_name(tf):
    m = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    q, r = tf.linalg.qr(m)
    found = tf.linalg.qr(m)
    sign, log = tf.linalg.slogdet(-m)
    det = tf.linalg.slogdet(m)
    return (
        q @ r, found.q @ found.r, type(found).__name__, sign, log, det.sign,
        det.log_abs_determinant,
        tf.linalg.lu(m).p, tf.linalg.lu_reconstruct(*tf.linalg.lu(m)), tf.linalg.lu(m)._fields,
    )  # fmt: skip


@program
def not_positive_definite(tf):
    m = tf.constant([[[4.0, 2.0], [2.0, 3.0]], [[1.0, 2.0], [2.0, 1.0]]])
    with tf.GradientTape() as tape:
        tape.watch(m)
        c = tf.linalg.cholesky(m)
        y = tf.reduce_sum(c[:, 1])
    return c[:, 1], tape.gradient(y, m), tf.linalg.logdet([[1.0, 2.0], [2.0, 1.0]])


@program
def singular_matrix(tf):
    return tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]])


@program
def singular_system(tf):
    return tf.linalg.solve([[1.0, 2.0], [2.0, 4.0]], [[1.0], [2.0]])


@program
def matrix_exponential_flow(tf):
    a = tf.Variable([[0.0, 1.0], [-1.0, -0.1]], dtype=tf.float64)
    with tf.GradientTape() as tape:
        x = tf.linalg.matvec(tf.linalg.expm(a * 0.5), tf.constant([1.0, 0.0], tf.float64))
        loss = tf.reduce_sum(x**2)
    return x, tape.gradient(loss, a), tf.linalg.trace(tf.linalg.expm(a))


@program
def batched_matrices(tf):
    a = tf.reshape(tf.range(8.0), [2, 2, 2]) + 3 * tf.eye(2, batch_shape=[2])
    b = tf.ones([2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        x = tf.linalg.solve(a, b)
        y = tf.linalg.inv(a) @ b + tf.linalg.det(a)[:, None, None]
        loss = tf.reduce_sum(x * y)
    return x, y, tape.gradient(loss, [a, b]), tf.linalg.trace(a), tf.linalg.matrix_transpose(a)


@program
def products_of_all_kinds(tf):
    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, -1.0])
    return (
        a @ a, tf.linalg.matvec(a, b), tf.tensordot(a, b, 1), tf.tensordot(b, b, axes=0),
        tf.einsum("ij,j->i", a, b), tf.einsum("i,j->ij", b, b), tf.einsum("ii", a),
        tf.matmul(a, a, transpose_b=True), tf.reduce_sum(b * b), a @ b[:, None], b[None] @ a,
        tf.tensordot(a, a, [[0, 1], [0, 1]]), tf.linalg.cross([1, 0, 0], [0.0, 1.0, 0.0] * a[0, 0]),
        tf.einsum("ij,kj->ik", np.ones((1, 2)), a), a @ [[1.0], [2.0]], [[1.0, 2.0]] @ a,
    )  # fmt: skip


@program
def product_errors(tf):
    a, b = tf.ones([2, 2]), tf.ones([3])
    found = []
    for f in (
        lambda: a @ b, lambda: tf.matmul(a, tf.ones([3, 2])), lambda: tf.tensordot(a, b, 1),
        lambda: tf.tensordot(a, [1, 2], 1), lambda: tf.linalg.matvec(a, [1, 2]),
        lambda: tf.tensordot(a, a, [[5], [0]]), lambda: tf.tensordot(a, a, [[-3], [0]]),
        lambda: tf.einsum("ij,jk->il", a, a), lambda: tf.einsum("ij,jk", a),
        lambda: tf.linalg.det(b),
        lambda: tf.linalg.inv(tf.ones([2, 3])), lambda: tf.linalg.solve(a, b), lambda: a @ 2.0,
        lambda: tf.linalg.solve(a, tf.ones([3, 1])), lambda: tf.linalg.trace(b), lambda: a @ "a",
        lambda: tf.linalg.cholesky(tf.ones([2], tf.int32)), lambda: tf.norm(a, ord="nuc"),
        lambda: tf.norm(a, axis=[0, 0]), lambda: tf.norm(a, axis=5), lambda: tf.matmul(a, None),
        lambda: tf.linalg.cross(a, a), lambda: tf.linalg.solve([[1, 2], [3, 4]], [[1.0], [2.0]]),
        lambda: tf.linalg.diag_part(a, k=7), lambda: tf.linalg.svd(b), lambda: tf.eye(2.5),
        lambda: tf.matmul(a, a, transpose_a=True, adjoint_a=True), lambda: tf.tensordot(a, a, 1.5),
    ):  # fmt: skip
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def norms(tf):
    m = tf.constant([[3.0, -4.0], [0.0, 5.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(m)
        ys = [
            tf.norm(m), tf.norm(m, axis=1), tf.norm(m, ord=1), tf.norm(m, ord=np.inf, axis=0),
            tf.norm(m, ord=2, axis=[0, 1]), tf.norm(m, "fro", axis=(0, 1)), tf.norm(m, 3, axis=-1),
            tf.linalg.normalize(m, axis=0)[0], tf.norm(m, 1, axis=[-2, -1], keepdims=True),
            tf.math.reduce_euclidean_norm(m, axis=0), tf.linalg.global_norm([m, m[0]]),
        ]  # fmt: skip
    return [(y, tape.gradient(y, m)) for y in ys]


@program
def norm_at_zero(tf):
    x = tf.zeros([2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = tf.norm(x), tf.sqrt(tf.reduce_sum(x**2) + 1e-12)
        c = tf.math.l2_normalize(x)
    return [tape.gradient(y, x) for y in (a, b, c)]


@program
def diagonals(tf):
    d = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        m = tf.linalg.diag(d) + tf.linalg.diag(d[:2], k=1) + tf.linalg.diag(d[1:], k=-1)
        y = tf.linalg.det(m) + tf.reduce_sum(tf.linalg.set_diag(m, [0.0, 0.0, 0.0]) ** 2)
    return (
        m,
        y,
        tape.gradient(y, d),
        tf.linalg.diag_part(m, k=1),
        tf.linalg.trace(m),
        (
            tf.linalg.diag([1, 2], padding_value=-1),
            tf.linalg.tensor_diag([1.0, 2.0]),
            tf.linalg.set_diag([[1, 2], [3, 4]], d[:2] + 0.0),
            tf.linalg.diag_part(m, k=(-1, 1)),
        ),
    )


@program
def heat_equation_implicit(tf):
    u = tf.Variable([0.0, 1.0, 2.0, 1.0, 0.0])
    r = tf.constant(0.4)
    with tf.GradientTape() as tape:
        n = u.shape[0]
        diagonals = tf.stack([tf.fill([n], -r), tf.fill([n], 1 + 2 * r), tf.fill([n], -r)])
        after = tf.linalg.tridiagonal_solve(diagonals, u + 0.0)
        loss = tf.reduce_sum(after**2)
    return after, tape.gradient(loss, u)


@program
def banded(tf):
    bands = tf.constant([[2.0, 2.0, 2.0], [0.0, 1.0, -1.0]])
    rhs = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch([bands, rhs])
        x = tf.linalg.banded_triangular_solve(bands, rhs)
    return (
        x,
        tape.gradient(x, [bands, rhs]),
        tf.linalg.eigh_tridiagonal(tf.constant([1.0, 2.0, 3.0]), tf.constant([0.1, 0.2])),
    )


@program
def logarithm_of_a_matrix(tf):
    m = tf.constant([[2.0, 1.0], [1.0, 3.0]], tf.complex128)
    log = tf.linalg.logm(m)
    return log, tf.linalg.expm(log)


@program
def spectrum_loss(tf):
    t = tf.range(16.0)
    f = tf.Variable(0.2)
    with tf.GradientTape() as tape:
        x = tf.sin(2 * np.pi * f * t)
        s = tf.abs(tf.signal.rfft(x)) ** 2
        centre = tf.reduce_sum(s * tf.range(9.0)) / tf.reduce_sum(s)
    return s, centre, tape.gradient(centre, f), s.shape


@program
def convolution_by_fourier(tf):
    a, b = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([0.5, -1.0])
    with tf.GradientTape() as tape:
        fa, fb = (tf.signal.rfft(v, fft_length=[4]) for v in (a, b))
        y = tf.signal.irfft(fa * fb, fft_length=[4])
        loss = tf.reduce_sum(y**2)
    return y, tape.gradient(loss, [a, b])


@program
def mel_features(tf):
    t = tf.range(512, dtype=tf.float64) / 8000.0
    x = tf.sin(2 * np.pi * 440.0 * t) + 0.3 * tf.cos(2 * np.pi * 1200.0 * t)
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.abs(tf.signal.stft(x, frame_length=128, frame_step=64, fft_length=128))
        mel = tf.tensordot(
            s, tf.signal.linear_to_mel_weight_matrix(8, s.shape[-1], 8000, dtype=x.dtype), 1
        )
        coefficients = tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-2))[..., :4]
        loss = tf.reduce_mean(coefficients**2)
    return coefficients, tape.gradient(loss, x), mel.shape


@program
def overlapping_frames(tf):
    x = tf.sin(tf.range(32.0))
    frames = tf.signal.frame(x, 8, 4)
    window = tf.signal.hann_window(8)
    with tf.GradientTape() as tape:
        tape.watch(frames)
        y = tf.signal.overlap_and_add(frames * window, 4)
        loss = tf.reduce_sum(y**2)
    back = tf.signal.inverse_mdct(tf.signal.mdct(x, 8))
    return frames.shape, y, tape.gradient(loss, frames), tf.signal.mdct(x, 8, norm="ortho"), back


@program
def cosine_transforms(tf):
    x = tf.constant([[1.0, 2.0, -1.0, 0.5]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [tf.signal.dct(x, type=k) for k in (1, 2, 3, 4)]
        ys += [tf.signal.dct(x, norm="ortho"), tf.signal.idct(x, type=2), tf.signal.dct(x, n=6)]
    return [(y, tape.gradient(y, x)) for y in ys]


@program
def quadratic_form_hessian(tf):
    a = tf.constant([[2.0, 1.0], [0.0, 3.0]])
    x = tf.Variable([1.0, -1.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = 0.5 * tf.einsum("i,ij,j->", x, a, x) + tf.linalg.logdet(tf.linalg.diag(x**2 + 1))
        g = tape.gradient(y, x)
    return y, g, outer.jacobian(g, x)


@program
def second_derivatives_of_solvers(tf):
    m = tf.constant([[3.0, 1.0], [0.5, 2.0]], tf.float64)
    found = []
    for f in (tf.linalg.inv, tf.linalg.det, lambda a: tf.linalg.solve(a, tf.eye(2, dtype=a.dtype)),
              lambda a: tf.linalg.slogdet(a)[1], tf.norm, tf.linalg.trace, tf.linalg.cholesky,
              lambda a: tf.linalg.svd(a, compute_uv=False)):  # fmt: skip
        with tf.GradientTape() as outer:
            outer.watch(m)
            with tf.GradientTape() as tape:
                tape.watch(m)
                y = tf.reduce_sum(f(m) ** 3)
            g = tape.gradient(y, m)
        found += [y, g, outer.gradient(g, m)]
    return found


@program
def forward_mode_of_matrices(tf):
    m, t = tf.constant([[3.0, 1.0], [1.0, 2.0]]), tf.constant([[0.1, 0.2], [0.2, -0.3]])
    found = []
    for f in (tf.linalg.inv, tf.linalg.det, tf.linalg.cholesky, lambda a: tf.linalg.eigh(a)[0],
              lambda a: tf.linalg.solve(a, tf.ones([2, 1])), tf.linalg.expm, tf.norm,
              lambda a: tf.einsum("ij,jk->ik", a, a)):  # fmt: skip
        with tf.autodiff.ForwardAccumulator(m, t) as acc:
            y = f(m)
        found.append(acc.jvp(y))
    return found


@program
def per_example_jacobian(tf):
    w = tf.Variable([[1.0, -0.5], [0.3, 0.8]])
    x = tf.constant([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(x @ w)
        losses = tf.reduce_sum(y**2, axis=1)
    return tape.batch_jacobian(y, x), tape.jacobian(losses, w), tape.jacobian(y, w).shape


@program
def attention(tf):
    q = tf.reshape(tf.range(12.0) / 10, [2, 3, 2])
    k, v = tf.sin(q), tf.cos(q)
    with tf.GradientTape() as tape:
        tape.watch([q, k, v])
        scores = tf.einsum("bqd,bkd->bqk", q, k) / np.sqrt(2.0)
        scores += tf.linalg.band_part(tf.ones([3, 3]), 0, -1) * -1.0 + tf.eye(3)
        out = tf.einsum("bqk,bkd->bqd", tf.nn.softmax(scores), v)
        loss = tf.reduce_mean(tf.square(out))
    return out, tape.gradient(loss, [q, k, v])


@program
def orthogonal_penalty(tf):
    w = tf.Variable([[1.0, 0.2], [0.1, 0.9], [0.3, -0.4]])
    with tf.GradientTape() as tape:
        gram = tf.matmul(w, w, transpose_a=True)
        loss = tf.square(tf.norm(gram - tf.eye(2), ord="fro", axis=[0, 1]))
    return loss, tape.gradient(loss, w), gram


@program
def complex_matrices(tf):
    m = tf.constant([[2.0 + 0j, 1j], [-1j, 3.0 + 0j]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(m)
        a = tf.linalg.trace(m @ tf.linalg.adjoint(m))
        b = tf.linalg.det(m)
        c = tf.linalg.inv(m)
        d = tf.abs(tf.linalg.matvec(m, tf.constant([1.0 + 0j, 1j])))
    return [(y, tape.gradient(y, m)) for y in (a, b, c, d)], tf.linalg.eigvalsh(m)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_written(name):
    tensorflow_parity.compare(WRITTEN[name], rtol=1e-4)


#: Single lines, in which names stand for what `tensorflow_lines.names` says.
SINGLE = """
tf.linalg.logm(tf.cast([[2.,1.],[1.,2.]],tf.complex64))
tf.linalg.logm([[2.,1.],[1.,2.]])
g(tf.linalg.logm,tf.cast([[2.,1.],[1.,2.]],tf.complex64))
tf.linalg.logm(tf.constant([[[1,2],[0,1]],[[3,0],[1,3]]],tf.complex128))
tf.linalg.eigh_tridiagonal([1.,2.],[.5])
tf.linalg.eigh_tridiagonal(tf.constant([1.,2.,3.,4.]),tf.constant([.5,.2,.3]))
tf.linalg.eigh_tridiagonal(tf.constant([1.,2.,3.,4.]),tf.constant([.5,.2]))
tf.linalg.eigh_tridiagonal(tf.constant([1.,2.,3.,4.]),tf.constant([.5,.2,.3]),select='q')
tf.linalg.eigh_tridiagonal(tf.constant([1,2]),tf.constant([1]))
tf.linalg.banded_triangular_solve([[1.,2.],[0.,1.]],[[1.],[2.]])
tf.linalg.banded_triangular_solve([[1.,2.,3.],[0.,1.,5.]],[[1.],[2.],[3.]])
tf.linalg.banded_triangular_solve([[1.,2.,0.],[3.,1.,5.]],[[1.],[2.],[3.]],lower=False)
tf.linalg.banded_triangular_solve([[1.,2.,3.],[0.,1.,5.]],[[1.],[2.],[3.]],adjoint=True)
tf.linalg.banded_triangular_solve([[1.,2.,3.],[0.,1.,5.],[0.,0.,2.]],[[1.],[2.],[3.]])
tf.linalg.banded_triangular_solve([[1.,2.,3.],[0.,1.,5.]],[1.,2.,3.])
tf.linalg.cholesky([[1.,2.],[2.,1.]])[1]
tf.linalg.cholesky([[[4.,2.],[2.,3.]],[[-1.,2.],[2.,1.]]])[:,1]
g(lambda m: tf.linalg.cholesky(m)[:,1,1],tf.constant([[[4.,2.],[2.,3.]],[[-1.,2.],[2.,1.]]]))
tf.linalg.logdet([[1.,2.],[2.,1.]])
tf.linalg.logdet([[-1.,2.],[2.,1.]])
g(tf.linalg.logdet,tf.constant([[-1.,2.],[2.,1.]]))
tf.linalg.lstsq(tf.ones([3,2]),tf.ones([3,1]))
tf.signal.mdct(tf.sin(tf.range(64.)),16)
tf.signal.mdct(tf.sin(tf.range(64.)),16,None)
tf.signal.mdct(tf.sin(tf.range(60.)),16,norm='ortho',pad_end=True)
tf.signal.mdct(tf.sin(tf.range(60.)),18)
tf.signal.inverse_mdct(tf.signal.mdct(tf.sin(tf.range(64.)),16))
g(lambda x: tf.signal.mdct(x,8)**2,tf.sin(tf.range(32.)))
g(lambda x: tf.signal.inverse_mdct(x)**2,t3)
tf.signal.linear_to_mel_weight_matrix()
tf.signal.linear_to_mel_weight_matrix(4,9,8000.,dtype=tf.float64)
tf.signal.linear_to_mel_weight_matrix(0)
tf.signal.linear_to_mel_weight_matrix(4,9,8000,upper_edge_hertz=5000.)
tf.signal.linear_to_mel_weight_matrix(4,9,8000,lower_edge_hertz=-1.)
tf.signal.linear_to_mel_weight_matrix(4,9,8000,dtype=tf.int32)
tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(t3+1))
g(tf.signal.mfccs_from_log_mel_spectrograms,tf.math.log(t3+1))
tf.signal.mfccs_from_log_mel_spectrograms(tf.zeros([2,0]))
tf.tensordot(x,np.array([1.,2.,3.]),1)
tf.tensordot(d,[1.,2.,3.],1)
tf.tensordot(np.array([1.,2.,3.]),x,1)
tf.tensordot(v,v,1)
tf.linalg.matvec(m,np.array([1.,2.]))
tf.linalg.matvec(m,[1.,2.])
tf.linalg.matvec(tf.cast(m,tf.float64),[1.,2.])
tf.linalg.matvec(m,v[:2])
tf.linalg.solve([[1,2],[3,5]],[[1.],[2.]])
tf.linalg.solve([[1.,2.],[3.,5.]],[[1],[2]])
tf.linalg.solve(np.array([[1.,2.],[3.,5.]]),[[1.],[2.]])
tf.linalg.solve([[1.,2.],[3.,5.]],np.array([[1.],[2.]]))
tf.linalg.solve(np.array([[1.,2.],[3.,5.]]),x[:2,None])
tf.linalg.triangular_solve([[1,0],[3,5]],x[:2,None])
tf.linalg.triangular_solve(m,[[1],[2]])
tf.linalg.triangular_solve(np.array([[1.,0],[3,5]]),x[:2,None])
tf.linalg.cholesky_solve([[1,0],[3,5]],x[:2,None])
tf.linalg.cholesky_solve(m,[[1],[2]])
tf.linalg.lstsq(m,[[1],[2]])
tf.linalg.lstsq(m,np.array([[1.],[2.]]))
tf.linalg.cross([1,0,0],[1.,0.,0.])
tf.linalg.cross(np.array([1.,0.,0.]),x)
tf.linalg.set_diag(m,[1,2])
tf.linalg.set_diag([[1,2],[3,4]],[1.,2.])
tf.linalg.set_diag([[1,2],[3,4]],x[:2])
tf.linalg.diag(x,padding_value=1)
tf.linalg.lu_solve(*tf.linalg.lu(m),[[1.],[2.]])
tf.linalg.tridiagonal_solve(tf.constant([[1.,1.,0.],[4.,4.,4.],[0.,1.,1.]]),x[:,None])
tf.linalg.tridiagonal_solve([x[:2],x,x[:2]],x,diagonals_format='sequence')
tf.linalg.norm([1,2.])
tf.linalg.norm(np.array([3.,4.]))
tf.linalg.norm(v)
tf.linalg.norm([x,x],axis=1)
tf.linalg.norm(x,axis=[0])
tf.linalg.norm(m,axis=[0,0])
tf.linalg.norm(m,ord=1.5)
tf.linalg.norm(m,axis=None,keepdims=True)
tf.linalg.norm(t3,axis=[-2,-1])
tf.linalg.norm(t3,ord=1,axis=[0,1],keepdims=True)
tf.linalg.norm(m,ord=-1)
tf.linalg.norm(m,ord=-1,axis=[0,1])
tf.linalg.trace([[1,2],[3,4]])
tf.linalg.det([[1,2],[3,4]])
tf.linalg.det(np.array([[1.,2.],[3.,4.]]))
tf.linalg.det(mv)
tf.linalg.inv(mv)
tf.linalg.inv(tf.cast(m,tf.complex64))
tf.linalg.svd(mv,compute_uv=False)
tf.linalg.svd(m,True)[0]
tf.linalg.svd(t3,full_matrices=True)[2].shape
tf.linalg.svd(t3)[1].shape
tf.linalg.qr(t3,full_matrices=True)[0].shape
[q.shape for q in tf.linalg.qr(t3)]
tf.linalg.eigh(np.eye(2))[0]
tf.linalg.slogdet(m).sign
tf.linalg.slogdet(m)._fields
tf.linalg.slogdet(m)[1]
type(tf.linalg.svd(m)).__name__
type(tf.linalg.qr(m)).__name__
type(tf.linalg.eigh(m)).__name__
tf.linalg.qr(m).r
type(tf.linalg.lu(m)).__name__
type(tf.linalg.eig(m)).__name__
type(tf.linalg.normalize(m)).__name__
type(tf.linalg.slogdet(m)).__name__
type(tf.math.top_k(x)).__name__
type(tf.unique([1])).__name__
type(tf.split(x,3)).__name__
type(tf.unstack(x)).__name__
type(tf.meshgrid(x,x)).__name__
type(tf.dynamic_partition(x,[0,1,0],2)).__name__
type(tf.clip_by_global_norm([x],1.)).__name__
type(tf.shape_n([x,x])).__name__
type(tf.identity_n([x,x])).__name__
type(tf.nn.moments(x,0)).__name__
tf.linalg.matmul(m,[1.,2.])
tf.linalg.matrix_rank([[1.,2.],[2.,4.]])
tf.linalg.pinv([[1.,2.],[2.,4.]])
tf.linalg.pinv(m,rcond=.5)
tf.linalg.expm(tf.zeros([2,2]))
tf.linalg.expm(tf.cast(m,tf.float64))
tf.linalg.global_norm([x,None])
tf.linalg.global_norm([])
tf.linalg.tensor_diag_part(x)
tf.linalg.band_part(tf.ones([3,3],tf.int32),1,0)
tf.linalg.band_part(tf.ones([2,3,3]),tf.constant(1),tf.constant(0))
tf.linalg.adjoint([[1,2],[3,4]])
tf.linalg.diag_part([[1,2],[3,4]])
tf.linalg.eye(2,dtype=tf.float64)
tf.tensordot(m,m,[[5],[0]])
tf.tensordot(m,m,[[-1],[0]])
tf.tensordot(m,m,[[-3],[0]])
tf.tensordot(m,m,[[0,1],[1,0]])
tf.tensordot(m,m,[[0],[0,1]])
tf.tensordot(m,m,axes=tf.constant([[1],[0]]))
tf.tensordot(m,m,axes=((1,),(0,)))
tf.tensordot(m,m,axes=(1,1))
tf.tensordot(m,m,1.5)
tf.tensordot(m,m,None)
tf.linalg.slogdet(t3[:,:,:3]+tf.eye(3))
tf.linalg.lu(m)[0]
g(lambda m: tf.linalg.slogdet(m).log_abs_determinant,m)
g(lambda m: tf.linalg.qr(m).r,m)
tf.signal.frame(x,2,1,axis=3)
tf.signal.frame(x,2,1,axis=-3)
tf.signal.frame(m,2,1,axis=0)
tf.signal.frame(x,0,1)
tf.signal.frame(x,2,0)
tf.norm(m,axis=5)
tf.norm(m,axis=-5)
tf.norm(m,axis=[0,5])
tf.norm(m,ord=2,axis=[0,5])
tf.norm(m,ord=2,axis=[-5,1])
tf.norm(m,ord=1,axis=3)
tf.linalg.normalize(m,axis=5)
tf.signal.fftshift(m,axes=5)
tf.signal.fftshift(m,axes=[0,5])
tf.signal.fftshift(m,axes=-1)
tf.signal.dct(m,axis=0)
tf.roll(m,1,axis=5)
tf.roll(m,1,axis=-5)
tf.repeat(m,2,axis=5)
tf.repeat(m,2,axis=-3)
tf.stack([x,x],axis=-3)
tf.stack([x,x],axis=-2)
tf.concat([x,x],-2)
tf.concat([x,x],1)
tf.split(x,1,axis=-2)
tf.unstack(m,axis=-3)
tf.gather(m,[0],axis=-3)
tf.gather(m,[0],axis=3)
tf.one_hot([0],2,axis=5)
tf.one_hot([0],2,axis=-5)
tf.one_hot([0],2,axis=-2)
tf.sort(m,axis=5)
tf.sort(m,axis=-3)
tf.argsort(m,axis=2)
tf.reverse(m,[-3])
tf.transpose(m,[0,2])
tf.transpose(m,[-3,0])
tf.transpose(m,[1,0,0])
tf.expand_dims(m,-4)
tf.expand_dims(m,3)
tf.squeeze(m[None],-4)
tf.cumsum(m,-3)
tf.math.cumprod(m,2)
tf.reduce_sum(m,-3)
tf.math.reduce_std(m,axis=2)
tf.math.count_nonzero(m,axis=2)
tf.reduce_any(b,axis=1)
tf.boolean_mask(m,[True,False],axis=2)
tf.boolean_mask(m,[True,False],axis=-1)
tf.boolean_mask(t3,[True,False,True],axis=1)
tf.linspace([0.],[1.],3,axis=3)
tf.linspace([0.],[1.],3,axis=-3)
tf.math.l2_normalize(m,axis=5)
tf.clip_by_norm(m,1.,axes=5)
tf.clip_by_norm(m,1.,axes=[0])
tf.math.softmax(m,axis=5)
tf.meshgrid(m,x)
tf.broadcast_to(m,[])
tf.broadcast_to(m,[0,2])
tf.broadcast_to(m,[3,2,2])
tf.strided_slice(m,[0,0,0],[1,1,1])
tf.slice(m,[0,0],[3,1])
tf.slice(m,[0,0],[1,1,1])
tf.slice(m,[0,3],[1,1])
tf.gather_nd(m,[[0,-1]])
tf.scatter_nd([[-1]],[1.],[3])
tf.tensor_scatter_nd_update(x,[[-1]],[1.])
tf.tensor_scatter_nd_add(x,[[3]],[1.])
tf.math.segment_sum(x,[-1,0,1])
tf.linalg.diag_part(m,k=-5)
tf.linalg.diag(x,k=(1,0))
tf.linalg.band_part(m,5,0)
tf.linalg.set_diag(m,[1.,2.,3.])
tf.linalg.matmul(m,tf.ones([3,2]))
tf.linalg.einsum('ij,jk->ik',m,tf.ones([3,2]))
tf.einsum('ijk->k',m)
tf.einsum('i->i',m)
tf.einsum('ij',x)
tf.einsum('i...->...',t3)
tf.einsum('...->...',t3)
tf.einsum('...i->...',t3)
tf.einsum('bij,bjk->bik',t3,m)
tf.einsum('i1,1j->ij',m,m)
tf.einsum('iij->j',tf.zeros([2,2,3]))
tf.einsum('ij->jj',m)
tf.einsum('ij,kl->ijkl',m,m)
tf.einsum('ij,ij->',m,m)
tf.einsum('ij,jk->ki',m,m)
tf.einsum('ab,bc,cd,d->a',m,m,m,x[:2])
tf.einsum('...ij,...j->...i',t3,t3[:,0])
tf.einsum('...ij,...j->...i',t3,x[:1].__getitem__(slice(0,1))*tf.ones([4]))
tf.einsum('IJ,JK->IK',m,m)
tf.einsum('ij,jk->ik',mv,mv)
tf.einsum('ij,jk->ik',np.ones((2,2)),m)
tf.einsum('ij,jk->ik',m,np.ones((2,2)))
tf.einsum('ij,jk->ik',[[1.,2.]],m)
tf.einsum('ij,j->i',m,[1.,2.])
g(lambda x: tf.math.real(tf.signal.fft(tf.cast(x,tf.complex64))),x)
g(lambda x: tf.abs(tf.signal.rfft(x))**2,x)
g(lambda x: tf.signal.irfft(tf.signal.rfft(x)),x)
g(lambda x: tf.signal.irfft(tf.signal.rfft(x),fft_length=[3]),x)
tf.signal.rfft(x,fft_length=[5])
tf.signal.rfft(x,[2])
tf.signal.rfft(i)
tf.signal.fft(x)
tf.signal.fft(c)
tf.signal.ifft(tf.signal.fft(c))
tf.signal.fft2d(tf.cast(m,tf.complex128))
tf.signal.rfft2d(m)
tf.signal.irfft2d(tf.signal.rfft2d(m))
tf.signal.fft3d(tf.cast(t3,tf.complex64))
tf.signal.fftshift(x)
tf.signal.ifftshift(m,axes=[1])
tf.signal.dct(x)
tf.signal.dct(x,type=1)
tf.signal.dct(x,type=3,norm='ortho')
tf.signal.dct(x,n=5)
tf.signal.idct(tf.signal.dct(x,norm='ortho'),norm='ortho')
tf.signal.dct(x,type=5)
tf.signal.frame(tf.range(10),4,2)
tf.signal.frame(tf.range(10.),4,3,pad_end=True)
tf.signal.frame(tf.range(10),4,3,True,-1)
tf.signal.overlap_and_add(t3,2)
g(lambda t: tf.signal.overlap_and_add(t,2)**2,t3)
tf.signal.hann_window(6)
tf.signal.hamming_window(5,periodic=False)
tf.signal.kaiser_window(5)
tf.signal.vorbis_window(6)
tf.signal.stft(tf.sin(tf.range(64.)),16,8)
tf.signal.stft(tf.sin(tf.range(64.)),frame_length=16,frame_step=8,fft_length=32,pad_end=True)
g(lambda x: tf.abs(tf.signal.stft(x,16,8)),tf.sin(tf.range(40.))+.1)
tf.signal.linear_to_mel_weight_matrix(4,9,8000.)
g(lambda m: tf.linalg.slogdet(m)[1],m)
g(lambda m: tf.linalg.slogdet(m),m)
g(lambda a,b: tf.linalg.solve(a,b,adjoint=True),m,tf.constant([[1.],[2.]]))
g(tf.linalg.cholesky,tf.constant([[4.,9.],[1.,3.]]))
g(lambda a,b: tf.linalg.triangular_solve(a,b),m,m)
g(lambda a,b: tf.linalg.triangular_solve(a,b,lower=False,adjoint=True),m,m)
g(lambda a,b: tf.linalg.cholesky_solve(a,b),m,m)
g(lambda a: tf.linalg.qr(a)[1],m)
g(lambda a: tf.linalg.svd(a)[0],m)
g(lambda a: tf.linalg.svd(a,compute_uv=False),m)
g(lambda a: tf.abs(tf.linalg.svd(a)[1]),m)
g(lambda a: tf.linalg.eigh(a)[0],tf.constant([[2.,1.],[1.,3.]]))
g(lambda a: tf.abs(tf.linalg.eigh(a)[1]),tf.constant([[2.,1.],[1.,3.]]))
g(tf.linalg.eigvalsh,tf.constant([[2.,1.],[1.,3.]]))
g(lambda a: tf.math.real(tf.linalg.eigvals(a)),m)
g(lambda a: tf.math.real(tf.linalg.eig(a)[0]),m)
g(tf.linalg.sqrtm,tf.constant([[4.,1.],[1.,3.]]))
g(tf.linalg.pinv,tf.constant([[1.,2.],[3.,4.],[5.,7.]]))
g(lambda m: tf.linalg.diag_part(m,k=1),m)
g(lambda x: tf.linalg.diag(x)**2,x)
g(lambda m: tf.linalg.band_part(m,0,-1)**2,m)
g(lambda m: tf.linalg.set_diag(m,[1.,1.])**2,m)
g(lambda a,b: tf.linalg.set_diag(a,b)**2,m,x[:2])
g(lambda a,b: tf.linalg.cross(a,b),x,tf.constant([1.,0.,2.]))
g(lambda a,b: tf.linalg.matvec(a,b),m,x[:2])
g(lambda a: tf.linalg.normalize(a)[0],x)
g(lambda a: tf.linalg.norm(a,ord=2,axis=[0,1]),m)
tf.linalg.solve(t3[:,:,:3]+tf.eye(3)*50.,tf.ones([2,3,1]))
tf.linalg.inv(im)
tf.linalg.det(tf.zeros([0,0]))
tf.linalg.inv(tf.eye(2,batch_shape=[3]))
tf.linalg.solve(tf.eye(2),tf.ones([3,1]))
tf.linalg.solve(m,im)
tf.linalg.cholesky(tf.constant([[4.,1.],[1.,3.]],tf.float64))
tf.linalg.matvec(m,m)
tf.linalg.matvec(m,x)
tf.linalg.trace(x)
tf.linalg.diag(5.)
tf.linalg.diag_part(x)
tf.linalg.band_part(x,0,0)
tf.linalg.expm(x)
tf.linalg.matrix_transpose(x)
tf.linalg.adjoint(c[None])
tf.math.special.spence(x)
g(tf.math.special.dawsn,x)
g(tf.math.bessel_i0,x)
g(tf.math.bessel_i1e,x)
g(tf.math.special.bessel_j0,x)
g(tf.math.special.bessel_k1,x)
g(tf.math.special.expint,x)
g(tf.math.special.fresnel_sin,x)
g(tf.math.lbeta,x)
g(lambda a,b: tf.math.igammac(a,b),x,x+1)
g(lambda a,b,q: tf.math.betainc(a,b,q),x,x+1,x/5)
g(lambda a: tf.math.polyval([a[0],a[1],a[2]],2.),x)
g(lambda a: tf.math.scalar_mul(a[0],a),x)
g(lambda a: tf.add_n([a,a,a]),x)
g(lambda a: tf.math.l2_normalize(a),x)
g(lambda a: tf.math.l2_normalize(a),x*0)
g(lambda a: tf.reduce_sum(tf.math.softmax(a)*[1.,2.,3.]),x)
g(lambda a: tf.minimum(a,2.),x)
g(lambda a: tf.maximum(0.,a),z)
g(lambda a: tf.maximum(a,0.),z)
g(lambda a: tf.math.squared_difference(a,2),x)
g(lambda a,b: a/b,x,z)
g(lambda a,b: a**b,z,z)
g(lambda a,b: a**b,x,x)
g(lambda a,b: a**b,-x,x)
g(lambda a,b: tf.math.divide_no_nan(a,b),x,z)
g(lambda a,b: a//b,x,x)
g(lambda a,b: tf.math.floordiv(a,b),x,x)
g(lambda a,b: tf.truncatediv(a,b),x,x)
g(lambda a,b: tf.math.mod(a,b),x*2,x+.3)
g(tf.math.log,c)
g(lambda q: tf.abs(q)**2,c)
g(lambda q: tf.math.real(q*tf.math.conj(q)),c)
g(lambda q: q*tf.math.conj(q),c)
g(lambda q: tf.math.imag(q**2),c)
g(lambda q: tf.math.angle(q),c)
g(tf.math.sin,c)
g(tf.math.tan,c)
g(tf.math.reciprocal,c)
g(tf.math.rsqrt,c)
g(tf.math.sign,c)
g(lambda q: tf.reduce_mean(q),c)
g(lambda q: tf.linalg.matmul(q[None],q[:,None]),c)
g(lambda q: tf.linalg.matmul(q[None],q[None],adjoint_b=True),c)
g(lambda q: tf.einsum('i,i->',q,tf.math.conj(q)),c)
g(lambda q: tf.math.reduce_std(q),c)
g(lambda q: tf.math.reduce_variance(q),c)
g(lambda q: tf.norm(q),c)
g(lambda q: tf.cumsum(q),c)
g(lambda q: tf.tensordot(q,q,1),c)
g(lambda q: tf.where([True,False],q,0j),c)
j(tf.abs,x)
j(lambda x: tf.gather(x,[0,0])**2,x)
j(lambda x: tf.reduce_max(x),x)
j(lambda x: tf.sort(x),x)
j(lambda x: tf.linalg.inv(tf.linalg.diag(x)),x)
j(lambda x: tf.concat([x,x**2],0),x)
j(lambda x: tf.cumsum(x),x)
j(lambda x: tf.math.cumprod(x),x)
j(lambda x: tf.reduce_prod(x),x)
j(lambda x: tf.tensor_scatter_nd_add(x,[[0]],[1.])**2,x)
j(lambda x: tf.where(x>1,x**2,x),x)
j(lambda x: tf.norm(x),x)
j(lambda x: tf.einsum('i,i->',x,x),x)
j(lambda x: tf.einsum('i,j->ij',x,x),x)
j(lambda m: tf.linalg.det(m),m)
j(lambda m: tf.linalg.cholesky(m),tf.constant([[4.,1.],[1.,3.]]))
j(lambda m: tf.linalg.eigh(m)[0],tf.constant([[4.,1.],[1.,3.]]))
j(lambda m: tf.linalg.svd(m,compute_uv=False),m)
j(lambda m: tf.linalg.qr(m)[1],m)
j(lambda x: tf.pad(x,[[1,1]]),x)
j(lambda x: tf.reshape(x,[3,1])@tf.reshape(x,[1,3]),x)
j(lambda x: tf.signal.rfft(x),x)
j(lambda x: tf.math.cumulative_logsumexp(x),x)
j(lambda x: tf.reduce_logsumexp(x),x)
j(lambda x: tf.cast(x,tf.int32),x)
j(lambda x: tf.cast(x,tf.float64)**2,x)
j(lambda x: tf.stop_gradient(x)*x,x)
j(lambda x: tf.argmax(x),x)
j(lambda x: tf.unstack(x)[1]**2,x)
j(lambda x: tf.split(x,3)[0]**2,x)
j(lambda x: tf.repeat(x,2),x)
j(lambda x: tf.tile(x,[2]),x)
j(lambda x: tf.roll(x,1,0),x)
j(lambda x: tf.boolean_mask(x,[True,False,True]),x)
j(lambda x: tf.dynamic_partition(x,[0,1,0],2)[0],x)
j(lambda x: tf.math.top_k(x,2)[0],x)
j(lambda x: tf.clip_by_value(x,1.,2.),x)
j(lambda x: tf.clip_by_norm(x,1.),x)
j(lambda x: x[1:]**2,x)
j(lambda x: x[::-1]*x,x)
j(lambda x: tf.matmul(tf.ones([2,3]),x[:,None]),x)
j(lambda x: tf.math.segment_prod(x,[0,0,1]),x)
j(lambda x: tf.math.unsorted_segment_min(x,[0,0,1],2),x)
j(lambda x: tf.math.lgamma(x),x)
j(lambda x: tf.round(x),x)
j(lambda x: tf.broadcast_to(x,[2,3]),x)
j(lambda x: tf.transpose(tf.reshape(x,[1,3])),x)
j(lambda x: tf.linspace(x[0],x[1],4),x)
j(lambda x: tf.meshgrid(x,x)[0],x)
j(lambda x: tf.stack([x,x*2]),x)
j(lambda x: tf.complex(x,x)*1j,x)
j(lambda x: tf.fill([2],x[0]),x)
j(lambda x: tf.linalg.band_part(tf.reshape(tf.tile(x,[3]),[3,3]),0,0),x)
"""


@pytest.mark.parametrize("line", SINGLE.strip().split("\n"))
@pytest.mark.filterwarnings("ignore")
def test_single_line(line):
    compare_line(line)
