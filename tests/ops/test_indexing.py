"""Reading and replacing elements: every form of key, beside NumPy and JAX."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import (
    apart,
    assert_near,
    check_on_strict,
    jax_gradients,
    vjp,
    weights_like,
)

# -- indexing ---------------------------------------------------------------------------------

_CUBE = np.arange(60.0).reshape(3, 4, 5) / 7 - 3
_ROWS, _COLUMNS = np.array([2, 0, 2]), np.array([[1], [-1]])
_MASK = _CUBE[:, :, 0] > -1
KEYS: dict[str, Any] = {
    "int": 1,
    "negative int": -1,
    "ints": (1, -2, 3),
    "slice": slice(1, 3),
    "slices": (slice(None, 2), slice(1, None), slice(-4, -1)),
    "stepped": (slice(None), slice(None, None, 2), slice(1, None, 3)),
    "backward": slice(None, None, -1),
    "backward and stepped": (slice(2, 0, -1), slice(None, None, -3), slice(-1, 0, -2)),
    "out of range": (slice(-9, 9), slice(9, None, -2)),
    "nothing": slice(2, 1),
    "nothing, backward": (slice(None), slice(-9, None, -1)),
    "ellipsis": (..., 2),
    "ellipsis inside": (1, ..., slice(None, None, 2)),
    "ellipsis of nothing": (1, 2, ..., 3),
    "only an ellipsis": ...,
    "empty": (),
    "newaxis": None,
    "newaxes": (None, 1, None, slice(None, None, -2), ..., None),
    "true": True,
    "false": False,
    "integers": _ROWS,
    "negative integers": -1 - _ROWS,
    "list": [0, 2],
    "integers of two axes": _COLUMNS,
    "integers after a slice": (slice(None), _ROWS),
    "two arrays": (_ROWS, _ROWS + 1),
    "two arrays that broadcast": (_ROWS, _COLUMNS),
    "arrays apart": (_ROWS, slice(1, 3), _ROWS),
    "an array and an int apart": (1, slice(None), _ROWS),
    "an array, a newaxis and an array": (_ROWS, None, _ROWS),
    "an array after an ellipsis": (..., _COLUMNS),
    "an array and a stepped slice": (_ROWS, slice(None, None, -2)),
    "no integers": np.zeros(0, int),
    "mask": _CUBE > 0.5,
    "mask of two axes": _MASK,
    "mask of one axis": np.array([True, False, True]),
    "mask after a slice": (slice(None), np.array([True, False, True, True])),
    "mask and an int": (np.array([True, False, True]), 2),
    "mask and integers": (np.array([True, False, True]), np.array([1, 3])),
    "mask and a slice": (_MASK, slice(None, None, -2)),
    "mask that selects nothing": np.zeros((3, 4), bool),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_indexing_reads_as_numpy_does(name: str) -> None:
    key = KEYS[name]
    x = wg.asarray(_CUBE)
    assert_near(x[key], _CUBE[key])
    wg.check_grads(lambda x: x[key] * x[key], [_CUBE], order=2)
    in_tensors = tuple(map(_key_tensor, key)) if isinstance(key, tuple) else _key_tensor(key)
    assert_near(x[in_tensors], _CUBE[key])


def _key_tensor(part: Any) -> Any:
    return wg.asarray(part) if isinstance(part, np.ndarray) else part


def test_indexing_has_the_gradient_of_jax() -> None:
    keys = {k: np.asarray(v) if isinstance(v, list) else v for k, v in KEYS.items()}
    weights = {k: weights_like(_CUBE[v]) for k, v in keys.items()}
    theirs = jax.jit(
        lambda x: {
            k: jax_gradients(lambda x, v=v: x[v], [x], weights[k])[1] for k, v in keys.items()
        }
    )(_CUBE)
    for name, key in keys.items():
        _, (mine,) = vjp(lambda x, key=key: x[key], [wg.asarray(_CUBE)], weights[name])
        assert_near(mine, theirs[name][0], name)


#: What x.at[key] can do, and the same in NumPy.
UPDATES: dict[str, Any] = {
    "set": None,
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}
AT_KEYS: dict[str, Any] = {
    "int": 1,
    "ints": (1, -1),
    "slice": slice(1, 3),
    "backward": (slice(None, None, -2), slice(3, 0, -1)),
    "newaxis": (None, 2, ...),
    "integers": np.array([2, 0]),
    "integers apart": (np.array([2, 0]), slice(None), None),
    "duplicates": np.array([1, 3, 1, 1]),
    "duplicates in pairs": (np.array([1, 0, 1, 1]), np.array([2, 2, 2, 0])),
    "duplicates and a slice": (slice(None, None, -1), np.array([0, 0, 2])),
    "mask": np.arange(20.0).reshape(4, 5) % 3 == 1,
    "mask of one axis": np.array([True, False, False, True]),
    "nothing": slice(0, 0),
}


@pytest.mark.parametrize("key", AT_KEYS)
@pytest.mark.parametrize("update", UPDATES)
def test_updates(update: str, key: str) -> None:
    where = AT_KEYS[key]
    x = 3 * apart((4, 5))
    values = 3 * apart(x[where].shape, first=20)
    for v in (values, values[..., :1] if values.ndim else values, values.reshape(-1)[:1].sum()):
        v = np.asarray(v)
        expected = x.copy()
        if update == "set":
            expected[where] = v
        else:
            UPDATES[update].at(expected, where, v)

        def function(x: Any, v: Any) -> Any:
            return getattr(x.at[where], update)(v)

        assert_near(function(wg.asarray(x), wg.asarray(v)), expected)
        wg.check_grads(function, [x, v], order=2)
    assert_near(wg.asarray(x).at[where].get(), x[where])


def test_updates_keep_the_dtype_and_leave_the_original() -> None:
    x = wg.asarray(np.ones(3, np.float32))
    _, (g, h) = vjp(
        lambda x, v: x.at[1:].set(v), [x, wg.asarray(np.ones(2))], [np.ones(3, np.float32)]
    )
    assert_near(g, np.array([1, 0, 0], np.float32))
    assert_near(h, np.ones(2))
    assert x.tolist() == [1, 1, 1]


def test_ties_in_updates_share_evenly() -> None:
    x, v = wg.asarray([1.0, 2.0]), wg.asarray([1.0, 1.0])
    _, (g, h) = vjp(lambda x, v: x.at[:].max(v), [x, v], [np.ones(2)])
    assert_near(g, np.array([0.5, 1.0]))
    assert_near(h, np.array([0.5, 0.0]))


# -- the same in another library --------------------------------------------------------------


def _update(update: str, key: str) -> Any:
    return lambda x, v: getattr(x.at[AT_KEYS[key]], update)(v)


_SQUARE = np.arange(20.0).reshape(4, 5) / 3 + 1
#: All of the above: (function, arguments).
CALLS: dict[str, tuple[Any, list[np.ndarray]]] = {
    **{f"[{name}]": (lambda x, k=key: x[k] * x[k], [_CUBE]) for name, key in KEYS.items()},
    **{
        f"at[{key}].{update}": (_update(update, key), [_SQUARE, _SQUARE[AT_KEYS[key]] + 0.1])
        for key in AT_KEYS
        for update in UPDATES
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_array_api_strict_agrees_on_elements(name: str) -> None:
    check_on_strict(*CALLS[name])


# -- an ellipsis between index arrays, also one that stands for no axis ---------------------------

APART = [
    ((2, 2, 6), np.s_[:, np.array([0, 1]), ..., 5]),
    ((2, 2, 6), np.s_[:, 1, ..., np.array([5, 0, 5])]),
    ((2, 2, 6), np.s_[np.array([0, 1]), ..., :, np.array([5, 0])]),
    ((2, 3, 6), np.s_[np.array([[0], [1]]), ..., np.array([2, 0, 1]), 4:1:-2]),
    ((2, 3, 6), np.s_[:, None, np.array([2, 0]), ..., np.array([5, 1])]),
    ((2, 3), np.s_[np.array([True, False]), ..., np.array([2, 0])]),
    ((2, 3), np.s_[1, ..., np.array([2, 0])]),
    ((2, 3, 4), np.s_[::-1, np.array([0, 2]), ..., 3]),
    ((2, 3, 4), np.s_[::-1, np.array([0, 2]), 1, ...]),
    ((2, 3, 4), np.s_[..., np.array([0, 2]), 1]),
]


@pytest.mark.parametrize(("shape", "key"), APART)
def test_arrays_that_an_ellipsis_parts(shape: tuple[int, ...], key: Any) -> None:
    raw = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    x = wg.asarray(raw)
    expected = raw[key]
    weights = np.arange(1.0, 1 + expected.size).reshape(expected.shape)
    np.testing.assert_array_equal(x[key], expected)
    np.testing.assert_array_equal(x.at[key].get(), expected)
    written, added, back = raw.copy(), raw.copy(), np.zeros(shape)
    written[key] = weights
    np.add.at(added, key, weights)
    np.add.at(back, key, weights)
    np.testing.assert_array_equal(x.at[key].set(weights), written)
    np.testing.assert_array_equal(x.at[key].add(weights), added)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 3.0
        z, total = y[key], wg.sum(y * y)
    np.testing.assert_array_equal(tape.gradient(z, x, output_gradients=weights), 3 * back)
    np.testing.assert_array_equal(tape.gradient(y.at[key], x, output_gradients=weights), 3 * back)
    np.testing.assert_array_equal(tape.gradient(total, x.at[key]), 18 * expected)
    _, tangent = wg.jvp(lambda x: x[key], (raw,), (raw,))
    np.testing.assert_array_equal(tangent, expected)
    rows = wg.vmap(lambda x: x[key])(np.stack([raw, -raw]))
    np.testing.assert_array_equal(rows, np.stack([expected, -expected]))
