"""Rows of an array reduced in groups: sums, products and extremes of segments.

`segment_ids` says which segment each row of the data belongs to. The ids need not be sorted,
and a segment may have no rows. They are kept as a NumPy array, whatever library computes, or
inside of `vmap` as one for each example.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import batching, reductions, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import array_like, floating, integers, like, ordered
from wengert.ops.families import Operation, Rule, documented, linear, sample, special

# -- on NumPy arrays ----------------------------------------------------------------------


def on_host(xp: Any, function: Callable[..., np.ndarray], *arrays: Any) -> Any:
    """Return a function of NumPy arrays, for arrays of any library."""
    if xp is backends.NUMPY:
        return function(*arrays)
    result = function(*(backends.to_host(a, function.__name__) for a in arrays))
    return array_like(np.array(result), arrays[0])


def _accumulated(
    ufunc: np.ufunc, data: np.ndarray, ids: np.ndarray, count: int, fill: Any
) -> np.ndarray:
    """Return the rows of each segment combined by a ufunc, starting with `fill`."""
    out = np.full((count, *data.shape[1:]), fill, data.dtype)
    width = math.prod(data.shape[1:])
    # NumPy is fast if positions and values have one axis
    positions = ids if width == 1 else (ids[:, None] * width + np.arange(width)).reshape(-1)
    with np.errstate(invalid="ignore"):  # maximum.at warns of NaN, as maximum does not
        ufunc.at(out.reshape(-1), positions, data.reshape(-1))
    return out


def _sums(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Return the sum of each segment; of many rows as a product with a sparse matrix."""
    if data.ndim < 2 or data.size < 10_000 or data.dtype.char not in "fdFD":
        return _accumulated(np.add, data, ids, count, 0)
    from scipy.sparse import csc_array

    rows = len(ids)
    ones = np.ones(rows, data.dtype)
    matrix = csc_array((ones, ids, np.arange(rows + 1)), shape=(count, rows))
    return np.asarray(matrix @ data.reshape(rows, -1)).reshape(count, *data.shape[1:])


def _lowest(dtype: np.dtype, fill: float) -> Any:
    """Return a number to begin with, which is no infinity where the dtype has none."""
    if dtype.kind == "f" or math.isfinite(fill):
        return fill
    return np.iinfo(dtype).min if fill < 0 else np.iinfo(dtype).max


# -- in terms of a library's kernels ------------------------------------------------------


_UFUNCS = {"max": np.maximum, "min": np.minimum, "multiply": np.multiply}


def _combined(xp: Any, how: str, data: Any, ids: Any, count: int, fill: float) -> Any:
    """Return the rows of each segment combined, starting with `fill`."""
    if xp is backends.NUMPY:
        return _accumulated(_UFUNCS[how], data, ids, count, _lowest(data.dtype, fill))
    start = xp.full((count, *data.shape[1:]), fill, dtype=data.dtype)
    return getattr(xp, f"put_{how}")(start, data, (ids,))


def _logsumexp(xp: Any, data: Any, ids: Any, count: int) -> Any:
    top = _combined(xp, "max", data, ids, count, -math.inf)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    with np.errstate(divide="ignore", over="ignore"):
        total = _summed(xp, xp.exp(data - xp.index(top, (ids,))), ids, count)
        return xp.log(total) + top


def _softmax(xp: Any, data: Any, ids: Any) -> Any:
    count = _highest(ids) + 1
    top = xp.index(_combined(xp, "max", data, ids, count, -math.inf), (ids,))
    if xp is not backends.NUMPY or not np.isfinite(top).all():
        # those equal to a largest that is infinite share evenly
        nothing, known = xp.zeros_like(data), xp.isinf(top) & (data == top)
        data, top = xp.where(known, nothing, data), xp.where(known, nothing, top)
    weights = xp.exp(data - top)
    return weights / xp.index(_summed(xp, weights, ids, count), (ids,))


# -- operations ---------------------------------------------------------------------------


def _gathered(xp: Any, y: Any, ids: Any) -> Any:
    """Return for each row of the data what its segment has."""
    return batching.call(xp, "index", y, key=(ids,))


def _summed(xp: Any, data: Any, ids: Any, count: int) -> Any:
    if xp is backends.NUMPY:
        return _sums(data, ids, count)
    return xp.scatter(data, shape=(count, *data.shape[1:]), key=(ids,))


def distinct(ids: Any, count: int) -> np.ndarray:
    """Return positions or ids below `count` such that no two examples have the same."""
    values = batching.all_values(ids)
    lead = values.shape[: values.ndim - ids.ndim]
    first = np.arange(math.prod(lead)).reshape(*lead, *(1,) * ids.ndim) * count
    return values + first if lead else values


