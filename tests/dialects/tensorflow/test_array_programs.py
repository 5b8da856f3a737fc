"""Programs about arrays, as people write them."""

import operator

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

program = WRITTEN = Programs()


@program
def sliding_windows(tf):
    series = tf.range(10, dtype=tf.float32)
    windows = tf.stack([series[i : i + 4] for i in range(0, len(series) - 3, 2)])
    inputs, target = windows[:, :-1], windows[:, -1:]
    return inputs, target, windows.shape, f"{inputs.shape} {target.shape}"


@program
def one_hot_accuracy(tf):
    labels = tf.constant([2, 0, 1, 1])
    scores = tf.constant([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.9, 0.0, 0.1]])
    hot = tf.one_hot(labels, depth=scores.shape[-1], on_value=0.9, off_value=0.05)
    hits = tf.equal(tf.argmax(scores, axis=1, output_type=tf.int32), labels)
    print_ = str(tf.reduce_mean(tf.cast(hits, tf.float32)))
    return hot, hits, print_, -tf.reduce_sum(hot * tf.math.log(scores + 1e-7), axis=-1)


@program
def embedding_update(tf):
    table = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))
    ids = np.array([[1, 1], [3, 0]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, ids)
        loss = tf.reduce_sum(tf.reduce_mean(rows, axis=1) ** 2)
    grad = tape.gradient(loss, table)
    dense = tf.convert_to_tensor(grad)
    table.assign_sub(0.1 * dense)
    return grad, dense, table, loss


@program
def embedding_twice(tf):
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        a = tf.gather(table, [0, 1])
        b = tf.gather(table, [1, 2])
        loss = tf.reduce_sum(a * 2.0) + tf.reduce_sum(b * 3.0)
    return tape.gradient(loss, table)


@program
def gather_then_dense_use(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(w, [0, 0])) + tf.reduce_sum(w**2)
    return tape.gradient(y, w)


@program
def batched_gather(tf):
    q = tf.constant([[0.1, 0.5, 0.2], [0.9, 0.3, 0.4]])
    actions = tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(q)
        a = tf.gather(q, actions, batch_dims=1)
        b = tf.gather_nd(q, tf.stack([tf.range(2), actions], axis=1))
        c = tf.reduce_sum(q * tf.one_hot(actions, 3), axis=1)
    return a, b, c, tape.gradient(a, q), tape.gradient(b, q), tape.gradient(c, q)


@program
def im2col(tf):
    image = tf.reshape(tf.range(1, 17, dtype=tf.float32), (4, 4))
    kernel = tf.Variable([[0.0, 1.0], [-1.0, 2.0]])
    with tf.GradientTape() as tape:
        patches = [image[i : i + 3, j : j + 3] for i in range(2) for j in range(2)]
        out = tf.add_n([p * k for p, k in zip(patches, tf.reshape(kernel, [-1]), strict=True)])
        loss = tf.reduce_mean(tf.square(out))
    return out, tape.gradient(loss, kernel)


@program
def finite_difference_stencil(tf):
    u = tf.sin(tf.linspace(0.0, 3.0, 9))
    with tf.GradientTape() as tape:
        tape.watch(u)
        lap = tf.roll(u, 1, axis=0) - 2 * u + tf.roll(u, -1, 0)
        energy = tf.reduce_sum(lap[1:-1] ** 2)
    return lap, energy, tape.gradient(energy, u)


@program
def padded_total_variation(tf):
    x = tf.constant([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        p = tf.pad(x, tf.constant([[1, 1], [1, 1]]), mode="SYMMETRIC")
        tv = tf.reduce_sum(tf.abs(p[1:] - p[:-1])) + tf.reduce_sum(tf.abs(p[:, 1:] - p[:, :-1]))
    return p, tv, tape.gradient(tv, x)


@program
def strided_reads(tf):
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[:, ::2, ::-1][..., 1:3] * x[:, tf.newaxis, 1:2, -2:][:, 0]
    return y, tape.gradient(y, x), x[0, ..., -1], x[..., None].shape, x[1][2][3]


@program
def slice_with_tensors(tf):
    x = tf.range(10) * 3
    start, size = tf.constant(2), tf.constant(4)
    return (
        x[start : start + size],
        x[: tf.argmax(x)],
        x[tf.constant(-1)],
        x[:: tf.constant(2)],
        (
            tf.slice(x, [start], [size]),
            tf.strided_slice(x, [start], [-1], [2]),
        ),
    )


@program
def ragged_fails(tf):
    return tf.constant([[1, 2], [3]])


@program
def item_assignment_fails(tf):
    x = tf.zeros([2])
    x[0] = 1.0


@program
def scatter_list(tf):
    base = tf.zeros([4, 2])
    updates = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    idx = tf.constant([[1], [3], [1]])
    with tf.GradientTape() as tape:
        tape.watch([base, updates])
        y = tf.tensor_scatter_nd_add(base, idx, updates)
        z = tf.scatter_nd(idx, updates, base.shape)
        loss = tf.reduce_sum(y**2 + 2 * z)
    return y, z, tape.gradient(loss, [base, updates])


@program
def masks(tf):
    x = tf.constant([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    mask = x > 0
    with tf.GradientTape() as tape:
        tape.watch(x)
        kept = tf.boolean_mask(x, mask)
        y = tf.reduce_sum(kept**2) + tf.reduce_sum(x[mask]) + tf.reduce_sum(tf.where(mask, x, 0.0))
    return kept, x[mask], tape.gradient(y, x), tf.where(mask), tf.where(~mask)[:, 1]


@program
def causal_mask(tf):
    n = 4
    i, j = tf.range(n)[:, None], tf.range(n)
    mask = i >= j
    band = tf.linalg.band_part(tf.ones((n, n)), -1, 0)
    scores = tf.random.normal([1]) * 0 + tf.cast(i * j, tf.float32)
    masked = tf.where(mask, scores, -1e9)
    return mask, tf.reduce_all(tf.cast(mask, tf.float32) == band), tf.nn.softmax(masked, axis=-1)


@program
def length_mask(tf):
    lengths = [1, 3, 0]
    x = tf.ones([3, 4])
    mask = tf.sequence_mask(lengths, maxlen=4, dtype=x.dtype)
    mean = tf.math.divide_no_nan(tf.reduce_sum(x * mask, 1), tf.reduce_sum(mask, 1))
    return mask, mean


@program
def attention_heads(tf):
    x = tf.reshape(tf.range(24.0) / 10, [2, 3, 4])
    heads = tf.transpose(tf.reshape(x, [2, 3, 2, -1]), perm=[0, 2, 1, 3])
    with tf.GradientTape() as tape:
        tape.watch(heads)
        w = tf.nn.softmax(tf.matmul(heads, heads, transpose_b=True) / tf.sqrt(2.0))
        out = tf.reshape(tf.transpose(w @ heads, [0, 2, 1, 3]), (tf.shape(x)[0], -1, 4))
    return out, tape.gradient(out, heads)


@program
def batch_of_dynamic_shape(tf):
    x = tf.ones([5, 2, 3])
    batch = tf.shape(x)[0]
    flat = tf.reshape(x, [batch, -1])
    ones = tf.ones([batch, 1])
    return (
        tf.concat([flat, ones], axis=-1).shape,
        tf.zeros_like(flat)[:batch, 0],
        tf.fill([batch], 7),
        tf.tile([[1, 2]], [batch, 1]),
        tf.eye(batch),
        tf.range(batch),
        tf.rank(x) - 1,
    )


@program
def meshgrid_field(tf):
    xs, ys = tf.linspace(-1.0, 1.0, 3), tf.linspace(0.0, 1.0, 2)
    x, y = tf.meshgrid(xs, ys)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        f = tf.sin(x) * y**2
    points = tf.stack([tf.reshape(x, [-1]), tf.reshape(y, [-1])], axis=1)
    return f, tape.gradient(f, (x, y)), points, tf.meshgrid(xs, ys, indexing="ij")[0].shape


@program
def packed_lists(tf):
    a, b = tf.constant(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        v = tf.convert_to_tensor([a, b, 3.0])
        m = tf.stack([[a, b], [b, 1.0]])
        y = tf.reduce_sum(v * v) + tf.linalg.det(m)
    return v, m, tape.gradient(y, [a, b])


@program
def pack_mixed_dtypes(tf):
    return tf.stack([tf.constant(1.0), tf.constant(1)])


@program
def split_lstm_gates(tf):
    z = tf.reshape(tf.range(16.0) / 8 - 1, [2, 8])
    with tf.GradientTape() as tape:
        tape.watch(z)
        i, f, g, o = tf.split(z, 4, axis=-1)
        c = tf.sigmoid(f) * 0.5 + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    return h, tape.gradient(h, z), len(tf.split(z, [3, -1], 1)), tf.split(z, [3, 5], 1)[1].shape


@program
def unstack_rnn(tf):
    w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])
    seq = tf.reshape(tf.range(6.0) / 10, [3, 1, 2])
    h = tf.zeros([1, 2])
    with tf.GradientTape() as tape:
        for x in tf.unstack(seq):
            h = tf.tanh(x + h @ w)
    return h, tape.gradient(h, w)


@program
def iterate_rows(tf):
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    total, names = 0.0, []
    with tf.GradientTape() as tape:
        tape.watch(m)
        for k, row in enumerate(m):
            total += (k + 1) * tf.reduce_sum(row**2)
            names.append(str(row.numpy()))
    (a, b), (c, d) = m
    return total, tape.gradient(total, m), names, a + d, b * c


@program
def sort_quantile(tf):
    x = tf.constant([5.0, 1.0, 4.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s = tf.sort(x)
        median = s[tf.size(x) // 2]
        top = tf.reduce_mean(tf.math.top_k(x, k=2).values)
    return (
        median,
        tape.gradient(median, x),
        top,
        tape.gradient(top, x),
        tf.argsort(x, direction="DESCENDING"),
        tf.gather(x, tf.argsort(x)),
    )


@program
def unique_counts(tf):
    words = tf.constant([3, 1, 3, 2, 1, 3])
    y, idx, count = tf.unique_with_counts(words)
    u = tf.unique(words)
    return (
        y,
        idx,
        count,
        tf.gather(u.y, u.idx),
        tf.math.bincount(words),
        tf.reduce_all(tf.gather(y, idx) == words),
    )


@program
def unique_gradient(tf):
    x = tf.constant([1.0, 2.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.unique(x)[0])
    return tape.gradient(y, x)


@program
def same_tensor_converted(tf):
    x = tf.constant([1.0, 2.0])
    same = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(same)
        y = x**2
    return tape.gradient(y, x), same is x, tf.convert_to_tensor(x, tf.float32) is x


@program
def dtype_strings(tf):
    x = tf.cast([1.7, -1.7], "int64")
    return (
        x,
        x.dtype == "int64",
        x.dtype.as_numpy_dtype is np.int64,
        tf.cast(x, np.float16),
        (
            tf.zeros([2], "bool"),
            tf.ones((1, 2), dtype=np.int8),
            tf.as_dtype("double").name,
            str(tf.cast(x, bool).dtype),
        ),
    )


@program
def dtype_names(tf):
    kinds = [tf.float16, tf.float32, tf.float64, tf.int8, tf.uint16, tf.bool, tf.complex64]
    return [(k.name, k.size, k.is_floating, k.is_integer, repr(k), str(k)) for k in kinds]


@program
def shape_arithmetic(tf):
    s = tf.zeros([2, 3, 4]).shape
    return (
        s[1:],
        s[-1],
        s.as_list()[::-1],
        operator.add(s, (5,)),
        s[:2].concatenate([7]),
        tuple(s),
        len(s),
        (
            s.num_elements(),
            s == (2, 3, 4),
            s.rank,
            str(s),
            repr(s[:0]),
            list(s),
        ),
    )


@program
def shape_unpacking(tf):
    rows, cols = tf.zeros([3, 5]).shape
    a, b = tf.unstack(tf.shape(tf.zeros([3, 5])))
    return rows * cols, a * b, tf.zeros([rows, 1]).shape, type(rows).__name__


@program
def broadcast_rules(tf):
    a = tf.Variable(tf.ones([3, 1]))
    b = tf.Variable(tf.ones([1, 4]) * 2)
    c = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((a + b) * c - tf.broadcast_to(a, [2, 3, 4]))
    return y, tape.gradient(y, [a, b, c])


@program
def broadcast_fails(tf):
    return tf.ones([2, 3]) + tf.ones([2])


@program
def reshape_fails(tf):
    return tf.reshape(tf.range(6), [4, 2])


@program
def concat_shapes_fail(tf):
    return tf.concat([tf.zeros([2, 3]), tf.zeros([2, 2])], axis=0)


@program
def empty_arrays(tf):
    e = tf.zeros([0, 3])
    return (
        tf.reduce_sum(e, axis=0), tf.concat([e, tf.ones([1, 3])], 0), tf.reshape(e, [3, -1]).shape,
        tf.reshape(e, [-1, 0]), e[:, 1], tf.stack([e, e]).shape, tf.size(e), bool(tf.constant([])),
        tf.gather(tf.ones([2, 2]), tf.constant([], tf.int32)), tf.where(tf.constant([], tf.bool)),
    )  # fmt: skip


@program
def printing(tf):
    x = tf.constant([[1.5, -2.0], [0.0, 1e-3]])
    v = tf.Variable([1, 2], name="count")
    return (
        str(x), repr(x), f"{x[0, 0]:.2f}", operator.mod("%s", x[0]), str(v),
        repr(v), f"{x.shape} {x.dtype}",
        repr(tf.constant(True)), str(tf.constant(3)), repr(tf.constant([], tf.int32)),
        f"{x.numpy().mean():.3f}", repr(tf.constant(1 + 2j)), str(tf.range(3.0)),
        repr(tf.TensorShape([None, 2])), str(tf.zeros([1, 1, 2])), f"{tf.constant(2)}",
    )  # fmt: skip


@program
def numpy_both_ways(tf):
    x = tf.constant([1.0, 2.0])
    a = np.array([[3.0], [4.0]], np.float32)
    return (
        a * x,
        x * a,
        a @ x[None],
        np.add(x, 1),
        np.sum(x),
        np.array(x) + 1,
        x - a,
        a / x,
        (
            x + np.float32(1),
            np.float32(2) * x,
            np.dot(x, x),
            np.stack([x, x]),
            x.numpy() * 2,
            tf.constant(a).numpy().dtype,
        ),
    )


@program
def repeat_tile(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.repeat(x, [2, 1], axis=0) ** 2
        b = tf.tile(x, (1, 3)) ** 2
        c = tf.repeat(x, 2) * tf.range(8.0)
    return [(v, tape.gradient(v, x)) for v in (a, b, c)]


@program
def reverse_discount(tf):
    rewards = tf.constant([1.0, 0.0, 2.0, 3.0])
    gamma = tf.Variable(0.9)
    with tf.GradientTape() as tape:
        returns, total = [], tf.constant(0.0)
        for r in tf.reverse(rewards, axis=[0]):
            total = r + gamma * total
            returns.insert(0, total)
        g = tf.stack(returns)
        g = (g - tf.reduce_mean(g)) / (tf.math.reduce_std(g) + 1e-8)
        loss = tf.reduce_sum(g * tf.range(4.0))
    return g, tape.gradient(loss, gamma)


@program
def partition_and_stitch(tf):
    x = tf.constant([10.0, 20.0, 30.0, 40.0])
    parts = tf.constant([0, 1, 1, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        low, high = tf.dynamic_partition(x, parts, 2)
        where = tf.dynamic_partition(tf.range(4), parts, 2)
        y = tf.dynamic_stitch(where, [low * 2, high**2])
    return low, high, y, tape.gradient(y, x)


@program
def case_by_searchsorted(tf):
    edges = tf.constant([0.0, 1.0, 2.0])
    x = tf.constant([-0.5, 0.0, 0.5, 1.0, 5.0])
    bucket = tf.searchsorted(edges, x, side="right")
    slope = tf.Variable([0.0, 1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(slope, bucket) * x
    return bucket, y, tf.convert_to_tensor(tape.gradient(y, slope))


@program
def casts_in_a_graph(tf):
    x = tf.constant([1.4, 2.6])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.cast(x, tf.float64) * np.pi
        b = tf.cast(tf.cast(x, tf.int32), tf.float32) * x
        c = tf.cast(x > 2, x.dtype)
        d = tf.saturate_cast(x * 100, tf.float16)
    return [tape.gradient(v, x) for v in (a, b, c, d)] + [a, b, c, d]


@program
def identity_and_stop(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.identity(x) ** 2 + tf.stop_gradient(x) * x
        z = tf.identity_n([y, x])[0]
    return tape.gradient(z, [x, y])


@program
def string_operand(tf):
    return tf.constant([1.0]) * "a"


@program
def none_operand(tf):
    return tf.reshape(None, [1])


@program
def index_errors(tf):
    x = tf.constant([1.0, 2.0])
    found = []
    for bad in (5, -3, 1.0, [0, 1, 2], "a", (0, 0)):
        try:
            found.append(x[bad])
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def membership(tf):
    x = tf.constant([1, 2, 3])
    found = []
    for f in (lambda: 2 in x, lambda: {x}, lambda: bool(x), lambda: int(x), lambda: len(x[0])):
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    return found


@program
def range_forms(tf):
    return [
        tf.range(3), tf.range(1, 4), tf.range(0, 1, 0.25), tf.range(5, 0, -2), tf.range(3.0),
        tf.range(2, dtype=tf.int64), tf.range(np.int64(3)), tf.range(tf.constant(3)),
        tf.range(start=2, limit=8, delta=3), tf.range(0.0, 1.0, 0.1, dtype="float64"),
        tf.cast(tf.range(3), tf.float32) / 2, tf.range([4]), tf.linspace(1, 2, 3), tf.range(0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_written(name):
    compare(WRITTEN[name])
