"""Windows as arrays, and as the columns of matrices."""

from __future__ import annotations

import math
from typing import Any

from wengert.backends.numpy_windows import Geometry
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor
from wengert.ops import shapes
from wengert.ops.batching import in_first_axis
from wengert.ops.checks import misfit
from wengert.ops.families import linear, position_map, sample
from wengert.ops.neural.windows import (
    Ints,
    ascending,
    batched,
    fitting_windows,
    per_axis,
    seeing_part,
    seen_part,
    unbatched,
)

__all__ = ["fold", "unfold"]


def _unfold_transpose(xp: Any, g: Any, x_shape: Ints, geometry: Geometry) -> Any:
    return xp.nn.fold_windows(g, size=tuple(x_shape[2:]), geometry=geometry)


def _unfold_block(xp: Any, g: Block, x_shape: Ints, geometry: Geometry) -> Block | None:
    values, region = ascending(xp, g)
    middle = len(x_shape)
    windows, taps = (*region[:2], *region[middle:]), region[2:middle]
    part = seen_part(values, windows, taps, x_shape[2:], geometry)
    if part is None:
        return None
    values, around, cut = part
    return Block(x_shape, around, _unfold_transpose(xp, values, tuple(map(len, around)), cut))


unfold_windows = position_map(
    "nn.unfold_windows",
    _unfold_transpose,
    params=("kernel", "size", "geometry"),
    block=_unfold_block,
    batch=in_first_axis,
    samples=[
        sample((2, 1, 4, 5), kernel=(2, 2), size=(2, 2), geometry=Geometry((2, 2), (0, 0), (1, 1))),
        sample((1, 2, 5), kernel=(3,), size=(4,), geometry=Geometry((1,), (1,), (1,))),
        sample((0, 2, 4), kernel=(2,), size=(2,), geometry=Geometry((2,), (0,), (1,))),
    ],
    doc="Return windows of x as (batch, channels, *kernel, *size), with 0 outside of x.",
)


def _fold_transpose(xp: Any, g: Any, x_shape: Ints, geometry: Geometry) -> Any:
    middle = len(x_shape) // 2 + 1
    kernel, size = tuple(x_shape[2:middle]), tuple(x_shape[middle:])
    return xp.nn.unfold_windows(g, kernel=kernel, size=size, geometry=geometry)


def _fold_block(xp: Any, g: Block, x_shape: Ints, geometry: Geometry) -> Block | None:
    middle = len(x_shape) // 2 + 1
    taps = tuple(map(range, x_shape[2:middle]))
    part = seeing_part(xp, g, taps, x_shape[middle:], geometry)
    if part is None:
        return None
    values, region, cut = part
    around = (*region[:2], *taps, *region[2:])
    return Block(x_shape, around, _fold_transpose(xp, values, tuple(map(len, around)), cut))


fold_windows = linear(
    "nn.fold_windows",
    _fold_transpose,
    params=("size", "geometry"),
    block=_fold_block,
    batch=in_first_axis,
    samples=[
        sample((2, 1, 2, 2, 2, 2), size=(4, 5), geometry=Geometry((2, 2), (0, 0), (1, 1))),
        sample((1, 2, 3, 4), size=(5,), geometry=Geometry((1,), (1,), (1,))),
        sample((1, 1, 2, 2, 3, 2), size=(5, 3), geometry=Geometry((2, 1), (1, 0), (2, 1))),
    ],
    doc="Return (batch, channels, *size) with windows added up where they overlap.",
)


def unfold(
    x: Any, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Tensor:
    """Return windows as columns: (batch, channels times taps, windows).

    x is (batch, channels, *spatial), with any number of spatial axes. It may lack the batch axis
    if `kernel_size` has a number for each spatial axis.
    `wg.nn.unfold([[[1.0, 2.0, 3.0]]], 2)` is `[[[1.0, 2.0], [2.0, 3.0]]]`.
    """
    x = shapes.tensor(x, "unfold")
    many = isinstance(kernel_size, (tuple, list))
    spatial = len(kernel_size) if many and len(kernel_size) > 1 else x.ndim - 2
    if spatial < 1:
        raise misfit("unfold", "(batch, channels, *spatial)", x=x)
    x, had_batch = batched(x, spatial, "unfold")
    kernel = per_axis(kernel_size, spatial, "unfold", "kernel_size", 1)
    size, geometry, _ = fitting_windows("unfold", x.shape[2:], kernel, stride, padding, dilation)
    windows = unfold_windows(x, kernel=kernel, size=size, geometry=geometry)
    shape = (x.shape[0], x.shape[1] * math.prod(kernel), math.prod(size))
    return unbatched(shapes.reshape(windows, shape), had_batch)


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
) -> Tensor:
    """Return images (batch, channels, *output_size) from columns, added where they overlap.

    It is the transpose of `unfold`, and takes (batch, channels times taps, windows).
    `output_size` has a number for each spatial axis.
    `wg.nn.fold([[[1.0, 2.0], [2.0, 3.0]]], (3,), 2)` is `[[[1.0, 4.0, 3.0]]]`.
    """
    x = shapes.tensor(x, "fold")
    if not isinstance(output_size, (tuple, list)):
        raise TypeError(
            f"fold: output_size is {output_size!r}; expected a tuple, one for each axis"
        )
    spatial = len(output_size)
    size = per_axis(output_size, spatial, "fold", "output_size", 1)
    x, had_batch = batched(x, 1, "fold")
    kernel = per_axis(kernel_size, spatial, "fold", "kernel_size", 1)
    places, geometry, _ = fitting_windows("fold", size, kernel, stride, padding, dilation)
    taps = math.prod(kernel)
    if x.shape[1] % taps or x.shape[2] != math.prod(places):
        expected = f"a multiple of {taps} taps, and the {math.prod(places)} windows of {size}"
        raise misfit("fold", expected, x=x)
    windows = shapes.reshape(x, (x.shape[0], x.shape[1] // taps, *kernel, *places))
    return unbatched(fold_windows(windows, size=size, geometry=geometry), had_batch)
