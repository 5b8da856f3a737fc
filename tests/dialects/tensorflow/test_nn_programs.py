"""Programs with tf.nn, as users write them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.nn_cases import BYTES, IMAGE, PHOTO, SINGLE, data, seeded
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()


def small_network(tf: Any) -> Any:
    """A convolutional network, its loss, and a few steps of gradient descent."""
    x = tf.constant(data(4, 8, 8, 3))
    labels = tf.constant([0, 2, 1, 2])
    w1 = tf.Variable(data(3, 3, 3, 8, seed=1) * 0.3, name="w1")
    b1 = tf.Variable(tf.zeros(8), name="b1")
    w2 = tf.Variable(data(3, 3, 8, 4, seed=2) * 0.3)
    w3 = tf.Variable(data(16, 3, seed=3) * 0.3)
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w1, strides=1, padding="SAME"), b1))
            h = tf.nn.max_pool2d(h, ksize=2, strides=2, padding="VALID")
            h = tf.nn.leaky_relu(tf.nn.conv2d(h, w2, [1, 1, 1, 1], "SAME"), alpha=0.1)
            h = tf.nn.avg_pool2d(h, 2, 2, "SAME")
            logits = tf.reshape(h, [4, -1]) @ w3
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        variables = [w1, b1, w2, w3]
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
        losses.append(loss)
    return losses, [v.read_value() for v in variables]


def autoencoder(tf: Any) -> Any:
    x = tf.constant(data(2, 8, 8, 1))
    down = tf.Variable(data(3, 3, 1, 4, seed=1))
    up = tf.Variable(data(3, 3, 1, 4, seed=2))
    with tf.GradientTape() as tape:
        code = tf.nn.elu(tf.nn.conv2d(x, down, 2, "SAME"))
        back = tf.nn.conv2d_transpose(code, up, tf.shape(x), strides=2)
        loss = tf.reduce_mean(tf.square(tf.nn.sigmoid(back) - x)) + 1e-3 * tf.nn.l2_loss(down)
    return loss, tape.gradient(loss, {"down": down, "up": up})


def gan(tf: Any) -> Any:
    """The losses of a generator and a discriminator, each with its own tape."""
    noise, real = tf.constant(data(4, 3)), tf.constant(data(4, 5, seed=1))
    g, d = tf.Variable(data(3, 5, seed=2)), tf.Variable(data(5, 1, seed=3))
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = tf.nn.tanh(noise @ g)
        real_score, fake_score = real @ d, fake @ d
        bce = tf.nn.sigmoid_cross_entropy_with_logits
        gen = tf.reduce_mean(bce(tf.ones_like(fake_score), fake_score))
        disc = tf.reduce_mean(
            bce(labels=tf.ones_like(real_score), logits=real_score)
            + bce(labels=tf.zeros_like(fake_score), logits=fake_score)
        )
    return gen, disc, gen_tape.gradient(gen, g), disc_tape.gradient(disc, d)


def attention(tf: Any) -> Any:
    q, k, v = (tf.constant(data(2, 5, 4, seed=i)) for i in range(3))
    mask = tf.linalg.band_part(tf.ones((5, 5)), -1, 0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([q, k, v])
        scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(4.0)
        weights = tf.nn.softmax(scores + (1.0 - mask) * -1e9, axis=-1)
        out = tf.reduce_sum(tf.square(weights @ v))
    return weights, [tape.gradient(out, t) for t in (q, k, v)]


def batch_norm(tf: Any) -> Any:
    x = tf.Variable(data(6, 4))
    gamma, beta = tf.Variable(tf.ones([4])), tf.Variable(tf.zeros([4]))
    with tf.GradientTape() as tape:
        mean, variance = tf.nn.moments(x, axes=[0])
        y = tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
        loss = tf.reduce_sum(y**3)
    return y, tape.gradient(loss, [x, gamma, beta])


def penalty(tf: Any) -> Any:
    """A gradient penalty: a gradient of the norm of a gradient, through convolutions."""
    x, w = tf.constant(data(2, 6, 6, 2)), tf.Variable(data(3, 3, 2, 3, seed=1))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = tf.reduce_sum(tf.nn.softplus(tf.nn.conv2d(x, w, 1, "VALID")), axis=[1, 2, 3])
        slopes = inner.gradient(score, x)
        norms = tf.sqrt(tf.reduce_sum(slopes**2, axis=[1, 2, 3]) + 1e-12)
        loss = tf.reduce_mean((norms - 1.0) ** 2)
    return loss, outer.gradient(loss, w)


def twice_pooled(tf: Any) -> Any:
    x = tf.constant(data(1, 4, 4, 2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.nn.max_pool2d(x, 2, 2, "SAME") ** 3)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def per_example(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.Variable(data(2, 2, 2, 3, seed=1))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, w, 1, "VALID")), axis=[1, 2, 3])
    return tape.jacobian(y, w)


def edges(tf: Any) -> Any:
    """A fixed filter, as a constant."""
    kernel = tf.constant([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
    kernel = tf.tile(kernel[:, :, tf.newaxis, tf.newaxis], [1, 1, 3, 1])
    return tf.nn.depthwise_conv2d(PHOTO, kernel, strides=[1, 1, 1, 1], padding="SAME")


def moving_average(tf: Any) -> Any:
    signal = tf.reshape(tf.range(10.0), [1, 10, 1])
    return tf.squeeze(tf.nn.conv1d(signal, tf.ones([3, 1, 1]) / 3, stride=1, padding="VALID"))


def distillation(tf: Any) -> Any:
    teacher, student = tf.constant(data(4, 5)), tf.Variable(data(4, 5, seed=1))
    with tf.GradientTape() as tape:
        soft = tf.stop_gradient(tf.nn.softmax(teacher / 2.0))
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(soft, student / 2.0))
    return loss, tape.gradient(loss, student)


def contrastive(tf: Any) -> Any:
    a, b = tf.Variable(data(4, 6)), tf.constant(data(4, 6, seed=1))
    with tf.GradientTape() as tape:
        similar = tf.matmul(tf.nn.l2_normalize(a, axis=1), tf.math.l2_normalize(b, 1), False, True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(4), similar / 0.1)
        )
    return loss, tape.gradient(loss, a)


def words(tf: Any) -> Any:
    table, out = tf.Variable(data(7, 3)), tf.Variable(data(3, 7, seed=1))
    with tf.GradientTape() as tape:
        h = tf.reduce_mean(tf.nn.embedding_lookup(table, [[1, 2], [2, 2]]), axis=1)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], h @ out)
    return loss, tape.gradient(loss, [table, out])


def focal(tf: Any) -> Any:
    logits, labels = tf.Variable(data(6)), tf.constant([0, 1, 1, 0, 1, 0], tf.float32)
    with tf.GradientTape() as tape:
        p = tf.nn.sigmoid(logits)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
        pt = labels * p + (1 - labels) * (1 - p)
        loss = tf.reduce_mean(tf.pow(1 - pt, 2.0) * ce)
    return loss, tape.gradient(loss, logits)


def reparametrised(tf: Any) -> Any:
    """The evidence lower bound with its noise given by a seed: only what does not depend on it."""
    mean, log_var = tf.Variable([0.5, -0.5]), tf.Variable([0.1, 0.2])
    with tf.GradientTape() as tape:
        noise = tf.random.stateless_normal([2], seed=[1, 2])
        z = mean + tf.exp(log_var / 2) * noise
        kl = -0.5 * tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var))
    return z.shape, kl, tape.gradient(kl, [mean, log_var])


def noise_has_gradients(tf: Any) -> Any:
    mean = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.random.normal([4], mean, 1.0))
    return tape.gradient(y, mean)


def uniform_has_gradients(tf: Any) -> Any:
    low = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.random.uniform([4], low, low + 1.0))
    return tape.gradient(y, low)


def reinforce(tf: Any) -> Any:
    logits = tf.Variable(data(3, 4))
    with tf.GradientTape() as tape:
        actions = tf.random.categorical(logits, 1)
        chosen = tf.constant([[0], [3], [1]], tf.int64)
        log_probs = tf.nn.log_softmax(logits)
        picked = tf.gather(log_probs, chosen, batch_dims=1)
        loss = -tf.reduce_mean(picked * tf.constant([[1.0], [2.0], [-1.0]]))
    return actions.shape, actions.dtype, loss, tape.gradient(loss, logits)


def of_jit(tf: Any) -> Any:
    @tf.function
    def step(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.reduce_mean(tf.nn.gelu(tf.nn.conv2d(x, w, 1, "SAME"), approximate=True))
        return y, tape.gradient(y, w)

    return step(tf.constant(IMAGE), tf.constant(data(3, 3, 3, 2)))


def mapped(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.constant(data(2, 2, 2, 3, seed=1))
    return tf.map_fn(lambda i: tf.nn.conv2d(i[tf.newaxis], w, 1, "VALID")[0], x)


def vectorised(tf: Any) -> Any:
    x, w = tf.constant(data(3, 5, 5, 2)), tf.constant(data(2, 2, 2, 3, seed=1))
    return tf.vectorized_map(
        lambda i: tf.reduce_sum(
            tf.nn.max_pool2d(tf.nn.conv2d(i[None], w, 1, "SAME"), 2, 2, "SAME")
        ),
        x,
    )


def dropped(tf: Any) -> Any:
    x = tf.ones([100, 10])
    y = tf.nn.dropout(x, 0.5)
    kept = tf.reduce_all((y == 0.0) | (y == 2.0))
    columns = tf.nn.dropout(x, rate=0.3, noise_shape=[1, 10], seed=1)
    same = tf.reduce_all(columns == columns[:1])
    return kept, same, y.dtype, y.shape


def dropped_gradient(tf: Any) -> Any:
    x = tf.Variable(tf.ones([50]))
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(x, rate=0.5)
    return tf.reduce_all(tape.gradient(y, x) == y)


def generator_use(tf: Any) -> Any:
    g = tf.random.Generator.from_seed(1234)
    a = g.normal([2, 3])
    b = g.uniform(shape=[4], minval=0, maxval=10, dtype=tf.int32)
    c = g.truncated_normal([1000], mean=1.0, stddev=0.5)
    in_range = tf.reduce_all(tf.abs(c - 1.0) <= 1.0)
    return a.shape, a.dtype, b.shape, b.dtype, in_range, g.make_seeds(3).shape, len(g.split(2))


def generator_again(tf: Any) -> Any:
    one, two = tf.random.Generator.from_seed(7), tf.random.Generator.from_seed(7)
    first = tf.reduce_all(one.normal([5]) == two.normal([5]))
    copy = tf.random.Generator(one)
    second = tf.reduce_all(one.normal([5]) == copy.normal([5]))
    one.reset_from_seed(7)
    two.reset_from_seed(7)
    return first, second, tf.reduce_all(one.uniform([3]) == two.uniform([3]))


def seeds_again(tf: Any) -> Any:
    tf.random.set_seed(5)
    a = tf.random.uniform([3])
    tf.random.set_seed(5)
    b = tf.random.uniform([3])
    c = tf.random.uniform([3])
    return tf.reduce_all(a == b), tf.reduce_any(b == c)


def shuffled(tf: Any) -> Any:
    x = tf.range(10)
    return tf.sort(tf.random.shuffle(x)), tf.random.shuffle(tf.zeros([0, 3])).shape


def image_pipeline(tf: Any) -> Any:
    x = tf.cast(BYTES, tf.float32) / 255.0
    x = tf.image.resize(x, (4, 4))
    x = tf.image.flip_left_right(x)
    x = tf.image.adjust_contrast(x, 1.1)
    x = tf.clip_by_value(x, 0.0, 1.0)
    return tf.image.per_image_standardization(x)


def style(tf: Any) -> Any:
    """Gram matrices and total variation, as for the transfer of styles."""
    x = tf.Variable(PHOTO)
    with tf.GradientTape() as tape:
        gram = tf.linalg.einsum("bijc,bijd->bcd", x, x) / tf.cast(48, tf.float32)
        loss = tf.reduce_sum(gram**2) + 1e-2 * tf.reduce_sum(tf.image.total_variation(x))
    return loss, tape.gradient(loss, x)


USES: tuple[Program, ...] = (
    small_network, autoencoder, gan, attention, batch_norm, penalty, twice_pooled, per_example,
    edges, moving_average, distillation, contrastive, words, focal, reparametrised,
    noise_has_gradients, uniform_has_gradients, reinforce, of_jit, mapped, vectorised, dropped,
    dropped_gradient, generator_use, generator_again, seeds_again, shuffled, image_pipeline, style,
)  # fmt: skip
PROGRAMS |= {program.__name__.replace("_", " "): program for program in USES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
