"""Cotangents: what a sweep carries from an entry to its parents.

Three kinds, and one `add`. A cotangent that is absent (`None`) is zero by structure. A
`Block` is dense on a hyper-rectangle and zero by structure elsewhere. Any other array is
dense. What `add` returns:

    +        None     Block                              dense
    None     None     Block                              dense
    Block    Block    Block on the same region, or on    dense
                      the rectangle around both if that
                      is no waste, else dense
    dense    dense    dense                              dense

Values are raw arrays or, when a sweep is itself recorded, tensors; `xp` is the namespace
that computes them.
"""

from __future__ import annotations

import math
from typing import Any

from wengert import backends
from wengert.engine.errors import RuleError
from wengert.engine.node import Node, Op
from wengert.engine.tensor import Tensor, wrap

Region = tuple[range, ...]


class Block:
    """An array of `shape` that is `values` on the product of the ranges `region`, else zero."""

    __slots__ = ("region", "shape", "values")

    def __init__(self, shape: tuple[int, ...], region: Region, values: Any) -> None:
        self.shape = shape
        self.region = region
        self.values = values

    @property
    def index(self) -> tuple[slice, ...]:
        """The slices that cut the block out of the whole array."""
        return slices(self.region)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """The memory that the values take."""
        return int(getattr(self.values, "_raw", self.values).nbytes)

    def todense(self, xp: Any = None) -> Any:
        """Return the whole array, zeros included."""
        if xp is None:
            values = self.values
            xp = values._namespace if type(values) is Tensor else backends.namespace_of(values)
        if all(len(r) == n and r.step == 1 for r, n in zip(self.region, self.shape, strict=True)):
            return self.values
        return xp.embed(self.values, shape=self.shape, key=self.index)

    def __repr__(self) -> str:
        where = ", ".join(
            str(r[0]) if len(r) == 1 else f"{r.start}:{r.stop}" + f":{r.step}" * (r.step != 1)
            for r in self.region
        )
        return f"Block(shape={self.shape}, nonzero=[{where}], values={self.values!r})"