def _highest(ids: Any) -> int:
    """Return the largest id of all examples; -1 if there is none."""
    return int(batching.all_values(ids).max(initial=-1))


def _on_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the operation on the rows of all examples, each with segments of its own."""
    xp: Any = Tensor._namespace
    data = batching.full(arrays[0], mapped[0], level)
    ids = params["segment_ids"]
    count = params.get("num_segments", _highest(ids) + 1)
    rows, rest = data.shape[1], data.shape[2:]
    positions = wrap(batching.full_parameter(ids, level))
    first = wrap(np.arange(level.size)[:, None] * count)
    changed = {"segment_ids": xp.reshape(positions + first, (level.size * rows,))._raw}
    if "num_segments" in params:
        changed["num_segments"] = level.size * count
    y = apply(op, (xp.reshape(data, (level.size * rows, *rest)),), changed)
    return xp.reshape(y, (level.size, count if "num_segments" in params else rows, *rest))


_IDS, _FULL = np.array([2, 0, 2, 3, 0]), np.array([2, 0, 2, 1, 0])  # the first leaves out 1
_SAMPLES = [
    sample((5,), segment_ids=_IDS, num_segments=4),
    sample((5, 2), segment_ids=_IDS, num_segments=5),
    sample((0, 2), segment_ids=_IDS[:0], num_segments=2),
]
#: Where no segment is empty, and no result infinite.
_FULL_SAMPLES = [
    sample((5,), segment_ids=_FULL, num_segments=3),
    sample((5, 2), segment_ids=_FULL, num_segments=3),
    sample((0, 2), segment_ids=_FULL[:0], num_segments=0),
]


def _segments(
    name: str,
    rule: Rule,
    compute: Callable[..., Any],
    declare: Any = special,
    **how: Any,
) -> Operation[Tensor]:
    """Declare a function of the rows of each segment: ``compute(xp, rows, ids, count)``."""
    return declare(
        name,
        rule,
        args=("data",),
        params=("segment_ids", "num_segments"),
        batch=_on_examples,
        compute=lambda xp, data, segment_ids, num_segments: compute(
            xp, data, segment_ids, num_segments
        ),
        **how,
    )


_segment_sum = _segments(
    "segment_sum",
    lambda xp, g, segment_ids: _gathered(xp, g, segment_ids),
    _summed,
    linear,
    moves=True,
    samples=_SAMPLES,
)


def _prod_rule(xp: Any, g: Any, data: Any, y: Any, segment_ids: Any) -> Any:
    """Return g times the product of the other elements, which exists also at zeros."""
    if xp is backends.NUMPY and not (data == 0).any():  # a look at values stops a jit
        others = y[segment_ids] / data
    else:
        others = _others(xp, data, segment_ids)
    others = xp.conj(others) if ew.is_complex(others) else others
    return _gathered(xp, g, segment_ids) * others


def _others(xp: Any, data: Any, ids: Any) -> Any:
    """Return for each row the product of the other rows of its segment."""
    values = batching.all_values(ids)
    order = np.argsort(values, axis=-1, kind="stable")
    back = np.argsort(order, axis=-1, kind="stable")
    rows = xp.index(data, key=(batching.rebatched(order, ids),))
    ranked = np.take_along_axis(values, order, axis=-1)
    before = _before(xp, rows, ranked, ids)
    after = xp.flip(_before(xp, xp.flip(rows, axis=0), ranked[..., ::-1], ids), axis=0)
    return xp.index(before * after, key=(batching.rebatched(back, ids),))


def _before(xp: Any, rows: Any, ranked: np.ndarray, ids: Any) -> Any:
    """Return for each row the product of those before it in its segment, which are neighbours.

    `ranked` are the segments of the rows, of all examples that have ids of their own in `ids`.
    Each step doubles how far back a product reaches.
    """
    count = ranked.shape[-1]
    if not count:
        return rows
    one = xp.ones_like(rows[:1, ...])

    def mine(by: int) -> np.ndarray:
        """Return the row that is `by` before each; `count` if that is another segment's."""
        position = np.arange(count) - by
        same = (position >= 0) & (ranked[..., np.maximum(position, 0)] == ranked)
        return np.where(same, position, count)

    def back(x: Any, positions: np.ndarray) -> Any:
        key = (batching.rebatched(positions, ids),)
        return xp.index(xp.concat([x, one], axis=0), key=key)

    product, reach = back(rows, mine(1)), 1
    while (mine(reach + 1) < count).any():  # some segment is longer
        product = product * back(product, mine(reach))
        reach *= 2
    return product


_segment_prod = _segments(
    "segment_prod",
    _prod_rule,
    lambda xp, rows, ids, count: _combined(xp, "multiply", rows, ids, count, 1),
    samples=_SAMPLES,
)


