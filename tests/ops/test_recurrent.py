"""Recurrent layers, against a loop of plain operations over the steps of each sequence.

`test_table` has the operations beneath; here are the functions that users call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.errors import ShapeError
from wengert.extend import REGISTRY
from wengert.ops.neural import recurrence

RANDOM = np.random.default_rng(3)
TIME, BATCH, WIDTH, SIZE = 4, 3, 2, 2
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def arrays(kind: str) -> list[np.ndarray]:
    """Return x, the state or states, weights and biases."""
    gates = GATES[kind] * SIZE
    states = [normal(BATCH, SIZE) for _ in range(2 if kind == "lstm" else 1)]
    weights = [normal(WIDTH, gates), normal(SIZE, gates), normal(gates), normal(gates)]
    return [normal(TIME, BATCH, WIDTH), *states, *weights]


def layer(kind: str, *given: Any, **options: Any) -> tuple[Any, ...]:
    """Return the hidden states and the last states of a layer, in one tuple."""
    x, *states, wx, wh, bx, bh = given
    state = tuple(states) if kind == "lstm" else states[0]
    hidden, last = getattr(nn, kind)(x, state, wx, wh, bx, bh, **options)
    return hidden, *(last if kind == "lstm" else (last,))


def step(
    kind: str, activation: str, x: Any, states: Any, wx: Any, wh: Any, bx: Any, bh: Any
) -> Any:
    z, s = x @ wx + bx, states[0] @ wh + bh
    if kind == "rnn":
        return ((wg.tanh if activation == "tanh" else nn.relu)(z + s),)
    parts = [
        (z[k * SIZE : (k + 1) * SIZE], s[k * SIZE : (k + 1) * SIZE]) for k in range(GATES[kind])
    ]
    if kind == "gru":
        r, u = (nn.sigmoid(a + b) for a, b in parts[:2])
        n = wg.tanh(parts[2][0] + r * parts[2][1])
        return ((1 - u) * n + u * states[0],)
    i, f, a, o = (a + b for a, b in parts)
    c = nn.sigmoid(f) * states[1] + nn.sigmoid(i) * wg.tanh(a)
    return nn.sigmoid(o) * wg.tanh(c), c


def loop(
    kind: str, *given: Any, lengths: Any = None, reverse: bool = False, activation: str = "tanh"
) -> tuple[Any, ...]:
    """Return what `layer` must return, sequence by sequence and step by step."""
    x, *states, wx, wh, bx, bh = given
    lengths = [TIME] * BATCH if lengths is None else lengths
    columns, ends = [], []
    for b in range(BATCH):
        held = tuple(s[b] for s in states)
        found: dict[int, Any] = {t: wg.zeros(SIZE) for t in range(lengths[b], TIME)}
        times = range(lengths[b])
        for t in reversed(times) if reverse else times:
            held = step(kind, activation, x[t, b], held, wx, wh, bx, bh)
            found[t] = held[0]
        columns.append(wg.stack([found[t] for t in range(TIME)]))
        ends.append(held)
    return wg.stack(columns, axis=1), *(wg.stack(list(s)) for s in zip(*ends, strict=True))


def weighted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a number that depends on all results of a function in ways of its own."""

    def total(*given: Any) -> Any:
        found = function(*given)
        parts = [wg.sum(y * y * np.cos(np.arange(y.size)).reshape(y.shape)) for y in found]
        return functools.reduce(lambda a, b: a + b, parts)

    return total


