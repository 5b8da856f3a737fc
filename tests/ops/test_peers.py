"""The same small programs in other libraries: equal values, equal derivatives.

A program is written once, against a namespace `m` that each library gets here. Where two
libraries differ on purpose, the last part says so, with each one's answer.
"""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wengert as wg

pytestmark = [
    pytest.mark.peers,
    # what TensorFlow and the protobuf under it say of themselves is not ours to mend
    pytest.mark.filterwarnings("ignore:::tensorflow"),
    pytest.mark.filterwarnings("ignore:::google[.]protobuf"),
]
PEERS = ("torch", "tensorflow", "autograd")
Arrays = list[np.ndarray]
Answer = tuple[np.ndarray, Arrays]


def weights(array: np.ndarray) -> np.ndarray:
    """Return numbers to weight a gradient with, so that it can be differentiated again."""
    return np.cos(np.arange(array.size, dtype=array.real.dtype)).reshape(array.shape)


@dataclass(frozen=True)
class Library:
    """A namespace for programs, and (program, arrays, order) -> (value, derivatives)."""

    m: SimpleNamespace
    differentiate: Callable[[Callable[..., Any], Arrays, int], Answer]
    conjugates: bool = False  # whether its gradients by complex numbers are conjugates of ours


def named(module: Any, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split()}


# -- the libraries --------------------------------------------------------------------------


@functools.cache
def wengert() -> Library:
    m = SimpleNamespace(
        **named(
            wg,
            "sin cos exp log tanh sqrt abs real imag conj sum mean max prod maximum minimum where "
            "clip matmul einsum reshape take concat stack flip sort",
        ),
        cumsum=wg.cumulative_sum,
        cumprod=wg.cumulative_prod,
        transpose=wg.matrix_transpose,
        power=wg.pow,
        array=wg.asarray,
    )

    def differentiate(fun: Callable[..., Any], arrays: Arrays, order: int) -> Answer:
        every = tuple(range(len(arrays)))
        first = wg.value_and_grad(fun, argnums=every)
        if order == 1:
            return first(*arrays)
        once = wg.grad(fun, argnums=every)

        def weighted(*xs: Any) -> Any:
            return sum(wg.sum(g * weights(a)) for g, a in zip(once(*xs), arrays, strict=True))

        return first(*arrays)[0], wg.grad(weighted, argnums=every)(*arrays)

    return Library(m, differentiate)


@functools.cache
def torch() -> Library:
    torch = pytest.importorskip("torch")

    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis=None: function(x) if axis is None else function(x, dim=axis)

    m = SimpleNamespace(
        **named(
            torch,
            "sin cos exp log tanh sqrt abs real imag conj maximum minimum where clip matmul einsum "
            "reshape",
        ),
        sum=along(torch.sum),
        mean=along(torch.mean),
        max=along(torch.amax),
        prod=along(torch.prod),
        cumsum=along(torch.cumsum),
        cumprod=along(torch.cumprod),
        power=torch.pow,
        take=lambda x, indices, axis: torch.index_select(x, axis, torch.tensor(indices)),
        concat=lambda xs, axis: torch.concat(xs, dim=axis),
        stack=lambda xs, axis: torch.stack(xs, dim=axis),
        flip=lambda x, axis: torch.flip(x, dims=(axis,)),
        sort=lambda x, axis: torch.sort(x, dim=axis).values,
        transpose=lambda x: x.mT,
        array=torch.tensor,
    )

    def differentiate(fun: Callable[..., Any], arrays: Arrays, order: int) -> Answer:
        xs = [torch.tensor(a, requires_grad=True) for a in arrays]
        value = fun(*xs)
        found = torch.autograd.grad(value, xs, create_graph=order == 2)
        if order == 2:
            total = sum(
                torch.sum(g * torch.tensor(weights(a))) for g, a in zip(found, arrays, strict=True)
            )
            found = torch.autograd.grad(total, xs, materialize_grads=True)
        return value.detach().numpy(), [g.resolve_conj().numpy() for g in found]

    return Library(m, differentiate)


