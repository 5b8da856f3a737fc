"""Tapes, loops, nests and checks of the TensorFlow dialect, with values known by hand."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np
import pytest

import wengert as wg
import wengert.tensorflow as tf


def test_a_tape_answers_once() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, {"v": v})["v"].numpy().tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, v)
    assert [w is v for w in tape.watched_variables()] == [True]


def test_second_derivative() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    assert float(slope) == 27.0
    assert float(outer.gradient(slope, x)) == 18.0


def test_whole_numbers_have_no_gradient(caplog: Any) -> None:
    n, v = tf.constant([1, 2]), tf.Variable([1.0, 2.0])
    with caplog.at_level(logging.WARNING, "wengert.tensorflow"), tf.GradientTape() as tape:
        tape.watch(n)
        y = tf.cast(n, tf.float32) * v
    assert "must be floating" in caplog.text
    assert tape.gradient(y, [n, v])[0] is None


def test_unconnected_gradients() -> None:
    v, w = tf.Variable(1.0), tf.Variable([2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * 2
    assert tape.gradient(y, w) is None
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        assert tape.gradient(y, w, unconnected_gradients=zero).numpy().tolist() == [0.0]
    with pytest.raises(ValueError, match="UnconnectedGradients.ZERO"):
        tape.gradient(y, w, unconnected_gradients="nought")


def test_weights_of_another_shape_are_refused() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tape.gradient(y, v, output_gradients=tf.constant([1.0]))


def test_the_gradient_of_one_element() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        z = tf.reduce_sum(v**3)
    assert float(tape.gradient(z, v.at[1])) == 12.0


def test_forward_mode_uses_custom_gradients() -> None:
    x = tf.constant([1.0, 2.0])
    own = tf.custom_gradient(lambda x: (x * 2, lambda up: up * 100.0))
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as forward:
        y = own(x)
    assert forward.jvp(y).numpy().tolist() == [100.0, 100.0]


def test_none_from_a_custom_gradient() -> None:
    x, y = tf.constant(2.0), tf.constant(3.0)
    own = tf.custom_gradient(lambda x, y: (x * y, lambda up: (up, None)))
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = own(x, y)
    found = tape.gradient(z, [x, y])
    assert float(found[0]) == 1.0
    assert found[1] is None


def test_loops() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.foldl(lambda a, e: a * e, x)
    assert tape.gradient(y, x).numpy().tolist() == [6.0, 3.0, 2.0]
    assert tf.scan(lambda a, e: a + e, x).numpy().tolist() == [1.0, 3.0, 6.0]
    assert tf.vectorized_map(lambda e: e * 2, x).numpy().tolist() == [2.0, 4.0, 6.0]


def test_a_function_that_looks_at_values_is_called_for_each_element() -> None:
    x = tf.constant([1.0, -2.0, 3.0])
    size = tf.vectorized_map(lambda e: e if e > 0 else -e, x)
    assert size.numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match="inside of vmap"):
        tf.vectorized_map(lambda e: e if e > 0 else -e, x, fallback_to_while_loop=False)


def test_nests() -> None:
    tree = {"b": [1, 2], "a": (3,)}
    assert tf.nest.flatten(tree) == [3, 1, 2]
    assert list(tf.nest.map_structure(lambda n: n + 1, tree)) == ["b", "a"]
    with pytest.raises(TypeError, match="same nested structure"):
        tf.nest.assert_same_structure(tree, [1])


def test_shuffled_data_are_the_same_data() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.arange(10)).shuffle(4, seed=0)
    first, second = ([int(x) for x in data] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    fixed = tf.data.Dataset.range(10).shuffle(10, seed=0, reshuffle_each_iteration=False)
    assert [int(x) for x in fixed] == [int(x) for x in fixed]


def test_print(capsys: Any) -> None:
    tf.print("loss", tf.constant([1.0, 0.1]), {"a": tf.constant(1 / 3)}, output_stream=sys.stdout)
    assert capsys.readouterr().out == "loss [1 0.1] {'a': 0.333333343}\n"


@pytest.mark.parametrize("name", ["compat.v1.Session", "saved_model.load", "SparseTensor"])
def test_names_that_are_not_offered_say_why(name: str) -> None:
    with pytest.raises(AttributeError, match=r"not offered by wengert.tensorflow: "):
        getattr(tf, name.partition(".")[0])
