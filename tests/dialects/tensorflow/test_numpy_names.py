"""tf.experimental.numpy: NumPy's functions, dtypes and promotion on TensorFlow's tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\.")
parity = pytest.mark.parity

X = np.array([[-1.5, 0.0, 0.3], [0.5, 0.5, 2.0]])


def numpy_of(tf: Any) -> Any:
    return tf.experimental.numpy


def values(text: str) -> Callable[[Any], Any]:
    """Return the program that evaluates an expression of `tnp`, and some tensors."""

    def run(tf: Any) -> Any:
        names = {
            "tf": tf, "tnp": numpy_of(tf), "np": np, "x": tf.constant(X), "i": tf.constant([3, 4]),
            "s": tf.constant([1.0, 2.0]), "v": tf.Variable([1.0, 2.0]),
        }  # fmt: skip
        return eval(text, names)

    return run


EXPRESSIONS = """
tnp.array([1.0, 2.0]); tnp.array([1, 2]); tnp.array(s); tnp.array(v); tnp.array([s, s])
tnp.array(1.0); tnp.array([1, 2], dtype=tnp.float32); tnp.array([1, 2], tf.float32)
tnp.asarray(s) is s; tnp.asarray(s, tnp.float64); tnp.array(s, ndmin=2)
tnp.ones(3); tnp.ones((2, 2), dtype=tnp.float32); tnp.zeros(2); tnp.zeros_like(s); tnp.full(2, 3.0)
tnp.eye(2); tnp.identity(2); tnp.arange(3); tnp.arange(1.0, 2.0, 0.5); tnp.linspace(0, 1, 3)
tnp.logspace(0, 2, 3); tnp.tri(3); tnp.vander(tnp.array([1.0, 2.0]))
tnp.add(s, 1); tnp.add(s, 1.5); tnp.add(s, i); tnp.add(i, 1.5); tnp.multiply(s, np.float64(2))
tnp.subtract(v, s); tnp.divide(i, 2); tnp.true_divide(3, 2); tnp.floor_divide(i, 2)
tnp.remainder(i, 2); tnp.power(s, 2); tnp.power(i, 2); tnp.maximum(s, 1); tnp.minimum(i, 3.5)
tnp.abs(x); tnp.absolute(i); tnp.sign(x); tnp.clip(x, 0, 1); tnp.clip(x, None, 0.4)
tnp.sum(i); tnp.sum(x, axis=1); tnp.sum(x, axis=0, keepdims=True); tnp.sum([1.0, 2.0])
tnp.prod(i); tnp.mean(i); tnp.mean(x, axis=0); tnp.std(x); tnp.var(i); tnp.average(s)
tnp.max(x); tnp.min(x, axis=1); tnp.amax(x, axis=0, keepdims=True); tnp.argmax(x); tnp.argmin(x, 1)
tnp.cumsum(i); tnp.cumprod(x, axis=1); tnp.any(x > 1); tnp.all(x > -2); tnp.count_nonzero(x)
tnp.dot(s, i); tnp.dot(x, x.numpy().T); tnp.matmul(tnp.ones((2, 2)), s); tnp.inner(s, s)
tnp.outer(s, i); tnp.tensordot(x, x, 2); tnp.einsum("ij,ij->i", x, x); tnp.vdot(s, s)
tnp.kron(s, s); tnp.cross(x[0], x[1]); tnp.trace(x)
tnp.reshape(x, (3, 2)); tnp.ravel(x); tnp.transpose(x); tnp.expand_dims(s, 0); tnp.squeeze(x[:1])
tnp.concatenate([s, i]); tnp.stack([s, s]); tnp.vstack([s, s]); tnp.hstack([s, s]); tnp.tile(s, 2)
tnp.repeat(s, 2); tnp.roll(s, 1); tnp.flip(x, 1); tnp.swapaxes(x, 0, 1); tnp.moveaxis(x, 0, 1)
tnp.split(x, 3, axis=1); tnp.broadcast_to(s, (2, 2)); tnp.where(x > 0.2, x, 0)
tnp.take(s, [1, 0]); tnp.take_along_axis(x, tnp.argsort(x, axis=1), axis=1); tnp.sort(x, axis=1)
tnp.diag(s); tnp.diagonal(x); tnp.tril(x); tnp.triu(x); tnp.diff(x); tnp.atleast_2d(s)
tnp.meshgrid(s, s); tnp.nonzero(x > 0.2); tnp.isclose(s, s); tnp.allclose(s, s); tnp.isnan(x)
tnp.equal(s, i); tnp.less(x, 0.3); tnp.logical_and(x > 0, x < 1); tnp.logical_not(x > 0)
tnp.shape(x); tnp.ndim(x); tnp.size(x); tnp.pi; tnp.newaxis; tnp.float32 is np.float32
tnp.issubdtype(tnp.float32, tnp.inexact); tnp.finfo(tnp.float32).eps
tnp.array([1.0]) + s; tnp.array([1.0]) + 1; s.reshape((2, 1)); s.T
tnp.median(s); tnp.polyval([1.0, 2.0], s); tnp.logaddexp(s, s); tnp.hypot(s, s); tnp.real(s)
"""
TEXTS = [text.strip() for text in EXPRESSIONS.replace("\n", ";").split(";") if text.strip()]


@parity
@pytest.mark.parametrize("text", TEXTS)
def test_expression(text):
    compare(values(text))


# -- derivatives -----------------------------------------------------------------------------------

#: Functions of x, and where they are asked for derivatives of two orders, kinks included.
FUNCTIONS = """
abs(x); maximum(x, 0.5); minimum(x, 0.5); maximum(x, x[::-1]); clip(x, 0.0, 0.5)
max(x, axis=1); max(x); min(x, axis=0); power(x, 2); power(x, 3.0); sqrt(x * x + 1); square(x)
sin(x); cos(x); tan(x); exp(x); expm1(x); log1p(x + 2); log(x + 2); tanh(x); sinh(x); arctan(x)
sum(x, axis=0); mean(x); prod(x + 2, axis=1); cumsum(x, axis=1); cumprod(x + 2, axis=1); std(x)
dot(x, x.numpy().T); matmul(x, x.numpy().T); einsum("ij,kj->ik", x, x); outer(x[0], x[1])
tensordot(x, x, 2); inner(x, x); kron(x, x); cross(x[0], x[1]); vdot(x, x); trace(x)
reshape(x, (3, 2)); transpose(x); ravel(x); concatenate([x, x]); stack([x, 2 * x]); tile(x, (2, 1))
repeat(x, 2); roll(x, 1); flip(x, 1); where(x > 0.2, x * x, x); diff(x); sort(x, axis=1)
pad(x, [[1, 1], [0, 2]], 'constant'); var(x)
take(x, [1, 0], axis=1); diag(x[0]); triu(x); hypot(x, 2.0); logaddexp(x, 0.4); maximum(0, x)
divide(1.0, x + 3); remainder(x, 0.7); arctan2(x, 2.0); reciprocal(x + 3); average(x); sinc(x + 3)
expand_dims(x, 0); squeeze(x[:1]); swapaxes(x, 0, 1); broadcast_to(x[0], (2, 3)); array([x, x])
"""
CALLS = [text.strip() for text in FUNCTIONS.replace("\n", ";").split(";") if text.strip()]


def derivatives(text: str) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        x = tf.constant(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = eval(f"tnp.{text}", {"tnp": numpy_of(tf), "x": x})
                weights = tf.reshape(tf.cos(tf.range(tf.size(y), dtype=y.dtype)), tf.shape(y))
                total = tf.reduce_sum(y * weights)
            first = inner.gradient(total, x)
            again = 0.0 if first is None else tf.reduce_sum(tf.sin(first))
        return [y, first, None if first is None else outer.gradient(again, x)]

    return run


@parity
@pytest.mark.parametrize("text", CALLS)
def test_derivatives(text):
    compare(derivatives(text), rtol=1e-9)


@parity
def test_a_model():
    def program(tf):
        tnp = numpy_of(tf)
        w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2))
        with tf.GradientTape() as tape:
            hidden = tnp.tanh(tnp.dot(X, w))
            loss = tnp.mean(tnp.square(hidden - tnp.ones_like(hidden)))
        return [loss, tape.gradient(loss, w)]

    compare(program)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("logaddexp(x, x.numpy())", 0.5), ("sinc(x)", 0.0), ("prod(tnp.stack([x, 3.0 * x]))", 0.0)],
)
def test_derivatives_where_tensorflows_are_wrong(text, expected):
    x = ours.constant(0.0)
    with ours.GradientTape() as tape:
        tape.watch(x)
        y = eval(f"tnp.{text}", {"tnp": numpy_of(ours), "x": x})
    assert tape.gradient(y, x).numpy() == expected


def test_numpy_behaviour_of_tensors_is_refused():
    with pytest.raises(AttributeError, match="tnp.reshape"):
        ours.experimental.numpy.experimental_enable_numpy_behavior()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("saved_model.save", "Checkpoint"), ("saved_model", "Checkpoint"),
        ("ragged.stack", "pad them"), ("sparse.segment_sum", "to_dense"),
        ("io.TFRecordWriter", "open"), ("distribute.TPUStrategy", "one process"),
        ("train.Example", "savez"), ("train.list_variables", "np.load"),
        ("signal.dct", "tf.matmul"), ("image.rot90", "transpose"), ("image.adjust_gamma", "gain"),
        ("linalg.tridiagonal_solve", "tf.linalg.solve"), ("linalg.lu_solve", "tf.linalg.solve"),
        ("strings.substr", "numpy"), ("lookup.StaticVocabularyTable", "StaticHashTable"),
        ("nn.crelu", "tf.concat"), ("nn.atrous_conv2d", "dilations"), ("space_to_batch", "reshape"),
    ],
)  # fmt: skip
def test_what_is_left_out_says_what_to_write(name, why):
    found = ours
    with pytest.raises((AttributeError, NotImplementedError), match=why):
        for part in name.split("."):
            found = getattr(found, part)
        found()  # a class, for programs that ask whether a tensor is of it


def test_methods_of_datasets_that_are_left_out_say_what_to_write():
    with pytest.raises(AttributeError, match="flat_map"):
        ours.data.Dataset.range(3).interleave(ours.data.Dataset.from_tensors)
    with pytest.raises(ours.errors.UnimplementedError, match="channels"):
        ours.nn.max_pool2d(ours.ones([1, 2, 2, 4]), [1, 1, 1, 2], [1, 1, 1, 2], "VALID")
