"""Optimisers, clipping, schedules, and the bridge to scipy.optimize."""

from __future__ import annotations

import copy
import io
import math
import pickle
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import optree
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import wengert as wg
from wengert import optim
from wengert.backends import threads

OPTIMISERS = [
    optim.SGD(0.1),
    optim.SGD(0.1, weight_decay=0.1),
    optim.SGD(0.1, momentum=0.9, dampening=0.5),
    optim.SGD(0.1, momentum=0.9, nesterov=True, maximize=True),
    optim.Adam(0.1, weight_decay=0.1),
    optim.Adam(0.1, amsgrad=True),
    optim.AdamW(0.1),
    optim.RMSprop(0.1, momentum=0.5, centered=True),
    optim.RMSprop(0.1),
    optim.Adagrad(0.1, lr_decay=0.1, initial_accumulator=0.5),
]
Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    weight: Any
    bias: Any = None
    width: int = 3
    kind: str = "dense"


def same(a: Any, b: Any) -> bool:
    """Whether two trees are equal in structure, kinds, dtypes and numbers."""
    if optree.tree_structure(a, none_is_leaf=True) != optree.tree_structure(b, none_is_leaf=True):
        return False
    pairs = zip(
        optree.tree_leaves(a, none_is_leaf=True),
        optree.tree_leaves(b, none_is_leaf=True),
        strict=True,
    )
    return all(
        type(x) is type(y)
        and (
            x is None
            or (np.array_equal(numbers(x), numbers(y), equal_nan=True) and dtype(x) == dtype(y))
        )
        for x, y in pairs
    )


def numbers(x: Any) -> np.ndarray:
    return x.numpy() if isinstance(x, (wg.Tensor, wg.Variable)) else np.asarray(x)


def dtype(x: Any) -> Any:
    return getattr(x, "dtype", None)


def train(optimiser: Any, params: Any, gradients: list[Any], state: Any = None) -> Any:
    state = optimiser.init(params) if state is None else state
    for gradient in gradients:
        params, state = optimiser.step(params, gradient, state)
    return params, state


# -- what a step computes ---------------------------------------------------------------------


def test_gradient_descent_by_hand():
    params, state = train(optim.SGD(0.5), np.array([1.0, 2.0]), [np.array([2.0, -2.0])] * 2)
    assert params.tolist() == [-1.0, 4.0]
    assert state == {"step": 2}


def test_momentum_by_hand():
    optimiser = optim.SGD(1.0, momentum=0.5, dampening=0.25)
    params, state = train(optimiser, np.array(0.0), [np.array(1.0), np.array(4.0)])
    assert state["velocity"] == 0.5 * 1.0 + 0.75 * 4.0  # the first gradient counts in full
    assert params == -1.0 - 3.5
    assert state["count"] == state["step"] == 2


def test_adam_by_hand():
    b1, b2, eps, rate = 0.8, 0.9, 1e-3, 0.1
    p, mean, square = 1.0, 0.0, 0.0
    gradients = [3.0, -1.0, 0.5]
    for k, g in enumerate(gradients, 1):
        mean, square = b1 * mean + (1 - b1) * g, b2 * square + (1 - b2) * g * g
        p -= rate * (mean / (1 - b1**k)) / (math.sqrt(square / (1 - b2**k)) + eps)
    params, state = train(optim.Adam(rate, b1, b2, eps), np.array(1.0), gradients)
    np.testing.assert_allclose(params, p, rtol=1e-14)
    np.testing.assert_allclose([state["mean"], state["square"]], [mean, square], rtol=1e-14)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_first_step_of_adam_has_the_size_of_the_learning_rate(size):
    params, _ = train(optim.Adam(0.01), np.zeros(2), [size * np.array([1.0, -1.0])])
    np.testing.assert_allclose(params, [-0.01, 0.01], rtol=0.02)


def test_decay_of_weights_that_is_decoupled():
    params, _ = train(optim.AdamW(0.1, weight_decay=0.5), np.array([2.0]), [np.zeros(1)])
    np.testing.assert_allclose(params, [2.0 * (1 - 0.05)])


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_every_optimiser_goes_down(optimiser):
    sign = -1.0 if optimiser.maximize else 1.0

    def loss(x):
        return sign * (wg.sum((x["a"] - 3.0) ** 2) + (x["b"] + 1.0) ** 2)

    params = {"a": np.zeros(2), "b": 0.0}
    state = optimiser.init(params)
    first = loss(params)
    for _ in range(300):
        params, state = optimiser.step(params, wg.grad(loss)(params), state)
    assert sign * loss(params) < 0.6 * sign * first
    assert state["step"] == 300


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes_stay(optimiser, kind):
    params = {"a": np.ones((2, 3), kind), "b": np.ones((), kind)}
    gradients = {"a": np.ones((2, 3)), "b": np.float64(2.0)}
    params, state = train(optimiser, params, [gradients] * 2)
    for leaf in optree.tree_leaves([params, state]):
        assert type(leaf) is int or leaf.dtype == kind


def test_hyperparameters_of_numpy_do_not_widen():
    optimiser = optim.Adam(np.float64(0.1), beta1=np.float64(0.9), weight_decay=np.float32(0.0))
    assert type(optimiser.beta1) is type(optimiser.learning_rate) is float
    params, _ = train(optimiser, np.ones(2, np.float32), [np.ones(2, np.float32)])
    assert params.dtype == np.float32


# -- trees and kinds of arrays ----------------------------------------------------------------


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_kinds_of_arrays_stay(optimiser):
    params = {
        "tensor": wg.asarray([1.0, 2.0]),
        "array": np.ones(2, np.float32),
        "zero_dim": np.array(1.0),
        "scalar": np.float32(1.0),
        "number": 1.0,
        "empty": np.ones((0, 3)),
        "nest": (Point(np.ones(1), [wg.ones(1)]), []),
        "strict": array_api_strict.ones(2),
        "jax": jnp.ones(2, jnp.float32),
    }
    gradients = optree.tree_map(lambda x: 2 * x, params)
    after, state = train(optimiser, params, [gradients, gradients])
    expected = {k: type(v) for k, v in params.items()} | {"number": np.float64}
    assert {k: type(v) for k, v in after.items()} == expected
    assert type(after["nest"][0]) is Point
    assert all(type(v) is type(after[k]) for k, v in state.get("velocity", {}).items())
    values = [float(numbers(after[k]).reshape(-1)[0]) for k in ("array", "strict", "jax", "number")]
    np.testing.assert_allclose(values, values[0], rtol=1e-6)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_a_step_changes_nothing_that_it_was_given(optimiser):
    params, gradients = {"w": np.ones(3), "b": np.ones(())}, {"w": np.ones(3), "b": np.ones(())}
    state = optimiser.init(params)
    for _ in range(2):
        before = copy.deepcopy((params, gradients, state))
        after, next_state = optimiser.step(params, gradients, state)
        assert same(before, (params, gradients, state))
        given_arrays = optree.tree_leaves([params, gradients, state])
        for new in optree.tree_leaves([after, next_state]):
            assert not any(np.shares_memory(new, old) for old in given_arrays)
        state = next_state


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_variables_are_assigned_to(optimiser):
    values = {"w": np.array([1.0, 2.0]), "b": np.array(3.0)}
    variables = {name: wg.Variable(value, name=name) for name, value in values.items()}
    gradients = {"w": wg.asarray([0.5, -0.5]), "b": wg.asarray(1.0)}
    held = dict(variables)
    result, state = train(optimiser, variables, [gradients] * 3)
    expected, _ = train(optimiser, values, [gradients] * 3)
    for name in values:
        assert result[name] is held[name]
        np.testing.assert_array_equal(held[name].numpy(), expected[name])
    assert all(type(v) is wg.Tensor for v in optree.tree_leaves(state.get("mean", {})))


def test_variables_are_assigned_all_or_none():
    variables = [wg.Variable([1.0]), wg.Variable([1.0])]
    optimiser = optim.SGD(0.1)
    with pytest.raises(wg.ShapeError):
        optimiser.step(variables, [np.ones(1), np.ones(2)], optimiser.init(variables))
    assert variables[0].numpy() == 1.0


