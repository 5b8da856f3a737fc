"""NumPy's ways to arrange elements, on tensors, composed of our operations.

`functions` says how these are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.families import one_axis
from wengert.ops.numpy.ufuncs import Function, by_name, is_tensor, values, wg
from wengert.ops.positions import scatter_flat
from wengert.ops.shapes import renewed, tensor

_ALL = slice(None)


def flat(x: Any) -> Any:
    """Return the elements along one axis."""
    return wg.reshape(x, (-1,))


def _concatenate(arrays: Any, /, axis: Any = 0, dtype: Any = None) -> Any:
    joined = wg.concat(arrays, axis=axis)
    return joined if dtype is None else wg.astype(joined, dtype)


def _reshape(a: Any, /, shape: Any = None, order: str = "C", newshape: Any = None) -> Any:
    shape = newshape if shape is None else shape  # as NumPy 2.0 calls it
    if order == "C":
        return wg.reshape(a, shape)
    if order != "F":
        raise TypeError(f"np.reshape: order={order!r}; a tensor has order 'C', or write order='F'")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return _transpose(wg.reshape(_transpose(a), shape[::-1]))


def _transpose(a: Any, axes: Any = None) -> Any:
    a = tensor(a, "transpose")
    return wg.permute_dims(a, range(a.ndim)[::-1] if axes is None else axes)


def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = tensor(a, "rollaxis")
    axis = one_axis(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return wg.moveaxis(a, axis, start - 1 if axis < start else start)


def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    first, second = axes
    if k % 4 in (0, 2):
        return wg.flip(m, axis=tuple(axes)) if k % 4 else wg.positive(m)
    if k % 4 == 1:
        return wg.swapaxes(wg.flip(m, axis=second), first, second)
    return wg.flip(wg.swapaxes(m, first, second), axis=second)


def at_least(rank: int) -> Function:
    """Return np.atleast_1d, 2d or 3d."""

    def extended(x: Any) -> Any:
        x = tensor(x, f"atleast_{rank}d")
        if x.ndim >= rank:
            return renewed(x)
        after = (1,) if rank == 3 and x.ndim else ()  # np.atleast_3d makes (1, n, 1) and (m, n, 1)
        return wg.reshape(x, (1,) * (rank - x.ndim - len(after)) + x.shape + after)

    def call(*arys: Any) -> Any:
        parts = tuple(map(extended, arys))
        return parts[0] if len(parts) == 1 else parts

    return call


def _joining(rank: int, axis: int) -> Function:
    def join(tup: Any) -> Any:
        parts = [at_least(rank)(x) for x in tup]
        return wg.concat(parts, axis=min(axis, parts[0].ndim - 1) if parts else axis)

    return join


def _column_stack(tup: Any) -> Any:
    parts = [tensor(x, "column_stack") for x in tup]
    return wg.concat([wg.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in parts], axis=1)


def _block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def rank(x: Any) -> int:
        return max(map(rank, x)) if isinstance(x, list) else tensor(x, "block").ndim

    def joined(x: Any, axis: int) -> Any:
        if isinstance(x, list):
            return wg.concat([joined(part, axis + 1) for part in x], axis=axis)
        x = tensor(x, "block")
        return wg.reshape(x, (1,) * (ndim - x.ndim) + x.shape)

    ndim = max(depth(arrays), rank(arrays))
    return joined(arrays, -depth(arrays))


def _splitting(name: str, axis_of: Function) -> Function:
    def split(ary: Any, indices_or_sections: Any, axis: int | None = None) -> list[Any]:
        ary = tensor(ary, name)
        axis = one_axis(axis_of(ary.ndim) if axis is None else axis, ary.ndim, name)
        line = np.arange(ary.shape[axis]).reshape((-1,) + (1,) * (ary.ndim - 1 - axis))
        where = {"axis": axis} if name in ("split", "array_split") else {}
        parts = getattr(np, name)(np.broadcast_to(line, ary.shape), indices_or_sections, **where)
        starts = [int(p.flat[0]) if p.size else 0 for p in parts]
        return [
            ary[(_ALL,) * axis + (slice(start, start + p.shape[axis]),)]
            for start, p in zip(starts, parts, strict=True)
        ]

    return split


def _diag(v: Any, k: int = 0) -> Any:
    v = tensor(v, "diag")
    if v.ndim != 1:
        return wg.diagonal(v, offset=k)
    n = v.size + abs(k)
    places = np.arange(v.size) * (n + 1) + (k if k > 0 else -k * n)
    return scatter_flat(v, shape=(n, n), positions=places)


def moving(function: Function) -> Function:
    """Return a function that only moves elements, by the positions that NumPy moves them to."""

    def move(x: Any, /, **params: Any) -> Any:
        x = tensor(x, function.__name__)
        return wg.take(x, function(np.arange(x.size).reshape(x.shape), **params))

    return move


def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    arr, axis = (flat(arr), 0) if axis is None else (arr, axis)
    return wg.take_along_axis(arr, indices, axis=axis)


def _compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    return wg.take(a, np.flatnonzero(values(condition)), axis=axis)


def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    arr, new = tensor(arr, "insert"), tensor(values, "insert")
    obj = tensor(obj, "insert").numpy() if is_tensor(obj) else obj
    places = np.arange(arr.size).reshape(arr.shape)
    others = arr.size + np.arange(new.size).reshape(new.shape)
    moved = np.insert(places, obj, others, axis=axis)
    return wg.take(wg.concat([flat(arr), flat(wg.astype(new, arr.dtype))]), moved)


# -- a function along axes ---------------------------------------------------------------------


def _apply_along_axis(func1d: Function, axis: int, arr: Any, /, *args: Any, **params: Any) -> Any:
    arr = tensor(arr, "apply_along_axis")
    axis = one_axis(axis, arr.ndim, "apply_along_axis")
    lines = wg.moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    if 0 in outer:
        raise ValueError(f"np.apply_along_axis: shape {arr.shape} has no lines along axis {axis}")
    parts = [
        tensor(func1d(line, *args, **params), "apply_along_axis")
        for line in wg.unstack(wg.reshape(lines, (-1, lines.shape[-1])))
    ]
    y = wg.reshape(wg.stack(parts), (*outer, *parts[0].shape))
    ends = range(len(outer), len(outer) + parts[0].ndim)
    return wg.moveaxis(y, tuple(ends), tuple(range(axis, axis + parts[0].ndim)))


def _apply_over_axes(func: Function, a: Any, axes: Any) -> Any:
    a = tensor(a, "apply_over_axes")
    for axis in (axes,) if isinstance(axes, int) else axes:
        y = tensor(func(a, axis), "apply_over_axes")
        if y.ndim < a.ndim:
            y = wg.expand_dims(y, axis=axis)
        if y.ndim != a.ndim:
            raise ValueError(
                "np.apply_over_axes: the function did not keep the axes, nor remove the one given"
            )
        a = y
    return a


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    if not is_tensor(fill_value):
        return wg.full_like(a, fill_value, dtype=dtype)
    return wg.broadcast_to(wg.astype(fill_value, dtype or a.dtype), a.shape)


FUNCTIONS: dict[str, Function] = {
    **by_name(_apply_along_axis, _apply_over_axes, _block, _column_stack, _compress, _concatenate),
    **by_name(_diag, _full_like, _insert, _reshape, _rollaxis, _rot90, _take_along_axis),
    **by_name(_transpose),
    "append": lambda arr, values, axis=None: wg.concat([arr, values], axis=axis),
    "array_split": _splitting("array_split", lambda ndim: 0),
    "atleast_1d": at_least(1),
    "atleast_2d": at_least(2),
    "atleast_3d": at_least(3),
    "broadcast_arrays": lambda *args: tuple(wg.broadcast_arrays(*args)),
    "copy": wg.positive,
    "diagflat": lambda v, k=0: _diag(flat(v), k),
    "dsplit": _splitting("dsplit", lambda ndim: 2),
    "dstack": _joining(3, 2),
    "extract": lambda condition, arr: _compress(condition, arr),
    "fliplr": lambda m: wg.flip(m, axis=1),
    "flipud": lambda m: wg.flip(m, axis=0),
    "hsplit": _splitting("hsplit", lambda ndim: 0 if ndim == 1 else 1),
    "hstack": _joining(1, 1),
    "meshgrid": lambda *xi, indexing="xy", copy=True: tuple(wg.meshgrid(*xi, indexing=indexing)),
    "pad": lambda array, pad_width, mode="constant", **params: wg.pad(
        array, pad_width, mode, **params
    ),
    "ravel": lambda a, order="C": _reshape(a, -1, order),
    "split": _splitting("split", lambda ndim: 0),
    "vsplit": _splitting("vsplit", lambda ndim: 0),
    "vstack": _joining(2, 0),
}
