"""Recurrent layers: LSTM, GRU, and one state with one function.

A layer in one direction is one operation. It keeps the gates; its rule goes back over the steps,
and makes the gradient of the weights by one product over the rows of all steps. Sequences of
different lengths are packed: rows of one step lie together, those of the longest sequence first,
and `sizes` says how many rows each step has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level, plain_namespace
from wengert.engine.examples import one_by_one
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import indexing, joining, shapes
from wengert.ops.checks import check_option, integers, misfit, real
from wengert.ops.contractions import matmul
from wengert.ops.dtypes import result_type
from wengert.ops.families import joint, sample
from wengert.ops.neural import recurrence as kernels
from wengert.ops.neural.layers import linear
from wengert.ops.special.elementary import expit

Sizes = tuple[int, ...]

# -- what the operations share, for any array library and for tensors -------------------------


def _parts(x: Any, count: int) -> list[Any]:
    """Return equal parts of the columns."""
    n = x.shape[1] // count
    return [x[:, k * n : (k + 1) * n] for k in range(count)]


def _gates(x: Any) -> list[Any]:
    """Return the gates of rows (rows, gates, n)."""
    return [x[:, k, :] for k in range(x.shape[1])]


def _scan(
    xp: Any, step: Callable[..., tuple[Any, ...]], x: Any, states: Sequence[Any], sizes: Sizes,
    reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Return what `step` returns of rows and states, new states first, for all rows."""
    found: dict[int, tuple[Any, ...]] = {}
    last: Sequence[Any] = states
    for start, stop, _, carried in kernels.steps_of(sizes, reverse):
        count = stop - start
        old = [
            xp.concat([a[:carried, :], b[carried:count, :]])
            for a, b in zip(last, states, strict=False)
        ]
        found[start] = last = step(x[start:stop, :], *old)
    return tuple(xp.concat(list(parts)) for parts in zip(*_in_order(found), strict=True))


def _in_order(found: dict[int, Any]) -> list[Any]:
    return [found[start] for start in sorted(found)]


def _before(xp: Any, state: Any, rows: Any, sizes: Sizes, reverse: bool) -> Any:
    """Return the states before each row."""
    return xp.index(xp.concat([state, rows]), key=(kernels.rows_before(sizes, reverse),))


def _scan_back(
    xp: Any, step: Callable[..., Any], states: Sequence[Any], sizes: Sizes, reverse: bool
) -> tuple[Any, list[Any]]:
    """Return the cotangents that `step` returns for all rows, and those of the first states.

    `step` takes the start and end of some rows and the cotangents of the states after them. It
    returns that of its rows, and those of the states before.
    """
    carried = [xp.zeros_like(s) for s in states]
    found: dict[int, Any] = {}
    for start, stop, _, _ in reversed(kernels.steps_of(sizes, reverse)):
        count = stop - start
        found[start], *before = step(start, stop, *(s[:count, :] for s in carried))
        carried = [xp.concat([b, s[count:, :]]) for b, s in zip(before, carried, strict=True)]
    return xp.concat(_in_order(found)), carried