def test_one_variable_in_two_places_is_refused():
    v = wg.Variable([1.0])
    optimiser = optim.SGD(0.1)
    params = {"a": v, "b": [v]}
    with pytest.raises(ValueError, match=r"params\['a'\] and params\['b'\]\[0\] are one variable"):
        optimiser.step(params, {"a": np.ones(1), "b": [np.ones(1)]}, optimiser.init(params))


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_dataclasses(optimiser):
    layers = [Layer(np.ones(2), np.ones(1)), Layer(np.ones(2))]
    plain = [{"w": np.ones(2), "b": np.ones(1)}, {"w": np.ones(2)}]

    def loss(model):
        return wg.sum(model[0].weight * model[1].weight) ** 2 + wg.sum(model[0].bias)

    def plain_loss(model):
        return wg.sum(model[0]["w"] * model[1]["w"]) ** 2 + wg.sum(model[0]["b"])

    states = [optimiser.init(layers), optimiser.init(plain)]
    for _ in range(3):
        layers, states[0] = optimiser.step(layers, wg.grad(loss)(layers), states[0])
        plain, states[1] = optimiser.step(plain, wg.grad(plain_loss)(plain), states[1])
    assert (layers[1].bias, layers[1].width, layers[0].kind) == (None, 3, "dense")
    np.testing.assert_array_equal(layers[0].weight, plain[0]["w"])
    np.testing.assert_array_equal(layers[0].bias, plain[0]["b"])


def test_a_gradient_of_none_in_a_dataclass():
    layer = Layer(wg.Variable([1.0, 2.0]), wg.Variable([1.0]))
    with wg.GradientTape() as tape:
        loss = wg.sum(layer.weight**2)
    gradients = tape.gradient(loss, layer)
    assert gradients.bias is None
    optimiser = optim.Adam(0.1)
    _, state = optimiser.step(layer, gradients, optimiser.init(layer))
    assert layer.bias.numpy() == 1.0 and layer.weight.numpy()[0] < 1.0
    assert (state["count"].weight, state["count"].bias) == (1, 0)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_a_gradient_of_none_leaves_all_as_it_was(optimiser):
    params = {"a": np.ones(2), "b": np.ones(2), "absent": None}
    one, two = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    gradients = [
        {"a": one, "b": None, "absent": None},
        {"a": None, "b": one, "absent": None},
        {"a": two, "b": two, "absent": None},
    ]
    after, state = train(optimiser, params, gradients)
    np.testing.assert_array_equal(after["a"], after["b"])  # each saw one, then two
    assert after["absent"] is None
    for part in state.values():
        assert part == 3 or same(part["a"], part["b"])


@given(
    optree_of=st.recursive(
        st.integers(0, 3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_nest(optree_of):
    params = optree.tree_map(lambda n: np.arange(float(n)), optree_of)
    gradients = optree.tree_map(np.ones_like, params)
    after, state = train(optim.Adam(0.1), params, [gradients])
    assert optree.tree_structure(after) == optree.tree_structure(params)
    assert optree.tree_structure(state["mean"]) == optree.tree_structure(params)
    for new, old in zip(optree.tree_leaves(after), optree.tree_leaves(params), strict=True):
        np.testing.assert_allclose(new, old - 0.1, rtol=1e-6)


# -- blocks -----------------------------------------------------------------------------------


def block_and_dense(key: Any, recorded: Any = None) -> tuple[Any, Any]:
    x = wg.asarray(np.arange(20.0).reshape(4, 5))
    found = []
    for dense in (False, True):
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = wg.sum(wg.exp(x * 0.1)[key])
        found.append(tape.gradient(y, x, dense=dense))
    assert type(found[0]) is wg.Block
    return found[0], found[1]


@pytest.mark.parametrize("key", [(1, 2), (slice(1, 3), slice(None, None, 2)), (slice(0, 0),)])
@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_a_block_changes_its_part_alone(optimiser, key):
    block, dense = block_and_dense(key)
    params = np.ones((4, 5), np.float32)
    got, got_state = train(optimiser, params, [block] * 2)
    want, want_state = train(optimiser, params, [dense] * 2)
    start = optimiser.init(params)
    assert got.dtype == np.float32
    for mine, theirs, before in [
        (got, want, params),
        *((got_state[n], want_state[n], start[n]) for n in got_state if n not in ("step", "count")),
    ]:
        expected = before.copy()
        expected[key] = theirs[key]
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_rows_that_come_twice_add_up(optimiser):
    table = np.arange(24.0, dtype=np.float32).reshape(6, 4)
    rows = np.array([4, 1, 4])

    def gradient(x):
        with wg.GradientTape() as tape:
            tape.watch(x)
            loss = wg.sum(wg.take(x, rows, axis=0) ** 2)
        return tape.gradient(loss, x, dense=False)

    x = wg.asarray(table)
    block = gradient(x)
    assert block.index[0].tolist() == [4, 1, 4]
    got, _ = optimiser.step(x, block, optimiser.init(x))
    want, _ = optimiser.step(x, block.todense(), optimiser.init(x))
    expected = table.copy()
    expected[[1, 4]] = want.numpy()[[1, 4]]
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("in_place", [False, True])
def test_a_step_on_rows_writes_only_where_it_may(in_place):
    optimiser = optim.Adam(0.1)
    table = wg.Variable(np.ones((1000, 8)))
    state = optimiser.init(table)
    block = wg.Block((1000, 8), (np.array([3, 7]), range(8)), np.ones((2, 8)))
    before, mean = table._value._raw, state["mean"]._raw
    held = table.value()  # somebody looks at the old value
    _, state = optimiser.step(table, block, state, in_place=in_place)
    assert held.numpy().min() == 1.0 and table._value._raw is not before
    assert (state["mean"]._raw is mean) is in_place
    assert mean.any() == in_place
    del held, before
    now = id(table._value._raw)
    _, state = optimiser.step(table, block, state, in_place=in_place)
    assert id(table._value._raw) == now  # nobody else refers to it, so it was written to
    assert np.flatnonzero((table.numpy() != 1).any(axis=1)).tolist() == [3, 7]


def test_a_selection_is_stepped_alone():
    optimiser = optim.Adam(0.1)
    start = np.array([1.0, 2.0, 3.0])
    variable, tensor = wg.Variable(start), wg.asarray(start)
    state = optimiser.init([variable.at[1], tensor.at[:2]])
    assert state["mean"][0].shape == () and state["mean"][1].shape == (2,)
    for _ in range(2):
        params = [variable.at[1], tensor.at[:2]]
        gradients = [2 * variable.value()[1], 2 * tensor[:2]]
        (_, tensor), state = optimiser.step(params, gradients, state)
    whole, _ = train(optimiser, start, [2 * start])
    assert variable.numpy()[[0, 2]].tolist() == [1.0, 3.0]
    assert tensor.numpy()[2] == 3.0
    assert variable.numpy()[1] == tensor.numpy()[1] < whole[1]


def test_plain_descent_keeps_a_block_a_block(monkeypatch):
    block, dense = block_and_dense((slice(1, 3), 2))
    monkeypatch.setattr(wg.Block, "todense", None)
    tensor, variable = wg.ones((4, 5)), wg.Variable(np.ones((4, 5)))
    got, _ = train(optim.SGD(0.1), [tensor, variable], [[block, block]])
    np.testing.assert_array_equal(got[0].numpy(), 1 - 0.1 * dense.numpy())
    np.testing.assert_array_equal(got[1].numpy(), got[0].numpy())
    jax, _ = train(optim.SGD(0.1), jnp.ones((2, 2)), [jax_block()])
    assert jax.tolist() == [[1.0, 1.0], [1.0, 0.5]]


def jax_block() -> wg.Block:
    return wg.Block((2, 2), (range(1, 2), range(1, 2)), jnp.full((1, 1), 5.0))


def test_a_block_is_recorded():
    weights = np.array([1.0, 2.0, 3.0])

    def after(rate):
        with wg.GradientTape() as tape:
            x = wg.asarray(weights) * rate
            tape.watch(x)
            y = x[1] ** 2
        block = tape.gradient(y, x, dense=False)
        assert type(block) is wg.Block
        new, _ = train(optim.SGD(0.1), x, [block])
        return wg.sum(new**2)

    wg.check_grads(after, [0.7])


# -- large arrays -----------------------------------------------------------------------------


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_in_pieces(optimiser, order, monkeypatch):
    random = np.random.default_rng(0)
    params = np.asarray(random.standard_normal((50, 37)), order=order)
    gradients = [random.standard_normal((50, 37)) for _ in range(3)]
    whole = train(optimiser, params, gradients)
    monkeypatch.setattr(threads, "PIECE", 200)
    assert same(train(optimiser, params, gradients), whole)


# -- recorded steps ---------------------------------------------------------------------------


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_derivatives_go_through_steps(optimiser):
    """Three steps, differentiated with respect to where they began."""

    def after(start):
        params, state = {"x": start}, optimiser.init({"x": start})
        for _ in range(3):
            gradient = wg.grad(lambda p: wg.sum(wg.sin(p["x"]) * p["x"] ** 2))(params)
            params, state = optimiser.step(params, gradient, state)
        return wg.sum(params["x"] ** 2)

    wg.check_grads(after, [[0.4, -0.9, 1.3]], order=1)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad])
def test_derivatives_with_respect_to_the_learning_rate(kind):
    def after(rate):
        optimiser = kind(rate)
        return wg.sum(train(optimiser, np.array([1.0, 2.0]), [np.array([0.3, -2.0])] * 3)[0] ** 2)

    wg.check_grads(after, [0.1])

    def by_schedule(rate):
        optimiser = kind(lambda step: rate * 0.5**step)
        return wg.sum(train(optimiser, np.array([1.0, 2.0]), [np.array([0.3, -2.0])] * 3)[0] ** 2)

    wg.check_grads(by_schedule, [0.1])


def test_a_learning_rate_that_is_watched_later():
    rate = wg.Variable(0.1)
    tensor = wg.asarray(0.2, dtype=wg.float64)
    for source, value in ((rate, 0.1), (tensor, 0.2)):
        optimiser = optim.SGD(source)
        with wg.GradientTape() as tape:
            tape.watch(source)
            params, _ = train(optimiser, np.ones(2, np.float32), [np.full(2, 3.0, np.float32)])
        assert params.dtype == np.float32
        assert tape.gradient(wg.sum(params), source) is None  # outside of the tape: not recorded
        with wg.GradientTape() as tape:
            tape.watch(source)
            params, _ = train(optimiser, np.ones(2, np.float32), [np.full(2, 3.0, np.float32)])
            total = wg.sum(params)
        np.testing.assert_allclose(tape.gradient(total, source).numpy(), -6.0)
        plain, _ = train(optimiser, np.ones(2), [np.full(2, 3.0)])
        assert type(plain) is np.ndarray and plain[0] == 1 - value * 3.0


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_derivatives_through_a_step_of_no_gradient(optimiser):
    def after(x):
        return wg.sum(train(optimiser, x * 1.0, [x * 0.0] * 2)[0])

    slope = wg.grad(after)(np.ones(2))
    assert np.all(np.isfinite(slope))


def test_complex_steps_are_recorded():
    optimiser = optim.Adam(0.1)

    def after(x):
        z = x * (1 + 2j)
        new, _ = train(optimiser, z, [z * (0.5 - 1j)] * 2)
        return wg.sum(wg.abs(new) ** 2)

    wg.check_grads(after, [[0.3, -0.8]], order=1)


def test_steps_of_variables_are_not_recorded():
    v = wg.Variable([1.0, 2.0])
    optimiser = optim.Adam(0.1)
    with wg.GradientTape(persistent=True) as tape:
        gradient = tape.gradient(wg.sum(v**3), v)
        _, state = optimiser.step(v, gradient, optimiser.init(v))
    assert state["mean"]._node is None
    assert tape.gradient(state["mean"], v) is None


def test_nothing_is_recorded_outside_of_a_tape():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)
    new, state = train(optim.Adam(0.1), x, [tape.gradient(y, x)])
    assert new._node is None and state["mean"]._node is None


