"""Recurrent layers on NumPy arrays: the loop over steps, and the loop back.

Rows of all steps lie below each other, those of one step together. A `Step` says which rows a step
has and where the states before it are. Gates are (gates, rows, n) in memory: what is computed of a
step is contiguous, and all passes over it are within the loop, while it is in cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from wengert.backends import threads

#: OpenBLAS multiplies matrices with fewer terms as they lie. Larger ones it lays out first, which
#: takes as long as the product with a few rows.
SMALL = 1 << 19
#: Into narrower matrices weights are not divided.
NARROWEST = 32


class Step(NamedTuple):
    """The rows from `start` to `stop`.

    Before this step the first `carried` of them were at the rows from `before` on; the others
    begin here, with the states that the layer was given.
    """

    start: int
    stop: int
    before: int
    carried: int


@lru_cache(maxsize=256)
def steps_of(sizes: tuple[int, ...], reverse: bool) -> tuple[Step, ...]:
    """Return the steps of a layer in their order, by how many rows each has."""
    spans = list(pairwise(accumulate(sizes, initial=0)))
    found: list[Step] = []
    before = carried = 0
    for start, stop in reversed(spans) if reverse else spans:
        found.append(Step(start, stop, before, min(carried, stop - start)))
        before, carried = start, stop - start
    return tuple(found)


@lru_cache(maxsize=64)
def rows_before(sizes: tuple[int, ...], reverse: bool) -> np.ndarray:
    """Return for each row the one before it, counted in given states and rows, joined."""
    count = max(sizes)
    found = np.empty(sum(sizes), np.intp)
    for start, stop, before, carried in steps_of(sizes, reverse):
        found[start : start + carried] = np.arange(carried) + count + before
        found[start + carried : stop] = np.arange(carried, stop - start)
    return found


@lru_cache(maxsize=64)
def last_rows(sizes: tuple[int, ...]) -> np.ndarray:
    """Return where the last row of each sequence is."""
    lengths = np.searchsorted(-np.asarray(sizes), -np.arange(1, sizes[0] + 1), side="right")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return starts[lengths - 1] + np.arange(sizes[0])


def states_before(state: np.ndarray, rows: np.ndarray, sizes: Any, reverse: bool) -> np.ndarray:
    """Return the states before each row, which were given or are rows of a layer's results."""
    count = len(state)
    if len(sizes) == 1:
        return state
    if sizes[0] != sizes[-1]:
        return np.concatenate([state, rows])[rows_before(sizes, reverse)]
    return np.concatenate([rows[count:], state] if reverse else [state, rows[: -count or None]])


def _before(state: np.ndarray, rows: np.ndarray, step: Step) -> np.ndarray:
    """Return the states before one step."""
    start, stop, before, carried = step
    if carried == stop - start:
        return rows[before : before + carried]
    if not carried:
        return state[: stop - start]
    return np.concatenate([rows[before : before + carried], state[carried : stop - start]])


def _promoted(*arrays: np.ndarray) -> list[np.ndarray]:
    """Return arrays in the dtype that they promote to."""
    dtype = np.result_type(*arrays)
    return [a.astype(dtype, copy=False) for a in arrays]


def _sigmoid_of_negative(x: np.ndarray) -> None:
    """Make x 1 / (1 + exp(x)). It is fast where x is contiguous."""
    np.exp(x, out=x)
    np.add(x, 1, out=x)
    np.reciprocal(x, out=x)


