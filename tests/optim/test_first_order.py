"""Optimisers of first order: steps, trees of parameters, blocks, states, and what is refused."""

from __future__ import annotations

import copy
import io
import math
import pickle
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

import wengert as wg
from tests.optim.trees import PARAMS, Layer, block_and_dense, numbers, same
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
    with pytest.raises(wg.NoGradientError, match="layer was not read while tape recorded"):
        optimiser.step(layer, gradients, optimiser.init(layer))
    assert layer.weight.numpy()[0] == 1.0
    given = Layer(gradients.weight, None)
    del tape
    _, state = optimiser.step(layer, given, optimiser.init(layer))
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


def test_a_selection_may_be_kept_from_step_to_step():
    optimiser, start = optim.Adam(0.1), np.array([1.0, 2.0, 3.0])
    kept, anew = wg.Variable(start), wg.Variable(start)
    selection = kept.at[1:]
    state, other = optimiser.init(selection), optimiser.init(anew.at[1:])
    for _ in range(3):
        _, state = optimiser.step(selection, 2 * kept.value()[1:], state)
        _, other = optimiser.step(anew.at[1:], 2 * anew.value()[1:], other)
    assert kept.numpy().tolist() == anew.numpy().tolist()


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
