"""bfloat16: values and gradients at least as exact as TensorFlow's, dtypes and errors as there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.tensorflow.parity import TENSORFLOW, compare

pytestmark = pytest.mark.parity

#: Expressions of x, y and z by the shapes of these; "+" in front means positive numbers.
EXPRESSIONS: dict[str, str] = {
    "4,6": """
        tf.sin(x); tf.exp(x); tf.tanh(x); tf.sigmoid(x); tf.math.erf(x); tf.abs(x)
        tf.square(x); tf.nn.relu(x); tf.nn.gelu(x); tf.nn.silu(x); tf.nn.elu(x); tf.nn.softplus(x)
        tf.nn.leaky_relu(x); tf.math.log_sigmoid(x); x + 1.1; x * 1.01; 1.3 / x; x ** 2; tf.floor(x)
        tf.clip_by_value(x, -0.3, 0.4); tf.where(x > 0.3, x, x * 2); tf.cast(x, tf.float32) * 2
        tf.cast(x, tf.float16); tf.cast(x * 10, tf.int32); tf.transpose(x)[1:]; tf.zeros_like(x) + x
        tf.sort(x, 1); tf.math.top_k(x, 3)[0]; tf.pad(x, [[1, 1], [0, 2]]); tf.argmax(x, 1); -x
    """,
    "+4,6": "tf.math.log(x); tf.sqrt(x); tf.math.rsqrt(x); tf.math.log1p(x); tf.math.cumprod(x, 1)",
    "+4,6 6": """
        x + y; x * y; x / y; tf.pow(x, y); tf.maximum(x, y); tf.math.squared_difference(x, y)
        x + tf.cast(y, tf.float32); tf.math.xlogy(x, y)
    """,
    "7,60": """
        tf.reduce_sum(x); tf.reduce_sum(x, 1); tf.reduce_mean(x); tf.reduce_max(x, 1); tf.norm(x)
        tf.math.reduce_variance(x, 1); tf.reduce_logsumexp(x, 1); tf.cumsum(x, 1); tf.nn.softmax(x)
        tf.nn.log_softmax(x); tf.nn.l2_normalize(x, 1); tf.nn.l2_loss(x); tf.nn.moments(x, [0])[1]
        tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(7), x)
    """,
    "7,60 7,60": """
        tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(tf.stop_gradient(y)), x)
        tf.concat([x, y], 0)[:, :9]
        tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(y), x); tf.stack([x, y])[0, :, :9]
    """,
    "4,60 60,5 5": "x @ y; tf.nn.bias_add(x @ y, z); tf.einsum('ij,jk->ki', x, y)",
    "2,4,30 2,5,30": "tf.matmul(x, y, transpose_b=True)",
    "1,6,6,2 3,3,2,3": "tf.nn.conv2d(x, y, 1, 'SAME'); tf.nn.conv2d(x, y, 2, 'VALID')",
    "2,8,8,3": "tf.nn.max_pool2d(x, 2, 2, 'SAME'); tf.nn.avg_pool2d(x, 3, 2, 'SAME')",
    "3,3": "tf.linalg.inv(x); tf.linalg.det(x); tf.linalg.trace(x); tf.signal.rfft(x)",
    "5,3 2,3": """
        tf.math.unsorted_segment_sum(x, [0, 0, 1, 0, 1], 2)
        tf.one_hot([1, 2], 3, dtype=tf.bfloat16)
        tf.tensor_scatter_nd_add(x, [[0], [0]], y)
    """,
}
CASES = [
    (shapes, text.strip())
    for shapes, texts in EXPRESSIONS.items()
    for line in texts.strip().splitlines()
    for text in line.split("; ")
]


def program(shapes: str, text: str, dtype: str) -> Callable[[Any], Any]:
    """Return a program that evaluates an expression and its gradients, on numbers of bfloat16."""

    def run(tf: Any) -> Any:
        drawn = np.random.default_rng(len(text))
        operands = []
        for shape in shapes.removeprefix("+").split():
            x = drawn.standard_normal([int(n) for n in shape.split(",")]).astype(np.float32)
            x = np.abs(x) * np.float32(0.4) + np.float32(0.1) if shapes.startswith("+") else x
            operands.append(tf.cast(tf.cast(tf.constant(x), tf.bfloat16), dtype))
        with tf.GradientTape() as tape:
            tape.watch(operands)
            y = eval(text, {"tf": tf} | dict(zip("xyz", operands, strict=False)))
        if not y.dtype.is_floating:
            return [y]
        weights = np.random.default_rng(7).standard_normal(tuple(y.shape)).astype(np.float32)
        weights = tf.cast(tf.cast(tf.constant(weights), tf.bfloat16), y.dtype)
        return [y, *tape.gradient(y, operands, output_gradients=weights)]

    return run


def _errors(values: Any, exact: np.ndarray) -> float:
    """Return how many units in the last place of bfloat16 values are off, at most."""
    scale = np.maximum(np.abs(exact), 0.05 * np.mean(np.abs(exact)) + 1e-30)
    return float(np.max(np.abs(np.asarray(values) - exact) / scale, initial=0.0)) * 256


@pytest.mark.parametrize(("shapes", "text"), CASES)
def test_as_exact_as_tensorflow(shapes: str, text: str) -> None:
    rounded, wide = program(shapes, text, "bfloat16"), program(shapes, text, "float64")
    theirs, exact = TENSORFLOW.answer(rounded, rtol=1.0), TENSORFLOW.answer(wide)
    ours = TENSORFLOW.described(rounded, TENSORFLOW.ours)
    if theirs["kind"] == "raises":
        assert ours == theirs
        return
    assert ours["kind"] == "list", ours
    if exact["kind"] == "raises":  # float64 beside a dtype that the expression names
        exact = theirs
    for mine, their, true in zip(ours["parts"], theirs["parts"], exact["parts"], strict=True):
        if their is None:
            assert mine is None
            continue
        assert [mine[k] for k in ("dtype", "shape")] == [their[k] for k in ("dtype", "shape")]
        if "float" not in their["dtype"]:
            assert mine["values"] == their["values"]
            continue
        numbers = np.asarray(true["values"])
        allowed = max(1.5, 1.25 * _errors(their["values"], numbers))
        assert _errors(mine["values"], numbers) <= allowed


def _trained(tf: Any) -> Any:
    drawn = np.random.default_rng(3)
    shapes = (6, 8), (8,), (8, 3)
    given = [drawn.standard_normal(s).astype(np.float32) * np.float32(0.4) for s in shapes]
    w, b, v = (tf.Variable(tf.cast(g, tf.bfloat16)) for g in given)
    x = tf.cast(drawn.standard_normal((10, 6)).astype(np.float32), tf.bfloat16)
    labels, losses = tf.range(10) % 3, []
    for _ in range(5):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ w + b) @ v
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(each)
        for p, g in zip((w, b, v), tape.gradient(loss, (w, b, v)), strict=True):
            p.assign_sub(tf.cast(0.1, tf.bfloat16) * g)
        losses.append(loss)
    return losses, w.dtype


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "a dtype": lambda tf: [
        tf.bfloat16, tf.bfloat16.name, tf.bfloat16.size, tf.bfloat16.is_floating,
        float(tf.bfloat16.max), float(tf.bfloat16.min),
        tf.as_dtype("bfloat16"), tf.bfloat16 == "bfloat16", tf.bfloat16 == tf.float16,
        tf.bfloat16.real_dtype, tf.bfloat16.is_integer, tf.as_dtype("float8_e4m3fn").size,
    ],
    "numpy": lambda tf: [
        tf.as_dtype(tf.bfloat16.as_numpy_dtype), tf.constant([1.5], tf.bfloat16).numpy().dtype.name,
        tf.constant(tf.constant([1.5], tf.bfloat16).numpy()).dtype,
    ],
    "made": lambda tf: [
        tf.constant([1.1, 2.3], tf.bfloat16), tf.zeros([2], tf.bfloat16),
        tf.eye(2, dtype="bfloat16"),
        tf.fill([2], tf.cast(1.3, tf.bfloat16)), tf.Variable([1.7], dtype=tf.bfloat16) * 2,
    ],
    "bits": lambda tf: tf.bitcast(tf.constant([1.5, -2.0], tf.bfloat16), tf.uint16),
    "a mixture": lambda tf: tf.constant(1.0, tf.bfloat16) + tf.constant(1.0, tf.float16),
    "printed": lambda tf: str(tf.constant([1.5, -2.25], tf.bfloat16)),
    "float8": lambda tf: tf.cast(tf.cast([1.1, -3.3], "float8_e5m2"), tf.float32),
    "training": _trained,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    compare(PROGRAMS[name])
