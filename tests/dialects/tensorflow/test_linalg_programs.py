"""Programs of linear algebra, as people write them."""

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

program = WRITTEN = Programs()


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
        tf.linalg.lu(m).p, tf.linalg.lu(m).lu, tf.linalg.lu(m)._fields,
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
        ),
    )


@program
def heat_equation_implicit(tf):
    u = tf.Variable([0.0, 1.0, 2.0, 1.0, 0.0])
    r = tf.constant(0.4)
    with tf.GradientTape() as tape:
        n = u.shape[0]
        beside = tf.fill([n - 1], -r)
        matrix = tf.linalg.diag(tf.fill([n], 1 + 2 * r)) + tf.linalg.diag(beside, k=1)
        after = tf.linalg.solve(matrix + tf.linalg.diag(beside, k=-1), u[:, None])
        loss = tf.reduce_sum(after**2)
    return after, tape.gradient(loss, u)


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
def overlapping_frames(tf):
    x = tf.sin(tf.range(32.0))
    frames = tf.signal.frame(x, 8, 4)
    window = tf.signal.hann_window(8)
    with tf.GradientTape() as tape:
        tape.watch(frames)
        y = tf.signal.overlap_and_add(frames * window, 4)
        loss = tf.reduce_sum(y**2)
    return frames.shape, y, tape.gradient(loss, frames)


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
    compare(WRITTEN[name])
