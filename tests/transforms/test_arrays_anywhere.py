"""Transforms, optimisers and elements over arrays that are not in host memory.

Each program runs on NumPy arrays, and on the arrays of other libraries in places where nobody
can look at values: inside of `jax.jit`, on a device of array-api-strict, on PyTorch's device "meta"
and in graphs of Dask's under a scheduler that raises.
"""

from __future__ import annotations

from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from wengert import backends
from wengert.trees import flatten

jax.config.update("jax_enable_x64", True)
DEVICE = array_api_strict.Device("device1")
drawn = np.random.default_rng(0)
ARRAYS = {
    "x": drawn.uniform(0.2, 1.0, (4, 3)),
    "w": drawn.uniform(0.2, 1.0, (3, 2)),
    "v": drawn.uniform(0.5, 1.0, 5),
    "images": drawn.uniform(size=(2, 3, 6, 6)),
    "kernel": drawn.uniform(size=(4, 3, 3, 3)),
    "states": drawn.uniform(size=(3, 2, 4)),
    "labels": np.array([1, 0, 1, 1]),
}
PROGRAMS: dict[str, Any] = {}


def program(function: Any) -> Any:
    """Add a program: a function of `ARRAYS` to a nest of results."""
    PROGRAMS[function.__name__] = function
    return function


def loss(w: Any, x: Any) -> Any:
    return wg.sum(wg.tanh(wg.matmul(x, w)) ** 2)


def pairs(x: Any) -> Any:
    return wg.tanh(x[..., :2] * 2 + x[..., 1:])


def watched(value: Any, persistent: bool = False) -> Any:
    tape = wg.GradientTape(persistent=persistent)
    tensor = wg.asarray(value)
    return tape, tensor


@program
def grad(a: Any) -> Any:
    return wg.value_and_grad(loss, argnums=(0, 1))(a["w"], a["x"])


@program
def second_order(a: Any) -> Any:
    return wg.grad(lambda w: wg.sum(wg.grad(loss)(w, a["x"]) ** 2))(a["w"])


@program
def vjp(a: Any) -> Any:
    y, pull = wg.vjp(pairs, a["x"])
    return y, pull(y)


@program
def jvp(a: Any) -> Any:
    return wg.jvp(pairs, (a["x"],), (a["x"],))


@program
def linearize(a: Any) -> Any:
    y, push = wg.linearize(pairs, a["x"])
    return y, push(a["x"])


@program
def vmap(a: Any) -> Any:
    return wg.vmap(pairs)(a["x"]), wg.vmap(lambda x: x * 2 + 1, in_axes=1)(a["x"])


@program
def gradients_of_examples(a: Any) -> Any:
    return wg.vmap(wg.grad(lambda x: wg.sum(pairs(x) * 3)))(a["x"])


@program
def jacobian(a: Any) -> Any:
    return [wg.jacobian(pairs, mode=mode)(a["x"]) for mode in ("reverse", "forward")]


@program
def hessian(a: Any) -> Any:
    return wg.hessian(lambda w: loss(w, a["x"]))(a["w"])


@program
def products(a: Any) -> Any:
    return (
        wg.hvp(lambda w: loss(w, a["x"]), (a["w"],), (a["w"],)),
        wg.gnvp(pairs, lambda y: wg.sum(y**2), (a["x"],), (a["x"],)),
    )


@program
def diagonals(a: Any) -> Any:
    def cubes(x: Any) -> Any:
        return wg.sum(2 * x**3)

    return (
        wg.jac_diagonal(lambda x: wg.sin(x) * x)(a["v"]),
        wg.hessian_diagonal(cubes)(a["v"]),
        wg.laplacian(cubes)(a["v"]),
    )


@program
def checkpoint(a: Any) -> Any:
    layer = wg.checkpoint(lambda x, w: wg.tanh(wg.matmul(x, w)))
    return wg.grad(lambda w: wg.sum(layer(a["x"], w) ** 2))(a["w"])


@program
def checkpoint_loop(a: Any) -> Any:
    def run(s: Any) -> Any:
        return wg.sum(wg.checkpoint_loop(lambda s, i: wg.sin(s) * (i + 1), s, 5, snapshots=2))

    return wg.grad(run)(a["v"])