def zero(shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
    """Return a cotangent that is zero by structure: a Block of no elements.

    Its values are tensors or raw arrays of a library, as `like`.
    """
    raw = like._raw if type(like) is Tensor else like
    xp = backends.namespace_of(raw)
    none = xp.zeros((0,) * len(shape), dtype=dtype)
    values = wrap(none) if type(like) is Tensor else none
    return Block(shape, (range(0),) * len(shape), values) if shape else values


def slices(region: Region) -> tuple[slice, ...]:
    """Return the slices that select a region of an array."""
    return tuple(slice(r.start, r.stop if r.stop >= 0 else None, r.step) for r in region)


def whole(shape: tuple[int, ...]) -> Region:
    """Return the region that is all of an array."""
    return tuple(map(range, shape))


def cut(value: Any, region: Region) -> Any:
    """Return the part of `value`, an operand that broadcast to the array `region` is of."""
    shape = getattr(value, "shape", ())
    if not shape:
        return value
    key = slices(region[len(region) - len(shape) :])
    return value[tuple(slice(None) if n == 1 else s for n, s in zip(shape, key, strict=True))]


def unbroadcast(xp: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Return `g` summed over the axes along which `shape` was repeated to give g.shape."""
    lead = len(g.shape) - len(shape)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, n in enumerate(shape) if n == 1 and g.shape[lead + i] != 1
    )
    if lead < 0 or any(g.shape[lead + i] != n for i, n in enumerate(shape) if n != 1):
        raise ValueError(f"shape {tuple(g.shape)} was not broadcast from {shape}")
    return xp.reshape(xp.sum(g, axis=axes), shape)


def unbroadcast_block(xp: Any, values: Any, region: Region, shape: tuple[int, ...]) -> Block:
    """Return the Block of `shape` for values on a region of the array it was broadcast to."""
    lead = len(region) - len(shape)
    kept = tuple(range(1) if n == 1 else region[lead + i] for i, n in enumerate(shape))
    sizes = tuple(map(len, kept))
    if tuple(values.shape) != sizes:
        full_sizes = tuple(map(len, region))
        if tuple(values.shape) != full_sizes:  # the rule's answer broadcasts like an operand
            values = xp.broadcast_to(values, full_sizes)
        values = unbroadcast(xp, values, sizes)
    return Block(shape, kept, values)


def fit(xp: Any, op: Op, g: Any, parent: Node) -> Any:
    """Return a rule's answer `g` with the shape and dtype of the argument, or raise."""
    if type(g) is Block:
        if g.shape != parent.shape:
            raise _misfit(op, g.shape, parent)
        if g.values.dtype != parent.dtype:
            return Block(g.shape, g.region, _cast(xp, g.values, parent.dtype))
        return g
    shape = getattr(g, "shape", None)
    if shape != parent.shape:
        if shape is None:
            raise RuleError(
                f"{op.name}: its rule returned {type(g).__name__} {g!r} where an array of shape "
                f"{parent.shape} is expected; return an array, or None for zero"
            )
        if tuple(shape) != parent.shape:
            if not op.broadcasts:
                raise _misfit(op, shape, parent)
            try:
                g = unbroadcast(xp, g, parent.shape)
            except ValueError as error:
                raise _misfit(op, shape, parent) from error
    dtype = g.dtype
    if dtype is not parent.dtype and dtype != parent.dtype:
        g = _cast(xp, g, parent.dtype)
    return g


def _misfit(op: Op, shape: Any, parent: Node) -> RuleError:
    return RuleError(
        f"{op.name}: its rule returned shape {tuple(shape)} for an argument of shape "
        f"{parent.shape}; a rule returns one number for each element of its argument"
    )


def _cast(xp: Any, g: Any, dtype: Any) -> Any:
    """Return g in a dtype; for a real one, its real part."""
    g = xp.asarray(g)
    if backends.kind_of(g.dtype) == "c" and backends.kind_of(dtype) != "c":
        g = xp.real(g)
    return xp.astype(g, dtype)


def add(xp: Any, a: Any, b: Any, owned: bool = False) -> Any:
    """Return a + b. Writes into `a` if that is `owned`: dense, and held by nobody else."""
    if type(a) is Block:
        if type(b) is not Block:
            return add(xp, b, a)
        if not _size(a) or not _size(b):
            return a if _size(a) else b
        if a.region == b.region:
            return Block(a.shape, a.region, a.values + b.values)
        region = _around(a.region, b.region)
        size = math.prod(map(len, region))
        if 2 * size > math.prod(a.shape) or size > 2 * _size(a) + 2 * _size(b):
            return add(xp, a.todense(xp), b)
        return Block(a.shape, region, _within(xp, a, region) + _within(xp, b, region))
    if type(b) is Block:
        if not b.shape or not getattr(xp, "writable", False):
            return a + b.todense(xp)
        if not owned:
            a = xp.copy(a)
        a[b.index] += b.values
        return a
    if owned:
        a += b
        return a
    return a + b


def _size(block: Block) -> int:
    return math.prod(map(len, block.region))


def _around(one: Region, two: Region) -> Region:
    """Return the smallest region without steps around both; neither is empty."""
    return tuple(
        range(min(r[0], r[-1], s[0], s[-1]), max(r[0], r[-1], s[0], s[-1]) + 1)
        for r, s in zip(one, two, strict=True)
    )


def _within(xp: Any, block: Block, region: Region) -> Any:
    """Return the block's array, cut to a region without steps around it."""
    moved = tuple(
        range(r.start - q.start, r.stop - q.start, r.step)
        for r, q in zip(block.region, region, strict=True)
    )
    return Block(tuple(map(len, region)), moved, block.values).todense(xp)