@functools.cache
def tensorflow() -> Library:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = pytest.importorskip("tensorflow")
    m = SimpleNamespace(
        **named(
            tf,
            "sin cos exp tanh sqrt abs maximum minimum where einsum reshape concat stack sort",
        ),
        **named(tf.math, "log real imag conj cumsum cumprod"),
        sum=tf.reduce_sum,
        mean=tf.reduce_mean,
        max=tf.reduce_max,
        prod=tf.reduce_prod,
        power=tf.pow,
        clip=tf.clip_by_value,
        matmul=tf.linalg.matmul,
        take=tf.gather,
        flip=lambda x, axis: tf.reverse(x, axis=[axis]),
        transpose=tf.linalg.matrix_transpose,
        array=tf.constant,
    )

    def differentiate(fun: Callable[..., Any], arrays: Arrays, order: int) -> Answer:
        xs = [tf.constant(a) for a in arrays]
        with tf.GradientTape() as outer:
            outer.watch(xs)
            with tf.GradientTape() as inner:
                inner.watch(xs)
                value = fun(*xs)
            found = [tf.convert_to_tensor(g) for g in inner.gradient(value, xs)]
            total = sum(
                tf.reduce_sum(g * tf.constant(weights(a), g.dtype))
                for g, a in zip(found, arrays, strict=True)
            )
        if order == 2:
            zero = tf.UnconnectedGradients.ZERO
            found = outer.gradient(total, xs, unconnected_gradients=zero)
        return value.numpy(), [tf.convert_to_tensor(g).numpy() for g in found]

    return Library(m, differentiate)


@functools.cache
def autograd() -> Library:
    hips = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")
    m = SimpleNamespace(
        **named(
            anp,
            "sin cos exp log tanh sqrt abs real imag conj sum mean max prod maximum minimum where "
            "clip cumsum matmul einsum reshape stack sort transpose power array",
        ),
        concat=anp.concatenate,
        take=lambda x, indices, axis: x[(slice(None),) * axis + (indices,)],
        flip=lambda x, axis: x[(slice(None),) * axis + (slice(None, None, -1),)],
    )

    def differentiate(fun: Callable[..., Any], arrays: Arrays, order: int) -> Answer:
        every = range(len(arrays))
        value = fun(*arrays)
        if order == 2:

            def fun(*xs: Any, first: Callable[..., Any] = fun) -> Any:
                return sum(anp.sum(hips.grad(first, i)(*xs) * weights(arrays[i])) for i in every)

        return np.asarray(value), [hips.grad(fun, i)(*arrays) for i in every]

    return Library(m, differentiate, conjugates=True)


LIBRARIES = {f.__name__: f for f in (wengert, torch, tensorflow, autograd)}

# -- the programs ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A function of a namespace and arrays to one number, and where to compare it."""

    fun: Callable[..., Any]
    arrays: Arrays
    orders: tuple[int, ...] = (1, 2)
    peers: tuple[str, ...] = PEERS


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def positive(*shape: int) -> np.ndarray:
    return np.random.default_rng([9, *shape]).uniform(0.5, 2.0, shape)


def waves(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape, seed=1)


LABELS = np.eye(3)[[2, 0, 1, 1]]
ROWS = [2, 0, 2, 1, 2]


