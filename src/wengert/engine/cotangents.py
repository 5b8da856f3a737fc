"""Cotangents: what a sweep carries from a node to its parents.

A cotangent that is absent (`None`) is zero by structure. A `Block` is zero by structure outside
of a region: a product of ranges, of which one may be a list of positions instead (rows of a
table, in any order and also repeatedly), and where its mask, if it has one, does not hold. Any
other array is dense. What `add` returns:

    +        None     Block                                dense
    None     None     Block                                dense
    Block    Block    a Block: on the same region; on one  dense
                      list of positions, if they differ
                      along one axis; on the rectangle
                      around both, if that is no waste;
                      else dense
    dense    dense    dense                                dense

A `Deferred` one is an array as soon as it is added to anything but its like.

Zero by structure is not zero by number. What is zero by structure stays zero, whatever it
meets; a number 0 that meets an infinite derivative is NaN.

Values are raw arrays or, when a sweep is itself recorded, tensors; `xp` is the namespace
that computes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import RuleError
from wengert.regions import Region, around, same, sizes, slices, whole

if TYPE_CHECKING:
    from wengert.engine.node import Node
    from wengert.engine.op import Op


class Block:
    """An array of `shape` that is `values` on the product of the axes' positions, else zero.

    `mask`, booleans or a function that returns them, says which values are not 0 by structure.
    `wg.Block((3,), (range(1, 2),), np.ones(1)).nbytes` is `8`.
    """

    __slots__ = ("_mask", "_parts", "region", "shape", "values")

    def __init__(
        self, shape: tuple[int, ...], region: Region, values: Any, mask: Any = None
    ) -> None:
        self.shape, self.region, self.values, self._mask = shape, region, values, mask

    def __getattr__(self, name: str) -> Any:
        """Return values that were in pieces until now: all at once they are copied only once."""
        if name != "values":
            raise AttributeError(name)
        xp, axis, pieces = self._parts
        del self._parts
        self.values = xp.concat(pieces, axis=axis)
        return self.values

    @property
    def mask(self) -> Any:
        """Where values are not zero by structure, as a raw array; None for everywhere."""
        if callable(self._mask):
            found = self._mask()
            raw = found._raw if type(found) is Tensor else found
            values = self.values._raw if type(self.values) is Tensor else self.values
            if type(raw) is np.ndarray:  # rules that know positions make NumPy's masks
                raw = _namespace(values).asarray(raw)
            xp: Any = backends.namespace_of(raw)  # of examples, even if values are of none
            self._mask = xp.broadcast_to(raw, sizes(self.region))
        return self._mask

    @property
    def is_masked(self) -> bool:
        """Whether there is a mask, which need not be computed to know."""
        return self._mask is not None

    @property
    def index(self) -> tuple[Any, ...]:
        """The index that cuts the block out of the whole array."""
        return slices(self.region)

    @property
    def rows(self) -> int | None:
        """The axis along which the region is a list of positions, if there is one."""
        return next((axis for axis, r in enumerate(self.region) if type(r) is not range), None)

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
        xp = xp or _namespace(self.values)
        if self.rows is not None:
            return xp.scatter(self.values, shape=self.shape, key=self.index)
        if self.region == whole(self.shape):
            return self.values
        return xp.embed(self.values, shape=self.shape, key=self.index)

    def kept(self, xp: Any) -> Any:
        """Return the values with zeros where the mask does not hold."""
        if (mask := self.mask) is None:
            return self.values
        return xp.keep(self.values, wrap(mask) if type(self.values) is Tensor else mask)

    def ranged(self, xp: Any) -> Block:
        """Return the block on ranges only: a list of positions becomes the range around it."""
        axis = self.rows
        if axis is None:
            return self
        rows = self.region[axis]
        low, high = (int(rows.min()), int(rows.max())) if len(rows) else (0, -1)
        before, after = sizes(self.region[:axis]), sizes(self.region[axis + 1 :])
        lengths = (*before, high - low + 1, *after)
        key = (slice(None),) * axis + (rows - low,)
        values = xp.scatter(self.values, shape=lengths, key=key)
        region = (*self.region[:axis], range(low, high + 1), *self.region[axis + 1 :])

        def mask() -> Any:  # what lies between the positions stays zero by structure
            ones = _alive(self).values
            return _namespace(ones).scatter(ones, shape=lengths, key=key) != 0

        return Block(self.shape, region, values, mask)

    __array_ufunc__ = None  # NumPy's operators leave the answer to ours

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.todense(), dtype=dtype)

    def __wengert_wrapped__(self) -> Block:
        """Return the block with a tensor for its values."""
        return self if type(self.values) is Tensor else self._with(wrap(self.values))

    def _with(self, values: Any) -> Block:
        return Block(self.shape, self.region, values, self._mask)

    def __neg__(self) -> Block:
        return self._with(-self.values)

    def __mul__(self, factor: Any) -> Block:
        if getattr(factor, "shape", ()):
            return NotImplemented
        return self._with(self._with(self.values * factor).kept(_namespace(self.values)))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Block:
        if getattr(divisor, "shape", ()):
            return NotImplemented
        return self._with(self._with(self.values / divisor).kept(_namespace(self.values)))

    def __add__(self, other: Any) -> Any:
        if tuple(getattr(other, "shape", ())) != self.shape:
            return NotImplemented
        return add(_namespace(self.values), self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __repr__(self) -> str:
        where = ", ".join(map(_positions, self.region))
        masked = ", masked" if self.is_masked else ""
        return f"Block(shape={self.shape}, nonzero=[{where}]{masked}, values={self.values!r})"


class Deferred:
    """A cotangent that is an array of `shape` and `dtype` only when somebody needs the numbers.

    Two that are added stay deferred. ``a + b`` is new; ``a += b`` writes into `a`.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's operators leave the answer to ours
    shape: tuple[int, ...]
    dtype: Any
    #: whether a sweep does better to wait for further ones than to compute this one now
    can_wait: bool

    #: returns the array, given what others have joined; what those get who take other answers
    todense: Callable[..., Any]
    answer: Callable[[], Any]
    __iadd__: Callable[..., Any]


