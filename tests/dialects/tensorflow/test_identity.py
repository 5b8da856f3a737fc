"""What an operation returns is a tensor of its own, unless TensorFlow returns its argument too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.tensorflow.parity import assert_same, compare

pytestmark = pytest.mark.peers

# -- each function with arguments that leave a tensor as it is ------------------------------------

#: Expressions of a tensor `x` of shape (3,), a matrix `m`, a number `s`, a variable `v`.
SAME_VALUES = [
    "tf.reshape(x, (3,))",
    "tf.reshape(x, [-1])",
    "tf.reshape(s, [])",
    "tf.squeeze(x)",
    "tf.squeeze(x, [])",
    "tf.transpose(x)",
    "tf.transpose(m, [0, 1])",
    "tf.transpose(s)",
    "tf.broadcast_to(x, [3])",
    "tf.cast(x, tf.float64)",
    "tf.cast(x, x.dtype)",
    "tf.saturate_cast(x, x.dtype)",
    "tf.dtypes.cast(x, 'float64')",
    "tf.ensure_shape(x, [3])",
    "tf.ensure_shape(x, [None])",
    "tf.concat([x], 0)",
    "tf.concat(x, 0)",
    "tf.pad(x, [[0, 0]])",
    "tf.pad(s, np.zeros((0, 2), int))",
    "tf.pad(x, [[0, 0]], 'REFLECT')",
    "tf.pad(x, [[0, 0]], 'SYMMETRIC')",
    "tf.tile(x, [1])",
    "tf.tile(s, np.zeros(0, int))",
    "tf.repeat(x, 1)",
    "tf.repeat(x, 1, axis=0)",
    "tf.repeat(x, [1, 1, 1])",
    "tf.gather(x, [0, 1, 2])",
    "tf.gather_nd(x, [[0], [1], [2]])",
    "tf.gather_nd(x, [])",
    "tf.reverse(x, [])",
    "tf.roll(x, 0, 0)",
    "tf.roll(x, 3, 0)",
    "tf.slice(x, [0], [3])",
    "tf.slice(x, [0], [-1])",
    "tf.strided_slice(x, [0], [3])",
    "x[:]",
    "x[...]",
    "x[()]",
    "x[0:3]",
    "x[::1]",
    "m[:, :]",
    "m[..., :]",
    "s[...]",
    "s[()]",
    "tf.split(x, 1)[0]",
    "tf.split(x, [3])[0]",
    "tf.unstack(x[None])[0]",
    "tf.stack([s])[0]",
    "tf.identity(x)",
    "tf.identity_n([x])[0]",
    "tf.stop_gradient(x)",
    "tf.convert_to_tensor(x)",
    "tf.convert_to_tensor(x, tf.float64)",
    "tf.constant(x)",
    "tf.math.conj(x)",
    "tf.math.real(x)",
    "tf.reduce_sum(x, [])",
    "tf.reduce_sum(s)",
    "tf.reduce_mean(s)",
    "tf.reduce_max(s)",
    "tf.reduce_prod(s)",
    "tf.reduce_min(x, [])",
    "tf.reduce_sum(x[None], 0)",
    "tf.reduce_logsumexp(s)",
    "tf.reduce_sum(m, axis=[])",
    "tf.cumsum(s[None])",
    "tf.math.cumprod(x[:1])",
    "tf.boolean_mask(x, [True] * 3)",
    "tf.where([True] * 3, x, 0.0 * x)",
    "tf.clip_by_value(x, -9.0, 9.0)",
    "tf.clip_by_norm(x, 9.0)",
    "tf.maximum(x, x)",
    "tf.math.add_n([x])",
    "tf.add_n([x])",
    "tf.linalg.band_part(m, -1, -1)",
    "tf.linalg.diag_part(tf.linalg.diag(x))",
    "tf.linalg.set_diag(m, tf.linalg.diag_part(m))",
    "tf.linalg.matrix_transpose(m[:1, :1])",
    "tf.linalg.adjoint(m[:1, :1])",
    "tf.linalg.tensor_diag_part(tf.linalg.tensor_diag(x))",
    "tf.einsum('ij->ij', m)",
    "tf.einsum('i->i', x)",
    "tf.meshgrid(x)[0]",
    "tf.sort(x)",
    "tf.math.top_k(x[::-1], 3)[0]",
    "tf.unique(x)[0]",
    "tf.dynamic_partition(x, [0, 0, 0], 1)[0]",
    "tf.dynamic_stitch([[0, 1, 2]], [x])",
    "tf.tensor_scatter_nd_add(x, np.zeros((0, 1), int), np.zeros(0))",
    "tf.tensor_scatter_nd_update(x, np.zeros((0, 1), int), np.zeros(0))",
    "tf.scatter_nd([[0], [1], [2]], x, [3])",
    "tf.math.segment_sum(x, [0, 1, 2])",
    "tf.math.unsorted_segment_sum(x, [0, 1, 2], 3)",
    "tf.nn.dropout(x, 0.0)",
    "tf.nn.dropout(x, 0)",
    "tf.nn.relu(x)",
    "tf.math.abs(x)",
    "tf.complex(x, 0 * x)",
    "tf.nest.map_structure(tf.identity, x)",
    "tf.nest.flatten(x)[0]",
    "tf.nest.map_structure(lambda t: t, [x])[0]",
    "tf.image.resize(m[None, :, :, None], [2, 2])",
    "tf.image.convert_image_dtype(x, tf.float64)",
    "tf.nn.avg_pool2d(m[None, :, :, None], 1, 1, 'VALID')",
    "tf.nn.max_pool2d(m[None, :, :, None], 1, 1, 'VALID')",
    "tf.math.divide_no_nan(x, tf.ones_like(x))",
    "tf.linalg.trace(s[None, None])",
    "tf.math.reduce_variance(x[None], 0) + x",
    "tf.signal.frame(x, 3, 3)[0]",
    "tf.signal.fftshift(x, axes=[])",
    "tf.signal.ifftshift(x[:1])",
    "tf.function(lambda a: a)(x)",
    "tf.function(lambda: x)()",
    "tf.function(lambda a: (a, a))(x)[1]",
    "tf.cond(True, lambda: x, lambda: x)",
    "tf.switch_case(0, [lambda: x])",
    "tf.while_loop(lambda a: False, lambda a: (a,), (x,))[0]",
    "tf.scan(lambda a, b: a + b, x)[0]",
    "tf.map_fn(lambda a: a, x)",
    "tf.vectorized_map(lambda a: a, x)",
    "tf.recompute_grad(lambda a: a)(x)",
    "tf.grad_pass_through(lambda a: a)(x)",
    "tf.custom_gradient(lambda a: (a, lambda d: d))(x)",
    "tf.custom_gradient(lambda a: (tf.identity(a), lambda d: d))(x)",
    "tf.TensorArray(tf.float64, 1).unstack(x[None]).read(0)",
    "tf.IndexedSlices(x, [0, 1, 2]).values",
    "tf.convert_to_tensor(tf.IndexedSlices(x, [0, 1, 2], [3]))",
    "tf.convert_to_tensor(v)",
    "tf.identity(v)",
    "v.value()",
    "v.read_value()",
    "v[:]",
    "v[...]",
    "v[()]",
    "tf.reshape(v, [3])",
    "tf.cast(v, v.dtype)",
    "tf.squeeze(v)",
    "tf.transpose(v)",
    "tf.concat([v], 0)",
    "tf.concat(v, 0)",
    "tf.tile(v, [1])",
    "tf.pad(v, [[0, 0]])",
    "tf.broadcast_to(v, [3])",
    "tf.stop_gradient(v)",
    "tf.ensure_shape(v, [3])",
    "tf.gather(v, [0, 1, 2])",
    "tf.constant(v)",
    "tf.math.conj(v)",
    "tf.math.real(v)",
    "tf.add_n([v])",
    "tf.nest.flatten(v)[0]",
    "tf.repeat(v, 1)",
    "tf.roll(v, 0, 0)",
    "tf.reverse(v, [])",
    "tf.reduce_sum(v, [])",
    "tf.stack([v])[0]",
    "tf.convert_to_tensor([v])[0]",
    "tf.function(lambda a: a)(v)",
    "tf.function(lambda: v)()",
    "tf.cond(True, lambda: v, lambda: v)",
    "tf.while_loop(lambda a: False, lambda a: (a,), (v,))[0]",
    "tf.map_fn(lambda a: a, v)",
    "tf.custom_gradient(lambda a: (tf.identity(a), lambda d: d))(v)",
    "tf.recompute_grad(lambda a: a + 0.0)(v)",
    "next(iter(v[None]))",
    "tf.unstack(v[None])[0]",
    "tf.split(v, 1)[0]",
    "tf.TensorArray(tf.float64, 1).write(0, v).read(0)",
    "tf.clip_by_value(v, -9.0, 9.0)",
    "tf.nn.dropout(v, 0.0)",
]


#: Those that TensorFlow returns as the very object, and we as another one of the same entry.
SHARED = [
    "tf.TensorArray(tf.float64, 1).write(0, x).read(0)", "tf.foldl(lambda a, b: a, m, x)",
    "v.assign(v)", "v.assign_add([1.0, 1.0, 1.0])",
]  # fmt: skip


@pytest.mark.parametrize("line", [*SAME_VALUES, *SHARED])
def test_gradient_by_the_result_and_by_the_argument(line: str) -> None:
    def program(tf: Any) -> Any:
        given = {
            "x": tf.constant([0.5, 1.5, 2.0], tf.float64),
            "m": tf.constant([[1.0, 2.0], [3.0, 5.0]], tf.float64),
            "s": tf.constant(1.5, tf.float64),
        }
        v = tf.Variable([0.5, 1.5, 2.0], dtype=tf.float64)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(given)
            y = eval(line, {"tf": tf, "np": np, "v": v, **given})
            sources = [*given.values(), v]
            kind = tf.complex128 if y.dtype.is_complex else tf.float64
            total = sum(tf.reduce_sum(tf.cast(source, kind)) for source in sources)
            z = tf.reduce_sum(tf.cast(y, kind) ** 2) * total
        same = [y is source for source in sources] if line in SAME_VALUES else None
        return y.dtype, same, tape.gradient(z, y), tape.gradient(z, sources)

    compare(program)


READS = [
    "tf.convert_to_tensor(v)",
    "v.value()",
    "v.read_value()",
    "v[...]",
    "v[:]",
    "tf.identity(v)",
    "tf.reshape(v, [3])",
    "tf.cast(v, tf.float64)",
    "tf.function(lambda: v)()",
]


@pytest.mark.parametrize("line", READS)
def test_each_read_of_a_variable_is_its_own(line: str) -> None:
    def program(tf: Any) -> Any:
        v = tf.Variable([0.5, 1.5, 2.0], dtype=tf.float64)
        names = {"tf": tf, "v": v}
        before = eval(line, names)
        with tf.GradientTape(persistent=True) as tape:
            first, second = eval(line, names), eval(line, names)
            z = tf.reduce_sum(first**2 * second * v)
            w = tf.reduce_sum(before * v)
            v.assign(2 * v)
            third = eval(line, names)
            z += tf.reduce_sum(third * first)
        after = eval(line, names)
        with tape:
            u = tf.reduce_sum(after * v)
        return (
            first is second,
            tape.gradient(z, [first, second, third, v]),
            tape.gradient(w, [before, v]),
            tape.gradient(u, [after, v]),
        )

    compare(program)


def test_what_was_computed_while_nobody_recorded_is_a_constant() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant([1.0, 2.0, 3.0])
        tape = tf.GradientTape(persistent=True)
        with tape:
            tape.watch(x)
            a = x * 2.0
        y, b = tf.reshape(x, [3]), tf.reshape(a, [3])
        with tape:
            z = tf.reduce_sum(y * b * x * a)
        return tape.gradient(z, [x, y, a, b])

    compare(program)


@pytest.mark.parametrize(
    "line",
    ["tf.floor(x)", "tf.round(x)", "tf.zeros_like(x)", "tf.sign(x)", "x // 1.0", "tf.fill([3], s)",
     "tf.math.zeta(x, 2.0)", "tf.range(s, 3.0)", "tf.cast(tf.cast(x, tf.int32), tf.float32)",
     "tf.cast(tf.argmax(x), tf.float32)", "tf.ones_like(x) * x", "tf.stop_gradient(x)",
     "tf.cast(tf.floor(x), tf.float64)", "tf.one_hot([0, 1], 2, s)"],
)  # fmt: skip
def test_gradient_by_what_has_no_derivative(line: str) -> None:
    def program(tf: Any) -> Any:
        x, s = tf.constant([0.5, 1.5, 2.0]), tf.constant(1.5)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, s])
            y = eval(line, {"tf": tf, "x": x, "s": s})
            z = tf.reduce_sum(tf.cast(y, tf.float32)) ** 2 * tf.reduce_sum(x)
        return tape.gradient(z, [y, x, s])

    compare(program)


def test_arguments_of_a_function_are_tensors_of_their_own() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant([1.0, 2.0, 3.0])

        @tf.function
        def f(a: Any, b: Any) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([a, b])
                y = a**2 * b * x
            return tape.gradient(y, [a, b]), tape.gradient(y, x), y

        with tf.GradientTape() as outer:
            outer.watch(x)
            first, through, y = f(x, x)
            z = tf.reduce_sum(y * first[0] * first[1])
        return first, through, outer.gradient(z, x)

    compare(program)


# -- every name of the table, with arguments of many forms ----------------------------------------

#: Names that are called with other things than tensors, or whose answers are random.
_OTHER = (
    "__internal__.", "compiler.", "python.", "keras.", "data.", "config.", "random.", "errors.",
    "losses.", "metrics.", "optimizers.",
    "initializers.", "test.", "compat.", "debugging.", "distribute", "summary.", "types.",
    "autograph.", "experimental.", "nn.experimental.", "io.", "ragged.",
)  # fmt: skip
ours._facade.load_all()
NAMES = sorted(
    name
    for name, value in ours._facade.names.items()
    if callable(value) and not isinstance(value, type) and not name.startswith(_OTHER)
)
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 2), (1, 2, 2, 1)]


def _arguments(x: Any, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Return arguments with which some function or other might leave a tensor as it is."""
    n, first = len(shape), shape[0] if shape else 1
    yield from ((x,), ([x],), (x, 0), ([x], 0), (x, 1), (x, -1), (x, []), (x, list(shape)))
    yield from ((x, x.dtype), (x, [1] * n), (x, [0] * n), (x, [[0, 0]] * n), (x, [*range(n)]))
    yield from ((x, x), (x, 1, 1), (x, 0, 0), (x, [0] * n, list(shape)), (x, [0] * n, [-1] * n))
    yield from ((x, 0, -1), (x, -1, 0), (x, [True] * first), (x, [0], [1]), (x, 1.0), (x, None))
    yield from ((x, -100.0, 100.0), (x, [*range(first)]), (x, [0] * first, 1))