# -- the state --------------------------------------------------------------------------------


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=str)
def test_state_is_saved_and_loaded(optimiser):
    gradients = [{"w": np.full(2, g), "b": np.array(-g)} for g in (1.0, -0.5, 2.0, 0.1)]
    params = {"w": np.ones(2), "b": np.array(0.5)}
    whole = train(optimiser, params, gradients)
    half, state = train(optimiser, params, gradients[:2])
    pickled = pickle.loads(pickle.dumps((optimiser, half, state)))
    assert pickled[0] == optimiser
    assert same(train(*pickled[:2], gradients[2:], pickled[2]), whole)

    leaves, structure = optree.tree_flatten(state)
    file = io.BytesIO()
    np.savez(file, *leaves)
    file.seek(0)
    loaded = optree.tree_unflatten(structure, np.load(file).values())
    resumed, _ = train(optimiser, half, gradients[2:], loaded)
    assert same(resumed, whole[0])


def test_state_is_a_tree_that_can_be_mapped_over():
    params = {"w": wg.ones(2), "b": [wg.ones(())]}
    _, state = train(optim.Adam(0.1), params, [params])
    halved = optree.tree_map(lambda x: x * 0.5, state["mean"])
    assert optree.tree_structure(halved) == optree.tree_structure(params)
    assert list(state) == ["step", "count", "mean", "square"]
    _, after = optim.Adam(0.1).step(params, params, state | {"mean": halved})
    np.testing.assert_allclose(after["mean"]["w"].numpy(), 0.9 * 0.05 + 0.1)


def test_an_optimiser_prints_and_compares():
    assert repr(optim.Adam(0.1)).startswith("Adam(learning_rate=0.1, beta1=0.9, beta2=0.999")
    assert optim.SGD(0.1) == optim.SGD(0.1) != optim.SGD(0.2)
    assert len({optim.SGD(0.1), optim.SGD(0.1)}) == 1
    with pytest.raises(AttributeError):
        optim.SGD(0.1).momentum = 0.5


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: optim.SGD(0.0), "SGD: learning_rate is 0.0; expected a positive number"),
        (lambda: optim.SGD(-1.0), "learning_rate is -1.0"),
        (lambda: optim.Adam(math.nan), "learning_rate is nan"),
        (lambda: optim.Adam(math.inf), "learning_rate is inf"),
        (lambda: optim.Adam(0.1, beta1=1.0), "beta1 is 1.0; expected 0 <= beta1 < 1"),
        (lambda: optim.Adam(0.1, beta2=-0.1), "beta2 is -0.1; expected 0 <= beta2 < 1"),
        (lambda: optim.AdamW(0.1, weight_decay=-1.0), "weight_decay is -1.0"),
        (lambda: optim.RMSprop(0.1, decay=1.5), "decay is 1.5"),
        (lambda: optim.RMSprop(0.1, eps=-1.0), "eps is -1.0"),
        (lambda: optim.Adagrad(0.1, lr_decay=math.nan), "lr_decay is nan"),
        (lambda: optim.SGD(0.1, nesterov=True), "nesterov=True with momentum=0.0"),
        (
            lambda: optim.SGD(0.1, momentum=0.9, dampening=0.1, nesterov=True),
            "nesterov=True .* dampening=0.1",
        ),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: optim.SGD("0.1"), "learning_rate is '0.1'; expected a number"),
        (lambda: optim.SGD(True), "learning_rate is True; expected a number"),
        (lambda: optim.Adam(0.1, beta1=None), "beta1 is None; expected a number"),
        (lambda: optim.Adam(0.1, amsgrad=1), "amsgrad is 1; expected True or False"),
    ],
)
def test_hyperparameters_of_other_types(make, message):
    with pytest.raises(TypeError, match=message):
        make()


