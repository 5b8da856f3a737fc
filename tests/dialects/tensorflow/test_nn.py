"""tf.nn, tf.image, tf.random and tf.keras of the TensorFlow dialect: what is known by hand."""

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


def test_the_first_step_of_adam_has_the_size_of_the_learning_rate() -> None:
    v = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
    optimizer.apply_gradients([(tf.constant([3.0, -1.0]), v)])
    assert v.numpy() == pytest.approx([0.9, -1.9], abs=1e-5)
    assert optimizer.iterations.numpy() == 1


def test_a_schedule_sets_the_rate_of_each_step() -> None:
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.25])
    v, optimizer = tf.Variable(0.0), tf.keras.optimizers.SGD(schedule)
    seen = []
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
        seen.append(float(v))
    assert seen == [-1.0, -1.25, -1.5]


def test_losses_weigh_and_reduce() -> None:
    loss = tf.keras.losses.MeanSquaredError()
    assert float(loss([[1.0, 2.0], [0.0, 0.0]], [[1.0, 4.0], [2.0, 0.0]], [1.0, 0.0])) == 1.0
    none = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    assert none(tf.constant([0, 1]), tf.zeros((2, 4))).numpy() == pytest.approx([np.log(4)] * 2)


@pytest.mark.parametrize("name", ["layers", "Sequential", "Model"])
def test_layers_and_models_say_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=r"tf\.Module"):
        getattr(tf.keras, name)
    with pytest.raises(AttributeError, match="apply_gradients"):
        tf.keras.optimizers.SGD(0.1).minimize  # noqa: B018
