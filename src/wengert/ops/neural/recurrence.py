"""Recurrent layers on NumPy arrays: the loop over steps, and the loop back.

Rows of all steps lie below each other, those of one step together. A `Step` says which rows a step
has and where the states before it are. What does not depend on the step before is done for all
steps at once: within the loops there is one product of matrices and a few passes over the rows.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np


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


# -- LSTM -------------------------------------------------------------------------------------


def lstm(
    x: np.ndarray, h: np.ndarray, c: np.ndarray, weight: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, ...]:
    """Return hidden states, cells and gates for all rows; x has what does not depend on states."""
    x, h, c, weight = _promoted(x, h, c, weight)
    n = h.shape[1]
    gates = np.negative(x, order="C")
    weight = np.negative(weight, order="C")
    hidden, cells = np.empty((len(x), n), x.dtype), np.empty((len(x), n), x.dtype)
    product = np.empty((len(h), 4 * n), x.dtype)
    squashed = np.empty_like(h, order="C")
    with np.errstate(over="ignore", under="ignore"):
        for step in steps_of(sizes, reverse):
            start, stop = step.start, step.stop
            gate, cell, spare = gates[start:stop], cells[start:stop], squashed[: stop - start]
            gate += np.matmul(_before(h, hidden, step), weight, out=product[: stop - start])
            np.tanh(gate[:, 2 * n : 3 * n], out=spare)
            _sigmoid_of_negative(gate)
            np.negative(spare, out=gate[:, 2 * n : 3 * n])
            np.multiply(gate[:, n : 2 * n], _before(c, cells, step), out=cell)
            np.multiply(gate[:, :n], gate[:, 2 * n : 3 * n], out=spare)
            cell += spare
            np.tanh(cell, out=spare)
            np.multiply(gate[:, 3 * n :], spare, out=hidden[start:stop])
    return hidden, cells, gates


def lstm_pull(
    g: list[Any], y: Any, h: np.ndarray, c: np.ndarray, weight: np.ndarray, sizes: Any,
    reverse: bool,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Return the cotangents of x, h, c and the weight, given those of the results or None."""
    hidden, cells, gates = y
    (rows, n), dtype = hidden.shape, hidden.dtype
    i, f, a, o = (gates[:, k * n : (k + 1) * n] for k in range(4))
    squashed = np.tanh(cells)
    flat = np.empty((rows, 4 * n), dtype)
    np.multiply(gates, 1 - gates, out=flat)
    parts = flat.reshape(rows, 4, n)  # partials by the cell, and at last by the hidden state
    parts[:, 0] *= a
    parts[:, 1] *= states_before(c, cells, sizes, reverse)
    np.multiply(i, 1 - a * a, out=parts[:, 2])
    parts[:, 3] *= squashed
    to_cell = o * (1 - squashed * squashed)
    more = None
    if g[2] is not None:
        slopes = gates * (1 - gates)
        slopes[:, 2 * n : 3 * n] = 1 - a * a
        more = slopes * g[2]
    by_h, by_c, spare = (np.zeros((len(h), n), dtype) for _ in range(3))
    back = np.ascontiguousarray(weight.T)
    for start, stop, _, _ in reversed(steps_of(sizes, reverse)):
        part, count = parts[start:stop], stop - start
        dh, dc = by_h[:count], by_c[:count]
        if g[0] is not None:
            dh += g[0][start:stop]
        if g[1] is not None:
            dc += g[1][start:stop]
        dc += np.multiply(dh, to_cell[start:stop], out=spare[:count])
        part[:, :3] *= dc[:, None]
        part[:, 3] *= dh
        if more is not None:
            flat[start:stop] += more[start:stop]
        np.matmul(flat[start:stop], back, out=dh)
        dc *= f[start:stop]
    return flat, by_h, by_c, states_before(h, hidden, sizes, reverse).T @ flat


# -- GRU --------------------------------------------------------------------------------------