PARAMS = {"w": np.ones((2, 3)), "b": [np.ones(3), np.ones(())]}


@pytest.mark.parametrize(
    ("gradients", "error", "message"),
    [
        (
            {"w": np.ones((2, 3)), "b": [np.ones(2), np.ones(())]},
            wg.ShapeError,
            r"Adam: params\['b'\]\[0\]: the gradient has shape \(2,\) and the parameter \(3,\)",
        ),
        (
            {"w": np.ones((2, 3)), "b": [np.ones(3), np.ones(1)]},
            wg.ShapeError,
            r"params\['b'\]\[1\]: the gradient has shape \(1,\) and the parameter \(\)",
        ),
        (
            {"w": np.ones((2, 3))},
            wg.ShapeError,
            r"gradients has nothing for params\['b'\]\[0\], params\['b'\]\[1\]; give it the",
        ),
        (
            {"w": np.ones((2, 3)), "c": [np.ones(3), np.ones(())]},
            wg.ShapeError,
            r"nothing for params\['b'\].*and has gradients\['c'\]\[0\].*which params has not",
        ),
        (
            {"w": np.ones((2, 3)), "b": (np.ones(3), np.ones(()))},
            wg.ShapeError,
            "gradients has a tuple, list or dataclass of another type",
        ),
        (None, wg.ShapeError, r"gradients has nothing for params\['b'\].*params\['w'\]; give it"),
        (
            {"w": 1j * np.ones((2, 3)), "b": [np.ones(3), np.ones(())]},
            wg.DtypeError,
            r"params\['w'\]: the gradient is complex128 and the parameter float64",
        ),
        (
            {"w": jnp.ones((2, 3)), "b": [np.ones(3), np.ones(())]},
            wg.BackendError,
            r"params\['w'\]: the gradient is an array of jax.numpy and the parameter of numpy",
        ),
        (
            {"w": "nothing", "b": [np.ones(3), np.ones(())]},
            TypeError,
            r"params\['w'\]: got str; expected a tensor, an array or a variable",
        ),
        (
            {"w": {"deep": np.ones((2, 3))}, "b": [np.ones(3), np.ones(())]},
            TypeError,
            r"params\['w'\]: got dict",
        ),
    ],
)
def test_gradients_that_do_not_fit(gradients, error, message):
    optimiser = optim.Adam(0.1)
    with pytest.raises(error, match=message):
        optimiser.step(PARAMS, gradients, optimiser.init(PARAMS))


def test_dataclasses_that_do_not_fit():
    @dataclass
    class Other:
        weight: Any

    optimiser = optim.SGD(0.1)
    params = [Layer(np.ones(2), np.ones(1))]
    with pytest.raises(wg.ShapeError, match=r"nothing for params\[0\].bias"):
        optimiser.step(params, [Other(np.ones(2))], optimiser.init(params))
    with pytest.raises(wg.ShapeError, match=r"params\[0\].bias: the gradient has shape \(2,\)"):
        optimiser.step(params, [Layer(np.ones(2), np.ones(2))], optimiser.init(params))


@pytest.mark.parametrize("params", [{"n": np.arange(3)}, {"n": 1}, {"n": wg.asarray([1, 2])}])
def test_integer_parameters(params):
    with pytest.raises(wg.DtypeError, match=r"Adam: params\['n'\]: got int64 .* wg.astype"):
        optim.Adam(0.1).init(params)
    with pytest.raises(wg.DtypeError, match=r"SGD: params\['n'\]: got int64"):
        optim.SGD(0.1).step(params, {"n": np.ones(3)}, {"step": 0})


def test_a_masked_array_is_refused():
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    with pytest.raises(TypeError, match=r"params\['m'\]: got a masked array"):
        optim.Adam(0.1).init({"m": masked})


def test_a_gradient_for_no_parameter():
    optimiser = optim.Adam(0.1)
    params = {"a": None}
    with pytest.raises(TypeError, match=r"params\['a'\]: got NoneType"):
        optimiser.step(params, {"a": np.ones(2)}, optimiser.init(params))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (optim.SGD(0.1).init(PARAMS), r"the state is \['step'\], expected \['step', 'count', "),
        (optim.Adam(0.1, amsgrad=True).init(PARAMS), "'largest'.*, expected"),
        (None, "the state is NoneType, expected"),
    ],
)
def test_states_of_another_optimiser(state, message):
    with pytest.raises(ValueError, match=message):
        optim.Adam(0.1).step(PARAMS, PARAMS, state)


def test_states_of_other_parameters():
    optimiser = optim.Adam(0.1)
    with pytest.raises(wg.ShapeError, match=r"state\['count'\] has nothing for params\['b'\]"):
        optimiser.step(PARAMS, PARAMS, optimiser.init({"w": np.ones(2)}))
    other = {"w": np.ones((2, 3)), "b": [np.ones(4), np.ones(())]}
    with pytest.raises(wg.ShapeError, match=r"params\['b'\]\[0\]: the state has shape \(4,\)"):
        optimiser.step(PARAMS, PARAMS, optimiser.init(other))


# -- schedules --------------------------------------------------------------------------------

SCHEDULES: list[tuple[Any, dict[int, float]]] = [
    (optim.constant(0.3), {0: 0.3, 1000: 0.3}),
    (optim.linear(1.0, 0.0, 4), {0: 1.0, 1: 0.75, 4: 0.0, 5: 0.0}),
    (optim.linear(0.0, 2.0, 4), {0: 0.0, 3: 1.5, 9: 2.0}),
    (optim.polynomial(1.0, 0.2, 10), {0: 1.0, 5: 0.2 + 0.8 * 0.25, 10: 0.2, 11: 0.2}),
    (optim.polynomial(1.0, 0.2, 10, power=1.0), {5: 0.6}),
    (optim.cosine_decay(2.0, 10), {0: 2.0, 5: 1.0, 10: 0.0, 99: 0.0}),
    (optim.cosine_decay(2.0, 4, end=1.0), {0: 2.0, 1: 1.5 + 0.5 * math.sqrt(0.5), 4: 1.0}),
    (optim.exponential_decay(1.0, 0.5), {0: 1.0, 1: 0.5, 3: 0.125}),
    (optim.exponential_decay(1.0, 0.25, steps=2, end=0.1), {1: 0.5, 2: 0.25, 9: 0.1}),
    (optim.step_decay(1.0, 0.1, every=3), {0: 1.0, 2: 1.0, 3: 0.1, 8: 0.01}),
    (optim.inverse_sqrt(0.5, 100), {0: 0.5, 100: 0.5, 400: 0.25}),
    (optim.piecewise_constant([3, 5], [1.0, 0.1, 0.01]), {0: 1.0, 2: 1.0, 3: 0.1, 5: 0.01}),
    (
        optim.join(
            [optim.linear(0.0, 1.0, 2), optim.constant(1.0), optim.linear(1.0, 0, 4)], [2, 5]
        ),
        {0: 0.0, 1: 0.5, 2: 1.0, 4: 1.0, 5: 1.0, 7: 0.5, 9: 0.0},
    ),
    (optim.warmup(optim.cosine_decay(1.0, 10), 4), {0: 0.0, 1: 0.25, 4: 1.0, 9: 0.5, 14: 0.0}),
    (optim.warmup(optim.constant(1.0), 2, start=0.5), {0: 0.5, 1: 0.75, 2: 1.0}),
]


@pytest.mark.parametrize(("schedule", "values"), SCHEDULES, ids=str)
def test_schedules(schedule, values):
    assert {step: schedule(step) for step in values} == pytest.approx(values, abs=1e-12)
    assert all(type(schedule(step)) in (float, int) for step in values)
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert eval(repr(schedule), vars(optim)) == schedule
    assert hash(schedule) is not None


