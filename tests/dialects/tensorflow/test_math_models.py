"""Models of statistics, physics and learning, in terms of tf.math."""

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.math_cases import normal_cdf
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

program = WRITTEN = Programs()


@program
def linear_regression(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    y = tf.constant([[1.0], [2.0], [4.0]])
    w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(0.0)
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w + b - y))
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.01 * g)
        losses.append(float(loss))
    return w, b, tf.constant(losses)


@program
def logistic_newton(tf):
    x = tf.constant([[1.0, 0.5], [1.0, -1.5], [1.0, 2.0], [1.0, 0.1]])
    y = tf.constant([1.0, 0.0, 1.0, 0.0])
    w = tf.Variable([0.0, 0.0])
    for _ in range(3):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                z = tf.linalg.matvec(x, w)
                loss = tf.reduce_sum(tf.math.softplus(z) - y * z) + 0.05 * tf.reduce_sum(w**2)
            g = tape.gradient(loss, w)
        h = outer.jacobian(g, w)
        w.assign_sub(tf.squeeze(tf.linalg.solve(h, g[:, None]), -1))
    return w, h, loss


@program
def poisson_likelihood(tf):
    counts = tf.constant([0.0, 1.0, 4.0])
    rate = tf.Variable([0.5, 1.0, 2.0])
    with tf.GradientTape() as tape:
        logp = tf.math.xlogy(counts, rate) - rate - tf.math.lgamma(counts + 1)
        nll = -tf.reduce_sum(logp)
    return logp, tape.gradient(nll, rate)


@program
def student_t(tf):
    x = np.array([-1.0, 0.5, 3.0], np.float32)
    df, scale = tf.Variable(4.0), tf.Variable(1.5)
    with tf.GradientTape() as tape:
        z = x / scale
        logp = tf.math.lgamma((df + 1) / 2) - tf.math.lgamma(df / 2) - 0.5 * tf.math.log(df * np.pi)
        logp = logp - tf.math.log(scale) - (df + 1) / 2 * tf.math.log1p(z**2 / df)
    return logp, tape.gradient(logp, [df, scale])


@program
def beta_log_density(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    x = tf.constant([0.1, 0.5, 0.9])
    with tf.GradientTape() as tape:
        y = tf.math.xlogy(a - 1, x) + tf.math.xlog1py(b - 1, -x)
        y -= tf.math.lbeta([a, b])
    return y, tape.gradient(y, [a, b]), tf.math.betainc(a, b, x)


@program
def gaussian_mixture(tf):
    x = tf.constant([[0.0], [1.0], [4.0]])
    mu, s = tf.Variable([0.0, 3.0]), tf.Variable([0.0, 0.1])
    w = tf.Variable([0.2, -0.2])
    with tf.GradientTape() as tape:
        logp = -0.5 * ((x - mu) / tf.exp(s)) ** 2 - s - 0.5 * np.log(2 * np.pi)
        total = tf.reduce_sum(tf.reduce_logsumexp(tf.math.log_softmax(w) + logp, axis=-1))
    return total, tape.gradient(total, {"mu": mu, "s": s, "w": w})


@program
def kl_of_normals(tf):
    m, log_var = tf.Variable([[0.1, -0.3]]), tf.Variable([[0.0, 0.5]])
    with tf.GradientTape() as tape:
        kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(m) - tf.exp(log_var), axis=1)
        kl = tf.reduce_mean(kl)
    return kl, tape.gradient(kl, [m, log_var]), kl.shape


@program
def normal_quantiles(tf):
    p = tf.constant([0.01, 0.3, 0.5, 0.99])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(p)
        a = tf.math.ndtri(p)
        b = tf.math.erfinv(2 * p - 1) * np.sqrt(2)
        c = 0.5 * tf.math.erfc(-a / np.sqrt(2))
    return a, b, c, [tape.gradient(v, p) for v in (a, b, c)]