def _sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def _of_examples(
    op: Op, level: Level, arrays: list[Tensor], mapped: list[bool], params: Any
) -> Any:
    """Return a layer of the rows of all examples, if they share the weights."""
    xp, size, count = Tensor._namespace, level.size, len(op.args) - op.args.index("weight")
    if not size or any(mapped[-count:]):
        return one_by_one(op, level, arrays, mapped, params)

    def merged(x: Tensor, is_mapped: bool) -> Tensor:
        if not is_mapped:
            return xp.repeat(x, size, axis=0)
        return xp.reshape(xp.moveaxis(x, 0, 1), (x.shape[1] * size, *x.shape[2:]))

    def parted(y: Tensor) -> Tensor:
        return xp.moveaxis(xp.reshape(y, (y.shape[0] // size, size, *y.shape[1:])), 1, 0)

    rows = [merged(x, m) for x, m in zip(arrays[:-count], mapped, strict=False)]
    sizes = tuple(n * size for n in params["sizes"])
    found = apply(op, (*rows, *arrays[-count:]), params | {"sizes": sizes})
    return tuple(map(parted, found)) if type(found) is tuple else parted(found)


_ORDERS: list[dict[str, Any]] = [
    {"sizes": (2, 2, 2), "reverse": False},
    {"sizes": (2, 2), "reverse": True},
    {"sizes": (3, 1, 1), "reverse": False},
    {"sizes": (3, 2), "reverse": True},
    {"sizes": (2,), "reverse": False},
]


def _samples(gates: int, states: int, *further: tuple[int, ...], **params: Any) -> list[Any]:
    """Return samples with two numbers for each state."""
    return [
        sample((sum(order["sizes"]), 2 * gates), *((order["sizes"][0], 2),) * states,
               (2, 2 * gates), *further, **order, **params)
        for order in _ORDERS
    ]  # fmt: skip


# -- LSTM -------------------------------------------------------------------------------------


def _lstm_values(xp: Any, x: Any, h: Any, c: Any, weight: Any, sizes: Sizes, reverse: bool) -> Any:
    if xp is backends.NUMPY:
        return kernels.lstm(x, h, c, weight, sizes, reverse)

    def step(rows: Any, h: Any, c: Any) -> tuple[Any, ...]:
        i, f, a, o = _parts(rows + xp.matmul(h, weight), 4)
        i, f, a, o = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(a), _sigmoid(xp, o)
        new = f * c + i * a
        return o * xp.tanh(new), new, xp.stack([i, f, a, o], axis=1)

    return _scan(xp, step, x, (h, c), sizes, reverse)


def _lstm_rule(
    xp: Any, g: Any, y: Any, h: Any, c: Any, weight: Any, sizes: Sizes, reverse: bool
) -> Any:
    if xp is backends.NUMPY:
        return kernels.lstm_pull(g, y, h, c, weight, sizes, reverse)
    hidden, cells, gates = y
    i, f, a, o = _gates(gates)
    squashed = xp.tanh(cells)
    slopes = xp.stack([i * (1 - i), f * (1 - f), 1 - a * a, o * (1 - o)], axis=1)
    partials = slopes * xp.stack([a, _before(xp, c, cells, sizes, reverse), i, squashed], axis=1)
    to_cell = o * (1 - squashed * squashed)
    more = None if g[2] is None else g[2] * slopes
    back, width = xp.matrix_transpose(weight), weight.shape[1]

    def step(start: int, stop: int, dh: Any, dc: Any) -> tuple[Any, ...]:
        dh = dh if g[0] is None else dh + g[0][start:stop, :]
        dc = dc if g[1] is None else dc + g[1][start:stop, :]
        dc = dc + dh * to_cell[start:stop, :]
        part = xp.stack([dc, dc, dc, dh], axis=1) * partials[start:stop, :, :]
        part = part if more is None else part + more[start:stop, :, :]
        part = xp.reshape(part, (stop - start, width))
        return part, xp.matmul(part, back), dc * f[start:stop, :]

    by_x, (by_h, by_c) = _scan_back(xp, step, (h, c), sizes, reverse)
    old = _before(xp, h, hidden, sizes, reverse)
    return by_x, by_h, by_c, xp.matmul(xp.matrix_transpose(old), by_x)


lstm_steps: Any = joint(
    "nn.lstm_steps",
    _lstm_rule,
    args=("x", "h", "c", "weight"),
    params=("sizes", "reverse"),
    compute=_lstm_values,
    batch=_of_examples,
    samples=_samples(4, 2),
    kinds="f",
    doc="Return hidden states, cells and gates of all steps.",
)

# -- GRU --------------------------------------------------------------------------------------


def _gru_values(
    xp: Any, x: Any, h: Any, weight: Any, bias: Any, sizes: Sizes, reverse: bool
) -> Any:
    if xp is backends.NUMPY:
        return kernels.gru(x, h, weight, bias, sizes, reverse)

    def step(rows: Any, h: Any) -> tuple[Any, ...]:
        of_r, of_z, inner = _parts(xp.matmul(h, weight) + bias, 3)
        x_r, x_z, x_n = _parts(rows, 3)
        r, z = _sigmoid(xp, x_r + of_r), _sigmoid(xp, x_z + of_z)
        new = xp.tanh(x_n + r * inner)
        return new + z * (h - new), xp.stack([r, z, new, inner], axis=1)

    return _scan(xp, step, x, (h,), sizes, reverse)


def _gru_rule(xp: Any, g: Any, y: Any, h: Any, weight: Any, sizes: Sizes, reverse: bool) -> Any:
    if xp is backends.NUMPY:
        return kernels.gru_pull(g, y, h, weight, sizes, reverse)
    hidden, gates = y
    r, z, new, inner = _gates(gates)
    old = _before(xp, h, hidden, sizes, reverse)
    slope_r, slope_z, slope = r * (1 - r), z * (1 - z), 1 - new * new
    of_new = (1 - z) * slope
    factors = [of_new * inner * slope_r, (old - new) * slope_z, of_new * r, of_new]
    partials = xp.concat(factors, axis=1)
    more: Any = None
    if g[1] is not None:
        of_r, of_z, of_n, of_inner = _gates(g[1])
        of_n = of_n * slope
        more = [(of_n * inner + of_r) * slope_r, of_z * slope_z, of_n * r + of_inner, of_n]
        more = xp.concat(more, axis=1)
    back = xp.matrix_transpose(weight)
    width = weight.shape[1]

    def step(start: int, stop: int, dh: Any) -> tuple[Any, ...]:
        dh = dh if g[0] is None else dh + g[0][start:stop, :]
        part = xp.concat([dh, dh, dh, dh], axis=1) * partials[start:stop, :]
        part = part if more is None else part + more[start:stop, :]
        return part, xp.matmul(part[:, :width], back) + dh * z[start:stop, :]

    found, (by_h,) = _scan_back(xp, step, (h,), sizes, reverse)
    by_r, by_z, by_inner, by_new = _parts(found, 4)
    product = xp.concat([by_r, by_z, by_inner], axis=1)
    by_weight = xp.matmul(xp.matrix_transpose(old), product)
    return xp.concat([by_r, by_z, by_new], axis=1), by_h, by_weight, xp.sum(product, axis=0)


gru_steps: Any = joint(
    "nn.gru_steps",
    _gru_rule,
    args=("x", "h", "weight", "bias"),
    params=("sizes", "reverse"),
    compute=_gru_values,
    batch=_of_examples,
    samples=_samples(3, 1, (6,)),
    kinds="f",
    doc="Return hidden states, and gates with what the first is multiplied by, of all steps.",
)

# -- one state, one function ------------------------------------------------------------------

ACTIVATIONS = ("tanh", "relu")


def _rnn_values(
    xp: Any, x: Any, h: Any, weight: Any, activation: str, sizes: Sizes, reverse: bool
) -> Any:
    if xp is backends.NUMPY:
        return kernels.rnn(x, h, weight, activation, sizes, reverse)

    def step(rows: Any, h: Any) -> tuple[Any, ...]:
        z = rows + xp.matmul(h, weight)
        return (xp.tanh(z) if activation == "tanh" else xp.maximum(z, xp.zeros_like(z)),)

    return _scan(xp, step, x, (h,), sizes, reverse)[0]


def _rnn_rule(
    xp: Any, g: Any, y: Any, h: Any, weight: Any, activation: str, sizes: Sizes, reverse: bool
) -> Any:
    if xp is backends.NUMPY:
        return kernels.rnn_pull(g, y, h, weight, activation, sizes, reverse)
    slope = 1 - y * y if activation == "tanh" else xp.astype(y > 0, y.dtype)
    back = xp.matrix_transpose(weight)

    def step(start: int, stop: int, dh: Any) -> tuple[Any, ...]:
        part = (dh + g[start:stop, :]) * slope[start:stop, :]
        return part, xp.matmul(part, back)

    by_x, (by_h,) = _scan_back(xp, step, (h,), sizes, reverse)
    old = _before(xp, h, y, sizes, reverse)
    return by_x, by_h, xp.matmul(xp.matrix_transpose(old), by_x)


rnn_steps: Any = joint(
    "nn.rnn_steps",
    _rnn_rule,
    args=("x", "h", "weight"),
    params=("activation", "sizes", "reverse"),
    compute=_rnn_values,
    batch=_of_examples,
    samples=[*_samples(1, 1, activation="tanh"), _samples(1, 1, activation="relu")[3]],
    kinds="f",
    doc="Return hidden states of all steps.",
)
for _steps in (lstm_steps, gru_steps):
    _steps.op.sees_unused = True  # of gates most of all

# -- packed rows ------------------------------------------------------------------------------

Given = Tensor | None


def _last(rows: Tensor, sizes: Sizes, reverse: bool) -> Tensor:
    """Return the states that sequences end with; those in reverse end with the first step."""
    count = sizes[0]
    if len(sizes) == 1:
        return rows
    if reverse:
        return rows[:count]
    if sizes[-1] == count:
        return rows[rows.shape[0] - count :]
    return indexing.index(rows, key=(kernels.last_rows(sizes),))


def _sum(a: Given, b: Given) -> Given:
    return a + b if a is not None and b is not None else a if b is None else b


def lstm_rows(
    x: Tensor, states: Sequence[Tensor], weight_x: Tensor, weight_h: Tensor, bias_x: Given,
    bias_h: Given, *, sizes: Sizes, reverse: bool = False, projection: Given = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Return the hidden states of packed rows, and the states at the end."""
    rows = linear(x, weight_x, _sum(bias_x, bias_h))
    h, c = states
    if projection is None:
        hidden, cells, _ = lstm_steps(rows, h, c, weight_h, sizes=sizes, reverse=reverse)
    else:

        def step(rows: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
            i, f, a, o = _parts(rows + matmul(h, weight_h), 4)
            new = expit(f) * c + expit(i) * ew.tanh(a)
            return matmul(expit(o) * ew.tanh(new), projection), new

        hidden, cells = _scan(Tensor._namespace, step, rows, (h, c), sizes, reverse)
    return hidden, (_last(hidden, sizes, reverse), _last(cells, sizes, reverse))


def gru_rows(
    x: Tensor, states: Sequence[Tensor], weight_x: Tensor, weight_h: Tensor, bias_x: Given,
    bias_h: Given, *, sizes: Sizes, reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Return the hidden states of packed rows, and the states at the end."""
    (h,) = states
    if bias_h is None:
        xp: Any = plain_namespace(h._raw)
        bias_h = wrap(xp.zeros(weight_h.shape[1:], dtype=h.dtype))
    rows = linear(x, weight_x, bias_x)
    hidden, _ = gru_steps(rows, h, weight_h, bias_h, sizes=sizes, reverse=reverse)
    return hidden, (_last(hidden, sizes, reverse),)


def rnn_rows(
    x: Tensor, states: Sequence[Tensor], weight_x: Tensor, weight_h: Tensor, bias_x: Given,
    bias_h: Given, *, sizes: Sizes, reverse: bool = False, activation: str = "tanh",
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Return the hidden states of packed rows, and the states at the end."""
    rows, (h,) = linear(x, weight_x, _sum(bias_x, bias_h)), states
    hidden = rnn_steps(rows, h, weight_h, activation=activation, sizes=sizes, reverse=reverse)
    return hidden, (_last(hidden, sizes, reverse),)


def stacked_rows(
    rows_of: Callable[..., Any], rows: Tensor, states: Sequence[Tensor],
    weights: Sequence[dict[str, Any]], *, sizes: Sizes, directions: int = 1,
    between: Callable[[Tensor], Tensor] | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Return the hidden states of the last of several layers, and the last states of all.

    Layers have one or two directions. `states` have an axis of layers and directions, which is how
    `weights` are ordered: the arguments of `rows_of`, for one direction of a layer, by name.
    `between` is applied to what a layer passes to the next, such as dropout.
    """
    ends = []
    for first in range(0, len(weights), directions):
        if first and between is not None:
            rows = between(rows)
        found = []
        for k in range(first, first + directions):
            how = {"sizes": sizes, "reverse": k > first}
            result, last = rows_of(rows, [state[k] for state in states], **weights[k], **how)
            found.append(result)
            ends.append(last)
        rows = found[0] if directions == 1 else joining.concat(found, axis=1)
    return rows, *(joining.stack(list(parts)) for parts in zip(*ends, strict=True))


def packing(lengths: np.ndarray) -> tuple[np.ndarray, Sizes, np.ndarray]:
    """Return how sequences are packed: their order, the sizes of steps, and where each row is.

    A row is counted in rows of the shape (time, sequences). The longest sequence is first.
    """
    order = np.argsort(-lengths, kind="stable")
    sizes = tuple(int((lengths > t).sum()) for t in range(int(lengths.max())))
    places = [t * len(lengths) + order[:size] for t, size in enumerate(sizes)]
    return order, sizes, np.concatenate(places)


# -- what users call --------------------------------------------------------------------------


_GIVEN = ("x", "state", "weight_x", "weight_h", "bias_x", "bias_h", "projection")


def _numbers(name: str, states: int, arrays: Sequence[Any]) -> dict[str, Any]:
    """Return arrays by their names, as tensors of one dtype, without those that are None."""
    given = dict(zip(_GIVEN, arrays, strict=False))
    state = given.pop("state")
    if state is not None and states > 1:
        if not isinstance(state, (tuple, list)) or len(state) != states:
            raise TypeError(f"{name}: state is {type(state).__name__}; expected a pair (h, c)")
        given |= zip(("h", "c"), state, strict=True)
    elif state is not None:
        given["h"] = state
    found = {k: real(v, name, k) for k, v in given.items() if v is not None}
    dtype = result_type(*found.values())
    return {k: v if v.dtype == dtype else ew.astype(v, dtype) for k, v in found.items()}


def _check_shapes(name: str, gates: int, given: dict[str, Any]) -> None:
    """Raise unless the shapes of all arrays fit each other."""
    x, weight_x, weight_h = given["x"], given["weight_x"], given["weight_h"]
    fits = x.ndim in (2, 3) and x.shape[0] and weight_x.ndim == weight_h.ndim == 2
    if fits:
        inner, state = given.get("projection", weight_h).shape[0], weight_h.shape[0]
        bias, batch = (gates * inner,), x.shape[1:-1]
        wanted = {
            "weight_x": (x.shape[-1], *bias), "weight_h": (state, *bias), "bias_x": bias,
            "bias_h": bias, "h": (*batch, state), "c": (*batch, inner),
            "projection": (inner, state),
        }  # fmt: skip
        fits = all(given[k].shape == shape for k, shape in wanted.items() if k in given)
    if not fits:
        g = "n" if gates == 1 else f"{gates} n"
        raise misfit(
            name,
            f"x of (time, batch, m) with one step at least, weights of (m, {g}) and (n, {g}), "
            f"biases of ({g},), and states of (batch, n)",
            **given,
        )


def _layer(
    rows_of: Callable[..., Any], name: str, gates: int, states: int, arrays: Sequence[Any],
    lengths: Any = None, reverse: bool = False, **options: Any,
) -> tuple[Tensor, Any]:  # fmt: skip
    """Return the hidden states of a layer at all times, and the states at the end."""
    given = _numbers(name, states, arrays)
    _check_shapes(name, gates, given)
    x = given.pop("x")
    alone = x.ndim == 2
    if alone:
        x = shapes.expand_dims(x, axis=1)
    held = _states(x, states, alone, given)
    time, batch, features = x.shape
    rows = shapes.reshape(x, (time * batch, features))
    options |= {"reverse": bool(reverse)}
    weights = [given.get(k) for k in ("weight_x", "weight_h", "bias_x", "bias_h")]
    if "projection" in given:
        options["projection"] = given["projection"]
    if lengths is None:
        hidden, last = rows_of(rows, held, *weights, sizes=(batch,) * time, **options)
    else:
        order, sizes, places = packing(_lengths(lengths, time, batch, name))
        held = [indexing.index(s, key=(order,)) for s in held]
        rows = indexing.index(rows, key=(places,))
        found, last = rows_of(rows, held, *weights, sizes=sizes, **options)
        shape = (time * batch, found.shape[1])
        hidden = indexing.scatter(found, shape=shape, key=(places,))
        last = [indexing.index(s, key=(np.argsort(order),)) for s in last]
    hidden = shapes.reshape(hidden, (time, batch, hidden.shape[1]))
    if alone:
        hidden, last = hidden[:, 0], [s[0] for s in last]
    return hidden, last[0] if states == 1 else tuple(last)


def _after_one(
    rows_of: Callable[..., Any], name: str, gates: int, states: int, arrays: Sequence[Any],
    **options: Any,
) -> Any:  # fmt: skip
    """Return the states after one step."""
    x, *others = arrays
    x = shapes.expand_dims(real(x, name), axis=0)
    return _layer(rows_of, name, gates, states, (x, *others), **options)[1]


def _states(x: Tensor, states: int, alone: bool, given: dict[str, Any]) -> list[Tensor]:
    """Return the states to begin with, zeros if there are none given, with an axis of a batch."""
    if "h" not in given:
        weight_h = given["weight_h"]
        inner = given.get("projection", weight_h).shape[0]
        xp: Any = plain_namespace(x._raw)
        widths = (weight_h.shape[0], inner)[:states]
        return [wrap(xp.zeros((x.shape[-2], n), dtype=x.dtype)) for n in widths]
    found = [given.pop(k) for k in ("h", "c")[:states]]
    return [shapes.expand_dims(s, axis=0) for s in found] if alone else found


def _lengths(lengths: Any, time: int, batch: int, name: str) -> np.ndarray:
    found = integers(lengths, name, "lengths")
    if found.shape != (batch,) or not batch or found.min() < 1 or found.max() > time:
        raise ValueError(f"{name}: lengths {found}; expected {batch} numbers from 1 to {time}")
    return found


def lstm(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None, *,
    projection: Any = None, lengths: Any = None, reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:  # fmt: skip
    """Return the hidden states of an LSTM at all times, and ``(h, c)`` at the end.

    With ``i, f, a, o`` the four parts of ``x[t] @ weight_x + bias_x + h @ weight_h + bias_h``::

        c = sigmoid(f) * c + sigmoid(i) * tanh(a)
        h = sigmoid(o) * tanh(c)

    Parameters
    ----------
    x
        Of shape (time, batch, m), or (time, m) for one sequence.
    state
        The pair (h, c) to begin with, each of shape (batch, n); zeros if None.
    weight_x, weight_h, bias_x, bias_h
        Of shapes (m, 4 n), (n, 4 n), (4 n,) and (4 n,). A bias may be None.
    projection
        Of shape (n, p): h is multiplied by it, and `weight_h` is then of shape (p, 4 n).
    lengths
        How long each sequence is, where they differ. What follows in x is not read; there the
        result is 0.
    reverse
        Whether time runs backwards: the result at t then depends on x from t on.

    Examples
    --------
    >>> import wengert as wg
    >>> ones = wg.ones((1, 4))
    >>> hidden, (h, c) = wg.nn.lstm([[1.0], [2.0]], None, ones, ones)
    >>> hidden[:, 0].numpy().round(4)
    array([0.3696, 0.8112])
    """
    given = (x, state, weight_x, weight_h, bias_x, bias_h, projection)
    return _layer(lstm_rows, "lstm", 4, 2, given, lengths, reverse)


def gru(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None, *,
    lengths: Any = None, reverse: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the hidden states of a GRU at all times, and the one at the end.

    With ``r, z, n`` the three parts of ``x[t] @ weight_x + bias_x`` and ``R, Z, N`` those of
    ``h @ weight_h + bias_h``::

        z = sigmoid(z + Z)
        h = z * h + (1 - z) * tanh(n + sigmoid(r + R) * N)

    The shapes are those of `lstm`, with 3 n in place of 4 n, and the state is h.

    Examples
    --------
    >>> import wengert as wg
    >>> ones = wg.ones((1, 3))
    >>> hidden, h = wg.nn.gru([[1.0], [2.0]], None, ones, ones)
    >>> hidden[:, 0].numpy().round(4)
    array([0.2048, 0.2813])
    """
    given = (x, state, weight_x, weight_h, bias_x, bias_h)
    return _layer(gru_rows, "gru", 3, 1, given, lengths, reverse)


def rnn(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None, *,
    activation: str = "tanh", lengths: Any = None, reverse: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the hidden states of a plain recurrent layer at all times, and the one at the end.

    The next h is ``tanh(x[t] @ weight_x + bias_x + h @ weight_h + bias_h)``, or relu of that. The
    shapes are those of `lstm`, with n in place of 4 n, and the state is h.

    Examples
    --------
    >>> import wengert as wg
    >>> hidden, h = wg.nn.rnn([[1.0], [2.0]], None, [[1.0]], [[0.5]], activation="relu")
    >>> hidden[:, 0]
    Tensor([1. , 2.5], dtype=float64)
    """
    check_option("rnn", "activation", activation, ACTIVATIONS)
    given = (x, state, weight_x, weight_h, bias_x, bias_h)
    return _layer(rnn_rows, "rnn", 1, 1, given, lengths, reverse, activation=activation)


def lstm_cell(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None
) -> tuple[Tensor, Tensor]:
    """Return ``(h, c)`` after one step of `lstm`, where x has the shape (batch, m) or (m,).

    `wg.nn.lstm_cell([1.0], None, wg.ones((1, 4)), wg.ones((1, 4)))[0]` is `[0.369606]`.
    """
    given = (x, state, weight_x, weight_h, bias_x, bias_h)
    return _after_one(lstm_rows, "lstm_cell", 4, 2, given)


def gru_cell(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None
) -> Tensor:
    """Return h after one step of `gru`, where x has the shape (batch, m) or (m,).

    `wg.nn.gru_cell([1.0], [2.0], wg.ones((1, 3)), wg.ones((1, 3)))` is `[1.95229]`.
    """
    given = (x, state, weight_x, weight_h, bias_x, bias_h)
    return _after_one(gru_rows, "gru_cell", 3, 1, given)


def rnn_cell(
    x: Any, state: Any, weight_x: Any, weight_h: Any, bias_x: Any = None, bias_h: Any = None, *,
    activation: str = "tanh",
) -> Tensor:  # fmt: skip
    """Return h after one step of `rnn`, where x has the shape (batch, m) or (m,).

    `wg.nn.rnn_cell([1.0], [2.0], [[1.0]], [[0.5]])` is `[0.964028]`.
    """
    check_option("rnn_cell", "activation", activation, ACTIVATIONS)
    given = (x, state, weight_x, weight_h, bias_x, bias_h)
    return _after_one(rnn_rows, "rnn_cell", 1, 1, given, activation=activation)


__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn", "rnn_cell"]