def test_a_schedule_sets_the_learning_rate_of_each_step():
    optimiser = optim.SGD(optim.piecewise_constant([1, 2], [1.0, 10.0, 100.0]))
    params, state = np.array(0.0), optimiser.init(np.array(0.0))
    for expected in (-1.0, -11.0, -111.0):
        params, state = optimiser.step(params, np.array(1.0), state)
        assert params == expected
    assert pickle.loads(pickle.dumps(optimiser)) == optimiser


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_a_schedule_that_gives_no_rate(value):
    optimiser = optim.Adam(lambda step: value)
    with pytest.raises(ValueError, match="the learning rate of step 0 is"):
        optimiser.step(PARAMS, PARAMS, optimiser.init(PARAMS))
    with pytest.raises(TypeError, match="the learning rate of step 0 is None; expected a number"):
        optim.SGD(lambda step: None).step(PARAMS, PARAMS, {"step": 0})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.linear(1.0, 0.0, 0), ValueError, "linear: steps is 0; expected a number of"),
        (lambda: optim.linear(1.0, 0.0, 2.5), ValueError, "steps is 2.5"),
        (lambda: optim.constant(-1.0), ValueError, "constant: value is -1.0; expected a finite"),
        (lambda: optim.cosine_decay(math.nan, 5), ValueError, "cosine_decay: start is nan"),
        (lambda: optim.cosine_decay("1", 5), TypeError, "start is '1'; expected a number"),
        (lambda: optim.step_decay(1.0, 0.1, -1), ValueError, "every is -1"),
        (lambda: optim.piecewise_constant([1], [1.0]), ValueError, "1 values for 1 boundaries"),
        (lambda: optim.piecewise_constant([2, 2], [1, 1, 1]), ValueError, "each must exceed"),
        (lambda: optim.piecewise_constant([0], [1, 1]), ValueError, "a boundary is 0"),
        (lambda: optim.join([optim.constant(1.0), 0.1], [5]), TypeError, "wg.optim.constant"),
        (lambda: optim.warmup(0.1, 5), TypeError, "got 0.1; expected a schedule"),
    ],
)
def test_bad_schedules(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- clipping ---------------------------------------------------------------------------------


def test_clip_by_value():
    tree = {"a": np.array([-3.0, 0.5, np.nan, np.inf]), "b": None, "c": wg.asarray([2.0])}
    clipped = optim.clip_by_value(tree, 1.0)
    np.testing.assert_array_equal(clipped["a"], [-1.0, 0.5, np.nan, 1.0])
    assert clipped["b"] is None and type(clipped["c"]) is wg.Tensor
    assert optim.clip_by_value(np.array([-3.0, 3.0]), (-1, 2)).tolist() == [-1.0, 2.0]
    assert optim.clip_by_value(np.ones(2, np.float32), 0.5).dtype == np.float32
    assert type(optim.clip_by_value(3.0, 1.0)) is np.float64


def test_clip_by_norm():
    tree = [np.array([3.0, 4.0]), np.zeros(2), None, np.array([0.3, 0.4]), np.array([3j, 4])]
    clipped = optim.clip_by_norm(tree, 1.0)
    np.testing.assert_allclose(clipped[0], [0.6, 0.8])
    assert clipped[1].tolist() == [0.0, 0.0] and clipped[2] is None
    assert clipped[3].tolist() == [0.3, 0.4]
    np.testing.assert_allclose(clipped[4], [0.6j, 0.8])


def test_clip_by_global_norm():
    tree = {"a": np.array([3.0], np.float32), "b": [wg.asarray([4.0]), None]}
    clipped, norm = optim.clip_by_global_norm(tree, 2.5)
    assert norm == 5.0 and type(norm) is float
    assert clipped["a"] == 1.5 and clipped["a"].dtype == np.float32
    assert clipped["b"][0].tolist() == [2.0] and clipped["b"][1] is None
    same_tree, norm = optim.clip_by_global_norm(tree, 5.0)
    assert norm == 5.0 and same(same_tree, tree)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_norm_that_is_not_finite(bad):
    tree = [np.array([bad, 1.0]), np.array([100.0])]
    clipped, norm = optim.clip_by_global_norm(tree, 1.0)
    assert same(clipped, tree) and not math.isfinite(norm)
    each = optim.clip_by_norm(tree, 1.0)
    assert same(each[0], tree[0]) and each[1] == 1.0


@pytest.mark.parametrize("tree", [[], {}, None, [None], [np.zeros(3)], [np.ones((0, 2))]])
def test_a_norm_of_nothing(tree):
    assert optim.global_norm(tree) == 0.0
    clipped, norm = optim.clip_by_global_norm(tree, 1.0)
    assert norm == 0.0 and same(clipped, tree)


MAKERS = {"numpy": np.asarray, "strict": array_api_strict.asarray, "jax": jnp.asarray}
SIZES = {
    "float16": [1.0],
    "float32": [1.0, 1e-30, 1e30],
    "complex64": [1.0, 1e-30, 1e30],
    "float64": [1.0, 1e-30, 1e30, 1e-200, 1e200],
}
LACKING = {("strict", "float16"), ("jax", "float64")}


@pytest.mark.parametrize(
    ("library", "kind", "size"),
    [
        (library, kind, size)
        for library in MAKERS
        for kind, sizes in SIZES.items()
        for size in sizes
        if (library, kind) not in LACKING
    ],
)
def test_norms_of_any_size(library, kind, size):
    x = MAKERS[library](np.array([3.0 * size, -4.0 * size], kind))
    assert optim.global_norm([x, x]) == pytest.approx(5.0 * math.sqrt(2) * size, rel=1e-3)
    (clipped,), _ = optim.clip_by_global_norm([x], size)
    np.testing.assert_allclose(np.asarray(clipped), np.array([0.6, -0.8]) * size, rtol=2e-3)
    assert type(clipped) is type(x) and clipped.dtype == x.dtype


def test_clipping_blocks():
    block, dense = block_and_dense((slice(1, 3), 2))
    clipped, norm = optim.clip_by_global_norm([block, None], 0.1)
    want, want_norm = optim.clip_by_global_norm([dense, None], 0.1)
    assert type(clipped[0]) is wg.Block and norm == pytest.approx(want_norm)
    np.testing.assert_allclose(clipped[0].todense().numpy(), want[0].numpy())
    each = optim.clip_by_norm(block, 0.1)
    np.testing.assert_allclose(each.todense().numpy(), want[0].numpy())
    small = optim.clip_by_value(block, 0.2)
    assert type(small) is wg.Block
    np.testing.assert_array_equal(small.todense().numpy(), np.clip(dense.numpy(), -0.2, 0.2))
    moved = optim.clip_by_value(block, (0.1, 0.2))  # the zeros move too
    np.testing.assert_array_equal(moved.numpy(), np.clip(dense.numpy(), 0.1, 0.2))


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clipping_is_differentiable(limit):
    def by_norm(x, y):
        clipped, norm = optim.clip_by_global_norm({"x": x, "y": y}, limit)
        return wg.sum(clipped["x"] ** 3) + wg.sum(clipped["y"]) + norm

    def by_each(x, y):
        return sum(wg.sum(g**3) for g in optim.clip_by_norm([x, y], limit))

    def by_value(x, y):
        return sum(wg.sum(g**3) for g in optim.clip_by_value([x, y], limit))

    for function in (by_norm, by_each, by_value):
        wg.check_grads(function, [[0.3, -0.9], [0.4]])


def test_a_recorded_norm():
    x = np.array([0.0, 0.0])
    assert wg.grad(optim.global_norm)(x).tolist() == [0.0, 0.0]
    assert wg.grad(lambda x: optim.clip_by_global_norm([x], 1.0)[0][0][0])(x).tolist() == [1.0, 0.0]
    slope = wg.grad(lambda x: optim.global_norm([x, np.ones(2)]))(np.array([1.0, 1.0]))
    np.testing.assert_allclose(slope, 0.5)
    mixed = wg.grad(lambda x: wg.sum(optim.clip_by_global_norm([x, np.ones(2)], 1.0)[0][1]))
    wg.check_grads(
        lambda x: wg.sum(optim.clip_by_global_norm([x, np.ones(2)], 1.0)[0][1]), [[1.0, 2.0]]
    )
    assert np.all(mixed(np.ones(2)) < 0)
    single = wg.grad(lambda x: wg.sum(optim.clip_by_norm(x, 1.0)))(np.ones(2, np.float32))
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optim.clip_by_value([np.ones(1)], -1.0), ValueError, "limit is -1.0"),
        (lambda: optim.clip_by_value([np.ones(1)], (2, 1)), ValueError, r"limit is \(2, 1\)"),
        (lambda: optim.clip_by_value([np.ones(1)], math.nan), ValueError, "limit is nan"),
        (lambda: optim.clip_by_value({"z": np.ones(1) * 1j}, 1.0), wg.DtypeError, "have no order"),
        (lambda: optim.clip_by_norm([np.ones(1)], 0.0), ValueError, "max_norm is 0.0"),
        (lambda: optim.clip_by_global_norm([np.ones(1)], -2), ValueError, "max_norm is -2"),
        (lambda: optim.clip_by_norm({"n": np.arange(2)}, 1.0), wg.DtypeError, r"gradients\['n'\]"),
        (lambda: optim.global_norm([np.arange(2)]), wg.DtypeError, "got int64"),
        (lambda: optim.global_norm(["x"]), TypeError, "got str"),
    ],
)
def test_bad_clipping(call, error, message):
    with pytest.raises(error, match=message):
        call()