def _extreme_rule(xp: Any, g: Any, data: Any, y: Any, segment_ids: Any, num_segments: int) -> Any:
    """Share g evenly among the elements that attain the extreme of their segment."""
    won = xp.astype(reductions.attains(data, _gathered(xp, y, segment_ids)), g.dtype)
    count = _gathered(xp, _summed(xp, won, segment_ids, num_segments), segment_ids)
    return _gathered(xp, g, segment_ids) * (won / count)


_segment_max, _segment_min = (
    _segments(
        f"segment_{name}",
        _extreme_rule,
        lambda xp, rows, ids, count, name=name, fill=fill: _combined(
            xp, name, rows, ids, count, fill
        ),
        samples=_FULL_SAMPLES,
        kinds="f",
    )
    for name, fill in (("max", -math.inf), ("min", math.inf))
)


def _logsumexp_rule(xp: Any, g: Any, data: Any, y: Any, segment_ids: Any, num_segments: int) -> Any:
    """Return g times each element's share of its segment's sum of exponentials.

    The shares add up to 1 but for rounding, and for several elements that are infinite.
    """
    if xp is backends.NUMPY and np.isfinite(y).all():  # the usual case, in fewer passes
        return g[segment_ids] * np.exp(data - y[segment_ids])
    top = _gathered(xp, y, segment_ids)
    same = data == top
    nothing = xp.zeros_like(data)
    share = xp.exp(xp.where(same, nothing, data) - xp.where(same, nothing, top))
    total = _gathered(xp, _summed(xp, share, segment_ids, num_segments), segment_ids)
    return _gathered(xp, g, segment_ids) * (share / total)


_segment_logsumexp = _segments(
    "segment_logsumexp",
    _logsumexp_rule,
    _logsumexp,
    samples=_FULL_SAMPLES,
    kinds="f",
)


def _softmax_rule(xp: Any, g: Any, y: Any, segment_ids: Any) -> Any:
    part, count = g * y, _highest(segment_ids) + 1
    return part - y * _gathered(xp, _summed(xp, part, segment_ids, count), segment_ids)


_segment_softmax = special(
    "segment_softmax",
    _softmax_rule,
    args=("data",),
    params=("segment_ids",),
    batch=_on_examples,
    compute=lambda xp, data, segment_ids: _softmax(xp, data, segment_ids),
    samples=[sample((5,), segment_ids=_IDS), sample((5, 2), segment_ids=_IDS)],
    kinds="f",
)


# -- what users call ----------------------------------------------------------------------


def _checked(
    name: str, data: Any, segment_ids: Any, num_segments: int | None
) -> tuple[Tensor, dict[str, Any]]:
    """Return data and the parameters of an operation, or raise what is wrong with them."""
    data = shapes.tensor(data, name)
    ids = integers(segment_ids, name, "segment_ids")
    if not data.ndim:
        raise ShapeError(f"{name}: data has no axes; expected rows, one for each segment id")
    if ids.shape != data.shape[:1]:
        raise ShapeError(
            f"{name}: segment_ids of shape {ids.shape} for data of shape {data.shape}; expected "
            f"one id for each row, shape {data.shape[:1]}"
        )
    low, high = int(batching.all_values(ids).min(initial=0)), _highest(ids)
    if num_segments is None and type(ids) is Batched and name != "segment_softmax":
        raise ValueError(
            f"{name}: inside of vmap, with segment_ids that differ between examples, the shape of "
            f"the result cannot follow from them; write {name}(data, segment_ids, num_segments=n)"
        )
    count = high + 1 if num_segments is None else operator.index(num_segments)
    if count < 0:
        raise ValueError(f"{name}: num_segments={num_segments}; expected 0 or more")
    if low < 0 or high >= count:
        raise IndexError(
            f"{name}: segment_ids from {low} to {high} of {count} segments; expected 0 to "
            f"{count - 1}. Drop rows first, with data[mask] and segment_ids[mask]"
        )
    return data, {"segment_ids": ids, "num_segments": count}


def segment_sum(data: Any, segment_ids: Any, /, *, num_segments: int | None = None) -> Tensor:
    """Return the sum of the rows of each segment; 0 for one without rows.

    `segment_ids` are the segments of the rows of `data`, in any order. There are
    `num_segments` of them, or as many as the largest id says.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.segment_sum(wg.asarray([1.0, 2.0, 3.0]), [0, 2, 0])
    Tensor([4., 0., 2.], dtype=float64)
    """
    data, params = _checked("segment_sum", data, segment_ids, num_segments)
    return _segment_sum(reductions.accumulated(data, None, "segment_sum"), **params)


