"""Tapes, loops, nests and checks of the TensorFlow dialect, with values known by hand."""

from __future__ import annotations

import logging
import subprocess
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
    assert "[tf.int32] has no gradient" in caplog.text
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
        tape.gradient(y, v, output_gradients=tf.constant([1.0, 2.0, 3.0]))


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
    with pytest.raises(TypeError, match="differ in form"):
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


@pytest.mark.parametrize(
    "name", ["compat.v1.Session", "saved_model.load", "sparse.segment_sum", "nn.ctc_loss"]
)
def test_names_that_are_not_offered_say_why(name: str) -> None:
    found: Any = tf
    with pytest.raises((AttributeError, NotImplementedError), match=r"not offered by wengert"):
        for part in name.split("."):
            found = getattr(found, part)
        found()  # of some names there is a class, for programs that ask whether it is one


def test_weights_are_broadcast() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v**2
    assert tape.gradient(y, v, output_gradients=tf.constant(3.0)).numpy().tolist() == [6.0, 12.0]


def test_numpy_takes_the_value_of_a_variable() -> None:
    v = tf.Variable([1.0, 4.0])
    assert type(np.sqrt(v)) is np.ndarray
    with tf.GradientTape(persistent=True) as tape:
        cut = tf.reduce_sum(np.sqrt(v))
        kept = tf.reduce_sum(np.array([2.0, 3.0]) * v)
    assert tape.gradient(cut, v) is None
    assert kept.dtype == tf.float32
    assert tape.gradient(kept, v).numpy().tolist() == [2.0, 3.0]


def test_an_array_of_tensors_is_read_once() -> None:
    array = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    assert float(array.read(0)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="clear_after_read=False"):
        array.read(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="dynamic_size=True"):
        array.write(2, 1.0)


def test_data_in_windows_and_padded() -> None:
    numbers = tf.data.Dataset.range(1, 6)
    windows = numbers.window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert [w.tolist() for w in windows.as_numpy_iterator()] == [[1, 2, 3], [3, 4, 5]]
    rows = numbers.take(3).map(lambda n: tf.fill([int(n)], n)).padded_batch(2)
    assert [b.tolist() for b in rows.as_numpy_iterator()] == [[[1, 0], [2, 2]], [[3, 3, 3]]]


def cube(x: Any) -> Any:
    return tf.reduce_sum(x**3)


@pytest.mark.parametrize("kind", [np.asarray, tf.constant])
def test_wengerts_transforms_take_functions_of_tensorflow(kind: Any) -> None:
    x, v = kind(np.array([1.0, 2.0])), np.array([1.0, 0.0])
    seen = []

    def shown(x: Any) -> Any:
        seen.append(type(x))
        return cube(x)

    answers = {
        "grad": (wg.grad(shown)(x), [3.0, 12.0]),
        "value": (wg.value_and_grad(cube)(x)[0], 9.0),
        "hessian": (wg.hessian(cube)(x), [[6.0, 0.0], [0.0, 12.0]]),
        "jacobian": (wg.jacobian(lambda x: tf.stack([x[1], x[0]]))(x), [[0.0, 1.0], [1.0, 0.0]]),
        "jvp": (wg.jvp(cube, (x,), (v,))[1], 3.0),
        "hvp": (wg.hvp(cube, (x,), (v,))[0], [6.0, 0.0]),
        "vjp": (wg.vjp(tf.sin, x)[1](v)[0], [np.cos(1.0), 0.0]),
    }
    for name, (answer, expected) in answers.items():
        assert isinstance(answer, tf.Tensor) == (kind is tf.constant), name
        np.testing.assert_allclose(np.asarray(answer), expected, err_msg=name)
    assert (seen == [tf.Tensor]) == (kind is tf.constant)
    wg.check_grads(cube, [x], order=2)


def test_nothing_is_said_of_infinities() -> None:
    program = (
        "import numpy as np, wengert.tensorflow as tf\n"
        "x = tf.Variable([0.0, -1.0, 1e38])\n"
        "with tf.GradientTape() as tape:\n"
        "    y = tf.math.log(x) / x + tf.sqrt(x) * tf.exp(x) + x / 0\n"
        "tape.gradient(y, x)\n"
        "try:\n    np.zeros(1) / 0\nexcept RuntimeWarning:\n    print('said')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("said\n", "")