# -- minimize ---------------------------------------------------------------------------------


def rosenbrock(x):
    return wg.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def plain_rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


WITHOUT_GRADIENT = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]
WITH_GRADIENT = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", None]
WITH_HESSIAN = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr", "trust-exact", "dogleg"]
TOLERANCES = {"COBYLA": 1e-5}  # it is slow
OPTIONS = {"COBYLA": {"maxiter": 20000}, "TNC": {"maxfun": 5000}, "SLSQP": {"maxiter": 500}}


def test_every_method_of_scipy_is_listed():
    known = {*WITHOUT_GRADIENT, *WITH_GRADIENT, *WITH_HESSIAN} - {None}
    methods = optimize._minimize.MINIMIZE_METHODS
    assert set(methods) <= {name.lower() for name in known}


@pytest.mark.parametrize("method", WITHOUT_GRADIENT + WITH_GRADIENT + WITH_HESSIAN)
def test_rosenbrock_in_two_dimensions(method):
    start = [1.2, 1.2] if method == "dogleg" else [0.6, 0.5]  # it needs a convex function
    x0 = np.array(start)
    tol = TOLERANCES.get(method, 1e-8)
    found = optim.minimize(rosenbrock, x0, method, tol=tol, options=OPTIONS.get(method))
    assert found.success, found.message
    np.testing.assert_allclose(found.x, 1.0, atol=0.02 if method == "COBYLA" else 1e-3)
    assert x0.tolist() == start


@pytest.mark.parametrize("method", WITH_GRADIENT + WITH_HESSIAN)
def test_rosenbrock_in_twenty_dimensions(method):
    x0 = np.full(20, 1.2) if method == "dogleg" else np.linspace(0.2, 1.2, 20)
    found = optim.minimize(rosenbrock, x0, method, tol=1e-10, options=OPTIONS.get(method))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    if method in ("Newton-CG", "trust-exact", "dogleg", "trust-ncg", "trust-krylov"):
        np.testing.assert_allclose(found.x, 1.0, atol=1e-7)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP", "trust-constr"])
def test_fewer_evaluations_than_finite_differences(method):
    calls = [0, 0]

    def counted(x):
        calls[0] += 1
        return rosenbrock(x)

    def plain(x):
        calls[1] += 1
        return plain_rosenbrock(x)

    x0 = np.linspace(0.2, 1.2, 20)
    exact = optim.minimize(counted, x0, method, options={"maxiter": 100})
    rough = optimize.minimize(plain, x0, method=method, options={"maxiter": 100})
    assert exact.fun <= rough.fun + 1e-6
    assert calls[0] < calls[1] / 4


def test_hessians_are_used():
    """Newton's method solves a quadratic at once, if the products are right."""
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.0]])

    def quadratic(x):
        return 0.5 * (x @ wg.asarray(matrix) @ x) - wg.sum(x)

    for method in WITH_HESSIAN:
        found = optim.minimize(quadratic, np.zeros(3), method)
        np.testing.assert_allclose(found.x, np.linalg.solve(matrix, np.ones(3)), atol=1e-5)
        if method in ("Newton-CG", "dogleg", "trust-exact"):
            assert found.nit <= 4
    exact = optim.minimize(rosenbrock, np.zeros(10), "Newton-CG")
    rough = optim.minimize(rosenbrock, np.zeros(10), "Newton-CG", hess=None)
    assert exact.nhev > 0 == rough.nhev
    assert exact.njev < rough.njev


def test_the_hessian_is_the_right_one():
    from wengert.optim import vectors

    x = np.linspace(-1.0, 1.3, 6)
    space = vectors.Space({"a": x[:2], "b": [x[2:5].reshape(3, 1), x[5]]}, "test")

    def fun(tree):
        parts = [tree["a"], wg.reshape(tree["b"][0], (-1,)), wg.reshape(tree["b"][1], (1,))]
        return rosenbrock(wg.concat(parts))

    objective = vectors.Objective(fun, (), space)
    for place in (x, x + 0.1, x):
        expected = optimize.rosen_hess(place)
        np.testing.assert_allclose(objective.hessian(place), expected, rtol=1e-12, atol=1e-12)
        value, slope = objective.value_and_gradient(place)
        assert value == pytest.approx(optimize.rosen(place))
        np.testing.assert_allclose(slope, optimize.rosen_der(place), rtol=1e-12)


def test_many_missing_leaves_are_not_all_listed():
    optimiser = optim.SGD(0.1)
    params = [np.ones(1)] * 10
    with pytest.raises(wg.ShapeError, match=r"params\[3\] and 6 more; give it the structure"):
        optimiser.step(params, [], optimiser.init(params))


def test_a_linear_function_has_a_hessian_of_zero():
    found = optim.minimize(
        lambda x: wg.sum(x), np.ones(2), "trust-constr", bounds=optimize.Bounds(-1.0, 2.0)
    )
    np.testing.assert_allclose(found.x, -1.0, atol=1e-2)


def logistic(random=None):
    random = np.random.default_rng(0)
    inputs = random.standard_normal((80, 3))
    labels = (inputs @ np.array([1.0, -2.0, 0.5]) + 0.3 + random.standard_normal(80) > 0) * 1.0

    def loss(model, strength):
        score = inputs @ model["weights"] + model["bias"]
        likelihood = wg.mean(wg.logaddexp(0.0, score) - labels * score)
        return likelihood + strength * wg.sum(model["weights"] ** 2)

    return loss


@pytest.mark.parametrize("method", WITH_GRADIENT + WITH_HESSIAN)
def test_logistic_regression_of_a_dict(method):
    loss = logistic()
    x0 = {"weights": np.full(3, 0.1), "bias": 0.0}
    tol = 1e-5 if method == "trust-krylov" else 1e-9  # close to the end it divides 0 by 0
    found = optim.minimize(loss, x0, method, args=(0.01,), tol=tol)
    assert set(found.x) == {"weights", "bias"}
    assert type(found.x["weights"]) is np.ndarray and type(found.x["bias"]) is np.float64
    slope = wg.grad(loss)(found.x, 0.01)
    assert np.max(np.abs(slope["weights"])) < 1e-4 and abs(slope["bias"]) < 1e-4