def _by_gates(x: np.ndarray, gates: int) -> np.ndarray:
    """Return the columns of x, a part for each gate, as a view (gates, rows, n)."""
    return x.reshape(len(x), gates, x.shape[1] // gates).swapaxes(0, 1)


def _divided(weights: np.ndarray, rows: int) -> np.ndarray:
    """Return matrices (gates, n, m) as (gates, parts, n, columns), to be multiplied by rows."""
    gates, n, m = weights.shape
    parts = max(1, -(-rows * n * m // SMALL))
    if threads.count() > 1 or m % parts or m // parts < NARROWEST:
        parts = 1
    return np.ascontiguousarray(weights.reshape(gates, n, parts, m // parts).swapaxes(1, 2))


def _multiply(rows: np.ndarray, weights: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Return the products (gates, rows, m) of rows with divided weights, written to `out`."""
    gates, parts, _, columns = weights.shape
    count = rows.shape[-2]
    whole = out[:, :count]
    np.matmul(rows, weights, out=whole.reshape(gates, count, parts, columns).swapaxes(1, 2))
    return whole


def _multiply_back(rows: np.ndarray, weights: np.ndarray, out: np.ndarray, spare: Any) -> None:
    """Write to `out` the sum of products of rows (gates, rows, m) with divided weights."""
    np.add.reduce(_multiply(rows[:, None], weights, spare), axis=0, out=out)


def _multiplier(weight: np.ndarray, count: int) -> Callable[[np.ndarray, np.ndarray], Any]:
    """Return what writes the product of up to `count` rows with a square matrix to an array."""
    weights = _divided(weight[None], count)
    if weights.shape[1] == 1:
        whole = weights[0, 0]
        return lambda rows, out: np.dot(rows, whole, out=out)
    product = np.empty((1, count, weight.shape[1]), weight.dtype)

    def multiply(rows: np.ndarray, out: np.ndarray) -> None:
        (out[...],) = _multiply(rows, weights, product)

    return multiply


# -- LSTM -------------------------------------------------------------------------------------


def lstm(
    x: np.ndarray, h: np.ndarray, c: np.ndarray, weight: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, ...]:
    """Return hidden states, cells and gates for all rows; x has what does not depend on states."""
    x, h, c, weight = _promoted(x, h, c, weight)
    (rows, _), (count, n) = x.shape, h.shape
    given, weights = _by_gates(x, 4), _divided(-_by_gates(weight, 4), count)
    gates, product = (np.empty((4, m, n), x.dtype) for m in (rows, count))
    hidden, cells, squashed = (np.empty((m, n), x.dtype) for m in (rows, rows, count))
    with np.errstate(over="ignore", under="ignore"):
        for step in steps_of(sizes, reverse):
            here = slice(step.start, step.stop)
            gate, cell, spare = gates[:, here], cells[here], squashed[: step.stop - step.start]
            negative = _multiply(_before(h, hidden, step), weights, product)
            np.subtract(negative, given[:, here], out=gate)
            i, f, a, o = gate
            np.tanh(a, out=a)
            np.negative(a, out=a)
            _sigmoid_of_negative(gate[:2])
            _sigmoid_of_negative(o)
            np.multiply(f, _before(c, cells, step), out=cell)
            np.multiply(i, a, out=spare)
            cell += spare
            np.tanh(cell, out=spare)
            np.multiply(o, spare, out=hidden[here])
    return hidden, cells, gates.swapaxes(0, 1)


def lstm_pull(
    g: list[Any], y: Any, h: np.ndarray, c: np.ndarray, weight: np.ndarray, sizes: Any,
    reverse: bool,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Return the cotangents of x, h, c and the weight, given those of the results or None."""
    hidden, cells, gates = y[0], y[1], y[2].swapaxes(0, 1)
    (rows, n), count, dtype = hidden.shape, len(h), hidden.dtype
    by_x = np.empty((rows, 4 * n), dtype)
    parts, back = _by_gates(by_x, 4), _divided(_by_gates(weight, 4).swapaxes(1, 2), count)
    by_h, by_c = np.zeros((count, n), dtype), np.zeros((count, n), dtype)
    slopes, product = np.empty((4, count, n), dtype), np.empty((4, count, n), dtype)
    squashed, spare = np.empty((count, n), dtype), np.empty((count, n), dtype)
    for step in reversed(steps_of(sizes, reverse)):
        here, first = slice(step.start, step.stop), slice(0, step.stop - step.start)
        dh, dc, gate, part = by_h[first], by_c[first], gates[:, here], parts[:, here]
        if g[0] is not None:
            dh += g[0][here]
        if g[1] is not None:
            dc += g[1][here]
        i, f, a, o = gate
        by_i, by_f, by_a, by_o = slope = slopes[:, first]
        np.subtract(1, gate, out=slope)
        slope *= gate
        np.multiply(a, a, out=by_a)
        np.subtract(1, by_a, out=by_a)
        more = None if g[2] is None else slope * g[2][here].swapaxes(0, 1)
        t = np.tanh(cells[here], out=squashed[first])
        by_i *= a
        by_f *= _before(c, cells, step)
        by_a *= i
        by_o *= t
        t *= t
        np.subtract(1, t, out=t)
        t *= o
        dc += np.multiply(t, dh, out=spare[first])
        np.multiply(slope[:3], dc, out=part[:3])
        np.multiply(by_o, dh, out=part[3])
        if more is not None:
            part += more
        _multiply_back(part, back, dh, product)
        dc *= f
    return by_x, by_h, by_c, states_before(h, hidden, sizes, reverse).T @ by_x


# -- GRU --------------------------------------------------------------------------------------


def gru(
    x: np.ndarray, h: np.ndarray, weight: np.ndarray, bias: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return hidden states, and the gates with what the first of them is multiplied by."""
    x, h, weight, bias = _promoted(x, h, weight, bias)
    (rows, _), (count, n) = x.shape, h.shape
    given, matrices, biases = _by_gates(x, 3), _by_gates(weight, 3), bias.reshape(3, 1, n)
    signs = np.array([-1, -1, 1], x.dtype)[:, None, None]
    weights, biases = _divided(matrices * signs, count), biases * signs
    gates, product = np.empty((4, rows, n), x.dtype), np.empty((3, count, n), x.dtype)
    hidden = np.empty((rows, n), x.dtype)
    with np.errstate(over="ignore", under="ignore"):
        for step in steps_of(sizes, reverse):
            here = slice(step.start, step.stop)
            old, gate, row = _before(h, hidden, step), gates[:, here], hidden[here]
            r, z, new, inner = gate
            made = _multiply(old, weights, product)
            made += biases
            np.subtract(made[:2], given[:2, here], out=gate[:2])
            _sigmoid_of_negative(gate[:2])
            inner[...] = made[2]
            np.multiply(r, inner, out=new)
            new += given[2, here]
            np.tanh(new, out=new)
            np.subtract(old, new, out=row)
            row *= z
            row += new
    return hidden, gates.swapaxes(0, 1)


def gru_pull(
    g: list[Any], y: Any, h: np.ndarray, weight: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, ...]:
    """Return the cotangents of x, h, the weight and the bias."""
    hidden, gates = y[0], y[1].swapaxes(0, 1)
    (rows, n), count, dtype = hidden.shape, len(h), hidden.dtype
    by_x, by_product = np.empty((rows, 3 * n), dtype), np.empty((rows, 3 * n), dtype)
    x_parts, parts = _by_gates(by_x, 3), _by_gates(by_product, 3)
    back = _divided(_by_gates(weight, 3).swapaxes(1, 2), count)
    by_h, product = np.zeros((count, n), dtype), np.empty((3, count, n), dtype)
    slopes, spare = np.empty((4, count, n), dtype), np.empty((count, n), dtype)
    for step in reversed(steps_of(sizes, reverse)):
        here, first = slice(step.start, step.stop), slice(0, step.stop - step.start)
        dh, part = by_h[first], parts[:, here]
        if g[0] is not None:
            dh += g[0][here]
        more = None if g[1] is None else g[1][here].swapaxes(0, 1)
        r, z, new, inner = gates[:, here]
        by_r, by_z, by_new, by_inner = slopes[:, first]
        np.subtract(1, z, out=by_z)
        np.multiply(by_z, dh, out=by_new)
        if more is not None:
            by_new += more[2]
        by_new *= np.subtract(1, np.multiply(new, new, out=by_r), out=by_r)
        np.multiply(by_new, inner, out=by_r)
        np.multiply(by_new, r, out=by_inner)
        change = np.subtract(_before(h, hidden, step), new, out=spare[first])
        change *= dh
        if more is not None:
            by_r += more[0]
            change += more[1]
            by_inner += more[3]
        by_z *= z
        by_z *= change
        by_r *= r
        by_r *= np.subtract(1, r, out=change)
        dh *= z
        x_parts[:, here] = slopes[:3, first]
        part[:2], part[2] = slopes[:2, first], by_inner
        dh += np.add.reduce(_multiply(part[:, None], back, product), axis=0, out=change)
    old = states_before(h, hidden, sizes, reverse)
    return by_x, by_h, old.T @ by_product, np.ones(rows, dtype) @ by_product


# -- one state, one function ------------------------------------------------------------------


def rnn(
    x: np.ndarray, h: np.ndarray, weight: np.ndarray, activation: str, sizes: Any, reverse: bool
) -> np.ndarray:
    """Return hidden states for all rows."""
    x, h, weight = _promoted(x, h, weight)
    hidden, multiply = np.empty_like(x, order="C"), _multiplier(weight, len(h))
    for step in steps_of(sizes, reverse):
        here = slice(step.start, step.stop)
        row = hidden[here]
        multiply(_before(h, hidden, step), row)
        row += x[here]
        if activation == "tanh":
            np.tanh(row, out=row)
        else:
            np.maximum(row, 0, out=row)
    return hidden


def rnn_pull(
    g: np.ndarray, y: np.ndarray, h: np.ndarray, weight: np.ndarray, activation: str, sizes: Any,
    reverse: bool,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Return the cotangents of x, h and the weight."""
    if activation == "tanh":
        by_x = np.multiply(y, y)
        np.subtract(1, by_x, out=by_x)
    else:
        by_x = (y > 0).astype(y.dtype)
    by_h, multiply = np.zeros(h.shape, y.dtype), _multiplier(weight.T, len(h))
    for step in reversed(steps_of(sizes, reverse)):
        here = slice(step.start, step.stop)
        dh, part = by_h[: step.stop - step.start], by_x[here]
        dh += g[here]
        part *= dh
        multiply(part, dh)
    return by_x, by_h, states_before(h, y, sizes, reverse).T @ by_x
