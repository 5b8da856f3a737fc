"""Arrays by TensorFlow's names, with values known by hand; the peers compare with TensorFlow."""

import numpy as np
import pytest

import wengert.tensorflow as tf


def test_a_gradient_of_gathered_rows_is_indexed_slices():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(table, [2, 0, 2]) * 2.0
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [2, 0, 2]
    assert tf.convert_to_tensor(g).numpy().tolist() == [[2.0, 2.0], [0.0, 0.0], [4.0, 4.0]]


def test_rows_and_the_whole_add_up():
    table = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.stack([tf.gather(table, 1) * 10.0, table[0] * table[1]])
    assert tape.gradient(y, table).numpy().tolist() == [2.0, 11.0, 0.0]


def test_what_lies_behind_gathered_rows():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        table = x * x
        y = tf.gather(table, [1, 1])
    of_x, of_table = tape.gradient(y, [x, table])
    assert of_x.numpy().tolist() == [0.0, 8.0]
    assert np.asarray(of_table).tolist() == [0.0, 2.0]


def test_values_not_chosen_have_the_derivative_zero():
    x = tf.constant([0.0, 4.0])
    with np.errstate(all="ignore"), tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0.0, 1.0 / x, x)
        g = tape.gradient(y, x).numpy()
    assert np.isnan(g[0])  # 0 times infinity, as in TensorFlow
    assert g[1] == -1 / 16


def test_dtypes_of_constants():
    assert tf.constant([1, 2]).dtype == tf.int32
    assert tf.constant([1.0]).dtype == tf.float32
    assert tf.constant([np.float64(1.0)]).dtype == tf.float64
    assert tf.constant(2**40).dtype == tf.int64
    assert tf.constant([]).dtype == tf.float32
    with pytest.raises(ValueError, match="several kinds of values"):
        tf.constant([True, 1])


def test_how_tensors_print():
    assert repr(tf.constant(1.5)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"
    assert str(tf.constant([[1], [2]])) == "tf.Tensor(\n[[1]\n [2]], shape=(2, 1), dtype=int32)"
    variable = tf.Variable([1, 2], name="v")
    numbers = "numpy=array([1, 2], dtype=int32)>"
    assert str(variable) == f"<tf.Variable 'v:0' shape=(2,) dtype=int32, {numbers}"


def test_parts_of_variables_are_assigned():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0, 1].assign(7.0)
    v[1].assign([5.0, 6.0])
    assert v.numpy().tolist() == [[1.0, 7.0], [5.0, 6.0]]
    with pytest.raises(TypeError, match="v\\[key\\].assign"):
        v[0] = 1.0
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0


def test_an_open_shape_can_change():
    v = tf.Variable([1.0], shape=[None])
    v.assign([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v).numpy().tolist() == [4.0, 6.0]
    assert v.shape == [None]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.gather([1, 2], [2]), tf.errors.InvalidArgumentError),
        (lambda: tf.reshape([1, 2], [3]), tf.errors.InvalidArgumentError),
        (
            lambda: tf.concat([tf.constant([1]), tf.constant([1.0])], 0),
            tf.errors.InvalidArgumentError,
        ),
        (lambda: tf.stack([1.0], axis=4), ValueError),
        (lambda: tf.reshape([1, 2]), TypeError),
        (lambda: tf.TensorShape([-1]), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


def test_order_and_places():
    x = tf.constant([2.0, 3.0, 1.0, 3.0])
    values, places = tf.math.top_k(x, 3)
    assert values.numpy().tolist() == [3.0, 3.0, 2.0]
    assert places.numpy().tolist() == [1, 3, 0]
    assert tf.argsort(x).numpy().tolist() == [2, 0, 1, 3]
    assert tf.unique([3, 1, 3]).idx.numpy().tolist() == [0, 1, 0]
    assert tf.scatter_nd([[1], [1]], [1, 2], [3]).numpy().tolist() == [0, 3, 0]