def _found(tf: Any, name: str) -> Any:
    for part in name.split("."):
        tf = getattr(tf, part)
    return tf


def _tensors(tf: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(tf, part)
    elif tf.is_tensor(value) and hasattr(value, "dtype"):
        yield value


def _results(tf: Any, name: str, form: int, x: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return the tensors of x's dtype among what a function returns."""
    answer = _found(tf, name)(*list(_arguments(x, shape))[form])
    return [r for r in _tensors(tf, answer) if r.dtype == x.dtype][:3]


def _asked(tf: Any, name: str, form: int, shape: tuple[int, ...], is_read: bool) -> Any:
    """Return which results are the argument, and gradients by them; None if it does not go."""
    values = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64).reshape(shape) / 2
    x = tf.Variable(values) if is_read else tf.constant(values)
    try:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            results = _results(tf, name, form, x, shape)
            targets = [tf.reduce_sum(r) * tf.reduce_sum(x) for r in results]
        gradients = [tape.gradient(z, r) for z, r in zip(targets, results, strict=True)]
    except Exception:  # a function that does not take such arguments is not asked
        return None
    return [r is x for r in results], gradients


def _is_its_own(answer: Any) -> bool:
    """Return whether no result is the argument, and derivatives are as of another tensor.

    That of sum(r) * sum(x) by r is the same number everywhere, and is larger if r is x.
    """
    same, gradients = answer
    numbers = [np.unique(np.asarray(g)) for g in gradients if g is not None]
    return not any(same) and len(numbers) == len(gradients) and all(n.size < 2 for n in numbers)


FORMS = len(list(_arguments(ours.zeros(()), ())))


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_the_argument_only_where_it_is_in_tensorflow(name: str) -> None:
    import tensorflow as theirs

    try:
        _found(theirs, name)
    except AttributeError:
        pytest.skip(f"this TensorFlow has no tf.{name}")
    for shape, is_read in [*((shape, False) for shape in SHAPES), ((3,), True)]:
        for form in range(FORMS):
            got = _asked(ours, name, form, shape, is_read)
            if not got or not got[0] or (len(shape) != 1 and _is_its_own(got)):
                continue
            expected = _asked(theirs, name, form, shape, is_read)
            if expected is not None:
                assert_same(got, expected, 1e-6, f"tf.{name}, arguments {form} of shape {shape}")
