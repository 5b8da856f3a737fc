"""Kinds of arguments: what they take, and the errors for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as tf

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.linalg.det(tf.ones([2, 3])), tf.errors.InvalidArgumentError),
        (lambda: tf.linalg.det([[1, 2], [3, 4]]), tf.errors.InvalidArgumentError),
        (lambda: tf.linalg.adjoint([1.0, 2.0]), ValueError),
        (lambda: tf.nn.bias_add(X, tf.constant([1, 2])), tf.errors.InvalidArgumentError),
        (lambda: tf.eye(2.5), TypeError),
        (lambda: tf.eye(-1), tf.errors.InvalidArgumentError),
        (lambda: tf.sort(X, direction="down"), ValueError),
        (lambda: tf.gather(X, [0.5]), tf.errors.InvalidArgumentError),
        (lambda: tf.tile(X, [[1, 1]]), tf.errors.InvalidArgumentError),
        (lambda: tf.math.igamma(np.float16(1.0), np.float16(2.0)), tf.errors.InvalidArgumentError),
        (lambda: tf.zeros([2], "number"), TypeError),
    ],
)
def test_what_kinds_refuse(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_errors_tell_the_shapes_and_what_was_expected() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"a has shape \[2, 2\].*; expected"):
        tf.matmul(X, [[1.0, 2.0, 3.0]])


def test_whole_numbers_may_be_tensors_or_lists_of_one() -> None:
    for axis in (1, [1], np.int64(1), tf.constant(1), tf.Variable(1)):
        np.testing.assert_array_equal(tf.concat([X, X], axis), np.concatenate([X, X], 1))


def test_functions_without_options_take_their_arguments_by_name() -> None:
    np.testing.assert_allclose(tf.math.atan2(x=X, y=X, name="angle"), np.pi / 4, rtol=1e-6)
    with pytest.raises(TypeError, match="unexpected keyword"):
        tf.math.atan2(x=X, z=X)


@pytest.mark.parametrize("name", ["exp", "square", "floor", "math.erf"])
def test_functions_of_a_variable_are_those_of_its_value(name: str) -> None:
    function: Any = tf
    for part in name.split("."):
        function = getattr(function, part)
    variable, constant = tf.Variable(X), tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(constant)
        of_variable, of_constant = function(variable), function(constant)
    np.testing.assert_array_equal(of_variable, of_constant)
    got, expected = (
        tape.gradient(y, x) for y, x in ((of_variable, variable), (of_constant, constant))
    )
    assert (got is None) == (expected is None)
    if expected is not None:
        np.testing.assert_array_equal(got, expected)
