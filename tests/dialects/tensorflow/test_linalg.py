"""tf.linalg and products."""

import numpy as np
import pytest

from tests.dialects.tensorflow.linalg_cases import graded
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

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
    "diag": lambda tf: graded(tf, tf.linalg.diag, A),
    "diag k": lambda tf: [tf.linalg.diag([1.0, 2.0], k=k) for k in (-2, -1, 0, 1)],
    "diag padding": lambda tf: tf.linalg.diag([1, 2], k=1, num_rows=4, num_cols=3, padding_value=9),
    "diag_part": lambda tf: graded(tf, tf.linalg.diag_part, THREE),
    "diag_part k": lambda tf: [tf.linalg.diag_part(THREE, k=k) for k in (-2, -1, 0, 1, 3)],
    "diag_part too far": lambda tf: tf.linalg.diag_part(A, k=5),
    "set_diag": lambda tf: graded(tf, tf.linalg.set_diag, MANY, SIDES[:, :, 0]),
    "set_diag k": lambda tf: tf.linalg.set_diag(tf.zeros([3, 4]), [1.0, 2.0, 3.0], k=1),
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


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    compare(PRODUCTS[name])


@pytest.mark.parametrize("name", LINALG)
def test_linalg(name):
    compare(LINALG[name], rtol=1e-7 if "float32" not in name else 1e-4)
