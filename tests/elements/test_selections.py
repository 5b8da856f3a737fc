"""Gradients of and with respect to selected elements: z.at[key] as target, x.at[key] as source.

Each must be what the whole gradient is at those elements, and cost no more than lies between.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import wengert as wg
from tests.engine.test_blocks import KEPT, _steps
from tests.ops.op_cases import assert_near

X = np.sin(np.arange(30.0)).reshape(6, 5) + 1.5
W = np.cos(np.arange(20.0)).reshape(5, 4)

KEYS: dict[str, Any] = {
    "element": (1, 2),
    "row": 1,
    "column": (slice(None), 2),
    "from the end": -1,
    "rows": slice(1, 3),
    "backward and stepped": (slice(4, 1, -2), slice(None, None, 2)),
    "new axis": (None, 1),
    "ellipsis": (..., 1),
    "list of rows": np.array([0, 3]),
    "list of columns": (slice(1, 4), np.array([2, 0])),
    "the same row twice": np.array([1, 1]),
    "pairs": (np.array([0, 2, 5]), np.array([1, 1, 0])),
    "grid": (np.array([[0], [2]]), np.array([1, 3])),
    "mask": X > 2.0,
    "mask of rows": np.arange(6) % 2 == 0,
    "nothing": slice(0, 0),
    "nothing, by list": np.zeros(0, int),
    "all": ...,
}


def layer(x: Any) -> Any:
    h = wg.tanh(x @ W)
    return h * wg.sum(h, axis=0)


@pytest.mark.parametrize("source", KEYS)
def test_source_is_that_part_of_the_whole(source: str) -> None:
    x, key = wg.asarray(X), KEYS[source]
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = wg.sum(layer(x) ** 2)
    whole = tape.gradient(loss, x).numpy()
    assert_near(tape.gradient(loss, x.at[key]), whole[key])
    both = tape.gradient(loss, [x.at[key], x, x.at[0]])
    for got, expected in zip(both, (whole[key], whole, whole[0]), strict=True):
        assert_near(got, expected)


@pytest.mark.parametrize("source", KEYS)
@pytest.mark.parametrize("target", ["element", "rows", "pairs", "list of rows", "nothing"])
def test_both_ends(source: str, target: str) -> None:
    x, key = wg.asarray(X), KEYS[source]
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = layer(x)
    weights = np.zeros(z.shape)
    np.add.at(weights, KEYS[target], 1.0)
    whole = tape.gradient(z, x, output_gradients=weights).numpy()
    assert_near(tape.gradient(z.at[KEYS[target]], x), whole)
    assert_near(tape.gradient(z.at[KEYS[target]], x.at[key]), whole[key])


def test_weights_of_a_selection_have_its_shape() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = x * x
    got = tape.gradient(z.at[1, :2], x.at[1], output_gradients=np.array([1.0, 10.0]))
    assert_near(got, 2 * X[1] * np.array([1.0, 10.0, 0, 0, 0]))
    with pytest.raises(wg.ShapeError, match=r"shape \(5,\) and the target \(2,\)"):
        tape.gradient(z.at[1, :2], x, output_gradients=np.ones(5))


def test_second_order() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with wg.GradientTape() as tape:
            tape.watch(x)
            z = layer(x) ** 2
        first = tape.gradient(z.at[1, 2], x.at[2])
    whole = outer.gradient(first, x)
    assert np.abs(whole.numpy()).max() > 0.01
    assert_near(outer.gradient(first.at[3], x.at[1]), _hessian_row(3)[1])
    assert_near(whole, sum(_hessian_row(j) for j in range(5)))


def _hessian_row(j: int) -> np.ndarray:
    """Return the derivative by x of the derivative of layer(x)[1, 2] ** 2 by x[2, j]."""
    x = wg.asarray(X)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as tape:
            tape.watch(x)
            z = wg.sum(layer(x)[1:2, 2:3] ** 2)
        first = tape.gradient(z, x)[2, j]
    return outer.gradient(first, x).numpy()


def test_a_source_on_the_way_to_another() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.exp(x)
        z = wg.sum(y * y)
    by_y, by_x = tape.gradient(z, [y.at[0, 0], x])
    assert_near(by_y, 2 * np.exp(X)[0, 0])
    assert_near(by_x, 2 * np.exp(2 * X))
    by_y, by_x = tape.gradient(z, [y.at[0, 0], x.at[1]])
    assert_near(by_x, (2 * np.exp(2 * X))[1])


def test_variables() -> None:
    v = wg.Variable(X)
    with wg.GradientTape(persistent=True) as tape:
        loss = wg.sum(layer(v) ** 2)
    assert_near(tape.gradient(loss, v.at[2]), tape.gradient(loss, v).numpy()[2])


def test_a_selection_of_a_variable_reads_its_current_value() -> None:
    v = wg.Variable([1.0, 2.0, 3.0])
    kept = v.at[1:]
    v.assign([4.0, 5.0, 6.0])
    assert kept.get().tolist() == [5.0, 6.0]
    assert kept.add(1.0).tolist() == [4.0, 6.0, 7.0]
    with wg.GradientTape() as tape:  # read by way of the selection, the variable is watched
        loss = wg.sum(kept.get() ** 2)
    assert tape.gradient(loss, v).tolist() == [0.0, 10.0, 12.0]


def test_not_connected() -> None:
    x, y = wg.asarray(X), wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = wg.sum(x[1:])
    assert tape.gradient(z, y.at[0]) is None
    assert tape.gradient(z, y.at[0], unconnected_gradients="zero").tolist() == [0.0] * 5
    assert tape.gradient(z, x.at[0]).tolist() == [0.0] * 5  # connected, and zero


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((9, 0), "index 9 is out of range for axis 0 of shape"),
        ((0, 0, 0), "3 indices for an array of shape"),
        (np.ones((2, 2), bool), r"a mask of shape \(2, 2\)"),
        (0.5, "is not an index"),
    ],
)
def test_bad_keys(key: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        wg.asarray(X).at[key]


def test_a_whole_source_next_to_a_selected_one() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.exp(x)
        z = wg.sum(y * y)
    by_y, by_x = tape.gradient(z, [y, x.at[0]])
    assert_near(by_y, 2 * np.exp(X))
    assert_near(by_x, (2 * np.exp(2 * X))[0])


def test_answers_are_tensors_of_their_own() -> None:
    x = wg.asarray(X)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x * x)
    one, two = tape.gradient(y, [x, x])
    one[0] = 99.0
    assert_near(two, 2 * X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wg.pad(x, ((3, 3), (0, 0))),
        lambda x: wg.roll(wg.flip(x), 1),
        lambda x: wg.roll(x, 1, axis=0),
        lambda x: wg.nn.avg_pool1d(x, 2),
        lambda x: wg.take(x, [0, 3, 0], axis=0),
    ],
)
@pytest.mark.parametrize("key", [slice(0, 2), slice(0, 0), 0, slice(None, None, -1)])
def test_gradient_and_cost_of_awkward_parts(function: Any, key: Any) -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = function(x)
    weights = np.zeros(z.shape)
    weights[key] = 1.0
    assert_near(tape.gradient(z.at[key], x), tape.gradient(z, x, output_gradients=weights))
    assert tape.cost(z.at[key], x).structured.bytes <= 3 * tape.cost(z, x).dense.bytes


def test_blocks_and_numpy() -> None:
    x = wg.asarray(X)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    block = tape.gradient(y.at[1, 1:3], x, dense=False)
    dense = block.todense().numpy()
    np.testing.assert_array_equal(np.asarray(block), dense)
    for got, expected in [
        (block * 2.0, dense * 2),
        (2.0 * block, dense * 2),
        (block / 2.0, dense / 2),
        (-block, -dense),
        (block + block, 2 * dense),
        (block - block, 0 * dense),
        (X + block, X + dense),
        (X - block, X - dense),
        (x - 0.5 * block, X - 0.5 * dense),
    ]:
        assert_near(np.asarray(got), expected)
    with pytest.raises(TypeError):
        X * block


# -- what it costs ----------------------------------------------------------------------------


def test_one_element_of_large_arrays_takes_little_memory() -> None:
    x = wg.asarray(np.ones((1000, 1000)))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = x
        for _ in range(10):
            z = wg.sin(z) + z
        loss = wg.sum(z)
    for target, source in ((z.at[3, 4], x.at[3, 4]), (loss, x.at[3, 4]), (z.at[3, 4], x.at[5])):
        tracemalloc.start()
        tape.gradient(target, source)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300_000  # x has 8,000,000 bytes


@pytest.mark.parametrize("name", KEPT)
def test_selections_through_every_structure(name: str) -> None:
    function, key, _ = KEPT[name]
    array = np.sin(np.arange(1.0, 61.0)).reshape(3, 4, 5) + 1.5
    x = wg.asarray(array)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = function(x)
        loss = wg.sum(z * z)
    part = tape.gradient(z.at[key], x).numpy()
    whole = tape.gradient(loss, x).numpy()
    for mine in ((1, 2, 3), (slice(1, 3), 0), (..., np.array([0, 4])), slice(None, None, -1)):
        assert_near(tape.gradient(z.at[key], x.at[mine]), part[mine])
        assert_near(tape.gradient(loss, x.at[mine]), whole[mine])


# -- random programs --------------------------------------------------------------------------


def _more_steps(shape: tuple[int, ...]) -> dict[str, Any]:
    steps = _steps(shape)
    steps |= {
        "positive part": lambda z: wg.where(z > 0, wg.sqrt(wg.abs(z)), 0.5 * z),
        "clipped": lambda z: wg.clip(z, -0.5, 0.5),
        "larger": lambda z: wg.maximum(z, wg.flip(z)),
        "all at once": lambda z: wg.stack([z, wg.sum(z) + z]),
    }
    if shape:
        steps |= {
            "columns in another order": lambda z: wg.take(z, np.array([0, 0, -1]), axis=-1),
            "rolled along two": lambda z: wg.roll(z, (1, 2), axis=(0, -1)),
            "sorted": lambda z: wg.sort(z, axis=0),
            "chosen": lambda z: z[z > 0.1] if bool(wg.any(z > 0.1)) else z,
            "replaced": lambda z: z.at[np.array([0, 0])].set(0.1),
            "share": lambda z: wg.exp(z) / wg.sum(wg.exp(z), axis=-1, keepdims=True),
            "softmax": lambda z: wg.nn.softmax(z, axis=0),
            "standard": lambda z: wg.nn.layer_norm(z, axis=-1, eps=0.1),
        }
    if len(shape) > 1:
        steps["triangle"] = lambda z: wg.tril(z)
    if len(shape) in (2, 3):
        kernel = np.cos(np.arange(6.0 * shape[-2])).reshape(2, shape[-2], 3)
        steps |= {
            "convolution": lambda z: wg.nn.conv1d(z, kernel, padding=1),
            "every other": lambda z: wg.nn.conv1d(z, kernel, padding=2, stride=2),
            "pooled": lambda z: wg.nn.max_pool1d(z, 2, padding=1),
            "averaged": lambda z: wg.nn.avg_pool1d(z, 2, stride=1, padding=1),
            "resampled": lambda z: wg.nn.interpolate(
                z[None] if z.ndim == 2 else z, 3, mode="linear"
            ),
        }
    return steps


@settings(max_examples=500)
@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
def test_random_programs_with_selections_at_both_ends(data: Any, shape: tuple[int, ...]) -> None:
    array = np.sin(np.arange(1.0, 1 + np.prod(shape))).reshape(shape)
    x = wg.asarray(array)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = wg.sin(x)
        for _ in range(data.draw(st.integers(1, 6))):
            if z.size > 200 or z.ndim > 4:
                break
            steps = _more_steps(z.shape)
            z = steps[data.draw(st.sampled_from(sorted(steps)))](z)
    target, source = data.draw(_keys(z.shape)), data.draw(_keys(shape))
    weights = np.zeros(z.shape)
    np.add.at(weights, target, 1.0)
    whole = tape.gradient(z, x, output_gradients=weights).numpy()
    assert_near(tape.gradient(z.at[target], x.at[source]), whole[source], rtol=1e-9)
    assert_near(tape.gradient(z.at[target], x), whole, rtol=1e-9)
    assert_near(tape.gradient(z.at[target], x, dense=False), whole, rtol=1e-9)


def _keys(shape: tuple[int, ...]) -> Any:
    """Return slices and integers, lists of positions along one axis, or a mask."""
    kinds = [hnp.basic_indices(shape, allow_newaxis=False)]
    if shape and all(shape):
        lists = hnp.arrays(int, st.integers(0, 3), elements=st.integers(0, shape[0] - 1))
        kinds += [lists, hnp.arrays(bool, shape)]
    return st.one_of(kinds)


def test_elements_of_a_variable_are_assigned():
    v = wg.Variable([1.0, 2.0, 3.0])
    assert v.at[1].assign(7.0) is v
    v.at[wg.asarray([0, 0])].assign_add([1.0, 2.0])  # duplicates add up
    v.at[2:].assign_sub(0.5)
    np.testing.assert_array_equal(v.numpy(), [4.0, 7.0, 2.5])
    assert not np.array_equal(v.at[0].subtract(1.0).numpy(), v.numpy())  # a new tensor
    np.testing.assert_array_equal(v.numpy(), [4.0, 7.0, 2.5])


@pytest.mark.parametrize(
    ("name", "instead"), [("assign", "set"), ("assign_add", "add"), ("assign_sub", "subtract")]
)
def test_elements_of_a_tensor_are_not_assigned(name, instead):
    with pytest.raises(TypeError, match=rf"x = x\.at\[\.\.\.\]\.{instead}"):
        getattr(wg.ones(3).at[0], name)(1.0)