def test_kinds_and_forms_come_back():
    x0 = [wg.ones((2, 2)), (np.ones(1, np.float32), wg.Variable([1.0])), Layer(np.ones(2)), 2.0]

    def fun(x):
        a, (b, c), layer, d = x
        assert all(type(v) is wg.Tensor for v in (a, b, c, layer.weight, d))
        return sum(
            wg.sum((wg.astype(v, wg.float64) - 3.0) ** 2) for v in (a, b, c, layer.weight, d)
        )

    for method in ("BFGS", "Powell", "trust-ncg"):
        found = optim.minimize(fun, x0, method)
        a, (b, c), layer, d = found.x
        assert type(a) is type(c) is wg.Tensor and type(b) is type(layer.weight) is np.ndarray
        assert (a.shape, b.dtype, layer.width, type(d)) == ((2, 2), np.float32, 3, np.float64)
        for value in (a, b, c, layer.weight, d):
            np.testing.assert_allclose(numbers(value), 3.0, atol=1e-2)
    assert x0[1][1].numpy() == 1.0


def test_arrays_of_other_libraries():
    x0 = {"a": jnp.zeros(2), "b": array_api_strict.zeros(2)}
    found = optim.minimize(
        lambda x: float_sum((x["a"] - 1.0) ** 2) * 0.0 + wg.sum((x["b"] - 2.0) ** 2), x0
    )
    assert type(found.x["a"]) is type(x0["a"]) and type(found.x["b"]) is type(x0["b"])
    np.testing.assert_allclose(np.asarray(found.x["b"]), 2.0, atol=1e-5)


def float_sum(x):
    return float(np.sum(x.numpy()))


@pytest.mark.parametrize(
    "method", ["L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Nelder-Mead", None]
)
def test_bounds(method):
    x0 = np.array([0.5, 0.5])
    for bounds in ([(0.0, 0.8), (None, 2.0)], optimize.Bounds([0.0, -np.inf], [0.8, 2.0])):
        found = optim.minimize(rosenbrock, x0, method, bounds=bounds)
        np.testing.assert_allclose(found.x, [0.8, 0.64], atol=1e-2)


def test_bounds_of_a_nest():
    def fun(x):
        return wg.sum((x["a"] - 3.0) ** 2) + wg.sum((x["b"][0] + 3.0) ** 2)

    x0 = {"a": np.zeros((2, 2)), "b": [np.zeros(2)]}
    bounds = {"a": (None, np.array([[1.0, 5.0], [2.0, 3.0]])), "b": [(-1, 10.0)]}
    found = optim.minimize(fun, x0, bounds=bounds)
    np.testing.assert_allclose(found.x["a"], [[1.0, 3.0], [2.0, 3.0]], atol=1e-5)
    np.testing.assert_allclose(found.x["b"][0], -1.0)
    low = optim.minimize(fun, x0, bounds=optimize.Bounds(-2.0, 0.5))
    np.testing.assert_allclose(low.x["a"], 0.5)
    with pytest.raises(wg.ShapeError, match=r"a bound of x0\['a'\] has shape \(3,\)"):
        optim.minimize(fun, x0, bounds={"a": (np.zeros(3), None), "b": [(None, None)]})
    with pytest.raises(ValueError, match=r"the bounds of x0\['b'\]\[0\] are 1.0"):
        optim.minimize(fun, x0, bounds={"a": (None, None), "b": [1.0]})
    with pytest.raises(wg.ShapeError, match=r"bounds has nothing for x0\['b'\]\[0\]"):
        optim.minimize(fun, x0, bounds={"a": (None, None)})


def disc(x):
    return 1.5 - x["p"][0] ** 2 - x["p"][1] ** 2


def tilt(x):
    return wg.sum(x["p"]) + x["q"] ** 2


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA", "COBYQA", None])
@pytest.mark.parametrize("style", ["old", "new"])
def test_constraints(method, style):
    """The least of p0 + p1 + q² in a disc: on its rim."""
    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}
    if style == "old":
        constraints: Any = {"type": "ineq", "fun": disc}
    else:
        constraints = [optimize.NonlinearConstraint(disc, 0.0, np.inf)]
    found = optim.minimize(tilt, x0, method, constraints=constraints)
    np.testing.assert_allclose(found.x["p"], -math.sqrt(0.75), atol=1e-3)
    np.testing.assert_allclose(found.x["q"], 0.0, atol=1e-2)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_of_several_values(method):
    def both(x, total):
        return [x[0] * x[1] - 2.0, wg.sum(x) - total]

    def fun(x):
        return wg.sum(x**2)

    constraints = [
        {"type": "eq", "fun": both, "args": (4.0,)},
        optimize.LinearConstraint([[1.0, 0.0, 0.0]], 1.0, 3.0),
    ]
    found = optim.minimize(fun, np.array([1.5, 1.5, 1.0]), method, constraints=constraints)
    assert abs(found.x[0] * found.x[1] - 2.0) < 1e-6 and abs(np.sum(found.x) - 4.0) < 1e-6
    other = optimize.minimize(
        lambda x: np.sum(x**2),
        [1.5, 1.5, 1.0],
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda x: [x[0] * x[1] - 2.0, np.sum(x) - 4.0]},
            {"type": "ineq", "fun": lambda x: [x[0] - 1.0, 3.0 - x[0]]},
        ],
    )
    assert found.fun == pytest.approx(other.fun, abs=1e-4)


def test_derivatives_of_constraints():
    """What the bridge hands to SciPy, against central differences."""
    from wengert.optim import vectors

    def fun(x):
        return {"a": x["p"][0] * wg.exp(x["p"][1]), "b": [wg.sin(x["q"]) * x["p"]]}

    space = vectors.Space({"p": np.array([0.3, -0.2]), "q": 0.7}, "test")
    constraint = vectors.VectorFunction(fun, (), space, "a constraint")
    x, step = space.start, 1e-5
    assert constraint.value(x).shape == (3,)
    jacobian = constraint.jacobian(x)
    weights = np.array([1.0, -2.0, 0.5])
    hessian = constraint.hessian(x, weights) @ np.eye(3)
    for i, unit in enumerate(np.eye(3)):
        ahead, behind = x + step * unit, x - step * unit
        slope = (constraint.value(ahead) - constraint.value(behind)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, i], slope, atol=1e-9)
        bend = weights @ (constraint.jacobian(ahead) - constraint.jacobian(behind)) / (2 * step)
        np.testing.assert_allclose(hessian[:, i], bend, atol=1e-9)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_derivatives_of_constraints_that_are_given(method):
    calls = []

    def jacobian(x):
        calls.append(x)
        return np.array([[-2 * x["p"][0], -2 * x["p"][1], 0.0]])

    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}
    old = {"type": "ineq", "fun": disc, "jac": jacobian}
    new = optimize.NonlinearConstraint(
        disc, 0.0, np.inf, jac=jacobian, hess=lambda x, v: v[0] * np.diag([-2.0, -2.0, 0.0])
    )
    for constraint in [old] + [new] * (method == "trust-constr"):
        calls.clear()
        found = optim.minimize(tilt, x0, method, constraints=constraint)
        np.testing.assert_allclose(found.x["p"], -math.sqrt(0.75), atol=1e-3)
        assert calls and set(calls[0]) == {"p", "q"}


def test_callbacks_get_x_in_its_form():
    x0 = {"p": np.array([0.1, 0.2]), "q": 0.7}

    def fun(x):
        return wg.sum((x["p"] - 1.0) ** 4) + x["q"] ** 2

    seen: list[Any] = []
    optim.minimize(fun, x0, "BFGS", callback=lambda x: seen.append(x["p"]))
    assert len(seen) > 2 and type(seen[-1]) is np.ndarray

    def by_name(intermediate_result):
        seen.append(intermediate_result.x["q"])
        if len(seen) == 2:
            raise StopIteration

    seen.clear()
    found = optim.minimize(fun, x0, "L-BFGS-B", callback=by_name)
    assert len(seen) == 2 and "StopIteration" in str(found.message)
    seen.clear()
    optim.minimize(fun, x0, "trust-constr", callback=lambda x, result: seen.append(x["q"]))
    assert seen
    seen.clear()
    optim.minimize(fun, x0, "TNC", callback=lambda x: seen.append(x["q"]))
    assert seen