@program
def custom_rules(a: Any) -> Any:
    @wg.custom_vjp
    def one(x: Any) -> Any:
        return wg.sin(x)

    one.defvjp(lambda x: (wg.sin(x), x), lambda x, g: (g * wg.cos(x),))

    @wg.custom_jvp
    def two(x: Any) -> Any:
        return wg.log(1 + wg.exp(x))

    two.defjvps(lambda t, y, x: t * (1 - wg.exp(-y)))

    @wg.custom_gradient
    def three(x: Any) -> Any:
        return wg.cos(x), lambda g: -g * wg.sin(x)

    return [wg.grad(lambda x, f=f: wg.sum(f(x)))(a["v"]) for f in (one, two, three)]


@program
def stop_gradient(a: Any) -> Any:
    return wg.grad(lambda x: wg.sum(wg.stop_gradient(x) * x))(a["v"])


@program
def selections(a: Any) -> Any:
    tape, x = watched(a["x"], persistent=True)
    with tape:
        tape.watch(x)
        z = x @ wg.asarray(a["w"])
        written = x.at[1, 1:].set(z[0]).at[0].add(2.0)
    return (
        tape.gradient(z.at[0, 0], x, dense=False),
        tape.gradient(z.at[1:3], x),
        tape.gradient(z, x.at[2, 1]),
        tape.gradient(written, x),
        tape.gradient(written.at[1], x.at[0], unconnected_gradients="zero"),
    )


@program
def blocks_through_a_stencil(a: Any) -> Any:
    tape, x = watched(a["v"])
    with tape:
        tape.watch(x)
        y = wg.exp(wg.concat([x[1:], x[:1]]) * x)
    found = tape.gradient(y.at[1], x, dense=False)
    assert found.region == (range(1, 3),)
    return found


@program
def influence(a: Any) -> Any:
    def image(x: Any) -> Any:
        return wg.nn.relu(wg.nn.conv2d(x, a["kernel"]))

    return wg.influence(image, a["images"], of=(0, 1, 2, 2))


@program
def cost(a: Any) -> Any:
    tape, x = watched(a["x"], persistent=True)
    with tape:
        tape.watch(x)
        z = pairs(x)
    work = tape.cost(z.at[0, 0], x)
    assert work.structured.multiply_adds < work.dense.multiply_adds
    return tape.jacobian(z, x), tape.batch_jacobian(z, x)


@program
def variables(a: Any) -> Any:
    v = wg.Variable(a["w"])
    with wg.GradientTape() as tape:
        value = loss(v, wg.asarray(a["x"]))
    gradient = tape.gradient(value, v)
    v.assign_sub(gradient * 0.1)
    return gradient, v.value()


def optimised(name: str) -> Any:
    def steps(a: Any) -> Any:
        optimiser = getattr(wg.optim, name)(0.1)
        params = {"w": a["w"], "v": a["v"]}
        state = optimiser.init(params)
        for _ in range(2):
            params, state = optimiser.step(params, params, state)
        return params

    return steps


for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
    PROGRAMS[name] = optimised(name)


@program
def clipping(a: Any) -> Any:
    tree = {"w": a["w"], "v": a["v"]}
    clipped, norm = wg.optim.clip_by_global_norm(tree, 0.5)
    return (
        clipped,
        norm,
        wg.optim.clip_by_global_norm(tree, 100.0),
        wg.optim.clip_by_norm(tree, 0.5),
        wg.optim.clip_by_value(tree, 0.6),
        wg.grad(lambda w: wg.sum(wg.optim.clip_by_norm(w, 0.5) ** 3))(a["w"]),
    )


@program
def random_numbers(a: Any) -> Any:
    def drawn(x: Any) -> Any:
        rng = wg.random.generator(0)
        names = ("normal", "uniform", "laplace", "gumbel", "logistic")
        return sum(wg.sum(getattr(wg.random, name)(rng, x, x + 1)) for name in names)

    return wg.grad(drawn)(a["v"]), wg.grad(_dropped)(a["x"])


def _dropped(x: Any) -> Any:
    return wg.sum(wg.nn.dropout(x, 0.5, generator=np.random.default_rng(0)) ** 2)