def assert_near(got: Any, expected: Any, rtol: float = 1e-10) -> None:
    for one, two in zip(got, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(two), rtol=rtol, atol=1e-12)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"reverse": True},
    {"lengths": [2, 4, 1]},
    {"lengths": [3, 4, 4], "reverse": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", GATES)
def test_a_layer_is_a_loop(kind: str, options: Any) -> None:
    given = arrays(kind)
    numbers = tuple(range(len(given)))
    mine, plain = (functools.partial(f, kind, **options) for f in (layer, loop))
    assert_near(mine(*given), plain(*map(wg.asarray, given)))
    first, expected = (wg.grad(weighted(f), numbers) for f in (mine, plain))
    assert_near(first(*map(wg.asarray, given)), expected(*map(wg.asarray, given)))
    second, known = (wg.grad(weighted(f), numbers) for f in (first, expected))
    assert_near(second(*map(wg.asarray, given)), known(*map(wg.asarray, given)), 1e-9)


@pytest.mark.parametrize("kind", GATES)
def test_weights_are_multiplied_in_parts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = arrays(kind)
    gradients = wg.grad(weighted(lambda *a: layer(kind, *a)), argnums=tuple(range(len(given))))
    whole = gradients(*given)
    monkeypatch.setattr(recurrence, "SMALL", BATCH * SIZE)  # a column at a time
    monkeypatch.setattr(recurrence, "NARROWEST", 1)
    monkeypatch.setattr(recurrence.threads, "count", lambda: 1)
    assert_near(gradients(*given), whole)


@pytest.mark.parametrize("kind", GATES)
def test_tangents_are_those_of_the_loop(kind: str) -> None:
    given = arrays(kind)
    moves = [normal(*a.shape) for a in given]
    options = {"lengths": [2, 4, 1], "reverse": True}
    mine, plain = (functools.partial(f, kind, **options) for f in (layer, loop))
    _, got = wg.jvp(mine, tuple(given), tuple(moves))
    _, expected = wg.jvp(plain, tuple(map(wg.asarray, given)), tuple(map(wg.asarray, moves)))
    assert_near(got, expected)


def test_relu() -> None:
    given = arrays("rnn")
    options = {"activation": "relu"}
    mine, plain = (weighted(functools.partial(f, "rnn", **options)) for f in (layer, loop))
    numbers = tuple(range(len(given)))
    assert_near(wg.grad(mine, numbers)(*given), wg.grad(plain, numbers)(*map(wg.asarray, given)))


@pytest.mark.parametrize("kind", GATES)
def test_without_state_and_biases_these_are_zero(kind: str) -> None:
    x, *states, wx, wh, bx, bh = arrays(kind)
    hidden, last = getattr(nn, kind)(x, None, wx, wh)
    nothing = [np.zeros_like(s) for s in states]
    expected = loop(kind, *map(wg.asarray, [x, *nothing, wx, wh, 0 * bx, 0 * bh]))
    assert_near((hidden, *(last if kind == "lstm" else (last,))), expected)
    one_bias = getattr(nn, kind)(x, None, wx, wh, None, bh)[0]
    assert_near([one_bias], [getattr(nn, kind)(x, None, wx, wh, 0 * bx, bh)[0]])


@pytest.mark.parametrize("kind", GATES)
def test_one_sequence_without_a_batch(kind: str) -> None:
    x, *states, wx, wh, bx, bh = arrays(kind)
    got = layer(kind, x[:, 0], *(s[0] for s in states), wx, wh, bx, bh)
    whole = layer(kind, x, *states, wx, wh, bx, bh)
    assert_near(got, [whole[0][:, 0], *(s[0] for s in whole[1:])])


@pytest.mark.parametrize("kind", GATES)
def test_a_cell_is_one_step(kind: str) -> None:
    x, *states, wx, wh, bx, bh = arrays(kind)
    state: Any = tuple(states) if kind == "lstm" else states[0]
    cell = getattr(nn, f"{kind}_cell")
    for t in range(TIME):
        state = cell(x[t], state, wx, wh, bx, bh)
    expected = layer(kind, x, *states, wx, wh, bx, bh)[1:]
    assert_near(state if kind == "lstm" else [state], expected)
    alone = cell(x[0, 1], None, wx, wh)
    expected = cell(x[0], None, wx, wh)
    assert_near([alone[0] if kind == "lstm" else alone],
                [expected[0][1] if kind == "lstm" else expected[1]])  # fmt: skip


def test_a_projection_makes_the_hidden_state_smaller() -> None:
    x, h, c, wx, wh, bx, bh = arrays("lstm")
    projection = normal(SIZE, 1)
    wh, h = wh[:1], h[:, :1]

    def by_hand(x: Any, h: Any, c: Any, wx: Any, wh: Any, p: Any) -> Any:
        rows = []
        for t in range(TIME):
            z = x[t] @ wx + bx + bh + h @ wh
            i, f, a, o = (z[:, k * SIZE : (k + 1) * SIZE] for k in range(4))
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * wg.tanh(a)
            h = (nn.sigmoid(o) * wg.tanh(c)) @ p
            rows.append(h)
        return wg.stack(rows), h, c

    def mine(x: Any, h: Any, c: Any, wx: Any, wh: Any, p: Any) -> Any:
        hidden, (h, c) = nn.lstm(x, (h, c), wx, wh, bx, bh, projection=p)
        return hidden, h, c

    given = [x, h, c, wx, wh, projection]
    assert_near(mine(*given), by_hand(*map(wg.asarray, given)))
    grads = (wg.grad(weighted(f), tuple(range(6))) for f in (mine, by_hand))
    assert_near(*(f(*map(wg.asarray, given)) for f in grads))


@pytest.mark.parametrize("mapped", ["x", "states", "weights"])
@pytest.mark.parametrize("kind", GATES)
def test_vmap_is_a_loop_over_examples(kind: str, mapped: str) -> None:
    given = arrays(kind)
    chosen = {"x": [0], "states": [1], "weights": [0, len(given) - 3]}[mapped]
    axes = tuple(0 if k in chosen else None for k in range(len(given)))
    given = [np.stack([a, 2 * a, a - 1]) if k in chosen else a for k, a in enumerate(given)]

    def example(i: int) -> list[Any]:
        return [a[i] if k in chosen else a for k, a in enumerate(given)]

    for function in (
        functools.partial(layer, kind, lengths=[2, 4, 1]),
        wg.grad(weighted(functools.partial(layer, kind)), tuple(range(len(given)))),
    ):
        got = wg.vmap(function, axes)(*given)
        parts = [function(*map(wg.asarray, example(i))) for i in range(3)]
        assert_near(got, [np.stack([p.numpy() for p in part]) for part in zip(*parts, strict=True)])


def test_far_from_zero_gates_are_open_or_shut_without_a_warning() -> None:
    x = np.array([[1e4], [-1e4], [0.0]])
    _, (_, c) = nn.lstm(x, None, np.ones((1, 4)), np.zeros((1, 4)))
    np.testing.assert_allclose(c.numpy(), [0.0], atol=1e-300)
    gradient = wg.grad(lambda x: wg.sum(nn.gru(x, None, np.ones((1, 3)), np.zeros((1, 3)))[0]))(
        wg.asarray(x)
    )
    assert np.isfinite(gradient.numpy()).all()


@pytest.mark.parametrize("kind", GATES)
def test_a_batch_of_no_sequences(kind: str) -> None:
    x, *states, wx, wh, bx, bh = arrays(kind)
    found = layer(kind, x[:, :0], *(s[:0] for s in states), wx, wh, bx, bh)
    assert [y.shape for y in found] == [(TIME, 0, SIZE), *((0, SIZE) for _ in states)]
    gradient = wg.grad(
        lambda w: wg.sum(layer(kind, x[:, :0], *(s[:0] for s in states), wx, w, bx, bh)[0])
    )(wg.asarray(wh))
    assert not gradient.numpy().any()


def test_dtypes() -> None:
    given = arrays("lstm")
    single = [a.astype(np.float32) for a in given]
    assert layer("lstm", *single)[0].dtype == np.float32
    mixed = layer("lstm", single[0], *given[1:])
    assert {y.dtype for y in mixed} == {np.dtype(np.float64)}


def test_errors_say_what_is_expected() -> None:
    x, h, c, wx, wh, _, _ = arrays("lstm")
    with pytest.raises(ShapeError, match=r"lstm: x of shape \(4, 3, 2\).*\(m, 4 n\)"):
        nn.lstm(x, None, wx[:, :6], wh)
    with pytest.raises(ShapeError, match=r"one step at least"):
        nn.gru(x[:0], None, wx[:, :6], wh[:, :6])
    with pytest.raises(TypeError, match=r"expected a pair \(h, c\)"):
        nn.lstm(x, h, wx, wh)
    with pytest.raises(ShapeError, match=r"states of \(batch, n\)"):
        nn.lstm(x, (h[:2], c[:2]), wx, wh)
    with pytest.raises(ValueError, match=r"lengths \[5 1 1\]; expected 3 numbers from 1 to 4"):
        nn.lstm(x, None, wx, wh, lengths=[5, 1, 1])
    with pytest.raises(ValueError, match="activation is 'sin'; expected 'tanh' or 'relu'"):
        nn.rnn(x, None, wx[:, :2], wh[:, :2], activation="sin")


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("wide", range(3))
def test_steps_of_mixed_precision_compute_in_the_wider_one(kind: str, wide: int) -> None:
    steps = REGISTRY[f"nn.{kind}_steps"].function
    gates = GATES[kind] * SIZE
    shapes = [(5, gates), (3, SIZE), *([(3, SIZE)] if kind == "lstm" else []), (SIZE, gates)]
    given = [normal(*shape) for shape in [*shapes, *([(gates,)] if kind == "gru" else [])]]
    params: dict[str, Any] = {"sizes": (3, 1, 1), "reverse": False}
    params |= {"activation": "tanh"} if kind == "rnn" else {}
    mixed = [x if k == wide else x.astype(np.float32) for k, x in enumerate(given)]
    expected = steps(*(x.astype(np.float64) for x in mixed), **params)
    for a, b in zip(*(r if type(r) is tuple else (r,) for r in (steps(*mixed, **params), expected)),
                    strict=True):  # fmt: skip
        assert a.dtype == np.float64
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