@program
def black_scholes(tf):
    s, k, t = tf.Variable(100.0), 95.0, tf.Variable(0.5)
    vol, r = tf.Variable(0.2), tf.constant(0.03)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            d1 = (tf.math.log(s / k) + (r + vol**2 / 2) * t) / (vol * tf.sqrt(t))
            d2 = d1 - vol * tf.sqrt(t)
            price = s * normal_cdf(tf, d1) - k * tf.exp(-r * t) * normal_cdf(tf, d2)
        greeks = tape.gradient(price, [s, vol, t])
    return price, greeks, outer.gradient(greeks[0], s)


@program
def rosenbrock_steps(tf):
    x = tf.Variable([-1.2, 1.0])
    found = []
    for _ in range(3):
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                f = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
            g = t1.gradient(f, x)
        h = t2.jacobian(g, x)
        step = tf.linalg.solve(h, tf.expand_dims(g, 1))[:, 0]
        x.assign_sub(0.5 * step)
        found += [f, tf.norm(g), tf.linalg.det(h)]
    return found, x


@program
def hessian_vector(tf):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3) + tf.reduce_prod(x) + tf.reduce_sum(tf.math.cumprod(x))
        g = inner.gradient(y, x)
    reverse = outer.gradient(g, x, output_gradients=v)
    with tf.autodiff.ForwardAccumulator(x, v) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**3) + tf.reduce_prod(x) + tf.reduce_sum(tf.math.cumprod(x))
        g = tape.gradient(y, x)
    return reverse, acc.jvp(g), g


@program
def third_derivative(tf):
    x = tf.Variable(0.7)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = tf.sin(x) * tf.exp(x) + x**5 + tf.math.log1p(x) * tf.atan(x)
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    return y, d1, d2, t3.gradient(d2, x)