def _namespace(values: Any) -> Any:
    return values._namespace if type(values) is Tensor else backends.namespace_of(values)


def _positions(r: Any) -> str:
    if type(r) is not range:
        return str(r.tolist() if len(r) < 9 else f"{len(r)} of {int(r.min())}:{int(r.max()) + 1}")
    if len(r) == 1:
        return str(r[0])
    return f"{r.start}:{r.stop}" + f":{r.step}" * (r.step != 1)


def zero(shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
    """Return a cotangent that is zero by structure: a Block of no elements.

    Its values are tensors or raw arrays of a library, as `like`.
    """
    like = like.values if type(like) is Block else like
    raw = like._raw if type(like) is Tensor else like
    xp = backends.namespace_of(raw)
    none = xp.zeros((0,) * len(shape), dtype=dtype)
    values = wrap(none) if type(like) is Tensor else none
    return Block(shape, (range(0),) * len(shape), values) if shape else values


def cut(value: Any, region: Region) -> Any:
    """Return the part of `value`, an operand that broadcast to the array `region` is of."""
    shape = getattr(value, "shape", ())
    if not shape:
        return value
    if len(shape) < len(region) or 1 in shape:
        parts = region[len(region) - len(shape) :]
        region = tuple([range(1) if n == 1 else r for n, r in zip(shape, parts, strict=True)])
    return part_of(value, region)


def part_of(value: Any, region: Region) -> Any:
    """Return value[region]: a view, unless there is a list of positions."""
    key = slices(region)
    axis = next((a for a, part in enumerate(key) if type(part) is not slice), None)
    if axis is None:
        if type(value) is np.ndarray or type(value) is Tensor or all(r.step > 0 for r in region):
            return value[key]
        back = tuple(a for a, r in enumerate(region) if r.step < 0)  # PyTorch has no such slices
        ahead = tuple(r[::-1] if r.step < 0 else r for r in region)
        return backends.namespace_of(value).flip(value[slices(ahead)], axis=back)
    rows = region[axis]
    flat = value[slices((*region[:axis], range(value.shape[axis]), *region[axis + 1 :]))]
    xp = _namespace(value)
    return xp.take(flat, rows if xp is backends.NUMPY else xp.asarray(rows), axis=axis)


def unbroadcast(xp: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Return `g` summed over the axes along which `shape` was repeated to give g.shape."""
    lead = len(g.shape) - len(shape)
    if lead > 0 and g.shape[lead:] == shape:
        return xp.sum(g, axis=tuple(range(lead)))
    axes = tuple(range(lead)) + tuple(
        lead + i for i, n in enumerate(shape) if n == 1 and g.shape[lead + i] != 1
    )
    if lead < 0 or any(g.shape[lead + i] != n for i, n in enumerate(shape) if n != 1):
        raise ValueError(f"shape {tuple(g.shape)} was not broadcast from {shape}")
    return xp.reshape(xp.sum(g, axis=axes), shape)


def unbroadcast_block(
    xp: Any, values: Any, region: Region, shape: tuple[int, ...], mask: Any = None
) -> Block:
    """Return the Block of `shape` for values on a region of the array it was broadcast to."""
    lead = len(region) - len(shape)
    kept = tuple([range(1) if n == 1 else region[lead + i] for i, n in enumerate(shape)])
    lengths, full = sizes(kept), sizes(region)
    if tuple(values.shape) != lengths:
        if tuple(values.shape) != full:  # the rule's answer broadcasts like an operand
            values = xp.broadcast_to(values, full)
        values = unbroadcast(xp, values, lengths)
    return Block(shape, kept, values, None if mask is None else _any_along(mask, full, lengths))


def _any_along(
    mask: Any, full: tuple[int, ...], lengths: tuple[int, ...]
) -> Any | Callable[[], Any]:
    """Return a mask for sums over the axes along which `lengths` was repeated."""
    if full == lengths:
        return mask

    def summed() -> Any:
        found = mask() if callable(mask) else mask
        raw = found._raw if type(found) is Tensor else found
        xp: Any = backends.namespace_of(raw)
        lead = len(full) - len(lengths)
        axes = (*range(lead), *(lead + i for i, n in enumerate(lengths) if n != full[lead + i]))
        return xp.reshape(xp.any(xp.broadcast_to(raw, full), axis=axes), lengths)

    return summed


def fit(xp: Any, op: Op, g: Any, parent: Node) -> Any:
    """Return a rule's answer `g` with the shape and dtype of the argument, or raise."""
    if type(g) is Block:
        if g.shape != parent.shape:
            if not op.broadcasts:
                raise _misfit(op, g.shape, parent)
            g = unbroadcast_block(xp, g.values, g.region, parent.shape, g._mask)
        if g.values.dtype != parent.dtype:
            return Block(g.shape, g.region, _cast(xp, g.values, parent.dtype), g._mask)
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


# -- sums -----------------------------------------------------------------------------------


def add(xp: Any, a: Any, b: Any, owned: bool = False) -> Any:
    """Return a + b. Writes into `a` if that is `owned`: dense, and held by nobody else."""
    if type(a) is Block:
        return _add_blocks(xp, a, b) if type(b) is Block else add(xp, b, a)
    if type(b) is Block:
        if isinstance(a, Deferred):
            return add(xp, a.todense(xp), b)
        if not b.shape or xp is not backends.NUMPY or a.dtype != b.dtype:
            return a + b.todense(xp)
        if not owned:
            a = xp.copy(a)
        if b.rows is None:
            a[b.index] += b.values
        else:
            np.add.at(a, b.index, b.values)  # positions may be there twice
        return a
    if isinstance(b, Deferred) and not isinstance(a, Deferred):
        b = b.todense(xp)
    if owned:
        a += b
        return a
    return a + b


def _add_blocks(xp: Any, a: Block, b: Block) -> Any:
    if not _size(a) or not _size(b):
        return a if _size(a) else b
    along = _filled_along(a, b)
    if along is not None:
        first, last = (a, b) if a.region[along].start < b.region[along].start else (b, a)
        r, s = first.region[along], last.region[along]
        if r.stop == s.start:  # end to end
            region = (*a.region[:along], range(r.start, s.stop), *a.region[along + 1 :])
            joined: Any = Block(a.shape, region, None)
            joined._parts = xp, along, [*_pieces(first, along), *_pieces(last, along)]
            del joined.values
            return joined.values if sizes(region) == a.shape else joined
    if same(a.region, b.region):
        mask = (lambda: a.mask | b.mask) if a.is_masked and b.is_masked else None
        return Block(a.shape, a.region, a.values + b.values, mask)
    axis = _one_axis_apart(a, b)
    count = 0 if axis is None else len(a.region[axis]) + len(b.region[axis])
    # many rows are joined again with each further sum, while a dense sum is written to in place
    if axis is not None and 2 * count < a.shape[axis] and count <= 4096:
        rows = np.concatenate([np.asarray(g.region[axis]) for g in (a, b)])
        region = (*a.region[:axis], rows, *a.region[axis + 1 :])
        mask = (lambda: _masks_joined(a, b, axis)) if a.is_masked or b.is_masked else None
        return Block(a.shape, region, xp.concat([a.values, b.values], axis=axis), mask)
    a, b = a.ranged(xp), b.ranged(xp)
    region = around(a.region, b.region)
    size = math.prod(map(len, region))
    if 2 * size > math.prod(a.shape) or size > 2 * _size(a) + 2 * _size(b):
        return add(xp, a.todense(xp), b, xp is backends.NUMPY and _size(a) < math.prod(a.shape))
    values = _within(xp, a, region) + _within(xp, b, region)
    if along is not None:
        return Block(a.shape, region, values)

    def alive() -> Any:
        return (_within(None, _alive(a), region) != 0) | (_within(None, _alive(b), region) != 0)

    return Block(a.shape, region, values, alive)


def _pieces(block: Block, axis: int) -> Any:
    """Return arrays that are the values of a block, joined along an axis."""
    _, along, pieces = getattr(block, "_parts", (None, None, None))
    return pieces if along == axis else [block.values]


def _filled_along(a: Block, b: Block) -> int | None:
    """Return the only axis along which two rectangles differ that fill the one around them."""
    axis = None
    for i, (r, s) in enumerate(zip(a.region, b.region, strict=True)):
        if type(r) is not range or type(s) is not range or r.step != 1 or s.step != 1:
            return None
        if r != s:
            if axis is not None or r.start > s.stop or s.start > r.stop:
                return None
            axis = i
    return None if a.is_masked or b.is_masked else axis


def _alive(block: Block) -> Block:
    """Return a block of the numbers 1 and 0: where another is not zero by structure."""
    raw = block.values._raw if type(block.values) is Tensor else block.values
    xp: Any = backends.namespace_of(raw)
    if block.is_masked:
        ones = xp.astype(block.mask, xp.float32)
    else:
        ones = xp.ones(sizes(block.region), dtype=xp.float32)
    return Block(block.shape, block.region, ones)


def _masks_joined(a: Block, b: Block, axis: int) -> Any:
    known = a.mask if a.is_masked else b.mask
    xp: Any = backends.namespace_of(known)
    masks = [g.mask if g.is_masked else xp.ones(sizes(g.region), dtype=known.dtype) for g in (a, b)]
    return xp.concat(masks, axis=axis)


def _one_axis_apart(a: Block, b: Block) -> int | None:
    """Return the one axis along which two regions differ, if no other is a list of positions."""
    lists = {a.rows, b.rows} - {None}
    if not lists:
        return None
    pairs = enumerate(zip(a.region, b.region, strict=True))
    apart = [i for i, (r, s) in pairs if not same((r,), (s,))]
    return apart[0] if len(apart) == 1 and lists <= set(apart) else None


def _size(block: Block) -> int:
    return math.prod(map(len, block.region))


def _within(xp: Any, block: Block, region: Region) -> Any:
    """Return the block's array, cut to a region without steps around it."""
    moved = tuple(
        range(r.start - q.start, r.stop - q.start, r.step)
        for r, q in zip(block.region, region, strict=True)
    )
    return Block(sizes(region), moved, block.values).todense(xp)


# -- parts ----------------------------------------------------------------------------------


def restrict(xp: Any, g: Any, region: Region) -> Any:
    """Return `g` without what lies outside of a region of ranges, as far as that is cheap."""
    if type(g) is not Block:
        return Block(tuple(g.shape), region, g[slices(region)])
    if g.rows is None and g.region == region:
        return g
    places: list[Any] = []
    kept: list[Any] = []
    for mine, limit in zip(g.region, region, strict=True):
        if type(mine) is not range or mine.step < 0 or limit.step != 1:
            place = range(len(mine))
        else:
            place = range(
                -(-max(0, limit.start - mine.start) // mine.step),
                max(0, min(len(mine), -(-(limit.stop - mine.start) // mine.step))),
            )
        places.append(place)
        kept.append(mine if len(place) == len(mine) else mine[place.start : place.stop])
    if sizes(tuple(places)) == sizes(g.region):
        return g
    key = slices(tuple(places))
    mask = (lambda: g.mask[key]) if g.is_masked else None
    return Block(g.shape, tuple(kept), g.values[key], mask)


def selected(xp: Any, g: Any, region: Region) -> Any:
    """Return the dense array that is `g` on a region, at a cost of no more than both."""
    if type(g) is not Block:
        return part_of(g, region)
    values = g.values
    for axis, (mine, wanted) in enumerate(zip(g.region, region, strict=True)):
        if same((mine,), (wanted,)):
            continue
        distinct, again = np.unique(np.asarray(wanted, int), return_inverse=True)
        found = np.searchsorted(distinct, np.asarray(mine, int))
        hits = found < len(distinct)
        hits[hits] = distinct[found[hits]] == np.asarray(mine, int)[hits]
        before, after = map(range, values.shape[:axis]), map(range, values.shape[axis + 1 :])
        taken = part_of(values, (*before, hits.nonzero()[0], *after))
        shape = (*values.shape[:axis], len(distinct), *values.shape[axis + 1 :])
        values = xp.scatter(taken, shape=shape, key=(slice(None),) * axis + (found[hits],))
        values = part_of(values, (*map(range, shape[:axis]), again, *map(range, shape[axis + 1 :])))
    return values