def test_a_method_of_ones_own():
    def newton(fun, x0, args, jac, hessp, **options):
        hessian = np.stack([hessp(x0, unit) for unit in np.eye(x0.size)])
        x = x0 - np.linalg.solve(hessian, jac(x0))
        return optimize.OptimizeResult(x=x, fun=fun(x), success=True)

    found = optim.minimize(lambda x: wg.sum((x["a"] - 2.0) ** 2), {"a": np.zeros(2)}, newton)
    np.testing.assert_allclose(found.x["a"], 2.0)


def test_nan_on_the_way_is_left_to_scipy():
    found = optim.minimize(
        lambda x: wg.sum(x - wg.log(x)), np.array([0.1, 5.0]), "L-BFGS-B", bounds=[(0.01, None)] * 2
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optim.minimize(lambda x: x, np.ones(2)), wg.ShapeError, r"returned shape \(2,\)"),
        (
            lambda: optim.minimize(lambda x: x, np.ones(2), "Nelder-Mead"),
            wg.ShapeError,
            r"minimize: the function returned \(2,\); expected one number",
        ),
        (
            lambda: optim.minimize(lambda x: None, np.ones(2), "Powell"),
            wg.ShapeError,
            "the function returned NoneType",
        ),
        (lambda: optim.minimize(lambda x: None, np.ones(2)), TypeError, "returned NoneType"),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) * 1j, np.ones(2)),
            wg.DtypeError,
            r"returned complex128; expected a real number, for example wg.real\(z\)",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) * np.nan, np.ones(2)),
            ValueError,
            "the function of x0 is nan; begin where it is finite",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x) + np.inf, np.ones(2), "Powell"),
            ValueError,
            "the function of x0 is inf",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x["b"] ** 0.5) + x["a"], {"a": 1.0, "b": 0.0}),
            ValueError,
            r"its derivative with respect to x0\['b'\] is inf",
        ),
        (
            lambda: optim.minimize(lambda x: wg.sum(x["n"]), {"n": np.arange(3)}),
            wg.DtypeError,
            r"minimize: x0\['n'\] has dtype int64; expected real floating numbers",
        ),
        (lambda: optim.minimize(wg.sum, np.ones(2) * 1j), wg.DtypeError, "x0 has dtype complex128"),
        (lambda: optim.minimize(wg.sum, {"a": None}), TypeError, r"x0\['a'\] is None"),
        (lambda: optim.minimize(wg.sum, []), ValueError, "x0 has no numbers"),
        (lambda: optim.minimize(wg.sum, np.ones(2), hess="exact"), ValueError, "'hvp' or None"),
        (lambda: optim.minimize(wg.sum, np.ones(2), "Newton"), ValueError, "Unknown solver"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_bad_minimization(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_functions_that_lose_the_way_back_to_x():
    with pytest.warns(wg.UnconnectedWarning, match="does not depend on the argument"):
        optim.minimize(lambda x: float_sum(x**2), np.ones(2))
    with pytest.warns(
        wg.UnconnectedWarning, match=r"jacobian\(<lambda>\): the result does not depend"
    ):
        optim.minimize(
            lambda x: wg.sum(x**2),
            np.ones(2),
            "SLSQP",
            constraints={"type": "ineq", "fun": lambda x: float_sum(x)},
        )


# -- least squares ----------------------------------------------------------------------------


def decay_curve(times):
    rates = {"start": np.array([2.0, 1.0]), "rate": (1.5, 0.2)}

    def curve(model):
        slow, fast = model["rate"]
        return model["start"][0] * wg.exp(-slow * times) + model["start"][1] * wg.exp(-fast * times)

    values = curve(rates).numpy()
    return rates, lambda model: curve(model) - values


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method):
    rates, residuals = decay_curve(np.linspace(0.0, 5.0, 40))
    x0 = {"start": np.array([1.0, 1.0]), "rate": (1.0, 0.5)}
    found = optim.least_squares(residuals, x0, method, options={"xtol": 1e-12})
    assert found.success
    np.testing.assert_allclose(found.x["start"], rates["start"], rtol=1e-6)
    np.testing.assert_allclose(found.x["rate"], rates["rate"], rtol=1e-6)
    assert type(found.x["rate"]) is tuple and found.jac.shape == (40, 4)


def test_bounds_and_losses_of_least_squares():
    _, residuals = decay_curve(np.linspace(0.0, 5.0, 40))
    x0 = {"start": np.array([1.0, 1.0]), "rate": (1.0, 0.5)}
    bounds = {"start": (0.0, np.array([1.8, 5.0])), "rate": ((None, None), (0.0, None))}
    found = optim.least_squares(residuals, x0, bounds=bounds, loss="soft_l1")
    assert found.x["start"][0] == pytest.approx(1.8, abs=1e-3)
    line = optim.least_squares(
        lambda x, data: x * data - 3.0, np.array([1.0]), args=(np.ones(3),), bounds=(0.0, 2.0)
    )
    np.testing.assert_allclose(line.x, 2.0, atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_jacobians_of_any_shape(count):
    """By rows if they are fewer, by columns otherwise; against each other."""
    from wengert.optim import vectors

    weights = np.random.default_rng(0).standard_normal((count, 3))

    def fun(x):
        return wg.sin(wg.asarray(weights) @ x["p"]) * x["q"]

    space = vectors.Space({"p": np.array([0.3, -0.2, 0.5]), "q": 0.7}, "test")
    function = vectors.VectorFunction(fun, (), space, "the function")
    got = function.jacobian(space.start)
    x = space.start
    inner = weights @ x[:3]
    expected = np.column_stack([np.cos(inner)[:, None] * weights * x[3], np.sin(inner)])
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_bad_least_squares():
    with pytest.raises(wg.DtypeError, match="least_squares: x0 has dtype int64"):
        optim.least_squares(lambda x: x, np.arange(2))
    with pytest.warns(
        wg.UnconnectedWarning, match=r"jacobian\(<lambda>\): the result does not depend"
    ):
        optim.least_squares(lambda x: np.ones(3) * float_sum(x), np.ones(2))


def test_scipy_is_imported_when_it_is_called():
    probe = "import sys, wengert.optim; print('scipy' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


def test_clipping_adds_up_rows_that_come_twice():
    block = wg.Block((9, 1), (np.array([5, 5]), range(1)), np.ones((2, 1)))
    dense = block.todense()
    assert optim.global_norm([block]) == optim.global_norm([dense]) == 2.0
    for clip in (
        lambda g: optim.clip_by_value(g, 1.0),
        lambda g: optim.clip_by_norm(g, 1.0),
        lambda g: optim.clip_by_global_norm(g, 1.0)[0],
    ):
        np.testing.assert_allclose(np.asarray(clip([block])[0]), np.asarray(clip([dense])[0]))


@pytest.mark.parametrize("make", [lambda t: t.T, lambda t: t[1:], lambda t: wg.reshape(t, (-1, 2))])
def test_a_step_does_not_write_into_memory_that_others_see(make):
    whole = wg.ones((4, 4))
    variable = wg.Variable(make(whole))
    block = wg.Block(variable.shape, (range(1), range(1)), np.ones((1, 1)))
    optim.SGD(0.1).step(variable, block, {"step": 0})
    assert whole.numpy().min() == 1.0
    assert variable.numpy()[0, 0] == 0.9


def test_an_error_leaves_everything_as_it_was():
    one, two = wg.Variable(np.ones((2, 2))), wg.Variable(np.ones(3))
    block = wg.Block((2, 2), (range(1), range(2)), np.ones((1, 2)))
    optimiser = optim.SGD(0.1)
    with pytest.raises(wg.ShapeError):
        optimiser.step([one, two], [block, np.ones(4)], optimiser.init([one, two]))
    assert one.numpy().min() == 1.0


def test_two_selections_of_one_variable_are_refused():
    variable = wg.Variable(np.ones(3))
    params = [variable.at[0], variable.at[1]]
    with pytest.raises(ValueError, match="are one variable"):
        optim.SGD(0.1).step(params, [np.ones(()), np.ones(())], {"step": 0})