@program
def layers(a: Any) -> Any:
    def network(kernel: Any, images: Any) -> Any:
        y = wg.nn.max_pool2d(wg.nn.conv2d(images, kernel), 2)
        return wg.sum(wg.nn.group_norm(y, 2) * y)

    return wg.grad(network, argnums=(0, 1))(a["kernel"], a["images"])


@program
def attention_and_recurrence(a: Any) -> Any:
    def attended(q: Any) -> Any:
        return wg.sum(wg.nn.scaled_dot_product_attention(q, q * 2, q) ** 2)

    def recurrent(x: Any) -> Any:
        return wg.sum(wg.nn.lstm(x, None, wg.concat([x[0], x[1]]), x[0, :1] * 0.5)[0])

    return wg.grad(attended)(a["states"]), wg.grad(recurrent)(a["states"])


@program
def labels_on_the_device(a: Any) -> Any:
    def classified(table: Any) -> Any:
        rows = wg.nn.embedding(a["labels"], table)
        return wg.nn.cross_entropy(rows, a["labels"])

    return wg.grad(classified)(a["w"])


# -- where they run -----------------------------------------------------------------------------

_WINDOWS = "there are no convolutions of such arrays, and no pooling"
#: Programs that a library cannot run where its arrays are, and why.
EXEMPT: dict[str, dict[str, str]] = {
    "jax": {},
    "strict": dict.fromkeys(("influence", "layers"), _WINDOWS),
    "meta": {},
    "dask": {
        **dict.fromkeys(("influence", "layers"), _WINDOWS),
        "labels_on_the_device": "which rows are taken must be known before they are computed",
    },
}


def leaves(nest: Any) -> list[Any]:
    found = []
    for leaf in flatten(nest)[0]:
        value = leaf.values if isinstance(leaf, wg.Block) else leaf
        found.append(value._raw if isinstance(value, wg.Tensor) else value)
    return found


def expected(name: str) -> list[Any]:
    return [np.asarray(v) for v in leaves(PROGRAMS[name](ARRAYS))]


def cases(library: str) -> Any:
    names = [name for name in PROGRAMS if name not in EXEMPT[library]]
    return pytest.mark.parametrize("name", names)


def assert_same(got: Any, known: list[Any], rtol: float = 1e-11) -> None:
    for mine, theirs in zip(got, known, strict=True):
        assert np.shape(mine) == theirs.shape
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=rtol, atol=1e-12)


@cases("jax")
def test_compiles(name: str) -> None:
    got = jax.jit(lambda a: leaves(PROGRAMS[name](a)))(
        {k: jnp.asarray(v) for k, v in ARRAYS.items()}
    )
    assert_same(got, expected(name))


@cases("strict")
def test_stays_on_a_device(name: str) -> None:
    placed = {k: array_api_strict.asarray(v, device=DEVICE) for k, v in ARRAYS.items()}
    got = leaves(PROGRAMS[name](placed))
    assert all(value.device == DEVICE for value in got)
    assert_same(map(backends.to_numpy, got), expected(name))


@pytest.mark.peers
@pytest.mark.parametrize("device", ["cpu", "meta"])
@cases("meta")
def test_over_pytorch(name: str, device: str) -> None:
    torch = pytest.importorskip("torch")
    got = leaves(PROGRAMS[name]({k: torch.asarray(v).to(device) for k, v in ARRAYS.items()}))
    known = expected(name)
    assert all(isinstance(value, torch.Tensor) or device == "cpu" for value in got)
    if device == "cpu":
        assert_same(got, known)
        return
    for mine, theirs in zip(got, known, strict=True):
        assert (mine.device.type, tuple(mine.shape)) == ("meta", theirs.shape)


def raising(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("a graph was computed")


@cases("dask")
def test_stays_lazy(name: str) -> None:
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    with dask.config.set(scheduler=raising):
        given = {k: da.from_array(v, chunks=2) for k, v in ARRAYS.items()}
        got = leaves(PROGRAMS[name](given))
    assert all(isinstance(value, da.Array) for value in got)
    assert_same([value.compute(scheduler="synchronous") for value in got], expected(name))
