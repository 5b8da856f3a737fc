"""Elements repeated, rolled, reversed and padded."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import named
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.copies import copied, in_order
from wengert.dialects.torch.kinds import Axis, Input, Int, Ints, SeveralAxes, Sizes, axis_of
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, ns, static, wrap_native
from wengert.dialects.torch.views import check_different


def _check_counts(counts: Any, name: str) -> None:
    if min(counts, default=0) < 0:
        raise RuntimeError(f"{name}: {list(counts)} has a negative number; give 0 or more")


@offered("Tensor.repeat", label="RepeatBackward0")
def repeat(input: Input, *repeats: Sizes) -> Native:
    """Return a tensor repeated as a whole, so many times along each axis."""
    _check_counts(repeats, "repeat")
    if len(repeats) < input.ndim:
        raise misfit("repeat", "one number for each axis at least", input=input, repeats=repeats)
    return ns.tile(input, repeats)


@offered("tile", label="RepeatBackward0")
def tile(input: Input, *dims: Sizes) -> Native:
    """Return a tensor repeated as a whole; fewer numbers than axes are for the last ones."""
    _check_counts(dims, "tile")
    return ns.tile(input, (1,) * (input.ndim - len(dims)) + dims)


@offered("repeat_interleave", label="IndexSelectBackward0")
def repeat_interleave(
    input: Input, repeats: Any = None, dim: Axis | None = None, *, output_size: Any = None
) -> Native:
    """Return a tensor with each element repeated, a number of times or its own number.

    Of repeats alone, return each index so many times.
    """
    if repeats is None:
        counts = _read_counts(input)
        return wrap_native(np.repeat(np.arange(len(counts), dtype=input.dtype), counts))
    x = input if dim is not None else ns.reshape(input, (-1,))
    counts = _read_counts(repeats)
    if isinstance(counts, int):
        return ns.repeat(x, counts, axis=dim or 0)
    length = x.shape[dim or 0]
    if len(counts) == 1:
        counts *= length
    if len(counts) != length:
        raise misfit("repeat_interleave", f"{length} numbers, or one for all", repeats=counts)
    return ns.take(x, np.repeat(np.arange(length), counts), axis=dim or 0)


def _read_counts(repeats: Any) -> Any:
    """Return how often elements are repeated: a number, or a list of them."""
    if hasattr(repeats, "_raw") and repeats._raw.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(
            f"repeat_interleave: repeats has dtype {repeats._raw.dtype}; write repeats.long()"
        )
    counts = static(getattr(repeats, "_raw", repeats))
    _check_counts(counts if isinstance(counts, list) else (counts,), "repeat_interleave")
    return counts


@offered("roll")
def roll(input: Input, shifts: Ints, dims: Ints | None = ()) -> Native:
    """Return elements moved along axes, the last ones coming first again."""
    axes = [axis_of(a, input, "roll") for a in dims or ()]
    if len(shifts) != (len(axes) or 1):
        raise misfit("roll", "one axis for each shift", shifts=shifts, dims=axes)
    if not axes:
        return ns.roll(input, shifts[0])
    return in_order(ns.roll(input, shifts, axis=axes)) if input.ndim else input


# -- reversed --------------------------------------------------------------------------------------


def _reversed(x: Native, axes: Any) -> Native:
    """Return elements in reverse order along axes, laid out in memory as they were."""
    found = ns.flip(x, axis=axes)
    raw = found._raw
    return wrap_native(raw.copy("K"), found._node) if type(raw) is np.ndarray else found


@offered("flip")
def flip(input: Input, *dims: SeveralAxes) -> Native:
    """Return elements in reverse order along axes."""
    return _reversed(input, dims) if dims else copied(input)


def _flip_along(name: str, axis: int) -> None:
    @offered(name, label="FlipBackward0")
    @named(name, f"Return elements in reverse order along axis {axis}.")
    def flip(input: Input) -> Native:
        return _reversed(input, axis)


_flip_along("fliplr", 1)
_flip_along("flipud", 0)


@offered("rot90")
def rot90(input: Input, k: Int = 1, dims: Ints = (0, 1)) -> Native:
    """Return a tensor turned by quarters in the plane of two axes."""
    if len(dims) != 2 or input.ndim < 2:
        raise misfit("rot90", "two axes", input=input, dims=dims)
    one, two = (axis_of(d, input, "rot90") for d in dims)
    check_different(one, two)
    if k % 4 == 0:
        return in_order(copied(input))
    if k % 4 == 2:
        return _reversed(input, (one, two))
    if k % 4 == 1:
        return ns.swapaxes(_reversed(input, two), one, two)
    return _reversed(ns.swapaxes(input, one, two), two)


# -- padded ----------------------------------------------------------------------------------------


def border_pairs(widths: tuple[int, ...], x: Native) -> list[tuple[int, int]]:
    """Return (before, after) for each axis; programs give them from the last axis on."""
    if len(widths) % 2 or len(widths) // 2 > x.ndim:
        raise misfit("pad", "two widths for each axis, the last axis first", input=x, pad=widths)
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2)
    return pairs + list(zip(widths[::2], widths[1::2], strict=True))[::-1]


def cropped(x: Native, pairs: list[tuple[int, int]]) -> Native:
    """Return x without what negative widths take away."""
    if min(map(min, pairs), default=0) >= 0:
        return x
    for (before, after), n in zip(pairs, x.shape, strict=True):
        if n + min(before, 0) + min(after, 0) < 0 or n + before + after < 0:
            raise misfit("pad", "widths that leave 0 elements or more", input=x, pad=pairs)
    ends = [slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pairs, strict=True)]
    return x[tuple(ends)]


def padded(input: Native, pad: tuple[int, ...], value: Any) -> Native:
    """Return a tensor with a constant around it; negative widths take elements away.

    Widths are pairs, of the last axis first.
    """
    pairs = border_pairs(pad, input)
    if input.dtype.kind in "biu":
        value = bool(value) if input.dtype.kind == "b" else int(value)
    grown = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if not grown:
        return copied(input)
    return in_order(ns.pad(cropped(input, pairs), grown, constant_values=value))
