"""tf.nn, tf.image and tf.random of the TensorFlow dialect: what is known by hand."""

import numpy as np
import pytest

import wengert.tensorflow as tf


def test_a_convolution_of_ones_counts_what_it_sees() -> None:
    image, kernel = tf.ones((1, 3, 3, 1)), tf.Variable(tf.ones((3, 3, 1, 1)))
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d(image, kernel, strides=1, padding="SAME")
    assert y[0, :, :, 0].numpy().tolist() == [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    assert tape.gradient(y, kernel)[:, :, 0, 0].numpy().tolist() == [
        [4, 6, 4],
        [6, 9, 6],
        [4, 6, 4],
    ]


def test_the_first_of_equal_elements_has_the_derivative_of_max_pool() -> None:
    x = tf.constant([[[1.0], [1.0], [0.0], [2.0]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool1d(x, 2, 2, "VALID")
    assert tape.gradient(y, x)[0, :, 0].numpy().tolist() == [1, 0, 0, 1]


def test_cross_entropy_of_labels_that_do_not_add_up_to_one_has_tensorflows_derivative() -> None:
    logits = tf.constant([[0.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        y = tf.nn.softmax_cross_entropy_with_logits([[2.0, 0.0]], logits)
    assert y.numpy() == pytest.approx(2 * np.log(2))
    assert tape.gradient(y, logits).numpy().tolist() == [[-1.5, 0.5]]


def test_a_table_of_embeddings_has_a_sparse_gradient_that_optimisers_take() -> None:
    table = tf.Variable(tf.zeros((4, 2)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]))
    gradient = tape.gradient(loss, table)
    assert isinstance(gradient, tf.IndexedSlices)
    tf.keras.optimizers.SGD(0.5).apply_gradients([(gradient, table)])
    assert table[:, 0].numpy().tolist() == [0, -1, 0, -0.5]


def test_dropout_keeps_the_mean_and_drops_the_share() -> None:
    tf.random.set_seed(0)
    y = tf.nn.dropout(tf.ones((300, 300)), 0.25).numpy()
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.75)}
    assert abs(np.mean(y == 0) - 0.25) < 0.01


def test_seeds_give_the_same_numbers_again() -> None:
    tf.random.set_seed(5)
    first = tf.random.normal([3]).numpy()
    tf.random.set_seed(5)
    assert (tf.random.normal([3]).numpy() == first).all()
    again = [tf.random.stateless_uniform([3], seed=(1, 2)).numpy() for _ in range(2)]
    assert (again[0] == again[1]).all()


def test_resizing_a_ramp_keeps_it_a_ramp() -> None:
    ramp = tf.reshape(tf.range(4.0), (1, 4, 1))
    assert tf.image.resize(ramp, [1, 8])[0, 1:-1, 0].numpy() == pytest.approx(
        np.arange(0.25, 3, 0.5)
    )
    assert tf.image.resize(ramp, [1, 2], "area")[0, :, 0].numpy().tolist() == [0.5, 2.5]