def _of_segments(
    op: Operation[Tensor], taken: Callable[[Any, str], Tensor]
) -> Callable[..., Tensor]:
    """Return what users call for an operation on segments; `taken` is what it takes of the data."""
    name = op.__name__

    def reduce(data: Any, segment_ids: Any, /, *, num_segments: int | None = None) -> Tensor:
        data, params = _checked(name, data, segment_ids, num_segments)
        return op(taken(data, name), **params)

    return documented(reduce, name)


segment_prod = _of_segments(_segment_prod, lambda x, name: reductions.accumulated(x, None, name))
segment_max, segment_min = _of_segments(_segment_max, ordered), _of_segments(_segment_min, ordered)
segment_logsumexp = _of_segments(
    _segment_logsumexp, lambda x, name: floating(ordered(x, name), name)
)


def segment_mean(data: Any, segment_ids: Any, /, *, num_segments: int | None = None) -> Tensor:
    """Return the mean of the rows of each segment; 0 for one without rows.

    `wg.segment_mean([3.0, 1.0, 2.0], [0, 1, 0])` is `[2.5, 1.0]`.
    """
    data, params = _checked("segment_mean", data, segment_ids, num_segments)
    data = floating(data, "segment_mean")
    ids, count = params["segment_ids"], params["num_segments"]
    sizes = np.maximum(_counts(ids, count), 1)
    sizes = sizes.reshape(*sizes.shape, *[1] * (data.ndim - 1))
    return ew.divide(_segment_sum(data, **params), like(batching.rebatched(sizes, ids), data))


def _counts(ids: Any, count: int) -> np.ndarray:
    """Return how often there is each of `count` ids, in each example that has its own."""
    values = distinct(ids, count)
    lead = values.shape[:-1]
    found = np.bincount(values.reshape(-1), minlength=math.prod(lead) * count)
    return found.reshape(*lead, count)


def segment_softmax(data: Any, segment_ids: Any, /) -> Tensor:
    """Return exp(data) divided by its sum over the rows of the same segment.

    `wg.segment_softmax([0.0, 1.0, 0.0], [0, 1, 0])` is `[0.5, 1.0, 0.5]`.
    """
    data, params = _checked("segment_softmax", data, segment_ids, None)
    data = floating(ordered(data, "segment_softmax"), "segment_softmax")
    return _segment_softmax(data, segment_ids=params["segment_ids"])


def bincount(x: Any, /, *, weights: Any = None, minlength: int = 0) -> Tensor:
    """Return the count of each of 0, 1, 2, ... in x, or the sum of its weights.

    Derivatives flow to the weights. `wg.bincount([0, 2, 2])` is `[1, 0, 2]`.
    """
    x = shapes.tensor(x, "bincount")
    positions = integers(x, "bincount", "x")
    if positions.ndim != 1:
        raise ShapeError(f"bincount: x of shape {positions.shape}; expected one axis")
    low, high = int(batching.all_values(positions).min(initial=0)), _highest(positions)
    if low < 0:
        raise IndexError(f"bincount: x has {low}; expected 0 or more")
    if minlength < 0:
        raise ValueError(f"bincount: minlength={minlength}; expected 0 or more")
    if type(positions) is Batched and high >= minlength:
        raise ValueError(
            f"bincount: inside of vmap x has {high} and minlength={minlength}; the shape of the "
            "result cannot follow from x, so write a minlength above all its elements"
        )
    count = max(high + 1, operator.index(minlength))
    if weights is None:
        found = array_like(_counts(positions, count), x._raw)
        return wrap(batching.rebatched(found, positions))
    weights = floating(weights, "bincount")
    if weights.shape != positions.shape:
        raise ShapeError(
            f"bincount: weights of shape {weights.shape} for x of shape {positions.shape}; "
            "expected the same"
        )
    return _segment_sum(weights, segment_ids=positions, num_segments=count)


def overlap_add(frames: Tensor, /, *, step: int) -> Tensor:
    """Return the sum of frames, on the last two axes, each `step` after the one before it.

    Examples
    --------
    >>> import wengert as wg
    >>> overlap_add(wg.asarray([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]), step=1)
    Tensor([ 1., 12., 23., 30.], dtype=float64)
    """
    *lead, count, length = frames.shape
    positions = (np.arange(count)[:, None] * step + np.arange(length)).reshape(-1)
    rows = shapes.moveaxis(shapes.reshape(frames, (*lead, count * length)), -1, 0)
    total = segment_sum(rows, positions, num_segments=(count - 1) * step + length)
    return shapes.moveaxis(ew.astype(total, frames.dtype), 0, -1)


__all__ = [
    "bincount", "segment_logsumexp", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_softmax", "segment_sum",
]  # fmt: skip
