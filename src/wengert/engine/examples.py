"""An operation on many examples at once: what `apply` does when a vmap runs."""

from __future__ import annotations

import functools
from typing import Any

from wengert import backends
from wengert.engine.batching import Batched, Level, outside, plain_namespace, substituted
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.record import SCALARS, apply, interested, record
from wengert.engine.tensor import Tensor, wrap


def apply_batched(
    op: Op, level: Level, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
) -> Any:
    """Compute `op` for all examples of a level, and record it for the tapes opened inside."""
    mapped = [type(raw) is Batched and raw.level is level for raw in raws]
    if any(type(raw) in SCALARS for raw in raws):
        raws = _without_numbers(raws)
    arrays = [
        raw.values if is_mapped else wrap(raw, node)
        for raw, node, is_mapped in zip(raws, nodes, mapped, strict=True)
    ]
    with outside(level):
        results = (op.batch or functools.partial(one_by_one, op))(level, arrays, mapped, params)
    several = type(results) is tuple
    y: Any = tuple(Batched(level, r) for r in results) if several else Batched(level, results)
    tokens = interested(nodes)
    if tokens - level.tapes:  # rules may read what only outer tapes care about, so all are kept
        return record(op, y, raws, nodes, params, tokens)
    return tuple(map(wrap, y)) if several else wrap(y)


def _without_numbers(raws: list[Any]) -> list[Any]:
    """Return raw arrays in which Python numbers, beside integers, are arrays as well."""
    arrays = [raw for raw in raws if type(raw) not in SCALARS]
    xp = plain_namespace(arrays[0])
    integers = [raw.dtype for raw in arrays if backends.kind_of(raw.dtype) in "iu"]

    def array(raw: Any) -> Any:
        if type(raw) not in SCALARS:
            return raw
        return xp.asarray(raw, dtype=integers[0] if integers and type(raw) is int else None)

    return [*map(array, raws)]


def one_by_one(
    op: Op, level: Level, arrays: list[Tensor], mapped: list[bool], params: dict[str, Any]
) -> Any:
    """Return the results of `op` for all examples, called once for each."""
    xp = Tensor._namespace
    count = level.size or 1  # of no examples one is made up, for the results' shapes

    def example(tensor: Tensor, i: int) -> Tensor:
        if not level.size:
            return xp.ones(tensor.shape[1:], dtype=tensor.dtype)
        return tensor[i]

    def index(part: Any, i: int) -> Any:
        return part if part.level is not level else example(part.values, i)._raw

    results = []
    for i in range(count):
        here = [example(a, i) if m else a for a, m in zip(arrays, mapped, strict=True)]
        there = substituted(params, functools.partial(index, i=i))
        results.append(apply(op, tuple(here), there))
    if type(results[0]) is tuple:
        return tuple(xp.stack(parts)[: level.size] for parts in zip(*results, strict=True))
    return xp.stack(results)[: level.size]