def mlp(m: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = m.tanh(m.matmul(x, w1) + b1)
    return m.mean((m.matmul(hidden, w2) + b2) ** 2)


def cross_entropy(m: Any, logits: Any) -> Any:
    shifted = logits - m.reshape(m.max(logits, axis=1), (4, 1))
    total = m.reshape(m.log(m.sum(m.exp(shifted), axis=1)), (4, 1))
    return -m.mean(m.sum(m.array(LABELS) * (shifted - total), axis=1))


def layer_norm(m: Any, x: Any, scale: Any) -> Any:
    centred = x - m.reshape(m.mean(x, axis=1), (3, 1))
    spread = m.sqrt(m.reshape(m.mean(centred * centred, axis=1), (3, 1)) + 1e-5)
    return m.sum(m.sin(scale * centred / spread))


def attention(m: Any, q: Any, k: Any, v: Any) -> Any:
    scores = m.exp(m.matmul(q, m.transpose(k)) / 2.0)
    shares = scores / m.reshape(m.sum(scores, axis=1), (3, 1))
    return m.sum(m.matmul(shares, v) ** 2)


def recurrence(m: Any, w: Any, h: Any) -> Any:
    for _ in range(8):
        h = m.tanh(m.matmul(w, h)) + 0.1 * h
    return m.sum(h * h)


def heat(m: Any, u: Any) -> Any:
    for _ in range(4):
        inside = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = m.concat([u[:1], inside, u[-1:]], axis=0)
    return m.sum(u**3)


def joined(m: Any, x: Any, y: Any) -> Any:
    both = m.concat([x, m.flip(y, axis=0)], axis=0)
    return m.sum(m.sin(m.stack([both, both * both], axis=1)) * m.array(normal(5, 2, 3)))


def reshaped(m: Any, x: Any) -> Any:
    return m.sum(m.matmul(m.transpose(m.reshape(x, (3, 4))), m.reshape(x, (3, 4))) ** 2)


PROGRAMS: dict[str, Program] = {
    "polynomial": Program(lambda m, x: m.sum(x**3 - 2.0 * x**2 + 5.0 * x - 7.0), [normal(4)]),
    "rational": Program(
        lambda m, x, y: m.sum((x * x + 1.0) / (y * y + 2.0)), [normal(3), normal(3, seed=1)]
    ),
    "power": Program(lambda m, x, y: m.sum(m.power(x, y)), [positive(4), normal(4)]),
    "waves": Program(
        lambda m, x, y: m.sum(m.sin(x) * m.cos(y) + m.tanh(x * y)), [normal(3), normal(3, seed=1)]
    ),
    "softplus": Program(lambda m, x: m.sum(m.log(1.0 + m.exp(x))), [normal(5)]),
    "length": Program(lambda m, x: m.sqrt(m.sum(x * x)), [normal(5)]),
    "broadcasting": Program(
        lambda m, x, row, column, s: m.sum(m.exp(s * (row + column)) * x),
        [normal(2, 3), normal(3), normal(2, 1), normal()],
    ),
    "products": Program(
        lambda m, a, b, c: m.sum(m.matmul(m.tanh(m.matmul(a, b)), c)),
        [normal(2, 3), normal(3, 4), normal(4, 2)],
    ),
    "batched product": Program(
        lambda m, a, b: m.sum(m.sin(m.matmul(a, b))), [normal(2, 3, 4), normal(2, 4, 2)]
    ),
    "einsum": Program(
        lambda m, x, w, y: m.sum(m.einsum("ai,ijk,aj->ak", x, w, y) ** 2),
        [normal(3, 2), normal(2, 4, 3), normal(3, 4)],
    ),
    "mlp": Program(mlp, [normal(5, 3), normal(3, 4), normal(4), normal(4, 2), normal(2)]),
    "cross-entropy": Program(cross_entropy, [normal(4, 3)]),
    "layer norm": Program(layer_norm, [normal(3, 5), normal(5)]),
    "attention": Program(attention, [normal(3, 4), normal(2, 4), normal(2, 4, seed=1)]),
    "recurrence": Program(recurrence, [normal(3, 3), normal(3, 1)]),
    "heat equation": Program(heat, [normal(7)]),
    "slices": Program(lambda m, x: m.sum(x[0, 1:] ** 2 * x[1, :-1]), [normal(2, 4)]),
    "one element": Program(lambda m, a, b: m.matmul(a, b)[0, 1] ** 3, [normal(3, 2), normal(2, 3)]),
    "repeated rows": Program(lambda m, x: m.sum(m.take(x, ROWS, axis=0) ** 3), [normal(3, 2)]),
    "running sum": Program(lambda m, x: m.sum(m.cumsum(x, axis=1) ** 3), [normal(2, 4)]),
    "running product": Program(
        lambda m, x: m.sum(m.cumprod(x, axis=0) ** 2),
        [positive(4, 2)],
        peers=("torch", "tensorflow"),  # autograd has none
    ),
    "product of all": Program(lambda m, x: m.prod(x) * m.sum(x), [positive(4)]),
    "product with a zero": Program(
        lambda m, x: m.prod(x),
        [np.array([2.0, 0.0, 3.0])],
        orders=(1,),
        peers=("torch", "tensorflow"),  # autograd divides by the zero
    ),
    "where": Program(lambda m, x: m.sum(m.where(x > 0, m.sin(x), x**3)), [normal(6)]),
    "max along an axis": Program(lambda m, x: m.sum(m.max(x, axis=1) ** 2), [normal(3, 4)]),
    "larger and smaller": Program(
        lambda m, x, y: m.sum(m.maximum(x, y) ** 2 * m.minimum(x, y)),
        [normal(5), normal(5, seed=1)],
    ),
    "clip": Program(lambda m, x: m.sum(m.clip(x, -0.5, 0.5) ** 2), [normal(8)]),
    "absolute value": Program(lambda m, x: m.sum(m.abs(x) * x), [normal(5)]),
    "joined": Program(joined, [normal(2, 3), normal(3, 3)]),
    "reshaped": Program(reshaped, [normal(2, 6)]),
    "sorted": Program(
        lambda m, x: m.sum(m.sort(x, axis=0) ** 2 * m.array(weights(normal(6)))),
        [normal(6)],
    ),
    "single precision": Program(
        lambda m, x, w: m.sum(m.tanh(m.matmul(x, w)) ** 2),
        [normal(3, 4).astype(np.float32), normal(4, 2).astype(np.float32)],
    ),
    "complex exponential": Program(
        lambda m, z: m.sum(m.abs(m.exp(z) * z)), [waves(4)], orders=(1,)
    ),
    "complex parts": Program(
        lambda m, z: m.sum(m.real(z * z * z) * m.imag(m.sin(z))), [waves(4)], orders=(1,)
    ),
    "complex conjugate": Program(
        lambda m, z, w: m.real(m.sum(m.conj(z) * w * w)), [waves(3), 2 * waves(3)], orders=(1,)
    ),
    "complex product": Program(
        lambda m, a, b: m.sum(m.abs(m.matmul(a, b)) ** 2), [waves(2, 3), waves(3, 2)], orders=(1,)
    ),
}


@functools.cache
def answer(library: str, name: str, order: int) -> Answer:
    chosen, program = LIBRARIES[library](), PROGRAMS[name]
    return chosen.differentiate(functools.partial(program.fun, chosen.m), program.arrays, order)


@pytest.mark.parametrize(
    ("name", "peer"), [(name, peer) for name, program in PROGRAMS.items() for peer in program.peers]
)
def test_same_value_and_gradients(name, peer):
    program = PROGRAMS[name]
    conjugates = LIBRARIES[peer]().conjugates
    for order in program.orders:
        value, gradients = answer("wengert", name, order)
        their_value, theirs = answer(peer, name, order)
        close = 2e-5 if program.arrays[0].dtype == np.float32 else 1e-10
        np.testing.assert_allclose(value, their_value, rtol=close)
        for array, mine, other in zip(program.arrays, gradients, theirs, strict=True):
            assert mine.shape == array.shape
            assert mine.dtype == array.dtype
            other = np.conj(other) if conjugates else other
            np.testing.assert_allclose(mine, other, rtol=close, atol=close, err_msg=f"{order}")


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 25


# -- where libraries differ, on purpose -----------------------------------------------------


def everywhere(derivative: Any) -> dict[str, Any]:
    """Return one answer for all libraries."""
    return dict.fromkeys(LIBRARIES, derivative)


#: (program, point) and the derivative that each library gives. Ours is the subgradient of least
#: norm, and ties share evenly; what others do here is what users of theirs will have seen.
CONVENTIONS: dict[str, tuple[Callable[..., Any], list[list[float]], dict[str, Any]]] = {
    "maximum of equals": (
        lambda m, x, y: m.sum(m.maximum(x, y)),
        [[1.0], [1.0]],
        {
            "wengert": [[0.5], [0.5]],
            "torch": [[0.5], [0.5]],
            "tensorflow": [[1.0], [0.0]],
            "autograd": [[0.5], [0.5]],
        },
    ),
    "largest of equals": (
        lambda m, x: m.max(x, axis=0),
        [[1.0, 3.0, 3.0]],
        everywhere([[0.0, 0.5, 0.5]]),
    ),
    "absolute value of 0": (
        lambda m, x: m.sum(m.abs(x)),
        [[0.0]],
        everywhere([[0.0]]),
    ),
    "rectifier at 0": (
        lambda m, x: m.sum(m.clip(x, 0.0, 9.0)),
        [[0.0]],
        {"wengert": [[0.0]], "torch": [[1.0]], "tensorflow": [[1.0]], "autograd": [[0.0]]},
    ),
    "0 to a power, by the power": (
        lambda m, x, y: m.sum(m.power(x, y)),
        [[0.0], [2.0]],
        everywhere([[0.0], [0.0]]),
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_conventions(name, library):
    fun, points, expected = CONVENTIONS[name]
    chosen = LIBRARIES[library]()
    _, found = chosen.differentiate(
        functools.partial(fun, chosen.m), list(map(np.array, points)), 1
    )
    for got, want in zip(found, expected[library], strict=True):
        np.testing.assert_array_equal(got, want)
