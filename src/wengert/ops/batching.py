"""What becomes of an operation when each of its arrays may have a first axis of examples.

A function here is what an operation declares as ``batch=``: called as ``(op, level, arrays,
mapped, params)``, it returns the results for all examples, each with a first axis for them.
`arrays` are tensors, `mapped` says which of them have that axis, and arrays in `params` that
differ between examples are `Batched`. Most operations are themselves again, with the axes in
their parameters one further on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.engine.batching import Level
from wengert.engine.node import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor

Params = dict[str, Any]


def aligned(arrays: Sequence[Tensor], mapped: Sequence[bool]) -> tuple[Tensor, ...]:
    """Return arrays with axes of length 1 behind that of the examples, so that they broadcast."""
    ndim = max(a.ndim - m for a, m in zip(arrays, mapped, strict=True))
    return tuple(
        a if not m or a.ndim - 1 == ndim else widened(a, ndim)
        for a, m in zip(arrays, mapped, strict=True)
    )


def widened(x: Tensor, ndim: int) -> Tensor:
    """Return a mapped array whose examples have axes of length 1 in front, `ndim` in all."""
    shape = (x.shape[0], *(1,) * (ndim + 1 - x.ndim), *x.shape[1:])
    return Tensor._namespace.reshape(x, shape)


def full(x: Tensor, is_mapped: bool, level: Level) -> Tensor:
    """Return an array with the axis of examples, along which it is repeated if it had none."""
    if is_mapped:
        return x
    return Tensor._namespace.broadcast_to(x, (level.size, *x.shape))


def shifted(axis: Any) -> Any:
    """Return an axis, or each of several, one further on; negative ones stay."""
    if isinstance(axis, (tuple, list)):
        return tuple(map(shifted, axis))
    return axis if axis is None or axis < 0 else axis + 1


def as_it_is(
    op: Op, level: Level, arrays: Sequence[Tensor], mapped: Sequence[bool], params: Params
) -> Any:
    """Return an operation that leaves all axes but its own, the last, alone: triu, cholesky."""
    return apply(op, aligned(arrays, mapped), params)


def along_axes(
    op: Op, level: Level, arrays: Sequence[Tensor], mapped: Sequence[bool], params: Params
) -> Any:
    """Return an operation along the axis, or the axes, in its parameters."""
    changed = {n: shifted(v) if n in ("axis", "axes") else v for n, v in params.items()}
    return apply(op, aligned(arrays, mapped), changed)