def gru(
    x: np.ndarray, h: np.ndarray, weight: np.ndarray, bias: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return hidden states, and the gates with what the first of them is multiplied by."""
    x, h, weight, bias = _promoted(x, h, weight, bias)
    n = h.shape[1]
    gates = np.empty((len(x), 4 * n), x.dtype)
    hidden = np.empty((len(x), n), x.dtype)
    product, both = np.empty((len(h), 3 * n), x.dtype), np.empty((len(h), 2 * n), x.dtype)
    weight = np.ascontiguousarray(weight)
    bias = np.ascontiguousarray(bias)
    negative = np.negative(x[:, : 2 * n], order="C")
    with np.errstate(over="ignore", under="ignore"):
        for step in steps_of(sizes, reverse):
            start, stop = step.start, step.stop
            old, gate, row = _before(h, hidden, step), gates[start:stop], hidden[start:stop]
            made = np.matmul(old, weight, out=product[: stop - start])
            made += bias
            opened, inner = both[: stop - start], made[:, 2 * n :]
            np.subtract(negative[start:stop], made[:, : 2 * n], out=opened)
            _sigmoid_of_negative(opened)
            gate[:, : 2 * n], gate[:, 3 * n :] = opened, inner
            new = np.multiply(opened[:, :n], inner, out=gate[:, 2 * n : 3 * n])
            new += x[start:stop, 2 * n :]
            np.tanh(new, out=new)
            np.subtract(old, new, out=row)
            row *= opened[:, n:]
            row += new
    return hidden, gates


def gru_pull(
    g: list[Any], y: Any, h: np.ndarray, weight: np.ndarray, sizes: Any, reverse: bool
) -> tuple[np.ndarray, ...]:
    """Return the cotangents of x, h, the weight and the bias."""
    hidden, gates = y
    (rows, n), dtype = hidden.shape, hidden.dtype
    r, z, new, inner = (gates[:, k * n : (k + 1) * n] for k in range(4))
    old = states_before(h, hidden, sizes, reverse)
    slope_r, slope_z, slope = r * (1 - r), z * (1 - z), 1 - new * new
    of_new = (1 - z) * slope
    flat = np.empty((rows, 3 * n), dtype)
    parts = flat.reshape(rows, 3, n)  # partials by the hidden state
    np.multiply(of_new, inner, out=parts[:, 0])
    parts[:, 0] *= slope_r
    np.multiply(old - new, slope_z, out=parts[:, 1])
    np.multiply(of_new, r, out=parts[:, 2])
    more = more_new = None
    if g[1] is not None:
        of_r, of_z, of_n, of_inner = (g[1][:, k * n : (k + 1) * n] for k in range(4))
        more_new = of_n * slope
        more = np.concatenate(
            [(more_new * inner + of_r) * slope_r, of_z * slope_z, more_new * r + of_inner], axis=1
        )
    total = np.empty((rows, n), dtype)
    by_h, spare = np.zeros((len(h), n), dtype), np.empty((len(h), n), dtype)
    back = np.ascontiguousarray(weight.T)
    for start, stop, _, _ in reversed(steps_of(sizes, reverse)):
        dh, part = by_h[: stop - start], flat[start:stop]
        if g[0] is not None:
            dh += g[0][start:stop]
        total[start:stop] = dh
        parts[start:stop] *= dh[:, None]
        if more is not None:
            part += more[start:stop]
        dh *= z[start:stop]
        dh += np.matmul(part, back, out=spare[: stop - start])
    by_x = flat.copy()
    np.multiply(total, of_new, out=by_x[:, 2 * n :])
    if more_new is not None:
        by_x[:, 2 * n :] += more_new
    return by_x, by_h, old.T @ flat, np.ones(rows, dtype) @ flat


# -- one state, one function ------------------------------------------------------------------


def rnn(
    x: np.ndarray, h: np.ndarray, weight: np.ndarray, activation: str, sizes: Any, reverse: bool
) -> np.ndarray:
    """Return hidden states for all rows."""
    x, h, weight = _promoted(x, h, weight)
    hidden = np.array(x, order="C")
    product = np.empty_like(h, order="C")
    weight = np.ascontiguousarray(weight)
    for step in steps_of(sizes, reverse):
        row = hidden[step.start : step.stop]
        row += np.matmul(_before(h, hidden, step), weight, out=product[: len(row)])
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
    flat = 1 - y * y if activation == "tanh" else (y > 0).astype(y.dtype)
    by_h = np.zeros(h.shape, y.dtype)
    back = np.ascontiguousarray(weight.T)
    for start, stop, _, _ in reversed(steps_of(sizes, reverse)):
        dh, part = by_h[: stop - start], flat[start:stop]
        dh += g[start:stop]
        part *= dh
        np.matmul(part, back, out=dh)
    return flat, by_h, states_before(h, y, sizes, reverse).T @ flat
