"""Elements put at positions and read from there: what a sweep itself needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching
from wengert.ops.families import linear, sample


def sliced(xp: Any, x: Any, parts: Any) -> Any:
    """Return x[parts], also by a library without slices that go back."""
    if xp is backends.NUMPY or not [p for p in parts if type(p) is slice and (p.step or 1) < 0]:
        return x[parts]
    ahead: list[Any] = []
    flipped: list[int] = []
    axis, lengths = 0, iter(x.shape)
    for part in parts:
        n = 0 if part is None else next(lengths)
        if isinstance(part, slice) and (part.step or 1) < 0:
            r = range(n)[part][::-1]
            part = slice(r.start, r[-1] + 1, r.step) if r else slice(0, 0)
            flipped.append(axis)
        ahead.append(part)
        axis += not isinstance(part, int)
    return xp.flip(x[tuple(ahead)], axis=tuple(flipped))


embed = linear(
    "embed",
    lambda xp, g, key: g[key] if xp is Tensor._namespace else sliced(xp, g, key),
    args=("values",),
    params=("shape", "key"),
    batch=batching.with_params(
        lambda count, p: {"shape": (count, *p["shape"]), "key": (slice(None), *p["key"])}
    ),
    samples=[sample((1, 2), shape=(3, 4), key=(slice(1, 2), slice(0, 4, 2)))],
    reference=lambda values, shape, key: backends.NUMPY.embed(values, shape, key),
    doc="Return zeros of `shape` with `values` at the slices `key`.",
)


def _flat_positions(level: Level, size: int, positions: Any) -> Any:
    """Return flat positions in the arrays of all examples, each of which has `size` elements."""
    xp = Tensor._namespace
    flat = wrap(batching.full_parameter(positions, level))
    firsts = wrap(size * np.arange(level.size).reshape(-1, *(1,) * (flat.ndim - 1)))
    return xp.where(flat < 0, -1, flat + firsts)._raw


def _scatter_flat_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    shape = params["shape"]
    positions = _flat_positions(level, math.prod(shape), params["positions"])
    values = batching.full(arrays[0], mapped[0], level)
    return apply(op, (values,), {"shape": (level.size, *shape), "positions": positions})


def _gather_flat_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    (x,), positions = arrays, params["positions"]
    if not mapped[0]:
        positions = positions.values._raw
    else:
        positions = _flat_positions(level, math.prod(x.shape[1:]), positions)
    shape = (level.size, *params["shape"])
    return apply(op, (x,), {"shape": shape, "positions": positions})


scatter_flat = linear(
    "scatter_flat",
    lambda xp, g, values_shape, positions: batching.call(
        xp, "gather_flat", g, shape=values_shape, positions=positions
    ),
    batch=_scatter_flat_examples,
    args=("values",),
    params=("shape", "positions"),
    samples=[
        sample((3,), shape=(2, 2), positions=backends.NUMPY.asarray([0, 3, 0])),
        sample((3,), shape=(4,), positions=backends.NUMPY.asarray([-1, 2, 1])),
    ],
    reference=lambda values, shape, positions: backends.NUMPY.scatter_flat(
        values, shape, positions
    ),
    doc="Return zeros of `shape` with `values` added at flat positions; negative ones are dropped.",
)
gather_flat = linear(
    "gather_flat",
    lambda xp, g, x_shape, positions: batching.call(
        xp, "scatter_flat", g, shape=x_shape, positions=positions
    ),
    batch=_gather_flat_examples,
    params=("shape", "positions"),
    samples=[
        sample((2, 2), shape=(3,), positions=backends.NUMPY.asarray([0, 3, 0])),
        sample((4,), shape=(3,), positions=backends.NUMPY.asarray([-1, 2, 1])),
    ],
    reference=lambda x, shape, positions: backends.NUMPY.gather_flat(x, shape, positions),
    doc="Return the elements at flat positions in a shape; 0 at negative ones.",
)


def _moved(x: Any, device: Any) -> Any:
    if device is None or isinstance(x, np.ndarray):
        return x
    import array_api_compat

    return array_api_compat.to_device(x, device)


to_device = linear(
    "to_device",
    lambda xp, g, back: _moved(g, back),
    batch=batching.as_it_is,
    params=("device", "back"),
    compute=lambda xp, x, device, back: _moved(x, device),
    samples=[sample((2,), device=None, back=None)],
    reference=lambda x, device, back: x,
    doc="Return x on another device of its library; its derivative moves back.",
)