@program
def n_body(tf):
    pos = tf.Variable([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    mass = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        diff = pos[:, None, :] - pos[None, :, :]
        dist = tf.sqrt(tf.reduce_sum(diff**2, axis=-1) + 1e-3)
        pair = -mass[:, None] * mass[None, :] / dist
        energy = 0.5 * (tf.reduce_sum(pair) - tf.linalg.trace(pair))
    force = -tape.gradient(energy, pos)
    return energy, force, force / mass[:, tf.newaxis]


@program
def hamiltonian(tf):
    q, p = tf.Variable(1.0), tf.Variable(0.0)
    track = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            h = p**2 / 2 + (1 - tf.cos(q))
        dq, _ = tape.gradient(h, [q, p])
        p.assign_sub(0.1 * dq)
        q.assign_add(0.1 * p)
        track.append([q.numpy(), p.numpy(), h.numpy()])
    return np.array(track), tf.constant(track), tf.stack([q, p])


@program
def maml(tf):
    w = tf.Variable([0.5, -0.3])
    xs = tf.constant([[1.0, 2.0], [0.5, -1.0]])
    ys = tf.constant([1.0, 0.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((tf.linalg.matvec(xs, w) - ys) ** 2)
        fast = w - 0.1 * inner.gradient(loss, w)
        after = tf.reduce_mean((tf.linalg.matvec(xs, fast) - ys) ** 2)
    return fast, after, outer.gradient(after, w)


@program
def gradient_penalty(tf):
    w = tf.Variable([[1.0], [-2.0]])
    x = tf.constant([[0.5, 1.0], [1.5, -0.5]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as t:
            t.watch(x)
            d = tf.nn.leaky_relu(x @ w) ** 2
        g = t.gradient(d, [x])[0]
        slopes = tf.sqrt(tf.reduce_sum(tf.square(g), axis=[1]))
        gp = tf.reduce_mean((slopes - 1.0) ** 2)
    return gp, outer.gradient(gp, w), tf.reduce_mean(tf.math.softplus(-d))


@program
def pinn(tf):
    x = tf.reshape(tf.linspace(0.0, 1.0, 4), [-1, 1])
    w1, b1 = tf.Variable([[0.5, -1.0, 2.0]]), tf.Variable([0.1, 0.2, 0.3])
    w2 = tf.Variable([[1.0], [0.5], [-0.7]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                u = tf.tanh(x @ w1 + b1) @ w2
            ux = t1.gradient(u, x)
        uxx = t2.gradient(ux, x)
        loss = tf.reduce_mean((uxx + np.pi**2 * tf.sin(np.pi * x)) ** 2) + tf.square(u[0, 0])
    return loss, outer.gradient(loss, [w1, b1, w2])


@program
def contrastive(tf):
    z = tf.Variable([[1.0, 0.2], [0.1, 1.0], [0.9, 0.4]])
    labels = tf.range(3)
    with tf.GradientTape() as tape:
        n = tf.math.l2_normalize(z, axis=1)
        sim = tf.matmul(n, n, transpose_b=True) / 0.5
        sim = tf.where(tf.eye(3, dtype=tf.bool), -1e9, sim)
        loss = -tf.reduce_mean(tf.nn.log_softmax(sim)[:, 0])
    return loss, tape.gradient(loss, z), labels


@program
def batch_norm(tf):
    x = tf.reshape(tf.range(12.0), [4, 3]) ** 2
    gamma, beta = tf.Variable(tf.ones(3)), tf.Variable(tf.zeros(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        mean, var = tf.nn.moments(x, axes=[0])
        y = (x - mean) * tf.math.rsqrt(var + 1e-3) * gamma + beta
        loss = tf.reduce_sum(y * tf.cast(tf.range(12), tf.float32)[:, None][:4])
    return mean, var, y, tape.gradient(loss, [x, gamma, beta])


@program
def huber_by_hand(tf):
    e = tf.constant([-3.0, -1.0, 0.0, 0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(e)
        a = tf.abs(e)
        loss = tf.where(a <= 1.0, 0.5 * tf.square(e), 1.0 * (a - 0.5))
    return loss, tape.gradient(loss, e)


@program
def spline_interp(tf):
    xs = tf.constant([0.0, 1.0, 3.0, 4.0])
    ys = tf.Variable([0.0, 2.0, 1.0, 5.0])
    q = tf.constant([0.5, 2.0, 3.9])
    with tf.GradientTape() as tape:
        tape.watch(q)
        k = tf.clip_by_value(tf.searchsorted(xs, q) - 1, 0, 2)
        x0, x1 = tf.gather(xs, k), tf.gather(xs, k + 1)
        y0, y1 = tf.gather(ys, k), tf.gather(ys, k + 1)
        y = y0 + (y1 - y0) * (q - x0) / (x1 - x0)
    gy, gq = tape.gradient(y, [ys, q])
    return y, tf.convert_to_tensor(gy), gq, k


@program
def ewma(tf):
    x = tf.constant([1.0, 3.0, 2.0, 5.0])
    a = tf.Variable(0.3)
    with tf.GradientTape() as tape:
        n = tf.cast(tf.size(x), tf.float32)
        w = a * (1 - a) ** tf.range(n - 1, -1, -1)
        y = tf.reduce_sum(w * x) / tf.reduce_sum(w)
    return w, y, tape.gradient(y, a)


@program
def soft_sort(tf):
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.sort(x, direction="DESCENDING")
        p = tf.nn.softmax(-tf.abs(s[:, None] - x[None, :]), axis=-1)
        y = tf.linalg.matvec(p, x)
    return y, tape.jacobian(y, x)


@program
def rgb_image(tf):
    im = tf.reshape(tf.range(2 * 2 * 3), [2, 2, 3])
    f = tf.cast(im, tf.float32) / 255.0
    gray = tf.tensordot(f, [0.299, 0.587, 0.114], axes=[[2], [0]])
    u = tf.cast(tf.clip_by_value(f * 3000, 0, 255), tf.uint8)
    return (
        gray,
        u,
        tf.reverse(im, axis=[1]),
        tf.transpose(im, [2, 0, 1])[0],
        im[..., ::-1],
        u // 2,
        255 - u,
    )


@program
def confusion_f1(tf):
    t = tf.constant([1, 0, 1, 1, 0])
    p = tf.constant([0.9, 0.4, 0.3, 0.8, 0.6])
    yhat = tf.cast(p > 0.5, tf.int32)
    tp = tf.reduce_sum(t * yhat)
    fp = tf.reduce_sum((1 - t) * yhat)
    fn = tf.reduce_sum(t * (1 - yhat))
    return (
        tp / (tp + fp),
        2 * tp / (2 * tp + fp + fn),
        tf.math.divide_no_nan(tp, fn - fn),
        int(tp),
        f"{tp / (tp + fn):.3f}",
    )


@program
def kmeans_step(tf):
    x = tf.constant([[0.0, 0.0], [0.1, 0.2], [5.0, 5.0], [5.2, 4.9]])
    c = tf.constant([[0.0, 1.0], [4.0, 4.0]])
    for _ in range(2):
        d = tf.reduce_sum((tf.expand_dims(x, 1) - tf.expand_dims(c, 0)) ** 2, 2)
        k = tf.argmin(d, 1)
        c = tf.stack([tf.reduce_mean(tf.boolean_mask(x, k == j), 0) for j in range(2)])
    return k, c, tf.math.unsorted_segment_mean(x, k, 2), tf.reduce_min(d, axis=1)


@program
def simplex_projection(tf):
    x = tf.constant([0.5, 1.2, -0.3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        u = tf.sort(x, direction="DESCENDING")
        css = tf.cumsum(u) - 1
        rho = tf.reduce_sum(tf.cast(u - css / tf.range(1.0, 4.0) > 0, tf.int32))
        theta = css[rho - 1] / tf.cast(rho, tf.float32)
        y = tf.maximum(x - theta, 0)
        loss = tf.reduce_sum(y**2)
    return y, rho, tape.gradient(loss, x)


@program
def gumbel_like(tf):
    logits = tf.Variable([1.0, 0.5, -1.0])
    with tf.GradientTape() as tape:
        y = tf.nn.softmax(logits / 0.5)
        hard = tf.one_hot(tf.argmax(y), 3)
        st = tf.stop_gradient(hard - y) + y
        loss = tf.reduce_sum(st * [1.0, 2.0, 3.0])
    return st, tape.gradient(loss, logits)


@program
def finite_difference_check(tf):
    def f(x):
        return tf.reduce_sum(tf.sin(x) * tf.cumsum(x))

    x = tf.constant([0.3, -0.8, 1.4], dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    g = tape.gradient(y, x)
    eps = 1e-6
    num = tf.stack(
        [(f(x + eps * e) - f(x - eps * e)) / (2 * eps) for e in tf.eye(3, dtype=x.dtype)]
    )
    return (
        g,
        bool(tf.reduce_all(tf.abs(g - num) < 1e-6)),
        tf.reduce_max(tf.abs(g - num)).numpy() < 1e-6,
    )


@program
def markov(tf):
    p = tf.Variable([[0.2, 0.8], [0.6, 0.4]])
    with tf.GradientTape() as tape:
        t = p / tf.reduce_sum(p, axis=1, keepdims=True)
        s = tf.constant([[1.0, 0.0]])
        for _ in range(4):
            s = s @ t
        h = -tf.reduce_sum(s * tf.math.log(s))
    return s, h, tape.gradient(h, p), tf.linalg.matmul(t, t)[0, 1]


@program
def polynomial_fit(tf):
    x = tf.linspace(-1.0, 1.0, 5)
    powers = tf.stack([x**k for k in range(4)], axis=1)
    powers2 = x[:, None] ** tf.range(4.0)
    c = tf.linalg.lstsq(powers, (x**3 - x)[:, None], fast=False)
    return powers, powers2, c[:, 0], tf.reduce_all(tf.abs(powers - powers2) < 1e-6)


@program
def trapezoid(tf):
    a = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = tf.linspace(0.0, 1.0, 21)
        y = tf.exp(-a * x**2)
        area = tf.reduce_sum((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1]))
    return area, tape.gradient(area, a)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_written(name):
    compare(WRITTEN[name])
