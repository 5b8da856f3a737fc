"""Operators, texts and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]

program = PROGRAMS = Programs()


@program
def print1(tf: Any) -> Any:
    x = tf.constant([[1.5, 2.0], [3.0, 4.0]])
    i = tf.constant(3)
    b = tf.constant([True, False])
    s = tf.constant(2.5)
    return (
        str(x),
        repr(x),
        str(i),
        repr(i),
        str(b),
        repr(b),
        str(s),
        repr(s),
        f"{s}",
        f"{s:.3f}",
        f"{i:03d}",
        f"{i}",
        f"{s:.2f}",
        "%d" % i,  # noqa: UP031
        f"{s:>8.2f}",
    )


@program
def print2(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="w")
    n = tf.Variable(3)
    u = tf.Variable([[1, 2], [3, 4]], dtype=tf.int64, trainable=False)
    return (
        str(v),
        repr(v),
        repr(n),
        str(u),
        f"{v}",
        f"{n}",
        str(v.dtype),
        repr(v.dtype),
        str(v.shape),
        repr(v.shape),
        v.name,
        n.name,
        str(v.value()),
    )


@program
def print4(tf: Any) -> Any:
    return (
        str(tf.float32),
        repr(tf.float32),
        tf.float32.name,
        str(tf.TensorShape([1, None])),
        repr(tf.TensorShape(None)),
        str(tf.constant(1.0).shape),
        repr(tf.constant(1.0).shape),
        f"{tf.ones([2, 3]).shape}",
        str(tf.ones([2, 3]).shape.as_list()),
        f"{tf.float64}",
        f"{tf.constant([1.0]).dtype}",
        tf.ones([2, 3]).shape == (2, 3),
        tf.ones([2, 3]).shape == [2, 3],
        tf.ones([3]).shape != (3,),
    )


@program
def fmt_vec_err(tf: Any) -> Any:
    return f"{tf.constant([1.0, 2.0]):.2f}"


@program
def fmt_vec(tf: Any) -> Any:
    return (
        f"{tf.constant([1.0, 2.0])}",
        f"{tf.constant([[1]])}",
        f"{tf.constant([1.0])}",
    )


@program
def fmt_var_spec(tf: Any) -> Any:
    return f"{tf.Variable(2.5):.1f}"


@program
def print_slices(tf: Any) -> Any:
    t = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(t, [1, 1])
    g = tape.gradient(y, t)
    return (str(g), g.shape, g.dtype, tf.convert_to_tensor(g))


@program
def ops_mixed(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    n = np.array([3.0, 2.0, 1.0], np.float32)
    m = np.array([3.0, 2.0, 1.0])
    return (
        x + n,
        n + x,
        x - m,
        m - x,
        2 * x,
        x / 2,
        2 / x,
        x // 2,
        7 // x,
        x % 2,
        5 % x,
        x**2,
        2**x,
        -x,
        abs(-x),
        +x,
        n * x,
        m / x,
        x < n,
        n < x,
        x == n,
        n == x,
        x != m,
        x >= 2,
        x <= 2,
    )


@program
def ops_npscalar(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return (
        np.float32(2) * x,
        x * np.float64(2),
        np.float64(2) * x,
        x + np.int64(1),
        np.int32(3) - x,
        x / np.float16(2),
        np.float64(2) ** x,
        x ** np.int64(2),
        x > np.float64(1.5),
        np.float64(1.5) < x,
    )


@program
def ops_int(tf: Any) -> Any:
    x = tf.constant([7, -7, 3])
    return (
        x // 2,
        x % 3,
        x / 2,
        2 ** tf.abs(x),
        x**2,
        -x,
        abs(x),
        x & 3,
        x | 8,
        x ^ 1,
        ~x,
        1 & x,
        x == 7,
        x != 7,
        10 // x,
        10 % x,
    )


@program
def ops_shift(tf: Any) -> Any:
    x = tf.constant([7, -7, 3])
    return x << 1


@program
def ops_bool(tf: Any) -> Any:
    a = tf.constant([True, False, True])
    b = tf.constant([True, True, False])
    return (
        a & b,
        a | b,
        a ^ b,
        ~a,
        a == b,
        a != b,
        a & True,
        False | b,
        True ^ a,
        np.array([True, False, False]) & a,
    )


@program
def ops_bool_add(tf: Any) -> Any:
    return tf.constant([True]) + tf.constant([True])


@program
def ops_bool_mul(tf: Any) -> Any:
    return tf.constant([True]) * tf.constant([2.0])


@program
def ops_int_float(tf: Any) -> Any:
    return tf.constant([1]) * 2.5


@program
def ops_int_float2(tf: Any) -> Any:
    return 2.5 * tf.constant([1])


@program
def ops_int_float3(tf: Any) -> Any:
    return tf.constant([1]) + 2.5


@program
def ops_int_float4(tf: Any) -> Any:
    return tf.constant(1) - 2.5


@program
def ops_int_cmp_float(tf: Any) -> Any:
    return tf.constant([1, 2]) > 1.5


@program
def ops_float_cmp_int(tf: Any) -> Any:
    return (tf.constant([1.0, 2.0]) > 1, tf.constant([1.0]) == 1)


@program
def ops_f32_f64(tf: Any) -> Any:
    return tf.constant(1.0) + tf.constant(1.0, tf.float64)


@program
def ops_f64_py(tf: Any) -> Any:
    return (tf.constant(1.0, tf.float64) + 1.5, tf.constant(1.0, "float64") * np.float32(2))


@program
def ops_list(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return ([*x, 1, 2], [1, 2, *x], x * [[1.0], [2.0]], (1.0, 2.0) - x, x == [1.0, 2.0], x < [2, 1])


@program
def ops_none(tf: Any) -> Any:
    return tf.constant([1.0]) + None


@program
def ops_none_eq(tf: Any) -> Any:
    return (tf.constant([1.0]) == None, tf.constant(1.0) != None)  # noqa: E711


@program
def ops_str(tf: Any) -> Any:
    return tf.constant([1.0]) + "a"


@program
def ops_divzero_int(tf: Any) -> Any:
    return tf.constant([1]) // tf.constant([0])


@program
def ops_divzero(tf: Any) -> Any:
    return (
        tf.constant([1.0, 0.0, -1.0]) / 0,
        tf.constant([1]) / 0,
        tf.constant(1.0) // 0.0,
        tf.constant(1.0) % 0.0,
    )


@program
def divmod(tf: Any) -> Any:
    return divmod(tf.constant(7), 2)


@program
def round(tf: Any) -> Any:
    return (round(tf.constant(2.567), 1), round(tf.constant(2.5)))


@program
def round_vec(tf: Any) -> Any:
    return round(tf.constant([2.567, 1.2]), 1)


@program
def pow_neg(tf: Any) -> Any:
    return (
        tf.constant(-8.0) ** (1 / 3),
        tf.constant(4.0) ** (-0.5),
        tf.constant(2) ** 3,
        tf.constant(0.0) ** 0,
    )


@program
def pow_negint(tf: Any) -> Any:
    return tf.constant(2) ** (-1)


@program
def matmul_ops(tf: Any) -> Any:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    n = np.eye(2, dtype="f") * 2
    return (a @ a, a @ n, n @ a, a @ [[1.0], [1.0]], [[1.0, 1.0]] @ a)


@program
def matmul_vec(tf: Any) -> Any:
    return tf.constant([[1.0, 2.0]]) @ tf.constant([1.0, 2.0])


@program
def conv(tf: Any) -> Any:
    s = tf.constant(3.7)
    tf.constant([5])
    return (
        float(s),
        int(s),
        bool(s),
        complex(s),
        [1, 2, 3, 4][tf.constant(2)],
        list(range(tf.constant(3))),
        np.float32(s),
        "abc"[tf.constant(1)],
    )


@program
def bool_vec(tf: Any) -> Any:
    return bool(tf.constant([1.0, 2.0]))


@program
def bool_one(tf: Any) -> Any:
    return (
        bool(tf.constant([1.0])),
        bool(tf.constant([[0]])),
        not tf.constant(False),
        tf.constant(0.0) and 1,
    )


@program
def index_float(tf: Any) -> Any:
    return [1, 2][tf.constant(1.0)]


@program
def len_iter(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return (
        len(x),
        list(x),
        [[float(v) for v in r] for r in x],
        sum(x),
        max(tf.constant([1.0, 3.0, 2.0])),
        sorted(tf.constant([3, 1, 2]).numpy().tolist()),
        list(zip(x, [1, 2], strict=False)),
        [*tf.range(3)],
    )


@program
def len_scalar(tf: Any) -> Any:
    return len(tf.constant(1.0))


@program
def iter_scalar(tf: Any) -> Any:
    return list(tf.constant(1.0))


@program
def contained(tf: Any) -> Any:
    return (
        2.0 in tf.constant([1.0, 2.0]),
        tf.constant(5) in [tf.constant(5)],
        3 in tf.constant([1, 2]),
    )


@program
def contained_vectors(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) in [tf.constant([1.0, 2.0])]


@program
def hash(tf: Any) -> Any:
    return hash(tf.constant(1.0))


@program
def hash_set(tf: Any) -> Any:
    return {tf.constant(1.0)}


@program
def hash_var(tf: Any) -> Any:
    return {tf.Variable(1.0): 1}


@program
def ref(tf: Any) -> Any:
    a = tf.constant(1.0)
    b = tf.Variable(2.0)
    d = {a.ref(): 1, b.ref(): 2}
    return (
        d[a.ref()],
        d[b.ref()],
        b.ref() in d,
        a.ref().deref() is a,
        a.ref() == tf.constant(1.0).ref(),
    )


@program
def np_funcs(tf: Any) -> Any:
    x = tf.constant([1.0, 4.0, 9.0])
    return (
        np.sqrt(x),
        np.sum(x),
        np.mean(x),
        np.array(x),
        np.asarray(x, np.float64),
        np.add(x, 1),
        np.dot(x, x),
        np.max(x),
        np.concatenate([x, x]),
        np.stack([x, x]),
        np.where(x > 2, x, 0),
        np.isnan(x),
        np.allclose(x, x),
        np.shape(x),
        np.size(x),
        np.ndim(x),
    )


@program
def np_var(tf: Any) -> Any:
    v = tf.Variable([1.0, 4.0])
    return (
        np.sqrt(v),
        np.sum(v),
        np.array(v),
        v.numpy(),
        v.numpy().tolist(),
        np.shape(v),
        np.asarray(v).dtype,
        np.mean(v),
        np.stack([v, v]),
    )


@program
def np_assign(tf: Any) -> Any:
    a = np.zeros(3, "f")
    a[:2] = tf.constant([1.0, 2.0])
    a[2] = tf.constant(3.0)
    a += tf.constant([1.0, 1.0, 1.0])
    return a


@program
def inplace(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = x
    x += 1
    x *= 2
    x -= 0.5
    x /= 2
    x **= 2
    return (x, y)


@program
def inplace_np(tf: Any) -> Any:
    a = np.array([1.0, 2.0], "f")
    a = a * tf.constant([2.0, 2.0])
    return a


@program
def setitem(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    x[0] = 5.0
    return x


@program
def chained_cmp(tf: Any) -> Any:
    x = tf.constant(2.0)
    return (1 < x < 3, x > 1 and x < 1, x is not None)


@program
def eq_shapes(tf: Any) -> Any:
    return (
        tf.constant([1.0, 2.0]) == tf.constant([1.0, 2.0, 3.0]),
        tf.constant([1, 2]) != tf.constant([1, 2, 3]),
        tf.constant([1.0, 2.0]) == tf.constant([[1.0], [2.0]]),
    )


@program
def eq_dtype(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) == tf.constant([1, 2])


@program
def lt_shapes(tf: Any) -> Any:
    return tf.constant([1.0, 2.0]) < tf.constant([1.0, 2.0, 3.0])


@program
def attr(tf: Any) -> Any:
    x = tf.ones([2, 3])
    return (
        x.shape[0],
        x.shape[-1],
        x.shape[:1],
        x.ndim,
        x.shape.rank,
        x.dtype == tf.float32,
        x.dtype is tf.float32,
        x.get_shape().as_list(),
        len(x.shape),
        tuple(x.shape),
        list(x.shape),
        x.shape.num_elements(),
        x.dtype.is_floating,
        x.numpy().dtype,
        x.dtype.as_numpy_dtype,
        [*x.shape],
        [*x.shape, 4],
        (1, *tuple(x.shape)),
    )


@program
def attr_sum(tf: Any) -> Any:
    return tf.ones([2, 3]).sum()


@program
def attr_item(tf: Any) -> Any:
    return tf.constant(2.0).item()


@program
def numpy_item(tf: Any) -> Any:
    return (
        tf.constant(2.0).numpy().item(),
        tf.constant([1, 2]).numpy().tolist(),
        type(tf.constant(2.0).numpy()).__name__,
        type(tf.constant([2]).numpy()).__name__,
    )


@program
def shape_ops(tf: Any) -> Any:
    x = tf.ones([2, 3, 4])
    n, h, w = x.shape
    _a, _b = x.shape[:2]
    return (
        n * h * w,
        tf.reshape(x, [-1, x.shape[-1]]).shape,
        tf.zeros(x.shape[1:]).shape,
        tf.reshape(x, [*x.shape[:1], -1]).shape,
        np.prod(x.shape),
        tf.zeros_like(x).shape,
        tf.shape(x)[0],
        tf.reshape(x, (tf.shape(x)[0], -1)).shape,
    )


@program
def tensorshape_eq(tf: Any) -> Any:
    return (
        tf.ones([2]).shape == tf.TensorShape([2]),
        tf.TensorShape([2, None]) == tf.TensorShape([2, None]),
        tf.TensorShape([2, None]).is_compatible_with([2, 7]),
        tf.TensorShape([1, 2]).concatenate([3]),
    )


@program
def pickle(tf: Any) -> Any:
    import copy

    x = tf.constant([1.0, 2.0])
    v = tf.Variable([1.0, 2.0], name="q")
    c = copy.deepcopy(v)
    c.assign([5.0, 5.0])
    return (copy.copy(x), copy.deepcopy(x), v, c, c.name)


@program
def large_int(tf: Any) -> Any:
    return (
        tf.constant(2**31),
        tf.constant([2**40, 1]),
        tf.constant(-(2**31)),
        tf.constant(2**31 - 1),
    )


@program
def large_int2(tf: Any) -> Any:
    return tf.constant(2**63)


@program
def large_mul(tf: Any) -> Any:
    return tf.constant([1]) * 2**40


@program
def nested_const(tf: Any) -> Any:
    return (
        tf.constant([[1, 2.5], [3, 4]]),
        tf.constant((1, 2)),
        tf.constant([np.float64(1.0), 2.0]),
        tf.constant([np.arange(3), np.arange(3)]),
        tf.constant(range(3)),
        tf.constant([]),
        tf.constant([[]]),
        tf.constant(np.arange(3.0)),
        tf.constant(np.arange(3)),
    )


@program
def ragged_const(tf: Any) -> Any:
    return tf.constant([[1, 2], [3]])


@program
def const_shape(tf: Any) -> Any:
    return (
        tf.constant(0, shape=(2, 3)),
        tf.constant([1, 2, 3, 4], shape=[2, 2]),
        tf.constant(1.5, "float64", [2]),
        tf.constant(np.ones(4), dtype=tf.float32, shape=(2, 2)),
    )


@program
def const_shape_err(tf: Any) -> Any:
    return tf.constant([1, 2, 3], shape=[2, 2])


@program
def const_dtype_err(tf: Any) -> Any:
    return tf.constant(1.5, tf.int32)


@program
def const_dtype_np(tf: Any) -> Any:
    return (
        tf.constant(np.array([1.5, 2.7]), tf.int32),
        tf.constant([1, 2], np.float64),
        tf.constant([1, 2], "half"),
        tf.constant(3, float),
    )


@program
def const_bool_int(tf: Any) -> Any:
    return tf.constant([0, 1], tf.bool)


@program
def const_tensors(tf: Any) -> Any:
    return tf.constant([tf.constant(1.0), tf.constant(2.0)])


@program
def ctt_tensors(tf: Any) -> Any:
    return (
        tf.convert_to_tensor([tf.constant(1.0), 2.0, np.float32(3)]),
        tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]]),
    )


@program
def ctt_dtype(tf: Any) -> Any:
    return tf.convert_to_tensor(tf.constant([1.0, 2.0]), dtype=tf.int32)


@program
def ctt_hint(tf: Any) -> Any:
    return (
        tf.convert_to_tensor([1, 2], dtype_hint=tf.float32),
        tf.convert_to_tensor(1, dtype_hint="float64"),
        tf.convert_to_tensor(1.5, dtype_hint=tf.int32),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
